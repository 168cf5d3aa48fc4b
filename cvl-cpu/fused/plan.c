/* plan.c - the plan of a superoperator: its values, and what makes its outputs. */
#include "cvl-cpu/fused/plan.h"

#include <string.h>

#include "cvl-cpu/combine/combinations.h"
#include "cvl-cpu/fused/compiled.h"
#include "cvl-cpu/fused/copy.h"
#include "cvl-cpu/kernels/kernels.h"
#include "fused-kernels/emit.h"

/* ---- values ---- */

static void describe_values(struct cvl_kernel *k) {
  const struct superop *op = k->op;
  for (uint32_t i = 0; i < op->value_count; i++) {
    struct fused_value *v = &k->values[i];
    v->elem = (uint8_t)superop_elem((enum superop_kind)op->kinds[i], k->c->int_elem,
                                    k->c->float_elem);
    v->bytes = (uint8_t)elem_bytes(v->elem);
    v->node = SUPEROP_NONE;
  }
  for (uint32_t n = 0; n < op->node_count; n++) {
    const struct superop_node *node = &op->nodes[n];
    for (unsigned i = 0; i < node->result_count; i++) k->values[node->result + i].node = n;
  }
}

/* ---- nodes ---- */

/* The cost of an operation on one element, in bytes of memory traffic that take as long, at
 * about 10 a nanosecond: estimates, on which only the grain of parallel loops depends. */
static uint32_t cost_of(const struct superop_node *node) {
  enum { PLAIN = 4, DIVISION = 12, FUNCTION = 32, GATHER = 16 };
  const enum cvl_op op = superop_info(node->op)->operation;
  if (node->role == ROLE_GATHER || node->role == ROLE_PICK) return GATHER;
  switch ((int)op) {
  case OP_DIV:
  case OP_MOD:
  case OP_SQRT: return DIVISION;
  default: return op_is_approximate(op) ? FUNCTION : PLAIN;
  }
}

static void find_cost(struct cvl_kernel *k) {
  enum { LOOP_ROUNDS = 16 }; /* a guess */
  uint32_t loop_end = 0;
  for (uint32_t n = 0; n < k->op->node_count; n++) {
    const struct superop_node *node = &k->op->nodes[n];
    if (node->role == ROLE_CARRY) loop_end = superop_loop_at(k->op, n).last;
    if (node->role != ROLE_CONST && !k->op->cold[n])
      k->cost += (n < loop_end ? LOOP_ROUNDS : 1) * cost_of(node);
  }
  for (uint32_t i = 0; i < k->op->param_count; i++) {
    if (k->op->kinds[i] != SUPEROP_SEGDES) k->cost += k->values[i].bytes;
  }
  for (uint32_t i = 0; i < k->op->output_count; i++)
    k->cost += k->values[k->op->outputs[i]].bytes;
  k->serial_steps = tuned(k->c, SERIAL_BYTES) / k->cost;
}

/* Whether an earlier PERMUTE has the same index and descriptors. */
static bool plan_is_known(const struct cvl_kernel *k, uint32_t scatter) {
  const struct superop_node *nodes = k->op->nodes, *s = &nodes[scatter];
  for (uint32_t n = 0; n < scatter && s->op == OPC_PERMUTE; n++) {
    bool same = nodes[n].op == s->op;
    for (unsigned i = 1; i < s->operand_count && same; i++)
      same = nodes[n].operands[i] == s->operands[i];
    if (same) return true;
  }
  return false;
}

/* Notes what makes a value, if it is an output. */
static void plan_note_output(struct cvl_kernel *k, uint32_t value, enum fused_output_kind kind,
                             uint32_t number) {
  for (uint32_t i = 0; i < k->op->output_count; i++) {
    if (k->op->outputs[i] == value)
      k->outputs[i] = (struct fused_output){(uint8_t)kind, number};
  }
}

