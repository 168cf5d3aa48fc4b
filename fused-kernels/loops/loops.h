/* loops.h - kernels as loops of C for one thread: whole, within a text that knows how each
 * parameter is held, or a range of one as a function of its own. Private to who writes such
 * texts; what stands in them is in native-loops.h.
 */
#ifndef RAVEL_FUSED_LOOPS_H
#define RAVEL_FUSED_LOOPS_H

#include "fused-kernels/emit-expression.h"
#include "fused-kernels/kernel.h"
#include "fused-kernels/loops/put.h"

/* ---- how a variable is held ---- */

/* A vector that has one element in every execution is a scalar of C: xV. Another one is an
 * address and a length: xV, nV. A descriptor that has one segment in every execution is its
 * length: nV. Another one is the starts of segments and their number: oV, cV.
 *
 * A vector whose elements are all the same, and which is only read element by element, is one
 * of them and a length: xV, nV. The lengths of a descriptor, and where its segments begin, are
 * not computed where they are only read element by element: they are differences of starts.
 * Else each instance would go through a descriptor that all share. */
enum form {
  FORM_SCALAR,
  FORM_VECTOR,
  FORM_ONE,
  FORM_SEGMENTS,
  FORM_SAME,
  FORM_LENGTHS,
  FORM_STARTS
};

/* ---- sizes that are 1: unit-sizes.c ---- */

/* Whether each size of a superoperator is 1 in every execution, given its parameters. */
struct unit_sizes {
  bool *len;   /* of every parameter: its length, or total */
  bool *count; /* of every descriptor: its number of segments */
};
struct unit_sizes unit_sizes_of(struct arena *, const struct superop *, const uint8_t *forms,
                                const bool *one);
bool unit_size(const struct unit_sizes *, struct superop_size);
/* The form of a value of the superoperator that is an output. */
enum form unit_form(const struct superop *, const struct unit_sizes *, uint32_t value);

/* The node that makes an output of the same elements everywhere; or NULL. Given the forms of
 * parameters. */
const struct superop_node *same_everywhere(const struct superop *, const uint8_t *forms,
                                           uint32_t value);

/* ---- variables, by how they are held: held.c ---- */

/* A variable, and how it is held: a parameter or result of a superoperator. */
struct held {
  uint32_t v;
  uint8_t form;                     /* enum form */
  bool placed;                      /* a parameter that is where the result will be */
  uint32_t base;                    /* of LENGTHS and STARTS: the descriptor */
  const struct cvl_value *constant; /* of SAME: the value, if it is known */
  uint32_t append; /* a vector that is only returned, as result append - 1: its room is in that
                      buffer; else 0 */
};

/* Declares a variable, whose elements have this type. */
void declare_held(FILE *, const struct held *, const char *type);
/* The number of elements, a descriptor's total; the number of segments of a descriptor. */
struct snippet held_length(const struct held *);
struct snippet held_count(const struct held *);
/* Writes where the elements are. */
void put_data(FILE *, const struct held *);
/* Writes an element, at a position that is an expression. */
void put_element(FILE *, const struct held *, const char *position);
/* Gives up where the lengths of two variables differ. */
void require_equal(FILE *, const struct held *, const struct held *);
/* Writes xV = room for nV elements; V is not scalar. */
void print_room(FILE *, const struct held *);

/* ---- kernels: print-kernel.c ---- */

/* A file that kernels are written to. */
struct kernel_file {
  struct arena *arena;
  FILE *out;
  struct widths widths;
  const struct superop *const *superops; /* of the program: combinations have their numbers */
  uint32_t superop_count;
  uint32_t scratch; /* parts of scratch memory that what has been written needs */
};

/* Declares the results of a superoperator, outputs in their order, and computes them. `keeps`:
 * a slice of what it is given is copied, too. */
void print_kernel(struct kernel_file *, const struct superop *, const struct held *params,
                  const struct held *outputs, bool keeps);
/* Writes the function of a superoperator's combination, if it has one, before procedures:
 * kernel-combinations.c. */
void print_combination_function(struct kernel_file *, uint32_t superop);
/* Whether a kernel can be printed. */
bool may_print_kernel(const struct superop *);

#endif
