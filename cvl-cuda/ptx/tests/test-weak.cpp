/* test-weak.cpp - litmus tests. Outcomes that the memory model of PTX allows come up under some
 * seed; those that it forbids never do (weak.hpp).
 */
#include <functional>
#include <map>

#include "base/tests/every.h"
#include "cvl-cuda/ptx/tests/rig.hpp"

using namespace ravel::ptx;

enum { TIMES = 2000, RESULTS = 8 /* the first word of results */ };

/* The outcome of one run: the words from RESULTS on, followed by x and y. */
typedef std::vector<uint64_t> outcome;

/* ---- programs ---- */

/* Returns the address of x or y, which are words 0 and 1. */
static std::string weak_at(char name) {
  return "[%base+" + std::to_string(8 * (name - 'x')) + "]";
}
static std::string weak_set(char name, unsigned value) {
  return "st.relaxed.gpu.global.u64 " + weak_at(name) + ", " + std::to_string(value) + ";\n";
}
/* Reads x or y into the register that keeps result n. */
static std::string weak_get(char name, unsigned n) {
  return "ld.relaxed.gpu.global.u64 %q" + std::to_string(n) + ", " + weak_at(name) + ";\n";
}
static std::string weak_keep(unsigned n) {
  return "st.global.u64 [%base+" + std::to_string(8 * (RESULTS + n)) + "], %q" +
         std::to_string(n) + ";\n";
}
static const std::string sc = "fence.sc.gpu;\n", acq_rel = "fence.acq_rel.gpu;\n",
                         narrow = "fence.acq_rel.cta;\n", none;

/* Returns a kernel with a block of one thread for each of these programs. */
static std::string weak_blocks_of(const std::vector<std::string> &programs) {
  std::string text = "mov.u32 %r1, %ctaid.x;\n";
  for (size_t n = 0; n < programs.size(); n++) {
    const std::string number = std::to_string(n);
    text += "setp.ne.s32 %p1, %r1, " + number + ";\n@%p1 bra not" + number + ";\n" +
            programs[n] + "bra.uni all;\nnot" + number + ":\n";
  }
  return text + "all:\n";
}

/* ---- runs ---- */

/* Many runs of a program; with RAVEL_EVERY a third of them. */
struct runs {
  std::map<outcome, unsigned> seen;
  std::string wrong;

  /* `results` is the number of words of results. */
  runs(const std::string &body, size_t results, uint32_t threads, uint32_t blocks,
       unsigned most = TIMES, const char *said = "seed=1,weak,quantum=4,resident=4") {
    rig r(64, said);
    launch_of l;
    try {
      l.of = r.of->load(rig::kernel_text(body))->find("k");
    } catch (const error &e) {
      cr_assert_fail("%s", e.what());
    }
    l.blocks = blocks;
    l.threads = threads;
    l.parameters.resize(8);
    memcpy(l.parameters.data(), &r.array, 8);
    const unsigned times = every() > 1 && most >= TIMES ? most / 3 : most;
    for (unsigned n = 0; n < times && wrong.empty(); n++) {
      r.of->fill(r.array, 0, r.words * 8);
      r.of->launch(l);
      r.of->finish();
      wrong = r.of->fault();
      outcome o;
      for (size_t k = 0; k < results; k++) o.push_back(r.word(RESULTS + k));
      o.push_back(r.word(0));
      o.push_back(r.word(1));
      seen[o]++;
    }
  }
  unsigned count(const std::function<bool(const outcome &)> &of) const {
    unsigned n = 0;
    for (const auto &o : seen) n += of(o.first) ? o.second : 0;
    return n;
  }
};

/* Expects that the outcome comes up in some run of the programs, or in none. */
static void weak_expect(const char *what, const std::vector<std::string> &programs,
                        size_t results, bool allowed,
                        const std::function<bool(const outcome &)> &weak) {
  const runs r(weak_blocks_of(programs), results, 1, (uint32_t)programs.size());
  cr_assert(r.wrong.empty(), "%s: %s", what, r.wrong.c_str());
  const unsigned n = r.count(weak);
  cr_assert(allowed ? n > 0 : n == 0, "%s: %u of %d runs", what, n, TIMES);
}

/* ---- message passing ---- */

