/* combine.hpp - the combining operations of operations.def as functors, for reductions and
 * scans: combination<T, OP> for an element type T has
 *
 *     type            T
 *     operation       OP
 *     exact           whether every order of combination gives the same bits
 *     identity()      the result that the program gets for no elements
 *     pad()           neutral on either side, in every bit
 *     operator()      x combined with y
 */
#ifndef RAVEL_CUDA_COMBINE_HPP
#define RAVEL_CUDA_COMBINE_HPP

#include "cvl-cuda/context.hpp"

namespace ravel {

template <class T, cvl_op OP> struct combination {
  enum { exists = 0 };
};

/* Tells whether a device has one instruction that combines x and y where the plain code takes
 * several. Its result is that of operations.def, except for which NaN a NaN is. */
template <class T, cvl_op OP> struct instruction {
  HD static bool gives(T &, T, T) { return false; }
};
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
template <> struct instruction<float, OP_MAX> {
  HD static bool gives(float &r, float x, float y) {
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
    return true;
  }
};
template <> struct instruction<float, OP_MIN> {
  HD static bool gives(float &r, float x, float y) {
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
    return true;
  }
};
#endif

#define COMBINATION(op, T, identity_, pad_, exact_, expression)                                \
  template <> struct combination<T, OP_##op> {                                                 \
    using type = T;                                                                            \
    static constexpr cvl_op operation = OP_##op;                                               \
    enum { exists = 1, exact = exact_ };                                                       \
    HD static T identity() { return (T)(identity_); }                                          \
    HD static T pad() { return (T)(pad_); }                                                    \
    HD T operator()(T x, T y) const {                                                          \
      T r = x;                                                                                 \
      return instruction<T, OP_##op>::gives(r, x, y) ? r : (T)(expression);                    \
    }                                                                                          \
  };
#define COMBINE_I(op, ...) COMBINATION(op, TYPE_I, __VA_ARGS__)
#define COMBINE_F(op, ...) COMBINATION(op, TYPE_F, __VA_ARGS__)

} // namespace ravel

#define INT_BITS   32
#define FLOAT_BITS 32
#include "cvl/expressions.h"
namespace ravel {
#define COMBINE_B(op, ...)      COMBINATION(op, TYPE_B, __VA_ARGS__)
#define COMBINE(op, class, ...) COMBINE_##class(op, __VA_ARGS__)
#include "tables/operations.def"
#undef COMBINE_B
} // namespace ravel
#undef INT_BITS
#undef FLOAT_BITS

#define INT_BITS   64
#define FLOAT_BITS 64
#include "cvl/expressions.h"
namespace ravel {
#define COMBINE_B(op, ...)      /* BOOL has only one width */
#define COMBINE(op, class, ...) COMBINE_##class(op, __VA_ARGS__)
#include "tables/operations.def"
#undef COMBINE_B
} // namespace ravel
#undef INT_BITS
#undef FLOAT_BITS
#undef COMBINE_I
#undef COMBINE_F
#undef COMBINATION

namespace ravel {

/* Combines flags, many at a time: as bits of a word. */
template <class C> struct on_bits;
template <cvl_op OP> struct on_bits<combination<uint8_t, OP>> {
  static_assert(OP == OP_AND || OP == OP_OR || OP == OP_XOR, "bit by bit");
  using type = combination<int64_t, OP>;
};

template <class T, cvl_op OP, class G> bool with_this(cvl_op op, G &g) {
  if constexpr (combination<T, OP>::exists != 0) {
    if (op == OP) g(combination<T, OP>{});
    return op == OP;
  }
  return false;
}

/* Calls g(c) with the combination c of an operation on elements of type T. */
template <class T, class G> void with_combination(cvl_op op, G g) {
  if (with_this<T, OP_ADD>(op, g) || with_this<T, OP_MUL>(op, g) ||
      with_this<T, OP_MAX>(op, g) || with_this<T, OP_MIN>(op, g) ||
      with_this<T, OP_AND>(op, g) || with_this<T, OP_OR>(op, g) || with_this<T, OP_XOR>(op, g))
    return;
  fail(CVL_E_DEVICE, 0); /* operations.def has no such row */
}

/* Calls g(c, x) for an operation on elements of type e, with its combination c and an x of
 * their C type. */
template <class G> void with_typed_combination(cvl_elem e, cvl_op op, G g) {
  with_type(e, [&](auto x) {
    with_combination<decltype(x)>(op, [&](auto combination) { g(combination, x); });
  });
}

} // namespace ravel
#endif
