/* emit-kernel-stencil.c - the text of kernels with windows: see emit-kernel-stencil.h.
 *
 * The kernel of parameter P has its windows in wP. nearG(i) is where the gathers of group G
 * begin to read at position i, but for the boundary: the index of the lowest of them, with the
 * inner value of each SELECT in its stead.
 */
#include "fused-kernels/emit-kernel-stencil.h"

#include "fused-kernels/emit-kernel-plan.h"

#include <string.h>

/* ---- where groups begin ---- */

/* The parts of an index without its boundary. */
struct needed {
  bool node[SUPEROP_VALUES_MAX];   /* to be evaluated */
  bool load[SUPEROP_VALUES_MAX];   /* parameters with positions */
  bool lookup[SUPEROP_VALUES_MAX]; /* descriptors, for the segment of the position */
};

static void find_needed(const struct superop *op, const struct superop_node *gather,
                        struct needed *p) {
  bool wanted[SUPEROP_VALUES_MAX] = {false};
  memset(p, 0, sizeof *p);
  wanted[gather->operands[1]] = true;
  p->lookup[fused_near(gather)] = true;
  for (uint32_t k = op->node_count; k-- > 0;) {
    const struct superop_node *node = &op->nodes[k];
    if (node->result_count == 0 || !wanted[node->result]) continue;
    const uint32_t inner = stencil_inner(op, node), near = fused_near(node);
    p->node[k] = true;
    if (near != SUPEROP_NONE && !fused_is_constant(op, node)) p->lookup[near] = true;
    for (unsigned i = 0; inner == SUPEROP_NONE && i < node->operand_count; i++) {
      if (near == SUPEROP_NONE || node->operands[i] >= op->param_count)
        wanted[node->operands[i]] = true;
    }
    if (inner != SUPEROP_NONE) wanted[inner] = true;
  }
  for (uint32_t v = 0; v < op->param_count; v++) p->load[v] = wanted[v];
}

static void begin_of(const struct body *b, uint32_t g) {
  const struct superop *op = b->op;
  const struct superop_node *gather = &op->nodes[b->k->groups[g].lowest];
  struct needed p;
  find_needed(op, gather, &p);
  fprintf(b->out, "  HERE int64_t near%u(int64_t i) const {\n", g);
  for (uint32_t v = 0; v < op->param_count; v++) {
    if (p.load[v])
      fprintf(b->out,
              "    if (p%u.kind == ravel::FROM_MEMORY) return ravel::nowhere();\n"
              "    const %s v%u = p%u[i];\n",
              v, body_type(b, v), v, v);
    if (p.lookup[v]) fprintf(b->out, "    const int64_t s%u = p%u.of(i);\n", v, v);
  }
  for (uint32_t k = 0; k < op->node_count; k++) {
    const uint32_t v = op->nodes[k].result, inner = stencil_inner(op, &op->nodes[k]);
    if (p.node[k] && inner != SUPEROP_NONE)
      fprintf(b->out, "    const %s v%u = v%u;\n", body_type(b, v), v, inner);
    else if (p.node[k])
      body_evaluate(b, k);
  }
  fprintf(b->out, "    return p%u.start(s%u) + (int64_t)v%u;\n  }\n", kernel_far(gather),
          fused_near(gather), gather->operands[1]);
}

/* ---- the memory of a block ---- */

void body_windows(const struct body *b) {
  const struct fused_kernel *k = b->k;
  fprintf(b->out,
          "  enum { threads = %d, positions = %u };\n"
          "  struct tuning {\n"
          "    enum { span = positions + %d, spread = %d, margin = %d, saved = %d };\n"
          "  };\n"
          "  struct shared {\n",
          FUSED_BLOCK_THREADS, k->block_positions, WINDOW_HALO, WINDOW_SPREAD, WINDOW_MARGIN,
          WINDOW_SAVED);
  for (uint32_t i = 0; i < k->windowed_count; i++) {
    const struct fused_windowed *w = &k->windowed[i];
    fprintf(b->out, "    ravel::windows<%s, %u, %u, tuning> w%u;\n", body_type(b, w->param),
            w->groups, w->windows, w->param);
  }
  fputs("  };\n", b->out);
  for (uint32_t g = 0; g < k->group_count; g++) begin_of(b, g);
}

/* One thread of a warp for each parameter. */
static void emit_kernel_stencil_choose(const struct body *b, uint32_t i) {
  const struct fused_kernel *k = b->k;
  const uint32_t param = k->windowed[i].param;
  const char *comma = "";
  fprintf(b->out, "      if (t == %u * ravel::WARP) {\n        const int64_t begin[] = {", i);
  for (uint32_t g = 0; g < k->group_count; g++) {
    if (k->groups[g].param != param) continue;
    fprintf(b->out, "%snear%u(first)", comma, g);
    comma = ", ";
  }
  fputs("};\n        const int32_t gathers[] = {", b->out);
  comma = "";
  for (uint32_t g = 0; g < k->group_count; g++) {
    if (k->groups[g].param != param) continue;
    fprintf(b->out, "%s%u", comma, k->groups[g].count);
    comma = ", ";
  }
  fprintf(b->out, "};\n        block.shared.w%u.choose(begin, gathers);\n      }\n", param);
}

void body_stencil(const struct body *b) {
  const struct fused_kernel *k = b->k;
  fputs("  template <class B> HERE void operator()(B &block) const {\n"
        "    const int64_t first = block.index() * positions;\n"
        "    const int64_t last = n - first < positions ? n : first + positions;\n"
        "    block.each([&](int t) {\n",
        b->out);
  for (uint32_t i = 0; i < k->windowed_count; i++) emit_kernel_stencil_choose(b, i);
  fputs("    });\n    block.each([&](int t) {\n", b->out);
  for (uint32_t i = 0; i < k->windowed_count; i++) {
    const struct fused_windowed *w = &k->windowed[i];
    fprintf(b->out, "      block.shared.w%u.load(p%u, p%u.total, t, threads);\n", w->param,
            w->param, w->far);
  }
  fputs(
      "    });\n"
      "    block.each([&](int t) {\n"
      "      for (int64_t i = first + t; i < last; i += threads) put(i, at(i, block.shared));\n"
      "    });\n"
      "  }\n",
      b->out);
}

void body_gathered(const struct body *b, uint32_t k, const char *at) {
  const uint32_t param = b->op->nodes[k].operands[0], g = b->k->group[k];
  if (g == SUPEROP_NONE)
    body_gather_from(b, param, at);
  else
    fprintf(b->out, "w.w%u.read(%u, p%u, %s)", param, b->k->groups[g].number, param, at);
}
