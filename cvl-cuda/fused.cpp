/* fused.cpp - superoperators as kernels compiled at run time.
 *
 * A kernel evaluates the elementwise nodes and the lowest level of reductions; if segments are
 * short, that is all of a reduction (fused-kernels/emit-kernel.h). Its plan says what it takes
 * and what it leaves over. The library does the rest on what the kernel has written: it
 * finishes reductions, and runs some scans and scatters as operations. PACKs are inside, in one
 * pass. The library also makes DISTs and INDEXes that are needed outside; it computes nothing
 * for them. Combinations have kernels of their own for the levels of their trees:
 * fused-tree.hpp.
 */
#include "cvl-cuda/fused.hpp"

#include <stdlib.h>

#include <algorithm>
#include <map>

#include "cvl-cuda/fused-run.hpp"

namespace ravel {

/* The kernels of the combination that begins with node `first`. */
struct combination_kernels {
  uint32_t first;
  variant up, down; /* down: only for scans */
};

/* The kernels of a scan that computes its operand; they are made when they are first needed. */
struct scan_kernels {
  unsigned leave;
  variant usual, longer;
};

} // namespace ravel

struct cvl_kernel {
  const superop *op;
  ravel::variant whole;           /* for long segments, or without reductions */
  ravel::variant short_segments;  /* for short segments */
  ravel::variant packs{};         /* the kernel of PACKs, if they have one of their own */
  unsigned leave = LEAVE_NOTHING; /* fused_kernels: what `whole` leaves over */
  std::vector<ravel::scan_kernels> scans{};
  std::vector<ravel::variant> scatters{}; /* one for each group, or two: the first one claims */
  std::vector<ravel::variant> loops{};
  std::vector<ravel::combination_kernels> trees{};
  std::vector<ravel::variant> copies{}; /* made by fused_copy_kernels */
  bool planned = false;                 /* its kernels exist and are made */
  bool requested = false;               /* those that were made are requested */
  uint64_t last_run = 0;                /* epoch of the last launch */
};

