/* define.c - NESL text and files: definitions, one form after the other. */
#include "libravel/private.h"

#include "base/permissions.h"
#include "neslc/flatten/flatten.h"
#include "neslc/later.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Begins the names of texts that the package for Python makes: they use the library. */
static const char made[] = "<ravel.";

struct source *ravel_source(struct ravel_context *c, const char *name, const char *text,
                            size_t length, uint32_t first_line) {
  struct region *region = region_new(c->session, length);
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    if (region) region_free(c->session, region);
    memory_failed();
  }
  if (!region) memory_failed();
  struct source *source = arena_alloc(&region->arena, sizeof *source);
  *source = (struct source){.name = arena_copy(&region->arena, name, strlen(name)),
                            .text = arena_copy(&region->arena, text, length),
                            .length = length,
                            .first_line = first_line,
                            .closed = strncmp(name, made, strlen(made)) == 0,
                            .region = region};
  source_index(&region->arena, source);
  memory_guard_end(&guard);
  session_add_source(c->session, source);
  region->held--;
  region->kept = true; /* until it is collected */
  return source;
}

bool ravel_read_form(struct ravel_context *c, const struct source *source,
                     struct complaints *complaints, struct checked *checked) {
  struct reader reader;
  struct form *form = arena_alloc(c->session->arena, sizeof *form), more;
  reader_init(&reader, c->session->arena, &c->session->names, source);
  reader.widths = c->options.machine.widths;
  if (read_form(&reader, complaints, form) != READ_FORM) return false;
  if (form->kind == FORM_COMMAND) {
    complain(complaints, NESL_PARSE, source, form->at,
             "`%s` is a command of the prompt, and an expression is expected here",
             form->name->text);
    return false;
  }
  if (read_form(&reader, complaints, &more) != READ_END) {
    if (!complaints->count) {
      complain(complaints, NESL_PARSE, source, more.at,
               "one expression is expected here, and this is a second form");
    }
    return false;
  }
  return check_form(c->session, form, complaints, checked);
}

/* ---- assignments ---- */

static const void *widen_elements(struct ravel_context *c, enum cvl_elem elem, void *data,
                                  uint64_t n) {
  if (elem == CVL_I32) { /* from the end, in the same memory */
    for (uint64_t k = n; k-- > 0;) ((int64_t *)data)[k] = ((int32_t *)data)[k];
  } else if (elem == CVL_F32) {
    for (uint64_t k = n; k-- > 0;) ((double *)data)[k] = (double)((float *)data)[k];
  }
  (void)c;
  return data;
}

bool ravel_fetch(struct ravel_context *c, const struct cvl_value *v, uint8_t kind,
                 struct column *column) {
  *column = (struct column){.kind = kind};
  if (!machine_value_count(c->machine, v, &column->length, c->diags)) return false;
  void *data = arena_alloc(c->session->arena, column->length * sizeof(int64_t) + 1);
  if (!machine_value_copy(c->machine, v, 0, column->length, data, c->diags)) return false;
  const bool is_vector = v->form == CVL_SCALAR || v->form == CVL_VECTOR;
  column->as.ints =
      is_vector ? widen_elements(c, (enum cvl_elem)v->elem, data, column->length) : data;
  return true;
}

struct assignment {
  const struct checked *form;
  struct complaints *complaints;
  struct ravel_function *function;
  struct cvl_value *results;
  uint64_t result_count;
};

