/* test-machine.cpp - threads, barriers and memory, and the interpreter's messages about
 * faults. */
#include "base/tests/every.h"
#include "cvl-cuda/ptx/flow.hpp"
#include "cvl-cuda/ptx/tests/rig.hpp"

using namespace ravel::ptx;

/* Thread t of block b writes to word t + b * threads: its address is %q1, its number %r1. */
static const char own_word[] = "mov.u32 %r1, %tid.x;\nmov.u32 %r14, %ntid.x;\n"
                               "mov.u32 %r15, %ctaid.x;\nmad.lo.s32 %r1, %r14, %r15, %r1;\n"
                               "mul.wide.u32 %q1, %r1, 8;\nadd.s64 %q1, %base, %q1;\n";

static const char *const schedules[] = {
    "", "seed=1", "seed=2,quantum=1", "seed=3,quantum=3", "step", "resident=4"};

static void check_contains(const std::string &wrong, const char *wanted) {
  cr_assert(wrong.find(wanted) != std::string::npos, "expected \"%s\" in: %s", wanted,
            wrong.c_str());
}

/* ---- control flow ---- */

/* Loops of different length for each thread, with a branch inside. */
static const char collatz[] = R"(
  mov.u32 %r2, 0;
  add.s32 %r3, %r1, 1;
next:
  setp.eq.s32 %p1, %r3, 1;
  @%p1 bra done;
  add.s32 %r2, %r2, 1;
  and.b32 %r4, %r3, 1;
  setp.eq.s32 %p2, %r4, 0;
  @%p2 bra even;
  mad.lo.s32 %r3, %r3, 3, 1;
  bra next;
even:
  shr.u32 %r3, %r3, 1;
  bra.uni next;
done:
  st.global.u32 [%q1], %r2;
)";

static uint32_t collatz_steps(uint32_t n) {
  uint32_t steps = 0;
  for (; n != 1; steps++) n = n % 2 ? 3 * n + 1 : n / 2;
  return steps;
}

Test(ptx_machine, threads_diverge_and_meet) {
  for (const char *schedule : schedules) {
    rig r(200, schedule);
    cr_assert(r.run(std::string(own_word) + collatz, 50, 4) == "", "%s", schedule);
    for (uint32_t k = 0; k < 200; k++) {
      cr_assert(r.word(k) == collatz_steps(k + 1), "%s: %u", schedule, k);
    }
  }
}

/* A kernel that holds a device back ends after some queries of the time. */
Test(ptx_machine, time_passes) {
  for (const char *schedule : schedules) {
    rig r(4, schedule);
    const std::string wrong = r.run(std::string(own_word) + R"(
  mov.u64 %q2, %globaltimer;
  mov.u32 %r2, 0;
again:
  add.s32 %r2, %r2, 1;
  mov.u64 %q3, %globaltimer;
  sub.s64 %q3, %q3, %q2;
  setp.lt.u64 %p1, %q3, 100000;
  @%p1 bra again;
  st.global.u32 [%q1], %r2;
)",
                                    4, 1);
    cr_assert(wrong == "", "%s: %s", schedule, wrong.c_str());
    for (uint32_t k = 0; k < 4; k++) {
      cr_assert(r.word(k) > 1 && r.word(k) <= 100, "%s: %u looks", schedule,
                (unsigned)r.word(k));
    }
  }
}

Test(ptx_machine, guarded_exit) {
  for (const char *schedule : schedules) {
    rig r(64, schedule);
    cr_assert(r.run(std::string(own_word) + "setp.gt.s32 %p1, %r1, 40;\n@%p1 exit;\n"
                                            "st.global.u64 [%q1], 1;",
                    64) == "");
    for (uint32_t k = 0; k < 64; k++) cr_assert(r.word(k) == (k <= 40));
  }
}

/* ---- barriers ---- */

