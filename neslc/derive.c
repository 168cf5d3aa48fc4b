/* derive.c - the functions that follow the structure of a type, one case for each type.
 *
 * What does not depend on the type is in the library, as functions whose names begin with `_`;
 * this file only combines them.
 */
#include "neslc/derive.h"
#include "base/check.h"

#include "neslc/derive-build.h"
#include "neslc/table.h"

static struct core *call(struct build *b, const char *name, struct core *argument) {
  return build_call(b, name, argument);
}
static struct core *call2(struct build *b, const char *name, struct core *x, struct core *y) {
  return build_call2(b, name, x, y);
}

static bool is_scalar(const struct type *t) {
  return t->tag == TYPE_INT || t->tag == TYPE_FLOAT || t->tag == TYPE_BOOL ||
         t->tag == TYPE_CHAR || t->tag == TYPE_STREAM;
}

/* Variables for the components of a value, and the pattern that binds them: the two of a pair,
 * the contents of a datatype, the captured values of a function; for other types the value
 * itself.
 */
struct components {
  struct core_pattern *pattern;
  struct core_pattern *left, *right; /* right: of a pair */
};
static struct components components_of(struct build *b, struct type *type, const char *name) {
  struct components p = {0};
  if (type->tag == TYPE_PAIR) {
    p.left = build_local(b, name, type->part[0]);
    p.right = build_local(b, name, type->part[1]);
    p.pattern = build_pair_pattern(b, p.left, p.right);
    return p;
  }
  struct type *contents =
      type->tag == TYPE_DATA || type->tag == TYPE_FUNCTION ? build_contents(b, type) : NULL;
  p.left = build_local(b, name, contents ? contents : type);
  p.pattern = contents ? build_contents_pattern(b, type, p.left) : p.left;
  return p;
}
static struct core *left(struct build *b, const struct components *p) {
  return build_use(b, p->left);
}
static struct core *right(struct build *b, const struct components *p) {
  return build_use(b, p->right);
}

/* Variables for the two sequences of a sequence of pairs. */
static struct components unzipped(struct build *b, struct type *pair) {
  struct components p = {.left = build_local(b, "x", build_sequence_type(b, pair->part[0])),
                         .right = build_local(b, "y", build_sequence_type(b, pair->part[1]))};
  p.pattern = build_pair_pattern(b, p.left, p.right);
  return p;
}

/* name of each element of a sequence. */
static struct core *of_elements(struct build *b, struct type *sequence, const char *name,
                                struct core *value) {
  struct core_pattern *e = build_local(b, "e", sequence->part[0]);
  return build_each(b, e, value, call(b, name, build_use(b, e)));
}

/* ---- eql(x, y), _same(x, y) ---- */

/* Sequences that have different lengths are not compared. */
static struct core *sequences_equal(struct build *b, struct type *type,
                                    const struct components *x, const struct components *y,
                                    const char *name) {
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
  struct components x = components_of(b, type, "x"), y = components_of(b, type, "y");
  *parameter = build_pair_pattern(b, x.pattern, y.pattern);
  if (type->tag == TYPE_SEQUENCE) return sequences_equal(b, type, &x, &y, name);
  if (type->tag == TYPE_PAIR) {
    return call2(b, "and", call2(b, name, left(b, &x), left(b, &y)),
                 call2(b, name, right(b, &x), right(b, &y)));
  }
  if (x.pattern == x.left) return build_int(b, TYPE_BOOL, 1); /* captures nothing */
  return call2(b, name, left(b, &x), left(b, &y));
}

