/* packs.c - see packs.h. */
#include "cvl-cpu/fused/packs.h"

bool fused_pack_make(struct cvl_kernel *k, struct fused_pack *p) {
  struct fused_value *result = &k->values[k->op->nodes[p->node].result];
  const uint64_t site = k->run.site + p->node;
  p->kept = 0;
  p->offsets = NULL;
  p->out = NULL;
  p->streaming = k->run.n * p->v->bytes >= tuned(k->c, STREAM_BYTES);
  k->run.streams |= p->streaming;
  if (p->wants_result) { /* room for all; the length comes later */
    struct cvl_vector *v = vector_new(k->c, site, (enum cvl_elem)p->v->elem, k->run.n);
    if (!v) return false;
    result->whole = (struct cvl_value){.form = CVL_VECTOR, .elem = p->v->elem, .as.vector = v};
    p->out = v->data;
  }
  if (p->wants_descriptor && k->run.segments.count != 1) {
    struct cvl_segdes *d = segdes_new(k->c, site, k->run.segments.count);
    if (!d) return false;
    result[1].whole = (struct cvl_value){.form = CVL_SEGDES, .as.segdes = d};
    p->offsets = d->offsets;
  }
  return true;
}

/* Whether n elements may stay in a vector that has room for all. Copying them to a vector of
 * their own takes as long as packing them did, so up to seven eighths of it may be wasted, but
 * no more than half once half of the memory limit is in use. */
static bool may_stay(const struct cvl_kernel *k, uint64_t n, uint64_t bytes) {
  enum { NO_MATTER = 64 << 10 }; /* bytes */
  const struct heap *heap = k->c->heap;
  const bool plenty = heap->limit == 0 || heap->live <= heap->limit / 2;
  return n != 1 && (n >= k->run.n / (plenty ? 8 : 2) || k->run.n * bytes <= NO_MATTER);
}

bool fused_pack_finish(struct cvl_kernel *k, struct fused_pack *p) {
  struct fused_value *result = &k->values[k->op->nodes[p->node].result];
  const uint64_t n = p->kept, bytes = p->v->bytes;
  if (p->wants_descriptor && k->run.segments.count == 1) result[1].whole = cvl_one_segment(n);
  if (p->offsets) {
    result[1].whole.as.segdes->total = n;
    p->offsets[k->run.segments.count] = n;
    segdes_check(result[1].whole.as.segdes);
  }
  if (!p->wants_result) return true;
  struct cvl_vector *v = result->whole.as.vector;
  if (may_stay(k, n, bytes)) {
    v->length = n;
    return true;
  }
  struct cvl_value exact;
  if (!result_new(k->c, k->run.site + p->node, (enum cvl_elem)v->elem, n, NULL, &exact)) {
    return false;
  }
  const bool copied =
      copy_bytes(k->c, k->run.site + p->node, result_data(&exact), v->data, n * bytes);
  vector_release(k->c, v);
  result->whole = exact;
  return copied;
}
