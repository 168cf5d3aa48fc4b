/* sizes-rules.c - the conditions of each operation, and the facts that it establishes.
 *
 * Conditions on sizes come from opcodes.def. Conditions on elements (divisors, indices, lengths
 * of segments) are handled here: they hold where the definition of the operand guarantees them,
 * for example RANK, INDEX from 0, or LENGTHS.
 *
 * A number of elements that does not fit an INT (vcode.md, 21.1) is a limit, like memory: an
 * operation is called safe although it may exceed it.
 */
#include <string.h>

#include "fcode-opt/sizes-walk.h"

/* Keys of the memo besides opcodes. */
enum {
  KEY_KEPT = OPC_COUNT /* lengths kept by (flags, descriptor) */,
  KEY_TOTAL,
  KEY_SEGMENTS
};

/* ---- questions ---- */

static bool is_one_element(const struct sizes_walk *w, ir_var v) {
  return facts_is(w->facts, term_size(v), 1);
}

static bool has_same_elements(const struct sizes_walk *w, ir_var v) {
  return w->elements[v].facts & ALL_THE_SAME || is_one_element(w, v);
}

static bool nonnegative(const struct sizes_walk *w, ir_var v) {
  return w->elements[v].facts & (ALL_NONNEGATIVE | ALL_LENGTHS) ||
         (has_same_elements(w, v) && facts_nonnegative(w->facts, term_count(v)));
}

static bool nonzero(const struct sizes_walk *w, ir_var v) {
  int64_t number;
  return w->elements[v].facts & ALL_NONZERO ||
         (has_same_elements(w, v) && facts_known(w->facts, term_count(v), &number) &&
          number != 0);
}

/* Returns whether every element is this number. */
static bool all_are(const struct sizes_walk *w, ir_var v, int64_t number) {
  return has_same_elements(w, v) && facts_is(w->facts, term_count(v), number);
}

static bool has_same_segments(const struct sizes_walk *w, ir_var a, ir_var b) {
  if (facts_equal(w->facts, term_same(a), term_same(b))) return true;
  return facts_is(w->facts, term_count(a), 1) && facts_is(w->facts, term_count(b), 1) &&
         facts_equal(w->facts, term_size(a), term_size(b));
}

/* Returns whether the indices i, whose descriptor is `under`, are within the segments of `of`.
 */
static bool indices_within(const struct sizes_walk *w, ir_var i, ir_var under, ir_var of) {
  ir_var range = w->elements[i].range;
  return range != IR_NO_VAR && has_same_segments(w, range, under) &&
         has_same_segments(w, range, of);
}

/* Returns whether i is a known index within a vector of known length. */
static bool index_known(const struct sizes_walk *w, ir_var i, ir_var d) {
  int64_t index, length;
  return facts_is(w->facts, term_count(d), 1) && is_one_element(w, i) &&
         facts_known(w->facts, term_count(i), &index) &&
         facts_known(w->facts, term_size(d), &length) && 0 <= index && index < length;
}

static bool has_narrow_ints(const struct sizes_walk *w) {
  return w->sizes->o->program->widths.int_elem == CVL_I32;
}

static bool are_lengths(const struct sizes_walk *w, ir_var v) {
  if (w->elements[v].facts & ALL_LENGTHS) return true;
  return nonnegative(w, v) && (has_narrow_ints(w) || is_one_element(w, v));
}

static enum cvl_error_kind fault_of_binding(const struct ir_binding *x) {
  return opcode_fault(x->op, (enum type_word)x->type);
}

