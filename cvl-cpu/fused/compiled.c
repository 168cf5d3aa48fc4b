/* compiled.c - see compiled.h. */
#include "cvl-cpu/fused/compiled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cvl-cpu/compile/ahead.h"
#include "cvl-cpu/compile/compile.h"
#include "fused-kernels/emit.h"

struct fused_compiled {
  struct cvl_kernel *k;
  struct arena arena;
  struct fused_functions functions;
  kernel_range_function *range;
  struct order_compiled *combinations; /* of the first node of each */
  struct compiled_code *code;
  bool loaded;
};

static bool compiled_plan(struct fused_compiled *f, const bool *for_one) {
  const struct cvl_kernel *k = f->k;
  const size_t bytes = k->op->param_count * sizeof *for_one;
  const bool *one = memcpy(arena_alloc(&f->arena, bytes + 1), for_one, bytes);
  f->combinations = arena_alloc(&f->arena, (k->op->node_count + 1) * sizeof *f->combinations);
  return fused_functions_plan(&f->arena, k->op, one, &f->functions);
}

/* Plans the functions; false if there are none, or no memory. */
static bool compiled_make(struct fused_compiled *f, const bool *one) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return false;
  const bool made = compiled_plan(f, one);
  memory_guard_end(&guard);
  return made;
}

/* Planned functions, without code. */
static struct fused_compiled *planned(struct cvl_kernel *k, const bool *one) {
  struct fused_compiled *f = heap_alloc(k->c->heap, sizeof *f);
  if (!f) return NULL;
  memset(f, 0, sizeof *f);
  f->k = k;
  arena_init(&f->arena, k->c->heap);
  if (compiled_make(f, one)) return f;
  fused_compiled_free(f);
  return NULL;
}

struct fused_compiled *fused_compiled_copy(struct cvl_kernel *k,
                                           const struct fused_compiled *of) {
  struct fused_compiled *f = planned(k, of->functions.one);
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
  if (!f->k->c->ahead || ahead_has(f->k->c->ahead, prefix)) return false;
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

static struct fused_compiled *planned_with_code(struct cvl_kernel *k) {
  struct fused_compiled *f = k->c->compile_cache ? planned(k, k->one) : NULL;
  if (!f) return NULL;
  f->code = code_of(f);
  if (f->code) return f;
  fused_compiled_free(f);
  return NULL;
}

struct fused_compiled *fused_compiled_new(struct cvl_kernel *k) {
  struct fused_compiled *f = planned_with_code(k);
  if (f || !k->c->ahead) return f;
  memset(k->one, 0, k->op->param_count * sizeof *k->one);
  return planned_with_code(k);
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
  if (!compiled_load(f, "range", &f->range)) return false;
  for (uint32_t n = 0; n < f->k->op->node_count; n++) {
    if (fused_begins_combination(f->k->op, n) && !load_combination(f, n)) return false;
  }
  f->loaded = true;
  return true;
}

/* ---- running ---- */

kernel_range_function *fused_compiled_range(const struct fused_compiled *f) {
  return f->range;
}

const struct fused_functions *fused_compiled_functions(const struct fused_compiled *f) {
  return &f->functions;
}
