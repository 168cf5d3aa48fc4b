/* random-nesl-shrink.c - random programs: their texts, and smaller ones that are still wanted.
 */
#include "commands/tests/random-nesl-private.h"

#include <stdlib.h>
#include <string.h>

/* ---- texts ---- */

static void write_node(const struct node *p, FILE *out) {
  size_t next = 0;
  for (const char *c = p->text; *c; c++) {
    if (*c == '\1') {
      write_node(p->parts[next++], out);
    } else {
      fputc(*c, out);
    }
  }
}

char *random_program_text(const struct random_program *program) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return NULL;
  for (size_t i = 0; i < program->forms.count; i++) {
    if (program->forms.items[i]->text[0] == '\0') continue;
    write_node(program->forms.items[i], out);
    fputc('\n', out);
  }
  return fclose(out) == 0 ? text : NULL;
}
/* ---- shrinking ---- */

struct shrinking {
  struct random_program *program;
  unsigned left; /* questions */
  random_wanted *wanted;
  void *context;
};

static bool still_wanted(struct shrinking *s) {
  if (s->left == 0) return false;
  s->left--;
  char *text = random_program_text(s->program);
  bool wanted = text && s->wanted(s->context, text);
  free(text);
  return wanted;
}

/* Puts a part of `from` that has the type of *slot into the slot, if that is still wanted. */
static bool hoist(struct shrinking *s, struct node **slot, const struct node *from) {
  struct node *was = *slot;
  for (size_t i = 0; i < from->part_count; i++) {
    struct node *part = from->parts[i];
    if (was->type && part->type && same(was->type, part->type)) {
      *slot = part;
      if (still_wanted(s)) return true;
      *slot = was;
    }
    if (hoist(s, slot, part)) return true;
  }
  return false;
}

static bool shrink_slot(struct shrinking *s, struct node **slot) {
  struct node *was = *slot;
  bool any = false;
  if (was->least && strcmp(was->text, was->least) != 0) {
    struct node *smallest = arena_alloc(s->program->arena, sizeof *smallest);
    *smallest = (struct node){was->type, was->least, NULL, 0, was->least};
    *slot = smallest;
    if (still_wanted(s)) return true;
    *slot = was;
  }
  while (s->left > 0 && hoist(s, slot, *slot)) any = true;
  for (size_t i = 0; i < (*slot)->part_count; i++) {
    any |= shrink_slot(s, &(*slot)->parts[i]);
  }
  return any;
}

void random_program_shrink(struct random_program *program, unsigned most, random_wanted *wanted,
                           void *context) {
  struct shrinking s = {program, most, wanted, context};
  bool any = true;
  while (any && s.left > 0) {
    any = false;
    for (size_t i = program->forms.count; i-- > 0;) {
      any |= shrink_slot(&s, &program->forms.items[i]);
    }
  }
}