static void message_passing(const char *what, const std::string &publish,
                            const std::string &accept, bool allowed) {
  weak_expect(what,
              {weak_set('x', 1) + publish + weak_set('y', 1),
               weak_get('y', 0) + accept + weak_get('x', 1) + weak_keep(0) + weak_keep(1)},
              2, allowed, [](const outcome &o) { return o[0] == 1 && o[1] == 0; });
}

Test(ptx_weak, message_passing) {
  message_passing("no fence", none, none, true);
  message_passing("no fence behind the load", acq_rel, none, true);
  message_passing("no fence before the store", none, acq_rel, true);
  message_passing("fences", acq_rel, acq_rel, false);
  message_passing("fence.sc", sc, sc, false);
  message_passing("membar", "membar.gl;\n", "membar.sys;\n", false);
  message_passing("the block's scope before the store", narrow, acq_rel, true);
  message_passing("the block's scope behind the load", acq_rel, narrow, true);
  message_passing("fence.sc of the block's scope there", sc, "fence.sc.cta;\n", true);
}

Test(ptx_weak, release_and_acquire) {
  for (const bool releases : {false, true}) {
    for (const bool acquires : {false, true}) {
      const std::string flag = "global.u64 " + weak_at('y');
      weak_expect("release and acquire",
                  {weak_set('x', 1) + (releases ? "st.release.gpu." : "st.relaxed.gpu.") +
                       flag + ", 1;\n",
                   (acquires ? "ld.acquire.gpu." : "ld.relaxed.gpu.") +
                       ("global.u64 %q0, " + weak_at('y')) + ";\n" + weak_get('x', 1) +
                       weak_keep(0) + weak_keep(1)},
                  2, !releases || !acquires,
                  [](const outcome &o) { return o[0] == 1 && o[1] == 0; });
    }
  }
}

/* Another block learns nothing from a flag of block scope. It is a race, too. */
Test(ptx_weak, scopes_of_accesses) {
  const std::string y = "global.u64 " + weak_at('y') + ", 1;\n";
  for (const char *scope : {"cta", "gpu"}) {
    const std::string text = weak_blocks_of(
        {weak_set('x', 1) + acq_rel + "st.relaxed." + scope + "." + y,
         weak_get('y', 0) + acq_rel + weak_get('x', 1) + weak_keep(0) + weak_keep(1)});
    const bool narrow_flag = scope[0] == 'c';
    const runs r(text, 2, 1, 2, TIMES, "seed=1,weak,quantum=4,unchecked");
    const unsigned stale = r.count([](const outcome &o) { return o[0] == 1 && o[1] == 0; });
    cr_assert((stale > 0) == narrow_flag, "%s: %u", scope, stale);
    const runs checked(text, 2, 1, 2);
    cr_assert(checked.wrong.empty() != narrow_flag, "%s: %s", scope, checked.wrong.c_str());
  }
}

/* A release belongs to a location, not to what its thread stores elsewhere. */
Test(ptx_weak, release_of_another_location) {
  const std::string z = "[%base+16]", release = "st.release.gpu.global.u64 ";
  const auto stale = [](const outcome &o) { return o[0] == 1 && o[1] == 0; };
  const std::string look =
      weak_get('y', 0) + acq_rel + weak_get('x', 1) + weak_keep(0) + weak_keep(1);
  weak_expect("elsewhere", {weak_set('x', 1) + release + z + ", 1;\n" + weak_set('y', 1), look},
              2, true, stale);
  weak_expect("there",
              {weak_set('x', 1) + release + weak_at('y') + ", 2;\n" + weak_set('y', 1), look},
              2, false, stale);
}

/* Knowledge passes through the thread in the middle, if that orders its accesses. */
Test(ptx_weak, transitive) {
  for (const std::string &between : {acq_rel, none}) {
    weak_expect("write, read and write, read",
                {weak_set('x', 1), weak_get('x', 0) + between + weak_set('y', 1) + weak_keep(0),
                 weak_get('y', 1) + acq_rel + weak_get('x', 2) + weak_keep(1) + weak_keep(2)},
                3, between.empty(),
                [](const outcome &o) { return o[0] == 1 && o[1] == 1 && o[2] == 0; });
  }
}

