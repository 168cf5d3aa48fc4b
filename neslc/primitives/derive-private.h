/* derive-private.h - what the files with derived functions have in common.
 *
 * A derived function makes a body for the ground type of its argument, and sets the parameter;
 * NULL for a base case. Each is named in a row of primitives.def, and called derive_NAME.
 */
#ifndef RAVEL_NESLC_DERIVE_PRIVATE_H
#define RAVEL_NESLC_DERIVE_PRIVATE_H

#include "neslc/primitives/derive-build.h"

typedef struct core *derived_body(struct build *, struct type *, struct core_pattern **);
#define PRIMITIVE(id, name, group, opcode, fails, effect, derived, doc)                        \
  derived_body derive_##derived;
#include "neslc/primitives/primitives.def"

static inline struct core *call(struct build *b, const char *name, struct core *argument) {
  return build_call(b, name, argument);
}
static inline struct core *call2(struct build *b, const char *name, struct core *x,
                                 struct core *y) {
  return build_call2(b, name, x, y);
}

static inline bool is_scalar(const struct type *t) {
  return t->tag == TYPE_INT || t->tag == TYPE_FLOAT || t->tag == TYPE_BOOL ||
         t->tag == TYPE_CHAR || t->tag == TYPE_STREAM;
}

static inline struct core *left(struct build *b, const struct derive_components *p) {
  return build_use(b, p->left);
}
static inline struct core *right(struct build *b, const struct derive_components *p) {
  return build_use(b, p->right);
}

#endif
