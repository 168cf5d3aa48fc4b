/* run.c - running a superoperator: its results, the memory of a run, scatters, faults. */
#include <string.h>

#include "base/check.h"
#include "cvl-cpu/combine/combinations.h"
#include "cvl-cpu/cvl-cpu.h"
#include "cvl-cpu/fused/affine-gather.h"
#include "cvl-cpu/fused/bind.h"
#include "cvl-cpu/fused/choice.h"
#include "cvl-cpu/fused/chunk.h"
#include "cvl-cpu/fused/columns.h"
#include "cvl-cpu/fused/compiled.h"
#include "cvl-cpu/fused/concatenate.h"
#include "cvl-cpu/fused/copy.h"
#include "cvl-cpu/fused/message.h"
#include "cvl-cpu/fused/packs.h"
#include "cvl-cpu/fused/ranges.h"
#include "cvl-cpu/fused/strip.h"
#include "cvl-cpu/fused/worker.h"
#include "cvl-cpu/kernels/kernels.h"
#include "cvl-cpu/operations/long-segments.h"
#include "fused-kernels/emit.h"

/* ---- results ---- */

/* The operand whose memory may be overwritten with the result of a node: all uses of the
 * operand are elementwise, and none is later. */
static struct cvl_vector *reusable_for(struct cvl_kernel *k, const struct fused_value *v,
                                       const struct cvl_value *operands) {
  const uint8_t action = k->nodes[v->node].run.action;
  if (action != ACT_MAP) return NULL;
  for (uint32_t i = 0; i < k->op->param_count; i++) {
    const struct fused_value *p = &k->values[i];
    if (!p->only_elementwise || p->last_read > v->node || k->op->kinds[i] == SUPEROP_SEGDES) {
      continue;
    }
    struct cvl_vector *reuse = value_reusable(&operands[i], v->bytes);
    if (reuse && reuse->length == k->run.n && !fused_shared(k, operands, i)) return reuse;
  }
  return NULL;
}

/* The vector for the result of a step. Where possible the step writes to it directly. */
static bool make_vector(struct cvl_kernel *k, struct fused_value *v,
                        const struct cvl_value *operands) {
  struct cvl_vector *reuse = NULL;
  if (v->run.concatenated_by != SUPEROP_NONE) {
    if (!fused_concatenate_room(k, v, operands)) return false;
  } else {
    reuse = reusable_for(k, v, operands);
    if (!result_new(k->c, k->run.site + v->node, (enum cvl_elem)v->elem, k->run.n, reuse,
                    &v->run.whole)) {
      return false;
    }
  }
  v->run.streaming = !reuse && k->run.n * v->bytes >= tuned(k->c, STREAM_BYTES);
  k->run.streams |= v->run.streaming;
  const uint8_t action = k->nodes[v->node].run.action;
  const bool writes_exactly = action == ACT_MAP || action == ACT_GATHER ||
                              action == ACT_GATHER_RUNS || action == ACT_PICK ||
                              action == ACT_LOOP;
  if (writes_exactly && v->run.storage == v->buffer && !v->run.streaming) {
    v->run.storage = IN_MEMORY;
    v->run.base = (char *)result_data(&v->run.whole) + v->run.before * v->bytes;
  } else {
    k->run.copies[k->run.copy_count++] = (uint32_t)(v - k->values);
  }
  return true;
}

