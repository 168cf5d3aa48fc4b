/* combine-tree.h - the tree that keeps order (cvl/trees.h) with a function of a program's own,
 * for one combination of a superoperator. It is written behind the function into what is
 * compiled (emit-combine.c), where
 *
 *     NAME(x)       gives the names of this combination
 *     COLUMNS(X)    is X(number, type) for each column
 *     struct NAME(item) {...}; struct NAME(item) NAME(f)(struct NAME(item), struct NAME(item));
 *
 * are known. Eight neighbours are combined at a time, so that arrays are read few times;
 * compilers make vectors of the loops over groups of eight. A segment has at most TREE_MOST
 * elements.
 */
enum {
  NAME(GROUP) = 8,
  NAME(ROW) = 8, /* groups */
  NAME(MOST) = 1024,
  NAME(LEVELS) = 4,
  NAME(AHEAD) = 8192 /* bytes */
};

#ifdef __GNUC__
#define PREFETCH(at) __builtin_prefetch(at, 0, 2)
#else
#define PREFETCH(at) (void)(at)
#endif

#define FIELD(c, type) type *at##c;
struct NAME(arrays) {
  COLUMNS(FIELD)
};
#undef FIELD

static inline struct NAME(item) NAME(get)(struct NAME(arrays) x, uint64_t i) {
  struct NAME(item) v;
#define LOAD(c, type) v.at##c = x.at##c[i];
  COLUMNS(LOAD)
#undef LOAD
  return v;
}

static inline void NAME(put)(struct NAME(arrays) x, uint64_t i, struct NAME(item) v) {
#define STORE(c, type) x.at##c[i] = v.at##c;
  COLUMNS(STORE)
#undef STORE
}

static inline struct NAME(arrays) NAME(from)(struct NAME(arrays) x, uint64_t i) {
#define MOVE(c, type) x.at##c += i;
  COLUMNS(MOVE)
#undef MOVE
  return x;
}

static inline struct NAME(arrays) NAME(of)(char *const *columns) {
  struct NAME(arrays) x;
#define TAKE(c, type) x.at##c = (type *)(void *)columns[c];
  COLUMNS(TAKE)
#undef TAKE
  return x;
}

/* ---- subtrees ---- */

static inline struct NAME(item) NAME(two)(struct NAME(arrays) x, uint64_t i) {
  return NAME(f)(NAME(get)(x, i), NAME(get)(x, i + 1));
}
static inline struct NAME(item) NAME(four)(struct NAME(arrays) x, uint64_t i) {
  return NAME(f)(NAME(two)(x, i), NAME(two)(x, i + 2));
}

/* The total of n elements, 0 < n < 8. */
static inline struct NAME(item) NAME(few)(struct NAME(arrays) x, uint64_t n) {
  struct NAME(item) v = n >= 4 ? NAME(four)(x, 0) : n >= 2 ? NAME(two)(x, 0) : NAME(get)(x, 0);
  if (n >= 6) v = NAME(f)(v, NAME(two)(x, 4));
  return (n & 1) && n > 1 ? NAME(f)(v, NAME(get)(x, n - 1)) : v;
}

/* The totals of n groups. y may be x: each is written in front of what is read later. The
 * hardware prefetcher stops at page boundaries, and a segment may be two pages: later elements
 * are prefetched into the second-level cache. */
