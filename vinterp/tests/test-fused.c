/* test-fused.c - superoperators have the same results and errors as the instructions of which
 * they were made: in one pass, node by node, late, and from stack code.
 */
#include "base/tests/memory.h"
#include "cvl/delayed.h"
#include "cvl/oracle/oracle.h"
#include "cvl/superop.h"
#include "vinterp/tests/fixture.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>

DELAYED_BACKEND(delayed_oracle, "delayed", cvl_oracle_backend)

TestSuite(fused, .init = memory_begin, .fini = memory_end);

enum { SEEDS = 20 };

static struct cvl_backend late, declining;

/* Declines every superoperator. */
static struct cvl_kernel *decline(struct cvl_context *context, const struct superop *op) {
  (void)context;
  (void)op;
  return NULL;
}

static const struct cvl_superops declines = {.prepare = decline};

/* The ways to run: the oracle in one pass, and node by node; then the delaying back end. */
enum { ONE_PASS, DECLINING, DELAYED, WAYS = DELAYED + SEEDS };

static struct machine_options way(int k, bool checked) {
  struct machine_options options = test_options();
  options.checked = checked;
  if (k == DECLINING) {
    declining = cvl_oracle_backend;
    declining.superops = &declines;
    options.backend = &declining;
  } else if (k >= DELAYED) {
    options.backend = delayed_oracle(&late);
    options.device = k;
  }
  return options;
}

/* Expects that a program prints this, or fails with these words, in every way. */
static void expect_every_way(const char *definitions, const char *program, const char *expected,
                             const char *const *words) {
  char text[2000];
  snprintf(text, sizeof text, "%s%s", definitions, program);
  for (int k = 0; k < 2 * WAYS; k++) {
    struct ran ran = run_text(text, way(k / 2, k % 2));
    cr_expect(expected ? printed(&ran, expected) : failed_with(&ran, words), "way %d: %s\n%s%s",
              k, program, ran.out, ran.diags);
    cr_expect_not(ran.leaked, "way %d: %s", k, program);
    ran_free(&ran);
  }
}

#define DEFINITIONS                                                                            \
  "fused OP0#1 ($0 : INT, $1 : INT) = (/ INT @ (+ INT @ $0 $1) $1)\n"                          \
  "fused OP1#1 ($0 : INT, $1 : BOOL, $2 : SEGDES) =\n"                                         \
  "  $3 = (* INT @ $0 $0)\n"                                                                   \
  "  $4 $5 = (PACK INT @ $3 $1 $2)\n"                                                          \
  "  $6 = (+_REDUCE INT @ $3 $2)\n"                                                            \
  "  -> $6 $4 $5\n"                                                                            \
  "fused OP2#1 ($0 : INT, $1 : INT, $2 : SEGDES, $3 : SEGDES) =\n"                             \
  "  (+ INT @ (BPERMUTE INT @ $0 $1 $2 $3) (DIST INT @ (CONST INT 100) $3))\n"                 \
  "fused OP3#1 ($0 : INT, $1 : INT) =\n"                                                       \
  "  $2 = (+ INT @ $0 $0)\n"                                                                   \
  "  $3 = (* INT @ $0 $1)\n"                                                                   \
  "  -> $3 $2\n"                                                                               \
  "fused OP4#1 ($0 : INT, $1 : INT, $2 : INT, $3 : INT) =\n"                                   \
  "  (+ INT @ (/ INT @ $0 $1) {@ p.nesl:7:5 rest }\n"                                          \
  "  (% @ $2 $3))\n"

struct example {
  const char *text, *expected;
};

