/* fused-tree.hpp - the levels of the trees by which superoperators combine. Each level is one
 * launch of a kernel of the combination (fused-kernels/combine-tree.hpp).
 */
#ifndef RAVEL_CUDA_FUSED_TREE_HPP
#define RAVEL_CUDA_FUSED_TREE_HPP

#include <string.h>

#include "cvl-cuda/context.hpp"
#include "cvl-cuda/toolchain.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#include "cvl/superop.h"
#include "fused-kernels/emit-kernel.h"
}
#pragma GCC diagnostic pop

namespace ravel {

/* The arguments of a generated kernel, as its text lays them out. All pointers have one layout:
 * plain ones, as in that text on most devices, and checked ones. */
struct arguments {
  std::vector<char> bytes;

  template <class M> void add(const M &member) {
    static_assert(std::is_trivially_copyable<M>::value, "copied as bytes");
    const size_t at = (bytes.size() + 7) / 8 * 8;
    bytes.resize(at + sizeof member);
    memcpy(&bytes[at], &member, sizeof member);
  }
};

/* Memory of a combination: a pointer for each column. */
using column_memory = std::vector<void *>;

/* A combination under a descriptor, in an operation that runs on the device. */
struct tree {
  work &w;
  const superop &op;
  const superop_combination at;
  const kernel_entry *up, *down; /* down: only for scans */
  const segments d;
  const int64_t longest; /* an upper bound of the lengths */

  /* Makes scratch memory for n elements of each column. */
  column_memory scratch(int64_t n);
  /* `make` returns a vector of n elements for each column, and memory_of their memory. */
  std::vector<ref<cvl_vector>> make(int64_t n);
  column_memory memory_of(const std::vector<ref<cvl_vector>> &);
  /* Makes memory for what the lowest level of a reduction gives to the levels above. */
  column_memory totals() { return scratch(entries(FUSED_TREE_BITS)); }
  column_memory roots() { return scratch((int64_t)fused_tree_roots((uint64_t)d.total)); }

  /* Writes the reductions of columns; empty segments get the identities. Both may be operands
   * of form CVL_SCALAR. */
  void reduce(const cvl_value *columns, const cvl_value *identities, const column_memory &out);
  /* Writes the reductions of elements in memory. No segment may be empty. */
  void reduce(const column_memory &elements, const column_memory &out);
  /* Writes the reductions if the lowest level is done. */
  void finish_reduction(const column_memory &totals, const column_memory &roots,
                        const column_memory &out);
  /* Writes the scans of columns, which are exclusive if there are identities. `totals` come
   * from the lowest level, or are empty. */
  void scan(const cvl_value *columns, const cvl_value *identities, column_memory totals,
            const column_memory &out);

  cvl_elem elem(uint32_t column) const;

private:
  int64_t entries(int bits) const { return (d.total >> bits) + d.count; }
  bool has_level(int bits) const {
    return bits == 0 || longest >> (bits - FUSED_TREE_BITS) > 1 << FUSED_TREE_BITS;
  }
  void add_values(arguments &, const cvl_value *);
  void add_entries(arguments &, const column_memory &);
  void add_pointers(arguments &, const column_memory &);
  void add_source(arguments &, int bits, const cvl_value *columns, const cvl_value *identities,
                  const column_memory &from);
  void launch_level(const kernel_entry &, const arguments &, int bits);
  void level_up(int bits, const cvl_value *columns, const cvl_value *identities,
                const column_memory &from, const column_memory &above,
                const column_memory &roots, const column_memory &out);
  void level_down(int bits, const cvl_value *columns, const cvl_value *identities,
                  const column_memory &from, const column_memory &above,
                  const column_memory &out);
};

} // namespace ravel
#endif
