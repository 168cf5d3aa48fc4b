/* flatten-origin.c - the source locations of operations.
 *
 * An origin is a source location and a name: the function around it and, in an expanded body,
 * the source locations of the calls around it, innermost first, each after a `|`.
 */
#include <string.h>

#include "neslc/failure.h"
#include "neslc/flatten-private.h"

/* An expanded body of a library function keeps the origin of its call, which the user wrote. */
void set_origin(struct flattener *f, const struct core *e) {
  if (!e->source || (e->source->library && f->frame->depth > 0)) return;
  const uint32_t offset = core_mark(e);
  if (f->at.source == e->source && f->at.offset == offset && f->at.global == f->frame->global &&
      f->at.calls == f->frame->calls) {
    return;
  }
  f->at = (struct origin_at){e->source, f->frame->global, f->frame->calls, offset, 0};
}

/* ---- numbers ---- */

static struct origin_at *find(struct origin_at *table, size_t capacity,
                              const struct origin_at *at) {
  uint64_t h = (uint64_t)(uintptr_t)at->source ^ (uint64_t)(uintptr_t)at->global << 7 ^
               (uint64_t)(uintptr_t)at->calls << 13 ^ at->offset;
  h *= UINT64_C(0x9E3779B97F4A7C15);
  for (size_t i = (size_t)(h >> 32) & (capacity - 1);; i = (i + 1) & (capacity - 1)) {
    struct origin_at *entry = &table[i];
    if (entry->number == 0 || (entry->source == at->source && entry->offset == at->offset &&
                               entry->global == at->global && entry->calls == at->calls)) {
      return entry;
    }
  }
}

static void grow(struct flattener *f) {
  enum { FIRST = 256 };
  const size_t capacity = f->origin_capacity ? 2 * f->origin_capacity : FIRST;
  struct origin_at *table = arena_alloc(f->arena, capacity * sizeof *table);
  for (size_t i = 0; i < f->origin_capacity; i++) {
    const struct origin_at *entry = &f->origin_table[i];
    if (entry->number != 0) *find(table, capacity, entry) = *entry;
  }
  f->origin_table = table;
  f->origin_capacity = capacity;
}

uint32_t current_origin(struct flattener *f) {
  if (!f->at.source || f->at.number != 0) return f->at.number;
  if (2 * f->origins.count >= f->origin_capacity) grow(f);
  struct origin_at *entry = find(f->origin_table, f->origin_capacity, &f->at);
  if (entry->number == 0) {
    const struct source_pos pos = source_position(f->at.source, f->at.offset);
    const char *function = f->at.global ? f->at.global->name->text : "";
    f->at.number = (uint32_t)f->origins.count;
    *array_push(f->arena, &f->origins) = (struct vcode_origin){
        arena_printf(f->arena, "%s:%u:%u", f->at.source->name, pos.line, pos.column),
        arena_printf(f->arena, "%s%s", function, f->at.calls)};
    *entry = f->at;
  }
  f->at.number = entry->number;
  return f->at.number;
}

const char *expanded_calls(struct flattener *f) {
  const uint32_t number = current_origin(f);
  if (number == 0) return "";
  const struct vcode_origin *call = &f->origins.items[number];
  return arena_printf(f->arena, "|%s%s", call->location, call->name + strcspn(call->name, "|"));
}
