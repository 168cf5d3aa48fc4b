/* check-exp.c - expressions: resolution and types. (NESL specification, section 5.)
 */
#include "neslc/types/check.h"

struct core *core_make(struct checker *ck, enum core_kind kind, const struct syntax *e,
                       struct type *type) {
  return core_new(ck->arena, kind, type, ck->source, e->at);
}

struct core *core_tuple(struct checker *ck, const struct syntax *e, struct core **components,
                        uint32_t count) {
  struct core *tuple = components[count - 1];
  for (uint32_t i = count - 1; i-- > 0;) {
    struct type *type = type_pair(ck->arena, components[i]->type, tuple->type);
    struct core *pair = core_make(ck, CORE_PAIR, e, type);
    pair->as.part.left = components[i];
    pair->as.part.right = tuple;
    tuple = pair;
  }
  return tuple;
}

struct core *core_local(struct checker *ck, const struct syntax *e, struct local *local) {
  struct core *core = core_make(ck, CORE_LOCAL, e, local->type);
  core->as.local = local;
  return core;
}

static struct type *base_from(struct checker *ck, enum type_tag tag, const struct syntax *e) {
  return type_from(ck, type_base(ck->arena, tag), e->at);
}

/* ---- literals ---- */

static struct core *check_int_literal(struct checker *ck, const struct syntax *e) {
  struct core *core = core_make(ck, CORE_INT, e, base_from(ck, TYPE_INT, e));
  core->as.integer = e->as.integer;
  if (ck->session->classic) {
    /* 0x80000000 is the bits of the least int; of decimal digits the reader has seen to it. */
    if (e->as.integer > (int64_t)INT32_MAX + 1) {
      complain(ck->complaints, NESL_TYPE, ck->source, e->at,
               "this number is too large for an int of 32 bits: the greatest is %d", INT32_MAX);
    } else if (e->as.integer > INT32_MAX) {
      core->as.integer = INT32_MIN;
    }
  }
  return core;
}

static struct core *check_empty(struct checker *ck, const struct syntax *e) {
  struct type_names none = {0};
  struct type *element = check_type(ck, e->as.type, &none);
  return core_make(ck, CORE_EMPTY, e, type_from(ck, type_sequence(ck->arena, element), e->at));
}

static struct core *check_list(struct checker *ck, const struct syntax *e) {
  struct core *core = core_make(ck, CORE_LIST, e, NULL);
  core->as.list.count = e->as.list.count;
  core->as.list.items = arena_alloc(ck->arena, e->as.list.count * sizeof(struct core *));
  struct core *first = NULL;
  for (size_t i = 0; i < e->as.list.count; i++) {
    struct core *item = check_expression(ck, e->as.list.items[i]);
    core->as.list.items[i] = item;
    if (!first) first = item;
    struct clash clash;
    if (unify(ck, &clash, first->type, item->type)) continue;
    complain_clash(ck, item->at, &clash,
                   "the elements of a list have one type, but the first is %s and this is %s",
                   shown(ck, first->type), shown(ck, item->type));
  }
  core->type = type_from(ck, type_sequence(ck->arena, first->type), e->at);
  return core;
}

/* ---- conditionals, let, lambdas ---- */

static void require_bool(struct checker *ck, const struct core *condition, const char *what) {
  struct clash clash;
  if (unify(ck, &clash, type_base(ck->arena, TYPE_BOOL), condition->type)) return;
  complain_clash(ck, condition->at, &clash, "%s is to be bool, but this is %s", what,
                 shown(ck, condition->type));
}

static struct core *check_if(struct checker *ck, const struct syntax *e) {
  struct core *condition = check_expression(ck, e->as.part.third);
  require_bool(ck, condition, "the condition of `if`");
  struct core *yes = check_expression(ck, e->as.part.left);
  struct core *no = check_expression(ck, e->as.part.right);
  struct type *type = yes->type;
  struct clash clash;
  if (!unify(ck, &clash, yes->type, no->type)) {
    type = type_variable(ck->arena, CLASS_ANY); /* either might have been meant */
    complain_clash(ck, no->at, &clash,
                   "the branches of `if` have one type, but `then` gives %s and `else` %s",
                   shown(ck, yes->type), shown(ck, no->type));
    const struct syntax *last = e->as.part.right;
    if (last->kind == SYNTAX_PAIR && !last->parenthesised) {
      remark(ck->complaints, ck->source, last->at,
             "`else` extends over commas: put the `if` into parentheses to end it before one");
    }
  }
  struct core *core = core_make(ck, CORE_IF, e, type);
  core->as.part.left = yes;
  core->as.part.right = no;
  core->as.part.third = condition;
  return core;
}

