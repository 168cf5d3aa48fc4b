/* print-range.c - see range.h. */
#include "base/text.h"
#include "fused-kernels/loops/kernel-text.h"
#include "fused-kernels/loops/range.h"

static bool range_makes(const struct superop *op, uint32_t value) {
  for (uint32_t i = 0; i < op->output_count; i++) {
    if (op->outputs[i] == value) return true;
  }
  return false;
}

static bool range_does(const struct superop *op, const struct superop_node *node) {
  if (node->role == ROLE_REDUCE) return range_makes(op, node->result);
  if (node->role == ROLE_PACK)
    return range_makes(op, node->result) || range_makes(op, node->result + 1);
  if (node->role == ROLE_SCAN) return range_makes(op, node->result);
  if (node->role != ROLE_SCATTER) return true;
  /* The defaults are in memory, and nothing reads what is not yet written. */
  const struct permute_operands at = permute_operands((enum opcode)node->op);
  const bool there = at.defaults == NO_OPERAND || node->operands[at.defaults] < op->param_count;
  return there && op->uses[node->result] == 1 && range_makes(op, node->result);
}

void kernel_range_find_strides(const struct superop *op, bool *strides) {
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (op->nodes[k].role != ROLE_INDEX) continue;
    const uint32_t stride = op->nodes[k].operands[1];
    if (stride < op->param_count) strides[stride] = true;
  }
}

bool kernel_range_fits(const struct superop *op) {
  bool fits = !op->copies;
  for (uint32_t k = 0; k < op->node_count && fits; k++) fits = range_does(op, &op->nodes[k]);
  return fits;
}

/* ---- how parameters are read ---- */

/* Parameter p, as it is read in a way. */
static uint32_t read_as(const struct kernel_text *x, uint32_t p, enum kernel_read_as way) {
  return p + way * x->op->param_count;
}

/* How a range reads what belongs to segments under a descriptor. */
static enum kernel_read_as way_under(const struct kernel_text *x, uint32_t near, bool gathers) {
  if (near == SUPEROP_NONE) return READ_PICKED;
  if (near != x->main) return READ_WHOLE;
  return gathers ? READ_IN_SEGMENTS : READ_BY_SEGMENT;
}

/* Whether a gather before statement k reads the same in segments of another descriptor. */
static bool is_read_otherwise(const struct kernel_statement *all, uint32_t k) {
  for (uint32_t i = 0; i < k; i++) {
    if (all[i].kind == KERNEL_GATHER && all[i].param == all[k].param &&
        all[i].far != all[k].far)
      return true;
  }
  return false;
}

static void find_way(const struct kernel_text *x, struct kernel_statement *all, uint32_t k) {
  struct kernel_statement *s = &all[k];
  const bool scatters = s->kind == KERNEL_SCATTER,
             indexes = scatters || s->kind == KERNEL_GATHER;
  if (!indexes && s->kind != KERNEL_SPREAD) return;
  const enum kernel_read_as way = way_under(x, s->near, indexes);
  const uint32_t param = s->param;
  s->param = scatters ? SUPEROP_NONE : read_as(x, param, way);
  if (indexes) s->far = read_as(x, s->far, way);
  if (s->kind == KERNEL_GATHER && is_read_otherwise(all, k))
    s->param = read_as(x, param, READ_WHOLE);
}

/* Strides that are known to be 1 are not read. */
static bool use_one(const struct kernel_text *x, struct kernel_statement *s) {
  static const struct cvl_value one = {.form = CVL_SCALAR, .elem = CVL_I64, .as.i64 = 1};
  if (s->kind != KERNEL_SPREAD || !x->one[s->param]) return false;
  s->kind = KERNEL_CONSTANT;
  s->constant = &one;
  s->param = s->near = SUPEROP_NONE;
  return true;
}

