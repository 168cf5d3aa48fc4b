/* fused-run.cpp - launches the kernels of a superoperator, and executes the nodes that they
 * leave over.
 */
#include "cvl-cuda/fused-run.hpp"

#include <algorithm>

#include "cvl-cuda/ops.hpp"
#include "cvl-cuda/sums.hpp"
#include "cvl-cuda/tree.hpp"

namespace ravel {

static_assert(1 << FUSED_TREE_BITS == (int)CVL_REDUCE_BLOCK,
              "the blocks of both trees are slots");

/* ---- before the launch ---- */

void execution::drop(uint32_t v) {
  if (values[v].form == CVL_VECTOR) release(values[v].as.vector);
  if (values[v].form == CVL_SEGDES) release(values[v].as.segdes);
  values[v] = cvl_value{};
}

static ref<deferred> fused_run_deferred_of(const cvl_value &v) {
  if (v.form == CVL_VECTOR) return v.as.vector->size;
  return v.form == CVL_SEGDES ? v.as.segdes->size : nullptr;
}

/* Returns whether a deferred size may stay so; the kernel's positions are then bounded. */
bool execution::is_bounded(const cvl_value &v) {
  return lengths == operand_lengths::BOUNDED && stays_deferred(c, fused_run_deferred_of(v));
}

/* Waits for deferred sizes that cannot stay so. Returns whether all operands are on the host
 * and small. */
bool execution::is_small() {
  int64_t most = 0;
  bool here = true;
  for (uint32_t p = 0; p < op.param_count; p++) {
    const cvl_value &v = values[p];
    if (is_bounded(v)) {
      here = false;
      continue;
    }
    if (v.form == CVL_VECTOR) exact(c, *v.as.vector);
    if (v.form == CVL_SEGDES) exact(c, *v.as.segdes);
    int64_t n = length_bound(v);
    if (op.kinds[p] == SUPEROP_SEGDES) n = std::max(n, total_of(c, v));
    most = std::max(most, n);
    here = here && at_hand(c, v);
  }
  return here && is_for_host(c, most);
}

/* Returns whether the mean length of segments is below cuda.long-segment. A segment of that
 * length keeps a warp busy for as long as it takes to find it. The default is an estimate, from
 * some twenty reads of the second-level cache, one after the other. */
bool execution::has_short_segments() {
  if (op.segments == SUPEROP_NONE) return false;
  const cvl_value &d = values[op.segments];
  const int64_t long_segment = (int64_t)c.tuning.value[TUNE_CUDA_LONG_SEGMENT];
  return total_bound(d) / long_segment < count_of(d) && count_of(d) > 1;
}

int64_t execution::total_bound(const cvl_value &d) {
  return is_bounded(d) ? d.as.segdes->total : total_of(c, d);
}

/* Returns a size or its bound. A number that was deferred may have arrived by now. */
int64_t execution::size_of(const superop_size &size) {
  if (size.what == SIZE_ONE) return 1;
  const cvl_value &v = values[size.param];
  if (size.what == SIZE_COUNT) return count_of(v);
  if (size.what == SIZE_TOTAL) return total_bound(v);
  if (v.form == CVL_VECTOR && !is_bounded(v)) exact(c, *v.as.vector);
  return length_bound(v);
}

/* Returns the number of positions if it is deferred, else null. */
ref<deferred> execution::domain_later() {
  const bool counted = op.domain.what == SIZE_ONE || op.domain.what == SIZE_COUNT;
  return counted || !is_bounded(values[op.domain.param])
             ? nullptr
             : fused_run_deferred_of(values[op.domain.param]);
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

/* Returns a grid by groups of segments. The positions of a group usually fit a block's memory,
 * and fill three quarters of it on the average. A group has at least one segment for each warp,
 * and there are enough blocks for all processors. */
kernel_grid execution::groups_of(const fused_kernel &plan, const segments &d, int64_t longest) {
  const int64_t each = std::max<int64_t>(d.total / d.count, 1);
  const int64_t fitting = fused_kernel_staged(&plan) * 3 / 4 / each;
  const int64_t busy = d.count / (2 * (int64_t)c.device->processors()) + 1;
  const int64_t least = FUSED_GROUP_WARPS, most = FUSED_BLOCK_THREADS;
  kernel_grid g{};
  g.n = std::min(std::max(std::min(fitting, busy), least), most);
  g.blocks = (d.count + g.n - 1) / g.n;
  g.threads = FUSED_BLOCK_THREADS;
  g.longest = longest;
  g.d = d;
  if (longest <= CVL_REDUCE_BLOCK) return g;
  const int64_t candidates = chunks_of(d, FUSED_TREE_BITS, FUSED_TREE_BITS, true).candidates;
  g.blocks += (candidates + FUSED_GROUP_WARPS - 1) / FUSED_GROUP_WARPS;
  g.slots = slot_count(d.total, d.count, CVL_REDUCE_BLOCK);
  return g;
}

kernel_grid execution::grid_of(work &w, const fused_kernel &plan) {
  kernel_grid g{};
  if (plan.by_groups) {
    const cvl_value &d = values[op.segments];
    return groups_of(plan, w.view(d), longest_segment(c, d));
  }
  if (plan.by_slots) {
    g.d = w.view(values[op.segments]);
    g.n = g.slots = slot_count(g.d.total, g.d.count, CVL_REDUCE_BLOCK);
    g.threads = (int32_t)plan.block_slots * WARP;
  } else {
    g.n = positions(plan);
    if (plan.by_packs || plan.block_positions > 0) g.threads = FUSED_BLOCK_THREADS;
  }
  const int64_t each = plan.by_packs   ? fused_kernel_tile(&plan)
                       : plan.by_slots ? plan.block_slots
                                       : plan.block_positions;
  g.blocks = each > 0 ? (g.n + each - 1) / each : g.n;
  return g;
}

/* Adds the members that nodes read; they come first. */
void execution::add_operands(work &w, const fused_kernel &plan, arguments &a) {
  for (uint32_t i = 0; i < plan.member_count; i++) {
    const fused_member &m = plan.members[i];
    const cvl_value &v = values[m.number];
    if (m.kind == MEMBER_SEGMENTS) a.add(w.view(v, m.looked_up));
    if (m.kind == MEMBER_OPERAND)
      with_type((cvl_elem)m.elem, [&](auto t) { a.add(w.read<decltype(t)>(v)); });
  }
}

/* Returns what is known of an operand inside the kernel, a parameter or a constant; else
 * null. */
const cvl_value *execution::known_operand(uint32_t v) const {
  if (values[v].form != CVL_NOTHING) return &values[v];
  for (uint32_t k = 0; k < op.node_count; k++) {
    const superop_node &node = op.nodes[k];
    if (node.result_count == 0 || node.result != v) continue;
    const bool spread = node.role == ROLE_SPREAD && values[node.operands[0]].form == CVL_SCALAR;
    return spread ? &values[node.operands[0]] : nullptr;
  }
  return nullptr;
}

/* Notes the sum of a result, as elementwise() does. */
void execution::note_sum(uint32_t v, cvl_vector &result) const {
  for (uint32_t k = 0; k < op.node_count; k++) {
    const superop_node &node = op.nodes[k];
    if (node.role != ROLE_MAP || node.result != v || node.operand_count != 2) continue;
    const cvl_value *a = known_operand(node.operands[0]), *b = known_operand(node.operands[1]);
    if (a == nullptr || b == nullptr || a->elem != result.elem || b->elem != result.elem)
      return;
    const cvl_value both[] = {*a, *b};
    keep_sum(c, opcode_info((opcode)node.op)->operation, both, result);
  }
}

void execution::launch_kernel(const fused_kernel &plan, const kernel_entry &entry) {
  work w(c, site, {}, INT64_MAX, lengths); /* on the device */
  arguments a;
  w.over(domain_later());
  const kernel_grid grid = grid_of(w, plan);
  std::vector<void *> partials(op.node_count);
  std::vector<ref<cvl_vector>> results(op.node_count);
  std::vector<lowest_level> lowest(trees.size());
  std::vector<ref<cvl_vector>> written(op.value_count);
  packs packed{};
  add_operands(w, plan, a);
  for (uint32_t i = 0; i < plan.member_count; i++) {
    const fused_member &m = plan.members[i];
    const cvl_elem elem = (cvl_elem)m.elem;
    switch ((fused_member_kind)m.kind) {
    case MEMBER_OPERAND:
    case MEMBER_SEGMENTS: break; /* it is an argument already */
    case MEMBER_WRITTEN:
      written[m.number] = w.make_each(elem, positions(plan));
      with_type(elem, [&](auto t) { a.add(w.data<decltype(t)>(written[m.number])); });
      break;
    case MEMBER_PARTIALS:
      with_type(elem, [&](auto t) {
        if (grid.slots > 0) partials[m.number] = address(w.scratch<decltype(t)>(grid.slots));
        a.add(partials[m.number]);
      });
      break;
    case MEMBER_RESULTS:
      if (!plan.by_groups) {
        add_tree_member(w, m, a, lowest);
        break;
      }
      results[m.number] = w.make(elem, grid.d.count);
      with_type(elem, [&](auto t) { a.add(w.data<decltype(t)>(results[m.number])); });
      break;
    case MEMBER_TOTALS:
    case MEMBER_ROOTS: add_tree_member(w, m, a, lowest); break;
    case MEMBER_TILES: add_tiles(w, plan, a, packed); break;
    case MEMBER_PACKING: add_list(w, m, a, packed); break;
    case MEMBER_KEPT: add_kept(w, m, a, packed); break;
    case MEMBER_UNFIT: add_unfit(w, a); break;
    case MEMBER_SCATTER: /* see launch_scatter */
    case MEMBER_MOVED:
    case MEMBER_LOOP: /* see launch_loop */
    case MEMBER_CARRIED: break;
    }
  }
  a.add(w.bad());
  a.add(grid.n);
  const launch l = {"superoperator",
                    grid.blocks,
                    grid.threads,
                    entry.kernel,
                    entry.on_host,
                    nullptr,
                    a.bytes.data(),
                    (uint32_t)a.bytes.size(),
                    (int32_t)fused_kernel_unroll(&plan)};
  w.run(l.threads == 0 ? w.for_each(l) : l);
  const uint64_t after = c.work_queue.number;
  if (plan.by_groups)
    give_results(w, plan, grid, partials, after, results);
  else
    finish_reductions(w, plan, grid.d, partials, after);
  for (uint32_t v = 0; v < op.value_count; v++) {
    if (!written[v]) continue;
    if (!w.domain && elem_info(written[v]->elem)->klass == CLASS_INT)
      note_sum(v, *written[v].get());
    w.give(&values[v], written[v]);
  }
  give_packed(w, packed);
  finish_trees(w, plan, lowest);
}

void execution::finish_reductions(work &w, const fused_kernel &plan, const segments &d,
                                  const std::vector<void *> &partials, uint64_t after) {
  for (uint32_t i = 0; i < plan.member_count; i++) {
    const fused_member &m = plan.members[i];
    if (m.kind != MEMBER_PARTIALS) continue;
    const superop_node &node = op.nodes[m.number];
    with_type((cvl_elem)m.elem, [&](auto t) {
      using T = decltype(t);
      const ref<cvl_vector> r = w.make((cvl_elem)m.elem, d.count);
      finish_reduction<T>(w, opcode_info((opcode)node.op)->operation, d,
                          longest_segment(c, values[op.segments]),
                          pointer_to<const T>(partials[m.number]), after, w.data<T>(r));
      w.give(&values[node.result], r);
    });
  }
}

/* Finishes segments longer than a slot, and gives the results of groups. */
void execution::give_results(work &w, const fused_kernel &plan, const kernel_grid &grid,
                             const std::vector<void *> &partials, uint64_t after,
                             const std::vector<ref<cvl_vector>> &results) {
  for (uint32_t i = 0; i < plan.member_count; i++) {
    const fused_member &m = plan.members[i];
    if (m.kind != MEMBER_PARTIALS) continue;
    const superop_node &node = op.nodes[m.number];
    if (grid.slots > 0)
      with_type((cvl_elem)m.elem, [&](auto t) {
        using T = decltype(t);
        finish_long_reduction<T>(w, opcode_info((opcode)node.op)->operation, grid.d,
                                 grid.longest, pointer_to<const T>(partials[m.number]), after,
                                 w.data<T>(results[m.number]));
      });
    w.give(&values[node.result], results[m.number]);
  }
}

/* ---- copies ---- */

void execution::add_unfit(work &w, arguments &a) {
  ptr<int64_t> at{};
  unfit = w.later(1, &at);
  w.fill(at, 0, 1);
  a.add(address(at));
}

/* Launches the kernels of copies. Returns false and does nothing if they would be wrong. That
 * may depend on what the first kernel finds; this then waits for it. */
bool execution::launch_copies(const std::vector<variant> &kernels,
                              const std::vector<const kernel_entry *> &entries) {
  const fused_kernel &checks = kernels[0].source.kernel;
  for (uint32_t v = 0; v < op.param_count; v++) {
    if (checks.single[v] && count_of(values[v]) != 1) return false;
  }
  if (!checks.is_empty) {
    launch_kernel(checks, *entries[0]);
    if (unfit && settle(c, *unfit.get()) != 0) return false;
  }
  for (size_t i = 1; i < kernels.size(); i++)
    launch_kernel(kernels[i].source.kernel, *entries[i]);
  return true;
}

/* ---- after the kernel ---- */

/* Returns whether node k is the last use of value v, so that its elements may be overwritten.
 * One object may be several parameters. */
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
  cvl_call call = superop_permute_call((opcode)node.op, v);
  const int8_t defaults = permute_operands((opcode)node.op).defaults;
  if (defaults != NO_OPERAND)
    call.permute.defaults.owned = is_last_use(node.operands[defaults], k);
  permute(c, site + k, call.op, call.permute, &values[node.result]);
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

/* Runs a DIST or INDEX that is left to the library, unless its result exists. */
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
