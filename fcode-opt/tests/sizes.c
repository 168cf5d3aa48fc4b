/* sizes.c - facts that the size analysis proves, and facts that it must not. */
#include "rewriting.h"

struct analysed {
  struct rewriting r;
  struct sizes *sizes;
};

static void analyse(struct analysed *a, const char *functions) {
  rewriting_begin(&a->r, functions);
  a->sizes = sizes_compute(&a->r.o);
}

static bool safe(const struct analysed *a, const char *function, ir_var v) {
  return sizes_safe(a->sizes, function_called(&a->r, function), binding_of(&a->r, function, v));
}

static bool equal(const struct analysed *a, const char *function, ir_var v, ir_var w) {
  uint32_t f = function_called(&a->r, function);
  return sizes_class(a->sizes, f, v, SIZE_LEN) == sizes_class(a->sizes, f, w, SIZE_LEN);
}

static int64_t known(const struct analysed *a, const char *function, ir_var v, uint8_t what) {
  return sizes_known(a->sizes, function_called(&a->r, function), v, what);
}

/* A vector of unknown length in v2 (v0 to v2 are what READ leaves). */
#define READ_VECTOR "v0, v1, v2 = READ INT @1:1\n"

Test(sizes, a_rule_holds_after_it_was_checked) {
  struct analysed a;
  analyse(&a, "fun M () -> (INT, INT, INT) @1:1\n"
              "v0, v1, v2 = READ INT @1:1\n"
              "v3, v4, v5 = READ INT @2:1\n"
              "v6 = + INT v0 v3 @3:1\n"
              "v7 = * INT v3 v0 @4:1\n"
              "v8 = - INT v7 v6 @5:1\n"
              "yield v6 v7 v8\nend\n");
  cr_expect(!safe(&a, "M", 6));
  cr_expect(safe(&a, "M", 7));
  cr_expect(safe(&a, "M", 8));
  rewriting_free(&a.r);
}

Test(sizes, scalars_and_lengths_are_numbers) {
  struct analysed a;
  analyse(&a, "fun M () -> (INT, INT, INT) @1:1\n"
              "v0 = CONST INT (4 5 6) @1:1\n"
              "v1 = LENGTH INT v0 @2:1\n"
              "v2 = MAKE_SEGDES v1 @3:1\n"
              "v3 = +_REDUCE INT v0 v2 @4:1\n"
              "v4 = CONST INT 3 @5:1\n"
              "v5 = MAKE_SEGDES v4 @6:1\n"
              "v6 = DIST INT v3 v5 @7:1\n"
              "v7 = + INT v6 v0 @8:1\n"
              "v8 = LENGTHS v5 @9:1\n"
              "yield v3 v7 v8\nend\n");
  for (ir_var v = 1; v <= 8; v++) cr_expect(safe(&a, "M", v), "v%u", v);
  cr_expect_eq(known(&a, "M", 2, SIZE_TOTAL), 3);
  cr_expect_eq(known(&a, "M", 2, SIZE_COUNT), 1);
  cr_expect_eq(known(&a, "M", 3, SIZE_LEN), 1);
  cr_expect_eq(known(&a, "M", 6, SIZE_LEN), 3);
  rewriting_free(&a.r);
}

Test(sizes, unknown_lengths_agree_by_construction) {
  struct analysed a;
  analyse(&a, "fun M () -> (INT, INT) @1:1\n" READ_VECTOR "v3 = LENGTH INT v0 @2:1\n"
              "v4 = MAKE_SEGDES v3 @3:1\n"
              "v5 = DIST INT v3 v4 @4:1\n"
              "v6 = + INT v0 v5 @5:1\n"
              "v7 = +_REDUCE INT v6 v4 @6:1\n"
              "yield v6 v7\nend\n");
  for (ir_var v = 3; v <= 7; v++) cr_expect(safe(&a, "M", v), "v%u", v);
  cr_expect(equal(&a, "M", 0, 5));
  cr_expect(!equal(&a, "M", 0, 7));
  cr_expect_eq(known(&a, "M", 0, SIZE_LEN), -1);
  rewriting_free(&a.r);
}

