/* combine.c - reductions, scans and scatters by a function that is elementwise: one
 * superoperator (superop.h: combinations) instead of the rounds of the library.
 *
 * The function is generated once, into a block of its own that is not executed, in a context of
 * which every instance is a left and a right operand. If all of its code is elementwise and
 * cannot fail, combine-nodes.c makes the nodes of a superoperator of it. A check of the
 * function does not prevent that: whether all checks held becomes one more column of flags, and
 * is checked behind the superoperator. The message is the same; it names no values, so a check
 * that reports some does prevent it.
 */
#include "neslc/flatten/combine.h"

#include <string.h>

#include "neslc/flatten/call.h"
#include "neslc/flatten/emit.h"
#include "neslc/flatten/explain.h"
#include "neslc/flatten/expressions.h"
#include "neslc/flatten/instances.h"
#include "neslc/flatten/rep.h"
#include "neslc/flatten/traits.h"

enum {
  COMBINED_NODES = 400, /* of a function that the function calls */
  COMBINED_DEPTH = 40   /* of such calls */
};

enum { REDUCE = 1, SCAN = 2, INCLUSIVE = 4, SCATTER = 8, NOT_EMPTY = 16 };

/* ---- within the function ---- */

void combining_refuse(struct flattener *f, const char *why) {
  if (!f->combining->refused) f->combining->refused = why;
}

static bool same_location(const struct present *a, const struct present *b) {
  return a->source == b->source && a->offset == b->offset;
}

void combining_check(struct flattener *f, ir_var flags, const char *text) {
  struct combining *s = f->combining;
  bool good;
  const struct ir_binding *all = defined_by(f, flags, OPC_DIST);
  if (known_bool(f, all ? all->operands[0] : flags, &good) && good) return;
  if (strstr(text, "{v}") || strstr(text, "{w}") || strstr(text, "{e}")) {
    combining_refuse(f, "has a check whose message reports values");
  } else if (s->text && strcmp(s->text, text) != 0) {
    combining_refuse(f, "has checks of several kinds");
  }
  const ir_var here = masked_check(f, flags);
  if (s->good == NO_VAR) {
    s->good = here;
    s->text = text;
    s->at = f->at;
    return;
  }
  s->good = EMIT(f, AND, BOOL, s->good, here);
  if (!same_location(&s->at, &f->at)) s->at.source = NULL;
}

const struct rep *combining_call(struct flattener *f, struct context *c, const struct call *k,
                                 const struct traits *t) {
  if (!k->derived && t->recursive) {
    combining_refuse(f, "is recursive, or calls a function that is");
  } else if (t->size > COMBINED_NODES || f->frame->depth > COMBINED_DEPTH) {
    combining_refuse(f, "is too large");
  } else {
    return call_expanded(f, c, k);
  }
  return rep_empty(f, k->result_type);
}

/* ---- the function ---- */

/* A call of reduce, scan ... and what becomes of it. */
struct reduction {
  unsigned what; /* see what_it_is */
  struct call function;
  struct type *type; /* of the elements */
  const struct rep *identity;
  const struct rep *sequence;
  const struct rep *defaults, *index; /* SCATTER */
  struct flat_combination made;
  struct combining state;
};

static struct combined *add_combined_column(struct flattener *f, struct flat_combination *m,
                                            const struct ir_kind *kind) {
  struct combined *column = array_push(f->arena, &m->columns);
  *column = (struct combined){.word = (uint8_t)ir_superop_kind(kind),
                              .identity = NO_VAR,
                              .left = flat_var(f, kind),
                              .right = flat_var(f, kind),
                              .value = NO_VAR};
  return column;
}

/* A captured value within the function. What differs between instances becomes a column; what
 * is the same for all is one as soon as it is used. */
static const struct rep *captured_value(struct flattener *f, struct flat_combination *m,
                                        const struct rep *r) {
  switch ((enum rep_kind)r->kind) {
  case REP_NOTHING: return r;
  case REP_PAIR: {
    const struct rep *left = captured_value(f, m, r->left);
    return rep_pair(f, left, captured_value(f, m, r->right));
  }
  case REP_SCALAR: break;
  case REP_SEQUENCE:
  case REP_PULLED: combining_refuse(f, "uses a sequence from around it"); return r;
  }
  if (r->shared) return r;
  struct combined *column = add_combined_column(f, m, f->kinds.items[r->v]);
  column->from = FROM_SEGMENTS;
  column->v = r->v;
  column->value = column->left;
  return rep_scalar(f, (enum type_word)r->word, column->left, false);
}

