/* programs.c - see programs.h. */
#include "programs.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines of superoperators begin with a name, an operation or the outputs. */
static bool needs_position(const char *line, size_t length) {
  static const char *const without[] = {"yield", "else", "end", "never",
                                        "fused", "$",    "(",   "->"};
  while (length > 0 && *line == ' ') line++, length--;
  for (size_t i = 0; i < sizeof without / sizeof without[0]; i++) {
    size_t n = strlen(without[i]);
    if (length >= n && strncmp(line, without[i], n) == 0) return false;
  }
  return length > 0 && !memmem(line, length, " @", 2);
}

/* Without the comment at its end, and spaces before that. */
static size_t code_length(const char *line, size_t length) {
  const char *comment = memchr(line, ';', length);
  if (comment) length = (size_t)(comment - line);
  while (length > 0 && line[length - 1] == ' ') length--;
  return length;
}

char *with_positions(struct arena *arena, const char *text) {
  char *all = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&all, &size);
  for (unsigned n = 0; *text;) {
    const size_t length = strcspn(text, "\n"), code = code_length(text, length);
    n += code > 0;
    fprintf(out, "%.*s", (int)code, text);
    if (needs_position(text, code)) fprintf(out, " @%u:1", n);
    putc('\n', out);
    text += length + (text[length] == '\n');
  }
  fclose(out);
  char *copy = arena_copy(arena, all, size);
  free(all);
  return copy;
}

const char *without_positions(struct arena *arena, const char *text, size_t length) {
  char *out = arena_alloc(arena, length + 1), *to = out;
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '@' && i > 0 && text[i - 1] == ' ') {
      to--;
      while (i < length && text[i] != '\n') i++;
    }
    if (text[i] == '\n' && (to == out || to[-1] == '\n')) continue;
    *to++ = text[i];
  }
  *to = '\0';
  return out;
}

unsigned each_example(const char *file, void (*check)(const char *title, const char *text)) {
  static char all[100000];
  char path[1000];
  snprintf(path, sizeof path, "%s/%s", EXAMPLES, file);
  FILE *in = fopen(path, "r");
  cr_assert(in, "%s: %m", path);
  const size_t size = fread(all, 1, sizeof all - 1, in);
  fclose(in);
  cr_assert(size > 0 && size < sizeof all - 1, "%s: %zu bytes", path, size);
  char *title = strstr(all, "== ");
  unsigned count = 0;
  for (; title; count++) {
    char *text = strchr(title, '\n'), *next = strstr(text, "\n== ");
    if (next) *next++ = '\0';
    *text++ = '\0';
    check(title + strlen("== "), text);
    title = next;
  }
  return count;
}
