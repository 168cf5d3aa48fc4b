/* test-fault-slot.cpp - of several faults the error slot (prelude.hpp) keeps the one at the
 * lowest site and position: in any order, by threads at the same time, and if it is seen
 * half-written.
 */
#include <criterion/criterion.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

static void fault_slot_step();
#define RAVEL_STEP fault_slot_step()
#include "cvl-cuda/pointer.hpp"

extern "C" {
#include "cvl/cvl.h"
}

using namespace ravel;

struct fault {
  uint64_t site;
  int32_t kind;
  int64_t position;
};

/* The other fields of a fault follow from its position, so that a mixture of two is found. */
static void fault_slot_report(fault_slot *slot, const fault &f) {
  faults{slot, f.site}.report(f.kind, f.position, f.position + 1, f.position + 2,
                              f.position + 3);
}

static void expect_kept(const fault_slot &s, const fault &f, const char *when) {
  cr_assert_eq(s.version % 2, 0, "%s: locked", when);
  cr_assert_eq(s.site, f.site, "%s: site %d", when, (int)s.site);
  cr_assert_eq(s.kind, f.kind, "%s: kind %d", when, (int)s.kind);
  cr_assert_eq(s.position, f.position, "%s: position %d", when, (int)s.position);
  cr_assert_eq(s.value, f.position + 1, "%s: value %d", when, (int)s.value);
  cr_assert_eq(s.limit, f.position + 2, "%s: limit %d", when, (int)s.limit);
  cr_assert_eq(s.segment, f.position + 3, "%s: segment %d", when, (int)s.segment);
}

/* Faults from the one that is kept to the one that gives way to all. */
static const std::vector<fault> by_rank = {
    {2, CVL_E_INDEX, 7},      {2, CVL_E_INDEX, 40}, {2, CVL_E_DUPLICATE, 3},
    {2, CVL_E_DUPLICATE, 30}, {5, CVL_E_INDEX, 0},  {UINT64_MAX - 1, CVL_E_INDEX, 1}};

Test(fault_slot, keeps_the_first_whatever_the_order) {
  std::vector<size_t> order = {0, 1, 2, 3, 4, 5};
  do {
    fault_slot slot{};
    size_t best = order[0];
    for (size_t k : order) {
      best = std::min(best, k);
      fault_slot_report(&slot, by_rank[k]);
      expect_kept(slot, by_rank[best], "in order");
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

/* Only the version shows whether something was written. */
Test(fault_slot, is_not_locked_by_what_comes_later) {
  fault_slot slot{};
  fault_slot_report(&slot, by_rank[1]);
  cr_assert_eq(slot.version, 2);
  for (size_t k = 1; k < by_rank.size(); k++) fault_slot_report(&slot, by_rank[k]);
  cr_assert_eq(slot.version, 2);
  fault_slot_report(&slot, by_rank[0]);
  cr_assert_eq(slot.version, 4);
}

/* A thread may see the new site with the old position, which is lower than its own. It must not
 * leave, since it comes before the position that is about to be written. */
Test(fault_slot, seen_half_written_is_looked_at_again) {
  const fault old{5, CVL_E_INDEX, 3}, next{2, CVL_E_INDEX, 100}, mine{2, CVL_E_INDEX, 50};
  fault_slot slot{};
  fault_slot_report(&slot, old);
  const uint32_t version = slot.version;
  stored(&slot.version, version + 1);
  stored(&slot.site, next.site);
  std::atomic<bool> started{false};
  std::thread other([&] {
    started = true;
    fault_slot_report(&slot, mine);
  });
  while (!started) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  faults{&slot, 0}.write({0, next.kind, next.site, next.position, 101, 102, 103});
  fence();
  stored(&slot.version, version + 2);
  other.join();
  expect_kept(slot, mine, "half-written");
}

/* ---- threads at the same time, with interleaved steps ---- */

enum { THREADS = 3, STACK = 1 << 16 };

/* Coroutines instead of threads: the schedules are random, but every run has the same ones. */
struct schedule {
  ucontext_t main, thread[THREADS];
  std::vector<char> stack[THREADS];
  fault_slot *slot;
  std::vector<fault> reports[THREADS];
  bool runs[THREADS];
  unsigned now = 0;
};
static schedule *scheduled;

static void fault_slot_step() {
  if (scheduled) swapcontext(&scheduled->thread[scheduled->now], &scheduled->main);
}

static void run_thread() {
  const unsigned t = scheduled->now;
  for (const fault &f : scheduled->reports[t]) fault_slot_report(scheduled->slot, f);
  scheduled->runs[t] = false;
}

static void fault_slot_run_all(schedule &s, std::minstd_rand &random) {
  for (unsigned t = 0; t < THREADS; t++) {
    getcontext(&s.thread[t]);
    s.stack[t].resize(STACK);
    s.thread[t].uc_stack.ss_sp = s.stack[t].data();
    s.thread[t].uc_stack.ss_size = STACK;
    s.thread[t].uc_link = &s.main;
    makecontext(&s.thread[t], run_thread, 0);
    s.runs[t] = true;
  }
  scheduled = &s;
  while (s.runs[0] || s.runs[1] || s.runs[2]) {
    s.now = random() % THREADS;
    if (s.runs[s.now]) swapcontext(&s.main, &s.thread[s.now]);
  }
  scheduled = nullptr;
}

/* The slot holds a late site with a low position. Sites and positions are few, so that threads
 * often differ in the position alone. */
Test(fault_slot, keeps_the_first_of_threads_whatever_their_schedule) {
  enum { SCHEDULES = 20000, EACH = 2 };
  std::minstd_rand random(1);
  schedule s;
  for (int k = 0; k < SCHEDULES; k++) {
    fault_slot slot{}, first{};
    const auto note = [&](const fault &f) { /* by the rule, without a lock */
                                            const fault_slot x{0, f.kind, f.site, f.position,
                                                               0, 0,      0};
                                            if (faults::comes_first(x, first)) first = x;
    };
    fault_slot_report(&slot, {9, CVL_E_INDEX, -1});
    s.slot = &slot;
    for (std::vector<fault> &of : s.reports) {
      of.clear();
      for (int e = 0; e < EACH; e++)
        of.push_back({1 + random() % 3, random() % 4 ? CVL_E_INDEX : CVL_E_DUPLICATE,
                      (int64_t)(random() % 6)});
      for (const fault &f : of) note(f);
    }
    fault_slot_run_all(s, random);
    expect_kept(slot, {first.site, first.kind, first.position}, "scheduled");
  }
}

/* This runs threads by the processors' own schedules. */
Test(fault_slot, keeps_the_first_of_threads_at_the_same_time) {
  enum { MANY = 200000 };
  fault_slot slot{};
  const auto run = [&](int64_t t) {
    for (int64_t k = MANY; k > 0; k--)
      fault_slot_report(&slot, {3, CVL_E_INDEX, THREADS * k + t});
  };
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < THREADS; t++) threads.emplace_back(run, t);
  for (std::thread &t : threads) t.join();
  expect_kept(slot, {3, CVL_E_INDEX, THREADS}, "at the same time");
}
