/* copy.c - executes a superoperator that copies segments: the result of every target in
 * one pass, a range of it by each thread.
 *
 * A result may take the memory of what it is written over: then only the inputs are written. If
 * the runs turn out to be unfit after some have been written, nothing is lost, since they are
 * all written again.
 */
#include <string.h>

#include "cvl-cpu/kernels/copy.h"
#include "cvl-cpu/kernels/kernels.h"
#include "cvl-cpu/kernels/move.h"

struct copy_job {
  const struct copy_plan *plan;
  const struct copy_target *target;
  const struct bound_input *inputs; /* of the plan */
  const char *const *previous;      /* of each target: what it is written over, or NULL */
  const struct move_kernels *move;
  const struct copy_kernels *copy;
  char *out;
  bool over;      /* out is the memory of `previous` */
  bool streaming; /* past the caches */
  size_t bytes;   /* of an element */
  bool long_runs; /* longer than a line, on average */
  uint64_t total; /* of the result */
  _Atomic bool unfit;
};

/* ---- copying ---- */

/* By way of a buffer in the first-level cache; a long run needs none. */
static void stream_to(const struct copy_job *job, struct copy_walk *w, uint64_t end) {
  enum { ROOM = STAGING_BYTES, SLACK = 128 };
  _Alignas(64) char buffer[ROOM + SLACK];
  const uint64_t most = ROOM / job->bytes;
  while (w->position < end && !w->unfit) {
    bool gap;
    char *out = job->out + w->position * job->bytes;
    const uint64_t first = w->position, stop = end - first < most ? end : first + most;
    const struct copy_span s = copy_walk_next(w, end - first, &gap);
    if (s.from && s.n >= most) {
      job->move->stream(out, s.from, s.n * job->bytes);
      copy_walk_take(w, s.n, gap);
      continue;
    }
    job->copy->copy(w, stop, buffer, buffer + sizeof buffer);
    job->move->stream(out, buffer, (w->position - first) * job->bytes);
  }
  job->move->stream_end();
}

/* Only the inputs, without a byte more. */
static void write_over(const struct copy_job *job, struct copy_walk *w, uint64_t end) {
  while (w->position < end && !w->unfit) {
    bool gap;
    const struct copy_span s = copy_walk_next(w, end - w->position, &gap);
    const size_t at = w->position * job->bytes, bytes = s.n * job->bytes;
    if (!gap && s.from) memcpy(job->out + at, s.from, bytes);
    if (!gap && !s.from) memset(job->out + at, 0, bytes);
    copy_walk_take(w, s.n, gap);
  }
}

/* ---- walks ---- */

/* Walks for a target and those within it. */
static void make_walks(const struct copy_job *job, uint32_t number, struct copy_walk *walks,
                       struct copy_cursor *cursors) {
  const struct copy_target *target = &job->plan->targets[number];
  walks[number] = (struct copy_walk){.target = target,
                                     .cursors = &cursors[target->first],
                                     .bytes = job->bytes,
                                     .long_runs = job->long_runs,
                                     .previous = job->previous[number]};
  for (uint32_t i = target->first; i < target->first + target->count; i++) {
    const uint32_t inner = job->plan->inputs[i].inner;
    cursors[i].input = &job->inputs[i];
    cursors[i].inner = NULL;
    if (inner == SUPEROP_NONE) continue;
    cursors[i].inner = &walks[inner];
    make_walks(job, inner, walks, cursors);
  }
}

static void cpu_copy_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  struct copy_job *job = arg;
  struct copy_walk walks[COPY_TARGETS];
  struct copy_cursor cursors[COPY_INPUTS];
  const uint32_t number = (uint32_t)(job->target - job->plan->targets);
  if (atomic_load_explicit(&job->unfit, memory_order_relaxed)) return;
  make_walks(job, number, walks, cursors);
  struct copy_walk *w = &walks[number];
  copy_walk_to(w, first, job->total);
  if (job->over) {
    write_over(job, w, last);
  } else if (job->streaming) {
    stream_to(job, w, last);
  } else {
    job->copy->copy(w, last, job->out + first * job->bytes, job->out + last * job->bytes);
  }
  if (!copy_walk_meets(w, job->total))
    atomic_store_explicit(&job->unfit, true, memory_order_relaxed);
}

/* ---- operands ---- */

static struct bound_runs bind_runs(const struct copy_plan *plan, const struct copy_runs *r,
                                   size_t int_bytes, const struct cvl_value *operands) {
  struct bound_runs b = {.segments = value_segments(&operands[r->segments])};
  if (r->start < plan->op->param_count) {
    b.start = value_data(&operands[r->start]);
    b.step = value_length(&operands[r->start]) == 1 ? 0 : int_bytes;
  } else {
    uint32_t k = 0;
    while (plan->op->nodes[k].result != r->start) k++;
    b.start = (const char *)&plan->op->nodes[k].constant.as;
  }
  if (r->stride != SUPEROP_NONE) b.stride = value_data(&operands[r->stride]);
  return b;
}

