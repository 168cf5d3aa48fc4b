/* delayed-queue.c - the queue of the delaying back end, and what a task does when it runs. */
#include "cvl/delayed-queue.h"

#include <stdlib.h>
#include <string.h>

enum { QUEUE_MOST = 40 };

uint64_t delayed_random(struct cvl_context *ctx, uint64_t n) {
  ctx->random = ctx->random * 6364136223846793005 + 1442695040888963407; /* Knuth, MMIX */
  return (ctx->random >> 33) % n;
}

/* Whether fault a comes before b. They are ordered by site; for one operation, sizes come
 * first, in the order of rules. */
static bool delayed_queue_comes_before(const struct cvl_error *a, const struct cvl_error *b) {
  if (a->site != b->site) return a->site < b->site;
  return a->kind == CVL_E_SIZE && (b->kind != CVL_E_SIZE || a->position < b->position);
}

bool delayed_fault(struct cvl_context *ctx, struct cvl_error e) {
  if (ctx->error.kind == CVL_E_NONE || delayed_queue_comes_before(&e, &ctx->error))
    ctx->error = e;
  return false;
}

bool delayed_take_inner_fault(struct cvl_context *ctx, uint64_t site, uint64_t sites) {
  struct cvl_error e;
  if (!ctx->b->check(ctx->inner, true, &e)) return false;
  if (e.site < site || e.site - site >= sites) e.site = site;
  delayed_fault(ctx, e);
  return true;
}

static bool device_fault(struct cvl_context *ctx, uint64_t site, const char *text) {
  return delayed_fault(ctx,
                       (struct cvl_error){.kind = CVL_E_DEVICE, .site = site, .text = text});
}

/* ---- nodes ---- */

struct delayed_node *node_of(const struct cvl_value *v) {
  if (v->form == CVL_VECTOR) return (struct delayed_node *)(void *)v->as.vector;
  if (v->form == CVL_SEGDES) return (struct delayed_node *)(void *)v->as.segdes;
  return NULL;
}

struct cvl_value node_value(struct delayed_node *n) {
  if (n->segdes) {
    return (struct cvl_value){.form = CVL_SEGDES, .as.segdes = (struct cvl_segdes *)(void *)n};
  }
  return (struct cvl_value){
      .form = CVL_VECTOR, .elem = n->elem, .as.vector = (struct cvl_vector *)(void *)n};
}

struct delayed_node *node_new(struct cvl_context *ctx, uint64_t site, bool segdes,
                              enum cvl_elem elem) {
  struct delayed_node *n = calloc(1, sizeof *n);
  if (!n) {
    delayed_fault(ctx, (struct cvl_error){
                           .kind = CVL_E_MEMORY, .site = site, .value = (int64_t)sizeof *n});
    return NULL;
  }
  *n = (struct delayed_node){.references = 1,
                             .next = ctx->nodes,
                             .previous = &ctx->nodes,
                             .elem = (uint8_t)elem,
                             .segdes = segdes,
                             .count = {1, 0}};
  if (n->next) n->next->previous = &n->next;
  ctx->nodes = n;
  return n;
}

void node_release(struct cvl_context *ctx, struct delayed_node *n) {
  if (--n->references > 0) return;
  if (n->inner.form != CVL_NOTHING) ctx->b->release(ctx->inner, &n->inner);
  *n->previous = n->next;
  if (n->next) n->next->previous = n->previous;
  free(n);
}

/* ---- sizes ---- */

uint64_t symbol_new(struct cvl_context *ctx, struct task *producer) {
  if (ctx->symbol_count == ctx->symbol_capacity) {
    uint64_t capacity = 2 * ctx->symbol_capacity + 16;
    struct symbol *grown = realloc(ctx->symbols, (size_t)capacity * sizeof *grown);
    if (!grown) {
      delayed_fault(ctx, (struct cvl_error){.kind = CVL_E_MEMORY,
                                            .site = producer->site,
                                            .value = (int64_t)(capacity * sizeof *grown)});
      return 0;
    }
    ctx->symbols = grown;
    ctx->symbol_capacity = capacity;
  }
  ctx->symbols[ctx->symbol_count++] = (struct symbol){.producer = producer};
  return ctx->symbol_count;
}

