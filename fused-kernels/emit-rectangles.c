/* emit-rectangles.c - the function of rectangles: all maps of a superoperator at some columns
 * of some rows, in one loop. What is arithmetic on positions is not computed: over a rectangle
 * it is a progression, or a BOOL that is the same everywhere, which the caller knows. So a
 * gather is a load, and its index is never there.
 */
#include "fused-kernels/affine-nodes.h"
#include "fused-kernels/emit-expression.h"

/* ---- the plan ---- */

struct planning {
  const struct superop *op;
  const bool *analysed;
  const bool *needed; /* of every value */
};

static enum fused_rectangle_task task_of(const struct planning *p, uint32_t k) {
  const struct superop_node *node = &p->op->nodes[k];
  if (p->op->cold[k] || node->role == ROLE_CONST || node->role == ROLE_ASSERT)
    return RECTANGLE_NOTHING;
  if (!p->needed[node->result] || fused_is_constant(p->op, node)) return RECTANGLE_NOTHING;
  if (node->role == ROLE_GATHER) return RECTANGLE_GATHER;
  if (p->analysed[k]) return RECTANGLE_AFFINE;
  return node->role == ROLE_SPREAD ? RECTANGLE_ROW : RECTANGLE_MAP;
}

/* Whether the function may execute a node of this task, or leave it out. */
static bool may_execute(const struct planning *p, uint32_t k, enum fused_rectangle_task task) {
  const struct superop_node *node = &p->op->nodes[k];
  const bool gather = node->role == ROLE_GATHER && p->analysed[k];
  if (p->op->cold[k]) return true;
  switch ((enum superop_role)node->role) {
  case ROLE_CONST:
  case ROLE_SPREAD: return true;
  case ROLE_INDEX: return task != RECTANGLE_MAP;
  case ROLE_GATHER: return gather;
  case ROLE_ASSERT: return !node->checked;
  case ROLE_MAP: return !node->checked && !emit_in_two_passes(node);
  default: return false;
  }
}

/* Backwards, so that what a node is needed for is known. */
static bool find_tasks(const struct planning *p, bool *needed, uint8_t *tasks) {
  for (uint32_t k = p->op->node_count; k-- > 0;) {
    const struct superop_node *node = &p->op->nodes[k];
    tasks[k] = (uint8_t)task_of(p, k);
    if (!may_execute(p, k, (enum fused_rectangle_task)tasks[k])) return false;
    for (unsigned i = 0; tasks[k] == RECTANGLE_MAP && i < node->operand_count; i++)
      needed[node->operands[i]] = true;
  }
  return true;
}

static bool emit_rectangles_all_written(const struct superop *op, const uint8_t *tasks) {
  for (uint32_t i = 0; i < op->output_count; i++) {
    const struct superop_node *node = emit_definition(op, op->outputs[i]);
    const uint8_t task = tasks[node - op->nodes];
    if (task != RECTANGLE_MAP && task != RECTANGLE_GATHER) return false;
  }
  return true;
}

static bool some_gather(const struct superop *op, const uint8_t *tasks) {
  bool some = false;
  for (uint32_t k = 0; k < op->node_count; k++) some |= tasks[k] == RECTANGLE_GATHER;
  return some;
}

void fused_rectangles_plan(struct arena *arena, const struct superop *op,
                           struct fused_rectangles *r) {
  bool *arrays[4];
  for (unsigned i = 0; i < 4; i++) arrays[i] = arena_alloc(arena, op->value_count + 1);
  bool *needed = arrays[3];
  *r = (struct fused_rectangles){.tasks = arena_alloc(arena, op->node_count + 1),
                                 .reads = needed};
  if (superop_has_loops(op) || superop_has_combinations(op)) return;
  fused_affine_nodes_find(op, &(struct fused_affine_nodes){arrays[0], arrays[1], arrays[2]});
  for (uint32_t i = 0; i < op->output_count; i++) needed[op->outputs[i]] = true;
  const struct planning p = {op, arrays[2], needed};
  r->exists = find_tasks(&p, needed, r->tasks) && emit_rectangles_all_written(op, r->tasks) &&
              some_gather(op, r->tasks);
}

/* ---- the text ---- */

struct rectangles_text {
  const struct superop *op;
  const struct fused_rectangles *r;
  struct widths widths;
  FILE *out;
};

static bool emit_rectangles_is_output(const struct superop *op, uint32_t v) {
  bool output = false;
  for (uint32_t i = 0; i < op->output_count; i++) output |= op->outputs[i] == v;
  return output;
}

static bool is_affine_int(const struct rectangles_text *t, uint32_t k) {
  return t->r->tasks[k] == RECTANGLE_AFFINE &&
         t->op->kinds[t->op->nodes[k].result] == SUPEROP_INT;
}

