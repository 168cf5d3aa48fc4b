/* print-copies.c - superoperators of copies: concatenations and slices. Where every descriptor
 * is one segment, an index that counts up is a run: a gather by one is a slice, which is not
 * copied, and a scatter by one is a copy in one piece. What a scatter leaves is zero, and is
 * written last. Else the nodes are executed one by one.
 */
#include "procedures/private.h"

/* What is known of a value. */
enum copied { COPIED_VECTOR, COPIED_CONSTANT, COPIED_RUN, COPIED_OWN };

struct copies_text {
  struct procedures_text *t;
  const struct superop *op;
  const struct held *params, *outputs;
  bool keeps; /* slices are copied, since what they are of is not kept */
  FILE *out;
  struct held *held; /* of every value */
  uint8_t *known;    /* of every value: enum copied */
  uint32_t next;     /* number of a variable that is free */
};

static const char *type_of(const struct copies_text *x, uint32_t value) {
  return element_type((enum superop_kind)x->op->kinds[value]);
}

static const struct superop_node *definition_of(const struct copies_text *x, uint32_t value) {
  return value < x->op->param_count ? NULL : emit_definition(x->op, value);
}

static bool is_output(const struct copies_text *x, uint32_t value) {
  return x->op->last_use[value] == x->op->node_count;
}

static bool is_constant(const struct copies_text *x, uint32_t value) {
  const struct superop_node *c = definition_of(x, value);
  return c && c->role == ROLE_CONST;
}

static void put_scalar(const struct copies_text *x, uint32_t value) {
  const struct held *h = &x->held[value];
  if (is_constant(x, value))
    emit_literal(&definition_of(x, value)->constant, x->out);
  else
    put(x->out, h->form == FORM_SCALAR ? "x$0" : "x$0[0]", h->v);
}

static struct snippet length_of(const struct copies_text *x, uint32_t value) {
  return held_length(&x->held[value]);
}

static void require_equal_values(const struct copies_text *x, uint32_t a, uint32_t b) {
  require_equal(x->out, &x->held[a], &x->held[b]);
}

/* Copies all elements of a value to a vector that has as many. */
static void print_copied(const struct copies_text *x, ir_var to, uint32_t value) {
  put(x->out, "if (n$0) native_copy(x$0, ", to);
  put_data(x->out, &x->held[value]);
  put(x->out, ", n$0 * sizeof *x$0);\n", to);
}

/* ---- node by node ---- */

static void print_node_alone(struct copies_text *x, uint32_t k) {
  const struct superop_node *node = &x->op->nodes[k];
  struct arena *arena = x->t->arena;
  const struct superop *op = node_as_superop(arena, x->op, node);
  struct held params[MAX_OPERANDS];
  uint8_t forms[MAX_OPERANDS];
  bool one[MAX_OPERANDS] = {false};
  uint32_t count = 0;
  for (uint32_t i = 0; i < node->operand_count; i++) {
    if (is_constant(x, node->operands[i])) continue;
    params[count] = x->held[node->operands[i]];
    forms[count] = params[count].form;
    count++;
  }
  const struct unit_sizes units = unit_sizes_of(arena, op, forms, one);
  struct held *out = &x->held[node->result];
  out->v = x->next++;
  out->form = (uint8_t)unit_form(op, &units, op->outputs[0]);
  print_in_text(x->t, op, params, out, x->keeps);
}

/* ---- by runs ---- */

static bool is_one_everywhere(const struct copies_text *x) {
  for (uint32_t p = 0; p < x->op->param_count; p++) {
    if (x->op->kinds[p] == SUPEROP_SEGDES && x->params[p].form != FORM_ONE) return false;
  }
  return true;
}

static bool counts_up(const struct copies_text *x, const struct superop_node *node) {
  const struct superop_node *stride = definition_of(x, node->operands[1]);
  return stride && stride->role == ROLE_CONST && cvl_int_of(&stride->constant) == 1;
}

static bool is_true(const struct copies_text *x, uint32_t value) {
  const struct superop_node *dist = definition_of(x, value);
  if (!dist || dist->role != ROLE_SPREAD) return false;
  const struct superop_node *c = definition_of(x, dist->operands[0]);
  return c && c->role == ROLE_CONST && c->constant.as.b == 1;
}

/* An index that only gathers and scatters by runs read: start sV, length nV. */
static bool is_run(const struct copies_text *x, uint32_t value) {
  return x->known[value] == COPIED_RUN;
}

static bool read_as_run_only(const struct copies_text *x, uint32_t value) {
  if (is_output(x, value)) return false;
  for (uint32_t k = 0; k < x->op->node_count; k++) {
    const struct superop_node *node = &x->op->nodes[k];
    for (uint32_t i = 0; i < node->operand_count; i++) {
      if (node->operands[i] != value) continue;
      const bool scatters = node->op == OPC_DPERMUTE ||
                            (node->op == OPC_FPERMUTE && is_true(x, node->operands[2]));
      if (i != 1 || (node->op != OPC_BPERMUTE && !scatters)) return false;
    }
  }
  return true;
}

