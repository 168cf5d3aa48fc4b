/* nesl-lent.c - what arguments of --entry are in that is no memory of the process: files that
 * are mapped, and the columns that were read from them into spools (base/spool.h). Both stay to
 * the end, and the machine reads them where they are.
 */
#include "base/spool.h"
#include "commands/nesl.h"

struct nesl_lent {
  struct nesl_lent *older;
  struct source_text text; /* mapped */
  const char *file;        /* its name */
  bool spooled;            /* there is a folder for temporary files */
  struct array_spools spools;
};

static bool may_spool(struct nesl *n) {
  struct spool spool;
  struct file_problem problem;
  const bool may = spool_begin(&spool, &n->heap, NULL, &problem);
  spool_end(&spool);
  return may;
}

void nesl_lend_file(struct nesl *n, const char *file, const struct source_text *mapped) {
  struct nesl_lent *l = arena_alloc(&n->arena, sizeof *l);
  *l = (struct nesl_lent){
      .older = n->lent, .text = *mapped, .file = file, .spooled = may_spool(n)};
  l->spools =
      (struct array_spools){.heap = &n->heap, .mapped = mapped->text, .length = mapped->length};
  n->lent = l;
}

struct array_spools *nesl_lent_spools(struct nesl *n, const char *text) {
  for (struct nesl_lent *l = n->lent; l; l = l->older) {
    if (l->spooled && l->text.text == text) return &l->spools;
  }
  return NULL;
}

static bool is_in_lent(const struct nesl_lent *l, const void *elements) {
  const uintptr_t begin = (uintptr_t)l->text.text, at = (uintptr_t)elements;
  return (at >= begin && at - begin < l->text.length) ||
         array_spools_hold(&l->spools, elements);
}

bool nesl_argument_stays(void *context, const void *elements) {
  const struct nesl *n = context;
  for (const struct nesl_lent *l = n->lent; l; l = l->older) {
    if (is_in_lent(l, elements)) return true;
  }
  return false;
}

bool nesl_lent_are_whole(struct nesl *n) {
  for (const struct nesl_lent *l = n->lent; l; l = l->older) {
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

uint64_t nesl_lent_bytes(const struct nesl *n) {
  uint64_t bytes = 0;
  for (const struct nesl_lent *l = n->lent; l; l = l->older) bytes += l->text.length;
  return bytes;
}

void nesl_lent_give_back(struct nesl *n) {
  for (struct nesl_lent *l = n->lent; l; l = l->older) array_spools_give_back(&l->spools);
}

void nesl_lent_end(struct nesl *n) {
  for (struct nesl_lent *l = n->lent; l; l = l->older) {
    array_spools_end(&l->spools);
    source_free(&l->text, &n->heap);
  }
  n->lent = NULL;
}
