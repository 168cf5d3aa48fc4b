/* chunk-results.c - the results of chunks laid one behind the other.
 *
 * Of a vector with an element for each instance the size is known before: chunks fill it, and
 * each element is written once more than the operation did that made it. Everything else is
 * kept until the last chunk has ended, and copied once; what is copied is released at once.
 * What the sink takes (sink.c) is neither.
 */
#include "vinterp/machine-private.h"

#include <stdlib.h>

static bool is_segdes(const struct value *v) {
  return v->form == CVL_ONE_SEGMENT || v->form == CVL_SEGDES;
}

/* Hands a value over to `fill`. */
static bool fill(struct machine *m, const struct machine_site *site, struct value *whole,
                 uint64_t first, struct value *v) {
  struct cvl_value flat = v->flat;
  flat.owned = value_is_counted(v);
  v->form = CVL_NOTHING;
  return m->backend->fill(m->context, site->number, &whole->flat, first, &flat) ||
         machine_backend_fault(m, site);
}

static bool allocate(struct machine *m, const struct machine_site *site, uint8_t elem,
                     uint64_t n, struct value *out) {
  struct cvl_value flat = {0};
  if (!m->backend->allocate(m->context, site->number, (enum cvl_elem)elem, n, &flat))
    return machine_backend_fault(m, site);
  *out = value_of(flat);
  return true;
}

/* ---- a chunk ---- */

static bool keep(struct machine *m, const struct machine_site *site, struct cut_result *r,
                 struct value *v) {
  if (r->kept_count == r->kept_capacity) {
    const uint64_t capacity = r->kept_capacity ? 2 * r->kept_capacity : 4;
    struct value *kept =
        heap_grow(m->heap, r->kept, r->kept_capacity * sizeof *kept, capacity * sizeof *kept);
    if (!kept) return machine_memory_fault(m, site, capacity * sizeof *kept);
    r->kept = kept;
    r->kept_capacity = capacity;
  }
  if (!is_segdes(v)) r->total += machine_size(m, &v->flat).bound;
  r->kept[r->kept_count++] = *v;
  v->form = CVL_NOTHING;
  return true;
}

static bool lay(struct machine *m, const struct machine_site *site, struct cut *cut,
                struct cut_result *r, struct value *v) {
  if (cut->n == cut->instances && !cut->team) { /* the only chunk */
    r->whole = *v;
    v->form = CVL_NOTHING;
    return true;
  }
  if (r->sunk) return sink_put(m, site, cut, r, v);
  if (r->size != IR_EACH || is_segdes(v)) return keep(m, site, r, v);
  if (r->whole.form == CVL_NOTHING &&
      !allocate(m, site, v->flat.elem, cut->instances, &r->whole)) {
    return false;
  }
  return fill(m, site, &r->whole, cut->first, v);
}

/* Which chunk has been kept, in a sub-machine. */
static bool note_first(struct machine *m, const struct machine_site *site, struct cut *cut) {
  if (cut->firsts_count == cut->firsts_capacity) {
    const uint64_t capacity = cut->firsts_capacity ? 2 * cut->firsts_capacity : 8;
    uint64_t *firsts = heap_grow(m->heap, cut->firsts, cut->firsts_capacity * sizeof *firsts,
                                 capacity * sizeof *firsts);
    if (!firsts) return machine_memory_fault(m, site, capacity * sizeof *firsts);
    cut->firsts = firsts;
    cut->firsts_capacity = capacity;
  }
  cut->firsts[cut->firsts_count++] = cut->first;
  return true;
}

bool cut_lay_results(struct machine *m, const struct machine_site *site, struct cut *cut,
                     struct value *results) {
  for (uint32_t k = 0; k < cut->result_count; k++) {
    if (!lay(m, site, cut, &cut->results[k], &results[k])) return false;
  }
  return !cut->team || note_first(m, site, cut);
}

/* ---- all chunks ---- */

static bool join_vectors(struct machine *m, const struct machine_site *site,
                         struct cut_result *r) {
  uint64_t first = 0;
  if (!allocate(m, site, r->kept[0].flat.elem, r->total, &r->whole)) return false;
  for (uint64_t k = 0; k < r->kept_count; k++) {
    const uint64_t n = machine_size(m, &r->kept[k].flat).bound;
    if (!fill(m, site, &r->whole, first, &r->kept[k])) return false;
    first += n;
  }
  return true;
}