static bool make_results(struct cvl_kernel *k, const struct cvl_value *operands) {
  k->run.copy_count = 0;
  k->run.streams = false;
  for (uint32_t i = 0; i < k->step_count; i++) {
    struct fused_value *v = fused_result(k, k->steps[i]);
    const bool whole = v && v->scattered && !v->run.unwanted && !v->run.in_runs;
    if (v && (v->is_output || whole) && !make_vector(k, v, operands)) return false;
  }
  for (uint32_t i = 0; i < k->reduction_count; i++) {
    struct fused_reduction *r = &k->reductions[i];
    struct cvl_value *result = &k->values[k->op->nodes[r->node].result].run.whole;
    if (!result_new(k->c, k->run.site + r->node, (enum cvl_elem)r->v->elem,
                    k->run.segments.count, NULL, result)) {
      return false;
    }
    r->out = result_data(result);
  }
  for (uint32_t i = 0; i < k->scan_count; i++) {
    struct fused_scan *s = &k->scans[i];
    struct cvl_value *result = &k->values[k->op->nodes[s->node].result].run.whole;
    if (!result_new(k->c, k->run.site + s->node, (enum cvl_elem)s->v->elem, k->run.n, NULL,
                    result)) {
      return false;
    }
    s->out = result_data(result);
    s->streaming = k->run.n * s->v->bytes >= tuned(k->c, STREAM_BYTES);
    k->run.streams |= s->streaming;
  }
  for (uint32_t i = 0; i < k->pack_count; i++) {
    if (!fused_pack_make(k, &k->packs[i])) return false;
  }
  return fused_combine_results(k);
}

/* Releases the results that are not returned. */
static void fused_drop_results(struct cvl_kernel *k) {
  for (uint32_t i = k->op->param_count; i < k->op->value_count; i++) {
    struct cvl_value *v = &k->values[i].run.whole;
    if (v->form == CVL_VECTOR) vector_release(k->c, v->as.vector);
    if (v->form == CVL_SEGDES) segdes_release(k->c, v->as.segdes);
    v->form = CVL_NOTHING;
  }
}

/* ---- scatters ---- */

/* Whether a scatter is the last use of an owned operand, and its only use there: the scatter
 * may overwrite it, or release it afterwards. */
static bool is_last_use(const struct cvl_kernel *k, uint32_t number, uint32_t value,
                        const struct cvl_value *operands) {
  const struct superop *op = k->op;
  if (value >= op->param_count || !operands[value].owned ||
      operands[value].form != CVL_VECTOR || op->last_use[value] != number ||
      fused_shared(k, operands, value)) {
    return false;
  }
  unsigned times = 0;
  for (unsigned i = 0; i < op->nodes[number].operand_count; i++) {
    times += op->nodes[number].operands[i] == value;
  }
  return times == 1;
}

/* An operand of a scatter: a parameter of the superoperator, or the result of a node. */
static struct cvl_value scatter_operand(const struct cvl_kernel *k, uint32_t number,
                                        uint32_t value, const struct cvl_value *operands) {
  struct cvl_value v =
      value < k->op->param_count ? operands[value] : k->values[value].run.whole;
  v.owned = is_last_use(k, number, value, operands);
  return v;
}

/* Releases the values of which this scatter is the last use, so that the next one can reuse
 * their memory. */
static void release_read(struct cvl_kernel *k, uint32_t number,
                         const struct cvl_value *operands) {
  const struct superop_node *node = &k->op->nodes[number];
  for (unsigned i = 0; i < node->operand_count; i++) {
    const uint32_t value = node->operands[i];
    struct fused_value *v = &k->values[value];
    if (is_last_use(k, number, value, operands)) {
      vector_release(k->c, operands[value].as.vector);
      v->run.released = true;
    } else if (value >= k->op->param_count && k->op->last_use[value] == number &&
               v->run.whole.form == CVL_VECTOR) {
      vector_release(k->c, v->run.whole.as.vector);
      v->run.whole.form = CVL_NOTHING;
    }
  }
}

