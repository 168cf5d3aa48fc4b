/* test-programs.c - native code of whole procedures against their execution by the oracle:
 * operations on vectors, control flow, calls, loops; and memory that runs out, at every
 * allocation.
 */
#include "base/tests/every.h"
#include "base/text.h"
#include "ir/kinds.h"
#include "ir/tests/parse.h"
#include "procedures/tests/evaluate.h"
#include "procedures/tests/examples.h"
#include "procedures/tests/native-calls.h"

#include <pthread.h>

/* ---- an example, loaded and compiled ---- */

struct loaded_example {
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
  struct ir_program *program;
  struct procedures procedures;
  uint32_t lifted;
  struct suite suite; /* its random numbers */
};

/* Adds the first line, MAIN and positions. */
static const char *whole_text(struct arena *arena, const char *text, struct widths w) {
  static const char main_function[] =
      "fun MAIN () -> (INT) @1:1\nv0 = CONST INT 1 @1:1\nyield v0\nend\n";
  struct text out;
  cr_assert(text_begin(&out, arena->heap));
  fprintf(out.stream, "let-form \"test\" i%d f%d entry MAIN\n", w.int_elem == CVL_I64 ? 64 : 32,
          w.float_elem == CVL_F64 ? 64 : 32);
  bool functions = false;
  for (const char *line = text; *line;) {
    const size_t n = strcspn(line, "\n");
    static const char *const bare[] = {"yield", "else", "end"};
    bool position = true;
    for (int i = 0; i < 3; i++)
      position = position && strncmp(line, bare[i], strlen(bare[i])) != 0;
    if (!functions && strncmp(line, "fun ", 4) == 0) fputs(main_function, out.stream);
    functions = functions || strncmp(line, "fun ", 4) == 0;
    fprintf(out.stream, "%.*s%s\n", (int)n, line, functions && position ? " @1:1" : "");
    line += n + (line[n] == '\n');
  }
  cr_assert(text_end(&out));
  const char *copy = arena_copy(arena, out.bytes, out.length);
  text_free(&out);
  return copy;
}

/* Numbers of variables that the text leaves out have a kind, as in all programs. */
static void name_all_kinds(struct ir_function *f) {
  for (ir_var v = 0; v < f->var_count; v++) {
    if (!f->vars[v]) f->vars[v] = ir_kind_base(IR_INT);
  }
}

static void load_example(struct loaded_example *x, const struct example *from,
                         struct widths w) {
  memset(x, 0, sizeof *x);
  heap_init(&x->heap, 0);
  arena_init(&x->arena, &x->heap);
  diag_list_init(&x->diags, &x->arena);
  const char *text = whole_text(&x->arena, from->text, w);
  x->program = ir_parse(&x->arena, "test", text, strlen(text), &x->diags);
  if (!x->program)
    cr_assert_fail("%s: line %u: %s", from->name, x->diags.list.items[0].pos.line,
                   x->diags.list.items[0].message);
  for (uint32_t f = 0; f < x->program->function_count; f++)
    name_all_kinds(&x->program->functions[f]);
  cr_assert(procedures_make(&x->arena, x->program, &x->procedures), "%s", from->name);
  for (uint32_t f = 0; f < x->program->function_count; f++) {
    if (strcmp(x->program->functions[f].name->text, "F") == 0) x->lifted = f;
  }
  cr_assert_not_null(x->procedures.of[x->lifted], "%s", from->name);
}

static void unload_example(struct loaded_example *x) {
  arena_free(&x->arena);
  cr_expect_eq(x->heap.live, 0);
}

/* ---- arguments ---- */

static void fill(struct suite *s, const struct example *from, struct host_value *v) {
  for (uint64_t i = 0; i < v->n; i++) {
    const uint64_t span = (uint64_t)(from->most - from->least) + 1;
    const int64_t x = from->least + (int64_t)rng_below(&s->rng, span);
    if (v->form == HOST_SEGDES) {
      const uint64_t length = rng_below(&s->rng, rng_one_in(&s->rng, 3) ? 3 : from->length + 1);
      host_put_int(v, i, (int64_t)length);
      v->total += length;
    } else if (v->elem == CVL_BOOL) {
      host_put_int(v, i, x & 1);
    } else if (v->elem == CVL_F32 || v->elem == CVL_F64) {
      host_put_real(v, i, (double)x / 4);
    } else {
      host_put_int(v, i, x);
    }
  }
}

