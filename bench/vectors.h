/* vectors.h - a back end under measurement: its context and operands, through cvl.h only. */
#ifndef RAVEL_BENCH_VECTORS_H
#define RAVEL_BENCH_VECTORS_H

#include "bench/measure.h"
#include "cvl/call.h"

struct bench {
  const struct measure_options *options;
  const struct cvl_backend *backend;
  struct cvl_context *context;
  enum cvl_elem elem_of[CLASS_BOOL + 1]; /* by class */
  unsigned threads;
  char *arena; /* host memory for copies */
};

/* Opens a context of the width and number of threads. Exits with a message if it cannot. */
void bench_open(struct bench *, bool wide, unsigned threads);
void bench_close(struct bench *);

size_t elem_bytes(const struct bench *, enum elem_class);
const char *elem_text(const struct bench *, enum elem_class);

/* Makes a vector of n elements of host memory. */
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

#endif
