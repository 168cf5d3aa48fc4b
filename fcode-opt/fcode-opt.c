/* fcode-opt.c - the driver: copies the program and runs the passes in order; liveness,
 * verification, listings and statistics after each.
 *
 * A program with lifted functions may be optimised more than once: each time without the
 * marks of those that fusion showed not to be worth their calls the time before (instances.c).
 */
#include "base/number.h"
#include "fcode-opt/passes.h"
#include "ir/instances.h"

#include <setjmp.h>
#include <string.h>

bool fcode_opt_is_done(const struct ir_program *program) {
  return program->vcode && program->superop_count > 0;
}

/* The most rounds of simplify and dead, which repeat while they change something. Two are
 * enough for every program of the corpus. */
enum { MAX_ROUNDS = 4 };

struct fcode_opt_options fcode_opt_default_options(void) {
  return (struct fcode_opt_options){
      .fuse = true,
#ifdef RAVEL_DEBUG
      .verify = true,
#endif
      .inline_limit = 160,
  };
}

/* ---- the copy ---- */

struct level {
  const struct ir_block *block;
  uint32_t next;
  uint32_t depth;
};

/* Returns whether a body is nested too deeply, or calls a function without let-form. */
static bool cannot_rewrite(struct opt *o, const struct ir_function *f) {
  ARRAY(struct level) levels = {0};
  *array_push(o->scratch, &levels) = (struct level){.block = f->body};
  while (levels.count > 0) {
    struct level *top = &levels.items[levels.count - 1];
    if (top->next == top->block->count) {
      levels.count--;
      continue;
    }
    const struct ir_binding *x = &top->block->bindings[top->next++];
    uint32_t depth = top->depth + 1;
    if (x->form == IR_CALL && !o->program->functions[x->as.callee].typed) return true;
    if (x->form != IR_IF) continue;
    if (depth > OPT_DEEPEST) return true;
    *array_push(o->scratch, &levels) = (struct level){.block = x->as.arms.then, .depth = depth};
    *array_push(o->scratch, &levels) =
        (struct level){.block = x->as.arms.otherwise, .depth = depth};
  }
  return false;
}

/* Gives functions that cannot be rewritten, and their callers, their stack code instead of
 * let-form. Returns false if one has none. */
static bool leave_deep_ones(struct opt *o) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (uint32_t i = 0; i < o->program->function_count; i++) {
      struct ir_function *f = &o->program->functions[i];
      if (!f->typed || !cannot_rewrite(o, f)) continue;
      if (!f->stack) return false;
      *f =
          (struct ir_function){.name = f->name,
                               .pos = f->pos,
                               .returns = true,
                               .procedure = IR_NO_PROCEDURE,
                               .rounds = f->rounds,
                               .stack = f->stack,
                               .reason = "its IFs, or those of a function it calls, are nested "
                                         "too deeply to be optimised"};
      changed = true;
    }
  }
  return true;
}

/* Returns false if the program cannot be rewritten. */
static bool copy_program(struct opt *o, const struct ir_program *program) {
  uint32_t n = program->function_count;
  o->program = arena_alloc(o->arena, sizeof *o->program);
  *o->program = *program;
  origin_table_init(&o->program->origins, o->arena, &program->origins);
  o->program->functions = arena_alloc(o->arena, n * sizeof *o->program->functions);
  memcpy(o->program->functions, program->functions, n * sizeof *program->functions);
  o->function_capacity = n;
  o->var_capacity = arena_alloc(o->arena, n * sizeof *o->var_capacity);
  if (!leave_deep_ones(o)) return false;
  o->program->vcode = NULL; /* no longer the same program */
  for (uint32_t i = 0; i < n; i++) {
    struct ir_function *f = &o->program->functions[i];
    *f = rewrite_copy_function(o, f);
    o->var_capacity[i] = f->var_count;
    if (f->typed) f->stack = NULL;
    if (o->decisions && o->decisions[i].inlined) f->instances = NULL;
    const uint32_t p = ir_procedure(f);
    if (p == IR_NO_PROCEDURE || !o->program->functions[p].typed) f->procedure = IR_NO_PROCEDURE;
  }
  return true;
}

