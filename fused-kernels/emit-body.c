/* emit-body.c - what a function does with each node: before all loops, at the start of a
 * segment, at a place, after a block, and in the end.
 */
#include "fused-kernels/emit-c.h"

#include <string.h>

/* ---- segments ---- */

/* Whether the node has a cursor of its own: its segments are not those being gone through. */
static bool has_cursor(const struct emitter *e, const struct superop_node *node) {
  uint32_t far, near = emitter_near(node, &far);
  return near != SUPEROP_NONE && near != e->main;
}

/* Whether the place does not matter, so that a spread is computed once a segment. */
static bool is_spread_of_constant(const struct emitter *e, const struct superop_node *node) {
  return node->role == ROLE_SPREAD && node->operands[0] >= e->op->param_count;
}

static void segment_text(const struct emitter *e, uint32_t k, char dst[32]) {
  if (has_cursor(e, &e->op->nodes[k]))
    snprintf(dst, 32, "c%u.segment", k);
  else
    snprintf(dst, 32, "s");
}

/* The operand of DIST or INDEX in a segment: a parameter's element, or a CONST. */
static void put_source(const struct emitter *e, uint32_t k, uint32_t v) {
  char segment[32];
  segment_text(e, k, segment);
  if (v < e->op->param_count)
    fprintf(e->out, "p%u[%s]", v, segment);
  else
    fprintf(e->out, "v%u", v);
}

static bool far_of(const struct emitter *e, uint32_t k, uint32_t *far) {
  emitter_near(&e->op->nodes[k], far);
  if (e->op->nodes[k].role == ROLE_PICK) *far = e->op->nodes[k].operands[2];
  return *far != SUPEROP_NONE;
}

/* ---- before all loops ---- */

/* Frees the marks of the permutations before node `end`. */
static void free_marks(const struct emitter *e, uint32_t end, const char *indent) {
  for (uint32_t k = 0; k < end; k++) {
    if (e->op->nodes[k].op == OPC_PERMUTE) fprintf(e->out, "%sfree(used%u);\n", indent, k);
  }
}

static void declare_scatter(const struct emitter *e, const struct superop_node *node,
                            uint32_t k) {
  uint32_t far, v = node->result;
  far_of(e, k, &far);
  if (node->op == OPC_PERMUTE) {
    fprintf(e->out,
            "  struct ravel_fault twice%u = {RAVEL_OK, 0, 0, 0, 0, 0};\n"
            "  uint8_t *used%u = calloc(t%u == 0 ? 1 : (size_t)t%u, 1);\n"
            "  if (used%u == NULL) {\n",
            k, k, far, far, k);
    free_marks(e, k, "    ");
    fprintf(e->out,
            "    *fault = (struct ravel_fault){RAVEL_MEMORY, %u, 0, (int64_t)t%u, 0, 0};\n"
            "    return RAVEL_MEMORY;\n"
            "  }\n",
            k, far);
  } else if (!emitter_is_output(e->op, v)) {
    return;
  } else if (node->op == OPC_FPERMUTE) {
    fprintf(e->out, "  if (t%u != 0) memset(out%u, 0, (size_t)t%u * sizeof *out%u);\n", far, v,
            far, v);
  } else {
    uint32_t defaults = node->operands[node->op == OPC_DPERMUTE ? 2 : 3];
    fprintf(e->out, "  if (n%u != 0) memcpy(out%u, p%u, (size_t)n%u * sizeof *out%u);\n",
            defaults, v, defaults, defaults, v);
  }
}

