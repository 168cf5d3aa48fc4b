/* pack.cu - PACK: the flagged elements, and how many each segment keeps.
 *
 * Flags become words of 64 bits with the number of flags before each (pack_word): that is kept
 * with the flags, so that the next vector packed by them is one launch, which moves
 * E + 0.25 + E k/n bytes for each of n elements, k of them kept, or a part of one that is still
 * in the window. The first time there is one more (two from 2^22 flags on), 1.25 bytes for each
 * flag. The new offset of a segment is
 * the number of flags before its start, whatever lies between: empty segments cost nothing
 * else.
 *
 * How many are kept stays on the device until somebody has to know: results have memory for all
 * elements until then, one pending number for all vectors packed by the same flags, and one
 * descriptor for all those under the same one.
 */
#include <string.h>

#include "cvl-cuda/counts.hpp"
#include "cvl-cuda/ops.hpp"
#include "cvl-cuda/together.hpp"

namespace ravel {

/* 64 flags, and the number of those set before them in the tile. */
struct pack_word {
  uint64_t bits;
  int64_t before;
};

/* What is known of some flags. */
struct pack_plan {
  ref<block> words;  /* on the device: pack_word for each 64 flags */
  ref<block> tiles;  /* int64_t: flags set in each tile; or, from KEEP_THREADS tiles on, before
                        each; then all. Both null: not made yet */
  ref<pending> kept; /* how many are set, once it was asked */
  bool counted = false; /* then `count` are */
  int64_t count = 0;
  ref<cvl_segdes> d, out; /* the last descriptor, null: one segment; and what it became */
};

namespace {

enum { INDEX_THREADS = 256, INDEX_EACH = 8, PACK_TILE = INDEX_THREADS * 64 };

/* Flags seen as numbers of 8 bytes 0 or 1: the bits. */
HD inline uint8_t bits_of_bytes(uint64_t flags) {
  return (uint8_t)((flags * 0x0102040810204080u) >> 56);
}

/* Words of a tile of flags. A thread reads 8 flags at a time, next to its neighbours', and then
 * makes one word. */
struct index_flags {
  enum { threads = INDEX_THREADS };
  struct shared {
    shared_array<uint8_t, threads * 8> bits;
    shared_array<uint32_t, threads / WARP> of_warp;
  };
  struct add {
    HD uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
  };
  ptr<const uint8_t> flags;
  ptr<const uint64_t> eights; /* the same memory */
  int64_t n;
  ptr<pack_word> words;
  ptr<uint64_t> tiles;

  HD uint64_t eight_flags(int64_t first) const {
    if (first + 8 <= n) return eights[first / 8];
    uint64_t x = 0;
    for (int k = 0; first + k < n; k++) x |= (uint64_t)flags[first + k] << 8 * k;
    return x;
  }