/* The operands of the function, with a column for each of their scalars. */
static const struct rep *operands(struct flattener *f, struct reduction *r, ir_var all) {
  const struct ir_kind **kinds;
  uint32_t count;
  type_kinds(f, r->type, &kinds, &count);
  ir_var *left = arena_alloc(f->arena, (count + 1) * sizeof *left);
  ir_var *right = arena_alloc(f->arena, (count + 1) * sizeof *right);
  for (uint32_t i = 0; i < count; i++) {
    const struct combined *column = add_combined_column(f, &r->made, kinds[i]);
    left[i] = column->left;
    right[i] = column->right;
  }
  const ir_var *next = left;
  const struct rep *a = rep_from_columns(f, r->type, all, false, &next);
  next = right;
  return rep_pair(f, a, rep_from_columns(f, r->type, all, false, &next));
}

/* Adds the column whose value is that all checks held, on both sides and here. */
static void add_checks(struct flattener *f, struct reduction *r) {
  if (r->state.good == NO_VAR) return;
  struct combined *column = add_combined_column(f, &r->made, &flat_kinds[IR_BOOL]);
  const ir_var both = EMIT(f, AND, BOOL, column->left, column->right);
  column->from = FROM_ONE;
  column->v = column->identity = emit_bool(f, true);
  column->value = EMIT(f, AND, BOOL, both, r->state.good);
  column->wanted = true;
}

static void generate_reduction(struct flattener *f, struct reduction *r) {
  struct flat_combination *m = &r->made;
  m->all = flat_var(f, &flat_kinds[IR_SEGDES]);
  struct context c = {.kind = CONTEXT_LIFTED, .one = m->all};
  r->function.argument = operands(f, r, m->all);
  const size_t count = m->columns.count;
  if (r->function.captured) {
    r->function.captured = captured_value(f, m, r->function.captured);
  }
  struct vars values = {.arena = f->arena};
  rep_columns(rep_physical(f, &c, apply_callee(f, &c, &r->function)), &values);
  for (size_t i = 0; i < count && i < values.list.count; i++) {
    m->columns.items[i].value = values.list.items[i];
    m->columns.items[i].wanted = true;
  }
  add_checks(f, r);
}

/* Whether the function is elementwise; its code is then in `made`. */
static bool is_elementwise_reduction(struct flattener *f, struct reduction *r) {
  const size_t wanted = f->wanted.count, functions = f->functions.count,
               specialisations = f->specialisations.count;
  r->state = (struct combining){.good = NO_VAR};
  r->made.first = (ir_var)f->kinds.count;
  f->combining = &r->state;
  struct flat_block *b = block_begin(f);
  generate_reduction(f, r);
  r->made.code = b;
  if (f->wanted.count > wanted) combining_refuse(f, "may fail");
  const bool fine = !r->state.refused && combination_find(f, &r->made);
  block_abandon(f, b);
  f->combining = NULL;
  f->wanted.count = wanted;
  f->functions.count = functions;
  f->specialisations.count = specialisations;
  return fine;
}

/* ---- the sequence ---- */

/* Where the elements of the columns come from. Returns the column behind the last one. */
static struct combined *take_elements(struct flattener *f, const struct flat_combination *m,
                                      struct combined *column, const struct rep *r) {
  if (r->kind == REP_PAIR) {
    return take_elements(f, m, take_elements(f, m, column, r->left), r->right);
  }
  if (r->kind != REP_SCALAR) return column;
  const struct ir_binding *spread = r->shared ? NULL : defined_by(f, r->v, OPC_DIST);
  column->from = r->shared ? FROM_ONE : FROM_ELEMENTS;
  column->v = r->v;
  if (spread && (spread->operands[1] == m->one || spread->operands[1] == m->segdes)) {
    column->from = spread->operands[1] == m->one ? FROM_ONE : FROM_SEGMENTS;
    column->v = spread->operands[0];
  }
  return column + 1;
}

