/* put.c - templates, names with numbers, indentation. */
#include "fused-kernels/loops/put.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

void put_template(FILE *out, const char *word, const char *template, const uint32_t *numbers,
                  size_t count) {
  for (;;) {
    const size_t plain = strcspn(template, "$");
    fwrite(template, 1, plain, out);
    template += plain;
    if (!*template) return;
    const size_t k = (size_t)(template[1] - '0');
    assert(template[1] == 'w' || k < count);
    if (template[1] == 'w')
      fputs(word, out);
    else if (k < count)
      fprintf(out, "%" PRIu32, numbers[k]);
    template += 2;
  }
}

struct snippet snippet(const char *text) {
  struct snippet s;
  snprintf(s.text, sizeof s.text, "%s", text);
  return s;
}

struct snippet numbered(const char *name, uint32_t number) {
  struct snippet s;
  snprintf(s.text, sizeof s.text, "%s%" PRIu32, name, number);
  return s;
}

const char *element_type(enum superop_kind kind) {
  switch (kind) {
  case SUPEROP_FLOAT: return "FLOAT";
  case SUPEROP_BOOL: return "uint8_t";
  case SUPEROP_INT:
  case SUPEROP_SEGDES: break;
  }
  return "INT";
}

void put_indented(FILE *out, const char *text, size_t length) {
  int depth = 0;
  for (const char *at = text, *end = text + length; at < end;) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    const char *next = newline ? newline + 1 : end, *last = newline ? newline : end;
    if (*at == '}') depth--;
    if (at < last && *at != '#') fprintf(out, "%*s", 2 * depth, "");
    fwrite(at, 1, (size_t)(next - at), out);
    if (at < last && last[-1] == '{') depth++;
    at = next;
  }
}