/* Compiles, runs and binds. */
static enum ravel_code assign(struct ravel_context *c, void *data) {
  struct assignment *a = data;
  struct arena *arena = c->session->arena;
  struct column_kinds kinds = {.arena = arena};
  struct ravel_function *f = a->function;
  const struct flatten_options options = {.arena = &f->work,
                                          .widths = c->options.machine.widths,
                                          .combine = c->options.optimise,
                                          .procedures = c->options.optimise};
  f->whole = a->form->value;
  f->program = flatten_expression(c->session, f->whole, &options, a->complaints);
  if (!f->program) return ravel_failed(c, ravel_code_of(a->complaints->first));
  if (!ravel_function_prepare(c, f)) return ravel_fail_machine(c);
  struct type *type = type_ground(arena, f->whole->type, 0, NULL);
  value_columns(type, &kinds);
  struct cvl_value *results = arena_alloc(arena, (kinds.list.count + 1) * sizeof *results);
  const enum ravel_code code = ravel_run(c, f, NULL, 0, results, kinds.list.count);
  if (code != RAVEL_OK) return code;
  a->results = results;
  a->result_count = kinds.list.count;
  struct nesl_value value = {.type = type, .count = (uint32_t)kinds.list.count};
  value.columns = arena_alloc(arena, (kinds.list.count + 1) * sizeof *value.columns);
  for (uint32_t i = 0; i < value.count; i++) {
    if (!ravel_fetch(c, &results[i], kinds.list.items[i], &value.columns[i])) {
      return ravel_fail_machine(c);
    }
  }
  session_bind_checked(c->session, a->form, &value);
  return RAVEL_OK;
}

static enum ravel_code execute_assignment(struct ravel_context *c, const struct checked *form,
                                          struct complaints *complaints) {
  struct assignment a = {.form = form, .complaints = complaints};
  if (session_find_missing(c->session, form->value, complaints)) {
    return ravel_failed(c, ravel_code_of(complaints->first));
  }
  a.function = ravel_function_new(c);
  if (!a.function) return c->code;
  const enum ravel_code code = ravel_guarded(c, assign, &a);
  for (uint64_t i = 0; i < a.result_count; i++) machine_release(c->machine, &a.results[i]);
  ravel_function_release(a.function);
  return code;
}

/* ---- forms ---- */

struct definition {
  const char *name, *text;
  size_t length;
  struct reader reader;
  struct later_text *later;
  bool done;
};

static enum ravel_code execute_form(struct ravel_context *c, void *data) {
  struct definition *d = data;
  struct complaints complaints = {.diags = c->diags};
  struct checked checked;
  struct form *form = arena_alloc(c->session->arena, sizeof *form);
  d->reader.arena = c->session->arena;
  const enum reading reading = read_form(&d->reader, &complaints, form);
  d->done = reading == READ_END;
  if (d->done) return RAVEL_OK;
  if (reading == READ_FORM && form->kind == FORM_COMMAND &&
      strcmp(form->name->text, "import") == 0) {
    c->generation++;
    return ravel_import_module(c, form, &complaints);
  }
  if (reading == READ_FORM && form->kind == FORM_COMMAND) {
    complain(&complaints, NESL_PARSE, form->source, form->at,
             "`%s` is a command of the prompt, not a definition", form->name->text);
  }
  if (complaints.count || !check_form(c->session, form, &complaints, &checked)) {
    return ravel_failed(c, ravel_code_of(complaints.first));
  }
  c->generation++;
  return form->kind == FORM_ASSIGN ? execute_assignment(c, &checked, &complaints) : RAVEL_OK;
}

static void begin_definition_source(struct ravel_context *c, struct definition *d,
                                    const struct source *source) {
  reader_init(&d->reader, &source->region->arena, &c->session->names, source);
  d->reader.widths = c->options.machine.widths;
  d->later = later_look(c->session, &d->reader);
  region_hold(source->region);
}

static enum ravel_code begin_text(struct ravel_context *c, void *data) {
  struct definition *d = data;
  begin_definition_source(c, d, ravel_source(c, d->name, d->text, d->length, 1));
  return RAVEL_OK;
}

static enum ravel_code execute_definition_forms(struct ravel_context *c, struct definition *d) {
  enum ravel_code code = RAVEL_OK;
  struct later_text *const outer = c->session->later;
  c->session->later = d->later;
  while (code == RAVEL_OK && !d->done) code = ravel_in_form(c, execute_form, d);
  c->session->later = outer;
  region_let_go(c->session, d->reader.source->region);
  return code;
}

