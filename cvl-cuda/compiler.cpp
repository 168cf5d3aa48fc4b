/* compiler.cpp - see compiler.hpp. */
#include "cvl-cuda/compiler.hpp"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/processors.h"
#include "cvl-cuda/digest.hpp"

namespace ravel {

enum stage {
  UNDER_WAY, /* a thread's */
  MADE,      /* the owner's from here on: bytes, or loaded by the thread */
  READY,     /* loaded */
  FAILED     /* why */
};

struct compilation {
  const std::string text, name;
  unsigned users = 1; /* the owner's */
  std::atomic<int> stage{UNDER_WAY};
  std::atomic<bool> stop{false};
  std::string bytes, why;
  bool settled = false;
  void *loaded = nullptr;
  kernel_entry entry;

  compilation(const std::string &t, const std::string &n) : text(t), name(n) {}
};

/* One thread for each processor that this process may use, within the limit. */
static size_t usual_threads() {
  return std::min<unsigned>(processors_available(), compiler::MOST_THREADS);
}

compiler::compiler(std::unique_ptr<toolchain> tools, cache kept, speaker say,
                   unsigned most_threads)
    : tools_(std::move(tools)), say_(std::move(say)),
      most_threads_(most_threads > 0 ? most_threads : usual_threads()),
      cache_(std::move(kept)) {}

compiler::~compiler() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closing_ = true;
    for (const shared &c : working_) c->stop = true;
  }
  more_.notify_all();
  for (std::thread &t : threads_) t.join();
  for (const shared &c : known_) {
    if (c->loaded) tools_->unload(c->loaded);
  }
  if (module_) tools_->unload(module_);
}

/* ---- compiled ahead of time ---- */

void compiler::use_module(const std::string &file) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)),
                          std::istreambuf_iterator<char>());
  std::string why = "it cannot be read";
  if (in && !bytes.empty()) module_ = tools_->load(bytes, why);
  bool said = false;
  if (!module_) speak(said, "the kernels in " + file + " are not used: " + why);
}

bool compiler::in_module(const std::string &name, kernel_entry &entry) {
  std::string why;
  return module_ && tools_->entry_of(module_, name, entry, why);
}

/* ---- the threads ---- */

std::string compiler::note_key() const {
  return sha256().add(std::to_string(KERNEL_ABI)).add("note").add(tools_->request()).hex();
}

/* What an earlier process noted about the compiler is enough to find kernels on the disk: to
 * open NVRTC takes forty milliseconds, longer than many programs. */
bool compiler::recall_tools(std::string &identity) {
  std::lock_guard<std::mutex> lock(opening_);
  if (!opened_ && !recalled_ && !tools_->request().empty()) {
    std::string note;
    recalled_ = cache_.find(note_key(), note) && tools_->recall(note);
    if (recalled_) identity_ = tools_->identity();
  }
  identity = identity_;
  return recalled_ && !opened_;
}

bool compiler::open_tools(std::string &identity, std::string &why) {
  std::lock_guard<std::mutex> lock(opening_);
  if (!opened_) {
    opened_ = true;
    if (tools_->open(cannot_)) {
      cannot_.clear();
      identity_ = tools_->identity();
      if (!tools_->request().empty()) keep(note_key(), tools_->note());
    }
  }
  identity = identity_;
  why = cannot_;
  return cannot_.empty();
}

std::string compiler::key_of(const compilation &c, const std::string &identity) const {
  return sha256().add(std::to_string(KERNEL_ABI)).add(identity).add(c.name).add(c.text).hex();
}

bool compiler::find(compilation &c, const std::string &identity) {
  const bool found = cache_.find(key_of(c, identity), c.bytes);
  if (found) found_++;
  return found;
}

/* From the disk, or compiled and then kept there. */
bool compiler::make(compilation &c) {
  std::string identity;
  if (recall_tools(identity) && find(c, identity)) return true;
  if (!open_tools(identity, c.why)) return false;
  if (find(c, identity)) return true;
  if (!tools_->compile(c.text, c.name, c.stop, c.bytes, c.why)) return false;
  compiled_++;
  keep(key_of(c, identity), c.bytes);
  return true;
}

/* One at a time: the cache notes what is wrong, and counts the bytes of its files. */
void compiler::keep(const std::string &key, const std::string &bytes) {
  std::string trouble;
  {
    std::lock_guard<std::mutex> lock(keeping_);
    cache_.keep(key, bytes);
    trouble = cache_.complaint();
  }
  std::lock_guard<std::mutex> lock(mutex_);
  cache_trouble_ = trouble;
}

