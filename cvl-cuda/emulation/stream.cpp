/* stream.cpp - an emulated device. Commands are queued until the host waits for them, or until
 * the options (options.hpp) say so; then they are executed in order. */
#include "cvl-cuda/emulation/stream.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "cvl-cuda/clock.hpp"
#include "cvl-cuda/emulation/checker.hpp"
#include "cvl-cuda/emulation/watching.hpp"
#include "cvl-cuda/nvrtc.hpp"
#include "cvl-cuda/visit.hpp"

namespace ravel {
namespace {

struct command {
  enum what { RUN, UP, DOWN, COPY, FILL, TAKEN, RETURNED, MARK } kind;
  void *to;
  const void *from;
  size_t bytes;
  uint64_t number; /* MARK: epoch; FILL: byte; DOWN: whether no other copy was to come */
  launch l;
  std::unique_ptr<char[]> copy; /* RUN: of the body; UP: of the source, if checked */
};

/* The number of the device. No machine has so many, so nobody takes our exported memory for
 * that of a GPU. */
enum { NO_DEVICE = 1 << 20 };

/* The memory that a program gets ahead. Few programs need more; if one does, the statistics of
 * held memory show it. */
enum : size_t { EARLY = (size_t)64 << 20 };

struct emulated final : stream, current_device {
  const emulation_options options_;
  std::unique_ptr<emulation::checker> check_;
  std::deque<command> queue_;
  uint64_t marked_ = 0, launches_ = 0, drawn_;
  bool measures_ = false;
  uint64_t kernel_ns_ = 0;
  visit visit_{*this};

  explicit emulated(const emulation_options &o) : options_(o), drawn_(o.threads.seed) {
    if (o.check) check_.reset(new emulation::checker);
  }

  bool get_device(int *d) override {
    *d = emulated_current_device();
    return true;
  }
  bool set_device(int d) override {
    emulated_current_device() = d;
    return true;
  }
  /* Called before every call, as for a GPU. */
  void enter() {
    visit_.enter(NO_DEVICE);
    if (emulated_current_device() == NO_DEVICE) return;
    fprintf(stderr, "the emulated device: a call that would go to device %d\n",
            emulated_current_device());
    abort();
  }
  void leave() override { visit_.leave(); }

  static void *plain(size_t bytes) { return aligned_alloc(256, (bytes + 255) / 256 * 256); }
  void *allocate(size_t bytes) override {
    enter();
    return check_ ? check_->device.allocate(bytes) : plain(bytes);
  }
  void free(void *p) override {
    if (!check_) ::free(p);
  }
  void *allocate_pinned(size_t bytes) override {
    enter();
    return check_ ? check_->pinned.allocate(bytes) : plain(bytes);
  }
  void free_pinned(void *p) override {
    if (check_)
      check_->pinned.free(p);
    else
      ::free(p);
  }
  void *allocate_early(size_t most, size_t *bytes) override {
    return plain(*bytes = std::min(most, (size_t)EARLY));
  }
  void *allocate_pinned_early(size_t bytes) override { return plain(bytes); }
  bool blocks_apart() override { return options_.check; }

  void run(const launch &l) override;
  void run_here(const launch &) override;
  void copy_up(void *to, const void *from, size_t bytes) override;
  void copy_down(void *to, const void *from, size_t bytes) override;
  void copy(void *to, const void *from, size_t bytes) override {
    issue(command::COPY, to, from, bytes);
    maybe_execute();
  }
  void fill(void *p, uint8_t byte, size_t bytes) override {
    issue(command::FILL, p, nullptr, bytes).number = byte;
    maybe_execute();
  }
  int number() override { return NO_DEVICE; }
  void *allocate_shared(size_t bytes, void (**end)(void *)) override {
    enter();
    *end = ::free;
    return plain(bytes);
  }
  void copy_shared(void *to, const void *from, size_t bytes) override;
  void taken(void *p, size_t bytes) override {
    if (check_) issue(command::TAKEN, p, nullptr, bytes);
    maybe_execute();
  }
  void returned(void *p, size_t bytes) override {
    if (check_) issue(command::RETURNED, p, nullptr, bytes);
    maybe_execute();
  }
  void mark(uint64_t epoch) override {
    if (check_) check_->marked(epoch, false);
    issue(command::MARK, nullptr, nullptr, 0).number = epoch;
    maybe_execute();
  }
  uint64_t reached() override;
  void wait(uint64_t epoch) override;
  void host_reads(const void *p, size_t bytes) override {
    if (check_ && check_->pinned.has(p)) check_->host_reads("the host", p, bytes);
  }
  const char *failure() override { return nullptr; }
  int processors() override { return 4; }
  void measure() override { measures_ = true; }
  uint64_t kernel_ns() override {
    enter(); /* a GPU is asked for its events here */
    return kernel_ns_;
  }
  toolchain *new_toolchain() override {
    if (options_.nvrtc) return nvrtc_toolchain(90, kernel_loader()).release();
    return host_toolchain("", check_ ? watching() : companion()).release();
  }