enum ravel_code ravel_execute(struct ravel_context *c, const struct source *source) {
  struct definition d = {.name = source->name};
  const char *const outer = c->file;
  begin_definition_source(c, &d, source);
  c->file = source->name;
  const enum ravel_code code = execute_definition_forms(c, &d);
  c->file = outer;
  return code;
}

static enum ravel_code define_forms(struct ravel_context *c, void *data) {
  struct definition *d = data;
  const enum ravel_code code = ravel_guarded(c, begin_text, d);
  return code == RAVEL_OK ? execute_definition_forms(c, d) : code;
}

enum ravel_code ravel_define(struct ravel_context *c, const char *name, const char *text,
                             size_t length) {
  struct definition d = {.name = name ? name : "<definitions>", .text = text};
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!text) return ravel_fail(c, RAVEL_MISUSE, "a pointer is NULL");
  d.length = length ? length : strlen(text);
  if (d.length > RAVEL_MOST_TEXT) return ravel_fail(c, RAVEL_SYNTAX, "the text is too long");
  c->file = d.name[0] == '<' ? NULL : d.name; /* <definitions> */
  const enum ravel_code code = ravel_deep(c, define_forms, &d);
  c->file = NULL;
  return code;
}

/* ---- files ---- */

/* Reads all of a file into memory that doubles. */
static bool read_whole_file(struct ravel_context *c, int fd, struct text *text) {
  char buffer[1 << 14];
  ssize_t n;
  while ((n = read(fd, buffer, sizeof buffer)) != 0) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    fwrite(buffer, 1, (size_t)n, text->stream);
    if (!text_flush(text) || text->length > RAVEL_MOST_TEXT) break;
    if (memchr(buffer, '\0', (size_t)n) || stop_asks(&c->stop) != STOP_NOT) break;
  }
  return true;
}

enum ravel_code ravel_read_file(struct ravel_context *c, const char *path, int fd,
                                struct text *text) {
  if (!read_whole_file(c, fd, text)) {
    return ravel_fail(c, RAVEL_DATA, "%.300s: %s", path, strerror(errno));
  }
  if (text->lost) return ravel_fail_memory(c);
  char *bytes = text->bytes;
  if (text->length >= 2 && memcmp(bytes, "#!", 2) == 0) { /* a script: its line stays */
    for (size_t i = 0; i < text->length && bytes[i] != '\n'; i++) bytes[i] = ' ';
  }
  return text->length > RAVEL_MOST_TEXT
             ? ravel_fail(c, RAVEL_SYNTAX, "%.300s is too long", path)
             : RAVEL_OK;
}

static enum ravel_code load_file(struct ravel_context *c, const char *path, int fd,
                                 struct text *text) {
  enum ravel_code code = ravel_read_file(c, path, fd, text);
  if (code != RAVEL_OK) return code;
  struct definition d = {.name = path, .text = text->bytes, .length = text->length};
  c->file = path;
  code = ravel_deep(c, define_forms, &d);
  c->file = NULL;
  return code;
}

enum ravel_code ravel_load(struct ravel_context *c, const char *path) {
  struct file_problem problem;
  struct text text;
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!path) return ravel_fail(c, RAVEL_MISUSE, "a pointer is NULL");
  const struct permissions caller = permissions_of_user(NULL);
  const int fd = file_open(&caller, path, FILE_READ, &problem);
  if (fd < 0) return ravel_fail(c, RAVEL_DATA, "%.300s: %s", path, problem.text);
  enum ravel_code code =
      text_begin(&text, &c->heap) ? load_file(c, path, fd, &text) : ravel_fail_memory(c);
  text_free(&text);
  close(fd);
  return code;
}
