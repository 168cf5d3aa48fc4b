/* fused.cpp - superoperators as kernels compiled at run time.
 *
 * A kernel evaluates what is elementwise and the lowest level of reductions
 * (fused-kernels/emit-kernel.h); its plan says what it takes and what it leaves over. That is
 * done by the library, on what the kernel has written: reductions are finished, and scans,
 * packs and scatters run as operations. DIST and INDEX that are needed outside are given to the
 * library too, which computes nothing for them. Combinations have kernels of their own for the
 * levels of their trees: fused-tree.hpp.
 */
#include "cvl-cuda/fused.hpp"

#include <string.h>

#include "cvl-cuda/compiler.hpp"
#include "cvl-cuda/fused-tree.hpp"
#include "cvl-cuda/ops.hpp"
#include "cvl-cuda/scatter-groups.hpp"
#include "cvl-cuda/tree.hpp"

namespace ravel {

/* One of the kernels that a superoperator may run by. */
struct variant {
  fused_source source{};
  bool made = false;
  kernel_entry ready; /* compiled ahead of time, or empty */
  compilation *code =
      nullptr; /* else; null: there is nothing for a kernel to do, or no kernel */

  bool has_kernel() const { return code || ready.kernel || ready.on_host; }
  /* Whether nothing is missing. */
  bool is_complete() const { return has_kernel() || (source.memory && source.kernel.is_empty); }
};

/* The kernels of the combination that begins with node `first`. */
struct combination_kernels {
  uint32_t first;
  variant up, down; /* down: of scans */
};

} // namespace ravel

struct cvl_kernel {
  const superop *op;
  ravel::variant whole;   /* reduces too; for long segments */
  ravel::variant written; /* leaves reductions to the library; for short ones */
  std::vector<ravel::combination_kernels> trees{};
  std::vector<ravel::variant> copies{}; /* by fused_copy_kernels */
  uint64_t last_run = 0;                /* epoch of the last launch */
};

namespace ravel {

/* Bytes of a kernel's arguments: the limit of the oldest devices and compilers in use, less
 * what is added to every launch. */
enum { MOST_ARGUMENT_BYTES = 4000 };

/* Segments this long on the average keep a warp busy for as long as it takes to find them: an
 * estimate, from some twenty reads of the second-level cache, one after the other. */
enum { LONG_SEGMENT = 256 };

/* ---- kernels of a context ---- */

struct kernel_store {
  compiler tools;
  bool waits;
  bool compiles; /* what is not in the module */

