/* test-ways.c - by what a batch call or a whole run is executed. Whole runs are executed on the
 * CPU back end, by procedures that are written by hand (cvl-cpu/tests/native-text.h). What is
 * chosen is seen on a table that counts, by a clock that only the back end advances.
 */
#include "cvl-cpu/cvl-cpu.h"
#include "cvl-cpu/tests/native-text.h"
#include "procedures/procedures.h"
#include "vinterp/tests/fixture.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char directory[] = "/tmp/ravel-ways-XXXXXX";

static void ways_begin(void) {
  cr_assert_not_null(mkdtemp(directory));
}

static void ways_end(void) {
  char command[100];
  snprintf(command, sizeof command, "rm -r %s", directory);
  cr_assert_eq(system(command), 0);
}

TestSuite(ways, .init = ways_begin, .fini = ways_end);

/* ---- the procedures of a program ---- */

NATIVE_OF_ROWS(of_sum, "sum", native_kinds_int, native_sizes_int);

static const uint32_t shared[] = {CVL_PROCEDURE_SHARED, CVL_PROCEDURE_SHARED};
#define ENTRY_OF_ROW(name, entry_name, shares)                                                 \
  static const struct cvl_procedure name = {                                                   \
      entry_name, 2, 1, native_kinds_row, native_kinds_int, shared, shared, shares}
ENTRY_OF_ROW(entry_sum, "sum", false);
ENTRY_OF_ROW(entry_shared_sum, "sum", true);
ENTRY_OF_ROW(entry_unlucky, "unlucky", false);
ENTRY_OF_ROW(entry_forever, "forever", false);

/* What procedures_make makes: the entry function, and of SUM whether it is straight. */
static const struct cvl_procedure *made_entry = &entry_sum;
static bool made_straight;

bool __wrap_procedures_make(struct arena *, const struct ir_program *, struct procedures *);

bool __wrap_procedures_make(struct arena *arena, const struct ir_program *program,
                            struct procedures *out) {
  char *text = arena_alloc(arena, sizeof native_prelude + sizeof native_rows);
  bool *straight = arena_alloc(arena, program->function_count);
  strcat(strcpy(text, native_prelude), native_rows);
  *out = (struct procedures){.text = text, .length = strlen(text), .entry = made_entry};
  out->of = arena_alloc(arena, program->function_count * sizeof(struct cvl_procedure *));
  for (uint32_t f = 0; f < program->function_count; f++) {
    const bool is_sum = strcmp(program->functions[f].name->text, "SUM") == 0;
    out->of[f] = is_sum ? &of_sum : NULL;
    straight[f] = is_sum && made_straight;
  }
  out->straight = straight;
  return true;
}

/* ---- programs that are called often ---- */

#define MAIN_OF_ROW                                                                            \
  "let-form \"test\" i64 f64 entry MAIN\nfun MAIN (v0: SEGDES, v1: INT) -> (INT)\n"
static const char sum_of_row[] = MAIN_OF_ROW "v2 = +_REDUCE INT v1 v0\nyield v2\nend\n";
/* Fails at an element that is 13; else it returns the length. */
static const char unlucky_row[] =
    MAIN_OF_ROW "v2 = CONST INT 13\nv3 = DIST INT v2 v0\nv4 = - INT v1 v3\nv5 = / INT v4 v4\n"
                "v6 = +_REDUCE INT v5 v0\nyield v6\nend\n";
/* Calls SUM for each of two segments. */
static const char two_sums[] =
    MAIN_OF_ROW "v2 = CONST SEGDES 2\nv3: INT = call SUM v2 v0 v1\nv4 = +_REDUCE INT v3 v2\n"
                "yield v4\nend\n"
                "fun SUM (v0: SEGDES, v1: SEGDES, v2: INT) -> (INT) instances shared each 1 -> "
                "each\nv3 = +_REDUCE INT v2 v1\nyield v3\nend\n";

struct often {
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
  const struct ir_program *program;
  struct machine *machine;
  struct machine_program *prepared;
};

static void often_begin(struct often *o, const char *text, struct machine_options options) {
  *o = (struct often){.prepared = NULL};
  heap_init(&o->heap, 0);
  arena_init(&o->arena, &o->heap);
  diag_list_init(&o->diags, &o->arena);
  o->program = program_of_let(&o->arena, text, &o->diags);
  cr_assert(o->program, "%s", text);
  o->machine = machine_new(&options, &o->diags);
  cr_assert(o->machine);
  o->prepared = machine_prepare(o->machine, o->program, &o->diags);
  cr_assert(o->prepared);
}

