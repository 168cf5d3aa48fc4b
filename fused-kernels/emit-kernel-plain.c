/* emit-kernel-plain.c - which kernels have two versions of what is done at a position, one of
 * them for plain operands; and what plain.hpp asks of their struct.
 */
#include "fused-kernels/emit-kernel-body.h"

#include "fused-kernels/emit-expression.h"
#include "fused-kernels/fused.h"

extern const char *const fused_plain_text[];

void emit_kernel_plain(FILE *out) {
  for (const char *const *line = fused_plain_text; *line != NULL; line++) fputs(*line, out);
}

/* Where a thread loads for several positions; packs, scans, scatters and combinations have
 * loops of their own. */
bool body_is_plain(const struct fused_kernel *k) {
  const bool trees = k->by_slots && k->block_slots == 1;
  return !k->copies && body_unrolled(k) > 1 && !trees && !k->by_packs &&
         k->scan == SUPEROP_NONE && k->scatter == SUPEROP_NONE && k->block_positions == 0;
}

void body_gather_from(const struct body *b, uint32_t param, const char *at) {
  if (body_is_plain(b->k))
    fprintf(b->out, "ravel::element<PLAIN>(p%u, %s)", param, at);
  else
    fprintf(b->out, "p%u[%s]", param, at);
}

/* ---- the members ---- */

static void declare_plain(const struct body *b) {
  fputs("  HERE bool plain() const {\n    return true", b->out);
  for (uint32_t i = 0; i < b->k->member_count; i++) {
    const struct fused_member *m = &b->k->members[i];
    if (m->kind == MEMBER_OPERAND) fprintf(b->out, " && ravel::is_plain(p%u)", m->number);
  }
  fputs(";\n  }\n", b->out);
}

/* Calls `write` for every operand that is loaded at the position. */
static void each_loaded(const struct body *b, void (*write)(const struct body *, uint32_t v)) {
  for (uint32_t v = 0; v < b->op->value_count; v++) {
    if (body_loads(b, v)) write(b, v);
  }
}

static void emit_kernel_plain_declare(const struct body *b, uint32_t v) {
  fprintf(b->out, "    %s v%u;\n", body_type(b, v), v);
}

static void emit_kernel_plain_load(const struct body *b, uint32_t v) {
  fprintf(b->out,
          "    ravel::load_plain<COUNT, STEP>(p%u, i, [&](int k, %s v) { x[k].v%u = v; });\n",
          v, body_type(b, v), v);
}

static void any_element(const struct body *b, uint32_t v) {
  fprintf(b->out, "    x.v%u = p%u[i];\n", v, v);
}

static void emit_kernel_plain_name(const struct body *b, uint32_t v) {
  fprintf(b->out, "    const %s v%u = x.v%u;\n", body_type(b, v), v, v);
}

void body_named_operands(const struct body *b) {
  fputs("    (void)x;\n    (void)i;\n", b->out);
  each_loaded(b, emit_kernel_plain_name);
}

void body_plain(const struct body *b) {
  char more[16];
  body_segment(b, more);
  declare_plain(b);
  fputs("  struct operands {\n", b->out);
  each_loaded(b, emit_kernel_plain_declare);
  fputs("  };\n"
        "  template <int STEP, int COUNT>\n"
        "  HERE void load(operands (&x)[COUNT], int64_t i) const {\n"
        "    (void)x;\n"
        "    (void)i;\n",
        b->out);
  each_loaded(b, emit_kernel_plain_load);
  fprintf(b->out,
          "  }\n"
          "  HERE results at(int64_t i%s%s) const {\n"
          "    operands x;\n",
          more[0] != '\0' ? ", int64_t " : "", more[0] != '\0' ? more + 2 : "");
  each_loaded(b, any_element);
  fprintf(b->out, "    return of<false>(x, i%s);\n  }\n", more);
}

/* ---- loops ---- */

void body_plain_group(const struct body *b, const char *first, const char *step) {
  char more[16];
  body_segment(b, more);
  fprintf(b->out,
          "        operands x[unroll];\n"
          "        results r[unroll];\n"
          "        load<%s>(x, %s);\n"
          "        EVERY_TIME\n"
          "        for (int k = 0; k < unroll; k++) r[k] = of<true>(x[k], %s + k * %s%s);\n",
          step, first, first, step, more);
}

void body_plain_alone(const struct body *b) {
  fputs("  HERE void operator()(int64_t i) const {\n"
        "    operands x[1]{};\n"
        "    if (plain()) load<1>(x, i);\n"
        "    put(i, plain() ? of<true>(x[0], i) : at(i));\n"
        "  }\n",
        b->out);
}
