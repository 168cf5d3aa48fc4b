/* test-emulation.cpp - the emulated device: the orders in which it executes threads, its queue,
 * and the findings of its checker. For each kind of report there is a small kernel with a
 * planted defect, which must be reported, and the repaired kernel, which must not. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "cvl-cuda/tests/rig.hpp"

/* ---- orders ---- */

Test(orders, are_permutations) {
  for (int32_t direction : {1, -1, 0}) {
    for (int64_t n = 0; n < 200; n++) {
      const walk start({direction, (uint64_t)n * 7 + 5}, n);
      walk w = start;
      std::set<int64_t> seen;
      for (int64_t k = 0; k < n; k++) {
        const int64_t i = w.next();
        cr_assert(i >= 0 && i < n && seen.insert(i).second, "n %d", (int)n);
        cr_assert_eq(i, start.after(k));
        if (direction > 0) cr_assert_eq(i, k);
        if (direction < 0) cr_assert_eq(i, n - 1 - k);
      }
    }
  }
}

Test(orders, depend_on_the_seed_and_have_room_for_long_vectors) {
  const int64_t n = ((int64_t)1 << 62) + 11;
  std::set<int64_t> firsts;
  for (uint64_t seed = 0; seed < 20; seed++) {
    const walk start({0, seed}, n);
    walk w = start;
    firsts.insert(w.at);
    for (int64_t k = 0; k < 100; k++) {
      const int64_t i = w.next();
      cr_assert(i >= 0 && i < n);
      cr_assert_eq(i, start.after(k));
    }
  }
  cr_assert_eq(firsts.size(), (size_t)20);
}

/* ---- options ---- */

Test(options, are_read) {
  emulation_options o;
  cr_assert(o.parse(""));
  cr_assert_eq(o.threads.direction, 1);
  cr_assert(o.parse("order=shuffled,seed=7,check,deferred,small=-1,fail=12"));
  cr_assert_eq(o.threads.direction, 0);
  cr_assert_eq(o.threads.seed, (uint64_t)7);
  cr_assert(o.check && o.has_small);
  cr_assert_eq(o.small, -1);
  cr_assert_eq(o.executed, emulation_options::ON_WAIT);
  cr_assert_eq(o.fails.fail_at, (uint64_t)12);
  cr_assert_eq(o.staging, (uint64_t)0);
  cr_assert(o.parse("seed=0x5eed2311,staging=64"));
  cr_assert_eq(o.staging, (uint64_t)64);
  cr_assert_eq(o.threads.seed, 0x5eed2311);
  cr_assert(o.parse("order=reverse,deferred=random,fail=memory@3"));
  cr_assert_eq(o.threads.direction, -1);
  cr_assert_eq(o.executed, emulation_options::AT_RANDOM);
  cr_assert_eq(o.fails.no_memory_from, (uint64_t)3);
}

Test(options, are_refused_when_unknown) {
  for (const char *text :
       {"checks", "order=", "order=up", "seed=x", "seed=-1", "small=", "deferred=no", "check=1",
        "staging=", "staging=0", "fail=", "fail=memory@", ",check"}) {
    emulation_options o;
    cr_assert_not(o.parse(text), "%s", text);
  }
  emulation_options o;
  setenv("RAVEL_EMULATION", "chekc", 1);
  cr_assert_not_null(o.from_environment());
  setenv("RAVEL_EMULATION", "small=5", 1);
  cr_assert_null(o.from_environment());
  cr_assert_eq(o.small, 5);
  setenv("RAVEL_CUDA_SMALL", "0", 1);
  cr_assert_null(o.from_environment());
  cr_assert_eq(o.small, 0);
  setenv("RAVEL_CUDA_SMALL", "none", 1);
  cr_assert_not_null(o.from_environment());
}

/* ---- pointers ---- */

static_assert(sizeof(ptr<int64_t>) == sizeof(void *), "bodies are those of generated kernels");
static_assert(std::is_trivially_copyable<ptr<int64_t>>::value, "bodies are copied as bytes");
static_assert(std::is_trivially_copyable<operand<double>>::value, "likewise");
static_assert(std::is_convertible<ptr<int64_t>, ptr<const int64_t>>::value, "may become const");
static_assert(!std::is_convertible<ptr<const int64_t>, ptr<int64_t>>::value, "but not back");

Test(pointers, are_like_plain_ones) {
  int64_t memory[4] = {1, 2, 3, 4};
  ptr<int64_t> p = pointer_to<int64_t>(memory);
  const ptr<const int64_t> q = p + 1;
  cr_assert_eq(address(q), memory + 1);
  cr_assert_eq(q - ptr<const int64_t>(p), 1);
  cr_assert((bool)(ptr<const int64_t>(p) == q - 1));
  cr_assert((bool)(p != nullptr));
  cr_assert((bool)(segments{}.offsets == nullptr));
  p[0] = q[2];
  cr_assert_eq(memory[0], 4);
  p[1] = p[3] = 9;
  cr_assert_eq(memory[1] + memory[3], 18);
  p[2] += 5;
  p[2] |= 16;
  cr_assert_eq(memory[2], 8 | 16);
  cr_assert_eq((int64_t)p[2] - (int64_t)*q, 24 - 9);
  cr_assert_eq(++p[2], 25);
  p += 2;
  cr_assert_eq(address(p), memory + 2);
  cr_assert_eq(atomic_max(p, 100), 25);
  cr_assert_eq(memory[2], 100);
}

