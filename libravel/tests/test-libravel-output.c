/* test-libravel-output.c - what programs print, for a function of the caller. */
#include "context.h"

#include <stdio.h>

enum { ROOM = 4096 };

struct printed {
  struct ravel_context *context;
  char bytes[ROOM];
  size_t count, calls, most; /* most: so many calls are fine */
  enum ravel_code within;    /* of a call on the context from within */
};

static bool output_take(void *data, const char *bytes, size_t count) {
  struct printed *p = data;
  struct ravel_value *v = NULL;
  cr_assert(p->count + count < ROOM);
  memcpy(p->bytes + p->count, bytes, count);
  p->count += count;
  p->within = ravel_int(p->context, 1, &v);
  return ++p->calls <= p->most;
}

static struct printed printed_of(struct ravel_context *c, size_t most) {
  return (struct printed){.context = c, .most = most};
}

static const char loud[] =
    "function loud(n) : int -> int =\n"
    "  let one = print_string(\"<\" ++ @n); two = print_string(\">\") in if one then n else "
    "-1;\n"
    "function worse(n) : int -> int = if loud(n) > 0 then btoi(error(\"no \" ++ @n)) else 0;\n";

static enum ravel_code output_call(struct ravel_context *c, const char *name, int64_t n) {
  struct ravel_function *f = NULL;
  struct ravel_value *v = NULL, *result = NULL;
  fine(c, ravel_find(c, name, NULL, &f));
  fine(c, ravel_int(c, n, &v));
  const enum ravel_code code = ravel_call(c, f, &v, 1, &result);
  ravel_release(result);
  ravel_release(v);
  ravel_function_release(f);
  return code;
}

Test(output, goes_to_the_function_of_the_caller) {
  struct ravel_context *c = context_with(NULL);
  struct printed p = printed_of(c, SIZE_MAX);
  fine(c, ravel_define(c, NULL, loud, 0));
  fine(c, output_call(c, "loud", 1)); /* nowhere */
  ravel_on_output(c, output_take, &p);
  fine(c, output_call(c, "loud", 23));
  fine(c, ravel_define(c, NULL, "x = loud(4);", 0));
  cr_expect_str_eq(p.bytes, "<23><4>");
  cr_expect_eq(p.within, RAVEL_MISUSE);
  fails(c, RAVEL_RUNTIME, "no 5", output_call(c, "worse", 5));
  cr_expect_str_eq(p.bytes, "<23><4><5>ERROR: no 5\n");
  ravel_on_output(c, NULL, NULL);
  fine(c, output_call(c, "loud", 6));
  cr_expect_str_eq(p.bytes, "<23><4><5>ERROR: no 5\n");
  ravel_context_free(c);
}

/* A second execution, which prints nothing, finds the element that failed. */
Test(output, of_a_call_that_fails_comes_once) {
  struct ravel_context *c = context_with(NULL);
  struct printed p = printed_of(c, SIZE_MAX);
  fine(c, ravel_define(c, NULL, loud, 0));
  fine(c, ravel_define(c, NULL,
                       "function each(n) : int -> int =\n"
                       "  let m = loud(n) in sum({[1, 2][i] : i in [0:m]});\n",
                       0));
  ravel_on_output(c, output_take, &p);
  fails(c, RAVEL_RUNTIME, "the element of index 2 failed", output_call(c, "each", 3));
  cr_expect_str_eq(p.bytes, "<3>");
  ravel_context_free(c);
}

Test(output, that_is_not_taken_ends_the_call) {
  struct ravel_context *c = context_with(NULL);
  struct printed p = printed_of(c, 1);
  fine(c, ravel_define(c, NULL, loud, 0));
  ravel_on_output(c, output_take, &p);
  fails(c, RAVEL_DATA, "did not take what the program printed", output_call(c, "loud", 7));
  cr_expect_str_eq(p.bytes, "<7>");
  fails(c, RAVEL_DATA, "did not take", ravel_define(c, NULL, "x = loud(8);", 0));
  p.most = SIZE_MAX;
  fine(c, output_call(c, "loud", 9));
  cr_expect_str_eq(p.bytes, "<7><8<9>");
  ravel_context_free(c);
}

Test(output, of_a_measured_program_goes_nowhere) {
  struct ravel_context *c = context_with(NULL);
  struct printed p = printed_of(c, SIZE_MAX);
  struct ravel_function *f = NULL;
  struct ravel_value *v = NULL;
  struct ravel_costs costs;
  fine(c, ravel_define(c, NULL, loud, 0));
  fine(c, ravel_find(c, "loud", NULL, &f));
  fine(c, ravel_int(c, 2, &v));
  ravel_on_output(c, output_take, &p);
  fine(c, ravel_cost(c, f, &v, 1, &costs));
  cr_expect_eq(p.calls, 0);
  fine(c, output_call(c, "loud", 2));
  cr_expect_str_eq(p.bytes, "<2>");
  ravel_context_free(c);
}

Test(output, goes_to_files) {
  struct ravel_context *c = context_with(NULL);
  FILE *file = tmpfile(), *full = fopen("/dev/full", "w");
  char line[ROOM] = "";
  fine(c, ravel_define(c, NULL, loud, 0));
  ravel_on_output(c, ravel_write_file, file);
  fine(c, output_call(c, "loud", 10));
  rewind(file);
  cr_expect(fgets(line, sizeof line, file));
  cr_expect_str_eq(line, "<10>");
  ravel_on_output(c, ravel_write_file, full);
  fails(c, RAVEL_DATA, "did not take", output_call(c, "loud", 11));
  ravel_context_free(c);
  fclose(file);
  fclose(full);
}
