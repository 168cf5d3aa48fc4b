/* emit-cuda.c - superoperators as kernels and the host functions that launch them.
 *
 * One kernel evaluates all nodes at every place, a thread for each; under a descriptor of
 * reductions a warp takes 1024 places of one segment, the unit of the reproducible tree, and
 * keeps a lane of it in each thread. What needs to know of other places (the results of blocks,
 * prefixes, positions of what is kept, which of several sources wins) follows in small kernels
 * that all superoperators share (emit-helpers.c).
 */
#include "fused-kernels/emit-helpers.h"
#include "fused-kernels/fused.h"

#include <string.h>

struct cuda {
  const struct superop *op;
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

static bool is_flagged(const struct superop_node *node) {
  return node->op == OPC_BFPERMUTE || node->op == OPC_FPERMUTE || node->op == OPC_DFPERMUTE;
}

/* The descriptor that a place's segment is of, and the one that an index refers to. */
static uint32_t near_of(const struct superop_node *node) {
  unsigned last = node->operand_count - 1U;
  switch ((enum superop_role)node->role) {
  case ROLE_SPREAD:
  case ROLE_INDEX:
  case ROLE_GATHER: return node->operands[last];
  case ROLE_SCATTER: return node->operands[node->op == OPC_PERMUTE ? last : last - 1];
  default: return SUPEROP_NONE;
  }
}

static uint32_t far_of(const struct superop_node *node) {
  unsigned last = node->operand_count - 1U;
  return node->operands[node->role == ROLE_GATHER ? last - 1 : last];
}

/* The type of what a consumer takes. */
static const char *taken_type(const struct cuda *c, const struct superop_node *node) {
  return type_of(c, node->operands[0]);
}

/* ---- arguments ---- */

static void arguments(const struct cuda *c) {
  const struct superop *op = c->op;
  fprintf(c->out, "struct op%u_arguments {\n", op->number);
  for (uint32_t k = 0; k < op->param_count; k++) {
    fprintf(c->out, "  const %s *p%u;\n  uint64_t n%u;\n", type_of(c, k), k, k);
  }
  for (uint32_t i = 0; i < op->output_count; i++) {
    fprintf(c->out, "  %s *out%u;\n", type_of(c, op->outputs[i]), op->outputs[i]);
  }
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    if (node->role == ROLE_REDUCE) {
      fprintf(c->out, "  %s *total%u; /* of blocks */\n", type_of(c, node->result), k);
    } else if (node->role == ROLE_SCAN || node->role == ROLE_PACK ||
               node->role == ROLE_SCATTER) {
      fprintf(c->out, "  %s *taken%u; /* of places */\n", taken_type(c, node), k);
    }
    if (node->role == ROLE_PACK) fprintf(c->out, "  uint64_t *keep%u;\n", k);
    if (node->role == ROLE_SCATTER) {
      fprintf(c->out, "  uint64_t *target%u;\n  unsigned long long *owner%u;\n", k, k);
    }
  }
  fputs("  uint64_t *fault; /* of nodes: the first place; then of second uses likewise "
        "*/\n};\n\n",
        c->out);
}

/* ---- a place ---- */

static void operand(const struct cuda *c, uint32_t v) {
  if (v < c->op->param_count)
    fprintf(c->out, "a.p%u[i]", v);
  else
    fprintf(c->out, "v%u", v);
}

/* Of DIST and INDEX: a parameter's element for the segment, or a CONST. */
static void source(const struct cuda *c, const struct superop_node *node, unsigned i) {
  uint32_t v = node->operands[i];
  if (v < c->op->param_count)
    fprintf(c->out, "a.p%u[s%u]", v, near_of(node));
  else
    fprintf(c->out, "v%u", v);
}

