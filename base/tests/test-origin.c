/* test-origin.c - tables of origins: one number for equal ones, calls that bodies are inlined
 * at. */
#include "base/heap.h"
#include "base/origin.h"

#include <criterion/criterion.h>

struct fixture {
  struct heap heap;
  struct arena arena;
  struct origin_table table;
};

static void begin(struct fixture *f) {
  heap_init(&f->heap, 0);
  arena_init(&f->arena, &f->heap);
  origin_table_init(&f->table, &f->arena, NULL);
}

static uint32_t at(struct fixture *f, uint32_t line, const char *function) {
  return origin_number(
      &f->table, (struct origin){.file = "p.nesl", .pos = {line, 1}, .function = function});
}

Test(origin, equal_ones_have_one_number) {
  struct fixture f;
  begin(&f);
  enum { MANY = 1000 };
  char name[] = "f";
  const uint32_t first = at(&f, 1, "f");
  cr_expect_eq(first, 1);
  for (uint32_t line = 2; line <= MANY; line++) cr_expect_eq(at(&f, line, "f"), line);
  for (uint32_t line = 1; line <= MANY; line++) cr_expect_eq(at(&f, line, name), line);
  cr_expect_eq(at(&f, 1, "g"), MANY + 1);
  cr_expect_null(origin_at(&f.table, 0));
  cr_expect_eq(origin_at(&f.table, first)->pos.line, 1);
  arena_free(&f.arena);
}

Test(origin, a_copy_and_a_struct_from_before_are_tables_of_their_own) {
  struct fixture f;
  begin(&f);
  const uint32_t one = at(&f, 1, "f");
  const struct origin_table before = f.table;
  struct fixture copy = f;
  origin_table_init(&copy.table, &f.arena, &f.table);
  const uint32_t two = at(&f, 2, "f");
  cr_expect_eq(at(&copy, 3, "f"), two);
  cr_expect_eq(origin_at(&f.table, two)->pos.line, 2);
  cr_expect_eq(origin_at(&copy.table, two)->pos.line, 3);
  f.table = before;
  cr_expect_eq(at(&f, 4, "f"), two, "line 2 was taken back");
  cr_expect_eq(at(&f, 1, "f"), one);
  cr_expect_eq(at(&f, 2, "f"), two + 1);
  arena_free(&f.arena);
}

Test(origin, an_inlined_body_is_behind_its_calls) {
  struct fixture f;
  begin(&f);
  const uint32_t body = at(&f, 1, "f"), call = at(&f, 10, "g"), outer = at(&f, 20, "h");
  const uint32_t once = origin_inlined(&f.table, body, call);
  cr_expect_eq(origin_at(&f.table, once)->pos.line, 1);
  cr_expect_eq(origin_at(&f.table, once)->inlined_at, call);
  const uint32_t twice = origin_inlined(&f.table, once, outer);
  const uint32_t middle = origin_at(&f.table, twice)->inlined_at;
  cr_expect_eq(origin_at(&f.table, middle)->pos.line, 10);
  cr_expect_eq(origin_at(&f.table, middle)->inlined_at, outer);
  cr_expect_eq(origin_inlined(&f.table, body, origin_inlined(&f.table, call, outer)), twice);
  cr_expect_eq(origin_inlined(&f.table, 0, call), 0);
  cr_expect_eq(origin_inlined(&f.table, body, 0), body);
  arena_free(&f.arena);
}

Test(origin, calls_are_kept_up_to_a_bound) {
  struct fixture f;
  begin(&f);
  uint32_t origin = at(&f, 1, "f"), depth = 0;
  for (uint32_t line = 2; line < 100; line++)
    origin = origin_inlined(&f.table, origin, at(&f, line, "g"));
  for (; origin != 0; origin = origin_at(&f.table, origin)->inlined_at) depth++;
  cr_expect_eq(depth, 32);
  arena_free(&f.arena);
}
