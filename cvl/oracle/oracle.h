/* oracle.h - every operation of the contract by the most obvious sequential code, over plain
 * host arrays. The conformance suite compares with the oracle and nothing else.
 *
 * It is written by hand from vcode.md and from the pseudo-code of trees.h. It uses no
 * expression of operations.def and no code of a back end, since a shared expression could be
 * wrong in both. INT and BOOL elements are computed as int64_t and narrowed, FLOAT as double
 * and rounded. For + - * / and square root, rounding the double result to single precision
 * gives the correctly rounded single result (53 >= 2*24 + 2 bits).
 */
#ifndef RAVEL_CVL_ORACLE_H
#define RAVEL_CVL_ORACLE_H

#include "base/heap.h"
#include "cvl/call.h"

enum host_form { HOST_NOTHING, HOST_VECTOR, HOST_SEGDES };

/* A vector or a descriptor in host memory: plain data. Whoever made it frees it. */
struct host_value {
  uint8_t form;   /* enum host_form */
  uint8_t elem;   /* enum cvl_elem of a vector; CVL_I64 for a descriptor */
  uint64_t n;     /* number of elements, or of segments */
  uint64_t total; /* for a descriptor */
  void *data;     /* n elements, or n lengths of a descriptor as int64_t */
};

struct oracle_call {
  enum call_kind kind;
  enum cvl_op op;
  enum cvl_elem int_elem, float_elem;
  unsigned count;
  struct host_value operand[CALL_OPERANDS]; /* borrowed; sizes agree */
  struct cvl_random random;                 /* for RANDOM */
};

struct oracle_outcome {
  struct cvl_error error; /* kind CVL_E_NONE: there is no fault, and the results are set */
  struct host_value out[CALL_RESULTS];
};

/* Computes the call. Returns false after a fault, whose error is complete except for the site.
 * The caller frees results by host_free. All memory comes from heap. */
bool oracle_run(struct heap *, const struct oracle_call *, struct oracle_outcome *);

struct superop;
/* Executes the nodes of a completed superoperator, one after the other. `values` has one entry
 * for each value. Those of parameters are borrowed; the others must be empty, and get the
 * results, which the caller frees. Sizes are checked. Returns false at the first fault, whose
 * site is the number of the node; later results are empty. */
bool oracle_superop(struct heap *, const struct superop *, enum cvl_elem int_elem,
                    enum cvl_elem float_elem, struct host_value *values, struct cvl_error *);

/* Philox 4x32-10: makes one block of four words from counter and key. */
void oracle_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* ---- values in host memory ---- */

/* Make a vector of n undefined elements, and a descriptor of n undefined lengths. The form is
 * HOST_NOTHING if there is no memory. */
struct host_value host_vector(struct heap *, enum cvl_elem, uint64_t n);
struct host_value host_segdes(struct heap *, uint64_t n);
void host_free(struct heap *, struct host_value *);
/* Read and write element i as a number, which is narrowed to the element type when stored. */
int64_t host_int(const struct host_value *, uint64_t i);
double host_real(const struct host_value *, uint64_t i);
void host_put_int(struct host_value *, uint64_t i, int64_t x);
void host_put_real(struct host_value *, uint64_t i, double x);
/* Set dst[i] to src[j], of equal types, and dst[i] to 0. */
void host_copy(struct host_value *dst, uint64_t i, const struct host_value *src, uint64_t j);
void host_zero(struct host_value *dst, uint64_t i);
size_t host_bytes(const struct host_value *);
/* Returns the length of segment k. */
uint64_t host_segment(const struct host_value *, uint64_t k);

/* ---- the oracle's functions, one file for each group ---- */

/* Computes element i of an elementwise operation. False if it is at fault (a zero divisor). */
bool oracle_element(const struct oracle_call *, struct host_value *out, uint64_t i);
#define SEGMENTED(kind, function)                                                              \
  bool oracle_##function(struct heap *, const struct oracle_call *, struct oracle_outcome *);
#include "cvl/segmented.def"
bool oracle_permute(struct heap *, const struct oracle_call *, struct oracle_outcome *);
bool oracle_extract(struct heap *, const struct oracle_call *, struct oracle_outcome *);
bool oracle_replace(struct heap *, const struct oracle_call *, struct oracle_outcome *);
bool oracle_pack(struct heap *, const struct oracle_call *, struct oracle_outcome *);
/* Sets the fault CVL_E_MEMORY for `bytes`, and frees results. Always false. */
bool oracle_no_memory(struct heap *, struct oracle_outcome *, size_t bytes);

/* The oracle as a back end: sequential, prompt, in host arrays. It stands in for a back end in
 * tests, and the delaying back end may wrap it. */
extern const struct cvl_backend cvl_oracle_backend;

#endif
