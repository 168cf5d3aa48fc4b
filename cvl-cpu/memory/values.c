/* values.c - vectors, descriptors, scratch memory and the error slot of a context; searches in
 * descriptors. */
#include "base/check.h"
#include "cvl-cpu/cpu.h"

_Static_assert(sizeof(struct cvl_vector) <= HEAD_BYTES, "the head fits in its line");
_Static_assert(sizeof(struct cvl_segdes) <= HEAD_BYTES, "the head fits in its line");

bool fault(struct cvl_context *c, struct cvl_error e) {
  struct cvl_error *slot = &c->error;
  if (slot->kind == CVL_E_NONE || e.site < slot->site ||
      (e.site == slot->site && e.position < slot->position)) {
    *slot = e;
  }
  return false;
}

bool segment_fault(struct cvl_context *c, uint64_t site, enum cvl_error_kind kind,
                   uint64_t position, int64_t index, const struct segments *s, uint64_t k) {
  const uint64_t length = segment_start(s, k + 1) - segment_start(s, k);
  return fault(c, (struct cvl_error){.kind = kind,
                                     .site = site,
                                     .position = (int64_t)position,
                                     .value = index,
                                     .limit = (int64_t)length,
                                     .segment = (int64_t)k});
}

bool all_done(struct cvl_context *c, uint64_t site, bool done) {
  return done || fault(c, (struct cvl_error){.kind = CVL_E_STOPPED, .site = site});
}

static void *values_take(struct cvl_context *c, uint64_t site, size_t bytes) {
  void *block = memory_take(c->memory, bytes);
  if (!block) {
    fault(c, (struct cvl_error){.kind = CVL_E_MEMORY,
                                .site = site,
                                .value = (int64_t)bytes,
                                .limit = (int64_t)c->memory_limit});
  }
  return block;
}

void *scratch_alloc(struct cvl_context *c, uint64_t site, size_t bytes) {
  return values_take(c, site, bytes);
}

void scratch_free(struct cvl_context *c, void *block, size_t bytes) {
  memory_give(c->memory, block, bytes);
}

/* Allocates a block with a head and n items, and puts it into the list. Sizes beyond all memory
 * are refused, and reported as the largest that a fault can hold. */
static void *values_hold(struct cvl_context *c, uint64_t site, uint64_t n, size_t item) {
  const uint64_t most = (INT64_MAX - HEAD_BYTES) / item;
  const size_t bytes = n <= most ? HEAD_BYTES + (size_t)n * item : INT64_MAX;
  struct held *h = values_take(c, site, bytes);
  if (!h) return NULL;
  memory_hold(c->memory, bytes);
  *h = (struct held){.next = c->held, .bytes = bytes, .of_sub = c->parent != NULL};
  if (c->held) c->held->previous = h;
  c->held = h;
  return h;
}

static void unhold(struct cvl_context *c, struct held *h) {
  if (h->next) h->next->previous = h->previous;
  if (h->previous) {
    h->previous->next = h->next;
  } else {
    c->held = h->next;
  }
  memory_unhold(c->memory, h->bytes);
  if (h->memory == MEMORY_OWN) {
    memory_give(c->memory, h, h->bytes);
  } else {
    vector_free_shared(c, (struct cvl_vector *)(void *)h);
  }
}

/* Frees the newest first, so that a slice is freed before the vector that it refers to. */
void release_all(struct cvl_context *c) {
  while (c->held) unhold(c, c->held);
}

struct cvl_vector *vector_new(struct cvl_context *c, uint64_t site, enum cvl_elem e,
                              uint64_t n) {
  struct cvl_vector *v = values_hold(c, site, n, elem_info(e)->bytes);
  if (!v) return NULL;
  v->held.references = 1;
  v->elem = (uint8_t)e;
  v->length = n;
  v->data = (char *)v + HEAD_BYTES;
  return v;
}

void vector_release(struct cvl_context *c, struct cvl_vector *v) {
  invariant(v->held.references > 0);
  if (--v->held.references == 0) unhold(c, &v->held);
}

