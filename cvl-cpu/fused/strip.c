/* strip.c - the steps of a superoperator on one strip of positions. */
#include "cvl-cpu/fused/strip.h"

#include <string.h>

#include "cvl-cpu/fused/affine-gather.h"
#include "cvl-cpu/fused/gather.h"
#include "cvl-cpu/fused/loop.h"
#include "cvl-cpu/fused/message.h"
#include "cvl-cpu/fused/worker.h"
#include "cvl-cpu/kernels/kernels.h"

void fused_note(struct cvl_kernel *k, uint32_t node, uint64_t position) {
  note_lowest(&k->run.fault[node], position);
  note_lowest(&k->run.failed, node);
}

static struct walk walk_at(const struct segments *s, uint64_t position) {
  return walk_from(s, (struct path_coordinate){segment_from(s, position), position});
}

void fused_walks_at(struct fused_worker *w, uint64_t position) {
  const struct cvl_kernel *k = w->k;
  w->run_end = w->rectangles_found = 0;
  w->begun = position;
  for (uint32_t i = 0; i < k->step_count; i++) {
    const uint32_t number = k->steps[i];
    const struct fused_node *p = &k->nodes[number];
    if (p->run.action == ACT_GATHER_RUNS) {
      const struct superop_node *node = &k->op->nodes[number];
      const struct fused_node *index = &k->nodes[k->values[node->operands[1]].node];
      w->walks[p->index_walk] = walk_at(&index->run.near, position);
    } else if (p->run.action != ACT_DIST && p->run.action != ACT_INDEX &&
               p->run.action != ACT_GATHER) {
      continue;
    }
    w->walks[p->walk] = walk_at(&p->run.near, position);
  }
}

/* n, or the first of n flags that is false. */
static uint64_t strip_all_true(const char *flags, uint64_t n) {
  const char *found = memchr(flags, 0, n);
  return found ? (uint64_t)(found - flags) : n;
}

uint64_t fused_step(struct fused_worker *w, uint32_t number, uint64_t first, uint64_t n) {
  const struct cvl_kernel *k = w->k;
  const struct superop_node *node = &k->op->nodes[number];
  const struct fused_node *p = &k->nodes[number];
  const struct move_kernels *move = k->c->kernels->move;
  const struct fused_value *result = fused_result(k, number);
  char *out = result ? fused_at(w, result, first) : NULL;
  switch ((enum fused_action)p->run.action) {
  case ACT_MAP: {
    const void *in[MAX_OPERANDS];
    for (unsigned j = 0; j < node->operand_count; j++) {
      in[j] = fused_at(w, &k->values[node->operands[j]], first);
    }
    return p->entry->run(n, in, out);
  }
  case ACT_DIST:
    move_width(move, result->bytes)->dist(&w->walks[p->walk], first + n, p->run.values, out);
    return n;
  case ACT_INDEX:
    move_int(move, k->c->int_elem)
        ->index(&w->walks[p->walk], first + n, p->run.values, p->run.strides, out);
    return n;
  case ACT_GATHER:
  case ACT_PICK: return fused_gather(w, number, first, n, out);
  case ACT_GATHER_RUNS: return fused_copy_runs(w, number, first, n, out);
  case ACT_ASSERT: return strip_all_true(fused_at(w, &k->values[node->operands[0]], first), n);
  case ACT_WITHIN:
    return move_int(move, k->c->int_elem)
        ->within(n, fused_at(w, &k->values[p->index], first), p->run.bound);
  case ACT_LOOP: /* loop.c */
  case ACT_NONE: break;
  }
  return n;
}

/* Copies the results of nodes before `end` that were computed in buffers. */
static void fused_deliver(struct fused_worker *w, uint64_t first, uint64_t n, uint64_t end) {
  struct cvl_kernel *k = w->k;
  for (uint32_t i = 0; i < k->run.copy_count; i++) {
    struct fused_value *v = &k->values[k->run.copies[i]];
    if (v->node >= end) continue;
    const char *from = fused_at(w, v, first);
    char *to = (char *)result_data(&v->run.whole) + (v->run.before + first) * v->bytes;
    if (v->run.streaming) {
      k->c->kernels->move->stream(to, from, n * v->bytes);
    } else {
      memcpy(to, from, n * v->bytes);
    }
  }
}

/* The index is kept here, since the run may overwrite the vector that it was read from. */
static void fused_remember(struct fused_worker *w, uint32_t number, uint64_t first,
                           uint64_t position) {
  struct cvl_kernel *k = w->k;
  const struct superop_node *node = &k->op->nodes[number];
  fused_note(k, number, position);
  if (number > w->fault_node || (number == w->fault_node && position > w->fault_position))
    return;
  w->fault_node = number;
  w->fault_position = position;
  if (node->role == ROLE_MAP || node->role == ROLE_ASSERT) return;
  if (k->nodes[number].run.action == ACT_GATHER_RUNS) {
    w->fault_index = fused_runs_index(k, number, position);
    return;
  }
  const struct fused_value *v = &k->values[node->operands[1]];
  struct cvl_value index = {.form = CVL_SCALAR, .elem = v->elem};
  memcpy(&index.as, fused_at(w, v, first) + (position - first) * v->run.step, v->bytes);
  w->fault_index = cvl_int_of(&index);
}

void fused_stream(struct fused_worker *w, uint32_t param, const char *at) {
  uint32_t i = 0;
  while (i < w->stream_count && w->streams[i].param != param) i++;
  if (i < w->stream_count) {
    if (at > w->streams[i].at) w->streams[i].at = at;
    return;
  }
  w->streams[w->stream_count++] = (struct fused_stream){at, w->k->values[param].bytes, param};
}

