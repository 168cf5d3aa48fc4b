/* test-chunks.c - calls by instances, cut into chunks of all sizes: the same results and the same
 * diagnostics as in one piece.
 */
#include "cvl/delayed.h"
#include "cvl/oracle.h"
#include "vinterp/tests/chunked-programs.h"
#include "vinterp/tests/fixture.h"
#include <criterion/criterion.h>
#include <string.h>

DELAYED_BACKEND(delayed_oracle, "delayed", cvl_oracle_backend)

static const struct machine_chunks sizes[] = {
    {MACHINE_CHUNKS_FIXED, 1},  {MACHINE_CHUNKS_FIXED, 2},  {MACHINE_CHUNKS_FIXED, 3},
    {MACHINE_CHUNKS_FIXED, 7},  {MACHINE_CHUNKS_RANDOM, 1}, {MACHINE_CHUNKS_RANDOM, 2},
    {MACHINE_CHUNKS_RANDOM, 3}, {MACHINE_CHUNKS_AUTO, 0},
};
enum { SIZES = sizeof sizes / sizeof sizes[0], SEEDS = 4 };

static struct ran run_chunked(const char *text, struct machine_options options,
                              struct machine_chunks chunks) {
  options.chunks = chunks;
  return run_let_text(text, options);
}

static void expect_same(const struct chunked *p, const struct ran *whole,
                        const struct ran *ran, struct machine_chunks chunks) {
  const char *name = p->name;
  cr_expect_eq(ran->outcome, whole->outcome, "%s, mode %d %lu: %s", name, chunks.mode, chunks.n,
               ran->diags);
  cr_expect_str_eq(ran->out, whole->out, "%s, mode %d %lu:\n%s\nnot\n%s", name, chunks.mode,
                   chunks.n, ran->out, whole->out);
  cr_expect_str_eq(ran->diags, whole->diags, "%s, mode %d %lu:\n%s\nnot\n%s", name, chunks.mode,
                   chunks.n, ran->diags, whole->diags);
}

/* With chunks of all sizes as uncut. */
static void expect_all_same(const struct chunked *p, struct machine_options options) {
  struct ran whole = run_chunked(p->text, test_options(),
                                 (struct machine_chunks){.mode = MACHINE_CHUNKS_OFF});
  cr_expect(whole.loaded, "%s: %s", p->name, whole.diags);
  if (p->word) cr_expect(strstr(whole.diags, p->word), "%s: %s", p->name, whole.diags);
  if (!p->word) cr_expect_eq(whole.errors, 0, "%s: %s", p->name, whole.diags);
  for (unsigned k = 0; k < SIZES; k++) {
    struct ran ran = run_chunked(p->text, options, sizes[k]);
    expect_same(p, &whole, &ran, sizes[k]);
    ran_free(&ran);
  }
  ran_free(&whole);
}

Test(chunks, results_and_faults_are_those_of_one_piece) {
  for (size_t k = 0; k < chunked_count; k++) expect_all_same(&chunked[k], test_options());
}

static struct cvl_backend table;

Test(chunks, on_a_back_end_that_does_everything_late) {
  struct machine_options options = test_options();
  options.backend = delayed_oracle(&table);
  for (options.device = 0; options.device < SEEDS; options.device++) {
    for (size_t k = 0; k < chunked_count; k++) expect_all_same(&chunked[k], options);
  }
}
