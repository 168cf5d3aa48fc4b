/* fused-combine.c - combinations: reductions and scans by functions of the program's own.
 *
 * Their columns are values of the tile or of the chunk, like the operands of other reductions
 * and scans, and segments are cut alike. What the trees need of the function are pairs: its
 * nodes are executed for some of them at a time, from buffer to buffer, by the kernels of their
 * operations; or it is compiled (fused-compiled.h).
 */
#include <string.h>

#include "cvl-cpu/combine-scatter.h"
#include "cvl-cpu/fused-compiled.h"
#include "cvl-cpu/fused-plan.h"
#include "fused-kernels/emit-expression.h"

enum { PIECE = 256, LINE = 64, WIDEST = sizeof(uint64_t) };

static size_t lines(size_t bytes) {
  return (bytes + LINE - 1) / LINE * LINE;
}

/* ---- the plan ---- */

uint32_t fused_combinations(const struct superop *op) {
  uint32_t count = 0;
  for (uint32_t n = 0; n < op->node_count; n++) {
    count +=
        op->nodes[n].role == ROLE_COLUMN && (n == 0 || op->nodes[n - 1].role != ROLE_COLUMN);
  }
  return count;
}

/* MAX or MIN, if a node is SELECT of x > y, x and y, or the like, of INTs; else NONE. */
static enum cvl_op extreme(const struct superop *op, const struct superop_node *select,
                           const struct superop_node *compare) {
  const uint32_t *x = compare->operands, *v = select->operands + 1;
  const bool straight = x[0] == v[0] && x[1] == v[1], crossed = x[0] == v[1] && x[1] == v[0];
  if (compare->type != TW_INT || (!straight && !crossed)) return OP_NONE;
  (void)op;
  switch (compare->op) {
  case OPC_GT:
  case OPC_GE: return straight ? OP_MAX : OP_MIN;
  case OPC_LT:
  case OPC_LE: return straight ? OP_MIN : OP_MAX;
  default: return OP_NONE;
  }
}

/* What the function does to column i: see struct fused_combination. */
static enum cvl_op exact_operation(const struct cvl_kernel *k,
                                   const struct fused_combination *c, uint32_t i) {
  const struct superop *op = k->op;
  const uint32_t left = op->nodes[c->at.first + i].result;
  const uint32_t value = op->nodes[c->at.ends + i].operands[COMBINE_VALUE];
  const struct superop_node *node = emit_definition(op, value);
  if (node->role != ROLE_MAP) return OP_NONE;
  const uint32_t *x = node->operands + (node->op == OPC_SELECT);
  if (!((x[0] == left && x[1] == left + 1) || (x[0] == left + 1 && x[1] == left)))
    return OP_NONE;
  if (node->op == OPC_SELECT) {
    const struct superop_node *flags = emit_definition(op, node->operands[0]);
    return flags && flags->role == ROLE_MAP ? extreme(op, node, flags) : OP_NONE;
  }
  const enum cvl_op operation = superop_info(node->op)->operation;
  const struct combine_row *row = combine_row(operation, type_word_class(node->type));
  return row && row->exact ? operation : OP_NONE;
}

static void describe(struct cvl_kernel *k, struct fused_combination *c, uint32_t first) {
  const struct superop_node *nodes = k->op->nodes;
  c->at = superop_combination_at(k->op, first);
  c->role = nodes[c->at.ends].role;
  c->inclusive = nodes[c->at.ends].op == SUPEROP_COMBINE_SCAN_INCLUSIVE;
  c->columns = c->at.count;
  for (uint32_t i = 0; i < c->columns; i++) {
    const uint32_t value = nodes[first + i].operands[0];
    c->column[i] = &k->values[value];
    c->bytes[i] = (uint8_t)elem_bytes((uint8_t)superop_elem(
        (enum superop_kind)k->op->kinds[value], k->c->int_elem, k->c->float_elem));
  }
  c->buffers = c->at.ends - first;
  for (uint32_t i = 0; i < c->columns; i++) c->exact[i] = exact_operation(k, c, i);
  for (uint32_t n = first; n < c->at.ends; n++) {
    k->nodes[n].combined = nodes[n].role == ROLE_COLUMN || nodes[n].role == ROLE_MAP;
  }
  k->combines |= c->role == ROLE_COMBINE_REDUCE;
  k->scans_by |= c->role == ROLE_COMBINE_SCAN;
}

