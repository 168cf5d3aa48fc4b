/* prepared.h - superoperators written by hand, for tests. It needs the arena of
 * base/tests/memory.h. */
#ifndef RAVEL_CVL_CPU_TESTS_PREPARED_H
#define RAVEL_CVL_CPU_TESTS_PREPARED_H

#include "base/tests/memory.h"
#include "cvl-cpu/cvl-cpu.h"
#include "cvl/superop.h"

/* Returns the kernel of op, which is completed and must be valid. The caller drops it. */
static inline struct cvl_kernel *prepared(struct cvl_context *c, struct superop *op) {
  const char *why;
  uint32_t node;
  cr_assert(superop_complete(&arena, op, &why, &node), "node %u: %s", node, why);
  struct cvl_kernel *k = cvl_cpu_backend.superops->prepare(c, op);
  cr_assert_not_null(k);
  return k;
}

#endif
