/* affine-gather.c - gathers by affine indices, read from the source: stencils, rotations,
 * shifts with a boundary.
 *
 * An index is often computed from the position: i - s, or i - s + n where i < s (a rotation),
 * or max(i - 1, 0), within a row or in the whole vector. Such an index is piecewise affine:
 * over an *affine run* of positions it is start + j * stride at the j-th position. This file
 * interprets the index arithmetic symbolically (affine.h). From a position on, each value of it
 * is represented by its start and strides, up to where the first comparison changes its outcome
 * or the first segment ends. If the index of a gather then has stride 1 and stays in range, the
 * gathered elements are contiguous: steps read them from the source, and the steps that only
 * compute such indices are skipped. What other steps read of them (the flags of a boundary) is
 * written from its symbolic form. A run costs a few operations on scalars, instead of
 * operations on vectors.
 *
 * In a matrix the runs of a row are those of the next one, too: they are found for several rows
 * at once, as rectangles, and remembered (struct fused_rectangle).
 *
 * Where this does not apply, all steps are executed.
 */
#include "cvl-cpu/fused/affine-gather.h"

#include <string.h>

#include "cvl-cpu/fused/columns.h"
#include "cvl-cpu/fused/strip.h"
#include "cvl-cpu/fused/worker.h"
#include "fused-kernels/affine-nodes.h"

enum {
  RUN_LEAST = 32,   /* positions; many shorter runs are not worth a strip for each */
  RUN_BETWEEN = 64, /* positions that are evaluated by all steps where there is no run */
  SHORT_RUNS = 16,  /* so many rectangles are found in a chunk, however short */
  ROWS_MOST = 256   /* rows of a rectangle; more may not belong to the chunk */
};

/* ---- the plan ---- */

static uint32_t affine_gather_definition(const struct cvl_kernel *k,
                                         const struct superop_node *node, unsigned i) {
  return k->values[node->operands[i]].node;
}

void fused_affine_plan(struct cvl_kernel *k) {
  bool affine[SUPEROP_VALUES_MAX] = {0}, divides[SUPEROP_VALUES_MAX] = {0},
       analysed[SUPEROP_VALUES_MAX] = {0};
  struct fused_affine_nodes found = {affine, divides, analysed};
  fused_affine_nodes_find(k->op, &found);
  for (uint32_t n = 0; n < k->op->node_count; n++) {
    k->nodes[n].run.affine = affine[n];
    k->nodes[n].analysed = analysed[n];
    if (analysed[n]) k->analysed[k->analysed_count++] = n;
  }
}

/* ---- the start of a run ---- */

/* Whether the segments are long enough on average: shorter ones have too many ends. */
static bool has_long_segments(const struct cvl_kernel *k, const struct segments *s) {
  const uint64_t least = tuned(k->c, AFFINE_SEGMENT);
  return s->count == 1 || (s->count > 0 && s->total / s->count >= least);
}

bool fused_affine_suits(const struct cvl_kernel *k, uint32_t gather) {
  const struct fused_node *p = &k->nodes[gather];
  const struct fused_node *index =
      &k->nodes[affine_gather_definition(k, &k->op->nodes[gather], 1)];
  return p->analysed && has_long_segments(k, &p->run.near) &&
         has_long_segments(k, &index->run.near);
}

/* Finds the nodes that are affine given the operands, in runs or in columns; returns the number
 * of gathers among them. */
static uint32_t find_affine(struct cvl_kernel *k, bool by_columns) {
  uint32_t gathers = 0;
  for (uint32_t i = 0; i < k->analysed_count; i++) {
    const uint32_t n = k->analysed[i];
    const struct superop_node *node = &k->op->nodes[n];
    struct fused_node *p = &k->nodes[n];
    p->run.skipped = p->run.filled = false;
    p->run.affine = node->role == ROLE_MAP || by_columns || has_long_segments(k, &p->run.near);
    for (unsigned j = 0; node->role == ROLE_MAP && j < node->operand_count; j++) {
      p->run.affine &= k->nodes[affine_gather_definition(k, node, j)].run.affine;
    }
    if (node->role != ROLE_GATHER) continue;
    p->run.affine &=
        (p->run.action == ACT_GATHER || (by_columns && p->run.action == ACT_GATHER_RUNS)) &&
        k->values[node->result].run.needed &&
        k->nodes[affine_gather_definition(k, node, 1)].run.affine;
    gathers += p->run.affine;
  }
  return gathers;
}

