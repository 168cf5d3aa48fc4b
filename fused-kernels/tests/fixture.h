/* fixture.h - superoperators from a text in a test. */
#ifndef RAVEL_FUSED_TESTS_FIXTURE_H
#define RAVEL_FUSED_TESTS_FIXTURE_H

#include "fused-kernels/fused.h"

#include <string.h>

struct loaded {
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
  struct vcode_program *program;
  uint32_t count;
  const struct superop **ops; /* NULL where a definition is refused */
};

static inline void load_more(struct loaded *l, const char *text) {
  vcode_parse_definitions(&l->arena, l->program, "test.sop", text, strlen(text), &l->diags);
  l->count = l->program->fused_count;
  l->ops = arena_alloc(&l->arena, (l->count + 1) * sizeof *l->ops);
  for (uint32_t i = 0; i < l->count; i++) {
    l->ops[i] = fused_parse(&l->arena, l->program, &l->program->fused[i], &l->diags);
  }
}

/* Definitions alone, in the widths given. */
static inline void load(struct loaded *l, const char *text, struct widths widths) {
  static const char program[] = "FUNC P RET";
  memset(l, 0, sizeof *l);
  heap_init(&l->heap, 0);
  arena_init(&l->arena, &l->heap);
  diag_list_init(&l->diags, &l->arena);
  l->program =
      vcode_parse(&l->arena, "test.vcode", program, strlen(program), widths, &l->diags);
  load_more(l, text);
}

static inline void unload(struct loaded *l) {
  arena_free(&l->arena);
}

#endif