static struct combined *take_identity(struct flattener *f, const struct context *c,
                                      struct combined *column, const struct rep *r) {
  if (r->kind == REP_PAIR) {
    return take_identity(f, c, take_identity(f, c, column, r->left), r->right);
  }
  if (r->kind != REP_SCALAR) return column;
  const bool constant = r->shared && constant_of(f, r->v);
  column->identity = constant ? r->v : rep_each_scalar(f, c, r);
  return column + 1;
}

/* ---- the results ---- */

/* The error of a check that failed anywhere. */
static void check_after(struct flattener *f, const struct reduction *r, ir_var good) {
  const struct present here = f->at;
  if (r->state.at.source) f->at = r->state.at;
  const ir_var number = EMIT(f, B_TO_I, NONE, good);
  emit_assert(f, good, number, number, r->state.text);
  f->at = here;
}

/* Executes it, and returns the value for each segment, or of each element. */
static const struct rep *execute_reduction(struct flattener *f, const struct context *c,
                                           struct reduction *r, uint32_t op, ir_var outer) {
  r->made.op = op;
  combination_emit(f, &r->made);
  struct vars results = {.arena = f->arena};
  for (size_t i = 0; i < r->made.columns.count; i++) {
    if (!r->made.columns.items[i].wanted) continue;
    *array_push(f->arena, &results.list) = r->made.columns.items[i].result;
  }
  if (r->state.good != NO_VAR) {
    check_after(f, r, results.list.items[results.list.count - 1]);
  }
  const ir_var *next = results.list.items;
  const bool shared = op == SUPEROP_COMBINE_REDUCE && context_serial(c);
  return rep_from_columns(f, r->type, outer, shared, &next);
}

/* ---- what is called ---- */

/* Returns which operation a function of the library computes; 0 for others. */
static unsigned what_it_is(const struct global *g) {
  static const struct {
    const char *name;
    unsigned what;
  } table[] = {{"reduce", REDUCE},
               {"_reduce", REDUCE | NOT_EMPTY},
               {"scan", SCAN | REDUCE},
               {"scan_inclusive", INCLUSIVE},
               {"_combine", SCATTER}};
  if (!g || !g->library || g->primitive >= 0) return 0;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (strcmp(g->name->text, table[i].name) == 0) return table[i].what;
  }
  return 0;
}

/* Says what becomes of a call in the program. Within the library the function is the same. */
static void explain_call(struct flattener *f, const struct call *k, const struct reduction *r,
                         bool fine) {
  const char *name = k->global->name->text;
  const size_t count = r->made.columns.count;
  if (!f->options->explain || !f->at.source || f->at.source->library ||
      same_location(&f->at, &f->explained)) {
    return;
  }
  f->explained = f->at;
  const char *what =
      fine ? arena_printf(f->arena, "is a superoperator of %zu column%s", count,
                          count == 1 ? "" : "s")
           : arena_printf(f->arena, "takes rounds: its function %s", r->state.refused);
  explain(f, f->at.source, f->at.offset, *name == '_' ? name + 1 : name, what);
}

/* Takes the arguments apart; false if there is no function to combine with. */
static bool take_arguments(struct flattener *f, const struct call *k, struct reduction *r) {
  struct type *type = type_of(k->argument_type), *others = type_of(type->part[1]);
  const struct rep *values = k->argument->right;
  if (r->what & SCATTER) { /* defaults, index, values */
    others = type_of(others->part[0]);
    r->defaults = values->left;
    r->index = values->right->left;
    r->sequence = values->right->right;
  } else if (r->what & NOT_EMPTY) {
    r->sequence = values;
  } else {
    r->identity = r->what & INCLUSIVE ? NULL : values->left; /* which is not used */
    r->sequence = values->right;
  }
  r->type = others->part[0]; /* of the identity and the values, or of a sequence */
  r->function =
      (struct call){.argument_type = type_of(type->part[0])->part[0], .result_type = r->type};
  return unfold_identity(f, type->part[0], k->argument->left, &r->function);
}

/* ---- the calls ---- */

