/* machine.cpp - see machine.hpp. */
#include "cvl-cuda/ptx/machine.hpp"

#include <cxxabi.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>

#include "cvl-cuda/ptx/flow.hpp"
#include "cvl-cuda/ptx/weak.hpp"

namespace ravel {
namespace ptx {

namespace {
enum : uint32_t { NEVER = UINT32_MAX };
enum { SHARED_PATTERN = 0x5a };
} // namespace

/* Lanes that run apart, and where they meet the lanes of the path below (IN_STEP). */
struct path {
  lanes of;
  uint32_t meets;
};

/* A load whose value is not drawn yet (weak.hpp). */
struct delayed_load {
  unsigned lane;
  access_of access;
};

struct warp_state {
  std::vector<uint64_t> registers;
  lanes live = 0, at_barrier = 0, at_sync = 0, carry = 0;
  uint32_t at[WARP];     /* the next instruction of each lane */
  uint32_t member[WARP]; /* at_sync: the mask that it named */
  uint32_t spun = NEVER; /* IN_ORDER: where a group was interrupted */
  std::vector<path> paths;
  std::vector<delayed_load> delayed;

  lanes runnable() const { return live & ~at_barrier & ~at_sync; }
};

struct block_state {
  uint32_t number = 0;
  std::vector<warp_state> warps;
  std::vector<uint8_t> shared, shared_written, local;
  const kernel *filled_for = nullptr; /* the kernel whose constants are in the registers */
  bool done() const {
    return std::all_of(warps.begin(), warps.end(),
                       [](const warp_state &w) { return w.live == 0; });
  }
};

block_pool::block_pool() = default;
block_pool::~block_pool() = default;

namespace {

struct machine final : executor {
  const launch_of &launch;
  const kernel &k;
  const machine_options &options;
  memory &mem;
  std::vector<executions> &counts;
  const std::vector<observer *> &observers;
  weak_memory *weak;
  const bool mixes;                 /* see gives_way */
  const access_of *drawn = nullptr; /* a delayed load that is repeated */
  std::vector<std::unique_ptr<block_state>> resident;
  block_pool &pool;
  std::vector<area> areas; /* for each instruction, the area that it accessed last */
  std::vector<uint32_t> post_dominator;
  block_state *block = nullptr;
  warp_state *warp = nullptr;
  uint32_t warp_number = 0;
  uint64_t random_state, steps = 0;
  uint64_t looks = 0; /* accesses by which a thread may wait for another */
  uint64_t clock = 0; /* how often the time was asked for */
  size_t turns = 0;
  uint64_t addresses[WARP];

  machine(const launch_of &l, const machine_options &o, memory &m, block_pool &p,
          std::vector<executions> &c, const std::vector<observer *> &w, weak_memory *order)
      : launch(l), k(*l.of), options(o), mem(m), counts(c), observers(w), weak(order),
        mixes(o.how == SEEDED && order && order->any()), pool(p),
        areas(l.of->code.size(), area{1, 0, false}),
        random_state(o.seed * 0x9e3779b97f4a7c15 + 88172645463325252) {
    if (o.how == IN_STEP) post_dominator = post_dominators(k);
  }

  /* Returns the next number of xorshift64. */
  uint64_t random() {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
  }

  /* ---- errors ---- */

  /* Returns `5 of 8', or with the coordinates if there are several dimensions: `5 (1, 2, 0) of
   * 8'. */
  static std::string numbered(uint32_t number, const extent &of) {
    std::string text = std::to_string(number);
    if (of.count() != of.x) {
      text += " (" + std::to_string(number % of.x) + ", " +
              std::to_string(number / of.x % of.y) + ", " +
              std::to_string(number / of.x / of.y) + ")";
    }
    return text + " of " + std::to_string(of.count());
  }

