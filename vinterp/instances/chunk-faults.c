/* chunk-faults.c - which of the faults of several chunks is reported, and at which position:
 * as in a run without chunks.
 *
 * That run would have found the first fault in program order, at its lowest position. So if a
 * chunk of the outermost cut fails, all of its chunks are executed once more, in order: the
 * *search*. Each instruction is waited for, and each chunk is executed up to the first path at
 * which any has failed so far. Then the chunks before the failing one are executed up to that
 * path, to add their elements at the instruction to the position. Cuts within chunks are
 * treated alike. If one of their chunks has not come to its end, there are no results, so the
 * chunk around it ends there, too, at a later path than the fault.
 */
#include "cvl/superop.h"
#include "vinterp/machine/machine-private.h"

#include <string.h>

/* ---- keeping a fault ---- */

/* Returns the innermost cut within a chunk of more than so many instances, or NULL. */
static struct cut *under_way(const struct machine *m, uint64_t instances) {
  for (uint64_t k = m->chunks.count; k-- > 0;) {
    if (m->chunks.cuts[k].n > instances) return &m->chunks.cuts[k];
  }
  return NULL;
}

/* Returns the order in which one instruction checks: of several faults at one path, the first
 * counts. */
static int chunk_faults_rank(const struct fault_found *found) {
  switch (found->error.kind) {
  case CVL_E_SIZE: return 0;
  case CVL_E_DUPLICATE: return 2;
  default: return 1;
  }
}

/* Keeps a fault, and takes the trace. Returns false if memory runs out. */
static bool chunk_faults_keep(struct machine *m, struct fault_kept *kept,
                              struct call_trace *trace, const struct fault_found *found,
                              bool with_path) {
  struct fault_kept new = {.set = true, .found = *found};
  if (with_path && !path_take(m, trace->location, &new.path)) return false;
  call_trace_free(m->heap, &kept->trace);
  path_free(m, &kept->path);
  new.trace = *trace;
  *trace = (struct call_trace){0};
  *kept = new;
  return true;
}

/* Returns whether a fault comes before the first one so far. Chunks are searched in order, so
 * of two faults at the same path the earlier one has the lower position. */
static bool chunk_faults_is_first(const struct machine *m, const struct call_trace *trace,
                                  const struct fault_found *found) {
  const struct fault_kept *best = &m->chunks.best;
  if (!best->set) return true;
  const int order = path_compare(m, trace->location, &best->path);
  return order < 0 ||
         (order == 0 && chunk_faults_rank(found) < chunk_faults_rank(&best->found));
}

/* ---- positions ---- */

static const char *operands_at(const struct machine *m, uint32_t location) {
  return superop_info(code_debug_info(m->code, location).op)->operands;
}

/* Returns the operand whose elements a position counts. */
static unsigned position_operand(const struct machine *m, uint32_t location,
                                 enum cvl_error_kind kind) {
  if (kind != CVL_E_INDEX && kind != CVL_E_DUPLICATE) return 0;
  return code_debug_info(m->code, location).op == SUPEROP_COMBINE_SCATTER ? 2 : 1;
}

/* Adds the sizes of earlier chunks. All descriptors of an instruction with segments have equal
 * numbers of them; one is the last operand. If no chunk has more than one segment, though each
 * has several instances (chunk_size ensures that), it is one segment of all instances. */
static void add_before(struct machine *m) {
  struct fault_kept *best = &m->chunks.best;
  struct cvl_error *e = &best->found.error;
  const uint32_t location = best->trace.location;
  const size_t last = strlen(operands_at(m, location));
  const struct operand_sizes *before = &m->chunks.before;
  e->position += (int64_t)before->length[position_operand(m, location, e->kind)];
  if (last > 0 && !(m->chunks.sum.several && m->chunks.sum.one))
    e->segment += (int64_t)before->count[last - 1];
}

static uint64_t size_in(const struct operand_sizes *s, uint8_t size) {
  switch (SIZE_WHAT(size)) {
  case SIZE_LEN:
  case SIZE_TOTAL: return s->length[SIZE_OPERAND(size)];
  case SIZE_COUNT: return s->count[SIZE_OPERAND(size)];
  default: return 1;
  }
}

/* Replaces sizes that disagree by those of all instances. */
static void add_sizes(struct machine *m) {
  struct fault_kept *best = &m->chunks.best;
  struct cvl_error *e = &best->found.error;
  const struct debug_info info = code_debug_info(m->code, best->trace.location);
  const struct size_rule *rules = superop_info(info.op)->rules;
  if (e->position < 0 || e->position >= MAX_RULES || !rules[e->position].a) return;
  e->value = (int64_t)size_in(&m->chunks.sum, rules[e->position].a);
  e->limit = (int64_t)size_in(&m->chunks.sum, rules[e->position].b);
}

static uint64_t chunk_faults_exact(struct machine *m, struct cvl_size size) {
  if (size.symbol) m->backend->resolve(m->context, &size);
  return size.bound;
}

