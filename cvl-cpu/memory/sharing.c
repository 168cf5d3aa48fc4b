/* sharing.c - memory that is shared: vectors on borrowed elements, exported vectors, whose
 * elements others read, and elements that the host writes into vectors. It also has the end of
 * all of these, and of slices (slice.c).
 *
 * A borrowed vector is a head with a notice behind it. An exported vector keeps its block until
 * the last reader, perhaps on another thread, has ended. It stops counting in the context when
 * the vector ends.
 */
#include <stdlib.h>
#include <string.h>

#include "cvl-cpu/cpu.h"

/* ---- borrowed ---- */

static struct cvl_notice *notice_of(struct cvl_vector *v) {
  return (struct cvl_notice *)(void *)((char *)v + HEAD_BYTES);
}

/* Small BOOL vectors are copied, which costs little. Large ones are borrowed, as they may be in
 * a file because there is no memory for a copy. */
static bool may_borrow(enum cvl_elem elem, uint64_t n, const void *data) {
  enum { BOOLS_LEAST = 1 << 20 };
  const uint64_t least = elem == CVL_BOOL ? BOOLS_LEAST : 2;
  return n >= least && (uintptr_t)data % elem_info(elem)->bytes == 0;
}

static bool sharing_borrow(struct cvl_context *c, uint64_t site, enum cvl_elem elem, uint64_t n,
                           const void *data, struct cvl_notice done, struct cvl_value *out) {
  struct cvl_vector *v = vector_new(c, site, CVL_BOOL, sizeof done);
  if (!v) return false;
  *notice_of(v) = done;
  v->held.memory = MEMORY_BORROWED;
  v->elem = (uint8_t)elem;
  v->length = n;
  v->data = (void *)(uintptr_t)data; /* borrowed memory is never written */
  *out = (struct cvl_value){.form = CVL_VECTOR, .elem = (uint8_t)elem, .as.vector = v};
  return true;
}

bool cpu_import(struct cvl_context *c, uint64_t site, enum cvl_elem elem, uint64_t n,
                const void *data, struct cvl_notice done, struct cvl_value *out) {
  if (may_borrow(elem, n, data) && sharing_borrow(c, site, elem, n, data, done, out))
    return true;
  const bool good = !may_borrow(elem, n, data) && cpu_from_host(c, site, elem, n, data, out);
  done.call(done.with);
  return good;
}

/* ---- exported ---- */

struct exported {
  _Atomic uint32_t holders; /* its vector, and all readers of the elements */
  struct cvl_vector *block;
};

/* Removes a holder. True if it was the last. */
static bool left_last(struct exported *exported) {
  return atomic_fetch_sub_explicit(&exported->holders, 1, memory_order_acq_rel) == 1;
}

static void end_reading(void *with) {
  struct exported *exported = with;
  if (!left_last(exported)) return;
  memory_free_left(exported->block);
  free(exported);
}

/* The vector is a holder while it lives, so `block` is only freed after free_exported. */
bool cpu_export(struct cvl_context *c, const struct cvl_value *value, struct cvl_export *out) {
  if (c->error.kind != CVL_E_NONE || value->form != CVL_VECTOR) return false;
  struct cvl_vector *v = value->as.vector;
  if (v->held.memory == MEMORY_BORROWED || v->held.memory == MEMORY_SLICE) return false;
  if (v->held.memory == MEMORY_OWN) {
    /* allocated with malloc because it may outlive the context */
    v->exported = malloc(sizeof *v->exported);
    if (!v->exported) return false;
    v->exported->block = v;
    atomic_init(&v->exported->holders, 1);
    v->held.memory = MEMORY_EXPORTED;
  }
  atomic_fetch_add_explicit(&v->exported->holders, 1, memory_order_relaxed);
  *out = (struct cvl_export){v->data, {end_reading, v->exported}};
  return true;
}

/* Gives back the block if nobody else reads it; otherwise leaves it to the readers. */
static void free_exported(struct cvl_context *c, struct cvl_vector *v) {
  struct exported *exported = v->exported;
  if (atomic_load_explicit(&exported->holders, memory_order_acquire) == 1) {
    free(exported);
    memory_give(c->memory, v, v->held.bytes);
    return;
  }
  memory_leave(c->memory, v, v->held.bytes);
  end_reading(exported);
}

static void free_borrowed(struct cvl_context *c, struct cvl_vector *v) {
  const struct cvl_notice done = *notice_of(v);
  memory_give(c->memory, v, v->held.bytes);
  done.call(done.with);
}

static void free_slice(struct cvl_context *c, struct cvl_vector *v) {
  struct cvl_vector *base = v->base;
  memory_give(c->memory, v, v->held.bytes);
  if (base) vector_release(c, base);
}

void vector_free_shared(struct cvl_context *c, struct cvl_vector *v) {
  if (v->held.memory == MEMORY_EXPORTED)
    free_exported(c, v);
  else if (v->held.memory == MEMORY_SLICE)
    free_slice(c, v);
  else
    free_borrowed(c, v);
}

/* ---- made ---- */

struct making {
  const struct cvl_filler *filler;
  char *to;
  size_t bytes;
};

static void make_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  const struct making *m = arg;
  (void)worker;
  m->filler->fill(m->filler->with, first, last - first, m->to + first * m->bytes);
}

bool cpu_generate(struct cvl_context *c, uint64_t site, enum cvl_elem elem, uint64_t n,
                  const struct cvl_filler *filler, struct cvl_value *out) {
  struct cvl_value result;
  if (!result_new(c, site, elem, n, NULL, &result)) return false;
  struct making m = {filler, result_data(&result), elem_info(elem)->bytes};
  if (!all_done(c, site, pool_for(c->pool, n, grain_for(c, n, 2 * m.bytes), make_chunk, &m))) {
    result_drop(c, &result);
    return false;
  }
  *out = result;
  return true;
}

/* Makes a descriptor in EQUAL form if all lengths are the same, since readers are faster
 * without offsets. */
static bool sharing_equal_segdes(struct cvl_context *c, uint64_t site, uint64_t n,
                                 uint64_t length, struct cvl_segdes **out) {
  struct cvl_segdes *d = segdes_new_equal(c, site, n, length);
  if (!d) return false;
  segdes_release(c, *out);
  *out = d;
  return true;
}

static bool sharing_make_offsets(struct cvl_context *c, uint64_t site,
                                 const struct cvl_filler *filler, struct cvl_segdes *d) {
  const uint64_t n = d->count + 1;
  struct making m = {filler, (char *)d->offsets, sizeof *d->offsets};
  const uint64_t grain = grain_for(c, n, 2 * m.bytes);
  if (!all_done(c, site, pool_for(c->pool, n, grain, make_chunk, &m))) return false;
  d->total = d->offsets[d->count];
  return true;
}

bool cpu_generate_segdes(struct cvl_context *c, uint64_t site, uint64_t n,
                         const struct cvl_filler *filler, struct cvl_value *out) {
  if (n == 0) return cpu_segdes_from_host(c, site, 0, NULL, out);
  struct cvl_segdes *d = segdes_new(c, site, n);
  if (!d) return false;
  d->count = n;
  bool good = sharing_make_offsets(c, site, filler, d);
  if (good && offsets_all_equal(d->offsets, n)) {
    good = sharing_equal_segdes(c, site, n, d->offsets[1], &d);
  }
  if (!good) {
    segdes_release(c, d);
    return false;
  }
  segdes_check(d);
  *out = (struct cvl_value){.form = CVL_SEGDES, .as.segdes = d};
  return true;
}
