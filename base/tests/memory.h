/* memory.h - a heap and an arena for the tests of a file: TestSuite(name, .init = memory_begin,
 * .fini = memory_end) gives each test fresh ones, and expects that nothing is left live. */
#ifndef RAVEL_BASE_TESTS_MEMORY_H
#define RAVEL_BASE_TESTS_MEMORY_H

#include "base/arena.h"
#include <criterion/criterion.h>

static struct heap heap;
static struct arena arena;

static inline void memory_begin(void) {
  heap_init(&heap, 0);
  arena_init(&arena, &heap);
}

static inline void memory_end(void) {
  arena_free(&arena);
  cr_expect_eq(heap.live, 0);
}

#endif
