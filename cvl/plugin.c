/* plugin.c - see plugin.h. */
#include "cvl/plugin.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static const char prefix[] = "cvl-", suffix[] = ".so";

/* ---- folders ---- */

/* The folders in which modules are looked for, in order. */
struct folders {
  char path[3][PATH_MAX];
  unsigned count;
};

/* Finds the path of the running program, also where no /proc is mounted, as in a chroot. */
static bool find_program(char path[PATH_MAX]) {
  const char *started = (const char *)(uintptr_t)getauxval(AT_EXECFN);
  return realpath("/proc/self/exe", path) || (started && realpath(started, path));
}

/* Makes the path of the folder two levels above the running program with `below` behind it.
 * False if that cannot be found out. */
static bool beside_program(char path[PATH_MAX], const char *below) {
  if (!find_program(path)) return false;
  for (int levels = 0; levels < 2; levels++) {
    char *slash = strrchr(path, '/');
    if (!slash) return false;
    *slash = '\0';
  }
  size_t used = strlen(path);
  return (size_t)snprintf(path + used, PATH_MAX - used, "/%s", below) < PATH_MAX - used;
}

/* If this code is in a library, makes the path of the folder `ravel` beside it. False if it is
 * in the program. */
static bool beside_library(char path[PATH_MAX]) {
  char program[PATH_MAX];
  Dl_info about;
  if (dladdr(prefix, &about) == 0 || !about.dli_fname || !realpath(about.dli_fname, path) ||
      !find_program(program) || strcmp(path, program) == 0) {
    return false;
  }
  char *slash = strrchr(path, '/');
  return slash && (size_t)snprintf(slash, (size_t)(path + PATH_MAX - slash), "/ravel") <
                      (size_t)(path + PATH_MAX - slash);
}

static void find_folders(struct folders *f) {
  const char *given = getenv("RAVEL_BACKENDS");
  f->count = 0;
  if (given && given[0] && strlen(given) < PATH_MAX) strcpy(f->path[f->count++], given);
  if (beside_library(f->path[f->count])) {
    f->count++;
    return;
  }
  f->count += beside_program(f->path[f->count], "lib/ravel");
  if (strcmp(RAVEL_LIBRARIES, "lib") == 0) return;
  f->count += beside_program(f->path[f->count], RAVEL_LIBRARIES "/ravel");
}

/* ---- names ---- */

static bool is_name(const char *text, size_t length) {
  if (length == 0 || length >= PLUGIN_NAME_MAX) return false;
  for (size_t i = 0; i < length; i++) {
    if (!isalnum((unsigned char)text[i]) && text[i] != '-' && text[i] != '_') return false;
  }
  return true;
}

/* Finds the first file for the name. False if there is none. */
static bool find_file(const struct folders *f, const char *name, char path[PATH_MAX]) {
  if (!is_name(name, strlen(name))) return false;
  for (unsigned i = 0; i < f->count; i++) {
    int length = snprintf(path, PATH_MAX, "%s/%s%s%s", f->path[i], prefix, name, suffix);
    if (length < PATH_MAX && access(path, F_OK) == 0) return true;
  }
  return false;
}

/* The two names of OUTER:INNER. is_pair is false if it has another form, or has the same name
 * twice. */
struct pair {
  char outer[PLUGIN_NAME_MAX];
  const char *inner;
};

static bool is_pair(const char *name, struct pair *p) {
  const char *colon = strchr(name, ':');
  if (!colon || (size_t)(colon - name) >= sizeof p->outer) return false;
  snprintf(p->outer, sizeof p->outer, "%.*s", (int)(colon - name), name);
  p->inner = colon + 1;
  return strcmp(p->outer, p->inner) != 0;
}

bool plugin_exists(const char *name) {
  struct folders folders;
  struct pair pair;
  char path[PATH_MAX];
  find_folders(&folders);
  if (!is_pair(name, &pair)) return find_file(&folders, name, path);
  const bool inner = cvl_backend_find(pair.inner) || find_file(&folders, pair.inner, path);
  return inner && find_file(&folders, pair.outer, path);
}

static int compare_names(const void *a, const void *b) {
  return strcmp(a, b);
}