void find_ways(struct kernel_text *x, struct kernel_statement *statements) {
  x->main = main_descriptor(x);
  for (uint32_t k = 0; k < x->k->count; k++) {
    if (!use_one(x, &statements[k])) find_way(x, statements, k);
  }
}

/* Outputs, as the main descriptor says how descriptors of what is kept are held. */
static const struct held *range_outputs(struct arena *arena, const struct superop *op,
                                        bool segments) {
  struct held *outputs = arena_alloc(arena, (op->output_count + 1) * sizeof *outputs);
  for (uint32_t i = 0; i < op->output_count; i++) {
    const bool descriptor = op->kinds[op->outputs[i]] == SUPEROP_SEGDES;
    outputs[i].v = READ_WAYS * op->param_count + i;
    outputs[i].form = !descriptor ? FORM_VECTOR : segments ? FORM_SEGMENTS : FORM_ONE;
  }
  return outputs;
}

/* Parameters as they are read in all ways. */
static const struct held *range_params(struct arena *arena, const struct superop *op,
                                       const bool *one) {
  const uint32_t count = op->param_count;
  struct held *params = arena_alloc(arena, (READ_WAYS * count + 1) * sizeof *params);
  for (uint32_t v = 0; v < READ_WAYS * count; v++) {
    const bool descriptor = op->kinds[v % count] == SUPEROP_SEGDES;
    const bool whole = one[v % count] && v / count != READ_PICKED;
    params[v] = (struct held){.v = v,
                              .form = !descriptor ? FORM_VECTOR
                                      : whole     ? FORM_ONE
                                                  : FORM_SEGMENTS};
  }
  return params;
}

static void mark_read(bool *reads, uint32_t v) {
  if (v != SUPEROP_NONE) reads[v] = true;
}

/* Which parameters are read in which ways. */
static bool *range_reads(const struct kernel_text *x) {
  bool *reads = arena_alloc(x->arena, READ_WAYS * x->op->param_count + 1);
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    mark_read(reads, s->param);
    mark_read(reads, s->near);
    mark_read(reads, s->far);
  }
  mark_read(reads, x->main);
  return reads;
}

/* ---- the text ---- */

static void declare_param(const struct kernel_text *x, uint32_t v) {
  static const char *const declarations[] = {
      [FORM_VECTOR] = "const $w *const x$0 = call->data[$0];\n"
                      "const uint64_t n$0 = call->counts[$0];\n"
                      "(void)x$0, (void)n$0;\n",
      [FORM_ONE] = "const uint64_t n$0 = call->counts[$0];\n"
                   "(void)n$0;\n",
      [FORM_SEGMENTS] =
          "const uint64_t *const o$0 = call->offsets[$0], c$0 = call->counts[$0];\n"
          "(void)o$0, (void)c$0;\n",
  };
  const uint8_t kind = x->op->kinds[v % x->op->param_count];
  put_with(x->out, element_type((enum superop_kind)kind), declarations[x->params[v].form], v);
}

/* Whether compilers may make vectors of the loop over positions: not of quotients of INTs. */
static bool makes_vectors(const struct kernel_text *x) {
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    const bool divides = s->op == OPC_MOD || (s->op == OPC_DIV && s->word == TW_INT);
    if (s->kind == KERNEL_MAP && divides) return false;
  }
  return true;
}

static void print_function(const struct kernel_text *x, const char *prefix, const bool *reads) {
  fputs(
      "#ifdef __GNUC__\n#pragma GCC diagnostic push\n"
      "#pragma GCC diagnostic ignored \"-Wunused-variable\" /* of which only faults matter */\n"
      "#endif\n",
      x->out);
  fprintf(x->out,
          "_Bool %srange(const struct kernel_range *call) {\n"
          "const uint64_t at = call->at, n = call->n, before = call->before;\n"
          "INT bad = 0;\n"
          "(void)at, (void)before;\n",
          prefix);
  for (uint32_t v = 0; v < READ_WAYS * x->op->param_count; v++) {
    if (reads[v]) declare_param(x, v);
  }
  if (makes_vectors(x)) fputs("enum { VECTORS = 1 };\n", x->out);
  print_statements(x);
  fputs("return 1;\n}\n#ifdef __GNUC__\n#pragma GCC diagnostic pop\n#endif\n", x->out);
}

