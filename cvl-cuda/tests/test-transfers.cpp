/* test-transfers.cpp - copies between the host and the device: by the threads of a block, 16
 * bytes at a time where they can. */
#include <criterion/criterion.h>

#include <string>

#include "cvl-cuda/copies.hpp"
#include "cvl-cuda/tests/rig.hpp"

/* ---- by the threads of a block ---- */

struct copies_of_test {
  enum { threads = 32, most = 4 };
  struct shared {};
  byte_copy copy[most];

  template <class B> HD void operator()(B &block) const {
    block.each([&](int t) { copy[block.index()].run(t, threads); });
  }
};

/* Four copies in a launch, from and to all alignments: what is around them stays. */
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
  alignas(16) uint8_t a[256], b[256];
  byte_copy c = copy_of_bytes(a, b, 100);
  cr_assert_eq(c.head, 0);
  c = copy_of_bytes(a + 3, b + 19, 100);
  cr_assert_eq(c.head, 13);
  cr_assert_eq((uintptr_t)address(c.wide_to) % 16, 0);
  cr_assert_eq((uintptr_t)address(c.wide_from) % 16, 0);
  cr_assert_eq(copy_of_bytes(a + 3, b + 4, 100).head, 100);
  cr_assert_eq(copy_of_bytes(a + 3, b + 3, 10).head, 10);
}