/* Each thread writes its word of shared memory and reads that of the thread opposite. */
static const char exchange[] = R"(
  .shared .align 4 .b8 s[512];
  mov.u32 %r2, %tid.x;
  shl.b32 %r3, %r2, 2;
  mov.u32 %r4, s;
  add.s32 %r5, %r4, %r3;
  st.shared.u32 [%r5], %r2;
  BARRIER
  sub.s32 %r6, 508, %r3;
  add.s32 %r5, %r4, %r6;
  ld.shared.u32 %r7, [%r5];
  st.global.u32 [%q1], %r7;
)";

static std::string with_barrier(const char *barrier) {
  std::string text = std::string(own_word) + exchange;
  return text.replace(text.find("BARRIER"), 7, barrier);
}

Test(ptx_machine, barrier) {
  for (const char *schedule : schedules) {
    rig r(128, schedule);
    cr_assert(r.run(with_barrier("bar.sync 0;"), 128) == "", "%s", schedule);
    for (uint32_t k = 0; k < 128; k++) cr_assert(r.word(k) == 127 - k, "%s", schedule);
  }
}

Test(ptx_machine, a_missing_barrier_is_found) {
  for (const char *schedule : schedules) {
    rig r(128, schedule);
    check_contains(r.run(with_barrier(""), 128), "shared memory");
  }
}

/* Leaving the barrier out of a kernel that has one is found, too. */
Test(ptx_machine, a_dropped_barrier_is_found) {
  rig all(128);
  const kernel &k = *all.of->load(rig::kernel_text(with_barrier("bar.sync 0;")))->find("k");
  for (size_t n = 0; n < k.code.size(); n++) {
    const bool barrier = k.code[n].control_of == BLOCK_BARRIER;
    rig r(128, "drop=k@" + std::to_string(n));
    check_contains(r.run(with_barrier("bar.sync 0;"), 128),
                   barrier ? "shared memory" : "is no barrier or fence");
  }
}

/* Returns the digest of the kernel of this name that has this label. */
static std::string digest(const std::string &name, const std::string &label) {
  std::string text = rig::kernel_text("bra " + label + ";\n" + label + ":\n");
  text.replace(text.find("k("), 1, name);
  for (size_t at; (at = text.find("array")) != std::string::npos;)
    text.replace(at, 5, name + "_param_0");
  return rig(1).of->load(text)->find(name)->label.substr(name.size());
}

/* Names of parameters contain the kernel's name, and labels its number in the module. */
Test(ptx_machine, the_digest_of_equal_code_is_the_same) {
  const std::string one = digest("one", "$L__BB2_10");
  cr_assert(digest("another", "$L__BB2_10") == one);
  cr_assert(digest("one", "$L__BB13_10") == one);
  cr_assert(digest("one", "$L__BB2_11") != one);
}

/* Kernels may have the same name, as those of superoperators do. The label says which one lacks
 * its barrier, and is the same on each device. */
Test(ptx_machine, a_barrier_is_dropped_in_one_of_two_kernels) {
  const std::string one = with_barrier("bar.sync 0;"), other = "add.s32 %r9, %r9, 1;\n" + one;
  rig all(128);
  const kernel &k = *all.of->load(rig::kernel_text(one))->find("k");
  cr_assert(k.label.compare(0, 2, "k#") == 0 && k.label.size() == 10, "%s", k.label.c_str());
  cr_assert(all.of->load(rig::kernel_text(other))->find("k")->label != k.label);
  size_t n = 0;
  while (k.code[n].control_of != BLOCK_BARRIER) n++;
  const std::string said = "drop=" + k.label + "@" + std::to_string(n);
  check_contains(rig(128, said).run(one, 128), (k.label + ", block 0").c_str());
  cr_assert(rig(128, said).run(other, 128) == "");
  check_contains(rig(128, "drop=k@" + std::to_string(n)).run(other, 128), "no barrier");
}

/* The masks of a shuffle, a vote and a barrier of a warp lack a lane. A lane that is not there
 * does not miss itself. */