static bool cpu_fused_scatter(struct cvl_kernel *k, uint32_t number,
                              const struct cvl_value *operands) {
  const struct superop_node *node = &k->op->nodes[number];
  if (k->nodes[number].run.concatenated) {
    if (!fused_concatenate(k, number, operands)) return false;
    release_read(k, number, operands);
    return true;
  }
  struct cvl_value v[MAX_OPERANDS];
  for (unsigned i = 0; i < node->operand_count; i++) {
    v[i] = scatter_operand(k, number, node->operands[i], operands);
  }
  const struct cvl_call call = superop_permute_call((enum opcode)node->op, v);
  const struct fused_value *index = &k->values[node->operands[1]];
  struct cvl_value *out = &k->values[node->result].run.whole;
  const uint64_t site = k->run.site + number;
  if (index->run.in_runs) {
    const struct fused_node *p = &k->nodes[index->node];
    const struct cpu_runs runs = {p->run.near, p->run.values, p->run.strides};
    if (!cpu_scatter_runs(k->c, site, &call.permute, &runs, out)) return false;
  } else if (!cpu_permute(k->c, site, &call, k->nodes[number].known, out)) {
    return false;
  }
  release_read(k, number, operands);
  return true;
}

/* Executes the scatters before node `failed`; later ones have no effect any more. */
static bool scatters(struct cvl_kernel *k, uint64_t failed, const struct cvl_value *operands) {
  for (uint32_t n = 0; n < k->op->node_count && n < failed; n++) {
    const uint8_t role = k->op->nodes[n].role;
    if (role == ROLE_SCATTER && !cpu_fused_scatter(k, n, operands)) return false;
    if (role == ROLE_COMBINE_SCATTER && !fused_combine_scatter(k, n, operands)) return false;
  }
  return true;
}

/* ---- faults ---- */

/* The index at the lowest fault, from the worker that found it. */
static int64_t index_at_fault(const struct cvl_kernel *k, uint64_t number, uint64_t position) {
  for (unsigned i = 0; i < k->run.worker_count; i++) {
    const struct fused_worker *w =
        (const struct fused_worker *)(const void *)(k->run.workers + i * k->run.worker_bytes);
    if (w->fault_node == number && w->fault_position == position) return w->fault_index;
  }
  return 0;
}

static void cpu_fused_report(struct cvl_kernel *k) {
  const uint64_t number = k->run.failed, position = k->run.fault[number];
  const struct superop_node *node = &k->op->nodes[number];
  const struct fused_node *p = &k->nodes[number];
  struct cvl_error e = {.site = k->run.site + number, .position = (int64_t)position};
  if (node->role == ROLE_WHILE) {
    e.kind = CVL_E_STOPPED;
  } else if (node->role == ROLE_MAP) {
    e.kind = (enum cvl_error_kind)p->entry->error;
  } else if (node->role == ROLE_ASSERT) {
    e.kind = CVL_E_ASSERT;
    fused_message(k, (uint32_t)number, position, &e);
  } else {
    const uint64_t s = node->role == ROLE_PICK ? position : segment_at(&p->run.near, position);
    e.kind = CVL_E_INDEX;
    e.value = index_at_fault(k, number, position);
    e.limit = (int64_t)(segment_start(&p->run.far, s + 1) - segment_start(&p->run.far, s));
    e.segment = (int64_t)s;
  }
  fault(k->c, e);
}

static void fused_forget_faults(struct cvl_kernel *k) {
  for (uint32_t i = 0; i < k->op->node_count; i++) k->run.fault[i] = FUSED_NONE;
}

/* ---- memory of a run ---- */

enum { LINE = 64 };

/* A block of memory that is laid out array by array. */
struct layout {
  size_t bytes;
};

static size_t fused_reserve(struct layout *l, size_t bytes) {
  const size_t at = l->bytes;
  l->bytes += (bytes + LINE - 1) / LINE * LINE;
  return at;
}

/* Offsets in the memory of a worker. */
struct worker_layout {
  size_t compiled, streams, affine, lanes, located, walks, ranks, kept, totals, packed,
      block_totals, window_totals, combinations, packs;
};

static size_t pack_room(const struct cvl_kernel *k, const struct fused_pack *p) {
  const size_t bytes = k->run.most_positions * p->v->bytes + VECTOR_SLACK;
  return (bytes + LINE - 1) / LINE * LINE;
}

