/* emit-kernel-groups.c - the operator of a kernel that reduces short segments: a block
 * evaluates the nodes at all positions of a group of segments, and reduces each of these.
 *
 * If the group has few positions, as it usually has, they are evaluated in order by all
 * threads, which so read and write adjacent elements, and what is to be reduced goes to shared
 * memory. From there a thread takes a segment of up to eight elements, a warp a longer one. If
 * it has many, a warp evaluates the positions of a segment. Segments of more than a slot are
 * left to the blocks after the groups, a slot to a warp (chunks.hpp): there may be any number
 * of them, and one may have nearly all positions.
 *
 * In the text gK is where the results of reduction K go, tK where the partial results of slots
 * of long segments go, cK the staged elements.
 */
#include "fused-kernels/emit-kernel-body.h"

#include "cvl/trees.h"
#include "fused-kernels/emit-expression.h"

extern const char *const fused_chunks_text[];

enum { SLOT_BITS = 10, MOST_STAGED = CVL_REDUCE_BLOCK, MOST_STAGED_BYTES = 32 << 10 };
_Static_assert(1 << SLOT_BITS == CVL_REDUCE_BLOCK, "a slot is a block of the tree");

void emit_kernel_chunks(FILE *out) {
  for (const char *const *line = fused_chunks_text; *line != NULL; line++) fputs(*line, out);
}

static bool is_reduced(const struct fused_kernel *k, uint32_t member) {
  return k->members[member].kind == MEMBER_PARTIALS;
}

/* At most a slot, so that no segment among them is long. */
unsigned fused_kernel_staged(const struct fused_kernel *k) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < k->member_count; i++) {
    if (is_reduced(k, i)) bytes += elem_info((enum cvl_elem)k->members[i].elem)->bytes;
  }
  unsigned positions = MOST_STAGED;
  while (positions > CVL_REDUCE_LANES && positions * bytes > MOST_STAGED_BYTES) positions /= 2;
  return positions;
}

static const struct superop_node *emit_kernel_groups_reduction(const struct body *b,
                                                               uint32_t member) {
  return &b->op->nodes[b->k->members[member].number];
}

/* ---- staged elements ---- */

/* The block's memory; elements are spread to avoid bank conflicts between threads that read
 * eight consecutive ones each. */
static void emit_kernel_groups_shared(const struct body *b) {
  fprintf(b->out,
          "  enum { threads = %d, WARPS = threads / ravel::WARP, STAGED = %u, ALONE = 8 };\n"
          "  struct shared {\n",
          FUSED_BLOCK_THREADS, fused_kernel_staged(b->k));
  for (uint32_t i = 0; i < b->k->member_count; i++) {
    if (!is_reduced(b->k, i)) continue;
    fprintf(b->out, "    ravel::shared_array<%s, STAGED + STAGED / 8> c%u;\n",
            body_type(b, emit_kernel_groups_reduction(b, i)->result), b->k->members[i].number);
  }
  fputs("    ravel::shared_array<int32_t, threads> waiting;\n"
        "    ravel::shared_array<int32_t, WARPS> of_warp;\n"
        "  };\n"
        "  HERE static int64_t spread(int64_t i) { return i + (i >> 3); }\n",
        b->out);
}

static void stage(const struct body *b) {
  fputs("  HERE static void stage(shared &m, int64_t i, const results &r) {\n", b->out);
  for (uint32_t i = 0; i < b->k->member_count; i++) {
    if (!is_reduced(b->k, i)) continue;
    fprintf(b->out, "    m.c%u[spread(i)] = r.v%u;\n", b->k->members[i].number,
            emit_kernel_groups_reduction(b, i)->operands[0]);
  }
  fputs("  }\n"
        "  HERE static void take_staged(lane &l, const shared &m, int64_t i) {\n",
        b->out);
  for (uint32_t i = 0; i < b->k->member_count; i++) {
    if (!is_reduced(b->k, i)) continue;
    const uint32_t node = b->k->members[i].number;
    fprintf(b->out, "    l.a%u = ", node);
    emit_combination_name(emit_combination(emit_kernel_groups_reduction(b, i)), b->out);
    fprintf(b->out, "(l.a%u, m.c%u[spread(i)]);\n", node, node);
  }
  fputs("  }\n", b->out);
}

/* Up to eight elements by one thread: the tree, of which all other lanes would be padding. */
static void alone(const struct body *b, uint32_t member) {
  const struct combine_row *row = emit_combination(emit_kernel_groups_reduction(b, member));
  const uint32_t node = b->k->members[member].number;
  const char *type = body_type(b, emit_kernel_groups_reduction(b, member)->result);
  fprintf(b->out,
          "  HERE static %s alone%u(const shared &m, int64_t first, int64_t count) {\n"
          "    %s v[ALONE];\n"
          "    EVERY_TIME\n"
          "    for (int q = 0; q < ALONE; q++)\n"
          "      v[q] = q < count ? (%s)m.c%u[spread(first + q)] : (%s)(%s);\n"
          "    EVERY_TIME\n"
          "    for (int w = ALONE / 2; w > 0; w /= 2) {\n"
          "      EVERY_TIME\n"
          "      for (int q = 0; q < w; q++) v[q] = ",
          type, node, type, type, node, type, row->pad);
  emit_combination_name(row, b->out);
  fprintf(b->out,
          "(v[q], v[q + w]);\n"
          "    }\n"
          "    return count == 0 ? (%s)(%s) : v[0];\n"
          "  }\n",
          type, row->identity);
}