/* NESL's checks of equal lengths: a fact behind the check, not before. */
Test(sizes, lengths_that_were_checked_agree) {
  struct analysed a;
  analyse(&a, "fun M () -> (INT, INT, INT) @1:1\n"
              "v0, v1, v2 = READ INT @1:1\n"
              "v3, v4, v5 = READ INT @2:1\n"
              "v6 = LENGTH INT v0 @3:1\n"
              "v7 = LENGTH INT v3 @3:1\n"
              "v8 = = INT v6 v7 @3:1\n"
              "v9 = CONST INT 0 @3:1\n"
              "v10 = MAKE_SEGDES v6 @4:1\n"
              "v11 = INDEX v9 v9 v10 @4:1\n"
              "v12 = * INT v3 v3 @4:1\n"
              "ASSERT \"lengths {v} and {w}\" v8 v6 v7 @5:1\n"
              "v13 = + INT v0 v3 @6:1\n"
              "v14 = + INT v11 v12 @6:1\n"
              "yield v13 v14 v12\nend\n");
  cr_expect(safe(&a, "M", 13));
  cr_expect(safe(&a, "M", 14));
  cr_expect(
      sizes_depend_on_check(a.sizes, function_called(&a.r, "M"), binding_of(&a.r, "M", 13)));
  cr_expect(!equal(&a, "M", 11, 12)); /* bound before the check */
  rewriting_free(&a.r);
}

Test(sizes, what_was_compared_without_a_check_does_not_agree) {
  struct analysed a;
  analyse(&a, "fun M () -> (INT, BOOL) @1:1\n"
              "v0, v1, v2 = READ INT @1:1\n"
              "v3, v4, v5 = READ INT @2:1\n"
              "v6 = LENGTH INT v0 @3:1\n"
              "v7 = LENGTH INT v3 @3:1\n"
              "v8 = = INT v6 v7 @3:1\n"
              "v9 = <= INT v6 v7 @3:1\n"
              "ASSERT \"lengths {v} and {w}\" v9 v6 v7 @5:1\n"
              "v10 = + INT v0 v3 @6:1\n"
              "yield v10 v8\nend\n");
  cr_expect(!safe(&a, "M", 10));
  rewriting_free(&a.r);
}

Test(sizes, what_holds_in_one_arm_only_is_taken_back) {
  struct analysed a;
  analyse(&a, "fun M () -> (INT, INT) @1:1\n"
              "v0, v1, v2 = READ INT @1:1\n"
              "v3, v4, v5 = READ INT @2:1\n"
              "v6: INT = if v2 @3:1\n"
              "v7 = + INT v0 v3 @4:1\n"
              "v8 = + INT v7 v3 @5:1\n"
              "yield v8\n"
              "else\n"
              "v11 = + INT v0 v3 @5:2\n"
              "yield v0\n"
              "end\n"
              "v9 = + INT v0 v3 @6:1\n"
              "v10 = + INT v6 v0 @7:1\n"
              "yield v9 v10\nend\n");
  cr_expect(!safe(&a, "M", 7));
  cr_expect(safe(&a, "M", 8));
  cr_expect(!safe(&a, "M", 11), "the other arm");
  cr_expect(!safe(&a, "M", 9), "behind both");
  cr_expect(safe(&a, "M", 10), "both arms yield the length of v0");
  rewriting_free(&a.r);
}

Test(sizes, what_holds_in_the_arm_that_comes_back_stays) {
  struct analysed a;
  analyse(&a, "fun M () -> (INT) @1:1\n"
              "v0, v1, v2 = READ INT @1:1\n"
              "v3, v4, v5 = READ INT @2:1\n"
              "v6: INT = if v2 @3:1\n"
              "v7 = + INT v0 v3 @4:1\n"
              "yield v7\n"
              "else\n"
              "exit @5:1\n"
              "end\n"
              "v9 = + INT v6 v3 @6:1\n"
              "yield v9\nend\n");
  cr_expect(safe(&a, "M", 9));
  rewriting_free(&a.r);
}

