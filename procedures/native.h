/* native.h - how native code of procedures is called: by whom holds vectors, for a range of the
 * instances of a batch call. The structs stand as text in every file that is compiled, and are
 * included by the back end that calls it: both must see the same.
 *
 * A thread executes one instance after the other. Vectors that live inside a call are in an
 * arena, a stack of blocks, and are popped when the call returns. Results are appended to
 * buffers, where the caller wants them; a caller that needs a result itself takes a buffer from
 * a pool, and gives it back.
 *
 * Native code that cannot go on - a check fails, memory runs out, calls are too deep, somebody
 * asks for the end - *gives up*: it returns false, and has had no effect. Whoever called it
 * executes the instances in another way, which reports.
 */
#ifndef RAVEL_PROCEDURES_NATIVE_H
#define RAVEL_PROCEDURES_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

/* An argument. INTs, FLOATs and BOOLs are n elements, of the widths of the program, BOOLs bytes.
 * A descriptor is n segments: segment k is offsets[k] .. offsets[k + 1] of what it describes. Its
 * first offset is 0 in the arguments of an entry, and any number inside of native code. */
struct native_value {
  const void *data;        /* elements, or NULL */
  const uint64_t *offsets; /* of a descriptor; or NULL */
  uint64_t n;
};

/* Memory that grows as results are appended: n elements, with room for more. A descriptor is
 * appended as the lengths of its segments, 64 bits each. */
struct native_buffer {
  char *at;
  uint64_t n;    /* elements */
  uint64_t room; /* bytes */
};

/* A buffer of the pool. */
struct native_pooled {
  struct native_buffer buffer;
  struct native_pooled *next;      /* among all that were made */
  struct native_pooled *next_free; /* among those that nobody uses */
};

/* A block of the arena; its memory follows. */
struct native_block {
  struct native_block *next, *previous;
  uint64_t bytes; /* of that memory */
};

/* What a thread keeps between calls of native code. All zero at first, but for the functions;
 * native_free, in the back end, frees what it holds. */
struct native_thread {
  struct native_block *block; /* the block of the arena that is in use */
  char *at, *end;             /* what is free of it */
  struct native_pooled *pool, *free_buffers;
  uint64_t depth, most_depth; /* of calls; at most */
  const volatile bool *stops; /* whether to give up; asked at every call */
  /* Functions of the back end. `allocate` returns memory aligned to 64 bytes, or NULL. `rank`
   * gives the ranks of n elements, `sort` the elements in order, stable, ascending or
   * descending, as the operations RANK and SORT do for one segment; they return false without
   * memory. */
  void *with;
  void *(*allocate)(void *with, uint64_t bytes);
  void (*release)(void *with, void *, uint64_t bytes);
  bool (*rank)(void *with, bool is_float, bool down, const void *x, uint64_t n, void *ranks);
  bool (*sort)(void *with, bool is_float, bool down, const void *x, uint64_t n, void *sorted);
};

/* An entry of native code: executes instances first .. last - 1 of a batch call. Parameters and
 * results are those of the lifted function, without its first parameter; sizes are as in struct
 * ir_instances (ir/ir.h). What each instance returns is appended to results[k]. */
typedef bool native_entry(struct native_thread *, uint64_t first, uint64_t last,
                          const struct native_value *params, struct native_buffer *results);

#endif
