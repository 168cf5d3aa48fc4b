/* kernels-scan-elem.h - the scans of one element type; a part of kernels-scan.c, which includes
 * it with CLASS, KIND and the widths defined.
 *
 * A step of Kogge and Stone is a loop over a buffer that combines each element with the one s
 * places before it, where that lies in the same row. All rows of a window take the step
 * together, so the loops are long and straight and suit any vector length. Segments of at most
 * one row need no more than this with rows that begin where the segments do.
 */
#include "cvl-cpu/combine.h"

/* b[i] = prefix of x[i] within its row of 8, for n elements; a is for use. The first two steps
 * are one loop that combines neighbours anew for both sides: cheaper than reading back what was
 * only just stored, and across two stores at that. */
ALWAYS_INLINE void NAMED(prefix_rows)(enum cvl_op op, int n, const ELEMENT_TYPE *x,
                                      ELEMENT_TYPE *restrict a, ELEMENT_TYPE *restrict b) {
  const ELEMENT_TYPE pad = NAMED(pad)(op);
  for (int i = 0; i < n; i++) {
    const ELEMENT_TYPE x3 = (i & 7) >= 3 ? x[i - 3] : pad, x2 = (i & 7) >= 2 ? x[i - 2] : pad;
    const ELEMENT_TYPE x1 = (i & 7) >= 1 ? x[i - 1] : pad;
    const ELEMENT_TYPE left = NAMED(combine)(op, x3, x2), right = NAMED(combine)(op, x1, x[i]);
    a[i] = NAMED(combine)(op, left, right);
  }
  for (int i = 0; i < n; i++) {
    const ELEMENT_TYPE left = (i & 7) >= 4 ? a[i - 4] : NAMED(pad)(op);
    b[i] = NAMED(combine)(op, left, a[i]);
  }
}

/* A step of Kogge and Stone over n <= CVL_SCAN_WINDOW elements; FRONT neutral ones lie before
 * from[0], enough for every step. */
ALWAYS_INLINE void NAMED(prefix_step)(enum cvl_op op, int n, int s,
                                      const ELEMENT_TYPE *restrict from,
                                      ELEMENT_TYPE *restrict to) {
  for (int i = 0; i < n; i++) to[i] = NAMED(combine)(op, from[i - s], from[i]);
}

/* e[0 .. n) = the scan of x[0 .. n), n <= SCAN_WINDOW, with `before` before it. */
ALWAYS_INLINE void NAMED(window)(enum cvl_op op, const ELEMENT_TYPE *x, int n,
                                 ELEMENT_TYPE before, ELEMENT_TYPE *e) {
  ELEMENT_TYPE a[SCAN_WINDOW], b[SCAN_WINDOW];
  const int rows = (n + CVL_SCAN_ROW - 1) / CVL_SCAN_ROW;
  NAMED(prefix_rows)(op, n, x, a, b);
  /* Exclusive within the row. */
  for (int i = 0; i < n; i++) a[i] = (i & 7) >= 1 ? b[i - 1] : NAMED(pad)(op);

  /* The prefix of row totals, in two buffers that take turns; t[r - 1] is before row r. */
  ELEMENT_TYPE even[FRONT + CVL_SCAN_WINDOW], odd[FRONT + CVL_SCAN_WINDOW];
  ELEMENT_TYPE *t = even + FRONT, *u = odd + FRONT;
  for (int i = 0; i < FRONT; i++) even[i] = odd[i] = NAMED(pad)(op);
  /* Nothing comes after the last row, which may be short: its total is not used. */
  for (int r = 0; r < rows - 1; r++) t[r] = b[r * CVL_SCAN_ROW + CVL_SCAN_ROW - 1];
  t[rows - 1] = NAMED(pad)(op);
  NAMED(prefix_step)(op, rows, 1, t, u);
  NAMED(prefix_step)(op, rows, 2, u, t);
  NAMED(prefix_step)(op, rows, 4, t, u);
  NAMED(prefix_step)(op, rows, 8, u, t);
  NAMED(prefix_step)(op, rows, 16, t, u);
  for (int r = 0; r < rows; r++) t[r] = NAMED(combine)(op, before, u[r - 1]);
  for (int r = 0; r < n / CVL_SCAN_ROW; r++) {
    const ELEMENT_TYPE base = t[r];
    for (int j = 0; j < CVL_SCAN_ROW; j++) {
      e[r * CVL_SCAN_ROW + j] = NAMED(combine)(op, base, a[r * CVL_SCAN_ROW + j]);
    }
  }
  for (int i = n / CVL_SCAN_ROW * CVL_SCAN_ROW; i < n; i++) {
    e[i] = NAMED(combine)(op, t[rows - 1], a[i]);
  }
}

