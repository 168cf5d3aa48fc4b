/* test-memory.cpp - where blocks of memory lie, and how much of the device's memory is held for
 * them: for patterns of allocations, and for contexts. */
#include <algorithm>
#include <map>
#include <memory>
#include <random>

#include "cvl-cuda/context.hpp"
#include "cvl-cuda/emulation/stream.hpp"
#include "cvl-cuda/tests/session.hpp"

using namespace ravel;

enum : size_t { KB = 1 << 10, MB = 1 << 20 };

/* A heap and the queue of the commands that use it. */
struct memory_rig {
  std::unique_ptr<stream> device{emulated_stream(emulation_options())};
  heap memory{device.get()};
  queue work{device.get()};
  std::vector<block *> held;

  explicit memory_rig(uint64_t limit = 0) {
    memory.order = &work;
    memory.limit = limit;
  }
  ~memory_rig() {
    while (!held.empty()) drop(0);
    work.finish();
    cr_expect_eq(memory.live, 0);
  }
  block *take(size_t bytes) {
    held.push_back(memory.take(memory_space::device, bytes, 0));
    return held.back();
  }
  void drop(size_t k) {
    release(held[k]);
    held[k] = held.back();
    held.pop_back();
  }
  /* Releases the last block and returns where it was. */
  char *drop_last() {
    char *at = held.back()->at;
    drop(held.size() - 1);
    return at;
  }
  size_t bytes() const { return memory.of_device.held; }
};

/* ---- ranges ---- */

/* Every range is either in use or free; adjacent free ranges are merged. */
Test(memory, ranges_stay_a_partition) {
  enum { UNITS = 1000, TURNS = 20000 };
  static char region[UNITS * free_ranges::UNIT];
  free_ranges all;
  memory_range *const first = all.add(region, sizeof region);
  std::vector<memory_range *> taken;
  std::minstd_rand random(1);
  for (int turn = 0; turn < TURNS; turn++) {
    if (random() % 2 == 0) {
      const size_t bytes = (1 + random() % (random() % 8 ? 10 : 300)) * free_ranges::UNIT;
      memory_range *r = all.take(bytes, UINT64_MAX);
      if (r) cr_assert_eq(r->bytes, bytes);
      if (r) taken.push_back(r);
    } else if (!taken.empty()) {
      std::swap(taken[random() % taken.size()], taken.back());
      all.give(taken.back());
      taken.pop_back();
    }
    char *at = region;
    size_t in_use = 0;
    for (const memory_range *r = first; r; r = r->behind) {
      cr_assert_eq(r->at, at);
      cr_assert(!r->behind || r->behind->before == r);
      cr_assert(!r->is_free || !r->behind || !r->behind->is_free, "free neighbours");
      at += r->bytes;
      in_use += !r->is_free;
    }
    cr_assert_eq(at, region + sizeof region);
    cr_assert_eq(in_use, taken.size());
  }
  while (!taken.empty()) {
    all.give(taken.back());
    taken.pop_back();
  }
  cr_assert_eq(all.take(sizeof region, UINT64_MAX), first, "all of it is one again");
  free_ranges::end(first);
}

/* ---- which memory ---- */

Test(memory, what_was_freed_last_is_used_first) {
  memory_rig r;
  for (int k = 0; k < 7; k++) r.take(100 * KB);
  r.drop(5); /* apart from each other, so that none merge */
  r.drop(3);
  char *const last = r.held[1]->at;
  r.drop(1);
  r.work.flush();
  cr_assert_eq((void *)r.take(100 * KB)->at, (void *)last);
}

/* Memory that commands of the window use is not reused by small blocks, but is by large
 * ones. */
Test(memory, small_blocks_keep_off_the_window) {
  for (const bool large : {false, true}) {
    memory_rig r;
    const size_t bytes = large ? 9 * MB : 9 * KB;
    r.take(bytes);
    char *const used = r.drop_last();
    const block *next = r.take(bytes);
    cr_assert_eq(next->at == used, large);
    cr_assert_eq(next->free_since >= r.work.first, large);
    if (large) continue;
    r.drop_last();
    r.work.flush();
    cr_assert_lt(r.take(bytes)->free_since, r.work.first);
  }
}

