/* sizes-facts.h - the facts that hold at one binding of a function: which sizes are equal, and
 * which are known numbers. Private to sizes*.c.
 *
 * A *term* stands for a number that may be unknown before execution. Every variable has three:
 *
 *   TERM_SIZE   the length of a vector, the total of a descriptor
 *   TERM_COUNT  the number of segments of a descriptor; of an INT vector whose elements are all
 *               the same, that value (of a scalar: the scalar itself)
 *   TERM_SAME   the whole value: equal terms, equal values. A descriptor and the vector of its
 *               lengths have the same
 *
 * Values of scalars and sizes are terms of one kind, so LENGTH, MAKE_SEGDES and LENGTHS need no
 * rules of their own: they make terms equal. Equal terms form classes (union-find by weight,
 * without path compression). A log undoes the facts of one arm of an IF, the latest first.
 *
 * Two terms are *assumed equal* if they are equal anywhere in the function; this is never
 * undone. Fusion uses these classes, because a superoperator checks its sizes when it runs.
 */
#ifndef RAVEL_SIZES_FACTS_H
#define RAVEL_SIZES_FACTS_H

#include "base/map.h"

enum { TERM_SIZE, TERM_COUNT, TERM_SAME, TERMS_PER_VAR };

#define NO_TERM UINT32_MAX

/* The first-bound term of some kind and its time; NO_TERM: there is none. */
struct fact_first {
  uint32_t term, stamp;
};

enum fact_kind { FACT_VECTOR, FACT_DESCRIPTOR, FACT_OTHER };

struct fact_term {
  uint32_t parent;
  /* only in a root: */
  uint32_t weight;
  uint32_t least;               /* the first-bound term of the class */
  uint32_t stamp;               /* the time it was bound */
  struct fact_first vector;     /* the first-bound term among lengths of vectors */
  struct fact_first descriptor; /* among totals of descriptors */
  int64_t number;
  bool known;       /* it is `number` */
  bool nonnegative; /* it is at least 0 */
  bool checked;     /* some fact on it depends on a check */
  /* classes of terms that are assumed equal, with path compression */
  uint32_t assumed;
  int64_t assumed_number;
  bool assumed_known;
};

/* An entry of the log: a union (the child, and its root as it was before) or a new entry of the
 * memo (child == NO_TERM). */
struct fact_undo {
  uint32_t child, root;
  struct fact_term before;
};

/* operation(a, b) = term; a and b are the roots at that time. */
struct fact_memo {
  uint32_t operation, a, b, term;
};

struct facts {
  struct arena *arena;
  ARRAY(struct fact_term) terms;
  ARRAY(struct fact_undo) log;
  ARRAY(uint32_t) bound;      /* variables, in order */
  struct scoped_map memo_map; /* indices of the memo */
  ARRAY(struct fact_memo) memo;
  struct map numbers; /* from a number to one more than its term */
  uint32_t clock;
};

void facts_init(struct facts *, struct arena *);
/* Forgets everything, and makes room for var_count variables. */
void facts_reset(struct facts *, uint32_t var_count);
/* Binds a variable: makes its terms. */
void facts_bind(struct facts *, uint32_t var, enum fact_kind);

uint32_t facts_root(const struct facts *, uint32_t term);
bool facts_equal(const struct facts *, uint32_t a, uint32_t b);
/* States that a = b from here on, by construction. Two different numbers are not united: no
 * execution reaches this binding. */
void facts_unite(struct facts *, uint32_t a, uint32_t b);
/* States that a = b from here on, because a check has passed. */
void facts_unite_checked(struct facts *, uint32_t a, uint32_t b);
/* Returns whether some fact on the term depends on a check. */
bool facts_checked(const struct facts *, uint32_t term);
/* Returns the term of a number. */
uint32_t facts_number(struct facts *, int64_t number);
bool facts_known(const struct facts *, uint32_t term, int64_t *number);
bool facts_is(const struct facts *, uint32_t term, int64_t number);
void facts_set_nonnegative(struct facts *, uint32_t term);
bool facts_nonnegative(const struct facts *, uint32_t term);
/* Returns the known term of operation(a, b). If there was none, that is `fresh` from now on. */
uint32_t facts_memo(struct facts *, uint32_t operation, uint32_t a, uint32_t b, uint32_t fresh);

/* facts_rollback undoes all facts found after facts_mark returned this mark. */
uint32_t facts_mark(const struct facts *);
void facts_rollback(struct facts *, uint32_t mark);

/* Returns the class of the terms that are assumed equal to this one. */
uint32_t facts_assumed(struct facts *, uint32_t term);

#endif
