/* sizes.c - the size analysis: walks functions until the facts that pass between them are
 * stable.
 *
 * The analysis computes a greatest fixed point: parameters are equal until a call site is found
 * where they are not, results until a body yields others, and bindings behind a call are not
 * reached until its callee is known to return. A *boundary* (sizes-walk.h) is the partition of
 * terms at the entry of a function, over all its call sites, or at its exit. It only becomes
 * finer, so the analysis ends.
 *
 * Within a function a fact holds from the instruction that establishes it. Facts found in an
 * arm of an IF are undone at its end, except those on the results that hold in both arms. If
 * one arm never returns, all facts of the other stay.
 */
#include "fcode-opt/sizes-walk.h"

#include <string.h>

enum {
  MAX_BOUNDARY = 1000 /* variables of a boundary; a larger one passes no facts */
};

/* ---- boundaries ---- */

/* The number of a pair of classes; a new pair has the next number. */
static uint32_t pair_class(struct map *pairs, uint32_t a, uint32_t b) {
  uint32_t *class = map_at(pairs, map_pair(a, b));
  if (*class == 0) *class = pairs->count;
  return *class - 1;
}

/* The variables of a boundary, as the function at hand names them: one list, then another. */
struct pair_of_lists {
  const ir_var *first, *second;
  uint32_t first_count;
};

static ir_var listed(const struct pair_of_lists *l, uint32_t i) {
  return i < l->first_count ? l->first[i] : l->second[i - l->first_count];
}

static uint32_t listed_term(const struct pair_of_lists *l, uint32_t t) {
  return TERMS_PER_VAR * listed(l, t / TERMS_PER_VAR) + t % TERMS_PER_VAR;
}

static struct sizes_boundary boundary_make(struct arena *arena, uint32_t count) {
  struct sizes_boundary b = {.count = count};
  b.labels = arena_alloc(arena, TERMS_PER_VAR * count * sizeof *b.labels);
  b.facts = arena_alloc(arena, count);
  return b;
}

/* No facts hold. */
static void boundary_give_up(struct sizes_boundary *b) {
  b->reached = true;
  b->classes = TERMS_PER_VAR * b->count;
  for (uint32_t t = 0; t < b->classes; t++) b->labels[t] = (struct term_label){.class = t};
  memset(b->facts, 0, b->count);
}

/* Adds the facts of entry_layout (ir.h). */
static void boundary_lay_out(struct sizes_boundary *b, const struct ir_program *program) {
  const struct ir_function *f = &program->functions[program->entry];
  for (uint32_t i = 0; i < b->count; i++) {
    const bool descriptor = f->vars[f->params[i]]->tag == IR_SEGDES;
    const uint32_t within = program->entry_layout[i];
    struct term_label *labels = &b->labels[TERMS_PER_VAR * i];
    struct term_label *many = &labels[descriptor ? TERM_COUNT : TERM_SIZE];
    if (within == IR_ONE) {
      many->known = true;
      many->number = 1;
    } else {
      many->class = b->labels[TERMS_PER_VAR * within + TERM_SIZE].class;
    }
    if (descriptor) labels[TERM_SIZE].nonnegative = labels[TERM_COUNT].nonnegative = true;
  }
}

/* Removes from b the facts that do not hold here for the listed variables. True if there were
 * any. At the entry of a lifted function, `c` has the sizes of its chunks; else NULL. */
static bool boundary_meet(struct sizes_walk *w, struct sizes_boundary *b,
                          const struct pair_of_lists *l, const struct sizes_chunks *c) {
  if (b->count > MAX_BOUNDARY) {
    bool first = !b->reached;
    if (first) boundary_give_up(b);
    return first;
  }
  struct map *pairs = &w->pairs;
  map_clear(pairs);
  map_clear(&w->families);
  bool changed = !b->reached;
  for (uint32_t t = 0; t < TERMS_PER_VAR * b->count; t++) {
    struct term_label *label = &b->labels[t];
    struct term_label now = {.nonnegative = facts_nonnegative(w->facts, listed_term(l, t))};
    now.known = facts_known(w->facts, listed_term(l, t), &now.number);
    if (b->reached) {
      now.known = now.known && label->known && now.number == label->number;
      now.nonnegative = now.nonnegative && label->nonnegative;
    }
    uint32_t class = facts_root(w->facts, listed_term(l, t));
    if (c) {
      now.known = now.known && c->numbers[t];
      class = pair_class(&w->families, class, c->families[t]);
    }
    now.class = pair_class(pairs, b->reached ? label->class : 0, class);
    changed = changed || (b->reached &&
                          (now.known != label->known || now.nonnegative != label->nonnegative));
    *label = now;
  }
  for (uint32_t i = 0; i < b->count; i++) {
    uint8_t now = w->elements[listed(l, i)].facts;
    if (b->reached) now &= b->facts[i];
    changed = changed || now != b->facts[i];
    b->facts[i] = now;
  }
  changed = changed || pairs->count != b->classes;
  b->classes = pairs->count;
  b->reached = true;
  return changed;
}

