/* debug-info.c - locations of stack code and of the nodes of superoperators, and the data of
 * the instruction at a location.
 */
#include "vinterp/machine/code.h"

struct debug_info code_node_info(const struct superop *op, uint32_t node,
                                 const struct debug_info *fused) {
  const struct superop_node *n = &op->nodes[node];
  struct debug_info info = *fused;
  info.op = n->op;
  info.type = n->type;
  if (n->pos.line > 0) info.pos = n->pos;
  if (n->origin) info.origin = n->origin;
  info.text = n->text;
  info.text_length = n->text_length;
  return info;
}

/* Numbers the stack code of every function after the flat code. */
static uint32_t number_stack_code(struct code *code) {
  uint32_t location = code->count;
  for (uint32_t f = 0; f < code->program->function_count; f++) {
    const struct vcode_function *stack = code->program->functions[f].stack;
    code->functions[f].stack_entry = location;
    location += stack ? stack->length : 1;
  }
  return location;
}

/* Numbers the nodes of every FUSED of stack code, from `location` on. */
static void number_nodes(struct code *code, uint32_t location) {
  const struct ir_program *program = code->program;
  ARRAY(struct fused_nodes) fused = {0};
  for (uint32_t f = 0; f < program->function_count && program->superop_count > 0; f++) {
    const struct vcode_function *stack = program->functions[f].stack;
    for (uint32_t k = 0; stack && k < stack->length; k++) {
      if (stack->code[k].op != OPC_FUSED) continue;
      uint32_t superop = stack->code[k].as.fused;
      if (superop >= program->superop_count) continue; /* an error, if it is ever reached */
      *array_push(&code->arena, &fused) =
          (struct fused_nodes){code->functions[f].stack_entry + k, location, superop};
      location += program->superops[superop]->node_count;
    }
  }
  code->fused = fused.items;
  code->fused_count = (uint32_t)fused.count;
}

void code_number_locations(struct code *code) {
  number_nodes(code, number_stack_code(code));
}

/* Returns the function that a location of stack code belongs to. */
static uint32_t code_stack_function(const struct code *code, uint32_t location) {
  uint32_t low = 0, high = code->program->function_count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (code->functions[middle].stack_entry <= location) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Returns the last FUSED of stack code whose own location (with `nodes`, that of its first
 * node) is not after the given one; NULL if there is none. */
static const struct fused_nodes *find_fused(const struct code *code, uint32_t location,
                                            bool nodes) {
  uint32_t low = 0, high = code->fused_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const struct fused_nodes *f = &code->fused[middle];
    if ((nodes ? f->first : f->fused) <= location) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low > 0 ? &code->fused[low - 1] : NULL;
}

uint32_t code_first_node(const struct code *code, uint32_t fused) {
  return code_is_stack(code, fused) ? find_fused(code, fused, false)->first : fused + 1;
}

struct debug_info code_debug_info(const struct code *code, uint32_t location) {
  if (!code_is_stack(code, location)) return code->debug[location];
  const struct fused_nodes *node = find_fused(code, location, true);
  if (node) {
    struct debug_info fused = code_debug_info(code, node->fused);
    fused.fused = node->fused;
    fused.superop = node->superop;
    return code_node_info(code->program->superops[node->superop], location - node->first,
                          &fused);
  }
  uint32_t f = code_stack_function(code, location);
  const struct vcode_function *stack = code->program->functions[f].stack;
  if (!stack) {
    return (struct debug_info){.function = f,
                               .pos = code->program->functions[f].pos,
                               .op = OPC_RET,
                               .type = TW_NONE,
                               .superop = NO_SUPEROP};
  }
  const struct vcode_instruction *i = &stack->code[location - code->functions[f].stack_entry];
  struct debug_info info = {.function = f,
                            .pos = i->pos,
                            .origin = i->origin,
                            .op = i->op,
                            .type = i->type,
                            .superop = NO_SUPEROP};
  if (i->op == OPC_ASSERT) {
    info.text = i->as.text.text;
    info.text_length = i->as.text.length;
  }
  return info;
}