static bool join_segdes(struct machine *m, const struct machine_site *site,
                        struct cut_result *r) {
  const size_t bytes = r->kept_count * sizeof(struct cvl_value);
  struct cvl_value *flat = heap_alloc(m->heap, bytes), out = {0};
  if (!flat) return machine_memory_fault(m, site, bytes);
  for (uint64_t k = 0; k < r->kept_count; k++) flat[k] = r->kept[k].flat;
  const bool ok =
      m->backend->concatenate(m->context, site->number, r->kept_count, flat, &out) ||
      machine_backend_fault(m, site);
  heap_free(m->heap, flat, bytes);
  if (ok) r->whole = value_of(out);
  for (uint64_t k = 0; ok && k < r->kept_count; k++) value_release(&m->store, &r->kept[k]);
  return ok;
}

bool cut_join_results(struct machine *m, struct cut *cut) {
  for (uint32_t k = 0; k < cut->result_count; k++) {
    struct cut_result *r = &cut->results[k];
    struct machine_site site;
    if (r->kept_count == 0 && (!r->sunk || r->whole.form != CVL_NOTHING)) continue;
    if (!machine_next_site(m, cut->location, &site)) return false;
    const bool ok = r->sunk                  ? sink_whole(m, &site, r)
                    : is_segdes(&r->kept[0]) ? join_segdes(m, &site, r)
                                             : join_vectors(m, &site, r);
    if (!ok) return false;
  }
  return true;
}

void cut_begin_results(struct cut *cut) {
  cut->firsts_before = cut->firsts_count;
  for (uint32_t k = 0; k < cut->result_count; k++) {
    struct cut_result *r = &cut->results[k];
    r->kept_before = r->kept_count;
    r->total_before = r->total;
  }
}

void cut_undo_results(struct machine *m, struct cut *cut) {
  cut->firsts_count = cut->firsts_before;
  for (uint32_t k = 0; k < cut->result_count; k++) {
    struct cut_result *r = &cut->results[k];
    while (r->kept_count > r->kept_before) value_release(&m->store, &r->kept[--r->kept_count]);
    if (cut->first == 0 && !cut->team) value_release(&m->store, &r->whole);
    r->total = r->total_before;
  }
}

static void release_kept(struct machine *m, struct cut_result *r) {
  for (uint64_t k = 0; k < r->kept_count; k++) value_release(&m->store, &r->kept[k]);
  heap_free(m->heap, r->at, r->kept_count * sizeof *r->at);
  heap_free(m->heap, r->kept, r->kept_capacity * sizeof *r->kept);
  r->at = NULL;
  r->kept = NULL;
  r->kept_count = r->kept_capacity = r->total = 0;
  r->kept_before = r->total_before = 0;
}

void cut_release_results(struct machine *m, struct cut *cut) {
  for (uint32_t k = 0; k < cut->result_count; k++) {
    if (!cut->team) value_release(&m->store, &cut->results[k].whole);
    release_kept(m, &cut->results[k]);
  }
}

/* ---- the chunks of a team ---- */

/* One whose results a sub-machine has kept. */
struct kept_chunk {
  uint64_t first; /* instance */
  unsigned sub;
  uint64_t index; /* among those of the sub-machine */
};

static enum cvl_elem elem_of(const struct machine *m, enum ir_kind_tag kind) {
  return kind == IR_BOOL    ? CVL_BOOL
         : kind == IR_FLOAT ? m->widths.float_elem
                            : m->widths.int_elem;
}

static bool allocate_quietly(struct machine *m, enum cvl_elem elem, uint64_t n,
                             struct value *out) {
  struct cvl_value flat = {0};
  if (!m->backend->allocate(m->context, m->site, elem, n, &flat)) return false;
  *out = value_of(flat);
  return true;
}

static const struct ir_kind *kind_of(const struct machine *m, const struct cut *cut,
                                     uint32_t k) {
  return m->program->functions[cut->function].result_kinds[k];
}

/* Whether chunks fill a vector of known size. */
static bool is_filled(const struct machine *m, const struct cut *cut, uint32_t k) {
  return cut->results[k].size == IR_EACH && kind_of(m, cut, k)->tag != IR_SEGDES;
}

bool cut_allocate_results(struct machine *m, struct cut *cut) {
  for (uint32_t k = 0; k < cut->result_count; k++) {
    struct cut_result *r = &cut->results[k];
    if (!is_filled(m, cut, k) || r->whole.form != CVL_NOTHING) continue;
    const enum cvl_elem elem = elem_of(m, kind_of(m, cut, k)->tag);
    if (!allocate_quietly(m, elem, cut->instances, &r->whole)) return false;
  }
  return true;
}

static int compare_chunks(const void *a, const void *b) {
  const struct kept_chunk *x = a, *y = b;
  return x->first < y->first ? -1 : x->first > y->first;
}

static const struct cut *cut_of(const struct machine *sub) {
  return &sub->chunks.cuts[0];
}

static uint64_t kept_chunks(struct machine *const *subs, unsigned count) {
  uint64_t n = 0;
  for (unsigned i = 0; i < count; i++) n += cut_of(subs[i])->firsts_count;
  return n;
}

