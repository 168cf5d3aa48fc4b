/* oracle.h - every operation of the contract by the most obvious sequential code, over plain
 * host arrays. The conformance suite believes the oracle and nothing else.
 *
 * It is written by hand from vcode.md and from the pseudo-code of trees.h. It uses no
 * expression of operations.def and no code of a back end: a common expression could be wrong in
 * both. INT and BOOL elements are computed as int64_t and narrowed, FLOAT as double and
 * rounded: for + - * / and square root, rounding the double result to single precision gives
 * the correctly rounded single result (53 >= 2*24 + 2 bits).
 */
#ifndef RAVEL_CVL_ORACLE_H
#define RAVEL_CVL_ORACLE_H

#include "base/heap.h"
#include "cvl/call.h"

enum host_form { HOST_NOTHING, HOST_VECTOR, HOST_SEGDES };

/* A vector or a descriptor in host memory. Plain data; who made it frees it. */
struct host_value {
  uint8_t form;   /* enum host_form */
  uint8_t elem;   /* enum cvl_elem of a vector; CVL_I64 of a descriptor */
  uint64_t n;     /* elements, or segments */
  uint64_t total; /* of a descriptor */
  void *data;     /* n elements; of a descriptor n lengths as int64_t */
};

struct oracle_call {
  enum call_kind kind;
  enum cvl_op op;
  enum cvl_elem int_elem, float_elem;
  unsigned count;
  struct host_value operand[CALL_OPERANDS]; /* borrowed; sizes agree */
  struct cvl_random random;                 /* of RANDOM */
};

struct oracle_outcome {
  struct cvl_error error; /* kind CVL_E_NONE: none, and then the results are set */
  struct host_value out[CALL_RESULTS];
};

/* Computes the call. False if it faults: the error is then complete but for its site. Results
 * belong to the caller, for host_free. All memory comes from heap. */
bool oracle_run(struct heap *, const struct oracle_call *, struct oracle_outcome *);

struct superop;
/* The nodes of a completed superoperator, one after the other. `values` has one entry for each
 * value: those of the parameters are borrowed, the others must be empty and then hold the
 * results, the caller's to free. False at the first fault; its site is the number of the node,
 * and later results are empty. Sizes are checked. */
bool oracle_superop(struct heap *, const struct superop *, enum cvl_elem int_elem,
                    enum cvl_elem float_elem, struct host_value *values, struct cvl_error *);

/* Philox 4x32-10: counter and key to one block of four words. */
void oracle_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* ---- values in host memory ---- */

/* A vector of n undefined elements, a descriptor of n undefined lengths; form HOST_NOTHING if
 * there is no memory. */
struct host_value host_vector(struct heap *, enum cvl_elem, uint64_t n);
struct host_value host_segdes(struct heap *, uint64_t n);
void host_free(struct heap *, struct host_value *);
/* Element i as a number; narrowed to the element type when stored. */
int64_t host_int(const struct host_value *, uint64_t i);
double host_real(const struct host_value *, uint64_t i);
void host_put_int(struct host_value *, uint64_t i, int64_t x);
void host_put_real(struct host_value *, uint64_t i, double x);
/* dst[i] = src[j], of equal types; dst[i] = 0. */
void host_copy(struct host_value *dst, uint64_t i, const struct host_value *src, uint64_t j);
void host_zero(struct host_value *dst, uint64_t i);
size_t host_bytes(const struct host_value *);
/* Length of segment k. */
uint64_t host_segment(const struct host_value *, uint64_t k);

/* ---- the oracle's functions, one file for each group ---- */

/* Element i of an elementwise operation; false if it is at fault (a zero divisor). */
bool oracle_element(const struct oracle_call *, struct host_value *out, uint64_t i);
#define SEGMENTED(kind, function)                                                              \
  bool oracle_##function(struct heap *, const struct oracle_call *, struct oracle_outcome *);
#include "cvl/segmented.def"
bool oracle_permute(struct heap *, const struct oracle_call *, struct oracle_outcome *);
bool oracle_extract(struct heap *, const struct oracle_call *, struct oracle_outcome *);
bool oracle_replace(struct heap *, const struct oracle_call *, struct oracle_outcome *);
bool oracle_pack(struct heap *, const struct oracle_call *, struct oracle_outcome *);
/* The fault CVL_E_MEMORY for `bytes`; always false, results freed. */
bool oracle_no_memory(struct heap *, struct oracle_outcome *, size_t bytes);

/* The oracle as a back end: sequential, prompt, in host arrays. A double for tests, and what
 * the delaying back end may wrap. */
extern const struct cvl_backend cvl_oracle_backend;

#endif
