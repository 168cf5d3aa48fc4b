/* test-far.cpp - indices beyond 2^31 and 2^32, for which no test has the memory. Single threads
 * and blocks of kernels run on computed operands, and on memory of which only a few elements
 * far from its start exist. */
#include <criterion/criterion.h>
#include <string.h>

#include <vector>

#include "cvl-cuda/emulation/host-toolchain.hpp"
#include "cvl-cuda/moves.hpp"
#include "cvl-cuda/pack-kernels.hpp"
#include "cvl-cuda/rank-kernels.hpp"
#include "cvl-cuda/segdes-kernels.hpp"
#include "cvl-cuda/tests/generated.hpp"
#include "cvl-cuda/tests/session.hpp"

using namespace ravel;

static const int64_t HUGE = (int64_t)1 << 33;

/* Returns a pointer to memory of which x has the elements from `first` on. It is used for no
 * others. */
template <class T, class U> static ptr<T> from_on(int64_t first, std::vector<U> &x) {
  return pointer_to<T>((void *)((uintptr_t)x.data() - (uintptr_t)first * sizeof(T)));
}

static segments far_equal_segments(int64_t count, int64_t length) {
  segments d{};
  d.count = count;
  d.equal = length;
  d.total = count * length;
  return d;
}

static segments with_offsets(std::vector<int64_t> &offsets) {
  segments d{};
  d.count = (int64_t)offsets.size() - 1;
  d.total = offsets.back();
  d.equal = -1;
  d.offsets = pointer_to<const int64_t>(offsets.data());
  return d;
}

/* Returns the operand whose element i is first + i * step. */
template <class T> static operand<T> line(T first, T step) {
  operand<T> x{};
  x.kind = PROGRESSION;
  x.first = first;
  x.step = step;
  x.under = far_equal_segments(1, 4 * HUGE);
  return x;
}

template <class F> static void far_run_block(const F &f, int64_t number) {
  host_block<F> b;
  b.number = number;
  b.number_of_blocks = number + 1;
  b.threads = {1, 0};
  f(b);
}

/* ---- PACK ---- */

static bool far_is_set(int64_t i) {
  return i % 7 < 3 || i % 64 == 63;
}

/* Flags from HUGE on: enough for one whole tile and some of the next. */
enum : int64_t { SOME = PACK_TILE + 1000 };

struct packed {
  std::vector<uint8_t> flags = std::vector<uint8_t>(2 * PACK_TILE);
  std::vector<pack_word> words = std::vector<pack_word>(2 * INDEX_THREADS);
  std::vector<uint64_t> tiles = std::vector<uint64_t>(2);

  packed() {
    for (int64_t i = 0; i < SOME; i++) flags[(size_t)i] = far_is_set(HUGE + i);
    index_flags body{};
    flags_to_index &x = body.list[body.count++];
    x.flags.kind = FROM_MEMORY;
    x.flags.data = from_on<const uint8_t>(HUGE, flags);
    x.eights = from_on<const uint64_t>(HUGE / 8, flags);
    x.n = HUGE + SOME;
    x.words = from_on<pack_word>(HUGE / 64, words);
    x.tiles = from_on<uint64_t>(HUGE / PACK_TILE, tiles);
    for (int64_t tile : {0, 1}) far_run_block(body, HUGE / PACK_TILE + tile);
  }
  static int64_t set_before(int64_t i, int64_t from = HUGE) {
    int64_t n = 0;
    for (int64_t k = from; k < i; k++) n += far_is_set(k);
    return n;
  }
};

Test(far, pack_words) {
  const packed p;
  for (int64_t i = 0; i < SOME; i += 64) {
    const pack_word &w = p.words[(size_t)i / 64];
    cr_assert_eq(w.before, packed::set_before(HUGE + i, HUGE + i / PACK_TILE * PACK_TILE));
    for (int64_t k = 0; k < 64 && i + k < SOME; k++)
      cr_assert_eq(w.bits >> k & 1, far_is_set(HUGE + i + k), "flag %d", (int)(i + k));
  }
  cr_assert_eq((int64_t)p.tiles[0], packed::set_before(HUGE + PACK_TILE));
  cr_assert_eq((int64_t)p.tiles[1], packed::set_before(HUGE + SOME, HUGE + PACK_TILE));
}

/* Makes a body that keeps what these flags say, with BEFORE set flags before the first of
 * them. */
static const int64_t BEFORE = HUGE / 2 + 12345;

struct keeping : packed {
  std::vector<int64_t> sums = {BEFORE, BEFORE + (int64_t)tiles[0],
                               BEFORE + (int64_t)(tiles[0] + tiles[1])};
  keep body{};
  kept_flags &f = body.flags[0];

