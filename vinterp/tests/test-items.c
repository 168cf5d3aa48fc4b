/* test-items.c - runs that take and leave host data, and the parts of their failures. */
#include "vinterp/tests/fixture.h"

#include "cvl/oracle/oracle.h"
#include <criterion/criterion.h>
#include <string.h>

/* A run of a program. */
struct evaluation {
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
  struct machine *machine;
  const struct ir_program *program;
  struct machine_results results;
  enum machine_outcome outcome;
};

static const char *items_message(const struct evaluation *e) {
  return e->diags.list.count ? e->diags.list.items[0].message : "";
}

static void items_evaluate(struct evaluation *e, const char *text,
                           struct machine_options options, const struct machine_item *arguments,
                           uint64_t count) {
  *e = (struct evaluation){0};
  heap_init(&e->heap, 0);
  arena_init(&e->arena, &e->heap);
  diag_list_init(&e->diags, &e->arena);
  struct ir_program *program = program_of_last(&e->arena, text, options.widths, &e->diags);
  e->program = program;
  e->machine = machine_new(&options, &e->diags);
  cr_assert(e->machine);
  struct machine_repetition once = {.runs = 0};
  e->outcome =
      machine_repeat(e->machine, e->program, arguments, count, &once, &e->results, &e->diags);
}

static void items_end(struct evaluation *e) {
  machine_results_free(e->machine, &e->results);
  machine_free(e->machine);
  arena_free(&e->arena);
  cr_expect_eq(e->heap.live, 0);
}

static void items_expect_ints(const struct machine_item *item, enum machine_item_kind kind,
                              uint64_t count, const int64_t *ints) {
  cr_expect_eq(item->kind, kind);
  cr_assert_eq(item->length, count);
  for (uint64_t i = 0; i < count; i++) cr_expect_eq(item->as.ints[i], ints[i]);
}

static const struct widths all_widths[] = {{CVL_I64, CVL_F64}, {CVL_I32, CVL_F32}};

Test(items, results_are_host_data) {
  for (size_t w = 0; w < 2; w++) {
    struct machine_options options = test_options();
    options.widths = all_widths[w];
    struct evaluation e;
    items_evaluate(
        &e,
        "FUNC MAIN CONST INT -7 CONST INT (1 2 3) CONST FLOAT (0.5 -1.25) CONST BOOL (T F) "
        "CONST SEGDES (2 0 5) CONST SEGDES (4) CONST INT () RET",
        options, NULL, 0);
    cr_assert_eq(e.outcome, MACHINE_DONE, "%s", items_message(&e));
    cr_assert_eq(e.results.count, 7);
    const struct machine_item *items = e.results.items;
    items_expect_ints(&items[0], MACHINE_INT, 1, (int64_t[]){-7});
    items_expect_ints(&items[1], MACHINE_INT, 3, (int64_t[]){1, 2, 3});
    cr_expect_eq(items[2].kind, MACHINE_FLOAT);
    cr_expect(items[2].length == 2 && items[2].as.floats[0] == 0.5 &&
              items[2].as.floats[1] == -1.25);
    cr_expect_eq(items[3].kind, MACHINE_BOOL);
    cr_expect(items[3].length == 2 && items[3].as.bools[0] == 1 && items[3].as.bools[1] == 0);
    items_expect_ints(&items[4], MACHINE_SEGDES, 3, (int64_t[]){2, 0, 5});
    items_expect_ints(&items[5], MACHINE_SEGDES, 1, (int64_t[]){4});
    items_expect_ints(&items[6], MACHINE_INT, 0, NULL);
    items_end(&e);
  }
}

/* ---- narrow results ---- */

static unsigned fetches;
static bool counted_to_host(struct cvl_context *c, const struct cvl_value *v, uint64_t first,
                            uint64_t n, void *data) {
  fetches++;
  return cvl_oracle_backend.to_host(c, v, first, n, data);
}

/* A device takes as long for few elements as for many, so each result is fetched once. */
Test(items, narrow_results_are_fetched_at_once) {
  enum { COUNT = 100000 };
  struct cvl_backend backend = cvl_oracle_backend;
  backend.to_host = counted_to_host;
  struct machine_options options = test_options();
  options.widths = all_widths[1];
  options.backend = &backend;
  fetches = 0;
  struct evaluation e;
  items_evaluate(&e,
                 "FUNC MAIN CONST INT -5 CONST INT 3 CONST INT 100000 MAKE_SEGDES INDEX "
                 "COPY 1 0 I_TO_F RET",
                 options, NULL, 0);
  cr_assert_eq(e.outcome, MACHINE_DONE, "%s", items_message(&e));
  cr_assert(e.results.count == 2 && e.results.items[0].length == COUNT);
  for (int64_t k = 0; k < COUNT; k++) {
    cr_assert_eq(e.results.items[0].as.ints[k], 3 * k - 5);
    cr_assert(e.results.items[1].as.floats[k] == (double)(3 * k - 5));
  }
  cr_expect_lt(fetches, 10);
  items_end(&e);
}

