/* direct-eval.c - expressions of the direct interpreter: one value after another, in the order
 * of section 6.1 of the NESL specification, with the costs of section 8.
 *
 * Costs are composed as the table there says: work and depth of parts add up in d->cost; an
 * apply-to-each sets the depth back before each instance and keeps the greatest.
 */
#include "neslc/reference/direct-private.h"

#include <math.h>
#include <string.h>

static bool eval_node(struct direct *d, struct direct_frame *frame, const struct core *e,
                      struct datum *out);

/* ---- variables ---- */

static void set_local(struct direct *d, struct direct_frame *frame, uint32_t number,
                      struct datum x) {
  if (number >= frame->count) {    /* lambdas do not know the variables around them */
    uint32_t count = frame->count; /* a power of two: direct-call.c counts on it */
    while (count <= number) count *= 2;
    struct datum *locals = direct_items(d, count);
    memcpy(locals, frame->locals, frame->count * sizeof *locals);
    frame->locals = locals;
    frame->count = count;
  }
  frame->locals[number] = x;
}

/* The contents of a function, for derived functions: its captured values. */
static struct datum captured_tuple(struct direct *d, struct datum x) {
  const struct datum_function *f = x.as.function;
  uint32_t i = f->specialisation->lambda->captured_count;
  struct datum tuple = f->captured[--i];
  while (i > 0) tuple = datum_pair(d, f->captured[--i], tuple);
  return tuple;
}

void direct_bind(struct direct *d, struct direct_frame *frame, const struct core_pattern *p,
                 struct datum x) {
  switch ((enum core_pattern_kind)p->kind) {
  case PATTERN_LOCAL: set_local(d, frame, p->local->number, x); return;
  case PATTERN_PAIR:
    charge(d, 1, 1);
    direct_bind(d, frame, p->left, x.as.pair->left);
    direct_bind(d, frame, p->right, x.as.pair->right);
    return;
  case PATTERN_CONTENTS:
    charge(d, 1, 1);
    /* a value of a datatype is its contents, which may be a function */
    direct_bind(d, frame, p->left,
                type_of(p->type)->tag == TYPE_FUNCTION ? captured_tuple(d, x) : x);
    return;
  }
}

bool direct_eval_bind(struct direct *d, struct direct_frame *from, const struct core *e,
                      struct direct_frame *to, const struct core_pattern *p) {
  if (e->kind != CORE_PAIR || p->kind != PATTERN_PAIR) {
    struct datum x;
    if (!direct_eval(d, from, e, &x)) return false;
    direct_bind(d, to, p, x);
    return true;
  }
  charge(d, 2, 2); /* of the pair made, and of the pair taken apart */
  direct_enter(d, 0);
  bool ok = direct_eval_bind(d, from, e->as.part.left, to, p->left);
  direct_leave(d);
  if (!ok) return false;
  direct_enter(d, 1);
  ok = direct_eval_bind(d, from, e->as.part.right, to, p->right);
  direct_leave(d);
  return ok;
}

/* ---- apply-to-each ---- */

/* One run of an apply-to-each. */
struct each {
  const struct core *core;
  const struct datum_sequence **sources;
  uint64_t count; /* instances */
  double start;   /* depth before them */
  double *depths; /* of instances, after their sieve */
  double deepest;
  bool serial; /* one instance after the other; false within another apply-to-each */
  bool failed;
  struct failure failure; /* the first in the order of section 6.8 */
};

static void bind_instance(struct direct *d, struct direct_frame *frame, const struct each *each,
                          uint64_t i) {
  for (size_t g = 0; g < each->core->as.each.count; g++) {
    direct_bind(d, frame, each->core->as.each.generators[g].pattern,
                each->sources[g]->items[i]);
  }
}