/* ---- how lanes become results ---- */

static void emit_kernel_groups_fold(const struct body *b) {
  for (uint32_t i = 0; i < b->k->member_count; i++) {
    if (!is_reduced(b->k, i)) continue;
    const char *type = body_type(b, emit_kernel_groups_reduction(b, i)->result);
    fprintf(b->out, "      block.fold(r%u, [](%s x, %s y) { return ", b->k->members[i].number,
            type, type);
    emit_combination_name(emit_combination(emit_kernel_groups_reduction(b, i)), b->out);
    fputs("(x, y); });\n", b->out);
  }
}

/* Writes the result of a segment of `length`, which lane 0 has combined. */
static void emit_kernel_groups_give(const struct body *b, const char *indent) {
  for (uint32_t i = 0; i < b->k->member_count; i++) {
    if (!is_reduced(b->k, i)) continue;
    const uint32_t node = b->k->members[i].number;
    const char *type = body_type(b, emit_kernel_groups_reduction(b, i)->result);
    fprintf(b->out, "%sg%u[s] = length == 0 ? (%s)(%s) : r%u[t];\n", indent, node, type,
            emit_combination(emit_kernel_groups_reduction(b, i))->identity, node);
  }
}

/* ---- groups with few positions ---- */

static void evaluate_group(const struct body *b) {
  fputs("    block.each([&](int t) {\n"
        "      int64_t i = t;\n",
        b->out);
  if (body_is_plain(b->k)) {
    fputs("      const int64_t whole = plain() ? span : 0;\n"
          "      ROLLED\n"
          "      for (; i + (unroll - 1) * threads < whole; i += unroll * threads) {\n",
          b->out);
    body_plain_group(b, "base + i", "threads");
    fputs("        EVERY_TIME\n"
          "        for (int k = 0; k < unroll; k++) {\n"
          "          stage(block.shared, i + k * threads, r[k]);\n"
          "          put(base + i + k * threads, r[k]);\n"
          "        }\n"
          "      }\n",
          b->out);
  }
  fputs("      ROLLED\n"
        "      for (; i < span; i += threads) {\n"
        "        const results r = at(base + i);\n"
        "        stage(block.shared, i, r);\n"
        "        put(base + i, r);\n"
        "      }\n"
        "    });\n",
        b->out);
}

static void reduce_alone(const struct body *b, uint32_t d) {
  fprintf(b->out,
          "    typename B::template reg<uint32_t> waits;\n"
          "    block.each([&](int t) {\n"
          "      waits[t] = 0;\n"
          "      if (t >= count) return;\n"
          "      const int64_t s = first + t, length = p%u.length(s);\n"
          "      waits[t] = length > ALONE;\n"
          "      if (length > ALONE) return;\n"
          "      const int64_t begin = p%u.start(s) - base;\n",
          d, d);
  body_for_reductions(b, "      g%u[s] = alone%u(block.shared, begin, length);\n");
  fputs("    });\n", b->out);
}

static void reduce_by_warps(const struct body *b, uint32_t d) {
  fputs("    const int32_t waiting =\n"
        "        ravel::list_marked(block, waits, block.shared.waiting, block.shared.of_warp, "
        "WARPS);\n",
        b->out);
  body_declare_reductions(b);
  fprintf(b->out,
          "    for (int32_t k = 0; k < waiting; k += WARPS) {\n"
          "      block.each([&](int t) {\n"
          "        lane l;\n"
          "        if (k + t / ravel::WARP < waiting) {\n"
          "          const int64_t s = first + block.shared.waiting[k + t / ravel::WARP];\n"
          "          const int64_t begin = p%u.start(s) - base, end = begin + p%u.length(s);\n"
          "          for (int64_t i = begin + t %% ravel::WARP; i < end; i += ravel::WARP)\n"
          "            take_staged(l, block.shared, i);\n"
          "        }\n",
          d, d);
  body_for_reductions(b, "        r%u[t] = l.a%u;\n");
  fputs("      });\n", b->out);
  emit_kernel_groups_fold(b);
  fputs("      block.each([&](int t) {\n"
        "        if (t % ravel::WARP != 0 || k + t / ravel::WARP >= waiting) return;\n"
        "        const int64_t s = first + block.shared.waiting[k + t / ravel::WARP];\n",
        b->out);
  body_for_reductions(b, "        g%u[s] = r%u[t];\n");
  fputs("      });\n"
        "    }\n",
        b->out);
}

