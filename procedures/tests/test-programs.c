/* test-programs.c - native code of whole procedures against their execution by the oracle:
 * operations on vectors, control flow, calls, loops; and memory that runs out, at every
 * allocation.
 */
#include "base/text.h"
#include "ir/kinds.h"
#include "ir/tests/parse.h"
#include "procedures/tests/evaluate.h"
#include "procedures/tests/native-calls.h"

#include <pthread.h>

/* ---- programs ---- */

/* A program in let-form without its first line, MAIN and positions. F is a lifted function with
 * the procedure P. INTs of its arguments are least .. most; descriptors have up to `length`
 * elements in a segment. */
struct example {
  const char *name, *text;
  int64_t least, most;
  uint64_t length;
  bool always; /* nothing fails */
};

/* F, of the types of P and a mark; its body is never looked at. */
#define LIFTED(params, results, mark, call)                                                    \
  "fun F (v0: SEGDES, " params ") -> (" results ") instances " mark " procedure P\n" call      \
  "end\n"

#define ORDER(name, T, E)                                                                      \
  {                                                                                            \
    name,                                                                                      \
        "fun P (v0: SEGDES, v1: " T ") -> (SEGDES, INT, INT, " T ", " T ", " T ", INT)\n"      \
        "v3 = RANK_UP " T " v1 v0\n"                                                           \
        "v4 = RANK_DOWN " T " v1 v0\n"                                                         \
        "v5 = SORT_UP " T " v1 v0\n"                                                           \
        "v6 = SORT_DOWN " T " v1 v0\n"                                                         \
        "v7 = PERMUTE " T " v1 v3 v0\n"                                                        \
        "v8 = LENGTH " T " v7\n"                                                               \
        "v9 = LENGTHS v0\n"                                                                    \
        "v10 = MAKE_SEGDES v9\n"                                                               \
        "v11 = + INT v8 v9\n"                                                                  \
        "yield v10 v3 v4 v5 v6 v7 v11\n"                                                       \
        "end\n" LIFTED("v1: SEGDES, v2: " T, "SEGDES, INT, INT, " T ", " T ", " T ", INT",     \
                       "shared each 1 -> each 0 0 0 0 0 each",                                 \
                       "v3: SEGDES, v4: INT, v5: INT, v6: " T ", v7: " T ", v8: " T            \
                       ", v9: INT = call F v0 v1 v2\n"                                         \
                       "yield v3 v4 v5 v6 v7 v8 v9\n"),                                        \
        -3, 9, 9, true                                                                         \
  }

/* Of each instance several segments. */
#define SEGMENTS(name, T)                                                                      \
  {                                                                                            \
    name,                                                                                      \
        "fun P (v0: SEGDES, v1: SEGDES, v2: " T ", v3: INT, v4: " T ") -> (SEGDES, SEGDES, "   \
        "INT, " T ", " T ", " T ", INT)\n"                                                     \
        "v5 = RANK_UP " T " v2 v1\n"                                                           \
        "v6 = SORT_DOWN " T " v2 v1\n"                                                         \
        "v7 = REPLACE " T " v2 v3 v4 v1\n"                                                     \
        "v8 = EXTRACT " T " v7 v3 v1\n"                                                        \
        "v9 = LENGTHS v1\n"                                                                    \
        "v10 = MAKE_SEGDES v9\n"                                                               \
        "yield v0 v10 v5 v6 v7 v8 v9\n"                                                        \
        "end\n" LIFTED("v1: SEGDES, v2: SEGDES, v3: " T ", v4: INT, v5: " T,                   \
                       "SEGDES, SEGDES, INT, " T ", " T ", " T ", INT",                        \
                       "shared each 1 2 1 1 -> each 0 1 1 1 0 0",                              \
                       "v6: SEGDES, v7: SEGDES, v8: INT, v9: " T ", v10: " T ", v11: " T       \
                       ", v12: INT = call F v0 v1 v2 v3 v4 v5\n"                               \
                       "yield v6 v7 v8 v9 v10 v11 v12\n"),                                     \
        0, 3, 4, false                                                                         \
  }

/* A concatenation, and a slice. */
#define COPIES                                                                                 \
  "fused OP0#1 ($0 : INT, $1 : INT, $2 : SEGDES, $3 : SEGDES, $4 : SEGDES, $5 : INT) =\n"      \
  " $6 = (INDEX @ (CONST INT 0) (CONST INT 1) $2)\n"                                           \
  " $7 = (FPERMUTE INT @ $0 $6 (DIST BOOL @ (CONST BOOL T) $2) $2 $4)\n"                       \
  " $8 = (INDEX @ $5 (CONST INT 1) $3)\n"                                                      \
  " (DPERMUTE INT @ $1 $8 $7 $3 $4)\n"                                                         \
  "fused OP1#1 ($0 : INT, $1 : INT, $2 : SEGDES, $3 : SEGDES) =\n"                             \
  " (BPERMUTE INT @ $0 (INDEX @ $1 (CONST INT 1) $3) $2 $3)\n"                                 \
  "fused OP2#1 ($0 : INT, $1 : SEGDES, $2 : SEGDES) =\n"                                       \
  " $3 = (INDEX @ (CONST INT 1) (CONST INT 1) $2)\n"                                           \
  " $4 = (BPERMUTE INT @ $0 $3 $1 $2)\n"                                                       \
  " $5 = (INDEX @ (CONST INT 0) (CONST INT 1) $2)\n"                                           \
  " $6 = (DPERMUTE INT @ $4 $5 $0 $2 $1)\n"                                                    \
  " -> $4 $6\n"

/* v31 ++ v15 ++ v33, whose lengths are those of v30, v16 and v32, is v44. */
#define JOIN                                                                                   \
  "fused OP0#1 ($0 : INT, $1 : INT, $2 : INT, $3 : SEGDES, $4 : SEGDES, $5 : SEGDES, "         \
  "$6 : INT, $7 : INT, $8 : SEGDES) =\n"                                                       \
  " $9 = (FPERMUTE INT @ $0 (INDEX @ (CONST INT 0) (CONST INT 1) $3) "                         \
  "(DIST BOOL @ (CONST BOOL T) $3) $3 $8)\n"                                                   \
  " $10 = (DPERMUTE INT @ $1 (INDEX @ $6 (CONST INT 1) $4) $9 $4 $8)\n"                        \
  " (DPERMUTE INT @ $2 (INDEX @ $7 (CONST INT 1) $5) $10 $5 $8)\n"
#define JOINED                                                                                 \
  "v34 = LENGTHS v30\n"                                                                        \
  "v35 = LENGTHS v16\n"                                                                        \
  "v36 = LENGTHS v32\n"                                                                        \
  "v37 = + INT v34 v35\n"                                                                      \
  "v38 = + INT v37 v36\n"                                                                      \
  "v39 = MAKE_SEGDES v38\n"                                                                    \
  "v44 = FUSED 0 v31 v15 v33 v30 v16 v32 v34 v37 v39\n"                                        \
  "yield v39 v44\n"                                                                            \
  "end\n"                                                                                      \
  "yield v5 v6\n"                                                                              \
  "end\n"

