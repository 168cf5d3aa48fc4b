/* check-errors.c - the wording of type errors: both types, the source locations that determined
 * them, and the expression.
 */
#include "neslc/front/habits.h"
#include "neslc/types/check.h"

#include <stdarg.h>
#include <string.h>

bool unify(struct checker *ck, struct clash *clash, struct type *a, struct type *b) {
  clash->a = clash->b = NULL;
  clash->result = type_unify(ck->arena, a, b, &clash->a, &clash->b);
  return clash->result == UNIFY_OK;
}

const char *shown(struct checker *ck, struct type *type) {
  const char *text = type_text(ck->arena, type, false);
  return type_of(type)->tag == TYPE_PAIR ? arena_printf(ck->arena, "(%s)", text) : text;
}

struct type *type_from(struct checker *ck, struct type *type, struct span at) {
  if (type->tag == TYPE_VARIABLE)
    return type; /* the type it is unified with has a location of its own */
  struct type *copy = arena_alloc(ck->arena, sizeof *copy);
  *copy = *type;
  copy->from = at;
  copy->from_source = ck->source;
  return copy;
}

/* "a number" */
static const char *member_of(enum type_class klass) {
  switch (klass) {
  case CLASS_ANY: return "anything";
  case CLASS_SCALAR: return "a scalar (int, float, bool or char)";
  case CLASS_ORDINAL:
    return "of an ordered type (int, float, char, sequences and tuples of these)";
  case CLASS_NUMBER: return "a number (int or float)";
  case CLASS_LOGICAL: return "a logical value (int or bool)";
  case CLASS_SORTABLE:
    return "of a type that can be sorted (int, float, sequences and tuples of ordered types; "
           "char_rank is for chars)";
  case CLASS_EQUATED: return "an int, float or char";
  case CLASSES: break;
  }
  return "?";
}

/* "two numbers" */
static const char *two_of(enum type_class klass) {
  switch (klass) {
  case CLASS_ANY: return "two values";
  case CLASS_SCALAR: return "two scalars";
  case CLASS_ORDINAL: return "two ints, floats, chars, or sequences or tuples of these";
  case CLASS_NUMBER: return "two numbers";
  case CLASS_LOGICAL: return "two bools or ints";
  case CLASS_SORTABLE: return "two numbers, or sequences or tuples";
  case CLASS_EQUATED: return "two ints, floats or chars";
  case CLASSES: break;
  }
  return "?";
}

static bool is_class(const struct type *t) {
  return t->tag == TYPE_VARIABLE && t->klass != CLASS_ANY;
}

/* A type, or what is known of it. */
static const char *described_type(struct checker *ck, struct type *type) {
  type = type_of(type);
  return is_class(type) ? member_of((enum type_class)type->klass) : shown(ck, type);
}

/* ---- reasons ---- */

static bool are_int_and_float(const struct type *a, const struct type *b) {
  return (a->tag == TYPE_INT && b->tag == TYPE_FLOAT) ||
         (a->tag == TYPE_FLOAT && b->tag == TYPE_INT);
}

static bool is_string(const struct type *t) {
  return t->tag == TYPE_SEQUENCE && type_of(t->part[0])->tag == TYPE_CHAR;
}

static bool are_char_and_string(const struct type *a, const struct type *b) {
  return (a->tag == TYPE_CHAR && is_string(b)) || (is_string(a) && b->tag == TYPE_CHAR);
}

