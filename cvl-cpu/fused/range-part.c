/* range-part.c - see range-part.h. */
#include "cvl-cpu/fused/range-part.h"

#include "cvl-cpu/fused/range-combinations.h"
#include "cvl-cpu/fused/range-scans.h"
#include "cvl-cpu/kernels/kernels.h"

/* ---- what a call is given ---- */

/* Where the segments begin that are read, or written to, under a descriptor. */
static uint64_t begin_under(const struct ranges *r, const struct range_part *part,
                            uint32_t descriptor, enum kernel_read_as way) {
  if (way == READ_WHOLE) return 0;
  const struct segments s = value_segments(&r->operands[descriptor]);
  return segment_start(&s, way == READ_PICKED ? part->low : part->first);
}

/* Where what is given of a vector begins. */
static uint64_t begin_of(const struct ranges *r, const struct range_part *part, uint32_t v,
                         enum kernel_read_as way) {
  if (way == READ_BY_POSITIONS) return part->low;
  if (way == READ_BY_SEGMENT) return part->first;
  return begin_under(r, part, r->plan->far[v], way);
}

static void give_vector(const struct ranges *r, struct range_worker *w,
                        const struct range_part *part, uint32_t v, enum kernel_read_as way) {
  const uint32_t p = v % r->k->op->param_count;
  const struct cvl_value *x = &r->operands[p];
  w->data[v] = (const char *)value_data(x) + begin_of(r, part, v, way) * elem_bytes(x->elem);
  w->counts[v] = value_length(x);
}

/* Starts of `count` segments from `first` on. There is room for those that are not in memory.
 */
static const uint64_t *starts_from(uint64_t *starts, const struct segments *s, uint64_t first,
                                   uint64_t count) {
  if (s->offsets) return s->offsets + first;
  for (uint64_t i = 0; i <= count; i++) starts[i] = (first + i) * s->equal;
  return starts;
}

static void give_descriptor(const struct ranges *r, struct range_worker *w,
                            const struct range_part *part, uint32_t v,
                            enum kernel_read_as way) {
  const uint32_t p = v % r->k->op->param_count;
  const struct segments s = value_segments(&r->operands[p]);
  if (r->plan->one[v]) {
    w->counts[v] = s.total;
  } else if (way == READ_PICKED) {
    w->offsets[v] =
        starts_from(w->picked + p * (r->most + 1), &s, part->low, part->high - part->low);
    w->counts[v] = part->high - part->low;
  } else if (v == r->plan->main && part->cut) {
    w->cut[0] = part->low;
    w->cut[1] = part->high;
    w->offsets[v] = w->cut;
    w->counts[v] = 1;
  } else if (way == READ_IN_SEGMENTS || v == r->plan->main) {
    w->offsets[v] = starts_from(w->starts[v], &s, part->first, part->last - part->first);
    w->counts[v] = part->last - part->first;
  } else {
    w->offsets[v] = s.offsets ? s.offsets : r->whole[p];
    w->counts[v] = s.count;
    if (r->plan->cursors[p])
      w->segments[p] = part->low < s.total ? segment_at(&s, part->low) : 0;
  }
}

/* Positions of its segment before a part. */
static uint64_t before_part(const struct ranges *r, const struct range_part *part) {
  if (!part->cut) return 0;
  const struct segments s = value_segments(&r->operands[r->plan->main]);
  return part->low - segment_start(&s, part->first);
}

/* The results of segments, or the totals of the blocks of one. */
static char *reduced_at(const struct ranges *r, const struct range_part *part, uint32_t i) {
  const uint64_t before = before_part(r, part);
  const size_t bytes = r->k->values[r->k->op->outputs[i]].bytes;
  if (!ranges_of_segments(r->plan))
    return (char *)r->results[i] + part->low / CVL_REDUCE_BLOCK * bytes;
  if (!part->cut) return (char *)r->results[i] + part->first * bytes;
  const uint64_t block =
      block_totals_at(part->low - before, r->k->run.whole) + before / CVL_REDUCE_BLOCK;
  return r->totals[i] + block * bytes;
}