/* Records the end of an instance. False if no further instance may run. */
static bool instance_ended(struct direct *d, struct each *each, bool ok) {
  if (d->cost.depth > each->deepest) each->deepest = d->cost.depth;
  if (ok) return true;
  if (!each->failed || direct_failed_earlier(&d->failure, &each->failure)) {
    each->failure = d->failure;
  }
  each->failed = true;
  return !each->serial && d->failure.kind != NESL_LIMIT;
}

/* Evaluates the sieve or the body of an apply-to-each for element i; `position` is its index in
 * the order of evaluation. */
static bool run_instance(struct direct *d, struct direct_frame *frame, const struct each *each,
                         const struct core *part, uint32_t position, uint64_t i,
                         struct datum *out) {
  bind_instance(d, frame, each, i);
  *array_push(d->arena, &d->instances) = (struct direct_instance){each->core, i};
  direct_enter(d, position);
  bool ok = direct_eval(d, frame, part, out);
  direct_leave(d);
  d->instances.count--;
  return ok;
}

/* The elements that the sieve keeps, in `kept`; their number in *count. */
static bool run_sieve(struct direct *d, struct direct_frame *frame, struct each *each,
                      uint64_t *kept, uint64_t *count) {
  *count = 0;
  for (uint64_t i = 0; i < each->count; i++) {
    struct datum flag = {0};
    d->cost.depth = each->start;
    bool ok = run_instance(d, frame, each, each->core->as.each.sieve,
                           (uint32_t)each->core->as.each.count, i, &flag);
    if (!instance_ended(d, each, ok)) return false;
    each->depths[i] = d->cost.depth;
    if (ok && flag.as.integer) kept[(*count)++] = i;
  }
  return true;
}

/* Evaluates sieve and body of each element before those of the next. */
static bool run_serially(struct direct *d, struct direct_frame *frame, struct each *each,
                         struct datum *items, uint64_t *count) {
  const struct core *e = each->core;
  *count = 0;
  for (uint64_t i = 0; i < each->count; i++) {
    struct datum flag = {.as.integer = 1};
    bool ok = true;
    d->cost.depth = each->start;
    if (e->as.each.sieve) {
      ok = run_instance(d, frame, each, e->as.each.sieve, (uint32_t)e->as.each.count, i, &flag);
    }
    const bool kept = ok && flag.as.integer;
    if (kept) {
      ok = run_instance(d, frame, each, e->as.each.body, (uint32_t)e->as.each.count + 1, i,
                        &items[*count]);
    }
    *count += kept;
    if (!instance_ended(d, each, ok)) return false;
  }
  return true;
}

/* Runs all instances; results in items, their number in *count. */
static bool run_instances(struct direct *d, struct direct_frame *frame, struct each *each,
                          struct datum *items, uint64_t *count) {
  const struct core *e = each->core;
  uint64_t *kept = NULL;
  *count = each->count;
  if (each->serial) return run_serially(d, frame, each, items, count);
  if (e->as.each.sieve) {
    kept = arena_alloc(d->arena, each->count * sizeof *kept);
    each->depths = arena_alloc(d->arena, each->count * sizeof *each->depths);
    if (!run_sieve(d, frame, each, kept, count)) return false;
  }
  for (uint64_t k = 0; k < *count; k++) {
    uint64_t i = kept ? kept[k] : k;
    d->cost.depth = kept ? each->depths[i] : each->start;
    bool ok = run_instance(d, frame, each, e->as.each.body, (uint32_t)e->as.each.count + 1, i,
                           &items[k]);
    if (!instance_ended(d, each, ok)) return false;
  }
  return true;
}

static bool eval_sources(struct direct *d, struct direct_frame *frame, struct each *each) {
  const struct core *e = each->core;
  for (size_t g = 0; g < e->as.each.count; g++) {
    struct datum source;
    if (!direct_eval_part(d, frame, e->as.each.generators[g].source, (uint32_t)g, &source)) {
      return false;
    }
    each->sources[g] = source.as.sequence;
  }
  each->count = each->sources[0]->count;
  for (size_t g = 1; g < e->as.each.count; g++) {
    if (each->sources[g]->count == each->count) continue;
    return direct_fail(d, frame, e, NESL_RUNTIME, "%s",
                       direct_worded(d, check_text(CHECK_EACH), (int64_t)each->count,
                                     (int64_t)each->sources[g]->count));
  }
  return true;
}

