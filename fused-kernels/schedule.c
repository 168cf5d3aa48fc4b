/* schedule.c - see schedule.h. It goes backwards through the nodes: who executes a node
 * follows from who needs its results.
 */
#include "fused-kernels/schedule.h"

#include "base/check.h"
#include "fused-kernels/emit-expression.h"

#include <string.h>

/* ---- of nodes ---- */

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
  struct fused_target target;
  struct fused_schedule *s;
  bool *wanted; /* of every node: of a consumer, it is executed */
  bool *needed; /* of every value: it is given, or something apart needs its elements */
};

static bool schedule_is_inside(const struct fused_schedule *s, uint32_t k) {
  return s->tasks[k] == TASK_INSIDE;
}

/* Whether a node is a DIST or INDEX that the kernel leaves. */
static bool schedule_may_leave(const struct scheduler *p, const struct superop_node *node) {
  return p->target.leaves && (node->role == ROLE_SPREAD || node->role == ROLE_INDEX);
}

/* ---- what is executed ---- */

/* Whether what a consumer gives, or checks, is wanted. */
static bool schedule_is_wanted(const struct scheduler *p, uint32_t k) {
  const struct superop_node *node = &p->op->nodes[k];
  const bool scatters = node->role == ROLE_SCATTER || node->role == ROLE_COMBINE_SCATTER;
  bool wanted = scatters && node->checked;
  for (unsigned r = 0; r < node->result_count; r++)
    wanted |= p->op->last_use[node->result + r] == p->op->node_count;
  return wanted && !p->target.elsewhere[k];
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
    memset(p->wanted + c.ends, wanted, c.count);
  }
}

/* Whether a node is executed at all. The function of a combination is part of its consumers. */
static bool schedule_is_executed(const struct scheduler *p, uint32_t k) {
  const struct superop_node *node = &p->op->nodes[k];
  const bool elsewhere = p->target.elsewhere[k];
  if (fused_is_consumer(node)) return p->wanted[k];
  switch ((enum superop_role)node->role) {
  case ROLE_COLUMN: return false;
  case ROLE_CARRY:
  case ROLE_WHILE:
  case ROLE_NEXT: return !elsewhere;
  case ROLE_ASSERT: return node->checked && !p->target.partial;
  default: break;
  }
  if (node->checked && !p->target.partial && !elsewhere) return true;
  return p->s->read[node->result] || p->needed[node->result];
}

/* Whether a node is inside, if it is executed. */
static bool schedule_takes(const struct scheduler *p, uint32_t k) {
  const struct superop_node *node = &p->op->nodes[k];
  switch ((enum superop_role)node->role) {
  case ROLE_PACK: return p->target.packs;
  case ROLE_SCAN: return p->target.scans;
  case ROLE_SCATTER: return p->target.scattered != 0;
  case ROLE_COMBINE_SCATTER: return false;
  default: return !schedule_may_leave(p, node) || p->s->read[node->result];
  }
}

/* ---- what is needed ---- */

/* A CONST goes into the text of who needs it. */
static void schedule_need(struct scheduler *p, uint32_t v) {
  const uint32_t k = p->s->definitions[v];
  if (k == SUPEROP_NONE || p->op->nodes[k].role != ROLE_CONST) p->needed[v] = true;
}

/* A node inside needs a value; `elements`: at its positions. */
static void schedule_read(struct fused_schedule *s, uint32_t v, bool elements) {
  s->read[v] = true;
  if (elements && s->definitions[v] == SUPEROP_NONE) s->loaded[v] = true;
}

/* Marks what the lowest level of a combination needs: the column, the identity, the
 * descriptor. */
static void need_column(const struct scheduler *p, const struct superop_node *node) {
  schedule_read(p->s, fused_combined(p->op, node), true);
  schedule_read(p->s, node->operands[node->operand_count - 1], false);
  if (node->role == ROLE_COMBINE_REDUCE && node->operands[2] < p->op->param_count)
    schedule_read(p->s, node->operands[2], false);
}

/* Marks the operands that a node inside, or one for reports, needs. */
static void need_inside(const struct scheduler *p, uint32_t k) {
  const struct superop_node *node = &p->op->nodes[k];
  if (fused_is_tree(node)) {
    need_column(p, node);
    return;
  }
  const unsigned count = fused_is_constant(p->op, node) ? 1 : node->operand_count;
  for (unsigned i = 0; i < count; i++) {
    if (node->role == ROLE_SCATTER && !(p->target.scattered >> i & 1)) continue;
    if (schedule_is_inside(p->s, k) && superop_matters(node, i))
      schedule_read(p->s, node->operands[i], fused_reads_elements(p->op, k, i));
    else
      p->s->reported[node->operands[i]] = true;
  }
}

/* Marks the operands that a node apart needs. The first two of a consumer of a combination are
 * in its function, whose column takes elements. */
static void need_apart(struct scheduler *p, uint32_t k) {
  const struct superop_node *node = &p->op->nodes[k];
  const bool tree = fused_is_tree(node);
  if (tree) schedule_need(p, fused_combined(p->op, node));
  for (unsigned i = tree ? 2 : 0; i < node->operand_count; i++)
    schedule_need(p, node->operands[i]);
}