/* The second call is found after a walk with the facts of the first. */
Test(sizes, a_later_call_is_taken_into_account) {
  struct analysed a;
  analyse(&a, "fun M () -> (INT, INT) @1:1\n" READ_VECTOR "v3, v4, v5 = READ INT @2:1\n"
              "v6: INT = call F v0 v0 @3:1\n"
              "v7: INT = call F v0 v3 @4:1\n"
              "yield v6 v7\nend\n"
              "fun F (v0: INT, v1: INT) -> (INT) @5:1\n"
              "v2 = + INT v0 v1 @6:1\n"
              "yield v2\nend\n");
  cr_expect(!safe(&a, "F", 2));
  rewriting_free(&a.r);
}

Test(sizes, parameters_agree_if_all_calls_do) {
  struct analysed a;
  analyse(&a, "fun M () -> (INT, INT, INT) @1:1\n" READ_VECTOR "v3, v4, v5 = READ INT @2:1\n"
              "v6: INT = call SAME v0 v0 @3:1\n"
              "v7: INT = call SAME v3 v3 @4:1\n"
              "v8: INT = call OTHER v0 v3 @5:1\n"
              "v9 = + INT v6 v0 @6:1\n"
              "yield v7 v8 v9\nend\n"
              "fun SAME (v0: INT, v1: INT) -> (INT) @7:1\n"
              "v2 = + INT v0 v1 @8:1\n"
              "yield v2\nend\n"
              "fun OTHER (v0: INT, v1: INT) -> (INT) @9:1\n"
              "v2 = + INT v0 v1 @10:1\n"
              "yield v2\nend\n");
  cr_expect(safe(&a, "SAME", 2));
  cr_expect(!safe(&a, "OTHER", 2));
  cr_expect(safe(&a, "M", 9), "the result is as long as the argument");
  rewriting_free(&a.r);
}

/* Goes down to 0; both the parameters and the result keep their length. */
#define RECURSION(next)                                                                        \
  "fun F (v0: INT, v1: INT, v2: INT) -> (INT) @7:1\n"                                          \
  "v3 = CONST INT 0 @8:1\n"                                                                    \
  "v4 = = INT v2 v3 @9:1\n"                                                                    \
  "v5: INT = if v4 @10:1\n"                                                                    \
  "yield v0\n"                                                                                 \
  "else\n"                                                                                     \
  "v6 = CONST INT 1 @11:1\n"                                                                   \
  "v7 = - INT v2 v6 @12:1\n"                                                                   \
  "v8 = + INT v0 v1 @13:1\n"                                                                   \
  "v9: INT = call F v8 " next " v7 @14:1\n"                                                    \
  "yield v9\n"                                                                                 \
  "end\n"                                                                                      \
  "yield v5\nend\n"
#define CALLS_RECURSION                                                                        \
  "fun M () -> (INT) @1:1\n" READ_VECTOR "v3 = CONST INT 9 @2:1\n"                             \
  "v4: INT = call F v0 v0 v3 @3:1\n"                                                           \
  "v5 = + INT v4 v0 @4:1\n"                                                                    \
  "yield v5\nend\n"

Test(sizes, recursion_is_taken_to_agree_until_it_does_not) {
  struct analysed a;
  analyse(&a, CALLS_RECURSION RECURSION("v1"));
  cr_expect(safe(&a, "F", 8));
  cr_expect(safe(&a, "M", 5));
  rewriting_free(&a.r);
  analyse(&a, CALLS_RECURSION RECURSION("v7")); /* a scalar the second time */
  cr_expect(!safe(&a, "F", 8));
  cr_expect(safe(&a, "M", 5), "the result still is as long as the first argument");
  rewriting_free(&a.r);
}