/* Where an output goes, by its kind. */
typedef void *output_place(const struct ranges *, struct range_worker *,
                           const struct range_part *, uint32_t i);

static void *place_stored(const struct ranges *r, struct range_worker *w,
                          const struct range_part *part, uint32_t i) {
  const struct fused_value *v = &r->k->values[r->k->op->outputs[i]];
  return v->streaming && part->high - part->low <= STAGED_MOST
             ? w->staged + i * (size_t)STAGED_MOST * sizeof(uint64_t)
             : (char *)r->results[i] + part->low * v->bytes;
}

static void *place_reduced(const struct ranges *r, struct range_worker *w,
                           const struct range_part *part, uint32_t i) {
  (void)w;
  return reduced_at(r, part, i);
}

static void *place_scanned(const struct ranges *r, struct range_worker *w,
                           const struct range_part *part, uint32_t i) {
  return range_scan_elements(r, w, part, i);
}

/* What is kept is appended. */
static void *place_kept(const struct ranges *r, struct range_worker *w,
                        const struct range_part *part, uint32_t i) {
  (void)part;
  return r->hands_on ? w->rooms[i] : r->results[i];
}

/* The end of a segment is that of its last part, and that of the only one is not wanted. */
static void *place_lengths(const struct ranges *r, struct range_worker *w,
                           const struct range_part *part, uint32_t i) {
  return r->results[i] && !part->cut ? (uint64_t *)r->results[i] + part->first : w->ends;
}

static void *place_scattered(const struct ranges *r, struct range_worker *w,
                             const struct range_part *part, uint32_t i) {
  const uint32_t params = r->k->op->param_count, written = r->plan->written[i];
  w->written[i] =
      begin_under(r, part, written % params, (enum kernel_read_as)(written / params));
  return r->results[i];
}

/* Its columns are given instead. */
static void *place_combined(const struct ranges *r, struct range_worker *w,
                            const struct range_part *part, uint32_t i) {
  (void)r, (void)w, (void)part, (void)i;
  return NULL;
}

static output_place *const places[OUTPUT_KINDS] = {
    [OUTPUT_STORED] = place_stored,        [OUTPUT_REDUCED] = place_reduced,
    [OUTPUT_SCANNED] = place_scanned,      [OUTPUT_KEPT] = place_kept,
    [OUTPUT_KEPT_LENGTHS] = place_lengths, [OUTPUT_SCATTERED] = place_scattered,
    [OUTPUT_COMBINED] = place_combined,
};

/* What was staged goes to memory. */
static void deliver(const struct ranges *r, struct range_worker *w,
                    const struct range_part *part) {
  if (!r->stages || part->high - part->low > STAGED_MOST) return;
  for (uint32_t i = 0; i < r->k->op->output_count; i++) {
    const struct fused_value *v = &r->k->values[r->k->op->outputs[i]];
    if (!range_is(r, i, OUTPUT_STORED) || !v->streaming) continue;
    r->k->c->kernels->move->stream((char *)r->results[i] + part->low * v->bytes, w->results[i],
                                   (part->high - part->low) * v->bytes);
  }
}

bool range_part_call(struct ranges *r, struct range_worker *w, const struct range_part *part) {
  const struct superop *op = r->k->op;
  for (uint32_t v = 0; v < READ_WAYS * op->param_count; v++) {
    const enum kernel_read_as way = (enum kernel_read_as)(v / op->param_count);
    if (!r->plan->reads[v]) continue;
    if (op->kinds[v % op->param_count] == SUPEROP_SEGDES)
      give_descriptor(r, w, part, v, way);
    else
      give_vector(r, w, part, v, way);
  }
  for (uint32_t i = 0; i < op->output_count; i++)
    w->results[i] = places[r->k->outputs[i].kind](r, w, part, i);
  range_give_columns(r, w, part);
  w->call.at = part->low;
  w->call.before = before_part(r, part);
  w->call.part = part->cut || !ranges_of_segments(r->plan);
  w->call.begins = part->begins;
  w->call.n = part->high - part->low;
  if (!(r->function ? r->function(&w->call) : strips_range(w->strips, &w->call))) return false;
  deliver(r, w, part);
  range_combine(r, w, part);
  return true;
}

