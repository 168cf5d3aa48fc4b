/* traits.h - properties of functions and expressions, found by inspection. */
#ifndef RAVEL_NESLC_FLATTEN_TRAITS_H
#define RAVEL_NESLC_FLATTEN_TRAITS_H

#include "neslc/flatten/private.h"

/* Properties of a function, found by inspection of its body: traits.c. */
struct traits {
  bool recursive; /* may call itself, perhaps through others */
  bool effects;   /* prints, exits, reads, draws random numbers, takes the time */
  bool others;    /* one of these, and not only random numbers */
  uint32_t size;  /* nodes */
};
const struct traits *global_traits(struct flattener *, struct global *);
/* Pulled elements that are computed one by one, those around included; and of each side of a
 * square. */
enum { PARTS_MOST = 128, PARTS_MOST_NESTED = 11 };
enum { SIMPLE_NODES = 24 }; /* of a branch: about the cost of packing and merging instead */
/* Of a branch with elements of sequences, or checks: those are what the branches of
 * conditionals mostly have, and packing moves whatever they mention. */
enum { MASKED_NODES = 100, MASKED_ELEMENTS = 8 };
/* Whether an expression is cheap, scalar throughout, and can neither fail nor have effects:
 * both arms of an `if` may then be evaluated. At most `budget` nodes. */
bool is_simple(struct flattener *, const struct core *, unsigned *budget);
/* Whether both arms of an `if` may be evaluated if what they check, and the elements that they
 * take from sequences, count only where the arm is taken: otherwise they are simple. */
bool may_be_masked(struct flattener *, const struct core *);
/* Whether the body of a function value is simple; the type names the function. */
bool is_simple_function(struct flattener *, struct type *, const struct rep *);
bool has_effects(struct flattener *, const struct core *);
/* Returns whether an expression of the body being generated has effects: more callees are known
 * there. */
bool has_effects_here(struct flattener *, const struct core *);
/* Whether it has none but random numbers. */
bool only_draws(struct flattener *, const struct core *);
uint32_t core_size(struct flattener *, const struct core *);
/* Whether an expression has the same value in all instances: its free variables are shared, and
 * it has no effects. */
bool is_closed(struct flattener *, const struct core *);

#endif
