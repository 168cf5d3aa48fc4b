/* fused-compiled.c - see fused-compiled.h. */
#include "cvl-cpu/fused-compiled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cvl-cpu/compile.h"
#include "fused-kernels/emit.h"

struct stage {
  fused_block *run;
  const uint32_t *read, *written, *checked, *gathers; /* values, values, nodes, nodes */
  uint32_t read_count, written_count, checked_count, gather_count;
  bool skipped; /* in affine runs of this run */
};

/* The last stage with reductions. */
struct fold {
  fused_fold *run;
  const uint32_t *read; /* the values it reads, but not those that are spread */
  const uint32_t *same; /* nodes: the DISTs whose results it reads */
  uint32_t read_count, same_count;
  bool alone; /* a block has no other steps and no other results */
  bool *only; /* of each node: whether it is a DIST whose result has no other use */
};

/* As fused_emit_loop says. */
typedef bool loop_block(uint64_t n, const void *const *in, void *const *out,
                        bool (*asks)(void *), void *with);

struct fused_compiled {
  struct cvl_kernel *k;
  struct arena arena;
  struct fused_functions functions;
  struct stage *stages;
  struct fold fold;
  loop_block **loops;                  /* of the first node of each */
  struct order_compiled *combinations; /* likewise */
  struct compiled_code *code;
  bool loaded, in_one;
  uint32_t slots;
};

bool fused_compiled_does(const struct fused_compiled *f, uint32_t node) {
  return fused_blocks_have(f->k->op, &f->functions.blocks, node);
}

static bool of_stage(const struct fused_compiled *f, uint32_t node, uint32_t stage) {
  return fused_compiled_does(f, node) && f->functions.blocks.stage[node] == stage;
}

/* A DIST of a CONST is a constant of the compiled text. */
static bool is_constant(const struct superop *op, uint32_t value) {
  if (value < op->param_count) return false;
  for (uint32_t n = 0; n < op->node_count; n++) {
    const struct superop_node *node = &op->nodes[n];
    if (node->result != value || node->role != ROLE_SPREAD) continue;
    const uint32_t from = node->operands[0];
    for (uint32_t i = 0; i < op->node_count; i++) {
      if (op->nodes[i].result == from && op->nodes[i].role == ROLE_CONST) return true;
    }
  }
  return false;
}

/* Finds what the function of a stage reads and writes, and which of its nodes may fail. */
static void describe(struct fused_compiled *f, uint32_t number) {
  const struct superop *op = f->k->op;
  struct stage *s = &f->stages[number];
  bool *reads = arena_alloc(&f->arena, op->value_count);
  uint32_t *read = arena_alloc(&f->arena, op->value_count * sizeof *read);
  uint32_t *written = arena_alloc(&f->arena, op->node_count * sizeof *written);
  uint32_t *checked = arena_alloc(&f->arena, op->node_count * sizeof *checked);
  uint32_t *gathers = arena_alloc(&f->arena, op->node_count * sizeof *gathers);
  for (uint32_t n = 0; n < op->node_count; n++) {
    const struct superop_node *node = &op->nodes[n];
    if (!of_stage(f, n, number)) continue;
    if (node->result_count > 0 && f->functions.blocks.written[node->result]) {
      written[s->written_count++] = node->result;
    }
    if (node->checked) checked[s->checked_count++] = n;
    if (node->role == ROLE_GATHER) gathers[s->gather_count++] = n;
    for (unsigned i = 0; i < node->operand_count; i++) {
      if (fused_blocks_read(node, i)) reads[node->operands[i]] = true;
    }
  }
  for (uint32_t v = 0; v < op->value_count; v++) {
    const uint32_t definition = f->k->values[v].node;
    if (!reads[v] || is_constant(op, v)) continue;
    if (definition != SUPEROP_NONE && of_stage(f, definition, number)) continue;
    f->k->values[v].read_by_blocks = true;
    read[s->read_count++] = v;
  }
  s->read = read;
  s->written = written;
  s->checked = checked;
  s->gathers = gathers;
}

