/* cut.c - a cut from its beginning to its end: operands are kept and sliced, one chunk after
 * another.
 */
#include "cvl/slices.h"
#include "vinterp/machine/machine-private.h"

#include <inttypes.h>
#include <string.h>

/* ---- the stack of cuts ---- */

void chunks_init(struct machine *m) {
  const struct cvl_backend *b = m->backend;
  m->chunks.possible = m->options.chunks.mode != MACHINE_CHUNKS_OFF && b->slices;
}

void chunks_begin_run(struct machine *m) {
  m->chunks.random = m->options.chunks.n;
  m->chunks.halved = m->chunks.halved_deep = 0;
}

static struct cut *innermost(const struct machine *m) {
  return m->chunks.count ? &m->chunks.cuts[m->chunks.count - 1] : NULL;
}

static bool grow_cuts(struct machine *m, const struct machine_site *site) {
  struct chunks *c = &m->chunks;
  const uint64_t capacity = c->capacity ? 2 * c->capacity : 4;
  struct cut *cuts =
      heap_grow(m->heap, c->cuts, c->capacity * sizeof *cuts, capacity * sizeof *cuts);
  if (!cuts) return machine_memory_fault(m, site, capacity * sizeof *cuts);
  c->cuts = cuts;
  c->capacity = capacity;
  return true;
}

bool chunks_push(struct machine *m) {
  const struct machine_site site = {.number = m->site};
  struct chunks *c = &m->chunks;
  if (c->count == c->capacity && !grow_cuts(m, &site)) return false;
  c->cuts[c->count++] = (struct cut){0};
  return true;
}

static bool cut_allocate(struct machine *m, const struct machine_site *site, struct cut *cut) {
  const size_t operands = cut->operand_count * sizeof *cut->operands;
  const size_t results = cut->result_count * sizeof *cut->results;
  cut->operands = heap_alloc(m->heap, operands);
  if (cut->operands) memset(cut->operands, 0, operands);
  cut->results = heap_alloc(m->heap, results);
  if (cut->results) memset(cut->results, 0, results);
  return (cut->operands && cut->results) || machine_memory_fault(m, site, operands + results);
}

void cut_pop(struct machine *m) {
  struct cut *cut = innermost(m);
  for (uint32_t p = 0; cut->operands && p < cut->operand_count; p++) {
    value_release(&m->store, &cut->operands[p].value);
  }
  if (cut->results) cut_release_results(m, cut);
  cut_random_free(m, cut);
  heap_free(m->heap, cut->operands, cut->operand_count * sizeof *cut->operands);
  heap_free(m->heap, cut->results, cut->result_count * sizeof *cut->results);
  heap_free(m->heap, cut->firsts, cut->firsts_capacity * sizeof *cut->firsts);
  m->chunks.count--;
}

static void cut_forget(struct machine *m, struct fault_kept *kept) {
  call_trace_free(m->heap, &kept->trace);
  path_free(m, &kept->path);
  *kept = (struct fault_kept){0};
}

void chunks_forget_original(struct machine *m) {
  cut_forget(m, &m->chunks.original);
}

void chunks_abandon(struct machine *m) {
  struct chunks *c = &m->chunks;
  while (c->count) cut_pop(m);
  cut_forget(m, &c->original);
  cut_forget(m, &c->best);
  c->pass = CHUNKS_RUN;
  c->event = CHUNKS_NOTHING;
  c->final = false;
}

void chunks_free(struct machine *m) {
  heap_free(m->heap, m->chunks.cuts, m->chunks.capacity * sizeof *m->chunks.cuts);
}

/* ---- frames ---- */

/* Takes the frame of the chunk from the stack, or keeps it off. */
static void frame_out(struct machine *m, const struct cut *cut) {
  m->depth = cut->index;
  if (cut->tail) m->frames[m->depth++] = cut->before;
}

static void frame_in(struct machine *m, const struct cut *cut) {
  m->frames[cut->index] = cut->frame;
  m->depth = cut->index + 1;
}

void cut_leave_chunk(struct machine *m, struct cut *cut) {
  for (uint64_t k = cut->frame.base; k < m->capacity; k++)
    value_release(&m->store, &m->stack[k]);
  frame_out(m, cut);
}

bool chunks_in_frame(const struct machine *m) {
  const struct cut *cut = innermost(m);
  return cut && cut->index + 1 == m->depth;
}

