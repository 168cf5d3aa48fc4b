/* kernel-combinations.c - reductions and scans of tuples by functions of the program. A stack
 * keeps the totals of complete subtrees; a scan keeps those of all that is below, too. A range
 * only writes the columns: yC is where number C of all columns goes.
 *
 * mK counts the elements, topK the subtrees. The function of a superoperator's combination and
 * its tuple have the number of the superoperator.
 */
#include "fused-kernels/loops/kernel-text.h"

static struct superop_combination columns_of(const struct kernel_text *x,
                                             const struct kernel_statement *s) {
  return superop_combination_at(x->op, s->node);
}

static uint32_t result_of(const struct kernel_text *x, struct superop_combination at,
                          uint32_t column) {
  return x->op->nodes[at.ends + column].result;
}

/* ---- ranges ---- */

/* The first column of the combination that a column is of. */
static uint32_t first_column(const struct superop *op, uint32_t column) {
  while (column > 0 && op->nodes[column - 1].role == ROLE_COLUMN) column--;
  return column;
}

bool writes_column(const struct kernel_text *x, uint32_t node) {
  const struct superop *op = x->op;
  const struct superop_node *from = emit_definition(op, op->nodes[node].operands[0]);
  const struct superop_combination at = superop_combination_at(op, first_column(op, node));
  if (!from) return false;
  if (op->nodes[at.ends].role != ROLE_COMBINE_SCATTER || from->role != ROLE_SPREAD) return true;
  return from->operands[0] < op->param_count && !x->one[from->operands[1]];
}

/* How many columns combinations have, and how many of these there are, before statement k. */
struct counted {
  uint32_t columns, combinations;
};
static struct counted count_before(const struct kernel_text *x, uint32_t k) {
  struct counted before = {0, 0};
  for (uint32_t i = 0; i < k; i++) {
    const struct kernel_statement *s = &x->k->statements[i];
    if (s->kind != KERNEL_COMBINE) continue;
    before.columns += columns_of(x, s).count;
    before.combinations++;
  }
  return before;
}

static bool is_param(const struct kernel_text *x, uint32_t value) {
  return value < x->op->param_count;
}

/* Calls `print` for what statement k writes: the number of what is written, and the value. */
typedef void column_printer(const struct kernel_text *, uint32_t number, uint32_t value,
                            enum superop_kind);
static void for_columns(const struct kernel_text *x, uint32_t k, column_printer *print) {
  const struct kernel_statement *s = &x->k->statements[k];
  const struct superop_combination at = columns_of(x, s);
  const struct counted before = count_before(x, k), all = count_before(x, x->k->count);
  const struct superop_node *nodes = x->op->nodes;
  for (uint32_t i = 0; i < at.count; i++) {
    if (writes_column(x, at.first + i))
      print(x, before.columns + i, s->columns[i],
            (enum superop_kind)x->op->kinds[nodes[at.first + i].operands[0]]);
  }
  if (s->count > 0 && !is_param(x, nodes[at.ends].operands[2]))
    print(x, all.columns + before.combinations, s->operands[0], SUPEROP_INT);
}

static void declare_column(const struct kernel_text *x, uint32_t number, uint32_t value,
                           enum superop_kind kind) {
  (void)value;
  put_with(x->out, element_type(kind), "$w *const y$0 = call->columns[$0];\n", number);
}

static void print_column(const struct kernel_text *x, uint32_t number, uint32_t value,
                         enum superop_kind kind) {
  (void)kind;
  put(x->out, "y$0[i] = v$1;\n", number, value);
}

/* ---- procedures ---- */

static void begin_combination(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (x->range) {
    for_columns(x, k, declare_column);
    return;
  }
  const struct superop_combination at = columns_of(x, s);
  for (uint32_t i = 0; i < at.count; i++)
    take_result(x, result_of(x, at, i), s->op == SUPEROP_COMBINE_REDUCE ? "segments" : "n");
}

