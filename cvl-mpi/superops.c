/* superops.c - superoperators: whole on each rank where operands can be brought to lie alike,
 * else in steps (split.h), or node by node.
 *
 * A parameter is of one *need*, or the superoperator is never whole: an element for each
 * position of the domain, the descriptor of such elements, or an element for each segment of
 * one. Gathers, scatters and combinations never are.
 */
#include "cvl-mpi/superops.h"

#include "cvl-mpi/split.h"

#include <stdio.h>
#include <stdlib.h>

enum need { NEED_NOTHING, NEED_DOMAIN, NEED_SEGDES, NEED_SEGMENTS };

struct param {
  uint8_t need;
  bool counts;     /* SEGDES: positions in its segments count, for INDEX, REDUCE, SCAN */
  uint32_t segdes; /* SEGMENTS: of which descriptor, a parameter */
};

/* How often a kernel was executed in which way: each rank's block at once; in steps (split.h);
 * as the operations that it stands for. */
struct superop_runs {
  uint64_t whole, steps, nodes;
};

struct cvl_kernel {
  const struct superop *op;
  struct cvl_kernel *inner; /* NULL: the inner back end executes it node by node, too */
  bool whole;               /* it may be */
  bool tried;               /* to split it */
  struct split *split;      /* NULL: node by node */
  struct superop_runs runs; /* so far, which explain_runs prints */
  uint32_t pieces;          /* a parameter: split.h; or SUPEROP_NONE */
  struct param params[];
};

/* ---- what parameters are for ---- */

static bool set_need(struct cvl_kernel *k, uint32_t value, enum need need, uint32_t segdes) {
  if (value >= k->op->param_count) return true;
  struct param *p = &k->params[value];
  const bool fits = p->need == NEED_NOTHING || (p->need == need && p->segdes == segdes);
  p->need = (uint8_t)need;
  p->segdes = segdes;
  return fits;
}

static bool is_together(enum superop_role role) {
  switch (role) {
  case ROLE_CONST:
  case ROLE_SPREAD:
  case ROLE_INDEX:
  case ROLE_MAP:
  case ROLE_CARRY:
  case ROLE_WHILE:
  case ROLE_NEXT:
  case ROLE_REDUCE:
  case ROLE_SCAN:
  case ROLE_PACK:
  case ROLE_ASSERT: return true;
  default: return false;
  }
}

static bool note_node(struct cvl_kernel *k, const struct superop_node *node) {
  enum superop_role role;
  const char *access = superop_access(node->op, &role);
  if (!is_together((enum superop_role)node->role)) return false;
  if (node->operand_count == 0) return true;
  const uint32_t last = node->operands[node->operand_count - 1];
  for (uint32_t i = 0; i < node->operand_count; i++) {
    const uint32_t v = node->operands[i];
    switch (access[i]) {
    case 'd':
      if (!set_need(k, v, NEED_DOMAIN, SUPEROP_NONE)) return false;
      break;
    case 'c':
      if (!set_need(k, v, NEED_SEGMENTS, last)) return false;
      break;
    default:
      if (!set_need(k, v, NEED_SEGDES, SUPEROP_NONE)) return false;
      k->params[v].counts |= role != ROLE_SPREAD && role != ROLE_PACK;
    }
  }
  return true;
}

static bool all_together(struct cvl_kernel *k) {
  if (k->op->copies) return false;
  for (uint32_t i = 0; i < k->op->node_count; i++) {
    if (!note_node(k, &k->op->nodes[i])) return false;
  }
  return true;
}

struct cvl_kernel *mpi_prepare_step(struct cvl_context *c, const struct superop *op,
                                    uint32_t pieces) {
  struct cvl_kernel *k = mpi_alloc(c, sizeof *k + op->param_count * sizeof *k->params);
  k->op = op;
  k->pieces = pieces;
  k->whole = all_together(k);
  k->tried = !k->whole || pieces != SUPEROP_NONE;
  if (!k->whole) k->split = split_new(c, op, SPLIT_AT_EXCHANGES);
  if (!k->whole && !k->split) {
    free(k);
    return NULL;
  }
  if (k->whole) k->inner = c->b->prepare(c->inner, op);
  return k;
}

struct cvl_kernel *mpi_prepare(struct cvl_context *c, const struct superop *op) {
  struct cvl_kernel *k = mpi_prepare_step(c, op, SUPEROP_NONE);
  if (!k && c->explains && c->rank == 0)
    fprintf(stderr, "ravel: OP%u on ranks: node by node\n", op->number);
  return k;
}

/* ---- RAVEL_MPI_EXPLAIN ---- */

