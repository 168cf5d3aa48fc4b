/* primitives.c - the rows of primitives.def as data. */
#include "neslc/types/core.h"

#include <string.h>

#define OPC_NONE OPC_COUNT

const struct primitive_info *primitive_info(enum primitive p) {
  static const struct primitive_info rows[PRIMITIVES] = {
#define PRIMITIVE(id, name, group, opcode, fails, effect, derived, doc)                        \
  {name, PRIMITIVE_##group, OPC_##opcode, PRIMITIVE_##fails, PRIMITIVE_##effect},
#include "neslc/primitives/primitives.def"
  };
  return &rows[p];
}

int primitive_named(const char *name) {
  for (int p = 0; p < PRIMITIVES; p++) {
    if (strcmp(primitive_info((enum primitive)p)->name, name) == 0) return p;
  }
  return -1;
}
