/* procedures.c - see procedures.h. */
#include "vinterp/instances/procedures.h"

#include "base/check.h"
#include "procedures/procedures.h"
#include "vinterp/machine/machine-private.h"

/* In seconds: batch calls that have taken so long, or will, are worth printing procedures,
 * which takes a millisecond and may find them compiled; calls that have taken so long,
 * compiling them. The compiler takes about as long, of a processor that the program uses, too.
 */
static const double print_after = 2e-3, compile_after = 250e-3;
/* The least time of a word of operands. */
static const double seconds_of_word = 10e-9;
/* After code of a function has given up, so many of its calls are not tried, and twice as many
 * after each time; nor are calls until so many times the seconds are over that it took. */
enum { REST_FIRST = 1, REST_MOST = 1 << 10, REST_TIMES = 4 };
/* After so many calls in one way the other is tried, if a call takes no longer than so many
 * seconds; and again after so many choices, twice as many after each time. */
enum { CALLS_BEFORE = 2, CHOICES_BEFORE = 16 };
static const double try_within = 5e-3;
/* ... or if native code is better, and the other way took at most so many times as long: it may
 * have been measured before it was compiled. */
static const double try_slower = 4;
/* By how much a call may be slower than what is known of the way. */
static const double slower = 1.5;
/* Native code of a whole run gives up after so many seconds, or so many times what the other
 * way takes, if that is more: a run cannot be divided, as a batch call can. */
static const double entry_most = 20e-3, entry_slower = 1.2;
/* Native code of a whole run that one thread would execute is tried if the run takes no longer
 * than this; then nobody waits long for a try that gives up. */
static const double entry_try_within = 250e-3;
/* Where nothing is measured a run is taken for so long, so that threads share it. */
static const double shared_always = 1;
/* Native code may have so many calls open, but does not count them: where fewer are allowed all
 * calls are executed together. */
static const uint64_t least_depth = 500000;

enum procedures_stage { STAGE_WATCHED, STAGE_NONE, STAGE_PRINTED, STAGE_READY };

/* Sub-machines read it. Only their parent's thread, when they are idle, goes beyond WATCHED. */
struct program_procedures {
  struct arena arena;
  struct procedures all;
  struct cvl_procedure_code *code;
  bool owed;         /* the code, for batch calls of earlier processes */
  _Atomic int stage; /* enum procedures_stage */
};

static const struct cvl_procedures *table_of(const struct machine *m) {
  return m->backend->procedures;
}

/* ---- time ---- */

void procedure_calls_init(struct machine *m) {
  m->calls.possible = table_of(m) && m->options.procedures != MACHINE_PROCEDURES_OFF &&
                      !m->options.checked &&
                      (m->options.compile != CVL_COMPILE_NONE || m->options.kernels);
}

void procedure_calls_begin_run(struct machine *m) {
  m->calls.depth = 0;
}

double procedure_calls_spent(const struct machine *m) {
  return m->calls.spent + (m->calls.depth ? stop_clock() - m->calls.begun : 0);
}

/* The parent's own time includes that of its sub-machines if it measures a call now. */
void procedure_calls_adopt(struct machine *parent, const struct machine *sub) {
  const double spent = procedure_calls_spent(sub);
  if (parent->calls.depth == 0 && spent > parent->calls.spent) parent->calls.spent = spent;
}

static void begin_timing(struct machine *m) {
  m->calls.depth = m->depth;
  m->calls.begun = stop_clock();
  m->calls.together = m->calls.compared = false;
}

/* One call that took longer than those before may have been interrupted, or have tried
 * something within it: it counts for `slower` times as long at most. */
static void note_way(struct machine *m, uint32_t function, unsigned way, double weight,
                     double seconds) {
  struct procedure_way *w = &m->needs[function].ways[way];
  const double each = seconds / (weight > 0 ? weight : 1);
  w->each = w->calls > 0 && each > slower * w->each ? slower * w->each : each;
  w->calls++;
}