  command &issue(enum command::what, void *to, const void *from, size_t bytes);
  void maybe_execute();
  void execute_first(size_t n);
  void execute(const command &);
  void execute_measured(const command &);
  order next_order();
  uint64_t draw(uint64_t n);
};

command &emulated::issue(enum command::what kind, void *to, const void *from, size_t bytes) {
  if (kind != command::TAKEN && kind != command::RETURNED) enter(); /* only the checker's */
  queue_.push_back({kind, to, from, bytes, 0, launch{}, nullptr});
  return queue_.back();
}

static std::unique_ptr<char[]> stream_copy_of(const void *p, size_t bytes) {
  std::unique_ptr<char[]> copy(new char[bytes]);
  memcpy(copy.get(), p, bytes);
  return copy;
}

void emulated::run(const launch &l) {
  command &c = issue(command::RUN, nullptr, nullptr, 0);
  c.l = l;
  c.copy = stream_copy_of(l.body, l.size);
  c.l.body = c.copy.get();
  maybe_execute();
}

void emulated::run_here(const launch &l) {
  emulation::run_on_host(l, next_order());
}

void emulated::copy_up(void *to, const void *from, size_t bytes) {
  command &c = issue(command::UP, to, from, bytes);
  if (check_) c.copy = stream_copy_of(from, bytes);
  maybe_execute();
}

void emulated::copy_down(void *to, const void *from, size_t bytes) {
  command &c = issue(command::DOWN, to, from, bytes);
  if (check_) {
    c.number = check_->expect(to, bytes, false);
    memset(to, emulation::POISON, bytes);
  }
  maybe_execute();
}

/* The checker does not know shared memory. */
void emulated::copy_shared(void *to, const void *from, size_t bytes) {
  enter();
  execute_first(queue_.size());
  if (bytes == 0) return;
  if (check_) check_->commands_start();
  if (!check_ || check_->copies_shared(to, from, bytes)) memcpy(to, from, bytes);
  if (check_) check_->commands_end();
}

/* ---- when commands are executed ---- */

/* Returns a number in 0 .. n-1, by the generator splitmix64. */
uint64_t emulated::draw(uint64_t n) {
  uint64_t x = drawn_ += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return (x ^ x >> 31) % n;
}

order emulated::next_order() {
  order o = options_.threads;
  if (o.direction == 0) o.seed += ++launches_ * 0x9e3779b97f4a7c15u;
  return o;
}

void emulated::maybe_execute() {
  size_t n = queue_.size();
  if (options_.executed == emulation_options::ON_WAIT) return;
  if (options_.executed == emulation_options::AT_RANDOM)
    n = draw(4) == 0 ? (size_t)draw(n + 1) : 0;
  execute_first(n);
}

uint64_t emulated::reached() {
  maybe_execute();
  if (check_) check_->known(marked_);
  return marked_;
}

void emulated::wait(uint64_t epoch) {
  size_t n = 0;
  enter();
  while (n < queue_.size() &&
         !(n > 0 && queue_[n - 1].kind == command::MARK && queue_[n - 1].number >= epoch))
    n++;
  if (marked_ < epoch) execute_first(n);
  if (check_) check_->known(marked_);
}

/* ---- how commands are executed ---- */

void emulated::execute_first(size_t n) {
  if (n == 0) return;
  if (check_) check_->commands_start();
  while (n-- > 0) {
    const command c = std::move(queue_.front());
    queue_.pop_front();
    execute_measured(c);
  }
  if (check_) check_->commands_end();
}

void emulated::execute_measured(const command &c) {
  const bool measured = measures_ && (c.kind == command::RUN || c.kind == command::FILL);
  const uint64_t start = measured ? now_ns() : 0;
  execute(c);
  if (measured) kernel_ns_ += now_ns() - start;
}

void emulated::execute(const command &c) {
  switch (c.kind) {
  case command::RUN: {
    const order o = next_order();
    launch l = c.l;
    if (l.count_at != nullptr)
      l.count = std::min(l.count, *(const int64_t *)address(l.count_at));
    if (check_)
      check_->run(l, o);
    else
      l.on_host(l.body, l.count, &o);
    break;
  }
  case command::UP:
    if (check_ && !check_->copies_up(c.to, c.from, c.copy.get(), c.bytes)) break;
    memcpy(c.to, c.from, c.bytes);
    break;
  case command::DOWN:
    if (check_ && !check_->copies_down(c.to, c.from, c.bytes, c.number != 0)) break;
    memcpy(c.to, c.from, c.bytes);
    break;
  case command::COPY:
    if (check_ && !check_->copies(c.to, c.from, c.bytes)) break;
    memcpy(c.to, c.from, c.bytes);
    break;
  case command::FILL:
    if (check_ && !check_->fills(c.to, c.bytes)) break;
    memset(c.to, (int)c.number, c.bytes);
    break;
  case command::TAKEN: check_->taken(c.to, c.bytes); break;
  case command::RETURNED: check_->returned(c.to, c.bytes); break;
  case command::MARK:
    marked_ = c.number;
    if (check_) check_->marked(marked_, true);
    break;
  }
}

} // namespace

int &emulated_current_device() {
  static thread_local int current = 0;
  return current;
}

stream *emulated_stream(const emulation_options &o) {
  return new emulated(o);
}

} // namespace ravel