void fused_combine_plan(struct cvl_kernel *k) {
  for (uint32_t n = 0; n < k->op->node_count; n++) {
    if (k->op->nodes[n].role != ROLE_COLUMN) continue;
    struct fused_combination *c = &k->combinations[k->combination_count++];
    describe(k, c, n);
    n = c->at.ends;
  }
}

/* ---- the function, evaluated ---- */

/* Where a value of the function is, for the pairs from p on: nodes inside have buffers. */
static const char *value_at(const struct fused_function *f, uint32_t value, uint64_t p,
                            const struct order_columns *left,
                            const struct order_columns *right) {
  const struct fused_combination *c = f->combination;
  const struct fused_value *v = &f->k->values[value];
  const uint32_t i = v->node - c->at.first;
  if (f->k->nodes[v->node].repeated) return f->k->nodes[v->node].repeated;
  if (i >= c->columns) return f->buffers + i * PIECE * WIDEST;
  const bool is_left = value == f->k->op->nodes[v->node].result;
  return (is_left ? left : right)->at[i] + p * v->bytes;
}

static void evaluate(const struct fused_function *f, uint64_t p, uint64_t n,
                     const struct order_columns *left, const struct order_columns *right) {
  const struct fused_combination *c = f->combination;
  for (uint32_t k = c->at.first + c->columns; k < c->at.ends; k++) {
    const struct superop_node *node = &f->k->op->nodes[k];
    const void *in[MAX_OPERANDS];
    if (node->role != ROLE_MAP) continue;
    for (unsigned i = 0; i < node->operand_count; i++) {
      in[i] = value_at(f, node->operands[i], p, left, right);
    }
    f->k->nodes[k].entry->run(n, in, f->buffers + (k - c->at.first) * PIECE * WIDEST);
  }
}

/* A result may be an operand that another result overwrites: those are set aside, in the
 * buffers of their COLUMNs. */
static void apply(const struct order_function *function, uint64_t n,
                  const struct order_columns *left, const struct order_columns *right,
                  const struct order_columns *out) {
  const struct fused_function *f = (const struct fused_function *)(const void *)function;
  const struct fused_combination *c = f->combination;
  for (uint64_t p = 0; p < n; p += PIECE) {
    const uint64_t m = n - p < PIECE ? n - p : PIECE;
    const char *from[SUPEROP_COLUMNS_MAX];
    evaluate(f, p, m, left, right);
    for (uint32_t i = 0; i < c->columns; i++) {
      const uint32_t value = f->k->op->nodes[c->at.ends + i].operands[COMBINE_VALUE];
      from[i] = value_at(f, value, p, left, right);
      if (f->k->values[value].node >= c->at.first + c->columns) continue;
      memcpy(f->buffers + i * PIECE * WIDEST, from[i], m * c->bytes[i]);
      from[i] = f->buffers + i * PIECE * WIDEST;
    }
    for (uint32_t i = 0; i < c->columns; i++) {
      memcpy(out->at[i] + p * c->bytes[i], from[i], m * c->bytes[i]);
    }
  }
}

/* ---- memory ---- */

static uint64_t tile_totals_at(uint64_t p) {
  return p / ORDER_TILE + p / FUSED_WHOLE * ORDER_PARTS;
}

/* The tiles of a range, and what comes behind them. */
static uint64_t scan_items_of(const struct cvl_kernel *k) {
  return k->most_positions / ORDER_TILE + 3;
}

/* Items in the memory of a worker: the parts of a segment that is not long; of a scan the tiles
 * of two ranges. */
static uint64_t items_of(const struct cvl_kernel *k, const struct fused_combination *c) {
  if (c->role == ROLE_COMBINE_REDUCE) return FUSED_WHOLE / ORDER_TILE + ORDER_PARTS;
  return 2 * scan_items_of(k) + ORDER_PARTS;
}