/* The reason of the failure, appended to the message; empty where both types show it. */
static const char *reason(struct checker *ck, const struct clash *clash) {
  struct type *a = clash->a, *b = clash->b;
  switch (clash->result) {
  case UNIFY_CLASS:
    if (is_class(a) && is_class(b)) {
      return arena_printf(ck->arena, ": nothing can be both %s and %s here",
                          member_of((enum type_class)a->klass),
                          member_of((enum type_class)b->klass));
    }
    if (is_class(b)) {
      struct type *swap = a;
      a = b;
      b = swap;
    }
    return arena_printf(ck->arena, ": %s is not %s%s", shown(ck, b),
                        member_of((enum type_class)a->klass),
                        type_of(b)->tag == TYPE_SEQUENCE && a->klass == CLASS_NUMBER
                            ? "; {... : x in v} is for each element"
                            : "");
  case UNIFY_INFINITE: return ": the type would contain itself without end";
  case UNIFY_IDENTITY:
    return ": these are different functions, and which function a value is is part of its "
           "type";
  case UNIFY_CLASH:
    if (are_int_and_float(type_of(a), type_of(b))) {
      return "; `float` makes a float of an int, `round` and `trunc` an int of a float";
    }
    if (are_char_and_string(type_of(a), type_of(b)))
      return "; `c is a character, \"c\" a sequence of one";
    break;
  case UNIFY_DEEP: /* reported by complain_because */
  case UNIFY_OK: break;
  }
  return "";
}

static bool comes_from(const struct type *t, const struct source *source, struct span at) {
  return t->from_source == source && t->from.start == at.start && t->from.end == at.end;
}

void remark_on_assumption(struct checker *ck, const struct type *record) {
  if (!record->assumed) return;
  remark(
      ck->complaints, record->from_source, record->from,
      "`%s` was assumed here, the datatype defined last that has a field `%s`: where another "
      "one is meant a type says so, as in (x : TYPE)",
      record->data->name->text, record->assumed->text);
}

/* Remarks on the location that determined a type, unless the error marks it already. */
static void remark_on(struct checker *ck, struct span error, struct type *part,
                      struct type *other) {
  if (!part->from_source || comes_from(part, ck->source, error)) return;
  if (part->tag == TYPE_VARIABLE) {
    if (!is_class(part)) return;
    remark(ck->complaints, part->from_source, part->from, "%s because of this",
           member_of((enum type_class)part->klass));
  } else if (part->tag == TYPE_IDENTITY) {
    remark(ck->complaints, part->from_source, part->from, "one function is this");
  } else if (part->assumed && type_of(other)->tag == TYPE_DATA) {
    remark_on_assumption(ck, part);
  } else {
    remark(ck->complaints, part->from_source, part->from, "%s because of this",
           shown(ck, part));
  }
}

static void complain_because(struct checker *ck, struct span at, const struct clash *clash,
                             const char *message) {
  if (clash->result == UNIFY_DEEP) {
    complain(ck->complaints, NESL_LIMIT, ck->source, at, "the type here nests deeper than %d",
             TYPE_MOST_DEPTH);
    return;
  }
  complain(ck->complaints, NESL_TYPE, ck->source, at, "%s%s", message, reason(ck, clash));
  remark_on(ck, at, clash->a, clash->b);
  if (!comes_from(clash->a, clash->b->from_source, clash->b->from)) {
    remark_on(ck, at, clash->b, clash->a);
  }
}

void complain_clash(struct checker *ck, struct span at, const struct clash *clash,
                    const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *message = arena_vprintf(ck->arena, format, args);
  va_end(args);
  complain_because(ck, at, clash, message);
}

/* ---- arguments ---- */

static const char *ordinal_word(struct checker *ck, unsigned n) {
  static const char *const words[] = {"first", "second", "third", "fourth", "fifth"};
  return n < sizeof words / sizeof *words ? words[n] : arena_printf(ck->arena, "%uth", n + 1);
}

static unsigned tuple_length(struct type *type) {
  unsigned n = 1;
  for (type = type_of(type); type->tag == TYPE_PAIR; type = type_of(type->part[1])) n++;
  return n;
}

/* " :: (a in number)" where a type has variables of classes that say something. */
static const char *classes_of(struct checker *ck, struct type *type) {
  const char *context = type_text(ck->arena, type, true);
  context += strlen(type_text(ck->arena, type, false));
  for (int k = CLASS_SCALAR; k < CLASSES; k++) {
    if (strstr(context, type_class_name((enum type_class)k))) return context;
  }
  return "";
}

