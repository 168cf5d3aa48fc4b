/* test-transfers.cpp - copies between the host and the device: by the threads of a block, 16
 * bytes at a time if possible, and of vectors longer than the buffers that they pass
 * through. */
#include <criterion/criterion.h>

#include <string>

#include "cvl-cuda/context.hpp"
#include "cvl-cuda/copies.hpp"
#include "cvl-cuda/tests/rig.hpp"
#include "cvl-cuda/tests/session.hpp"

/* ---- by the threads of a block ---- */

struct copies_of_test {
  enum { threads = 32, most = 4 };
  struct shared {};
  byte_copy copy[most];

  template <class B> HD void operator()(B &block) const {
    block.each([&](int t) { copy[block.index()].run(t, threads); });
  }
};

/* Makes four copies in a launch, from and to all alignments. The bytes around them stay. */
static void copy_all(rig &r, size_t to_at, size_t bytes) {
  enum { SIZE = 1024 };
  std::vector<uint8_t> source(SIZE), fives(SIZE, 5);
  for (size_t k = 0; k < SIZE; k++) source[k] = (uint8_t)(k * 7 + 1);
  uint8_t *from = address(r.upload(source)), *to[copies_of_test::most];
  copies_of_test body{};
  for (size_t k = 0; k < copies_of_test::most; k++) {
    to[k] = address(r.upload(fives));
    body.copy[k] = copy_of_bytes(to[k] + to_at, from + (to_at + k * 5) % 19, bytes);
  }
  r.blocks("copies", copies_of_test::most, body);
  for (size_t k = 0; k < copies_of_test::most; k++) {
    const std::vector<uint8_t> got = r.download(pointer_to<uint8_t>(to[k]), SIZE);
    for (size_t i = 0; i < SIZE; i++) {
      const bool inside = i >= to_at && i < to_at + bytes;
      const uint8_t want = inside ? source[i - to_at + (to_at + k * 5) % 19] : 5;
      cr_assert_eq(got[i], want, "byte %d of %d bytes at %d", (int)i, (int)bytes, (int)to_at);
    }
  }
}

Test(transfers, by_blocks_have_any_length_and_alignment) {
  for (const char *way : ways) {
    rig r(way);
    for (size_t to_at = 0; to_at < 18; to_at++) {
      for (size_t bytes : {0, 1, 7, 15, 16, 17, 31, 32, 40, 64, 100, 600, 777})
        copy_all(r, to_at, bytes);
    }
    r.finish();
    expect_clean();
  }
}

Test(transfers, by_blocks_are_wide_where_both_sides_are_aligned_alike) {
  alignas(16) uint8_t a[256], b[256] = {};
  byte_copy c = copy_of_bytes(a, b, 100);
  cr_assert_eq(c.head, 0);
  c = copy_of_bytes(a + 3, b + 19, 100);
  cr_assert_eq(c.head, 13);
  cr_assert_eq((uintptr_t)address(c.wide_to) % 16, 0);
  cr_assert_eq((uintptr_t)address(c.wide_from) % 16, 0);
  cr_assert_eq(copy_of_bytes(a + 3, b + 4, 100).head, 100);
  cr_assert_eq(copy_of_bytes(a + 3, b + 3, 10).head, 10);
}

/* ---- longer than the buffers ---- */

static ints transfers_values_of(size_t n, int64_t from) {
  ints x(n);
  for (size_t k = 0; k < n; k++) x[k] = from + (int64_t)(k * k);
  return x;
}

static void expect_elements(emulated_session &s, const cvl_value &v, const ints &want,
                            size_t first) {
  ints got(want.size() - first, -1);
  cr_assert(s.b->to_host(s.c, &v, first, got.size(), got.data()));
  for (size_t k = 0; k < got.size(); k++)
    cr_assert_eq(got[k], want[k + first], "element %d of %d", (int)k, (int)want.size());
}

/* Makes many uploads without a wait, then copies all of them back, whole and without their
 * first bytes. */
