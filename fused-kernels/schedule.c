/* schedule.c - see schedule.h. Backwards through the nodes: who executes a node, from who needs
 * its results. Forwards: its stage. Then, of every value, who reads it and when.
 */
#include "fused-kernels/schedule.h"

#include "base/check.h"
#include "fused-kernels/emit-expression.h"

#include <string.h>

/* ---- nodes, whatever the target ---- */

/* Whether a value is more than arithmetic on positions. */
static bool depends_on_data(const struct superop *op, uint32_t value, bool *seen) {
  const struct superop_node *node = emit_definition(op, value);
  if (seen[value]) return false; /* or the answer would be known */
  seen[value] = true;
  if (!node ||
      (node->role != ROLE_MAP && node->role != ROLE_INDEX && node->role != ROLE_SPREAD))
    return true;
  bool depends = false;
  for (unsigned i = 0; node->role == ROLE_MAP && i < node->operand_count && !depends; i++) {
    depends = depends_on_data(op, node->operands[i], seen);
  }
  return depends;
}

bool fused_is_by_data(const struct superop *op, uint32_t k) {
  const struct superop_node *node = &op->nodes[k];
  if (node->role != ROLE_GATHER) return false;
  if (node->op == OPC_BFPERMUTE) return true; /* flags are data, too */
  bool seen[SUPEROP_VALUES_MAX] = {false};
  return depends_on_data(op, node->operands[1], seen);
}

bool fused_reads_elements(const struct superop *op, uint32_t k, unsigned operand) {
  enum superop_role role;
  return superop_access(op->nodes[k].op, &role)[operand] == 'd';
}

bool fused_is_constant(const struct superop *op, const struct superop_node *node) {
  return node->role == ROLE_SPREAD && node->operands[0] >= op->param_count;
}

uint32_t fused_near(const struct superop_node *node) {
  const bool asks =
      node->role == ROLE_SPREAD || node->role == ROLE_INDEX || node->role == ROLE_GATHER;
  return asks ? node->operands[node->operand_count - 1] : SUPEROP_NONE;
}

bool fused_is_tree(const struct superop_node *node) {
  return node->role == ROLE_COMBINE_REDUCE || node->role == ROLE_COMBINE_SCAN ||
         node->role == ROLE_COMBINE_SCATTER;
}

bool fused_is_consumer(const struct superop_node *node) {
  return node->role == ROLE_REDUCE || node->role == ROLE_SCAN || node->role == ROLE_PACK ||
         node->role == ROLE_SCATTER || fused_is_tree(node);
}

uint32_t fused_combined(const struct superop *op, const struct superop_node *node) {
  const uint32_t v = node->operands[0];
  return fused_is_tree(node) ? emit_definition(op, v)->operands[0] : v;
}

/* ---- while it is made ---- */

struct scheduler {
  const struct superop *op;
  struct fused_schedule *s;
  uint8_t *steps;
  bool *wanted; /* of every node: of a consumer or of a combination, it is executed */
  bool *memory; /* of every value: it is `needed`, and not only in the text of a function */
};

static bool schedule_is_in(uint32_t set, uint8_t step) {
  return set >> step & 1;
}

static bool schedule_is_inside(const struct fused_schedule *s, uint32_t k) {
  return s->tasks[k] == TASK_INSIDE;
}

static bool schedule_is_elsewhere(const struct fused_schedule *s, uint32_t k) {
  return s->target.elsewhere && s->target.elsewhere[k];
}

/* ---- steps ---- */

/* Returns the step of a node outside loops and combinations. */
static enum fused_step schedule_step_of(const struct superop *op, uint32_t k) {
  switch ((enum superop_role)op->nodes[k].role) {
  case ROLE_CONST: return STEP_CONST;
  case ROLE_SPREAD: return STEP_SPREAD;
  case ROLE_INDEX: return STEP_INDEX;
  case ROLE_GATHER: return fused_is_by_data(op, k) ? STEP_GATHER_BY_DATA : STEP_GATHER;
  case ROLE_PICK: return STEP_GATHER;
  case ROLE_MAP:
  case ROLE_ASSERT: return STEP_MAP;
  case ROLE_CARRY:
  case ROLE_WHILE:
  case ROLE_NEXT: return STEP_LOOP;
  case ROLE_COLUMN: return STEP_FUNCTION;
  case ROLE_COMBINE_REDUCE: return STEP_COMBINE_REDUCE;
  case ROLE_COMBINE_SCAN: return STEP_COMBINE_SCAN;
  case ROLE_REDUCE: return STEP_REDUCE;
  case ROLE_PACK: return STEP_PACK;
  case ROLE_SCAN: return STEP_SCAN;
  case ROLE_SCATTER: return STEP_SCATTER;
  case ROLE_COMBINE_SCATTER: break;
  }
  return STEP_OTHER;
}