/* Returns whether the conditions on the elements hold. */
static bool elements_fine(const struct sizes_walk *w, const struct ir_binding *x) {
  const ir_var *v = x->operands;
  switch ((enum opcode)x->op) {
  case OPC_PERMUTE: return w->elements[v[1]].permutation && indices_within(w, v[1], v[2], v[2]);
  case OPC_DPERMUTE: return indices_within(w, v[1], v[3], v[4]);
  case OPC_FPERMUTE: return indices_within(w, v[1], v[3], v[4]);
  case OPC_DFPERMUTE: return indices_within(w, v[1], v[4], v[5]);
  case OPC_BPERMUTE: return indices_within(w, v[1], v[3], v[2]);
  case OPC_BFPERMUTE: return indices_within(w, v[1], v[4], v[3]);
  case OPC_EXTRACT: return index_known(w, v[1], v[2]);
  case OPC_REPLACE: return index_known(w, v[1], v[3]);
  case OPC_MAKE_SEGDES: return are_lengths(w, v[0]);
  default: break;
  }
  const enum cvl_error_kind fault = fault_of_binding(x);
  if (fault == CVL_E_DIVIDE_BY_ZERO) return nonzero(w, v[1]);
  return fault == CVL_E_NONE || !opcode_is_pure(x->op);
}

/* Returns whether neslc guarantees the conditions of this operation: it checks or constructs
 * indices.
 */
static bool is_guarded(const struct sizes_walk *w, const struct ir_binding *x) {
  if (!w->sizes->o->program->guarded) return false;
  return fault_of_binding(x) == CVL_E_INDEX;
}

/* ---- facts on elements ---- */

static void learn_facts(struct sizes_walk *w, ir_var v, unsigned facts) {
  w->elements[v].facts |= (uint8_t)facts;
}

static unsigned facts_of(const struct sizes_walk *w, ir_var v) {
  return (nonnegative(w, v) ? (unsigned)ALL_NONNEGATIVE : 0) |
         (nonzero(w, v) ? (unsigned)ALL_NONZERO : 0) |
         (are_lengths(w, v) ? (unsigned)ALL_LENGTHS : 0);
}

/* Learns from a SELECT the facts that both values have. A maximum is positive if one of the
 * values is. */
static void learn_select(struct sizes_walk *w, ir_var condition, ir_var a, ir_var b, ir_var r) {
  const unsigned positive = ALL_NONNEGATIVE | ALL_NONZERO;
  const unsigned fa = facts_of(w, a) & positive, fb = facts_of(w, b) & positive;
  const ir_var *greater = w->elements[condition].greater;
  const bool maximum = greater[0] == a && greater[1] == b;
  learn_facts(w, r, maximum && (fa == positive || fb == positive) ? positive : fa & fb);
}

static void learn_elementwise(struct sizes_walk *w, const struct ir_binding *x) {
  const ir_var *v = x->operands;
  ir_var r = x->results[0];
  bool same = true;
  for (uint32_t i = 0; i < x->operand_count; i++) same = same && has_same_elements(w, v[i]);
  switch ((enum opcode)x->op) {
  case OPC_EQ:
    if (x->type != TW_INT || !is_one_element(w, r)) break;
    for (uint32_t i = 0; i < 2; i++) w->elements[r].equal[i] = v[i];
    break;
  case OPC_GT:
    if (x->type == TW_INT) memcpy(w->elements[r].greater, v, sizeof w->elements[r].greater);
    if (all_are(w, v[1], 0)) w->elements[r].nonempty = w->elements[v[0]].lengths;
    break;
  case OPC_NE:
    if (all_are(w, v[1], 0)) w->elements[r].nonempty = w->elements[v[0]].lengths;
    break;
  case OPC_GE:
    if (all_are(w, v[1], 1)) w->elements[r].nonempty = w->elements[v[0]].lengths;
    break;
  case OPC_B_TO_I:
    learn_facts(w, r, ALL_NONNEGATIVE | ALL_LENGTHS);
    w->elements[r].flags = v[0];
    break;
  case OPC_DIV:
  case OPC_MOD:
  case OPC_RSHIFT:
    if (x->type != TW_FLOAT && nonnegative(w, v[0]) &&
        (x->op != OPC_DIV || nonnegative(w, v[1])))
      learn_facts(w, r, ALL_NONNEGATIVE);
    break;
  case OPC_AND:
    if (x->type == TW_INT && (nonnegative(w, v[0]) || nonnegative(w, v[1])))
      learn_facts(w, r, ALL_NONNEGATIVE);
    break;
  case OPC_SELECT:
    if (x->type == TW_INT) learn_select(w, v[0], v[1], v[2], r);
    break;
  default: break;
  }
  if (same) learn_facts(w, r, ALL_THE_SAME);
  if (x->type != TW_INT && opcode_info(x->op)->types != NO_TYPE) return;
  if (is_one_element(w, r) && x->operand_count == 2) {
    uint32_t key = (uint32_t)x->op;
    facts_unite(w->facts, term_count(r),
                facts_memo(w->facts, key, term_count(v[0]), term_count(v[1]), term_count(r)));
  }
}

