/* test-tree.cpp - what conformance cannot reach of reductions and scans: descriptors of more
 * elements than memory holds, and the levels of a scan above 2^28 elements. */
#include <criterion/criterion.h>

#include <set>

#include "cvl-cuda/scan-kernels.hpp"

using namespace ravel;

/* ---- chunks ---- */

static segments ragged(const std::vector<int64_t> &offsets) {
  segments d{};
  d.count = (int64_t)offsets.size() - 1;
  d.total = offsets.back();
  d.equal = -1;
  d.offsets = pointer_to<const int64_t>(const_cast<int64_t *>(offsets.data()));
  return d;
}

using found_chunks = std::multiset<std::pair<int64_t, int64_t>>;

static found_chunks found(const segments &d, const chunks &c) {
  found_chunks all;
  for (int64_t k = 0; k < c.candidates; k++) {
    chunk at{};
    if (c.find(d, k, at)) all.insert({at.segment, at.number});
  }
  return all;
}

static found_chunks expected(const segments &d, int bits, int long_bits, bool later) {
  found_chunks all;
  for (int64_t s = 0; s < d.count; s++) {
    const int64_t n = d.length(s);
    if (n <= (int64_t)1 << long_bits) continue;
    for (int64_t k = 0; k << bits < n && (k == 0 || later); k++) all.insert({s, k});
  }
  return all;
}

static uint64_t next(uint64_t &state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

Test(tree, each_chunk_of_a_long_segment_has_one_candidate) {
  uint64_t random = 1;
  for (int round = 0; round < 3000; round++) {
    const uint64_t most = (uint64_t)2 << next(random) % 7;
    std::vector<int64_t> offsets{0};
    for (uint64_t k = next(random) % 20; k > 0; k--) {
      const bool none = next(random) % 3 == 0;
      offsets.push_back(offsets.back() + (none ? 0 : (int64_t)(next(random) % most)));
    }
    const segments d = ragged(offsets);
    const int bits = (int)(next(random) % 6), long_bits = (int)(next(random) % 6);
    if (long_bits > bits || d.count == 0) continue;
    for (bool later : {false, true}) {
      cr_assert(
          found(d, chunks_of(d, bits, long_bits, later)) == expected(d, bits, long_bits, later),
          "round %d, chunks of 2^%d in segments longer than 2^%d", round, bits, long_bits);
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
  for (const segments &d : {ragged(offsets), equal}) {
    for (int bits : {20, 28, 33}) {
      cr_assert(found(d, chunks_of(d, bits, bits, true)) == expected(d, bits, bits, true));
    }
    cr_assert(found(d, chunks_of(d, 28, 20, true)) == expected(d, 28, 20, true));
  }
}

/* ---- the upper levels of a scan ---- */

using sum = combination<double, OP_ADD>;

/* prefix(x, n, 32) of cvl.h, line by line. */
static std::vector<double> prefix(const std::vector<double> &x) {
  const size_t w = CVL_SCAN_WINDOW, windows = (x.size() + w - 1) / w;
  std::vector<double> totals(windows), inside(windows * w, sum::pad()), e(x.size());
  std::copy(x.begin(), x.end(), inside.begin());
  for (size_t k = 0; k < windows; k++) {
    for (size_t s = 1; s < w; s *= 2) {
      for (size_t j = w - 1; j >= s; j--)
        inside[k * w + j] = inside[k * w + j - s] + inside[k * w + j];
    }
    totals[k] = inside[k * w + w - 1];
  }
  const std::vector<double> before =
      windows <= 1 ? std::vector<double>{sum::pad()} : prefix(totals);
  for (size_t i = 0; i < x.size(); i++)
    e[i] = i % w == 0 ? before[i / w] : before[i / w] + inside[i - 1];
  return e;
}

/* Entries stand for 2^bits elements; the last of each segment for fewer. */
static void scan_entries(int bits, int tile_bits, const std::vector<int64_t> &entries,
                         int direction) {
  uint64_t random = 7;
  std::vector<int64_t> offsets{0};
  int64_t longest = 0;
  for (int64_t n : entries) {
    const int64_t length = n == 0 ? 1 : (n << bits) - (bits > 0 ? 1 : 0);
    longest = length > longest ? length : longest;
    offsets.push_back(offsets.back() + length);
  }
  const segments d = ragged(offsets);
  std::vector<double> totals((size_t)slots(d, bits), NAN), above;
  std::vector<std::vector<double>> want;
  for (size_t s = 0; s < entries.size(); s++) {
    std::vector<double> x;
    for (int64_t k = 0; k < entries[s]; k++) x.push_back((double)next(random) * 0x1p-20);
    for (int64_t k = 0; k + 1 < entries[s]; k++)
      totals[(size_t)(slot_of(d, (int64_t)s, bits) + k)] = x[(size_t)k];
    want.push_back(prefix(x));
  }
  above.resize((size_t)slots(d, bits + tile_bits), NAN);
  int runs = 0;
  scan_totals<sum>(d, longest, bits, tile_bits, pointer_to<double>(totals.data()),
                   pointer_to<double>(above.data()), [&](auto u) {
                     const order o{direction, 5};
                     run_blocks_on_host<decltype(u)>(&u, u.tiles.candidates, &o);
                     runs++;
                   });
  cr_assert_eq(runs, longest > (int64_t)1 << (bits + tile_bits) ? 3 : 1);
  for (size_t s = 0; s < entries.size(); s++) {
    if (entries[s] < 2) continue; /* no longer segment: these are not read */
    for (size_t k = 0; k < want[s].size(); k++) {
      const double got = totals[(size_t)slot_of(d, (int64_t)s, bits) + k];
      cr_assert_eq(got, want[s][k], "segment %zu, entry %zu: %a, not %a", s, k, got,
                   want[s][k]);
    }
  }
}

Test(tree, prefixes_of_chunks_in_one_tile) {
  for (int direction : {1, -1, 0})
    scan_entries(13, 15, {1, 2, 33, 0, 1024, 5000, 0, 1025, 32768}, direction);
}

Test(tree, prefixes_of_chunks_in_many_tiles) {
  for (int direction : {1, -1, 0}) {
    scan_entries(13, 10, {1, 1024, 1025, 0, 0, 40000, 33, 2048, 100, 70001}, direction);
    scan_entries(13, 5, {1, 32, 33, 1000, 0, 1024, 7}, direction);
  }
}