#define SORTED "SEGDES, INT"
/* The parts of v1 about its middle, and what is equal to it: v12 v11, v18 v17, v16 v15. */
#define PARTS                                                                                  \
  "v7 = LENGTHS v0\n"                                                                          \
  "v40 = CONST INT 2\n"                                                                        \
  "v41 = / INT v7 v40\n"                                                                       \
  "v8 = EXTRACT INT v1 v41 v0\n"                                                               \
  "v9 = DIST INT v8 v0\n"                                                                      \
  "v10 = < INT v1 v9\n"                                                                        \
  "v11, v12 = PACK INT v1 v10 v0\n"                                                            \
  "v14 = = INT v1 v9\n"                                                                        \
  "v15, v16 = PACK INT v1 v14 v0\n"                                                            \
  "v19 = > INT v1 v9\n"                                                                        \
  "v17, v18 = PACK INT v1 v19 v0\n"                                                            \
  "v20 = LENGTHS v12\n"                                                                        \
  "v21 = LENGTHS v18\n"                                                                        \
  "v22 = LENGTHS v16\n"
#define SHORT                                                                                  \
  "v2 = LENGTHS v0\n"                                                                          \
  "v3 = CONST INT 2\n"                                                                         \
  "v4 = < INT v2 v3\n"                                                                         \
  "v5: SEGDES, v6: INT = if v4\n"                                                              \
  "yield v0 v1\n"                                                                              \
  "else\n"
#define SORTS                                                                                  \
  LIFTED("v1: SEGDES, v2: INT", SORTED, "shared each 1 -> each 0",                             \
         "v3: SEGDES, v4: INT = call F v0 v1 v2\nyield v3 v4\n")

/* Lengths of 0 and, in wide widths, 2^62, of which four wrap around to 0. */
#define LONG                                                                                   \
  {                                                                                            \
    "lengths that wrap around",                                                                \
        "fun P (v0: SEGDES, v1: INT) -> (INT)\n"                                               \
        "v2 = CONST INT 1073741824\nv3 = CONST INT 4\n"                                        \
        "v4 = DIST INT v2 v0\nv5 = DIST INT v3 v0\n"                                           \
        "v6 = * INT v1 v4\nv7 = * INT v6 v4\nv8 = * INT v7 v5\n"                               \
        "v9 = MAKE_SEGDES v8\nv10 = LENGTHS v9\nv11 = +_REDUCE INT v10 v0\nyield "             \
        "v11\nend\n" LIFTED("v1: SEGDES, v2: INT", "INT", "shared each 1 -> each",             \
                            "v3: INT = call F v0 v1 v2\nyield v3\n"),                          \
        0, 1, 6, false                                                                         \
  }

