/* plan.c - the plan of a superoperator: which nodes are steps, and the buffer of each
 * result. A buffer is free again after the last step that reads it; what a reduction, pack or
 * scan reads stays to the end of the tile or the chunk. */
#include "cvl-cpu/fused/plan.h"

#include <string.h>

#include "cvl-cpu/combine/combinations.h"
#include "cvl-cpu/fused/affine-gather.h"
#include "cvl-cpu/fused/bind.h"
#include "cvl-cpu/fused/compiled.h"
#include "cvl-cpu/fused/concatenate.h"
#include "cvl-cpu/fused/copy.h"
#include "cvl-cpu/fused/gather.h"
#include "cvl-cpu/kernels/kernels.h"
#include "fused-kernels/emit.h"

/* ---- what a value is ---- */

/* Whether operand i of a node is read elementwise, as opposed to as a whole. */
static bool reads_elementwise(const struct superop_node *node, unsigned i) {
  const struct opcode_info *info = superop_info(node->op);
  switch ((enum superop_role)node->role) {
  case ROLE_MAP:
  case ROLE_CARRY:
  case ROLE_WHILE:
  case ROLE_NEXT:
  case ROLE_COLUMN: return true;
  case ROLE_GATHER: return i > 0 && info->operands[i] != 's'; /* index and flags */
  case ROLE_PICK: return i == 1;
  case ROLE_REDUCE:
  case ROLE_SCAN: return i == 0;
  case ROLE_PACK: return i < 2;
  case ROLE_SCATTER: /* of two vectors of values the second holds the defaults */
    return info->operands[i] != 's' && (i == 0 || info->operands[i] != 'T');
  case ROLE_ASSERT: return true;
  case ROLE_COMBINE_SCATTER: return i == COMBINE_INDEX;
  case ROLE_COMBINE_REDUCE:
  case ROLE_COMBINE_SCAN:
  case ROLE_CONST:
  case ROLE_SPREAD:
  case ROLE_INDEX: break;
  }
  return false;
}

static bool is_step(const struct cvl_kernel *k, uint32_t n) {
  const struct superop_node *node = &k->op->nodes[n];
  if (k->nodes[n].combined) return false;
  return node->role == ROLE_SPREAD || node->role == ROLE_INDEX || node->role == ROLE_GATHER ||
         node->role == ROLE_PICK || node->role == ROLE_MAP || node->role == ROLE_CARRY ||
         node->role == ROLE_NEXT || node->role == ROLE_ASSERT;
}

/* Whether operand i of a node is the index of a scatter that takes runs. */
static bool takes_runs(const struct superop_node *node, unsigned i) {
  return node->role == ROLE_SCATTER && i == 1 &&
         (node->op == OPC_DPERMUTE || node->op == OPC_FPERMUTE);
}

/* Returns the role of the combination that a COLUMN belongs to. */
static uint8_t combination_role(const struct cvl_kernel *k, uint32_t n) {
  while (k->op->nodes[n].role == ROLE_COLUMN || k->nodes[n].combined ||
         k->op->nodes[n].role == ROLE_SPREAD || k->op->nodes[n].role == ROLE_CONST) {
    n++;
  }
  return k->op->nodes[n].role;
}

/* Notes how operand i of node n is used. */
static void plan_note_use(struct cvl_kernel *k, uint32_t n, unsigned i) {
  const struct superop_node *node = &k->op->nodes[n];
  struct fused_value *v = &k->values[node->operands[i]];
  const bool elementwise = reads_elementwise(node, i);
  const bool cold = k->op->cold[n] || !superop_matters(node, i);
  if (!cold) v->last_read = n;
  if (!cold && !takes_runs(node, i)) v->as_runs = false;
  if (elementwise && !cold && v->node == SUPEROP_NONE) v->read_elementwise = true;
  if (!elementwise || !is_step(k, n)) v->only_elementwise = false;
  if (!elementwise || is_step(k, n) || (k->nodes[n].combined && node->role == ROLE_MAP)) return;
  v->consumed = true;
  v->consumers++;
  const uint8_t role = node->role == ROLE_COLUMN ? combination_role(k, n) : node->role;
  if (role == ROLE_SCATTER || role == ROLE_COMBINE_SCATTER) v->scattered = true;
  if (role == ROLE_SCAN || role == ROLE_COMBINE_SCAN) v->buffer = IN_CHUNK;
  if ((role == ROLE_REDUCE || role == ROLE_COMBINE_REDUCE || role == ROLE_PACK) &&
      v->buffer == IN_STRIP) {
    v->buffer = IN_TILE;
  }
}

