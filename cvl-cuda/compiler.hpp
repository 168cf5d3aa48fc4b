/* compiler.hpp - kernels compiled at run time, in the background, and kept.
 *
 * A program requests modules, which are texts with one or several kernels, and continues
 * without them; threads look for them on disk, and then compile and store what is not there.
 * There are as many threads as modules were waiting at once, within a limit: a program's are
 * requested together, and each takes seconds. No operation fails here: without a kernel the
 * caller runs the separate operations. The reason is reported once for all kernels.
 *
 * A program may end before it gets a kernel that it wanted. What is at hand then is finished,
 * and for MOST_SECONDS_AT_END seconds more is begun, so that the next run finds it. A process
 * of its own would end later than that: it would compile beside what the user does next,
 * unknown to the shell, to who measures, and to systems that end a job with its last process.
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

/* Of one thread, the one that owns the device, like a context. */
struct compiler {
  using speaker = std::function<void(const std::string &)>;
  using question = std::function<bool()>;
  enum : unsigned {
    MOST_THREADS = 4, /* the program and its other threads need processors, too */
    MOST_SECONDS_AT_END = 2,
    MOST_LEFT = 64 /* modules that nobody needs any more, but the next run */
  };

  /* `say` gets the messages for the user, from the owner's thread: each kind of failure once, a
   * line without its newline. Null: nobody. `most_threads`: 0 for one a processor, MOST_THREADS
   * at most. */
  compiler(std::unique_ptr<toolchain>, cache, speaker say = nullptr, unsigned most_threads = 0);
  /* Finishes what is wanted, within limits, gives up the rest and unloads everything; no kernel
   * may be running. */
  ~compiler();
  compiler(const compiler &) = delete;
  compiler &operator=(const compiler &) = delete;

  /* Whoever waits asks now and then, on the owner's thread; true ends waiting, and what is
   * under way when the compiler ends. */
  void gives_up_when(question asked) { asked_ = std::move(asked); }

  /* Kernels compiled ahead of time: a file of bytes as compile() of the toolchain gives them,
   * of many kernels. A file that cannot be used is reported and ignored. Called once at most.
   */
  void use_module(const std::string &file);
  /* The kernel NAME of that module; false if there is none. */
  bool in_module(const std::string &name, kernel_entry &entry);

  /* Has the module looked for and, if it is nowhere, compiled, unless it was requested before.
   * Never waits. Owned by the caller, for discard(). */
  compilation *request(const std::string &text, const std::vector<std::string> &kernels);
  /* Has one more owner. */
  void retain(compilation *);
  /* Waits until all that was requested and is on disk is ready: that takes milliseconds. */
  void settle_found();
  /* A kernel, by its number, if it is ready; null if it is not, or never will be. Never waits.
   */
  const kernel_entry *poll(compilation *, size_t kernel = 0);
  /* The same, waiting until it is ready or has failed. */
  const kernel_entry *wait(compilation *, size_t kernel = 0);
  /* Why there will be no kernel; null as long as poll() has not met a failure. */
  const char *failure(const compilation *) const;
  /* The kernels must not be running any more; what is under way is given up, unless a kernel of
   * it was wanted and can be kept. */
  void discard(compilation *);

  /* How many kernels were compiled, and how many were found on disk. */
  unsigned compiled() const { return compiled_; }
  unsigned found() const { return found_; }
  /* How many modules its threads have or are to have: what loads them may wait for the device.
   */
  std::shared_ptr<const std::atomic<unsigned>> under_way() const { return work_; }
  /* How many threads were started. */
  size_t threads() const { return threads_.size(); }

private:
  using shared = std::shared_ptr<compilation>;
  using clock = std::chrono::steady_clock;

  /* The owner's. */
  std::unique_ptr<toolchain> tools_;
  speaker say_;
  question asked_;
  void *module_ = nullptr;
  std::vector<shared> known_;
  std::vector<std::thread> threads_;
  const size_t most_threads_;
  const bool keeps_; /* there is a folder */
  bool said_failure_ = false, said_cache_ = false;

  /* The threads': the tools under one mutex, what is written to the cache under another. */
  std::mutex opening_;
  bool opened_ = false, recalled_ = false;
  std::string cannot_, identity_;
  std::mutex keeping_;
  cache cache_;

  /* Of all, under the mutex. */
  std::mutex mutex_;
  std::condition_variable more_, done_;
  std::deque<shared> requested_, missing_; /* to be looked for; to be compiled */
  std::vector<shared> working_;
  size_t idle_ = 0; /* threads that wait for more */
  std::atomic<bool> closing_{false};
  clock::time_point last_begin_; /* when closing */
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
