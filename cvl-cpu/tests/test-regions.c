/* test-regions.c - the set of free blocks against a plain search, and regions. Their blocks
 * split and merge, are left to others, count against a limit and go back to the system. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/sanitizers.h"
#include "cvl-cpu/memory/free-blocks.h"
#include "cvl-cpu/memory/regions.h"

enum { KB = 1 << 10, MB = 1 << 20, FRAME = 4 * KB };

static uint64_t random_state = 1;

/* Returns a random number below n. */
static size_t regions_any(size_t n) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (size_t)(random_state >> 33) % n;
}

/* ---- the set of free blocks ---- */

enum { BLOCKS = 300 };
static struct memory_block blocks[BLOCKS];
static bool is_in[BLOCKS];

static struct memory_block *lowest_by_search(size_t bytes) {
  for (int i = 0; i < BLOCKS; i++) {
    if (is_in[i] && blocks[i].bytes >= bytes) return &blocks[i];
  }
  return NULL;
}

Test(free_blocks, the_lowest_is_that_of_a_plain_search) {
  struct memory_block *root = NULL;
  for (int k = 0; k < 30000; k++) {
    const size_t i = regions_any(BLOCKS);
    if (is_in[i]) {
      free_blocks_remove(&root, &blocks[i]);
    } else {
      blocks[i].bytes = 64 + regions_any(50); /* many blocks are equal */
      free_blocks_insert(&root, &blocks[i]);
    }
    is_in[i] = !is_in[i];
    const size_t bytes = 60 + regions_any(60);
    cr_assert_eq(free_blocks_lowest(root, bytes), lowest_by_search(bytes));
  }
}

static int depth(const struct memory_block *b) {
  if (!b) return 0;
  const int left = depth(b->left), right = depth(b->right);
  return 1 + (left > right ? left : right);
}

Test(free_blocks, many_of_one_size_are_no_list) {
  enum { MANY = 100000 };
  struct memory_block *many = aligned_alloc(64, MANY * sizeof *many), *root = NULL;
  for (int i = 0; i < MANY; i++) {
    many[i] = (struct memory_block){.bytes = 64 * KB};
    free_blocks_insert(&root, &many[i]);
  }
  cr_assert_lt(depth(root), 100);
  free(many);
}

/* ---- blocks ---- */

static struct regions *regions_in(struct heap *h, uint64_t limit) {
  heap_init(h, limit);
  struct regions *r = regions_new(h);
  cr_assert_not_null(r);
  return r;
}

static void *regions_taken(struct regions *r, size_t bytes) {
  void *p = regions_take(r, bytes);
  cr_assert_not_null(p);
  cr_assert_eq((uintptr_t)p % 64, 0);
  return p;
}

static void regions_end(struct regions *r, const struct heap *h) {
  cr_assert_eq(regions_used(r), 0);
  regions_free(r);
  cr_assert_eq(h->live, 0);
}

Test(regions, offsets_of_equal_blocks_in_a_page_differ) {
  struct heap h;
  struct regions *r = regions_in(&h, 0);
  char *p[5];
  for (int i = 0; i < 5; i++) {
    p[i] = regions_taken(r, 1 * MB);
    for (int j = 0; j < i; j++) {
      const size_t apart = ((uintptr_t)p[i] - (uintptr_t)p[j]) % 4096;
      cr_assert_geq(apart, 256);
      cr_assert_leq(apart, 4096 - 128);
    }
  }
  for (int i = 0; i < 5; i++) regions_give(r, p[i]);
  regions_end(r, &h);
}

Test(regions, a_block_is_the_lowest_that_is_large_enough) {
  struct heap h;
  struct regions *r = regions_in(&h, 0);
  char *p[6];
  for (int i = 0; i < 6; i++) p[i] = regions_taken(r, (size_t)(1 + i % 3) * MB);
  regions_give(r, p[0]);
  regions_give(r, p[2]); /* 3 MB */
  regions_give(r, p[4]); /* 2 MB */
  char *two = regions_taken(r, 2 * MB), *one = regions_taken(r, 1 * MB),
       *half = regions_taken(r, MB / 2);
  cr_assert_eq(two, p[2]);
  cr_assert_eq(one, p[0]);
  cr_assert(half > two && half < p[3], "the rest of what 2 MB were taken from");
  char *all[] = {p[1], p[3], p[5], one, two, half};
  for (int i = 0; i < 6; i++) regions_give(r, all[i]);
  regions_end(r, &h);
}