/* Whether a value can be written from its symbolic form. */
static bool may_fill(const struct fused_value *v) {
  return v->run.storage == IN_STRIP && !v->is_output && !v->consumed;
}

/* Backwards: finds the steps that only compute indices of affine gathers, and those that only
 * compute what is filled. */
static void find_skipped(struct cvl_kernel *k) {
  const struct superop *op = k->op;
  for (uint32_t v = 0; v < op->value_count; v++) {
    struct fused_value *value = &k->values[v];
    value->run.kept = value->is_output || (value->consumed && !value->run.unwanted);
  }
  for (uint32_t n = op->node_count; n-- > 0;) {
    const struct superop_node *node = &op->nodes[n];
    struct fused_node *p = &k->nodes[n];
    const struct fused_value *v = node->result_count > 0 ? &k->values[node->result] : NULL;
    if (op->cold[n] || (v && !v->run.needed)) continue;
    if (p->run.action == ACT_WITHIN) {
      k->values[p->index].run.kept = true;
      continue;
    }
    const bool gather = node->role == ROLE_GATHER && p->analysed && p->run.affine;
    const bool known = p->analysed && p->run.affine && !gather && !node->checked;
    p->run.filled = known && v->run.kept && may_fill(v);
    p->run.skipped = known && (p->run.filled || !v->run.kept);
    for (unsigned i = 0; i < node->operand_count && !p->run.skipped; i++) {
      if (superop_matters(node, i) && !(gather && i == 1)) {
        k->values[node->operands[i]].run.kept = true;
      }
    }
  }
}

/* Finds the steps that an affine run executes, and the length of a strip that so few buffers
 * allow. */
static void find_affine_steps(struct cvl_kernel *k) {
  uint64_t slots = 0; /* a bit each */
  k->run.affine_step_count = 0;
  for (uint32_t i = k->run.live_from; i < k->step_count; i++) {
    const uint32_t n = k->run.live_steps[i];
    const struct fused_value *v = fused_result(k, n);
    const bool gathered = k->run.by_columns && k->op->nodes[n].role == ROLE_GATHER;
    const bool in_source = gathered || (v && v->run.storage == IN_AFFINE_RUN);
    if (k->nodes[n].analysed && (k->nodes[n].run.skipped || in_source)) continue;
    k->run.affine_steps[k->run.affine_step_count++] = n;
    if (v && v->run.storage == IN_STRIP) slots |= UINT64_C(1) << (v->slot % 64);
  }
  if (__builtin_popcountll(slots) <= FUSED_MANY_SLOTS) k->run.strip = FUSED_STRIP;
}

/* The length of rows that all segments of the analysis are, or are as long as together; 0:
 * there is none. */
static uint64_t row_length(const struct cvl_kernel *k) {
  uint64_t length = k->run.n;
  for (uint32_t i = 0; i < k->analysed_count; i++) {
    const struct fused_node *p = &k->nodes[k->analysed[i]];
    const struct segments *near = &p->run.near;
    if (k->op->nodes[k->analysed[i]].role == ROLE_MAP || !p->run.affine || near->count == 1)
      continue;
    if (near->offsets || near->equal == 0 || (length < k->run.n && length != near->equal))
      return 0;
    length = near->equal;
  }
  return length;
}

static void number_gathers(struct cvl_kernel *k) {
  for (uint32_t i = 0; i < k->analysed_count; i++) {
    const uint32_t n = k->analysed[i];
    const struct superop_node *node = &k->op->nodes[n];
    struct fused_value *v = &k->values[node->result];
    if (node->role != ROLE_GATHER || !k->nodes[n].run.affine) continue;
    v->run.affine_gather = k->run.affine_gather_count;
    k->run.affine_gathers[k->run.affine_gather_count++] = n;
    if (v->run.storage == IN_STRIP && !v->consumed && !v->is_output)
      v->run.storage = IN_AFFINE_RUN;
  }
}

