/* gathers.c - maps that are computed at the positions of the gathers from them, and what stays
 * where it was. */
#include "rewriting.h"

#include <string.h>

/* Vectors v0 and v1 of equal lengths v5 with the descriptor v6 of one segment; 2.0 spread over
 * it; an INDEX that reverses. */
#define VECTORS                                                                                \
  "v0, v2, v3 = READ FLOAT @1:1\n"                                                             \
  "v5 = LENGTH FLOAT v0 @1:2\n"                                                                \
  "v6 = MAKE_SEGDES v5 @1:3\n"                                                                 \
  "v7 = CONST FLOAT 2 @1:4\n"                                                                  \
  "v8 = DIST FLOAT v7 v6 @1:5\n"                                                               \
  "v9 = CONST INT 1 @1:6\n"                                                                    \
  "v10 = - INT v5 v9 @1:7\n"                                                                   \
  "v11 = CONST INT -1 @1:8\n"                                                                  \
  "v12 = INDEX v10 v11 v6 @1:9\n"                                                              \
  "v13 = CONST INT 0 @1:10\n"                                                                  \
  "v14 = INDEX v13 v9 v6 @1:11\n"                                                              \
  "v1 = +_SCAN FLOAT v0 v6 @1:12\n"

/* In a program whose checks guard its indices, as those of neslc do. */
static bool guarded_gathers(struct opt *o) {
  o->program->guarded = true;
  return pass_gathers(o);
}

static void gathers_rewrite(const char *functions, bool changes, char *body, size_t size) {
  memset(body, 0, size);
  cr_expect_eq(rewriting_pass(functions, guarded_gathers, body, size), changes, "%s", body);
}

/* The result of the gather is that of the map now. */
Test(gathers, a_map_of_a_vector_and_a_constant) {
  char body[6000];
  gathers_rewrite("fun M () -> (FLOAT) @1:1\n" VECTORS "v20 = * FLOAT v8 v0 @2:1\n"
                  "v21 = BPERMUTE FLOAT v20 v12 v6 v6 @2:2\n"
                  "yield v21\nend\n",
                  true, body, sizeof body);
  rewriting_has(body, "= BPERMUTE FLOAT v0 v12 v6 v6", 1);
  rewriting_has(body, "v21 = * FLOAT", 1);
  rewriting_has(body, "= DIST FLOAT v7 v6", 2);
}

/* Maps that only this one needs move with it; an INDEX needs no gather. */
Test(gathers, a_chain_of_maps) {
  char body[6000];
  gathers_rewrite("fun M () -> (FLOAT) @1:1\n" VECTORS "v18 = I_TO_F v14 @2:1\n"
                  "v19 = * FLOAT v18 v8 @2:2\n"
                  "v20 = + FLOAT v19 v0 @2:3\n"
                  "v21 = BPERMUTE FLOAT v20 v12 v6 v6 @2:4\n"
                  "yield v21\nend\n",
                  true, body, sizeof body);
  rewriting_has(body, "= BPERMUTE", 1);
  rewriting_has(body, "= BPERMUTE FLOAT v0 v12 v6 v6", 1);
  rewriting_has(body, "= I_TO_F", 2); /* the old one is dead */
  rewriting_has(body, "v21 = + FLOAT", 1);
}

/* Its index would be written to memory, and is larger than what it reads. */
Test(gathers, an_index_that_is_computed_stays_beside_its_gather) {
  char body[6000];
  const char *flags = "v15 = CONST BOOL T @2:1\n"
                      "v16 = DIST BOOL v15 v6 @2:2\n"
                      "v17 = AND BOOL v16 v16 @2:3\n"
                      "v18 = DIST INT v10 v6 @2:4\n"
                      "v19 = - INT v18 v14 @2:5\n";
  char text[6000];
  for (int again = 0; again <= 1; again++) {
    snprintf(text, sizeof text,
             "fun M () -> (BOOL, INT) @1:1\n" VECTORS
             "%sv20 = BPERMUTE BOOL v17 v19 v6 v6 @2:6\n"
             "v21 = BPERMUTE BOOL v20 v12 v6 v6 @2:7\nyield v21 %s\nend\n",
             flags, again ? "v19" : "v14");
    memset(body, 0, sizeof body);
    rewriting_pass(text, guarded_gathers, body, sizeof body);
    rewriting_has(body, "v21 = BPERMUTE BOOL v20 v12", again);
  }
}

Test(gathers, all_vectors_of_a_map) {
  char body[6000];
  gathers_rewrite("fun M () -> (FLOAT) @1:1\n" VECTORS "v20 = * FLOAT v1 v0 @2:1\n"
                  "v21 = BPERMUTE FLOAT v20 v12 v6 v6 @2:2\n"
                  "yield v21\nend\n",
                  true, body, sizeof body);
  rewriting_has(body, "= BPERMUTE FLOAT v0 v12 v6 v6", 1);
  rewriting_has(body, "= BPERMUTE FLOAT v1 v12 v6 v6", 1);
  rewriting_has(body, "v21 = * FLOAT", 1);
}

