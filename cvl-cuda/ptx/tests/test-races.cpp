/* test-races.cpp - races that races.hpp finds, and accesses that it must not report. */
#include "cvl-cuda/ptx/races.hpp"

#include "cvl-cuda/ptx/host-view.hpp"
#include "cvl-cuda/ptx/tests/rig.hpp"

using namespace ravel::ptx;

/* Threads of a block have in %r1 their number in the grid, in %r3 that in the block, and in %q1
 * their own word. */
static const char own[] =
    "mov.u32 %r3, %tid.x;\nmov.u32 %r14, %ntid.x;\nmov.u32 %r15, %ctaid.x;\n"
    "mad.lo.s32 %r1, %r14, %r15, %r3;\nmul.wide.u32 %q1, %r1, 8;\n"
    "add.s64 %q1, %base, %q1;\n";
/* Reads the word of the next thread. */
static const char next[] = "ld.global.u64 %q2, [%q1+8];\n";

static const char *const schedules[] = {"", "seed=1", "seed=2,quantum=1", "step"};

static void races_expect(const char *what, const std::string &body, uint32_t threads,
                         uint32_t blocks, bool race) {
  for (const char *schedule : schedules) {
    rig r(256, schedule);
    const std::string wrong = r.run(own + body, threads, blocks);
    const bool found = wrong.find("a race") != std::string::npos;
    cr_assert(found == race && (race || wrong.empty()), "%s, %s: %s", what, schedule,
              wrong.c_str());
  }
}

Test(ptx_races, of_a_block) {
  const std::string write = "st.global.u64 [%q1], 1;\n";
  races_expect("nothing between", write + next, 32, 1, true);
  races_expect("a barrier", write + "bar.sync 0;\n" + next, 100, 1, false);
  races_expect("a barrier of the warp",
               write + "bar.warp.sync -1;\n" + "setp.eq.s32 %p1, %r3, 31;\n@%p1 exit;\n" + next,
               32, 1, false);
  races_expect("a barrier of the warp, but two warps", write + "bar.warp.sync -1;\n" + next, 64,
               1, true);
  races_expect("read before write", next + std::string(write), 32, 1, true);
  races_expect("read, barrier, write", next + std::string("bar.sync 0;\n") + write, 64, 1,
               false);
  races_expect("written twice", "st.global.u64 [%base], 1;", 2, 1, true);
  races_expect(
      "a shuffle orders nothing",
      write +
          "shfl.sync.idx.b32 %r5, %r3, 0, 31, -1;\nsetp.eq.s32 %p1, %r3, 31;\n@%p1 exit;\n" +
          next,
      32, 1, true);
  races_expect("neighbouring bytes",
               "cvt.s64.s32 %q2, %r1;\nadd.s64 %q2, %base, %q2;\n"
               "st.global.u8 [%q2], 1;",
               64, 2, false);
}

/* Threads access one word in different widths; %r3 is 0 to 2. */
Test(ptx_races, of_bytes_of_a_word) {
  const std::string only = "setp.ne.s32 %p1, %r3, ", first = only + "0;\n@%p1 bra second;\n",
                    second = "second:\n" + only + "1;\n@%p1 bra third;\n",
                    third = "third:\n" + only + "2;\n@%p1 bra done;\n", done = "done:\n",
                    word = "st.global.u64 [%base], 1;\n", byte = "st.global.u8 [%base+5], 1;\n",
                    meet = "bar.sync 0;\n", half = "ld.global.u32 %r5, [%base+4];\n";
  const auto three = [&](const std::string &a, const std::string &b, const std::string &c) {
    return first + a + second + b + third + c + done;
  };
  const auto again = [&](std::string text) {
    for (const char *label : {"second", "third", "done"}) {
      for (size_t at = 0; (at = text.find(label, at)) != std::string::npos;
           at += strlen(label) + 1)
        text.insert(at, "x");
    }
    return text;
  };
  races_expect("a word, and one of its bytes", three(word, byte, ""), 3, 1, true);
  races_expect("a word, and a half is read", three(word, "", half), 3, 1, true);
  races_expect("a word, and a byte behind it",
               three(word, "st.global.u8 [%base+8], 1;\n", half), 3, 1, true);
  races_expect("a word, and bytes behind it",
               three(word, "st.global.u8 [%base+8], 1;\n", "st.global.u8 [%base+9], 1;\n"), 3,
               1, false);
  races_expect("a word, then one of its bytes",
               three(word, "", "") + meet + again(three("", byte, "")), 3, 1, false);
  races_expect("a word, then a byte, and another is read",
               three(word, "", "") + meet +
                   again(three("", byte, "ld.global.u8 %r5, [%base+4];\n")),
               3, 1, false);
  races_expect("a word, then a byte, and its half is read",
               three(word, "", "") + meet + again(three("", byte, half)), 3, 1, true);
  races_expect("a word is read, a byte written",
               three("ld.global.u64 %q2, [%base];\n", byte, ""), 3, 1, true);
  races_expect("all read a byte, one writes the word",
               "ld.global.u8 %r5, [%base+5];\n" + three("", word, ""), 3, 1, true);
}

