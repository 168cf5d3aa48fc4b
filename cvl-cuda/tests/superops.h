/* superops.h - makes superoperators from a text, for tests. */
#ifndef RAVEL_CUDA_TESTS_SUPEROPS_H
#define RAVEL_CUDA_TESTS_SUPEROPS_H

#include "cvl/superop.h"
#include "vcode/vcode.h"

struct superops {
  unsigned count;
  const struct superop **ops;
};

/* Reads definitions in the notation of FCODE files. If they are wrong, it says why and ends the
 * process. The caller owns the result. */
struct superops *superops_load_in(struct widths, const char *text);
struct superops *superops_load(const char *text); /* 64-bit INT and FLOAT */
void superops_free(struct superops *);

#endif