/* ---- the queue ---- */

struct squares {
  ptr<int64_t> out;
  HD void operator()(int64_t i) const { out[i] = i * i; }
};
struct doubled {
  ptr<const int64_t> in;
  ptr<int64_t> out;
  /* The product is unsigned, since a planted defect may give it any value. */
  HD void operator()(int64_t i) const { out[i] = (int64_t)(2 * (uint64_t)in[i]); }
};

Test(queue, executes_in_order_whatever_the_way) {
  for (const char *way :
       {"", "deferred", "deferred=random,seed=5", "order=shuffled,deferred"}) {
    for (bool check : {false, true}) {
      rig r((std::string(way) + (*way && check ? "," : "") + (check ? "check" : "")).c_str());
      ptr<int64_t> a = r.fresh<int64_t>(100), b = r.fresh<int64_t>(100);
      r.map("squares", 100, squares{a});
      r.map("doubled", 100, doubled{a, b});
      r.map("doubled", 100, doubled{b, a});
      const std::vector<int64_t> x = r.download(a, 100);
      for (int64_t i = 0; i < 100; i++) cr_assert_eq(x[(size_t)i], 4 * i * i);
      expect_clean();
    }
  }
}

Test(queue, does_nothing_before_somebody_waits) {
  rig r("deferred");
  ptr<int64_t> a = r.fresh<int64_t>(1);
  *address(a) = -1;
  r.map("squares", 1, squares{a});
  r.device->mark(1);
  cr_assert_eq(r.device->reached(), (uint64_t)0);
  cr_assert_eq(*address(a), -1);
  r.device->wait(1);
  cr_assert_eq(r.device->reached(), (uint64_t)1);
  cr_assert_eq(*address(a), 0);
}

Test(queue, waits_for_no_more_than_it_has_to) {
  rig r("deferred");
  ptr<int64_t> a = r.fresh<int64_t>(2);
  r.device->fill(address(a), 0xff, 16);
  r.device->mark(1);
  r.map("squares", 2, squares{a});
  r.device->mark(2);
  r.device->wait(1);
  cr_assert_eq(address(a)[1], -1);
  r.device->wait(2);
  cr_assert_eq(address(a)[1], 1);
}

Test(queue, executes_some_at_random) {
  rig r("deferred=random,seed=1");
  ptr<int64_t> a = r.fresh<int64_t>(4);
  std::set<uint64_t> behind;
  for (uint64_t e = 1; e <= 200; e++) {
    r.map("squares", 4, squares{a});
    r.device->mark(e);
    const uint64_t reached = r.device->reached();
    cr_assert(reached <= e);
    behind.insert(e - reached);
  }
  cr_assert_gt(behind.size(), (size_t)3);
}

/* ---- conflicts between threads ---- */

struct halves {
  ptr<int64_t> out;
  int64_t by;
  HD void operator()(int64_t i) const { out[i / by] = 1; }
};

Test(checker, finds_two_threads_that_write_one_element) {
  planted(WRITTEN_TWICE,
          {"kernel \"halves\" (launch 1): ", "thread ", " and thread ",
           "both write block 1 (80 bytes), element "},
          [](rig &r, bool defect) {
            r.map("halves", 10, halves{r.fresh<int64_t>(10), defect ? 2 : 1});
          });
}

Test(checker, names_the_threads_and_the_element) {
  rig r("check");
  r.fresh<int64_t>(10);
  r.map("halves", 10, halves{r.fresh<int64_t>(10), 10});
  r.finish();
  const std::vector<report> all = take_reports();
  cr_assert_eq(all.size(), (size_t)9);
  cr_assert_str_eq(all[0].text.c_str(),
                   "kernel \"halves\" (launch 1): thread 0 and thread 1 both write block 2 "
                   "(80 bytes), element 0 of 8 bytes");
  cr_assert_str_eq(all[8].text.c_str(),
                   "kernel \"halves\" (launch 1): thread 8 and thread 9 both write block 2 "
                   "(80 bytes), element 0 of 8 bytes");
}

Test(checker, names_the_threads_in_any_order) {
  for (const char *way : ways) {
    rig r(way);
    r.map("halves", 2, halves{r.fresh<int64_t>(1), 2});
    r.finish();
    const std::vector<report> all = take_reports();
    cr_assert_eq(all.size(), (size_t)1);
    const bool up = all[0].text.find("thread 0 and thread 1 ") != std::string::npos;
    const bool down = all[0].text.find("thread 1 and thread 0 ") != std::string::npos;
    cr_assert(up || down, "%s", all[0].text.c_str());
  }
}