/* Whether the index of a scatter is a run, or will be. */
static bool becomes_run(const struct copies_text *x, uint32_t value) {
  const struct superop_node *index = definition_of(x, value);
  return index && index->op == OPC_INDEX && counts_up(x, index) && read_as_run_only(x, value);
}

static void print_run(struct copies_text *x, const struct superop_node *node) {
  struct held *h = &x->held[node->result];
  *h = (struct held){.v = x->next++, .form = FORM_VECTOR};
  x->known[node->result] = COPIED_RUN;
  put(x->out, "const INT s$0 = ", h->v);
  put_scalar(x, node->operands[0]);
  put_with(x->out, length_of(x, node->operands[2]).text, ";\nconst uint64_t n$0 = $w;\n", h->v);
}

/* A run must lie within what it indexes, unless it is empty. */
static void require_within(const struct copies_text *x, uint32_t run, uint32_t descriptor) {
  put(x->out,
      "if (n$0 > 0 && (s$0 < 0 || (uint64_t)s$0 > n$1 || n$0 > n$1 - (uint64_t)s$0)) "
      "return 0;\n",
      x->held[run].v, x->held[descriptor].v);
}

static void print_slice(struct copies_text *x, const struct superop_node *node) {
  const ir_var run = x->held[node->operands[1]].v;
  struct held *h = &x->held[node->result];
  require_equal_values(x, node->operands[0], node->operands[2]);
  require_equal_values(x, node->operands[1], node->operands[3]);
  require_within(x, node->operands[1], node->operands[2]);
  *h = (struct held){.v = x->next++, .form = FORM_VECTOR};
  put_with(x->out, type_of(x, node->result), "const uint64_t n$0 = n$1;\n$w *x$0 = ($w *)",
           h->v, run);
  put_data(x->out, &x->held[node->operands[0]]);
  put(x->out, " + (n$0 ? s$0 : 0);\n", run);
}

/* Whether a scatter by a run may write where its defaults are: nothing else needs them. */
static bool is_in_place(const struct copies_text *x, uint32_t defaults) {
  return x->known[defaults] == COPIED_OWN && x->op->uses[defaults] == 1 &&
         !is_output(x, defaults);
}

/* Where the target of a scatter ends up, if it is a result that is appended. */
static uint32_t append_of(const struct copies_text *x, uint32_t value) {
  for (uint32_t i = 0; i < x->op->output_count; i++) {
    if (x->op->outputs[i] == value) return x->outputs[i].append;
  }
  for (uint32_t k = 0; k < x->op->node_count; k++) {
    const struct superop_node *node = &x->op->nodes[k];
    if (node->op == OPC_DPERMUTE && node->operands[2] == value && x->op->uses[value] == 1 &&
        becomes_run(x, node->operands[1]))
      return append_of(x, node->result);
  }
  return 0;
}

/* What a scatter writes to: zV, elements before which everything is written. */
static void print_target(struct copies_text *x, const struct superop_node *node,
                         uint32_t descriptor) {
  struct held *h = &x->held[node->result];
  *h = (struct held){.v = x->next++, .form = FORM_VECTOR, .append = append_of(x, node->result)};
  x->known[node->result] = COPIED_OWN;
  put_with(x->out, type_of(x, node->result),
           "const uint64_t n$0 = n$1;\n$w *x$0;\nuint64_t z$0 = 0;\n", h->v,
           x->held[descriptor].v);
  print_room(x->out, h);
}

/* Copies a run to where it belongs, behind zeros if something is left out. */
static void copy_run(const struct copies_text *x, ir_var to, ir_var run, uint32_t source) {
  put(x->out,
      "if ((uint64_t)s$1 > z$0) memset(x$0 + z$0, 0, ((uint64_t)s$1 - z$0) * sizeof *x$0);\n"
      "native_copy(x$0 + s$1, ",
      to, run);
  put_data(x->out, &x->held[source]);
  put(x->out, ", n$1 * sizeof *x$0);\n", to, run);
}

/* Writes a run; what a call has put there is not copied. */
static void print_written(struct copies_text *x, const struct superop_node *node,
                          uint32_t source, uint32_t descriptor) {
  const ir_var v = x->held[node->result].v, run = x->held[node->operands[1]].v;
  require_equal_values(x, node->operands[0], source);
  require_equal_values(x, node->operands[1], source);
  require_within(x, node->operands[1], descriptor);
  put(x->out, "if (n$0 > 0) {\n", run);
  if (!x->held[node->operands[0]].placed) copy_run(x, v, run, node->operands[0]);
  put(x->out, "if ((uint64_t)s$1 + n$1 > z$0) z$0 = (uint64_t)s$1 + n$1;\n}\n", v, run);
}

/* The end of what is written: zeros. */
static void print_rest(const struct copies_text *x, uint32_t value) {
  const ir_var v = x->held[value].v;
  if (x->known[value] == COPIED_OWN)
    put(x->out, "if (z$0 < n$0) memset(x$0 + z$0, 0, (n$0 - z$0) * sizeof *x$0);\n", v);
}

