/* suite.h - declarations for the files of the conformance suite. Private to them.
 *
 * An item is one operation on one class of elements, or one chapter of the contract. A case is
 * one call on host operands (cases.c makes them). A variant is one way to present
 * the operands to the back end (run.c tries them and compares).
 */
#ifndef RAVEL_CVL_CONFORMANCE_SUITE_H
#define RAVEL_CVL_CONFORMANCE_SUITE_H

#include "cvl/oracle/oracle.h"
#include "cvl/processes.h"
#include "cvl/sharing.h"
#include "cvl/slices.h"
#include "cvl/suite/conformance.h"

/* ---- random numbers of the suite itself ---- */

struct rng {
  uint64_t state;
};
uint64_t rng_next(struct rng *);
/* 0 .. n-1; n > 0. */
uint64_t rng_below(struct rng *, uint64_t n);
/* True once in n. */
bool rng_one_in(struct rng *, uint64_t n);

/* ---- the suite ---- */

struct item;

struct suite {
  const struct cvl_backend *b;
  struct cvl_context *ctx;
  const struct conformance_options *options;
  unsigned threads;
  struct heap heap; /* of the suite's own host arrays */
  enum cvl_elem int_elem, float_elem;
  struct rng rng;
  uint64_t site; /* of the last operation issued */
  uint64_t cases, failures;
  uint64_t lent;   /* vectors that the back end has borrowed and not given back */
  uint64_t digest; /* of results that are not compared bit by bit */
  const struct item *item;
  char where[160]; /* what is being tried, for messages */
  bool failed;     /* this item: stop */
};

enum item_size {
  ITEM_FLAT,     /* no descriptor */
  ITEM_SEGMENTED /* runs over all shapes */
};

struct item {
  char name[40];
  enum call_kind kind;
  enum cvl_op op;
  enum elem_class klass; /* of the values */
  enum item_size size;
  void (*run)(struct suite *); /* of a chapter; NULL for an operation */
};