struct neighbours {
  ptr<const int64_t> in;
  ptr<int64_t> out;
  int64_t n;
  HD void operator()(int64_t i) const { out[i] = in[i + 1 < n ? i + 1 : 0]; }
};

Test(checker, finds_a_map_onto_its_operand_that_reads_neighbours) {
  planted(READ_AND_WRITTEN, {"kernel \"neighbours\"", "thread ", "element "},
          [](rig &r, bool defect) {
            ptr<int64_t> a = r.upload(numbers(30)), b = r.fresh<int64_t>(30);
            r.map("neighbours", 30, neighbours{a, defect ? a : b, 30});
          });
}

/* Many threads read what one writes. None is forgotten when the writer reads, too. */
struct crowd {
  ptr<int64_t> x;
  ptr<int64_t> out;
  int64_t writer;
  HD void operator()(int64_t i) const {
    out[i] = x[0];
    if (i == writer) x[0] = 5;
  }
};

Test(checker, finds_the_thread_that_reads_and_writes) {
  planted(READ_AND_WRITTEN, {"kernel \"crowd\"", "block 1 (8 bytes), element 0"},
          [](rig &r, bool defect) {
            ptr<int64_t> x = r.upload(numbers(1));
            r.map("crowd", defect ? 3 : 1, crowd{x, r.fresh<int64_t>(3), 0});
          });
}

struct bytes_and_words {
  ptr<uint8_t> bytes;
  ptr<uint64_t> words;
  int64_t n;
  HD void operator()(int64_t i) const {
    if (i < n) {
      bytes[8 * i + 7] = 1;
    } else {
      words[i - n] = 2;
    }
  }
};

Test(checker, finds_conflicts_of_elements_of_different_width) {
  planted(WRITTEN_TWICE, {"kernel \"mixed\""}, [](rig &r, bool defect) {
    ptr<uint64_t> words = r.fresh<uint64_t>(8), others = r.fresh<uint64_t>(8);
    r.map("mixed", 16,
          bytes_and_words{pointer_to<uint8_t>(address(words)), defect ? words : others, 8});
  });
}

struct most {
  ptr<int64_t> best;
  int64_t plain;
  HD void operator()(int64_t i) const {
    if (i == plain)
      best[0] = i;
    else
      atomic_max(best, i);
  }
};
struct reads_best {
  ptr<int64_t> best;
  ptr<int64_t> out;
  HD void operator()(int64_t i) const { out[i] = atomic_max(best, i) < i ? best[0] : i; }
};

Test(checker, finds_plain_writes_of_what_others_change_atomically) {
  planted(PLAIN_AND_ATOMIC, {"kernel \"most\"", "atomically", "element 0"},
          [](rig &r, bool defect) {
            ptr<int64_t> best = r.upload(numbers(1));
            r.map("most", 20, most{best, defect ? 7 : -1});
          });
}

Test(checker, finds_plain_reads_of_what_others_change_atomically) {
  planted(PLAIN_AND_ATOMIC, {"kernel \"reads best\"", "atomically", "element 0"},
          [](rig &r, bool defect) {
            ptr<int64_t> best = r.upload(numbers(1)), out = r.fresh<int64_t>(20);
            r.map("reads best", defect ? 20 : 1, reads_best{best, out});
          });
}

/* ---- cooperative kernels ---- */

/* An exclusive scan of 64 elements a block, in the memory of the block. In one array with one
 * phase a step, a thread reads what another writes; in two arrays none does. */
struct block_scan {
  enum { threads = 64 };
  struct shared {
    shared_array<int64_t, 128> x;
  };
  ptr<const int64_t> in;
  ptr<int64_t> out;
  int64_t second; /* where the second array begins */

  template <class B> HD void operator()(B &block) const {
    const int64_t first = block.index() * threads, other = second;
    block.each([&](int t) { block.shared.x[t] = in[first + t]; });
    int64_t from = 0;
    for (int w = 1; w < threads; w *= 2) {
      const int64_t at = from, to = at == 0 ? other : 0;
      block.each([&](int t) {
        const int64_t mine = block.shared.x[at + t];
        block.shared.x[to + t] = t >= w ? mine + (int64_t)block.shared.x[at + t - w] : mine;
      });
      from = to;
    }
    block.each(
        [&](int t) { out[first + t] = t > 0 ? (int64_t)block.shared.x[from + t - 1] : 0; });
  }
};

