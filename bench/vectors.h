/* vectors.h - a back end under measurement: its context and operands, through cvl.h only. */
#ifndef RAVEL_BENCH_VECTORS_H
#define RAVEL_BENCH_VECTORS_H

#include "bench/measure.h"
#include "cvl/cvl.h"

struct bench {
  const struct measure_options *options;
  struct report report;
  const struct cvl_backend *backend;
  struct cvl_context *context;
  enum cvl_elem elem_of[CLASS_BOOL + 1]; /* by class */
  unsigned threads;
  char *arena;        /* host memory for data and for the limits */
  size_t arena_bytes;
};

/* Opens a context of the width and number of threads; exits with a message if it cannot. */
void bench_open(struct bench *, bool wide, unsigned threads);
void bench_close(struct bench *);

/* The main of a program: `measure_all` in each width and on each number of threads that the
 * options name, with arena_bytes of the
 * memory that the options want, as the report `name`. */
int bench_main(int argc, char **argv, const char *name, size_t (*arena_bytes)(size_t wanted),
               void (*measure_all)(struct bench *));

size_t elem_bytes(const struct bench *, enum elem_class);
const char *elem_text(const struct bench *, enum elem_class);

/* A vector of n random elements: INT positive, FLOAT between 0.1 and 1, BOOL either. */
struct cvl_value random_vector(struct bench *, enum elem_class, uint64_t n, uint64_t seed);
/* A vector of n elements of host memory. */
struct cvl_value vector_of(struct bench *, enum elem_class, uint64_t n, const void *data);
void drop(struct bench *, struct cvl_value *);

/* One operation: `run` calls the back end and sets up to two results. */
struct work {
  const char *name, *detail;
  bool (*run)(struct bench *, const struct work *, struct cvl_value out[2]);
  enum cvl_op op;
  unsigned arity;
  struct cvl_value in[3], d;
};
/* Seconds from the call to the end of all work; negative if the back end cannot do it, after a
 * message. Results are released. */
double seconds_of(struct bench *, const struct work *);

#endif