static void transfers_there_and_back(const std::string &how) {
  emulated_session s(how.c_str());
  std::vector<cvl_value> held;
  std::vector<ints> want;
  for (size_t n : {1, 2, 7, 8, 9, 16, 17, 33, 100, 1000, 40, 5, 64}) {
    want.push_back(transfers_values_of(n, (int64_t)n));
    held.push_back(s.upload(want.back()));
    const cvl_value of[] = {held.back(), held.back()};
    cvl_value sum{};
    cr_assert(s.apply(CALL_ELEMENTWISE, OP_ADD, {of[0], of[1]}, &sum));
    held.push_back(sum);
    want.push_back(want.back());
    for (int64_t &x : want.back()) x *= 2;
  }
  for (size_t first : {0, 1, 6}) {
    for (size_t k = 0; k < held.size(); k++)
      if (want[k].size() > first) expect_elements(s, held[k], want[k], first);
  }
  for (const cvl_value &v : held) s.b->release(s.c, &v);
  cr_assert_eq(s.b->statistics(s.c).live_bytes, 0);
  for (const staging::buffer &b : s.c->work_queue.ring.buffers)
    cr_assert_leq(b.capacity, s.c->work_queue.ring.most);
}

Test(transfers, pass_buffers_of_any_size) {
  for (const char *way : ways) {
    for (const char *size : {"8", "24", "64", "200", "4096"})
      transfers_there_and_back(std::string(way) + ",small=0,staging=" + size);
    expect_clean();
  }
}

/* There are two buffers, whose size is what the longest copy needs, rounded up, and no other
 * memory. */
Test(transfers, take_no_more_memory_than_two_buffers) {
  emulated_session s("small=0");
  const staging &ring = s.c->work_queue.ring;
  const size_t pinned = s.c->memory.pinned.regions.size();
  cr_assert_eq(ring.buffers[0].capacity + ring.buffers[1].capacity, 0, "before the first copy");
  for (size_t n : {100000, 300000, 10000000, 9000000}) {
    const ints x = transfers_values_of(n, 1);
    const cvl_value v = s.upload(x);
    expect_elements(s, v, x, 0);
    s.b->release(s.c, &v);
    size_t most = 0;
    for (const staging::buffer &b : ring.buffers) most = std::max(most, b.capacity);
    if (n == 100000) cr_assert_eq(most, staging::LEAST);
    if (n == 300000) cr_assert_eq(most, 4 * staging::LEAST);
  }
  cr_assert_eq(ring.buffers[0].capacity, staging::MOST);
  cr_assert_eq(ring.buffers[1].capacity, staging::MOST);
  cr_assert_leq(s.c->memory.pinned.regions.size(), pinned + 1, "the early one");
}

/* A program may have as much as fits, not half of it: bytes under way are not counted. */
Test(transfers, are_not_counted) {
  for (size_t n : {500, 100000}) {
    cvl_options o{};
    o.int_elem = CVL_I64;
    o.float_elem = CVL_F64;
    o.memory_limit = n * sizeof(int64_t);
    emulated_session s("small=0,deferred", o);
    const ints x = transfers_values_of(n, 3);
    const cvl_value v = s.upload(x);
    cr_assert_eq(s.b->statistics(s.c).live_bytes, n * sizeof(int64_t));
    expect_elements(s, v, x, 0);
    cr_assert_eq(s.b->statistics(s.c).peak_bytes, n * sizeof(int64_t));
    s.b->release(s.c, &v);
  }
}

/* There are at most as many waits as ranges: the first two ranges share one. */
Test(transfers, wait_once_where_they_fit) {
  for (const char *how : {"small=0,deferred", "small=0,deferred,staging=40000"}) {
    emulated_session s(how);
    const ints x = transfers_values_of(10000, 3);
    const cvl_value v = s.upload(x);
    cvl_error e{};
    cr_assert_not(s.b->check(s.c, true, &e));
    const uint64_t before = s.b->statistics(s.c).waits;
    expect_elements(s, v, x, 0);
    cr_assert_eq(s.b->statistics(s.c).waits - before, 1, "%s", how);
    s.b->release(s.c, &v);
  }
}