/* Adds a chunk in which a descriptor has so many segments. */
static void chunk_faults_add_segments(const struct machine *m, struct operand_sizes *s,
                                      unsigned k, uint64_t segments) {
  s->count[k] += segments;
  if (m->chunks.cuts[m->chunks.count - 1].n < 2) return;
  s->one = segments < 2 && (s->one || !s->several);
  s->several = true;
}

static void chunk_faults_add_operand(struct machine *m, struct operand_sizes *s, unsigned k,
                                     const struct value *v) {
  s->length[k] += chunk_faults_exact(m, machine_size(m, &v->flat));
  if (value_is_segdes(v))
    chunk_faults_add_segments(m, s, k, chunk_faults_exact(m, machine_count(m, &v->flat)));
}

void chunks_note_operation(struct machine *m, uint32_t location, const struct value *operands,
                           uint32_t n) {
  struct chunks *c = &m->chunks;
  if (c->pass != CHUNKS_SUM || path_compare(m, location, &c->best.path) != 0) return;
  c->before = c->sum;
  for (uint32_t k = 0; k < n; k++) chunk_faults_add_operand(m, &c->sum, k, &operands[k]);
}

/* Returns the length of a value of a superoperator, from its parameters. */
static uint64_t chunk_faults_value_length(struct machine *m, const struct superop_size *size,
                                          const struct value *params) {
  switch (size->what) {
  case SIZE_LEN:
  case SIZE_TOTAL: return chunk_faults_exact(m, machine_size(m, &params[size->param].flat));
  case SIZE_COUNT: return chunk_faults_exact(m, machine_count(m, &params[size->param].flat));
  case SIZE_ONE: return 1;
  default: return 0;
  }
}

void chunks_note_node(struct machine *m, uint32_t first_node, const struct superop *op,
                      const struct value *params) {
  struct chunks *c = &m->chunks;
  const uint32_t location = c->best.trace.location, k = location - first_node;
  if (c->pass != CHUNKS_SUM || k >= op->node_count ||
      path_compare(m, location, &c->best.path) != 0) {
    return;
  }
  c->before = c->sum;
  for (uint32_t i = 0; i < op->nodes[k].operand_count; i++) {
    const uint32_t v = op->nodes[k].operands[i];
    if (v < op->param_count) {
      chunk_faults_add_operand(m, &c->sum, i, &params[v]);
    } else {
      c->sum.length[i] += chunk_faults_value_length(m, &op->sizes[v], params);
    }
  }
}

/* ---- during a chunk ---- */

bool chunks_may_execute(struct machine *m, uint32_t location) {
  struct chunks *c = &m->chunks;
  if (!c->best.set || path_compare(m, location, &c->best.path) <= 0) return true;
  c->event = CHUNKS_PAST;
  m->faulted = true;
  return false;
}

bool chunks_settle(struct machine *m, uint32_t location) {
  const struct machine_site site = {m->site, location};
  return machine_settle(m, &site);
}

/* Returns whether this is the fault that the search has found. */
static bool is_best(const struct machine *m, const struct call_trace *trace,
                    const struct fault_found *found) {
  const struct fault_kept *best = &m->chunks.best;
  return found->error.kind == best->found.error.kind &&
         path_compare(m, trace->location, &best->path) == 0;
}

static bool keep_fault(struct machine *m, struct call_trace *trace,
                       const struct fault_found *found) {
  struct chunks *c = &m->chunks;
  switch (c->pass) {
  case CHUNKS_RUN: return chunk_faults_keep(m, &c->original, trace, found, false);
  case CHUNKS_SEARCH:
    return !chunk_faults_is_first(m, trace, found) ||
           chunk_faults_keep(m, &c->best, trace, found, true);
  case CHUNKS_SUM: break;
  }
  if (is_best(m, trace, found)) {
    c->best.found = *found;
    c->found_again = true;
  }
  return true;
}

/* Returns whether the present chunk may be halved. In an endless recursion everything executed
 * within it would be halved in turn, for ever. So it may not if many chunks were halved since
 * one has ended, or many that had so many cuts around them. */
enum { MOST_IN_VAIN = 256, DEEP = 64 };

static bool may_halve(const struct machine *m) {
  const struct chunks *c = &m->chunks;
  return c->halved < MOST_IN_VAIN && c->halved_deep < MOST_IN_VAIN && under_way(m, 1);
}

/* A sub-machine reports nothing: a fault that does not halve a chunk ends it. */
static bool catch_in_sub(struct machine *m, struct call_trace *trace,
                         const struct fault_found *found) {
  struct chunks *c = &m->chunks;
  c->event = found->memory && may_halve(m) ? CHUNKS_MEMORY : CHUNKS_NOTHING;
  if (c->event == CHUNKS_NOTHING) (void)chunk_faults_keep(m, &c->original, trace, found, false);
  call_trace_free(m->heap, trace);
  m->faulted = true;
  return true;
}

