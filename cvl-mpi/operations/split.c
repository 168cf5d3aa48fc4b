/* split.c - superoperators in steps. A step is a superoperator made of some of the nodes.
 * Nodes keep their distances, so that faults have the same sites; unused constants fill the
 * gaps.
 */
#include "cvl-mpi/operations/split.h"

#include <stdlib.h>
#include <string.h>

#include "cvl-mpi/operations/operations.h"
#include "cvl-mpi/operations/superops.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"

struct step {
  struct superop op;
  struct cvl_kernel *kernel; /* NULL: executed node by node, on this back end */
  uint32_t first;            /* the node of the whole that is its node 0 */
  uint32_t *in, *out;        /* the values of the whole that are its parameters and outputs */
  bool pieces; /* its last parameter is the descriptor of reductions by pieces (superops.h) */
  bool *last;  /* for each parameter: no later step has it, and it is no output */
};

struct split {
  const struct superop *op;
  struct heap heap;
  struct arena arena;
  uint32_t count;
  struct step *steps;
};

/* ---- assignment of nodes to steps ---- */

/* A stage has the nodes that communicate, one by one, and then the others as one step. Nodes
 * that may fail stay in their order: a rank whose values are poisoned would not find the fault
 * of an earlier node. */
struct plan {
  const struct superop *op;
  enum split_at at;
  bool pieces;       /* reductions have their own descriptor (mpi_prepare_step) */
  uint32_t *node_of; /* for each value the node that computes it; SUPEROP_NONE: a parameter */
  uint32_t *stage;   /* for each node; SUPEROP_NONE: no stage */
  uint32_t stages;
  uint32_t failing; /* the last node so far that may fail, or SUPEROP_NONE */
};

/* Returns the role of a node; for a node of a combination the role of its consumers. */
static enum superop_role role_at(const struct superop *op, uint32_t node) {
  if (op->nodes[node].role != ROLE_COLUMN) return (enum superop_role)op->nodes[node].role;
  while (node > 0 && op->nodes[node - 1].role == ROLE_COLUMN) node--;
  return (enum superop_role)op->nodes[superop_combination_at(op, node).ends].role;
}

static bool is_alone(const struct plan *p, uint32_t node) {
  const bool is_long = p->at == SPLIT_AT_LONG_SEGMENTS;
  switch (role_at(p->op, node)) {
  case ROLE_GATHER: return !is_long;
  case ROLE_PICK:
  case ROLE_SCATTER:
  case ROLE_COMBINE_SCATTER: return true;
  case ROLE_REDUCE: return is_long && !p->pieces;
  case ROLE_COMBINE_REDUCE:
  case ROLE_COMBINE_SCAN:
  case ROLE_SCAN: return is_long;
  default: return false;
  }
}

static bool has_role(const struct superop *op, enum superop_role role) {
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (op->nodes[k].role == role) return true;
  }
  return false;
}

/* Returns whether each step that wants a node has its own copy: constants, and vectors of one
 * constant. */
static bool split_is_copied(const struct plan *p, uint32_t node) {
  const struct superop_node *of = &p->op->nodes[node];
  if (of->role == ROLE_CONST) return true;
  if (of->role != ROLE_SPREAD) return false;
  const uint32_t operand = p->node_of[of->operands[0]];
  return operand != SUPEROP_NONE && p->op->nodes[operand].role == ROLE_CONST;
}

static bool split_is_output(const struct superop *op, uint32_t value) {
  return op->last_use[value] == op->node_count;
}

/* Returns the node behind the loop or combination that begins here; else the next node. */
static uint32_t unit_end(const struct superop *op, uint32_t first) {
  if (op->nodes[first].role == ROLE_CARRY) return superop_loop_at(op, first).last + 1;
  if (op->nodes[first].role != ROLE_COLUMN) return first + 1;
  const struct superop_combination of = superop_combination_at(op, first);
  return of.ends + of.count;
}

/* Returns whether a node may fail, or would without an ASSERT before it, which proves its
 * conditions. */
static bool may_fail(const struct superop_node *node) {
  return superop_may_fail(node) || node->role == ROLE_ASSERT;
}

/* Returns the first stage that a node behind this one may have, executed alone or not. */
static uint32_t split_behind(const struct plan *p, uint32_t node, bool alone) {
  return node == SUPEROP_NONE ? 0 : p->stage[node] + (alone && !is_alone(p, node));
}