/* A value that an iteration of a loop reads is needed up to the end of the loop. */
static void note_loops(struct cvl_kernel *k) {
  const struct superop *op = k->op;
  for (uint32_t v = 0; v < op->value_count && superop_has_loops(op); v++) {
    const uint32_t last = op->last_use[v];
    if (last != SUPEROP_NONE && last > k->values[v].last_read) k->values[v].last_read = last;
  }
}

/* Finds ASSERTs of 0 <= i and i < n, as indices have. Where n is uniform a single comparison
 * checks both (bind_assert), which reads i: i has to be kept up to the ASSERT. */
static void note_ranges(struct cvl_kernel *k) {
  const struct superop_node *nodes = k->op->nodes;
  for (uint32_t n = 0; n < k->op->node_count; n++) {
    struct fused_node *p = &k->nodes[n];
    p->index = SUPEROP_NONE;
    if (nodes[n].role != ROLE_ASSERT || !nodes[n].checked) continue;
    const uint32_t both = k->values[nodes[n].operands[0]].node;
    if (both == SUPEROP_NONE || nodes[both].op != OPC_AND) continue;
    const uint32_t low = k->values[nodes[both].operands[0]].node;
    const uint32_t high = k->values[nodes[both].operands[1]].node;
    if (low == SUPEROP_NONE || high == SUPEROP_NONE) continue;
    if (nodes[low].op != OPC_GE || nodes[high].op != OPC_LT) continue;
    const uint32_t index = nodes[low].operands[0];
    if (nodes[high].operands[0] != index || k->values[index].elem != k->c->int_elem) continue;
    p->index = index;
    p->least = nodes[low].operands[1];
    p->limit = nodes[high].operands[1];
    if (k->values[index].last_read < n) k->values[index].last_read = n;
  }
}

/* Keeps the parameters that messages depend on unchanged up to the last ASSERT that reports
 * them. until: that node for every value, counted from 1. */
static void note_reported(struct cvl_kernel *k, uint32_t *until) {
  const struct superop *op = k->op;
  for (uint32_t n = op->node_count; n-- > 0;) {
    const struct superop_node *node = &op->nodes[n];
    uint32_t last = node->role == ROLE_ASSERT ? n + 1 : 0;
    for (unsigned r = 0; r < node->result_count; r++) {
      if (last < until[node->result + r]) last = until[node->result + r];
    }
    for (unsigned i = 0; i < node->operand_count && last > 0; i++) {
      const uint32_t v = node->operands[i];
      if (node->role == ROLE_ASSERT && superop_matters(node, i)) continue;
      if (until[v] < last) until[v] = last;
      if (reads_elementwise(node, i)) k->values[v].reported = true;
    }
  }
  for (uint32_t v = 0; v < op->param_count; v++) {
    if (k->values[v].last_read + 1 < until[v]) k->values[v].last_read = until[v] - 1;
  }
}

static void describe_values(struct cvl_kernel *k) {
  const struct superop *op = k->op;
  for (uint32_t i = 0; i < op->value_count; i++) {
    struct fused_value *v = &k->values[i];
    v->elem = (uint8_t)superop_elem((enum superop_kind)op->kinds[i], k->c->int_elem,
                                    k->c->float_elem);
    v->bytes = (uint8_t)elem_bytes(v->elem);
    v->buffer = IN_STRIP;
    v->node = SUPEROP_NONE;
    v->only_elementwise = true;
  }
  for (uint32_t i = 0; i < op->output_count; i++) k->values[op->outputs[i]].is_output = true;
  for (uint32_t n = 0; n < op->node_count; n++) {
    const struct superop_node *node = &op->nodes[n];
    for (unsigned i = 0; i < node->result_count; i++) k->values[node->result + i].node = n;
    if (node->role == ROLE_INDEX) k->values[node->result].as_runs = true;
    for (unsigned i = 0; i < node->operand_count; i++) plan_note_use(k, n, i);
  }
}

/* Whether a scatter reads a value: it may overwrite it, or release its memory. */
static bool is_scattered(const struct cvl_kernel *k, uint32_t value) {
  for (uint32_t n = 0; n < k->op->node_count; n++) {
    const struct superop_node *node = &k->op->nodes[n];
    for (unsigned i = 0; node->role == ROLE_SCATTER && i < node->operand_count; i++) {
      if (node->operands[i] == value) return true;
    }
  }
  return false;
}

/* Decides which INDEXes may stay unwritten. Their operands must still be unchanged when the
 * scatters are executed. */
