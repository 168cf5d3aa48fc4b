/* deferred.c - see deferred.h. All ranks enter, want and release the same values in the same
 * order, so the same values are deferred on all of them.
 */
#include "cvl-mpi/exchange/deferred.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "cvl-mpi/exchange/faults.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"

/* ---- entering and leaving ---- */

/* The sizes of the latest symbols are kept. Nobody has an older symbol, since the machine asks
 * for the sizes of the operands of an operation and then resolves them. */
enum { SIZES = 1 << 14 };

static void unlink_deferred(struct cvl_context *c, struct deferred *p) {
  *p->previous = p->next;
  if (p->next) {
    p->next->previous = p->previous;
  } else {
    c->deferred_end = p->previous;
  }
}

static void deferred_drop(struct cvl_context *c, struct deferred *p) {
  if (p->kind->drop) p->kind->drop(c, p);
  mpi_free(c, p);
}

void deferred_add(struct cvl_context *c, struct deferred *p, bool sizes_known,
                  const struct cvl_value *vector, const struct cvl_value *segdes) {
  if (!c->deferred_end) c->deferred_end = &c->deferred;
  p->symbol = sizes_known ? 0 : ++c->last_symbol;
  p->vector = vector ? vector->as.vector : NULL;
  p->segdes = segdes ? segdes->as.segdes : NULL;
  if (p->vector) p->vector->deferred = p;
  if (p->segdes) p->segdes->deferred = p;
  p->next = NULL;
  p->previous = c->deferred_end;
  *c->deferred_end = p;
  c->deferred_end = &p->next;
}

/* The vector and the descriptor of p no longer wait for it. */
static void detach(struct deferred *p) {
  if (p->vector) p->vector->deferred = NULL;
  if (p->segdes) p->segdes->deferred = NULL;
}

bool deferred_forget(struct cvl_context *c, struct deferred *p) {
  if (p->symbol) return false;
  detach(p);
  unlink_deferred(c, p);
  deferred_drop(c, p);
  return true;
}

void deferred_drop_all(struct cvl_context *c) {
  while (c->deferred) {
    struct deferred *p = c->deferred;
    detach(p);
    unlink_deferred(c, p);
    deferred_drop(c, p);
  }
}

/* ---- sizes ---- */

void deferred_size(struct cvl_context *c, const struct deferred *p, uint64_t n) {
  if (!c->sizes) c->sizes = mpi_alloc(c, SIZES * sizeof *c->sizes);
  if (p->symbol) c->sizes[p->symbol % SIZES] = n;
}

/* ---- a round ---- */

enum { ALIGNED = 8 }; /* bytes: each part of a round begins at a multiple of them */

static size_t aligned(size_t bytes) {
  return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* Takes deferred values out of the context's list, in order; heavy ones only with `heavy`. */
static struct deferred *deferred_take(struct cvl_context *c, bool heavy) {
  struct deferred *list = NULL, **end = &list, *next;
  for (struct deferred *p = c->deferred; p; p = next) {
    next = p->next;
    if (p->kind->heavy && !heavy) continue;
    unlink_deferred(c, p);
    p->next = NULL;
    *end = p;
    end = &p->next;
  }
  return list;
}

struct round round_begin(struct cvl_context *c, bool heavy, size_t head) {
  struct round r = {.list = deferred_take(c, heavy), .head = aligned(head)};
  size_t at = r.head;
  r.bytes = r.head;
  for (struct deferred *p = r.list; p; p = p->next) r.bytes += aligned(p->bytes);
  r.mine = mpi_alloc(c, r.bytes + 1);
  for (struct deferred *p = r.list; p; p = p->next) {
    if (p->bytes > 0) p->kind->say(c, p, r.mine + at);
    at += aligned(p->bytes);
  }
  return r;
}

void round_gather(struct cvl_context *c, struct round *r) {
  r->all = mpi_alloc(c, c->ranks * r->bytes + 1);
  if (r->bytes > 0) comm_gather(c->comm, r->mine, r->bytes, r->all);
}

/* Completes p's values from what has arrived. They are complete then, or deferred once more. */
static void deferred_complete(struct cvl_context *c, struct deferred *p, const char *all,
                              size_t stride) {
  struct cvl_vector *v = p->vector;
  struct cvl_segdes *d = p->segdes;
  detach(p);
  p->kind->arrive(c, p, all, stride);
  deferred_drop(c, p);
  mpi_unwanted(c, v, d);
}

void round_end(struct cvl_context *c, struct round *r) {
  size_t at = r->head;
  for (struct deferred *p = r->list, *next; p; p = next) {
    next = p->next;
    const size_t bytes = aligned(p->bytes);
    deferred_complete(c, p, r->all + at, r->bytes);
    at += bytes;
  }
  mpi_free(c, r->mine);
  mpi_free(c, r->all);
}

/* ---- wanting ---- */

struct deferred *waits_for(const struct cvl_value *v) {
  if (v->form == CVL_VECTOR) return v->as.vector->deferred;
  return v->form == CVL_SEGDES ? v->as.segdes->deferred : NULL;
}

static void want_all(struct cvl_context *c) {
  while (c->deferred) agree_with(c, true);
}

void settle_all(struct cvl_context *c) {
  bool heavy;
  do {
    heavy = false;
    for (const struct deferred *p = c->deferred; p; p = p->next)
      heavy = heavy || p->kind->heavy;
    agree_with(c, true);
  } while (heavy || c->deferred);
}

static bool deferred_is_known(const struct cvl_context *c, uint64_t symbol) {
  for (const struct deferred *p = c->deferred; p; p = p->next) {
    if (p->symbol == symbol) return false;
  }
  return true;
}

uint64_t size_known(struct cvl_context *c, uint64_t symbol) {
  invariant(symbol + SIZES > c->last_symbol);
  if (!deferred_is_known(c, symbol)) agree(c);
  return c->sizes[symbol % SIZES];
}

void want(struct cvl_context *c, const struct cvl_value *operands, unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    if (waits_for(&operands[i])) want_all(c);
  }
}

