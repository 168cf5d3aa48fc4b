/* random-superop.h - random superoperators and operands for them, for tests. All have one list
 * of parameters, so that sizes are known. The same state gives the same superoperators and
 * operands. */
#ifndef RAVEL_CVL_CPU_TESTS_RANDOM_SUPEROP_H
#define RAVEL_CVL_CPU_TESTS_RANDOM_SUPEROP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "cvl/call.h"
#include "cvl/superop.h"
#include "tables/tables.h"

/* ---- random numbers ---- */

struct random {
  uint64_t state;
  bool long_sums; /* most segments are longer than a block, and all consumers are reductions */
};

static inline uint64_t draw(struct random *r) { /* splitmix64 (Vigna) */
  uint64_t z = r->state += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
  return z ^ z >> 31;
}

static inline uint64_t below(struct random *r, uint64_t n) {
  return n ? draw(r) % n : 0;
}

/* ---- parameters ---- */

enum {
  P_MAIN,    /* SEGDES, total n: of the consumers */
  P_WHOLE,   /* SEGDES, one segment of n */
  P_SOURCE,  /* SEGDES, as many segments as P_MAIN: of gathered vectors, total m */
  P_MANY,    /* SEGDES, n segments: for EXTRACT */
  P_FAR,     /* SEGDES, one segment of m */
  P_INT,     /* n */
  P_INT2,    /* n */
  P_FLOAT,   /* n */
  P_FLOAT2,  /* n */
  P_BOOL,    /* n */
  P_FAR_INT, /* m */
  P_FAR_FLOAT,
  P_FAR_BOOL,
  P_EACH_INT, /* count of P_MAIN */
  P_EACH_FLOAT,
  P_ONE_INT, /* 1 */
  P_ONE_STRIDE,
  P_PICK_FLOAT, /* total of P_MANY */
  P_INDEX,      /* n: into P_SOURCE */
  P_PERMUTED,   /* n: a permutation in each segment of P_MAIN */
  P_PICKED,     /* n: into P_MANY */
  P_EACH_ONE,   /* 1 for each segment of P_MAIN */
  P_EACH_LAST,  /* last index of each segment of P_SOURCE */
  P_RUN_START,  /* for each segment of P_MAIN: an INDEX of P_SOURCE */
  P_RUN_STRIDE,
  P_OTHER,       /* SEGDES, total n: cut elsewhere than P_MAIN */
  P_OTHER_FLOAT, /* count of P_OTHER */
  PARAMS
};

extern const uint8_t param_kinds[PARAMS];

/* ---- superoperators ---- */

enum { MOST_NODES = 160, MOST_VALUES = PARAMS + 2 * MOST_NODES };

struct builder {
  struct random *r;
  struct superop_node nodes[MOST_NODES];
  uint32_t node_count, value_count;
  uint8_t kinds[MOST_VALUES];
  bool elementwise[MOST_VALUES]; /* has an element for every position */
  uint32_t outputs[MOST_VALUES];
  uint32_t output_count;
  enum cvl_elem int_elem, float_elem;
};

/* Adds a node, checked, with so many operands. Returns the number of its first result. */
uint32_t builder_add(struct builder *, enum opcode, enum type_word, unsigned count,
                     const uint32_t *operands);

/* Makes a random superoperator for n positions and gathered vectors of `reach` elements. It is
 * completed, and must be valid. NULL if it would have no result. */
struct superop *random_superop(struct random *, struct arena *, enum cvl_elem int_elem,
                               enum cvl_elem float_elem, uint64_t n, uint64_t reach);

/* Returns a number about as large as an index of n positions, or a small one. */
int64_t random_bound(struct random *, uint64_t n);

/* ---- operands, in the widths of a context of the CPU's back end; the caller's to release ----
 */

struct cvl_value segdes(struct cvl_context *, uint64_t count, const int64_t *lengths);
struct cvl_value ints(struct cvl_context *, uint64_t n, const int64_t *);
struct cvl_value floats(struct random *, struct cvl_context *, uint64_t n);
struct cvl_value flags(struct random *, struct cvl_context *, uint64_t n);

/* Makes all parameters, for n positions, in p[PARAMS]. Rarely, some make a superoperator
 * fail. */
void random_operands(struct random *, struct cvl_context *, uint64_t n, struct cvl_value *p);

#endif