  keeping() {
    f.words = from_on<const pack_word>(HUGE / 64, words);
    f.sums = from_on<const int64_t>(HUGE / PACK_TILE, sums);
    f.n = HUGE + SOME;
    f.tiles = HUGE / PACK_TILE + 2;
    f.moves = (f.n + KEEP_TILE - 1) / KEEP_TILE;
    body.count = body.flags_count = 1;
  }
};

Test(far, pack_elements) {
  for (bool in_memory : {false, true}) {
    keeping k;
    std::vector<uint64_t> values(SOME), out(SOME, 0);
    for (int64_t i = 0; i < SOME; i++) values[(size_t)i] = (uint64_t)(3 * (HUGE + i));
    kept_vector &v = k.body.list[0];
    v.width = 8;
    v.from = line<uint64_t>(0, 3);
    if (in_memory) {
      v.from.kind = FROM_MEMORY;
      v.from.data = from_on<const uint64_t>(HUGE, values);
    }
    v.to = from_on<uint64_t>(BEFORE, out);
    for (int64_t b = HUGE / KEEP_TILE; b < k.f.moves; b++) far_run_block(k.body, b);
    size_t at = 0;
    for (int64_t i = 0; i < SOME; i++) {
      if (far_is_set(HUGE + i)) cr_assert_eq(out[at++], values[(size_t)i]);
    }
    cr_assert_eq(out[at], 0);
  }
}

/* Segments of the result's descriptor begin far on, and one comes after many others. */
Test(far, pack_offsets) {
  keeping k;
  std::vector<int64_t> starts = {HUGE, HUGE + 70, HUGE + 70, HUGE + 20000 % SOME, HUGE + SOME},
                       offsets(starts.size(), -1);
  k.f.d = with_offsets(starts);
  k.f.offsets = pointer_to<int64_t>(offsets.data());
  far_run_block(k.body, k.f.moves);
  for (size_t s = 0; s < starts.size(); s++)
    cr_assert_eq(offsets[s], BEFORE + packed::set_before(starts[s]));

  std::vector<int64_t> many(SOME + 1, -1);
  k.f.d = far_equal_segments(k.f.n, 1);
  k.f.offsets = from_on<int64_t>(HUGE, many);
  for (int64_t first = HUGE; first <= k.f.n; first += KEEP_TILE)
    far_run_block(k.body, k.f.moves + first / KEEP_TILE);
  for (int64_t i = 0; i <= SOME; i++)
    cr_assert_eq(many[(size_t)i], BEFORE + packed::set_before(HUGE + i));
}

Test(far, pack_total) {
  keeping k;
  std::vector<int64_t> all((size_t)k.f.tiles + 1, 0);
  std::vector<pack_word> first(KEEP_TILE / 64, pack_word{0, 0});
  int64_t total[3] = {0, 0, 0}; // see put_number
  all.back() = BEFORE;
  k.f.sums = pointer_to<const int64_t>(all.data());
  k.f.words = pointer_to<const pack_word>(first.data());
  k.body.list[0].width = 8;
  k.body.list[0].from.kind = ALL_EQUAL;
  k.f.total = pointer_to<int64_t>(total);
  far_run_block(k.body, 0);
  cr_assert_eq(total[0], BEFORE);
  cr_assert_eq(total[1], 0);
  cr_assert_eq(total[2], BEFORE);
}

/* ---- descriptors ---- */

/* Writes offsets of the last tile: the totals of the two windows of 2^32 lengths before it
 * exist. */
