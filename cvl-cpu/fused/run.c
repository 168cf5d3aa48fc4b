/* run.c - running a superoperator: by which of the ways of this folder. */
#include <string.h>

#include "base/check.h"
#include "cvl-cpu/cvl-cpu.h"
#include "cvl-cpu/fused/compiled.h"
#include "cvl-cpu/fused/copy.h"
#include "cvl-cpu/fused/ranges.h"

/* Releases the results that are not returned. */
static void fused_drop_results(struct cvl_kernel *k) {
  for (uint32_t i = k->op->param_count; i < k->op->value_count; i++) {
    struct cvl_value *v = &k->values[i].whole;
    if (v->form == CVL_VECTOR) vector_release(k->c, v->as.vector);
    if (v->form == CVL_SEGDES) segdes_release(k->c, v->as.segdes);
    v->form = CVL_NOTHING;
  }
}

/* ---- what is one segment ---- */

static uint64_t fused_size(const struct superop_size *size, const struct cvl_value *operands) {
  switch (size->what) {
  case SIZE_LEN: return value_length(&operands[size->param]);
  case SIZE_TOTAL: return value_segments(&operands[size->param]).total;
  case SIZE_COUNT: return value_segments(&operands[size->param]).count;
  default: return 1;
  }
}

static bool fused_all_one(const struct cvl_value *v) {
  const void *x = value_data(v);
  const uint64_t n = value_length(v);
  const size_t bytes = elem_bytes(v->elem);
  uint64_t i = 0;
  while (i < n && int_element(x, i, bytes) == 1) i++;
  return i == n;
}

/* Finds the descriptors that have one segment, and the strides that are all 1. */
static void fused_find_one(struct cvl_kernel *k, const struct cvl_value *operands) {
  for (uint32_t p = 0; p < k->op->param_count; p++) {
    if (k->op->kinds[p] == SUPEROP_SEGDES)
      k->run.one[p] = value_segments(&operands[p]).count == 1;
    else if (k->strides[p] && (k->one[p] || !k->found_one))
      k->run.one[p] = fused_all_one(&operands[p]);
  }
}

/* Ranges are planned for what has been one segment, or strides of 1, in all runs, those without
 * elements included. Once a run has others, strips and functions are of no use. */
static void fit_run(struct cvl_kernel *k) {
  for (uint32_t p = 0; p < k->op->param_count; p++)
    k->one[p] = k->run.one[p] && (k->one[p] || !k->found_one);
  k->found_one = true;
  fused_choice_fit(k);
  if (k->strips && !strips_suit(k->strips, k->run.one)) {
    strips_free(k->strips);
    k->strips = NULL;
  }
  if (!k->strips) k->strips = strips_new(k->c, k->op, k->one);
}

/* ---- a run ---- */

static enum ranges_outcome run_once(struct cvl_kernel *k, const struct cvl_value *operands) {
  const struct superop *op = k->op;
  k->run.n = fused_size(&op->domain, operands);
  k->run.segments = op->segments == SUPEROP_NONE
                        ? (struct segments){.count = 1, .total = k->run.n, .equal = k->run.n}
                        : value_segments(&operands[op->segments]);
  fused_find_one(k, operands);
  fit_run(k);
  k->run.way = k->run.n > 0 && fused_choose(k) ? BY_FUNCTION : BY_STRIPS;
  return fused_ranges_run(k, operands);
}

static void release_operands(struct cvl_context *c, const struct superop *op,
                             const struct cvl_value *operands) {
  for (uint32_t i = 0; i < op->param_count; i++) {
    const struct cvl_value *v = &operands[i];
    if (v->owned && v->form == CVL_VECTOR) vector_release(c, v->as.vector);
    if (v->owned && v->form == CVL_SEGDES) segdes_release(c, v->as.segdes);
  }
}

static bool fused_run_nodes(struct cvl_context *c, uint64_t site, const struct superop *op,
                            const struct cvl_value *operands, struct cvl_value *outs) {
  if (superop_run(&cvl_cpu_backend, c, site, op, &c->stop, operands, outs)) return true;
  (void)all_done(c, site, c->error.kind != CVL_E_NONE); /* else it was asked to end */
  return false;
}

/* What ranges cannot do, or where they find a fault, is executed node by node. */
static bool run_plainly(struct cvl_context *c, uint64_t site, struct cvl_kernel *k,
                        const struct cvl_value *operands, struct cvl_value *outs) {
  if (!k->values) return fused_run_nodes(c, site, k->op, operands, outs);
  k->run.site = site;
  const bool timed = fused_choice_open(k);
  const double start = timed ? fused_clock() : 0;
  const enum ranges_outcome outcome = run_once(k, operands);
  if (timed) fused_chosen(k, fused_clock() - start);
  if (outcome == RANGES_UNFIT) {
    fused_drop_results(k);
    k->run.way = BY_NODES;
    return fused_run_nodes(c, site, k->op, operands, outs);
  }
  release_operands(c, k->op, operands);
  if (outcome == RANGES_DONE) fused_results_check(k);
  for (uint32_t i = 0; i < k->op->output_count && outcome == RANGES_DONE; i++) {
    struct cvl_value *v = &k->values[k->op->outputs[i]].whole;
    outs[i] = *v;
    v->form = CVL_NOTHING;
  }
  fused_drop_results(k);
  return outcome == RANGES_DONE;
}

/* The kernel is the context's own: sub-contexts are not asked for this. */
bool cpu_run_tiles(struct cvl_context *c, uint64_t site, struct cvl_kernel *k,
                   const struct cvl_value *operands, const struct cvl_value *before,
                   struct cvl_value *outs) {
  invariant(k->c == c && k->combination_count == 1 && k->scans_by);
  struct order_columns *given = &k->combinations[0].given;
  for (uint32_t j = 0; j < k->combinations[0].columns; j++)
    given->at[j] = (char *)value_data(&before[j]);
  const bool good = run_plainly(c, site, k, operands, outs);
  *given = (struct order_columns){{NULL}};
  return good;
}

bool cpu_run(struct cvl_context *c, uint64_t site, struct cvl_kernel *prepared,
             const struct cvl_value *operands, struct cvl_value *outs) {
  struct cvl_kernel *k = cpu_kernel_of(c, prepared);
  if (!k) return fused_run_nodes(c, site, prepared->op, operands, outs); /* no memory for it */
  const enum copy_outcome copied =
      k->copying ? fused_copy(c, site, k->copying, operands, outs) : COPY_UNFIT;
  if (copied == COPY_UNFIT) return run_plainly(c, site, k, operands, outs);
  release_operands(c, k->op, operands);
  return copied == COPY_DONE;
}
