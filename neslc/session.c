/* session.c - what is defined: the library, names, values of variables. (NESL specification,
 * section 4.2.)
 */
#include "neslc/session.h"

#include "neslc/check.h"
#include "neslc/library.h"

#include <stdlib.h>
#include <string.h>

/* ---- the library ---- */

static bool load_library(struct session *session, struct diag_list *diags) {
  struct complaints complaints = {.diags = diags};
  session->in_library = true;
  session->in_additions = false;
  library_bind_constants(session);
  for (size_t i = 0; i < library_file_count; i++) {
    const struct library_file *file = &library_files[i];
    session->in_additions = file->addition;
    struct source *source = arena_alloc(session->arena, sizeof *source);
    *source = (struct source){file->name, file->text, file->length, 1, true, NULL, 0};
    source_index(session->arena, source);
    struct reader reader;
    reader_init(&reader, session->arena, &session->names, source);
    while (true) {
      struct form *form = arena_alloc(session->arena, sizeof *form);
      enum reading reading = read_form(&reader, &complaints, form);
      if (reading == READ_END) break;
      if (reading != READ_FORM) continue;
      struct checked checked;
      check_form(session, form, &complaints, &checked);
    }
  }
  session->in_library = false;
  return complaints.count == 0;
}

struct session *session_new(struct arena *arena, bool classic, struct diag_list *diags) {
  struct session *session = arena_alloc(arena, sizeof *session);
  session->arena = arena;
  intern_init(&session->names, arena);
  session->globals = table_new(arena);
  session->types = table_new(arena);
  session->library = table_new(arena);
  session->derived = table_new(arena);
  session->argument_checks = true;
  session->classic = classic;
  return load_library(session, diags) ? session : NULL;
}

/* ---- names ---- */

struct global *session_global(struct session *session, const char *name) {
  return table_get(session->globals, intern_name(&session->names, name, strlen(name)));
}

struct global *session_library(struct session *session, const char *name) {
  return table_get(session->library, intern_name(&session->names, name, strlen(name)));
}

static int by_name(const void *a, const void *b) {
  const struct global *const *x = a, *const *y = b;
  return strcmp((*x)->name->text, (*y)->name->text);
}

void session_each(struct session *session, void (*visit)(void *, struct global *),
                  void *context) {
  const struct table *table = session->globals;
  struct global **all = arena_alloc(session->arena, (table->count + 1) * sizeof *all);
  size_t n = 0;
  for (const struct table_entry *e = NULL; (e = table_next(table, e));) all[n++] = e->value;
  qsort(all, n, sizeof *all, by_name);
  for (size_t i = 0; i < n; i++) visit(context, all[i]);
}

/* Of those that are equally near the first of the alphabet. */
const char *session_nearest(struct session *session, const char *name) {
  const size_t length = strlen(name);
  const unsigned most = length < 3 ? 0 : length < 6 ? 1 : 2; /* more would be another word */
  unsigned nearest = most + 1;
  const char *best = NULL;
  for (const struct table_entry *e = NULL; (e = table_next(session->globals, e));) {
    const char *other = ((const struct name *)e->key)->text;
    if (other[0] == '_') continue; /* the library's own */
    const unsigned distance = edit_distance(name, other, nearest);
    if (distance > most || distance > nearest) continue;
    if (distance == nearest && best && strcmp(best, other) < 0) continue;
    nearest = distance;
    best = other;
  }
  return best;
}

/* ---- values ---- */

static struct nesl_value copy_value(struct session *session, const struct nesl_value *value) {
  struct nesl_value copy = *value;
  copy.columns = arena_alloc(session->arena, (value->count + 1) * sizeof *copy.columns);
  for (uint32_t i = 0; i < value->count; i++) {
    copy.columns[i] = column_copy(session->arena, &value->columns[i]);
  }
  return copy;
}

struct global *session_lend(struct session *session, const struct name *name,
                            const struct scheme *scheme, const struct nesl_value *value) {
  struct global *global = table_get(session->globals, name);
  if (!global_changes_in_place(session, global, GLOBAL_VARIABLE, scheme)) {
    global = global_make(session, GLOBAL_VARIABLE, name);
    global->scheme = *scheme;
    table_set(session->globals, name, global);
    if (session->in_library) table_set(session->library, name, global);
  }
  global->value = *value;
  global->version++;
  return global;
}

struct global *session_bind(struct session *session, const struct name *name,
                            const struct scheme *scheme, const struct nesl_value *value) {
  const struct nesl_value copy = copy_value(session, value);
  return session_lend(session, name, scheme, &copy);
}
