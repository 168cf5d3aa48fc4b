/* c-compiler.c - see c-compiler.h. */
#include "base/c-compiler.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char variable[] = "RAVEL_CC", blanks[] = " \t\n";

/* ---- programs ---- */

static bool is_program(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

static bool find_in_path(const char *name, char to[PATH_MAX]) {
  const char *path = getenv("PATH");
  while (path && *path) {
    const size_t n = strcspn(path, ":");
    const int length = snprintf(to, PATH_MAX, "%.*s/%s", (int)n, path, name);
    if (path[0] == '/' && length < PATH_MAX && is_program(to)) return true;
    path += n + (path[n] == ':');
  }
  return false;
}

/* Finds the program that a word means, as a shell does. Links are not followed: what they lead
 * to may ask for the name that it was called by. */
static bool find_program(const char *word, char to[PATH_MAX]) {
  if (!strchr(word, '/')) return find_in_path(word, to);
  const bool whole = word[0] == '/';
  if (!whole && !getcwd(to, PATH_MAX)) return false;
  const size_t used = whole ? 0 : strlen(to);
  const int length = snprintf(to + used, PATH_MAX - used, "%s%s", whole ? "" : "/", word);
  return used + (size_t)length < PATH_MAX && is_program(to);
}

/* ---- the choice ---- */

/* Fills `words` from the text. Returns how many there are, at most so many. */
static unsigned split(char *text, char **words, unsigned most) {
  unsigned count = 0;
  char *rest = NULL;
  for (char *word = strtok_r(text, blanks, &rest); word && count < most;
       word = strtok_r(NULL, blanks, &rest)) {
    words[count++] = word;
  }
  return count;
}

static bool choose_named(struct c_compiler *c, const char *named) {
  if (strlen(named) >= sizeof c->text) {
    snprintf(c->why, sizeof c->why, "%s is too long", variable);
    return false;
  }
  strcpy(c->text, named);
  const unsigned count = split(c->text, c->words, C_COMPILER_WORDS + 1);
  if (count > C_COMPILER_WORDS) {
    snprintf(c->why, sizeof c->why, "%s has more than %d words", variable, C_COMPILER_WORDS);
  } else if (count > 0 && !find_program(c->words[0], c->path)) {
    snprintf(c->why, sizeof c->why, "%s names '%s', which is no program%s", variable,
             c->words[0], strchr(c->words[0], '/') ? "" : " in PATH");
  } else {
    c->count = count;
  }
  return c->count > 0;
}

static bool choose_of_system(struct c_compiler *c) {
  static const char *const names[] = {"cc", "gcc", "clang"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (!find_in_path(names[i], c->path)) continue;
    c->count = 1;
    return true;
  }
  return false;
}

static bool choose_zig(struct c_compiler *c, const char *zig) {
  if (!zig || !find_program(zig, c->path)) return false;
  strcpy(c->text, "cc");
  c->words[1] = c->text;
  c->count = 2;
  return true;
}

bool c_compiler_choose(struct c_compiler *c, const char *zig) {
  const char *named = getenv(variable);
  *c = (struct c_compiler){.named = named != NULL};
  const bool found = named ? choose_named(c, named) : choose_of_system(c) || choose_zig(c, zig);
  c->words[0] = c->path;
  c->words[c->count] = NULL;
  return found;
}

/* ---- what it is ---- */

static void add_file(struct sha256_state *state, const char *path) {
  struct stat s;
  if (stat(path, &s) != 0) return;
  const uint64_t facts[] = {(uint64_t)s.st_dev, (uint64_t)s.st_ino, (uint64_t)s.st_size,
                            (uint64_t)s.st_mtim.tv_sec, (uint64_t)s.st_mtim.tv_nsec};
  sha256_add(state, facts, sizeof facts);
}

/* A word behind the first may be the compiler that the first one starts. */
void c_compiler_identify(const struct c_compiler *c, struct sha256_state *state) {
  char path[PATH_MAX];
  for (unsigned i = 0; i < c->count; i++) {
    sha256_add(state, c->words[i], strlen(c->words[i]) + 1);
    if (c->words[i][0] != '-' && find_program(c->words[i], path)) add_file(state, path);
  }
}

static const char *last_part(const char *path) {
  return strrchr(path, '/') + 1;
}

static void describe_found(const struct c_compiler *c, FILE *out) {
  char real[PATH_MAX];
  fputs("C compiler:", out);
  for (unsigned i = 0; i < c->count; i++) fprintf(out, " %s", c->words[i]);
  if (realpath(c->path, real) && strcmp(last_part(real), last_part(c->path)) != 0)
    fprintf(out, ", which is %s", real);
  if (c->named) fputs(", as RAVEL_CC says", out);
}

void c_compiler_describe(const struct c_compiler *c, FILE *out) {
  if (c->count > 0) {
    describe_found(c, out);
  } else if (c->why[0]) {
    fprintf(out, "C compiler: none, since %s; programs run evaluated and flattened", c->why);
  } else if (c->named) {
    fputs("C compiler: none, since RAVEL_CC is empty; programs run evaluated and flattened",
          out);
  } else {
    fputs("C compiler: none; programs run evaluated and flattened. Install gcc, clang or, with "
          "pip, ziglang (commands take RAVEL_CC='python3 -m ziglang cc')",
          out);
  }
}