/* Adds the name that a file's name contains, unless it is no name or already there. */
static void add_name(char names[][PLUGIN_NAME_MAX], unsigned *count, const char *file) {
  enum { BEFORE = sizeof prefix - 1, AFTER = sizeof suffix - 1 };
  size_t length = strlen(file);
  if (length <= BEFORE + AFTER || strncmp(file, prefix, BEFORE) != 0 ||
      strcmp(file + length - AFTER, suffix) != 0 ||
      !is_name(file + BEFORE, length - BEFORE - AFTER)) {
    return;
  }
  char *name = names[*count];
  snprintf(name, PLUGIN_NAME_MAX, "%.*s", (int)(length - BEFORE - AFTER), file + BEFORE);
  for (unsigned i = 0; i < *count; i++) {
    if (strcmp(names[i], name) == 0) return;
  }
  ++*count;
}

unsigned plugin_list(char names[][PLUGIN_NAME_MAX], unsigned most) {
  struct folders folders;
  unsigned count = 0;
  find_folders(&folders);
  for (unsigned i = 0; i < folders.count; i++) {
    DIR *folder = opendir(folders.path[i]);
    for (struct dirent *e; folder && count < most && (e = readdir(folder));) {
      add_name(names, &count, e->d_name);
    }
    if (folder) closedir(folder);
  }
  qsort(names, count, PLUGIN_NAME_MAX, compare_names);
  return count;
}

/* ---- opening ---- */

/* The functions that a module exports. The second opens a back end over another one. */
typedef const struct cvl_backend *backend_for(uint32_t version);
typedef const struct cvl_backend *backend_over(uint32_t version,
                                               const struct cvl_backend *inner);

/* Finds the function of this name. It is copied into an object, as ISO C does not convert one
 * to the other. */
static bool find_function(const char *path, void *library, const char *name, void *function,
                          char why[PLUGIN_WHY_MAX]) {
  void *symbol = dlsym(library, name);
  if (symbol) {
    memcpy(function, &symbol, sizeof symbol);
    return true;
  }
  snprintf(why, PLUGIN_WHY_MAX,
           strcmp(name, "ravel_backend") == 0
               ? "%.900s is no back end: it lacks %s"
               : "%.900s has no vectors of other back ends: it lacks %s",
           path, name);
  return false;
}

/* inner: NULL, or the back end that holds its vectors. */
static const struct cvl_backend *plugin_load(const char *path, void *library,
                                             const struct cvl_backend *inner,
                                             char why[PLUGIN_WHY_MAX]) {
  const struct cvl_backend *backend = NULL;
  backend_for *alone;
  backend_over *over;
  if (inner) {
    if (!find_function(path, library, "ravel_backend_over", &over, why)) return NULL;
    backend = over(CVL_VERSION, inner);
  } else {
    if (!find_function(path, library, "ravel_backend", &alone, why)) return NULL;
    backend = alone(CVL_VERSION);
  }
  if (backend && backend->version == CVL_VERSION) return backend;
  snprintf(why, PLUGIN_WHY_MAX,
           "%.800s is for another version of Ravel: build both from the same source", path);
  return NULL;
}

static const struct cvl_backend *
plugin_open_one(const char *name, const struct cvl_backend *inner, char why[PLUGIN_WHY_MAX]) {
  struct folders folders;
  char path[PATH_MAX];
  find_folders(&folders);
  if (!find_file(&folders, name, path)) {
    int used = snprintf(why, PLUGIN_WHY_MAX, "there is no %s%.40s%s", prefix, name, suffix);
    for (unsigned i = 0; i < folders.count && used < PLUGIN_WHY_MAX; i++) {
      used += snprintf(why + used, (size_t)(PLUGIN_WHY_MAX - used), "%s %.400s",
                       i ? " or" : " in", folders.path[i]);
    }
    return NULL;
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror(); /* the message begins with the path */
    snprintf(why, PLUGIN_WHY_MAX, "it cannot be loaded: %.900s", reason ? reason : path);
    return NULL;
  }
  const struct cvl_backend *backend = plugin_load(path, library, inner, why);
  if (!backend) dlclose(library);
  return backend;
}

const struct cvl_backend *plugin_open(const char *name, char why[PLUGIN_WHY_MAX]) {
  struct pair pair;
  if (!is_pair(name, &pair)) return plugin_open_one(name, NULL, why);
  const struct cvl_backend *inner = cvl_backend_find(pair.inner);
  if (!inner) inner = plugin_open_one(pair.inner, NULL, why);
  return inner ? plugin_open_one(pair.outer, inner, why) : NULL;
}
