/* test-async.cpp - copies that go on by themselves, and the barriers that threads wait at for
 * them: each form against the manual of PTX, and what is found when a wait is missing. */
#include "cvl-cuda/ptx/async.hpp"
#include "cvl-cuda/ptx/tests/rig.hpp"

using namespace ravel::ptx;

namespace {

const char *const schedules[] = {"", "seed=1", "seed=2,quantum=1", "seed=3,weak", "step"};

/* 32 words of shared memory, whose first is a barrier %r10; data %r11 lie 128 bytes behind. Of
 * the array, word k is 100 + k. */
std::string with_shared(const std::string &body) {
  return ".shared .align 128 .b8 s[1280];\nmov.u32 %r10, s;\nadd.u32 %r11, %r10, 128;\n"
         "mov.u32 %r12, %tid.x;\nsetp.eq.u32 %p9, %r12, 0;\n" +
         body;
}

/* Runs a body; word 0 of the array is its result. */
struct outcome {
  std::string wrong;
  uint64_t word;
};
outcome run_on(const char *schedule, const std::string &body, uint32_t threads = 1) {
  rig r(64, schedule);
  for (uint64_t k = 0; k < 64; k++) ((uint64_t *)r.array)[k] = 100 + k;
  const std::string wrong = r.run(with_shared(body), threads);
  return {wrong, r.word(0)};
}

void gives(const std::string &body, uint64_t wanted, uint32_t threads = 1) {
  for (const char *schedule : schedules) {
    const outcome got = run_on(schedule, body, threads);
    cr_assert(got.wrong.empty(), "%s: %s\n%s", schedule, got.wrong.c_str(), body.c_str());
    cr_assert(got.word == wanted, "%s: %llu\n%s", schedule, (unsigned long long)got.word,
              body.c_str());
  }
}

void fails(const std::string &body, const char *wanted, uint32_t threads = 1) {
  for (const char *schedule : {"", "step"}) {
    const outcome got = run_on(schedule, body, threads);
    cr_assert(got.wrong.find(wanted) != std::string::npos, "%s: %s\n%s", schedule,
              got.wrong.c_str(), body.c_str());
  }
}

const char make_barrier[] = "mbarrier.init.shared.b64 [%r10], ";
/* The result is 1 if the predicate holds. */
const char give_p1[] = "\nselp.b64 %q1, 1, 0, %p1;\nst.global.u64 [%base], %q1;";
const char give_q1[] = "\nst.global.u64 [%base], %q1;";

/* ---- each form: what is done to a barrier for some arrivals, and the result ---- */

const struct {
  const char *form, *arrivals, *body, *result;
  uint64_t wanted;
} barrier_cases[] = {
    {"mbarrier.init", "1", "mbarrier.test_wait.parity.shared.b64 %p1, [%r10], 0;", give_p1, 0},
    {"mbarrier.test_wait.parity", "1",
     "mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r10], 1;", give_p1, 1},
    {"mbarrier.arrive", "1",
     "mbarrier.arrive.shared.b64 _, [%r10];\n"
     "mbarrier.test_wait.parity.shared.b64 %p1, [%r10], 0;",
     give_p1, 1},
    {"mbarrier.arrive", "3",
     "mbarrier.arrive.shared.b64 %q2, [%r10], 2;\n"
     "mbarrier.test_wait.parity.shared.b64 %p1, [%r10], 0;",
     give_p1, 0},
    {"mbarrier.arrive", "3",
     "mbarrier.arrive.shared.b64 %q2, [%r10], 2;\nmbarrier.arrive.shared.b64 %q2, [%r10];\n"
     "mbarrier.test_wait.parity.shared.b64 %p1, [%r10], 0;",
     give_p1, 1},
    /* The phase behind expects as many again. */
    {"mbarrier.arrive", "2",
     "mbarrier.arrive.shared.b64 _, [%r10], 2;\nmbarrier.arrive.shared.b64 _, [%r10];\n"
     "mbarrier.test_wait.parity.shared.b64 %p1, [%r10], 1;",
     give_p1, 0},
    {"mbarrier.arrive", "2",
     "mbarrier.arrive.shared.b64 _, [%r10], 2;\nmbarrier.arrive.shared.b64 _, [%r10], 2;\n"
     "mbarrier.test_wait.parity.shared.b64 %p1, [%r10], 1;",
     give_p1, 1},
    {"mbarrier.test_wait", "1",
     "mbarrier.arrive.release.cta.shared.b64 %q2, [%r10];\n"
     "mbarrier.test_wait.acquire.cta.shared.b64 %p1, [%r10], %q2;",
     give_p1, 1},
    {"mbarrier.test_wait", "2",
     "mbarrier.arrive.shared.b64 %q2, [%r10];\n"
     "mbarrier.test_wait.shared.b64 %p1, [%r10], %q2;",
     give_p1, 0},
    {"mbarrier.try_wait", "1",
     "mbarrier.arrive.shared.b64 %q2, [%r10];\n"
     "mbarrier.try_wait.shared.b64 %p1, [%r10], %q2;",
     give_p1, 1},
    {"mbarrier.try_wait.parity", "1",
     "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r10], 0, 1000;", give_p1, 0},
    {"mbarrier.expect_tx", "1",
     "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r10], 16;\n"
     "mbarrier.arrive.shared.b64 _, [%r10];\n"
     "mbarrier.test_wait.parity.shared.b64 %p1, [%r10], 0;",
     give_p1, 0},
    {"mbarrier.complete_tx", "1",
     "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r10], 16;\n"
     "mbarrier.arrive.shared.b64 _, [%r10];\n"
     "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r10], 16;\n"
     "mbarrier.test_wait.parity.shared.b64 %p1, [%r10], 0;",
     give_p1, 1},
    {"mbarrier.arrive.expect_tx", "1",
     "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %q2, [%r10], 8;\n"
     "mbarrier.test_wait.parity.shared.b64 %p1, [%r10], 0;",
     give_p1, 0},
    {"mbarrier.arrive_drop", "2",
     "mbarrier.arrive_drop.shared.b64 _, [%r10];\nmbarrier.arrive.shared.b64 _, [%r10];\n"
     "mbarrier.arrive.shared.b64 _, [%r10];\n"
     "mbarrier.test_wait.parity.shared.b64 %p1, [%r10], 1;",
     give_p1, 1},
    {"mbarrier.pending_count", "7",
     "mbarrier.arrive.shared.b64 _, [%r10], 2;\nmbarrier.arrive.shared.b64 %q2, [%r10], 2;\n"
     "mbarrier.pending_count.b64 %r1, %q2;\ncvt.u64.u32 %q1, %r1;",
     give_q1, 5},
    {"mbarrier.inval", "1",
     "mbarrier.inval.shared.b64 [%r10];\nst.shared.u64 [%r10], 9;\nld.shared.u64 %q1, [%r10];",
     give_q1, 9},
};

/* Two words behind the first one of the array, copied by a lane; the second is the result. */
const struct {
  const char *form, *body;
  uint64_t wanted;
} copy_cases[] = {
    {"cp.async.wait_all",
     "cp.async.ca.shared.global [%r11+8], [%base+16], 8;\ncp.async.wait_all;", 102},
    {"cp.async.ca",
     "cp.async.ca.shared::cta.global.L2::128B [%r11+8], [%base+16], 8, 8;\n"
     "cp.async.wait_all;",
     102},
    {"cp.async.ca",
     "cp.async.ca.shared.global [%r11+8], [%base+16], 4;\n"
     "cp.async.ca.shared.global [%r11+12], [%base+20], 4, 0;\ncp.async.wait_all;",
     102},
    /* Behind what is copied come zeros. */
    {"cp.async.ca",
     "st.global.u64 [%base+16], -1;\n"
     "cp.async.ca.shared.global [%r11+8], [%base+16], 8, 3;\ncp.async.wait_all;",
     0xffffff},
    {"cp.async.cg", "cp.async.cg.shared.global [%r11], [%base+16], 16;\ncp.async.wait_all;",
     103},
    {"cp.async.commit_group",
     "cp.async.ca.shared.global [%r11+8], [%base+16], 8;\ncp.async.commit_group;\n"
     "cp.async.ca.shared.global [%r11+16], [%base+24], 8;\ncp.async.commit_group;\n"
     "cp.async.wait_group 1;",
     102},
    {"cp.async.wait_group",
     "cp.async.ca.shared.global [%r11+16], [%base+16], 8;\ncp.async.commit_group;\n"
     "cp.async.ca.shared.global [%r11+8], [%base+24], 8;\ncp.async.commit_group;\n"
     "cp.async.wait_group 0;",
     103},
};

/* One thread copies 64 words by bulk, all wait and add the last one: 32 times 163. */
const char bulk[] = R"(
  @%p9 mbarrier.init.shared.b64 [%r10], 1;
  @%p9 fence.proxy.async.shared::cta;
  @%p9 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%base], 512, [%r10];
  @%p9 mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %q2, [%r10], 512;
  BARRIER
