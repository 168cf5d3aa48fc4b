/* derive-order.c - derived functions that compare: equality, order, ranks, the greatest and the
 * least. */
#include "neslc/primitives/derive-private.h"

/* ---- eql(x, y), _same(x, y) ---- */

/* Sequences that have different lengths are not compared. */
static struct core *sequences_equal(struct build *b, struct type *type,
                                    const struct derive_components *x,
                                    const struct derive_components *y, const char *name) {
  struct core_pattern *a = build_local(b, "a", type->part[0]);
  struct core_pattern *c = build_local(b, "b", type->part[0]);
  struct core *same = call2(b, name, build_use(b, a), build_use(b, c));
  struct core *lengths =
      call2(b, "==", call(b, "length", left(b, x)), call(b, "length", left(b, y)));
  struct core *each = build_each2(b, a, left(b, x), c, left(b, y), same);
  return build_if(b, lengths, call(b, "all", each), build_int(b, TYPE_BOOL, 0));
}

/* `name` is the function itself, which compares the components. */
static struct core *equality(struct build *b, struct type *argument,
                             struct core_pattern **parameter, const char *name) {
  struct type *type = type_of(argument->part[0]);
  if (is_scalar(type)) return NULL;
  struct derive_components x = build_components(b, type, "x"),
                           y = build_components(b, type, "y");
  *parameter = build_pair_pattern(b, x.pattern, y.pattern);
  if (type->tag == TYPE_SEQUENCE) return sequences_equal(b, type, &x, &y, name);
  if (type->tag == TYPE_PAIR) {
    return call2(b, "and", call2(b, name, left(b, &x), left(b, &y)),
                 call2(b, name, right(b, &x), right(b, &y)));
  }
  if (x.pattern == x.left) return build_int(b, TYPE_BOOL, 1); /* captures nothing */
  return call2(b, name, left(b, &x), left(b, &y));
}

struct core *derive_equal(struct build *b, struct type *argument,
                          struct core_pattern **parameter) {
  return equality(b, argument, parameter, "eql");
}

/* A function of two values by the library's function for floats. */
static struct core *of_floats(struct build *b, struct type *type,
                              struct core_pattern **parameter, const char *name) {
  struct core_pattern *x = build_local(b, "x", type), *y = build_local(b, "y", type);
  *parameter = build_pair_pattern(b, x, y);
  return call2(b, name, build_use(b, x), build_use(b, y));
}

struct core *derive_same(struct build *b, struct type *argument,
                         struct core_pattern **parameter) {
  struct type *type = type_of(argument->part[0]);
  if (type->tag == TYPE_FLOAT) return of_floats(b, type, parameter, "_same_floats");
  return equality(b, argument, parameter, "_same");
}

/* ---- x < y, x > y, x <= y, x >= y, _before(x, y), _exceeds(x, y), _falls_below(x, y) ---- */

/* The functions of an order: of two components that differ, of the last ones, and whether two
 * are equal.
 */
struct order {
  const char *strictly, *name, *equal;
};

/* At the first position where they differ; if one ends before, by the lengths. */
static struct core *sequences_ordered(struct build *b, struct type *type,
                                      const struct derive_components *x,
                                      const struct derive_components *y,
                                      const struct order *o) {
  struct core_pattern *u = build_local(b, "u", type), *w = build_local(b, "w", type);
  struct core_pattern *p = build_local(b, "p", type_base(b->arena, TYPE_INT));
  struct core_pattern *a = build_local(b, "a", type->part[0]);
  struct core_pattern *c = build_local(b, "b", type->part[0]);
  struct core *differ = call(b, "not", call2(b, o->equal, build_use(b, a), build_use(b, c)));
  struct core *first =
      call(b, "_first_of", build_each2(b, a, build_use(b, u), c, build_use(b, w), differ));
  struct core *lengths =
      call2(b, o->name, call(b, "length", left(b, x)), call(b, "length", left(b, y)));
  struct core *elements =
      call2(b, o->strictly, call2(b, "_elt", build_use(b, u), build_use(b, p)),
            call2(b, "_elt", build_use(b, w), build_use(b, p)));
  struct core *ended = call2(b, "==", build_use(b, p), call(b, "length", build_use(b, u)));
  return build_let(b, build_pair_pattern(b, u, w), call2(b, "_common", left(b, x), left(b, y)),
                   build_let(b, p, first, build_if(b, ended, lengths, elements)));
}

/* Lexicographic order: `strictly` decides where components differ. */
static struct core *build_ordered(struct build *b, struct type *argument,
                                  struct core_pattern **parameter, const struct order *o) {
  struct type *type = type_of(argument->part[0]);
  if (is_scalar(type)) return NULL;
  struct derive_components x = build_components(b, type, "x"),
                           y = build_components(b, type, "y");
  *parameter = build_pair_pattern(b, x.pattern, y.pattern);
  if (type->tag == TYPE_SEQUENCE) return sequences_ordered(b, type, &x, &y, o);
  return call2(b, "or", call2(b, o->strictly, left(b, &x), left(b, &y)),
               call2(b, "and", call2(b, o->equal, left(b, &x), left(b, &y)),
                     call2(b, o->name, right(b, &x), right(b, &y))));
}