/* Expects that nothing is kept. */
static void often_end(struct often *o) {
  machine_forget(o->machine, o->prepared);
  cr_expect_eq(machine_statistics(o->machine).live_bytes, 0);
  machine_free(o->machine);
  arena_free(&o->arena);
  cr_expect_eq(o->heap.live, 0);
}

static struct machine_item item_of(uint8_t kind, uint64_t n, const int64_t *ints) {
  return (struct machine_item){.kind = kind, .length = n, .as.ints = ints};
}

/* Calls the program once, with the elements, of as many segments of equal length. */
static enum machine_outcome often_call(struct often *o, uint64_t segments, uint64_t n,
                                       const int64_t *elements, int64_t *sum) {
  const int64_t lengths[2] = {(int64_t)(n / segments), (int64_t)(n / segments)};
  const struct machine_item items[] = {item_of(MACHINE_SEGDES, segments, lengths),
                                       item_of(MACHINE_INT, n, elements)};
  struct cvl_value arguments[2], result;
  for (int k = 0; k < 2; k++) {
    cr_assert(machine_value_item(o->machine, &items[k], &arguments[k], &o->diags));
    arguments[k].owned = 1;
  }
  const enum machine_outcome outcome =
      machine_call(o->machine, o->prepared, arguments, 2, &result, 1, &o->diags);
  if (outcome != MACHINE_DONE) return outcome;
  cr_assert(machine_value_copy(o->machine, &result, 0, 1, sum, &o->diags));
  machine_release(o->machine, &result);
  return outcome;
}

static int64_t row_length, row_count; /* of the call */

static void expect_sum(struct often *o, uint64_t segments, uint64_t n) {
  static int64_t ones[1 << 16];
  int64_t sum = 0;
  for (uint64_t k = 0; k < n; k++) ones[k] = 1;
  row_length = (int64_t)(n / segments);
  row_count = (int64_t)segments;
  cr_expect_eq(often_call(o, segments, n, ones, &sum), MACHINE_DONE);
  cr_expect_eq(sum, (int64_t)n);
}

static const char *often_message(const struct often *o) {
  const size_t n = o->diags.list.count;
  return n ? o->diags.list.items[n - 1].message : "";
}

/* ---- whole runs by native code ---- */

static struct machine_options natively(void) {
  struct machine_options options = test_options();
  options.backend = &cvl_cpu_backend;
  options.compile = CVL_COMPILE_ALL;
  options.compile_directory = directory;
  options.procedures = MACHINE_PROCEDURES_ALWAYS;
  options.profile = true;
  return options;
}

/* Expects so many calls by native code in the profile, and so many that gave up. */
static void expect_profile(const struct often *o, unsigned calls, unsigned given_up) {
  static char said[10000];
  char wanted[200];
  FILE *file = tmpfile();
  machine_profile(o->machine, file, true);
  rewind(file);
  said[fread(said, 1, sizeof said - 1, file)] = '\0';
  fclose(file);
  snprintf(wanted, sizeof wanted,
           "{\"name\": \"MAIN\", \"calls\": %u, \"instances\": %u, \"given_up\": %u,", calls,
           calls, given_up);
  if (calls + given_up > 0)
    cr_expect(strstr(said, wanted), "not %s in\n%s", wanted, said);
  else
    cr_expect(strstr(said, "\"procedures\": []"), "%s", said);
}

Test(ways, native_code_executes_whole_runs) {
  struct often o;
  made_entry = &entry_sum;
  often_begin(&o, sum_of_row, natively());
  for (uint64_t n = 0; n < 5; n++) expect_sum(&o, 1, 1000 * n);
  expect_profile(&o, 5, 0);
  often_end(&o);
}

Test(ways, whole_runs_without_native_code) {
  struct machine_options options[4] = {natively(), natively(), natively(), natively()};
  options[0].procedures = MACHINE_PROCEDURES_OFF;
  options[1].compile = CVL_COMPILE_NONE;
  options[2].checked = true;
  made_entry = &entry_sum;
  for (int k = 0; k < 4; k++) {
    struct often o;
    if (k == 3) made_entry = NULL;
    often_begin(&o, sum_of_row, options[k]);
    for (int again = 0; again < 3; again++) expect_sum(&o, 1, 10);
    expect_profile(&o, 0, 0);
    often_end(&o);
  }
}

