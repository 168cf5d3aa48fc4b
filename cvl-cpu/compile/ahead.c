/* ahead.c - see ahead.h. */
#include "cvl-cpu/compile/ahead.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- what the processor has ---- */

/* Whether a word is in a line. */
static bool has_word(const char *line, const char *word, size_t length) {
  for (line += strspn(line, " \t\n"); *line; line += strspn(line, " \t\n")) {
    const size_t n = strcspn(line, " \t\n");
    if (n == length && memcmp(line, word, n) == 0) return true;
    line += n;
  }
  return false;
}

/* Whether the first processor that Linux lists has all needed abilities. */
static bool processor_has(const char *needs) {
  char line[8192];
  bool found = false;
  FILE *f = fopen("/proc/cpuinfo", "re");
  while (f && !found && fgets(line, sizeof line, f)) {
    found = strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0;
  }
  if (f) fclose(f);
  for (needs += strspn(needs, " "); *needs; needs += strspn(needs, " ")) {
    const size_t n = strcspn(needs, " ");
    if (!found || !has_word(line, needs, n)) return false;
    needs += n;
  }
  return true;
}

/* ---- the file ---- */

static const char *ahead_check(void *library) {
  const char *version = dlsym(library, FUSED_VERSION_SYMBOL);
  const char *needs = dlsym(library, FUSED_NEEDS_SYMBOL);
  if (!version || !needs) {
    return "the file of kernels is not made from what fcodeopt --emit-cpu or neslc --kernels "
           "writes";
  }
  if (strcmp(version, FUSED_VERSION) != 0) {
    return "the file of kernels was made by another version of Ravel";
  }
  if (!processor_has(needs)) return "the file of kernels was compiled for another processor";
  return NULL;
}

struct ahead *ahead_open(const char *file, const char **why) {
  char path[PATH_MAX];
  /* dlopen searches elsewhere for a name without a slash */
  const char *here = strchr(file, '/') ? "" : "./";
  const bool fits = snprintf(path, sizeof path, "%s%s", here, file) < (int)sizeof path;
  void *library = fits ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!library) {
    *why = "the file of kernels is no library that can be loaded";
    return NULL;
  }
  const char *wrong = ahead_check(library);
  if (!wrong) return library;
  *why = wrong;
  dlclose(library);
  return NULL;
}

void ahead_close(struct ahead *a) {
  if (a) dlclose(a);
}

bool ahead_has(struct ahead *a, const char *prefix) {
  return dlsym(a, prefix) != NULL;
}

void *ahead_function(struct ahead *a, const char *prefix, const char *name) {
  char whole[2 * FUSED_NAME_MAX];
  snprintf(whole, sizeof whole, "%s%s", prefix, name);
  return dlsym(a, whole);
}