  template <class B> HD void operator()(B &block) const {
    typename B::template reg<uint32_t> count, upto;
    typename B::template reg<uint64_t> word;
    const int64_t tile = block.index(), first = tile * PACK_TILE;
    block.each([&](int t) {
      uint64_t x[INDEX_EACH];
      if (first + PACK_TILE <= n) { /* without a question for each */
        for (int r = 0; r < INDEX_EACH; r++) x[r] = eights[first / 8 + r * threads + t];
      } else {
        for (int r = 0; r < INDEX_EACH; r++) x[r] = eight_flags(first + (r * threads + t) * 8);
      }
      for (int r = 0; r < INDEX_EACH; r++)
        block.shared.bits[r * threads + t] = bits_of_bytes(x[r]);
    });
    block.each([&](int t) {
      word[t] = 0;
      for (int k = 0; k < 8; k++) word[t] |= (uint64_t)block.shared.bits[t * 8 + k] << 8 * k;
      count[t] = upto[t] = (uint32_t)count_bits(word[t]);
    });
    block.prefix(upto, WARP, add());
    block.each([&](int t) {
      if (t % WARP == WARP - 1) block.shared.of_warp[t / WARP] = upto[t];
    });
    block.each([&](int t) {
      uint32_t before = upto[t] - count[t];
      for (int w = 0; w < t / WARP; w++) before += block.shared.of_warp[w];
      if (first + t * 64 < n) words[tile * threads + t] = {word[t], (int64_t)before};
      if (t != threads - 1) return;
      tiles[tile] = before + count[t];
    });
  }
};

enum {
  KEEP_THREADS = 256,
  KEEP_EACH = 8,
  KEEP_TILE = KEEP_THREADS * KEEP_EACH,
  MOST_KEPT = 16
};

/* One of the vectors packed by the same flags; elements are moved as bits. */
struct kept_vector {
  int32_t width;
  bool to_the_end; /* write also the places after the last one kept: they go to the host */
  operand<uint64_t> from;
  ptr<uint64_t> to;
};

/* The elements, in the first `moves` blocks; in those after them the new offsets. */
struct keep {
  enum { threads = KEEP_THREADS, resident = 3 };
  struct shared {
    shared_array<int64_t, threads + 1> before; /* flags set before each tile */
    shared_array<int64_t, threads / WARP> of_warp;
  };
  struct add {
    HD int64_t operator()(int64_t a, int64_t b) const { return a + b; }
  };
  ptr<const pack_word> words;
  ptr<const int64_t> sums; /* of the tiles; or their prefixes, if there are many */
  int64_t n, tiles, moves;
  segments d;
  ptr<int64_t> offsets, total; /* null: not wanted */
  int32_t count;
  kept_vector list[MOST_KEPT];

  HD bool scanned() const { return tiles > threads; }

  template <class B> HD void operator()(B &block) const {
    typename B::template reg<int64_t> x;
    if (!scanned()) {
      block.each([&](int t) { x[t] = t < tiles ? (int64_t)sums[t] : 0; });
      block.prefix(x, WARP, add());
      block.each([&](int t) {
        if (t % WARP == WARP - 1) block.shared.of_warp[t / WARP] = x[t];
      });
      block.each([&](int t) {
        int64_t here = x[t];
        for (int w = 0; w < t / WARP; w++) here += block.shared.of_warp[w];
        block.shared.before[t + 1] = here;
        if (t == 0) block.shared.before[0] = 0;
      });
    }
    const int64_t b = block.index();
    block.each([&](int t) {
      if (b < moves) {
        move(block.shared, b, t);
      } else {
        put_offsets(block.shared, (b - moves) * KEEP_TILE + t);
      }
      if (b == 0 && t == 0 && total != nullptr) *total = before(block.shared, tiles);
    });
  }

  HD int64_t before(const shared &s, int64_t tile) const {
    return scanned() ? (int64_t)sums[tile] : (int64_t)s.before[tile];
  }
  /* Flags of a word that are set before flag i. */
  HD static int64_t below(const pack_word &w, int64_t i) {
    return count_bits(w.bits & (((uint64_t)1 << (i & 63)) - 1));
  }

