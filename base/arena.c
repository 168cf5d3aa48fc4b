/* arena.c - blocks that grow geometrically and are freed together. */
#include "base/arena.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
  struct arena_block *older;
  size_t bytes; /* of the whole block */
};

enum { ALIGNMENT = 16, FIRST_BLOCK = 4096, LARGEST_STEP = 1 << 20, CLEARED_UNASKED = 16 << 20 };

static _Thread_local struct memory_guard *innermost;

void memory_guard_begin(struct memory_guard *guard) {
  guard->outer = innermost;
  innermost = guard;
}

void memory_guard_end(struct memory_guard *guard) {
  assert(innermost == guard);
  innermost = guard->outer;
}

void memory_failed(void) {
  struct memory_guard *guard = innermost;
  if (guard == NULL) {
    fputs("ravel: out of memory where nothing is prepared for it\n", stderr);
    abort();
  }
  innermost = guard->outer;
  longjmp(guard->jump, 1);
}

void arena_init(struct arena *arena, struct heap *heap) {
  arena_init_small(arena, heap, FIRST_BLOCK);
}

void arena_init_small(struct arena *arena, struct heap *heap, size_t first_block) {
  memset(arena, 0, sizeof *arena);
  arena->heap = heap;
  arena->first_block = first_block;
}

size_t arena_bytes(const struct arena *arena) {
  size_t bytes = 0;
  for (const struct arena_block *b = arena->blocks; b; b = b->older) bytes += b->bytes;
  return bytes;
}

bool arena_holds(const struct arena *arena, const void *address) {
  const uintptr_t at = (uintptr_t)address;
  for (const struct arena_block *b = arena->blocks; b; b = b->older) {
    if (at >= (uintptr_t)b && at - (uintptr_t)b < b->bytes) return true;
  }
  return false;
}

void arena_free(struct arena *arena) {
  arena_free_since(arena, (struct arena_point){NULL, NULL, NULL});
}

bool arena_with(struct heap *heap, void (*work)(struct arena *, void *), void *context) {
  struct arena arena;
  arena_init(&arena, heap);
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    arena_free(&arena);
    return false;
  }
  work(&arena, context);
  memory_guard_end(&guard);
  arena_free(&arena);
  return true;
}

void arena_apart(void (*work)(struct arena *, void *), void *context) {
  struct heap heap;
  heap_init(&heap, 0);
  if (!arena_with(&heap, work, context)) memory_failed();
}

struct arena_point arena_mark(const struct arena *arena) {
  return (struct arena_point){arena->blocks, arena->next, arena->end};
}

void arena_free_since(struct arena *arena, struct arena_point mark) {
  struct arena_block *block = arena->blocks;
  while (block != mark.newest) {
    struct arena_block *older = block->older;
    heap_free(arena->heap, block, block->bytes);
    block = older;
  }
  arena->blocks = mark.newest;
  arena->next = mark.next;
  arena->end = mark.end;
}

static size_t arena_aligned(size_t bytes) {
  return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static void arena_ask_stop(struct arena *arena) {
  if (stop_asks(arena->heap->stop) != STOP_NOT) memory_failed();
}

void arena_poll(struct arena *arena) {
  enum { ROUNDS = 1024 };
  if (++arena->polls % ROUNDS == 0) arena_ask_stop(arena);
}

/* Makes a new current block with room for `bytes`. */
static void arena_add_block(struct arena *arena, size_t bytes) {
  arena_ask_stop(arena);
  size_t header = arena_aligned(sizeof(struct arena_block));
  size_t step = arena->blocks == NULL ? arena->first_block : 2 * arena->blocks->bytes;
  if (step > LARGEST_STEP) step = LARGEST_STEP;
  if (bytes > SIZE_MAX - header) memory_failed();
  size_t size = header + bytes > step ? header + bytes : step;
  struct arena_block *block = heap_alloc(arena->heap, size);
  if (block == NULL) memory_failed();
  block->older = arena->blocks;
  block->bytes = size;
  arena->blocks = block;
  arena->next = (char *)block + header;
  arena->end = (char *)block + size;
}

void *arena_alloc(struct arena *arena, size_t bytes) {
  if (bytes > SIZE_MAX - ALIGNMENT) memory_failed();
  size_t size = arena_aligned(bytes == 0 ? 1 : bytes);
  if (arena->next == NULL || (size_t)(arena->end - arena->next) < size)
    arena_add_block(arena, size);
  char *block = arena->next;
  arena->next += size;
  for (size_t done = 0; done < size; done += CLEARED_UNASKED) {
    if (done > 0) arena_ask_stop(arena);
    memset(block + done, 0, size - done < CLEARED_UNASKED ? size - done : CLEARED_UNASKED);
  }
  return block;
}

char *arena_copy(struct arena *arena, const char *text, size_t length) {
  char *copy = arena_alloc(arena, length + 1);
  if (length != 0) memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  size_t size = length < 0 ? 1 : (size_t)length + 1;
  char *text = arena_alloc(arena, size);
  vsnprintf(text, size, format, again);
  va_end(again);
  return text;
}

char *arena_printf(struct arena *arena, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = arena_vprintf(arena, format, args);
  va_end(args);
  return text;
}

void array_reserve_(struct arena *arena, void **items, size_t count, size_t *capacity,
                    size_t size) {
  if (count < *capacity) return;
  size_t larger = *capacity == 0 ? 8 : 2 * *capacity;
  if (larger > SIZE_MAX / size) memory_failed();
  void *grown = arena_alloc(arena, larger * size);
  if (count != 0) memcpy(grown, *items, count * size);
  *items = grown;
  *capacity = larger;
}
