/* test-native.c - native code of random superoperators against the oracle, bit for bit: each is
 * the body of a procedure, which is called for instances. Where the oracle has a fault, native
 * code must give up; where it has none, it must not.
 */
#include "base/tests/every.h"
#include "procedures/tests/native-calls.h"

#include "fused-kernels/kernel.h"

#include <inttypes.h>

/* ---- programs ---- */

static const struct mixture mixtures[] = {
    {.maps = 12, .spreads = 3},
    {.maps = 4, .spreads = 2, .reductions = 1, .loops = 2},
    {.maps = 3, .spreads = 2, .gathers = 3},
    {.maps = 4, .spreads = 1, .gathers = 1, .reductions = 4},
    {.maps = 4, .spreads = 1, .reductions = 1, .scans = 3},
    {.maps = 4, .spreads = 1, .reductions = 1, .packs = 3},
    {.maps = 4, .spreads = 2, .gathers = 2, .scans = 1, .packs = 4, .wild = true},
    {.maps = 3, .spreads = 1, .gathers = 1, .scatters = 2},
    {.maps = 8,
     .spreads = 3,
     .gathers = 2,
     .reductions = 3,
     .scans = 2,
     .packs = 2,
     .scatters = 1},
    {.copies = true},
    {.copies = true, .wild = true},
    {.maps = 14, .spreads = 2, .reductions = 2, .scans = 1, .packs = 1, .wild = true},
    {.maps = 4,
     .spreads = 1,
     .gathers = 2,
     .reductions = 1,
     .scatters = 1,
     .asserts = 3,
     .wild = true},
    {.maps = 8,
     .spreads = 2,
     .gathers = 3,
     .reductions = 2,
     .scans = 1,
     .packs = 1,
     .scatters = 2,
     .wild = true},
    {.maps = 3, .spreads = 1, .gathers = 1, .reductions = 1, .combinations = 1},
    {.maps = 2, .scans = 1, .packs = 1, .loops = 1, .combinations = 1},
};
enum { MIXTURES = sizeof mixtures / sizeof *mixtures };

/* A superoperator as a procedure. In its first form all that it takes is shared: vectors, and
 * descriptors of any number of segments. In the second one, for data of `n` positions in one
 * segment, some of what then has one element or segment is given so, and is a scalar of C. */
enum form_of_call { ALL_SHARED, SOME_EACH, FORMS_OF_CALLS };

struct subject {
  const struct superop_case *c;
  enum form_of_call form;
  uint64_t n;
  bool each[SUPEROP_PARAMS];
  bool each_result[2 * SUPEROP_NODES];
  uint32_t statements; /* of its kernel, or nodes of copies */
  native_entry *entry; /* NULL: it cannot be native */
};

enum { SUBJECTS = FORMS_OF_CALLS * CASES };

struct trial {
  struct random r;
  struct subject subjects[SUBJECTS];
  struct ir_program program;
  struct procedures procedures;
  struct built built;
  struct calling calling;
  uint64_t calls, statements, given_up, without, failed; /* counts */
};

static const struct name *trial_name(struct arena *arena, const char *word, uint32_t number) {
  const char *text = arena_printf(arena, "%s%u", word, number);
  struct name *name = arena_alloc(arena, sizeof *name + strlen(text) + 1);
  name->length = (uint32_t)strlen(text);
  strcpy(name->text, text);
  return name;
}

/* The procedure of a superoperator: its body is one binding. */
static void trial_procedure(struct arena *arena, const struct superop *op, uint32_t number,
                            struct ir_function *f) {
  struct ir_binding *b = arena_alloc(arena, sizeof *b);
  struct ir_block *body = arena_alloc(arena, sizeof *body);
  *f = (struct ir_function){.name = trial_name(arena, "P", number),
                            .typed = true,
                            .returns = true,
                            .param_count = op->param_count,
                            .result_count = op->output_count,
                            .var_count = op->param_count + op->output_count,
                            .body = body,
                            .procedure = IR_NO_PROCEDURE};
  ir_var *vars = arena_alloc(arena, (f->var_count + 1) * sizeof *vars);
  f->vars = arena_alloc(arena, (f->var_count + 1) * sizeof *f->vars);
  for (ir_var v = 0; v < f->var_count; v++) {
    vars[v] = v;
    f->vars[v] = v < op->param_count ? ir_superop_operand(op, v)
                                     : ir_superop_output(op, v - op->param_count);
  }
  f->params = vars;
  f->result_kinds = f->vars + op->param_count;
  *b = (struct ir_binding){.form = IR_FUSED,
                           .operand_count = op->param_count,
                           .result_count = op->output_count,
                           .operands = vars,
                           .results = vars + op->param_count};
  b->as.superop = op->number;
  *body = (struct ir_block){.bindings = b,
                            .count = 1,
                            .end = IR_YIELD,
                            .result_count = op->output_count,
                            .results = vars + op->param_count};
}

