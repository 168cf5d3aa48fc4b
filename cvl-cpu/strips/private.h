/* private.h - what the files of this folder share.
 *
 *   plan         which statements are executed, and where each value is
 *   range        a range: its segments, tiles and strips; reductions
 *   statements   what each statement does for a strip
 *   gathers      gathers and scatters
 *   loops        loops, within a strip
 *   pieces       strips in which gathers read side by side
 */
#ifndef RAVEL_CPU_STRIPS_PRIVATE_H
#define RAVEL_CPU_STRIPS_PRIVATE_H

#include "cvl-cpu/kernels/map.h"
#include "cvl-cpu/kernels/move.h"
#include "cvl-cpu/kernels/reduce.h"
#include "cvl-cpu/operations/locate.h"
#include "cvl-cpu/strips/strips.h"
#include "fused-kernels/kernel.h"

enum {
  STRIP = LOCATE_MOST, /* positions */
  TILE = CVL_REDUCE_BLOCK,
  MANY_SLOTS = 6 /* strip buffers that fill half of a first-level cache of 48 KB */
};

/* Where the elements of a value are. */
enum strip_place {
  PLACE_NONE,    /* nowhere: nothing reads it */
  PLACE_PARAM,   /* in a parameter */
  PLACE_RESULT,  /* in an output, to which they are written at once */
  PLACE_UNIFORM, /* the same everywhere: repeated in a buffer of its own */
  PLACE_TILE,    /* in a buffer of its own, for a tile: a reduction reads it */
  PLACE_STRIP    /* in a buffer for a strip, which other values have at other times */
};

struct strip_value {
  uint8_t place; /* enum strip_place */
  uint8_t bytes; /* of an element */
  bool reduced;  /* UNIFORM: for a tile */
  /* PARAM: as it is read. RESULT: of the output. TILE, UNIFORM: of the buffer. STRIP: of the
   * slot. */
  uint32_t number;
};

/* How a carried value is replaced at the end of a round. */
enum strip_advance {
  ADVANCE_NOT,  /* it stays */
  ADVANCE_SWAP, /* its buffer and that of its next value are exchanged */
  ADVANCE_COPY  /* its next value is copied, by way of another buffer */
};

/* A statement: what the plan knows beside it. */
struct strip_statement {
  map_kernel *map;
  const struct reduce_row *row;
  uint32_t output;     /* the number of its output; SUPEROP_NONE: not wanted */
  uint32_t descriptor; /* KEEP: that of its descriptor */
  uint32_t column;     /* COMBINE: the number of its first column; of its index */
  uint32_t index_column;
  uint32_t leader; /* GATHER: the first one by the same index in the same segments */
  bool pointed;    /* GATHER, SCATTER: side by side, in pieces */
  bool starts;     /* such an index is made of it; it is not the same everywhere */
  /* CHECK of 0 <= index < limit, where the limit is the same everywhere; or SUPEROP_NONE. */
  uint32_t index, limit;
  uint8_t advance;     /* NEXT: enum strip_advance; */
  uint32_t spare_slot; /* ... the other buffer */
};

struct strips {
  const struct cvl_context *c;
  const struct superop *op;
  const bool *one; /* of every parameter: what it is planned for */
  struct arena arena;
  struct kernel_range_plan range;
  const struct kernel *kernel;
  struct strip_value *values;
  struct strip_statement *statements;
  /* Statements that are executed once, in each strip, in each strip of a piece; how many. */
  uint32_t *uniform, *steps, *piece_steps;
  uint32_t uniform_count, step_count, piece_step_count;
  /* For pieces: what indices are made of, and what ends a piece; gathers and scatters side by
   * side; how many. */
  uint32_t *starts, *pointed;
  uint32_t start_count, pointed_count;
  uint32_t *moving; /* the values in parameters, results and tiles; how many */
  uint32_t moving_count;
  uint32_t slots, buffers; /* of strips; of tiles and of what is the same everywhere */
  uint64_t strip;          /* positions of a strip */
  bool reduces, keeps, pieces;
};

/* Where the elements are that gathers and scatters by an index have to do with. */
struct strip_located {
  uint32_t leader; /* SUPEROP_NONE: nothing is known */
  const uint64_t *at;
  uint64_t room[LOCATE_MOST + SPREAD_SLACK / sizeof(uint64_t)];
};

/* The state of a thread. */
struct strip_worker {
  const struct strips *s;
  const struct kernel_range *call;
  uint64_t run;  /* positions of the run */
  uint64_t i;    /* the strip's first position, from the start of the range */
  uint64_t p;    /* ... and from that of the domain */
  uint64_t tile; /* the tile's first position, as `i` */
  bool filled;   /* what is the same everywhere has been computed */
  bool in_piece;
  uint64_t between; /* positions that are executed as they are where there is no piece */
  char **at;        /* of every value: its first element of the strip */
  struct segments *descriptors; /* of every parameter in every way */
  struct walk *walks;           /* of every statement: over its near descriptor */
  struct walk *cursors;         /* of every descriptor: for pieces */
  uint64_t *cells;              /* of every value: where a piece begins */
  uint64_t ending, ended; /* segments that end in the strip: from `ended` to before `ending` */
  uint32_t masked;        /* the flags that `masks` are of; SUPEROP_NONE */
  char *slots, *buffers;
  size_t slot_bytes, buffer_bytes;
  uint64_t masks[STRIP / 64 + 1];
  struct strip_located located;
};

static inline const struct kernel_statement *strip_statement_of(const struct strip_worker *w,
                                                                uint32_t k) {
  return &w->s->kernel->statements[k];
}

/* The kernels for INTs of this width. */
static inline const struct move_int *strip_ints(const struct strip_worker *w) {
  return move_int(w->s->c->kernels->move, w->s->c->int_elem);
}

/* The operand of a gather or scatter that is its index. */
static inline uint32_t strip_index(const struct kernel_statement *s) {
  return s->operands[s->kind == KERNEL_SCATTER];
}

/* The walk of a statement over a descriptor, at a position; kernels go on with it. */
struct walk *strip_walk(struct strip_worker *, uint32_t k, uint64_t position);
/* What a gather reads, from where its descriptor counts. */
const char *strip_source(const struct strip_worker *, const struct kernel_statement *);
/* The buffer of the result of a gather: pieces have it elsewhere. */
char *strip_room(struct strip_worker *, uint32_t value);

/* Executes statements number `first` to before `end` of a list for n positions. */
bool strip_execute(struct strip_worker *, const uint32_t *list, uint32_t first, uint32_t end,
                   uint64_t n);

typedef bool strip_function(struct strip_worker *, uint32_t k, uint64_t n);
strip_function strip_gather, strip_scatter;

/* Executes the loop whose first CARRY is number *step of a list; *step becomes that of its last
 * statement. */
bool strip_loop(struct strip_worker *, const uint32_t *list, uint32_t *step, uint64_t n);

/* At the beginning of a range. */
void strip_begin_pieces(struct strip_worker *);
/* How many of n positions from the strip's first one on are a piece, in which `in_piece` is
 * set; or are executed in one strip as they are. 0: an index is out of range. */
uint64_t strip_piece(struct strip_worker *, uint64_t n);
/* A gather or scatter side by side. */
strip_function strip_pointed;

#endif