Test(ptx_machine, a_narrowed_mask_is_found) {
  const std::string exchanges = std::string(own_word) +
                                "mov.b32 %r9, -1;\n"
                                "shfl.sync.idx.b32 %r2, %r1, 0, 31, %r9;\n"
                                "setp.eq.s32 %p1, %r2, 0;\n"
                                "vote.sync.ballot.b32 %r3, %p1, 0xffffffff;\n"
                                "bar.warp.sync 0xffffffff;";
  rig all(32);
  const kernel &k = *all.of->load(rig::kernel_text(exchanges))->find("k");
  unsigned masks = 0;
  for (size_t n = 0; n < k.code.size(); n++) {
    const bool masked = k.code[n].control_of == WARP_SYNC;
    masks += masked;
    const std::string said = "narrow=k@" + std::to_string(n);
    check_contains(rig(32, said).run(exchanges, 32),
                   masked ? "its mask does not contain the lane itself" : "has no mask");
    if (masked) cr_assert(rig(32, said).run(exchanges, 31) == "");
  }
  cr_assert(masks == 3);
  check_contains(rig(32, "narrow=k@1000").run(exchanges, 32), "no instruction 1000");
}

Test(ptx_machine, threads_that_ended_are_not_waited_for) {
  for (const char *schedule : schedules) {
    rig r(64, schedule);
    cr_assert(r.run(std::string(own_word) + "setp.gt.s32 %p1, %r1, 40;\n@%p1 exit;\n"
                                            "bar.sync 0;\nst.global.u64 [%q1], 1;",
                    64) == "");
    cr_assert(r.word(40) == 1 && r.word(41) == 0);
  }
}

Test(ptx_machine, different_barriers) {
  for (const char *schedule : schedules) {
    rig r(64, schedule);
    const std::string wrong =
        r.run(std::string(own_word) + "setp.gt.s32 %p1, %r1, 40;\n"
                                      "@%p1 bra other;\nbar.sync 0;\nbra.uni both;\nother:\n"
                                      "bar.sync 0;\nboth:\nst.global.u64 [%q1], 1;",
              64);
    check_contains(wrong, "another barrier");
  }
}

Test(ptx_machine, deadlock) {
  for (const char *schedule : schedules) {
    rig r(64, schedule);
    const std::string wrong =
        r.run(std::string(own_word) + "setp.gt.s32 %p1, %r1, 40;\n"
                                      "@%p1 bra both;\nbar.sync 0;\nboth:\n"
                                      "bar.warp.sync -1;",
              64);
    check_contains(wrong, "wait for each other");
  }
}

/* ---- masks ---- */

Test(ptx_machine, halves_of_a_warp_meet_by_mask) {
  for (const char *schedule : schedules) {
    rig r(32, schedule);
    const std::string text =
        std::string(own_word) +
        "setp.gt.s32 %p1, %r1, 15;\n@%p1 bra high;\n"
        "shfl.sync.idx.b32 %r2, %r1, 3, 31, 0xffff;\nbra.uni both;\nhigh:\n"
        "shfl.sync.idx.b32 %r2, %r1, 20, 31, 0xffff0000;\nboth:\n"
        "bar.warp.sync -1;\nst.global.u32 [%q1], %r2;";
    const std::string wrong = r.run(text, 32);
    cr_assert(wrong == "", "%s: %s", schedule, wrong.c_str());
    for (uint32_t k = 0; k < 32; k++) cr_assert(r.word(k) == (k < 16 ? 3 : 20), "%s", schedule);
  }
}

