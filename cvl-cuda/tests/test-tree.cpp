/* test-tree.cpp - parts of reductions and scans that conformance cannot reach: descriptors of
 * more elements than memory holds, and the levels of a scan above its chunks. */
#include <criterion/criterion.h>

#include <set>

#include "cvl-cuda/scan-kernels.hpp"
#include "cvl-cuda/tests/prefix.hpp"

using namespace ravel;

/* ---- chunks ---- */

static segments tree_ragged(const std::vector<int64_t> &offsets) {
  segments d{};
  d.count = (int64_t)offsets.size() - 1;
  d.total = offsets.back();
  d.equal = -1;
  d.offsets = pointer_to<const int64_t>(const_cast<int64_t *>(offsets.data()));
  return d;
}

using found_chunks = std::multiset<std::pair<int64_t, int64_t>>;

static found_chunks tree_found(const segments &d, const chunks &c) {
  found_chunks all;
  for (int64_t k = 0; k < c.candidates; k++) {
    chunk at{};
    if (c.find(d, k, at)) all.insert({at.segment, at.number});
  }
  return all;
}

static found_chunks tree_expected(const segments &d, int bits, int long_bits, bool later) {
  found_chunks all;
  for (int64_t s = 0; s < d.count; s++) {
    const int64_t n = d.length(s);
    if (n <= (int64_t)1 << long_bits) continue;
    for (int64_t k = 0; k << bits < n && (k == 0 || later); k++) all.insert({s, k});
  }
  return all;
}

static uint64_t tree_next(uint64_t &state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

Test(tree, each_chunk_of_a_long_segment_has_one_candidate) {
  uint64_t random = 1;
  for (int round = 0; round < 3000; round++) {
    const uint64_t most = (uint64_t)2 << tree_next(random) % 7;
    std::vector<int64_t> offsets{0};
    for (uint64_t k = tree_next(random) % 20; k > 0; k--) {
      const bool none = tree_next(random) % 3 == 0;
      offsets.push_back(offsets.back() + (none ? 0 : (int64_t)(tree_next(random) % most)));
    }
    const segments d = tree_ragged(offsets);
    const int bits = (int)(tree_next(random) % 6), long_bits = (int)(tree_next(random) % 6);
    if (long_bits > bits || d.count == 0) continue;
    for (bool later : {false, true}) {
      cr_assert(tree_found(d, chunks_of(d, bits, long_bits, later)) ==
                    tree_expected(d, bits, long_bits, later),
                "round %d, chunks of 2^%d in segments longer than 2^%d", round, bits,
                long_bits);
    }
  }
}

Test(tree, chunks_of_what_no_memory_holds) {
  const int64_t big = ((int64_t)1 << 33) + 5;
  const std::vector<int64_t> offsets{0, 3, 3, 3 + big, 4 + big, 4 + 3 * big};
  segments equal{};
  equal.count = 3;
  equal.equal = big;
  equal.total = 3 * big;
  for (const segments &d : {tree_ragged(offsets), equal}) {
    for (int bits : {20, 28, 33}) {
      cr_assert(tree_found(d, chunks_of(d, bits, bits, true)) ==
                tree_expected(d, bits, bits, true));
    }
    cr_assert(tree_found(d, chunks_of(d, 28, 20, true)) == tree_expected(d, 28, 20, true));
  }
}

/* ---- the upper levels of a scan ---- */

using sum = combination<double, OP_ADD>;

/* The levels above the chunks of a scan, of which only the totals are given. */
struct above_chunks {
  using scan = ::ravel::scan_chunks<sum>;
  using shared = scan::shared;
  enum { threads = scan::threads };

  scan p;
  int64_t start, chunks;
  const double *totals;
  double *before;

  template <class B> void operator()(B &block) const {
    const int64_t chunk = p.take(block), begin = start + chunk * CHUNK;
    const bool goes_on = chunk + 1 < chunks;
    block.each([&](int t) {
      if (t != 0) return;
      block.shared.total[0] = totals[chunk];
      if (goes_on) p.totals.publish(0, begin, totals[chunk]);
    });
    before[chunk] = p.before(block, start, chunk, goes_on);
  }
};

/* Scans segments of so many chunks, one after the other, with the same memory for their totals.
 * The last chunk of each has only a few elements. */
static void tree_scan_segments(const std::vector<int64_t> &segments, int direction) {
  using totals = published_totals<double, CHUNK_BITS>;
  uint64_t random = 7;
  int64_t elements = 0, start = 0;
  for (int64_t chunks : segments) elements += (chunks - 1) * CHUNK + 5;
  std::vector<totals::total> memory((size_t)totals::count(elements));
  for (int64_t chunks : segments) {
    uint64_t taken = 0;
    std::vector<double> x, got((size_t)chunks, NAN);
    for (int64_t k = 0; k < chunks; k++) x.push_back((double)tree_next(random) * 0x1p-20);
    above_chunks body{{}, start, chunks, x.data(), got.data()};
    body.p.totals = {memory.data(), elements, 1};
    body.p.next = pointer_to<uint64_t>(&taken);
    const order o{direction, 5};
    const std::vector<totals::total> earlier = memory;
    run_blocks_on_host<above_chunks>(&body, chunks, &o);
    for (size_t k = 0; k < memory.size(); k++) /* a device runs them at the same time */
      cr_assert(!earlier[k].mark || memory[k].value == earlier[k].value,
                "%d chunks: total %zu is another segment's", (int)chunks, k);
    const std::vector<double> want = prefix(x, CVL_SCAN_WINDOW);
    for (size_t k = 0; k < want.size(); k++)
      cr_assert_eq(got[k], want[k], "%d chunks, chunk %zu: %a, not %a", (int)chunks, k, got[k],
                   want[k]);
    start += (chunks - 1) * CHUNK + 5;
  }
}

Test(tree, what_stands_before_chunks) {
  for (int direction : {1, -1, 0}) {
    tree_scan_segments({1, 2, 32, 33, 1, 64, 31, 1025}, direction);
    tree_scan_segments({32, 32, 32, 1024, 1, 1, 1024, 65}, direction);
  }
  tree_scan_segments({33, 32 * 1024 + 33, 2}, 1); /* three levels */
}