/* Where the index is no INDEX two vectors would be read at positions that depend on data. */
Test(gathers, several_vectors_at_other_positions_stay) {
  char body[6000];
  const char *index = "v18 = DIST INT v10 v6 @2:1\n"
                      "v19 = - INT v18 v14 @2:2\n";
  char text[6000];
  for (int vectors = 1; vectors <= 2; vectors++) {
    snprintf(text, sizeof text,
             "fun M () -> (FLOAT) @1:1\n" VECTORS "%sv20 = * FLOAT %s v0 @2:3\n"
             "v21 = BPERMUTE FLOAT v20 v19 v6 v6 @2:4\nyield v21\nend\n",
             index, vectors == 1 ? "v8" : "v1");
    gathers_rewrite(text, vectors == 1, body, sizeof body);
  }
}

/* The runs of an INDEX over other segments may overlap: an element may be read many times. */
Test(gathers, what_is_read_more_than_once_stays) {
  char body[6000];
  gathers_rewrite("fun M () -> (FLOAT) @1:1\n" VECTORS "v15 = DIST INT v5 v6 @2:1\n"
                  "v16 = MAKE_SEGDES v15 @2:2\n"
                  "v17 = DIST INT v13 v6 @2:3\n"
                  "v18 = DIST INT v9 v6 @2:4\n"
                  "v19 = INDEX v17 v18 v16 @2:5\n"
                  "v22 = LENGTH INT v19 @2:6\n"
                  "v23 = MAKE_SEGDES v22 @2:7\n"
                  "v20 = * FLOAT v8 v0 @2:8\n"
                  "v21 = BPERMUTE FLOAT v20 v19 v6 v23 @2:9\n"
                  "yield v21\nend\n",
                  false, body, sizeof body);
}

Test(gathers, another_use_keeps_the_map) {
  char body[6000];
  gathers_rewrite("fun M () -> (FLOAT, FLOAT) @1:1\n" VECTORS "v20 = * FLOAT v8 v0 @2:1\n"
                  "v21 = BPERMUTE FLOAT v20 v12 v6 v6 @2:2\n"
                  "yield v20 v21\nend\n",
                  false, body, sizeof body);
}

/* A cheap map is computed for each of two gathers, an expensive one once. */
Test(gathers, the_cost_of_computing_it_twice_decides) {
  char body[6000];
  const char *two = "v21 = BPERMUTE FLOAT v20 v12 v6 v6 @2:2\n"
                    "v22 = BPERMUTE FLOAT v20 v14 v6 v6 @2:3\n"
                    "yield v21 v22\nend\n";
  char text[6000];
  for (int cheap = 0; cheap <= 1; cheap++) {
    snprintf(text, sizeof text, "fun M () -> (FLOAT, FLOAT) @1:1\n" VECTORS "v20 = %s @2:1\n%s",
             cheap ? "* FLOAT v8 v0" : "EXP v0", two);
    gathers_rewrite(text, cheap, body, sizeof body);
  }
}

/* It would have to fail where it is, before the gather. */
Test(gathers, a_map_that_may_fail_stays) {
  char body[6000];
  gathers_rewrite("fun M () -> (INT) @1:1\n" VECTORS "v20 = / INT v14 v12 @2:1\n"
                  "v21 = BPERMUTE INT v20 v12 v6 v6 @2:2\n"
                  "yield v21\nend\n",
                  false, body, sizeof body);
}

Test(gathers, a_gather_that_may_fail_stays) {
  char body[6000] = {0};
  const bool changed =
      rewriting_pass("fun M () -> (FLOAT) @1:1\n" VECTORS "v20 = * FLOAT v8 v0 @2:1\n"
                     "v21 = BPERMUTE FLOAT v20 v12 v6 v6 @2:2\n"
                     "yield v21\nend\n",
                     pass_gathers, body, sizeof body);
  cr_expect_not(changed, "%s", body);
}

/* The index of the first gather is an INDEX, too: so is that of the gather that is left. */
Test(gathers, a_gather_from_a_gather) {
  char body[6000];
  gathers_rewrite("fun M () -> (FLOAT) @1:1\n" VECTORS
                  "v20 = BPERMUTE FLOAT v0 v12 v6 v6 @2:1\n"
                  "v21 = BPERMUTE FLOAT v20 v12 v6 v6 @2:2\n"
                  "yield v21\nend\n",
                  true, body, sizeof body);
  rewriting_has(body, "v21 = BPERMUTE FLOAT v0", 1);
  rewriting_has(body, "= INDEX", 3);
}

