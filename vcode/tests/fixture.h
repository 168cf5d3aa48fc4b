/* fixture.h - parsing a text in a test: a struct of heap, arena, diagnostics and result. */
#ifndef RAVEL_VCODE_TESTS_FIXTURE_H
#define RAVEL_VCODE_TESTS_FIXTURE_H

#include "vcode/tests/equal.h"

#include <stdlib.h>
#include <string.h>

static const struct widths classic = {CVL_I32, CVL_F64};
static const struct widths wide = {CVL_I64, CVL_F64};

struct parsed {
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
  struct vcode_program *program;
};

static inline void parse_bytes_as(struct parsed *p, const char *text, size_t length,
                                  struct widths widths) {
  heap_init(&p->heap, 0);
  arena_init(&p->arena, &p->heap);
  diag_list_init(&p->diags, &p->arena);
  p->program = vcode_parse(&p->arena, "test.vcode", text, length, widths, &p->diags);
}

static inline void parsed_free(struct parsed *p) {
  arena_free(&p->arena);
}

/* The whole file, NUL-terminated, for free(); NULL if it cannot be read. */
static inline char *read_whole(const char *path, size_t *length) {
  *length = 0;
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  size_t capacity = 1 << 16;
  char *text = malloc(capacity);
  if (text == NULL) abort();
  for (size_t n; (n = fread(text + *length, 1, capacity - *length - 1, file)) > 0;) {
    *length += n;
    if (capacity - *length >= 2) continue;
    text = realloc(text, capacity *= 2);
    if (text == NULL) abort();
  }
  text[*length] = '\0';
  fclose(file);
  return text;
}

#endif
