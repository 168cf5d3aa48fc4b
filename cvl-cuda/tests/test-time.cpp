/* test-time.cpp - the time of kernels: spans over a clock that tests set (spans.hpp), and what
 * statistics() says of an emulated device. */
#include <string.h>

#include <map>
#include <string>

#include "cvl-cuda/spans.hpp"
#include "cvl-cuda/tests/session.hpp"

using namespace ravel;

/* ---- spans over a clock of the tests' own ---- */

/* A stream of events: `now` is when the next one will pass; the device is `done` with some. */
struct test_clock final : event_clock {
  uint64_t now = 0, last = 0; /* last: the number of the last event recorded */
  uint64_t done = UINT64_MAX; /* events numbered so far have passed */
  uint64_t made = 0, ended = 0, records = 0;
  uint64_t fail_at = 0; /* the call that fails, and all after it */
  uint64_t called = 0;
  struct when {
    uint64_t number, time;
  };
  std::map<event, when> recorded;

  bool fails() { return fail_at > 0 && ++called >= fail_at; }
  event make_event() override { return fails() ? nullptr : (event)(uintptr_t)++made; }
  void end_event(event) override { ended++; }
  bool record(event e, const char *) override {
    if (fails()) return false;
    records++;
    recorded[e] = {++last, now};
    return true;
  }
  bool elapsed(event from, event to, uint64_t *ns) override {
    if (fails() || recorded[to].number > done) return false;
    *ns = recorded[to].time - recorded[from].time;
    return true;
  }
};

/* A launch that takes so long, after the device did nothing for some time. */
static void launch_of(spans &s, test_clock &c, uint64_t ns, uint64_t idle) {
  c.now += idle;
  s.before("test");
  c.now += ns;
  s.after("test");
}

Test(time, is_that_of_launches_without_the_pauses_between) {
  test_clock c;
  spans s(c);
  for (int k = 0; k < 10; k++) launch_of(s, c, 5, 1000);
  cr_assert_eq(s.ns, 0);
  s.collect();
  cr_assert_eq(s.ns, 50);
  s.collect();
  cr_assert_eq(s.ns, 50, "spans are read twice");
  s.end();
}

Test(time, of_what_has_not_passed_is_left_for_later) {
  test_clock c;
  spans s(c);
  for (int k = 0; k < 4; k++) launch_of(s, c, 7, 1);
  c.done = 5; /* two launches, and the begin of the third */
  s.collect();
  cr_assert_eq(s.ns, 14);
  c.done = UINT64_MAX;
  s.collect();
  cr_assert_eq(s.ns, 28);
  s.end();
}

Test(time, events_are_used_again_and_given_back) {
  test_clock c;
  spans s(c);
  for (int k = 0; k < 100 * spans::MOST; k++) launch_of(s, c, 3, 2);
  s.collect();
  cr_assert_eq(s.ns, 300u * spans::MOST);
  cr_assert_eq(c.made, 2u * spans::MOST);
  s.end();
  cr_assert_eq(c.ended, c.made);
}

/* The device works through without a pause, as it does when so much is queued. */
Test(time, of_more_launches_than_events_is_the_time_of_all) {
  enum { LAUNCHES = 3 * spans::MOST };
  test_clock c;
  spans s(c);
  c.done = 0;
  for (int k = 0; k < LAUNCHES; k++) launch_of(s, c, 11, 0);
  s.collect();
  cr_assert_eq(s.ns, 0);
  c.done = UINT64_MAX;
  s.collect();
  cr_assert_eq(s.ns, 11u * LAUNCHES);
  launch_of(s, c, 11, 500);
  s.collect();
  cr_assert_eq(s.ns, 11u * (LAUNCHES + 1));
  s.end();
}

/* Whichever call fails, nothing is measured that was not, and all that was made is given back.
 */
Test(time, a_clock_that_fails_adds_nothing) {
  for (uint64_t n = 1; n < 60; n++) {
    test_clock c;
    spans s(c);
    c.fail_at = n;
    for (int k = 0; k < 5; k++) {
      launch_of(s, c, 5, 1000);
      s.collect();
    }
    cr_assert_eq(s.ns % 5, 0);
    cr_assert_leq(s.ns, 25);
    s.end();
    cr_assert_eq(c.ended, c.made, "call %d", (int)n);
  }
}

/* ---- what statistics() says ---- */

enum { N = 50000 };

/* Sums of sums: launches, waits, and the small results of both. */
static cvl_statistics work_of(const char *how, bool measure) {
  emulated_session s(how, measure);
  const cvl_value v = s.upload(ints(N, 3)), d = {CVL_ONE_SEGMENT, 0, 0, {.one_segment = N}};
  for (int k = 0; k < 5; k++) {
    const cvl_value of[] = {v, v};
    cvl_value sum{}, total{};
    cr_assert(s.b->elementwise(s.c, ++s.site, OP_ADD, 2, of, &sum));
    cr_assert(s.b->reduce(s.c, ++s.site, OP_ADD, &sum, &d, &total));
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

/* Where all is done by the host there are no kernels, and a context that did nothing took none:
 * what opening it takes is not the program's. */
Test(time, of_nothing_is_none) {
  emulated_session s("small=1000000,deferred", true);
  const cvl_value v = s.upload(ints(10, 3)), of[] = {v, v};
  cvl_value sum{};
  cr_assert(s.b->elementwise(s.c, ++s.site, OP_ADD, 2, of, &sum));
  cr_assert_eq(s.b->statistics(s.c).kernel_ns, 0);
  cr_assert_eq(s.b->statistics(s.c).wait_ns, 0);
  s.b->release(s.c, &sum);
  s.b->release(s.c, &v);
}
