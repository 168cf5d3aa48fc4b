/* modules.c - see modules.h. */
#include "neslc/modules.h"

#include "neslc/front/parse.h"
#include "neslc/types/check.h"

#include <ctype.h>
#include <string.h>

/* ---- names ---- */

static const struct name *qualified(struct session *session, const struct module *m,
                                    const struct name *name) {
  char few[128], *text = few;
  const size_t length = m->prefix->length + 1 + name->length;
  if (length >= sizeof few) text = arena_alloc(session->arena, length + 1);
  memcpy(text, m->prefix->text, m->prefix->length);
  text[m->prefix->length] = '.';
  memcpy(text + m->prefix->length + 1, name->text, name->length);
  return intern_name(&session->names, text, length);
}

static bool is_program(const struct session *session) {
  return session->in_library || !session->module->prefix;
}

const struct name *module_own(struct session *session, const struct name *name) {
  return is_program(session) ? name : qualified(session, session->module, name);
}

struct global *module_find(struct session *session, const struct name *name) {
  const struct table *globals = session->in_library ? session->library : session->globals;
  struct global *global = table_get(globals, module_own(session, name));
  if (!global && !is_program(session)) global = table_get(session->library, name);
  return session_read(session, global);
}

struct module *module_imported(const struct session *session, const struct name *name) {
  return session->in_library ? NULL : table_get(session->module->imports, name);
}

struct global *module_global(struct session *session, const struct module *m,
                             const struct name *name) {
  return table_get(session->globals, qualified(session, m, name));
}

const struct datatype *module_type(struct session *session, const struct module *m,
                                   const struct name *name) {
  return table_get(session->types, qualified(session, m, name));
}

/* Returns the part of a name behind the module's prefix; NULL if the name is of no or another
 * module. */
static const char *name_within(const struct module *m, const struct name *name) {
  const size_t length = m->prefix->length;
  const bool within = name->length > length && name->text[length] == '.' &&
                      memcmp(name->text, m->prefix->text, length) == 0;
  return within && !strchr(name->text + length + 1, '.') ? name->text + length + 1 : NULL;
}

const char *module_nearest(struct session *session, const struct module *m, const char *name) {
  struct nearest_name nearest = nearest_to(name);
  for (const struct table_entry *e = NULL; (e = table_next(session->globals, e));) {
    const char *other = e->value ? name_within(m, e->key) : NULL;
    if (other) nearest_try(&nearest, other);
  }
  return nearest.best;
}

static const char *imported_with(struct session *session, const struct table *of,
                                 const struct name *name) {
  if (session->in_library) return NULL;
  const struct table *imports = session->module->imports;
  for (const struct table_entry *e = NULL; (e = table_next(imports, e));) {
    if (e->value && table_get(of, qualified(session, e->value, name))) {
      return arena_printf(session->arena, "%s.%s", ((const struct name *)e->key)->text,
                          name->text);
    }
  }
  return NULL;
}

const char *module_with(struct session *session, const struct name *name) {
  return imported_with(session, session->globals, name);
}

const char *module_with_type(struct session *session, const struct name *name) {
  return imported_with(session, session->types, name);
}

bool module_is_visible(struct session *session, const struct global *global) {
  const char *dot = strrchr(global->name->text, '.');
  if (!dot) return is_program(session) || global->library;
  const size_t length = (size_t)(dot - global->name->text);
  const struct name *prefix = intern_name(&session->names, global->name->text, length);
  const struct module *m = module_imported(session, prefix);
  return m && m->prefix == prefix;
}

/* ---- modules ---- */

static struct arena *lasting(struct session *session) {
  return session->names.arena;
}

static const char *lasting_text(struct session *session, const char *text) {
  return arena_copy(lasting(session), text, strlen(text));
}

static struct module *of_file(const struct session *session, const char *file) {
  struct module *m = session->modules;
  while (m && strcmp(m->file, file) != 0) m = m->older;
  return m;
}

static bool is_imported_by(const struct module *by, const struct module *m) {
  for (const struct table_entry *e = NULL; (e = table_next(by->imports, e));) {
    if (e->value == m) return true;
  }
  return false;
}