  [[noreturn]] void fail(const instruction &i, uint32_t thread, const std::string &what) {
    throw error(readable(k.label) + ", block " + numbered(block->number, launch.blocks) +
                ", thread " + numbered(thread, launch.threads) + ": " + what + ", at `" +
                k.text[i.statement] + "' (line " + std::to_string(k.lines[i.statement]) +
                " of the PTX)");
  }
  [[noreturn]] void refuse(const instruction &i, unsigned lane,
                           const std::string &what) override {
    fail(i, warp_number * WARP + lane, what);
  }

  /* ---- memory ---- */

  std::string at_address(const char *what, uint64_t address, unsigned bytes) {
    char text[120];
    snprintf(text, sizeof text, "%s: %u bytes at 0x%llx", what, bytes,
             (unsigned long long)address);
    return text;
  }
  uint8_t *inside(const instruction &i, unsigned lane, uint64_t address, unsigned bytes,
                  uint8_t *memory_of, uint64_t size, const char *what) {
    if (address + bytes > size) {
      refuse(i, lane, at_address(what, address, bytes) + ", of " + std::to_string(size));
    }
    return memory_of + address;
  }
  uint8_t *in_shared(const instruction &i, unsigned lane, uint64_t address, unsigned bytes,
                     access a) {
    uint8_t *p = inside(i, lane, address, bytes, block->shared.data(), block->shared.size(),
                        "outside of the block's shared memory");
    if (!mem.checked()) return p;
    uint8_t *written = block->shared_written.data() + address;
    for (unsigned b = 0; b < bytes; b++) {
      if (a != WRITE && !written[b]) {
        refuse(i, lane, at_address("shared memory that was never written", address, bytes));
      }
      if (a != READ) written[b] = 1;
    }
    return p;
  }
  const area &area_of(const instruction &i, unsigned lane, uint64_t address, unsigned bytes) {
    area &known = areas[i.statement];
    if (address >= known.begin && address + bytes <= known.end) return known;
    const area *found = mem.find(address);
    if (found == nullptr || address + bytes > found->end) {
      refuse(i, lane,
             at_address("no memory was allocated there, or it was freed", address, bytes));
    }
    return known = *found;
  }
  uint8_t *in_global(const instruction &i, unsigned lane, uint64_t address, unsigned bytes,
                     access a) {
    const area &found = area_of(i, lane, address, bytes);
    if (mem.checked() && !found.of_host) {
      const memory_state s = mem.state(address, bytes, a != WRITE);
      if (s == GIVEN_BACK) {
        refuse(i, lane,
               at_address("memory of no block, or of one that was given back", address, bytes));
      }
      if (s == NEVER_WRITTEN)
        refuse(i, lane, at_address("memory that was never written", address, bytes));
      if (a != READ) mem.wrote(address, bytes);
    }
    return (uint8_t *)address;
  }
  uint8_t *in_local(const instruction &i, unsigned lane, uint64_t address, unsigned bytes) {
    uint8_t *own = block->local.data() + (size_t)(warp_number * WARP + lane) * k.local_bytes;
    return inside(i, lane, address, bytes, own, k.local_bytes, "outside of local memory");
  }
  uint8_t *reach(const instruction &i, unsigned lane, uint64_t address, unsigned bytes,
                 access a) override {
    if (drawn) return weak->reach(*drawn);
    addresses[lane] = address;
    looks += i.order != WEAK;
    if (address % bytes) refuse(i, lane, at_address("a misaligned address", address, bytes));
    for (observer *o : observers) {
      o->access(block->number, warp_number * WARP + lane, i, a, address, bytes);
    }
    uint8_t *at = in_space(i, lane, address, bytes, a);
    if (weak == nullptr || (i.order == WEAK && warp->delayed.empty())) return at;
    if (i.where == PARAM || i.where == LOCAL) return at;
    return seen(lane, {block->number, warp_number * WARP + lane, &i, a,
                       address_of_block(block->number, i, address), bytes, at});
  }
  uint8_t *in_space(const instruction &i, unsigned lane, uint64_t address, unsigned bytes,
                    access a) {
    switch (i.where) {
    case GENERIC:
      if (address >= SHARED_WINDOW)
        return in_shared(i, lane, address - SHARED_WINDOW, bytes, a);
      return in_global(i, lane, address, bytes, a);
    case GLOBAL: return in_global(i, lane, address, bytes, a);
    case SHARED: return in_shared(i, lane, address, bytes, a);
    case LOCAL: return in_local(i, lane, address, bytes);
    default:
      return inside(i, lane, address, bytes, const_cast<uint8_t *>(launch.parameters.data()),
                    launch.parameters.size(), "outside of the parameters");
    }
  }

