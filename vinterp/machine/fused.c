/* fused.c - superoperators: the back end executes them in one pass if it can; else they are
 * executed node by node.
 *
 * The back end gets a superoperator only when all of its rules hold, or it has been told to
 * require them, and it may decline. If it is not used, nodes are executed as the original
 * instructions, each at its own location, so faults are reported as in the plain program. The
 * same is done for single elements, where one pass saves nothing.
 */
#include "cvl/superop.h"
#include "vinterp/machine/machine-private.h"

#include <string.h>

/* ---- the superoperators of a program ---- */

struct prepared {
  struct cvl_kernel *kernel;
  bool tried; /* the back end has been asked */
};

/* The first `values` entries of scratch are the operands, and the results of nodes. The
 * outputs are behind them. `flat` has the operands and outputs that the back end gets. */
struct fused {
  uint32_t superops, values; /* their numbers */
  struct prepared *prepared; /* one for each superoperator */
  bool borrowed;             /* `prepared` belongs to the parent, and is only read */
  bool one_pass;             /* the latest superoperator was executed in one pass */
  struct value *scratch;
  struct cvl_value *flat;
};

/* Allocates room for operands and results. */
static bool make_scratch(struct machine *m, struct fused *f) {
  f->scratch = heap_alloc(m->heap, 2 * (size_t)f->values * sizeof *f->scratch);
  f->flat = heap_alloc(m->heap, 2 * (size_t)f->values * sizeof *f->flat);
  return f->scratch && f->flat;
}

bool fused_new(struct machine *m, const struct ir_program *program, struct fused **out) {
  uint32_t values = 0;
  if (program->superop_count == 0) return true;
  for (uint32_t k = 0; k < program->superop_count; k++) {
    if (program->superops[k]->value_count > values) values = program->superops[k]->value_count;
  }
  struct fused *f = heap_alloc(m->heap, sizeof *f);
  if (!f) return false;
  size_t n = program->superop_count;
  *f = (struct fused){.superops = program->superop_count, .values = values};
  *out = f;
  f->prepared = heap_alloc(m->heap, n * sizeof *f->prepared);
  if (f->prepared) memset(f->prepared, 0, n * sizeof *f->prepared);
  return make_scratch(m, f) && f->prepared;
}

bool fused_new_sub(struct machine *m, const struct fused *of, struct fused **out) {
  if (!of) return true;
  struct fused *f = heap_alloc(m->heap, sizeof *f);
  if (!f) return false;
  *f = (struct fused){.superops = of->superops,
                      .values = of->values,
                      .prepared = of->prepared,
                      .borrowed = true};
  *out = f;
  return make_scratch(m, f);
}

static void free_prepared(struct machine *m, struct fused *f) {
  for (uint32_t k = 0; f->prepared && k < f->superops; k++) {
    if (f->prepared[k].kernel) m->backend->superops->discard(m->context, f->prepared[k].kernel);
  }
  heap_free(m->heap, f->prepared, f->superops * sizeof *f->prepared);
}

void fused_free(struct machine *m, struct fused *f) {
  if (!f) return;
  if (!f->borrowed) free_prepared(m, f);
  heap_free(m->heap, f->scratch, 2 * (size_t)f->values * sizeof *f->scratch);
  heap_free(m->heap, f->flat, 2 * (size_t)f->values * sizeof *f->flat);
  heap_free(m->heap, f, sizeof *f);
}

struct value *fused_operands(struct machine *m) {
  return m->fused->scratch;
}

struct value *fused_results(struct machine *m) {
  return m->fused->scratch + m->fused->values;
}

/* Returns the kernel of a superoperator, prepared when it is first wanted; NULL: node by node.
 */
static struct cvl_kernel *fused_kernel_of(struct machine *m, uint32_t superop) {
  struct prepared *p = &m->fused->prepared[superop];
  if (m->fused->borrowed) return p->kernel;
  if (!p->tried && m->backend->superops) {
    p->kernel = m->backend->superops->prepare(m->context, m->program->superops[superop]);
  }
  p->tried = true;
  return p->kernel;
}

