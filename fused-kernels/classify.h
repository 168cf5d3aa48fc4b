/* classify.h - how much of a superoperator a back end that compiles (emit.h) executes in
 * compiled functions, and what it leaves to kernels of the library, which go from buffer to
 * buffer.
 *
 * That depends on the run: a value spread over one segment is the same everywhere, over several
 * it is written to a buffer. So it is asked with what is known of each descriptor (not whether
 * several segments have one element each, so that a spread is the vector itself). The answer is
 * a model of what the CPU back end does; nothing of it is used to run a superoperator.
 */
#ifndef RAVEL_FUSED_CLASSIFY_H
#define RAVEL_FUSED_CLASSIFY_H

#include "fused-kernels/emit.h"

/* The segments of a descriptor, as far as they matter: one, or several whose average length has
 * these least values. */
enum fused_segments { SEGMENTS_SHORT, SEGMENTS_4, SEGMENTS_16, SEGMENTS_128, SEGMENTS_ONE };
enum fused_segments fused_segments(uint64_t count, uint64_t total);

enum fused_extent {
  EXTENT_WHOLE,    /* all that is done for the elements is compiled, but for reductions, which
                      take tiles of what was computed */
  EXTENT_SPLIT,    /* some nodes go through kernels of the library */
  EXTENT_EVALUATED /* nothing is compiled */
};

/* Why a node is not compiled. */
enum fused_reason {
  REASON_SPREAD,    /* DIST over several segments: each is filled */
  REASON_INDEX,     /* INDEX, which is written */
  REASON_POSITIONS, /* by arithmetic on positions, which is not read in its source */
  REASON_RUNS,      /* of runs, which are copied */
  REASON_FLAGGED,   /* BFPERMUTE */
  REASON_PICK,      /* EXTRACT */
  REASON_SCAN,
  REASON_PACK,
  REASON_SCATTER,
  REASON_SCATTER_RUNS,    /* of runs, which are copied */
  REASON_COMBINE_SCATTER, /* its function is compiled */
  REASON_STAGES,          /* of no node: more stages than functions have */
  REASON_COPIES,          /* of no node: runs are copied, and that is all */
  REASON_NOTHING,         /* of no node: none is elementwise */
  REASONS
};

/* "DIST over several segments". */
const char *fused_reason_text(enum fused_reason);

struct fused_classified {
  enum fused_extent extent;
  uint32_t count;
  const struct fused_because {
    uint32_t node; /* SUPEROP_NONE: of none */
    uint8_t reason;
  } * reasons; /* count of them, those without a node first, then in the order of nodes */
};

/* Classifies a completed superoperator, in the arena. segments[p]: of each parameter that is a
 * descriptor. */
struct fused_classified fused_classify(struct arena *, const struct superop *,
                                       const uint8_t *segments);

/* The reasons on one line, equal ones counted: "2 DIST over several segments, INDEX". Empty if
 * there are none. Returns dst. */
char *fused_reasons(const struct fused_classified *, char *dst, size_t size);

/* Lists of nodes, by classify-gathers.c. in_source: gathers whose elements are read in their
 * source, and what only computes their index; neither functions nor kernels execute these.
 * copied: gathers of runs, which are copied; the index is not computed for them. */
struct fused_gathers {
  const bool *in_source, *copied;
};
struct fused_gathers fused_gathers(struct arena *, const struct fused_schedule *,
                                   const uint8_t *segments);
/* Of every value, whether something that is executed reads it. */
const bool *fused_needed(struct arena *, const struct fused_schedule *,
                         const struct fused_gathers *);

#endif
