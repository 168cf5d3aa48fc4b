/* distribute.c - batch calls that are distributed to the processes of a job (processes.h,
 * struct cvl_distributed_call).
 *
 * A process executes its instances by a separate machine, on the back end that holds this
 * process's part of vectors. That machine has its own control flow, and cuts calls into chunks
 * on its own threads as it decides. Between `distribute` and `collect` it waits for nobody.
 *
 * If any instance fails, all processes are told, and execute the call once more together:
 * chunk by chunk, as if nothing were distributed, which finds the fault to report. Only calls
 * that are typed throughout are distributed. They have no effects, as no lifted function has
 * any.
 *
 * The elements of a RAND depend on how many it has drawn for earlier instances. A lifted
 * function executes the same RANDs for all of them, in the same order (ir/instances.c). So
 * each process stops at each RAND until all processes are there, and have told how many
 * elements they want. A process that cannot go on says so at its next RAND, or at its end. A
 * function that draws is not cut into chunks by a process, since that would execute its RANDs
 * several times.
 */
#include "cvl/processes.h"
#include "vinterp/machine/machine-private.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(CVL_EACH == IR_EACH && CVL_SHARED == IR_SHARED,
               "sizes as in struct ir_instances");

/* ---- the separate machine of this process ---- */

/* Returns its options: it reports nothing, and is not watched. */
static struct machine_options options_alone(const struct machine *m,
                                            const struct cvl_backend *backend) {
  struct machine_options o = m->options;
  o.backend = backend;
  o.progress_fd = -1;
  o.profile = false;
  o.undisturbed = false;
  o.trace = NULL;
  o.fail_allocation = 0;
  o.out = o.err = NULL;
  return o;
}

static struct machine *alone_new(struct machine *m, const struct cvl_distributed_call *d) {
  struct machine *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->heap = m->heap;
  s->backend = d->backend;
  s->context = d->context;
  s->options = options_alone(m, d->backend);
  s->widths = m->widths;
  s->vector_limit = m->vector_limit;
  s->max_depth = m->max_depth;
  s->store = (struct value_store){s->backend, s->context, s->heap};
  s->dispatcher = m;
  chunks_init(s);
  if (team_init(s)) return s;
  free(s);
  return NULL;
}

void distribute_free(struct machine *m) {
  if (!m->alone) return;
  distribute_forget(m);
  m->alone->context = NULL; /* it belongs to the back end */
  machine_free(m->alone);
  m->alone = NULL;
}

void distribute_forget(struct machine *m) {
  struct machine *s = m->alone;
  if (!s || !s->distributed) return;
  machine_program_free(s, s->distributed);
  s->distributed = NULL;
}

/* The diagnostics of that machine, which nobody reads. */
struct unheard {
  struct arena arena;
  struct diag_list list;
};

static void unheard_begin(struct machine *m, struct unheard *u) {
  arena_init_small(&u->arena, m->heap, 512);
  diag_list_init(&u->list, &u->arena);
}

/* Returns whether that machine has the running program; prepares it if necessary. */
static bool has_program(struct machine *m, const struct cvl_distributed_call *d) {
  if (!m->alone) m->alone = alone_new(m, d);
  if (!m->alone) return false;
  if (m->alone->distributed && m->alone->distributed->program != m->program)
    distribute_forget(m);
  if (!m->alone->distributed) {
    struct unheard u;
    unheard_begin(m, &u);
    machine_begin(m->alone, &u.list);
    m->alone->distributed = machine_program_new(m->alone, m->program);
    arena_free(&u.arena);
  }
  return m->alone->distributed != NULL;
}

/* Executes the function on this process's operands, which are taken. Returns true with the
 * results. */
static bool execute_own(struct machine *m, const struct cut *cut,
                        struct cvl_distributed_call *d, struct cvl_value *results) {
  struct machine *s = m->alone;
  struct unheard u;
  unheard_begin(m, &u);
  for (uint32_t p = 0; p < d->count; p++)
    d->own[p].owned = d->own[p].form == CVL_VECTOR || d->own[p].form == CVL_SEGDES;
  s->max_depth = m->max_depth - cut->index;
  s->first_seed = m->seed;
  s->first_random = m->random_count;
  s->stopped = false;
  if (m->options.stop) {
    stop_apart(&s->apart, m->options.stop);
    s->options.stop = &s->apart;
  }
  const bool good = machine_call_function(s, s->distributed, cut->function, d->own, d->count,
                                          results, cut->result_count, &u.list) == MACHINE_DONE;
  arena_free(&u.arena);
  return good;
}