Test(ptx_machine, wrong_masks) {
  for (const char *schedule : schedules) {
    rig r(32, schedule);
    check_contains(
        r.run(std::string(own_word) + "shfl.sync.idx.b32 %r2, %r1, 0, 31, 0xffff;", 32),
        "does not contain the lane");
    rig s(32, schedule);
    check_contains(s.run(std::string(own_word) + "setp.gt.s32 %p1, %r1, 15;\n@%p1 exit;\n"
                                                 "shfl.sync.idx.b32 %r2, %r1, 20, 31, -1;",
                         32),
                   "does not participate");
    rig d(32, schedule);
    check_contains(d.run(std::string(own_word) +
                             "setp.gt.s32 %p1, %r1, 15;\n@%p1 bra high;\n"
                             "shfl.sync.idx.b32 %r2, %r1, 3, 31, -1;\nbra.uni both;\nhigh:\n"
                             "shfl.sync.idx.b32 %r2, %r1, 20, 31, -1;\nboth:\nret;",
                         32),
                   "different instructions");
  }
}

/* ---- threads that wait for others in a loop ---- */

/* A lock that each thread takes, whether threads are lanes of one warp or in several blocks. */
static const char locked[] = R"(
again:
  atom.global.cas.b32 %r2, [%base], 0, 1;
  setp.ne.s32 %p1, %r2, 0;
  @%p1 bra again;
  ld.volatile.global.u64 %q2, [%base+8];
  add.s64 %q2, %q2, 1;
  st.volatile.global.u64 [%base+8], %q2;
  membar.gl;
  atom.global.exch.b32 %r2, [%base], 0;
)";

/* There are at least two warps in a block. With RAVEL_EVERY every second schedule is tried. */
Test(ptx_machine, a_lock) {
  const uint32_t threads = every() > 1 ? 34 : 40, blocks = every() > 1 ? 2 : 3;
  for (size_t k = 0; k<sizeof schedules / sizeof *schedules; k += every()> 1 ? 2 : 1) {
    const char *schedule = schedules[k];
    rig r(2, schedule);
    const std::string wrong = r.run(locked, threads, blocks);
    cr_assert(wrong == "", "%s: %s", schedule, wrong.c_str());
    cr_assert(r.word(1) == threads * blocks, "%s: %llu", schedule,
              (unsigned long long)r.word(1));
  }
}

/* The first block waits for the last one; blocks of a look-back wait in the other direction. */
Test(ptx_machine, a_block_waits_for_another) {
  static const char waits[] = R"(
  mov.u32 %r1, %ctaid.x;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra last;
again:
  ld.volatile.global.u32 %r2, [%base];
  setp.eq.s32 %p2, %r2, 0;
  @%p2 bra again;
  ret;
last:
  setp.ne.s32 %p1, %r1, 3;
  @%p1 bra done;
  atom.global.exch.b32 %r2, [%base], 1;
done:
)";
  for (const char *schedule : {"resident=4", "seed=1,resident=4", "step,resident=4"}) {
    rig r(1, schedule);
    cr_assert(r.run(waits, 32, 4) == "", "%s", schedule);
  }
}

Test(ptx_machine, no_end) {
  rig r(1);
  r.how.machine.most_steps = 100000;
  r.of.reset(new device(r.how));
  r.array = r.of->memory().allocate(8, false);
  check_contains(r.run("again: bra again;"), "no end after");
}

/* ---- seeds ---- */

/* Returns the order in which threads come, by the numbers that they draw. */
static std::vector<uint64_t> order_drawn(const char *schedule) {
  rig r(200, schedule);
  const std::string wrong =
      r.run(std::string(own_word) + "atom.global.add.u64 %q2, [%base], 1;\n"
                                    "st.global.u64 [%q1+8], %q2;",
            33, 5);
  cr_assert(wrong == "", "%s", wrong.c_str());
  std::vector<uint64_t> all;
  for (uint64_t k = 1; k <= 165; k++) all.push_back(r.word(k));
  return all;
}

Test(ptx_machine, a_seed_gives_one_order_and_seeds_differ) {
  const auto first = order_drawn("seed=5");
  cr_assert(first == order_drawn("seed=5"));
  cr_assert(first != order_drawn("seed=6"));
  cr_assert(first != order_drawn(""));
}

