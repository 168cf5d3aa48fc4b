/* test-sort.cpp - compares the orders of sort.hpp with their definition, and counts the
 * launches of SORT. Conformance checks results, also the bits of NaNs here. */
#include <math.h>
#include <string.h>

#include "cvl-cuda/sort.hpp"
#include "cvl-cuda/tests/session.hpp"

using namespace ravel;

/* ---- orders ---- */

template <class T> static T sort_of_bits(typename element_order<T, false>::bits x) {
  T y;
  memcpy(&y, &x, sizeof y);
  return y;
}

/* Returns the extremes of sign, exponent and fraction in all combinations: zeros, denormals,
 * infinities and NaNs of both signs and several payloads among them. */
template <class T> static std::vector<typename element_order<T, false>::bits> tricky_bits() {
  using K = typename element_order<T, false>::bits;
  const int fraction = sizeof(T) == 4 ? 23 : 52;
  const K ones = ((K)1 << fraction) - 1, most = (element_order<T, false>::TOP - 1) >> fraction;
  std::vector<K> all;
  for (K sign : {(K)0, element_order<T, false>::TOP}) {
    for (K exponent : {(K)0, (K)1, most / 2, most - 1, most}) {
      for (K f : {(K)0, (K)1, ones / 2 + 1, ones - 1, ones})
        all.push_back(sign | exponent << fraction | f);
    }
  }
  return all;
}

/* Returns whether a precedes b as segmented.def says. */
template <class T> static bool precedes(T a, T b, bool down) {
  if (a != a || b != b) return a == a && b != b;
  return down ? a > b : a < b;
}

template <class T, bool DOWN> static void sort_check_order() {
  using O = element_order<T, DOWN>;
  using K = typename O::bits;
  const std::vector<K> all = tricky_bits<T>();
  for (const K a : all) {
    cr_assert_eq(O::out(O::in(a)), a, "%llx", (unsigned long long)a);
    for (const K b : all) {
      const bool before = O::digits(O::in(a)) < O::digits(O::in(b));
      cr_assert_eq(before, precedes(sort_of_bits<T>(a), sort_of_bits<T>(b), DOWN),
                   "%llx and %llx", (unsigned long long)a, (unsigned long long)b);
    }
  }
}

Test(sort, orders_elements_as_the_contract_says) {
  sort_check_order<int32_t, false>();
  sort_check_order<int32_t, true>();
  sort_check_order<int64_t, false>();
  sort_check_order<int64_t, true>();
  sort_check_order<float, false>();
  sort_check_order<float, true>();
  sort_check_order<double, false>();
  sort_check_order<double, true>();
}

/* ---- launches ---- */

/* Nothing runs on the host, threads run in random order, and all accesses are checked. */
static const char checked[] = "order=shuffled,seed=7,check,deferred,small=0";

/* Sorts elements under segments of these lengths. Returns the launches. */
static uint64_t launches_of(const ints &lengths, bool several_times) {
  emulated_session s(checked);
  ints x;
  for (int64_t n : lengths) {
    for (int64_t i = 0; i < n; i++) x.push_back(i * 7919 % 1009);
  }
  cvl_value d{}, sorted{}, e{};
  cvl_value v = s.upload(x);
  cr_assert(s.b->segdes_from_host(s.c, ++s.site, lengths.size(), lengths.data(), &d));
  cvl_error error{};
  cr_assert_not(s.b->check(s.c, true, &error));
  if (several_times) {
    cr_assert(s.apply(CALL_SORT, OP_SORT_DOWN, {v, d}, &e));
    s.b->release(s.c, &e);
    cr_assert_not(s.b->check(s.c, true, &error));
  }
  const uint64_t before = s.launches();
  cr_assert(s.apply(CALL_SORT, OP_SORT_UP, {v, d}, &sorted));
  cr_assert_not(s.b->check(s.c, true, &error));
  const uint64_t launches = s.launches() - before;
  ints seen(x.size());
  cr_assert(s.b->to_host(s.c, &sorted, 0, seen.size(), seen.data()));
  int64_t *at = x.data();
  for (int64_t n : lengths) std::sort(at, at + n), at += n;
  cr_assert(seen == x);
  for (const cvl_value *p : {&v, &d, &sorted}) s.b->release(s.c, p);
  return launches;
}

/* Every wait launches the copies of small results and of the error slot. */
enum { AROUND = 1 };

Test(sort, of_one_segment_is_one_launch) {
  cr_assert_eq(launches_of({5000}, false), 1 + AROUND);
}

Test(sort, of_short_segments_is_one_launch) {
  cr_assert_eq(launches_of(ints(100, 64), false), 1 + AROUND);
}

/* The launches are the numbers of the segments, unless the descriptor has them, and two
 * sorts. */
Test(sort, of_several_segments_sorts_twice) {
  cr_assert_eq(launches_of(ints(50, 100), false), 3 + AROUND);
  const ints uneven = {100, 0, 3000, 65, 1, 2000};
  cr_assert_eq(launches_of(uneven, true), 2 + AROUND);
}