static void learn_index(struct sizes_walk *w, ir_var r, ir_var range, bool permutation) {
  w->elements[r].range = range;
  w->elements[r].permutation = permutation;
}

/* Learns from +_REDUCE: a sum of flags is the number of elements that PACK keeps; a sum of
 * lengths is a total. */
static void learn_sum(struct sizes_walk *w, const struct ir_binding *x) {
  ir_var v = x->operands[0], d = x->operands[1], r = x->results[0];
  ir_var flags = w->elements[v].flags, lengths = w->elements[v].lengths;
  bool whole = facts_is(w->facts, term_count(d), 1);
  if (flags != IR_NO_VAR) {
    learn_facts(w, r, ALL_NONNEGATIVE | ALL_LENGTHS);
    facts_unite(w->facts, term_same(r),
                facts_memo(w->facts, KEY_KEPT, term_same(flags), term_same(d), term_same(r)));
    if (whole)
      facts_unite(
          w->facts, term_count(r),
          facts_memo(w->facts, KEY_TOTAL, term_same(flags), term_same(flags), term_count(r)));
  } else if (!has_narrow_ints(w) && w->elements[v].facts & ALL_LENGTHS) {
    learn_facts(w, r, ALL_NONNEGATIVE | ALL_LENGTHS);
    if (whole && lengths != IR_NO_VAR) facts_unite(w->facts, term_count(r), term_size(lengths));
  } else if (has_narrow_ints(w) && whole && lengths != IR_NO_VAR) {
    /* Or there are more elements than INTs count. */
    facts_unite_checked(w->facts, term_count(r), term_size(lengths));
  } else if (!has_narrow_ints(w) && whole) {
    /* If there is a descriptor of these lengths, the sum is its total. */
    uint32_t same = term_same(v);
    facts_unite_checked(w->facts, term_count(r),
                        facts_memo(w->facts, KEY_TOTAL, same, same, term_count(r)));
  }
}

static void learn_descriptor(struct sizes_walk *w, ir_var d) {
  uint32_t same = term_same(d);
  facts_unite(w->facts, term_size(d),
              facts_memo(w->facts, KEY_TOTAL, same, same, term_size(d)));
  facts_unite(w->facts, term_count(d),
              facts_memo(w->facts, KEY_SEGMENTS, same, same, term_count(d)));
  facts_set_nonnegative(w->facts, term_size(d));
  facts_set_nonnegative(w->facts, term_count(d));
}

/* Learns from segments of one length: the total is the product of that and their number.
 * MAKE_SEGDES has checked that it fits, but not into 32 bits. */
static void learn_equal_segments(struct sizes_walk *w, ir_var lengths, ir_var r) {
  if (has_narrow_ints(w) || !has_same_elements(w, lengths)) return;
  const uint32_t factors[2] = {term_size(lengths), term_count(lengths)};
  for (unsigned i = 0; i < 2; i++) {
    const uint32_t total =
        facts_memo(w->facts, OPC_MUL, factors[i], factors[1 - i], term_size(r));
    if (total != term_size(r)) facts_unite_checked(w->facts, term_size(r), total);
  }
}

