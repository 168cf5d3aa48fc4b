/* fuzz-forms.c - any bytes at all through reader, checker and flattener, with libFuzzer (clang,
 * RAVEL_FUZZ). Nothing is executed.
 *
 * Whatever is not accepted is complained about; whatever the checker accepts is compiled, and
 * the let-form holds together (debug builds verify it; then that is an internal error). Values
 * of names are left empty. Run: fuzz-forms CORPUS nesl-tests/nesl
 */
#include "neslc/flatten/flatten.h"
#include "neslc/table.h"

#include <stdlib.h>
#include <string.h>

enum {
  MEMORY = 512 << 20, /* of one input */
  MOST_FORMS = 64
};

static void forms_fail(const char *what, const struct diag_list *diags) {
  fprintf(stderr, "fuzz-forms: %s\n", what);
  diag_print(diags, "fuzz-forms", 0, stderr);
  abort();
}

/* ---- sessions ---- */

static void read_global(void *from, struct global *g) {
  session_read(from, g);
}

/* The library is read once, all of it. It is never changed: definitions go to tables of their
 * own. */
static const struct session *library_session(void) {
  static struct heap heap;
  static struct arena arena;
  static struct session *session;
  if (session) return session;
  struct diag_list diags;
  heap_init(&heap, 0);
  arena_init(&arena, &heap);
  diag_list_init(&diags, &arena);
  session = session_new(&arena, false, &diags);
  if (!session) forms_fail("the library is broken", &diags);
  session_each(session, read_global, session);
  return session;
}

static struct table *copied(struct arena *arena, const struct table *from) {
  struct table *table = table_new(arena);
  for (const struct table_entry *e = NULL; (e = table_next(from, e));) {
    table_set(table, e->key, e->value);
  }
  return table;
}

/* Returns a copy of the names, to which names are added in the arena. */
static struct intern names_like(struct arena *arena, const struct intern *from) {
  struct intern names = *from;
  struct map *numbers = &names.numbers.latest;
  names.arena = numbers->arena = arena;
  const size_t bytes = numbers->capacity * sizeof *numbers->slots;
  numbers->slots = arena_alloc(arena, bytes);
  memcpy(numbers->slots, from->numbers.latest.slots, bytes);
  names.names.capacity = names.names.count;
  names.numbers.items.capacity = names.numbers.items.count;
  return names;
}

/* A session that knows what another one does, in an arena of its own. */
static struct session *session_like(struct arena *arena, const struct session *from) {
  struct session *s = arena_alloc(arena, sizeof *s);
  *s = *from;
  s->arena = arena;
  s->names = names_like(arena, &from->names);
  s->globals = copied(arena, from->globals);
  s->types = copied(arena, from->types);
  s->library = copied(arena, from->library);
  return s;
}

/* ---- forms ---- */

/* Binds names to values without elements, so that forms may mention them. */
static void forms_bind_nothing(struct session *s, const struct checked *c) {
  struct type *type = type_ground(s->arena, c->value->type, 0, NULL);
  struct column_kinds kinds = {.arena = s->arena};
  value_columns(type, &kinds);
  struct nesl_value value = {.type = type, .count = (uint32_t)kinds.list.count};
  value.columns = arena_alloc(s->arena, kinds.list.count * sizeof *value.columns + 1);
  for (uint32_t i = 0; i < value.count; i++) value.columns[i].kind = kinds.list.items[i];
  session_bind_checked(s, c, &value);
}

static void forms_compile(struct session *s, const struct checked *c,
                          struct complaints *complaints) {
  const struct flatten_options options = {.widths = {CVL_I64, CVL_F64}, .combine = true};
  if (session_find_missing(s, c->value, complaints)) return;
  const struct ir_program *program = flatten_expression(s, c->value, &options, complaints);
  if (!program && complaints->count == 0)
    forms_fail("refused without a complaint", complaints->diags);
  if (program) forms_bind_nothing(s, c);
}

static void look_for_internal_errors(const struct diag_list *diags) {
  static const char mark[] = "internal error";
  for (size_t i = 0; i < diags->list.count; i++) {
    if (strncmp(diags->list.items[i].message, mark, sizeof mark - 1) == 0) {
      forms_fail("an internal error", diags);
    }
  }
}

static void forms_run_forms(struct arena *arena, const uint8_t *data, size_t size) {
  struct session *s = session_like(arena, library_session());
  struct source *source = arena_alloc(arena, sizeof *source);
  *source = (struct source){.name = "fuzz",
                            .text = arena_copy(arena, (const char *)data, size),
                            .length = size,
                            .first_line = 1};
  struct reader reader;
  reader_init(&reader, arena, &s->names, source);
  for (int i = 0; i < MOST_FORMS; i++) {
    struct diag_list diags;
    struct complaints complaints = {.diags = &diags};
    struct checked checked = {0};
    diag_list_init(&diags, arena);
    struct form *form = arena_alloc(arena, sizeof *form);
    enum reading reading = read_form(&reader, &complaints, form);
    if (reading == READ_END || reading == READ_MORE) return;
    if (reading != READ_FORM || form->kind == FORM_COMMAND) continue;
    bool fine = check_form(s, form, &complaints, &checked);
    if (fine != (complaints.count == 0)) forms_fail("complaints", &diags);
    if (fine && checked.value) forms_compile(s, &checked, &complaints);
    look_for_internal_errors(&diags);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct heap heap;
  struct arena arena;
  library_session();
  heap_init(&heap, MEMORY);
  arena_init(&arena, &heap);
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump) == 0) {
    forms_run_forms(&arena, data, size);
    memory_guard_end(&guard);
  }
  arena_free(&arena);
  if (heap.live != 0) abort();
  return 0;
}
