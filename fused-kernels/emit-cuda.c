/* emit-cuda.c - superoperators as CUDA for other programs: the kernels that the back end runs
 * (emit-kernel.h), and for each superoperator a host function that launches its own and does
 * what the plan leaves over by small kernels that all share (emit-cuda-helpers.c).
 */
#include "fused-kernels/emit-helpers.h"
#include "fused-kernels/emit-kernel.h"
#include "fused-kernels/fused.h"

#include <string.h>

struct cuda {
  const struct superop *op;
  const struct fused_kernel *k;
  struct widths widths;
  FILE *out;
};

static const char *type_of(const struct cuda *c, uint32_t v) {
  if (c->op->kinds[v] == SUPEROP_SEGDES) return "int64_t";
  return emit_type(c->widths, (enum superop_kind)c->op->kinds[v]);
}

static bool is_output(const struct superop *op, uint32_t v) {
  return op->last_use[v] == op->node_count;
}

static const char *size_text(struct superop_size size, char dst[16]) {
  if (size.what == SIZE_ONE || size.what == SIZE_UNKNOWN) return "1";
  snprintf(dst, 16, "%s%u", size.what == SIZE_TOTAL ? "t" : "n", size.param);
  return dst;
}

/* Where the elements of a parameter, or of a value that the kernel has written, are. */
static const char *elements(const struct cuda *c, uint32_t v, char dst[16]) {
  snprintf(dst, 16, v < c->op->param_count ? "p%u" : "f.o%u", v);
  return dst;
}

/* ---- the host function ---- */

static void signature(const struct cuda *c) {
  const struct superop *op = c->op;
  int indent = fprintf(c->out, "cudaError_t op%u(", op->number);
  for (uint32_t k = 0; k < op->param_count; k++) {
    fprintf(c->out, "const %s *p%u, uint64_t n%u,", type_of(c, k), k, k);
    if (op->kinds[k] == SUPEROP_SEGDES) fprintf(c->out, " uint64_t t%u,", k);
    fprintf(c->out, "\n%*s", indent, "");
  }
  for (uint32_t i = 0; i < op->output_count; i++) {
    fprintf(c->out, "%s *out%u,\n%*s", type_of(c, op->outputs[i]), op->outputs[i], indent, "");
  }
  fputs("struct ravel_fault *fault, cudaStream_t stream)", c->out);
}

static void checks(const struct cuda *c) {
  char a_text[16], b_text[16];
  fputs("  *fault = ravel_fault{RAVEL_OK, 0, 0, 0, 0, 0};\n", c->out);
  for (uint32_t r = c->op->rule_count; r-- > 0;) { /* the first one stays */
    const struct superop_rule *rule = &c->op->rules[r];
    const char *a = size_text(rule->a, a_text), *b = size_text(rule->b, b_text);
    fprintf(c->out,
            "  if (%s != %s) {\n"
            "    *fault = ravel_fault{RAVEL_SIZE, %u, 0, (int64_t)%s, (int64_t)%s, 0};\n  }\n",
            a, b, rule->node, a, b);
  }
  fputs("  if (fault->kind != RAVEL_OK) return cudaSuccess;\n", c->out);
}

static void memory_for_scatter(const struct cuda *c, uint32_t k) {
  const struct superop_node *node = &c->op->nodes[k];
  uint32_t far = node->operands[node->operand_count - 1];
  fprintf(c->out,
          "  aim a%u = {};\n"
          "  a%u.target = memory.take<uint64_t>(n, 0);\n"
          "  a%u.owner = memory.take<unsigned long long>(t%u, %s);\n",
          k, k, k, far, node->op == OPC_PERMUTE ? "0xff" : "0");
}

