/* functions.h - what native code of procedures is written in: its memory, work that others
 * may take, and scans. It stands as text behind native.h and fused-kernels/loops/native-loops.h in
 * every file that is compiled.
 */
#ifdef __GNUC__
#define SELDOM static __attribute__((unused, noinline, cold))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define HOT __attribute__((unused, hot)) /* compilers take what is called in one place for cold */
#else
#define HOT
#define SELDOM static
#define LIKELY(x) (x)
#endif

enum { NATIVE_LINE = 64, NATIVE_SLACK = 64, NATIVE_BLOCK = 64 << 10 };

/* ---- arenas ---- */

SELDOM void *native_take_more(struct native_thread *r, uint64_t bytes) {
  struct native_arena *a = r->arena;
  struct native_block *b = a->block;
  const uint64_t head = NATIVE_LINE, least = bytes + head;
  if (bytes > (uint64_t)1 << 48) return NULL;
  if (b && b->next && b->next->bytes >= least) {
    a->block = b->next;
  } else {
    uint64_t wanted = b ? 2 * b->bytes : NATIVE_BLOCK;
    if (wanted < least) wanted = least;
    struct native_block *more = r->allocate(r->with, wanted);
    if (!more) return NULL;
    *more = (struct native_block){b ? b->next : NULL, b, wanted};
    if (b && b->next) b->next->previous = more;
    if (b) b->next = more;
    a->block = more;
  }
  a->at = (char *)a->block + head + bytes;
  a->end = (char *)a->block + a->block->bytes;
  return (char *)a->block + head;
}

/* Room for n elements of so many bytes, and a little more; NULL without memory. */
NATIVE inline void *native_take(struct native_thread *r, uint64_t n, uint64_t size) {
  struct native_arena *a = r->arena;
  if (n > (uint64_t)1 << 44) return NULL;
  const uint64_t bytes = (n * size + NATIVE_SLACK + 15) / 16 * 16;
  if (LIKELY((uint64_t)(a->end - a->at) >= bytes)) {
    void *at = a->at;
    a->at += bytes;
    return at;
  }
  return native_take_more(r, bytes);
}

/* Copies; short vectors, of which there are most, without a call. */
NATIVE inline void native_copy(void *to, const void *from, uint64_t bytes) {
  if (bytes > 64 || bytes % 8) {
    memcpy(to, from, bytes);
    return;
  }
  for (uint64_t i = 0; i < bytes; i += 8) memcpy((char *)to + i, (const char *)from + i, 8);
}

struct native_mark {
  struct native_block *block;
  char *at;
  struct native_pooled *buffers;
};

NATIVE inline struct native_mark native_mark(const struct native_thread *r) {
  return (struct native_mark){r->arena->block, r->arena->at, r->used_buffers};
}

NATIVE void native_first(struct native_arena *a) {
  struct native_block *b = a->block;
  while (b && b->previous) b = b->previous;
  a->block = b;
  a->at = b ? (char *)b + NATIVE_LINE : NULL;
  a->end = b ? (char *)b + b->bytes : NULL;
}

NATIVE inline void native_pop(struct native_arena *a, struct native_mark m) {
  if (LIKELY(a->block == m.block)) {
    a->at = m.at;
  } else if (m.block) {
    a->block = m.block;
    a->at = m.at;
    a->end = (char *)m.block + m.block->bytes;
  } else {
    native_first(a);
  }
}

/* ---- buffers ---- */

SELDOM bool native_grow(struct native_thread *r, struct native_buffer *b, uint64_t bytes) {
  uint64_t room = b->room ? 2 * b->room : 1024;
  if (bytes > (uint64_t)1 << 48) return false;
  while (room < bytes) room *= 2;
  char *at = r->allocate(r->with, room);
  if (!at) return false;
  if (b->at) {
    memcpy(at, b->at, b->room);
    r->release(r->with, b->at, b->room);
  }
  b->at = at;
  b->room = room;
  return true;
}

/* Room behind a buffer's elements for n more of so many bytes, and a little more; or NULL. */
NATIVE inline void *native_room(struct native_thread *r, struct native_buffer *b, uint64_t n,
                                uint64_t size) {
  const uint64_t bytes = (b->n + n) * size + NATIVE_SLACK;
  if (bytes > b->room && !native_grow(r, b, bytes)) return NULL;
  return b->at + b->n * size;
}

