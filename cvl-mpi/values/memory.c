/* memory.c - memory of the host. Large memory is kept when it is freed, for the next
 * allocation: new pages of the system take longer than the copy that fills them.
 */
#include "cvl-mpi/values/memory.h"

#include <stdio.h>
#include <stdlib.h>

#include "cvl-mpi/exchange/faults.h"

/* Memory of at least ROOM_BYTES, in use or kept. */
struct room {
  void *data;
  uint64_t bytes;
  bool taken;
};

enum {
  ROOM_BYTES = 1 << 16,
  ROOMS_KEPT = 16,           /* the most that are kept */
  ROOMS_KEPT_BYTES = 1 << 28 /* the most bytes that are kept, together */
};

_Noreturn void mpi_no_memory(const struct cvl_context *c) {
  fprintf(stderr, "ravel: rank %u has no memory left\n", c->rank);
  abort();
}

void *mpi_alloc(struct cvl_context *c, size_t bytes) {
  void *p = calloc(1, bytes ? bytes : 1);
  if (!p) mpi_no_memory(c);
  return p;
}

/* ---- rooms; those that were freed last are at the end ---- */

static void memory_forget(struct cvl_context *c, uint64_t k) {
  free(c->rooms[k].data);
  for (c->room_count--; k < c->room_count; k++) c->rooms[k] = c->rooms[k + 1];
}

/* Returns the smallest kept room that is large enough and less than about twice as large; or
 * NULL. */
static struct room *kept_room(struct cvl_context *c, uint64_t bytes) {
  struct room *best = NULL;
  for (uint64_t k = 0; k < c->room_count; k++) {
    struct room *r = &c->rooms[k];
    if (r->taken || r->bytes < bytes || r->bytes / 2 > bytes) continue;
    if (!best || r->bytes < best->bytes) best = r;
  }
  return best;
}

/* Frees the kept rooms beyond the limits, those that were returned first before others. */
static void limit_kept(struct cvl_context *c) {
  uint64_t count = 0, bytes = 0;
  for (uint64_t k = c->room_count; k-- > 0;) {
    const struct room *r = &c->rooms[k];
    if (r->taken) continue;
    count++;
    bytes += r->bytes;
    if (count > ROOMS_KEPT || bytes > ROOMS_KEPT_BYTES) memory_forget(c, k);
  }
}

static struct room *new_room(struct cvl_context *c) {
  if (c->room_count == c->room_capacity) {
    const uint64_t capacity = 2 * c->room_capacity + 16;
    struct room *more = realloc(c->rooms, capacity * sizeof *more);
    if (!more) return NULL;
    c->rooms = more;
    c->room_capacity = capacity;
  }
  return &c->rooms[c->room_count];
}

static void *take_room(struct cvl_context *c, uint64_t bytes) {
  struct room *r = kept_room(c, bytes);
  if (!r) {
    r = new_room(c);
    void *data = r ? malloc(bytes) : NULL;
    if (!data) return NULL;
    *r = (struct room){.data = data, .bytes = bytes};
    c->room_count++;
  }
  r->taken = true;
  return r->data;
}

void *mpi_try_alloc(struct cvl_context *c, uint64_t site, uint64_t bytes) {
  void *p = NULL;
  if (++c->hosts_own != c->hosts_fail)
    p = bytes >= ROOM_BYTES ? take_room(c, bytes) : malloc(bytes ? bytes : 1);
  if (!p) fault_memory(c, site, bytes);
  return p;
}

void mpi_free(struct cvl_context *c, void *p) {
  uint64_t k = 0;
  while (k < c->room_count && c->rooms[k].data != p) k++;
  if (k == c->room_count || !p) {
    free(p);
    return;
  }
  const struct room r = {c->rooms[k].data, c->rooms[k].bytes, false};
  for (; k + 1 < c->room_count; k++) c->rooms[k] = c->rooms[k + 1];
  c->rooms[k] = r;
  limit_kept(c);
}

void mpi_rooms_free(struct cvl_context *c) {
  while (c->room_count > 0) memory_forget(c, 0);
  free(c->rooms);
}