  /* ---- weak memory ---- */

  /* Returns what the access reads or writes. A load that is delayed sees a provisional
   * value. */
  uint8_t *seen(unsigned lane, const access_of &a) {
    if (!warp->delayed.empty()) {
      draw_delayed([&](const delayed_load &d) {
        return d.lane == lane &&
               (a.by->releases() || (d.access.address < a.address + a.bytes &&
                                     a.address < d.access.address + d.access.bytes));
      });
    }
    if (!weak->delays(a)) return weak->reach(a);
    warp->delayed.push_back({lane, a});
    return a.memory;
  }
  /* Draws the values of those delayed loads for which `now` holds. The load is executed again,
   * whatever its address registers now hold. */
  template <class F> void draw_delayed(F now) {
    std::vector<delayed_load> &all = warp->delayed;
    for (size_t n = 0; n < all.size();) {
      const delayed_load d = all[n];
      if (!now(d)) {
        n++;
        continue;
      }
      all.erase(all.begin() + (ptrdiff_t)n);
      drawn = &d.access;
      d.access.by->run(*d.access.by, *this, (lanes)1 << d.lane);
      drawn = nullptr;
    }
  }
  void draw_all(lanes of) {
    draw_delayed([&](const delayed_load &d) { return of >> d.lane & 1; });
  }
  /* Draws, before an instruction, the loads whose registers it names. */
  void draw_named(const instruction &i, lanes of) {
    draw_delayed([&](const delayed_load &d) {
      const instruction &load = *d.access.by;
      return (of >> d.lane & 1) != 0 &&
             std::any_of(load.elements, load.elements + load.count,
                         [&](const slot &s) { return names(i, s.at); });
    });
  }
  static bool names(const instruction &i, uint32_t reg) {
    if (reg == NO_REGISTER) return false;
    return i.d.at == reg || i.a.at == reg || i.b.at == reg || i.c.at == reg || i.e.at == reg ||
           std::any_of(i.elements, i.elements + 4, [&](const slot &s) { return s.at == reg; });
  }

  unsigned first_lane() override {
    return options.how == SEEDED ? (unsigned)(random() % WARP) : 0;
  }
  void fence(const instruction &i, lanes l) override {
    draw_all(l);
    for (observer *o : observers) {
      for_lanes(l,
                [&](unsigned lane) { o->fenced(block->number, warp_number * WARP + lane, i); });
    }
  }

  /* Each query of the time advances it by a microsecond, so every run sees the same times. */
  uint64_t time() override { return 1000 * ++clock; }

  /* ---- blocks ---- */