void fused_streams_begin(struct fused_worker *w) {
  const struct cvl_kernel *k = w->k;
  w->stream_count = 0;
  for (uint32_t i = 0; i < k->op->param_count; i++) {
    if (k->values[i].read_elementwise) fused_stream(w, i, k->values[i].run.base);
  }
  for (uint32_t i = 0; i < k->step_count; i++) {
    const struct superop_node *node = &k->op->nodes[k->steps[i]];
    if (node->role != ROLE_GATHER || k->values[node->result].run.storage != IN_MEMORY) continue;
    fused_stream(w, node->operands[0], k->values[node->result].run.base);
  }
}

enum { LINE = 64, SECOND_LEVEL = 2 };

static uint64_t prefetch_lines_of(const struct fused_worker *w, const struct fused_stream *s) {
  return (w->prefetch_count * s->bytes + LINE - 1) / LINE;
}

/* Plans the prefetching of the next strip's operands over so many steps. */
static void fused_prefetch_begin(struct fused_worker *w, uint32_t steps) {
  w->prefetch_stream = 0;
  w->prefetch_line = w->prefetch_lines = w->prefetched = w->prefetch_pace = 0;
  if (w->prefetch_count == 0 || steps == 0) return;
  for (uint32_t i = 0; i < w->stream_count; i++)
    w->prefetch_lines += prefetch_lines_of(w, &w->streams[i]);
  w->prefetch_pace =
      (w->prefetch_lines << 32) / steps + 1; /* the last step does the last line */
}

/* The hardware prefetcher stops at page boundaries, and a strip is a page: while steps work
 * from buffer to buffer memory would be idle. Without software prefetching a sum of squares
 * takes a tenth longer. The processor can wait for few lines at a time, so they are spread over
 * the steps: with all of them at the start a product with a sparse matrix takes a fifth longer.
 * They go to the second-level cache. The first-level cache has no room for two strips of all
 * operands and evicts them before they are used: on an AMD processor with 32 KB of it a dot
 * product of 10 million pairs, one thread, then takes twice as long (`bench/run dot-product
 * --threads 1
 * --largest`). */
/* Prefetches what is due when `done` steps are about to be done. */
static void fused_prefetch(struct fused_worker *w, uint32_t done) {
  uint64_t due = w->prefetch_pace * done >> 32;
  if (due > w->prefetch_lines) due = w->prefetch_lines;
  while (w->prefetched < due) {
    const struct fused_stream *s = &w->streams[w->prefetch_stream];
    const uint64_t end = prefetch_lines_of(w, s);
    const char *at = s->at + w->prefetch_from * s->bytes;
    for (; w->prefetched < due && w->prefetch_line < end; w->prefetch_line++, w->prefetched++) {
      __builtin_prefetch(at + w->prefetch_line * LINE, 0, SECOND_LEVEL);
    }
    if (w->prefetch_line < end) return;
    w->prefetch_line = 0;
    w->prefetch_stream++;
  }
}

/* Steps are executed in the order of their nodes. In a strip with a fault all steps before the
 * faulting one are executed, so the lowest faulting node gets its lowest position whichever
 * fault was found first. Their results are copied too, since a scatter of them may be at fault
 * itself.
 */
static bool strip(struct fused_worker *w, uint64_t first, uint64_t n) {
  struct cvl_kernel *k = w->k;
  const uint64_t failed = atomic_load_explicit(&k->run.failed, memory_order_relaxed);
  w->origin[IN_STRIP] = w->origin[IN_AFFINE_RUN] = first;
  uint64_t end = FUSED_NONE;
  const struct fused_steps steps = fused_steps_here(w);
  fused_prefetch_begin(w, steps.end - steps.first);
  for (uint32_t i = steps.first; i < steps.end && end == FUSED_NONE; i++) {
    const uint32_t number = steps.numbers[i];
    if (number > failed) {
      end = failed;
      break;
    }
    fused_prefetch(w, i + 1 - steps.first);
    if (k->op->nodes[number].role == ROLE_CARRY) {
      if (!fused_loop(w, &i, first, n)) end = number;
      continue;
    }
    if (k->run.has_affine_runs && fused_affine_has(w, number, first, n)) continue;
    const uint64_t done = fused_step(w, number, first, n);
    if (done == n) continue;
    fused_remember(w, number, first, first + done);
    end = number;
  }
  fused_deliver(w, first, n,
                end < failed ? end
                             : failed); /* the computation of uniform values may have failed */
  return atomic_load_explicit(&k->run.failed, memory_order_relaxed) == FUSED_NONE;
}

void fused_strip_column(struct fused_worker *w, uint64_t first, uint64_t n) {
  w->prefetch_count = 0;
  strip(w, first, n);
}

bool fused_strip(struct fused_worker *w, uint64_t first, uint64_t n) {
  const struct cvl_kernel *k = w->k;
  const bool prefetches =
      (k->run.chunks > 1 || k->run.n > tuned(k->c, CHUNK_BYTES)) && k->run.n - first >= 2 * n;
  if (!k->run.has_affine_runs) {
    /* Groups of segments end in shorter strips: continue where prefetching stopped. */
    const uint64_t end = first + n + k->run.strip, next = w->prefetch_from + w->prefetch_count;
    w->prefetch_from = next > first + n && next < end ? next : first + n;
    w->prefetch_count = prefetches ? end - w->prefetch_from : 0;
    return strip(w, first, n);
  }
  bool good = true;
  for (uint64_t done = 0; done < n;) {
    const uint64_t count = fused_affine_run(w, first + done, n - done);
    w->prefetch_from = first + n + done;
    w->prefetch_count = prefetches ? count : 0;
    good &= strip(w, first + done, count);
    done += count;
  }
  return good;
}
