/* print-kernel.c - a kernel as loops of C, for one thread: the segments of the domain one after
 * the other, in each its positions.
 *
 * What has the same value everywhere, or in a segment, is computed before the loop. The loop
 * over positions has no branches but those of the program: what fails is noted in `bad`, and
 * looked at behind the loop. Flags there are INTs, since vectors have as many lanes as the
 * narrowest type has. Sums of FLOATs, whose order the tree fixes, are computed a block
 * at a time.
 */
#include "procedures/private.h"

#include <string.h>

struct kernel_text {
  struct procedures_text *t;
  const struct kernel *k;
  const struct superop *op;
  const struct held *params, *outputs;
  FILE *out;
  uint8_t *levels; /* of every value: enum kernel_level */
  uint32_t main; /* the descriptor whose segments the loops follow; SUPEROP_NONE: one segment */
  bool single;   /* there is one position: no loops */
  bool checks;   /* something may fail at positions: `fine` says that nothing has there */
  bool plain;    /* and nothing is combined: what fails returns at once */
  bool blocks;   /* positions are executed a block at a time */
  bool in_loop;  /* while statements of a loop are printed */
  uint32_t f;    /* the number of its combination */
};

/* ---- what is read ---- */

static const char *type_of(const struct kernel_text *x, enum superop_kind kind) {
  switch (kind) {
  case SUPEROP_INT: return "INT";
  case SUPEROP_FLOAT: return "FLOAT";
  case SUPEROP_BOOL:
  case SUPEROP_SEGDES: break;
  }
  (void)x;
  return "uint8_t";
}

static enum form form_of(const struct kernel_text *x, uint32_t param) {
  return (enum form)x->params[param].form;
}

static bool is_segmented(const struct kernel_text *x, uint32_t descriptor) {
  return descriptor != SUPEROP_NONE && form_of(x, descriptor) == FORM_SEGMENTS;
}

/* Writes an element of a parameter, at a position that is an expression. */
static void put_element(const struct kernel_text *x, uint32_t param, const char *at) {
  const struct held *h = &x->params[param];
  if (h->form == FORM_SCALAR || h->form == FORM_SAME)
    fprintf(x->out, "x%u", h->v);
  else if (h->form == FORM_LENGTHS)
    fprintf(x->out, "(INT)(o%u[(%s) + 1] - o%u[%s])", h->base, at, h->base, at);
  else if (h->form == FORM_STARTS)
    fprintf(x->out, "(INT)(o%u[%s] - o%u[0])", h->base, at, h->base);
  else
    fprintf(x->out, "x%u[%s]", h->v, at);
}

/* Writes where the elements of a parameter are. */
static void put_address(const struct kernel_text *x, uint32_t param) {
  fprintf(x->out, form_of(x, param) == FORM_SCALAR ? "(&x%u)" : "x%u", x->params[param].v);
}

static void size_text(const struct kernel_text *x, struct superop_size size, char text[80]) {
  const bool known =
      size.what == SIZE_LEN || size.what == SIZE_TOTAL || size.what == SIZE_COUNT;
  const ir_var v = known ? x->params[size.param].v : 0;
  const enum form form = known ? form_of(x, size.param) : FORM_SCALAR;
  if (form == FORM_LENGTHS || form == FORM_STARTS)
    snprintf(text, 80, "c%u", x->params[size.param].base);
  else if (form == FORM_SCALAR || (form == FORM_ONE && size.what == SIZE_COUNT))
    snprintf(text, 80, "UINT64_C(1)");
  else if (form == FORM_SEGMENTS && size.what == SIZE_COUNT)
    snprintf(text, 80, "c%u", v);
  else if (form == FORM_SEGMENTS)
    snprintf(text, 80, "(o%u[c%u] - o%u[0])", v, v, v);
  else
    snprintf(text, 80, "n%u", v);
}

static void put_size(const struct kernel_text *x, struct superop_size size) {
  char text[80];
  size_text(x, size, text);
  fputs(text, x->out);
}

static const char *position(const struct kernel_text *x) {
  return x->plain ? "0" : "i";
}

/* Writes the number of the segment that a position is in. */
static void put_segment(const struct kernel_text *x, uint32_t near) {
  if (near == SUPEROP_NONE)
    fputs(position(x), x->out);
  else if (!is_segmented(x, near))
    fputs("0", x->out);
  else if (near == x->main)
    fputs("g", x->out);
  else
    fprintf(x->out, "s%u", near);
}

/* ---- levels ---- */

static enum kernel_level level_of_near(const struct kernel_text *x, uint32_t near) {
  if (near == SUPEROP_NONE) return KERNEL_OF_POSITION;
  if (!is_segmented(x, near)) return KERNEL_EVERYWHERE;
  return near == x->main ? KERNEL_OF_SEGMENT : KERNEL_OF_POSITION;
}

static enum kernel_level max_level(enum kernel_level a, enum kernel_level b) {
  return a > b ? a : b;
}

static enum kernel_level level_of_statement(const struct kernel_text *x,
                                            const struct kernel_statement *s) {
  enum kernel_level level = KERNEL_EVERYWHERE;
  if ((s->kind == KERNEL_LOAD || s->kind == KERNEL_SPREAD) && form_of(x, s->param) == FORM_SAME)
    return KERNEL_EVERYWHERE;
  for (unsigned i = 0; i < s->count; i++)
    level = max_level(level, (enum kernel_level)x->levels[s->operands[i]]);
  switch ((enum kernel_statement_kind)s->kind) {
  case KERNEL_CONSTANT: return KERNEL_EVERYWHERE;
  case KERNEL_SPREAD: return level_of_near(x, s->near);
  case KERNEL_MAP:
  case KERNEL_CHECK: return level;
  default: return KERNEL_OF_POSITION;
  }
}

static enum kernel_level level_of(const struct kernel_text *x,
                                  const struct kernel_statement *s) {
  return s->value != SUPEROP_NONE ? (enum kernel_level)x->levels[s->value]
                                  : level_of_statement(x, s);
}

