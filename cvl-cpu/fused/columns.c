/* columns.c - reductions of segments of one length, column by column.
 *
 * sum({x * c : x in w; c in weights}) of each window w of a sequence reduces many short
 * segments of one length. With a segment as a row, the j-th elements of all segments are a
 * column. What a segment gathers by an affine index is often contiguous in a column, too: x[i +
 * j] is, for consecutive segments i, while weights[j] is the same for all. Then a strip
 * consists of positions of one column, in consecutive rows. The steps are those of an affine
 * run; their results are combined with those of other columns, elementwise, in the order of the
 * reproducible tree. So neither gathers nor the ends of segments cost anything.
 *
 * Where this does not apply, for some rows or in the run, segments are evaluated as usual.
 */
#include "cvl-cpu/fused/columns.h"

#include <string.h>

#include "cvl-cpu/fused/affine-gather.h"
#include "cvl-cpu/fused/strip.h"
#include "cvl-cpu/fused/worker.h"
#include "cvl-cpu/kernels/kernels.h"

enum {
  COLUMNS_ROWS = 256 /* of a strip: 32 lanes of them are 64 KB */
};

/* ---- start of a run ---- */

static bool columns_is_executed(const struct cvl_kernel *k, uint32_t n) {
  return !k->op->cold[n] && k->op->nodes[n].role != ROLE_CONST;
}

/* Whether a node may be evaluated by columns: its elements are the same in each row, or affine,
 * or computed from such, and it never fails. */
static bool columns_suits(const struct cvl_kernel *k, uint32_t n) {
  const struct superop_node *node = &k->op->nodes[n];
  const struct fused_node *p = &k->nodes[n];
  const bool affine = p->analysed && p->run.affine;
  switch ((enum superop_role)node->role) {
  case ROLE_REDUCE: {
    const uint32_t from = k->values[node->operands[0]].node;
    return from != SUPEROP_NONE &&
           (k->op->nodes[from].role == ROLE_MAP || k->op->nodes[from].role == ROLE_GATHER);
  }
  case ROLE_MAP: return !node->checked;
  case ROLE_INDEX: return affine;
  case ROLE_SPREAD: return affine || k->values[node->result].run.storage == UNIFORM;
  case ROLE_GATHER:
    return affine && (p->run.action == ACT_GATHER || p->run.action == ACT_GATHER_RUNS);
  default: return false;
  }
}

bool fused_columns_suit(const struct cvl_kernel *k) {
  const struct segments *s = &k->run.segments;
  if (k->reduction_count == 0 || fused_hands_on(k) || k->combines || s->offsets ||
      s->equal < 2 || s->equal > CVL_REDUCE_BLOCK || s->count < tuned(k->c, COLUMN_ROWS))
    return false;
  for (uint32_t v = 0; v < k->op->value_count; v++) {
    const struct fused_value *value = &k->values[v];
    const bool reduced =
        value->node != SUPEROP_NONE && k->op->nodes[value->node].role == ROLE_REDUCE;
    if (value->read_elementwise || (value->is_output && !reduced)) return false;
  }
  for (uint32_t n = 0; n < k->op->node_count; n++) {
    if (columns_is_executed(k, n) && !columns_suits(k, n)) return false;
  }
  return true;
}

/* ---- columns ---- */

static char *lane_at(const struct fused_worker *w, uint32_t reduction, uint64_t column) {
  const uint64_t lane = reduction * CVL_REDUCE_LANES + column % CVL_REDUCE_LANES;
  return w->lanes + lane * COLUMNS_ROWS * sizeof(uint64_t);
}

/* Combines the results of a column, of n rows, with those before. */
static void combine_column(struct fused_worker *w, uint64_t column, uint64_t first,
                           uint64_t n) {
  for (uint32_t i = 0; i < w->k->reduction_count; i++) {
    const struct fused_reduction *r = &w->k->reductions[i];
    const char *x = fused_at(w, r->v, first);
    char *lane = lane_at(w, i, column);
    if (column < CVL_REDUCE_LANES) {
      memcpy(lane, x, n * r->v->bytes);
    } else {
      r->row->lanes(lane, x, n);
    }
  }
}

/* The last steps of the tree; a lane that no column has is a pad. */
static void columns_finish(struct fused_worker *w, uint64_t columns, uint64_t row, uint64_t n) {
  for (uint32_t i = 0; i < w->k->reduction_count; i++) {
    const struct fused_reduction *r = &w->k->reductions[i];
    for (uint64_t half = CVL_REDUCE_LANES / 2; half > 0; half /= 2) {
      for (uint64_t j = 0; j < half && j + half < columns; j++)
        r->row->lanes(lane_at(w, i, j), lane_at(w, i, j + half), n);
    }
    memcpy(r->out + row * r->v->bytes, lane_at(w, i, 0), n * r->v->bytes);
  }
}

uint64_t fused_columns(struct fused_worker *w, uint64_t row, uint64_t last) {
  const uint64_t columns = w->k->run.segments.equal, first = row * columns;
  const uint64_t room = w->k->run.strip < COLUMNS_ROWS ? w->k->run.strip : COLUMNS_ROWS;
  const uint64_t most = last - row < room ? last - row : room;
  const uint64_t rows = fused_affine_rows(w, row, most);
  w->skipping = rows >= tuned(w->k->c, COLUMN_ROWS);
  if (!w->skipping) {
    fused_walks_at(w, first);
    fused_affine_none(w);
    return 0;
  }
  w->origin[IN_TILE] = first;
  for (uint64_t c = 0; c < columns; c++) {
    fused_affine_column(w, c, first, rows);
    fused_strip_column(w, first, rows);
    combine_column(w, c, first, rows);
  }
  columns_finish(w, columns, row, rows);
  return rows;
}

size_t fused_columns_bytes(const struct cvl_kernel *k) {
  return k->run.by_columns
             ? k->reduction_count * CVL_REDUCE_LANES * COLUMNS_ROWS * sizeof(uint64_t)
             : 0;
}
