/* combine-scan.c - scans by a user-defined function in segments that cross ranks. They follow
 * the tree that keeps order (trees.h), whose blocks of CVL_REDUCE_BLOCK elements are whole on
 * a rank.
 *
 * A block of the tree is an element of the same tree one level of blocks higher. The value
 * before it is the exclusive scan of the totals of blocks. So every rank reduces its blocks,
 * all ranks get the totals, and each rank scans them. Then it scans its elements, beginning
 * with the value before them (run_tiles of the inner back end). If there are too many totals
 * for that, they become a vector in blocks, which this back end scans. A segment that begins
 * on a rank is scanned there as if it ended with the rank's block.
 */
#include "cvl-mpi/operations/combine-scan.h"

#include <string.h>

#include "cvl-mpi/exchange/faults.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/operations/operations.h"
#include "cvl-mpi/operations/scan-kernels.h"
#include "cvl-mpi/operations/superops.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"
#include "cvl-mpi/values/views.h"

/* ---- one scan ---- */

struct scanning {
  struct combine_scan *of;
  uint64_t site;
  const struct view *view;
  struct pieces own;
  uint64_t head;    /* elements of the first segment, if it begins on a rank before */
  uint64_t longest; /* the most totals that one rank sends */
  /* The vector of the totals of all blocks of segments that cross ranks, one segment after the
   * other. Each segment has one more element, which nothing reads. The vector has n elements
   * in `segments` segments of `lengths`; this rank's begin at `first`. */
  uint64_t segments, n, first;
  int64_t *lengths;
};

/* Returns whether a segment that begins before a rank ends on it. */
static bool head_ends(const struct view *v, unsigned rank, const struct pieces *p) {
  return p->head > 0 && !(view_goes_on(v, rank) && p->tail == 0 && p->segments.n == 1);
}

/* Returns the most totals that all ranks get: 2^20 where vectors of up to 4,096 elements are
 * on all ranks. */
static uint64_t most_totals(const struct cvl_context *c) {
  return c->whole * c->whole / 16;
}

static size_t combine_scan_bytes_of(const struct scanning *s, uint32_t column) {
  return elem_info(s->of->elem[column])->bytes;
}

static uint64_t totals_for_others(const struct pieces *p) {
  return p->head + p->tail;
}

/* Adds blocks of a rank to the current segment, or to a new one that `begins`. */
static void add_blocks(struct scanning *s, uint64_t blocks, bool begins, bool ends) {
  s->segments += begins;
  s->lengths[s->segments - 1] += (int64_t)blocks + ends;
  s->n += blocks + ends;
}

static void combine_scan_plan(struct cvl_context *c, struct scanning *s) {
  s->lengths = mpi_alloc(c, (c->ranks + 1) * sizeof *s->lengths);
  for (unsigned r = 0; r < c->ranks; r++) {
    const struct pieces p = pieces_of(s->view, r);
    if (totals_for_others(&p) > s->longest) s->longest = totals_for_others(&p);
    if (r == c->rank) s->first = s->n;
    if (p.head > 0) add_blocks(s, p.head, false, head_ends(s->view, r, &p));
    if (p.tail > 0) add_blocks(s, p.tail, true, false);
  }
}

/* ---- kernels ---- */

static bool is_poisoned(const struct cvl_context *c, const struct cvl_value *in,
                        uint32_t count) {
  bool poisoned = c->faults > c->faults_before;
  for (uint32_t i = 0; i < count; i++) poisoned |= in[i].form == CVL_NOTHING;
  return poisoned;
}

/* Runs a kernel on operands, which it takes. The results are owned. Returns false if they are
 * poisoned. */
static bool combine_scan_run_kernel(struct cvl_context *c, const struct scanning *s,
                                    const struct superop *op, struct cvl_kernel *kernel,
                                    const struct cvl_value *in, const struct cvl_value *before,
                                    struct cvl_value *out) {
  bool good = !is_poisoned(c, in, op->param_count);
  if (good && !kernel) fault_memory(c, s->site, 0);
  if (!good || !kernel) {
    inner_drop(c, in, op->param_count);
    return false;
  }
  good = before ? c->b->tiles->run_tiles(c->inner, s->site, kernel, in, before, out)
                : c->b->superops->run(c->inner, s->site, kernel, in, out);
  good = absorb(c, good, at_site(s->site));
  for (uint32_t i = 0; good && i < op->output_count; i++) out[i].owned = 1;
  return good;
}

