/* programs.c - the tables of programs.h. */
#include "vinterp/tests/programs.h"

const struct program programs[] = {
    {"sum of squares",
     "FUNC SUMSQ CONST INT 0 CONST INT 1 CONST SEGDES 5 INDEX COPY 1 0 * INT CONST SEGDES 5 "
     "+_REDUCE INT RET",
     "( 30 )\n"},
    {"empty", "FUNC MAIN RET", ""},
    {"recursion",
     "FUNC MAIN CONST INT 15 CALL FIB RET "
     "FUNC FIB COPY 1 0 CONST INT 2 < INT IF ELSE COPY 1 0 CONST INT 1 - INT CALL FIB CPOP 1 1 "
     "CONST INT 2 - INT CALL FIB + INT ENDIF RET",
     "( 610 )\n"},
    {"mutual recursion",
     "FUNC MAIN CONST INT 11 CALL EVEN CONST INT 8 CALL EVEN RET "
     "FUNC EVEN COPY 1 0 CONST INT 0 = INT IF POP 1 0 CONST BOOL T ELSE CONST INT 1 - INT "
     "CALL ODD ENDIF RET "
     "FUNC ODD COPY 1 0 CONST INT 0 = INT IF POP 1 0 CONST BOOL F ELSE CONST INT 1 - INT "
     "CALL EVEN ENDIF RET",
     "( F )\n( T )\n"},
    {"several results and a rotation",
     "FUNC MAIN CONST INT 1 CONST FLOAT 2.0 CONST BOOL T CALL TURN CALL TURN RET "
     "FUNC TURN CPOP 1 2 RET",
     "( T )\n( 1 )\n( 2.00000000000000e+00 )\n"},
    {"a result twice", "FUNC MAIN CONST INT (4 5) CALL TWICE RET FUNC TWICE COPY 1 0 RET",
     "( 4 5 )\n( 4 5 )\n"},
    {"one operand twice, reused or not",
     "FUNC MAIN CONST INT (3 0 1 2) COPY 1 0 CONST SEGDES 4 COPY 1 0 BPERMUTE INT "
     "CONST INT (1 2) COPY 1 0 + INT CONST INT 4 COPY 1 0 * INT RET",
     "( 2 3 0 1 )\n( 2 4 )\n( 16 )\n"},
    {"pairs",
     "FUNC MAIN CONST INT (1 2) CONST FLOAT 1.5 PAIR COPY 1 0 CONST BOOL T PAIR UNPAIR "
     "POP 1 0 UNPAIR CPOP 1 1 RET",
     "pair(Int,Float) \n( 1.50000000000000e+00 )\n( 1 2 )\n"},
    {"arms that drop and arms that yield",
     "FUNC MAIN CONST INT (1 2 3) CONST INT (9 9) CONST BOOL T CALL PICK "
     "CONST INT (1 2 3) CONST INT (9 9) CONST BOOL F CALL PICK RET "
     "FUNC PICK IF POP 1 0 ELSE POP 1 1 ENDIF RET",
     "( 1 2 3 )\n( 9 9 )\n"},
    {"nested arms",
     "FUNC MAIN CONST INT 5 CALL SIGN CONST INT 0 CALL SIGN CONST INT -5 CALL SIGN RET "
     "FUNC SIGN COPY 1 0 CONST INT 0 < INT IF POP 1 0 CONST INT -1 ELSE "
     "COPY 1 0 CONST INT 0 = INT IF POP 1 0 CONST INT (0 0) ELSE POP 1 0 CONST INT 1 ENDIF "
     "ENDIF RET",
     "( 1 )\n( 0 0 )\n( -1 )\n"},
    {"an arm that exits, not taken",
     "FUNC MAIN CONST INT (7 8) CONST BOOL F IF CONST INT 0 EXIT ELSE CONST INT 3 ENDIF RET",
     "( 7 8 )\n( 3 )\n"},
    {"the other arm exits, not taken",
     "FUNC MAIN CONST INT (7 8) CONST BOOL T IF CONST INT 3 ELSE EXIT ENDIF RET",
     "( 7 8 )\n( 3 )\n"},
    {"an exiting arm is the last user of what lives on after the other",
     "FUNC MAIN CONST INT (7 8) CONST BOOL T IF CONST INT 3 ELSE COPY 1 0 WRITE INT EXIT ENDIF "
     "CONST INT (1 1) CPOP 1 2 + INT CONST BOOL F IF COPY 1 0 WRITE INT EXIT ELSE CONST INT 4 "
     "ENDIF CONST INT (1 1) CPOP 1 2 + INT RET",
     "( 3 )\n( 4 )\n( 9 10 )\n"},
    {"a condition that is a vector",
     "FUNC MAIN CONST BOOL (F T) CONST INT (1) CONST SEGDES 2 EXTRACT BOOL IF CONST INT 1 ELSE "
     "CONST INT 2 ENDIF RET",
     "( 1 )\n"},
    {"every permutation",
     "FUNC TEST CONST INT (10 20 30 40 50) CONST INT (1 0 2 0 1) CONST INT (2 0 3) MAKE_SEGDES "
     "PERMUTE INT CONST INT (70 80) CONST INT (3 0) CONST INT (1 2 3 4 5) CONST SEGDES 2 "
     "CONST SEGDES 5 DPERMUTE INT CONST INT (10 20 30 40 50) CONST INT (2 9 0 1 -1) "
     "CONST BOOL (T F T T F) CONST SEGDES 5 CONST SEGDES 3 FPERMUTE INT "
     "CONST INT (10 20 30 40 50) CONST INT (1 1 0 2 0) CONST INT (2 0 3) MAKE_SEGDES "
     "CONST INT (3 0 2) MAKE_SEGDES BPERMUTE INT CONST INT (10 20 30) CONST INT (2 9 0 1) "
     "CONST BOOL (T F T T) CONST SEGDES 3 CONST SEGDES 4 BFPERMUTE INT CONST INT (10 20 30) "
     "CONST INT (2 9 0) CONST BOOL (T F T) CONST INT (7 8 9) CONST SEGDES 3 CONST SEGDES 3 "
     "DFPERMUTE INT RET",
     "( 20 10 40 50 30 )\n( 80 2 3 70 5 )\n( 30 40 10 )\n( 20 20 10 50 30 )\n( 30 0 10 20 )\n"
     "( 30 8 10 )\n"},
    {"the other vector instructions",
     "FUNC TEST CONST INT (10 20 30 40) CONST INT (1 0) CONST INT (3 1) MAKE_SEGDES EXTRACT "
     "INT "
     "CONST INT (10 20 30 40) CONST INT (2 0) CONST INT (99 98) CONST INT (3 1) MAKE_SEGDES "
     "REPLACE INT CONST INT (7 8 9) CONST INT (2 0 3) MAKE_SEGDES DIST INT "
     "CONST INT (0 5 100) CONST INT (1 2 -1) CONST INT (3 0 2) MAKE_SEGDES INDEX "
     "CONST INT (1 2 3 4 5) CONST BOOL (T F T T F) CONST INT (2 0 3) MAKE_SEGDES PACK INT "
     "CONST FLOAT (1.5 2.5) LENGTH FLOAT RET",
     "( 20 40 )\n( 10 20 99 98 )\n( 7 7 9 9 9 )\n( 0 1 2 100 99 )\n( 1 3 4 )\n[ 1 0 2 ]\n( 2 "
     ")\n"},
    {"scans, reductions, ranks",
     "FUNC TEST CONST INT (3 1 2 5 -4 7) CONST INT (3 0 2 1) MAKE_SEGDES COPY 2 0 +_SCAN INT "
     "CPOP 2 1 COPY 2 0 +_REDUCE INT CPOP 2 1 RANK_DOWN INT RET",
     "( 0 3 4 0 5 0 )\n( 6 0 1 7 )\n( 0 2 1 0 1 0 )\n"},
    {"descriptors",
     "FUNC TEST CONST SEGDES 5 LENGTHS CONST SEGDES (2 0 1) COPY 1 0 LENGTHS COPY 1 0 "
     "LENGTH INT MAKE_SEGDES CONST SEGDES () CONST INT () MAKE_SEGDES LENGTHS RET",
     "( 5 )\n[ 2 0 1 ]\n( 2 0 1 )\n[ 3 ]\n[ ]\n( )\n"},
    {"scalar arithmetic of all kinds",
     "FUNC TEST CONST INT 7 CONST INT -2 / INT CONST INT -7 CONST INT 3 % CONST FLOAT 2.5 "
     "ROUND "
     "CONST INT 3 I_TO_F SQRT FLOOR CONST BOOL T CONST INT 4 CONST INT 5 SELECT INT "
     "CONST INT 1 CONST INT 33 LSHIFT CONST BOOL T NOT BOOL B_TO_I RET",
     "( -3 )\n( -1 )\n( 3 )\n( 1 )\n( 4 )\n( 8589934592 )\n( 0 )\n"},
    {"constants of every type",
     "FUNC TEST CONST INT (1 -2) CONST FLOAT (1.0 -0.5) CONST BOOL (T F) CONST SEGDES (2 0 1) "
     "CONST CHAR \"Hi\" CONST CHAR \"\" CONST CHAR \"A\" CONST INT STDERR RET",
     "( 1 -2 )\n( 1.00000000000000e+00 -5.00000000000000e-01 )\n( T F )\n[ 2 0 1 ]\n( 72 105 "
     ")\n"
     "( )\n( 65 )\n( 2 )\n"},
    {"the same random numbers from the same seed",
     "FUNC TEST CALL DRAW CONST INT 0 SRAND INT POP 1 0 CALL DRAW CALL SAME RET "
     "FUNC DRAW CONST INT (1000 1000 1000) RAND RET "
     "FUNC SAME = INT CONST SEGDES 3 AND_REDUCE BOOL RET",
     "( T )\n"},
    {"assertions that hold",
     "FUNC TEST CONST BOOL (T T) CONST INT (1 2) CONST INT (3 4) ASSERT \"never\" CONST BOOL T "
     "CONST INT 1 CONST INT 2 ASSERT \"never\" RET",
     ""},
    {"kinds that grow in recursion run as stack code",
     "FUNC MAIN CONST INT 3 CONST INT 0 CALL GROW RET "
     "FUNC GROW COPY 1 1 CONST INT 0 = INT IF POP 1 1 ELSE CPOP 1 1 CONST INT 1 - INT CPOP 1 1 "
     "CONST BOOL T PAIR CALL GROW ENDIF RET",
     "pair(Pair,Bool) \n"},
    {"stack code calls typed functions",
     "FUNC MAIN CONST INT 4 CALL PILE +_REDUCE INT RET "
     "FUNC PILE COPY 1 0 CONST INT 0 = INT IF POP 1 0 CONST INT (5 6) CALL SHAPE ELSE "
     "CONST INT 1 - INT CONST BOOL F IF CONST INT 1 CALL PILE ELSE CALL PILE ENDIF ENDIF RET "
     "FUNC SHAPE COPY 1 0 LENGTH INT MAKE_SEGDES RET",
     "( 11 )\n"},
};