again:
  WAIT
  ld.shared.u64 %q1, [%r11+504];
  bar.sync 0;
  @%p9 st.global.u64 [%base], 0;
  bar.sync 0;
  red.global.add.u64 [%base], %q1;
)";
const char wait[] =
    "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r10], 0;\n@!%p1 bra again;";

std::string bulk_with(const char *barrier, const char *waiting) {
  std::string text = bulk;
  text.replace(text.find("BARRIER"), 7, barrier);
  return text.replace(text.find("WAIT"), 4, waiting);
}

} // namespace

Test(ptx_async, each_form_of_barrier) {
  for (const auto &c : barrier_cases) {
    gives(std::string(make_barrier) + c.arrivals + ";\n" + c.body + c.result, c.wanted);
  }
}

Test(ptx_async, each_form_of_copy) {
  for (const auto &c : copy_cases) {
    gives(std::string(c.body) + "\nld.shared.u64 %q1, [%r11+8];" + give_q1, c.wanted);
  }
}

Test(ptx_async, no_form_without_a_case) {
  for (const std::string form : async_forms()) {
    bool tested = form == "cp.async.bulk"; /* below */
    for (const auto &c : barrier_cases) tested = tested || form == c.form;
    for (const auto &c : copy_cases) tested = tested || form == c.form;
    cr_assert(tested, "%s has no test", form.c_str());
  }
}

