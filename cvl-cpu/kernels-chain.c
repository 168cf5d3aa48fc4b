/* kernels-chain.c - see kernels-chain.h. An operation is chosen once for a block of places:
 * eight vectors of the set, or four where there are 16 registers. What is left takes a vector
 * at a time, and then a place at a time, by the same text. */
#include "cvl-cpu/kernels-chain.h"
#include "cvl-cpu/kernels.h"

#define ONE(do, op, r)                                                                         \
  do (0, op, r)
#define FOUR(do, op, r)                                                                        \
  do (0, op, r) do(1, op, r) do(2, op, r) do(3, op, r)
#if defined(__AVX512F__)
#define VECTOR_BYTES    64
#define VECTORS         8
#define MANY(do, op, r) FOUR(do, op, r) do(4, op, r) do(5, op, r) do(6, op, r) do(7, op, r)
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#define VECTORS      4
#define MANY         FOUR
#else
#define VECTOR_BYTES 16
#define VECTORS      4
#define MANY         FOUR
#endif

/* r, an accumulator, and x. */
#define DO_LOAD(r, x) r = x
#define DO_ADD(r, x)  r = r + x
#define DO_SUB(r, x)  r = r - x
#define DO_RSUB(r, x) r = x - r
#define DO_MUL(r, x)  r = r * x
#define DO_DIV(r, x)  r = r / x
#define DO_RDIV(r, x) r = x / r

/* Number i of the accumulators' vectors. */
#define DECLARE(i, op, r)     vec a##i = none, b##i = none;
#define STORE(i, op, r)       to[i] = a##i;
#define FROM_VECTOR(i, op, r) DO_##op(r##i, x[i]);
#define FROM_ONE(i, op, r)    DO_##op(r##i, (*from - none));
#define FROM_B(i, op, r)      DO_##op(r##i, b##i);

#define CASE(op, form, each, from, r)                                                          \
  case CHAIN_##op + CHAIN_CODES *CHAIN_##form:                                                 \
    each(from, op, r) break;
#define CASES(op, each)                                                                        \
  CASE(op, A_VECTOR, each, FROM_VECTOR, a)                                                     \
  CASE(op, A_ONE, each, FROM_ONE, a)                                                           \
  CASE(op, B_VECTOR, each, FROM_VECTOR, b)                                                     \
  CASE(op, B_ONE, each, FROM_ONE, b)                                                           \
  CASE(op, A_B, each, FROM_B, a)

/* The program for the places of a block, from `at` on. A single element minus 0 is itself, -0
 * too, in all lanes. */
#define BLOCK(name, type, vector, each)                                                        \
  static inline void name(uint64_t at, const struct chain_op *ops, uint32_t count,             \
                          type *out) {                                                         \
    typedef vector vec;                                                                        \
    const vec none = {0};                                                                      \
    each(DECLARE, , ) for (uint32_t i = 0; i < count; i++) {                                   \
      const type *from = ops[i].x;                                                             \
      const vec *x = (const vec *)(const void *)(from + at);                                   \
      switch (ops[i].what) {                                                                   \
        CASES(LOAD, each)                                                                      \
        CASES(ADD, each)                                                                       \
        CASES(SUB, each)                                                                       \
        CASES(RSUB, each)                                                                      \
        CASES(MUL, each)                                                                       \
        CASES(DIV, each)                                                                       \
        CASES(RDIV, each)                                                                      \
      default: break;                                                                          \
      }                                                                                        \
    }                                                                                          \
    vec *to = (vec *)(void *)(out + at);                                                       \
    each(STORE, , )                                                                            \
  }

#define CHAIN(suffix, type)                                                                    \
  typedef type __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(type)), may_alias))    \
  lanes_##suffix;                                                                              \
  BLOCK(many_##suffix, type, lanes_##suffix, MANY)                                             \
  BLOCK(vector_##suffix, type, lanes_##suffix, ONE)                                            \
  BLOCK(one_##suffix, type, type, ONE)                                                         \
  static void chain_##suffix(uint64_t n, const struct chain_op *ops, uint32_t count,           \
                             void *out) {                                                      \
    const uint64_t lanes = VECTOR_BYTES / sizeof(type);                                        \
    uint64_t at = 0;                                                                           \
    for (; n - at >= VECTORS * lanes; at += VECTORS * lanes) {                                 \
      many_##suffix(at, ops, count, out);                                                      \
    }                                                                                          \
    for (; n - at >= lanes; at += lanes) vector_##suffix(at, ops, count, out);                 \
    for (; at < n; at++) one_##suffix(at, ops, count, out);                                    \
  }
CHAIN(f32, float)
CHAIN(f64, double)

const struct chain_kernels KERNEL(chain_kernels) = {chain_f32, chain_f64};