/* An atomic operation on the flag leaves what was released there; another store does not. */
Test(ptx_weak, release_sequences) {
  const std::string change = "atom.global.relaxed.gpu.add.u64 %q3, " + weak_at('y') + ", 1;\n",
                    copy = weak_get('y', 3) +
                           "add.s64 %q3, %q3, 1;\nst.relaxed.gpu.global.u64 " + weak_at('y') +
                           ", %q3;\n";
  for (const bool atomic : {true, false}) {
    weak_expect("a flag that is raised twice",
                {weak_set('x', 1) + acq_rel + weak_set('y', 1), atomic ? change : copy,
                 weak_get('y', 0) + acq_rel + weak_get('x', 1) + weak_keep(0) + weak_keep(1)},
                2, !atomic, [](const outcome &o) { return o[0] == 2 && o[1] == 0; });
  }
}

/* ---- both threads store, then look ---- */

Test(ptx_weak, store_buffering) {
  const std::string membar = "membar.gl;\n", of_block = "fence.sc.cta;\n";
  const struct {
    std::string one, other;
    bool allowed;
  } fences[] = {{none, none, true},      {acq_rel, acq_rel, true}, {sc, sc, false},
                {membar, membar, false}, {sc, none, true},         {of_block, of_block, true},
                {sc, of_block, true}};
  for (const auto &f : fences) {
    weak_expect(("store buffering " + f.one + f.other).c_str(),
                {weak_set('x', 1) + f.one + weak_get('y', 0) + weak_keep(0),
                 weak_set('y', 1) + f.other + weak_get('x', 1) + weak_keep(1)},
                2, f.allowed, [](const outcome &o) { return o[0] == 0 && o[1] == 0; });
  }
}

Test(ptx_weak, load_buffering) {
  const auto both = [](const outcome &o) { return o[0] == 1 && o[1] == 1; };
  const std::string fences[] = {none, acq_rel};
  for (const std::string &f : fences) {
    weak_expect("load buffering",
                {weak_get('x', 0) + f + weak_set('y', 1) + weak_keep(0),
                 weak_get('y', 1) + f + weak_set('x', 1) + weak_keep(1)},
                2, f.empty(), both);
  }
  /* No value comes out of thin air. */
  const auto copy = [](char to, unsigned n) {
    return "st.relaxed.gpu.global.u64 " + weak_at(to) + ", %q" + std::to_string(n) + ";\n";
  };
  weak_expect("each stores what it has read",
              {weak_get('x', 0) + copy('y', 0) + weak_keep(0),
               weak_get('y', 1) + copy('x', 1) + weak_keep(1)},
              2, false, [](const outcome &o) { return o[0] != 0 || o[1] != 0; });
  weak_expect("one of them does",
              {weak_get('x', 0) + copy('y', 0) + weak_keep(0),
               weak_get('y', 1) + weak_set('x', 1) + weak_keep(1)},
              2, true, both);
  weak_expect("one goes by what it has read",
              {weak_get('x', 0) + weak_set('y', 1) + weak_keep(0),
               weak_get('y', 1) + "setp.ne.s64 %p2, %q1, 1;\n@%p2 bra no;\n" +
                   weak_set('x', 1) + "no:\n" + weak_keep(1)},
              2, true, both);
}

/* A load that comes before a release, or a barrier, has its value by then. */
Test(ptx_weak, load_buffering_ends) {
  const auto both = [](const outcome &o) { return o[0] == 1 && o[1] == 1; };
  const std::string y = "global.u64 " + weak_at('y') + ", 1;\n";
  for (const bool releases : {false, true}) {
    weak_expect("a release",
                {weak_get('x', 0) + (releases ? "st.release.gpu." : "st.relaxed.gpu.") + y +
                     weak_keep(0),
                 "ld.acquire.gpu.global.u64 %q1, " + weak_at('y') + ";\n" + weak_set('x', 1) +
                     weak_keep(1)},
                2, !releases, both);
  }
  for (const std::string &barrier : {none, std::string("bar.sync 0;\n")}) {
    const std::string body = "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\n"
                             "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra other;\n"
                             "setp.ne.s32 %p2, %r2, 0;\n@%p2 bra second;\n" +
                             weak_get('x', 0) + "second:\n" + barrier + "@!%p2 bra first;\n" +
                             acq_rel + weak_set('y', 1) + "exit;\nfirst:\n" + weak_keep(0) +
                             "exit;\nother:\nsetp.ne.s32 %p2, %r2, 0;\n@%p2 exit;\n" +
                             weak_get('y', 1) + acq_rel + weak_set('x', 1) + weak_keep(1);
    const runs r(body, 2, 33, 2);
    cr_assert(r.wrong.empty(), "%s", r.wrong.c_str());
    cr_assert((r.count(both) > 0) == barrier.empty(), "%u", r.count(both));
  }
}

