/* test-emit.c - emitted source, compiled by the machine's compiler with every warning an error;
 * and what is said to be left to kernels of the library. What the functions compute is tested
 * by the back end that calls them.
 */
#include "base/tests/every.h"
#include "fused-kernels/tests/emitted.h"

/* Compiles what a back end would compile, with all kinds of nodes, for one segment and for any.
 * A function that does not compile would only be slow. */
static void emit_check_file(struct widths w, uint64_t seed) {
  static const struct mixture mixtures[] = {
      {.maps = 6, .spreads = 3, .gathers = 3, .reductions = 2, .asserts = 2, .wild = true},
      {.maps = 6, .spreads = 3, .gathers = 2, .scans = 3, .packs = 3, .wild = true},
      {.maps = 4, .spreads = 2, .scatters = 3, .asserts = 1, .wild = true},
      {.maps = 6, .spreads = 2, .gathers = 1, .reductions = 1, .loops = 2},
      {.maps = 4, .gathers = 1, .combinations = 2},
  };
  struct random r;
  random_make(&r, w, seed, mixtures, sizeof mixtures / sizeof *mixtures, CASES);
  struct built b;
  make_directory(&b);
  FILE *c = create(&b, "emitted.c");
  fused_emit_cpu(&r.arena, r.ops, CASES, w, c);
  fclose(c);
  cr_expect(compile(&b, COMPILE_C), "%s", dlerror());
  clean(&b);
  random_free(&r);
}

Test(emit_functions, files_compile) {
  if (!has_compiler()) cr_skip_test("no compiler here");
  emit_check_file((struct widths){CVL_I64, CVL_F64}, 6);
  if (every() == 1) emit_check_file((struct widths){CVL_I32, CVL_F32}, 7);
}

/* ---- what functions leave ---- */

#define FORM(params, body) "fused OP0#1 (" params ") = " body
#define SQUARES            "(* INT @ $0 $0)"

static const struct {
  const char *text;
  bool compiled;
  const char *left;
} leaves[] = {
    {FORM("$0 : INT, $1 : SEGDES", "(+_REDUCE INT @ " SQUARES " $1)"), true, ""},
    {FORM("$0 : INT, $1 : SEGDES", "(+_REDUCE INT @ $0 $1)"), false,
     "no elementwise operations"},
    {FORM("$0 : INT, $1 : SEGDES", "(+_SCAN INT @ " SQUARES " $1)"), true, ""},
    {FORM("$0 : FLOAT, $1 : SEGDES", "$2 = (* FLOAT @ $0 $0) $3 = (+_SCAN FLOAT @ $2 $1) "
                                     "$4 = (+_SCAN FLOAT @ $0 $1) -> $3 $4"),
     true, "2 scan"},
    {FORM("$0 : INT, $1 : INT, $2 : SEGDES", "(PERMUTE INT @ " SQUARES " $1 $2)"), true, ""},
    {FORM("$0 : INT, $1 : FLOAT, $2 : INT, $3 : SEGDES",
          "$4 = (+_SCAN FLOAT @ $1 $3) $5 = " SQUARES " $6 = (PERMUTE INT @ $5 $2 $3) "
          "-> $4 $6"),
     true, "scan"},
    {FORM("$0 : INT, $1 : INT, $2 : INT, $3 : INT, $4 : INT, $5 : SEGDES, $6 : SEGDES, $7 : "
          "SEGDES",
          "(DPERMUTE INT @ $1 (INDEX @ $3 (CONST INT 1) $6) (DPERMUTE INT @ $0 (INDEX @ $2 "
          "(CONST INT 1) $5) $4 $5 $7) $6 $7)"),
     false, "copied by runs"},
};

Test(emit, functions_leave) {
  for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
    struct loaded l;
    bool compiled;
    load(&l, leaves[i].text, (struct widths){CVL_I64, CVL_F64});
    cr_assert_not_null(l.ops[0], "%s: %s", leaves[i].text,
                       l.diags.list.count ? l.diags.list.items[0].message : "");
    const char *left = fused_functions_leave(&l.arena, l.ops[0], &compiled);
    cr_expect_str_eq(left, leaves[i].left, "%s: %s", leaves[i].text, left);
    cr_expect_eq(compiled, leaves[i].compiled, "%s", leaves[i].text);
    unload(&l);
  }
}