static void note_runs(struct cvl_kernel *k) {
  for (uint32_t n = 0; n < k->op->node_count; n++) {
    const struct superop_node *node = &k->op->nodes[n];
    if (node->role != ROLE_INDEX) continue;
    struct fused_value *v = &k->values[node->result];
    v->as_runs &= !v->is_output && !is_scattered(k, node->operands[0]) &&
                  !is_scattered(k, node->operands[1]);
    k->has_runs |= v->as_runs;
  }
}

/* ---- buffers ---- */

/* Strip buffers that are free, as a stack. */
struct slots {
  uint32_t *free;
  uint32_t free_count, made;
};

static uint32_t plan_take_slot(struct slots *s) {
  return s->free_count ? s->free[--s->free_count] : s->made++;
}

/* Assigns the buffers that a loop needs from its beginning, since results are written while it
 * runs. If the next value is another carried value it needs a spare buffer. */
static void begin_loop(struct cvl_kernel *k, struct slots *s, struct superop_loop l) {
  for (uint32_t i = l.next; i <= l.last; i++) {
    const struct superop_node *next = &k->op->nodes[i];
    struct fused_value *result = &k->values[next->result];
    if (result->buffer == IN_STRIP) result->slot = plan_take_slot(s);
    const uint32_t from = next->operands[1], definition = k->values[from].node;
    result->has_spare = definition < l.first + l.count && from != next->operands[0];
    if (result->has_spare) result->spare_slot = plan_take_slot(s);
  }
}

/* The carried value in whose buffer step n, after the WHILE of this loop, may compute its
 * result: the result is the next value of that one alone, whose uses are all over. Or NULL. */
static struct fused_value *carried_by(struct cvl_kernel *k, struct superop_loop l, uint32_t n) {
  const uint32_t value = k->op->nodes[n].result;
  struct fused_value *carried = NULL;
  if (n <= l.test || k->op->uses[value] != 1) return NULL;
  for (uint32_t i = l.next; i <= l.last && !carried; i++) {
    const struct superop_node *next = &k->op->nodes[i];
    if (next->operands[1] == value) carried = &k->values[next->operands[0]];
  }
  for (uint32_t i = l.first; i <= l.last && carried; i++) {
    const struct superop_node *node = &k->op->nodes[i];
    if (i <= n) continue;
    for (unsigned j = node->role == ROLE_NEXT; j < node->operand_count; j++) {
      if (carried == &k->values[node->operands[j]]) return NULL;
    }
  }
  return carried;
}

/* Assigns a buffer to the result of every step. A result may take over the buffer of an operand
 * whose last use this is: kernels may overwrite an operand of the same element size. */
static void plan_assign_slots(struct cvl_kernel *k, uint32_t *free_slots) {
  struct slots s = {.free = free_slots};
  struct superop_loop loop = {0};
  for (uint32_t i = 0; i < k->step_count; i++) {
    const uint32_t n = k->steps[i];
    const struct superop_node *node = &k->op->nodes[n];
    struct fused_value *result = fused_result(k, n);
    const uint32_t *reads = node->operands;
    const uint32_t read_count = node->operand_count;
    if (node->role == ROLE_CARRY && n > loop.last) {
      loop = superop_loop_at(k->op, n);
      begin_loop(k, &s, loop);
    }
    const bool wants_slot = result && result->buffer == IN_STRIP && node->role != ROLE_NEXT;
    struct fused_value *carried = loop.last > n ? carried_by(k, loop, n) : NULL;
    if (result && result->buffer == IN_TILE) result->slot = k->tile_slots++;
    bool given = carried != NULL;
    if (given) {
      result->slot = carried->slot;
      result->last_read = 0; /* the buffer stays that of the carried value */
    }
    for (uint32_t j = 0; j < read_count; j++) {
      struct fused_value *v = &k->values[reads[j]];
      if (v->node == SUPEROP_NONE || k->op->nodes[v->node].role == ROLE_CONST) continue;
      if (v->buffer != IN_STRIP || v->last_read != n || v->is_output || v->scattered) continue;
      bool again = false; /* the same operand twice */
      for (uint32_t before = 0; before < j; before++) again |= reads[before] == reads[j];
      if (again) continue;
      if (!given && wants_slot && node->role == ROLE_MAP && v->bytes == result->bytes) {
        result->slot = v->slot;
        given = true;
      } else {
        v->slot |= UINT32_C(1) << 31; /* freed below, after the result has got its own */
      }
    }
    if (wants_slot && !given) result->slot = plan_take_slot(&s);
    for (uint32_t j = 0; j < read_count; j++) {
      struct fused_value *v = &k->values[reads[j]];
      if (!(v->slot >> 31)) continue;
      v->slot &= ~(UINT32_C(1) << 31);
      s.free[s.free_count++] = v->slot;
    }
  }
  k->strip_slots = s.made;
  k->usual_strip = s.made > FUSED_MANY_SLOTS ? FUSED_STRIP / 2 : FUSED_STRIP;
}

