/* liveness.c - see liveness.h.
 *
 * One backward walk over the tree of blocks. The live set is a list, and each variable knows
 * its index in it: adding, removing and listing take constant time per member. Both arms of an
 * IF start from the variables live after it; those that the first arm adds are put aside while
 * the second is walked. An arm that does not yield starts from the empty set: the members are
 * hidden during it. A variable that is live on entry of one arm only is dropped by the other.
 * The work is linear in the instructions and in the drops that are listed. */
#include "ir/liveness.h"

#include <stdlib.h>
#include <string.h>

#define NOT_LIVE UINT32_MAX

enum role { ROLE_BODY, ROLE_THEN, ROLE_ELSE };

struct frame {
  enum role role;
  struct ir_block *block;
  uint32_t next;      /* bindings still to be walked: those below this index */
  uint32_t start;     /* members when the block was begun */
  uint32_t base;      /* base of the block around it */
  uint32_t put_aside; /* ELSE: where the additions of the first arm begin */
};

enum { IN_THEN = 1, IN_ELSE = 2 };

struct walk {
  struct arena *scratch, *arena;
  struct liveness_fault *fault;
  bool same;             /* comparing: no difference so far */
  uint32_t *at;          /* per variable: its index among the members, or NOT_LIVE */
  uint8_t *marks;        /* per variable: IN_THEN, IN_ELSE while an IF is joined */
  ARRAY(ir_var) members; /* those below base are hidden */
  uint32_t base;
  ARRAY(ir_var) aside;
  ARRAY(ir_var) drops;
  ARRAY(struct frame) frames;
};

/* ---- flags and drops: written or compared ---- */

static void report_flag_difference(struct walk *w, struct source_pos pos, const char *what,
                                   ir_var v) {
  if (w->same) *w->fault = (struct liveness_fault){pos, what, v};
  w->same = false;
}

static void put_flag(struct walk *w, bool *flag, bool value, struct source_pos pos,
                     const char *what, ir_var v) {
  if (w->arena)
    *flag = value;
  else if (*flag != value)
    report_flag_difference(w, pos, what, v);
}

static int by_ascending_var(const void *a, const void *b) {
  ir_var x = *(const ir_var *)a, y = *(const ir_var *)b;
  return (x > y) - (x < y);
}

/* The block is to drop what is in w->drops. */
static void put_drops(struct walk *w, struct ir_block *block, struct source_pos pos) {
  size_t count = w->drops.count;
  if (count > 1) qsort(w->drops.items, count, sizeof(ir_var), by_ascending_var);
  if (w->arena) {
    block->drop_count = (uint32_t)count;
    block->drops = count > 0 ? arena_alloc(w->arena, count * sizeof(ir_var)) : NULL;
    if (count > 0) memcpy(block->drops, w->drops.items, count * sizeof(ir_var));
    return;
  }
  if (block->drop_count != count) {
    report_flag_difference(w, pos, "number of drops of an arm", block->drop_count);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    if (block->drops[i] != w->drops.items[i])
      report_flag_difference(w, pos, "drops of an arm", block->drops[i]);
  }
}

/* ---- the live set ---- */

static bool is_live(const struct walk *w, ir_var v) {
  return w->at[v] != NOT_LIVE;
}

/* Makes v live; true if it was not: walking backward, this is its last use. */
static bool live_use(struct walk *w, ir_var v) {
  if (is_live(w, v)) return false;
  w->at[v] = (uint32_t)w->members.count;
  *array_push(w->scratch, &w->members) = v;
  return true;
}

/* Removes v, which is bound here: before, it is not live. Returns whether it was never used.
 * Its uses were added since the block began, and so were all members after it: their order is
 * free. */
static bool live_bind(struct walk *w, ir_var v) {
  if (!is_live(w, v)) return true;
  uint32_t index = w->at[v];
  ir_var moved = w->members.items[--w->members.count];
  w->members.items[index] = moved;
  w->at[moved] = index;
  w->at[v] = NOT_LIVE;
  return false;
}

static void live_uses(struct walk *w, uint32_t count, const ir_var *vars, bool *last,
                      struct source_pos pos, const char *what) {
  for (uint32_t i = count; i-- > 0;)
    put_flag(w, &last[i], live_use(w, vars[i]), pos, what, vars[i]);
}

/* ---- blocks ---- */

static void live_begin_block(struct walk *w, enum role role, struct ir_block *block,
                             struct source_pos pos) {
  struct frame *frame = array_push(w->scratch, &w->frames);
  *frame = (struct frame){.role = role,
                          .block = block,
                          .next = block->count,
                          .start = (uint32_t)w->members.count,
                          .base = w->base,
                          .put_aside = (uint32_t)w->aside.count};
  if (block->end == IR_YIELD) {
    live_uses(w, block->result_count, block->results, block->last, pos, "last use by a yield");
    return;
  }
  for (size_t i = w->base; i < w->members.count; i++) w->at[w->members.items[i]] = NOT_LIVE;
  w->base = frame->start;
}

/* Puts aside what an arm added to the live set, which is again as it is after the IF. */
static void end_arm(struct walk *w, const struct frame *frame) {
  for (size_t i = frame->start; i < w->members.count; i++) {
    ir_var v = w->members.items[i];
    w->at[v] = NOT_LIVE;
    *array_push(w->scratch, &w->aside) = v;
  }
  w->members.count = frame->start;
  w->base = frame->base;
  for (size_t i = w->base; i < w->members.count; i++) w->at[w->members.items[i]] = (uint32_t)i;
}