size_t fused_combine_worker_bytes(const struct cvl_kernel *k) {
  size_t bytes = 0, scratch = 0;
  for (uint32_t i = 0; i < k->combination_count; i++) {
    const struct fused_combination *c = &k->combinations[i];
    const struct order_function f = {.columns = c->columns};
    if (order_scratch_bytes(&f) > scratch) scratch = order_scratch_bytes(&f);
    bytes += lines(c->buffers * PIECE * WIDEST) + c->columns * lines(items_of(k, c) * WIDEST);
  }
  bytes += lines(k->combination_count *
                 (sizeof(struct fused_function) + 2 * sizeof(struct order_columns)));
  return k->combination_count == 0 ? 0 : bytes + scratch;
}

void fused_combine_set_up(struct fused_worker *w, char *memory) {
  const struct cvl_kernel *k = w->k;
  const size_t count = k->combination_count;
  if (count == 0) return;
  w->functions = (struct fused_function *)(void *)memory;
  w->parts = (struct order_columns *)(void *)(w->functions + count);
  w->tiles = w->parts + count;
  memory += lines(count * (sizeof *w->functions + 2 * sizeof *w->parts));
  for (uint32_t i = 0; i < count; i++) {
    const struct fused_combination *c = &k->combinations[i];
    struct fused_function *f = &w->functions[i];
    *f = (struct fused_function){{.columns = c->columns, .apply = apply}, k, c, memory};
    if (k->runs_compiled)
      f->call.compiled = fused_compiled_combination(k->compiled, c->at.first);
    memcpy(f->call.bytes, c->bytes, sizeof c->bytes);
    memory += lines(c->buffers * PIECE * WIDEST);
    for (uint32_t j = 0; j < c->columns; j++) {
      w->tiles[i].at[j] = memory;
      memory += lines(items_of(k, c) * WIDEST);
    }
  }
  w->order_scratch = memory;
}

static uint64_t shared_items(const struct cvl_kernel *k) {
  return k->n > FUSED_WHOLE ? tile_totals_at(k->n) + ORDER_PARTS + 1 : 0;
}

size_t fused_combine_shared_bytes(const struct cvl_kernel *k) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < k->combination_count; i++) {
    const struct fused_combination *c = &k->combinations[i];
    bytes += c->role == ROLE_COMBINE_SCAN ? lines(sizeof *c->state)
                                          : c->columns * lines(shared_items(k) * WIDEST);
  }
  return bytes;
}

void fused_combine_share(struct cvl_kernel *k, char *memory) {
  for (uint32_t i = 0; i < k->combination_count; i++) {
    struct fused_combination *c = &k->combinations[i];
    if (c->role == ROLE_COMBINE_SCAN) {
      c->state = (struct order_state *)(void *)memory;
      memory += lines(sizeof *c->state);
      continue;
    }
    for (uint32_t j = 0; j < c->columns; j++) {
      c->totals.at[j] = memory;
      memory += lines(shared_items(k) * WIDEST);
    }
  }
}

/* ---- the start of a run ---- */

/* A scatter takes the one element of what is spread over one segment. */
static void drop_uniform(struct cvl_kernel *k, struct fused_combination *c) {
  for (uint32_t j = 0; j < c->columns; j++) {
    struct fused_value *v = c->column[j];
    const bool spread = v->node != SUPEROP_NONE && k->op->nodes[v->node].role == ROLE_SPREAD;
    if (spread && v->storage == UNIFORM) fused_drop_use(v);
  }
}

void fused_combine_bind(struct cvl_kernel *k, const struct cvl_value *operands) {
  for (uint32_t i = 0; i < k->combination_count; i++) {
    struct fused_combination *c = &k->combinations[i];
    if (c->role == ROLE_COMBINE_SCATTER) drop_uniform(k, c);
    if (c->role == ROLE_COMBINE_SCATTER || c->inclusive) continue;
    for (uint32_t j = 0; j < c->columns; j++) {
      const uint32_t value = k->op->nodes[c->at.ends + j].operands[COMBINE_IDENTITY];
      const bool constant = value >= k->op->param_count;
      c->identity[j] = constant ? (const char *)&k->op->nodes[k->values[value].node].constant.as
                                : value_data(&operands[value]);
      c->identity_step[j] = constant ? 0 : c->bytes[j];
    }
  }
}

