/* superops.c - parses the superoperators of a program; the kinds of their operands and outputs.
 */
#include "ir/superops.h"
#include "fused-kernels/fused.h"
#include "ir/kinds.h"

#include <string.h>

static const struct ir_kind *kind_of_superop_kind(uint8_t kind) {
  switch ((enum superop_kind)kind) {
  case SUPEROP_INT: return ir_kind_base(IR_INT);
  case SUPEROP_FLOAT: return ir_kind_base(IR_FLOAT);
  case SUPEROP_BOOL: return ir_kind_base(IR_BOOL);
  case SUPEROP_SEGDES: break;
  }
  return ir_kind_base(IR_SEGDES);
}

const struct ir_kind *ir_superop_operand(const struct superop *op, uint32_t i) {
  return kind_of_superop_kind(op->params[i]);
}

const struct ir_kind *ir_superop_output(const struct superop *op, uint32_t i) {
  return kind_of_superop_kind(op->kinds[op->outputs[i]]);
}

uint8_t ir_superop_kind(const struct ir_kind *kind) {
  switch (kind->tag) {
  case IR_FLOAT: return SUPEROP_FLOAT;
  case IR_BOOL: return SUPEROP_BOOL;
  case IR_SEGDES: return SUPEROP_SEGDES;
  case IR_INT:
  case IR_PAIR:
  case IR_ANY: break;
  }
  return SUPEROP_INT;
}

/* ---- from text ---- */

bool superops_parse(struct arena *arena, const struct vcode_program *source,
                    struct ir_program *to, struct diag_list *diags) {
  struct vcode_program program = *source;
  origin_table_init(&program.origins, arena, &source->origins);
  const struct superop **superops =
      arena_alloc(arena, ((size_t)source->fused_count + 1) * sizeof *superops);
  bool fine = true;
  for (uint32_t i = 0; i < source->fused_count; i++) {
    const struct vcode_fused *fused = &source->fused[i];
    struct superop *op = fused_parse(arena, &program, fused, diags);
    superops[i] = op;
    fine = fine && op;
    if (!op) continue;
    /* Positions in another file mean nothing in this one. */
    if (strcmp(fused->file, source->file) == 0) continue;
    for (uint32_t k = 0; k < op->node_count; k++) op->nodes[k].pos = (struct source_pos){0, 0};
  }
  to->superops = superops;
  to->superop_count = source->fused_count;
  to->origins = program.origins;
  return fine;
}