/* ---- elements that move to other ranks: short vectors go to all ---- */

struct blocks {
  struct deferred p;
  struct distribution *to; /* NULL: all ranks */
};

static void say_block(struct cvl_context *c, struct deferred *p, void *to) {
  const struct cvl_vector *v = p->vector;
  const uint64_t n = distribution_range(v->at, c->rank).n;
  inner_read(c, p->site, &v->local, 0, n, to);
}

/* Replaces the vector's elements by `local`, distributed as `at`. */
static void become(struct cvl_context *c, struct cvl_vector *v, struct distribution *at,
                   struct cvl_value local) {
  release_inner(c, &v->local);
  distribution_release(v->at);
  v->at = at;
  v->local = local;
  v->local.owned = 0;
}

static void blocks_arrive(struct cvl_context *c, struct deferred *p, const char *all,
                          size_t stride) {
  struct cvl_vector *v = p->vector;
  const size_t bytes = elem_info((enum cvl_elem)v->elem)->bytes;
  char *data = mpi_alloc(c, v->n * bytes + 1);
  for (unsigned r = 0; r < c->ranks; r++) {
    const struct mpi_range block = distribution_range(v->at, r);
    if (block.n > 0) memcpy(data + block.first * bytes, all + r * stride, block.n * bytes);
  }
  const bool poisoned = v->local.form == CVL_NOTHING && c->armed;
  become(c, v, NULL,
         device_elements(c, p->site, (enum cvl_elem)v->elem, v->n, poisoned ? NULL : data));
  have_all(c, v->local.form != CVL_NOTHING);
  mpi_free(c, data);
}

static void move_arrive(struct cvl_context *c, struct deferred *p, const char *all,
                        size_t stride) {
  const struct cvl_value v = {
      .form = CVL_VECTOR, .elem = p->vector->elem, .as.vector = p->vector};
  struct distribution *to = ((struct blocks *)p)->to;
  (void)all;
  (void)stride;
  become(c, p->vector, distribution_retain(to),
         to ? move_to(c, p->site, &v, to, false) : move_all(c, p->site, &v));
}

static void blocks_drop(struct cvl_context *c, struct deferred *p) {
  (void)c;
  distribution_release(((struct blocks *)p)->to);
}

static const struct deferred_kind gathered = {true, say_block, blocks_arrive, NULL},
                                  moved = {true, NULL, move_arrive, blocks_drop};

static uint64_t longest_block(const struct distribution *at) {
  uint64_t most = 0;
  for (unsigned r = 0; r < at->ranks; r++) {
    const uint64_t n = distribution_range(at, r).n;
    if (n > most) most = n;
  }
  return most;
}

/* Tells whether blocks are so even that a collective pays, in which all ranks send as much as
 * the longest block. */
static bool is_even(const struct cvl_context *c, const struct distribution *at) {
  return longest_block(at) * c->ranks <= MOST_SAID;
}

void settle_blocks(struct cvl_context *c, uint64_t site, const struct cvl_value *vector) {
  const struct cvl_vector *v = vector->as.vector;
  const bool whole = is_whole(c, v->n), even = whole && is_even(c, v->at);
  if (!whole && !distribution_is_skewed(c, v->at)) return;
  struct blocks *b = mpi_alloc(c, sizeof *b);
  b->p.kind = even ? &gathered : &moved;
  b->p.site = site;
  if (even) b->p.bytes = longest_block(v->at) * elem_info((enum cvl_elem)v->elem)->bytes;
  if (!whole) b->to = distribution_canonical(c, v->n);
  deferred_add(c, &b->p, true, vector, NULL);
}

struct cvl_value settled(struct cvl_context *c, uint64_t site, enum cvl_elem elem,
                         struct distribution *at, struct cvl_value local) {
  const struct cvl_value v = mpi_vector(c, elem, at->n, at, local);
  settle_blocks(c, site, &v);
  return v;
}