void fused_prepare(struct machine *m, uint32_t superop) {
  (void)fused_kernel_of(m, superop);
}

static void fused_release_owned(struct machine *m, struct value *v, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    if (!v[k].flat.owned) continue;
    v[k].flat.owned = 0;
    value_release(&m->store, &v[k]);
  }
}

/* ---- node by node ---- */

/* Returns whether operand i of node k may pass its reference, since the use is the last. */
static bool fused_may_take(const struct superop *op, uint32_t k, uint32_t i) {
  const struct superop_node *node = &op->nodes[k];
  if (op->last_use[node->operands[i]] != k) return false;
  for (uint32_t j = 0; j < node->operand_count; j++) {
    if (j != i && node->operands[j] == node->operands[i]) return false;
  }
  return true;
}

static bool execute_node(struct machine *m, const struct superop *op, uint32_t k,
                         uint32_t location, struct value *values) {
  const struct superop_node *node = &op->nodes[k];
  if (node->role == ROLE_CONST) {
    values[node->result] = value_of(node->constant);
    return true;
  }
  struct value operands[MAX_OPERANDS], results[MAX_RESULTS];
  for (uint32_t i = 0; i < node->operand_count; i++) {
    struct value *from = &values[node->operands[i]];
    operands[i] = *from;
    operands[i].flat.owned = from->flat.owned && fused_may_take(op, k, i);
    if (operands[i].flat.owned) from->flat.owned = 0;
  }
  if (!operation_execute(m, location, (enum opcode)node->op, (enum type_word)node->type,
                         operands, results)) {
    return false;
  }
  for (uint32_t i = 0; i < node->operand_count; i++) {
    uint32_t operand = node->operands[i];
    if (op->last_use[operand] == k) fused_release_owned(m, &values[operand], 1);
  }
  for (uint32_t i = 0; i < node->result_count; i++) {
    struct value *to = &values[node->result + i];
    *to = results[i];
    to->flat.owned = value_is_counted(to);
    if (op->last_use[node->result + i] == SUPEROP_NONE) fused_release_owned(m, to, 1);
  }
  return true;
}

/* Executes nodes until one fails. Returns the number of nodes with results. In a search for
 * the first of several faults, each node is waited for, as instructions are, since the next
 * one may be beyond the fault. */
static uint32_t fused_execute_nodes(struct machine *m, const struct superop *op, uint32_t first,
                                    struct value *values, bool *ok) {
  uint32_t k = 0;
  for (*ok = true; *ok && k < op->node_count; k++) {
    if (!execute_node(m, op, k, first + k, values)) {
      *ok = false;
      return k;
    }
    *ok = m->chunks.pass == CHUNKS_RUN || chunks_settle(m, first + k);
  }
  return k;
}

/* Runs the nodes. `owned` marks values to which a reference is held here. */
static bool machine_fused_run_nodes(struct machine *m, const struct superop *op, uint32_t first,
                                    struct value *values, struct value *results) {
  bool ok;
  const uint32_t done = fused_execute_nodes(m, op, first, values, &ok);
  for (uint32_t i = 0; ok && i < op->output_count; i++) {
    results[i] = values[op->outputs[i]];
    results[i].flat.owned = values[op->outputs[i]].flat.owned = 0;
  }
  fused_release_owned(m, values,
                      done == op->node_count ? op->value_count : op->nodes[done].result);
  return ok;
}

/* ---- in one pass ---- */

static struct cvl_size fused_size_of(const struct machine *m, const struct value *values,
                                     struct superop_size size) {
  switch (size.what) {
  case SIZE_LEN:
  case SIZE_TOTAL: return machine_size(m, &values[size.param].flat);
  case SIZE_COUNT: return machine_count(m, &values[size.param].flat);
  default: return (struct cvl_size){.bound = 1};
  }
}