static void memory(const struct cuda *c) {
  fprintf(c->out,
          "  scratch memory(stream);\n"
          "  ravel::faults bad = {memory.take<ravel::fault_slot>(1, 0), 0};\n"
          "  struct op%u_places f = {};\n",
          c->op->number);
  for (uint32_t i = 0; i < c->k->member_count; i++) {
    const struct fused_member *m = &c->k->members[i];
    uint32_t v = m->number;
    switch ((enum fused_member_kind)m->kind) {
    case MEMBER_OPERAND: fprintf(c->out, "  f.p%u = elements(p%u);\n", v, v); break;
    case MEMBER_SEGMENTS:
      fprintf(c->out, "  f.p%u = segments(p%u, n%u, t%u);\n", v, v, v, v);
      break;
    case MEMBER_WRITTEN:
      if (is_output(c->op, v))
        fprintf(c->out, "  f.o%u = out%u;\n", v, v);
      else
        fprintf(c->out, "  f.o%u = memory.take<%s>(n, 0);\n", v, type_of(c, v));
      break;
    case MEMBER_PARTIALS:
      fprintf(c->out, "  f.t%u = memory.take<%s>(slots, 0);\n", v,
              type_of(c, c->op->nodes[v].result));
      break;
    }
  }
  for (uint32_t k = 0; k < c->op->node_count; k++) {
    if (c->k->tasks[k] != TASK_LIBRARY) continue;
    if (c->op->nodes[k].role == ROLE_PACK)
      fprintf(c->out, "  uint64_t *keep%u = memory.take<uint64_t>(n, 0);\n", k);
    if (c->op->nodes[k].role == ROLE_SCATTER) memory_for_scatter(c, k);
  }
  fputs("  if (memory.error != cudaSuccess) return memory.error;\n", c->out);
}

static void launch_kernel(const struct cuda *c) {
  if (c->k->is_empty) return;
  fprintf(c->out, "  f.bad = bad;\n  f.n = (int64_t)%s;\n", c->k->by_slots ? "slots" : "n");
  if (c->k->by_slots)
    fprintf(c->out,
            "  const int64_t blocks = (int64_t)(slots + %d) / %d;\n"
            "  op%u_places_kernel<<<grid(256 * (uint64_t)blocks), %d, 0, stream>>>(f, "
            "blocks);\n",
            FUSED_BLOCK_SLOTS - 1, FUSED_BLOCK_SLOTS, c->op->number, 32 * FUSED_BLOCK_SLOTS);
  else
    fprintf(c->out, "  op%u_places_kernel<<<grid(n), 256, 0, stream>>>(f, (int64_t)n);\n",
            c->op->number);
}

static void launch_combination(const struct cuda *c, uint32_t k) {
  const struct superop_node *node = &c->op->nodes[k];
  const struct combine_row *row = emit_combination(node);
  bool reduces = node->role == ROLE_REDUCE;
  uint32_t s = c->op->segments;
  char from[16];
  if (reduces)
    snprintf(from, sizeof from, "f.t%u", k);
  else
    elements(c, node->operands[0], from);
  fprintf(c->out,
          "  %s_%c_%s<<<grid(32 * n%u), 256, 0, stream>>>(%s, p%u, n%u, (%s)(%s), out%u);\n",
          emit_combination_name(row), "ifb"[row->klass], reduces ? "totals" : "prefixes", s,
          from, s, s, type_of(c, node->result), row->identity, node->result);
}

static void launch_pack(const struct cuda *c, uint32_t k) {
  const struct superop_node *node = &c->op->nodes[k];
  uint32_t s = c->op->segments;
  char x[16], flags[16];
  fprintf(c->out,
          "  widen<<<grid(n), 256, 0, stream>>>(n, %s, keep%u);\n"
          "  memory.positions(keep%u, n + 1);\n"
          "  if (memory.error != cudaSuccess) return memory.error;\n",
          elements(c, node->operands[1], flags), k, k);
  if (is_output(c->op, node->result)) {
    fprintf(c->out, "  compact<<<grid(n), 256, 0, stream>>>(n, keep%u, %s, out%u);\n", k,
            elements(c, node->operands[0], x), node->result);
  }
  if (is_output(c->op, node->result + 1)) {
    fprintf(c->out, "  kept_lengths<<<grid(n%u), 256, 0, stream>>>(n%u, p%u, keep%u, out%u);\n",
            s, s, s, k, node->result + 1);
  }
}