/* Returns the first stage in which the operands of nodes first .. end are available. */
static uint32_t split_stage_of(struct plan *p, uint32_t first, uint32_t end) {
  const bool alone = is_alone(p, first);
  uint32_t stage = 0;
  for (uint32_t k = first; k < end; k++) {
    const struct superop_node *node = &p->op->nodes[k];
    uint32_t there = may_fail(node) ? split_behind(p, p->failing, alone) : 0;
    if (there > stage) stage = there;
    for (uint32_t i = 0; i < node->operand_count; i++) {
      const uint32_t from = p->node_of[node->operands[i]];
      if (from == SUPEROP_NONE || from >= first || split_is_copied(p, from)) continue;
      there = split_behind(p, from, alone);
      if (there > stage) stage = there;
    }
  }
  return stage;
}

static void split_find_stages(struct plan *p) {
  const struct superop *op = p->op;
  for (uint32_t k = 0; k < op->node_count;) {
    const uint32_t end = unit_end(op, k), result = op->nodes[k].result;
    const bool none = split_is_copied(p, k) && !split_is_output(op, result);
    const uint32_t stage = none ? SUPEROP_NONE : split_stage_of(p, k, end);
    if (!none && stage >= p->stages) p->stages = stage + 1;
    for (; k < end; k++) {
      p->stage[k] = stage;
      if (may_fail(&op->nodes[k])) p->failing = k;
    }
  }
}

static struct plan plan_new(struct cvl_context *c, const struct superop *op, enum split_at at) {
  struct plan p = {.op = op, .at = at, .failing = SUPEROP_NONE};
  p.pieces = at == SPLIT_AT_LONG_SEGMENTS && !has_role(op, ROLE_PACK);
  p.node_of = mpi_alloc(c, (op->value_count + 1) * sizeof *p.node_of);
  p.stage = mpi_alloc(c, (op->node_count + 1) * sizeof *p.stage);
  for (uint32_t v = 0; v < op->param_count; v++) p.node_of[v] = SUPEROP_NONE;
  for (uint32_t k = 0; k < op->node_count; k++) {
    for (uint32_t i = 0; i < op->nodes[k].result_count; i++)
      p.node_of[op->nodes[k].result + i] = k;
  }
  split_find_stages(&p);
  return p;
}

/* ---- a step ---- */

struct draft {
  struct cvl_context *c;
  struct split *s;
  const struct plan *p;
  bool *own, *with; /* for each node: it belongs to this step; it does, or is copied for it */
  uint32_t first, end; /* the range of the nodes in `with` */
  uint32_t *number_of; /* for each value its number in this step; SUPEROP_NONE: not there */
  uint32_t params, own_count;
  uint32_t pieces; /* number of a parameter, or SUPEROP_NONE */
};

/* Adds node k and those that are copied for it. */
static void include(struct draft *d, uint32_t k) {
  const struct superop_node *node = &d->p->op->nodes[k];
  d->with[k] = true;
  if (k < d->first) d->first = k;
  if (k >= d->end) d->end = k + 1;
  for (uint32_t i = 0; i < node->operand_count; i++) {
    const uint32_t from = d->p->node_of[node->operands[i]];
    if (from != SUPEROP_NONE && split_is_copied(d->p, from)) include(d, from);
  }
}

static void include_own(struct draft *d, uint32_t k) {
  d->own[k] = true;
  d->own_count += !split_is_copied(d->p, k);
  include(d, k);
}

static bool split_is_reduction(const struct superop_node *node) {
  return node->role == ROLE_REDUCE || node->role == ROLE_COMBINE_REDUCE;
}

static bool split_reduces(const struct draft *d) {
  for (uint32_t k = d->first; k < d->end; k++) {
    if (d->own[k] && split_is_reduction(&d->p->op->nodes[k])) return true;
  }
  return false;
}

/* Makes parameters of the values that other steps compute, in the order of their numbers; and
 * another one of the descriptor of reductions. */
