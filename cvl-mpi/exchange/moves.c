/* moves.c - elements moved to other ranks: ranges of a vector that all ranks know. */
#include "cvl-mpi/exchange/moves.h"

#include <stdlib.h>
#include <string.h>

#include "cvl-mpi/exchange/faults.h"
#include "cvl-mpi/values/descriptors.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"

static struct mpi_range intersection(struct mpi_range a, struct mpi_range b) {
  const uint64_t end_a = a.first + a.n, end_b = b.first + b.n;
  const uint64_t first = a.first > b.first ? a.first : b.first;
  const uint64_t end = end_a < end_b ? end_a : end_b;
  return (struct mpi_range){first, first < end ? end - first : 0};
}

/* ---- an exchange of ranges, through the host's memory ---- */

struct crossing {
  const struct mpi_range *ranges; /* rank r wants ranges[r] */
  bool whole;                     /* all ranks want all elements, and must get the same */
  size_t bytes;                   /* of an element */
  struct comm_block *send, *receive;
  char *out, *in; /* bytes sent and received, in the order of ranks; NULL: poisoned, or no
                     memory */
  uint64_t out_bytes, in_bytes;
};

static struct mpi_range moves_sent(const struct cvl_context *c, const struct cvl_vector *v,
                                   const struct crossing *x, unsigned r) {
  const struct mpi_range none = {0, 0};
  return r == c->rank ? none : intersection(distribution_range(v->at, c->rank), x->ranges[r]);
}

static struct mpi_range moves_received(const struct cvl_context *c, const struct cvl_vector *v,
                                       const struct crossing *x, unsigned r) {
  const struct mpi_range none = {0, 0};
  return r == c->rank ? none : intersection(distribution_range(v->at, r), x->ranges[c->rank]);
}

static void moves_measure(struct cvl_context *c, const struct cvl_vector *v,
                          struct crossing *x) {
  x->send = mpi_alloc(c, 2 * c->ranks * sizeof *x->send);
  x->receive = x->send + c->ranks;
  for (unsigned r = 0; r < c->ranks; r++) {
    x->send[r].bytes = moves_sent(c, v, x, r).n * x->bytes;
    x->receive[r].bytes = moves_received(c, v, x, r).n * x->bytes;
    x->out_bytes += x->send[r].bytes;
    x->in_bytes += x->receive[r].bytes;
  }
}

/* Copies the elements to send from the inner back end. Returns false if they are poisoned. */
static bool moves_load(struct cvl_context *c, uint64_t site, const struct cvl_vector *v,
                       struct crossing *x) {
  const uint64_t first = distribution_range(v->at, c->rank).first;
  char *to = x->out;
  for (unsigned r = 0; r < c->ranks; r++) {
    const struct mpi_range part = moves_sent(c, v, x, r);
    if (part.n > 0 &&
        !absorb(c, c->b->to_host(c->inner, &v->local, part.first - first, part.n, to),
                at_site(site)))
      return false;
    to += x->send[r].bytes;
  }
  return true;
}

static void set_pointers(const struct cvl_context *c, const struct crossing *x, bool loaded) {
  char *out = loaded ? x->out : NULL, *in = x->in;
  for (unsigned r = 0; r < c->ranks; r++) {
    x->send[r].data = out;
    x->receive[r].data = in;
    if (out) out += x->send[r].bytes;
    if (in) in += x->receive[r].bytes;
  }
}

static void cross(struct cvl_context *c, uint64_t site, const struct cvl_vector *v,
                  struct crossing *x) {
  moves_measure(c, v, x);
  const bool here = v->local.form != CVL_NOTHING;
  x->out = here ? mpi_try_alloc(c, site, x->out_bytes) : NULL;
  x->in = mpi_try_alloc(c, site, x->in_bytes);
  set_pointers(c, x, x->out && moves_load(c, site, v, x));
  comm_exchange(c->comm, x->send, x->receive);
  mpi_free(c, x->out);
}

/* ---- moves ---- */

