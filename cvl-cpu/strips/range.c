/* range.c - a range of a kernel: its segments, tiles and strips.
 *
 * A tile holds a block of the reproducible tree. Short segments are executed in groups that fit
 * one; of others, block by block, the totals are combined as the tree says.
 */
#include <stddef.h>
#include <string.h>

#include "cvl-cpu/layout.h"
#include "cvl-cpu/operations/long-segments.h"
#include "cvl-cpu/strips/private.h"

/* ---- memory ---- */

static size_t room_for(uint64_t n) {
  size_t bytes = 0;
  (void)layout_next(&bytes, n * sizeof(uint64_t) + SPREAD_SLACK);
  return bytes;
}

static size_t lay_out(const struct strips *s, uint64_t n, char *memory) {
  const size_t params = s->op->param_count, values = s->kernel->values;
  const size_t slot_bytes = room_for(least_of(n, s->strip));
  const size_t buffer_bytes = room_for(least_of(n, s->reduces ? TILE : s->strip));
  size_t end = 0;
  (void)layout_next(&end, sizeof(struct strip_worker));
  const size_t at = layout_next(&end, values * sizeof(char *));
  const size_t cells = layout_next(&end, s->pieces ? values * sizeof(uint64_t) : 0);
  const size_t descriptors = layout_next(&end, READ_WAYS * params * sizeof(struct segments));
  const size_t walks = layout_next(&end, s->kernel->count * sizeof(struct walk));
  const size_t cursors = layout_next(&end, s->pieces ? params * sizeof(struct walk) : 0);
  const size_t slots = layout_next(&end, s->slots * slot_bytes);
  const size_t buffers = layout_next(&end, s->buffers * buffer_bytes);
  if (!memory) return end;
  struct strip_worker *w = (struct strip_worker *)(void *)memory;
  memset(w, 0, offsetof(struct strip_worker, masks));
  w->s = s;
  w->run = n;
  w->at = (char **)(void *)(memory + at);
  w->cells = (uint64_t *)(void *)(memory + cells);
  w->descriptors = (struct segments *)(void *)(memory + descriptors);
  w->walks = (struct walk *)(void *)(memory + walks);
  w->cursors = (struct walk *)(void *)(memory + cursors);
  w->slots = memory + slots;
  w->buffers = memory + buffers;
  w->slot_bytes = slot_bytes;
  w->buffer_bytes = buffer_bytes;
  return end;
}

size_t strips_bytes(const struct strips *s, uint64_t n) {
  return lay_out(s, n, NULL);
}

struct strip_worker *strips_set_up(const struct strips *s, uint64_t n, char *memory) {
  lay_out(s, n, memory);
  struct strip_worker *w = (struct strip_worker *)(void *)memory;
  for (uint32_t v = 0; v < s->kernel->values; v++) {
    const struct strip_value *value = &s->values[v];
    if (value->place == PLACE_STRIP) w->at[v] = w->slots + value->number * w->slot_bytes;
    if (value->place == PLACE_UNIFORM) w->at[v] = w->buffers + value->number * w->buffer_bytes;
  }
  return w;
}

/* ---- the start of a range ---- */

static void bind_descriptors(struct strip_worker *w) {
  const struct strips *s = w->s;
  for (uint32_t v = 0; v < READ_WAYS * s->op->param_count; v++) {
    if (!s->range.reads[v] || s->op->kinds[v % s->op->param_count] != SUPEROP_SEGDES) continue;
    const uint64_t count = w->call->counts[v], *offsets = w->call->offsets[v];
    w->descriptors[v] = s->range.one[v] ? (struct segments){1, count, count, NULL}
                                        : (struct segments){count, offsets[count], 0, offsets};
  }
}

/* What is the same everywhere is computed once, for as many positions as a strip or tile may
 * have. */
