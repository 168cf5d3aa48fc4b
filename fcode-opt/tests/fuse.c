/* fuse.c - tests of fusion: superoperators, what must not be fused, and --explain, as fuse.let
 * says them of programs. Every program is verified after the pass.
 */
#include "programs.h"
#include "rewriting.h"

#include "fused-kernels/fused.h"
#include <stdio.h>
#include <string.h>

struct fused {
  const char *title;
  struct rewriting r;
  char formulas[4000]; /* of all superoperators, a line each */
  char body[8000];     /* of M, as printed */
  char said[8000];     /* by --explain */
};

static void fuse(struct fused *t, const char *functions) {
  rewriting_begin(&t->r, functions);
  memset(t->said, 0, sizeof t->said);
  memset(t->body, 0, sizeof t->body);
  t->r.o.explain = fmemopen(t->said, sizeof t->said, "w");
  pass_fuse(&t->r.o);
  fclose(t->r.o.explain);
  rewriting_verify(&t->r);
  const struct ir_program *program = t->r.o.program;
  size_t used = 0;
  t->formulas[0] = '\0';
  for (uint32_t i = 0; i < program->superop_count; i++) {
    char line[500];
    fused_formula(program->superops[i], line, sizeof line);
    used += (size_t)snprintf(t->formulas + used, sizeof t->formulas - used, "%s\n", line);
  }
  FILE *out = fmemopen(t->body, sizeof t->body, "w");
  ir_print_function(program, function_called(&t->r, "M"), out);
  fclose(out);
}

static const struct superop *superop(const struct fused *t, uint32_t i) {
  cr_assert(i < t->r.o.program->superop_count, "%s: only\n%s", t->title, t->formulas);
  return t->r.o.program->superops[i];
}

static unsigned occurrences(const char *text, const char *word) {
  unsigned n = 0;
  for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) n++;
  return n;
}

/* ---- programs and what is expected of them ---- */

/* Whether the text has these words in this order, with " ... " between them. */
static bool has_in_order(const char *text, const char *words) {
  char word[1000];
  while (*words) {
    const char *end = strstr(words, " ... ");
    const size_t length = end ? (size_t)(end - words) : strlen(words);
    snprintf(word, sizeof word, "%.*s", (int)length, words);
    text = strstr(text, word);
    if (!text) return false;
    text += length;
    words += end ? length + strlen(" ... ") : length;
  }
  return true;
}

/* The lines of the body, one behind the other. */
static void expect_line(const struct fused *t, const char **rest, const char *line) {
  if (!*rest) *rest = strchr(t->body, '\n') + 1;
  const size_t length = strlen(line);
  const bool same = strncmp(*rest, line, length) == 0 && (*rest)[length] == '\n';
  cr_expect(same, "%s: '%s' is missing in\n%s", t->title, line, t->body);
  if (same) *rest += length + 1;
}

static void expect_number(const struct fused *t, const struct superop *op, const char *word,
                          uint32_t n) {
  const uint32_t found = strcmp(word, "nodes") == 0     ? op->node_count
                         : strcmp(word, "outputs") == 0 ? op->output_count
                                                        : op->param_count;
  cr_expect_eq(found, n, "%s: %u %s, not %u\n%s", t->title, found, word, n, t->formulas);
}

/* The state of one expectation: how far the superoperators and the body have been compared. */
struct reached {
  uint32_t superops;
  const char *body, *formulas;
};

static void expect_formula(const struct fused *t, struct reached *at, const char *formula) {
  const size_t length = strlen(formula);
  const bool same = strncmp(at->formulas, formula, length) == 0 && at->formulas[length] == '\n';
  cr_expect(same, "%s: '%s' is not superoperator %u of\n%s", t->title, formula, at->superops,
            t->formulas);
  at->superops++;
  at->formulas += strcspn(at->formulas, "\n");
  at->formulas += *at->formulas == '\n';
}

/* The text behind a word that begins the line, else NULL. */
static const char *fuse_behind(const char *line, const char *word) {
  const size_t length = strlen(word);
  return strncmp(line, word, length) == 0 ? line + length : NULL;
}

static void fuse_expect(const struct fused *t, struct reached *at, const char *line) {
  const char *text;
  char word[20];
  uint32_t n;
  if ((text = fuse_behind(line, "fused "))) {
    expect_formula(t, at, text);
  } else if ((text = fuse_behind(line, "body "))) {
    cr_expect(has_in_order(t->body, text), "%s: no %s in\n%s", t->title, text, t->body);
  } else if ((text = fuse_behind(line, "no body "))) {
    cr_expect(!strstr(t->body, text), "%s: %s in\n%s", t->title, text, t->body);
  } else if ((text = fuse_behind(line, "said "))) {
    cr_expect(strstr(t->said, text), "%s: no %s in\n%s", t->title, text, t->said);
  } else if ((text = fuse_behind(line, "not said "))) {
    cr_expect(!strstr(t->said, text), "%s: %s in\n%s", t->title, text, t->said);
  } else if ((text = fuse_behind(line, "line "))) {
    expect_line(t, &at->body, text);
  } else if (sscanf(line, "checked %u", &n) == 1) {
    const struct superop *op = superop(t, at->superops - 1);
    cr_expect(n < op->node_count && op->nodes[n].checked, "%s: node %u", t->title, n);
  } else if (sscanf(line, "%19s %u", word, &n) == 2) {
    expect_number(t, superop(t, at->superops - 1), word, n);
  } else {
    cr_assert_fail("%s: '%s'?", t->title, line);
  }
}