static const struct example programs[] = {
    {"FUNC MAIN CONST INT (5 6 7) CONST INT (1 2 3) FUSED 0 RET", "( 6 4 3 )\n"},
    {"FUNC MAIN CONST INT 6 CONST INT 2 FUSED 0 RET", "( 4 )\n"},
    {"FUNC MAIN CONST INT () COPY 1 0 FUSED 0 RET", "( )\n"},
    {"FUNC MAIN CONST INT (1 2 3 4) CONST BOOL (T F T T) CONST INT (3 1) MAKE_SEGDES FUSED 1 "
     "RET",
     "( 14 16 )\n( 1 9 16 )\n[ 2 1 ]\n"},
    /* sizes that are known only during the run */
    {"FUNC MAIN CONST INT (1 2 3 4) CONST BOOL (T F T T) CONST SEGDES 4 PACK INT "
     "COPY 1 1 I_TO_B CPOP 1 1 FUSED 1 RET",
     "( 26 )\n( 1 9 16 )\n[ 3 ]\n"},
    {"FUNC MAIN CONST INT (3 1 2) CONST INT (2 2 0 1) CONST SEGDES 3 CONST SEGDES 4 FUSED 2 "
     "RET",
     "( 102 102 103 101 )\n"},
    /* one variable is two operands, and needed later or not */
    {"FUNC MAIN CONST INT (3 4) CONST INT (1 1) + INT COPY 1 0 COPY 1 0 FUSED 3 RET",
     "( 4 5 )\n( 16 25 )\n( 8 10 )\n"},
    {"FUNC MAIN CONST INT (3 4) CONST INT (1 1) + INT COPY 1 0 FUSED 3 RET",
     "( 16 25 )\n( 8 10 )\n"},
    /* once in every call of a recursion */
    {"FUNC MAIN CONST INT 5 CALL LOOP RET FUNC LOOP COPY 1 0 CONST INT 0 = INT IF POP 1 0 "
     "CONST INT (1 1) ELSE CONST INT 1 - INT CALL LOOP CONST INT (2 2) FUSED 3 POP 1 1 ENDIF "
     "RET",
     "( 32 32 )\n"},
};

Test(fused, programs_print_what_they_should) {
  for (size_t p = 0; p < sizeof programs / sizeof programs[0]; p++)
    expect_every_way(DEFINITIONS, programs[p].text, programs[p].expected, NULL);
}

/* ---- loops ---- */

/* OP0 counts how often a number can be halved before it is at most 1; OP1 does not end. */
#define LOOPS                                                                                  \
  "fused OP0#1 ($0 : INT, $1 : SEGDES) =\n"                                                    \
  "  $2 = (DIST INT @ (CONST INT 1) $1) $3 = (DIST INT @ (CONST INT 0) $1)\n"                  \
  "  $4 = (CARRY INT @ $0) $5 = (CARRY INT @ $3) (WHILE @ (> INT @ $4 $2))\n"                  \
  "  $6 = (RSHIFT @ $4 $2) $7 = (+ INT @ $5 $2)\n"                                             \
  "  $8 = (NEXT INT @ $4 $6) (NEXT INT @ $5 $7)\n"                                             \
  "fused OP1#1 ($0 : INT) =\n"                                                                 \
  "  $1 = (CARRY INT @ $0) (WHILE @ (= INT @ $1 $1)) (NEXT INT @ $1 (+ INT @ $1 $1))\n"

Test(fused, loops) {
  static const struct example loops[] = {
      {"FUNC MAIN CONST INT (1 2 3 100 0 1000000) CONST SEGDES 6 FUSED 0 RET",
       "( 0 1 1 6 0 19 )\n"},
      {"FUNC MAIN CONST INT 100 CONST SEGDES 1 FUSED 0 RET", "( 6 )\n"},
      {"FUNC MAIN CONST INT () CONST SEGDES 0 FUSED 0 RET", "( )\n"},
      {"FUNC MAIN CONST INT () FUSED 1 RET", "( )\n"},
  };
  for (size_t p = 0; p < sizeof loops / sizeof loops[0]; p++)
    expect_every_way(LOOPS, loops[p].text, loops[p].expected, NULL);
}

