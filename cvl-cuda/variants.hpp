/* variants.hpp - other kernels for reductions and scans of one segment, chosen by tuning
 * values: those of the Obsidian paper of 2013 (Expressive array constructs in an embedded GPU
 * kernel language), which compares them.
 *
 * They combine in other orders than the tree of cvl.h. So they are for combinations that are
 * exact in any order, of INT elements in memory; everything else keeps its kernels, and the
 * results are the same.
 *
 * cuda.reduce-kernel: how a block of 4096 elements, as in section 6.1, becomes one
 * (section 5.2). The same kernel reduces the results of blocks, until there is one.
 *
 *   1  red1  neighbours are combined again and again, from shared memory to shared memory
 *   2  red2  element i of the first half and element i of the second, likewise
 *   3  red3  the same; the last combination goes to memory at once, not through shared memory
 *   4  red4  first a thread combines 8 elements one behind the other, then as red3
 *   5  red5  8 elements that lie apart, so that threads beside each other read elements beside
 *            each other
 *   6  red6  16 of those
 *   7  red7  32
 *
 * cuda.scan-kernel: Sklansky's network (section 5.3), of 2048 elements in two arrays of shared
 * memory: the most of 64 bits that fit. The paper scans blocks only; here totals of blocks are
 * scanned by the same kernel, and one more launch combines each element with what is before its
 * block. The paper's scans are inclusive; ours store each element one position later.
 *
 *   1  sklansky   a thread for each element, which combines or copies
 *   2  sklansky2  a thread for two elements, which combines one and copies one
 *   3  sklansky3  the same, behind a load of all elements by threads beside each other
 *   4             the tree of cvl.h also where 0 means CUB's scan (look-back.hpp)
 *
 * As in the paper, a block has fewer threads than a level has elements, and a thread then does
 * several, one after the other (its virtual threads).
 */
#ifndef RAVEL_CUDA_VARIANTS_HPP
#define RAVEL_CUDA_VARIANTS_HPP

#include "cvl-cuda/combine.hpp"

namespace ravel {

enum { SCAN_BY_TREE = 4 };

/* Whether a combination has these kernels. */
template <class C> constexpr bool has_variants() {
  using T = typename C::type;
  return C::exact != 0 && std::is_integral<T>::value && sizeof(T) > 1;
}

/* variants.cu: reduce n > 0 elements to *to; scan n > 0 elements. `to` may be `from`. */
template <class C>
void reduce_by_variant(work &, uint64_t kernel, ptr<const typename C::type> from, int64_t n,
                       ptr<typename C::type> to);
template <class C>
void scan_by_variant(work &, uint64_t kernel, ptr<const typename C::type> from, int64_t n,
                     ptr<typename C::type> to);

/* Whether an operation has the choice, and elements. */
template <class C, class T> bool may_vary(const segments &d, const operand<T> &x) {
  return has_variants<C>() && d.equal > 0 && d.count == 1 && x.kind == FROM_MEMORY;
}

/* Reduces as cuda.reduce-kernel says; false: by the tree. */
template <class C, class T>
bool reduced_by_choice(work &w, const segments &d, const operand<T> &x, ptr<T> to) {
  const uint64_t kernel = w.c.tuning.value[TUNE_CUDA_REDUCE_KERNEL];
  if (kernel == 0 || !may_vary<C>(d, x)) return false;
  if constexpr (has_variants<C>()) reduce_by_variant<C>(w, kernel, x.data, d.total, to);
  return true;
}

/* Scans as cuda.scan-kernel says; false: as without it. */
template <class C, class T>
bool scanned_by_choice(work &w, const segments &d, const operand<T> &x, ptr<T> to) {
  const uint64_t kernel = w.c.tuning.value[TUNE_CUDA_SCAN_KERNEL];
  if (kernel == 0 || kernel == SCAN_BY_TREE || !may_vary<C>(d, x)) return false;
  if constexpr (has_variants<C>()) scan_by_variant<C>(w, kernel, x.data, d.total, to);
  return true;
}

} // namespace ravel
#endif