  uint64_t special_value(special s, uint32_t thread) {
    const uint32_t lane = thread % WARP;
    switch (s) {
    case THREAD: return thread % launch.threads.x;
    case THREAD_Y: return thread / launch.threads.x % launch.threads.y;
    case THREAD_Z: return thread / launch.threads.x / launch.threads.y;
    case THREADS: return launch.threads.x;
    case THREADS_Y: return launch.threads.y;
    case THREADS_Z: return launch.threads.z;
    case BLOCK: return block->number % launch.blocks.x;
    case BLOCK_Y: return block->number / launch.blocks.x % launch.blocks.y;
    case BLOCK_Z: return block->number / launch.blocks.x / launch.blocks.y;
    case BLOCKS: return launch.blocks.x;
    case BLOCKS_Y: return launch.blocks.y;
    case BLOCKS_Z: return launch.blocks.z;
    case LANE: return lane;
    case LANES_BELOW: return ((uint64_t)1 << lane) - 1;
    case LANES_UP_TO: return ((uint64_t)2 << lane) - 1;
    case LANES_ABOVE: return ~(((uint64_t)2 << lane) - 1);
    case LANES_FROM: return ~(((uint64_t)1 << lane) - 1);
    case LANE_BIT: return (uint64_t)1 << lane;
    case WARP_NUMBER: return thread / WARP;
    case WARPS: return warp_count();
    default: return 0;
    }
  }
  void fill_registers(warp_state &w, uint32_t first_thread) {
    const size_t words = k.register_bytes / sizeof(uint64_t) + 1;
    if (w.registers.size() < words) w.registers.resize(words, 0xdeadbeefcafef00d);
    uint8_t *r = (uint8_t *)w.registers.data();
    for (const constant &c : k.constants) {
      if (block->filled_for == &k) break; /* nothing writes them */
      if (c.where.stride == 0) *(lanes *)(r + c.where.at) = c.value ? (lanes)ALL_LANES : 0;
      for (unsigned lane = 0; lane < WARP; lane++) write_wide(r, c.where, lane, c.value);
    }
    for (const special_register &s : k.specials) {
      for (unsigned lane = 0; lane < WARP; lane++) {
        write_wide(r, s.where, lane, special_value(s.of, first_thread + lane));
      }
    }
  }
  void begin_warp(uint32_t number) {
    warp_state &w = block->warps[number];
    const uint32_t left = launch.threads.count() - number * WARP;
    w.live = left >= WARP ? ALL_LANES : ((lanes)1 << left) - 1;
    w.at_barrier = w.at_sync = w.carry = 0;
    w.spun = NEVER;
    w.delayed.clear();
    std::fill(w.at, w.at + WARP, 0);
    w.paths.assign(1, path{w.live, (uint32_t)k.code.size()});
    fill_registers(w, number * WARP);
  }
  size_t warp_count() const { return (launch.threads.count() + WARP - 1) / WARP; }
  void begin_block(uint32_t number) {
    std::unique_ptr<block_state> b;
    if (pool.blocks.empty()) {
      b.reset(new block_state);
    } else {
      b = std::move(pool.blocks.back());
      pool.blocks.pop_back();
    }
    block = b.get();
    b->number = number;
    const size_t bytes = k.shared_bytes + launch.dynamic_shared;
    b->shared.assign(bytes, SHARED_PATTERN);
    if (mem.checked()) b->shared_written.assign(bytes, 0);
    b->local.assign((size_t)k.local_bytes * launch.threads.count(), SHARED_PATTERN);
    if (b->warps.size() < warp_count()) b->filled_for = nullptr;
    b->warps.resize(warp_count());
    for (uint32_t w = 0; w < b->warps.size(); w++) begin_warp(w);
    b->filled_for = &k;
    for (observer *o : observers) o->block_begins(number);
    resident.push_back(std::move(b));
  }

  /* ---- lanes that meet ---- */

