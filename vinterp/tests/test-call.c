/* test-call.c - programs that are prepared once and called often, on values that stay in the
 * back end.
 */
#include "vinterp/tests/fixture.h"

#include "cvl/delayed.h"
#include "cvl/oracle/oracle.h"
#include "cvl/superop.h"
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

DELAYED_BACKEND(delayed_oracle, "delayed", cvl_oracle_backend)

/* A caller of programs in one machine. */
struct caller {
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
  struct machine_options options;
  struct machine *machine;
};

static void call_begin(struct caller *c, struct machine_options options) {
  *c = (struct caller){.options = options};
  heap_init(&c->heap, 0);
  arena_init(&c->arena, &c->heap);
  diag_list_init(&c->diags, &c->arena);
  c->machine = machine_new(&options, &c->diags);
  cr_assert(c->machine);
}

/* Expects that all programs have been forgotten and all values released. */
static void call_end(struct caller *c) {
  cr_expect_eq(machine_statistics(c->machine).live_bytes, 0);
  machine_free(c->machine);
  arena_free(&c->arena);
  cr_expect_eq(c->heap.live, 0);
}

/* Forgets two programs, and ends. */
static void end_both(struct caller *c, struct machine_program *p, struct machine_program *q) {
  machine_forget(c->machine, p);
  machine_forget(c->machine, q);
  call_end(c);
}

static const char *call_message(const struct caller *c) {
  const size_t n = c->diags.list.count;
  return n ? c->diags.list.items[n - 1].message : "";
}

/* Builds a program whose entry is the last function. */
static const struct ir_program *call_built(struct caller *c, const char *text) {
  return program_of_last(&c->arena, text, c->options.widths, &c->diags);
}

static struct machine_program *call_prepare(struct caller *c, const char *text) {
  struct machine_program *p = machine_prepare(c->machine, call_built(c, text), &c->diags);
  cr_assert(p, "%s", call_message(c));
  return p;
}

static enum machine_outcome test_call(struct caller *c, struct machine_program *p,
                                      const struct cvl_value *arguments,
                                      uint64_t argument_count, struct cvl_value *results,
                                      uint64_t result_count) {
  return machine_call(c->machine, p, arguments, argument_count, results, result_count,
                      &c->diags);
}

/* Makes a call with one argument and one result, which must succeed. */
static struct cvl_value call_apply(struct caller *c, struct machine_program *p,
                                   struct cvl_value argument) {
  struct cvl_value result = {0};
  cr_assert_eq(test_call(c, p, &argument, 1, &result, 1), MACHINE_DONE, "%s", call_message(c));
  return result;
}

static struct cvl_value call_ints(struct caller *c, uint64_t n, const int64_t *data) {
  const struct machine_item item = {.kind = MACHINE_INT, .length = n, .as.ints = data};
  struct cvl_value v;
  cr_assert(machine_value_item(c->machine, &item, &v, &c->diags), "%s", call_message(c));
  return v;
}

static void call_release(struct caller *c, struct cvl_value *v, uint64_t n) {
  for (uint64_t k = 0; k < n; k++) machine_release(c->machine, &v[k]);
}

/* Releases values and a program, and ends. */
static void call_end_with(struct caller *c, struct cvl_value *values, uint64_t count,
                          struct machine_program *p) {
  call_release(c, values, count);
  machine_forget(c->machine, p);
  call_end(c);
}

/* Expects INTs of 64 bits, or the lengths of a descriptor. */
static void call_expect_ints(struct caller *c, const struct cvl_value *v, uint64_t n,
                             const int64_t *expected) {
  enum { MOST = 8 };
  int64_t data[MOST];
  uint64_t count;
  cr_assert(machine_value_count(c->machine, v, &count, &c->diags), "%s", call_message(c));
  cr_assert_eq(count, n);
  cr_assert(machine_value_copy(c->machine, v, 0, n, data, &c->diags), "%s", call_message(c));
  for (uint64_t k = 0; k < n; k++) cr_expect_eq(data[k], expected[k], "%ld", (long)data[k]);
}

static struct machine_options call_delayed_options(struct cvl_backend *table, int seed) {
  struct machine_options options = test_options();
  options.backend = delayed_oracle(table);
  options.device = seed;
  return options;
}

enum { SEEDS = 20 };

