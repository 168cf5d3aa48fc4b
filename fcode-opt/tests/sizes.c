/* sizes.c - facts that the size analysis proves, and facts that it must not: sizes.let says
 * them of programs, beside their bindings.
 */
#include "programs.h"
#include "rewriting.h"

#include <string.h>

struct analysed {
  struct rewriting r;
  struct sizes *sizes;
  const char *title;
  char function[100]; /* whose lines are checked */
  ir_var v;           /* the first result of the binding in this line */
};

static void analyse(struct analysed *a, const char *functions) {
  rewriting_begin(&a->r, functions);
  a->sizes = sizes_compute(&a->r.o);
}

static bool safe(const struct analysed *a, const char *function, ir_var v) {
  return sizes_safe(a->sizes, function_called(&a->r, function), binding_of(&a->r, function, v));
}

static int64_t known(const struct analysed *a, const char *function, ir_var v, uint8_t what) {
  return sizes_known(a->sizes, function_called(&a->r, function), v, what);
}

/* ---- programs with facts beside their bindings ---- */

static void expect_known(const struct analysed *a, const char *fact, uint8_t what) {
  const char *word = strrchr(fact, ' ') + 1;
  const int64_t n = strcmp(word, "unknown") == 0 ? -1 : strtol(word, NULL, 10);
  const int64_t found = known(a, a->function, a->v, what);
  cr_expect_eq(found, n, "%s: v%u of %s: %s, not %d", a->title, a->v, a->function, fact,
               (int)found);
}

static void sizes_expect_equal(const struct analysed *a, const char *fact, bool equal) {
  const uint32_t f = function_called(&a->r, a->function);
  const ir_var other = (ir_var)strtoul(strrchr(fact, 'v') + 1, NULL, 10);
  cr_expect_eq(sizes_class(a->sizes, f, a->v, SIZE_LEN) ==
                   sizes_class(a->sizes, f, other, SIZE_LEN),
               equal, "%s: v%u of %s: %s", a->title, a->v, a->function, fact);
}

static void expect_fact(const struct analysed *a, const char *fact) {
  if (strncmp(fact, "total ", 6) == 0) {
    expect_known(a, fact, SIZE_TOTAL);
  } else if (strncmp(fact, "count ", 6) == 0) {
    expect_known(a, fact, SIZE_COUNT);
  } else if (strncmp(fact, "length ", 7) == 0) {
    expect_known(a, fact, SIZE_LEN);
  } else if (strncmp(fact, "as long as v", 12) == 0) {
    sizes_expect_equal(a, fact, true);
  } else if (strncmp(fact, "not as long as v", 16) == 0) {
    sizes_expect_equal(a, fact, false);
  } else if (strcmp(fact, "depends on a check") == 0) {
    cr_expect(sizes_depend_on_check(a->sizes, function_called(&a->r, a->function),
                                    binding_of(&a->r, a->function, a->v)),
              "%s: v%u of %s: %s", a->title, a->v, a->function, fact);
  } else {
    cr_expect(strcmp(fact, "safe") == 0 || strcmp(fact, "may fail") == 0, "%s: '%s'?", a->title,
              fact);
  }
}

/* The facts of a comment, which commas separate; a remark in parentheses ends them. */
static void expect_facts(const struct analysed *a, char *comment) {
  comment[strcspn(comment, "(")] = '\0';
  for (char *fact = strtok(comment, ","); fact; fact = strtok(NULL, ",")) {
    fact += strspn(fact, " ");
    for (size_t n = strlen(fact); n > 0 && fact[n - 1] == ' '; n--) fact[n - 1] = '\0';
    expect_fact(a, fact);
  }
}

static bool of_one_operation(const struct ir_binding *x) {
  return x->form == IR_CONST || x->form == IR_FUSED || (x->form == IR_OP && x->op != OPC_READ);
}

static void check_line(struct analysed *a, char *line) {
  line += strspn(line, " ");
  sscanf(line, "fun %99s", a->function);
  char *comment = strchr(line, ';');
  if (comment) *comment++ = '\0';
  if (sscanf(line, "v%u", &a->v) != 1) return;
  const struct ir_binding *x = binding_of(&a->r, a->function, a->v);
  if (of_one_operation(x)) {
    const bool may_fail = comment && strstr(comment, "may fail");
    cr_expect_eq(safe(a, a->function, a->v), !may_fail, "%s: v%u of %s %s", a->title, a->v,
                 a->function, may_fail ? "is safe" : "may fail");
  }
  if (comment) expect_facts(a, comment);
}