/* Lays out the memory of a worker, its buffers included. */
static struct worker_layout lay_out_worker(struct cvl_kernel *k) {
  struct layout l = {sizeof(struct fused_worker)};
  struct worker_layout at;
  fused_reserve(&l, 0);
  l.bytes = (l.bytes + LINE - 1) / LINE * LINE;
  const size_t packs = k->pack_count, reductions = k->reduction_count;
  at.streams = fused_reserve(&l, k->op->param_count * sizeof(struct fused_stream));
  at.affine = fused_reserve(&l, fused_affine_bytes(k));
  at.lanes = fused_reserve(&l, fused_columns_bytes(k));
  at.located = fused_reserve(&l, k->gathers ? sizeof(struct fused_located) : 0);
  at.walks = fused_reserve(&l, k->walks * sizeof(struct walk));
  at.ranks = fused_reserve(&l, packs * sizeof(struct walk));
  at.kept = fused_reserve(&l, 2 * packs * sizeof(uint64_t));
  at.totals = fused_reserve(&l, reductions * sizeof(char *));
  at.packed = fused_reserve(&l, packs * sizeof(char *));
  const size_t blocks = k->run.n > FUSED_TILE ? FUSED_WHOLE / CVL_REDUCE_BLOCK : 0;
  at.block_totals = fused_reserve(&l, reductions * blocks * sizeof(uint64_t));
  const size_t windows = k->run.chunks > 1 ? k->run.most_positions / SCAN_WINDOW + 2 : 0;
  at.window_totals = fused_reserve(&l, 2 * k->scan_count * windows * sizeof(uint64_t));
  const size_t widest = sizeof(uint64_t);
  const size_t strip =
      (least_of(k->run.n, k->run.strip) * widest + SPREAD_SLACK + LINE - 1) / LINE * LINE;
  const size_t tile =
      (least_of(k->run.n, FUSED_TILE) * widest + SPREAD_SLACK + LINE - 1) / LINE * LINE;
  const size_t strips = fused_reserve(&l, k->strip_slots * strip);
  const size_t tiles = fused_reserve(&l, k->tile_slots * tile);
  for (uint32_t i = 0; i < k->step_count; i++) {
    struct fused_value *v = fused_result(k, k->steps[i]);
    if (!v) continue;
    if (v->has_spare) v->run.spare = strips + v->spare_slot * strip;
    if (v->run.storage == IN_STRIP || v->run.storage == IN_AFFINE_RUN) {
      v->run.offset = strips + v->slot * strip;
    }
    if (v->run.storage == IN_TILE) v->run.offset = tiles + v->slot * tile;
    if (v->run.storage == IN_CHUNK)
      v->run.offset = fused_reserve(&l, k->run.most_positions * v->bytes + SPREAD_SLACK);
  }
  at.combinations = fused_reserve(&l, fused_combine_worker_bytes(k));
  at.packs = l.bytes;
  for (uint32_t i = 0; i < k->pack_count && k->run.chunks > 1; i++) {
    if (k->packs[i].wants_result) fused_reserve(&l, pack_room(k, &k->packs[i]));
  }
  k->run.worker_bytes = l.bytes;
  return at;
}

