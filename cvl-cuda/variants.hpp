/* variants.hpp - other kernels for reductions and scans of one segment: those of the module for
 * benchmarks (variants/). cuda.reduce-kernel and cuda.scan-kernel choose one of them. The
 * module that is shipped has none.
 *
 * They may combine in other orders than the tree of trees.h. So they are for combinations of
 * INT elements in memory that are exact in any order, with the same results. Everything else
 * keeps its kernels.
 */
#ifndef RAVEL_CUDA_VARIANTS_HPP
#define RAVEL_CUDA_VARIANTS_HPP

#include "cvl-cuda/combine.hpp"

namespace ravel {

/* The value of cuda.scan-kernel that chooses the tree even if 0 means CUB's scan
 * (look-back.hpp). */
enum { SCAN_BY_TREE = 4 };

/* Each reduces n > 0 elements of this type to one, or scans them, by kernel number `kernel`;
 * `to` may be `from`. */
struct kernel_variants {
  void (*reduce)(work &, cvl_op, cvl_elem, uint64_t kernel, const void *from, int64_t n,
                 void *to);
  void (*scan)(work &, cvl_op, cvl_elem, uint64_t kernel, const void *from, int64_t n,
               void *to);
};

/* Returns whether an operation has the choice, and has elements. */
template <class C, class T> bool may_vary(const segments &d, const operand<T> &x) {
  return C::exact != 0 && std::is_integral<T>::value && sizeof(T) > 1 && d.equal > 0 &&
         d.count == 1 && x.kind == FROM_MEMORY;
}

/* Reduces as cuda.reduce-kernel says. Returns false if the tree must do it. */
template <class C, class T>
bool reduced_by_choice(work &w, const segments &d, const operand<T> &x, ptr<T> to) {
  const uint64_t kernel = w.c.tuning.value[TUNE_CUDA_REDUCE_KERNEL];
  if (kernel == 0 || !w.c.variants || !may_vary<C>(d, x)) return false;
  w.c.variants->reduce(w, C::operation, elem_of<T>(), kernel, address(x.data), d.total,
                       address(to));
  return true;
}

/* Scans as cuda.scan-kernel says. Returns false if the scan must run as usual. */
template <class C, class T>
bool scanned_by_choice(work &w, const segments &d, const operand<T> &x, ptr<T> to) {
  const uint64_t kernel = w.c.tuning.value[TUNE_CUDA_SCAN_KERNEL];
  if (kernel == 0 || kernel == SCAN_BY_TREE || !w.c.variants || !may_vary<C>(d, x))
    return false;
  w.c.variants->scan(w, C::operation, elem_of<T>(), kernel, address(x.data), d.total,
                     address(to));
  return true;
}

} // namespace ravel
#endif
