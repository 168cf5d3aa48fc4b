/* nesl-forms.c - reads and evaluates forms, and prints a line with the result of each. */
#include "commands/nesl.h"
#include "commands/process.h"
#include "commands/source.h"
#include "neslc/later.h"
#include "neslc/modules.h"

#include <stdlib.h>
#include <string.h>

/* ---- complaints ---- */

void nesl_forget(struct nesl *n) {
  arena_free(&n->messages);
  diag_list_init(&n->diags, &n->messages);
  n->complaints = (struct complaints){.diags = &n->diags};
}

void nesl_complain(struct nesl *n) {
  enum { MOST = 20 };
  fflush(n->out);
  diag_print(&n->diags, "nesl", MOST, stderr);
}

/* A form that succeeds may have warnings. Those of the machine are the same for every form, so
 * they are printed once; the compiler's are of the form. */
static void pass_on_warnings(struct nesl *n) {
  size_t count = 0;
  for (size_t i = 0; i < n->diags.list.count; i++) {
    count += n->diags.list.items[i].severity == SEVERITY_WARNING;
  }
  const bool of_machine = count > n->complaints.warnings;
  if (n->complaints.warnings > 0 || (of_machine && !n->warned)) nesl_complain(n);
  n->warned |= of_machine;
}

/* Needs no memory itself. */
void nesl_complain_of_memory(struct nesl *n) {
  diag_add(&n->diags, SEVERITY_ERROR, NULL, (struct source_pos){0}, NULL,
           "out of memory: the session may use %llu bytes; see --memory",
           (unsigned long long)n->heap.limit);
  if (n->session) n->session->collect_at = 0;
  if (n->complaints.first == NESL_OK) n->complaints.first = NESL_LIMIT;
  n->complaints.count++;
}

void nesl_settle(struct nesl *n, const struct source *source, struct span at) {
  char text[128];
  const enum stop_reason reason = stop_asks(n->stop);
  if (reason == STOP_NOT) return;
  if (n->unwinding || !n->complaints.stopped) {
    nesl_forget(n);
    n->complaints.first = NESL_LIMIT;
    stop_describe(n->stop, text, sizeof text);
    if (!n->unwinding && source) complain(&n->complaints, NESL_LIMIT, source, at, "%s", text);
    if (!n->unwinding && !source) {
      diag_add(&n->diags, SEVERITY_ERROR, NULL, (struct source_pos){0}, NULL, "%s", text);
    }
  }
  n->unwinding = true;
  n->interrupted |= reason == STOP_SIGNAL;
}

/* ---- results ---- */

/* The names of a pattern as they are printed: (a, b), ((a, b), c). */
static void show_bound_pattern(const struct core_pattern *p, FILE *out) {
  switch ((enum core_pattern_kind)p->kind) {
  case PATTERN_LOCAL: fputs(p->local->name->text, out); break;
  case PATTERN_PAIR:
    fputc('(', out);
    for (; p->kind == PATTERN_PAIR; p = p->right) {
      show_bound_pattern(p->left, out);
      fputs(", ", out);
    }
    show_bound_pattern(p, out);
    fputc(')', out);
    break;
  case PATTERN_CONTENTS: show_bound_pattern(p->left, out); break;
  }
}

struct value_layout nesl_layout(const struct nesl *n) {
  return (struct value_layout){
      .print_length = n->print_length,
      .most_elements = n->print_total,
      .floats = {n->options->digits, n->options->widths.float_elem == CVL_F32},
      .stop = n->stop};
}

static void show_value(const struct nesl *n, const struct checked *c,
                       const struct nesl_value *value, FILE *out) {
  const struct value_layout layout = nesl_layout(n);
  if (c->pattern) {
    show_bound_pattern(c->pattern, out);
  } else {
    fputs("it", out);
  }
  fputs(" = ", out);
  value_show(value, &layout, out);
  fputs(" : ", out);
  type_show(c->value->type, true, out);
}

/* All bits of a value, for --tune, which compares them. */
static void write_form_value(const struct nesl_value *value, FILE *out) {
  for (uint32_t i = 0; i < value->count; i++) {
    const struct column *column = &value->columns[i];
    fwrite(&column->length, sizeof column->length, 1, out);
    fwrite(column->as.ints, 1, column_bytes(column), out);
  }
}

static void show_definition(const struct checked *c, FILE *out) {
  fprintf(out, "%s = fn : ", c->global->name->text);
  type_show(c->global->scheme.type, true, out);
}