/* Each thread writes both locations; both keep the value that was written first. */
Test(ptx_weak, two_writes_each) {
  const std::string fences[] = {none, acq_rel, sc};
  for (const std::string &f : fences) {
    weak_expect(
        "2+2W",
        {weak_set('x', 1) + f + weak_set('y', 2), weak_set('y', 1) + f + weak_set('x', 2)}, 0,
        f != sc, [](const outcome &o) { return o[0] == 1 && o[1] == 1; });
  }
}

/* Two threads see two stores in different order. */
Test(ptx_weak, independent_reads) {
  const std::string fences[] = {none, acq_rel, sc};
  for (const std::string &f : fences) {
    weak_expect("IRIW",
                {weak_set('x', 1), weak_set('y', 1),
                 weak_get('x', 0) + f + weak_get('y', 1) + weak_keep(0) + weak_keep(1),
                 weak_get('y', 2) + f + weak_get('x', 3) + weak_keep(2) + weak_keep(3)},
                4, f != sc, [](const outcome &o) { return o[0] && !o[1] && o[2] && !o[3]; });
  }
}

/* ---- one location ---- */

Test(ptx_weak, coherence) {
  const auto later = [](const outcome &o) { return o[0] > o[1]; };
  weak_expect("reads",
              {weak_set('x', 1) + weak_set('x', 2),
               weak_get('x', 0) + weak_get('x', 1) + weak_keep(0) + weak_keep(1)},
              2, false, later);
  weak_expect("reads of two threads in order",
              {weak_set('x', 1) + weak_set('x', 2),
               weak_get('x', 0) + acq_rel + weak_set('y', 1) + weak_keep(0),
               weak_get('y', 2) + acq_rel + weak_get('x', 1) + weak_keep(1) + weak_keep(2)},
              3, false, [](const outcome &o) { return o[2] == 1 && o[0] > o[1]; });
  weak_expect("writes", {weak_set('x', 1) + weak_set('x', 2)}, 0, false,
              [](const outcome &o) { return o[0] != 2; });
  weak_expect("a read, then a write",
              {weak_get('x', 0) + weak_set('x', 1) + weak_keep(0), weak_set('x', 2)}, 1, false,
              [](const outcome &o) { return o[0] == 1 || (o[0] == 2 && o[1] == 2); });
  weak_expect("a write, then a read",
              {weak_set('x', 1) + weak_get('x', 0) + weak_keep(0), weak_set('x', 2)}, 1, false,
              [](const outcome &o) { return o[0] == 0 || (o[0] == 2 && o[1] == 1); });
  weak_expect("a store comes late",
              {weak_set('x', 1), weak_set('x', 2),
               weak_get('x', 0) + weak_get('x', 1) + weak_keep(0) + weak_keep(1)},
              2, true, [](const outcome &o) { return o[0] == 2 && o[1] == 1; });
}

/* Every addition counts, and no two threads see the same number. */
Test(ptx_weak, counter) {
  const std::string count =
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmad.lo.s32 %r1, %r2, 4, %r1;\n"
      "mul.wide.u32 %q1, %r1, 8;\nadd.s64 %q1, %base, %q1;\n"
      "atom.global.add.u64 %q2, [%base], 1;\nst.global.u64 [%q1+64], %q2;\n";
  const runs r(count, 12, 4, 3);
  cr_assert(r.wrong.empty(), "%s", r.wrong.c_str());
  for (const auto &s : r.seen) {
    uint64_t numbers = 0;
    for (size_t k = 0; k < 12; k++) numbers |= (uint64_t)1 << s.first[k];
    cr_assert(numbers == 0xfff && s.first[12] == 12);
  }
  cr_assert(r.seen.size() > 10);
}

/* A lock by compare-and-swap. The data that it protects is volatile, so that no race is
 * reported. */
