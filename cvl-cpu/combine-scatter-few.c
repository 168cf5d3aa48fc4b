/* combine-scatter-few.c - COMBINE_SCATTER into few destinations: elements are reduced as they
 * come.
 *
 * Of each destination there are the elements since the last whole *block*, whose size is a
 * power of two, and the totals of the subtrees that the blocks before consist of, one of each
 * size at most: a binary counter. So no element is written twice, and all of it stays in the
 * caches.
 */
#include "cvl-cpu/combine-scatter-job.h"

enum { BLOCK_MOST = 64, BLOCK_LEAST = 8 };
/* Elements of all destinations: in the second-level cache, if that allows for blocks at all. */
enum { STORE_BYTES = 1 << 20, STORE_MOST = 8 << 20 };

struct few_store {
  uint64_t block;  /* elements */
  unsigned levels; /* of totals: those of one block and more */
  uint64_t *count; /* of each destination: its elements so far, the default included */
  struct order_columns elements; /* `block` of each destination */
  struct order_columns totals;   /* `levels` of each */
};

/* What a thread calls the function with. */
struct few_caller {
  const struct order_function *f;
  char *scratch;
};

static unsigned levels_for(uint64_t n, uint64_t block) {
  unsigned levels = 1;
  while (n / block >> levels > 0) levels++;
  return levels;
}

static size_t store_bytes(const struct scatter_job *j, uint64_t block) {
  const uint64_t slots = block + levels_for(j->s->near.total + 1, block);
  return j->s->far.total * (slots * j->item + sizeof(uint64_t));
}

bool scatter_is_few(const struct scatter_job *j) {
  return j->s->far.total <= j->s->near.total / BLOCK_LEAST &&
         store_bytes(j, BLOCK_LEAST) <= STORE_MOST;
}

/* *to = item i of x. */
static inline void find(const struct scatter_job *j, const struct order_columns *x, uint64_t i,
                        struct order_columns *to) {
  for (uint32_t c = 0; c < j->s->columns; c++) to->at[c] = x->at[c] + i * j->bytes[c];
}

static inline void combine(const struct few_caller *call, const struct order_columns *left,
                           const struct order_columns *right, const struct order_columns *out) {
  if (call->f->compiled) {
    call->f->compiled->apply(1, left->at, right->at, out->at);
  } else {
    call->f->apply(call->f, 1, left, right, out);
  }
}

static inline void copy(const struct scatter_job *j, const struct order_columns *to,
                        const struct order_columns *from) {
  for (uint32_t c = 0; c < j->s->columns; c++) memcpy(to->at[c], from->at[c], j->bytes[c]);
}

/* Room for the totals of the roots of a block. */
struct roots {
  uint64_t room[SUPEROP_COLUMNS_MAX][ORDER_ROOTS];
};
static inline void point(const struct scatter_job *j, struct roots *roots,
                         struct order_columns *to) {
  for (uint32_t c = 0; c < j->s->columns; c++) to->at[c] = (char *)roots->room[c];
}

/* The block of destination d is whole: its total is added to the counter. */
static void close_block(const struct scatter_job *j, const struct few_caller *call,
                        uint64_t d) {
  const struct few_store *s = j->store;
  struct roots room;
  struct order_columns item, x, to;
  unsigned level = 0;
  point(j, &room, &item);
  find(j, &s->elements, d * s->block, &x);
  order_roots(call->f, &x, s->block, &item, call->scratch);
  for (uint64_t blocks = s->count[d] / s->block - 1; blocks & 1; blocks >>= 1, level++) {
    find(j, &s->totals, d * s->levels + level, &to);
    combine(call, &to, &item, &item);
  }
  find(j, &s->totals, d * s->levels + level, &to);
  copy(j, &to, &item);
}

/* Combines what is in `out`, if anything is, with an item. */
static inline void append(const struct scatter_job *j, const struct few_caller *call, bool *any,
                          const struct order_columns *item, const struct order_columns *out) {
  if (*any) {
    combine(call, out, item, out);
  } else {
    copy(j, out, item);
  }
  *any = true;
}

/* The reduction of destination d. */
static void finish(const struct scatter_job *j, const struct few_caller *call, uint64_t d) {
  const struct few_store *s = j->store;
  const uint64_t blocks = s->count[d] / s->block;
  struct roots room;
  struct order_columns out, roots, x, item;
  bool any = false;
  for (uint32_t c = 0; c < j->s->columns; c++)
    out.at[c] = j->s->column[c].out + d * j->bytes[c];
  for (unsigned level = s->levels; level-- > 0;) {
    if (!(blocks >> level & 1)) continue;
    find(j, &s->totals, d * s->levels + level, &item);
    append(j, call, &any, &item, &out);
  }
  point(j, &room, &roots);
  find(j, &s->elements, d * s->block, &x);
  const unsigned count =
      order_roots(call->f, &x, s->count[d] % s->block, &roots, call->scratch);
  for (unsigned i = 0; i < count; i++) {
    find(j, &roots, i, &item);
    append(j, call, &any, &item, &out);
  }
}