/* Whether a value is loaded at every position. */
static bool emit_rectangles_is_loaded(const struct rectangles_text *t, uint32_t v) {
  const struct superop_node *node = emit_definition(t->op, v);
  if (!node) return t->r->reads[v] && t->op->kinds[v] != SUPEROP_SEGDES;
  return t->r->tasks[node - t->op->nodes] == RECTANGLE_GATHER;
}

/* Where the elements of a row are. */
static void declare_loads(const struct rectangles_text *t) {
  for (uint32_t v = 0; v < t->op->value_count; v++) {
    const struct cvl_value *c = emit_spread_constant(t->op, v);
    if (emit_rectangles_is_loaded(t, v))
      fprintf(t->out,
              "    const %s *restrict in%u = (const void *)(in[%u].at + row * "
              "in[%u].row_bytes);\n",
              emit_type_of(t->op, t->widths, v), v, v, v);
    if (c && t->r->reads[v]) {
      fprintf(t->out, "    const %s v%u = ", emit_type_of(t->op, t->widths, v), v);
      emit_literal(c, t->out);
      fputs(";\n", t->out);
    }
    if (emit_rectangles_is_output(t->op, v))
      fprintf(t->out,
              "    %s *restrict out%u = (void *)(out[%u].at + row * out[%u].row_bytes);\n",
              emit_type_of(t->op, t->widths, v), v, v, v);
  }
}

/* Declares a value that is the same at all positions of a row, or a progression there. */
static void declare_known(const struct rectangles_text *t, uint32_t k) {
  const uint32_t v = t->op->nodes[k].result;
  const char *type = emit_type_of(t->op, t->widths, v);
  if (t->r->tasks[k] == RECTANGLE_ROW)
    fprintf(t->out,
            "    const %s v%u = *(const %s *)(const void *)(in[%u].at + row * "
            "in[%u].row_bytes);\n",
            type, v, type, v, v);
  if (is_affine_int(t, k))
    fprintf(t->out,
            "    u%s next%u = (u%s)(in[%u].start + row * in[%u].row_stride);\n"
            "    const u%s stride%u = (u%s)in[%u].stride;\n",
            type, v, type, v, v, type, v, type, v);
  else if (t->r->tasks[k] == RECTANGLE_AFFINE)
    fprintf(t->out, "    const _Bool v%u = (_Bool)in[%u].start;\n", v, v);
}

static void print_map(const struct rectangles_text *t, uint32_t k) {
  const struct superop_node *node = &t->op->nodes[k];
  const char *type = emit_variable_type_of(t->op, t->widths, node->result);
  fprintf(t->out, "      const %s v%u = (%s)(", type, node->result, type);
  emit_map(emit_row(node)->expression, node, t->out);
  fputs(");\n", t->out);
}

static void print_body(const struct rectangles_text *t) {
  for (uint32_t v = 0; v < t->op->value_count; v++) {
    if (emit_rectangles_is_loaded(t, v))
      fprintf(t->out, "      const %s v%u = in%u[i];\n", emit_type_of(t->op, t->widths, v), v,
              v);
  }
  for (uint32_t k = 0; k < t->op->node_count; k++) {
    const uint32_t v = t->op->nodes[k].result;
    if (is_affine_int(t, k))
      fprintf(t->out, "      const %s v%u = (%s)next%u;\n      next%u += stride%u;\n",
              emit_type_of(t->op, t->widths, v), v, emit_type_of(t->op, t->widths, v), v, v, v);
  }
  for (uint32_t k = 0; k < t->op->node_count; k++) {
    if (t->r->tasks[k] == RECTANGLE_MAP) print_map(t, k);
  }
  for (uint32_t i = 0; i < t->op->output_count; i++)
    fprintf(t->out, "      out%u[i] = v%u;\n", t->op->outputs[i], t->op->outputs[i]);
}

void fused_emit_rectangles(const struct fused_functions *f, struct widths widths,
                           const char *name, FILE *out) {
  const struct rectangles_text t = {f->schedule.op, &f->rectangles, widths, out};
  for (int declared = 0; declared < 2; declared++) {
    fprintf(out,
            "void %s(uint64_t rows, uint64_t n, const struct tile_rectangle *in,\n"
            "    const struct tile_rectangle *out)%s",
            name, declared ? " {\n" : ";\n");
  }
  fputs("  (void)in;\n  for (uint64_t row = 0; row < rows; row++) {\n", out);
  declare_loads(&t);
  for (uint32_t k = 0; k < t.op->node_count; k++) declare_known(&t, k);
  fputs(EMIT_IVDEP "    for (uint64_t i = 0; i < n; i++) {\n", out);
  print_body(&t);
  fputs("    }\n  }\n}\n\n", out);
}
