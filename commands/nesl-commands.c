/* nesl-commands.c - executes the commands of the top level (NESL specification, section 4.4).
 */
#include "base/number.h"
#include "commands/nesl.h"
#include "commands/output.h"
#include "commands/process.h"
#include "fcode-opt/fcode-opt.h"
#include "neslc/flatten/flatten.h"
#include "neslc/front/parse.h"
#include "neslc/modules.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { MOST_DEPTH = 100, MOST_LOADS = 10000 }; /* files that load each other; by one form */

/* A command as it was read. */
struct command {
  struct nesl *n;
  const struct form *form;
  const struct nesl_token *words;
  size_t count;
};

static struct span words_span(const struct command *c) {
  if (c->count == 0) return c->form->name_at;
  return span_over(c->words[0].at, c->words[c->count - 1].at);
}

#define command_error(c, ...)                                                                  \
  (complain(&(c)->n->complaints, NESL_PARSE, (c)->form->source, words_span(c), __VA_ARGS__),   \
   false)

static bool command_word_is(const struct command *c, size_t i, const char *text) {
  return i < c->count && c->words[i].kind == TOKEN_WORD &&
         strcmp(c->words[i].name->text, text) == 0;
}

/* The words as they were written, the arena's. */
static const char *command_text(const struct command *c) {
  struct span at = words_span(c);
  if (c->count == 0) return "";
  return arena_copy(c->n->session->arena, c->form->source->text + at.start, at.end - at.start);
}

/* ---- help ---- */

static bool help(struct command *c) {
  static const char text[] =
      "Forms end with `;` and may span lines:\n"
      "  EXPRESSION;                      evaluate and print; `it` is the latest value\n"
      "  PATTERN = EXPRESSION;            bind global variables\n"
      "  function NAME(PARAMETERS) = EXPRESSION;\n"
      "  datatype NAME(TYPE);\n"
      "Commands:\n"
      "  help;  or  ?                     this text\n"
      "  describe NAME;                   what a function, or a word as `let`, is and does\n"
      "  apropos TEXT;                    names that contain TEXT, with their types\n"
      "  set arg_check on;  or  off       checks of arguments at run time\n"
      "  set print_length N;              longest sequence printed in full\n"
      "  set print_total N;               most elements of a value printed; 0: all\n"
      "  set verbose on;  or  off         whether notices are printed\n"
      "  show status;                     the switches\n"
      "  show code NAME;                  the source of a function\n"
      "  load \"FILE\";                     execute the forms of a file; load; repeats the "
      "last\n"
      "  import \"FILE\" as NAME;           its definitions are called NAME.x\n"
      "  dump vcode \"FILE\" EXPRESSION;    write the VCODE of an expression\n"
      "  edit \"FILE\";  shell \"COMMAND\";   with --allow-spawn\n"
      "  cost EXPRESSION;                 its work and depth, and those of the compiled "
      "program\n"
      "  profile EXPRESSION;              what the compiled program spends its time on\n"
      "  time EXPRESSION;                 how long it takes\n"
      "  trace EXPRESSION;                calls of functions, with arguments and results\n"
      "  exit;  or  quit;                 leave, as the end of input does\n"
      "A word alone on a line needs no `;`: help, exit, the name of a variable.\n";
  if (!c->n->silent) fputs(text, c->n->out);
  return true;
}

/* ---- describe, apropos ---- */

/* The words from i on as a name, x or m.x, the arena's; NULL if they are something else. */
static const char *last_words_as_name(const struct command *c, size_t i) {
  const struct nesl_token *words = c->words + i;
  const size_t count = c->count - i;
  if (count == 1 && words[0].name) return words[0].name->text;
  if (count != 3 || !words[0].name || words[1].lexeme != LEX_DOT || !words[2].name) return NULL;
  return arena_printf(c->n->session->arena, "%s.%s", words[0].name->text, words[2].name->text);
}

