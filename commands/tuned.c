/* tuned.c - see tuned.h. */
#include "commands/tuned.h"

#include "base/cache.h"
#include "commands/output.h"
#include "commands/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

unsigned tuned_class(uint64_t bytes) {
  unsigned class = 0;
  for (; bytes > 0; bytes /= 4) class ++;
  return class;
}

/* ---- a file that the user named ---- */

/* Sets the values of a file; false with diagnostics. */
static bool read_tuned_values(const char *file, struct tuning *values,
                              struct diag_list *diags) {
  struct source_text text = {0};
  struct heap heap;
  heap_init(&heap, 0);
  *values = (struct tuning){0};
  const bool fine = source_read(&text, &heap, file, diags) &&
                    tuning_parse(file, text.text, text.length, values, diags);
  source_free(&text, &heap);
  return fine;
}

static const struct machine_tuned *tuned_of_file(void *with, const struct cvl_backend *b,
                                                 const struct machine_options *o) {
  struct tuned *t = with;
  (void)b;
  (void)o;
  t->used = true;
  return &t->machine;
}

/* ---- values that are kept ---- */

bool tuned_device(const struct cvl_backend *b, const struct machine_options *o,
                  struct cvl_device *device) {
  enum { MOST = 64 };
  struct cvl_device all[MOST];
  const char *why;
  const unsigned count = b->devices(all, MOST, &why),
                 which = o->device < 0 ? 0 : (unsigned)o->device;
  if (which >= count || which >= MOST) return false;
  *device = all[which];
  return true;
}

/* The folder; false if there is none. */
static bool folder(char *path, size_t size) {
  static const char own[] = "/tuning";
  const char *given = getenv("RAVEL_CACHE");
  if (given) {
    const int length = snprintf(path, size, "%s%s", given, own);
    return given[0] != '\0' && (size_t)length < size;
  }
  if (cache_folder(path, size) != 0 || strlen(path) + sizeof own > size) return false;
  strcat(path, own);
  return true;
}

bool tuned_any(void) {
  char path[PATH_MAX];
  return folder(path, sizeof path) && access(path, F_OK) == 0;
}

static void add_digest_text(struct sha256_state *s, const char *text) {
  sha256_add(s, text, strlen(text) + 1);
}

bool tuned_path(const struct tuned_program *program, const struct cvl_backend *b,
                const struct machine_options *o, char path[PATH_MAX]) {
  struct cvl_device device;
  struct sha256_state state;
  uint8_t digest[SHA256_BYTES];
  char shown[SHA256_DIGITS + 1];
  if (!folder(path, PATH_MAX) || !tuned_device(b, o, &device)) return false;
  const uint64_t numbers[] = {program->input_class,
                              o->threads ? o->threads : device.processors};
  sha256_begin(&state);
  sha256_add(&state, program->digest, sizeof program->digest);
  sha256_add(&state, numbers, sizeof numbers);
  add_digest_text(&state, b->name);
  add_digest_text(&state, device.name);
  sha256_end(&state, digest);
  sha256_show(digest, shown);
  const size_t length = strlen(path);
  const int more = snprintf(path + length, PATH_MAX - length, "/ravel-%.32s.tuning", shown);
  return (size_t)more < PATH_MAX - length;
}

/* A file that is damaged costs only what it would have gained. */
static bool read_kept(struct tuned *t) {
  struct diag_list problems;
  diag_list_init(&problems, t->diags->arena);
  if (access(t->path, R_OK) != 0) return false;
  if (read_tuned_values(t->path, &t->values, &problems)) return true;
  const struct diag *first = problems.list.count > 0 ? &problems.list.items[0] : NULL;
  diag_add(t->diags, SEVERITY_WARNING, t->path, first ? first->pos : (struct source_pos){0},
           NULL, "%s; --tune makes this file, which is not used as it is",
           first ? first->message : "out of memory");
  return false;
}

static const struct machine_tuned *of_kept(void *with, const struct cvl_backend *b,
                                           const struct machine_options *o) {
  struct tuned *t = with;
  char why[CACHE_WHY];
  if (!folder(t->path, sizeof t->path)) return NULL;
  const int directory = cache_open(t->path, 0, why); /* that nobody else may write */
  if (directory < 0) return NULL;
  close(directory);
  t->used = tuned_path(t->program, b, o, t->path) && read_kept(t);
  return t->used ? &t->machine : NULL;
}

static const char *name_in_path(const char *path) {
  return strrchr(path, '/') + 1;
}

/* Opens the folder of a file that is kept, as cache_open does. */
static int open_folder(const char *path, unsigned make, char why[CACHE_WHY]) {
  char parent[PATH_MAX];
  snprintf(parent, sizeof parent, "%.*s", (int)(name_in_path(path) - 1 - path), path);
  return cache_open(parent, make, why);
}

bool tuned_forget(const char *path) {
  char why[CACHE_WHY];
  const int directory = open_folder(path, 0, why);
  if (directory < 0) return false;
  const bool gone = unlinkat(directory, name_in_path(path), 0) == 0;
  close(directory);
  return gone;
}

bool tuned_keep(const char *path, const char *text, size_t length, struct diag_list *diags) {
  enum { FOLDERS = 3, MOST_BYTES = 1 << 20 };
  char why[CACHE_WHY];
  const int directory = open_folder(path, FOLDERS, why);
  if (directory < 0) {
    diag_add(diags, SEVERITY_ERROR, NULL, (struct source_pos){0}, NULL,
             "the tuning values cannot be kept: %s", why);
    return false;
  }
  const int error = cache_keep_text(directory, name_in_path(path), text, length);
  if (!error) cache_make_room(directory, "ravel-", ".tuning", MOST_BYTES);
  close(directory);
  return error == 0 || output_complain(diags, path, error);
}

/* ---- either ---- */

bool tuned_begin(struct tuned *t, const char *wish, const struct tuned_program *program,
                 struct machine_options *options, struct diag_list *diags) {
  *t = (struct tuned){.program = program, .diags = diags};
  t->machine = (struct machine_tuned){&t->values, t->path};
  const char *usual = getenv("RAVEL_TUNING");
  if (!wish && usual && *usual) wish = usual;
  if (wish && strcmp(wish, "off") == 0) return true;
  if (wish) {
    snprintf(t->path, sizeof t->path, "%s", wish);
    options->tuning = (struct machine_tuning){tuned_of_file, t};
    return read_tuned_values(wish, &t->values, diags);
  }
  if (program) options->tuning = (struct machine_tuning){of_kept, t};
  return true;
}