Test(sizes, divisors) {
  struct analysed a;
  analyse(&a, "fun M () -> (INT, INT, INT, INT) @1:1\n" READ_VECTOR "v3 = LENGTH INT v0 @2:1\n"
              "v4 = MAKE_SEGDES v3 @3:1\n"
              "v5 = CONST INT 7 @4:1\n"
              "v6 = DIST INT v5 v4 @5:1\n"
              "v7 = / INT v0 v6 @6:1\n"
              "v8 = % v0 v0 @7:1\n"
              "v9 = CONST INT 0 @8:1\n"
              "v10 = DIST INT v9 v4 @9:1\n"
              "v11 = / INT v0 v10 @10:1\n"
              "v12 = CONST INT (1 0) @11:1\n"
              "v13 = CONST INT (4 4) @12:1\n"
              "v14 = / INT v13 v12 @13:1\n"
              "yield v7 v8 v11 v14\nend\n");
  cr_expect(safe(&a, "M", 7));
  cr_expect(!safe(&a, "M", 8));
  cr_expect(!safe(&a, "M", 11));
  cr_expect(!safe(&a, "M", 14));
  rewriting_free(&a.r);
}

Test(sizes, lengths_of_segments) {
  struct analysed a;
  analyse(&a, "fun M () -> (INT) @1:1\n" READ_VECTOR "v3 = MAKE_SEGDES v0 @2:1\n"
              "v4 = LENGTHS v3 @3:1\n"
              "v5 = MAKE_SEGDES v4 @4:1\n"
              "v6 = LENGTH INT v0 @5:1\n"
              "v7 = MAKE_SEGDES v6 @6:1\n"
              "v8 = +_REDUCE INT v4 v7 @7:1\n"
              "v9 = MAKE_SEGDES v8 @8:1\n"
              "v10 = CONST INT 1 @9:1\n"
              "v11 = DIST INT v10 v9 @10:1\n"
              "v12 = +_REDUCE INT v11 v3 @11:1\n"
              "v13 = - INT v8 v10 @12:1\n"
              "v14 = MAKE_SEGDES v13 @13:1\n"
              "yield v12\nend\n");
  cr_expect(!safe(&a, "M", 3), "they come from outside");
  cr_expect(safe(&a, "M", 5));
  cr_expect(safe(&a, "M", 9), "a sum of lengths");
  cr_expect(safe(&a, "M", 12), "which is the total");
  cr_expect(!safe(&a, "M", 14), "one less may be negative");
  rewriting_free(&a.r);
}

Test(sizes, what_pack_keeps_is_counted) {
  struct analysed a;
  analyse(&a, "fun M () -> (INT, INT) @1:1\n" READ_VECTOR "v3 = LENGTH INT v0 @2:1\n"
              "v4 = MAKE_SEGDES v3 @3:1\n"
              "v5 = I_TO_B v0 @4:1\n"
              "v6, v7 = PACK INT v0 v5 v4 @5:1\n"
              "v8 = B_TO_I v5 @6:1\n"
              "v9 = +_REDUCE INT v8 v4 @7:1\n"
              "v10 = MAKE_SEGDES v9 @8:1\n"
              "v11 = +_REDUCE INT v6 v10 @9:1\n"
              "v12, v13 = PACK INT v8 v5 v4 @10:1\n"
              "v14 = + INT v6 v12 @11:1\n"
              "v15 = NOT BOOL v5 @12:1\n"
              "v16, v17 = PACK INT v0 v15 v4 @13:1\n"
              "v18 = + INT v6 v16 @14:1\n"
              "yield v11 v14\nend\n");
  cr_expect(safe(&a, "M", 10));
  cr_expect(safe(&a, "M", 11));
  cr_expect(safe(&a, "M", 14));
  cr_expect(!safe(&a, "M", 18), "by other flags");
  rewriting_free(&a.r);
}

/* Lengths that are not 0 have the same sum as all: elements stay where they are when empty
 * segments go. */