/* Runs a derived superoperator (scan-kernels.h) on the inner back end. It borrows columns of n
 * elements, in `segments` segments of a descriptor, which it takes. */
static bool run_derived(struct cvl_context *c, const struct scanning *s,
                        const struct derived_kernels *d, const struct cvl_value *columns,
                        uint64_t n, uint64_t segments, struct cvl_value descriptor,
                        struct cvl_value *out) {
  struct cvl_value identities[SUPEROP_COLUMNS_MAX];
  for (uint32_t k = 0; k < s->of->at.count; k++)
    identities[k] = repeated(c, s->site, zero_of(s->of->elem[k]), segments);
  struct cvl_value *in = derived_operands(c, s->of, columns, n, identities, descriptor);
  const bool good = combine_scan_run_kernel(c, s, &d->op, d->kernel, in, NULL, out);
  mpi_free(c, in);
  return good;
}

/* ---- totals ---- */

/* Returns the number of pieces of this rank's block: blocks of the tree, and whole segments. */
static uint64_t piece_count(const struct pieces *p) {
  return totals_for_others(p) + p->segments.n - (p->head > 0) - (p->tail > 0);
}

/* Finds the totals of all pieces for each column, owned. They are CVL_NOTHING if they are
 * poisoned, or nobody wants any. */
static bool combine_scan_find_totals(struct cvl_context *c, const struct scanning *s,
                                     const struct cvl_value *in, struct cvl_value *totals) {
  struct cvl_value columns[SUPEROP_COLUMNS_MAX];
  for (uint32_t k = 0; k < s->of->at.count; k++) {
    columns[k] = in[s->of->param[k]];
    totals[k] = nothing();
  }
  return totals_for_others(&s->own) == 0 ||
         run_derived(c, s, &s->of->totals, columns, s->own.block.n, piece_count(&s->own),
                     pieces_descriptor(c, s->site, s->view), totals);
}

/* ---- totals on all ranks ---- */

/* Reads this rank's totals of a column that others need. */
static bool read_totals(struct cvl_context *c, const struct scanning *s,
                        const struct cvl_value *v, size_t bytes, char *to) {
  const struct pieces *p = &s->own;
  return inner_read(c, s->site, v, 0, p->head, to) &&
         inner_read(c, s->site, v, piece_count(p) - p->tail, p->tail, to + p->head * bytes);
}

static size_t totals_bytes(const struct scanning *s) {
  size_t bytes = 0;
  for (uint32_t k = 0; k < s->of->at.count; k++)
    bytes += s->longest * combine_scan_bytes_of(s, k);
  return bytes;
}

/* Returns column k of all totals, owned. Its bytes begin at `from` in what each rank has sent.
 */
static struct cvl_value all_totals(struct cvl_context *c, const struct scanning *s, uint32_t k,
                                   const char *all, size_t from) {
  const size_t bytes = combine_scan_bytes_of(s, k), each = totals_bytes(s);
  char *data = mpi_try_alloc(c, s->site, s->n * bytes), *to = data;
  if (data) memset(data, 0, s->n * bytes);
  for (unsigned r = 0; data && r < c->ranks; r++) {
    const struct pieces p = pieces_of(s->view, r);
    const char *sent = all + r * each + from;
    memcpy(to, sent, p.head * bytes);
    to += (p.head + head_ends(s->view, r, &p)) * bytes;
    memcpy(to, sent + p.head * bytes, p.tail * bytes);
    to += p.tail * bytes;
  }
  struct cvl_value v = device_elements(c, s->site, s->of->elem[k], s->n, data);
  v.owned = v.form == CVL_VECTOR;
  mpi_free(c, data);
  return v;
}

/* Scans all totals, and returns the values before this rank's blocks of the segment that
 * begins on a rank before. The last of them is behind the last block, if that is full. */