Test(ptx_weak, lock) {
  for (int missing = 0; missing < 3; missing++) {
    const std::string enter = missing == 1 ? none : acq_rel,
                      leave = missing == 2 ? none : acq_rel;
    const std::string body =
        "again:\natom.global.cas.b64 %q1, [%base+8], 0, 1;\nsetp.ne.s64 %p1, %q1, 0;\n"
        "@%p1 bra again;\n" +
        enter +
        "ld.volatile.global.u64 %q2, [%base];\nadd.s64 %q2, %q2, 1;\n"
        "st.volatile.global.u64 [%base], %q2;\n" +
        leave + "st.volatile.global.u64 [%base+8], 0;\n";
    const runs r(body, 0, 2, 3);
    cr_assert(r.wrong.empty(), "%s", r.wrong.c_str());
    const unsigned lost = r.count([](const outcome &o) { return o[0] != 6; });
    cr_assert((lost > 0) == (missing > 0), "missing %d: %u", missing, lost);
  }
}

/* The error slot (fused-kernels/prelude.hpp) has a version, a kind, a position and a value that
 * belongs to it. Block b reports position 7 - b, and the lowest stays. `missing` is the number
 * of a fence that is left out. */
static std::string sequence_lock(int missing) {
  const auto fence = [&](int n) { return n == missing ? none : sc; };
  const std::string load = "ld.volatile.global.u64 ", store = "st.volatile.global.u64 ";
  return "mov.u32 %r1, %ctaid.x;\ncvt.u64.u32 %q9, %r1;\nsub.s64 %q9, 7, %q9;\nagain:\n" +
         load + "%q1, [%base+64];\n" + fence(1) + load + "%q2, [%base+72];\n" + load +
         "%q3, [%base+80];\n" + fence(2) +
         "and.b64 %q5, %q1, 1;\nsetp.ne.s64 %p1, %q5, 0;\n@%p1 bra again;\n" + load +
         "%q4, [%base+64];\nsetp.ne.s64 %p1, %q4, %q1;\n@%p1 bra again;\n"
         "setp.eq.s64 %p2, %q2, 0;\n@%p2 bra take;\n"
         "setp.ge.s64 %p3, %q9, %q3;\n@%p3 exit;\ntake:\nadd.s64 %q6, %q1, 1;\n"
         "atom.global.cas.b64 %q7, [%base+64], %q1, %q6;\nsetp.ne.s64 %p4, %q7, %q1;\n"
         "@%p4 bra again;\n" +
         fence(3) + store + "[%base+72], 1;\n" + store +
         "[%base+80], %q9;\nadd.s64 %q8, %q9, 100;\n" + store + "[%base+88], %q8;\n" +
         fence(4) + "add.s64 %q6, %q6, 1;\n" + store + "[%base+64], %q6;\n";
}

/* There are two blocks, and then three; with RAVEL_EVERY one of these, by turns. */
Test(ptx_weak, error_slot) {
  const uint32_t step = every() > 1 ? 2 : 1;
  for (int missing = 0; missing <= 4; missing++) {
    for (uint32_t blocks = 2 + (uint32_t)missing % step; blocks <= 3; blocks += step) {
      const runs r(sequence_lock(missing), 4, 1, blocks, 3000);
      cr_assert(r.wrong.empty(), "%s", r.wrong.c_str());
      const unsigned bad = r.count([&](const outcome &o) {
        const uint64_t first = 8 - blocks;
        return o[0] % 2 != 0 || o[1] != 1 || o[2] != first || o[3] != first + 100;
      });
      cr_assert((bad > 0) == (missing > 0), "missing %d, %u blocks: %u", missing, blocks, bad);
    }
  }
}

/* ---- barriers, and shared memory ---- */

/* Each of 64 threads writes its number to its word, and then reads the word of the thread whose
 * number is its own xor `other`. Result 0 is how many threads saw that number. */
static std::string weak_exchange(const std::string &barrier, unsigned other) {
  return ".shared .align 8 .b8 s[512];\nmov.u32 %r1, %tid.x;\nmov.u32 %r3, s;\n"
         "shl.b32 %r4, %r1, 3;\nadd.s32 %r4, %r4, %r3;\ncvt.u64.u32 %q1, %r1;\n"
         "st.shared.u64 [%r4], 1000;\nbar.sync 0;\n"
         "st.volatile.shared.u64 [%r4], %q1;\n" +
         barrier + "xor.b32 %r5, %r1, " + std::to_string(other) +
         ";\nshl.b32 %r6, %r5, 3;\nadd.s32 %r6, %r6, %r3;\n"
         "ld.volatile.shared.u64 %q2, [%r6];\ncvt.u64.u32 %q3, %r5;\n"
         "setp.ne.s64 %p1, %q2, %q3;\n@%p1 exit;\nred.global.add.u64 [%base+64], 1;\n";
}