  /* A warp moves neighbours, KEEP_EACH to a thread, all of the same few words. */
  HD void move(const shared &s, int64_t tile, int t) const {
    enum { WORDS = KEEP_EACH * WARP / 64 };
    const int64_t first = tile * KEEP_TILE + t / WARP * (KEEP_EACH * WARP);
    const int64_t lane = t % WARP, last_word = (n - 1) >> 6;
    const int64_t start = before(s, first / PACK_TILE);
    pack_word w[WORDS];
    int64_t from[KEEP_EACH], to[KEEP_EACH];
    for (int k = 0; k < WORDS; k++) {
      const int64_t word = (first >> 6) + k;
      w[k] = words[word < last_word ? word : last_word];
    }
    for (int r = 0; r < KEEP_EACH; r++) {
      const int64_t i = first + r * WARP + lane;
      const pack_word &mine = w[r * WARP / 64];
      const bool kept = i < n && (mine.bits >> (i & 63) & 1) != 0;
      from[r] = kept ? i : -1;
      to[r] = start + mine.before + below(mine, i);
    }
    for (int v = 0; v < count; v++) {
      switch (list[v].width) {
      case 1: move_as<uint8_t>(list[v], from, to); break;
      case 4: move_as<uint32_t>(list[v], from, to); break;
      default: move_as<uint64_t>(list[v], from, to); break;
      }
      if (list[v].to_the_end) clear(list[v], before(s, tiles), first + lane);
    }
  }
  template <class T>
  HD void move_as(const kept_vector &v, const int64_t (&from)[KEEP_EACH],
                  const int64_t (&to)[KEEP_EACH]) const {
    const operand<T> x = retyped<T>(v.from);
    const ptr<T> out = retyped<T>(v.to);
    T y[KEEP_EACH];
    if (is_simple(x)) {
      load_at(x, from, y);
      for (int r = 0; r < KEEP_EACH; r++) {
        if (from[r] >= 0) out[to[r]] = y[r];
      }
    } else {
      for (int r = 0; r < KEEP_EACH; r++) {
        if (from[r] >= 0) out[to[r]] = x[from[r]];
      }
    }
  }
  /* Few elements (a small vector): no haste. */
  HD void clear(const kept_vector &v, int64_t kept, int64_t first) const {
    for (int r = 0; r < KEEP_EACH; r++) {
      const int64_t i = first + r * WARP;
      if (i < kept || i >= n) continue;
      if (v.width == 1) retyped<uint8_t>(v.to)[i] = 0;
      if (v.width == 4) retyped<uint32_t>(v.to)[i] = 0;
      if (v.width == 8) v.to[i] = 0;
    }
  }
  HD void put_offsets(const shared &s, int64_t first) const {
    int64_t x[KEEP_EACH];
    for (int r = 0; r < KEEP_EACH; r++) {
      const int64_t k = first + r * threads;
      const int64_t i = k < d.count ? d.start(k) : n;
      x[r] = i < n ? before(s, i / PACK_TILE) + rank_in_tile(i) : before(s, tiles);
    }
    for (int r = 0; r < KEEP_EACH; r++) {
      const int64_t k = first + r * threads;
      if (k <= d.count) offsets[k] = x[r];
    }
  }
  HD int64_t rank_in_tile(int64_t i) const {
    const pack_word w = words[i >> 6];
    return w.before + below(w, i);
  }
};

/* One more vector for a launch that packs by the same flags. */
bool join_keeps(void *waiting, launch *, const void *body) {
  keep &x = *(keep *)waiting;
  const keep &y = *(const keep *)body;
  if (x.count == MOST_KEPT || x.words != y.words || y.offsets != nullptr || y.total != nullptr)
    return false;
  x.list[x.count++] = y.list[0];
  return true;
}

} // namespace

/* ---- what is kept with the flags ---- */

static std::shared_ptr<pack_plan> plan_of(const cvl_value &flags) {
  if (flags.form != CVL_VECTOR) return std::make_shared<pack_plan>();
  std::shared_ptr<pack_plan> &plan = flags.as.vector->pack;
  if (!plan) plan = std::make_shared<pack_plan>();
  return plan;
}

/* What became of the segments of d when they were packed by these flags; null if unknown. */
static ref<cvl_segdes> known_segments(const pack_plan &plan, const cvl_value &d) {
  const cvl_segdes *segments = d.form == CVL_SEGDES ? d.as.segdes : nullptr;
  return plan.d.get() == segments ? plan.out : ref<cvl_segdes>();
}

static void note_segments(pack_plan &plan, const cvl_value &d, const ref<cvl_segdes> &out) {
  plan.d = d.form == CVL_SEGDES ? ref<cvl_segdes>::to(d.as.segdes) : ref<cvl_segdes>();
  plan.out = out;
}

/* Makes the words, unless they are there. */
static void index_on_device(context &c, uint64_t site, const cvl_value &flags, int64_t n,
                            pack_plan &plan) {
  if (plan.words) return;
  work w(c, site, {}, 0);
  w.on_host = false;
  const int64_t tiles = (n + PACK_TILE - 1) / PACK_TILE;
  const ref<cvl_vector> words = w.make(CVL_I64, tiles * INDEX_THREADS * 2);
  const ref<cvl_vector> sums = w.make(CVL_I64, tiles + 1);
  index_flags body{};
  body.flags = w.elements<uint8_t>(flags);
  body.eights = w.elements<uint64_t>(flags);
  body.n = n;
  body.words = w.data<pack_word>(words);
  body.tiles = w.data<uint64_t>(sums);
  w.run(launch_blocks("index flags", tiles, body));
  if (tiles > KEEP_THREADS)
    w.run(launch_blocks("scan counts", 1, scan_counts{body.tiles, tiles, nullptr}));
  plan.words = words->device;
  plan.tiles = sums->device;
}

/* ---- on the device ---- */

/* The descriptor of the result, its offsets to be written. */
static ref<cvl_segdes> new_segments(work &w, int64_t count, int64_t total) {
  if (count != 1) return w.make_segdes(count, total);
  ref<cvl_segdes> d(new cvl_segdes);
  d->count = 1;
  d->total = total;
  return d;
}

/* How many flags are set, by a wait: a launch that moves nothing tells. */
static void count_now(context &c, uint64_t site, int64_t n, pack_plan &plan) {
  {
    work w(c, site, {}, 0);
    w.on_host = false;
    keep body{};
    body.words = w.elements_of<pack_word>(plan.words);
    body.sums = w.elements_of<int64_t>(plan.tiles);
    body.n = n;
    body.tiles = (n + PACK_TILE - 1) / PACK_TILE;
    body.moves = 1;
    if (!plan.kept) plan.kept = w.later(n, &body.total);
    if (body.total != nullptr) w.run(launch_blocks("count", 1, body));
  }
  plan.count = settle(c, *plan.kept.get());
  plan.counted = true;
}

static void pack_on_device(work &w, const cvl_value &v, const cvl_value &d, int64_t n,
                           pack_plan &plan, cvl_value *out, cvl_value *out_d) {
  if (!plan.counted && plan.kept && plan.kept->known) {
    plan.counted = true;
    plan.count = plan.kept->value;
  }
  const int64_t bound = plan.counted ? plan.count : n;
  const ref<cvl_vector> r = w.make((cvl_elem)v.elem, bound);
  ref<cvl_segdes> kept = known_segments(plan, d);
  const bool segments_known = (bool)kept;
  if (!kept) kept = new_segments(w, count_of(d), bound);
  keep body{};
  body.words = w.elements_of<pack_word>(plan.words);
  body.sums = w.elements_of<int64_t>(plan.tiles);
  body.n = n;
  body.tiles = (n + PACK_TILE - 1) / PACK_TILE;
  body.moves = (n + KEEP_TILE - 1) / KEEP_TILE;
  body.count = 1;
  kept_vector &mine = body.list[0];
  mine.width = (int32_t)elem_info((cvl_elem)v.elem)->bytes;
  mine.from = mine.width == 1   ? retyped<uint64_t>(w.read<uint8_t>(v))
              : mine.width == 4 ? retyped<uint64_t>(w.read<uint32_t>(v))
                                : w.read<uint64_t>(v);
  mine.to = w.data<uint64_t>(r);
  mine.to_the_end = !plan.counted && n <= w.c.small;
  int64_t blocks = body.moves;
  if (!segments_known && kept->count > 1) {
    body.d = w.view(d);
    body.offsets = w.offsets(kept);
    blocks += (kept->count + KEEP_TILE) / KEEP_TILE;
  }
  if (!plan.counted && !plan.kept) plan.kept = w.later(n, &body.total);
  if (!plan.counted) r->size = plan.kept;
  if (!plan.counted && !segments_known) kept->size = plan.kept;
  w.run_joined(launch_blocks("pack", blocks, body), join_keeps);
  note_segments(plan, d, kept);
  w.give(out, r);
  w.give(out_d, kept);
}

/* ---- on the host ---- */

template <class T>
static void pack_on_host(work &w, const cvl_value &v, const cvl_value &flags,
                         const cvl_value &d, pack_plan &plan, cvl_value *out,
                         cvl_value *out_d) {
  const operand<T> values = w.read<T>(v);
  const operand<uint8_t> set = w.read<uint8_t>(flags);
  const segments s = w.view(d);
  plan.count = 0;
  for (int64_t i = 0; i < s.total; i++) plan.count += set[i];
  plan.counted = true;
  const ref<cvl_vector> r = w.make((cvl_elem)v.elem, plan.count);
  const ref<cvl_segdes> kept = w.make_segdes(s.count, plan.count);
  const ptr<T> to = w.data<T>(r);
  const ptr<int64_t> offsets = w.offsets(kept);
  int64_t at = 0;
  offsets[0] = 0;
  for (int64_t k = 0; k < s.count; k++) {
    const int64_t first = s.start(k), end = first + s.length(k);
    for (int64_t i = first; i < end; i++) {
      if (set[i]) to[at++] = values[i];
    }
    offsets[k + 1] = at;
  }
  recognise_equal(*kept.get());
  const ref<cvl_segdes> before = known_segments(plan, d);
  cvl_value seen{};
  seen.form = CVL_SEGDES;
  seen.as.segdes = before.get();
  const bool same = before && at_hand(w.c, seen);
  if (!same) note_segments(plan, d, kept);
  w.give(out, r);
  w.give(out_d, same ? before : kept);
}

/* ---- the operation ---- */

/* Nothing to pack: nothing is kept of any segment. */
static void pack_nothing(work &w, const cvl_value &v, const cvl_value &d, cvl_value *out,
                         cvl_value *out_d) {
  ref<cvl_segdes> kept(new cvl_segdes);
  kept->count = count_of(d);
  kept->equal = 0;
  w.give(out, w.make((cvl_elem)v.elem, 0));
  w.give(out_d, kept);
}

static void pack_here(work &w, const cvl_value &v, const cvl_value &flags, const cvl_value &d,
                      pack_plan &plan, cvl_value *out, cvl_value *out_d) {
  switch (elem_info((cvl_elem)v.elem)->bytes) {
  case 1: pack_on_host<uint8_t>(w, v, flags, d, plan, out, out_d); break;
  case 4: pack_on_host<uint32_t>(w, v, flags, d, plan, out, out_d); break;
  default: pack_on_host<uint64_t>(w, v, flags, d, plan, out, out_d); break;
  }
}

void pack(context &c, uint64_t site, const cvl_value &v, const cvl_value &flags,
          const cvl_value &d, cvl_value *out, cvl_value *out_d) {
  work w(c, site, {&v, &flags, &d}, 0);
  const int64_t n = total_of(c, d);
  const std::shared_ptr<pack_plan> plan = plan_of(flags);
  if (n == 0) {
    pack_nothing(w, v, d, out, out_d);
    return;
  }
  if (w.on_host) {
    pack_here(w, v, flags, d, *plan, out, out_d);
    return;
  }
  index_on_device(c, site, flags, n, *plan);
  try {
    pack_on_device(w, v, d, n, *plan, out, out_d);
  } catch (const failure &) { /* no memory for all; perhaps for what is kept */
    if (plan->counted) throw;
    count_now(c, site, n, *plan);
    pack_on_device(w, v, d, n, *plan, out, out_d);
  }
}

/* ---- what a bound took too much ---- */

namespace {

template <class T> struct same_element {
  ptr<const T> from;
  HD T operator()(int64_t i) const { return from[i]; }
};

} // namespace

/* A copy that moves at most a quarter of the block, and only where that frees megabytes. */
enum : size_t { TRIM_SHARE = 4, TRIM_LEAST = (size_t)16 << 20 };

template <class T> static void copy_elements(context &c, cvl_vector &v, const ref<block> &to) {
  const same_element<T> f{pointer_to<const T>(v.device->at)};
  to->written = c.work_queue.run(
      launch_map("trim", v.length, map_body<same_element<T>, T>{f, pointer_to<T>(to->at)}));
}

void trim(context &c, cvl_vector &v) {
  const size_t width = elem_info(v.elem)->bytes, bytes = (size_t)v.length * width;
  if (!v.device || bytes > v.device->bytes / TRIM_SHARE || v.device->bytes - bytes < TRIM_LEAST)
    return;
  const ref<block> to(c.memory.take_if_easy(place::device, bytes));
  if (!to) return;
  if (width == 1) copy_elements<uint8_t>(c, v, to);
  if (width == 4) copy_elements<uint32_t>(c, v, to);
  if (width == 8) copy_elements<uint64_t>(c, v, to);
  v.device = to;
}

} // namespace ravel
