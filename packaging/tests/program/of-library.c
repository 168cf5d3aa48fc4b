/* A program that calls what `neslc --library order` has made of down.nesl. */
#include "order.h"

#include <inttypes.h>
#include <stdio.h>

int main(void) {
  const int64_t data[] = {3, 1, 2};
  const struct order_vec_i64 numbers = {data, 3};
  struct order_vec_i64 sorted;
  struct ravel_context *context = NULL;
  if (ravel_context_new(NULL, &context) || order_down(context, numbers, &sorted)) {
    printf("%s", context ? ravel_message(context) : "no context");
    return 1;
  }
  for (size_t i = 0; i < sorted.length; i++) printf("%" PRId64 " ", sorted.data[i]);
  order_free_vec_i64(&sorted);
  ravel_context_free(context);
  return 0;
}