/* Whether the fold reads value v, which it does not compute. */
static bool fold_reads(const struct fused_compiled *f, uint32_t v) {
  const struct superop *op = f->k->op;
  const uint32_t definition = f->k->values[v].node, last = f->functions.blocks.stage_count - 1;
  if (is_constant(op, v) || (definition != SUPEROP_NONE && of_stage(f, definition, last)))
    return false;
  for (uint32_t n = 0; n < op->node_count; n++) {
    const struct superop_node *node = &op->nodes[n];
    if (node->role == ROLE_REDUCE && node->operands[0] == v) return true;
  }
  const struct stage *s = &f->stages[last];
  for (uint32_t i = 0; i < s->read_count; i++) {
    if (s->read[i] == v) return true;
  }
  return false;
}

/* Whether the fold is the only elementwise use of value v. */
static bool only_fold_reads(const struct fused_compiled *f, uint32_t v) {
  const struct superop *op = f->k->op;
  if (f->k->values[v].is_output) return false;
  for (uint32_t n = 0; n < op->node_count; n++) {
    const struct superop_node *node = &op->nodes[n];
    if (node->role == ROLE_REDUCE || of_stage(f, n, f->functions.blocks.stage_count - 1))
      continue;
    for (unsigned i = 0; i < node->operand_count; i++) {
      if (node->operands[i] == v) return false;
    }
  }
  return true;
}

/* Whether the fold is the only step (so there is one stage), and needs no buffers. */
static bool folds_alone(const struct fused_compiled *f) {
  const struct cvl_kernel *k = f->k;
  if (fused_hands_on(k) || k->combination_count > 0) return false;
  for (uint32_t i = 0; i < k->step_count; i++) {
    const uint32_t n = k->steps[i];
    const struct fused_value *v = fused_result(k, n);
    if (v && (v->is_output || v->scattered)) return false;
    const bool constant = v && is_constant(k->op, k->op->nodes[n].result);
    if (v && !constant && !fused_compiled_does(f, n) && !f->fold.only[n]) return false;
  }
  return true;
}

static void describe_fold(struct fused_compiled *f) {
  const struct superop *op = f->k->op;
  uint32_t *read = arena_alloc(&f->arena, op->value_count * sizeof *read);
  uint32_t *same = arena_alloc(&f->arena, op->node_count * sizeof *same);
  f->fold.only = arena_alloc(&f->arena, op->node_count);
  f->fold.read = read;
  f->fold.same = same;
  for (uint32_t v = 0; v < op->value_count && f->functions.folds; v++) {
    const uint32_t definition = f->k->values[v].node;
    if (!fold_reads(f, v)) continue;
    if (!f->functions.spread[v]) {
      read[f->fold.read_count++] = v;
    } else {
      same[f->fold.same_count++] = definition;
      f->fold.only[definition] = only_fold_reads(f, v);
    }
  }
  f->fold.alone = f->functions.folds && folds_alone(f);
}

/* Each value has its own strip buffer: without the intermediate values there are few. */
static void assign_slots(struct fused_compiled *f) {
  const struct superop *op = f->k->op;
  for (uint32_t i = 0; i < f->k->step_count; i++) {
    const uint32_t n = f->k->steps[i];
    struct fused_value *v = fused_result(f->k, n);
    if (!v || v->buffer != IN_STRIP) continue;
    if (!fused_compiled_does(f, n) || f->functions.blocks.written[op->nodes[n].result]) {
      v->compiled_slot = f->slots++;
    }
  }
}

