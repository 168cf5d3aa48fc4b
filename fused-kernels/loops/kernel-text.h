/* kernel-text.h - a kernel while it is printed (print-kernel.c), and what the files that print
 * its statements share.
 *
 * Names of the text: vV is value V of the kernel, rR what writes result R of the superoperator.
 * `i` is the position, `g` the number of its segment, `begin` and `end` where that lies; `from`
 * is where the block of positions begins. What statement K needs has its number: aK is what it
 * has accumulated, tK and fK are elements and flags of a block, lK the lanes of the tree, all
 * in scratch memory. Whole rows of a block end at `tail`.
 */
#ifndef RAVEL_FUSED_KERNEL_TEXT_H
#define RAVEL_FUSED_KERNEL_TEXT_H

#include "fused-kernels/loops/loops.h"
#include "fused-kernels/loops/range-call.h"

/* Statements of positions that are executed in one loop. */
struct kernel_phase {
  uint32_t first, end;
};

struct kernel_text {
  const struct kernel *k;
  const struct superop *op;
  const struct held *params, *outputs;
  struct arena *arena;
  FILE *out;
  uint8_t *levels; /* of every value: enum kernel_level */
  uint32_t main; /* the descriptor whose segments the loops follow; SUPEROP_NONE: one segment */
  bool range;    /* a part of the positions, or of the segments, is executed (range.h) */
  const bool *one; /* of every parameter: strides that are all 1 */
  bool single;     /* there is one position: no loops */
  bool checks;     /* something may fail at positions: `fine` says that nothing has there */
  bool plain;      /* and nothing is combined: what fails returns at once */
  bool blocks;     /* positions are executed a block at a time, */
  bool lanes;      /* ... and whole rows of one go into the lanes of the tree */
  bool rows;       /* what is printed is executed for whole rows of the tree */
  bool stays;      /* ... for a piece where some index does not go on */
  bool together;   /* ... for a segment that is one of every descriptor */
  bool phases;     /* a block of positions is executed in phases; */
  bool *held; /* ... of every value: elements of a block are held for loops, later phases */
  struct kernel_phase phase; /* what is executed at positions */
  uint32_t combination;      /* the number of its combination */
  uint32_t *scratch;         /* the parts of the scratch memory that it uses */
};

/* ---- all of it: print-kernel.c ---- */

/* Finds the statements, and their strides. */
void find_statements(struct kernel_text *, struct arena *);
/* Writes all loops. */
void print_statements(const struct kernel_text *);
/* Of a range: finds how each statement reads its parameters: print-range.c. */
void find_ways(struct kernel_text *, struct kernel_statement *);

/* ---- the shape of the loops: kernel-shape.c ---- */

/* Finds what is not given beside the statements: levels, the main descriptor, what is single
 * ... */
void find_shape(struct kernel_text *, struct arena *);
uint32_t main_descriptor(const struct kernel_text *);
/* The same kernel in a segment that is one of every descriptor. */
struct kernel_text together_of(const struct kernel_text *, struct arena *);
enum form param_form(const struct kernel_text *, uint32_t param);
bool is_segmented(const struct kernel_text *, uint32_t descriptor);
enum kernel_level level_of_near(const struct kernel_text *, uint32_t near);
enum kernel_level level_of(const struct kernel_text *, const struct kernel_statement *);
bool may_fail(const struct kernel_statement *);
/* Whether a statement collects a block of elements, then combines, or packs, all of them. */
bool in_blocks(const struct kernel_text *, const struct kernel_statement *);
/* Whether it is the greatest or least FLOAT, for which any order is right, but no compiler
 * knows that. */
bool is_extreme(const struct kernel_statement *);
/* Whether its elements go into the lanes of the tree: a sum, or that. */
bool in_lanes(const struct kernel_text *, const struct kernel_statement *);
/* Descriptors beside `main` whose segments positions are in have a cursor. */
bool is_cursor(const struct kernel_text *, uint32_t descriptor);
/* Whether positions do not depend on each other: nothing is written where data say. */
bool is_independent(const struct kernel_text *);
/* Whether several positions may write an element of a scatter. */
bool may_overlap(const struct kernel_text *, const struct kernel_statement *);

/* ---- positions, segments and sizes: kernel-positions.c ---- */

const char *position(const struct kernel_text *);
struct snippet size_of(const struct kernel_text *, struct superop_size);
/* The number of the segment that a position is in. */
struct snippet segment(const struct kernel_text *, uint32_t near);
/* Writes where the segment of a gather or scatter begins; its length; and what is taken from a
 * position to count from the start of its segment. */
void put_base(const struct kernel_text *, const struct kernel_statement *);
void put_extent(const struct kernel_text *, const struct kernel_statement *);
void put_begin(const struct kernel_text *, uint32_t near);

