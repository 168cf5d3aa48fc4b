/* gather.c - gathers between ranks, through the host's memory. A rank requests elements from
 * their owners. If it may want many of them, it requests each once: by positions, or, if that
 * is shorter, by a bit for each element of the owner's block. Otherwise it sends positions in
 * the order of its own elements. It reads its own elements in place.
 */
#include <stdlib.h>
#include <string.h>

#include "cvl-mpi/exchange/faults.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/operations/permute.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"
#include "cvl-mpi/values/views.h"

enum { BITS = 64, MANY = 32 };

/* The elements that are wanted, of 64 consecutive ones of the source. */
struct wanted {
  uint64_t bits;   /* a bit for each */
  uint64_t before; /* the number that is wanted before these 64 */
};

struct gather {
  struct permutation *p;
  struct host_elements values; /* elements of this rank's block of the source */
  struct mpi_range own;        /* the range of that block */
  bool poisoned;               /* this rank's result is poisoned */
  struct wanted *wanted; /* for all elements of the source; NULL: requests list positions */
  uint64_t *asked; /* for each rank: twice the number of elements, plus 1 if the request is
                      bits */
  struct comm_block *send, *receive; /* one for each rank */
  char *got;                         /* answers, in the order of ranks */
};

/* Returns the number of bits that are set (Warren, Hacker's Delight, 5-1). The oldest
 * processors have no instruction for it. */
static inline uint64_t ones(uint64_t x) {
  x -= x >> 1 & UINT64_C(0x5555555555555555);
  x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
  x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
  return x * UINT64_C(0x0101010101010101) >> 56;
}

/* ---- the elements that are wanted ---- */

static uint64_t gather_words_of(uint64_t bits) {
  return bits / BITS + 1;
}

/* Marks the elements that this rank's indices refer to. Returns false after a fault. */
static bool gather_mark(struct cvl_context *c, const struct gather *g,
                        const struct reading *r) {
  const struct permutation *p = g->p;
  const struct mpi_range s = p->view->segments;
  uint64_t i = 0;
  for (uint64_t k = 0; k < s.n; k++) {
    const uint64_t end = i + view_within(p->view, s.first + k, p->block);
    for (; i < end; i++) {
      const int64_t index = index_at(r, i);
      if (r->flags && !r->flags[i]) continue;
      if (!is_inside(p, k, index)) {
        fault_index(c, p, k, i, index);
        return false;
      }
      const uint64_t position = p->begin[k] + (uint64_t)index;
      g->wanted[position / BITS].bits |= UINT64_C(1) << position % BITS;
    }
  }
  return true;
}

/* Clears the bits of this rank's own elements. */
static void clear_own(const struct gather *g) {
  const uint64_t first = g->own.first, end = first + g->own.n;
  for (uint64_t x = first; x < end;) {
    if (x % BITS == 0 && end - x >= BITS) {
      g->wanted[x / BITS].bits = 0;
      x += BITS;
    } else {
      g->wanted[x / BITS].bits &= ~(UINT64_C(1) << x % BITS);
      x++;
    }
  }
}

/* Returns the number of bits that are set before a position, which is the index of its answer.
 */
static inline uint64_t rank_of(const struct gather *g, uint64_t position) {
  const struct wanted *w = &g->wanted[position / BITS];
  return w->before + ones(w->bits & ((UINT64_C(1) << position % BITS) - 1));
}

static void gather_count_bits(struct cvl_context *c, const struct gather *g) {
  struct permutation *p = g->p;
  uint64_t count = 0;
  for (uint64_t w = 0; w < gather_words_of(p->far->total); w++) {
    g->wanted[w].before = count;
    count += ones(g->wanted[w].bits);
  }
  for (unsigned r = 0; r < c->ranks; r++)
    p->out[r] = rank_of(g, p->far_at->start[r + 1]) - rank_of(g, p->far_at->start[r]);
  p->out_total = count;
}

/* Sets g->wanted, if many elements may be wanted. Returns false if positions are to be listed.
 */
static bool gather_find_wanted(struct cvl_context *c, struct gather *g,
                               const struct reading *r) {
  struct permutation *p = g->p;
  const uint64_t words = gather_words_of(p->far->total);
  if (p->far->total / MANY > p->block.n) return false;
  g->wanted = mpi_try_alloc(c, p->site, words * sizeof *g->wanted);
  g->poisoned |= !r->there || !p->begin || !g->wanted;
  if (!g->wanted) return true;
  memset(g->wanted, 0, words * sizeof *g->wanted);
  if (g->poisoned) return true;
  if (gather_mark(c, g, r)) {
    clear_own(g);
    gather_count_bits(c, g);
  } else {
    g->poisoned = true;
  }
  return true;
}

/* ---- requests ---- */

static bool as_bits(uint64_t asked) {
  return asked & 1;
}

/* Returns the bytes of a request to a rank whose block has n elements. */
static uint64_t request_bytes(const struct permutation *p, uint64_t asked, uint64_t n) {
  return as_bits(asked) ? gather_words_of(n) * sizeof(uint64_t) : (asked >> 1) * p->wide;
}

