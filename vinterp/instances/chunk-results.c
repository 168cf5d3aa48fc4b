/* chunk-results.c - the results of chunks, put one behind the other.
 *
 * The size of a vector with an element for each instance is known before. Chunks fill it, so
 * each element is written once more than the operation wrote it. All other results are kept
 * until the last chunk has ended, copied once, and then released. Results that the consumer
 * takes (consumer.c) are neither filled nor kept.
 */
#include "base/number.h"
#include "cvl/slices.h"
#include "vinterp/machine/machine-private.h"

#include <inttypes.h>

bool cut_fill(struct machine *m, const struct machine_site *site, struct value *whole,
              uint64_t first, struct value *v) {
  struct cvl_value flat = v->flat;
  flat.owned = value_is_counted(v);
  v->form = CVL_NOTHING;
  return m->backend->slices->fill(m->context, site->number, &whole->flat, first, &flat) ||
         machine_backend_fault(m, site);
}

static bool chunk_results_allocate(struct machine *m, const struct machine_site *site,
                                   uint8_t elem, uint64_t n, struct value *out) {
  struct cvl_value flat = {0};
  if (!m->backend->slices->allocate(m->context, site->number, (enum cvl_elem)elem, n, &flat))
    return machine_backend_fault(m, site);
  *out = value_of(flat);
  return true;
}

/* Returns whether a result of all instances may fit, with what existed before the first chunk.
 * If not, smaller chunks do not help, and it would be pointless to compute them all. */
static bool may_be_whole(struct machine *m, const struct machine_site *site,
                         const struct cut *cut, enum cvl_elem elem) {
  char needed[NUMBER_TEXT_MAX], live[NUMBER_TEXT_MAX], limit[NUMBER_TEXT_MAX];
  const uint64_t bytes = cut->instances * elem_info(elem)->bytes;
  if (m->vector_limit == 0 || m->sub || m->chunks.count > 1) return true;
  if (bytes <= m->vector_limit && cut->live <= m->vector_limit - bytes) return true;
  format_bytes(needed, bytes);
  format_bytes(live, cut->live);
  format_bytes(limit, m->vector_limit);
  m->chunks.final = true;
  machine_limit_fault(m, site,
                      "out of memory: a result of all %" PRIu64
                      " instances takes %s; of the limit of %s for vectors %s are taken",
                      cut->instances, needed, limit, live);
  m->failure.whole = true;
  return false;
}

/* ---- a chunk ---- */

static bool chunk_results_keep(struct machine *m, const struct machine_site *site,
                               struct cut_result *r, struct value *v) {
  if (r->kept_count == r->kept_capacity) {
    const uint64_t capacity = r->kept_capacity ? 2 * r->kept_capacity : 4;
    struct value *kept =
        heap_grow(m->heap, r->kept, r->kept_capacity * sizeof *kept, capacity * sizeof *kept);
    if (!kept) return machine_memory_fault(m, site, capacity * sizeof *kept);
    r->kept = kept;
    r->kept_capacity = capacity;
  }
  if (!value_is_segdes(v)) r->total += machine_size(m, &v->flat).bound;
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
  if (r->consumed) return consumer_put(m, site, cut, r, v);
  if (r->size != IR_EACH || value_is_segdes(v)) return chunk_results_keep(m, site, r, v);
  if (r->whole.form == CVL_NOTHING &&
      (!may_be_whole(m, site, cut, (enum cvl_elem)v->flat.elem) ||
       !chunk_results_allocate(m, site, v->flat.elem, cut->instances, &r->whole))) {
    return false;
  }
  return cut_fill(m, site, &r->whole, cut->first, v);
}

/* Notes which chunk has been kept, in a sub-machine. */
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
  if (!chunk_results_allocate(m, site, r->kept[0].flat.elem, r->total, &r->whole)) return false;
  for (uint64_t k = 0; k < r->kept_count; k++) {
    const uint64_t n = machine_size(m, &r->kept[k].flat).bound;
    if (!cut_fill(m, site, &r->whole, first, &r->kept[k])) return false;
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
      m->backend->slices->concatenate(m->context, site->number, r->kept_count, flat, &out) ||
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
    if (r->kept_count == 0 && (!r->consumed || r->whole.form != CVL_NOTHING)) continue;
    if (!machine_next_site(m, cut->location, &site)) return false;
    const bool ok = r->consumed                    ? consumer_whole(m, &site, r)
                    : value_is_segdes(&r->kept[0]) ? join_segdes(m, &site, r)
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

void cut_release_kept(struct machine *m, struct cut_result *r) {
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
    cut_release_kept(m, &cut->results[k]);
  }
}