NATIVE inline bool native_append(struct native_thread *r, struct native_buffer *b,
                                 const void *from, uint64_t n, uint64_t size) {
  void *to = native_room(r, b, n, size);
  if (!to) return false;
  if (n > 0) native_copy(to, from, n * size);
  b->n += n;
  return true;
}

/* Appends the lengths of segments. */
NATIVE bool native_append_lengths(struct native_thread *r, struct native_buffer *b,
                                  const uint64_t *o, uint64_t n) {
  uint64_t *to = native_room(r, b, n, sizeof *to);
  if (!to) return false;
  for (uint64_t k = 0; k < n; k++) to[k] = o[k + 1] - o[k];
  b->n += n;
  return true;
}

NATIVE inline bool native_append_length(struct native_thread *r, struct native_buffer *b,
                                        uint64_t n) {
  return native_append(r, b, &n, 1, sizeof n);
}

/* An empty buffer, which native_return gives back; NULL without memory. */
NATIVE inline struct native_pooled *native_pooled(struct native_thread *r) {
  struct native_pooled *b = r->free_buffers;
  if (LIKELY(b != NULL)) {
    r->free_buffers = b->next;
  } else {
    b = r->allocate(r->with, sizeof *b);
    if (!b) return NULL;
    *b = (struct native_pooled){.next = NULL};
  }
  b->buffer.n = 0;
  b->next = r->used_buffers;
  r->used_buffers = b;
  return b;
}

/* Offsets from lengths. */
NATIVE uint64_t *native_offsets(struct native_thread *r, const void *lengths, uint64_t n) {
  const uint64_t *l = lengths;
  uint64_t *o = native_take(r, n + 1, sizeof *o), sum = 0;
  if (!o) return NULL;
  for (uint64_t k = 0; k < n; k++) {
    o[k] = sum;
    sum += l[k];
  }
  o[n] = sum;
  return o;
}

/* Offsets from INTs, which must not be negative. The first sum that is no INT has a higher bit;
 * later ones may not have it. */
NATIVE uint64_t *native_segments(struct native_thread *r, const INT *l, uint64_t n) {
  uint64_t *o = native_take(r, n + 1, sizeof *o), sum = 0, sums = 0;
  INT all = 0;
  if (!o) return NULL;
  for (uint64_t k = 0; k < n; k++) {
    o[k] = sum;
    all |= l[k];
    sum += (uint64_t)l[k];
    sums |= sum;
  }
  o[n] = sum;
  return all < 0 || sums > (uint64_t)INT_MOST ? NULL : o;
}

/* The end of a call: pops what it took. */
NATIVE inline void native_return(struct native_thread *r, struct native_mark m) {
  native_pop(r->arena, m);
  while (r->used_buffers != m.buffers) {
    struct native_pooled *b = r->used_buffers;
    r->used_buffers = b->next;
    b->next = r->free_buffers;
    r->free_buffers = b;
  }
}

/* ---- loops: two arenas, in turn ---- */

NATIVE struct native_spare *native_spare(struct native_thread *r) {
  struct native_spare *s = r->free_arenas;
  if (s) {
    r->free_arenas = s->next;
  } else {
    s = r->allocate(r->with, sizeof *s);
    if (!s) return NULL;
    *s = (struct native_spare){.next = NULL};
  }
  s->next = r->used_arenas;
  r->used_arenas = s;
  native_first(&s->arena);
  return s;
}

struct native_rounds {
  struct native_arena *outer;
  struct native_spare *now, *next;
};

NATIVE bool native_rounds_begin(struct native_thread *r, struct native_rounds *l) {
  l->outer = r->arena;
  l->next = native_spare(r);
  l->now = l->next ? native_spare(r) : NULL;
  if (!l->now) return false;
  r->arena = &l->now->arena;
  return true;
}

/* The next round: what the round before the last one took is gone. */
NATIVE inline void native_round(struct native_thread *r, struct native_rounds *l) {
  struct native_spare *now = l->next;
  l->next = l->now;
  l->now = now;
  native_first(&now->arena);
  r->arena = &now->arena;
}

NATIVE void native_rounds_end(struct native_thread *r, const struct native_rounds *l) {
  for (int k = 0; k < 2; k++) {
    struct native_spare *s = r->used_arenas;
    r->used_arenas = s->next;
    s->next = r->free_arenas;
    r->free_arenas = s;
  }
  r->arena = l->outer;
}