static void sizes_check_program(const char *title, const char *text) {
  struct analysed a = {.title = title};
  analyse(&a, text);
  for (char *line = arena_copy(&a.r.arena, text, strlen(text)); line;) {
    char *end = strchr(line, '\n');
    if (end) *end++ = '\0';
    check_line(&a, line);
    line = end;
  }
  rewriting_free(&a.r);
}

Test(sizes, facts) {
  cr_expect_eq(each_example("sizes.let", sizes_check_program), 23);
}

/* ---- what the entry is given ---- */

/* A sequence of FLOATs, a number, a sequence of sequences of INTs. */
Test(sizes, layout_of_what_the_entry_is_given) {
  static const uint32_t layout[] = {IR_ONE, 0, IR_ONE, IR_ONE, 3, 4};
  struct analysed a;
  rewriting_begin(&a.r, "fun M (v0: SEGDES, v1: FLOAT, v2: INT, v3: SEGDES, v4: SEGDES, "
                        "v5: INT) -> (FLOAT, INT, INT, INT)\n"
                        "v6 = +_REDUCE FLOAT v1 v0\n"
                        "v7 = +_REDUCE INT v5 v4\n"
                        "v8 = +_REDUCE INT v7 v3\n"
                        "v9 = +_REDUCE INT v5 v0\n"
                        "yield v6 v7 v8 v9\nend\n");
  struct ir_program *program = a.r.o.program;
  program->entry_layout = layout;
  a.sizes = sizes_compute(&a.r.o);
  for (ir_var v = 6; v <= 8; v++) cr_expect(safe(&a, "M", v), "v%u", v);
  cr_expect(!safe(&a, "M", 9));
  cr_expect_eq(known(&a, "M", 2, SIZE_LEN), 1);
  cr_expect_eq(known(&a, "M", 3, SIZE_COUNT), 1);
  cr_expect_eq(known(&a, "M", 4, SIZE_COUNT), -1);
  cr_expect_eq(known(&a, "M", 8, SIZE_LEN), 1);
  rewriting_free(&a.r);
  analyse(&a, "fun M (v0: SEGDES, v1: FLOAT) -> (FLOAT)\n"
              "v2 = +_REDUCE FLOAT v1 v0\nyield v2\nend\n");
  cr_expect(!safe(&a, "M", 2));
  rewriting_free(&a.r);
}

/* ---- lifted functions ---- */

/* Analyses a function with a mark, which only the compiler's own programs may have. In 32 bits
 * a sum of lengths is the total, since it wraps only where no INT counts the elements. */
static void analyse_marked(struct analysed *a, bool guarded, enum cvl_elem ints) {
  rewriting_begin(&a->r, "fun M () -> (INT)\n"
                         "v0, v1, v2 = READ INT\n"
                         "v3, v4, v5 = READ INT\n"
                         "v6 = LENGTH INT v0\n"
                         "v7 = MAKE_SEGDES v6\n"
                         "v8 = MAKE_SEGDES v0\n"
                         "v9: SEGDES, v10: INT = call BODY v7 v8 v3\n"
                         "yield v10\nend\n"
                         "fun BODY (v0: SEGDES, v1: SEGDES, v2: INT) -> (SEGDES, INT) "
                         "instances shared each 1 -> each 0\n"
                         "v3 = LENGTHS v1\n"
                         "v4 = DIST INT v3 v1\n"
                         "v5 = + INT v4 v2\n"
                         "v6 = +_REDUCE INT v3 v0\n"
                         "v7 = MAKE_SEGDES v6\n"
                         "v8 = CONST INT 7\n"
                         "v9 = DIST INT v8 v7\n"
                         "v10 = + INT v5 v9\n"
                         "yield v1 v10\nend\n");
  a->r.o.program->guarded = guarded;
  a->r.o.program->widths.int_elem = ints;
  a->sizes = sizes_compute(&a->r.o);
}

Test(sizes, marks_of_functions_by_instances) {
  for (unsigned i = 0; i < 4; i++) {
    struct analysed a;
    analyse_marked(&a, i % 2, i < 2 ? CVL_I64 : CVL_I32);
    cr_expect_eq(safe(&a, "BODY", 5), i % 2 == 1, "%u", i);
    cr_expect(safe(&a, "BODY", 10), "%u", i);
    rewriting_free(&a.r);
  }
}
