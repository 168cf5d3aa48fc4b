/* fused-scatter.c - scatters with combining. They run after all ranges, when their columns and
 * their index are vectors (scatter.h).
 */
#include "cvl-cpu/combine/combinations.h"
#include "cvl-cpu/combine/fused.h"
#include "cvl-cpu/combine/scatter.h"

/* The data of a scatter's workers. The scatter begins after the ranges have ended. */
struct scatter_workers {
  struct fused_function *functions; /* one for each worker */
  char *memory;                     /* for each worker buffers, then scratch memory */
  size_t bytes, buffers;
};

static const struct order_function *fused_scatter_function_of(void *with, unsigned worker,
                                                              char **scratch) {
  const struct scatter_workers *w = with;
  *scratch = w->memory + worker * w->bytes + w->buffers;
  return &w->functions[worker].call;
}

static const char *data_of(const struct cvl_kernel *k, uint32_t value,
                           const struct cvl_value *operands) {
  return value_data(value < k->op->param_count ? &operands[value] : &k->values[value].whole);
}

/* Describes the scatter in *s, and allocates its results. */
static bool describe_scatter(struct cvl_kernel *k, const struct fused_combination *c,
                             const struct cvl_value *operands, struct combine_scatter *s) {
  const struct superop_node *ends = &k->op->nodes[c->at.ends];
  *s = (struct combine_scatter){.columns = c->columns,
                                .index = data_of(k, ends->operands[COMBINE_INDEX], operands),
                                .near = value_segments(&operands[ends->operands[4]]),
                                .far = value_segments(&operands[ends->operands[5]])};
  for (uint32_t j = 0; j < c->columns; j++) {
    const struct fused_value *v = c->column[j];
    struct cvl_value *result = &k->values[ends[j].result].whole;
    const uint32_t value = (uint32_t)(v - k->values);
    if (!result_new(k->c, k->run.site + c->at.ends + j, (enum cvl_elem)v->elem, s->far.total,
                    NULL, result)) {
      return false;
    }
    const bool same = v->unwanted;
    s->column[j] = (struct scatter_column){
        .values = same ? v->one : data_of(k, value, operands),
        .same = same,
        .defaults = data_of(k, ends[j].operands[COMBINE_INDEX + 1], operands),
        .out = result_data(result),
        .elem = v->elem,
        .exact = c->exact[j]};
  }
  return true;
}

/* Sets up the functions of all workers. Their buffers follow in the same memory. */
static void fused_scatter_set_up_scatter(const struct cvl_kernel *k,
                                         const struct fused_combination *c,
                                         struct scatter_workers *w, char *block) {
  const unsigned threads = pool_threads(k->c->pool);
  w->functions = (struct fused_function *)(void *)block;
  w->memory = block + combine_lines(threads * sizeof *w->functions);
  for (unsigned t = 0; t < threads; t++) {
    w->functions[t] = combine_function(k, c, w->memory + t * w->bytes);
  }
}

static bool cpu_scatter(struct cvl_kernel *k, const struct fused_combination *c,
                        const struct cvl_value *operands) {
  struct combine_scatter s;
  const struct order_function f = {.columns = c->columns};
  struct scatter_workers w = {.buffers = combine_buffer_bytes(c)};
  const unsigned threads = pool_threads(k->c->pool);
  w.bytes = w.buffers + combine_lines(order_scratch_bytes(&f));
  if (!describe_scatter(k, c, operands, &s)) return false;
  const size_t bytes = combine_lines(threads * sizeof *w.functions) + threads * w.bytes;
  char *block = scratch_alloc(k->c, k->run.site + c->at.ends, bytes);
  if (!block) return false;
  fused_scatter_set_up_scatter(k, c, &w, block);
  s.function = fused_scatter_function_of;
  s.with = &w;
  const bool good = cpu_combine_scatter(k->c, k->run.site + c->at.ends, &s);
  scratch_free(k->c, block, bytes);
  return good;
}

bool fused_combine_scatter(struct cvl_kernel *k, uint32_t node,
                           const struct cvl_value *operands) {
  for (uint32_t i = 0; i < k->combination_count; i++) {
    if (k->combinations[i].at.ends == node)
      return cpu_scatter(k, &k->combinations[i], operands);
  }
  return true; /* the first column's step has executed it */
}