/* ---- several dimensions ---- */

/* Each thread stores its coordinates, its block's and the extents at its number in the grid.
 * That is its block's number times the threads of a block, plus its own number along x, then y,
 * then z. */
static const char coordinates[] = R"(
  mov.u32 %r1, %tid.x;    mov.u32 %r2, %tid.y;    mov.u32 %r3, %tid.z;
  mov.u32 %r4, %ctaid.x;  mov.u32 %r5, %ctaid.y;  mov.u32 %r6, %ctaid.z;
  mov.u32 %r7, %ntid.x;   mov.u32 %r8, %ntid.y;   mov.u32 %r9, %ntid.z;
  mov.u32 %r10, %nctaid.x; mov.u32 %r11, %nctaid.y; mov.u32 %r12, %nctaid.z;
  mad.lo.u32 %r13, %r6, %r11, %r5;
  mad.lo.u32 %r13, %r13, %r10, %r4;
  mad.lo.u32 %r13, %r13, %r9, %r3;
  mad.lo.u32 %r13, %r13, %r8, %r2;
  mad.lo.u32 %r13, %r13, %r7, %r1;
  mul.wide.u32 %q1, %r13, 8;
  add.s64 %q1, %base, %q1;
  mad.lo.u32 %r1, %r1, 10, %r2;
  mad.lo.u32 %r1, %r1, 10, %r3;
  mad.lo.u32 %r1, %r1, 10, %r4;
  mad.lo.u32 %r1, %r1, 10, %r5;
  mad.lo.u32 %r1, %r1, 10, %r6;
  st.global.u32 [%q1], %r1;
)";

Test(ptx_machine, grids_and_blocks_of_three_dimensions) {
  const extent threads(5, 4, 3), blocks(2, 3, 2);
  for (const char *schedule : schedules) {
    rig r(60 * 12, schedule);
    const std::string wrong = r.run(coordinates, threads, blocks);
    cr_assert(wrong == "", "%s: %s", schedule, wrong.c_str());
    for (uint32_t n = 0; n < 60 * 12; n++) {
      const uint32_t t = n % 60, b = n / 60;
      const uint32_t digits[] = {t % 5, t / 5 % 4, t / 20, b % 2, b / 2 % 3, b / 6};
      uint64_t wanted = 0;
      for (const uint32_t digit : digits) wanted = 10 * wanted + digit;
      cr_assert(r.word(n) == wanted, "%s: %u: %llu", schedule, n,
                (unsigned long long)r.word(n));
    }
  }
}

/* A warp is 32 neighbours in that order, whatever the extents: lanes of two rows shuffle. */
Test(ptx_machine, a_warp_spans_rows_of_a_block) {
  rig r(1);
  cr_assert(r.run("mov.u32 %r1, %tid.y;\n"
                  "shfl.sync.idx.b32 %r2, %r1, 31, 31, -1;\nmov.u32 %r3, %laneid;\n"
                  "setp.ne.s32 %p1, %r3, 0;\n@%p1 exit;\nst.global.u32 [%base], %r2;",
                  extent(8, 4)) == "");
  cr_assert(r.word(0) == 3);
}

Test(ptx_machine, faults_name_coordinates) {
  rig r(2);
  check_contains(r.run("mov.u32 %r1, %tid.y;\nsetp.ne.s32 %p1, %r1, 1;\n@%p1 exit;\n"
                       "ld.global.u64 %q1, [%base+16];",
                       extent(2, 2)),
                 "block 0 of 1, thread 2 (0, 1, 0) of 4");
}

/* ---- memory ---- */