static struct kernel_text text_of(struct arena *arena, const struct superop *op,
                                  const bool *one) {
  struct kernel_text x = {.op = op,
                          .params = range_params(arena, op, one),
                          .outputs = range_outputs(arena, op, false),
                          .arena = arena,
                          .range = true,
                          .one = one};
  find_statements(&x, arena);
  x.outputs = range_outputs(arena, op, is_segmented(&x, op->segments));
  find_shape(&x, arena);
  return x;
}

/* Finds the descriptors of what is read in segments. */
static void find_far(const struct kernel_text *x, uint32_t *far) {
  const uint32_t params = x->op->param_count;
  for (uint32_t v = 0; v < READ_WAYS * params; v++) far[v] = SUPEROP_NONE;
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (s->kind != KERNEL_GATHER || s->param < READ_IN_SEGMENTS * params) continue;
    far[s->param] = s->far % params;
  }
}

static void find_columns(const struct kernel_text *x, struct kernel_range_plan *plan) {
  uint32_t count = 0;
  plan->columns = arena_alloc(x->arena, x->op->node_count + 1);
  for (uint32_t k = 0; k < x->op->node_count; k++) {
    if (x->op->nodes[k].role == ROLE_COLUMN) plan->columns[count++] = writes_column(x, k);
  }
}

/* Finds what scatters write to. */
static void find_written(const struct kernel_text *x, struct kernel_range_plan *plan) {
  const uint32_t outputs = x->op->output_count;
  plan->written = arena_alloc(x->arena, (outputs + 1) * sizeof *plan->written);
  for (uint32_t i = 0; i < outputs; i++) plan->written[i] = SUPEROP_NONE;
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (s->kind != KERNEL_SCATTER) continue;
    plan->written[output_number(x, output_of(x, s->output))] = s->far;
    plan->ordered |= may_overlap(x, s);
  }
}

static bool *forms_of_one(const struct kernel_text *x) {
  bool *one = arena_alloc(x->arena, READ_WAYS * x->op->param_count + 1);
  for (uint32_t v = 0; v < READ_WAYS * x->op->param_count; v++)
    one[v] = param_form(x, v) == FORM_ONE;
  return one;
}

bool kernel_range_plan_make(struct arena *arena, const struct superop *op, const bool *one,
                            struct kernel_range_plan *plan) {
  if (!kernel_range_fits(op)) return false;
  const struct kernel_text x = text_of(arena, op, one);
  *plan = (struct kernel_range_plan){.main = x.main,
                                     .reads = range_reads(&x),
                                     .kernel = x.k,
                                     .levels = x.levels,
                                     .one = forms_of_one(&x)};
  plan->cursors = arena_alloc(arena, op->param_count + 1);
  for (uint32_t p = 0; p < op->param_count; p++) plan->cursors[p] = is_cursor(&x, p);
  find_written(&x, plan);
  find_columns(&x, plan);
  plan->far = arena_alloc(arena, (READ_WAYS * op->param_count + 1) * sizeof *plan->far);
  find_far(&x, plan->far);
  return true;
}

uint32_t kernel_range_main(struct arena *arena, const struct superop *op) {
  if (!kernel_range_fits(op)) return SUPEROP_NONE;
  return text_of(arena, op, arena_alloc(arena, op->param_count + 1)).main;
}

void kernel_range_print(struct arena *arena, const struct superop *op, const bool *one,
                        const char *prefix, FILE *out) {
  struct kernel_text x = text_of(arena, op, one);
  x.out = out;
  print_function(&x, prefix, range_reads(&x));
}