/* Returns word w of the bits of a block, counted from the block's first element. */
static uint64_t gather_word_of(const struct gather *g, struct mpi_range block, uint64_t w) {
  const struct wanted *from = g->wanted + block.first / BITS + w;
  const unsigned shift = block.first % BITS;
  const uint64_t left = block.n - w * BITS;
  uint64_t word = left > 0 ? from[0].bits >> shift : 0;
  if (shift > 0 && left > BITS - shift) word |= from[1].bits << (BITS - shift);
  return left >= BITS ? word : word & ((UINT64_C(1) << left) - 1);
}

/* Writes the request to the rank that has this block, as bits or positions. */
static void put_request(const struct gather *g, bool bits, struct mpi_range block, char *to) {
  uint64_t k = 0;
  for (uint64_t w = 0; w < gather_words_of(block.n); w++) {
    uint64_t word = gather_word_of(g, block, w);
    if (bits) memcpy(to + w * sizeof word, &word, sizeof word);
    for (; !bits && word; word &= word - 1)
      put_position(g->p, to, k++, w * BITS + (uint64_t)__builtin_ctzll(word));
  }
}

static uint64_t gather_sum_of(const struct cvl_context *c, const struct comm_block *b) {
  uint64_t total = 0;
  for (unsigned r = 0; r < c->ranks; r++) total += b[r].bytes;
  return total;
}

/* Sets the addresses of consecutive blocks; NULL: they are nowhere. */
static void set_data(const struct cvl_context *c, struct comm_block *b, char *data) {
  for (unsigned r = 0; r < c->ranks; r++) {
    b[r].data = data;
    if (data) data += b[r].bytes;
  }
}

/* Returns the requests to all ranks, or NULL if memory runs out. */
static char *requests_of(struct cvl_context *c, const struct gather *g) {
  char *all = mpi_try_alloc(c, g->p->site, gather_sum_of(c, g->send)), *to = all;
  for (unsigned r = 0; all && r < c->ranks; r++) {
    const struct mpi_range block = distribution_range(g->p->far_at, r);
    if (g->send[r].bytes > 0) put_request(g, as_bits(g->asked[r]), block, to);
    to += g->send[r].bytes;
  }
  return all;
}

/* Sets g->asked, and exchanges it: `told` is what each rank requests from this one. Sets the
 * sizes of blocks. */
static void plan_requests(struct cvl_context *c, const struct gather *g, uint64_t *told) {
  const struct permutation *p = g->p;
  for (unsigned r = 0; r < c->ranks; r++) {
    const uint64_t bits =
        gather_words_of(distribution_range(p->far_at, r).n) * sizeof(uint64_t);
    g->asked[r] = p->out[r] << 1 | (g->wanted && p->out[r] * p->wide > bits);
  }
  comm_transpose(c->comm, g->asked, told);
  for (unsigned r = 0; r < c->ranks; r++) {
    g->send[r].bytes = request_bytes(p, g->asked[r], distribution_range(p->far_at, r).n);
    g->receive[r].bytes = request_bytes(p, told[r], g->own.n);
    p->in[r] = told[r] >> 1;
  }
}

/* Returns the requests of all ranks to this one, or NULL if memory runs out. */
static char *exchange_requests(struct cvl_context *c, struct gather *g) {
  char *own = g->wanted ? requests_of(c, g) : NULL;
  g->poisoned |= g->wanted && !own; /* then zeros are sent */
  char *wanted = mpi_try_alloc(c, g->p->site, gather_sum_of(c, g->receive));
  set_data(c, g->send, g->wanted ? own : g->p->sent);
  set_data(c, g->receive, wanted);
  comm_exchange(c->comm, g->send, g->receive);
  mpi_free(c, own);
  return wanted;
}

/* ---- answers ---- */

static void answer_bits(const struct gather *g, const char *bits, char *to) {
  const size_t bytes = g->p->bytes;
  for (uint64_t w = 0; w < gather_words_of(g->own.n); w++) {
    uint64_t word;
    memcpy(&word, bits + w * sizeof word, sizeof word);
    for (; word; word &= word - 1, to += bytes)
      copy_element(to, 0, g->values.data, w * BITS + (uint64_t)__builtin_ctzll(word), bytes);
  }
}

static void answer_list(const struct gather *g, const char *positions, uint64_t n, char *to) {
  for (uint64_t k = 0; k < n; k++)
    copy_element(to, k, g->values.data, position_at(g->p, positions, k), g->p->bytes);
}

/* Returns the elements that the other ranks want; NULL: poisoned. */
static char *answers_of(struct cvl_context *c, const struct gather *g, const uint64_t *told,
                        const char *requests) {
  const struct permutation *p = g->p;
  char *all = mpi_try_alloc(c, p->site, p->in_total * p->bytes), *to = all;
  if (!all || !requests || !g->values.data) {
    mpi_free(c, all);
    return NULL;
  }
  for (unsigned r = 0; r < c->ranks; r++) {
    if (as_bits(told[r])) {
      answer_bits(g, requests, to);
    } else {
      answer_list(g, requests, p->in[r], to);
    }
    to += p->in[r] * p->bytes;
    requests += g->receive[r].bytes;
  }
  return all;
}