static const struct example examples[] = {
    LONG,
    ORDER("order of INTs", "INT", 0),
    ORDER("order of FLOATs", "FLOAT", 0),
    SEGMENTS("segments of INTs", "INT"),
    SEGMENTS("segments of FLOATs", "FLOAT"),
    {"PERMUTE by an index that may have duplicates",
     "fun P (v0: SEGDES, v1: INT, v2: FLOAT) -> (SEGDES, FLOAT)\n"
     "v3 = PERMUTE FLOAT v2 v1 v0\n"
     "yield v0 v3\n"
     "end\n" LIFTED("v1: SEGDES, v2: INT, v3: FLOAT", "SEGDES, FLOAT",
                    "shared each 1 1 -> each 0",
                    "v4: SEGDES, v5: FLOAT = call F v0 v1 v2 v3\nyield v4 v5\n"),
     0, 1, 2, false},
    {"SELECT of scalars and of vectors, scans and constants",
     "fun P (v0: SEGDES, v1: BOOL, v2: FLOAT, v3: INT) -> (SEGDES, FLOAT, INT, FLOAT)\n"
     "v4 = CONST FLOAT -inf\n"
     "v5 = DIST FLOAT v4 v0\n"
     "v6 = SELECT FLOAT v1 v2 v5\n"
     "v7 = +_SCAN FLOAT v2 v0\n"
     "v8 = OR_REDUCE BOOL v1 v0\n"
     "v9 = CONST INT 12\n"
     "v10 = SELECT INT v8 v3 v9\n"
     "v11 = CONST FLOAT (0.5 nan 2.25)\n"
     "v12 = CONST SEGDES (3)\n"
     "v13 = CONST INT (0 2)\n"
     "v14 = CONST SEGDES (2)\n"
     "v15 = BPERMUTE FLOAT v11 v13 v12 v14\n"
     "v16 = *_REDUCE FLOAT v15 v14\n"
     "yield v0 v6 v10 v16\n"
     "end\n" LIFTED("v1: SEGDES, v2: BOOL, v3: FLOAT, v4: INT", "SEGDES, FLOAT, INT, FLOAT",
                    "shared each 1 1 each -> each 0 each each",
                    "v5: SEGDES, v6: FLOAT, v7: INT, v8: FLOAT = call F v0 v1 v2 v3 v4\n"
                    "yield v5 v6 v7 v8\n"),
     -9, 9, 8, true},
    {"lengths that may be negative, and division",
     "fun P (v0: INT, v1: INT) -> (SEGDES, INT)\n"
     "v2 = MAKE_SEGDES v0\n"
     "v3 = / INT v0 v1\n"
     "v4 = % v1 v3\n"
     "v5 = DIST INT v4 v2\n"
     "yield v2 v5\n"
     "end\n" LIFTED("v1: INT, v2: INT", "SEGDES, INT", "shared each each -> each 0",
                    "v3: SEGDES, v4: INT = call F v0 v1 v2\nyield v3 v4\n"),
     -1, 20, 4, false},
    {"arms of different forms",
     "fun P (v0: SEGDES, v1: INT, v2: BOOL, v3: INT) -> (INT, SEGDES, SEGDES, INT)\n"
     "v4: INT, v5: SEGDES = if v2\n"
     "v6 = CONST INT 7\n"
     "v7 = CONST SEGDES (1)\n"
     "yield v6 v7\n"
     "else\n"
     "yield v1 v0\n"
     "end\n"
     "v8 = +_REDUCE INT v4 v5\n"
     "v9: SEGDES, v10: INT = if v2\n"
     "v11 = LENGTH INT v1\n"
     "v12 = CONST INT 1\n"
     "v13 = DIST INT v12 v0\n"
     "v14 = MAKE_SEGDES v13\n"
     "yield v14 v1\n"
     "else\n"
     "yield v0 v1\n"
     "end\n"
     "v15 = +_SCAN INT v10 v9\n"
     "v16 = LENGTHS v9\n"
     "v17 = LENGTH INT v16\n"
     "v18 = MAKE_SEGDES v17\n"
     "v19: INT = if v2\n"
     "yield v3\n"
     "else\n"
     "yield v8\n"
     "end\n"
     "yield v19 v18 v9 v15\n"
     "end\n" LIFTED("v1: SEGDES, v2: INT, v3: BOOL, v4: INT", "INT, SEGDES, SEGDES, INT",
                    "shared each 1 each each -> each each 1 2",
                    "v5: INT, v6: SEGDES, v7: SEGDES, v8: INT = call F v0 v1 v2 v3 v4\n"
                    "yield v5 v6 v7 v8\n"),
     -5, 5, 5, true},
    {"calls with scalars, and of the same function with vectors",
     "fun G (v0: INT, v1: INT) -> (INT, INT)\n"
     "v2 = + INT v0 v1\n"
     "v3 = * INT v2 v1\n"
     "yield v3 v0\n"
     "end\n"
     "fun H (v0: INT) -> (INT, SEGDES)\n"
     "v1 = CONST INT 3\n"
     "v2 = + INT v0 v1\n"
     "v3 = MAKE_SEGDES v2\n"
     "yield v2 v3\n"
     "end\n"
     "fun P (v0: SEGDES, v1: INT, v2: INT) -> (SEGDES, INT, INT, SEGDES)\n"
     "v3: INT, v4: INT = call G v2 v2\n"
     "v5 = DIST INT v3 v0\n"
     "v6: INT, v7: INT = call G v1 v5\n"
     "v8: INT, v9: SEGDES = call H v2\n"
     "v10 = LENGTHS v9\n"
     "v11: INT, v12: INT = call G v8 v10\n"
     "yield v0 v6 v11 v9\n"
     "end\n" LIFTED("v1: SEGDES, v2: INT, v3: INT", "SEGDES, INT, INT, SEGDES",
                    "shared each 1 each -> each 0 each each",
                    "v4: SEGDES, v5: INT, v6: INT, v7: SEGDES = call F v0 v1 v2 v3\n"
                    "yield v4 v5 v6 v7\n"),
     -3, 9, 6, false},
    {"rounds: state that is swapped, made, of two rounds before, and stays",
     "fun LOOP (v0: INT, v1: INT, v2: INT, v3: INT, v4: SEGDES, v5: INT) -> (INT, INT, INT, "
     "INT)\n"
     "v6 = CONST INT 0\n"
     "v7 = <= INT v0 v6\n"
     "v8: INT, v9: INT, v10: INT, v18: INT = if v7\n"
     "yield v1 v2 v3 v5\n"
     "else\n"
     "v11 = CONST INT 1\n"
     "v12 = - INT v0 v11\n"
     "v13 = DIST INT v12 v4\n"
     "v14 = + INT v1 v13\n"
     "v15: INT, v16: INT, v17: INT, v19: INT = call LOOP v12 v2 v14 v1 v4 v5\n"
     "yield v15 v16 v17 v19\n"
     "end\n"
     "yield v8 v9 v10 v18\n"
     "end\n"
     "fun P (v0: SEGDES, v1: INT, v2: INT) -> (SEGDES, INT, INT, INT, INT)\n"
     "v3 = CONST INT 9\n"
     "v4 = DIST INT v3 v0\n"
     "v5 = * INT v4 v1\n"
     "v6: INT, v7: INT, v8: INT, v9: INT = call LOOP v2 v1 v4 v5 v0 v5\n"
     "yield v0 v6 v7 v8 v9\n"
     "end\n" LIFTED("v1: SEGDES, v2: INT, v3: INT", "SEGDES, INT, INT, INT, INT",
                    "shared each 1 each -> each 0 0 0 0",
                    "v4: SEGDES, v5: INT, v6: INT, v7: INT, v8: INT = call F v0 v1 v2 v3\n"
                    "yield v4 v5 v6 v7 v8\n"),
     0, 9, 700, true},
    {"rounds whose state is an arm's, a call's, a descriptor's, and grows",
     "fun G (v0: INT, v1: SEGDES) -> (INT)\n"
     "v2 = +_SCAN INT v0 v1\n"
     "v3 = + INT v2 v0\n"
     "yield v3\n"
     "end\n"
     "fun LOOP (v0: INT, v1: INT, v2: SEGDES, v3: INT) -> (SEGDES, INT, INT)\n"
     "v6 = CONST INT 0\n"
     "v7 = > INT v0 v6\n"
     "v8: SEGDES, v9: INT, v10: INT = if v7\n"
     "v11 = CONST INT 1\n"
     "v12 = - INT v0 v11\n"
     "v13 = AND INT v0 v11\n"
     "v14 = = INT v13 v6\n"
     "v15: INT, v16: SEGDES = if v14\n"
     "v17 = LENGTHS v2\n"
     "v18 = + INT v17 v11\n"
     "v19 = MAKE_SEGDES v18\n"
     "v20 = DIST INT v0 v19\n"
     "yield v20 v19\n"
     "else\n"
     "yield v1 v2\n"
     "end\n"
     "v21: INT = call G v15 v16\n"
     "v28 = CONST INT 2\n"
     "v29 = AND INT v0 v28\n"
     "v30 = = INT v29 v6\n"
     "v22: INT = if v30\n"
     "yield v3\n"
     "else\n"
     "yield v15\n"
     "end\n"
     "v23: SEGDES, v24: INT, v25: INT = call LOOP v12 v21 v16 v22\n"
     "yield v23 v24 v25\n"
     "else\n"
     "v26 = + INT v1 v1\n"
     "v27 = * INT v26 v1\n"
     "yield v2 v27 v3\n"
     "end\n"
     "yield v8 v9 v10\n"
     "end\n"
     "fun P (v0: SEGDES, v1: INT, v2: INT) -> (SEGDES, INT, SEGDES, INT)\n"
     "v3: SEGDES, v4: INT, v5: INT = call LOOP v2 v1 v0 v1\n"
     "v6 = LENGTH INT v5\n"
     "v7 = MAKE_SEGDES v6\n"
     "yield v3 v4 v7 v5\n"
     "end\n" LIFTED("v1: SEGDES, v2: INT, v3: INT", "SEGDES, INT, SEGDES, INT",
                    "shared each 1 each -> each 0 each 2",
                    "v4: SEGDES, v5: INT, v6: SEGDES, v7: INT = call F v0 v1 v2 v3\n"
                    "yield v4 v5 v6 v7\n"),
     0, 12, 400, true},
    {"rounds that copy: slices and concatenations",
     COPIES "fun LOOP (v0: INT, v1: INT, v2: SEGDES, v3: INT) -> (SEGDES, INT, INT)\n"
            "v6 = CONST INT 0\n"
            "v7 = > INT v0 v6\n"
            "v8: SEGDES, v9: INT, v10: INT = if v7\n"
            "v11 = CONST INT 1\n"
            "v12 = - INT v0 v11\n"
            "v13 = LENGTHS v2\n"
            "v14 = + INT v13 v13\n"
            "v15 = MAKE_SEGDES v14\n"
            "v16 = FUSED 0 v1 v1 v2 v2 v15 v13\n"
            "v17 = - INT v14 v11\n"
            "v18 = MAKE_SEGDES v17\n"
            "v19, v20 = FUSED 2 v16 v15 v18\n"
            "v21 = FUSED 1 v20 v11 v15 v2\n"
            "v23: SEGDES, v24: INT, v25: INT = call LOOP v12 v19 v18 v21\n"
            "yield v23 v24 v25\n"
            "else\n"
            "yield v2 v1 v3\n"
            "end\n"
            "yield v8 v9 v10\n"
            "end\n"
            "fun P (v0: SEGDES, v1: INT, v2: INT) -> (SEGDES, INT, SEGDES, INT)\n"
            "v3: SEGDES, v4: INT, v5: INT = call LOOP v2 v1 v0 v1\n"
            "v6 = LENGTH INT v5\n"
            "v7 = MAKE_SEGDES v6\n"
            "yield v3 v4 v7 v5\n"
            "end\n" LIFTED("v1: SEGDES, v2: INT, v3: INT", "SEGDES, INT, SEGDES, INT",
                           "shared each 1 each -> each 0 each 2",
                           "v4: SEGDES, v5: INT, v6: SEGDES, v7: INT = call F v0 v1 v2 v3\n"
                           "yield v4 v5 v6 v7\n"),
     0, 6, 9, false},
    {"recursion on two parts by calls",
     COPIES "fun P (v0: SEGDES, v1: INT) -> (SEGDES, INT)\n" SHORT PARTS
            "v30: SEGDES, v31: INT = call P v12 v11\n"
            "v32: SEGDES, v33: INT = call P v18 v17\n"
            "v34 = + INT v20 v22\n"
            "v35 = MAKE_SEGDES v34\n"
            "v36 = FUSED 0 v31 v15 v30 v16 v35 v20\n"
            "v37 = FUSED 0 v36 v33 v35 v32 v0 v34\n"
            "yield v0 v37\n"
            "end\n"
            "yield v5 v6\n"
            "end\n" SORTS,
     -50, 50, 60, true},
    {"results of calls that the caller concatenates",
     JOIN "fun P (v0: SEGDES, v1: INT) -> (SEGDES, INT)\n" SHORT PARTS
          "v30: SEGDES, v31: INT = call P v12 v11\n"
          "v32: SEGDES, v33: INT = call P v18 v17\n" JOINED SORTS,
     -50, 50, 60, true},
    {"calls in another order than that of their concatenation",
     JOIN "fun P (v0: SEGDES, v1: INT) -> (SEGDES, INT)\n" SHORT PARTS
          "v32: SEGDES, v33: INT = call P v18 v17\n"
          "v30: SEGDES, v31: INT = call P v12 v11\n" JOINED SORTS,
     -50, 50, 60, true},
    {"recursion on two parts by a batch call",
     COPIES "fun P (v0: SEGDES, v1: INT) -> (SEGDES, INT)\n" SHORT PARTS
            "v23 = CONST SEGDES (2)\n"
            "v24 = DIST INT v20 v23\n"
            "v25 = DIST INT v21 v23\n"
            "v26 = CONST BOOL (T F)\n"
            "v27 = SELECT INT v26 v24 v25\n"
            "v28 = MAKE_SEGDES v27\n"
            "v29 = + INT v20 v21\n"
            "v30 = MAKE_SEGDES v29\n"
            "v31 = FUSED 0 v11 v17 v12 v18 v30 v20\n"
            "v32: SEGDES, v33: INT = call F v23 v28 v31\n"
            "v34 = CONST INT 0\n"
            "v35 = FUSED 1 v33 v34 v30 v12\n"
            "v36 = FUSED 1 v33 v20 v30 v18\n"
            "v37 = + INT v20 v22\n"
            "v38 = MAKE_SEGDES v37\n"
            "v39 = FUSED 0 v35 v15 v12 v16 v38 v20\n"
            "v42 = FUSED 0 v39 v36 v38 v18 v0 v37\n"
            "yield v0 v42\n"
            "end\n"
            "yield v5 v6\n"
            "end\n" SORTS,
     -50, 50, 60, true},
    {"recursion in three calls, of scalars",
     "fun P (v0: INT) -> (INT, SEGDES)\n"
     "v1 = CONST INT 2\n"
     "v2 = < INT v0 v1\n"
     "v3: INT, v4: SEGDES = if v2\n"
     "v5 = MAKE_SEGDES v1\n"
     "yield v0 v5\n"
     "else\n"
     "v6 = CONST INT 1\n"
     "v7 = - INT v0 v6\n"
     "v8 = - INT v0 v1\n"
     "v9 = - INT v8 v6\n"
     "v10: INT, v11: SEGDES = call P v7\n"
     "v12: INT, v13: SEGDES = call P v8\n"
     "v14: INT, v15: SEGDES = call P v9\n"
     "v16 = + INT v10 v12\n"
     "v17 = LENGTHS v15\n"
     "v18 = * INT v14 v17\n"
     "v19 = - INT v18 v16\n"
     "v20 = LENGTHS v13\n"
     "v21 = + INT v17 v20\n"
     "v22 = MAKE_SEGDES v21\n"
     "yield v19 v22\n"
     "end\n"
     "yield v3 v4\n"
     "end\n" LIFTED("v1: INT", "INT, SEGDES", "shared each -> each each",
                    "v2: INT, v3: SEGDES = call F v0 v1\nyield v2 v3\n"),
     -3, 7, 1, true},
    {"recursion in two calls that may fail, of vectors",
     "fun P (v0: INT, v1: SEGDES, v2: INT) -> (SEGDES, INT)\n"
     "v3 = CONST INT 1\n"
     "v4 = < INT v0 v3\n"
     "v5: SEGDES, v6: INT = if v4\n"
     "yield v1 v2\n"
     "else\n"
     "v7 = CONST INT 2\n"
     "v8 = - INT v0 v3\n"
     "v9 = - INT v0 v7\n"
     "v10 = DIST INT v0 v1\n"
     "v11 = - INT v2 v10\n"
     "v12: SEGDES, v13: INT = call P v8 v1 v11\n"
     "v14: SEGDES, v15: INT = call P v9 v1 v2\n"
     "v16 = / INT v15 v2\n"
     "v17 = + INT v13 v16\n"
     "yield v12 v17\n"
     "end\n"
     "yield v5 v6\n"
     "end\n" LIFTED("v1: INT, v2: SEGDES, v3: INT", "SEGDES, INT",
                    "shared each each 2 -> each 0",
                    "v4: SEGDES, v5: INT = call F v0 v1 v2 v3\nyield v4 v5\n"),
     -1, 5, 2, false},
    {"batch calls in rounds",
     "fun G (v0: INT, v1: SEGDES, v2: INT, v3: INT) -> (INT, SEGDES, INT)\n"
     "v4 = + INT v0 v3\n"
     "v5 = DIST INT v4 v1\n"
     "v6 = - INT v2 v5\n"
     "yield v4 v1 v6\n"
     "end\n"
     "fun GS (v0: SEGDES, v1: INT, v2: SEGDES, v3: INT, v4: INT) -> (INT, SEGDES, INT) "
     "instances shared each each 2 shared -> each each 1 procedure G\n"
     "v5: INT, v6: SEGDES, v7: INT = call GS v0 v1 v2 v3 v4\n"
     "yield v5 v6 v7\n"
     "end\n"
     "fun LOOP (v0: INT, v1: SEGDES, v2: INT, v3: SEGDES, v4: INT) -> (SEGDES, INT, SEGDES, "
     "INT)\n"
     "v6 = CONST INT 0\n"
     "v7 = <= INT v0 v6\n"
     "v8: SEGDES, v9: INT, v10: SEGDES, v11: INT = if v7\n"
     "yield v1 v2 v3 v4\n"
     "else\n"
     "v12 = CONST INT 1\n"
     "v13 = - INT v0 v12\n"
     "v14: INT, v15: SEGDES, v16: INT = call GS v1 v2 v3 v4 v13\n"
     "v17: SEGDES, v18: INT, v19: SEGDES, v20: INT = call LOOP v13 v1 v14 v15 v16\n"
     "yield v17 v18 v19 v20\n"
     "end\n"
     "yield v8 v9 v10 v11\n"
     "end\n"
     "fun P (v0: SEGDES, v1: INT, v2: SEGDES, v3: INT, v4: INT) -> (SEGDES, INT, SEGDES, INT)\n"
     "v5: SEGDES, v6: INT, v7: SEGDES, v8: INT = call LOOP v4 v0 v1 v2 v3\n"
     "yield v5 v6 v7 v8\n"
     "end\n" LIFTED("v1: SEGDES, v2: INT, v3: SEGDES, v4: INT, v5: INT",
                    "SEGDES, INT, SEGDES, INT", "shared each 1 1 3 each -> each 0 0 2",
                    "v6: SEGDES, v7: INT, v8: SEGDES, v9: INT = call F v0 v1 v2 v3 v4 v5\n"
                    "yield v6 v7 v8 v9\n"),
     0, 7, 6, true},
    {"a batch call of one instance, whose results are scalars",
     "fun G (v0: INT, v1: INT) -> (INT, SEGDES)\n"
     "v2 = * INT v0 v1\n"
     "v3 = MAKE_SEGDES v1\n"
     "yield v2 v3\n"
     "end\n"
     "fun GS (v0: SEGDES, v1: INT, v2: INT) -> (INT, SEGDES) instances shared each each -> "
     "each each procedure G\n"
     "v3: INT, v4: SEGDES = call GS v0 v1 v2\n"
     "yield v3 v4\n"
     "end\n"
     "fun P (v0: INT, v1: INT) -> (INT, SEGDES, INT)\n"
     "v2 = CONST SEGDES (1)\n"
     "v3: INT, v4: SEGDES = call GS v2 v0 v1\n"
     "v5 = DIST INT v3 v4\n"
     "yield v3 v4 v5\n"
     "end\n" LIFTED("v1: INT, v2: INT", "INT, SEGDES, INT", "shared each each -> each each 1",
                    "v3: INT, v4: SEGDES, v5: INT = call F v0 v1 v2\nyield v3 v4 v5\n"),
     -1, 9, 4, false},
    {"ASSERT, and arms that never return",
     "fun FAIL (v0: INT) -> (INT)\n"
     "v1 = CONST BOOL F\n"
     "ASSERT \"no {v}\" v1 v0 v0\n"
     "yield v0\n"
     "end\n"
     "fun P (v0: SEGDES, v1: INT, v2: INT) -> (SEGDES, INT)\n"
     "v3 = CONST INT 0\n"
     "v4 = DIST INT v3 v0\n"
     "v5 = >= INT v1 v4\n"
     "ASSERT \"{v} is negative\" v5 v1 v1\n"
     "v6 = > INT v2 v3\n"
     "v7: INT = if v6\n"
     "yield v1\n"
     "else\n"
     "v8: INT = call FAIL v2\n"
     "yield v4\n"
     "end\n"
     "yield v0 v7\n"
     "end\n" LIFTED("v1: SEGDES, v2: INT, v3: INT", "SEGDES, INT",
                    "shared each 1 each -> each 0",
                    "v4: SEGDES, v5: INT = call F v0 v1 v2 v3\nyield v4 v5\n"),
     -1, 20, 5, false},
};
enum { EXAMPLES = sizeof examples / sizeof *examples };