const size_t program_count = sizeof programs / sizeof programs[0];

const struct faulty faults[] = {
    {"FUNC MAIN CONST INT (1 2 3) CONST INT (1 2)\n+ INT RET",
     {"test.vcode:2:1: error: + INT: operand 0 has length 3, operand 1 has length 2"}},
    {"FUNC MAIN CONST INT (1 2 3) CONST INT 1\n+ INT RET",
     {"test.vcode:2:1: error: + INT: operand 0 has length 3, operand 1 has length 1"}},
    {"FUNC MAIN CONST INT (1 2 3) CONST SEGDES 4\n+_REDUCE INT RET",
     {":2:1: error: +_REDUCE INT: operand 0 has length 3, operand 1 has total 4"}},
    {"FUNC MAIN CONST INT (1 2 3) CONST SEGDES 4\nDIST INT RET",
     {":2:1: error: DIST INT: operand 0 has length 3, operand 1 has 1 segment"}},
    {"FUNC MAIN CONST INT (1 2) CONST INT (0 0) CONST SEGDES (1 1) CONST SEGDES 2\n"
     "BPERMUTE INT RET",
     {":2:1: error: BPERMUTE INT: operand 2 has 2 segments, operand 3 has 1 segment"}},
    {"FUNC MAIN CONST INT 6 CONST INT 0\n/ INT RET",
     {":2:1: error: / INT: division by zero at element 0"}},
    {"FUNC MAIN CONST INT (6 6 6) CONST INT (1 0 0)\n% RET",
     {":2:1: error: %: division by zero at element 1"}},
    {"FUNC MAIN CONST INT (1 2 3 4) CONST INT (0 5) CONST INT (2 2) MAKE_SEGDES\n"
     "EXTRACT INT RET",
     {":2:1: error: EXTRACT INT: index 5 at position 1 is outside segment 1, whose length is "
      "2"}},
    {"FUNC MAIN CONST INT (1 2) CONST INT (1 1) CONST SEGDES 2\nPERMUTE INT RET",
     {":2:1: error: PERMUTE INT: index 1 at position 1 occurs twice in segment 0"}},
    {"FUNC MAIN CONST INT (1 -2)\nMAKE_SEGDES RET",
     {":2:1: error: MAKE_SEGDES: segment 1 has the negative length -2"}},
    {"FUNC MAIN CONST INT -2\nMAKE_SEGDES RET",
     {":2:1: error: MAKE_SEGDES: segment 0 has the negative length -2"}},
    {"FUNC MAIN CONST INT (3 0)\nRAND RET",
     {":2:1: error: RAND: the bound 0 at position 1 is not positive"}},
    {"FUNC MAIN CONST INT (3 0)\nSRAND INT RET",
     {":2:1: error: SRAND INT: operand 0 has length 2, it must be 1"}},
    {"FUNC MAIN CONST BOOL (T F F) CONST INT (1 7 8) CONST INT (2 3 4)\nASSERT \"out of "
     "range\" "
     "RET",
     {":2:1: error: ASSERT: out of range: 7 (of 3) at position 1"}},
    {"FUNC MAIN CONST BOOL F CONST INT 7 CONST INT 3\nASSERT \"out of range\" RET",
     {":2:1: error: ASSERT: out of range: 7 (of 3) at position 0"}},
    {"FUNC MAIN CONST BOOL F CONST INT 7 CONST INT 3\nASSERT \"Index. ({v} of {w})\" RET",
     {":2:1: error: Index. (7 of 3)"}},
    {"FUNC MAIN CONST BOOL F CONST INT 7 CONST INT 3\nASSERT \"Divide by zero. {}\" RET",
     {":2:1: error: Divide by zero."}},
    {"FUNC MAIN CONST BOOL (T F)\nIF ELSE ENDIF RET",
     {":2:1: error: IF: operand 0 has length 2, it must be 1"}},
    {"FUNC MAIN CONST BOOL ()\nIF ELSE ENDIF RET",
     {":2:1: error: IF: operand 0 has length 0, it must be 1"}},
    {"FUNC MAIN CONST CHAR \"name\" CONST INT (1 2)\nFOPEN RET",
     {":2:1: error: FOPEN: operand 1 has length 2, it must be 1"}},
    {"FUNC MAIN CONST INT (1 0) CALL INNER RET\n"
     "FUNC INNER CONST INT (5 5) CPOP 1 1 CALL DIVIDE RET\n"
     "FUNC DIVIDE / INT RET",
     {":3:13: error: / INT: division by zero at element 1",
      "  DIVIDE, called from INNER at test.vcode:2:37\n",
      "  INNER, called from MAIN at test.vcode:1:27\n"}},
};

const size_t fault_count = sizeof faults / sizeof faults[0];
