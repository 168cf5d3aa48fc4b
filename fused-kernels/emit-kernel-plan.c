/* emit-kernel-plan.c - the plan of a superoperator's kernel: what the kernel computes, and what
 * is left to the host.
 */
#include "fused-kernels/emit-kernel-plan.h"

#include "base/check.h"
#include "base/text.h"
#include "fused-kernels/emit-expression.h"
#include "fused-kernels/emit-kernel-stencil.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum cvl_elem elem_of(struct widths w, uint8_t kind) {
  return superop_elem((enum superop_kind)kind, w.int_elem, w.float_elem);
}

static bool is_output(const struct superop *op, uint32_t v) {
  return op->last_use[v] == op->node_count;
}

bool kernel_is_tree(const struct superop_node *node) {
  return node->role == ROLE_COMBINE_REDUCE || node->role == ROLE_COMBINE_SCAN ||
         node->role == ROLE_COMBINE_SCATTER;
}

static bool is_consumer(const struct superop_node *node) {
  return node->role == ROLE_REDUCE || node->role == ROLE_SCAN || node->role == ROLE_PACK ||
         node->role == ROLE_SCATTER || kernel_is_tree(node);
}

uint32_t kernel_combined(const struct superop *op, const struct superop_node *node) {
  uint32_t v = node->operands[0];
  return kernel_is_tree(node) ? emit_definition(op, v)->operands[0] : v;
}

/* Whether its result has an element for each position, or is a constant. */
static bool has_elements(const struct superop_node *node) {
  return !is_consumer(node) && node->role != ROLE_ASSERT;
}

uint32_t kernel_near(const struct superop_node *node) {
  bool asks =
      node->role == ROLE_SPREAD || node->role == ROLE_INDEX || node->role == ROLE_GATHER;
  return asks ? node->operands[node->operand_count - 1] : SUPEROP_NONE;
}

uint32_t kernel_far(const struct superop_node *node) {
  return node->operands[node->role == ROLE_PICK ? 2 : node->operand_count - 2];
}

bool kernel_constant_spread(const struct superop *op, const struct superop_node *node) {
  return node->role == ROLE_SPREAD && node->operands[0] >= op->param_count;
}

/* Whether what a consumer gives, or checks, is wanted. */
static bool is_wanted(const struct superop *op, const struct superop_node *node) {
  bool wanted =
      (node->role == ROLE_SCATTER || node->role == ROLE_COMBINE_SCATTER) && node->checked;
  for (unsigned r = 0; r < node->result_count; r++) wanted |= is_output(op, node->result + r);
  return wanted;
}

/* What is left for after the kernel needs its operands written. */
static void write_operand(struct fused_kernel *k, uint32_t v) {
  if (v >= k->op->param_count && k->op->kinds[v] != SUPEROP_SEGDES) k->written[v] = true;
}

/* A combination is executed as a whole, if any of its results is wanted. */
static void plan_combination(struct fused_kernel *k, uint32_t first, unsigned leave) {
  const struct superop *op = k->op;
  const struct superop_combination c = superop_combination_at(op, first);
  const uint8_t role = op->nodes[c.ends].role;
  const bool inside = role != ROLE_COMBINE_SCATTER && !(leave & LEAVE_REDUCTIONS);
  bool wanted = false;
  for (uint32_t i = 0; i < c.count; i++) wanted |= is_wanted(op, &op->nodes[c.ends + i]);
  for (uint32_t i = 0; i < c.count && wanted; i++) {
    const struct superop_node *node = &op->nodes[c.ends + i];
    k->tasks[c.ends + i] = inside ? TASK_INSIDE : TASK_TREE;
    if (!inside || role == ROLE_COMBINE_SCAN) write_operand(k, kernel_combined(op, node));
    if (role == ROLE_COMBINE_SCATTER) write_operand(k, node->operands[2]);
  }
}