static void print_onto(struct copies_text *x, const struct superop_node *node) {
  const uint32_t defaults = node->operands[2];
  require_equal_values(x, defaults, node->operands[4]);
  if (is_in_place(x, defaults)) {
    x->held[node->result] = x->held[defaults];
    x->known[node->result] = COPIED_OWN;
  } else {
    print_rest(x, defaults);
    print_target(x, node, node->operands[4]);
    const ir_var v = x->held[node->result].v;
    print_copied(x, v, defaults);
    put(x->out, "z$0 = n$0;\n", v);
  }
  print_written(x, node, node->operands[3], node->operands[4]);
}

/* Values that a node reads are whole. */
static void finish_operands(const struct copies_text *x, const struct superop_node *node) {
  for (uint32_t i = 0; i < node->operand_count; i++) {
    const uint32_t v = node->operands[i];
    if (!(node->op == OPC_DPERMUTE && i == 2)) print_rest(x, v);
  }
}

/* Flags that are all T need not be there for scatters by runs. */
static bool is_not_needed(const struct copies_text *x, uint32_t k) {
  const struct superop_node *flags = &x->op->nodes[k];
  if (!is_true(x, flags->result) || x->op->uses[flags->result] != 1 ||
      is_output(x, flags->result))
    return false;
  for (uint32_t j = k; j < x->op->node_count; j++) {
    const struct superop_node *node = &x->op->nodes[j];
    if (node->op == OPC_FPERMUTE && node->operands[2] == flags->result)
      return is_run(x, node->operands[1]);
  }
  return false;
}

static void print_by_run(struct copies_text *x, const struct superop_node *node) {
  if (node->op == OPC_BPERMUTE) {
    print_slice(x, node);
  } else if (node->op == OPC_DPERMUTE) {
    print_onto(x, node);
  } else {
    print_target(x, node, node->operands[4]);
    print_written(x, node, node->operands[3], node->operands[4]);
  }
}

static void print_by_runs(struct copies_text *x, uint32_t k) {
  const struct superop_node *node = &x->op->nodes[k];
  const bool moves =
      node->op == OPC_BPERMUTE || node->op == OPC_FPERMUTE || node->op == OPC_DPERMUTE;
  if (node->role == ROLE_CONST || is_not_needed(x, k)) return;
  finish_operands(x, node);
  if (node->op == OPC_INDEX && becomes_run(x, node->result))
    print_run(x, node);
  else if (moves && is_run(x, node->operands[1]))
    print_by_run(x, node);
  else
    print_node_alone(x, k);
}

/* ---- results ---- */

static void set_scalar(const struct copies_text *x, ir_var to, const struct held *from) {
  if (from->form == FORM_VECTOR)
    put(x->out, "if (n$1 != 1) return 0;\nx$0 = x$1[0];\n", to, from->v);
  else
    put(x->out, "x$0 = x$1;\n", to, from->v);
}

/* Whether a vector is where the result will be, or may be the result as it is. */
static bool is_where_it_belongs(const struct copies_text *x, const struct held *to,
                                const struct held *from) {
  return from->form == FORM_VECTOR && to->append == from->append && (to->append || !x->keeps);
}

static void set_output(const struct copies_text *x, uint32_t i) {
  const uint32_t value = x->op->outputs[i];
  const struct held *to = &x->outputs[i], *from = &x->held[value];
  print_rest(x, value);
  if (to->form == FORM_SCALAR) {
    set_scalar(x, to->v, from);
  } else if (is_where_it_belongs(x, to, from)) {
    put(x->out, "x$0 = x$1; n$0 = n$1;\n", to->v, from->v);
  } else {
    put_with(x->out, length_of(x, value).text, "n$0 = $w;\n", to->v);
    print_room(x->out, to);
    print_copied(x, to->v, value);
  }
}

static void print_nodes(struct copies_text *x) {
  const bool runs = is_one_everywhere(x);
  for (uint32_t k = 0; k < x->op->node_count; k++) {
    if (runs)
      print_by_runs(x, k);
    else if (x->op->nodes[k].role != ROLE_CONST)
      print_node_alone(x, k);
  }
}

void print_copies(struct procedures_text *t, const struct superop *op,
                  const struct held *params, const struct held *outputs, uint32_t free_variable,
                  bool keeps) {
  struct copies_text x = {.t = t,
                          .op = op,
                          .params = params,
                          .outputs = outputs,
                          .keeps = keeps,
                          .out = t->out,
                          .next = free_variable};
  x.held = arena_alloc(t->arena, (op->value_count + 1) * sizeof *x.held);
  x.known = arena_alloc(t->arena, op->value_count + 1);
  for (uint32_t p = 0; p < op->param_count; p++) x.held[p] = params[p];
  for (uint32_t i = 0; i < op->output_count; i++)
    declare_held(t->out, &outputs[i], type_of(&x, op->outputs[i]));
  fputs("{\n", t->out);
  print_nodes(&x);
  for (uint32_t i = 0; i < op->output_count; i++) set_output(&x, i);
  fputs("}\n", t->out);
}

bool may_print_copies(struct arena *arena, const struct superop *op) {
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (op->nodes[k].role != ROLE_CONST && !node_as_superop(arena, op, &op->nodes[k]))
      return false;
  }
  return true;
}