static void find_params(struct draft *d, struct step *step) {
  const struct superop *op = d->p->op;
  uint8_t *kinds = arena_alloc(&d->s->arena, op->value_count + 1);
  bool *wanted = mpi_alloc(d->c, op->value_count + 1);
  step->in = arena_alloc(&d->s->arena, (op->value_count + 1) * sizeof *step->in);
  for (uint32_t k = d->first; k < d->end; k++) {
    for (uint32_t i = 0; d->with[k] && i < op->nodes[k].operand_count; i++)
      wanted[op->nodes[k].operands[i]] = true;
  }
  for (uint32_t v = 0; v < op->value_count; v++) {
    const uint32_t from = d->p->node_of[v];
    d->number_of[v] = SUPEROP_NONE;
    if (!wanted[v] || (from != SUPEROP_NONE && d->with[from])) continue;
    kinds[d->params] = op->kinds[v];
    step->in[d->params] = v;
    d->number_of[v] = d->params++;
  }
  if (d->p->pieces && split_reduces(d)) {
    kinds[d->params] = SUPEROP_SEGDES;
    step->in[d->params] = op->segments;
    d->pieces = d->params++;
  }
  step->op.params = kinds;
  step->op.param_count = d->params;
  free(wanted);
}

/* Returns a constant that nobody uses. */
static struct superop_node filler(const struct cvl_context *c) {
  return (struct superop_node){
      .op = OPC_CONST, .type = TW_INT, .constant = cvl_scalar_int(c->int_elem, 0), .pos = {0}};
}

static void copy_nodes(struct draft *d, struct step *step) {
  const struct superop *op = d->p->op;
  uint32_t next = d->params;
  step->first = d->first;
  step->op.node_count = d->end - d->first;
  step->op.nodes = arena_alloc(&d->s->arena, step->op.node_count * sizeof *step->op.nodes);
  for (uint32_t k = d->first; k < d->end; k++) {
    const struct superop_node *from = &op->nodes[k];
    struct superop_node *to = &step->op.nodes[k - d->first];
    *to = d->with[k] ? *from : filler(d->c);
    for (uint32_t i = 0; i < to->operand_count; i++)
      to->operands[i] = d->number_of[from->operands[i]];
    if (d->pieces != SUPEROP_NONE && d->with[k] && split_is_reduction(from))
      to->operands[to->operand_count - 1] = d->pieces;
    const uint32_t results = d->with[k] ? from->result_count : 1;
    for (uint32_t i = 0; d->with[k] && i < results; i++)
      d->number_of[from->result + i] = next + i;
    next += results;
  }
}

/* Returns whether a value is an output, or an operand of a node of another step. */
static bool split_is_wanted(const struct draft *d, uint32_t value) {
  const struct superop *op = d->p->op;
  if (split_is_output(op, value)) return true;
  for (uint32_t k = 0; k < op->node_count; k++) {
    for (uint32_t i = 0; !d->own[k] && i < op->nodes[k].operand_count; i++) {
      if (op->nodes[k].operands[i] == value) return true;
    }
  }
  return false;
}

static void split_add_output(struct draft *d, struct step *step, uint32_t *numbers,
                             uint32_t value) {
  numbers[step->op.output_count] = d->number_of[value];
  step->out[step->op.output_count++] = value;
}

/* Finds the outputs. A step whose results nobody wants is executed, too, since it may fail. It
 * gets some output, since a superoperator must have one. */
static void find_outputs(struct draft *d, struct step *step) {
  const struct superop *op = d->p->op;
  uint32_t *numbers = arena_alloc(&d->s->arena, (op->value_count + 1) * sizeof *numbers);
  step->out = arena_alloc(&d->s->arena, (op->value_count + 1) * sizeof *step->out);
  uint32_t some = SUPEROP_NONE;
  for (uint32_t k = d->first; k < d->end; k++) {
    const struct superop_node *node = &op->nodes[k];
    for (uint32_t i = 0; d->own[k] && i < node->result_count; i++) {
      if (node->role != ROLE_CARRY && node->role != ROLE_COLUMN) some = node->result + i;
      /* A combination gives all columns, since further combinations need them. */
      const bool column = node->role == ROLE_COMBINE_REDUCE && d->pieces != SUPEROP_NONE;
      if (column || split_is_wanted(d, node->result + i))
        split_add_output(d, step, numbers, node->result + i);
    }
  }
  if (step->op.output_count == 0 && some != SUPEROP_NONE)
    split_add_output(d, step, numbers, some);
  step->op.outputs = numbers;
}

/* Adds a step of the nodes that d owns. Returns false if they cannot be a superoperator. */
static bool add_step(struct draft *d, bool alone) {
  struct step *step = &d->s->steps[d->s->count];
  const char *why;
  uint32_t node;
  *step = (struct step){.op = {.number = d->p->op->number}};
  find_params(d, step);
  copy_nodes(d, step);
  find_outputs(d, step);
  d->s->count++;
  if (!superop_complete(&d->s->arena, &step->op, &why, &node)) {
    if (!why) mpi_no_memory(d->c);
    return false;
  }
  const bool combines =
      alone && (d->pieces != SUPEROP_NONE || has_role(&step->op, ROLE_COMBINE_SCAN));
  if (combines || (!alone && d->own_count > 1))
    step->kernel = mpi_prepare_step(d->c, &step->op, d->pieces);
  step->pieces = d->pieces != SUPEROP_NONE;
  return true;
}

