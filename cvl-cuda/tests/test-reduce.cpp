/* test-reduce.cpp - reductions of flags, which kernels read as words: segments begin and end at
 * every address modulo a word, on one level of the tree and on two. */
#include "cvl-cuda/tests/session.hpp"

namespace {

typedef std::vector<uint8_t> flags;

/* The flags in a word; in a block of the tree; and in a chunk of a long segment, which a warp
 * takes. */
enum { SIZE = 16, BLOCK = 1024, CHUNK = 16 * BLOCK };

struct session : emulated_session {
  using emulated_session::emulated_session;

  cvl_value upload_flags(const flags &x) {
    cvl_value v{};
    cr_assert(b->from_host(c, ++site, CVL_BOOL, x.size(), x.data(), &v));
    return v;
  }
  flags reduce(cvl_op op, const flags &x, const ints &lengths) {
    cvl_value v = upload_flags(x), d{}, r{};
    cr_assert(b->segdes_from_host(c, ++site, lengths.size(), lengths.data(), &d));
    cr_assert(apply(CALL_REDUCE, op, {v, d}, &r));
    flags out(lengths.size());
    cr_assert(b->to_host(c, &r, 0, out.size(), out.data()));
    for (const cvl_value *k : {&v, &d, &r}) b->release(c, k);
    return out;
  }
};

uint8_t combined(cvl_op op, uint8_t x, uint8_t y) {
  return op == OP_AND ? x & y : op == OP_OR ? x | y : x ^ y;
}

/* Returns flags that are all `most`, except one in each segment, at a different position. */
flags one_differs(const ints &lengths, uint8_t most, size_t turn) {
  flags x;
  for (size_t s = 0; s < lengths.size(); s++) {
    const size_t start = x.size(), n = (size_t)lengths[s];
    x.resize(start + n, most);
    if (n > 0 && (s + turn) % 4 != 0) x[start + (s * 31 + turn * 7) % n] = !most;
  }
  return x;
}

void check(const ints &lengths, size_t turn) {
  session s("order=shuffled,check,small=0");
  for (cvl_op op : {OP_AND, OP_OR, OP_XOR}) {
    const uint8_t identity = op == OP_AND;
    const flags x = one_differs(lengths, identity, turn), found = s.reduce(op, x, lengths);
    size_t i = 0;
    for (size_t k = 0; k < lengths.size(); k++) {
      uint8_t want = identity;
      for (int64_t j = 0; j < lengths[k]; j++) want = combined(op, want, x[i++]);
      cr_assert_eq(found[k], want, "operation %d, segment %zu of %ld flags before %zu", (int)op,
                   k, (long)lengths[k], i);
    }
  }
}

} // namespace

/* Lengths of 9 .. 8 + 4 * SIZE at all alignments: they include one flag more than a whole
 * number of words. */
Test(reduce, short_segments_of_flags_at_every_address) {
  for (int64_t n = 9; n <= 8 + 4 * SIZE; n++) check(ints(SIZE + 1, n | 1), (size_t)n);
  ints mixed;
  for (int64_t n = 0; n < 10 * SIZE; n++) mixed.push_back(9 + n * 7 % (3 * SIZE));
  check(mixed, 1);
}

Test(reduce, blocks_of_flags_at_every_address) {
  ints lengths;
  for (int64_t k = 0; k < 2 * SIZE; k++) {
    lengths.push_back(k % 2 ? BLOCK + k : 3 * BLOCK - k);
    lengths.push_back(1);
  }
  check(lengths, 0);
  check(lengths, 1);
  check({5 * BLOCK + 3}, 1);
}

Test(reduce, chunks_of_flags_at_every_address) {
  ints lengths;
  for (int64_t k = 0; k < SIZE; k++) {
    lengths.push_back(k % 3 == 0 ? CHUNK + k - 3 : k % 3 == 1 ? BLOCK + k : 2 * CHUNK - k);
    lengths.push_back(k % 2);
  }
  check(lengths, 0);
  check(lengths, 1);
  check({3 * CHUNK + 5}, 1);
}

/* Two levels are enough for 2^24 flags. */
Test(reduce, two_million_flags_take_two_levels) {
  session s("deferred,small=0");
  const ints lengths = {1 << 21, 5};
  const flags x = one_differs(lengths, 0, 1);
  cvl_value v = s.upload_flags(x), d{}, r{};
  cvl_error e{};
  cr_assert(s.b->segdes_from_host(s.c, ++s.site, 2, lengths.data(), &d));
  cr_assert_not(s.b->check(s.c, true, &e));
  const uint64_t before = s.launches();
  cr_assert(s.apply(CALL_REDUCE, OP_XOR, {v, d}, &r));
  cr_assert_not(s.b->check(s.c, true, &e));
  cr_assert_eq(s.launches() - before, 2 + 1, "and one of the window: %d",
               (int)(s.launches() - before));
  for (const cvl_value *k : {&v, &d, &r}) s.b->release(s.c, k);
}