static struct core *equal(struct build *b, struct type *argument,
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

static struct core *same(struct build *b, struct type *argument,
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
                                      const struct components *x, const struct components *y,
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
static struct core *ordered(struct build *b, struct type *argument,
                            struct core_pattern **parameter, const struct order *o) {
  struct type *type = type_of(argument->part[0]);
  if (is_scalar(type)) return NULL;
  struct components x = components_of(b, type, "x"), y = components_of(b, type, "y");
  *parameter = build_pair_pattern(b, x.pattern, y.pattern);
  if (type->tag == TYPE_SEQUENCE) return sequences_ordered(b, type, &x, &y, o);
  return call2(b, "or", call2(b, o->strictly, left(b, &x), left(b, &y)),
               call2(b, "and", call2(b, o->equal, left(b, &x), left(b, &y)),
                     call2(b, o->name, right(b, &x), right(b, &y))));
}

static struct core *less(struct build *b, struct type *t, struct core_pattern **parameter) {
  return ordered(b, t, parameter, &(struct order){"<", "<", "eql"});
}
static struct core *greater(struct build *b, struct type *t, struct core_pattern **parameter) {
  return ordered(b, t, parameter, &(struct order){">", ">", "eql"});
}
static struct core *less_or_equal(struct build *b, struct type *t,
                                  struct core_pattern **parameter) {
  return ordered(b, t, parameter, &(struct order){"<", "<=", "eql"});
}
static struct core *greater_or_equal(struct build *b, struct type *t,
                                     struct core_pattern **parameter) {
  return ordered(b, t, parameter, &(struct order){">", ">=", "eql"});
}

static struct core *before(struct build *b, struct type *t, struct core_pattern **parameter) {
  struct type *type = type_of(t->part[0]);
  if (type->tag == TYPE_FLOAT) return of_floats(b, type, parameter, "_before_floats");
  return ordered(b, t, parameter, &(struct order){"_before", "_before", "_same"});
}

/* Floats have a function of their own; tuples and sequences are compared as sort has them. */
static struct core *chosen(struct build *b, struct type *t, struct core_pattern **parameter,
                           const char *floats, bool greater) {
  struct type *type = type_of(t->part[0]);
  if (type->tag == TYPE_FLOAT) return of_floats(b, type, parameter, floats);
  if (is_scalar(type)) return NULL;
  struct core_pattern *x = build_local(b, "x", type), *y = build_local(b, "y", type);
  *parameter = build_pair_pattern(b, x, y);
  return call2(b, "_before", build_use(b, greater ? y : x), build_use(b, greater ? x : y));
}
static struct core *exceeds(struct build *b, struct type *t, struct core_pattern **parameter) {
  return chosen(b, t, parameter, "_exceeds_floats", true);
}
static struct core *falls_below(struct build *b, struct type *t,
                                struct core_pattern **parameter) {
  return chosen(b, t, parameter, "_falls_below_floats", false);
}

/* ---- _dense(v), rank(v), max_val(v) ... of sequences, tuples and characters ---- */

static struct core *dense(struct build *b, struct type *argument,
                          struct core_pattern **parameter) {
  struct type *type = type_of(argument->part[0]);
  struct core_pattern *v = *parameter = build_local(b, "v", argument);
  if (type->tag == TYPE_PAIR) {
    struct components p = unzipped(b, type);
    return build_let(b, p.pattern, call(b, "unzip", build_use(b, v)),
                     call2(b, "_dense_pairs", call(b, "_dense", left(b, &p)),
                           call(b, "_dense", right(b, &p))));
  }
  if (type->tag == TYPE_SEQUENCE) {
    return call2(b, "_dense_sequences", call(b, "_dense", call(b, "flatten", build_use(b, v))),
                 call(b, "_lengths", build_use(b, v)));
  }
  if (type->tag != TYPE_CHAR) return call(b, "_dense_numbers", build_use(b, v));
  return call(b, "_dense_numbers", of_elements(b, argument, "char_code", build_use(b, v)));
}

static bool is_number(const struct type *t) {
  return t->tag == TYPE_INT || t->tag == TYPE_FLOAT;
}

static struct core *ranked(struct build *b, struct type *argument,
                           struct core_pattern **parameter, const char *name) {
  if (is_number(type_of(argument->part[0]))) return NULL;
  struct core_pattern *v = *parameter = build_local(b, "v", argument);
  return call(b, name, call(b, "_dense", build_use(b, v)));
}
static struct core *ranks(struct build *b, struct type *t, struct core_pattern **parameter) {
  return ranked(b, t, parameter, "rank");
}
static struct core *ranks_down(struct build *b, struct type *t,
                               struct core_pattern **parameter) {
  if (type_of(t->part[0])->tag == TYPE_FLOAT) {
    struct core_pattern *v = *parameter = build_local(b, "v", t);
    return call(b, "_rank_down_floats", build_use(b, v));
  }
  return ranked(b, t, parameter, "rank_down");
}

static struct core *extreme(struct build *b, struct type *argument,
                            struct core_pattern **parameter, const char *index) {
  if (is_scalar(type_of(argument->part[0]))) return NULL;
  struct core_pattern *v = *parameter = build_local(b, "v", argument);
  return call2(b, index, build_use(b, v), call(b, "_dense", build_use(b, v)));
}
static struct core *greatest(struct build *b, struct type *t, struct core_pattern **parameter) {
  return extreme(b, t, parameter, "_greatest_by");
}
static struct core *least(struct build *b, struct type *t, struct core_pattern **parameter) {
  return extreme(b, t, parameter, "_least_by");
}
/* Scans begin with the least value, or the greatest. */
static struct core *no_scan(struct build *b, struct type *argument,
                            struct core_pattern **parameter) {
  if (is_scalar(type_of(argument->part[0]))) return NULL;
  struct core_pattern *v = *parameter = build_local(b, "v", argument);
  return call(b, "_no_scan", build_use(b, v));
}

/* ---- negate(x) ---- */

static struct core *negation(struct build *b, struct type *argument,
                             struct core_pattern **parameter) {
  struct core_pattern *x = *parameter = build_local(b, "x", argument);
  struct core *zero =
      argument->tag == TYPE_FLOAT ? build_float(b, -0.0) : build_int(b, TYPE_INT, 0);
  return call2(b, "-", zero, build_use(b, x));
}

/* ---- select(c, x, y) ---- */

static struct core *select_of(struct build *b, struct core *c, struct core *x, struct core *y) {
  return call2(b, "select", c, build_pair(b, x, y));
}

static struct core *selection(struct build *b, struct type *argument,
                              struct core_pattern **parameter) {
  struct type *type = type_of(type_of(argument->part[1])->part[0]);
  if (is_scalar(type)) return NULL;
  struct core_pattern *c = build_local(b, "c", type_base(b->arena, TYPE_BOOL));
  struct components x, y;
  if (type->tag == TYPE_PAIR || type->tag == TYPE_DATA) {
    x = components_of(b, type, "x");
    y = components_of(b, type, "y");
  } else {
    x.pattern = x.left = build_local(b, "x", type);
    y.pattern = y.left = build_local(b, "y", type);
  }
  *parameter = build_pair_pattern(b, c, build_pair_pattern(b, x.pattern, y.pattern));
  if (type->tag == TYPE_PAIR) {
    return build_pair(b, select_of(b, build_use(b, c), left(b, &x), left(b, &y)),
                      select_of(b, build_use(b, c), right(b, &x), right(b, &y)));
  }
  if (type->tag == TYPE_DATA) {
    return build_data(b, type, select_of(b, build_use(b, c), left(b, &x), left(b, &y)));
  }
  return build_if(b, build_use(b, c), left(b, &x), left(b, &y));
}

/* ---- identity(x), _default(v) ---- */

/* The neutral value of a scalar or sequence. */
static struct core *neutral(struct build *b, struct type *type) {
  switch (type->tag) {
  case TYPE_INT: return build_int(b, TYPE_INT, 0);
  case TYPE_FLOAT: return build_float(b, 0.0);
  case TYPE_BOOL: return build_int(b, TYPE_BOOL, 0);
  case TYPE_CHAR: return build_int(b, TYPE_CHAR, ' ');
  case TYPE_SEQUENCE: return build_empty(b, type->part[0]);
  default: return NULL;
  }
}

/* Streams and functions have no neutral value: the result is x itself. */
static struct core *identity(struct build *b, struct type *argument,
                             struct core_pattern **parameter) {
  bool whole = argument->tag == TYPE_FUNCTION;
  struct components x = {0};
  if (whole) {
    x.pattern = x.left = build_local(b, "x", argument);
  } else {
    x = components_of(b, argument, "x");
  }
  *parameter = x.pattern;
  if (argument->tag == TYPE_PAIR) {
    return build_pair(b, call(b, "identity", left(b, &x)), call(b, "identity", right(b, &x)));
  }
  if (argument->tag == TYPE_DATA) {
    return build_data(b, argument, call(b, "identity", left(b, &x)));
  }
  struct core *e = neutral(b, argument);
  return e ? e : left(b, &x);
}

/* The contents of all values of a datatype in a sequence. */
static struct core *all_contents(struct build *b, struct type *data, struct core *sequence) {
  struct components p = components_of(b, data, "x");
  return build_each(b, p.pattern, sequence, left(b, &p));
}

/* A sequence of contents as one of values of the datatype. */
static struct core *all_data(struct build *b, struct type *data, struct core *sequence) {
  struct core_pattern *x = build_local(b, "x", type_of(sequence->type)->part[0]);
  return build_each(b, x, sequence, build_data(b, data, build_use(b, x)));
}

static struct core *defaults(struct build *b, struct type *argument,
                             struct core_pattern **parameter) {
  struct type *type = type_of(argument->part[0]);
  struct core_pattern *v = *parameter = build_local(b, "v", argument);
  if (type->tag == TYPE_PAIR) {
    struct components p = unzipped(b, type);
    return build_let(
        b, p.pattern, call(b, "unzip", build_use(b, v)),
        build_pair(b, call(b, "_default", left(b, &p)), call(b, "_default", right(b, &p))));
  }
  if (type->tag == TYPE_DATA) {
    return build_data(b, type, call(b, "_default", all_contents(b, type, build_use(b, v))));
  }
  struct core *e = neutral(b, type);
  return e ? e : call2(b, "elt", build_use(b, v), build_int(b, TYPE_INT, 0));
}

/* ---- _hash(x), string(x) ---- */

static struct core *hash(struct build *b, struct type *type, struct core_pattern **parameter) {
  struct components x = components_of(b, type, "x");
  *parameter = x.pattern;
  switch ((enum type_tag)type->tag) {
  case TYPE_INT: return call(b, "_hash_int", left(b, &x));
  case TYPE_FLOAT: return call(b, "_hash_float", left(b, &x));
  case TYPE_BOOL: return call(b, "_hash_int", call(b, "btoi", left(b, &x)));
  case TYPE_CHAR: return call(b, "_hash_int", call(b, "char_code", left(b, &x)));
  case TYPE_SEQUENCE:
    return call(b, "_hash_sequence", of_elements(b, type, "_hash", left(b, &x)));
  case TYPE_PAIR:
    return call2(b, "_hash_pair", call(b, "_hash", left(b, &x)),
                 call(b, "_hash", right(b, &x)));
  case TYPE_DATA:
  case TYPE_FUNCTION:
    if (x.pattern != x.left) return call(b, "_hash", left(b, &x));
    return build_int(b, TYPE_INT, 0); /* captures nothing: all are equal */
  case TYPE_STREAM:
  case TYPE_IDENTITY:
  case TYPE_VARIABLE: break;
  }
  return build_int(b, TYPE_INT, 0);
}

/* All components of a tuple are written within one pair of parentheses. */
static struct core *tuple_string(struct build *b, struct type *type,
                                 struct core_pattern **parameter) {
  size_t count = 1;
  for (struct type *t = type; t->tag == TYPE_PAIR; t = type_of(t->part[1])) count++;
  struct core_pattern **components = arena_alloc(b->arena, count * sizeof *components);
  struct core **strings = arena_alloc(b->arena, count * sizeof *strings);
  for (size_t i = 0; i < count; i++) {
    components[i] = build_local(b, "x", i + 1 < count ? type->part[0] : type);
    strings[i] = call(b, "string", build_use(b, components[i]));
    if (i + 1 < count) type = type_of(type->part[1]);
  }
  struct core_pattern *p = components[count - 1];
  for (size_t i = count - 1; i-- > 0;) p = build_pair_pattern(b, components[i], p);
  *parameter = p;
  return call(b, "_tuple_string", build_list(b, strings, count));
}

/* name(field := ..., field := ...), as values are printed. */
static struct core *record_string(struct build *b, struct type *record,
                                  struct core_pattern **parameter) {
  const struct datatype *data = record->data;
  const uint32_t count = data->field_count;
  struct core_pattern **fields = arena_alloc(b->arena, count * sizeof *fields);
  struct core **strings = arena_alloc(b->arena, count * sizeof *strings);
  struct type *type = build_contents(b, record);
  for (uint32_t i = 0; i < count; i++) {
    fields[i] = build_local(b, "x", i + 1 < count ? type->part[0] : type);
    if (i + 1 < count) type = type_of(type->part[1]);
    const char *name = arena_printf(b->arena, "%s := ", data->fields[i]->text);
    strings[i] =
        call2(b, "++", build_string(b, name), call(b, "string", build_use(b, fields[i])));
  }
  struct core_pattern *p = fields[count - 1];
  for (size_t i = count - 1; i-- > 0;) p = build_pair_pattern(b, fields[i], p);
  *parameter = build_contents_pattern(b, record, p);
  return call2(b, "++", build_string(b, data->name->text),
               call(b, "_tuple_string", build_list(b, strings, count)));
}

static struct core *string(struct build *b, struct type *type,
                           struct core_pattern **parameter) {
  if (type->tag == TYPE_PAIR) return tuple_string(b, type, parameter);
  if (type->tag == TYPE_DATA && type->data->field_count)
    return record_string(b, type, parameter);
  struct components x = components_of(b, type, "x");
  *parameter = x.pattern;
  switch ((enum type_tag)type->tag) {
  case TYPE_INT: return call(b, "int_string", left(b, &x));
  case TYPE_FLOAT: return call(b, "float_string", left(b, &x));
  case TYPE_BOOL: return call(b, "bool_string", left(b, &x));
  case TYPE_CHAR: return call(b, "char_string", left(b, &x));
  case TYPE_STREAM: return build_string(b, "stream");
  case TYPE_SEQUENCE:
    return call(b, "_sequence_string", of_elements(b, type, "string", left(b, &x)));
  case TYPE_DATA: return call(b, "string", left(b, &x));
  case TYPE_PAIR:
  case TYPE_FUNCTION:
  case TYPE_IDENTITY:
  case TYPE_VARIABLE: break;
  }
  return build_string(b, "function");
}

/* ---- _write_columns(v, st), _read_columns(v, st) ---- */

static struct core_pattern *value_and_stream(struct build *b, struct type *argument,
                                             struct core **value, struct core **stream) {
  struct core_pattern *v = build_local(b, "v", argument->part[0]);
  struct core_pattern *st = build_local(b, "st", argument->part[1]);
  *value = build_use(b, v);
  *stream = build_use(b, st);
  return build_pair_pattern(b, v, st);
}

/* both(each(v1, stream), each(v2, stream)) of a sequence of pairs. */
static struct core *of_both(struct build *b, struct type *type, struct core *value,
                            const char *both, const char *each, struct core *stream) {
  struct components p = unzipped(b, type);
  return build_let(b, p.pattern, call(b, "unzip", value),
                   call2(b, both, call2(b, each, left(b, &p), stream),
                         call2(b, each, right(b, &p), stream)));
}

static struct core *write_columns(struct build *b, struct type *argument,
                                  struct core_pattern **parameter) {
  struct type *type = type_of(type_of(argument->part[0])->part[0]);
  struct core *value, *stream;
  *parameter = value_and_stream(b, argument, &value, &stream);
  switch ((enum type_tag)type->tag) {
  case TYPE_INT: return call2(b, "_write_ints", value, stream);
  case TYPE_FLOAT: return call2(b, "_write_floats", value, stream);
  case TYPE_BOOL: return call2(b, "_write_bools", value, stream);
  case TYPE_CHAR: return call2(b, "_write_chars", value, stream);
  case TYPE_SEQUENCE:
    return call2(b, "_written", call2(b, "_write_lengths", call(b, "_lengths", value), stream),
                 call2(b, "_write_columns", call(b, "flatten", value), stream));
  case TYPE_PAIR: return of_both(b, type, value, "_written", "_write_columns", stream);
  case TYPE_DATA: return call2(b, "_write_columns", all_contents(b, type, value), stream);
  case TYPE_STREAM:
  case TYPE_FUNCTION:
  case TYPE_IDENTITY:
  case TYPE_VARIABLE: break;
  }
  return call2(b, "_write_likes", value, stream);
}

/* (v, ok, message) of contents as the same of the datatype's values. */
static struct core *read_data(struct build *b, struct type *data, struct core *contents) {
  struct type *result = type_of(contents->type);
  struct core_pattern *v = build_local(b, "v", result->part[0]);
  struct core_pattern *status = build_local(b, "status", result->part[1]);
  return build_let(b, build_pair_pattern(b, v, status), contents,
                   build_pair(b, all_data(b, data, build_use(b, v)), build_use(b, status)));
}

static struct core *read_columns(struct build *b, struct type *argument,
                                 struct core_pattern **parameter) {
  struct type *type = type_of(type_of(argument->part[0])->part[0]);
  struct core *value, *stream;
  *parameter = value_and_stream(b, argument, &value, &stream);
  switch ((enum type_tag)type->tag) {
  case TYPE_INT: return call(b, "read_int_seq", stream);
  case TYPE_FLOAT: return call(b, "read_float_seq", stream);
  case TYPE_BOOL: return call(b, "_read_bools", stream);
  case TYPE_CHAR: return call(b, "_read_chars", stream);
  case TYPE_SEQUENCE:
    return call2(b, "_read_sequences", call(b, "_read_lengths", stream),
                 call2(b, "_read_columns", call(b, "flatten", value), stream));
  case TYPE_PAIR: return of_both(b, type, value, "_read_pairs", "_read_columns", stream);
  case TYPE_DATA:
    return read_data(b, type, call2(b, "_read_columns", all_contents(b, type, value), stream));
  case TYPE_STREAM:
  case TYPE_FUNCTION:
  case TYPE_IDENTITY:
  case TYPE_VARIABLE: break;
  }
  return call2(b, "_read_likes", value, stream);
}

/* ---- dispatch ---- */

static derived_body *body_of(enum primitive p) {
#define NONE NULL
  static derived_body *const bodies[PRIMITIVES] = {
#define PRIMITIVE(id, name, group, opcode, fails, effect, derived, doc) derived,
#include "neslc/primitives.def"
  };
#undef NONE
  return bodies[p];
}

bool is_derived(enum primitive p) {
  return body_of(p) != NULL;
}

/* The functions derived so far, in lists by a hash of primitive and type. */
struct derivation {
  struct derived derived;
  enum primitive primitive;
  struct type *argument;
  struct derivation *next;
};

const struct derived *derive(struct session *session, struct table *known,
                             enum primitive primitive, struct type *argument) {
  argument = type_of(argument);
  const uint64_t hashed = type_hash(known->arena, argument) * 64 + (uint64_t)primitive;
  const void *key = (const void *)(uintptr_t)(hashed | 1);
  struct derivation *first = table_get(known, key);
  for (struct derivation *d = first; d; d = d->next) {
    if (d->primitive == primitive && type_same(known->arena, d->argument, argument))
      return &d->derived;
  }
  derived_body *const body = body_of(primitive);
  invariant(body);
  const struct global *g = session_library(session, primitive_info(primitive)->name);
  struct build b = {
      .session = session, .arena = known->arena, .source = g->form->source, .at = g->form->at};
  struct derivation *d = arena_alloc(known->arena, sizeof *d);
  *d = (struct derivation){.primitive = primitive, .argument = argument, .next = first};
  d->derived.body = body(&b, argument, &d->derived.parameter);
  d->derived.shallow = primitive >= PRIM_CHECKED_ADD && primitive <= PRIM_CHECKED_SCAN;
  d->derived.local_count = b.local_count;
  table_set(known, key, d);
  return &d->derived;
}
