/* unify.c - unification of two types. (NESL specification, section 5.2.)
 *
 * Huet's algorithm: links in the variables, and classes of types with parts that are the same,
 * so that two parts are compared once however often they are shared. Two classes (of types)
 * become the class that has what both have, if there is one; or int, which is all that number
 * and logical have in common.
 */
#include "neslc/table.h"
#include "neslc/types/types.h"

struct unifier {
  struct arena *arena;
  struct table same; /* type with parts -> one that it is, or is being, unified with */
  struct type **a_part, **b_part;
};

/* The kinds of types in a class: base types, and types that consist of ordered ones. */
enum { INTS = 1, FLOATS = 2, BOOLS = 4, CHARS = 8, ORDERED = 16, OTHERS = 32 };
static const uint8_t members[CLASSES] = {
    [CLASS_ANY] = INTS | FLOATS | BOOLS | CHARS | ORDERED | OTHERS,
    [CLASS_SCALAR] = INTS | FLOATS | BOOLS | CHARS,
    [CLASS_ORDINAL] = INTS | FLOATS | CHARS | ORDERED,
    [CLASS_NUMBER] = INTS | FLOATS,
    [CLASS_LOGICAL] = INTS | BOOLS,
    [CLASS_SORTABLE] = INTS | FLOATS | ORDERED,
    [CLASS_EQUATED] = INTS | FLOATS | CHARS,
};

/* Whether a base type is a member of a class. */
static bool has_member(enum type_class klass, enum type_tag tag) {
  const unsigned member = tag <= TYPE_CHAR ? 1u << tag : OTHERS;
  return (members[klass] & member) != 0;
}

/* The class that has what both have; CLASSES if that is int alone, which no class is. */
static unsigned common_class(enum type_class a, enum type_class b) {
  const unsigned both = members[a] & members[b];
  unsigned k = CLASS_ANY;
  while (k < CLASSES && members[k] != both) k++;
  return k;
}

struct search {
  const struct type *variable;
  struct table seen;
};

/* UNIFY_INFINITE if the variable occurs in the type, UNIFY_DEEP if that nests too deep. */
static enum unify_result occurs(struct search *s, struct type *t, uint32_t depth) {
  t = type_of(t);
  if (t == s->variable) return UNIFY_INFINITE;
  if (!type_has_parts(t) || !table_add(&s->seen, t)) return UNIFY_OK;
  if (depth == TYPE_MOST_DEPTH) return UNIFY_DEEP;
  enum unify_result result = UNIFY_OK;
  for (unsigned i = 0; i < 3 && result == UNIFY_OK; i++) {
    if (t->part[i]) result = occurs(s, t->part[i], depth + 1);
  }
  for (uint32_t i = 0; i < t->argument_count && result == UNIFY_OK; i++) {
    result = occurs(s, t->arguments[i], depth + 1);
  }
  return result;
}

/* Both become int, from where the one is that says so. */
static enum unify_result unify_with_int(struct unifier *u, struct type *a, struct type *b) {
  struct type *both = arena_alloc(u->arena, sizeof *both);
  const struct type *known = a->from_source ? a : b;
  *both = *type_base(u->arena, TYPE_INT);
  both->from = known->from;
  both->from_source = known->from_source;
  a->link = b->link = both;
  return UNIFY_OK;
}

static enum unify_result unify_variables(struct unifier *u, struct type *a, struct type *b) {
  const unsigned klass = common_class((enum type_class)a->klass, (enum type_class)b->klass);
  if (klass == CLASSES) return unify_with_int(u, a, b);
  struct type *keep = a->klass == klass && b->klass != klass ? a : b;
  struct type *drop = keep == a ? b : a;
  if (!keep->from_source) { /* its own class may have no source location */
    keep->from = drop->from;
    keep->from_source = drop->from_source;
  }
  keep->klass = (uint8_t)klass;
  drop->link = keep;
  return UNIFY_OK;
}