static bool fill_uniform(struct strip_worker *w) {
  const struct strips *s = w->s;
  const uint64_t n = least_of(w->run, s->reduces ? TILE : s->strip);
  if (w->filled || w->call->n == 0) return true;
  w->filled = true;
  return strip_execute(w, s->uniform, 0, s->uniform_count, n);
}

/* ---- strips and tiles ---- */

/* Says where each value is that is not in a buffer for the strip. */
static void move_values(struct strip_worker *w) {
  const struct strips *s = w->s;
  for (uint32_t j = 0; j < s->moving_count; j++) {
    const uint32_t v = s->moving[j];
    const struct strip_value *value = &s->values[v];
    const size_t bytes = value->bytes;
    w->at[v] = value->place == PLACE_PARAM ? (char *)w->call->data[value->number] + w->i * bytes
               : value->place == PLACE_RESULT
                   ? (char *)w->call->results[value->number] + w->i * bytes
                   : w->buffers + value->number * w->buffer_bytes + (w->i - w->tile) * bytes;
  }
}

/* Finds the segments that end in a strip. */
static void find_ending(struct strip_worker *w, uint64_t n) {
  const uint32_t main = w->s->range.main;
  if (!w->s->keeps || main == SUPEROP_NONE) return;
  const struct segments *s = &w->descriptors[main];
  w->ended = w->ending;
  while (w->ending < s->count && s->offsets[w->ending + 1] <= w->p + n) w->ending++;
}

/* Executes a strip of n positions from position i of the range on. */
static bool strip(struct strip_worker *w, uint64_t i, uint64_t n) {
  const struct strips *s = w->s;
  for (uint64_t done = 0, many; done < n; done += many) {
    w->i = i + done;
    w->p = w->call->at + w->i;
    w->masked = w->located.leader = SUPEROP_NONE;
    move_values(w);
    many = s->pieces ? strip_piece(w, n - done) : n;
    if (many == 0) return false;
    find_ending(w, many);
    if (!(w->in_piece ? strip_execute(w, s->piece_steps, 0, s->piece_step_count, many)
                      : strip_execute(w, s->steps, 0, s->step_count, many)))
      return false;
  }
  return true;
}

/* Executes n positions from position i on; they are a tile, if anything is reduced. */
static bool tile(struct strip_worker *w, uint64_t i, uint64_t n) {
  bool good = true;
  w->tile = i;
  for (uint64_t done = 0; done < n && good; done += w->s->strip)
    good = strip(w, i + done, least_of(w->s->strip, n - done));
  return good;
}

/* ---- reductions ---- */

/* The elements of the current tile. */
static const char *tile_of(const struct strip_worker *w, uint32_t v) {
  const struct strip_value *value = &w->s->values[v];
  switch ((enum strip_place)value->place) {
  case PLACE_PARAM: return (const char *)w->call->data[value->number] + w->tile * value->bytes;
  case PLACE_RESULT:
    return (const char *)w->call->results[value->number] + w->tile * value->bytes;
  default: return w->buffers + value->number * w->buffer_bytes;
  }
}

/* A reduction: its elements, and where its results go. */
struct reduced {
  const struct reduce_row *row;
  const char *x;
  char *results, *totals;
  size_t bytes;
};

static bool is_reduction(const struct strip_worker *w, uint32_t k) {
  return strip_statement_of(w, k)->kind == KERNEL_REDUCE;
}

static struct reduced reduced_by(const struct strip_worker *w, uint32_t k) {
  const struct strip_statement *of = &w->s->statements[k];
  const uint32_t v = strip_statement_of(w, k)->operands[0];
  return (struct reduced){of->row, tile_of(w, v), w->call->results[of->output],
                          w->call->totals[of->output], w->s->values[v].bytes};
}

/* The blocks of n positions from position i on. Those of a part have their totals as results.
 */