static void explain_runs(const struct cvl_context *c, const struct cvl_kernel *k) {
  const struct superop_runs *r = &k->runs;
  if (!c->explains || c->rank > 0) return;
  fprintf(stderr, "ravel: OP%u on ranks: whole %lu, in steps %lu, node by node %lu",
          k->op->number, r->whole, r->steps, r->nodes);
  if (r->steps > 0) split_print(stderr, k->split);
  fputc('\n', stderr);
}

const struct split *mpi_split(const struct cvl_kernel *k) {
  return k->runs.steps > 0 ? k->split : NULL;
}

/* Of a step: it is no superoperator of the program. */
void mpi_discard_step(struct cvl_context *c, struct cvl_kernel *k) {
  if (k->inner) c->b->discard(c->inner, k->inner);
  split_free(c, k->split);
  free(k);
}

void mpi_discard(struct cvl_context *c, struct cvl_kernel *k) {
  explain_runs(c, k);
  mpi_discard_step(c, k);
}

/* ---- a run ---- */

struct run {
  const struct cvl_kernel *k;
  const struct cvl_value *operands;
  uint64_t site, n;           /* of the domain */
  struct distribution *at;    /* of its positions */
  struct cvl_segdes **segdes; /* of parameters that are descriptors */
  struct one_segment *ones;   /* for those of one segment, which are in the value */
  struct cvl_value *in, *out; /* of the inner back end */
};

static uint64_t size_of(const struct run *r, struct superop_size size) {
  switch (size.what) {
  case SIZE_ONE: return 1;
  case SIZE_COUNT: return mpi_count(&r->operands[size.param]);
  default: return mpi_length(&r->operands[size.param]);
  }
}

/* Where the domain's positions are: as the first operand that is not on all ranks. */
static struct distribution *domain_at(struct cvl_context *c, const struct run *r) {
  const struct superop *op = r->k->op;
  for (uint32_t i = 0; i < op->param_count; i++) {
    if (r->k->params[i].need == NEED_DOMAIN && mpi_at(&r->operands[i]))
      return distribution_retain(mpi_at(&r->operands[i]));
  }
  return is_whole(c, r->n) ? NULL : distribution_canonical(c, r->n);
}

/* All descriptors; false if they are lost. */
static bool find_segdes(struct cvl_context *c, struct run *r) {
  const struct superop *op = r->k->op;
  for (uint32_t i = 0; i < op->param_count; i++) {
    if (r->k->params[i].need != NEED_SEGDES) continue;
    r->segdes[i] = segdes_of(&r->operands[i], &r->ones[i]);
    if (!segdes_is_known(c, r->site, r->segdes[i])) return false;
  }
  return true;
}

static const struct view *view_of(struct cvl_context *c, const struct run *r, uint32_t segdes) {
  return segdes_view(c, r->site, r->segdes[segdes], r->at);
}

/* At which multiples blocks may end within segments; 0: not at all. */
static uint64_t unit_of(const struct run *r, uint32_t segdes) {
  return segdes == r->k->pieces ? CVL_REDUCE_BLOCK : 0;
}

/* Moves the ends of blocks to where they may be; false if segments are too long for that. */
static bool settle(struct cvl_context *c, struct run *r, uint32_t segdes) {
  const struct view *v = view_of(c, r, segdes), *cut = NULL;
  struct cvl_segdes *d = r->segdes[segdes];
  if (v && segdes == r->k->pieces) {
    cut = cut_segments(c, r->site, d, v, CVL_REDUCE_BLOCK);
  } else if (v) {
    cut = whole_segments(c, r->site, d, v);
  }
  if (!cut) return false;
  distribution_release(r->at);
  r->at = distribution_retain(cut->at);
  return true;
}

/* So that no segment of which positions count is on several ranks. If descriptors are of
 * different segments, the ends of one may not suit the other: false. All have views afterwards.
 */
static bool settle_domain(struct cvl_context *c, struct run *r) {
  const struct superop *op = r->k->op;
  for (uint32_t i = 0; i < op->param_count; i++) {
    if (r->k->params[i].counts && !settle(c, r, i)) return false;
  }
  for (uint32_t i = 0; i < op->param_count; i++) {
    if (r->k->params[i].need != NEED_SEGDES) continue;
    const struct view *v = view_of(c, r, i);
    if (!v || (r->k->params[i].counts && !ends_at(v, unit_of(r, i)))) return false;
  }
  return true;
}

static bool occurs_once(const struct run *r, uint32_t i) {
  const struct cvl_vector *v = r->operands[i].as.vector;
  for (uint32_t k = 0; k < r->k->op->param_count; k++) {
    if (k != i && r->operands[k].form == CVL_VECTOR && r->operands[k].as.vector == v)
      return false;
  }
  return true;
}

