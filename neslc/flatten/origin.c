/* origin.c - the origins of operations: the source location and function of the
 * expression they are generated for, and where that was expanded.
 */
#include "neslc/failure.h"
#include "neslc/flatten/emit.h"

/* An expanded body of a library function keeps the origin of its call, which the user wrote. */
void set_present(struct flattener *f, const struct core *e) {
  if (!e->source || (e->source->library && f->frame->depth > 0)) return;
  const uint32_t offset = core_mark(e);
  if (f->at.source == e->source && f->at.offset == offset && f->at.global == f->frame->global &&
      f->at.inlined_at == f->frame->inlined_at) {
    return;
  }
  f->at = (struct present){e->source, f->frame->global, offset, f->frame->inlined_at, 0};
}

uint32_t present_origin(struct flattener *f) {
  struct present *at = &f->at;
  if (!at->source || at->origin != 0) return at->origin;
  const struct origin origin = {.file = at->source->name,
                                .pos = source_position(at->source, at->offset),
                                .function = at->global ? at->global->name->text : "",
                                .inlined_at = at->inlined_at};
  at->origin = origin_number(&f->origins, origin);
  return at->origin;
}

/* The function for which the code is generated, in which others may be expanded. */
static const char *outermost_function(struct flattener *f) {
  uint32_t at = f->frame->inlined_at;
  if (at == 0) return f->frame->global ? f->frame->global->name->text : "";
  while (origin_at(&f->origins, at)->inlined_at) at = origin_at(&f->origins, at)->inlined_at;
  return origin_at(&f->origins, at)->function;
}

/* It is one of the library, so that no message shows it. */
struct present call_of_body(struct flattener *f) {
  const struct origin origin = {.file = "library/each", .function = outermost_function(f)};
  return (struct present){.origin = origin_number(&f->origins, origin)};
}
