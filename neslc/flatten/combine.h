/* combine.h - reductions, scans and scatters by functions of the program. */
#ifndef RAVEL_NESLC_FLATTEN_COMBINE_H
#define RAVEL_NESLC_FLATTEN_COMBINE_H

#include "neslc/flatten/private.h"

struct traits;

/* The result of a call of reduce, scan ... of the library as that of a superoperator; NULL if
 * the call is no such, or takes rounds. */
const struct rep *flatten_combination(struct flattener *, struct context *,
                                      const struct call *);
/* Within the function of a combination: */
void combining_refuse(struct flattener *, const char *why);
void combining_check(struct flattener *, ir_var flags, const char *text);
const struct rep *combining_call(struct flattener *, struct context *, const struct call *,
                                 const struct traits *);

/* One column of a combination. */
enum column_source {
  FROM_ELEMENTS, /* one for each element */
  FROM_SEGMENTS, /* one for each segment */
  FROM_ONE       /* one for all, perhaps a constant */
};
struct combined {
  uint8_t word;       /* enum type_word */
  uint8_t from;       /* enum column_source, of ... */
  ir_var v;           /* ... its elements */
  ir_var identity;    /* one for each segment, or a constant; NO_VAR: any */
  ir_var defaults;    /* SCATTER */
  ir_var left, right; /* the operands of the function, and ... */
  ir_var value;       /* ... its value: variables of the code of the function */
  bool wanted;        /* its result is */
  ir_var result;
};
struct flat_combination {
  uint32_t op; /* SUPEROP_COMBINE_... */
  ARRAY(struct combined) columns;
  const struct flat_block *code; /* of the function */
  ir_var first;                  /* variables below this are not of that code */
  ir_var all;                    /* in that code: the descriptor of all positions */
  ir_var segdes, one;            /* of the elements: their segments, and as one segment */
  ir_var index, into; /* SCATTER: the index, and the segments of defaults and results */
};
/* Finds what the function needs beside its operands, and makes columns of it. False if it is
 * not elementwise, with the reason in `combining`. */
bool combination_find(struct flattener *, struct flat_combination *);
/* Emits the superoperator; sets the results of columns. */
void combination_emit(struct flattener *, struct flat_combination *);

#endif