/* A lifted function with a link. Its body is never looked at. */
static void trial_lifted(struct arena *arena, const struct subject *x, uint32_t number,
                         struct ir_function *f) {
  const struct superop *op = &x->c->op;
  uint32_t *params = arena_alloc(arena, (op->param_count + 1) * sizeof *params);
  uint32_t *results = arena_alloc(arena, (op->output_count + 1) * sizeof *results);
  struct ir_instances *mark = arena_alloc(arena, sizeof *mark);
  params[0] = IR_SHARED;
  for (uint32_t p = 0; p < op->param_count; p++)
    params[p + 1] = x->each[p] ? IR_EACH : IR_SHARED;
  for (uint32_t i = 0; i < op->output_count; i++) results[i] = x->each_result[i] ? IR_EACH : 0;
  *mark = (struct ir_instances){params, results};
  *f = (struct ir_function){.name = trial_name(arena, "F", number),
                            .typed = true,
                            .returns = true,
                            .param_count = op->param_count + 1,
                            .result_count = op->output_count,
                            .body = arena_alloc(arena, sizeof(struct ir_block)),
                            .instances = mark,
                            .procedure = number};
}

/* ---- forms ---- */

static void trial_free(struct suite *s, const struct superop_case *c,
                       struct host_value *values) {
  for (uint32_t v = c->op.param_count; v < c->op.value_count; v++)
    host_free(&s->heap, &values[v]);
  superop_case_free_data(s, c, values);
}

/* Makes data, and what the oracle makes of it: the values of all numbers. */
static void trial_data(struct suite *s, const struct superop_case *c, uint64_t n,
                       enum shape shape, bool spoil, struct host_value *values) {
  memset(values, 0, c->op.value_count * sizeof *values);
  superop_case_data(s, c, n, shape, spoil, values);
}

static bool trial_oracle(struct suite *s, const struct superop_case *c,
                         struct host_value *values, struct cvl_error *error) {
  *error = (struct cvl_error){.kind = CVL_E_NONE};
  return oracle_superop(&s->heap, &c->op, s->int_elem, s->float_elem, values, error);
}

/* Chooses what is scalar, by data. What a PACK leaves may be of any length. */
static void choose_each(struct suite *s, struct subject *x) {
  const struct superop *op = &x->c->op;
  struct host_value *values = calloc(op->value_count, sizeof *values);
  struct cvl_error error;
  x->n = rng_one_in(&s->rng, 3) ? 100 : 1;
  trial_data(s, x->c, x->n, SHAPE_ONE, false, values);
  for (uint32_t p = 0; p < op->param_count; p++)
    x->each[p] = values[p].n == 1 && !rng_one_in(&s->rng, 4);
  const bool fine = trial_oracle(s, x->c, values, &error);
  for (uint32_t i = 0; i < op->output_count && fine; i++) {
    const uint32_t v = op->outputs[i];
    x->each_result[i] = values[v].n == 1 && op->sizes[v].what != SIZE_UNKNOWN &&
                        op->kinds[v] != SUPEROP_SEGDES && rng_one_in(&s->rng, 2);
  }
  trial_free(s, x->c, values);
  free(values);
}

static bool is_native(const struct superop *op) {
  uint32_t combinations = 0;
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (op->nodes[k].role == ROLE_COMBINE_SCATTER) return false;
    if (op->nodes[k].role == ROLE_COLUMN && superop_combination_at(op, k).first == k) {
      combinations++;
      k += superop_combination_at(op, k).count - 1;
    }
  }
  return combinations <= 1;
}

static uint32_t statements_of(struct arena *arena, const struct superop *op) {
  return op->copies ? op->node_count : kernel_lower(arena, op)->count;
}