/* In the order of their instances. */
static void list_chunks(struct machine *const *subs, unsigned count, struct kept_chunk *list) {
  uint64_t n = 0;
  for (unsigned i = 0; i < count; i++) {
    for (uint64_t j = 0; j < cut_of(subs[i])->firsts_count; j++)
      list[n++] = (struct kept_chunk){cut_of(subs[i])->firsts[j], i, j};
  }
  qsort(list, n, sizeof *list, compare_chunks);
}

static struct cut_result *result_in(struct machine *sub, uint32_t k) {
  return &sub->chunks.cuts[0].results[k];
}

/* The descriptors of all chunks, those that the parent has kept first. */
static bool gather_segdes(struct machine *m, struct machine *const *subs, uint32_t k,
                          struct cut_result *r, const struct kept_chunk *list, uint64_t n) {
  const size_t bytes = (r->kept_count + n) * sizeof(struct cvl_value);
  struct cvl_value *flat = heap_alloc(m->heap, bytes), out = {0};
  if (!flat) return false;
  for (uint64_t i = 0; i < r->kept_count; i++) flat[i] = r->kept[i].flat;
  for (uint64_t i = 0; i < n; i++)
    flat[r->kept_count + i] = result_in(subs[list[i].sub], k)->kept[list[i].index].flat;
  const bool ok = m->backend->concatenate(m->context, m->site, r->kept_count + n, flat, &out);
  heap_free(m->heap, flat, bytes);
  if (ok) r->whole = value_of(out);
  return ok;
}

static bool allocate_starts(struct machine *m, struct machine *const *subs, unsigned count,
                            uint32_t k) {
  for (unsigned i = 0; i < count; i++) {
    struct cut_result *r = result_in(subs[i], k);
    r->at = heap_alloc(m->heap, r->kept_count * sizeof *r->at);
    if (!r->at) return false;
  }
  return true;
}

/* Those that the parent has kept. */
static bool put_own(struct machine *m, struct cut_result *r, uint64_t *first) {
  for (uint64_t i = 0; i < r->kept_count; i++) {
    const uint64_t n = machine_size(m, &r->kept[i].flat).bound;
    if (!m->backend->fill(m->context, m->site, &r->whole.flat, *first, &r->kept[i].flat))
      return false;
    *first += n;
  }
  return true;
}

static bool gather_vectors(struct machine *m, struct machine *const *subs, unsigned count,
                           uint32_t k, struct cut_result *r, const struct kept_chunk *list,
                           uint64_t n, enum cvl_elem elem) {
  uint64_t total = r->total, first = 0;
  for (unsigned i = 0; i < count; i++) total += result_in(subs[i], k)->total;
  if (!allocate_quietly(m, elem, total, &r->whole) || !put_own(m, r, &first) ||
      !allocate_starts(m, subs, count, k)) {
    return false;
  }
  for (unsigned i = 0; i < count; i++) result_in(subs[i], k)->whole = r->whole;
  for (uint64_t i = 0; i < n; i++) {
    struct machine *sub = subs[list[i].sub];
    struct cut_result *from = result_in(sub, k);
    from->at[list[i].index] = first;
    first += machine_size(sub, &from->kept[list[i].index].flat).bound;
  }
  return true;
}

static bool gather(struct machine *m, struct cut *cut, struct machine *const *subs,
                   unsigned count, const struct kept_chunk *list, uint64_t n) {
  for (uint32_t k = 0; k < cut->result_count; k++) {
    const enum ir_kind_tag kind = kind_of(m, cut, k)->tag;
    if (is_filled(m, cut, k)) continue;
    struct cut_result *r = &cut->results[k];
    if (kind == IR_SEGDES ? !gather_segdes(m, subs, k, r, list, n)
                          : !gather_vectors(m, subs, count, k, r, list, n, elem_of(m, kind)))
      return false;
    release_kept(m, r);
  }
  return true;
}

bool cut_gather_results(struct machine *m, struct cut *cut, struct machine *const *subs,
                        unsigned count) {
  const uint64_t n = kept_chunks(subs, count);
  struct kept_chunk *list = heap_alloc(m->heap, n * sizeof *list);
  if (!list) return false;
  list_chunks(subs, count, list);
  const bool ok = gather(m, cut, subs, count, list, n);
  heap_free(m->heap, list, n * sizeof *list);
  return ok;
}

bool cut_put_results(struct machine *m, struct cut *cut) {
  for (uint32_t k = 0; k < cut->result_count; k++) {
    struct cut_result *r = &cut->results[k];
    const struct machine_site site = {m->site, cut->location};
    for (uint64_t i = 0; r->at && i < r->kept_count; i++) {
      if (!fill(m, &site, &r->whole, r->at[i], &r->kept[i])) return false;
    }
  }
  return true;
}