/* ---- origins ---- */

static void add_origins(struct opt *o, const struct ir_function *f, struct ir_block *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    struct ir_binding *x = &block->bindings[i];
    if (x->form == IR_IF) {
      add_origins(o, f, x->as.arms.then);
      add_origins(o, f, x->as.arms.otherwise);
    }
    if (x->origin || x->form == IR_CALL || binding_never_fails(x)) continue;
    x->origin = origin_number(
        &o->program->origins,
        (struct origin){.file = o->program->file, .pos = x->pos, .function = f->name->text});
  }
}

/* Gives every instruction that may fail an origin: its source location and function, which
 * inlining and printing would lose. */
static void make_origins(struct opt *o) {
  for (uint32_t i = 0; i < o->program->function_count; i++) {
    const struct ir_function *f = &o->program->functions[i];
    if (f->typed) add_origins(o, f, f->body);
  }
}

/* ---- passes ---- */

struct pass {
  const char *name;
  bool (*run)(struct opt *);
};

enum pass_id {
#define PASS(name, what) PASS_##name,
#include "fcode-opt/passes.def"
};

static const struct pass passes[] = {
#define PASS(name, what) {#name, pass_##name},
#include "fcode-opt/passes.def"
};

struct driver {
  struct opt o;
  struct guard guard;   /* its arena is there from the beginning */
  struct arena decided; /* what is known of lifted functions */
  struct diag_list *diags;
  bool broken; /* a pass broke a rule of the let-form */
  bool warned; /* a pass failed a check of itself */
};

/* Prints the program for --print-after, without functions that are no longer called. */
static void print_program(struct opt *o, const char *pass) {
  const struct calls calls = calls_make(o);
  fprintf(o->options->dump, "--- after %s ---\n", pass);
  ir_print_functions(o->program, calls.reachable, o->options->dump);
  arena_free(o->scratch);
}

/* Warns that a pass was undone; once, even if several are. */
static void warn_undone(struct driver *d, const char *pass) {
  const struct guard *g = d->o.guard;
  if (d->o.explain) {
    fprintf(d->o.explain, "  the pass %s was undone: what it reports above does not hold\n",
            pass);
  }
  if (d->warned) return;
  d->warned = true;
  diag_add(d->diags, SEVERITY_WARNING, d->o.program->file, (struct source_pos){0, 0}, NULL,
           "a fault of Ravel: the optimiser's pass %s failed a check of itself (%s:%d: %s); "
           "the program runs without this optimisation; please report it with the program",
           pass, g->file, g->line, g->condition);
}

/* Runs a pass in its guard; returns whether it changed anything. */
static bool driver_run_guarded(struct driver *d, struct pass pass) {
  struct opt *o = &d->o;
  if (setjmp(o->guard->failed)) {
    arena_free(o->scratch);
    guard_undo(o);
    warn_undone(d, pass.name);
    return false;
  }
  bool changed = pass.run(o);
  if (o->options->after_pass) o->options->after_pass(o, pass.name);
  return changed;
}

/* Runs a pass; returns whether it changed anything. */
static bool driver_run_pass(struct driver *d, struct pass pass) {
  struct opt *o = &d->o;
  if (d->broken) return false;
  guard_begin(o, &d->guard);
  bool changed = driver_run_guarded(d, pass);
  bool undone = d->guard.condition != NULL;
  guard_end(o);
  for (uint32_t i = 0; i < o->program->function_count; i++) {
    if (o->program->functions[i].typed) rewrite_number(o, &o->program->functions[i]);
  }
  arena_free(o->scratch);
  ir_liveness(o->arena, o->program);
  const char *wanted = o->options->print_after;
  if (wanted && (strcmp(wanted, "all") == 0 || strcmp(wanted, pass.name) == 0)) {
    print_program(o, pass.name);
  }
  if ((o->options->verify || undone) && !ir_verify(o->arena, o->program, d->diags)) {
    diag_add(d->diags, SEVERITY_ERROR, o->program->file, (struct source_pos){0, 0}, NULL,
             "the optimiser's pass %s broke the let-form: a fault of Ravel", pass.name);
    d->broken = true;
  }
  return changed;
}