Test(ptx_weak, barriers) {
  const auto all = [](const outcome &o) { return o[0] == 64; };
  const auto count = [&](const std::string &barrier, unsigned other) {
    const runs r(weak_exchange(barrier, other), 1, 64, 1, 40);
    cr_assert(r.wrong.empty(), "%s", r.wrong.c_str());
    return r.count(all);
  };
  cr_assert_eq(count("bar.sync 0;\n", 63), 40);
  cr_assert_eq(count("bar.warp.sync -1;\n", 31), 40);
  cr_assert_eq(count("bar.warp.sync -1;\n", 63), 0, "of two warps");
  cr_assert_eq(count(none, 31), 0);
  cr_assert_eq(count("membar.cta;\n", 31), 0);
}

/* Events before a barrier are known behind it and, with a fence there, to other blocks. */
Test(ptx_weak, barrier_then_flag) {
  const std::string body =
      "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\nsetp.ne.s32 %p1, %r1, 0;\n"
      "setp.ne.s32 %p2, %r2, 0;\n@%p1 bra other;\n@%p2 bra meet;\n" +
      weak_set('x', 1) + "meet:\nbar.sync 0;\n@!%p2 exit;\nFENCE" + weak_set('y', 1) +
      "exit;\nother:\n@%p2 exit;\n" + weak_get('y', 0) + acq_rel + weak_get('x', 1) +
      weak_keep(0) + weak_keep(1);
  for (const std::string &f : {acq_rel, none}) {
    std::string text = body;
    text.replace(text.find("FENCE"), 5, f);
    const runs r(text, 2, 33, 2);
    cr_assert(r.wrong.empty(), "%s", r.wrong.c_str());
    const unsigned stale = r.count([](const outcome &o) { return o[0] == 1 && o[1] == 0; });
    cr_assert((stale > 0) == f.empty(), "%u", stale);
  }
}

/* Knowledge that one thread has acquired is known to its block behind a barrier. */
Test(ptx_weak, flag_then_barrier) {
  for (const std::string &barrier : {std::string("bar.sync 0;\n"), none}) {
    const std::string body =
        "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\n"
        "setp.ne.s32 %p1, %r1, 0;\nsetp.ne.s32 %p2, %r2, 0;\n"
        "@%p1 bra other;\n@%p2 exit;\n" +
        weak_set('x', 1) + acq_rel + weak_set('y', 1) + "exit;\nother:\n@%p2 bra meet;\n" +
        weak_get('y', 0) + acq_rel + weak_keep(0) + "meet:\n" + barrier +
        "setp.ne.s32 %p3, %r2, 32;\n@%p3 exit;\n" + weak_get('x', 1) + weak_keep(1);
    const runs r(body, 2, 33, 2);
    cr_assert(r.wrong.empty(), "%s", r.wrong.c_str());
    const unsigned stale = r.count([](const outcome &o) { return o[0] == 1 && o[1] == 0; });
    cr_assert((stale > 0) == (barrier == none), "%u", stale);
  }
}

/* ---- accesses of several kinds and sizes ---- */

Test(ptx_weak, weak_accesses_see_the_last_store) {
  const std::string body = "mov.u32 %r2, %tid.x;\nsetp.ne.s32 %p1, %r2, 0;\n"
                           "atom.global.add.u64 %q1, [%base], 1;\nbar.sync 0;\n"
                           "@%p1 bra meet;\nld.global.u64 %q0, [%base];\n" +
                           weak_keep(0) +
                           "st.global.u64 [%base], 100;\nmeet:\nbar.sync 0;\n@!%p1 exit;\n" +
                           weak_get('x', 1) + weak_keep(1);
  const runs r(body, 2, 2, 1, 200);
  cr_assert(r.wrong.empty(), "%s", r.wrong.c_str());
  cr_assert_eq(r.count([](const outcome &o) { return o[0] == 2 && o[1] == 100; }), 200);
}

