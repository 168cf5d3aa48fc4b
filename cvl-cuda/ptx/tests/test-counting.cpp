/* test-counting.cpp - compares counts of kernels with numbers that were worked out by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cvl-cuda/ptx/tests/rig.hpp"

using namespace ravel::ptx;

namespace {

/* A device that counts into a file of its own. */
struct counted {
  std::string file;
  rig on;

  static std::string new_file() {
    char name[] = "/tmp/test-counting-XXXXXX";
    const int f = mkstemp(name);
    cr_assert(f >= 0);
    close(f);
    return name;
  }
  explicit counted(uint64_t words, const std::string &more = "")
      : file(new_file()), on(words, "unchecked,count=" + file + more) {}
  ~counted() { unlink(file.c_str()); }

  std::string lines() const {
    std::string all;
    char text[1 << 12];
    FILE *f = fopen(file.c_str(), "r");
    cr_assert(f != nullptr);
    for (size_t n; (n = fread(text, 1, sizeof text, f)) > 0;) all.append(text, n);
    fclose(f);
    return all;
  }
  void run(const std::string &body, uint32_t threads = 32, uint32_t blocks = 1) {
    const std::string fault = on.run(body, threads, blocks);
    cr_assert(fault.empty(), "%s", fault.c_str());
  }
  void says(const std::string &wanted) const {
    const std::string all = lines();
    cr_assert(all.find(wanted) != std::string::npos, "%s is not in\n%s", wanted.c_str(),
              all.c_str());
  }
};

/* Sets %q1 to the address of each thread's word, with a stride of words between threads. */
std::string address_of_thread(unsigned stride) {
  return "mov.u32 %r1, %tid.x;\nmul.wide.u32 %q0, %r1, " + std::to_string(8 * stride) +
         ";\nadd.s64 %q1, %base, %q0;\n";
}
/* Sets %r2 to a thread's address in shared memory. */
std::string in_shared(unsigned stride_bytes) {
  return ".shared .align 16 .b8 s[8192];\nmov.u32 %r1, %tid.x;\nmul.lo.u32 %r2, %r1, " +
         std::to_string(stride_bytes) + ";\nmov.u32 %r3, s;\nadd.u32 %r2, %r2, %r3;\n";
}

} // namespace

Test(ptx_counting, neighbours_are_in_one_sector) {
  counted c(1024);
  c.run(address_of_thread(1) + "ld.global.u64 %q2, [%q1];\nst.global.u64 [%q1], %q2;");
  c.says("\"loads\": [8, 256], \"stores\": [8, 256]");
  c.says("\"touched\": 512");
}

Test(ptx_counting, strides_ask_for_a_sector_each) {
  counted c(1024);
  c.run(address_of_thread(4) + "ld.global.u64 %q2, [%q1];");
  c.says("\"loads\": [32, 256]");
}

Test(ptx_counting, lanes_that_want_the_same_bytes_move_them_once) {
  counted c(1024);
  c.run("ld.global.u64 %q2, [%base];");
  c.says("\"loads\": [1, 8]");
}

Test(ptx_counting, vectors_of_a_lane_are_one_request) {
  counted c(1024);
  c.run(address_of_thread(2) + "ld.global.v2.u64 {%q2, %q3}, [%q1];");
  c.says("\"loads\": [16, 512]");
}

Test(ptx_counting, what_was_written_need_not_be_read) {
  counted c(1024);
  c.run(address_of_thread(1) +
        "st.global.u64 [%q1], %q1;\nld.global.u64 %q2, [%q1];\nst.global.u64 [%q1], %q2;");
  c.says("\"touched\": 256");
}

Test(ptx_counting, each_launch_counts_its_own) {
  counted c(1024);
  const std::string body = address_of_thread(1) + "ld.global.u64 %q2, [%q1];";
  c.run(body);
  c.run(body);
  const std::string all = c.lines();
  const std::string wanted = "\"touched\": 256";
  cr_assert(all.find(wanted) != all.rfind(wanted), "%s", all.c_str());
}

