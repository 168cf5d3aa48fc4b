/* barnes-hut.c - Barnes-Hut in the plane. */
/* scalar: each body takes its own way through the tree, to leaves of a few bodies */
#include <stdint.h>

enum { DIMENSIONS = 2, LEVELS = 15 };

/* The bits of i with one zero between them. */
static uint32_t spread(uint32_t i) {
  i = (i | i << 8) & 0x00ff00ff;
  i = (i | i << 4) & 0x0f0f0f0f;
  i = (i | i << 2) & 0x33333333;
  return (i | i << 1) & 0x55555555;
}

#include "barnes-hut.h"
