/* compiler.cpp - see compiler.hpp. */
#include "cvl-cuda/compiler.hpp"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/processors.h"
#include "cvl-cuda/digest.hpp"

namespace ravel {

enum stage {
  REQUESTED, /* a thread looks for it on disk */
  MISSING,   /* it is not on disk: a thread compiles it */
  MADE,  /* only the owner uses it from here on: it has bytes, or the thread has loaded it */
  READY, /* loaded */
  FAILED /* `why` says why */
};

struct compilation {
  const std::string text;
  const std::vector<std::string> kernels;
  unsigned users = 1; /* used by the owner's thread only */
  std::atomic<int> stage{REQUESTED};
  std::atomic<bool> stop{false};
  std::atomic<bool> wanted{false}; /* the owner has asked for one of its kernels */
  std::atomic<bool> left{false};   /* it has no user left, except the next run */
  std::string sought; /* the identity of the tools under which the cache was searched */
  std::string bytes, why;
  bool settled = false;
  void *loaded = nullptr;
  std::vector<kernel_entry> entries;

  compilation(const std::string &t, const std::vector<std::string> &k) : text(t), kernels(k) {}
};

/* A waiting thread asks after each such interval whether to go on. */
static const std::chrono::milliseconds between_questions(10);

/* Returns one thread for each processor that this process may use, up to the limit. */
static size_t usual_threads() {
  return std::min<unsigned>(processors_available(), compiler::MOST_THREADS);
}

compiler::compiler(std::unique_ptr<toolchain> tools, cache kept, speaker say,
                   unsigned most_threads)
    : tools_(std::move(tools)), say_(std::move(say)),
      most_threads_(most_threads > 0 ? most_threads : usual_threads()), keeps_(kept.keeps()),
      cache_(std::move(kept)) {}

compiler::~compiler() {
  finish_wanted();
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

/* ---- the tools ---- */

std::string compiler::note_key() const {
  return sha256().add(std::to_string(KERNEL_ABI)).add("note").add(tools_->request()).hex();
}

bool compiler::open_tools_now(std::string &why) {
  if (!opened_) {
    opened_ = true;
    if (tools_->open(cannot_)) {
      cannot_.clear();
      identity_ = tools_->identity();
      if (!tools_->request().empty()) keep(note_key(), tools_->note());
    }
  }
  why = cannot_;
  return cannot_.empty();
}

bool compiler::open_tools(std::string &identity, std::string &why) {
  std::lock_guard<std::mutex> lock(opening_);
  const bool opened = open_tools_now(why);
  identity = identity_;
  return opened;
}

/* The note of an earlier process about the compiler is enough to find kernels on disk. Opening
 * NVRTC takes forty milliseconds, longer than many programs run. Without a note nothing was
 * kept, unless the compiler makes no notes. */
bool compiler::identify(std::string &identity) {
  std::lock_guard<std::mutex> lock(opening_);
  std::string note, why;
  const bool has_notes = !tools_->request().empty();
  if (has_notes && !opened_ && !recalled_) {
    recalled_ = cache_.find(note_key(), note) && tools_->recall(note);
    if (recalled_) identity_ = tools_->identity();
  }
  const bool known =
      recalled_ || (!has_notes && open_tools_now(why)) || (opened_ && cannot_.empty());
  identity = identity_;
  return known;
}

/* ---- what the threads do ---- */

std::string compiler::key_of(const compilation &c, const std::string &identity) const {
  sha256 key;
  key.add(std::to_string(KERNEL_ABI)).add(identity).add(c.text);
  for (const std::string &kernel : c.kernels) key.add(kernel);
  return key.hex();
}

bool compiler::find(compilation &c, const std::string &identity) {
  c.sought = identity;
  const bool found = cache_.find(key_of(c, identity), c.bytes);
  if (found) found_ += (unsigned)c.kernels.size();
  return found;
}

int compiler::looked_for(compilation &c) {
  std::string identity;
  return identify(identity) && find(c, identity) ? loaded(c) : MISSING;
}

/* Compiles a module, keeps it and perhaps loads it. Returns its next stage. */
int compiler::made(compilation &c) {
  std::string identity;
  if (!open_tools(identity, c.why)) return FAILED;
  if (identity != c.sought && find(c, identity)) return loaded(c);
  if (!tools_->compile(c.text, c.kernels[0], c.stop, c.bytes, c.why)) return FAILED;
  compiled_ += (unsigned)c.kernels.size();
  keep(key_of(c, identity), c.bytes);
  return loaded(c);
}

/* Keeps bytes in the cache, one thread at a time: the cache notes errors, and counts the bytes
 * of its files. */
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

/* Loads a module that has its bytes. Loading takes a device a quarter of a millisecond, so
 * threads do it rather than the owner. Returns the next stage. */
int compiler::loaded(compilation &c) {
  const bool now = tools_->loads_in_threads() && !c.stop && !c.left && !closing_;
  return !now || load(c) ? MADE : FAILED;
}

bool compiler::find_kernels(compilation &c) {
  c.entries.resize(c.kernels.size());
  for (size_t k = 0; k < c.kernels.size(); k++) {
    if (!tools_->entry_of(c.loaded, c.kernels[k], c.entries[k], c.why)) return false;
  }
  return true;
}

/* Loads the bytes and finds the kernels. Returns false and sets c.why if either fails. */
bool compiler::load(compilation &c) {
  c.loaded = tools_->load(c.bytes, c.why);
  c.bytes = std::string();
  const bool good = c.loaded && find_kernels(c);
  if (c.loaded && !good) tools_->unload(c.loaded);
  if (!good) c.loaded = nullptr;
  return good;
}

/* ---- the threads ---- */

/* Counts the modules under way. The mutex is held here, and in the functions below. */
void compiler::count_work() {
  *work_ = (unsigned)(requested_.size() + missing_.size() + working_.size());
}

bool compiler::has_work() const {
  return !requested_.empty() || !missing_.empty();
}

bool compiler::is_at_end() const {
  return closing_ && clock::now() >= last_begin_;
}

/* Takes the next module: first those that may be on disk, then those that the owner asked for,
 * at last those that only the next run needs. */
compiler::shared compiler::next() {
  std::deque<shared> &from = requested_.empty() ? missing_ : requested_;
  auto at = std::find_if(from.begin(), from.end(), [](const shared &c) { return !c->left; });
  if (at == from.end()) at = from.begin();
  const shared c = *at;
  from.erase(at);
  working_.push_back(c);
  return c;
}

void compiler::done_with(const shared &c, int stage) {
  working_.erase(std::find(working_.begin(), working_.end(), c));
  if (c->stop && c->loaded) { /* nobody wants it any more */
    tools_->unload(c->loaded);
    c->loaded = nullptr;
  }
  c->stage = stage;
  if (stage == MISSING && !c->stop) {
    missing_.insert(c->wanted ? missing_.begin() : missing_.end(), c);
    more_.notify_one();
  }
  count_work();
  done_.notify_all();
}

/* Moves the next module one stage on. The lock is released meanwhile. */
void compiler::advance(std::unique_lock<std::mutex> &lock) {
  const shared c = next();
  int stage = FAILED;
  lock.unlock();
  try {
    stage = c->stage == REQUESTED ? looked_for(*c) : made(*c);
  } catch (const std::exception &e) { /* memory is short */
    c->why = e.what();
  }
  lock.lock();
  done_with(c, stage);
}

void compiler::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    idle_++;
    more_.wait(lock, [this] { return closing_ || has_work(); });
    idle_--;
    if (!has_work() || is_at_end()) return;
    advance(lock);
  }
}