static bool driver_run(struct driver *d, enum pass_id id) {
  return driver_run_pass(d, passes[id]);
}

static void simplify_all(struct driver *d) {
  bool changed = true;
  for (int round = 0; changed && round < MAX_ROUNDS; round++) {
    changed = driver_run(d, PASS_simplify);
    changed |= driver_run(d, PASS_dead);
  }
}

/* Removes marks that are not worth it, before anything is moved or fused. Returns whether there
 * were any. */
static bool remove_marks(struct driver *d) {
  struct opt *o = &d->o;
  if (!o->decisions || d->broken) return false;
  if (!instances_decide(o, &d->decided, o->program, o->decisions, o->options->fuse))
    return false;
  for (uint32_t i = 0; i < o->decision_count; i++) {
    if (o->decisions[i].inlined) o->program->functions[i].instances = NULL;
  }
  return true;
}

/* Repeats as long as simpler bodies show that marks are not worth it. */
static void inline_and_simplify(struct driver *d) {
  remove_marks(d);
  do {
    driver_run(d, PASS_inline);
    simplify_all(d);
  } while (remove_marks(d));
}

/* Concatenations that have become superoperators show that some bodies keep nothing in memory.
 * If that is known here, the program need not be optimised once more for it. */
static void inline_again(struct driver *d) {
  driver_run(d, PASS_inline);
  driver_run(d, PASS_simplify);
  driver_run(d, PASS_dead);
}

/* Reserves functions first, since each function may get another one, with a procedure. */
static bool run_invariants(struct driver *d) {
  rewrite_reserve(&d->o, 2 * d->o.program->function_count);
  return driver_run(d, PASS_invariants);
}

/* Reserves functions first, since each function may get another procedure. */
static bool run_hoist(struct driver *d) {
  if (!d->o.decisions) return false;
  rewrite_reserve(&d->o, d->o.program->function_count);
  return driver_run(d, PASS_hoist);
}

/* A gather from a gather reads from what that one read from the next time. */
static void move_gathers(struct driver *d) {
  for (int round = 0; round < MAX_ROUNDS && driver_run(d, PASS_gathers); round++) {
    driver_run(d, PASS_simplify);
    driver_run(d, PASS_dead);
  }
}

/* Runs all passes. A function that has become a loop may be inlined, since it no longer calls
 * itself. The bindings that invariants and hoist move are simple: one round is enough. */
static void run_all_passes(struct driver *d) {
  inline_and_simplify(d);
  if (d->o.options->fuse && driver_run(d, PASS_loops)) inline_and_simplify(d);
  bool moved = run_invariants(d);
  if (moved) driver_run(d, PASS_dead);
  moved |= run_hoist(d);
  if (moved) {
    driver_run(d, PASS_simplify);
    driver_run(d, PASS_dead);
  }
  if (!d->o.options->fuse) return;
  move_gathers(d);
  if (driver_run(d, PASS_peephole)) driver_run(d, PASS_dead);
  if (driver_run(d, PASS_copies)) {
    driver_run(d, PASS_dead);
    if (remove_marks(d)) inline_again(d);
  }
  driver_run(d, PASS_fuse);
}

/* ---- statistics ---- */

static void count_bindings(struct opt *o, uint32_t *functions, uint64_t *bindings) {
  struct calls calls = calls_make(o);
  *functions = 0;
  *bindings = 0;
  for (uint32_t i = 0; i < o->program->function_count; i++) {
    if (!calls.reachable[i]) continue;
    ++*functions;
    *bindings += calls.size[i];
  }
  arena_free(o->scratch);
}

/* ---- rounds ---- */