Test(ways, faults_are_those_of_other_runs) {
  static const int64_t row[] = {1, 12, 13, 14};
  struct machine_options without = natively();
  struct often o[2];
  int64_t length = 0;
  without.procedures = MACHINE_PROCEDURES_OFF;
  made_entry = &entry_unlucky;
  often_begin(&o[0], unlucky_row, natively());
  often_begin(&o[1], unlucky_row, without);
  for (int k = 0; k < 2; k++) {
    cr_expect_eq(often_call(&o[k], 1, 2, row, &length), MACHINE_DONE);
    cr_expect_eq(length, 2);
    cr_expect_eq(often_call(&o[k], 1, 4, row, &length), MACHINE_ERROR);
    cr_expect_eq(machine_failure(o[k].machine)->cause, MACHINE_CAUSE_OPERATION);
  }
  cr_expect_str_eq(often_message(&o[0]), "/ INT: division by zero at element 2");
  cr_expect_str_eq(often_message(&o[0]), often_message(&o[1]));
  expect_profile(&o[0], 1, 1);
  for (int k = 0; k < 2; k++) often_end(&o[k]);
}

/* Native code is tried after two runs, if that pays. It has been compiled. */
static struct machine_options if_it_pays(void) {
  struct machine_options options = natively();
  struct often o;
  made_entry = &entry_sum;
  often_begin(&o, sum_of_row, options);
  expect_sum(&o, 1, 10);
  often_end(&o);
  options.procedures = MACHINE_PROCEDURES_AUTO;
  return options;
}

/* The other way then computes the sum. What was late is not tried again. */
Test(ways, native_code_of_a_whole_run_soon_gives_up, .timeout = 20) {
  const struct machine_options options = if_it_pays();
  struct often o;
  made_entry = &entry_forever;
  often_begin(&o, sum_of_row, options);
  for (unsigned k = 1; k <= 9; k++) {
    expect_sum(&o, 1, 10);
    expect_profile(&o, 0, k >= 3);
  }
  often_end(&o);
}

/* The time is over before native code gives up for itself. */
Test(ways, a_limit_of_time_ends_native_code_of_a_whole_run, .timeout = 20) {
  struct machine_options options = if_it_pays();
  struct stop stop = {0};
  struct often o;
  int64_t sum;
  options.stop = &stop;
  made_entry = &entry_forever;
  often_begin(&o, sum_of_row, options);
  for (int k = 0; k < 2; k++) expect_sum(&o, 1, 10);
  stop_begin(&stop, 1e-3);
  cr_expect_eq(often_call(&o, 1, 1, (int64_t[]){1}, &sum), MACHINE_ERROR);
  cr_expect(strstr(often_message(&o), "the time limit of 0.001 seconds is over"), "%s",
            often_message(&o));
  cr_expect_eq(machine_failure(o.machine)->cause, MACHINE_CAUSE_LIMIT);
  often_end(&o);
}

/* ---- a table that counts ---- */

static struct {
  unsigned looks, compilations, waits, prepared, runs;
  bool is_ready, gives_up;
  double seconds, operation_seconds; /* of native code; of an operation of the back end */
  struct cvl_procedure_time time;    /* as it is said */
  bool owed;                         /* the code, for what earlier processes have spent */
  double spent;                      /* what this one has */
} table;
static double now;
static bool clock_is_ours;
static char no_code;

double __wrap_stop_clock(void);
double __real_stop_clock(void);

double __wrap_stop_clock(void) {
  return clock_is_ours ? now : __real_stop_clock();
}

static struct cvl_procedure_code *table_prepare(struct cvl_context *c, const char *text,
                                                uint64_t length, bool *owed) {
  (void)c, (void)text, (void)length;
  *owed = table.owed;
  table.prepared++;
  return (struct cvl_procedure_code *)(void *)&no_code;
}

static void table_discard(struct cvl_context *c, struct cvl_procedure_code *code,
                          double spent) {
  (void)c, (void)code;
  table.spent = spent;
}

static bool table_ready(struct cvl_context *c, struct cvl_procedure_code *code,
                        enum cvl_procedure_wish wish) {
  (void)c, (void)code;
  table.looks += wish == CVL_PROCEDURES_LOOK;
  table.compilations += wish == CVL_PROCEDURES_COMPILE;
  table.waits += wish == CVL_PROCEDURES_WAIT;
  return table.is_ready;
}