static void distribute_release(const struct cvl_distributed_call *d, struct cvl_value *own,
                               uint32_t count) {
  for (uint32_t k = 0; k < count; k++) {
    if (own[k].form == CVL_VECTOR || own[k].form == CVL_SEGDES)
      d->backend->release(d->context, &own[k]);
  }
}

/* ---- random numbers ---- */

bool distribute_forbids_cuts(struct machine *m, uint32_t function) {
  return m->dispatcher && reach_draws(m, function);
}

bool distribute_random_first(struct machine *s, const struct machine_site *site,
                             const struct value *bounds, uint64_t *first) {
  const struct machine *m = s->dispatcher;
  uint64_t n = 0;
  const bool good = machine_length(s, site, bounds, &n);
  s->stopped = m->backend->processes->sum_before(m->context, !good, n, first);
  if (good && s->stopped) return machine_fault(s, site, "another process cannot go on");
  return good;
}

/* ---- a call ---- */

/* Room for values that go to the back end and come from it. */
struct room {
  uint32_t *sizes;
  struct cvl_value *operands, *own, *results, *out;
};

static void free_room(struct machine *m, const struct cut *cut, struct room *r) {
  heap_free(m->heap, r->sizes, cut->operand_count * sizeof *r->sizes);
  heap_free(m->heap, r->operands, 2 * cut->operand_count * sizeof *r->operands);
  heap_free(m->heap, r->results, 2 * cut->result_count * sizeof *r->results);
}

static bool distribute_make_room(struct machine *m, const struct cut *cut, struct room *r) {
  r->sizes = heap_alloc(m->heap, cut->operand_count * sizeof *r->sizes);
  r->operands = heap_alloc(m->heap, 2 * cut->operand_count * sizeof *r->operands);
  r->results = heap_alloc(m->heap, 2 * cut->result_count * sizeof *r->results);
  if (!r->sizes || !r->operands || !r->results) return false;
  r->own = r->operands + cut->operand_count;
  r->out = r->results + cut->result_count;
  memset(r->operands, 0, 2 * cut->operand_count * sizeof *r->operands);
  memset(r->results, 0, 2 * cut->result_count * sizeof *r->results);
  for (uint32_t p = 0; p < cut->operand_count; p++) {
    r->sizes[p] = cut->operands[p].size;
    r->operands[p] = cut->operands[p].value.flat;
    r->operands[p].owned = 0;
  }
  return true;
}

/* Executes a call that has been distributed. */
static bool execute_distributed(struct machine *m, struct cut *cut,
                                struct cvl_distributed_call *d, struct room *r) {
  const bool able = has_program(m, d);
  if (!able) distribute_release(d, d->own, d->count);
  const bool good = able && execute_own(m, cut, d, r->results);
  uint64_t before;
  const bool failed = (able && m->alone->stopped) ||
                      m->backend->processes->sum_before(m->context, !good, 0, &before);
  if (good && failed) distribute_release(d, r->results, cut->result_count);
  m->backend->processes->collect(m->context, m->site, d, !failed, cut->result_count, r->results,
                                 r->out);
  if (failed) return false;
  m->random_count = m->alone->random_count;
  for (uint32_t k = 0; k < cut->result_count; k++) cut->results[k].whole = value_of(r->out[k]);
  cut->counts = (struct cut_counts){.chunks = d->processes, .least = d->n, .most = d->n};
  cut->bound = CHUNK_DISTRIBUTED;
  return true;
}

bool distribute_is_wanted(struct machine *m, uint32_t function, uint64_t instances) {
  return m->backend->processes && instances > 1 && m->chunks.possible && m->chunks.count == 0 &&
         m->chunks.pass == CHUNKS_RUN && !m->consumer && !m->options.trace &&
         reach_is_typed(m, function);
}

/* Processes must not go different ways because one of them lacks a few bytes. */
bool distribute_run(struct machine *m, struct cut *cut) {
  struct room r = {0};
  if (m->backend->processes->any(m->context, !distribute_make_room(m, cut, &r))) {
    free_room(m, cut, &r);
    return false;
  }
  struct cvl_distributed_call d = {.instances = cut->instances,
                                   .count = cut->operand_count,
                                   .sizes = r.sizes,
                                   .operands = r.operands,
                                   .own = r.own};
  const bool done = m->backend->processes->distribute(m->context, m->site, &d) &&
                    execute_distributed(m, cut, &d, &r);
  free_room(m, cut, &r);
  return done;
}
