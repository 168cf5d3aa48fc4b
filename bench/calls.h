/* calls.h - the operations of the contract as functions that struct work calls. */
#ifndef RAVEL_BENCH_CALLS_H
#define RAVEL_BENCH_CALLS_H

#include "bench/vectors.h"

static inline bool run_map(struct bench *b, const struct work *w, struct cvl_value *out) {
  const struct cvl_call call = call_of(CALL_ELEMENTWISE, w->op, w->arity, w->in);
  return b->backend->apply(b->context, 1, &call, out);
}
static inline bool run_reduce(struct bench *b, const struct work *w, struct cvl_value *out) {
  return b->backend->apply(b->context, 1, &CVL_CALL(CALL_REDUCE, w->op, w->in[0], w->d), out);
}
static inline bool run_scan(struct bench *b, const struct work *w, struct cvl_value *out) {
  return b->backend->apply(b->context, 1, &CVL_CALL(CALL_SCAN, w->op, w->in[0], w->d), out);
}
static inline bool run_rank(struct bench *b, const struct work *w, struct cvl_value *out) {
  return b->backend->apply(b->context, 1, &CVL_CALL(CALL_RANK, w->op, w->in[0], w->d), out);
}
static inline bool run_sort(struct bench *b, const struct work *w, struct cvl_value *out) {
  return b->backend->apply(b->context, 1, &CVL_CALL(CALL_SORT, w->op, w->in[0], w->d), out);
}
/* in: values, flags. */
static inline bool run_pack(struct bench *b, const struct work *w, struct cvl_value *out) {
  return b->backend->apply(b->context, 1,
                           &CVL_CALL(CALL_PACK, OP_PACK, w->in[0], w->in[1], w->d), out);
}
/* in: values, index. Both descriptors are d. */
static inline bool run_permute(struct bench *b, const struct work *w, struct cvl_value *out) {
  const struct cvl_call call =
      CVL_CALL(CALL_PERMUTE, w->op, w->in[0], w->in[1], {0}, {0}, w->d, w->d);
  return b->backend->apply(b->context, 1, &call, out);
}
/* in: lengths. */
static inline bool run_make(struct bench *b, const struct work *w, struct cvl_value *out) {
  return b->backend->apply(b->context, 1, &CVL_CALL(CALL_MAKE_SEGDES, OP_MAKE_SEGDES, w->in[0]),
                           out);
}

#endif