void range_destinations(const struct ranges *r, struct range_worker *w, uint64_t part,
                        uint64_t parts) {
  for (uint32_t i = 0; i < r->k->op->output_count; i++) {
    const struct fused_scatter *s = range_scatter(r, i);
    if (!s) continue;
    const uint64_t each = s->count / parts + 1;
    w->lows[i] = least_of(part * each, s->count);
    w->spans[i] = least_of(each, s->count - w->lows[i]);
    w->marks[i] = s->mark;
  }
}

/* ---- memory ---- */

/* Bytes of what a range keeps of an output; 0: it goes to the result. */
static size_t room_bytes(const struct ranges *r, uint32_t i) {
  if (!r->hands_on || !range_is(r, i, OUTPUT_KEPT)) return 0;
  return r->most * range_pack(r, i)->v->bytes + VECTOR_SLACK;
}

/* Lays out the starts of segments that have one length and are given from the first of a call
 * on: of the main descriptor, and those that are read in segments. */
static void starts_at(const struct ranges *r, size_t *end, uint64_t **starts, char *memory) {
  const uint32_t params = r->k->op->param_count, first = READ_IN_SEGMENTS * params;
  for (uint32_t i = 0; i <= params && r->computes_starts; i++) {
    const uint32_t v = i < params ? first + i : r->plan->main;
    const uint32_t p = i < params ? i : v;
    if (v == SUPEROP_NONE || !r->plan->reads[v] || r->k->op->kinds[p] != SUPEROP_SEGDES)
      continue;
    const struct segments s = value_segments(&r->operands[p]);
    if (s.offsets) continue;
    const size_t bytes = (least_of(s.count, PIECE) + 1) * sizeof(uint64_t);
    const size_t at = layout_next(end, bytes);
    if (memory) starts[v] = (uint64_t *)(void *)(memory + at);
  }
}

/* Bytes of the starts of segments that are picked from and have one length. */
static size_t picked_bytes(const struct ranges *r) {
  const uint32_t params = r->k->op->param_count;
  for (uint32_t p = 0; p < params; p++) {
    if (r->k->op->kinds[p] == SUPEROP_SEGDES && range_reads_as(r, p, READ_PICKED) &&
        !value_segments(&r->operands[p]).offsets)
      return params * (r->most + 1) * sizeof(uint64_t);
  }
  return 0;
}

