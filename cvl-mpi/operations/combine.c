/* combine.c - reductions by a user-defined function in segments that cross ranks. They follow
 * the tree that keeps order (trees.h).
 *
 * Each rank cuts its part of a segment into subtrees: 2^k elements from a multiple of 2^k on,
 * as large as possible. The inner back end reduces them. The rank on which the segment begins
 * gets the results of the others. It combines neighbours that are halves of one subtree, until
 * there is one subtree for each bit of the length. Then it combines these from the left, by
 * the same kernel.
 */
#include "cvl-mpi/operations/combine.h"

#include <stdlib.h>
#include <string.h>

#include "cvl-mpi/exchange/faults.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/operations/operations.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"
#include "cvl-mpi/values/views.h"

/* ---- subtrees of a rank's block ---- */

/* The elements from .. to of one segment, counted from its beginning. */
struct part {
  uint64_t from, to;
};

/* Returns the part in a rank's block of the segment that crosses into it; empty if there is
 * none. */
static struct part combine_head_of(const struct view *v, unsigned rank) {
  const struct mpi_range block = distribution_range(v->at, rank);
  const struct border *b = &v->borders[rank];
  const uint64_t end = block.first + block.n;
  if (!view_comes_in(v, rank)) return (struct part){0, 0};
  return (struct part){block.first - b->begin, (b->end < end ? b->end : end) - b->begin};
}

/* Returns the part of a segment that begins in a rank's block and goes on behind it; empty if
 * there is none. */
static struct part tail_of(const struct view *v, unsigned rank) {
  const struct mpi_range block = distribution_range(v->at, rank);
  const struct border *b = &v->borders[rank + 1];
  if (!view_goes_on(v, rank) || b->begin < block.first) return (struct part){0, 0};
  return (struct part){0, block.first + block.n - b->begin};
}

/* Returns the level of the first subtree of a part, which has 2^level elements. */
static unsigned level_at(struct part p) {
  unsigned level = p.from == 0 ? 63 : (unsigned)__builtin_ctzll(p.from);
  while (UINT64_C(1) << level > p.to - p.from) level--;
  return level;
}

/* Returns the number of subtrees of a part. Stores their levels and lengths, unless these are
 * NULL. */
static uint64_t subtrees(struct part p, uint8_t *levels, int64_t *lengths) {
  uint64_t n = 0;
  for (; p.from < p.to; n++) {
    const unsigned level = level_at(p);
    if (levels) levels[n] = (uint8_t)level;
    if (lengths) lengths[n] = (int64_t)(UINT64_C(1) << level);
    p.from += UINT64_C(1) << level;
  }
  return n;
}

/* ---- one reduction ---- */

struct combining {
  const struct mpi_combination *of;
  const struct view *view;
  uint64_t head, middle, tail; /* numbers of subtrees of the first segment, of whole segments,
                                  and of subtrees of the last */
  uint64_t first_whole;        /* index of the first whole one in view->segments */
};

static struct combining combining_of(struct cvl_context *c, const struct mpi_combination *of,
                                     const struct view *v) {
  struct combining m = {.of = of, .view = v};
  const struct part tail = tail_of(v, c->rank);
  m.head = subtrees(combine_head_of(v, c->rank), NULL, NULL);
  m.tail = subtrees(tail, NULL, NULL);
  m.first_whole = view_comes_in(v, c->rank);
  m.middle = v->segments.n - m.first_whole - (tail.to > 0);
  return m;
}

/* Returns the descriptor of the subtrees and segments that this rank reduces; owned. */
static struct cvl_value combine_descriptor_of(struct cvl_context *c,
                                              const struct combining *m) {
  const struct view *v = m->view;
  const uint64_t n = m->head + m->middle + m->tail, first = v->segments.first + m->first_whole;
  int64_t *lengths = mpi_try_alloc(c, m->of->site, (n + 1) * sizeof *lengths);
  struct cvl_value d = nothing();
  if (!lengths) return d;
  subtrees(combine_head_of(v, c->rank), NULL, lengths);
  for (uint64_t k = 0; k < m->middle; k++)
    lengths[m->head + k] = (int64_t)(view_offset(v, first + k + 1) - view_offset(v, first + k));
  subtrees(tail_of(v, c->rank), NULL, lengths + m->head + m->middle);
  if (!absorb(c, c->b->segdes_from_host(c->inner, m->of->site, n, lengths, &d),
              at_site(m->of->site)))
    d = nothing();
  mpi_free(c, lengths);
  d.owned = d.form != CVL_NOTHING;
  return d;
}