static void set_up_worker(struct cvl_kernel *k, const struct worker_layout *at, char *memory) {
  struct fused_worker *w = (struct fused_worker *)(void *)memory;
  *w = (struct fused_worker){.k = k,
                             .fault_node = FUSED_NONE,
                             .combining = {.k = k, .steps = w},
                             .streams = (struct fused_stream *)(void *)(memory + at->streams),
                             .lanes = memory + at->lanes,
                             .walks = (struct walk *)(void *)(memory + at->walks),
                             .ranks = (struct walk *)(void *)(memory + at->ranks),
                             .kept = (uint64_t *)(void *)(memory + at->kept),
                             .totals = (char **)(void *)(memory + at->totals),
                             .block_totals = memory + at->block_totals,
                             .window_totals = memory + at->window_totals,
                             .packed = (char **)(void *)(memory + at->packed)};
  if (k->gathers) {
    w->located = (struct fused_located *)(void *)(memory + at->located);
    w->located->group = SUPEROP_NONE;
  }
  fused_affine_set_up(w, memory + at->affine);
  fused_streams_begin(w);
  if (k->combination_count > 0) fused_combine_set_up(&w->combining, memory + at->combinations);
  char *room = memory + at->packs;
  for (uint32_t i = 0; i < k->pack_count; i++) {
    const struct fused_pack *p = &k->packs[i];
    w->packed[i] = k->run.chunks > 1 ? room : p->out;
    if (k->run.chunks > 1 && p->wants_result) room += pack_room(k, p);
  }
}

uint64_t fused_grain(const struct cvl_kernel *k, uint64_t steps) {
  enum { LEAST = 2 * FUSED_STRIP };
  const unsigned threads = pool_threads(k->c->pool);
  if (steps <= k->serial_steps) return steps ? steps : 1;
  const bool large = threads == 1 && !fused_hands_on(k);
  const uint64_t bytes = large ? tuned(k->c, LONE_BYTES) : tuned(k->c, CHUNK_BYTES);
  uint64_t grain = least_of(bytes / k->cost, steps / threads + 1);
  if (grain < LEAST) grain = LEAST;
  grain = (grain + LEAST - 1) / LEAST * LEAST;
  return grain < steps ? grain : steps;
}

/* Cuts the domain into chunks. */
static void fused_cut(struct cvl_kernel *k) {
  const uint64_t steps = k->run.cut_anywhere ? k->run.n : segments_steps(&k->run.segments);
  const uint64_t grain = k->run.grain = fused_grain(k, steps);
  k->run.chunks = 1;
  k->run.most_positions = k->run.n;
  if (grain >= steps) return;
  k->run.chunks = (steps + grain - 1) / grain;
  k->run.most_positions = least_of(k->run.n, grain + FUSED_WHOLE + CVL_REDUCE_BLOCK);
}

/* ---- the run ---- */

/* False if it was asked to end. */
static bool fused_run_chunks(struct cvl_kernel *k) {
  const uint64_t steps = k->run.cut_anywhere ? k->run.n : segments_steps(&k->run.segments);
  pool_body *const chunk = k->run.cut_anywhere ? fused_plain_chunk : fused_chunk;
  const bool done = (fused_hands_on(k) ? pool_for_in_order : pool_for)(k->c->pool, steps,
                                                                       k->run.grain, chunk, k);
  if (!done || !k->run.long_segments) return done;
  for (uint32_t i = 0; i < k->reduction_count; i++) {
    const struct fused_reduction *r = &k->reductions[i];
    finish_long_segments(&k->run.segments, FUSED_WHOLE, k->run.long_segments, r->row,
                         r->v->bytes, r->totals, r->out);
  }
  fused_combine_finish(&((const struct fused_worker *)(const void *)k->run.workers)->combining);
  return true;
}

