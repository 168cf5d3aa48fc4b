/* opcodes.cpp - the handlers of instructions, and the handler that each opcode gets.
 *
 * opcodes.def is the table of meanings. Here it becomes a row of handlers for each opcode, one
 * for each type. Opcodes that access memory, convert, or exchange values between lanes follow
 * below, each with its own functions.
 */
#include <math.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "cvl-cuda/ptx/executor.hpp"
#include "cvl-cuda/ptx/form.hpp"

namespace ravel {
namespace ptx {
namespace {

/* ---- functions that the table's meanings use ---- */

template <class T> struct wider;
template <> struct wider<uint16_t> { typedef uint32_t type; };
template <> struct wider<int16_t> { typedef int32_t type; };
template <> struct wider<uint32_t> { typedef uint64_t type; };
template <> struct wider<int32_t> { typedef int64_t type; };

template <class T> typename std::make_unsigned<T>::type U(T x) {
  return (typename std::make_unsigned<T>::type)x;
}
#define BITS_OF(T)   (8 * sizeof(T))
#define UNLIKE(x, y) ((x) != (x) || (y) != (y))

template <class T> T high_half(T x, T y) {
  if (sizeof(T) < 8) return (T)((int64_t)x * (int64_t)y >> BITS_OF(T) % 64);
  __extension__ typedef __int128 wide_signed;
  __extension__ typedef unsigned __int128 wide_unsigned;
  if (std::is_signed<T>::value) return (T)((wide_signed)x * (wide_signed)y >> 64);
  return (T)((wide_unsigned)x * (wide_unsigned)y >> 64);
}
template <> uint32_t high_half(uint32_t x, uint32_t y) {
  return (uint32_t)((uint64_t)x * y >> 32);
}
template <class T> T divide(T x, T y) {
  if (y == 0) return (T) ~(T)0;
  if (std::is_signed<T>::value && y == (T) ~(T)0) return (T)(0 - U(x));
  return (T)(x / y);
}
template <class T> T remainder_of(T x, T y) {
  if (y == 0) return (T) ~(T)0;
  if (std::is_signed<T>::value && y == (T) ~(T)0) return 0;
  return (T)(x % y);
}
/* Prefers a number to a NaN, and -0 to +0. */
template <class T> T least(T x, T y) {
  if (x != x) return y;
  if (y != y) return x;
  if (x == y) return std::signbit(x) ? x : y;
  return x < y ? x : y;
}
template <class T> T reversed_bits(T x) {
  T r = 0;
  for (unsigned k = 0; k < BITS_OF(T); k++) r = (T)(r << 1 | (x >> k & 1));
  return r;
}
uint32_t bit_mask(uint32_t first, uint32_t count) {
  if (first >= 32 || count == 0) return 0;
  return (count >= 32 ? ~0u : (1u << count) - 1) << first;
}
uint32_t permuted_bytes(uint32_t x, uint32_t y, uint32_t selectors) {
  const uint64_t bytes = (uint64_t)y << 32 | x;
  uint32_t r = 0;
  for (unsigned k = 0; k < 4; k++) {
    const unsigned selector = selectors >> 4 * k & 15;
    uint32_t b = (uint32_t)(bytes >> 8 * (selector & 7)) & 255;
    if (selector & 8) b = b & 128 ? 255 : 0; /* the sign in all bits */
    r |= b << 8 * k;
  }
  return r;
}

/* ---- the shapes of the table, as handlers ---- */

template <class T, class F> void one(const instruction &i, executor &x, lanes l) {
  T *r = x.lane<T>(i.d);
  const T *a = x.lane<T>(i.a);
  for_lanes(l, [=](unsigned k) { r[k] = F::of(a[k]); });
}
template <class T, class F> void two(const instruction &i, executor &x, lanes l) {
  T *r = x.lane<T>(i.d);
  const T *a = x.lane<T>(i.a), *b = x.lane<T>(i.b);
  for_lanes(l, [=](unsigned k) { r[k] = F::of(a[k], b[k]); });
}
template <class T, class F> void three(const instruction &i, executor &x, lanes l) {
  T *r = x.lane<T>(i.d);
  const T *a = x.lane<T>(i.a), *b = x.lane<T>(i.b), *c = x.lane<T>(i.c);
  for_lanes(l, [=](unsigned k) { r[k] = F::of(a[k], b[k], c[k]); });
}
template <class T, class F> void shift(const instruction &i, executor &x, lanes l) {
  T *r = x.lane<T>(i.d);
  const T *a = x.lane<T>(i.a);
  const uint32_t *b = x.lane<uint32_t>(i.b);
  for_lanes(l, [=](unsigned k) { r[k] = F::of(a[k], b[k]); });
}
template <class T, class F> void wide(const instruction &i, executor &x, lanes l) {
  typedef typename wider<T>::type W;
  W *r = x.lane<W>(i.d);
  const T *a = x.lane<T>(i.a), *b = x.lane<T>(i.b);
  const W *c = x.lane<W>(i.c.at == NO_REGISTER ? i.d : i.c);
  for_lanes(l, [=](unsigned k) { r[k] = F::of(a[k], b[k], c[k]); });
}
template <class T, class F> void compare(const instruction &i, executor &x, lanes l) {
  const T *a = x.lane<T>(i.a), *b = x.lane<T>(i.b);
  lanes p = 0;
  for_lanes(l, [&](unsigned k) { p |= (lanes)F::of(a[k], b[k]) << k; });
  lanes &r = x.predicate(i.d);
  r = (r & ~l) | p;
}

/* The meaning of each row, as a type with a function `of`. */
#define ONE(ID, NAME, TYPES, CLASS, R)                                                         \
  struct ID {                                                                                  \
    template <class T> static T of(T x) { return R; }                                          \
  };
#define TWO(ID, NAME, TYPES, CLASS, R)                                                         \
  struct ID {                                                                                  \
    template <class T> static T of(T x, T y) { return R; }                                     \
  };
#define THREE(ID, NAME, TYPES, CLASS, R)                                                       \
  struct ID {                                                                                  \
    template <class T> static T of(T x, T y, T z) { return R; }                                \
  };
#define SHIFT(ID, NAME, TYPES, R)                                                              \
  struct ID {                                                                                  \
    template <class T> static T of(T x, uint32_t n) { return R; }                              \
  };
#define WIDE(ID, NAME, TYPES, CLASS, R)                                                        \
  struct ID {                                                                                  \
    template <class T, class W> static W of(T x, T y, [[maybe_unused]] W z) { return R; }      \
  };
#define COMPARE(ID, NAME, TYPES, P)                                                            \
  struct ID {                                                                                  \
    template <class T> static bool of(T x, T y) { return P; }                                  \
  };
#include "cvl-cuda/ptx/opcodes.def"

/* ---- rows ---- */

enum shape : uint8_t { ONE_OPERAND, TWO_OPERANDS, THREE_OPERANDS, SHIFTED, WIDER, COMPARED };

struct row {
  const char *name;
  shape operands;
  instruction_class counted;
  type_set types;
  handler of[TYPES];
};

/* Gives H<T, F> for each type of a set. Types outside of it are not even compiled. */
template <type_set SET, type T> constexpr bool in = (SET & only(T)) != 0;
#define RAVEL_PTX_TYPED(SHAPE)                                                                 \
  template <class F, type_set SET> struct typed_##SHAPE {                                      \
    template <class T, type NAME> static handler pick() {                                      \
      if constexpr (in<SET, NAME>) return SHAPE<T, F>;                                         \
      return nullptr;                                                                          \
    }                                                                                          \
    static void fill(handler *h) {                                                             \
      h[B16] = pick<uint16_t, B16>();                                                          \
      h[B32] = pick<uint32_t, B32>();                                                          \
      h[B64] = pick<uint64_t, B64>();                                                          \
      h[U16] = pick<uint16_t, U16>();                                                          \
      h[U32] = pick<uint32_t, U32>();                                                          \
      h[U64] = pick<uint64_t, U64>();                                                          \
      h[S16] = pick<int16_t, S16>();                                                           \
      h[S32] = pick<int32_t, S32>();                                                           \
      h[S64] = pick<int64_t, S64>();                                                           \
      h[F32] = pick<float, F32>();                                                             \
      h[F64] = pick<double, F64>();                                                            \
    }                                                                                          \
  };
RAVEL_PTX_TYPED(one)
RAVEL_PTX_TYPED(two)
RAVEL_PTX_TYPED(three)
RAVEL_PTX_TYPED(shift)
RAVEL_PTX_TYPED(wide)
RAVEL_PTX_TYPED(compare)

template <class FILL>
row make_row(const char *name, shape s, instruction_class c, type_set types) {
  row r{name, s, c, types, {}};
  FILL::fill(r.of);
  return r;
}

const std::vector<row> &rows() {
  static const std::vector<row> all = {
#define ONE(ID, NAME, SET, CLASS, R)                                                           \
  make_row<typed_one<ID, SET>>(NAME, ONE_OPERAND, CLASS, SET),
#define TWO(ID, NAME, SET, CLASS, R)                                                           \
  make_row<typed_two<ID, SET>>(NAME, TWO_OPERANDS, CLASS, SET),
#define THREE(ID, NAME, SET, CLASS, R)                                                         \
  make_row<typed_three<ID, SET>>(NAME, THREE_OPERANDS, CLASS, SET),
#define SHIFT(ID, NAME, SET, R)                                                                \
  make_row<typed_shift<ID, SET>>(NAME, SHIFTED, ARITHMETIC_INT, SET),
#define WIDE(ID, NAME, SET, CLASS, R) make_row<typed_wide<ID, SET>>(NAME, WIDER, CLASS, SET),
#define COMPARE(ID, NAME, SET, P)                                                              \
  make_row<typed_compare<ID, SET>>(NAME, COMPARED, ARITHMETIC_INT, SET),
#include "cvl-cuda/ptx/opcodes.def"
  };
  return all;
}

/* Returns the name without the modifiers that say how floats are rounded. To the nearest is the
 * only way here; div, rcp and sqrt may also be approximate. */
std::string without_rounding(const form &f) {
  std::string name = f.base();
  const bool near = name == "div" || name == "rcp" || name == "sqrt";
  for (size_t k = 1; k < f.s.opcode.size(); k++) {
    const std::string &m = f.s.opcode[k];
    if (type_named(m) != NO_TYPE || m == "rn" || m == "ftz") continue;
    if (near && (m == "approx" || m == "full")) continue;
    name += "." + m;
  }
  return name;
}

const row *find_row(const form &f) {
  const type t = f.last();
  const std::string name = is_float(t) ? without_rounding(f) : f.name;
  for (const row &r : rows()) {
    if (name == r.name && t != NO_TYPE && t != PRED && r.of[t]) return &r;
  }
  return nullptr;
}

instruction_class of_type(instruction_class c, type t) {
  return t == F64 ? ARITHMETIC_F64 : t == F32 ? ARITHMETIC_F32 : c;
}

void encode_row(const row &r, const form &f, operand_source &o, instruction &i) {
  static const uint8_t operands[] = {2, 3, 4, 3, 3, 3};
  const type t = f.last();
  const bool accumulates = r.operands == WIDER && f.base() == "mad";
  f.want(operands[r.operands] + accumulates);
  i.run = r.of[t];
  i.counted = of_type(r.counted, t);
  i.d = o.result(f.operand(0));
  i.a = o.value(f.operand(1), t);
  if (f.s.operands.size() > 2) i.b = o.value(f.operand(2), r.operands == SHIFTED ? U32 : t);
  if (f.s.operands.size() > 3) {
    i.c = o.value(f.operand(3), accumulates ? (bytes_of(t) == 2 ? B32 : B64) : t);
  }
}

/* ---- predicates ---- */

enum predicate_operation { AND, OR, XOR, NOT };
template <predicate_operation OP>
void of_predicates(const instruction &i, executor &x, lanes l) {
  const lanes a = x.predicate(i.a), b = OP == NOT ? 0 : x.predicate(i.b);
  const lanes v = OP == AND ? a & b : OP == OR ? a | b : OP == XOR ? a ^ b : ~a;
  lanes &r = x.predicate(i.d);
  r = (r & ~l) | (v & l);
}
void move_predicate(const instruction &i, executor &x, lanes l) {
  const lanes v = x.predicate(i.a);
  lanes &r = x.predicate(i.d);
  r = (r & ~l) | (v & l);
}

bool encode_predicates(const form &f, operand_source &o, instruction &i) {
  if (f.last() != PRED || f.types.size() != 1 || f.s.opcode.size() != 2) return false;
  const std::string &n = f.base();
  i.run = n == "and"   ? of_predicates<AND>
          : n == "or"  ? of_predicates<OR>
          : n == "xor" ? of_predicates<XOR>
          : n == "not" ? of_predicates<NOT>
          : n == "mov" ? move_predicate
                       : nullptr;
  if (i.run == nullptr) return false;
  const bool one_operand = n == "not" || n == "mov";
  f.want(one_operand ? 2 : 3);
  i.d = o.result(f.operand(0));
  i.a = o.value(f.operand(1), PRED);
  if (!one_operand) i.b = o.value(f.operand(2), PRED);
  return true;
}

/* ---- moves, selections, conversions ---- */

template <class T> void move(const instruction &i, executor &x, lanes l) {
  T *r = x.lane<T>(i.d);
  const T *a = x.lane<T>(i.a);
  for_lanes(l, [=](unsigned k) { r[k] = a[k]; });
}
template <class T> void select(const instruction &i, executor &x, lanes l) {
  T *r = x.lane<T>(i.d);
  const T *a = x.lane<T>(i.a), *b = x.lane<T>(i.b);
  const lanes p = x.predicate(i.c);
  for_lanes(l, [=](unsigned k) { r[k] = p >> k & 1 ? a[k] : b[k]; });
}
/* Gives the handler for registers as bits. */
template <template <class> class H> handler by_width(unsigned bytes) {
  return bytes == 2   ? H<uint16_t>::run
         : bytes == 4 ? H<uint32_t>::run
         : bytes == 8 ? H<uint64_t>::run
                      : (handler) nullptr;
}
template <class T> struct moving {
  static void run(const instruction &i, executor &x, lanes l) { move<T>(i, x, l); }
};
template <class T> struct selecting {
  static void run(const instruction &i, executor &x, lanes l) { select<T>(i, x, l); }
};

/* Makes one value of {a, b}; unpack does the reverse. */
void pack(const instruction &i, executor &x, lanes l) {
  for_lanes(l, [&](unsigned k) {
    uint64_t v = 0;
    for (unsigned e = i.count; e-- > 0;) {
      uint64_t element = 0;
      memcpy(&element, x.registers + i.elements[e].at + k * i.elements[e].stride, i.bytes);
      v = v << 8 * i.bytes % 64 | element;
    }
    write_wide(x.registers, i.d, k, v);
  });
}
void unpack(const instruction &i, executor &x, lanes l) {
  for_lanes(l, [&](unsigned k) {
    uint64_t v = 0;
    memcpy(&v, x.registers + i.a.at + k * i.a.stride, (size_t)i.bytes * i.count);
    for (unsigned e = 0; e < i.count; e++, v >>= 8 * i.bytes % 64) {
      write_wide(x.registers, i.elements[e], k, v);
    }
  });
}

type bits_of_size(unsigned bytes) {
  return bytes == 1 ? B8 : bytes == 2 ? B16 : bytes == 4 ? B32 : B64;
}

void encode_packed(const form &f, operand_source &o, instruction &i, bool packs) {
  const operand_text &many = f.operand(packs ? 1 : 0);
  i.count = (uint8_t)many.elements.size();
  i.bytes = (uint8_t)(bytes_of(f.last()) / std::max<size_t>(1, i.count));
  if (i.count < 2 || i.count > 4 || i.bytes == 0) f.refuse("this vector is not understood in");
  for (unsigned k = 0; k < i.count; k++) {
    i.elements[k] =
        packs ? o.value(many.elements[k], bits_of_size(i.bytes)) : o.result(many.elements[k]);
  }
  if (packs) {
    i.d = o.result(f.operand(0));
  } else {
    i.a = o.value(f.operand(1), f.last());
  }
  i.run = packs ? pack : unpack;
}

/* Reads the timer. Other read-only registers do not change while a thread runs. */
void read_timer(const instruction &i, executor &x, lanes l) {
  const uint64_t now = x.time();
  for_lanes(l, [&](unsigned k) { write_wide(x.registers, i.d, k, now); });
}

void encode_move(const form &f, operand_source &o, instruction &i) {
  f.want(2);
  i.counted = MOVE;
  if (f.operand(0).kind == operand_text::VECTOR) return encode_packed(f, o, i, false);
  if (f.operand(1).kind == operand_text::VECTOR) return encode_packed(f, o, i, true);
  i.d = o.result(f.operand(0));
  if (f.operand(1).kind == operand_text::NAME && f.operand(1).name == "%globaltimer") {
    i.run = read_timer;
    return;
  }
  i.a = o.value(f.operand(1), f.last());
  i.run = by_width<moving>(std::max(2u, bytes_of(f.last())));
}

/* Generic addresses are those of global memory, or lie in the window of shared memory. */
template <bool TO_GENERIC> void shared_address(const instruction &i, executor &x, lanes l) {
  for_lanes(l, [&](unsigned k) {
    const uint64_t window = TO_GENERIC ? SHARED_WINDOW : (uint64_t)0 - SHARED_WINDOW;
    write_wide(x.registers, i.d, k, read_as<uint64_t>(x.registers, i.a, k) + window);
  });
}
void encode_cvta(const form &f, operand_source &o, instruction &i) {
  f.only_modifiers({"to", "global", "const", "shared"});
  if (f.last() != U64) f.refuse();
  encode_move(f, o, i);
  if (f.has("shared")) i.run = f.has("to") ? shared_address<false> : shared_address<true>;
}

void encode_selp(const form &f, operand_source &o, instruction &i) {
  f.want(4);
  f.only_modifiers({});
  i.counted = MOVE;
  i.d = o.result(f.operand(0));
  i.a = o.value(f.operand(1), f.last());
  i.b = o.value(f.operand(2), f.last());
  i.c = o.value(f.operand(3), PRED);
  i.run = by_width<selecting>(bytes_of(f.last()));
}

/* How a float is rounded to the next integer: from float to integer and from float to float. */
enum rounding { NEAREST, TO_ZERO, DOWN, UP };
template <class T> T round_to(rounding r, T x) {
  return r == NEAREST   ? std::nearbyint(x)
         : r == TO_ZERO ? std::trunc(x)
         : r == DOWN    ? std::floor(x)
                        : std::ceil(x);
}

template <class D, class S> uint64_t saturated(S x) {
  typedef typename std::make_unsigned<D>::type unsigned_type;
  const bool long_operand = sizeof(D) == 8 || sizeof(S) == 8;
  if (x != x) return long_operand ? (uint64_t)1 << (BITS_OF(D) - 1) : 0;
  const double limit = std::ldexp(1.0, (int)BITS_OF(D) - (std::is_signed<D>::value ? 1 : 0));
  const D most = (D)(unsigned_type) ~(unsigned_type)0;
  if (std::is_signed<D>::value) {
    const uint64_t top = ((uint64_t)1 << (BITS_OF(D) - 1)) - 1;
    if ((double)x >= limit) return top;
    if ((double)x < -limit) return (uint64_t)(int64_t)(D)(unsigned_type)(top + 1);
    return (uint64_t)(int64_t)x;
  }
  if ((double)x >= limit) return (uint64_t)most;
  return x <= 0 ? 0 : (uint64_t)x;
}

/* Converts an S to a D; `count` has the rounding of a float. */
template <class D, class S> uint64_t converted(const instruction &i, S x) {
  if constexpr (std::is_floating_point<D>::value) {
    D r = (D)x;
    if constexpr (std::is_floating_point<S>::value) {
      if (i.count) r = (D)round_to((rounding)(i.count - 1), x);
    }
    uint64_t bits = 0;
    memcpy(&bits, &r, sizeof r);
    return bits;
  } else if constexpr (std::is_floating_point<S>::value) {
    return saturated<D>(round_to((rounding)(i.count - 1), x));
  } else {
    return (uint64_t)(int64_t)(D)x;
  }
}
template <class D, class S> void convert(const instruction &i, executor &x, lanes l) {
  for_lanes(l, [&](unsigned k) {
    write_wide(x.registers, i.d, k, converted<D>(i, read_as<S>(x.registers, i.a, k)));
  });
}
template <class D> handler convert_from(type s) {
  switch (s) {
  case U8:
  case B8: return convert<D, uint8_t>;
  case U16:
  case B16: return convert<D, uint16_t>;
  case U32:
  case B32: return convert<D, uint32_t>;
  case U64:
  case B64: return convert<D, uint64_t>;
  case S8: return convert<D, int8_t>;
  case S16: return convert<D, int16_t>;
  case S32: return convert<D, int32_t>;
  case S64: return convert<D, int64_t>;
  case F32: return convert<D, float>;
  case F64: return convert<D, double>;
  default: return nullptr;
  }
}
handler conversion(type d, type s) {
  switch (d) {
  case U8:
  case B8: return convert_from<uint8_t>(s);
  case U16:
  case B16: return convert_from<uint16_t>(s);
  case U32:
  case B32: return convert_from<uint32_t>(s);
  case U64:
  case B64: return convert_from<uint64_t>(s);
  case S8: return convert_from<int8_t>(s);
  case S16: return convert_from<int16_t>(s);
  case S32: return convert_from<int32_t>(s);
  case S64: return convert_from<int64_t>(s);
  case F32: return convert_from<float>(s);
  case F64: return convert_from<double>(s);
  default: return nullptr;
  }
}

void encode_convert(const form &f, operand_source &o, instruction &i) {
  f.want(2);
  f.only_modifiers({"rn", "rni", "rzi", "rmi", "rpi"});
  if (f.types.size() != 2) f.refuse();
  const type d = f.types[0], s = f.types[1];
  static const char *const names[] = {"rni", "rzi", "rmi", "rpi"};
  i.count = 0;
  for (uint8_t k = 0; k < 4; k++) {
    if (f.has(names[k])) i.count = (uint8_t)(k + 1);
  }
  if (is_float(s) && !is_float(d) && i.count == 0) f.refuse();
  i.counted = CONVERSION;
  i.d = o.result(f.operand(0));
  i.a = o.value(f.operand(1), s);
  i.run = conversion(d, s);
}

/* ---- results with more or fewer bits than the operand's type ---- */

template <class T> void count_ones(const instruction &i, executor &x, lanes l) {
  for_lanes(l, [&](unsigned k) {
    const T v = read_as<T>(x.registers, i.a, k);
    x.lane<uint32_t>(i.d)[k] = (uint32_t)__builtin_popcountll(v);
  });
}
template <class T> void leading_zeros(const instruction &i, executor &x, lanes l) {
  for_lanes(l, [&](unsigned k) {
    const uint64_t v = read_as<T>(x.registers, i.a, k);
    const uint32_t zeros = v ? (uint32_t)__builtin_clzll(v) : 64;
    x.lane<uint32_t>(i.d)[k] = zeros - (64 - (uint32_t)BITS_OF(T));
  });
}
/* Gives the position of the highest bit that differs from the sign; all ones if there is
 * none. */
template <class T> void highest_bit(const instruction &i, executor &x, lanes l) {
  for_lanes(l, [&](unsigned k) {
    T v = read_as<T>(x.registers, i.a, k);
    if (v < 0) v = (T)~v;
    const uint32_t at = v ? 63 - (uint32_t)__builtin_clzll((uint64_t)v) : ~0u;
    x.lane<uint32_t>(i.d)[k] = at;
  });
}
template <class T> void insert_field(const instruction &i, executor &x, lanes l) {
  for_lanes(l, [&](unsigned k) {
    const T from = x.lane<T>(i.a)[k], into = x.lane<T>(i.b)[k];
    const uint32_t at = x.lane<uint32_t>(i.c)[k] & 255, size = x.lane<uint32_t>(i.e)[k] & 255;
    T mask = size >= BITS_OF(T) ? (T) ~(T)0 : (T)(((T)1 << size) - 1);
    mask = at >= BITS_OF(T) ? (T)0 : (T)(mask << at);
    const T moved = at >= BITS_OF(T) ? (T)0 : (T)(from << at);
    x.lane<T>(i.d)[k] = (T)((into & ~mask) | (moved & mask));
  });
}
/* Above the field come zeros, or copies of its highest bit; or copies of the operand's highest
 * bit if the field reaches beyond the operand. */
template <class T> void extract_field(const instruction &i, executor &x, lanes l) {
  for_lanes(l, [&](unsigned k) {
    const T v = x.lane<T>(i.a)[k];
    const uint32_t at = x.lane<uint32_t>(i.b)[k] & 255, size = x.lane<uint32_t>(i.c)[k] & 255;
    const uint32_t top = std::min(at + size - 1, (uint32_t)BITS_OF(T) - 1);
    const bool sign = std::is_signed<T>::value && size && (U(v) >> top & 1);
    T r = sign ? (T) ~(T)0 : 0;
    for (uint32_t b = 0; b < size && b < BITS_OF(T); b++) {
      const bool bit = at + b <= top ? U(v) >> (at + b) & 1 : sign;
      r = (T)((U(r) & ~((decltype(U(r)))1 << b)) | (decltype(U(r)))bit << b);
    }
    x.lane<T>(i.d)[k] = r;
  });
}
void three_input_logic(const instruction &i, executor &x, lanes l) {
  for_lanes(l, [&](unsigned k) {
    const uint32_t a = x.lane<uint32_t>(i.a)[k], b = x.lane<uint32_t>(i.b)[k],
                   c = x.lane<uint32_t>(i.c)[k], table = x.lane<uint32_t>(i.e)[k];
    uint32_t r = 0;
    for (unsigned bit = 0; bit < 32; bit++) {
      const unsigned row = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | (c >> bit & 1);
      r |= (table >> row & 1) << bit;
    }
    x.lane<uint32_t>(i.d)[k] = r;
  });
}

struct bit_row {
  const char *name;
  type of;
  handler run;
  uint8_t operands; /* operands of its type; those of u32 follow */
  uint8_t counts;
};
const bit_row bit_rows[] = {
    {"popc", B32, count_ones<uint32_t>, 1, 0},   {"popc", B64, count_ones<uint64_t>, 1, 0},
    {"clz", B32, leading_zeros<uint32_t>, 1, 0}, {"clz", B64, leading_zeros<uint64_t>, 1, 0},
    {"bfind", U32, highest_bit<uint32_t>, 1, 0}, {"bfind", U64, highest_bit<uint64_t>, 1, 0},
    {"bfind", S32, highest_bit<int32_t>, 1, 0},  {"bfind", S64, highest_bit<int64_t>, 1, 0},
    {"bfi", B32, insert_field<uint32_t>, 2, 2},  {"bfi", B64, insert_field<uint64_t>, 2, 2},
    {"bfe", U32, extract_field<uint32_t>, 1, 2}, {"bfe", U64, extract_field<uint64_t>, 1, 2},
    {"bfe", S32, extract_field<int32_t>, 1, 2},  {"bfe", S64, extract_field<int64_t>, 1, 2},
    {"lop3", B32, three_input_logic, 3, 1},
};

bool encode_bits(const form &f, operand_source &o, instruction &i) {
  for (const bit_row &r : bit_rows) {
    if (f.name != r.name || f.last() != r.of || f.types.size() != 1) continue;
    f.want(1u + r.operands + r.counts);
    slot *const to[] = {&i.a, &i.b, &i.c, &i.e};
    i.d = o.result(f.operand(0));
    for (unsigned k = 0; k < (unsigned)r.operands + r.counts; k++) {
      *to[k] = o.value(f.operand(k + 1), k < r.operands ? r.of : U32);
    }
    i.run = r.run;
    return true;
  }
  return false;
}

/* ---- carries ---- */

enum { USES_CARRY = 1, SETS_CARRY = 2, SUBTRACTS = 4 };

/* Computes x + y + carry, or x - y - borrow. The carry bit is kept for each lane. */
template <class T, int HOW> void with_carry(const instruction &i, executor &x, lanes l) {
  for_lanes(l, [&](unsigned k) {
    const T a = x.lane<T>(i.a)[k], b = x.lane<T>(i.b)[k];
    const T in = HOW & USES_CARRY ? (T)(x.carry >> k & 1) : 0;
    const T without = HOW & SUBTRACTS ? (T)(a - b) : (T)(a + b);
    const T r = HOW & SUBTRACTS ? (T)(without - in) : (T)(without + in);
    const bool out = HOW & SUBTRACTS ? a < b || without < in : without < a || r < without;
    x.lane<T>(i.d)[k] = r;
    if (HOW & SETS_CARRY) x.carry = (x.carry & ~((lanes)1 << k)) | (lanes)out << k;
  });
}
template <class T> handler carry_handler(int how) {
  switch (how) {
  case SETS_CARRY: return with_carry<T, SETS_CARRY>;
  case USES_CARRY: return with_carry<T, USES_CARRY>;
  case USES_CARRY | SETS_CARRY: return with_carry<T, USES_CARRY | SETS_CARRY>;
  case SUBTRACTS | SETS_CARRY: return with_carry<T, SUBTRACTS | SETS_CARRY>;
  case SUBTRACTS | USES_CARRY: return with_carry<T, SUBTRACTS | USES_CARRY>;
  case SUBTRACTS | USES_CARRY | SETS_CARRY:
    return with_carry<T, SUBTRACTS | USES_CARRY | SETS_CARRY>;
  default: return nullptr;
  }
}
bool encode_carry(const form &f, operand_source &o, instruction &i) {
  const std::string &n = f.base();
  const bool subtracts = n == "sub" || n == "subc", uses = n == "addc" || n == "subc";
  if (!(uses || ((n == "add" || n == "sub") && f.has("cc")))) return false;
  f.only_modifiers({"cc"});
  f.want(3);
  const int how =
      (uses ? USES_CARRY : 0) | (f.has("cc") ? SETS_CARRY : 0) | (subtracts ? SUBTRACTS : 0);
  const unsigned bytes = bytes_of(f.last());
  i.run = bytes == 4   ? carry_handler<uint32_t>(how)
          : bytes == 8 ? carry_handler<uint64_t>(how)
                       : nullptr;
  i.d = o.result(f.operand(0));
  i.a = o.value(f.operand(1), f.last());
  i.b = o.value(f.operand(2), f.last());
  return i.run != nullptr;
}

/* ---- memory ---- */

/* T is the type of an element in memory. */
template <class T> void load(const instruction &i, executor &x, lanes l) {
  for_lanes(l, [&](unsigned k) {
    const uint8_t *from =
        x.reach(i, k, x.address_of(i, k), (unsigned)sizeof(T) * i.count, READ);
    for (unsigned e = 0; e < i.count; e++) {
      T v;
      memcpy(&v, from + e * sizeof v, sizeof v);
      write_wide(x.registers, i.elements[e], k, (uint64_t)(int64_t)v);
    }
  });
}
template <class T> void store_lane(const instruction &i, executor &x, unsigned k) {
  uint8_t *to = x.reach(i, k, x.address_of(i, k), (unsigned)sizeof(T) * i.count, WRITE);
  for (unsigned e = 0; e < i.count; e++) {
    const T v = read_as<T>(x.registers, i.elements[e], k);
    memcpy(to + e * sizeof v, &v, sizeof v);
  }
}
/* Calls f for each lane, in an order that the scheduler chooses. */
template <class F> void in_some_order(executor &x, lanes l, F f) {
  const unsigned first = x.first_lane();
  for_lanes(l >> first << first, f);
  if (first) for_lanes(l & (((lanes)1 << first) - 1), f);
}
template <class T> void store(const instruction &i, executor &x, lanes l) {
  in_some_order(x, l, [&](unsigned k) { store_lane<T>(i, x, k); });
}

/* Sets the space of `st.shared` and the like. Without a space, the address is generic. */
void space_of(const form &f, instruction &i) {
  static const struct {
    const char *name;
    space of;
  } spaces[] = {{"global", GLOBAL},
                {"const", GLOBAL},
                {"shared", SHARED},
                {"param", PARAM},
                {"local", LOCAL}};
  i.where = GENERIC;
  for (const auto &s : spaces) {
    if (f.has(s.name)) i.where = s.of;
  }
}

void order_and_scope(const form &f, instruction &i) {
  if (f.has("volatile")) {
    i.order = RELAXED;
    i.within = SYSTEM_SCOPE;
  }
  if (f.has("relaxed")) i.order = RELAXED;
  if (f.has("acquire")) i.order = ACQUIRE;
  if (f.has("release")) i.order = RELEASE;
  if (f.has("acq_rel")) i.order = ACQUIRE_RELEASE;
  if (f.has("cta")) i.within = BLOCK_SCOPE;
  if (f.has("gpu")) i.within = DEVICE_SCOPE;
  if (f.has("sys")) i.within = SYSTEM_SCOPE;
}

void elements_of(const form &f, const operand_text &t, operand_source &o, instruction &i,
                 bool written) {
  const bool many = t.kind == operand_text::VECTOR;
  i.count = (uint8_t)(f.has("v4") ? 4 : f.has("v2") ? 2 : 1);
  if (many != (i.count > 1) || (many && t.elements.size() != i.count)) {
    f.refuse("wrong number of elements for");
  }
  for (unsigned k = 0; k < i.count; k++) {
    const operand_text &e = many ? t.elements[k] : t;
    i.elements[k] = written ? o.result(e) : o.value(e, f.last());
  }
}

handler by_type(type t, const handler (&of)[TYPES]) {
  return (unsigned)t < (unsigned)TYPES ? of[t] : nullptr;
}
const handler loads[TYPES] = {load<uint8_t>,  load<uint16_t>, load<uint32_t>, load<uint64_t>,
                              load<uint8_t>,  load<uint16_t>, load<uint32_t>, load<uint64_t>,
                              load<int8_t>,   load<int16_t>,  load<int32_t>,  load<int64_t>,
                              load<uint32_t>, load<uint64_t>, nullptr};
const handler stores[TYPES] = {
    store<uint8_t>,  store<uint16_t>, store<uint32_t>, store<uint64_t>, store<uint8_t>,
    store<uint16_t>, store<uint32_t>, store<uint64_t>, store<uint8_t>,  store<uint16_t>,
    store<uint32_t>, store<uint64_t>, store<uint32_t>, store<uint64_t>, nullptr};

void encode_access(const form &f, operand_source &o, instruction &i) {
  const bool loads_it = f.base() == "ld";
  f.want(2);
  f.only_modifiers({"global",
                    "const",
                    "shared",
                    "param",
                    "local",
                    "volatile",
                    "relaxed",
                    "acquire",
                    "release",
                    "weak",
                    "cta",
                    "gpu",
                    "sys",
                    "v2",
                    "v4",
                    "nc",
                    "ca",
                    "cg",
                    "cs",
                    "cv",
                    "lu",
                    "wb",
                    "wt",
                    "L1::no_allocate",
                    "L1::evict_last",
                    "L1::evict_first",
                    "L2::128B",
                    "L2::256B"});
  space_of(f, i);
  if (f.types.size() != 1) f.refuse();
  order_and_scope(f, i);
  i.of = f.last();
  i.bytes = (uint8_t)bytes_of(i.of);
  o.address(f.operand(loads_it ? 1 : 0), i.where, i);
  elements_of(f, f.operand(loads_it ? 0 : 1), o, i, loads_it);
  i.run = by_type(i.of, loads_it ? loads : stores);
  i.counted = i.where == GLOBAL || i.where == GENERIC ? (loads_it ? GLOBAL_LOAD : GLOBAL_STORE)
              : i.where == SHARED                     ? (loads_it ? SHARED_LOAD : SHARED_STORE)
              : i.where == PARAM                      ? PARAMETER_LOAD
                                                      : LOCAL_ACCESS;
  if (i.where == PARAM && !loads_it) f.refuse();
}

/* ---- atomics ---- */

struct atomic_add {
  template <class T> static T of(T old, T y) {
    if constexpr (std::is_floating_point<T>::value)
      return old + y;
    else
      return (T)(U(old) + U(y));
  }
};
struct atomic_min {
  template <class T> static T of(T old, T y) { return y < old ? y : old; }
};
struct atomic_max {
  template <class T> static T of(T old, T y) { return y > old ? y : old; }
};
struct atomic_and {
  template <class T> static T of(T old, T y) { return (T)(old & y); }
};
struct atomic_or {
  template <class T> static T of(T old, T y) { return (T)(old | y); }
};
struct atomic_xor {
  template <class T> static T of(T old, T y) { return (T)(old ^ y); }
};
struct atomic_exch {
  template <class T> static T of(T, T y) { return y; }
};
struct atomic_inc {
  template <class T> static T of(T old, T y) { return old >= y ? 0 : old + 1; }
};
struct atomic_dec {
  template <class T> static T of(T old, T y) { return old == 0 || old > y ? y : old - 1; }
};

template <class T, class F> void atomic(const instruction &i, executor &x, lanes l) {
  in_some_order(x, l, [&](unsigned k) {
    uint8_t *at = x.reach(i, k, x.address_of(i, k), sizeof(T), CHANGE);
    T old;
    memcpy(&old, at, sizeof old);
    const T now = F::of(old, x.lane<T>(i.b)[k]);
    memcpy(at, &now, sizeof now);
    if (i.d.at != NO_REGISTER) x.lane<T>(i.d)[k] = old;
  });
}
template <class T> void compare_and_swap(const instruction &i, executor &x, lanes l) {
  in_some_order(x, l, [&](unsigned k) {
    uint8_t *at = x.reach(i, k, x.address_of(i, k), sizeof(T), CHANGE);
    T old;
    memcpy(&old, at, sizeof old);
    if (old == x.lane<T>(i.b)[k]) memcpy(at, &x.lane<T>(i.c)[k], sizeof old);
    if (i.d.at != NO_REGISTER) x.lane<T>(i.d)[k] = old;
  });
}

struct atomic_row {
  const char *name;
  type of;
  handler run;
};
const atomic_row atomic_rows[] = {
    {"add", U32, atomic<uint32_t, atomic_add>},   {"add", S32, atomic<int32_t, atomic_add>},
    {"add", U64, atomic<uint64_t, atomic_add>},   {"add", F32, atomic<float, atomic_add>},
    {"add", F64, atomic<double, atomic_add>},     {"min", U32, atomic<uint32_t, atomic_min>},
    {"min", S32, atomic<int32_t, atomic_min>},    {"min", U64, atomic<uint64_t, atomic_min>},
    {"min", S64, atomic<int64_t, atomic_min>},    {"max", U32, atomic<uint32_t, atomic_max>},
    {"max", S32, atomic<int32_t, atomic_max>},    {"max", U64, atomic<uint64_t, atomic_max>},
    {"max", S64, atomic<int64_t, atomic_max>},    {"and", B32, atomic<uint32_t, atomic_and>},
    {"and", B64, atomic<uint64_t, atomic_and>},   {"or", B32, atomic<uint32_t, atomic_or>},
    {"or", B64, atomic<uint64_t, atomic_or>},     {"xor", B32, atomic<uint32_t, atomic_xor>},
    {"xor", B64, atomic<uint64_t, atomic_xor>},   {"exch", B32, atomic<uint32_t, atomic_exch>},
    {"exch", B64, atomic<uint64_t, atomic_exch>}, {"inc", U32, atomic<uint32_t, atomic_inc>},
    {"dec", U32, atomic<uint32_t, atomic_dec>},   {"cas", B32, compare_and_swap<uint32_t>},
    {"cas", B64, compare_and_swap<uint64_t>},
};

void encode_atomic(const form &f, operand_source &o, instruction &i) {
  const bool gives_old = f.base() == "atom";
  f.only_modifiers({"global", "shared", "relaxed", "acquire", "release", "acq_rel", "cta",
                    "gpu", "sys", "add", "min", "max", "and", "or", "xor", "exch", "cas", "inc",
                    "dec"});
  space_of(f, i);
  i.order = RELAXED;
  order_and_scope(f, i);
  const atomic_row *found = nullptr;
  for (const atomic_row &r : atomic_rows) {
    if (f.has(r.name) && f.last() == r.of) found = &r;
  }
  if (found == nullptr) f.refuse();
  const bool swaps = f.has("cas");
  const size_t at = gives_old ? 1 : 0;
  f.want(at + 2 + swaps);
  i.of = f.last();
  i.bytes = (uint8_t)bytes_of(i.of);
  if (gives_old) i.d = o.result(f.operand(0));
  o.address(f.operand(at), i.where, i);
  i.b = o.value(f.operand(at + 1), i.of);
  if (swaps) i.c = o.value(f.operand(at + 2), i.of);
  i.run = found->run;
  i.counted = ATOMIC;
}

/* ---- fences ---- */

void fence(const instruction &i, executor &x, lanes l) {
  x.fence(i, l);
}
bool encode_fence(const form &f, instruction &i) {
  if (f.base() != "membar" && f.base() != "fence") return false;
  f.only_modifiers({"cta", "gl", "sys", "gpu", "sc", "acq_rel"});
  i.order = f.base() == "membar" || f.has("sc") ? SEQUENTIAL : ACQUIRE_RELEASE;
  i.within = f.has("cta") ? BLOCK_SCOPE : f.has("sys") ? SYSTEM_SCOPE : DEVICE_SCOPE;
  i.counted = FENCE;
  i.run = fence;
  return true;
}

/* ---- exchange between lanes ---- */

enum shuffle_mode { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BUTTERFLY, SHUFFLE_INDEX };

/* Returns the lane that lane k reads, and whether it is inside the segment of the warp. */
template <shuffle_mode MODE>
unsigned source_lane(unsigned k, uint32_t b, uint32_t c, bool &in) {
  const uint32_t distance = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  const uint32_t last = (k & segment) | (clamp & ~segment), first = k & segment;
  const uint32_t j = MODE == SHUFFLE_UP          ? k - distance
                     : MODE == SHUFFLE_DOWN      ? k + distance
                     : MODE == SHUFFLE_BUTTERFLY ? k ^ distance
                                                 : first | (distance & ~segment);
  in = MODE == SHUFFLE_UP ? (int32_t)j >= (int32_t)last : j <= last;
  return in ? j : k;
}
template <shuffle_mode MODE> void shuffle(const instruction &i, executor &x, lanes l) {
  uint32_t old[WARP];
  memcpy(old, x.lane<uint32_t>(i.a), sizeof old);
  lanes inside = 0;
  for_lanes(l, [&](unsigned k) {
    bool in = false;
    const unsigned j =
        source_lane<MODE>(k, x.lane<uint32_t>(i.b)[k], x.lane<uint32_t>(i.c)[k], in);
    if (!(l >> (j & 31) & 1)) x.refuse(i, k, "reads a lane that does not participate");
    x.lane<uint32_t>(i.d)[k] = old[j & 31];
    inside |= (lanes)in << k;
  });
  if (i.elements[0].at == NO_REGISTER) return;
  lanes &p = x.predicate(i.elements[0]);
  p = (p & ~l) | inside;
}

void encode_shuffle(const form &f, operand_source &o, instruction &i) {
  f.want(5);
  f.only_modifiers({"sync", "up", "down", "bfly", "idx"});
  if (!f.has("sync") || f.last() != B32) f.refuse();
  i.d = o.result(f.operand(0));
  if (!f.operand(0).elements.empty()) i.elements[0] = o.result(f.operand(0).elements[0]);
  i.a = o.value(f.operand(1), B32);
  i.b = o.value(f.operand(2), U32);
  i.c = o.value(f.operand(3), U32);
  i.e = o.value(f.operand(4), U32);
  i.run = f.has("up")     ? shuffle<SHUFFLE_UP>
          : f.has("down") ? shuffle<SHUFFLE_DOWN>
          : f.has("bfly") ? shuffle<SHUFFLE_BUTTERFLY>
                          : shuffle<SHUFFLE_INDEX>;
  i.control_of = WARP_SYNC;
  i.counted = WARP_EXCHANGE;
}

enum vote_mode { VOTE_BALLOT, VOTE_ANY, VOTE_ALL, VOTE_UNIFORM };
template <vote_mode MODE> void vote(const instruction &i, executor &x, lanes l) {
  const lanes p = x.predicate(i.a) & l;
  if (MODE == VOTE_BALLOT) {
    for_lanes(l, [&](unsigned k) { x.lane<uint32_t>(i.d)[k] = p; });
    return;
  }
  const bool yes = MODE == VOTE_ANY ? p != 0 : MODE == VOTE_ALL ? p == l : p == 0 || p == l;
  lanes &r = x.predicate(i.d);
  r = (r & ~l) | (yes ? l : 0);
}
void encode_vote(const form &f, operand_source &o, instruction &i) {
  f.want(3);
  f.only_modifiers({"sync", "ballot", "any", "all", "uni"});
  if (!f.has("sync")) f.refuse();
  i.run = f.has("ballot") ? vote<VOTE_BALLOT>
          : f.has("any")  ? vote<VOTE_ANY>
          : f.has("all")  ? vote<VOTE_ALL>
                          : vote<VOTE_UNIFORM>;
  i.d = o.result(f.operand(0));
  i.a = o.value(f.operand(1), PRED);
  i.e = o.value(f.operand(2), U32);
  i.control_of = WARP_SYNC;
  i.counted = WARP_EXCHANGE;
}

/* ---- barriers and branches ---- */

/* Stores the vote of all threads, which the scheduler gives in `participants`: any, all, or
 * their number. */
void barrier_vote(const instruction &i, executor &x, lanes l) {
  lanes &r = x.predicate(i.d);
  r = (r & ~l) | (x.participants ? l : 0);
}
void barrier_count(const instruction &i, executor &x, lanes l) {
  for_lanes(l, [&](unsigned k) { x.lane<uint32_t>(i.d)[k] = x.participants; });
}

void encode_warp_barrier(const form &f, operand_source &o, instruction &i) {
  f.want(1);
  f.only_modifiers({"warp", "sync"});
  i.e = o.value(f.operand(0), U32);
  i.run = fence;
  i.within = BLOCK_SCOPE;
  i.order = ACQUIRE_RELEASE;
  i.control_of = WARP_SYNC;
  i.counted = BARRIER;
}
/* `count` says what a vote gives: 1 any, 2 all, 3 how many. */
void encode_barrier(const form &f, operand_source &o, instruction &i) {
  if (f.has("warp")) return encode_warp_barrier(f, o, i);
  f.only_modifiers({"sync", "cta", "red", "or", "and", "popc", "aligned"});
  const bool votes = f.has("red");
  i.control_of = BLOCK_BARRIER;
  i.counted = BARRIER;
  i.count = (uint8_t)(!votes ? 0 : f.has("or") ? 1 : f.has("and") ? 2 : 3);
  f.want(votes ? 3 : 1);
  const operand_text &number = f.operand(votes ? 1 : 0);
  if (number.kind != operand_text::NUMBER || number.number != 0) {
    f.refuse("only barrier 0 is understood in");
  }
  if (!votes) return;
  i.d = o.result(f.operand(0));
  i.a = o.value(f.operand(2), PRED);
  i.run = i.count == 3 ? barrier_count : barrier_vote;
}

/* Does nothing: the instruction is a hint for the schedule. */
void no_effect(const instruction &, executor &, lanes) {}
bool encode_control(const form &f, operand_source &o, instruction &i) {
  const std::string &n = f.base();
  i.counted = CONTROL;
  if (n == "bra") {
    f.only_modifiers({"uni"});
    f.want(1);
    i.control_of = BRANCH;
    o.label(f.operand(0), i);
  } else if (n == "ret" || n == "exit") {
    f.only_modifiers({"uni"});
    i.control_of = EXIT;
  } else if (n == "nanosleep" || n == "griddepcontrol" || n == "pragma") {
    i.run = no_effect;
  } else {
    return false;
  }
  return true;
}

/* ---- opcodes with functions of their own ---- */

typedef void (*encoder)(const form &, operand_source &, instruction &);
const struct {
  const char *name;
  encoder of;
} encoders[] = {
    {"mov", encode_move},    {"cvta", encode_cvta},   {"selp", encode_selp},
    {"cvt", encode_convert}, {"ld", encode_access},   {"st", encode_access},
    {"atom", encode_atomic}, {"red", encode_atomic},  {"shfl", encode_shuffle},
    {"vote", encode_vote},   {"bar", encode_barrier}, {"barrier", encode_barrier},
};

} // namespace

void encode(const statement &s, operand_source &o, instruction &i) {
  const form f(s);
  if (encode_predicates(f, o, i) || encode_carry(f, o, i) || encode_bits(f, o, i)) return;
  for (const auto &e : encoders) {
    if (f.base() != e.name) continue;
    e.of(f, o, i);
    if (i.run == nullptr && i.control_of == PLAIN) f.refuse();
    return;
  }
  if (const row *r = find_row(f)) return encode_row(*r, f, o, i);
  if (encode_fence(f, i) || encode_control(f, o, i)) return;
  f.refuse();
}

std::vector<std::string> opcode_forms() {
  std::vector<std::string> forms;
  for (const row &r : rows()) {
    for (unsigned t = 0; t < TYPES; t++) {
      if (r.of[t]) forms.push_back(std::string(r.name) + "." + type_name((type)t));
    }
  }
  for (const bit_row &r : bit_rows)
    forms.push_back(std::string(r.name) + "." + type_name(r.of));
  for (const atomic_row &r : atomic_rows) {
    forms.push_back(std::string("atom.") + r.name + "." + type_name(r.of));
  }
  return forms;
}

} // namespace ptx
} // namespace ravel
