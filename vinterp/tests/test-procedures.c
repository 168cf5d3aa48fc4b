/* test-procedures.c - batch calls that native code executes: on the CPU back end, by procedures
 * that are written by hand (cvl-cpu/tests/native-text.h), and on tables that only count. They
 * have the same results and diagnostics as without.
 */
#include "cvl-cpu/cvl-cpu.h"
#include "cvl-cpu/tests/native-text.h"
#include "procedures/procedures.h"
#include "vinterp/tests/chunked-runs.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char directory[] = "/tmp/ravel-machine-XXXXXX";

static void procedures_begin(void) {
  cr_assert_not_null(mkdtemp(directory));
}

static void procedures_end(void) {
  char command[100];
  snprintf(command, sizeof command, "rm -r %s", directory);
  cr_assert_eq(system(command), 0);
}

TestSuite(procedures, .init = procedures_begin, .fini = procedures_end);

/* ---- the procedures of a program: by the names of functions ---- */

NATIVE_OF_ROWS(of_sum, "sum", native_kinds_int, native_sizes_int);
NATIVE_OF_ROWS(of_unlucky, "unlucky", native_kinds_int, native_sizes_int);
NATIVE_OF_ROWS(of_forever, "forever", native_kinds_int, native_sizes_int);
NATIVE_OF_ROWS(of_evens, "evens", native_kinds_row, native_sizes_row);

static unsigned printed_programs;
bool __wrap_procedures_make(struct arena *, const struct ir_program *, struct procedures *);

bool __wrap_procedures_make(struct arena *arena, const struct ir_program *program,
                            struct procedures *out) {
  static const struct {
    const char *name;
    const struct cvl_procedure *of;
  } known[] = {{"SUM", &of_sum},
               {"UNLUCKY", &of_unlucky},
               {"FOREVER", &of_forever},
               {"EVENS", &of_evens}};
  char *text = arena_alloc(arena, sizeof native_prelude + sizeof native_rows);
  strcat(strcpy(text, native_prelude), native_rows);
  *out = (struct procedures){.text = text, .length = strlen(text)};
  out->of = arena_alloc(arena, program->function_count * sizeof(struct cvl_procedure *));
  for (uint32_t f = 0; f < program->function_count; f++) {
    out->of[f] = NULL;
    for (unsigned k = 0; k < sizeof known / sizeof *known; k++) {
      if (strcmp(program->functions[f].name->text, known[k].name) == 0)
        out->of[f] = known[k].of;
    }
  }
  printed_programs++;
  return true;
}

/* ---- programs ---- */

/* Makes `n` rows of 0 to 4 elements: the ints from `start` on. v0 is the descriptor of the
 * instances, v7 that of the rows, v13 their elements. */
#define ROWS(n, start, results)                                                                \
  "let-form \"test\" i64 f64 entry MAIN\nfun MAIN () -> (" results ")\n"                       \
  "v0 = CONST SEGDES " n "\nv1 = CONST INT 0\nv2 = CONST INT 1\nv3 = INDEX v1 v2 v0\n"         \
  "v4 = CONST INT 5\nv5 = DIST INT v4 v0\nv6 = % v3 v5\nv7 = MAKE_SEGDES v6\n"                 \
  "v8 = +_REDUCE INT v6 v0\nv9 = MAKE_SEGDES v8\nv10 = CONST INT " start "\n"                  \
  "v13 = INDEX v10 v2 v9\n"
#define OF_ROWS(name, results, sizes)                                                          \
  "fun " name " (v0: SEGDES, v1: SEGDES, v2: INT) -> (" results ") "                           \
  "instances shared each 1 -> " sizes "\n"
#define SUM  OF_ROWS("SUM", "INT", "each") "v3 = +_REDUCE INT v2 v1\nyield v3\nend\n"
#define MANY "v4 = LENGTH INT v2\nv5 = MAKE_SEGDES v4\nv6 = DIST INT v3 v5\n"
/* Fails at an element that is 13. */
#define UNLUCKY                                                                                \
  OF_ROWS("UNLUCKY", "INT", "each")                                                            \
  "v3 = CONST INT 13\n" MANY "v7 = - INT v2 v6\nv8 = / INT v7 v7\nv9 = +_REDUCE INT v8 v1\n"   \
  "yield v9\nend\n"