static bool eval_each(struct direct *d, struct direct_frame *frame, const struct core *e,
                      struct datum *out) {
  struct each each = {.core = e, .serial = e->as.each.serial && d->parallel == 0};
  each.sources = arena_alloc(d->arena, e->as.each.count * sizeof *each.sources);
  if (!eval_sources(d, frame, &each)) return false;
  if (!each.serial && d->parallel++ == 0) d->parallel_path = d->path.count;
  each.start = each.deepest = d->cost.depth;
  struct datum *items = direct_items(d, each.count);
  uint64_t count;
  run_instances(d, frame, &each, items, &count);
  d->cost.depth = each.deepest;
  if (!each.serial && --d->parallel == 0) direct_settle(d, each.failed ? &each.failure : NULL);
  if (each.failed) {
    d->failure = each.failure;
    return false;
  }
  *out = datum_sequence(d, items, count);
  if (e->as.each.sieve) {
    charge(d, out->as.sequence->size + (double)each.count, ceil(log2((double)each.count + 1)));
  }
  return true;
}

/* ---- other expressions ---- */

static bool eval_pair(struct direct *d, struct direct_frame *frame, const struct core *e,
                      struct datum *out) {
  struct datum left, right;
  if (!direct_eval_part(d, frame, e->as.part.left, 0, &left)) return false;
  if (!direct_eval_part(d, frame, e->as.part.right, 1, &right)) return false;
  *out = datum_pair(d, left, right);
  return true;
}

/* In lifted code the instances of the first branch run before those of the second. */
static bool eval_if(struct direct *d, struct direct_frame *frame, const struct core *e,
                    struct datum *out) {
  struct datum flag;
  if (!direct_eval_part(d, frame, e->as.part.third, 0, &flag)) return false;
  if (flag.as.integer) return direct_eval_part(d, frame, e->as.part.left, 1, out);
  return direct_eval_part(d, frame, e->as.part.right, 2, out);
}

static bool bind_let(struct direct *d, struct direct_frame *frame, const struct core *e) {
  direct_enter(d, 0);
  bool ok = direct_eval_bind(d, frame, e->as.part.left, frame, e->as.part.pattern);
  direct_leave(d);
  return ok;
}

static bool eval_let(struct direct *d, struct direct_frame *frame, const struct core *e,
                     struct datum *out) {
  return bind_let(d, frame, e) && direct_eval_part(d, frame, e->as.part.right, 1, out);
}

/* ---- loops ---- */

static uint32_t variables_of(const struct core_pattern *p) {
  if (p->kind == PATTERN_LOCAL) return 1;
  return variables_of(p->left) + (p->kind == PATTERN_PAIR ? variables_of(p->right) : 0);
}

/* The values of the variables of a pattern, from *next on. */
static void take_apart_pair(struct direct *d, const struct core_pattern *p, struct datum x,
                            struct datum **next) {
  if (p->kind == PATTERN_LOCAL) {
    *(*next)++ = x;
    return;
  }
  charge(d, 1, 1);
  if (p->kind == PATTERN_CONTENTS) {
    take_apart_pair(d, p->left, x, next);
    return;
  }
  take_apart_pair(d, p->left, x.as.pair->left, next);
  take_apart_pair(d, p->right, x.as.pair->right, next);
}

