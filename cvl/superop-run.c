/* superop-run.c - the meaning of a superoperator. Its nodes are executed in order, each by the
 * function of the back end for its opcode.
 *
 * A loop is executed on all positions at once; those that have finished keep their carried
 * values.
 *
 * Values held here are marked `owned`. An operation gets the reference with the last use of a
 * value, so that it may overwrite it. But it does not get it if the same object occurs twice
 * among its operands or among those of the superoperator, since another use may still need
 * it.
 */
#include "cvl/superop-run.h"

#include <string.h>

void run_give_up(struct node_run *r, uint32_t value) {
  if (!r->values[value].owned) return;
  r->values[value].owned = 0;
  r->b->release(r->ctx, &r->values[value]);
}

/* ---- sizes ---- */

struct cvl_size run_size(const struct node_run *r, const struct superop_node *node,
                         uint8_t size) {
  if (SIZE_WHAT(size) == SIZE_ONE) return (struct cvl_size){.bound = 1};
  const struct cvl_value *v = &r->values[node->operands[SIZE_OPERAND(size)]];
  return SIZE_WHAT(size) == SIZE_COUNT ? r->b->count(r->ctx, v) : r->b->length(r->ctx, v);
}

static bool require_sizes(struct node_run *r, const struct superop_node *node) {
  const struct size_rule *rules = superop_info(node->op)->rules;
  for (int k = 0; rules[k].a; k++) {
    struct cvl_size a = run_size(r, node, rules[k].a), b = run_size(r, node, rules[k].b);
    bool equal = a.symbol == b.symbol && (a.symbol || a.bound == b.bound);
    if (!equal && !r->b->require_equal(r->ctx, r->site, a, b, k)) return false;
  }
  return true;
}

/* ---- one node ---- */

/* Executes an elementwise operation on scalars whose result is of the class of its operands, or
 * BOOL. Only then do the operands determine the widths. Functions of a FLOAT are left to the
 * back end, which may have its own bits. False if it is none of these, or at fault. */
static bool superop_run_execute_scalar(enum cvl_op op, const struct cvl_value *v, uint32_t n,
                                       struct cvl_value *out) {
  for (uint32_t i = 0; i < n; i++) {
    if (v[i].form != CVL_SCALAR) return false;
  }
  enum cvl_elem elem = (enum cvl_elem)v[n - 1].elem;
  enum elem_class in = elem_info(elem)->klass;
  const struct map_row *row = map_row(op, in);
  if (!row || (row->out != in && row->out != CLASS_BOOL)) return false;
  if (in == CLASS_FLOAT && n == 1) return false;
  enum cvl_error_kind fault;
  return cvl_scalar_op(in == CLASS_INT ? elem : CVL_I64, in == CLASS_FLOAT ? elem : CVL_F64, op,
                       v, out, &fault);
}

static bool superop_run_execute(struct node_run *r, const struct superop_node *node,
                                const struct cvl_value *v, struct cvl_value *out) {
  const enum opcode op = (enum opcode)node->op;
  const struct opcode_info *info = superop_info(op);
  struct cvl_call call;
  switch ((enum superop_role)node->role) {
  case ROLE_CONST: out[0] = node->constant; return true;
  case ROLE_MAP:
    if (superop_run_execute_scalar(info->operation, v, node->operand_count, out)) return true;
    break;
  case ROLE_SPREAD:
  case ROLE_INDEX:
  case ROLE_PICK:
  case ROLE_REDUCE:
  case ROLE_SCAN:
  case ROLE_PACK:
  case ROLE_ASSERT: break;
  case ROLE_GATHER:
  case ROLE_SCATTER:
    call = superop_permute_call(op, v);
    return r->b->apply(r->ctx, r->site, &call, out);
  case ROLE_CARRY: /* loops and combinations are executed as a whole */
  case ROLE_WHILE:
  case ROLE_NEXT:
  case ROLE_COLUMN:
  case ROLE_COMBINE_REDUCE:
  case ROLE_COMBINE_SCAN:
  case ROLE_COMBINE_SCATTER: return false;
  }
  call = call_of(call_kind_of(op), info->operation, node->operand_count, v);
  return r->b->apply(r->ctx, r->site, &call, out);
}

/* Whether operand i of node k may take the reference. This must be the last use of the value,
 * and the only one in this node. */
static bool superop_run_may_take(const struct node_run *r, uint32_t k, uint32_t i) {
  const struct superop_node *node = &r->op->nodes[k];
  uint32_t value = node->operands[i];
  if (!r->values[value].owned || r->op->last_use[value] != k) return false;
  /* the descriptor is two operands of `permute` */
  if (node->op == OPC_PERMUTE && i == 2) return false;
  for (uint32_t j = 0; j < node->operand_count; j++) {
    if (j != i && node->operands[j] == value) return false;
  }
  return true;
}