static void launch_scatter(const struct cuda *c, uint32_t k) {
  const struct superop_node *node = &c->op->nodes[k];
  uint32_t far = node->operands[node->operand_count - 1], v = node->result;
  bool output = is_output(c->op, v), permutes = node->op == OPC_PERMUTE;
  uint32_t near = permutes ? far : node->operands[node->operand_count - 2];
  bool flagged = node->op == OPC_FPERMUTE || node->op == OPC_DFPERMUTE;
  char x[16], index[16], flags[16];
  elements(c, node->operands[0], x);
  elements(c, node->operands[1], index);
  if (output && node->op == OPC_FPERMUTE) {
    fprintf(c->out, "  cudaMemsetAsync(out%u, 0, t%u * sizeof *out%u, stream);\n", v, far, v);
  } else if (output && !permutes) {
    uint32_t defaults = node->operands[node->op == OPC_DPERMUTE ? 2 : 3];
    fprintf(c->out,
            "  cudaMemcpyAsync(out%u, p%u, t%u * sizeof *out%u, cudaMemcpyDeviceToDevice, "
            "stream);\n",
            v, defaults, far, v);
  }
  fprintf(c->out,
          "  a%u.from = segments(p%u, n%u, t%u);\n  a%u.to = segments(p%u, n%u, t%u);\n"
          "  a%u.bad = bad;\n  a%u.node = %u;\n  a%u.checked = %s;\n  a%u.first = %s;\n",
          k, near, near, near, k, far, far, far, k, k, k, k, node->checked ? "true" : "false",
          k, permutes ? "true" : "false");
  if (flagged) fprintf(c->out, "  a%u.flags = %s;\n", k, elements(c, node->operands[2], flags));
  fprintf(c->out, "  take_aim<<<grid(n), 256, 0, stream>>>(n, %s, a%u);\n", index, k);
  fprintf(c->out, "  deliver<<<grid(n), 256, 0, stream>>>(n, a%u, %s, %s, ", k, index, x);
  if (output)
    fprintf(c->out, "out%u);\n", v);
  else
    fprintf(c->out, "(%s *)nullptr);\n", type_of(c, v));
}

static void function(const struct cuda *c) {
  const struct superop *op = c->op;
  char size[16], name[32];
  snprintf(name, sizeof name, "op%u_places", op->number);
  fused_emit_kernel_body(c->k, name, c->out);
  if (!c->k->is_empty) fused_emit_kernel_entry(c->k, name, c->out);
  fputs("\n", c->out);
  signature(c);
  fputs(" {\n", c->out);
  checks(c);
  fprintf(c->out, "  const uint64_t n = %s;\n", size_text(op->domain, size));
  if (c->k->by_slots) {
    fprintf(c->out, "  const uint64_t slots = t%u / BLOCK + n%u;\n", op->segments,
            op->segments);
  }
  memory(c);
  launch_kernel(c);
  for (uint32_t k = 0; k < op->node_count; k++) {
    enum superop_role role = (enum superop_role)op->nodes[k].role;
    if (c->k->tasks[k] == TASK_NONE) continue;
    if (role == ROLE_REDUCE || role == ROLE_SCAN) launch_combination(c, k);
    if (role == ROLE_PACK) launch_pack(c, k);
    if (role == ROLE_SCATTER) launch_scatter(c, k);
  }
  fputs("  (void)n;\n  return found(bad.slot, fault, stream);\n}\n\n", c->out);
}

/* ---- the file ---- */

static const char file_text[] =
    "/* Made from superoperators by Ravel's optimiser. Compile with nvcc --fmad=false.\n"
    " *\n"
    " * Each opK launches kernels on a stream and waits for them. All pointers but `fault` are "
    "to\n"
    " * device memory. Parameter k has elements pK and their number nK; a descriptor is given "
    "by\n"
    " * the offsets of its segments, nK + 1 of them (0 first, the total last), nK the number "
    "of\n"
    " * segments and tK the total. BOOL elements are 0 or 1. The result is that of CUDA; "
    "*fault\n"
    " * says whether an operation was at fault: outputs have no meaning then. Prefixes are\n"
    " * computed by one warp for each segment.\n"
    " *\n"
    " * With RAVEL_MODULE defined there are only the kernels that vinterp runs them by:\n"
    " *   nvcc -std=c++17 --fmad=false -arch=sm_90 -cubin -DRAVEL_MODULE -o prog.cubin "
    "prog.cu\n"
    " *   vinterp --backend cuda --kernels prog.cubin prog.fcode\n"
    " */\n"
    "#include <cuda_runtime.h>\n"
    "#pragma nv_diag_suppress 177 /* not all functions are used */\n";