void procedure_calls_end(struct machine *m) {
  const double seconds = stop_clock() - m->calls.begun;
  m->calls.spent += seconds;
  m->calls.depth = 0;
  if (m->calls.compared)
    note_way(m, m->calls.function, PROCEDURE_TOGETHER, m->calls.weight, seconds);
}

/* ---- a program ---- */

bool program_procedures_new(struct machine *m, const struct ir_program *program,
                            struct program_procedures **out) {
  *out = NULL;
  (void)program;
  if (!m->calls.possible) return true;
  struct program_procedures *p = heap_alloc(m->heap, sizeof *p);
  if (!p) return false;
  *p = (struct program_procedures){.stage = STAGE_WATCHED};
  arena_init(&p->arena, m->heap);
  *out = p;
  return true;
}

void program_procedures_free(struct machine *m, struct program_procedures *p) {
  if (!p) return;
  if (p->code) table_of(m)->discard(m->context, p->code, procedure_calls_spent(m));
  arena_free(&p->arena);
  heap_free(m->heap, p, sizeof *p);
}

/* Returns false also without memory. */
static bool procedures_print(struct machine *m, struct program_procedures *p) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return false;
  const bool printed = procedures_make(&p->arena, m->program, &p->all);
  memory_guard_end(&guard);
  return printed;
}

static void print_and_prepare(struct machine *m, struct program_procedures *p) {
  if (procedures_print(m, p))
    p->code = table_of(m)->prepare(m->context, p->all.text, p->all.length, &p->owed);
  atomic_store(&p->stage, p->code ? STAGE_PRINTED : STAGE_NONE);
  if (!p->code) arena_free(&p->arena);
}

/* ---- when ---- */

static bool does_not_measure(const struct machine *m) {
  return m->options.compile == CVL_COMPILE_ALL ||
         m->options.procedures == MACHINE_PROCEDURES_ALWAYS;
}

static enum cvl_procedure_wish procedures_wish(const struct machine *m) {
  if (m->options.procedures == MACHINE_PROCEDURES_ALWAYS) return CVL_PROCEDURES_WAIT;
  const bool pays =
      does_not_measure(m) || m->procedures->owed || procedure_calls_spent(m) >= compile_after;
  return pays ? CVL_PROCEDURES_COMPILE : CVL_PROCEDURES_LOOK;
}

static bool procedures_pay_printing(struct machine *m, uint32_t function, uint64_t instances,
                                    const struct value *slots) {
  if (does_not_measure(m)) return true;
  const double words = chunk_weight(m, function, instances, slots) / sizeof(int64_t);
  return procedure_calls_spent(m) + seconds_of_word * words >= print_after;
}

/* Whether the code is there. */
static bool procedures_ready(struct machine *m, struct program_procedures *p) {
  if (atomic_load(&p->stage) == STAGE_READY) return true;
  if (atomic_load(&p->stage) != STAGE_PRINTED) return false;
  if (!table_of(m)->ready(m->context, p->code, procedures_wish(m))) return false;
  atomic_store(&p->stage, STAGE_READY);
  return true;
}

void procedures_look(struct machine *m) {
  if (m->procedures && m->calls.possible) (void)procedures_ready(m, m->procedures);
}

/* ---- a call ---- */

/* The slots of a frame are given to the back end as they are. */
_Static_assert(sizeof(struct value) == sizeof(struct cvl_value), "a value is a flat one");

struct batch {
  uint32_t function;
  double weight; /* bytes, as chunk_weight */
  uint64_t instances;
  const struct cvl_procedure *procedure;
  struct cvl_procedure_time time;
  struct value *slots;
  const struct cvl_value *operands; /* without the descriptor of the instances */
};

