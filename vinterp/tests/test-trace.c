/* test-trace.c - the trace is JSON with the executed instructions, however the run ends. */
#include "base/tests/memory.h"
#include "vinterp/report/trace.h"
#include "vinterp/tests/fixture.h"
#include <stdlib.h>
#include <string.h>

TestSuite(trace, .init = memory_begin, .fini = memory_end);

/* ---- a reader that only checks whether a text is JSON ---- */

static const char *skip(const char *s) {
  return s + strspn(s, " \n");
}

/* Returns the address behind the value at s; NULL if there is none. */
static const char *trace_value(const char *s) {
  s = skip(s);
  if (*s == '"') {
    for (s++; *s && *s != '"'; s++) {
      if ((unsigned char)*s < ' ') return NULL;
      if (*s == '\\' && !*++s) return NULL;
    }
    return *s ? s + 1 : NULL;
  }
  if (*s != '[' && *s != '{') {
    char *end;
    strtod(s, &end);
    return end > s ? end : NULL;
  }
  char close = *s == '[' ? ']' : '}';
  s = skip(s + 1);
  if (*s == close) return s + 1;
  for (;;) {
    if (close == '}') {
      if (*skip(s) != '"' || !(s = trace_value(s)) || *(s = skip(s)) != ':') return NULL;
      s++;
    }
    if (!(s = trace_value(s))) return NULL;
    s = skip(s);
    if (*s == close) return s + 1;
    if (*s++ != ',') return NULL;
  }
}

static bool is_json_array(const char *text) {
  if (*skip(text) != '[') return false;
  const char *end = trace_value(text);
  return end && *skip(end) == '\0';
}

Test(trace, the_reader_knows_json) {
  cr_expect(is_json_array("[{\"a\": -1.5e3, \"b\\\"\": [\"c\", []]},\n{}]\n"));
  static const char *const wrong[] = {"",         "{}",    "[",     "[1,]",  "[{\"a\" 1}]",
                                      "[{1: 2}]", "[\"a]", "[] []", "[1 2]", "[\"\n\"]"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    cr_expect_not(is_json_array(wrong[i]), "%s", wrong[i]);
}

/* ---- runs ---- */

static char *traced(const char *text, struct machine_options options, struct ran *ran) {
  char *trace = NULL;
  size_t size = 0;
  options.trace = open_memstream(&trace, &size);
  *ran = run_text(text, options);
  fclose(options.trace);
  cr_expect(is_json_array(trace), "%s", trace);
  return trace;
}

static size_t trace_count(const char *text, const char *part) {
  size_t n = 0;
  for (; (text = strstr(text, part)); text++) n++;
  return n;
}

static const char program[] =
    "fused OP0#1 ($0 : INT, $1 : INT, $2 : SEGDES) = (+_REDUCE INT @ (/ INT @ $0 $1) $2)\n"
    "FUNC MAIN CONST INT (6 8 10) CONST INT (1 1 1)\n"
    "+ INT CONST INT (1 2 %d) CALL FN RET\n"
    "FUNC FN {@ p.nesl:4:2 \"f\" } CONST SEGDES 3\n"
    "FUSED 0 RET";

Test(trace, says_what_was_executed) {
  char text[1000];
  snprintf(text, sizeof text, program, 3);
  for (int checked = 0; checked < 2; checked++) {
    struct machine_options options = test_options();
    options.checked = checked;
    struct ran ran;
    char *trace = traced(text, options, &ran);
    cr_expect(printed(&ran, "( 14 )\n"), "%s%s", ran.out, ran.diags);
    cr_expect_eq(trace_count(trace, "\"ph\": \"X\""), 2, "%s", trace);
    const char *sum = strstr(trace, "{\"name\": \"+ INT\", \"cat\": \"elementwise\"");
    const char *fused = strstr(trace, "{\"name\": \"FUSED 0\", \"cat\": \"superoperator\"");
    cr_assert(sum && fused && sum < fused, "%s", trace);
    cr_expect(
        strstr(sum, "\"line\": \"test.vcode:3:1\", \"function\": \"MAIN\", \"elements\": 3"));
    cr_expect(strstr(fused, "\"line\": \"p.nesl:4:2\", \"function\": \"FN\", \"elements\": 3, "
                            "\"formula\": \""));
    free(trace);
    ran_free(&ran);
  }
}

Test(trace, ends_well_however_the_run_ends) {
  char text[1000];
  struct ran ran;
  snprintf(text, sizeof text, program, 0);
  char *trace = traced(text, test_options(), &ran);
  cr_expect_eq(ran.outcome, MACHINE_ERROR);
  cr_expect_eq(trace_count(trace, "\"ph\": \"X\""), 1, "the failed instruction is not written");
  free(trace);
  ran_free(&ran);
  trace = traced("FUNC MAIN CONST INT (1 2) NOT INT EXIT RET", test_options(), &ran);
  cr_expect_eq(ran.outcome, MACHINE_EXIT);
  cr_expect_eq(trace_count(trace, "NOT INT"), 1);
  free(trace);
  ran_free(&ran);
  trace = traced("FUNC MAIN RET", test_options(), &ran);
  free(trace);
  ran_free(&ran);
  struct machine_options options = test_options();
  options.fail_allocation = 1;
  trace = traced("FUNC MAIN CONST INT (1 2) NOT INT RET", options, &ran);
  cr_expect_eq(ran.outcome, MACHINE_ERROR);
  free(trace);
  ran_free(&ran);
}

/* ---- the writer ---- */

/* Returns a trace that has the event `count` times, from malloc. */
static char *trace_written(double begin, uint64_t most, const struct trace_event *e,
                           int count) {
  char *text;
  size_t size;
  FILE *file = open_memstream(&text, &size);
  struct trace *t = trace_new(&heap, file, begin, most);
  for (int i = 0; i < count; i++) trace_write(t, e);
  trace_free(t);
  fclose(file);
  return text;
}

Test(trace, times_are_microseconds_from_the_beginning) {
  struct trace_event e = {.name = "a\"\n",
                          .category = "c",
                          .line = "x\\y",
                          .function = "F",
                          .begin = 100.5,
                          .duration = 0.0000015};
  char *text = trace_written(100, 10, &e, 1);
  cr_expect_str_eq(text,
                   "[\n{\"name\": \"a\\\"\\u000a\", \"cat\": \"c\", \"ph\": \"X\", \"pid\": 1, "
                   "\"tid\": 1, \"ts\": 500000.000, \"dur\": 1.500, \"args\": {\"line\": "
                   "\"x\\\\y\", \"function\": \"F\", \"elements\": 0}}\n]\n");
  free(text);
}

Test(trace, is_cut_where_nobody_could_open_it) {
  struct trace_event e = {.name = "n", .category = "c", .line = "l", .function = "F"};
  char *text = trace_written(0, 5, &e, 10);
  cr_expect(is_json_array(text), "%s", text);
  cr_expect_eq(trace_count(text, "\"ph\": \"X\""), 5, "%s", text);
  cr_expect_eq(trace_count(text, "not written"), 1, "%s", text);
  free(text);
}