struct cvl_size size_now(const struct cvl_context *ctx, struct cvl_size size) {
  const struct symbol *s = size.symbol ? &ctx->symbols[size.symbol - 1] : NULL;
  return s && s->known ? (struct cvl_size){s->size, 0} : size;
}

struct cvl_size delayed_length(struct cvl_context *ctx, const struct cvl_value *v) {
  struct delayed_node *n = node_of(v);
  if (n) return size_now(ctx, n->size);
  return (struct cvl_size){v->form == CVL_ONE_SEGMENT ? v->as.one_segment : 1, 0};
}

struct cvl_size delayed_count(struct cvl_context *ctx, const struct cvl_value *v) {
  struct delayed_node *n = node_of(v);
  return n ? size_now(ctx, n->count) : (struct cvl_size){1, 0};
}

struct cvl_size delayed_superop_size(struct cvl_context *ctx, const struct superop *op,
                                     struct superop_size size,
                                     const struct cvl_value *operands) {
  if (size.what == SIZE_UNKNOWN) size = op->domain;
  if (size.what == SIZE_ONE) return (struct cvl_size){1, 0};
  const struct cvl_value *v = &operands[size.param];
  return size.what == SIZE_COUNT ? delayed_count(ctx, v) : delayed_length(ctx, v);
}

/* Sets a size to n, from now on, for all values with its symbol. */
static void know(struct cvl_context *ctx, struct cvl_size *size, uint64_t n) {
  if (size->symbol) {
    struct symbol *s = &ctx->symbols[size->symbol - 1];
    *s = (struct symbol){.known = true, .size = n};
  }
  *size = (struct cvl_size){n, 0};
}

/* Runs the task that determines a size, if it has not run. */
static void determine(struct cvl_context *ctx, struct cvl_size *size) {
  *size = size_now(ctx, *size);
  if (!size->symbol) return;
  task_run(ctx, ctx->symbols[size->symbol - 1].producer);
  *size = size_now(ctx, *size);
}

/* ---- tasks ---- */

struct task *task_new(struct cvl_context *ctx, uint64_t site, unsigned operand_count,
                      unsigned out_count) {
  size_t values = 2 * (size_t)operand_count + out_count;
  size_t bytes = sizeof(struct task) + values * sizeof(struct cvl_value) +
                 out_count * sizeof(struct delayed_node *);
  struct task *t = calloc(1, bytes);
  if (!t) {
    delayed_fault(
        ctx, (struct cvl_error){.kind = CVL_E_MEMORY, .site = site, .value = (int64_t)bytes});
    return NULL;
  }
  t->site = site;
  t->operand_count = operand_count;
  t->out_count = out_count;
  t->operand = (struct cvl_value *)(void *)(t + 1);
  t->inner = t->operand + operand_count;
  t->result = t->inner + operand_count;
  t->out = (struct delayed_node **)(void *)(t->result + out_count);
  return t;
}

void task_free(struct cvl_context *ctx, struct task *t) {
  for (unsigned i = 0; i < t->operand_count; i++) {
    struct delayed_node *n = node_of(&t->operand[i]);
    if (n) node_release(ctx, n);
  }
  for (unsigned r = 0; r < t->out_count; r++) {
    if (t->out[r]) node_release(ctx, t->out[r]);
  }
  free(t);
}

static void run_requirement(struct cvl_context *ctx, struct task *t) {
  determine(ctx, &t->a);
  determine(ctx, &t->b);
  if (t->a.bound == t->b.bound) return;
  ctx->sizes_differ = true;
  delayed_fault(ctx, (struct cvl_error){.kind = CVL_E_SIZE,
                                        .site = t->site,
                                        .position = t->rule,
                                        .value = (int64_t)t->a.bound,
                                        .limit = (int64_t)t->b.bound});
}

static bool operands_ready(const struct task *t) {
  for (unsigned i = 0; i < t->operand_count; i++) {
    const struct delayed_node *n = node_of(&t->operand[i]);
    if (n && n->state != NODE_READY) return false;
  }
  return true;
}

static bool delayed_queue_rules_hold(struct cvl_context *ctx, const struct task *t) {
  const struct superop *op = t->kernel->op;
  for (uint32_t i = 0; i < op->rule_count; i++) {
    struct cvl_size a = delayed_superop_size(ctx, op, op->rules[i].a, t->operand);
    struct cvl_size b = delayed_superop_size(ctx, op, op->rules[i].b, t->operand);
    if (a.bound != b.bound) return false;
  }
  return true;
}