/* b[i] = the combination of neighbours 2 i and 2 i + 1 of a, i < n. */
ALWAYS_INLINE void NAMED(pairs)(enum cvl_op op, int n, const ELEMENT_TYPE *restrict a,
                                ELEMENT_TYPE *restrict b) {
  for (int i = 0; i < n; i++) b[i] = NAMED(combine)(op, a[2 * i], a[2 * i + 1]);
}

/* The total of a full window: in rows and in the window of rows, neighbours are combined. */
ALWAYS_INLINE void NAMED(totals)(enum cvl_op op, const void *data, uint64_t windows,
                                 void *totals) {
  const ELEMENT_TYPE *x = data;
  ELEMENT_TYPE *y = totals;
  for (uint64_t k = 0; k < windows; k++, x += SCAN_WINDOW) {
    ELEMENT_TYPE a[SCAN_WINDOW / 2], b[SCAN_WINDOW / 4];
    NAMED(pairs)(op, 128, x, a);
    NAMED(pairs)(op, 64, a, b);
    NAMED(pairs)(op, 32, b, a);
    NAMED(pairs)(op, 16, a, b);
    NAMED(pairs)(op, 8, b, a);
    NAMED(pairs)(op, 4, a, b);
    NAMED(pairs)(op, 2, b, a);
    y[k] = NAMED(combine)(op, a[0], a[1]);
  }
}

/* ---- the levels above ---- */

ALWAYS_INLINE void NAMED(start)(enum cvl_op op, struct scan_state *s) {
  const ELEMENT_TYPE pad = NAMED(pad)(op);
  memset(s->seen, 0, sizeof s->seen);
  for (int l = 0; l < SCAN_LEVELS; l++) memcpy(&s->before[l], &pad, sizeof pad);
  memcpy(&s->current, &pad, sizeof pad);
}

/* Takes a total into a level; a full window passes its own total on to the next level. */
ALWAYS_INLINE ELEMENT_TYPE NAMED(take)(enum cvl_op op, struct scan_state *s, ELEMENT_TYPE t) {
  int full = 0; /* levels whose window this total completes */
  for (int l = 0;; l++) {
    const uint64_t i = s->seen[l];
    for (int step = 0; step < SCAN_STEPS; step++) {
      ELEMENT_TYPE *partial = (ELEMENT_TYPE *)(void *)s->partial[l][step];
      partial[i] = t;
      if (i >> step) t = NAMED(combine)(op, partial[i - (UINT64_C(1) << step)], t);
    }
    s->seen[l] = (i + 1) % CVL_SCAN_WINDOW;
    if (s->seen[l] != 0) break;
    full++;
  }
  ELEMENT_TYPE base;
  memcpy(&base, &s->before[full], sizeof base);
  t = NAMED(combine)(op, base, t);
  for (int l = 0; l < full; l++) memcpy(&s->before[l], &t, sizeof t);
  return t;
}

ALWAYS_INLINE void NAMED(advance)(enum cvl_op op, struct scan_state *s, uint64_t windows,
                                  void *totals) {
  ELEMENT_TYPE *t = totals, current;
  memcpy(&current, &s->current, sizeof current);
  for (uint64_t k = 0; k < windows; k++) {
    const ELEMENT_TYPE total = t[k];
    t[k] = current;
    current = NAMED(take)(op, s, total);
  }
  memcpy(&s->current, &current, sizeof current);
}

/* ---- whole segments ---- */

/* Segments of at most SHORT elements, n <= STRIP elements in all, the first at x[0]. */
ALWAYS_INLINE void NAMED(side_by_side)(enum cvl_op op, const ELEMENT_TYPE *x,
                                       const uint64_t *offsets, uint64_t count,
                                       ELEMENT_TYPE *e) {
  ELEMENT_TYPE a[STRIP], b[STRIP];
  uint8_t heads[FRONT + STRIP + 1], nears[FRONT + STRIP];
  uint8_t *head = heads + FRONT, *near2 = nears + FRONT;
  const int n = (int)(offsets[count] - offsets[0]);
  if (n < 0 || n > STRIP) __builtin_unreachable();
  memset(heads, 1, FRONT);
  memset(nears, 1, FRONT);
  memset(head, 0, (size_t)n + 1);
  for (uint64_t k = 0; k < count; k++) head[offsets[k] - offsets[0]] = 1;
  /* near2[i]: fewer than two elements of the segment lie before i; then fewer than four. */
  for (int i = 0; i < n; i++) near2[i] = head[i] | head[i - 1];
  for (int i = 0; i < n; i++) {
    const ELEMENT_TYPE left = head[i] ? NAMED(pad)(op) : x[i - 1];
    b[i] = NAMED(combine)(op, left, x[i]);
  }
  for (int i = 0; i < n; i++) {
    const ELEMENT_TYPE left = near2[i] ? NAMED(pad)(op) : b[i - 2];
    a[i] = NAMED(combine)(op, left, b[i]);
  }
  for (int i = 0; i < n; i++) {
    const ELEMENT_TYPE left = near2[i] | near2[i - 2] ? NAMED(pad)(op) : a[i - 4];
    b[i] = NAMED(combine)(op, left, a[i]);
  }
  for (int i = 0; i < n; i++) e[i] = head[i] ? NAMED(identity)(op) : b[i - 1];
}