static bool may_fail(const struct kernel_statement *s) {
  return s->kind == KERNEL_CHECK || (s->checked && s->kind != KERNEL_SCATTER);
}

/* Statements of a loop are executed where they stand. */
static bool find_levels(struct kernel_text *x, struct arena *arena) {
  x->levels = arena_alloc(arena, x->k->values + 1);
  bool loop = false;
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    loop |= s->kind == KERNEL_CARRY;
    if (s->value != SUPEROP_NONE)
      x->levels[s->value] =
          (uint8_t)(loop && s->kind != KERNEL_CONSTANT ? KERNEL_OF_POSITION
                                                       : level_of_statement(x, s));
    if (s->kind == KERNEL_NEXT) loop = false;
    x->checks |= may_fail(s) && level_of(x, s) == KERNEL_OF_POSITION;
  }
  return true;
}

/* ---- the shape of the loops ---- */

static const struct combine_row *row_of(const struct kernel_statement *s) {
  return combine_row(opcode_info((enum opcode)s->op)->operation,
                     type_word_class((enum type_word)s->word));
}

static bool in_blocks(const struct kernel_statement *s) {
  return s->kind == KERNEL_KEEP || (s->kind == KERNEL_REDUCE && !row_of(s)->exact);
}

static void find_shape(struct kernel_text *x, const struct unit_sizes *units) {
  /* Consumers end with segments of their own descriptor, if it is one segment, too. */
  const bool consumes = x->op->segments != SUPEROP_NONE;
  x->main = is_segmented(x, x->op->segments) ? x->op->segments : SUPEROP_NONE;
  bool segmented = x->main != SUPEROP_NONE;
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    x->blocks |= in_blocks(s);
    if (!is_segmented(x, s->near)) continue;
    segmented = true;
    if (x->main == SUPEROP_NONE && !consumes) x->main = s->near;
  }
  x->single = !segmented && unit_size(units, x->op->domain);
  if (x->single) x->blocks = false;
  x->plain = x->single;
  for (uint32_t k = 0; k < x->k->count; k++) {
    const uint8_t kind = x->k->statements[k].kind;
    x->plain = x->plain && (kind < KERNEL_CARRY || kind == KERNEL_STORE);
  }
}

/* ---- expressions ---- */

static void put_expression(const struct kernel_text *x, const char *text,
                           const struct kernel_statement *s) {
  char names[KERNEL_OPERANDS][16];
  const char *operands[KERNEL_OPERANDS];
  for (unsigned i = 0; i < s->count; i++) {
    snprintf(names[i], sizeof names[i], "v%u", s->operands[i]);
    operands[i] = names[i];
  }
  emit_expression(text, s->count, operands, x->out);
}

static void put_combined(const struct kernel_text *x, const struct combine_row *row,
                         const char *a, const char *b) {
  emit_expression(row->expression, 2, (const char *const[]){a, b}, x->out);
}

/* What is written around a condition that must not hold. */
static const char *fails(const struct kernel_text *x, const struct kernel_statement *s) {
  if (x->single) return "if (";
  return level_of(x, s) == KERNEL_OF_POSITION ? "fine &= !(" : "bad |= (";
}

static const char *fails_end(const struct kernel_text *x) {
  return x->single ? ") return 0;\n" : ");\n";
}

static void print_map(const struct kernel_text *x, const struct kernel_statement *s) {
  const struct map_row *row = opcode_map_row((enum opcode)s->op, (enum type_word)s->word);
  const char *type = type_of(x, (enum superop_kind)s->type);
  if (s->checked && row->condition) {
    fprintf(x->out, "const INT ok%u = ", s->value);
    put_expression(x, row->condition, s);
    fprintf(x->out, ";\n%s!ok%u%s", fails(x, s), s->value, fails_end(x));
  }
  fprintf(x->out, "const %s v%u = ", s->type == SUPEROP_BOOL ? "_Bool" : type, s->value);
  if (s->checked && row->condition && !x->single)
    fprintf(x->out, "!ok%u ? (%s)0 : ", s->value, type);
  fprintf(x->out, "(%s)(", type);
  put_expression(x, row->expression, s);
  fputs(");\n", x->out);
}

/* Where the segment begins that a gather reads from, and its length. */
static void put_base(const struct kernel_text *x, const struct kernel_statement *s) {
  const ir_var far = x->params[s->far].v;
  if (!is_segmented(x, s->far)) {
    fputs("0", x->out);
    return;
  }
  fprintf(x->out, "o%u[", far);
  put_segment(x, s->near);
  fprintf(x->out, "] - o%u[0]", far);
}

static void put_extent(const struct kernel_text *x, const struct kernel_statement *s) {
  const ir_var far = x->params[s->far].v;
  if (!is_segmented(x, s->far)) {
    fprintf(x->out, "n%u", far);
    return;
  }
  fprintf(x->out, "o%u[", far);
  put_segment(x, s->near);
  fprintf(x->out, " + 1] - o%u[", far);
  put_segment(x, s->near);
  fputs("]", x->out);
}

/* Writes a constant atV: the number of the element that a gather reads; of the first one where
 * a check has failed at the position. */
static void print_at(const struct kernel_text *x, const struct kernel_statement *s,
                     const char *index) {
  fprintf(x->out, "const uint64_t at%u = ", s->value);
  if (x->checks && !x->single && s->count == 1) fputs("!fine ? 0 : ", x->out);
  put_base(x, s);
  fprintf(x->out, " + %s;\n", index);
}

static void print_gather(const struct kernel_text *x, const struct kernel_statement *s) {
  const char *type = type_of(x, (enum superop_kind)s->type);
  const uint32_t v = s->value;
  const bool flagged = s->count > 1;
  char index[40], at[24];
  if (s->checked) {
    fprintf(x->out, "const INT ok%u = ", v);
    if (flagged) fprintf(x->out, "!v%u || ", s->operands[1]);
    fprintf(x->out, "(uint64_t)v%u < ", s->operands[0]);
    put_extent(x, s);
    fprintf(x->out, ";\n%s!ok%u%s", fails(x, s), v, fails_end(x));
  }
  snprintf(index, sizeof index, "(uint64_t)v%u", s->operands[0]);
  print_at(x, s, index);
  fprintf(x->out, "const %s v%u = ", type, v);
  if (flagged)
    fprintf(x->out, "!v%u%s ? (%s)0 : ", s->operands[1],
            x->checks && !x->single ? " || !fine" : "", type);
  snprintf(at, sizeof at, "at%u", v);
  put_element(x, s->param, at);
  fputs(";\n", x->out);
}