static const int64_t numbers[] = {3, 4, 5};
static const char successor[] = "FUNC MAIN RET FUNC FN CONST INT (1 1 1) + INT RET";
static const char divided[] =
    "FUNC MAIN RET\nFUNC FN CONST INT (60 60 60) CPOP 1 1\nCALL DIVIDE RET\n"
    "FUNC DIVIDE / INT RET\nFUNC LAST CALL FN RET";

/* ---- values between calls ---- */

static unsigned uploads, downloads;

static bool call_note_upload(struct cvl_context *context, uint64_t site, enum cvl_elem elem,
                             uint64_t n, const void *data, struct cvl_value *out) {
  uploads++;
  return cvl_oracle_backend.from_host(context, site, elem, n, data, out);
}

static bool note_download(struct cvl_context *context, const struct cvl_value *v,
                          uint64_t first, uint64_t n, void *dst) {
  downloads++;
  return cvl_oracle_backend.to_host(context, v, first, n, dst);
}

Test(test_call, values_are_passed_on_without_copies) {
  struct cvl_backend noting = cvl_oracle_backend;
  noting.from_host = call_note_upload;
  noting.to_host = note_download;
  for (int checked = 0; checked < 2; checked++) {
    struct machine_options options = test_options();
    options.backend = &noting;
    options.checked = checked;
    struct caller c;
    call_begin(&c, options);
    struct machine_program *twice = call_prepare(&c, "FUNC MAIN RET FUNC FN COPY 1 0 RET");
    struct machine_program *add = call_prepare(&c, "FUNC MAIN RET FUNC FN + INT RET");
    struct cvl_value v = call_ints(&c, 3, numbers), both[2], sum;
    uploads = downloads = 0;
    cr_assert_eq(test_call(&c, twice, &v, 1, both, 2), MACHINE_DONE, "%s", call_message(&c));
    cr_expect(both[0].as.vector == v.as.vector && both[1].as.vector == v.as.vector);
    cr_assert_eq(test_call(&c, add, both, 2, &sum, 1), MACHINE_DONE, "%s", call_message(&c));
    cr_expect_eq(uploads + downloads, 0);
    call_expect_ints(&c, &sum, 3, (int64_t[]){6, 8, 10});
    call_expect_ints(&c, &v, 3, numbers);
    call_release(&c, both, 2);
    call_release(&c, &sum, 1);
    machine_forget(c.machine, twice);
    machine_forget(c.machine, add);
    call_release(&c, &v, 1);
    call_end(&c);
  }
}

Test(test_call, owned_arguments_pass_to_the_call) {
  struct caller c;
  call_begin(&c, test_options());
  struct machine_program *p = call_prepare(&c, successor), *fails = call_prepare(&c, divided);
  struct cvl_value v = call_ints(&c, 3, numbers),
                   zeros = call_ints(&c, 3, (int64_t[]){1, 1, 0});
  v.owned = zeros.owned = 1;
  struct cvl_value result = call_apply(&c, p, v);
  call_expect_ints(&c, &result, 3, (int64_t[]){4, 5, 6});
  cr_expect_eq(result.owned, 0);
  call_release(&c, &result, 1);
  cr_expect_eq(test_call(&c, fails, &zeros, 1, &result, 1), MACHINE_ERROR);
  end_both(&c, p, fails);
}

Test(test_call, results_outlive_their_program) {
  struct caller c;
  call_begin(&c, test_options());
  struct machine_program *p =
      call_prepare(&c, "FUNC MAIN CONST INT (7 8) CONST SEGDES (2 0 1) RET");
  struct cvl_value results[2];
  cr_assert_eq(test_call(&c, p, NULL, 0, results, 2), MACHINE_DONE, "%s", call_message(&c));
  machine_forget(c.machine, p);
  call_expect_ints(&c, &results[0], 2, (int64_t[]){7, 8});
  call_expect_ints(&c, &results[1], 3, (int64_t[]){2, 0, 1});
  call_release(&c, results, 2);
  call_end(&c);
}

/* ---- several programs, many calls ---- */

static const char fused[] = "fused OP0#1 ($0 : INT) = (+ INT @ (* INT @ $0 $0) $0)\n"
                            "FUNC MAIN RET FUNC FN FUSED 0 RET";
