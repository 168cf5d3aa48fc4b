/* fused.c - combinations: reductions and scans by user-defined functions.
 *
 * Ranges write the columns of a combination (fused/range-combinations.h), and segments are cut
 * as those of other reductions and scans are. The trees need the function for pairs of items.
 * Kernels execute its nodes for some pairs at a time, from buffer to buffer, or it is compiled
 * (fused/compiled.h).
 */
#include "cvl-cpu/combine/fused.h"

#include "cvl-cpu/combine/combinations.h"
#include "cvl-cpu/fused/compiled.h"
#include "fused-kernels/emit-expression.h"

/* ---- the plan ---- */

uint32_t fused_combinations(const struct superop *op) {
  uint32_t count = 0;
  for (uint32_t n = 0; n < op->node_count; n++) {
    count +=
        op->nodes[n].role == ROLE_COLUMN && (n == 0 || op->nodes[n - 1].role != ROLE_COLUMN);
  }
  return count;
}

/* Returns MAX or MIN if a node is SELECT of x > y, x and y, or an equivalent form, for INTs;
 * else NONE. */
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

/* Returns the operation by which the function combines column i (struct fused_combination). */
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

/* The node that defines a value, or `first` if that is earlier. */
static uint32_t earlier(const struct superop *op, uint32_t value, uint32_t first) {
  const uint32_t node = (uint32_t)(emit_definition(op, value) - op->nodes);
  return node < first ? node : first;
}

/* The first node whose result the function reads: a COLUMN, or a constant before it. */
static uint32_t first_read(const struct superop *op, const struct fused_combination *c) {
  uint32_t first = c->at.first;
  for (uint32_t n = c->at.first + c->columns; n < c->at.ends; n++) {
    const struct superop_node *node = &op->nodes[n];
    for (unsigned i = 0; i < node->operand_count; i++)
      first = earlier(op, node->operands[i], first);
  }
  for (uint32_t n = c->at.ends; n < c->at.ends + c->columns; n++)
    first = earlier(op, op->nodes[n].operands[COMBINE_VALUE], first);
  return first;
}

static void fused_describe(struct cvl_kernel *k, struct fused_combination *c, uint32_t first) {
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
  c->first_buffer = first_read(k->op, c);
  c->buffers = c->at.ends - c->first_buffer;
  for (uint32_t i = 0; i < c->columns; i++) c->exact[i] = exact_operation(k, c, i);
  k->combines |= c->role == ROLE_COMBINE_REDUCE;
  k->scans_by |= c->role == ROLE_COMBINE_SCAN;
}

void fused_combine_plan(struct cvl_kernel *k) {
  for (uint32_t n = 0; n < k->op->node_count; n++) {
    if (k->op->nodes[n].role != ROLE_COLUMN) continue;
    struct fused_combination *c = &k->combinations[k->combination_count++];
    c->first_column = k->column_count;
    fused_describe(k, c, n);
    k->column_count += c->columns;
    n = c->at.ends;
  }
}

/* ---- the function, evaluated ---- */

static char *buffer_of(const struct fused_function *f, uint32_t node) {
  return f->buffers + (node - f->combination->first_buffer) * COMBINE_BATCH * COMBINE_WIDEST;
}

/* Returns where a value of the function is, for the pairs from p on. Inner nodes and constants
 * have buffers. */
static const char *fused_value_at(const struct fused_function *f, uint32_t value, uint64_t p,
                                  const struct order_columns *left,
                                  const struct order_columns *right) {
  const struct fused_combination *c = f->combination;
  const struct fused_value *v = &f->k->values[value];
  const uint32_t i = v->node - c->at.first;
  if (v->node < c->at.first || i >= c->columns) return buffer_of(f, v->node);
  const bool is_left = value == f->k->op->nodes[v->node].result;
  return (is_left ? left : right)->at[i] + p * v->bytes;
}

static map_kernel *map_of(const struct cvl_kernel *k, const struct superop_node *node) {
  const struct map_rows *rows = k->c->map_rows;
  const uint8_t elem = k->values[node->operands[node->operand_count - 1]].elem;
  return rows->row[superop_info(node->op)->operation][elem_info((enum cvl_elem)elem)->klass]
      .run;
}

static void fused_evaluate(const struct fused_function *f, uint64_t p, uint64_t n,
                           const struct order_columns *left,
                           const struct order_columns *right) {
  const struct fused_combination *c = f->combination;
  for (uint32_t k = c->at.first + c->columns; k < c->at.ends; k++) {
    const struct superop_node *node = &f->k->op->nodes[k];
    const void *in[MAX_OPERANDS];
    if (node->role != ROLE_MAP) continue;
    for (unsigned i = 0; i < node->operand_count; i++) {
      in[i] = fused_value_at(f, node->operands[i], p, left, right);
    }
    map_of(f->k, node)(n, in, buffer_of(f, k));
  }
}

