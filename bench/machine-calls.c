/* machine-calls.c - what a call of a prepared program costs, through vinterp/machine.h:
 * programs of a few instructions on values that stay in the back end. The limit of a call on
 * scalars is 3 microseconds.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "cvl/plugin.h"
#include "vinterp/machine.h"

static const double limit_seconds = 3e-3;

enum { CALLS = 1000, TIMES = 20 }; /* a round has so many times so many */

struct program {
  const char *name, *text;
  uint64_t length; /* of the argument */
};

static const struct program programs[] = {
    {"nothing", "FUNC MAIN RET FUNC FN RET", 1},
    {"two scalar instructions", "FUNC MAIN RET FUNC FN COPY 1 0 * INT CONST INT 1 + INT RET",
     1},
    {"two and a call",
     "FUNC MAIN RET FUNC ID RET "
     "FUNC FN CONST INT 1 + INT CALL ID CONST INT 1 + INT RET",
     1},
    {"one on 100 elements", "FUNC MAIN RET FUNC FN COPY 1 0 * INT RET", 100},
};

/* A machine with a program and its argument. */
struct caller {
  struct machine *machine;
  struct machine_program *program;
  struct cvl_value argument;
  struct diag_list diags;
};

static _Noreturn void give_up(const struct caller *c) {
  diag_print(&c->diags, "bench-machine-calls", 0, stderr);
  exit(1);
}

static void call_often(struct caller *c) {
  for (int k = 0; k < TIMES * CALLS; k++) {
    struct cvl_value result;
    if (machine_call(c->machine, c->program, &c->argument, 1, &result, 1, &c->diags) !=
        MACHINE_DONE) {
      give_up(c);
    }
    machine_release(c->machine, &result);
  }
}

static void measure(const struct measure_options *o, struct report *report, struct caller *c,
                    const char *name) {
  double time[MOST_ROUNDS], limit[MOST_ROUNDS];
  call_often(c);
  for (unsigned r = 0; r < o->rounds; r++) {
    const double start = measure_now(o, 1);
    call_often(c);
    time[r] = (measure_now(o, 1) - start) / TIMES;
    limit[r] = limit_seconds;
  }
  report_line(report, &(struct report_line){.name = name,
                                            .elem = "i64",
                                            .detail = "",
                                            .threads = 1,
                                            .rounds = o->rounds,
                                            .time = time,
                                            .limit = limit,
                                            .target = 1,
                                            .at_most = true});
}

/* The entry is the last function, since MAIN itself takes nothing. */
static const struct ir_program *load(struct caller *c, struct arena *arena, const char *text) {
  const struct widths widths = machine_default_options().widths;
  struct vcode_program *vcode =
      vcode_parse(arena, "bench", text, strlen(text), widths, &c->diags);
  struct ir_program *program = vcode ? ir_build(arena, vcode, widths, &c->diags) : NULL;
  if (!program) give_up(c);
  program->entry = program->function_count - 1;
  return program;
}

static void run(const struct measure_options *o, struct report *report,
                const struct cvl_backend *backend, const struct program *p) {
  static int64_t ones[100];
  struct heap heap;
  struct arena arena;
  struct caller c;
  struct machine_options options = machine_default_options();
  const struct machine_item item = {.length = p->length, .as.ints = ones};
  heap_init(&heap, 0);
  arena_init(&arena, &heap);
  diag_list_init(&c.diags, &arena);
  options.backend = backend;
  options.threads = o->threads[0];
  const struct ir_program *program = load(&c, &arena, p->text);
  c.machine = machine_new(&options, &c.diags);
  if (!c.machine) give_up(&c);
  c.program = machine_prepare(c.machine, program, &c.diags);
  if (!c.program || !machine_value_item(c.machine, &item, &c.argument, &c.diags)) give_up(&c);
  measure(o, report, &c, p->name);
  machine_release(c.machine, &c.argument);
  machine_forget(c.machine, c.program);
  machine_free(c.machine);
  arena_free(&arena);
}

int main(int argc, char **argv) {
  const struct measure_options o = measure_options(argc, argv);
  char why[PLUGIN_WHY_MAX] = "";
  const struct cvl_backend *backend = cvl_backend_find(o.backend);
  if (!backend) backend = plugin_open(o.backend, why);
  if (!backend) {
    fprintf(stderr, "no back end %s: %s\n", o.backend, why);
    return 1;
  }
  struct report report = report_open(&o, "machine-calls");
  for (size_t k = 0; k < sizeof programs / sizeof programs[0]; k++) {
    if (measure_wants(&o, programs[k].name)) run(&o, &report, backend, &programs[k]);
  }
  report_close(&report);
  return 0;
}