/* Arguments of so many instances. */
static void make_arguments(struct loaded_example *x, const struct example *from,
                           struct evaluation *e, uint64_t instances,
                           struct host_value *params) {
  const struct ir_function *f = &x->program->functions[x->lifted];
  const struct widths w = x->program->widths;
  for (uint32_t i = 0; i + 1 < f->param_count; i++) {
    const uint32_t size = f->instances->params[i + 1];
    const uint64_t n = size == IR_EACH     ? instances
                       : size == IR_SHARED ? rng_below(&x->suite.rng, 5)
                                           : params[size - 1].total;
    const uint8_t kind = ir_superop_kind(f->vars[f->params[i + 1]]);
    params[i] =
        kind == SUPEROP_SEGDES
            ? evaluation_segdes(e, n)
            : evaluation_vector(
                  e, superop_elem((enum superop_kind)kind, w.int_elem, w.float_elem), n);
    fill(&x->suite, from, &params[i]);
  }
}

/* A value as it is passed; a descriptor's offsets are the arena's. */
static struct native_value passed(struct arena *arena, const struct host_value *h) {
  if (h->form != HOST_SEGDES) return (struct native_value){.data = h->data, .n = h->n};
  uint64_t *offsets = arena_alloc(arena, (h->n + 1) * sizeof *offsets);
  for (uint64_t k = 0; k < h->n; k++) offsets[k + 1] = offsets[k] + host_segment(h, k);
  return (struct native_value){.offsets = offsets, .n = h->n};
}

/* ---- calls ---- */

enum { ITEMS = 8 };

static uint64_t shared_parts; /* of work that have been given away */

struct run {
  struct loaded_example *x;
  const struct example *from;
  struct evaluation e;
  struct host_value params[ITEMS], wanted[ITEMS];
  struct native_value arguments[ITEMS];
  uint64_t instances;
  uint32_t result_count;
  bool fine;
};

static void begin_run(struct run *r, struct loaded_example *x, const struct example *from,
                      uint64_t instances) {
  const struct ir_function *f = &x->program->functions[x->lifted];
  memset(r, 0, sizeof *r);
  r->x = x;
  r->from = from;
  r->instances = instances;
  r->result_count = f->result_count;
  cr_assert(f->param_count <= ITEMS && f->result_count <= ITEMS);
  evaluation_begin(&r->e, &x->arena, x->program);
  make_arguments(x, from, &r->e, instances, r->params);
  for (uint32_t i = 0; i + 1 < f->param_count; i++)
    r->arguments[i] = passed(&x->arena, &r->params[i]);
  r->fine = evaluate_batch(&r->e, x->lifted, r->params, 0, instances, r->wanted);
  cr_expect(r->fine || !from->always, "%s: fails", from->name);
}

static void compare(const struct run *r, const struct native_buffer *results) {
  for (uint32_t i = 0; i < r->result_count; i++) {
    const struct host_value *w = &r->wanted[i];
    cr_expect_eq(results[i].n, w->n, "%s: result %u has %lu elements, not %lu", r->from->name,
                 i, (unsigned long)results[i].n, (unsigned long)w->n);
    if (results[i].n == w->n && w->n > 0)
      cr_expect(same_elements(w, results[i].at), "%s: result %u", r->from->name, i);
  }
}

/* Executes all instances, in two ranges. The second thread is idle at first. */
static bool call_native(struct run *r, struct calling *c, native_entry *entry,
                        uint64_t middle) {
  struct native_buffer results[ITEMS] = {0};
  c->second.arena = NULL;
  c->asks &= ~(uint32_t)NATIVE_STOP;
  const bool done = entry(&c->thread, 0, middle, r->arguments, results) &&
                    entry(&c->thread, middle, r->instances, r->arguments, results);
  if (done && r->fine) compare(r, results);
  calling_free_results(c, results, r->result_count);
  return done;
}