static void learn_pack(struct sizes_walk *w, const struct ir_binding *x) {
  ir_var v = x->operands[0], flags = x->operands[1], d = x->operands[2];
  ir_var r = x->results[0], g = x->results[1];
  learn_facts(w, r, facts_of(w, v));
  /* Lengths keep their descriptor only if PACK removes those of empty segments. */
  ir_var lengths = w->elements[v].lengths;
  if (lengths != IR_NO_VAR && w->elements[flags].nonempty == lengths &&
      facts_equal(w->facts, term_same(v), term_same(lengths)))
    w->elements[r].lengths = lengths;
  if (has_same_elements(w, v)) {
    learn_facts(w, r, ALL_THE_SAME);
    facts_unite(w->facts, term_count(r), term_count(v));
  }
  facts_unite(w->facts, term_same(g),
              facts_memo(w->facts, KEY_KEPT, term_same(flags), term_same(d), term_same(g)));
  facts_unite(
      w->facts, term_size(g),
      facts_memo(w->facts, KEY_TOTAL, term_same(flags), term_same(flags), term_size(g)));
  facts_unite(w->facts, term_count(g), term_count(d));
  facts_unite(w->facts, term_size(r), term_size(g));
  learn_descriptor(w, g);
}

static void learn_vector(struct sizes_walk *w, const struct ir_binding *x) {
  const ir_var *v = x->operands;
  ir_var r = x->results[0];
  switch ((enum opcode)x->op) {
  case OPC_DIST:
    if (has_same_elements(w, v[0])) {
      learn_facts(w, r, ALL_THE_SAME);
      facts_unite(w->facts, term_count(r), term_count(v[0]));
    }
    learn_facts(w, r, facts_of(w, v[0]) & (ALL_NONNEGATIVE | ALL_NONZERO));
    if (all_are(w, v[0], 0)) learn_index(w, r, v[1], false);
    break;
  case OPC_INDEX:
    if (all_are(w, v[0], 0) && all_are(w, v[1], 1)) {
      learn_index(w, r, v[2], true);
      learn_facts(w, r, ALL_NONNEGATIVE);
    }
    break;
  case OPC_LENGTH:
    facts_unite(w->facts, term_count(r), term_size(v[0]));
    learn_facts(w, r, ALL_NONNEGATIVE | ALL_LENGTHS);
    break;
  case OPC_LENGTHS:
    facts_unite(w->facts, term_same(r), term_same(v[0]));
    if (facts_is(w->facts, term_count(v[0]), 1))
      facts_unite(w->facts, term_count(r), term_size(v[0]));
    learn_facts(w, r, ALL_NONNEGATIVE | ALL_LENGTHS);
    w->elements[r].lengths = v[0];
    break;
  case OPC_MAKE_SEGDES:
    facts_unite(w->facts, term_same(r), term_same(v[0]));
    facts_unite(w->facts, term_count(r), term_size(v[0]));
    if (is_one_element(w, v[0])) facts_unite(w->facts, term_size(r), term_count(v[0]));
    if (w->elements[v[0]].lengths != IR_NO_VAR)
      facts_unite(w->facts, term_size(r), term_size(w->elements[v[0]].lengths));
    if (!are_lengths(w, v[0])) { /* that a sum is the total depends on the check made here */
      uint32_t same = term_same(r),
               total = facts_memo(w->facts, KEY_TOTAL, same, same, term_size(r));
      if (total != term_size(r)) facts_unite_checked(w->facts, term_size(r), total);
    }
    learn_descriptor(w, r);
    learn_equal_segments(w, v[0], r);
    break;
  case OPC_PACK: learn_pack(w, x); break;
  case OPC_EXTRACT:
    learn_facts(w, r, facts_of(w, v[0]) & (ALL_NONNEGATIVE | ALL_NONZERO));
    break;
  default: break;
  }
}

