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

/* What a number has to be, by rule `rule` of the operation at `site`: the first of two sizes,
 * or the second. */
struct requirement {
  int64_t n;
  uint64_t site;
  int64_t rule;
  bool first;
};

/* A descriptor, and the memory for its offsets if its total is not what is required. */
struct counted_segdes {
  cvl_segdes *d;
  ref<block> offsets;
};

/* A number that the device is still computing: the length of what PACK kept. */
struct deferred {
  uint32_t refs = 1;
  uint64_t symbol = 0; /* of struct cvl_size; unique in the context */
  int64_t bound = 0;   /* upper bound */
  bool known = false;  /* then `value` is it */
  int64_t value = 0;
  ref<block> at;                /* the device writes it here: one int64_t */
  ref<block> mirror;            /* its copy in pinned memory, once one is under way */
  uint64_t epoch = 0;           /* when the mirror is there */
  bool counts_elements = false; /* vectors in memory have this length, of PACK */
  /* `value` is what it has to be, and the number itself has not arrived: require.cu. */
  bool required = false;
  requirement must{};
  /* Descriptors with offsets on the device whose total it is, until it arrives. */
  std::vector<counted_segdes> totals;
  ref<deferred> of;  /* not null: it is that one as an INT, the length that an operation at */
  uint64_t site = 0; /* this site was given, and whose fault it is if it is negative */
};

} // namespace ravel

/* Immutable. Its elements are in `host`, in `device` or in both (equal then); or they are
 * computed: `kind` is not FROM_MEMORY, and no block is set until the elements are needed.
 */
struct cvl_vector {
  uint32_t refs = 1;
  cvl_elem elem = CVL_I32;
  int64_t length = 0; /* an upper bound while `size` is not null and not known */
  ravel::ref<ravel::deferred> size;
  ravel::ref<ravel::block> host; /* readable once epoch `arrives` is reached */
  ravel::ref<ravel::block> device;
  uint64_t arrives = 0;

  ravel::operand_form kind = ravel::FROM_MEMORY;
  uint64_t first = 0, step = 0; /* bits of the elements, where there is no vector of them */
  ravel::ref<cvl_vector> data, steps; /* SPREAD, PROGRESSION: one element for each segment */
  ravel::ref<cvl_segdes> under;

  bool has_sum = false; /* INT: the sum of the elements, wrapping not having happened */
  int64_t sum = 0;
  int64_t least = INT64_MIN, most = INT64_MAX; /* where has_sum: bounds of each element */
  /* INT, lengths of segments: the sum, which an INT may have to wrap; the element, if there is
   * but one. No longer right if a fault was reported since: see sum_later in context.hpp. */
  ravel::ref<ravel::deferred> sum_is;
  uint64_t sum_faults = 0;
  std::shared_ptr<ravel::pack_plan> pack;       /* of flags: the plan of PACK: pack.cu */
  std::shared_ptr<ravel::scatter_plan> scatter; /* of an index: its claims: permute.cu */
  cvl_segdes *made = nullptr; /* the descriptor, while there is one, whose lengths these are */
};

/* Immutable. `equal` >= 0: all lengths are that. Otherwise offsets (count + 1 of int64_t) are
 * on the host, on the device or both; rank directories, and the numbers of the elements'
 * segments (segment_ids in context.hpp), are made when they are needed. */
struct cvl_segdes {
  uint32_t refs = 1;
  int64_t count = 0, total = 0, equal = -1; /* total: a bound while `size` is unknown */
  ravel::ref<ravel::deferred> size;         /* of the total */
  ravel::ref<ravel::block> host_offsets, device_offsets;
  uint64_t arrives = 0; /* of host_offsets */
  ravel::ref<ravel::block> device_ranks, device_numbers, device_ids;
  int64_t longest = -1;                      /* a bound of the lengths; -1: not known */
  ravel::ref<ravel::deferred> longest_later; /* likewise, once it has arrived */
  ravel::ref<cvl_vector> lengths;            /* as a vector, once requested */
  uint64_t faults_taken = 0; /* when it was made from `lengths`: see the context */
};

#endif
