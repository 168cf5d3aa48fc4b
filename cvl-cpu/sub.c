/* sub.c - sub-contexts. Each is for one more thread, over the heap, the kernels and the
 * compiler's cache of its parent.
 *
 * A sub-context has memory, an error slot, a list of what it holds and a pool without threads.
 * A superoperator keeps the state of a run in its kernel. So a sub-context that runs one of its
 * parent's makes a copy of that kernel, once. A closed sub-context is kept for the next time,
 * with its memory and its kernels.
 */
#include <stdlib.h>
#include <string.h>

#include "cvl-cpu/fused/plan.h"
#include "cvl-cpu/procedures/private.h"

static struct cvl_context *cpu_sub_new(struct cvl_context *c) {
  struct cvl_context *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->parent = c;
  s->int_elem = c->int_elem;
  s->float_elem = c->float_elem;
  s->tuning = c->tuning;
  s->stop = c->stop;
  s->memory_limit = c->memory_limit;
  s->heap = c->heap;
  s->compile_cache = c->compile_cache;
  s->kernels = c->kernels;
  s->map_rows = c->map_rows;
  s->memory = memory_new_sub(c->memory);
  s->pool = s->memory ? pool_new(c->heap, 1, 0, 0) : NULL;
  if (s->pool) {
    pool_set_stop(s->pool, c->stop);
    return s;
  }
  free(s); /* its memory is in the parent's list, which frees it */
  return NULL;
}

struct cvl_context *cpu_open_sub(struct cvl_context *c) {
  if (c->parent || !memory_enter_sub(c->memory)) return NULL;
  pthread_mutex_lock(&c->idle_lock);
  struct cvl_context *s = c->idle;
  if (s) c->idle = s->next_idle;
  pthread_mutex_unlock(&c->idle_lock);
  if (!s) s = cpu_sub_new(c);
  if (s) memory_open_sub(s->memory);
  return s;
}

/* Discards the superoperators that the sub-context has prepared itself. */
static void discard_own(struct cvl_context *s) {
  for (struct cvl_kernel *k = s->prepared, *next; k; k = next) {
    next = k->next;
    if (!k->is_copy) cpu_discard(s, k);
  }
}

void cpu_close_sub(struct cvl_context *s) {
  struct cvl_context *c = s->parent;
  release_all(s);
  discard_own(s);
  s->error = (struct cvl_error){.kind = CVL_E_NONE};
  memory_close_sub(s->memory);
  pthread_mutex_lock(&c->idle_lock);
  s->next_idle = c->idle;
  c->idle = s;
  pthread_mutex_unlock(&c->idle_lock);
}

void cpu_free_subs(struct cvl_context *c) {
  for (struct cvl_context *s = c->idle, *next; s; s = next) {
    next = s->next_idle;
    procedure_workers_free(s);
    while (s->prepared) cpu_discard(s, s->prepared);
    memory_give(s->memory, s->copies, s->copy_room * sizeof *s->copies);
    pool_free(s->pool);
    free(s);
  }
  c->idle = NULL;
}

/* ---- kernels of the parent ---- */

/* Makes room for copies of kernels up to this number. */
static bool more_room(struct cvl_context *s, uint32_t number) {
  const uint32_t room = 2 * number + 16;
  struct cvl_kernel **copies = memory_take(s->memory, room * sizeof *copies);
  if (!copies) return false;
  memset(copies, 0, room * sizeof *copies);
  if (s->copies) memcpy(copies, s->copies, s->copy_room * sizeof *copies);
  memory_give(s->memory, s->copies, s->copy_room * sizeof *copies);
  s->copies = copies;
  s->copy_room = room;
  return true;
}

struct cvl_kernel *cpu_kernel_of(struct cvl_context *c, struct cvl_kernel *k) {
  if (k->c == c) return k;
  if (k->number >= c->copy_room && !more_room(c, k->number)) return NULL;
  struct cvl_kernel **copy = &c->copies[k->number];
  if (!*copy) *copy = cpu_prepare_copy(c, k);
  return *copy;
}

void cpu_discard_copies(struct cvl_context *c, const struct cvl_kernel *k) {
  for (struct cvl_context *s = c->idle; s; s = s->next_idle) {
    if (k->number >= s->copy_room || !s->copies[k->number]) continue;
    cpu_discard(s, s->copies[k->number]);
    s->copies[k->number] = NULL;
  }
}