Test(checker, finds_a_scan_without_a_second_array) {
  planted(READ_AND_WRITTEN, {"kernel \"block scan\"", "of block ", "of a shared array"},
          [](rig &r, bool defect) {
            ptr<int64_t> in = r.upload(numbers(192)), out = r.fresh<int64_t>(192);
            r.blocks("block scan", 3, block_scan{in, out, defect ? 0 : 64});
            if (defect) return;
            const std::vector<int64_t> x = r.download(out, 192);
            for (int64_t k = 0; k < 192; k++) {
              const int64_t t = k % 64, first = k - t;
              cr_assert_eq(x[(size_t)k], 10 * (t * first + t * (t - 1) / 2));
            }
          });
}

/* Every block writes its sum, and some block reads that of another: nothing orders blocks. */
struct sums_of_others {
  enum { threads = 32 };
  struct shared {};
  ptr<int64_t> sums;
  ptr<int64_t> out;
  int64_t distance;

  template <class B> HD void operator()(B &block) const {
    const int64_t b = block.index(), n = block.count();
    block.each([&](int t) {
      if (t == 0) sums[b] = b;
    });
    block.each([&](int t) {
      if (t == 1) out[b] = sums[(b + distance) % n];
    });
  }
};

Test(checker, finds_blocks_that_wait_for_each_other) {
  planted(READ_AND_WRITTEN, {"kernel \"sums\"", "thread 1 of block ", "thread 0 of block "},
          [](rig &r, bool defect) {
            r.blocks("sums", 4,
                     sums_of_others{r.upload(numbers(4)), r.fresh<int64_t>(4), defect ? 1 : 4});
          });
}

struct uniform_write {
  enum { threads = 32 };
  struct shared {};
  ptr<int64_t> out;
  bool outside;

  template <class B> HD void operator()(B &block) const {
    const bool defect = outside;
    const int64_t total = block.index();
    if (outside) out[block.index()] = total;
    block.each([&](int t) {
      if (t == 0 && !defect) out[block.index()] = total;
    });
  }
};

Test(checker, finds_writes_outside_of_phases) {
  planted(OUTSIDE_PHASE, {"kernel \"total\"", "all threads of block ", "write block "},
          [](rig &r, bool defect) {
            r.blocks("total", 3, uniform_write{r.fresh<int64_t>(3), defect});
          });
}

/* Data that all threads read between phases must not be written in the next phase. */
struct uniform_read {
  enum { threads = 32 };
  struct shared {};
  ptr<int64_t> out, total;
  int64_t next;

  template <class B> HD void operator()(B &block) const {
    block.each([&](int t) {
      if (t < 2) total[2 * block.index() + t] = 1;
    });
    const int64_t sum = total[2 * block.index()];
    block.each([&](int t) {
      if (t == 0) total[2 * block.index() + next] = 2;
      if (t == 1) out[block.index()] = sum;
    });
  }
};

Test(checker, finds_a_read_between_phases_without_a_barrier_behind) {
  planted(READ_AND_WRITTEN,
          {"kernel \"between\"", "all threads of block ", "block 2 (32 bytes), element "},
          [](rig &r, bool defect) {
            const ptr<int64_t> out = r.fresh<int64_t>(2);
            r.blocks("between", 2, uniform_read{out, r.fresh<int64_t>(4), defect ? 0 : 1});
          });
}

/* This also holds for shared memory: nothing separates such a read from the next block of these
 * threads. */
struct shared_between {
  enum { threads = 32 };
  struct shared {
    shared_array<int64_t, 1> total;
  };
  ptr<int64_t> out;
  bool between;

  template <class B> HD void operator()(B &block) const {
    block.each([&](int t) {
      if (t == 0) block.shared.total[0] = block.index();
    });
    int64_t total = 0;
    if (between) total = block.shared.total[0];
    block.each([&](int t) {
      if (t == 1) out[block.index()] = between ? total : (int64_t)block.shared.total[0];
    });
  }
};

Test(checker, finds_reads_of_shared_memory_between_phases) {
  planted(OUTSIDE_PHASE,
          {"kernel \"between\"", "all threads of block ", "read element 0 of a shared array"},
          [](rig &r, bool defect) {
            r.blocks("between", 2, shared_between{r.fresh<int64_t>(2), defect});
          });
}

/* ---- registers ---- */

/* A device ignores the index: each thread gets its own register. */
struct neighbour_in_register {
  enum { threads = 64 };
  struct shared {};
  ptr<int64_t> out;
  int at;

  template <class B> HD void operator()(B &block) const {
    typename B::template reg<int64_t> x;
    block.each([&](int t) { x[t] = t; });
    block.each([&](int t) { out[block.index() * threads + t] = x[t == 40 ? at : t]; });
  }
};

Test(checker, finds_registers_of_other_threads) {
  planted(ANOTHERS_REGISTER,
          {"kernel \"neighbour\" (launch 1): thread 40 of block ",
           "the register named is that of thread 41"},
          [](rig &r, bool defect) {
            const ptr<int64_t> out = r.fresh<int64_t>(128);
            r.blocks("neighbour", 2, neighbour_in_register{out, defect ? 41 : 40});
          });
}