/* Parts of the work are given away. What a part gives up, the call gives up. */
static void run_shared(struct run *r, native_entry *entry, uint64_t seed) {
  for (int refuses = 0; refuses < 2; refuses++) {
    struct calling c;
    calling_begin(&c, r->x->program->widths);
    calling_shares(&c, seed);
    c.refuses = refuses;
    const bool done = call_native(r, &c, entry, 0);
    shared_parts += c.parts;
    if (!refuses) cr_expect_eq(done, r->fine, "%s, shared", r->from->name);
    cr_expect(!done || r->fine);
    c.refuses = false;
    cr_expect_eq(call_native(r, &c, entry, r->instances), r->fine, "%s", r->from->name);
    calling_end(&c);
  }
}

static void run_example(struct loaded_example *x, const struct example *from,
                        native_entry *entry, struct calling *c) {
  enum { RUNS = 60 };
  unsigned succeeded = 0;
  for (unsigned run = 0; run < RUNS; run++) {
    struct run r;
    const uint64_t instances = rng_below(&x->suite.rng, 6);
    begin_run(&r, x, from, instances);
    const bool done = call_native(&r, c, entry, rng_below(&x->suite.rng, instances + 1));
    cr_expect_eq(done, r.fine, "%s: %s", from->name, done ? "does not give up" : "gives up");
    succeeded += done && instances > 0;
    run_shared(&r, entry, run);
    evaluation_end(&r.e);
  }
  cr_expect(succeeded > 2 && (from->always || succeeded < RUNS - 2), "%s: %u", from->name,
            succeeded);
}

/* ---- memory ---- */

/* Every allocation fails once; what gives up then goes on when it is called again. */
static void run_without_memory(struct loaded_example *x, const struct example *from,
                               native_entry *entry, bool shares) {
  enum { MOST = 3000 };
  struct run r;
  do {
    begin_run(&r, x, from, 2);
    if (!r.fine) evaluation_end(&r.e);
  } while (!r.fine);
  bool failed = true;
  for (uint64_t k = 1; failed; k += every()) {
    struct calling c;
    cr_assert(k < MOST);
    calling_begin(&c, x->program->widths);
    if (shares) calling_shares(&c, 1);
    c.fail_at = k;
    const bool done = call_native(&r, &c, entry, 1);
    failed = c.count >= k;
    cr_expect(done ? !failed || shares : failed, "%s: allocation %lu", from->name,
              (unsigned long)k);
    c.fail_at = 0;
    cr_expect(call_native(&r, &c, entry, 1), "%s: after allocation %lu", from->name,
              (unsigned long)k);
    calling_end(&c);
  }
  evaluation_end(&r.e);
}

/* ---- all examples ---- */

/* Where a part of all cases is run, each example is executed in one of the widths. */
static bool is_executed(unsigned example, struct widths w) {
  return every() == 1 || example % 2 == (w.int_elem == CVL_I32);
}

static void check_examples(struct widths w) {
  if (!has_compiler()) cr_skip_test("no compiler here");
  struct loaded_example *all = calloc(EXAMPLES, sizeof *all);
  struct built b;
  struct calling c;
  make_directory(&b);
  calling_begin(&c, w);
  for (unsigned i = 0; i < EXAMPLES; i++) {
    char prefix[16];
    snprintf(prefix, sizeof prefix, "text%u", i);
    load_example(&all[i], &examples[i], w);
    write_text(&b, prefix, &all[i].procedures);
  }
  compile_native(&b, "");
  for (unsigned i = 0; i < EXAMPLES; i++) {
    char prefix[16];
    snprintf(prefix, sizeof prefix, "text%u", i);
    native_entry *entry = entry_of(&b, prefix, all[i].procedures.of[all[i].lifted]);
    all[i].suite.rng.state = 17 + i;
    const uint64_t before = shared_parts;
    if (!is_executed(i, w)) {
      unload_example(&all[i]);
      continue;
    }
    run_example(&all[i], &examples[i], entry, &c);
    run_without_memory(&all[i], &examples[i], entry, false);
    if (shared_parts > before) run_without_memory(&all[i], &examples[i], entry, true);
    unload_example(&all[i]);
  }
  cr_expect_gt(shared_parts, every() == 1 ? 5000 : 1000);
  calling_end(&c);
  clean(&b);
  free(all);
}

/* ---- procedures that do not end by themselves ---- */

#define OF_ONE                                                                                 \
  LIFTED("v1: INT", "INT", "shared each -> each", "v2: INT = call F v0 v1\nyield v2\n")

