/* load.c - the directory of compiled code: names of files, and loading them. */
#include "cvl-cpu/compile/private.h"

#include "base/cache.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the directory ---- */

void compile_end(struct compile_cache *c, const char *why) {
  char line[CACHE_WHY + 64];
  snprintf(line, sizeof line, "superoperators are not compiled: %s", why);
  if (!c->given_up) cvl_say(&c->say, line);
  c->given_up = true;
}

void compile_complain(struct compile_cache *c, int error) {
  char why[CACHE_WHY], text[128];
  snprintf(why, sizeof why, "%s: %s", c->path, strerror_r(error, text, sizeof text));
  if (!c->when_it_pays) compile_end(c, why);
  c->given_up = true;
}

bool compile_directory(struct compile_cache *c, bool make) {
  char why[CACHE_WHY];
  if (c->directory >= 0 || c->given_up) return c->directory >= 0;
  const int opened = cache_open(c->path, make ? 2 : 0, why);
  if (opened >= 0) {
    c->directory = opened;
    return true;
  }
  if (opened == CACHE_NOT_THERE && !make) return false;
  if (opened == CACHE_NOT_TRUSTED || !c->when_it_pays) compile_end(c, why);
  c->given_up = true;
  return false;
}

/* ---- names ---- */

/* Writes the name that the state's hash gives. */
static void end_name(struct sha256_state *state, char name[COMPILED_NAME]) {
  uint8_t digest[SHA256_BYTES];
  char digits[SHA256_DIGITS + 1];
  sha256_end(state, digest);
  sha256_show(digest, digits);
  snprintf(name, COMPILED_NAME, COMPILED_PREFIX "%s" COMPILED_SUFFIX, digits);
}

void compile_name(struct compiled_code *code) {
  struct sha256_state state = *compiler_identity(&code->cache->compiler);
  sha256_add(&state, code->prefix, strlen(code->prefix) + 1);
  if (code->soon) sha256_add(&state, "soon", sizeof "soon");
  end_name(&state, code->name);
}

void compile_name_file(struct compile_cache *c, struct compilation *x) {
  struct sha256_state state = *compiler_identity(&c->compiler);
  for (const struct compiled_code *code = c->codes; code; code = code->next) {
    if (code->compilation == x) sha256_add(&state, code->prefix, strlen(code->prefix) + 1);
  }
  if (x->soon) sha256_add(&state, "soon", sizeof "soon");
  end_name(&state, x->file);
}

struct spent_name {
  char at[COMPILED_NAME + 8];
};

/* Returns the name under which it is kept what was spent without a code. */
static struct spent_name spent_name(const struct compiled_code *code) {
  struct spent_name name;
  snprintf(name.at, sizeof name.at, "%s.spent", code->name);
  return name;
}

/* ---- loading ---- */

/* Whether the library has the functions, and they were made for this name. A compiler may have
 * written something else. */
static bool is_made_for(void *library, const struct compiled_code *code) {
  const char *name = dlsym(library, code->prefix);
  return name && strncmp(name, code->name, sizeof code->name) == 0;
}

static bool load_is_loaded(const struct compile_cache *c, const char *file) {
  for (const struct compiled_code *code = c->codes; code; code = code->next) {
    if (code->library && strcmp(code->from, file) == 0) return true;
  }
  return false;
}

/* Opens a library if it is complete, which is checked once. The path goes through the directory
 * that was checked. It differs for different contents, since the loader identifies objects by
 * their paths. */
static void *open_library(const struct compile_cache *c, const char *file) {
  char path[COMPILED_NAME + 64];
  uint64_t bytes;
  snprintf(path, sizeof path, "/proc/self/fd/%d/%s", c->directory, file);
  if (load_is_loaded(c, file)) return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  const int fd = cache_find(c->directory, file, &bytes);
  if (fd < 0) return NULL;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  close(fd);
  return library;
}

void compile_load_from(struct compiled_code *code, const char *file) {
  void *library = open_library(code->cache, file);
  if (!library) return;
  if (!is_made_for(library, code)) {
    dlclose(library);
    return;
  }
  code->library = library;
  code->state = READY;
  atomic_store(&code->cache->has_found, true);
  if (code->spent_before > 0) cache_remove(code->cache->directory, spent_name(code).at);
  snprintf(code->from, sizeof code->from, "%s", file);
}

void compile_load(struct compiled_code *code) {
  char file[COMPILED_NAME];
  struct compile_cache *c = code->cache;
  if (!compile_directory(c, false)) return;
  const bool linked = cache_linked(c->directory, code->name, file, sizeof file);
  compile_load_from(code, linked ? file : code->name);
  if (code->state != READY)
    code->spent_before = cache_number(c->directory, spent_name(code).at);
}

/* Spending less than that is not worth the link. */
static const double spent_least = 5e-3;

void compile_keep_spent(struct compiled_code *code) {
  struct compile_cache *c = code->cache;
  if (code->spent < spent_least || code->state == READY || code->state == FAILED) return;
  if (!compile_directory(c, true)) return;
  (void)cache_keep_number(c->directory, spent_name(code).at, code->spent_before + code->spent);
}

bool compile_is_kept(const struct compile_cache *c, const char *file) {
  uint64_t bytes;
  const int fd = cache_find(c->directory, file, &bytes);
  if (fd >= 0) close(fd);
  return fd >= 0;
}