/* ---- one form ---- */

/* Binds the names of a form that is not evaluated, so that others may mention them. */
static bool bind_without_values(struct nesl *n, const struct checked *c) {
  struct type *type = type_ground(n->session->arena, c->value->type, 0, NULL);
  struct column_kinds kinds = {.arena = n->session->arena};
  value_columns(type, &kinds);
  struct nesl_value value = {.type = type, .count = (uint32_t)kinds.list.count};
  value.columns = arena_alloc(n->session->arena, kinds.list.count * sizeof *value.columns + 1);
  for (uint32_t i = 0; i < value.count; i++) value.columns[i].kind = kinds.list.items[i];
  session_bind_checked(n->session, c, &value);
  return true;
}

static bool is_evaluated(const struct nesl *n, const struct checked *c) {
  return n->extent == EVALUATE_ALL || (n->extent == EVALUATE_ASSIGNMENTS && c->pattern);
}

static bool evaluate_form(struct nesl *n, const struct checked *c, FILE *out) {
  struct evaluation e = {.session = n->session, .form = c, .complaints = &n->complaints};
  struct nesl_value value;
  struct measurement measurement;
  const bool measures = n->measures && !c->pattern;
  if (session_find_missing(n->session, c->value, &n->complaints)) return false;
  if (!is_evaluated(n, c)) {
    const bool of_module = n->session->module != n->session->program;
    return (of_module && !c->pattern) || bind_without_values(n, c);
  }
  if (n->is_call && !nesl_take_arguments(n, c)) return false;
  if (n->parameter_count > 0 && !n->options->direct) {
    e.parameters = n->parameters;
    e.parameter_count = n->parameter_count;
    e.loaded = n->is_call ? nesl_forget_arguments : NULL;
    e.stays = n->is_call ? nesl_argument_stays : NULL;
    e.context = n;
    e.repeated = n->repeated;
  }
  const bool writes = n->is_call && n->options->output_count > 0;
  if (writes) {
    struct type *type = type_ground(n->session->arena, c->value->type, 0, NULL);
    if (process_is_rank())
      e.own = nesl_ranks_begin(n, type);
    else
      e.consumer = nesl_stream_begin(n, type);
    e.large = n->mapped != NULL;
  }
  if (measures) measurement = nesl_measurement(n);
  if (measures) e.measurement = &measurement;
  bool fine = n->evaluator->evaluate(n->evaluator, &e, &value);
  fine = nesl_mapped_are_whole(n) && fine;
  if (fine && measures) fine = nesl_report(n, &measurement);
  if (fine && n->options->classic && value_nonfinite(&value)) {
    complain(&n->complaints, NESL_NONFINITE, c->value->source, c->value->at,
             "the result contains an infinity or a NaN");
    fine = false;
  }
  if (fine && n->options->tune_seconds > 0) {
    write_form_value(&value, n->out);
  } else if (fine && n->shows && !writes) {
    show_value(n, c, &value, out);
  }
  if (!fine || stop_asks(n->stop) != STOP_NOT) return false;
  if (writes) return nesl_write_value(n, &value);
  session_bind_checked(n->session, c, &value);
  return true;
}

static bool execute_one_form(struct nesl *n, const struct form *form, FILE *out) {
  struct checked checked = {0};
  if (form->kind == FORM_COMMAND) return nesl_command(n, form);
  if (!check_form(n->session, form, &n->complaints, &checked)) return false;
  const bool speaks = n->verbose && !n->silent && n->shows;
  if (checked.note && speaks && n->reading.prompt) fprintf(n->out, "%s\n", checked.note);
  if (checked.notice && speaks) fprintf(n->out, "%s\n", checked.notice);
  if (form->kind == FORM_EXPRESSION || form->kind == FORM_ASSIGN) {
    return evaluate_form(n, &checked, out);
  }
  if (n->shows) show_definition(&checked, out);
  return true;
}

static bool execute_form_guarded(struct nesl *n, const struct form *form, FILE *out) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    nesl_complain_of_memory(n);
    return false;
  }
  const bool fine = execute_one_form(n, form, out);
  memory_guard_end(&guard);
  return fine;
}