/* ---- memory of loops ---- */

/* The scratch memory of a text is so many parts: a block of elements and the lanes of a tree.
 * An odd number of lines, so that parts do not lie in the same places of a cache. */
enum { SCRATCH_PART = (BLOCK + LANES) * 8 + NATIVE_LINE };
#define SCRATCH(type, part)                                                                    \
  ((type *)(void *)((char *)r->scratch + (part) * (uint64_t)SCRATCH_PART))

SELDOM bool native_more_scratch(struct native_thread *r, uint64_t bytes) {
  if (r->scratch) r->release(r->with, r->scratch, r->scratch_bytes);
  r->scratch = r->allocate(r->with, bytes);
  r->scratch_bytes = r->scratch ? bytes : 0;
  return r->scratch != NULL;
}

/* ---- a call from outside ---- */

/* Gives back what an earlier call left that gave up. Returns false without memory. */
NATIVE bool native_begin(struct native_thread *r) {
  const uint64_t scratch = (uint64_t)SCRATCH_PARTS * SCRATCH_PART;
  r->arena = &r->own;
  r->outermost = r->innermost = NULL;
  r->listed = 0;
  native_first(&r->own);
  native_return(r, (struct native_mark){r->own.block, r->own.at, NULL});
  while (r->used_arenas) {
    struct native_spare *s = r->used_arenas;
    r->used_arenas = s->next;
    s->next = r->free_arenas;
    r->free_arenas = s;
  }
  if (r->scratch_bytes >= scratch || native_more_scratch(r, scratch)) return true;
  r->arena = NULL;
  return false;
}

/* Begins what a thread executes for another one, unless it has begun something of its own. */
NATIVE bool native_begin_part(struct native_thread *r) {
  return r->arena || native_begin(r);
}

/* ---- what is asked ---- */

SELDOM bool native_answer(struct native_thread *r, uint32_t asks) {
  if (asks & NATIVE_STOP) return false;
  if (r->outermost) r->share(r);
  return true;
}

NATIVE inline bool native_goes_on(struct native_thread *r) {
  const uint32_t asks = __atomic_load_n(r->asks, __ATOMIC_RELAXED);
  return LIKELY(asks == 0) || native_answer(r, asks);
}

NATIVE inline bool native_enter(struct native_thread *r) {
  return (uintptr_t)__builtin_frame_address(0) > r->lowest && native_goes_on(r);
}

/* ---- work that others may take ---- */

/* Declares work, which is not listed at first. However its function ends, parts that were given
 * away have ended before: they read its frame. */
#define AHEAD(type, name)                                                                      \
  __attribute__((cleanup(native_leave))) struct type name;                                     \
  name.ahead.listed = 0;                                                                       \
  name.ahead.parts = NULL

SELDOM void native_leave_parts(struct native_ahead *a) {
  struct native_thread *r = a->of;
  __atomic_fetch_or(r->asks, NATIVE_STOP, __ATOMIC_RELAXED);
  for (struct native_part *p = a->parts, *next; p; p = next) {
    next = p->next;
    for (uint32_t k = 0; r->join(r, p) && k < a->result_count; k++)
      if (p->results[k]) native_give(r, p->results[k]);
    r->release(r->with, p, p->bytes);
  }
}

NATIVE inline void native_leave(void *work) {
  struct native_ahead *a = work;
  if (a->listed) native_unlist(a);
  if (a->parts) native_leave_parts(a);
}

/* Whether work is worth to be listed: somebody may take it, and has not got enough to choose.
 */
NATIVE inline bool native_lists(const struct native_thread *r) {
  return r->listed < r->most_listed;
}

NATIVE inline void native_list(struct native_thread *r, struct native_ahead *a) {
  a->of = r;
  a->outer = r->innermost;
  a->inner = NULL;
  *(a->outer ? &a->outer->inner : &r->outermost) = a;
  r->innermost = a;
  r->listed++;
  a->listed = true;
}

/* Takes the first part off, which has been joined. */
NATIVE void native_drop(struct native_ahead *a) {
  struct native_part *p = a->parts;
  a->parts = p->next;
  a->of->release(a->of->with, p, p->bytes);
}