Test(ptx_async, a_block_waits_for_a_bulk_copy) {
  gives(bulk_with("bar.sync 0;", wait), 64 * 163, 64);
}

/* ---- what is found ---- */

Test(ptx_async, who_does_not_wait_is_found) {
  fails(bulk_with("bar.sync 0;", ""), "never written", 64);
  fails("cp.async.ca.shared.global [%r11], [%base], 8;\ncp.async.commit_group;\n"
        "ld.shared.u64 %q1, [%r11];",
        "never written");
  /* The first of two groups may be waited for, and the second be read. */
  fails("cp.async.ca.shared.global [%r11], [%base], 8;\ncp.async.commit_group;\n"
        "cp.async.ca.shared.global [%r11+8], [%base], 8;\ncp.async.commit_group;\n"
        "cp.async.wait_group 1;\nld.shared.u64 %q1, [%r11+8];",
        "never written");
  /* That of another lane: its own wait does not order it. */
  fails("@%p9 cp.async.ca.shared.global [%r11], [%base], 8;\ncp.async.wait_all;\n"
        "ld.shared.u64 %q1, [%r11];",
        "race", 2);
}

/* Where the others come too early; where they do not, the barrier itself orders them. */
Test(ptx_async, who_waits_at_a_barrier_that_is_not_made_yet_is_found) {
  unsigned found = 0;
  for (int seed = 1; seed <= 10; seed++) {
    const std::string said = "seed=" + std::to_string(seed);
    const std::string wrong = run_on(said.c_str(), bulk_with("", wait), 64).wrong;
    found += wrong.find("never written") != std::string::npos;
  }
  cr_assert(found > 0);
}

Test(ptx_async, barriers_that_are_misused) {
  fails("mbarrier.arrive.shared.b64 _, [%r10];", "never written");
  fails("mbarrier.init.shared.b64 [%r10], 0;", "for 0 arrivals");
  fails("mbarrier.init.shared.b64 [%r10], 1;\nmbarrier.arrive.shared.b64 _, [%r10], 2;",
        "2 arrivals at an mbarrier, whose phase waits for 1");
  fails("mbarrier.init.shared.b64 [%r10], 1;\nmbarrier.inval.shared.b64 [%r10];\n"
        "mbarrier.test_wait.parity.shared.b64 %p1, [%r10], 0;",
        "there is no mbarrier");
  fails("mbarrier.init.shared.b64 [%r10], 1;\n"
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r10], 1048576;",
        "at most 1048575 bytes");
  fails("mbarrier.init.shared.b64 [%r10+4], 1;", "misaligned");
}

Test(ptx_async, copies_that_are_misused) {
  const std::string made = std::string(make_barrier) + "1;\n";
  const std::string copy =
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%base], ";
  fails(made + copy + "24, [%r10];", "multiples of 16");
  fails(made + copy + "512, [%r10];", "nobody has waited for the copy");
  fails(made + copy + "1024, [%r10];\nmbarrier.test_wait.parity.shared.b64 %p1, [%r10], 0;",
        "no memory was allocated there");
  fails("cp.async.ca.shared.global [%r11], [%base], 8, 9;", "9 bytes of a copy of 8");
  fails("cp.async.cg.shared.global [%r11], [%base], 8;", "unknown opcode cp.async.cg");
  fails("cp.async.ca.shared.global [%r11], [%base+4], 8;\ncp.async.wait_all;", "misaligned");
}
