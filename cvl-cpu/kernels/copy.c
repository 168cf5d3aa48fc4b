/* copy.c - copies the runs of a walk one behind the other.
 *
 * The length of a short run is hardly ever foreseen, so a branch on it costs more than copying
 * what does not belong to it: one or two lines are copied whatever the length. What that writes
 * behind the run is overwritten by the next one.
 */
#include "cvl-cpu/kernels/copy.h"

#include <string.h>

#include "cvl-cpu/kernels/kernels.h"
#include "cvl-cpu/kernels/templates.h"

enum { LINE = 64, MOST_LINES = 2 };

/* At least MOST_LINES may be written and read; so many lines are copied in any case. */
ALWAYS_INLINE void copy_lines(char *to, const char *from, size_t bytes, int lines) {
  for (int i = 0; i < lines; i++) memcpy(to + i * LINE, from + i * LINE, LINE);
  if (bytes <= (size_t)(lines * LINE)) return;
  if (lines < MOST_LINES) memcpy(to + LINE, from + LINE, LINE);
  if (bytes > MOST_LINES * LINE)
    memcpy(to + MOST_LINES * LINE, from + MOST_LINES * LINE, bytes - MOST_LINES * LINE);
}

ALWAYS_INLINE void copy_span(char *to, const struct copy_span *s, size_t bytes,
                             const char *limit, int lines) {
  if (limit - to >= MOST_LINES * LINE && s->end - s->from >= MOST_LINES * LINE) {
    copy_lines(to, s->from, bytes, lines);
  } else if (s->from) {
    memcpy(to, s->from, bytes);
  } else {
    memset(to, 0, bytes);
  }
}

/* Spans as they follow each other, from cursor to cursor in turns. Ends at a gap, where
 * another cursor's turn is, or where a span does not end before `end`. Returns where it has
 * written to.
 */
ALWAYS_INLINE char *copy_in_turns(struct copy_walk *w, uint64_t end, char *out,
                                  const char *limit, int lines) {
  const uint32_t count = w->target->count;
  const size_t size = w->bytes;
  struct copy_cursor *const cursors = w->cursors;
  uint64_t position = w->position;
  uint32_t turn = w->turn;
  for (bool fits = true; fits;) {
    struct copy_cursor *c = &cursors[turn];
    const struct copy_span s = c->spans[c->next];
    if (s.to != position || s.n > end - position) break;
    copy_span(out, &s, s.n * size, limit, lines);
    out += s.n * size;
    position += s.n;
    turn = turn + 1 == count ? 0 : turn + 1;
    if (++c->next == c->found) fits = copy_cursor_fill(c);
    w->unfit |= !fits;
  }
  w->position = position;
  w->turn = turn;
  return out;
}

/* The same of one cursor. */
ALWAYS_INLINE char *copy_of_one(struct copy_walk *w, uint64_t end, char *out, const char *limit,
                                int lines) {
  const size_t size = w->bytes;
  struct copy_cursor *const c = w->cursors;
  uint64_t position = w->position;
  for (bool fits = true; fits;) {
    const struct copy_span *s = &c->spans[c->next], *past = &c->spans[c->found];
    for (; s < past && s->to == position && s->n <= end - position; s++) {
      copy_span(out, s, s->n * size, limit, lines);
      out += s->n * size;
      position += s->n;
    }
    c->next = (uint32_t)(s - c->spans);
    if (s < past) break;
    fits = copy_cursor_fill(c);
    w->unfit |= !fits;
  }
  w->position = position;
  return out;
}

static void cpu_copy(struct copy_walk *w, uint64_t end, char *out, const char *limit) {
  while (w->position < end && !w->unfit) {
    bool gap;
    const struct copy_span s = copy_walk_next(w, end - w->position, &gap);
    copy_span(out, &s, s.n * w->bytes, limit, 1);
    out += s.n * w->bytes;
    copy_walk_take(w, s.n, gap);
    if (w->unfit) break;
    if (w->target->count == 1) {
      out = w->long_runs ? copy_of_one(w, end, out, limit, 2)
                         : copy_of_one(w, end, out, limit, 1);
    } else {
      out = w->long_runs ? copy_in_turns(w, end, out, limit, 2)
                         : copy_in_turns(w, end, out, limit, 1);
    }
  }
}

const struct copy_kernels KERNEL(copy_kernels) = {.copy = cpu_copy};
