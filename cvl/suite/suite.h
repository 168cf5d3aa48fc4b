/* suite.h - declarations for the files of the conformance suite. Private to them.
 *
 * An item is one operation on one class of elements, or one chapter of the contract. A case is
 * one call on host operands (cases.c makes them). A variant is one way to present the operands
 * to the back end (run.c tries them and compares).
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
/* Returns a number in 0 .. n-1; n > 0. */
uint64_t rng_below(struct rng *, uint64_t n);
/* Returns true once in n. */
bool rng_one_in(struct rng *, uint64_t n);

/* ---- the suite ---- */

struct item;

struct suite {
  const struct cvl_backend *b;
  struct cvl_context *ctx;
  const struct conformance_options *options;
  unsigned threads;
  struct heap heap; /* for the suite's own host arrays */
  enum cvl_elem int_elem, float_elem;
  struct rng rng;
  uint64_t site; /* site of the last operation issued */
  uint64_t cases, failures;
  uint64_t imported; /* vectors that the back end has borrowed and not given back */
  uint64_t digest;   /* hash of results that are not compared bit by bit */
  const struct item *item;
  char where[160]; /* the current attempt, for messages */
  bool failed;     /* this item is to end */
};

enum item_size {
  ITEM_FLAT,     /* the operation has no descriptor */
  ITEM_SEGMENTED /* the item runs over all shapes */
};

struct item {
  char name[40];
  enum call_kind kind;
  enum cvl_op op;
  enum elem_class klass; /* class of the values */
  enum item_size size;
  void (*run)(struct suite *); /* for a chapter; NULL for an operation */
};

