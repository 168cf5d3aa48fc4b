/* fused-run.hpp - one run of a superoperator by kernels that are ready. Private to fused*.cpp.
 */
#ifndef RAVEL_CUDA_FUSED_RUN_HPP
#define RAVEL_CUDA_FUSED_RUN_HPP

#include "cvl-cuda/compiler.hpp"
#include "cvl-cuda/fused-tree.hpp"

namespace ravel {

/* One of the kernels by which a superoperator may run. */
struct variant {
  fused_source source{};
  bool made = false;
  kernel_entry ready;          /* compiled ahead of time, or empty */
  bool compiles = false;       /* else: the kernel is in a module, once that is requested */
  compilation *code = nullptr; /* the module */
  size_t number = 0;           /* its number in the module */

  bool has_kernel() const { return compiles || ready.kernel || ready.on_host; }
  /* Returns whether nothing is missing. */
  bool is_complete() const { return has_kernel() || (source.memory && source.kernel.is_empty); }
};
/* The kernels of a combination, ready to run. */
struct ready_tree {
  superop_combination at;
  const kernel_entry *up, *down;
};

/* A vector that is held while this exists. */
struct held_value {
  cvl_value v{};

  held_value() = default;
  held_value(const held_value &) = delete;
  held_value &operator=(const held_value &) = delete;
  ~held_value() {
    if (v.form == CVL_VECTOR) release(v.as.vector);
  }
};

/* The partial results of a combination whose lowest level is inside a kernel. */
struct lowest_level {
  column_memory totals, roots, out;
  std::vector<ref<cvl_vector>> results;
};

/* Three structs of PACKs in a kernel: what PACKs by the same flags share; the result of one
 * PACK; and all PACKs of a kernel. */
struct packed_list {
  uint32_t flags;
  ref<cvl_segdes> d;
  ref<deferred> kept;
};
struct packed_result {
  uint32_t node;
  ref<cvl_vector> kept;
};
struct packs {
  publication published{}; /* `cells` for each list; 0 if there is one tile */
  int64_t cells = 0;
  std::vector<packed_list> lists;
  std::vector<packed_result> results;

  const packed_list &of(uint32_t flags) const;
};

/* A result of a scatter. */
struct scattered {
  uint32_t node;
  ref<cvl_vector> vector;
};
struct scattering;

/* The memory of a loop between its launches: by member of its kernel, results and carried
 * values; and for each position whether it goes on. */
struct loop_memory {
  std::vector<ref<cvl_vector>> of;
  ref<cvl_vector> on;
};
/* What one of its launches may do. */
struct loop_turn {
  int64_t rounds;
  bool resumes;
};

/* How a kernel is launched. */
struct kernel_grid {
  int64_t blocks = 0; /* blocks of a cooperative kernel; else threads */
  int32_t threads = 0;
  int64_t n = 0;     /* the kernel's argument n: emit-kernel.h */
  int64_t slots = 0; /* number of partial results */
  int64_t longest = 0;
  segments d{}; /* for reductions */
};

struct execution {
  context &c;
  const uint64_t site;
  const superop &op;
  const operand_lengths lengths;
  std::vector<ready_tree> trees{};
  std::vector<cvl_value> values; /* by value number; results that are set are held here */

  execution(context &ctx, uint64_t at, const superop &o, const cvl_value *operands,
            operand_lengths of)
      : c(ctx), site(at), op(o), lengths(of), values(o.value_count) {
    std::copy(operands, operands + op.param_count, values.begin());
    for (uint32_t k = 0; k < op.node_count; k++) {
      if (op.nodes[k].role == ROLE_CONST) values[op.nodes[k].result] = op.nodes[k].constant;
    }
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
  /* Launches a kernel that packs. Returns false and does nothing if it cannot be run. */
  bool launch_packs(const fused_kernel &, const kernel_entry &);
  /* has_chunks returns whether there may be segments longer than a chunk of a scan, has_rows
   * whether there may be shorter ones. */
  bool has_chunks();
  bool has_rows();
  /* Launches the kernels of a scan: `usual` for short segments, `longer` for long ones. Each is
   * null if there are no such segments. */
  void launch_scan(const fused_kernel &, const kernel_entry *usual, const kernel_entry *longer);
  /* may_claim returns whether kernels can scatter so many sources. launch_scatter launches one
   * of a group of scatters; `claims` are those of the one before it, or null. */
  bool may_claim();
  void launch_scatter(const fused_kernel &, const kernel_entry &, ref<cvl_vector> &claims);
  /* Launches the kernel of a loop until all positions have finished. Returns false if a node
   * before the loop is at fault. superop_run then finds out which is the first. */
  bool launch_loop(const fused_kernel &, const kernel_entry &);
  bool launch_copies(const std::vector<variant> &, const std::vector<const kernel_entry *> &);
  void follow(const fused_kernel &);
  void give(cvl_value *outs);

private:
  bool is_bounded(const cvl_value &);
  int64_t total_bound(const cvl_value &d);
  ref<deferred> domain_later();
  const cvl_value *known_operand(uint32_t v) const;
  void note_sum(uint32_t v, cvl_vector &result) const;
  int64_t domain();
  int64_t size_of(const superop_size &);
  int64_t positions(const fused_kernel &);
  void drop(uint32_t v);
  void finish_reductions(work &, const fused_kernel &, const segments &,
                         const std::vector<void *> &partials, uint64_t after);
  void give_results(work &, const fused_kernel &, const kernel_grid &,
                    const std::vector<void *> &partials, uint64_t after,
                    const std::vector<ref<cvl_vector>> &results);
  kernel_grid grid_of(work &, const fused_kernel &);
  kernel_grid groups_of(const fused_kernel &, const segments &, int64_t longest);
  loop_memory memory_of_loop(const fused_kernel &);
  ref<deferred> launch_rounds(const fused_kernel &, const kernel_entry &, const loop_memory &,
                              const loop_turn &);
  bool is_sound() const;
  void give_loop(const fused_kernel &, const loop_memory &);
  ref<deferred> unfit;
  void add_unfit(work &, arguments &);
  void add_tree_member(work &, const fused_member &, arguments &, std::vector<lowest_level> &);
  void finish_trees(work &, const fused_kernel &, std::vector<lowest_level> &);
  void add_tiles(work &, const fused_kernel &, arguments &, packs &);
  void add_list(work &, const fused_member &, arguments &, packs &);
  void add_kept(work &, const fused_member &, arguments &, packs &);
  void add_operands(work &, const fused_kernel &, arguments &);
  bool is_only_use(uint32_t v) const;
  int64_t scattered_length(const fused_kernel &);
  ref<cvl_vector> make_scattered(work &, uint32_t k, int64_t n, bool &keeps);
  void add_moved(work &, const fused_kernel &, arguments &, scattering &,
                 std::vector<scattered> &results);
  void give_packed(work &, const packs &);
  tree tree_of(work &, const ready_tree &, const segments &, int64_t longest) const;
  const cvl_value &identity(const ready_tree &, uint32_t column) const;
  void run_tree(const ready_tree &);
  void run_scan(work &, const ready_tree &, const column_memory &totals);
  void scatter_tree(const ready_tree &);
  void find_slots(const ready_tree &, held_value &);
  void run_node(uint32_t k);
  void make_spread(const fused_kernel &, uint32_t v);
  bool is_last_use(uint32_t v, uint32_t k) const;
  void run_scatter(uint32_t k);
};

} // namespace ravel
#endif
