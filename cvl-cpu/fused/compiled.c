/* compiled.c - see compiled.h. */
#include "cvl-cpu/fused/compiled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cvl-cpu/compile/ahead.h"
#include "cvl-cpu/compile/compile.h"
#include "cvl-cpu/fused/ranges.h"
#include "cvl-cpu/fused/strip.h"
#include "cvl-cpu/fused/worker.h"
#include "fused-kernels/emit.h"

struct fused_compiled {
  struct cvl_kernel *k;
  struct arena arena;
  struct fused_functions functions;
  uint32_t *touched; /* values whose elements the function of tiles may touch */
  uint32_t
      *walking; /* nodes that it executes outside stages, and gathers and INDEXes of these */
  uint32_t touched_count, walking_count;
  kernel_range_function *range;
  tile_function *tile;
  struct order_compiled *combinations; /* of the first node of each */
  struct compiled_code *code;
  bool loaded, flat;
  uint32_t slots;
};

bool fused_compiled_does(const struct fused_compiled *f, uint32_t node) {
  return f->functions.schedule.tasks[node] == TASK_INSIDE;
}

/* Whether the function of a stage reads a value. A DIST of a CONST is a constant of its text.
 */
static bool stage_reads(const struct fused_compiled *f, uint32_t stage, uint32_t v) {
  const uint32_t from = f->functions.schedule.definitions[v];
  return fused_schedule_reads(&f->functions.schedule, stage, v) &&
         !(from != SUPEROP_NONE && fused_is_constant(f->k->op, &f->k->op->nodes[from]));
}

/* Marks the values that the function of a stage reads, and does not compute. */
static void mark_read(const struct fused_compiled *f, uint32_t stage) {
  for (uint32_t v = 0; v < f->k->op->value_count; v++) {
    if (stage_reads(f, stage, v) && !fused_schedule_computes(&f->functions.schedule, stage, v))
      f->k->values[v].read_by_blocks = true;
  }
}

/* Whether reductions, combinations or scans read a value tile by tile, or chunk by chunk. */
static uint8_t buffer_of(const struct superop *op, uint32_t v) {
  uint8_t buffer = IN_STRIP;
  for (uint32_t n = 0; n < op->node_count; n++) {
    const struct superop_node *node = &op->nodes[n];
    if (node->operand_count == 0 || node->operands[0] != v) continue;
    if (node->role == ROLE_SCAN) return IN_CHUNK;
    if (node->role == ROLE_REDUCE) buffer = IN_TILE;
  }
  return buffer;
}

/* Packs take strips. */
static void choose_buffers(struct fused_compiled *f) {
  const struct superop *op = f->k->op;
  for (uint32_t v = 0; v < op->value_count; v++) {
    struct fused_value *value = &f->k->values[v];
    value->compiled_buffer = superop_has_combinations(op) ? value->buffer : buffer_of(op, v);
  }
}

static void find_walking(struct fused_compiled *f) {
  const uint32_t count = f->k->op->node_count;
  f->walking = arena_alloc(&f->arena, (count + 1) * sizeof *f->walking);
  for (uint32_t n = 0; n < count; n++) {
    if (fused_tile_walks(&f->functions, n)) f->walking[f->walking_count++] = n;
  }
}

/* The values that stages read or write, that are filled, and that packs and so on take. */
static void find_touched(struct fused_compiled *f) {
  const struct superop *op = f->k->op;
  bool *touched = arena_alloc(&f->arena, op->value_count + 1);
  for (uint32_t v = 0; v < op->value_count; v++)
    touched[v] = f->k->values[v].read_by_blocks || f->functions.schedule.written[v];
  for (uint32_t n = 0; n < op->node_count; n++) {
    const struct superop_node *node = &op->nodes[n];
    if (node->role == ROLE_PACK) touched[node->operands[0]] = touched[node->operands[1]] = true;
    const bool gathers = node->role == ROLE_GATHER || node->role == ROLE_PICK;
    if (!gathers && node->role != ROLE_SPREAD && node->role != ROLE_INDEX) continue;
    if (fused_compiled_does(f, n) || !fused_tile_walks(&f->functions, n)) continue;
    touched[node->result] = true;
    if (gathers) touched[node->operands[1]] = true;
  }
  f->touched = arena_alloc(&f->arena, (op->value_count + 1) * sizeof *f->touched);
  for (uint32_t v = 0; v < op->value_count; v++) {
    if (touched[v]) f->touched[f->touched_count++] = v;
  }
  find_walking(f);
}

