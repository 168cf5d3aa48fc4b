/* team.c - threads that execute chunks: how they begin and end, how they share a cut, and what
 * becomes of faults.
 *
 * The lock protects everything that several threads write. A thread holds it while it slices
 * the operands of its range, since only then is it known where the next range begins. That
 * takes some microseconds, and a chunk takes at least some tens.
 */
#include "base/processors.h"
#include "base/signals.h"
#include "vinterp/machine/machine-private.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

struct member {
  struct team *team;
  unsigned number;
  pthread_t thread; /* not set for number 0, the caller */
};

enum team_end {
  END_NOT,
  END_MEMORY, /* an instance did not fit, even when nothing else ran */
  END_FAULT   /* a fault of `culprit` */
};

struct team {
  struct machine *parent;
  unsigned threads, started; /* threads including the caller; started ones besides it */
  struct member *members;
  struct machine **subs; /* each is made when it is first wanted */
  pthread_mutex_t lock;
  pthread_cond_t wake, done;
  uint64_t session; /* number of the latest session */
  bool open, quit;  /* threads may join the session; threads are to end */
  void (*work)(struct machine *sub);
  unsigned joined; /* threads at work, except the caller */
  unsigned active; /* threads at work and not waiting, including the caller */

  /* The following fields are for a cut. */
  bool busy;
  struct cut *cut; /* the parent's cut: the part that has not been taken */
  unsigned count;  /* number of open sub-machines */
  unsigned put; /* at the end: number of those whose results a thread has taken over to write */
  struct cvl_statistics statistics;
  double share;
  enum chunk_bound bound;
  enum team_end end;
  struct machine *culprit;
  _Atomic bool ending;
};

/* ---- threads ---- */

/* Works in the open session. The caller holds the lock, which is free meanwhile. */
static void team_join(struct team *t, unsigned number) {
  if (!t->open || number >= t->count) return;
  t->joined++;
  t->active++;
  pthread_mutex_unlock(&t->lock);
  t->work(t->subs[number]);
  pthread_mutex_lock(&t->lock);
  t->joined--;
  t->active--;
  pthread_cond_broadcast(&t->done);
}

static void *member_main(void *arg) {
  const struct member *self = arg;
  struct team *t = self->team;
  uint64_t seen = 0;
  pthread_mutex_lock(&t->lock);
  while (!t->quit) {
    if (t->session == seen) {
      pthread_cond_wait(&t->wake, &t->lock);
      continue;
    }
    seen = t->session;
    team_join(t, self->number);
  }
  pthread_mutex_unlock(&t->lock);
  return NULL;
}

/* Starts as many threads as possible. They block signals, which are for threads that wait for
 * them. */