struct nesl_outcome nesl_execute(struct nesl *n, const struct form *form) {
  struct nesl_outcome outcome = {.error = NESL_OK};
  struct text *text = &outcome.text;
  const struct stop *const around = n->heap.stop;
  n->heap.stop = n->stop;
  const bool begun = text_begin(text, &n->heap);
  if (!begun) nesl_complain_of_memory(n);
  bool fine = begun && execute_form_guarded(n, form, text->stream);
  n->heap.stop = around;
  n->evaluator->release(n->evaluator);
  if (begun && !text_end(text) && fine) {
    nesl_complain_of_memory(n);
    fine = false;
  }
  if (!fine) {
    nesl_settle(n, form->source, form->at);
    outcome.error = n->complaints.first != NESL_OK ? n->complaints.first : NESL_RUNTIME;
  } else {
    pass_on_warnings(n);
  }
  if (fine && text->length > 0) outcome.result = text->bytes;
  return outcome;
}

void nesl_outcome_free(struct nesl_outcome *outcome) {
  text_free(&outcome->text);
}

/* ---- sources ---- */

const struct source *nesl_source(struct nesl *n, const char *name, const char *text,
                                 size_t length, uint32_t first_line) {
  struct region *region = region_new(n->session, length);
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    nesl_complain_of_memory(n);
    if (region) region_free(n->session, region);
    return NULL;
  }
  if (!region) memory_failed();
  struct arena *arena = &region->arena;
  struct source *source = arena_alloc(arena, sizeof *source);
  *source = (struct source){.name = arena_copy(arena, name, strlen(name)),
                            .text = arena_copy(arena, text, length),
                            .length = length,
                            .first_line = first_line,
                            .region = region};
  source_index(arena, source);
  memory_guard_end(&guard);
  session_add_source(n->session, source);
  region->held--;
  return source;
}

/* The length without blanks at the end. */
static size_t trimmed_length(const char *text, size_t length) {
  while (length > 0 && strchr(" \t\n", text[length - 1])) length--;
  return length;
}

/* Where a comment may begin that the text ends with, and that would hide what is added: the
 * first
 * `//` of the last line; the length if there is none. */
static size_t last_comment(const char *text, size_t length) {
  size_t found = length;
  for (size_t at = length; at >= 2 && text[at - 1] != '\n'; at--) {
    if (memcmp(text + at - 2, "//", 2) == 0) found = at - 2;
  }
  return found;
}

/* A comment that holds a number only was meant for an operator of other languages. */
static void note_comment(const char *text, const char *mark, const char *meant) {
  const char *comment = strstr(text, mark);
  if (!comment) return;
  const char *number = comment + strlen(mark) + strspn(comment + strlen(mark), " ");
  const size_t digits = strspn(number, "0123456789.");
  if (digits == 0 || number[digits + strspn(number + digits, " \n;")] != '\0') return;
  fprintf(stderr, "nesl: note: `%.*s` is a comment: %s\n", (int)(number + digits - comment),
          comment, meant);
}

static void note_quotient(const char *text) {
  note_comment(text, "//", "a / b divides, ints toward 0");
}

const struct source *nesl_typed_source(struct nesl *n, const char *text) {
  size_t length = strlen(text);
  const size_t bytes = length + 2;
  char *ended = heap_alloc(&n->heap, bytes);
  if (!ended) {
    nesl_complain_of_memory(n);
    return NULL;
  }
  memcpy(ended, text, length);
  length = trimmed_length(ended, length);
  note_quotient(text);
  const size_t comment = last_comment(ended, length), code = trimmed_length(ended, comment);
  if (code == 0 || !strchr(";$", ended[code - 1])) {
    if (comment < length) ended[length++] = '\n';
    ended[length++] = ';';
  }
  const struct source *source = nesl_source(n, "<command-line>", ended, length, 1);
  heap_free(&n->heap, ended, bytes);
  return source;
}

/* A text that was read, if it was, as a source; frees it. */
static const struct source *take_source_text(struct nesl *n, bool was_read,
                                             struct source_text *text, const char *file) {
  const struct source *source = NULL;
  if (was_read) {
    if (text->length >= 2 && memcmp(text->text, "#!", 2) == 0) { /* a script: its line stays */
      for (size_t i = 0; i < text->length && text->text[i] != '\n'; i++) text->text[i] = ' ';
    }
    const char *name = strcmp(file, "-") == 0 ? "<stdin>" : file;
    source = nesl_source(n, name, text->text, text->length, 1);
  } else if (n->complaints.first == NESL_OK) {
    n->complaints.first = NESL_RUNTIME;
  }
  source_free(text, &n->heap);
  if (!source) nesl_settle(n, NULL, (struct span){0});
  return source;
}