/* Starts one more thread if no thread is free for what waits. Its signals are blocked: they go
 * to the threads that expect them. Returns false if there is no thread at all. */
bool compiler::start() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (threads_.size() == most_threads_ || requested_.size() + missing_.size() <= idle_)
      return true;
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

/* ---- the end ---- */

/* Gives up the modules that nobody wanted, or all of them. */
void compiler::give_up(bool all) {
  const auto unwanted = [all](const shared &c) { return all || !c->wanted; };
  for (std::deque<shared> *of : {&requested_, &missing_})
    of->erase(std::remove_if(of->begin(), of->end(), unwanted), of->end());
  for (const shared &c : working_) {
    if (unwanted(c)) c->stop = true;
  }
  count_work();
}

/* Finishes what is wanted when the program ends; the head of compiler.hpp says how long. */
void compiler::finish_wanted() {
  std::unique_lock<std::mutex> lock(mutex_);
  last_begin_ = clock::now() + std::chrono::seconds(MOST_SECONDS_AT_END);
  closing_ = true;
  give_up(!keeps_ || !cache_trouble_.empty());
  more_.notify_all();
  while (!working_.empty() || (has_work() && !is_at_end())) {
    done_.wait_for(lock, between_questions);
    lock.unlock();
    const bool stop = asked_ && asked_();
    lock.lock();
    if (stop) give_up(true);
  }
}

