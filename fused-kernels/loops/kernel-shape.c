/* kernel-shape.c - which loops a kernel is printed as, and what stands in which of them. */
#include "fused-kernels/loops/kernel-text.h"

enum form param_form(const struct kernel_text *x, uint32_t param) {
  return (enum form)x->params[param].form;
}

bool is_segmented(const struct kernel_text *x, uint32_t descriptor) {
  return descriptor != SUPEROP_NONE && param_form(x, descriptor) == FORM_SEGMENTS;
}

/* ---- levels ---- */

enum kernel_level level_of_near(const struct kernel_text *x, uint32_t near) {
  if (near == SUPEROP_NONE) return KERNEL_OF_POSITION;
  if (!is_segmented(x, near)) return KERNEL_EVERYWHERE;
  return near == x->main || x->together ? KERNEL_OF_SEGMENT : KERNEL_OF_POSITION;
}

static enum kernel_level level_of_operands(const struct kernel_text *x,
                                           const struct kernel_statement *s) {
  uint8_t level = KERNEL_EVERYWHERE;
  for (unsigned i = 0; i < s->count; i++) {
    if (x->levels[s->operands[i]] > level) level = x->levels[s->operands[i]];
  }
  return (enum kernel_level)level;
}

static enum kernel_level level_of_statement(const struct kernel_text *x,
                                            const struct kernel_statement *s) {
  if ((s->kind == KERNEL_LOAD || s->kind == KERNEL_SPREAD) &&
      param_form(x, s->param) == FORM_SAME)
    return KERNEL_EVERYWHERE;
  switch ((enum kernel_statement_kind)s->kind) {
  case KERNEL_CONSTANT: return KERNEL_EVERYWHERE;
  case KERNEL_SPREAD: return level_of_near(x, s->near);
  case KERNEL_MAP:
  case KERNEL_CHECK: return level_of_operands(x, s);
  default: return KERNEL_OF_POSITION;
  }
}

enum kernel_level level_of(const struct kernel_text *x, const struct kernel_statement *s) {
  return s->value != SUPEROP_NONE ? (enum kernel_level)x->levels[s->value]
                                  : level_of_statement(x, s);
}

bool may_fail(const struct kernel_statement *s) {
  return s->kind == KERNEL_CHECK || (s->checked && s->kind != KERNEL_SCATTER);
}

/* Statements of rounds are executed where they stand, constants aside. */
static void find_levels(struct kernel_text *x, struct arena *arena) {
  bool rounds = false;
  x->levels = arena_alloc(arena, x->k->values + 1);
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    rounds |= s->kind == KERNEL_CARRY;
    if (s->value != SUPEROP_NONE) {
      const bool stays = rounds && s->kind != KERNEL_CONSTANT;
      x->levels[s->value] = (uint8_t)(stays ? KERNEL_OF_POSITION : level_of_statement(x, s));
    }
    if (s->kind == KERNEL_NEXT) rounds = false;
    const bool fails = may_fail(s) || (s->checked && in_blocks(x, s));
    x->checks |= fails && level_of(x, s) == KERNEL_OF_POSITION;
  }
}

/* ---- loops ---- */

bool in_blocks(const struct kernel_text *x, const struct kernel_statement *s) {
  if (x->single) return false;
  if (s->kind == KERNEL_SCATTER) return x->range && !is_pointed(x, s);
  return packs(x, s) || (s->kind == KERNEL_REDUCE && !row_of(s)->exact);
}

bool is_extreme(const struct kernel_statement *s) {
  return s->kind == KERNEL_REDUCE && s->type == SUPEROP_FLOAT && row_of(s)->exact;
}

bool in_lanes(const struct kernel_text *x, const struct kernel_statement *s) {
  return !x->single && s->kind == KERNEL_REDUCE && (in_blocks(x, s) || is_extreme(s));
}

/* Whether a statement ends with each segment of the consumers' descriptor. */
static bool ends_with_segments(const struct kernel_statement *s) {
  const bool combines = s->kind == KERNEL_COMBINE && s->op != SUPEROP_COMBINE_SCATTER;
  return s->kind == KERNEL_REDUCE || s->kind == KERNEL_SCAN || combines;
}

/* Reductions and scans end with segments of their own descriptor, even if it is one segment.
 * What packs keep of one segment goes on through any others. */
uint32_t main_descriptor(const struct kernel_text *x) {
  if (is_segmented(x, x->op->segments)) return x->op->segments;
  for (uint32_t k = 0; k < x->k->count; k++) {
    if (ends_with_segments(&x->k->statements[k])) return SUPEROP_NONE;
  }
  for (uint32_t k = 0; k < x->k->count; k++) {
    if (is_segmented(x, x->k->statements[k].near)) return x->k->statements[k].near;
  }
  return SUPEROP_NONE;
}

static bool has_segments(const struct kernel_text *x) {
  bool has = is_segmented(x, x->op->segments);
  for (uint32_t k = 0; k < x->k->count; k++) has |= is_segmented(x, x->k->statements[k].near);
  return has;
}

static bool is_single(const struct kernel_text *x, struct arena *arena) {
  uint8_t *forms = arena_alloc(arena, x->op->param_count + 1);
  bool *one = arena_alloc(arena, x->op->param_count + 1);
  for (uint32_t p = 0; p < x->op->param_count; p++) forms[p] = x->params[p].form;
  const struct unit_sizes units = unit_sizes_of(arena, x->op, forms, one);
  return !has_segments(x) && unit_size(&units, x->op->domain);
}

void find_shape(struct kernel_text *x, struct arena *arena) {
  x->main = main_descriptor(x);
  x->single = x->plain = !x->range && is_single(x, arena);
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    x->plain = x->plain && (s->kind < KERNEL_CARRY || s->kind == KERNEL_STORE);
    x->lanes |= in_lanes(x, s);
    x->blocks |= in_blocks(x, s) || in_lanes(x, s);
  }
  x->phase = (struct kernel_phase){0, x->k->count};
  find_held(x, arena);
  x->blocks |= x->phases;
  find_levels(x, arena);
}

struct kernel_text together_of(const struct kernel_text *x, struct arena *arena) {
  struct kernel_text together = *x;
  together.together = true;
  find_levels(&together, arena);
  return together;
}

bool is_cursor(const struct kernel_text *x, uint32_t descriptor) {
  if (!is_segmented(x, descriptor) || descriptor == x->main) return false;
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (s->near == descriptor && s->kind != KERNEL_REDUCE && s->kind != KERNEL_SCAN)
      return true;
  }
  return false;
}

static bool statement_is_independent(const struct kernel_text *x,
                                     const struct kernel_statement *s) {
  if (s->kind == KERNEL_SCATTER) return is_pointed(x, s) || in_blocks(x, s);
  if (s->kind == KERNEL_COMBINE) return x->range;
  return s->kind != KERNEL_SCAN && s->kind != KERNEL_CARRY;
}

/* Those of a segment that go on from an address write an element once, and segments of what is
 * written to do not overlap. */
bool may_overlap(const struct kernel_text *x, const struct kernel_statement *s) {
  if (s->op == OPC_PERMUTE) return false;
  return !is_pointed(x, s) || (is_segmented(x, s->near) && !is_segmented(x, s->far));
}

bool is_independent(const struct kernel_text *x) {
  for (uint32_t k = x->phase.first; k < x->phase.end; k++) {
    if (!statement_is_independent(x, &x->k->statements[k])) return false;
  }
  for (uint32_t p = 0; p < x->op->param_count; p++) {
    if (is_cursor(x, p) && !x->together) return false;
  }
  return true;
}