bool run_node(struct node_run *r, uint32_t k) {
  const struct superop_node *node = &r->op->nodes[k];
  if (node->role != ROLE_CONST && !require_sizes(r, node)) return false;
  struct cvl_value operands[MAX_OPERANDS], out[MAX_RESULTS] = {{0}};
  for (uint32_t i = 0; i < node->operand_count; i++) {
    struct cvl_value *v = &r->values[node->operands[i]];
    operands[i] = *v;
    operands[i].owned = superop_run_may_take(r, k, i);
    if (operands[i].owned) v->owned = 0;
  }
  if (!superop_run_execute(r, node, operands, out)) return false;
  for (uint32_t i = 0; i < node->operand_count; i++) {
    if (r->op->last_use[node->operands[i]] == k) run_give_up(r, node->operands[i]);
  }
  for (uint32_t i = 0; i < node->result_count; i++) {
    r->values[node->result + i] = out[i];
    r->values[node->result + i].owned = node->role != ROLE_CONST;
    if (r->op->last_use[node->result + i] == SUPEROP_NONE) run_give_up(r, node->result + i);
  }
  return true;
}

/* ---- loops ---- */

struct rounds {
  struct superop_loop at;
  uint64_t site;           /* site of node 0 */
  struct cvl_value length; /* a value that has the length of the domain */
  struct cvl_value live;   /* flags: the positions that have not finished; if owned, held */
};

static void set_live(struct node_run *r, struct rounds *l, struct cvl_value flags) {
  if (l->live.owned) {
    l->live.owned = 0;
    r->b->release(r->ctx, &l->live);
  }
  l->live = flags;
  l->live.owned = 1;
}

/* Requires of node k, in a loop, that a value is as long as the domain. */
static bool require_length(struct node_run *r, struct rounds *l, uint32_t k, uint32_t value) {
  struct cvl_size a = r->b->length(r->ctx, &l->length);
  struct cvl_size b = r->b->length(r->ctx, &r->values[value]);
  r->site = l->site + k;
  if (a.symbol == b.symbol && (a.symbol || a.bound == b.bound)) return true;
  return r->b->require_equal(r->ctx, r->site, a, b, 0);
}

static void superop_run_used(struct node_run *r, uint32_t k) {
  const struct superop_node *node = &r->op->nodes[k];
  for (uint32_t i = 0; i < node->operand_count; i++) {
    if (r->op->last_use[node->operands[i]] == k) run_give_up(r, node->operands[i]);
  }
}

/* Sets the carried values before the first round. */
static bool carry(struct node_run *r, struct rounds *l) {
  const struct superop_node *nodes = &r->op->nodes[l->at.first];
  l->length = r->values[nodes[0].operands[0]];
  for (uint32_t i = 0; i < l->at.count; i++) {
    if (!require_length(r, l, l->at.first + i, nodes[i].operands[0])) return false;
  }
  for (uint32_t i = 0; i < l->at.count; i++) {
    struct cvl_value *v = &r->values[nodes[i].result];
    *v = r->values[nodes[i].operands[0]];
    r->b->retain(r->ctx, v);
    v->owned = 1;
  }
  l->length = r->values[nodes[0].result];
  for (uint32_t i = 0; i < l->at.count; i++) superop_run_used(r, l->at.first + i);
  return true;
}

/* Executes WHILE: clears `live` where the flag is F. *any: whether some positions are left.
 * False after a fault. */
static bool superop_run_test(struct node_run *r, struct rounds *l, bool *any) {
  const struct cvl_value *flags = &r->values[r->op->nodes[l->at.test].operands[0]];
  struct cvl_value v[2] = {l->live, *flags}, live = *flags, all, found;
  if (!require_length(r, l, l->at.test, r->op->nodes[l->at.test].operands[0])) return false;
  v[0].owned = v[1].owned = 0;
  if (l->live.form == CVL_NOTHING) {
    r->b->retain(r->ctx, &live);
  } else if (!r->b->apply(r->ctx, r->site, &CVL_CALL(CALL_ELEMENTWISE, OP_AND, v[0], v[1]),
                          &live)) {
    return false;
  }
  set_live(r, l, live);
  live.owned = 0;
  struct cvl_size n = r->b->length(r->ctx, &live);
  if (n.symbol && !r->b->resolve(r->ctx, &n)) return false;
  const struct cvl_value one = cvl_one_segment(n.bound);
  if (!r->b->apply(r->ctx, r->site, &CVL_CALL(CALL_REDUCE, OP_OR, live, one), &all))
    return false;
  bool known = r->b->scalar(r->ctx, &all, &found);
  r->b->release(r->ctx, &all);
  *any = known && found.as.b;
  superop_run_used(r, l->at.test);
  return known;
}