/* ---- operands ---- */

/* A single segment is there on every rank, be it empty: its operand may be a constant of the
 * superoperator, of which there is always one. */
static bool is_one(const struct run *r, uint32_t segdes) {
  return r->segdes[segdes]->count == 1 && segdes != r->k->pieces;
}

static struct cvl_value segments_operand(struct cvl_context *c, const struct run *r,
                                         uint32_t i) {
  const uint32_t segdes = r->k->params[i].segdes;
  const struct view *v = view_of(c, r, segdes);
  struct range *ranges = is_one(r, segdes) ? ranges_same(c, 0, 1) : view_ranges(c, v);
  const struct cvl_value moved = move_ranges(c, r->site, &r->operands[i], ranges);
  free(ranges);
  return moved;
}

static struct cvl_value segdes_operand(struct cvl_context *c, const struct run *r, uint32_t i) {
  struct cvl_value v = view_of(c, r, i)->local;
  if (i == r->k->pieces) return pieces_descriptor(c, r->site, view_of(c, r, i));
  if (is_one(r, i)) return cvl_one_segment(distribution_range(r->at, c->rank).n);
  if (v.form != CVL_NOTHING) c->b->retain(c->inner, &v);
  v.owned = v.form != CVL_NOTHING;
  return v;
}

static struct cvl_value operand(struct cvl_context *c, const struct run *r, uint32_t i) {
  switch ((enum need)r->k->params[i].need) {
  case NEED_DOMAIN: return move_to(c, r->site, &r->operands[i], r->at, occurs_once(r, i));
  case NEED_SEGDES: return segdes_operand(c, r, i);
  case NEED_SEGMENTS: return segments_operand(c, r, i);
  case NEED_NOTHING: break;
  }
  return r->operands[i].form == CVL_SCALAR ? r->operands[i]
                                           : cvl_scalar_int(c->int_elem, 0); /* not read */
}

/* ---- results ---- */

static bool run_inner(struct cvl_context *c, const struct run *r) {
  const struct superop *op = r->k->op;
  bool lost = c->faults > c->faults_before;
  for (uint32_t i = 0; i < op->param_count; i++) lost |= r->in[i].form == CVL_NOTHING;
  if (lost) {
    inner_drop(c, r->in, op->param_count);
    return false;
  }
  const bool good = r->k->inner
                        ? c->b->run(c->inner, r->site, r->k->inner, r->in, r->out)
                        : superop_run(c->b, c->inner, r->site, op, &c->stop, r->in, r->out);
  return absorb(c, good, (struct shift){r->site, op->node_count, r->at->start[c->rank], 0});
}

/* The node whose result value v is. */
static const struct superop_node *node_of(const struct superop *op, uint32_t v) {
  uint32_t k = op->node_count;
  while (k-- > 0 && op->nodes[k].result > v) continue;
  return &op->nodes[k];
}

/* A PACK's descriptor says how many elements each rank keeps: its result may be one without the
 * other. */
static uint64_t elements(struct cvl_context *c, const struct cvl_value *v) {
  return v->form == CVL_NOTHING ? 0 : inner_size(c, c->b->length(c->inner, v));
}

static int64_t *counts_of(struct cvl_context *c, const struct run *r, const struct cvl_value *d,
                          uint64_t n) {
  int64_t *counts = mpi_alloc(c, (n + 1) * sizeof *counts);
  const bool good =
      d->form != CVL_NOTHING && n > 0 &&
      absorb(c, c->b->to_host(c->inner, d, 0, n, counts), (struct shift){.site = r->site});
  for (uint64_t i = 0; !good && i < n; i++) counts[i] = 0;
  return counts;
}

static struct cvl_value packed(struct cvl_context *c, const struct run *r, bool segdes,
                               enum cvl_elem elem, struct cvl_value local) {
  const struct view *v = view_of(c, r, r->k->op->segments);
  const uint64_t n = elements(c, &local);
  struct distribution *to;
  if (!segdes) return settled(c, r->site, elem, kept_by_ranks(c, n), local);
  int64_t *counts = counts_of(c, r, &local, v->segments.n);
  const struct cvl_value out = packed_descriptor(c, r->site, v, counts, n, &to);
  release_inner(c, &local);
  distribution_release(to);
  return out;
}