static void trial_subjects(struct trial *t, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    struct subject *x = &t->subjects[i];
    const struct superop_case *c = &t->r.cases[i / FORMS_OF_CALLS];
    *x = (struct subject){.c = c, .form = (enum form_of_call)(i % FORMS_OF_CALLS)};
    if (x->form == SOME_EACH) choose_each(&t->r.suite, x);
    x->statements = statements_of(&t->r.arena, &c->op);
  }
}

/* Makes superoperators, their procedures, and the code of these, with more options. */
static void trial_begin(struct trial *t, struct widths w, uint64_t seed, const char *more) {
  memset(t, 0, sizeof *t);
  random_make(&t->r, w, seed, mixtures, MIXTURES, CASES);
  trial_subjects(t, SUBJECTS);
  struct arena *arena = &t->r.arena;
  struct ir_function *functions = arena_alloc(arena, 2 * SUBJECTS * sizeof *functions);
  for (uint32_t i = 0; i < SUBJECTS; i++) {
    trial_procedure(arena, &t->subjects[i].c->op, i, &functions[i]);
    trial_lifted(arena, &t->subjects[i], i, &functions[SUBJECTS + i]);
  }
  t->program = (struct ir_program){.widths = w,
                                   .functions = functions,
                                   .function_count = 2 * SUBJECTS,
                                   .superops = t->r.ops,
                                   .superop_count = CASES};
  cr_assert(procedures_make(arena, &t->program, &t->procedures));
  make_directory(&t->built);
  write_text(&t->built, "text", &t->procedures);
  compile_native(&t->built, more);
  for (uint32_t i = 0; i < SUBJECTS; i++) {
    const struct cvl_procedure *p = t->procedures.of[SUBJECTS + i];
    cr_assert_eq(p != NULL, is_native(&t->subjects[i].c->op), "superoperator %u", i / 2);
    if (p) t->subjects[i].entry = entry_of(&t->built, "text", p);
  }
  calling_begin(&t->calling, w);
}

static void trial_end(struct trial *t) {
  calling_end(&t->calling);
  clean(&t->built);
  random_free(&t->r);
}

/* ---- arguments and results ---- */

/* The elements of a value so many times, or a descriptor's offsets, in memory that ends where
 * they end. */
static struct native_value argument_of(const struct host_value *h, uint64_t times) {
  const size_t bytes = host_bytes(h);
  struct native_value v = {.n = h->n * times};
  if (h->form == HOST_SEGDES) {
    uint64_t *offsets = malloc((v.n + 1) * sizeof *offsets);
    offsets[0] = 0;
    for (uint64_t k = 0; k < v.n; k++) offsets[k + 1] = offsets[k] + host_segment(h, k % h->n);
    v.offsets = offsets;
    return v;
  }
  char *data = malloc(bytes * times);
  for (uint64_t k = 0; k < times; k++) memcpy(data + k * bytes, h->data, bytes);
  v.data = data;
  return v;
}

/* Whether the argument is as argument_of made it; it is freed. */
static bool is_unchanged(struct native_value *v, const struct host_value *h, uint64_t times) {
  const struct native_value again = argument_of(h, times);
  const size_t bytes =
      h->form == HOST_SEGDES ? (v->n + 1) * sizeof *v->offsets : host_bytes(h) * times;
  const void *was = h->form == HOST_SEGDES ? (const void *)again.offsets : again.data,
             *is = h->form == HOST_SEGDES ? (const void *)v->offsets : v->data;
  const bool same = memcmp(was, is, bytes) == 0;
  free((void *)(uintptr_t)was);
  free((void *)(uintptr_t)is);
  return same;
}

/* Whether a buffer has a value so many times. */
static bool is_result(const struct host_value *wanted, const struct native_buffer *y,
                      uint64_t times) {
  const size_t bytes = wanted->form == HOST_SEGDES
                           ? sizeof(int64_t)
                           : elem_info((enum cvl_elem)wanted->elem)->bytes;
  if (y->n != wanted->n * times) return false;
  for (uint64_t k = 0; k < times && wanted->n > 0; k++) {
    if (!same_elements(wanted, y->at + k * wanted->n * bytes)) return false;
  }
  return true;
}