Test(ptx_weak, sizes) {
  const std::string halves = "st.relaxed.gpu.global.u32 [%base], 1;\n"
                             "st.relaxed.gpu.global.u32 [%base+4], 2;\n";
  const auto wrong = [](const outcome &o) { return o[0] != 0x200000001; };
  weak_expect("halves, then all", {halves + weak_get('x', 0) + weak_keep(0)}, 1, false, wrong);
  weak_expect("all, then halves", {weak_set('x', 5) + halves + weak_get('x', 0) + weak_keep(0)},
              1, false, wrong);
}

/* Vectors are accessed whole, as on devices. */
Test(ptx_weak, vectors) {
  const std::string text = weak_blocks_of(
      {"st.relaxed.gpu.global.v2.u64 [%base+16], {1, 1};\n",
       "ld.relaxed.gpu.global.v2.u64 {%q0, %q1}, [%base+16];\n" + weak_keep(0) + weak_keep(1)});
  const runs r(text, 2, 1, 2, TIMES, "seed=1,weak,quantum=4");
  cr_assert(r.wrong.empty(), "%s", r.wrong.c_str());
  cr_assert_eq(r.count([](const outcome &o) { return o[0] != o[1]; }), 0);
}

/* ---- delayed loads ---- */

/* The value is drawn when something first needs it: an address, a predicate's operand, an
 * exchange, a store, or another write to the register. */
Test(ptx_weak, delayed_loads_are_drawn_when_needed) {
  const std::string body =
      "mov.u32 %r1, %tid.x;\nld.relaxed.gpu.global.u32 %r2, [%base];\n"
      "shfl.sync.idx.b32 %r3, %r2, 0, 31, -1;\nadd.s32 %r3, %r3, 7;\n"
      "ld.relaxed.gpu.global.u64 %q1, [%base+8];\nmov.u64 %q1, 5;\n"
      "mov.u64 %q2, %base;\nld.relaxed.gpu.global.u64 %q2, [%q2+16];\n"
      "ld.relaxed.gpu.global.u64 %q3, [%q2];\nsetp.ne.s64 %p1, %q3, 0;\n@%p1 exit;\n"
      "ld.relaxed.gpu.global.u64 %q4, [%base+8];\nsetp.ne.s32 %p2, %r1, 0;\n@%p2 exit;\n"
      "cvt.u64.u32 %q0, %r3;\n" +
      weak_keep(0) + weak_keep(1);
  const std::string address = "mov.u32 %r5, %tid.x;\nsetp.ne.s32 %p3, %r5, 0;\n@%p3 bra meet;\n"
                              "add.s64 %q5, %base, 32;\nst.global.u64 [%base+16], %q5;\n"
                              "meet:\nbar.sync 0;\n";
  const runs r(address + body, 2, 32, 1, 200);
  cr_assert(r.wrong.empty(), "%s", r.wrong.c_str());
  cr_assert_eq(r.count([](const outcome &o) { return o[0] == 7 && o[1] == 5; }), 200);
}

/* ---- the option ---- */

Test(ptx_weak, a_seed_gives_the_same_again) {
  const std::string text =
      weak_blocks_of({weak_set('x', 1) + weak_set('y', 1),
                      weak_get('y', 0) + weak_get('x', 1) + weak_keep(0) + weak_keep(1)});
  const runs a(text, 2, 1, 2, 300), b(text, 2, 1, 2, 300);
  cr_assert(a.seen == b.seen && a.seen.size() > 3);
}

Test(ptx_weak, without_it_accesses_are_in_order) {
  const std::string text =
      weak_blocks_of({weak_set('x', 1) + weak_set('y', 1),
                      weak_get('y', 0) + weak_get('x', 1) + weak_keep(0) + weak_keep(1)});
  const runs r(text, 2, 1, 2, TIMES, "seed=1,quantum=4,resident=4");
  cr_assert_eq(r.count([](const outcome &o) { return o[0] == 1 && o[1] == 0; }), 0);
}

Test(ptx_weak, without_checks) {
  const std::string text =
      weak_blocks_of({weak_set('x', 1) + weak_set('y', 1),
                      weak_get('y', 0) + weak_get('x', 1) + weak_keep(0) + weak_keep(1)});
  const runs r(text, 2, 1, 2, TIMES, "seed=1,quantum=4,resident=4,weak,unchecked");
  cr_assert(r.count([](const outcome &o) { return o[0] == 1 && o[1] == 0; }) > 0);
}