/* okK and atK: where the index of gathers and scatters leads. */
static void target(const struct cuda *c, const struct superop_node *node, uint32_t k) {
  uint32_t far = node->role == ROLE_PICK ? node->operands[2] : far_of(node);
  char segment[16];
  if (node->role == ROLE_PICK)
    strcpy(segment, "i");
  else
    snprintf(segment, sizeof segment, "s%u", near_of(node));
  fprintf(c->out, "    const int64_t begin%u = a.p%u[%s], index%u = ", k, far, segment, k);
  operand(c, node->operands[1]);
  fputs(";\n", c->out);
  fprintf(c->out, "    const bool wanted%u = ", k);
  if (is_flagged(node))
    operand(c, node->operands[2]);
  else
    fputs("true", c->out);
  fprintf(c->out, ", ok%u = wanted%u", k, k);
  if (node->checked) {
    fprintf(c->out,
            " && (uint64_t)index%u < (uint64_t)(a.p%u[%s + 1] - begin%u);\n"
            "    if (wanted%u && !ok%u) note(a.fault + %u, i)",
            k, far, segment, k, k, k, k);
  }
  fprintf(c->out, ";\n    const uint64_t at%u = (uint64_t)(begin%u + index%u);\n", k, k, k);
}

static void place_map(const struct cuda *c, const struct superop_node *node, uint32_t k) {
  const struct map_row *row = emit_row(node);
  const char *type = type_of(c, node->result);
  if (node->checked) {
    fprintf(c->out, "    const bool ok%u = ", k);
    emit_map(row->condition, node, c->out);
    fprintf(c->out, ";\n    if (!ok%u) note(a.fault + %u, i);\n", k, k);
  }
  fprintf(c->out, "    const %s v%u = ", type, node->result);
  if (node->checked) fprintf(c->out, "!ok%u ? (%s)0 : ", k, type);
  fprintf(c->out, "(%s)(", type);
  emit_map(row->expression, node, c->out);
  fputs(");\n", c->out);
}

static void place_consumer(const struct cuda *c, const struct superop_node *node, uint32_t k) {
  if (node->role == ROLE_REDUCE) {
    const struct combine_row *row = emit_combination(node);
    fprintf(c->out, "    acc%u = %s_%c(acc%u, ", k, emit_combination_name(row),
            "ifb"[row->klass], k);
    operand(c, node->operands[0]);
    fputs(");\n", c->out);
    return;
  }
  if (node->role == ROLE_SCATTER) target(c, node, k);
  fprintf(c->out, "    a.taken%u[i] = ", k);
  operand(c, node->operands[0]);
  fputs(";\n", c->out);
  if (node->role == ROLE_PACK) {
    fprintf(c->out, "    a.keep%u[i] = ", k);
    operand(c, node->operands[1]);
    fputs(";\n", c->out);
  } else if (node->role == ROLE_SCATTER) {
    fprintf(c->out,
            "    a.target%u[i] = ok%u ? at%u : NOWHERE;\n"
            "    if (ok%u) %s(&a.owner%u[at%u], (unsigned long long)i + 1);\n",
            k, k, k, k, node->op == OPC_PERMUTE ? "atomicMin" : "atomicMax", k, k);
  }
}

static void place_node(const struct cuda *c, uint32_t k) {
  const struct superop_node *node = &c->op->nodes[k];
  uint32_t v = node->result;
  const char *type = type_of(c, v);
  switch ((enum superop_role)node->role) {
  case ROLE_CONST:
    fprintf(c->out, "    const %s v%u = ", type, v);
    emit_literal(&node->constant, c->out);
    fputs(";\n", c->out);
    return;
  case ROLE_SPREAD:
    fprintf(c->out, "    const %s v%u = ", type, v);
    source(c, node, 0);
    fputs(";\n", c->out);
    break;
  case ROLE_INDEX:
    fprintf(c->out, "    const %s v%u = WRAP(U(", type, v);
    source(c, node, 0);
    fprintf(c->out, ") + U(i - (uint64_t)a.p%u[s%u]) * U(", near_of(node), near_of(node));
    source(c, node, 1);
    fputs("));\n", c->out);
    break;
  case ROLE_GATHER:
  case ROLE_PICK:
    target(c, node, k);
    fprintf(c->out, "    const %s v%u = ok%u ? a.p%u[at%u] : (%s)0;\n", type, v, k,
            node->operands[0], k, type);
    break;
  case ROLE_MAP: place_map(c, node, k); break;
  case ROLE_REDUCE:
  case ROLE_SCAN:
  case ROLE_PACK:
  case ROLE_SCATTER: place_consumer(c, node, k); return;
  }
  if (is_output(c->op, v)) fprintf(c->out, "    a.out%u[i] = v%u;\n", v, v);
}