/* The next state, as the values of the variables; those of before are still bound. */
static bool eval_step(struct direct *d, struct direct_frame *frame, const struct core *e,
                      const struct core_pattern *p, struct datum **next) {
  struct datum x;
  if (e->kind != CORE_PAIR || p->kind != PATTERN_PAIR) {
    if (!direct_eval(d, frame, e, &x)) return false;
    take_apart_pair(d, p, x, next);
    return true;
  }
  charge(d, 2, 2); /* as in direct_eval_bind */
  direct_enter(d, 0);
  bool ok = eval_step(d, frame, e->as.part.left, p->left, next);
  direct_leave(d);
  direct_enter(d, 1);
  ok = ok && eval_step(d, frame, e->as.part.right, p->right, next);
  direct_leave(d);
  return ok;
}

static void bind_variables(struct direct *d, struct direct_frame *frame,
                           const struct core_pattern *p, const struct datum **next) {
  if (p->kind == PATTERN_LOCAL) {
    set_local(d, frame, p->local->number, *(*next)++);
    return;
  }
  bind_variables(d, frame, p->left, next);
  if (p->kind == PATTERN_PAIR) bind_variables(d, frame, p->right, next);
}

/* The value that a pattern with these variables matches. */
static struct datum value_of_pattern(struct direct *d, const struct direct_frame *frame,
                                     const struct core_pattern *p) {
  if (p->kind == PATTERN_LOCAL) return frame->locals[p->local->number];
  const struct datum left = value_of_pattern(d, frame, p->left);
  if (p->kind == PATTERN_CONTENTS) return left;
  return datum_pair(d, left, value_of_pattern(d, frame, p->right));
}

/* One round; *more: whether there was one. In lockstep with the same round of other instances:
 * its number is in the position of what happens in it. */
static bool eval_round(struct direct *d, struct direct_frame *frame, const struct core *e,
                       uint32_t round, struct datum *state, bool *more) {
  struct datum flag, *next = state;
  const struct datum *from = state;
  if (!direct_eval_part(d, frame, e->as.part.third, 1 + 2 * round, &flag)) return false;
  *more = flag.as.integer != 0;
  if (!*more) return true;
  direct_enter(d, 2 + 2 * round);
  const bool ok = eval_step(d, frame, e->as.part.right, e->as.part.pattern, &next);
  direct_leave(d);
  if (ok) bind_variables(d, frame, e->as.part.pattern, &from);
  return ok;
}

static bool eval_loop(struct direct *d, struct direct_frame *frame, const struct core *e,
                      struct datum *out) {
  const struct core_pattern *p = e->as.part.pattern;
  direct_enter(d, 0);
  bool ok = direct_eval_bind(d, frame, e->as.part.left, frame, p);
  direct_leave(d);
  struct datum *state = direct_items(d, variables_of(p));
  bool more = true;
  for (uint32_t round = 0; ok && more; round++) {
    ok = eval_round(d, frame, e, round, state, &more);
  }
  if (ok) *out = value_of_pattern(d, frame, p);
  return ok;
}

static bool eval_list(struct direct *d, struct direct_frame *frame, const struct core *e,
                      struct datum *out) {
  const size_t count = e->as.list.count;
  struct datum *items = direct_items(d, count);
  for (size_t i = 0; i < count; i++) {
    if (!direct_eval_part(d, frame, e->as.list.items[i], (uint32_t)i, &items[i])) return false;
  }
  charge(d, (double)count, 0);
  *out = datum_sequence(d, items, count);
  return true;
}

static bool eval_time(struct direct *d, struct direct_frame *frame, const struct core *e,
                      struct datum *out) {
  const double before = stop_clock();
  struct datum x;
  if (!direct_eval(d, frame, e->as.part.left, &x)) return false;
  *out = datum_pair(d, x, datum_float(rounded(d, stop_clock() - before)));
  return true;
}

/* A string literal is built once. */
static struct datum eval_string(struct direct *d, const struct core *e) {
  bool found;
  void **known = direct_memo(d, e, NULL, &found);
  if (!found) {
    struct datum *made = arena_alloc(d->arena, sizeof *made);
    *known = made;
    *made = datum_string(d, e->as.string.text, e->as.string.length);
  }
  return *(const struct datum *)*known;
}