/* Returns n elements that must exist but are never read. */
static struct cvl_value any_elements(struct cvl_context *c, uint64_t site, enum cvl_elem elem,
                                     uint64_t n) {
  return repeated(c, site, (struct cvl_value){.form = CVL_SCALAR, .elem = (uint8_t)elem}, n);
}

/* Returns identities for subtrees and segments. Only those of whole segments, which may be
 * empty, are read. Takes `all`, the identities of view->segments. */
static struct cvl_value identities_of(struct cvl_context *c, const struct combining *m,
                                      struct cvl_value all) {
  const uint64_t n = m->head + m->middle + m->tail, site = m->of->site;
  if (all.form == CVL_NOTHING) return all;
  struct cvl_value whole = inner_slice(c, site, all, m->first_whole, m->middle);
  struct cvl_value out = nothing();
  if (whole.form == CVL_NOTHING ||
      !absorb(c, c->b->slices->allocate(c->inner, site, (enum cvl_elem)all.elem, n, &out),
              at_site(site))) {
    inner_drop(c, &whole, 1);
    return nothing();
  }
  out.owned = 1;
  const enum cvl_elem elem = (enum cvl_elem)all.elem;
  bool good = inner_fill(c, site, &out, 0, any_elements(c, site, elem, m->head));
  good = inner_fill(c, site, &out, m->head, whole) && good;
  good = inner_fill(c, site, &out, m->head + m->middle, any_elements(c, site, elem, m->tail)) &&
         good;
  if (good) return out;
  inner_drop(c, &out, 1);
  return nothing();
}

/* Runs the kernel on operands, which it takes. Returns an owned result for each column, or
 * false if they are poisoned. After a fault in an earlier step the kernel is not run: what an
 * ASSERT proves, of divisors for example, does not hold then. */
static bool combine_run_kernel(struct cvl_context *c, const struct mpi_combination *of,
                               struct cvl_value *in, struct cvl_value *out) {
  const struct superop *op = of->op;
  bool poisoned = c->faults > c->faults_before;
  for (uint32_t i = 0; i < op->param_count; i++) poisoned |= in[i].form == CVL_NOTHING;
  if (poisoned) {
    inner_drop(c, in, op->param_count);
    return false;
  }
  const bool good = of->inner ? c->b->superops->run(c->inner, of->site, of->inner, in, out)
                              : superop_run(c->b, c->inner, of->site, op, &c->stop, in, out);
  for (uint32_t i = 0; good && i < op->output_count; i++) out[i].owned = 1;
  return absorb(c, good, at_site(of->site));
}

/* ---- a segment that begins here ---- */

/* The reduction of its subtrees: their elements in each column. */
struct fold {
  uint64_t n;
  uint8_t *levels;
  char **columns; /* one for each output; NULL: poisoned */
  bool poisoned;
};

static size_t combine_column_bytes(const struct cvl_context *c,
                                   const struct mpi_combination *of, uint32_t i) {
  const struct superop *op = of->op;
  return elem_info(superop_elem((enum superop_kind)op->kinds[op->outputs[i]], c->int_elem,
                                c->float_elem))
      ->bytes;
}