static bool blocks(struct strip_worker *w, uint64_t i, uint64_t n, bool part) {
  for (uint64_t done = 0; done < n; done += TILE) {
    const uint64_t many = least_of(TILE, n - done), block = done / TILE;
    if (!tile(w, i + done, many)) return false;
    for (uint32_t k = 0; k < w->s->kernel->count; k++) {
      if (!is_reduction(w, k)) continue;
      const struct reduced r = reduced_by(w, k);
      r.row->blocks(r.x, many, (part ? r.results : r.totals) + block * r.bytes);
    }
  }
  return true;
}

/* A segment of more than a tile. */
static bool long_segment(struct strip_worker *w, uint64_t g, uint64_t i, uint64_t n) {
  if (!blocks(w, i, n, false)) return false;
  for (uint32_t k = 0; k < w->s->kernel->count; k++) {
    if (!is_reduction(w, k)) continue;
    const struct reduced r = reduced_by(w, k);
    for (uint64_t left = units_of(n, TILE); left > 1; left = units_of(left, TILE))
      r.row->blocks(r.totals, left, r.totals);
    memcpy(r.results + g * r.bytes, r.totals, r.bytes);
  }
  return true;
}

/* `many` whole segments from g on, which fit a tile: offsets are counted from the first. */
static bool group(struct strip_worker *w, uint64_t g, uint64_t many, uint64_t i,
                  const uint64_t *offsets) {
  const uint64_t each = offsets[1] - offsets[0];
  const bool equal = each > 0 && each <= REDUCE_EQUAL && offsets_all_equal(offsets, many);
  if (!tile(w, i, offsets[many])) return false;
  for (uint32_t k = 0; k < w->s->kernel->count; k++) {
    if (!is_reduction(w, k)) continue;
    const struct reduced r = reduced_by(w, k);
    if (equal)
      r.row->equal(r.x, each, many, r.results + g * r.bytes);
    else
      r.row->segments(r.x, offsets, many, r.results + g * r.bytes);
  }
  return true;
}

static bool segments_of(struct strip_worker *w, const struct segments *s) {
  uint64_t offsets[TILE + 1];
  bool good = true;
  for (uint64_t g = 0, many; g < s->count && good; g += many) {
    const uint64_t start = s->offsets[g], i = start - s->offsets[0];
    offsets[0] = many = 0;
    while (g + many < s->count && many < TILE && s->offsets[g + many + 1] - start <= TILE) {
      many++;
      offsets[many] = s->offsets[g + many] - start;
    }
    good = many > 0 ? group(w, g, many, i, offsets)
                    : long_segment(w, g, i, s->offsets[g + 1] - start);
    many += many == 0;
  }
  return good;
}

/* ---- all of it ---- */

/* Segments behind the last position, or all where there is none, end, too. */
static void end_kept(struct strip_worker *w) {
  const uint32_t main = w->s->range.main;
  if (main == SUPEROP_NONE) return;
  for (uint32_t k = 0; k < w->s->kernel->count; k++) {
    const struct strip_statement *of = &w->s->statements[k];
    const struct kernel_statement *s = strip_statement_of(w, k);
    if (s->kind != KERNEL_KEEP || s->near != main || of->descriptor == SUPEROP_NONE) continue;
    uint64_t *ends = w->call->results[of->descriptor];
    for (uint64_t g = w->ending; g < w->descriptors[main].count; g++)
      ends[g + 1] = w->call->kept[of->descriptor];
  }
}

bool strips_range(struct strip_worker *w, const struct kernel_range *call) {
  const struct strips *s = w->s;
  w->call = call;
  w->ended = w->ending = 0;
  bind_descriptors(w);
  for (uint32_t k = 0; k < s->kernel->count; k++) w->walks[k].position = UINT64_MAX;
  if (s->pieces) strip_begin_pieces(w);
  if (!fill_uniform(w)) return false;
  const bool good = !s->reduces  ? tile(w, 0, call->n)
                    : call->part ? blocks(w, 0, call->n, true)
                                 : segments_of(w, &w->descriptors[s->range.main]);
  if (good) end_kept(w);
  return good;
}