static const char recursive[] =
    "FUNC MAIN RET "
    "FUNC DOWN COPY 1 0 CONST INT 0 = INT IF POP 1 0 ELSE CONST INT 1 - INT CPOP 1 1 "
    "CONST INT (1 1 1) + INT CPOP 1 1 CALL DOWN ENDIF RET "
    "FUNC FN CONST INT 10 CALL DOWN RET";

/* Computes x * x + x and x + 10 in turn, each from the result of the call before. */
static void take_turns(struct machine_options options) {
  struct caller c;
  call_begin(&c, options);
  struct machine_program *square = call_prepare(&c, fused), *add = call_prepare(&c, recursive);
  struct cvl_value v = call_ints(&c, 3, numbers);
  int64_t expected[] = {3, 4, 5};
  for (int turn = 0; turn < 6; turn++) {
    struct cvl_value next = call_apply(&c, turn % 2 ? add : square, v);
    call_release(&c, &v, 1);
    v = next;
    for (int k = 0; k < 3; k++) {
      const uint64_t x = (uint64_t)expected[k];
      expected[k] = (int64_t)(turn % 2 ? x + 10 : x * x + x);
    }
  }
  call_expect_ints(&c, &v, 3, expected);
  call_release(&c, &v, 1);
  end_both(&c, add, square);
}

Test(test_call, programs_take_turns) {
  struct machine_options options = test_options();
  take_turns(options);
  options.checked = true;
  take_turns(options);
  options.checked = false;
  options.profile = true;
  take_turns(options);
  struct cvl_backend table;
  for (int seed = 0; seed < SEEDS; seed++) take_turns(call_delayed_options(&table, seed));
}

static unsigned prepared;

static struct cvl_kernel *call_note_prepare(struct cvl_context *context,
                                            const struct superop *op) {
  prepared++;
  return cvl_oracle_backend.superops->prepare(context, op);
}

Test(test_call, superoperators_are_prepared_once_and_before) {
  struct cvl_backend noting = cvl_oracle_backend;
  struct cvl_superops superops = *noting.superops;
  superops.prepare = call_note_prepare;
  noting.superops = &superops;
  struct machine_options options = test_options();
  options.backend = &noting;
  struct caller c;
  call_begin(&c, options);
  prepared = 0;
  struct machine_program *p = call_prepare(&c, fused);
  struct cvl_value v = call_ints(&c, 3, numbers);
  cr_expect_eq(prepared, 1);
  for (int k = 0; k < 3; k++) {
    struct cvl_value result = call_apply(&c, p, v);
    call_release(&c, &result, 1);
  }
  cr_expect_eq(prepared, 1);
  call_end_with(&c, &v, 1, p);
}

Test(test_call, a_run_between_calls_leaves_values_alone) {
  struct caller c;
  call_begin(&c, test_options());
  struct machine_program *p = call_prepare(&c, successor);
  struct cvl_value v = call_ints(&c, 3, numbers);
  struct machine_repetition repetition = {.runs = 2, .seconds = (double[2]){0}};
  struct machine_results results;
  const struct ir_program *other =
      call_built(&c, "FUNC MAIN CONST INT (1 2) CONST INT (3 4) + INT RET");
  cr_assert_eq(machine_repeat(c.machine, other, NULL, 0, &repetition, &results, &c.diags),
               MACHINE_DONE, "%s", call_message(&c));
  machine_results_free(c.machine, &results);
  struct cvl_value result = call_apply(&c, p, v);
  call_expect_ints(&c, &result, 3, (int64_t[]){4, 5, 6});
  call_release(&c, &result, 1);
  call_end_with(&c, &v, 1, p);
}

/* ---- errors ---- */

static void call_expect_error(struct caller *c, struct machine_program *p,
                              const struct cvl_value *arguments, uint64_t argument_count,
                              uint64_t result_count, const char *text) {
  struct cvl_value results[4] = {{.form = 99}, {.form = 99}, {.form = 99}, {.form = 99}};
  const uint64_t live = machine_statistics(c->machine).live_bytes;
  cr_expect_eq(test_call(c, p, arguments, argument_count, results, result_count),
               MACHINE_ERROR);
  cr_expect_eq(c->diags.errors, 1);
  const char *found = c->diags.list.count ? c->diags.list.items[0].message : "";
  cr_expect(strstr(found, text), "%s", found);
  for (int k = 0; k < 4; k++) cr_expect_eq(results[k].form, 99);
  cr_expect_eq(machine_statistics(c->machine).live_bytes, live);
  diag_list_init(&c->diags, &c->arena);
}

