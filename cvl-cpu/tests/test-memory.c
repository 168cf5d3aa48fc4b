/* test-memory.c - the caching allocator and its clients: reuse, limits, failures,
 * statistics, and a context that is closed while values are held. */
#include <criterion/criterion.h>
#include <signal.h>

#include "cvl-cpu/cpu.h"
#include "cvl-cpu/cvl-cpu.h"

static struct memory *memory_in(struct heap *h, uint64_t limit) {
  heap_init(h, limit);
  struct memory *m = memory_new(h, (uint64_t)64 << 20);
  cr_assert_not_null(m);
  return m;
}

Test(memory, blocks_are_aligned_large_enough_and_apart) {
  struct heap h;
  struct memory *m = memory_in(&h, 0);
  enum { BLOCKS = 200 };
  unsigned char *block[BLOCKS];
  size_t bytes[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) {
    bytes[i] = (size_t)i * (size_t)i * 37;
    block[i] = memory_take(m, bytes[i]);
    cr_assert_not_null(block[i]);
    cr_assert_eq((uintptr_t)block[i] % 64, 0);
    memset(block[i], i, bytes[i]);
  }
  for (int i = 0; i < BLOCKS; i++) {
    for (size_t j = 0; j < bytes[i]; j++) cr_assert_eq(block[i][j], i);
    memory_give(m, block[i], bytes[i]);
  }
  memory_free(m);
  cr_assert_eq(h.live, 0);
}

/* Frees a block of 5 MiB, then takes one of `bytes`. It must be the same, without a call of the
 * heap. */
static void *taken_where_5_mib_were(struct memory *m, const struct heap *h, size_t bytes) {
  void *first = memory_take(m, 5 << 20);
  memory_give(m, first, 5 << 20);
  const uint64_t asked = h->count;
  cr_assert_eq(memory_take(m, bytes), first);
  cr_assert_eq(h->count, asked);
  return first;
}

Test(memory, a_freed_block_is_used_again) {
  struct heap h;
  struct memory *m = memory_in(&h, 0);
  memory_give(m, taken_where_5_mib_were(m, &h, 5 << 20), 5 << 20);
  memory_free(m);
}

Test(memory, a_freed_block_serves_any_smaller_request) {
  struct heap h;
  struct memory *m = memory_in(&h, 0);
  void *first = taken_where_5_mib_were(m, &h, 1 << 20);
  const uint64_t asked = h.count;
  void *rest = memory_take(m, 3 << 20);
  cr_assert_eq(h.count, asked);
  memory_give(m, first, 1 << 20);
  memory_give(m, rest, 3 << 20);
  cr_assert_eq(memory_take(m, 5 << 20), first); /* the parts are one block again */
  memory_give(m, first, 5 << 20);
  memory_free(m);
  cr_assert_eq(h.live, 0);
}

Test(memory, a_small_freed_block_serves_more_than_half_its_size) {
  struct heap h;
  struct memory *m = memory_in(&h, 0);
  void *first = memory_take(m, 5000);
  memory_give(m, first, 5000);
  cr_assert_eq(memory_take(m, 3000), first);
  memory_give(m, first, 3000);
  cr_assert_eq(memory_take(m, 5000), first); /* the block has not shrunk */
  memory_give(m, first, 5000);
  void *small = memory_take(m, 2000);
  cr_assert_neq(small, first);
  memory_give(m, small, 2000);
  memory_free(m);
  cr_assert_eq(h.live, 0);
}

Test(memory, kept_blocks_go_before_a_request_is_refused) {
  struct heap h;
  struct memory *m = memory_in(&h, 3 << 20);
  void *a = memory_take(m, 2 << 20);
  cr_assert_not_null(a);
  cr_assert_null(memory_take(m, 2 << 20)); /* really over the limit */
  memory_give(m, a, 2 << 20);
  void *b = memory_take(m, 1 << 20); /* of another class, so a's memory has to go */
  void *c = memory_take(m, 1 << 20);
  cr_assert_not_null(b);
  cr_assert_not_null(c);
  memory_give(m, b, 1 << 20);
  memory_give(m, c, 1 << 20);
  memory_free(m);
  cr_assert_eq(h.live, 0);
}

Test(memory, what_is_kept_has_a_bound) {
  struct heap h;
  struct memory *m = memory_in(&h, 0);
  for (size_t size = 1 << 20; size < 300 << 20; size += 7 << 20) {
    void *p = memory_take(m, size);
    cr_assert_not_null(p);
    memory_give(m, p, size);
  }
  cr_assert_lt(h.peak, (uint64_t)1 << 30); /* all sizes together would be 6 GiB */
  memory_free(m);
}