static void declare(const struct emitter *e, uint32_t k) {
  const struct superop_node *node = &e->op->nodes[k];
  uint32_t far, near = emitter_near(node, &far), v = node->result;
  const char *type = node->result_count > 0 ? emitter_type(e, v) : "";
  if (node->checked) {
    fprintf(e->out, "  struct ravel_fault fault%u = {RAVEL_OK, 0, 0, 0, 0, 0};\n", k);
  }
  if (node->role == ROLE_CONST) {
    fprintf(e->out, "  const %s v%u = ", type, v);
    emit_literal(&node->constant, e->out);
    fprintf(e->out, ";\n  (void)v%u;\n", v);
  } else if (is_spread_of_constant(e, node)) {
    fprintf(e->out, "  const %s v%u = v%u;\n  (void)v%u;\n", type, v, node->operands[0], v);
    return;
  } else if (node->role == ROLE_REDUCE && emit_is_ordered(node)) {
    const struct combine_row *row = emit_combination(node);
    fprintf(e->out, "  struct %s_f_tree acc%u = {{0}, 0, {{0}}};\n  %s block%u[BLOCK];\n",
            emit_combination_name(row), k, type, k);
  } else if (node->role == ROLE_SCAN && emit_is_ordered(node)) {
    fprintf(e->out, "  struct %s_f_scan acc%u;\n",
            emit_combination_name(emit_combination(node)), k);
  } else if (node->role == ROLE_PACK) {
    fprintf(e->out, "  uint64_t kept%u = 0;\n", k);
  } else if (node->role == ROLE_SCATTER) {
    declare_scatter(e, node, k);
  }
  if (has_cursor(e, node)) {
    if (far == SUPEROP_NONE)
      fprintf(e->out, "  struct cursor c%u = cursor_begin(p%u, n%u, NULL);\n", k, near, near);
    else
      fprintf(e->out, "  struct cursor c%u = cursor_begin(p%u, n%u, p%u);\n", k, near, near,
              far);
  } else if (node->op != OPC_PERMUTE && far_of(e, k, &far)) {
    fprintf(e->out, "  uint64_t far%u = 0;\n", k);
  }
}

void emit_declarations(const struct emitter *e) {
  for (uint32_t k = 0; k < e->op->node_count; k++) declare(e, k);
}

/* ---- a segment begins ---- */

void emit_segment_begin(const struct emitter *e) {
  for (uint32_t k = 0; k < e->op->node_count; k++) {
    const struct superop_node *node = &e->op->nodes[k];
    uint32_t v = node->result;
    if (has_cursor(e, node) || node->result_count == 0) continue;
    const char *type = emitter_type(e, v);
    if (node->role == ROLE_SPREAD && !is_spread_of_constant(e, node)) {
      fprintf(e->out, "    const %s v%u = ", type, v);
      put_source(e, k, node->operands[0]);
      fprintf(e->out, ";\n    (void)v%u;\n", v);
    } else if (node->role == ROLE_SCAN && emit_is_ordered(node)) {
      fprintf(e->out, "    %s_f_restart(&acc%u);\n",
              emit_combination_name(emit_combination(node)), k);
    } else if ((node->role == ROLE_SCAN || node->role == ROLE_REDUCE) &&
               !emit_is_ordered(node)) {
      fprintf(e->out, "    %s acc%u = (%s)(%s);\n", type, k, type, emit_combination(node)->pad);
    } else if (node->role == ROLE_PACK) {
      fprintf(e->out, "    const uint64_t before%u = kept%u;\n    (void)before%u;\n", k, k, k);
    }
  }
}

/* ---- a place ---- */

/* What place i has of value v: a parameter's element, or the node's result. */
static void put_operand(const struct emitter *e, uint32_t v) {
  if (v < e->op->param_count)
    fprintf(e->out, "p%u[i]", v);
  else
    fprintf(e->out, "v%u", v);
}

static void place_map(const struct emitter *e, const struct superop_node *node, uint32_t k) {
  const struct map_row *row = emit_row(node);
  const char *type = emitter_type(e, node->result);
  if (node->checked) {
    fprintf(e->out, "      const int ok%u = ", k);
    emit_map(row->condition, node, e->out);
    fprintf(e->out,
            ";\n      if (!ok%u) note(&fault%u, RAVEL_DIVIDE_BY_ZERO, %u, i, 0, 0, 0);\n", k, k,
            k);
  }
  fprintf(e->out, "      const %s v%u = ", type, node->result);
  if (node->checked) fprintf(e->out, "!ok%u ? (%s)0 : ", k, type);
  fprintf(e->out, "(%s)(", type);
  emit_map(row->expression, node, e->out);
  fputs(");\n", e->out);
}

static void place_index(const struct emitter *e, const struct superop_node *node, uint32_t k) {
  const char *type = emitter_type(e, node->result);
  fprintf(e->out, "      const %s v%u = WRAP(U(", type, node->result);
  put_source(e, k, node->operands[0]);
  if (has_cursor(e, node))
    fprintf(e->out, ") + U(c%u.offset) * U(", k);
  else
    fputs(") + U(i - start) * U(", e->out);
  put_source(e, k, node->operands[1]);
  fputs("));\n", e->out);
}