static void fail_and_go_on(struct machine_options options) {
  struct caller c;
  call_begin(&c, options);
  struct machine_program *p = call_prepare(&c, divided);
  struct cvl_value good = call_ints(&c, 3, numbers),
                   bad = call_ints(&c, 3, (int64_t[]){1, 0, 0});
  struct cvl_value result = call_apply(&c, p, good); /* makes the constants */
  call_release(&c, &result, 1);
  for (int k = 0; k < 3; k++) {
    call_expect_error(&c, p, &bad, 1, 1, "/ INT: division by zero at element 1");
    cr_expect_eq(machine_failure(c.machine)->cause, MACHINE_CAUSE_OPERATION);
    result = call_apply(&c, p, good);
    call_expect_ints(&c, &result, 3, (int64_t[]){20, 15, 12});
    call_release(&c, &result, 1);
  }
  call_release(&c, &good, 1);
  call_end_with(&c, &bad, 1, p);
}

Test(test_call, after_an_error_the_machine_can_be_used_on) {
  struct machine_options options = test_options();
  fail_and_go_on(options);
  options.checked = true;
  fail_and_go_on(options);
  struct cvl_backend table;
  for (int seed = 0; seed < SEEDS; seed++) fail_and_go_on(call_delayed_options(&table, seed));
}

Test(test_call, the_trace_is_that_of_the_call) {
  struct caller c;
  call_begin(&c, test_options());
  struct machine_program *p = call_prepare(&c, divided);
  struct cvl_value bad = call_ints(&c, 3, (int64_t[]){0, 0, 0}), result;
  cr_expect_eq(test_call(&c, p, &bad, 1, &result, 1), MACHINE_ERROR);
  cr_assert_eq(c.diags.list.count, 3);
  cr_expect_eq(c.diags.list.items[0].pos.line, 4);
  cr_expect(strstr(c.diags.list.items[1].message, "DIVIDE, called from FN"));
  cr_expect(strstr(c.diags.list.items[2].message, "FN, called from LAST"));
  call_end_with(&c, &bad, 1, p);
}

Test(test_call, other_arguments_and_other_results_are_errors) {
  struct caller c;
  call_begin(&c, test_options());
  struct machine_program *p = call_prepare(&c, successor);
  struct machine_program *pair =
      call_prepare(&c, "FUNC MAIN CONST INT (1 2) CONST INT 1 CONST INT 2 PAIR RET");
  struct cvl_value v[2] = {call_ints(&c, 3, numbers), call_ints(&c, 2, numbers)};
  struct cvl_value result = call_apply(&c, p, v[0]);
  call_release(&c, &result, 1);
  call_expect_error(&c, p, v, 1, 2, "the program has 1 results, not 2");
  call_expect_error(&c, p, v, 1, 0, "the program has 1 results, not 0");
  call_expect_error(&c, p, v, 2, 1, "+ INT: operand 0 has length 2");
  call_expect_error(&c, p, NULL, 0, 1, "");
  struct cvl_value results[2];
  cr_expect_eq(test_call(&c, pair, NULL, 0, results, 2), MACHINE_ERROR);
  cr_expect(strstr(call_message(&c), "a result of the program is a pair"), "%s",
            call_message(&c));
  call_release(&c, v, 2);
  end_both(&c, p, pair);
}

Test(test_call, an_exit_has_no_results) {
  struct caller c;
  call_begin(&c, test_options());
  struct machine_program *p = call_prepare(&c, "FUNC MAIN RET FUNC FN COPY 1 0 + INT EXIT RET");
  struct cvl_value v = call_ints(&c, 3, numbers), result = {.form = 99};
  cr_expect_eq(test_call(&c, p, &v, 1, &result, 1), MACHINE_EXIT, "%s", call_message(&c));
  cr_expect_eq(result.form, 99);
  call_end_with(&c, &v, 1, p);
}

/* ---- every allocation fails once ---- */

