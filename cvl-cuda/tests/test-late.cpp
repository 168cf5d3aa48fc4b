/* test-late.cpp - a device that is opened late (cvl_options): not for small work, in time for
 * large work, and never if it cannot be opened. The emulated device counts its opening as a
 * call. With "fail=1" it cannot be opened, and a caller who asks for it learns that. */
#include <algorithm>
#include <string>

#include "cvl-cuda/tests/superop-session.hpp"
#include "cvl/tuning.h"

namespace {

enum : size_t {
  ENOUGH = 1 << 14,
  SOME = 6000
}; /* three vectors of SOME are enough, two are not */

/* A context, what tests ask of it, and what it has said. */
struct asked {
  tuning values{};
  cvl_options o{};
  std::vector<std::string> lines;

  explicit asked(bool compiled) {
    if (compiled) o = options_of_superops(true);
    values.value[TUNE_CUDA_OPEN_ELEMENTS] = ENOUGH;
    o.int_elem = CVL_I64;
    o.float_elem = CVL_F64;
    o.opens_late = true;
    o.tuning = &values;
    o.say.with = this;
    o.say.call = [](void *with, const char *line) { ((asked *)with)->lines.push_back(line); };
  }
};

struct session : asked, emulated_session {
  explicit session(const char *how, bool compiled = false)
      : asked(compiled), emulated_session(how, o) {}

  ints numbers(const cvl_value &v, size_t n) {
    ints x(n);
    cr_assert(b->to_host(c, &v, 0, n, x.data()));
    return x;
  }
  /* Compares the sums of all prefixes, or the sorted vector, with plain loops. */
  void scan_and_sort(size_t n) {
    ints x, sums;
    for (size_t i = 0; i < n; i++) {
      sums.push_back(i > 0 ? sums.back() + x.back() : 0);
      x.push_back((int64_t)(i * 7919 % n));
    }
    cvl_value v = upload(x), d{}, r{};
    d.form = CVL_ONE_SEGMENT;
    d.as.one_segment = n;
    cr_assert(apply(CALL_SCAN, OP_ADD, {v, d}, &r));
    cr_expect(numbers(r, n) == sums);
    b->release(c, &r);
    cr_assert(apply(CALL_SORT, OP_SORT_UP, {v, d}, &r));
    std::sort(x.begin(), x.end());
    cr_expect(numbers(r, n) == x);
    b->release(c, &r);
    b->release(c, &v);
  }
  void expect_no_fault() {
    cvl_error e{};
    cr_expect(!b->check(c, true, &e));
  }
};

} // namespace

/* This holds however many small operations there are. */
Test(late, small_work_needs_no_device) {
  session s("fail=1");
  for (int k = 0; k < 20; k++) s.scan_and_sort(2000);
  s.expect_no_fault();
  cr_expect(s.lines.empty());
  cr_expect_eq(s.launches(), 0);
}

/* The host does two operations on SOME elements each; the device does the third. */
Test(late, larger_operations_are_enough_together) {
  session s("check");
  s.scan_and_sort(SOME);
  cr_expect_eq(s.launches(), 0);
  s.scan_and_sort(SOME);
  cr_expect_gt(s.launches(), 0);
  s.expect_no_fault();
  cr_expect_eq(s.b->statistics(s.c).live_bytes, 0);
}

Test(late, one_large_operation_is_enough) {
  session s("check,deferred");
  s.scan_and_sort(ENOUGH + 1);
  cr_expect_gt(s.launches(), 0);
  s.expect_no_fault();
}

Test(late, what_the_host_has_made_is_read_by_the_device) {
  session s("check,deferred,order=shuffled");
  const ints x(SOME, 3);
  const cvl_value v = s.upload(x);
  cvl_value operands[2] = {v, v}, twice{}, more{};
  cr_assert(s.apply(CALL_ELEMENTWISE, OP_ADD, {operands[0], operands[1]}, &twice));
  s.scan_and_sort(ENOUGH + 1);
  operands[1] = twice;
  cr_assert(s.apply(CALL_ELEMENTWISE, OP_MUL, {operands[0], operands[1]}, &more));
  cr_expect(s.numbers(more, SOME) == ints(SOME, 18));
  for (const cvl_value *k : {&v, (const cvl_value *)&twice, (const cvl_value *)&more})
    s.b->release(s.c, k);
}

/* The host does everything then, and says so once. */
Test(late, a_device_that_cannot_be_opened_is_done_without) {
  session s("fail=1");
  for (int k = 0; k < 3; k++) s.scan_and_sort(ENOUGH + 1);
  s.expect_no_fault();
  cr_expect_eq(s.launches(), 0);
  cr_assert_eq(s.lines.size(), 1);
  cr_expect(s.lines[0].find("the GPU is not used: ") == 0 &&
                s.lines[0].find("made to fail, call 1") != std::string::npos,
            "%s", s.lines[0].c_str());
}

/* Memory of a device for other libraries is a reason to open it. */
Test(late, tensors_open_the_device) {
  session s("check");
  const cvl_value v = s.upload(ints(10, 4));
  cvl_export exported{};
  cr_assert(s.b->device_memory->copy_to(s.c, ++s.site, &v, 10, &exported));
  cr_expect_eq(((const int64_t *)exported.data)[9], 4);
  exported.end.call(exported.end.with);
  s.b->release(s.c, &v);
  session without("fail=1");
  const cvl_value w = without.upload(ints(10, 4));
  cr_expect(!without.b->device_memory->copy_to(without.c, ++without.site, &w, 10, &exported));
  cvl_error e{};
  cr_expect(without.b->check(without.c, true, &e) && e.kind == CVL_E_DEVICE);
  without.b->release(without.c, &w);
}

/* Kernels are compiled when the device is opened, and run from then on. */
Test(late, kernels_wait_for_the_device) {
  superops *ops = superops_load("fused OP0#1 ($0 : INT) =\n"
                                "$1 = (* INT @ $0 $0) $2 = (+ INT @ $1 $0) -> $2\n");
  {
    session s("check", true);
    cvl_kernel *kernel = s.b->superops->prepare(s.c, ops->ops[0]);
    cr_assert_not_null(kernel);
    const auto run = [&](size_t n) {
      const cvl_value v = s.upload(ints(n, 5));
      cvl_value out{};
      cr_assert(s.b->superops->run(s.c, ++s.site, kernel, &v, &out));
      cr_expect(s.numbers(out, n) == ints(n, 30));
      s.b->release(s.c, &v);
      s.b->release(s.c, &out);
    };
    run(100);
    cr_expect(temporary::names(kernels_of_tests::folder()).empty());
    run(ENOUGH + 1);
    cr_expect_not(temporary::names(kernels_of_tests::folder()).empty());
    s.b->superops->discard(s.c, kernel);
  }
  superops_free(ops);
}

Test(late, kernels_that_were_never_needed_are_discarded) {
  superops *ops = superops_load("fused OP0#1 ($0 : INT) = $1 = (* INT @ $0 $0) -> $1\n");
  session s("check", true);
  s.b->superops->discard(s.c, s.b->superops->prepare(s.c, ops->ops[0]));
  s.scan_and_sort(ENOUGH + 1);
  superops_free(ops);
}
