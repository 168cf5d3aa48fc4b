/* scan.h - exclusive scans of raw arrays, with one row for each element type and operation.
 *
 * The reproducible tree of trees.h is cut at windows of SCAN_WINDOW elements: 32 rows of 8, the
 * two lowest levels. Within a window everything follows from one value that the levels above
 * have for its start, here `before`. Those levels see one total of each window. Their state is
 * carried from window to window. So a segment can be scanned in one pass from left to right, or
 * by several threads that hand the state on.
 */
#ifndef RAVEL_CPU_KERNELS_SCAN_H
#define RAVEL_CPU_KERNELS_SCAN_H

#include "cvl/cvl.h"
#include "cvl/trees.h"

enum {
  SCAN_WINDOW = CVL_SCAN_TILE,
  SCAN_LEVELS = 12, /* levels above the windows: more than 256 * 32^12 elements do not exist */
  SCAN_STEPS = 5    /* steps of Kogge and Stone in a window of CVL_SCAN_WINDOW */
};

/* The state of the levels above, after some windows. Arrays hold elements of the row's type. */
struct scan_state {
  uint64_t seen[SCAN_LEVELS];   /* number of totals that have come, modulo CVL_SCAN_WINDOW */
  uint64_t before[SCAN_LEVELS]; /* prefix of all earlier windows of the level */
  uint64_t current;             /* prefix of all elements so far */
  /* The totals of the current window after each step of Kogge and Stone. */
  uint64_t partial[SCAN_LEVELS][SCAN_STEPS][CVL_SCAN_WINDOW];
};

/* Writes results: a copy without overlap, into the caches or past them. */
typedef void scan_put(void *to, const void *from, size_t bytes);

struct scan_row {
  /* Sets totals[k] to the total of window k of x, for all `windows` full windows. */
  void (*totals)(const void *x, uint64_t windows, void *totals);
  /* Sets the state to that before the first window of a segment. */
  void (*start)(struct scan_state *);
  /* Takes in the totals of the next windows, and replaces each by the prefix before its
   * window. */
  void (*advance)(struct scan_state *, uint64_t windows, void *totals);
  /* Sets out[0 .. n) to the scan of x[0 .. n) in windows (the last may be short), with prefix
   * before[k] before window k. If from_start, x[0] is the first element of its segment, and
   * gets the identity. out may be x. */
  void (*write)(const void *x, uint64_t n, const void *before, bool from_start, void *out,
                scan_put *put);
  /* Scans whole segments: x[offsets[k] .. offsets[k+1]) to the same positions of out, for k <
   * count. out may be x. */
  void (*segments)(const void *x, const uint64_t *offsets, uint64_t count, void *out,
                   scan_put *put);
};

struct scan_kernels {
  /* Functions are NULL where operations.def has no combining row. */
  struct scan_row row[CVL_ELEM_COUNT][OP_COUNT];
};

#endif