/* Makes programs and values, which the caller releases. */
static bool all_of_it(struct caller *c, const struct ir_program *first,
                      const struct ir_program *second, struct cvl_value *made) {
  const struct machine_item item = {.kind = MACHINE_INT, .length = 3, .as.ints = numbers};
  struct machine_program *p = machine_prepare(c->machine, first, &c->diags);
  struct machine_program *q = p ? machine_prepare(c->machine, second, &c->diags) : NULL;
  const bool ok =
      q && machine_value_item(c->machine, &item, &made[0], &c->diags) &&
      machine_value_vector(c->machine, CVL_BOOL, "\1\0\1", 3, &made[1], &c->diags) &&
      test_call(c, p, made, 1, &made[2], 1) == MACHINE_DONE &&
      test_call(c, q, made, 1, &made[3], 1) == MACHINE_DONE &&
      test_call(c, p, &made[3], 1, &made[4], 1) == MACHINE_DONE;
  machine_forget(c->machine, p);
  machine_forget(c->machine, q);
  return ok;
}

Test(test_call, failing_allocations) {
  enum { ENOUGH = 300, MADE = 5 };
  unsigned done = 0, failed = 0;
  for (uint64_t n = 1; n <= ENOUGH; n++) {
    struct caller c;
    struct machine_options options = test_options();
    if (n / 2 % 2) options.widths = (struct widths){CVL_I32, CVL_F32};
    options.fail_allocation = n;
    call_begin(&c, options);
    struct cvl_value made[MADE] = {{0}};
    const struct ir_program *first = call_built(&c, fused), *second = call_built(&c, recursive);
    const bool ok = all_of_it(&c, first, second, made);
    done += ok;
    failed += !ok;
    cr_expect_eq(c.diags.errors, !ok, "%lu: %s", (unsigned long)n, call_message(&c));
    if (!ok) cr_expect_eq(machine_failure(c.machine)->cause, MACHINE_CAUSE_LIMIT);
    call_release(&c, made, MADE);
    call_end(&c);
  }
  cr_expect(failed > 20 && done > 20, "%u failed, %u did not", failed, done);
}

/* ---- limits ---- */

static const char iota[] = "FUNC MAIN RET FUNC FN CONST INT 0 CONST INT 1 CPOP 1 2 MAKE_SEGDES "
                           "INDEX RET";
/* The run is stopped long before so many calls are open that memory runs out. */
static const char endless[] =
    "FUNC MAIN RET FUNC FIB COPY 1 0 CONST INT 2 < INT IF ELSE COPY 1 0 CONST INT 1 - INT "
    "CALL FIB CPOP 1 1 CONST INT 2 - INT CALL FIB + INT ENDIF RET "
    "FUNC LOOP CONST INT 15 CALL FIB + INT CONST BOOL T IF CALL LOOP ELSE ENDIF RET "
    "FUNC FN CALL LOOP RET";

Test(test_call, memory_that_values_hold_counts) {
  struct machine_options options = test_options();
  options.memory_limit = 1 << 20;
  struct caller c;
  call_begin(&c, options);
  struct machine_program *p = call_prepare(&c, iota);
  struct cvl_value n = call_ints(&c, 1, (int64_t[]){80000}), held = call_apply(&c, p, n);
  call_expect_error(&c, p, &n, 1, 1, "INDEX: out of memory");
  cr_expect_eq(machine_failure(c.machine)->cause, MACHINE_CAUSE_LIMIT);
  call_release(&c, &held, 1);
  held = call_apply(&c, p, n);
  call_release(&c, &held, 1);
  call_end_with(&c, &n, 1, p);
}

/* Makes a machine whose calls only `stop` ends. */
static void begin_stoppable(struct caller *c, struct stop *stop) {
  struct machine_options options = test_options();
  options.stop = stop;
  options.max_depth = UINT64_C(1) << 40;
  call_begin(c, options);
}

Test(test_call, time_is_that_of_each_call) {
  struct stop stop = {.signal = NULL};
  struct caller c;
  begin_stoppable(&c, &stop);
  struct machine_program *loop = call_prepare(&c, endless), *p = call_prepare(&c, successor);
  struct cvl_value v = call_ints(&c, 3, numbers), one = call_ints(&c, 1, numbers);
  for (int k = 0; k < 2; k++) {
    stop_begin(&stop, 0.05);
    call_expect_error(&c, loop, &one, 1, 1, "the time limit of 0.05 seconds is over");
    stop_begin(&stop, 0);
    struct cvl_value result = call_apply(&c, p, v);
    call_release(&c, &result, 1);
  }
  call_release(&c, &v, 1);
  end_both(&c, loop, p);
}

