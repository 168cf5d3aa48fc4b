/* session.c - definitions: the library, names, values of variables. (NESL specification,
 * section 4.2.)
 */
#include "neslc/session.h"

#include "neslc/library/library.h"
#include "neslc/modules.h"
#include "neslc/types/check.h"

#include <stdlib.h>
#include <string.h>

/* ---- the library ---- */

/* Reads and checks the definition that begins there. */
static void define_at(struct session *session, const struct source *source, uint32_t at,
                      struct complaints *complaints) {
  struct reader reader;
  struct form form;
  struct checked checked;
  reader_init(&reader, session->arena, &session->names, source);
  reader.at = at;
  if (read_form(&reader, complaints, &form) != READ_FORM) return;
  check_form(session, &form, complaints, &checked);
}

static const char function_word[] = "function ", datatype_word[] = "datatype ";

static bool begins_with_word(const char *text, const char *word) {
  return strncmp(text, word, strlen(word)) == 0;
}

/* A function of which only the name is known, and where its definition begins. */
static void find_function_name(struct session *session, const struct source *source,
                               uint32_t at) {
  const char *name = source->text + at + strlen(function_word);
  struct form *form = arena_alloc(session->arena, sizeof *form);
  *form = (struct form){.kind = FORM_FUNCTION,
                        .source = source,
                        .at = {at, at},
                        .name = intern_name(&session->names, name, strcspn(name, "( "))};
  struct global *global = global_make(session, GLOBAL_FUNCTION, form->name);
  global->form = form;
  session_name(session, global);
}

/* Definitions begin lines. */
static void find_session_definitions(struct session *session, const struct source *source,
                                     struct complaints *complaints) {
  const char *end = source->text + source->length;
  for (const char *line = source->text; line; line = memchr(line, '\n', (size_t)(end - line))) {
    if (*line == '\n') line++;
    const uint32_t at = (uint32_t)(line - source->text);
    if (begins_with_word(line, function_word)) find_function_name(session, source, at);
    if (begins_with_word(line, datatype_word)) define_at(session, source, at, complaints);
  }
}

static bool load_library(struct session *session, struct diag_list *diags) {
  struct complaints complaints = {.diags = diags};
  session->in_library = true;
  library_bind_constants(session);
  for (size_t i = 0; i < library_file_count; i++) {
    const struct library_file *file = &library_files[i];
    struct source *source = arena_alloc(session->arena, sizeof *source);
    *source = (struct source){.name = file->name,
                              .text = file->text,
                              .length = file->length,
                              .first_line = 1,
                              .library = true};
    find_session_definitions(session, source, &complaints);
  }
  session->in_library = false;
  return complaints.count == 0;
}

/* The state of the session outside, while a function of the library is read. */
struct outside {
  struct arena *arena;
  struct region *region;
  bool in_library;
};

static struct outside go_inside(struct session *session, struct region *own) {
  const struct outside outside = {session->arena, session->region, session->in_library};
  if (own) session->arena = &own->arena;
  session->region = NULL;
  session->in_library = true;
  return outside;
}

static void go_outside(struct session *session, const struct outside *outside) {
  session->arena = outside->arena;
  session->region = outside->region;
  session->in_library = outside->in_library;
}

/* Tests read every function, so that no user sees these errors. */
static void read_function(struct session *session, const struct form *form) {
  struct diag_list diags;
  diag_list_init(&diags, session->arena);
  struct complaints complaints = {.diags = &diags};
  struct source *source = (struct source *)(uintptr_t)form->source;
  if (!source->marks) source_index(session->names.arena, source);
  define_at(session, source, form->at.start, &complaints);
  if (!complaints.count) return;
  diag_print(&diags, "library", 5, stderr);
  abort();
}

struct global *session_read(struct session *session, struct global *global) {
  if (!global || global->scheme.type) return global;
  struct region *own = session->heap ? region_new(session, REGION_OF_FORM) : NULL;
  if (session->heap && !own) memory_failed();
  const struct outside outside = go_inside(session, own);
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    go_outside(session, &outside);
    if (own) region_free(session, own);
    memory_failed();
  }
  read_function(session, global->form);
  memory_guard_end(&guard);
  go_outside(session, &outside);
  return global;
}

struct session *session_new(struct arena *arena, bool classic, struct diag_list *diags) {
  struct session *session = arena_alloc(arena, sizeof *session);
  session->arena = arena;
  intern_init(&session->names, arena);
  session->globals = table_new(arena);
  session->types = table_new(arena);
  session->library = table_new(arena);
  session->library_types = table_new(arena);
  session->program = arena_alloc(arena, sizeof *session->program);
  session->program->imports = table_new(arena);
  session->program->shown = "the program";
  session->module = session->program;
  session->argument_checks = true;
  session->classic = classic;
  return load_library(session, diags) ? session : NULL;
}

/* ---- names ---- */

struct global *session_global(struct session *session, const char *name) {
  const char *dot = strchr(name, '.');
  if (dot) {
    const struct name *of = intern_name(&session->names, name, (size_t)(dot - name));
    const struct module *m = module_imported(session, of);
    const struct name *member = intern_name(&session->names, dot + 1, strlen(dot + 1));
    return m ? module_global(session, m, member) : NULL;
  }
  const struct name *key = intern_name(&session->names, name, strlen(name));
  return session_read(session, table_get(session->globals, key));
}