  kernel_store(std::unique_ptr<toolchain> t, cache kept, compiler::speaker say, bool wait,
               bool compile)
      : tools(std::move(t), std::move(kept), std::move(say)), waits(wait), compiles(compile) {}
};

std::shared_ptr<kernel_store> open_kernels(stream *s, const cvl_options &o) {
  const bool keeps =
      o.compile == CVL_COMPILE_ALL && o.compile_directory && *o.compile_directory;
  bool compiles = true;
#ifdef RAVEL_EMULATION
  compiles = keeps;
  if (!compiles && o.kernels == nullptr) return nullptr;
#endif
  std::unique_ptr<toolchain> tools(s->new_toolchain());
  if (!tools) return nullptr;
  const auto say = [to = o.say](const std::string &line) { cvl_say(&to, line.c_str()); };
  cache kept(keeps ? std::string(o.compile_directory) : cache_folder());
  const auto store = std::make_shared<kernel_store>(std::move(tools), std::move(kept), say,
                                                    o.compile_waits, compiles);
  if (o.kernels) store->tools.use_module(o.kernels);
  return store;
}

/* Bytes of the arguments: what `arguments` below will add up to. */
static size_t argument_bytes(const fused_kernel &k) {
  size_t bytes = sizeof(faults) + sizeof(int64_t);
  for (uint32_t i = 0; i < k.member_count; i++) {
    switch ((fused_member_kind)k.members[i].kind) {
    case MEMBER_OPERAND: bytes += 80; break; /* the largest: of elements of 8 bytes */
    case MEMBER_SEGMENTS: bytes += 40; break;
    case MEMBER_WRITTEN:
    case MEMBER_PARTIALS:
    case MEMBER_TOTALS:
    case MEMBER_ROOTS:
    case MEMBER_RESULTS:
    case MEMBER_UNFIT: bytes += sizeof(void *); break;
    }
  }
  return bytes;
}

static void find_kernel(context &c, variant &v) {
  if (c.kernels->tools.in_module(v.source.key, v.ready) || !c.kernels->compiles) return;
  v.code = c.kernels->tools.request(v.source.text, "fused");
}

/* The kernel of a source that was made, unless it is empty. */
static void find_planned(context &c, variant &v) {
  const fused_kernel &plan = v.source.kernel;
  if (!plan.is_empty && argument_bytes(plan) <= MOST_ARGUMENT_BYTES) find_kernel(c, v);
}

static void make_variant(context &c, const superop *op, unsigned leave, variant &v) {
  v.made = true;
  const widths w = {c.int_elem, c.float_elem};
  if (fused_source_make(op, w, leave, "fused", &v.source)) find_planned(c, v);
}

/* The kernels of copies; false if one of them is missing. */
static bool make_copies(context &c, cvl_kernel &k) {
  const widths w = {c.int_elem, c.float_elem};
  if (!fused_copy_is_fit(k.op)) return false;
  for (uint32_t i = 0; i < fused_copy_kernels(k.op); i++) {
    k.copies.push_back({});
    variant &v = k.copies.back();
    if (fused_source_make_copy(k.op, i, w, "fused", &v.source)) find_planned(c, v);
    if (!v.is_complete()) return false;
  }
  return true;
}

static void make_tree(context &c, const superop *op, uint32_t first, fused_tree which,
                      variant &v) {
  v.made = true;
  const widths w = {c.int_elem, c.float_elem};
  if (fused_source_make_tree(op, first, which, w, "fused", &v.source)) find_kernel(c, v);
}

static void end_variant(context &c, variant &v) {
  if (v.code) c.kernels->tools.discard(v.code);
  if (v.source.memory) fused_source_free(&v.source);
}

static void end_kernels(context &c, cvl_kernel &k) {
  end_variant(c, k.whole);
  end_variant(c, k.written);
  for (combination_kernels &t : k.trees) {
    end_variant(c, t.up);
    end_variant(c, t.down);
  }
  for (variant &v : k.copies) end_variant(c, v);
}

/* The kernels of combinations; false if there are none for one of them. */
static bool make_trees(context &c, cvl_kernel &k) {
  const superop *op = k.op;
  bool good = true;
  for (uint32_t i = 0; i < op->node_count && good; i++) {
    if (op->nodes[i].role != ROLE_COLUMN || (i > 0 && op->nodes[i - 1].role == ROLE_COLUMN))
      continue;
    k.trees.push_back({i, {}, {}});
    combination_kernels &t = k.trees.back();
    make_tree(c, op, i, TREE_UP, t.up);
    good = t.up.has_kernel();
    if (op->nodes[superop_combination_at(op, i).ends].role != ROLE_COMBINE_SCAN) continue;
    make_tree(c, op, i, TREE_DOWN, t.down);
    good = good && t.down.has_kernel();
  }
  return good;
}

cvl_kernel *prepare_kernel(context &c, const superop *op) {
  if (!c.kernels) return nullptr;
  std::unique_ptr<cvl_kernel> k(new cvl_kernel{op, {}, {}});
  bool good = false;
  if (op->copies) {
    good = make_copies(c, *k);
  } else {
    make_variant(c, op, LEAVE_SPREADS, k->whole);
    good = superop_has_combinations(op) ? k->whole.is_complete() && make_trees(c, *k)
                                        : k->whole.has_kernel();
  }
  if (good) return k.release();
  end_kernels(c, *k);
  return nullptr;
}

void discard_kernel(context &c, cvl_kernel *k) {
  if (!c.work_queue.reached(k->last_run)) c.work_queue.finish();
  end_kernels(c, *k);
  delete k;
}

const superop *superop_of(const cvl_kernel *k) {
  return k->op;
}

namespace {

/* ---- a run ---- */

/* The kernels of a combination, ready to run. */
struct ready_tree {
  superop_combination at;
  const kernel_entry *up, *down;
};

/* A vector that is held. */
struct held_value {
  cvl_value v{};