static atomic_int interrupt;

static void *call_interrupt_soon(void *unused) {
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  atomic_store(&interrupt, SIGINT);
  return unused;
}

static bool call_refuse(void *data) {
  return ++*(int *)data < 3;
}

/* Another thread interrupts, and then the progress function at its third call. */
Test(test_call, calls_are_interrupted) {
  int shown = 0;
  struct stop stop = {.signal = &interrupt, .progress_data = &shown};
  struct caller c;
  begin_stoppable(&c, &stop);
  struct machine_program *loop = call_prepare(&c, endless), *p = call_prepare(&c, successor);
  struct cvl_value v = call_ints(&c, 3, numbers), one = call_ints(&c, 1, numbers), result;
  for (int way = 0; way < 2; way++) {
    pthread_t thread;
    if (way) stop.progress = call_refuse;
    stop_begin(&stop, 0);
    if (!way) cr_assert_eq(pthread_create(&thread, NULL, call_interrupt_soon, NULL), 0);
    cr_expect_eq(test_call(&c, loop, &one, 1, &result, 1), MACHINE_INTERRUPTED);
    cr_expect(strstr(c.diags.list.items[0].message, "interrupted"));
    if (!way) pthread_join(thread, NULL);
    diag_list_init(&c.diags, &c.arena);
    atomic_store(&interrupt, 0);
    stop_begin(&stop, 0);
    result = call_apply(&c, p, v);
    call_release(&c, &result, 1);
  }
  cr_expect_eq(shown, 3);
  call_release(&c, &v, 1);
  end_both(&c, loop, p);
}

Test(test_call, preparing_is_interrupted) {
  struct stop stop = {.signal = &interrupt};
  struct machine_options options = test_options();
  options.stop = &stop;
  struct caller c;
  call_begin(&c, options);
  const struct ir_program *program = call_built(&c, fused);
  atomic_store(&interrupt, SIGINT);
  cr_expect_null(machine_prepare(c.machine, program, &c.diags));
  cr_expect(strstr(call_message(&c), "interrupted"), "%s", call_message(&c));
  atomic_store(&interrupt, 0);
  call_end(&c);
}

/* ---- random numbers and streams ---- */

static const char draw[] = "FUNC MAIN CONST INT (1000000 1000000 1000000) RAND RET";

static void call_drawn(struct caller *c, struct machine_program *p,
                       int64_t numbers_of_call[3]) {
  struct cvl_value v;
  cr_assert_eq(test_call(c, p, NULL, 0, &v, 1), MACHINE_DONE, "%s", call_message(c));
  cr_assert(machine_value_copy(c->machine, &v, 0, 3, numbers_of_call, &c->diags));
  call_release(c, &v, 1);
}

Test(test_call, random_numbers_go_on) {
  struct machine_options options = test_options();
  options.seed = 7;
  int64_t x[2][3][3];
  for (int way = 0; way < 2; way++) {
    struct caller c;
    call_begin(&c, options);
    struct machine_program *p = call_prepare(&c, draw), *q = call_prepare(&c, draw);
    struct machine_program *fails =
        call_prepare(&c, "FUNC MAIN CONST INT (9 9 9) RAND CONST INT (1 0 1) / INT RET");
    struct cvl_value v;
    for (int k = 0; k < 3; k++) {
      call_drawn(&c, way && k == 1 ? q : p, x[way][k]);
      if (way) cr_expect_eq(test_call(&c, fails, NULL, 0, &v, 1), MACHINE_ERROR);
    }
    machine_forget(c.machine, p);
    machine_forget(c.machine, q);
    machine_forget(c.machine, fails);
    call_end(&c);
  }
  cr_expect_eq(memcmp(x[0], x[1], sizeof x[0]), 0);
  cr_expect_neq(memcmp(x[0][0], x[0][1], sizeof x[0][0]), 0);
  cr_expect_neq(memcmp(x[0][1], x[0][2], sizeof x[0][0]), 0);
}