static bool scan_totals(struct cvl_context *c, const struct scanning *s, const char *all,
                        struct cvl_value *before) {
  struct cvl_value columns[SUPEROP_COLUMNS_MAX], out[SUPEROP_COLUMNS_MAX], d = nothing();
  size_t from = 0;
  for (uint32_t k = 0; k < s->of->at.count; k++) {
    columns[k] = all_totals(c, s, k, all, from);
    from += s->longest * combine_scan_bytes_of(s, k);
  }
  if (!absorb(c, c->b->segdes_from_host(c->inner, s->site, s->segments, s->lengths, &d),
              at_site(s->site)))
    d = nothing();
  d.owned = d.form != CVL_NOTHING;
  const bool good = run_derived(c, s, &s->of->before, columns, s->n, s->segments, d, out);
  inner_drop(c, columns, s->of->at.count);
  for (uint32_t k = 0; k < s->of->at.count; k++)
    before[k] = good ? inner_slice(c, s->site, out[k], s->first, s->head / CVL_REDUCE_BLOCK + 1)
                     : nothing();
  return good;
}

/* Finds the values before this rank's blocks from all totals, which every rank gets. */
static bool before_from_all(struct cvl_context *c, const struct scanning *s,
                            const struct cvl_value *totals, struct cvl_value *before) {
  const size_t bytes = totals_bytes(s);
  char *mine = mpi_alloc(c, bytes), *all = mpi_alloc(c, c->ranks * bytes), *to = mine;
  bool good = true;
  for (uint32_t k = 0; k < s->of->at.count; k++) {
    const size_t each = combine_scan_bytes_of(s, k);
    good = good && read_totals(c, s, &totals[k], each, to);
    to += s->longest * each;
  }
  comm_gather(c->comm, mine, bytes, all);
  if (s->head > 0) good = good && scan_totals(c, s, all, before);
  mpi_free(c, mine);
  mpi_free(c, all);
  return good;
}

/* ---- totals in blocks ---- */

/* The elements of the vector of all totals that a rank has, and those of its scan that the
 * rank wants. */
static uint64_t combine_scan_totals_of(const struct scanning *s, unsigned rank) {
  const struct pieces p = pieces_of(s->view, rank);
  return totals_for_others(&p) + head_ends(s->view, rank, &p);
}

static uint64_t wanted_by(const struct scanning *s, unsigned rank) {
  const struct pieces p = pieces_of(s->view, rank);
  const uint64_t end = p.block.first + p.block.n;
  return p.head == 0
             ? 0
             : (least_of(s->view->borders[rank].end, end) - p.block.first) / CVL_REDUCE_BLOCK +
                   1;
}

/* Returns this rank's elements of a column of that vector: inner, not owned. */
static struct cvl_value own_totals(struct cvl_context *c, const struct scanning *s,
                                   enum cvl_elem elem, struct cvl_value totals) {
  const struct pieces *p = &s->own;
  const bool ends = head_ends(s->view, c->rank, p);
  struct cvl_value out;
  totals.owned = 0;
  if (!absorb(c,
              c->b->slices->allocate(c->inner, s->site, elem,
                                     combine_scan_totals_of(s, c->rank), &out),
              at_site(s->site)))
    return nothing();
  bool good = true;
  if (p->head > 0)
    good = inner_fill(c, s->site, &out, 0, inner_slice(c, s->site, totals, 0, p->head));
  if (ends) good = good && inner_fill(c, s->site, &out, p->head, zero_of(elem));
  if (p->tail > 0)
    good =
        good && inner_fill(c, s->site, &out, p->head + ends,
                           inner_slice(c, s->site, totals, piece_count(p) - p->tail, p->tail));
  if (good) return out;
  c->b->release(c->inner, &out);
  return nothing();
}

/* Makes the vectors of all totals, one for each column. */
static void vectors_of_totals(struct cvl_context *c, const struct scanning *s,
                              const struct cvl_value *totals, struct cvl_value *columns) {
  uint64_t *counts = mpi_alloc(c, c->ranks * sizeof *counts);
  for (unsigned r = 0; r < c->ranks; r++) counts[r] = combine_scan_totals_of(s, r);
  struct distribution *at = distribution_of_counts(c, counts);
  for (uint32_t k = 0; k < s->of->at.count; k++) {
    const enum cvl_elem elem = s->of->elem[k];
    columns[k] =
        mpi_vector(c, elem, s->n, distribution_retain(at), own_totals(c, s, elem, totals[k]));
  }
  distribution_release(at);
  mpi_free(c, counts);
}

