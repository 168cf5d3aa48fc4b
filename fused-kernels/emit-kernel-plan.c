/* emit-kernel-plan.c - the plan of a superoperator's kernel, from its schedule: how it runs,
 * and its arguments; and the plan together with the text.
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

static enum cvl_elem emit_kernel_plan_elem_of(struct widths w, uint8_t kind) {
  return superop_elem((enum superop_kind)kind, w.int_elem, w.float_elem);
}

uint32_t kernel_far(const struct superop_node *node) {
  return node->operands[node->role == ROLE_PICK ? 2 : node->operand_count - 2];
}

bool kernel_looks_up(const struct fused_kernel *k, uint32_t v, enum fused_task task) {
  return !(k->by_slots && v == k->op->segments) &&
         fused_schedule_looks_up(&k->schedule, v, task);
}

static void emit_kernel_plan_add_member(struct fused_kernel *k, enum fused_member_kind kind,
                                        uint32_t number, uint32_t value) {
  k->members[k->member_count++] = (struct fused_member){
      .kind = (uint8_t)kind,
      .elem = (uint8_t)emit_kernel_plan_elem_of(k->widths, k->op->kinds[value]),
      .looked_up = kind == MEMBER_SEGMENTS &&
                   (scatters_look_up(k, value) || kernel_looks_up(k, value, TASK_INSIDE) ||
                    kernel_looks_up(k, value, TASK_REPORTED)),
      .number = number};
}

static void add_tree_members(struct fused_kernel *k, uint32_t i) {
  const struct superop_node *node = &k->op->nodes[i];
  if (!fused_is_tree(node) || k->tasks[i] != TASK_INSIDE) return;
  emit_kernel_plan_add_member(k, MEMBER_TOTALS, i, node->result);
  if (node->role != ROLE_COMBINE_REDUCE) return;
  emit_kernel_plan_add_member(k, MEMBER_ROOTS, i, node->result);
  emit_kernel_plan_add_member(k, MEMBER_RESULTS, i, node->result);
}

/* Plans the work of the kernel besides maps, and how it combines: by slots or by groups. */
static void kernel_plan_nodes(struct fused_kernel *k, unsigned leave) {
  if (leave & LOOP_BIT) k->loop = leave >> NODE_SHIFT;
  for (uint32_t i = 0; i < k->op->node_count; i++) {
    const struct superop_node *node = &k->op->nodes[i];
    if (k->tasks[i] != TASK_INSIDE && k->tasks[i] != TASK_REPORTED) continue;
    if (node->role == ROLE_SCAN) {
      k->scan = i;
      k->scans_long = (leave & SCAN_LONG) != 0;
    } else if (node->role == ROLE_SCATTER) {
      k->scatter = leave >> NODE_SHIFT;
      k->claims = (leave & SCATTER_CLAIMS) != 0;
    } else if (fused_is_consumer(node))
      *(node->role == ROLE_PACK  ? &k->by_packs
        : leave & SHORT_SEGMENTS ? &k->by_groups
                                 : &k->by_slots) = true;
    invariant(!k->by_groups || !fused_is_tree(node));
    if (fused_is_tree(node)) k->block_slots = 1;
    k->is_empty &= node->role == ROLE_CONST;
  }
}

static void plan_members(struct fused_kernel *k) {
  const struct superop *op = k->op;
  for (uint32_t v = 0; v < op->value_count; v++) {
    if (!kernel_is_operand(k, v) || (!k->read[v] && !k->reported[v])) continue;
    emit_kernel_plan_add_member(
        k, op->kinds[v] == SUPEROP_SEGDES ? MEMBER_SEGMENTS : MEMBER_OPERAND, v, v);
  }
  for (uint32_t v = op->param_count; v < op->value_count; v++) {
    if (k->written[v]) emit_kernel_plan_add_member(k, MEMBER_WRITTEN, v, v);
  }
  for (uint32_t i = 0; i < op->node_count; i++) {
    if (op->nodes[i].role == ROLE_REDUCE && k->tasks[i] == TASK_INSIDE) {
      emit_kernel_plan_add_member(k, MEMBER_PARTIALS, i, op->nodes[i].result);
      if (k->by_groups) emit_kernel_plan_add_member(k, MEMBER_RESULTS, i, op->nodes[i].result);
    }
    add_tree_members(k, i);
  }
  packs_add_members(k, emit_kernel_plan_add_member);
  loops_add_members(k, emit_kernel_plan_add_member);
  scatters_add_members(k, emit_kernel_plan_add_member);
  invariant(k->member_count <= op->value_count + 3 * op->node_count + 1);
}