static struct global *find_global(const struct command *c, size_t i) {
  const struct nesl_token *word = &c->words[i];
  const char *name = last_words_as_name(c, i);
  struct global *g = name ? session_global(c->n->session, name) : NULL;
  if (g) return g;
  if (!name) name = "this";
  const char *nearest =
      word->name && c->count == i + 1 ? session_nearest(c->n->session, name) : NULL;
  complain(&c->n->complaints, NESL_UNBOUND, c->form->source, word->at,
           "%s is not defined%s%s%s", name, nearest ? "; did you mean " : "",
           nearest ? nearest : "", nearest ? "?" : "");
  return NULL;
}

/* Finds the meaning of the first word as syntax; `[]` and `{}` have two tokens. Returns NULL if
 * it has none.
 */
static const struct nesl_syntax *syntax_of(const struct command *c) {
  const struct nesl_token *words = c->words;
  if (c->count == 0 || c->count > 2 || !words[0].name) return NULL;
  const struct nesl_syntax *syntax = nesl_find_syntax(words[0].name->text);
  if (c->count == 1) return syntax;
  return words[1].name && nesl_find_syntax(words[1].name->text) == syntax ? syntax : NULL;
}

/* A name may be a function and syntax, as `any` and `float`. */
static bool describe_command(struct command *c) {
  const struct nesl_syntax *syntax = syntax_of(c);
  if (!syntax && c->count != 1 && c->count != 3)
    return command_error(c, "describe takes one name");
  const char *name = last_words_as_name(c, 0);
  struct global *g = name ? session_global(c->n->session, name) : NULL;
  if (!g && !syntax && !(g = find_global(c, 0))) return false;
  if (c->n->silent) return true;
  nesl_describe(c->n, g, syntax);
  return true;
}

struct apropos {
  struct session *session;
  const char *text;
  FILE *out;
  unsigned found;
};

static void match_prefix(void *context, struct global *g) {
  struct apropos *a = context;
  if (!strstr(g->name->text, a->text) || g->name->text[0] == '_') return;
  if (!module_is_visible(a->session, g)) return;
  a->found++;
  if (a->out) nesl_put_type(session_read(a->session, g), a->out);
}

static bool apropos(struct command *c) {
  if (c->count == 0) return command_error(c, "apropos takes a text");
  char *text = arena_printf(c->n->session->arena, "%s", command_text(c));
  for (char *p = text; *p; p++) {
    if (*p >= 'A' && *p <= 'Z') *p = (char)(*p - 'A' + 'a');
  }
  struct apropos a = {c->n->session, text, c->n->silent ? NULL : c->n->out, 0};
  session_each(c->n->session, match_prefix, &a);
  if (a.found == 0 && a.out) fprintf(a.out, "No name contains %s.\n", text);
  return true;
}

/* ---- set, show ---- */

static bool set_switch(struct command *c, bool *value) {
  if (c->count == 2 && (command_word_is(c, 1, "on") || command_word_is(c, 1, "off"))) {
    *value = command_word_is(c, 1, "on");
    return true;
  }
  return command_error(c, "set %s takes on or off", c->words[0].name->text);
}

static bool set_count(struct command *c, uint64_t *value) {
  if (c->count != 2 || c->words[1].kind != TOKEN_INT) {
    return command_error(c, "set %s takes an integer that is not negative",
                         c->words[0].name->text);
  }
  *value = (uint64_t)c->words[1].integer;
  return true;
}

/* Sequences of this length are printed in full, whatever the limit for the whole value was. */
static bool set_print_length(struct command *c) {
  struct nesl *n = c->n;
  if (!set_count(c, &n->print_length)) return false;
  if (n->print_total > 0 && n->print_total < n->print_length) n->print_total = n->print_length;
  return true;
}

static bool set_command(struct command *c) {
  struct nesl *n = c->n;
  if (command_word_is(c, 0, "arg_check")) return set_switch(c, &n->session->argument_checks);
  if (command_word_is(c, 0, "verbose")) return set_switch(c, &n->verbose);
  if (command_word_is(c, 0, "print_length")) return set_print_length(c);
  if (command_word_is(c, 0, "print_total")) return set_count(c, &n->print_total);
  return command_error(c, "set takes arg_check, print_length, print_total or verbose");
}