/* ---- sizes ---- */

static bool cut_resolve(struct machine *m, const struct machine_site *site,
                        struct cvl_size size, uint64_t *n) {
  if (size.symbol && !m->backend->resolve(m->context, &size))
    return machine_backend_fault(m, site);
  *n = size.bound;
  return true;
}

struct cvl_size cut_extent(const struct machine *m, const struct value *v) {
  return value_is_segdes(v) ? machine_count(m, &v->flat) : machine_size(m, &v->flat);
}

/* Returns the number of instances, from their descriptor. */
static struct cvl_size instances_of(const struct machine *m, const struct value *v) {
  return machine_size(m, &v->flat);
}

static const char *cut_name_of(const struct machine *m, uint32_t function) {
  return m->program->functions[function].name->text;
}

/* Reports that a mark of the compiler is wrong. Always returns false. */
static bool wrong_mark(struct machine *m, const struct machine_site *site,
                       const struct cut *cut, const char *what, uint32_t k, uint64_t size,
                       uint64_t wanted) {
  m->chunks.final = true;
  return machine_fault(m, site,
                       "%s is lifted, but its %s %" PRIu32 " has the size %" PRIu64
                       ", not %" PRIu64 " (a fault of the program's compiler)",
                       cut_name_of(m, cut->function), what, k, size, wanted);
}

static bool cut_check_operand(struct machine *m, const struct machine_site *site,
                              struct cut *cut, uint32_t p) {
  struct cut_operand *o = &cut->operands[p];
  uint64_t wanted = cut->instances;
  if (o->size == IR_SHARED) return true;
  if (!cut_resolve(m, site, cut_extent(m, &o->value), &o->total)) return false;
  o->each = value_is_segdes(&o->value)
                ? (double)sizeof(int64_t)
                : (double)elem_info((enum cvl_elem)o->value.flat.elem)->bytes;
  if (o->size != IR_EACH &&
      !cut_resolve(m, site, machine_size(m, &cut->operands[o->size].value.flat), &wanted)) {
    return false;
  }
  return o->total == wanted || wrong_mark(m, site, cut, "operand", p, o->total, wanted);
}

/* Checks that the results have the sizes that the mark says. */
static bool cut_check_results(struct machine *m, const struct machine_site *site,
                              struct cut *cut, const struct value *results) {
  for (uint32_t k = 0; k < cut->result_count; k++) {
    const uint32_t size = cut->results[k].size;
    uint64_t n = 0, wanted = cut->n;
    if (!cut_resolve(m, site, cut_extent(m, &results[k]), &n)) return false;
    if (size != IR_EACH && !cut_resolve(m, site, machine_size(m, &results[size].flat), &wanted))
      return false;
    if (n != wanted) return wrong_mark(m, site, cut, "result", k, n, wanted);
  }
  return true;
}

/* ---- a chunk ---- */

/* In a sub-machine shared operands are its own slices already. */
static bool machine_cut_slice(struct machine *m, const struct machine_site *site,
                              const struct cut *cut, struct cut_operand *o, struct value *to) {
  if (o->size == IR_SHARED || (!cut->team && o->first == 0 && o->n == o->total)) {
    *to = o->value;
    value_retain(&m->store, to);
  } else {
    *to = value_of((struct cvl_value){0});
    if (!m->backend->slices->slice(m->context, site->number, &o->value.flat, o->first, o->n,
                                   &to->flat))
      return machine_backend_fault(m, site);
  }
  if (o->size == IR_SHARED || !value_is_segdes(to)) return true;
  return cut_resolve(m, site, machine_size(m, &to->flat), &o->inners);
}

/* Makes the slice of one operand in its slot. The slices to which it refers have been made. */
static bool slice_operand(struct machine *m, struct cut *cut, uint32_t p, uint32_t location) {
  struct cut_operand *o = &cut->operands[p];
  struct value *to = &m->stack[cut->frame.base + p];
  struct machine_site site;
  o->first = cut->first;
  o->n = cut->n;
  if (o->level > 0) {
    o->first = cut->operands[o->size].inner;
    o->n = cut->operands[o->size].inners;
  }
  return machine_next_site(m, location, &site) && machine_cut_slice(m, &site, cut, o, to);
}