static bool is_used_module(const struct session *session, const struct module *m) {
  bool used = is_imported_by(session->program, m);
  for (const struct module *by = session->modules; by; by = by->older) {
    used |= by != m && is_imported_by(by, m);
  }
  return used;
}

/* Removes the names of a module that are not in `kept`, if that is not NULL. What refers to
 * their definitions keeps them. */
static void remove_names(struct table *names, const struct module *m,
                         const struct table *kept) {
  for (const struct table_entry *e = NULL; (e = table_next(names, e));) {
    const bool gone = e->value && name_within(m, e->key) && !(kept && table_get(kept, e->key));
    if (gone) ((struct table_entry *)(uintptr_t)e)->value = NULL;
  }
}

static void forget_module(struct session *session, struct module *m) {
  struct module **link = &session->modules;
  while (*link != m) link = &(*link)->older;
  *link = m->older;
  remove_names(session->globals, m, NULL);
  remove_names(session->types, m, NULL);
}

static bool has_prefix(const struct session *session, const struct name *prefix) {
  const struct module *m = session->modules;
  while (m && m->prefix != prefix) m = m->older;
  return m != NULL;
}

/* A prefix of its own: the name; for what a module imports, within that one's. */
static const struct name *choose_prefix(struct session *session, const struct name *name) {
  const struct name *wanted = module_own(session, name), *prefix = wanted;
  for (unsigned k = 2; has_prefix(session, prefix); k++) {
    const char *text = arena_printf(session->arena, "%s#%u", wanted->text, k);
    prefix = intern_name(&session->names, text, strlen(text));
  }
  return prefix;
}

static struct module *add_module(struct session *session, const struct module_request *r) {
  struct module *m = arena_alloc(lasting(session), sizeof *m);
  *m = (struct module){.prefix = choose_prefix(session, r->name),
                       .file = lasting_text(session, r->file),
                       .shown = lasting_text(session, r->shown),
                       .imports = table_new(lasting(session)),
                       .older = session->modules};
  session->modules = m;
  return m;
}

/* ---- importing ---- */

struct importing {
  struct session *session;
  const struct module_request *request;
  const struct module_files *files;
  struct complaints *complaints;
};

/* FNV-1a, of 64 bits. */
static uint64_t hash_of_source(const struct source *source) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < source->length; i++) {
    hash = (hash ^ (unsigned char)source->text[i]) * UINT64_C(0x100000001b3);
  }
  return hash;
}

/* "a.nesl imports b.nesl, which imports a.nesl" */
static bool complain_of_cycle(const struct importing *i, const struct module *m) {
  struct arena *arena = i->session->arena;
  const char *text = m->shown;
  const struct module *by = i->session->module;
  for (; by != m; by = by->importer) {
    text = arena_printf(arena, "%s, which imports %s", by->shown, text);
  }
  complain(i->complaints, NESL_LIMIT, i->request->source, i->request->at,
           "these files import each other: %s imports %s", m->shown, text);
  return false;
}

/* Executes its forms as those of the module. */
static bool execute_module_forms(const struct importing *i, struct module *m,
                                 const struct source *source) {
  struct session *session = i->session;
  m->imports = table_new(lasting(session));
  m->defined = table_new(session->arena);
  m->complete = i->files->execute(i->files->context, source);
  if (m->complete) {
    remove_names(session->globals, m, m->defined);
    remove_names(session->types, m, m->defined);
  }
  m->defined = NULL;
  m->length = source->length;
  m->hash = hash_of_source(source);
  m->renewed = session->round;
  return m->complete;
}

static bool refresh(const struct importing *, struct module *);

/* Refreshes what it imports; *same: none of it was read again. */
static bool refresh_imports(const struct importing *i, const struct module *m, bool *same) {
  for (const struct table_entry *e = NULL; (e = table_next(m->imports, e));) {
    const struct module *other = e->value;
    if (!refresh(i, e->value)) return false;
    *same &= other->renewed != i->session->round;
  }
  return true;
}

static bool read_module_source(const struct importing *i, struct module *m,
                               const struct source *source) {
  bool same = m->complete && m->length == source->length && m->hash == hash_of_source(source);
  if (same && !refresh_imports(i, m, &same)) return false;
  return same || execute_module_forms(i, m, source);
}