Test(ptx_machine, faults_of_memory) {
  const struct {
    const char *text, *wanted;
  } of[] = {{"st.global.u64 [%base+16], 1;", "no memory was allocated there"},
            {"st.global.u64 [%base+-8], 1;", "no memory was allocated there"},
            {"ld.global.u64 %q1, [%base+4];", "a misaligned address"},
            {"ld.global.v2.u64 {%q1, %q2}, [%base+8];", "a misaligned address"},
            {"ld.global.u64 %q1, [64];", "no memory was allocated there"},
            {".shared .align 4 .b8 s[8];\nst.shared.u32 [s+8], 1;", "shared memory"},
            {".shared .align 4 .b8 s[8];\nld.shared.u32 %r1, [s];", "never written"},
            {"ld.param.u64 %q1, [array+8];", "outside of the parameters"}};
  for (const auto &o : of) {
    rig r(2);
    const std::string wrong = r.run(o.text);
    check_contains(wrong, o.wanted);
    check_contains(wrong, "block 0 of 1, thread 0 of 1");
  }
}

Test(ptx_machine, memory_that_was_never_written) {
  rig r(2);
  r.of->taken(r.array, 16);
  check_contains(r.run("ld.global.u64 %q1, [%base+8];"), "never written");
  rig w(2);
  w.of->taken(w.array, 16);
  cr_assert(w.run("st.global.u32 [%base+8], 1;\nld.global.u32 %r1, [%base+8];") == "");
  check_contains(w.run("ld.global.u64 %q1, [%base+8];"), "never written");
}

Test(ptx_machine, memory_that_was_given_back) {
  rig r(4);
  r.of->returned(r.array + 8, 8);
  cr_assert(r.run("st.global.u64 [%base], 1;\nst.global.u64 [%base+16], 1;") == "");
  check_contains(r.run("st.global.u64 [%base+8], 1;"), "given back");
  rig f(4);
  const uint64_t freed = f.array;
  cr_assert(f.of->memory().free(freed) && !f.of->memory().free(freed));
  check_contains(f.run("ld.global.u64 %q1, [%base];"), "it was freed");
}

Test(ptx_machine, copies) {
  rig r(4);
  uint64_t host[4] = {1, 2, 3, 4};
  r.of->copy(r.array, (uint64_t)host, sizeof host);
  cr_assert(r.word(3) == 4);
  const uint64_t other = r.of->memory().allocate(16, false);
  r.of->copy(r.array, other, 8); /* copies unwritten memory */
  check_contains(r.run("ld.global.u64 %q1, [%base];"), "never written");
  rig t(4);
  t.of->fill(t.array, 1, 33);
  check_contains(t.of->fault(), "33 bytes, but only 32");
}

Test(ptx_machine, no_memory) {
  rig r(1);
  cr_assert(r.of->memory().allocate((uint64_t)1 << 20, false) == 0);
  cr_assert(r.of->memory().allocate(1 << 19, false) != 0);
}

/* ---- a late device ---- */

Test(ptx_machine, commands_wait) {
  rig r(1, "late");
  r.of->finish();
  launch_of l;
  l.of = r.of->load(rig::kernel_text("st.global.u64 [%base], 7;"))->find("k");
  l.blocks = l.threads = 1;
  l.parameters.resize(8);
  memcpy(l.parameters.data(), &r.array, 8);
  r.of->launch(l);
  r.of->fill(r.array, 0, 4);
  cr_assert(r.word(0) == 0 && !r.of->look() && r.word(0) == 7);
  cr_assert(r.of->look() && r.word(0) == 0);
}

/* ---- modules ---- */

Test(ptx_machine, variables_of_a_module) {
  rig r(2);
  const std::string text =
      ".global .align 4 .u32 v[3] = {5, 6, 0x7};\n.const .align 8 .u64 c = -9;\n" +
      rig::kernel_text("mov.u64 %q1, v;\nld.global.u32 %r1, [%q1+8];\n"
                       "ld.const.u64 %q2, [c];\ncvt.u64.u32 %q3, %r1;\n"
                       "add.s64 %q2, %q2, %q3;\nst.global.u64 [%base], %q2;")
          .substr(strlen(".version 8.0\n.target sm_90\n.address_size 64\n"));
  launch_of l;
  l.of = r.of->load(text)->find("k");
  l.blocks = l.threads = 1;
  l.parameters.resize(8);
  memcpy(l.parameters.data(), &r.array, 8);
  r.of->launch(l);
  cr_assert(r.of->fault() == "" && r.word(0) == (uint64_t)-2, "%s", r.of->fault().c_str());
}

