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

#include "cvl-cuda/digest.hpp"

namespace ravel {

enum stage {
  UNDER_WAY, /* the thread's */
  MADE,      /* the owner's from here on: bytes */
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

compiler::compiler(std::unique_ptr<toolchain> tools, cache kept, speaker say)
    : tools_(std::move(tools)), say_(std::move(say)), cache_(std::move(kept)) {}

compiler::~compiler() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closing_ = true;
    if (working_) working_->stop = true;
  }
  more_.notify_one();
  if (thread_.joinable()) thread_.join();
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

/* ---- the thread ---- */

bool compiler::open_tools(std::string &why) {
  if (!opened_) {
    opened_ = true;
    if (tools_->open(cannot_)) {
      cannot_.clear();
      identity_ = tools_->identity();
    }
  }
  why = cannot_;
  return cannot_.empty();
}

/* From the disk, or compiled and then kept there. */
bool compiler::make(compilation &c) {
  if (!open_tools(c.why)) return false;
  const std::string key =
      sha256().add(std::to_string(KERNEL_ABI)).add(identity_).add(c.name).add(c.text).hex();
  if (cache_.find(key, c.bytes)) {
    found_++;
    return true;
  }
  if (!tools_->compile(c.text, c.name, c.stop, c.bytes, c.why)) return false;
  compiled_++;
  cache_.keep(key, c.bytes);
  return true;
}

void compiler::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    more_.wait(lock, [this] { return closing_ || !queue_.empty(); });
    if (closing_) return;
    working_ = queue_.front();
    queue_.pop_front();
    const shared c = working_;
    lock.unlock();
    bool made = false;
    try {
      made = make(*c);
    } catch (const std::exception &e) { /* no memory */
      c->why = e.what();
    }
    lock.lock();
    working_ = nullptr;
    cache_trouble_ = cache_.complaint();
    c->stage = made ? MADE : FAILED;
    done_.notify_all();
  }
}

/* Signals are for the threads that expect them. */
bool compiler::start() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    if (!thread_.joinable()) thread_ = std::thread(&compiler::work, this);
  } catch (const std::system_error &) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread_.joinable();
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
  if (start()) {
    std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back(c);
    more_.notify_one();
  } else {
    c->why = "no thread could be started";
    c->stage = FAILED;
  }
  return c.get();
}

void compiler::speak(bool &said, const std::string &line) {
  if (!said && say_) say_(line);
  said = true;
}

/* What the owner does once about a compilation that the thread is done with. */
void compiler::settle(compilation &c) {
  c.settled = true;
  if (c.stage == MADE) {
    c.loaded = tools_->load(c.bytes, c.why);
    const bool found = c.loaded && tools_->entry_of(c.loaded, c.name, c.entry, c.why);
    if (c.loaded && !found) tools_->unload(c.loaded);
    if (!found) c.loaded = nullptr;
    c.stage = found ? READY : FAILED;
    c.bytes = std::string();
  }
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

const kernel_entry *compiler::wait(compilation *c, const std::function<bool()> &asked) {
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
  {
    std::lock_guard<std::mutex> lock(mutex_);
    c->stop = true;
    const auto mine = [c](const shared &other) { return other.get() == c; };
    queue_.erase(std::remove_if(queue_.begin(), queue_.end(), mine), queue_.end());
  }
  if (c->loaded) tools_->unload(c->loaded);
  known_.erase(std::remove_if(known_.begin(), known_.end(),
                              [c](const shared &other) { return other.get() == c; }),
               known_.end());
}

} // namespace ravel