const struct source *nesl_read_file(struct nesl *n, const char *file) {
  struct source_text text;
  const struct stop *const around = n->heap.stop;
  n->heap.stop = n->stop;
  const bool was_read = source_read(&text, &n->heap, file, &n->diags);
  const struct source *source = take_source_text(n, was_read, &text, file);
  n->heap.stop = around;
  return source;
}

/* It lies where it was found, and so in its own directory. */
const struct source *nesl_load_file(struct nesl *n, const char *path, bool typed) {
  struct source_text text;
  char directory[PATH_MAX];
  source_directory(path, directory);
  const struct source_search search = {.permissions = n->options->machine.permissions,
                                       .extension = ".nesl",
                                       .directory = directory};
  if (typed) return nesl_read_file(n, path);
  return take_source_text(n, source_load(&text, &n->heap, &search, path, &n->diags), &text,
                          path);
}

/* Reads a form, which functions refer to as long as they are defined; if memory runs out, it is
 * a form with an error. */
static enum reading read_form_guarded(struct nesl *n, struct reader *reader,
                                      struct form **read) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    nesl_complain_of_memory(n);
    return READ_BROKEN;
  }
  reader->arena = n->session->arena;
  struct form *form = arena_alloc(reader->arena, sizeof *form);
  *read = form;
  const enum reading reading = read_form(reader, &n->complaints, form);
  memory_guard_end(&guard);
  return reading;
}

static enum reading read_one(struct nesl *n, struct reader *reader, struct form **read) {
  const struct stop *const around = n->heap.stop;
  const uint32_t start = reader->at;
  n->heap.stop = n->stop;
  const enum reading reading = read_form_guarded(n, reader, read);
  n->heap.stop = around;
  if (reading == READ_BROKEN) nesl_settle(n, reader->source, (struct span){start, start});
  return reading;
}

static bool is_defined(void *context, const struct name *name) {
  const struct nesl *n = context;
  return session_global(n->session, name->text) != NULL;
}

static bool is_redefined(void *context, const struct name *name) {
  const struct nesl *n = context;
  const struct global *global = module_find(n->session, name);
  return global && !global->library;
}

static bool begin_reading_forms(struct nesl *n, struct reader *reader,
                                const struct source *source) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    nesl_complain_of_memory(n);
    return false;
  }
  reader_init(reader, &source->region->arena, &n->session->names, source);
  reader->widths = n->options->widths;
  if (!n->reading.file) reader->defines = is_defined;
  reader->redefines = is_redefined;
  reader->context = n;
  n->session->later = n->reading.prompt ? NULL : later_look(n->session, reader);
  memory_guard_end(&guard);
  return true;
}

/* Begins a form that no other loads. */
static void begin_form(struct nesl *n) {
  n->unwinding = false;
  n->loads = 0;
  n->session->round++;
  if (n->limits_forms) process_limit(n->options->seconds);
}

/* Whether the remaining forms are skipped: those of a file after a form that was asked to stop,
 * and those of a session if the whole session was. */
static bool ends_others(const struct nesl *n) {
  const enum stop_reason reason = stop_asks(n->stop);
  return n->unwinding && (n->load_depth > 0 || reason == STOP_SIGNAL ||
                          (reason == STOP_TIME && !n->limits_forms));
}

/* ---- which results are printed ---- */

/* Whether a form ends the session. */
static bool is_exit(const struct form *form) {
  return form->kind == FORM_COMMAND && strcmp(form->name->text, "exit") == 0;
}

/* Reads ahead, without executing anything, to the next expression; false if there is none. */
static bool expression_follows(struct nesl *n, struct reader ahead) {
  struct diag_list ignored;
  diag_list_init(&ignored, n->session->arena);
  struct complaints complaints = {.diags = &ignored};
  ahead.arena = n->session->arena;
  for (;;) {
    struct form form = {0};
    const enum reading reading = read_form(&ahead, &complaints, &form);
    if (reading == READ_END || (reading == READ_FORM && is_exit(&form))) return false;
    if (reading == READ_FORM && form.kind == FORM_EXPRESSION) return true;
  }
}

/* Returns whether no expression follows this one. Without memory to look it says that none
 * does; the form that lacks memory reports it. */
static bool is_last_expression(struct nesl *n, const struct form *form,
                               const struct reader *reader) {
  if (form->kind != FORM_EXPRESSION || n->load_depth > 0) return false;
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return true;
  const bool follows = expression_follows(n, *reader);
  memory_guard_end(&guard);
  return !follows;
}