/* ---- an example, loaded and compiled ---- */

struct loaded_example {
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
  struct ir_program *program;
  struct procedures procedures;
  uint32_t lifted;
  struct suite suite; /* its random numbers */
};

/* Adds the first line, MAIN and positions. */
static const char *whole_text(struct arena *arena, const char *text, struct widths w) {
  static const char main_function[] =
      "fun MAIN () -> (INT) @1:1\nv0 = CONST INT 1 @1:1\nyield v0\nend\n";
  struct text out;
  cr_assert(text_begin(&out, arena->heap));
  fprintf(out.stream, "let-form \"test\" i%d f%d entry MAIN\n", w.int_elem == CVL_I64 ? 64 : 32,
          w.float_elem == CVL_F64 ? 64 : 32);
  bool functions = false;
  for (const char *line = text; *line;) {
    const size_t n = strcspn(line, "\n");
    static const char *const bare[] = {"yield", "else", "end"};
    bool position = true;
    for (int i = 0; i < 3; i++)
      position = position && strncmp(line, bare[i], strlen(bare[i])) != 0;
    if (!functions && strncmp(line, "fun ", 4) == 0) fputs(main_function, out.stream);
    functions = functions || strncmp(line, "fun ", 4) == 0;
    fprintf(out.stream, "%.*s%s\n", (int)n, line, functions && position ? " @1:1" : "");
    line += n + (line[n] == '\n');
  }
  cr_assert(text_end(&out));
  const char *copy = arena_copy(arena, out.bytes, out.length);
  text_free(&out);
  return copy;
}