static struct bound_input bind_input(const struct cvl_context *c, const struct copy_plan *plan,
                                     const struct copy_input *p,
                                     const struct cvl_value *operands) {
  struct bound_input b = {.plan = p, .int_bytes = elem_bytes((uint8_t)c->int_elem)};
  if (p->values != SUPEROP_NONE) {
    const struct cvl_value *v = &operands[p->values];
    b.values = value_data(v);
    b.bytes = elem_bytes(v->elem);
    b.values_end = b.values + value_length(v) * b.bytes;
  }
  if (p->gathered) {
    b.from = bind_runs(plan, &p->from, b.int_bytes, operands);
    b.positions = value_segments(&operands[p->positions]);
    b.source = value_segments(&operands[p->source]);
    b.total = b.positions.total;
  }
  if (p->scattered) {
    b.to = bind_runs(plan, &p->to, b.int_bytes, operands);
    b.near = value_segments(&operands[p->near]);
    b.far = value_segments(&operands[p->far]);
    b.total = b.near.total;
  }
  return b;
}

struct bound {
  struct bound_input inputs[COPY_INPUTS];
  const char *previous[COPY_TARGETS];
};

static void copy_bind(const struct cvl_context *c, const struct copy_plan *plan,
                      const struct cvl_value *operands, struct bound *b) {
  for (uint32_t i = 0; i < plan->input_count; i++)
    b->inputs[i] = bind_input(c, plan, &plan->inputs[i], operands);
  for (uint32_t i = 0; i < plan->target_count; i++) {
    const uint32_t previous = plan->targets[i].previous;
    b->previous[i] = previous == SUPEROP_NONE ? NULL : value_data(&operands[previous]);
  }
  for (uint32_t i = plan->input_count; i-- > 0;) { /* inner targets come later */
    const uint32_t inner = plan->inputs[i].inner;
    if (inner != SUPEROP_NONE) b->inputs[i].bytes = b->inputs[plan->targets[inner].first].bytes;
  }
}

/* ---- checks ---- */

struct check_job {
  const struct bound_input *input;
  _Atomic bool unfit;
};

static void check_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  struct check_job *job = arg;
  if (!copy_cursor_check(job->input, first, last))
    atomic_store_explicit(&job->unfit, true, memory_order_relaxed);
}

/* The indices of a target whose result nobody wants, and of those within it. */
static enum copy_outcome copy_check(struct cvl_context *c, uint64_t site,
                                    const struct copy_plan *plan, const struct bound *b,
                                    const struct copy_target *target) {
  enum copy_outcome done = COPY_DONE;
  for (uint32_t i = target->first; i < target->first + target->count && done == COPY_DONE;
       i++) {
    const uint32_t inner = plan->inputs[i].inner;
    struct check_job job = {.input = &b->inputs[i]};
    const uint64_t grain = grain_for(c, job.input->total, sizeof(uint64_t));
    if (!all_done(c, site, pool_for(c->pool, job.input->total, grain, check_chunk, &job)))
      return COPY_FAILED;
    if (job.unfit || target->whole) return COPY_UNFIT; /* a PERMUTE may have a duplicate, too */
    if (inner != SUPEROP_NONE) done = copy_check(c, site, plan, b, &plan->targets[inner]);
  }
  return done;
}

/* ---- targets ---- */

/* The vector that the result of a target may be written over. */
static struct cvl_vector *reusable(const struct copy_plan *plan,
                                   const struct copy_target *target, size_t bytes,
                                   const struct cvl_value *operands) {
  const struct superop *op = plan->op;
  if (target->previous == SUPEROP_NONE || op->uses[target->previous] != 1) return NULL;
  struct cvl_vector *v = value_reusable(&operands[target->previous], bytes);
  for (uint32_t i = 0; v && i < op->param_count; i++) {
    if (i != target->previous && operands[i].form == CVL_VECTOR && operands[i].as.vector == v)
      return NULL;
  }
  return v;
}

/* Goes over the result once. */
static enum copy_outcome copy_pass(struct cvl_context *c, uint64_t site, struct copy_job *job) {
  const uint64_t grain = grain_for(c, job->total, 2 * job->bytes);
  if (!all_done(c, site, pool_for(c->pool, job->total, grain, cpu_copy_chunk, job)))
    return COPY_FAILED;
  return job->unfit ? COPY_UNFIT : COPY_DONE;
}