/* ---- results that a back end exports ---- */

enum { EXPORTS = 3 };
static const int64_t lent_ints[EXPORTS] = {5, 6, 7};
static unsigned exports, exports_ended;

static void items_end_export(void *with) {
  (void)with;
  exports_ended++;
}

static bool import_copy(struct cvl_context *c, uint64_t site, enum cvl_elem elem, uint64_t n,
                        const void *data, struct cvl_notice done, struct cvl_value *out) {
  const bool ok = cvl_oracle_backend.from_host(c, site, elem, n, data, out);
  done.call(done.with);
  return ok;
}

/* Exports vectors of EXPORTS elements only. The exported elements differ, so that a copy would
 * be noticed. */
static bool export_some(struct cvl_context *c, const struct cvl_value *v,
                        struct cvl_export *exported) {
  if (cvl_oracle_backend.length(c, v).bound != EXPORTS) return false;
  exports++;
  *exported = (struct cvl_export){lent_ints, {items_end_export, NULL}};
  return true;
}

/* Elements of 32 bits are widened, so they are copied. */
Test(items, wide_results_are_lent) {
  struct cvl_backend backend = cvl_oracle_backend;
  const struct cvl_sharing sharing = {import_copy, export_some};
  backend.sharing = &sharing;
  for (size_t w = 0; w < 2; w++) {
    struct machine_options options = test_options();
    options.backend = &backend;
    options.widths = all_widths[w];
    exports = exports_ended = 0;
    struct evaluation e;
    items_evaluate(
        &e, "FUNC MAIN CONST INT (1 2 3) CONST INT (1 2) CONST INT 1 CONST SEGDES (1 2 3) RET",
        options, NULL, 0);
    cr_assert_eq(e.outcome, MACHINE_DONE, "%s", items_message(&e));
    items_expect_ints(&e.results.items[0], MACHINE_INT, EXPORTS,
                      w ? (int64_t[]){1, 2, 3} : lent_ints);
    items_expect_ints(&e.results.items[1], MACHINE_INT, 2, (int64_t[]){1, 2});
    items_expect_ints(&e.results.items[2], MACHINE_INT, 1, (int64_t[]){1});
    items_expect_ints(&e.results.items[3], MACHINE_SEGDES, 3, (int64_t[]){1, 2, 3});
    cr_expect_eq(exports, w ? 0 : 1);
    cr_expect_eq(exports_ended, 0);
    items_end(&e);
    cr_expect_eq(exports_ended, exports);
  }
}

Test(items, arguments_are_on_the_stack) {
  static const int64_t ints[] = {10, 20, 30}, lengths[] = {1, 0, 4};
  static const double floats[] = {2.5};
  static const uint8_t bools[] = {1, 0};
  const struct machine_item arguments[] = {
      {.kind = MACHINE_FLOAT, .length = 1, .as.floats = floats},
      {.kind = MACHINE_BOOL, .length = 2, .as.bools = bools},
      {.kind = MACHINE_INT, .length = 3, .as.ints = ints},
      {.kind = MACHINE_SEGDES, .length = 3, .as.ints = lengths}};
  for (size_t k = 0; k < 4; k++) {
    struct machine_options options = test_options();
    options.widths = all_widths[k % 2];
    options.checked = k / 2;
    struct evaluation e;
    items_evaluate(&e, "FUNC MAIN RET FUNC FN LENGTHS - INT RET", options, arguments, 4);
    cr_assert_eq(e.outcome, MACHINE_DONE, "%s", items_message(&e));
    cr_assert_eq(e.results.count, 3);
    cr_expect_eq(e.results.items[0].as.floats[0], 2.5);
    cr_expect_eq(e.results.items[1].as.bools[1], 0);
    items_expect_ints(&e.results.items[2], MACHINE_INT, 3, (int64_t[]){9, 20, 26});
    items_end(&e);
    items_evaluate(&e, "FUNC MAIN RET FUNC FN LENGTHS - INT RET", options, arguments + 2, 2);
    cr_assert_eq(e.outcome, MACHINE_DONE, "%s", items_message(&e));
    cr_assert_eq(e.results.count, 1);
    items_expect_ints(&e.results.items[0], MACHINE_INT, 3, (int64_t[]){9, 20, 26});
    items_end(&e);
  }
}

static void expect_bad(const char *text, struct machine_options options,
                       struct machine_item argument, const char *complaint) {
  struct evaluation e;
  items_evaluate(&e, text, options, &argument, 1);
  cr_expect_eq(e.outcome, MACHINE_ERROR);
  cr_expect_eq(e.results.count, 0);
  cr_expect(strstr(items_message(&e), complaint), "%s", items_message(&e));
  cr_expect_eq(machine_failure(e.machine)->cause, MACHINE_CAUSE_OPERATION);
  items_end(&e);
}

