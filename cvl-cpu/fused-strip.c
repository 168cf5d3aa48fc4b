/* fused-strip.c - the steps of a superoperator on one strip of places. */
#include <string.h>

#include "cvl-cpu/fused-native.h"
#include "cvl-cpu/fused-plan.h"
#include "cvl-cpu/kernels.h"

void fused_note(struct cvl_kernel *k, uint32_t node, uint64_t place) {
  note_lowest(&k->fault[node], place);
  note_lowest(&k->failed, node);
}

void fused_walks_at(struct fused_worker *w, uint64_t place) {
  const struct cvl_kernel *k = w->k;
  w->stretch_end = 0;
  for (uint32_t i = k->live_from; i < k->step_count; i++) {
    const struct fused_node *p = &k->nodes[k->live_steps[i]];
    if (p->action != ACT_DIST && p->action != ACT_INDEX && p->action != ACT_GATHER) continue;
    w->walks[p->walk] =
        walk_from(&p->near, (struct place){segment_from(&p->near, place), place});
  }
}

/* A gather; returns n or the first place, counted from `first`, whose index is at fault. */
static uint64_t gather(struct fused_worker *w, const struct superop_node *node,
                       const struct fused_node *p, uint64_t first, uint64_t n, void *out) {
  const struct cvl_kernel *k = w->k;
  const struct fused_value *values = k->values;
  const struct move_kernels *move = k->c->kernels->move;
  const struct move_int *ints = move_int(move, k->c->int_elem);
  const struct move_width *width = move_width(move, values[node->result].bytes);
  uint64_t at[LOCATE_MOST + SPREAD_SLACK / sizeof(uint64_t)], located;
  const void *index = fused_at(w, &values[node->operands[1]], first);
  if (p->action == ACT_PICK) {
    uint64_t limit[LOCATE_MOST];
    move->bounds(&p->far, first, n, at, limit);
    located = ints->locate(n, index, NULL, limit, at);
    if (located == n) width->gather(n, p->values, at, out);
    return located;
  }
  struct walk *walk = &w->walks[p->walk];
  const bool flagged = p->op == OP_BFPERMUTE;
  const uint8_t *flags =
      flagged ? (const uint8_t *)fused_at(w, &values[node->operands[2]], first) : NULL;
  const bool in_one = walk_in_one(walk, first + n);
  if (in_one && walk->segment == 1 && !flagged && k->c->int_elem == CVL_I64) {
    /* The indices are positions as they stand. */
    walk->position = first + n;
    const uint64_t limit = segment_start(&p->far, 1);
    located = p->bound <= limit ? n : ints->within(n, index, limit);
    if (located == n) width->gather(n, p->values, (const uint64_t *)index, out);
    return located;
  }
  if (in_one) {
    located = locate_in_one(ints, &p->far, walk, first + n, index, flags, at);
  } else {
    located = locate_across(move, ints, &p->far, walk, first + n, index, flags, at);
  }
  if (located == n) (flagged ? width->gather_some : width->gather)(n, p->values, at, out);
  return located;
}

/* n, or the first of n flags that is false. */
static uint64_t all_true(const char *flags, uint64_t n) {
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
  switch ((enum fused_action)p->action) {
  case ACT_MAP: {
    const void *in[MAX_OPERANDS];
    for (unsigned j = 0; j < node->operand_count; j++) {
      in[j] = fused_at(w, &k->values[node->operands[j]], first);
    }
    return p->entry->run(n, in, out);
  }
  case ACT_DIST:
    move_width(move, result->bytes)->dist(&w->walks[p->walk], first + n, p->values, out);
    return n;
  case ACT_INDEX:
    move_int(move, k->c->int_elem)
        ->index(&w->walks[p->walk], first + n, p->values, p->strides, out);
    return n;
  case ACT_GATHER:
  case ACT_PICK: return gather(w, node, p, first, n, out);
  case ACT_CHAIN: fused_chain_run(w, p, first, n); return n;
  case ACT_ASSERT: return all_true(fused_at(w, &k->values[node->operands[0]], first), n);
  case ACT_WITHIN:
    return move_int(move, k->c->int_elem)
        ->within(n, fused_at(w, &k->values[p->index], first), p->bound);
  case ACT_LOOP: /* fused-loop.c */
  case ACT_NOT: break;
  }
  return n;
}

/* Copies what was not made where it is wanted, of the nodes before `end`. */
static void deliver(struct fused_worker *w, uint64_t first, uint64_t n, uint64_t end) {
  struct cvl_kernel *k = w->k;
  for (uint32_t i = 0; i < k->copy_count; i++) {
    struct fused_value *v = &k->values[k->copies[i]];
    if (v->node >= end) continue;
    const char *from = fused_at(w, v, first);
    char *to = (char *)result_data(&v->whole) + (v->before + first) * v->bytes;
    if (v->streaming) {
      k->c->kernels->move->stream(to, from, n * v->bytes);
    } else {
      memcpy(to, from, n * v->bytes);
    }
  }
}

/* The index is kept here, since the run may overwrite what it came from. */
void fused_remember(struct fused_worker *w, uint32_t number, uint64_t first, uint64_t place) {
  struct cvl_kernel *k = w->k;
  const struct superop_node *node = &k->op->nodes[number];
  fused_note(k, number, place);
  if (number > w->fault_node || (number == w->fault_node && place > w->fault_place)) return;
  w->fault_node = number;
  w->fault_place = place;
  if (node->role == ROLE_MAP || node->role == ROLE_ASSERT) return;
  const struct fused_value *v = &k->values[node->operands[1]];
  struct cvl_value index = {.form = CVL_SCALAR, .elem = v->elem};
  memcpy(&index.as, fused_at(w, v, first) + (place - first) * v->step, v->bytes);
  w->fault_index = cvl_int_of(&index);
}