/* Marks what the kernel gives. */
static void need_results(struct scheduler *p) {
  const struct superop *op = p->op;
  const struct fused_target *target = &p->target;
  for (uint32_t i = 0; i < op->output_count && !target->carries; i++) {
    const bool consumed = fused_is_consumer(emit_definition(op, op->outputs[i]));
    if (!target->partial || consumed) schedule_need(p, op->outputs[i]);
  }
  for (uint32_t k = 0; k < op->node_count && target->carries; k++) {
    const struct superop_node *node = &op->nodes[k];
    if (node->role != ROLE_NEXT || target->elsewhere[k]) continue;
    if (op->uses[node->result] > 0) schedule_need(p, node->result);
  }
}

/* ---- who executes it ---- */

static enum fused_task schedule_task_of(const struct scheduler *p, uint32_t k) {
  const struct superop_node *node = &p->op->nodes[k];
  const bool executed = schedule_is_executed(p, k), consumer = fused_is_consumer(node);
  if (executed && schedule_takes(p, k)) return TASK_INSIDE;
  if (executed && consumer) return fused_is_tree(node) ? TASK_TREE : TASK_LIBRARY;
  const bool reported = !consumer && node->result_count > 0 && p->s->reported[node->result];
  return reported ? TASK_REPORTED : TASK_NONE;
}

/* Decides who executes node k, when it is known what all later ones need. */
static void schedule_decide(struct scheduler *p, uint32_t k) {
  const struct superop_node *node = &p->op->nodes[k];
  struct fused_schedule *s = p->s;
  s->tasks[k] = (uint8_t)schedule_task_of(p, k);
  const bool needed =
      !fused_is_consumer(node) && node->result_count > 0 && p->needed[node->result];
  if (needed && schedule_may_leave(p, node))
    s->left[node->result] = true;
  else if (needed && schedule_is_inside(s, k))
    s->written[node->result] = true;
  if (s->tasks[k] == TASK_INSIDE || s->tasks[k] == TASK_REPORTED) need_inside(p, k);
  if (fused_schedule_is_apart(s, k)) need_apart(p, k);
}

/* ---- the whole ---- */

/* A node inside needs nothing of one apart; and elements that are needed come into memory. */
static void check_schedule(const struct scheduler *p) {
  const struct fused_schedule *s = p->s;
  for (uint32_t v = 0; v < p->op->value_count; v++) {
    const uint32_t k = s->definitions[v];
    if (k == SUPEROP_NONE) continue;
    invariant(!s->read[v] || schedule_is_inside(s, k));
    invariant(!p->needed[v] || s->written[v] || s->left[v] ||
              fused_is_consumer(&p->op->nodes[k]));
  }
}

static void schedule_make_room(struct arena *arena, struct scheduler *p) {
  const size_t nodes = p->op->node_count + 1U, values = p->op->value_count + 1U;
  struct fused_schedule *s = p->s;
  bool **flags[] = {&p->needed, &s->read, &s->loaded, &s->reported, &s->written, &s->left};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
    *flags[i] = arena_alloc(arena, values * sizeof **flags[i]);
  p->wanted = arena_alloc(arena, nodes * sizeof *p->wanted);
  s->tasks = arena_alloc(arena, nodes);
  s->definitions = arena_alloc(arena, values * sizeof *s->definitions);
}

static void schedule_find_definitions(const struct scheduler *p) {
  uint32_t *definitions = p->s->definitions;
  for (uint32_t v = 0; v < p->op->value_count; v++) definitions[v] = SUPEROP_NONE;
  for (uint32_t k = 0; k < p->op->node_count; k++) {
    const struct superop_node *node = &p->op->nodes[k];
    if (node->role == ROLE_NEXT && p->target.elsewhere[k]) continue;
    for (unsigned r = 0; r < node->result_count; r++) definitions[node->result + r] = k;
  }
}

void fused_schedule_make(struct arena *arena, const struct superop *op,
                         struct fused_target target, struct fused_schedule *s) {
  struct scheduler p = {.op = op, .target = target, .s = s};
  *s = (struct fused_schedule){.op = op};
  schedule_make_room(arena, &p);
  schedule_find_definitions(&p);
  schedule_find_wanted(&p);
  need_results(&p);
  for (uint32_t k = op->node_count; k-- > 0;) schedule_decide(&p, k);
  check_schedule(&p);
}

/* ---- questions ---- */

bool fused_schedule_is_apart(const struct fused_schedule *s, uint32_t k) {
  const struct superop_node *node = &s->op->nodes[k];
  if (s->tasks[k] == TASK_LIBRARY || s->tasks[k] == TASK_TREE) return true;
  if (s->tasks[k] == TASK_INSIDE && node->role == ROLE_COMBINE_SCAN) return true;
  return node->result_count > 0 && s->left[node->result];
}

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
    r->load[v] = r->load[v] && vector && !s->loaded[v];
    r->lookup[v] = r->lookup[v] && !fused_schedule_looks_up(s, v, TASK_INSIDE);
  }
}