static void find_steps(struct scheduler *p) {
  const struct superop *op = p->op;
  for (uint32_t k = 0; k < op->node_count; k++) p->steps[k] = (uint8_t)schedule_step_of(op, k);
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (fused_begins_loop(op, k)) {
      const uint32_t last = superop_loop_at(op, k).last;
      memset(p->steps + k, STEP_LOOP, last - k + 1);
    }
    if (!fused_begins_combination(op, k)) continue;
    const uint32_t ends = superop_combination_at(op, k).ends;
    for (uint32_t i = k; i < ends; i++) {
      if (p->steps[i] == STEP_MAP) p->steps[i] = STEP_FUNCTION;
    }
  }
}

/* ---- what is executed ---- */

/* Whether what a consumer gives, or checks, is wanted. */
static bool schedule_is_wanted(const struct scheduler *p, uint32_t k) {
  const struct superop_node *node = &p->op->nodes[k];
  const bool scatters = node->role == ROLE_SCATTER || node->role == ROLE_COMBINE_SCATTER;
  bool wanted = !p->s->target.drops || (scatters && node->checked);
  for (unsigned r = 0; r < node->result_count; r++)
    wanted |= p->op->last_use[node->result + r] == p->op->node_count;
  return wanted && !schedule_is_elsewhere(p->s, k);
}

/* A combination is executed as a whole, if any of its results is wanted. */
static void schedule_find_wanted(struct scheduler *p) {
  const struct superop *op = p->op;
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (fused_is_consumer(&op->nodes[k])) p->wanted[k] |= schedule_is_wanted(p, k);
    if (!fused_begins_combination(op, k)) continue;
    const struct superop_combination c = superop_combination_at(op, k);
    bool wanted = false;
    for (uint32_t i = 0; i < c.count; i++) wanted |= schedule_is_wanted(p, c.ends + i);
    memset(p->wanted + k, wanted, c.ends + c.count - k);
  }
}

static bool schedule_is_executed(const struct scheduler *p, uint32_t k) {
  const struct superop_node *node = &p->op->nodes[k];
  const struct fused_schedule *s = p->s;
  const uint32_t v = node->result;
  if (fused_is_consumer(node) || p->steps[k] == STEP_FUNCTION) return p->wanted[k];
  if (p->steps[k] == STEP_LOOP && schedule_is_elsewhere(s, k)) return false;
  if (node->role == ROLE_ASSERT) return node->checked && !s->target.partial;
  if (node->checked && !s->target.partial && !schedule_is_elsewhere(s, k)) return true;
  if (p->steps[k] == STEP_LOOP && node->role != ROLE_MAP) return true;
  if (s->read[v] || p->memory[v]) return true;
  return !s->target.drops && (s->needed[v] || !s->reported[v]);
}

/* A CONST goes into the text of who needs it. */
static void schedule_need(struct scheduler *p, uint32_t v) {
  const uint32_t k = p->s->definitions[v];
  p->s->needed[v] = true;
  if (k == SUPEROP_NONE || p->steps[k] != STEP_CONST) p->memory[v] = true;
}

/* Marks what the lowest level of a combination needs: the column, the identity, the
 * descriptor. */
static void need_column(struct scheduler *p, const struct superop_node *node) {
  struct fused_schedule *s = p->s;
  s->read[fused_combined(p->op, node)] = true;
  s->read[node->operands[node->operand_count - 1]] = true;
  if (node->role == ROLE_COMBINE_REDUCE && node->operands[2] < p->op->param_count)
    s->read[node->operands[2]] = true;
}

/* Marks the operands that a node inside, or one for reports, needs. */
static void need_inside(struct scheduler *p, uint32_t k) {
  const struct superop_node *node = &p->op->nodes[k];
  if (fused_is_tree(node)) {
    need_column(p, node);
    return;
  }
  const unsigned count = fused_is_constant(p->op, node) ? 1 : node->operand_count;
  for (unsigned i = 0; i < count; i++) {
    if (p->steps[k] == STEP_SCATTER && !(p->s->target.scattered >> i & 1)) continue;
    const bool hot = schedule_is_inside(p->s, k) && superop_matters(node, i);
    (hot ? p->s->read : p->s->reported)[node->operands[i]] = true;
  }
}

/* Marks the operands that a node apart needs as elements in memory. Constants of a
 * combination's function are in its text, and its columns are those of its consumers. */