static struct cvl_size extent_of(const struct machine *m, const struct cvl_value *v) {
  const bool segdes = v->form == CVL_SEGDES || v->form == CVL_ONE_SEGMENT;
  return segdes ? machine_count(m, v) : machine_size(m, v);
}

/* Returns the elements or segments that a value is to have. */
static uint64_t extent_wanted(const struct machine *m, const struct batch *b, uint32_t size,
                              const struct cvl_value *values) {
  return size == CVL_PROCEDURE_EACH ? b->instances : machine_size(m, &values[size]).bound;
}

/* Whether values have the sizes that the procedure says; nothing may be deferred. Calls with
 * others are executed in another way, which reports what is wrong. */
static bool sizes_agree(const struct machine *m, const struct batch *b, const uint32_t *sizes,
                        uint32_t count, const struct cvl_value *values) {
  for (uint32_t k = 0; k < count; k++) {
    const struct cvl_size size = extent_of(m, &values[k]);
    if (size.symbol) return false;
    if (sizes[k] == CVL_PROCEDURE_SHARED) continue;
    if (size.bound != extent_wanted(m, b, sizes[k], values)) return false;
  }
  return true;
}

static bool is_executable(const struct machine *m, const struct batch *b) {
  const struct cvl_value *first = &b->slots[0].flat;
  return machine_count(m, first).bound == 1 && b->instances > 0 &&
         sizes_agree(m, b, b->procedure->params, b->procedure->param_count, b->operands);
}

/* Whether operands and results probably fit into memory: results as large as the operands
 * exist twice for a moment. If not, chunks of the instances are tried. */
static bool procedure_fits(struct machine *m, const struct batch *b) {
  const double weight = chunk_weight(m, b->function, b->instances, b->slots);
  const uint64_t live = m->backend->statistics(m->context).live_bytes, limit = m->vector_limit;
  return limit == 0 || b->instances < 2 || m->chunks.count > 0 ||
         2 * weight <= (double)limit - (double)live;
}

/* After code of the function has given up, some calls are not tried. */
static bool is_at_rest(struct machine *m, const struct batch *b) {
  struct chunk_need *need = &m->needs[b->function];
  if (need->native_rest == 0)
    return need->native_again > 0 && stop_clock() < need->native_again;
  need->native_rest--;
  return true;
}

/* Whether native code may execute the call, and several threads would share it. */
static bool procedure_suits_call(struct machine *m, const struct batch *b) {
  if (!b->procedure || !is_executable(m, b)) return false;
  if (m->options.procedures == MACHINE_PROCEDURES_ALWAYS) return true;
  if (is_at_rest(m, b)) return false;
  return procedure_fits(m, b) &&
         table_of(m)->suits(m->context, b->procedure, b->instances, b->operands);
}

static bool is_power_of_two(uint32_t n) {
  return (n & (n - 1)) == 0;
}

/* Whether both ways may be compared in a call: not within one that is timed, nor in a chunk. */
static bool may_compare(const struct machine *m) {
  return m->calls.depth == 0 && m->chunks.count == 0;
}

static unsigned way_of_less(const struct procedure_way *ways, unsigned usual) {
  const unsigned other = PROCEDURE_WAYS - 1 - usual;
  return ways[usual].each <= ways[other].each ? usual : other;
}

/* The way that is better, as far as known; now and then the other. */
static unsigned better_way(struct machine *m, const struct batch *b, unsigned usual) {
  struct chunk_need *need = &m->needs[b->function];
  const unsigned other = PROCEDURE_WAYS - 1 - usual;
  const struct procedure_way *ways = need->ways;
  const bool quick = ways[usual].each * b->weight <= try_within;
  const bool limited = b->time.most > 0; /* native code, which may be tried once in any case */
  if (ways[other].calls == 0)
    return ways[usual].calls >= CALLS_BEFORE && (quick || limited) && may_compare(m) ? other
                                                                                     : usual;
  const unsigned best = way_of_less(ways, usual);
  const bool again = ++need->choices >= CHOICES_BEFORE && is_power_of_two(need->choices);
  const bool near =
      best == PROCEDURE_APART && ways[PROCEDURE_TOGETHER].each <= try_slower * ways[best].each;
  return again && (quick || near) && may_compare(m) ? PROCEDURE_WAYS - 1 - best : best;
}

