/* examples.h - programs whose procedures test-programs.c executes as native code and by the
 * oracle. */
#ifndef RAVEL_PROCEDURES_TESTS_EXAMPLES_H
#define RAVEL_PROCEDURES_TESTS_EXAMPLES_H

#include <stdbool.h>
#include <stdint.h>

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
    {"a rotation and a reversal, out of range at times",
     "fused OP0#1 ($0 : INT, $1 : INT, $2 : INT, $3 : INT, $4 : SEGDES) =\n"
     " $5 = (INDEX @ (CONST INT 0) (CONST INT 1) $4) $6 = (DIST INT @ $1 $4)\n"
     " $7 = (- INT @ $5 $6)\n"
     " $8 = (SELECT INT @ (<= INT @ $6 $5) $7 (+ INT @ $7 (DIST INT @ $2 $4)))\n"
     " $9 = (BPERMUTE INT @ $0 $8 $4 $4) $10 = (INDEX @ $3 (CONST INT -1) $4)\n"
     " $11 = (BPERMUTE INT @ $0 $10 $4 $4) -> $9 $11\n"
     "fun P (v0: SEGDES, v1: INT, v2: INT, v3: INT) -> (SEGDES, INT, INT)\n"
     "v4 = CONST INT 4\n"
     "v5 = / INT v2 v4\n"
     "v6 = / INT v3 v4\n"
     "v7 = LENGTHS v0\n"
     "v8 = CONST INT 1\n"
     "v9 = - INT v7 v8\n"
     "v10 = + INT v9 v6\n"
     "v11, v12 = FUSED 0 v1 v5 v7 v10 v0\n"
     "yield v0 v11 v12\n"
     "end\n" LIFTED("v1: SEGDES, v2: INT, v3: INT, v4: INT", "SEGDES, INT, INT",
                    "shared each 1 each each -> each 0 0",
                    "v5: SEGDES, v6: INT, v7: INT = call F v0 v1 v2 v3 v4\n"
                    "yield v5 v6 v7\n"),
     -4, 7, 12, false},
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
    {"calls without results, which fail",
     "fun CHECK (v0: INT) -> ()\n"
     "v1 = CONST INT 0\n"
     "v2 = >= INT v0 v1\n"
     "ASSERT \"{v} is negative\" v2 v0 v0\n"
     "v3 = CONST INT 2\n"
     "v4 = > INT v0 v3\n"
     "if v4\n"
     "v5 = - INT v0 v3\n"
     "v6 = CONST INT 3\n"
     "v7 = - INT v0 v6\n"
     "call CHECK v5\n"
     "call CHECK v7\n"
     "yield\n"
     "else\n"
     "yield\n"
     "end\n"
     "yield\n"
     "end\n"
     "fun P (v0: INT) -> (INT)\n"
     "call CHECK v0\n"
     "yield v0\n"
     "end\n" LIFTED("v1: INT", "INT", "shared each -> each",
                    "v2: INT = call F v0 v1\nyield v2\n"),
     -1, 20, 5, false},
};
enum { EXAMPLES = sizeof examples / sizeof *examples };

#endif
