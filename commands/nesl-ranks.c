/* nesl-ranks.c - results of --entry that the ranks of a job write together.
 *
 * A result that is the only column of a NumPy file: rank 0 begins the file, and the others open
 * what it has begun by its name, so that the file system has to be common to all. Each writes
 * its own elements, at most some of which are in the memory of the host at a time; rank 0
 * writes the header and gives the file its name when all have. What is wrong on one rank, all
 * know before they go on: rank 0 reports it. All other results are brought to rank 0, which
 * writes them.
 */
#include "arrays/arrays.h"
#include "base/job.h"
#include "commands/nesl.h"
#include "commands/process.h"

#include <string.h>

struct file {
  const char *name;
  bool direct;     /* one column of elements, */
  uint64_t begin;  /* behind lengths from this result of the machine on, */
  uint64_t column; /* which is this one, */
  uint8_t kind;    /* of this kind: enum machine_item_kind */
  bool taken; /* its elements are written by all, or could not be: then `problem` says why */
  bool open;
  struct replacement replacement;
  struct file_problem problem; /* of this rank; at the end the same one on all */
};

struct nesl_ranks {
  struct permissions user;
  unsigned count;
  struct file files[NESL_MOST_OUTPUTS];
  struct machine_own_consumer consumer;
};

static uint64_t file_bytes_of(const struct file *f, uint64_t n) {
  return ARRAY_NPY_HEADER + n * (f->kind == MACHINE_BOOL ? 1 : sizeof(int64_t));
}

/* ---- what is wrong ---- */

/* The rank is not said of the first, whose message is that of one process. */
static bool fail_file(struct file *f, const char *doing, const char *why) {
  enum { MOST_WHY = 240 };
  const unsigned rank = job_of_process().rank;
  if (rank == 0)
    snprintf(f->problem.text, sizeof f->problem.text, "%.*s", MOST_WHY, why);
  else
    snprintf(f->problem.text, sizeof f->problem.text, "rank %u %s: %.*s", rank, doing, MOST_WHY,
             why);
  return false;
}

static bool good_or_failed(struct file *f, int error) {
  struct file_problem why;
  if (error == 0) return true;
  file_failed(&why, error);
  return fail_file(f, "cannot write its elements", why.text);
}

static void abandon(struct file *f) {
  if (f->open) replacement_abandon(&f->replacement);
  f->open = false;
}

/* All ranks give up if one has to, for the reason of the first that has one. */
static void agree_on_problem(struct file *f, struct machine *m) {
  if (machine_from_first(m, f->problem.text[0], &f->problem, sizeof f->problem)) abandon(f);
}

/* ---- the file ---- */

/* The writing that rank 0 has begun. */
struct begun {
  bool taken;
  char beside[PATH_MAX]; /* empty: it could not */
};

/* Begins to write a file. Only ordinary files are written out of order. */
static struct begun begin_on_first_rank(struct nesl_ranks *r, struct file *f, uint64_t n) {
  struct begun b = {.taken = true};
  struct file_problem why;
  f->open = replacement_begin(&f->replacement, &r->user, f->name, &why);
  if (!f->open) fail_file(f, "", why.text);
  b.taken = !f->open || !f->replacement.direct;
  if (!b.taken) abandon(f);
  if (f->open && good_or_failed(f, replacement_reserve(&f->replacement, file_bytes_of(f, n))))
    memcpy(b.beside, f->replacement.beside, sizeof b.beside);
  return b;
}

static void join_file(struct nesl_ranks *r, struct file *f, const char *beside) {
  struct file_problem why;
  f->open = replacement_join(&f->replacement, &r->user, beside, &why);
  if (!f->open)
    fail_file(f,
              "cannot open the file, which all ranks write (an .npz file is written by rank 0)",
              why.text);
}

static struct file *file_of(struct nesl_ranks *r, uint64_t result) {
  for (unsigned i = 0; i < r->count; i++) {
    if (r->files[i].direct && r->files[i].column == result) return &r->files[i];
  }
  return NULL;
}

static bool ranks_begin(void *with, struct machine *m, uint64_t result,
                        enum machine_item_kind kind, uint64_t n) {
  struct nesl_ranks *r = with;
  struct file *f = file_of(r, result);
  struct begun b = {false};
  if (!f || f->kind != kind || f->taken) return false;
  const bool first = machine_is_first(m);
  if (first) b = begin_on_first_rank(r, f, n);
  machine_broadcast(m, &b, sizeof b);
  f->taken = b.taken;
  if (!first && b.beside[0]) join_file(r, f, b.beside);
  if (b.taken) agree_on_problem(f, m);
  return b.taken;
}