static void need_apart(struct scheduler *p, uint32_t k) {
  const struct superop_node *node = &p->op->nodes[k];
  const bool tree = fused_is_tree(node);
  if (tree) schedule_need(p, fused_combined(p->op, node));
  for (unsigned i = tree ? 1 : 0; i < node->operand_count; i++) {
    if (p->steps[k] == STEP_FUNCTION || (tree && i == 1))
      p->s->needed[node->operands[i]] = true;
    else
      schedule_need(p, node->operands[i]);
  }
}

/* Marks what an ASSERT that is proven would need. If nothing is dropped, its flags are
 * computed. */
static void need_proven(struct scheduler *p, const struct superop_node *node) {
  p->s->needed[node->operands[0]] = true;
  for (unsigned i = 1; i < node->operand_count; i++) p->s->reported[node->operands[i]] = true;
}

/* Whether node k is executed apart. What combines columns is where their consumers are. */
static bool schedule_is_apart(const struct scheduler *p, uint32_t k, bool executed) {
  const struct fused_schedule *s = p->s;
  const struct superop_node *node = &p->op->nodes[k];
  while (p->steps[k] == STEP_FUNCTION && !fused_is_tree(&p->op->nodes[k])) k++;
  if (&p->op->nodes[k] != node) return s->apart[k];
  if (node->result_count > 0 && s->left[node->result]) return true;
  return executed && (!schedule_is_inside(s, k) || p->steps[k] == STEP_COMBINE_SCAN);
}

/* Decides who executes node k, when it is known what all later ones need. */
static void schedule_decide(struct scheduler *p, uint32_t k) {
  const struct superop_node *node = &p->op->nodes[k];
  struct fused_schedule *s = p->s;
  const uint32_t v = node->result;
  const uint8_t step = p->steps[k];
  const bool executed = schedule_is_executed(p, k), consumer = fused_is_consumer(node);
  if (executed && schedule_is_in(s->target.inside, step) &&
      (!schedule_is_in(s->target.if_read, step) || s->read[v]))
    s->tasks[k] = TASK_INSIDE;
  else if (executed && consumer)
    s->tasks[k] = fused_is_tree(node) ? TASK_TREE : TASK_LIBRARY;
  else if (!consumer && node->result_count > 0 && s->reported[v])
    s->tasks[k] = TASK_REPORTED;
  if (schedule_is_in(s->target.left, step)) s->left[v] = p->memory[v];
  s->apart[k] = schedule_is_apart(p, k, executed);
  if (s->tasks[k] == TASK_INSIDE || s->tasks[k] == TASK_REPORTED) need_inside(p, k);
  if (s->apart[k]) need_apart(p, k);
  if (node->role == ROLE_ASSERT && !executed && !s->target.drops) need_proven(p, node);
}

/* ---- stages ---- */

/* The values that node k waits for: operands, of a consumer of a combination the column instead
 * of the function's values. Returns their number. */
static unsigned awaited(const struct scheduler *p, uint32_t k, uint32_t values[MAX_OPERANDS]) {
  const struct superop_node *node = &p->op->nodes[k];
  const bool tree = fused_is_tree(node);
  unsigned count = 0;
  if (!schedule_is_inside(p->s, k) && !p->s->apart[k]) return 0;
  if (tree) values[count++] = fused_combined(p->op, node);
  for (unsigned i = tree ? 2 : 0; i < node->operand_count; i++) {
    if (superop_matters(node, i)) values[count++] = node->operands[i];
  }
  return count;
}

/* The first stage in which a value is there for a node. */
static unsigned stage_for(const struct fused_schedule *s, uint32_t v, bool inside) {
  const uint32_t k = s->definitions[v];
  if (k == SUPEROP_NONE) return 0;
  return s->stages[k] + (schedule_is_inside(s, k) && !inside ? 1U : 0U);
}

static unsigned schedule_stage_of(const struct scheduler *p, uint32_t k) {
  uint32_t values[MAX_OPERANDS];
  const unsigned count = awaited(p, k, values);
  unsigned stage = 0;
  for (unsigned i = 0; i < count; i++) {
    const unsigned at = stage_for(p->s, values[i], schedule_is_inside(p->s, k));
    if (at > stage) stage = at;
  }
  return stage;
}

/* The first stage that may run a loop: all of its nodes belong to it. */
static unsigned stage_of_loop(const struct scheduler *p, uint32_t first) {
  unsigned stage = 0;
  for (uint32_t k = first; p->op->nodes[k].role == ROLE_CARRY; k++) {
    const unsigned at = schedule_stage_of(p, k);
    if (at > stage) stage = at;
  }
  return stage;
}