/* Takes N blocks of any size and gives them back in some order. Then one block has the room of
 * all, and is where the first was, in memory that is already counted. */
enum order { FORWARDS, BACKWARDS, EVEN_FIRST, ANY_ORDER };

static void merge_in(enum order order) {
  enum { N = 100 };
  struct heap h;
  struct regions *r = regions_in(&h, 0);
  char *p[N];
  size_t total = 0, first = 0;
  for (int i = 0; i < N; i++) {
    const size_t bytes = 1 + regions_any(300 * KB);
    p[i] = regions_taken(r, bytes);
    total += bytes;
  }
  char *const lowest = p[0];
  for (int i = 0; i < N; i++) {
    size_t k = (size_t)i;
    if (order == BACKWARDS) k = N - 1 - k;
    if (order == EVEN_FIRST) k = i < N / 2 ? 2 * k : 2 * (k - N / 2) + 1;
    if (order == ANY_ORDER) {
      k = first + regions_any(N - first);
      char *const chosen = p[k];
      p[k] = p[first];
      p[k = first++] = chosen;
    }
    regions_give(r, p[k]);
  }
  const uint64_t asked = h.count;
  cr_assert_eq(regions_taken(r, total), lowest, "order %d", order);
  cr_assert_eq(h.count, asked);
  regions_give(r, lowest);
  regions_end(r, &h);
}

Test(regions, all_that_is_given_back_is_one_block) {
  for (int order = FORWARDS; order <= ANY_ORDER; order++) merge_in(order);
}

/* ---- at random ---- */

/* A block whose words all say which block it is. */
struct kept {
  uint32_t *words;
  size_t n;
  uint32_t name;
};

static void regions_fill(struct kept *k) {
  for (size_t i = 0; i < k->n; i++) k->words[i] = k->name + (uint32_t)i;
}

static void regions_check(const struct kept *k) {
  for (size_t i = 0; i < k->n; i++) cr_assert_eq(k->words[i], k->name + (uint32_t)i);
}

static void *free_elsewhere(void *arg) {
  regions_free_left(arg);
  return NULL;
}

static void end_block(struct regions *r, struct kept *k) {
  regions_check(k);
  if (regions_any(8)) {
    regions_give(r, k->words);
  } else {
    regions_leave(r, k->words);
    regions_check(k);
    pthread_t other;
    if (regions_any(2) || pthread_create(&other, NULL, free_elsewhere, k->words)) {
      regions_free_left(k->words);
    } else {
      pthread_join(other, NULL);
    }
  }
  k->words = NULL;
}

/* On average half the limit is in use. A block that is refused is taken again after a
 * release. */
static void take_any(struct regions *r, struct kept *k, uint32_t name) {
  k->n = (size_t)1 << regions_any(18);
  k->n += regions_any(k->n);
  k->name = name;
  k->words = regions_take(r, k->n * sizeof *k->words);
  if (!k->words && regions_release(r, UINT64_MAX)) {
    k->words = regions_take(r, k->n * sizeof *k->words);
  }
  if (k->words) regions_fill(k);
}

static void take_and_give(uint64_t limit, int steps) {
  enum { N = 150 };
  static struct kept kept[N];
  struct heap h;
  struct regions *r = regions_in(&h, limit);
  const uint64_t own = h.live;
  for (int i = 0; i < steps; i++) {
    struct kept *k = &kept[regions_any(N)];
    if (k->words) {
      end_block(r, k);
    } else {
      take_any(r, k, (uint32_t)i * 1000003);
    }
    cr_assert_eq(h.live, own + regions_counted(r));
    cr_assert_leq(regions_used(r), regions_counted(r));
    if (regions_any(500) == 0) regions_release(r, regions_any(4 * MB));
  }
  for (int i = 0; i < N; i++) {
    if (kept[i].words) end_block(r, &kept[i]);
  }
  regions_release(r, UINT64_MAX);
  if (limit) cr_assert_leq(regions_counted(r), 20 * FRAME);
  regions_end(r, &h);
}

Test(regions, any_sequence_keeps_blocks_apart) {
  take_and_give(0, 8000);
}

Test(regions, any_sequence_keeps_to_a_limit) {
  take_and_give(16 * MB, 8000);
}

/* Limits this process to so many bytes more than it has now, of address space or of writable
 * memory. */