/* Each value has its own strip buffer (one of a tile's that the evaluator keeps for a chunk
 * gets one of those): without the intermediate values there are few. */
static void compiled_assign_slots(struct fused_compiled *f) {
  const struct superop *op = f->k->op;
  for (uint32_t i = 0; i < f->k->step_count; i++) {
    const uint32_t n = f->k->steps[i];
    struct fused_value *v = fused_result(f->k, n);
    if (v && v->compiled_buffer == IN_TILE && v->buffer != IN_TILE)
      v->slot = f->k->tile_slots++;
    if (!v || v->compiled_buffer != IN_STRIP) continue;
    if (!fused_compiled_does(f, n) || f->functions.schedule.written[op->nodes[n].result]) {
      v->compiled_slot = f->slots++;
    }
  }
}

static bool plan_ranges(struct fused_compiled *f) {
  const size_t bytes = f->k->op->param_count * sizeof *f->k->one;
  bool *one = memcpy(arena_alloc(&f->arena, bytes + 1), f->k->one, bytes);
  return fused_ranges_plan(&f->arena, f->k->op, one, &f->functions);
}

static bool compiled_plan(struct fused_compiled *f) {
  if (plan_ranges(f)) return true;
  if (!fused_functions_plan(&f->arena, f->k->op, f->flat, &f->functions)) return false;
  f->combinations =
      arena_alloc(&f->arena, (f->k->op->node_count + 1) * sizeof *f->combinations);
  for (uint32_t v = 0; v < f->k->op->value_count; v++) f->k->values[v].read_by_blocks = false;
  choose_buffers(f);
  for (uint32_t s = 0; s < f->functions.schedule.stage_count; s++) mark_read(f, s);
  find_touched(f);
  compiled_assign_slots(f);
  return true;
}

/* Plans the functions; false if there are none, or no memory. */
static bool compiled_make(struct fused_compiled *f) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return false;
  const bool made = compiled_plan(f);
  memory_guard_end(&guard);
  return made;
}

bool fused_compiled_suits(const struct fused_compiled *f) {
  if (f->functions.ranges) return fused_ranges_suit(f->k);
  return !f->flat || f->k->run.flat;
}

/* Planned functions, without code. */
static struct fused_compiled *planned(struct cvl_kernel *k, bool flat) {
  struct fused_compiled *f = heap_alloc(k->c->heap, sizeof *f);
  if (!f) return NULL;
  memset(f, 0, sizeof *f);
  f->k = k;
  f->flat = flat && fused_functions_differ(k->op);
  arena_init(&f->arena, k->c->heap);
  if (compiled_make(f)) return f;
  fused_compiled_free(f);
  return NULL;
}

struct fused_compiled *fused_compiled_copy(struct cvl_kernel *k,
                                           const struct fused_compiled *of) {
  struct fused_compiled *f = planned(k, of->flat);
  if (f) f->code = compiled_retain(of->code);
  return f;
}

/* Writes the functions, whose names begin with the prefix; without one, all that they depend
 * on. False without memory. */
static bool write_functions(struct fused_compiled *f, const char *prefix, struct text *text) {
  const struct widths widths = {f->k->c->int_elem, f->k->c->float_elem};
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return false;
  if (*prefix)
    fused_emit_named(&f->arena, &f->functions, widths, prefix, text->stream);
  else
    fused_emit_functions(&f->arena, &f->functions, widths, text->stream);
  memory_guard_end(&guard);
  return true;
}

/* A function for ranges that a file compiled ahead of time has not got is not compiled: one
 * that suits any descriptors is in it. */
static bool is_missing(const struct fused_compiled *f, const char *prefix) {
  if (!f->functions.ranges || !f->k->c->ahead || ahead_has(f->k->c->ahead, prefix))
    return false;
  bool some = false;
  for (uint32_t p = 0; p < f->k->op->param_count; p++) some |= f->functions.one[p];
  return some;
}

/* The code of planned functions; NULL: no memory, no compiler, or it is missing. Their names
 * begin with what their text alone would be found by. */
