/* test-planted.cpp - tries the defects that cvl-cuda/tests/test-emulation.cpp and
 * test-watched.cpp plant for the emulation on the interpreter: what it reports, and what it
 * does not. The table of cvl-cuda/README.md says no more than this.
 */
#include "cvl-cuda/ptx/tests/rig.hpp"

using namespace ravel::ptx;

namespace {

/* Thread t has number %r1, word t of the array at %q1, and word t of shared memory at %r3. */
std::string with_words(const std::string &body) {
  return ".shared .align 8 .b8 s[512];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %q1, %r1, 8;\n"
         "add.s64 %q1, %base, %q1;\nmov.u32 %r2, s;\nshl.b32 %r3, %r1, 3;\n"
         "add.u32 %r3, %r2, %r3;\n" +
         body;
}

/* Repeats a body %r9 times, as a kernel does whose blocks do the work of several. */
std::string twice(const std::string &body) {
  return "mov.u32 %r9, 2;\nagain:\n" + body +
         "sub.u32 %r9, %r9, 1;\nsetp.ne.u32 %p9, %r9, 0;\n@%p9 bra again;\n";
}

const char *const schedules[] = {"", "seed=1", "seed=2,quantum=3", "step"};

/* Checks that in every schedule the message contains the text. */
void reported(const char *what, const std::string &body, const char *wanted,
              uint32_t threads = 64) {
  for (const char *schedule : schedules) {
    rig r(64, schedule);
    const std::string wrong = r.run(with_words(body), threads);
    cr_assert(wrong.find(wanted) != std::string::npos, "%s, %s: %s", what, schedule,
              wrong.c_str());
  }
}
void missed(const char *what, const std::string &body, uint32_t threads = 64) {
  for (const char *schedule : schedules) {
    rig r(64, schedule);
    const std::string wrong = r.run(with_words(body), threads);
    cr_assert(wrong.empty(), "%s, %s: %s", what, schedule, wrong.c_str());
  }
}

} // namespace

/* ---- threads and each other's elements ---- */

Test(ptx_planted, conflicts_of_threads) {
  reported("two threads write one element", "st.global.u64 [%base], %q1;", "a race");
  reported("a thread reads what another writes",
           "setp.eq.u32 %p1, %r1, 63;\n@%p1 exit;\nld.global.u64 %q2, [%q1+8];\n"
           "st.global.u64 [%q1], %q2;",
           "a race");
  missed("each its own", "ld.global.u64 %q2, [%q1];\nst.global.u64 [%q1], %q2;");
  reported("two threads write one element of shared memory", "st.shared.u64 [%r2], %q1;",
           "a race");
  reported("an element is changed atomically and written",
           "setp.eq.u32 %p1, %r1, 5;\n@!%p1 red.global.add.u32 [%base], 1;\n"
           "@%p1 st.global.u32 [%base], 7;",
           "a race");
  reported("an element is changed atomically and read",
           "setp.eq.u32 %p1, %r1, 5;\n@!%p1 red.global.add.u32 [%base], 1;\n"
           "@%p1 ld.global.u32 %r4, [%base];",
           "a race");
}

/* ---- phases: all threads execute the code between them ---- */

Test(ptx_planted, shared_memory_between_phases) {
  reported("a write", "st.shared.u64 [%r2], 7;\nbar.sync 0;", "a race");
  const std::string read = "st.shared.u64 [%r3], 1;\nbar.sync 0;\nld.shared.u64 %q2, [%r2];\n";
  missed("a read, by a block that does one block's work", read);
  reported("a read, by a block that does the work of several", twice(read), "a race");
  missed("the same with a barrier behind", twice(read + "bar.sync 0;\n"));
}

/* On a device a thread has only its own registers: the kernel computes something else. */
Test(ptx_planted, the_register_of_another_thread) {
  missed("one's own instead", "add.u32 %r4, %r1, 1;\nst.global.u64 [%q1], %q1;");
}

Test(ptx_planted, a_decision_that_differs_between_threads) {
  reported("with a barrier in the way",
           "setp.lt.u32 %p1, %r1, 40;\n@%p1 bra other;\nbar.sync 0;\nbra.uni both;\nother:\n"
           "bar.sync 0;\nboth:\nst.global.u64 [%q1], 1;",
           "another barrier");
  missed("with none", "setp.lt.u32 %p1, %r1, 40;\n@%p1 bra other;\nst.global.u64 [%q1], 1;\n"
                      "bra.uni both;\nother:\nst.global.u64 [%q1], 2;\nboth:");
}

/* ---- memory ---- */

Test(ptx_planted, memory_that_nobody_has_written) {
  reported("of a block", "ld.shared.u64 %q2, [%r3];", "never written");
  rig r(64);
  r.of->taken(r.array, 512);
  const std::string wrong = r.run("ld.global.u64 %q1, [%base];");
  cr_assert(wrong.find("never written") != std::string::npos, "%s", wrong.c_str());
}

Test(ptx_planted, bounds) {
  reported("of an allocation", "ld.global.u64 %q2, [%q1+512];", "no memory was allocated");
  reported("of all shared memory of a block", "st.shared.u64 [%r3+512], 1;", "shared memory");
  /* Arrays lie next to each other in shared memory, as do blocks in an allocation. */
  missed("of one of two arrays in shared memory",
         ".shared .align 8 .b8 behind[512];\nmov.u32 %r5, behind;\nshl.b32 %r6, %r1, 3;\n"
         "add.u32 %r5, %r5, %r6;\nst.shared.u64 [%r5], 1;\nbar.sync 0;\n"
         "ld.shared.u64 %q2, [%r3+512];");
  rig r(64);
  r.of->taken(r.array, 256);
  r.of->taken(r.array + 256, 256);
  cr_assert(r.run("st.global.u64 [%base+256], 1;") == "");
  cr_assert(r.run("ld.global.u64 %q1, [%base+256];") == "", "through the first block's end");
}

Test(ptx_planted, memory_that_was_given_back) {
  rig r(64);
  r.of->returned(r.array, 512);
  const std::string wrong = r.run("st.global.u64 [%base], 1;");
  cr_assert(wrong.find("given back") != std::string::npos, "%s", wrong.c_str());
  rig again(64);
  again.of->returned(again.array, 512);
  again.of->taken(again.array, 512);
  cr_assert(again.run("st.global.u64 [%base], 1;") == "", "it was taken again");
}

Test(ptx_planted, addresses) {
  reported("misaligned", "ld.global.u64 %q2, [%q1+4];", "misaligned");
  static uint64_t of_host = 7;
  rig r(64);
  const std::string wrong =
      r.run("ld.global.u64 %q2, [" + std::to_string((uint64_t)&of_host) + "];");
  cr_assert(wrong.find("no memory was allocated") != std::string::npos, "%s", wrong.c_str());
}

/* ---- the host ---- */

/* Nothing is reported; a late device gives another result. */
Test(ptx_planted, a_host_that_does_not_wait) {
  for (const bool late : {false, true}) {
    rig r(64, late ? "late" : "");
    r.of->finish();
    uint64_t source = 5;
    r.of->copy(r.array, (uint64_t)&source, 8);
    source = 6; /* before the copy, if it is late */
    const bool arrived = r.word(0) == 5;
    r.of->finish();
    cr_assert(arrived == !late && r.word(0) == (late ? 6 : 5) && r.of->fault() == "");
  }
}
