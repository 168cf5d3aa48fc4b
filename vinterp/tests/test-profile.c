/* test-profile.c - counting, and the two forms of the report. */
#include "vinterp/report/profile.h"
#include <criterion/criterion.h>
#include <string.h>

static struct heap heap;

static char *profile_report(const struct profile *p, bool json) {
  static char text[1 << 16];
  FILE *file = tmpfile();
  profile_print(p, file, json);
  rewind(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  return text;
}

static void profile_count(struct profile *p, uint32_t f, enum opcode op, enum type_word type,
                          uint64_t read, uint64_t written, uint64_t over, double seconds) {
  const struct profile_entry e = {.op = op,
                                  .type = type,
                                  .read = read,
                                  .written = written,
                                  .bytes = 8 * (read + written),
                                  .over = over,
                                  .seconds = seconds};
  profile_instruction(p, f, &e);
}

static void profile_contains(const char *text, const char *part) {
  cr_assert(strstr(text, part), "\"%s\" lacks \"%s\"", text, part);
}

Test(profile, sums) {
  heap_init(&heap, 0);
  struct profile *p = profile_new(&heap, "cpu", true);
  uint32_t f = profile_function(p, "F"), g = profile_function(p, "G\"");
  cr_assert_neq(f, g);
  cr_assert_eq(profile_function(p, "F"), f);
  profile_call(p, f);
  profile_call(p, g);
  profile_call(p, g);
  profile_count(p, f, OPC_ADD, TW_INT, 20, 10, 0, 0.25);
  profile_count(p, g, OPC_ADD, TW_INT, 2, 1, 0, 0.25);
  profile_count(p, g, OPC_ADD_SCAN, TW_FLOAT, 1000, 1000, 1000, 2.0);
  struct cvl_statistics statistics = {.peak_bytes = 1024};
  profile_run(p, 3.5, &statistics);
  statistics.peak_bytes = 4096;
  profile_run(p, 0.5, &statistics);
  const char *text = profile_report(p, true);
  profile_contains(
      text, "{\"runs\": 2, \"instructions\": 3, \"read\": 1022, \"written\": 1011, "
            "\"work\": 2033, \"steps\": 12, \"bytes\": 16264, \"passes\": 0, \"seconds\": 2.5");
  profile_contains(text, "\"peak_bytes\": 4096");
  profile_contains(
      text, "{\"opcode\": \"+_SCAN\", \"type\": \"FLOAT\", \"calls\": 1, \"read\": 1000");
  profile_contains(text, "{\"opcode\": \"+\", \"type\": \"INT\", \"calls\": 2, \"read\": 22");
  profile_contains(text,
                   "{\"name\": \"G\\\"\", \"calls\": 2, \"instructions\": 2, \"read\": 1002");
  profile_contains(text, "{\"name\": \"F\", \"calls\": 1, \"instructions\": 1, \"read\": 20");
  cr_assert_lt(strstr(text, "+_SCAN"), strstr(text, "\"+\""), "most time comes first");
  cr_assert(!strstr(text, "(other)"));
  text = profile_report(p, false);
  profile_contains(text, "instructions 3, work 2033, steps 12\n");
  profile_contains(text, " 80.0% ");
  profile_free(p);
  cr_assert_eq(heap.live, 0);
}

Test(profile, superoperators) {
  heap_init(&heap, 0);
  struct profile *p = profile_new(&heap, "cpu", true);
  struct profile_superop plus = {0, "whole", "", "v + w"};
  const struct profile_superop sum = {7, "split", "INDEX, 2 pack", "sum (\"v\")"};
  uint32_t a = profile_superop(p, &plus), b = profile_superop(p, &sum), row;
  cr_assert_eq(profile_superop(p, &plus), a);
  plus.number = 1;
  cr_assert_neq(profile_superop(p, &plus), a, "another number");
  plus = (struct profile_superop){0, "split", "INDEX", "v + w"};
  cr_assert_neq(profile_superop(p, &plus), a, "executed in another way");
  cr_assert(!profile_superop_known(p, 3, &row));
  profile_superop_remember(p, 3, a);
  cr_assert(profile_superop_known(p, 3, &row) && row == a);
  struct profile_entry e = {
      .op = OPC_FUSED, .type = TW_NONE, .read = 20, .written = 10, .bytes = 240, .passes = 1};
  e.superop = a;
  profile_instruction(p, profile_function(p, "F"), &e);
  profile_instruction(p, profile_function(p, "F"), &e);
  e.superop = b;
  e.passes = 3;
  profile_instruction(p, profile_function(p, "F"), &e);
  const char *text = profile_report(p, true);
  profile_contains(
      text, "\"instructions\": 3, \"read\": 60, \"written\": 30, \"work\": 90, \"steps\": 3, "
            "\"bytes\": 720, \"passes\": 5,");
  profile_contains(
      text,
      "{\"number\": 0, \"formula\": \"v + w\", \"compiled\": \"whole\", \"reasons\": \"\", "
      "\"calls\": 2, \"read\": 40");
  profile_contains(text,
                   "{\"number\": 7, \"formula\": \"sum (\\\"v\\\")\", \"compiled\": \"split\", "
                   "\"reasons\": \"INDEX, 2 pack\", \"calls\": 1, \"read\": 20");
  profile_contains(text, "{\"opcode\": \"FUSED\", \"calls\": 3");
  cr_assert(!strstr(text, "(other)"));
  text = profile_report(p, false);
  profile_contains(text, "elementwise passes over memory 5\n");
  profile_contains(text, "OP7  ");
  profile_contains(text, "  [whole] v + w\n");
  profile_contains(text, "  [split: INDEX, 2 pack] sum (\"v\")\n");
  /* A rank of a job sends to others. */
  cr_assert(!strstr(profile_report(p, false), "sent to other ranks"));
  profile_begin(p, &(struct cvl_statistics){.collectives = 2, .sent_bytes = 100});
  profile_run(p, 1,
              &(struct cvl_statistics){.collectives = 5, .messages = 7, .sent_bytes = 2148});
  profile_contains(profile_report(p, false),
                   "sent to other ranks: collectives 3, messages 7, in all 2.0 KiB\n");
  profile_contains(profile_report(p, true),
                   "\"collectives\": 3, \"messages\": 7, \"sent_bytes\": 2048");
  profile_free(p);
  cr_assert_eq(heap.live, 0);
}

Test(profile, superoperators_of_a_device) {
  heap_init(&heap, 0);
  struct profile *p = profile_new(&heap, "cpu", true);
  struct profile_superop plus = {0, "whole", "", "v + w"};
  struct profile_entry e = {
      .op = OPC_FUSED, .type = TW_NONE, .read = 2, .written = 1, .passes = 1};
  e.superop = profile_superop(p, &plus);
  profile_instruction(p, profile_function(p, "F"), &e);
  /* On a device superoperators are executed in other ways. */
  profile_run(p, 1, &(struct cvl_statistics){.launches = 2});
  cr_assert(!strstr(profile_report(p, true), "compiled"));
  cr_assert(!strstr(profile_report(p, false), "[whole]"));
  profile_free(p);
  cr_assert_eq(heap.live, 0);
}

Test(profile, calls_in_chunks) {
  heap_init(&heap, 0);
  struct profile *p = profile_new(&heap, "cpu", true);
  cr_assert(!strstr(profile_report(p, false), "calls in chunks"));
  profile_contains(profile_report(p, true), "\"chunks\": []");
  const uint32_t f = profile_function(p, "F");
  profile_cut(p, f, &(struct cut_counts){.chunks = 3, .least = 2, .most = 9, .peak = 2048},
              CHUNK_BUDGET);
  profile_cut(p, f, &(struct cut_counts){.chunks = 5, .least = 1, .most = 4, .peak = 1024},
              CHUNK_LIMIT);
  profile_cut(
      p, f, &(struct cut_counts){.chunks = 2, .least = 7, .most = 7, .peak = 10, .threads = 3},
      CHUNK_LIMIT);
  profile_contains(
      profile_report(p, true),
      "{\"name\": \"F\", \"calls\": 3, \"chunks\": 10, \"least\": 1, "
      "\"most\": 9, \"peak_bytes\": 2048, \"threads\": 3, \"bound\": \"memory limit\"}");
  profile_contains(profile_report(p, false), "   2.0 KiB        3  memory limit\n");
  profile_begin(p, &(struct cvl_statistics){0});
  cr_assert(!strstr(profile_report(p, false), "calls in chunks"));
  profile_free(p);
  cr_assert_eq(heap.live, 0);
}

Test(profile, steps) {
  static const struct {
    enum opcode op;
    uint64_t over, steps;
  } cases[] = {{OPC_ADD, 1000, 1},     {OPC_ADD_SCAN, 0, 1},          {OPC_ADD_SCAN, 1, 1},
               {OPC_MAX_REDUCE, 2, 1}, {OPC_MAX_REDUCE, 3, 2},        {OPC_MAX_REDUCE, 4, 2},
               {OPC_RANK_UP, 5, 3},    {OPC_RANK_UP, 1024, 10},       {OPC_RANK_UP, 1025, 11},
               {OPC_PERMUTE, 1024, 1}, {OPC_ADD_SCAN, UINT64_MAX, 64}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    heap_init(&heap, 0);
    struct profile *p = profile_new(&heap, "cpu", true);
    profile_count(p, 0, cases[i].op, TW_INT, 1, 1, cases[i].over, 0);
    char expected[40];
    snprintf(expected, sizeof expected, "\"steps\": %llu,", (unsigned long long)cases[i].steps);
    profile_contains(profile_report(p, true), expected);
    profile_free(p);
  }
}

Test(profile, many_functions) {
  heap_init(&heap, 0);
  struct profile *p = profile_new(&heap, "cpu", true);
  uint32_t rows[1000];
  char name[16];
  for (int i = 0; i < 1000; i++) {
    snprintf(name, sizeof name, "F%d", i);
    rows[i] = profile_function(p, name);
  }
  for (int i = 0; i < 1000; i++) {
    snprintf(name, sizeof name, "F%d", i);
    cr_assert_eq(profile_function(p, name), rows[i]);
  }
  profile_free(p);
  cr_assert_eq(heap.live, 0);
}

Test(profile, without_memory_everything_is_other) {
  for (uint64_t n = 1; n < 16; n++) {
    heap_init(&heap, 0);
    heap.fail_at = n;
    struct profile *p = profile_new(&heap, "cpu", true);
    if (p) {
      profile_count(p, profile_function(p, "F"), OPC_ADD, TW_INT, 1, 1, 0, 0);
      profile_contains(profile_report(p, true), "\"instructions\": 1");
      profile_free(p);
    }
    cr_assert_eq(heap.live, 0);
  }
}

/* Adds the profile of a thread, in which rows have other numbers. */
Test(profile, another_profile_is_added) {
  heap_init(&heap, 0);
  struct profile *p = profile_new(&heap, "cpu", true), *x = profile_new(&heap, "cpu", true);
  const struct profile_superop op = {4, "whole", "", "v + w"};
  const struct profile_entry add = {.op = OPC_ADD, .type = TW_INT, .read = 20, .written = 10};
  struct profile_entry fused = {.op = OPC_FUSED, .type = TW_NONE, .read = 5};
  const uint32_t f = profile_function(p, "F");
  profile_call(p, f);
  profile_instruction(p, f, &add);
  const uint32_t g = profile_function(x, "G"), same = profile_function(x, "F");
  profile_call(x, same);
  profile_call(x, g);
  profile_instruction(x, same, &add);
  fused.superop = profile_superop(x, &op);
  profile_instruction(x, g, &fused);
  profile_cut(x, g, &(struct cut_counts){.chunks = 3, .least = 2, .most = 9}, CHUNK_BUDGET);
  for (int i = 0; i < 2; i++) { /* the second time there is nothing to add */
    profile_add(p, x);
    cr_assert_eq(profile_totals(p).instructions, 3);
    cr_assert_eq(profile_totals(p).work, 65);
    profile_contains(profile_report(p, true),
                     "\"name\": \"F\", \"calls\": 2, \"instructions\": 2");
    profile_contains(profile_report(p, true),
                     "\"name\": \"G\", \"calls\": 1, \"instructions\": 1");
    profile_contains(profile_report(p, true), "\"number\": 4, \"formula\": \"v + w\"");
    profile_contains(profile_report(p, true), "{\"name\": \"G\", \"calls\": 1, \"chunks\": 3");
  }
  profile_free(x);
  profile_free(p);
  cr_assert_eq(heap.live, 0);
}
