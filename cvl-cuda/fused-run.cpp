/* fused-run.cpp - launches the kernels of a superoperator, and executes what they leave over.
 */
#include "cvl-cuda/fused-run.hpp"

#include <algorithm>

#include "cvl-cuda/ops.hpp"

namespace ravel {

/* Segments this long on the average keep a warp busy for as long as it takes to find them: an
 * estimate, from some twenty reads of the second-level cache, one after the other. */
enum { LONG_SEGMENT = 256 };

/* ---- before ---- */

void execution::drop(uint32_t v) {
  if (values[v].form == CVL_VECTOR) release(values[v].as.vector);
  if (values[v].form == CVL_SEGDES) release(values[v].as.segdes);
  values[v] = cvl_value{};
}

/* Settles what is pending; whether all is on the host and little. */
bool execution::is_small() {
  int64_t most = 0;
  bool here = true;
  for (uint32_t p = 0; p < op.param_count; p++) {
    const cvl_value &v = values[p];
    if (v.form == CVL_VECTOR) exact(c, *v.as.vector);
    if (v.form == CVL_SEGDES) exact(c, *v.as.segdes);
    int64_t n = length_bound(v);
    if (op.kinds[p] == SUPEROP_SEGDES) n = std::max(n, total_of(c, v));
    most = std::max(most, n);
    here = here && at_hand(c, v);
  }
  return here && most <= c.small;
}

bool execution::has_short_segments() {
  if (op.segments == SUPEROP_NONE) return false;
  const cvl_value &d = values[op.segments];
  return total_of(c, d) / LONG_SEGMENT < count_of(d) && count_of(d) > 1;
}

int64_t execution::size_of(const superop_size &size) {
  if (size.what == SIZE_ONE) return 1;
  const cvl_value &v = values[size.param];
  if (size.what == SIZE_COUNT) return count_of(v);
  return size.what == SIZE_TOTAL ? total_of(c, v) : length_bound(v);
}

int64_t execution::domain() {
  return size_of(op.domain);
}

int64_t execution::positions(const fused_kernel &plan) {
  if (!plan.copies) return domain();
  int64_t n = 0;
  for (uint32_t i = 0; i < plan.over_count; i++) n = std::max(n, size_of(plan.over[i]));
  return n;
}

void execution::launch_kernel(const fused_kernel &plan, const kernel_entry &entry) {
  work w(c, site, {}, INT64_MAX); /* on the device */
  arguments a;
  const int64_t n = positions(plan);
  segments slotted{};
  int64_t count = n;
  if (plan.by_slots) {
    slotted = w.view(values[op.segments]);
    count = slot_count(slotted.total, slotted.count, CVL_REDUCE_BLOCK);
  }
  std::vector<void *> partials(op.node_count);
  std::vector<lowest_level> lowest(trees.size());
  std::vector<ref<cvl_vector>> written(op.value_count);
  for (uint32_t i = 0; i < plan.member_count; i++) {
    const fused_member &m = plan.members[i];
    const cvl_elem elem = (cvl_elem)m.elem;
    switch ((fused_member_kind)m.kind) {
    case MEMBER_OPERAND:
      with_type(elem, [&](auto t) { a.add(w.read<decltype(t)>(values[m.number])); });
      break;
    case MEMBER_SEGMENTS: a.add(w.view(values[m.number], m.looked_up)); break;
    case MEMBER_WRITTEN:
      written[m.number] = w.make(elem, n);
      with_type(elem, [&](auto t) { a.add(w.data<decltype(t)>(written[m.number])); });
      break;
    case MEMBER_PARTIALS:
      with_type(elem, [&](auto t) {
        partials[m.number] = address(w.scratch<decltype(t)>(count));
        a.add(partials[m.number]);
      });
      break;
    case MEMBER_TOTALS:
    case MEMBER_ROOTS:
    case MEMBER_RESULTS: add_tree_member(w, m, a, lowest); break;
    case MEMBER_UNFIT: add_unfit(w, a); break;
    }
  }
  a.add(w.bad());
  a.add(count);
  const int64_t each = plan.by_slots ? plan.block_slots : plan.block_positions;
  const int32_t threads = plan.by_slots ? (int32_t)plan.block_slots * WARP
                          : each > 0    ? (int32_t)FUSED_BLOCK_THREADS
                                        : 0;
  w.run({"superoperator", each > 0 ? (count + each - 1) / each : count, threads, entry.kernel,
         entry.on_host, nullptr, a.bytes.data(), (uint32_t)a.bytes.size(),
         (int32_t)fused_kernel_unroll(&plan)});
  finish_reductions(w, plan, slotted, partials);
  for (uint32_t v = 0; v < op.value_count; v++) {
    if (written[v]) w.give(&values[v], written[v]);
  }
  finish_trees(w, plan, lowest);
}

void execution::finish_reductions(work &w, const fused_kernel &plan, const segments &d,
                                  const std::vector<void *> &partials) {
  for (uint32_t i = 0; i < plan.member_count; i++) {
    const fused_member &m = plan.members[i];
    if (m.kind != MEMBER_PARTIALS) continue;
    const superop_node &node = op.nodes[m.number];
    with_type((cvl_elem)m.elem, [&](auto t) {
      using T = decltype(t);
      const ref<cvl_vector> r = w.make((cvl_elem)m.elem, d.count);
      finish_reduction<T>(w, opcode_info((opcode)node.op)->operation, d,
                          pointer_to<const T>(partials[m.number]), w.data<T>(r));
      w.give(&values[node.result], r);
    });
  }
}

/* ---- copies ---- */

void execution::add_unfit(work &w, arguments &a) {
  ptr<int64_t> at{};
  unfit = w.later(1, &at);
  w.fill(at, 0, 1);
  a.add(address(at));
}

/* Waits for what the first kernel finds. False, and nothing is done, where the others would be
 * wrong. */
bool execution::launch_copies(const std::vector<variant> &kernels,
                              const std::vector<const kernel_entry *> &entries) {
  const fused_kernel &checks = kernels[0].source.kernel;
  for (uint32_t v = 0; v < op.param_count; v++) {
    if (checks.single[v] && count_of(values[v]) != 1) return false;
  }
  if (!checks.is_empty) {
    launch_kernel(checks, *entries[0]);
    if (settle(c, *unfit.get()) != 0) return false;
  }
  for (size_t i = 1; i < kernels.size(); i++)
    launch_kernel(kernels[i].source.kernel, *entries[i]);
  return true;
}
/* ---- after the kernel ---- */

/* Whether node k is the last use of value v, so that its elements may be overwritten. One
 * object may be several parameters. */
bool execution::is_last_use(uint32_t v, uint32_t k) const {
  if (!values[v].owned || op.last_use[v] != k) return false;
  for (uint32_t p = 0; p < op.param_count; p++) {
    const bool same = p != v && values[p].form == CVL_VECTOR && values[v].form == CVL_VECTOR &&
                      values[p].as.vector == values[v].as.vector;
    if (same && op.last_use[p] >= k && op.last_use[p] != SUPEROP_NONE) return false;
  }
  return true;
}

void execution::run_scatter(uint32_t k) {
  const superop_node &node = op.nodes[k];
  cvl_value v[MAX_OPERANDS];
  for (uint32_t i = 0; i < node.operand_count; i++) {
    v[i] = values[node.operands[i]];
    v[i].owned = 0;
  }
  cvl_permute_args args = superop_permute_args((opcode)node.op, v);
  const int8_t defaults = permute_operands((opcode)node.op).defaults;
  if (defaults != NO_OPERAND) args.defaults.owned = is_last_use(node.operands[defaults], k);
  permute(c, site + k, args, &values[node.result]);
}

void execution::run_node(uint32_t k) {
  const superop_node &node = op.nodes[k];
  const uint64_t at = site + k;
  const cvl_op operation = opcode_info((opcode)node.op)->operation;
  cvl_value v[3] = {}, *out = &values[node.result];
  for (uint32_t i = 0; i < node.operand_count && i < 3; i++) {
    v[i] = values[node.operands[i]];
    v[i].owned = 0;
  }
  switch ((superop_role)node.role) {
  case ROLE_SPREAD: dist(c, at, v[0], v[1], out); break;
  case ROLE_INDEX: index(c, at, v[0], v[1], v[2], out); break;
  case ROLE_REDUCE: reduce(c, at, operation, v[0], v[1], out); break;
  case ROLE_SCAN: scan(c, at, operation, v[0], v[1], out); break;
  case ROLE_PACK: pack(c, at, v[0], v[1], v[2], out, out + 1); break;
  case ROLE_SCATTER: run_scatter(k); break;
  default: break;
  }
}

/* A DIST or INDEX that is left to the library, unless it is there. */
void execution::make_spread(const fused_kernel &plan, uint32_t v) {
  if (!plan.spread[v] || values[v].form != CVL_NOTHING) return;
  uint32_t k = 0;
  while (op.nodes[k].result != v || op.nodes[k].result_count == 0) k++;
  run_node(k);
}

void execution::follow(const fused_kernel &plan) {
  for (uint32_t k = 0; k < op.node_count; k++) {
    const superop_node &node = op.nodes[k];
    if (plan.tasks[k] == TASK_LIBRARY) run_node(k);
    if (plan.spread[node.result]) make_spread(plan, node.result);
    for (const ready_tree &t : trees) {
      if (t.at.ends == k && plan.tasks[k] == TASK_TREE) run_tree(t);
    }
    for (uint32_t i = 0; i < node.operand_count; i++) {
      const uint32_t v = node.operands[i];
      if (v >= op.param_count && op.last_use[v] == k) drop(v);
    }
  }
}

void execution::give(cvl_value *outs) {
  for (uint32_t i = 0; i < op.output_count; i++) {
    outs[i] = values[op.outputs[i]];
    values[op.outputs[i]] = cvl_value{};
  }
}

} // namespace ravel