static void place(const struct cuda *c) {
  bool needed[SUPEROP_VALUES_MAX] = {false}, read[SUPEROP_VALUES_MAX] = {false};
  for (uint32_t k = 0; k < c->op->node_count; k++) {
    const struct superop_node *node = &c->op->nodes[k];
    uint32_t near = near_of(node);
    bool constant = node->role == ROLE_SPREAD && node->operands[0] >= c->op->param_count;
    if (near != SUPEROP_NONE && !constant) needed[near] = true;
    for (unsigned i = 0; node->role == ROLE_MAP && i < node->operand_count; i++) {
      read[node->operands[i]] = true;
    }
  }
  for (uint32_t v = 0; v < c->op->param_count; v++) {
    if (needed[v] && v != c->op->segments) {
      fprintf(c->out, "    const uint64_t s%u = segment_of(a.p%u, a.n%u, i);\n", v, v, v);
    }
    if (read[v]) fprintf(c->out, "    const %s v%u = a.p%u[i];\n", type_of(c, v), v, v);
  }
  for (uint32_t k = 0; k < c->op->node_count; k++) place_node(c, k);
}

/* ---- the kernel ---- */

static void segmented_kernel(const struct cuda *c) {
  const struct superop *op = c->op;
  uint32_t s = op->segments;
  fprintf(
      c->out,
      "/* A warp for each slot. */\n"
      "static __global__ void op%u_places(const struct op%u_arguments a, uint64_t slots) {\n"
      "  const uint64_t j = threadIdx.x %% 32, warps = (uint64_t)gridDim.x * blockDim.x / 32;\n"
      "  uint64_t slot = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;\n"
      "  for (; slot < slots; slot += warps) {\n"
      "  const uint64_t s%u = slot_segment(a.p%u, a.n%u, slot);\n"
      "  const uint64_t start = (uint64_t)a.p%u[s%u], end = (uint64_t)a.p%u[s%u + 1];\n"
      "  const uint64_t first = start + (slot - start / BLOCK - s%u) * BLOCK;\n"
      "  if (first >= end) continue;\n"
      "  const uint64_t last = end - first < BLOCK ? end : first + BLOCK;\n",
      op->number, op->number, s, s, s, s, s, s, s, s);
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    if (node->role != ROLE_REDUCE) continue;
    fprintf(c->out, "  %s acc%u = (%s)(%s);\n", type_of(c, node->result), k,
            type_of(c, node->result), emit_combination(node)->pad);
  }
  fputs("  for (uint64_t i = first + j; i < last; i += 32) {\n", c->out);
  place(c);
  fputs("  }\n", c->out);
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    if (node->role != ROLE_REDUCE) continue;
    const struct combine_row *row = emit_combination(node);
    fprintf(c->out, "  acc%u = %s_%c_fold(acc%u);\n  if (j == 0) a.total%u[slot] = acc%u;\n", k,
            emit_combination_name(row), "ifb"[row->klass], k, k, k);
  }
  fputs("  }\n}\n\n", c->out);
}

static void flat_kernel(const struct cuda *c) {
  fprintf(c->out,
          "/* A thread for each place. */\n"
          "static __global__ void op%u_places(const struct op%u_arguments a, uint64_t n) {\n"
          "  const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;\n"
          "  uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;\n"
          "  for (; i < n; i += threads) {\n",
          c->op->number, c->op->number);
  place(c);
  fputs("  }\n}\n\n", c->out);
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
  char a[16], b[16];
  fputs("  *fault = ravel_fault{RAVEL_OK, 0, 0};\n", c->out);
  for (uint32_t r = c->op->rule_count; r-- > 0;) { /* the first one stays */
    const struct superop_rule *rule = &c->op->rules[r];
    fprintf(c->out, "  if (%s != %s) *fault = ravel_fault{RAVEL_SIZE, %u, 0};\n",
            size_text(rule->a, a), size_text(rule->b, b), rule->node);
  }
  fputs("  if (fault->kind != RAVEL_OK) return cudaSuccess;\n", c->out);
}