static bool schedule_find_stages(struct scheduler *p) {
  struct fused_schedule *s = p->s;
  unsigned loop = 0;
  for (uint32_t k = 0; k < p->op->node_count; k++) {
    if (fused_begins_loop(p->op, k)) loop = stage_of_loop(p, k);
    const unsigned stage = p->steps[k] == STEP_LOOP ? loop : schedule_stage_of(p, k);
    if (stage >= s->target.stages + (schedule_is_inside(s, k) ? 0U : 1U)) return false;
    s->stages[k] = (uint8_t)stage;
    if (schedule_is_inside(s, k) && stage >= s->stage_count) s->stage_count = stage + 1;
  }
  return true;
}

/* ---- values ---- */

static void schedule_note_use(struct fused_schedule *s, uint32_t v, uint32_t stage) {
  if (s->first_use[v] == SUPEROP_NONE || stage < s->first_use[v]) s->first_use[v] = stage;
  if (s->last_use[v] == SUPEROP_NONE || stage > s->last_use[v]) s->last_use[v] = stage;
}

/* A value of a stage is written for another one. */
static void note_written(const struct scheduler *p, uint32_t v, uint32_t stage) {
  struct fused_schedule *s = p->s;
  const uint32_t k = s->definitions[v];
  if (k == SUPEROP_NONE || !schedule_is_inside(s, k) || fused_is_consumer(&p->op->nodes[k]))
    return;
  if (!schedule_is_in(s->target.left, p->steps[k]) && (p->memory[v] || s->stages[k] != stage))
    s->written[v] = true;
}

/* The values whose elements node k reads inside its stage. */
static void note_elements(const struct scheduler *p, uint32_t k) {
  const struct superop_node *node = &p->op->nodes[k];
  uint8_t *elements = p->s->elements + (size_t)p->s->stages[k] * p->op->value_count;
  if (fused_is_tree(node)) elements[fused_combined(p->op, node)] = 1;
  for (unsigned i = 0; i < node->operand_count && !fused_is_tree(node); i++) {
    if (superop_matters(node, i) && fused_reads_elements(p->op, k, i))
      elements[node->operands[i]] = 1;
  }
}

static void schedule_find_values(struct arena *arena, const struct scheduler *p) {
  struct fused_schedule *s = p->s;
  s->elements = arena_alloc(arena, (s->stage_count + (size_t)1) * p->op->value_count);
  for (uint32_t v = 0; v < p->op->value_count; v++) {
    s->first_use[v] = s->last_use[v] = SUPEROP_NONE;
    if (p->memory[v]) note_written(p, v, 0);
  }
  for (uint32_t k = 0; k < p->op->node_count; k++) {
    uint32_t values[MAX_OPERANDS];
    const unsigned count = awaited(p, k, values);
    for (unsigned i = 0; i < count; i++) {
      schedule_note_use(s, values[i], s->stages[k]);
      if (schedule_is_inside(s, k) && s->apart[k])
        schedule_note_use(s, values[i], s->stages[k] + 1U);
      if (schedule_is_inside(s, k)) note_written(p, values[i], s->stages[k]);
    }
    if (schedule_is_inside(s, k)) note_elements(p, k);
  }
  for (uint32_t i = 0; i < p->op->output_count; i++)
    schedule_note_use(s, p->op->outputs[i], s->stage_count);
}

/* ---- the whole ---- */

/* A stage reads what is in memory before it, and what it has computed. */
static void check_schedule(const struct scheduler *p) {
  const struct fused_schedule *s = p->s;
  for (uint32_t k = 0; k < p->op->node_count; k++) {
    uint32_t values[MAX_OPERANDS];
    const unsigned count = awaited(p, k, values);
    invariant(!schedule_is_inside(s, k) || s->stages[k] < s->stage_count);
    for (unsigned i = 0; i < count; i++) {
      const uint32_t from = s->definitions[values[i]];
      if (from == SUPEROP_NONE || p->steps[from] == STEP_CONST) continue;
      invariant(s->stages[from] <= s->stages[k]);
      if (!schedule_is_inside(s, from) ||
          (schedule_is_inside(s, k) && s->stages[from] == s->stages[k]))
        continue;
      invariant(s->written[values[i]] || s->left[values[i]]);
    }
  }
}

