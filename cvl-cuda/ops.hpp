/* ops.hpp - the operations of the contract, as backend.cpp calls them. Arguments are those of
 * cvl.h and call.h, results go through pointers, and faults are thrown. Operands are borrowed
 * here. */
#ifndef RAVEL_CUDA_OPS_HPP
#define RAVEL_CUDA_OPS_HPP

#include "cvl-cuda/context.hpp"

namespace ravel {

/* ---- backend.cpp ---- */
/* Copies bytes of a block to dst. Both sides may have the block (`host` from epoch
 * `arrives` on); this waits if only the device has it. */
void read_block(context &, const ref<block> &host, uint64_t arrives, const ref<block> &device,
                size_t first, size_t bytes, void *dst);
/* ---- elementwise.cu ---- */
void elementwise(context &, uint64_t site, cvl_op, unsigned arity, const cvl_value *operands,
                 cvl_value *out);
/* ---- random.cu ---- */
void random_numbers(context &, uint64_t site, const cvl_random &, const cvl_value &bounds,
                    cvl_value *out);
void assert_all(context &, uint64_t site, const cvl_value &flags, const cvl_value &v,
                const cvl_value &w);
/* ---- reduce.cu ---- */
void reduce(context &, uint64_t site, cvl_op, const cvl_value &v, const cvl_value &d,
            cvl_value *out);
/* Ends a reduction whose first level is done, for superoperators. partial[slot] is the
 * combination of one block of CVL_REDUCE_BLOCK elements of a segment (prelude.hpp: slots),
 * written by command `after`. `longest` is what longest_segment returns. */
template <class T>
void finish_reduction(work &, cvl_op, const segments &, int64_t longest, ptr<const T> partial,
                      uint64_t after, ptr<T> out);
/* ---- scan.cu ---- */
void scan(context &, uint64_t site, cvl_op, const cvl_value &v, const cvl_value &d,
          cvl_value *out);
/* ---- rank.cu ---- */
void rank(context &, uint64_t site, cvl_op, const cvl_value &v, const cvl_value &d,
          cvl_value *out);
/* ---- permute.cu ---- */
void permute(context &, uint64_t site, cvl_op, const cvl_permute &, cvl_value *out);
/* ---- extract.cu ---- */
void extract(context &, uint64_t site, const cvl_value &v, const cvl_value &index,
             const cvl_value &d, cvl_value *out);
void replace(context &, uint64_t site, const cvl_value &v, const cvl_value &index,
             const cvl_value &w, const cvl_value &d, cvl_value *out);
/* ---- spread.cu ---- */
void dist(context &, uint64_t site, const cvl_value &v, const cvl_value &d, cvl_value *out);
void index(context &, uint64_t site, const cvl_value &start, const cvl_value &stride,
           const cvl_value &d, cvl_value *out);
/* Computes the elements of a computed vector, on the side where `w` runs. */
void materialise(work &w, cvl_vector &);
/* copy_of returns the elements of a vector in any form in memory of their own. copy_to copies
 * them to the memory of `to`, from byte `at` on. */
ref<cvl_vector> copy_of(work &w, const cvl_value &);
void copy_to(work &w, const cvl_value &, const ref<block> &to, size_t at);
/* Returns a slice of a computed vector that is computed, too; null if there is none. */
ref<cvl_vector> slice_of_computed(context &, uint64_t site, cvl_vector &, int64_t first,
                                  int64_t n);
/* ---- slices.cu: `first` and `n` are those of the contract ---- */
void slice(context &, uint64_t site, const cvl_value &, int64_t first, int64_t n,
           cvl_value *out);
ref<cvl_vector> slice_of(context &, uint64_t site, cvl_vector &, int64_t first, int64_t n);
void allocate(context &, uint64_t site, cvl_elem, uint64_t n, cvl_value *out);
void fill(context &, uint64_t site, cvl_vector &target, int64_t first, const cvl_value &);
void concatenate(context &, uint64_t site, uint64_t n, const cvl_value *descriptors,
                 cvl_value *out);
/* ---- pack.cu ---- */
void pack(context &, uint64_t site, const cvl_value &v, const cvl_value &flags,
          const cvl_value &d, cvl_value *out, cvl_value *out_d);
/* Returns the descriptor of what is packed under another one. If there are several segments,
 * the caller writes its offsets. */
ref<cvl_segdes> packed_segments(work &, const cvl_value &before, int64_t total);
/* Moves a vector whose deferred length is now known to a smaller block, if that saves much. */
void trim(context &, cvl_vector &);
/* ---- segdes.cu ---- */
void make_segdes(context &, uint64_t site, const cvl_value &lengths, cvl_value *out);
void segdes_from_host(context &, uint64_t site, uint64_t n, const int64_t *lengths,
                      cvl_value *out);
void lengths(context &, uint64_t site, const cvl_value &d, cvl_value *out);
void length_of(context &, uint64_t site, const cvl_value &v, cvl_value *out);
/* Returns the descriptor of segments of one length, which takes no memory. */
ref<cvl_segdes> equal_segdes(int64_t count, int64_t length);
/* Finds out whether all lengths of a descriptor with offsets on the host are equal. */
void recognise_equal(cvl_segdes &);
/* ---- require.cu ---- */
/* Requires that a deferred number equals another one; it does so from now on. Returns false if
 * the number must be waited for. */
bool require_size(context &, const ref<deferred> &, const requirement &);
/* Repeats the requirement, if there is one, for the descriptor that got this total last. */
void require_again(context &, uint64_t site, const ref<deferred> &);
/* Returns whether a rank directory is worth its launch. */
bool ranks_pay(const context &, const cvl_segdes &);
/* Makes the rank directory of a descriptor with offsets, on the side where `w` runs. */
void make_ranks(work &w, cvl_segdes &);
/* Writes the segment of each element of `s`, which has at most 2^32 segments. */
void make_ids(work &w, const segments &s, ptr<uint32_t> ids);

} // namespace ravel
#endif
