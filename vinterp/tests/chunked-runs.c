/* chunked-runs.c - programs with batch calls, run with chunks of all sizes. */
#include "vinterp/tests/chunked-runs.h"
#include <criterion/criterion.h>
#include <string.h>

static const struct machine_chunks sizes[] = {
    {MACHINE_CHUNKS_FIXED, 1},  {MACHINE_CHUNKS_FIXED, 2},  {MACHINE_CHUNKS_FIXED, 3},
    {MACHINE_CHUNKS_FIXED, 7},  {MACHINE_CHUNKS_RANDOM, 1}, {MACHINE_CHUNKS_RANDOM, 2},
    {MACHINE_CHUNKS_RANDOM, 3}, {MACHINE_CHUNKS_AUTO, 0},
};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

struct ran run_chunked(const char *text, struct machine_options options,
                       struct machine_chunks chunks) {
  options.chunks = chunks;
  return run_let_text(text, options);
}

static void chunked_runs_expect_same(const struct chunked *p, const struct ran *whole,
                                     const struct ran *ran, struct machine_chunks chunks) {
  const char *name = p->name;
  cr_expect_eq(ran->outcome, whole->outcome, "%s, mode %d %lu: %s", name, chunks.mode, chunks.n,
               ran->diags);
  cr_expect_str_eq(ran->out, whole->out, "%s, mode %d %lu:\n%s\nnot\n%s", name, chunks.mode,
                   chunks.n, ran->out, whole->out);
  cr_expect_str_eq(ran->diags, whole->diags, "%s, mode %d %lu:\n%s\nnot\n%s", name, chunks.mode,
                   chunks.n, ran->diags, whole->diags);
}

/* Expects the same with chunks of all sizes as without chunks. */
void chunked_expect_all(const struct chunked *p, struct machine_options options) {
  struct ran whole =
      run_chunked(p->text, test_options(), (struct machine_chunks){.mode = MACHINE_CHUNKS_OFF});
  cr_expect(whole.loaded, "%s: %s", p->name, whole.diags);
  if (p->word) cr_expect(strstr(whole.diags, p->word), "%s: %s", p->name, whole.diags);
  if (!p->word) cr_expect_eq(whole.errors, 0, "%s: %s", p->name, whole.diags);
  for (unsigned k = 0; k < SIZES; k++) {
    struct ran ran = run_chunked(p->text, options, sizes[k]);
    chunked_runs_expect_same(p, &whole, &ran, sizes[k]);
    ran_free(&ran);
  }
  ran_free(&whole);
}

const char *chunked_text(const char *name) {
  for (size_t k = 0; k < chunked_count; k++) {
    if (strcmp(chunked[k].name, name) == 0) return chunked[k].text;
  }
  cr_assert_fail("there is no program %s", name);
  return NULL;
}

/* Lets each allocation fail once: in a chunk, which is then halved, or elsewhere, which is an
 * error. */
void chunked_sweep(const char *name, struct machine_options options,
                   struct machine_chunks chunks) {
  enum { MOST = 400 };
  unsigned failures = 0;
  struct ran whole = run_chunked(chunked_text(name), options, chunks);
  for (uint64_t n = 1; n <= MOST; n++) {
    options.fail_allocation = n;
    struct ran ran = run_chunked(chunked_text(name), options, chunks);
    const bool failed = ran.errors > 0;
    failures += failed;
    cr_expect_str_eq(ran.out, failed ? "" : whole.out, "%s, failure %lu:\n%s\nnot\n%s%s", name,
                     n, ran.out, whole.out, ran.diags);
    cr_expect_eq(ran.errors, failed, "%s, failure %lu: %s", name, n, ran.diags);
    if (failed)
      cr_expect(strstr(ran.diags, "memory"), "%s, failure %lu: %s", name, n, ran.diags);
    ran_free(&ran);
  }
  cr_expect(failures > 3 && failures < MOST, "%s: %u", name, failures);
  ran_free(&whole);
}

/* Does the same with a fault: that of the run without chunks is reported, or the lack of
 * memory. If there is no memory, the message has no calls. */
void chunked_sweep_fault(const char *name, struct machine_options options, uint64_t instances) {
  enum { MOST = 500 };
  const struct machine_chunks chunks = {MACHINE_CHUNKS_FIXED, instances};
  unsigned failures = 0, faults = 0;
  struct ran whole = run_chunked(chunked_text(name), options,
                                 (struct machine_chunks){.mode = MACHINE_CHUNKS_OFF});
  for (uint64_t n = 1; n <= MOST; n++) {
    options.fail_allocation = n;
    struct ran ran = run_chunked(chunked_text(name), options, chunks);
    const bool memory = strstr(ran.diags, "memory") != NULL;
    failures += memory;
    faults += !memory;
    cr_expect_eq(ran.errors, 1, "%s, failure %lu: %s", name, n, ran.diags);
    if (!memory) {
      cr_expect_arr_eq(ran.diags, whole.diags, strcspn(whole.diags, "\n"),
                       "%s, failure %lu:\n%s\nnot\n%s", name, n, ran.diags, whole.diags);
    }
    ran_free(&ran);
  }
  cr_expect(failures > 3 && faults > 3, "%s: %u, %u", name, failures, faults);
  ran_free(&whole);
}

void chunked_expect_again(struct machine_options options) {
#define DIVIDES(numbers)                                                                       \
  "FUNC MAIN CONST SEGDES 7 CONST INT (" numbers ") CALL BODY RET\n"                           \
  "FUNC BODY {% instances shared each -> each } COPY 1 0 / INT POP 1 1 RET\n"
  static const struct {
    const char *text, *message;
  } runs[] = {{DIVIDES("1 2 3 4 5 0 6"), "/ INT: division by zero at element 5"},
              {DIVIDES("1 2 3 0 5 0 6"), "/ INT: division by zero at element 3"},
              {DIVIDES("0 2 3 0 5 0 6"), "/ INT: division by zero at element 0"}};
  options.chunks = (struct machine_chunks){MACHINE_CHUNKS_FIXED, 2};
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
  heap_init(&heap, 0);
  arena_init(&arena, &heap);
  diag_list_init(&diags, &arena);
  struct machine *machine = machine_new(&options, &diags);
  for (unsigned k = 0; k < 3; k++) {
    diag_list_init(&diags, &arena);
    struct ir_program *program = program_of(&arena, runs[k].text, options.widths, &diags);
    cr_expect_eq(machine_run(machine, program, &diags), MACHINE_ERROR);
    cr_assert_eq(diags.errors, 1);
    cr_expect_str_eq(diags.list.items[0].message, runs[k].message);
  }
  machine_free(machine);
  arena_free(&arena);
}
