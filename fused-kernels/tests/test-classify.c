/* test-classify.c - what is compiled of a superoperator, and why the rest is not. */
#include "fused-kernels/classify.h"
#include "fused-kernels/tests/fixture.h"

#include <criterion/criterion.h>

static const struct widths wide = {CVL_I64, CVL_F64};

#define FORM(params, body) "fused OP0#1 (" params ") = " body

/* Every descriptor has such segments. */
static const struct row {
  const char *text;
  enum fused_segments segments;
  enum fused_extent extent;
  const char *reasons;
} rows[] = {
    /* Elementwise, reductions, spreads. */
    {FORM("$0 : INT, $1 : INT", "(+ INT @ $0 $1)"), SEGMENTS_SHORT, EXTENT_WHOLE, ""},
    {FORM("$0 : FLOAT, $1 : SEGDES", "(+_REDUCE FLOAT @ (* FLOAT @ $0 $0) $1)"), SEGMENTS_SHORT,
     EXTENT_WHOLE, ""},
    {FORM("$0 : INT, $1 : SEGDES", "(+_REDUCE INT @ $0 $1)"), SEGMENTS_ONE, EXTENT_EVALUATED,
     "no elementwise operations"},
    {FORM("$0 : INT, $1 : SEGDES", "(+ INT @ $0 (DIST INT @ (CONST INT 3) $1))"),
     SEGMENTS_SHORT, EXTENT_WHOLE, ""},
    {FORM("$0 : INT, $1 : INT, $2 : SEGDES", "(+ INT @ $0 (DIST INT @ $1 $2))"), SEGMENTS_ONE,
     EXTENT_WHOLE, ""},
    {FORM("$0 : INT, $1 : INT, $2 : SEGDES", "(+ INT @ $0 (DIST INT @ $1 $2))"), SEGMENTS_128,
     EXTENT_WHOLE, ""},
    {FORM("$0 : INT, $1 : INT, $2 : SEGDES",
          "(+_REDUCE INT @ (* INT @ $0 (DIST INT @ $1 $2)) $2)"),
     SEGMENTS_128, EXTENT_WHOLE, ""},
    {FORM("$0 : INT, $1 : INT, $2 : SEGDES",
          "(+_REDUCE INT @ (* INT @ $0 (DIST INT @ $1 $2)) $2)"),
     SEGMENTS_128, EXTENT_WHOLE, ""},
    {FORM("$0 : INT, $1 : SEGDES", "(+_REDUCE INT @ (DIST INT @ $0 $1) $1)"), SEGMENTS_128,
     EXTENT_EVALUATED, "no elementwise operations, DIST over several segments"},
    {FORM("$0 : INT, $1 : SEGDES", "(* INT @ $0 (INDEX @ (CONST INT 0) (CONST INT 1) $1))"),
     SEGMENTS_ONE, EXTENT_WHOLE, ""},
    {FORM("$0 : INT, $1 : SEGDES", "(* INT @ $0 (INDEX @ (CONST INT 0) (CONST INT 1) $1))"),
     SEGMENTS_SHORT, EXTENT_WHOLE, ""},
    /* Gathers by data. */
    {FORM("$0 : INT, $1 : INT, $2 : SEGDES, $3 : SEGDES",
          "(+ INT @ (BPERMUTE INT @ $0 $1 $2 $3) $1)"),
     SEGMENTS_ONE, EXTENT_WHOLE, ""},
    {FORM("$0 : INT, $1 : INT, $2 : SEGDES, $3 : SEGDES",
          "(+ INT @ (BPERMUTE INT @ $0 $1 $2 $3) (BPERMUTE INT @ $0 $1 $2 $3))"),
     SEGMENTS_128, EXTENT_WHOLE, ""},
    {FORM("$0 : INT, $1 : INT, $2 : SEGDES, $3 : SEGDES", "(BPERMUTE INT @ $0 $1 $2 $3)"),
     SEGMENTS_ONE, EXTENT_WHOLE, ""},
    {FORM("$0 : INT, $1 : INT, $2 : BOOL, $3 : SEGDES, $4 : SEGDES",
          "(+ INT @ (BFPERMUTE INT @ $0 $1 $2 $3 $4) $1)"),
     SEGMENTS_ONE, EXTENT_WHOLE, ""},
    {FORM("$0 : INT, $1 : INT, $2 : SEGDES", "(+ INT @ (EXTRACT INT @ $0 $1 $2) $1)"),
     SEGMENTS_SHORT, EXTENT_WHOLE, ""},
    /* Gathers by position: a neighbour, bounded within its row. */
    {FORM("$0 : INT, $1 : SEGDES, $2 : SEGDES",
          "(+ INT @ $0 (BPERMUTE INT @ $0 (% @ (INDEX @ (CONST INT 1) (CONST INT 1) $2) "
          "(DIST INT @ (CONST INT 100) $2)) $1 $2))"),
     SEGMENTS_128, EXTENT_WHOLE, ""}, /* % may fail: it is executed */
    {FORM("$0 : INT, $1 : SEGDES, $2 : SEGDES",
          "(+ INT @ $0 (BPERMUTE INT @ $0 (! % @ (INDEX @ (CONST INT 1) (CONST INT 1) $2) "
          "(DIST INT @ (CONST INT 100) $2)) $1 $2))"),
     SEGMENTS_128, EXTENT_WHOLE, ""},
    {FORM("$0 : INT, $1 : SEGDES, $2 : SEGDES",
          "(+ INT @ $0 (BPERMUTE INT @ $0 (! % @ (INDEX @ (CONST INT 1) (CONST INT 1) $2) "
          "(DIST INT @ (CONST INT 100) $2)) $1 $2))"),
     SEGMENTS_16, EXTENT_WHOLE, ""},
    {FORM("$0 : INT, $1 : SEGDES, $2 : SEGDES",
          "(+ INT @ $0 (BPERMUTE INT @ $0 (INDEX @ (CONST INT 3) (CONST INT 1) $2) $1 $2))"),
     SEGMENTS_4, EXTENT_WHOLE, ""},
    {FORM("$0 : INT, $1 : SEGDES, $2 : SEGDES",
          "(+ INT @ $0 (BPERMUTE INT @ $0 (INDEX @ (CONST INT 3) (CONST INT 1) $2) $1 $2))"),
     SEGMENTS_ONE, EXTENT_WHOLE, ""},
    /* Consumers. */
    {FORM("$0 : INT, $1 : SEGDES", "(+_SCAN INT @ (* INT @ $0 $0) $1)"), SEGMENTS_ONE,
     EXTENT_WHOLE, ""},
    {FORM("$0 : FLOAT, $1 : SEGDES", "(+_SCAN FLOAT @ (* FLOAT @ $0 $0) $1)"), SEGMENTS_ONE,
     EXTENT_SPLIT, "scan"},
    {FORM("$0 : INT, $1 : INT, $2 : SEGDES",
          "$3 $4 = (PACK INT @ $0 (< INT @ $0 $1) $2) -> $3"),
     SEGMENTS_ONE, EXTENT_WHOLE, ""},
    {FORM("$0 : INT, $1 : INT, $2 : SEGDES", "(PERMUTE INT @ (* INT @ $0 $0) $1 $2)"),
     SEGMENTS_ONE, EXTENT_WHOLE, ""},
    {FORM("$0 : INT, $1 : INT, $2 : SEGDES", "(PERMUTE INT @ (* INT @ $0 $0) $1 $2)"),
     SEGMENTS_128, EXTENT_SPLIT, "scatter"},
    {FORM("$0 : INT, $1 : INT, $2 : INT, $3 : SEGDES, $4 : SEGDES",
          "(DPERMUTE INT @ (* INT @ $0 $0) $1 $2 $3 $4)"),
     SEGMENTS_ONE, EXTENT_WHOLE, ""},
    {FORM("$0 : INT, $1 : INT, $2 : INT, $3 : SEGDES, $4 : SEGDES",
          "$5 = (* INT @ $0 $0) $6 = (DPERMUTE INT @ $5 $1 $2 $3 $4) -> $5 $6"),
     SEGMENTS_ONE, EXTENT_SPLIT, "scatter"}, /* $5 would be computed by each thread */
    {FORM("$0 : INT, $1 : INT, $2 : SEGDES, $3 : SEGDES",
          "(DPERMUTE INT @ (* INT @ $0 $0) (INDEX @ (CONST INT 3) (CONST INT 1) $2) $1 $2 $3)"),
     SEGMENTS_16, EXTENT_SPLIT, "scatter of runs"},
    {FORM("$0 : INT, $1 : INT, $2 : SEGDES, $3 : SEGDES",
          "(DPERMUTE INT @ (* INT @ $0 $0) (INDEX @ (CONST INT 3) (CONST INT 1) $2) $1 $2 $3)"),
     SEGMENTS_4, EXTENT_SPLIT, "scatter"},
    /* A slice that is a result, and one that is not. */
    {FORM("$0 : INT, $1 : SEGDES, $2 : SEGDES",
          "(BPERMUTE INT @ $0 (INDEX @ (CONST INT 3) (CONST INT 1) $2) $1 $2)"),
     SEGMENTS_ONE, EXTENT_EVALUATED, "no elementwise operations, gather of runs"},
    {FORM("$0 : INT, $1 : SEGDES, $2 : SEGDES", "(+_SCAN INT @ (BPERMUTE INT @ $0 (INDEX @ "
                                                "(CONST INT 3) (CONST INT 1) $2) $1 $2) $2)"),
     SEGMENTS_ONE, EXTENT_EVALUATED, "no elementwise operations, scan"},
    /* A concatenation. */
    {FORM("$0 : INT, $1 : INT, $2 : INT, $3 : INT, $4 : INT, $5 : SEGDES, $6 : SEGDES, $7 : "
          "SEGDES",
          "(DPERMUTE INT @ $1 (INDEX @ $3 (CONST INT 1) $6) (DPERMUTE INT @ $0 (INDEX @ $2 "
          "(CONST INT 1) $5) $4 $5 $7) $6 $7)"),
     SEGMENTS_SHORT, EXTENT_EVALUATED, "copied by runs"},
    {FORM("$0 : INT, $1 : SEGDES, $2 : SEGDES",
          "(BPERMUTE INT @ $0 (INDEX @ (CONST INT 3) (CONST INT 1) $2) $1 $2)"),
     SEGMENTS_16, EXTENT_EVALUATED, "no elementwise operations, gather of runs"},
};