/* Returns the elements of a scan of totals that this rank wants, owned. Takes the scan. */
static struct cvl_value combine_scan_wanted(struct cvl_context *c, const struct scanning *s,
                                            struct cvl_value scan) {
  struct mpi_range *ranges = mpi_alloc(c, c->ranks * sizeof *ranges);
  uint64_t first = 0;
  for (unsigned r = 0; r < c->ranks; r++) {
    ranges[r] = (struct mpi_range){first, wanted_by(s, r)};
    first += combine_scan_totals_of(s, r);
  }
  struct cvl_value v = move_ranges(c, s->site, &scan, ranges);
  if (v.form != CVL_NOTHING && !v.owned) {
    c->b->retain(c->inner, &v);
    v.owned = v.form == CVL_VECTOR;
  }
  mpi_free(c, ranges);
  mpi_release(c, &scan);
  return v;
}

/* Finds the values before this rank's blocks from the vectors of all totals, which this back
 * end scans. */
static bool before_from_blocks(struct cvl_context *c, const struct scanning *s,
                               const struct cvl_value *totals, struct cvl_value *before) {
  const struct derived_kernels *d = &s->of->before;
  const struct cvl_value segments = cvl_one_segment(s->segments);
  struct cvl_value columns[SUPEROP_COLUMNS_MAX], identities[SUPEROP_COLUMNS_MAX],
      out[SUPEROP_COLUMNS_MAX], descriptor = nothing();
  if (!s->of->in_blocks) s->of->in_blocks = mpi_prepare_step(c, &d->op, SUPEROP_NONE);
  vectors_of_totals(c, s, totals, columns);
  c->table->segdes_from_host(c, s->site, s->segments, s->lengths, &descriptor);
  for (uint32_t k = 0; k < s->of->at.count; k++) {
    const struct cvl_value zero = zero_of(s->of->elem[k]);
    c->table->apply(c, s->site, &CVL_CALL(CALL_DIST, OP_DIST, zero, segments), &identities[k]);
  }
  struct cvl_value *in = derived_operands(c, s->of, columns, s->n, identities, descriptor);
  const bool good = mpi_run(c, s->site, s->of->in_blocks, in, out);
  for (uint32_t k = 0; k < s->of->at.count; k++) {
    before[k] = good ? combine_scan_wanted(c, s, out[k]) : nothing();
    mpi_release(c, &columns[k]);
    mpi_release(c, &identities[k]);
  }
  mpi_release(c, &descriptor);
  mpi_free(c, in);
  return good;
}

/* ---- the block ---- */

/* Finds the operands for some elements and segments of the block, with a descriptor, which it
 * takes. Borrows `in`. */
static void some_operands(struct cvl_context *c, const struct scanning *s,
                          const struct cvl_value *in, struct mpi_range elements,
                          struct mpi_range segments, struct cvl_value descriptor,
                          struct cvl_value *some) {
  const struct superop *op = s->of->op;
  for (uint32_t i = 0; i < op->param_count; i++) {
    some[i] = op->params[i] == SUPEROP_SEGDES ? cvl_one_segment(elements.n) : in[i];
    some[i].owned = 0;
  }
  some[op->segments] = descriptor;
  for (uint32_t k = 0; k < s->of->at.count; k++) {
    const uint32_t x = s->of->param[k], identity = s->of->identity[k];
    some[x] = inner_slice(c, s->site, some[x], elements.first, elements.n);
    if (identity != SUPEROP_NONE && some[identity].form != CVL_SCALAR && !some[identity].owned)
      some[identity] = inner_slice(c, s->site, some[identity], segments.first, segments.n);
  }
}

/* Returns the descriptor of the parts, in this block, of the segments that begin in it; owned.
 */
static struct cvl_value beginning_segments(struct cvl_context *c, const struct scanning *s) {
  const struct pieces *p = &s->own;
  const uint64_t skipped = s->head > 0, n = p->segments.n - skipped;
  if (n == 1) return cvl_one_segment(p->block.n - s->head);
  int64_t *lengths = mpi_try_alloc(c, s->site, n * sizeof *lengths);
  struct cvl_value d = nothing();
  for (uint64_t k = 0; lengths && k < n; k++)
    lengths[k] = (int64_t)view_within(s->view, p->segments.first + skipped + k, p->block);
  if (lengths &&
      !absorb(c, c->b->segdes_from_host(c->inner, s->site, n, lengths, &d), at_site(s->site)))
    d = nothing();
  mpi_free(c, lengths);
  d.owned = d.form != CVL_NOTHING;
  return d;
}