static bool table_suits(struct cvl_context *c, const struct cvl_procedure *p,
                        uint64_t instances, const struct cvl_value *operands) {
  (void)c, (void)p, (void)instances, (void)operands;
  return true;
}

/* Makes the sums of rows of ones, or the sum of all. */
static bool table_run(struct cvl_context *c, uint64_t site, struct cvl_procedure_code *code,
                      const struct cvl_procedure *p, struct cvl_procedure_time time,
                      uint64_t instances, const struct cvl_value *operands,
                      struct cvl_value *results, bool *done) {
  (void)code, (void)operands;
  const int64_t sum = p == made_entry ? row_count * row_length : row_length;
  const int64_t sums[2] = {sum, sum};
  table.runs++;
  table.time = time;
  now += table.seconds;
  *done = !table.gives_up;
  return table.gives_up ||
         cvl_cpu_backend.from_host(c, site, CVL_I64, instances, sums, results);
}

static bool table_apply(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
                        struct cvl_value *results) {
  now += table.operation_seconds;
  return cvl_cpu_backend.apply(c, site, call, results);
}

static const struct cvl_procedures counting = {table_prepare, table_discard, table_ready,
                                               table_suits,   table_run,     NULL};

/* Returns options for which native code is compiled as soon as it may be. */
static struct machine_options counted(void) {
  static struct cvl_backend backend;
  struct machine_options options = natively();
  backend = cvl_cpu_backend;
  backend.procedures = &counting;
  backend.apply = table_apply;
  options.backend = &backend;
  options.procedures = MACHINE_PROCEDURES_AUTO;
  options.chunks.mode = MACHINE_CHUNKS_OFF;
  options.profile = false;
  table.is_ready = clock_is_ours = true;
  table.operation_seconds = 1e-3;
  table.seconds = 1e-5;
  return options;
}

/* Expects right results of so many calls, and by how many runs of native code. */
static void expect_runs(struct often *o, unsigned calls, unsigned runs) {
  const unsigned before = table.runs;
  for (unsigned k = 0; k < calls; k++) expect_sum(o, 1, 10);
  cr_expect_eq(table.runs - before, runs, "%u", table.runs - before);
}

Test(ways, runs_are_native_once_quick_ones_have_been_measured) {
  struct often o;
  often_begin(&o, sum_of_row, counted());
  expect_runs(&o, 2, 0);
  expect_runs(&o, 1, 1);
  expect_runs(&o, 97, 97 - 3);
  often_end(&o);
}

/* Calls 18, 34 and 66 look again: choices 16, 32 and 64 since both are known. */
Test(ways, the_better_way_is_used_and_looked_at_again) {
  struct often o;
  const struct machine_options options = counted();
  table.seconds = 4e-3;
  often_begin(&o, sum_of_row, options);
  expect_runs(&o, 3, 1);
  expect_runs(&o, 15, 0);
  expect_runs(&o, 1, 1);
  expect_runs(&o, 15, 0);
  table.seconds = 1e-5;
  expect_runs(&o, 1, 1);
  expect_runs(&o, 31, 31);
  table.operation_seconds = 1e-6;
  expect_runs(&o, 1, 0);
  expect_runs(&o, 63, 0);
  expect_runs(&o, 1, 1);
  often_end(&o);
}

/* A call that was interrupted says little; two in a row are believed. */
Test(ways, one_slow_call_does_not_change_the_way) {
  struct often o;
  const struct machine_options options = counted();
  table.seconds = 0.5e-3;
  often_begin(&o, sum_of_row, options);
  expect_runs(&o, 5, 3);
  table.seconds = 1.3e-3;
  expect_runs(&o, 1, 1);
  table.seconds = 0.5e-3;
  expect_runs(&o, 3, 3);
  table.seconds = 1.3e-3;
  expect_runs(&o, 3, 2);
  often_end(&o);
}

Test(ways, long_runs_that_one_thread_would_execute_are_not_native) {
  struct often o;
  const struct machine_options options = counted();
  table.operation_seconds = 260e-3;
  often_begin(&o, sum_of_row, options);
  expect_runs(&o, 20, 0);
  table.operation_seconds = 1e-3;
  expect_runs(&o, 1, 0);
  expect_sum(&o, 1, 50000);
  cr_expect_eq(table.runs, 0, "with so many elements they would take long");
  expect_runs(&o, 1, 1);
  often_end(&o);
}