/* A program, then lines that begin with "> ". */
static void fuse_check_program(const char *title, const char *text) {
  struct fused t = {.title = title};
  char functions[4000], line[1000];
  const char *next = strstr(text, "\n> ");
  cr_assert(next, "%s: nothing is expected", title);
  snprintf(functions, sizeof functions, "%.*s\n", (int)(next - text), text);
  fuse(&t, functions);
  struct reached at = {.formulas = t.formulas};
  while ((next = strstr(next, "\n> "))) {
    next += strlen("\n> ");
    snprintf(line, sizeof line, "%.*s", (int)strcspn(next, "\n"), next);
    fuse_expect(&t, &at, line);
  }
  cr_expect_eq(at.superops, t.r.o.program->superop_count, "%s: also\n%s", title, at.formulas);
  cr_expect(!at.body || strcmp(at.body, "end\n") == 0, "%s: also\n%s", title, at.body);
  rewriting_free(&t.r);
}

Test(fuse, programs) {
  cr_expect_eq(each_example("fuse.let", fuse_check_program), 32);
}

/* ---- what no text says ---- */

/* Reported values of an ASSERT cost no memory: they are no outputs. */
Test(fuse, assertions_keep_their_text) {
  struct fused t;
  fuse(&t, "fun M (v0: INT, v1: INT) -> (INT)\n"
           "v2 = < INT v0 v1\n"
           "v3 = * INT v0 v1\n"
           "ASSERT \"in order\" v2 v0 v3\n"
           "v4 = / INT v0 v1\n"
           "v5 = + INT v4 v0\n"
           "yield v5\nend\n");
  const struct superop *op = superop(&t, 0);
  cr_assert_eq(op->node_count, 5);
  cr_expect_eq(op->output_count, 1);
  cr_expect(op->nodes[2].op == OPC_ASSERT && op->nodes[3].op == OPC_DIV);
  cr_expect(op->cold[1] && !op->cold[0]);
  cr_expect_eq(op->nodes[2].text_length, 8);
  cr_expect_eq(memcmp(op->nodes[2].text, "in order", 8), 0);
  rewriting_free(&t.r);
}

/* This many square roots, each of the one before. */
static void fuse_square_roots(struct fused *t, unsigned length) {
  static char text[20000];
  size_t used = (size_t)snprintf(text, sizeof text, "fun M (v0: FLOAT) -> (FLOAT)\n");
  for (unsigned i = 0; i < length; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "v%u = SQRT v%u\n", i + 1, i);
  snprintf(text + used, sizeof text - used, "yield v%u\nend\n", length);
  fuse(t, text);
}

/* The formula of Black and Scholes takes 110 operations, its checks included. Cut in two it
 * would write and read as much memory again as it has arguments and results. */
Test(fuse, long_formulas_are_one_pass) {
  struct fused t;
  fuse_square_roots(&t, 150);
  cr_expect_eq(occurrences(t.body, "FUSED"), 1, "%s", t.body);
  cr_expect_eq(superop(&t, 0)->node_count, 150);
  rewriting_free(&t.r);
}

Test(fuse, long_sequences_are_cut) {
  struct fused t;
  enum { LENGTH = 600 };
  fuse_square_roots(&t, LENGTH);
  uint32_t nodes = 0;
  for (uint32_t i = 0; i < t.r.o.program->superop_count; i++) {
    cr_expect(superop(&t, i)->node_count <= 256);
    nodes += superop(&t, i)->node_count *
             occurrences(t.body, arena_printf(&t.r.arena, "FUSED %u ", i));
  }
  cr_expect_eq(nodes, LENGTH, "%u", nodes);
  cr_expect(occurrences(t.body, "FUSED") <= 8, "%s", t.body);
  rewriting_free(&t.r);
}

Test(fuse, constants_are_no_parameters) {
  struct fused t;
  static char text[20000];
  enum { SHIFTS = 31 };
  size_t used = (size_t)snprintf(text, sizeof text,
                                 "fun M (v0: INT) -> (INT)\n"
                                 "v1 = LENGTH INT v0\n"
                                 "v2 = MAKE_SEGDES v1\n"
                                 "v3 = CONST INT 1\n"
                                 "v4 = LENGTH INT v0\n");
  unsigned last = 0, v = 5;
  for (unsigned i = 0; i < SHIFTS; i++, v += 4) {
    used += (size_t)snprintf(text + used, sizeof text - used,
                             "v%u = CONST INT %u\n"
                             "v%u = INDEX v%u v3 v2\n"
                             "v%u = BPERMUTE INT v0 v%u v2 v2\n"
                             "v%u = + INT v%u v%u\n",
                             v, i + 2, v + 1, v, v + 2, v + 1, v + 3, last, v + 2);
    last = v + 3;
  }
  snprintf(text + used, sizeof text - used, "yield v%u\nend\n", last);
  fuse(&t, text);
  cr_expect_eq(t.r.o.program->superop_count, 1, "%s", t.formulas);
  cr_expect_eq(superop(&t, 0)->param_count, 2);
  rewriting_free(&t.r);
}
