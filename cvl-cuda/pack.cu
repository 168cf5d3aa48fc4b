/* pack.cu - PACK: the flagged elements, and how many each segment keeps.
 *
 * Flags become words of 64 bits with the number of flags before each (pack_word): that is kept
 * with the flags, so that the next vector packed by them is one launch, which moves
 * E + 0.25 + E k/n bytes for each of n elements, k of them kept. The first time there are one
 * (up to PACK_TILE flags) or two more, 1.25 bytes for each flag. The new offset of a segment is
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

namespace ravel {

/* 64 flags, and the number of those set before them in the tile. */
struct pack_word {
  uint64_t bits;
  int64_t before;
};

/* What is known of some flags. */
struct pack_plan {
  ref<block> words; /* on the device: pack_word for each 64 flags */
  ref<block> tiles; /* int64_t: flags set before each tile; then all. Both null: not made yet */
  ref<pending> kept;    /* how many are set, once it was asked */
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
  bool single;        /* there is but one tile: then */
  ptr<int64_t> total; /* gets the number of all, unless it is null */

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
      tiles[tile] = single ? 0 : before + count[t];
      if (!single) return;
      tiles[1] = before + count[t];
      if (total != nullptr) *total = (int64_t)(before + count[t]);
    });
  }
};

/* How many flags are set before flag i. */
struct flag_ranks {
  ptr<const pack_word> words;
  ptr<const uint64_t> tiles;
  int64_t n;

  HD int64_t all() const { return (int64_t)tiles[(n + PACK_TILE - 1) / PACK_TILE]; }
  HD int64_t operator()(int64_t i) const {
    if (i == n) return all();
    const pack_word w = words[i >> 6];
    return (int64_t)tiles[i / PACK_TILE] + w.before + below(w, i);
  }
  /* Flags of its word that are set before flag i. */
  HD static int64_t below(const pack_word &w, int64_t i) {
    return count_bits(w.bits & (((uint64_t)1 << (i & 63)) - 1));
  }
};

enum { KEEP_THREADS = 256, KEEP_EACH = 8, KEEP_TILE = KEEP_THREADS * KEEP_EACH };

/* The elements, in the first `moves` blocks; in those after them the new offsets. */
template <class T> struct keep {
  enum { threads = KEEP_THREADS };
  struct shared {};
  operand<T> values;
  flag_ranks ranks;
  ptr<T> out;
  int64_t moves;
  bool to_the_end; /* write also the places after the last one kept: they go to the host */
  segments d;
  ptr<int64_t> offsets;

  template <class B> HD void operator()(B &block) const {
    const int64_t b = block.index();
    if (b < moves) {
      block.each([&](int t) { move(b, t); });
    } else {
      block.each([&](int t) { put_offsets((b - moves) * KEEP_TILE + t); });
    }
  }
  /* A warp moves neighbours, KEEP_EACH to a thread, all of the same few words. */
  HD void move(int64_t tile, int t) const {
    enum { WORDS = KEEP_EACH * WARP / 64 };
    const int64_t first = tile * KEEP_TILE + t / WARP * (KEEP_EACH * WARP);
    const int64_t lane = t % WARP, last_word = (ranks.n - 1) >> 6;
    const int64_t before = (int64_t)ranks.tiles[first / PACK_TILE];
    pack_word w[WORDS];
    T x[KEEP_EACH];
    int64_t to[KEEP_EACH];
    for (int k = 0; k < WORDS; k++) {
      const int64_t word = (first >> 6) + k;
      w[k] = ranks.words[word < last_word ? word : last_word];
    }
    for (int r = 0; r < KEEP_EACH; r++) {
      const int64_t i = first + r * WARP + lane;
      const pack_word &mine = w[r * WARP / 64];
      to[r] = -1;
      if (i >= ranks.n || (mine.bits >> (i & 63) & 1) == 0) continue;
      to[r] = before + mine.before + flag_ranks::below(mine, i);
      x[r] = values[i];
    }
    for (int r = 0; r < KEEP_EACH; r++) {
      if (to[r] >= 0) out[to[r]] = x[r];
    }
    if (!to_the_end) return;
    const int64_t kept = ranks.all();
    for (int r = 0; r < KEEP_EACH; r++) {
      const int64_t i = first + r * WARP + lane;
      if (i >= kept && i < ranks.n) out[i] = 0;
    }
  }
  HD void put_offsets(int64_t first) const {
    int64_t x[KEEP_EACH];
    for (int r = 0; r < KEEP_EACH; r++) {
      const int64_t s = first + r * threads;
      x[r] = s > d.count ? 0 : ranks(s == d.count ? ranks.n : d.start(s));
    }
    for (int r = 0; r < KEEP_EACH; r++) {
      const int64_t s = first + r * threads;
      if (s <= d.count) offsets[s] = x[r];
    }
  }
};

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
  body.single = tiles == 1;
  ptr<int64_t> total = nullptr;
  if (!plan.counted) plan.kept = w.later(n, &total);
  if (body.single) body.total = total;
  w.run(launch_blocks("index flags", tiles, body));
  if (!body.single)
    w.run(launch_blocks("scan counts", 1, scan_counts{body.tiles, tiles, total}));
  plan.words = words->device;
  plan.tiles = sums->device;
}