/* indexK, the limit and the start of the segment it refers to; okK, with the fault noted. */
static void place_target(const struct emitter *e, const struct superop_node *node, uint32_t k) {
  char segment[32];
  uint32_t far;
  far_of(e, k, &far);
  if (node->role == ROLE_PICK)
    snprintf(segment, sizeof segment, "i");
  else
    segment_text(e, k, segment);
  fprintf(e->out, "      const int64_t index%u = ", k);
  put_operand(e, node->operands[1]);
  fprintf(e->out, ";\n      const uint64_t limit%u = (uint64_t)p%u[%s];\n", k, far, segment);
  bool flagged =
      node->op == OPC_BFPERMUTE || node->op == OPC_FPERMUTE || node->op == OPC_DFPERMUTE;
  fprintf(e->out, "      const int wanted%u = ", k);
  if (flagged)
    put_operand(e, node->operands[2]);
  else
    fputs("1", e->out);
  fprintf(e->out, ";\n      const int ok%u = wanted%u", k, k);
  if (node->checked) fprintf(e->out, " && (uint64_t)index%u < limit%u", k, k);
  fputs(";\n", e->out);
  if (node->checked) {
    fprintf(e->out,
            "      if (wanted%u && !ok%u) note(&fault%u, RAVEL_INDEX, %u, i, index%u, limit%u, "
            "%s);\n",
            k, k, k, k, k, k, segment);
  } else {
    fprintf(e->out, "      (void)limit%u;\n", k);
  }
  fprintf(e->out, "      const uint64_t at%u = ", k);
  if (has_cursor(e, node))
    fprintf(e->out, "c%u.far_start", k);
  else if (node->op == OPC_PERMUTE)
    fputs("start", e->out);
  else
    fprintf(e->out, "far%u", k);
  fprintf(e->out, " + (uint64_t)index%u;\n", k);
}

static void place_gather(const struct emitter *e, const struct superop_node *node, uint32_t k) {
  const char *type = emitter_type(e, node->result);
  uint32_t far;
  place_target(e, node, k);
  fprintf(e->out, "      const %s v%u = ok%u ? p%u[at%u] : (%s)0;\n", type, node->result, k,
          node->operands[0], k, type);
  if (node->role == ROLE_PICK && far_of(e, k, &far)) {
    fprintf(e->out, "      far%u += (uint64_t)p%u[i];\n", k, far);
  }
}

static void place_scatter(const struct emitter *e, const struct superop_node *node,
                          uint32_t k) {
  char segment[32];
  segment_text(e, k, segment);
  place_target(e, node, k);
  if (node->op == OPC_PERMUTE) {
    fprintf(e->out,
            "      if (ok%u && used%u[at%u]) {\n"
            "        note(&twice%u, RAVEL_DUPLICATE, %u, i, index%u, limit%u, %s);\n"
            "      }\n"
            "      if (ok%u) used%u[at%u] = 1;\n",
            k, k, k, k, k, k, k, segment, k, k, k);
  }
  if (!emitter_is_output(e->op, node->result)) {
    fprintf(e->out, "      (void)ok%u, (void)at%u;\n", k, k);
    return;
  }
  fprintf(e->out, "      if (ok%u) out%u[at%u] = ", k, node->result, k);
  put_operand(e, node->operands[0]);
  fputs(";\n", e->out);
}

static void place_scan(const struct emitter *e, const struct superop_node *node, uint32_t k) {
  const struct combine_row *row = emit_combination(node);
  const char *type = emitter_type(e, node->result), *name = emit_combination_name(row);
  bool ordered = emit_is_ordered(node);
  if (emitter_is_output(e->op, node->result)) {
    fprintf(e->out, "      out%u[i] = i == start ? (%s)(%s) : ", node->result, type,
            row->identity);
    if (ordered)
      fprintf(e->out, "%s_f_prefix(&acc%u, 0);\n", name, k);
    else
      fprintf(e->out, "acc%u;\n", k);
  }
  if (ordered)
    fprintf(e->out, "      %s_f_take(&acc%u, 0, ", name, k);
  else
    fprintf(e->out, "      acc%u = %s_%c(acc%u, ", k, name, "ifb"[row->klass], k);
  put_operand(e, node->operands[0]);
  fputs(");\n", e->out);
}

