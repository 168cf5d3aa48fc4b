/* sizes-facts.h - what is known at one place of a function: which sizes are equal, which are
 * numbers. Private to sizes*.c.
 *
 * A *term* stands for a number that only execution may tell. Every variable has three:
 *
 *   TERM_SIZE   the length of a vector, the total of a descriptor
 *   TERM_COUNT  the number of segments of a descriptor; of an INT vector whose elements are all
 *               the same, their value (of a scalar, hence, the scalar itself)
 *   TERM_SAME   what the whole value is: equal terms, equal values. A descriptor and the vector
 *               of its lengths share it
 *
 * Values of scalars and sizes are terms of one kind, so LENGTH, MAKE_SEGDES and LENGTHS need no
 * rules of their own: they make terms equal. Terms are kept in classes (union and find, by
 * weight, without path compression) with a log, so that what holds in one arm of an IF only can
 * be taken back in the order in which it came.
 *
 * Beside the facts stands what is *likely*: every equality that is a fact anywhere in the
 * function, never taken back. Fusion asks for it, because the rules of a superoperator are
 * checked again when it runs.
 */
#ifndef RAVEL_SIZES_FACTS_H
#define RAVEL_SIZES_FACTS_H

#include "base/map.h"

enum { TERM_SIZE, TERM_COUNT, TERM_SAME, TERMS_PER_VAR };

#define NO_TERM UINT32_MAX

/* The term of some kind that was bound first, and when; NO_TERM: there is none. */
struct fact_first {
  uint32_t term, stamp;
};

enum fact_kind { FACT_VECTOR, FACT_DESCRIPTOR, FACT_OTHER };

struct fact_term {
  uint32_t parent;
  /* of a root: */
  uint32_t weight;
  uint32_t least;               /* the term of the class that was bound first */
  uint32_t stamp;               /* when that was */
  struct fact_first vector;     /* likewise, of lengths of vectors only */
  struct fact_first descriptor; /* of totals of descriptors only */
  int64_t number;
  bool known;   /* it is `number` */
  bool natural; /* it is not negative */
  bool checked; /* not all of it holds by construction: something had to be checked first */
  /* likely classes, with path compression */
  uint32_t likely;
  int64_t likely_number;
  bool likely_known;
};

/* What has been done since some mark: a union (child, and what its root was before), or one
 * entry more in the memo (child == NO_TERM). */
struct fact_undo {
  uint32_t child, root;
  struct fact_term before;
};

/* operation(a, b) = term, by the roots of a and b when it was found. */
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
/* Forgets everything; then var_count variables may be bound, which makes their terms. */
void facts_reset(struct facts *, uint32_t var_count);
/* A variable is bound: later than all those before. */
void facts_bind(struct facts *, uint32_t var, enum fact_kind);

uint32_t facts_root(const struct facts *, uint32_t term);
bool facts_equal(const struct facts *, uint32_t a, uint32_t b);
/* a = b from here on, by construction. Two different numbers stay apart: no execution comes
 * here. */
void facts_unite(struct facts *, uint32_t a, uint32_t b);
/* Likewise, because a check of it was passed. */
void facts_unite_checked(struct facts *, uint32_t a, uint32_t b);
/* Whether something known of the term rests on a check. */
bool facts_checked(const struct facts *, uint32_t term);
/* The term of a number. */
uint32_t facts_number(struct facts *, int64_t number);
bool facts_known(const struct facts *, uint32_t term, int64_t *number);
bool facts_is(const struct facts *, uint32_t term, int64_t number);
void facts_set_natural(struct facts *, uint32_t term);
bool facts_natural(const struct facts *, uint32_t term);
/* The term that stood for operation(a, b) before, else `fresh`, which does from now on. */
uint32_t facts_memo(struct facts *, uint32_t operation, uint32_t a, uint32_t b, uint32_t fresh);

/* Takes back all that came after facts_mark gave this mark. */
uint32_t facts_mark(const struct facts *);
void facts_rollback(struct facts *, uint32_t mark);

/* The likely class of a term. */
uint32_t facts_likely(struct facts *, uint32_t term);

#endif