/* Slices descriptors before the operands that have their elements. */
static bool slice_operands(struct machine *m, struct cut *cut) {
  m->stack[cut->frame.base] = value_of(cvl_one_segment(cut->n));
  for (uint32_t level = 0; level < cut->levels; level++) {
    for (uint32_t p = 1; p < cut->operand_count; p++) {
      if (cut->operands[p].level == level && !slice_operand(m, cut, p, cut->location))
        return false;
    }
  }
  return true;
}

static void release_slices(struct machine *m, const struct cut *cut) {
  for (uint32_t p = 0; p < cut->operand_count; p++)
    value_release(&m->store, &m->stack[cut->frame.base + p]);
}

/* Takes fewer instances than were wanted if these have more elements than others. */
bool cut_slice(struct machine *m, struct cut *cut) {
  cut->sum = m->chunks.sum;
  cut_random_begin(m, cut);
  cut_begin_results(cut);
  chunk_measure_begin(m, cut);
  for (;;) {
    if (!slice_operands(m, cut)) return false;
    const uint64_t fitting = chunk_fitting(m, cut);
    if (fitting == cut->n) return true;
    release_slices(m, cut);
    cut->n = fitting;
  }
}

bool cut_start_chunk(struct machine *m, struct cut *cut, uint32_t *location) {
  const uint64_t wanted = chunk_size(m, cut), left = cut->instances - cut->first;
  cut->n = wanted < left ? wanted : left;
  return cut_slice(m, cut) && cut_begin_chunk(m, cut, location);
}

bool cut_begin_chunk(struct machine *m, struct cut *cut, uint32_t *location) {
  procedures_look(m);
  /* The frame is replaced, which the history does not notice. */
  const struct machine_site site = {m->site, cut->location};
  if (cut->tail && !machine_settle(m, &site)) return false;
  frame_in(m, cut);
  *location = m->code->functions[cut->function].entry;
  return true;
}

bool cut_advance(struct cut *cut) {
  cut_random_commit(cut);
  for (uint32_t p = 1; p < cut->operand_count; p++)
    cut->operands[p].inner += cut->operands[p].inners;
  cut->first += cut->n;
  cut->n = 0;
  return cut->first < cut->instances;
}

void cut_restart(struct machine *m, struct cut *cut) {
  for (uint32_t p = 0; p < cut->operand_count; p++) cut->operands[p].inner = 0;
  cut_release_results(m, cut);
  for (uint64_t k = 0; k < cut->random.count; k++) cut->random.drawn[k] = 0;
  cut->first = cut->n = 0;
  cut->broken = false;
}

/* ---- the depth of cuts ---- */

/* A level of cuts takes about as long as so many calls: waits, slices, an instruction for each
 * of its steps. An endless recursion with ever more instances meets no other limit, since the
 * chunks of each level are as small as memory requires. */
enum { CUT_CALLS = 50 };
static const uint64_t LEAST_CUTS = 64; /* open cuts that any --max-depth permits */

static bool may_cut(struct machine *m, const struct machine_site *site) {
  const uint64_t calls = m->max_depth / CUT_CALLS;
  const uint64_t most = calls > LEAST_CUTS ? calls : LEAST_CUTS;
  if (m->chunks.count < most) return true;
  return machine_limit_fault(
      m, site, "more than %" PRIu64 " calls are open whose instances are executed in chunks",
      most);
}

/* ---- the beginning ---- */

static uint32_t level_of(const struct ir_instances *mark, uint32_t size) {
  uint32_t level = 0;
  for (; size != IR_EACH && size != IR_SHARED; size = mark->params[size]) level++;
  return level;
}

/* Takes the operands out of the slots. */
static void cut_take_operands(struct machine *m, struct cut *cut) {
  const struct ir_instances *mark = m->program->functions[cut->function].instances;
  for (uint32_t p = 0; p < cut->operand_count; p++) {
    struct cut_operand *o = &cut->operands[p];
    struct value *slot = &m->stack[cut->frame.base + p];
    *o = (struct cut_operand){
        .value = *slot, .size = mark->params[p], .level = level_of(mark, mark->params[p])};
    if (o->level >= cut->levels) cut->levels = o->level + 1;
    slot->form = CVL_NOTHING;
  }
  for (uint32_t k = 0; k < cut->result_count; k++) cut->results[k].size = mark->results[k];
}