static struct compiled_code *code_of(struct fused_compiled *f) {
  const struct cvl_context *c = f->k->c;
  char prefix[FUSED_NAME_MAX];
  struct compiled_code *code = NULL;
  struct text text;
  if (!text_begin(&text, c->heap)) return NULL;
  if (write_functions(f, "", &text) && text_flush(&text)) {
    fused_functions_prefix(text.bytes, text.length, prefix);
    text_clear(&text);
    if (!is_missing(f, prefix) && write_functions(f, prefix, &text) && text_end(&text))
      code = compile_text(c->compile_cache, prefix, text.bytes, text.length);
  }
  text_free(&text);
  return code;
}

static struct fused_compiled *planned_with_code(struct cvl_kernel *k, bool flat) {
  struct fused_compiled *f = k->c->compile_cache ? planned(k, flat) : NULL;
  if (!f) return NULL;
  f->code = code_of(f);
  if (f->code) return f;
  fused_compiled_free(f);
  return NULL;
}

struct fused_compiled *fused_compiled_new(struct cvl_kernel *k, bool flat) {
  struct fused_compiled *f = planned_with_code(k, flat);
  if (f || !k->c->ahead) return f;
  memset(k->one, 0, k->op->param_count * sizeof *k->one);
  return planned_with_code(k, flat);
}

void fused_compiled_free(struct fused_compiled *f) {
  if (!f) return;
  compiled_free(f->code);
  arena_free(&f->arena);
  heap_free(f->k->c->heap, f, sizeof *f);
}

bool fused_compiled_cached(const struct fused_compiled *f) {
  return compiled_cached(f->code);
}

bool fused_compiled_failed(const struct fused_compiled *f) {
  return compiled_failed(f->code);
}

bool fused_compiled_unasked(const struct fused_compiled *f) {
  return compiled_unasked(f->code);
}

bool fused_compiled_owed(const struct fused_compiled *f) {
  return compiled_owed(f->code);
}

void fused_compiled_spent(struct fused_compiled *f, double seconds) {
  compiled_spent(f->code, seconds);
}

/* The function of this name, at `to`. */
static bool compiled_load(struct fused_compiled *f, const char *name, void *to) {
  void *function = compiled_function(f->code, name);
  if (function) memcpy(to, &function, sizeof function); /* as POSIX means it */
  return function != NULL;
}

static bool load_combination(struct fused_compiled *f, uint32_t node) {
  struct order_compiled *c = &f->combinations[node];
  char apply[32], reduce[32], roots[32], scan[32];
  snprintf(apply, sizeof apply, "combine%u_apply", node);
  snprintf(reduce, sizeof reduce, "combine%u_reduce", node);
  snprintf(roots, sizeof roots, "combine%u_roots", node);
  snprintf(scan, sizeof scan, "combine%u_scan", node);
  return compiled_load(f, apply, &c->apply) && compiled_load(f, reduce, &c->reduce) &&
         compiled_load(f, roots, &c->roots) && compiled_load(f, scan, &c->scan);
}

const struct order_compiled *fused_compiled_combination(const struct fused_compiled *f,
                                                        uint32_t node) {
  return &f->combinations[node];
}

bool fused_compiled_ready(struct fused_compiled *f) {
  if (f->loaded) return true;
  if (!compiled_ready(f->code)) return false;
  if (f->functions.ranges) return f->loaded = compiled_load(f, "range", &f->range);
  if (!compiled_load(f, "tile", &f->tile)) return false;
  for (uint32_t n = 0; n < f->k->op->node_count; n++) {
    if (fused_begins_combination(f->k->op, n) && !load_combination(f, n)) return false;
  }
  f->loaded = true;
  return true;
}

uint32_t fused_compiled_slots(const struct fused_compiled *f) {
  return f->slots;
}

/* ---- running ---- */

kernel_range_function *fused_compiled_range(const struct fused_compiled *f) {
  return f->range;
}

const struct fused_functions *fused_compiled_functions(const struct fused_compiled *f) {
  return &f->functions;
}

tile_function *fused_compiled_tile(const struct fused_compiled *f) {
  return f->tile;
}

const uint32_t *fused_compiled_walking(const struct fused_compiled *f, uint32_t *count) {
  *count = f->walking_count;
  return f->walking;
}

const uint32_t *fused_compiled_touched(const struct fused_compiled *f, uint32_t *count) {
  *count = f->touched_count;
  return f->touched;
}
