/* range-combinations.c - see range-combinations.h. */
#include "cvl-cpu/fused/range-combinations.h"

#include "cvl-cpu/combine/combinations.h"

/* ---- columns ---- */

static bool is_written(const struct ranges *r, const struct fused_combination *c,
                       uint32_t column) {
  return r->plan->columns[c->first_column + column];
}

/* The value that a combination scatters by. */
static uint32_t index_of(const struct cvl_kernel *k, const struct fused_combination *c) {
  return k->op->nodes[c->at.ends].operands[COMBINE_INDEX];
}

/* A vector for all elements of a value, unless there is one. */
static bool make_whole(struct ranges *r, uint32_t value) {
  struct cvl_kernel *k = r->k;
  struct fused_value *v = &k->values[value];
  return value < k->op->param_count || v->whole.form != CVL_NOTHING ||
         result_new(k->c, k->run.site + v->node, (enum cvl_elem)v->elem, k->run.n, NULL,
                    &v->whole);
}

/* The element of what is spread over one segment. */
static const void *same_element(const struct ranges *r, const struct fused_value *v) {
  const struct superop *op = r->k->op;
  const uint32_t from = op->nodes[v->node].operands[0];
  return from < op->param_count ? value_data(&r->operands[from])
                                : (const void *)&op->nodes[r->k->values[from].node].constant.as;
}

static bool make_scattered(struct ranges *r, const struct fused_combination *c) {
  bool made = make_whole(r, index_of(r->k, c));
  for (uint32_t j = 0; j < c->columns && made; j++) {
    struct fused_value *v = c->column[j];
    v->unwanted = v->node != SUPEROP_NONE && !is_written(r, c, j);
    if (v->unwanted)
      v->one = same_element(r, v);
    else
      made = make_whole(r, (uint32_t)(v - r->k->values));
  }
  return made;
}

bool range_combinations_begin(struct ranges *r) {
  struct cvl_kernel *k = r->k;
  bool made = true;
  fused_combine_bind(k, r->operands);
  for (uint32_t i = 0; i < k->combination_count && made; i++) {
    if (k->combinations[i].role == ROLE_COMBINE_SCATTER)
      made = make_scattered(r, &k->combinations[i]);
  }
  return made && fused_combine_results(k);
}

bool range_combinations_scatter(const struct ranges *r) {
  for (uint32_t i = 0; i < r->k->combination_count; i++) {
    const struct fused_combination *c = &r->k->combinations[i];
    if (c->role == ROLE_COMBINE_SCATTER &&
        !fused_combine_scatter(r->k, c->at.ends, r->operands))
      return false;
  }
  return true;
}

/* ---- memory ---- */

size_t range_combinations_shared_at(const struct ranges *r, char *memory) {
  if (memory && r->k->combination_count > 0) fused_combine_lay_out(r->k, memory);
  return fused_combine_common_bytes(r->k);
}

/* Bytes from a column of a worker to the next: a scan needs all of a range. */
static size_t column_bytes(const struct ranges *r) {
  const uint64_t n = r->k->scans_by ? r->most : CVL_REDUCE_BLOCK;
  size_t bytes = 0;
  (void)layout_next(&bytes, n * sizeof(uint64_t) + VECTOR_SLACK);
  return bytes;
}

size_t range_combinations_at(const struct ranges *r, struct range_worker *w, char *memory) {
  const struct cvl_kernel *k = r->k;
  size_t end = 0;
  if (k->combination_count == 0) return 0;
  const size_t state = layout_next(&end, fused_combine_worker_bytes(k));
  const size_t columns = layout_next(&end, k->column_count * sizeof(char *));
  const size_t numbers = k->column_count + k->combination_count;
  const size_t written = layout_next(&end, numbers * sizeof(void *));
  const size_t rooms = layout_next(&end, k->column_count * column_bytes(r));
  if (!memory) return end;
  w->combining =
      (struct combine_worker){.k = r->k, .columns = (char **)(void *)(memory + columns)};
  w->columns = (void **)(void *)(memory + written);
  w->column_rooms = memory + rooms;
  fused_combine_set_up(&w->combining, memory + state);
  return end;
}