/* The class of an operator's operands if it is (a, a) -> ... or a -> ..., else CLASSES. */
static enum type_class operand_class(const struct global *global, bool *binary) {
  struct type *t = type_of(global->scheme.type);
  if (t->tag != TYPE_FUNCTION) return CLASSES;
  t = type_of(t->part[0]);
  *binary = t->tag == TYPE_PAIR;
  if (*binary) {
    if (type_of(t->part[0]) != type_of(t->part[1])) return CLASSES;
    t = type_of(t->part[0]);
  }
  return is_class(t) ? (enum type_class)t->klass : CLASSES;
}

/* `+`, `sort`, or "this function". */
static const char *callee_name(struct checker *ck, const struct syntax *callee) {
  if (callee->kind != SYNTAX_NAME) return "this function";
  return arena_printf(ck->arena, "`%s`", callee->as.name.written);
}

/* Reports "`+` wants two numbers of one type ..."; false if the function has another form. */
static bool complain_operands(struct checker *ck, const struct syntax *apply,
                              const struct global *global, const struct core *argument,
                              const struct clash *clash) {
  bool binary = false;
  enum type_class klass = operand_class(global, &binary);
  if (klass == CLASSES) return false;
  const char *name = callee_name(ck, apply->as.part.left);
  if (!binary) {
    complain(ck->complaints, NESL_TYPE, ck->source, argument->at, "%s wants %s, but this is %s",
             name, member_of(klass), shown(ck, argument->type));
    remark_on(ck, argument->at, clash->a, clash->b);
    remark_on(ck, argument->at, clash->b, clash->a);
    return true;
  }
  struct type *t = type_of(argument->type);
  const bool infix = apply->as.part.left->builtin; /* of two operands, which may be tuples */
  if (t->tag != TYPE_PAIR || (!infix && type_of(t->part[1])->tag == TYPE_PAIR)) return false;
  const char *left = described_type(ck, t->part[0]), *right = described_type(ck, t->part[1]);
  struct span at = apply->as.part.left->builtin ? apply->as.part.left->mark : argument->at;
  const char *wanted = two_of(klass);
  if (strcmp(global->name->text, "==") == 0 || strcmp(global->name->text, "/=") == 0) {
    wanted = arena_printf(ck->arena, "%s (`eql` compares values of all types)", wanted);
  }
  complain_clash(ck, at, clash,
                 strcmp(left, right) == 0 ? "%s wants %s, but these are %s"
                                          : "%s wants %s of one type, but these are %s and %s",
                 name, wanted, left, right);
  return true;
}

/* "the second argument of `take`", "the end of a range". */
static const char *argument_words(struct checker *ck, const struct syntax *f, unsigned number) {
  static const char *const range[] = {"start", "stride", "end"};
  bool builtin = f->kind == SYNTAX_NAME && f->builtin;
  if (builtin && strcmp(f->as.name.name->text, "iseq") == 0 && number < 3) {
    return arena_printf(ck->arena, "the %s of a range", range[number]);
  }
  if (builtin && strcmp(f->as.name.name->text, "elt") == 0) {
    return number == 0 ? "what is indexed" : "an index";
  }
  return arena_printf(ck->arena, "the %s argument of %s", ordinal_word(ck, number),
                      callee_name(ck, f));
}

/* Explains that sum [1, 2] is indexing and abs -3 a subtraction. */
static void remark_on_spelling(struct checker *ck, const struct syntax *apply,
                               const struct core *argument) {
  const struct syntax *f = apply->as.part.left;
  if (f->kind != SYNTAX_NAME || !f->builtin || argument->kind != CORE_PAIR) return;
  if (type_of(argument->as.part.left->type)->tag != TYPE_FUNCTION) return;
  const char *name = f->as.name.name->text;
  if (strcmp(name, "elt") == 0) {
    remark(ck->complaints, ck->source, f->mark,
           "`[` behind an operand is indexing: a list as an argument needs parentheses");
  } else if (strcmp(name, "-") == 0) {
    remark(ck->complaints, ck->source, f->mark,
           "`-` behind an operand is subtraction: a negative argument needs parentheses");
  }
}