static bool delayed_queue_sizes_agree(struct cvl_context *ctx, const struct task *t) {
  if (t->kernel) return delayed_queue_rules_hold(ctx, t);
  struct call_extent extent[CALL_OPERANDS] = {{0}};
  bool present[CALL_OPERANDS] = {0};
  for (unsigned i = 0; i < t->operand_count; i++) {
    const struct cvl_value *v = &t->operand[i];
    present[i] = v->form != CVL_NOTHING;
    extent[i].length = delayed_length(ctx, v).bound;
    extent[i].count = delayed_count(ctx, v).bound;
  }
  return call_sizes_agree(t->call.kind, t->call.op, extent, present);
}

/* Reports sizes that disagree. A caller who required them equal gets that fault, others get a
 * fault of this back end. */
static void blame_sizes(struct cvl_context *ctx, const struct task *t) {
  for (struct task *r = ctx->queue; r && !ctx->sizes_differ;) {
    if (r->requirement && r->site <= t->site) {
      task_run(ctx, r);
      r = ctx->queue;
    } else {
      r = r->next;
    }
  }
  if (!ctx->sizes_differ) {
    device_fault(ctx, t->site, "operands differ in size and nobody required them equal");
  }
}

/* Makes the operands for the wrapped back end. They are owned if this task is the last to need
 * them. */
static void inner_operands(struct task *t) {
  for (unsigned i = 0; i < t->operand_count; i++) {
    struct delayed_node *n = node_of(&t->operand[i]);
    t->inner[i] = n ? n->inner : t->operand[i];
    bool last = n && t->operand[i].owned && n->references == 1;
    t->inner[i].owned = last;
    if (last) n->inner = (struct cvl_value){.form = CVL_NOTHING};
  }
}

/* Executes the task on the wrapped back end. */
static bool delayed_queue_perform(struct cvl_context *ctx, struct task *t) {
  inner_operands(t);
  if (!t->kernel) {
    struct cvl_call call = t->call;
    call.count = t->operand_count;
    memcpy(call.operand, t->inner, t->operand_count * sizeof *t->inner);
    return ctx->b->apply(ctx->inner, t->site, &call, t->result);
  }
  if (!t->kernel->inner) {
    return superop_run(ctx->b, ctx->inner, t->site, t->kernel->op, &ctx->stop, t->inner,
                       t->result);
  }
  return ctx->b->superops->run(ctx->inner, t->site, t->kernel->inner, t->inner, t->result);
}

/* Keeps a result of the wrapped back end. False if it is not what was promised. */
static bool keep_result(struct cvl_context *ctx, uint64_t site, struct delayed_node *n,
                        struct cvl_value v) {
  n->inner = v;
  bool segdes = v.form == CVL_SEGDES || v.form == CVL_ONE_SEGMENT;
  bool vector = v.form == CVL_VECTOR || v.form == CVL_SCALAR;
  if (n->segdes ? !segdes : !vector || v.elem != n->elem) {
    return device_fault(ctx, site, "the wrapped back end delivers another type");
  }
  struct cvl_size size = ctx->b->length(ctx->inner, &v), count = {1, 0};
  if (segdes) count = ctx->b->count(ctx->inner, &v);
  if (!ctx->b->resolve(ctx->inner, &size) || !ctx->b->resolve(ctx->inner, &count)) {
    return device_fault(ctx, site, "the wrapped back end does not know a size");
  }
  struct cvl_size expected = size_now(ctx, n->size);
  if (expected.bound < size.bound || (!expected.symbol && expected.bound != size.bound)) {
    return device_fault(ctx, site, "the wrapped back end delivers another size");
  }
  know(ctx, &n->size, size.bound);
  know(ctx, &n->count, count.bound);
  n->state = NODE_READY;
  return true;
}

/* Whether the operation was asked to end, which is then its fault. */
static bool delayed_queue_stopped(struct cvl_context *ctx, const struct task *t) {
  if (!ctx->stop.asks || !ctx->stop.asks(ctx->stop.with)) return false;
  delayed_fault(ctx, (struct cvl_error){.kind = CVL_E_STOPPED, .site = t->site});
  return true;
}