/* A placeholder for an expression with an error: its type unifies with everything. */
static struct core *wrong_expression(struct checker *ck, const struct syntax *e) {
  return core_make(ck, CORE_INT, e, type_variable(ck->arena, CLASS_ANY));
}

static struct core *check_let(struct checker *ck, const struct syntax *e) {
  const struct binding *outside = ck->scope;
  if (!pattern_is_legal(ck, e->as.part.left, PATTERN_OF_LET)) return wrong_expression(ck, e);
  struct core *value = check_expression(ck, e->as.part.right);
  struct core_pattern *pattern =
      check_pattern(ck, e->as.part.left, value->type, PATTERN_OF_LET, outside);
  struct core *body = check_expression(ck, e->as.part.third);
  ck->scope = outside;
  struct core *core = core_make(ck, CORE_LET, e, body->type);
  core->as.part.left = value;
  core->as.part.right = body;
  core->as.part.pattern = pattern;
  return core;
}

/* The state has one type in all rounds. */
static struct core *check_step(struct checker *ck, const struct syntax *e,
                               const struct core *first) {
  struct core *step = check_expression(ck, e);
  struct clash clash;
  if (unify(ck, &clash, first->type, step->type)) return step;
  complain_clash(ck, step->at, &clash,
                 "a `loop` has a state of one type, but it begins as %s and `do` gives %s",
                 shown(ck, first->type), shown(ck, step->type));
  return step;
}

static struct core *check_loop_exp(struct checker *ck, const struct syntax *e) {
  const struct binding *outside = ck->scope;
  if (!pattern_is_legal(ck, e->as.part.left, PATTERN_OF_LET)) return wrong_expression(ck, e);
  struct core *first = check_expression(ck, e->as.part.right);
  struct core *core = core_make(ck, CORE_LOOP, e, first->type);
  core->as.part.left = first;
  core->as.part.pattern =
      check_pattern(ck, e->as.part.left, first->type, PATTERN_OF_LET, outside);
  core->as.part.third = check_expression(ck, e->as.part.third);
  require_bool(ck, core->as.part.third, "the condition behind `while`");
  core->as.part.right = check_step(ck, e->as.part.fourth, first);
  ck->scope = outside;
  return core;
}

static struct core *check_lambda(struct checker *ck, const struct syntax *e) {
  if (!pattern_is_legal(ck, e->as.part.left, PATTERN_OF_PARAMETERS))
    return wrong_expression(ck, e);
  const struct binding *outside = ck->scope;
  struct lambda_frame frame = {.depth = ck->frame->depth + 1, .outer = ck->frame};
  struct core_lambda *lambda = arena_alloc(ck->arena, sizeof *lambda);
  ck->frame = &frame;
  lambda->number = ck->session->next_number++;
  lambda->source = ck->source;
  lambda->region = ck->session->region;
  lambda->at = e->at;
  struct type *argument = type_variable(ck->arena, CLASS_ANY);
  lambda->parameter =
      check_pattern(ck, e->as.part.left, argument, PATTERN_OF_PARAMETERS, outside);
  lambda->body = check_expression(ck, e->as.part.right);
  lambda->captured = frame.captured.items;
  lambda->captured_count = (uint32_t)frame.captured.count;
  ck->scope = outside;
  ck->frame = frame.outer;

  struct type *identity = type_from(ck, type_identity(ck->arena, NULL, lambda, 0, NULL), e->at);
  *array_push(ck->arena, &ck->lambdas) =
      (struct lambda_note){.lambda = lambda, .identity = identity};
  struct type *type = type_function(ck->arena, argument, lambda->body->type, identity);
  struct core *core = core_make(ck, CORE_LAMBDA, e, type_from(ck, type, e->at));
  core->as.lambda = lambda;
  return core;
}

/* ---- apply-to-each ---- */

/* The type of the elements of a generator's source. */
static struct type *element_type(struct checker *ck, const struct core *source) {
  struct type *type = type_of(source->type);
  if (type->tag == TYPE_SEQUENCE) return type->part[0];
  struct type *element = type_variable(ck->arena, CLASS_ANY);
  struct type *wanted = type_from(ck, type_sequence(ck->arena, element), source->at);
  struct clash clash;
  if (!unify(ck, &clash, wanted, type)) {
    complain_clash(ck, source->at, &clash,
                   "what follows `in` in an apply-to-each is to be a sequence, but this is %s",
                   shown(ck, type));
  }
  return element;
}