/* Numbers of variables that the text leaves out have a kind, as in all programs. */
static void name_all_kinds(struct ir_function *f) {
  for (ir_var v = 0; v < f->var_count; v++) {
    if (!f->vars[v]) f->vars[v] = ir_kind_base(IR_INT);
  }
}

static void load_example(struct loaded_example *x, const struct example *from,
                         struct widths w) {
  memset(x, 0, sizeof *x);
  heap_init(&x->heap, 0);
  arena_init(&x->arena, &x->heap);
  diag_list_init(&x->diags, &x->arena);
  const char *text = whole_text(&x->arena, from->text, w);
  x->program = ir_parse(&x->arena, "test", text, strlen(text), &x->diags);
  if (!x->program)
    cr_assert_fail("%s: line %u: %s", from->name, x->diags.list.items[0].pos.line,
                   x->diags.list.items[0].message);
  for (uint32_t f = 0; f < x->program->function_count; f++)
    name_all_kinds(&x->program->functions[f]);
  cr_assert(procedures_make(&x->arena, x->program, &x->procedures), "%s", from->name);
  for (uint32_t f = 0; f < x->program->function_count; f++) {
    if (strcmp(x->program->functions[f].name->text, "F") == 0) x->lifted = f;
  }
  cr_assert_not_null(x->procedures.of[x->lifted], "%s", from->name);
}

static void unload_example(struct loaded_example *x) {
  arena_free(&x->arena);
  cr_expect_eq(x->heap.live, 0);
}

/* ---- arguments ---- */

static void fill(struct suite *s, const struct example *from, struct host_value *v) {
  for (uint64_t i = 0; i < v->n; i++) {
    const uint64_t span = (uint64_t)(from->most - from->least) + 1;
    const int64_t x = from->least + (int64_t)rng_below(&s->rng, span);
    if (v->form == HOST_SEGDES) {
      const uint64_t length = rng_below(&s->rng, rng_one_in(&s->rng, 3) ? 3 : from->length + 1);
      host_put_int(v, i, (int64_t)length);
      v->total += length;
    } else if (v->elem == CVL_BOOL) {
      host_put_int(v, i, x & 1);
    } else if (v->elem == CVL_F32 || v->elem == CVL_F64) {
      host_put_real(v, i, (double)x / 4);
    } else {
      host_put_int(v, i, x);
    }
  }
}

/* Arguments of so many instances. */
static void make_arguments(struct loaded_example *x, const struct example *from,
                           struct evaluation *e, uint64_t instances,
                           struct host_value *params) {
  const struct ir_function *f = &x->program->functions[x->lifted];
  const struct widths w = x->program->widths;
  for (uint32_t i = 0; i + 1 < f->param_count; i++) {
    const uint32_t size = f->instances->params[i + 1];
    const uint64_t n = size == IR_EACH     ? instances
                       : size == IR_SHARED ? rng_below(&x->suite.rng, 5)
                                           : params[size - 1].total;
    const uint8_t kind = ir_superop_kind(f->vars[f->params[i + 1]]);
    params[i] =
        kind == SUPEROP_SEGDES
            ? evaluation_segdes(e, n)
            : evaluation_vector(
                  e, superop_elem((enum superop_kind)kind, w.int_elem, w.float_elem), n);
    fill(&x->suite, from, &params[i]);
  }
}

/* A value as it is passed; a descriptor's offsets are the arena's. */
static struct native_value passed(struct arena *arena, const struct host_value *h) {
  if (h->form != HOST_SEGDES) return (struct native_value){.data = h->data, .n = h->n};
  uint64_t *offsets = arena_alloc(arena, (h->n + 1) * sizeof *offsets);
  for (uint64_t k = 0; k < h->n; k++) offsets[k + 1] = offsets[k] + host_segment(h, k);
  return (struct native_value){.offsets = offsets, .n = h->n};
}