/* They come after the gathers. */
static void number_filled(struct cvl_kernel *k) {
  k->run.affine_value_count = k->run.affine_gather_count;
  for (uint32_t i = 0; i < k->analysed_count; i++) {
    const uint32_t n = k->analysed[i];
    struct fused_value *v = &k->values[k->op->nodes[n].result];
    if (!k->nodes[n].run.filled) continue;
    v->run.affine_gather = k->run.affine_value_count;
    k->run.affine_gathers[k->run.affine_value_count++] = n;
    v->run.storage = IN_AFFINE_RUN;
  }
}

/* Whether an affine run only executes maps: no step that fills a buffer position by position.
 */
static bool executes_maps(const struct cvl_kernel *k) {
  for (uint32_t i = k->run.live_from; i < k->step_count; i++) {
    const uint32_t n = k->run.live_steps[i];
    const uint8_t role = k->op->nodes[n].role;
    if (role != ROLE_MAP && role != ROLE_GATHER && !k->nodes[n].run.skipped) return false;
  }
  return true;
}

/* Decides between runs, columns, and neither. */
static void affine_gather_choose(struct cvl_kernel *k) {
  k->run.has_affine_runs = k->run.by_columns = false;
  k->run.affine_gather_count = k->run.affine_value_count = 0;
  k->run.strip = k->usual_strip;
  if (k->analysed_count == 0 || k->run.n < 2 * RUN_LEAST) return;
  k->run.has_affine_runs = find_affine(k, false) > 0;
  k->run.by_columns = !k->run.has_affine_runs && find_affine(k, true) > 0 &&
                      row_length(k) == k->run.segments.equal && fused_columns_suit(k);
}

void fused_affine_bind(struct cvl_kernel *k) {
  affine_gather_choose(k);
  if (!k->run.has_affine_runs && !k->run.by_columns) return;
  k->run.row_length = row_length(k);
  find_skipped(k);
  k->run.by_columns &= executes_maps(k);
  if (!k->run.has_affine_runs && !k->run.by_columns) return;
  number_gathers(k);
  number_filled(k);
  find_affine_steps(k);
}

/* ---- symbolic values ---- */

/* The segment at the position; shortens the extent to its end. */
static uint64_t within_segment(struct fused_worker *w, const struct fused_node *p,
                               uint64_t position, struct affine_extent *e) {
  if (p->run.near.count == 1) return 0;
  if (w->k->run.row_length != 0) return w->row;
  const uint64_t s = walk_to(&w->walks[p->walk], &p->run.near, position);
  const uint64_t left = segment_start(&p->run.near, s + 1) - position;
  if (left < e->length) e->length = left;
  return s;
}

/* Returns the value of a gather's or node's operand for each segment, as affine_row_stride
 * does, from segment s on. */
static int64_t from_row_to_row(const struct fused_node *p, const void *x, uint64_t s,
                               size_t bytes, struct affine_extent *e) {
  return p->run.near.count == 1 ? 0 : affine_row_stride((const char *)x + s * bytes, bytes, e);
}

/* Element i: an INT, or a BOOL. */
static int64_t affine_gather_element(const void *x, uint64_t i, size_t bytes) {
  return bytes == 1 ? ((const uint8_t *)x)[i] : int_element(x, i, bytes);
}

static struct affine affine_gather_spread(struct fused_worker *w, const struct fused_node *p,
                                          uint64_t position, size_t bytes,
                                          struct affine_extent *e) {
  const uint64_t s = within_segment(w, p, position, e);
  return (struct affine){true, affine_gather_element(p->run.values, s, bytes), 0,
                         from_row_to_row(p, p->run.values, s, bytes, e)};
}

static struct affine affine_gather_progression(struct fused_worker *w,
                                               const struct fused_node *p, uint64_t position,
                                               size_t bytes, struct affine_extent *e) {
  const uint64_t s = within_segment(w, p, position, e);
  const int64_t stride = affine_gather_element(p->run.strides, s, bytes);
  const uint64_t done = position - segment_start(&p->run.near, s);
  const uint64_t start =
      (uint64_t)affine_gather_element(p->run.values, s, bytes) + done * (uint64_t)stride;
  uint64_t row_stride = (uint64_t)stride * w->k->run.row_length;
  if (p->run.near.count > 1) {
    row_stride = (uint64_t)from_row_to_row(p, p->run.values, s, bytes, e);
    if (from_row_to_row(p, p->run.strides, s, bytes, e) != 0) e->rows = 1;
  }
  return (struct affine){true, int_wrapped(start, bytes), stride,
                         int_wrapped(row_stride, bytes)};
}