/* Adds the facts of b on the listed variables. After a call, facts on the first list, the
 * arguments, depend on a check: the callee has made it. */
static void boundary_apply(struct sizes_walk *w, const struct sizes_boundary *b,
                           const struct pair_of_lists *l, bool after_call) {
  uint32_t *first = arena_alloc(w->sizes->o->scratch, b->classes * sizeof *first);
  for (uint32_t t = 0; t < TERMS_PER_VAR * b->count; t++) {
    const struct term_label *label = &b->labels[t];
    uint32_t term = listed_term(l, t);
    bool checked = after_call && t < TERMS_PER_VAR * l->first_count;
    void (*unite)(struct facts *, uint32_t, uint32_t) =
        checked ? facts_unite_checked : facts_unite;
    if (first[label->class]) {
      unite(w->facts, term, first[label->class] - 1);
    } else {
      first[label->class] = term + 1;
      if (label->known) unite(w->facts, term, facts_number(w->facts, label->number));
      if (label->nonnegative) facts_set_nonnegative(w->facts, term);
    }
  }
  for (uint32_t i = 0; i < b->count; i++) w->elements[listed(l, i)].facts |= b->facts[i];
}

/* ---- the walk over a function ---- */

static void enqueue(struct sizes *s, uint32_t function) {
  struct sizes_function *f = &s->functions[function];
  uint32_t count = s->o->program->function_count;
  if (f->queued || !s->o->program->functions[function].typed) return;
  f->queued = true;
  s->queue[(s->queue_first + s->queue_count++) % count] = function;
}

static void record_classes(struct sizes_walk *w, ir_var v) {
  struct sizes_function *kept = &w->sizes->functions[w->function];
  for (uint32_t k = 0; k < 2; k++)
    kept->classes[2 * v + k] = facts_root(w->facts, TERMS_PER_VAR * v + k);
  int64_t number;
  for (uint32_t k = 0; k < 2; k++)
    kept->known[2 * v + k] =
        facts_known(w->facts, TERMS_PER_VAR * v + k, &number) ? number : -1;
  const struct fact_term *root = &w->facts->terms.items[facts_root(w->facts, term_size(v))];
  uint32_t vector = root->vector.term, descriptor = root->descriptor.term;
  kept->first[v] = vector == NO_TERM ? v : vector / TERMS_PER_VAR;
  kept->descriptors[v] = descriptor == NO_TERM ? IR_NO_VAR : descriptor / TERMS_PER_VAR;
}

static void bind_with_facts(struct sizes_walk *w, ir_var v) {
  enum ir_kind_tag tag = w->f->vars[v]->tag;
  bool vector = tag == IR_INT || tag == IR_FLOAT || tag == IR_BOOL;
  facts_bind(w->facts, v,
             vector             ? FACT_VECTOR
             : tag == IR_SEGDES ? FACT_DESCRIPTOR
                                : FACT_OTHER);
  w->elements[v] = (struct element_facts){.range = IR_NO_VAR,
                                          .lengths = IR_NO_VAR,
                                          .nonempty = IR_NO_VAR,
                                          .flags = IR_NO_VAR,
                                          .equal = {IR_NO_VAR, IR_NO_VAR},
                                          .greater = {IR_NO_VAR, IR_NO_VAR}};
}

/* What holds for every chunk of a batch call holds at the entry of the procedure, which takes a
 * chunk of one instance. */
static void meet_procedure(struct sizes_walk *w, const struct ir_binding *x,
                           const struct ir_function *f, const struct sizes_chunks *c) {
  const uint32_t p = ir_procedure(f);
  if (p == IR_NO_PROCEDURE) return;
  const struct pair_of_lists in = {x->operands + 1, NULL, x->operand_count - 1};
  const struct sizes_chunks one = {c->families + TERMS_PER_VAR, c->numbers + TERMS_PER_VAR};
  if (boundary_meet(w, &w->sizes->functions[p].entry, &in, &one)) enqueue(w->sizes, p);
}