static void memory(const struct cuda *c) {
  const struct superop *op = c->op;
  for (uint32_t k = 0; k < op->param_count; k++) {
    fprintf(c->out, "  a.p%u = p%u;\n  a.n%u = n%u;\n", k, k, k, k);
  }
  for (uint32_t i = 0; i < op->output_count; i++) {
    fprintf(c->out, "  a.out%u = out%u;\n", op->outputs[i], op->outputs[i]);
  }
  fprintf(c->out, "  a.fault = memory.take<uint64_t>(%u, 0xff);\n", 2 * op->node_count);
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    if (node->role == ROLE_REDUCE) {
      fprintf(c->out, "  a.total%u = memory.take<%s>(slots, 0);\n", k,
              type_of(c, node->result));
    } else if (node->role == ROLE_SCAN || node->role == ROLE_PACK ||
               node->role == ROLE_SCATTER) {
      fprintf(c->out, "  a.taken%u = memory.take<%s>(n, 0);\n", k, taken_type(c, node));
    }
    if (node->role == ROLE_PACK) {
      fprintf(c->out, "  a.keep%u = memory.take<uint64_t>(n, 0);\n", k);
    } else if (node->role == ROLE_SCATTER) {
      fprintf(c->out,
              "  a.target%u = memory.take<uint64_t>(n, 0);\n"
              "  a.owner%u = memory.take<unsigned long long>(t%u, %s);\n",
              k, k, far_of(node), node->op == OPC_PERMUTE ? "0xff" : "0");
    }
  }
  fputs("  if (memory.error != cudaSuccess) return memory.error;\n", c->out);
}

static void launch_combination(const struct cuda *c, const struct superop_node *node,
                               uint32_t k) {
  const struct combine_row *row = emit_combination(node);
  bool reduces = node->role == ROLE_REDUCE;
  uint32_t s = c->op->segments;
  if (!is_output(c->op, node->result)) return;
  fprintf(
      c->out,
      "  %s_%c_%s<<<grid(32 * n%u), 256, 0, stream>>>(a.%s%u, p%u, n%u, (%s)(%s), out%u);\n",
      emit_combination_name(row), "ifb"[row->klass], reduces ? "totals" : "prefixes", s,
      reduces ? "total" : "taken", k, s, s, type_of(c, node->result), row->identity,
      node->result);
}

static void launch_pack(const struct cuda *c, const struct superop_node *node, uint32_t k) {
  uint32_t s = c->op->segments;
  fprintf(c->out, "  memory.positions(a.keep%u, n + 1);\n", k);
  fputs("  if (memory.error != cudaSuccess) return memory.error;\n", c->out);
  if (is_output(c->op, node->result)) {
    fprintf(c->out, "  compact<<<grid(n), 256, 0, stream>>>(n, a.keep%u, a.taken%u, out%u);\n",
            k, k, node->result);
  }
  if (is_output(c->op, node->result + 1)) {
    fprintf(c->out,
            "  kept_lengths<<<grid(n%u), 256, 0, stream>>>(n%u, p%u, a.keep%u, out%u);\n", s, s,
            s, k, node->result + 1);
  }
}

static void launch_scatter(const struct cuda *c, const struct superop_node *node, uint32_t k) {
  uint32_t far = far_of(node), v = node->result;
  bool output = is_output(c->op, v), permutes = node->op == OPC_PERMUTE;
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
          "  deliver<<<grid(n), 256, 0, stream>>>(n, a.target%u, a.owner%u, a.taken%u, ", k, k,
          k);
  if (output)
    fprintf(c->out, "out%u, ", v);
  else
    fprintf(c->out, "(%s *)nullptr, ", type_of(c, v));
  if (permutes && node->checked)
    fprintf(c->out, "a.fault + %u);\n", c->op->node_count + k);
  else
    fputs("(uint64_t *)nullptr);\n", c->out);
}