static bool show_code(struct command *c) {
  if (c->count != 2 && c->count != 4) return command_error(c, "show code takes one name");
  struct global *g = find_global(c, 1);
  if (!g) return false;
  if (!g->form || g->form->kind == FORM_EXPRESSION || g->form->kind == FORM_ASSIGN) {
    return command_error(c, "%s is no function", g->name->text);
  }
  if (!c->n->silent) {
    show_form(g->form, c->n->out);
    fputc('\n', c->n->out);
  }
  return true;
}

/* A limit of what is printed, if there is one. */
static void put_limit(const char *name, bool limits, uint64_t limit, FILE *out) {
  char text[NUMBER_TEXT_MAX] = "none";
  if (limits) format_int(text, (int64_t)limit);
  fprintf(out, "%s %s\n", name, text);
}

static bool show_command(struct command *c) {
  const struct nesl *n = c->n;
  if (command_word_is(c, 0, "code")) return show_code(c);
  if (!command_word_is(c, 0, "status") || c->count != 1) {
    return command_error(c, "show takes status or code NAME");
  }
  if (n->silent) return true;
  fprintf(n->out, "arg_check %s\n", n->session->argument_checks ? "on" : "off");
  put_limit("print_length", n->print_length < UINT64_MAX, n->print_length, n->out);
  put_limit("print_total", n->print_total > 0, n->print_total, n->out);
  fprintf(n->out, "verbose %s\nevaluation %s%s on %s\n", n->verbose ? "on" : "off",
          n->options->direct ? "direct" : "compiled",
          n->options->optimise ? ", optimised," : "",
          n->options->direct ? "one value at a time" : n->options->backend_name);
  return true;
}

/* ---- load, dump ---- */

/* Whether commands have effects: if expressions are not evaluated, commands are only checked.
 */
static bool argument_has_effects(const struct command *c) {
  return c->n->extent == EVALUATE_ALL;
}

/* Returns the command's argument as a form. */
static struct form argument_form(const struct command *c) {
  return (struct form){.kind = FORM_EXPRESSION,
                       .source = c->form->source,
                       .at = c->form->argument->at,
                       .value = c->form->argument};
}

/* The command's argument, checked, which must be a string; NULL after complaining. */
static const struct core *check_string_argument(struct command *c, const struct form *form,
                                                struct checked *checked) {
  struct nesl *n = c->n;
  if (!check_form(n->session, form, &n->complaints, checked)) return NULL;
  struct type *type = type_of(checked->value->type);
  if (type->tag != TYPE_SEQUENCE || type_of(type->part[0])->tag != TYPE_CHAR) {
    complain(&n->complaints, NESL_TYPE, form->source, form->at, "%s takes a string, this is %s",
             c->form->name->text, type_text(n->session->arena, type, true));
    return NULL;
  }
  return session_find_missing(n->session, checked->value, &n->complaints) ? NULL
                                                                          : checked->value;
}

/* The characters of a value that is a string, the arena's. */
static const char *text_of_string(struct nesl *n, const struct nesl_value *value) {
  const struct column *chars = &value->columns[1];
  char *text = arena_alloc(n->session->arena, (size_t)chars->length + 1);
  for (uint64_t i = 0; i < chars->length; i++) text[i] = (char)chars->as.ints[i];
  return text;
}

/* The text of a string that is known without evaluation: a literal, a variable of the library,
 * or a concatenation of these. NULL for others. */
