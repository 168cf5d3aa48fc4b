/* ragged-sort.c - as ragged.h says. */
/* scalar: where an element goes depends on the digits of those before it */
#include "ragged.h"

void baseline(const struct array *arguments, struct array *results) {
  integer *const sorted = result(results, 0, ARRAY_INTEGER, arguments[0].length)->as.i;
  sort_rows(&arguments[0], &arguments[1], sorted);
}