static bool ranks_put(void *with, uint64_t result, uint64_t first, uint64_t n,
                      const void *elements) {
  struct file *f = file_of(with, result);
  if (f->problem.text[0]) return false;
  return good_or_failed(f, replacement_put(&f->replacement, file_bytes_of(f, first), elements,
                                           file_bytes_of(f, n) - ARRAY_NPY_HEADER));
}

/* A rank that is not the first has its elements on the disk then. */
static void ranks_end(void *with, struct machine *m, uint64_t result) {
  struct file *f = file_of(with, result);
  struct file_problem why;
  if (f->open && !f->problem.text[0] && !machine_is_first(m)) {
    f->open = false;
    if (!replacement_end(&f->replacement, &why))
      fail_file(f, "cannot write its elements", why.text);
  }
  agree_on_problem(f, m);
}

/* An array is rectangular: only the header says how long rows are. */
static bool ranks_want_equal(void *with, uint64_t result) {
  const struct nesl_ranks *r = with;
  for (unsigned i = 0; i < r->count; i++) {
    const struct file *f = &r->files[i];
    if (f->direct && result >= f->begin && result < f->column) return true;
  }
  return false;
}

/* ---- the results ---- */

static enum machine_item_kind item_kind_of_column(enum column_kind kind) {
  return kind == COLUMN_FLOAT  ? MACHINE_FLOAT
         : kind == COLUMN_BOOL ? MACHINE_BOOL
         : kind == COLUMN_INT  ? MACHINE_INT
                               : MACHINE_SEGDES;
}

/* The file of one component of the result, whose columns begin at *column. */
static bool plan_ranks_file(struct nesl *n, struct file *f, struct type *type,
                            const struct column_kinds *kinds, uint64_t *column) {
  struct array_type array;
  const char *problem;
  if (!nesl_type_in_file(n, type, f->name, &array, &problem)) return false;
  f->begin = *column;
  *column += array_column_count(&array);
  if (*column > kinds->list.count) return false;
  f->direct = nesl_array_format(f->name) == ARRAY_NPY && array_npy_is_column(&array);
  f->column = *column - 1;
  f->kind = (uint8_t)item_kind_of_column((enum column_kind)kinds->list.items[*column - 1]);
  return true;
}

/* Values that are looked at here, too, are wanted whole. */
static bool is_looked_at(const struct nesl *n) {
  return n->options->classic || n->options->tune_seconds > 0;
}

const struct machine_own_consumer *nesl_ranks_begin(struct nesl *n, struct type *type) {
  const struct nesl_options *o = n->options;
  struct nesl_ranks *r = arena_alloc(&n->arena, sizeof *r);
  struct column_kinds kinds = {.arena = &n->arena};
  uint64_t column = 0;
  if (is_looked_at(n)) return NULL;
  value_columns(type, &kinds);
  memset(r, 0, sizeof *r);
  r->user = process_user();
  r->consumer = (struct machine_own_consumer){.begin = ranks_begin,
                                              .put = ranks_put,
                                              .end = ranks_end,
                                              .wants_equal = ranks_want_equal,
                                              .with = r};
  for (unsigned i = 0; i < o->output_count; i++) {
    struct type *component = nesl_component(type, i, o->output_count);
    r->files[i].name = o->outputs[i];
    if (!component || !plan_ranks_file(n, &r->files[i], component, &kinds, &column))
      return NULL;
    r->count++;
  }
  n->ranks = r;
  return &r->consumer;
}

/* ---- the end ---- */

bool nesl_ranks_have(const struct nesl *n, unsigned output, FILE **stream) {
  const struct file *f = n->ranks ? &n->ranks->files[output] : NULL;
  if (!f || !f->taken) return false;
  *stream = f->open ? f->replacement.stream : NULL;
  return true;
}

bool nesl_ranks_finish(struct nesl *n, unsigned output, struct file_problem *problem) {
  struct file *f = &n->ranks->files[output];
  *problem = f->problem;
  if (f->problem.text[0]) return false;
  if (!f->open) return true;
  f->open = false;
  return replacement_end(&f->replacement, problem);
}

void nesl_ranks_end(struct nesl *n) {
  for (unsigned i = 0; n->ranks && i < n->ranks->count; i++) abandon(&n->ranks->files[i]);
  n->ranks = NULL;
}
