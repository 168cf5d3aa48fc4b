/* slice.c - slices of values, vectors that are filled in chunks, and concatenated descriptors.
 *
 * A slice of a vector is a head whose elements are in the block of another vector, the base. It
 * has a reference to the base. But if the base belongs to the parent of a sub-context, whose
 * threads may not count its references, the slice has none: the parent's values stay until its
 * sub-contexts are closed.
 */
#include <string.h>

#include "cvl-cpu/cpu.h"

/* Whether this context counts the references of a vector or descriptor. */
static bool slice_is_own(const struct cvl_context *c, const struct held *h) {
  return h->of_sub == (c->parent != NULL);
}

/* Returns the vector that has the elements, or NULL if that is the parent's. */
static struct cvl_vector *base_of(const struct cvl_context *c, struct cvl_vector *v) {
  if (!slice_is_own(c, &v->held)) return NULL;
  return v->held.memory == MEMORY_SLICE ? v->base : v;
}

static bool cpu_slice_vector(struct cvl_context *c, uint64_t site, struct cvl_vector *v,
                             uint64_t first, uint64_t n, struct cvl_value *out) {
  struct cvl_vector *s = vector_new(c, site, (enum cvl_elem)v->elem, 0);
  if (!s) return false;
  s->held.memory = MEMORY_SLICE;
  s->base = base_of(c, v);
  if (s->base) s->base->held.references++;
  s->length = n;
  s->data = (char *)v->data + first * elem_bytes(v->elem);
  *out = (struct cvl_value){.form = CVL_VECTOR, .elem = v->elem, .as.vector = s};
  return true;
}

/* Makes a scalar of one element, which needs no memory. */
static void slice_element(const struct cvl_value *v, uint64_t i, struct cvl_value *out) {
  const size_t bytes = elem_bytes(v->elem);
  struct cvl_value x = {.form = CVL_SCALAR, .elem = v->elem};
  memcpy(&x.as, (const char *)value_data(v) + i * bytes, bytes);
  *out = x;
}

/* ---- descriptors ---- */

/* Copies offsets of segments of another descriptor, and adds `more` to each, wrapping. */
struct offsets_job {
  struct segments from;
  uint64_t first; /* the first segment */
  uint64_t more;
  uint64_t *to;
};

static void slice_offsets_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  const struct offsets_job *job = arg;
  (void)worker;
  for (uint64_t k = first; k < last; k++) {
    job->to[k] = segment_start(&job->from, job->first + k) + job->more;
  }
}

static bool copy_offsets(struct cvl_context *c, uint64_t site, struct offsets_job *job,
                         uint64_t n) {
  const uint64_t grain = grain_for(c, n, 2 * sizeof *job->to);
  return all_done(c, site, pool_for(c->pool, n, grain, slice_offsets_chunk, job));
}

static bool slice_give_segdes(struct cvl_segdes *d, struct cvl_value *out) {
  segdes_check(d);
  *out = (struct cvl_value){.form = CVL_SEGDES, .as.segdes = d};
  return true;
}

/* Makes a descriptor of `count` segments of one length. */
static bool slice_equal_segments(struct cvl_context *c, uint64_t site, uint64_t count,
                                 uint64_t length, struct cvl_value *out) {
  struct cvl_segdes *d = segdes_new_equal(c, site, count, length);
  return d && slice_give_segdes(d, out);
}

static bool cpu_slice_segdes(struct cvl_context *c, uint64_t site, const struct cvl_value *v,
                             uint64_t first, uint64_t n, struct cvl_value *out) {
  const struct segments s = value_segments(v);
  const uint64_t start = segment_start(&s, first);
  const uint64_t total = segment_start(&s, first + n) - start;
  if (n == 1) {
    *out = cvl_one_segment(total);
    return true;
  }
  if (n == 0) return slice_equal_segments(c, site, 0, 0, out);
  if (!s.offsets) return slice_equal_segments(c, site, n, s.equal, out);
  if (offsets_all_equal(s.offsets + first, n)) {
    return slice_equal_segments(c, site, n, total / n, out);
  }
  struct cvl_segdes *d = segdes_new(c, site, n);
  if (!d) return false;
  struct offsets_job job = {s, first, -start, d->offsets};
  if (!copy_offsets(c, site, &job, n + 1)) {
    segdes_release(c, d);
    return false;
  }
  d->count = n;
  d->total = total;
  return slice_give_segdes(d, out);
}