/* A number for each segment is spread over the segments of the gather. */
Test(gathers, a_number_for_each_segment) {
  char body[6000];
  gathers_rewrite("fun M () -> (INT) @1:1\n" VECTORS "v15 = MAKE_SEGDES v14 @2:1\n"
                  "v16 = DIST INT v14 v15 @2:2\n"
                  "v17 = DIST INT v13 v6 @2:3\n"
                  "v18 = INDEX v17 v16 v15 @2:4\n"
                  "yield v16\nend\n",
                  false, body, sizeof body);
  gathers_rewrite("fun M () -> (INT) @1:1\n" VECTORS "v15 = MAKE_SEGDES v14 @2:1\n"
                  "v16 = DIST INT v14 v15 @2:2\n"
                  "v17 = DIST INT v13 v6 @2:3\n"
                  "v18 = DIST INT v9 v6 @2:4\n"
                  "v19 = INDEX v17 v18 v15 @2:5\n"
                  "v20 = + INT v16 v19 @2:6\n"
                  "v21 = BPERMUTE INT v20 v19 v15 v15 @2:7\n"
                  "yield v21\nend\n",
                  true, body, sizeof body);
  rewriting_has(body, "= DIST INT v14 v15", 2);
  rewriting_has(body, "v21 = + INT", 1);
  rewriting_has(body, "BPERMUTE", 0);
}

/* Nothing moves across a timer. */
Test(gathers, a_function_with_timers_stays) {
  char body[6000];
  gathers_rewrite("fun M () -> (FLOAT) @1:1\n" VECTORS "v20 = * FLOAT v8 v0 @2:1\n"
                  "START_TIMER @2:2\n"
                  "v21 = BPERMUTE FLOAT v20 v12 v6 v6 @2:3\n"
                  "yield v21\nend\n",
                  false, body, sizeof body);
}

/* ---- single elements ---- */

/* The constant is one element already. */
Test(gathers, an_element_of_a_map) {
  char body[6000];
  gathers_rewrite("fun M () -> (FLOAT) @1:1\n" VECTORS "v19 = EXP v0 @2:1\n"
                  "v20 = * FLOAT v8 v19 @2:2\n"
                  "v21 = EXTRACT FLOAT v20 v9 v6 @2:3\n"
                  "yield v21\nend\n",
                  true, body, sizeof body);
  rewriting_has(body, "= EXTRACT FLOAT v0 v9 v6", 1);
  rewriting_has(body, "v21 = * FLOAT v7 ", 1);
}

/* Two of them for two elements, but not three: the vector may be short. */
Test(gathers, few_elements_of_a_map) {
  char body[6000], text[6000];
  for (int elements = 2; elements <= 3; elements++) {
    snprintf(text, sizeof text,
             "fun M () -> (FLOAT, FLOAT, FLOAT) @1:1\n" VECTORS "v20 = EXP v0 @2:1\n"
             "v21 = EXTRACT FLOAT v20 v9 v6 @2:2\nv22 = EXTRACT FLOAT v20 v13 v6 @2:3\n%s"
             "yield v21 v22 %s\nend\n",
             elements > 2 ? "v23 = EXTRACT FLOAT v20 v10 v6 @2:4\n" : "",
             elements > 2 ? "v23" : "v22");
    gathers_rewrite(text, elements == 2, body, sizeof body);
  }
}

/* A number for each segment is that of the element; an INDEX is computed. */
Test(gathers, an_element_of_each_segment) {
  char body[6000];
  gathers_rewrite("fun M () -> (INT) @1:1\n" VECTORS "v15 = MAKE_SEGDES v14 @2:1\n"
                  "v16 = DIST INT v14 v15 @2:2\n"
                  "v17 = DIST INT v13 v6 @2:3\n"
                  "v18 = DIST INT v9 v6 @2:4\n"
                  "v19 = INDEX v17 v18 v15 @2:5\n"
                  "v20 = + INT v16 v19 @2:6\n"
                  "v21 = EXTRACT INT v20 v17 v15 @2:7\n"
                  "yield v21\nend\n",
                  true, body, sizeof body);
  rewriting_has(body, "= * INT v18 v17", 1);
  rewriting_has(body, "v21 = + INT v14 ", 1);
  rewriting_has(body, "EXTRACT", 0);
}

Test(gathers, an_element_of_a_gather) {
  char body[6000];
  gathers_rewrite("fun M () -> (FLOAT) @1:1\n" VECTORS
                  "v20 = BPERMUTE FLOAT v0 v12 v6 v6 @2:1\n"
                  "v21 = EXTRACT FLOAT v20 v9 v6 @2:2\n"
                  "yield v21\nend\n",
                  true, body, sizeof body);
  rewriting_has(body, "v21 = EXTRACT FLOAT v0 ", 1);
}

Test(gathers, an_element_of_a_map_that_may_fail_stays) {
  char body[6000];
  gathers_rewrite("fun M () -> (INT) @1:1\n" VECTORS "v20 = / INT v14 v12 @2:1\n"
                  "v21 = EXTRACT INT v20 v9 v6 @2:2\n"
                  "yield v21\nend\n",
                  false, body, sizeof body);
}

/* What it becomes would be no operation. */
Test(gathers, an_element_of_a_constant_stays) {
  char body[6000];
  gathers_rewrite("fun M () -> (FLOAT) @1:1\n" VECTORS
                  "v21 = EXTRACT FLOAT v8 v9 v6 @2:2\nyield v21\nend\n",
                  false, body, sizeof body);
}
