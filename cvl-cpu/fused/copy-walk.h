/* copy-walk.h - the walk over the runs of a target (copy.h) in the order of its result.
 * Private to the files that execute copies.
 *
 * Each input has a *cursor* with its next *spans*: elements that are contiguous in memory,
 * in the values and in the result. Some are found at a time, in a loop in which nothing depends
 * on their lengths. The result is made from its first element to its last: the cursor whose
 * span begins there gives the next elements. So every element is read once and written once,
 * whatever the number of inputs. Where no span begins there is a *gap*.
 *
 * A walk covers a range of the result. It begins where a search finds the first span; that
 * is right if spans are in order. It has been right if every cursor ends where that of the
 * following range begins: then each span has been met once, and they do not overlap.
 */
#ifndef RAVEL_CPU_COPY_WALK_H
#define RAVEL_CPU_COPY_WALK_H

#include "cvl-cpu/fused/copy.h"

/* An INDEX on the operands of a run of the superoperator. */
struct bound_runs {
  struct segments segments;
  const char *start, *stride; /* stride NULL: 1 */
  size_t step;                /* bytes from one start to the next; 0: all are the same */
};

struct bound_input {
  const struct copy_input *plan;
  struct bound_runs to, from;
  struct segments near, far;         /* of `to` */
  struct segments positions, source; /* of `from` */
  const char *values, *values_end;   /* NULL: of an inner target */
  uint64_t total;                    /* of its values */
  size_t bytes, int_bytes;
};

/* The segment that holds a position, and its end. */
struct copy_segment {
  uint64_t segment, end;
};

struct copy_walk;

enum { COPY_AHEAD = 64 }; /* spans found at a time */
#define COPY_NOWHERE UINT64_MAX

/* Elements from `from` on, NULL: zeros, that go to position `to` of the result. */
struct copy_span {
  uint64_t to, n;
  const char *from, *end; /* nothing may be read from `end` on */
};

struct copy_cursor {
  const struct bound_input *input;
  struct copy_walk *inner;            /* or NULL */
  uint64_t position;                  /* of its values, behind the spans that have been found */
  uint32_t next, found;               /* of these, the next one; there is always one */
  struct copy_span spans[COPY_AHEAD]; /* at the end, one that goes to COPY_NOWHERE */
  struct copy_segment run, near, slice, positions;
  uint64_t to_shift, to_base, to_limit; /* to = base + position + shift, of the run */
  uint64_t from_shift, from_base, from_limit;
};

struct copy_walk {
  const struct copy_target *target;
  struct copy_cursor *cursors; /* of its inputs */
  uint32_t turn;               /* the cursor whose span may be the next */
  uint64_t position;           /* of the result */
  size_t bytes;                /* of an element */
  bool long_runs;              /* longer than a line, on average */
  const char *previous;        /* or NULL: zeros */
  bool unfit;
};

/* Sets the cursors to the first spans from a position of the result on. */
void copy_walk_to(struct copy_walk *, uint64_t position, uint64_t total);
/* The cursor has no span left: finds more. False if the walk is unfit. */
bool copy_cursor_fill(struct copy_cursor *);
/* The elements from w->position on that are contiguous in memory, at most `most`. Of a gap,
 * *gap says so. None if the walk is unfit. */
struct copy_span copy_walk_next(struct copy_walk *, uint64_t most, bool *gap);
/* Goes on by so many of them. */
void copy_walk_take(struct copy_walk *, uint64_t n, bool gap);
/* Whether the cursors are where those of a walk that begins here would be. */
bool copy_walk_meets(const struct copy_walk *, uint64_t total);

/* A cursor without a walk, at a position of its values; copy_cursor_fill finds its first
 * spans. */
void copy_cursor_at(struct copy_cursor *, const struct bound_input *, uint64_t position);
/* Goes through the values from `first` to before `last` in their own order; false if an index
 * is out of range. */
bool copy_cursor_check(const struct bound_input *, uint64_t first, uint64_t last);

/* copy-permute.c: the PERMUTE of one input, not of an inner target, into `out`; runs in any
 * order. */
enum copy_outcome copy_permute(struct cvl_context *, uint64_t site, const struct bound_input *,
                               void *out);

#endif