struct cvl_segdes *segdes_new(struct cvl_context *c, uint64_t site, uint64_t count) {
  struct cvl_segdes *s = values_hold(c, site, count + 1, sizeof(uint64_t));
  if (!s) return NULL;
  s->held.references = 1;
  s->held.form = SEGDES_OFFSETS;
  s->count = count;
  s->total = s->equal = 0;
  s->offsets = (uint64_t *)(void *)((char *)s + HEAD_BYTES);
  return s;
}

struct cvl_segdes *segdes_new_equal(struct cvl_context *c, uint64_t site, uint64_t count,
                                    uint64_t length) {
  struct cvl_segdes *s = segdes_new(c, site, 0);
  if (!s) return NULL;
  s->held.form = SEGDES_EQUAL;
  s->count = count;
  s->total = count * length;
  s->equal = length;
  s->offsets = NULL;
  return s;
}

void segdes_release(struct cvl_context *c, struct cvl_segdes *s) {
  invariant(s->held.references > 0);
  if (--s->held.references == 0) unhold(c, &s->held);
}

bool result_new(struct cvl_context *c, uint64_t site, enum cvl_elem e, uint64_t n,
                struct cvl_vector *reuse, struct cvl_value *out) {
  if (n == 1) {
    *out = (struct cvl_value){.form = CVL_SCALAR, .elem = (uint8_t)e};
    return true;
  }
  struct cvl_vector *v = reuse;
  if (v) {
    v->held.references++;
    v->elem = (uint8_t)e;
  } else {
    v = vector_new(c, site, e, n);
    if (!v) return false;
  }
  *out = (struct cvl_value){.form = CVL_VECTOR, .elem = (uint8_t)e, .as.vector = v};
  return true;
}

void result_drop(struct cvl_context *c, struct cvl_value *out) {
  if (out->form == CVL_VECTOR) vector_release(c, out->as.vector);
}

/* ---- searches in descriptors ---- */

/* Most offsets that differ do so near the beginning. */
bool offsets_all_equal(const uint64_t *offsets, uint64_t n) {
  const uint64_t length = offsets[1] - offsets[0];
  uint64_t k = 1;
  while (k < n && offsets[k + 1] - offsets[k] == length) k++;
  return k == n;
}

uint64_t segment_from(const struct segments *s, uint64_t p) {
  if (!s->offsets) {
    if (p == 0) return 0;
    return s->equal && p <= s->total ? (p + s->equal - 1) / s->equal : s->count;
  }
  uint64_t low = 0, high = s->count;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (s->offsets[middle] < p) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

uint64_t segment_at(const struct segments *s, uint64_t p) {
  return segment_from(s, p + 1) - 1;
}

struct path_coordinate segments_split(const struct segments *s, uint64_t step) {
  /* Segment k starts at step k + start(k). Finds the first that starts at or after `step`. */
  uint64_t low = 0;
  if (!s->offsets) {
    low = step == 0 ? 0 : (step - 1) / (s->equal + 1) + 1;
    if (low > s->count) low = s->count;
  } else {
    uint64_t high = s->count;
    while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      if (middle + s->offsets[middle] < step) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
  }
  return (struct path_coordinate){low, step - low};
}

uint64_t grain_for(const struct cvl_context *c, uint64_t items, uint64_t bytes) {
  if (bytes == 0) bytes = 1;
  if (items <= tuned(c, SERIAL_BYTES) / bytes) return items ? items : 1;
  const bool alone = pool_threads(c->pool) == 1;
  uint64_t grain = (alone ? tuned(c, LONE_BYTES) : tuned(c, CHUNK_BYTES)) / bytes;
  /* Medium-sized work has one chunk for each thread. */
  const uint64_t per_thread = items / pool_threads(c->pool) + 1;
  if (grain > per_thread) grain = per_thread;
  return (grain + 63) / 64 * 64;
}