static bool delayed_queue_run_operation(struct cvl_context *ctx, struct task *t) {
  if (!operands_ready(t)) return false;
  if (delayed_queue_stopped(ctx, t)) return false;
  if (!delayed_queue_sizes_agree(ctx, t)) {
    blame_sizes(ctx, t);
    return false;
  }
  bool ok = delayed_queue_perform(ctx, t);
  bool fault =
      delayed_take_inner_fault(ctx, t->site, t->kernel ? t->kernel->op->node_count : 1);
  if (!ok && !fault && !delayed_queue_stopped(ctx, t)) {
    device_fault(ctx, t->site, "refused without a fault");
  }
  for (unsigned r = 0; r < t->out_count && ok; r++) {
    if (fault) {
      ctx->b->release(ctx->inner, &t->result[r]);
    } else if (!keep_result(ctx, t->site, t->out[r], t->result[r])) {
      fault = true;
    }
  }
  return ok && !fault;
}

static void make_harmless(struct cvl_context *ctx, struct delayed_node *n) {
  n->state = NODE_HARMLESS;
  struct cvl_size size = size_now(ctx, n->size), count = size_now(ctx, n->count);
  know(ctx, &n->size, size.symbol ? 0 : size.bound);
  know(ctx, &n->count, count.symbol ? 0 : count.bound);
}

static void dequeue(struct cvl_context *ctx, struct task *t) {
  struct task **at = &ctx->queue;
  while (*at != t) at = &(*at)->next;
  *at = t->next;
  if (!t->next) ctx->end = at;
  ctx->queued--;
}

void task_run(struct cvl_context *ctx, struct task *t) {
  /* recursion is no deeper than the queue is long */
  for (unsigned i = 0; i < t->operand_count; i++) {
    struct delayed_node *n = node_of(&t->operand[i]);
    if (n && n->state == NODE_WAITING) task_run(ctx, n->producer);
  }
  dequeue(ctx, t);
  bool ok = true;
  if (t->requirement) {
    run_requirement(ctx, t);
  } else {
    ok = delayed_queue_run_operation(ctx, t);
  }
  for (unsigned r = 0; r < t->out_count; r++) {
    if (!ok) make_harmless(ctx, t->out[r]);
    t->out[r]->producer = NULL;
  }
  task_free(ctx, t);
}

/* ---- the queue ---- */

void queue_add(struct cvl_context *ctx, struct task *t) {
  t->next = NULL;
  *ctx->end = t;
  ctx->end = &t->next;
  ctx->queued++;
}

static void run_any(struct cvl_context *ctx) {
  struct task *t = ctx->queue;
  for (uint64_t i = delayed_random(ctx, ctx->queued); i > 0; i--) t = t->next;
  task_run(ctx, t);
}

void queue_stir(struct cvl_context *ctx) {
  uint64_t some = delayed_random(ctx, 4) == 0 ? 1 + delayed_random(ctx, 3) : 0;
  while (ctx->queued && (some > 0 || ctx->queued > QUEUE_MOST)) {
    run_any(ctx);
    some -= some > 0;
  }
}

void queue_drain(struct cvl_context *ctx) {
  while (ctx->queued) run_any(ctx);
}

/* ---- handing a task over ---- */

struct task *task_with(struct cvl_context *ctx, uint64_t site, const struct cvl_value *operands,
                       unsigned operand_count, unsigned out_count) {
  struct task *t = task_new(ctx, site, operand_count, out_count);
  for (unsigned i = 0; i < operand_count; i++) {
    struct delayed_node *n = node_of(&operands[i]);
    if (t) {
      t->operand[i] = operands[i];
      if (n && !operands[i].owned) n->references++;
    } else if (n && operands[i].owned) {
      node_release(ctx, n);
    }
  }
  return t;
}

bool task_submit(struct cvl_context *ctx, struct task *t, bool complete,
                 struct cvl_value *results) {
  if (!complete) {
    task_free(ctx, t);
    return false;
  }
  for (unsigned r = 0; r < t->out_count; r++) {
    t->out[r]->producer = t;
    t->out[r]->references++;
    results[r] = node_value(t->out[r]);
  }
  queue_add(ctx, t);
  queue_stir(ctx);
  return true;
}
