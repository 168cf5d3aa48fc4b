/* run.c - functions of the machine that both executors use while a program runs: room on the
 * stack, frames, sites, limits, constants, conditions.
 */
#include "cvl/processes.h"
#include "vinterp/machine/machine-private.h"

#include <inttypes.h>

enum {
  /* Limits are checked after so much fuel. A call takes 1. An operation of the back end takes
   * more, since it lasts at least some hundred nanoseconds and may last seconds. */
  FUEL = 4096,
  FUEL_OF_OPERATION = 512
};

bool machine_reserve(struct machine *m, const struct machine_site *site, uint64_t needed) {
  if (needed <= m->capacity) return true;
  uint64_t capacity = m->capacity ? m->capacity : 256;
  while (capacity < needed) capacity *= 2;
  struct value *stack =
      heap_grow(m->heap, m->stack, m->capacity * sizeof *stack, capacity * sizeof *stack);
  if (!stack) return machine_memory_fault(m, site, capacity * sizeof *stack);
  for (uint64_t k = m->capacity; k < capacity; k++) stack[k] = (struct value){.form = 0};
  m->stack = stack;
  m->capacity = capacity;
  return true;
}

static bool grow_frames(struct machine *m, const struct machine_site *site) {
  uint64_t capacity = m->frame_capacity ? 2 * m->frame_capacity : 64;
  struct frame *frames = heap_grow(m->heap, m->frames, m->frame_capacity * sizeof *frames,
                                   capacity * sizeof *frames);
  if (!frames) return machine_memory_fault(m, site, capacity * sizeof *frames);
  m->frames = frames;
  m->frame_capacity = capacity;
  return true;
}

bool machine_reserve_frame(struct machine *m, const struct machine_site *site) {
  return m->frame_capacity > 0 || grow_frames(m, site);
}

bool machine_push_frame(struct machine *m, const struct machine_site *site, uint32_t function,
                        uint64_t base) {
  if (m->depth >= m->max_depth) {
    return machine_limit_fault(m, site, "more than %" PRIu64 " calls are open", m->max_depth);
  }
  if (m->depth == m->frame_capacity && !grow_frames(m, site)) return false;
  m->frames[m->depth++] = (struct frame){
      .caller = site->location, .tail = NO_LOCATION, .function = function, .base = base};
  if (m->profile) profile_call(m->profile, m->profile_rows[function]);
  return true;
}

bool machine_replace_frame(struct machine *m, const struct machine_site *site,
                           uint32_t function, uint64_t base) {
  if (m->depth <= m->history.visible && !machine_note_return(m)) return false;
  struct frame *frame = &m->frames[m->depth - 1];
  frame->tail = site->location;
  frame->tails++;
  frame->function = function;
  frame->base = base;
  if (m->profile) profile_call(m->profile, m->profile_rows[function]);
  return true;
}

/* Makes room in the history. When it is full, all operations are waited for and forgotten. */
static bool history_room(struct machine *m, const struct machine_site *site) {
  if (history_has_room(&m->history)) return true;
  if (!history_reserve(&m->history, m->heap)) {
    return machine_memory_fault(m, site, HISTORY_CAPACITY * sizeof(uint64_t));
  }
  return history_has_room(&m->history) || machine_settle(m, site);
}

bool machine_note_return(struct machine *m) {
  const struct frame *frame = &m->frames[m->depth - 1];
  struct machine_site site = {m->site, frame->caller};
  if (!history_room(m, &site)) return false;
  /* Nothing to note if the history has just been forgotten. */
  if (m->depth <= m->history.visible) history_return(&m->history, frame, m->depth);
  return true;
}

bool machine_next_sites(struct machine *m, uint32_t location, uint32_t sites,
                        struct machine_site *site) {
  *site = (struct machine_site){m->site, location};
  if (m->chunks.pass != CHUNKS_RUN && !chunks_may_execute(m, location)) return false;
  m->fuel -= FUEL_OF_OPERATION;
  if (m->fuel < 0 && !machine_poll(m, site)) return false;
  if (!history_room(m, site)) return false;
  site->number = m->site + 1;
  m->site += sites;
  history_operation(&m->history, location, sites, m->depth);
  return true;
}

bool machine_next_site(struct machine *m, uint32_t location, struct machine_site *site) {
  return machine_next_sites(m, location, 1, site);
}

bool machine_ends_operations(void *machine) {
  const double patience = 0.5; /* seconds that processes get to come to a step where all end */
  const struct machine *m = machine;
  return machine_asks_to_stop(machine) || stop_overdue(m->options.stop, patience);
}

