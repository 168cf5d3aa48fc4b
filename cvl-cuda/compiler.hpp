/* compiler.hpp - kernels compiled at run time, in the background, and kept.
 *
 * A program requests modules, which are texts with one or several kernels, and continues
 * without them. Threads look for the modules on disk; they compile and store those that are
 * missing. There are as many threads as modules were waiting at once, within a limit: a program
 * requests its modules together, and each takes seconds. No operation fails here: without a
 * kernel the caller runs the separate operations. The reason is reported once for all kernels.
 *
 * A program may end before it gets a kernel that it wanted. Work under way is then finished,
 * and further work is begun for up to MOST_SECONDS_AT_END seconds, so that the next run finds
 * it. A separate process could work longer than that. But it would compete with what the user
 * does next, unknown to the shell and to measurements, and to systems that end a job with its
 * last process.
 */
#ifndef RAVEL_CUDA_COMPILER_HPP
#define RAVEL_CUDA_COMPILER_HPP

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cvl-cuda/cache.hpp"
#include "cvl-cuda/toolchain.hpp"

namespace ravel {

/* A requested module. */
struct compilation;

/* A compiler belongs to one thread, the one that owns the device, like a context. */
struct compiler {
  using speaker = std::function<void(const std::string &)>;
  using question = std::function<bool()>;
  enum : unsigned {
    MOST_THREADS = 4, /* the program and its other threads need processors, too */
    MOST_SECONDS_AT_END = 2,
    MOST_LEFT = 64 /* modules without users that are compiled for the next run */
  };

  /* `say` gets messages for the user on the owner's thread: each kind of failure once, as a
   * line without its newline. It may be null. `most_threads` is a limit; 0 means one thread for
   * each processor, up to MOST_THREADS. */
  compiler(std::unique_ptr<toolchain>, cache, speaker say = nullptr, unsigned most_threads = 0);
  /* Finishes what is wanted, within limits, gives up the rest and unloads everything. No kernel
   * may be running. */
  ~compiler();
  compiler(const compiler &) = delete;
  compiler &operator=(const compiler &) = delete;

  /* Sets a question that waits ask now and then, on the owner's thread. If it returns true, the
   * wait ends; when the compiler ends, so does the work under way. */
  void gives_up_when(question asked) { asked_ = std::move(asked); }

  /* Uses kernels that were compiled ahead of time. The file has bytes as compile() of the
   * toolchain makes them, with many kernels. A file that cannot be used is reported and
   * ignored. Called at most once. */
  void use_module(const std::string &file);
  /* Finds the kernel `name` of that module. Returns false if there is none. */
  bool in_module(const std::string &name, kernel_entry &entry);

  /* Requests a module: it is looked for and, if it is nowhere, compiled, unless it was
   * requested before. Never waits. The caller owns the result and gives it back by
   * discard(). */
  compilation *request(const std::string &text, const std::vector<std::string> &kernels);
  /* Adds an owner, who calls discard() too. */
  void retain(compilation *);
  /* Waits until all requested modules that are on disk are ready, which takes milliseconds. */
  void settle_found();
  /* Returns a kernel by its number; null if it is not ready, or never will be. Never waits. */
  const kernel_entry *poll(compilation *, size_t kernel = 0);
  /* Waits until the kernel is ready or has failed, and returns what poll() does. */
  const kernel_entry *wait(compilation *, size_t kernel = 0);
  /* Returns why there will be no kernel; null as long as poll() has not met a failure. */
  const char *failure(const compilation *) const;
  /* Gives up one owner's share. With the last one the kernels must not be running any more.
   * Work under way is given up, unless one of its kernels was wanted and can be kept. */
  void discard(compilation *);

  /* Return how many kernels were compiled, and how many were found on disk. */
  unsigned compiled() const { return compiled_; }
  unsigned found() const { return found_; }
  /* Returns the number of modules that the threads have or are to have. A thread that loads one
   * may wait for the device. */
  std::shared_ptr<const std::atomic<unsigned>> under_way() const { return work_; }
  /* Returns how many threads were started. */
  size_t threads() const { return threads_.size(); }

private:
  using shared = std::shared_ptr<compilation>;
  using clock = std::chrono::steady_clock;

  /* Used by the owner's thread. */
  std::unique_ptr<toolchain> tools_;
  speaker say_;
  question asked_;
  void *module_ = nullptr;
  std::vector<shared> known_;
  std::vector<std::thread> threads_;
  const size_t most_threads_;
  const bool keeps_; /* there is a folder */
  bool said_failure_ = false, said_cache_ = false;

  /* Used by the threads: one mutex guards the tools, another guards writing to the cache. */
  std::mutex opening_;
  bool opened_ = false, recalled_ = false;
  std::string cannot_, identity_;
  std::mutex keeping_;
  cache cache_;

  /* Used by all threads, under the mutex. */
  std::mutex mutex_;
  std::condition_variable more_, done_;
  std::deque<shared> requested_, missing_; /* to be looked for; to be compiled */
  std::vector<shared> working_;
  size_t idle_ = 0; /* threads that wait for more */
  std::atomic<bool> closing_{false};
  clock::time_point last_begin_; /* when closing: no module is begun later */
  std::string cache_trouble_;

  std::shared_ptr<std::atomic<unsigned>> work_ = std::make_shared<std::atomic<unsigned>>(0);
  std::atomic<unsigned> compiled_{0}, found_{0};

  bool start();
  void work();
  shared next();
  void advance(std::unique_lock<std::mutex> &);
  bool has_work() const;
  bool is_at_end() const;
  void done_with(const shared &, int stage);
  int looked_for(compilation &);
  int made(compilation &);
  int loaded(compilation &);
  bool find(compilation &, const std::string &identity);
  bool load(compilation &);
  bool find_kernels(compilation &);
  void keep(const std::string &key, const std::string &bytes);
  bool open_tools(std::string &identity, std::string &why);
  bool open_tools_now(std::string &why);
  bool identify(std::string &identity);
  std::string note_key() const;
  std::string key_of(const compilation &, const std::string &identity) const;
  void settle(compilation &);
  void want(compilation &);
  bool is_left(compilation &);
  void forget_left();
  void give_up(bool all);
  void finish_wanted();
  void speak(bool &said, const std::string &line);
  void count_work();
};

} // namespace ravel
#endif