  /* Opens the barrier if all threads that have not ended wait at it. */
  void try_block_barrier() {
    lanes any = 0;
    for (const warp_state &w : block->warps) {
      if (w.at_barrier != w.live) return;
      any |= w.live;
    }
    if (any) open_block_barrier();
  }
  uint32_t one_pc() {
    uint32_t pc = NEVER;
    for (const warp_state &w : block->warps) {
      for_lanes(w.live, [&](unsigned lane) {
        if (pc == NEVER) pc = w.at[lane];
        if (w.at[lane] == pc) return;
        const uint32_t number = (uint32_t)(&w - block->warps.data());
        fail(k.code[w.at[lane]], number * WARP + lane,
             "waits at another barrier than other threads, which wait at `" +
                 k.text[k.code[pc].statement] + "' (line " +
                 std::to_string(k.lines[k.code[pc].statement]) + ")");
      });
    }
    return pc;
  }
  /* Counts the vote of all threads, as the barrier's handler wants it. */
  uint32_t count_votes(const instruction &i) {
    uint32_t votes = 0, threads = 0;
    for (warp_state &w : block->warps) {
      registers = (uint8_t *)w.registers.data();
      votes += (uint32_t)__builtin_popcount(predicate(i.a) & w.live);
      threads += (uint32_t)__builtin_popcount(w.live);
    }
    if (i.count == 3) return votes;
    return i.count == 2 ? votes == threads : votes > 0;
  }
  void open_block_barrier() {
    const uint32_t pc = one_pc();
    const instruction &i = k.code[pc];
    const uint32_t votes = i.run ? count_votes(i) : 0;
    for (warp_state &w : block->warps) {
      if (i.run && w.live) {
        registers = (uint8_t *)w.registers.data();
        participants = votes;
        i.run(i, *this, w.live);
      }
      for_lanes(w.live, [&](unsigned lane) { w.at[lane] = pc + 1; });
      w.at_barrier = 0;
    }
    if (warp) registers = (uint8_t *)warp->registers.data();
    for (observer *o : observers) o->block_met(block->number);
  }

  /* Lets lanes go on that wait for each other within their warp and are complete. */
  void try_warp_sync() {
    for (lanes left = warp->at_sync; left;) {
      const unsigned lane = (unsigned)__builtin_ctz(left);
      const uint32_t mask = warp->member[lane];
      lanes same = 0;
      for_lanes(warp->at_sync, [&](unsigned other) {
        if (warp->member[other] == mask) same |= (lanes)1 << other;
      });
      left &= ~same;
      if ((mask & warp->live) == same) open_warp_sync(same);
    }
  }
  void open_warp_sync(lanes l) {
    const uint32_t pc = warp->at[__builtin_ctz(l)];
    for_lanes(l, [&](unsigned lane) {
      const instruction &i = k.code[warp->at[lane]];
      if (warp->at[lane] != pc && i.counted != BARRIER) {
        refuse(i, lane, "lanes with the same mask meet at different instructions");
      }
    });
    sync(k.code[pc], l);
    for_lanes(l, [&](unsigned lane) { warp->at[lane]++; });
    warp->at_sync &= ~l;
  }
  void sync(const instruction &i, lanes l) {
    participants = l;
    i.run(i, *this, l);
    if (i.counted != BARRIER) return;
    for (observer *o : observers) o->lanes_met(block->number, warp_number, l);
  }
  /* Returns the masks of a planted defect. */
  const uint32_t *without_highest(const instruction &i, lanes l, uint32_t (&fewer)[WARP]) {
    const uint32_t *mask = lane<uint32_t>(i.e);
    for_lanes(l, [&](unsigned at) {
      fewer[at] = mask[at] ? mask[at] & ~((uint32_t)1 << (31 - __builtin_clz(mask[at]))) : 0;
    });
    return fewer;
  }
  /* Lets a group arrive at a WARP_SYNC. Returns true if all lanes that it names are there, so
   * that it goes on at once. */
  bool arrive(const instruction &i, lanes l) {
    uint32_t fewer[WARP];
    const uint32_t *mask = i.narrowed ? without_highest(i, l, fewer) : lane<uint32_t>(i.e);
    const uint32_t first = mask[__builtin_ctz(l)];
    bool complete = (first & warp->live) == l;
    for_lanes(l, [&](unsigned lane) {
      if (!(mask[lane] >> lane & 1))
        refuse(i, lane, "its mask does not contain the lane itself");
      complete = complete && mask[lane] == first;
      warp->member[lane] = mask[lane];
    });
    if (complete) sync(i, l);
    return complete;
  }

  /* ---- a group's run ---- */