Test(ptx_races, of_shared_memory) {
  const std::string write =
      ".shared .align 4 .b8 s[256];\nshl.b32 %r5, %r3, 2;\nmov.u32 %r6, s;\n"
      "add.s32 %r5, %r5, %r6;\nst.shared.u32 [%r5], %r3;\n";
  const std::string read = "xor.b32 %r7, %r5, 4;\nld.shared.u32 %r8, [%r7];\n";
  races_expect("a barrier of the warp for two warps",
               write + "bar.sync 0;\nst.shared.u32 [%r5], 0;\nbar.warp.sync -1;\n"
                       "xor.b32 %r7, %r5, 128;\nld.shared.u32 %r8, [%r7];\n",
               64, 1, true);
  races_expect("a barrier", write + "bar.sync 0;\n" + read, 64, 2, false);
  races_expect("a barrier of the warp", write + "bar.warp.sync -1;\n" + read, 64, 2, false);
  races_expect("written again without a barrier",
               write + "bar.sync 0;\n" + read + "st.shared.u32 [%r5], 0;\n", 64, 1, true);
}

/* Block 0 writes a word and raises a flag; the others wait for it. */
static std::string flag(const std::string &before_flag, const std::string &raise,
                        const std::string &wait, const std::string &behind) {
  return "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra waits;\nst.global.u64 [%base+64], 7;\n" +
         before_flag + raise + "bra.uni done;\nwaits:\n" + wait +
         "setp.eq.s32 %p2, %r4, 0;\n@%p2 bra waits;\n" + behind +
         "ld.global.u64 %q3, [%base+64];\ndone:\n";
}

Test(ptx_races, between_blocks) {
  const std::string volatile_raise = "st.volatile.global.u32 [%base], 1;\n",
                    volatile_wait = "ld.volatile.global.u32 %r4, [%base];\n",
                    fence = "membar.gl;\n";
  races_expect("fences on both sides", flag(fence, volatile_raise, volatile_wait, fence), 1, 3,
               false);
  races_expect("no fence before the flag", flag("", volatile_raise, volatile_wait, fence), 1, 3,
               true);
  races_expect("no fence behind it", flag(fence, volatile_raise, volatile_wait, ""), 1, 3,
               true);
  races_expect("release and acquire",
               flag("", "st.release.gpu.global.u32 [%base], 1;\n",
                    "ld.acquire.gpu.global.u32 %r4, [%base];\n", ""),
               1, 3, false);
  races_expect("a relaxed load",
               flag("", "st.release.gpu.global.u32 [%base], 1;\n",
                    "ld.relaxed.gpu.global.u32 %r4, [%base];\n", ""),
               1, 3, true);
  races_expect("an atomic flag",
               flag(fence, "atom.global.exch.b32 %r9, [%base], 1;\n",
                    "atom.global.add.u32 %r4, [%base], 0;\n", fence),
               1, 3, false);
  races_expect("a flag that is weak",
               flag(fence, "st.global.u32 [%base], 1;\n", volatile_wait, fence), 1, 3, true);
}

/* All threads write and meet, and then one signals the other blocks, as the last block does. */
Test(ptx_races, barrier_then_flag) {
  const std::string body =
      "st.global.u64 [%q1], 5;\nFENCES bar.sync 0;\nsetp.ne.s32 %p1, %r3, 0;\n@%p1 bra.uni "
      "all;\n"
      "membar.gl;\natom.global.add.u64 %q4, [%base+1024], 1;\nsetp.ne.s64 %p2, %q4, 1;\n"
      "@%p2 bra all;\nmembar.gl;\nld.global.u64 %q5, [%base];\nld.global.u64 %q6, "
      "[%base+504];\nall:\n";
  std::string good = body, bad = body;
  good.replace(good.find("FENCES"), 6, "");
  races_expect("the last block reads all", good, 32, 2, false);
  bad.replace(bad.find("FENCES"), 6, "");
  bad.replace(bad.find("bar.sync 0;"), 11, "bar.warp.sync -1;");
  races_expect("a warp's barrier for two warps", bad, 64, 2, true);
}