/* Takes a result of the first part. */
NATIVE inline struct native_pooled *native_part_result(struct native_ahead *a, uint32_t k) {
  struct native_pooled *b = a->parts->results[k];
  a->parts->results[k] = NULL;
  return b;
}

/* Appends what the first part returns as its result k. Returns false without memory. */
NATIVE bool native_append_part(struct native_ahead *a, uint32_t k, struct native_buffer *to,
                               uint64_t size) {
  struct native_pooled *b = native_part_result(a, k);
  const bool good = native_append(a->of, to, b->buffer.at, b->buffer.n, size);
  native_give(a->of, b);
  return good;
}

/* A result of the first part as a buffer of this call, as native_pooled returns one. */
NATIVE struct native_pooled *native_adopt(struct native_ahead *a, uint32_t k) {
  struct native_pooled *b = native_part_result(a, k);
  b->next = a->of->used_buffers;
  a->of->used_buffers = b;
  return b;
}

/* Appends the results of all parts of a batch call. */
SELDOM bool native_join_parts(struct native_ahead *a, struct native_buffer *const *results,
                              const uint8_t *sizes) {
  while (a->parts) {
    bool good = a->of->join(a->of, a->parts);
    if (!good) return false;
    for (uint32_t k = 0; k < a->result_count; k++)
      good &= native_append_part(a, k, results[k], sizes[k]);
    native_drop(a);
    if (!good) return false;
  }
  return true;
}

/* ---- scans by the reproducible tree ---- */

enum { ROW = 8, WINDOW = 32 };

/* The exclusive scan of a segment, in place. */
#define TREE_SCAN(name, type, PAD, IDENTITY, WITH)                                             \
  NATIVE inline type native_window_##name(type *x, uint64_t n, uint64_t w) {                   \
    type a[WINDOW], last[WINDOW];                                                              \
    for (uint64_t j = 0; j < w; j++) a[j] = j < n ? x[j] : (type)(PAD);                        \
    for (uint64_t s = 1; s < w; s *= 2) {                                                      \
      memcpy(last, a, w * sizeof *a);                                                          \
      for (uint64_t j = s; j < w; j++) a[j] = (type)(WITH(last[j - s], last[j]));              \
    }                                                                                          \
    for (uint64_t j = n; j > 1; j--) x[j - 1] = a[j - 2];                                      \
    return a[w - 1];                                                                           \
  }                                                                                            \
  /* What comes before each of n > 0 elements, but for what comes before the first. */         \
  NATIVE bool native_prefix_##name(struct native_thread *r, type *x, uint64_t n, uint64_t w) { \
    const uint64_t windows = (n + w - 1) / w;                                                  \
    if (windows == 1) {                                                                        \
      native_window_##name(x, n, w);                                                           \
      for (uint64_t j = 1; j < n; j++) x[j] = (type)(WITH((type)(PAD), x[j]));                 \
      x[0] = (type)(PAD);                                                                      \
      return true;                                                                             \
    }                                                                                          \
    type *t = native_take(r, windows, sizeof *t);                                              \
    if (!t) return false;                                                                      \
    for (uint64_t k = 0; k < windows; k++) {                                                   \
      t[k] = native_window_##name(x + k * w, n - k * w < w ? n - k * w : w, w);                \
    }                                                                                          \
    if (!native_prefix_##name(r, t, windows, WINDOW)) return false;                            \
    for (uint64_t k = 0; k < windows; k++) {                                                   \
      const uint64_t m = n - k * w < w ? n - k * w : w;                                        \
      for (uint64_t j = 1; j < m; j++) x[k * w + j] = (type)(WITH(t[k], x[k * w + j]));        \
      x[k * w] = t[k];                                                                         \
    }                                                                                          \
    return true;                                                                               \
  }                                                                                            \
  NATIVE bool native_scan_##name(struct native_thread *r, type *x, uint64_t n) {               \
    const struct native_mark m = native_mark(r);                                               \
    if (n == 0) return true;                                                                   \
    if (!native_prefix_##name(r, x, n, ROW)) return false;                                     \
    x[0] = (type)(IDENTITY);                                                                   \
    native_pop(r->arena, m);                                                                   \
    return true;                                                                               \
  }
TREE_SCAN(add_f, FLOAT, REAL(-0.0), REAL(0.0), ADD)
TREE_SCAN(mul_f, FLOAT, REAL(1.0), REAL(1.0), MUL)