/* Fills the part of a poisoned block with the zeros that other ranks receive for it. */
static bool fill_zeros(struct cvl_context *c, uint64_t site, const struct cvl_vector *v,
                       struct mpi_range own, const struct cvl_value *target) {
  const enum cvl_elem elem = (enum cvl_elem)v->elem;
  const uint64_t bytes = own.n * elem_info(elem)->bytes;
  void *zeros = mpi_try_alloc(c, site, bytes);
  if (!zeros) return false;
  memset(zeros, 0, bytes);
  struct cvl_value copy = device_elements(c, site, elem, own.n, zeros);
  copy.owned = copy.form != CVL_NOTHING;
  mpi_free(c, zeros);
  return inner_fill(c, site, target, own.first, copy);
}

static bool fill_own(struct cvl_context *c, uint64_t site, const struct cvl_vector *v,
                     const struct crossing *x, const struct cvl_value *target) {
  const struct mpi_range wanted = x->ranges[c->rank];
  const struct mpi_range mine = distribution_range(v->at, c->rank),
                         own = intersection(mine, wanted);
  if (own.n == 0) return true;
  if (v->local.form == CVL_NOTHING && x->whole && !c->armed)
    return fill_zeros(c, site, v, own, target);
  return inner_fill(c, site, target, own.first - wanted.first,
                    inner_slice(c, site, v->local, own.first - mine.first, own.n));
}

static bool fill_received(struct cvl_context *c, uint64_t site, const struct cvl_vector *v,
                          const struct crossing *x, const struct cvl_value *target) {
  const uint64_t first = x->ranges[c->rank].first;
  for (unsigned r = 0; r < c->ranks; r++) {
    const struct mpi_range part = moves_received(c, v, x, r);
    struct cvl_value copy;
    if (part.n == 0) continue;
    if (!x->in || !absorb(c,
                          c->b->from_host(c->inner, site, (enum cvl_elem)v->elem, part.n,
                                          x->receive[r].data, &copy),
                          at_site(site)))
      return false;
    copy.owned = 1;
    if (!inner_fill(c, site, target, part.first - first, copy)) return false;
  }
  return true;
}

/* Returns the range of this rank, from its own elements and the received ones. */
static struct cvl_value assembled(struct cvl_context *c, uint64_t site,
                                  const struct cvl_vector *v, const struct crossing *x) {
  const struct mpi_range wanted = x->ranges[c->rank];
  struct cvl_value out;
  if (!absorb(c, c->b->slices->allocate(c->inner, site, (enum cvl_elem)v->elem, wanted.n, &out),
              at_site(site)))
    return nothing();
  if (fill_own(c, site, v, x, &out) && fill_received(c, site, v, x, &out)) {
    out.owned = 1;
    return out;
  }
  c->b->release(c->inner, &out);
  return nothing();
}

/* Returns elements ranges[r] on rank r of a vector in blocks. */
static struct cvl_value moves_exchanged(struct cvl_context *c, uint64_t site,
                                        const struct cvl_value *v,
                                        const struct mpi_range *ranges, bool whole) {
  struct crossing x = {
      .ranges = ranges, .whole = whole, .bytes = elem_info(mpi_elem(v))->bytes};
  cross(c, site, v->as.vector, &x);
  const struct cvl_value moved = assembled(c, site, v->as.vector, &x);
  mpi_free(c, x.send);
  mpi_free(c, x.in);
  return moved;
}

struct cvl_value move_ranges(struct cvl_context *c, uint64_t site, const struct cvl_value *v,
                             const struct mpi_range *ranges) {
  const struct mpi_range mine = ranges[c->rank];
  if (!mpi_at(v)) return inner_slice(c, site, inner_of(v, false), mine.first, mine.n);
  return moves_exchanged(c, site, v, ranges, false);
}

/* ---- copies of vectors that all ranks want more than once ---- */

static uint64_t moves_bytes_of(const struct cvl_vector *v) {
  return v->n * elem_info((enum cvl_elem)v->elem)->bytes;
}