/* Native code gives up after 1.2 of the 100 ms, and is then known to take longer. */
Test(ways, long_runs_that_threads_share_are_tried) {
  const struct machine_options options = counted();
  struct often o;
  made_entry = &entry_shared_sum;
  table.operation_seconds = 100e-3;
  often_begin(&o, sum_of_row, options);
  expect_runs(&o, 2, 0);
  expect_runs(&o, 3, 3);
  cr_expect_float_eq(table.time.expected, 1e-5, 1e-9);
  cr_expect_float_eq(table.time.most, 120e-3, 1e-9);
  often_end(&o);
  table.gives_up = true;
  table.seconds = 121e-3;
  often_begin(&o, sum_of_row, options);
  expect_runs(&o, 2, 0);
  expect_runs(&o, 1, 1);
  expect_runs(&o, 50, 0);
  often_end(&o);
}

/* Procedures are printed after 2 ms in quick runs, and compiled after 250 ms. */
Test(ways, quick_runs_have_the_program_printed_then_compiled) {
  struct machine_options options = counted();
  struct often o;
  options.compile = CVL_COMPILE_WHEN_IT_PAYS;
  table.is_ready = false;
  often_begin(&o, sum_of_row, options);
  expect_runs(&o, 1, 0);
  cr_expect_eq(table.prepared, 0);
  expect_runs(&o, 40, 0);
  cr_expect(table.prepared == 1 && table.looks > 30 && table.compilations == 0);
  expect_runs(&o, 220, 0);
  cr_expect_gt(table.compilations, 5);
  table.is_ready = true;
  expect_runs(&o, 10, 10);
  often_end(&o);
}

/* Calls 3, 5, 8, 13, 22, 39 and 72 are tried. */
Test(ways, a_run_that_gives_up_is_tried_less_and_less) {
  struct often o;
  const struct machine_options options = counted();
  table.gives_up = true;
  often_begin(&o, sum_of_row, options);
  expect_runs(&o, 3, 1);
  expect_runs(&o, 97, 6);
  often_end(&o);
}

/* A try of 15 ms is made again after four times as long, in runs of 1 ms. */
Test(ways, a_run_that_gives_up_late_is_not_tried_until_others_took_longer) {
  struct often o;
  const struct machine_options options = counted();
  table.gives_up = true;
  table.seconds = 15e-3;
  often_begin(&o, sum_of_row, options);
  expect_runs(&o, 3, 1);
  expect_runs(&o, 59, 0);
  expect_runs(&o, 2, 1);
  often_end(&o);
}

/* ---- runs whose results go elsewhere ---- */

static bool takes_all(void *with, uint64_t result, enum cvl_elem elem) {
  (void)result, (void)elem;
  *(bool *)with = true;
  return true;
}

/* Such runs are not cut, so that their results stay in memory. */
Test(ways, runs_with_a_consumer_are_native) {
  bool asked = false;
  const struct machine_consumer consumer = {.takes = takes_all, .with = &asked};
  struct often o;
  often_begin(&o, sum_of_row, counted());
  machine_use_consumer(o.machine, &consumer);
  expect_runs(&o, 5, 3);
  cr_expect_not(asked);
  often_end(&o);
}

/* Runs the program by machine_repeat; results that processes write together are never native.
 */
static void repeat_with(struct often *o, const struct machine_own_consumer *own) {
  row_length = 3, row_count = 1;
  struct machine_repetition repetition = {.own = own};
  struct machine_results results;
  const struct machine_item items[] = {item_of(MACHINE_SEGDES, 1, (int64_t[]){3}),
                                       item_of(MACHINE_INT, 3, (int64_t[]){1, 1, 1})};
  cr_assert_eq(
      machine_repeat(o->machine, o->program, items, 2, &repetition, &results, &o->diags),
      MACHINE_DONE);
  cr_assert_eq(results.count, 1);
  cr_expect_eq(results.items[0].as.ints[0], 3);
  machine_results_free(o->machine, &results);
}

Test(ways, own_results_are_of_no_native_run) {
  static const struct machine_own_consumer own = {.with = NULL};
  struct machine_options options = counted();
  struct often o;
  options.procedures = MACHINE_PROCEDURES_ALWAYS;
  often_begin(&o, sum_of_row, options);
  repeat_with(&o, &own);
  cr_expect_eq(table.runs, 0);
  repeat_with(&o, NULL);
  cr_expect_eq(table.runs, 1);
  often_end(&o);
}

/* ---- batch calls ---- */

/* Calls the program with its batch call for two rows, and returns by how many calls the table
 * was run. Its entry function is not native. */