bool fused_combine_results(struct cvl_kernel *k) {
  for (uint32_t i = 0; i < k->combination_count; i++) {
    struct fused_combination *c = &k->combinations[i];
    const uint64_t n = c->role == ROLE_COMBINE_REDUCE ? k->segments.count : k->n;
    if (c->role == ROLE_COMBINE_SCATTER) continue;
    for (uint32_t j = 0; j < c->columns; j++) {
      const uint32_t node = c->at.ends + j;
      struct cvl_value *result = &k->values[k->op->nodes[node].result].whole;
      if (!result_new(k->c, k->site + node, (enum cvl_elem)c->column[j]->elem, n, NULL,
                      result)) {
        return false;
      }
      c->out.at[j] = result_data(result);
    }
  }
  return true;
}

/* ---- columns ---- */

static struct order_columns columns_at(const struct fused_worker *w,
                                       const struct fused_combination *c, uint64_t p) {
  struct order_columns x = {{NULL}};
  for (uint32_t j = 0; j < c->columns; j++) x.at[j] = fused_at(w, c->column[j], p);
  return x;
}

static struct order_columns from(const struct fused_combination *c,
                                 const struct order_columns *x, uint64_t i) {
  struct order_columns at = {{NULL}};
  for (uint32_t j = 0; j < c->columns; j++) at.at[j] = x->at[j] + i * c->bytes[j];
  return at;
}

/* Item i of the results becomes the identity of segment k. */
static void put_identity(const struct fused_combination *c, uint64_t i, uint64_t k) {
  for (uint32_t j = 0; j < c->columns; j++) {
    memcpy(c->out.at[j] + i * c->bytes[j], c->identity[j] + k * c->identity_step[j],
           c->bytes[j]);
  }
}

/* An item of its own. */
struct item_room {
  uint64_t column[SUPEROP_COLUMNS_MAX];
};
static struct order_columns item_in(struct item_room *room) {
  struct order_columns item;
  for (uint32_t j = 0; j < SUPEROP_COLUMNS_MAX; j++) item.at[j] = (char *)&room->column[j];
  return item;
}

/* ---- reductions ---- */

void fused_combine_group(struct fused_worker *w, uint64_t k, uint64_t many, uint64_t p,
                         uint64_t n, const uint64_t *offsets) {
  uint64_t equal[FUSED_TILE + 1];
  for (uint64_t i = 0; i <= many && !offsets; i++) equal[i] = i * (n / many);
  if (!offsets) offsets = equal;
  for (uint32_t i = 0; i < w->k->combination_count; i++) {
    const struct fused_combination *c = &w->k->combinations[i];
    if (c->role != ROLE_COMBINE_REDUCE) continue;
    const struct order_columns x = columns_at(w, c, p), out = from(c, &c->out, k);
    order_reduce(&w->functions[i].call, &x, (struct order_segments){offsets, many}, &out,
                 w->order_scratch);
    for (uint64_t s = 0; s < many; s++) {
      if (offsets[s] == offsets[s + 1]) put_identity(c, k + s, k + s);
    }
  }
}

void fused_combine_begin(struct fused_worker *w) {
  for (uint32_t i = 0; i < w->k->combination_count; i++) w->parts[i] = w->tiles[i];
}

void fused_combine_begin_long(struct fused_worker *w, uint64_t start, uint64_t tiles_before) {
  for (uint32_t i = 0; i < w->k->combination_count; i++) {
    const struct fused_combination *c = &w->k->combinations[i];
    if (c->role == ROLE_COMBINE_REDUCE)
      w->parts[i] = from(c, &c->totals, tile_totals_at(start) + tiles_before);
  }
}

void fused_combine_tile(struct fused_worker *w, uint64_t p, uint64_t n, uint64_t tile) {
  for (uint32_t i = 0; i < w->k->combination_count; i++) {
    const struct fused_combination *c = &w->k->combinations[i];
    if (c->role != ROLE_COMBINE_REDUCE) continue;
    const struct order_columns x = columns_at(w, c, p), to = from(c, &w->parts[i], tile);
    order_parts(&w->functions[i].call, &x, n, &to, w->order_scratch);
  }
}

