/* fixture.c - runs programs from strings and keeps their output. */
#include "vinterp/tests/fixture.h"

#include "cvl/oracle/oracle.h"
#include "ir/tests/parse.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct machine_options test_options(void) {
  struct machine_options options = machine_default_options();
  options.backend = &cvl_oracle_backend;
  options.threads = 2;
  options.memory_limit = UINT64_C(1) << 30;
  return options;
}

/* Opens a FILE that collects into memory. */
static FILE *fixture_collect(char **text, size_t *size) {
  FILE *file = open_memstream(text, size);
  if (!file) abort();
  return file;
}

/* Writes a program as let-form and reads it back. */
static struct ir_program *reread(struct arena *arena, const struct ir_program *program,
                                 struct diag_list *diags) {
  char *text;
  size_t size;
  FILE *file = fixture_collect(&text, &size);
  ir_print(program, file);
  fclose(file);
  const char *copy = arena_copy(arena, text, size);
  free(text);
  return ir_parse(arena, "let-form", copy, size, diags);
}

/* How a text becomes a program. */
enum form { VCODE, REREAD, LET_FORM };

/* Whether a line of the let-form has a position. */
static bool fixture_has_position(const char *line) {
  static const char *const without[] = {"let-form", "yield", "else", "end", "never", "\n"};
  line += strspn(line, " ");
  for (size_t k = 0; k < sizeof without / sizeof without[0]; k++) {
    if (strncmp(line, without[k], strlen(without[k])) == 0) return false;
  }
  return *line != '\0';
}

static const char *fixture_with_positions(struct arena *arena, const char *text) {
  char *out;
  size_t size;
  FILE *file = fixture_collect(&out, &size);
  for (unsigned line = 1; *text; line++) {
    const size_t n = strcspn(text, "\n");
    fprintf(file, "%.*s", (int)n, text);
    if (fixture_has_position(text)) fprintf(file, " @%u:1", line);
    fputc('\n', file);
    text += n + (text[n] != '\0');
  }
  fclose(file);
  const char *copy = arena_copy(arena, out, size + 1);
  free(out);
  return copy;
}

struct ir_program *program_of_let(struct arena *arena, const char *text,
                                  struct diag_list *diags) {
  text = fixture_with_positions(arena, text);
  return ir_parse(arena, "test.ir", text, strlen(text), diags);
}

static struct ir_program *fixture_load(const char *text, const struct machine_options *options,
                                       enum form form, struct arena *arena,
                                       struct diag_list *diags) {
  if (form == LET_FORM) return program_of_let(arena, text, diags);
  struct vcode_program *vcode =
      vcode_parse(arena, "test.vcode", text, strlen(text), options->widths, diags);
  struct ir_program *program = vcode ? ir_build(arena, vcode, options->widths, diags) : NULL;
  return program && form == REREAD ? reread(arena, program, diags) : program;
}

static void load_and_run(struct ran *ran, const char *text,
                         const struct machine_options *options, enum form form,
                         struct arena *arena, struct diag_list *diags) {
  struct ir_program *program = fixture_load(text, options, form, arena, diags);
  ran->load_allocations = arena->heap->count;
  if (!program) return;
  ran->loaded = true;
  arena->heap->fail_at = 0;
  struct machine *machine = machine_new(options, diags);
  if (!machine) abort();
  ran->outcome = machine_run(machine, program, diags);
  machine_free(machine);
}

/* Does the same. If memory runs out during loading, nothing is known of the program. */
static void load_and_run_guarded(struct ran *ran, const char *text,
                                 const struct machine_options *options, enum form form,
                                 struct arena *arena, struct diag_list *diags) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return;
  load_and_run(ran, text, options, form, arena, diags);
  memory_guard_end(&guard);
}