static bool plan(struct fused_compiled *f) {
  if (!fused_functions_plan(&f->arena, f->k->op, f->in_one, &f->functions)) return false;
  f->loops = arena_alloc(&f->arena, (f->k->op->node_count + 1) * sizeof *f->loops);
  f->combinations =
      arena_alloc(&f->arena, (f->k->op->node_count + 1) * sizeof *f->combinations);
  f->stages = arena_alloc(&f->arena, f->functions.blocks.stage_count * sizeof *f->stages);
  for (uint32_t s = 0; s < f->functions.blocks.stage_count; s++) describe(f, s);
  describe_fold(f);
  assign_slots(f);
  return true;
}

/* Plans the functions; false if there are none, or no memory. */
static bool make(struct fused_compiled *f) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return false;
  const bool made = plan(f);
  memory_guard_end(&guard);
  return made;
}

bool fused_compiled_suits(const struct fused_compiled *f) {
  return !f->in_one || f->k->in_one;
}

struct fused_compiled *fused_compiled_new(struct cvl_kernel *k, bool in_one) {
  if (!k->c->compile_cache) return NULL;
  struct fused_compiled *f = heap_alloc(&k->c->heap, sizeof *f);
  if (!f) return NULL;
  memset(f, 0, sizeof *f);
  f->k = k;
  f->in_one = in_one && fused_functions_gather(k->op);
  arena_init(&f->arena, &k->c->heap);
  struct text text;
  if (make(f) && text_begin(&text, &k->c->heap)) {
    const struct widths widths = {k->c->int_elem, k->c->float_elem};
    fused_emit_functions(k->op, &f->functions, widths, text.stream);
    if (text_end(&text)) f->code = compile_source(k->c->compile_cache, text.bytes, text.length);
    text_free(&text);
  }
  if (f->code) return f;
  fused_compiled_free(f);
  return NULL;
}

void fused_compiled_free(struct fused_compiled *f) {
  if (!f) return;
  compiled_free(f->code);
  arena_free(&f->arena);
  heap_free(&f->k->c->heap, f, sizeof *f);
}

bool fused_compiled_cached(const struct fused_compiled *f) {
  return compiled_cached(f->code);
}

bool fused_compiled_failed(const struct fused_compiled *f) {
  return compiled_failed(f->code);
}

/* The function of this name, at `to`. */
static bool load(struct fused_compiled *f, const char *name, void *to) {
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
  return load(f, apply, &c->apply) && load(f, reduce, &c->reduce) &&
         load(f, roots, &c->roots) && load(f, scan, &c->scan);
}

const struct order_compiled *fused_compiled_combination(const struct fused_compiled *f,
                                                        uint32_t node) {
  return &f->combinations[node];
}

bool fused_compiled_ready(struct fused_compiled *f) {
  if (f->loaded) return true;
  if (!compiled_ready(f->code)) return false;
  for (uint32_t s = 0; s < f->functions.blocks.stage_count; s++) {
    char name[32];
    snprintf(name, sizeof name, "block%u", s);
    if (!load(f, name, &f->stages[s].run)) return false;
  }
  for (uint32_t n = 0; n < f->k->op->node_count; n++) {
    char name[32];
    if (fused_begins_combination(f->k->op, n) && !load_combination(f, n)) return false;
    if (!fused_begins_loop(f->k->op, n)) continue;
    snprintf(name, sizeof name, "loop%u", n);
    if (!load(f, name, &f->loops[n])) return false;
  }
  if (f->functions.folds && !load(f, "fold", &f->fold.run)) return false;
  f->loaded = true;
  return true;
}

uint32_t fused_compiled_slots(const struct fused_compiled *f) {
  return f->slots;
}

/* ---- affine runs ---- */

void fused_compiled_skip_all(struct fused_compiled *f) {
  for (uint32_t s = 0; s < f->functions.blocks.stage_count; s++) {
    f->stages[s].skipped = f->stages[s].checked_count == 0;
  }
}