/* The back end runs the loop, and the library does if that declines. */
Test(fused, endless_loops) {
  static const char *const late_report[] = {"the time limit of 0.05 seconds is over", NULL};
  static const char text[] = LOOPS "FUNC MAIN CONST INT (1 2 3) FUSED 1 RET";
  for (int k = ONE_PASS; k <= DECLINING; k++) {
    struct machine_options options = way(k, false);
    struct stop stop = {.signal = NULL};
    stop_begin(&stop, 0.05);
    options.stop = &stop;
    struct ran ran = run_text(text, options);
    cr_expect(failed_with(&ran, late_report), "way %d: %s", k, ran.diags);
    cr_expect_not(ran.leaked);
    ran_free(&ran);
    const atomic_int interrupt = SIGINT;
    const struct stop stopped = {.signal = &interrupt};
    options = way(k, false);
    options.stop = &stopped;
    ran = run_text(text, options);
    cr_expect_eq(ran.outcome, MACHINE_INTERRUPTED, "way %d: %s", k, ran.diags);
    ran_free(&ran);
  }
}

/* ---- combinations ---- */

/* OP0 finds the greatest element of each segment, and its position. OP1 and OP2 concatenate
 * texts as numbers with powers of 10: in a scan, and in a scatter by index. */
#define COMBINATIONS                                                                           \
  "fused OP0#1 ($0 : INT, $1 : INT, $2 : SEGDES) =\n"                                          \
  "  $3 = (CONST INT -1) $4 $5 = (COLUMN INT @ $0) $6 $7 = (COLUMN INT @ $1)\n"                \
  "  $8 = (> INT @ $5 $4) $9 = (SELECT INT @ $8 $5 $4) $10 = (SELECT INT @ $8 $7 $6)\n"        \
  "  $11 = (COMBINE_REDUCE INT @ $4 $9 $3 $2) $12 = (COMBINE_REDUCE INT @ $6 $10 $3 $2)\n"     \
  "  -> $11 $12\n"                                                                             \
  "fused OP1#1 ($0 : INT, $1 : INT, $2 : INT, $3 : SEGDES) =\n"                                \
  "  $4 = (CONST INT 1) $5 $6 = (COLUMN INT @ $0) $7 $8 = (COLUMN INT @ $1)\n"                 \
  "  $9 = (+ INT @ (* INT @ $5 $8) $6) $10 = (* INT @ $7 $8)\n"                                \
  "  $11 = (COMBINE_SCAN INT @ $5 $9 $2 $3) (COMBINE_SCAN INT @ $7 $10 $4 $3)\n"               \
  "fused OP2#1 ($0 : INT, $1 : INT, $2 : INT, $3 : INT, $4 : INT, $5 : SEGDES, $6 : SEGDES) "  \
  "=\n"                                                                                        \
  "  $7 $8 = (COLUMN INT @ $0) $9 $10 = (COLUMN INT @ $1)\n"                                   \
  "  $11 = (+ INT @ (* INT @ $7 $10) $8) $12 = (* INT @ $9 $10)\n"                             \
  "  $13 = (COMBINE_SCATTER INT @ $7 $11 $2 $3 $5 $6)\n"                                       \
  "  $14 = (COMBINE_SCATTER INT @ $9 $12 $2 $4 $5 $6)\n"                                       \
  "  -> $13 $14\n"

#define SCATTER(index)                                                                         \
  "FUNC MAIN CONST INT (1 2 3 4 5) CONST INT (10 10 10 10 10) CONST INT " index                \
  " CONST INT (6 7 8) CONST INT (10 10 10) CONST SEGDES 5 CONST SEGDES 3 FUSED 2 RET"