/* ---- calls ---- */

enum { ITEMS = 8 };

static uint64_t shared_parts; /* of work that have been given away */

struct run {
  struct loaded_example *x;
  const struct example *from;
  struct evaluation e;
  struct host_value params[ITEMS], wanted[ITEMS];
  struct native_value arguments[ITEMS];
  uint64_t instances;
  uint32_t result_count;
  bool fine;
};

static void begin_run(struct run *r, struct loaded_example *x, const struct example *from,
                      uint64_t instances) {
  const struct ir_function *f = &x->program->functions[x->lifted];
  memset(r, 0, sizeof *r);
  r->x = x;
  r->from = from;
  r->instances = instances;
  r->result_count = f->result_count;
  cr_assert(f->param_count <= ITEMS && f->result_count <= ITEMS);
  evaluation_begin(&r->e, &x->arena, x->program);
  make_arguments(x, from, &r->e, instances, r->params);
  for (uint32_t i = 0; i + 1 < f->param_count; i++)
    r->arguments[i] = passed(&x->arena, &r->params[i]);
  r->fine = evaluate_batch(&r->e, x->lifted, r->params, 0, instances, r->wanted);
  cr_expect(r->fine || !from->always, "%s: fails", from->name);
}

static void compare(const struct run *r, const struct native_buffer *results) {
  for (uint32_t i = 0; i < r->result_count; i++) {
    const struct host_value *w = &r->wanted[i];
    cr_expect_eq(results[i].n, w->n, "%s: result %u has %lu elements, not %lu", r->from->name,
                 i, (unsigned long)results[i].n, (unsigned long)w->n);
    if (results[i].n == w->n && w->n > 0)
      cr_expect(same_elements(w, results[i].at), "%s: result %u", r->from->name, i);
  }
}

/* Executes all instances, in two ranges. The second thread is idle at first. */
static bool call_native(struct run *r, struct calling *c, native_entry *entry,
                        uint64_t middle) {
  struct native_buffer results[ITEMS] = {0};
  c->second.arena = NULL;
  c->asks &= ~(uint32_t)NATIVE_STOP;
  const bool done = entry(&c->thread, 0, middle, r->arguments, results) &&
                    entry(&c->thread, middle, r->instances, r->arguments, results);
  if (done && r->fine) compare(r, results);
  calling_free_results(c, results, r->result_count);
  return done;
}

/* Parts of the work are given away. What a part gives up, the call gives up. */
static void run_shared(struct run *r, native_entry *entry, uint64_t seed) {
  for (int refuses = 0; refuses < 2; refuses++) {
    struct calling c;
    calling_begin(&c, r->x->program->widths);
    calling_shares(&c, seed);
    c.refuses = refuses;
    const bool done = call_native(r, &c, entry, 0);
    shared_parts += c.parts;
    if (!refuses) cr_expect_eq(done, r->fine, "%s, shared", r->from->name);
    cr_expect(!done || r->fine);
    c.refuses = false;
    cr_expect_eq(call_native(r, &c, entry, r->instances), r->fine, "%s", r->from->name);
    calling_end(&c);
  }
}

static void run_example(struct loaded_example *x, const struct example *from,
                        native_entry *entry, struct calling *c) {
  enum { RUNS = 60 };
  unsigned succeeded = 0;
  for (unsigned run = 0; run < RUNS; run++) {
    struct run r;
    const uint64_t instances = rng_below(&x->suite.rng, 6);
    begin_run(&r, x, from, instances);
    const bool done = call_native(&r, c, entry, rng_below(&x->suite.rng, instances + 1));
    cr_expect_eq(done, r.fine, "%s: %s", from->name, done ? "does not give up" : "gives up");
    succeeded += done && instances > 0;
    run_shared(&r, entry, run);
    evaluation_end(&r.e);
  }
  cr_expect(succeeded > 2 && (from->always || succeeded < RUNS - 2), "%s: %u", from->name,
            succeeded);
}

/* ---- memory ---- */

/* Every allocation fails once; what gives up then goes on when it is called again. */
static void run_without_memory(struct loaded_example *x, const struct example *from,
                               native_entry *entry, bool shares) {
  enum { MOST = 3000 };
  struct run r;
  do {
    begin_run(&r, x, from, 2);
    if (!r.fine) evaluation_end(&r.e);
  } while (!r.fine);
  bool failed = true;
  for (uint64_t k = 1; failed; k++) {
    struct calling c;
    cr_assert(k < MOST);
    calling_begin(&c, x->program->widths);
    if (shares) calling_shares(&c, 1);
    c.fail_at = k;
    const bool done = call_native(&r, &c, entry, 1);
    failed = c.count >= k;
    cr_expect(done ? !failed || shares : failed, "%s: allocation %lu", from->name,
              (unsigned long)k);
    c.fail_at = 0;
    cr_expect(call_native(&r, &c, entry, 1), "%s: after allocation %lu", from->name,
              (unsigned long)k);
    calling_end(&c);
  }
  evaluation_end(&r.e);
}

/* ---- all examples ---- */

static void check_examples(struct widths w) {
  if (!has_compiler()) cr_skip_test("no compiler here");
  struct loaded_example *all = calloc(EXAMPLES, sizeof *all);
  struct built b;
  struct calling c;
  make_directory(&b);
  calling_begin(&c, w);
  for (unsigned i = 0; i < EXAMPLES; i++) {
    char prefix[16];
    snprintf(prefix, sizeof prefix, "text%u", i);
    load_example(&all[i], &examples[i], w);
    write_text(&b, prefix, &all[i].procedures);
  }
  compile_native(&b, "");
  for (unsigned i = 0; i < EXAMPLES; i++) {
    char prefix[16];
    snprintf(prefix, sizeof prefix, "text%u", i);
    native_entry *entry = entry_of(&b, prefix, all[i].procedures.of[all[i].lifted]);
    all[i].suite.rng.state = 17 + i;
    const uint64_t before = shared_parts;
    run_example(&all[i], &examples[i], entry, &c);
    run_without_memory(&all[i], &examples[i], entry, false);
    if (shared_parts > before) run_without_memory(&all[i], &examples[i], entry, true);
    unload_example(&all[i]);
  }
  cr_expect_gt(shared_parts, 5000);
  calling_end(&c);
  clean(&b);
  free(all);
}

/* ---- procedures that do not end by themselves ---- */

#define OF_ONE                                                                                 \
  LIFTED("v1: INT", "INT", "shared each -> each", "v2: INT = call F v0 v1\nyield v2\n")

