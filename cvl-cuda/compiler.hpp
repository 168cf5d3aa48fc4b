/* compiler.hpp - kernels compiled at run time, in the background, and kept.
 *
 * A program requests a kernel and continues without it; a thread finds it on disk, or compiles
 * and stores it. There are as many threads as kernels were waiting at once, within a limit: a
 * program's kernels are requested together, and each takes half a second. No operation fails
 * here: without a kernel the caller runs the separate operations. The reason is reported once
 * for all kernels.
 */
#ifndef RAVEL_CUDA_COMPILER_HPP
#define RAVEL_CUDA_COMPILER_HPP

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

/* A requested kernel. */
struct compilation;

/* Of one thread, the one that owns the device, like a context. */
struct compiler {
  using speaker = std::function<void(const std::string &)>;
  enum : unsigned {
    MOST_THREADS = 4
  }; /* the program and its other threads need processors, too */

  /* `say` gets the messages for the user, from the owner's thread: each kind of failure once, a
   * line without its newline. Null: nobody. `most_threads`: 0 for one a processor, MOST_THREADS
   * at most. */
  compiler(std::unique_ptr<toolchain>, cache, speaker say = nullptr, unsigned most_threads = 0);
  /* Ends what is under way and unloads everything; no kernel may be running. */
  ~compiler();
  compiler(const compiler &) = delete;
  compiler &operator=(const compiler &) = delete;

  /* Kernels compiled ahead of time: a file of bytes as compile() of the toolchain gives them,
   * of many kernels. A file that cannot be used is reported and ignored. Called once at most.
   */
  void use_module(const std::string &file);
  /* The kernel NAME of that module; false if there is none. */
  bool in_module(const std::string &name, kernel_entry &entry);

  /* Starts the compilation of kernel NAME of the text, unless it was requested before. Never
   * waits. Owned by the caller, for discard(). */
  compilation *request(const std::string &text, const std::string &name);
  /* The kernel if it is ready; null if it is not, or never will be. Never waits. */
  const kernel_entry *poll(compilation *);
  /* The same, waiting until it is ready or has failed, or `asked`, which this thread calls now
   * and then, is true. */
  const kernel_entry *wait(compilation *, const std::function<bool()> &asked = {});
  /* Why there will be no kernel; null as long as poll() has not met a failure. */
  const char *failure(const compilation *) const;
  /* The kernel must not be running any more; one under way is given up. */
  void discard(compilation *);

  /* How many kernels were compiled, and how many were found on disk. */
  unsigned compiled() const { return compiled_; }
  unsigned found() const { return found_; }
  /* How many kernels its threads have or are to have: what loads them may wait for the device. */
  std::shared_ptr<const std::atomic<unsigned>> under_way() const { return work_; }
  /* How many threads were started. */
  size_t threads() const { return threads_.size(); }

private:
  using shared = std::shared_ptr<compilation>;

  /* The owner's. */
  std::unique_ptr<toolchain> tools_;
  speaker say_;
  void *module_ = nullptr;
  std::vector<shared> known_;
  std::vector<std::thread> threads_;
  const size_t most_threads_;
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
  std::deque<shared> queue_;
  std::vector<shared> working_;
  size_t idle_ = 0; /* threads that wait for more */
  bool closing_ = false;
  std::string cache_trouble_;

  std::shared_ptr<std::atomic<unsigned>> work_ = std::make_shared<std::atomic<unsigned>>(0);
  std::atomic<unsigned> compiled_{0}, found_{0};

  bool start();
  void work();
  bool try_to_make(compilation &);
  bool make(compilation &);
  bool find(compilation &, const std::string &identity);
  bool load(compilation &);
  void keep(const std::string &key, const std::string &bytes);
  bool open_tools(std::string &identity, std::string &why);
  bool recall_tools(std::string &identity);
  std::string note_key() const;
  std::string key_of(const compilation &, const std::string &identity) const;
  void settle(compilation &);
  void hurry(compilation *);
  void count_work();
  void speak(bool &said, const std::string &line);
};

} // namespace ravel
#endif