/* ---- nodes ---- */

/* The cost of an operation on one element, in bytes of memory traffic that take as long, at
 * about 10 a nanosecond: estimates, on which only the grain of parallel loops depends. */
static uint32_t cost_of(const struct fused_node *node, const struct superop_node *of) {
  enum { PLAIN = 4, DIVISION = 12, FUNCTION = 32, GATHER = 16 };
  if (of->role == ROLE_GATHER || of->role == ROLE_PICK) return GATHER;
  switch ((int)node->op) {
  case OP_DIV:
  case OP_MOD:
  case OP_SQRT: return DIVISION;
  default: return op_is_approximate(node->op) ? FUNCTION : PLAIN;
  }
}

static bool plan_is_known(const struct cvl_kernel *k, uint32_t scatter) {
  const struct superop_node *nodes = k->op->nodes;
  for (uint32_t n = 0; n < scatter && nodes[scatter].op == OPC_PERMUTE; n++) {
    if (fused_same_index(&nodes[n], &nodes[scatter])) return true;
  }
  return false;
}

static void cpu_plan_nodes(struct cvl_kernel *k) {
  enum { LOOP_ROUNDS = 16 }; /* a guess */
  const struct map_rows *rows = k->c->map_rows;
  uint32_t loop_end = 0;
  for (uint32_t n = 0; n < k->op->node_count; n++) {
    const struct superop_node *node = &k->op->nodes[n];
    struct fused_node *p = &k->nodes[n];
    struct fused_value *first = &k->values[node->operands[0]];
    p->op = superop_info(node->op)->operation;
    if (is_step(k, n) && !k->op->cold[n]) k->steps[k->step_count++] = n;
    if (node->role == ROLE_CARRY) loop_end = superop_loop_at(k->op, n).last;
    const uint32_t times = n < loop_end ? LOOP_ROUNDS : 1;
    if (node->role != ROLE_CONST && !k->op->cold[n]) k->cost += times * cost_of(p, node);
    switch ((enum superop_role)node->role) {
    case ROLE_MAP: {
      const struct fused_value *last = &k->values[node->operands[node->operand_count - 1]];
      p->entry = &rows->row[p->op][elem_info((enum cvl_elem)last->elem)->klass];
      break;
    }
    case ROLE_SPREAD:
    case ROLE_INDEX:
    case ROLE_GATHER:
    case ROLE_PICK: p->walk = k->walks++; break;
    case ROLE_REDUCE:
      k->reductions[k->reduction_count++] = (struct fused_reduction){
          .node = n, .row = &k->c->kernels->reduce->row[first->elem][p->op], .v = first};
      break;
    case ROLE_SCAN:
      k->scans[k->scan_count++] = (struct fused_scan){
          .node = n, .row = &k->c->kernels->scan->row[first->elem][p->op], .v = first};
      break;
    case ROLE_PACK:
      k->packs[k->pack_count++] =
          (struct fused_pack){.node = n,
                              .v = first,
                              .flags = &k->values[node->operands[1]],
                              .wants_result = k->values[node->result].is_output,
                              .wants_descriptor = k->values[node->result + 1].is_output};
      break;
    case ROLE_CONST:
    case ROLE_CARRY:
    case ROLE_WHILE:
    case ROLE_NEXT:
    case ROLE_COLUMN:
    case ROLE_COMBINE_REDUCE: /* combine/fused.c */
    case ROLE_COMBINE_SCAN:
    case ROLE_COMBINE_SCATTER:
    case ROLE_ASSERT: break;
    case ROLE_SCATTER:
      p->known = plan_is_known(k, n);
      k->scatters[k->scatter_count++] =
          (struct fused_scatter){.node = n, .v = &k->values[k->op->nodes[n].result]};
      break;
    }
  }
  for (uint32_t i = 0; i < k->op->param_count; i++) {
    if (k->op->kinds[i] != SUPEROP_SEGDES) k->cost += k->values[i].bytes;
  }
  for (uint32_t i = 0; i < k->op->output_count; i++) {
    k->cost += k->values[k->op->outputs[i]].bytes;
  }
  k->serial_steps = tuned(k->c, SERIAL_BYTES) / k->cost;
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

/* One of copies has no plan of steps. */
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
  /* Compiled code that is being tried, or has won, is loaded. */
  if (k->compiled && k->choice.stage >= CHOICE_TRIED) fused_compiled_ready(k->compiled);
}