void fused_kernel_room(struct arena *arena, const struct superop *op, struct widths widths,
                       const struct tuning *tuning, struct fused_kernel *k) {
  *k = (struct fused_kernel){.op = op,
                             .widths = widths,
                             .tuning = tuning_complete(tuning),
                             .is_empty = true,
                             .scan = SUPEROP_NONE,
                             .scatter = SUPEROP_NONE,
                             .loop = SUPEROP_NONE};
  k->block_slots = (uint32_t)k->tuning.value[TUNE_CUDA_BLOCK_SLOTS];
  k->tasks = arena_alloc(arena, op->node_count + 1);
  k->written = arena_alloc(arena, (op->value_count + 1) * sizeof *k->written);
  k->spread = arena_alloc(arena, (op->value_count + 1) * sizeof *k->spread);
  k->read = arena_alloc(arena, (op->value_count + 1) * sizeof *k->read);
  k->reported = arena_alloc(arena, (op->value_count + 1) * sizeof *k->reported);
  stencil_room(arena, k);
  k->single = arena_alloc(arena, (op->value_count + 1) * sizeof *k->single);
  k->over = arena_alloc(arena, (op->node_count + 1) * sizeof *k->over);
  k->members =
      arena_alloc(arena, (op->value_count + 3 * op->node_count + 2) * sizeof *k->members);
}

/* Whether consumer i is another kernel's. */
static bool emit_kernel_plan_is_elsewhere(const struct superop *op, uint32_t i,
                                          unsigned leave) {
  const uint32_t its = leave >> NODE_SHIFT;
  const bool packs = op->nodes[i].role == ROLE_PACK;
  if (leave & SCAN_BIT) return i != its;
  if (leave & SCATTER_BIT) return !scatters_in_group(op, its, i);
  if (leave & LOOP_BIT) return true;
  if (leave & PACK_ONLY) return !packs;
  return (packs && leave & PACK_ELSEWHERE) || (leave & SCANS_ELSEWHERE && scans_own(op, i)) ||
         (leave & SCATTERS_ELSEWHERE && scatters_elsewhere(op, i));
}

/* Returns what the kernel that leaves this is for. */
static struct fused_target kernel_target(const struct superop *op, unsigned leave,
                                         const bool *elsewhere) {
  return (struct fused_target){
      .packs = (leave & (PACK_INSIDE | PACK_ONLY)) != 0,
      .scans = (leave & SCAN_BIT) != 0,
      .scattered = leave & SCATTER_BIT ? scatters_operands(op, leave >> NODE_SHIFT, leave) : 0,
      .leaves = (leave & (LEAVE_SPREADS | LOOP_BIT)) == LEAVE_SPREADS,
      .elsewhere = elsewhere,
      .partial = (leave & (PACK_ONLY | SCAN_BIT | SCATTER_BIT)) != 0,
      .carries = leave & LOOPS_ELSEWHERE ? loops_do_the_rest(op)
                                         : (leave & (LOOP_BIT | LOOP_LAST)) == LOOP_BIT};
}

static bool *consumers_elsewhere(struct arena *arena, const struct superop *op,
                                 unsigned leave) {
  bool *is = arena_alloc(arena, (op->node_count + 1) * sizeof *is);
  for (uint32_t i = 0; i < op->node_count; i++)
    is[i] = fused_is_consumer(&op->nodes[i]) && emit_kernel_plan_is_elsewhere(op, i, leave);
  return is;
}

/* Marks the nodes that kernels of these consumers check, so that the kernel for the rest need
 * not. */
static void checks_elsewhere(struct arena *arena, const struct superop *op, bool *is) {
  unsigned leave[FUSED_KERNELS];
  const uint32_t kernels = fused_kernels(op, leave);
  for (uint32_t i = 1; i < kernels; i++) {
    struct fused_schedule s;
    const bool *others = consumers_elsewhere(arena, op, leave[i]);
    fused_schedule_make(arena, op, kernel_target(op, leave[i], others), &s);
    for (uint32_t k = 0; k < op->node_count; k++)
      is[k] |= op->nodes[k].checked && s.tasks[k] == TASK_INSIDE;
  }
}