/* Checks the operands, whose sizes are known then, and asks the consumer. */
static bool check_operands(struct machine *m, const struct machine_site *site,
                           struct cut *cut) {
  uint64_t segments = 0;
  if (!cut_resolve(m, site, machine_count(m, &cut->operands[0].value.flat), &segments))
    return false;
  if (segments != 1) return wrong_mark(m, site, cut, "operand", 0, segments, 1);
  for (uint32_t p = 1; p < cut->operand_count; p++) {
    if (!cut_check_operand(m, site, cut, p)) return false;
  }
  consumer_ask(m, cut);
  return true;
}

/* Pushes a new cut, which is between chunks. The top frame, which is that of its chunks, is
 * taken off before anything can fail. */
static bool push_cut(struct machine *m, const struct machine_site *site,
                     const struct frame *before, uint64_t instances) {
  struct chunks *c = &m->chunks;
  const uint64_t index = m->depth - 1;
  const struct frame frame = m->frames[index];
  const uint32_t function = frame.function;
  struct cut new = {.location = site->location,
                    .function = function,
                    .index = index,
                    .frame = frame,
                    .tail = before != NULL,
                    .instances = instances,
                    .operand_count = m->code->functions[function].param_count,
                    .result_count = m->code->functions[function].result_count,
                    .random = {.begin = m->random_count, .wanted = UINT64_MAX}};
  if (before) new.before = *before;
  frame_out(m, &new);
  if (!may_cut(m, site)) return false;
  if (c->count == c->capacity && !grow_cuts(m, site)) return false;
  struct cut *cut = &c->cuts[c->count++];
  *cut = new;
  if (!cut_allocate(m, site, cut)) return false;
  cut_take_operands(m, cut);
  return true;
}

/* Ends a cut: stores all results at `results`, and restores the frame. */
static bool cut_end_cut(struct machine *m, struct cut *cut, struct value *results) {
  struct machine_site site = {m->site, cut->location};
  struct cut *outer = m->chunks.count > 1 ? cut - 1 : NULL;
  if (!cut_join_results(m, cut) || !machine_settle(m, &site) ||
      (outer && !cut_random_leave(m, &site, cut, outer))) {
    return false;
  }
  for (uint32_t k = 0; k < cut->result_count; k++) {
    results[k] = cut->results[k].whole;
    cut->results[k].whole.form = CVL_NOTHING;
  }
  chunk_measure_cut(m, cut);
  frame_in(m, cut);
  cut_pop(m);
  return true;
}

/* ---- one chunk after another ---- */

/* Drops the results of the present chunk, which nobody needs in a search. */
static void cut_drop_results(struct machine *m, struct value *results, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) value_release(&m->store, &results[k]);
}

/* Returns whether results are useless: a search only looks for faults, and nothing else in the
 * outermost cut can have one. */
static bool is_useless(const struct machine *m, const struct cut *cut) {
  return m->chunks.pass != CHUNKS_RUN && (cut->broken || m->chunks.count == 1);
}

/* Keeps the chunk's results, and takes off the frame. */
static bool end_chunk(struct machine *m, struct cut *cut, struct value *results, uint32_t n,
                      uint32_t location) {
  struct machine_site site = {m->site, location};
  if (!machine_settle(m, &site) || !cut_check_results(m, &site, cut, results) ||
      !cut_random_check(m, &site, cut)) {
    return false;
  }
  chunk_measure_end(m, cut, results);
  frame_out(m, cut);
  if (is_useless(m, cut)) {
    cut_drop_results(m, results, n);
    return true;
  }
  if (!machine_next_site(m, cut->location, &site) || !cut_lay_results(m, &site, cut, results))
    return false;
  return machine_settle(m, &site);
}

/* Counts a chunk whose results have been kept. Returns false if it was the last one. */
static bool pass_chunk(struct machine *m, struct cut *cut) {
  chunk_count(cut);
  m->chunks.halved = 0;
  return cut_advance(cut);
}

/* Executes the chunk that has begun at *location by native code, and keeps its results. */
static enum procedure_call native_chunk(struct machine *m, struct cut *cut, uint32_t location) {
  const struct code_function *f = &m->code->functions[cut->function];
  struct value *above = m->stack + cut->frame.base + f->slots;
  const enum procedure_call call = procedure_call(m);
  if (call != PROCEDURE_DONE) return call;
  return end_chunk(m, cut, above, cut->result_count, location) ? PROCEDURE_DONE
                                                               : PROCEDURE_FAILED;
}

