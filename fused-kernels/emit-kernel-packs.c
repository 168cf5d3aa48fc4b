/* emit-kernel-packs.c - the kernel of a superoperator that packs: its plan, and what packs.hpp
 * asks of the struct. PACKs by the same flags are a list.
 *
 * In the text kK is where the values go that PACK K keeps.
 */
#include "fused-kernels/emit-kernel-body.h"

#include "base/check.h"
#include "fused-kernels/emit-expression.h"
#include "fused-kernels/emit-kernel-plan.h"

extern const char *const fused_published_text[];
extern const char *const fused_packs_text[];

/* A thread keeps the results of up to eight positions in so many bytes of registers; of fewer
 * where much is to be computed, which takes registers, too. */
enum { MOST_HELD = 192, FEW = 2 };

/* ---- lists ---- */

static uint32_t list_of(const struct fused_kernel *k, uint32_t flags) {
  uint32_t list = 0;
  for (uint32_t i = 0; i < k->member_count; i++) {
    if (k->members[i].kind != MEMBER_PACKING) continue;
    if (k->members[i].number == flags) return list;
    list++;
  }
  return list;
}

static uint32_t lists_of(const struct fused_kernel *k) {
  return list_of(k, SUPEROP_NONE);
}

/* ---- the plan ---- */

void packs_add_members(struct fused_kernel *k, kernel_add_member *add) {
  const struct superop *op = k->op;
  if (k->by_packs) add(k, MEMBER_TILES, 0, op->segments);
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t i = 0; i < op->node_count; i++) {
      const struct superop_node *node = &op->nodes[i];
      if (node->role != ROLE_PACK || k->tasks[i] != TASK_INSIDE) continue;
      if (pass == 0 && list_of(k, node->operands[1]) == lists_of(k))
        add(k, MEMBER_PACKING, node->operands[1], node->operands[1]);
      if (pass == 1) add(k, MEMBER_KEPT, i, node->operands[0]);
    }
  }
  invariant(lists_of(k) <= FUSED_GROUP_WARPS);
}

static bool is_kept(const struct fused_kernel *k, uint32_t v) {
  for (uint32_t i = 0; i < k->op->node_count; i++) {
    const struct superop_node *node = &k->op->nodes[i];
    if (node->role == ROLE_PACK && k->tasks[i] == TASK_INSIDE &&
        (node->operands[0] == v || node->operands[1] == v))
      return true;
  }
  return false;
}

bool packs_give(const struct fused_kernel *k, uint32_t v) {
  return k->by_packs && is_kept(k, v);
}

static unsigned emit_kernel_packs_each(const struct fused_kernel *k) {
  size_t bytes = 0;
  uint32_t nodes = 0;
  struct emit_needs needs = {false};
  emit_add_needs(&needs, k->op);
  for (uint32_t v = 0; v < k->op->value_count; v++) {
    const enum superop_kind kind = (enum superop_kind)k->op->kinds[v];
    if (!k->written[v] && !is_kept(k, v)) continue;
    bytes += elem_info(superop_elem(kind, k->widths.int_elem, k->widths.float_elem))->bytes;
  }
  for (uint32_t i = 0; i < k->op->node_count; i++) nodes += k->tasks[i] == TASK_INSIDE;
  unsigned most = needs.functions || nodes > KERNEL_LIGHT_NODES ? FEW : 8;
  while (most > 1 && most * bytes > MOST_HELD) most /= 2;
  return most;
}

unsigned fused_kernel_tile(const struct fused_kernel *k) {
  return emit_kernel_packs_each(k) * FUSED_BLOCK_THREADS;
}

/* ---- the text ---- */

static void each_pack(const struct body *b,
                      void (*write)(const struct body *, uint32_t k, uint32_t list)) {
  for (uint32_t i = 0; i < b->k->member_count; i++) {
    const uint32_t k = b->k->members[i].number;
    if (b->k->members[i].kind == MEMBER_KEPT)
      write(b, k, list_of(b->k, b->op->nodes[k].operands[1]));
  }
}

static void emit_kernel_packs_keep(const struct body *b, uint32_t k, uint32_t list) {
  fprintf(b->out, "    if (bits >> %u & 1) k%u[to[%u]] = r.v%u;\n", list, k, list,
          b->op->nodes[k].operands[0]);
}

static void emit_kernel_packs_clear(const struct body *b, uint32_t k, uint32_t list) {
  fprintf(b->out, "    if (list == %u) k%u[i] = (%s)0;\n", list, k,
          body_type(b, b->op->nodes[k].operands[0]));
}

static void emit_kernel_packs_flags(const struct body *b) {
  uint32_t list = 0;
  fputs("  HERE static uint32_t flags(const results &r) {\n    return 0u", b->out);
  for (uint32_t i = 0; i < b->k->member_count; i++) {
    const struct fused_member *m = &b->k->members[i];
    if (m->kind == MEMBER_PACKING)
      fprintf(b->out, " | (uint32_t)(r.v%u != 0) << %u", m->number, list++);
  }
  fputs(";\n  }\n", b->out);
}

void body_packs(const struct body *b) {
  emit_kernel_packs_flags(b);
  fputs("  HERE void keep(const results &r, uint32_t bits, const int64_t (&to)[LISTS]) const "
        "{\n",
        b->out);
  each_pack(b, emit_kernel_packs_keep);
  fputs("  }\n  HERE void clear(int list, int64_t i) const {\n", b->out);
  each_pack(b, emit_kernel_packs_clear);
  fprintf(b->out,
          "  }\n"
          "  HERE const ravel::packing<TILE_BITS> &by(int list) const { return lists[list]; }\n"
          "  HERE const ravel::segments &under() const { return p%u; }\n"
          "  template <class B> HERE void operator()(B &block) const {\n"
          "    ravel::packing_tile<self, B>{*this, block, {}}.all();\n"
          "  }\n",
          b->op->segments);
}

void packs_declare(const struct body *b, const char *name) {
  fprintf(
      b->out,
      "  enum { threads = %d, EACH = %u, LISTS = %u, TILE_BITS = ravel::packing_bits(EACH) };\n"
      "  using self = %s;\n"
      "  using shared = ravel::packing_memory<LISTS, EACH>;\n",
      FUSED_BLOCK_THREADS, emit_kernel_packs_each(b->k), lists_of(b->k), name);
}

void packs_member(const struct body *b, const struct fused_member *m) {
  if (m->kind == MEMBER_TILES) fputs("  ravel::ptr<uint64_t> next;\n", b->out);
  if (m->kind == MEMBER_PACKING && list_of(b->k, m->number) == 0)
    fputs("  ravel::packing<TILE_BITS> lists[LISTS];\n", b->out);
  if (m->kind == MEMBER_KEPT)
    fprintf(b->out, "  ravel::ptr<%s> k%u;\n",
            body_type(b, b->op->nodes[m->number].operands[0]), m->number);
}

void emit_kernel_packs(FILE *out) {
  const char *const *const texts[] = {fused_published_text, fused_packs_text};
  emit_kernel_chunks(out);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    for (const char *const *line = texts[i]; *line != NULL; line++) fputs(*line, out);
  }
}
