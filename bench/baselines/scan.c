/* scan.c - the exclusive scan of a sum, of integers or of floating-point numbers.
 *
 * In rounds: each thread sums a chunk that its second-level cache holds, and scans it once it
 * knows the sums of the others. So memory is read once. */
/* flags: -fwrapv */
#include "rounds.h"
#include "streaming.h"

#define TYPE integer
#include "scan-typed.h"
#define TYPE real
#include "scan-typed.h"

void baseline(const struct array *arguments, struct array *results) {
  const struct array *x = &arguments[0];
  struct array *y = result(results, 0, x->type, x->length);
  if (x->type == ARRAY_INTEGER)
    scan_integer(x->as.i, y->as.i, x->length);
  else
    scan_real(x->as.r, y->as.r, x->length);
}