template <class T> static void offsets_of_far_lengths() {
  using totals = typename write_offsets<T>::totals;
  enum : int64_t { WINDOW_LEVEL = 4, WINDOW = (int64_t)1 << (OFFSETS_BITS + 20) };
  static_assert(2 * WINDOW == (int64_t)1 << 33, "HUGE lengths before it");
  const int64_t tile = HUGE / OFFSETS_TILE, count = HUGE + 3000;
  fault_slot slot{};
  std::vector<typename totals::total> published((size_t)totals::count(count));
  std::vector<int64_t> offsets(3002, -1);
  int64_t total[3] = {0, 0, 0}; // see put_number
  uint64_t counters[OFFSETS_COUNTERS] = {(uint64_t)tile, 0, 0};
  write_offsets<T> body{};
  body.lengths.kind = ALL_EQUAL;
  body.lengths.first = 5;
  body.count = count;
  body.tiles = tile + 1;
  body.published = {published.data(), count, 1};
  body.counters = pointer_to<uint64_t>(counters);
  body.offsets = from_on<int64_t>(HUGE, offsets);
  body.total = pointer_to<int64_t>(total);
  body.bad = {&slot, 1};
  for (int64_t begin : {(int64_t)0, (int64_t)WINDOW})
    body.published.publish(WINDOW_LEVEL, begin, 5 * (uint64_t)WINDOW);
  far_run_block(body, tile);
  for (int64_t k = 0; k <= 3000; k++) cr_assert_eq(offsets[(size_t)k], 5 * (HUGE + k));
  cr_assert_eq(offsets[3001], -1);
  cr_assert_eq(total[0], 5 * count);
  cr_assert_eq(slot.kind, CVL_E_NONE);

  counters[TILES_TAKEN] = (uint64_t)tile;
  body.lengths.first = -1;
  far_run_block(body, tile);
  cr_assert_eq(slot.kind, CVL_E_NEGATIVE_LENGTH);
  cr_assert_eq(slot.position, HUGE);
  cr_assert_eq(offsets[3000], 0);
  cr_assert_eq(counters[TILES_DONE], 2u);
  cr_assert_eq(counters[TOTAL_WRONG], 1u);
}

Test(far, offsets) {
  offsets_of_far_lengths<int32_t>();
  offsets_of_far_lengths<int64_t>();
}

Test(far, lengths) {
  std::vector<int64_t> offsets = {HUGE, 3 * HUGE, 3 * HUGE + 8};
  fault_slot slot{};
  lengths_body<int64_t> f{};
  f.n = HUGE + 2;
  f.greatest = INT64_MAX;
  for (; f.count < 2; f.count++) /* of two descriptors, one after the other */
    f.list[f.count] = {from_on<const int64_t>(HUGE, offsets), nullptr, {&slot, 1}};
  for (int64_t before : {(int64_t)0, f.n}) {
    cr_assert_eq(f.at(before + HUGE), 2 * HUGE);
    cr_assert_eq(f.at(before + HUGE + 1), 8);
  }
  lengths_body<int32_t> narrow{HUGE + 2, INT32_MAX, 1, {}};
  narrow.list[0] = {from_on<const int64_t>(HUGE, offsets), nullptr, {&slot, 1}};
  narrow.at(HUGE);
  cr_assert_eq(slot.kind, CVL_E_INT_RANGE);
  cr_assert_eq(slot.position, HUGE);
  cr_assert_eq(slot.value, 2 * HUGE);
}

/* A word of the directory, without and with empty segments, and the ids made from it. */
Test(far, directory_and_ids) {
  for (bool empty : {false, true}) {
    std::vector<int64_t> offsets = {0, HUGE - 3, HUGE + 5, HUGE + 9, HUGE + 70, 2 * HUGE};
    if (empty) offsets.insert(offsets.begin() + 3, 2, HUGE + 5);
    segments d = with_offsets(offsets);
    std::vector<rank_word> words;
    std::vector<uint32_t> numbers(2 + offsets.size());
    segments ranked = d;
    ranked.numbers = from_on<const uint32_t>(HUGE / 64, numbers);
    words.resize(2);
    const directory_body directory{
        {d}, from_on<rank_word>(HUGE / 64, words), from_on<uint32_t>(HUGE / 64, numbers)};
    for (int64_t w : {0, 1}) directory(HUGE / 64 + w);
    ranked.ranks = from_on<const rank_word>(HUGE / 64, words);
    std::vector<uint32_t> ids(128);
    const map_body<id_at, uint32_t> make{{ranked}, from_on<uint32_t>(HUGE, ids)};
    const numbered_segments numbered{ranked, from_on<const uint32_t>(HUGE, ids)};
    for (int64_t i = HUGE; i < HUGE + 128; i++) {
      make(i);
      cr_assert_eq(ranked.of(i), d.search(i, 0, d.count - 1), "index %d", (int)(i - HUGE));
      cr_assert_eq(numbered.of(i), d.of(i));
    }
    cr_assert_eq(ids[5], empty ? 4 : 2);
  }
}

/* The number of a segment may have all 32 bits set. */
Test(far, the_last_id) {
  const int64_t last = UINT32_MAX;
  std::vector<uint32_t> ids(1);
  const segments d = far_equal_segments(last + 1, 1);
  const map_body<id_at, uint32_t> make{{d}, from_on<uint32_t>(last, ids)};
  make(last);
  cr_assert_eq((numbered_segments{d, from_on<const uint32_t>(last, ids)}.of(last)), last);
}

/* ---- DIST and INDEX ---- */