#define EVENS                                                                                  \
  OF_ROWS("EVENS", "SEGDES, INT", "each 0")                                                    \
  "v3 = CONST INT 2\n" MANY "v7 = % v2 v6\nv8 = I_TO_B v7\nv9 = NOT BOOL v8\n"                 \
  "v10, v11 = PACK INT v2 v9 v1\nyield v11 v10\nend\n"
/* Lifted functions without a procedure: one calls, the other ends with a call. */
#define OUTER                                                                                  \
  OF_ROWS("OUTER", "INT", "each")                                                              \
  "v3: INT = call SUM v0 v1 v2\nv4 = + INT v3 v3\nyield v4\nend\n"
#define TAIL                                                                                   \
  OF_ROWS("TAIL", "SEGDES, INT", "each 0")                                                     \
  "v3 = + INT v2 v2\nv4: SEGDES, v5: INT = call EVENS v0 v1 v3\nyield v4 v5\nend\n"
#define CALL_INT(name)  "v14: INT = call " name " v0 v7 v13\nyield v14\nend\n"
#define CALL_ROWS(name) "v14: SEGDES, v15: INT = call " name " v0 v7 v13\nyield v14 v15\nend\n"

static const struct chunked programs[] = {
    {"sums", ROWS("23", "1", "INT") CALL_INT("SUM") SUM, NULL},
    {"one instance", ROWS("1", "1", "INT") CALL_INT("SUM") SUM, NULL},
    {"none", ROWS("0", "1", "INT") CALL_INT("SUM") SUM, NULL},
    {"a filter", ROWS("40", "1", "SEGDES, INT") CALL_ROWS("EVENS") EVENS, NULL},
    {"many rows", ROWS("30000", "1", "SEGDES, INT") CALL_ROWS("EVENS") EVENS, NULL},
    {"within chunks", ROWS("40", "1", "INT") CALL_INT("OUTER") OUTER SUM, NULL},
    {"a call that ends a function", ROWS("40", "1", "SEGDES, INT") CALL_ROWS("TAIL") TAIL EVENS,
     NULL},
    {"does not give up", ROWS("40", "14", "INT") CALL_INT("UNLUCKY") UNLUCKY, NULL},
    {"gives up at a fault", ROWS("40", "1", "INT") CALL_INT("UNLUCKY") UNLUCKY,
     "division by zero"},
    {"a wrong mark",
     ROWS("5", "1", "INT") "v14: INT = call SUM v0 v9 v13\nyield v14\nend\n" SUM, NULL}};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static const char *program_text(const char *name) {
  for (unsigned k = 0; k < PROGRAMS; k++) {
    if (strcmp(programs[k].name, name) == 0) return programs[k].text;
  }
  cr_assert_fail("there is no program %s", name);
  return NULL;
}

static struct machine_options natively(unsigned threads) {
  struct machine_options options = test_options();
  options.backend = &cvl_cpu_backend;
  options.threads = threads;
  options.compile = CVL_COMPILE_ALL;
  options.compile_directory = directory;
  options.procedures = MACHINE_PROCEDURES_ALWAYS;
  return options;
}

/* Returns what a run says in its profile, as JSON, of calls by native code. */
static const char *profiled(const char *text, struct machine_options options) {
  static char said[10000];
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
  heap_init(&heap, 0);
  arena_init(&arena, &heap);
  diag_list_init(&diags, &arena);
  options.profile = true;
  options.out = options.err = fopen("/dev/null", "w");
  const struct ir_program *program = program_of_let(&arena, text, &diags);
  cr_assert_not_null(program);
  struct machine *m = machine_new(&options, &diags);
  machine_run(m, program, &diags);
  const uint64_t live = machine_statistics(m).live_bytes;
  for (int again = 0; again < 2; again++) {
    machine_profile_begin(m);
    machine_run(m, program, &diags);
  }
  cr_expect_eq(machine_statistics(m).live_bytes, live, "%s", text);
  FILE *file = tmpfile();
  machine_profile(m, file, true);
  rewind(file);
  said[fread(said, 1, sizeof said - 1, file)] = '\0';
  fclose(file);
  fclose(options.out);
  machine_free(m);
  arena_free(&arena);
  char *of = strstr(said, "\"procedures\": [");
  cr_assert_not_null(of);
  *strchr(of, ']') = '\0';
  return of;
}