/* The rank on which a single segment does not begin has a result of it that is not wanted. */
static struct cvl_value reduced(struct cvl_context *c, const struct run *r, enum cvl_elem elem,
                                struct cvl_value local) {
  const uint32_t segments = r->k->op->segments;
  const struct view *v = view_of(c, r, segments);
  if (is_one(r, segments) && view_owned(v, c->rank).n == 0) {
    local.owned = local.form != CVL_NOTHING;
    local = inner_slice(c, r->site, local, 0, 0);
  }
  return settled(c, r->site, elem, by_segments(c, v), local);
}

static struct cvl_value result(struct cvl_context *c, const struct run *r, uint32_t number,
                               struct cvl_value local) {
  const struct superop *op = r->k->op;
  const enum superop_kind kind = (enum superop_kind)op->kinds[number];
  const enum cvl_elem elem = superop_elem(kind, c->int_elem, c->float_elem);
  switch ((enum superop_role)node_of(op, number)->role) {
  case ROLE_PACK: return packed(c, r, kind == SUPEROP_SEGDES, elem, local);
  case ROLE_REDUCE:
    if (r->k->pieces != SUPEROP_NONE)
      return pieces_joined(c, r->site, superop_info(node_of(op, number)->op)->operation, elem,
                           view_of(c, r, op->segments), local);
    return reduced(c, r, elem, local);
  default: return mpi_vector(c, elem, r->n, distribution_retain(r->at), local);
  }
}

static void finish(struct cvl_context *c, const struct run *r, bool good,
                   struct cvl_value *outs) {
  const struct superop *op = r->k->op;
  const struct cvl_value lost = {.form = CVL_NOTHING};
  for (uint32_t i = 0; i < op->output_count; i++)
    outs[i] = result(c, r, op->outputs[i], good ? r->out[i] : lost);
  for (uint32_t i = 0; i < op->param_count; i++) mpi_drop(c, &r->operands[i]);
}

/* ---- the function of the table ---- */

static struct run run_new(struct cvl_context *c, uint64_t site, const struct cvl_kernel *k,
                          const struct cvl_value *operands) {
  const uint32_t params = k->op->param_count;
  struct run r = {.k = k, .operands = operands, .site = site};
  r.n = size_of(&r, k->op->domain);
  r.at = domain_at(c, &r);
  r.segdes = mpi_alloc(c, params * sizeof *r.segdes);
  r.ones = mpi_alloc(c, params * sizeof *r.ones);
  r.in = mpi_alloc(c, params * sizeof *r.in);
  r.out = mpi_alloc(c, k->op->output_count * sizeof *r.out);
  return r;
}

static void run_free(struct cvl_context *c, struct run *r) {
  for (uint32_t i = 0; i < r->k->op->param_count; i++) {
    if (r->segdes[i] == &r->ones[i].d) segdes_drop_views(c, &r->ones[i].d);
  }
  distribution_release(r->at);
  free(r->segdes);
  free(r->ones);
  free(r->in);
  free(r->out);
}

/* After a fault that no rank has asked for they may not. */
static bool rules_hold(const struct run *r) {
  const struct superop *op = r->k->op;
  for (uint32_t i = 0; i < op->rule_count; i++) {
    if (size_of(r, op->rules[i].a) != size_of(r, op->rules[i].b)) return false;
  }
  return true;
}

/* Of segments that go on on other ranks. */
static struct split *split_of(struct cvl_context *c, struct cvl_kernel *k) {
  if (!k->tried) k->split = split_new(c, k->op, SPLIT_AT_LONG_SEGMENTS);
  k->tried = true;
  return k->split;
}

static bool run_apart(struct cvl_context *c, const struct run *r, struct cvl_kernel *k,
                      struct cvl_value *outs) {
  struct split *split = r->at && rules_hold(r) ? split_of(c, k) : NULL;
  k->runs.whole += split && split_is_one(split);
  k->runs.steps += split && !split_is_one(split);
  k->runs.nodes += split == NULL;
  if (split) return split_run(c, r->site, split, r->operands, outs);
  return superop_run(c->table, c, r->site, k->op, &c->stop, r->operands, outs);
}

bool mpi_run(struct cvl_context *c, uint64_t site, struct cvl_kernel *k,
             const struct cvl_value *operands, struct cvl_value *outs) {
  mpi_enter(c, "run", site);
  struct run r = run_new(c, site, k, operands);
  bool good = true;
  if (k->whole && r.at && rules_hold(&r) && find_segdes(c, &r) && settle_domain(c, &r)) {
    k->runs.whole++;
    for (uint32_t i = 0; i < k->op->param_count; i++) r.in[i] = operand(c, &r, i);
    finish(c, &r, run_inner(c, &r), outs);
  } else {
    good = run_apart(c, &r, k, outs);
  }
  run_free(c, &r);
  return good;
}