static void total(const struct fused_worker *w, uint32_t i, const struct order_columns *parts,
                  uint64_t k, uint64_t n) {
  const struct fused_combination *c = &w->k->combinations[i];
  const struct order_columns out = from(c, &c->out, k);
  order_total(&w->functions[i].call, parts, n / ORDER_TILE,
              (unsigned)__builtin_popcountll(n % ORDER_TILE), &out, w->order_scratch);
}

void fused_combine_end(struct fused_worker *w, uint64_t k, uint64_t n) {
  for (uint32_t i = 0; i < w->k->combination_count; i++) {
    if (w->k->combinations[i].role == ROLE_COMBINE_REDUCE) total(w, i, &w->parts[i], k, n);
  }
}

void fused_combine_finish(struct cvl_kernel *k) {
  const struct fused_worker *w = (const struct fused_worker *)(void *)k->workers;
  for (uint64_t window = 0; k->combines && window <= k->n / FUSED_WHOLE; window++) {
    if (k->long_segments[window] == 0) continue;
    const uint64_t s = k->long_segments[window] - 1, start = segment_start(&k->segments, s);
    for (uint32_t i = 0; i < k->combination_count; i++) {
      const struct fused_combination *c = &k->combinations[i];
      if (c->role != ROLE_COMBINE_REDUCE) continue;
      const struct order_columns parts = from(c, &c->totals, tile_totals_at(start));
      total(w, i, &parts, s, segment_start(&k->segments, s + 1) - start);
    }
  }
}

/* ---- scans ---- */

/* Where the totals of a range's tiles are, which then become what comes before each, and behind
 * the last. */
static struct order_columns tiles_of(const struct fused_worker *w, uint32_t i, int number) {
  return from(&w->k->combinations[i], &w->tiles[i], (uint64_t)number * scan_items_of(w->k));
}

static bool is_scan(const struct fused_worker *w, uint32_t i) {
  return w->k->combinations[i].role == ROLE_COMBINE_SCAN;
}

void fused_combine_totals(struct fused_worker *w, const struct segment_range *range,
                          int number) {
  for (uint32_t i = 0; i < w->k->combination_count; i++) {
    const struct order_columns tiles = tiles_of(w, i, number);
    const struct fused_combination *c = &w->k->combinations[i];
    for (uint64_t p = range->begin; is_scan(w, i) && p + ORDER_TILE <= range->end;
         p += ORDER_TILE) {
      const struct order_columns x = columns_at(w, c, p),
                                 to = from(c, &tiles, (p - range->begin) / ORDER_TILE);
      order_parts(&w->functions[i].call, &x, ORDER_TILE, &to, w->order_scratch);
    }
  }
}

/* What comes before the next tile becomes item i; nothing, if it is the first. */
static void put_before(const struct fused_worker *w, uint32_t number,
                       const struct order_columns *tiles, uint64_t i) {
  const struct fused_combination *c = &w->k->combinations[number];
  const struct order_columns to = from(c, tiles, i);
  if (c->state->tiles > 0) order_before(&w->functions[number].call, c->state, &to);
}

static void advance(const struct fused_worker *w, uint32_t i, const struct segment_range *range,
                    const struct order_columns *tiles) {
  const struct fused_combination *c = &w->k->combinations[i];
  const uint64_t whole = (range->end - range->begin) / ORDER_TILE;
  if (range->from_start) c->state->tiles = 0;
  for (uint64_t t = 0; t < whole; t++) {
    struct item_room room;
    const struct order_columns here = from(c, tiles, t), total = item_in(&room);
    for (uint32_t j = 0; j < c->columns; j++) memcpy(total.at[j], here.at[j], c->bytes[j]);
    put_before(w, i, tiles, t);
    order_advance(&w->functions[i].call, c->state, &total);
  }
  put_before(w, i, tiles, whole);
}

void fused_combine_advance(struct fused_worker *w, const struct segment_range *range,
                           int number) {
  if (range->begin == range->end) return;
  for (uint32_t i = 0; i < w->k->combination_count; i++) {
    const struct order_columns tiles = tiles_of(w, i, number);
    if (is_scan(w, i)) advance(w, i, range, &tiles);
  }
}

/* Scans the tile from position p on, which `before` precedes, unless it is NULL. `after`: what
 * comes before the next one, if this one is whole. */