static inline void NAME(groups)(uint64_t n, struct NAME(arrays) x, struct NAME(arrays) y) {
  uint64_t i = 0;
  for (; i + NAME(ROW) <= n; i += NAME(ROW)) {
#define FETCH(c, type)                                                                         \
  for (unsigned k = 0; k < NAME(ROW) * NAME(GROUP) * sizeof(type); k += 64) {                  \
    PREFETCH((const char *)(x.at##c + NAME(GROUP) * i) + NAME(AHEAD) + k);                     \
  }
    COLUMNS(FETCH)
#undef FETCH
    INDEPENDENT
    for (uint64_t j = i; j < i + NAME(ROW); j++) {
      NAME(put)(y, j, NAME(f)(NAME(four)(x, 8 * j), NAME(four)(x, 8 * j + 4)));
    }
  }
  for (; i < n; i++) {
    NAME(put)(y, i, NAME(f)(NAME(four)(x, 8 * i), NAME(four)(x, 8 * i + 4)));
  }
}

/* Room for the totals of the groups of a tile. */
#define ROOM(c, type)  type room##c[NAME(MOST) / NAME(GROUP)];
#define POINT(c, type) room.at##c = room##c;

/* The totals of the subtrees that n > 0 elements consist of, the smallest first. */
static inline unsigned NAME(subtrees)(struct NAME(arrays) x, uint64_t n,
                                      struct NAME(item) * totals) {
  unsigned count = 0;
  COLUMNS(ROOM)
  struct NAME(arrays) room;
  COLUMNS(POINT)
  for (;;) {
    if (n & 1) totals[count++] = NAME(get)(x, n - 1);
    if (n & 2) totals[count++] = NAME(two)(x, n & ~UINT64_C(3));
    if (n & 4) totals[count++] = NAME(four)(x, n & ~UINT64_C(7));
    n /= NAME(GROUP);
    if (n == 0) return count;
    NAME(groups)(n, x, room);
    x = room;
  }
}

/* ---- the functions ---- */

/* Item i of out = f(item i of left, item i of right); out may be one of them. */
void NAME(apply)(uint64_t n, char *const *left, char *const *right, char *const *out) {
  const struct NAME(arrays) l = NAME(of)(left), r = NAME(of)(right), y = NAME(of)(out);
  INDEPENDENT
  for (uint64_t i = 0; i < n; i++) {
    NAME(put)(y, i, NAME(f)(NAME(get)(l, i), NAME(get)(r, i)));
  }
}

static inline struct NAME(item) NAME(total)(struct NAME(arrays) x, uint64_t n) {
  struct NAME(item) totals[16];
  if (n < NAME(GROUP)) return NAME(few)(x, n);
  unsigned left = NAME(subtrees)(x, n, totals);
  struct NAME(item) v = totals[--left];
  while (left > 0) v = NAME(f)(v, totals[--left]);
  return v;
}

/* The length of all segments, if it is one whose subtrees all begin with whole groups; else 0.
 */
static inline uint64_t NAME(even)(const uint64_t *offsets, uint64_t count) {
  const uint64_t n = offsets[1] - offsets[0];
  uint64_t differs = 0;
  for (uint64_t k = 0; k < count; k++) differs |= (offsets[k + 1] - offsets[k]) ^ n;
  return differs || count * n > NAME(MOST) || (n > NAME(GROUP) && n % NAME(GROUP) != 0) ? 0 : n;
}

/* Reduces all segments at once. They have n elements each, so that there are whole vectors
 * however short they are. */
static void NAME(reduce_even)(struct NAME(arrays) x, uint64_t n, uint64_t count,
                              struct NAME(arrays) to) {
  COLUMNS(ROOM)
  struct NAME(arrays) room;
  COLUMNS(POINT)
  for (; n >= NAME(GROUP) && n % NAME(GROUP) == 0; n /= NAME(GROUP)) {
    NAME(groups)(count * n / NAME(GROUP), x, room);
    x = room;
  }
  if (n == 4) {
    INDEPENDENT
    for (uint64_t k = 0; k < count; k++) NAME(put)(to, k, NAME(four)(x, 4 * k));
  } else if (n == 2) {
    INDEPENDENT
    for (uint64_t k = 0; k < count; k++) NAME(put)(to, k, NAME(two)(x, 2 * k));
  } else if (n == 1) {
    INDEPENDENT
    for (uint64_t k = 0; k < count; k++) NAME(put)(to, k, NAME(get)(x, k));
  } else {
    for (uint64_t k = 0; k < count; k++) NAME(put)(to, k, NAME(total)(NAME(from)(x, n * k), n));
  }
}

#undef ROOM
#undef POINT

/* The reductions of segments; nothing is written for an empty one. */
void NAME(reduce)(char *const *x, const uint64_t *offsets, uint64_t count, char *const *out) {
  const struct NAME(arrays) from = NAME(of)(x), to = NAME(of)(out);
  const uint64_t even = count > 1 ? NAME(even)(offsets, count) : 0;
  if (even > 0) {
    NAME(reduce_even)(NAME(from)(from, offsets[0]), even, count, to);
    return;
  }
  for (uint64_t k = 0; k < count; k++) {
    const uint64_t n = offsets[k + 1] - offsets[k];
    if (n > 0) NAME(put)(to, k, NAME(total)(NAME(from)(from, offsets[k]), n));
  }
}

/* The totals of the subtrees of n elements, the largest first; returns how many. */
unsigned NAME(roots)(char *const *x, uint64_t n, char *const *out) {
  struct NAME(item) totals[16];
  if (n == 0) return 0;
  const unsigned count = NAME(subtrees)(NAME(of)(x), n, totals);
  for (unsigned i = 0; i < count; i++) NAME(put)(NAME(of)(out), i, totals[count - 1 - i]);
  return count;
}

/* ---- scans ---- */

/* The combinations of what comes before a group, if anything does, with its first 1 .. n
 * elements, n < 8, to out[1 .. n]. */
static inline void NAME(prefixes)(struct NAME(arrays) x, uint64_t n, _Bool any,
                                  struct NAME(item) before, struct NAME(arrays) out) {
  if (n >= 1) NAME(put)(out, 1, any ? NAME(f)(before, NAME(get)(x, 0)) : NAME(get)(x, 0));
  if (n >= 2) NAME(put)(out, 2, any ? NAME(f)(before, NAME(two)(x, 0)) : NAME(two)(x, 0));
  if (n >= 3) NAME(put)(out, 3, NAME(f)(NAME(get)(out, 2), NAME(get)(x, 2)));
  if (n >= 4) NAME(put)(out, 4, any ? NAME(f)(before, NAME(four)(x, 0)) : NAME(four)(x, 0));
  if (n >= 5) NAME(put)(out, 5, NAME(f)(NAME(get)(out, 4), NAME(get)(x, 4)));
  if (n >= 6) NAME(put)(out, 6, NAME(f)(NAME(get)(out, 4), NAME(two)(x, 4)));
  if (n >= 7) NAME(put)(out, 7, NAME(f)(NAME(get)(out, 6), NAME(get)(x, 6)));
}

/* Computes prefixes of n whole groups. before[i] is the combination of what comes before group
 * i. */
static inline void NAME(group_prefixes)(struct NAME(arrays) x, uint64_t n,
                                        struct NAME(arrays) before, struct NAME(arrays) out) {
  INDEPENDENT
  for (uint64_t i = 0; i < n; i++) {
    const struct NAME(item) p0 = NAME(get)(before, i);
    const struct NAME(item) p2 = NAME(f)(p0, NAME(two)(x, 8 * i));
    const struct NAME(item) p4 = NAME(f)(p0, NAME(four)(x, 8 * i));
    const struct NAME(item) p6 = NAME(f)(p4, NAME(two)(x, 8 * i + 4));
    const struct NAME(item) p1 = NAME(f)(p0, NAME(get)(x, 8 * i));
    const struct NAME(item) p3 = NAME(f)(p2, NAME(get)(x, 8 * i + 2));
    const struct NAME(item) p5 = NAME(f)(p4, NAME(get)(x, 8 * i + 4));
    const struct NAME(item) p7 = NAME(f)(p6, NAME(get)(x, 8 * i + 6));
    NAME(put)(out, 8 * i, p0);
    NAME(put)(out, 8 * i + 1, p1);
    NAME(put)(out, 8 * i + 2, p2);
    NAME(put)(out, 8 * i + 3, p3);
    NAME(put)(out, 8 * i + 4, p4);
    NAME(put)(out, 8 * i + 5, p5);
    NAME(put)(out, 8 * i + 6, p6);
    NAME(put)(out, 8 * i + 7, p7);
  }
}

/* The prefixes 0 .. n of n elements, from those of the groups before them, `above`: what comes
 * before all is above[0], if anything does. Prefix 0 is written only where `first` says that
 * there is room for it. */
static inline void NAME(level)(struct NAME(arrays) x, uint64_t n, _Bool any,
                               struct NAME(arrays) above, _Bool first,
                               struct NAME(arrays) out) {
  const uint64_t groups = n / 8;
  uint64_t done = 0;
  if (first) NAME(put)(out, 0, NAME(get)(above, 0));
  if (groups > 0 && (!any || !first)) {
    NAME(prefixes)(x, 7, any, NAME(get)(above, 0), out);
    done = 1;
  }
  NAME(group_prefixes)
  (NAME(from)(x, 8 * done), groups - done, NAME(from)(above, done), NAME(from)(out, 8 * done));
  if (groups > 0) NAME(put)(out, 8 * groups, NAME(get)(above, groups));
  NAME(prefixes)
  (NAME(from)(x, 8 * groups), n % 8, any || groups > 0, NAME(get)(above, groups),
   NAME(from)(out, 8 * groups));
}

/* Prefixes 0 .. n - 1 of n elements to out[0 .. n - 1], or, inclusive, 1 .. n: see `level`.
 * Prefix 0 is `before`, if anything comes before. */
static inline void NAME(scan_segment)(struct NAME(arrays) x, uint64_t n, _Bool any,
                                      struct NAME(item) before, _Bool inclusive,
                                      struct NAME(arrays) out) {
  enum { ROOM_OF = NAME(MOST) / 7 + 2 * NAME(LEVELS) };
#define ROOM(c, type) type totals##c[ROOM_OF], above##c[ROOM_OF];
  COLUMNS(ROOM)
#undef ROOM
  struct NAME(arrays) to = out;
#define BACK(c, type) to.at##c -= inclusive;
  COLUMNS(BACK)
#undef BACK
  if (n < NAME(GROUP)) {
    if (any && !inclusive) NAME(put)(out, 0, before);
    NAME(prefixes)(x, inclusive ? n : n - 1, any, before, to);
    return;
  }
  struct NAME(arrays) totals[NAME(LEVELS) + 1], above[NAME(LEVELS) + 1];
  uint64_t count[NAME(LEVELS) + 1], used = 0;
  unsigned l = 0;
  totals[0] = x;
  count[0] = n;
  for (; count[l] >= NAME(GROUP); l++) {
    count[l + 1] = count[l] / NAME(GROUP);
#define POINT(c, type)                                                                         \
  totals[l + 1].at##c = totals##c + used, above[l + 1].at##c = above##c + used;
    COLUMNS(POINT)
#undef POINT
    NAME(groups)(count[l + 1], totals[l], totals[l + 1]);
    used += count[l + 1] + 1;
  }
#define POINT(c, type) above[l + 1].at##c = above##c + used;
  COLUMNS(POINT)
#undef POINT
  NAME(put)(above[l + 1], 0, before);
  for (; l > 0; l--) NAME(level)(totals[l], count[l], any, above[l + 1], 1, above[l]);
  NAME(level)(x, inclusive ? n : n - 1, any, above[1], any && !inclusive, to);
}

/* Scans segments; before[0], or NULL: what comes before the first one. */
void NAME(scan)(char *const *x, const uint64_t *offsets, uint64_t count, char *const *before,
                _Bool inclusive, char *const *out) {
  const struct NAME(arrays) from = NAME(of)(x), to = NAME(of)(out);
  struct NAME(item) first;
  memset(&first, 0, sizeof first);
  if (before) first = NAME(get)(NAME(of)(before), 0);
  for (uint64_t k = 0; k < count; k++) {
    const uint64_t n = offsets[k + 1] - offsets[k];
    if (n == 0) continue;
    NAME(scan_segment)
    (NAME(from)(from, offsets[k]), n, before != NULL, first, inclusive,
     NAME(from)(to, offsets[k]));
  }
}
#undef PREFETCH