static struct ran fixture_run(const char *text, const char *input,
                              struct machine_options options, enum form form,
                              uint64_t load_failure) {
  struct ran ran = {.outcome = MACHINE_ERROR};
  size_t out_size, err_size, diags_size;
  options.out = fixture_collect(&ran.out, &out_size);
  options.err = fixture_collect(&ran.err, &err_size);
  options.in = tmpfile();
  if (!options.in) abort();
  fputs(input, options.in);
  rewind(options.in);

  struct heap heap;
  heap_init(&heap, 0);
  heap.fail_at = load_failure;
  struct arena arena;
  arena_init(&arena, &heap);
  struct diag_list diags;
  diag_list_init(&diags, &arena);
  load_and_run_guarded(&ran, text, &options, form, &arena, &diags);
  FILE *stream = fixture_collect(&ran.diags, &diags_size);
  diag_print(&diags, "test", 0, stream);
  fclose(stream);
  ran.errors = diags.errors;
  arena_free(&arena);
  ran.leaked = heap.live != 0;
  fclose(options.in);
  fclose(options.out);
  fclose(options.err);
  return ran;
}

struct ran run_with(const char *text, const char *input, struct machine_options options,
                    uint64_t load_failure) {
  return fixture_run(text, input, options, VCODE, load_failure);
}

struct ran run_text(const char *text, struct machine_options options) {
  return fixture_run(text, "", options, VCODE, 0);
}

struct ran run_let_form(const char *text, struct machine_options options) {
  return fixture_run(text, "", options, REREAD, 0);
}

struct ran run_let_text(const char *text, struct machine_options options) {
  return fixture_run(text, "", options, LET_FORM, 0);
}

void ran_free(struct ran *ran) {
  free(ran->out);
  free(ran->err);
  free(ran->diags);
}

bool printed(const struct ran *ran, const char *expected) {
  return ran->loaded && ran->outcome == MACHINE_DONE && ran->errors == 0 &&
         strcmp(ran->out, expected) == 0;
}

void expect_printed(const char *text, const char *expected) {
  for (int checked = 0; checked < 2; checked++) {
    struct machine_options options = test_options();
    options.checked = checked;
    struct ran ran = run_text(text, options);
    cr_expect(printed(&ran, expected), "%s%s", ran.out, ran.diags);
    ran_free(&ran);
  }
}

struct ir_program *program_of(struct arena *arena, const char *text, struct widths widths,
                              struct diag_list *diags) {
  struct vcode_program *vcode =
      vcode_parse(arena, "test.vcode", text, strlen(text), widths, diags);
  struct ir_program *program = vcode ? ir_build(arena, vcode, widths, diags) : NULL;
  cr_assert(program, "%s: %s", text, diags->list.count ? diags->list.items[0].message : "");
  return program;
}

struct ir_program *program_of_last(struct arena *arena, const char *text, struct widths widths,
                                   struct diag_list *diags) {
  struct ir_program *program = program_of(arena, text, widths, diags);
  program->entry = program->function_count - 1;
  return program;
}

bool failed_with(const struct ran *ran, const char *const *texts) {
  if (ran->errors != 1 || ran->out[0]) return false;
  if (ran->loaded && ran->outcome != MACHINE_ERROR) return false;
  const char *rest = ran->diags;
  for (; *texts; texts++) {
    rest = strstr(rest, *texts);
    if (!rest) return false;
    rest += strlen(*texts);
  }
  return true;
}

void count_outcome(struct outcomes *outcomes, enum machine_outcome outcome,
                   const struct machine_results *results, uint64_t count,
                   const struct machine *machine, const struct diag_list *diags) {
  const bool done = outcome == MACHINE_DONE;
  outcomes->done += done;
  outcomes->failed += !done;
  cr_expect_eq(results->count, done ? count : 0);
  if (done) return;
  cr_expect_eq(machine_failure(machine)->cause, MACHINE_CAUSE_LIMIT, "%s",
               diags->list.count ? diags->list.items[0].message : "");
}