static bool is_in_memory(const struct kernel_text *x, uint32_t param) {
  return form_of(x, param) == FORM_VECTOR || form_of(x, param) == FORM_SCALAR;
}

/* Whether a run is checked once, before the loop over the positions of its segment. */
static bool is_pointed(const struct kernel_text *x, const struct kernel_statement *s) {
  if (s->kind == KERNEL_RUN && !is_in_memory(x, s->param)) return false;
  return (s->kind == KERNEL_RUN || s->run) && !x->plain && !x->single &&
         level_of_near(x, s->near) != KERNEL_OF_POSITION;
}

/* Writes address wV, from which a run is read, or to which it is written, by position; before
 * the loop at this level. The run of an empty segment is not looked at. */
static void point_run(const struct kernel_text *x, const struct kernel_statement *s) {
  const uint32_t number = s->run ? s->output : s->value, start = s->operands[s->run];
  fprintf(x->out, "%s%s *w%c%u = 0;\nif (begin < end) {\nconst uint64_t extent = ",
          s->run ? "" : "const ", type_of(x, (enum superop_kind)s->type), s->run ? 'o' : 'i',
          number);
  put_extent(x, s);
  fputs(";\n(void)extent;\n", x->out);
  if (s->checked)
    fprintf(x->out,
            "if ((uint64_t)v%u >= extent || end - begin > extent - (uint64_t)v%u) return 0;\n",
            start, start);
  fprintf(x->out, "w%c%u = ", s->run ? 'o' : 'i', number);
  if (s->run)
    fprintf(x->out, "r%u", s->output);
  else
    put_address(x, s->param);
  fputs(" + (", x->out);
  put_base(x, s);
  fprintf(x->out, ") + v%u - (int64_t)begin;\n}\n", start);
}

static void point_runs(const struct kernel_text *x, enum kernel_level level) {
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (is_pointed(x, s) && level_of_near(x, s->near) == level) point_run(x, s);
  }
}

/* Writes what is taken from a position to count from the start of its segment. */
static void put_begin(const struct kernel_text *x, uint32_t near) {
  if (!is_segmented(x, near)) return;
  fprintf(x->out, " - (o%u[", x->params[near].v);
  put_segment(x, near);
  fprintf(x->out, "] - o%u[0])", x->params[near].v);
}

static void print_run(const struct kernel_text *x, const struct kernel_statement *s) {
  const uint32_t v = s->value;
  const char *type = type_of(x, (enum superop_kind)s->type);
  if (is_pointed(x, s)) {
    fprintf(x->out, "const %s v%u = wi%u[i];\n", type, v, v);
    return;
  }
  char index[24], at[24];
  fprintf(x->out, "const uint64_t run%u = (uint64_t)v%u + %s", v, s->operands[0], position(x));
  put_begin(x, s->near);
  fputs(";\n", x->out);
  if (s->checked) {
    fprintf(x->out, "%srun%u >= ", fails(x, s), v);
    put_extent(x, s);
    fputs(fails_end(x), x->out);
  }
  snprintf(index, sizeof index, "run%u", v);
  print_at(x, s, index);
  fprintf(x->out, "const %s v%u = ", type, v);
  snprintf(at, sizeof at, "at%u", v);
  put_element(x, s->param, at);
  fputs(";\n", x->out);
}

static void print_loaded(const struct kernel_text *x, const struct kernel_statement *s) {
  fprintf(x->out, "const %s v%u = ", type_of(x, (enum superop_kind)s->type), s->value);
  switch ((enum kernel_statement_kind)s->kind) {
  case KERNEL_CONSTANT: emit_literal(s->constant, x->out); break;
  case KERNEL_LOAD: put_element(x, s->param, position(x)); break;
  case KERNEL_SPREAD: {
    char at[24];
    snprintf(at, sizeof at, "%s", position(x));
    if (!is_segmented(x, s->near))
      snprintf(at, sizeof at, "0");
    else if (s->near == x->main)
      snprintf(at, sizeof at, "g");
    else
      snprintf(at, sizeof at, "s%u", s->near);
    put_element(x, s->param, at);
    break;
  }
  default: /* OFFSET */
    fprintf(x->out, "(INT)(%s", position(x));
    put_begin(x, s->near);
    fputs(")", x->out);
  }
  fputs(";\n", x->out);
}

/* ---- loops of positions ---- */

static bool is_last_carry(const struct kernel_text *x, uint32_t k) {
  for (k++; k < x->k->count; k++) {
    const uint8_t kind = x->k->statements[k].kind;
    if (kind == KERNEL_CARRY) return false;
    if (kind != KERNEL_LOAD && kind != KERNEL_CONSTANT && kind != KERNEL_SPREAD) return true;
  }
  return true;
}

static void print_carry(struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  fprintf(x->out, "%s v%u = v%u;\n", type_of(x, (enum superop_kind)s->type), s->value,
          s->operands[0]);
  if (!is_last_carry(x, k)) return;
  fputs("for (;;) {\n", x->out);
  x->in_loop = true;
}

/* All carried values change at once, before the first result of the loop. */
static void print_next(struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (x->in_loop) {
    uint32_t last = k;
    while (last + 1 < x->k->count && x->k->statements[last + 1].kind == KERNEL_NEXT) last++;
    for (uint32_t j = k; j <= last; j++) {
      const struct kernel_statement *n = &x->k->statements[j];
      fprintf(x->out, "const %s next%u = v%u;\n", type_of(x, (enum superop_kind)n->type),
              n->value, n->operands[1]);
    }
    for (uint32_t j = k; j <= last; j++)
      fprintf(x->out, "v%u = next%u;\n", x->k->statements[j].operands[0],
              x->k->statements[j].value);
    fputs("}\n", x->out);
    x->in_loop = false;
  }
  fprintf(x->out, "const %s v%u = v%u;\n", type_of(x, (enum superop_kind)s->type), s->value,
          s->operands[0]);
}