#define ADD_STEP(name, type)                                                                   \
  /* One column. */                                                                            \
  static void name(struct scatter_job *j, const struct range *r, uint64_t position,            \
                   uint64_t n, uint64_t *to, void *with) {                                     \
    const type *v = (const type *)(const void *)scatter_values(j, 0, position);                \
    type *elements = (type *)(void *)j->store->elements.at[0];                                 \
    uint64_t *count = j->store->count;                                                         \
    const uint64_t step = !j->s->column[0].same, block = j->store->block, last = block - 1;    \
    const uint64_t low = r->low, width = r->high - r->low;                                     \
    for (uint64_t i = 0; i < n; i++) {                                                         \
      const uint64_t d = to[i];                                                                \
      if (d - low >= width) continue;                                                          \
      const uint64_t k = count[d]++;                                                           \
      elements[d * block + (k & last)] = v[i * step];                                          \
      if ((k & last) == last) close_block(j, with, d);                                         \
    }                                                                                          \
  }
ADD_STEP(add_u8, uint8_t)
ADD_STEP(add_u32, uint32_t)
ADD_STEP(add_u64, uint64_t)
#undef ADD_STEP

static void add_columns(struct scatter_job *j, const struct range *r, uint64_t position,
                        uint64_t n, uint64_t *to, void *with) {
  const struct few_store *s = j->store;
  for (uint64_t i = 0; i < n; i++) {
    const uint64_t d = to[i];
    if (d - r->low >= r->high - r->low) continue;
    const uint64_t k = s->count[d]++;
    for (uint32_t c = 0; c < j->s->columns; c++) {
      memcpy(s->elements.at[c] + (d * s->block + k % s->block) * j->bytes[c],
             scatter_values(j, c, position + i), j->bytes[c]);
    }
    if ((k + 1) % s->block == 0) close_block(j, with, d);
  }
}

static scatter_take *step_for(const struct scatter_job *j) {
  if (j->s->columns > 1) return add_columns;
  return j->bytes[0] == 8 ? add_u64 : j->bytes[0] == 4 ? add_u32 : add_u8;
}

static void reduce_ranges(void *job, uint64_t first, uint64_t last, unsigned worker) {
  struct scatter_job *j = job;
  const struct few_store *s = j->store;
  struct few_caller call;
  call.f = j->s->function(j->s->with, worker, &call.scratch);
  for (uint64_t i = first; i < last; i++) {
    const struct range r = range_of(&j->s->far, j->ranges, i);
    for (uint64_t d = r.low; d < r.high; d++) {
      s->count[d] = 1;
      for (uint32_t c = 0; c < j->s->columns; c++) {
        memcpy(s->elements.at[c] + d * s->block * j->bytes[c],
               j->s->column[c].defaults + d * j->bytes[c], j->bytes[c]);
      }
    }
    scatter_visit(j, &r, step_for(j), &call);
    for (uint64_t d = r.low; d < r.high; d++) finish(j, &call, d);
  }
}

bool scatter_few(struct scatter_job *j, uint64_t site) {
  struct few_store s = {.block = BLOCK_MOST};
  while (s.block > BLOCK_LEAST && j->s->far.total * s.block * j->item > STORE_BYTES)
    s.block /= 2;
  s.levels = levels_for(j->s->near.total + 1, s.block);
  const size_t bytes = store_bytes(j, s.block) + 2 * SUPEROP_COLUMNS_MAX * VECTOR_SLACK;
  char *memory = scratch_alloc(j->c, site, bytes);
  if (!memory) return false;
  char *to = memory;
  s.count = (uint64_t *)(void *)to;
  to += j->s->far.total * sizeof *s.count;
  for (uint32_t c = 0; c < j->s->columns; c++) { /* the widest alignment for all */
    s.elements.at[c] = to;
    to += (j->s->far.total * s.block * j->bytes[c] + WIDEST - 1) / WIDEST * WIDEST;
    s.totals.at[c] = to;
    to += (j->s->far.total * s.levels * j->bytes[c] + WIDEST - 1) / WIDEST * WIDEST;
  }
  j->store = &s;
  const bool done = scatter_ranges(j, site, reduce_ranges);
  scratch_free(j->c, memory, bytes);
  return done;
}