/* What is wanted of consumers, and so which values are needed after the kernel. */
static void plan_consumers(struct fused_kernel *k, unsigned leave) {
  const struct superop *op = k->op;
  for (uint32_t i = 0; i < op->node_count; i++) {
    const struct superop_node *node = &op->nodes[i];
    if (node->role == ROLE_COLUMN && (i == 0 || node[-1].role != ROLE_COLUMN))
      plan_combination(k, i, leave);
    if (!is_consumer(node) || kernel_is_tree(node) || !is_wanted(op, node)) continue;
    bool inside = node->role == ROLE_REDUCE && !(leave & LEAVE_REDUCTIONS);
    k->tasks[i] = inside ? TASK_INSIDE : TASK_LIBRARY;
    for (unsigned j = 0; !inside && j < node->operand_count; j++) {
      write_operand(k, node->operands[j]);
    }
  }
  for (uint32_t i = 0; i < op->output_count; i++) k->written[op->outputs[i]] = true;
}

/* What the lowest level of a combination needs: the column, the identity, the descriptor. */
static void need_column(struct fused_kernel *k, const struct superop_node *node) {
  k->read[kernel_combined(k->op, node)] = true;
  k->read[node->operands[node->operand_count - 1]] = true;
  const bool spread = node->role == ROLE_COMBINE_REDUCE;
  if (spread && node->operands[2] < k->op->param_count) k->read[node->operands[2]] = true;
}

/* What a node that is evaluated needs of its operands. */
static void need_operands(struct fused_kernel *k, uint32_t i) {
  const struct superop_node *node = &k->op->nodes[i];
  unsigned count = kernel_constant_spread(k->op, node) ? 1 : node->operand_count;
  for (unsigned j = 0; j < count; j++) {
    bool hot = k->tasks[i] == TASK_INSIDE && superop_matters(node, j);
    (hot ? k->read : k->reported)[node->operands[j]] = true;
  }
}

/* Which nodes the kernel evaluates: backwards from what it writes, reduces and checks. */
static void plan_nodes(struct fused_kernel *k, unsigned leave) {
  const struct superop *op = k->op;
  for (uint32_t i = op->node_count; i-- > 0;) {
    const struct superop_node *node = &op->nodes[i];
    uint32_t v = node->result;
    if (node->role == ROLE_ASSERT) {
      k->tasks[i] = node->checked ? TASK_INSIDE : TASK_NONE;
    } else if (is_consumer(node)) {
      for (unsigned r = 0; r < node->result_count; r++) k->written[v + r] = false;
    } else if ((leave & LEAVE_SPREADS) &&
               (node->role == ROLE_SPREAD || node->role == ROLE_INDEX)) {
      k->spread[v] = k->written[v];
      k->written[v] = false;
    }
    if (has_elements(node)) {
      bool in_loop =
          node->role == ROLE_CARRY || node->role == ROLE_WHILE || node->role == ROLE_NEXT;
      bool inside = in_loop || k->written[v] || k->read[v] || node->checked;
      if (inside || k->reported[v]) k->tasks[i] = inside ? TASK_INSIDE : TASK_REPORTED;
    }
    if (k->tasks[i] != TASK_INSIDE && k->tasks[i] != TASK_REPORTED) continue;
    if (kernel_is_tree(node))
      need_column(k, node);
    else
      need_operands(k, i);
    if (node->role == ROLE_REDUCE || kernel_is_tree(node)) k->by_slots = true;
    if (kernel_is_tree(node)) k->block_slots = 1;
    k->is_empty &= node->role == ROLE_CONST;
  }
}

bool kernel_looks_up(const struct fused_kernel *k, uint32_t v, enum fused_task task) {
  if (k->by_slots && v == k->op->segments) return false;
  for (uint32_t i = 0; i < k->op->node_count; i++) {
    const struct superop_node *node = &k->op->nodes[i];
    bool asks = kernel_near(node) == v && !kernel_constant_spread(k->op, node);
    if (asks && k->tasks[i] == task) return true;
  }
  return false;
}

