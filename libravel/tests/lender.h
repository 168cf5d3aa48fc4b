/* lender.h - arrays of Arrow in memory that cannot be written, right before a page that cannot
 * be read, which note when and where they are released.
 */
#ifndef RAVEL_LIBRAVEL_TESTS_LENDER_H
#define RAVEL_LIBRAVEL_TESTS_LENDER_H

#include "libravel/arrow.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct lender {
  char *pages;
  size_t bytes; /* of all pages */
  const void *data;
  const void *buffers[3];
  struct ArrowArray *children[1];
  int released;
  pthread_t thread; /* that released it */
};

/* Copies `bytes` to memory that ends, but for `behind` bytes, with a page that can be read. */
static inline void lender_begin(struct lender *l, const void *data, size_t bytes,
                                size_t behind) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t readable = (bytes + behind + page - 1) / page * page;
  *l = (struct lender){.bytes = readable + page};
  l->pages = mmap(NULL, l->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  cr_assert_neq((void *)l->pages, MAP_FAILED);
  char *const at = l->pages + readable - bytes - behind;
  memcpy(at, data, bytes);
  cr_assert_eq(mprotect(l->pages, readable, PROT_READ), 0);
  cr_assert_eq(mprotect(l->pages + readable, page, PROT_NONE), 0);
  l->data = at;
}

/* From now on nobody can read it. */
static inline void lender_end(struct lender *l) {
  cr_assert_eq(munmap(l->pages, l->bytes), 0);
}

static inline void lender_release(struct ArrowArray *a) {
  struct lender *l = a->private_data;
  l->released++;
  l->thread = pthread_self();
  if (l->children[0] && l->children[0]->release) l->children[0]->release(l->children[0]);
  lender_end(l);
  a->release = NULL;
}

/* An array of n elements, or of n lists if it has a child, whose last buffer is the memory. */
static inline struct ArrowArray lender_array(struct lender *l, int64_t n,
                                             struct ArrowArray *child) {
  l->buffers[1] = l->data;
  l->children[0] = child;
  return (struct ArrowArray){.length = n,
                             .n_buffers = 2,
                             .buffers = l->buffers,
                             .n_children = child != NULL,
                             .children = l->children,
                             .release = lender_release,
                             .private_data = l};
}

static inline void lender_keep_schema(struct ArrowSchema *s) {
  (void)s;
}

/* Borrowed, and never released. */
static inline struct ArrowSchema lender_schema(const char *format, struct ArrowSchema **child) {
  return (struct ArrowSchema){.format = format,
                              .n_children = child != NULL,
                              .children = child,
                              .release = lender_keep_schema};
}

#endif
