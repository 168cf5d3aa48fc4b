/* calls.h - the operations of the contract as what struct work calls. */
#ifndef RAVEL_BENCH_CALLS_H
#define RAVEL_BENCH_CALLS_H

#include "bench/vectors.h"

static inline bool run_map(struct bench *b, const struct work *w, struct cvl_value *out) {
  return b->backend->elementwise(b->context, 1, w->op, w->arity, w->in, out);
}
static inline bool run_reduce(struct bench *b, const struct work *w, struct cvl_value *out) {
  return b->backend->reduce(b->context, 1, w->op, &w->in[0], &w->d, out);
}
static inline bool run_scan(struct bench *b, const struct work *w, struct cvl_value *out) {
  return b->backend->scan(b->context, 1, w->op, &w->in[0], &w->d, out);
}
static inline bool run_rank(struct bench *b, const struct work *w, struct cvl_value *out) {
  return b->backend->rank(b->context, 1, w->op, &w->in[0], &w->d, out);
}
static inline bool run_sort(struct bench *b, const struct work *w, struct cvl_value *out) {
  return b->backend->sort(b->context, 1, w->op, &w->in[0], &w->d, out);
}
/* in: values, flags. */
static inline bool run_pack(struct bench *b, const struct work *w, struct cvl_value *out) {
  return b->backend->pack(b->context, 1, &w->in[0], &w->in[1], &w->d, &out[0], &out[1]);
}
/* in: values, index. Both descriptors are d. */
static inline bool run_permute(struct bench *b, const struct work *w, struct cvl_value *out) {
  const struct cvl_permute_args args = {
      .op = w->op, .values = w->in[0], .index = w->in[1], .s = w->d, .d = w->d};
  return b->backend->permute(b->context, 1, &args, out);
}
/* in: lengths. */
static inline bool run_make(struct bench *b, const struct work *w, struct cvl_value *out) {
  return b->backend->make_segdes(b->context, 1, &w->in[0], out);
}

#endif
