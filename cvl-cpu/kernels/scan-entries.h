/* scan-entries.h - the functions of a struct scan_row, for every combining operation of one
 * element type. Included by scan-elem.h and scan-flags.h.
 */
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
  static void INSTANCE(write, op)(const void *x, uint64_t n, const void *before,               \
                                  bool from_start, void *out, scan_put *put) {                 \
    NAMED(write)(OP_##op, x, n, before, from_start, out, put);                                 \
  }                                                                                            \
  static void INSTANCE(segments, op)(const void *x, const uint64_t *offsets, uint64_t count,   \
                                     void *out, scan_put *put) {                               \
    NAMED(segments)(OP_##op, x, offsets, count, out, put);                                     \
  }
#define COMBINE(op, row, identity, pad, exact, expression)                                     \
  COMBINE_OF_CLASS(row)(COMBINE_INSTANCES(op))
#include "tables/operations.def"
#undef COMBINE_INSTANCES
#undef INSTANCE