static void plan_pack(struct cvl_kernel *k, uint32_t n, struct fused_value *v) {
  const uint32_t result = k->op->nodes[n].result, number = k->pack_count++;
  k->packs[number] =
      (struct fused_pack){.node = n,
                          .v = v,
                          .wants_result = k->op->last_use[result] == k->op->node_count,
                          .wants_descriptor = k->op->last_use[result + 1] == k->op->node_count};
  plan_note_output(k, result, OUTPUT_KEPT, number);
  plan_note_output(k, result + 1, OUTPUT_KEPT_LENGTHS, number);
}

static void plan_consumer(struct cvl_kernel *k, uint32_t n) {
  const struct superop_node *node = &k->op->nodes[n];
  const enum cvl_op op = superop_info(node->op)->operation;
  struct fused_value *v = &k->values[node->operands[0]], *result = &k->values[node->result];
  switch ((enum superop_role)node->role) {
  case ROLE_REDUCE:
    plan_note_output(k, node->result, OUTPUT_REDUCED, k->reduction_count);
    k->reductions[k->reduction_count++] =
        (struct fused_reduction){n, &k->c->kernels->reduce->row[v->elem][op], v};
    return;
  case ROLE_SCAN:
    plan_note_output(k, node->result, OUTPUT_SCANNED, k->scan_count);
    k->scans[k->scan_count++] =
        (struct fused_scan){.node = n, .row = &k->c->kernels->scan->row[v->elem][op], .v = v};
    return;
  case ROLE_PACK: plan_pack(k, n, v); return;
  case ROLE_SCATTER:
    plan_note_output(k, node->result, OUTPUT_SCATTERED, k->scatter_count);
    k->scatters[k->scatter_count++] =
        (struct fused_scatter){.node = n, .v = result, .known = plan_is_known(k, n)};
    return;
  case ROLE_COMBINE_REDUCE:
  case ROLE_COMBINE_SCAN:
  case ROLE_COMBINE_SCATTER: plan_note_output(k, node->result, OUTPUT_COMBINED, 0); return;
  default: return;
  }
}

/* Whether the functions to be compiled do not depend on which descriptors have one segment. */
static bool needs_no_run(const struct cvl_kernel *k) {
  bool descriptors = false;
  for (uint32_t p = 0; p < k->op->param_count; p++)
    descriptors |= k->op->kinds[p] == SUPEROP_SEGDES;
  return !descriptors;
}

/* ---- the interface ---- */

static struct cvl_kernel *plan_enter(struct cvl_context *c, struct cvl_kernel *k,
                                     struct copy_plan *copying) {
  k->copying = copying;
  k->number = c->prepared ? c->prepared->number + 1 : 0; /* that is the highest */
  k->next = c->prepared;
  if (k->next) k->next->previous = k;
  c->prepared = k;
  return k;
}

/* What is only copied has no plan of values. */
static struct cvl_kernel *prepare_copies(struct cvl_context *c, const struct superop *op) {
  struct copy_plan *copying = fused_copy_plan(c, op);
  struct cvl_kernel *k = copying ? memory_take(c->memory, sizeof *k) : NULL;
  if (!k) {
    fused_copy_discard(c, copying);
    return NULL;
  }
  memset(k, 0, sizeof *k);
  k->c = c;
  k->op = op;
  k->bytes = sizeof *k;
  return plan_enter(c, k, copying);
}

/* Takes over what the kernel that this one is a copy of has compiled and chosen so far. */
static void adopt(struct cvl_kernel *k, const struct cvl_kernel *of) {
  k->found_one = of->found_one;
  memcpy(k->one, of->one, k->op->param_count * sizeof *k->one);
  k->choice = of->choice;
  if (!of->compiled) return;
  k->compiled = fused_compiled_copy(k, of->compiled);
  if (!k->compiled) k->choice = (struct fused_choice){0};
  if (k->compiled && k->choice.stage == CHOICE_SETTLED) fused_compiled_ready(k->compiled);
}

static size_t count_role(const struct superop *op, enum superop_role role) {
  size_t count = 0;
  for (uint32_t n = 0; n < op->node_count; n++) count += op->nodes[n].role == role;
  return count;
}

