/* test-origin.c - tables of origins: one number for equal ones, calls that bodies are inlined
 * at.
 */
#include "base/origin.h"
#include "base/tests/memory.h"

TestSuite(origin, .init = memory_begin, .fini = memory_end);

static struct origin_table empty(void) {
  struct origin_table table;
  origin_table_init(&table, &arena, NULL);
  return table;
}

static uint32_t test_origin_at(struct origin_table *t, uint32_t line, const char *function) {
  return origin_number(
      t, (struct origin){.file = "p.nesl", .pos = {line, 1}, .function = function});
}

Test(origin, equal_ones_have_one_number) {
  struct origin_table t = empty();
  enum { MANY = 1000 };
  char name[] = "f";
  for (uint32_t line = 1; line <= MANY; line++)
    cr_expect_eq(test_origin_at(&t, line, "f"), line);
  for (uint32_t line = 1; line <= MANY; line++)
    cr_expect_eq(test_origin_at(&t, line, name), line);
  cr_expect_eq(test_origin_at(&t, 1, "g"), MANY + 1);
  cr_expect_eq(origin_at(&t, 1)->pos.line, 1);
  cr_expect_null(origin_at(&t, 0));
}

Test(origin, a_copy_is_a_table_of_its_own) {
  struct origin_table t = empty(), copy;
  const uint32_t one = test_origin_at(&t, 1, "f");
  origin_table_init(&copy, &arena, &t);
  const uint32_t two = test_origin_at(&t, 2, "f");
  cr_expect_eq(test_origin_at(&copy, 3, "f"), two);
  cr_expect_eq(origin_at(&t, two)->pos.line, 2);
  cr_expect_eq(origin_at(&copy, two)->pos.line, 3);
  cr_expect_eq(test_origin_at(&copy, 1, "f"), one);
  cr_expect_eq(test_origin_at(&copy, 2, "f"), two + 1);
}

Test(origin, an_inlined_body_is_behind_its_calls) {
  struct origin_table t = empty();
  const uint32_t body = test_origin_at(&t, 1, "f"), call = test_origin_at(&t, 10, "g"),
                 outer = test_origin_at(&t, 20, "h");
  const uint32_t once = origin_inlined(&t, body, call);
  cr_expect_eq(origin_at(&t, once)->pos.line, 1);
  cr_expect_eq(origin_at(&t, once)->inlined_at, call);
  const uint32_t twice = origin_inlined(&t, once, outer);
  const uint32_t middle = origin_at(&t, twice)->inlined_at;
  cr_expect_eq(origin_at(&t, middle)->pos.line, 10);
  cr_expect_eq(origin_at(&t, middle)->inlined_at, outer);
  cr_expect_eq(origin_inlined(&t, body, origin_inlined(&t, call, outer)), twice);
  cr_expect_eq(origin_inlined(&t, 0, call), 0);
  cr_expect_eq(origin_inlined(&t, body, 0), body);
}

Test(origin, a_call_that_the_source_does_not_have_leaves_no_trace) {
  struct origin_table t = empty();
  const uint32_t body = test_origin_at(&t, 1, "f"), call = test_origin_at(&t, 0, "f"),
                 outer = test_origin_at(&t, 20, "h");
  cr_expect_eq(origin_inlined(&t, body, call), body);
  const uint32_t moved = origin_inlined(&t, call, outer);
  cr_expect_eq(origin_at(&t, moved)->inlined_at, outer);
  cr_expect_eq(origin_inlined(&t, body, moved), origin_inlined(&t, body, outer));
}

Test(origin, calls_are_kept_up_to_a_bound) {
  struct origin_table t = empty();
  uint32_t origin = test_origin_at(&t, 1, "f"), depth = 0;
  for (uint32_t line = 2; line < 100; line++)
    origin = origin_inlined(&t, origin, test_origin_at(&t, line, "g"));
  for (; origin != 0; origin = origin_at(&t, origin)->inlined_at) depth++;
  cr_expect_eq(depth, 32);
}
