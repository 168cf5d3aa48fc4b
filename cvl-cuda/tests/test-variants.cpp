/* test-variants.cpp - compares reductions and scans of one segment by each kernel of
 * variants.cu, around the ends of blocks, with plain loops. */
#include "cvl-cuda/tests/session.hpp"
#include "cvl/tuning.h"

#include <limits>
#include <type_traits>

namespace {

enum { REDUCED = 4096, SCANNED = 2048, OPERATIONS = 7 };
const cvl_op operations[OPERATIONS] = {OP_ADD, OP_MUL, OP_MAX, OP_MIN, OP_AND, OP_OR, OP_XOR};

/* A session whose kernels are chosen. */
struct chosen {
  tuning values{};
  cvl_options o{};
  chosen(tuning_id id, uint64_t kernel, cvl_elem elem) {
    values.value[id] = kernel;
    o.int_elem = elem;
    o.float_elem = CVL_F64;
    o.tuning = &values;
  }
};

template <class T> constexpr cvl_elem elem_of_type() {
  return sizeof(T) == 4 ? CVL_I32 : CVL_I64;
}

template <class T> struct session : emulated_session {
  session(const char *how, const chosen &c) : emulated_session(how, c.o) {}

  cvl_value upload_all(const std::vector<T> &x) {
    cvl_value v{};
    cr_assert(b->from_host(c, ++site, elem_of_type<T>(), x.size(), x.data(), &v));
    return v;
  }
  /* Returns the launches, none of which is held back. One of them brings the error slot. */
  uint64_t finished_launches() {
    cvl_error fault{};
    cr_assert(!b->check(c, true, &fault));
    return launches();
  }
  std::vector<T> download(const cvl_value &v, size_t n) {
    std::vector<T> x(n);
    cr_assert(b->to_host(c, &v, 0, n, x.data()));
    return x;
  }
};

cvl_value one_segment(size_t n) {
  cvl_value d{};
  d.form = CVL_ONE_SEGMENT;
  d.as.one_segment = n;
  return d;
}

template <class T> T combined(cvl_op op, T x, T y) {
  typedef typename std::make_unsigned<T>::type U;
  switch (op) {
  case OP_ADD: return (T)((U)x + (U)y);
  case OP_MUL: return (T)((U)x * (U)y);
  case OP_MAX: return x > y ? x : y;
  case OP_MIN: return x < y ? x : y;
  case OP_AND: return x & y;
  case OP_OR: return x | y;
  default: return x ^ y;
  }
}

template <class T> T identity(cvl_op op) {
  switch (op) {
  case OP_MUL: return 1;
  case OP_MAX: return std::numeric_limits<T>::min();
  case OP_MIN: return std::numeric_limits<T>::max();
  case OP_AND: return -1;
  default: return 0;
  }
}

/* Returns elements that are odd, so that no product becomes 0, of both signs, and large. */
template <class T> std::vector<T> elements(size_t n, uint64_t seed) {
  std::vector<T> x(n);
  for (size_t i = 0; i < n; i++) {
    seed = seed * 0x5851f42d4c957f2du + 0x14057b7ef767814fu;
    x[i] = (T)(seed >> 24) | 1;
  }
  return x;
}

template <class T> std::vector<T> reduced(cvl_op op, const std::vector<T> &x) {
  T sum = identity<T>(op);
  for (T e : x) sum = combined(op, sum, e);
  return {sum};
}

template <class T> std::vector<T> scanned(cvl_op op, const std::vector<T> &x) {
  std::vector<T> out;
  T sum = identity<T>(op);
  for (T e : x) {
    out.push_back(sum);
    sum = combined(op, sum, e);
  }
  return out;
}

size_t launches_of_levels(size_t n, size_t each, size_t down) {
  const size_t blocks = (n + each - 1) / each;
  return blocks == 1 ? 1 : 1 + down + launches_of_levels(blocks, each, down);
}

/* Checks one operation on n elements, in so many launches. */
template <class T>
void check(const chosen &c, const char *how, cvl_op op, size_t n, bool scans, size_t launches) {
  session<T> s(how, c);
  const std::vector<T> x = elements<T>(n, n);
  const cvl_value v = s.upload_all(x), d = one_segment(n);
  cvl_value r{};
  const uint64_t before = s.finished_launches();
  cr_assert(s.apply(scans ? CALL_SCAN : CALL_REDUCE, op, {v, d}, &r));
  const size_t made = (size_t)(s.finished_launches() - before) - 1;
  const std::vector<T> found = s.download(r, scans ? n : 1),
                       want = scans ? scanned(op, x) : reduced(op, x);
  for (size_t i = 0; i < want.size(); i++)
    cr_assert(found[i] == want[i], "operation %d on %zu elements of %zu bytes, element %zu",
              (int)op, n, sizeof(T), i);
  cr_assert_eq(made, launches, "%zu elements: %zu launches, not %zu", n, made, launches);
  s.b->release(s.c, &v);
  s.b->release(s.c, &r);
}

const char CHECKED[] = "order=shuffled,check,small=0";
const size_t around_blocks[] = {
    1,           2,           3,       31,          33,          SCANNED - 1,    SCANNED,
    SCANNED + 1, REDUCED - 1, REDUCED, REDUCED + 1, 3 * REDUCED, 3 * REDUCED + 1};

template <class T> void check_kernel(tuning_id id, uint64_t kernel, size_t each, bool scans) {
  const chosen c(id, kernel, elem_of_type<T>());
  size_t turn = 0;
  for (size_t n : around_blocks)
    for (int k = 0; k < 2; k++)
      check<T>(c, CHECKED, operations[turn++ % OPERATIONS], n, scans,
               launches_of_levels(n, each, scans));
}

} // namespace

