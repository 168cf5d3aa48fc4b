/* fused-loops.cpp - the kernels of loops (fused-kernels/emit-kernel-loop.c). A launch executes
 * so many rounds of each position that the host can ask in between whether to stop, and that a
 * display is not kept waiting. A kernel that has positions left over is launched again.
 *
 * The host waits for each launch, and learns by one number whether positions go on. Launches of
 * all loops have numbers of their own, so that nobody need clear it.
 */
#include <algorithm>

#include "cvl-cuda/clock.hpp"
#include "cvl-cuda/fused-run.hpp"

namespace ravel {

/* The rounds of all positions together in a first launch are at most these: some 10 ms. No GPU
 * has shown it: a large one executes 10^13 instructions a second, a round some dozens. */
enum : int64_t { FIRST_ROUNDS = (int64_t)1 << 33, MOST_ROUNDS = (int64_t)1 << 30 };
/* Launches shorter than the one are followed by one of twice the rounds, launches longer than
 * the other by one of half the rounds. */
enum : uint64_t { SHORT_NS = 50000000, LONG_NS = 100000000 };

static int64_t first_rounds(const context &c, int64_t n) {
  const int64_t most = (int64_t)c.tuning.value[TUNE_CUDA_LOOP_ROUNDS];
  return std::min(most, std::max<int64_t>(FIRST_ROUNDS / std::max<int64_t>(n, 1), 1));
}

static int64_t next_rounds(int64_t rounds, uint64_t ns) {
  if (ns < SHORT_NS) return std::min<int64_t>(2 * rounds, MOST_ROUNDS);
  return ns > LONG_NS ? std::max<int64_t>(rounds / 2, 1) : rounds;
}

static bool has_memory(const fused_member &m) {
  return m.kind == MEMBER_WRITTEN || m.kind == MEMBER_CARRIED;
}

loop_memory execution::memory_of_loop(const fused_kernel &plan) {
  work w(c, site, {}, INT64_MAX); /* on the device */
  const int64_t n = domain();
  loop_memory memory;
  memory.of.resize(plan.member_count);
  for (uint32_t i = 0; i < plan.member_count; i++) {
    const fused_member &m = plan.members[i];
    if (has_memory(m)) memory.of[i] = w.make((cvl_elem)m.elem, n);
  }
  memory.on = w.make(CVL_BOOL, n);
  return memory;
}

/* Launches the kernel once. Returns the last launch in which positions did not finish. */
ref<deferred> execution::launch_rounds(const fused_kernel &plan, const kernel_entry &entry,
                                       const loop_memory &memory, const loop_turn &turn) {
  work w(c, site, {}, INT64_MAX);
  arguments a;
  looping l{};
  const ref<deferred> last = w.later_in(c.loop_mark, INT64_MAX, &l.last);
  l.launch = ++c.loop_launches;
  l.on = w.changed<uint8_t>(memory.on->device);
  l.rounds = (int32_t)turn.rounds;
  l.resumes = turn.resumes;
  add_operands(w, plan, a);
  for (uint32_t i = 0; i < plan.member_count; i++) {
    const fused_member &m = plan.members[i];
    if (m.kind == MEMBER_LOOP) a.add(l);
    if (has_memory(m))
      with_type((cvl_elem)m.elem,
                [&](auto t) { a.add(w.changed<decltype(t)>(memory.of[i]->device)); });
  }
  a.add(w.bad());
  a.add(domain());
  w.run({"loop", domain(), 0, entry.kernel, entry.on_host, nullptr, a.bytes.data(),
         (uint32_t)a.bytes.size(), (int32_t)fused_kernel_unroll(&plan)});
  return last;
}

/* Returns whether no node has failed. Throws the fault of an earlier operation. */
bool execution::is_sound() const {
  if (!c.has_fault) return true;
  if (c.fault.site < site || c.fault.site >= site + op.node_count) throw failure{c.fault};
  return false;
}

void execution::give_loop(const fused_kernel &plan, const loop_memory &memory) {
  work w(c, site, {}, INT64_MAX);
  for (uint32_t i = 0; i < plan.member_count; i++) {
    if (plan.members[i].kind == MEMBER_WRITTEN)
      w.give(&values[plan.members[i].number], memory.of[i]);
  }
}

bool execution::launch_loop(const fused_kernel &plan, const kernel_entry &entry) {
  const loop_memory memory = memory_of_loop(plan);
  loop_turn turn = {first_rounds(c, domain()), false};
  for (;;) {
    const uint64_t before = now_ns();
    const ref<deferred> last = launch_rounds(plan, entry, memory, turn);
    finish(c);
    if (!is_sound()) return false;
    if (settle(c, *last.get()) != c.loop_launches) break;
    if (c.stop.asks && c.stop.asks(c.stop.with)) fail(CVL_E_STOPPED, site);
    turn = {next_rounds(turn.rounds, now_ns() - before), true};
  }
  give_loop(plan, memory);
  return true;
}

} // namespace ravel
