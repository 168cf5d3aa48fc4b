/* values.hpp - vectors and segment descriptors of this back end: where their elements are, or
 * how they are computed.
 *
 * Reference counts: a function that returns a pointer to one of these gives the caller a
 * reference, unless its comment says otherwise; `ref<T>` keeps one.
 */
#ifndef RAVEL_CUDA_VALUES_HPP
#define RAVEL_CUDA_VALUES_HPP

#include <memory>

#include "cvl-cuda/memory.hpp"

namespace ravel {

struct pack_plan;
struct scatter_plan;

/* The number that a size must equal, by rule `rule` of the operation at `site`. It is the first
 * of two sizes, or the second. */
struct requirement {
  int64_t n;
  uint64_t site;
  int64_t rule;
  bool first;
};

/* A descriptor, and the memory for its offsets if its total is not the required one. */
struct counted_segdes {
  cvl_segdes *d;
  ref<block> offsets;
};

/* A number that the device is still computing, such as the length of what PACK kept. */
struct deferred {
  uint32_t refs = 1;
  uint64_t symbol = 0; /* that of struct cvl_size; unique in the context */
  int64_t bound = 0;   /* upper bound */
  bool known = false;  /* then `value` is it */
  int64_t value = 0;
  ref<block> at;                /* the device writes it here: one int64_t */
  ref<block> mirror;            /* its copy in pinned memory, once one is under way */
  uint64_t epoch = 0;           /* when the mirror is there */
  bool counts_elements = false; /* it is the length of vectors in memory, of PACK */
  /* `value` is what the number must be, and the number has not arrived: require.cu. */
  bool required = false;
  requirement must{};
  /* Descriptors with offsets on the device that have this total, until it arrives. */
  std::vector<counted_segdes> totals;
  ref<deferred> of;  /* not null: this is that number as an INT, the length given to the */
  uint64_t site = 0; /* operation at this site, at fault if it is negative */
};

} // namespace ravel

/* A vector is immutable. Its elements are in `host`, in `device` or in both, which are then
 * equal; or they are computed. In that case `kind` is not FROM_MEMORY, and no block is set
 * until the elements are needed. */
struct cvl_vector {
  uint32_t refs = 1;
  cvl_elem elem = CVL_I32;
  int64_t length = 0; /* an upper bound while `size` is not null and not known */
  ravel::ref<ravel::deferred> size;
  ravel::ref<ravel::block> host; /* readable once epoch `arrives` is reached */
  ravel::ref<ravel::block> device;
  uint64_t arrives = 0;

  ravel::operand_form kind = ravel::FROM_MEMORY;
  uint64_t first = 0, step = 0;       /* bits of the elements if they are in no vector */
  ravel::ref<cvl_vector> data, steps; /* SPREAD, PROGRESSION: one element for each segment */
  ravel::ref<cvl_segdes> under;

  bool has_sum = false; /* INT: `sum` is the sum of the elements, without wrapping */
  int64_t sum = 0;
  int64_t least = INT64_MIN, most = INT64_MAX; /* if has_sum: bounds of each element */
  /* For lengths of segments (INT): the sum, which may have to wrap as an INT; if there is one
   * element, that element. It is no longer right if a fault was reported since: see sum_later
   * in context.hpp. */
  ravel::ref<ravel::deferred> sum_is;
  uint64_t sum_faults = 0;
  std::shared_ptr<ravel::pack_plan> pack;       /* for flags: the plan of PACK: pack.cu */
  std::shared_ptr<ravel::scatter_plan> scatter; /* for an index: its claims: permute.cu */
  cvl_segdes *made = nullptr; /* the descriptor with these lengths, while it exists */
};

/* A descriptor is immutable. If `equal` >= 0, all lengths are equal to it. Otherwise offsets
 * (count + 1 of int64_t) are on the host, on the device or both. Rank directories, and the
 * numbers of the elements' segments (segment_ids in context.hpp), are made when they are
 * needed. */
struct cvl_segdes {
  uint32_t refs = 1;
  int64_t count = 0, total = 0, equal = -1; /* total: a bound while `size` is unknown */
  ravel::ref<ravel::deferred> size;         /* of the total */
  ravel::ref<ravel::block> host_offsets, device_offsets;
  uint64_t arrives = 0; /* when host_offsets are there */
  ravel::ref<ravel::block> device_ranks, device_numbers, device_ids;
  int64_t longest = -1;                      /* a bound of the lengths; -1: not known */
  ravel::ref<ravel::deferred> longest_later; /* that bound, once it has arrived */
  ravel::ref<cvl_vector> lengths;            /* as a vector, once requested */
  uint64_t faults_taken = 0; /* when it was made from `lengths`: see the context */
};

#endif
