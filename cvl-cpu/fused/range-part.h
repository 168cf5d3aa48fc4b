/* range-part.h - the parts of a run that the function for ranges is called for, compiled or
 * evaluated, and the memory of a thread that calls it. Private to this folder.
 */
#ifndef RAVEL_CPU_FUSED_RANGE_PART_H
#define RAVEL_CPU_FUSED_RANGE_PART_H

#include "cvl-cpu/fused/compiled.h"
#include "cvl-cpu/fused/packs.h"
#include "cvl-cpu/fused/scatter.h"
#include "cvl-cpu/layout.h"
#include "cvl-cpu/operations/long-segments.h"

enum {
  PIECE = 1024,              /* segments of a call, if their starts are computed for it */
  STAGED = 2048,             /* positions of a call whose results bypass the caches ... */
  STAGED_MOST = 4096,        /* ... or, of one segment, at most */
  LONG_SEGMENT = STAGED_MOST /* a longer one may be executed in parts, of whole blocks */
};

struct ranges {
  struct cvl_kernel *k;
  const struct kernel_range_plan *plan;
  const struct cvl_value *operands;
  kernel_range_function *function; /* NULL: evaluated */
  uint64_t units; /* that threads share: positions, or steps of the path over segments */
  uint64_t grain; /* units of a range */
  enum fused_scattering scattering;
  bool stages;          /* some results bypass the caches */
  bool computes_starts; /* of segments of one length, for each call */
  bool hands_on;        /* several ranges scan or keep elements: each waits for its turn, and
                           goes on where those before have ended */
  uint64_t most;        /* positions of a range */
  char *workers;        /* memory of the first */
  size_t worker_bytes;
  void **results; /* of every output: all of it */
  uint64_t *kept; /* of every output of a pack: by the ranges that have had their turn */
  bool parts;     /* long segments are executed in parts; then: */
  uint64_t *long_segments;
  char **totals;          /* ... and of every reduction, as in operations/long-segments.h */
  const uint64_t **whole; /* of every descriptor that is given whole: its starts of segments */
  /* What the ranges that have had their turn leave of the last segment: of every scan, for
   * those of FLOATs; of every output, for other scans. */
  struct scan_state *states;
  uint64_t *so_far;
  _Atomic uint64_t turn;
  atomic_bool failed;
};

/* The memory of a thread: what it calls the function with. */
struct range_worker {
  struct kernel_range call;
  struct strip_worker *strips; /* if it is evaluated */
  const void **data;
  const uint64_t **offsets;
  uint64_t *counts, *segments;
  void **results, **totals;
  uint64_t *kept;   /* of every output of a pack: by its range ... */
  uint64_t *before; /* ... and by those before it */
  char **rooms;     /* ... and where its elements are, if ranges hand on */
  uint64_t low;     /* the first position of its range */
  bool has_turn;    /* the ranges before had ended when this one began */
  /* range-scans.c: */
  char **scan_rooms, *windows;
  size_t window_bytes; /* of the windows of a part */
  uint64_t *states;    /* of every output: of a part, as the function has it ... */
  uint64_t *in;        /* ... of the part before the range's segments */
  uint64_t cut[2];     /* a part, as the only segment of the main descriptor */
  uint64_t ends[2];    /* of segments in what is kept, where they are not wanted */
  uint64_t **starts;   /* of every parameter in every way: room for what is computed */
  uint64_t *written; /* of every output: where the segments begin that the part writes to ... */
  uint64_t *lows, *spans; /* ... and the elements that are written at all */
  uint8_t **marks;
  /* range-combinations.c: */
  struct combine_worker combining;
  void **columns;     /* where the function writes them */
  char *column_rooms; /* of each column of a combination */
  uint64_t *picked;   /* most + 1 for each parameter that is picked from */
  char *staged;       /* STAGED_MOST elements for each output */
};

/* What one call executes: positions; and segments if there are any, or a part of the first of
 * them. */
struct range_part {
  uint64_t low, high, first, last;
  bool cut;
  bool begins; /* of a part: nothing of its segment, as far as is known, comes before it */
};

static inline bool ranges_of_segments(const struct kernel_range_plan *plan) {
  return plan->main != SUPEROP_NONE;
}

/* range_pack and so on: what makes an output, if it is of this kind; else NULL. */
#define RANGE_MAKER(what, kinds)                                                               \
  static inline struct fused_##what *range_##what(const struct ranges *r, uint32_t output) {   \
    const struct fused_output *o = &r->k->outputs[output];                                     \
    return kinds ? &r->k->what##s[o->number] : NULL;                                           \
  }
RANGE_MAKER(pack, o->kind == OUTPUT_KEPT || o->kind == OUTPUT_KEPT_LENGTHS)
RANGE_MAKER(reduction, o->kind == OUTPUT_REDUCED)
RANGE_MAKER(scan, o->kind == OUTPUT_SCANNED)
RANGE_MAKER(scatter, o->kind == OUTPUT_SCATTERED)

static inline bool range_is(const struct ranges *r, uint32_t output,
                            enum fused_output_kind kind) {
  return r->k->outputs[output].kind == kind;
}

/* Whether the function reads a parameter in a way. */
static inline bool range_reads_as(const struct ranges *r, uint32_t param,
                                  enum kernel_read_as way) {
  return r->plan->reads[param + way * r->k->op->param_count];
}

/* The bytes of a worker; sets it up in memory, if there is any. */
size_t range_worker_at(const struct ranges *, char *memory);
/* Says which part of the elements that are scattered a worker writes. */
void range_destinations(const struct ranges *, struct range_worker *, uint64_t part,
                        uint64_t parts);
/* Calls the function for a part. Returns false where it fails. */
bool range_part_call(struct ranges *, struct range_worker *, const struct range_part *);

#endif