namespace ravel {

/* The limit of bytes of a kernel's arguments: that of the oldest devices and compilers in use,
 * minus what is added to every launch. */
enum { MOST_ARGUMENT_BYTES = 4000 };

/* ---- kernels of a context ---- */

struct kernel_store {
  compiler tools;
  bool waits;
  bool compiles;                      /* compiles what is not in the module */
  std::vector<cvl_kernel *> prepared; /* and not requested yet */

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
  s->loads_while(store->tools.under_way());
  store->tools.gives_up_when([stop = o.stop] { return stop.asks && stop.asks(stop.with); });
  if (o.kernels) store->tools.use_module(o.kernels);
  return store;
}

/* Returns the bytes of the arguments, to which `arguments` below will add up. */
static size_t fused_argument_bytes(const fused_kernel &k) {
  size_t bytes = sizeof(faults) + sizeof(int64_t);
  for (uint32_t i = 0; i < k.member_count; i++) {
    switch ((fused_member_kind)k.members[i].kind) {
    case MEMBER_OPERAND: bytes += sizeof(operand<int64_t>); break; /* the largest one */
    case MEMBER_SEGMENTS:
    case MEMBER_SCATTER:
    case MEMBER_LOOP:
    case MEMBER_PACKING: bytes += sizeof(segments); break; /* the largest of these */
    case MEMBER_WRITTEN:
    case MEMBER_PARTIALS:
    case MEMBER_TOTALS:
    case MEMBER_ROOTS:
    case MEMBER_RESULTS:
    case MEMBER_TILES:
    case MEMBER_KEPT:
    case MEMBER_MOVED:
    case MEMBER_CARRIED:
    case MEMBER_UNFIT: bytes += sizeof(void *); break;
    }
  }
  return bytes;
}

static void find_kernel(context &c, variant &v) {
  v.compiles = !c.kernels->tools.in_module(v.source.key, v.ready) && c.kernels->compiles;
}

/* Finds the kernel of a source that was made, unless the source is empty. */
static void find_planned(context &c, variant &v) {
  const fused_kernel &plan = v.source.kernel;
  if (!plan.is_empty && fused_argument_bytes(plan) <= MOST_ARGUMENT_BYTES) find_kernel(c, v);
}

static void make_variant(context &c, const superop *op, unsigned leave, variant &v) {
  v.made = true;
  const widths w = {c.int_elem, c.float_elem};
  if (fused_source_make(op, w, leave, &c.tuning, "fused", &v.source)) find_planned(c, v);
}

/* Makes the kernels of copies. Returns false if one of them is missing. */
static bool make_copies(context &c, cvl_kernel &k) {
  const widths w = {c.int_elem, c.float_elem};
  if (!fused_copy_is_fit(k.op)) return false;
  for (uint32_t i = 0; i < fused_copy_kernels(k.op); i++) {
    k.copies.push_back({});
    variant &v = k.copies.back();
    if (fused_source_make_copy(k.op, i, w, &c.tuning, "fused", &v.source)) find_planned(c, v);
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
  end_variant(c, k.packs);
  end_variant(c, k.short_segments);
  for (scan_kernels &s : k.scans) {
    end_variant(c, s.usual);
    end_variant(c, s.longer);
  }
  for (variant &v : k.scatters) end_variant(c, v);
  for (variant &v : k.loops) end_variant(c, v);
  for (combination_kernels &t : k.trees) {
    end_variant(c, t.up);
    end_variant(c, t.down);
  }
  for (variant &v : k.copies) end_variant(c, v);
}

/* Makes the kernels of combinations. Returns false if there are none for one of them. */
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

/* Makes all kernels, except those that are made when they are needed. */
static void make_kernels(context &c, cvl_kernel &k) {
  unsigned leave[FUSED_KERNELS];
  const uint32_t kernels = fused_kernels(k.op, leave);
  k.leave = leave[0];
  make_variant(c, k.op, LEAVE_SPREADS | k.leave, k.whole);
  for (uint32_t i = 1; i < kernels; i++) {
    if (leave[i] & SCAN_BIT) {
      k.scans.push_back({leave[i], {}, {}});
      continue;
    }
    if (leave[i] & SCATTER_BIT) k.scatters.push_back({});
    if (leave[i] & LOOP_BIT) k.loops.push_back({});
    variant &v = leave[i] & SCATTER_BIT ? k.scatters.back()
                 : leave[i] & LOOP_BIT  ? k.loops.back()
                                        : k.packs;
    make_variant(c, k.op, LEAVE_SPREADS | leave[i], v);
  }
}

/* Returns whether every loop has its kernel. */
static bool has_loops(const cvl_kernel &k) {
  return std::all_of(k.loops.begin(), k.loops.end(),
                     [](const variant &v) { return v.has_kernel(); });
}

static bool has_kernels(const cvl_kernel &k) {
  return k.whole.has_kernel() || k.packs.has_kernel() || !k.scans.empty() ||
         !k.scatters.empty() || !k.loops.empty();
}

/* ---- modules ---- */

/* Requests kernels of different texts as one module. */
static void request_module(context &c, variant *const *of, size_t count) {
  std::vector<const fused_source *> sources;
  std::vector<std::string> keys;
  for (size_t k = 0; k < count; k++) {
    sources.push_back(&of[k]->source);
    keys.push_back(of[k]->source.key);
  }
  const std::unique_ptr<char, void (*)(void *)> text(
      fused_module_text(sources.data(), (uint32_t)count), ::free);
  compilation *code = text ? c.kernels->tools.request(text.get(), keys) : nullptr;
  for (size_t k = 0; k < count; k++) {
    of[k]->compiles = code != nullptr;
    of[k]->code = code;
    of[k]->number = k;
    if (code && k > 0) c.kernels->tools.retain(code);
  }
}

/* Two superoperators may differ only in what a kernel does not see: they share a kernel. */
static void join_module(context &c, variant &v, const variant &same) {
  v.compiles = same.compiles;
  v.code = same.code;
  v.number = same.number;
  if (v.code) c.kernels->tools.retain(v.code);
}

static void request_variants(context &c, const std::vector<variant *> &all) {
  const size_t most = c.tuning.value[TUNE_CUDA_MODULE_KERNELS];
  std::map<std::string, variant *> first;
  std::vector<variant *> distinct;
  for (variant *v : all) {
    if (first.emplace(v->source.key, v).second) distinct.push_back(v);
  }
  for (size_t k = 0; k < distinct.size(); k += most)
    request_module(c, &distinct[k], std::min(most, distinct.size() - k));
  for (variant *v : all) {
    const variant *same = first[v->source.key];
    if (v != same) join_module(c, *v, *same);
  }
}

/* Adds the kernels of a superoperator that are made but in no module yet. */
static void add_variants(cvl_kernel &k, std::vector<variant *> &all) {
  const auto add = [&all](variant &v) {
    if (v.compiles && !v.code) all.push_back(&v);
  };
  add(k.whole);
  add(k.packs);
  add(k.short_segments);
  for (scan_kernels &s : k.scans) {
    add(s.usual);
    add(s.longer);
  }
  for (variant &v : k.scatters) add(v);
  for (variant &v : k.loops) add(v);
  for (combination_kernels &t : k.trees) {
    add(t.up);
    add(t.down);
  }
  for (variant &v : k.copies) add(v);
}

static void make_scan(context &c, const cvl_kernel &k, variant &v, unsigned leave) {
  if (!v.made) make_variant(c, k.op, LEAVE_SPREADS | leave, v);
}

static void make_short_segments(context &c, cvl_kernel &k) {
  if (!k.short_segments.made)
    make_variant(c, k.op, LEAVE_SPREADS | SHORT_SEGMENTS | k.leave, k.short_segments);
}

static bool may_have_short_segments(const cvl_kernel &k) {
  return k.whole.source.kernel.by_slots && k.trees.empty();
}

/* Makes the kernels that are otherwise made when they are needed. */
static void make_the_rest(context &c, cvl_kernel &k) {
  for (scan_kernels &s : k.scans) {
    make_scan(c, k, s.usual, s.leave);
    make_scan(c, k, s.longer, s.leave | SCAN_LONG);
  }
  if (may_have_short_segments(k)) make_short_segments(c, k);
}

static void forget_prepared(context &c, const cvl_kernel *k) {
  std::vector<cvl_kernel *> &p = c.kernels->prepared;
  p.erase(std::remove(p.begin(), p.end(), k), p.end());
}

/* Plans the kernels. Returns false if there are none; nothing is left of them then. */
static bool fused_plan(context &c, cvl_kernel &k) {
  if (k.op->copies) {
    k.planned = make_copies(c, k);
  } else {
    make_kernels(c, k);
    k.planned = has_loops(k) &&
                (superop_has_combinations(k.op) ? k.whole.is_complete() && make_trees(c, k)
                                                : has_kernels(k));
  }
  if (k.planned) return true;
  end_kernels(c, k);
  k = cvl_kernel{k.op, {}, {}};
  return false;
}

static void request_kernels(context &c, cvl_kernel &k) {
  std::vector<variant *> all;
  if (k.requested) return;
  if (k.planned || fused_plan(c, k)) add_variants(k, all);
  request_variants(c, all);
  k.requested = true;
  forget_prepared(c, &k);
}

void request_prepared(context &c) {
  std::vector<variant *> all;
  if (!c.kernels || !c.device_faults) return;
  for (cvl_kernel *k : c.kernels->prepared) {
    if (!k->planned && !fused_plan(c, *k)) continue;
    make_the_rest(c, *k);
    add_variants(*k, all);
  }
  request_variants(c, all);
  for (cvl_kernel *k : c.kernels->prepared) k->requested = true;
  c.kernels->prepared.clear();
  c.kernels->tools.settle_found();
}

/* ---- preparing ---- */

/* Nothing is planned for a device that is not open yet: it may never be opened. */
cvl_kernel *prepare_kernel(context &c, const superop *op) {
  if (!c.kernels || fused_has_too_many_loops(op)) return nullptr;
  std::unique_ptr<cvl_kernel> k(new cvl_kernel{op, {}, {}});
  if (c.is_open && !fused_plan(c, *k)) return nullptr;
  c.kernels->prepared.push_back(k.get());
  return k.release();
}

void discard_kernel(context &c, cvl_kernel *k) {
  if (!c.work_queue.reached(k->last_run)) c.work_queue.finish();
  forget_prepared(c, k);
  end_kernels(c, *k);
  delete k;
}

const superop *superop_of(const cvl_kernel *k) {
  return k->op;
}
/* Returns the kernel if it can run now, else null. */
static const kernel_entry *fused_entry_of(context &c, variant &v) {
  variant *one = &v;
  if (v.compiles && !v.code) request_module(c, &one, 1);
  if (!v.code) return v.has_kernel() ? &v.ready : nullptr;
  compiler &tools = c.kernels->tools;
  return c.kernels->waits ? tools.wait(v.code, v.number) : tools.poll(v.code, v.number);
}

/* Returns whether all kernels of combinations can run now. */
static bool find_trees(context &c, cvl_kernel &k, execution &e) {
  for (combination_kernels &t : k.trees) {
    const superop_combination at = superop_combination_at(k.op, t.first);
    const ready_tree r = {at, fused_entry_of(c, t.up),
                          t.down.made ? fused_entry_of(c, t.down) : nullptr};
    if (!r.up || (t.down.made && !r.down)) return false;
    e.trees.push_back(r);
  }
  return true;
}

static bool run_copies(context &c, cvl_kernel &k, execution &e, cvl_value *outs) {
  std::vector<const kernel_entry *> entries;
  if (!k.planned || !e.fits()) return false;
  for (variant &v : k.copies) {
    entries.push_back(fused_entry_of(c, v));
    if (!v.source.kernel.is_empty && !entries.back()) return false;
  }
  const bool done = e.launch_copies(k.copies, entries);
  k.last_run = c.work_queue.epoch;
  if (done) e.give(outs);
  return done;
}

/* Returns whether a variant can run now, and gives its kernel: null if there is nothing to
 * do. */
static bool find_entry(context &c, variant &v, const kernel_entry *&entry) {
  entry = nullptr;
  if (!v.is_complete()) return false;
  if (!v.source.kernel.is_empty) entry = fused_entry_of(c, v);
  return v.source.kernel.is_empty || entry;
}

/* The kernels of a scan, ready to run. */
struct ready_scan {
  const fused_kernel *plan;
  const kernel_entry *usual, *longer;
};

static bool find_scan(context &c, const cvl_kernel &k, variant &v, unsigned leave,
                      bool is_needed, ready_scan &r, const kernel_entry *&entry) {
  entry = nullptr;
  if (!is_needed) return true;
  make_scan(c, k, v, leave);
  r.plan = &v.source.kernel;
  return find_entry(c, v, entry) && entry;
}

/* Returns whether all scans can run now. */
static bool find_scans(context &c, cvl_kernel &k, execution &e,
                       std::vector<ready_scan> &ready) {
  bool good = true;
  for (scan_kernels &s : k.scans) {
    ready_scan r{};
    good = find_scan(c, k, s.usual, s.leave, e.has_rows(), r, r.usual) && good;
    good = find_scan(c, k, s.longer, s.leave | SCAN_LONG, e.has_chunks(), r, r.longer) && good;
    ready.push_back(r);
  }
  return good;
}

/* Returns whether all scatters can run now. */
static bool fused_find_scatters(context &c, cvl_kernel &k, execution &e,
                                std::vector<const kernel_entry *> &entries) {
  bool good = k.scatters.empty() || e.may_claim();
  for (variant &v : k.scatters) {
    const kernel_entry *entry;
    good = find_entry(c, v, entry) && entry && good;
    entries.push_back(entry);
  }
  return good;
}

static void launch_scatters(execution &e, const cvl_kernel &k,
                            const std::vector<const kernel_entry *> &entries) {
  ref<cvl_vector> claims;
  for (size_t i = 0; i < entries.size(); i++) {
    const fused_kernel &plan = k.scatters[i].source.kernel;
    e.launch_scatter(plan, *entries[i], claims);
    if (!plan.claims) claims = {};
  }
}

static bool find_loops(context &c, cvl_kernel &k, std::vector<const kernel_entry *> &entries) {
  bool good = true;
  for (variant &v : k.loops) {
    entries.push_back(fused_entry_of(c, v));
    good = entries.back() && good;
  }
  return good;
}

static bool launch_loops(execution &e, const cvl_kernel &k,
                         const std::vector<const kernel_entry *> &entries) {
  bool good = true;
  for (size_t i = 0; i < entries.size() && good; i++)
    good = e.launch_loop(k.loops[i].source.kernel, *entries[i]);
  return good;
}

/* Launches the kernels of loops, those that pack, scan and scatter, if any, and the rest.
 * Returns false if the nodes are to be executed one by one. */
static bool launch_all(context &c, execution &e, cvl_kernel &k, variant &v, bool *overwrites) {
  const kernel_entry *entry, *packing = nullptr;
  const fused_kernel &plan = v.source.kernel;
  std::vector<ready_scan> scans;
  std::vector<const kernel_entry *> loops, scatters;
  const bool good = find_loops(c, k, loops) && find_scans(c, k, e, scans);
  if (!fused_find_scatters(c, k, e, scatters) || !good || !find_entry(c, v, entry) ||
      (k.packs.made && !find_entry(c, k.packs, packing)))
    return false;
  if (!launch_loops(e, k, loops)) return false;
  if (packing && !e.launch_packs(k.packs.source.kernel, *packing)) return false;
  if (plan.by_packs && !e.launch_packs(plan, *entry)) return false;
  for (const ready_scan &s : scans) e.launch_scan(*s.plan, s.usual, s.longer);
  *overwrites = !scatters.empty();
  launch_scatters(e, k, scatters);
  if (entry && !plan.by_packs) e.launch_kernel(plan, *entry);
  return true;
}

/* Returns BOUNDED, or EXACT for kernels of copies, of stencils and of combinations: they must
 * know how many elements there are. */
static operand_lengths lengths_for(const cvl_kernel &k) {
  const bool exact = k.op->copies || !k.trees.empty() || !k.scans.empty() ||
                     !k.scatters.empty() || !k.loops.empty() || k.packs.made ||
                     k.whole.source.kernel.by_packs ||
                     k.whole.source.kernel.block_positions > 0;
  return exact ? operand_lengths::EXACT : operand_lengths::BOUNDED;
}

/* Runs the superoperator once. `*overwrites` says that scatters or operations follow, which may
 * overwrite operands. */
static bool fused_run_with(context &c, uint64_t site, cvl_kernel *k, const cvl_value *operands,
                           operand_lengths lengths, cvl_value *outs, bool *overwrites) {
  execution e(c, site, *k->op, operands, lengths);
  if (e.is_small()) return false;
  request_kernels(c, *k);
  if (k->op->copies) return run_copies(c, *k, e, outs);
  if (!k->planned || !find_trees(c, *k, e) || !e.fits()) return false;
  const bool by_groups = may_have_short_segments(*k) && e.has_short_segments();
  if (by_groups) make_short_segments(c, *k);
  variant &v = by_groups ? k->short_segments : k->whole;
  if (!launch_all(c, e, *k, v, overwrites)) return false;
  k->last_run = c.work_queue.epoch; /* its window, or a later one if that was full */
  *overwrites = true;
  e.follow(v.source.kernel);
  if (!e.trees.empty()) k->last_run = c.work_queue.epoch;
  e.give(outs);
  return true;
}

bool run_kernel(context &c, uint64_t site, cvl_kernel *k, const cvl_value *operands,
                cvl_value *outs) {
  bool overwrites = false;
  try {
    return fused_run_with(c, site, k, operands, lengths_for(*k), outs, &overwrites);
  } catch (const failure &f) { /* memory: perhaps too little for bounds only */
    if (f.error.kind != CVL_E_MEMORY || c.outstanding.empty() || overwrites) throw;
  }
  finish(c);
  return fused_run_with(c, site, k, operands, operand_lengths::EXACT, outs, &overwrites);
}

} // namespace ravel