struct core *derive_less(struct build *b, struct type *t, struct core_pattern **parameter) {
  return build_ordered(b, t, parameter, &(struct order){"<", "<", "eql"});
}
struct core *derive_greater(struct build *b, struct type *t, struct core_pattern **parameter) {
  return build_ordered(b, t, parameter, &(struct order){">", ">", "eql"});
}
struct core *derive_less_or_equal(struct build *b, struct type *t,
                                  struct core_pattern **parameter) {
  return build_ordered(b, t, parameter, &(struct order){"<", "<=", "eql"});
}
struct core *derive_greater_or_equal(struct build *b, struct type *t,
                                     struct core_pattern **parameter) {
  return build_ordered(b, t, parameter, &(struct order){">", ">=", "eql"});
}

struct core *derive_before(struct build *b, struct type *t, struct core_pattern **parameter) {
  struct type *type = type_of(t->part[0]);
  if (type->tag == TYPE_FLOAT) return of_floats(b, type, parameter, "_before_floats");
  return build_ordered(b, t, parameter, &(struct order){"_before", "_before", "_same"});
}

/* Floats have a function of their own; tuples and sequences are compared as sort has them. */
static struct core *build_chosen(struct build *b, struct type *t,
                                 struct core_pattern **parameter, const char *floats,
                                 bool greater) {
  struct type *type = type_of(t->part[0]);
  if (type->tag == TYPE_FLOAT) return of_floats(b, type, parameter, floats);
  if (is_scalar(type)) return NULL;
  struct core_pattern *x = build_local(b, "x", type), *y = build_local(b, "y", type);
  *parameter = build_pair_pattern(b, x, y);
  return call2(b, "_before", build_use(b, greater ? y : x), build_use(b, greater ? x : y));
}
struct core *derive_exceeds(struct build *b, struct type *t, struct core_pattern **parameter) {
  return build_chosen(b, t, parameter, "_exceeds_floats", true);
}
struct core *derive_falls_below(struct build *b, struct type *t,
                                struct core_pattern **parameter) {
  return build_chosen(b, t, parameter, "_falls_below_floats", false);
}

/* ---- _dense(v), rank(v), max_val(v) ... of sequences, tuples and characters ---- */

struct core *derive_dense(struct build *b, struct type *argument,
                          struct core_pattern **parameter) {
  struct type *type = type_of(argument->part[0]);
  struct core_pattern *v = *parameter = build_local(b, "v", argument);
  if (type->tag == TYPE_PAIR) {
    struct derive_components p = build_unzipped(b, type);
    return build_let(b, p.pattern, call(b, "unzip", build_use(b, v)),
                     call2(b, "_dense_pairs", call(b, "_dense", left(b, &p)),
                           call(b, "_dense", right(b, &p))));
  }
  if (type->tag == TYPE_SEQUENCE) {
    return call2(b, "_dense_sequences", call(b, "_dense", call(b, "flatten", build_use(b, v))),
                 call(b, "_lengths", build_use(b, v)));
  }
  if (type->tag != TYPE_CHAR) return call(b, "_dense_numbers", build_use(b, v));
  return call(b, "_dense_numbers", build_elements(b, argument, "char_code", build_use(b, v)));
}

static bool is_number_type(const struct type *t) {
  return t->tag == TYPE_INT || t->tag == TYPE_FLOAT;
}

static struct core *build_ranked(struct build *b, struct type *argument,
                                 struct core_pattern **parameter, const char *name) {
  if (is_number_type(type_of(argument->part[0]))) return NULL;
  struct core_pattern *v = *parameter = build_local(b, "v", argument);
  return call(b, name, call(b, "_dense", build_use(b, v)));
}
struct core *derive_ranks(struct build *b, struct type *t, struct core_pattern **parameter) {
  return build_ranked(b, t, parameter, "rank");
}
struct core *derive_ranks_down(struct build *b, struct type *t,
                               struct core_pattern **parameter) {
  if (type_of(t->part[0])->tag == TYPE_FLOAT) {
    struct core_pattern *v = *parameter = build_local(b, "v", t);
    return call(b, "_rank_down_floats", build_use(b, v));
  }
  return build_ranked(b, t, parameter, "rank_down");
}

static struct core *build_extreme(struct build *b, struct type *argument,
                                  struct core_pattern **parameter, const char *index) {
  if (is_scalar(type_of(argument->part[0]))) return NULL;
  struct core_pattern *v = *parameter = build_local(b, "v", argument);
  return call2(b, index, build_use(b, v), call(b, "_dense", build_use(b, v)));
}
struct core *derive_greatest(struct build *b, struct type *t, struct core_pattern **parameter) {
  return build_extreme(b, t, parameter, "_greatest_by");
}
struct core *derive_least(struct build *b, struct type *t, struct core_pattern **parameter) {
  return build_extreme(b, t, parameter, "_least_by");
}
/* Scans begin with the least value, or the greatest. */
struct core *derive_no_scan(struct build *b, struct type *argument,
                            struct core_pattern **parameter) {
  if (is_scalar(type_of(argument->part[0]))) return NULL;
  struct core_pattern *v = *parameter = build_local(b, "v", argument);
  return call(b, "_no_scan", build_use(b, v));
}
