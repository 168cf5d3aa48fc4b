/* test-time.cpp - the time of kernels: spans over a clock that tests set (spans.hpp), and the
 * times that statistics() gives for an emulated device. */
#include <string.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cvl-cuda/spans.hpp"
#include "cvl-cuda/tests/session.hpp"

using namespace ravel;

/* ---- spans over a device whose clock the tests set ---- */

/* A host that issues commands at `now`, and a device that executes them in order, as soon as it
 * can. Events are numbered as they are recorded; `done` is how many are known to have
 * passed. */
struct test_device final : event_clock {
  uint64_t now = 0, free = 0; /* free: when the device has finished its commands */
  uint64_t last = 0, done = UINT64_MAX;
  uint64_t made = 0, ended = 0, holds = 0;
  bool loads = false;               /* somebody loads kernels */
  uint64_t fail_at = 0, called = 0; /* the call that fails, with all after it */
  bool held = false;
  struct when {
    uint64_t number, time;
  };
  std::map<event, when> recorded;
  std::vector<std::function<void()>> waiting; /* commands while it is held */

  bool fails() { return fail_at > 0 && ++called >= fail_at; }
  void issue(const std::function<void()> &work) {
    if (held) {
      waiting.push_back(work);
      return;
    }
    free = std::max(free, now);
    work();
  }
  event make_event() override { return fails() ? nullptr : (event)(uintptr_t)++made; }
  void end_event(event) override { ended++; }
  bool record(event e, const char *) override {
    if (fails()) return false;
    const uint64_t number = ++last;
    recorded[e] = {UINT64_MAX, 0};
    issue([=] { recorded[e] = {number, free}; });
    return true;
  }
  bool elapsed(event from, event to, uint64_t *ns) override {
    if (fails() || recorded[to].number == UINT64_MAX || recorded[to].number > done)
      return false;
    *ns = recorded[to].time - recorded[from].time;
    return true;
  }
  bool may_hold() override { return !loads; }
  void hold() override {
    held = true;
    holds++;
  }
  void let_go() override {
    held = false;
    free = std::max(free, now);
    for (const auto &work : waiting) work();
    waiting.clear();
  }
};

enum { HOST = 1000 }; /* the host's time to issue one command */

/* Issues a launch that takes the device so long. */
static void time_launch_of(spans &s, test_device &d, uint64_t ns, bool is_first = false) {
  s.launches("test", is_first);
  d.now += HOST;
  d.issue([&d, ns] { d.free += ns; });
}
static void time_copy_of(spans &s, test_device &d, uint64_t ns) {
  s.ends();
  d.now += HOST;
  d.issue([&d, ns] { d.free += ns; });
}
static void time_window_of(spans &s, test_device &d, uint64_t ns) {
  time_launch_of(s, d, ns);
  s.window_ends();
}

Test(time, is_that_of_launches_without_the_host) {
  test_device d;
  spans s(d);
  for (int k = 0; k < 10; k++) {
    time_launch_of(s, d, 5);
    time_window_of(s, d, 6);
  }
  cr_assert_eq(s.ns, 0);
  s.collect();
  cr_assert_eq(s.ns, 110);
  s.collect();
  cr_assert_eq(s.ns, 110, "spans are read twice");
  cr_assert_eq(d.holds, 10, "a window holds the device once");
  cr_assert_eq(d.last, 20, "two events for launches one behind the other");
  s.end();
}

Test(time, is_not_that_of_copies) {
  test_device d;
  spans s(d);
  time_copy_of(s, d, 70000);
  s.window_ends();
  cr_assert_eq(d.holds, 0, "nothing is measured");
  time_copy_of(s, d, 70000);
  time_launch_of(s, d, 5);
  time_copy_of(s, d, 80000);
  time_copy_of(s, d, 80000);
  time_launch_of(s, d, 6);
  time_window_of(s, d, 7);
  s.collect();
  cr_assert_eq(s.ns, 18);
  cr_assert_eq(d.holds, 1);
  s.end();
}

/* If the device is not let go, this waits until it is. */
Test(time, windows_let_the_device_go) {
  test_device d;
  spans s(d);
  time_launch_of(s, d, 5);
  time_copy_of(s, d, 8);
  s.window_ends();
  cr_assert_not(d.held);
  s.collect();
  cr_assert_eq(s.ns, 5);
  s.end();
}

/* A load waits for the device. It may come with any launch that is the first of its kernel. */
Test(time, nothing_is_held_from_the_first_launch_of_a_kernel_on) {
  test_device d;
  spans s(d);
  time_launch_of(s, d, 5);
  cr_assert(d.held);
  time_copy_of(s, d, 8);
  s.launches("new", true);
  cr_assert_not(d.held, "the launch may load its kernel, which waits for the device");
  s.ends();
  time_launch_of(s, d, 5);
  cr_assert_not(d.held);
  s.window_ends();
  time_launch_of(s, d, 5);
  cr_assert(d.held, "the next window");
  s.window_ends();
  cr_assert_eq(d.holds, 2);
  s.end();
}