/* The kernel with its arrays, as one block; NULL: no memory. */
static struct cvl_kernel *plan_allocate(struct cvl_context *c, const struct superop *op) {
  const size_t values_at = sizeof(struct cvl_kernel);
  const size_t outputs_at = values_at + op->value_count * sizeof(struct fused_value);
  const size_t reductions_at = outputs_at + op->output_count * sizeof(struct fused_output);
  const size_t scans_at =
      reductions_at + count_role(op, ROLE_REDUCE) * sizeof(struct fused_reduction);
  const size_t packs_at = scans_at + count_role(op, ROLE_SCAN) * sizeof(struct fused_scan);
  const size_t scatters_at = packs_at + count_role(op, ROLE_PACK) * sizeof(struct fused_pack);
  const size_t combinations_at =
      scatters_at + count_role(op, ROLE_SCATTER) * sizeof(struct fused_scatter);
  const size_t one_at =
      combinations_at + fused_combinations(op) * sizeof(struct fused_combination);
  const size_t bytes = one_at + 3 * op->param_count * sizeof(bool);
  char *block = memory_take(c->memory, bytes);
  if (!block) return NULL;
  memset(block, 0, bytes);
  struct cvl_kernel *k = (struct cvl_kernel *)(void *)block;
  k->c = c;
  k->op = op;
  k->bytes = bytes;
  k->values = (struct fused_value *)(void *)(block + values_at);
  k->outputs = (struct fused_output *)(void *)(block + outputs_at);
  k->reductions = (struct fused_reduction *)(void *)(block + reductions_at);
  k->scans = (struct fused_scan *)(void *)(block + scans_at);
  k->packs = (struct fused_pack *)(void *)(block + packs_at);
  k->scatters = (struct fused_scatter *)(void *)(block + scatters_at);
  k->combinations = (struct fused_combination *)(void *)(block + combinations_at);
  k->run.one = (bool *)(block + one_at);
  k->one = k->run.one + op->param_count;
  k->strides = k->one + op->param_count;
  return k;
}

/* `of`: it is a copy of that; or NULL. */
static struct cvl_kernel *plan_prepare(struct cvl_context *c, const struct superop *op,
                                       const struct cvl_kernel *of) {
  if (!kernel_range_fits(op)) return prepare_copies(c, op);
  struct cvl_kernel *k = plan_allocate(c, op);
  if (!k) return NULL;
  kernel_range_find_strides(op, k->strides);
  for (uint32_t p = 0; p < op->param_count; p++)
    k->one[p] = op->kinds[p] == SUPEROP_SEGDES || k->strides[p];
  describe_values(k);
  fused_combine_plan(k);
  for (uint32_t n = 0; n < op->node_count; n++) plan_consumer(k, n);
  find_cost(k);
  fused_plan_check(k);
  if (of) {
    adopt(k, of);
  } else if (needs_no_run(k)) { /* else when segments are known */
    fused_choice_begin(k);
  }
  return plan_enter(c, k, fused_copy_plan(c, op));
}

struct cvl_kernel *cpu_prepare(struct cvl_context *c, const struct superop *op) {
  return plan_prepare(c, op, NULL);
}

struct cvl_kernel *cpu_prepare_copy(struct cvl_context *c, const struct cvl_kernel *of) {
  struct cvl_kernel *k = plan_prepare(c, of->op, of);
  if (k) k->is_copy = true;
  return k;
}

void cpu_discard(struct cvl_context *c, struct cvl_kernel *k) {
  cpu_discard_copies(c, k);
  if (k->next) k->next->previous = k->previous;
  if (k->previous) {
    k->previous->next = k->next;
  } else {
    c->prepared = k->next;
  }
  fused_choice_end(k);
  fused_compiled_free(k->compiled);
  strips_free(k->strips);
  fused_copy_discard(c, k->copying);
  memory_give(c->memory, k, k->bytes);
}