/* Interprets the node from a position on. */
static struct affine interpret(struct fused_worker *w, uint32_t n, uint64_t position,
                               struct affine_extent *e) {
  const struct cvl_kernel *k = w->k;
  const struct superop_node *node = &k->op->nodes[n];
  const struct fused_node *p = &k->nodes[n];
  const size_t bytes = k->values[node->result].bytes;
  if (node->role == ROLE_SPREAD) return affine_gather_spread(w, p, position, bytes, e);
  if (node->role == ROLE_INDEX) return affine_gather_progression(w, p, position, bytes, e);
  const struct affine *operands[MAX_OPERANDS];
  for (unsigned i = 0; i < node->operand_count; i++)
    operands[i] = &w->affine[node->operands[i]];
  return affine_map(p->op, operands, bytes, k->values[node->operands[0]].bytes, e);
}

/* The element gathered at a position, in the source, if its index is below the limit in the
 * whole rectangle. */
static struct plan_source affine_gather_source_of(struct fused_worker *w, uint32_t n,
                                                  uint64_t position, struct affine_extent *e) {
  const struct cvl_kernel *k = w->k;
  const struct superop_node *node = &k->op->nodes[n];
  const struct fused_node *p = &k->nodes[n];
  const struct affine *index = &w->affine[node->operands[1]];
  const size_t bytes = k->values[node->result].bytes;
  const uint64_t s = within_segment(w, p, position, e);
  const uint64_t from = segment_start(&p->run.far, s);
  const uint64_t limit = segment_start(&p->run.far, s + 1) - from;
  if (!affine_is_below(index, limit, k->values[node->operands[1]].bytes, e))
    return (struct plan_source){0};
  uint64_t row_step = (uint64_t)index->row_stride;
  if (p->run.near.count > 1) row_step += p->run.far.equal;
  if (p->run.near.count > 1 && p->run.far.offsets) e->rows = 1;
  return (struct plan_source){.at = (const char *)p->run.values +
                                    (from + (uint64_t)index->start) * bytes,
                              .bytes = (uint64_t)index->stride * bytes,
                              .row_bytes = row_step * bytes};
}

/* The elements gathered from a position on, in the source: not found if they are not
 * contiguous. A few are gathered one at a time. */
static struct plan_source find_gathered(struct fused_worker *w, uint32_t n, uint64_t position,
                                        struct affine_extent *e) {
  const struct affine *index = &w->affine[w->k->op->nodes[n].operands[1]];
  if (index->stride != 1 && e->length < RUN_LEAST) e->length = 1;
  if (index->stride != 1 && e->length > 1) return (struct plan_source){0};
  return affine_gather_source_of(w, n, position, e);
}

static void move_walks(struct fused_worker *w, uint64_t first) {
  const struct cvl_kernel *k = w->k;
  for (uint32_t i = k->run.live_from; i < k->step_count; i++) {
    const struct fused_node *p = &k->nodes[k->run.live_steps[i]];
    if (p->run.action == ACT_DIST || p->run.action == ACT_INDEX ||
        p->run.action == ACT_GATHER) {
      walk_to(&w->walks[p->walk], &p->run.near, first);
    }
  }
}

/* ---- rectangles ---- */

/* The most that a rectangle with this first position may be. */
static struct affine_extent extent_at(const struct fused_worker *w, uint64_t first) {
  const struct cvl_kernel *k = w->k;
  const uint64_t length = k->run.row_length;
  if (length == 0) return (struct affine_extent){k->run.n - first, 1};
  const uint64_t rows = k->run.n / length - w->row;
  return (struct affine_extent){length - (first - w->row_start),
                                rows < ROWS_MOST ? rows : ROWS_MOST};
}