static void allow_more(int resource, size_t bytes) {
  unsigned long all = 0, data = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  cr_assert(f && fscanf(f, "%lu %*u %*u %*u %*u %lu", &all, &data) == 2);
  fclose(f);
  const rlim_t most =
      (resource == RLIMIT_AS ? all : data) * (rlim_t)sysconf(_SC_PAGESIZE) + bytes;
  cr_assert_eq(setrlimit(resource, &(struct rlimit){most, most}), 0);
}

/* With so little address space there are many regions, each of a few blocks. */
Test(regions, any_sequence_in_little_address_space) {
  allow_more(RLIMIT_AS, 400 * MB);
  take_and_give(0, 5000);
  struct heap h;
  struct regions *r = regions_in(&h, 0);
  char *p[2] = {regions_taken(r, 100 * MB), regions_taken(r, 100 * MB)};
  cr_assert_null(regions_take(r, 300 * MB)); /* the system refuses */
  memset(p[0], 1, 100 * MB);
  memset(p[1], 2, 100 * MB);
  cr_assert_eq(p[0][100 * MB - 1], 1);
  regions_give(r, p[0]);
  regions_give(r, p[1]);
  regions_end(r, &h);
}

/* ---- counts and limits ---- */

Test(regions, what_the_system_refuses_does_not_count) {
  struct heap h;
  struct regions *r = regions_in(&h, 0);
  void *p = regions_taken(r, 1 * MB);
  const uint64_t live = h.live;
  allow_more(RLIMIT_DATA, 100 * MB);
  cr_assert_null(regions_take(r, 200 * MB));
  cr_assert_eq(h.live, live);
  void *q = regions_taken(r, 50 * MB);
  regions_give(r, p);
  regions_give(r, q);
  regions_end(r, &h);
}

Test(regions, what_is_used_again_is_not_counted_twice) {
  struct heap h;
  struct regions *r = regions_in(&h, 0);
  void *p = regions_taken(r, 5 * MB);
  const uint64_t live = h.live, asked = h.count;
  cr_assert_geq(live, 5 * MB);
  cr_assert_lt(live, 5 * MB + 4 * FRAME);
  regions_give(r, p);
  p = regions_taken(r, 2 * MB);
  void *q = regions_taken(r, 2 * MB);
  cr_assert_eq(h.live, live);
  cr_assert_eq(h.count, asked);
  regions_give(r, p);
  regions_give(r, q);
  regions_end(r, &h);
}

Test(regions, release_gives_back_what_is_free_from_the_top) {
  struct heap h;
  struct regions *r = regions_in(&h, 0);
  char *p[3];
  for (int i = 0; i < 3; i++) memset(p[i] = regions_taken(r, 4 * MB), 1, 4 * MB);
  const uint64_t counted = regions_counted(r);
  regions_give(r, p[0]);
  regions_give(r, p[2]);
  cr_assert_eq(regions_counted(r), counted);
  const uint64_t released = regions_release(r, 1);
  cr_assert_geq(released, 4 * MB - 3 * FRAME);
  cr_assert_lt(released, 5 * MB); /* one of them */
  cr_assert_eq(regions_counted(r), counted - released);
  char *again = regions_taken(r, 4 * MB);
  cr_assert_eq(again, p[0]);
  cr_assert_eq(again[2 * MB], 1); /* the lower one was kept */
  char *top = regions_taken(r, 4 * MB);
  cr_assert_eq(top, p[2]);
  cr_assert_eq(top[2 * MB], 0); /* fresh from the system */
  cr_assert_eq(p[1][2 * MB], 1);
  regions_give(r, again);
  regions_give(r, top);
  regions_give(r, p[1]);
  cr_assert_geq(regions_release(r, UINT64_MAX), 11 * MB);
  cr_assert_eq(regions_release(r, UINT64_MAX), 0);
  cr_assert_leq(regions_counted(r), 2 * FRAME);
  regions_end(r, &h);
}

Test(regions, a_limit_refuses_until_memory_is_released) {
  struct heap h;
  struct regions *r = regions_in(&h, 8 * MB);
  void *p = regions_taken(r, 3 * MB), *q = regions_taken(r, 3 * MB);
  cr_assert_null(regions_take(r, 3 * MB));
  regions_give(r, p);
  cr_assert_null(regions_take(r, 4 * MB)); /* behind q, where nothing is counted yet */
  cr_assert_geq(regions_release(r, UINT64_MAX), 2 * MB);
  p = regions_taken(r, 4 * MB);
  regions_give(r, p);
  regions_give(r, q);
  regions_end(r, &h);
}