Test(fused, combinations) {
  static const struct example examples[] = {
      {"FUNC MAIN CONST INT (3 9 2 9 4 7) CONST INT (0 1 2 0 1 2) CONST SEGDES (3 0 3) FUSED 0 "
       "RET",
       "( 9 -1 9 )\n( 1 -1 0 )\n"},
      {"FUNC MAIN CONST INT 5 CONST INT 0 CONST SEGDES 1 FUSED 0 RET", "( 5 )\n( 0 )\n"},
      {"FUNC MAIN CONST INT () CONST INT () CONST SEGDES 0 FUSED 0 RET", "( -1 )\n( -1 )\n"},
      {"FUNC MAIN CONST INT () CONST INT () CONST SEGDES () FUSED 0 RET", "( )\n( )\n"},
      {SCATTER("(0 2 0 0 2)"), "( 6134 7 825 )\n( 10000 10 1000 )\n"},
      /* sizes that are known only during the run */
      {"FUNC MAIN CONST INT (1 2 3 4) CONST BOOL (T F T T) CONST SEGDES 4 PACK INT "
       "COPY 1 1 CPOP 1 1 FUSED 0 RET",
       "( 4 )\n( 4 )\n"},
  };
  for (size_t p = 0; p < sizeof examples / sizeof examples[0]; p++)
    expect_every_way(COMBINATIONS, examples[p].text, examples[p].expected, NULL);
}

Test(fused, errors_of_combinations) {
  static const struct {
    const char *text, *words[3];
  } wrong[] = {
      {SCATTER("(0 2 0 3 5)"),
       {"test.vcode:13:10: error: COMBINE_SCATTER INT: index 3 at position 3 is outside "
        "segment 0",
        "superoperator 2, applied in MAIN"}},
      {"FUNC MAIN CONST INT (3 9) CONST INT (0 1 2) CONST SEGDES 2 FUSED 0 RET",
       {"error: COLUMN INT: operand 0 has length 3, it must be 2"}},
      {"FUNC MAIN CONST INT (3 9) CONST INT (0 1) CONST SEGDES 3 FUSED 0 RET",
       {"error: COMBINE_REDUCE INT: operand 0 has length 2, operand 3 has total 3"}},
      {"FUNC MAIN CONST INT (3 9) CONST INT (0 1) CONST INT (0 0) CONST SEGDES 2 FUSED 1 RET",
       {"error: COMBINE_SCAN INT: operand 2 has length 2, operand 3 has 1 segment"}},
  };
  for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
    expect_every_way(COMBINATIONS, wrong[k].text, NULL, wrong[k].words);
}

/* ---- errors ---- */

static const struct {
  const char *text, *words[6];
} faults[] = {
    {"FUNC MAIN CONST INT (1 2 3) CONST INT (4 0 0)\nFUSED 0 RET",
     {"test.vcode:1:37: error: / INT: division by zero at element 1",
      "superoperator 0, applied in MAIN at test.vcode:17:1\n"}},
    {"FUNC MAIN CONST INT 3 CONST INT 0\nFUSED 0 RET",
     {"test.vcode:1:37: error: / INT: division by zero at element 0",
      "superoperator 0, applied in MAIN at test.vcode:17:1\n"}},
    {"FUNC MAIN CONST INT (1 2 3) CONST INT (4 0)\nFUSED 0 RET",
     {"test.vcode:1:46: error: + INT: operand 0 has length 3, operand 1 has length 2"}},
    {"FUNC MAIN CONST INT (1 2 3 4) CONST BOOL (T F T T) CONST SEGDES 3\nFUSED 1 RET",
     {"error: PACK INT: operand 0 has length 4, operand 2 has total 3"}},
    {"FUNC MAIN CONST INT (3 1 2) CONST INT (2 3 -1 1) CONST SEGDES 3 CONST SEGDES 4\n"
     "FUSED 2 RET",
     {"error: BPERMUTE INT: index 3 at position 1 is outside segment 0, whose length is 3"}},
    /* the first node is reported, not the lowest element; a node's origin comes first */
    {"FUNC MAIN CONST INT (1 2 3) CONST INT (1 1 0) CONST INT (1 2 3) CONST INT (0 1 1) FUSED "
     "4 "
     "RET",
     {"test.vcode:14:", "error: / INT: division by zero at element 2"}},
    {"FUNC MAIN CONST INT (1 2 3) CONST INT (1 1 1) CONST INT (1 2 3) CONST INT (1 0 1) FUSED "
     "4 "
     "RET",
     {"p.nesl:7:5: error: %: division by zero at element 1"}},
    {"FUNC MAIN CONST INT (1 2) CONST INT (0 1) CALL INNER RET FUNC INNER CALL D RET\n"
     "FUNC D FUSED 0 CONST INT (1 1) + INT RET",
     {"test.vcode:1:37: error: / INT: division by zero at element 0",
      "superoperator 0, applied in D at test.vcode:17:8\n", "D, called from INNER",
      "INNER, called from MAIN"}},
};