  held_value() = default;
  held_value(const held_value &) = delete;
  held_value &operator=(const held_value &) = delete;
  ~held_value() {
    if (v.form == CVL_VECTOR) release(v.as.vector);
  }
};

/* What the lowest level of a combination gives inside of a kernel. */
struct lowest_level {
  column_memory totals, roots, out;
  std::vector<ref<cvl_vector>> results;
};

struct execution {
  context &c;
  const uint64_t site;
  const superop &op;
  std::vector<ready_tree> trees{};
  std::vector<cvl_value> values; /* by number; results that are set are held here */

  execution(context &ctx, uint64_t at, const superop &o, const cvl_value *operands)
      : c(ctx), site(at), op(o), values(o.value_count) {
    std::copy(operands, operands + op.param_count, values.begin());
  }
  ~execution() {
    for (uint32_t v = op.param_count; v < op.value_count; v++) drop(v);
  }
  execution(const execution &) = delete;
  execution &operator=(const execution &) = delete;

  bool is_small();
  bool has_short_segments();
  bool fits();
  void launch_kernel(const fused_kernel &, const kernel_entry &);
  bool launch_copies(const std::vector<variant> &, const std::vector<const kernel_entry *> &);
  void follow(const fused_kernel &);
  void give(cvl_value *outs);

private:
  int64_t domain();
  int64_t size_of(const superop_size &);
  int64_t positions(const fused_kernel &);
  void drop(uint32_t v);
  void finish_reductions(work &, const fused_kernel &, const segments &,
                         const std::vector<void *> &partials);
  ref<pending> unfit;
  void add_unfit(work &, arguments &);
  void add_tree_member(work &, const fused_member &, arguments &, std::vector<lowest_level> &);
  void finish_trees(work &, const fused_kernel &, std::vector<lowest_level> &);
  tree tree_of(work &, const ready_tree &, const segments &, int64_t longest) const;
  const cvl_value &identity(const ready_tree &, uint32_t column) const;
  void run_tree(const ready_tree &);
  void run_scan(work &, const ready_tree &, const column_memory &totals);
  void scatter_tree(const ready_tree &);
  void find_slots(const ready_tree &, held_value &);
  void run_node(uint32_t k);
  bool is_last_use(uint32_t v, uint32_t k) const;
  void run_scatter(uint32_t k);
};

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
  const bool slots = plan.by_slots;
  w.run({"superoperator", slots ? (count + plan.block_slots - 1) / plan.block_slots : count,
         slots ? (int32_t)plan.block_slots * WARP : 0, entry.kernel, entry.on_host, nullptr,
         a.bytes.data(), (uint32_t)a.bytes.size()});
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

/* ---- combinations ---- */

/* Positions have to fit an INT: of those that do not, superop_run reports the first. */
bool execution::fits() {
  if ((trees.empty() && !op.copies) || c.int_elem == CVL_I64) return true;
  int64_t most = domain();
  for (uint32_t p = 0; p < op.param_count; p++) {
    most = std::max(most, length_bound(values[p]));
    if (op.kinds[p] == SUPEROP_SEGDES) most = std::max(most, total_of(c, values[p]));
  }
  return most <= INT32_MAX;
}

tree execution::tree_of(work &w, const ready_tree &t, const segments &d,
                        int64_t longest) const {
  return {w, op, t.at, t.up, t.down, d, longest};
}

const cvl_value &execution::identity(const ready_tree &t, uint32_t column) const {
  const uint32_t v = op.nodes[t.at.ends + column].operands[2];
  uint32_t k = 0;
  if (v < op.param_count) return values[v];
  while (op.nodes[k].result != v || op.nodes[k].role != ROLE_CONST) k++;
  return op.nodes[k].constant;
}

void execution::add_tree_member(work &w, const fused_member &m, arguments &a,
                                std::vector<lowest_level> &lowest) {
  for (size_t i = 0; i < trees.size(); i++) {
    const uint32_t column = m.number - trees[i].at.ends;
    if (column >= trees[i].at.count) continue;
    tree t = tree_of(w, trees[i], w.view(values[op.segments]), 0);
    lowest_level &l = lowest[i];
    if (m.kind == MEMBER_TOTALS) {
      if (column == 0) l.totals = t.totals();
      a.add(l.totals[column]);
    } else if (m.kind == MEMBER_ROOTS) {
      if (column == 0) l.roots = t.roots();
      a.add(l.roots[column]);
    } else {
      if (column == 0) l.results = t.make(t.d.count);
      l.out = t.memory_of(l.results);
      a.add(l.out[column]);
    }
  }
}

/* The levels above those that were inside of a kernel. */
void execution::finish_trees(work &w, const fused_kernel &plan,
                             std::vector<lowest_level> &lowest) {
  for (size_t i = 0; i < trees.size(); i++) {
    const ready_tree &r = trees[i];
    lowest_level &l = lowest[i];
    if (plan.tasks[r.at.ends] != TASK_INSIDE) continue;
    if (op.nodes[r.at.ends].role == ROLE_COMBINE_SCAN) {
      run_scan(w, r, l.totals);
      continue;
    }
    const cvl_value &d = values[op.segments];
    tree_of(w, r, w.view(d), longest_segment(c, d)).finish_reduction(l.totals, l.roots, l.out);
    for (uint32_t k = 0; k < r.at.count; k++)
      w.give(&values[op.nodes[r.at.ends + k].result], l.results[k]);
  }
}

void execution::run_scan(work &w, const ready_tree &r, const column_memory &totals) {
  const cvl_value &d = values[op.segments];
  const bool exclusive = op.nodes[r.at.ends].op == SUPEROP_COMBINE_SCAN;
  tree t = tree_of(w, r, w.view(d), longest_segment(c, d));
  std::vector<cvl_value> columns, identities;
  for (uint32_t k = 0; k < r.at.count; k++) {
    columns.push_back(values[op.nodes[r.at.first + k].operands[0]]);
    if (exclusive) identities.push_back(identity(r, k));
  }
  const std::vector<ref<cvl_vector>> results = t.make(t.d.total);
  t.scan(columns.data(), exclusive ? identities.data() : nullptr, totals, t.memory_of(results));
  for (uint32_t k = 0; k < r.at.count; k++)
    w.give(&values[op.nodes[r.at.ends + k].result], results[k]);
}

/* A combination of what the kernel, if there was one, has written. */
void execution::run_tree(const ready_tree &r) {
  const superop_role role = (superop_role)op.nodes[r.at.ends].role;
  if (role == ROLE_COMBINE_SCATTER) {
    scatter_tree(r);
    return;
  }
  work w(c, site + r.at.ends, {}, INT64_MAX);
  if (role == ROLE_COMBINE_SCAN) {
    run_scan(w, r, {});
    return;
  }
  const cvl_value &d = values[op.segments];
  tree t = tree_of(w, r, w.view(d), longest_segment(c, d));
  std::vector<cvl_value> columns, identities;
  for (uint32_t k = 0; k < r.at.count; k++) {
    columns.push_back(values[op.nodes[r.at.first + k].operands[0]]);
    identities.push_back(identity(r, k));
  }
  const std::vector<ref<cvl_vector>> results = t.make(t.d.count);
  t.reduce(columns.data(), identities.data(), t.memory_of(results));
  for (uint32_t k = 0; k < r.at.count; k++)
    w.give(&values[op.nodes[r.at.ends + k].result], results[k]);
}

/* The position in the result of each element. Faults: INDEX. */
void execution::find_slots(const ready_tree &r, held_value &slots) {
  const superop_node &node = op.nodes[r.at.ends];
  const cvl_value first = cvl_scalar_int(c.int_elem, 0), step = cvl_scalar_int(c.int_elem, 1);
  const int64_t n = length_bound(values[node.operands[3]]);
  held_value numbers;
  index(c, site + r.at.ends, first, step, cvl_one_segment((uint64_t)n), &numbers.v);
  cvl_permute_args a{};
  a.op = OP_BPERMUTE;
  a.values = numbers.v;
  a.index = values[node.operands[2]];
  a.s = values[node.operands[5]];
  a.d = values[node.operands[4]];
  a.index.owned = a.s.owned = a.d.owned = 0;
  permute(c, site + r.at.ends, a, &slots.v);
}

void execution::scatter_tree(const ready_tree &r) {
  const superop_node &node = op.nodes[r.at.ends];
  const int64_t n = length_bound(values[node.operands[3]]), m = domain();
  held_value slots;
  find_slots(r, slots);
  work w(c, site + r.at.ends, {}, INT64_MAX);
  scatter_groups groups{};
  if (n > 0) groups = find_scatter_groups(w, slots.v, n, m);
  tree t = tree_of(w, r, groups.d, m + 1);
  const column_memory sorted = t.scratch(n + m);
  for (uint32_t k = 0; k < r.at.count && n > 0; k++) {
    merge_column(w, groups, t.elem(k), n, values[op.nodes[r.at.ends + k].operands[3]],
                 values[op.nodes[r.at.first + k].operands[0]], sorted[k]);
  }
  const std::vector<ref<cvl_vector>> results = t.make(n);
  t.reduce(sorted, t.memory_of(results));
  for (uint32_t k = 0; k < r.at.count; k++)
    w.give(&values[op.nodes[r.at.ends + k].result], results[k]);
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

void execution::follow(const fused_kernel &plan) {
  for (uint32_t k = 0; k < op.node_count; k++) {
    const superop_node &node = op.nodes[k];
    if (node.role == ROLE_CONST) values[node.result] = node.constant;
    if (plan.tasks[k] == TASK_LIBRARY || plan.spread[node.result]) run_node(k);
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

} // namespace

/* The kernel if it can be run now, or null. */
static const kernel_entry *entry_of(context &c, variant &v) {
  if (!v.code) return v.has_kernel() ? &v.ready : nullptr;
  const auto asked = [&c] { return c.stop.asks && c.stop.asks(c.stop.with); };
  compiler &tools = c.kernels->tools;
  return c.kernels->waits ? tools.wait(v.code, asked) : tools.poll(v.code);
}

/* Whether all kernels of combinations can be run now. */
static bool find_trees(context &c, cvl_kernel &k, execution &e) {
  for (combination_kernels &t : k.trees) {
    const superop_combination at = superop_combination_at(k.op, t.first);
    const ready_tree r = {at, entry_of(c, t.up), t.down.made ? entry_of(c, t.down) : nullptr};
    if (!r.up || (t.down.made && !r.down)) return false;
    e.trees.push_back(r);
  }
  return true;
}

static bool run_copies(context &c, cvl_kernel &k, execution &e, cvl_value *outs) {
  std::vector<const kernel_entry *> entries;
  if (e.is_small() || !e.fits()) return false;
  for (variant &v : k.copies) {
    entries.push_back(entry_of(c, v));
    if (!v.source.kernel.is_empty && !entries.back()) return false;
  }
  const bool done = e.launch_copies(k.copies, entries);
  k.last_run = c.work_queue.epoch;
  if (done) e.give(outs);
  return done;
}

bool run_kernel(context &c, uint64_t site, cvl_kernel *k, const cvl_value *operands,
                cvl_value *outs) {
  execution e(c, site, *k->op, operands);
  if (k->op->copies) return run_copies(c, *k, e, outs);
  if (e.is_small() || !find_trees(c, *k, e) || !e.fits()) return false;
  const fused_kernel &plan = k->whole.source.kernel;
  const bool leave = plan.by_slots && k->trees.empty() && e.has_short_segments();
  variant &v = leave ? k->written : k->whole;
  if (!v.made) make_variant(c, k->op, LEAVE_SPREADS | LEAVE_REDUCTIONS, v);
  if (!v.is_complete()) return false;
  const bool launches = !v.source.kernel.is_empty;
  const kernel_entry *entry = launches ? entry_of(c, v) : nullptr;
  if (launches && entry == nullptr) return false;
  if (launches) e.launch_kernel(v.source.kernel, *entry);
  k->last_run = c.work_queue.epoch; /* the window it is in; a later one if that was full */
  e.follow(v.source.kernel);
  if (!e.trees.empty()) k->last_run = c.work_queue.epoch;
  e.give(outs);
  return true;
}

} // namespace ravel
