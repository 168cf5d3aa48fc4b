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

static bool reduces(const struct superop *op) {
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (op->nodes[k].role == ROLE_REDUCE) return true;
  }
  return false;
}

/* The keys of the kernels written so far. */
struct module {
  char (*keys)[40];
  uint32_t count;
};

/* One of the kernels that the back end runs a superoperator by, under the name by which it
 * looks for it; once, though superoperators may be equal but for what a kernel does not see. */
static void module_kernel(struct module *m, const struct superop *op, struct widths widths,
                          unsigned leave, FILE *cu) {
  struct fused_source s;
  if (!fused_source_make(op, widths, leave, "fused", &s)) memory_failed();
  bool wanted = !s.kernel.is_empty;
  for (uint32_t k = 0; k < m->count && wanted; k++) wanted = strcmp(m->keys[k], s.key) != 0;
  if (wanted) {
    memcpy(m->keys[m->count++], s.key, sizeof s.key);
    fused_emit_kernel_body(&s.kernel, s.key, cu);
    fused_emit_kernel_entry(&s.kernel, s.key, cu);
  }
  fused_source_free(&s);
}

void fused_emit_cuda(struct arena *arena, const struct superop *const *ops, uint32_t count,
                     struct widths widths, FILE *cu) {
  struct module m = {arena_alloc(arena, 2 * (size_t)count * sizeof *m.keys), 0};
  fputs(file_text, cu);
  fused_emit_kernel_prelude(ops, count, widths, cu);
  for (uint32_t i = 0; i < count; i++) {
    if (superop_has_combinations(ops[i]) || ops[i]->copies)
      continue; /* superop_run executes them */
    module_kernel(&m, ops[i], widths, LEAVE_SPREADS, cu);
    if (reduces(ops[i]))
      module_kernel(&m, ops[i], widths, LEAVE_SPREADS | LEAVE_REDUCTIONS, cu);
  }
}