/* There is no thread behind the last one. The value used then is the one that a device would
 * use. */
Test(checker, takes_the_register_that_a_device_has) {
  rig r("check");
  const ptr<int64_t> out = r.fresh<int64_t>(64);
  r.blocks("neighbour", 1, neighbour_in_register{out, 1 << 20});
  cr_assert_eq(r.download(out, 64)[40], 40);
  expect_found(ANOTHERS_REGISTER, {"that of thread 1048576"});
}

Test(checker, finds_registers_of_other_threads_on_the_host) {
  planted(ANOTHERS_REGISTER, {"\"neighbour\" on the host: thread 40, the register"},
          [](rig &r, bool defect) {
            const ptr<int64_t> out = pointer_to<int64_t>(r.pinned<int64_t>(64));
            const neighbour_in_register body{out, defect ? 41 : 40};
            r.device->run_here(launch_blocks("neighbour", 1, body));
          });
}

/* Between phases every thread decides by its own value. */
struct decides {
  enum { threads = 64 };
  struct shared {};
  ptr<int64_t> out;
  bool by_index, differs;

  template <class B> HD void operator()(B &block) const {
    typename B::template reg<int32_t> turns;
    block.each([&](int t) { turns[t] = differs && t == 33 ? 7 : 3; });
    const int32_t n = by_index ? turns[0] : block.uniform(turns);
    for (int32_t k = 0; k < n; k++) {
      block.each([&](int t) { out[block.index() * threads + t] = k; });
    }
  }
};

Test(checker, finds_decisions_for_a_block_that_differ_between_threads) {
  planted(NOT_UNIFORM,
          {"kernel \"decides\" (launch 1): all threads of block ",
           "not the same in all threads: 3 in thread 0, 7 in thread 33"},
          [](rig &r, bool defect) {
            r.blocks("decides", 2, decides{r.fresh<int64_t>(128), false, defect});
          });
}

Test(checker, finds_a_register_used_between_phases) {
  planted(ANOTHERS_REGISTER,
          {"kernel \"decides\" (launch 1): all threads of block ", "that of thread 0"},
          [](rig &r, bool defect) {
            r.blocks("decides", 2, decides{r.fresh<int64_t>(128), defect, false});
          });
}

struct reads_shared {
  enum { threads = 32 };
  struct shared {
    shared_array<int32_t, 32> x;
  };
  ptr<int32_t> out;
  int first, shift;

  template <class B> HD void operator()(B &block) const {
    block.each([&](int t) {
      if (t >= first) block.shared.x[t] = t;
    });
    block.each([&](int t) {
      if (block.index() == 0) out[t] = block.shared.x[(t + shift) % 64];
    });
  }
};

Test(checker, finds_shared_memory_that_nobody_has_written) {
  planted(UNINITIALISED, {"kernel \"shared\"", "thread 0 of block 0", "element 0 of a shared"},
          [](rig &r, bool defect) {
            r.blocks("shared", 2, reads_shared{r.fresh<int32_t>(32), defect ? 1 : 0, 0});
          });
}

Test(checker, finds_indices_outside_of_shared_memory) {
  planted(OUT_OF_BOUNDS, {"kernel \"shared\"", "element 32 of a shared array of 32 elements"},
          [](rig &r, bool defect) {
            r.blocks("shared", 2, reads_shared{r.fresh<int32_t>(32), 0, defect ? 1 : 0});
          });
}

/* ---- memory ---- */

Test(checker, finds_reads_of_what_nobody_has_written) {
  planted(UNINITIALISED, {"kernel \"doubled\"", "thread ", "block 1 (64 bytes), element 7 "},
          [](rig &r, bool defect) {
            ptr<int64_t> a = r.fresh<int64_t>(8), b = r.fresh<int64_t>(8);
            r.map("squares", defect ? 7 : 8, squares{a});
            r.map("doubled", 8, doubled{a, b});
          });
}

Test(checker, finds_copies_of_what_nobody_has_written) {
  planted(UNINITIALISED, {"a copy to the host reads", "block 1 (64 bytes)"},
          [](rig &r, bool defect) {
            ptr<int64_t> a = r.fresh<int64_t>(8);
            r.map("squares", defect ? 7 : 8, squares{a});
            r.device->copy_down(r.pinned<int64_t>(8), address(a), 64);
          });
}

Test(checker, finds_copies_on_the_device_of_what_nobody_has_written) {
  planted(UNINITIALISED, {"a copy on the device reads", "block 1 (64 bytes)"},
          [](rig &r, bool defect) {
            ptr<int64_t> a = r.fresh<int64_t>(8), b = r.fresh<int64_t>(8);
            r.map("squares", defect ? 7 : 8, squares{a});
            r.device->copy(address(b), address(a), 64);
          });
}

