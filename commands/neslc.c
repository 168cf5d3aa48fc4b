/* neslc.c - the command that compiles NESL to VCODE.
 *
 * The forms of the file are read as `nesl` would; of them only assignments are evaluated, since
 * what is compiled may mention their variables.
 */
#include "commands/library-make.h"
#include "commands/nesl.h"
#include "commands/neslc-library.h"
#include "commands/output.h"
#include "commands/process.h"
#include "fcode-opt/fcode-opt.h"
#include "neslc/flatten/flatten.h"

#include <stdlib.h>
#include <string.h>

struct compilation {
  const struct neslc_options *options;
  const struct form *last;    /* the last expression of the file, or NULL ... */
  struct region *last_region; /* ... and the memory it is in, held */
  unsigned failed;
  FILE *say; /* for --print-after */
  struct ir_program *program;
};

/* ---- reading ---- */

static bool note_form(struct nesl *n, void *context, const struct nesl_done *it) {
  struct compilation *c = context;
  if (it->outcome.error != NESL_OK) {
    c->failed++;
    nesl_complain(n);
  } else if (it->form->kind == FORM_EXPRESSION) {
    c->last = it->form;
    region_let_go(n->session, c->last_region);
    c->last_region = n->session->region;
    region_hold(c->last_region);
  }
  if (it->form && c->options->after_parse) {
    show_form(it->form, c->say);
    fputc('\n', c->say);
  }
  return true;
}

/* Reads one form from -e; NULL after complaining. */
static const struct form *read_expression(struct nesl *n, const char *text) {
  const struct source *source = nesl_typed_source(n, text);
  if (!source) return NULL;
  struct reader reader;
  struct form *form = arena_alloc(&n->arena, sizeof *form);
  reader_init(&reader, &n->arena, &n->session->names, source);
  reader.widths = n->options->widths;
  return read_form(&reader, &n->complaints, form) == READ_FORM ? form : NULL;
}

/* ---- compiling ---- */

static bool wrong_target(struct nesl *n, const char *file, const char *what, const char *name) {
  diag_add(&n->diags, SEVERITY_ERROR, file, (struct source_pos){0}, NULL, "%s%s", what, name);
  return false;
}

static bool compile_function(struct nesl *n, struct compilation *c,
                             const struct flatten_options *flatten) {
  struct making m = {.n = n, .o = c->options, .l.arena = &n->arena};
  struct type *argument = NULL;
  struct global *g = library_target(&m, c->options->entry, &argument);
  if (!g) return false;
  if (c->options->after_check && g->body) {
    core_show(g->body, c->say);
    fputc('\n', c->say);
  }
  c->program = flatten_function(n->session, g, argument, flatten, &n->complaints);
  return c->program != NULL;
}

/* A function among the components of a type, which a program cannot leave as its result. */
static bool holds_function(struct type *t) {
  t = type_of(t);
  if (t->tag == TYPE_FUNCTION) return true;
  return t->tag == TYPE_PAIR && (holds_function(t->part[0]) || holds_function(t->part[1]));
}

static bool has_result(struct nesl *n, const struct form *form, const struct core *value) {
  if (!holds_function(value->type)) return true;
  complain(
      &n->complaints, NESL_TYPE, form->source, value->at,
      "a program cannot leave a function as its result: --entry F compiles a function, which "
      "takes its argument from the stack");
  return false;
}

static bool compile_form(struct nesl *n, struct compilation *c, const struct form *form,
                         const struct flatten_options *flatten) {
  struct checked checked = {0};
  if (!check_form(n->session, form, &n->complaints, &checked)) return false;
  if (!checked.value || checked.pattern) {
    complain(&n->complaints, NESL_PARSE, form->source, form->at, "this is no expression");
    return false;
  }
  if (!has_result(n, form, checked.value)) return false;
  if (session_find_missing(n->session, checked.value, &n->complaints)) return false;
  if (c->options->after_check) {
    core_show(checked.value, c->say);
    fputc('\n', c->say);
  }
  c->program = flatten_expression(n->session, checked.value, flatten, &n->complaints);
  return c->program != NULL;
}

/* Where functions were defined: for showing their lines. */
struct sources {
  struct arena *arena;
  ARRAY(const struct source *) list;
};

static void add_compiled_source(struct sources *s, const struct source *source) {
  for (size_t i = 0; i < s->list.count; i++) {
    if (s->list.items[i] == source) return;
  }
  *array_push(s->arena, &s->list) = source;
}

static void add_source_of(void *context, struct global *g) {
  if (g->form) add_compiled_source(context, g->form->source);
}

