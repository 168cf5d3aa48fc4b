/* copy-plan.c - which superoperators consist of targets of inputs: copy.h. */
#include <string.h>

#include "cvl-cpu/fused/copy.h"

struct search {
  const struct superop *op;
  struct copy_plan *plan;
  uint32_t found; /* gathers and scatters that belong to a target */
};

/* The node of a value, or NULL: a parameter. */
static const struct superop_node *copy_plan_definition(const struct superop *op,
                                                       uint32_t value) {
  if (value < op->param_count) return NULL;
  uint32_t k = op->node_count;
  while (op->nodes[--k].result > value) {
  }
  return &op->nodes[k];
}

static bool is_role(const struct superop_node *node, enum superop_role role) {
  return node && node->role == role;
}

/* ---- runs ---- */

/* The CONST that a value is or is spread from, or NULL. */
static const struct superop_node *copy_plan_constant_of(const struct superop *op,
                                                        uint32_t value) {
  const struct superop_node *node = copy_plan_definition(op, value);
  while (is_role(node, ROLE_SPREAD)) node = copy_plan_definition(op, node->operands[0]);
  return is_role(node, ROLE_CONST) ? node : NULL;
}

/* A parameter, or the CONST that a value is or is spread from; SUPEROP_NONE: neither. */
static uint32_t copy_plan_plain(const struct superop *op, uint32_t value) {
  const struct superop_node *constant = copy_plan_constant_of(op, value);
  if (constant) return constant->result;
  return value < op->param_count ? value : SUPEROP_NONE;
}

static bool copy_plan_find_runs(const struct superop *op, uint32_t value,
                                struct copy_runs *out) {
  const struct superop_node *index = copy_plan_definition(op, value);
  if (!is_role(index, ROLE_INDEX)) return false;
  *out = (struct copy_runs){copy_plan_plain(op, index->operands[0]),
                            copy_plan_plain(op, index->operands[1]), index->operands[2]};
  if (out->start == SUPEROP_NONE || out->stride == SUPEROP_NONE) return false;
  const struct superop_node *stride = copy_plan_definition(op, out->stride);
  if (stride && cvl_int_of(&stride->constant) != 1) return false;
  if (stride) out->stride = SUPEROP_NONE;
  return true;
}

/* ---- targets ---- */

static bool find_gather(struct search *s, const struct superop_node *node,
                        struct copy_input *input) {
  if (node->op != OPC_BPERMUTE || node->operands[0] >= s->op->param_count) return false;
  input->gathered = true;
  input->values = node->operands[0];
  input->source = node->operands[2];
  input->positions = node->operands[3];
  s->found++;
  return copy_plan_find_runs(s->op, node->operands[1], &input->from);
}

static bool copy_plan_all_true(const struct superop *op, uint32_t flags) {
  const struct superop_node *constant = copy_plan_constant_of(op, flags);
  return constant && constant->constant.as.b;
}

static bool all_zero(const struct superop *op, uint32_t value) {
  static const struct cvl_value zero;
  const struct superop_node *constant = copy_plan_constant_of(op, value);
  return constant && memcmp(&constant->constant.as, &zero.as,
                            elem_info((enum cvl_elem)constant->constant.elem)->bytes) == 0;
}

static bool find_target(struct search *s, const struct superop_node *node, uint32_t output);

/* The values of an input. */
static bool copy_plan_find_values(struct search *s, uint32_t value, struct copy_input *input) {
  const struct superop_node *node = copy_plan_definition(s->op, value);
  input->inner = SUPEROP_NONE;
  input->values = value;
  if (!node) return true;
  if (s->op->uses[value] != 1) return false;
  if (node->role == ROLE_GATHER) return find_gather(s, node, input);
  if (node->role != ROLE_SCATTER) return false;
  input->values = SUPEROP_NONE;
  input->inner = s->plan->target_count;
  if (!find_target(s, node, SUPEROP_NONE)) return false;
  s->plan->targets[input->inner].inner = true;
  return true;
}

static bool find_input(struct search *s, const struct superop_node *node,
                       struct copy_input *input) {
  const struct permute_operands at = permute_operands((enum opcode)node->op);
  s->found++;
  input->scattered = true;
  input->near = node->operands[at.source];
  input->far = node->operands[at.destination];
  if (at.flags != NO_OPERAND && !copy_plan_all_true(s->op, node->operands[at.flags]))
    return false;
  return copy_plan_find_runs(s->op, node->operands[1], &input->to) &&
         copy_plan_find_values(s, node->operands[0], input);
}

