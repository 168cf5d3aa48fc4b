/* derive.c - the functions that follow the structure of a type, one case for each type.
 *
 * What does not depend on the type is in the library, as functions whose names begin with `_`;
 * this file and derive-order.c only combine them.
 */
#include "neslc/primitives/derive.h"
#include "base/check.h"

#include "neslc/primitives/derive-private.h"
#include "neslc/table.h"

/* ---- negate(x) ---- */

struct core *derive_negation(struct build *b, struct type *argument,
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

struct core *derive_selection(struct build *b, struct type *argument,
                              struct core_pattern **parameter) {
  struct type *type = type_of(type_of(argument->part[1])->part[0]);
  if (is_scalar(type)) return NULL;
  struct core_pattern *c = build_local(b, "c", type_base(b->arena, TYPE_BOOL));
  struct derive_components x, y;
  if (type->tag == TYPE_PAIR || type->tag == TYPE_DATA) {
    x = build_components(b, type, "x");
    y = build_components(b, type, "y");
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
static struct core *build_neutral(struct build *b, struct type *type) {
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
struct core *derive_identity(struct build *b, struct type *argument,
                             struct core_pattern **parameter) {
  bool whole = argument->tag == TYPE_FUNCTION;
  struct derive_components x = {0};
  if (whole) {
    x.pattern = x.left = build_local(b, "x", argument);
  } else {
    x = build_components(b, argument, "x");
  }
  *parameter = x.pattern;
  if (argument->tag == TYPE_PAIR) {
    return build_pair(b, call(b, "identity", left(b, &x)), call(b, "identity", right(b, &x)));
  }
  if (argument->tag == TYPE_DATA) {
    return build_data(b, argument, call(b, "identity", left(b, &x)));
  }
  struct core *e = build_neutral(b, argument);
  return e ? e : left(b, &x);
}

/* The contents of all values of a datatype in a sequence. */
static struct core *all_contents(struct build *b, struct type *data, struct core *sequence) {
  struct derive_components p = build_components(b, data, "x");
  return build_each(b, p.pattern, sequence, left(b, &p));
}

/* A sequence of contents as one of values of the datatype. */
static struct core *all_data(struct build *b, struct type *data, struct core *sequence) {
  struct core_pattern *x = build_local(b, "x", type_of(sequence->type)->part[0]);
  return build_each(b, x, sequence, build_data(b, data, build_use(b, x)));
}

struct core *derive_defaults(struct build *b, struct type *argument,
                             struct core_pattern **parameter) {
  struct type *type = type_of(argument->part[0]);
  struct core_pattern *v = *parameter = build_local(b, "v", argument);
  if (type->tag == TYPE_PAIR) {
    struct derive_components p = build_unzipped(b, type);
    return build_let(
        b, p.pattern, call(b, "unzip", build_use(b, v)),
        build_pair(b, call(b, "_default", left(b, &p)), call(b, "_default", right(b, &p))));
  }
  if (type->tag == TYPE_DATA) {
    return build_data(b, type, call(b, "_default", all_contents(b, type, build_use(b, v))));
  }
  struct core *e = build_neutral(b, type);
  return e ? e : call2(b, "elt", build_use(b, v), build_int(b, TYPE_INT, 0));
}

/* ---- _hash(x), string(x) ---- */

struct core *derive_hash(struct build *b, struct type *type, struct core_pattern **parameter) {
  struct derive_components x = build_components(b, type, "x");
  *parameter = x.pattern;
  switch ((enum type_tag)type->tag) {
  case TYPE_INT: return call(b, "_hash_int", left(b, &x));
  case TYPE_FLOAT: return call(b, "_hash_float", left(b, &x));
  case TYPE_BOOL: return call(b, "_hash_int", call(b, "btoi", left(b, &x)));
  case TYPE_CHAR: return call(b, "_hash_int", call(b, "char_code", left(b, &x)));
  case TYPE_SEQUENCE:
    return call(b, "_hash_sequence", build_elements(b, type, "_hash", left(b, &x)));
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

struct core *derive_string(struct build *b, struct type *type,
                           struct core_pattern **parameter) {
  if (type->tag == TYPE_PAIR) return tuple_string(b, type, parameter);
  if (type->tag == TYPE_DATA && type->data->field_count)
    return record_string(b, type, parameter);
  struct derive_components x = build_components(b, type, "x");
  *parameter = x.pattern;
  switch ((enum type_tag)type->tag) {
  case TYPE_INT: return call(b, "int_string", left(b, &x));
  case TYPE_FLOAT: return call(b, "float_string", left(b, &x));
  case TYPE_BOOL: return call(b, "bool_string", left(b, &x));
  case TYPE_CHAR: return call(b, "char_string", left(b, &x));
  case TYPE_STREAM: return build_string(b, "stream");
  case TYPE_SEQUENCE:
    return call(b, "_sequence_string", build_elements(b, type, "string", left(b, &x)));
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
  struct derive_components p = build_unzipped(b, type);
  return build_let(b, p.pattern, call(b, "unzip", value),
                   call2(b, both, call2(b, each, left(b, &p), stream),
                         call2(b, each, right(b, &p), stream)));
}

struct core *derive_write_columns(struct build *b, struct type *argument,
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

struct core *derive_read_columns(struct build *b, struct type *argument,
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

static derived_body *body_of_primitive(enum primitive p) {
#define derive_NONE NULL
  static derived_body *const bodies[PRIMITIVES] = {
#define PRIMITIVE(id, name, group, opcode, fails, effect, derived, doc) derive_##derived,
#include "neslc/primitives/primitives.def"
  };
#undef derive_NONE
  return bodies[p];
}

bool is_derived(enum primitive p) {
  return body_of_primitive(p) != NULL;
}

/* The functions derived so far, in lists by a hash of primitive and type. */
struct derivation {
  struct derived derived;
  enum primitive primitive;
  struct type *argument;
  struct derivation *next;
};

/* Whether the body is one call, of no function that follows the structure of a type. */
static bool is_shallow(enum primitive p, struct type *argument) {
  if (p == PRIM_EXCEEDS || p == PRIM_FALLS_BELOW)
    return type_of(argument->part[0])->tag == TYPE_FLOAT;
  return p == PRIM_NEGATE || (p >= PRIM_CHECKED_ADD && p <= PRIM_CHECKED_SCAN);
}

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
  derived_body *const body = body_of_primitive(primitive);
  invariant(body);
  const struct global *g = session_library(session, primitive_info(primitive)->name);
  struct build b = {
      .session = session, .arena = known->arena, .source = g->form->source, .at = g->form->at};
  struct derivation *d = arena_alloc(known->arena, sizeof *d);
  *d = (struct derivation){.primitive = primitive, .argument = argument, .next = first};
  d->derived.body = body(&b, argument, &d->derived.parameter);
  d->derived.shallow = is_shallow(primitive, argument);
  d->derived.local_count = b.local_count;
  table_set(known, key, d);
  return &d->derived;
}
