/* scan-elem.h - the scans of one element type of several bytes. Included by scan.c with CLASS,
 * KIND and the widths defined.
 *
 * Results are computed in a buffer of the first-level cache, `made`, in two passes. The first
 * scans each row by itself and saves its total. Then the totals of eight windows at a time take
 * the steps of Kogge and Stone. The windows are the lanes of a row, so a step moves nothing
 * between lanes. The second pass combines the prefix before each row into it, and the buffer is
 * written to the result by windows.
 *
 * INT does not need this tree: one pass carries the prefix from row to row. (MAX and MIN of
 * FLOAT must take the first of several NaNs.)
 */
#include "cvl-cpu/combine/combine.h"
#include "cvl-cpu/kernels/scan-rows.h"

/* The totals of the rows of SIDE windows: lane w of t[r] belongs to row r of window w. */
struct NAMED(above) {
  _Alignas(LINE) struct NAMED(row) t[CVL_SCAN_WINDOW];
};

ALWAYS_INLINE void NAMED(set_total)(struct NAMED(above) * above, int r, int w, ELEMENT_TYPE x) {
  memcpy((char *)&above->t[r] + (size_t)w * sizeof x, &x, sizeof x);
}

ALWAYS_INLINE ELEMENT_TYPE NAMED(get_total)(const struct NAMED(above) * above, int r, int w) {
  ELEMENT_TYPE x;
  memcpy(&x, (const char *)&above->t[r] + (size_t)w * sizeof x, sizeof x);
  return x;
}

/* ---- in any order: INT ---- */

/* Computes the totals of full windows, lane by lane, four rows at a time. */
ALWAYS_INLINE void NAMED(totals_in_any_order)(enum cvl_op op, const ELEMENT_TYPE *x,
                                              uint64_t windows, ELEMENT_TYPE *totals) {
  enum { AT_A_TIME = 4 };
  for (uint64_t k = 0; k < windows; k++, x += SCAN_WINDOW) {
    struct NAMED(row) sum[AT_A_TIME];
    for (int j = 0; j < AT_A_TIME; j++) sum[j] = NAMED(load)(x + j * CVL_SCAN_ROW);
    for (int i = AT_A_TIME; i < CVL_SCAN_WINDOW; i += AT_A_TIME) {
      for (int j = 0; j < AT_A_TIME; j++) {
        sum[j] = NAMED(combine_rows)(op, sum[j], NAMED(load)(x + (i + j) * CVL_SCAN_ROW));
      }
    }
    for (int j = 1; j < AT_A_TIME; j++) sum[0] = NAMED(combine_rows)(op, sum[0], sum[j]);
    ELEMENT_TYPE total[CVL_SCAN_ROW];
    memcpy(total, sum, sizeof total);
    for (int j = 1; j < CVL_SCAN_ROW; j++) total[0] = NAMED(combine)(op, total[0], total[j]);
    totals[k] = total[0];
  }
}

/* Writes the scan of n elements after the prefix `before`. */
ALWAYS_INLINE void NAMED(write_in_any_order)(enum cvl_op op, const ELEMENT_TYPE *x, uint64_t n,
                                             ELEMENT_TYPE before, ELEMENT_TYPE *e,
                                             scan_put *put) {
  enum { CHUNK = STAGING_BYTES / sizeof(ELEMENT_TYPE) };
  _Alignas(LINE) ELEMENT_TYPE made[CHUNK];
  const struct NAMED(row) pad = NAMED(spread)(NAMED(pad)(op));
  struct NAMED(row) carried = NAMED(spread)(before);
  for (uint64_t i = 0; i < n; i += CHUNK) {
    const uint64_t m = n - i < CHUNK ? n - i : CHUNK;
    for (uint64_t j = 0; j < m; j += CVL_SCAN_ROW) {
      struct NAMED(row) r = NAMED(load_some)(x + i + j, m - j);
      r = NAMED(step)(op, r, 1);
      r = NAMED(step)(op, r, 2);
      r = NAMED(step)(op, r, 4);
      NAMED(store)(made + j, NAMED(combine_rows)(op, carried, NAMED(back)(pad, r, 1)));
      carried = NAMED(combine_rows)(op, carried, NAMED(spread_last)(r));
    }
    put(e + i, made, m * sizeof *e);
  }
}

/* ---- in the order of the tree ---- */

/* Turns totals into inclusive prefixes in their windows, for the first `rows` rows of each
 * window. */