/* ---- results and faults ---- */

Test(procedures, results_and_faults_are_those_of_other_runs) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    for (unsigned k = 0; k + 1 < PROGRAMS; k++)
      chunked_expect_all(&programs[k], natively(threads));
  }
}

static bool executed(const char *name, const char *function, unsigned calls, unsigned instances,
                     unsigned given_up, struct machine_options options) {
  char wanted[200];
  snprintf(wanted, sizeof wanted,
           "{\"name\": \"%s\", \"calls\": %u, \"instances\": %u, \"given_up\": %u,", function,
           calls, instances, given_up);
  return strstr(profiled(program_text(name), options), wanted);
}

Test(procedures, native_code_executes_them) {
  struct machine_options options = natively(2);
  cr_expect(executed("sums", "SUM", 1, 23, 0, options));
  cr_expect(executed("one instance", "SUM", 1, 1, 0, options));
  cr_expect(executed("a filter", "EVENS", 1, 40, 0, options));
  options.chunks = (struct machine_chunks){MACHINE_CHUNKS_FIXED, 13};
  cr_expect(executed("within chunks", "SUM", 4, 40, 0, options), "in threads of a team");
  options.threads = 1;
  cr_expect(executed("within chunks", "SUM", 4, 40, 0, options), "13, 13, 13 and 1");
  options.chunks = (struct machine_chunks){MACHINE_CHUNKS_OFF, 0};
  cr_expect(executed("sums", "SUM", 1, 23, 0, options));
  cr_expect(executed("gives up at a fault", "UNLUCKY", 0, 0, 1, options));
  cr_expect(executed("a call that ends a function", "EVENS", 1, 40, 0, options));
}

Test(procedures, native_code_does_not_execute_them) {
  struct machine_options options = natively(2);
  cr_expect_not(strstr(profiled(program_text("none"), options), "name"), "no instances");
  cr_expect_not(strstr(profiled(program_text("a wrong mark"), options), "{\"name\": \"SUM\""));
  options.procedures = MACHINE_PROCEDURES_OFF;
  cr_expect_not(strstr(profiled(program_text("sums"), options), "{\"name\": \"SUM\""));
  options = natively(2);
  options.checked = true;
  cr_expect_not(executed("sums", "SUM", 1, 23, 0, options));
  options = natively(2);
  options.max_depth = 10000;
  cr_expect_not(executed("sums", "SUM", 1, 23, 0, options), "native code counts no calls");
  options = natively(2);
  options.compile = CVL_COMPILE_NONE;
  cr_expect_not(executed("sums", "SUM", 1, 23, 0, options));
}

/* All instances would not fit, so native code executes chunks of them. */
Test(procedures, native_code_executes_chunks_where_memory_is_short) {
  struct machine_options options = natively(2);
  struct ran whole = run_let_text(program_text("many rows"), options); /* compiles */
  options.procedures = MACHINE_PROCEDURES_AUTO;
  cr_expect(executed("many rows", "EVENS", 1, 30000, 0, options));
  options.memory_limit = 2700 << 10;
  const char *said = profiled(program_text("many rows"), options);
  unsigned calls = 0, instances = 0, given_up = 1;
  sscanf(strchr(said, '{'),
         "{\"name\": \"EVENS\", \"calls\": %u, \"instances\": %u, \"given_up\": %u", &calls,
         &instances, &given_up);
  cr_expect(calls > 1 && instances == 30000 && given_up == 0, "%s", said);
  struct ran ran = run_let_text(program_text("many rows"), options);
  cr_expect_str_eq(ran.out, whole.out);
  ran_free(&whole);
  ran_free(&ran);
}