/* The bytes made ready. */
bool compiler::load(compilation &c) {
  c.loaded = tools_->load(c.bytes, c.why);
  const bool found = c.loaded && tools_->entry_of(c.loaded, c.name, c.entry, c.why);
  if (c.loaded && !found) tools_->unload(c.loaded);
  if (!found) c.loaded = nullptr;
  c.bytes = std::string();
  return found;
}

/* Loading takes a device a quarter of a millisecond: that is not to keep the owner. */
bool compiler::try_to_make(compilation &c) {
  try {
    return make(c) && (!tools_->loads_in_threads() || c.stop || load(c));
  } catch (const std::exception &e) { /* no memory */
    c.why = e.what();
    return false;
  }
}

/* Under the mutex. */
void compiler::count_work() {
  *work_ = (unsigned)(queue_.size() + working_.size());
}

void compiler::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    idle_++;
    more_.wait(lock, [this] { return closing_ || !queue_.empty(); });
    idle_--;
    if (closing_) return;
    const shared c = queue_.front();
    queue_.pop_front();
    working_.push_back(c);
    lock.unlock();
    const bool made = try_to_make(*c);
    lock.lock();
    working_.erase(std::find(working_.begin(), working_.end(), c));
    count_work();
    if (c->stop && c->loaded) { /* nobody wants it any more */
      tools_->unload(c->loaded);
      c->loaded = nullptr;
    }
    c->stage = made ? MADE : FAILED;
    done_.notify_all();
  }
}

/* One more thread, if there is none for what waits. Signals are for the threads that expect
 * them. False if there is no thread at all. */
bool compiler::start() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (threads_.size() == most_threads_ || queue_.size() <= idle_) return true;
  }
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    threads_.emplace_back(&compiler::work, this);
  } catch (const std::system_error &) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return !threads_.empty();
}

/* ---- the owner ---- */

compilation *compiler::request(const std::string &text, const std::string &name) {
  for (const shared &c : known_) {
    if (c->text == text && c->name == name) {
      c->users++;
      return c.get();
    }
  }
  const shared c = std::make_shared<compilation>(text, name);
  known_.push_back(c);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back(c);
    count_work();
  }
  more_.notify_one();
  if (!start()) {
    queue_.clear(); /* nobody else has it */
    count_work();
    c->why = "no thread could be started";
    c->stage = FAILED;
  }
  return c.get();
}

void compiler::speak(bool &said, const std::string &line) {
  if (!said && say_) say_(line);
  said = true;
}

/* What the owner does once about a compilation that its thread is done with. */
void compiler::settle(compilation &c) {
  c.settled = true;
  if (c.stage == MADE) c.stage = c.loaded || load(c) ? READY : FAILED;
  if (c.stage == FAILED) {
    speak(said_failure_, "superoperators run as single operations where they cannot be "
                         "compiled: " +
                             c.why);
  }
  std::string trouble;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    trouble = cache_trouble_;
  }
  if (!trouble.empty()) speak(said_cache_, "compiled superoperators are not kept: " + trouble);
}

const kernel_entry *compiler::poll(compilation *c) {
  if (!c->settled && c->stage != UNDER_WAY) settle(*c);
  return c->stage == READY ? &c->entry : nullptr;
}

/* What is waited for comes next. */
void compiler::hurry(compilation *c) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto mine = [c](const shared &other) { return other.get() == c; };
  const auto found = std::find_if(queue_.begin(), queue_.end(), mine);
  if (found != queue_.end()) std::rotate(queue_.begin(), found, found + 1);
}

const kernel_entry *compiler::wait(compilation *c, const std::function<bool()> &asked) {
  hurry(c);
  const auto between_questions = std::chrono::milliseconds(10);
  while (c->stage == UNDER_WAY) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      done_.wait_for(lock, between_questions, [c] { return c->stage != UNDER_WAY; });
    }
    if (asked && asked()) break;
  }
  return poll(c);
}

const char *compiler::failure(const compilation *c) const {
  return c->stage == FAILED && c->settled ? c->why.c_str() : nullptr;
}

void compiler::discard(compilation *c) {
  if (--c->users > 0) return;
  void *loaded = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    c->stop = true;
    if (c->stage != UNDER_WAY) loaded = c->loaded;
    const auto mine = [c](const shared &other) { return other.get() == c; };
    queue_.erase(std::remove_if(queue_.begin(), queue_.end(), mine), queue_.end());
    count_work();
  }
  if (loaded) tools_->unload(loaded);
  known_.erase(std::remove_if(known_.begin(), known_.end(),
                              [c](const shared &other) { return other.get() == c; }),
               known_.end());
}

} // namespace ravel
