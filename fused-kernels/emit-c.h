/* emit-c.h - what the files that emit whole superoperators as C share. Private to this room.
 *
 * Parameter k of a superoperator is pK with nK elements or segments, tK the total of a
 * descriptor; value v is vV at a place; outV the array of an output. Node K's fault is noted in
 * faultK, its cursor is cK, its accumulator accK, its buffer blockK.
 */
#ifndef RAVEL_FUSED_EMIT_C_H
#define RAVEL_FUSED_EMIT_C_H

#include "fused-kernels/emit-helpers.h"

struct emitter {
  const struct superop *op;
  struct widths widths;
  FILE *out;
  uint32_t main; /* the descriptor whose segments the function goes through: SUPEROP_NONE */
  bool blocks;   /* there are ordered reductions: goes through segments by blocks */
  bool idle[SUPEROP_VALUES_MAX]; /* of every value: perhaps nothing uses it, which compilers
                                    have to be told */
  bool late[SUPEROP_VALUES_MAX]; /* of every node: a map that is computed only where an ASSERT
                                    fails. Other cold nodes have cursors to be moved on, or are
                                    cheap */
};

/* C type of a value's elements. */
const char *emitter_type(const struct emitter *, uint32_t value);
bool emitter_is_output(const struct superop *, uint32_t value);
/* The descriptor that gives places their segments, for a node that needs segments; else
 * SUPEROP_NONE. *far: the one its index refers to, SUPEROP_NONE if none. */
uint32_t emitter_near(const struct superop_node *, uint32_t *far);

/* emit-body.c: parts of the function of a superoperator. */
void emit_find_late(struct emitter *);           /* first of all */
void emit_declarations(const struct emitter *);  /* before all loops */
void emit_segment_begin(const struct emitter *); /* for segment s of `main` */
void emit_place(const struct emitter *);         /* for place i: every node in order */
void emit_block_end(const struct emitter *);     /* after places first .. last - 1 */
void emit_segment_end(const struct emitter *);
void emit_end(const struct emitter *); /* after all: faults */

#endif
