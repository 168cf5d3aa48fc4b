/* emit-cuda.c - the kernels that the CUDA back end runs superoperators by, as a file to be
 * compiled ahead of time (vinterp --kernels).
 */
#include "fused-kernels/emit-kernel.h"
#include "fused-kernels/emit.h"

#include <string.h>

static const char file_text[] =
    "/* Made from superoperators by Ravel's optimiser, for vinterp:\n"
    " *\n"
    " *   nvcc -std=c++17 --fmad=false -arch=sm_90 -cubin -o prog.cubin prog.cu\n"
    " *   vinterp --backend cuda --kernels prog.cubin prog.fcode\n"
    " */\n";

/* Whether there is another kernel for short segments. Combinations have one for all. */
static bool emit_cuda_reduces(const struct superop *op) {
  bool any = false;
  for (uint32_t k = 0; k < op->node_count; k++) any |= op->nodes[k].role == ROLE_REDUCE;
  return any && !superop_has_combinations(op);
}

/* The keys of the kernels written so far. */
struct module {
  char (*keys)[40];
  uint32_t count;
};

/* Whether a kernel is not there; then it is noted. Superoperators may be equal but for what a
 * kernel does not see. */
static bool emit_cuda_is_new(struct module *m, const char key[40]) {
  for (uint32_t k = 0; k < m->count; k++) {
    if (strcmp(m->keys[k], key) == 0) return false;
  }
  memcpy(m->keys[m->count++], key, sizeof *m->keys);
  return true;
}

/* A kernel that the back end runs a superoperator by, under the name by which it looks for it;
 * the source is freed. */
static void module_source(struct module *m, struct fused_source *s, FILE *cu) {
  if (!s->kernel.is_empty && emit_cuda_is_new(m, s->key)) fused_emit_source(s, cu);
  fused_source_free(s);
}

static void module_kernel(struct module *m, const struct superop *op, struct widths widths,
                          unsigned leave, FILE *cu) {
  struct fused_source s;
  if (!fused_source_make(op, widths, leave, NULL, "fused", &s)) memory_failed();
  module_source(m, &s, cu);
}

static void module_copies(struct module *m, const struct superop *op, struct widths widths,
                          FILE *cu) {
  struct fused_source s;
  for (uint32_t i = 0; fused_copy_is_fit(op) && i < fused_copy_kernels(op); i++) {
    if (!fused_source_make_copy(op, i, widths, NULL, "fused", &s)) memory_failed();
    module_source(m, &s, cu);
  }
}

static void module_tree(struct module *m, const struct superop *op, uint32_t first,
                        enum fused_tree which, struct widths widths, FILE *cu) {
  struct fused_source s;
  if (!fused_source_make_tree(op, first, which, widths, "fused", &s)) memory_failed();
  module_source(m, &s, cu);
}

/* The kernels of combinations. */
static void module_trees(struct module *m, const struct superop *op, struct widths widths,
                         FILE *cu) {
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (op->nodes[k].role != ROLE_COLUMN || (k > 0 && op->nodes[k - 1].role == ROLE_COLUMN))
      continue;
    module_tree(m, op, k, TREE_UP, widths, cu);
    if (op->nodes[superop_combination_at(op, k).ends].role == ROLE_COMBINE_SCAN)
      module_tree(m, op, k, TREE_DOWN, widths, cu);
  }
}

void fused_emit_cuda(struct arena *arena, const struct superop *const *ops, uint32_t count,
                     struct widths widths, FILE *cu) {
  size_t most = 0;
  for (uint32_t i = 0; i < count; i++)
    most += 3 + FUSED_LOOPS + 2 * FUSED_SCANS + 2 * (size_t)ops[i]->node_count;
  struct module m = {arena_alloc(arena, (most + 1) * sizeof *m.keys), 0};
  fputs(file_text, cu);
  fused_emit_kernel_prelude(ops, count, widths, cu);
  for (uint32_t i = 0; i < count; i++) {
    if (fused_has_too_many_loops(ops[i])) continue; /* superop_run executes them */
    if (ops[i]->copies) {
      module_copies(&m, ops[i], widths, cu);
      continue;
    }
    unsigned leave[FUSED_KERNELS];
    const uint32_t kernels = fused_kernels(ops[i], leave);
    for (uint32_t k = 0; k < kernels; k++) {
      module_kernel(&m, ops[i], widths, LEAVE_SPREADS | leave[k], cu);
      if (leave[k] & SCAN_BIT)
        module_kernel(&m, ops[i], widths, LEAVE_SPREADS | SCAN_LONG | leave[k], cu);
    }
    if (emit_cuda_reduces(ops[i]))
      module_kernel(&m, ops[i], widths, LEAVE_SPREADS | SHORT_SEGMENTS | leave[0], cu);
    module_trees(&m, ops[i], widths, cu);
  }
}