Test(test_call, every_call_writes) {
  char *out;
  size_t size;
  struct machine_options options = test_options();
  options.out = open_memstream(&out, &size);
  options.err = NULL;
  struct caller c;
  call_begin(&c, options);
  struct machine_program *p = call_prepare(
      &c, "FUNC MAIN CONST CHAR \"hello \" CONST INT 1 FWRITE CHAR CPOP 1 1 POP 1 0 "
          "CONST INT 7 WRITE INT CPOP 1 1 POP 1 0 RET");
  struct cvl_value ok[2];
  for (int k = 0; k < 3; k++) {
    cr_assert_eq(test_call(&c, p, NULL, 0, ok, 2), MACHINE_DONE, "%s", call_message(&c));
    cr_expect_eq(ok[0].as.b, 1);
    cr_expect_eq(ok[1].as.b, 0); /* there is no stream to write to */
    call_release(&c, ok, 2);
    cr_expect_eq(size, 6 * (size_t)(k + 1));
  }
  machine_forget(c.machine, p);
  call_end(&c);
  fclose(options.out);
  cr_expect_str_eq(out, "hello hello hello ");
  free(out);
}

/* ---- values ---- */

Test(test_call, values_are_made_and_read_in_both_widths) {
  for (int narrow = 0; narrow < 2; narrow++) {
    struct machine_options options = test_options();
    if (narrow) options.widths = (struct widths){CVL_I32, CVL_F32};
    struct caller c;
    call_begin(&c, options);
    const double floats[] = {0.5, -2};
    const float singles[] = {0.5F, -2};
    const struct machine_item item = {.kind = MACHINE_FLOAT, .length = 2, .as.floats = floats};
    struct cvl_value v[2];
    cr_assert(machine_value_item(c.machine, &item, &v[0], &c.diags), "%s", call_message(&c));
    const void *data = narrow ? (const void *)singles : floats;
    const enum cvl_elem elem = options.widths.float_elem;
    cr_assert(machine_value_vector(c.machine, elem, data, 2, &v[1], &c.diags));
    for (int k = 0; k < 2; k++) {
      double copy[2];
      cr_expect_eq(v[k].elem, elem);
      cr_assert(machine_value_copy(c.machine, &v[k], 1, 1, copy, &c.diags));
      cr_expect_eq(memcmp(copy, narrow ? (const void *)&singles[1] : &floats[1],
                          narrow ? sizeof *singles : sizeof *floats),
                   0);
    }
    call_release(&c, v, 2);
    call_end(&c);
  }
}

static void count_calls(void *with) {
  ++*(int *)with;
}

static void fill_squares(void *with, uint64_t first, uint64_t n, void *to) {
  (void)with;
  for (uint64_t i = 0; i < n; i++) ((int64_t *)to)[i] = (int64_t)((first + i) * (first + i));
}

/* If the back end shares no memory with the host, values that are imported, generated or
 * exported are copied. */
Test(test_call, values_are_copied_where_they_cannot_be_shared) {
  struct cvl_backend table;
  for (int seed = -1; seed < 4; seed++) {
    struct caller c;
    int calls = 0;
    struct cvl_value v, squares, d, none = {.form = 99};
    struct cvl_export exported;
    call_begin(&c, seed < 0 ? test_options() : call_delayed_options(&table, seed));
    cr_assert(machine_value_import(c.machine, CVL_I64, numbers, 3,
                                   (struct cvl_notice){count_calls, &calls}, &v, &c.diags));
    cr_expect_eq(calls, 1);
    cr_expect_not(machine_value_export(c.machine, &v, &exported));
    cr_assert(machine_value_generate(
        c.machine, CVL_I64, 4, &(struct cvl_filler){fill_squares, NULL}, &squares, &c.diags));
    call_expect_ints(&c, &v, 3, numbers);
    call_expect_ints(&c, &squares, 4, (int64_t[]){0, 1, 4, 9});
    cr_assert(machine_value_segdes(c.machine, 3, &(struct cvl_filler){fill_squares, NULL}, &d,
                                   &c.diags),
              "%s", call_message(&c));
    call_expect_ints(&c, &d, 3, (int64_t[]){1, 3, 5});
    uint64_t total = 0;
    cr_assert(machine_value_total(c.machine, &d, &total, &c.diags));
    cr_expect_eq(total, 9);
    cr_expect_not(machine_value_import(c.machine, CVL_I32, numbers, 3,
                                       (struct cvl_notice){count_calls, &calls}, &none,
                                       &c.diags));
    cr_expect_eq(calls, 2);
    cr_expect_eq(none.form, 99);
    call_release(&c, &v, 1);
    call_release(&c, &squares, 1);
    call_release(&c, &d, 1);
    call_end(&c);
  }
}