Test(checker, finds_copies_on_the_device_behind_the_end) {
  planted(OUT_OF_BOUNDS, {"a copy on the device writes", "block 2 (64 bytes)"},
          [](rig &r, bool defect) {
            ptr<int64_t> a = r.upload(numbers(8)), b = r.fresh<int64_t>(8);
            r.device->copy(address(b + (defect ? 1 : 0)), address(a), 64);
          });
}

/* Each segment's number is written at its first element, as in the paper of 2012. An empty
 * segment has the first element of the next one, or the one behind the end. */
struct marks {
  ptr<const int64_t> starts, lengths;
  ptr<int64_t> ids;
  bool looks;
  HD void operator()(int64_t s) const {
    if (!looks || lengths[s] > 0) ids[starts[s]] = s;
  }
};

static void mark_starts(rig &r, const std::vector<int64_t> &lengths, bool looks) {
  std::vector<int64_t> starts;
  int64_t n = 0;
  for (int64_t l : lengths) {
    starts.push_back(n);
    n += l;
  }
  ptr<int64_t> ids = r.fresh<int64_t>(n);
  r.device->fill(address(ids), 0, (size_t)n * 8);
  r.map("marks", (int64_t)lengths.size(),
        marks{r.upload(starts), r.upload(lengths), ids, looks});
}

Test(checker, finds_start_marks_that_collide) {
  planted(WRITTEN_TWICE, {"kernel \"marks\"", "block 1 (48 bytes), element 2 "},
          [](rig &r, bool defect) {
            mark_starts(r, {2, 0, 4}, !defect);
          });
}

Test(checker, finds_start_marks_behind_the_end) {
  planted(
      OUT_OF_BOUNDS,
      {"kernel \"marks\"", "thread 2 writes out of bounds", "block 1 (48 bytes), element 6 "},
      [](rig &r, bool defect) {
        mark_starts(r, {2, 4, 0}, !defect);
      });
}

Test(checker, finds_what_lies_before_and_behind_blocks) {
  planted(OUT_OF_BOUNDS, {"kernel \"doubled\"", "out of bounds", "block "},
          [](rig &r, bool defect) {
            r.fresh<int64_t>(32);
            ptr<int64_t> a = r.upload(numbers(32)), b = r.fresh<int64_t>(32);
            r.map("doubled", 32, doubled{defect ? a - 1 : a, b});
            r.map("doubled", 32, doubled{a, defect ? b + 1 : b});
          });
}

/* The next device may get the addresses of one that has ended, but nothing else of it. */
Test(checker, a_device_that_has_ended_leaves_nothing) {
  for (const char *way : ways) {
    {
      rig r(way);
      r.map("squares", 4000, squares{r.upload(numbers(4000))});
    }
    expect_clean();
    {
      rig r(way);
      r.map("squares", 8, squares{r.fresh<int64_t>(8)});
    }
    expect_clean();
    {
      rig r(way);
      r.map("squares", 8, squares{r.fresh<int64_t>(8) + 1000});
    }
    expect_found(OUT_OF_BOUNDS, {"kernel \"squares\"", "element 100"});
  }
}

Test(checker, finds_memory_given_back) {
  planted(FREED, {"kernel \"squares\"", "thread ", "freed memory", "block 1 (80 bytes)"},
          [](rig &r, bool defect) {
            ptr<int64_t> a = r.fresh<int64_t>(10);
            if (defect) r.device->returned(address(a), 80);
            r.map("squares", 10, squares{a});
            /* It is issued after the launch, so it is right whenever either is executed. */
            if (!defect) r.device->returned(address(a), 80);
          });
}

Test(checker, finds_memory_given_back_among_commands) {
  planted(FREED, {"a fill writes", "freed memory", "block 1 (80 bytes)"},
          [](rig &r, bool defect) {
            ptr<int64_t> a = r.fresh<int64_t>(10);
            if (defect) r.device->returned(address(a), 80);
            r.device->fill(address(a), 0, 80);
          });
}

Test(checker, does_not_hand_out_at_once_what_was_given_back) {
  rig r("check");
  ptr<int64_t> a = r.fresh<int64_t>(10);
  r.device->returned(address(a), 80);
  for (int k = 0; k < 1000; k++) {
    ptr<int64_t> b = r.fresh<int64_t>(10);
    cr_assert((bool)(a != b));
    r.device->returned(address(b), 80);
  }
  /* In the end addresses come back, so they are not used up. */
  std::set<void *> ranges;
  for (int k = 0; k < 200; k++) {
    ptr<uint8_t> b = r.fresh<uint8_t>(4 << 20);
    ranges.insert(address(b));
    r.device->returned(address(b), 4 << 20);
  }
  cr_assert_lt(ranges.size(), (size_t)100);
  expect_clean();
}

Test(checker, finds_addresses_that_are_not_aligned) {
  planted(MISALIGNED, {"kernel \"squares\"", "not aligned", "not at its start"},
          [](rig &r, bool defect) {
            ptr<uint8_t> a = r.fresh<uint8_t>(88);
            r.map("squares", 10, squares{pointer_to<int64_t>(address(a + (defect ? 4 : 8)))});
          });
}