static void begin_segment_combination(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (x->range) return;
  put(x->out, "struct combination$1 stack$0[64]", k, x->combination);
  if (s->op != SUPEROP_COMBINE_REDUCE) put(x->out, ", prefix$0[64]", k);
  put(x->out, ";\nuint64_t m$0 = 0;\nunsigned top$0 = 0;\n", k);
}

/* ---- at a position ---- */

/* A new element joins the subtrees of what stands before it. */
static void push_element(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  const uint32_t count = columns_of(x, s).count;
  put(x->out, "{\nstruct combination$0 tree;\n", x->combination);
  for (uint32_t i = 0; i < count; i++) put(x->out, "tree.at$0 = v$1;\n", i, s->columns[i]);
  put(x->out,
      "for (uint64_t j = m$0++; j & 1; j >>= 1) tree = combine$1(stack$0[--top$0], tree);\n"
      "stack$0[top$0] = tree;\n",
      k, x->combination);
  if (s->op != SUPEROP_COMBINE_REDUCE)
    put(x->out, "prefix$0[top$0] = top$0 == 0 ? tree : combine$1(prefix$0[top$0 - 1], tree);\n",
        k, x->combination);
  put(x->out, "top$0++;\n}\n", k);
}

static void print_combination(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  const struct superop_combination at = columns_of(x, s);
  if (x->range) {
    for_columns(x, k, print_column);
    return;
  }
  for (uint32_t i = 0; i < at.count && s->op == SUPEROP_COMBINE_SCAN; i++)
    put(x->out, "r$0[i] = top$1 == 0 ? v$2 : prefix$1[top$1 - 1].at$3;\n", result_of(x, at, i),
        k, s->identities[i], i);
  push_element(x, k);
  for (uint32_t i = 0; i < at.count && s->op == SUPEROP_COMBINE_SCAN_INCLUSIVE; i++)
    put(x->out, "r$0[i] = prefix$1[top$1 - 1].at$2;\n", result_of(x, at, i), k, i);
}

/* ---- the total of a segment ---- */

static void end_segment_combination(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  const struct superop_combination at = columns_of(x, s);
  if (x->range || s->op != SUPEROP_COMBINE_REDUCE) return;
  put(x->out, "struct combination$1 total$0;\nif (top$0 == 0) {\n", k, x->combination);
  for (uint32_t i = 0; i < at.count; i++)
    put(x->out, "total$0.at$1 = v$2;\n", k, i, s->identities[i]);
  put(x->out,
      "} else {\n"
      "total$0 = stack$0[0];\n"
      "for (unsigned j = 1; j < top$0; j++) total$0 = combine$1(total$0, stack$0[j]);\n"
      "}\n",
      k, x->combination);
  for (uint32_t i = 0; i < at.count; i++)
    put(x->out, "r$0[g] = total$1.at$2;\n", result_of(x, at, i), k, i);
}

const struct kernel_printers combine_printers = {.before = begin_combination,
                                                 .at_segment = begin_segment_combination,
                                                 .at_position = print_combination,
                                                 .after_segment = end_segment_combination};

/* ---- the function of a combination ---- */

void print_combination_function(struct kernel_file *t, uint32_t superop) {
  const struct superop *op = t->superops[superop];
  const struct widths w = t->widths;
  const uint32_t first = superop_first(op, ROLE_COLUMN);
  if (first == op->node_count) return;
  const struct superop_combination at = superop_combination_at(op, first);
  put(t->out, "struct combination$0 {\n", superop);
  for (uint32_t i = 0; i < at.count; i++) {
    const uint8_t kind = op->kinds[op->nodes[first + i].result];
    put_with(t->out, emit_type(w, (enum superop_kind)kind), "$w at$0;\n", i);
  }
  put_with(t->out, numbered("struct combination", superop).text,
           "};\nNATIVE inline $w combine$0($w l, $w r) {\n", superop);
  emit_combination_statements(op, first, w, numbered("struct combination", superop).text,
                              t->out);
  fputs("}\n\n", t->out);
}