/* Finds operands that stand for the n elements, in segments of these lengths. */
static void fold_operands(struct cvl_context *c, const struct mpi_combination *of,
                          const struct fold *f, const int64_t *lengths, uint64_t segments,
                          struct cvl_value *in) {
  const struct superop *op = of->op;
  for (uint32_t i = 0; i < op->param_count; i++) {
    const enum cvl_elem elem =
        superop_elem((enum superop_kind)op->params[i], c->int_elem, c->float_elem);
    const uint32_t column = of->column[i];
    in[i] = nothing();
    if (i == op->segments) {
      if (!absorb(c, c->b->segdes_from_host(c->inner, of->site, segments, lengths, &in[i]),
                  at_site(of->site)))
        in[i] = nothing();
    } else if (op->params[i] == SUPEROP_SEGDES) {
      in[i] = cvl_one_segment(f->n);
    } else if (column == SUPEROP_NONE) {
      in[i] = any_elements(c, of->site, elem, segments);
    } else if (!absorb(
                   c,
                   c->b->from_host(c->inner, of->site, elem, f->n, f->columns[column], &in[i]),
                   at_site(of->site))) {
      in[i] = nothing();
    }
    in[i].owned = in[i].form == CVL_VECTOR || in[i].form == CVL_SEGDES;
  }
}

/* Reduces segments of subtrees; the results are the subtrees that are left. */
static void fold_segments(struct cvl_context *c, const struct mpi_combination *of,
                          struct fold *f, const int64_t *lengths, uint64_t segments) {
  const struct superop *op = of->op;
  struct cvl_value *in = mpi_alloc(c, (op->param_count + 1) * sizeof *in);
  struct cvl_value *out = mpi_alloc(c, (op->output_count + 1) * sizeof *out);
  fold_operands(c, of, f, lengths, segments, in);
  f->poisoned = !combine_run_kernel(c, of, in, out);
  for (uint32_t i = 0; !f->poisoned && i < op->output_count; i++) {
    f->poisoned |= !absorb(c, c->b->to_host(c->inner, &out[i], 0, segments, f->columns[i]),
                           at_site(of->site));
    inner_drop(c, &out[i], 1);
  }
  f->n = segments;
  mpi_free(c, in);
  mpi_free(c, out);
}

/* Plans to join neighbours that are halves of a subtree. Returns false if there are none. */
static bool join_halves(const struct fold *f, uint8_t *levels, int64_t *lengths, uint64_t *n) {
  uint64_t position = 0;
  *n = 0;
  for (uint64_t i = 0; i < f->n; (*n)++) {
    const unsigned level = f->levels[i];
    const bool joins = i + 1 < f->n && f->levels[i + 1] == level && !(position >> level & 1);
    levels[*n] = (uint8_t)(level + joins);
    lengths[*n] = 1 + joins;
    position += UINT64_C(1) << levels[*n];
    i += 1 + joins;
  }
  return *n < f->n;
}

static void fold_all(struct cvl_context *c, const struct mpi_combination *of, struct fold *f) {
  uint8_t *levels = mpi_alloc(c, f->n + 1);
  int64_t *lengths = mpi_alloc(c, (f->n + 1) * sizeof *lengths);
  uint64_t n;
  while (!f->poisoned && join_halves(f, levels, lengths, &n)) {
    memcpy(f->levels, levels, n);
    fold_segments(c, of, f, lengths, n);
  }
  for (uint64_t k = 0; k < f->n; k++) lengths[k] = 1 + (k == 0);
  while (!f->poisoned && f->n > 1) fold_segments(c, of, f, lengths, f->n - 1);
  mpi_free(c, levels);
  mpi_free(c, lengths);
}

/* ---- between ranks ---- */

/* Finds the numbers of subtrees that go to each rank and come from each. Returns the number of
 * this rank's and all received ones, and stores their levels in this order. */
static uint64_t combine_plan(struct cvl_context *c, const struct combining *m, uint64_t *to,
                             uint64_t *from, uint8_t *levels) {
  const struct view *v = m->view;
  uint64_t n = subtrees(tail_of(v, c->rank), levels, NULL);
  if (m->head > 0) to[view_beginner(v, c->rank)] = m->head;
  for (unsigned r = c->rank + 1; m->tail > 0 && r < c->ranks; r++) {
    if (!view_comes_in(v, r) || view_beginner(v, r) != c->rank) continue;
    from[r] = subtrees(combine_head_of(v, r), levels ? levels + n : NULL, NULL);
    n += from[r];
  }
  return n;
}