/* The message of a wrong mark is that of the call in chunks. */
Test(procedures, sizes_are_checked) {
  static const char *const words[] = {
      "CALL: SUM is lifted, but its operand 1 has the size 1, not 5", NULL};
  struct ran ran = run_chunked(program_text("a wrong mark"), natively(2),
                               (struct machine_chunks){MACHINE_CHUNKS_FIXED, 2});
  cr_expect(failed_with(&ran, words), "%s%s", ran.out, ran.diags);
  ran_free(&ran);
}

Test(procedures, a_trace_has_them) {
  struct machine_options options = natively(2);
  static char text[10000];
  options.trace = tmpfile();
  struct ran ran = run_let_text(program_text("sums"), options);
  rewind(options.trace);
  text[fread(text, 1, sizeof text - 1, options.trace)] = '\0';
  fclose(options.trace);
  cr_expect_eq(ran.errors, 0);
  cr_expect(strstr(text, "\"SUM\", \"cat\": \"procedure\""), "%s", text);
  cr_expect(strstr(text, "\"SUM\", \"cat\": \"instances\""), "%s", text);
  ran_free(&ran);
}

static const char endless[] = ROWS("7", "1", "INT") CALL_INT("FOREVER")
    OF_ROWS("FOREVER", "INT", "each") "v3 = +_REDUCE INT v2 v1\nyield v3\nend\n";

Test(procedures, a_limit_of_time_ends_native_code, .timeout = 20) {
  static const char *const words[] = {"the time limit of 0.2 seconds is over",
                                      "FOREVER, called from MAIN", NULL};
  struct machine_options options = natively(2);
  struct stop stop = {0};
  options.stop = &stop;
  struct ran ran = run_let_text(program_text("sums"), options);
  ran_free(&ran); /* the code is compiled now */
  stop_begin(&stop, 0.2);
  ran = run_let_text(endless, options);
  cr_expect(failed_with(&ran, words), "%s%s", ran.out, ran.diags);
  ran_free(&ran);
}

/* Any allocation fails once: results are right, or there is an error of memory. */
Test(procedures, every_allocation_fails_once) {
  static const char *const names[] = {"sums", "a filter", "within chunks"};
  for (unsigned k = 0; k < 3; k++) {
    struct machine_options options = natively(2);
    unsigned failed = 0;
    options.chunks = (struct machine_chunks){MACHINE_CHUNKS_FIXED, 20};
    struct ran whole = run_let_text(program_text(names[k]), options);
    for (options.fail_allocation = 1; options.fail_allocation < 150;
         options.fail_allocation++) {
      struct ran ran = run_let_text(program_text(names[k]), options);
      cr_expect_str_eq(ran.out, ran.errors ? "" : whole.out, "%s %d", names[k],
                       (int)options.fail_allocation);
      cr_expect(ran.errors == 0 || strstr(ran.diags, "memory"), "%s", ran.diags);
      cr_expect_not(ran.leaked);
      failed += ran.errors > 0;
      ran_free(&ran);
    }
    cr_expect(failed > 3 && failed < 100, "%s: %u", names[k], failed);
    ran_free(&whole);
  }
}

/* ---- when code is printed and compiled, on a table that counts ---- */

static struct {
  unsigned prepared, looks, compilations, waits, suits, runs;
  bool is_ready, suits_now, gives_up;
} table;
static char no_code;

static struct cvl_procedure_code *table_prepare(struct cvl_context *c, const char *text,
                                                uint64_t length, bool *owed) {
  (void)c, (void)text, (void)length;
  *owed = false;
  table.prepared++;
  return (struct cvl_procedure_code *)(void *)&no_code;
}

static void table_discard(struct cvl_context *c, struct cvl_procedure_code *code,
                          double spent) {
  (void)c, (void)code, (void)spent;
  table.prepared--;
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
  table.suits++;
  return table.suits_now;
}

/* Gives up in any case. */
static bool table_run(struct cvl_context *c, uint64_t site, struct cvl_procedure_code *code,
                      const struct cvl_procedure *p, struct cvl_procedure_time time,
                      uint64_t instances, const struct cvl_value *operands,
                      struct cvl_value *results, bool *done) {
  (void)c, (void)site, (void)code, (void)p, (void)time, (void)instances, (void)operands,
      (void)results;
  table.runs++;
  *done = false;
  return true;
}