/* Records a failure of the current item and prints it; always false. */
bool suite_fail(struct suite *, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Opens a context with the suite's widths and threads; false after recording a failure. */
bool suite_open(struct suite *, uint64_t memory_limit);
/* Closes it, after requiring that nothing is live and no error is left. */
void suite_close(struct suite *);
/* Waits for all work; fails if a fault is reported, or bytes are live, or something is still
 * borrowed. */
bool suite_no_error(struct suite *);

/* ---- cases (cases.c, data.c) ---- */

enum shape {
  SHAPE_ONE,        /* one segment */
  SHAPE_ONES,       /* all of length 1 */
  SHAPE_FOURS,      /* all of length 4 (n rounded down) */
  SHAPE_HUNDREDS,   /* all of length 100, and a shorter one */
  SHAPE_LONG,       /* one long one between small ones */
  SHAPE_POWER,      /* few long, many short */
  SHAPE_ALTERNATE,  /* 0, 2, 0, 2 ... */
  SHAPE_HALF_EMPTY, /* half of them empty, at random */
  SHAPES,
  SHAPE_NONE = SHAPES, /* no segments; only these three for n = 0 */
  SHAPE_ALL_EMPTY,
  SHAPE_ONE_EMPTY,
  SHAPES_END,
  SHAPE_EDGES = SHAPES_END, /* of lengths about powers of two; for combinations only */
  SHAPE_SPARSE,             /* more segments than elements; for computed operands only */
  SHAPE_QUARTERS,           /* four of one length (n rounded down); for scans only */
  SHAPE_FEW,                /* of up to 8 elements; for scans only */
  SHAPE_SEVENS              /* all of length 7 (n rounded down); for scans only */
};
const char *shape_name(enum shape);

enum made_by { MADE_BY_NOTHING, MADE_BY_DIST, MADE_BY_INDEX };
/* How elements may be the result of an operation on these segments (computed.c). */
struct computed {
  enum made_by by;
  int64_t step;
  struct host_value runs;
};

struct test_case {
  struct oracle_call call;
  int alias[CALL_OPERANDS]; /* the same object as this earlier operand; -1: its own */
  bool faulty;              /* faults were put in on purpose */
  bool in_forms;            /* runs with operands computed, if any can be */
  struct computed computed[CALL_OPERANDS];
};

/* Makes a case for the current item: about n elements. `grid`: pairs of special values; for
 * reductions and scans, ties (data_fill_ties). */
void case_make(struct suite *, uint64_t n, enum shape, bool grid, struct test_case *);
/* Puts faults into some elements, where the kind has faults of its own; false if it has none.
 */
bool case_spoil(struct suite *, struct test_case *);
void case_free(struct suite *, struct test_case *);
/* How a back end may have the elements of a vector. */
enum operand_form {
  STORED_ELEMENTS,
  ALL_EQUAL_ELEMENTS, /* by DIST over one segment */
  SPREAD_ONES,        /* over segments of one element, */
  SPREAD_EQUAL,       /* of equal lengths, */
  SPREAD_UNEQUAL,     /* and of others */
  ONE_PROGRESSION,    /* INTs by INDEX, likewise; others by DIST */
  EQUAL_PROGRESSIONS,
  PROGRESSIONS,
  OPERAND_FORMS
};
/* Makes elements of operands such that operations can compute them, in these forms. */
void case_make_forms(struct suite *, struct test_case *, const enum operand_form *);
/* How an index is computed: not; as zeros, with all else stored; as anything, with all else. */
enum index_form { STORED_INDEX, INDEX_OF_ZEROS, ANY_INDEX, INDEX_FORMS };
/* For operations on segments: elements in one form; the index may then be at fault. */
void case_make_index_forms(struct suite *, struct test_case *, enum index_form,
                           enum operand_form);
/* The same for some operands of some cases, at random. */
void case_make_computed(struct suite *, struct test_case *);
bool case_is_computed(const struct test_case *);
/* The operand is only stored, because its elements have changed. */
void case_unmake(struct suite *, struct test_case *, unsigned operand);
/* Changes elements so that they can be computed in a form; INTs by INDEX only if they may
 * become anything. */
void computed_make(struct suite *, struct host_value *, enum operand_form, bool any_ints,
                   struct computed *);
/* Indices become zeros, which are right in all segments but empty ones, in a form; or the
 * positions in the segments of a descriptor. */
void computed_zeros(struct suite *, struct host_value *, enum operand_form, struct computed *);
void computed_positions(struct suite *, struct host_value *, const struct host_value *d,
                        struct computed *);
void computed_free(struct suite *, struct computed *);
/* Uploads elements as a result of DIST or INDEX. */
bool computed_upload(struct suite *, const struct host_value *, const struct computed *,
                     bool other, struct cvl_value *);

/* The item on operands in all forms (forms.c). */
void suite_run_forms(struct suite *);

/* A descriptor of n elements in this shape; some shapes round n down. */
struct host_value shape_make(struct suite *, enum shape, uint64_t n);
/* A descriptor with as many segments as d, none empty where an index points into it:
 * indices of the partner into d if `partner_points`, else indices of d into the partner. */
struct host_value segdes_partner(struct suite *, const struct host_value *d,
                                 bool partner_points, bool flagged);
/* Random indices of d's segments into those of `other`. Flags, unless they are HOST_NOTHING,
 * are cleared where no index is right; where they are clear indices are arbitrary. */
struct host_value segdes_indices(struct suite *, const struct host_value *d,
                                 const struct host_value *other, struct host_value *flags);
/* A random permutation of each segment, sometimes the identity or reversal. */
struct host_value segdes_permutation(struct suite *, const struct host_value *d);
/* For every segment of d, none empty, the index of an element of it. */
struct host_value row_indices(struct suite *, const struct host_value *d);
/* Gives every empty segment of d one element. */
void segdes_fill_empty(struct host_value *d);
/* Fills v with values fit for this operation. */
void data_fill(struct suite *, enum call_kind, enum cvl_op, struct host_value *v);
/* Fills v so that MAX or MIN of FLOAT, the current item's, is decided by a NaN or by the sign
 * of a zero: all other values are less extreme. */
void data_fill_ties(struct suite *, struct host_value *v);
/* Fills the operands of an elementwise row with all pairs of special values. */
void data_fill_grid(struct suite *, struct host_value *v, unsigned operand);

/* ---- trying them (run.c, compare.c) ---- */

/* Compares one case with the oracle in its plain presentation and, with `variants`, in all. */
void case_run(struct suite *, struct test_case *, bool variants);
/* Fails allocation 1, 2, 3 ... of the case until none is left to fail. */
void case_sweep(struct suite *, struct test_case *);

/* A vector of n elements that are drawn. */
struct host_value suite_numbers(struct suite *, enum cvl_elem, uint64_t n);
/* Uploads a host value. `other`: in the other of its forms, where it has two. */
bool suite_upload(struct suite *, const struct host_value *, bool other, struct cvl_value *);
/* The same as a slice of a value with others around it; the back end has slices. */
bool suite_upload_slice(struct suite *, const struct host_value *, struct cvl_value *);
/* The same as a borrowed vector: on memory that nobody can write, with nothing behind it. */
bool suite_export(struct suite *, const struct host_value *, struct cvl_value *);
/* Vectors of as many elements, and their descriptor, out of PACKs by the same flags
 * (packed.c). */
struct packed_operands {
  struct host_value kept, all; /* lengths: of results, and with what is not kept */
  struct cvl_value flags, d;
};
/* `segments`: of n elements; NULL: one. False if there is nothing to pack, or after a failure;
 * it has to be ended in every case. */
bool packed_begin(struct suite *, const struct host_value *segments, uint64_t n,
                  struct packed_operands *);
/* Whether a value is a vector of n elements, or the descriptor; and uploads it then. */
bool packed_fits(const struct packed_operands *, const struct host_value *);
bool packed_upload(struct suite *, const struct packed_operands *, const struct host_value *,
                   struct cvl_value *out);
void packed_end(struct suite *, struct packed_operands *);
/* Fetches a value of the back end into host memory; false after recording a failure. */
bool suite_fetch(struct suite *, const struct cvl_value *, struct host_value *);
/* Whether got equals want: NaNs alike, `ulps` units in the last place apart for FLOAT. */
bool suite_compare(struct suite *, const struct host_value *want, const struct host_value *got,
                   unsigned ulps, const char *what);
/* Whether the error is the wanted one in the fields that cvl.h gives a meaning to. */
bool suite_compare_error(struct suite *, const struct cvl_error *want,
                         const struct cvl_error *got);

/* ---- chapters (contract.c, memory.c) ---- */

void chapter_devices(struct suite *);
void chapter_values(struct suite *);
void chapter_sizes(struct suite *);
void chapter_errors(struct suite *);
void chapter_ranges(struct suite *);
void chapter_sequence(struct suite *);
void chapter_positions(struct suite *);
void chapter_memory(struct suite *);
void chapter_shared(struct suite *); /* shared.c */
void chapter_device(struct suite *); /* device.c */
void chapter_slices(struct suite *); /* slices.c, these three */
void chapter_fill(struct suite *);
void chapter_concatenate(struct suite *);
void chapter_sub(struct suite *); /* sub.c */
void chapter_own(struct suite *); /* own.c */

/* Random superoperators (superop.c). */
void chapter_superop_maps(struct suite *);
void chapter_superop_functions(struct suite *);
void chapter_superop_loops(struct suite *);
void chapter_superop_combinations(struct suite *);
void chapter_superop_failing_combinations(struct suite *);
void chapter_superop_combinations_and_loops(struct suite *);
void chapter_superop_gathers(struct suite *);
void chapter_superop_reductions(struct suite *);
void chapter_superop_scans(struct suite *);
void chapter_superop_packs(struct suite *);
void chapter_superop_failing_packs(struct suite *);
void chapter_superop_scatters(struct suite *);
void chapter_superop_mixed(struct suite *);
void chapter_superop_copies(struct suite *);
void chapter_superop_failing_copies(struct suite *);
void chapter_superop_divisions(struct suite *);
void chapter_superop_asserts(struct suite *);
void chapter_superop_failing_asserts(struct suite *);
void chapter_superop_faults(struct suite *);

#endif
