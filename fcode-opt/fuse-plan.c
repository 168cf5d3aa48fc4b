/* fuse-plan.c - stages and groups of a block, and recomputation: see fuse.h. */
#include "fcode-opt/fuse.h"
#include "ir/dead.h"

#include <string.h>

/* ---- roles and effects of bindings ---- */

struct fuse_unit *fuse_definition(const struct fuse_block *b, ir_var v) {
  const struct fuse *fuse = b->fuse;
  if (!fuse->definitions[v] || fuse->blocks[v] != b->number) return NULL;
  return &b->list[fuse->units[v]];
}

static uint32_t domain_of_unit(const struct fuse_block *b, const struct fuse_unit *u) {
  const struct fuse *fuse = b->fuse;
  ir_var v = fuse_domain(fuse->o->program, u->x, (enum superop_role)u->role);
  return sizes_assumed(fuse->sizes, fuse->function, v, SIZE_LEN);
}

/* Returns whether its vectors are known to have one element: the plain operation is cheaper. */
static bool is_scalar_unit(const struct fuse_block *b, const struct fuse_unit *u) {
  const struct fuse *fuse = b->fuse;
  ir_var v = fuse_domain(fuse->o->program, u->x, (enum superop_role)u->role);
  return sizes_known(fuse->sizes, fuse->function, v, SIZE_LEN) == 1;
}

/* Returns whether the safety of a safe binding depends on a check. */
static bool depends_on_check(const struct fuse *fuse, const struct ir_binding *x) {
  if (x->form == IR_OP || x->form == IR_FUSED)
    return !binding_never_fails(x) && sizes_depend_on_check(fuse->sizes, fuse->function, x);
  return x->form != IR_CONST;
}

static void classify_unit(struct fuse_block *b, struct fuse_unit *u) {
  struct fuse *fuse = b->fuse;
  const struct ir_binding *x = u->x;
  if (x->form != IR_IF) { /* the effects of an IF are those of its arms, see fuse_arms */
    u->effects = binding_effects(&fuse->calls, x);
    if (u->effects == EFFECT_ENDS && (x->form == IR_OP || x->form == IR_FUSED) &&
        sizes_safe(fuse->sizes, fuse->function, x))
      u->effects = 0;
  }
  u->ordered = u->effects != 0;
  u->conditional = !u->ordered && depends_on_check(fuse, x);
  u->group = NO_GROUP;
  enum superop_role role = ROLE_CONST;
  u->access = fuse_form(fuse->o->scratch, fuse->o->program, x, &role);
  u->role = (uint8_t)role;
  if (!u->access) return;
  if (is_scalar_unit(b, u)) {
    u->access = NULL;
    return;
  }
  u->domain = domain_of_unit(b, u);
}

/* ---- stages ---- */

struct planner {
  struct fuse_block *b;
  uint32_t at;      /* the unit */
  uint32_t base;    /* the least stage after the last timer */
  uint32_t highest; /* highest stage so far */
  uint32_t epoch;
  uint32_t ordered_before; /* the last ordered unit, or NO_UNIT */
};

/* Is called for each unit that must precede this one; `together`: one group may hold both. */
typedef void (*visit_dependency)(struct planner *, const struct fuse_unit *before,
                                 bool together, void *context);

static void each_dependency(struct planner *p, visit_dependency visit, void *context) {
  struct fuse_unit *u = &p->b->list[p->at];
  for (uint32_t i = 0; i < u->x->operand_count; i++) {
    const struct fuse_unit *def = fuse_definition(p->b, u->x->operands[i]);
    if (def) visit(p, def, fuse_elementwise(def, u, fuse_access(u, i)), context);
  }
  for (uint32_t i = 0; i < u->free_count; i++) {
    const struct fuse_unit *def = fuse_definition(p->b, u->free[i]);
    if (def) visit(p, def, false, context);
  }
  if (u->ordered_before == NO_UNIT) return;
  const struct fuse_unit *before = &p->b->list[u->ordered_before];
  visit(p, before, before->access && u->access && before->domain == u->domain, context);
}

static void raise_stage(struct planner *p, const struct fuse_unit *before, bool together,
                        void *context) {
  (void)p;
  uint32_t *stage = context;
  uint32_t least = before->stage + (before->access && !together);
  if (least > *stage) *stage = least;
}

struct fit {
  uint32_t stage, group;
  bool fine;
};

/* A unit joins a group of this stage only if its operands of the same stage are in that group.
 */
static void check_fit(struct planner *p, const struct fuse_unit *before, bool together,
                      void *context) {
  (void)p;
  struct fit *fit = context;
  if (together && before->stage == fit->stage && before->group != fit->group) fit->fine = false;
}

/* Returns the descriptor of a reduction, scan or pack, or IR_NO_VAR. */
static ir_var segments_of_unit(const struct fuse_unit *u) {
  for (uint32_t i = 0; i < u->x->operand_count; i++) {
    if (fuse_access(u, i) == 'S') return u->x->operands[i];
  }
  return IR_NO_VAR;
}

