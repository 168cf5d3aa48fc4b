/* test-compiler.cpp - kernels compiled in the background: by a fictitious toolchain, by the
 * machine's compiler, and by NVRTC if there is one. RAVEL_PRELUDE and RAVEL_FAKE_NVRTC are
 * names of files, from CMake. */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <thread>

#include "base/processors.h"
#include "cvl-cuda/compiler.hpp"
#include "cvl-cuda/emulation/host-toolchain.hpp"
#include "cvl-cuda/nvrtc.hpp"
#include "cvl-cuda/tests/temporary.hpp"

using ravel::cache;
using ravel::compilation;
using ravel::compiler;
using ravel::kernel_entry;

static double compiler_now() {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compiler_pause_briefly() {
  const struct timespec t = {0, 1000000};
  nanosleep(&t, nullptr);
}

static bool compiler_contains(const std::string &text, const char *words) {
  return text.find(words) != std::string::npos;
}

/* ---- a fictitious toolchain ---- */

/* A test says here what the toolchain does, and the toolchain what it saw. */
struct script {
  std::atomic<bool> held{
      false}; /* compilations wait until this is false, or until they are stopped */
  std::atomic<int> begun{0}, stopped{0}, loads{0}, unloads{0}, opened{0};
  bool missing = false, unloadable = false;
  std::string version = "1", request; /* with a request there are notes: the version */
};

struct made_up : ravel::toolchain {
  script &s;
  explicit made_up(script &of) : s(of) {}

  bool open(std::string &why) override {
    s.opened++;
    if (s.missing) why = "no compiler here";
    return !s.missing;
  }
  std::string identity() override { return s.version; }
  std::string request() override { return s.request; }
  std::string note() override { return s.version; }
  bool recall(const std::string &note) override { return note == s.version; }
  bool compile(const std::string &text, const std::string &, const std::atomic<bool> &stop,
               std::string &bytes, std::string &why) override {
    s.begun++;
    while (s.held && !stop) compiler_pause_briefly();
    if (stop) s.stopped++;
    if (stop || compiler_contains(text, "wrong")) {
      why = "line 1: error in " + text;
      return false;
    }
    bytes = "code of " + text;
    return true;
  }
  void *load(const std::string &bytes, std::string &why) override {
    if (s.unloadable) {
      why = "cannot load";
      return nullptr;
    }
    s.loads++;
    return strdup(bytes.c_str());
  }
  bool entry_of(void *loaded, const std::string &, kernel_entry &entry,
                std::string &) override {
    entry.kernel = loaded;
    return true;
  }
  void unload(void *loaded) override {
    s.unloads++;
    free(loaded);
  }
};

struct listener {
  std::vector<std::string> lines;
  compiler::speaker ear() {
    return [this](const std::string &line) { lines.push_back(line); };
  }
};

static std::unique_ptr<ravel::toolchain> tools(script &s) {
  return std::unique_ptr<ravel::toolchain>(new made_up(s));
}

Test(compiler, hands_out_a_kernel_when_it_is_ready) {
  script s;
  {
    compiler c(tools(s), cache(""));
    s.held = true;
    compilation *k = c.request("text", {"k"});
    cr_assert_null(c.poll(k));
    compiler_pause_briefly();
    cr_assert_null(c.poll(k));
    cr_assert_null(c.failure(k));
    s.held = false;
    const kernel_entry *e = c.wait(k);
    cr_assert_not_null(e);
    cr_assert_str_eq((const char *)e->kernel, "code of text");
    cr_assert_eq(c.poll(k), e);
    cr_assert_eq(c.compiled(), 1);
  }
  cr_assert_eq(s.loads, 1);
  cr_assert_eq(s.unloads, 1);
}

Test(compiler, counts_what_its_threads_have_to_do) {
  script s;
  compiler c(tools(s), cache(""), nullptr, 1);
  const auto work = c.under_way();
  cr_assert_eq(*work, 0);
  s.held = true;
  compilation *k[] = {c.request("a", {"k"}), c.request("b", {"k"}), c.request("d", {"k"})};
  cr_assert_eq(*work, 3);
  while (s.begun == 0) compiler_pause_briefly();
  c.discard(k[1]);
  cr_assert_eq(*work, 2, "what is under way counts, too");
  s.held = false;
  cr_assert_not_null(c.wait(k[2]));
  cr_assert_eq(*work, 0);
}

Test(compiler, becomes_ready_without_being_waited_for) {
  script s;
  compiler c(tools(s), cache(""));
  compilation *k = c.request("text", {"k"});
  for (int i = 0; i < 200000 && !c.poll(k); i++) compiler_pause_briefly();
  cr_assert_not_null(c.poll(k));
}

Test(compiler, compiles_the_same_text_once) {
  script s;
  compiler c(tools(s), cache(""));
  compilation *a = c.request("text", {"k"}), *b = c.request("text", {"k"}),
              *other_name = c.request("text", {"l"}), *other_text = c.request("next", {"k"});
  cr_assert_eq(a, b);
  cr_assert_neq(a, other_name);
  cr_assert_neq(a, other_text);
  for (compilation *k : {a, other_name, other_text}) cr_assert_not_null(c.wait(k));
  cr_assert_eq(s.begun, 3);
  c.discard(a);
  cr_assert_eq(s.unloads, 0);
  cr_assert_not_null(c.poll(b));
  c.discard(b);
  cr_assert_eq(s.unloads, 1);
}

Test(compiler, says_once_what_does_not_compile_and_goes_on) {
  script s;
  listener heard;
  compiler c(tools(s), cache(""), heard.ear());
  compilation *a = c.request("wrong 1", {"k"}), *b = c.request("wrong 2", {"k"}),
              *good = c.request("right", {"k"});
  cr_assert_null(c.wait(a));
  cr_assert_null(c.wait(b));
  cr_assert_not_null(c.wait(good));
  cr_assert_str_eq(c.failure(a), "line 1: error in wrong 1");
  cr_assert_str_eq(c.failure(b), "line 1: error in wrong 2");
  cr_assert_null(c.poll(a));
  cr_assert_eq(heard.lines.size(), 1);
  cr_assert(compiler_contains(heard.lines[0], "error in wrong 1"));
}

Test(compiler, says_once_that_there_are_no_tools) {
  script s;
  listener heard;
  s.missing = true;
  compiler c(tools(s), cache(""), heard.ear());
  for (const char *name : {"a", "b", "c"}) cr_assert_null(c.wait(c.request("text", {name})));
  cr_assert_eq(heard.lines.size(), 1);
  cr_assert(compiler_contains(heard.lines[0], "no compiler here"));
  cr_assert_eq(s.begun, 0);
}

Test(compiler, reports_what_cannot_be_loaded) {
  script s;
  listener heard;
  s.unloadable = true;
  compiler c(tools(s), cache(""), heard.ear());
  compilation *k = c.request("text", {"k"});
  cr_assert_null(c.wait(k));
  cr_assert_str_eq(c.failure(k), "cannot load");
  c.discard(k);
  cr_assert_eq(s.unloads, 0);
}

Test(compiler, gives_up_what_is_discarded) {
  script s;
  compiler c(tools(s), cache(""), nullptr, 1);
  s.held = true;
  compilation *a = c.request("a", {"k"}), *b = c.request("b", {"k"}),
              *d = c.request("d", {"k"});
  while (s.begun == 0) compiler_pause_briefly();
  c.discard(b); /* in the queue: never begun */
  c.discard(a); /* under way: stopped, or `d` would wait for ever */
  while (s.stopped == 0) compiler_pause_briefly();
  s.held = false;
  cr_assert_not_null(c.wait(d));
  cr_assert_eq(s.begun, 2);
  cr_assert_eq(s.stopped, 1);
  /* When it is requested again, it is compiled again. */
  cr_assert_not_null(c.wait(c.request("a", {"k"})));
}

Test(compiler, waits_until_it_is_asked_to_end) {
  script s;
  compiler c(tools(s), cache(""));
  s.held = true;
  compilation *k = c.request("text", {"k"});
  int times = 0;
  c.gives_up_when([&times] { return ++times == 3; });
  cr_assert_null(c.wait(k));
  cr_assert_eq(times, 3);
  s.held = false;
  cr_assert_not_null(c.wait(k));
}

/* ---- the end of a short program ---- */

/* Lets compilations go on a while later. */
struct delayed_release {
  std::thread thread;
  delayed_release(script &s, int milliseconds)
      : thread([&s, milliseconds] {
          for (int k = 0; k < milliseconds; k++) compiler_pause_briefly();
          s.held = false;
        }) {}
  ~delayed_release() { thread.join(); }
};

/* Returns how many of these texts a later process finds. */
static unsigned found_later(script &s, const temporary &t, std::vector<std::string> texts) {
  s.held = false;
  compiler c(tools(s), cache(t.folder));
  for (const std::string &text : texts) c.request(text, {"k"});
  c.settle_found();
  return c.found();
}

Test(compiler, finishes_at_its_end_what_was_wanted) {
  temporary t;
  script s;
  s.held = true;
  {
    delayed_release later(s, 50);
    compiler c(tools(s), cache(t.folder), nullptr, 2);
    compilation *wanted = c.request("wanted", {"k"});
    c.request("other", {"k"});
    cr_assert_null(c.poll(wanted));
    while (s.begun < 2) compiler_pause_briefly();
  }
  cr_assert_eq(s.stopped, 1, "what nobody wanted is given up");
  cr_assert_eq(found_later(s, t, {"wanted", "other"}), 1);
}

/* Programs discard kernels before they close a context. */
Test(compiler, finishes_what_was_wanted_and_discarded) {
  temporary t;
  script s;
  s.held = true;
  {
    delayed_release later(s, 50);
    compiler c(tools(s), cache(t.folder), nullptr, 1);
    compilation *k[] = {c.request("a", {"k"}), c.request("b", {"k"}), c.request("d", {"k"})};
    for (compilation *one : {k[0], k[1]}) cr_assert_null(c.poll(one));
    for (compilation *one : k) c.discard(one);
  }
  cr_assert_eq(s.begun, 2);
  cr_assert_eq(found_later(s, t, {"a", "b", "d"}), 2);
}

Test(compiler, what_was_discarded_and_is_requested_again_is_compiled_once) {
  temporary t;
  script s;
  compiler c(tools(s), cache(t.folder), nullptr, 1);
  s.held = true;
  for (int k = 0; k < 3; k++) {
    compilation *a = c.request("a", {"k"});
    cr_assert_null(c.poll(a));
    c.discard(a);
  }
  s.held = false;
  cr_assert_not_null(c.wait(c.request("a", {"k"})));
  cr_assert_eq(s.begun, 1);
}

Test(compiler, begins_nothing_when_it_has_been_ending_for_long) {
  temporary t;
  script s;
  s.held = true;
  {
    delayed_release later(s, 1000 * compiler::MOST_SECONDS_AT_END + 200);
    compiler c(tools(s), cache(t.folder), nullptr, 1);
    for (const char *text : {"a", "b"}) c.poll(c.request(text, {"k"}));
    while (s.begun == 0) compiler_pause_briefly();
  }
  cr_assert_eq(s.begun, 1);
  cr_assert_eq(found_later(s, t, {"a", "b"}), 1);
}

Test(compiler, gives_up_at_its_end_what_nobody_waits_for) {
  temporary t;
  script s;
  s.held = true;
  {
    compiler c(tools(s), cache(t.folder), nullptr, 1);
    c.gives_up_when([] { return true; });
    for (const char *text : {"a", "b"}) c.poll(c.request(text, {"k"}));
    while (s.begun == 0) compiler_pause_briefly();
  }
  cr_assert_eq(s.begun, 1);
  cr_assert_eq(s.stopped, 1);
}

/* ---- kernels on disk ---- */

Test(compiler, makes_ready_what_is_on_disk_whatever_is_compiled) {
  temporary t;
  script s;
  {
    compiler c(tools(s), cache(t.folder));
    for (const char *text : {"a", "b"}) cr_assert_not_null(c.wait(c.request(text, {"k"})));
  }
  const int loads = s.loads;
  s.held = true;
  compiler c(tools(s), cache(t.folder), nullptr, 1);
  compilation *missing = c.request("missing", {"k"});
  while (s.begun < 3) compiler_pause_briefly(); /* the only thread has it */
  compilation *k[] = {c.request("a", {"k"}), c.request("b", {"k"})};
  c.settle_found();
  cr_assert_eq(s.loads, loads + 2);
  for (compilation *one : k) cr_assert_not_null(c.poll(one));
  cr_assert_null(c.poll(missing));
  cr_assert_eq(s.loads, loads + 2);
  s.held = false;
}

Test(compiler, counts_all_kernels_of_a_module) {
  temporary t;
  script s;
  for (int round = 0; round < 2; round++) {
    compiler c(tools(s), cache(t.folder));
    compilation *m = c.request("text", {"k", "l", "m"});
    cr_assert_not_null(c.wait(m, 2));
    cr_assert_eq(c.compiled(), round == 0 ? 3U : 0U);
    cr_assert_eq(c.found(), round == 0 ? 0U : 3U);
    c.retain(m);
    c.discard(m);
    cr_assert_not_null(c.poll(m, 1), "it has another owner");
    cr_assert_neq(c.request("text", {"k"}), m, "a module with other kernels is another one");
  }
}

Test(compiler, ends_at_once_whatever_is_under_way) {
  script s;
  s.held = true;
  {
    compiler c(tools(s), cache(""), nullptr, 2);
    for (const char *name : {"a", "b", "c"}) c.request("text", {name});
    while (s.begun < 2) compiler_pause_briefly();
  }
  cr_assert_eq(s.begun, 2);
  cr_assert_eq(s.stopped, 2);
}

/* All compilations that are held were begun, each by its own thread; the others wait. */
Test(compiler, compiles_as_many_at_once_as_it_may) {
  enum { MOST = 3, REQUESTED = 7 };
  script s;
  compiler c(tools(s), cache(""), nullptr, MOST);
  compilation *k[REQUESTED];
  s.held = true;
  for (int i = 0; i < REQUESTED; i++) k[i] = c.request("text " + std::to_string(i), {"k"});
  for (int i = 0; i < 200000 && s.begun < MOST; i++) compiler_pause_briefly();
  for (int i = 0; i < 20; i++) compiler_pause_briefly(); /* time to begin one too many */
  cr_assert_eq(s.begun, MOST);
  cr_assert_eq(c.threads(), MOST);
  s.held = false;
  for (int i = REQUESTED; i-- > 0;) {
    const kernel_entry *e = c.wait(k[i]);
    cr_assert_not_null(e);
    const std::string made = "code of text " + std::to_string(i);
    cr_assert_str_eq((const char *)e->kernel, made.c_str());
  }
  cr_assert_eq(c.compiled(), REQUESTED);
}

Test(compiler, starts_no_thread_while_one_is_idle) {
  script s;
  compiler c(tools(s), cache(""), nullptr, 4);
  for (const char *name : {"a", "b", "c"}) {
    cr_assert_not_null(c.wait(c.request("text", {name})));
    for (int i = 0; i < 20; i++) compiler_pause_briefly(); /* time to wait again */
  }
  cr_assert_eq(c.threads(), 1);
}

Test(compiler, takes_a_thread_a_processor_at_most) {
  script s;
  compiler c(tools(s), cache(""));
  s.held = true;
  for (unsigned i = 0; i < 2 * compiler::MOST_THREADS; i++)
    c.request("text " + std::to_string(i), {"k"});
  cr_assert_leq(c.threads(), (size_t)compiler::MOST_THREADS);
  cr_assert_leq(c.threads(), processors_available());
  s.held = false;
}

/* Threads find and keep kernels in one folder, and load none, so that a thread sanitizer can
 * check them. */
Test(compiler, keeps_and_finds_kernels_from_several_threads) {
  temporary t;
  script s;
  for (int round = 0; round < 2; round++) {
    compiler c(tools(s), cache(t.folder), nullptr, 4);
    std::vector<compilation *> k;
    for (int i = 0; i < 24; i++) k.push_back(c.request("text " + std::to_string(i), {"k"}));
    for (compilation *one : k) cr_assert_not_null(c.wait(one));
    cr_assert_eq(c.found(), round == 0 ? 0U : 24U);
    cr_assert_eq(c.compiled(), round == 0 ? 24U : 0U);
  }
}

/* The second process neither opens the compiler nor compiles. The third has a kernel to
 * compile. For the fourth the note is no longer true. */
Test(compiler, opens_no_compiler_for_what_is_on_the_disk) {
  temporary t;
  script s;
  s.request = "made up";
  const struct {
    const char *version, *text;
    int opened;
  } rounds[] = {{"1", "text", 1}, {"1", "text", 1}, {"1", "next", 2}, {"2", "text", 3}};
  for (const auto &round : rounds) {
    s.version = round.version;
    compiler c(tools(s), cache(t.folder));
    const kernel_entry *e = c.wait(c.request(round.text, {"k"}));
    cr_assert_not_null(e);
    const std::string wanted = std::string("code of ") + round.text;
    cr_assert_str_eq((const char *)e->kernel, wanted.c_str());
    cr_assert_eq(s.opened, round.opened, "version %s, %s", round.version, round.text);
  }
  cr_assert_eq(s.begun, 3);
}

Test(compiler, finds_on_disk_what_was_compiled_before) {
  temporary t;
  script s;
  for (int round = 0; round < 2; round++) {
    compiler c(tools(s), cache(t.folder));
    const kernel_entry *e = c.wait(c.request("text", {"k"}));
    cr_assert_not_null(e);
    cr_assert_str_eq((const char *)e->kernel, "code of text");
    cr_assert_eq(c.found(), (unsigned)round);
  }
  cr_assert_eq(s.begun, 1);
  s.version = "2"; /* another compiler makes other code */
  compiler c(tools(s), cache(t.folder));
  cr_assert_not_null(c.wait(c.request("text", {"k"})));
  cr_assert_eq(s.begun, 2);
  cr_assert_not_null(c.wait(c.request("text", {"l"})));
  cr_assert_eq(s.begun, 3);
}

Test(compiler, says_once_that_nothing_is_kept) {
  temporary t;
  script s;
  listener heard;
  write_contents(t.file("plain"), "");
  compiler c(tools(s), cache(t.file("plain")), heard.ear());
  for (const char *name : {"a", "b", "c"})
    cr_assert_not_null(c.wait(c.request("text", {name})));
  cr_assert_eq(heard.lines.size(), 1);
  cr_assert(compiler_contains(heard.lines[0], "Not a directory"));
}

/* ---- the machine's own compiler ---- */

/* Returns a[i] = 2 * a[i] + 1 as a generated text would have it. */
static std::string doubling_text() {
  return contents(RAVEL_PRELUDE) +
         "struct doubling {\n"
         "  int64_t *a;\n"
         "  HD void operator()(int64_t i) const { a[i] = 2 * a[i] + 1; }\n"
         "};\n"
         "RAVEL_KERNEL_N(doubling)\n";
}

Test(host_toolchain, compiles_what_runs_in_any_order) {
  temporary t;
  for (int round = 0; round < 2; round++) { /* the second from disk */
    compiler c(ravel::host_toolchain(), cache(t.folder));
    compilation *k = c.request(doubling_text(), {"doubling"});
    const kernel_entry *e = c.wait(k);
    cr_assert_not_null(e, "%s", c.failure(k));
    for (int direction = -1; direction <= 1; direction++) {
      int64_t a[100];
      for (int i = 0; i < 100; i++) a[i] = i;
      const struct { int64_t *a; } body = {a};
      const ravel::order o = {direction, 12345};
      e->on_host(&body, 100, &o);
      for (int i = 0; i < 100; i++) cr_assert_eq(a[i], 2 * i + 1);
    }
    cr_assert_eq(c.found(), (unsigned)round);
    c.discard(k);
  }
}

/* Adds a kernel behind it: a[i] += 1. */
static std::string two_kernels_text() {
  return doubling_text() + "struct counting {\n"
                           "  int64_t *a;\n"
                           "  HD void operator()(int64_t i) const { a[i] += 1; }\n"
                           "};\n"
                           "RAVEL_KERNEL_N(counting)\n";
}

Test(host_toolchain, compiles_several_kernels_at_once) {
  compiler c(ravel::host_toolchain(), cache(""));
  compilation *m = c.request(two_kernels_text(), {"doubling", "counting"});
  int64_t a = 20;
  const struct { int64_t *a; } body = {&a};
  const ravel::order o = {1, 0};
  const kernel_entry *doubling = c.wait(m), *counting = c.poll(m, 1);
  cr_assert(doubling && counting);
  doubling->on_host(&body, 1, &o);
  cr_assert_eq(a, 41);
  counting->on_host(&body, 1, &o);
  cr_assert_eq(a, 42);
}

Test(host_toolchain, says_where_a_text_is_wrong) {
  listener heard;
  compiler c(ravel::host_toolchain(), cache(""), heard.ear());
  compilation *k = c.request(doubling_text() + "int x = undeclared;\n", {"doubling"});
  cr_assert_null(c.wait(k));
  cr_assert(compiler_contains(c.failure(k), "undeclared"), "%s", c.failure(k));
  compilation *other = c.request(doubling_text(), {"tripling"});
  cr_assert_null(c.wait(other));
  cr_assert(compiler_contains(c.failure(other), "tripling is not in its text"), "%s",
            c.failure(other));
  cr_assert_eq(heard.lines.size(), 1);
}

Test(host_toolchain, must_be_there) {
  std::string why;
  cr_assert_not(ravel::host_toolchain("no-such-compiler")->open(why));
  cr_assert_str_eq(why.c_str(), "no-such-compiler: No such file or directory");
  cr_assert_not(ravel::host_toolchain("false")->open(why));
  setenv("CXX", "no-such-compiler-either -g", 1);
  cr_assert_not(ravel::host_toolchain()->open(why));
  cr_assert(compiler_contains(why, "no-such-compiler-either"), "%s", why.c_str());
  unsetenv("CXX");
  setenv("PATH", "/nowhere", 1);
  cr_assert_not(ravel::host_toolchain()->open(why));
  cr_assert(compiler_contains(why, "no C++ compiler on the path"), "%s", why.c_str());
}

Test(host_toolchain, has_an_identity_with_its_options) {
  std::string why;
  const auto plain = ravel::host_toolchain("c++"), other = ravel::host_toolchain("c++ -g");
  cr_assert(plain->open(why));
  cr_assert(other->open(why));
  cr_assert_neq(plain->identity(), other->identity());
  cr_assert(compiler_contains(plain->identity(), "-ffp-contract=off"));
}

/* A compiler has a child that would take an hour: both are ended. */
Test(host_toolchain, is_stopped_with_all_it_started) {
  temporary t;
  const std::string slow = t.file("slow");
  write_contents(slow, "#!/bin/sh\n[ \"$1\" = --version ] && exec echo slow\n"
                       "sleep 3600 & echo $! >" +
                           t.file("started") + "\nwait\n");
  cr_assert_eq(chmod(slow.c_str(), 0700), 0);
  const double begin = compiler_now();
  {
    compiler c(ravel::host_toolchain(slow), cache(""));
    c.request(doubling_text(), {"doubling"});
    while (contents(t.file("started")).empty() && compiler_now() - begin < 300)
      compiler_pause_briefly();
  }
  cr_assert_lt(compiler_now() - begin, 1000);
  const int child = atoi(contents(t.file("started")).c_str());
  cr_assert_gt(child, 0);
  const std::string process = "/proc/" + std::to_string(child) + "/stat";
  for (int i = 0; i < 200000; i++) {
    const std::string state = contents(process);
    if (state.empty() || compiler_contains(state, ") Z")) return;
    compiler_pause_briefly();
  }
  cr_assert_fail("process %d runs on", child);
}

/* ---- NVRTC ---- */

Test(nvrtc, says_that_it_is_missing) {
  listener heard;
  compiler c(ravel::nvrtc_toolchain(90, {}, "/nowhere/libnvrtc.so"), cache(""), heard.ear());
  cr_assert_null(c.wait(c.request("a", {"k"})));
  cr_assert_null(c.wait(c.request("b", {"k"})));
  cr_assert_eq(heard.lines.size(), 1);
  cr_assert(compiler_contains(heard.lines[0], "/nowhere/libnvrtc.so"));
  cr_assert(compiler_contains(heard.lines[0], "RAVEL_NVRTC"));
  std::string why;
  setenv("RAVEL_NVRTC", "/nowhere/else.so", 1);
  cr_assert_not(ravel::nvrtc_toolchain(90, {})->open(why));
  cr_assert(compiler_contains(why, "/nowhere/else.so"));
}

Test(nvrtc, says_that_it_is_too_old_or_something_else) {
  std::string why;
  cr_assert_not(ravel::nvrtc_toolchain(90, {}, RAVEL_FAKE_NVRTC)->open(why));
  cr_assert_str_eq(why.c_str(), "NVRTC 11.8 is too old; 12.0 or newer is wanted");
  why.clear();
  cr_assert_not(ravel::nvrtc_toolchain(90, {}, "libm.so.6")->open(why));
  cr_assert(compiler_contains(why, "something else"), "%s", why.c_str());
}

/* Returns the NVRTC of this machine, or skips the test. */
static std::unique_ptr<ravel::toolchain> nvrtc_here(int architecture) {
  std::string why;
  const std::unique_ptr<ravel::toolchain> any = ravel::nvrtc_toolchain(90, {});
  if (!any->open(why)) cr_skip_test("%s", why.c_str());
  return ravel::nvrtc_toolchain(architecture, {});
}

static bool compiler_compile(ravel::toolchain &tool, const std::string &text,
                             std::string &bytes, std::string &why) {
  const std::atomic<bool> stop{false};
  return tool.compile(text, "doubling", stop, bytes, why);
}

Test(nvrtc, compiles_for_a_device_that_is_not_there) {
  const auto tool = nvrtc_here(90);
  std::string why, bytes;
  cr_assert(tool->open(why), "%s", why.c_str());
  cr_assert(compiler_compile(*tool, doubling_text(), bytes, why), "%s", why.c_str());
  cr_assert_eq(bytes.substr(0, 4), "\x7f"
                                   "ELF");
  cr_assert(compiler_contains(bytes, "doubling_kernel"));
  cr_assert(compiler_contains(tool->identity(), "sm_90"));
  cr_assert(compiler_contains(tool->identity(), "--fmad=false"));
  cr_assert_null(tool->load(bytes, why));
  cr_assert(compiler_contains(why, "no device"));
}

Test(nvrtc, is_known_by_its_note) {
  const auto tool = nvrtc_here(90), other = ravel::nvrtc_toolchain(90, {}),
             newer = ravel::nvrtc_toolchain(100, {}),
             false_one = ravel::nvrtc_toolchain(90, {});
  std::string why;
  cr_assert(tool->open(why), "%s", why.c_str());
  const std::string note = tool->note();
  cr_assert(other->recall(note), "%s", note.c_str());
  cr_assert_eq(other->identity(), tool->identity());
  cr_assert_neq(newer->request(), tool->request());
  const size_t state = note.find('\n') + 1;
  cr_assert_not(false_one->recall(note.substr(0, state) + "1" + note.substr(state)));
  cr_assert_not(false_one->recall("/nowhere/libnvrtc.so\n\n13.0\n90"));
  cr_assert_not(false_one->recall(""));
}

/* The compiler's threads get the bytes that one thread would get. */
Test(nvrtc, compiles_in_several_threads_at_once) {
  enum { THREADS = 3 };
  const auto tool = nvrtc_here(90);
  std::string why, alone, bytes[THREADS], reasons[THREADS];
  cr_assert(tool->open(why), "%s", why.c_str());
  cr_assert(compiler_compile(*tool, doubling_text(), alone, why), "%s", why.c_str());
  bool good[THREADS];
  std::vector<std::thread> threads;
  for (int i = 0; i < THREADS; i++)
    threads.emplace_back(
        [&, i] { good[i] = compiler_compile(*tool, doubling_text(), bytes[i], reasons[i]); });
  for (std::thread &one : threads) one.join();
  for (int i = 0; i < THREADS; i++) {
    cr_assert(good[i], "%s", reasons[i].c_str());
    cr_assert(bytes[i] == alone);
  }
}

Test(nvrtc, leaves_devices_newer_than_itself_to_the_driver) {
  const auto tool = nvrtc_here(999);
  std::string why, bytes;
  cr_assert(tool->open(why), "%s", why.c_str());
  cr_assert(compiler_compile(*tool, doubling_text(), bytes, why), "%s", why.c_str());
  cr_assert(compiler_contains(bytes, ".target sm_"));
  cr_assert(compiler_contains(bytes, "doubling_kernel"));
}

Test(nvrtc, says_what_is_wrong) {
  std::string why, bytes;
  const auto ancient = nvrtc_here(10);
  cr_assert_not(ancient->open(why));
  cr_assert(compiler_contains(why, "does not compile for sm_10"), "%s", why.c_str());
  const auto tool = nvrtc_here(90);
  cr_assert(tool->open(why));
  cr_assert_not(compiler_compile(*tool, "struct wrong { undeclared x; };", bytes, why));
  cr_assert(compiler_contains(why, "undeclared"), "%s", why.c_str());
}

Test(nvrtc, can_be_stopped) {
  const auto tool = nvrtc_here(90);
  std::string why, bytes;
  cr_assert(tool->open(why));
  const std::atomic<bool> stop{true};
  cr_assert_not(tool->compile(doubling_text(), "doubling", stop, bytes, why));
}

/* There is no fused multiply-add: a * b + c is two operations. */
Test(nvrtc, does_not_contract) {
  const auto tool = nvrtc_here(999); /* gives PTX, which can be read */
  std::string why, bytes;
  cr_assert(tool->open(why));
  cr_assert(compiler_compile(
      *tool, "extern \"C\" __global__ void k(double *a) { a[0] = a[1] * a[2] + a[3]; }", bytes,
      why));
  cr_assert(compiler_contains(bytes, "mul.rn.f64"));
  cr_assert_not(compiler_contains(bytes, "fma."));
}
