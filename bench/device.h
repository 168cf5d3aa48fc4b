/* device.h - measures a back end. The back end makes the operands; operations are issued one
 * after the other and waited for once. Times are compared with the copy bandwidth of the same
 * minute.
 */
#ifndef RAVEL_BENCH_DEVICE_H
#define RAVEL_BENCH_DEVICE_H

#include "bench/calls.h"
#include "bench/copy.h"
#include "bench/streams.h"

struct device {
  struct bench b;
  bool host; /* the back end computes in the memory of the host */
  double plain, exact_scan, float_scan, pack, segmented; /* targets, of the copy bandwidth */
  struct copier copier;                                  /* for a GPU */
  struct bench_streams copy;                             /* else: one read, one written */
  const char *copied_by;
  FILE *json;             /* a line for each object, or NULL */
  FILE *count;            /* where rows are counted, not timed: device_measure; or NULL */
  struct cvl_value swept; /* fills a cache; belongs to the present context */
  double end;             /* by measure_now: later rows are left out */
  unsigned left_out;      /* rows */
};

/* One operation to be measured, on one size and shape. */
struct row {
  const char *family; /* the group that gives its target */
  struct work work;   /* detail: the shape of the segments */
  enum elem_class class;
  uint64_t n;
  double bytes;  /* bytes that must move: the table of docs/benchmarks.md */
  double target; /* part of the copy bandwidth, from LEAST_BYTES on; 0: reported only */
  /* 1 + the number of the operand that must not have been seen before, because a back end may
   * keep what it finds out about it; 0: none. */
  unsigned fresh;
};

/* Rows of fewer bytes are over before bandwidth decides: they have no target. */
#define LEAST_BYTES 256e6

void device_open(struct device *, const struct measure_options *);
void device_close(struct device *);
/* Closes the context that bench_open has opened. */
void device_leave(struct device *);

/* Returns whether a row with this name is wanted, and there is time for it. Counts the rows
 * that are left out. */
bool device_wants(struct device *, const char *name);
/* Measures a row and reports it. With --count it runs once, with none of its operands in the
 * second-level cache. Lines before and after it go to the file in which the interpreter of PTX
 * counts (RAVEL_PTX, `count`): the row as an object, and {"end": seconds}. */
void device_measure(struct device *, const struct row *);

/* Makes n elements by the back end itself, without a copy: INT from 1 to 2^30, FLOAT between
 * 0.1 and 1, BOOL either. Returns CVL_NOTHING if that failed, after a message. */
struct cvl_value device_vector(struct device *, enum elem_class, uint64_t n, uint64_t seed);
/* Runs an elementwise operation whose second operand has the same number everywhere. */
struct cvl_value device_with(struct device *, enum cvl_op, const struct cvl_value *,
                             struct cvl_value number, uint64_t n);
/* Runs an elementwise operation on two vectors. */
struct cvl_value device_map(struct device *, enum cvl_op, const struct cvl_value *,
                            const struct cvl_value *);

#endif