/* ---- a part ---- */

/* Scattered elements go to vectors. */
static void give_scattered(const struct ranges *r, struct range_worker *w,
                           const struct fused_combination *c, uint64_t low) {
  const struct cvl_kernel *k = r->k;
  const struct fused_value *index = &k->values[index_of(k, c)];
  for (uint32_t j = 0; j < c->columns; j++) {
    if (is_written(r, c, j))
      w->columns[c->first_column + j] =
          (char *)result_data(&c->column[j]->whole) + low * c->bytes[j];
  }
  if (index->node != SUPEROP_NONE)
    w->columns[k->column_count + (uint32_t)(c - k->combinations)] =
        (char *)result_data(&k->values[index_of(k, c)].whole) + low * index->bytes;
}

static void give_combined(const struct ranges *r, struct range_worker *w,
                          const struct fused_combination *c, uint64_t low) {
  const uint64_t origin = w->combining.origin;
  for (uint32_t j = 0; j < c->columns; j++) {
    const uint32_t number = c->first_column + j;
    const struct fused_value *v = c->column[j];
    if (is_written(r, c, j)) {
      w->combining.columns[number] = w->column_rooms + number * column_bytes(r);
      w->columns[number] = w->combining.columns[number] + (low - origin) * c->bytes[j];
    } else {
      w->combining.columns[number] =
          (char *)value_data(&r->operands[v - r->k->values]) + origin * c->bytes[j];
    }
  }
}

void range_give_columns(const struct ranges *r, struct range_worker *w,
                        const struct range_part *part) {
  const struct cvl_kernel *k = r->k;
  w->combining.origin = k->scans_by ? w->low : part->low;
  for (uint32_t i = 0; i < k->combination_count; i++) {
    const struct fused_combination *c = &k->combinations[i];
    if (c->role == ROLE_COMBINE_SCATTER)
      give_scattered(r, w, c, part->low);
    else
      give_combined(r, w, c, part->low);
  }
}

static void combine_only_segment(const struct ranges *r, struct range_worker *w,
                                 const struct range_part *part) {
  const uint64_t n = part->high - part->low, offsets[] = {0, n};
  if (r->k->run.n > r->k->run.whole)
    fused_combine_tile(&w->combining, 0, part->low, n);
  else
    fused_combine_group(&w->combining, 0, 1, part->low, offsets);
}

static void combine_segments(struct range_worker *w, const struct range_part *part,
                             const struct segments *s) {
  uint64_t offsets[ORDER_TILE + 1];
  for (uint64_t g = part->first; g <= part->last; g++)
    offsets[g - part->first] = segment_start(s, g) - part->low;
  fused_combine_group(&w->combining, part->first, part->last - part->first, part->low, offsets);
}

void range_combine(const struct ranges *r, struct range_worker *w,
                   const struct range_part *part) {
  if (!r->k->combines) return;
  if (!ranges_of_segments(r->plan)) {
    combine_only_segment(r, w, part);
    return;
  }
  const struct segments s = value_segments(&r->operands[r->plan->main]);
  if (part->cut)
    fused_combine_tile(&w->combining, segment_start(&s, part->first), part->low,
                       part->high - part->low);
  else
    combine_segments(w, part, &s);
}

/* ---- turns ---- */

void range_combinations_before(struct range_worker *w, const struct range_share *share) {
  fused_combine_totals(&w->combining, &share->in, 0);
  fused_combine_totals(&w->combining, &share->out, 1);
}

void range_combinations_turn(struct range_worker *w, const struct range_share *share) {
  fused_combine_advance(&w->combining, &share->in, 0);
  fused_combine_advance(&w->combining, &share->out, 1);
}

void range_combinations_after(const struct ranges *r, struct range_worker *w,
                              const struct range_share *share) {
  const uint64_t in = ranges_of_segments(r->plan) ? share->from - 1 : 0;
  fused_combine_write(&w->combining, &share->in, in, 0);
  fused_combine_scan(&w->combining, share->from, share->whole);
  fused_combine_write(&w->combining, &share->out, share->whole, 1);
}