static bool is_shown(struct nesl *n, const struct form *form, const struct reader *reader) {
  switch (n->options->echo) {
  case NESL_ECHO_FORMS: return true;
  case NESL_ECHO_VALUE: return is_last_expression(n, form, reader);
  case NESL_ECHO_NOTHING: break;
  }
  return false;
}

/* At the prompt nothing else says why a form that was meant to end does not. */
static void note_what_hides_the_end(const char *text) {
  note_quotient(text);
  note_comment(text, "%", "another % ends it; a remainder is rem(a, b) or mod(a, b)");
}

/* How reading continues after a form. */
enum next { NEXT_DONE, NEXT_STOP, NEXT_INCOMPLETE };

/* Reads a form and executes it, in a region of its own. */
static enum next next_form(struct nesl *n, struct reader *reader, nesl_visit *done,
                           void *context, bool may_be_incomplete) {
  struct form *form = NULL;
  const enum reading reading = read_one(n, reader, &form);
  if (reading == READ_END) return NEXT_STOP;
  if (reading == READ_MORE && may_be_incomplete) {
    if (n->reading.typed) note_what_hides_the_end(reader->source->text);
    return NEXT_INCOMPLETE;
  }
  struct nesl_done it = {.form = reading == READ_FORM ? form : NULL,
                         .behind = {reader->at, (uint32_t)reader->source->length},
                         .outcome.error = n->complaints.first};
  const bool shows = n->shows; /* the form that loads these ones */
  n->shows = it.form && is_shown(n, form, reader);
  if (it.form) it.outcome = nesl_execute(n, form);
  const bool go_on = done(n, context, &it) && !ends_others(n);
  n->shows = shows;
  nesl_outcome_free(&it.outcome);
  /* If there was no memory to read a form, there is none for the next one. */
  return go_on && (it.form || it.outcome.error != NESL_LIMIT) ? NEXT_DONE : NEXT_STOP;
}

void nesl_each_form(struct nesl *n, const struct source *source, nesl_visit *done,
                    void *context, uint32_t *more) {
  struct reader reader;
  struct later_text *const outer = n->session->later;
  region_hold(source->region);
  enum next next = NEXT_DONE;
  if (!begin_reading_forms(n, &reader, source)) {
    const struct nesl_done none = {.behind = {0, (uint32_t)source->length},
                                   .outcome.error = n->complaints.first};
    done(n, context, &none);
    next = NEXT_STOP;
  }
  while (next == NEXT_DONE && !n->leave) {
    nesl_forget(n);
    session_collect(n->session);
    if (n->load_depth == 0) begin_form(n);
    struct region *region = session_begin_form(n->session);
    const uint32_t start = reader.at;
    if (!region) {
      nesl_complain_of_memory(n);
      const struct nesl_done it = {.outcome.error = NESL_LIMIT};
      done(n, context, &it);
      break;
    }
    next = next_form(n, &reader, done, context, more != NULL);
    if (next == NEXT_INCOMPLETE) *more = start;
    session_end_form(n->session, region);
  }
  n->session->later = outer;
  region_let_go(n->session, source->region);
}

/* ---- running ---- */

static void print_form_result(struct nesl *n, const struct nesl_done *it, unsigned *failed) {
  const struct text *text = &it->outcome.text;
  fputc('\n', n->out);
  if (process_write(n->out, text->bytes, text->length)) {
    fputc('\n', n->out);
  } else if (stop_asks(n->stop) != STOP_NOT) {
    ++*failed;
    nesl_settle(n, it->form->source, it->form->at);
    nesl_complain(n);
  }
}

bool nesl_print_done(struct nesl *n, void *failed, const struct nesl_done *it) {
  if (it->outcome.error != NESL_OK) {
    ++*(unsigned *)failed;
    nesl_complain(n);
  } else if (it->outcome.result && !n->silent) {
    print_form_result(n, it, failed);
  }
  if (!process_reaches(n->out)) n->leave = true; /* nobody reads what would follow */
  return true;
}

unsigned nesl_run_source(struct nesl *n, const struct source *source) {
  unsigned failed = 0;
  nesl_each_form(n, source, nesl_print_done, &failed, NULL);
  return failed;
}

unsigned nesl_run_file(struct nesl *n, const struct source *source) {
  const struct nesl_reading outer = n->reading;
  n->reading = (struct nesl_reading){.file = source->name};
  const unsigned failed = nesl_run_source(n, source);
  n->reading = outer;
  return failed;
}