static void learn_permute(struct sizes_walk *w, const struct ir_binding *x) {
  const ir_var *v = x->operands;
  ir_var r = x->results[0];
  unsigned facts = facts_of(w, v[0]);
  switch ((enum opcode)x->op) {
  case OPC_PERMUTE: {
    learn_facts(w, r, facts);
    const struct element_facts *e = &w->elements[v[0]];
    if (e->range != IR_NO_VAR && e->permutation && has_same_segments(w, e->range, v[2]))
      learn_index(w, r, e->range, true);
    break;
  }
  case OPC_BPERMUTE: learn_facts(w, r, facts & (ALL_NONNEGATIVE | ALL_NONZERO)); break;
  case OPC_BFPERMUTE:
  case OPC_FPERMUTE: learn_facts(w, r, facts & ALL_NONNEGATIVE); break;
  case OPC_DPERMUTE:
    learn_facts(w, r, facts & facts_of(w, v[2]) & (ALL_NONNEGATIVE | ALL_NONZERO));
    break;
  case OPC_DFPERMUTE:
    learn_facts(w, r, facts & facts_of(w, v[3]) & (ALL_NONNEGATIVE | ALL_NONZERO));
    break;
  default: break;
  }
}

/* Learns from an ASSERT that two lengths are equal, which has passed. */
static void learn_assert(struct sizes_walk *w, const struct ir_binding *x) {
  const ir_var *equal = w->elements[x->operands[0]].equal;
  if (equal[0] != IR_NO_VAR)
    facts_unite_checked(w->facts, term_count(equal[0]), term_count(equal[1]));
}

static void learn_elements(struct sizes_walk *w, const struct ir_binding *x) {
  const struct opcode_info *info = opcode_info(x->op);
  switch (info->klass) {
  case OC_ELEMENTWISE: learn_elementwise(w, x); break;
  case OC_VECTOR:
  case OC_SEGMENT: learn_vector(w, x); break;
  case OC_PERMUTE: learn_permute(w, x); break;
  case OC_RANK: learn_index(w, x->results[0], x->operands[1], true); break;
  case OC_SORT: learn_facts(w, x->results[0], facts_of(w, x->operands[0])); break;
  case OC_REDUCE:
    if (x->op == OPC_ADD_REDUCE && x->type == TW_INT) learn_sum(w, x);
    break;
  case OC_IO: {
    uint32_t status = x->results[x->result_count - 1];
    facts_unite(w->facts, term_size(status), facts_number(w->facts, 1));
    break;
  }
  default: break; /* no facts on the elements */
  }
}

/* ---- sizes ---- */

/* Returns the term of a size of opcodes.def; NO_TERM for one that is unknown before execution.
 */
static uint32_t size_term(struct sizes_walk *w, const struct ir_binding *x, uint8_t size) {
  switch (SIZE_WHAT(size)) {
  case SIZE_ONE: return facts_number(w->facts, 1);
  case SIZE_LEN:
  case SIZE_TOTAL: return term_size(x->operands[SIZE_OPERAND(size)]);
  case SIZE_COUNT: return term_count(x->operands[SIZE_OPERAND(size)]);
  default: return NO_TERM;
  }
}

/* Returns whether the conditions on the elements hold without depending on a check. */
static bool by_construction(const struct sizes_walk *w, const struct ir_binding *x) {
  const ir_var *v = x->operands;
  const enum cvl_error_kind fault = fault_of_binding(x);
  if (fault == CVL_E_NONE || !opcode_is_pure(x->op)) return true;
  if (fault == CVL_E_NEGATIVE_LENGTH && w->elements[v[0]].facts & ALL_LENGTHS) return true;
  if (fault == CVL_E_DIVIDE_BY_ZERO && w->elements[v[1]].facts & ALL_NONZERO) return true;
  for (uint32_t i = 0; i < x->operand_count; i++) {
    if (facts_checked(w->facts, term_size(v[i])) || facts_checked(w->facts, term_count(v[i])) ||
        facts_checked(w->facts, term_same(v[i])))
      return false;
  }
  return true;
}

