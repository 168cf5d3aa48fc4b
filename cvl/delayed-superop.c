/* delayed-superop.c - superoperators on the delaying back end. Each run is one task, like an
 * operation.
 */
#include "cvl/delayed-queue.h"

#include <stdlib.h>

/* Some superoperators are refused, so that callers must be prepared for that. */
struct cvl_kernel *delayed_prepare(struct cvl_context *ctx, const struct superop *op) {
  struct cvl_kernel *k = delayed_random(ctx, 8) ? calloc(1, sizeof *k) : NULL;
  if (!k) return NULL;
  k->op = op;
  k->inner = ctx->b->superops ? ctx->b->superops->prepare(ctx->inner, op) : NULL;
  k->next = ctx->kernels;
  ctx->kernels = k;
  return k;
}

void delayed_prepared(struct cvl_context *ctx) {
  if (ctx->b->prepared) ctx->b->prepared(ctx->inner);
}

void delayed_discard(struct cvl_context *ctx, struct cvl_kernel *k) {
  for (struct task *t = ctx->queue; t;) { /* its tasks must run before it is discarded */
    bool mine = t->kernel == k;
    if (mine) task_run(ctx, t);
    t = mine ? ctx->queue : t->next;
  }
  struct cvl_kernel **at = &ctx->kernels;
  while (*at != k) at = &(*at)->next;
  *at = k->next;
  if (k->inner) ctx->b->superops->discard(ctx->inner, k->inner);
  free(k);
}

/* Sets the size of output r as far as it is known before execution. Both results of a PACK have
 * one symbol. */
static void expect_output(struct cvl_context *ctx, struct task *t, unsigned r) {
  const struct superop *op = t->kernel->op;
  uint32_t value = op->outputs[r];
  struct delayed_node *n = t->out[r];
  n->size = delayed_superop_size(ctx, op, op->sizes[value], t->operand);
  if (op->sizes[value].what != SIZE_UNKNOWN) return;
  if (n->segdes) n->count = delayed_count(ctx, &t->operand[op->segments]);
  uint32_t other = n->segdes ? value - 1 : value + 1;
  for (unsigned q = 0; q < r; q++) {
    if (op->outputs[q] == other) {
      n->size = t->out[q]->size;
      return;
    }
  }
  n->size.bound += 1 + delayed_random(ctx, DELAYED_SLACK);
  n->size.symbol = symbol_new(ctx, t);
}

static enum cvl_elem elem_of_kind(const struct cvl_context *ctx, enum superop_kind kind) {
  switch (kind) {
  case SUPEROP_INT: return ctx->int_elem;
  case SUPEROP_FLOAT: return ctx->float_elem;
  case SUPEROP_BOOL: return CVL_BOOL;
  case SUPEROP_SEGDES: break;
  }
  return CVL_I64;
}

bool delayed_run(struct cvl_context *ctx, uint64_t site, struct cvl_kernel *k,
                 const struct cvl_value *operands, struct cvl_value *outs) {
  const struct superop *op = k->op;
  struct task *t = task_with(ctx, site, operands, op->param_count, op->output_count);
  if (!t) return false;
  t->kernel = k;
  bool ok = true;
  for (unsigned r = 0; r < t->out_count && ok; r++) {
    enum superop_kind kind = (enum superop_kind)op->kinds[op->outputs[r]];
    t->out[r] = node_new(ctx, site, kind == SUPEROP_SEGDES, elem_of_kind(ctx, kind));
    ok = t->out[r] != NULL;
    if (ok) expect_output(ctx, t, r);
  }
  return task_submit(ctx, t, ok, outs);
}