static const struct example endless[] = {
    {.name = "recursion",
     .text = "fun P (v0: INT) -> (INT)\n"
             "v1 = CONST INT 0\n"
             "v2 = <= INT v0 v1\n"
             "v3: INT = if v2\n"
             "yield v0\n"
             "else\n"
             "v4 = CONST INT 1\n"
             "v5 = - INT v0 v4\n"
             "v6: INT = call P v5\n"
             "v7 = + INT v6 v0\n"
             "yield v7\n"
             "end\n"
             "yield v3\n"
             "end\n" OF_ONE},
    {.name = "rounds",
     .text = "fun P (v0: INT) -> (INT)\n"
             "v1 = CONST INT 0\n"
             "v2 = < INT v0 v1\n"
             "v3: INT = if v2\n"
             "yield v0\n"
             "else\n"
             "v4 = CONST INT 1\n"
             "v5 = + INT v0 v4\n"
             "v6 = AND INT v5 v4\n"
             "v7: INT = call P v6\n"
             "yield v7\n"
             "end\n"
             "yield v3\n"
             "end\n" OF_ONE},
    {.name = "a loop of a kernel",
     .text = "fused OP0#1 ($0 : INT, $1 : SEGDES) =\n"
             " $2 = (DIST INT @ (CONST INT 0) $1) $3 = (DIST INT @ (CONST INT 1) $1)\n"
             " $4 = (CARRY INT @ $0) $5 = (CARRY INT @ $2) $6 = (CARRY INT @ $3)\n"
             " $7 = (>= INT @ $4 $5) (WHILE @ $7)\n"
             " $8 = (AND INT @ $4 $6)\n"
             " $9 = (NEXT INT @ $4 $8) $10 = (NEXT INT @ $5 $5) $11 = (NEXT INT @ $6 $6)\n"
             " -> $9\n"
             "fun P (v0: INT) -> (INT)\n"
             "v1 = CONST SEGDES (1)\n"
             "v2 = FUSED 0 v0 v1\n"
             "yield v2\n"
             "end\n" OF_ONE},
};
enum { RECURSION, ROUNDS, KERNEL_LOOP, ENDLESS };

struct asker {
  struct calling *c;
  volatile bool begins;
};

static void *ask_later(void *with) {
  struct asker *a = with;
  while (!a->begins) usleep(1000);
  usleep(20000);
  __atomic_store_n(&a->c->asks, NATIVE_STOP, __ATOMIC_RELAXED);
  return NULL;
}

static bool call_one(struct calling *c, native_entry *entry, int64_t argument,
                     int64_t *result) {
  const struct native_value x = {.data = &argument, .n = 1};
  struct native_buffer y = {0};
  const bool done = entry(&c->thread, 0, 1, &x, &y);
  if (done) *result = *(int64_t *)(void *)y.at;
  calling_free_results(c, &y, 1);
  return done;
}

/* Gives up when it is asked to while it runs, and when it has been asked before. */
static void expect_stops(native_entry *entry, const char *name) {
  struct calling c;
  pthread_t thread;
  int64_t result;
  calling_begin(&c, (struct widths){CVL_I64, CVL_F64});
  cr_expect(call_one(&c, entry, -7, &result) && result == -7, "%s", name);
  struct asker asker = {.c = &c};
  cr_assert_eq(pthread_create(&thread, NULL, ask_later, &asker), 0);
  asker.begins = true;
  cr_expect(!call_one(&c, entry, 5, &result), "%s", name);
  pthread_join(thread, NULL);
  cr_expect(!call_one(&c, entry, -7, &result), "%s", name);
  c.asks = 0;
  cr_expect(call_one(&c, entry, -7, &result) && result == -7, "%s", name);
  calling_end(&c);
}

static void expect_depth(native_entry *entry) {
  struct calling c;
  int64_t result = 0;
  calling_begin(&c, (struct widths){CVL_I64, CVL_F64});
  for (int again = 0; again < 2; again++) {
    cr_expect(call_one(&c, entry, 1000, &result) && result == 500500);
    cr_expect(!call_one(&c, entry, INT64_MAX, &result), "the stack is not endless");
  }
  calling_end(&c);
}