static void draft_clear(struct draft *d) {
  memset(d->own, 0, d->p->op->node_count);
  memset(d->with, 0, d->p->op->node_count);
  d->first = d->p->op->node_count;
  d->end = d->params = d->own_count = 0;
  d->pieces = SUPEROP_NONE;
}

static bool add_alone(struct draft *d, uint32_t stage) {
  const struct superop *op = d->p->op;
  for (uint32_t k = 0, end; k < op->node_count; k = end) {
    end = unit_end(op, k);
    if (d->p->stage[k] != stage || !is_alone(d->p, k)) continue;
    draft_clear(d);
    for (uint32_t i = k; i < end; i++) include_own(d, i);
    if (!add_step(d, true)) return false;
  }
  return true;
}

static bool add_fused(struct draft *d, uint32_t stage) {
  const struct superop *op = d->p->op;
  draft_clear(d);
  for (uint32_t k = 0, end; k < op->node_count; k = end) {
    end = unit_end(op, k);
    for (uint32_t i = k; d->p->stage[k] == stage && !is_alone(d->p, k) && i < end; i++)
      include_own(d, i);
  }
  return d->end == 0 || add_step(d, false);
}

static bool add_steps(struct cvl_context *c, struct split *s, const struct plan *p) {
  struct draft d = {.c = c, .s = s, .p = p};
  d.own = mpi_alloc(c, p->op->node_count + 1);
  d.with = mpi_alloc(c, p->op->node_count + 1);
  d.number_of = mpi_alloc(c, (p->op->value_count + 1) * sizeof *d.number_of);
  bool good = true;
  for (uint32_t stage = 0; good && stage < p->stages; stage++)
    good = add_alone(&d, stage) && add_fused(&d, stage);
  free(d.own);
  free(d.with);
  free(d.number_of);
  return good;
}

/* ---- all steps ---- */

static void find_last(struct cvl_context *c, struct split *s) {
  bool *later = mpi_alloc(c, s->op->value_count + 1);
  for (uint32_t k = s->count; k-- > 0;) {
    struct step *step = &s->steps[k];
    step->last = arena_alloc(&s->arena, step->op.param_count + 1);
    for (uint32_t i = 0; i < step->op.param_count; i++) {
      step->last[i] = !later[step->in[i]] && !split_is_output(s->op, step->in[i]);
      later[step->in[i]] = true;
    }
  }
  free(later);
}

/* Returns whether nodes are fused that would not be otherwise: in one of several steps, or by
 * pieces. */
static bool is_gain(const struct split *s) {
  for (uint32_t k = 0; k < s->count; k++) {
    if (s->steps[k].kernel && (s->count > 1 || s->steps[k].pieces)) return true;
  }
  return false;
}

void split_free(struct cvl_context *c, struct split *s) {
  if (!s) return;
  for (uint32_t k = 0; k < s->count; k++) {
    if (s->steps[k].kernel) mpi_discard_step(c, s->steps[k].kernel);
  }
  arena_free(&s->arena);
  free(s->steps);
  free(s);
}

/* Returns whether some node must be executed by itself. */
static bool any_to_split(const struct superop *op, enum split_at at) {
  const struct plan p = {.op = op, .at = at};
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (is_alone(&p, k)) return true;
  }
  return false;
}

struct split *split_new(struct cvl_context *c, const struct superop *op, enum split_at at) {
  if (op->copies || !any_to_split(op, at)) return NULL;
  struct plan p = plan_new(c, op, at);
  struct split *s = mpi_alloc(c, sizeof *s);
  s->op = op;
  heap_init(&s->heap, 0);
  arena_init(&s->arena, &s->heap);
  s->steps = mpi_alloc(c, (op->node_count + p.stages + 1) * sizeof *s->steps);
  const bool good = add_steps(c, s, &p) && is_gain(s);
  free(p.node_of);
  free(p.stage);
  if (good) {
    find_last(c, s);
    return s;
  }
  split_free(c, s);
  return NULL;
}