/* `of`: it is a copy of that; or NULL. */
static struct cvl_kernel *plan_prepare(struct cvl_context *c, const struct superop *op,
                                       const struct cvl_kernel *of) {
  if (op->copies) return prepare_copies(c, op);
  uint32_t reductions = 0, scans = 0, packs = 0, scatters = 0;
  for (uint32_t n = 0; n < op->node_count; n++) {
    reductions += op->nodes[n].role == ROLE_REDUCE;
    scans += op->nodes[n].role == ROLE_SCAN;
    packs += op->nodes[n].role == ROLE_PACK;
    scatters += op->nodes[n].role == ROLE_SCATTER;
  }
  const size_t values_at = sizeof(struct cvl_kernel);
  const size_t nodes_at = values_at + op->value_count * sizeof(struct fused_value);
  const size_t reductions_at = nodes_at + op->node_count * sizeof(struct fused_node);
  const size_t scans_at = reductions_at + reductions * sizeof(struct fused_reduction);
  const size_t packs_at = scans_at + scans * sizeof(struct fused_scan);
  const size_t scatters_at = packs_at + packs * sizeof(struct fused_pack);
  const size_t combinations_at = scatters_at + scatters * sizeof(struct fused_scatter);
  const size_t faults_at =
      combinations_at + fused_combinations(op) * sizeof(struct fused_combination);
  const size_t steps_at = faults_at + op->node_count * sizeof(uint64_t);
  const size_t free_at = steps_at + op->node_count * sizeof(uint32_t);
  const size_t copies_at = free_at + op->value_count * sizeof(uint32_t);
  const size_t live_at = copies_at + op->value_count * sizeof(uint32_t);
  const size_t analysed_at = live_at + op->node_count * sizeof(uint32_t);
  const size_t affine_steps_at = analysed_at + op->node_count * sizeof(uint32_t);
  const size_t affine_gathers_at = affine_steps_at + op->node_count * sizeof(uint32_t);
  const size_t one_at = affine_gathers_at + op->node_count * sizeof(uint32_t);
  const size_t bytes = one_at + 3 * op->param_count * sizeof(bool);
  char *block = memory_take(c->memory, bytes);
  if (!block) return NULL;
  memset(block, 0, bytes);
  struct cvl_kernel *k = (struct cvl_kernel *)(void *)block;
  k->c = c;
  k->op = op;
  k->bytes = bytes;
  k->values = (struct fused_value *)(void *)(block + values_at);
  k->nodes = (struct fused_node *)(void *)(block + nodes_at);
  k->reductions = (struct fused_reduction *)(void *)(block + reductions_at);
  k->scans = (struct fused_scan *)(void *)(block + scans_at);
  k->packs = (struct fused_pack *)(void *)(block + packs_at);
  k->scatters = (struct fused_scatter *)(void *)(block + scatters_at);
  k->combinations = (struct fused_combination *)(void *)(block + combinations_at);
  k->run.fault = (_Atomic uint64_t *)(void *)(block + faults_at);
  k->steps = (uint32_t *)(void *)(block + steps_at);
  k->run.copies = (uint32_t *)(void *)(block + copies_at);
  k->run.live_steps = (uint32_t *)(void *)(block + live_at);
  k->analysed = (uint32_t *)(void *)(block + analysed_at);
  k->run.affine_steps = (uint32_t *)(void *)(block + affine_steps_at);
  k->run.affine_gathers = (uint32_t *)(void *)(block + affine_gathers_at);
  uint32_t *scratch = (uint32_t *)(void *)(block + free_at);
  fused_combine_plan(k);
  k->run.one = (bool *)(block + one_at);
  k->one = k->run.one + op->param_count;
  k->strides = k->one + op->param_count;
  kernel_range_find_strides(op, k->strides);
  for (uint32_t p = 0; p < op->param_count; p++)
    k->one[p] = op->kinds[p] == SUPEROP_SEGDES || k->strides[p];
  describe_values(k);
  note_runs(k);
  note_loops(k);
  note_ranges(k);
  note_reported(k, scratch);
  cpu_plan_nodes(k);
  fused_gather_plan(k);
  fused_concatenate_plan(k);
  fused_affine_plan(k);
  plan_assign_slots(k, scratch);
  fused_plan_check(k);
  if (!fused_repeat_constants(k)) {
    memory_give(c->memory, k, bytes);
    return NULL;
  }
  for (uint32_t n = 0; n < op->node_count; n++) atomic_init(&k->run.fault[n], FUSED_NONE);
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
  fused_copy_discard(c, k->copying);
  memory_give(c->memory, k->constants, k->constants_bytes);
  memory_give(c->memory, k, k->bytes);
}
