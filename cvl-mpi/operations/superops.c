/* superops.c - superoperators. Each rank executes them whole if the operands can be moved to
 * fitting places (fit.h); else in steps (split.h), or node by node.
 */
#include "cvl-mpi/operations/superops.h"

#include <stdio.h>
#include <stdlib.h>

#include "cvl-mpi/exchange/deferred.h"
#include "cvl-mpi/exchange/faults.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/operations/combine-scan.h"
#include "cvl-mpi/operations/combine.h"
#include "cvl-mpi/operations/fit.h"
#include "cvl-mpi/operations/operations.h"
#include "cvl-mpi/operations/split.h"
#include "cvl-mpi/values/descriptors.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"
#include "cvl-mpi/values/views.h"

/* How often a kernel was executed in each way: whole, in steps (split.h), node by node. */
struct superop_runs {
  uint64_t whole, steps, nodes;
};

/* A form in which a kernel is executed whole. */
struct form {
  struct fit *fit;          /* NULL: there is no such form */
  struct cvl_kernel *inner; /* NULL: the inner back end executes it node by node */
};

/* The forms: segments in which INDEX counts are within a rank, or may cross ranks. */
enum { WITHIN, ACROSS, FORMS };

/* The steps of a kernel. */
struct parts {
  bool tried;          /* whether split_new has been called */
  struct split *split; /* NULL: it is executed node by node */
  bool used;
};

struct cvl_kernel {
  const struct superop *op;
  struct form forms[FORMS];
  bool across; /* forms[ACROSS] has been made, if it exists */
  struct parts parts[SPLIT_KINDS];
  struct superop_runs runs; /* so far; explain_runs prints them */
  uint32_t pieces;          /* the parameter of mpi_prepare_step; or SUPEROP_NONE */
  uint64_t unit;            /* blocks may end at its multiples in the segments of `pieces` */
  uint32_t *column; /* for one combination (combine.h): the output of each parameter; else
                       NULL */
  struct combine_scan *scan; /* for one combination of scans (combine-scan.h); else NULL */
};

/* ---- kernels ---- */

static struct form form_new(struct cvl_context *c, const struct superop *op, bool starts) {
  struct form f = {.fit = fit_new(c, op, starts)};
  if (f.fit) f.inner = c->b->superops->prepare(c->inner, &f.fit->op);
  return f;
}

static void form_free(struct cvl_context *c, struct form *f) {
  if (f->inner) c->b->superops->discard(c->inner, f->inner);
  fit_free(f->fit);
}

static struct split *split_of(struct cvl_context *c, struct cvl_kernel *k, enum split_at at) {
  struct parts *p = &k->parts[at];
  if (!p->tried) p->split = split_new(c, k->op, at);
  p->tried = true;
  return p->split;
}

/* Returns the output of the combination's column whose elements value v has; SUPEROP_NONE if
 * there is none, or several. */
static uint32_t column_of(const struct superop *op, const struct superop_combination *of,
                          uint32_t v) {
  uint32_t found = SUPEROP_NONE, count = 0;
  for (uint32_t k = 0; k < of->count; k++) {
    if (op->nodes[of->first + k].operands[0] != v) continue;
    count++;
    for (uint32_t i = 0; i < op->output_count; i++) {
      if (op->outputs[i] == op->nodes[of->ends + k].result) found = i;
    }
  }
  return count == 1 ? found : SUPEROP_NONE;
}

/* Sets k->column. Returns false if a column has no parameter of its own. */
static bool superops_find_columns(struct cvl_context *c, struct cvl_kernel *k) {
  const struct superop *op = k->op;
  uint32_t first = 0, found = 0;
  while (op->nodes[first].role != ROLE_COLUMN) first++;
  const struct superop_combination of = superop_combination_at(op, first);
  k->column = mpi_alloc(c, (op->param_count + 1) * sizeof *k->column);
  for (uint32_t i = 0; i < op->param_count; i++) {
    k->column[i] = column_of(op, &of, i);
    found += k->column[i] != SUPEROP_NONE;
  }
  return found == of.count && op->output_count == of.count;
}