/* False: the callee is not known to return yet. */
static bool follow_call(struct sizes_walk *w, const struct ir_binding *x) {
  uint32_t callee = x->as.callee;
  const struct ir_function *f = &w->sizes->o->program->functions[callee];
  struct sizes_function *kept = &w->sizes->functions[callee];
  struct pair_of_lists in = {x->operands, NULL, x->operand_count};
  if (!f->typed) return true;
  const struct sizes_chunks *c = f->instances ? chunks_of_call(w, x) : NULL;
  if (boundary_meet(w, &kept->entry, &in, c)) enqueue(w->sizes, callee);
  meet_procedure(w, x, f, c);
  if (!f->returns || !kept->exit.reached) return false;
  struct pair_of_lists all = {x->operands, x->results, x->operand_count};
  boundary_apply(w, &kept->exit, &all, true);
  return true;
}

static bool follow_block(struct sizes_walk *w, const struct ir_block *);

/* The facts on a term that an arm yields, kept when the others are undone. */
struct yielded {
  uint32_t outer; /* an equal term from before the IF, or NO_TERM */
  uint32_t root;  /* equal roots: equal terms within the arm */
  bool known, nonnegative;
  int64_t number;
};

static struct yielded *collect_yielded(struct sizes_walk *w, const struct ir_block *arm,
                                       uint32_t stamp, uint8_t *facts) {
  uint32_t terms = TERMS_PER_VAR * arm->result_count;
  struct yielded *y = arena_alloc(w->sizes->o->scratch, terms * sizeof *y);
  for (uint32_t t = 0; t < terms; t++) {
    uint32_t term = TERMS_PER_VAR * arm->results[t / TERMS_PER_VAR] + t % TERMS_PER_VAR;
    uint32_t r = facts_root(w->facts, term);
    const struct fact_term *root = &w->facts->terms.items[r];
    y[t].root = r;
    y[t].outer = root->stamp <= stamp ? root->least : NO_TERM;
    y[t].nonnegative = root->nonnegative;
    y[t].known = root->known;
    y[t].number = root->number;
  }
  for (uint32_t i = 0; i < arm->result_count; i++)
    facts[i] = w->elements[arm->results[i]].facts;
  return y;
}

/* Both arms return: adds the facts that hold in both. */
static void join_yielded(struct sizes_walk *w, const struct ir_binding *x,
                         const struct yielded *a, const struct yielded *b) {
  uint32_t terms = TERMS_PER_VAR * x->result_count;
  struct arena *scratch = w->sizes->o->scratch;
  map_clear(&w->pairs);
  uint32_t *first = arena_alloc(scratch, (terms + 1) * sizeof *first);
  for (uint32_t t = 0; t < terms; t++) {
    uint32_t term = TERMS_PER_VAR * x->results[t / TERMS_PER_VAR] + t % TERMS_PER_VAR;
    uint32_t class = pair_class(&w->pairs, a[t].root, b[t].root);
    if (first[class]) {
      facts_unite(w->facts, term, first[class] - 1);
      continue;
    }
    first[class] = term + 1;
    if (a[t].known && b[t].known && a[t].number == b[t].number) {
      facts_unite(w->facts, term, facts_number(w->facts, a[t].number));
    } else if (a[t].outer != NO_TERM && b[t].outer != NO_TERM &&
               facts_equal(w->facts, a[t].outer, b[t].outer)) {
      facts_unite(w->facts, term, a[t].outer);
    }
    if (a[t].nonnegative && b[t].nonnegative) facts_set_nonnegative(w->facts, term);
  }
}

/* One arm returns: the results of the IF are what it yields. */
static void take_over_arm(struct sizes_walk *w, const struct ir_binding *x,
                          const struct ir_block *arm) {
  for (uint32_t i = 0; i < x->result_count; i++) {
    bind_with_facts(w, x->results[i]);
    for (uint32_t k = 0; k < TERMS_PER_VAR; k++)
      facts_unite(w->facts, TERMS_PER_VAR * x->results[i] + k,
                  TERMS_PER_VAR * arm->results[i] + k);
    w->elements[x->results[i]] = w->elements[arm->results[i]];
  }
}

