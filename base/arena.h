/* arena.h - memory that is freed all at once, for programs and their representations.
 *
 * A failed allocation must end in an error message, but checks of every small allocation would
 * obscure a parser. So an arena jumps to the innermost guard, set by the entry point of a room
 * (vcode_parse, ir_build ...), and the code beneath it relies on arena_alloc.
 *
 * The same jump ends work that is asked to end (stop.h, if the heap has one): arenas ask with
 * every new block, and long loops without allocation call arena_poll. The code that set the
 * guard distinguishes the two cases by asking again.
 */
#ifndef RAVEL_ARENA_H
#define RAVEL_ARENA_H

#include "base/heap.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

struct arena_block;

struct arena {
  struct heap *heap;
  struct arena_block *blocks; /* newest first */
  char *next, *end;           /* free part of the newest block */
  unsigned polls;             /* calls of arena_poll */
  size_t first_block;         /* bytes; blocks double from there on */
};

/* Where execution continues when an allocation fails:
 *
 *   struct memory_guard guard;
 *   memory_guard_begin(&guard);
 *   if (setjmp(guard.jump)) {  // the guard has ended; the next outer one is in force again
 *     ...                      // frees arenas, closes files, ends children
 *     return failure;          // or memory_failed(): on to the next guard
 *   }
 *   ...
 *   memory_guard_end(&guard);
 *
 * Guards nest like calls, and each thread has its own: a thread without one allocates by
 * heap_alloc only, and reports failures. Code between begin and end does not return or jump
 * out; variables changed there and read after a failure are volatile. */
struct memory_guard {
  jmp_buf jump;
  struct memory_guard *outer;
};
void memory_guard_begin(struct memory_guard *);
void memory_guard_end(struct memory_guard *);
/* Memory has run out: jumps to the innermost guard of this thread. Without one it aborts. */
void memory_failed(void) __attribute__((noreturn));

/* An empty arena over heap; it allocates nothing yet. */
void arena_init(struct arena *, struct heap *);
/* Initialises an arena whose first block has so many bytes: for arenas of which there are many.
 */
void arena_init_small(struct arena *, struct heap *, size_t first_block);
/* Returns the bytes that the arena holds of its heap. */
size_t arena_bytes(const struct arena *);
/* Whether an address is in it. */
bool arena_holds(const struct arena *, const void *);
/* Frees everything allocated from the arena. The arena may be used again. */
void arena_free(struct arena *);

/* Calls work with an empty arena over heap, which is freed afterwards. Returns whether memory
 * sufficed: when it runs out, work ends where it is. */
bool arena_with(struct heap *heap, void (*work)(struct arena *, void *context), void *context);
/* Does what arena_with does over a heap of its own, for text that is only printed. It ends in
 * memory_failed where memory runs out. */
void arena_apart(void (*work)(struct arena *, void *context), void *context);

/* A mark in an arena: what is allocated later can be freed separately. */
struct arena_point {
  struct arena_block *newest;
  char *next, *end;
};
struct arena_point arena_mark(const struct arena *);
/* Frees what was allocated since the mark; later marks become invalid. */
void arena_free_since(struct arena *, struct arena_point);

/* Allocates bytes, aligned to 16 and zeroed. Never returns NULL: it ends in memory_failed
 * instead. */
void *arena_alloc(struct arena *, size_t bytes);
/* Ends in memory_failed if the heap's stop asks for an end. It is cheap: for loops whose rounds
 * take less than some microseconds. */
void arena_poll(struct arena *);
/* Copies the bytes text[0..length) and adds a NUL. */
char *arena_copy(struct arena *, const char *text, size_t length);
/* Prints into the arena as printf does, and returns the text. */
char *arena_printf(struct arena *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *, const char *format, va_list)
    __attribute__((format(printf, 2, 0)));

/* Growable arrays in an arena: ARRAY(struct item) list = {0}; *array_push(a, &list) = x;
 * then list.items[0 .. list.count). Growing leaves the old memory to the arena. */
#define ARRAY(type)                                                                            \
  struct {                                                                                     \
    type *items;                                                                               \
    size_t count, capacity;                                                                    \
  }
#define array_push(arena, list)                                                                \
  (array_reserve_((arena), (void **)&(list)->items, (list)->count, &(list)->capacity,          \
                  sizeof *(list)->items),                                                      \
   &(list)->items[(list)->count++])
void array_reserve_(struct arena *, void **items, size_t count, size_t *capacity, size_t size);

#endif