/* ---- a call ---- */

static bool fits(const struct subject *x, const struct host_value *values, bool fine) {
  const struct superop *op = &x->c->op;
  for (uint32_t p = 0; p < op->param_count; p++) {
    if (x->each[p] && values[p].n != 1) return false;
  }
  for (uint32_t i = 0; i < op->output_count && fine; i++) {
    if (x->each_result[i] && values[op->outputs[i]].n != 1) return false;
  }
  return true;
}

static uint64_t size_in(struct superop_size size, const struct host_value *values) {
  switch (size.what) {
  case SIZE_LEN:
  case SIZE_TOTAL:
    return values[size.param].form == HOST_SEGDES ? values[size.param].total
                                                  : values[size.param].n;
  case SIZE_COUNT: return values[size.param].n;
  default: return 1;
  }
}

/* Whether sizes agree, those that only the domain requires, too. If not, the nodes may be
 * executed one by one, and the superoperator cannot. */
static bool sizes_agree(const struct superop *op, const struct host_value *values) {
  for (uint32_t k = 0; k < op->rule_count; k++) {
    if (size_in(op->rules[k].a, values) != size_in(op->rules[k].b, values)) return false;
  }
  return true;
}

static void describe(const struct subject *x, const char *how, uint64_t n, enum shape shape,
                     char *text, size_t size) {
  snprintf(text, size, "superoperator %u, %s, n = %" PRIu64 ", shape %s%s", x->c->op.number,
           x->form == ALL_SHARED ? "shared" : "each", n, shape_name(shape), how);
}

/* Prints the superoperator of a failure, the first time. */
static void report(struct trial *t, const struct subject *x, const char *what) {
  if (t->failed++ > 0) return;
  fprintf(stderr, "%s:\n", what);
  superop_case_print(x->c, stderr);
  fprintf(stderr, "    each:");
  for (uint32_t p = 0; p < x->c->op.param_count; p++) {
    if (x->each[p]) fprintf(stderr, " $%u", p);
  }
  fprintf(stderr, "\n");
}

/* Executes `times` instances of the same arguments, and compares. */
static void call_with(struct trial *t, const struct subject *x, const struct host_value *values,
                      const struct cvl_error *error, uint64_t times, const char *what) {
  const struct superop *op = &x->c->op;
  struct native_value *arguments = calloc(op->param_count + 1, sizeof *arguments);
  struct native_buffer results[2 * SUPEROP_NODES] = {0};
  for (uint32_t p = 0; p < op->param_count; p++)
    arguments[p] = argument_of(&values[p], x->each[p] ? times : 1);
  const bool fine = error->kind == CVL_E_NONE,
             done = x->entry(&t->calling.thread, 0, times, arguments, results);
  bool right = done == fine || (!done && !sizes_agree(op, values));
  cr_expect(right, "%s: native code %s; the oracle: %s", what, done ? "succeeds" : "gives up",
            fine ? "no fault" : fault_name((enum cvl_error_kind)error->kind));
  for (uint32_t i = 0; i < op->output_count && done && fine; i++) {
    const bool same = is_result(&values[op->outputs[i]], &results[i], times);
    cr_expect(same, "%s: output %u, $%u", what, i, op->outputs[i]);
    right = right && same;
  }
  for (uint32_t p = 0; p < op->param_count; p++) {
    const bool same = is_unchanged(&arguments[p], &values[p], x->each[p] ? times : 1);
    cr_expect(same, "%s: parameter %u is written", what, p);
    right = right && same;
  }
  calling_free_results(&t->calling, results, op->output_count);
  free(arguments);
  if (!right) report(t, x, what);
  t->calls++;
  t->statements += x->statements;
  t->given_up += !done;
}

static void call_on(struct trial *t, const struct subject *x, struct host_value *values,
                    const char *what) {
  struct cvl_error error;
  const bool fine = trial_oracle(&t->r.suite, x->c, values, &error);
  if (fits(x, values, fine))
    call_with(t, x, values, &error, 1 + rng_below(&t->r.suite.rng, 3), what);
  else
    t->without++;
}

/* ---- runs ---- */