/* Reads a module, which counts as being read meanwhile, and no longer if memory runs out. */
static bool read_guarded(const struct importing *i, struct module *m,
                         const struct source *source) {
  struct session *session = i->session;
  struct module *outer = session->module;
  struct memory_guard guard;
  m->importer = outer;
  m->reading = true;
  session->module = m;
  memory_guard_begin(&guard);
  const bool lacks_memory = setjmp(guard.jump) != 0;
  const bool fine = !lacks_memory && read_module_source(i, m, source);
  if (!lacks_memory) memory_guard_end(&guard);
  session->module = outer;
  m->reading = false;
  m->complete &= fine;
  if (lacks_memory) memory_failed();
  return fine;
}

/* Reads a module again if its text, or what it imports, has changed. */
static bool refresh(const struct importing *i, struct module *m) {
  if (m->reading) return complain_of_cycle(i, m);
  if (m->current == i->session->round && m->complete) return true;
  const struct source *source = i->files->read(i->files->context, m->file, m->shown);
  if (!source) return false;
  region_hold(source->region);
  const bool fine = read_guarded(i, m, source);
  region_let_go(i->session, source->region);
  if (fine) m->current = i->session->round;
  return fine;
}

bool module_import(struct session *session, const struct module_request *request,
                   const struct module_files *files, struct complaints *complaints) {
  const struct importing i = {session, request, files, complaints};
  struct table *imports = session->module->imports;
  struct module *m = of_file(session, request->file);
  struct module *before = table_get(imports, request->name);
  if (before && before != m) {
    table_set(imports, request->name, NULL);
    if (!is_used_module(session, before)) forget_module(session, before);
  }
  if (!m) m = add_module(session, request);
  const bool fine = refresh(&i, m);
  /* The good parts of a file with errors have their names, so that these are all errors. */
  if (fine || m->renewed == session->round) table_set(imports, request->name, m);
  return fine;
}

/* The name that `import "file"` gives; NULL if that would be none. */
static const struct name *default_name(struct session *session, const char *file) {
  static const char extension[] = ".nesl";
  const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
  size_t length = strlen(name);
  const size_t end = strlen(extension);
  if (length > end && strcmp(name + length - end, extension) == 0) length -= end;
  char *text = arena_copy(session->arena, name, length);
  bool legal = length > 0 && !isdigit((unsigned char)*text);
  for (size_t k = 0; k < length; k++) {
    legal &= isalnum((unsigned char)text[k]) || text[k] == '_';
    text[k] = (char)tolower((unsigned char)text[k]);
  }
  return legal ? intern_name(&session->names, text, length) : NULL;
}

static bool is_as(const struct nesl_token *word) {
  return word->kind == TOKEN_WORD && strcmp(word->name->text, "as") == 0;
}

static bool complain_of_words(const struct form *form, struct complaints *complaints) {
  complain(complaints, NESL_PARSE, form->source, form->at,
           "import takes the name of a file as a string, and perhaps `as NAME`");
  return false;
}

void module_complain_missing(struct complaints *complaints, const struct form *form,
                             const char *name, const char *looked) {
  complain(complaints, NESL_RUNTIME, form->source, form->at,
           "there is no file `%s`: looked for %s; NESL_PATH names more folders", name, looked);
}

bool module_read_words(struct session *session, const struct form *form,
                       struct complaints *complaints, const char **file,
                       const struct name **name) {
  const struct nesl_token *words = form->words;
  const bool named = form->word_count == 3;
  if (form->word_count == 0 || words[0].kind != TOKEN_STRING ||
      (form->word_count > 1 && !(named && is_as(&words[1]) && token_is_name(&words[2])))) {
    return complain_of_words(form, complaints);
  }
  *file = arena_copy(session->arena, words[0].text, words[0].length);
  *name = named ? words[2].name : default_name(session, *file);
  if (!*name) {
    complain(complaints, NESL_PARSE, form->source, words[0].at,
             "the file's own name is no name of NESL: import \"%s\" as NAME", *file);
  }
  return *name != NULL;
}