Test(far, spread) {
  std::vector<int64_t> data = {7, 8, 9};
  operand<int64_t> x{};
  x.kind = SPREAD;
  x.data = pointer_to<const int64_t>(data.data());
  x.under = far_equal_segments(3, HUGE);
  for (int64_t s = 0; s < 3; s++) {
    cr_assert_eq(x[s * HUGE], data[(size_t)s]);
    cr_assert_eq(x[(s + 1) * HUGE - 1], data[(size_t)s]);
  }
  x.data = from_on<const int64_t>(HUGE, data); /* and so many segments */
  x.under = far_equal_segments(HUGE + 3, 2);
  cr_assert_eq(x[2 * (HUGE + 1) + 1], 8);
}

template <class T> static void progressions() {
  std::vector<T> first = {1, -5, 100}, steps = {3, 2, -1};
  operand<T> x{};
  x.kind = PROGRESSION;
  x.data = pointer_to<const T>(first.data());
  x.steps = pointer_to<const T>(steps.data());
  x.under = far_equal_segments(3, HUGE + 1);
  for (int64_t s = 0; s < 3; s++) {
    for (int64_t j : {(int64_t)0, (int64_t)INT32_MAX + 2, HUGE - 1, HUGE}) {
      const uint64_t want =
          (uint64_t)first[(size_t)s] + (uint64_t)j * (uint64_t)steps[(size_t)s];
      cr_assert_eq(x[s * (HUGE + 1) + j], (T)want);
    }
  }
}

Test(far, index) {
  progressions<int32_t>();
  progressions<int64_t>();
}

/* Only the description is made. It knows the sum as long as that fits. */
Test(far, index_and_dist_of_the_back_end) {
  emulated_session s("");
  const cvl_value zero = cvl_scalar_int(CVL_I64, 0), two = cvl_scalar_int(CVL_I64, 2);
  for (int64_t n : {HUGE / 4, HUGE}) {
    const cvl_value d = cvl_one_segment((uint64_t)n);
    cvl_value v{}, same{};
    cr_assert(s.apply(CALL_INDEX, OP_INDEX, {zero, two, d}, &v));
    cr_assert(s.apply(CALL_DIST, OP_DIST, {two, d}, &same));
    cr_assert_eq(s.b->length(s.c, &v).bound, (uint64_t)n);
    cr_assert_eq(s.b->length(s.c, &same).bound, (uint64_t)n);
    cr_assert_eq(v.as.vector->has_sum, n < HUGE); /* n (n - 1) */
    if (n < HUGE) cr_assert_eq(v.as.vector->sum, n * (n - 1));
    cr_assert_eq(same.as.vector->sum, 2 * n);
    s.b->release(s.c, &v);
    s.b->release(s.c, &same);
  }
}

/* ---- EXTRACT and REPLACE ---- */

/* Returns addresses of element 2 in each of HUGE + 3 segments of 5. */
static addresses<int64_t, ONE_OF_EACH> third_of_each(fault_slot *slot) {
  addresses<int64_t, ONE_OF_EACH> x{};
  x.near = far_equal_segments(HUGE + 3, 1);
  x.far = far_equal_segments(HUGE + 3, 5);
  x.index.kind = ALL_EQUAL;
  x.index.first = 2;
  x.bad = {slot, 1};
  return x;
}

static moved words_moved(operand<uint64_t> from, ptr<uint64_t> to) {
  moved m{};
  m.width = 8;
  m.from = from;
  m.to = to;
  return m;
}

Test(far, extract) {
  fault_slot slot{};
  std::vector<uint64_t> out(3, 0);
  gather_body<int64_t, ONE_OF_EACH> body{};
  body.from = third_of_each(&slot);
  body.vectors.count = 1;
  body.vectors.list[0] = words_moved(line<uint64_t>(0, 1), from_on<uint64_t>(HUGE, out));
  for (int64_t s = 0; s < 3; s++) body(HUGE + s);
  for (int64_t s = 0; s < 3; s++) cr_assert_eq((int64_t)out[(size_t)s], 5 * (HUGE + s) + 2);
  cr_assert_eq(slot.kind, CVL_E_NONE);
  body.from.index.first = 5;
  body(HUGE + 1);
  cr_assert_eq(slot.kind, CVL_E_INDEX);
  cr_assert_eq(slot.position, HUGE + 1);
  cr_assert_eq(slot.segment, HUGE + 1);
}

Test(far, replace) {
  fault_slot slot{};
  std::vector<uint64_t> out(15, 1);
  const operand<uint64_t> with = line<uint64_t>(7, 1);
  const scatter_body<int64_t> scatter{third_of_each(&slot),
                                      words_moved(with, from_on<uint64_t>(5 * HUGE, out))};
  scatter(HUGE + 1);
  for (size_t i = 0; i < 15; i++) cr_assert_eq(out[i], i == 7 ? HUGE + 8 : 1);
  cr_assert_eq(slot.kind, CVL_E_NONE);
}