/* Exchanges requests and answers; sets g->got. */
static void gather_ask(struct cvl_context *c, struct gather *g) {
  struct permutation *p = g->p;
  uint64_t *told = mpi_alloc(c, c->ranks * sizeof *told);
  plan_requests(c, g, told);
  for (unsigned r = 0; r < c->ranks; r++) p->in_total += p->in[r];
  char *requests = exchange_requests(c, g), *answers = answers_of(c, g, told, requests);
  g->got = mpi_try_alloc(c, p->site, p->out_total * p->bytes);
  exchange_elements(c, p->bytes, answers, p->in, g->got, p->out);
  g->poisoned |= !g->got || !g->values.data;
  mpi_free(c, requests);
  mpi_free(c, answers);
  mpi_free(c, told);
}

/* ---- the result ---- */

struct taking {
  const struct gather *g;
  const struct reading *r;
};

static inline void gather_take(const struct gather *g, char *to, uint64_t i,
                               uint64_t position) {
  const uint64_t inside = position - g->own.first;
  if (inside < g->own.n) {
    copy_element(to, i, g->values.data, inside, g->p->bytes);
  } else {
    copy_element(to, i, g->got, rank_of(g, position), g->p->bytes);
  }
}

/* Writes elements first .. first + n of the block: a filler of the contract. */
static void gather_take_range(void *with, uint64_t first, uint64_t n, void *to) {
  const struct taking *t = with;
  const struct permutation *p = t->g->p;
  const uint64_t last = first + n, base = p->block.first;
  uint64_t i = first, k = view_segment_at(p->view, base + first);
  memset(to, 0, t->r->flags ? n * p->bytes : 0);
  for (; i < last; k++) {
    const uint64_t end = p->view->offset[k + 1] - base, begin = p->begin[k];
    for (; i < last && i < end; i++) {
      if (t->r->flags && !t->r->flags[i]) continue;
      gather_take(t->g, to, i - first, begin + (uint64_t)index_at(t->r, i));
    }
  }
}

static struct cvl_value gather_taken(struct cvl_context *c, const struct gather *g,
                                     const struct reading *r) {
  const struct permutation *p = g->p;
  const enum cvl_elem elem = mpi_elem(&p->a->values);
  struct taking t = {g, r};
  const struct cvl_filler filler = {gather_take_range, &t};
  struct cvl_value v = nothing();
  if (c->b->generators) {
    if (!absorb(c, c->b->generators->generate(c->inner, p->site, elem, p->block.n, &filler, &v),
                at_site(p->site)))
      return nothing();
    return v;
  }
  char *block = mpi_try_alloc(c, p->site, p->block.n * p->bytes);
  if (block && p->block.n > 0) gather_take_range(&t, 0, p->block.n, block);
  v = device_elements(c, p->site, elem, p->block.n, block);
  mpi_free(c, block);
  return v;
}

/* Returns the result from answers in the order of listed positions. */
static struct cvl_value taken_in_order(struct cvl_context *c, const struct gather *g) {
  const struct permutation *p = g->p;
  char *block = mpi_try_alloc(c, p->site, p->block.n * p->bytes);
  if (block) memset(block, 0, p->block.n * p->bytes);
  for (uint64_t k = 0; block && k < p->out_total; k++)
    copy_element(block, p->order[k], g->got, k, p->bytes);
  const struct cvl_value v =
      device_elements(c, p->site, mpi_elem(&p->a->values), p->block.n, block);
  mpi_free(c, block);
  return v;
}

struct cvl_value gather(struct cvl_context *c, struct permutation *p) {
  struct gather g = {.p = p, .own = distribution_range(p->far_at, c->rank)};
  struct reading r = reading_begin(c, p);
  g.values = host_elements_of(c, p->site, move_to(c, p->site, &p->a->values, p->far_at, false),
                              g.own.n, p->bytes);
  g.send = mpi_alloc(c, 2 * c->ranks * sizeof *g.send);
  g.receive = g.send + c->ranks;
  g.asked = mpi_alloc(c, c->ranks * sizeof *g.asked);
  const bool dense = gather_find_wanted(c, &g, &r);
  if (!dense) {
    find_positions(c, p, &r);
    group_positions(c, p);
    g.poisoned = !p->positions;
  }
  gather_ask(c, &g);
  struct cvl_value v = nothing();
  if (!g.poisoned) v = dense ? gather_taken(c, &g, &r) : taken_in_order(c, &g);
  host_elements_end(c, &g.values);
  reading_end(c, &r);
  mpi_free(c, g.got);
  mpi_free(c, g.wanted);
  mpi_free(c, g.asked);
  mpi_free(c, g.send);
  return v;
}