struct sizes_verdict rules_execute(struct sizes_walk *w, const struct ir_binding *x) {
  const struct opcode_info *info = opcode_info(x->op);
  struct sizes_verdict verdict = {.agrees = true, .depends = !by_construction(w, x)};
  for (const struct size_rule *r = info->rules; r->a; r++) {
    uint32_t a = size_term(w, x, r->a), b = size_term(w, x, r->b);
    if (!facts_equal(w->facts, a, b)) verdict.agrees = false;
    if (a != b && facts_checked(w->facts, a)) verdict.depends = true;
  }
  bool fine = elements_fine(w, x);
  if (!fine) verdict.depends = true;
  verdict.safe = verdict.agrees && opcode_is_pure(x->op) && (fine || is_guarded(w, x));
  for (const struct size_rule *r = info->rules; r->a; r++)
    facts_unite_checked(w->facts, size_term(w, x, r->a), size_term(w, x, r->b));
  if (x->op == OPC_ASSERT) learn_assert(w, x);
  if (x->result_count == 0) return verdict;
  uint32_t size = size_term(w, x, info->result_size);
  if (size != NO_TERM) facts_unite(w->facts, term_size(x->results[0]), size);
  learn_elements(w, x);
  return verdict;
}

/* ---- constants and superoperators ---- */

static void learn_ints(struct sizes_walk *w, ir_var v, const int64_t *ints, uint64_t n) {
  unsigned facts = ALL_FACTS;
  int64_t sum = 0;
  for (uint64_t i = 0; i < n; i++) {
    if (ints[i] < 0) facts &= ~(unsigned)(ALL_NONNEGATIVE | ALL_LENGTHS);
    if (ints[i] == 0) facts &= ~(unsigned)ALL_NONZERO;
    if (ints[i] != ints[0]) facts &= ~(unsigned)ALL_THE_SAME;
    if (__builtin_add_overflow(sum, ints[i], &sum)) facts &= ~(unsigned)ALL_LENGTHS;
  }
  learn_facts(w, v, facts);
  if (n > 0 && facts & ALL_THE_SAME)
    facts_unite(w->facts, term_count(v), facts_number(w->facts, ints[0]));
}

void rules_constant(struct sizes_walk *w, const struct ir_binding *x) {
  const struct vcode_constant *c = x->as.constant;
  ir_var v = x->results[0];
  int64_t length = (int64_t)c->length;
  if (c->type == TW_SEGDES) {
    int64_t total = 0;
    for (uint64_t i = 0; i < c->length; i++) total += c->as.ints[i];
    facts_unite(w->facts, term_size(v), facts_number(w->facts, total));
    facts_unite(w->facts, term_count(v), facts_number(w->facts, length));
    return;
  }
  facts_unite(w->facts, term_size(v), facts_number(w->facts, length));
  if (c->type == TW_INT) learn_ints(w, v, c->as.ints, c->length);
  if (c->type == TW_CHAR) learn_facts(w, v, ALL_NONNEGATIVE | ALL_LENGTHS);
}

/* ---- superoperators ---- */

/* Returns a size of a superoperator as a term; NO_TERM for one that is unknown before
 * execution. */
static uint32_t fused_term(struct sizes_walk *w, const struct ir_binding *x,
                           struct superop_size size) {
  switch (size.what) {
  case SIZE_ONE: return facts_number(w->facts, 1);
  case SIZE_LEN:
  case SIZE_TOTAL: return term_size(x->operands[size.param]);
  case SIZE_COUNT: return term_count(x->operands[size.param]);
  default: return NO_TERM;
  }
}