/* Executes all that is left on the threads of a team, unless native code may do it. */
static enum team_outcome cut_by_team(struct machine *m, struct cut *cut) {
  return !procedure_may(m, cut->function) && team_is_wanted(m, cut) ? team_run(m, cut)
                                                                    : TEAM_NOT;
}

/* Begins the next chunk. Those that native code executes end here as well. */
static enum chunks_step cut_go_on(struct machine *m, struct cut *cut, struct value *results,
                                  uint32_t *location) {
  for (;;) {
    switch (cut_by_team(m, cut)) {
    case TEAM_DONE: return cut_end_cut(m, cut, results) ? CHUNKS_END : CHUNKS_FAILED;
    case TEAM_FAULT: return CHUNKS_FAILED;
    case TEAM_NOT: break;
    }
    if (!cut_start_chunk(m, cut, location)) return CHUNKS_FAILED;
    switch (native_chunk(m, cut, *location)) {
    case PROCEDURE_NOT: return CHUNKS_NEXT;
    case PROCEDURE_FAILED: return CHUNKS_FAILED;
    case PROCEDURE_DONE: break;
    }
    if (!pass_chunk(m, cut)) return cut_end_cut(m, cut, results) ? CHUNKS_END : CHUNKS_FAILED;
  }
}

/* Begins the first chunk; or executes all of them by the processes of a job. */
static enum chunks_step begin_chunks(struct machine *m, struct cut *cut, bool distribute,
                                     struct value *results) {
  uint32_t entry;
  if (distribute && distribute_run(m, cut))
    return cut_end_cut(m, cut, results) ? CHUNKS_END : CHUNKS_FAILED;
  return cut_go_on(m, cut, results, &entry);
}

/* Waits for all earlier work, so that later faults belong to the chunks. */
static enum chunks_step cut_begin_cut(struct machine *m, uint32_t location,
                                      const struct frame *before) {
  const struct frame *frame = &m->frames[m->depth - 1];
  const uint32_t function = frame->function;
  const struct value *slots = m->stack + frame->base;
  const struct machine_site site = {m->site, location};
  uint64_t instances = 0;
  if (!machine_settle(m, &site) ||
      !cut_resolve(m, &site, instances_of(m, &slots[0]), &instances))
    return CHUNKS_FAILED;
  const bool distribute = distribute_is_wanted(m, function, instances);
  if (!distribute && !chunk_is_wanted(m, function, instances, slots)) return CHUNKS_NEXT;
  struct value *above = m->stack + frame->base + m->code->functions[function].slots;
  return push_cut(m, &site, before, instances) && check_operands(m, &site, innermost(m))
             ? begin_chunks(m, innermost(m), distribute, above)
             : CHUNKS_FAILED;
}

enum chunks_step chunks_call(struct machine *m, uint32_t location, const struct frame *before) {
  const struct frame *frame = &m->frames[m->depth - 1];
  const struct value *slots = m->stack + frame->base;
  if (!m->program->functions[frame->function].instances) return CHUNKS_NEXT;
  switch (procedure_call(m)) {
  case PROCEDURE_DONE: return CHUNKS_END;
  case PROCEDURE_FAILED: return CHUNKS_FAILED;
  case PROCEDURE_NOT: break;
  }
  if (!m->chunks.possible) return CHUNKS_NEXT;
  if (distribute_forbids_cuts(m, frame->function)) return CHUNKS_NEXT;
  const struct cvl_size most = instances_of(m, &slots[0]);
  if (!distribute_is_wanted(m, frame->function, most.bound) &&
      !chunk_is_wanted(m, frame->function, most.bound, slots))
    return CHUNKS_NEXT;
  return cut_begin_cut(m, location, before);
}

enum chunks_step chunks_return(struct machine *m, struct value *results, uint32_t n,
                               uint32_t *location) {
  struct cut *cut = innermost(m);
  if (!end_chunk(m, cut, results, n, *location)) return CHUNKS_FAILED;
  if (pass_chunk(m, cut)) return cut_go_on(m, cut, results, location);
  if (cut->team) return team_take(m, cut, location) ? CHUNKS_NEXT : CHUNKS_OVER;
  if (is_useless(m, cut)) return chunks_skip(m, location) ? CHUNKS_NEXT : CHUNKS_FAILED;
  return cut_end_cut(m, cut, results) ? CHUNKS_END : CHUNKS_FAILED;
}