static const char fault_text[] =
    "#ifndef RAVEL_FAULT\n"
    "#define RAVEL_FAULT\n"
    "enum ravel_fault_kind { RAVEL_OK, RAVEL_SIZE, RAVEL_DIVIDE_BY_ZERO, RAVEL_INDEX, "
    "RAVEL_DUPLICATE, RAVEL_ASSERT };\n"
    "struct ravel_fault {\n"
    "  int kind;\n"
    "  uint32_t node;        /* the operation: the number of those before it */\n"
    "  uint64_t position;    /* the first at fault */\n"
    "  int64_t value, limit; /* SIZE: the two sizes; INDEX, DUPLICATE: the index, the limit; "
    "ASSERT: its two INTs */\n"
    "  uint64_t segment;     /* INDEX, DUPLICATE: the one that is pointed into */\n"
    "};\n"
    "#endif\n\n"
    "/* What kernels have reported, after waiting for them. */\n"
    "static inline cudaError_t found(const ravel::fault_slot *slot, ravel_fault *fault,\n"
    "                                cudaStream_t stream) {\n"
    "  ravel::fault_slot s;\n"
    "  cudaError_t error = cudaMemcpyAsync(&s, slot, sizeof s, cudaMemcpyDeviceToHost, "
    "stream);\n"
    "  if (error == cudaSuccess) error = cudaStreamSynchronize(stream);\n"
    "  if (error != cudaSuccess) return error;\n"
    "  if (s.kind == 0) return cudaGetLastError();\n"
    "  const int kind = s.kind == DIVIDE_BY_ZERO ? RAVEL_DIVIDE_BY_ZERO\n"
    "                   : s.kind == OUTSIDE      ? RAVEL_INDEX\n"
    "                   : s.kind == FALSE_FLAG   ? RAVEL_ASSERT\n"
    "                                            : RAVEL_DUPLICATE;\n"
    "  *fault = ravel_fault{kind,    (uint32_t)s.site, (uint64_t)s.position,\n"
    "                       s.value, s.limit,          (uint64_t)s.segment};\n"
    "  return cudaGetLastError();\n"
    "}\n\n";

/* ---- the module ---- */

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
  if (!fused_source_make(op, widths, leave, "fused", &s)) return;
  bool wanted = !s.kernel.is_empty;
  for (uint32_t k = 0; k < m->count && wanted; k++) wanted = strcmp(m->keys[k], s.key) != 0;
  if (wanted) {
    memcpy(m->keys[m->count++], s.key, sizeof s.key);
    fused_emit_kernel_body(&s.kernel, s.key, cu);
    fused_emit_kernel_entry(&s.kernel, s.key, cu);
  }
  fused_source_free(&s);
}

static void module_kernels(struct arena *arena, const struct superop *const *ops,
                           uint32_t count, struct widths widths, FILE *cu) {
  struct module m = {arena_alloc(arena, 2 * (size_t)count * sizeof *m.keys), 0};
  for (uint32_t i = 0; i < count; i++) {
    module_kernel(&m, ops[i], widths, LEAVE_SPREADS, cu);
    if (reduces(ops[i]))
      module_kernel(&m, ops[i], widths, LEAVE_SPREADS | LEAVE_REDUCTIONS, cu);
  }
}

void fused_emit_cuda(struct arena *arena, const struct superop *const *ops, uint32_t count,
                     struct widths widths, FILE *cu) {
  bool packs = false;
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = 0; k < ops[i]->node_count; k++)
      packs |= ops[i]->nodes[k].role == ROLE_PACK;
  }
  fputs("#ifndef RAVEL_MODULE\n", cu);
  fputs(file_text, cu);
  if (packs) fputs("#include <cub/cub.cuh>\n", cu); /* it takes the compiler seconds */
  fputs("#endif\n\n", cu);
  fused_emit_kernel_prelude(ops, count, widths, cu);
  fputs("#ifdef RAVEL_MODULE\n\n", cu);
  module_kernels(arena, ops, count, widths, cu);
  fputs("\n#else\n\n", cu);
  fputs(fault_text, cu);
  emit_cuda_helpers(ops, count, widths, cu);
  for (uint32_t i = 0; i < count; i++) {
    struct fused_kernel k;
    fused_kernel_plan(arena, ops[i], widths, LEAVE_NOTHING, &k);
    struct cuda c = {ops[i], &k, widths, cu};
    function(&c);
  }
  fputs("\n#endif\n", cu);
}