void fused_stream(struct fused_worker *w, uint32_t param, const char *at) {
  uint32_t i = 0;
  while (i < w->stream_count && w->streams[i].param != param) i++;
  if (i < w->stream_count) {
    if (at > w->streams[i].at) w->streams[i].at = at;
    return;
  }
  w->streams[w->stream_count++] = (struct fused_stream){at, param, w->k->values[param].bytes};
}

void fused_streams_begin(struct fused_worker *w) {
  const struct cvl_kernel *k = w->k;
  w->stream_count = 0;
  for (uint32_t i = 0; i < k->op->param_count; i++) {
    if (k->values[i].read_places) fused_stream(w, i, k->values[i].base);
  }
  for (uint32_t i = 0; i < k->step_count; i++) {
    const struct superop_node *node = &k->op->nodes[k->steps[i]];
    if (node->role != ROLE_GATHER || k->values[node->result].place != IN_MEMORY) continue;
    fused_stream(w, node->operands[0], k->values[node->result].base);
  }
}

enum { LINE = 64, SECOND_LEVEL = 2 };

static uint64_t ahead_lines(const struct fused_worker *w, const struct fused_stream *s) {
  return (w->ahead_places * s->bytes + LINE - 1) / LINE;
}

void fused_ask_begin(struct fused_worker *w, uint32_t steps) {
  w->ask_stream = 0;
  w->ask_line = w->ask_lines = w->asked = w->ask_pace = 0;
  if (w->ahead_places == 0 || steps == 0) return;
  for (uint32_t i = 0; i < w->stream_count; i++) w->ask_lines += ahead_lines(w, &w->streams[i]);
  w->ask_pace = (w->ask_lines << 32) / steps + 1; /* so that the last step asks for the last */
}

/* The processor's own prefetching stops at every page, a strip is a page, and while its steps
 * go from buffer to buffer nothing else would be under way. Without it a sum of squares takes a
 * tenth longer. No more lines are asked for at once than the processor has room to wait for, so
 * every step is preceded by its share: with all of them at the start a product with a sparse
 * matrix takes a fifth longer. They are asked for into the second-level cache: the first has no
 * room for two strips of everything and drops them before their turn, so that on an AMD
 * processor whose first has 32 KB a dot product of 10 million pairs, one thread, takes twice as
 * long (`bench/run dot-product --threads 1 --largest`). */
void fused_ask_ahead(struct fused_worker *w, uint32_t done) {
  uint64_t due = w->ask_pace * done >> 32;
  if (due > w->ask_lines) due = w->ask_lines;
  while (w->asked < due) {
    const struct fused_stream *s = &w->streams[w->ask_stream];
    const uint64_t end = ahead_lines(w, s);
    const char *at = s->at + w->ahead * s->bytes;
    for (; w->asked < due && w->ask_line < end; w->ask_line++, w->asked++) {
      __builtin_prefetch(at + w->ask_line * LINE, 0, SECOND_LEVEL);
    }
    if (w->ask_line < end) return;
    w->ask_line = 0;
    w->ask_stream++;
  }
}

/* Steps are in the order of their nodes, and of a strip at fault the steps before the fault
 * are all executed: so the lowest node at fault gets its lowest place, whatever was found
 * first. Their results are delivered too: a scatter among them may be at fault itself. */
static bool strip(struct fused_worker *w, uint64_t first, uint64_t n) {
  struct cvl_kernel *k = w->k;
  const uint64_t failed = atomic_load_explicit(&k->failed, memory_order_relaxed);
  w->origin[IN_STRIP] = w->origin[IN_STRETCH] = first;
  uint64_t end = FUSED_NONE;
  if (k->compiled) {
    fused_native_strip(w, first, n);
  } else {
    const struct fused_steps steps = fused_steps_here(w);
    fused_ask_begin(w, steps.end - steps.first);
    for (uint32_t i = steps.first; i < steps.end && end == FUSED_NONE; i++) {
      const uint32_t number = steps.numbers[i];
      if (number > failed) {
        end = failed;
        break;
      }
      fused_ask_ahead(w, i + 1 - steps.first);
      if (k->op->nodes[number].role == ROLE_CARRY) {
        if (!fused_loop(w, &i, first, n)) end = number;
        continue;
      }
      if (k->stretches && fused_stretch_has(w, number, first, n)) continue;
      const uint64_t done = fused_step(w, number, first, n);
      if (done == n) continue;
      fused_remember(w, number, first, first + done);
      end = number;
    }
  }
  deliver(w, first, n,
          end < failed ? end : failed); /* what uniform values need may have failed */
  return atomic_load_explicit(&k->failed, memory_order_relaxed) == FUSED_NONE;
}

bool fused_strip(struct fused_worker *w, uint64_t first, uint64_t n) {
  const struct cvl_kernel *k = w->k;
  const bool asks = (k->pieces > 1 || k->n > PIECE_BYTES) && k->n - first >= 2 * n;
  if (!k->stretches) {
    /* Groups of segments end in shorter strips: on from where the last strip's share ended. */
    const uint64_t end = first + n + k->strip, next = w->ahead + w->ahead_places;
    w->ahead = next > first + n && next < end ? next : first + n;
    w->ahead_places = asks ? end - w->ahead : 0;
    return strip(w, first, n);
  }
  bool good = true;
  for (uint64_t done = 0; done < n;) {
    const uint64_t part = fused_stretch(w, first + done, n - done);
    w->ahead = first + n + done;
    w->ahead_places = asks ? part : 0;
    good &= strip(w, first + done, part);
    done += part;
  }
  return good;
}