/* Finds the largest one. */
static void find_rectangle(struct fused_worker *w, uint64_t first, struct fused_rectangle *r) {
  const struct cvl_kernel *k = w->k;
  struct affine_extent e = extent_at(w, first);
  const bool by_columns = k->run.by_columns;
  r->skipping = true;
  for (uint32_t i = 0; i < k->analysed_count; i++) {
    const uint32_t n = k->analysed[i];
    if (!k->nodes[n].run.affine || k->op->nodes[n].role == ROLE_GATHER) continue;
    w->affine[k->op->nodes[n].result] = interpret(w, n, first, &e);
  }
  for (uint32_t i = 0; i < k->run.affine_gather_count; i++) {
    const uint32_t n = k->run.affine_gathers[i];
    r->sources[i] =
        by_columns ? affine_gather_source_of(w, n, first, &e) : find_gathered(w, n, first, &e);
    r->skipping &= r->sources[i].at != NULL;
  }
  for (uint32_t i = k->run.affine_gather_count; i < k->run.affine_value_count; i++) {
    const uint32_t v = k->op->nodes[k->run.affine_gathers[i]].result;
    r->sources[i] = (struct plan_source){.value = w->affine[v]};
    r->skipping &= r->sources[i].value.known;
  }
  r->first = first;
  r->row = w->row;
  r->column = first - w->row_start;
  r->length = e.length;
  r->rows = e.rows;
}

/* Rectangles of few positions are only worth it if they recur. Where they do not, some
 * positions are evaluated by all steps instead. */
static void avoid_short(struct fused_worker *w, struct fused_rectangle *r) {
  const bool recurs = (w->rectangles_found++ - SHORT_RUNS) * RUN_LEAST <= r->first - w->begun;
  if (r->length >= RUN_LEAST || (r->skipping && (w->rectangles_found <= SHORT_RUNS || recurs)))
    return;
  r->skipping = false;
  r->length = RUN_BETWEEN;
  r->rows = 1;
  for (uint32_t i = 0; i < w->k->run.affine_value_count; i++) r->sources[i].at = NULL;
}

static void find_streams(struct fused_worker *w, const struct fused_rectangle *r) {
  const struct cvl_kernel *k = w->k;
  fused_streams_begin(w);
  for (uint32_t i = 0; i < k->run.affine_gather_count; i++) {
    const struct superop_node *node = &k->op->nodes[k->run.affine_gathers[i]];
    const char *at = r->sources[i].at;
    if (at) fused_stream(w, node->operands[0], at - r->first * k->values[node->result].bytes);
  }
}

static void move_row(struct fused_worker *w, uint64_t first) {
  const uint64_t length = w->k->run.row_length;
  if (length == 0 || first - w->row_start < length) return;
  if (first - w->row_start < 2 * length) {
    w->row++;
    w->row_start += length;
  } else {
    w->row = first / length;
    w->row_start = w->row * length;
  }
}

/* The one with the current row in it. */
static bool affine_gather_has_position(const struct fused_worker *w,
                                       const struct fused_rectangle *r, uint64_t first) {
  return w->row - r->row < r->rows && first - w->row_start - r->column < r->length;
}

/* The rectangle of the position: mostly the one that followed in the row before. */
static uint32_t rectangle_at(struct fused_worker *w, uint64_t first) {
  struct fused_rectangle *all = w->rectangles;
  const uint32_t next = all[w->rectangle].next;
  if (affine_gather_has_position(w, &all[next], first)) return next;
  for (uint32_t i = 0; i < FUSED_RECTANGLES; i++) {
    if (affine_gather_has_position(w, &all[i], first)) return all[w->rectangle].next = i;
  }
  const uint32_t found = w->newest = (w->newest + 1) % FUSED_RECTANGLES;
  find_rectangle(w, first, &all[found]);
  avoid_short(w, &all[found]);
  find_streams(w, &all[found]);
  return all[w->rectangle].next = found;
}

/* ---- affine runs ---- */

static void affine_gather_find_run(struct fused_worker *w, uint64_t first) {
  move_row(w, first);
  w->rectangle = rectangle_at(w, first);
  const struct fused_rectangle *r = &w->rectangles[w->rectangle];
  w->skipping = r->skipping;
  if (!w->skipping) move_walks(w, first);
  w->run_first = w->row_start + r->column;
  w->run_end = w->run_first + r->length;
}

static void fill_ints(char *to, size_t bytes, uint64_t start, uint64_t stride, uint64_t n) {
  for (uint64_t i = 0; i < n && bytes == 8; i++)
    ((uint64_t *)(void *)to)[i] = start + i * stride;
  for (uint64_t i = 0; i < n && bytes == 4; i++)
    ((uint32_t *)(void *)to)[i] = (uint32_t)(start + i * stride);
}

/* The buffer of affine value i: that of the step may be another one's when this one is filled.
 */
