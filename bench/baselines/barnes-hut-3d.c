/* barnes-hut-3d.c - Barnes-Hut in space. */
/* scalar: each body takes its own way through the tree, to leaves of a few bodies */
#include <stdint.h>

enum { DIMENSIONS = 3, LEVELS = 10 };

/* The bits of i with two zeros between them. */
static uint32_t spread(uint32_t i) {
  i = (i | i << 16) & 0x030000ff;
  i = (i | i << 8) & 0x0300f00f;
  i = (i | i << 4) & 0x030c30c3;
  return (i | i << 2) & 0x09249249;
}

#include "barnes-hut.h"