static void add_member(struct fused_kernel *k, enum fused_member_kind kind, uint32_t number,
                       uint32_t value) {
  k->members[k->member_count++] = (struct fused_member){
      .kind = (uint8_t)kind,
      .elem = (uint8_t)elem_of(k->widths, k->op->kinds[value]),
      .looked_up = kind == MEMBER_SEGMENTS && (kernel_looks_up(k, value, TASK_INSIDE) ||
                                               kernel_looks_up(k, value, TASK_REPORTED)),
      .number = number};
}

static void add_tree_members(struct fused_kernel *k, uint32_t i) {
  const struct superop_node *node = &k->op->nodes[i];
  if (!kernel_is_tree(node) || k->tasks[i] != TASK_INSIDE) return;
  add_member(k, MEMBER_TOTALS, i, node->result);
  if (node->role != ROLE_COMBINE_REDUCE) return;
  add_member(k, MEMBER_ROOTS, i, node->result);
  add_member(k, MEMBER_RESULTS, i, node->result);
}

/* Whether something makes the value's elements, or keeps it virtual. */
static bool is_made(const struct fused_kernel *k, uint32_t v) {
  if (v < k->op->param_count || k->written[v] || k->spread[v]) return true;
  for (uint32_t i = 0; i < k->op->node_count; i++) {
    const struct superop_node *node = &k->op->nodes[i];
    if (is_consumer(node) && v - node->result < node->result_count)
      return k->tasks[i] != TASK_NONE;
  }
  return false;
}

/* Outputs and the operands of what is left to the library are made; what the kernel writes is
 * not made again; nothing but reductions and combinations are consumers inside. */
static void check_plan(const struct fused_kernel *k) {
  const struct superop *op = k->op;
  for (uint32_t i = 0; i < op->output_count; i++) invariant(is_made(k, op->outputs[i]));
  for (uint32_t v = 0; v < op->value_count; v++) invariant(!k->written[v] || !k->spread[v]);
  for (uint32_t i = 0; i < op->node_count; i++) {
    const struct superop_node *node = &op->nodes[i];
    if (k->tasks[i] == TASK_INSIDE)
      invariant(!is_consumer(node) || node->role == ROLE_REDUCE || kernel_is_tree(node));
    if (k->tasks[i] == TASK_TREE) invariant(is_made(k, kernel_combined(op, node)));
    if (k->tasks[i] != TASK_LIBRARY) continue;
    invariant(is_consumer(node));
    for (unsigned j = 0; j < node->operand_count; j++) invariant(is_made(k, node->operands[j]));
  }
  invariant(k->member_count <= op->value_count + 3 * op->node_count);
}

void fused_kernel_room(struct arena *arena, const struct superop *op, struct widths widths,
                       struct fused_kernel *k) {
  *k = (struct fused_kernel){
      .op = op, .widths = widths, .is_empty = true, .block_slots = FUSED_BLOCK_SLOTS};
  k->tasks = arena_alloc(arena, op->node_count + 1);
  k->written = arena_alloc(arena, (op->value_count + 1) * sizeof *k->written);
  k->spread = arena_alloc(arena, (op->value_count + 1) * sizeof *k->spread);
  k->read = arena_alloc(arena, (op->value_count + 1) * sizeof *k->read);
  k->reported = arena_alloc(arena, (op->value_count + 1) * sizeof *k->reported);
  stencil_room(arena, k);
  k->single = arena_alloc(arena, (op->value_count + 1) * sizeof *k->single);
  k->over = arena_alloc(arena, (op->node_count + 1) * sizeof *k->over);
  k->members =
      arena_alloc(arena, (op->value_count + 3 * op->node_count + 1) * sizeof *k->members);
}