/* Returns the unit at whose multiples blocks may end: anywhere if elements may be reduced in
 * any order, else between blocks of the tree. */
static uint64_t unit_for(const struct cvl_context *c, const struct superop *op) {
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    const enum superop_kind kind = (enum superop_kind)op->kinds[node->result];
    if (node->role != ROLE_REDUCE) continue;
    if (!is_exact(superop_info(node->op)->operation,
                  superop_elem(kind, c->int_elem, c->float_elem)))
      return CVL_REDUCE_BLOCK;
  }
  return superop_has_combinations(op) ? CVL_REDUCE_BLOCK : 1;
}

struct cvl_kernel *mpi_prepare_step(struct cvl_context *c, const struct superop *op,
                                    uint32_t pieces) {
  struct cvl_kernel *k = mpi_alloc(c, sizeof *k);
  k->op = op;
  k->pieces = pieces;
  k->unit = unit_for(c, op);
  if (pieces != SUPEROP_NONE && superop_has_combinations(op) && !superops_find_columns(c, k)) {
    mpi_discard_step(c, k);
    return NULL;
  }
  k->forms[WITHIN] = form_new(c, op, false);
  const bool whole = k->forms[WITHIN].fit != NULL;
  k->across = !whole;
  k->parts[SPLIT_AT_LONG_SEGMENTS].tried = pieces != SUPEROP_NONE;
  if (whole) k->scan = combine_scan_new(c, op);
  if (whole || split_of(c, k, SPLIT_AT_EXCHANGES)) return k;
  mpi_discard_step(c, k);
  return NULL;
}

struct cvl_kernel *mpi_prepare(struct cvl_context *c, const struct superop *op) {
  struct cvl_kernel *k = mpi_prepare_step(c, op, SUPEROP_NONE);
  if (!k && c->explains && c->rank == 0)
    fprintf(stderr, "ravel: OP%u on ranks: node by node\n", op->number);
  return k;
}

void mpi_prepared(struct cvl_context *c) {
  c->b->prepared(c->inner);
}

/* ---- RAVEL_MPI_EXPLAIN ---- */

static void explain_runs(const struct cvl_context *c, const struct cvl_kernel *k) {
  const struct superop_runs *r = &k->runs;
  if (!c->explains || c->rank > 0) return;
  fprintf(stderr, "ravel: OP%u on ranks: whole %lu, in steps %lu, node by node %lu",
          k->op->number, r->whole, r->steps, r->nodes);
  split_print(stderr, k);
  fputc('\n', stderr);
}

const struct split *mpi_split(const struct cvl_kernel *k, enum split_at at) {
  return k->parts[at].used ? k->parts[at].split : NULL;
}

/* Frees a kernel without printing: a step is no superoperator of the program. */
void mpi_discard_step(struct cvl_context *c, struct cvl_kernel *k) {
  for (unsigned i = 0; i < FORMS; i++) form_free(c, &k->forms[i]);
  for (unsigned i = 0; i < SPLIT_KINDS; i++) split_free(c, k->parts[i].split);
  combine_scan_free(c, k->scan);
  mpi_free(c, k->column);
  mpi_free(c, k);
}

void mpi_discard(struct cvl_context *c, struct cvl_kernel *k) {
  explain_runs(c, k);
  mpi_discard_step(c, k);
}

/* ---- a run ---- */

struct run {
  const struct cvl_kernel *k;
  const struct form *form; /* the form in which it is executed whole */
  const struct cvl_value *operands;
  uint64_t site, n; /* the number of positions of the domain */
  bool windows; /* sources are windows (fit.h), and blocks have the elements that they want */
  struct distribution *at;    /* distribution of the domain's positions */
  struct cvl_segdes **segdes; /* for parameters that are descriptors */
  struct one_segment *ones; /* their memory, if they are of one segment and kept in the value */
  struct mpi_range **far; /* for parameters of NEED_FAR: each rank's elements of the sources */
  struct cvl_value *in, *out; /* values of the inner back end */
};