static void schedule_make_room(struct arena *arena, struct scheduler *p) {
  const size_t nodes = p->op->node_count + 1U, values = p->op->value_count + 1U;
  struct fused_schedule *s = p->s;
  uint8_t **bytes[] = {&p->steps, &s->tasks, &s->stages};
  bool **of_nodes[] = {&p->wanted, &s->apart};
  bool **of_values[] = {&p->memory, &s->read, &s->reported, &s->needed, &s->written, &s->left};
  uint32_t **numbers[] = {&s->definitions, &s->first_use, &s->last_use};
  for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
    *bytes[i] = arena_alloc(arena, nodes);
  for (size_t i = 0; i < sizeof of_nodes / sizeof *of_nodes; i++)
    *of_nodes[i] = arena_alloc(arena, nodes * sizeof **of_nodes[i]);
  for (size_t i = 0; i < sizeof of_values / sizeof *of_values; i++)
    *of_values[i] = arena_alloc(arena, values * sizeof **of_values[i]);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    *numbers[i] = arena_alloc(arena, values * sizeof **numbers[i]);
}

static void schedule_find_definitions(struct fused_schedule *s) {
  for (uint32_t k = 0; k < s->op->node_count; k++) {
    const struct superop_node *node = &s->op->nodes[k];
    if (node->role == ROLE_NEXT && schedule_is_elsewhere(s, k)) continue;
    for (unsigned r = 0; r < node->result_count; r++) s->definitions[node->result + r] = k;
  }
}

/* Marks what the target gives. */
static void need_results(struct scheduler *p) {
  const struct superop *op = p->op;
  const struct fused_target *target = &p->s->target;
  for (uint32_t i = 0; i < op->output_count && !target->carries; i++) {
    const bool consumed = fused_is_consumer(emit_definition(op, op->outputs[i]));
    if (!target->partial || consumed) schedule_need(p, op->outputs[i]);
  }
  for (uint32_t k = 0; k < op->node_count && target->carries; k++) {
    const struct superop_node *node = &op->nodes[k];
    if (node->role != ROLE_NEXT || schedule_is_elsewhere(p->s, k)) continue;
    if (op->uses[node->result] > 0) schedule_need(p, node->result);
  }
}

bool fused_schedule_make(struct arena *arena, const struct superop *op,
                         struct fused_target target, struct fused_schedule *s) {
  struct scheduler p = {.op = op, .s = s};
  *s = (struct fused_schedule){.op = op, .target = target};
  schedule_make_room(arena, &p);
  for (uint32_t v = 0; v < op->value_count; v++) s->definitions[v] = SUPEROP_NONE;
  schedule_find_definitions(s);
  find_steps(&p);
  schedule_find_wanted(&p);
  need_results(&p);
  for (uint32_t k = op->node_count; k-- > 0;) schedule_decide(&p, k);
  if (!schedule_find_stages(&p)) return false;
  schedule_find_values(arena, &p);
  check_schedule(&p);
  return true;
}

/* ---- questions ---- */

bool fused_schedule_looks_up(const struct fused_schedule *s, uint32_t descriptor,
                             enum fused_task task) {
  for (uint32_t k = 0; k < s->op->node_count; k++) {
    const struct superop_node *node = &s->op->nodes[k];
    const bool asks = fused_near(node) == descriptor && !fused_is_constant(s->op, node);
    if (asks && s->tasks[k] == task) return true;
  }
  return false;
}

/* Adds what node j, or the report of ASSERT k itself, needs. */
static void add_to_report(const struct fused_schedule *s, uint32_t k, uint32_t j, bool *wanted,
                          struct fused_report *r) {
  const struct superop_node *node = &s->op->nodes[j];
  const unsigned count = fused_is_constant(s->op, node) ? 1 : node->operand_count;
  for (unsigned i = j == k ? 1 : 0; i < count; i++) { /* of an ASSERT v and w */
    wanted[node->operands[i]] = true;
    if (fused_reads_elements(s->op, j, i)) r->load[node->operands[i]] = true;
  }
  const uint32_t near = fused_near(node);
  if (near != SUPEROP_NONE && count > 1) r->lookup[near] = true;
}

void fused_schedule_report(const struct fused_schedule *s, uint32_t k, struct fused_report *r) {
  bool wanted[SUPEROP_VALUES_MAX] = {false};
  memset(r, 0, sizeof *r);
  add_to_report(s, k, k, wanted, r);
  for (uint32_t j = k; j-- > 0;) {
    r->node[j] = s->tasks[j] == TASK_REPORTED && wanted[s->op->nodes[j].result];
    if (r->node[j]) add_to_report(s, k, j, wanted, r);
  }
  for (uint32_t v = 0; v < s->op->param_count; v++) {
    const bool vector = s->op->kinds[v] != SUPEROP_SEGDES;
    r->load[v] = r->load[v] && vector && !fused_schedule_reads(s, s->stages[k], v);
    r->lookup[v] = r->lookup[v] && !fused_schedule_looks_up(s, v, TASK_INSIDE);
  }
}