void copy_drop(struct cvl_context *c, struct cvl_vector *v) {
  unsigned k = 0;
  if (!v->copied) return;
  while (c->copies[k] != v) k++;
  for (c->copy_count--; k < c->copy_count; k++) c->copies[k] = c->copies[k + 1];
  c->copied_bytes -= moves_bytes_of(v);
  v->copied = false;
  release_inner(c, &v->copy);
}

void copies_drop(struct cvl_context *c) {
  while (c->copy_count > 0) copy_drop(c, c->copies[0]);
}

/* Keeps a copy, which it takes; the oldest copies are dropped where they are too many. */
static void copy_keep(struct cvl_context *c, struct cvl_vector *v, struct cvl_value copy) {
  while (c->copy_count == COPIES || c->copied_bytes + moves_bytes_of(v) > c->copied_most)
    copy_drop(c, c->copies[0]);
  c->copies[c->copy_count++] = v;
  c->copied_bytes += moves_bytes_of(v);
  v->copied = true;
  v->copy = copy;
  v->copy.owned = 0;
}

/* Returns whether a vector in blocks has been wanted before and does not end with this use. */
static bool is_worth_keeping(const struct cvl_context *c, const struct cvl_value *operand) {
  struct cvl_vector *v = operand->as.vector;
  const bool again = v->wanted_whole;
  v->wanted_whole = true;
  return again && !operand->owned && moves_bytes_of(v) <= c->copied_most;
}

/* Returns all elements, owned, or borrowed from v. */
static struct cvl_value everything(struct cvl_context *c, uint64_t site,
                                   const struct cvl_value *operand) {
  struct cvl_vector *v = operand->as.vector;
  if (v->copied) return v->copy;
  const struct cvl_value all = move_all(c, site, operand);
  if (!is_worth_keeping(c, operand)) return all;
  copy_keep(c, v, all);
  return v->copy;
}

static bool all_want_all(const struct cvl_context *c, const struct mpi_range *ranges,
                         uint64_t n) {
  for (unsigned r = 0; r < c->ranks; r++) {
    if (ranges[r].n != n) return false;
  }
  return true;
}

struct cvl_value move_kept(struct cvl_context *c, uint64_t site, const struct cvl_value *v,
                           const struct mpi_range *ranges) {
  const struct mpi_range mine = ranges[c->rank];
  if (!mpi_at(v)) return move_ranges(c, site, v, ranges);
  if (all_want_all(c, ranges, v->as.vector->n)) return everything(c, site, v);
  if (!v->as.vector->copied) return move_ranges(c, site, v, ranges);
  return inner_slice(c, site, v->as.vector->copy, mine.first, mine.n);
}

struct cvl_value move_whole(struct cvl_context *c, uint64_t site, const struct cvl_value *v) {
  if (segdes_is_held(v)) return segdes_everywhere(c, site, v);
  return mpi_at(v) ? everything(c, site, v) : inner_of(v, true);
}

/* Where the block of a rank is poisoned, all ranks have zeros, since none may differ from the
 * others. */
struct cvl_value move_all(struct cvl_context *c, uint64_t site, const struct cvl_value *v) {
  struct mpi_range *ranges = ranges_same(c, 0, mpi_length(v));
  const struct cvl_value moved = moves_exchanged(c, site, v, ranges, true);
  c->unsure = true;
  mpi_free(c, ranges);
  return moved;
}

static struct cvl_value move_blocks(struct cvl_context *c, uint64_t site,
                                    const struct cvl_value *v, struct distribution *at) {
  struct mpi_range *ranges = ranges_of_blocks(c, at);
  const struct cvl_value moved = move_ranges(c, site, v, ranges);
  mpi_free(c, ranges);
  return moved;
}

struct cvl_value move_to(struct cvl_context *c, uint64_t site, const struct cvl_value *v,
                         struct distribution *at, bool may_take) {
  if (!at) return move_whole(c, site, v);
  if (mpi_at(v) && distribution_same(mpi_at(v), at)) return inner_of(v, may_take);
  return move_blocks(c, site, v, at);
}

/* ---- through the host's memory ---- */