/* Small and large blocks in turn need what the other kind has left. */
Test(memory, what_is_kept_of_one_kind_serves_the_other) {
  struct heap h;
  struct memory *m = memory_in(&h, 4 << 20);
  enum { SMALL = 60 };
  void *small[SMALL];
  for (int round = 0; round < 2; round++) {
    void *large = memory_take(m, 3 << 20);
    cr_assert_not_null(large);
    memory_give(m, large, 3 << 20);
    for (int i = 0; i < SMALL; i++) cr_assert_not_null(small[i] = memory_take(m, 50000));
    for (int i = 0; i < SMALL; i++) memory_give(m, small[i], 50000);
  }
  memory_free(m);
  cr_assert_eq(h.live, 0);
}

Test(memory, what_is_no_longer_needed_goes) {
  struct heap h;
  struct memory *m = memory_in(&h, 0);
  memory_give(m, memory_take(m, 96 << 20), 96 << 20);
  for (int i = 0; i < 100; i++) memory_give(m, memory_take(m, 4 << 20), 4 << 20);
  cr_assert_geq(h.live, 96 << 20); /* it may be needed again */
  for (int i = 0; i < 2000; i++) memory_give(m, memory_take(m, 4 << 20), 4 << 20);
  cr_assert_lt(h.live, 80 << 20);
  memory_free(m);
}

Test(memory, left_blocks_outlive_the_memory) {
  struct heap h;
  struct memory *m = memory_in(&h, 0);
  const size_t bytes[] = {100, 5 << 20};
  unsigned char *left[2];
  for (int i = 0; i < 2; i++) {
    left[i] = memory_take(m, bytes[i]);
    memset(left[i], 7 + i, bytes[i]);
    memory_leave(m, left[i], bytes[i]);
  }
  memory_free(m);
  cr_assert_eq(h.live, 0);
  for (int i = 0; i < 2; i++) {
    for (size_t j = 0; j < bytes[i]; j++) cr_assert_eq(left[i][j], 7 + i);
    memory_free_left(left[i]);
  }
}

Test(memory, the_nth_request_fails) {
  struct heap h;
  struct memory *m = memory_in(&h, 0);
  memory_fail(m, 2);
  void *a = memory_take(m, 100);
  cr_assert_not_null(a);
  cr_assert_null(memory_take(m, 100));
  void *b = memory_take(m, 100);
  cr_assert_not_null(b);
  memory_give(m, a, 100);
  memory_give(m, b, 100);
  memory_fail(m, 1); /* an allocation fails too if it could be served from kept memory */
  cr_assert_null(memory_take(m, 100));
  cr_assert_eq(memory_statistics(m).allocations, 4);
  memory_free(m);
}

Test(memory, absurd_sizes_are_refused) {
  struct heap h;
  struct memory *m = memory_in(&h, 0);
  cr_assert_null(memory_take(m, SIZE_MAX));
  cr_assert_null(memory_take(m, SIZE_MAX / 8));
  memory_free(m);
  cr_assert_eq(h.live, 0);
}

static const struct cvl_backend *const b = &cvl_cpu_backend;

static struct cvl_context *memory_open_with(uint64_t memory_limit, uint64_t fail) {
  const struct cvl_options o = {.int_elem = CVL_I64,
                                .float_elem = CVL_F64,
                                .threads = 2,
                                .device = -1,
                                .memory_limit = memory_limit,
                                .fail_allocation = fail};
  const char *why = NULL;
  struct cvl_context *c = b->open(&o, &why);
  cr_assert_not_null(c, "%s", why);
  return c;
}

Test(memory, statistics_follow_vectors) {
  struct cvl_context *c = memory_open_with(0, 0);
  const int64_t data[100] = {0};
  struct cvl_value v, w;
  cr_assert(b->from_host(c, 1, CVL_I64, 100, data, &v));
  const uint64_t one = b->statistics(c).live_bytes;
  cr_assert_geq(one, 800);
  cr_assert(b->from_host(c, 2, CVL_I64, 100, data, &w));
  cr_assert_eq(b->statistics(c).live_bytes, 2 * one);
  b->release(c, &v);
  b->release(c, &w);
  cr_assert_eq(b->statistics(c).live_bytes, 0);
  cr_assert_eq(b->statistics(c).peak_bytes, 2 * one);
  b->close(c);
}