Test(programs, that_do_not_end_give_up) {
  if (!has_compiler()) cr_skip_test("no compiler here");
  struct loaded_example all[ENDLESS];
  native_entry *entries[ENDLESS];
  struct built b;
  make_directory(&b);
  for (unsigned i = 0; i < ENDLESS; i++) {
    char prefix[16];
    snprintf(prefix, sizeof prefix, "text%u", i);
    load_example(&all[i], &endless[i], (struct widths){CVL_I64, CVL_F64});
    write_text(&b, prefix, &all[i].procedures);
  }
  compile_native(&b, "");
  for (unsigned i = 0; i < ENDLESS; i++) {
    char prefix[16];
    snprintf(prefix, sizeof prefix, "text%u", i);
    entries[i] = entry_of(&b, prefix, all[i].procedures.of[all[i].lifted]);
  }
  expect_depth(entries[RECURSION]);
  expect_stops(entries[ROUNDS], endless[ROUNDS].name);
  expect_stops(entries[KERNEL_LOOP], endless[KERNEL_LOOP].name);
  for (unsigned i = 0; i < ENDLESS; i++) unload_example(&all[i]);
  clean(&b);
}

/* ---- what repeats nothing ---- */

/* Whether a lifted function whose procedure calls itself is straight. */
static bool is_straight(const char *name, const char *text) {
  struct loaded_example x;
  load_example(&x, &(struct example){.name = name, .text = text},
               (struct widths){CVL_I64, CVL_F64});
  const bool is = x.procedures.straight[x.lifted];
  unload_example(&x);
  return is;
}

#define CALLS_ITSELF "fun P (v0: INT) -> (INT)\nv1: INT = call P v0\nyield v1\nend\n"

Test(programs, a_loop_within_a_superoperator_is_straight) {
  cr_expect(is_straight("all together are one operation",
                        CALLS_ITSELF LIFTED("v1: INT", "INT", "shared each -> each",
                                            "v2 = + INT v1 v1\nyield v2\n")));
  cr_expect(!is_straight("all together call themselves",
                         CALLS_ITSELF LIFTED("v1: INT", "INT", "shared each -> each",
                                             "v2: INT = call F v0 v1\nyield v2\n")));
}

/* ---- the trees ---- */

#define TREES(sizes)                                                                           \
  "fun P (v0: SEGDES, v1: FLOAT) -> (SEGDES, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT)\n"      \
  "v2 = +_REDUCE FLOAT v1 v0\n"                                                                \
  "v3 = *_REDUCE FLOAT v1 v0\n"                                                                \
  "v4 = MAX_REDUCE FLOAT v1 v0\n"                                                              \
  "v5 = +_SCAN FLOAT v1 v0\n"                                                                  \
  "v6 = *_SCAN FLOAT v1 v0\n"                                                                  \
  "v7 = MIN_SCAN FLOAT v1 v0\n"                                                                \
  "v8 = LENGTHS v0\nv9 = LENGTH INT v8\nv10 = MAKE_SEGDES v9\n"                                \
  "yield v10 v2 v3 v4 v5 v6 v7\n"                                                              \
  "end\n" LIFTED("v1: SEGDES, v2: FLOAT", "SEGDES, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT",  \
                 sizes,                                                                        \
                 "v3: SEGDES, v4: FLOAT, v5: FLOAT, v6: FLOAT, v7: FLOAT, v8: FLOAT, "         \
                 "v9: FLOAT = call F v0 v1 v2\nyield v3 v4 v5 v6 v7 v8 v9\n")

/* Each instance has one segment, or one instance has all. */
static const struct example trees[] = {
    {.name = "of one segment", .text = TREES("shared each 1 -> each each each each 0 0 0")},
    {.name = "of many segments", .text = TREES("shared shared shared -> each 0 0 0 0 0 0")}};

/* Numbers of very different magnitudes, so that every order of adding gives other bits. */
static void fill_roughly(struct suite *s, struct host_value *v) {
  for (uint64_t i = 0; i < v->n; i++) {
    const int e = (int)rng_below(&s->rng, 24) - 12;
    const double x = 1.0 + (double)rng_below(&s->rng, 1 << 20) / (1 << 20);
    host_put_real(v, i, ldexp(rng_one_in(&s->rng, 2) ? x : -x, rng_one_in(&s->rng, 2) ? 0 : e));
  }
}