Test(time, nothing_is_held_while_kernels_are_loaded) {
  test_device d;
  spans s(d);
  d.loads = true;
  time_window_of(s, d, 5);
  cr_assert_eq(d.holds, 0);
  d.loads = false;
  time_launch_of(s, d, 5);
  cr_assert(d.held);
  d.loads = true; /* it began meanwhile */
  time_launch_of(s, d, 5);
  cr_assert_not(d.held);
  s.window_ends();
  cr_assert_eq(d.holds, 1);
  s.end();
}

Test(time, of_what_has_not_passed_is_left_for_later) {
  test_device d;
  spans s(d);
  for (int k = 0; k < 4; k++) time_window_of(s, d, 7);
  d.done = 5; /* two launches, and the begin of the third */
  s.collect();
  cr_assert_eq(s.ns, 14);
  d.done = UINT64_MAX;
  s.collect();
  cr_assert_eq(s.ns, 28);
  s.end();
}

Test(time, events_are_used_again_and_given_back) {
  test_device d;
  spans s(d);
  for (int k = 0; k < 100 * spans::MOST; k++) time_window_of(s, d, 3);
  s.collect();
  cr_assert_eq(s.ns, 300u * spans::MOST);
  cr_assert_eq(d.made, 2u * spans::MOST);
  s.end();
  cr_assert_eq(d.ended, d.made);
}

/* The device works through without a pause, as it does when so much is queued. */
Test(time, of_more_launches_than_events_is_the_time_of_all) {
  enum { LAUNCHES = 3 * spans::MOST };
  test_device d;
  spans s(d);
  d.done = 0;
  for (int k = 0; k < LAUNCHES; k++) time_window_of(s, d, 11 * HOST);
  s.collect();
  cr_assert_eq(s.ns, 0);
  d.done = UINT64_MAX;
  s.collect();
  cr_assert_eq(s.ns, 11u * HOST * LAUNCHES);
  d.now = d.free + 500;
  time_window_of(s, d, 11);
  s.collect();
  cr_assert_eq(s.ns, 11u * HOST * LAUNCHES + 11);
  s.end();
}

/* Whichever call fails, no time is made up, and everything that was made is given back. */
Test(time, a_clock_that_fails_adds_nothing) {
  for (uint64_t n = 1; n < 60; n++) {
    test_device d;
    spans s(d);
    d.fail_at = n;
    for (int k = 0; k < 5; k++) {
      time_window_of(s, d, 5);
      s.collect();
    }
    cr_assert_eq(s.ns % 5, 0);
    cr_assert_leq(s.ns, 25);
    cr_assert_not(d.held);
    s.end();
    cr_assert_eq(d.ended, d.made, "call %d", (int)n);
  }
}

/* ---- times that statistics() gives ---- */

enum { N = 50000 };

/* Returns statistics of sums of sums: launches, waits, and the small results of both. */
static cvl_statistics work_of(const char *how, bool measure) {
  emulated_session s(how, measure);
  const cvl_value v = s.upload(ints(N, 3)), d = {CVL_ONE_SEGMENT, 0, 0, {.one_segment = N}};
  for (int k = 0; k < 5; k++) {
    const cvl_value of[] = {v, v};
    cvl_value sum{}, total{};
    cr_assert(s.apply(CALL_ELEMENTWISE, OP_ADD, {of[0], of[1]}, &sum));
    cr_assert(s.apply(CALL_REDUCE, OP_ADD, {sum, d}, &total));
    int64_t n = 0;
    cr_assert(s.b->to_host(s.c, &total, 0, 1, &n));
    cr_assert_eq(n, 6 * N);
    s.b->release(s.c, &sum);
    s.b->release(s.c, &total);
  }
  s.b->release(s.c, &v);
  return s.b->statistics(s.c);
}

static const char *const devices[] = {"", "deferred", "small=0,deferred=random,check"};

Test(time, in_kernels_is_there_if_it_was_asked_for) {
  for (const char *how : devices) {
    const cvl_statistics with = work_of(how, true), without = work_of(how, false);
    cr_assert_gt(with.kernel_ns, 0, "%s", how);
    cr_assert_eq(without.kernel_ns, 0, "%s", how);
    cr_assert_gt(with.launch_ns, 0, "%s", how);
  }
}

Test(time, measured_changes_neither_launches_nor_waits) {
  for (const char *how : devices) {
    const cvl_statistics with = work_of(how, true), without = work_of(how, false);
    cr_assert_gt(with.launches, 0);
    cr_assert_eq(with.launches, without.launches, "%s", how);
    cr_assert_eq(with.waits, without.waits, "%s", how);
    cr_assert_eq(with.bytes_down, without.bytes_down, "%s", how);
    cr_assert_eq(with.allocations, without.allocations, "%s", how);
  }
}

/* If the host does everything, there are no kernels. A context that did nothing took none:
 * opening it does not count for the program. */
Test(time, of_nothing_is_none) {
  emulated_session s("small=1000000,deferred", true);
  const cvl_value v = s.upload(ints(10, 3)), of[] = {v, v};
  cvl_value sum{};
  cr_assert(s.apply(CALL_ELEMENTWISE, OP_ADD, {of[0], of[1]}, &sum));
  cr_assert_eq(s.b->statistics(s.c).kernel_ns, 0);
  cr_assert_eq(s.b->statistics(s.c).wait_ns, 0);
  s.b->release(s.c, &sum);
  s.b->release(s.c, &v);
}