Test(test_call, descriptors_have_lengths_counts_and_totals) {
  struct cvl_backend table;
  for (int seed = -1; seed < 4; seed++) {
    struct caller c;
    call_begin(&c, seed < 0 ? test_options() : call_delayed_options(&table, seed));
    static const int64_t lengths[] = {2, 0, 5};
    for (uint64_t n = 1; n <= 3; n += 2) {
      const struct machine_item item = {
          .kind = MACHINE_SEGDES, .length = n, .as.ints = lengths};
      struct cvl_value d, vector;
      uint64_t total;
      cr_assert(machine_value_item(c.machine, &item, &d, &c.diags), "%s", call_message(&c));
      call_expect_ints(&c, &d, n, lengths);
      cr_assert(machine_value_total(c.machine, &d, &total, &c.diags));
      cr_expect_eq(total, n == 1 ? 2 : 7);
      cr_assert(machine_value_lengths(c.machine, &d, &vector, &c.diags), "%s",
                call_message(&c));
      cr_expect_eq(vector.elem, CVL_I64);
      call_expect_ints(&c, &vector, n, lengths);
      call_release(&c, &d, 1);
      call_release(&c, &vector, 1);
    }
    call_end(&c);
  }
}

Test(test_call, a_value_has_several_holders) {
  struct caller c;
  call_begin(&c, test_options());
  struct cvl_value v = call_ints(&c, 3, numbers), again = v;
  machine_retain(c.machine, &v);
  machine_release(c.machine, &v);
  cr_expect_eq(v.form, CVL_NOTHING);
  call_expect_ints(&c, &again, 3, numbers);
  machine_release(c.machine, &again);
  call_end(&c);
}

static void call_expect_refused(struct caller *c, bool ok, enum machine_cause cause,
                                const char *text) {
  cr_expect_not(ok);
  cr_assert_eq(c->diags.errors, 1);
  cr_expect(strstr(call_message(c), text), "%s", call_message(c));
  cr_expect_null(c->diags.list.items[0].file);
  cr_expect_eq(machine_failure(c->machine)->cause, cause);
  diag_list_init(&c->diags, &c->arena);
}

Test(test_call, bad_values_are_refused) {
  static const int64_t large[] = {0, INT64_C(1) << 40}, lengths[] = {3, -1};
  struct machine_options options = test_options();
  options.widths = (struct widths){CVL_I32, CVL_F32};
  options.memory_limit = 1 << 20;
  struct caller c;
  call_begin(&c, options);
  struct cvl_value v = {.form = 99}, three;
  struct machine_item item = {.kind = MACHINE_INT, .length = 2, .as.ints = large};
  call_expect_refused(&c, machine_value_item(c.machine, &item, &v, &c.diags),
                      MACHINE_CAUSE_OPERATION, "does not fit an INT of 32 bits");
  item = (struct machine_item){.kind = MACHINE_SEGDES, .length = 2, .as.ints = lengths};
  call_expect_refused(&c, machine_value_item(c.machine, &item, &v, &c.diags),
                      MACHINE_CAUSE_OPERATION, "bad length -1");
  call_expect_refused(&c, machine_value_vector(c.machine, CVL_I64, large, 2, &v, &c.diags),
                      MACHINE_CAUSE_OPERATION, "no elements of type i64");
  void *much = calloc(1, 1 << 21);
  call_expect_refused(&c,
                      machine_value_vector(c.machine, CVL_BOOL, much, 1 << 21, &v, &c.diags),
                      MACHINE_CAUSE_LIMIT, "out of memory");
  free(much);
  cr_expect_eq(v.form, 99);
  cr_assert(machine_value_vector(c.machine, CVL_BOOL, "\1\1\0", 3, &three, &c.diags));
  char copy[4];
  call_expect_refused(&c, machine_value_copy(c.machine, &three, 2, 2, copy, &c.diags),
                      MACHINE_CAUSE_OPERATION,
                      "a value of length 3 has no 2 elements from 2 on");
  call_release(&c, &three, 1);
  call_end(&c);
}