/* The elements that are combined, of a plain sequence with these segments. */
static void take_sequence(struct flattener *f, struct reduction *r, const struct rep *s,
                          ir_var segdes, ir_var one) {
  r->made.segdes = segdes;
  r->made.one = one;
  take_elements(f, &r->made, r->made.columns.items, s->elements);
}

static const struct rep *reduced_or_scanned(struct flattener *f, struct context *c,
                                            struct reduction *r) {
  const struct rep *s = rep_plain(f, c, r->sequence);
  const ir_var one = seq_elements_one(f, s);
  take_sequence(f, r, s, s->segdes, one);
  if (r->identity) take_identity(f, c, r->made.columns.items, r->identity);
  const struct rep *each = NULL, *total = NULL;
  if (r->what & (SCAN | INCLUSIVE)) {
    const uint32_t op = r->what & SCAN ? SUPEROP_COMBINE_SCAN : SUPEROP_COMBINE_SCAN_INCLUSIVE;
    each = rep_sequence(f, s->segdes, s->outer, execute_reduction(f, c, r, op, one), s->shared);
  }
  if (r->what & REDUCE) total = execute_reduction(f, c, r, SUPEROP_COMBINE_REDUCE, c->one);
  return each && total ? rep_pair(f, each, total) : each ? each : total;
}

/* The defaults of a column that is none of the sequence: what its elements have. */
static ir_var same_default(struct flattener *f, const struct combined *column, ir_var segdes,
                           ir_var one) {
  return emit(f, OPC_DIST, (enum type_word)column->word, 2,
              (ir_var[]){column->v, column->from == FROM_ONE ? one : segdes});
}

static const struct rep *scattered(struct flattener *f, struct context *c,
                                   struct reduction *r) {
  const struct rep *d = rep_plain(f, c, r->defaults), *s = rep_plain(f, c, r->sequence);
  const struct rep *index = rep_plain(f, c, r->index);
  const struct context within = context_elements(f, d), of_index = context_elements(f, index);
  struct vars defaults = {.arena = f->arena};
  rep_columns(rep_physical(f, &within, d->elements), &defaults);
  take_sequence(f, r, s, index->segdes, of_index.one);
  r->made.index = rep_each_scalar(f, &of_index, index->elements);
  r->made.into = d->segdes;
  for (size_t i = 0; i < r->made.columns.count; i++) {
    struct combined *column = &r->made.columns.items[i];
    column->defaults = i < defaults.list.count ? defaults.list.items[i]
                                               : same_default(f, column, d->segdes, within.one);
  }
  return rep_sequence(f, d->segdes, d->outer,
                      execute_reduction(f, c, r, SUPEROP_COMBINE_SCATTER, within.one),
                      d->shared);
}

static const struct rep *reduction_results(struct flattener *f, struct context *c,
                                           struct reduction *r) {
  return r->what & SCATTER ? scattered(f, c, r) : reduced_or_scanned(f, c, r);
}

static const struct rep *reduction_once_body(struct flattener *f, void *closure) {
  return reduction_results(f, &f->serial, closure);
}

/* Whether what is combined, and by what, is the same for all instances of a context. */
static bool is_same_for_all(const struct context *c, const struct reduction *r) {
  const struct rep *const parts[] = {r->sequence, r->defaults, r->index, r->function.captured};
  if (context_serial(c)) return false;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (parts[i] && !rep_all_shared(parts[i])) return false;
  }
  return true;
}

const struct rep *flatten_combination(struct flattener *f, struct context *c,
                                      const struct call *k) {
  struct reduction r = {.what = what_it_is(k->global)};
  if (!f->options->combine || r.what == 0 || !take_arguments(f, k, &r)) return NULL;
  const bool same = is_same_for_all(c, &r), fixed = !r.identity || rep_all_shared(r.identity);
  if (r.what == REDUCE && same && !fixed) return NULL; /* the library calls _reduce, once */
  bool fine = false;
  if (type_is_flat(r.type)) {
    fine = is_elementwise_reduction(f, &r);
  } else {
    r.state.refused = "combines sequences";
  }
  explain_call(f, k, &r, fine);
  if (!fine) return NULL;
  if (!same || !fixed) return reduction_results(f, c, &r);
  return flatten_if_any(f, c, k->result_type, reduction_once_body, &r);
}