ALWAYS_INLINE void NAMED(prefix_above)(enum cvl_op op, struct NAMED(above) * above, int rows) {
  for (int s = 1; s < rows; s *= 2) {
    for (int r = rows - 1; r >= s; r--) {
      above->t[r] = NAMED(combine_rows)(op, above->t[r - s], above->t[r]);
    }
  }
}

/* Turns the totals of the last rows into those of their windows. Takes only the steps of
 * prefix_above that this needs. */
ALWAYS_INLINE void NAMED(total_above)(enum cvl_op op, struct NAMED(above) * above) {
  for (int s = 1; s < CVL_SCAN_WINDOW; s *= 2) {
    for (int r = 2 * s - 1; r < CVL_SCAN_WINDOW; r += 2 * s) {
      above->t[r] = NAMED(combine_rows)(op, above->t[r - s], above->t[r]);
    }
  }
}

/* The first pass over n elements in at most SIDE full windows; the last may be short. `made`
 * gets the scan of each row by itself, and `above` the prefixes of the rows' totals. If `made`
 * is NULL, only the windows' totals are computed, in the last rows of `above`. Whole rows are
 * read and written. Memory is prefetched, since each row takes so long that the processor
 * itself looks only a few lines ahead. */
ALWAYS_INLINE void NAMED(visit_rows)(enum cvl_op op, const ELEMENT_TYPE *x, uint64_t n,
                                     ELEMENT_TYPE *made, struct NAMED(above) * above) {
  const struct NAMED(row) pad = NAMED(spread)(NAMED(pad)(op));
  for (uint64_t i = 0; i < n; i += CVL_SCAN_ROW) {
    __builtin_prefetch((const char *)(x + i) + AHEAD);
    struct NAMED(row) r = NAMED(load_some)(x + i, n - i);
    r = NAMED(step)(op, r, 1);
    r = NAMED(step)(op, r, 2);
    r = NAMED(step)(op, r, 4);
    if (made) NAMED(store)(made + i, NAMED(back)(pad, r, 1));
    const ELEMENT_TYPE total = r.reg[CVL_SCAN_ROW / LANES - 1][LANES - 1];
    NAMED(set_total)
    (above, (int)(i % SCAN_WINDOW / CVL_SCAN_ROW), (int)(i / SCAN_WINDOW), total);
  }
  if (made) {
    NAMED(prefix_above)(op, above, CVL_SCAN_WINDOW);
  } else {
    NAMED(total_above)(op, above);
  }
}

/* Computes the prefix before each row: base->t[r], in windows that before[0 .. SIDE)
 * precede. */
ALWAYS_INLINE void NAMED(bases)(enum cvl_op op, const ELEMENT_TYPE *before,
                                const struct NAMED(above) * above, struct NAMED(above) * base) {
  const struct NAMED(row) b = NAMED(load)(before);
  base->t[0] = NAMED(combine_rows)(op, b, NAMED(spread)(NAMED(pad)(op)));
  for (int r = 1; r < CVL_SCAN_WINDOW; r++) {
    base->t[r] = NAMED(combine_rows)(op, b, above->t[r - 1]);
  }
}

/* The second pass. `made` is copied to e window by window, so that stores past the caches are
 * under way while the next window is computed. */
ALWAYS_INLINE void NAMED(visit_again)(enum cvl_op op, uint64_t n, bool from_start,
                                      const struct NAMED(above) * base, ELEMENT_TYPE *made,
                                      ELEMENT_TYPE *e, scan_put *put) {
  for (uint64_t i = 0; i < n; i += SCAN_WINDOW) {
    const uint64_t m = n - i < SCAN_WINDOW ? n - i : SCAN_WINDOW;
    for (uint64_t j = 0; j < m; j += CVL_SCAN_ROW) {
      const ELEMENT_TYPE b =
          NAMED(get_total)(base, (int)(j / CVL_SCAN_ROW), (int)(i / SCAN_WINDOW));
      ELEMENT_TYPE *row = made + i + j;
      NAMED(store)(row, NAMED(combine_rows)(op, NAMED(spread)(b), NAMED(load)(row)));
    }
    if (i == 0 && from_start) made[0] = NAMED(identity)(op);
    put(e + i, made + i, m * sizeof *e);
  }
}

ALWAYS_INLINE void NAMED(clear_above)(enum cvl_op op, struct NAMED(above) * above) {
  for (int r = 0; r < CVL_SCAN_WINDOW; r++) above->t[r] = NAMED(spread)(NAMED(pad)(op));
}

