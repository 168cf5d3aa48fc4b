/* copies.c - finds the moves of each superoperator, and rewrites blocks: copies.h. */
#include "fcode-opt/copies.h"

#include "cvl/superop.h"
#include "ir/definitions.h"

#include <math.h>
#include <stdlib.h>

/* The result of the pass for a binding. */
enum fate { STAYS, MOVES, MOVES_CHECKED, ENDS /* the last move of a superoperator */ };

struct block_copies {
  struct copies *c;
  struct ir_block *block;
  uint8_t *fates;             /* enum fate, per binding */
  struct ir_binding *results; /* of ENDS: what it becomes */
};

/* ---- what moves ---- */

static bool is_op_of(const struct ir_binding *x, enum opcode op) {
  return x && x->form == IR_OP && x->op == op;
}

static bool is_element(const struct ir_binding *x, int64_t element) {
  if (!x || x->form != IR_CONST || x->as.constant->length != 1) return false;
  const struct vcode_constant *k = x->as.constant;
  return (k->type == TW_INT && k->as.ints[0] == element) ||
         (k->type == TW_BOOL && k->as.bools[0] == element) ||
         (k->type == TW_FLOAT && k->as.floats[0] == (double)element &&
          !signbit(k->as.floats[0]));
}

bool copies_constant(const struct copies *c, ir_var v, int64_t element) {
  const struct ir_binding *x = c->definitions[v];
  while (is_op_of(x, OPC_DIST) && sizes_safe(c->sizes, c->function, x))
    x = c->definitions[x->operands[0]];
  return is_element(x, element);
}

/* Returns whether v is an INDEX of stride 1 that cannot fail. */
static bool copies_by_runs(const struct copies *c, ir_var v) {
  const struct ir_binding *x = c->definitions[v];
  return is_op_of(x, OPC_INDEX) && sizes_safe(c->sizes, c->function, x) &&
         copies_constant(c, x->operands[1], 1);
}

static bool is_scatter_by_runs(const struct copies *c, const struct ir_binding *x) {
  if (!x || x->form != IR_OP) return false;
  switch ((enum opcode)x->op) {
  case OPC_FPERMUTE:
    if (!copies_constant(c, x->operands[2], 1)) return false;
    break;
  case OPC_PERMUTE:
  case OPC_DPERMUTE: break;
  default: return false;
  }
  return copies_by_runs(c, x->operands[1]);
}

static ir_var move_descriptor(const struct ir_binding *x, bool destination) {
  const struct permute_operands at = permute_operands((enum opcode)x->op);
  return x->operands[destination ? at.destination : at.source];
}

static bool has_one_segment(const struct copies *c, ir_var d) {
  return sizes_known(c->sizes, c->function, d, SIZE_COUNT) == 1;
}

/* Returns whether fusion does better: the values are computed, and written as one run. */
static bool is_computed_there(const struct copies *c, const struct ir_binding *x) {
  const struct ir_binding *values = c->definitions[x->operands[0]];
  enum superop_role role;
  return values && values->form == IR_OP && superop_access(values->op, &role) &&
         role == ROLE_MAP && has_one_segment(c, move_descriptor(x, false)) &&
         has_one_segment(c, move_descriptor(x, true));
}

static bool is_run_scatter(const struct copies *c, const struct ir_binding *x) {
  return is_scatter_by_runs(c, x) && !is_computed_there(c, x);
}

/* ---- which move together ---- */

struct gathering {
  struct block_copies *b;
  struct copies_move moves[COPIES_MOST];
  uint32_t count;
  uint32_t least; /* the position of a move, at least */
};

static bool move_may_fail(const struct copies *c, const struct ir_binding *x) {
  return binding_effects(&c->calls, x) != 0 &&
         !(x->form == IR_OP && sizes_safe(c->sizes, c->function, x));
}

/* The binding of this block that defines v, if the only use of v is the one at hand. */
static struct ir_binding *only_use_of_own(const struct block_copies *b, ir_var v) {
  struct ir_binding *x = b->c->definitions[v];
  const bool here = x && x >= b->block->bindings && x < b->block->bindings + b->block->count;
  return here && b->c->uses[v] == 1 ? x : NULL;
}

static bool timer_between(const struct block_copies *b, uint32_t first, uint32_t last) {
  for (uint32_t i = first + 1; i < last; i++) {
    if (binding_effects(&b->c->calls, &b->block->bindings[i]) & EFFECT_TIMER) return true;
  }
  return false;
}

static void gather_moves(struct gathering *g, struct ir_binding *x);

/* Adds the move that defines v, with those that it needs, if it is one that may move. */
static void gather_from(struct gathering *g, ir_var v, bool gathers) {
  const struct block_copies *b = g->b;
  struct ir_binding *x = only_use_of_own(b, v);
  const uint32_t at = x ? (uint32_t)(x - b->block->bindings) : 0;
  if (!x || g->count == COPIES_MOST || at < g->least || b->fates[at] != STAYS) return;
  const bool moves = is_run_scatter(b->c, x) || (gathers && is_op_of(x, OPC_BPERMUTE) &&
                                                 copies_by_runs(b->c, x->operands[1]));
  if (!moves || !sizes_agree(b->c->sizes, b->c->function, x)) return;
  if (timer_between(b, at, g->moves[0].at)) return;
  gather_moves(g, x);
}

