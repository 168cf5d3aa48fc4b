/* worker.h - the state of one thread in a run of a superoperator. Private to this folder and
 * combine/. */
#ifndef RAVEL_CPU_FUSED_WORKER_H
#define RAVEL_CPU_FUSED_WORKER_H

#include "cvl-cpu/fused/plan.h"

/* The source of a value that an affine run reads instead of computing it, from the first
 * position of a rectangle on. */
struct plan_source {
  const char *at;            /* of a gather: the elements gathered; NULL: not contiguous */
  uint64_t bytes, row_bytes; /* added to `at` for each position, each row */
  struct affine value;       /* of a filled value */
};

/* Affine runs that are alike: columns of some rows (affine.h). */
struct fused_rectangle {
  uint64_t first;       /* position */
  uint64_t row, column; /* of it */
  uint64_t rows, length;
  bool skipping;               /* its steps are k->affine_steps */
  uint32_t next;               /* the one that followed last */
  struct plan_source *sources; /* by number in k->affine_gathers */
};

/* How many a worker remembers: those of three rows, for stencils of radius 1, with their
 * corners. */
enum { FUSED_RECTANGLES = 16 };

/* A vector that is read in order, to be prefetched: what is read of it at position 0, which may
 * lie outside of it; the bytes of an element; its number as a parameter. */
struct fused_stream {
  const char *at;
  uint32_t bytes, param;
};

/* Where the elements are that the gathers of a group read: n positions of the source for the
 * positions of the domain from `first` on. */
struct fused_located {
  uint32_t group; /* SUPEROP_NONE: nothing is known */
  uint64_t first, n;
  const uint64_t *at; /* the room, or the index itself */
  struct walk walk;   /* of the gather that located, afterwards */
  uint64_t room[LOCATE_MOST + SPREAD_SLACK / sizeof(uint64_t)];
};

/* The state of one thread for its current chunk; its buffers follow. */
struct fused_worker {
  struct cvl_kernel *k;
  uint64_t origin[FUSED_STORAGES]; /* the position that a buffer begins with, by kind */
  /* The lowest fault this worker has found, and the index there if it is one. */
  uint64_t fault_node, fault_position;
  int64_t fault_index;
  /* The positions that are prefetched while a strip is evaluated (fused_prefetch):
   * prefetch_count positions from prefetch_from on. Then the next line, by its stream and its
   * number there; how many lines there are, and how many are done. prefetch_pace is lines for
   * each step, in units of 2^-32. */
  uint64_t prefetch_from, prefetch_count;
  uint32_t prefetch_stream;
  uint64_t prefetch_line, prefetch_lines, prefetched, prefetch_pace;
  /* The current affine run, from run_first to before run_end: its rectangle, its row, which
   * begins at row_start. */
  uint64_t run_first, run_end, row, row_start;
  struct fused_rectangle *rectangles; /* FUSED_RECTANGLES of them, where anything is affine */
  uint32_t rectangle, newest;
  uint64_t begun, rectangles_found; /* the position of the chunk; since then */
  bool skipping;                    /* its steps are k->affine_steps */
  struct fused_stream *streams;     /* what is read from memory, stream_count of them */
  uint32_t stream_count;
  struct affine *affine; /* of the rectangle that is being found, by value number */
  const char **gathered; /* of affine gathers and filled values: their elements of the strip */
  char *filled;          /* a strip for each of them */
  const char *all_true, *all_false; /* BOOLs: a strip */
  char *lanes;                      /* of each reduction, by columns */
  struct fused_located *located;    /* NULL: nothing gathers */
  struct walk *walks;
  struct walk *ranks;  /* of each pack */
  uint64_t *kept;      /* by each pack in this chunk */
  char **totals;       /* of each reduction: where the totals of the next blocks go */
  char *block_totals;  /* of each reduction: room for the blocks of a segment */
  char *window_totals; /* of each scan: the windows of two long segments */
  char **packed;       /* of each pack: what the chunk keeps */
  struct combine_worker combining;
};

/* The element of a value at position p of the current strip, tile or chunk. */
static inline char *fused_at(const struct fused_worker *w, const struct fused_value *v,
                             uint64_t p) {
  char *base = v->run.storage <= UNIFORM         ? v->run.base
               : v->run.storage == IN_AFFINE_RUN ? (char *)w->gathered[v->run.affine_gather]
                                                 : (char *)w + v->run.offset;
  return base + (p - w->origin[v->run.storage]) * v->run.step;
}

/* The steps that the current strip executes, in order: those from `first` to before `end`. */
struct fused_steps {
  const uint32_t *numbers;
  uint32_t first, end;
};
static inline struct fused_steps fused_steps_here(const struct fused_worker *w) {
  const struct cvl_kernel *k = w->k;
  if ((k->run.has_affine_runs || k->run.by_columns) && w->skipping) {
    return (struct fused_steps){k->run.affine_steps, 0, k->run.affine_step_count};
  }
  return (struct fused_steps){k->run.live_steps, k->run.live_from, k->step_count};
}

#endif
