/* pack.cu - PACK: the flagged elements, and how many each segment keeps.
 *
 * Flags become words of 64 bits with the number of flags before each (pack_word). These are
 * kept with the flags, so that the next vector packed by them takes one launch. It moves E +
 * 0.25 + E k/n bytes for each of n elements, k of them kept. It may join a launch that is still
 * in the window, also one that packs by other flags. The first vector takes one launch more
 * (two from 2^22 flags on), of 1.25 bytes for each flag, which may join one of other flags. The
 * new offset of a segment is the number of flags set before its start, so empty segments cost
 * nothing more.
 *
 * The number of kept elements stays on the device until it is needed. Until then, results have
 * memory for all elements. All vectors packed by the same flags share one deferred number, and
 * those under the same descriptor share one new descriptor.
 */
#include <string.h>

#include "cvl-cuda/counts.hpp"
#include "cvl-cuda/ops.hpp"
#include "cvl-cuda/pack-kernels.hpp"

namespace ravel {

/* The results of PACK that depend on the flags only. */
struct pack_plan {
  ref<block> words;   /* on the device: pack_word for each 64 flags */
  ref<block> tiles;   /* int64_t: flags set in each tile; or, from KEEP_THREADS tiles on, before
                         each; then all. Both null: not made yet */
  ref<deferred> kept; /* how many are set, once it was asked */
  bool counted = false; /* `count` is the number of set flags */
  int64_t count = 0;
  ref<cvl_segdes> d, out; /* the last descriptor, null: one segment; and its result */
};

namespace {

/* Adds more flags to a launch that makes words of them. */
bool join_flags(void *waiting, launch *l, const void *body) {
  index_flags &x = *(index_flags *)waiting;
  const index_flags &y = *(const index_flags *)body;
  if (x.count == index_flags::most) return false;
  x.list[x.count] = y.list[0];
  x.list[x.count++].first = l->count;
  l->count += (y.list[0].n + PACK_TILE - 1) / PACK_TILE;
  return true;
}

/* Returns the number of blocks that flags take. */
int64_t keep_blocks(const kept_flags &f) {
  return f.moves + (f.offsets != nullptr ? (f.d.count + KEEP_TILE) / KEEP_TILE : 0);
}

/* Adds one more vector to a launch that packs by the same flags, or by others. */
bool join_keeps(void *waiting, launch *l, const void *body) {
  keep &x = *(keep *)waiting;
  const keep &y = *(const keep *)body;
  const kept_flags &f = y.flags[0];
  int32_t by = 0;
  while (by < x.flags_count && (x.flags[by].words != f.words || f.offsets != nullptr ||
                                f.total != nullptr || x.flags[by].moves != f.moves))
    by++;
  if (x.count == MOST_KEPT || by == MOST_FLAGS) return false;
  if (by == x.flags_count) {
    x.flags[x.flags_count++] = f;
    x.flags[by].first = l->count;
    l->count += keep_blocks(f);
  }
  x.list[x.count] = y.list[0];
  x.list[x.count++].by = by;
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

/* Returns the descriptor of the result of packing under d by these flags; null if unknown. */
static ref<cvl_segdes> pack_known_segments(const pack_plan &plan, const cvl_value &d) {
  const cvl_segdes *segments = d.form == CVL_SEGDES ? d.as.segdes : nullptr;
  return plan.d.get() == segments ? plan.out : ref<cvl_segdes>();
}

static void note_segments(pack_plan &plan, const cvl_value &d, const ref<cvl_segdes> &out) {
  plan.d = d.form == CVL_SEGDES ? ref<cvl_segdes>::to(d.as.segdes) : ref<cvl_segdes>();
  plan.out = out;
}

/* Makes the words of the flags unless they exist. */
static void index_on_device(context &c, uint64_t site, const cvl_value &flags, int64_t n,
                            pack_plan &plan) {
  if (plan.words) return;
  work w(c, site, {}, 0);
  w.on_host = false;
  const int64_t tiles = (n + PACK_TILE - 1) / PACK_TILE;
  const ref<cvl_vector> words = w.make(CVL_I64, tiles * INDEX_THREADS * 2);
  const ref<cvl_vector> sums = w.make(CVL_I64, tiles + 1);
  index_flags body{};
  flags_to_index &x = body.list[body.count++];
  x.flags = w.read<uint8_t>(flags);
  if (x.flags.kind == FROM_MEMORY && begins_word(x.flags.data))
    x.eights = w.elements<uint64_t>(flags);
  x.n = n;
  x.words = w.data<pack_word>(words);
  x.tiles = w.data<uint64_t>(sums);
  w.run_joined(launch_blocks("index flags", tiles, body), join_flags);
  if (tiles > KEEP_THREADS)
    w.run(launch_blocks("scan counts", 1, scan_counts{x.tiles, tiles, nullptr}));
  plan.words = words->device;
  plan.tiles = sums->device;
}

/* ---- on the device ---- */

/* Segments of the result are at most as long as before: so is the longest. */
ref<cvl_segdes> packed_segments(work &w, const cvl_value &before, int64_t total) {
  if (count_of(before) != 1) {
    const cvl_segdes &s = *before.as.segdes;
    const ref<cvl_segdes> d = w.make_segdes(s.count, total);
    d->longest = s.equal >= 0 ? s.equal : s.longest;
    d->longest_later = s.longest_later;
    return d;
  }
  ref<cvl_segdes> d(new cvl_segdes);
  d->count = 1;
  d->total = total;
  return d;
}

/* Gives the words of flags to a kernel that packs by them. */
static void find_words(work &w, int64_t n, const pack_plan &plan, kept_flags &f) {
  f.words = w.elements_of<pack_word>(plan.words);
  f.sums = w.elements_of<int64_t>(plan.tiles);
  f.n = n;
  f.tiles = (n + PACK_TILE - 1) / PACK_TILE;
}

/* Waits for the number of flags that are set, by a launch that moves nothing. */
static void count_now(context &c, uint64_t site, int64_t n, pack_plan &plan) {
  {
    work w(c, site, {}, 0);
    w.on_host = false;
    keep body{};
    kept_flags &f = body.flags[body.flags_count++];
    find_words(w, n, plan, f);
    f.moves = 1;
    if (!plan.kept) plan.kept = w.later(n, &f.total);
    if (f.total != nullptr) w.run(launch_blocks("count", 1, body));
  }
  plan.count = settle(c, *plan.kept.get());
  plan.counted = true;
}

static void pack_on_device(work &w, const cvl_value &v, const cvl_value &d, int64_t n,
                           pack_plan &plan, cvl_value *out, cvl_value *out_d) {
  /* A number that is only required proves nothing about the flags: the memory for all elements
   * stays. */
  if (!plan.counted && plan.kept && plan.kept->known && !plan.kept->required) {
    plan.counted = true;
    plan.count = plan.kept->value;
  }
  const int64_t bound = plan.counted ? plan.count : n;
  const ref<cvl_vector> r = w.make((cvl_elem)v.elem, bound);
  ref<cvl_segdes> kept = pack_known_segments(plan, d);
  const bool segments_known = (bool)kept;
  if (!kept) kept = packed_segments(w, d, bound);
  keep body{};
  kept_flags &f = body.flags[body.flags_count++];
  find_words(w, n, plan, f);
  f.moves = (n + KEEP_TILE - 1) / KEEP_TILE;
  body.count = 1;
  kept_vector &mine = body.list[0];
  mine.width = (int32_t)elem_info((cvl_elem)v.elem)->bytes;
  mine.from = mine.width == 1   ? retyped<uint64_t>(w.read<uint8_t>(v))
              : mine.width == 4 ? retyped<uint64_t>(w.read<uint32_t>(v))
                                : w.read<uint64_t>(v);
  mine.to = w.data<uint64_t>(r);
  mine.to_the_end = !plan.counted && n <= w.c.small;
  if (!segments_known && kept->count > 1) {
    f.d = w.view(d);
    f.offsets = w.offsets(kept);
  }
  if (!plan.counted && !plan.kept) plan.kept = w.later(n, &f.total);
  if (!plan.counted) {
    plan.kept->counts_elements = true;
    r->size = plan.kept;
  }
  if (!plan.counted && !segments_known) kept->size = plan.kept;
  w.run_joined(launch_blocks("pack", keep_blocks(f), body), join_keeps);
  if (f.offsets != nullptr && !plan.counted) {
    has_total(*kept.get(), plan.kept);
    require_again(w.c, w.site, plan.kept);
  }
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
  const ref<cvl_segdes> before = pack_known_segments(plan, d);
  cvl_value seen{};
  seen.form = CVL_SEGDES;
  seen.as.segdes = before.get();
  const bool same = before && at_hand(w.c, seen);
  if (!same) note_segments(plan, d, kept);
  w.give(out, r);
  w.give(out_d, same ? before : kept);
}

/* ---- the operation ---- */

/* Gives the result if there are no elements: all its segments are empty. */
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
  } catch (const failure &) { /* memory may suffice for the kept elements */
    if (plan->counted || (plan->kept && plan->kept->required)) throw;
    count_now(c, site, n, *plan);
    pack_on_device(w, v, d, n, *plan, out, out_d);
  }
}

/* ---- memory that the bound took and the result does not need ---- */

namespace {

template <class T> struct same_element {
  ptr<const T> from;
  HD T operator()(int64_t i) const { return from[i]; }
};

} // namespace

/* The copy moves at most a quarter of the block, and is made only if it frees megabytes. */
enum : size_t { TRIM_RATIO = 4, TRIM_LEAST = (size_t)16 << 20 };

template <class T>
static void pack_copy_elements(context &c, cvl_vector &v, const ref<block> &to) {
  const same_element<T> f{pointer_to<const T>(v.device->at)};
  to->written = c.work_queue.run(
      launch_map("trim", v.length, map_body<same_element<T>, T>{f, pointer_to<T>(to->at)}));
}

void trim(context &c, cvl_vector &v) {
  const size_t width = elem_info(v.elem)->bytes, bytes = (size_t)v.length * width;
  if (!v.device || bytes > v.device->bytes / TRIM_RATIO || v.device->bytes - bytes < TRIM_LEAST)
    return;
  const ref<block> to(c.memory.try_take(memory_space::device, bytes));
  if (!to) return;
  if (width == 1) pack_copy_elements<uint8_t>(c, v, to);
  if (width == 4) pack_copy_elements<uint32_t>(c, v, to);
  if (width == 8) pack_copy_elements<uint64_t>(c, v, to);
  v.device = to;
}

} // namespace ravel