static const struct example endless[] = {
    {.name = "recursion",
     .text = "fun P (v0: INT) -> (INT)\n"
             "v1 = CONST INT 0\n"
             "v2 = <= INT v0 v1\n"
             "v3: INT = if v2\n"
             "yield v0\n"
             "else\n"
             "v4 = CONST INT 1\n"
             "v5 = - INT v0 v4\n"
             "v6: INT = call P v5\n"
             "v7 = + INT v6 v0\n"
             "yield v7\n"
             "end\n"
             "yield v3\n"
             "end\n" OF_ONE},
    {.name = "rounds",
     .text = "fun P (v0: INT) -> (INT)\n"
             "v1 = CONST INT 0\n"
             "v2 = < INT v0 v1\n"
             "v3: INT = if v2\n"
             "yield v0\n"
             "else\n"
             "v4 = CONST INT 1\n"
             "v5 = + INT v0 v4\n"
             "v6 = AND INT v5 v4\n"
             "v7: INT = call P v6\n"
             "yield v7\n"
             "end\n"
             "yield v3\n"
             "end\n" OF_ONE},
    {.name = "a loop of a kernel",
     .text = "fused OP0#1 ($0 : INT, $1 : SEGDES) =\n"
             " $2 = (DIST INT @ (CONST INT 0) $1) $3 = (DIST INT @ (CONST INT 1) $1)\n"
             " $4 = (CARRY INT @ $0) $5 = (CARRY INT @ $2) $6 = (CARRY INT @ $3)\n"
             " $7 = (>= INT @ $4 $5) (WHILE @ $7)\n"
             " $8 = (AND INT @ $4 $6)\n"
             " $9 = (NEXT INT @ $4 $8) $10 = (NEXT INT @ $5 $5) $11 = (NEXT INT @ $6 $6)\n"
             " -> $9\n"
             "fun P (v0: INT) -> (INT)\n"
             "v1 = CONST SEGDES (1)\n"
             "v2 = FUSED 0 v0 v1\n"
             "yield v2\n"
             "end\n" OF_ONE},
};
enum { RECURSION, ROUNDS, KERNEL_LOOP, ENDLESS };

struct asker {
  struct calling *c;
  volatile bool begins;
};

static void *ask_later(void *with) {
  struct asker *a = with;
  while (!a->begins) usleep(1000);
  usleep(20000);
  __atomic_store_n(&a->c->asks, NATIVE_STOP, __ATOMIC_RELAXED);
  return NULL;
}

static bool call_one(struct calling *c, native_entry *entry, int64_t argument,
                     int64_t *result) {
  const struct native_value x = {.data = &argument, .n = 1};
  struct native_buffer y = {0};
  const bool done = entry(&c->thread, 0, 1, &x, &y);
  if (done) *result = *(int64_t *)(void *)y.at;
  calling_free_results(c, &y, 1);
  return done;
}

/* Gives up when it is asked to while it runs, and when it has been asked before. */
static void expect_stops(native_entry *entry, const char *name) {
  struct calling c;
  pthread_t thread;
  int64_t result;
  calling_begin(&c, (struct widths){CVL_I64, CVL_F64});
  cr_expect(call_one(&c, entry, -7, &result) && result == -7, "%s", name);
  struct asker asker = {.c = &c};
  cr_assert_eq(pthread_create(&thread, NULL, ask_later, &asker), 0);
  asker.begins = true;
  cr_expect(!call_one(&c, entry, 5, &result), "%s", name);
  pthread_join(thread, NULL);
  cr_expect(!call_one(&c, entry, -7, &result), "%s", name);
  c.asks = 0;
  cr_expect(call_one(&c, entry, -7, &result) && result == -7, "%s", name);
  calling_end(&c);
}

static void expect_depth(native_entry *entry) {
  struct calling c;
  int64_t result = 0;
  calling_begin(&c, (struct widths){CVL_I64, CVL_F64});
  for (int again = 0; again < 2; again++) {
    cr_expect(call_one(&c, entry, 1000, &result) && result == 500500);
    cr_expect(!call_one(&c, entry, INT64_MAX, &result), "the stack is not endless");
  }
  calling_end(&c);
}

Test(programs, that_do_not_end_give_up) {
  if (!has_compiler()) cr_skip_test("no compiler here");
  struct loaded_example all[ENDLESS];
  native_entry *entries[ENDLESS];
  struct built b;
  make_directory(&b);
  for (unsigned i = 0; i < ENDLESS; i++) {
    char prefix[16];
    snprintf(prefix, sizeof prefix, "text%u", i);
    load_example(&all[i], &endless[i], (struct widths){CVL_I64, CVL_F64});
    write_text(&b, prefix, &all[i].procedures);
  }
  compile_native(&b, "");
  for (unsigned i = 0; i < ENDLESS; i++) {
    char prefix[16];
    snprintf(prefix, sizeof prefix, "text%u", i);
    entries[i] = entry_of(&b, prefix, all[i].procedures.of[all[i].lifted]);
  }
  expect_depth(entries[RECURSION]);
  expect_stops(entries[ROUNDS], endless[ROUNDS].name);
  expect_stops(entries[KERNEL_LOOP], endless[KERNEL_LOOP].name);
  for (unsigned i = 0; i < ENDLESS; i++) unload_example(&all[i]);
  clean(&b);
}

/* ---- the trees ---- */

#define TREES(sizes)                                                                           \
  "fun P (v0: SEGDES, v1: FLOAT) -> (SEGDES, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT)\n"      \
  "v2 = +_REDUCE FLOAT v1 v0\n"                                                                \
  "v3 = *_REDUCE FLOAT v1 v0\n"                                                                \
  "v4 = MAX_REDUCE FLOAT v1 v0\n"                                                              \
  "v5 = +_SCAN FLOAT v1 v0\n"                                                                  \
  "v6 = *_SCAN FLOAT v1 v0\n"                                                                  \
  "v7 = MIN_SCAN FLOAT v1 v0\n"                                                                \
  "v8 = LENGTHS v0\nv9 = LENGTH INT v8\nv10 = MAKE_SEGDES v9\n"                                \
  "yield v10 v2 v3 v4 v5 v6 v7\n"                                                              \
  "end\n" LIFTED("v1: SEGDES, v2: FLOAT", "SEGDES, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT",  \
                 sizes,                                                                        \
                 "v3: SEGDES, v4: FLOAT, v5: FLOAT, v6: FLOAT, v7: FLOAT, v8: FLOAT, "         \
                 "v9: FLOAT = call F v0 v1 v2\nyield v3 v4 v5 v6 v7 v8 v9\n")

/* Each instance has one segment, or one instance has all. */
static const struct example trees[] = {
    {.name = "of one segment", .text = TREES("shared each 1 -> each each each each 0 0 0")},
    {.name = "of many segments", .text = TREES("shared shared shared -> each 0 0 0 0 0 0")}};

/* Numbers of very different magnitudes, so that every order of adding gives other bits. */
static void fill_roughly(struct suite *s, struct host_value *v) {
  for (uint64_t i = 0; i < v->n; i++) {
    const int e = (int)rng_below(&s->rng, 24) - 12;
    const double x = 1.0 + (double)rng_below(&s->rng, 1 << 20) / (1 << 20);
    host_put_real(v, i, ldexp(rng_one_in(&s->rng, 2) ? x : -x, rng_one_in(&s->rng, 2) ? 0 : e));
  }
}

static void begin_tree_run(struct run *r, struct loaded_example *x, const struct example *from,
                           const uint64_t *lengths, uint64_t count) {
  memset(r, 0, sizeof *r);
  r->x = x;
  r->from = from;
  r->result_count = x->program->functions[x->lifted].result_count;
  evaluation_begin(&r->e, &x->arena, x->program);
  r->instances = x->program->functions[x->lifted].instances->params[1] == IR_EACH ? count : 1;
  r->params[0] = evaluation_segdes(&r->e, count);
  for (uint64_t k = 0; k < count; k++) {
    host_put_int(&r->params[0], k, (int64_t)lengths[k]);
    r->params[0].total += lengths[k];
  }
  r->params[1] = evaluation_vector(&r->e, x->program->widths.float_elem, r->params[0].total);
  fill_roughly(&x->suite, &r->params[1]);
  for (uint32_t i = 0; i < 2; i++) r->arguments[i] = passed(&x->arena, &r->params[i]);
  r->fine = evaluate_batch(&r->e, x->lifted, r->params, 0, r->instances, r->wanted);
  cr_assert(r->fine);
}

