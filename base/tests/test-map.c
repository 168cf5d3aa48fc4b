/* test-map.c - hash maps beside plain arrays that are searched from end to end. */
#include "base/map.h"
#include "base/tests/memory.h"

enum { KEYS = 3000 };

TestSuite(map, .init = memory_begin, .fini = memory_end);

/* Keys that are alike in their low bits, in their high bits, and 0. */
static uint64_t map_key(uint32_t i) {
  return i % 2 ? (uint64_t)i << 40 : i;
}

Test(map, a_value_for_each_key) {
  struct map m;
  map_init(&m, &arena);
  cr_expect_eq(map_get(&m, 0), 0);
  for (uint32_t round = 1; round <= 2; round++) {
    for (uint32_t i = 0; i < KEYS; i++) {
      uint32_t *value = map_at(&m, map_key(i));
      cr_assert_eq(*value, round == 1 ? 0 : i + 1);
      *value = i + round;
    }
    for (uint32_t i = 0; i < KEYS; i++) cr_assert_eq(map_get(&m, map_key(i)), i + round);
  }
  cr_expect_eq(m.count, KEYS);
  cr_expect_eq(map_get(&m, UINT64_MAX), 0);
  map_clear(&m);
  for (uint32_t i = 0; i < KEYS; i++) cr_assert_eq(map_get(&m, map_key(i)), 0);
  *map_at(&m, 7) = 1;
  cr_expect_eq(map_get(&m, 7), 1);
}

/* A key that has lost its value leaves its room, so the map does not grow without end. */
Test(map, keys_without_a_value_leave) {
  struct map m;
  map_init(&m, &arena);
  for (uint32_t i = 0; i < 100 * KEYS; i++) {
    *map_at(&m, map_key(i)) = 1;
    *map_at(&m, map_key(i)) = 0;
  }
  cr_expect_leq(m.capacity, 256, "%u", m.capacity);
}

Test(map, scopes_give_back_what_was_before) {
  enum { HASHES = 5, DEPTH = 400 };
  struct scoped_map m;
  uint64_t hashes[DEPTH * HASHES];
  scoped_map_init(&m, &arena);
  uint32_t state = 1, count = 0;
  for (uint32_t step = 0; step < 20 * DEPTH; step++) {
    state = state * 1664525 + 1013904223;
    if (state >> 28 == 0 && count > 0) {
      count = (state >> 8) % count;
      scoped_map_close(&m, count);
    } else if (count < DEPTH * HASHES) {
      hashes[count] = map_key((state >> 10) % HASHES);
      cr_assert_eq(scoped_map_add(&m, hashes[count]), count);
      count++;
    }
    for (uint32_t k = 0; k < HASHES && step % 7 == 0; k++) {
      uint32_t at = scoped_map_first(&m, map_key(k));
      for (uint32_t i = count; i-- > 0;) {
        if (hashes[i] != map_key(k)) continue;
        cr_assert_eq(at, i + 1);
        at = scoped_map_earlier(&m, at);
      }
      cr_assert_eq(at, 0);
    }
  }
  cr_expect_gt(count, 0);
  scoped_map_clear(&m);
  for (uint32_t k = 0; k < HASHES; k++) cr_expect_eq(scoped_map_first(&m, map_key(k)), 0);
}