static void faults(const struct cuda *c) {
  const struct superop *op = c->op;
  fprintf(c->out, "  static const int kind[] = {");
  for (uint32_t k = 0; k < op->node_count; k++) {
    fprintf(c->out, "%s",
            op->nodes[k].role == ROLE_MAP ? "RAVEL_DIVIDE_BY_ZERO, " : "RAVEL_INDEX, ");
  }
  fprintf(c->out,
          "};\n  uint64_t found[%u];\n"
          "  cudaMemcpyAsync(found, a.fault, sizeof found, cudaMemcpyDeviceToHost, stream);\n"
          "  const cudaError_t error = cudaStreamSynchronize(stream);\n"
          "  if (error != cudaSuccess) return error;\n"
          "  for (uint32_t k = 0; k < %u && fault->kind == RAVEL_OK; k++) {\n"
          "    const uint64_t twice = found[%u + k];\n"
          "    if (found[k] != NOWHERE) *fault = ravel_fault{kind[k], k, found[k]};\n"
          "    else if (twice != NOWHERE) *fault = ravel_fault{RAVEL_DUPLICATE, k, twice};\n"
          "  }\n"
          "  return cudaGetLastError();\n}\n\n",
          2 * op->node_count, op->node_count, op->node_count);
}

static void function(const struct cuda *c) {
  const struct superop *op = c->op;
  char size[16], formula[400];
  fprintf(c->out, "/* ---- %s ---- */\n\n", fused_formula(op, formula, sizeof formula));
  arguments(c);
  if (op->segments != SUPEROP_NONE)
    segmented_kernel(c);
  else
    flat_kernel(c);
  signature(c);
  fputs(" {\n", c->out);
  checks(c);
  fprintf(c->out, "  const uint64_t n = %s;\n", size_text(op->domain, size));
  if (op->segments != SUPEROP_NONE) {
    fprintf(c->out, "  const uint64_t slots = t%u / BLOCK + n%u;\n", op->segments,
            op->segments);
  }
  fprintf(c->out, "  scratch memory(stream);\n  struct op%u_arguments a = {};\n", op->number);
  memory(c);
  bool segmented = op->segments != SUPEROP_NONE;
  fprintf(c->out, "  op%u_places<<<grid(%s), 256, 0, stream>>>(a, %s);\n", op->number,
          segmented ? "32 * slots" : "n", segmented ? "slots" : "n");
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    if (node->role == ROLE_REDUCE || node->role == ROLE_SCAN) launch_combination(c, node, k);
    if (node->role == ROLE_PACK) launch_pack(c, node, k);
    if (node->role == ROLE_SCATTER) launch_scatter(c, node, k);
  }
  faults(c);
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
    " */\n"
    "#include <cuda_runtime.h>\n"
    "#pragma nv_diag_suppress 177 /* not all functions are used */\n";

static const char fault_text[] =
    "#ifndef RAVEL_FAULT\n"
    "#define RAVEL_FAULT\n"
    "enum ravel_fault_kind { RAVEL_OK, RAVEL_SIZE, RAVEL_DIVIDE_BY_ZERO, RAVEL_INDEX, "
    "RAVEL_DUPLICATE };\n"
    "struct ravel_fault {\n"
    "  int kind;\n"
    "  uint32_t node;     /* the operation: the number of those before it */\n"
    "  uint64_t position; /* the first at fault */\n"
    "};\n"
    "#endif\n\n";

void fused_emit_cuda(const struct superop *const *ops, uint32_t count, struct widths widths,
                     FILE *cu) {
  struct emit_needs needs = {false, true};
  bool packs = false;
  for (uint32_t i = 0; i < count; i++) {
    emit_add_needs(&needs, ops[i]);
    for (uint32_t k = 0; k < ops[i]->node_count; k++)
      packs |= ops[i]->nodes[k].role == ROLE_PACK;
  }
  fputs(file_text, cu);
  if (packs) fputs("#include <cub/cub.cuh>\n", cu); /* it takes the compiler seconds */
  emit_prelude(widths, needs, cu);
  fputs(fault_text, cu);
  emit_helpers(ops, count, widths, true, cu);
  for (uint32_t i = 0; i < count; i++) {
    struct cuda c = {ops[i], widths, cu};
    function(&c);
  }
}