Test(sizes, empty_segments_have_no_elements) {
  struct analysed a;
  analyse(&a, "fun M () -> (INT, INT, INT) @1:1\n" READ_VECTOR "v3 = MAKE_SEGDES v0 @2:1\n"
              "v4 = CONST INT 7 @2:2\n"
              "v5 = DIST INT v4 v3 @2:3\n"
              "v6 = LENGTHS v3 @3:1\n"
              "v7 = LENGTH INT v0 @4:1\n"
              "v8 = MAKE_SEGDES v7 @5:1\n"
              "v9 = CONST INT 0 @6:1\n"
              "v10 = DIST INT v9 v8 @7:1\n"
              "v11 = != INT v6 v10 @8:1\n"
              "v12, v13 = PACK INT v6 v11 v8 @9:1\n"
              "v14 = MAKE_SEGDES v12 @10:1\n"
              "v15 = +_REDUCE INT v5 v14 @11:1\n"
              "v16 = CONST INT 1 @12:1\n"
              "v17 = DIST INT v16 v8 @13:1\n"
              "v18 = > INT v6 v17 @14:1\n"
              "v19, v20 = PACK INT v6 v18 v8 @15:1\n"
              "v21 = MAKE_SEGDES v19 @16:1\n"
              "v22 = +_REDUCE INT v5 v21 @17:1\n"
              "v23, v24 = PACK INT v5 v11 v8 @18:1\n"
              "v25 = MAKE_SEGDES v23 @19:1\n"
              "v26 = +_REDUCE INT v5 v25 @20:1\n"
              "yield v15 v22 v26\nend\n");
  cr_expect(safe(&a, "M", 15));
  cr_expect(!safe(&a, "M", 22), "segments of one element go as well");
  cr_expect(!safe(&a, "M", 26), "they are no lengths of these segments");
  rewriting_free(&a.r);
}

/* A descriptor could be made of them, so their sum is its total, before or after. */
Test(sizes, what_became_a_descriptor_has_its_total_as_sum) {
  struct analysed a;
  analyse(&a, "fun M () -> (INT, INT) @1:1\n" READ_VECTOR "v3 = LENGTH INT v0 @2:1\n"
              "v4 = MAKE_SEGDES v3 @3:1\n"
              "v5 = +_REDUCE INT v0 v4 @4:1\n"
              "v6 = MAKE_SEGDES v0 @5:1\n"
              "v7 = CONST INT 7 @6:1\n"
              "v8 = DIST INT v7 v6 @7:1\n"
              "v9 = MAKE_SEGDES v5 @8:1\n"
              "v10 = +_REDUCE INT v8 v9 @9:1\n"
              "v11, v12, v13 = READ INT @10:1\n"
              "v14 = LENGTH INT v11 @11:1\n"
              "v15 = MAKE_SEGDES v14 @12:1\n"
              "v16 = +_REDUCE INT v11 v15 @13:1\n"
              "v17 = MAKE_SEGDES v16 @14:1\n"
              "yield v10 v16\nend\n");
  cr_expect(safe(&a, "M", 9));
  cr_expect(safe(&a, "M", 10));
  cr_expect(
      sizes_depend_on_check(a.sizes, function_called(&a.r, "M"), binding_of(&a.r, "M", 9)),
      "on line 5");
  cr_expect(!safe(&a, "M", 17), "nothing was made of these");
  rewriting_free(&a.r);
}

/* Two elements of one vector are not the same value because both come from it. */
Test(sizes, packed_scalars_are_not_equal) {
  struct analysed a;
  analyse(&a, "fun M () -> (INT) @1:1\n"
              "v0 = CONST INT (3 4) @1:1\n"
              "v1 = CONST SEGDES 2 @2:1\n"
              "v2 = CONST BOOL (T F) @3:1\n"
              "v3 = CONST BOOL (F T) @4:1\n"
              "v4, v5 = PACK INT v0 v2 v1 @5:1\n"
              "v6, v7 = PACK INT v0 v3 v1 @6:1\n"
              "v8 = CONST SEGDES 1 @7:1\n"
              "v9 = +_SCAN INT v4 v8 @8:1\n"
              "v10 = +_SCAN INT v6 v8 @9:1\n"
              "v11 = MAKE_SEGDES v4 @10:1\n"
              "v12 = MAKE_SEGDES v6 @11:1\n"
              "v13 = DIST INT v4 v11 @12:1\n"
              "v14 = DIST INT v6 v12 @13:1\n"
              "v15 = + INT v13 v14 @14:1\n"
              "yield v15\nend\n");
  cr_expect(!safe(&a, "M", 15));
  rewriting_free(&a.r);
}