static void run_once(struct trial *t, const struct subject *x, uint64_t n, enum shape shape,
                     bool spoil) {
  struct suite *s = &t->r.suite;
  struct host_value *values = calloc(x->c->op.value_count, sizeof *values);
  char what[200];
  describe(x, spoil ? ", spoiled" : "", n, shape, what, sizeof what);
  trial_data(s, x->c, n, shape, spoil, values);
  call_on(t, x, values, what);
  trial_free(s, x->c, values);
  free(values);
}

/* One vector is longer by one element. */
static void run_misfit(struct trial *t, const struct subject *x, uint64_t n, enum shape shape) {
  struct suite *s = &t->r.suite;
  const struct superop_case *c = x->c;
  struct host_value *values = calloc(c->op.value_count, sizeof *values);
  char what[200];
  trial_data(s, c, n, shape, false, values);
  const uint32_t p = (uint32_t)rng_below(&s->rng, c->op.param_count);
  bool tried = values[p].form == HOST_VECTOR && c->recipes[p].data != DATA_ALIAS;
  for (uint32_t q = 0; q < c->op.param_count; q++)
    tried = tried && !(c->recipes[q].data == DATA_ALIAS && c->recipes[q].of == p);
  if (tried && !c->copies) {
    struct host_value other =
        host_vector(&s->heap, (enum cvl_elem)values[p].elem, values[p].n + 1);
    memset(other.data, 1, host_bytes(&other));
    host_free(&s->heap, &values[p]);
    values[p] = other;
    describe(x, ", a size that does not agree", n, shape, what, sizeof what);
    call_on(t, x, values, what);
  }
  trial_free(s, c, values);
  free(values);
}

static enum shape any_shape(struct suite *s, uint64_t n) {
  if (n == 0) return (enum shape)(SHAPE_NONE + rng_below(&s->rng, SHAPES_END - SHAPE_NONE));
  return (enum shape)rng_below(&s->rng, SHAPES);
}

static const uint64_t lengths[] = {0, 1, 2, 3, 7, 33, 257, 1023, 1025, 2051, 5000};

static uint64_t any_length(const struct subject *x, struct suite *s) {
  enum { COUNT = sizeof lengths / sizeof *lengths, MOST_OF_TREES = 1500 };
  const uint64_t n = lengths[rng_below(&s->rng, COUNT)];
  /* the oracle is slow */
  return superop_has_combinations(&x->c->op) && n > MOST_OF_TREES ? MOST_OF_TREES : n;
}

static void run_subject(struct trial *t, const struct subject *x) {
  enum { RUNS = 32 };
  struct suite *s = &t->r.suite;
  for (int run = 0; run < RUNS; run++) {
    const bool shared = x->form == ALL_SHARED;
    const uint64_t n = shared ? any_length(x, s) : x->n;
    const enum shape shape = shared ? any_shape(s, n) : SHAPE_ONE;
    if (run % 8 == 7)
      run_misfit(t, x, n, shape);
    else
      run_once(t, x, n, shape, x->c->wild && run % 3 > 0);
  }
}

/* Runs all subjects of some random superoperators. Returns the statements executed. */
static uint64_t native_try(struct widths w, uint64_t seed, const char *more) {
  struct trial *t = calloc(1, sizeof *t);
  trial_begin(t, w, seed, more);
  for (uint32_t i = 0; i < SUBJECTS; i++) {
    if (t->subjects[i].entry) run_subject(t, &t->subjects[i]);
  }
  cr_expect_lt(t->without, t->calls);
  const uint64_t statements = t->statements;
  trial_end(t);
  free(t);
  return statements;
}

/* Some programs are compiled as always, others in haste. */
static void native_check(struct widths w, uint64_t seed) {
  enum { PROGRAMS = 20, LEAST = 12000 /* of statements, for a program */ };
  if (!has_compiler()) cr_skip_test("no compiler here");
  const unsigned stride = every();
  for (unsigned program = 0; program < PROGRAMS; program += stride) {
    const uint64_t statements =
        native_try(w, seed + program, program / stride % 2 ? "-O0" : "");
    cr_expect_gt(statements, LEAST, "%" PRIu64, statements);
  }
}

Test(native, same_as_the_oracle_in_wide_widths) {
  native_check((struct widths){CVL_I64, CVL_F64}, 100);
}

Test(native, same_as_the_oracle_in_narrow_widths) {
  native_check((struct widths){CVL_I32, CVL_F32}, 200);
}
