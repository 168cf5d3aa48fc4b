/* measure.h - code that the benchmark programs share: options, time, medians, threads,
 * reports. */
#ifndef RAVEL_BENCH_MEASURE_H
#define RAVEL_BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { MOST_ROUNDS = 64, MOST_THREAD_COUNTS = 8, MOST_SIZES = 16, MOST_LOG_SIZE = 34 };

/* The command line, the same for all programs; see measure_usage in measure.c. */
struct measure_options {
  const char *json; /* file for the machine-readable report, or NULL */
  const char
      *only; /* words with | between them: only names with one of these are measured; or NULL */
  const char *backend; /* of cvl_backends() */
  const char *tuning;  /* file of tuning values (cvl/tuning.h), or NULL: the defaults */
  unsigned rounds;
  uint64_t bytes; /* of a working set */
  unsigned threads[MOST_THREAD_COUNTS], thread_counts;
  bool narrow, wide; /* i32 and f32, i64 and f64 */
  /* For programs that measure by the number of elements (bench-ops): powers of two, and the
   * seconds after which the rest is left out. */
  unsigned sizes[MOST_SIZES], size_count;
  double seconds;
  const char
      *count; /* bench-ops: where the interpreter of PTX counts; nothing is timed. Or NULL */
  bool cpu_clock; /* time is that of processors for each thread, not the wall's: see measure_now
                   */
};

/* Parses the command line. If it is wrong, it says so and exits with status 2. */
struct measure_options measure_options(int argc, char **argv);
bool measure_wants(const struct measure_options *, const char *name);

/* Returns seconds since some moment on the wall. With --clock cpu, returns the processor time
 * of this process divided by `threads`; with one thread, that is more reliable on a shared
 * machine. Waiting in a loop counts as work. */
double measure_now(const struct measure_options *, unsigned threads);

/* Runs body(arg, t, threads) for each t < threads, each on its own thread. Returns the seconds
 * from the start of the first to the end of the last, or of processor time for each thread. */
typedef void measure_body(void *arg, unsigned thread, unsigned threads);
double measure_parallel(const struct measure_options *, measure_body *body, void *arg,
                        unsigned threads);

/* Allocates zeroed memory for the whole run, in huge pages if there are any. Exits if there is
 * none. It is never freed. */
void *measure_memory(size_t bytes);

/* Returns element i of the fixed random sequence that starts from seed. */
static inline uint64_t measure_random(uint64_t seed, uint64_t i) {
  uint64_t z = (seed << 40) + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

struct spread {
  double median, least, most;
};
/* Sorts n >= 1 values. Returns their median, least and most. */
struct spread measure_spread(double *values, unsigned n);

/* A table on standard output, and the same table in JSON. */
struct report {
  FILE *json;
  const char *name; /* name of its file */
  bool first;
};
/* Closes a file; ends the program if any of it was lost. */
void measure_close(FILE *, const char *name);
struct report report_open(const struct measure_options *, const char *program);
/* One line; time and limit are in seconds, one of each per round. Target 0 means reported only.
 * With at_most the target is an upper bound of time / limit; otherwise it is a lower bound of
 * limit / time. The ratio is the median over the rounds. "of best" is that of the best time and
 * the best limit, which a busy machine disturbs least. */
struct report_line {
  const char *name, *elem, *detail;
  unsigned threads, rounds;
  double bytes; /* that must move */
  double *time, *limit;
  double target;
  bool at_most;
};
void report_line(struct report *, const struct report_line *);
void report_close(struct report *);

#endif
