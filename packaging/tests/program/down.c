/* down.c - a program that knows an installed libravel alone: sorts by NESL. `down BACKEND` with
 * another back end. */
#include <ravel.h>
#include <ravel/arrow.h>
#include <ravel/dlpack.h>
#include <stdio.h>

static int sort(struct ravel_context *context) {
  const double data[] = {3.0, 1.0, 2.0};
  double result[3];
  struct ravel_function *down = NULL;
  struct ravel_value *row = NULL, *sorted = NULL;
  struct ArrowSchema schema;
  struct ArrowArray array;
  if (ravel_define(context, "down.nesl", "function down(v) = reverse(sort(v));", 0) ||
      ravel_find(context, "down", "[float]", &down) ||
      ravel_vector(context, RAVEL_FLOAT64, data, 3, &row) ||
      ravel_call(context, down, &row, 1, &sorted) ||
      ravel_copy(context, sorted, RAVEL_FLOAT64, 0, 3, result) ||
      ravel_export(context, sorted, &schema, &array)) {
    return 1;
  }
  printf("%s: %g %g %g, of Arrow: %s\n", ravel_version(), result[0], result[1], result[2],
         schema.format);
  schema.release(&schema);
  array.release(&array);
  return 0;
}

int main(int count, char **arguments) {
  struct ravel_options *options = ravel_options_new();
  struct ravel_context *context = NULL;
  int failed = !options ||
               ravel_options_set(options, "backend", count > 1 ? arguments[1] : "cpu") ||
               ravel_context_new(options, &context) || sort(context);
  if (failed) fprintf(stderr, "%s", context ? ravel_message(context) : "no context\n");
  ravel_context_free(context);
  ravel_options_free(options);
  return failed;
}
