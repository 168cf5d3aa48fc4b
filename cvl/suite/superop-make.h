/* superop-make.h - a random superoperator while it is made. Private to
 * conformance-superop-make*.c.
 *
 * While a case is made, results are numbered from RESULTS on, since parameters still appear.
 */
#ifndef RAVEL_CVL_CONFORMANCE_SUPEROP_MAKE_H
#define RAVEL_CVL_CONFORMANCE_SUPEROP_MAKE_H

#include "cvl/suite/superop.h"

enum { RESULTS = 1000, POOL = SUPEROP_PARAMS + 2 * SUPEROP_NODES };

struct generator {
  struct suite *s;
  const struct mixture *mix;
  struct superop_case *c;
  uint32_t param_count, node_count, value_count; /* results so far */
  uint32_t pool[3][POOL], pool_count[3];         /* values of the domain, by class */
  uint32_t segments;   /* the parameter of DATA_SEGMENTS, once there */
  uint32_t used[POOL]; /* of results: how often */
  bool hidden[POOL];   /* of results: inside of a loop or combination */
  bool inside;         /* one is being made: pools are what is known in it */
  uint32_t odd;        /* there: a divisor */
};

#define OPERANDS(...)                                                                          \
  (const uint32_t[]) {                                                                         \
    __VA_ARGS__                                                                                \
  }

/* True once in n. */
bool gen_chance(struct generator *, uint64_t n);
/* A new parameter, with the data of this recipe. */
uint32_t gen_data(struct generator *, enum superop_kind, enum data_kind, uint32_t of);
/* The descriptor of all reductions, scans and packs; some descriptor of total n. */
uint32_t gen_common_segments(struct generator *);
uint32_t gen_segments(struct generator *);
/* Adds a node; its first result is returned, and kept as a value of the domain if it is one. */
uint32_t gen_node(struct generator *, uint32_t op, enum type_word, bool checked,
                  enum superop_kind domain_kind, uint32_t n, const uint32_t *operands);
/* Notes a value of the domain. */
void gen_keep(struct generator *, enum superop_kind, uint32_t value);
/* A CONST, and a DIST of one to all positions. */
uint32_t gen_constant(struct generator *, enum superop_kind, int64_t x);
uint32_t gen_flat(struct generator *, enum superop_kind, int64_t x);
/* A value of the domain: an old one, preferably young, or a new parameter, sometimes one that
 * is listed again. */
uint32_t gen_value(struct generator *, enum superop_kind);
/* Adds an elementwise node. */
void gen_map(struct generator *);
/* Indices of the segments of d, of total n, into those of `into`, made in some way. `flags`, a
 * parameter or NONE: where they are clear the indices may be wrong. */
uint32_t gen_index(struct generator *, uint32_t d, uint32_t into, uint32_t flags);
/* Adds a combination (superop-make-combine.c), if there is room. */
void gen_combination(struct generator *);

#endif