/* A loop may not end; what is checked may fail. */
static struct sizes_verdict fused_verdict(struct sizes_walk *w, const struct ir_binding *x,
                                          const struct superop *op) {
  struct sizes_verdict v = {.agrees = true};
  for (uint32_t i = 0; i < op->rule_count; i++) {
    const uint32_t a = fused_term(w, x, op->rules[i].a), b = fused_term(w, x, op->rules[i].b);
    if (!facts_equal(w->facts, a, b)) v.agrees = false;
    if (a != b && facts_checked(w->facts, a)) v.depends = true;
  }
  bool fine = !superop_has_loops(op);
  for (uint32_t k = 0; k < op->node_count; k++) fine = fine && !op->nodes[k].checked;
  v.safe = v.agrees && fine;
  if (!fine || op->copies) v.depends = true; /* what copies need may have been checked before */
  return v;
}

/* Returns the term of a size in the row of a consumer. If everything is computed inside, it is
 * the size of a column.
 */
static uint32_t consumer_term(struct sizes_walk *w, const struct ir_binding *x,
                              const struct superop *op, const struct superop_node *node,
                              uint8_t size) {
  const uint32_t v = node->operands[SIZE_OPERAND(size)];
  if (SIZE_WHAT(size) == SIZE_COUNT) return term_count(x->operands[v]);
  return fused_term(w, x, op->sizes[v < op->param_count ? v : node->operands[0]]);
}

/* A combination that has succeeded: its columns are equally long, and the rules of its
 * consumers hold. (Not all rules of the superoperator: what f reads need not agree.) */
static void learn_combination(struct sizes_walk *w, const struct ir_binding *x,
                              const struct superop *op, uint32_t first) {
  const struct superop_combination c = superop_combination_at(op, first);
  for (uint32_t k = first; k < first + c.count; k++) {
    facts_unite_checked(w->facts, fused_term(w, x, op->sizes[op->nodes[first].result]),
                        fused_term(w, x, op->sizes[op->nodes[k].result]));
  }
  for (uint32_t k = c.ends; k < c.ends + c.count; k++) {
    const struct superop_node *node = &op->nodes[k];
    for (const struct size_rule *r = superop_info(node->op)->rules; r->a; r++) {
      if (superop_waives(op, node, r)) continue;
      facts_unite_checked(w->facts, consumer_term(w, x, op, node, r->a),
                          consumer_term(w, x, op, node, r->b));
    }
  }
}

/* Returns the facts on elements that copies keep. Other superoperators know nothing of their
 * results. */
static unsigned facts_of_copies(const struct sizes_walk *w, const struct ir_binding *x,
                                const struct superop *op, uint32_t value) {
  if (value < op->param_count) return facts_of(w, x->operands[value]);
  const struct superop_node *node = op->nodes;
  while (node->result != value) node++;
  if (node->role != ROLE_GATHER && node->role != ROLE_SCATTER) return 0;
  const unsigned facts = facts_of_copies(w, x, op, node->operands[0]);
  switch ((enum opcode)node->op) {
  case OPC_PERMUTE: return facts;
  case OPC_BPERMUTE: return facts & (ALL_NONNEGATIVE | ALL_NONZERO);
  case OPC_FPERMUTE: return facts & ALL_NONNEGATIVE;
  default:
    return facts & facts_of_copies(w, x, op, node->operands[2]) &
           (ALL_NONNEGATIVE | ALL_NONZERO);
  }
}

struct sizes_verdict rules_fused(struct sizes_walk *w, const struct ir_binding *x) {
  const struct superop *op = w->sizes->o->program->superops[x->as.superop];
  const struct sizes_verdict verdict = fused_verdict(w, x, op);
  for (uint32_t k = 0; k < op->node_count; k++) {
    const bool begins =
        op->nodes[k].role == ROLE_COLUMN && (k == 0 || op->nodes[k - 1].role != ROLE_COLUMN);
    if (begins) learn_combination(w, x, op, k);
  }
  for (uint32_t i = 0; i < op->output_count; i++) {
    const uint32_t term = fused_term(w, x, op->sizes[op->outputs[i]]);
    if (term != NO_TERM) facts_unite(w->facts, term_size(x->results[i]), term);
    if (op->copies) learn_facts(w, x->results[i], facts_of_copies(w, x, op, op->outputs[i]));
  }
  return verdict;
}