/* ---- results ---- */

static const struct held *output_of(const struct kernel_text *x, uint32_t value) {
  for (uint32_t i = 0; i < x->op->output_count; i++) {
    if (x->op->outputs[i] == value) return &x->outputs[i];
  }
  return NULL;
}

static void put_give_up_unless(const struct kernel_text *x, const char *name, uint32_t number) {
  fprintf(x->out, "if (!%s%u) return 0;\n", name, number);
}

/* Declares a result; outside of the braces of the kernel. */
static void declare_result(const struct kernel_text *x, uint32_t value) {
  const struct held *h = output_of(x, value);
  const char *type = type_of(x, (enum superop_kind)x->op->kinds[value]);
  if (!h) return;
  switch ((enum form)h->form) {
  case FORM_SCALAR: fprintf(x->out, "%s x%u;\n", type, h->v); break;
  case FORM_VECTOR: fprintf(x->out, "%s *x%u; uint64_t n%u;\n", type, h->v, h->v); break;
  case FORM_ONE: fprintf(x->out, "uint64_t n%u;\n", h->v); break;
  case FORM_SEGMENTS: fprintf(x->out, "uint64_t *o%u, c%u;\n", h->v, h->v); break;
  case FORM_SAME: fprintf(x->out, "%s x%u; uint64_t n%u;\n", type, h->v, h->v); break;
  case FORM_LENGTHS:
  case FORM_STARTS: break;
  }
}

void print_room(FILE *out, const struct held *h) {
  if (h->append) fprintf(out, "y%u->n = base%u;\n", h->append - 1, h->append - 1);
  if (h->append)
    fprintf(out, "x%u = native_room(r, y%u, n%u, sizeof *x%u);\n", h->v, h->append - 1, h->v,
            h->v);
  else
    fprintf(out, "x%u = native_take(r, n%u, sizeof *x%u);\n", h->v, h->v, h->v);
  fprintf(out, "if (!x%u) return 0;\n", h->v);
}

/* Takes room for a result of so many elements, to be written by rV. */
static void take_result(const struct kernel_text *x, uint32_t value, const char *size) {
  const struct held *h = output_of(x, value);
  const char *type = type_of(x, (enum superop_kind)x->op->kinds[value]);
  if (!h) {
    fprintf(x->out, "%s *r%u = native_take(r, %s, sizeof *r%u);\n", type, value, size, value);
    put_give_up_unless(x, "r", value);
    return;
  }
  if (h->form == FORM_SCALAR) {
    fprintf(x->out, "%s *const r%u = &x%u;\n", type, value, h->v);
    return;
  }
  fprintf(x->out, "n%u = %s;\n", h->v, size);
  print_room(x->out, h);
  fprintf(x->out, "%s *const r%u = x%u;\n", type, value, h->v);
}

/* Room for results of a combination, column by column. */
static void begin_combination(const struct kernel_text *x, const struct kernel_statement *s) {
  const struct superop_combination at = superop_combination_at(x->op, s->node);
  const bool reduces = s->op == SUPEROP_COMBINE_REDUCE;
  for (uint32_t i = 0; i < at.count; i++)
    take_result(x, x->op->nodes[at.ends + i].result, reduces ? "segments" : "n");
}

static void begin_scatter(const struct kernel_text *x, const struct kernel_statement *s) {
  fprintf(x->out, "uint64_t size%u = ", s->output);
  put_size(x, x->op->sizes[s->output]);
  fputs(";\n", x->out);
  char size[32];
  snprintf(size, sizeof size, "size%u", s->output);
  take_result(x, s->output, size);
  if (s->param != SUPEROP_NONE) {
    fprintf(x->out, "if (%s) memcpy(r%u, ", size, s->output);
    put_address(x, s->param);
    fprintf(x->out, ", %s * sizeof *r%u);\n", size, s->output);
  } else {
    fprintf(x->out, "memset(r%u, 0, %s * sizeof *r%u);\n", s->output, size, s->output);
  }
  if (s->op != OPC_PERMUTE || !s->checked) return;
  fprintf(x->out,
          "uint8_t *mark%u = native_take(r, %s, 1);\n"
          "if (!mark%u) return 0;\nmemset(mark%u, 0, %s);\n",
          s->output, size, s->output, s->output, size);
}

/* The parameter whose elements are packed as they are; SUPEROP_NONE: computed ones are. */
static uint32_t packed_param(const struct kernel_text *x, const struct kernel_statement *s) {
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *from = &x->k->statements[k];
    if (from->value != s->operands[0] || from->kind != KERNEL_LOAD) continue;
    return form_of(x, from->param) == FORM_VECTOR ? from->param : SUPEROP_NONE;
  }
  return SUPEROP_NONE;
}

/* What stands before all loops. */
static void begin_statement(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  const char *type = type_of(x, (enum superop_kind)s->type);
  switch ((enum kernel_statement_kind)s->kind) {
  case KERNEL_REDUCE:
    take_result(x, s->output, "segments");
    if (in_blocks(s) && !x->single)
      fprintf(x->out,
              "%s t%u[BLOCK], one%u, *b%u = &one%u;\n"
              "if (n > BLOCK) {\nb%u = native_take(r, n / BLOCK + 1, sizeof *b%u);\n"
              "if (!b%u) return 0;\n}\n",
              type, k, k, k, k, k, k, k);
    break;
  case KERNEL_SCAN:
  case KERNEL_STORE: take_result(x, s->output, "n"); break;
  case KERNEL_KEEP: {
    const struct held *d = output_of(x, s->output + 1);
    take_result(x, s->output, "n");
    fprintf(x->out, "uint64_t k%u = 0;\n", s->output);
    if (!x->single) fprintf(x->out, "INT f%u[BLOCK];\n", k);
    if (!x->single && packed_param(x, s) == SUPEROP_NONE)
      fprintf(x->out, "%s t%u[BLOCK];\n", type, k);
    if (d && d->form == FORM_SEGMENTS)
      fprintf(x->out,
              "c%u = segments;\no%u = native_take(r, c%u + 1, sizeof *o%u);\n"
              "if (!o%u) return 0;\no%u[0] = 0;\n",
              d->v, d->v, d->v, d->v, d->v, d->v);
    break;
  }
  case KERNEL_SCATTER: begin_scatter(x, s); break;
  case KERNEL_COMBINE: begin_combination(x, s); break;
  default: break;
  }
}

