/* kernel-strides.c - gathers and scatters whose index goes on by one from each position to the
 * next: they go on from an address, which is checked before the loop. Where an index starts
 * anew, as that of a rotation does, a loop ends, and another one begins.
 */
#include "fused-kernels/loops/kernel-text.h"

bool is_pointed(const struct kernel_text *x, const struct kernel_statement *s) {
  const bool gathers = s->kind == KERNEL_GATHER;
  if ((!gathers && s->kind != KERNEL_SCATTER) || s->stride == 0 || x->single) return false;
  if (gathers && param_form(x, s->param) != FORM_VECTOR) return false;
  if (s->turns && (x->lanes || x->stays)) return false; /* a row of lanes is whole */
  return level_of_near(x, s->near) != KERNEL_OF_POSITION;
}

static bool some_pointed(const struct kernel_text *x, bool turns) {
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (s->turns == turns && is_pointed(x, s)) return true;
  }
  return false;
}

bool has_pieces(const struct kernel_text *x) {
  return some_pointed(x, true);
}

static struct snippet address(const struct kernel_statement *s) {
  return s->kind == KERNEL_SCATTER ? numbered("wo", s->output) : numbered("wi", s->value);
}

static uint32_t index_of(const struct kernel_statement *s) {
  return s->operands[s->kind == KERNEL_SCATTER ? 1 : 0];
}

static void declare_addresses(const struct kernel_text *x, bool turns) {
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (s->turns == turns && is_pointed(x, s))
      fprintf(x->out, "%s%s *%s = 0;\n", s->kind == KERNEL_SCATTER ? "" : "const ",
              statement_type(s), address(s).text);
  }
}

/* Whether what a statement computes at a position follows from what is known in its segment:
 * not if it is in segments of another descriptor. */
static bool is_known(const struct kernel_text *x, const struct kernel_statement *s) {
  bool known = s->kind == KERNEL_MAP || level_of_near(x, s->near) != KERNEL_OF_POSITION;
  for (uint32_t k = 0; k < x->k->count && s->kind == KERNEL_MAP; k++) {
    const struct kernel_statement *from = &x->k->statements[k];
    bool read = false;
    for (unsigned i = 0; i < s->count; i++)
      read |= from->value != SUPEROP_NONE && from->value == s->operands[i];
    if (read && level_of(x, from) == KERNEL_OF_POSITION)
      known = known && from->starts && is_known(x, from);
  }
  return known;
}

/* Computes what indices at position i are made of. */
static void print_starts(const struct kernel_text *x) {
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (!s->starts || level_of(x, s) != KERNEL_OF_POSITION || !is_known(x, s)) continue;
    if (s->kind == KERNEL_OFFSET)
      print_offset(x, k);
    else
      print_map(x, k);
  }
}

/* All of `more` elements must be in their segment. */
static void require_all(const struct kernel_text *x, const struct kernel_statement *s) {
  if (!s->checked) return;
  fputs("{\nconst uint64_t extent = ", x->out);
  put_extent(x, s);
  put(x->out,
      s->stride > 0
          ? ";\nif ((uint64_t)v$0 >= extent || more > extent - (uint64_t)v$0) return 0;\n}\n"
          : ";\nif ((uint64_t)v$0 >= extent || more > (uint64_t)v$0 + 1) return 0;\n}\n",
      index_of(s));
}

static void point(const struct kernel_text *x, const struct kernel_statement *s) {
  require_all(x, s);
  fprintf(x->out, "%s = ", address(s).text);
  if (s->kind == KERNEL_SCATTER)
    put(x->out, x->range ? "r$0 + begin$0" : "r$0", s->output);
  else
    put_data(x->out, &x->params[s->param]);
  fputs(" + (", x->out);
  put_base(x, s);
  put(x->out, s->stride > 0 ? ") + v$0 - (int64_t)i;\n" : ") + v$0 + (int64_t)i;\n",
      index_of(s));
}

static void point_all(const struct kernel_text *x, bool turns) {
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (s->turns == turns && is_pointed(x, s)) point(x, s);
  }
}

/* The addresses of an empty segment are not looked at. */
void point_segment(const struct kernel_text *x) {
  if (!some_pointed(x, false)) return;
  declare_addresses(x, false);
  fputs("if (begin < end) {\nconst uint64_t more = end - begin;\n", x->out);
  print_starts(x);
  point_all(x, false);
  fputs("}\n", x->out);
}

/* ---- reading ahead ---- */

/* Gathers of a segment that go on from an address, which may be anywhere. */
static bool is_read_ahead(const struct kernel_text *x, const struct kernel_statement *s) {
  return s->kind == KERNEL_GATHER && s->near == x->main && !s->turns && is_pointed(x, s);
}