  void set_pc(lanes l, uint32_t at) {
    for_lanes(l, [&](unsigned lane) { warp->at[lane] = at; });
  }
  lanes guarded(const instruction &i, lanes l) {
    if (i.guard.at == NO_REGISTER) return l;
    const lanes p = predicate(i.guard);
    return l & (i.negated ? ~p : p);
  }
  void end_lanes(lanes l) {
    draw_all(l);
    warp->live &= ~l;
    try_block_barrier();
    if (warp->at_sync) try_warp_sync();
  }
  /* Lets lanes wait at the instruction. */
  void wait_at(const instruction &i, lanes now, uint32_t at) {
    set_pc(now, at);
    if (i.counted == BARRIER) draw_all(now);
    if (i.control_of == BLOCK_BARRIER) {
      warp->at_barrier |= now;
      try_block_barrier();
    } else {
      warp->at_sync |= now;
      try_warp_sync();
    }
  }
  void observe(const instruction &i, lanes now) {
    for (observer *o : observers) o->executed(block->number, warp_number, i, now, addresses);
  }

  /* With weak memory a group is often interrupted after a strong access, since what others do
   * just then matters most. */
  bool gives_way(uint64_t looked) { return mixes && looks != looked && random() % 2; }

  /* Runs lanes that are at one instruction. They run until they wait, diverge, end or come to
   * an instruction in [meet, meet_last], or until `most` instructions are done. Returns the
   * lanes that could go on; they are at one instruction: warp->at. */
  lanes run_group(lanes l, uint64_t most, uint32_t meet, uint32_t meet_last) {
    uint32_t at = warp->at[__builtin_ctz(l)];
    const instruction *code = k.code.data();
    const uint64_t looked = looks;
    for (uint64_t n = 0; n < most; n++) {
      const instruction &i = code[at];
      if (!warp->delayed.empty()) draw_named(i, l);
      const lanes now = guarded(i, l);
      executions &c = counts[at];
      c.groups++;
      c.threads += (uint64_t)__builtin_popcount(now);
      switch (i.control_of) {
      case PLAIN:
        if (now) i.run(i, *this, now);
        at++;
        break;
      case BRANCH:
        c.taken += (uint64_t)__builtin_popcount(now);
        if (now == l) {
          at = i.target;
        } else if (now == 0) {
          at++;
        } else {
          c.diverged++;
          set_pc(now, i.target);
          set_pc(l & ~now, at + 1);
          if (!observers.empty()) observe(i, now);
          steps += n + 1;
          return 0;
        }
        break;
      case WARP_SYNC:
      case BLOCK_BARRIER:
        if (now == 0 || (i.control_of == WARP_SYNC && arrive(i, now))) {
          at++;
          break;
        }
        set_pc(l & ~now, at + 1);
        if (!observers.empty()) observe(i, now);
        wait_at(i, now, at);
        steps += n + 1;
        return 0;
      case EXIT:
        set_pc(l & ~now, at + 1);
        end_lanes(now);
        at++;
        if ((l &= ~now) == 0) {
          if (!observers.empty()) observe(i, now);
          steps += n + 1;
          return 0;
        }
        break;
      }
      if (!observers.empty()) observe(i, now);
      if ((at >= meet && at <= meet_last) || gives_way(looked)) {
        set_pc(l, at);
        steps += n + 1;
        return l;
      }
    }
    set_pc(l, at);
    steps += most;
    return l;
  }

  void enter(block_state &b, uint32_t number) {
    block = &b;
    warp_number = number;
    warp = &b.warps[number];
    registers = (uint8_t *)warp->registers.data();
    carry = warp->carry;
  }
  void leave() { warp->carry = carry; }

  /* ---- schedules ---- */