Test(ptx_counting, banks_of_shared_memory) {
  const struct {
    unsigned stride;
    const char *store, *wanted;
  } cases[] = {
      {4, "st.shared.u32 [%r2], %r1;", "\"wavefronts\": 1, \"least_wavefronts\": 1"},
      {8, "st.shared.u32 [%r2], %r1;", "\"wavefronts\": 2, \"least_wavefronts\": 1"},
      {128, "st.shared.u32 [%r2], %r1;", "\"wavefronts\": 32, \"least_wavefronts\": 1"},
      {0, "st.shared.u32 [%r2], %r1;", "\"wavefronts\": 1, \"least_wavefronts\": 1"},
      {132, "st.shared.u32 [%r2], %r1;", "\"wavefronts\": 1, \"least_wavefronts\": 1"},
      {8, "st.shared.u64 [%r2], %q1;", "\"wavefronts\": 2, \"least_wavefronts\": 2"},
      {16, "st.shared.u64 [%r2], %q1;", "\"wavefronts\": 4, \"least_wavefronts\": 2"},
      {16, "st.shared.v2.u64 [%r2], {%q1, %q1};", "\"wavefronts\": 4, \"least_wavefronts\": 4"},
  };
  for (const auto &k : cases) {
    counted c(1);
    c.run(in_shared(k.stride) + k.store);
    c.says(k.wanted);
  }
}

Test(ptx_counting, atomics_ask_for_a_sector) {
  counted c(1);
  c.run("mov.u32 %r1, %tid.x;\natom.global.add.u32 %r2, [%base], %r1;");
  c.says("\"atomics\": [1, 4]");
}

/* Code between two branches waits for the same round trips, whatever the order of its text. */
Test(ptx_counting, loads_that_wait_for_each_other_are_round_trips) {
  const std::string one = "ld.global.u64 %q2, [%q1];\nadd.s64 %q4, %q2, 1;\n",
                    other = "ld.global.u64 %q3, [%q1+8];\nadd.s64 %q4, %q3, 1;\n",
                    store = "st.global.u64 [%q1], %q4;\n",
                    its_address = "and.b64 %q2, %q2, 0;\nadd.s64 %q1, %q1, %q2;\n";
  const struct {
    std::string code;
    const char *wanted;
  } cases[] = {
      {one + other, "\"round_trips\": 1"},
      {one + store + other, "\"round_trips\": 2"},
      {one + "setp.eq.u64 %p1, %q4, 7;\n@%p1 bra L;\nL:\n" + other, "\"round_trips\": 2"},
      {one + "setp.eq.u64 %p1, %q1, 7;\n@%p1 bra L;\nL:\n" + other, "\"round_trips\": 2"},
      {"ld.global.u64 %q2, [%q1];\nbar.sync 0;\n" + other, "\"round_trips\": 1"},
      {one + "bar.sync 0;\n" + other, "\"round_trips\": 2"},
      {one + its_address + other, "\"round_trips\": 2"},
      {one + other + its_address + other, "\"round_trips\": 2"},
      {"atom.global.add.u64 %q2, [%q1], 1;\nadd.s64 %q4, %q2, 1;\n" + other,
       "\"round_trips\": 1"},
      {"ld.global.u64 %q2, [%q1];\n", "\"round_trips\": 0"},
  };
  for (const auto &k : cases) {
    counted c(64);
    c.run(address_of_thread(1) + k.code);
    c.says(k.wanted);
  }
}

Test(ptx_counting, copies) {
  counted c(64);
  char host[64] = {0};
  c.on.of->copy(c.on.array, (uint64_t)host, sizeof host);
  c.on.of->copy((uint64_t)host, c.on.array, 8);
  c.on.of->copy(c.on.array, c.on.array + 8, 8);
  c.on.of->fill(c.on.array, 0, 16);
  c.says("{\"copy\": 64, \"way\": \"in\"}\n{\"copy\": 8, \"way\": \"out\"}\n"
         "{\"copy\": 8, \"way\": \"on\"}\n{\"copy\": 16, \"way\": \"fill\"}\n");
}

/* An instruction is counted once for each warp: 3 instructions, and the end. */
Test(ptx_counting, instructions_of_warps) {
  counted c(1);
  c.run("mov.u32 %r1, %tid.x;\nadd.u32 %r2, %r1, 1;\nbar.sync 0;", 64, 3);
  c.says("\"instructions\": 30");
  c.says("\"blocks\": 3, \"threads\": 64");
}

Test(ptx_counting, a_file_that_cannot_be_written_is_named) {
  try {
    rig r(1, "count=/nowhere/at/all");
    cr_assert_fail();
  } catch (const error &e) {
    cr_assert_str_eq(e.what(), "RAVEL_PTX: count: /nowhere/at/all: No such file or directory");
  }
}