/* Segments of all lengths up to 70, and about those of blocks and of blocks of blocks. */
static void check_trees(struct widths w) {
  enum { SHORT_ONES = 71, LONG_ONES = 8, COUNT = SHORT_ONES + LONG_ONES };
  static const uint64_t long_ones[LONG_ONES] = {1023, 1024, 1025,  2048,
                                                2049, 5000, 32769, 40000};
  uint64_t lengths[COUNT];
  if (!has_compiler()) cr_skip_test("no compiler here");
  for (uint64_t k = 0; k < COUNT; k++)
    lengths[k] = k < SHORT_ONES ? k : long_ones[k - SHORT_ONES];
  for (int i = 0; i < 2; i++) {
    struct loaded_example x;
    struct built b;
    struct calling c;
    struct run r;
    make_directory(&b);
    calling_begin(&c, w);
    load_example(&x, &trees[i], w);
    x.suite.rng.state = 99;
    write_text(&b, "text", &x.procedures);
    compile_native(&b, "");
    begin_tree_run(&r, &x, &trees[i], lengths, COUNT);
    cr_expect(
        call_native(&r, &c, entry_of(&b, "text", x.procedures.of[x.lifted]), r.instances / 2),
        "%s", trees[i].name);
    evaluation_end(&r.e);
    calling_end(&c);
    clean(&b);
    unload_example(&x);
  }
}

Test(programs, trees_in_wide_widths) {
  check_trees((struct widths){CVL_I64, CVL_F64});
}

Test(programs, trees_in_narrow_widths) {
  check_trees((struct widths){CVL_I32, CVL_F32});
}

/* ---- functions ---- */

/* The functions of a vector, and of one of its elements, which is a scalar. */
#define FUNCTION(op, vector, scalar) vector " = " op " v1\n" scalar " = " op " v5\n"
static const struct example functions = {
    .name = "functions",
    .text =
        "fun P (v0: SEGDES, v1: FLOAT) -> (SEGDES, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT, "
        "FLOAT, FLOAT)\n"
        "v4 = CONST INT 0\n"
        "v5 = EXTRACT FLOAT v1 v4 v0\n" FUNCTION("EXP", "v6", "v7") FUNCTION("SIN", "v8", "v9")
            FUNCTION("LOG", "v10", "v11") FUNCTION(
                "TANH", "v12",
                "v13") "yield v0 v6 v8 v10 v12 v7 v9 v11 v13\n"
                       "end\n" LIFTED(
                           "v1: SEGDES, v2: FLOAT",
                           "SEGDES, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT",
                           "shared each 1 -> each 0 0 0 0 each each each each",
                           "v3: SEGDES, v4: FLOAT, v5: FLOAT, v6: FLOAT, v7: FLOAT, v8: FLOAT, "
                           "v9: FLOAT, v10: FLOAT, v11: FLOAT = call F v0 v1 v2\n"
                           "yield v3 v4 v5 v6 v7 v8 v9 v10 v11\n")};
enum { FUNCTIONS = 4 };

/* The bits of one element. */
static void expect_function(struct widths w, enum cvl_op op, const void *x, const void *found,
                            uint64_t n) {
  const size_t bytes = elem_info(w.float_elem)->bytes;
  for (uint64_t i = 0; i < n; i++) {
    const struct cvl_value operand =
        cvl_scalar_float(w.float_elem, calling_real(x, w.float_elem, i));
    struct cvl_value wanted;
    enum cvl_error_kind kind;
    cr_assert(cvl_scalar_op(w.int_elem, w.float_elem, op, &operand, &wanted, &kind));
    cr_expect_eq(memcmp(&wanted.as, (const char *)found + i * bytes, bytes), 0, "%u of %a", op,
                 cvl_float_of(&operand));
  }
}

static void check_functions(struct widths w) {
  static const double arguments[] = {0.5, -0.0,  1.0,  -2.5,     3e5,
                                     1e9, -1e17, 1e30, INFINITY, 0.1};
  static const enum cvl_op ops[FUNCTIONS] = {OP_EXP, OP_SIN, OP_LOG, OP_TANH};
  enum { COUNT = sizeof arguments / sizeof *arguments };
  const uint64_t offsets[] = {0, COUNT};
  double wide[COUNT];
  float narrow[COUNT];
  struct loaded_example x;
  struct built b;
  struct calling c;
  struct native_buffer y[2 * FUNCTIONS + 1] = {0};
  if (!has_compiler()) cr_skip_test("no compiler here");
  for (int i = 0; i < COUNT; i++) narrow[i] = (float)(wide[i] = arguments[i]);
  const void *data = w.float_elem == CVL_F64 ? (const void *)wide : narrow;
  make_directory(&b);
  calling_begin(&c, w);
  load_example(&x, &functions, w);
  write_text(&b, "text", &x.procedures);
  compile_native(&b, "");
  const struct native_value params[] = {{.offsets = offsets, .n = 1},
                                        {.data = data, .n = COUNT}};
  cr_assert(entry_of(&b, "text", x.procedures.of[x.lifted])(&c.thread, 0, 1, params, y));
  for (int f = 0; f < FUNCTIONS; f++) {
    cr_assert(y[1 + f].n == COUNT && y[1 + FUNCTIONS + f].n == 1);
    expect_function(w, ops[f], data, y[1 + f].at, COUNT);
    expect_function(w, ops[f], data, y[1 + FUNCTIONS + f].at, 1);
  }
  calling_free_results(&c, y, 2 * FUNCTIONS + 1);
  calling_end(&c);
  clean(&b);
  unload_example(&x);
}

Test(programs, functions_give_the_bits_of_one_element) {
  check_functions((struct widths){CVL_I64, CVL_F64});
  check_functions((struct widths){CVL_I32, CVL_F32});
}

/* ---- memory that runs out ---- */

/* Prints the procedures where the n-th allocation from now fails. Returns whether it did. */
static bool print_without_memory(struct loaded_example *x, uint64_t n) {
  struct arena arena;
  struct memory_guard guard;
  const uint64_t live = x->heap.live;
  arena_init(&arena, &x->heap);
  x->heap.fail_at = x->heap.count + n;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump) == 0) {
    struct procedures printed;
    procedures_make(&arena, x->program, &printed);
    memory_guard_end(&guard);
  }
  const bool failed = x->heap.count >= x->heap.fail_at;
  x->heap.fail_at = 0;
  arena_free(&arena);
  cr_expect_eq(x->heap.live, live, "allocation %u: a text is left", (unsigned)n);
  return failed;
}

Test(programs, texts_are_freed_where_memory_runs_out) {
  struct loaded_example x;
  load_example(&x, &functions, (struct widths){CVL_I64, CVL_F64});
  uint64_t n = 1;
  while (print_without_memory(&x, n)) n++;
  cr_expect(n > 8, "the text grew by %u allocations", (unsigned)n);
  unload_example(&x);
}

/* ---- all examples, in both widths ---- */

Test(programs, same_as_the_oracle_in_wide_widths) {
  check_examples((struct widths){CVL_I64, CVL_F64});
}

Test(programs, same_as_the_oracle_in_narrow_widths) {
  check_examples((struct widths){CVL_I32, CVL_F32});
}