static const struct superop *op_of(const struct run *r) {
  return &r->form->fit->op;
}

static const struct fit_param *superops_param_of(const struct run *r, uint32_t i) {
  return &r->form->fit->params[i];
}

static bool is_start(const struct run *r, uint32_t i) {
  return r->form && superops_param_of(r, i)->need == NEED_START;
}

/* Returns the value that a parameter is made from. For a constant start, whose size is that of
 * its descriptor, returns NULL. */
static const struct cvl_value *superops_value_of(const struct run *r, uint32_t i) {
  const uint32_t origin = r->form ? superops_param_of(r, i)->origin : i;
  return origin == SUPEROP_NONE ? NULL : &r->operands[origin];
}

static uint64_t superops_size_of(const struct run *r, struct superop_size size) {
  switch (size.what) {
  case SIZE_ONE: return 1;
  case SIZE_COUNT: return mpi_count(superops_value_of(r, size.param));
  default: break;
  }
  if (is_start(r, size.param))
    return mpi_count(superops_value_of(r, superops_param_of(r, size.param)->segdes));
  return mpi_length(superops_value_of(r, size.param));
}

/* Returns the distribution of the domain's positions: that of the first operand that is not on
 * all ranks. */
static struct distribution *domain_at(struct cvl_context *c, const struct run *r) {
  for (uint32_t i = 0; i < op_of(r)->param_count; i++) {
    if (superops_param_of(r, i)->need == NEED_DOMAIN && mpi_at(superops_value_of(r, i)))
      return distribution_retain(mpi_at(superops_value_of(r, i)));
  }
  return is_whole(c, r->n) ? NULL : distribution_canonical(c, r->n);
}

/* Finds all descriptors. Returns false if one is poisoned. */
static bool superops_find_segdes(struct cvl_context *c, struct run *r) {
  for (uint32_t i = 0; i < op_of(r)->param_count; i++) {
    const enum need need = (enum need)superops_param_of(r, i)->need;
    if (need != NEED_SEGDES && need != NEED_FAR) continue;
    r->segdes[i] = segdes_of(superops_value_of(r, i), &r->ones[i]);
    if (!segdes_is_known(c, r->site, r->segdes[i])) return false;
  }
  return true;
}

static const struct view *view_of(struct cvl_context *c, const struct run *r, uint32_t segdes) {
  return segdes_view(c, r->site, r->segdes[segdes], r->at);
}

/* Returns the unit at whose multiples blocks may end within segments; 0: not at all. */
static uint64_t unit_of(const struct run *r, uint32_t segdes) {
  return segdes == r->k->pieces ? r->k->unit : 0;
}

/* Moves the ends of blocks to where they may be. Returns false if segments are too long for
 * that. */
static bool superops_settle(struct cvl_context *c, struct run *r, uint32_t segdes) {
  const struct view *v = view_of(c, r, segdes), *cut = NULL;
  struct cvl_segdes *d = r->segdes[segdes];
  if (v && segdes == r->k->pieces) {
    cut = cut_segments(c, r->site, d, v, r->k->unit);
  } else if (v) {
    cut = whole_segments(c, r->site, d, v);
  }
  if (!cut) return false;
  distribution_release(r->at);
  r->at = distribution_retain(cut->at);
  return true;
}

/* Moves the ends of blocks so that segments within which positions matter are whole on a rank.
 * Returns false if the ends for one descriptor do not suit another. Afterwards all descriptors
 * have views. */
static bool settle_domain(struct cvl_context *c, struct run *r) {
  const uint32_t params = op_of(r)->param_count;
  for (uint32_t i = 0; i < params; i++) {
    if (superops_param_of(r, i)->counts && !superops_settle(c, r, i)) return false;
  }
  for (uint32_t i = 0; i < params; i++) {
    if (superops_param_of(r, i)->need != NEED_SEGDES) continue;
    const struct view *v = view_of(c, r, i);
    if (!v || (superops_param_of(r, i)->counts && !ends_at(v, unit_of(r, i)))) return false;
  }
  return true;
}