/* ---- at the beginning and the end of a segment, or block ---- */

static void put_item(const struct kernel_text *x, uint32_t number) {
  fprintf(x->out, "struct combination%u", number);
}

static void begin_segment(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  const char *type = type_of(x, (enum superop_kind)s->type);
  const bool reduces = s->kind == KERNEL_REDUCE && (x->single || !in_blocks(s));
  if (reduces || (s->kind == KERNEL_SCAN && row_of(s)->exact)) {
    fprintf(x->out, "%s a%u = (%s)(%s);\n", type, k, type, row_of(s)->pad);
  }
  if (s->kind == KERNEL_REDUCE && in_blocks(s) && !x->single)
    fprintf(x->out, "uint64_t m%u = 0;\n", k);
  if (s->kind != KERNEL_COMBINE) return;
  put_item(x, x->f);
  fprintf(x->out, " stack%u[64]", k);
  if (s->op != SUPEROP_COMBINE_REDUCE) fprintf(x->out, ", prefix%u[64]", k);
  fprintf(x->out, ";\nuint64_t m%u = 0;\nunsigned top%u = 0;\n", k, k);
}

static void end_block(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (!in_blocks(s)) return;
  if (s->kind == KERNEL_KEEP) {
    const uint32_t param = packed_param(x, s);
    fprintf(x->out, "k%u += native_keep_%s(", s->output,
            type_of(x, (enum superop_kind)s->type));
    if (param == SUPEROP_NONE)
      fprintf(x->out, "t%u", k);
    else
      fprintf(x->out, "x%u + from", x->params[param].v);
    fprintf(x->out, ", f%u, i - from, r%u + k%u);\n", k, s->output, s->output);
    return;
  }
  fprintf(x->out, "b%u[m%u++] = native_block_", k, k);
  emit_combination_name(row_of(s), x->out);
  fprintf(x->out, "(t%u, i - from);\n", k);
}

static void end_reduction(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  const char *type = type_of(x, (enum superop_kind)s->type);
  fprintf(x->out, "r%u[g] = begin == end ? (%s)(%s) : ", s->output, type, row_of(s)->identity);
  if (in_blocks(s) && !x->single) {
    fputs("native_total_", x->out);
    emit_combination_name(row_of(s), x->out);
    fprintf(x->out, "(b%u, m%u);\n", k, k);
  } else {
    fprintf(x->out, "a%u;\n", k);
  }
}

static void end_combination(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  const struct superop_combination at = superop_combination_at(x->op, s->node);
  if (s->op != SUPEROP_COMBINE_REDUCE) return;
  put_item(x, x->f);
  fprintf(x->out, " total%u;\nif (top%u == 0) {\n", k, k);
  for (uint32_t i = 0; i < at.count; i++)
    fprintf(x->out, "total%u.at%u = v%u;\n", k, i, s->identities[i]);
  fprintf(x->out,
          "} else {\ntotal%u = stack%u[0];\nfor (unsigned j = 1; j < top%u; j++) total%u = "
          "combine%u(total%u, stack%u[j]);\n}\n",
          k, k, k, k, x->f, k, k);
  for (uint32_t i = 0; i < at.count; i++)
    fprintf(x->out, "r%u[g] = total%u.at%u;\n", x->op->nodes[at.ends + i].result, k, i);
}

static void end_segment(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  switch ((enum kernel_statement_kind)s->kind) {
  case KERNEL_REDUCE: end_reduction(x, k); break;
  case KERNEL_SCAN:
    if (row_of(s)->exact) break;
    fputs("if (!native_scan_", x->out);
    emit_combination_name(row_of(s), x->out);
    fprintf(x->out, "(r, r%u + begin, end - begin)) return 0;\n", s->output);
    break;
  case KERNEL_KEEP: {
    const struct held *d = output_of(x, s->output + 1);
    if (d && d->form == FORM_SEGMENTS) fprintf(x->out, "o%u[g + 1] = k%u;\n", d->v, s->output);
    break;
  }
  case KERNEL_COMBINE: end_combination(x, k); break;
  default: break;
  }
}

static void end_statement(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (s->kind != KERNEL_KEEP) return;
  const struct held *h = output_of(x, s->output), *d = output_of(x, s->output + 1);
  if (h && h->form == FORM_VECTOR) fprintf(x->out, "n%u = k%u;\n", h->v, s->output);
  if (d && d->form == FORM_ONE) fprintf(x->out, "n%u = k%u;\n", d->v, s->output);
}

/* ---- at a position ---- */

static void print_scan(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  const char *type = type_of(x, (enum superop_kind)s->type);
  char so_far[16], next[16];
  if (!row_of(s)->exact) {
    fprintf(x->out, "r%u[i] = v%u;\n", s->output, s->operands[0]);
    return;
  }
  fprintf(x->out, "r%u[i] = i == begin ? (%s)(%s) : a%u;\na%u = (%s)(", s->output, type,
          row_of(s)->identity, k, k, type);
  snprintf(so_far, sizeof so_far, "a%u", k);
  snprintf(next, sizeof next, "v%u", s->operands[0]);
  put_combined(x, row_of(s), so_far, next);
  fputs(");\n", x->out);
}

