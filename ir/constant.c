/* constant.c - see constant.h. */
#include "ir/constant.h"
#include "base/map.h"

#include <string.h>

struct cvl_value constant_element(struct widths widths, const struct vcode_constant *c,
                                  uint64_t i) {
  switch (c->type) {
  case TW_FLOAT: return cvl_scalar_float(widths.float_elem, c->as.floats[i]);
  case TW_BOOL: return cvl_scalar_bool(c->as.bools[i]);
  case TW_CHAR: return cvl_scalar_int(widths.int_elem, (unsigned char)c->as.chars[i]);
  case TW_INT:
  case TW_SEGDES:
  case TW_NONE: break;
  }
  return cvl_scalar_int(widths.int_elem, c->as.ints[i]);
}

static size_t constant_element_bytes(const struct vcode_constant *c) {
  switch (c->type) {
  case TW_FLOAT: return c->length * sizeof *c->as.floats;
  case TW_BOOL: return c->length * sizeof *c->as.bools;
  case TW_CHAR: return c->length * sizeof *c->as.chars;
  case TW_INT:
  case TW_SEGDES:
  case TW_NONE: break;
  }
  return c->length * sizeof *c->as.ints;
}

bool constant_same(const struct vcode_constant *a, const struct vcode_constant *b) {
  const size_t bytes = constant_element_bytes(a);
  return a->type == b->type && a->length == b->length &&
         (bytes == 0 || memcmp(a->as.ints, b->as.ints, bytes) == 0);
}

uint64_t constant_hash(const struct vcode_constant *c) {
  enum { MOST = 256 }; /* bytes that count; constants may be long */
  const size_t bytes = constant_element_bytes(c);
  const unsigned char *data = (const unsigned char *)c->as.chars;
  uint64_t h = map_mix((uint64_t)c->type, c->length);
  for (size_t i = 0; i < bytes && i < MOST; i++) h = map_mix(h, data[i]);
  return h;
}