Test(items, bad_arguments_are_errors) {
  static const int64_t large[] = {INT64_C(1) << 40}, lengths[] = {3, -1};
  static const int64_t huge[] = {INT64_MAX, 1};
  struct machine_options narrow = test_options();
  narrow.widths = all_widths[1];
  struct machine_item item = {.kind = MACHINE_INT, .length = 1, .as.ints = large};
  expect_bad("FUNC MAIN RET FUNC FN CONST INT 1 + INT RET", narrow, item, "does not fit");
  expect_bad("FUNC MAIN RET FUNC FN NOT BOOL RET", test_options(), item, "");
  expect_bad("FUNC MAIN RET FUNC FN + INT RET", test_options(), item, "");
  item = (struct machine_item){.kind = MACHINE_SEGDES, .length = 2, .as.ints = lengths};
  expect_bad("FUNC MAIN RET FUNC FN LENGTHS RET", test_options(), item, "bad length -1");
  item.as.ints = huge;
  expect_bad("FUNC MAIN RET FUNC FN LENGTHS RET", test_options(), item, "bad length 1");
}

Test(items, a_pair_is_no_result) {
  struct evaluation e;
  items_evaluate(&e, "FUNC MAIN CONST INT (1 2) CONST INT 1 CONST INT 2 PAIR RET",
                 test_options(), NULL, 0);
  cr_expect_eq(e.outcome, MACHINE_ERROR);
  cr_expect_eq(e.results.count, 0);
  cr_expect(strstr(items_message(&e), "pair"), "%s", items_message(&e));
  items_end(&e);
}

Test(items, a_failure_is_known_by_its_parts) {
  struct evaluation e;
  items_evaluate(
      &e,
      "FUNC MAIN {@ prog.nesl:12:3 search } CONST BOOL (T F) CONST INT (1 7) CONST INT "
      "(2 3) ASSERT \"Out of bounds.\" CONST INT 1 RET",
      test_options(), NULL, 0);
  cr_assert_eq(e.outcome, MACHINE_ERROR);
  const struct machine_failure *f = machine_failure(e.machine);
  cr_expect_eq(f->cause, MACHINE_CAUSE_ASSERT);
  cr_expect_eq(f->text_length, strlen("Out of bounds."));
  cr_expect_eq(strncmp(f->text, "Out of bounds.", f->text_length), 0);
  cr_expect_eq(f->value, 7);
  cr_expect_eq(f->limit, 3);
  cr_expect_eq(f->position, 1);
  const struct origin *origin = origin_at(&e.program->origins, f->origin);
  cr_assert_not_null(origin);
  cr_expect_str_eq(origin->file, "prog.nesl");
  cr_expect_eq(origin->pos.line, 12);
  cr_expect_eq(origin->pos.column, 3);
  cr_expect_str_eq(origin->function, "search");
  items_end(&e);

  struct machine_options options = test_options();
  options.max_depth = 100;
  items_evaluate(&e,
                 "FUNC MAIN CALL DOWN RET FUNC DOWN CONST BOOL F IF CONST INT 0 ELSE CALL DOWN "
                 "CONST INT 1 + INT ENDIF RET",
                 options, NULL, 0);
  cr_expect_eq(e.outcome, MACHINE_ERROR);
  cr_expect_eq(machine_failure(e.machine)->cause, MACHINE_CAUSE_LIMIT);
  items_end(&e);

  items_evaluate(&e, "FUNC MAIN CONST INT 1 CONST INT 0 / INT RET", test_options(), NULL, 0);
  cr_expect_eq(e.outcome, MACHINE_ERROR);
  f = machine_failure(e.machine);
  cr_expect_eq(f->cause, MACHINE_CAUSE_OPERATION);
  cr_expect_eq(f->origin, 0);
  cr_expect_str_eq(items_message(&e) + f->instruction, "division by zero at element 0");
  items_end(&e);
}

/* If any allocation fails, that is an error and no memory is lost. */
Test(items, failing_allocations) {
  static const int64_t ints[] = {10, 20, 30};
  const struct machine_item item = {.kind = MACHINE_INT, .length = 3, .as.ints = ints};
  enum { ENOUGH = 200 };
  struct outcomes o = {0};
  for (uint64_t n = 1; n <= ENOUGH; n++) {
    struct machine_options options = test_options();
    options.widths = all_widths[n / 2 % 2];
    options.fail_allocation = n;
    struct evaluation e;
    items_evaluate(&e, "FUNC MAIN RET FUNC FN COPY 1 0 + INT CONST SEGDES (1 2) RET", options,
                   &item, 1);
    count_outcome(&o, e.outcome, &e.results, 2, e.machine, &e.diags);
    items_end(&e);
  }
  cr_expect(o.failed > 5 && o.done > 5, "%u failed, %u did not", o.failed, o.done);
}