static const struct cvl_procedures counting = {table_prepare, table_discard, table_ready,
                                               table_suits,   table_run,     NULL};

/* Calls SUM for so many rows, so many times, with as much other work after each. */
static void call_often(const char *rows, unsigned rounds, unsigned other,
                       struct machine_options options) {
  static struct cvl_backend backend;
  char text[4000];
  backend = cvl_cpu_backend;
  backend.procedures = &counting;
  options.backend = &backend;
  options.chunks.mode = MACHINE_CHUNKS_OFF;
  snprintf(text, sizeof text,
           "%sv14 = CONST INT %u\nv15: INT = call LOOP v0 v7 v13 v14\nyield v15\nend\n"
           "fun LOOP (v0: SEGDES, v1: SEGDES, v2: INT, v3: INT) -> (INT)\n"
           "v4: INT = call SUM v0 v1 v2\nv5 = CONST INT 0\nv6 = = INT v3 v5\n"
           "v11 = CONST INT 1\nv12 = CONST SEGDES %u\nv13 = INDEX v5 v11 v12\n"
           "v14 = +_REDUCE INT v13 v12\nv15 = * INT v14 v5\nv16 = + INT v3 v15\n"
           "v7: INT = if v6\nyield v3\nelse\nv9 = - INT v16 v11\n"
           "v10: INT = call LOOP v0 v1 v2 v9\nyield v10\nend\nyield v7\nend\n%s",
           rows, rounds, other, SUM);
  printed_programs = 0;
  table.prepared = table.looks = table.compilations = table.waits = table.suits = table.runs =
      0;
  struct ran ran = run_let_text(text, options);
  cr_expect_eq(ran.errors, 0, "%s", ran.diags);
  cr_expect_eq(table.prepared, 0, "code is discarded");
  ran_free(&ran);
}

Test(procedures, a_short_program_prints_and_compiles_nothing) {
  struct machine_options options = natively(1);
  options.procedures = MACHINE_PROCEDURES_AUTO;
  options.compile = CVL_COMPILE_WHEN_IT_PAYS;
  call_often(ROWS("20", "1", "INT"), 2, 1, options);
  cr_expect_eq(printed_programs, 0);
  call_often(ROWS("20", "1", "INT"), 5, 1 << 20, options);
  cr_expect_eq(printed_programs, 0, "its batch calls are short");
  options.compile = CVL_COMPILE_ALL;
  call_often(ROWS("20", "1", "INT"), 10, 1, options);
  cr_expect(printed_programs == 1 && table.compilations == 11, "unless it is told to");
  options.procedures = MACHINE_PROCEDURES_ALWAYS;
  call_often(ROWS("20", "1", "INT"), 10, 1, options);
  cr_expect(printed_programs == 1 && table.waits == 12, "of the entry function, too");
}

Test(procedures, a_program_that_takes_long_is_printed_then_compiled) {
  struct machine_options options = natively(1);
  options.procedures = MACHINE_PROCEDURES_AUTO;
  options.compile = CVL_COMPILE_WHEN_IT_PAYS;
  /* With sanitizers few rounds take long. */
  for (unsigned rounds = 10; rounds == 10 || (table.compilations == 0 && rounds <= 1000);
       rounds *= 10) {
    call_often(ROWS("200000", "1", "INT"), rounds, 1, options);
    cr_expect_eq(printed_programs, 1);
  }
  cr_expect(table.looks > 0 && table.compilations > 0, "%u looks, %u compilations", table.looks,
            table.compilations);
}

Test(procedures, code_that_gives_up_is_tried_less_and_less) {
  struct machine_options options = natively(1);
  options.procedures = MACHINE_PROCEDURES_AUTO;
  table.is_ready = table.suits_now = true;
  call_often(ROWS("20", "1", "INT"), 99, 1, options);
  cr_expect(table.runs == 7 && table.suits == 7, "%u runs: 1st, 3rd, 6th, 11th, 20th ...",
            table.runs);
  table.suits_now = false;
  call_often(ROWS("20", "1", "INT"), 99, 1, options);
  cr_expect(table.runs == 0 && table.suits == 100, "%u", table.suits);
}