/* ---- the two sides ---- */

Test(checker, finds_memory_of_the_host_in_kernels) {
  static int64_t own[10];
  planted(HOST_MEMORY, {"kernel \"squares\"", "memory of the host", "address 0x"},
          [](rig &r, bool defect) {
            r.map("squares", 10,
                  squares{defect ? pointer_to<int64_t>(own) : r.fresh<int64_t>(10)});
          });
}

Test(checker, finds_no_pointer_at_all) {
  planted(
      HOST_MEMORY, {"kernel \"doubled\"", "reads memory of the host"}, [](rig &r, bool defect) {
        ptr<int64_t> a = r.upload(numbers(4));
        r.map("doubled", 4, doubled{defect ? ptr<int64_t>(nullptr) : a, r.fresh<int64_t>(4)});
      });
}

Test(checker, finds_memory_of_the_device_on_the_host) {
  planted(DEVICE_MEMORY, {"\"squares\" on the host writes memory of the device", "element "},
          [](rig &r, bool defect) {
            ptr<int64_t> a = r.fresh<int64_t>(10);
            if (!defect) a = pointer_to<int64_t>(r.pinned<int64_t>(10));
            r.finish();
            r.device->run_here(launch_n("squares", 10, squares{a}));
          });
}

/* Returns the exit status of a process that executes the body and exits. */
template <class F> int exit_status_of(F body) {
  fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    body();
    abort();
  }
  int status = 0;
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_assert(WIFEXITED(status));
  return WEXITSTATUS(status);
}

/* The access is not through a ptr: only the address is known, and the program cannot go on. */
Test(checker, ends_a_host_that_goes_around_the_pointers) {
  for (bool defect : {true, false}) {
    const int status = exit_status_of([=] {
      rig r("check");
      const ptr<int64_t> a = r.upload(numbers(3));
      r.finish();
      volatile int64_t *there = defect ? address(a) : r.pinned<int64_t>(1);
      there[0] = 1;
      _exit(0);
    });
    cr_assert_eq(status, defect ? 70 : 0);
  }
}

Test(checker, lets_kernels_use_pinned_memory) {
  for (const char *way : ways) {
    rig r(way);
    int64_t *in = r.pinned<int64_t>(10), *out = r.pinned<int64_t>(10);
    for (int64_t i = 0; i < 10; i++) in[i] = i;
    r.map("doubled", 10, doubled{pointer_to<const int64_t>(in), pointer_to<int64_t>(out)});
    r.finish();
    r.device->host_reads(out, 80);
    for (int64_t i = 0; i < 10; i++) cr_assert_eq(out[i], 2 * i);
    expect_clean();
  }
}

/* ---- what the host knows ---- */

Test(checker, finds_results_that_are_read_before_they_are_there) {
  planted(NOT_READY, {"the host reads a result", "pinned memory"}, [](rig &r, bool defect) {
    ptr<int64_t> a = r.upload(numbers(10));
    int64_t *there = r.pinned<int64_t>(10);
    r.device->copy_down(there, address(a), 80);
    if (!defect) r.finish();
    r.device->host_reads(there + 3, 8);
  });
}

Test(checker, finds_results_that_the_host_only_hopes_to_be_there) {
  /* This holds whatever was executed, since nobody has asked since the copy. */
  planted(NOT_READY, {"the host reads a result before it is known"}, [](rig &r, bool defect) {
    ptr<int64_t> a = r.upload(numbers(10));
    int64_t *there = r.pinned<int64_t>(10);
    r.finish();
    r.device->copy_down(there, address(a), 80);
    r.device->mark(++r.epoch);
    if (!defect) r.device->wait(r.epoch);
    r.device->host_reads(there, 80);
  });
}

Test(checker, finds_results_of_kernels_that_are_read_too_early) {
  planted(NOT_READY, {"the host reads a result"}, [](rig &r, bool defect) {
    int64_t *there = r.pinned<int64_t>(10);
    r.map("squares", 10, squares{pointer_to<int64_t>(there)});
    if (!defect) r.finish();
    r.device->host_reads(there, 80);
  });
}

Test(checker, finds_bodies_on_the_host_that_read_too_early) {
  planted(NOT_READY, {"doubled reads a result"}, [](rig &r, bool defect) {
    ptr<int64_t> a = r.upload(numbers(1));
    int64_t *there = r.pinned<int64_t>(1), *out = r.pinned<int64_t>(1);
    r.device->copy_down(there, address(a), 8);
    if (!defect) r.finish();
    r.device->run_here(launch_n(
        "doubled", 1, doubled{pointer_to<const int64_t>(there), pointer_to<int64_t>(out)}));
  });
}

/* Only a queue can know these two. */
static const char *const deferred_ways[] = {"check,deferred", "check,order=reverse,deferred"};