/* ---- sources of gathers ---- */

/* A single segment is on every rank, even if it is empty there. Its operand may be a constant
 * of the superoperator, which always exists. */
static bool is_one(const struct run *r, uint32_t segdes) {
  return r->segdes[segdes]->count == 1 && segdes != r->k->pieces;
}

/* Returns the segments of each rank's block. */
static struct mpi_range *segments_of(struct cvl_context *c, const struct run *r,
                                     uint32_t segdes) {
  return is_one(r, segdes) ? ranges_same(c, 0, 1) : view_ranges(c, view_of(c, r, segdes));
}

/* Returns whether blocks get windows of their sources. Then everything is of one segment, all
 * indices are inside, and windows exceed blocks by few elements. */
static bool has_windows(struct cvl_context *c, const struct run *r) {
  for (uint32_t i = 0; i < op_of(r)->param_count; i++) {
    const struct fit_param *p = superops_param_of(r, i);
    if (!p->window) continue;
    if (!is_one(r, p->segdes)) return false;
    if (p->need != NEED_FAR) continue;
    const uint64_t end = r->n + (uint64_t)p->high,
                   more = (uint64_t)(p->high - r->form->fit->low);
    if (r->segdes[i]->count != 1 || end > r->segdes[i]->total || more > r->n / c->ranks)
      return false;
  }
  return true;
}

/* Returns, for each rank, the range of elements of source i that it wants. */
static struct mpi_range *window_elements(struct cvl_context *c, const struct run *r,
                                         uint32_t i) {
  const uint64_t low = (uint64_t)r->form->fit->low,
                 high = (uint64_t)superops_param_of(r, i)->high;
  struct mpi_range *ranges = ranges_of_blocks(c, r->at);
  for (unsigned k = 0; k < c->ranks; k++) {
    ranges[k].first += low;
    if (ranges[k].n > 0) ranges[k].n += high - low;
  }
  return ranges;
}

/* Returns the elements of each rank's segments of source descriptor i. */
static struct mpi_range *superops_elements_of(struct cvl_context *c, const struct run *r,
                                              uint32_t i) {
  if (r->windows && superops_param_of(r, i)->window) return window_elements(c, r, i);
  struct mpi_range *ranges = segments_of(c, r, superops_param_of(r, i)->segdes);
  segdes_ranges(c, r->segdes[i], ranges);
  return ranges;
}

/* Returns whether every rank can get the sources of its gathers. */
static bool sources_near(struct cvl_context *c, struct run *r) {
  r->windows = has_windows(c, r);
  for (uint32_t i = 0; i < op_of(r)->param_count; i++) {
    if (superops_param_of(r, i)->need != NEED_FAR) continue;
    r->far[i] = superops_elements_of(c, r, i);
    if (!(r->windows && superops_param_of(r, i)->window) && !within_share(c, r->far[i], r->n))
      return false;
  }
  return true;
}

static bool occurs_once(const struct run *r, uint32_t i) {
  const struct cvl_vector *v = superops_value_of(r, i)->as.vector;
  for (uint32_t k = 0; k < op_of(r)->param_count; k++) {
    const struct cvl_value *w =
        superops_param_of(r, k)->need == NEED_NOTHING ? NULL : superops_value_of(r, k);
    if (k != i && w && w->form == CVL_VECTOR && w->as.vector == v) return false;
  }
  return true;
}

/* ---- operands ---- */

