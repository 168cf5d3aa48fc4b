/* fuse-cost.c - the cost of computing and of memory traffic, in bytes per element of the
 * domain.
 *
 * Weights are estimates, not measurements: how many bytes a core streams from memory in the
 * time in which its vector unit computes an element that is in the first-level cache, at some
 * 10 GB/s and four elements of 8 bytes a step. They need not be precise: the choice is always
 * between an operation and a vector of 1 to 8 bytes.
 */
#include "fcode-opt/fuse.h"

/* Work in bytes. */
enum {
  WORK_SIMPLE = 1,     /* one vector instruction */
  WORK_DIVIDE = 5,     /* FLOAT / and SQRT */
  WORK_REMAINDER = 20, /* INT / and % have no vector instruction */
  WORK_FUNCTION = 30,  /* LOG, SIN ... */
  WORK_GATHER = 16,    /* a dependent load that often misses the first-level cache */
  WORK_SEGMENTED = 3,  /* finding the segment of an element */
};

double fuse_bytes(const struct fuse *fuse, ir_var v) {
  struct widths widths = fuse->o->program->widths;
  switch (fuse->f->vars[v]->tag) {
  case IR_INT: return (double)elem_info(widths.int_elem)->bytes;
  case IR_FLOAT: return (double)elem_info(widths.float_elem)->bytes;
  case IR_BOOL: return 1;
  case IR_SEGDES:
  case IR_PAIR:
  case IR_ANY: break;
  }
  return 0;
}

bool fuse_constant(const struct fuse *fuse, ir_var v) {
  const struct ir_binding *x = fuse->definitions[v];
  return x && x->form == IR_CONST && x->as.constant->length == 1 &&
         x->as.constant->type != TW_SEGDES;
}

bool fuse_flat(const struct fuse *fuse, const struct ir_binding *x) {
  if (x->form != IR_OP || (x->op != OPC_DIST && x->op != OPC_INDEX)) return false;
  for (uint32_t i = 0; i + 1 < x->operand_count; i++) {
    if (!fuse_constant(fuse, x->operands[i])) return false;
  }
  return true;
}

static double map_work(const struct ir_binding *x) {
  switch ((enum opcode)x->op) {
  case OPC_DIV: return x->type == TW_FLOAT ? WORK_DIVIDE : WORK_REMAINDER;
  case OPC_MOD: return WORK_REMAINDER;
  case OPC_SQRT: return WORK_DIVIDE;
  default:
    return op_is_approximate(opcode_info((enum opcode)x->op)->operation) ? WORK_FUNCTION
                                                                         : WORK_SIMPLE;
  }
}

double fuse_work(const struct fuse *fuse, const struct ir_binding *x) {
  enum superop_role role;
  const char *access = superop_access((enum opcode)x->op, &role);
  if (!access) return WORK_SIMPLE;
  switch (role) {
  case ROLE_SPREAD:
  case ROLE_INDEX: {
    double simple = role == ROLE_INDEX ? WORK_SIMPLE : 0;
    ir_var d = x->operands[x->operand_count - 1];
    bool whole = sizes_known(fuse->sizes, fuse->function, d, SIZE_COUNT) == 1;
    return whole || fuse_flat(fuse, x) ? simple : simple + WORK_SEGMENTED;
  }
  case ROLE_GATHER:
  case ROLE_PICK: return WORK_GATHER;
  case ROLE_MAP: return map_work(x);
  case ROLE_CONST:
  case ROLE_CARRY: /* no binding of a program belongs to a loop */
  case ROLE_WHILE:
  case ROLE_NEXT:
  case ROLE_COLUMN:
  case ROLE_COMBINE_REDUCE:
  case ROLE_COMBINE_SCAN:
  case ROLE_COMBINE_SCATTER:
  case ROLE_REDUCE:
  case ROLE_SCAN:
  case ROLE_PACK:
  case ROLE_SCATTER:
  case ROLE_ASSERT: break;
  }
  return WORK_SIMPLE;
}