/* Reports x ^ 0.5; false for all other arguments. */
static bool complain_power(struct checker *ck, const struct syntax *apply,
                           const struct core *part, unsigned number) {
  const struct syntax *f = apply->as.part.left;
  if (number != 1 || f->kind != SYNTAX_NAME || !f->builtin ||
      strcmp(f->as.name.name->text, "^") != 0 || type_of(part->type)->tag != TYPE_FLOAT) {
    return false;
  }
  complain(ck->complaints, NESL_TYPE, ck->source, part->at,
           "the power of `^` is to be int, but this is float; expt(x, p) takes two floats");
  return true;
}

static void explain_argument(struct checker *ck, const struct syntax *apply,
                             const struct core *callee, const struct core *argument,
                             const struct core *part, unsigned number,
                             const struct clash *clash) {
  const char *name = callee_name(ck, apply->as.part.left);
  struct type *wanted = type_of(callee->type)->part[0];
  if (complain_power(ck, apply, part, number)) return;
  if (callee->kind == CORE_GLOBAL && !checker_of(ck, callee->as.use.global)) {
    const struct global *global = callee->as.use.global;
    if (complain_operands(ck, apply, global, argument, clash)) return;
    /* As it is declared, not as far as it was unified. */
    struct type **fresh = arena_alloc(ck->arena, (global->scheme.count + 1) * sizeof *fresh);
    struct type *type = type_of(type_instantiate(ck->arena, &global->scheme, fresh));
    if (type->tag == TYPE_FUNCTION) wanted = type->part[0];
  }
  const unsigned parameters = tuple_length(wanted);
  const bool fewer = tuple_length(argument->type) < parameters;
  const bool more =
      part != argument && number + 1 == parameters && type_of(part->type)->tag == TYPE_PAIR;
  if (fewer || more) { /* the part that clashed is of no interest */
    complain(ck->complaints, NESL_TYPE, ck->source, argument->at,
             "%s takes %s%s, but its argument is %s", name, shown(ck, wanted),
             classes_of(ck, wanted), shown(ck, argument->type));
    return;
  }
  if (part == argument) {
    complain_clash(ck, argument->at, clash, "%s takes %s%s, but its argument is %s", name,
                   shown(ck, wanted), classes_of(ck, wanted), shown(ck, argument->type));
    return;
  }
  /* The parameter's type, as far as the preceding arguments determined it. */
  struct type *component = type_of(number ? type_of(callee->type)->part[0] : wanted);
  for (unsigned i = 0; i < number && component->tag == TYPE_PAIR; i++) {
    component = type_of(component->part[1]);
  }
  if (component->tag == TYPE_PAIR && number + 1 < parameters) {
    component = type_of(component->part[0]);
  }
  complain_clash(ck, part->at, clash, "%s is to be %s%s, but this is %s",
                 argument_words(ck, apply->as.part.left, number), shown(ck, component),
                 classes_of(ck, component), shown(ck, part->type));
}

/* Explains that "a" + "b" is written with another operator. */
static void remark_on_operator(struct checker *ck, const struct syntax *apply,
                               const struct core *argument) {
  const struct syntax *f = apply->as.part.left;
  if (f->kind != SYNTAX_NAME || !f->builtin || argument->kind != CORE_PAIR) return;
  const struct type *left = type_of(argument->as.part.left->type);
  const struct type *right = type_of(argument->as.part.right->type);
  if (left->tag != right->tag) return;
  const char *habit = habit_of_operator(f->as.name.written, (enum type_tag)left->tag);
  if (habit) remark(ck->complaints, ck->source, f->mark, "%s", habit);
}

void complain_argument(struct checker *ck, const struct syntax *apply,
                       const struct core *callee, const struct core *argument,
                       const struct core *part, unsigned number, const struct clash *clash) {
  explain_argument(ck, apply, callee, argument, part, number, clash);
  remark_on_spelling(ck, apply, argument);
  remark_on_operator(ck, apply, argument);
}

void complain_serial(struct checker *ck, struct span at, const char *function) {
  complain(
      ck->complaints, NESL_SERIAL_ONLY, ck->source, at,
      "%s cannot be called in parallel: it has to do with files or the state of the machine",
      function);
}
