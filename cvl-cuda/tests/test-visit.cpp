/* test-visit.cpp - the current device of a thread. It is the back end's within an entry and the
 * caller's outside, whatever other libraries make it in between. The emulated device aborts if
 * a call would go to another one. */
#include <criterion/criterion.h>

#include <thread>

#include "cvl-cuda/emulation/stream.hpp"
#include "cvl-cuda/tests/session.hpp"
#include "cvl-cuda/visit.hpp"

using namespace ravel;

struct library final : current_device {
  int current = 0, gets = 0, sets = 0;
  bool fails = false;

  bool get_device(int *d) override {
    gets++;
    *d = current;
    return !fails;
  }
  bool set_device(int d) override {
    sets++;
    if (!fails) current = d;
    return !fails;
  }
};

Test(visit, makes_a_device_current_and_gives_the_callers_back) {
  library l;
  visit v(l);
  l.current = 3;
  for (int k = 0; k < 3; k++) {
    for (int call = 0; call < 5; call++) {
      cr_assert(v.enter(1));
      cr_assert_eq(l.current, 1);
    }
    v.leave();
    cr_assert_eq(l.current, 3);
    v.leave();
    cr_assert_eq(l.current, 3);
  }
  cr_assert_eq(l.gets, 3, "once in each visit");
  cr_assert_eq(l.sets, 6);
}

Test(visit, costs_a_look_where_the_device_is_current) {
  library l;
  visit v(l);
  l.current = 1;
  for (int k = 0; k < 3; k++) {
    cr_assert(v.enter(1));
    v.leave();
  }
  cr_assert_eq(l.gets, 3);
  cr_assert_eq(l.sets, 0);
}

/* Device 0 is current where nobody has chosen one. It must not be opened by making it current
 * again. */
static void first_on_a_thread() {
  library l;
  visit v(l);
  cr_assert(v.enter(1));
  v.leave();
  cr_assert_eq(l.current, 1);
  l.current = 0;
  cr_assert(v.enter(1));
  v.leave();
  cr_assert_eq(l.current, 0);
}

Test(visit, opens_no_other_device) {
  first_on_a_thread();
  std::thread(first_on_a_thread).join();
}

Test(visit, remembers_a_thread_that_was_on_the_device) {
  library l;
  visit v(l);
  l.current = 1;
  cr_assert(v.enter(1));
  v.leave();
  l.current = 0;
  cr_assert(v.enter(1));
  v.leave();
  cr_assert_eq(l.current, 0);
}

Test(visit, that_fails_is_none) {
  library l;
  visit v(l);
  l.current = 2;
  l.fails = true;
  cr_assert_not(v.enter(1));
  l.fails = false;
  v.leave();
  cr_assert_eq(l.sets, 0);
  cr_assert(v.enter(1));
  cr_assert_eq(l.current, 1);
}

/* ---- each entry of the table ---- */

enum { N = 50000, OF_OTHERS = 7 };

struct shared_process : emulated_session {
  shared_process(const char *how) : emulated_session(how, true) {}
  /* Acts as another library between two entries, and checks what it finds after the last. */
  void others() {
    cr_assert(emulated_current_device() == OF_OTHERS, "after entry %d", (int)site);
    emulated_current_device() = OF_OTHERS;
  }
  cvl_value add(const cvl_value &x, const cvl_value &y) {
    const cvl_value of[] = {x, y};
    cvl_value sum{};
    cr_assert(apply(CALL_ELEMENTWISE, OP_ADD, {of[0], of[1]}, &sum));
    others();
    return sum;
  }
};

static void visit_with_others(const char *how) {
  emulated_current_device() = OF_OTHERS;
  shared_process s(how);
  s.others();
  const cvl_value v = s.upload(ints(N, 3));
  s.others();
  cvl_value sum = s.add(v, v), flags{}, kept{}, kept_d{};
  for (int k = 0; k < 100; k++) { /* windows are passed on, too */
    const cvl_value next = s.add(sum, v);
    s.b->release(s.c, &sum);
    s.others();
    sum = next;
  }
  const cvl_value of[] = {v, sum}, d = {CVL_ONE_SEGMENT, 0, 0, {.one_segment = N}};
  cr_assert(s.apply(CALL_ELEMENTWISE, OP_LT, {of[0], of[1]}, &flags));
  s.others();
  cr_assert(s.apply(CALL_PACK, OP_PACK, {sum, flags, d}, &kept, &kept_d));
  s.others();
  cvl_size n = s.b->length(s.c, &kept);
  cr_assert(s.b->resolve(s.c, &n));
  s.others();
  ints back(N);
  cr_assert(s.b->to_host(s.c, &kept, 0, N, back.data()));
  cr_assert_eq(back[N - 1], 306);
  s.others();
  cr_assert_gt(s.b->statistics(s.c).kernel_ns, 0);
  s.others();
  cvl_error e{};
  cr_assert_not(s.b->check(s.c, true, &e));
  s.others();
  for (const cvl_value &x : {v, sum, flags, kept, kept_d}) s.b->release(s.c, &x);
  s.others();
}

Test(visit, each_entry_is_one) {
  for (const char *how : {"", "deferred", "small=0,deferred=random,check"}) {
    visit_with_others(how);
    cr_assert_eq(emulated_current_device(), OF_OTHERS, "after the end");
  }
}