static const char *known_text(struct nesl *n, const struct core *e) {
  if (e->kind == CORE_STRING) {
    return arena_copy(n->session->arena, e->as.string.text, e->as.string.length);
  }
  if (e->kind == CORE_GLOBAL && e->as.use.global->kind == GLOBAL_VARIABLE &&
      session_library(n->session, e->as.use.global->name->text) == e->as.use.global) {
    return text_of_string(n, &e->as.use.global->value);
  }
  const struct global *callee = core_callee(e);
  if (!callee || callee->primitive != PRIM_APPEND || e->as.part.right->kind != CORE_PAIR) {
    return NULL;
  }
  const struct core *both = e->as.part.right;
  const char *left = known_text(n, both->as.part.left);
  const char *right = left ? known_text(n, both->as.part.right) : NULL;
  return right ? arena_printf(n->session->arena, "%s%s", left, right) : NULL;
}

static const char *evaluate_text(struct command *c, const struct checked *checked) {
  struct nesl *n = c->n;
  const struct evaluation e = {
      .session = n->session, .form = checked, .complaints = &n->complaints};
  struct nesl_value value;
  if (!n->evaluator->evaluate(n->evaluator, &e, &value)) return NULL;
  const char *text = text_of_string(n, &value);
  n->evaluator->release(n->evaluator); /* the command may evaluate more */
  return text;
}

/* The text of the command's argument, which must be a string; the arena's. Evaluates it only if
 * expressions are evaluated. NULL after complaining. */
static const char *string_argument(struct command *c) {
  const struct form form = argument_form(c);
  struct checked checked = {0};
  const struct core *value = check_string_argument(c, &form, &checked);
  if (!value) return NULL;
  const char *text = known_text(c->n, value);
  if (text) return text;
  if (c->n->extent != EVALUATE_NOTHING) return evaluate_text(c, &checked);
  complain(&c->n->complaints, NESL_RUNTIME, form.source, form.at,
           "nothing is evaluated here, and this file name would have to be: write it as a "
           "string");
  return NULL;
}

/* Whether the user wrote the name in the command's argument, and no program computed it. */
static bool typed(const struct command *c) {
  return c->n->reading.typed &&
         (!c->form->argument || c->form->argument->kind == SYNTAX_STRING);
}

bool nesl_begin_load(struct nesl *n, const struct form *form, struct span at) {
  const bool deep = n->load_depth == MOST_DEPTH;
  n->unwinding |= deep || n->loads == MOST_LOADS; /* else each file continues with its next
                                                     form, which may load, too */
  if (!deep && n->loads < MOST_LOADS) {
    n->load_depth++;
    n->loads++;
    return true;
  }
  complain(&n->complaints, NESL_PARSE, form->source, at,
           deep ? "more than %d files load each other" : "more than %d loads",
           deep ? MOST_DEPTH : MOST_LOADS);
  return false;
}

bool nesl_complain_of_load(struct nesl *n, const struct form *form, struct span at,
                           unsigned failed, const char *file) {
  if (n->unwinding) {
    n->complaints.first = NESL_LIMIT;
    return false;
  }
  complain(&n->complaints, NESL_PARSE, form->source, at, "%u form%s of %s failed", failed,
           failed == 1 ? "" : "s", file);
  return false;
}

static bool load_command(struct command *c) {
  struct nesl *n = c->n;
  struct source_found found;
  const char *file = c->form->argument ? string_argument(c) : n->last_loaded;
  if (!c->form->argument && !file) return command_error(c, "no file was loaded before");
  if (!file || !nesl_find_file(n, c->form, file, typed(c), &found)) return false;
  file = found.path;
  const struct source *source = nesl_load_file(n, file, typed(c));
  if (!source || !nesl_begin_load(n, c->form, words_span(c))) return false;
  char *name = strdup(file); /* the form's memory goes with it */
  if (name) {
    free(n->last_loaded);
    n->last_loaded = name;
  }
  unsigned failed = nesl_run_file(n, source);
  n->load_depth--;
  nesl_forget(n);
  return failed == 0 || nesl_complain_of_load(n, c->form, words_span(c), failed, file);
}

static bool import_command(struct command *c) {
  return nesl_import(c->n, c->form);
}