static void print_reduce(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  const char *type = type_of(x, (enum superop_kind)s->type);
  char so_far[16], next[16];
  if (in_blocks(s) && !x->single) {
    fprintf(x->out, "t%u[i - from] = v%u;\n", k, s->operands[0]);
    return;
  }
  snprintf(so_far, sizeof so_far, "a%u", k);
  snprintf(next, sizeof next, "v%u", s->operands[0]);
  fprintf(x->out, "a%u = (%s)(", k, type);
  put_combined(x, row_of(s), so_far, next);
  fputs(");\n", x->out);
}

static void print_scatter(const struct kernel_text *x, const struct kernel_statement *s) {
  if (is_pointed(x, s)) {
    fprintf(x->out, "wo%u[i] = v%u;\n", s->output, s->operands[0]);
    return;
  }
  if (s->run) {
    fprintf(x->out, "const uint64_t run%u = (uint64_t)v%u + i", s->output, s->operands[1]);
    put_begin(x, s->near);
    fputs(";\n", x->out);
  }
  fputs("{\nconst uint64_t extent = ", x->out);
  put_extent(x, s);
  fputs(", index = ", x->out);
  fprintf(x->out, s->run ? "run%u" : "(uint64_t)v%u", s->run ? s->output : s->operands[1]);
  fputs(", at = ", x->out);
  put_base(x, s);
  fputs(" + index;\n", x->out);
  if (s->count > 2) fprintf(x->out, "if (v%u) {\n", s->operands[2]);
  if (s->checked)
    fputs("if (index >= extent) return 0;\n", x->out);
  else
    fputs("(void)extent;\n", x->out);
  if (s->checked && s->op == OPC_PERMUTE)
    fprintf(x->out, "bad |= mark%u[at];\nmark%u[at] = 1;\n", s->output, s->output);
  if (x->checks && !x->single && !s->checked) fputs("if (fine) ", x->out);
  fprintf(x->out, "r%u[at] = v%u;\n}\n", s->output, s->operands[0]);
  if (s->count > 2) fputs("}\n", x->out);
}

/* A new element joins the subtrees of what stands before it. */
static void print_combined(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  const struct superop_combination at = superop_combination_at(x->op, s->node);
  const bool scans = s->op != SUPEROP_COMBINE_REDUCE;
  const uint32_t f = x->f;
  if (s->op == SUPEROP_COMBINE_SCAN) {
    for (uint32_t i = 0; i < at.count; i++)
      fprintf(x->out, "r%u[i] = top%u == 0 ? v%u : prefix%u[top%u - 1].at%u;\n",
              x->op->nodes[at.ends + i].result, k, s->identities[i], k, k, i);
  }
  fputs("{\n", x->out);
  put_item(x, f);
  fputs(" tree;\n", x->out);
  for (uint32_t i = 0; i < at.count; i++)
    fprintf(x->out, "tree.at%u = v%u;\n", i, s->columns[i]);
  fprintf(x->out,
          "for (uint64_t j = m%u++; j & 1; j >>= 1) tree = combine%u(stack%u[--top%u], tree);\n"
          "stack%u[top%u] = tree;\n",
          k, f, k, k, k, k);
  if (scans)
    fprintf(x->out,
            "prefix%u[top%u] = top%u == 0 ? tree : combine%u(prefix%u[top%u - 1], tree);\n", k,
            k, k, f, k, k);
  fprintf(x->out, "top%u++;\n}\n", k);
  if (s->op == SUPEROP_COMBINE_SCAN_INCLUSIVE) {
    for (uint32_t i = 0; i < at.count; i++)
      fprintf(x->out, "r%u[i] = prefix%u[top%u - 1].at%u;\n", x->op->nodes[at.ends + i].result,
              k, k, i);
  }
}

static void print_store(const struct kernel_text *x, const struct kernel_statement *s) {
  const struct held *h = output_of(x, s->output);
  if (x->plain && h->form == FORM_SCALAR)
    fprintf(x->out, "x%u = v%u;\n", h->v, s->operands[0]);
  else
    fprintf(x->out, "r%u[%s] = v%u;\n", s->output, position(x), s->operands[0]);
}

static void print_keep(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (x->single) {
    fprintf(x->out, "r%u[k%u] = v%u;\nk%u += v%u;\n", s->output, s->output, s->operands[0],
            s->output, s->operands[1]);
    return;
  }
  fprintf(x->out, "f%u[i - from] = v%u ? -1 : 0;\n", k, s->operands[1]);
  if (packed_param(x, s) == SUPEROP_NONE)
    fprintf(x->out, "t%u[i - from] = v%u;\n", k, s->operands[0]);
}

static void print_statement(struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  switch ((enum kernel_statement_kind)s->kind) {
  case KERNEL_CONSTANT:
  case KERNEL_LOAD:
  case KERNEL_SPREAD:
  case KERNEL_OFFSET: print_loaded(x, s); break;
  case KERNEL_MAP: print_map(x, s); break;
  case KERNEL_GATHER: print_gather(x, s); break;
  case KERNEL_RUN: print_run(x, s); break;
  case KERNEL_CHECK:
    fprintf(x->out, "%s!v%u%s", fails(x, s), s->operands[0], fails_end(x));
    break;
  case KERNEL_CARRY: print_carry(x, k); break;
  case KERNEL_WHILE:
    fprintf(x->out, "if (!v%u) break;\nif ((++rounds & 4095) == 0 && *r->stops) return 0;\n",
            s->operands[0]);
    break;
  case KERNEL_NEXT: print_next(x, k); break;
  case KERNEL_REDUCE: print_reduce(x, k); break;
  case KERNEL_SCAN: print_scan(x, k); break;
  case KERNEL_STORE: print_store(x, s); break;
  case KERNEL_KEEP: print_keep(x, k); break;
  case KERNEL_SCATTER: print_scatter(x, s); break;
  case KERNEL_COMBINE: print_combined(x, k); break;
  case KERNEL_STATEMENTS: break;
  }
}

static void print_level(struct kernel_text *x, enum kernel_level level) {
  for (uint32_t k = 0; k < x->k->count; k++) {
    if (x->single || level_of(x, &x->k->statements[k]) == level) print_statement(x, k);
  }
}