static void begin_tree_run(struct run *r, struct loaded_example *x, const struct example *from,
                           const uint64_t *lengths, uint64_t count) {
  memset(r, 0, sizeof *r);
  r->x = x;
  r->from = from;
  r->result_count = x->program->functions[x->lifted].result_count;
  evaluation_begin(&r->e, &x->arena, x->program);
  r->instances = x->program->functions[x->lifted].instances->params[1] == IR_EACH ? count : 1;
  r->params[0] = evaluation_segdes(&r->e, count);
  for (uint64_t k = 0; k < count; k++) {
    host_put_int(&r->params[0], k, (int64_t)lengths[k]);
    r->params[0].total += lengths[k];
  }
  r->params[1] = evaluation_vector(&r->e, x->program->widths.float_elem, r->params[0].total);
  fill_roughly(&x->suite, &r->params[1]);
  for (uint32_t i = 0; i < 2; i++) r->arguments[i] = passed(&x->arena, &r->params[i]);
  r->fine = evaluate_batch(&r->e, x->lifted, r->params, 0, r->instances, r->wanted);
  cr_assert(r->fine);
}

/* Segments of all lengths up to 70, and about those of blocks and of blocks of blocks. */
static void check_trees(struct widths w) {
  enum { SHORT_ONES = 71, LONG_ONES = 8, COUNT = SHORT_ONES + LONG_ONES };
  static const uint64_t long_ones[LONG_ONES] = {1023, 1024, 1025,  2048,
                                                2049, 5000, 32769, 40000};
  uint64_t lengths[COUNT];
  if (!has_compiler()) cr_skip_test("no compiler here");
  for (uint64_t k = 0; k < COUNT; k++)
    lengths[k] = k < SHORT_ONES ? k : long_ones[k - SHORT_ONES];
  for (int i = 0; i < 2; i++) {
    struct loaded_example x;
    struct built b;
    struct calling c;
    struct run r;
    make_directory(&b);
    calling_begin(&c, w);
    load_example(&x, &trees[i], w);
    x.suite.rng.state = 99;
    write_text(&b, "text", &x.procedures);
    compile_native(&b, "");
    begin_tree_run(&r, &x, &trees[i], lengths, COUNT);
    cr_expect(
        call_native(&r, &c, entry_of(&b, "text", x.procedures.of[x.lifted]), r.instances / 2),
        "%s", trees[i].name);
    evaluation_end(&r.e);
    calling_end(&c);
    clean(&b);
    unload_example(&x);
  }
}

Test(programs, trees_in_wide_widths) {
  check_trees((struct widths){CVL_I64, CVL_F64});
}

Test(programs, trees_in_narrow_widths) {
  check_trees((struct widths){CVL_I32, CVL_F32});
}

/* ---- functions ---- */

/* The functions of a vector, and of one of its elements, which is a scalar. */
#define FUNCTION(op, vector, scalar) vector " = " op " v1\n" scalar " = " op " v5\n"
static const struct example functions = {
    .name = "functions",
    .text =
        "fun P (v0: SEGDES, v1: FLOAT) -> (SEGDES, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT, "
        "FLOAT, FLOAT)\n"
        "v4 = CONST INT 0\n"
        "v5 = EXTRACT FLOAT v1 v4 v0\n" FUNCTION("EXP", "v6", "v7") FUNCTION("SIN", "v8", "v9")
            FUNCTION("LOG", "v10", "v11") FUNCTION(
                "TANH", "v12",
                "v13") "yield v0 v6 v8 v10 v12 v7 v9 v11 v13\n"
                       "end\n" LIFTED(
                           "v1: SEGDES, v2: FLOAT",
                           "SEGDES, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT",
                           "shared each 1 -> each 0 0 0 0 each each each each",
                           "v3: SEGDES, v4: FLOAT, v5: FLOAT, v6: FLOAT, v7: FLOAT, v8: FLOAT, "
                           "v9: FLOAT, v10: FLOAT, v11: FLOAT = call F v0 v1 v2\n"
                           "yield v3 v4 v5 v6 v7 v8 v9 v10 v11\n")};
enum { FUNCTIONS = 4 };