/* Compiles the command's argument to VCODE; returns NULL after complaining. */
static struct vcode_program *compile_argument(struct command *c) {
  struct nesl *n = c->n;
  const struct form form = argument_form(c);
  struct checked checked = {0};
  if (!check_form(n->session, &form, &n->complaints, &checked) ||
      session_find_missing(n->session, checked.value, &n->complaints)) {
    return NULL;
  }
  const struct flatten_options options = {.widths = n->options->widths,
                                          .unchecked = !n->session->argument_checks};
  const struct ir_program *program =
      flatten_expression(n->session, checked.value, &options, &n->complaints);
  return program ? fcode_opt_stack_code(n->session->arena, program, &n->diags) : NULL;
}

static bool dump_command(struct command *c) {
  struct nesl *n = c->n;
  struct output_file out;
  if (!command_word_is(c, 0, "vcode") || c->count < 2 || c->words[1].kind != TOKEN_STRING ||
      !c->form->argument) {
    return command_error(c, "dump takes vcode, a file name in quotes and an expression");
  }
  struct vcode_program *vcode = compile_argument(c);
  if (!vcode || !argument_has_effects(c)) return vcode != NULL;
  const char *file = arena_copy(n->session->arena, c->words[1].text, c->words[1].length);
  const struct permissions permissions =
      n->reading.typed ? process_user() : n->options->machine.permissions;
  if (!output_begin_as(&out, &permissions, file, &n->diags)) return false;
  vcode_print(vcode, out.stream);
  return output_end(&out, file, &n->diags);
}

/* ---- what leaves the process ---- */

static bool run_command(struct command *c, const char *line) {
  int status;
  struct file_problem problem;
  fflush(c->n->out);
  if (!process_shell(&c->n->options->machine.permissions, line, &status, &problem)) {
    return command_error(c, "%s", problem.text);
  }
  if (status == 0) return true;
  return command_error(c, "the command ended with status %d",
                       WIFEXITED(status) ? WEXITSTATUS(status) : status);
}

/* Checks the argument of shell and edit without starting anything. */
static bool check_shell(struct command *c) {
  struct checked checked = {0};
  if (!c->form->argument) return command_error(c, "%s takes a string", c->form->name->text);
  const struct form form = argument_form(c);
  return check_string_argument(c, &form, &checked) != NULL;
}

static bool shell(struct command *c) {
  bool edits = strcmp(c->form->name->text, "edit") == 0;
  if (!argument_has_effects(c)) return check_shell(c);
  if (!c->n->options->machine.permissions.processes) {
    return command_error(c, "%s starts a process, which needs --allow-spawn",
                         c->form->name->text);
  }
  if (!c->form->argument) return command_error(c, "%s takes a string", c->form->name->text);
  const char *text = string_argument(c);
  if (!text) return false;
  if (!edits) return run_command(c, text);
  if (strchr(text, '\'')) return command_error(c, "a file name with a quote in it");
  const char *editor = getenv("EDITOR");
  return run_command(c, arena_printf(c->n->session->arena, "%s '%s'",
                                     editor && editor[0] ? editor : "vi", text));
}

static bool observe(struct command *c) {
  const struct form form = argument_form(c);
  return nesl_observe(c->n, c->form->name->text, &form);
}

static bool leave_command(struct command *c) {
  c->n->leave = true;
  return true;
}

bool nesl_command(struct nesl *n, const struct form *form) {
  static const struct {
    const char *word;
    bool (*execute)(struct command *);
  } commands[] = {{"help", help},
                  {"?", help},
                  {"describe", describe_command},
                  {"apropos", apropos},
                  {"import", import_command},
                  {"set", set_command},
                  {"show", show_command},
                  {"load", load_command},
                  {"dump", dump_command},
                  {"edit", shell},
                  {"shell", shell},
                  {"exit", leave_command},
                  {"quit", leave_command},
                  {"cost", observe},
                  {"profile", observe},
                  {"time", observe},
                  {"trace", observe}};
  struct command c = {n, form, form->words, form->word_count};
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    if (strcmp(form->name->text, commands[i].word) == 0) return commands[i].execute(&c);
  }
  return command_error(&c, "the command %s has no meaning here; see help", form->name->text);
}