bool fused_compiled_keep(struct fused_compiled *f) {
  bool changed = false;
  for (uint32_t s = 0; s < f->functions.blocks.stage_count; s++) {
    struct stage *stage = &f->stages[s];
    const bool before = stage->skipped;
    for (uint32_t i = 0; i < stage->written_count; i++) {
      stage->skipped &= f->k->nodes[f->k->values[stage->written[i]].node].skipped;
    }
    changed |= stage->skipped != before;
  }
  return changed;
}

bool fused_compiled_skips(const struct fused_compiled *f, uint32_t node) {
  return !fused_compiled_does(f, node) || f->stages[f->functions.blocks.stage[node]].skipped;
}

/* ---- running ---- */

/* Runs the loop that begins with node n. If it is stopped, unfinished results are 0. */
static void run_loop(struct fused_worker *w, uint32_t number, uint64_t first, uint64_t n) {
  struct cvl_kernel *k = w->k;
  const struct superop_loop l = superop_loop_at(k->op, number);
  for (uint32_t i = 0; i < l.count; i++) {
    const uint32_t from = k->op->nodes[l.first + i].operands[0];
    const uint32_t to = k->op->nodes[l.next + i].result;
    w->in[from] = fused_at(w, &k->values[from], first);
    w->out[to] = fused_at(w, &k->values[to], first);
  }
  /* A loop on the results of a faulting node might not end. */
  const bool sound = atomic_load_explicit(&k->failed, memory_order_relaxed) > l.test;
  const struct cvl_stop *stop = &k->c->stop;
  if (sound && k->compiled->loops[number](n, w->in, w->out, stop->asks, stop->with)) return;
  if (sound) fused_note(k, l.test, first);
  for (uint32_t i = l.next; i <= l.last; i++) {
    const uint32_t to = k->op->nodes[i].result;
    memset(w->out[to], 0, n * k->values[to].bytes);
  }
}

static void other_steps(struct fused_worker *w, uint32_t stage, uint64_t first, uint64_t n) {
  const struct cvl_kernel *k = w->k;
  const struct fused_steps steps = fused_steps_here(w);
  for (uint32_t i = steps.first; i < steps.end; i++) {
    const uint32_t number = steps.numbers[i];
    if (k->compiled->functions.blocks.stage[number] != stage) continue;
    if (fused_begins_loop(k->op, number)) run_loop(w, number, first, n);
    if (k->compiled->functions.blocks.looped[number]) continue;
    if (w->folding && k->compiled->fold.only[number]) continue;
    if (k->has_affine_runs && fused_affine_has(w, number, first, n)) continue;
    const uint64_t done = fused_step(w, number, first, n);
    if (done == n) continue;
    fused_remember(w, number, first, first + done);
    const struct fused_value *v = &k->values[k->op->nodes[number].result];
    memset(fused_at(w, v, first), 0, n * v->bytes);
  }
}

static void read_values(struct fused_worker *w, const uint32_t *values, uint32_t count,
                        uint64_t first) {
  for (uint32_t i = 0; i < count; i++) {
    w->in[values[i]] = fused_at(w, &w->k->values[values[i]], first);
  }
}

/* Where the gathers of a stage read. Of no elements a zero is the first. */
static void read_sources(struct fused_worker *w, const struct stage *s) {
  static const uint64_t zero = 0;
  for (uint32_t i = 0; i < s->gather_count; i++) {
    const struct cvl_kernel *k = w->k;
    const struct fused_node *p = &k->nodes[s->gathers[i]];
    struct fused_gathered *from = &w->sources[s->gathers[i]];
    from->values = p->far.total > 0 ? p->values : &zero;
    from->count = p->far.total;
    w->in[k->op->nodes[s->gathers[i]].result] = from;
  }
}

static void remember_faults(struct fused_worker *w, const struct stage *s, uint64_t first) {
  for (uint32_t i = 0; i < s->checked_count; i++) {
    const uint64_t position = w->block_faults[s->checked[i]];
    if (position != UINT64_MAX) fused_remember(w, s->checked[i], first, first + position);
  }
}

