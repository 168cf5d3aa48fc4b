/* superop-make.h - the state of a random superoperator that is being made. Private to
 * superop-make*.c.
 *
 * Meanwhile results are numbered from RESULTS on, since parameters are still being added.
 */
#ifndef RAVEL_CVL_CONFORMANCE_SUPEROP_MAKE_H
#define RAVEL_CVL_CONFORMANCE_SUPEROP_MAKE_H

#include "cvl/suite/superop.h"

enum { RESULTS = 1000, POOL = SUPEROP_PARAMS + 2 * SUPEROP_NODES };

struct generator {
  struct suite *s;
  const struct mixture *mix;
  struct superop_case *c;
  uint32_t param_count, node_count, value_count; /* value_count: results so far */
  uint32_t pool[3][POOL], pool_count[3];         /* values of the domain, by class */
  uint32_t segments;   /* the parameter of DATA_SEGMENTS, once it exists */
  uint32_t used[POOL]; /* how often each result is used */
  bool hidden[POOL];   /* whether each result is inside of a loop or combination */
  bool inside;         /* a loop or combination is being made: pools have what is known in it */
  uint32_t odd;        /* if inside: a divisor */
};

#define OPERANDS(...)                                                                          \
  (const uint32_t[]) {                                                                         \
    __VA_ARGS__                                                                                \
  }

/* Returns true once in n. */
bool gen_chance(struct generator *, uint64_t n);
/* Adds a parameter, with the data of this recipe. */
uint32_t gen_data(struct generator *, enum superop_kind, enum data_kind, uint32_t of);
/* Return the descriptor of all reductions, scans and packs, and some descriptor of total n. */
uint32_t gen_common_segments(struct generator *);
uint32_t gen_segments(struct generator *);
/* Adds a node. Its first result is returned, and kept as a value of the domain if it is one. */
uint32_t gen_node(struct generator *, uint32_t op, enum type_word, bool checked,
                  enum superop_kind domain_kind, uint32_t n, const uint32_t *operands);
/* Keeps a value of the domain. */
void gen_keep(struct generator *, enum superop_kind, uint32_t value);
/* Add a CONST, and a DIST of one to all positions. */
uint32_t gen_constant(struct generator *, enum superop_kind, int64_t x);
uint32_t gen_flat(struct generator *, enum superop_kind, int64_t x);
/* Returns a value of the domain: an old one, preferably recent, or a new parameter, or
 * sometimes one that is listed again. */
uint32_t gen_value(struct generator *, enum superop_kind);
/* Adds an elementwise node. */
void gen_map(struct generator *);
/* Adds indices of the segments of d, of total n, into those of `into`, made in some way.
 * `flags` is a parameter or NONE; where flags are clear the indices may be wrong. */
uint32_t gen_index(struct generator *, uint32_t d, uint32_t into, uint32_t flags);
/* Adds a combination (superop-make-combine.c), if there is room. */
void gen_combination(struct generator *);

#endif