static void show_flattened(struct nesl *n, const struct compilation *c,
                           const struct form *form) {
  struct sources s = {.arena = &n->arena};
  if (form) add_compiled_source(&s, form->source);
  session_each(n->session, add_source_of, &s);
  flatten_show(c->program, s.list.items, s.list.count, c->say);
}

static bool compile_forms(struct nesl *n, struct compilation *c) {
  const struct form *form = NULL;
  const struct neslc_options *o = c->options;
  const struct flatten_options flatten = {.widths = o->session.widths,
                                          .unchecked = o->session.unchecked,
                                          .combine = !o->portable && !o->no_fusion,
                                          .procedures = !o->portable && !o->no_fusion &&
                                                        !o->session.classic,
                                          .explain = o->explain ? c->say : NULL};
  nesl_forget(n);
  if (o->entry) {
    if (!compile_function(n, c, &flatten)) return false;
  } else {
    form = o->expression ? read_expression(n, o->expression) : c->last;
    if (!form && !o->expression) {
      return wrong_target(n, o->file, "there is no expression to compile; see -e and --entry",
                          "");
    }
    if (!form || !compile_form(n, c, form, &flatten)) return false;
  }
  if (o->portable && !flatten_portable(&n->arena, c->program, o->file, &n->diags)) return false;
  if (o->after_flatten) show_flattened(n, c, form);
  return true;
}

/* ---- the command ---- */

/* Returns PROGRAM.vcode for PROGRAM.nesl, "-" for "-"; it is the arena's. */
static const char *output_name(struct nesl *n, const struct neslc_options *o) {
  if (o->output) return o->output;
  if (strcmp(o->file, "-") == 0) return "-";
  const char *point = strrchr(o->file, '.');
  bool known = point && strcmp(point, ".nesl") == 0;
  return arena_printf(&n->arena, "%.*s.vcode",
                      (int)(known ? (size_t)(point - o->file) : strlen(o->file)), o->file);
}

static bool neslc_write_program(struct nesl *n, const struct compilation *c, const char *file) {
  struct vcode_program *vcode = fcode_opt_stack_code(&n->arena, c->program, &n->diags);
  struct output_file out;
  if (!vcode || !output_begin(&out, file, &n->diags)) return false;
  vcode_print(vcode, out.stream);
  return output_end(&out, file, &n->diags);
}

static bool neslc_execute(struct nesl *n, const struct neslc_options *o) {
  const char *file = o->library ? "-" : output_name(n, o);
  struct compilation c = {.options = o, .say = strcmp(file, "-") == 0 ? stderr : stdout};
  const struct source *source = nesl_read_file(n, o->file);
  if (!source) return false;
  region_hold(source->region); /* for messages about the program */
  n->reading = (struct nesl_reading){.file = source->name};
  nesl_each_form(n, source, note_form, &c, NULL);
  if (c.failed > 0) {
    nesl_forget(n); /* reported already */
    return false;
  }
  n->heap.stop = n->stop;
  const bool compiled = o->library ? neslc_library(n, o) : compile_forms(n, &c);
  n->heap.stop = NULL;
  if (compiled && (o->library || neslc_write_program(n, &c, file))) return true;
  nesl_settle(n, NULL, (struct span){0});
  return false;
}

static bool neslc_execute_guarded(struct nesl *n, struct neslc_options *o) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    n->heap.stop = NULL;
    diag_add(&n->diags, SEVERITY_ERROR, o->file, (struct source_pos){0}, NULL, "out of memory");
    nesl_settle(n, NULL, (struct span){0});
    return false;
  }
  bool fine = nesl_begin(n, &o->session, stderr, process_stop());
  n->extent = EVALUATE_ASSIGNMENTS;
  n->silent = true;
  o->session.classic = false; /* what variables are is no result, NaN included */
  fine = fine && neslc_execute(n, o);
  memory_guard_end(&guard);
  return fine;
}

static int neslc_run(struct neslc_options *o) {
  struct nesl n = {0};
  heap_init(&n.message_heap, DIAG_MEMORY);
  arena_init(&n.messages, &n.message_heap);
  const bool fine = neslc_execute_guarded(&n, o);
  if (!fine) diag_print(&n.diags, "neslc", MAX_ERRORS_SHOWN, stderr);
  nesl_end(&n);
  return fine ? STATUS_DONE : process_failed();
}

static int neslc_command(int argc, char **argv) {
  struct neslc_options options;
  if (!neslc_options_parse(&options, argc, argv)) return STATUS_USAGE;
  if (shared_answered(&options.session.shared, neslc_options_help,
                      "neslc (Ravel) " RAVEL_VERSION)) {
    return STATUS_DONE;
  }
  return neslc_run(&options);
}

int main(int argc, char **argv) {
  return process_main("neslc", neslc_command, argc, argv);
}