/* Executes the superoperator, its results allocated; all scratch memory is one block. */
static bool run_in_memory(struct cvl_kernel *k, const struct cvl_value *operands) {
  const struct worker_layout at = lay_out_worker(k);
  const unsigned threads = k->run.chunks > 1 ? pool_threads(k->c->pool) : 1;
  k->run.worker_count = threads;
  const bool has_long_segments =
      (k->reduction_count > 0 || k->combines) && k->run.n > FUSED_WHOLE;
  const size_t windows = has_long_segments ? k->run.n / FUSED_WHOLE + 1 : 0;
  const size_t totals = has_long_segments ? block_totals_at(k->run.n, FUSED_WHOLE) + 1 : 0;
  struct layout l = {0};
  const size_t workers_at = fused_reserve(&l, threads * k->run.worker_bytes);
  const size_t long_segments_at = fused_reserve(&l, windows * sizeof *k->run.long_segments);
  const size_t totals_at = fused_reserve(&l, totals * sizeof(uint64_t) * k->reduction_count);
  const bool states = k->run.chunks > 1;
  const size_t states_at =
      fused_reserve(&l, states ? k->scan_count * sizeof(struct scan_state) : 0);
  const size_t room = fused_room_bytes(k), room_at = fused_reserve(&l, room);
  const size_t shared_at = fused_reserve(&l, fused_combine_common_bytes(k));
  char *block = scratch_alloc(k->c, k->run.site, l.bytes);
  if (!block) return false;
  k->run.workers = block + workers_at;
  for (unsigned i = 0; i < threads; i++) {
    set_up_worker(k, &at, k->run.workers + i * k->run.worker_bytes);
  }
  k->run.long_segments =
      has_long_segments ? (uint64_t *)(void *)(block + long_segments_at) : NULL;
  if (has_long_segments)
    memset(k->run.long_segments, 0, windows * sizeof *k->run.long_segments);
  for (uint32_t i = 0; i < k->reduction_count; i++) {
    k->reductions[i].totals = block + totals_at + i * totals * sizeof(uint64_t);
  }
  for (uint32_t i = 0; i < k->scan_count; i++) {
    k->scans[i].state = (struct scan_state *)(void *)(block + states_at) + (states ? i : 0);
  }
  if (room > 0) fused_fill_room(k, block + room_at);
  if (k->combination_count > 0) fused_combine_lay_out(k, block + shared_at);
  const bool done = all_done(k->c, k->run.site, fused_run_chunks(k));
  const uint64_t failed = atomic_load_explicit(&k->run.failed, memory_order_relaxed);
  if (done && failed != FUSED_NONE) cpu_fused_report(k);
  if (failed != FUSED_NONE) fused_forget_faults(k);
  scratch_free(k->c, block, l.bytes);
  return done && scatters(k, failed, operands) && failed == FUSED_NONE;
}

static bool fused_all_one(const struct cvl_value *v) {
  const void *x = value_data(v);
  const uint64_t n = value_length(v);
  const size_t bytes = elem_bytes(v->elem);
  uint64_t i = 0;
  while (i < n && int_element(x, i, bytes) == 1) i++;
  return i == n;
}

/* Finds the descriptors that have one segment, and the strides that are all 1. */
static void fused_find_one(struct cvl_kernel *k, const struct cvl_value *operands) {
  for (uint32_t p = 0; p < k->op->param_count; p++) {
    if (k->op->kinds[p] == SUPEROP_SEGDES)
      k->run.one[p] = value_segments(&operands[p]).count == 1;
    else if (k->strides[p] && (k->one[p] || !k->found_one))
      k->run.one[p] = fused_all_one(&operands[p]);
  }
}

static bool cpu_fused_run_once(struct cvl_kernel *k, const struct cvl_value *operands) {
  const struct superop *op = k->op;
  k->run.n = fused_size(&op->domain, operands);
  k->run.whole = FUSED_WHOLE;
  k->run.segments = op->segments == SUPEROP_NONE
                        ? (struct segments){.count = 1, .total = k->run.n, .equal = k->run.n}
                        : value_segments(&operands[op->segments]);
  k->run.cut_anywhere =
      k->reduction_count + k->scan_count + k->pack_count == 0 && !k->combines && !k->scans_by;
  atomic_store_explicit(&k->run.turn, 0, memory_order_relaxed);
  atomic_store_explicit(&k->run.failed, FUSED_NONE, memory_order_relaxed);
  fused_find_one(k, operands);
  k->run.by_ranges = k->run.n > 0 && fused_choose(k) && fused_ranges_share(k, operands);
  if (k->run.by_ranges) {
    const enum ranges_outcome outcome = fused_ranges_run(k, operands);
    if (outcome != RANGES_UNFIT) return outcome == RANGES_DONE;
    fused_drop_results(k);
    k->run.by_ranges = false;
  }
  fused_bind(k, operands);
  const bool made = make_results(k, operands);
  if (made) fused_cut(k);
  const bool done = made && run_in_memory(k, operands);
  if (!done) return false;
  for (uint32_t i = 0; i < k->pack_count; i++) {
    if (!fused_pack_finish(k, &k->packs[i])) return false;
  }
  return true;
}