/* Returns whether operand i is a parameter of the superoperator unless a member computes it. */
static bool is_unit_param(const struct fuse_block *b, const struct fuse_unit *u, uint32_t i) {
  return fuse_access(u, i) != 'c' || !fuse_constant(b->fuse, u->x->operands[i]);
}

static bool accepts(const struct fuse_block *b, uint32_t group, const struct fuse_unit *u) {
  const struct fuse_group *g = &b->groups.items[group];
  if (g->own > 0 && g->own + fuse_nodes(b->fuse->o->program, u->x) > FUSE_NODES_OWN)
    return false;
  ir_var segments = segments_of_unit(u);
  if (segments != IR_NO_VAR && g->segments != IR_NO_VAR && g->segments != segments)
    return false;
  uint32_t more = 0;
  for (uint32_t i = 0; i < u->x->operand_count; i++)
    more += is_unit_param(b, u, i) && !map_get(&b->inside, map_pair(group, u->x->operands[i]));
  return g->params + more <= FUSE_PARAMS_MOST;
}

/* Notes that v is computed or read in the group; returns false if that was known. */
static bool note_inside(struct fuse_block *b, uint32_t group, ir_var v) {
  uint32_t *inside = map_at(&b->inside, map_pair(group, v));
  const bool added = *inside == 0;
  *inside = 1;
  return added;
}

static void join_group(struct fuse_block *b, uint32_t group, struct fuse_unit *u) {
  struct fuse_group *g = &b->groups.items[group];
  u->group = group;
  u->stage = g->stage;
  g->own += fuse_nodes(b->fuse->o->program, u->x);
  ir_var segments = segments_of_unit(u);
  if (segments != IR_NO_VAR) g->segments = segments;
  for (uint32_t i = 0; i < u->x->operand_count; i++) {
    if (note_inside(b, group, u->x->operands[i]) && is_unit_param(b, u, i)) g->params++;
  }
  for (uint32_t i = 0; i < u->x->result_count; i++) note_inside(b, group, u->x->results[i]);
}

static void assign_group(struct planner *p, uint32_t least) {
  struct fuse_block *b = p->b;
  struct fuse_unit *u = &b->list[p->at];
  for (uint32_t stage = least;; stage++) {
    uint32_t *group = map_at(&b->group_at, map_pair(stage, u->domain)); /* plus 1; 0: none */
    struct fit fit = {stage, *group ? *group - 1 : NO_GROUP, true};
    each_dependency(p, check_fit, &fit);
    if (!fit.fine || (*group && !accepts(b, *group - 1, u))) continue;
    if (!*group) {
      *array_push(b->fuse->o->scratch, &b->groups) =
          (struct fuse_group){.stage = stage, .segments = IR_NO_VAR};
      *group = (uint32_t)b->groups.count;
    }
    join_group(b, *group - 1, u);
    return;
  }
}

#define ALONE UINT32_MAX /* a group that has nothing */

/* Returns the cost of computing u in the group, which may have some of its operands. */
static double cost_in(const struct fuse_block *b, uint32_t group, const struct fuse_unit *u) {
  double cost = fuse_work(b->fuse, u->x);
  for (uint32_t i = 0; i < u->x->operand_count; i++) {
    ir_var v = u->x->operands[i];
    if (fuse_access(u, i) != 'd' || map_get(&b->inside, map_pair(group, v))) continue;
    const struct fuse_unit *def = fuse_definition(b, v);
    double read = fuse_bytes(b->fuse, v);
    cost += def && fuse_elementwise(def, u, 'd') && def->cost < read ? def->cost : read;
  }
  return cost;
}

static void assign_stage(struct planner *p) {
  struct fuse_block *b = p->b;
  struct fuse_unit *u = &b->list[p->at];
  u->epoch = p->epoch;
  u->ordered_before = u->ordered || u->conditional ? p->ordered_before : NO_UNIT;
  uint32_t stage = p->base;
  each_dependency(p, raise_stage, &stage);
  if (u->effects & EFFECT_TIMER) {
    u->stage = p->base = p->highest + 1;
    u->epoch = ++p->epoch;
    p->epoch++;
    p->ordered_before = NO_UNIT; /* no unit moves across the timer */
    p->highest = p->base;
    return;
  }
  if (u->access) {
    assign_group(p, stage);
    if (u->x->result_count > 0)
      u->cost = u->ordered ? fuse_bytes(b->fuse, u->x->results[0]) : cost_in(b, ALONE, u);
  } else {
    u->stage = stage;
  }
  if (u->stage > p->highest) p->highest = u->stage;
  if (u->ordered) p->ordered_before = p->at;
}

/* ---- recomputation ---- */

static void want_in_memory(struct fuse_block *b, ir_var v) {
  b->wanted[v] = true;
}

static void group_add_member(struct fuse_block *b, uint32_t group, struct ir_binding *x,
                             uint32_t unit) {
  *array_push(b->fuse->o->scratch, &b->groups.items[group].members) =
      (struct fuse_member){x, unit};
  for (uint32_t i = 0; i < x->result_count; i++) note_inside(b, group, x->results[i]);
}