static char *affine_gather_room_of(const struct fused_worker *w, uint32_t i) {
  return w->filled + i * w->k->run.strip * sizeof(uint64_t);
}

/* Writes n elements of affine value i. BOOLs are not written. */
static const char *affine_gather_fill(struct fused_worker *w, uint32_t i,
                                      const struct fused_value *v, uint64_t first, uint64_t n) {
  const struct fused_rectangle *r = &w->rectangles[w->rectangle];
  const struct plan_source *s = &r->sources[i];
  char *const to = affine_gather_room_of(w, i);
  if (v->elem == CVL_BOOL) return s->value.start ? w->all_true : w->all_false;
  const uint64_t stride = (uint64_t)s->value.stride;
  fill_ints(to, v->bytes,
            (uint64_t)s->value.start + (first - w->run_first) * stride +
                (w->row - r->row) * (uint64_t)s->value.row_stride,
            stride, n);
  return to;
}

static const char *source_at(const struct fused_worker *w, const struct fused_value *v,
                             const struct plan_source *s, uint64_t first) {
  const struct fused_rectangle *r = &w->rectangles[w->rectangle];
  if (!s->at) return (const char *)w + v->run.offset;
  return s->at + (w->row - r->row) * s->row_bytes + (first - w->run_first) * v->bytes;
}

uint64_t fused_affine_run(struct fused_worker *w, uint64_t first, uint64_t n) {
  const struct cvl_kernel *k = w->k;
  if (first < w->run_first || first >= w->run_end) affine_gather_find_run(w, first);
  if (n > w->run_end - first) n = w->run_end - first;
  const struct plan_source *s = w->rectangles[w->rectangle].sources;
  for (uint32_t i = 0; i < k->run.affine_value_count; i++) {
    const struct fused_value *v = &k->values[k->op->nodes[k->run.affine_gathers[i]].result];
    const bool filled = i >= k->run.affine_gather_count && w->skipping;
    w->gathered[i] =
        filled ? affine_gather_fill(w, i, v, first, n) : source_at(w, v, &s[i], first);
  }
  return n;
}

bool fused_affine_has(struct fused_worker *w, uint32_t number, uint64_t first, uint64_t n) {
  const struct cvl_kernel *k = w->k;
  const struct fused_node *p = &k->nodes[number];
  if (!p->analysed || !p->run.affine) return false;
  if (p->run.action != ACT_GATHER) return false;
  const struct fused_value *v = &k->values[k->op->nodes[number].result];
  if (!w->rectangles[w->rectangle].sources[v->run.affine_gather].at) return false;
  if (v->run.storage != IN_AFFINE_RUN)
    memcpy(fused_at(w, v, first), w->gathered[v->run.affine_gather], n * v->bytes);
  return true;
}

/* ---- columns ---- */

/* Whether what a gather reads in a column is contiguous, or the same in all rows. */
static bool is_of_column(const struct plan_source *s, size_t bytes) {
  return s->at && (s->row_bytes == bytes || s->row_bytes == 0);
}

static bool are_of_column(const struct fused_worker *w, const struct fused_rectangle *r) {
  const struct cvl_kernel *k = w->k;
  bool good = r->skipping;
  for (uint32_t i = 0; i < k->run.affine_gather_count && good; i++) {
    const struct superop_node *node = &k->op->nodes[k->run.affine_gathers[i]];
    good = is_of_column(&r->sources[i], k->values[node->result].bytes);
  }
  return good;
}

uint64_t fused_affine_rows(struct fused_worker *w, uint64_t row, uint64_t most) {
  const uint64_t columns = w->k->run.row_length;
  w->row = row;
  w->row_start = row * columns;
  w->newest = w->rectangle = 0;
  for (uint64_t c = 0, i = 0; c < columns; i++) {
    if (i == FUSED_RECTANGLES) return 0;
    struct fused_rectangle *r = &w->rectangles[i];
    find_rectangle(w, w->row_start + c, r);
    if (w->k->run.by_columns ? !are_of_column(w, r) : !r->skipping) return 0;
    if (r->rows < most) most = r->rows;
    c += r->length;
  }
  return most;
}