/* Brings column i of all subtrees of the segment that begins here and goes on. */
static void bring_column(struct cvl_context *c, const struct combining *m, uint32_t i,
                         const struct cvl_value *local, const uint64_t *to,
                         const uint64_t *from, struct fold *f) {
  const size_t bytes = combine_column_bytes(c, m->of, i);
  char *mine = mpi_try_alloc(c, m->of->site, m->head * bytes);
  f->columns[i] = mpi_try_alloc(c, m->of->site, f->n * bytes);
  const bool sends = mine && inner_read(c, m->of->site, local, 0, m->head, mine);
  f->poisoned |= !f->columns[i] || !inner_read(c, m->of->site, local, m->head + m->middle,
                                               m->tail, f->columns[i]);
  exchange_elements(c, bytes, sends ? mine : NULL, to,
                    f->columns[i] ? f->columns[i] + m->tail * bytes : NULL, from);
  mpi_free(c, mine);
}

/* Returns column i of the segments that begin here. Takes local. */
static struct cvl_value combine_joined(struct cvl_context *c, const struct combining *m,
                                       uint32_t i, struct cvl_value local,
                                       const struct fold *f) {
  const uint64_t site = m->of->site;
  struct cvl_value last = nothing();
  local.owned = 0;
  if (m->tail > 0 && !f->poisoned)
    last = device_elements(c, site, (enum cvl_elem)local.elem, 1, f->columns[i]);
  last.owned = last.form == CVL_VECTOR;
  const struct cvl_value out =
      beginning_here(c, site, &local, m->head, m->middle, m->tail > 0 ? &last : NULL);
  release_inner(c, &local);
  return out;
}

static struct fold fold_new(struct cvl_context *c, const struct combining *m, uint64_t *to,
                            uint64_t *from) {
  struct fold f = {.n = combine_plan(c, m, to, from, NULL)};
  f.levels = mpi_alloc(c, f.n + 1);
  f.columns = mpi_alloc(c, (m->of->op->output_count + 1) * sizeof *f.columns);
  memset(from, 0, c->ranks * sizeof *from);
  combine_plan(c, m, to, from, f.levels);
  return f;
}

static void fold_free(struct cvl_context *c, const struct mpi_combination *of, struct fold *f) {
  for (uint32_t i = 0; i < of->op->output_count; i++) mpi_free(c, f->columns[i]);
  mpi_free(c, f->columns);
  mpi_free(c, f->levels);
}

/* Replaces the inner results of all columns by this rank's blocks of the reductions. */
static void combine_ranks(struct cvl_context *c, const struct combining *m,
                          struct cvl_value *local) {
  uint64_t *to = mpi_alloc(c, 2 * c->ranks * sizeof *to), *from = to + c->ranks;
  const uint32_t columns = m->of->op->output_count;
  struct fold f = fold_new(c, m, to, from);
  for (uint32_t i = 0; i < columns; i++) bring_column(c, m, i, &local[i], to, from, &f);
  if (m->tail > 0) fold_all(c, m->of, &f);
  for (uint32_t i = 0; i < columns; i++) local[i] = combine_joined(c, m, i, local[i], &f);
  fold_free(c, m->of, &f);
  mpi_free(c, to);
}

/* ---- the whole ---- */

void combine_reduce(struct cvl_context *c, const struct mpi_combination *of,
                    const struct view *v, struct cvl_value *in, struct cvl_value *out) {
  const struct combining m = combining_of(c, of, v);
  const struct superop *op = of->op;
  for (uint32_t i = 0; i < op->param_count; i++) {
    if (i == op->segments) {
      in[i] = combine_descriptor_of(c, &m);
    } else if (op->params[i] != SUPEROP_SEGDES && of->column[i] == SUPEROP_NONE) {
      in[i] = identities_of(c, &m, in[i]);
    }
  }
  if (!combine_run_kernel(c, of, in, out)) {
    for (uint32_t i = 0; i < op->output_count; i++) out[i] = nothing();
  }
  combine_ranks(c, &m, out);
}