static void scan_tile(struct fused_worker *w, uint32_t i, uint64_t p, uint64_t n,
                      const struct order_columns *before, const struct order_columns *after) {
  const struct fused_combination *c = &w->k->combinations[i];
  const uint64_t offsets[] = {0, n};
  const struct order_columns x = columns_at(w, c, p), out = from(c, &c->out, p);
  order_scan(&w->functions[i].call, &x, (struct order_segments){offsets, 1}, before,
             c->inclusive, &out, w->order_scratch);
  for (uint32_t j = 0; j < c->columns && n == ORDER_TILE && c->inclusive; j++) {
    memcpy(out.at[j] + (n - 1) * c->bytes[j], after->at[j], c->bytes[j]);
  }
}

void fused_combine_write(struct fused_worker *w, const struct segment_range *range,
                         uint64_t segment, int number) {
  for (uint32_t i = 0; i < w->k->combination_count && range->begin < range->end; i++) {
    const struct order_columns tiles = tiles_of(w, i, number);
    const struct fused_combination *c = &w->k->combinations[i];
    for (uint64_t p = range->begin; is_scan(w, i) && p < range->end; p += ORDER_TILE) {
      const uint64_t n = range->end - p < ORDER_TILE ? range->end - p : ORDER_TILE;
      const uint64_t tile = (p - range->begin) / ORDER_TILE;
      const struct order_columns before = from(c, &tiles, tile),
                                 after = from(c, &tiles, tile + 1);
      const bool first = range->from_start && p == range->begin;
      scan_tile(w, i, p, n, first ? NULL : &before, &after);
      if (first && !c->inclusive) put_identity(c, p, segment);
    }
  }
}

/* Scans a whole segment of more than a tile. */
static void scan_segment(struct fused_worker *w, uint32_t i, uint64_t low, uint64_t high) {
  const struct fused_combination *c = &w->k->combinations[i];
  const struct order_function *f = &w->functions[i].call;
  struct item_room rooms[3];
  const struct order_columns total = item_in(&rooms[0]);
  struct order_columns before = item_in(&rooms[1]), after = item_in(&rooms[2]);
  struct order_state state;
  state.tiles = 0;
  for (uint64_t p = low; p < high; p += ORDER_TILE) {
    const struct order_columns x = columns_at(w, c, p);
    const uint64_t n = high - p < ORDER_TILE ? high - p : ORDER_TILE;
    if (n == ORDER_TILE) {
      order_parts(f, &x, n, &total, w->order_scratch);
      order_advance(f, &state, &total);
      order_before(f, &state, &after);
    }
    scan_tile(w, i, p, n, p > low ? &before : NULL, &after);
    const struct order_columns next = after;
    after = before;
    before = next;
  }
}

/* Scans `many` whole segments that fit a tile, the first at position p. */
static void scan_group(struct fused_worker *w, uint32_t i, uint64_t p, const uint64_t *offsets,
                       uint64_t many) {
  const struct fused_combination *c = &w->k->combinations[i];
  const struct order_columns x = columns_at(w, c, p), out = from(c, &c->out, p);
  order_scan(&w->functions[i].call, &x, (struct order_segments){offsets, many}, NULL,
             c->inclusive, &out, w->order_scratch);
}

void fused_combine_scan(struct fused_worker *w, uint64_t first, uint64_t last) {
  const struct segments *s = &w->k->segments;
  uint64_t offsets[ORDER_TILE + 1];
  while (first < last && w->k->scans_by) {
    const uint64_t p = segment_start(s, first);
    uint64_t many = 0;
    offsets[0] = 0;
    while (first + many < last && many < ORDER_TILE &&
           segment_start(s, first + many + 1) - p <= ORDER_TILE) {
      many++;
      offsets[many] = segment_start(s, first + many) - p;
    }
    const uint64_t taken = many > 0 ? many : 1;
    for (uint32_t i = 0; i < w->k->combination_count; i++) {
      const struct fused_combination *c = &w->k->combinations[i];
      if (!is_scan(w, i)) continue;
      if (many > 0) {
        scan_group(w, i, p, offsets, many);
      } else {
        scan_segment(w, i, p, segment_start(s, first + 1));
      }
      for (uint64_t k = first; k < first + taken && !c->inclusive; k++) {
        if (segment_start(s, k) < segment_start(s, k + 1))
          put_identity(c, segment_start(s, k), k);
      }
    }
    first += taken;
  }
}

