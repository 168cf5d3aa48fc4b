/* nesl-mapped.c - what arguments of --entry are in that is no memory of the process: files that
 * are mapped, and the columns that were read from them into spills (base/spill.h). Both stay to
 * the end, and the machine reads them where they are.
 */
#include "base/spill.h"
#include "commands/nesl.h"

struct nesl_mapped {
  struct nesl_mapped *older;
  struct source_text text; /* mapped */
  const char *file;        /* its name */
  bool spilled;            /* there is a folder for temporary files */
  struct array_spills spills;
};

static bool may_spill(struct nesl *n) {
  struct spill spill;
  struct file_problem problem;
  const bool may = spill_begin(&spill, &n->heap, NULL, &problem);
  spill_end(&spill);
  return may;
}

void nesl_map_file(struct nesl *n, const char *file, const struct source_text *mapped) {
  struct nesl_mapped *l = arena_alloc(&n->arena, sizeof *l);
  *l = (struct nesl_mapped){
      .older = n->mapped, .text = *mapped, .file = file, .spilled = may_spill(n)};
  l->spills =
      (struct array_spills){.heap = &n->heap, .mapped = mapped->text, .length = mapped->length};
  n->mapped = l;
}

struct array_spills *nesl_mapped_spills(struct nesl *n, const char *text) {
  for (struct nesl_mapped *l = n->mapped; l; l = l->older) {
    if (l->spilled && l->text.text == text) return &l->spills;
  }
  return NULL;
}

static bool is_in_mapped(const struct nesl_mapped *l, const void *elements) {
  const uintptr_t begin = (uintptr_t)l->text.text, at = (uintptr_t)elements;
  return (at >= begin && at - begin < l->text.length) ||
         array_spills_hold(&l->spills, elements);
}

bool nesl_argument_stays(void *context, const void *elements) {
  const struct nesl *n = context;
  for (const struct nesl_mapped *l = n->mapped; l; l = l->older) {
    if (is_in_mapped(l, elements)) return true;
  }
  return false;
}

bool nesl_mapped_are_whole(struct nesl *n) {
  for (const struct nesl_mapped *l = n->mapped; l; l = l->older) {
    if (source_is_whole(&l->text)) continue;
    nesl_forget(n); /* what else was found came of it */
    n->complaints.first = NESL_RUNTIME;
    diag_add(&n->diags, SEVERITY_ERROR, l->file, (struct source_pos){0}, NULL,
             "another process has made the file shorter while it was read; it must not change "
             "before the end");
    return false;
  }
  return true;
}

uint64_t nesl_mapped_bytes(const struct nesl *n) {
  uint64_t bytes = 0;
  for (const struct nesl_mapped *l = n->mapped; l; l = l->older) bytes += l->text.length;
  return bytes;
}

void nesl_mapped_give_back(struct nesl *n) {
  for (struct nesl_mapped *l = n->mapped; l; l = l->older) array_spills_give_back(&l->spills);
}

void nesl_mapped_end(struct nesl *n) {
  for (struct nesl_mapped *l = n->mapped; l; l = l->older) {
    array_spills_end(&l->spills);
    source_free(&l->text, &n->heap);
  }
  n->mapped = NULL;
}
