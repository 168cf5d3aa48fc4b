/* kinds.h - kinds during inference, and resolved kinds.
 *
 * While a function is executed symbolically, the kind of a variable is a term: a base kind, a
 * kind variable, or a pair of terms. Terms live in a pool and are made equal by unification
 * (union-find, so sharing is kept and equal terms are looked at once). Afterwards each term is
 * resolved into an immutable `struct ir_kind`. Resolving finds a term that contains itself or
 * is too large. Unification needs no occurs check to terminate, because every step makes two
 * classes one.
 */
#ifndef RAVEL_IR_KINDS_H
#define RAVEL_IR_KINDS_H

#include "ir/ir.h"

/* A term. The first four terms of every pool are the base kinds, numbered as ir_kind_tag. */
typedef uint32_t kind_term;

enum {
  BASE_KINDS = IR_SEGDES + 1,
  /* Bounds of a resolved kind. They keep structural recursion shallow and refuse pairs that
   * double in every call (trees exponential in the program's length). */
  KIND_MAX_DEPTH = 200,
  KIND_MAX_SIZE = 2000 /* nodes, counted as a tree */
};

struct kind_node {
  uint8_t tag;           /* enum ir_kind_tag */
  bool open;             /* being resolved: seen again, it contains itself */
  kind_term parent;      /* itself, unless made equal to another */
  kind_term left, right; /* PAIR */
  uint32_t size;         /* of resolved */
  const struct ir_kind *resolved;
};

struct kind_pool {
  struct arena *arena;
  ARRAY(struct kind_node) nodes;
  ARRAY(kind_term) work;
  uint32_t variables; /* numbered by kind_resolve so far */
};

void kind_pool_init(struct kind_pool *, struct arena *);
/* Forgets all terms but the base kinds; their memory is used again. */
void kind_pool_reset(struct kind_pool *);

kind_term kind_fresh(struct kind_pool *);
kind_term kind_pair(struct kind_pool *, kind_term left, kind_term right);
/* Makes a and b equal. Returns false if a base kind meets another or a pair. */
bool kind_unify(struct kind_pool *, kind_term a, kind_term b);
/* Makes t a pair (of fresh variables, if it is a variable) and gives its two terms. Returns
 * false if it is a base kind. */
bool kind_unpair(struct kind_pool *, kind_term t, kind_term *left, kind_term *right);
/* Makes a term like the resolved kind. Kind variable i becomes instance[i], which is made fresh
 * where it is KIND_UNSET. */
#define KIND_UNSET UINT32_MAX
kind_term kind_instance(struct kind_pool *, const struct ir_kind *, kind_term *instance);

enum kind_fault { KIND_FINE, KIND_CYCLIC, KIND_TOO_LARGE };
/* Resolves t to a kind in `arena`. Kind variables are numbered in the order in which they are
 * met. */
enum kind_fault kind_resolve(struct kind_pool *, struct arena *arena, kind_term t,
                             const struct ir_kind **kind);
/* Returns the text for messages: "INT", "a pair", "any kind". */
const char *kind_term_text(struct kind_pool *, kind_term t);

/* ---- resolved kinds ---- */

/* Returns the shared base kind with this tag, which is below BASE_KINDS. */
const struct ir_kind *ir_kind_base(enum ir_kind_tag tag);
/* Returns the kind of a constant. */
enum ir_kind_tag ir_constant_tag(const struct vcode_constant *);
/* Returns the kind of a type word; CHAR is INT. */
enum ir_kind_tag ir_word_tag(enum type_word);
/* Returns "INT", "a pair", "any kind". */
const char *ir_tag_text(enum ir_kind_tag tag);
/* Returns whether `actual` is an instance of `pattern`, and binds the pattern's variables in
 * `bound` (NULL: not yet). If `actual` or a component of it is NULL, it is unknown and matches
 * everything. */
bool ir_kind_match(const struct ir_kind *pattern, const struct ir_kind *actual,
                   const struct ir_kind **bound);

#endif