static void start_threads(struct team *t) {
  sigset_t all, before;
  signals_of_others(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (t->started + 1 < t->threads) {
    struct member *next = &t->members[t->started + 1];
    *next = (struct member){.team = t, .number = t->started + 1};
    if (pthread_create(&next->thread, NULL, member_main, next) != 0) break;
    t->started++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Lets all open sub-machines do this. A thread that wakes late finds nothing to do. */
static void work_together(struct team *t, void (*work)(struct machine *)) {
  pthread_mutex_lock(&t->lock);
  t->work = work;
  t->session++;
  t->open = true;
  t->active++;
  pthread_cond_broadcast(&t->wake);
  pthread_mutex_unlock(&t->lock);
  work(t->subs[0]);
  pthread_mutex_lock(&t->lock);
  t->open = false;
  t->active--;
  pthread_cond_broadcast(&t->done);
  while (t->joined > 0) pthread_cond_wait(&t->done, &t->lock);
  pthread_mutex_unlock(&t->lock);
}

/* ---- a machine's team ---- */

static unsigned wanted_threads(const struct machine_options *options) {
  return options->threads > 0 ? options->threads : processors_available();
}

static bool team_make(struct machine *m, struct team *t, unsigned threads) {
  *t = (struct team){.parent = m, .threads = threads};
  t->members = heap_alloc(m->heap, threads * sizeof *t->members);
  t->subs = heap_alloc(m->heap, threads * sizeof(struct machine *));
  if (t->subs) memset(t->subs, 0, threads * sizeof(struct machine *));
  return t->members && t->subs && pthread_mutex_init(&t->lock, NULL) == 0 &&
         pthread_cond_init(&t->wake, NULL) == 0 && pthread_cond_init(&t->done, NULL) == 0;
}

static void free_arrays(struct machine *m, struct team *t) {
  heap_free(m->heap, t->members, t->threads * sizeof *t->members);
  heap_free(m->heap, t->subs, t->threads * sizeof(struct machine *));
  heap_free(m->heap, t, sizeof *t);
}

bool team_init(struct machine *m) {
  const unsigned threads = wanted_threads(&m->options);
  if (!m->chunks.possible || !m->backend->open_sub || threads < 2 || m->options.trace)
    return true;
  struct team *t = heap_alloc(m->heap, sizeof *t);
  if (!t) return false;
  if (team_make(m, t, threads)) {
    m->team = t;
    return true;
  }
  free_arrays(m, t);
  return false;
}

static void end_threads(struct team *t) {
  pthread_mutex_lock(&t->lock);
  t->quit = true;
  pthread_cond_broadcast(&t->wake);
  pthread_mutex_unlock(&t->lock);
  for (unsigned k = 1; k <= t->started; k++) pthread_join(t->members[k].thread, NULL);
}

void team_free(struct machine *m) {
  struct team *t = m->team;
  if (!t) return;
  end_threads(t);
  for (unsigned k = 0; k < t->threads; k++) sub_free(t->subs[k]);
  pthread_mutex_destroy(&t->lock);
  pthread_cond_destroy(&t->wake);
  pthread_cond_destroy(&t->done);
  free_arrays(m, t);
  m->team = NULL;
}

void team_forget(struct machine *m) {
  for (unsigned k = 0; m->team && k < m->team->threads; k++) {
    if (m->team->subs[k]) sub_forget(m->team->subs[k]);
  }
}

unsigned team_threads(const struct team *t) {
  return t ? t->threads : 1;
}

bool team_is_busy(const struct team *t) {
  return t->busy;
}

struct cvl_statistics team_statistics(const struct team *t) {
  return t->statistics;
}

bool team_is_ending(const struct team *t) {
  return atomic_load_explicit(&t->ending, memory_order_relaxed);
}

double team_share(const struct team *t, enum chunk_bound *bound) {
  *bound = t->bound;
  return t->share;
}

/* ---- cuts for a team ---- */

bool team_may(struct machine *m, uint32_t function) {
  return m->team && !m->sub && m->chunks.pass == CHUNKS_RUN &&
         reach_is_for_threads(m, function);
}

bool team_is_wanted(struct machine *m, const struct cut *cut) {
  return m->team && !m->sub && !cut->alone && m->chunks.pass == CHUNKS_RUN && !cut->consumers &&
         chunk_pays_threads(m, cut) && team_may(m, cut->function);
}

/* ---- ranges ---- */

static void team_end_with(struct team *t, enum team_end end, struct machine *culprit) {
  if (t->end == END_NOT) {
    t->end = end;
    t->culprit = culprit;
  }
  atomic_store_explicit(&t->ending, true, memory_order_relaxed);
  pthread_cond_broadcast(&t->done);
}

void team_end(struct machine *sub) {
  struct team *t = sub->team;
  const bool memory = sub->chunks.original.found.memory;
  pthread_mutex_lock(&t->lock);
  team_end_with(t, memory ? END_MEMORY : END_FAULT, sub);
  pthread_mutex_unlock(&t->lock);
}

bool team_wait_alone(struct machine *sub) {
  struct team *t = sub->team;
  pthread_mutex_lock(&t->lock);
  bool alone = t->active == 1;
  if (!alone) {
    t->active--;
    pthread_cond_broadcast(&t->done);
    while (t->active > 0 && t->end == END_NOT) pthread_cond_wait(&t->done, &t->lock);
    t->active++;
    alone = t->end != END_NOT;
  }
  pthread_mutex_unlock(&t->lock);
  return !alone;
}

/* Makes the slices of the next n instances, or of fewer if memory runs out. */
static bool slice_range(struct machine *sub, struct cut *cut, uint64_t n) {
  for (cut->n = n; !cut_slice(sub, cut); cut->n = n) {
    const bool memory = sub->chunks.event == CHUNKS_MEMORY || sub->chunks.original.found.memory;
    if (!memory || n == 1) {
      team_end_with(sub->team, memory ? END_MEMORY : END_FAULT, sub);
      return false;
    }
    sub_drop_chunk(sub);
    n /= 2;
  }
  return true;
}

/* The caller holds the lock. */
static bool machine_team_take(struct team *t, struct machine *sub, struct cut *cut) {
  struct cut *whole = t->cut;
  chunk_learn(t->parent, whole, cut);
  if (t->end != END_NOT || whole->first == whole->instances) return false;
  cut->bound = whole->bound;
  cut->most = 0;
  cut->first = whole->first;
  cut->instances = whole->instances;
  for (uint32_t p = 0; p < cut->operand_count; p++)
    cut->operands[p].inner = whole->operands[p].inner;
  if (!slice_range(sub, cut, chunk_range(t->parent, whole, &cut->allowed))) return false;
  cut->instances = cut->first + cut->n;
  whole->first = cut->instances;
  for (uint32_t p = 0; p < cut->operand_count; p++)
    whole->operands[p].inner += cut->operands[p].inners;
  return true;
}

bool team_take(struct machine *sub, struct cut *cut, uint32_t *location) {
  struct team *t = sub->team;
  pthread_mutex_lock(&t->lock);
  const bool taken = machine_team_take(t, sub, cut);
  pthread_mutex_unlock(&t->lock);
  return taken && cut_begin_chunk(sub, cut, location);
}

/* ---- a cut ---- */

static bool has_sub(struct team *t, unsigned k) {
  if (!t->subs[k]) t->subs[k] = sub_new(t->parent);
  return t->subs[k] != NULL;
}

/* Opens as many sub-machines as possible. */
static void open_subs(struct team *t) {
  t->count = 0;
  while (t->count <= t->started && has_sub(t, t->count) &&
         sub_open(t->subs[t->count], t->parent, t->cut)) {
    t->count++;
  }
}

static void close_subs(struct team *t) {
  while (t->count > 0) sub_close(t->subs[--t->count], t->parent, t->cut);
}

/* Returns a sub-machine whose results no thread writes yet; NULL: there is none. */
static struct machine *next_to_put(struct team *t) {
  pthread_mutex_lock(&t->lock);
  struct machine *sub = t->put < t->count ? t->subs[t->put++] : NULL;
  pthread_mutex_unlock(&t->lock);
  return sub;
}

/* Writes results of any sub-machine, since a thread may not have woken yet. */
static void put_results(struct machine *own) {
  for (struct machine *sub = own; (sub = next_to_put(own->team));) {
    if (!cut_put_results(sub, &sub->chunks.cuts[0])) team_end(sub);
  }
}

/* Executes the cut, until it is done or has a fault. */
static void execute_cut(struct team *t) {
  work_together(t, sub_run);
  if (t->end == END_NOT && !cut_gather_results(t->parent, t->cut, t->subs, t->count))
    t->end = END_MEMORY;
  t->put = 0;
  if (t->end == END_NOT) work_together(t, put_results);
}

/* Adds the calls around those of a sub-machine, which are at the parent's present frames. If
 * memory runs out they stay unknown. */
static void add_callers(struct machine *m, const struct cut *cut, struct call_trace *trace) {
  struct call_trace outer;
  if (!history_present(m->heap, cut->location, m->frames, m->depth, &outer)) return;
  const uint64_t capacity = trace->count + 1 + outer.count;
  uint32_t *callers = heap_grow(m->heap, trace->callers, trace->capacity * sizeof *callers,
                                capacity * sizeof *callers);
  if (callers) {
    trace->callers = callers;
    trace->capacity = capacity;
    callers[trace->count++] = outer.location;
    for (uint64_t k = 0; k < outer.count; k++) callers[trace->count++] = outer.callers[k];
  }
  call_trace_free(m->heap, &outer);
}

/* Keeps the fault as the parent's, until the search has found the one to report. */
static void take_fault(struct machine *m, const struct cut *cut, struct machine *culprit) {
  struct fault_kept *to = &m->chunks.original, *from = &culprit->chunks.original;
  chunks_forget_original(m);
  *to = *from;
  *from = (struct fault_kept){0};
  add_callers(m, cut, &to->trace);
  m->chunks.event = CHUNKS_FAULT;
  m->faulted = true;
}

/* Drops results, and faults that nobody will report; the cut is then executed without threads.
 */
static enum team_outcome without_threads(struct machine *m, struct cut *cut) {
  machine_drain(m);
  cut_restart(m, cut);
  cut->alone = true;
  return TEAM_NOT;
}

static enum team_outcome team_end_cut(struct machine *m, struct cut *cut, enum team_end end) {
  const struct machine_site site = {m->site, cut->location};
  if (end != END_NOT && machine_asks_to_stop(m)) {
    m->faulted = false;
    m->chunks.event = CHUNKS_NOTHING;
    machine_may_go_on(m, &site);
    return TEAM_FAULT;
  }
  if (end == END_MEMORY) return without_threads(m, cut);
  return end == END_FAULT ? TEAM_FAULT : TEAM_DONE;
}

/* Prepares everything except sub-machines. Returns false if there is no memory for results. */
static bool team_begin_cut(struct team *t, struct machine *m, struct cut *cut) {
  enum chunk_bound bound;
  start_threads(t);
  t->share = chunk_share(m, t->threads, &bound);
  t->bound = bound;
  t->cut = cut;
  t->statistics = m->backend->statistics(m->context);
  t->end = END_NOT;
  t->culprit = NULL;
  cut->part = (cut->instances - cut->first + t->threads - 1) / t->threads;
  return cut_allocate_results(m, cut);
}

/* Executes the cut with the open sub-machines, and closes them. */
static enum team_end run_subs(struct team *t, struct machine *m, struct cut *cut) {
  t->busy = true;
  if (t->count > cut->counts.threads) cut->counts.threads = t->count;
  execute_cut(t);
  if (t->end == END_FAULT) take_fault(m, cut, t->culprit);
  close_subs(t);
  t->busy = false;
  atomic_store_explicit(&t->ending, false, memory_order_relaxed);
  return t->end;
}

enum team_outcome team_run(struct machine *m, struct cut *cut) {
  struct team *t = m->team;
  if (!team_begin_cut(t, m, cut)) return without_threads(m, cut);
  open_subs(t);
  if (t->count == 0) return without_threads(m, cut);
  return team_end_cut(m, cut, run_subs(t, m, cut));
}