bool split_is_one(const struct split *s) {
  const struct cvl_kernel *only = s->count == 1 ? s->steps[0].kernel : NULL;
  return only && !mpi_split(only, SPLIT_AT_EXCHANGES) &&
         !mpi_split(only, SPLIT_AT_LONG_SEGMENTS);
}

/* ---- printing ---- */

/* Constants are not printed, since each step has its own copies. */
static void print_nodes(FILE *file, const struct step *step, const char **before) {
  for (uint32_t k = 0; k < step->op.node_count; k++) {
    const struct superop_node *node = &step->op.nodes[k];
    if (node->role == ROLE_CONST || node->role == ROLE_COLUMN) continue;
    fprintf(file, "%s%s", *before, superop_info(node->op)->spelling);
    *before = ", ";
  }
}

static void print_steps(FILE *file, const struct cvl_kernel *kernel, const char **before) {
  for (unsigned at = 0; at < SPLIT_KINDS; at++) {
    const struct split *s = mpi_split(kernel, (enum split_at)at);
    for (uint32_t k = 0; s && k < s->count; k++) {
      const struct step *step = &s->steps[k];
      if (step->kernel) {
        print_steps(file, step->kernel, before);
      } else {
        print_nodes(file, step, before);
      }
    }
  }
}

void split_print(FILE *file, const struct cvl_kernel *kernel) {
  const char *before = ": ";
  print_steps(file, kernel, &before);
}

/* ---- a run ---- */

/* Values of the whole; for each whether a reference is to be released, and whether it is kept
 * from steps that would take it. */
struct held {
  struct cvl_value *value;
  bool *mine, *kept;
};

/* Returns whether an object is an operand twice; then its reference is kept to the end. */
static bool occurs_twice(const struct superop *op, const struct cvl_value *operands,
                         uint32_t p) {
  const struct cvl_value *v = &operands[p];
  for (uint32_t q = 0; q < op->param_count; q++) {
    const struct cvl_value *w = &operands[q];
    if (q == p || v->form != w->form) continue;
    if (v->form == CVL_VECTOR && v->as.vector == w->as.vector) return true;
    if (v->form == CVL_SEGDES && v->as.segdes == w->as.segdes) return true;
  }
  return false;
}

static bool run_step(struct cvl_context *c, uint64_t site, const struct step *step,
                     struct held *h) {
  struct cvl_value *in = mpi_alloc(c, (step->op.param_count + 1) * sizeof *in);
  struct cvl_value *out = mpi_alloc(c, (step->op.output_count + 1) * sizeof *out);
  for (uint32_t i = 0; i < step->op.param_count; i++) {
    const uint32_t v = step->in[i];
    in[i] = h->value[v];
    in[i].owned = h->mine[v] && !h->kept[v] && step->last[i];
    if (in[i].owned) h->mine[v] = false;
  }
  const uint64_t at = site + step->first;
  const bool good = step->kernel ? mpi_run(c, at, step->kernel, in, out)
                                 : superop_run(c->table, c, at, &step->op, &c->stop, in, out);
  for (uint32_t i = 0; good && i < step->op.output_count; i++) {
    h->value[step->out[i]] = out[i];
    h->mine[step->out[i]] = true;
  }
  free(in);
  free(out);
  return good;
}

bool split_run(struct cvl_context *c, uint64_t site, const struct split *s,
               const struct cvl_value *operands, struct cvl_value *outs) {
  const struct superop *op = s->op;
  struct held h = {mpi_alloc(c, (op->value_count + 1) * sizeof *h.value),
                   mpi_alloc(c, op->value_count + 1), mpi_alloc(c, op->value_count + 1)};
  bool good = true;
  for (uint32_t p = 0; p < op->param_count; p++) {
    h.value[p] = operands[p];
    h.mine[p] = operands[p].owned;
    h.kept[p] = operands[p].owned && occurs_twice(op, operands, p);
  }
  const uint64_t before = c->faults_before;
  c->faults_before = c->faults;
  for (uint32_t k = 0; good && k < s->count; k++) good = run_step(c, site, &s->steps[k], &h);
  c->faults_before = before;
  for (uint32_t i = 0; good && i < op->output_count; i++) {
    outs[i] = h.value[op->outputs[i]];
    outs[i].owned = 0;
    h.mine[op->outputs[i]] = false;
  }
  for (uint32_t v = 0; v < op->value_count; v++) {
    if (h.mine[v]) mpi_release(c, &h.value[v]);
  }
  free(h.value);
  free(h.mine);
  free(h.kept);
  return good;
}