Test(regions, every_refusal_of_the_heap_is_survived) {
  for (uint64_t n = 1; n < 8; n++) {
    struct heap h;
    heap_init(&h, 0);
    h.fail_at = n;
    struct regions *r = regions_new(&h);
    cr_assert_eq(!r, n == 1);
    if (!r) continue;
    void *p[3];
    for (int i = 0; i < 3; i++) p[i] = regions_take(r, 1 * MB);
    cr_assert_eq(h.failures, h.count >= n);
    cr_assert_eq((p[0] == NULL) + (p[1] == NULL) + (p[2] == NULL), (int)h.failures);
    for (int i = 0; i < 3; i++) {
      if (p[i]) regions_give(r, p[i]);
    }
    regions_end(r, &h);
  }
}

Test(regions, absurd_sizes_are_refused) {
  struct heap h;
  struct regions *r = regions_in(&h, 0);
  cr_assert_null(regions_take(r, SIZE_MAX));
  cr_assert_null(regions_take(r, SIZE_MAX / 8));
  cr_assert_null(regions_take(r, (size_t)1 << 46));
  regions_end(r, &h);
}

/* Poisoning would take an eighth of the block in real memory. */
#ifndef RAVEL_ASAN
Test(regions, a_block_may_be_larger_than_most_regions) {
  struct heap h;
  struct regions *r = regions_in(&h, 0);
  const size_t bytes = ((size_t)17 << 30) + 12345;
  char *p = regions_take(r, bytes); /* or the system refuses */
  if (p) {
    p[0] = p[bytes - 1] = 1;
    regions_give(r, p);
  }
  regions_end(r, &h);
}
#endif

/* ---- blocks that are left ---- */

Test(regions, a_left_block_does_not_count_and_is_not_used) {
  struct heap h;
  struct regions *r = regions_in(&h, 0);
  char *p = regions_taken(r, 4 * MB), *q = regions_taken(r, 4 * MB);
  memset(p, 1, 4 * MB);
  const uint64_t live = h.live;
  regions_leave(r, p);
  cr_assert_lt(h.live, live - 4 * MB + 3 * FRAME);
  regions_give(r, q);
  regions_release(r, UINT64_MAX);
  cr_assert_neq(regions_taken(r, 4 * MB), p);
  for (size_t i = 0; i < 4 * MB; i++) cr_assert_eq(p[i], 1);
  regions_free_left(p);
  cr_assert_eq(regions_taken(r, 4 * MB), p); /* its addresses are free again */
  regions_give(r, p);
  regions_give(r, q);
  regions_end(r, &h);
}

Test(regions, left_blocks_outlive_their_regions) {
  struct heap h;
  struct regions *r = regions_in(&h, 0);
  enum { N = 8 };
  char *p[N];
  for (int i = 0; i < N; i++) memset(p[i] = regions_taken(r, 1 * MB), i, 1 * MB);
  for (int i = 0; i < N; i++) {
    if (i % 2) {
      regions_leave(r, p[i]);
    } else {
      regions_give(r, p[i]);
    }
  }
  regions_end(r, &h);
  pthread_t others[N];
  for (int i = 1; i < N; i += 2) {
    for (size_t j = 0; j < 1 * MB; j++) cr_assert_eq(p[i][j], i);
    cr_assert_eq(pthread_create(&others[i], NULL, free_elsewhere, p[i]), 0);
  }
  for (int i = 1; i < N; i += 2) pthread_join(others[i], NULL);
}

/* Others free blocks while the owner takes them. ThreadSanitizer would find races, but
 * Criterion does not run under it. */
static void *free_many(void *arg) {
  char **p = arg;
  for (int i = 0; i < 100; i++) regions_free_left(p[i]);
  return NULL;
}

Test(regions, others_free_while_the_owner_takes) {
  struct heap h;
  struct regions *r = regions_in(&h, 0);
  static char *p[2][100];
  for (int i = 0; i < 200; i++) p[i % 2][i / 2] = regions_taken(r, 100 * KB);
  for (int i = 0; i < 200; i++) regions_leave(r, p[i % 2][i / 2]);
  pthread_t others[2];
  for (int k = 0; k < 2; k++) pthread_create(&others[k], NULL, free_many, p[k]);
  for (int i = 0; i < 1000; i++) {
    char *const mine = regions_taken(r, 50 * KB + regions_any(100 * KB));
    mine[regions_any(50 * KB)] = 1;
    regions_give(r, mine);
  }
  for (int k = 0; k < 2; k++) pthread_join(others[k], NULL);
  regions_end(r, &h);
}
