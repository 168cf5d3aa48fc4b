/* test-watched.cpp - defects that the checker finds in generated kernels: the text of a
 * superoperator, compiled as the emulation compiles it, with a defect planted in the text. */
#include "cvl-cuda/tests/rig.hpp"

#include "cvl-cuda/tests/generated.hpp"

/* Returns the toolchain of such a device. */
static std::unique_ptr<toolchain> tools_of(const char *way) {
  emulation_options o;
  cr_assert(o.parse(way));
  const std::unique_ptr<stream> device(emulated_stream(o));
  return std::unique_ptr<toolchain>(device->new_toolchain());
}

template <class T> static operand<T> watched_in_memory(ptr<const T> p) {
  operand<T> x{};
  x.data = p;
  return x;
}

/* Runs g(device, kernel, whether it has the defect) with the text as it is and with the defect,
 * in every way. */
template <class G>
static void planted_in(const generated &k, const std::string &what, const std::string &instead,
                       finding found, const std::vector<std::string> &words, G g) {
  const built good(tools_of("check"), k.text), bad(tools_of("check"), k.with(what, instead));
  for (const char *way : ways) {
    for (const built *b : {&bad, &good}) {
      {
        rig r(way);
        g(r, b->entry, b == &bad);
        r.finish();
      }
      if (b == &bad)
        expect_found(found, words);
      else
        expect_clean();
    }
  }
}

/* ---- a thread for each element ---- */

static const char twice_text[] = "fused OP0#1 ($0 : INT, $1 : INT) = (+ INT @ $0 $1)\n";

struct twice_body {
  operand<int64_t> x, y;
  ptr<int64_t> out;
  faults bad;
  int64_t n;
};

enum { N = 50 };

static void watched_add(rig &r, const kernel_entry &kernel, ptr<int64_t> x, ptr<int64_t> out) {
  const twice_body body{
      watched_in_memory<int64_t>(x), watched_in_memory<int64_t>(x), out, {}, N};
  r.device->run({"superoperator", N, 0, nullptr, kernel.on_host, nullptr, &body, sizeof body});
}

static void run_twice(rig &r, const kernel_entry &kernel, bool) {
  const ptr<int64_t> x = r.upload(numbers(N));
  watched_add(r, kernel, x, r.fresh<int64_t>(N));
}

Test(watched, a_write_behind_the_end) {
  planted_in(generated(twice_text), "o2[i] =", "o2[i + 1] =", OUT_OF_BOUNDS,
             {"kernel \"superoperator\"", "thread ", "writes out of bounds: "}, run_twice);
}

Test(watched, a_read_behind_the_end) {
  planted_in(generated(twice_text), "(p1, i, [", "(p1, i + 1, [", OUT_OF_BOUNDS,
             {"kernel \"superoperator\"", "thread 49 reads out of bounds: "}, run_twice);
}

Test(watched, two_threads_that_write_one_element) {
  planted_in(generated(twice_text), "o2[i] =", "o2[i / 2] =", WRITTEN_TWICE,
             {"kernel \"superoperator\"", "both write block 2 (400 bytes), element "},
             run_twice);
}

Test(watched, a_read_of_what_nobody_has_written) {
  planted_in(generated(twice_text), "{ x[k].v1 = v; }", "{ (void)v; x[k].v1 = o2[i]; }",
             UNINITIALISED, {"kernel \"superoperator\"", "reads uninitialised memory, block 2"},
             run_twice);
}

/* An element that a kernel leaves out is not written: the next kernel finds that. */
Test(watched, an_element_that_is_left_out) {
  planted_in(generated(twice_text), "o2[i] =", "if (i != 7) o2[i] =", UNINITIALISED,
             {"(launch 2): thread 7 reads uninitialised memory, block 2"},
             [](rig &r, const kernel_entry &kernel, bool defect) {
               const ptr<int64_t> x = r.upload(numbers(N)), once = r.fresh<int64_t>(N),
                                  twice = r.fresh<int64_t>(N);
               watched_add(r, kernel, x, once);
               watched_add(r, kernel, once, twice);
               if (!defect) cr_assert_eq(r.download(twice, N)[7], 4 * 70);
             });
}

/* ---- a warp for each slot ---- */

static const char sum_text[] =
    "fused OP0#1 ($0 : INT, $1 : SEGDES) = (+_REDUCE INT @ (+ INT @ $0 $0) $1)\n";

struct sum_body {
  operand<int64_t> x;
  segments d;
  ptr<int64_t> partial;
  faults bad;
  int64_t n;
};

enum { SEGMENTS = 5, EACH = 10 };

static void run_sum(rig &r, const kernel_entry &kernel, bool defect) {
  const ptr<int64_t> x = r.upload(numbers(SEGMENTS * EACH));
  sum_body body{watched_in_memory<int64_t>(x), {}, r.fresh<int64_t>(SEGMENTS), {}, SEGMENTS};
  body.d.count = SEGMENTS;
  body.d.equal = EACH;
  body.d.total = SEGMENTS * EACH;
  const int32_t slots = (int32_t)tuning_default(TUNE_CUDA_BLOCK_SLOTS);
  const int64_t blocks = (SEGMENTS + slots - 1) / slots;
  r.device->run({"superoperator", blocks, slots * WARP, nullptr, kernel.on_host, nullptr, &body,
                 sizeof body});
  if (defect) return;
  const std::vector<int64_t> sums = r.download(body.partial, SEGMENTS);
  for (int64_t s = 0; s < SEGMENTS; s++) cr_assert_eq(sums[(size_t)s], 2000 * s + 900);
}

Test(watched, a_lane_that_is_not_the_first) {
  planted_in(generated(sum_text), "if (t % ravel::WARP != 0 || slot >= n)",
             "if (t % ravel::WARP > 1 || slot >= n)", WRITTEN_TWICE,
             {"kernel \"superoperator\"", " of block ", "both write block 2 (40 bytes)"},
             run_sum);
}

Test(watched, the_register_of_another_lane) {
  planted_in(
      generated(sum_text), "t1[slot] = r1[t];", "t1[slot] = r1[t + 1];", ANOTHERS_REGISTER,
      {"kernel \"superoperator\"", " of block ", "the register named is that of thread "},
      run_sum);
}

/* ---- kernels without a checker ---- */

/* A device that does not check has other kernels, with plain pointers. */
Test(watched, only_where_a_device_checks) {
  const generated k(twice_text);
  const built plain(tools_of(""), k.text), watched(tools_of("check"), k.text);
  cr_assert_neq(plain.tools->identity(), watched.tools->identity());
  int64_t x[2] = {1, 2}, y[2];
  const twice_body body{watched_in_memory<int64_t>(pointer_to<const int64_t>(x)),
                        watched_in_memory<int64_t>(pointer_to<const int64_t>(x)),
                        pointer_to<int64_t>(y),
                        {},
                        2};
  const order forward{1, 0};
  plain.entry.on_host(&body, 2, &forward);
  cr_assert_eq(y[1], 4);
  expect_clean();
}