/* What the call takes in one way, in seconds; 0: not known. */
static double time_of(const struct machine *m, const struct batch *b, unsigned way) {
  return m->needs[b->function].ways[way].each * b->weight;
}

/* What it takes, if that is known: by native code if possible. */
static double time_expected(const struct machine *m, const struct batch *b) {
  const double apart = time_of(m, b, PROCEDURE_APART);
  return apart > 0 ? apart : time_of(m, b, PROCEDURE_TOGETHER);
}

/* Whether the call is to be tried. */
static bool procedure_is_wanted(struct machine *m, const struct batch *b) {
  const bool *straight = m->procedures->all.straight;
  const bool is_straight = straight && straight[b->function];
  return m->options.procedures == MACHINE_PROCEDURES_ALWAYS ||
         better_way(m, b, is_straight ? PROCEDURE_TOGETHER : PROCEDURE_APART) ==
             PROCEDURE_APART;
}

static void note_try(struct machine *m, const struct batch *b, bool done, double seconds) {
  struct chunk_need *need = &m->needs[b->function];
  const uint32_t next = need->native_next ? need->native_next : REST_FIRST;
  need->native_rest = done ? 0 : next;
  need->native_again = done ? 0 : stop_clock() + REST_TIMES * seconds;
  need->native_next = done ? 0 : next < REST_MOST ? 2 * next : next;
  const bool late = b->time.most > 0 && seconds >= b->time.most;
  if (done || late) note_way(m, b->function, PROCEDURE_APART, b->weight, seconds);
  if (m->profile)
    profile_procedure(m->profile, m->profile_rows[b->function], b->instances, seconds, done);
}

/* Releases the operands, after the results have been made. */
static void procedure_deliver(struct machine *m, const struct batch *b,
                              const struct cvl_value *results) {
  const struct code_function *f = &m->code->functions[b->function];
  invariant(sizes_agree(m, b, b->procedure->results, b->procedure->result_count, results));
  for (uint32_t k = 0; k < f->param_count; k++) value_release(&m->store, &b->slots[k]);
}

/* Empties the slots of results that have not been made. */
static void procedure_forget(struct machine *m, const struct batch *b) {
  const struct code_function *f = &m->code->functions[b->function];
  for (uint32_t k = 0; k < f->result_count; k++) b->slots[f->slots + k].form = CVL_NOTHING;
}

/* Writes what each thread did in the call of this event, within it. */
static void write_spans(struct machine *m, struct trace_event event) {
  struct cvl_procedure_span spans[1024];
  const uint32_t n = table_of(m)->spans(m->context, spans, sizeof spans / sizeof spans[0]);
  for (uint32_t k = 0; k < n; k++) {
    event.category = spans[k].instances > 0 ? "instances" : "part of an instance";
    event.elements = spans[k].instances;
    event.thread = spans[k].thread;
    event.begin = spans[k].begin;
    event.duration = spans[k].end - spans[k].begin;
    trace_write(m->trace, &event);
  }
}

static void write_event(struct machine *m, const struct batch *b,
                        const struct machine_site *site, double begin) {
  char line[512];
  const struct debug_info info = code_debug_info(m->code, site->location);
  const char *name = m->program->functions[b->function].name->text;
  machine_describe_location(m, &info, line, sizeof line);
  const struct trace_event event = {.name = name,
                                    .category = "procedure",
                                    .line = line,
                                    .function = name,
                                    .elements = b->instances,
                                    .begin = begin,
                                    .duration = stop_clock() - begin};
  trace_write(m->trace, &event);
  write_spans(m, event);
}