bool machine_asks_to_stop(void *machine) {
  const struct machine *m = machine;
  return (m->team && team_is_ending(m->team)) || stop_asks(m->options.stop) != STOP_NOT;
}

/* If one process has ended something by itself, all report the same at their next agreement.
 * It was the limit of time: only for that does machine_ends_operations end anything. */
static void agree_on_fault(struct machine *m) {
  if (m->backend->processes && stop_asks(m->options.stop) == STOP_NOT)
    stop_agree(m->options.stop, STOP_TIME);
}

void machine_describe_stop(struct machine *m, char *message, size_t size) {
  if (m->options.stop) agree_on_fault(m);
  m->interrupted = stop_asks(m->options.stop) == STOP_SIGNAL;
  stop_describe(m->options.stop, message, size);
}

bool machine_may_go_on(struct machine *m, const struct machine_site *site) {
  if (!machine_asks_to_stop(m)) return true;
  char message[128];
  machine_describe_stop(m, message, sizeof message);
  m->chunks.final = true; /* it is no fault of this chunk, so the other chunks are not
                             searched for one */
  if (m->interrupted) return machine_fault(m, site, "%s", message);
  machine_limit_fault(m, site, "%s", message);
  m->failure.stopped = true;
  return false;
}

void machine_show_progress(struct machine *m) {
  if (m->options.progress_fd < 0 || !m->program || m->depth == 0) return;
  const struct cvl_statistics s = m->team && team_is_busy(m->team)
                                      ? team_statistics(m->team)
                                      : m->backend->statistics(m->context);
  const struct frame *top = &m->frames[m->depth - 1];
  progress_update(&m->progress, m->program->functions[top->function].name->text, s.live_bytes,
                  s.peak_bytes);
}

/* Processes that execute a program together come here at the same steps, and end together. */
static void decide_together(struct machine *m) {
  const struct stop *stop = m->options.stop;
  if (!stop || !m->backend->processes) return;
  const unsigned why = m->backend->processes->stops(m->context, m->runs, stop_wants(stop));
  if (why) stop_agree(stop, (enum stop_reason)why);
}

bool machine_poll(struct machine *m, const struct machine_site *site) {
  m->fuel = FUEL;
  decide_together(m);
  if (!machine_may_go_on(m, site)) return false;
  machine_show_progress(m);
  return true;
}

bool machine_decide(struct machine *m, uint32_t location, const struct value *condition,
                    bool *out) {
  struct machine_site site;
  int64_t x;
  if (!machine_next_site(m, location, &site) || !machine_settle(m, &site) ||
      !check_sizes_now(m, &site, OPC_IF, condition) || !machine_int(m, &site, condition, &x)) {
    return false;
  }
  *out = x != 0;
  return true;
}

/* ---- constants ---- */

static void executor_narrow_ints(const struct vcode_constant *c, enum cvl_elem elem,
                                 void *data) {
  for (uint64_t k = 0; k < c->length; k++) {
    int64_t x = c->type == TW_CHAR ? (unsigned char)c->as.chars[k] : c->as.ints[k];
    if (elem == CVL_I32) {
      ((int32_t *)data)[k] = (int32_t)x;
    } else {
      ((int64_t *)data)[k] = x;
    }
  }
}

static void narrow_floats(const struct vcode_constant *c, enum cvl_elem elem, void *data) {
  for (uint64_t k = 0; k < c->length; k++) {
    if (elem == CVL_F32) {
      ((float *)data)[k] = (float)c->as.floats[k];
    } else {
      ((double *)data)[k] = c->as.floats[k];
    }
  }
}

bool machine_constant(struct machine *m, const struct machine_site *site,
                      const struct vcode_constant *c, struct value *out) {
  if (c->type == TW_SEGDES) return machine_segdes(m, site, c->length, c->as.ints, out);
  if (c->type == TW_BOOL) {
    return machine_from_host(m, site, CVL_BOOL, c->length, c->as.bools, out);
  }
  enum cvl_elem elem = c->type == TW_FLOAT ? m->widths.float_elem : m->widths.int_elem;
  size_t bytes = (size_t)c->length * elem_info(elem)->bytes;
  void *data = heap_alloc(m->heap, bytes);
  if (!data) return machine_memory_fault(m, site, bytes);
  if (c->type == TW_FLOAT) {
    narrow_floats(c, elem, data);
  } else {
    executor_narrow_ints(c, elem, data);
  }
  bool ok = machine_from_host(m, site, elem, c->length, data, out);
  heap_free(m->heap, data, bytes);
  return ok;
}