static void gather_moves(struct gathering *g, struct ir_binding *x) {
  const uint32_t at = (uint32_t)(x - g->b->block->bindings);
  g->moves[g->count++] = (struct copies_move){x, at, move_may_fail(g->b->c, x)};
  if (x->op == OPC_BPERMUTE) return;
  gather_from(g, x->operands[0], true);
  if (x->op == OPC_DPERMUTE && !is_op_of(g->b->c->definitions[x->operands[2]], OPC_PERMUTE))
    gather_from(g, x->operands[2], false);
}

static int moves_by_position(const void *a, const void *b) {
  const uint32_t x = ((const struct copies_move *)a)->at,
                 y = ((const struct copies_move *)b)->at;
  return (x > y) - (x < y);
}

static bool is_gathered(const struct gathering *g, uint32_t at) {
  for (uint32_t i = 0; i < g->count; i++) {
    if (g->moves[i].at == at) return true;
  }
  return false;
}

/* Returns how many of the moves are followed, before the last move, by something else that may
 * fail. The moves are in order. */
static uint32_t to_check(const struct gathering *g) {
  const struct ir_binding *bindings = g->b->block->bindings;
  uint32_t i = g->moves[g->count - 1].at, n = g->count - 1;
  while (i-- > g->moves[0].at) {
    if (!is_gathered(g, i) && move_may_fail(g->b->c, &bindings[i])) break;
  }
  while (n > 0 && g->moves[n - 1].at > i) n--;
  return n;
}

/* Returns whether the first `count` moves can be checked where they are: only gathers can. The
 * check of a scatter would need values there that move away. If not, *least is behind the last
 * that cannot. */
static bool can_check(const struct gathering *g, uint32_t count, uint32_t *least) {
  while (count-- > 0) {
    const struct copies_move *m = &g->moves[count];
    *least = m->at + 1;
    if (m->checked && m->x->op != OPC_BPERMUTE) return false;
  }
  return true;
}

/* Finds the moves that end with x, in order. *stay of them are to be checked where they are. */
static void find_moves_to(struct gathering *g, struct ir_binding *x, uint32_t *stay) {
  uint32_t least = 0;
  do {
    g->count = 0;
    g->least = least;
    gather_moves(g, x);
    qsort(g->moves, g->count, sizeof *g->moves, moves_by_position);
    *stay = to_check(g);
  } while (!can_check(g, *stay, &least));
}

/* Decides the fates of the moves that end with x. */
static void end_moves_with(struct block_copies *b, struct ir_binding *x) {
  struct gathering g = {.b = b};
  uint32_t stay;
  find_moves_to(&g, x, &stay);
  if (g.count < 2) return;
  for (uint32_t i = 0; i + 1 < g.count; i++) {
    const bool checked = i < stay && g.moves[i].checked;
    b->fates[g.moves[i].at] = checked ? MOVES_CHECKED : MOVES;
    if (checked) g.moves[i].checked = false;
  }
  const uint32_t last = g.moves[g.count - 1].at;
  b->fates[last] = ENDS;
  b->results[last] = copies_build(b->c, g.moves, g.count);
}

/* ---- blocks ---- */

static void rewrite_moves(struct block_copies *b) {
  struct rewrite_block out = {0};
  for (uint32_t i = 0; i < b->block->count; i++) {
    struct ir_binding *x = &b->block->bindings[i], check;
    switch ((enum fate)b->fates[i]) {
    case STAYS: rewrite_append(b->c->o, &out, x); break;
    case MOVES: break;
    case MOVES_CHECKED:
      check = copies_check(b->c, x);
      rewrite_append(b->c->o, &out, &check);
      break;
    case ENDS: rewrite_append(b->c->o, &out, &b->results[i]); break;
    }
  }
  rewrite_finish(b->block, &out);
}

static bool copies_of_block(struct copies *c, struct ir_block *block) {
  struct arena *scratch = c->o->scratch;
  struct block_copies b = {c, block, arena_alloc(scratch, block->count),
                           arena_alloc(scratch, block->count * sizeof *b.results)};
  bool changed = false, inside = false;
  for (uint32_t i = block->count; i-- > 0;) {
    struct ir_binding *x = &block->bindings[i];
    if (x->form == IR_IF) {
      inside |= copies_of_block(c, x->as.arms.then);
      inside |= copies_of_block(c, x->as.arms.otherwise);
    }
    if (b.fates[i] != STAYS || !is_run_scatter(c, x)) continue;
    end_moves_with(&b, x);
    changed |= b.fates[i] == ENDS;
  }
  if (changed) rewrite_moves(&b);
  return changed || inside;
}

bool pass_copies(struct opt *o) {
  struct copies c = {.o = o, .sizes = sizes_compute(o), .calls = calls_make(o)};
  bool changed = false;
  for (c.function = 0; c.function < o->program->function_count; c.function++) {
    c.f = &o->program->functions[c.function];
    if (!c.f->typed || !c.calls.reachable[c.function]) continue;
    c.explain = c.calls.called[c.function] ? o->explain : NULL;
    c.definitions = ir_definitions(o->scratch, c.f);
    c.uses = ir_count_uses(o->scratch, c.f);
    changed |= copies_of_block(&c, c.f->body);
  }
  return changed;
}