static bool follow_if(struct sizes_walk *w, const struct ir_binding *x) {
  facts_unite_checked(w->facts, term_size(x->operands[0]), facts_number(w->facts, 1));
  const struct ir_block *first = x->as.arms.then, *second = x->as.arms.otherwise;
  if (second->end != IR_YIELD) { /* the arm whose facts stay is walked last */
    first = x->as.arms.otherwise;
    second = x->as.arms.then;
  }
  uint32_t mark = facts_mark(w->facts), stamp = w->facts->clock;
  uint8_t *facts = arena_alloc(w->sizes->o->scratch, 2 * (size_t)x->result_count);
  struct yielded *a = NULL, *b;
  if (follow_block(w, first)) a = collect_yielded(w, first, stamp, facts);
  facts_rollback(w->facts, mark);
  bool returns = follow_block(w, second);
  if (!a) {
    if (returns) take_over_arm(w, x, second);
    return returns;
  }
  if (returns) {
    b = collect_yielded(w, second, stamp, facts + x->result_count);
  } else {
    b = a;
    memcpy(facts + x->result_count, facts, x->result_count);
  }
  facts_rollback(w->facts, mark);
  for (uint32_t i = 0; i < x->result_count; i++) bind_with_facts(w, x->results[i]);
  join_yielded(w, x, a, b);
  for (uint32_t i = 0; i < x->result_count; i++)
    w->elements[x->results[i]].facts = facts[i] & facts[x->result_count + i];
  return true;
}

static bool follow_binding(struct sizes_walk *w, const struct ir_binding *x) {
  struct sizes_function *kept = &w->sizes->functions[w->function];
  bool returns = true;
  struct sizes_verdict verdict = {.agrees = true};
  if (x->form == IR_IF) {
    verdict.agrees = facts_is(w->facts, term_size(x->operands[0]), 1);
    returns = follow_if(w, x);
  } else {
    for (uint32_t i = 0; i < x->result_count; i++) bind_with_facts(w, x->results[i]);
    switch ((enum ir_form)x->form) {
    case IR_OP: verdict = rules_execute(w, x); break;
    case IR_CONST:
      rules_constant(w, x);
      verdict.safe = true;
      break;
    case IR_CALL: returns = follow_call(w, x); break;
    case IR_FUSED: verdict = rules_fused(w, x); break;
    case IR_IF: break;
    }
  }
  for (uint32_t i = 0; i < x->result_count && returns; i++) record_classes(w, x->results[i]);
  if (x->result_count > 0) {
    kept->safe[x->results[0]] = verdict.safe;
    kept->agrees[x->results[0]] = verdict.agrees;
    kept->depends[x->results[0]] = verdict.depends;
  }
  return returns;
}

/* Whether the end of the block is reached and yields. */
static bool follow_block(struct sizes_walk *w, const struct ir_block *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    if (!follow_binding(w, &block->bindings[i])) return false;
  }
  return block->end == IR_YIELD;
}

/* The callers of each function f: list[first[f]] up to list[first[f + 1]]. */
struct callers {
  uint32_t *first, *list;
};

static void count_callers(struct opt *o, uint32_t caller, uint32_t *counts, uint32_t *list) {
  const struct ir_function *f = &o->program->functions[caller];
  if (!f->typed) return;
  for (struct ir_walk w = ir_walk(o->scratch, f->body); ir_next_binding(&w);) {
    if (w.x->form != IR_CALL) continue;
    if (list) list[counts[w.x->as.callee]] = caller;
    counts[w.x->as.callee]++;
  }
}

static struct callers callers_make(struct opt *o) {
  uint32_t n = o->program->function_count;
  struct callers c = {.first = arena_alloc(o->scratch, ((size_t)n + 1) * sizeof *c.first)};
  uint32_t *at = arena_alloc(o->scratch, ((size_t)n + 1) * sizeof *at);
  for (uint32_t f = 0; f < n; f++) count_callers(o, f, at, NULL);
  for (uint32_t f = 0; f < n; f++) {
    c.first[f + 1] = c.first[f] + at[f];
    at[f] = c.first[f];
  }
  c.list = arena_alloc(o->scratch, ((size_t)c.first[n] + 1) * sizeof *c.list);
  for (uint32_t f = 0; f < n; f++) count_callers(o, f, at, c.list);
  return c;
}

/* At the entry of a lifted function sizes are as its mark says, which the compiler
 * ensures as it does of indices (`guarded` of ir.h). What a check has ensured does not move
 * before it. */