/* A result may overwrite an operand that another result still needs. Such operands are first
 * copied to the buffers of their COLUMNs. */
static void fused_apply(const struct order_function *function, uint64_t n,
                        const struct order_columns *left, const struct order_columns *right,
                        const struct order_columns *out) {
  const struct fused_function *f = (const struct fused_function *)(const void *)function;
  const struct fused_combination *c = f->combination;
  for (uint64_t p = 0; p < n; p += COMBINE_BATCH) {
    const uint64_t m = n - p < COMBINE_BATCH ? n - p : COMBINE_BATCH;
    const char *from[SUPEROP_COLUMNS_MAX];
    fused_evaluate(f, p, m, left, right);
    for (uint32_t i = 0; i < c->columns; i++) {
      const uint32_t value = f->k->op->nodes[c->at.ends + i].operands[COMBINE_VALUE];
      from[i] = fused_value_at(f, value, p, left, right);
      if (f->k->values[value].node >= c->at.first + c->columns) continue;
      char *copy = buffer_of(f, c->at.first + i);
      memcpy(copy, from[i], m * c->bytes[i]);
      from[i] = copy;
    }
    for (uint32_t i = 0; i < c->columns; i++) {
      memcpy(out->at[i] + p * c->bytes[i], from[i], m * c->bytes[i]);
    }
  }
}

size_t combine_buffer_bytes(const struct fused_combination *c) {
  return combine_lines(c->buffers * COMBINE_BATCH * COMBINE_WIDEST);
}

/* Constants that are spread, as often as a batch has pairs. */
static void repeat_constants(const struct fused_function *f) {
  const struct superop *op = f->k->op;
  for (uint32_t n = f->combination->first_buffer; n < f->combination->at.first; n++) {
    const struct superop_node *from = emit_definition(op, op->nodes[n].operands[0]);
    if (op->nodes[n].role != ROLE_SPREAD || !from || from->role != ROLE_CONST) continue;
    const size_t bytes = f->k->values[op->nodes[n].result].bytes;
    for (uint32_t i = 0; i < COMBINE_BATCH; i++)
      memcpy(buffer_of(f, n) + i * bytes, &from->constant.as, bytes);
  }
}

struct fused_function combine_function(const struct cvl_kernel *k,
                                       const struct fused_combination *c, char *buffers) {
  struct fused_function f = {{.columns = c->columns, .apply = fused_apply}, k, c, buffers};
  memcpy(f.call.bytes, c->bytes, sizeof c->bytes);
  if (k->run.way == BY_FUNCTION)
    f.call.compiled = fused_compiled_combination(k->compiled, c->at.first);
  else
    repeat_constants(&f);
  return f;
}

/* ---- memory ---- */

static uint64_t tile_totals_at(const struct cvl_kernel *k, uint64_t p) {
  return p / ORDER_TILE + p / k->run.whole * ORDER_ROOTS;
}

/* Returns how many items a worker's memory holds: a scan needs the tiles of two parts. */
static uint64_t items_of(const struct cvl_kernel *k, const struct fused_combination *c) {
  if (c->role == ROLE_COMBINE_REDUCE) return 0;
  return 2 * combine_scan_items(k) + ORDER_ROOTS;
}

size_t fused_combine_worker_bytes(const struct cvl_kernel *k) {
  size_t bytes = 0, scratch = 0;
  for (uint32_t i = 0; i < k->combination_count; i++) {
    const struct fused_combination *c = &k->combinations[i];
    const struct order_function f = {.columns = c->columns};
    if (order_scratch_bytes(&f) > scratch) scratch = order_scratch_bytes(&f);
    bytes +=
        combine_buffer_bytes(c) + c->columns * combine_lines(items_of(k, c) * COMBINE_WIDEST);
  }
  bytes += combine_lines(k->combination_count *
                         (sizeof(struct fused_function) + sizeof(struct order_columns)));
  return k->combination_count == 0 ? 0 : bytes + scratch;
}

void fused_combine_set_up(struct combine_worker *w, char *memory) {
  const struct cvl_kernel *k = w->k;
  const size_t count = k->combination_count;
  if (count == 0) return;
  w->functions = (struct fused_function *)(void *)memory;
  w->tiles = (struct order_columns *)(void *)(w->functions + count);
  memory += combine_lines(count * (sizeof *w->functions + sizeof *w->tiles));
  for (uint32_t i = 0; i < count; i++) {
    const struct fused_combination *c = &k->combinations[i];
    struct fused_function *f = &w->functions[i];
    *f = combine_function(k, c, memory);
    memory += combine_buffer_bytes(c);
    for (uint32_t j = 0; j < c->columns; j++) {
      w->tiles[i].at[j] = memory;
      memory += combine_lines(items_of(k, c) * COMBINE_WIDEST);
    }
  }
  w->order_scratch = memory;
}

