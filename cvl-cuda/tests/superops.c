/* superops.c - see superops.h. It is C, as the parsers' memory is. */
#include "cvl-cuda/tests/superops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fused-kernels/fused.h"

struct loaded {
  struct superops superops; /* first: it is the caller's */
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
};

static void superops_give_up(const struct loaded *l) {
  diag_print(&l->diags, "superops", 0, stderr);
  abort();
}

struct superops *superops_load_in(struct widths widths, const char *text) {
  static const char program[] = "FUNC P RET";
  struct loaded *l = calloc(1, sizeof *l);
  if (!l) abort();
  heap_init(&l->heap, 0);
  arena_init(&l->arena, &l->heap);
  diag_list_init(&l->diags, &l->arena);
  struct vcode_program *p =
      vcode_parse(&l->arena, "test.vcode", program, strlen(program), widths, &l->diags);
  if (!p || !vcode_parse_definitions(&l->arena, p, "test.sop", text, strlen(text), &l->diags)) {
    superops_give_up(l);
  }
  l->superops.count = p->fused_count;
  l->superops.ops = calloc(p->fused_count + 1u, sizeof *l->superops.ops);
  if (!l->superops.ops) abort();
  for (uint32_t k = 0; k < p->fused_count; k++) {
    l->superops.ops[k] = fused_parse(&l->arena, p, &p->fused[k], &l->diags);
    if (!l->superops.ops[k]) superops_give_up(l);
  }
  return &l->superops;
}

struct superops *superops_load(const char *text) {
  return superops_load_in((struct widths){CVL_I64, CVL_F64}, text);
}

void superops_free(struct superops *s) {
  struct loaded *l = (struct loaded *)s;
  free(s->ops);
  arena_free(&l->arena);
  free(l);
}