size_t range_worker_at(const struct ranges *r, char *memory) {
  const struct superop *op = r->k->op;
  const size_t reads = (size_t)READ_WAYS * op->param_count, outputs = op->output_count;
  const size_t totals = ranges_of_segments(r->plan) && r->k->reduction_count > 0
                            ? (r->k->run.n / CVL_REDUCE_BLOCK + 2) * sizeof(uint64_t)
                            : 0;
  size_t end = sizeof(struct range_worker);
  layout_next(&end, 0);
  const size_t data = layout_next(&end, reads * sizeof(void *));
  const size_t offsets = layout_next(&end, reads * sizeof(void *));
  const size_t counts = layout_next(&end, reads * sizeof(uint64_t));
  const size_t segments = layout_next(&end, op->param_count * sizeof(uint64_t));
  const size_t results = layout_next(&end, outputs * sizeof(void *));
  const size_t blocks = layout_next(&end, outputs * sizeof(void *));
  const size_t kept = layout_next(&end, outputs * sizeof(uint64_t));
  const size_t before = layout_next(&end, outputs * sizeof(uint64_t));
  const size_t rooms = layout_next(&end, outputs * sizeof(char *));
  const size_t states = layout_next(&end, outputs * sizeof(uint64_t));
  const size_t in = layout_next(&end, outputs * sizeof(uint64_t));
  const size_t written = layout_next(&end, outputs * sizeof(uint64_t));
  const size_t lows = layout_next(&end, outputs * sizeof(uint64_t));
  const size_t spans = layout_next(&end, outputs * sizeof(uint64_t));
  const size_t marks = layout_next(&end, outputs * sizeof(uint8_t *));
  const size_t starts = layout_next(&end, r->computes_starts ? reads * sizeof(uint64_t *) : 0);
  const size_t picked = layout_next(&end, picked_bytes(r));
  const size_t staged =
      layout_next(&end, r->stages ? outputs * (size_t)STAGED_MOST * sizeof(uint64_t) : 0);
  const size_t room = layout_next(&end, outputs * totals);
  const size_t scans = layout_next(&end, range_scans_at(r, NULL, NULL));
  const size_t combining = layout_next(&end, range_combinations_at(r, NULL, NULL));
  const size_t strips =
      layout_next(&end, r->function ? 0 : strips_bytes(r->k->strips, r->k->run.n));
  const size_t keeping = end;
  for (uint32_t i = 0; i < outputs; i++) layout_next(&end, room_bytes(r, i));
  size_t computed = end;
  starts_at(r, &end, NULL, NULL);
  if (!memory) return end;
  struct range_worker *w = (struct range_worker *)(void *)memory;
  *w = (struct range_worker){.data = (const void **)(void *)(memory + data),
                             .offsets = (const uint64_t **)(void *)(memory + offsets),
                             .counts = (uint64_t *)(void *)(memory + counts),
                             .segments = (uint64_t *)(void *)(memory + segments),
                             .results = (void **)(void *)(memory + results),
                             .totals = (void **)(void *)(memory + blocks),
                             .kept = (uint64_t *)(void *)(memory + kept),
                             .before = (uint64_t *)(void *)(memory + before),
                             .rooms = (char **)(void *)(memory + rooms),
                             .states = (uint64_t *)(void *)(memory + states),
                             .in = (uint64_t *)(void *)(memory + in),
                             .written = (uint64_t *)(void *)(memory + written),
                             .lows = (uint64_t *)(void *)(memory + lows),
                             .spans = (uint64_t *)(void *)(memory + spans),
                             .marks = (uint8_t **)(void *)(memory + marks),
                             .starts = (uint64_t **)(void *)(memory + starts),
                             .picked = (uint64_t *)(void *)(memory + picked),
                             .staged = memory + staged};
  for (size_t i = 0; i < outputs; i++) w->totals[i] = memory + room + i * totals;
  range_scans_at(r, w, memory + scans);
  range_combinations_at(r, w, memory + combining);
  size_t at = keeping;
  for (uint32_t i = 0; i < outputs; i++)
    w->rooms[i] = memory + layout_next(&at, room_bytes(r, i));
  starts_at(r, &computed, w->starts, memory);
  w->call = (struct kernel_range){.data = w->data,
                                  .offsets = w->offsets,
                                  .counts = w->counts,
                                  .segments = w->segments,
                                  .results = w->results,
                                  .totals = w->totals,
                                  .kept = w->kept,
                                  .states = w->states,
                                  .written = w->written,
                                  .lows = w->lows,
                                  .spans = w->spans,
                                  .marks = w->marks,
                                  .columns = w->columns,
                                  .asks = r->k->c->stop.asks,
                                  .with = r->k->c->stop.with};
  if (!r->function) w->strips = strips_set_up(r->k->strips, r->k->run.n, memory + strips);
  range_destinations(r, w, 0, 1);
  return end;
}