/* Joins `head` and the elements behind it to an output; takes both. */
static struct cvl_value combine_scan_join(struct cvl_context *c, const struct scanning *s,
                                          struct cvl_value head, struct cvl_value rest) {
  struct cvl_value out;
  if (!absorb(c,
              c->b->slices->allocate(c->inner, s->site, (enum cvl_elem)head.elem,
                                     s->own.block.n, &out),
              at_site(s->site))) {
    inner_drop(c, (struct cvl_value[]){head, rest}, 2);
    return nothing();
  }
  const bool good = inner_fill(c, s->site, &out, 0, head);
  if (inner_fill(c, s->site, &out, s->head, rest) && good) return out;
  c->b->release(c->inner, &out);
  return nothing();
}

/* Scans a first segment that begins before the block, and the others. Borrows `in`. */
static bool scan_both(struct cvl_context *c, const struct scanning *s,
                      struct cvl_kernel *kernel, const struct cvl_value *in,
                      const struct cvl_value *before, struct cvl_value *out) {
  const struct superop *op = s->of->op;
  const struct pieces *p = &s->own;
  const struct mpi_range head = {0, s->head}, rest = {s->head, p->block.n - s->head};
  struct cvl_value *some = mpi_alloc(c, op->param_count * sizeof *some);
  struct cvl_value of_rest[SUPEROP_COLUMNS_MAX];
  some_operands(c, s, in, head, (struct mpi_range){0, 1}, cvl_one_segment(s->head), some);
  bool good = combine_scan_run_kernel(c, s, op, kernel, some, before, out);
  if (good) {
    some_operands(c, s, in, rest, (struct mpi_range){1, p->segments.n - 1},
                  beginning_segments(c, s), some);
    good = combine_scan_run_kernel(c, s, op, kernel, some, NULL, of_rest);
    if (!good) inner_drop(c, out, op->output_count);
  }
  for (uint32_t i = 0; good && i < op->output_count; i++)
    out[i] = combine_scan_join(c, s, out[i], of_rest[i]);
  mpi_free(c, some);
  return good;
}

/* Scans the block, with the values before its blocks of the tree. Takes `in`. */
static bool mpi_scan_block(struct cvl_context *c, const struct scanning *s,
                           struct cvl_kernel *kernel, struct cvl_value *in,
                           const struct cvl_value *before, struct cvl_value *out) {
  const struct superop *op = s->of->op;
  if (s->head > 0 && s->head < s->own.block.n) {
    const bool good = scan_both(c, s, kernel, in, before, out);
    inner_drop(c, in, op->param_count);
    return good;
  }
  in[op->segments] = s->head > 0 ? cvl_one_segment(s->head) : beginning_segments(c, s);
  return combine_scan_run_kernel(c, s, op, kernel, in, s->head > 0 ? before : NULL, out);
}

/* ---- the whole ---- */

/* Exchanges totals, and finds the values before this rank's blocks. Returns false if they are
 * poisoned. */
static bool bring_before(struct cvl_context *c, const struct scanning *s,
                         const struct cvl_value *in, struct cvl_value *before) {
  struct cvl_value totals[SUPEROP_COLUMNS_MAX];
  if (s->n == 0) return true;
  bool good = combine_scan_find_totals(c, s, in, totals);
  const bool few = s->longest <= most_totals(c) / c->ranks;
  good = (few ? before_from_all(c, s, totals, before)
              : before_from_blocks(c, s, totals, before)) &&
         good;
  inner_drop(c, totals, s->of->at.count);
  return good;
}

void combine_scan_run(struct cvl_context *c, uint64_t site, struct combine_scan *of,
                      struct cvl_kernel *kernel, const struct view *view, struct cvl_value *in,
                      struct cvl_value *out) {
  struct scanning s = {.of = of, .site = site, .view = view, .own = pieces_of(view, c->rank)};
  struct cvl_value before[SUPEROP_COLUMNS_MAX];
  for (uint32_t k = 0; k < of->at.count; k++) before[k] = nothing();
  if (s.own.head > 0) s.head = view_within(view, s.own.segments.first, s.own.block);
  combine_scan_plan(c, &s);
  bool good = bring_before(c, &s, in, before);
  if (good) {
    good = mpi_scan_block(c, &s, kernel, in, before, out);
  } else {
    inner_drop(c, in, of->op->param_count);
  }
  inner_drop(c, before, of->at.count);
  for (uint32_t i = 0; i < of->op->output_count; i++) {
    if (!good) out[i] = nothing();
    out[i].owned = 0;
  }
  mpi_free(c, s.lengths);
}