/* Collects the variables that are alive on entry of the other arm and not on entry of `block`,
 * whose variables carry `mark`. They are among the other arm's additions, and, if only the
 * other arm yields, among the variables live after the IF. */
static void find_drops(struct walk *w, struct ir_block *block, uint8_t mark,
                       const struct ir_block *other, const ir_var *added, size_t count,
                       struct source_pos pos) {
  bool yields = block->end == IR_YIELD;
  w->drops.count = 0;
  for (size_t i = 0; i < count; i++) {
    ir_var v = added[i];
    if (!(w->marks[v] & mark) && !(yields && is_live(w, v)))
      *array_push(w->scratch, &w->drops) = v;
  }
  if (!yields && other->end == IR_YIELD) {
    for (size_t i = w->base; i < w->members.count; i++) {
      if (!(w->marks[w->members.items[i]] & mark))
        *array_push(w->scratch, &w->drops) = w->members.items[i];
    }
  }
  put_drops(w, block, pos);
}

/* Joins the arms of the IF x. Both are walked and their additions are put aside, the second's
 * after the first's. */
static void live_join_arms(struct walk *w, const struct ir_binding *x, size_t first,
                           size_t second) {
  struct ir_block *then = x->as.arms.then, *otherwise = x->as.arms.otherwise;
  size_t end = w->aside.count;
  const ir_var nothing = 0;
  const ir_var *aside = end != 0 ? w->aside.items : &nothing; /* never NULL to count from */
  for (size_t i = first; i < second; i++) w->marks[aside[i]] |= IN_THEN;
  for (size_t i = second; i < end; i++) w->marks[aside[i]] |= IN_ELSE;
  find_drops(w, then, IN_THEN, otherwise, aside + second, end - second, x->pos);
  find_drops(w, otherwise, IN_ELSE, then, aside + first, second - first, x->pos);
  for (size_t i = first; i < end; i++) {
    w->marks[aside[i]] = 0;
    live_use(w, aside[i]);
  }
  w->aside.count = first;
  live_uses(w, 1, x->operands, x->last, x->pos, "last use of a condition");
}

static void walk_binding(struct walk *w, const struct ir_binding *x) {
  for (uint32_t i = 0; i < x->result_count; i++)
    put_flag(w, &x->unused[i], live_bind(w, x->results[i]), x->pos, "unused result",
             x->results[i]);
  if (x->form == IR_IF)
    live_begin_block(w, ROLE_THEN, x->as.arms.then, x->pos);
  else
    live_uses(w, x->operand_count, x->operands, x->last, x->pos, "last use of an operand");
}

/* Ends the topmost block, whose beginning the walk has reached. */
static void live_end_block(struct walk *w) {
  struct frame frame = w->frames.items[--w->frames.count];
  if (frame.role == ROLE_BODY) return;
  const struct frame *around = &w->frames.items[w->frames.count - 1];
  const struct ir_binding *x = &around->block->bindings[around->next];
  size_t second = w->aside.count;
  end_arm(w, &frame);
  if (frame.role == ROLE_THEN) {
    live_begin_block(w, ROLE_ELSE, x->as.arms.otherwise, x->pos);
    w->frames.items[w->frames.count - 1].put_aside = frame.put_aside;
  } else {
    live_join_arms(w, x, frame.put_aside, second);
  }
}

bool liveness_of(struct arena *scratch, struct arena *arena, const struct ir_function *f,
                 struct liveness_fault *fault) {
  struct walk w = {.scratch = scratch, .arena = arena, .fault = fault, .same = true};
  w.at = arena_alloc(scratch, f->var_count * sizeof *w.at);
  w.marks = arena_alloc(scratch, f->var_count);
  for (uint32_t v = 0; v < f->var_count; v++) w.at[v] = NOT_LIVE;
  live_begin_block(&w, ROLE_BODY, f->body, f->pos);
  while (w.frames.count > 0) {
    struct frame *frame = &w.frames.items[w.frames.count - 1];
    if (frame->next > 0)
      walk_binding(&w, &frame->block->bindings[--frame->next]);
    else
      live_end_block(&w);
  }
  for (uint32_t i = 0; i < f->param_count; i++)
    put_flag(&w, &f->unused[i], !is_live(&w, f->params[i]), f->pos, "unused parameter",
             f->params[i]);
  w.drops.count = 0; /* unused parameters have their flag; nothing else is alive on entry */
  put_drops(&w, f->body, f->pos);
  return w.same;
}

struct liveness_job {
  struct arena *arena;
  struct ir_program *program;
};

static void liveness_of_all(struct arena *scratch, void *context) {
  const struct liveness_job *job = context;
  struct liveness_fault unused;
  for (uint32_t i = 0; i < job->program->function_count; i++) {
    if (!job->program->functions[i].typed) continue;
    liveness_of(scratch, job->arena, &job->program->functions[i], &unused);
    arena_free(scratch);
  }
}

void ir_liveness(struct arena *arena, struct ir_program *program) {
  struct liveness_job job = {arena, program};
  if (!arena_with(arena->heap, liveness_of_all, &job)) memory_failed();
}
