/* fused.cpp - superoperators as kernels compiled at run time.
 *
 * A kernel evaluates what is elementwise and the lowest level of reductions
 * (fused-kernels/emit-kernel.h); its plan says what it takes and what it leaves over. That is
 * done by the library, on what the kernel has written: reductions are finished, and scans,
 * packs and scatters run as operations. DIST and INDEX that are needed outside are given to the
 * library too, which computes nothing for them.
 */
#include "cvl-cuda/fused.hpp"

#include <string.h>

#include "cvl-cuda/compiler.hpp"
#include "cvl-cuda/ops.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#include "cvl/superop.h"
#include "fused-kernels/emit-kernel.h"
}
#pragma GCC diagnostic pop

namespace ravel {

/* One of the kernels that a superoperator may run by. */
struct variant {
  fused_source source{};
  bool made = false;
  kernel_entry ready; /* compiled ahead of time, or empty */
  compilation *code =
      nullptr; /* else; null: there is nothing for a kernel to do, or no kernel */

  bool has_kernel() const { return code || ready.kernel || ready.on_host; }
};

} // namespace ravel

struct cvl_kernel {
  const superop *op;
  ravel::variant whole;   /* reduces too; for long segments */
  ravel::variant written; /* leaves reductions to the library; for short ones */
  uint64_t last_run;      /* epoch of the last launch */
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
    case MEMBER_PARTIALS: bytes += sizeof(void *); break;
    }
  }
  return bytes;
}

static void make_variant(context &c, const superop *op, unsigned leave, variant &v) {
  v.made = true;
  if (!fused_source_make(op, {c.int_elem, c.float_elem}, leave, "fused", &v.source)) return;
  const fused_kernel &plan = v.source.kernel;
  if (plan.is_empty || argument_bytes(plan) > MOST_ARGUMENT_BYTES) return;
  if (c.kernels->tools.in_module(v.source.key, v.ready) || !c.kernels->compiles) return;
  v.code = c.kernels->tools.request(v.source.text, "fused");
}

static void end_variant(context &c, variant &v) {
  if (v.code) c.kernels->tools.discard(v.code);
  if (v.source.memory) fused_source_free(&v.source);
}

cvl_kernel *prepare_kernel(context &c, const superop *op) {
  if (!c.kernels) return nullptr;
  std::unique_ptr<cvl_kernel> k(new cvl_kernel{op, {}, {}, 0});
  make_variant(c, op, LEAVE_SPREADS, k->whole);
  if (k->whole.has_kernel()) return k.release();
  end_variant(c, k->whole);
  return nullptr;
}

void discard_kernel(context &c, cvl_kernel *k) {
  if (!c.work_queue.reached(k->last_run)) c.work_queue.finish();
  end_variant(c, k->whole);
  end_variant(c, k->written);
  delete k;
}

const superop *superop_of(const cvl_kernel *k) {
  return k->op;
}

namespace {

/* ---- arguments, as the text of kernels lays them out ---- */

/* Pointers have one layout, whether plain, as in that text on most devices, or not. */
struct arguments {
  std::vector<char> bytes;

  template <class M> void add(const M &member) {
    static_assert(std::is_trivially_copyable<M>::value, "copied as bytes");
    const size_t at = (bytes.size() + 7) / 8 * 8;
    bytes.resize(at + sizeof member);
    memcpy(&bytes[at], &member, sizeof member);
  }
};

/* ---- a run ---- */

struct execution {
  context &c;
  const uint64_t site;
  const superop &op;
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
  void launch_kernel(const fused_kernel &, const kernel_entry &);
  void follow(const fused_kernel &);
  void give(cvl_value *outs);

private:
  int64_t domain();
  void drop(uint32_t v);
  void finish_reductions(work &, const fused_kernel &, const segments &,
                         const std::vector<void *> &partials);
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

int64_t execution::domain() {
  if (op.domain.what == SIZE_ONE) return 1;
  const cvl_value &v = values[op.domain.param];
  return op.domain.what == SIZE_TOTAL ? total_of(c, v) : length_bound(v);
}

void execution::launch_kernel(const fused_kernel &plan, const kernel_entry &entry) {
  work w(c, site, {}, INT64_MAX); /* on the device */
  arguments a;
  const int64_t n = domain();
  segments slotted{};
  int64_t count = n;
  if (plan.by_slots) {
    slotted = w.view(values[op.segments]);
    count = slot_count(slotted.total, slotted.count, CVL_REDUCE_BLOCK);
  }
  std::vector<void *> partials(op.node_count);
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
    }
  }
  a.add(w.bad());
  a.add(count);
  const bool slots = plan.by_slots;
  w.run({"superoperator", slots ? (count + FUSED_BLOCK_SLOTS - 1) / FUSED_BLOCK_SLOTS : count,
         slots ? FUSED_BLOCK_SLOTS * WARP : 0, entry.kernel, entry.on_host, nullptr,
         a.bytes.data(), (uint32_t)a.bytes.size()});
  finish_reductions(w, plan, slotted, partials);
  for (uint32_t v = 0; v < op.value_count; v++) {
    if (written[v]) w.give(&values[v], written[v]);
  }
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

bool run_kernel(context &c, uint64_t site, cvl_kernel *k, const cvl_value *operands,
                cvl_value *outs) {
  kernel_store &store = *c.kernels;
  execution e(c, site, *k->op, operands);
  if (e.is_small()) return false;
  const bool leave = k->whole.source.kernel.by_slots && e.has_short_segments();
  variant &v = leave ? k->written : k->whole;
  if (!v.made) make_variant(c, k->op, LEAVE_SPREADS | LEAVE_REDUCTIONS, v);
  if (!v.has_kernel()) return false;
  const kernel_entry *entry = &v.ready;
  const auto asked = [&c] { return c.stop.asks && c.stop.asks(c.stop.with); };
  if (v.code) entry = store.waits ? store.tools.wait(v.code, asked) : store.tools.poll(v.code);
  if (entry == nullptr) return false;
  e.launch_kernel(v.source.kernel, *entry);
  k->last_run = c.work_queue.epoch; /* the window it is in; a later one if that was full */
  e.follow(v.source.kernel);
  e.give(outs);
  return true;
}

} // namespace ravel