void *host_elements(struct cvl_context *c, uint64_t site, struct cvl_value v, uint64_t n,
                    size_t bytes) {
  if (v.form == CVL_NOTHING) return NULL;
  void *data = mpi_try_alloc(c, site, n * bytes);
  if (data && n > 0 && !absorb(c, c->b->to_host(c->inner, &v, 0, n, data), at_site(site))) {
    mpi_free(c, data);
    data = NULL;
  }
  inner_drop(c, &v, 1);
  return data;
}

struct host_elements host_elements_of(struct cvl_context *c, uint64_t site, struct cvl_value v,
                                      uint64_t n, size_t bytes) {
  struct host_elements l = {0};
  const bool lends = v.form == CVL_VECTOR && c->b->sharing;
  if (lends && c->b->sharing->export_vector(c->inner, &v, &l.exported)) {
    l.data = l.exported.data;
    inner_drop(c, &v, 1);
  } else {
    l.exported.data = NULL;
    l.data = l.copy = host_elements(c, site, v, n, bytes);
  }
  return l;
}

void host_elements_end(struct cvl_context *c, struct host_elements *l) {
  if (l->exported.data) l->exported.end.call(l->exported.end.with);
  mpi_free(c, l->copy);
}

struct cvl_value device_elements(struct cvl_context *c, uint64_t site, enum cvl_elem elem,
                                 uint64_t n, const void *data) {
  struct cvl_value v;
  if (!data || !absorb(c, c->b->from_host(c->inner, site, elem, n, data, &v), at_site(site)))
    return nothing();
  return v;
}

void exchange_elements(struct cvl_context *c, size_t bytes, const void *from,
                       const uint64_t *from_counts, void *to, const uint64_t *to_counts) {
  struct comm_block *send = mpi_alloc(c, 2 * c->ranks * sizeof *send),
                    *receive = send + c->ranks;
  const char *out = from;
  char *in = to;
  for (unsigned r = 0; r < c->ranks; r++) {
    send[r] = (struct comm_block){(void *)(uintptr_t)out, from_counts[r] * bytes};
    receive[r] = (struct comm_block){in, to_counts[r] * bytes};
    if (out) out += send[r].bytes;
    if (in) in += receive[r].bytes;
  }
  comm_exchange(c->comm, send, receive);
  mpi_free(c, send);
}

void gather_answers(struct cvl_context *c, uint64_t n, const unsigned *holder, size_t bytes,
                    void *answers) {
  uint64_t *known = mpi_alloc(c, c->ranks * sizeof *known), most = 0, mine = 0;
  for (uint64_t i = 0; i < n; i++) {
    if (++known[holder[i]] > most) most = known[holder[i]];
  }
  char *to = answers, *said = mpi_alloc(c, (most + 1) * bytes),
       *all = mpi_alloc(c, (most * c->ranks + 1) * bytes);
  for (uint64_t i = 0; i < n; i++) {
    if (holder[i] == c->rank) memcpy(said + mine++ * bytes, to + i * bytes, bytes);
  }
  if (most > 0) comm_gather(c->comm, said, most * bytes, all);
  for (uint64_t i = n; i-- > 0;)
    memcpy(to + i * bytes, all + (holder[i] * most + --known[holder[i]]) * bytes, bytes);
  mpi_free(c, all);
  mpi_free(c, said);
  mpi_free(c, known);
}

/* ---- blocks of elements that all ranks have ---- */

struct cvl_value keep_block(struct cvl_context *c, uint64_t site, struct cvl_value whole,
                            struct mpi_range block) {
  struct cvl_value out = nothing();
  if (whole.form == CVL_NOTHING) return out;
  const struct cvl_value slice = inner_slice(c, site, whole, block.first, block.n);
  if (slice.form != CVL_NOTHING &&
      !absorb(c,
              c->b->slices->allocate(c->inner, site, (enum cvl_elem)whole.elem, block.n, &out),
              at_site(site))) {
    inner_drop(c, &slice, 1);
    out = nothing();
  } else if (slice.form != CVL_NOTHING && !inner_fill(c, site, &out, 0, slice)) {
    c->b->release(c->inner, &out);
    out = nothing();
  }
  c->b->release(c->inner, &whole);
  return out;
}