static void learn_mark(struct sizes_walk *w, const struct ir_function *f) {
  if (!f->instances || !w->sizes->o->program->guarded) return;
  for (uint32_t i = 1; i < f->param_count; i++) {
    const ir_var v = f->params[i];
    const uint32_t of = f->instances->params[i];
    if (of == IR_SHARED) continue;
    const bool descriptor = f->vars[v]->tag == IR_SEGDES;
    facts_unite_checked(w->facts, descriptor ? term_count(v) : term_size(v),
                        term_size(f->params[of == IR_EACH ? 0 : of]));
  }
}

/* At the entry of a procedure, what is one for each instance is one, likewise. */
static void learn_link(struct sizes_walk *w, const struct ir_function *procedure,
                       const struct ir_function *f) {
  if (!f || !w->sizes->o->program->guarded) return;
  for (uint32_t i = 0; i < procedure->param_count; i++) {
    const ir_var v = procedure->params[i];
    const uint32_t of = f->instances->params[i + 1];
    if (of == IR_SHARED) continue;
    const bool descriptor = procedure->vars[v]->tag == IR_SEGDES;
    facts_unite_checked(w->facts, descriptor ? term_count(v) : term_size(v),
                        of == IR_EACH ? facts_number(w->facts, 1)
                                      : term_size(procedure->params[of - 1]));
  }
}

static void follow_function(struct sizes_walk *w, const struct callers *callers,
                            uint32_t function) {
  const struct ir_function *f = &w->sizes->o->program->functions[function];
  struct sizes_function *kept = &w->sizes->functions[function];
  w->function = function;
  w->f = f;
  facts_reset(w->facts, f->var_count);
  struct pair_of_lists in = {f->params, NULL, f->param_count};
  for (uint32_t i = 0; i < f->param_count; i++) bind_with_facts(w, f->params[i]);
  boundary_apply(w, &kept->entry, &in, false);
  learn_mark(w, f);
  learn_link(w, f, kept->lifted);
  for (uint32_t i = 0; i < f->param_count; i++) record_classes(w, f->params[i]);
  bool returns = follow_block(w, f->body);
  for (size_t i = 0; i < w->facts->bound.count; i++) {
    ir_var v = w->facts->bound.items[i];
    for (uint32_t k = 0; k < 2; k++)
      kept->assumed[2 * v + k] = facts_assumed(w->facts, TERMS_PER_VAR * v + k);
  }
  if (!returns) return;
  struct pair_of_lists out = {f->params, f->body->results, f->param_count};
  if (!boundary_meet(w, &kept->exit, &out, NULL)) return;
  for (uint32_t i = callers->first[function]; i < callers->first[function + 1]; i++) {
    if (w->sizes->functions[callers->list[i]].entry.reached)
      enqueue(w->sizes, callers->list[i]);
  }
}

static void follow_all_callers(struct sizes_walk *w, const struct callers *callers) {
  struct sizes *s = w->sizes;
  while (s->queue_count > 0) {
    uint32_t function = s->queue[s->queue_first];
    s->queue_first = (s->queue_first + 1) % s->o->program->function_count;
    s->queue_count--;
    s->functions[function].queued = false;
    follow_function(w, callers, function);
  }
}

/* Makes room for the results of a function. Returns its number of variables. */
static uint32_t sizes_prepare(struct sizes *s, uint32_t function) {
  const struct ir_function *f = &s->o->program->functions[function];
  struct sizes_function *kept = &s->functions[function];
  struct arena *scratch = s->o->scratch;
  if (!f->typed) return 0;
  uint32_t results = f->body->end == IR_YIELD ? f->body->result_count : 0;
  kept->entry = boundary_make(scratch, f->param_count);
  kept->exit = boundary_make(scratch, f->param_count + results);
  kept->classes = arena_alloc(scratch, 2 * (size_t)f->var_count * sizeof *kept->classes);
  kept->assumed = arena_alloc(scratch, 2 * (size_t)f->var_count * sizeof *kept->assumed);
  kept->known = arena_alloc(scratch, 2 * (size_t)f->var_count * sizeof *kept->known);
  memset(kept->known, 0xff, 2 * (size_t)f->var_count * sizeof *kept->known);
  for (uint32_t i = 0; i < 2 * f->var_count; i++)
    kept->classes[i] = kept->assumed[i] = TERMS_PER_VAR * (i / 2) + i % 2;
  kept->first = arena_alloc(scratch, f->var_count * sizeof *kept->first);
  kept->descriptors = arena_alloc(scratch, f->var_count * sizeof *kept->descriptors);
  for (ir_var v = 0; v < f->var_count; v++) {
    kept->first[v] = v;
    kept->descriptors[v] = IR_NO_VAR;
  }
  kept->safe = arena_alloc(scratch, f->var_count);
  kept->agrees = arena_alloc(scratch, f->var_count);
  kept->depends = arena_alloc(scratch, f->var_count);
  return f->var_count;
}