static enum copy_outcome copy_target(struct cvl_context *c, uint64_t site, struct copy_job *job,
                                     struct cvl_vector *reuse, enum cvl_elem elem,
                                     struct cvl_value *out) {
  struct cvl_value result;
  if (!result_new(c, site, elem, job->total, reuse, &result)) return COPY_FAILED;
  job->out = result_data(&result);
  job->over = reuse != NULL;
  job->streaming = !reuse && job->total * job->bytes >= tuned(c, STREAM_BYTES);
  enum copy_outcome done = copy_pass(c, site, job);
  const struct bound_input *first = &job->inputs[job->target->first];
  if (done == COPY_UNFIT && job->target->whole && first->values)
    done = copy_permute(c, site, first, job->out);
  if (done != COPY_DONE) {
    result_drop(c, &result);
    return done;
  }
  *out = result;
  return COPY_DONE;
}

static uint64_t copy_result_length(const struct bound_input *p) {
  return p->plan->scattered ? p->far.total : p->total;
}

/* Whether the inputs of every target have room in its result. */
static bool copy_has_room(const struct copy_plan *plan, const struct bound *b) {
  for (uint32_t i = 0; i < plan->target_count; i++) {
    const struct bound_input *p = &b->inputs[plan->targets[i].first];
    uint64_t room = copy_result_length(p);
    for (uint32_t k = 0; k < plan->targets[i].count; k++) {
      if (p[k].total > room) return false;
      room -= p[k].total;
    }
  }
  return true;
}

/* Whether this way is the faster one, where there are others. Elements of very short runs are
 * moved as fast one by one; and a scatter writes only the runs over memory that may be reused.
 */
static bool is_worth(const struct copy_plan *plan, const struct bound *b,
                     const struct cvl_value *operands) {
  enum { SLICED = 4, PERMUTED = 2 }; /* elements of a run, on average */
  const struct bound_input *p = &b->inputs[0];
  if (plan->input_count > 1 || plan->op->copies) return true;
  if (!p->plan->scattered) return p->from.segments.count <= p->total / SLICED;
  if (plan->targets[0].whole) return p->to.segments.count <= p->total / PERMUTED;
  return !reusable(plan, &plan->targets[0], p->bytes, operands);
}

static bool has_long_runs(const struct copy_job *job) {
  enum { LINE = 64 };
  uint64_t runs = 1;
  for (uint32_t i = 0; i < job->target->count; i++) {
    const struct bound_input *p = &job->inputs[job->target->first + i];
    runs += (p->plan->scattered ? &p->to : &p->from)->segments.count;
  }
  return job->total / runs >= LINE / job->bytes;
}

static enum copy_outcome make_target(struct cvl_context *c, uint64_t site,
                                     const struct copy_plan *plan, const struct bound *b,
                                     const struct copy_target *target,
                                     const struct cvl_value *operands, struct cvl_value *outs) {
  const struct bound_input *first = &b->inputs[target->first];
  const uint32_t value = plan->op->nodes[target->node].result;
  const enum cvl_elem elem =
      superop_elem((enum superop_kind)plan->op->kinds[value], c->int_elem, c->float_elem);
  struct copy_job job = {.plan = plan,
                         .target = target,
                         .inputs = b->inputs,
                         .previous = b->previous,
                         .move = c->kernels->move,
                         .copy = c->kernels->copy,
                         .bytes = first->bytes,
                         .total = copy_result_length(first)};
  job.long_runs = has_long_runs(&job);
  struct cvl_vector *reuse = reusable(plan, target, job.bytes, operands);
  return copy_target(c, site + target->node, &job, reuse, elem, &outs[target->output]);
}

enum copy_outcome fused_copy(struct cvl_context *c, uint64_t site, const struct copy_plan *plan,
                             const struct cvl_value *operands, struct cvl_value *outs) {
  struct bound b;
  enum copy_outcome done = COPY_DONE;
  uint32_t made[COPY_TARGETS], count = 0;
  copy_bind(c, plan, operands, &b);
  if (!is_worth(plan, &b, operands) || !copy_has_room(plan, &b)) return COPY_UNFIT;
  for (uint32_t i = 0; i < plan->target_count && done == COPY_DONE; i++) {
    const struct copy_target *target = &plan->targets[i];
    if (target->inner) continue;
    if (target->output == SUPEROP_NONE) {
      done = copy_check(c, site + target->node, plan, &b, target);
      continue;
    }
    done = make_target(c, site, plan, &b, target, operands, outs);
    if (done == COPY_DONE) made[count++] = target->output;
  }
  while (done != COPY_DONE && count > 0) result_drop(c, &outs[made[--count]]);
  return done;
}
