/* superop-copy.c - superoperators of copies: which nodes they consist of. */
#include "cvl/superop.h"

static bool copies(uint32_t op) {
  switch (op) {
  case OPC_CONST:
  case OPC_DIST:
  case OPC_INDEX:
  case OPC_BPERMUTE:
  case OPC_PERMUTE:
  case OPC_DPERMUTE:
  case OPC_FPERMUTE: return true;
  default: return false;
  }
}

bool superop_may_copy(const struct superop *op) {
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (!copies(op->nodes[k].op)) return false;
  }
  return op->node_count > 0;
}