/* Waits for earlier work, so that a fault in it comes first. */
static enum procedure_call procedure_execute(struct machine *m, const struct batch *b) {
  struct cvl_value *results = &b->slots[m->code->functions[b->function].slots].flat;
  const struct machine_site first = {m->site, m->code->functions[b->function].entry};
  struct machine_site site;
  bool done = false;
  if (!machine_settle(m, &first) || !machine_next_site(m, first.location, &site))
    return PROCEDURE_FAILED;
  const double begin = stop_clock();
  if (!table_of(m)->run(m->context, site.number, m->procedures->code, b->procedure, b->time,
                        b->instances, b->operands, results, &done)) {
    procedure_forget(m, b);
    machine_backend_fault(m, &site);
    return PROCEDURE_FAILED;
  }
  note_try(m, b, done, stop_clock() - begin);
  if (!done) {
    procedure_forget(m, b);
    return PROCEDURE_NOT;
  }
  procedure_deliver(m, b, results);
  if (m->trace) write_event(m, b, &site, begin);
  return PROCEDURE_DONE;
}

/* The call, the outermost one, is executed for all instances together. If native code could
 * have executed it, neither does it execute calls within this one. `compared`: it could, or
 * that is not known before something is printed. */
static void time_together(struct machine *m, const struct batch *b, bool ready, bool compared) {
  if (ready && !compared) return;
  begin_timing(m);
  m->calls.together = ready;
  m->calls.compared = compared;
  m->calls.function = b->function;
  m->calls.weight = b->weight;
}

/* Whether procedures may execute calls now: not in a search for a fault. */
static bool procedures_are_possible(const struct machine *m) {
  return m->calls.possible && m->procedures && m->chunks.pass == CHUNKS_RUN &&
         m->max_depth >= least_depth && atomic_load(&m->procedures->stage) != STAGE_NONE;
}

bool procedure_may(const struct machine *m, uint32_t function) {
  return procedures_are_possible(m) && atomic_load(&m->procedures->stage) == STAGE_READY &&
         m->procedures->all.of[function] && m->needs[function].native_rest == 0;
}

enum procedure_call procedure_call(struct machine *m) {
  if (!procedures_are_possible(m)) return PROCEDURE_NOT;
  const struct frame *frame = &m->frames[m->depth - 1];
  struct program_procedures *p = m->procedures;
  struct value *slots = m->stack + frame->base;
  const struct cvl_size instances = machine_size(m, &slots[0].flat);
  struct batch b = {.function = frame->function,
                    .instances = instances.bound,
                    .slots = slots,
                    .operands = &slots[1].flat};
  if (instances.symbol) return PROCEDURE_NOT;
  if (!m->sub && atomic_load(&p->stage) == STAGE_WATCHED &&
      procedures_pay_printing(m, b.function, b.instances, slots))
    print_and_prepare(m, p);
  if (m->calls.depth && m->calls.together) return PROCEDURE_NOT;
  const bool ready = procedures_ready(m, p);
  if (atomic_load(&p->stage) >= STAGE_PRINTED) b.procedure = p->all.of[b.function];
  const bool suits = procedure_suits_call(m, &b);
  const bool compared = suits || atomic_load(&p->stage) < STAGE_PRINTED;
  if (compared) b.weight = chunk_weight(m, b.function, b.instances, slots);
  b.time.expected = time_expected(m, &b);
  if (ready && suits && !m->calls.run_together && procedure_is_wanted(m, &b))
    return procedure_execute(m, &b);
  if (!m->calls.depth) time_together(m, &b, ready, compared);
  return PROCEDURE_NOT;
}

/* ---- a whole run ---- */

/* The bytes of the arguments, and one more. */
static double weight_of_arguments(const struct machine *m, const struct value *slots) {
  const struct code_function *f = &m->code->functions[m->entry];
  double weight = 1;
  for (uint32_t k = 0; k < f->param_count; k++) weight += (double)chunk_bytes(m, &slots[k]);
  return weight;
}

