/* chunk-random.c - positions of RAND in batch calls: the number of elements that the same RAND
 * drew in earlier chunks of all open cuts.
 */
#include "vinterp/machine/machine-private.h"

#include <inttypes.h>

void cut_random_free(struct machine *m, struct cut *cut) {
  struct cut_random *r = &cut->random;
  heap_free(m->heap, r->drawn, r->capacity * sizeof *r->drawn);
  heap_free(m->heap, r->drawing, r->capacity * sizeof *r->drawing);
  *r = (struct cut_random){0};
}

static bool chunk_random_grow(struct machine *m, const struct machine_site *site,
                              struct cut_random *r) {
  const uint64_t capacity = r->capacity ? 2 * r->capacity : 8;
  const size_t bytes = capacity * sizeof *r->drawn;
  uint64_t *drawn = heap_alloc(m->heap, bytes), *drawing = heap_alloc(m->heap, bytes);
  if (!drawn || !drawing) {
    heap_free(m->heap, drawn, bytes);
    heap_free(m->heap, drawing, bytes);
    return machine_memory_fault(m, site, 2 * bytes);
  }
  for (uint64_t k = 0; k < r->count; k++) {
    drawn[k] = r->drawn[k];
    drawing[k] = r->drawing[k];
  }
  heap_free(m->heap, r->drawn, r->capacity * sizeof *r->drawn);
  heap_free(m->heap, r->drawing, r->capacity * sizeof *r->drawing);
  r->drawn = drawn;
  r->drawing = drawing;
  r->capacity = capacity;
  return true;
}

/* Makes the counts of RAND number k exist. */
static bool reach(struct machine *m, const struct machine_site *site, struct cut_random *r,
                  uint64_t k) {
  while (r->count <= k) {
    if (r->count == r->capacity && !chunk_random_grow(m, site, r)) return false;
    r->drawn[r->count] = r->drawing[r->count] = 0;
    r->count++;
  }
  return true;
}

/* Returns the number of elements that RAND number k drew in earlier chunks of all open cuts. */
static uint64_t drawn_before(const struct machine *m, uint64_t k) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < m->chunks.count; i++) {
    const struct cut_random *r = &m->chunks.cuts[i].random;
    if (k - r->begin < r->count) sum += r->drawn[k - r->begin];
  }
  return sum;
}

bool chunks_random_first(struct machine *m, const struct machine_site *site,
                         const struct value *bounds, uint64_t k, uint64_t *first) {
  *first = 0;
  if (m->chunks.count == 0) return true;
  struct cut_random *r = &m->chunks.cuts[m->chunks.count - 1].random;
  uint64_t n;
  if (!machine_length(m, site, bounds, &n) || !reach(m, site, r, k - r->begin)) return false;
  r->drawing[k - r->begin] = n;
  *first = drawn_before(m, k);
  return true;
}

void cut_random_begin(struct machine *m, struct cut *cut) {
  struct cut_random *r = &cut->random;
  m->random_count = r->begin;
  for (uint64_t k = 0; k < r->count; k++) r->drawing[k] = 0;
}

bool cut_random_check(struct machine *m, const struct machine_site *site, struct cut *cut) {
  struct cut_random *r = &cut->random;
  const uint64_t executed = m->random_count - r->begin;
  if (r->wanted == UINT64_MAX) r->wanted = executed;
  if (executed != r->wanted) {
    m->chunks.final = true;
    return machine_fault(m, site,
                         "%s is lifted, and for some it executes %" PRIu64
                         " RANDs, for others %" PRIu64 " (a fault of the program's compiler)",
                         m->program->functions[cut->function].name->text, r->wanted, executed);
  }
  return true;
}

void cut_random_commit(struct cut *cut) {
  struct cut_random *r = &cut->random;
  for (uint64_t k = 0; k < r->count; k++) {
    r->drawn[k] += r->drawing[k];
    r->drawing[k] = 0;
  }
}

bool cut_random_leave(struct machine *m, const struct machine_site *site, const struct cut *cut,
                      struct cut *outer) {
  const uint64_t begin = cut->random.begin - outer->random.begin;
  const uint64_t n = cut->random.count;
  if (n > 0 && !reach(m, site, &outer->random, begin + n - 1)) return false;
  for (uint64_t k = 0; k < n; k++) outer->random.drawing[begin + k] = cut->random.drawn[k];
  return true;
}