Test(fused, errors_are_those_of_the_nodes) {
  for (size_t f = 0; f < sizeof faults / sizeof faults[0]; f++)
    expect_every_way(DEFINITIONS, faults[f].text, NULL, faults[f].words);
}

/* A fault before a superoperator is reported, and not that of the superoperator. */
Test(fused, an_earlier_fault_comes_first) {
  static const char *const words[] = {"test.vcode:17:1: error: / INT: division by zero", NULL};
  for (int k = 0; k < 2 * WAYS; k++) {
    struct ran ran = run_text(DEFINITIONS "FUNC MAIN CONST INT (1 2) CONST INT (0 0)\n/ INT\n"
                                          "CONST INT (1 2) CONST INT (0 1) FUSED 0 RET",
                              way(k / 2, k % 2));
    cr_expect(failed_with(&ran, words), "way %d: %s", k, ran.diags);
    ran_free(&ran);
  }
}

Test(fused, kinds_are_checked_in_stack_code) {
  static const char *const words[] = {":17:1: error: FUSED: operand 1 is FLOAT, not INT", NULL};
  static const char *const few[] = {":17:1: error: FUSED: needs 2 items, the stack has 1",
                                    NULL};
  for (int checked = 0; checked < 2; checked++) {
    struct ran ran =
        run_text(DEFINITIONS "FUNC MAIN CONST BOOL T IF CONST INT 1 CONST FLOAT 1.0\n"
                             "FUSED 0 ELSE CONST INT 1 ENDIF RET",
                 way(ONE_PASS, checked));
    cr_expect(failed_with(&ran, words), "%s", ran.diags);
    ran_free(&ran);
    ran = run_text(DEFINITIONS "FUNC MAIN CONST BOOL T IF CONST INT 1\n"
                               "FUSED 0 ELSE CONST INT 1 ENDIF RET",
                   way(ONE_PASS, checked));
    cr_expect(failed_with(&ran, few), "%s", ran.diags);
    ran_free(&ran);
  }
}

/* ---- ownership ---- */

/* Whether each operand of the latest superoperator was handed over, as one character. */
static char handed_over[8];

static bool run_and_note(struct cvl_context *context, uint64_t site, struct cvl_kernel *kernel,
                         const struct cvl_value *operands, struct cvl_value *outs) {
  for (int k = 0; k < 2; k++) handed_over[k] = operands[k].owned ? '1' : '0';
  handed_over[2] = '\0';
  return cvl_oracle_backend.superops->run(context, site, kernel, operands, outs);
}

Test(fused, operands_are_handed_over_at_their_last_use) {
  static const struct example cases[] = {
      {"CONST INT (1 2) CONST INT (3 4) FUSED 0", "11"},
      {"CONST INT (1 2) COPY 1 0 CONST INT (3 4) FUSED 0", "01"},
      {"CONST INT (1 2) CONST INT (3 4) COPY 2 0 FUSED 0", "00"},
      {"CONST INT (1 2) CONST INT (3 4) COPY 2 0 FUSED 0 POP 1 1", "01"},
      {"CONST INT (1 2) COPY 1 0 FUSED 0", "00"},
  };
  struct cvl_backend noting = cvl_oracle_backend;
  struct cvl_superops superops = *noting.superops;
  superops.run = run_and_note;
  noting.superops = &superops;
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    char text[2000];
    snprintf(text, sizeof text, "%sFUNC MAIN %s RET", DEFINITIONS, cases[k].text);
    struct machine_options options = test_options();
    options.backend = &noting;
    struct ran ran = run_text(text, options);
    cr_expect_eq(ran.outcome, MACHINE_DONE, "%s", ran.diags);
    cr_expect_str_eq(handed_over, cases[k].expected, "%s", cases[k].text);
    cr_expect_not(ran.leaked);
    ran_free(&ran);
  }
}