Test(checker, finds_sources_of_copies_that_change) {
  for (const char *way : deferred_ways) {
    for (bool defect : {true, false}) {
      rig r(way);
      ptr<int64_t> a = r.fresh<int64_t>(4);
      int64_t *source = r.pinned<int64_t>(4);
      memset(source, 0, 32);
      r.device->copy_up(address(a), source, 32);
      if (!defect) r.finish();
      source[2] = 1;
      r.finish();
      if (defect)
        expect_found(SOURCE_CHANGED, {"pinned memory", "before the copy was made"});
      else
        expect_clean();
    }
  }
}

Test(checker, finds_what_the_host_writes_where_a_copy_is_to_arrive) {
  for (const char *way : deferred_ways) {
    for (bool defect : {true, false}) {
      rig r(way);
      ptr<int64_t> a = r.upload(numbers(4));
      int64_t *there = r.pinned<int64_t>(4);
      r.device->copy_down(there, address(a), 32);
      if (!defect) r.finish();
      there[2] = 1;
      r.finish();
      if (defect)
        expect_found(DESTINATION_CHANGED, {"pinned memory", "where a copy was to arrive"});
      else
        expect_clean();
    }
  }
}

/* ---- other kernels, and the end ---- */

static void plain_squares(const void *body, int64_t n, const order *) {
  int64_t *out;
  memcpy(&out, body, sizeof out);
  for (int64_t i = 0; i < n; i++) out[i] = i * i;
}

Test(checker, takes_what_plain_pointers_may_write_as_written) {
  rig r("check,deferred");
  ptr<int64_t> a = r.fresh<int64_t>(10), b = r.fresh<int64_t>(10);
  const squares body{a};
  launch l = launch_n("squares", 10, body);
  l.on_host = plain_squares;
  r.device->run(l);
  r.map("doubled", 10, doubled{a, b});
  cr_assert_eq(r.download(b, 10)[3], 18);
  expect_clean();
}

Test(checker, keeps_devices_apart) {
  rig r("check"), s("check");
  ptr<int64_t> a = r.upload(numbers(10)), b = s.fresh<int64_t>(10);
  s.map("doubled", 10, doubled{a, b});
  expect_found(HOST_MEMORY, {"kernel \"doubled\""});
}

Test(checker, counts_what_it_does_not_show) {
  rig r("check");
  r.map("halves", 1000, halves{r.fresh<int64_t>(1), 1000});
  cr_assert_eq(count_reports(), (uint64_t)999);
  cr_assert_eq(take_reports().size(), (size_t)20);
  cr_assert_eq(count_reports(), (uint64_t)0);
}

Test(checker, ends_the_process_with_its_status) {
  for (bool defect : {true, false}) {
    const int status = exit_status_of([=] {
      rig r("check");
      r.map("halves", 2, halves{r.fresh<int64_t>(2), defect ? 2 : 1});
      exit(0);
    });
    cr_assert_eq(status, defect ? 70 : 0);
  }
}

/* Neighbours exchange their numbers, in the memory of one block after the other. */
struct exchanges {
  enum { threads = 4 };
  struct shared {
    shared_array<int64_t, 4> x;
  };
  ptr<int64_t> out;

  template <class B> HD void operator()(B &block) const {
    block.each([&](int t) { block.shared.x[t] = t; });
    block.each([&](int t) {
      const int64_t of_next = block.shared.x[(t + 1) % 4];
      out[block.index() * threads + t] = of_next;
    });
  }
};

/* Returns memory of a checker's device. */
static ptr<int64_t> memory_of(checker &c, size_t bytes) {
  c.commands_start();
  void *p = c.device.allocate(bytes);
  c.taken(p, bytes);
  return pointer_to<int64_t>(p);
}

/* Numbers run out within a launch, whose blocks share one memory. */
Test(checker, begins_its_numbers_anew_between_blocks) {
  for (uint32_t before = 2; before < 60; before++) {
    checker c((1u << 30) - before);
    const order forward{1, 0};
    const exchanges body{memory_of(c, 160)};
    const launch l = launch_blocks("exchanges", 5, body);
    c.run(l, forward);
    expect_clean();
  }
}

/* Thread numbers run out after 2^30 executions. An old one must not look new, and conflicts
 * across that moment are seen. */
Test(checker, begins_its_numbers_anew) {
  for (uint32_t before = 2; before < 40; before++) {
    checker c((1u << 30) - before);
    const ptr<int64_t> p = memory_of(c, 80);
    const squares right{p};
    const halves wrong{p, 2};
    const order forward{1, 0};
    for (int k = 0; k < 5; k++) {
      const launch l = launch_n("squares", 10, right);
      c.run(l, forward);
    }
    expect_clean();
    const launch l = launch_n("halves", 10, wrong);
    c.run(l, forward);
    expect_found(WRITTEN_TWICE, {"halves"});
  }
}