Test(sizes, indices) {
  struct analysed a;
  analyse(&a, "fun M () -> (INT, INT, INT, INT) @1:1\n" READ_VECTOR "v3 = LENGTH INT v0 @2:1\n"
              "v4 = MAKE_SEGDES v3 @3:1\n"
              "v5 = RANK_UP INT v0 v4 @4:1\n"
              "v6 = PERMUTE INT v0 v5 v4 @5:1\n"
              "v7 = CONST INT 0 @6:1\n"
              "v8 = CONST INT 1 @7:1\n"
              "v9 = INDEX v7 v8 v4 @8:1\n"
              "v10 = PERMUTE INT v9 v5 v4 @9:1\n"
              "v11 = BPERMUTE INT v0 v10 v4 v4 @10:1\n"
              "v12 = DIST INT v7 v4 @11:1\n"
              "v13 = BPERMUTE INT v0 v12 v4 v4 @12:1\n"
              "v14 = PERMUTE INT v0 v12 v4 @13:1\n"
              "v15 = BPERMUTE INT v0 v0 v4 v4 @14:1\n"
              "v16 = INDEX v8 v8 v4 @15:1\n"
              "v17 = BPERMUTE INT v0 v16 v4 v4 @16:1\n"
              "v18 = EXTRACT INT v0 v7 v4 @17:1\n"
              "yield v6 v11 v13 v15\nend\n");
  cr_expect(safe(&a, "M", 6));
  cr_expect(safe(&a, "M", 11));
  cr_expect(safe(&a, "M", 13), "0 is an index where there is an element");
  cr_expect(!safe(&a, "M", 14), "but no permutation");
  cr_expect(!safe(&a, "M", 15));
  cr_expect(!safe(&a, "M", 17), "from 1 it is past the end");
  cr_expect(!safe(&a, "M", 18), "there may be no element");
  rewriting_free(&a.r);
}

Test(sizes, effects_are_never_safe) {
  struct analysed a;
  analyse(&a, "fun M () -> (INT, BOOL) @1:1\n"
              "v0 = CONST INT 5 @1:1\n"
              "v1 = RAND v0 @2:1\n"
              "v2 = SRAND INT v0 @3:1\n"
              "yield v1 v2\nend\n");
  cr_expect(!safe(&a, "M", 1));
  cr_expect(!safe(&a, "M", 2));
  rewriting_free(&a.r);
}

/* A sequence of FLOATs, a number, a sequence of sequences of INTs. */
Test(sizes, layout_of_what_the_entry_is_given) {
  static const uint32_t layout[] = {IR_ONE, 0, IR_ONE, IR_ONE, 3, 4};
  struct analysed a;
  rewriting_begin(&a.r, "fun M (v0: SEGDES, v1: FLOAT, v2: INT, v3: SEGDES, v4: SEGDES, "
                        "v5: INT) -> (FLOAT, INT, INT, INT) @1:1\n"
                        "v6 = +_REDUCE FLOAT v1 v0 @2:1\n"
                        "v7 = +_REDUCE INT v5 v4 @3:1\n"
                        "v8 = +_REDUCE INT v7 v3 @4:1\n"
                        "v9 = +_REDUCE INT v5 v0 @5:1\n"
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
  analyse(&a, "fun M (v0: SEGDES, v1: FLOAT) -> (FLOAT) @1:1\n"
              "v2 = +_REDUCE FLOAT v1 v0 @2:1\nyield v2\nend\n");
  cr_expect(!safe(&a, "M", 2));
  rewriting_free(&a.r);
}