static void few_positions(const struct body *b, uint32_t d) {
  fputs("  template <class B>\n"
        "  HERE void few(B &block, int64_t first, int64_t count, int64_t base, int64_t span) "
        "const {\n",
        b->out);
  evaluate_group(b);
  reduce_alone(b, d);
  reduce_by_warps(b, d);
  fputs("  }\n", b->out);
}

/* ---- groups with many, and long segments ---- */

static void many_positions(const struct body *b, uint32_t d) {
  fputs("  template <class B> HERE void many(B &block, int64_t group, int64_t count) const {\n",
        b->out);
  body_declare_reductions(b);
  fprintf(b->out,
          "    for (int64_t k = 0; k < count; k += WARPS) {\n"
          "      block.each([&](int t) {\n"
          "        lane l;\n"
          "        const int64_t s = group + k + t / ravel::WARP;\n"
          "        int64_t first = 0, last = 0;\n"
          "        if (k + t / ravel::WARP < count && p%u.length(s) <= %d) {\n"
          "          first = p%u.start(s);\n"
          "          last = first + p%u.length(s);\n"
          "        }\n",
          d, CVL_REDUCE_BLOCK, d, d);
  body_lane_loop(b);
  body_for_reductions(b, "        r%u[t] = l.a%u;\n");
  fputs("      });\n", b->out);
  emit_kernel_groups_fold(b);
  fprintf(b->out,
          "      block.each([&](int t) {\n"
          "        const int64_t s = group + k + t / ravel::WARP;\n"
          "        if (t %% ravel::WARP != 0 || k + t / ravel::WARP >= count) return;\n"
          "        const int64_t length = p%u.length(s);\n"
          "        if (length > %d) return;\n",
          d, CVL_REDUCE_BLOCK);
  emit_kernel_groups_give(b, "        ");
  fputs("      });\n"
        "    }\n"
        "  }\n",
        b->out);
}

static void long_segments(const struct body *b, uint32_t d) {
  fputs("  template <class B> HERE void slots(B &block, int64_t number) const {\n"
        "    typename B::template reg<int64_t> slot;\n",
        b->out);
  body_declare_reductions(b);
  fprintf(b->out,
          "    const ravel::chunks longer = ravel::chunks_of(p%u, %d, %d, true);\n"
          "    block.each([&](int t) {\n"
          "      lane l;\n"
          "      const int64_t candidate = number * WARPS + t / ravel::WARP;\n"
          "      ravel::chunk c{};\n"
          "      int64_t first = 0, last = 0;\n"
          "      slot[t] = -1;\n"
          "      if (candidate < longer.candidates && longer.find(p%u, candidate, c)) {\n"
          "        const int64_t end = p%u.start(c.segment) + p%u.length(c.segment);\n"
          "        slot[t] = ravel::first_slot(p%u, c.segment, %d) + c.number;\n"
          "        first = p%u.start(c.segment) + c.number * %d;\n"
          "        last = first + %d < end ? first + %d : end;\n"
          "      }\n",
          d, SLOT_BITS, SLOT_BITS, d, d, d, d, CVL_REDUCE_BLOCK, d, CVL_REDUCE_BLOCK,
          CVL_REDUCE_BLOCK, CVL_REDUCE_BLOCK);
  body_lane_loop(b);
  body_for_reductions(b, "      r%u[t] = l.a%u;\n");
  fputs("    });\n", b->out);
  emit_kernel_groups_fold(b);
  fputs("    block.each([&](int t) {\n"
        "      if (t % ravel::WARP != 0 || slot[t] < 0) return;\n",
        b->out);
  body_for_reductions(b, "      t%u[slot[t]] = r%u[t];\n");
  fputs("    });\n"
        "  }\n",
        b->out);
}

void body_groups(const struct body *b) {
  const uint32_t d = b->op->segments;
  body_lane(b);
  emit_kernel_groups_shared(b);
  stage(b);
  for (uint32_t i = 0; i < b->k->member_count; i++) {
    if (is_reduced(b->k, i)) alone(b, i);
  }
  few_positions(b, d);
  many_positions(b, d);
  long_segments(b, d);
  fprintf(b->out,
          "  template <class B> HERE void operator()(B &block) const {\n"
          "    const int64_t groups = (p%u.count + n - 1) / n, number = block.index();\n"
          "    if (number >= groups) {\n"
          "      slots(block, number - groups);\n"
          "      return;\n"
          "    }\n"
          "    const int64_t first = number * n, left = p%u.count - first;\n"
          "    const int64_t count = left < n ? left : n, base = p%u.start(first);\n"
          "    const int64_t last = first + count - 1,\n"
          "                  span = p%u.start(last) + p%u.length(last) - base;\n"
          "    if (span <= STAGED)\n"
          "      few(block, first, count, base, span);\n"
          "    else\n"
          "      many(block, first, count);\n"
          "  }\n",
          d, d, d, d, d);
}