/* ---- generated kernels ---- */

/* Returns the kernel as a function of one element, or of one block, instead of all. */
static std::string for_one(const generated &k) {
  if (k.source.kernel.by_slots)
    return k.with(
        "RAVEL_KERNEL_BLOCKS(fused)",
        "extern \"C\" void fused_host(const void *f, int64_t number, const void *) {\n"
        "  ravel::host_block<fused> b;\n"
        "  b.number = number;\n"
        "  b.threads = {1, 0};\n"
        "  (*(const fused *)f)(b);\n"
        "}\n");
  const size_t entry = k.text.rfind("RAVEL_KERNEL_");
  return k.with(k.text.substr(entry),
                "extern \"C\" void fused_host(const void *f, int64_t i, const void *) {\n"
                "  (*(const fused *)f)(i);\n"
                "}\n");
}

struct gather_and_index {
  operand<int64_t> values, at;
  segments d;
  ptr<int64_t> out;
  faults bad;
  int64_t n;
};

/* Values are gathered within segments, and INDEX runs under these. */
Test(far, generated_maps) {
  const generated k("fused OP0#1 ($0 : INT, $1 : INT, $2 : SEGDES) =\n"
                    "  (+ INT @ (BPERMUTE INT @ $0 $1 $2 $2)\n"
                    "           (INDEX @ (CONST INT 1) (CONST INT 1000) $2))\n");
  const built one(host_toolchain(), for_one(k));
  const int64_t length = HUGE + 10;
  std::vector<int64_t> out(1, 0);
  fault_slot slot{};
  gather_and_index body{};
  body.values = line<int64_t>(0, 2);
  body.at = line<int64_t>(-length, 1); /* of the second segment: the index itself */
  body.d = far_equal_segments(2, length);
  body.bad = {&slot, 1};
  for (int64_t j : {(int64_t)INT32_MAX + 2, HUGE + 3}) {
    const int64_t i = length + j;
    body.out = from_on<int64_t>(i, out);
    one.entry.on_host(&body, i, nullptr);
    cr_assert_eq(out[0], 2 * i + 1 + 1000 * j);
    cr_assert_eq(slot.kind, CVL_E_NONE);
  }
  body.at.first += HUGE;
  one.entry.on_host(&body, length + HUGE + 3, nullptr);
  cr_assert_eq(slot.kind, CVL_E_INDEX);
  cr_assert_eq(slot.position, length + HUGE + 3);
  cr_assert_eq(slot.value, 2 * HUGE + 3);
  cr_assert_eq(slot.limit, length);
}

struct sum_of_slots {
  operand<int64_t> x;
  segments d;
  ptr<int64_t> partial;
  faults bad;
  int64_t n;
};

/* There are more than 2^31 slots; a block has a few of them. */
static const int64_t BLOCK_SLOTS = (int64_t)tuning_default(TUNE_CUDA_BLOCK_SLOTS);
Test(far, generated_reductions) {
  const generated k(
      "fused OP0#1 ($0 : INT, $1 : SEGDES) = (+_REDUCE INT @ (+ INT @ $0 $0) $1)\n");
  const built one(host_toolchain(), for_one(k));
  const int64_t length = HUGE * CVL_REDUCE_BLOCK + 7;
  std::vector<int64_t> partial((size_t)BLOCK_SLOTS, 0);
  sum_of_slots body{};
  body.x = line<int64_t>(0, 1);
  body.x.under = far_equal_segments(1, 3 * length);
  body.d = far_equal_segments(3, length);
  body.n = slot_count(body.d.total, body.d.count, CVL_REDUCE_BLOCK);
  const int64_t slot = first_slot(body.d, 1, CVL_REDUCE_BLOCK) / BLOCK_SLOTS * BLOCK_SLOTS;
  body.partial = from_on<int64_t>(slot + BLOCK_SLOTS, partial);
  one.entry.on_host(&body, slot / BLOCK_SLOTS + 1, nullptr);
  for (int64_t p = 0; p < BLOCK_SLOTS; p++) {
    const int64_t b = slot + BLOCK_SLOTS + p - first_slot(body.d, 1, CVL_REDUCE_BLOCK);
    const int64_t first = length + b * CVL_REDUCE_BLOCK;
    cr_assert_eq(partial[(size_t)p], CVL_REDUCE_BLOCK * (2 * first + CVL_REDUCE_BLOCK - 1),
                 "slot %d", (int)p);
  }
}
