/* emit-loop.c - one C function for a loop that every position executes for itself: each of some
 * lanes has a position; all lanes iterate together, and one whose position has finished takes
 * the next.
 */
#include "fused-kernels/emit-expression.h"

struct loop {
  const struct superop *op;
  struct superop_loop range;
  struct widths widths;
  FILE *out;
};

/* Declares constants, arrays, and the carried values of the lanes. */
static void declare_loop(const struct loop *l) {
  for (uint32_t v = l->op->param_count; v < l->op->value_count; v++) {
    const struct cvl_value *c = emit_spread_constant(l->op, v);
    bool used = false;
    for (uint32_t k = l->range.first + l->range.count; k <= l->range.last && c != NULL; k++) {
      const struct superop_node *node = &l->op->nodes[k];
      for (unsigned i = 0; i < node->operand_count; i++) used |= node->operands[i] == v;
    }
    if (!used) continue;
    fprintf(l->out, "  const %s v%u = ", emit_type_of(l->op, l->widths, v), v);
    emit_literal(c, l->out);
    fputs(";\n", l->out);
  }
  for (uint32_t i = 0; i < l->range.count; i++) {
    const struct superop_node *carry = &l->op->nodes[l->range.first + i];
    const uint32_t result = l->op->nodes[l->range.next + i].result;
    const char *type = emit_type_of(l->op, l->widths, result);
    fprintf(l->out,
            "  const %s *in%u = in[%u];\n  %s *out%u = out[%u];\n  %s c%u[LANES] = {0};\n",
            type, carry->result, carry->operands[0], type, result, result, type, carry->result);
  }
  fprintf(l->out, "  %s on[LANES] = {0};\n", emit_type(l->widths, SUPEROP_INT));
}

/* Lanes that have finished write their results and take the next positions. */
static void emit_loop_refill(const struct loop *l) {
  fputs("    unsigned busy = 0;\n"
        "    for (unsigned j = 0; j < LANES; j++) {\n"
        "      if (!on[j] && at[j] < n) {\n",
        l->out);
  for (uint32_t i = 0; i < l->range.count; i++) {
    fprintf(l->out, "        out%u[at[j]] = c%u[j];\n", l->op->nodes[l->range.next + i].result,
            l->op->nodes[l->range.first + i].result);
  }
  fputs("        at[j] = n;\n      }\n      if (at[j] == n && next < n) {\n", l->out);
  for (uint32_t i = 0; i < l->range.count; i++) {
    const uint32_t v = l->op->nodes[l->range.first + i].result;
    fprintf(l->out, "        c%u[j] = in%u[next];\n", v, v);
  }
  fputs("        on[j] = 1;\n        at[j] = next++;\n      }\n"
        "      busy += at[j] < n;\n    }\n"
        "    if (busy == 0) return 1;\n"
        "    if (asks && turn % UNASKED == 0 && asks(with)) return 0;\n",
        l->out);
}

/* A round of all lanes, in one loop that compilers vectorise. */
static void round_of_lanes(const struct loop *l) {
  const struct superop_node *nodes = l->op->nodes;
  fputs(EMIT_IVDEP "      for (unsigned j = 0; j < LANES; j++) {\n", l->out);
  for (uint32_t k = l->range.first; k < l->range.next; k++) {
    const uint32_t v = nodes[k].result;
    const char *type = nodes[k].role == ROLE_WHILE ? NULL : emit_type_of(l->op, l->widths, v);
    if (nodes[k].role == ROLE_CARRY) {
      fprintf(l->out, "        const %s v%u = c%u[j];\n        (void)v%u;\n", type, v, v, v);
    } else if (nodes[k].role == ROLE_WHILE) {
      const char *wide = emit_type(l->widths, SUPEROP_INT);
      fprintf(l->out, "        const %s stays = v%u ? on[j] : (%s)0;\n        on[j] = stays;\n",
              wide, nodes[k].operands[0], wide);
    } else {
      fprintf(l->out, "        const %s v%u = (%s)(", type, v, type);
      emit_map(emit_row(&nodes[k])->expression, &nodes[k], l->out);
      fputs(");\n", l->out);
      if (l->op->uses[v] == 0) fprintf(l->out, "        (void)v%u;\n", v);
    }
  }
  for (uint32_t k = l->range.next; k <= l->range.last; k++) {
    const uint32_t *v = nodes[k].operands;
    if (v[0] == v[1]) continue;
    fprintf(l->out, "        c%u[j] = stays ? v%u : v%u;\n", v[0], v[1], v[0]);
  }
  fputs("      }\n", l->out);
}

/* A lane that has finished waits for at most ROUNDS rounds: checking more often would cost more
 * than what it computes in vain. */
void fused_emit_loop(const struct superop *op, uint32_t first, struct widths widths,
                     const char *name, FILE *out) {
  const struct loop l = {op, superop_loop_at(op, first), widths, out};
  for (int declared = 0; declared < 2; declared++) {
    fprintf(
        out,
        "_Bool %s(uint64_t n, const void *const *in, void *const *out, _Bool (*asks)(void *),\n"
        "    void *with)%s",
        name, declared ? " {\n" : ";\n");
  }
  fputs("  enum { LANES = 16, ROUNDS = 8, UNASKED = 1024 };\n"
        "  uint64_t at[LANES], next = 0;\n",
        out);
  declare_loop(&l);
  fputs("  for (unsigned j = 0; j < LANES; j++) at[j] = n;\n"
        "  for (uint64_t turn = 1;; turn++) {\n",
        out);
  emit_loop_refill(&l);
  fputs("    for (unsigned r = 0; r < ROUNDS; r++) {\n", out);
  round_of_lanes(&l);
  fputs("    }\n  }\n}\n\n", out);
}