/* Whether evaluation may go on: steps, interrupts, the stack. */
static bool within_limits(struct direct *d, struct direct_frame *frame, const struct core *e) {
  enum { UNASKED = 64 };
  const uint64_t most = d->options->most_steps;
  if (most && d->steps >= most) {
    return direct_fail(d, frame, e, NESL_LIMIT,
                       "the evaluation takes more than %" PRIu64 " steps", most);
  }
  d->steps++;
  if (d->steps % UNASKED == 0 && stop_asks(d->options->stop) != STOP_NOT) {
    char text[128];
    stop_describe(d->options->stop, text, sizeof text);
    d->stopped = true;
    return direct_fail(d, frame, e, NESL_LIMIT, "%s", text);
  }
  if ((const char *)__builtin_frame_address(0) < d->stack_end) {
    const bool called =
        frame->call != NULL; /* reported at the call, as other depth limits are */
    return direct_fail(d, called ? frame->caller : frame, called ? frame->call : e, NESL_LIMIT,
                       "more than %" PRIu64
                       " calls are open: does the recursion end? The stack has no room "
                       "for more",
                       d->calls);
  }
  return true;
}

bool direct_eval(struct direct *d, struct direct_frame *frame, const struct core *e,
                 struct datum *out) {
  if (!within_limits(d, frame, e)) return false;
  charge(d, 1, 1);
  return eval_node(d, frame, e, out);
}

bool direct_eval_body(struct direct *d, struct direct_frame *frame, const struct core *e,
                      struct direct_tail *tail, struct datum *out) {
  for (;;) {
    struct datum flag;
    if (!within_limits(d, frame, e)) return false;
    charge(d, 1, 1);
    switch ((enum core_kind)e->kind) {
    case CORE_IF:
      if (!direct_eval_part(d, frame, e->as.part.third, 0, &flag)) return false;
      e = flag.as.integer ? e->as.part.left : e->as.part.right;
      continue;
    case CORE_LET:
      if (!bind_let(d, frame, e)) return false;
      e = e->as.part.right;
      continue;
    case CORE_APPLY: return direct_apply_last(d, frame, e, tail, out);
    default: return eval_node(d, frame, e, out);
    }
  }
}

bool direct_eval_part(struct direct *d, struct direct_frame *frame, const struct core *e,
                      uint32_t part, struct datum *out) {
  direct_enter(d, part);
  bool ok = direct_eval(d, frame, e, out);
  direct_leave(d);
  return ok;
}

static bool eval_node(struct direct *d, struct direct_frame *frame, const struct core *e,
                      struct datum *out) {
  switch ((enum core_kind)e->kind) {
  case CORE_INT:
  case CORE_CHAR: *out = datum_int(e->as.integer); return true;
  case CORE_FLOAT: *out = datum_float(rounded(d, e->as.real)); return true;
  case CORE_BOOL: *out = datum_bool(e->as.integer); return true;
  case CORE_STRING: *out = eval_string(d, e); return true;
  case CORE_EMPTY: *out = datum_sequence(d, NULL, 0); return true;
  case CORE_LOCAL: *out = frame->locals[e->as.local->number]; return true;
  case CORE_GLOBAL: return direct_global_value(d, frame, e, out);
  case CORE_PAIR: return eval_pair(d, frame, e, out);
  case CORE_APPLY: return direct_apply(d, frame, e, out);
  case CORE_LAMBDA: *out = direct_closure(d, frame, e->as.lambda); return true;
  case CORE_IF: return eval_if(d, frame, e, out);
  case CORE_LET: return eval_let(d, frame, e, out);
  case CORE_LOOP: return eval_loop(d, frame, e, out);
  case CORE_LIST: return eval_list(d, frame, e, out);
  case CORE_EACH: return eval_each(d, frame, e, out);
  case CORE_TIME: return eval_time(d, frame, e, out);
  }
  return direct_fail(d, frame, e, NESL_LIMIT, "internal error: expression %d not supported",
                     e->kind);
}