  void check_end() {
    if (steps <= options.most_steps) return;
    throw error(readable(k.label) + ": no end after " + std::to_string(steps) +
                " instructions of groups");
  }
  /* After so many instructions a group may be waiting in a loop for another. */
  enum { SPIN = 1000 };
  /* Runs a group. Returns true if it may have waited for others all the time. */
  bool spins(lanes group, uint32_t meet, uint32_t meet_last) {
    const uint64_t before = steps, looked = looks;
    run_group(group, SPIN, meet, meet_last);
    check_end();
    return steps - before >= SPIN && looks != looked;
  }

  /* Returns the lanes that are furthest behind. After an interruption it returns those that
   * come next, so that lanes that wait for others in a loop do not keep them from running. */
  lanes behind(uint32_t &next_pc) {
    const lanes can = warp->runnable();
    uint32_t pc = NEVER, lowest = NEVER;
    for_lanes(can, [&](unsigned lane) {
      lowest = std::min(lowest, warp->at[lane]);
      if (warp->spun != NEVER && warp->at[lane] <= warp->spun) return;
      pc = std::min(pc, warp->at[lane]);
    });
    if (pc == NEVER) pc = lowest;
    lanes group = 0;
    next_pc = NEVER;
    for_lanes(can, [&](unsigned lane) {
      if (warp->at[lane] == pc) {
        group |= (lanes)1 << lane;
      } else if (warp->at[lane] > pc) {
        next_pc = std::min(next_pc, warp->at[lane]);
      }
    });
    return group;
  }
  /* Runs one block's warps, each as far as it gets or until it has spun. Returns whether one
   * ran. */
  bool turn_in_order(block_state &b) {
    bool ran = false;
    for (uint32_t w = 0; w < b.warps.size(); w++) {
      enter(b, w);
      for (bool spun = false; !spun && warp->runnable();) {
        uint32_t next = NEVER;
        const lanes group = behind(next);
        spun = spins(group, next, NEVER);
        warp->spun = spun ? warp->at[__builtin_ctz(group)] : NEVER;
        ran = true;
      }
      leave();
    }
    return ran;
  }

  /* Runs any warp of a block that has lanes to run. */
  bool turn_seeded(block_state &b) {
    uint32_t can = 0, number = 0;
    for (const warp_state &w : b.warps) can += w.runnable() != 0;
    if (can == 0) return false;
    for (uint64_t before = random() % can;; number++) {
      if (b.warps[number].runnable() && before-- == 0) break;
    }
    enter(b, number);
    run_group(some_lanes(warp->runnable()), 1 + random() % options.quantum, NEVER, NEVER);
    check_end();
    leave();
    return true;
  }
  lanes some_lanes(lanes can) {
    unsigned chosen = (unsigned)(random() % WARP);
    while (!(can >> chosen & 1)) chosen = (chosen + 1) % WARP;
    lanes same = 0;
    for_lanes(can, [&](unsigned lane) {
      if (warp->at[lane] == warp->at[chosen]) same |= (lanes)1 << lane;
    });
    const uint64_t way = random() % 4;
    if (way == 0) return (lanes)1 << chosen;
    if (way == 1) return (same & (lanes)random()) | (lanes)1 << chosen;
    return same;
  }