static struct core *check_each(struct checker *ck, const struct syntax *e) {
  const struct binding *outside = ck->scope;
  size_t count = e->as.each.count;
  for (size_t i = 0; i < count; i++) {
    if (!pattern_is_legal(ck, e->as.each.generators[i].pattern, PATTERN_OF_LET)) {
      return wrong_expression(ck, e);
    }
  }
  struct core *core = core_make(ck, CORE_EACH, e, NULL);
  struct core_generator *generators = arena_alloc(ck->arena, count * sizeof *generators);
  for (size_t i = 0; i < count; i++) {
    generators[i].source = check_expression(ck, e->as.each.generators[i].source);
  }
  for (size_t i = 0; i < count; i++) {
    generators[i].pattern =
        check_pattern(ck, e->as.each.generators[i].pattern,
                      element_type(ck, generators[i].source), PATTERN_OF_LET, outside);
  }
  ck->parallel++;
  struct core *sieve = NULL;
  struct core *body = check_expression(ck, e->as.each.body);
  if (e->as.each.sieve) {
    sieve = check_expression(ck, e->as.each.sieve);
    require_bool(ck, sieve, "the condition behind `|`");
  }
  ck->parallel--;
  ck->scope = outside;
  core->type = type_from(ck, type_sequence(ck->arena, body->type), e->at);
  core->as.each.generators = generators;
  core->as.each.count = count;
  core->as.each.body = body;
  core->as.each.sieve = sieve;
  core->as.each.serial = e->serial;
  return core;
}

/* ---- dispatch ---- */

static struct core *check_pair_exp(struct checker *ck, const struct syntax *e) {
  struct core *left = check_expression(ck, e->as.part.left);
  struct core *right = check_expression(ck, e->as.part.right);
  struct type *type = type_pair(ck->arena, left->type, right->type);
  struct core *core = core_make(ck, CORE_PAIR, e, type_from(ck, type, e->at));
  core->as.part.left = left;
  core->as.part.right = right;
  return core;
}

static struct core *check_typed_exp(struct checker *ck, const struct syntax *e) {
  struct core *inner = check_expression(ck, e->as.typed.inner);
  const struct type_names none = {0};
  struct type *type = check_type(ck, e->as.typed.type, &none);
  struct clash clash;
  if (!unify(ck, &clash, type, inner->type)) {
    complain_clash(ck, e->as.typed.inner->at, &clash, "this is to be %s, but it is %s",
                   shown(ck, type), shown(ck, inner->type));
  }
  return inner;
}

static struct core *check_unchecked_option(struct checker *ck, const struct syntax *e) {
  complain(ck->complaints, NESL_OPTIONAL_ARGUMENT, ck->source, e->mark,
           "`:=` names an optional argument or a field: it stands in the arguments of a "
           "function that has some, called by its own name, or of a record");
  return wrong_expression(ck, e);
}

struct core *check_expression(struct checker *ck, const struct syntax *e) {
  struct core *core;
  switch ((enum syntax_kind)e->kind) {
  case SYNTAX_INT: return check_int_literal(ck, e);
  case SYNTAX_FLOAT:
    core = core_make(ck, CORE_FLOAT, e, base_from(ck, TYPE_FLOAT, e));
    core->as.real = e->as.real;
    return core;
  case SYNTAX_CHAR:
    core = core_make(ck, CORE_CHAR, e, base_from(ck, TYPE_CHAR, e));
    core->as.integer = e->as.character;
    return core;
  case SYNTAX_STRING: return check_string(ck, e);
  case SYNTAX_NAME: return check_name(ck, e);
  case SYNTAX_PAIR: return check_pair_exp(ck, e);
  case SYNTAX_APPLY: return check_apply(ck, e);
  case SYNTAX_LAMBDA: return check_lambda(ck, e);
  case SYNTAX_OPTION: return check_unchecked_option(ck, e);
  case SYNTAX_IF: return check_if(ck, e);
  case SYNTAX_LET: return check_let(ck, e);
  case SYNTAX_LOOP: return check_loop_exp(ck, e);
  case SYNTAX_LIST: return check_list(ck, e);
  case SYNTAX_EMPTY: return check_empty(ck, e);
  case SYNTAX_TYPED: return check_typed_exp(ck, e);
  case SYNTAX_FIELD: return check_field(ck, e);
  case SYNTAX_EACH: return check_each(ck, e);
  }
  return wrong_expression(ck, e);
}