/* ---- scatters ---- */

/* What the workers of a scatter need, which begins after the chunks have ended. */
struct scatter_workers {
  struct fused_function *functions; /* of each worker */
  char *memory;                     /* likewise: buffers, then scratch */
  size_t bytes, buffers;
};

static const struct order_function *function_of(void *with, unsigned worker, char **scratch) {
  const struct scatter_workers *w = with;
  *scratch = w->memory + worker * w->bytes + w->buffers;
  return &w->functions[worker].call;
}

static const char *data_of(const struct cvl_kernel *k, uint32_t value,
                           const struct cvl_value *operands) {
  return value_data(value < k->op->param_count ? &operands[value] : &k->values[value].whole);
}

/* What is scattered; its results are made. */
static bool describe_scatter(struct cvl_kernel *k, const struct fused_combination *c,
                             const struct cvl_value *operands, struct combine_scatter *s) {
  const struct superop_node *ends = &k->op->nodes[c->at.ends];
  *s = (struct combine_scatter){.columns = c->columns,
                                .index = data_of(k, ends->operands[COMBINE_INDEX], operands),
                                .near = value_segments(&operands[ends->operands[4]]),
                                .far = value_segments(&operands[ends->operands[5]])};
  for (uint32_t j = 0; j < c->columns; j++) {
    const struct fused_value *v = c->column[j];
    struct cvl_value *result = &k->values[ends[j].result].whole;
    const uint32_t value = (uint32_t)(v - k->values);
    if (!result_new(k->c, k->site + c->at.ends + j, (enum cvl_elem)v->elem, s->far.total, NULL,
                    result)) {
      return false;
    }
    const bool same = v->unwanted;
    s->column[j] = (struct scatter_column){
        .values = same ? v->one : data_of(k, value, operands),
        .same = same,
        .defaults = data_of(k, ends[j].operands[COMBINE_INDEX + 1], operands),
        .out = result_data(result),
        .elem = v->elem,
        .exact = c->exact[j]};
  }
  return true;
}

/* The functions of all workers, in memory behind which their buffers follow. */
static void set_up_scatter(const struct cvl_kernel *k, const struct fused_combination *c,
                           struct scatter_workers *w, char *block) {
  const unsigned threads = pool_threads(k->c->pool);
  w->functions = (struct fused_function *)(void *)block;
  w->memory = block + lines(threads * sizeof *w->functions);
  for (unsigned t = 0; t < threads; t++) {
    struct fused_function *f = &w->functions[t];
    *f = (struct fused_function){
        {.columns = c->columns, .apply = apply}, k, c, w->memory + t * w->bytes};
    memcpy(f->call.bytes, c->bytes, sizeof c->bytes);
    if (k->runs_compiled)
      f->call.compiled = fused_compiled_combination(k->compiled, c->at.first);
  }
}

static bool scatter(struct cvl_kernel *k, const struct fused_combination *c,
                    const struct cvl_value *operands) {
  struct combine_scatter s;
  const struct order_function f = {.columns = c->columns};
  struct scatter_workers w = {.buffers = lines(c->buffers * PIECE * WIDEST)};
  const unsigned threads = pool_threads(k->c->pool);
  w.bytes = w.buffers + lines(order_scratch_bytes(&f));
  if (!describe_scatter(k, c, operands, &s)) return false;
  const size_t bytes = lines(threads * sizeof *w.functions) + threads * w.bytes;
  char *block = scratch_alloc(k->c, k->site + c->at.ends, bytes);
  if (!block) return false;
  set_up_scatter(k, c, &w, block);
  s.function = function_of;
  s.with = &w;
  const bool good = cpu_combine_scatter(k->c, k->site + c->at.ends, &s);
  scratch_free(k->c, block, bytes);
  return good;
}

bool fused_combine_scatter(struct cvl_kernel *k, uint32_t node,
                           const struct cvl_value *operands) {
  for (uint32_t i = 0; i < k->combination_count; i++) {
    if (k->combinations[i].at.ends == node) return scatter(k, &k->combinations[i], operands);
  }
  return true; /* executed with the first */
}