static const bool *elsewhere(struct arena *arena, const struct superop *op, unsigned leave) {
  bool *is = consumers_elsewhere(arena, op, leave);
  if (leave & (PACK_ELSEWHERE | SCANS_ELSEWHERE | SCATTERS_ELSEWHERE))
    checks_elsewhere(arena, op, is);
  loops_mark_elsewhere(op, leave, is);
  return is;
}

void fused_kernel_plan(struct arena *arena, const struct superop *op, struct widths widths,
                       unsigned leave, const struct tuning *tuning, struct fused_kernel *k) {
  fused_kernel_room(arena, op, widths, tuning, k);
  const struct fused_target target = kernel_target(op, leave, elsewhere(arena, op, leave));
  fused_schedule_make(arena, op, target, &k->schedule);
  k->tasks = k->schedule.tasks;
  k->written = k->schedule.written;
  k->spread = k->schedule.left;
  k->read = k->schedule.read;
  k->reported = k->schedule.reported;
  kernel_plan_nodes(k, leave);
  if (k->loop == SUPEROP_NONE) stencil_plan(arena, k);
  plan_members(k);
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

/* The choice of one of the kernels of a superoperator. */
struct choice {
  bool copies;
  uint32_t number; /* of copies */
  unsigned leave;
  const struct tuning *tuning;
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
    fused_copy_kernel_plan(&s->memory->arena, op, c.number, widths, c.tuning, &s->kernel);
  else
    fused_kernel_plan(&s->memory->arena, op, widths, c.leave, c.tuning, &s->kernel);
  memory_guard_end(&guard);
  if (s->kernel.is_empty) return true;
  fused_emit_kernel(&s->kernel, name, s->memory->text.stream);
  return end_source(s);
}

bool fused_source_make(const struct superop *op, struct widths widths, unsigned leave,
                       const struct tuning *tuning, const char *name, struct fused_source *s) {
  return make_source(op, widths, (struct choice){.leave = leave, .tuning = tuning}, name, s);
}

bool fused_source_make_copy(const struct superop *op, uint32_t number, struct widths widths,
                            const struct tuning *tuning, const char *name,
                            struct fused_source *s) {
  return make_source(op, widths, (struct choice){true, number, 0, tuning}, name, s);
}

bool fused_source_make_tree(const struct superop *op, uint32_t first, enum fused_tree which,
                            struct widths widths, const char *name, struct fused_source *s) {
  if (!begin_source(s)) return false;
  FILE *out = s->memory->text.stream;
  s->kernel.op = op;
  s->kernel.widths = widths;
  s->is_tree = true;
  s->first = first;
  s->which = which;
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

/* ---- modules ---- */

void fused_emit_source(const struct fused_source *s, FILE *out) {
  const struct fused_kernel *k = &s->kernel;
  if (s->is_tree) {
    fused_emit_tree_body(k->op, s->first, s->which, k->widths, s->key, out);
    fused_emit_tree_entry(s->key, out);
  } else {
    fused_emit_kernel_body(k, s->key, out);
    fused_emit_kernel_entry(k, s->key, out);
  }
}

static void emit_module(const struct fused_source *const *sources, uint32_t count,
                        const struct superop **ops, FILE *out) {
  for (uint32_t k = 0; k < count; k++) ops[k] = sources[k]->kernel.op;
  fused_emit_kernel_prelude(ops, count, sources[0]->kernel.widths, out);
  for (uint32_t k = 0; k < count; k++) fused_emit_source(sources[k], out);
}

char *fused_module_text(const struct fused_source *const *sources, uint32_t count) {
  char *text = NULL;
  size_t length;
  const struct superop **ops = malloc(count * sizeof *ops);
  FILE *out = ops ? open_memstream(&text, &length) : NULL;
  if (out) {
    emit_module(sources, count, ops, out);
    const bool lost = ferror(out) != 0;
    if (fclose(out) != 0 || lost) {
      free(text);
      text = NULL;
    }
  }
  free(ops);
  return text;
}