/* Returns whether two sizes are equal, and waits for them if necessary. If a fault is found on
 * the way, the next operation reports it, since it is earlier than anything here. */
static bool sizes_equal(const struct machine *m, struct cvl_size a, struct cvl_size b) {
  if (a.symbol && a.symbol == b.symbol) return true;
  if (a.symbol && !m->backend->resolve(m->context, &a)) return false;
  if (b.symbol && !m->backend->resolve(m->context, &b)) return false;
  return a.bound == b.bound;
}

static bool is_of(const struct machine *m, const struct value *v, struct cvl_size size) {
  return size.symbol && machine_size(m, &v->flat).symbol == size.symbol;
}

/* Returns whether the results of nodes before this one depend on a deferred size. */
static bool matters_before(const struct machine *m, const struct superop *op, uint32_t node,
                           const struct value *values, struct cvl_size size) {
  for (uint32_t k = 0; k < node; k++) {
    for (uint32_t i = 0; i < op->nodes[k].operand_count; i++) {
      const uint32_t v = op->nodes[k].operands[i];
      if (v < op->param_count && is_of(m, &values[v], size)) return true;
    }
  }
  return false;
}

static bool may_fail_before(const struct superop *op, uint32_t node) {
  for (uint32_t k = 0; k < node; k++) {
    if (op->nodes[k].checked) return true;
  }
  return false;
}

/* Returns whether a rule need not be known to hold. If it does not, its node fails, and the
 * back end may have gone on as if it did. That is not possible if an earlier node might then
 * fail differently. */
static bool may_be_required(const struct machine *m, const struct superop *op,
                            const struct superop_rule *r, const struct value *values) {
  if (r->of_domain || !m->backend->require_later) return false;
  const struct cvl_size a = fused_size_of(m, values, r->a), b = fused_size_of(m, values, r->b);
  if (!a.symbol && !b.symbol) return false;
  return !may_fail_before(op, r->node) || (!matters_before(m, op, r->node, values, a) &&
                                           !matters_before(m, op, r->node, values, b));
}

/* Returns the size that remains once the first `count` rules are required. */
static struct cvl_size required_size(const struct machine *m, const struct superop *op,
                                     uint32_t count, const struct value *values,
                                     struct cvl_size size) {
  for (uint32_t k = 0; k < count && size.symbol; k++) {
    const struct superop_rule *r = &op->rules[k];
    const struct cvl_size a = fused_size_of(m, values, r->a),
                          b = fused_size_of(m, values, r->b);
    if ((a.symbol != size.symbol || b.symbol) && (b.symbol != size.symbol || a.symbol))
      continue;
    if (may_be_required(m, op, r, values)) size = a.symbol ? b : a;
  }
  return size;
}

static bool holds(const struct machine *m, const struct superop *op, uint32_t k,
                  const struct value *values) {
  const struct superop_rule *r = &op->rules[k];
  const struct cvl_size a = fused_size_of(m, values, r->a), b = fused_size_of(m, values, r->b);
  return sizes_equal(m, required_size(m, op, k, values, a), required_size(m, op, k, values, b));
}

/* Returns whether all rules hold, except those that may be required. */
static bool fused_rules_hold(const struct machine *m, const struct superop *op,
                             const struct value *values) {
  for (uint32_t k = 0; k < op->rule_count; k++) {
    if (!may_be_required(m, op, &op->rules[k], values) && !holds(m, op, k, values))
      return false;
  }
  return true;
}

/* Requires these, if the back end can. Returns false if one does not hold. */
static bool fused_require_rules(const struct machine *m, uint64_t site,
                                const struct superop *op, const struct value *values) {
  for (uint32_t k = 0; k < op->rule_count && m->backend->require_later; k++) {
    const struct superop_rule *r = &op->rules[k];
    const bool later =
        may_be_required(m, op, r, values) &&
        m->backend->require_later(m->context, site + r->node, fused_size_of(m, values, r->a),
                                  fused_size_of(m, values, r->b), r->rule);
    if (!later && !holds(m, op, k, values)) return false;
  }
  return true;
}