static void place_reduce(const struct emitter *e, const struct superop_node *node, uint32_t k) {
  const struct combine_row *row = emit_combination(node);
  if (emit_is_ordered(node))
    fprintf(e->out, "      block%u[i - first] = ", k);
  else
    fprintf(e->out, "      acc%u = %s_%c(acc%u, ", k, emit_combination_name(row),
            "ifb"[row->klass], k);
  put_operand(e, node->operands[0]);
  fputs(emit_is_ordered(node) ? ";\n" : ");\n", e->out);
}

static void place_pack(const struct emitter *e, const struct superop_node *node, uint32_t k) {
  fputs("      if (", e->out);
  put_operand(e, node->operands[1]);
  fputs(") ", e->out);
  if (emitter_is_output(e->op, node->result)) {
    fprintf(e->out, "out%u[kept%u] = ", node->result, k);
    put_operand(e, node->operands[0]);
    fprintf(e->out, ", ");
  }
  fprintf(e->out, "kept%u++;\n", k);
}

/* The elements of parameters that maps read, as values. */
static void place_params(const struct emitter *e) {
  bool read[SUPEROP_VALUES_MAX] = {false};
  for (uint32_t k = 0; k < e->op->node_count; k++) {
    const struct superop_node *node = &e->op->nodes[k];
    bool reads = node->role == ROLE_MAP || node->role == ROLE_CARRY;
    for (unsigned i = 0; reads && i < node->operand_count; i++) {
      read[node->operands[i]] = true;
    }
  }
  for (uint32_t v = 0; v < e->op->param_count; v++) {
    if (read[v]) fprintf(e->out, "      const %s v%u = p%u[i];\n", emitter_type(e, v), v, v);
    if (read[v] && e->idle[v]) fprintf(e->out, "      (void)v%u;\n", v);
  }
}

/* ---- assertions ---- */

void emit_find_late(struct emitter *e) {
  const struct superop *op = e->op;
  bool needed[SUPEROP_VALUES_MAX] = {false};
  for (uint32_t k = op->node_count; k-- > 0;) {
    const struct superop_node *node = &op->nodes[k];
    e->late[k] = node->role == ROLE_MAP && op->cold[k] && !needed[node->result];
    for (unsigned i = 0; i < node->operand_count && !e->late[k]; i++) {
      if (superop_matters(node, i)) needed[node->operands[i]] = true;
    }
  }
  for (uint32_t v = 0; v < op->value_count; v++) e->idle[v] = true;
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    bool emitted = !e->late[k] && (node->role != ROLE_ASSERT || node->checked);
    bool moves = node->role == ROLE_PACK || node->role == ROLE_SCATTER;
    for (unsigned i = 0; emitted && i < node->operand_count; i++) {
      bool dropped = moves && i == 0 && !emitter_is_output(op, node->result);
      if (!dropped) e->idle[node->operands[i]] = false;
    }
  }
}

static void place_assert(const struct emitter *e, const struct superop_node *node, uint32_t k) {
  bool wanted[SUPEROP_VALUES_MAX] = {false};
  if (!node->checked) return;
  wanted[node->operands[1]] = wanted[node->operands[2]] = true;
  for (uint32_t j = k; j-- > 0;) {
    const struct superop_node *maker = &e->op->nodes[j];
    if (!e->late[j] || !wanted[maker->result]) continue;
    for (unsigned i = 0; i < maker->operand_count; i++) wanted[maker->operands[i]] = true;
  }
  fputs("      if (!", e->out);
  put_operand(e, node->operands[0]);
  fputs(") {\n", e->out);
  for (uint32_t j = 0; j < k; j++) {
    const struct superop_node *maker = &e->op->nodes[j];
    if (e->late[j] && wanted[maker->result]) place_map(e, maker, j);
  }
  fprintf(e->out, "      note(&fault%u, RAVEL_ASSERT, %u, i, ", k, k);
  put_operand(e, node->operands[1]);
  fputs(", (uint64_t)", e->out);
  put_operand(e, node->operands[2]);
  fputs(", 0);\n      }\n", e->out);
}

