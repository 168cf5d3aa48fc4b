/* test-cache.cpp - SHA-256, and kernels on disk: what is kept is found, and damaged files are
 * not. With folders that cannot be written, the only cost is that nothing is kept. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "cvl-cuda/cache.hpp"
#include "cvl-cuda/digest.hpp"
#include "cvl-cuda/tests/temporary.hpp"

using ravel::cache;

/* ---- SHA-256: the examples of FIPS 180-4, and lengths around a block ---- */

static std::string test_cache_digest_of(const std::string &text) {
  return ravel::sha256().add(text.data(), text.size()).hex();
}

Test(digest, is_that_of_the_standard) {
  const struct {
    std::string text;
    const char *digest;
  } examples[] = {{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                  {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
                  {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                   "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
                  {std::string(1000000, 'a'),
                   "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"}};
  for (const auto &e : examples) cr_assert_eq(test_cache_digest_of(e.text), e.digest);
}

Test(digest, does_not_depend_on_the_calls) {
  std::string text;
  for (int i = 0; i < 300; i++) text += (char)i;
  for (size_t n = 0; n <= text.size(); n++) {
    const std::string prefix = text.substr(0, n);
    ravel::sha256 in_calls;
    for (size_t at = 0; at < n; at += 7) in_calls.add(&prefix[at], std::min<size_t>(7, n - at));
    cr_assert_eq(in_calls.hex(), test_cache_digest_of(prefix), "length %d", (int)n);
  }
}

Test(digest, distinguishes_sequences_of_texts) {
  const std::string ab = "ab", c = "c", a = "a", bc = "bc";
  cr_assert_neq(ravel::sha256().add(ab).add(c).hex(), ravel::sha256().add(a).add(bc).hex());
}

/* ---- the cache ---- */

static std::string some_bytes(int seed, size_t n) {
  std::string bytes;
  unsigned x = (unsigned)seed * 2654435761u + 1;
  for (size_t i = 0; i < n; i++) bytes += (char)((x = x * 1664525u + 1013904223u) >> 24);
  return bytes;
}

Test(cache, finds_what_was_kept) {
  temporary t;
  cache kept(t.file("deep/down/here"));
  std::string bytes = "before";
  cr_assert_not(kept.find("0123", bytes));
  kept.keep("0123", some_bytes(1, 5000));
  kept.keep("4567", "");
  cr_assert(kept.complaint().empty(), "%s", kept.complaint().c_str());
  cache another(t.file("deep/down/here"));
  cr_assert(another.find("0123", bytes));
  cr_assert_eq(bytes, some_bytes(1, 5000));
  cr_assert(another.find("4567", bytes));
  cr_assert(bytes.empty());
  cr_assert_not(another.find("89ab", bytes));
}

static std::string only_file(const temporary &t) {
  const auto names = t.names();
  cr_assert_eq(names.size(), 1);
  return t.file(names[0]);
}

Test(cache, takes_a_damaged_file_for_none_and_mends_it) {
  temporary t;
  cache kept(t.folder);
  kept.keep("00", some_bytes(2, 100));
  const std::string name = only_file(t), whole = contents(name);
  std::vector<std::string> damaged;
  for (size_t i = 0; i < whole.size(); i++) {
    damaged.push_back(whole);
    damaged.back()[i] = (char)(damaged.back()[i] ^ 0x10);
    damaged.push_back(whole.substr(0, i));
  }
  damaged.push_back(whole + "x");
  std::string bytes;
  for (const std::string &d : damaged) {
    write_contents(name, d);
    cr_assert_not(kept.find("00", bytes));
    cr_assert(bytes.empty());
  }
  kept.keep("00", some_bytes(2, 100));
  cr_assert(kept.find("00", bytes));
  cr_assert_eq(bytes, some_bytes(2, 100));
}

Test(cache, trusts_no_file_that_others_may_write) {
  temporary t;
  cache kept(t.folder);
  kept.keep("00", "kernel");
  std::string bytes;
  for (const mode_t mode : {0666, 0620, 0602}) {
    cr_assert_eq(chmod(only_file(t).c_str(), mode), 0);
    cr_assert_not(kept.find("00", bytes));
  }
  cr_assert_eq(chmod(only_file(t).c_str(), 0600), 0);
  cr_assert(kept.find("00", bytes));
}

/* Other users could exchange the files. */
Test(cache, trusts_no_folder_that_others_may_write) {
  temporary t;
  cache kept(t.folder);
  kept.keep("00", "kernel");
  std::string bytes;
  cr_assert_eq(chmod(t.folder.c_str(), 0770), 0);
  cr_assert_not(kept.find("00", bytes));
  kept.keep("01", "kernel");
  cr_assert(kept.complaint().find("chmod go-w " + t.folder) != std::string::npos, "%s",
            kept.complaint().c_str());
  cr_assert_eq(chmod(t.folder.c_str(), 0700), 0);
  cr_assert(kept.find("00", bytes));
  cr_assert_not(kept.find("01", bytes));
}

Test(cache, without_a_folder_does_nothing) {
  cache kept((std::string()));
  std::string bytes;
  kept.keep("00", "kernel");
  cr_assert_not(kept.find("00", bytes));
  cr_assert(kept.complaint().empty());
}

Test(cache, says_why_a_folder_cannot_be_made) {
  temporary t;
  write_contents(t.file("plain"), "a file");
  for (const char *folder : {"plain", "plain/below"}) {
    cache kept(t.file(folder));
    kept.keep("00", "kernel");
    cr_assert(kept.complaint().find("Not a directory") != std::string::npos, "%s",
              kept.complaint().c_str());
  }
}

/* Root may write everything, so it becomes another user; a test is a process of its own. */
Test(cache, reads_a_read_only_folder_and_says_why_it_keeps_nothing) {
  temporary t;
  if (geteuid() == 0) {
    cr_assert_eq(chown(t.folder.c_str(), 65534, 65534), 0);
    cr_assert_eq(seteuid(65534), 0);
  }
  cache writer(t.folder);
  writer.keep("00", "kernel");
  cr_assert_eq(chmod(t.folder.c_str(), 0500), 0);
  cache kept(t.folder);
  std::string bytes;
  cr_assert(kept.find("00", bytes));
  cr_assert(kept.complaint().empty());
  kept.keep("01", "another");
  cr_assert(kept.complaint().find("Permission denied") != std::string::npos, "%s",
            kept.complaint().c_str());
  cr_assert_not(kept.find("01", bytes));
  cr_assert(kept.find("00", bytes));
  cr_assert_eq(chmod(t.folder.c_str(), 0700), 0);
  if (getuid() == 0) cr_assert_eq(seteuid(0), 0);
}

/* A limit on the size of files looks like a full disk. */
Test(cache, leaves_nothing_on_a_full_disk_and_says_so) {
  temporary t;
  cache kept(t.folder);
  kept.keep("00", "kernel");
  const struct rlimit little = {512, 512};
  signal(SIGXFSZ, SIG_IGN);
  cr_assert_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
  kept.keep("01", some_bytes(3, 4096));
  cr_assert(kept.complaint().find("File too large") != std::string::npos, "%s",
            kept.complaint().c_str());
  std::string bytes;
  cr_assert_not(kept.find("01", bytes));
  cr_assert(kept.find("00", bytes));
  cr_assert_eq(t.names().size(), 1);
}

static void test_cache_set_age(const std::string &name, int seconds) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  now.tv_sec -= seconds;
  const struct timespec both[2] = {now, now};
  cr_assert_eq(utimensat(AT_FDCWD, name.c_str(), both, 0), 0);
}

Test(cache, makes_room_by_what_was_not_used_for_longest) {
  temporary t;
  cache kept(t.folder, 4500); /* room for four files with their headers */
  std::string bytes;
  for (int i = 0; i < 4; i++) {
    kept.keep("0" + std::to_string(i), some_bytes(i, 1000));
    test_cache_set_age(t.file("ravel-0" + std::to_string(i) + ".kernel"), 100 - i);
  }
  write_contents(t.file("notes"), some_bytes(9, 9000)); /* not a file of the cache */
  cr_assert(kept.find("00", bytes));                    /* used just now */
  kept.keep("04", some_bytes(4, 1000));
  kept.keep("05", some_bytes(5, 1000));
  for (int i = 0; i < 6; i++) {
    const bool there = i != 1 && i != 2;
    cr_assert_eq(kept.find("0" + std::to_string(i), bytes), there, "%d", i);
  }
  cr_assert_eq(contents(t.file("notes")).size(), 9000);
  kept.keep("06", some_bytes(6, 5000)); /* too large on its own */
  cr_assert_not(kept.find("06", bytes));
  cr_assert(kept.find("05", bytes));
}

Test(cache, removes_what_dead_processes_left) {
  temporary t;
  cache kept(t.folder);
  write_contents(t.file("ravel-00.kernel.AbCdEf.tmp"), "half a ker");
  write_contents(t.file("ravel-01.kernel.AbCdEf.tmp"), "half a ker");
  test_cache_set_age(t.file("ravel-00.kernel.AbCdEf.tmp"), 4000);
  kept.keep("02", "kernel");
  cr_assert_eq(t.names().size(), 2);
  cr_assert(contents(t.file("ravel-00.kernel.AbCdEf.tmp")).empty());
}

enum { PROCESSES = 4, KEYS = 40, ROUNDS = 5 };

/* Each process keeps every key, some over and over, and finds only whole files. */
static int keep_all(const std::string &folder) {
  cache kept(folder);
  std::string bytes;
  for (int i = 0; i < KEYS * ROUNDS; i++) {
    const int k = i % KEYS;
    if (kept.find(std::to_string(k), bytes) && bytes != some_bytes(k, 20000 + (size_t)k))
      return 1;
    kept.keep(std::to_string(k), some_bytes(k, 20000 + (size_t)k));
  }
  return kept.complaint().empty() ? 0 : 2;
}

Test(cache, is_shared_by_processes) {
  temporary t;
  pid_t children[PROCESSES];
  for (pid_t &child : children) {
    child = fork();
    if (child == 0) _exit(keep_all(t.file("shared")));
  }
  for (const pid_t child : children) {
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
  }
  cr_assert_eq(temporary::names(t.file("shared")).size(), KEYS);
}

Test(cache, is_where_the_environment_says) {
  setenv("RAVEL_CACHE", "/a", 1);
  setenv("XDG_CACHE_HOME", "/b", 1);
  setenv("HOME", "/c", 1);
  cr_assert_eq(ravel::cache_folder(), "/a");
  setenv("RAVEL_CACHE", "", 1);
  cr_assert_eq(ravel::cache_folder(), "");
  unsetenv("RAVEL_CACHE");
  cr_assert_eq(ravel::cache_folder(), "/b/ravel");
  unsetenv("XDG_CACHE_HOME");
  cr_assert_eq(ravel::cache_folder(), "/c/.cache/ravel");
  unsetenv("HOME");
  cr_assert_eq(ravel::cache_folder(), "");
}