Test(variants, reductions_around_the_ends_of_blocks) {
  for (uint64_t kernel = 1; kernel <= 7; kernel++) {
    check_kernel<int32_t>(TUNE_CUDA_REDUCE_KERNEL, kernel, REDUCED, false);
    check_kernel<int64_t>(TUNE_CUDA_REDUCE_KERNEL, kernel, REDUCED, false);
  }
}

Test(variants, scans_around_the_ends_of_blocks) {
  for (uint64_t kernel = 1; kernel <= 3; kernel++) {
    check_kernel<int32_t>(TUNE_CUDA_SCAN_KERNEL, kernel, SCANNED, true);
    check_kernel<int64_t>(TUNE_CUDA_SCAN_KERNEL, kernel, SCANNED, true);
  }
}

/* There are more blocks than a block has elements. */
Test(variants, three_levels) {
  const size_t reduce = (size_t)REDUCED * REDUCED + 1, scan = (size_t)SCANNED * SCANNED + 1;
  check<int32_t>(chosen(TUNE_CUDA_REDUCE_KERNEL, 5, CVL_I32), "small=0", OP_ADD, reduce, false,
                 3);
  check<int32_t>(chosen(TUNE_CUDA_SCAN_KERNEL, 3, CVL_I32), "small=0", OP_XOR, scan, true, 5);
}

/* Operations without such kernels run as usual: several segments, and computed elements. */
Test(variants, others_keep_their_kernels) {
  const chosen c(TUNE_CUDA_REDUCE_KERNEL, 5, CVL_I64);
  session<int64_t> s(CHECKED, c);
  const std::vector<int64_t> x = elements<int64_t>(2 * REDUCED, 1);
  const int64_t lengths[] = {REDUCED - 1, REDUCED + 1};
  cvl_value v = s.upload_all(x), d{}, r{};
  cr_assert(s.b->segdes_from_host(s.c, ++s.site, 2, lengths, &d));
  cr_assert(s.apply(CALL_REDUCE, OP_XOR, {v, d}, &r));
  const std::vector<int64_t> found = s.download(r, 2);
  const ints first(x.begin(), x.begin() + lengths[0]), second(x.begin() + lengths[0], x.end());
  cr_assert_eq(found[0], reduced(OP_XOR, first)[0]);
  cr_assert_eq(found[1], reduced(OP_XOR, second)[0]);
  for (const cvl_value *k : {&v, &d, &r}) s.b->release(s.c, k);
}