/* Free ranges with nothing between them merge, whatever their sizes were. */
Test(memory, neighbours_of_different_sizes_merge) {
  memory_rig r;
  for (int k = 0; k < 60; k++) r.take((size_t)(1 + k % 5) * 1000 * KB / 3);
  const size_t held = r.bytes();
  while (!r.held.empty()) r.drop(r.held.size() / 2);
  r.work.flush();
  r.take(20 * MB);
  r.take(30 * MB);
  cr_assert_eq(r.bytes(), held);
}

/* ---- how much ---- */

/* Returns the held memory over the peak, for a program in steps that replaces vectors by longer
 * and shorter ones. Each step is some windows. */
static double held_of_peak(unsigned seed, size_t least, size_t most) {
  memory_rig r;
  std::minstd_rand random(seed);
  std::uniform_real_distribution<double> exponent(std::log2((double)least),
                                                  std::log2((double)most));
  for (int step = 0; step < 3000; step++) {
    const size_t wanted = 10 + step / 100 % 7 * 3;
    while (r.held.size() > wanted) r.drop(random() % r.held.size());
    for (int k = 0; k < 4; k++) r.take((size_t)std::exp2(exponent(random)));
    if (random() % 8 == 0) r.work.flush();
  }
  return ((double)r.bytes() - 64 * MB) / (double)r.memory.peak; /* except one region */
}

Test(memory, little_more_is_held_than_the_peak_of_vectors) {
  for (unsigned seed = 1; seed < 6; seed++) {
    const double wide = held_of_peak(seed, KB, 30 * MB),
                 narrow = held_of_peak(seed, 2 * MB, 7 * MB),
                 large = held_of_peak(seed, 8 * MB, 60 * MB);
    cr_expect_leq(wide, 1.6, "%g", wide);
    cr_expect_leq(narrow, 1.5, "%g", narrow);
    cr_expect_leq(large, 1.9, "%g", large); /* a region has room for few of them */
  }
}

/* Within a limit as much is held as that, even if sizes change so that nothing fits. */
Test(memory, regions_return_where_a_limit_would_be_passed) {
  memory_rig r(200 * MB);
  const std::pair<size_t, int> steps[] = {
      {90 * MB, 2}, {60 * MB, 2}, {190 * MB, 1}, {30 * MB, 6}};
  for (const auto &step : steps) {
    for (int k = 0; k < step.second; k++) r.take(step.first);
    cr_assert_leq(r.bytes(), 200 * MB, "%zu bytes", r.bytes());
    while (!r.held.empty()) r.drop(0);
  }
}

/* ---- early memory ---- */

Test(memory, is_there_before_it_is_needed) {
  memory_rig r;
  r.take(KB); /* does not wait for it */
  const size_t at_first = r.bytes();
  cr_assert_leq(at_first, 2 * MB);
  r.memory.begin();
  r.take(2 * MB);
  const size_t held = r.bytes();
  cr_assert_geq(held, at_first + 4 * MB);
  r.take(MB);
  cr_assert_eq(r.bytes(), held);
  ref<block> here(r.memory.take(memory_space::host, MB, 0)), there(here);
  cr_assert_leq(r.memory.pinned.regions.size(), 2);
}

Test(memory, early_memory_is_within_the_limit) {
  memory_rig r(20 * MB);
  r.memory.begin();
  r.take(5 * MB);
  cr_assert_leq(r.bytes(), 20 * MB);
  cr_assert_geq(r.bytes(), 5 * MB);
}

Test(memory, that_nobody_needs_ends) {
  memory_rig r;
  r.memory.begin();
}

Test(memory, what_a_context_holds_is_counted) {
  emulated_session s("small=0");
  const size_t before = s.b->statistics(s.c).held_bytes;
  const cvl_value v = s.upload(ints(100 * MB / 8));
  cr_assert_geq(s.b->statistics(s.c).held_bytes, before + 100 * MB);
  s.b->release(s.c, &v);
  cr_assert_geq(s.b->statistics(s.c).held_bytes, before + 100 * MB, "at most so far");
}