ALWAYS_INLINE void NAMED(totals)(enum cvl_op op, const void *data, uint64_t windows,
                                 void *totals) {
  const ELEMENT_TYPE *x = data;
  ELEMENT_TYPE *y = totals;
  if (SCAN_FREELY) {
    NAMED(totals_in_any_order)(op, x, windows, y);
    return;
  }
  struct NAMED(above) above;
  NAMED(clear_above)(op, &above);
  for (uint64_t k = 0; k < windows; k += SIDE) {
    const uint64_t m = windows - k < SIDE ? windows - k : SIDE;
    NAMED(visit_rows)(op, x + k * SCAN_WINDOW, m * SCAN_WINDOW, NULL, &above);
    memcpy(y + k, &above.t[CVL_SCAN_WINDOW - 1], m * sizeof *y);
  }
}

ALWAYS_INLINE void NAMED(write)(enum cvl_op op, const void *data, uint64_t n,
                                const void *before, bool from_start, void *results,
                                scan_put *put) {
  const ELEMENT_TYPE *x = data, *start = before;
  ELEMENT_TYPE *e = results;
  if (SCAN_FREELY) {
    NAMED(write_in_any_order)(op, x, n, start[0], e, put);
    return;
  }
  _Alignas(LINE) ELEMENT_TYPE made[SIDE * SCAN_WINDOW];
  struct NAMED(above) above, base;
  NAMED(clear_above)(op, &above);
  for (uint64_t i = 0; i < n; i += SIDE * SCAN_WINDOW) {
    const uint64_t m = n - i < SIDE * SCAN_WINDOW ? n - i : SIDE * SCAN_WINDOW;
    const uint64_t windows = (m + SCAN_WINDOW - 1) / SCAN_WINDOW;
    ELEMENT_TYPE known[SIDE] = {0};
    memcpy(known, start + i / SCAN_WINDOW, windows * sizeof *known);
    NAMED(visit_rows)(op, x + i, m, made, &above);
    NAMED(bases)(op, known, &above, &base);
    NAMED(visit_again)(op, m, i == 0 && from_start, &base, made, e + i, put);
  }
}

#include "cvl-cpu/kernels/scan-levels.h"

/* ---- whole segments ---- */

/* Scans one segment of more than SCAN_WINDOW elements. */
ALWAYS_INLINE void NAMED(long_segment)(enum cvl_op op, const ELEMENT_TYPE *x, uint64_t n,
                                       ELEMENT_TYPE *e, scan_put *put) {
  if (SCAN_FREELY) {
    NAMED(write_in_any_order)(op, x, n, NAMED(identity)(op), e, put);
    return;
  }
  struct scan_state state;
  _Alignas(LINE) ELEMENT_TYPE made[SIDE * SCAN_WINDOW];
  struct NAMED(above) above, base;
  NAMED(clear_above)(op, &above);
  NAMED(start)(op, &state);
  for (uint64_t i = 0; i < n; i += SIDE * SCAN_WINDOW) {
    const uint64_t m = n - i < SIDE * SCAN_WINDOW ? n - i : SIDE * SCAN_WINDOW;
    ELEMENT_TYPE before[SIDE];
    NAMED(visit_rows)(op, x + i, m, made, &above);
    memcpy(before, &above.t[CVL_SCAN_WINDOW - 1], sizeof before);
    NAMED(advance)(op, &state, (m + SCAN_WINDOW - 1) / SCAN_WINDOW, before);
    NAMED(bases)(op, before, &above, &base);
    NAMED(visit_again)(op, m, i == 0, &base, made, e + i, put);
  }
}

/* Scans every row of a strip by itself. made[i] is the prefix before i in its row; at the first
 * position of a row it is the total of the row before. Bit j of heads[r] is set if a row starts
 * at position 8 r + j. */
ALWAYS_INLINE void NAMED(strip_rows)(enum cvl_op op, const ELEMENT_TYPE *x, int n,
                                     const uint8_t *heads, ELEMENT_TYPE *made) {
  const struct NAMED(row) pad = NAMED(spread)(NAMED(pad)(op));
  /* values of the eight positions before */
  struct NAMED(row) x0 = pad, a0 = pad, b0 = pad, c0 = pad;
  unsigned near = 0; /* heads of those eight positions and of these */
  for (int i = 0; i < n; i += CVL_SCAN_ROW) {
    /* Bit 8 + j of near, near2, near4 says that less than 1, 2, 4 elements of its row are
     * before j. */
    near = near >> 8 | (unsigned)heads[i / CVL_SCAN_ROW] << 8;
    const unsigned near2 = near | near << 1, near4 = near2 | near2 << 2;
    const struct NAMED(row) r = NAMED(load_some)(x + i, (uint64_t)(n - i));
    struct NAMED(row) left = NAMED(choose)(near >> 8, pad, NAMED(back)(x0, r, 1));
    const struct NAMED(row) a = NAMED(combine_rows)(op, left, r);
    left = NAMED(choose)(near2 >> 8 & 255, pad, NAMED(back)(a0, a, 2));
    const struct NAMED(row) b = NAMED(combine_rows)(op, left, a);
    left = NAMED(choose)(near4 >> 8 & 255, pad, NAMED(back)(b0, b, 4));
    const struct NAMED(row) c = NAMED(combine_rows)(op, left, b);
    NAMED(store)(made + i, NAMED(back)(c0, c, 1));
    x0 = r, a0 = a, b0 = b, c0 = c;
  }
}

