/* baseline.h - what every program by hand here shares: arrays in, arrays out, and a clock
 * around it.
 *
 * A file NAME.c defines `baseline`; serve.c has main:
 *
 *     NAME [--repeat N] [--threads N] [-o FILE]... ARGUMENT...
 *
 * An argument is a .npy file of one dimension or a number; results go to the files, in order.
 * Prints one line of JSON: {"first_seconds": ..., "seconds": [...], "peak_bytes": ...}, seconds
 * being those of the calls of `baseline` alone, of which the first one is not among the others.
 *
 * The same source is the sequential version, compiled without OpenMP, and the parallel one;
 * where both differ in more than pragmas, #ifdef _OPENMP. INT_BITS (64 or 32) and FLOAT_BITS
 * say what `integer` and `real` are: those of the NESL program beside it.
 */
#ifndef RAVEL_BENCH_BASELINE_H
#define RAVEL_BENCH_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if INT_BITS == 32
typedef int32_t integer;
#else
typedef int64_t integer;
#endif
#if FLOAT_BITS == 32
typedef float real;
#else
typedef double real;
#endif

enum array_type { ARRAY_INTEGER, ARRAY_REAL, ARRAY_BOOL, ARRAY_CHAR };

/* An argument or a result. Of an argument that is a number, length 1. */
struct array {
  enum array_type type;
  int64_t length;
  union {
    integer *i;
    real *r;
    uint8_t *b; /* 0 or 1; characters */
  } as;
};

/* The program. Arguments are not changed. Results are made by `result`. */
void baseline(const struct array *arguments, struct array *results);

/* Result k as an array of this type and length, elements undefined. The memory stays from call
 * to call, as an allocator that keeps blocks would do it for all systems alike. */
struct array *result(struct array *results, int k, enum array_type, int64_t length);

/* Scratch memory number k, at least so large, kept likewise; elements undefined. */
void *scratch(int k, size_t bytes);

enum { MOST_ARGUMENTS = 16, MOST_RESULTS = 8, MOST_SCRATCH = 32 };

#endif