/* Each thread changes a counter, or data that a lock protects. */
Test(ptx_races, locks) {
  const std::string body =
      "again:\natom.global.cas.b32 %r5, [%base], 0, 1;\nsetp.ne.s32 %p1, %r5, 0;\n"
      "@%p1 bra again;\nFIRST ld.global.u64 %q2, [%base+8];\nadd.s64 %q2, %q2, 1;\n"
      "st.global.u64 [%base+8], %q2;\nSECOND atom.global.exch.b32 %r5, [%base], 0;\n";
  for (int missing = 0; missing < 3; missing++) {
    std::string text = body;
    text.replace(text.find("FIRST"), 5, missing == 1 ? "" : "membar.gl;\n");
    text.replace(text.find("SECOND"), 6, missing == 2 ? "" : "membar.gl;\n");
    races_expect(missing ? "a fence is missing" : "a lock", text, 8, 3, missing != 0);
  }
}

Test(ptx_races, launches_are_ordered) {
  rig r(4);
  cr_assert(r.run("st.global.u64 [%base], 1;") == "");
  cr_assert(r.run("st.global.u64 [%base], 2;") == "");
  cr_assert(r.run("ld.global.u64 %q1, [%base];") == "");
}

/* ---- what the host may see ---- */

/* Threads write to memory of the host. Then one of them writes the word that the host waits
 * for: the first thread of a block, or that of the last block to reach a counter in memory of
 * the device. */
static std::string delivery(const std::string &barrier, const std::string &fence,
                            const std::string &count, const std::string &behind) {
  return std::string(own) + "st.global.u64 [%q1], 7;\n" + barrier +
         "setp.ne.s32 %p1, %r3, 0;\n@%p1 bra done;\n" + fence + count +
         "st.volatile.global.u64 [%base+2048], 1;\ndone:\n" + behind;
}

/* Expects the same message in every schedule, or none. */
static void expect_delivery(const std::string &wrong, uint32_t blocks,
                            const std::string &body) {
  for (const char *schedule : schedules) {
    rig r(1, schedule);
    std::string text = body;
    const size_t counter = text.find("COUNTER");
    if (counter != std::string::npos) text.replace(counter, 7, std::to_string(r.array));
    r.array = r.of->memory().allocate(4096, true);
    const std::string found = r.run(text, 64, blocks);
    cr_assert(wrong.empty() ? found.empty() : found.find(wrong) != std::string::npos,
              "%s: %s\n%s", schedule, found.c_str(), text.c_str());
  }
}

static const char early[] = "the host may see what", barrier[] = "bar.sync 0;\n",
                  fence[] = "membar.sys;\n";

Test(ptx_host_view, of_one_block) {
  expect_delivery("", 1, delivery(barrier, fence, "", ""));
  expect_delivery(early, 1, delivery("", fence, "", ""));
  expect_delivery(early, 1, delivery(barrier, "", "", ""));
  expect_delivery(early, 1, delivery(std::string(fence) + barrier, "", "", ""));
}

/* The fence behind the counter acquires what other blocks have released before it. */
Test(ptx_host_view, of_several_blocks) {
  const std::string count = "mov.u64 %q5, COUNTER;\natom.global.add.u32 %r4, [%q5], 1;\n"
                            "setp.ne.s32 %p1, %r4, 2;\n@%p1 bra done;\n";
  expect_delivery("", 3, delivery(barrier, fence, count + fence, ""));
  expect_delivery(early, 3, delivery("", fence, count + fence, ""));
  expect_delivery(early, 3, delivery(barrier, "", count + fence, ""));
  expect_delivery(early, 3, delivery(barrier, fence, count, ""));
  expect_delivery(early, 3, delivery(barrier, fence, count + "membar.gl;\n", ""));
  expect_delivery("the host", 3, delivery(barrier, fence, "", "")); /* each thread writes it */
}

Test(ptx_host_view, what_is_written_behind_the_word) {
  const std::string late = "st.global.u64 [%q1], 8;\n";
  expect_delivery("behind the word", 1, delivery(barrier, fence, "", barrier + late));
}

Test(ptx_races, knowledge) {
  knowledge k;
  k.add({3, 7, 2, 5});
  cr_assert(k.has({3, 7, 2, 5}) && k.has({3, 9, 1, 99}) && !k.has({3, 7, 2, 6}));
  cr_assert(!k.has({3, 8, 2, 1}) && !k.has({3, 7, 3, 1}) && !k.has({4, 7, 2, 5}));
  knowledge other;
  other.add({3, 8, 3, 1});
  k.add(other);
  cr_assert(k.has({3, 7, 2, 6}) && k.has({3, 8, 3, 1}) && !k.has({3, 7, 3, 1}));
  cr_assert(k.has_all(other) && other.has_all(k));
  k.add({3, 1, 3, 7});
  for (const moment &m : {moment{3, 9, 3, 4}, moment{3, 2, 3, 2}, moment{5, 1, 0, 1}}) {
    cr_assert(!k.has(m));
    other.add(m);
    cr_assert(!k.has_all(other));
    k.add(other);
    cr_assert(k.has(m) && k.has_all(other) && k.has({3, 1, 3, 7}) && k.has({3, 8, 3, 1}));
  }
}
