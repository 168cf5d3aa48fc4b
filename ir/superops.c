/* superops.c - the superoperators of a program: finding one by its number, and what kinds it
 * takes and gives.
 */
#include "ir/kinds.h"

uint32_t ir_superop(const struct ir_program *program, uint32_t number) {
  uint32_t low = 0, high = program->superop_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (program->superops[middle]->number == number) return middle;
    if (program->superops[middle]->number < number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return program->superop_count;
}

static const struct ir_kind *kind_of(uint8_t kind) {
  switch ((enum superop_kind)kind) {
  case SUPEROP_INT: return ir_kind_base(IR_INT);
  case SUPEROP_FLOAT: return ir_kind_base(IR_FLOAT);
  case SUPEROP_BOOL: return ir_kind_base(IR_BOOL);
  case SUPEROP_SEGDES: break;
  }
  return ir_kind_base(IR_SEGDES);
}

const struct ir_kind *ir_superop_operand(const struct superop *op, uint32_t i) {
  return kind_of(op->params[i]);
}

const struct ir_kind *ir_superop_output(const struct superop *op, uint32_t i) {
  return kind_of(op->kinds[op->outputs[i]]);
}