static unsigned runs_of_calls(struct often *o, unsigned calls) {
  const unsigned before = table.runs;
  for (unsigned k = 0; k < calls; k++) expect_sum(o, 2, 10);
  return table.runs - before;
}

Test(ways, calls_that_repeat_something_are_native_first) {
  struct often o;
  made_entry = NULL;
  made_straight = false;
  often_begin(&o, two_sums, counted());
  cr_expect_eq(runs_of_calls(&o, 2), 2);
  cr_expect_eq(runs_of_calls(&o, 1), 0, "the other way is tried");
  cr_expect_eq(runs_of_calls(&o, 15), 15);
  cr_expect_eq(runs_of_calls(&o, 1), 0, "and looked at again");
  often_end(&o);
}

Test(ways, straight_calls_are_first_for_all_instances_together) {
  struct often o;
  made_entry = NULL;
  made_straight = true;
  often_begin(&o, two_sums, counted());
  cr_expect_eq(runs_of_calls(&o, 2), 0);
  cr_expect_eq(runs_of_calls(&o, 1), 1, "the other way is tried");
  cr_expect_eq(runs_of_calls(&o, 15), 15, "it is better");
  cr_expect_eq(runs_of_calls(&o, 1), 0);
  often_end(&o);
}

/* Batch calls of two operations that take 0.1 s each, or native code that takes so long. */
static void long_calls_begin(struct often *o, double native_seconds) {
  struct machine_options options = counted();
  made_entry = NULL;
  made_straight = false;
  options.compile = CVL_COMPILE_WHEN_IT_PAYS;
  table.operation_seconds = 100e-3;
  table.seconds = native_seconds;
  often_begin(o, two_sums, options);
  cr_expect_eq(runs_of_calls(o, 1), 0, "nothing is printed before the first call");
}

/* What native code is compared with may have been measured before there was any; what takes
 * longer than a try may, too. */
Test(ways, calls_before_the_program_is_printed_are_compared) {
  struct often o;
  long_calls_begin(&o, 0.5);
  cr_expect_eq(runs_of_calls(&o, 1), 1, "native code is tried");
  cr_expect_eq(runs_of_calls(&o, 14), 0);
  often_end(&o);
}

/* The other way may have been measured at a bad time: it is looked at again if it is near. */
Test(ways, long_calls_are_looked_at_again_if_the_other_way_is_near) {
  struct often o;
  long_calls_begin(&o, 50e-3);
  cr_expect_eq(runs_of_calls(&o, 15), 15);
  table.operation_seconds = 10e-3;
  cr_expect_eq(runs_of_calls(&o, 1), 0, "it is better now");
  cr_expect_eq(runs_of_calls(&o, 10), 0);
  often_end(&o);
}

/* Native code of the whole run is better than runs in which the batch call is native, and the
 * call was slow when it was measured the other way: only a run without any native code shows
 * that this is best now. */
Test(ways, native_runs_are_compared_with_those_without_native_calls) {
  struct often o;
  const struct machine_options options = counted();
  made_straight = false;
  table.is_ready = false;
  table.operation_seconds = 3e-3;
  often_begin(&o, two_sums, options);
  cr_expect_eq(runs_of_calls(&o, 3), 0);
  table.is_ready = true;
  table.operation_seconds = 0.1e-3;
  table.seconds = 2e-3;
  cr_expect_eq(runs_of_calls(&o, 16), 16, "the whole run is native");
  cr_expect_eq(runs_of_calls(&o, 1), 0, "the other way is looked at");
  cr_expect_eq(runs_of_calls(&o, 1), 1, "the batch call is tried");
  cr_expect_eq(runs_of_calls(&o, 14), 0, "it is not better");
  often_end(&o);
}

/* A process that stops early says what it has spent; one that comes later begins to compile. */
Test(ways, what_earlier_processes_have_spent_counts) {
  struct machine_options options = counted();
  struct often o;
  options.compile = CVL_COMPILE_WHEN_IT_PAYS;
  table.is_ready = false;
  often_begin(&o, sum_of_row, options);
  expect_runs(&o, 100, 0);
  cr_expect_eq(table.compilations, 0);
  often_end(&o);
  cr_expect_float_eq(table.spent, 0.1, 0.02, "%g", table.spent);
  table.owed = true;
  often_begin(&o, sum_of_row, options);
  expect_runs(&o, 100, 0);
  cr_expect_gt(table.compilations, 90, "%u", table.compilations);
  often_end(&o);
}