void fused_kernel_plan(struct arena *arena, const struct superop *op, struct widths widths,
                       unsigned leave, struct fused_kernel *k) {
  fused_kernel_room(arena, op, widths, k);
  plan_consumers(k, leave);
  plan_nodes(k, leave);
  stencil_plan(arena, k);
  for (uint32_t v = 0; v < op->param_count; v++) {
    if (!k->read[v] && !k->reported[v]) continue;
    add_member(k, op->kinds[v] == SUPEROP_SEGDES ? MEMBER_SEGMENTS : MEMBER_OPERAND, v, v);
  }
  for (uint32_t v = op->param_count; v < op->value_count; v++) {
    if (k->written[v]) add_member(k, MEMBER_WRITTEN, v, v);
  }
  for (uint32_t i = 0; i < op->node_count; i++) {
    if (op->nodes[i].role == ROLE_REDUCE && k->tasks[i] == TASK_INSIDE) {
      add_member(k, MEMBER_PARTIALS, i, op->nodes[i].result);
    }
    add_tree_members(k, i);
  }
  check_plan(k);
}

/* ---- the plan and its text ---- */

struct fused_source_memory {
  struct heap heap;
  struct arena arena;
  struct text text;
};

/* FNV-1a twice, from two offsets: enough to distinguish texts that were not made to collide. */
static void make_key(const char *text, char key[40]) {
  uint64_t a = 0xcbf29ce484222325u, b = 0x84222325cbf29ce4u;
  for (const char *c = text; *c != '\0'; c++) {
    a = (a ^ (unsigned char)*c) * 0x100000001b3u;
    b = (b ^ (unsigned char)*c) * 0x100000001b3u;
  }
  snprintf(key, 40, "fused_%016" PRIx64 "%016" PRIx64, a, b);
}

static bool begin_source(struct fused_source *s) {
  *s = (struct fused_source){.memory = calloc(1, sizeof *s->memory)};
  if (s->memory == NULL) return false;
  heap_init(&s->memory->heap, 0);
  arena_init(&s->memory->arena, &s->memory->heap);
  if (text_begin(&s->memory->text, &s->memory->heap)) return true;
  fused_source_free(s);
  return false;
}

static bool end_source(struct fused_source *s) {
  if (!text_end(&s->memory->text)) {
    fused_source_free(s);
    return false;
  }
  s->text = s->memory->text.bytes;
  make_key(s->text, s->key);
  return true;
}

/* Which of the kernels of a superoperator. */
struct choice {
  bool copies;
  uint32_t number; /* of copies */
  unsigned leave;
};

static bool make_source(const struct superop *op, struct widths widths, struct choice c,
                        const char *name, struct fused_source *s) {
  if (!begin_source(s)) return false;
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    fused_source_free(s);
    return false;
  }
  if (c.copies)
    fused_copy_kernel_plan(&s->memory->arena, op, c.number, widths, &s->kernel);
  else
    fused_kernel_plan(&s->memory->arena, op, widths, c.leave, &s->kernel);
  memory_guard_end(&guard);
  if (s->kernel.is_empty) return true;
  fused_emit_kernel(&s->kernel, name, s->memory->text.stream);
  return end_source(s);
}

bool fused_source_make(const struct superop *op, struct widths widths, unsigned leave,
                       const char *name, struct fused_source *s) {
  return make_source(op, widths, (struct choice){.leave = leave}, name, s);
}

bool fused_source_make_copy(const struct superop *op, uint32_t number, struct widths widths,
                            const char *name, struct fused_source *s) {
  return make_source(op, widths, (struct choice){true, number, 0}, name, s);
}

bool fused_source_make_tree(const struct superop *op, uint32_t first, enum fused_tree which,
                            struct widths widths, const char *name, struct fused_source *s) {
  if (!begin_source(s)) return false;
  FILE *out = s->memory->text.stream;
  fused_emit_kernel_prelude(&op, 1, widths, out);
  fused_emit_tree_body(op, first, which, widths, name, out);
  fused_emit_tree_entry(name, out);
  return end_source(s);
}

void fused_source_free(struct fused_source *s) {
  text_free(&s->memory->text);
  arena_free(&s->memory->arena);
  free(s->memory);
  *s = (struct fused_source){.text = NULL};
}