static uint64_t shared_items(const struct cvl_kernel *k) {
  return k->run.n > k->run.whole ? tile_totals_at(k, k->run.n) + ORDER_ROOTS + 1 : 0;
}

size_t fused_combine_common_bytes(const struct cvl_kernel *k) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < k->combination_count; i++) {
    const struct fused_combination *c = &k->combinations[i];
    bytes += c->role == ROLE_COMBINE_SCAN
                 ? combine_lines(sizeof *c->state)
                 : c->columns * combine_lines(shared_items(k) * COMBINE_WIDEST);
  }
  return bytes;
}

void fused_combine_lay_out(struct cvl_kernel *k, char *memory) {
  for (uint32_t i = 0; i < k->combination_count; i++) {
    struct fused_combination *c = &k->combinations[i];
    if (c->role == ROLE_COMBINE_SCAN) {
      c->state = (struct order_state *)(void *)memory;
      memory += combine_lines(sizeof *c->state);
      continue;
    }
    for (uint32_t j = 0; j < c->columns; j++) {
      c->totals.at[j] = memory;
      memory += combine_lines(shared_items(k) * COMBINE_WIDEST);
    }
  }
}

/* ---- the start of a run ---- */

void fused_combine_bind(struct cvl_kernel *k, const struct cvl_value *operands) {
  for (uint32_t i = 0; i < k->combination_count; i++) {
    struct fused_combination *c = &k->combinations[i];
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
    const uint64_t n = c->role == ROLE_COMBINE_REDUCE ? k->run.segments.count : k->run.n;
    if (c->role == ROLE_COMBINE_SCATTER) continue;
    for (uint32_t j = 0; j < c->columns; j++) {
      const uint32_t node = c->at.ends + j;
      struct cvl_value *result = &k->values[k->op->nodes[node].result].whole;
      if (!result_new(k->c, k->run.site + node, (enum cvl_elem)c->column[j]->elem, n, NULL,
                      result)) {
        return false;
      }
      c->out.at[j] = result_data(result);
    }
  }
  return true;
}

/* ---- reductions ---- */

void fused_combine_group(struct combine_worker *w, uint64_t k, uint64_t many, uint64_t p,
                         const uint64_t *offsets) {
  for (uint32_t i = 0; i < w->k->combination_count; i++) {
    const struct fused_combination *c = &w->k->combinations[i];
    if (c->role != ROLE_COMBINE_REDUCE) continue;
    const struct order_columns x = combine_columns(w, c, p), out = combine_item(c, &c->out, k);
    order_reduce(&w->functions[i].call, &x, (struct order_segments){offsets, many}, &out,
                 w->order_scratch);
    for (uint64_t s = 0; s < many; s++) {
      if (offsets[s] == offsets[s + 1]) combine_put_identity(c, k + s, k + s);
    }
  }
}

void fused_combine_tile(struct combine_worker *w, uint64_t start, uint64_t p, uint64_t n) {
  const uint64_t tile = tile_totals_at(w->k, start) + (p - start) / ORDER_TILE;
  for (uint32_t i = 0; i < w->k->combination_count; i++) {
    const struct fused_combination *c = &w->k->combinations[i];
    if (c->role != ROLE_COMBINE_REDUCE) continue;
    const struct order_columns x = combine_columns(w, c, p),
                               to = combine_item(c, &c->totals, tile);
    order_roots(&w->functions[i].call, &x, n, &to, w->order_scratch);
  }
}

static void total(const struct combine_worker *w, uint32_t i, const struct order_columns *roots,
                  uint64_t k, uint64_t n) {
  const struct fused_combination *c = &w->k->combinations[i];
  const struct order_columns out = combine_item(c, &c->out, k);
  order_total(&w->functions[i].call, roots, n / ORDER_TILE,
              (unsigned)__builtin_popcountll(n % ORDER_TILE), &out, w->order_scratch);
}

void fused_combine_finish(const struct combine_worker *w) {
  const struct cvl_kernel *k = w->k;
  for (uint64_t window = 0; k->combines && window <= k->run.n / k->run.whole; window++) {
    if (k->run.long_segments[window] == 0) continue;
    const uint64_t s = k->run.long_segments[window] - 1,
                   start = segment_start(&k->run.segments, s);
    for (uint32_t i = 0; i < k->combination_count; i++) {
      const struct fused_combination *c = &k->combinations[i];
      if (c->role != ROLE_COMBINE_REDUCE) continue;
      const struct order_columns roots = combine_item(c, &c->totals, tile_totals_at(k, start));
      total(w, i, &roots, s, segment_start(&k->run.segments, s + 1) - start);
    }
  }
}