bool chunks_catch(struct machine *m, struct call_trace *trace, struct fault_found *found) {
  struct chunks *c = &m->chunks;
  if (m->sub) return catch_in_sub(m, trace, found);
  if (c->count == 0 || c->final) return false;
  const bool operation =
      found->cause == MACHINE_CAUSE_OPERATION || found->cause == MACHINE_CAUSE_ASSERT;
  if (!(found->memory && may_halve(m)) && !(operation && under_way(m, 0))) return false;
  c->event = found->memory ? CHUNKS_MEMORY : CHUNKS_FAULT;
  if (!found->memory && !keep_fault(m, trace, found)) {
    c->final = true;
    c->event = CHUNKS_NOTHING;
    *found = (struct fault_found){.cause = MACHINE_CAUSE_LIMIT};
    snprintf(found->message, sizeof found->message,
             "out of memory while the first of several faults was looked for");
    return false;
  }
  call_trace_free(m->heap, trace);
  m->faulted = true;
  return true;
}

/* ---- continuation ---- */

/* Ends the program with this fault. Always returns false. */
static bool chunk_faults_report(struct machine *m, struct fault_kept *kept) {
  m->chunks.final = true;
  machine_report(m, &kept->trace, &kept->found);
  return false;
}

static bool begin_pass(struct machine *m, enum chunks_pass pass, uint32_t *location) {
  struct cut *outermost = &m->chunks.cuts[0];
  while (m->chunks.count > 1) cut_pop(m);
  cut_leave_chunk(m, outermost);
  cut_restart(m, outermost);
  m->chunks.pass = pass;
  m->chunks.found_again = false;
  m->chunks.sum = (struct operand_sizes){0};
  return cut_start_chunk(m, outermost, location);
}

/* Ends a pass over all chunks of the outermost cut. A fault that does not occur again is
 * reported as it was found. */
static bool end_pass(struct machine *m, uint32_t *location) {
  struct chunks *c = &m->chunks;
  if (c->pass == CHUNKS_SUM) {
    if (!c->found_again) return chunk_faults_report(m, &c->original);
    add_sizes(m);
    return chunk_faults_report(m, &c->best);
  }
  if (!c->best.set) return chunk_faults_report(m, &c->original);
  if (c->best.found.error.kind == CVL_E_NONE) return chunk_faults_report(m, &c->best);
  return begin_pass(m, CHUNKS_SUM, location);
}

bool chunks_skip(struct machine *m, uint32_t *location) {
  struct chunks *c = &m->chunks;
  while (c->count > 1) {
    struct cut *inner = &c->cuts[c->count - 1], *cut = inner - 1;
    const struct machine_site site = {m->site, inner->location};
    if (!cut_random_leave(m, &site, inner, cut)) return false;
    cut_pop(m);
    cut_leave_chunk(m, cut);
    cut->broken = true;
    if (cut_advance(cut)) return cut_start_chunk(m, cut, location);
  }
  return end_pass(m, location);
}

/* Ends the present chunk. */
static bool skip_chunk(struct machine *m, uint32_t *location) {
  struct chunks *c = &m->chunks;
  while (c->cuts[c->count - 1].n == 0) cut_pop(m); /* it failed before its first chunk */
  struct cut *cut = &c->cuts[c->count - 1];
  cut_leave_chunk(m, cut);
  cut->broken = true;
  return cut_advance(cut) ? cut_start_chunk(m, cut, location) : chunks_skip(m, location);
}

static bool after_fault(struct machine *m, uint32_t *location) {
  struct chunks *c = &m->chunks;
  if (c->pass == CHUNKS_RUN) return begin_pass(m, CHUNKS_SEARCH, location);
  if (c->found_again && c->best.found.error.kind != CVL_E_SIZE) {
    add_before(m);
    return chunk_faults_report(m, &c->best);
  }
  return skip_chunk(m, location);
}

static bool halve(struct machine *m, uint32_t *location) {
  struct cut *cut = under_way(m, 1);
  m->chunks.halved++;
  m->chunks.halved_deep += m->chunks.count > DEEP;
  while (&m->chunks.cuts[m->chunks.count - 1] != cut) cut_pop(m);
  cut_leave_chunk(m, cut);
  cut_undo_results(m, cut);
  m->chunks.sum = cut->sum;
  cut->most = cut->n / 2;
  return cut_start_chunk(m, cut, location);
}

static bool chunk_faults_resume(struct machine *m, enum chunks_event event,
                                uint32_t *location) {
  switch (event) {
  case CHUNKS_MEMORY: return halve(m, location);
  case CHUNKS_FAULT: return after_fault(m, location);
  case CHUNKS_PAST: return skip_chunk(m, location);
  case CHUNKS_NOTHING: break;
  }
  return false;
}

bool chunks_resume(struct machine *m, uint32_t *location) {
  struct chunks *c = &m->chunks;
  while (c->event != CHUNKS_NOTHING) {
    const enum chunks_event event = c->event;
    c->event = CHUNKS_NOTHING;
    m->faulted = false;
    m->failure = (struct machine_failure){0};
    if (!machine_drain(m)) {
      c->final = true;
      const struct machine_site site = {m->site, c->cuts[c->count - 1].location};
      return machine_fault(m, &site, "the device failed");
    }
    history_clear(&m->history);
    if (chunk_faults_resume(m, event, location)) return true;
  }
  return false;
}
