/* fixture.c - running programs from strings and keeping what they say. */
#include "vinterp/tests/fixture.h"

#include "cvl/oracle.h"
#include <stdlib.h>
#include <string.h>

struct machine_options quiet_options(void) {
  struct machine_options options = machine_default_options();
  options.backend = &cvl_oracle_backend;
  options.threads = 2;
  options.memory_limit = UINT64_C(1) << 30;
  return options;
}

/* A FILE that collects into memory. */
static FILE *collect(char **text, size_t *size) {
  FILE *file = open_memstream(text, size);
  if (!file) abort();
  return file;
}

static void load_and_run(struct ran *ran, const char *text,
                         const struct machine_options *options, struct arena *arena,
                         struct diag_list *diags) {
  if (setjmp(arena->out_of_memory)) return;
  struct vcode_program *vcode =
      vcode_parse(arena, "test.vcode", text, strlen(text), options->widths, diags);
  if (!vcode) return;
  struct ir_program *program = ir_build(arena, vcode, options->widths, diags);
  ran->load_allocations = arena->heap->count;
  if (!program) return;
  ran->loaded = true;
  arena->heap->fail_at = 0;
  struct machine *machine = machine_new(options, diags);
  if (!machine) abort();
  ran->outcome = machine_run(machine, program, diags);
  machine_free(machine);
}

struct ran run_with(const char *text, const char *input, struct machine_options options,
                    uint64_t load_failure) {
  struct ran ran = {.outcome = MACHINE_ERROR};
  size_t out_size, err_size, diags_size;
  options.out = collect(&ran.out, &out_size);
  options.err = collect(&ran.err, &err_size);
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
  load_and_run(&ran, text, &options, &arena, &diags);
  FILE *told = collect(&ran.diags, &diags_size);
  diag_print(&diags, "test", 0, told);
  fclose(told);
  ran.errors = diags.errors;
  arena_free(&arena);
  ran.leaked = heap.live != 0;
  fclose(options.in);
  fclose(options.out);
  fclose(options.err);
  return ran;
}

struct ran run_text(const char *text, struct machine_options options) {
  return run_with(text, "", options, 0);
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