/* Combines the prefix before each row into it, for `count` <= SIDE segments of a strip. */
ALWAYS_INLINE void NAMED(strip_above)(enum cvl_op op, const struct scan_span *span, int count,
                                      struct NAMED(above) * above, ELEMENT_TYPE *made) {
  const ELEMENT_TYPE pad = NAMED(pad)(op);
  int most = 0;
  for (int w = 0; w < count; w++) {
    const int rows = (span[w].n + CVL_SCAN_ROW - 1) / CVL_SCAN_ROW;
    if (rows > most) most = rows;
    const ELEMENT_TYPE *e = made + span[w].start;
    for (int r = 0; r < rows - 1; r++) {
      NAMED(set_total)(above, r, w, e[(r + 1) * CVL_SCAN_ROW]);
    }
  }
  /* Nothing comes after the last row. */
  NAMED(prefix_above)(op, above, most - 1);
  for (int w = 0; w < count; w++) {
    for (int i = CVL_SCAN_ROW; i < span[w].n; i += CVL_SCAN_ROW) {
      ELEMENT_TYPE *e = made + span[w].start + i;
      const ELEMENT_TYPE total = NAMED(get_total)(above, i / CVL_SCAN_ROW - 1, w);
      const ELEMENT_TYPE base = NAMED(combine)(op, pad, total);
      const struct NAMED(row) r = NAMED(load)(e);
      const int left = span[w].n - i;
      struct NAMED(row) s = NAMED(combine_rows)(op, NAMED(spread)(base), r);
      if (left < CVL_SCAN_ROW) s = NAMED(choose)(255U << left & 255, r, s);
      NAMED(store)(e, s);
      e[0] = NAMED(combine)(op, base, pad);
    }
  }
}

/* Scans segments of at most SCAN_WINDOW elements, at most STRIP in all. The first is at
 * x[0]. */
ALWAYS_INLINE void NAMED(strip)(enum cvl_op op, const ELEMENT_TYPE *x, const uint64_t *offsets,
                                uint64_t count, ELEMENT_TYPE *e, scan_put *put) {
  ELEMENT_TYPE made[STRIP + CVL_SCAN_ROW];
  uint8_t heads[STRIP / CVL_SCAN_ROW + 1];
  struct scan_span span[STRIP / CVL_SCAN_ROW + 1];
  const int n = (int)(offsets[count] - offsets[0]);
  const int higher = scan_mark(offsets, count, heads, span);
  NAMED(strip_rows)(op, x, n, heads, made);
  if (higher > 0) {
    struct NAMED(above) above;
    NAMED(clear_above)(op, &above);
    for (int i = 0; i < higher; i += SIDE) {
      NAMED(strip_above)(op, span + i, higher - i < SIDE ? higher - i : SIDE, &above, made);
    }
  }
  /* An empty segment's identity is overwritten by the next segment's, or lies behind the
   * strip. */
  for (uint64_t k = 0; k < count; k++) made[offsets[k] - offsets[0]] = NAMED(identity)(op);
  put(e, made, (size_t)n * sizeof *e);
}

ALWAYS_INLINE void NAMED(segments)(enum cvl_op op, const void *data, const uint64_t *offsets,
                                   uint64_t count, void *results, scan_put *put) {
  const ELEMENT_TYPE *x = data;
  ELEMENT_TYPE *e = results;
  for (uint64_t k = 0; k < count;) {
    const uint64_t start = offsets[k];
    const uint64_t to = scan_strip_end(offsets, k, count);
    if (to > k) {
      NAMED(strip)(op, x + start, offsets + k, to - k, e + start, put);
      k = to;
    } else {
      NAMED(long_segment)(op, x + start, offsets[k + 1] - start, e + start, put);
      k++;
    }
  }
}

#include "cvl-cpu/kernels/scan-entries.h"
#include "cvl/trees.h"