/* A function that is called from outside the let-form: no facts hold at its entry. */
static void begin_at(struct sizes *s, uint32_t function) {
  if (!s->o->program->functions[function].typed) return;
  boundary_give_up(&s->functions[function].entry);
  enqueue(s, function);
}

/* Finds for each procedure a lifted function that it belongs to. */
static void find_lifted(struct sizes *s) {
  const struct ir_program *program = s->o->program;
  for (uint32_t i = 0; i < program->function_count; i++) {
    const uint32_t p = ir_procedure(&program->functions[i]);
    if (p != IR_NO_PROCEDURE) s->functions[p].lifted = &program->functions[i];
  }
}

struct sizes *sizes_compute(struct opt *o) {
  const struct ir_program *program = o->program;
  uint32_t n = program->function_count, most = 0;
  struct sizes *s = arena_alloc(o->scratch, sizeof *s);
  s->o = o;
  s->functions = arena_alloc(o->scratch, n * sizeof *s->functions);
  s->queue = arena_alloc(o->scratch, n * sizeof *s->queue);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t variables = sizes_prepare(s, i);
    if (variables > most) most = variables;
  }
  struct facts *facts = arena_alloc(o->scratch, sizeof *facts);
  facts_init(facts, o->scratch);
  struct sizes_walk w = {.sizes = s, .facts = facts};
  w.elements = arena_alloc(o->scratch, ((size_t)most + 1) * sizeof *w.elements);
  map_init(&w.pairs, o->scratch);
  map_init(&w.families, o->scratch);
  struct callers callers = callers_make(o);
  find_lifted(s);
  begin_at(s, program->entry);
  if (program->entry_layout && program->functions[program->entry].typed &&
      !program->functions[program->entry].instances) {
    boundary_lay_out(&s->functions[program->entry].entry, program);
  }
  for (uint32_t i = 0; i < n; i++) {
    const struct vcode_function *stack = program->functions[i].stack;
    if (program->functions[i].typed) continue;
    for (uint32_t k = 0; k < stack->length; k++) {
      if (stack->code[k].op == OPC_CALL) begin_at(s, stack->code[k].as.call.function);
    }
  }
  follow_all_callers(&w, &callers);
  for (uint32_t i = 0; i < n; i++) { /* a function without a known call has results, too */
    if (program->functions[i].typed && !s->functions[i].entry.reached) begin_at(s, i);
    follow_all_callers(&w, &callers);
  }
  return s;
}

/* ---- answers ---- */

bool sizes_safe(const struct sizes *s, uint32_t function, const struct ir_binding *x) {
  return x->result_count > 0 && s->functions[function].safe[x->results[0]];
}

bool sizes_agree(const struct sizes *s, uint32_t function, const struct ir_binding *x) {
  return x->result_count > 0 && s->functions[function].agrees[x->results[0]];
}

bool sizes_depend_on_check(const struct sizes *s, uint32_t function,
                           const struct ir_binding *x) {
  return x->result_count == 0 || s->functions[function].depends[x->results[0]];
}

uint32_t sizes_class(const struct sizes *s, uint32_t function, ir_var v, uint8_t what) {
  return s->functions[function].classes[2 * v + (what == SIZE_COUNT)];
}

uint32_t sizes_assumed(const struct sizes *s, uint32_t function, ir_var v, uint8_t what) {
  return s->functions[function].assumed[2 * v + (what == SIZE_COUNT)];
}

int64_t sizes_known(const struct sizes *s, uint32_t function, ir_var v, uint8_t what) {
  return s->functions[function].known[2 * v + (what == SIZE_COUNT)];
}

ir_var sizes_first(const struct sizes *s, uint32_t function, ir_var v) {
  return s->functions[function].first[v];
}

ir_var sizes_descriptor(const struct sizes *s, uint32_t function, ir_var v) {
  return s->functions[function].descriptors[v];
}
