/* team-results.c - the results of chunks that threads have executed. Results of known size are
 * written to their place. Each sub-machine keeps the others, and they are put together at the
 * end, in the order of the instances.
 */
#include "cvl/slices.h"
#include "vinterp/machine/machine-private.h"

#include <stdlib.h>

/* A chunk whose results a sub-machine has kept. */
struct kept_chunk {
  uint64_t first; /* its first instance */
  unsigned sub;
  uint64_t index; /* its index among the chunks of the sub-machine */
};

static enum cvl_elem team_results_elem_of(const struct machine *m, enum ir_kind_tag kind) {
  return kind == IR_BOOL    ? CVL_BOOL
         : kind == IR_FLOAT ? m->widths.float_elem
                            : m->widths.int_elem;
}

static bool allocate_quietly(struct machine *m, enum cvl_elem elem, uint64_t n,
                             struct value *out) {
  struct cvl_value flat = {0};
  if (!m->backend->slices->allocate(m->context, m->site, elem, n, &flat)) return false;
  *out = value_of(flat);
  return true;
}

static const struct ir_kind *team_results_kind_of(const struct machine *m,
                                                  const struct cut *cut, uint32_t k) {
  return m->program->functions[cut->function].result_kinds[k];
}

/* Returns whether chunks fill a vector of known size. */
static bool is_filled(const struct machine *m, const struct cut *cut, uint32_t k) {
  return cut->results[k].size == IR_EACH && team_results_kind_of(m, cut, k)->tag != IR_SEGDES;
}

bool cut_allocate_results(struct machine *m, struct cut *cut) {
  for (uint32_t k = 0; k < cut->result_count; k++) {
    struct cut_result *r = &cut->results[k];
    if (!is_filled(m, cut, k) || r->whole.form != CVL_NOTHING) continue;
    const enum cvl_elem elem = team_results_elem_of(m, team_results_kind_of(m, cut, k)->tag);
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

/* Lists the chunks in the order of their instances. */
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

/* Concatenates the descriptors of all chunks; those that the parent has kept come first. */
static bool gather_segdes(struct machine *m, struct machine *const *subs, uint32_t k,
                          struct cut_result *r, const struct kept_chunk *list, uint64_t n) {
  const size_t bytes = (r->kept_count + n) * sizeof(struct cvl_value);
  struct cvl_value *flat = heap_alloc(m->heap, bytes), out = {0};
  if (!flat) return false;
  for (uint64_t i = 0; i < r->kept_count; i++) flat[i] = r->kept[i].flat;
  for (uint64_t i = 0; i < n; i++)
    flat[r->kept_count + i] = result_in(subs[list[i].sub], k)->kept[list[i].index].flat;
  const bool ok =
      m->backend->slices->concatenate(m->context, m->site, r->kept_count + n, flat, &out);
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

/* Writes the elements that the parent has kept. */
static bool team_results_put_own(struct machine *m, struct cut_result *r, uint64_t *first) {
  for (uint64_t i = 0; i < r->kept_count; i++) {
    const uint64_t n = machine_size(m, &r->kept[i].flat).bound;
    if (!m->backend->slices->fill(m->context, m->site, &r->whole.flat, *first,
                                  &r->kept[i].flat))
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
  if (!allocate_quietly(m, elem, total, &r->whole) || !team_results_put_own(m, r, &first) ||
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

static bool team_results_gather(struct machine *m, struct cut *cut, struct machine *const *subs,
                                unsigned count, const struct kept_chunk *list, uint64_t n) {
  for (uint32_t k = 0; k < cut->result_count; k++) {
    const enum ir_kind_tag kind = team_results_kind_of(m, cut, k)->tag;
    if (is_filled(m, cut, k)) continue;
    struct cut_result *r = &cut->results[k];
    if (kind == IR_SEGDES
            ? !gather_segdes(m, subs, k, r, list, n)
            : !gather_vectors(m, subs, count, k, r, list, n, team_results_elem_of(m, kind)))
      return false;
    cut_release_kept(m, r);
  }
  return true;
}

bool cut_gather_results(struct machine *m, struct cut *cut, struct machine *const *subs,
                        unsigned count) {
  const uint64_t n = kept_chunks(subs, count);
  struct kept_chunk *list = heap_alloc(m->heap, n * sizeof *list);
  if (!list) return false;
  list_chunks(subs, count, list);
  const bool ok = team_results_gather(m, cut, subs, count, list, n);
  heap_free(m->heap, list, n * sizeof *list);
  return ok;
}

bool cut_put_results(struct machine *m, struct cut *cut) {
  for (uint32_t k = 0; k < cut->result_count; k++) {
    struct cut_result *r = &cut->results[k];
    const struct machine_site site = {m->site, cut->location};
    for (uint64_t i = 0; r->at && i < r->kept_count; i++) {
      if (!cut_fill(m, &site, &r->whole, r->at[i], &r->kept[i])) return false;
    }
  }
  return true;
}
