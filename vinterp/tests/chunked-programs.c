/* chunked-programs.c - the table of chunked-programs.h, in let-form.
 *
 * Variables are numbered in order: v0 is the descriptor of the instances.
 */
#include "vinterp/tests/chunked-programs.h"

#define BEGIN "let-form \"test\" i64 f64 entry MAIN\n"

/* Makes seven instances: v1 is a descriptor with segments of all sorts, v2 their elements, v3
 * a column. */
#define RAGGED(results)                                                                        \
  BEGIN "fun MAIN () -> (" results ")\n"                                                       \
        "v0 = CONST SEGDES 7\n"                                                                \
        "v9 = CONST INT (3 0 2 1 4 0 5)\n"                                                     \
        "v1 = MAKE_SEGDES v9\n"                                                                \
        "v2 = CONST INT (10 11 12 20 21 30 40 41 42 43 50 51 52 53 54)\n"                      \
        "v3 = CONST INT (1 2 3 4 5 6 7)\n"

/* Makes seven instances with a column of these numbers, and calls BODY only. */
#define COLUMN(numbers, result)                                                                \
  BEGIN "fun MAIN () -> (" result ")\n"                                                        \
        "v0 = CONST SEGDES 7\n"                                                                \
        "v1 = CONST INT (" numbers ")\n"                                                       \
        "v2: " result " = call BODY v0 v1\nyield v2\nend\n"

/* In BODY v1 is a column of lengths: v2 is the descriptor of these, v3 the positions in each
 * segment. */
#define BODY_INDEX                                                                             \
  "fun BODY (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"                    \
  "v20 = CONST INT 0\nv21 = CONST INT 1\n"                                                     \
  "v22 = DIST INT v20 v0\nv23 = DIST INT v21 v0\n"                                             \
  "v2 = MAKE_SEGDES v1\nv3 = INDEX v22 v23 v2\n"

/* A loop that instances leave after as many rounds as the column says. v2 begins with the
 * column less a number, and grows by 1 in each round. Each round calls INNER with the
 * instances' descriptor and v2, which INNER may divide by. */
#define LOOP_OF_ROUNDS(less)                                                                   \
  "fun BODY (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"                    \
  "v3 = CONST INT " less "\nv4 = DIST INT v3 v0\nv2 = - INT v1 v4\n"                           \
  "v5: INT = call GROW v0 v1 v2\nv6 = DIST INT v5 v0\nv7 = * INT v6 v1\nyield v7\nend\n"       \
  "fun GROW (v0: SEGDES, v1: INT, v2: INT) -> (INT) rounds\n"                                  \
  "v12 = - INT v1 v1\nv13 = + INT v1 v12\n"                                                    \
  "v3: SEGDES, v4: INT, v5: INT = call STEP v0 v13 v2\n"                                       \
  "v6 = LENGTH INT v4\nv7 = CONST INT 0\nv8 = = INT v6 v7\n"                                   \
  "v9: INT = if v8\nyield v7\nelse\n"                                                          \
  "v10: INT = call GROW v3 v4 v5\nv11 = * INT v10 v7\nyield v11\nend\nyield v9\nend\n"         \
  "fun STEP (v0: SEGDES, v1: INT, v2: INT) -> (SEGDES, INT, INT) round\n"                      \
  "v3 = CONST INT 1\nv4 = DIST INT v3 v0\nv5 = - INT v1 v4\nv6 = + INT v2 v4\n"                \
  "v7: INT = call INNER v0 v6\nv8 = CONST INT 0\nv9 = DIST INT v8 v0\nv10 = > INT v5 v9\n"     \
  "v11 = AND_REDUCE BOOL v10 v0\n"                                                             \
  "v12: SEGDES, v13: INT, v14: INT = if v11\n"                                                 \
  "v15: SEGDES, v16: INT, v17: INT = call STEP v0 v5 v6\nyield v15 v16 v17\nelse\n"            \
  "v18, v19 = PACK INT v5 v10 v0\nv20, v21 = PACK INT v6 v10 v0\nyield v19 v18 v20\nend\n"     \
  "yield v12 v13 v14\nend\n"