/* ---- the owner ---- */

compilation *compiler::request(const std::string &text,
                               const std::vector<std::string> &kernels) {
  forget_left();
  for (const shared &c : known_) {
    if (c->text != text || c->kernels != kernels) continue;
    c->left = false;
    c->users++;
    return c.get();
  }
  const shared c = std::make_shared<compilation>(text, kernels);
  known_.push_back(c);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    requested_.push_back(c);
    count_work();
  }
  more_.notify_one();
  if (!start()) {
    requested_.clear(); /* no other thread exists: no lock is needed */
    count_work();
    c->why = "no thread could be started";
    c->stage = FAILED;
  }
  return c.get();
}

void compiler::retain(compilation *c) {
  c->users++;
}

void compiler::speak(bool &said, const std::string &line) {
  if (!said && say_) say_(line);
  said = true;
}

/* The owner calls this once for a module that the threads are done with: it loads the module if
 * no thread did, and reports failures. */
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

/* The owner's thread searches the disk, too, since the other threads may be compiling. */
void compiler::settle_found() {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!requested_.empty()) advance(lock);
    const auto is_looked_for = [](const shared &c) { return c->stage == REQUESTED; };
    done_.wait(lock,
               [&] { return std::none_of(working_.begin(), working_.end(), is_looked_for); });
  }
  for (const shared &c : known_) {
    if (c->users > 0 && c->stage == MADE && !c->settled) settle(*c);
  }
}

/* Notes that the owner asks for a module: it comes next, and is finished at the end. */
void compiler::want(compilation &c) {
  if (c.wanted.exchange(true)) return;
  std::lock_guard<std::mutex> lock(mutex_);
  const auto mine = [&c](const shared &other) { return other.get() == &c; };
  for (std::deque<shared> *of : {&requested_, &missing_}) {
    const auto at = std::find_if(of->begin(), of->end(), mine);
    if (at != of->end()) std::rotate(of->begin(), at, at + 1);
  }
}

const kernel_entry *compiler::poll(compilation *c, size_t kernel) {
  if (c->stage < MADE) {
    want(*c);
  } else if (!c->settled) {
    settle(*c);
  }
  return c->stage == READY ? &c->entries[kernel] : nullptr;
}

const kernel_entry *compiler::wait(compilation *c, size_t kernel) {
  if (c->stage < MADE) want(*c);
  while (c->stage < MADE) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      done_.wait_for(lock, between_questions, [c] { return c->stage >= MADE; });
    }
    if (asked_ && asked_()) break;
  }
  return poll(c, kernel);
}

const char *compiler::failure(const compilation *c) const {
  return c->stage == FAILED && c->settled ? c->why.c_str() : nullptr;
}

/* Decides whether a module without users is still compiled, for the next run. */
bool compiler::is_left(compilation &c) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto left = std::count_if(missing_.begin(), missing_.end(),
                                  [](const shared &other) { return other->left.load(); });
  c.left = c.wanted && c.stage < MADE && keeps_ && cache_trouble_.empty() && left < MOST_LEFT;
  return c.left;
}

/* Forgets the modules that were compiled for the next run and are done. */
void compiler::forget_left() {
  const auto is_done = [this](const shared &c) {
    const bool is = c->users == 0 && c->stage >= MADE;
    if (is && c->loaded) tools_->unload(c->loaded);
    return is;
  };
  known_.erase(std::remove_if(known_.begin(), known_.end(), is_done), known_.end());
}

void compiler::discard(compilation *c) {
  if (--c->users > 0 || is_left(*c)) return;
  const auto mine = [c](const shared &other) { return other.get() == c; };
  void *loaded = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    c->stop = true;
    if (c->stage >= MADE) loaded = c->loaded;
    for (std::deque<shared> *of : {&requested_, &missing_})
      of->erase(std::remove_if(of->begin(), of->end(), mine), of->end());
    count_work();
  }
  if (loaded) tools_->unload(loaded);
  known_.erase(std::remove_if(known_.begin(), known_.end(), mine), known_.end());
}

} // namespace ravel