struct global *session_current(struct session *session, const struct global *global) {
  return session_read(session, table_get(session->globals, global->name));
}

struct global *session_library(struct session *session, const char *name) {
  const struct name *key = intern_name(&session->names, name, strlen(name));
  return session_read(session, table_get(session->library, key));
}

const struct datatype *session_type(struct session *session, const struct name *name) {
  if (session->in_library) return table_get(session->library_types, name);
  const struct datatype *data = table_get(session->types, module_own(session, name));
  return data ? data : table_get(session->library_types, name);
}

static int by_name(const void *a, const void *b) {
  const struct global *const *x = a, *const *y = b;
  return strcmp((*x)->name->text, (*y)->name->text);
}

void session_each(struct session *session, void (*visit)(void *, struct global *),
                  void *context) {
  const struct table *table = session->globals;
  struct heap *heap = session->arena->heap;
  const size_t bytes = table->count * sizeof(struct global *);
  struct global **all = heap_alloc(heap, bytes);
  size_t n = 0;
  if (!all) memory_failed();
  for (const struct table_entry *e = NULL; (e = table_next(table, e));) {
    if (e->value) all[n++] = e->value;
  }
  qsort(all, n, sizeof *all, by_name);
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    heap_free(heap, all, bytes);
    memory_failed();
  }
  for (size_t i = 0; i < n; i++) visit(context, all[i]);
  memory_guard_end(&guard);
  heap_free(heap, all, bytes);
}

const char *session_nearest(struct session *session, const char *name) {
  struct nearest_name nearest = nearest_to(name);
  for (const struct table_entry *e = NULL; (e = table_next(session->globals, e));) {
    const char *other = ((const struct name *)e->key)->text;
    if (other[0] == '_') continue;                 /* the library's own */
    if (!e->value || strchr(other, '.')) continue; /* gone, or of a module */
    nearest_try(&nearest, other);
  }
  return nearest.best;
}

/* ---- values ---- */

/* Modules lose the names that are not defined again when they are read again. */
static void note_defined(struct session *session, const struct name *name) {
  if (session->module->defined) table_add(session->module->defined, name);
}

void session_name(struct session *session, struct global *global) {
  const struct global *before = table_get(session->globals, global->name);
  if (before && before->region) session->loose += arena_bytes(&before->region->arena);
  table_set(session->globals, global->name, global);
  note_defined(session, global->name);
  if (session->in_library) table_set(session->library, global->name, global);
}

/* A value with columns of its own; with `elements` these too. */
static struct nesl_value copy_value(struct arena *arena, const struct nesl_value *value,
                                    bool elements) {
  struct nesl_value copy = *value;
  copy.columns = arena_alloc(arena, (value->count + 1) * sizeof *copy.columns);
  for (uint32_t i = 0; i < value->count; i++) {
    copy.columns[i] = elements ? column_copy(arena, &value->columns[i]) : value->columns[i];
  }
  return copy;
}

/* The new contents of a variable, in a region of their own or in the session's arena.
 */
struct bound {
  struct region *region;
  struct scheme scheme;
  struct nesl_value value;
};

static void fill_region(struct bound *b, const struct scheme *scheme,
                        const struct nesl_value *value, bool elements) {
  struct arena *arena = &b->region->arena;
  b->scheme = scheme_copy(arena, scheme);
  b->value = copy_value(arena, value, elements);
  b->value.type = type_copy(arena, value->type);
  region_note_type(b->region, b->scheme.type);
  region_note_type(b->region, b->value.type);
}

static struct bound make_bound(struct session *session, const struct scheme *scheme,
                               const struct nesl_value *value, bool elements) {
  struct bound b = {.scheme = *scheme};
  if (!session->heap) {
    b.value = copy_value(session->arena, value, elements);
    return b;
  }
  struct region *region = b.region = region_new(session, REGION_OF_VALUE);
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    if (region) region_free(session, region);
    memory_failed();
  }
  if (!region) memory_failed();
  fill_region(&b, scheme, value, elements);
  memory_guard_end(&guard);
  region->held--;
  return b;
}

static struct global *bind_global(struct session *session, const struct name *name,
                                  const struct scheme *scheme, const struct nesl_value *value,
                                  bool elements) {
  struct global *global = table_get(session->globals, name);
  const bool same = global_is_updated(session, global, GLOBAL_VARIABLE, scheme);
  note_defined(session, name);
  const struct bound b = make_bound(session, scheme, value, elements);
  if (!same) {
    global = global_make(session, GLOBAL_VARIABLE, name);
    global->region = NULL;
    session_name(session, global);
  }
  struct region *old = global->region;
  global->scheme = b.scheme;
  global->value = b.value;
  global->region = b.region;
  global->version++;
  if (old) region_drop(session, old); /* only the variable mentions it */
  return global;
}

struct global *session_import(struct session *session, const struct name *name,
                              const struct scheme *scheme, const struct nesl_value *value) {
  return bind_global(session, name, scheme, value, false);
}

struct global *session_bind(struct session *session, const struct name *name,
                            const struct scheme *scheme, const struct nesl_value *value) {
  return bind_global(session, name, scheme, value, true);
}