/* Notes that member `user` of the group has an elementwise use of v. */
static void need_in_group(struct fuse_block *b, uint32_t group, const struct fuse_unit *user,
                          ir_var v) {
  struct fuse *fuse = b->fuse;
  struct fuse_unit *def = fuse_definition(b, v);
  if (def) {
    if (!fuse_elementwise(def, user, 'd') || def->epoch != user->epoch) {
      want_in_memory(b, v);
      return;
    }
    for (uint32_t i = def->needs; i; i = b->needs.items[i - 1].next) {
      if (b->needs.items[i - 1].group == group) return;
    }
    *array_push(fuse->o->scratch, &b->needs) = (struct fuse_need){group, def->needs};
    def->needs = (uint32_t)b->needs.count;
    return;
  }
  /* A constant that is spread in an outer block is spread again in this group. */
  struct ir_binding *x = fuse->definitions[v];
  bool flat =
      x && !fuse->timers && fuse_flat(fuse, x) && sizes_safe(fuse->sizes, fuse->function, x);
  if (!flat) {
    want_in_memory(b, v);
    return;
  }
  const struct fuse_group *g = &b->groups.items[group];
  for (size_t i = 0; i < g->members.count; i++) {
    if (g->members.items[i].x == x) return;
  }
  group_add_member(b, group, x, NO_UNIT);
}

/* Notes the operands of a member of a group. */
static void use_operands(struct fuse_block *b, uint32_t group, const struct fuse_unit *u) {
  for (uint32_t i = 0; i < u->x->operand_count; i++) {
    ir_var v = u->x->operands[i];
    char access = fuse_access(u, i);
    if (access == 'd') {
      need_in_group(b, group, u, v);
    } else if (access != 'c' || !fuse_constant(b->fuse, v)) {
      want_in_memory(b, v);
    }
    note_inside(b, group, v);
  }
}

static void compute_in(struct fuse_block *b, uint32_t group, uint32_t unit) {
  struct fuse_unit *u = &b->list[unit];
  group_add_member(b, group, u->x, unit);
  use_operands(b, group, u);
}

/* Returns whether the group can take one more member that is computed again. */
static bool group_has_room(const struct fuse_block *b, uint32_t group,
                           const struct ir_binding *x) {
  return b->groups.items[group].members.count < FUSE_NODES_MOST || fuse_flat(b->fuse, x);
}

/* Decides whether a producer is written to memory by its own group or computed in each group
 * that needs it. */
static void decide_producer(struct fuse_block *b, uint32_t unit) {
  struct fuse_unit *u = &b->list[unit];
  ir_var r = u->x->results[0];
  double bytes = fuse_bytes(b->fuse, r), again = 0, memory = bytes;
  bool own = false, room = true;
  uint32_t others = 0;
  for (uint32_t i = u->needs; i; i = b->needs.items[i - 1].next) {
    uint32_t group = b->needs.items[i - 1].group;
    if (group == u->group) {
      own = true;
      continue;
    }
    others++;
    again += cost_in(b, group, u);
    memory += bytes;
    if (!group_has_room(b, group, u->x)) room = false;
  }
  if (!own) memory += u->cost;
  bool everywhere = !u->ordered && room && !b->wanted[r] && again <= memory;
  bool read = false;
  for (uint32_t i = u->needs; i; i = b->needs.items[i - 1].next) {
    uint32_t group = b->needs.items[i - 1].group;
    if (group == u->group) continue;
    bool here =
        everywhere || (!u->ordered && b->groups.items[group].members.count < FUSE_NODES_MOST &&
                       cost_in(b, group, u) < bytes);
    if (here) {
      compute_in(b, group, unit);
    } else {
      read = true;
    }
  }
  if (read) want_in_memory(b, r);
  u->stays = own || b->wanted[r] || u->ordered;
  if (u->stays) compute_in(b, u->group, unit);
}

static void decide_unit(struct fuse_block *b, uint32_t unit) {
  struct fuse_unit *u = &b->list[unit];
  if (u->access && fuse_is_producer(u->role)) {
    decide_producer(b, unit);
    return;
  }
  u->stays = u->ordered || ir_binds_any(u->x, b->wanted);
  if (!u->stays) return;
  if (u->access) {
    compute_in(b, u->group, unit);
    return;
  }
  for (uint32_t i = 0; i < u->x->operand_count; i++) want_in_memory(b, u->x->operands[i]);
  for (uint32_t i = 0; i < u->free_count; i++) want_in_memory(b, u->free[i]);
}

void fuse_plan(struct fuse_block *b) {
  struct planner p = {.b = b, .ordered_before = NO_UNIT};
  for (uint32_t i = 0; i < b->count; i++) classify_unit(b, &b->list[i]);
  for (p.at = 0; p.at < b->count; p.at++) assign_stage(&p);
  for (uint32_t i = 0; i < b->block->result_count; i++) want_in_memory(b, b->block->results[i]);
  for (uint32_t i = b->count; i-- > 0;) decide_unit(b, i);
}