static void for_all(struct kernel_text *x,
                    void (*print)(const struct kernel_text *, uint32_t)) {
  for (uint32_t k = 0; k < x->k->count; k++) print(x, k);
}

/* ---- the loops ---- */

/* Descriptors beside `main` whose segments positions are in. */
static bool is_cursor(const struct kernel_text *x, uint32_t descriptor) {
  if (!is_segmented(x, descriptor) || descriptor == x->main) return false;
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (s->near == descriptor && s->kind != KERNEL_REDUCE && s->kind != KERNEL_SCAN)
      return true;
  }
  return false;
}

static void print_cursors(const struct kernel_text *x, bool declare) {
  for (uint32_t p = 0; p < x->op->param_count; p++) {
    const ir_var v = x->params[p].v;
    if (!is_cursor(x, p)) continue;
    if (declare)
      fprintf(x->out, "uint64_t s%u = 0;\n", p);
    else
      fprintf(x->out, "while (o%u[s%u + 1] - o%u[0] <= i) s%u++;\n", v, p, v, p);
  }
}

/* Whether iterations do not depend on each other: nothing is written at places that data say.
 */
static bool is_independent(const struct kernel_text *x) {
  for (uint32_t k = 0; k < x->k->count; k++) {
    const uint8_t kind = x->k->statements[k].kind;
    if ((kind == KERNEL_SCATTER && !is_pointed(x, &x->k->statements[k])) ||
        kind == KERNEL_COMBINE || kind == KERNEL_SCAN || kind == KERNEL_CARRY) {
      return false;
    }
  }
  for (uint32_t p = 0; p < x->op->param_count; p++) {
    if (is_cursor(x, p)) return false;
  }
  return true;
}

static void print_positions(struct kernel_text *x, const char *end) {
  if (is_independent(x)) fputs("INDEPENDENT\n", x->out);
  fprintf(x->out, "for (; i < %s; i++) {\n", end);
  if (x->checks) fputs("INT fine = 1;\n", x->out);
  print_cursors(x, false);
  print_level(x, KERNEL_OF_POSITION);
  fputs(x->checks ? "bad |= !fine;\n}\n" : "}\n", x->out);
}

static void print_segment(struct kernel_text *x) {
  for_all(x, begin_segment);
  if (x->blocks) {
    fputs(
        "while (i < end) {\nconst uint64_t from = i, to = end - i < BLOCK ? end : i + BLOCK;\n",
        x->out);
    print_positions(x, "to");
    for_all(x, end_block);
    fputs("}\n", x->out);
  } else {
    print_positions(x, "end");
  }
  for_all(x, end_segment);
}

static void print_loops(struct kernel_text *x) {
  fputs("uint64_t i = 0;\nconst uint64_t g = 0, begin = 0, end = n;\n(void)g, (void)begin;\n",
        x->out);
  print_cursors(x, true);
  print_level(x, KERNEL_EVERYWHERE);
  fputs("if (bad && n > 0) return 0;\nbad = 0;\n", x->out);
  point_runs(x, KERNEL_EVERYWHERE);
  if (x->main == SUPEROP_NONE) {
    print_segment(x);
    return;
  }
  const ir_var v = x->params[x->main].v;
  fprintf(x->out,
          "for (uint64_t g = 0; g < c%u; g++) {\n"
          "const uint64_t begin = i, end = o%u[g + 1] - o%u[0];\n(void)begin;\n"
          "INT bad = 0;\n",
          v, v, v);
  print_level(x, KERNEL_OF_SEGMENT);
  fputs("if (bad && begin < end) return 0;\nbad = 0;\n", x->out);
  point_runs(x, KERNEL_OF_SEGMENT);
  print_segment(x);
  fputs("if (bad) return 0;\n}\n", x->out);
}

/* One position, in one segment. */
static void print_single(struct kernel_text *x) {
  fputs("const uint64_t i = 0, g = 0, begin = 0, end = 1;\n(void)i, (void)g, (void)begin, "
        "(void)end;\n",
        x->out);
  for_all(x, begin_segment);
  print_level(x, KERNEL_OF_POSITION);
  for_all(x, end_segment);
}

/* Whether anything is left to be computed or checked. */
static bool does_something(const struct kernel_text *x) {
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (kernel_writes(s) || may_fail(s)) return true;
  }
  return false;
}

/* Sizes that may differ are compared. */
static void print_rules(const struct kernel_text *x) {
  for (uint32_t k = 0; k < x->op->rule_count; k++) {
    char a[80], b[80];
    size_text(x, x->op->rules[k].a, a);
    size_text(x, x->op->rules[k].b, b);
    if (strcmp(a, b) != 0) fprintf(x->out, "if (%s != %s) return 0;\n", a, b);
  }
  /* A gather reads something where its index is wrong, if there is anything. */
  for (uint32_t k = 0; k < x->k->count && !x->plain && does_something(x); k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (s->kind != KERNEL_GATHER || s->count > 1) continue;
    if (form_of(x, s->param) == FORM_VECTOR)
      fprintf(x->out, "if (n%u == 0 && n > 0) return 0;\n", x->params[s->param].v);
    if (form_of(x, s->param) == FORM_LENGTHS || form_of(x, s->param) == FORM_STARTS)
      fprintf(x->out, "if (c%u == 0 && n > 0) return 0;\n", x->params[s->param].base);
  }
}

static void print_segment_count(const struct kernel_text *x) {
  fputs("const uint64_t segments = ", x->out);
  if (is_segmented(x, x->op->segments))
    fprintf(x->out, "c%u", x->params[x->op->segments].v);
  else
    fputs("1", x->out);
  fputs(";\n(void)segments;\n", x->out);
}

/* The lengths of whose descriptor a result is the sum; or NULL. */
static const struct held *total_of(const struct superop *op, const struct held *params,
                                   uint32_t value) {
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    if (node->op != OPC_ADD_REDUCE || node->result != value) continue;
    const uint32_t p = node->operands[0];
    return p < op->param_count && params[p].form == FORM_LENGTHS &&
                   params[node->operands[1]].form == FORM_ONE
               ? &params[p]
               : NULL;
  }
  return NULL;
}

