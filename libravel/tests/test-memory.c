/* test-memory.c - each allocation of the library fails once: the call says so, the context goes
 * on or is freed, and nothing is left behind.
 *
 * This program has the allocator that the library calls. A program of its own, since Criterion
 * allocates, too.
 */
#include "ravel.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static atomic_long asked, fail_at, live;

static bool fails(void) {
  if (atomic_fetch_add(&asked, 1) + 1 != fail_at) return false;
  errno = ENOMEM;
  return true;
}

static void *counted(void *block) {
  if (block) atomic_fetch_add(&live, 1);
  return block;
}

void *malloc(size_t bytes) {
  return fails() ? NULL : counted(__libc_malloc(bytes));
}

void *calloc(size_t count, size_t bytes) {
  return fails() ? NULL : counted(__libc_calloc(count, bytes));
}

void *realloc(void *old, size_t bytes) {
  if (fails()) return NULL;
  void *block = __libc_realloc(old, bytes);
  if (!old) counted(block);
  return block;
}

void *aligned_alloc(size_t alignment, size_t bytes) {
  return fails() ? NULL : counted(__libc_memalign(alignment, bytes));
}

void free(void *block) {
  if (block) atomic_fetch_sub(&live, 1);
  __libc_free(block);
}

/* ---- the scenario ---- */

static enum ravel_code use(struct ravel_context *c) {
  const int64_t data[] = {3, 1, 2, 5}, lengths[] = {1, 3};
  struct ravel_value *flat = NULL, *rows = NULL, *result = NULL, *pair = NULL;
  struct ravel_function *f = NULL;
  int64_t got[2] = {0};
  enum ravel_code code =
      ravel_define(c, "memory.nesl",
                   "base = [10, 20];\nfunction best(r) = max_val(r) + base[0];\n"
                   "function all_best(rows) = {best(r) : r in rows};",
                   0);
  if (code == RAVEL_OK) code = ravel_find(c, "all_best", "[[int]]", &f);
  if (code == RAVEL_OK) code = ravel_vector(c, RAVEL_INT64, data, 4, &flat);
  if (code == RAVEL_OK) code = ravel_nested(c, lengths, 2, flat, &rows);
  if (code == RAVEL_OK) code = ravel_call(c, f, &rows, 1, &result);
  if (code == RAVEL_OK) code = ravel_copy(c, result, RAVEL_INT64, 0, 2, got);
  if (code == RAVEL_OK && (got[0] != 13 || got[1] != 15)) code = RAVEL_INTERNAL;
  struct ravel_value *both[] = {rows, result};
  if (code == RAVEL_OK) code = ravel_tuple(c, both, 2, &pair);
  ravel_release(pair);
  ravel_release(flat);
  ravel_release(rows);
  ravel_release(result);
  ravel_function_release(f);
  return code;
}

static enum ravel_code scenario(void) {
  struct ravel_options *options = ravel_options_new();
  struct ravel_context *c = NULL;
  if (!options) return RAVEL_MEMORY;
  ravel_options_set(options, "backend", "cpu");
  ravel_options_set(options, "threads", "2");
  enum ravel_code code = ravel_context_new(options, &c);
  ravel_options_free(options);
  if (code == RAVEL_OK) {
    code = use(c);
    if (code != RAVEL_OK && use(c) != RAVEL_OK) { /* the context goes on */
      fprintf(stderr, "allocation %ld: still %s", fail_at, ravel_message(c));
      code = RAVEL_INTERNAL;
    }
  }
  ravel_context_free(c);
  return code;
}

/* One run; false if it went wrong. */
static bool try(long number, long before) {
  atomic_store(&asked, 0);
  atomic_store(&fail_at, number);
  const enum ravel_code code = scenario();
  atomic_store(&fail_at, 0);
  const long left = live - before;
  /* A back end may lack its threads, or the process a stream. */
  const bool expected = code == RAVEL_OK || code == RAVEL_MEMORY || code == RAVEL_DEVICE;
  if (expected && left <= 0) return true; /* the C library may free what it had kept */
  fprintf(stderr, "allocation %ld fails: code %d, %ld blocks left\n", number, (int)code, left);
  return false;
}

int main(void) {
  if (scenario() != RAVEL_OK) return 1; /* what the C library keeps is there from now on */
  const long before = live;
  unsigned wrong = 0;
  long number = 1, step = 1;
  for (; number == 1 || asked >= number - step; number += step) wrong += !try(number, before);
  printf("%ld allocations failed, %u wrongly\n", number - 1, wrong);
  return wrong != 0 || number < 100;
}