/* Returns whether everything is one element that the host knows. The nodes then cost less than
 * a pass prepared for vectors. */
static bool is_single(const struct machine *m, const struct superop *op,
                      const struct value *values) {
  for (uint32_t p = 0; p < op->param_count; p++) {
    if (values[p].form != CVL_SCALAR && values[p].form != CVL_ONE_SEGMENT) return false;
  }
  struct cvl_size domain = fused_size_of(m, values, op->domain);
  return domain.bound == 1 && domain.symbol == 0;
}

/* Runs a superoperator without a kernel. The library knows how to run loops and combinations.
 */
static bool fused_run_whole(struct machine *m, const struct machine_site *site,
                            const struct superop *op, const struct cvl_value *operands,
                            struct cvl_value *outs) {
  const struct cvl_stop stop = {machine_asks_to_stop, m};
  if (superop_run(m->backend, m->context, site->number, op, &stop, operands, outs)) return true;
  if (!machine_may_go_on(m, site)) return false;
  return machine_backend_fault(m, site);
}

/* Runs a superoperator; `kernel` may be NULL. A loop waits for earlier checks, which a back
 * end may have deferred: on values that they refuse it might not end. */
static bool fused_run_kernel(struct machine *m, const struct superop *op,
                             struct cvl_kernel *kernel, const struct machine_site *site,
                             struct value *values, struct value *results) {
  struct cvl_value *operands = m->fused->flat, *outs = operands + m->fused->values;
  if (op->grouped && superop_has_loops(op) && !machine_settle(m, site)) {
    fused_release_owned(m, values, op->param_count);
    return false;
  }
  for (uint32_t p = 0; p < op->param_count; p++) operands[p] = values[p].flat;
  for (uint32_t i = 0; i < op->output_count; i++) outs[i] = (struct cvl_value){0};
  if (!kernel && !fused_run_whole(m, site, op, operands, outs)) return false;
  if (kernel && !m->backend->superops->run(m->context, site->number, kernel, operands, outs)) {
    return machine_backend_fault(m, site);
  }
  for (uint32_t i = 0; i < op->output_count; i++) {
    check_result(m, &outs[i], size_deferred(), (enum operand_kind)op->kinds[op->outputs[i]]);
    results[i] = value_of(outs[i]);
  }
  return true;
}

bool fused_was_one_pass(const struct machine *m) {
  return m->fused->one_pass;
}

uint64_t fused_domain(const struct machine *m, uint32_t superop) {
  struct cvl_size n =
      fused_size_of(m, m->fused->scratch, m->program->superops[superop]->domain);
  if (n.symbol) m->backend->resolve(m->context, &n);
  return n.bound;
}

bool fused_execute(struct machine *m, uint32_t location, uint32_t superop) {
  const struct superop *op = m->program->superops[superop];
  struct value *values = fused_operands(m), *results = fused_results(m);
  uint32_t first = code_first_node(m->code, location);
  struct machine_site site;
  const bool together =
      (op->grouped || !is_single(m, op, values)) && fused_rules_hold(m, op, values);
  struct cvl_kernel *kernel = together ? fused_kernel_of(m, superop) : NULL;
  if ((kernel || op->grouped) && !machine_next_sites(m, first, op->node_count, &site)) {
    fused_release_owned(m, values, op->param_count);
    return false;
  }
  if (kernel && !fused_require_rules(m, site.number, op, values)) kernel = NULL;
  if (kernel || op->grouped) chunks_note_node(m, first, op, values);
  m->fused->one_pass = kernel != NULL;
  return kernel || op->grouped ? fused_run_kernel(m, op, kernel, &site, values, results)
                               : machine_fused_run_nodes(m, op, first, values, results);
}