/* The bits of one element. */
static void expect_function(struct widths w, enum cvl_op op, const void *x, const void *found,
                            uint64_t n) {
  const size_t bytes = elem_info(w.float_elem)->bytes;
  for (uint64_t i = 0; i < n; i++) {
    const struct cvl_value operand =
        cvl_scalar_float(w.float_elem, calling_real(x, w.float_elem, i));
    struct cvl_value wanted;
    enum cvl_error_kind kind;
    cr_assert(cvl_scalar_op(w.int_elem, w.float_elem, op, &operand, &wanted, &kind));
    cr_expect_eq(memcmp(&wanted.as, (const char *)found + i * bytes, bytes), 0, "%u of %a", op,
                 cvl_float_of(&operand));
  }
}

static void check_functions(struct widths w) {
  static const double arguments[] = {0.5, -0.0,  1.0,  -2.5,     3e5,
                                     1e9, -1e17, 1e30, INFINITY, 0.1};
  static const enum cvl_op ops[FUNCTIONS] = {OP_EXP, OP_SIN, OP_LOG, OP_TANH};
  enum { COUNT = sizeof arguments / sizeof *arguments };
  const uint64_t offsets[] = {0, COUNT};
  double wide[COUNT];
  float narrow[COUNT];
  struct loaded_example x;
  struct built b;
  struct calling c;
  struct native_buffer y[2 * FUNCTIONS + 1] = {0};
  if (!has_compiler()) cr_skip_test("no compiler here");
  for (int i = 0; i < COUNT; i++) narrow[i] = (float)(wide[i] = arguments[i]);
  const void *data = w.float_elem == CVL_F64 ? (const void *)wide : narrow;
  make_directory(&b);
  calling_begin(&c, w);
  load_example(&x, &functions, w);
  write_text(&b, "text", &x.procedures);
  compile_native(&b, "");
  const struct native_value params[] = {{.offsets = offsets, .n = 1},
                                        {.data = data, .n = COUNT}};
  cr_assert(entry_of(&b, "text", x.procedures.of[x.lifted])(&c.thread, 0, 1, params, y));
  for (int f = 0; f < FUNCTIONS; f++) {
    cr_assert(y[1 + f].n == COUNT && y[1 + FUNCTIONS + f].n == 1);
    expect_function(w, ops[f], data, y[1 + f].at, COUNT);
    expect_function(w, ops[f], data, y[1 + FUNCTIONS + f].at, 1);
  }
  calling_free_results(&c, y, 2 * FUNCTIONS + 1);
  calling_end(&c);
  clean(&b);
  unload_example(&x);
}

Test(programs, functions_give_the_bits_of_one_element) {
  check_functions((struct widths){CVL_I64, CVL_F64});
  check_functions((struct widths){CVL_I32, CVL_F32});
}

/* ---- memory that runs out ---- */

/* Prints the procedures where the n-th allocation from now fails. Returns whether it did. */
static bool print_without_memory(struct loaded_example *x, uint64_t n) {
  struct arena arena;
  struct memory_guard guard;
  const uint64_t live = x->heap.live;
  arena_init(&arena, &x->heap);
  x->heap.fail_at = x->heap.count + n;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump) == 0) {
    struct procedures printed;
    procedures_make(&arena, x->program, &printed);
    memory_guard_end(&guard);
  }
  const bool failed = x->heap.count >= x->heap.fail_at;
  x->heap.fail_at = 0;
  arena_free(&arena);
  cr_expect_eq(x->heap.live, live, "allocation %u: a text is left", (unsigned)n);
  return failed;
}

Test(programs, texts_are_freed_where_memory_runs_out) {
  struct loaded_example x;
  load_example(&x, &functions, (struct widths){CVL_I64, CVL_F64});
  uint64_t n = 1;
  while (print_without_memory(&x, n)) n++;
  cr_expect(n > 8, "the text grew by %u allocations", (unsigned)n);
  unload_example(&x);
}

/* ---- all examples, in both widths ---- */

Test(programs, same_as_the_oracle_in_wide_widths) {
  check_examples((struct widths){CVL_I64, CVL_F64});
}

Test(programs, same_as_the_oracle_in_narrow_widths) {
  check_examples((struct widths){CVL_I32, CVL_F32});
}
