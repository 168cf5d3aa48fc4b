/* chunk-path.c - dynamic paths: program order of instructions that are executed more than once.
 *
 * Paths are compared as lists of numbers. In a frame a later instruction has a greater
 * location: code has no jumps back, repetition is a tail call.
 */
#include "vinterp/machine-private.h"

/* The frame of the outermost cut's chunks. */
static uint64_t outermost(const struct machine *m) {
  return m->chunks.cuts[0].index;
}

/* Step k of the path of an instruction under the present frames. */
static struct path_step step_at(const struct machine *m, uint32_t location, uint64_t k) {
  const uint64_t f = outermost(m) + k;
  return (struct path_step){.tails = m->frames[f].tails,
                            .location = f + 1 == m->depth ? location : m->frames[f + 1].caller};
}

/* Between chunks of the outermost cut there is none of its frames. */
static uint64_t path_length(const struct machine *m) {
  return m->depth > outermost(m) ? m->depth - outermost(m) : 0;
}

bool path_take(struct machine *m, uint32_t location, struct dynamic_path *path) {
  const uint64_t n = path_length(m);
  *path = (struct dynamic_path){.capacity = n + 1};
  path->steps = heap_alloc(m->heap, path->capacity * sizeof *path->steps);
  if (!path->steps) return false;
  for (; path->count < n; path->count++)
    path->steps[path->count] = step_at(m, location, path->count);
  return true;
}

void path_free(struct machine *m, struct dynamic_path *path) {
  heap_free(m->heap, path->steps, path->capacity * sizeof *path->steps);
  *path = (struct dynamic_path){0};
}

int path_compare(const struct machine *m, uint32_t location, const struct dynamic_path *path) {
  const uint64_t n = path_length(m);
  for (uint64_t k = 0; k < n && k < path->count; k++) {
    const struct path_step a = step_at(m, location, k), b = path->steps[k];
    if (a.tails != b.tails) return a.tails < b.tails ? -1 : 1;
    if (a.location != b.location) return a.location < b.location ? -1 : 1;
  }
  return n == path->count ? 0 : n < path->count ? -1 : 1;
}
