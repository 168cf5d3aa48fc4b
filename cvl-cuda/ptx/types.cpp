/* types.cpp - see types.hpp. */
#include "cvl-cuda/ptx/types.hpp"

namespace ravel {
namespace ptx {

static const struct {
  const char *name;
  uint8_t bytes;
} facts[TYPES + 1] = {{"b8", 1},  {"b16", 2}, {"b32", 4},  {"b64", 8},
                      {"u8", 1},  {"u16", 2}, {"u32", 4},  {"u64", 8},
                      {"s8", 1},  {"s16", 2}, {"s32", 4},  {"s64", 8},
                      {"f32", 4}, {"f64", 8}, {"pred", 1}, {"no type", 0}};

type type_named(const std::string &name) {
  for (unsigned t = 0; t < TYPES; t++) {
    if (name == facts[t].name) return (type)t;
  }
  return NO_TYPE;
}

const char *type_name(type t) {
  return facts[t].name;
}

unsigned bytes_of(type t) {
  return facts[t].bytes;
}

bool is_signed(type t) {
  return t >= S8 && t <= S64;
}

bool is_float(type t) {
  return t == F32 || t == F64;
}

} // namespace ptx
} // namespace ravel
