/* require.cu - requires that a deferred size equals a number that the host knows. The host goes
 * on with that number, and the device checks it by one launch of one block.
 *
 * If it is wrong, that is a fault, which ends the program at the next wait. Until then nothing
 * may read or write outside of its memory: in a descriptor with a wrong total the last segment
 * gets all elements. Commands before the requirement see the descriptors as they were.
 */
#include "cvl-cuda/ops.hpp"

namespace ravel {

namespace {

struct require_body {
  enum { threads = 128 };
  struct shared {};
  ptr<const int64_t> at;
  bool narrow; /* the number is an INT of 32 bits */
  int64_t n, rule, count;
  bool first;
  ptr<int64_t> offsets, kept, longest; /* null: there are none */
  faults bad;

  HD int64_t number() const {
    const int64_t x = at[0];
    return narrow ? (int64_t)(int32_t)x : x;
  }
  template <class B> HD void operator()(B &block) const {
    block.each([&](int t) {
      const int64_t x = number();
      if (x == n) return;
      if (t == 0) bad.report(CVL_E_SIZE, rule, first ? x : n, first ? n : x, 0);
      if (t == 0 && longest != nullptr) atomic_max(longest, n);
      if (offsets == nullptr) return;
      for (int64_t k = t; k <= count; k += threads) {
        kept[k] = (int64_t)offsets[k];
        offsets[k] = k == count ? n : 0;
      }
    });
  }
};

} // namespace

/* Copies to the host once more, since a copy under way may have the old contents. */
static void mirror_again(context &c, const ref<block> &to, const ref<block> &from, size_t bytes,
                         uint64_t &arrives) {
  if (!to || arrives == c.work_queue.epoch) return;
  arrives = c.work_queue.epoch;
  c.work_queue.mirror(to, from, bytes);
}

/* Launches the check of a number that has this requirement, for the descriptor x or for
 * none. */
static void launch_requirement(context &c, const deferred &p, const requirement &must,
                               const counted_segdes *x) {
  work w(c, must.site, {}, INT64_MAX);
  require_body body{};
  body.at = w.elements_of<int64_t>(p.at);
  body.narrow = p.of && c.int_elem == CVL_I32;
  body.n = must.n;
  body.rule = size_rule_position(must.rule);
  body.first = must.first;
  body.bad = w.bad();
  if (x == nullptr) {
    w.run(launch_blocks_on_device("require", 1, body));
    return;
  }
  cvl_segdes &d = *x->d;
  deferred *const longest =
      d.longest_later && !d.longest_later->known ? d.longest_later.get() : nullptr;
  body.count = d.count;
  body.offsets = w.changed<int64_t>(d.device_offsets);
  body.kept = w.changed<int64_t>(x->offsets);
  if (longest) body.longest = w.changed<int64_t>(longest->at);
  w.run(launch_blocks_on_device("require", 1, body));
  mirror_again(c, d.host_offsets, d.device_offsets, (size_t)(d.count + 1) * sizeof(int64_t),
               d.arrives);
  if (longest) mirror_again(c, longest->mirror, longest->at, sizeof(int64_t), longest->epoch);
}

/* Finds memory for the offsets of descriptors with this total. Returns false if there is none
 * left. */
static bool find_memory(context &c, deferred &p) {
  for (counted_segdes &x : p.totals) {
    const size_t bytes = (size_t)(x.d->count + 1) * sizeof(int64_t);
    if (!x.offsets) x.offsets = ref<block>(c.memory.try_take(memory_space::device, bytes));
    if (!x.offsets) return false;
  }
  return true;
}

void require_again(context &c, uint64_t site, const ref<deferred> &p) {
  if (!p->required) return;
  if (!find_memory(c, *p.get())) fail(CVL_E_MEMORY, site);
  launch_requirement(c, *p.get(), p->must, &p->totals.back());
}

bool require_size(context &c, const ref<deferred> &p, const requirement &must) {
  if (must.n > p->bound || (p->counts_elements && must.n > 0)) return false;
  if (!find_memory(c, *p.get())) return false;
  for (const counted_segdes &x : p->totals) launch_requirement(c, *p.get(), must, &x);
  if (p->totals.empty()) launch_requirement(c, *p.get(), must, nullptr);
  is_required(c, p, must);
  return true;
}

} // namespace ravel
