/* test-scan.cpp - scans on the emulated device, compared with trees.h line by line: shapes of
 * segments for each way through a tile of scans.hpp, chunks at all addresses, and flags by
 * words. */
#include <string.h>

#include <algorithm>

#include "cvl-cuda/tests/prefix.hpp"
#include "cvl-cuda/tests/session.hpp"

namespace {

typedef std::vector<double> floats;
typedef std::vector<uint8_t> flags;

constexpr int TILE = 3584, CAPACITY = 4096, CHUNK = 8192, CHUNK_OF_FLAGS = 65536;

floats scanned(const floats &x, const ints &lengths) {
  floats all;
  auto at = x.begin();
  for (int64_t n : lengths) {
    floats e = prefix(floats(at, at + n), CVL_SCAN_ROW);
    if (n > 0) e[0] = 0.0;
    all.insert(all.end(), e.begin(), e.end());
    at += n;
  }
  return all;
}

uint64_t next(uint64_t &state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

struct session : emulated_session {
  using emulated_session::emulated_session;

  /* Scans the elements of x from `first` on, which are a slice of it. */
  template <class T>
  std::vector<T> scan(cvl_op op, cvl_elem elem, const std::vector<T> &x, size_t first,
                      const ints &lengths) {
    cvl_value all{}, v{}, d{}, r{};
    const size_t n = x.size() - first;
    cr_assert(b->from_host(c, ++site, elem, x.size(), x.data(), &all));
    cr_assert(b->slices->slice(c, ++site, &all, first, n, &v));
    cr_assert(b->segdes_from_host(c, ++site, lengths.size(), lengths.data(), &d));
    cr_assert(apply(CALL_SCAN, op, {v, d}, &r));
    std::vector<T> out(n);
    cr_assert(b->to_host(c, &r, 0, n, out.data()));
    for (const cvl_value *k : {&all, &v, &d, &r}) b->release(c, k);
    return out;
  }
};

/* Each way in which a device may execute its commands. */
const char *const ways[] = {"check,small=0", "order=reverse,check,small=0",
                            "order=shuffled,check,small=0"};

void check(const ints &lengths, size_t first = 0, const char *way = ways[2]) {
  session s(way);
  uint64_t random = lengths.size();
  floats x(first);
  for (int64_t n : lengths) {
    for (int64_t k = 0; k < n; k++) x.push_back((double)next(random) * 0x1p-20);
  }
  const floats want = scanned(floats(x.begin() + (ptrdiff_t)first, x.end()), lengths),
               got = s.scan(OP_ADD, CVL_F64, x, first, lengths);
  for (size_t i = 0; i < want.size(); i++)
    cr_assert(memcmp(&want[i], &got[i], sizeof(double)) == 0,
              "%s, %zu segments, the first of %ld, element %zu: %a, not %a", way,
              lengths.size(), lengths.empty() ? 0L : (long)lengths[0], i, got[i], want[i]);
}

/* Returns lengths below `most` that add up to `elements` at least; one in `few` of them is
 * 0. */
ints drawn(uint64_t seed, int64_t elements, uint64_t most, uint64_t few) {
  ints lengths;
  for (int64_t n = 0; n < elements; n += lengths.back()) {
    const bool none = few > 0 && next(seed) % few == 0;
    lengths.push_back(none ? 0 : (int64_t)(next(seed) % most));
  }
  return lengths;
}

ints repeated(size_t count, int64_t length) {
  return ints(count, length);
}

void append(ints &to, const ints &more) {
  to.insert(to.end(), more.begin(), more.end());
}

} // namespace

Test(scan, segments_of_random_lengths) {
  for (const char *way : ways) {
    check(drawn(1, 12000, 64, 0), 0, way);
    check(drawn(2, 12000, 700, 0), 0, way);
    check(drawn(3, 20000, 5000, 3), 0, way);
    check(drawn(4, 9000, 5, 2), 0, way);
    check(drawn(5, 9000, 20, 4), 0, way);
  }
}

Test(scan, segments_of_one_length) {
  for (int64_t n :
       {1, 2, 3, 5, 7, 8, 9, 12, 16, 17, 31, 255, 256, 257, 264, 1000, 3584, 4095, 4096, 4097})
    check(repeated((size_t)(10000 / n + 2), n));
}

/* Lengths around those of a window, of a row and of a block, and a few elements. */
Test(scan, one_segment_alone) {
  for (int64_t n : {1, 8, 9, 255, 256, 257, 511, 513, 3583, 3585, 4095, 4096, 4097, 8191, 8192,
                    8193, 16384, 20001})
    check({n});
}

/* Some segments that end behind their tile fit, some are left to a turn of their own, and one
 * is left to chunks. */
Test(scan, segments_at_the_ends_of_tiles) {
  for (int64_t before : {0, 1, 7, 8, 300, 3000, TILE - 1, TILE}) {
    for (int64_t n : {CAPACITY - TILE, CAPACITY - TILE + 1, 1000, 3000, CAPACITY - 1, CAPACITY,
                      CAPACITY + 1, CHUNK + 5})
      check({before, n, 0, 3, 0, 40});
  }
}

/* There are more empty segments than a tile has elements, before, between and behind others. */
Test(scan, empty_segments_in_a_row) {
  ints lengths = repeated(5000, 0);
  append(lengths, {3, 0, 17});
  append(lengths, repeated(4600, 0));
  append(lengths, {300});
  append(lengths, repeated(513, 0));
  append(lengths, {4097});
  append(lengths, repeated(6000, 0));
  append(lengths, {1});
  append(lengths, repeated(2000, 0));
  check(lengths);
}

/* A tile of tiny segments, one long segment, a tile of all kinds. */
Test(scan, long_and_tiny_segments) {
  ints lengths = drawn(7, 6000, 5, 0);
  append(lengths, {40000});
  append(lengths, drawn(8, 6000, 5, 3));
  append(lengths, {9000, 300, 1, 2, 700, 9, 5000, 2600});
  for (const char *way : ways) check(lengths, 0, way);
}

/* No chunk begins at a multiple of a sector's 32 bytes. */
Test(scan, chunks_at_every_address) {
  for (size_t first = 0; first < 3; first++) check({CHUNK + 100}, first);
  for (int64_t n = 1; n < 4; n++) check({n, 2 * CHUNK + 3, n, CHUNK - 1});
}

Test(scan, flags_by_words) {
  session s(ways[2]);
  uint64_t random = 3;
  for (size_t n : {4097, 5000, CHUNK_OF_FLAGS - 1, CHUNK_OF_FLAGS, CHUNK_OF_FLAGS + 65,
                   3 * CHUNK_OF_FLAGS + 17}) {
    for (size_t first : {0, 1, 8}) {
      for (cvl_op op : {OP_AND, OP_OR, OP_XOR}) {
        flags x(first);
        for (size_t i = 0; i < n; i++)
          x.push_back(op == OP_XOR ? next(random) % 2
                                   : (next(random) % (n / 2) != 0) == (op == OP_AND));
        const flags got = s.scan(op, CVL_BOOL, x, first, {(int64_t)n});
        uint8_t sum = op == OP_AND;
        for (size_t i = 0; i < n; i++) {
          cr_assert_eq(got[i], sum, "operation %d, %zu flags from %zu, flag %zu", (int)op, n,
                       first, i);
          const uint8_t y = x[first + i];
          sum = op == OP_AND ? sum & y : op == OP_OR ? sum | y : sum ^ y;
        }
      }
    }
  }
}
