/* rectangles.c - whole rows by the compiled function of rectangles (emit.h).
 *
 * An affine run is at most a row, and often shorter: a rotation has two in each row. Where all
 * arithmetic on positions is affine, and nothing else but maps is executed, the runs of many
 * rows need no more than their rectangles, and one call of the compiled function for each. The
 * rows are taken a few at a time, so that what they read and write stays in the first-level
 * cache while the rectangles of a row follow each other.
 */
#include "cvl-cpu/fused/rectangles.h"

#include "cvl-cpu/fused/affine-gather.h"
#include "cvl-cpu/fused/compiled.h"
#include "cvl-cpu/fused/worker.h"

enum { AT_A_TIME = 16384 /* positions, of the rows of a call; or one row */ };

/* Whether what a row has of it is the same at all its positions. */
static bool is_by_rows(const struct cvl_kernel *k, const struct segments *near) {
  return near->count == 1 || (!near->offsets && near->equal == k->run.row_length);
}

/* Whether the operands of this run suit what the function does about a node. */
static bool rectangles_suits(const struct cvl_kernel *k, uint32_t n,
                             enum fused_rectangle_task task) {
  const struct fused_node *p = &k->nodes[n];
  switch (task) {
  case RECTANGLE_ROW: return is_by_rows(k, &p->run.near);
  case RECTANGLE_AFFINE: return p->run.affine;
  case RECTANGLE_GATHER: return p->run.affine || p->run.action == ACT_NONE;
  case RECTANGLE_NOTHING:
  case RECTANGLE_MAP: break;
  }
  return true;
}

static bool all_suit(const struct cvl_kernel *k, const struct fused_rectangles *r) {
  for (uint32_t n = 0; n < k->op->node_count; n++) {
    if (!rectangles_suits(k, n, (enum fused_rectangle_task)r->tasks[n])) return false;
  }
  return true;
}

bool fused_rectangles_suit(const struct cvl_kernel *k) {
  if (!k->run.runs_compiled || k->run.row_length == 0 || k->run.row_length >= k->run.n)
    return false;
  const struct fused_rectangles *r = &fused_compiled_functions(k->compiled)->rectangles;
  return r->exists && k->run.n % k->run.row_length == 0 && all_suit(k, r);
}

/* ---- a run ---- */

/* Elements of the domain, from a position on. */
static struct tile_rectangle rectangles_elements(const struct cvl_kernel *k, const char *base,
                                                 size_t bytes, uint64_t position) {
  return (struct tile_rectangle){.at = (char *)(uintptr_t)base + position * bytes,
                                 .row_bytes = k->run.row_length * bytes};
}

/* Describes what a gather reads, from a row of the rectangle on. */
static struct tile_rectangle rectangles_gathered(const struct fused_worker *w,
                                                 const struct fused_value *v, uint64_t row,
                                                 uint64_t position) {
  const struct cvl_kernel *k = w->k;
  if (!k->nodes[v->node].run.affine)
    return rectangles_elements(k, v->run.base, v->bytes, position);
  const struct plan_source *s = &w->rectangles[w->rectangle].sources[v->run.affine_gather];
  return (struct tile_rectangle){.at = (char *)(uintptr_t)s->at + row * s->row_bytes,
                                 .row_bytes = s->row_bytes};
}

static struct tile_rectangle rectangles_progression(const struct affine *a, uint64_t row) {
  return (struct tile_rectangle){.start = (uint64_t)a->start + row * (uint64_t)a->row_stride,
                                 .stride = (uint64_t)a->stride,
                                 .row_stride = (uint64_t)a->row_stride};
}

/* An element for each row, from this one on. */
static struct tile_rectangle by_row(const struct fused_node *p, size_t bytes, uint64_t row) {
  const bool one = p->run.near.count == 1;
  return (struct tile_rectangle){.at =
                                     (char *)(uintptr_t)p->run.values + (one ? 0 : row * bytes),
                                 .row_bytes = one ? 0 : bytes};
}

static void find_node(struct fused_worker *w, uint32_t n, uint64_t row, uint64_t position) {
  const struct cvl_kernel *k = w->k;
  const uint32_t v = k->op->nodes[n].result;
  const struct fused_rectangle *r = &w->rectangles[w->rectangle];
  struct tile_rectangle *in = &w->rectangle_in[v];
  switch ((enum fused_rectangle_task)k->run.rectangle_tasks[n]) {
  case RECTANGLE_AFFINE: *in = rectangles_progression(&r->known[v], row); return;
  case RECTANGLE_ROW:
    *in = by_row(&k->nodes[n], k->values[v].bytes, position / k->run.row_length);
    return;
  case RECTANGLE_GATHER: *in = rectangles_gathered(w, &k->values[v], row, position); return;
  case RECTANGLE_NOTHING:
  case RECTANGLE_MAP: break;
  }
}

/* Executes rows of the current rectangle, the first of them `row`. */
static void rectangles_execute(struct fused_worker *w, uint64_t row, uint64_t rows) {
  const struct cvl_kernel *k = w->k;
  const struct superop *op = k->op;
  const struct fused_rectangle *r = &w->rectangles[w->rectangle];
  const uint64_t position = r->first + row * k->run.row_length;
  for (uint32_t v = 0; v < op->param_count; v++) {
    if (op->kinds[v] != SUPEROP_SEGDES)
      w->rectangle_in[v] =
          rectangles_elements(k, k->values[v].run.base, k->values[v].bytes, position);
  }
  for (uint32_t n = 0; n < op->node_count; n++) find_node(w, n, row, position);
  for (uint32_t i = 0; i < op->output_count; i++) {
    const struct fused_value *v = &k->values[op->outputs[i]];
    w->rectangle_out[op->outputs[i]] = rectangles_elements(k, v->run.base, v->bytes, position);
  }
  fused_compiled_rectangles(k->compiled)(rows, r->length, w->rectangle_in, w->rectangle_out);
}

static void execute_rows(struct fused_worker *w, uint64_t row, uint64_t rows) {
  const uint64_t columns = w->k->run.row_length;
  for (uint64_t c = 0, i = 0; c < columns; c += w->rectangles[i++].length) {
    w->rectangle = (uint32_t)i;
    rectangles_execute(w, row, rows);
  }
}

uint64_t fused_rectangles(struct fused_worker *w, uint64_t first, uint64_t n) {
  const struct cvl_kernel *k = w->k;
  if (!k->run.by_rectangles || w->by_runs || k->run.copy_count > 0) return 0;
  const uint64_t columns = k->run.row_length, most = n / columns;
  if (first % columns != 0 || most == 0) return 0;
  const uint64_t rows = fused_affine_rows(w, first / columns, most);
  const uint64_t each = columns < AT_A_TIME ? AT_A_TIME / columns : 1;
  for (uint64_t row = 0; row < rows; row += each)
    execute_rows(w, row, rows - row < each ? rows - row : each);
  w->by_runs = rows == 0; /* so many rectangles, or out of range: not looked for again */
  w->run_end = 0;         /* no run is known */
  return rows * columns;
}