bool cpu_slice(struct cvl_context *c, uint64_t site, const struct cvl_value *v, uint64_t first,
               uint64_t n, struct cvl_value *out) {
  if (v->form == CVL_SEGDES || v->form == CVL_ONE_SEGMENT) {
    return cpu_slice_segdes(c, site, v, first, n, out);
  }
  if (n == 1) {
    slice_element(v, first, out);
    return true;
  }
  if (v->form == CVL_VECTOR) return cpu_slice_vector(c, site, v->as.vector, first, n, out);
  return cpu_allocate(c, site, (enum cvl_elem)v->elem, n, out);
}

/* ---- vectors that are filled ---- */

bool cpu_allocate(struct cvl_context *c, uint64_t site, enum cvl_elem elem, uint64_t n,
                  struct cvl_value *out) {
  struct cvl_vector *v = vector_new(c, site, elem, n);
  if (!v) return false;
  *out = (struct cvl_value){.form = CVL_VECTOR, .elem = (uint8_t)elem, .as.vector = v};
  return true;
}

bool cpu_fill(struct cvl_context *c, uint64_t site, const struct cvl_value *target,
              uint64_t first, const struct cvl_value *v) {
  const size_t bytes = elem_bytes(v->elem);
  char *to = (char *)target->as.vector->data + first * bytes;
  return copy_bytes(c, site, to, value_data(v), value_length(v) * bytes);
}

/* ---- concatenation ---- */

/* The sums over several descriptors. */
struct whole {
  uint64_t count, total;
  uint64_t equal; /* length of every segment, if they are `all_equal` */
  bool all_equal;
};

/* Adds the segments of one more descriptor. */
static void slice_add_segments(struct whole *w, const struct segments *s) {
  if (s->count == 0) return;
  if (w->count == 0) w->equal = s->equal;
  w->all_equal &= !s->offsets && s->equal == w->equal;
  w->count += s->count;
  w->total += s->total;
}

/* Records the fault that the sum of all lengths is too large. s, behind the segments before it,
 * has the first end that does not fit. */
static bool total_fault(struct cvl_context *c, uint64_t site, const struct whole *before,
                        const struct segments *s) {
  const uint64_t end = (uint64_t)INT64_MAX + 1 - before->total;
  const uint64_t position = before->count + segment_from(s, end) - 1;
  return fault(
      c, (struct cvl_error){.kind = CVL_E_TOTAL, .site = site, .position = (int64_t)position});
}

static bool sum_up(struct cvl_context *c, uint64_t site, uint64_t n,
                   const struct cvl_value *descriptors, struct whole *w) {
  *w = (struct whole){.all_equal = true};
  for (uint64_t i = 0; i < n; i++) {
    const struct segments s = value_segments(&descriptors[i]);
    if (s.total > INT64_MAX - w->total) return total_fault(c, site, w, &s);
    slice_add_segments(w, &s);
  }
  return true;
}

static bool concatenate_offsets(struct cvl_context *c, uint64_t site, uint64_t n,
                                const struct cvl_value *descriptors, struct cvl_segdes *d) {
  d->count = 0;
  for (uint64_t i = 0; i < n; i++) {
    const struct segments s = value_segments(&descriptors[i]);
    struct offsets_job job = {s, 0, d->total, d->offsets + d->count};
    if (!copy_offsets(c, site, &job, s.count)) return false;
    d->count += s.count;
    d->total += s.total;
  }
  d->offsets[d->count] = d->total;
  return true;
}

bool cpu_concatenate(struct cvl_context *c, uint64_t site, uint64_t n,
                     const struct cvl_value *descriptors, struct cvl_value *out) {
  struct whole w;
  if (!sum_up(c, site, n, descriptors, &w)) return false;
  if (w.count == 1) {
    *out = cvl_one_segment(w.total);
    return true;
  }
  if (w.all_equal) return slice_equal_segments(c, site, w.count, w.equal, out);
  struct cvl_segdes *d = segdes_new(c, site, w.count);
  if (!d) return false;
  if (!concatenate_offsets(c, site, n, descriptors, d)) {
    segdes_release(c, d);
    return false;
  }
  return slice_give_segdes(d, out);
}