/* One segment of more than SCAN_WINDOW elements. */
ALWAYS_INLINE void NAMED(long_segment)(const struct scan_row *row, const ELEMENT_TYPE *x,
                                       uint64_t n, ELEMENT_TYPE *e) {
  struct scan_state state;
  row->start(&state);
  for (uint64_t i = 0; i < n; i += WINDOWS * SCAN_WINDOW) {
    const uint64_t m = n - i < WINDOWS * SCAN_WINDOW ? n - i : WINDOWS * SCAN_WINDOW;
    ELEMENT_TYPE before[WINDOWS] = {0};
    row->totals(x + i, m / SCAN_WINDOW, before);
    row->advance(&state, (m + SCAN_WINDOW - 1) / SCAN_WINDOW, before);
    row->write(x + i, m, before, e + i);
  }
  row->identity(e);
}

ALWAYS_INLINE void NAMED(segments)(enum cvl_op op, const struct scan_row *row, const void *data,
                                   const uint64_t *offsets, uint64_t count, void *results) {
  const ELEMENT_TYPE *x = data;
  ELEMENT_TYPE *e = results;
  const ELEMENT_TYPE pad = NAMED(pad)(op);
  for (uint64_t k = 0; k < count;) {
    /* As many short ones as fit a strip. */
    uint64_t to = k;
    const uint64_t start = offsets[k];
    while (to < count && offsets[to + 1] - offsets[to] <= SHORT &&
           offsets[to + 1] - start <= STRIP) {
      to++;
    }
    if (to > k) {
      NAMED(side_by_side)(op, x + start, offsets + k, to - k, e + start);
      k = to;
      continue;
    }
    const uint64_t n = offsets[k + 1] - start;
    if (n <= SCAN_WINDOW) {
      row->write(x + start, n, &pad, e + start);
      e[start] = NAMED(identity)(op);
    } else {
      NAMED(long_segment)(row, x + start, n, e + start);
    }
    k++;
  }
}

ALWAYS_INLINE void NAMED(write)(enum cvl_op op, const void *data, uint64_t n,
                                const void *before, void *results) {
  const ELEMENT_TYPE *x = data, *start = before;
  ELEMENT_TYPE *e = results;
  for (; n > SCAN_WINDOW; n -= SCAN_WINDOW, x += SCAN_WINDOW, e += SCAN_WINDOW) {
    NAMED(window)(op, x, SCAN_WINDOW, *start++, e);
  }
  NAMED(window)(op, x, (int)n, *start, e);
}

#define INSTANCE(name, op) COMBINE_EXPAND_NAME(name##_##op, KIND)
#define COMBINE_INSTANCES(op)                                                                  \
  static void INSTANCE(totals, op)(const void *x, uint64_t windows, void *totals) {            \
    NAMED(totals)(OP_##op, x, windows, totals);                                                \
  }                                                                                            \
  static void INSTANCE(start, op)(struct scan_state * s) {                                     \
    NAMED(start)(OP_##op, s);                                                                  \
  }                                                                                            \
  static void INSTANCE(advance, op)(struct scan_state * s, uint64_t windows, void *totals) {   \
    NAMED(advance)(OP_##op, s, windows, totals);                                               \
  }                                                                                            \
  static void INSTANCE(write, op)(const void *x, uint64_t n, const void *before, void *out) {  \
    NAMED(write)(OP_##op, x, n, before, out);                                                  \
  }                                                                                            \
  static void INSTANCE(identity, op)(void *out) {                                              \
    *(ELEMENT_TYPE *)out = NAMED(identity)(OP_##op);                                           \
  }                                                                                            \
  static void INSTANCE(segments, op)(const void *x, const uint64_t *offsets, uint64_t count,   \
                                     void *out) {                                              \
    static const struct scan_row row = {INSTANCE(totals, op),                                  \
                                        INSTANCE(start, op),                                   \
                                        INSTANCE(advance, op),                                 \
                                        INSTANCE(write, op),                                   \
                                        NULL,                                                  \
                                        INSTANCE(identity, op)};                               \
    NAMED(segments)(OP_##op, &row, x, offsets, count, out);                                    \
  }
#define COMBINE(op, row, identity, pad, exact, expression)                                     \
  COMBINE_OF_CLASS(row)(COMBINE_INSTANCES(op))
#include "tables/operations.def"
#undef COMBINE_INSTANCES
#undef INSTANCE