Test(memory, the_limit_ends_in_a_fault) {
  struct cvl_context *c = memory_open_with(1 << 20, 0);
  const struct cvl_value x = cvl_scalar_int(CVL_I64, 7), d = cvl_one_segment(1 << 20);
  struct cvl_value out;
  cr_assert_not(b->apply(c, 5, &CVL_CALL(CALL_DIST, OP_DIST, x, d), &out));
  struct cvl_error e;
  cr_assert(b->check(c, true, &e));
  cr_assert_eq(e.kind, CVL_E_MEMORY);
  cr_assert_eq(e.site, 5);
  cr_assert_eq(e.limit, 1 << 20);
  cr_assert_not(b->check(c, true, &e));
  b->close(c);
}

/* Every result in turn finds no memory. Nothing is lost then. */
Test(memory, any_allocation_of_pack_may_fail) {
  for (uint64_t n = 1; n <= 3; n++) {
    struct cvl_context *c = memory_open_with(0, 0);
    int64_t data[3000] = {0};
    struct cvl_value v, f, ds, out[CALL_RESULTS];
    const int64_t lengths[] = {1000, 2000};
    cr_assert(b->from_host(c, 1, CVL_I64, 3000, data, &v));
    cr_assert(b->from_host(c, 1, CVL_BOOL, 3000, data, &f));
    cr_assert(b->segdes_from_host(c, 1, 2, lengths, &ds));
    v.owned = f.owned = ds.owned = 1;
    b->fail_allocation(c, n);
    const bool good = b->apply(c, 2, &CVL_CALL(CALL_PACK, OP_PACK, v, f, ds), out);
    cr_assert_eq(good, n == 3, "allocation %d", (int)n);
    if (good) {
      b->release(c, &out[0]);
      b->release(c, &out[1]);
    }
    cr_assert_eq(b->statistics(c).live_bytes, 0);
    b->close(c);
  }
}

/* AddressSanitizer's leak check is the test. */
Test(memory, close_frees_what_is_still_held) {
  struct cvl_context *c = memory_open_with(0, 0);
  const int64_t data[1000] = {0};
  struct cvl_value v;
  for (int i = 0; i < 3; i++) cr_assert(b->from_host(c, 1, CVL_I64, 1000, data, &v));
  b->close(c);
}

Test(memory, the_last_reference_is_overwritten) {
  struct cvl_context *c = memory_open_with(0, 0);
  int64_t data[1000];
  for (int i = 0; i < 1000; i++) data[i] = i;
  struct cvl_value v, out;
  cr_assert(b->from_host(c, 1, CVL_I64, 1000, data, &v));
  const uint64_t asked = b->statistics(c).allocations;
  struct cvl_value in[2] = {v, v};
  in[1].owned = 1;
  cr_assert(b->apply(c, 2, &CVL_CALL(CALL_ELEMENTWISE, OP_ADD, in[0], in[1]), &out));
  cr_assert_eq(b->statistics(c).allocations, asked);
  cr_assert(b->to_host(c, &out, 0, 1000, data));
  for (int i = 0; i < 1000; i++) cr_assert_eq(data[i], 2 * i);
  b->release(c, &out);
  cr_assert_eq(b->statistics(c).live_bytes, 0);
  b->close(c);
}

/* ---- descriptors ---- */

static struct cvl_segdes sound(uint64_t *offsets) {
  return (struct cvl_segdes){.held.references = 1,
                             .held.form = SEGDES_OFFSETS,
                             .count = 3,
                             .total = 7,
                             .offsets = offsets};
}

Test(segdes, sound_ones_pass) {
  struct cvl_segdes d = sound((uint64_t[]){0, 2, 2, 7});
  segdes_check(&d);
  d = (struct cvl_segdes){
      .held.references = 1, .held.form = SEGDES_EQUAL, .count = 3, .equal = 4};
  d.total = 12;
  segdes_check(&d);
}

#ifdef RAVEL_DEBUG
Test(segdes, offsets_that_fall_end_a_debug_build, .signal = SIGABRT) {
  const struct cvl_segdes d = sound((uint64_t[]){0, 5, 2, 7});
  segdes_check(&d);
}

Test(segdes, a_wrong_total_ends_a_debug_build, .signal = SIGABRT) {
  const struct cvl_segdes d = sound((uint64_t[]){0, 2, 2, 6});
  segdes_check(&d);
}
#endif