/* Runs steps or nodes. */
static bool run_plainly(struct cvl_context *c, uint64_t site, struct cvl_kernel *k,
                        const struct cvl_value *operands, struct cvl_value *outs) {
  if (k->op->copies) {
    return superop_run(&cvl_cpu_backend, c, site, k->op, NULL, operands, outs);
  }
  k->run.site = site;
  const bool timed = fused_choice_open(k);
  const double start = timed ? fused_clock() : 0;
  const bool good = cpu_fused_run_once(k, operands);
  if (timed) fused_chosen(k, fused_clock() - start);
  for (uint32_t i = 0; i < k->op->param_count; i++) {
    const struct cvl_value *v = &operands[i];
    if (!v->owned || k->values[i].run.released) continue;
    if (v->form == CVL_VECTOR) vector_release(c, v->as.vector);
    if (v->form == CVL_SEGDES) segdes_release(c, v->as.segdes);
  }
  if (good) fused_results_check(k);
  for (uint32_t i = 0; i < k->op->output_count && good; i++) {
    struct cvl_value *v = &k->values[k->op->outputs[i]].run.whole;
    outs[i] = *v;
    v->form = CVL_NOTHING;
  }
  fused_drop_results(k);
  return good;
}

/* Where there is no memory for the kernel of a sub-context. */
static bool fused_run_nodes(struct cvl_context *c, uint64_t site, const struct superop *op,
                            const struct cvl_value *operands, struct cvl_value *outs) {
  if (superop_run(&cvl_cpu_backend, c, site, op, &c->stop, operands, outs)) return true;
  (void)all_done(c, site, c->error.kind != CVL_E_NONE); /* else it was asked to end */
  return false;
}

/* The kernel is the context's own: sub-contexts are not asked for this. */
bool cpu_run_tiles(struct cvl_context *c, uint64_t site, struct cvl_kernel *k,
                   const struct cvl_value *operands, const struct cvl_value *before,
                   struct cvl_value *outs) {
  invariant(k->c == c && k->combination_count == 1 && k->scans_by);
  struct order_columns *given = &k->combinations[0].given;
  for (uint32_t j = 0; j < k->combinations[0].columns; j++)
    given->at[j] = (char *)value_data(&before[j]);
  const bool good = run_plainly(c, site, k, operands, outs);
  *given = (struct order_columns){{NULL}};
  return good;
}

bool cpu_run(struct cvl_context *c, uint64_t site, struct cvl_kernel *prepared,
             const struct cvl_value *operands, struct cvl_value *outs) {
  struct cvl_kernel *k = cpu_kernel_of(c, prepared);
  if (!k) return fused_run_nodes(c, site, prepared->op, operands, outs);
  const enum copy_outcome copied =
      k->copying ? fused_copy(c, site, k->copying, operands, outs) : COPY_UNFIT;
  if (copied == COPY_UNFIT) return run_plainly(c, site, k, operands, outs);
  for (uint32_t i = 0; i < k->op->param_count; i++) {
    const struct cvl_value *v = &operands[i];
    if (v->owned && v->form == CVL_VECTOR) vector_release(c, v->as.vector);
    if (v->owned && v->form == CVL_SEGDES) segdes_release(c, v->as.segdes);
  }
  return copied == COPY_DONE;
}