/* Changes all carried values at the positions that have not finished. */
static bool superop_run_advance(struct node_run *r, struct rounds *l) {
  struct cvl_value next[SUPEROP_VALUES_MAX];
  const struct superop_node *nodes = &r->op->nodes[l->at.next];
  bool ok = true;
  uint32_t made = 0;
  for (; made < l->at.count && ok; made += ok) {
    struct cvl_value v[3] = {l->live, r->values[nodes[made].operands[1]],
                             r->values[nodes[made].operands[0]]};
    for (int i = 0; i < 3; i++) v[i].owned = 0;
    r->site = l->site + l->at.next + made;
    ok = require_sizes(r, &nodes[made]) &&
         r->b->apply(r->ctx, r->site, &CVL_CALL(CALL_ELEMENTWISE, OP_SELECT, v[0], v[1], v[2]),
                     &next[made]);
  }
  for (uint32_t i = 0; i < made && !ok; i++) r->b->release(r->ctx, &next[i]);
  for (uint32_t i = 0; i < l->at.count && ok; i++) {
    run_give_up(r, nodes[i].operands[0]);
    r->values[nodes[i].operands[0]] = next[i];
    r->values[nodes[i].operands[0]].owned = 1;
  }
  uint32_t inside = r->op->nodes[l->at.first + l->at.count].result;
  for (uint32_t v = inside; v < nodes->result && ok; v++) run_give_up(r, v);
  l->length = r->values[nodes[0].operands[0]];
  return ok;
}

static bool superop_run_execute_nodes(struct node_run *r, const struct rounds *l, uint32_t k,
                                      uint32_t end) {
  for (; k < end; k++) {
    r->site = l->site + k;
    if (!run_node(r, k)) return false;
  }
  return true;
}

static bool asked_to_stop(const struct node_run *r) {
  return r->stop && r->stop->asks && r->stop->asks(r->stop->with);
}

/* Executes the loop that begins with node `first`. *k becomes the last node reached. */
static bool superop_run_execute_loop(struct node_run *r, uint32_t first, uint32_t *k) {
  const struct superop *op = r->op;
  struct rounds l = {.at = superop_loop_at(op, first), .site = r->site - first};
  const struct superop_node *nexts = &op->nodes[l.at.next];
  for (uint32_t v = op->nodes[first].result; v < nexts->result; v++) r->values[v].owned = 0;
  bool any = true, ok = carry(r, &l);
  while (ok && any) {
    ok = !asked_to_stop(r) && superop_run_execute_nodes(r, &l, first + l.at.count, l.at.test) &&
         superop_run_test(r, &l, &any);
    if (ok && any)
      ok = superop_run_execute_nodes(r, &l, l.at.test + 1, l.at.next) &&
           superop_run_advance(r, &l);
  }
  if (l.live.owned) r->b->release(r->ctx, &l.live);
  *k = l.at.last;
  for (uint32_t i = 0; i < l.at.count && ok; i++) { /* the carried values are the results */
    struct cvl_value *from = &r->values[nexts[i].operands[0]];
    r->values[nexts[i].result] = *from;
    from->owned = 0;
    if (op->last_use[nexts[i].result] == SUPEROP_NONE) run_give_up(r, nexts[i].result);
  }
  for (uint32_t v = 0; v < nexts->result; v++) {
    bool inside = v >= op->nodes[first].result;
    if (inside || op->last_use[v] == l.at.last) run_give_up(r, v);
  }
  if (!ok) *k = l.at.next;
  return ok;
}

/* ---- the whole ---- */

static bool same_object(const struct cvl_value *a, const struct cvl_value *b) {
  return a->form == b->form && ((a->form == CVL_VECTOR && a->as.vector == b->as.vector) ||
                                (a->form == CVL_SEGDES && a->as.segdes == b->as.segdes));
}

/* Takes the operands. A reference to an object that occurs more than once among them is kept to
 * the end, and *kept becomes true. */
static void superop_run_take_operands(struct node_run *r, const struct cvl_value *operands,
                                      bool *kept) {
  uint32_t n = r->op->param_count;
  for (uint32_t p = 0; p < n; p++) {
    r->values[p] = operands[p];
    kept[p] = false;
    for (uint32_t q = 0; q < n && operands[p].owned && !kept[p]; q++) {
      kept[p] = q != p && same_object(&operands[p], &operands[q]);
    }
    if (kept[p]) r->values[p].owned = 0;
  }
}

bool superop_run(const struct cvl_backend *b, struct cvl_context *ctx, uint64_t site,
                 const struct superop *op, const struct cvl_stop *stop,
                 const struct cvl_value *operands, struct cvl_value *outs) {
  struct cvl_value values[SUPEROP_VALUES_MAX];
  bool kept[SUPEROP_VALUES_MAX];
  struct node_run r = {.b = b, .ctx = ctx, .op = op, .values = values, .stop = stop};
  superop_run_take_operands(&r, operands, kept);
  uint32_t k = 0;
  bool ok = true;
  for (; k < op->node_count && ok; k += ok) {
    r.site = site + k;
    switch (op->nodes[k].role) {
    case ROLE_CARRY: ok = superop_run_execute_loop(&r, k, &k); break;
    case ROLE_COLUMN: ok = run_combination(&r, &k); break;
    default: ok = run_node(&r, k);
    }
  }
  for (uint32_t i = 0; i < op->output_count && ok; i++) {
    outs[i] = values[op->outputs[i]];
    outs[i].owned = values[op->outputs[i]].owned = 0;
  }
  uint32_t made = ok ? op->value_count : op->nodes[k].result;
  for (uint32_t v = 0; v < made; v++) run_give_up(&r, v);
  for (uint32_t p = 0; p < op->param_count; p++) {
    if (kept[p]) b->release(ctx, &operands[p]);
  }
  return ok;
}