static struct cvl_value segments_operand(struct cvl_context *c, const struct run *r,
                                         uint32_t segdes, const struct cvl_value *v) {
  struct mpi_range *ranges = segments_of(c, r, segdes);
  const struct cvl_value moved = move_ranges(c, r->site, v, ranges);
  mpi_free(c, ranges);
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

static struct cvl_value far_operand(struct cvl_context *c, const struct run *r, uint32_t i) {
  if (r->windows && superops_param_of(r, i)->window)
    return cvl_one_segment(r->far[i][c->rank].n);
  struct mpi_range *ranges = segments_of(c, r, superops_param_of(r, i)->segdes);
  const struct cvl_value made = segdes_segments(c, r->site, superops_value_of(r, i), ranges);
  mpi_free(c, ranges);
  return made;
}

/* Returns the start of an INDEX for the block: one for each segment, or a constant. */
static struct cvl_value start_operand(struct cvl_context *c, const struct run *r, uint32_t i) {
  const struct fit_param *p = superops_param_of(r, i);
  const struct view *v = view_of(c, r, p->segdes);
  const struct cvl_value *stride = fit_constant(op_of(r), p->stride);
  const bool constant = p->origin == SUPEROP_NONE;
  struct index_start s = {.constant = constant, .segments = v->segments.n};
  if (r->windows && p->window)
    return cvl_scalar_int(c->int_elem, cvl_int_of(&p->constant) - r->form->fit->low);
  s.start = constant ? p->constant : segments_operand(c, r, p->segdes, superops_value_of(r, i));
  s.stride =
      stride ? *stride : segments_operand(c, r, p->segdes, superops_value_of(r, p->stride));
  if (is_one(r, p->segdes)) s.segments = 1;
  if (view_comes_in(v, c->rank)) s.skipped = r->at->start[c->rank] - v->borders[c->rank].begin;
  return start_of_block(c, r->site, s);
}

/* Returns an operand for a parameter that nothing reads. */
static struct cvl_value not_read(struct cvl_context *c, const struct run *r, uint32_t i) {
  const enum superop_kind kind = (enum superop_kind)op_of(r)->params[i];
  if (kind == SUPEROP_SEGDES) return cvl_one_segment(0);
  return (struct cvl_value){.form = CVL_SCALAR,
                            .elem = (uint8_t)superop_elem(kind, c->int_elem, c->float_elem)};
}

static struct cvl_value superops_operand(struct cvl_context *c, const struct run *r,
                                         uint32_t i) {
  const struct fit_param *p = superops_param_of(r, i);
  switch ((enum need)p->need) {
  case NEED_DOMAIN:
    return move_to(c, r->site, superops_value_of(r, i), r->at, occurs_once(r, i));
  case NEED_SEGDES: return segdes_operand(c, r, i);
  case NEED_SEGMENTS: return segments_operand(c, r, p->segdes, superops_value_of(r, i));
  case NEED_START: return start_operand(c, r, i);
  case NEED_FAR: return far_operand(c, r, i);
  case NEED_SOURCE: return move_kept(c, r->site, superops_value_of(r, i), r->far[p->segdes]);
  case NEED_NOTHING: break;
  }
  return not_read(c, r, i);
}

/* ---- results ---- */

/* Notes segments for faults of gathers, which say in which segment they are. */
static void note_gathers(struct cvl_context *c, const struct run *r) {
  for (uint32_t k = 0; k < op_of(r)->node_count; k++) {
    const struct superop_node *node = &op_of(r)->nodes[k];
    if (node->role != ROLE_GATHER) continue;
    const uint32_t near = node->operands[node->operand_count - 1];
    const uint64_t first = is_one(r, near) ? 0 : view_of(c, r, near)->segments.first;
    note_shift(c, (struct shift){r->site + k, 1, r->at->start[c->rank], first});
  }
}

static bool run_inner(struct cvl_context *c, const struct run *r) {
  const struct superop *op = op_of(r);
  bool poisoned = c->faults > c->faults_before;
  for (uint32_t i = 0; i < op->param_count; i++) poisoned |= r->in[i].form == CVL_NOTHING;
  if (poisoned) {
    inner_drop(c, r->in, op->param_count);
    return false;
  }
  note_shift(c, (struct shift){r->site, op->node_count, r->at->start[c->rank], 0});
  note_gathers(c, r);
  return absorb(c,
                r->form->inner
                    ? c->b->superops->run(c->inner, r->site, r->form->inner, r->in, r->out)
                    : superop_run(c->b, c->inner, r->site, op, &c->stop, r->in, r->out),
                at_site(r->site));
}

/* Returns the node whose result value v is. */
static const struct superop_node *superops_node_of(const struct superop *op, uint32_t v) {
  uint32_t k = op->node_count;
  while (k-- > 0 && op->nodes[k].result > v) continue;
  return &op->nodes[k];
}

/* Makes a result of PACK. Its descriptor alone says how many elements each rank keeps, so a
 * superoperator may have one result without the other. */
static struct cvl_value pack_result(struct cvl_context *c, const struct run *r, bool segdes,
                                    enum cvl_elem elem, struct cvl_value local) {
  const struct view *v = view_of(c, r, op_of(r)->segments);
  packed(c, r->site, v, elem, segdes ? NULL : &local, segdes ? &local : NULL);
  return local;
}

/* Makes a result of reductions. A rank on which a single segment does not begin has an
 * unwanted result for it. */
static struct cvl_value superops_reduced(struct cvl_context *c, const struct run *r,
                                         enum cvl_elem elem, struct cvl_value local) {
  const uint32_t segments = op_of(r)->segments;
  const struct view *v = view_of(c, r, segments);
  if (is_one(r, segments) && view_owned(v, c->rank).n == 0) {
    local.owned = local.form != CVL_NOTHING;
    local = inner_slice(c, r->site, local, 0, 0);
  }
  return settled(c, r->site, elem, by_segments(c, v), local);
}

static struct cvl_value superops_result(struct cvl_context *c, const struct run *r,
                                        uint32_t number, struct cvl_value local) {
  const struct superop *op = op_of(r);
  const enum superop_kind kind = (enum superop_kind)op->kinds[number];
  const enum cvl_elem elem = superop_elem(kind, c->int_elem, c->float_elem);
  switch ((enum superop_role)superops_node_of(op, number)->role) {
  case ROLE_PACK: return pack_result(c, r, kind == SUPEROP_SEGDES, elem, local);
  case ROLE_COMBINE_REDUCE: return superops_reduced(c, r, elem, local);
  case ROLE_REDUCE:
    if (r->k->pieces != SUPEROP_NONE)
      return pieces_joined(c, r->site,
                           superop_info(superops_node_of(op, number)->op)->operation, elem,
                           view_of(c, r, op->segments), local);
    return superops_reduced(c, r, elem, local);
  default: return mpi_vector(c, elem, r->n, distribution_retain(r->at), local);
  }
}

static void superops_finish(struct cvl_context *c, const struct run *r, bool good,
                            struct cvl_value *outs) {
  const struct superop *op = op_of(r);
  const struct cvl_value poisoned = {.form = CVL_NOTHING};
  for (uint32_t i = 0; i < op->output_count; i++)
    outs[i] = superops_result(c, r, op->outputs[i], good ? r->out[i] : poisoned);
  for (uint32_t i = 0; i < r->k->op->param_count; i++) mpi_drop(c, &r->operands[i]);
}

/* ---- one form ---- */

static struct run run_new(struct cvl_context *c, uint64_t site, const struct cvl_kernel *k,
                          const struct form *form, const struct cvl_value *operands) {
  const uint32_t params = form->fit->op.param_count + 1;
  struct run r = {.k = k, .form = form, .operands = operands, .site = site};
  r.n = superops_size_of(&r, op_of(&r)->domain);
  r.at = domain_at(c, &r);
  r.segdes = mpi_alloc(c, params * sizeof *r.segdes);
  r.ones = mpi_alloc(c, params * sizeof *r.ones);
  r.far = mpi_alloc(c, params * sizeof *r.far);
  r.in = mpi_alloc(c, params * sizeof *r.in);
  r.out = mpi_alloc(c, (k->op->output_count + 1) * sizeof *r.out);
  return r;
}

static void run_free(struct cvl_context *c, struct run *r) {
  for (uint32_t i = 0; i < op_of(r)->param_count; i++) {
    if (r->segdes[i] == &r->ones[i].d) segdes_drop_views(c, &r->ones[i].d);
    mpi_free(c, r->far[i]);
  }
  distribution_release(r->at);
  mpi_free(c, r->segdes);
  mpi_free(c, r->ones);
  mpi_free(c, r->far);
  mpi_free(c, r->in);
  mpi_free(c, r->out);
}

/* Returns whether the rules of sizes hold. They may not after a fault that no rank has asked
 * for. */
static bool superops_rules_hold(const struct run *r) {
  const struct superop *op = op_of(r);
  for (uint32_t i = 0; i < op->rule_count; i++) {
    if (superops_size_of(r, op->rules[i].a) != superops_size_of(r, op->rules[i].b))
      return false;
  }
  return true;
}

/* ---- one combination ---- */

/* Returns an operand of a combination: elements, identities, or a constant's descriptor. */
static struct cvl_value combination_operand(struct cvl_context *c, const struct run *r,
                                            const struct view *v, uint32_t i) {
  const enum need need = (enum need)superops_param_of(r, i)->need;
  if (need == NEED_SEGMENTS) {
    struct mpi_range *ranges = view_ranges(c, v);
    const struct cvl_value moved = move_ranges(c, r->site, superops_value_of(r, i), ranges);
    mpi_free(c, ranges);
    return moved;
  }
  return i == r->k->pieces ? nothing() : superops_operand(c, r, i);
}

/* Executes reductions of segments that cross ranks. Returns false if their descriptor is
 * poisoned. */
static bool superops_run_combination(struct cvl_context *c, const struct run *r,
                                     struct cvl_value *outs) {
  const struct mpi_combination of = {op_of(r), r->form->inner, r->site, r->k->column};
  const struct view *v = view_of(c, r, r->k->pieces);
  if (!v) return false;
  for (uint32_t i = 0; i < op_of(r)->param_count; i++)
    r->in[i] = combination_operand(c, r, v, i);
  combine_reduce(c, &of, v, r->in, r->out);
  for (uint32_t i = 0; i < op_of(r)->output_count; i++) {
    const enum superop_kind kind = (enum superop_kind)op_of(r)->kinds[op_of(r)->outputs[i]];
    outs[i] = settled(c, r->site, superop_elem(kind, c->int_elem, c->float_elem),
                      by_segments(c, v), r->out[i]);
  }
  for (uint32_t i = 0; i < r->k->op->param_count; i++) mpi_drop(c, &r->operands[i]);
  return true;
}

/* Executes scans of segments that cross ranks. Returns false if their descriptor is poisoned.
 */
static bool superops_run_scan(struct cvl_context *c, struct run *r, struct cvl_value *outs) {
  const struct superop *op = op_of(r);
  const struct view *v = view_of(c, r, op->segments);
  if (v) v = cut_segments(c, r->site, r->segdes[op->segments], v, CVL_REDUCE_BLOCK);
  if (!v) return false;
  distribution_release(r->at);
  r->at = distribution_retain(v->at);
  for (uint32_t i = 0; i < op->param_count; i++)
    r->in[i] = i == op->segments ? nothing() : superops_operand(c, r, i);
  combine_scan_run(c, r->site, r->k->scan, r->form->inner, v, r->in, r->out);
  superops_finish(c, r, true, outs);
  return true;
}

/* How an attempt to execute a superoperator whole has ended. */
enum outcome { DONE, TOO_LONG, TOO_FAR, NOT_SPLIT };

static enum outcome superops_run_blocks(struct cvl_context *c, struct run *r,
                                        struct cvl_value *outs) {
  if (!superops_find_segdes(c, r) || !settle_domain(c, r)) return TOO_LONG;
  if (!sources_near(c, r)) return TOO_FAR;
  for (uint32_t i = 0; i < op_of(r)->param_count; i++) r->in[i] = superops_operand(c, r, i);
  superops_finish(c, r, run_inner(c, r), outs);
  return DONE;
}

static enum outcome try_form(struct cvl_context *c, uint64_t site, const struct cvl_kernel *k,
                             const struct form *form, const struct cvl_value *operands,
                             struct cvl_value *outs) {
  struct run r = run_new(c, site, k, form, operands);
  enum outcome what = NOT_SPLIT;
  if (r.at && superops_rules_hold(&r) && !k->column) {
    what = superops_run_blocks(c, &r, outs);
    if (what == TOO_LONG && k->scan && superops_run_scan(c, &r, outs)) what = DONE;
  } else if (r.at && superops_rules_hold(&r) && superops_find_segdes(c, &r) &&
             superops_run_combination(c, &r, outs)) {
    what = DONE;
  }
  run_free(c, &r);
  return what;
}

/* ---- the function of the table ---- */

/* Returns the form for segments that cross ranks, made when it is first wanted; NULL if it
 * would be the same. */
static const struct form *form_across(struct cvl_context *c, struct cvl_kernel *k) {
  struct form *f = &k->forms[ACROSS];
  if (!k->across && superop_first(k->op, ROLE_INDEX) < k->op->node_count)
    *f = form_new(c, k->op, true);
  k->across = true;
  return f->fit ? f : NULL;
}

static enum outcome superops_run_whole(struct cvl_context *c, uint64_t site,
                                       struct cvl_kernel *k, const struct cvl_value *operands,
                                       struct cvl_value *outs) {
  enum outcome what = try_form(c, site, k, &k->forms[WITHIN], operands, outs);
  const struct form *across = what == TOO_LONG ? form_across(c, k) : NULL;
  if (across) what = try_form(c, site, k, across, operands, outs);
  k->runs.whole += what == DONE;
  return what;
}

static bool run_apart(struct cvl_context *c, uint64_t site, struct cvl_kernel *k,
                      enum outcome why, const struct cvl_value *operands,
                      struct cvl_value *outs) {
  const enum split_at at = why == TOO_LONG ? SPLIT_AT_LONG_SEGMENTS : SPLIT_AT_EXCHANGES;
  struct split *split = why == NOT_SPLIT ? NULL : split_of(c, k, at);
  k->parts[at].used |= split != NULL;
  const bool good = split ? split_run(c, site, split, operands, outs)
                          : superop_run(c->table, c, site, k->op, &c->stop, operands, outs);
  k->runs.whole += split && split_is_one(split);
  k->runs.steps += split && !split_is_one(split);
  k->runs.nodes += split == NULL;
  return good;
}

/* Tells whether to execute in steps a superoperator that is never whole. It is, if its rules
 * hold and its vectors are not on all ranks. */
static enum outcome part_of(struct cvl_context *c, const struct cvl_kernel *k,
                            const struct cvl_value *operands) {
  const struct run r = {.k = k, .operands = operands};
  for (uint32_t i = 0; i < k->op->rule_count; i++) {
    if (superops_size_of(&r, k->op->rules[i].a) != superops_size_of(&r, k->op->rules[i].b))
      return NOT_SPLIT;
  }
  for (uint32_t i = 0; i < k->op->param_count; i++) {
    if (mpi_at(&operands[i])) return TOO_FAR;
  }
  return is_whole(c, superops_size_of(&r, k->op->domain)) ? NOT_SPLIT : TOO_FAR;
}

bool mpi_run(struct cvl_context *c, uint64_t site, struct cvl_kernel *k,
             const struct cvl_value *operands, struct cvl_value *outs) {
  mpi_enter(c, "run", site);
  want(c, operands, k->op->param_count);
  const enum outcome what = k->forms[WITHIN].fit
                                ? superops_run_whole(c, site, k, operands, outs)
                                : part_of(c, k, operands);
  return what == DONE || run_apart(c, site, k, what, operands, outs);
}