/* Records a failure of the current item and prints it. Always false. */
bool suite_fail(struct suite *, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Opens a context with the suite's widths and threads. False after recording a failure. */
bool suite_open(struct suite *, uint64_t memory_limit);
/* Closes the context, after requiring that nothing is live and no error is left. */
void suite_close(struct suite *);
/* Waits for all work. Fails if a fault is reported, or bytes are live, or something is still
 * borrowed. */
bool suite_no_error(struct suite *);

/* ---- cases (cases.c, data.c) ---- */

enum shape {
  SHAPE_ONE,        /* one segment */
  SHAPE_ONES,       /* all of length 1 */
  SHAPE_FOURS,      /* all of length 4 (n rounded down) */
  SHAPE_HUNDREDS,   /* all of length 100, and a shorter one */
  SHAPE_LONG,       /* one long segment between small ones */
  SHAPE_POWER,      /* few long, many short */
  SHAPE_ALTERNATE,  /* 0, 2, 0, 2 ... */
  SHAPE_HALF_EMPTY, /* half of them empty, at random */
  SHAPES,
  SHAPE_NONE = SHAPES, /* no segments; n = 0 has only this and the next two */
  SHAPE_ALL_EMPTY,
  SHAPE_ONE_EMPTY,
  SHAPES_END,
  SHAPE_EDGES = SHAPES_END, /* lengths about powers of two; for combinations only */
  SHAPE_SPARSE,             /* more segments than elements; for computed operands only */
  SHAPE_QUARTERS,           /* four segments of one length (n rounded down); for scans only */
  SHAPE_FEW,                /* segments of up to 8 elements; for scans only */
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
  int alias[CALL_OPERANDS]; /* the earlier operand that is the same object; -1: none */
  bool faulty;              /* faults were put in on purpose */
  bool in_forms;            /* runs with operands computed, if any can be */
  struct computed computed[CALL_OPERANDS];
};

/* Makes a case for the current item, with about n elements. `grid`: pairs of special values;
 * for reductions and scans, ties (data_fill_ties). */
void case_make(struct suite *, uint64_t n, enum shape, bool grid, struct test_case *);
/* Puts faults into some elements, if the kind has faults of its own. False if it has none. */
bool case_spoil(struct suite *, struct test_case *);
void case_free(struct suite *, struct test_case *);
/* The forms in which a back end may have the elements of a vector. */
enum suite_operand_form {
  STORED_ELEMENTS,
  ALL_EQUAL_ELEMENTS, /* by DIST over one segment */
  SPREAD_ONES,        /* over segments of one element, */
  SPREAD_EQUAL,       /* of equal lengths, */
  SPREAD_UNEQUAL,     /* and of others */
  ONE_PROGRESSION,    /* INTs by INDEX, over segments as above; others by DIST */
  EQUAL_PROGRESSIONS,
  PROGRESSIONS,
  OPERAND_FORMS
};
/* Changes elements of operands so that operations can compute them, in these forms. */
void case_make_forms(struct suite *, struct test_case *, const enum suite_operand_form *);
/* How an index is computed: not at all; as zeros, with all else stored; or as anything, with
 * all else computed. */
enum suite_index_form { STORED_INDEX, INDEX_OF_ZEROS, ANY_INDEX, INDEX_FORMS };
/* Does the same for operations on segments, with elements in one form. The index may then be at
 * fault. */
void case_make_index_forms(struct suite *, struct test_case *, enum suite_index_form,
                           enum suite_operand_form);
/* Does the same for some operands of some cases, at random. */
void case_make_computed(struct suite *, struct test_case *);
bool case_is_computed(const struct test_case *);
/* Makes an operand only stored, because its elements have changed. */
void case_unmake(struct suite *, struct test_case *, unsigned operand);
/* Changes elements so that they can be computed in a form. INTs are made by INDEX only if they
 * may become anything. */
void computed_make(struct suite *, struct host_value *, enum suite_operand_form, bool any_ints,
                   struct computed *);
/* Changes indices so that they can be computed in a form: to zeros, which are right in all
 * segments except empty ones, or to the positions in the segments of a descriptor. */
void computed_zeros(struct suite *, struct host_value *, enum suite_operand_form,
                    struct computed *);
void computed_positions(struct suite *, struct host_value *, const struct host_value *d,
                        struct computed *);
void computed_free(struct suite *, struct computed *);
/* Uploads elements as a result of DIST or INDEX. */
bool computed_upload(struct suite *, const struct host_value *, const struct computed *,
                     bool other, struct cvl_value *);

/* Runs the item on operands in all forms (forms.c). */
void suite_run_forms(struct suite *);

/* Makes a descriptor of n elements in this shape. Some shapes round n down. */
struct host_value shape_make(struct suite *, enum shape, uint64_t n);
/* Makes a descriptor with as many segments as d, none empty where an index points into it. The
 * indices are those of the partner into d if `partner_points`, else those of d into the
 * partner. */
struct host_value segdes_partner(struct suite *, const struct host_value *d,
                                 bool partner_points, bool flagged);
/* Makes random indices of d's segments into those of `other`. Flags, unless they are
 * HOST_NOTHING, are cleared where no index is right. Indices are arbitrary where flags are
 * clear. */
struct host_value segdes_indices(struct suite *, const struct host_value *d,
                                 const struct host_value *other, struct host_value *flags);
/* Makes a random permutation of each segment, sometimes the identity or reversal. */
struct host_value segdes_permutation(struct suite *, const struct host_value *d);
/* Makes, for every segment of d, none of which is empty, the index of one of its elements. */
struct host_value row_indices(struct suite *, const struct host_value *d);
/* Fills v with values fit for this operation. */
void data_fill(struct suite *, enum call_kind, enum cvl_op, struct host_value *v);
/* Fills v so that MAX or MIN of FLOAT, the current item's, is decided by a NaN or by the sign
 * of a zero. All other values are less extreme. */
void data_fill_ties(struct suite *, struct host_value *v);
/* Fills the operands of an elementwise row with all pairs of special values. */
void data_fill_grid(struct suite *, struct host_value *v, unsigned operand);

/* ---- trying them (run.c, compare.c) ---- */

/* Compares one case with the oracle, in its plain presentation or, with `variants`, in all. */
void case_run(struct suite *, struct test_case *, bool variants);
/* Makes allocation 1, 2, 3 ... of the case fail, until none is left to fail. */
void case_sweep(struct suite *, struct test_case *);

/* Makes a vector of n random elements. */
struct host_value suite_numbers(struct suite *, enum cvl_elem, uint64_t n);
/* Uploads a host value. `other`: in the other one of its forms, if it has two. */
bool suite_upload(struct suite *, const struct host_value *, bool other, struct cvl_value *);
/* Uploads it as a slice of a value with others around it. The back end has slices. */
bool suite_upload_slice(struct suite *, const struct host_value *, struct cvl_value *);
/* Uploads it as an imported vector, on memory that nobody can write, with nothing behind it. */
bool suite_export(struct suite *, const struct host_value *, struct cvl_value *);
/* Vectors of as many elements, and their descriptor, made by PACKs with the same flags
 * (packed.c). */
struct packed_operands {
  struct host_value kept, all; /* lengths: of results, and of what they are packed from */
  struct cvl_value flags, d;
};
/* Begins packing. `segments`: those of n elements; NULL: one. False if there is nothing to
 * pack, or after a failure. It must be ended in every case. */
bool packed_begin(struct suite *, const struct host_value *segments, uint64_t n,
                  struct packed_operands *);
/* Whether a value is a vector of n elements, or the descriptor. Such a value can be
 * uploaded. */
bool packed_fits(const struct packed_operands *, const struct host_value *);
bool packed_upload(struct suite *, const struct packed_operands *, const struct host_value *,
                   struct cvl_value *out);
void packed_end(struct suite *, struct packed_operands *);
/* Fetches a value of the back end into host memory. False after recording a failure. */
bool suite_fetch(struct suite *, const struct cvl_value *, struct host_value *);
/* Whether got equals want. NaNs are equal; FLOATs may be `ulps` units in the last place
 * apart. */
bool suite_compare(struct suite *, const struct host_value *want, const struct host_value *got,
                   unsigned ulps, const char *what);
/* Whether the error is the wanted one, in the fields that cvl.h gives a meaning to. */
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
