/* bfs.c - breadth-first search, level by level, from a queue to the next one. Threads share the
 * vertices of a level, and claim what they find by compare and swap. Top-down only: bottom-up
 * steps (Beamer 2012) need the edges backwards, and nothing says that the graph is symmetric.
 */
/* scalar: neighbours are claimed one by one, at random positions */
#include "csr.h"

enum { AHEAD = 16, BUFFER = 1024, FEW = 512 };

struct search {
  const int64_t *offsets;
  const integer *neighbours;
  integer *levels;
  int64_t *next;
  int64_t found;
};

static bool claim(integer *level, integer new) {
#ifdef _OPENMP
  integer unseen = -1;
  return __atomic_compare_exchange_n(level, &unseen, new, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED);
#else
  *level = new;
  return true;
#endif
}

static void flush(struct search *s, const int64_t *buffer, int64_t count) {
  const int64_t at = __atomic_fetch_add(&s->found, count, __ATOMIC_RELAXED);
  for (int64_t i = 0; i < count; i++) s->next[at + i] = buffer[i];
}

/* The unseen neighbours of vertices i to end - 1 of a queue. */
static void expand(struct search *s, const int64_t *queue, int64_t i, int64_t end,
                   integer level) {
  int64_t buffer[BUFFER], count = 0;
  for (; i < end; i++) {
    if (i + AHEAD < end) __builtin_prefetch(&s->neighbours[s->offsets[queue[i + AHEAD]]]);
    if (i + 2 * AHEAD < end) __builtin_prefetch(&s->offsets[queue[i + 2 * AHEAD]]);
    const int64_t last = s->offsets[queue[i] + 1];
    /* The levels of the next vertex's neighbours are under way while this one's are read. */
    if (i + 2 < end) {
      const int64_t v = queue[i + 2];
      int64_t stop = s->offsets[v + 1];
      if (stop > s->offsets[v] + 16) stop = s->offsets[v] + 16;
      for (int64_t e = s->offsets[v]; e < stop; e++) {
        __builtin_prefetch(&s->levels[s->neighbours[e]]);
      }
    }
    for (int64_t e = s->offsets[queue[i]]; e < last; e++) {
      const int64_t w = s->neighbours[e];
      if (__atomic_load_n(&s->levels[w], __ATOMIC_RELAXED) >= 0) continue;
      if (!claim(&s->levels[w], level)) continue;
      buffer[count++] = w;
      if (count == BUFFER) {
        flush(s, buffer, count);
        count = 0;
      }
    }
  }
  flush(s, buffer, count);
}

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length;
  int64_t *offsets = scratch(0, (size_t)(n + 1) * sizeof *offsets);
  int64_t *queue = scratch(1, (size_t)n * sizeof *queue);
  struct search s = {.offsets = offsets,
                     .neighbours = arguments[1].as.i,
                     .levels = result(results, 0, ARRAY_INTEGER, n)->as.i,
                     .next = scratch(2, (size_t)n * sizeof *queue)};
  offsets_of(arguments[0].as.i, n, offsets);
#pragma omp parallel for
  for (int64_t v = 0; v < n; v++) s.levels[v] = -1;
  queue[0] = arguments[2].as.i[0];
  s.levels[queue[0]] = 0;
  int64_t count = 1;
  for (integer level = 1; count > 0; level++) {
    s.found = 0;
    const int64_t part = count < FEW ? count : count / 64 + 1;
#pragma omp parallel for schedule(dynamic) if (count >= FEW)
    for (int64_t i = 0; i < count; i += part) {
      expand(&s, queue, i, i + part < count ? i + part : count, level);
    }
    int64_t *other = queue;
    queue = s.next;
    s.next = other;
    count = s.found;
  }
}