/* Returns the scatter whose result a scatter writes over, or NULL if there is none in the
 * target. *fine becomes false if that is neither such a scatter, nor a parameter, nor zeros. */
static const struct superop_node *copy_plan_before(const struct search *s,
                                                   const struct superop_node *node,
                                                   uint32_t *previous, bool *fine) {
  const struct permute_operands at = permute_operands((enum opcode)node->op);
  *previous = SUPEROP_NONE;
  if (at.defaults == NO_OPERAND) return NULL;
  const uint32_t value = node->operands[at.defaults];
  const struct superop_node *definer = copy_plan_definition(s->op, value);
  if (!definer) {
    *previous = value;
    return NULL;
  }
  if (all_zero(s->op, value)) return NULL;
  *fine =
      definer->role == ROLE_SCATTER && definer->op != OPC_PERMUTE && s->op->uses[value] == 1;
  return *fine ? definer : NULL;
}

/* The target that ends with a scatter. Its inputs are found from the last to the first. */
static bool copy_plan_find_scatters(struct search *s, const struct superop_node *last,
                                    struct copy_target *target) {
  struct copy_plan *plan = s->plan;
  const struct superop_node *nodes[COPY_INPUTS];
  bool fine = true;
  uint32_t count = 0;
  for (const struct superop_node *n = last; n;
       n = copy_plan_before(s, n, &target->previous, &fine)) {
    if (plan->input_count + count == COPY_INPUTS) return false;
    nodes[count++] = n;
  }
  target->first = plan->input_count;
  target->count = count;
  target->whole = last->op == OPC_PERMUTE;
  plan->input_count += count;
  for (uint32_t i = 0; i < count && fine; i++) {
    fine = find_input(s, nodes[count - 1 - i], &plan->inputs[target->first + i]);
  }
  return fine;
}

static bool find_target(struct search *s, const struct superop_node *node, uint32_t output) {
  struct copy_plan *plan = s->plan;
  if (plan->target_count == COPY_TARGETS) return false;
  struct copy_target *target = &plan->targets[plan->target_count++];
  target->node = (uint32_t)(node - s->op->nodes);
  target->output = output;
  if (node->role == ROLE_SCATTER) return copy_plan_find_scatters(s, node, target);
  if (node->role != ROLE_GATHER || plan->input_count == COPY_INPUTS) return false;
  target->first = plan->input_count++;
  target->count = 1;
  target->previous = SUPEROP_NONE;
  plan->inputs[target->first].inner = SUPEROP_NONE;
  return find_gather(s, node, &plan->inputs[target->first]);
}

/* The number of a value among the outputs, or SUPEROP_NONE. */
static uint32_t output_of(const struct superop *op, uint32_t value) {
  for (uint32_t i = 0; i < op->output_count; i++) {
    if (op->outputs[i] == value) return i;
  }
  return SUPEROP_NONE;
}

/* Every gather and scatter belongs to the target of an output, or of one that is only checked;
 * and there is nothing else that somebody wants. */
static bool find_all(struct search *s) {
  const struct superop *op = s->op;
  uint32_t moves = 0;
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    const uint32_t output = output_of(op, node->result);
    const bool moving = node->role == ROLE_GATHER || node->role == ROLE_SCATTER;
    moves += moving;
    if (output != SUPEROP_NONE && (!moving || op->uses[node->result] != 1)) return false;
    const bool ends = output != SUPEROP_NONE || (moving && op->uses[node->result] == 0);
    if (ends && !find_target(s, node, output)) return false;
  }
  return s->found == moves;
}

struct copy_plan *fused_copy_plan(struct cvl_context *c, const struct superop *op) {
  if (!superop_may_copy(op)) return NULL;
  struct copy_plan *plan = memory_take(c->memory, sizeof *plan);
  if (!plan) return NULL;
  memset(plan, 0, sizeof *plan);
  plan->op = op;
  struct search s = {op, plan, 0};
  if (find_all(&s)) return plan;
  fused_copy_discard(c, plan);
  return NULL;
}

void fused_copy_discard(struct cvl_context *c, struct copy_plan *plan) {
  memory_give(c->memory, plan, sizeof *plan);
}