/* Whether where they begin in a later segment may be computed: nothing may fail. */
static bool reads_ahead(const struct kernel_text *x) {
  bool reads = false;
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    const bool before = level_of(x, s) == KERNEL_OF_SEGMENT || s->starts;
    if (before && may_fail(s)) return false;
    reads |= is_read_ahead(x, s);
  }
  return x->range && reads;
}

void read_ahead(const struct kernel_text *x, kernel_level_printer *print_level) {
  if (!reads_ahead(x)) return;
  put(x->out,
      "if (g + NATIVE_AHEAD < c$0) {\n"
      "const uint64_t later = g + NATIVE_AHEAD;\n"
      "const uint64_t g = later, i = o$0[g] - o$0[0];\n"
      "(void)i;\n",
      x->params[x->main].v);
  print_level(x, KERNEL_OF_SEGMENT);
  print_starts(x);
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (!is_read_ahead(x, s)) continue;
    fputs("NATIVE_PREFETCH((uintptr_t)", x->out);
    put_data(x->out, &x->params[s->param]);
    fputs(" + ((", x->out);
    put_base(x, s);
    put_with(x->out, statement_type(s), ") + (uint64_t)v$0) * sizeof($w));\n", index_of(s));
  }
  fputs("}\n", x->out);
}

/* ---- slices ---- */

static bool is_by_the_way(const struct kernel_statement *s) {
  return !s->checked && s->kind <= KERNEL_MAP && s->kind != KERNEL_LOAD;
}

/* The last statement but one gathers, and the last one stores that. */
bool is_slice(const struct kernel_text *x) {
  if (x->k->count < 2 || x->main != SUPEROP_NONE) return false;
  const struct kernel_statement *stores = &x->k->statements[x->k->count - 1], *s = stores - 1;
  const struct held *out = output_of(x, stores->output);
  for (uint32_t k = 0; k + 2 < x->k->count; k++) {
    if (!is_by_the_way(&x->k->statements[k])) return false;
  }
  return s->kind == KERNEL_GATHER && s->stride > 0 && !s->turns && is_pointed(x, s) &&
         stores->kind == KERNEL_STORE && stores->operands[0] == s->value && out &&
         out->form == FORM_VECTOR && !out->append;
}

void point_slice(const struct kernel_text *x) {
  const struct kernel_statement *stores = &x->k->statements[x->k->count - 1], *s = stores - 1;
  const uint32_t v = output_of(x, stores->output)->v;
  put_with(x->out, statement_type(s), "n$0 = n;\nx$0 = ($w *)&native_zero;\n", v);
  fputs("const uint64_t i = 0, g = 0, begin = 0, end = n;\n(void)g;\n", x->out);
  point_segment(x);
  put_with(x->out, statement_type(s), "if (begin < end) x$0 = ($w *)wi$1;\n", v, s->value);
}

/* ---- pieces ---- */

/* Ends the piece where a comparison of something that counts up changes: where that is what it
 * is compared with, or one more; and where it wraps around. */
static void print_turn(const struct kernel_text *x, const struct kernel_statement *s) {
  const bool left = s->stride > 0;
  const uint32_t counts = s->operands[left ? 0 : 1], with = s->operands[left ? 1 : 0];
  const bool equal = s->op == OPC_EQ || s->op == OPC_NE;
  const bool at =
      left ? s->op == OPC_LT || s->op == OPC_GE : s->op == OPC_LE || s->op == OPC_GT;
  if (at || equal) put(x->out, "more = native_until(U(v$0), U(v$1), more);\n", counts, with);
  if (!at) put(x->out, "more = native_until(U(v$0), U(v$1) + 1, more);\n", counts, with);
  put(x->out, "more = native_until(U(v$0), U(INT_LEAST), more);\n", counts);
}

bool may_stay(const struct kernel_text *x) {
  bool stays = false;
  for (uint32_t k = 0; k < x->k->count; k++) stays |= x->k->statements[k].moving != 0;
  return stays;
}

/* Whether all that is chosen goes on in the piece. */
static void print_moves(const struct kernel_text *x) {
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (s->moving)
      put(x->out, s->moving == 1 ? "moves &= v$0;\n" : "moves &= !v$0;\n", s->operands[0]);
  }
}

void begin_piece(const struct kernel_text *x, const char *end) {
  const bool stays = may_stay(x);
  fprintf(x->out, "while (i < %s) {\nuint64_t more = %s - i;\n", end, end);
  if (stays) fputs("INT moves = 1;\n", x->out);
  declare_addresses(x, true);
  fputs("{\n", x->out);
  print_starts(x);
  for (uint32_t k = 0; k < x->k->count; k++) {
    if (x->k->statements[k].kind == KERNEL_MAP && x->k->statements[k].turns)
      print_turn(x, &x->k->statements[k]);
  }
  if (stays) {
    print_moves(x);
    fputs("if (moves) {\n", x->out);
  }
  point_all(x, true);
  fputs(stays ? "}\n}\n" : "}\n", x->out);
  fputs("const uint64_t piece = i + more;\n", x->out);
}