static void run_fold(struct fused_worker *w, uint64_t first, uint64_t n, bool begin,
                     bool whole) {
  const struct cvl_kernel *k = w->k;
  const struct fold *fold = &k->compiled->fold;
  read_values(w, fold->read, fold->read_count, first);
  read_sources(w, &k->compiled->stages[k->compiled->functions.blocks.stage_count - 1]);
  for (uint32_t i = 0; i < fold->same_count; i++) {
    w->in[k->op->nodes[fold->same[i]].result] = w->same[i];
  }
  fold->run(n, w->in, w->out, w->block_faults, w->lanes, begin, whole);
}

static void run_stage(struct fused_worker *w, uint32_t number, uint64_t first, uint64_t n) {
  const struct cvl_kernel *k = w->k;
  const struct stage *s = &k->compiled->stages[number];
  if (k->has_affine_runs && s->skipped && w->skipping) return;
  for (uint32_t i = 0; i < s->written_count; i++) {
    w->out[s->written[i]] = fused_at(w, &k->values[s->written[i]], first);
  }
  if (w->folding && number + 1 == k->compiled->functions.blocks.stage_count) {
    run_fold(w, first, n, first == w->origin[IN_TILE], false);
  } else {
    read_values(w, s->read, s->read_count, first);
    read_sources(w, s);
    s->run(n, w->in, w->out, w->block_faults);
  }
  remember_faults(w, s, first);
}

bool fused_compiled_folds_alone(const struct cvl_kernel *k) {
  return k->runs_compiled && k->compiled->fold.alone;
}

bool fused_compiled_fold_blocks(struct fused_worker *w, uint64_t first, uint64_t n) {
  run_fold(w, first, n, true, true);
  remember_faults(w, &w->k->compiled->stages[0], first);
  return atomic_load_explicit(&w->k->failed, memory_order_relaxed) == FUSED_NONE;
}

bool fused_compiled_fold_begin(struct fused_worker *w, uint64_t first, uint64_t n) {
  const struct cvl_kernel *k = w->k;
  if (!k->runs_compiled || !k->compiled->functions.folds) return false;
  if (k->has_affine_runs && fused_affine_run(w, first, n) < n) return false;
  const struct fold *fold = &k->compiled->fold;
  bool all_same = true;
  for (uint32_t i = 0; i < fold->same_count; i++) {
    const uint32_t number = fold->same[i];
    const struct fused_node *p = &k->nodes[number];
    const struct fused_value *v = &k->values[k->op->nodes[number].result];
    if (v->storage == UNIFORM) {
      w->same[i] = v->one;
    } else if (p->action == ACT_DIST) {
      const uint64_t segment = walk_to(&w->walks[p->walk], &p->near, first);
      all_same &= segment_start(&p->near, segment + 1) - first >= n;
      w->same[i] = (const char *)p->values + segment * v->bytes;
    } else {
      all_same = false;
    }
  }
  w->folding = all_same;
  return all_same;
}

void fused_compiled_fold_end(struct fused_worker *w, uint64_t first, uint64_t n) {
  const struct fused_compiled *f = w->k->compiled;
  w->folding = false;
  for (uint32_t i = 0; i < f->fold.same_count; i++) {
    const struct fused_node *p = &w->k->nodes[f->fold.same[i]];
    if (p->action == ACT_DIST) w->walks[p->walk].position = first + n;
  }
}

void fused_compiled_strip(struct fused_worker *w, uint64_t first, uint64_t n) {
  const uint32_t stages = w->k->compiled->functions.blocks.stage_count;
  fused_prefetch_begin(w, 2 * stages + 1);
  for (uint32_t s = 0; s < stages; s++) {
    fused_prefetch(w, 2 * s + 1);
    other_steps(w, s, first, n);
    fused_prefetch(w, 2 * s + 2);
    run_stage(w, s, first, n);
  }
  fused_prefetch(w, 2 * stages + 1);
  other_steps(w, stages, first, n);
}
