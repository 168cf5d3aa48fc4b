/* move.c - the oracle's permutations, EXTRACT, REPLACE and PACK (vcode.md, section 8).
 */
#include "cvl/oracle/oracle.h"

#include <string.h>

static bool faults(struct heap *heap, struct oracle_outcome *o, struct cvl_error e) {
  for (unsigned r = 0; r < CALL_RESULTS; r++) host_free(heap, &o->out[r]);
  o->error = e;
  return false;
}

static struct cvl_error index_error(uint64_t position, int64_t index, uint64_t limit,
                                    uint64_t segment) {
  return (struct cvl_error){.kind = CVL_E_INDEX,
                            .position = (int64_t)position,
                            .value = index,
                            .limit = (int64_t)limit,
                            .segment = (int64_t)segment};
}

static bool move_inside(int64_t index, uint64_t length) {
  return index >= 0 && (uint64_t)index < length;
}

/* ---- the permute family ---- */

/* Walks the index operand, segment by segment, and moves the elements. */
struct permutation {
  const struct host_value *values, *index, *flags;
  /* descriptors: of the index, and of what the indices refer to */
  const struct host_value *d_index, *d_other;
  struct host_value *out;
  bool gather;
};

static bool flag_at(const struct permutation *p, uint64_t i) {
  return p->flags->form == HOST_NOTHING || host_int(p->flags, i) != 0;
}

/* Returns the fault of the lowest index out of range; kind CVL_E_NONE if there is none. */
static struct cvl_error find_bad_index(const struct permutation *p) {
  uint64_t i = 0;
  for (uint64_t k = 0; k < p->d_index->n; k++) {
    uint64_t limit = host_segment(p->d_other, k);
    for (uint64_t j = 0; j < host_segment(p->d_index, k); j++, i++) {
      if (flag_at(p, i) && !move_inside(host_int(p->index, i), limit)) {
        return index_error(i, host_int(p->index, i), limit, k);
      }
    }
  }
  return (struct cvl_error){0};
}

/* Returns the lowest position that uses a destination again. `used` has one zeroed byte for
 * each destination. */
static struct cvl_error find_duplicate(const struct permutation *p, uint8_t *used) {
  uint64_t i = 0, other = 0;
  for (uint64_t k = 0; k < p->d_index->n; k++) {
    for (uint64_t j = 0; j < host_segment(p->d_index, k); j++, i++) {
      int64_t index = host_int(p->index, i);
      if (used[other + (uint64_t)index]++) {
        return (struct cvl_error){.kind = CVL_E_DUPLICATE,
                                  .position = (int64_t)i,
                                  .value = index,
                                  .segment = (int64_t)k};
      }
    }
    other += host_segment(p->d_other, k);
  }
  return (struct cvl_error){0};
}

static void oracle_move(const struct permutation *p) {
  uint64_t i = 0, other = 0;
  for (uint64_t k = 0; k < p->d_index->n; k++) {
    for (uint64_t j = 0; j < host_segment(p->d_index, k); j++, i++) {
      if (!flag_at(p, i)) continue;
      uint64_t far = other + (uint64_t)host_int(p->index, i);
      if (p->gather) {
        host_copy(p->out, i, p->values, far);
      } else {
        host_copy(p->out, far, p->values, i); /* in order: the highest position stays */
      }
    }
    other += host_segment(p->d_other, k);
  }
}

bool oracle_permute(struct heap *heap, const struct oracle_call *c, struct oracle_outcome *o) {
  const struct host_value *v = c->operand;
  bool gather = c->op == OP_BPERMUTE || c->op == OP_BFPERMUTE;
  struct permutation p = {.values = &v[0],
                          .index = &v[1],
                          .flags = &v[2],
                          .d_index = gather ? &v[5] : &v[4],
                          .d_other = gather ? &v[4] : &v[5],
                          .out = &o->out[0],
                          .gather = gather};
  struct cvl_error e = find_bad_index(&p);
  if (e.kind != CVL_E_NONE) return faults(heap, o, e);
  if (c->op == OP_PERMUTE) {
    size_t bytes = (size_t)p.out->n;
    uint8_t *used = heap_alloc(heap, bytes);
    if (!used) return oracle_no_memory(heap, o, bytes);
    memset(used, 0, bytes);
    e = find_duplicate(&p, used);
    heap_free(heap, used, bytes);
    if (e.kind != CVL_E_NONE) return faults(heap, o, e);
  }
  for (uint64_t i = 0; i < p.out->n; i++) {
    if (v[3].form == HOST_NOTHING) {
      host_zero(p.out, i);
    } else {
      host_copy(p.out, i, &v[3], i);
    }
  }
  oracle_move(&p);
  return true;
}

/* ---- one element of each segment ---- */

bool oracle_extract(struct heap *heap, const struct oracle_call *c, struct oracle_outcome *o) {
  const struct host_value *v = &c->operand[0], *index = &c->operand[1], *d = &c->operand[2];
  uint64_t first = 0;
  for (uint64_t k = 0; k < d->n; k++) {
    int64_t i = host_int(index, k);
    if (!move_inside(i, host_segment(d, k))) {
      return faults(heap, o, index_error(k, i, host_segment(d, k), k));
    }
    host_copy(&o->out[0], k, v, first + (uint64_t)i);
    first += host_segment(d, k);
  }
  return true;
}

bool oracle_replace(struct heap *heap, const struct oracle_call *c, struct oracle_outcome *o) {
  const struct host_value *v = &c->operand[0], *index = &c->operand[1], *w = &c->operand[2],
                          *d = &c->operand[3];
  for (uint64_t i = 0; i < v->n; i++) host_copy(&o->out[0], i, v, i);
  uint64_t first = 0;
  for (uint64_t k = 0; k < d->n; k++) {
    int64_t i = host_int(index, k);
    if (!move_inside(i, host_segment(d, k))) {
      return faults(heap, o, index_error(k, i, host_segment(d, k), k));
    }
    host_copy(&o->out[0], first + (uint64_t)i, w, k);
    first += host_segment(d, k);
  }
  return true;
}

/* ---- pack ---- */

bool oracle_pack(struct heap *heap, const struct oracle_call *c, struct oracle_outcome *o) {
  const struct host_value *v = &c->operand[0], *flags = &c->operand[1], *d = &c->operand[2];
  (void)heap;
  uint64_t i = 0, kept = 0;
  for (uint64_t k = 0; k < d->n; k++) {
    uint64_t before = kept;
    for (uint64_t j = 0; j < host_segment(d, k); j++, i++) {
      if (host_int(flags, i)) host_copy(&o->out[0], kept++, v, i);
    }
    host_put_int(&o->out[1], k, (int64_t)(kept - before));
  }
  o->out[1].total = kept;
  return true;
}