/* ---- on the device ---- */

/* Memory for what is kept: as much as there are elements, while nobody knows. If that cannot be
 * had somebody has to. */
static ref<cvl_vector> memory_for(work &w, cvl_elem elem, pack_plan &plan) {
  if (!plan.counted && plan.kept->known) {
    plan.counted = true;
    plan.count = plan.kept->value;
  }
  if (!plan.counted) {
    try {
      const ref<cvl_vector> r = w.make(elem, plan.kept->bound);
      r->size = plan.kept;
      return r;
    } catch (const failure &) {
      plan.count = settle(w.c, *plan.kept.get());
      plan.counted = true;
    }
  }
  return w.make(elem, plan.count);
}

/* The descriptor of the result, its offsets to be written. */
static ref<cvl_segdes> new_segments(work &w, int64_t count, const pack_plan &plan) {
  const int64_t total = plan.counted ? plan.count : plan.kept->bound;
  ref<cvl_segdes> d;
  if (count == 1) {
    d = ref<cvl_segdes>(new cvl_segdes);
    d->count = 1;
    d->total = total;
  } else {
    d = w.make_segdes(count, total);
  }
  if (!plan.counted) d->size = plan.kept;
  return d;
}

/* T only has the width of the elements. */
template <class T>
static void pack_on_device(work &w, const cvl_value &v, const cvl_value &d, int64_t n,
                           pack_plan &plan, cvl_value *out, cvl_value *out_d) {
  keep<T> body{};
  const ref<cvl_vector> r = memory_for(w, (cvl_elem)v.elem, plan);
  ref<cvl_segdes> kept = known_segments(plan, d);
  const bool segments_known = (bool)kept;
  if (!kept) kept = new_segments(w, count_of(d), plan);
  body.values = w.read<T>(v);
  body.ranks = {w.elements_of<pack_word>(plan.words), w.elements_of<uint64_t>(plan.tiles), n};
  body.out = w.data<T>(r);
  body.moves = (n + KEEP_TILE - 1) / KEEP_TILE;
  body.to_the_end = r->size && r->length <= w.c.small;
  int64_t blocks = body.moves;
  if (!segments_known && kept->count > 1) {
    body.d = w.view(d);
    body.offsets = w.offsets(kept);
    blocks += (kept->count + KEEP_TILE) / KEEP_TILE;
  }
  w.run(launch_blocks("pack", blocks, body));
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

template <class T>
static void pack_width(context &c, uint64_t site, const cvl_value &v, const cvl_value &flags,
                       const cvl_value &d, cvl_value *out, cvl_value *out_d) {
  work w(c, site, {&v, &flags, &d}, 0);
  const int64_t n = total_of(c, d);
  const std::shared_ptr<pack_plan> plan = plan_of(flags);
  if (n == 0) {
    pack_nothing(w, v, d, out, out_d);
  } else if (w.on_host) {
    pack_on_host<T>(w, v, flags, d, *plan, out, out_d);
  } else {
    index_on_device(c, site, flags, n, *plan);
    pack_on_device<T>(w, v, d, n, *plan, out, out_d);
  }
}

void pack(context &c, uint64_t site, const cvl_value &v, const cvl_value &flags,
          const cvl_value &d, cvl_value *out, cvl_value *out_d) {
  switch (elem_info((cvl_elem)v.elem)->bytes) {
  case 1: pack_width<uint8_t>(c, site, v, flags, d, out, out_d); break;
  case 4: pack_width<uint32_t>(c, site, v, flags, d, out, out_d); break;
  default: pack_width<uint64_t>(c, site, v, flags, d, out, out_d); break;
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