/* A consumer gets nothing of such a run: it takes only results of calls that are cut. */
static bool entry_is_possible(const struct machine *m) {
  return procedures_are_possible(m) && !m->sub && !m->dispatcher && !m->own && m->depth == 1 &&
         m->frames[0].function == m->entry;
}

/* Whether the native code of the entry function is there; or should be, after some runs. */
static bool entry_is_ready(struct machine *m, const struct batch *b) {
  struct program_procedures *p = m->procedures;
  const struct procedure_way *together = &m->needs[b->function].ways[PROCEDURE_TOGETHER];
  if (together->calls < CALLS_BEFORE && m->options.procedures != MACHINE_PROCEDURES_ALWAYS)
    return false;
  if (atomic_load(&p->stage) == STAGE_WATCHED &&
      (does_not_measure(m) || procedure_calls_spent(m) >= print_after))
    print_and_prepare(m, p);
  return procedures_ready(m, p) && p->all.entry;
}

/* Whether a run that is not native as a whole shall have no native calls either: where native
 * code is better, but the other way is looked at again, once so and the next time with calls
 * that choose by themselves. */
static bool run_is_together(const struct machine *m) {
  const struct chunk_need *need = &m->needs[m->entry];
  const bool again = way_of_less(need->ways, PROCEDURE_TOGETHER) == PROCEDURE_APART;
  return again && need->choices > 0 && __builtin_ctz(need->choices) % 2 == 0;
}

static bool entry_is_wanted(struct machine *m, struct batch *b) {
  const double together = time_of(m, b, PROCEDURE_TOGETHER), most = entry_slower * together;
  b->time.expected = time_expected(m, b);
  if (m->options.procedures == MACHINE_PROCEDURES_ALWAYS) {
    b->time.expected = shared_always;
    return true;
  }
  b->time.most = most > entry_most ? most : entry_most;
  if (together > entry_try_within && !b->procedure->shares) return false;
  if (is_at_rest(m, b)) return false;
  if (better_way(m, b, PROCEDURE_TOGETHER) == PROCEDURE_APART) return true;
  m->calls.run_together = run_is_together(m);
  return false;
}

/* Moves the results, which are above the slots of the frame, to where a run leaves them. */
static void entry_deliver(struct machine *m, struct value *slots) {
  const struct code_function *f = &m->code->functions[m->entry];
  struct value *results = slots + f->slots;
  for (uint32_t k = 0; k < f->result_count; k++) {
    const struct value v = results[k];
    results[k].form = CVL_NOTHING;
    m->stack[k] = v;
  }
  m->top = f->result_count;
  m->depth = 0;
}

enum procedure_call procedure_entry_run(struct machine *m) {
  m->calls.arguments = 0;
  m->calls.run_together = false;
  if (!entry_is_possible(m)) return PROCEDURE_NOT;
  struct value *slots = m->stack + m->frames[0].base;
  struct batch b = {.function = m->entry,
                    .instances = 1,
                    .weight = weight_of_arguments(m, slots),
                    .slots = slots,
                    .operands = (const struct cvl_value *)slots};
  m->calls.arguments = b.weight;
  if (!entry_is_ready(m, &b)) return PROCEDURE_NOT;
  b.procedure = m->procedures->all.entry;
  if (!entry_is_wanted(m, &b)) return PROCEDURE_NOT;
  const enum procedure_call native = procedure_execute(m, &b);
  if (native == PROCEDURE_DONE) entry_deliver(m, slots);
  return native;
}

void procedure_entry_end(struct machine *m, double seconds) {
  if (m->calls.arguments == 0) return;
  note_way(m, m->entry, PROCEDURE_TOGETHER, m->calls.arguments, seconds);
  if (seconds <= entry_try_within) m->calls.spent += seconds;
}