/* Optimises a copy of the program once. Returns false if it cannot be rewritten. */
static bool optimise_once(struct driver *d, const struct ir_program *program) {
  struct opt *o = &d->o;
  *o->stats = (struct fcode_opt_stats){0};
  if (!copy_program(o, program)) return false;
  count_bindings(o, &o->stats->functions_before, &o->stats->bindings_before);
  if (o->options->origins) make_origins(o);
  calls_drop_unreachable(o);
  run_all_passes(d);
  count_bindings(o, &o->stats->functions_after, &o->stats->bindings_after);
  return true;
}

/* Optimises, once or more, until the marks that are left are worth it. `begun` has the
 * decisions that the last time began with. Diagnostics may be in the same arena: if there are
 * any, its memory is not freed in between. Returns false if the program cannot be rewritten. */
static bool run_until_decided(struct driver *d, const struct ir_program *program,
                              struct instances_decision *begun) {
  struct opt *o = &d->o;
  const struct arena_point mark = arena_mark(o->arena);
  const size_t bytes = program->function_count * sizeof *begun;
  for (;;) {
    memcpy(begun, o->decisions, bytes);
    if (!optimise_once(d, program)) return false;
    if (d->broken || !instances_decide(o, &d->decided, program, o->decisions, false))
      return true;
    if (!d->warned) arena_free_since(o->arena, mark);
  }
}

/* Optimises until the marks are settled, then once more if anything is to be printed: only the
 * last time is printed. */
static bool run_rounds(struct driver *d, const struct ir_program *program) {
  struct opt *o = &d->o;
  const struct fcode_opt_options *options = o->options;
  struct fcode_opt_options silent = *options;
  FILE *explain = o->explain;
  const size_t bytes = program->function_count * sizeof *o->decisions;
  struct instances_decision *begun = arena_alloc(&d->decided, bytes);
  o->decisions = arena_alloc(&d->decided, bytes);
  o->decision_count = program->function_count;
  silent.print_after = NULL;
  o->options = &silent;
  o->explain = NULL;
  const bool rewritten = run_until_decided(d, program, begun);
  o->options = options;
  o->explain = explain;
  if (!rewritten || d->broken || (!explain && !options->print_after)) return rewritten;
  memcpy(o->decisions, begun, bytes);
  optimise_once(d, program);
  instances_decide(o, &d->decided, program, o->decisions, false);
  if (explain) instances_explain(o, program, o->decisions);
  return true;
}

/* ---- the entry point ---- */

struct ir_program *fcode_opt(struct arena *arena, const struct ir_program *program,
                             const struct fcode_opt_options *options,
                             struct fcode_opt_stats *stats, FILE *explain,
                             struct diag_list *diags) {
  struct arena scratch;
  struct fcode_opt_stats own;
  if (!stats) stats = &own;
  *stats = (struct fcode_opt_stats){0};
  double start = stop_clock();
  struct driver d = {.diags = diags,
                     .o = {.arena = arena,
                           .scratch = &scratch,
                           .options = options,
                           .stats = stats,
                           .explain = explain}};
  arena_init(&scratch, arena->heap);
  arena_init(&d.guard.arena, arena->heap);
  arena_init(&d.decided, arena->heap);
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    arena_free(&scratch);
    arena_free(&d.guard.arena);
    arena_free(&d.decided);
    diag_add(diags, SEVERITY_ERROR, program->file, (struct source_pos){0, 0}, NULL,
             "out of memory while optimising the program");
    return NULL;
  }
  const bool rewritten =
      instances_any(program) ? run_rounds(&d, program) : optimise_once(&d, program);
  if (!rewritten) *d.o.program = *program;
  if (rewritten && options->chunked_results) {
    chunked_results_reserve(&d.o);
    driver_run_pass(&d, (struct pass){"chunked results", chunked_results});
  }
  memory_guard_end(&guard);
  arena_free(&scratch);
  arena_free(&d.decided);
  stats->seconds = stop_clock() - start;
  return d.broken ? NULL : d.o.program;
}