/* ---- what is read and written side by side: kernel-strides.c ---- */

/* Whether a gather or scatter goes on from an address, which is checked once for the positions
 * of a segment or piece. */
bool is_pointed(const struct kernel_text *, const struct kernel_statement *);
/* Whether segments are executed in pieces (fused-kernels/kernel.h). */
bool has_pieces(const struct kernel_text *);
/* Whether an index may stay for a piece, as one that is clamped does at the ends: then `moves`
 * is false, and no gather or scatter that turns goes on from an address. */
bool may_stay(const struct kernel_text *);
/* Writes the addresses wiV of gathers and woR of scatters, by position: before the loop over
 * the positions of a segment; and for the piece at i, in a loop over those up to `end`, which
 * stays open: the piece ends at `piece`. */
void point_segment(const struct kernel_text *);
/* Of a range: writes prefetches of what a later segment reads by addresses. What prints the
 * statements of a level is given. */
typedef void kernel_level_printer(const struct kernel_text *, enum kernel_level);
void read_ahead(const struct kernel_text *, kernel_level_printer *);
void begin_piece(const struct kernel_text *, const char *end);
/* Whether the only result of a kernel is what a gather reads side by side: it need not be
 * copied. Writes where that is. */
bool is_slice(const struct kernel_text *);
void point_slice(const struct kernel_text *);

/* ---- statements ---- */

/* Writes what statement k of a kernel does at one of these times; NULL: nothing. */
typedef void kernel_printer(const struct kernel_text *, uint32_t k);
struct kernel_printers {
  kernel_printer *before;      /* all loops */
  kernel_printer *at_segment;  /* before its positions */
  kernel_printer *before_rows; /* of a block */
  kernel_printer *at_position;
  kernel_printer *after_block; /* of positions */
  kernel_printer *after_segment;
  kernel_printer *after; /* all loops */
};

/* kernel-values.c */
kernel_printer print_constant, print_load, print_spread, print_offset, print_map, print_check;
/* kernel-gathers.c */
kernel_printer begin_gather, print_gather;
/* ---- phases, in ranges: kernel-lanes.c ---- */

/* Whether a loop begins behind a statement that carries a value. */
bool is_last_carry(const struct kernel *, uint32_t statement);
/* Puts the carried values of each loop side by side, and what writes results behind all loops.
 */
void order_phases(struct arena *, struct kernel *);
/* The phase that begins with a statement; the one behind another, if that is not the last. */
struct kernel_phase phase_from(const struct kernel *, uint32_t first);
struct kernel_phase next_phase(const struct kernel *, struct kernel_phase);
/* Finds what is held for a block; takes room for it; at a position reads what the phase needs,
 * and keeps what others need. */
void find_held(struct kernel_text *, struct arena *);
void take_held(const struct kernel_text *);
void load_held(const struct kernel_text *);
void keep_held(const struct kernel_text *);
/* Before the positions of a phase; a map of it whose argument may be large: false if it is
 * none; behind the positions, if it is not the last phase. */
void declare_far(const struct kernel_text *);
bool print_near(const struct kernel_text *, uint32_t k);
void end_phase(const struct kernel_text *);

/* kernel-rounds.c */
kernel_printer print_carry, print_while, print_next;
/* kernel-results.c, kernel-packs.c, kernel-scatters.c */
extern const struct kernel_printers store_printers, scan_printers, reduce_printers,
    keep_printers, scatter_printers;
/* kernel-combinations.c; whether a range writes the column of a combination that a node is. */
bool writes_column(const struct kernel_text *, uint32_t node);
extern const struct kernel_printers combine_printers;

/* The row of a reduction or scan. */
const struct combine_row *row_of(const struct kernel_statement *);
const char *statement_type(const struct kernel_statement *);
/* Where an output goes; NULL: nowhere. */
const struct held *output_of(const struct kernel_text *, uint32_t value);
uint32_t output_number(const struct kernel_text *, const struct held *);
/* Whether a statement keeps elements; it may only count them. */
bool packs(const struct kernel_text *, const struct kernel_statement *);
/* Takes room for the elements of a block, and for the lanes of the tree: `name` with number k.
 * A range has it on the stack. */
void take_block(const struct kernel_text *, const char *type, const char *name, uint32_t k);
/* Takes room for a result of so many elements, to be written by rV. */
void take_result(const struct kernel_text *, uint32_t value, const char *size);
/* Writes what happens where a flag with this name and number is 0: the statement fails. */
void fail_unless(const struct kernel_text *, const struct kernel_statement *, const char *name,
                 uint32_t number);
/* Whether another check may have failed at a position, so that values may be wrong there. */
bool may_have_failed(const struct kernel_text *);

#endif