Test(classify, extent_and_reasons) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct loaded l;
    uint8_t segments[8];
    char reasons[200];
    load(&l, rows[i].text, wide);
    cr_assert_not_null(l.ops[0], "%s: %s", rows[i].text,
                       l.diags.list.count ? l.diags.list.items[0].message : "");
    memset(segments, rows[i].segments, sizeof segments);
    const struct fused_classified c = fused_classify(&l.arena, l.ops[0], segments);
    cr_expect_str_eq(fused_reasons(&c, reasons, sizeof reasons), rows[i].reasons, "%s\n%s",
                     rows[i].text, reasons);
    cr_expect_eq(c.extent, rows[i].extent, "%s", rows[i].text);
    unload(&l);
  }
}

Test(classify, segments) {
  cr_expect_eq(fused_segments(1, 0), SEGMENTS_ONE);
  cr_expect_eq(fused_segments(0, 0), SEGMENTS_SHORT);
  cr_expect_eq(fused_segments(10, 39), SEGMENTS_SHORT);
  cr_expect_eq(fused_segments(10, 40), SEGMENTS_4);
  cr_expect_eq(fused_segments(2, 255), SEGMENTS_16);
  cr_expect_eq(fused_segments(2, 256), SEGMENTS_128);
  cr_expect_eq(fused_segments(3, 3072), SEGMENTS_128);
}

/* A text that does not fit ends where the room does. */
Test(classify, reasons_are_cut) {
  struct loaded l;
  char reasons[8];
  load(&l, rows[sizeof rows / sizeof *rows - 1].text, wide);
  uint8_t segments[8];
  memset(segments, SEGMENTS_16, sizeof segments);
  const struct fused_classified c = fused_classify(&l.arena, l.ops[0], segments);
  cr_expect_str_eq(fused_reasons(&c, reasons, sizeof reasons), "no elem");
  unload(&l);
}