static enum unify_result unify_within(struct unifier *, struct type *, struct type *,
                                      uint32_t depth);

/* Sequences and tuples have the order of what they consist of. */
static bool may_be_ordered(const struct type *t) {
  return t->tag == TYPE_SEQUENCE || t->tag == TYPE_PAIR;
}
static enum unify_result order_parts(struct unifier *u, struct type *t, uint32_t depth) {
  enum unify_result result = UNIFY_OK;
  for (unsigned i = 0; i < 2 && t->part[i] && result == UNIFY_OK; i++)
    result = unify_within(u, type_variable(u->arena, CLASS_ORDINAL), t->part[i], depth + 1);
  return result;
}

static enum unify_result unify_variable(struct unifier *u, struct type *variable,
                                        struct type *t, uint32_t depth) {
  if (variable->generic) return UNIFY_CLASH;
  if (t->tag == TYPE_VARIABLE && !t->generic) return unify_variables(u, variable, t);
  bool constructed = t->tag > TYPE_STREAM;
  const bool any = variable->klass == CLASS_ANY;
  const bool ordered = !any && (members[variable->klass] & ORDERED) && may_be_ordered(t);
  if (constructed ? !any && !ordered
                  : !has_member((enum type_class)variable->klass, (enum type_tag)t->tag)) {
    return UNIFY_CLASS;
  }
  if (constructed) {
    struct search search = {.variable = variable};
    table_begin(&search.seen, u->arena);
    const enum unify_result found = occurs(&search, t, 0);
    if (found != UNIFY_OK) return found;
  }
  variable->link = t;
  return ordered ? order_parts(u, t, depth) : UNIFY_OK;
}

/* Whether both are known to be the same; they are from now on. */
static bool known_same(struct unifier *u, struct type *a, struct type *b) {
  if (!type_has_parts(a)) return false;
  const void *first = table_root(&u->same, a), *second = table_root(&u->same, b);
  if (first == second) return true;
  table_set(&u->same, first, (void *)(uintptr_t)second);
  return false;
}

static enum unify_result unify_within(struct unifier *u, struct type *a, struct type *b,
                                      uint32_t depth) {
  a = type_of(a);
  b = type_of(b);
  if (a == b) return UNIFY_OK;
  enum unify_result result = UNIFY_OK;
  const bool variable = a->tag == TYPE_VARIABLE || b->tag == TYPE_VARIABLE;
  if (variable) {
    bool a_links = a->tag == TYPE_VARIABLE && !a->generic;
    result = a_links ? unify_variable(u, a, b, depth) : unify_variable(u, b, a, depth);
  } else if (a->tag != b->tag || a->data != b->data) {
    result = UNIFY_CLASH;
  } else if (a->tag == TYPE_IDENTITY && (a->global != b->global || a->lambda != b->lambda)) {
    result = UNIFY_IDENTITY;
  } else if (depth == TYPE_MOST_DEPTH) {
    result = UNIFY_DEEP;
  }
  if (result != UNIFY_OK) {
    if (!*u->a_part) {
      *u->a_part = a;
      *u->b_part = b;
    }
    return result;
  }
  if (variable || known_same(u, a, b)) return UNIFY_OK;
  for (unsigned i = 0; i < 3 && result == UNIFY_OK; i++) {
    if (a->part[i]) result = unify_within(u, a->part[i], b->part[i], depth + 1);
  }
  for (uint32_t i = 0; i < a->argument_count && result == UNIFY_OK; i++) {
    result = unify_within(u, a->arguments[i], b->arguments[i], depth + 1);
  }
  return result;
}

enum unify_result type_unify(struct arena *scratch, struct type *a, struct type *b,
                             struct type **a_part, struct type **b_part) {
  struct unifier u = {.arena = scratch, .a_part = a_part, .b_part = b_part};
  *a_part = *b_part = NULL;
  table_begin(&u.same, scratch);
  return unify_within(&u, a, b, 0);
}