const struct chunked chunked[] = {
    {"ragged, with a shared operand",
     RAGGED("INT, SEGDES, INT") "v4 = CONST INT 100\n"
                                "v5: INT, v6: SEGDES, v7: INT = call BODY v0 v1 v2 v3 "
                                "v4\nyield v5 v6 v7\nend\n"
                                "fun BODY (v0: SEGDES, v1: SEGDES, v2: INT, v3: INT, v4: INT) "
                                "-> (INT, SEGDES, INT) "
                                "instances shared each 1 each shared -> each each 1\n"
                                "v5 = DIST INT v4 v0\nv6 = + INT v3 v5\nv7 = DIST INT v6 "
                                "v1\nv8 = + INT v2 v7\n"
                                "v9 = MAX_REDUCE INT v8 v1\nv10 = +_SCAN INT v8 v1\nyield v9 "
                                "v1 v10\nend\n",
     NULL},
    {"elements before their descriptor",
     RAGGED(
         "INT, SEGDES") "v5: INT, v6: SEGDES = call BODY v0 v2 v3 v1\nyield v5 v6\nend\n"
                        "fun BODY (v0: SEGDES, v1: INT, v2: INT, v3: SEGDES) -> (INT, SEGDES) "
                        "instances shared 3 each each -> 1 each\n"
                        "v4 = DIST INT v2 v3\nv5 = * INT v1 v4\nyield v5 v3\nend\n",
     NULL},
    {"nested segments, and results that are operands",
     BEGIN
     "fun MAIN () -> (INT, SEGDES, SEGDES, FLOAT, BOOL)\n"
     "v0 = CONST SEGDES 4\nv1 = CONST INT (2 0 3 1)\nv2 = MAKE_SEGDES v1\n"
     "v3 = CONST INT (1 0 2 3 0 4)\nv4 = MAKE_SEGDES v3\n"
     "v5 = CONST INT (1 2 3 4 5 6 7 8 9 10)\nv6 = CONST BOOL (T F T F)\n"
     "v7: INT, v8: SEGDES, v9: SEGDES, v10: FLOAT, v11: BOOL = call BODY v0 v2 v4 v5 v6\n"
     "yield v7 v8 v9 v10 v11\nend\n"
     "fun BODY (v0: SEGDES, v1: SEGDES, v2: SEGDES, v3: INT, v4: BOOL) -> "
     "(INT, SEGDES, SEGDES, FLOAT, BOOL) instances shared each 1 2 each -> "
     "each each 1 2 each\n"
     "v5 = +_REDUCE INT v3 v2\nv6 = +_REDUCE INT v5 v1\nv7 = I_TO_F v3\nv8 = NOT BOOL v4\n"
     "yield v6 v1 v2 v7 v8\nend\n",
     NULL},
    {"a view: a shared base and an owner",
     RAGGED(
         "INT") "v4 = CONST INT (6 0 0 3 14 2 1)\nv5: INT = call BODY v0 v2 v4\nyield v5\nend\n"
                "fun BODY (v0: SEGDES, v1: INT, v2: INT) -> (INT) instances shared shared each "
                "-> each\n"
                "v3 = LENGTH INT v1\nv4 = MAKE_SEGDES v3\nv5 = BPERMUTE INT v1 v2 v4 v0\nyield "
                "v5\nend\n",
     NULL},
    {"results that no instance has",
     COLUMN("0 0 0 0 0 0 0", "INT") BODY_INDEX "v4 = +_REDUCE INT v3 v2\nyield v4\nend\n",
     NULL},
    {"no instances",
     BEGIN "fun MAIN () -> (INT)\nv0 = CONST SEGDES 0\nv1 = CONST INT ()\n"
           "v2: INT = call BODY v0 v1\nyield v2\nend\n" BODY_INDEX
           "v4 = +_REDUCE INT v3 v2\nyield v4\nend\n",
     NULL},
    {"a filter, whose results are of sizes that depend on elements",
     RAGGED("SEGDES, INT") "v4: SEGDES, v5: INT = call BODY v0 v1 v2\nyield v4 v5\nend\n"
                           "fun BODY (v0: SEGDES, v1: SEGDES, v2: INT) -> (SEGDES, INT) "
                           "instances shared each 1 -> "
                           "each 0\n"
                           "v3 = CONST INT 2\nv4 = LENGTH INT v2\nv5 = MAKE_SEGDES v4\nv6 = "
                           "DIST INT v3 v5\n"
                           "v7 = % v2 v6\nv8 = I_TO_B v7\nv9, v10 = PACK INT v2 v8 v1\nyield "
                           "v10 v9\nend\n",
     NULL},
    {"random numbers, several and nested",
     COLUMN("3 1 4 1 5 9 2", "INT") BODY_INDEX
     "v4 = CONST INT 1000\nv5 = DIST INT v4 v0\nv6 = RAND v5\n"
     "v7 = DIST INT v5 v2\nv8 = LENGTH INT v3\nv9 = MAKE_SEGDES v8\n"
     "v10: INT = call INNER v9 v7\nv11 = +_REDUCE INT v10 v2\nv12 = RAND v5\n"
     "v13 = * INT v6 v12\nv14 = + INT v11 v13\nyield v14\nend\n"
     "fun INNER (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
     "v2 = RAND v1\nv3 = RAND v1\nv4 = - INT v2 v3\nyield v4\nend\n",
     NULL},
    {"random numbers before, between and after calls",
     BEGIN "fun MAIN () -> (INT, INT, INT, INT, INT)\n"
           "v0 = CONST SEGDES 7\nv1 = CONST INT (9 9 99 99 999 999 9999)\nv2 = RAND v1\n"
           "v3: INT = call BODY v0 v1\nv4 = RAND v1\nv5: INT = call BODY v0 v1\nv6 = RAND v1\n"
           "yield v2 v3 v4 v5 v6\nend\n"
           "fun BODY (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
           "v2 = RAND v1\nv3 = RAND v1\nv4 = + INT v2 v3\nyield v4\nend\n",
     NULL},
    {"divide and conquer: a batch call in itself",
     COLUMN("3 0 6 2 12 5 1",
            "INT") "fun BODY (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
                   "v2 = MAX_REDUCE INT v1 v0\nv3 = CONST INT 1\nv4 = < INT v2 v3\n"
                   "v5: INT = if v4\nyield v1\nelse\n"
                   "v6 = CONST INT 2\nv7 = DIST INT v6 v0\nv8 = / INT v1 v7\n" /* two halves of
                                                                                  each */
                   "v9 = MAKE_SEGDES v7\nv10 = DIST INT v8 v9\nv11 = LENGTH INT v10\nv12 = "
                   "MAKE_SEGDES v11\n"
                   "v13: INT = call BODY v12 v10\nv14 = +_REDUCE INT v13 v9\nv15 = + INT v14 "
                   "v1\nyield v15\n"
                   "end\nyield v5\nend\n",
     NULL},
    {"tail calls of lifted functions",
     COLUMN(
         "3 1 4 1 5 9 2",
         "INT") "fun BODY (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
                "v2 = CONST INT 5\nv3: INT = call EVEN v0 v1 v2\nyield v3\nend\n"
                "fun EVEN (v0: SEGDES, v1: INT, v2: INT) -> (INT) instances shared each shared "
                "-> each\n"
                "v3 = CONST INT 1\nv4 = < INT v2 v3\nv5: INT = if v4\nyield v1\nelse\n"
                "v6 = + INT v1 v1\nv7: INT = call ODD v0 v6 v2\nyield v7\nend\nyield v5\nend\n"
                "fun ODD (v0: SEGDES, v1: INT, v2: INT) -> (INT) instances shared each shared "
                "-> each\n"
                "v3 = CONST INT 1\nv4 = - INT v2 v3\nv5 = DIST INT v3 v0\nv6 = + INT v1 v5\n"
                "v7: INT = call EVEN v0 v6 v4\nyield v7\nend\n",
     NULL},
    {"a fault behind tail calls of lifted functions",
     COLUMN("3 1 4 1 5 9 2",
            "INT") "fun BODY (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
                   "v2 = CONST INT 8\nv3: INT = call EVEN v0 v1 v2\nyield v3\nend\n"
                   "fun EVEN (v0: SEGDES, v1: INT, v2: INT) -> (INT) instances shared each "
                   "shared -> each\n"
                   "v3 = CONST INT 1\nv4 = < INT v2 v3\nv5: INT = if v4\nyield v1\nelse\n"
                   "v7: INT = call ODD v0 v1 v2\nyield v7\nend\nyield v5\nend\n"
                   "fun ODD (v0: SEGDES, v1: INT, v2: INT) -> (INT) instances shared each "
                   "shared -> each\n"
                   "v3 = CONST INT 1\nv4 = - INT v2 v3\nv5 = DIST INT v4 v0\nv6 = - INT v1 v5\n"
                   "v7 = / INT v1 v6\nv8: INT = call EVEN v0 v1 v4\nyield v8\nend\n",
     "division by zero at element 4"},

    /* ---- faults ---- */

    {"a division by zero, first chunk",
     COLUMN("0 1 2 3 4 5 6",
            "INT") "fun BODY (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
                   "v2 = / INT v1 v1\nyield v2\nend\n",
     "division by zero at element 0"},
    {"a division by zero, middle",
     COLUMN("1 2 3 0 4 5 6",
            "INT") "fun BODY (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
                   "v2 = / INT v1 v1\nyield v2\nend\n",
     "division by zero at element 3"},
    {"a division by zero among elements",
     COLUMN("1 2 3 0 1 2 6", "INT") BODY_INDEX
     "v4 = CONST INT 4\nv5 = LENGTH INT v3\nv6 = MAKE_SEGDES v5\nv7 = DIST INT v4 v6\n"
     "v8 = - INT v3 v7\nv9 = / INT v7 v8\nv10 = +_REDUCE INT v9 v2\nyield v10\nend\n",
     "division by zero at element 13"},
    {"chunks before that have one element, a scalar",
     BEGIN
     "fun MAIN () -> (INT)\n"
     "v0 = CONST SEGDES 7\nv1 = CONST INT (1 0 0 1 0 1 1)\nv2 = MAKE_SEGDES v1\n"
     "v3 = CONST INT (5 6 7 0)\nv4: INT = call BODY v0 v2 v3\nyield v4\nend\n"
     "fun BODY (v0: SEGDES, v1: SEGDES, v2: INT) -> (INT) instances shared each 1 -> each\n"
     "v3 = / INT v2 v2\nv4 = +_REDUCE INT v3 v1\nyield v4\nend\n",
     "division by zero at element 3"},
    {"two faults, the later instruction in the earlier chunk",
     COLUMN("0 1 2 3 4 5 6",
            "INT") "fun BODY (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
                   "v2 = CONST INT 6\nv3 = DIST INT v2 v0\nv4 = - INT v1 v3\nv5 = / INT v3 v4\n"
                   "v6 = / INT v5 v1\nyield v6\nend\n",
     ":12:1: error: / INT: division by zero at element 6"},
    {"two faults, one in an inner function",
     COLUMN("0 1 2 3 4 5 6",
            "INT") "fun BODY (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
                   "v2 = CONST INT 6\nv3 = DIST INT v2 v0\nv4 = - INT v1 v3\nv5: INT = call "
                   "INNER v3 v4\n"
                   "v6 = / INT v5 v1\nyield v6\nend\n"
                   "fun INNER (v0: INT, v1: INT) -> (INT)\nv2 = / INT v0 v1\nyield v2\nend\n",
     "division by zero at element 6"},
    {"faults in nested chunks, at different paths",
     COLUMN("1 2 3 3 1 5 6", "INT") BODY_INDEX
     "v4 = LENGTH INT v3\nv5 = MAKE_SEGDES v4\nv6: INT = call INNER v5 v3\n"
     "v7 = +_REDUCE INT v6 v2\nyield v7\nend\n"
     "fun INNER (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
     "v2 = CONST INT 5\nv3 = DIST INT v2 v0\nv4 = - INT v3 v1\nv5 = / INT v1 v4\n"
     "v6 = / INT v5 v1\nyield v6\nend\n",
     "division by zero at element 20"},
    {"an assertion",
     COLUMN("1 2 3 9 4 12 6",
            "INT") "fun BODY (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
                   "v2 = CONST INT 8\nv3 = DIST INT v2 v0\nv4 = < INT v1 v3\nASSERT \"too "
                   "large\" v4 v1 v3\n"
                   "yield v1\nend\n",
     "too large: 9 (of 8) at position 3"},
    {"an index into segments",
     RAGGED("INT") "v4 = CONST INT (0 0 0 0 2 0 5)\nv5 = CONST INT (1 1 1 1 1 0 1)\nv10 = "
                   "CONST INT (1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)\n"
                   "v6: INT = call BODY v0 v1 v2 v4\nyield v6\nend\n"
                   "fun BODY (v0: SEGDES, v1: SEGDES, v2: INT, v3: INT) -> (INT) instances "
                   "shared each 1 each "
                   "-> each\nv4 = EXTRACT INT v2 v3 v1\nyield v4\nend\n",
     "index 0 at position 1 is outside segment 1, whose length is 0"},
    {"an index of a gather, by segments",
     RAGGED("INT") "v4 = CONST INT (2 1 0 1 0 0 3 2 1 4 0 1 2 3 4)\n"
                   "v6: INT = call BODY v0 v1 v2 v4\nyield v6\nend\n"
                   "fun BODY (v0: SEGDES, v1: SEGDES, v2: INT, v3: INT) -> (INT) instances "
                   "shared each 1 1 "
                   "-> each\nv4 = BPERMUTE INT v2 v3 v1 v1\nv5 = +_REDUCE INT v4 v1\nyield "
                   "v5\nend\n",
     "index 4 at position 9 is outside segment 4, whose length is 4"},
    {"an index into what is shared",
     RAGGED("INT") "v4 = CONST INT (6 0 0 3 14 15 1)\nv5: INT = call BODY v0 v2 v4\nyield "
                   "v5\nend\n"
                   "fun BODY (v0: SEGDES, v1: INT, v2: INT) -> (INT) instances shared shared "
                   "each -> each\n"
                   "v3 = LENGTH INT v1\nv4 = MAKE_SEGDES v3\nv5 = BPERMUTE INT v1 v2 v4 "
                   "v0\nyield v5\nend\n",
     "index 15 at position 5 is outside segment 0, whose length is 15"},
    {"a duplicate, and behind it an index",
     RAGGED(
         "INT") "v4 = CONST INT (2 1 1 1 0 0 3 2 1 0 0 1 2 3 5)\n"
                "v6: INT = call BODY v0 v1 v2 v4\nyield v6\nend\n"
                "fun BODY (v0: SEGDES, v1: SEGDES, v2: INT, v3: INT) -> (INT) instances shared "
                "each 1 1 "
                "-> each\nv4 = PERMUTE INT v2 v3 v1\nv5 = +_REDUCE INT v4 v1\nyield v5\nend\n",
     "index 5 at position 14 is outside segment 6, whose length is 5"},
    {"a duplicate",
     RAGGED(
         "INT") "v4 = CONST INT (2 1 0 1 0 0 3 2 1 0 0 1 2 3 3)\n"
                "v6: INT = call BODY v0 v1 v2 v4\nyield v6\nend\n"
                "fun BODY (v0: SEGDES, v1: SEGDES, v2: INT, v3: INT) -> (INT) instances shared "
                "each 1 1 "
                "-> each\nv4 = PERMUTE INT v2 v3 v1\nv5 = +_REDUCE INT v4 v1\nyield v5\nend\n",
     "index 3 at position 14 occurs twice in segment 6"},
    {"a negative length",
     COLUMN("1 2 3 1 -2 -4 6", "INT") BODY_INDEX "v4 = +_REDUCE INT v3 v2\nyield v4\nend\n",
     "segment 4 has the negative length -2"},
    {"a bound of RAND",
     COLUMN("1 2 3 1 2 0 6",
            "INT") "fun BODY (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
                   "v2 = RAND v1\nv3 = RAND v1\nyield v3\nend\n",
     "the bound 0 at position 5 is not positive"},
    {"sizes that disagree, in one chunk",
     RAGGED(
         "INT") "v4 = CONST INT (3 0 2 1 4 1 5)\nv5: INT = call BODY v0 v1 v4\nyield v5\nend\n"
                "fun BODY (v0: SEGDES, v1: SEGDES, v2: INT) -> (INT) instances shared each "
                "each -> each\n"
                "v3 = MAKE_SEGDES v2\nv4 = DIST INT v2 v1\nv5 = +_REDUCE INT v4 v3\nyield "
                "v5\nend\n",
     "operand 0 has length 15, operand 1 has total 16"},
    {"sizes that disagree in a chunk behind one whose elements fail",
     RAGGED(
         "INT") "v4 = CONST INT (3 0 2 1 4 1 5)\nv5: INT = call BODY v0 v1 v4\nyield v5\nend\n"
                "fun BODY (v0: SEGDES, v1: SEGDES, v2: INT) -> (INT) instances shared each "
                "each -> each\n"
                "v3 = MAKE_SEGDES v2\nv4 = DIST INT v2 v1\nv5 = CONST INT 0\nv6 = DIST INT v5 "
                "v0\n"
                "v7 = CONST INT 1\nv8 = DIST INT v7 v0\nv9 = INDEX v6 v8 v3\nv10 = / INT v4 "
                "v9\n"
                "v11 = +_REDUCE INT v10 v3\nyield v11\nend\n",
     "/ INT: operand 0 has length 15, operand 1 has length 16"},
    {"a fault at a later round of a loop",
     COLUMN("3 1 4 1 5 2 7",
            "INT") "fun BODY (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
                   "v2 = CONST INT 9\nv3: INT = call LOOP v0 v1 v2\nyield v3\nend\n"
                   "fun LOOP (v0: SEGDES, v1: INT, v2: INT) -> (INT)\n"
                   "v3 = CONST INT 1\nv4 = < INT v2 v3\nv5: INT = if v4\nyield v1\nelse\n"
                   "v6 = DIST INT v2 v0\nv7 = - INT v1 v6\nv8 = / INT v6 v7\n"
                   "v9 = - INT v2 v3\nv10: INT = call LOOP v0 v1 v9\nyield v10\nend\nyield "
                   "v5\nend\n",
     "division by zero at element 6"},
    {"a loop whose rounds fail, first where a later instance does",
     COLUMN("3 1 3 2 4 4 7", "INT") LOOP_OF_ROUNDS(
         "5") "fun INNER (v0: SEGDES, v1: INT) -> (INT)\nv2 = / INT v1 v1\nyield v2\nend\n",
     "division by zero at element 4"},
    {"a loop whose rounds fail when others have left it",
     COLUMN("7 1 2 3 2 3 9", "INT") LOOP_OF_ROUNDS(
         "6") "fun INNER (v0: SEGDES, v1: INT) -> (INT)\nv2 = / INT v1 v1\nyield v2\nend\n",
     "division by zero at element 1"},
    {"a loop whose rounds have batch calls that fail",
     COLUMN("7 1 2 9 2 3 3", "INT") LOOP_OF_ROUNDS(
         "6") "fun INNER (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"
              "v2 = / INT v1 v1\nyield v2\nend\n",
     "division by zero at element 2"},
    {"a loop for many instances",
     COLUMN("3 1 4 1 5 2 7", "INT") LOOP_OF_ROUNDS(
         "0") "fun INNER (v0: SEGDES, v1: INT) -> (INT)\nv2 = / INT v1 v1\nyield v2\nend\n",
     NULL},
};

const size_t chunked_count = sizeof chunked / sizeof chunked[0];
