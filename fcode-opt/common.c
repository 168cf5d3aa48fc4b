/* common.c - common subexpressions: operations executed before (ir/numbering.h), and INT
 * scalars that the size analysis knows to equal an earlier one.
 *
 * An operation that may fail is found, too: if it has succeeded once, it succeeds again. Across
 * a timer only constants are found. */
#include "fcode-opt/simplify.h"

void common_init(struct simplifier *s) {
  ir_numbering_init(&s->numbering, s->o->scratch);
  scoped_map_init(&s->classes, s->o->scratch);
  s->scalars.count = 0;
}

struct common_mark common_open(const struct simplifier *s) {
  return (struct common_mark){ir_numbering_open(&s->numbering), s->scalars.count};
}

void common_close(struct simplifier *s, struct common_mark mark) {
  ir_numbering_close(&s->numbering, mark.operations);
  scoped_map_close(&s->classes, mark.scalars);
  s->scalars.count = mark.scalars;
}

ir_var common_scalar(const struct simplifier *s, uint32_t class) {
  const uint32_t at = scoped_map_first(&s->classes, class);
  if (at == 0) return IR_NO_VAR;
  const struct common_scalar *latest = &s->scalars.items[at - 1];
  return latest->epoch == s->numbering.epoch ? latest->v : IR_NO_VAR;
}

void common_add_scalar(struct simplifier *s, uint32_t class, ir_var v) {
  scoped_map_add(&s->classes, class);
  *array_push(s->o->scratch, &s->scalars) = (struct common_scalar){v, s->numbering.epoch};
}