static void place_node(const struct emitter *e, uint32_t k) {
  const struct superop_node *node = &e->op->nodes[k];
  uint32_t v = node->result;
  if (e->late[k]) return;
  if (has_cursor(e, node) && !is_spread_of_constant(e, node)) {
    fprintf(e->out, "      cursor_next(&c%u);\n", k);
  }
  switch ((enum superop_role)node->role) {
  case ROLE_CONST: return;
  case ROLE_SPREAD:
    if (has_cursor(e, node) && !is_spread_of_constant(e, node)) {
      fprintf(e->out, "      const %s v%u = ", emitter_type(e, v), v);
      put_source(e, k, node->operands[0]);
      fputs(";\n", e->out);
    }
    break;
  case ROLE_INDEX: place_index(e, node, k); break;
  case ROLE_GATHER:
  case ROLE_PICK: place_gather(e, node, k); break;
  case ROLE_MAP: place_map(e, node, k); break;
  case ROLE_CARRY:
  case ROLE_WHILE:
  case ROLE_NEXT: emit_loop_part(e->op, k, e->widths, "      ", "", e->out); break;
  case ROLE_REDUCE: place_reduce(e, node, k); return;
  case ROLE_SCAN: place_scan(e, node, k); return;
  case ROLE_PACK: place_pack(e, node, k); return;
  case ROLE_SCATTER: place_scatter(e, node, k); return;
  case ROLE_ASSERT: place_assert(e, node, k); return;
  }
  if (node->result_count == 0) return;
  if (emitter_is_output(e->op, v))
    fprintf(e->out, "      out%u[i] = v%u;\n", v, v);
  else if (e->idle[v])
    fprintf(e->out, "      (void)v%u;\n", v);
}

void emit_place(const struct emitter *e) {
  place_params(e);
  for (uint32_t k = 0; k < e->op->node_count; k++) place_node(e, k);
}

/* ---- after places ---- */

void emit_block_end(const struct emitter *e) {
  for (uint32_t k = 0; k < e->op->node_count; k++) {
    const struct superop_node *node = &e->op->nodes[k];
    if (node->role != ROLE_REDUCE || !emit_is_ordered(node)) continue;
    fprintf(e->out, "      %s_f_block(&acc%u, block%u, last - first);\n",
            emit_combination_name(emit_combination(node)), k, k);
  }
}

void emit_segment_end(const struct emitter *e) {
  for (uint32_t k = 0; k < e->op->node_count; k++) {
    const struct superop_node *node = &e->op->nodes[k];
    uint32_t far, v = node->result;
    if (node->role == ROLE_REDUCE) {
      const struct combine_row *row = emit_combination(node);
      const char *type = emitter_type(e, v);
      if (!emitter_is_output(e->op, v))
        fprintf(e->out, "    (void)");
      else
        fprintf(e->out, "    out%u[s] = ", v);
      fprintf(e->out, "(start == end ? (%s)(%s) : ", type, row->identity);
      if (emit_is_ordered(node)) {
        fprintf(e->out, "%s_f_finish(&acc%u));\n", emit_combination_name(row), k);
      } else {
        fprintf(e->out, "acc%u);\n", k);
      }
    } else if (node->role == ROLE_PACK && emitter_is_output(e->op, v + 1)) {
      fprintf(e->out, "    out%u[s] = (int64_t)(kept%u - before%u);\n", v + 1, k, k);
    } else if (node->role != ROLE_PICK && node->op != OPC_PERMUTE && !has_cursor(e, node) &&
               far_of(e, k, &far)) {
      fprintf(e->out, "    far%u += (uint64_t)p%u[s];\n", k, far);
    }
  }
}

void emit_end(const struct emitter *e) {
  free_marks(e, e->op->node_count, "  ");
  for (uint32_t k = 0; k < e->op->node_count; k++) {
    const struct superop_node *node = &e->op->nodes[k];
    if (!node->checked) continue;
    fprintf(e->out,
            "  if (fault%u.kind != RAVEL_OK) {\n    *fault = fault%u;\n"
            "    return fault%u.kind;\n  }\n",
            k, k, k);
    if (node->op == OPC_PERMUTE) {
      fprintf(e->out,
              "  if (twice%u.kind != RAVEL_OK) {\n    *fault = twice%u;\n"
              "    return twice%u.kind;\n  }\n",
              k, k, k);
    }
  }
  fputs("  return RAVEL_OK;\n", e->out);
}
