/* unify.c - making two types the same. (NESL specification, section 5.2.)
 *
 * Robinson's algorithm with links in the variables. Classes are members of one another, not
 * sets that intersect: number with logical fails, although both contain int.
 */
#include "neslc/types.h"

/* Whether a base type is a member of a class. */
static bool has_member(enum type_class klass, enum type_tag tag) {
  switch (klass) {
  case CLASS_ANY: return true;
  case CLASS_SCALAR: return tag <= TYPE_CHAR;
  case CLASS_ORDINAL: return tag == TYPE_INT || tag == TYPE_FLOAT || tag == TYPE_CHAR;
  case CLASS_NUMBER: return tag == TYPE_INT || tag == TYPE_FLOAT;
  case CLASS_LOGICAL: return tag == TYPE_INT || tag == TYPE_BOOL;
  case CLASSES: break;
  }
  return false;
}

/* Whether `inner` is listed as a member of `outer`, or is the same. */
static bool has_class(enum type_class outer, enum type_class inner) {
  switch (outer) {
  case CLASS_ANY: return true;
  case CLASS_SCALAR: return inner != CLASS_ANY;
  case CLASS_ORDINAL: return inner == CLASS_ORDINAL || inner == CLASS_NUMBER;
  case CLASS_NUMBER:
  case CLASS_LOGICAL: return inner == outer;
  case CLASSES: break;
  }
  return false;
}

static bool occurs(const struct type *variable, struct type *t) {
  t = type_of(t);
  if (t == variable) return true;
  for (unsigned i = 0; i < 3; i++) {
    if (t->part[i] && occurs(variable, t->part[i])) return true;
  }
  for (uint32_t i = 0; i < t->argument_count; i++) {
    if (occurs(variable, t->arguments[i])) return true;
  }
  return false;
}

static enum unify_result unify_variables(struct type *a, struct type *b) {
  enum type_class a_class = (enum type_class)a->klass, b_class = (enum type_class)b->klass;
  struct type *keep;
  if (has_class(a_class, b_class)) {
    keep = b;
  } else if (has_class(b_class, a_class)) {
    keep = a;
  } else {
    return UNIFY_CLASS;
  }
  struct type *drop = keep == a ? b : a;
  if (!keep->from_source) { /* the class it always had may have a known place */
    keep->from = drop->from;
    keep->from_source = drop->from_source;
  }
  drop->link = keep;
  return UNIFY_OK;
}

static enum unify_result unify_variable(struct type *variable, struct type *t) {
  if (variable->generic) return UNIFY_CLASH;
  if (t->tag == TYPE_VARIABLE && !t->generic) return unify_variables(variable, t);
  bool constructed = t->tag > TYPE_STREAM;
  if (constructed ? variable->klass != CLASS_ANY
                  : !has_member((enum type_class)variable->klass, (enum type_tag)t->tag)) {
    return UNIFY_CLASS;
  }
  if (constructed && occurs(variable, t)) return UNIFY_INFINITE;
  variable->link = t;
  return UNIFY_OK;
}

enum unify_result type_unify(struct type *a, struct type *b, struct type **a_part,
                             struct type **b_part) {
  a = type_of(a);
  b = type_of(b);
  if (a == b) return UNIFY_OK;
  enum unify_result result = UNIFY_OK;
  if (a->tag == TYPE_VARIABLE || b->tag == TYPE_VARIABLE) {
    bool a_links = a->tag == TYPE_VARIABLE && !a->generic;
    result = a_links ? unify_variable(a, b) : unify_variable(b, a);
  } else if (a->tag != b->tag || a->data != b->data) {
    result = UNIFY_CLASH;
  } else if (a->tag == TYPE_IDENTITY && (a->global != b->global || a->lambda != b->lambda)) {
    result = UNIFY_IDENTITY;
  }
  if (result != UNIFY_OK) {
    *a_part = a;
    *b_part = b;
    return result;
  }
  if (a->tag == TYPE_VARIABLE || b->tag == TYPE_VARIABLE) return UNIFY_OK;
  for (unsigned i = 0; i < 3 && result == UNIFY_OK; i++) {
    if (a->part[i]) result = type_unify(a->part[i], b->part[i], a_part, b_part);
  }
  for (uint32_t i = 0; i < a->argument_count && result == UNIFY_OK; i++) {
    result = type_unify(a->arguments[i], b->arguments[i], a_part, b_part);
  }
  return result;
}