Test(ptx_machine, modules_that_are_wrong) {
  rig r(1);
  for (const char *text : {".surprise", ".entry k() {", ".global .align 4 .u33 v;",
                           ".global .u32 v[1] = {1, 2};", ".func f() { ret; }"}) {
    bool refused = false;
    try {
      r.of->load(text);
    } catch (const error &) {
      refused = true;
    }
    cr_assert(refused, "%s", text);
  }
  cr_assert(r.of->load(rig::kernel_text(""))->find("other") == nullptr);
}

/* ---- post-dominators ---- */

Test(ptx_machine, post_dominators) {
  rig r(1);
  const kernel &k = *r.of->load(rig::kernel_text("setp.eq.s32 %p1, 1, 2;\n@%p1 bra left;\n"
                                                 "mov.u32 %r1, 1;\nbra join;\nleft:\n"
                                                 "mov.u32 %r1, 2;\njoin:\n@%p1 bra join;\n"
                                                 "@%p1 exit;\nmov.u32 %r2, 1;"))
                         ->find("k");
  /* 0 ld, 1 setp, 2 bra, 3 mov, 4 bra, 5 mov (left), 6 bra (join), 7 exit, 8 mov, 9 ret, 10
   * end */
  const std::vector<uint32_t> p = post_dominators(k);
  const std::vector<uint32_t> wanted = {1, 2, 6, 4, 6, 6, 7, 11, 9, 11, 11, 11};
  cr_assert(k.code.size() == 11 && p == wanted);
  cr_assert(meeting_point(p, 3, 5) == 6 && meeting_point(p, 8, 3) == 11 &&
            meeting_point(p, 3, 4) == 4);
}

/* In step, a warp executes the code after a branch's arms once. */
Test(ptx_machine, lanes_in_step_meet) {
  rig r(64, "step");
  std::vector<executions> counts;
  block_pool pool;
  launch_of l;
  l.of = r.of->load(rig::kernel_text(std::string(own_word) + collatz))->find("k");
  l.blocks = 1;
  l.threads = 32;
  l.parameters.resize(8);
  memcpy(l.parameters.data(), &r.array, 8);
  execute(l, r.how.machine, r.of->memory(), pool, counts, {});
  for (size_t k = 0; k < l.of->code.size(); k++) {
    if (l.of->text[l.of->code[k].statement].find("st.global") == std::string::npos) continue;
    cr_assert(counts[k].groups == 1 && counts[k].threads == 32);
  }
}

/* ---- options ---- */

Test(ptx_machine, options_that_are_none) {
  for (const char *text :
       {"sed=1", "seed=x", "seed=0", "late=often", "fail=memory@", "coverage=", "drop=k",
        "drop=@3", "drop=k@x", "narrow=k", "leaks=1"}) {
    options o;
    bool refused = false;
    try {
      o.parse(text);
    } catch (const error &e) {
      refused = strstr(e.what(), "RAVEL_PTX") != nullptr;
    }
    cr_assert(refused, "%s", text);
  }
  options o;
  o.parse("seed=7,late=random,unchecked,fail=memory@3,processors=2,memory=100,leaks,drop=a@2");
  cr_assert(o.leaks && o.mutated.kernel == "a" && o.mutated.index == 2 && !o.mutated.narrows);
  cr_assert(o.machine.seed == 7 && o.executed == options::AT_RANDOM && !o.checked);
  cr_assert(o.failing_allocation == 3 && o.processors == 2 && o.memory == 100);
}