  /* Runs the paths of a warp, which are a stack: the last one runs until it meets the one
   * below. */
  bool turn_in_step(block_state &b) {
    bool ran = false;
    for (uint32_t w = 0; w < b.warps.size(); w++) {
      enter(b, w);
      const uint64_t before = steps;
      while (warp->runnable() && run_path()) {
      }
      ran = ran || steps != before;
      leave();
    }
    return ran;
  }
  /* Runs the last path. Returns false if other lanes must run first. */
  bool run_path() {
    std::vector<path> &paths = warp->paths;
    while (paths.size() > 1 && (paths.back().of & warp->live) == 0) paths.pop_back();
    const lanes group = paths.back().of & warp->runnable();
    if (group == 0) return take_other_path();
    const lanes here = at_one_pc(group);
    const uint32_t at = warp->at[__builtin_ctz(here)];
    if (here != group) {
      split_path(group);
    } else if (at == paths.back().meets && paths.size() > 1) {
      paths.pop_back();
    } else {
      const uint32_t meets = paths.back().meets;
      if (spins(group, meets, meets)) {
        take_other_path();
        return false;
      }
    }
    return true;
  }
  lanes at_one_pc(lanes of) {
    const uint32_t pc = warp->at[__builtin_ctz(of)];
    lanes here = 0;
    for_lanes(of, [&](unsigned lane) { here |= (lanes)(warp->at[lane] == pc) << lane; });
    return here;
  }
  /* Splits lanes at several instructions: each gets a path, except the one where they meet. */
  void split_path(lanes group) {
    uint32_t meet = warp->at[__builtin_ctz(group)];
    for_lanes(group, [&](unsigned lane) {
      meet = meeting_point(post_dominator, meet, warp->at[lane]);
    });
    for (lanes here; group; group &= ~here) {
      here = at_one_pc(group);
      if (warp->at[__builtin_ctz(here)] != meet) warp->paths.push_back({here, meet});
    }
  }
  /* Takes another path if the one on top waits for lanes below it. */
  bool take_other_path() {
    lanes above = 0;
    for (size_t n = warp->paths.size(); n-- > 0;) {
      const path below = warp->paths[n];
      const lanes group = below.of & warp->runnable() & ~above;
      above |= below.of;
      if (group == 0 || n + 1 == warp->paths.size()) continue;
      /* That path runs to the end: it must not stop where the waiting lanes would meet it. */
      warp->paths.push_back({group, (uint32_t)k.code.size()});
      return true;
    }
    return false;
  }

  [[noreturn]] void deadlock() {
    std::string waiting_at;
    unsigned shown = 0;
    const uint32_t number = block->number;
    for (uint32_t w = 0; w < block->warps.size(); w++) {
      const warp_state &of = block->warps[w];
      for_lanes(of.live, [&](unsigned lane) {
        if (shown++ >= 4) return;
        waiting_at += "\n  thread " + std::to_string(w * WARP + lane) + " waits at `" +
                      k.text[k.code[of.at[lane]].statement] + "'";
      });
    }
    throw error(readable(k.label) + ", block " + std::to_string(number) +
                ": its threads wait for each other for ever" + waiting_at);
  }

  /* Gives a turn to some resident block. */
  void turn() {
    const size_t n = (options.how == SEEDED ? random() : turns++) % resident.size();
    block_state &b = *resident[n];
    const bool ran = options.how == SEEDED    ? turn_seeded(b)
                     : options.how == IN_STEP ? turn_in_step(b)
                                              : turn_in_order(b);
    if (b.done()) {
      for (observer *o : observers) o->block_ends(b.number);
      pool.blocks.push_back(std::move(resident[n]));
      resident.erase(resident.begin() + (ptrdiff_t)n);
    } else if (!ran) {
      block = &b;
      deadlock();
    }
  }
  void run() {
    const uint32_t most = std::max(1u, options.resident);
    for (observer *o : observers) o->begin(launch);
    const uint32_t blocks = launch.blocks.count();
    for (uint32_t next = 0; next < blocks || !resident.empty();) {
      while (next < blocks && resident.size() < most) begin_block(next++);
      turn();
    }
    for (observer *o : observers) o->end();
  }
};

} // namespace

void execute(const launch_of &l, const machine_options &o, memory &m, block_pool &pool,
             std::vector<executions> &counts, const std::vector<observer *> &observers,
             weak_memory *weak) {
  counts.resize(l.of->code.size());
  if (weak) weak->begin(o.seed);
  machine(l, o, m, pool, counts, observers, weak).run();
}

std::string readable(const std::string &mangled) {
  int status = 0;
  char *plain = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 ? plain : mangled;
  free(plain);
  for (size_t at; (at = name.find("ravel::")) != std::string::npos;) name.erase(at, 7);
  return name.size() > 120 ? name.substr(0, 117) + "..." : name;
}

} // namespace ptx
} // namespace ravel
