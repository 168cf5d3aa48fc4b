/* value.h - the items of the machine's stack: values of the back end, or pairs of two values.
 *
 * A value is 16 bytes of plain data. Scalars and one-segment descriptors live inside it; the
 * other forms refer to counted objects: vectors and descriptors belong to the back end, pairs
 * to the machine. Copying the struct does not count a reference; value_retain does.
 */
#ifndef RAVEL_VALUE_H
#define RAVEL_VALUE_H

#include "base/heap.h"
#include "cvl/cvl.h"
#include "ir/ir.h"

struct pair; /* two values, shared and counted */

/* One more form beside those of enum cvl_form. */
enum { VALUE_PAIR = CVL_SEGDES + 1 };

struct value {
  union {
    uint8_t form;          /* enum cvl_form or VALUE_PAIR; CVL_NOTHING: no value */
    struct cvl_value flat; /* every form except VALUE_PAIR */
    struct {               /* VALUE_PAIR; laid out like `flat` */
      uint8_t pair_form, pair_elem, pair_owned;
      struct pair *pair;
    };
  };
};

static inline bool value_is_segdes(const struct value *v) {
  return v->form == CVL_ONE_SEGMENT || v->form == CVL_SEGDES;
}

struct pair {
  uint64_t references;
  struct pair *next_dead; /* while a tree of pairs is being freed */
  struct value left, right;
};

/* The objects needed to count and free a value. */
struct value_store {
  const struct cvl_backend *backend;
  struct cvl_context *context;
  struct heap *heap;
};

/* Returns whether the value refers to a counted object. */
static inline bool value_is_counted(const struct value *v) {
  return v->form == CVL_VECTOR || v->form == CVL_SEGDES || v->form == VALUE_PAIR;
}

static inline struct value value_of(struct cvl_value flat) {
  struct value v = {.flat = flat};
  return v;
}

/* Returns INT, FLOAT, BOOL, SEGDES or PAIR. */
enum ir_kind_tag value_kind(const struct value *);

/* Counts one more reference. */
void value_retain(const struct value_store *, const struct value *);
/* Gives up one reference; pairs of any depth are freed without recursion. *v has no value
 * afterwards. */
void value_release(const struct value_store *, struct value *v);

/* Makes a pair of two values, whose references pass to it. Returns false if memory runs out;
 * the values then stay the caller's. */
bool value_pair(const struct value_store *, const struct value *left, const struct value *right,
                struct value *out);
/* Takes a pair apart: gives up the reference to it; the caller owns the two results. */
void value_unpair(const struct value_store *, struct value *pair, struct value *left,
                  struct value *right);

#endif