/* ---- counting ---- */

/* Returns the number for a key in the JSON of the profile of a whole run. */
static unsigned long fused_counted(const char *text, const char *key,
                                   struct machine_options options) {
  struct diag_list diags;
  diag_list_init(&diags, &arena);
  options.profile = true;
  options.out = tmpfile();
  struct machine *m = machine_new(&options, &diags);
  cr_assert(m);
  cr_assert_eq(machine_run(m, program_of(&arena, text, options.widths, &diags), &diags),
               MACHINE_DONE);
  char json[8000] = "";
  FILE *report = fmemopen(json, sizeof json, "w");
  machine_profile(m, report, true);
  fclose(report);
  fclose(options.out);
  machine_free(m);
  const char *at = strstr(json, key);
  cr_assert(at, "%s in %s", key, json);
  return strtoul(at + strlen(key), NULL, 10);
}

Test(fused, counts_one_instruction_and_its_operands_and_results) {
  static const char one[] = DEFINITIONS
      "FUNC MAIN CONST INT (5 6 7) CONST INT (1 2 3) CONST INT (1 1 1) + INT FUSED 0 RET";
  static const char single[] =
      DEFINITIONS "FUNC MAIN CONST INT 6 CONST INT 2 CONST INT 1 + INT FUSED 0 RET";
  for (int k = 0; k < 2 * WAYS; k++) {
    struct machine_options options = way(k / 2, k % 2);
    cr_expect_eq(fused_counted(one, "\"instructions\": ", options), 2, "way %d", k);
    cr_expect_eq(fused_counted(one, "\"work\": ", options), 18, "way %d", k);
    cr_expect_eq(fused_counted(one, "\"bytes\": ", options), 18 * 8, "way %d", k);
    if (k / 2 < DELAYED) /* the delaying back end may decline */
      cr_expect_eq(fused_counted(one, "\"passes\": ", options), k / 2 == ONE_PASS ? 2 : 3,
                   "way %d", k);
    cr_expect_eq(fused_counted(single, "\"passes\": ", options), 0, "way %d", k);
  }
}

/* ---- memory ---- */

Test(fused, every_allocation_fails_once) {
  static const char text[] = DEFINITIONS
      "FUNC MAIN CONST INT (1 2 3 4) CONST BOOL (T F T T) CONST INT (3 1) MAKE_SEGDES "
      "FUSED 1 POP 1 0 CONST INT (1 1 1) FUSED 3 RET";
  static const char expected[] = "( 14 16 )\n( 1 9 16 )\n( 2 18 32 )\n";
  for (int k = 0; k < 6; k++) {
    uint64_t failures = 0;
    for (uint64_t n = 1, well = 0; well < 2; n++) {
      struct machine_options options = way(k / 2, k % 2);
      options.fail_allocation = n;
      struct ran ran = run_text(text, options);
      bool ok = ran.outcome == MACHINE_DONE;
      cr_expect_str_eq(ran.out, ok ? expected : "", "way %d, failure %lu: %s", k, n, ran.diags);
      cr_expect_eq(ran.errors, !ok, "way %d, failure %lu: %s", k, n, ran.diags);
      cr_expect_not(ran.leaked);
      well = ok ? well + 1 : 0;
      failures += !ok;
      ran_free(&ran);
      cr_assert_lt(n, 1000);
    }
    cr_expect_gt(failures, 5);
  }
}