/* Starts of segments are not computed, and the total of a descriptor is known. */
static bool is_left_out(const struct superop *op, const struct held *params,
                        const struct held *outputs, const struct kernel_statement *s) {
  for (uint32_t i = 0; i < op->output_count; i++) {
    if (op->outputs[i] != s->output) continue;
    return outputs[i].form == FORM_STARTS || outputs[i].form == FORM_SAME ||
           total_of(op, params, s->output);
  }
  return false;
}

static const struct kernel *lowered(struct arena *arena, const struct superop *op,
                                    const struct held *params, const struct held *outputs) {
  struct kernel *k = kernel_lower(arena, op);
  uint32_t count = 0;
  for (uint32_t i = 0; i < k->count; i++) {
    struct kernel_statement *s = &k->statements[i];
    const bool reads = s->kind == KERNEL_LOAD || s->kind == KERNEL_SPREAD;
    if (reads && params[s->param].form == FORM_SAME && params[s->param].constant) {
      s->kind = KERNEL_CONSTANT;
      s->constant = params[s->param].constant;
    }
    if (!is_left_out(op, params, outputs, s)) k->statements[count++] = *s;
  }
  k->count = count;
  kernel_find_runs(arena, k);
  return k;
}

/* Elementwise operations on scalars. */
static void print_plain(struct kernel_text *x) {
  print_rules(x);
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (s->kind == KERNEL_STORE && output_of(x, s->output)->form != FORM_SCALAR)
      take_result(x, s->output, "1");
    print_statement(x, k);
  }
}

static void print_whole(struct kernel_text *x) {
  fputs("INT bad = 0;\nuint64_t rounds = 0;\n(void)rounds;\nconst uint64_t n = ", x->out);
  put_size(x, x->op->domain);
  fputs(";\n", x->out);
  print_segment_count(x);
  print_rules(x);
  for_all(x, begin_statement);
  if (x->single)
    print_single(x);
  else
    print_loops(x);
  for_all(x, end_statement);
  fputs("if (bad) return 0;\n", x->out);
}

/* Writes the element of a result that is the same everywhere, and its length. */
static void print_same(const struct kernel_text *x, uint32_t i) {
  const ir_var v = x->outputs[i].v;
  const uint32_t from = emit_definition(x->op, x->op->outputs[i])->operands[0];
  fprintf(x->out, "n%u = ", v);
  put_size(x, x->op->sizes[x->op->outputs[i]]);
  fprintf(x->out, ";\nx%u = ", v);
  if (from >= x->op->param_count)
    emit_literal(&emit_definition(x->op, from)->constant, x->out);
  else
    put_element(x, from, "0");
  fputs(";\n", x->out);
}

static void print_totals(const struct kernel_text *x) {
  for (uint32_t i = 0; i < x->op->output_count; i++) {
    const struct held *lengths = total_of(x->op, x->params, x->op->outputs[i]);
    const ir_var d = lengths ? lengths->base : 0;
    if (lengths) fprintf(x->out, "x%u = (INT)(o%u[c%u] - o%u[0]);\n", x->outputs[i].v, d, d, d);
    if (x->outputs[i].form == FORM_SAME) print_same(x, i);
  }
}

/* The number of a superoperator of the program, by which its combination is called. */
static uint32_t combination_of(const struct procedures_text *t, const struct superop *op) {
  for (uint32_t k = 0; k < t->program->superop_count; k++) {
    if (t->program->superops[k] == op) return k;
  }
  return 0;
}

void print_kernel(struct procedures_text *t, const struct superop *op,
                  const struct held *params, const struct held *outputs) {
  struct kernel_text x = {.t = t,
                          .k = lowered(t->arena, op, params, outputs),
                          .op = op,
                          .params = params,
                          .outputs = outputs,
                          .out = t->out,
                          .f = combination_of(t, op)};
  uint8_t *forms = arena_alloc(t->arena, op->param_count + 1);
  bool *one = arena_alloc(t->arena, op->param_count + 1);
  for (uint32_t p = 0; p < op->param_count; p++) forms[p] = params[p].form;
  const struct unit_sizes units = unit_sizes_of(t->arena, op, forms, one);
  for (uint32_t i = 0; i < op->output_count; i++) declare_result(&x, op->outputs[i]);
  find_shape(&x, &units);
  find_levels(&x, t->arena);
  print_totals(&x);
  fputs("{\n", t->out);
  if (x.plain)
    print_plain(&x);
  else if (does_something(&x))
    print_whole(&x);
  else
    print_rules(&x);
  fputs("}\n", t->out);
}

/* ---- combinations ---- */

bool may_print_kernel(const struct superop *op) {
  if (op->copies) return false;
  uint32_t combinations = 0;
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (op->nodes[k].role == ROLE_COMBINE_SCATTER) return false;
    combinations +=
        op->nodes[k].role == ROLE_COLUMN && (k == 0 || op->nodes[k - 1].role != ROLE_COLUMN);
  }
  return combinations <= 1;
}

void print_combinations(struct procedures_text *t, uint32_t superop) {
  const struct superop *op = t->program->superops[superop];
  uint32_t first = 0;
  while (first < op->node_count && op->nodes[first].role != ROLE_COLUMN) first++;
  if (first == op->node_count || t->combined[superop]) return;
  t->combined[superop] = true;
  const struct superop_combination at = superop_combination_at(op, first);
  char item[40];
  snprintf(item, sizeof item, "struct combination%u", superop);
  fprintf(t->out, "%s {\n", item);
  for (uint32_t i = 0; i < at.count; i++) {
    const uint32_t v = op->nodes[first + i].result;
    fprintf(t->out, "%s at%u;\n",
            emit_type(t->program->widths, (enum superop_kind)op->kinds[v]), i);
  }
  fprintf(t->out, "};\nNATIVE inline %s combine%u(%s l, %s r) {\n", item, superop, item, item);
  emit_combination_statements(op, first, t->program->widths, item, t->out);
  fputs("}\n\n", t->out);
}