void fused_affine_none(struct fused_worker *w) {
  const struct cvl_kernel *k = w->k;
  for (uint32_t i = 0; i < k->run.affine_value_count; i++) {
    const struct fused_value *v = &k->values[k->op->nodes[k->run.affine_gathers[i]].result];
    w->gathered[i] = (const char *)w + v->run.offset;
  }
}

/* n copies of an element. */
static void affine_gather_repeat(char *to, const char *one, size_t bytes, uint64_t n) {
  int64_t x = 0;
  memcpy(&x, one, bytes);
  if (bytes == 1) {
    memset(to, *one, n);
  } else {
    fill_ints(to, bytes, bytes == 8 ? (uint64_t)x : (uint64_t)int_element(one, 0, bytes), 0, n);
  }
}

/* Returns what gather number i reads in a column of a rectangle. */
static const char *gathered_column(struct fused_worker *w, uint32_t i, uint64_t column,
                                   uint64_t n) {
  const struct plan_source *s = &w->rectangles[w->rectangle].sources[i];
  const struct cvl_kernel *k = w->k;
  const struct fused_value *v = &k->values[k->op->nodes[k->run.affine_gathers[i]].result];
  const char *at = s->at + column * s->bytes;
  if (s->row_bytes != 0) return at;
  char *const to = affine_gather_room_of(w, i);
  affine_gather_repeat(to, at, v->bytes, n);
  return to;
}

static const char *filled_column(struct fused_worker *w, uint32_t i, uint64_t column,
                                 uint64_t n) {
  const struct affine *c = &w->rectangles[w->rectangle].sources[i].value;
  const struct cvl_kernel *k = w->k;
  const struct fused_value *v = &k->values[k->op->nodes[k->run.affine_gathers[i]].result];
  if (v->elem == CVL_BOOL) return c->start ? w->all_true : w->all_false;
  char *const to = affine_gather_room_of(w, i);
  fill_ints(to, v->bytes, (uint64_t)c->start + column * (uint64_t)c->stride,
            (uint64_t)c->row_stride, n);
  return to;
}

void fused_affine_column(struct fused_worker *w, uint64_t column, uint64_t first, uint64_t n) {
  const struct cvl_kernel *k = w->k;
  const struct fused_rectangle *r = &w->rectangles[w->rectangle];
  if (column >= r->column + r->length) r = &w->rectangles[++w->rectangle];
  column -= r->column;
  for (uint32_t i = 0; i < k->run.affine_value_count; i++) {
    const struct fused_value *v = &k->values[k->op->nodes[k->run.affine_gathers[i]].result];
    w->gathered[i] = i < k->run.affine_gather_count ? gathered_column(w, i, column, n)
                                                    : filled_column(w, i, column, n);
    if (v->run.storage != IN_AFFINE_RUN)
      memcpy(fused_at(w, v, first), w->gathered[i], n * v->bytes);
  }
}

/* ---- the state of a worker ---- */

size_t fused_affine_bytes(const struct cvl_kernel *k) {
  if (k->run.affine_value_count == 0) return 0;
  return k->op->value_count * sizeof(struct affine) +
         FUSED_RECTANGLES * (sizeof(struct fused_rectangle) +
                             k->run.affine_value_count * sizeof(struct plan_source)) +
         k->run.affine_value_count * (sizeof(char *) + k->run.strip * sizeof(uint64_t)) +
         2 * FUSED_STRIP;
}

void fused_affine_set_up(struct fused_worker *w, char *memory) {
  const struct cvl_kernel *k = w->k;
  if (k->run.affine_value_count == 0) return;
  w->affine = (struct affine *)(void *)memory;
  w->rectangles = (struct fused_rectangle *)(void *)(w->affine + k->op->value_count);
  struct plan_source *sources =
      (struct plan_source *)(void *)(w->rectangles + FUSED_RECTANGLES);
  for (uint32_t i = 0; i < FUSED_RECTANGLES; i++) {
    w->rectangles[i] = (struct fused_rectangle){.sources = sources};
    sources += k->run.affine_value_count;
  }
  w->gathered = (const char **)(void *)sources;
  w->filled = (char *)(void *)(w->gathered + k->run.affine_value_count);
  char *flags = affine_gather_room_of(w, k->run.affine_value_count);
  w->all_true = memset(flags, 1, FUSED_STRIP);
  w->all_false = memset(flags + FUSED_STRIP, 0, FUSED_STRIP);
}
