/* types.hpp - the fundamental types of PTX (PTX ISA, "Fundamental Types"), and errors. */
#ifndef RAVEL_PTX_TYPES_HPP
#define RAVEL_PTX_TYPES_HPP

#include <stdint.h>

#include <stdexcept>
#include <string>

namespace ravel {
namespace ptx {

enum type : uint8_t {
  B8,
  B16,
  B32,
  B64,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F32,
  F64,
  PRED,
  NO_TYPE
};
enum { TYPES = NO_TYPE };

/* A set of types: bit t for type t. */
typedef uint32_t type_set;
constexpr type_set only(type t) {
  return (type_set)1 << t;
}
template <class... T> constexpr type_set only(type t, T... others) {
  return only(t) | only(others...);
}
enum : type_set {
  BITS = only(B8, B16, B32, B64),
  WORDS = only(B16, B32, B64), /* widths that registers may hold, as bits */
  UNSIGNED = only(U16, U32, U64),
  SIGNED = only(S16, S32, S64),
  INTEGERS = UNSIGNED | SIGNED,
  FLOATS = only(F32, F64),
  ALL_VALUES = BITS | INTEGERS | FLOATS | only(U8, S8),
};

/* Returns the type of a name without its dot, such as u32; NO_TYPE if it is none. */
type type_named(const std::string &name);
const char *type_name(type);
/* Returns the bytes of a value in memory. A predicate has none; as a parameter it takes one
 * byte. */
unsigned bytes_of(type);
bool is_signed(type);
bool is_float(type);

/* An error in a module, or of a kernel that runs, in words for a person. */
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace ptx
} // namespace ravel
#endif
