/* copy.c - copies the runs of a walk one after the other.
 *
 * A branch on the length of a short run would rarely be predicted, and would cost more than
 * copying too much. So one or two lines are copied whatever the length is, and the next run
 * overwrites what is written past the end.
 */
#include "cvl-cpu/kernels/copy.h"

#include <string.h>

#include "cvl-cpu/kernels/kernels.h"
#include "cvl-cpu/kernels/templates.h"

enum { LINE = 64, MOST_LINES = 2 };

/* Copies `bytes`, but `lines` whole lines in any case. At least MOST_LINES may be read and
 * written. */
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

/* Copies spans in the order of the walk, whose cursors take turns. Ends at a gap, where another
 * cursor's turn is, or where a span does not end before `end`. Returns where the output
 * ends. */
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

/* Does the same for a walk with one cursor. */
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
