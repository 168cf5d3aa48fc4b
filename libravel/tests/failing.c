/* failing.c - see failing.h. */
#include "failing.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static atomic_long asked, fail_at, live;

void failing_begin(long number) {
  atomic_store(&asked, 0);
  atomic_store(&fail_at, number);
}

long failing_asked(void) {
  return asked;
}

long failing_live(void) {
  return live;
}

static bool failing_fails(void) {
  if (atomic_fetch_add(&asked, 1) + 1 != fail_at) return false;
  errno = ENOMEM;
  return true;
}

static void *failing_counted(void *block) {
  if (block) atomic_fetch_add(&live, 1);
  return block;
}

void *malloc(size_t bytes) {
  return failing_fails() ? NULL : failing_counted(__libc_malloc(bytes));
}

void *calloc(size_t count, size_t bytes) {
  return failing_fails() ? NULL : failing_counted(__libc_calloc(count, bytes));
}

void *realloc(void *old, size_t bytes) {
  if (failing_fails()) return NULL;
  void *block = __libc_realloc(old, bytes);
  if (!old) failing_counted(block);
  return block;
}

void *aligned_alloc(size_t alignment, size_t bytes) {
  return failing_fails() ? NULL : failing_counted(__libc_memalign(alignment, bytes));
}

void free(void *block) {
  if (block) atomic_fetch_sub(&live, 1);
  __libc_free(block);
}
