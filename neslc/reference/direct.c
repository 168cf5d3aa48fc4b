/* direct.c - the direct interpreter's entry point: its memory, its stack, and the results of a
 * run. direct-private.h lists the files.
 *
 * An evaluation recurses as deeply as the program, so it runs on a thread with a large stack,
 * of which the system provides only the touched pages; every expression checks the remaining
 * stack. All data are in an arena that is freed at the end; only the value is copied into the
 * session's. The guard for missing memory is set on that thread.
 */
#include "neslc/reference/direct-private.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

enum {
  STACK_BYTES = 512 << 20,
  LESSER_STACK_BYTES =
      1 << 20,             /* of the caller's stack, if there is no thread: 8 MiB is usual */
  STACK_MARGIN = 128 << 10 /* for callees that do not check the stack */
};

/* The task of the thread, and its result. */
struct evaluation {
  struct direct d;
  const struct checked *checked;
  struct nesl_value *value;
  size_t stack_bytes;
  bool done, out_of_memory;
};

/* The code around an expression is of no function; its undetermined types are int. */
static bool evaluate_run(struct evaluation *run) {
  struct direct *d = &run->d;
  const struct core *e = run->checked->value;
  const struct direct_specialisation *outside = find_specialisation(d, NULL, NULL, 0, NULL);
  uint32_t slots = 4;
  while (slots < run->checked->local_count) slots *= 2;
  struct direct_frame frame = {.locals = direct_items(d, slots),
                               .count = slots,
                               .specialisation = outside,
                               .call = NULL};
  struct datum x;
  if (!direct_eval(d, &frame, e, &x)) return false;
  struct arena *kept = d->session->arena;
  *run->value = direct_to_columns(d, kept, type_ground(kept, e->type, 0, NULL), x);
  return true;
}

static void evaluate_here(struct evaluation *run) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    run->out_of_memory = true;
    return;
  }
  run->d.stack_end = (const char *)__builtin_frame_address(0) - run->stack_bytes + STACK_MARGIN;
  run->done = evaluate_run(run);
  memory_guard_end(&guard);
}

static void *evaluate_on_thread(void *run) {
  evaluate_here(run);
  return NULL;
}

static void evaluate_on_large_stack(struct evaluation *run) {
  pthread_attr_t attributes;
  pthread_t thread;
  bool started = false;
  if (pthread_attr_init(&attributes) == 0) {
    run->stack_bytes = STACK_BYTES;
    started = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
              pthread_create(&thread, &attributes, evaluate_on_thread, run) == 0;
    pthread_attr_destroy(&attributes);
  }
  if (started) {
    sigset_t all, before; /* the evaluating thread receives signals: they interrupt its waits */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return;
  }
  run->stack_bytes = LESSER_STACK_BYTES;
  evaluate_here(run);
}

/* False without memory. */
static bool direct_report_run(struct evaluation *run, struct complaints *complaints) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return false;
  direct_report(&run->d, complaints);
  complaints->stopped = run->d.stopped;
  memory_guard_end(&guard);
  return true;
}

bool direct_evaluate(struct session *session, const struct checked *checked,
                     const struct direct_options *options, struct complaints *complaints,
                     struct nesl_value *value, struct direct_cost *cost) {
  const struct widths of_session = {session->classic ? CVL_I32 : CVL_I64, CVL_F64};
  struct arena arena;
  arena_init(&arena, session->arena->heap);
  struct evaluation run = {
      .d = {.session = session,
            .arena = &arena,
            .options = options,
            .widths = options->widths ? *options->widths : of_session,
            .seed = options->random ? options->random->seed : 0,
            .random_count = options->random ? options->random->calls : 0},
      .checked = checked,
      .value = value,
  };
  table_begin(&run.d.derived, &arena);
  bool reported = true;
  evaluate_on_large_stack(&run);
  if (run.out_of_memory) {
    complain(complaints, NESL_LIMIT, checked->value->source, checked->value->at,
             "there is not enough memory for the evaluation");
  } else if (!run.done) {
    reported = direct_report_run(&run, complaints);
  } else {
    if (cost) *cost = run.d.cost;
    if (options->random) {
      *options->random = (struct direct_random){run.d.seed, run.d.random_count};
    }
  }
  arena_free(&arena);
  if (!reported) memory_failed();
  return run.done;
}
