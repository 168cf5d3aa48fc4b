// quicksort.cc - the sort of the C++ library, which is an introspective quicksort, on one
// thread.
extern "C" {
#include "baseline.h"
}

#include <algorithm>

void baseline(const struct array *arguments, struct array *results) {
  const integer *const keys = arguments[0].as.i;
  const int64_t n = arguments[0].length;
  integer *const sorted = result(results, 0, ARRAY_INTEGER, n)->as.i;
  std::copy(keys, keys + n, sorted);
  std::sort(sorted, sorted + n);
}
