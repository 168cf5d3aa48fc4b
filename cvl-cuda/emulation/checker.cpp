/* checker.cpp - see checker.hpp. */
#include "cvl-cuda/emulation/checker.hpp"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

namespace ravel {
namespace emulation {

bool checking = false;

/* ATOMIC marks a change in cell::write as atomic; SEVERAL says that more than one thread made
 * it. */
enum : uint32_t { ATOMIC = 1u << 31, SEVERAL = 1u << 30, NUMBER = SEVERAL - 1 };

static std::string checker_text_of(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
static std::string checker_text_of(const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

/* ---- reports ---- */

enum { REPORTS_SHOWN = 20, EXIT_STATUS = 70 };

static struct {
  std::mutex lock;
  std::vector<report> kept; /* the first REPORTS_SHOWN */
  uint64_t count = 0;
  bool at_exit = false;
} reports;

/* Ends the process with a failure, whatever exit status the program gives. */
static void fail_at_exit() {
  if (reports.count == 0) return;
  fprintf(stderr, "emulation: %" PRIu64 " reports\n", reports.count);
  fflush(nullptr);
  _exit(EXIT_STATUS);
}

void add_report(finding what, const std::string &text) {
  const std::lock_guard<std::mutex> guard(reports.lock);
  if (!reports.at_exit) reports.at_exit = atexit(fail_at_exit) == 0;
  if (reports.count++ >= REPORTS_SHOWN) return;
  reports.kept.push_back({what, text});
  fprintf(stderr, "emulation: %s\n", text.c_str());
  if (reports.count == REPORTS_SHOWN)
    fprintf(stderr, "emulation: further reports are only counted\n");
}

std::vector<report> take_reports() {
  const std::lock_guard<std::mutex> guard(reports.lock);
  std::vector<report> all;
  all.swap(reports.kept);
  reports.count = 0;
  return all;
}

uint64_t count_reports() {
  const std::lock_guard<std::mutex> guard(reports.lock);
  return reports.count;
}

/* ---- which checker ---- */

static thread_local checker *running = nullptr; /* the checker of the launch on this thread */
static thread_local const char *on_host_now = nullptr; /* the body run on the host */
/* The thread of either that runs; -1: none, or all of a block. */
static thread_local int64_t thread_now = -1;

static struct {
  std::mutex lock;
  std::vector<checker *> all;
} checkers;

void run_on_host(const launch &l, const order &o) {
  on_host_now = l.name;
  l.on_host(l.body, l.count, &o);
  on_host_now = nullptr;
}

static const char *who_on_host() {
  return on_host_now ? on_host_now : "the host";
}

/* Checks an access by the host, which must not touch memory of a device, or data that has not
 * arrived. */
static bool host_touches(const void *p, size_t width, bool read) {
  const std::lock_guard<std::mutex> guard(checkers.lock);
  for (checker *c : checkers.all) {
    if (c->device.has(p)) {
      add_report(DEVICE_MEMORY, checker_text_of("\"%s\" on the host %s memory of the device, ",
                                                who_on_host(), read ? "reads" : "writes") +
                                    c->describe(p, width));
      return false;
    }
    if (read && c->pinned.has(p)) c->host_reads(who_on_host(), p, width);
  }
  return true;
}

bool reads(const void *p, size_t width, size_t alignment, shared_cell *shared) {
  if (running) return running->reads({p, width, shared}, alignment);
  return shared || host_touches(p, width, true);
}
bool writes(const void *p, size_t width, size_t alignment, shared_cell *shared) {
  if (running) return running->writes({p, width, shared}, alignment);
  return shared || host_touches(p, width, false);
}
bool changes(const void *p, size_t width, size_t alignment) {
  if (running) return running->changes({p, width, nullptr}, alignment);
  return host_touches(p, width, true);
}
bool shared_index(int64_t i, int64_t n) {
  return running ? running->shared_index(i, n) : true;
}
void report_thread(int64_t thread) {
  thread_now = thread;
  if (running) running->thread_starts(thread);
}
void report_block(int64_t block) {
  thread_now = -1;
  if (running) running->block_starts(block);
}
void report_phase_end() {
  thread_now = -1;
  if (running) running->phase_ends();
}

/* ---- registers ---- */

static std::string here() {
  if (running) return running->here();
  const std::string body = checker_text_of("\"%s\" on the host: ", who_on_host());
  return body + (thread_now < 0 ? "a block" : checker_text_of("thread %" PRId64, thread_now));
}

int64_t running_thread(int64_t named) {
  if (named == thread_now) return named;
  add_report(ANOTHERS_REGISTER,
             here() +
                 checker_text_of(", the register named is that of thread %" PRId64, named));
  return thread_now < 0 ? 0 : thread_now;
}

void report_different(int64_t thread, int64_t of_first, int64_t of_this) {
  add_report(NOT_UNIFORM,
             here() + checker_text_of(", not the same in all threads: %" PRId64
                                      " in thread 0, %" PRId64 " in thread %" PRId64,
                                      of_first, of_this, thread));
}

/* Handles a signal: code of the host touched memory of a device without the checked pointers.
 * Prints a message; the program cannot go on. */
static struct sigaction system_action;

static void on_segv(int signal_number, siginfo_t *info, void *) {
  for (checker *c : checkers.all) {
    if (!c->device.has(info->si_addr)) continue;
    fprintf(stderr, "emulation: the host touches memory of the device: %s\n",
            c->describe(info->si_addr, 1).c_str());
    fflush(nullptr);
    _exit(EXIT_STATUS);
  }
  sigaction(signal_number, &system_action, nullptr); /* the repeated access ends the program */
}

checker::checker(uint32_t first)
    : device(true), pinned(false), now_(std::max(first, device.numbers + 1)) {
  const std::lock_guard<std::mutex> guard(checkers.lock);
  if (!checking) {
    struct sigaction ours;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = on_segv;
    ours.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &ours, &system_action);
  }
  checkers.all.push_back(this);
  checking = true;
}

checker::~checker() {
  const std::lock_guard<std::mutex> guard(checkers.lock);
  checkers.all.erase(std::find(checkers.all.begin(), checkers.all.end(), this));
  device.numbers = now_;
}

/* ---- blocks ---- */

void checker::taken(void *p, size_t bytes) {
  const size_t at = device.offset(p);
  /* Forgets freed allocations at these addresses. */
  blocks_.erase(blocks_.lower_bound(at), blocks_.lower_bound(at + std::max<size_t>(bytes, 1)));
  blocks_[at] = {++last_block_, bytes};
  memset(device.states + at, ALLOCATED, bytes);
  memset(p, POISON, bytes);
}

void checker::returned(void *p, size_t bytes) {
  memset(device.states + device.offset(p), RETURNED, bytes);
  device.free(p);
}

std::string checker::describe(const void *p, size_t width) const {
  if (pinned.has(p)) return checker_text_of("pinned memory + %zu", pinned.offset(p));
  if (!device.has(p)) return checker_text_of("address %p", p);
  const size_t at = device.offset(p);
  auto b = blocks_.upper_bound(at);
  if (b == blocks_.begin()) return checker_text_of("before all blocks");
  --b;
  const size_t in_block = at - b->first;
  return checker_text_of("block %" PRIu64 " (%zu bytes), element %zu of %zu bytes%s",
                         b->second.number, b->second.bytes, in_block / width, width,
                         in_block % width ? ", not at its start" : "");
}

/* ---- a launch ---- */

/* Starts a new number of a thread. Numbers begin anew before they run out. */
void checker::next() {
  if (++now_ < NUMBER) return;
  device.forget_accesses();
  now_ = launch_first_ = block_first_ = phase_first_ = 1;
  block_firsts_.clear();
}

void checker::run(const launch &l, const order &o) {
  launch_ = &l;
  launch_number_++;
  order_ = o;
  block_firsts_.clear();
  block_ = thread_ = -1;
  watched_ = false;
  next();
  launch_first_ = block_first_ = phase_first_ = now_;
  running = this;
  l.on_host(l.body, l.count, &o);
  running = nullptr;
  if (!watched_) initialise_blocks_of(l);
  launch_ = nullptr;
}

void checker::thread_starts(int64_t thread) {
  watched_ = true;
  thread_ = thread;
  next();
}

void checker::block_starts(int64_t block) {
  watched_ = true;
  block_ = block;
  thread_ = -1;
  next();
  block_first_ = phase_first_ = now_;
  block_firsts_.emplace_back(now_, block);
}

void checker::phase_ends() {
  thread_ = -1;
  next();
  phase_first_ = now_;
}

/* A kernel that was compiled ahead of time has plain pointers and reports nothing: all memory
 * that its body points to counts as written. */
void checker::initialise_blocks_of(const launch &l) {
  const char *body = (const char *)l.body;
  for (size_t k = 0; k + sizeof(char *) <= l.size; k += sizeof(char *)) {
    const char *p;
    memcpy(&p, body + k, sizeof p);
    if (!device.has(p)) continue;
    auto b = blocks_.upper_bound(device.offset(p));
    if (b == blocks_.begin()) continue;
    --b;
    std::replace(device.states + b->first, device.states + b->first + b->second.bytes,
                 ALLOCATED, WRITTEN);
  }
}

/* ---- reports of a launch ---- */

std::string checker::in_launch() const {
  return checker_text_of("kernel \"%s\" (launch %" PRIu64 "): ", launch_->name, launch_number_);
}

std::string checker::here() const {
  return in_launch() + who(now_);
}

/* Names the thread that has a number of this launch. */
std::string checker::who(uint32_t number) const {
  if (launch_->threads == 0) {
    if (number <= launch_first_) return "the whole launch";
    const int64_t k = (int64_t)number - launch_first_ - 1;
    return checker_text_of("thread %" PRId64, walk(order_, launch_->count).after(k));
  }
  auto b = std::upper_bound(block_firsts_.begin(), block_firsts_.end(),
                            std::make_pair(number, INT64_MAX));
  if (b == block_firsts_.begin()) return "a block";
  --b;
  const int64_t in_phase = (int64_t)(number - b->first) % (launch_->threads + 1);
  if (in_phase == 0) return checker_text_of("all threads of block %" PRId64, b->second);
  return checker_text_of("thread %" PRId64 " of block %" PRId64,
                         walk(order_, launch_->threads).after(in_phase - 1), b->second);
}

void checker::add(finding what, const std::string &says, const touched &x) {
  add_report(what, in_launch() + says + " " +
                       (x.shared ? checker_text_of("element %d of a shared array",
                                                   (int)x.shared->index)
                                 : describe(x.at, x.width)));
}

/* ---- conflicts ---- */

/* Returns whether an access by the thread with this number is unordered with one made now. */
bool checker::conflicts(uint32_t number) const {
  return number >= launch_first_ && number != now_ &&
         !(number >= block_first_ && number < phase_first_);
}

/* Notes the read and returns true if there is surely no conflict, for all bytes at once; this
 * is almost always so. Returns false if there may be one. Numbers are less than 2^30, so signed
 * comparisons do, for which processors have vector instructions. */
template <int n> bool checker::ordered_read(const accesses &cells) const {
  const int32_t now = (int32_t)now_, launch = (int32_t)launch_first_;
  const int32_t block = (int32_t)block_first_, phase = (int32_t)phase_first_;
  int32_t bad = 0;
  for (int k = 0; k < n; k++) {
    const int32_t writer = (int32_t)(cells.write[k] & NUMBER);
    bad |= ((cells.write[k] & SEVERAL) != 0) & (writer == now);
    bad |= (writer >= launch) & (writer != now) & ((writer < block) | (writer >= phase));
  }
  if (bad) return false;
  for (int k = 0; k < n; k++) {
    const int32_t read = (int32_t)cells.read[k], other = (int32_t)cells.other[k];
    const bool kept = (read == now) | (read < launch) | ((other >= launch) & (other < block));
    cells.other[k] = (uint32_t)(kept ? other : read);
    cells.read[k] = (uint32_t)now;
  }
  return true;
}

/* Does the same for a write that is not atomic. */
template <int n> bool checker::ordered_write(const accesses &cells) const {
  const int32_t now = (int32_t)now_, launch = (int32_t)launch_first_;
  const int32_t block = (int32_t)block_first_, phase = (int32_t)phase_first_;
  const auto of_others = [=](int32_t number) {
    return (number >= launch) & (number != now) & ((number < block) | (number >= phase));
  };
  int32_t bad = 0;
  for (int k = 0; k < n; k++) {
    const int32_t writer = (int32_t)(cells.write[k] & NUMBER);
    bad |= ((cells.write[k] & SEVERAL) != 0) & (writer == now);
    bad |= of_others(writer);
    bad |= of_others((int32_t)cells.read[k]) | of_others((int32_t)cells.other[k]);
  }
  if (bad) return false;
  for (int k = 0; k < n; k++) cells.write[k] = (uint32_t)now;
  return true;
}

void checker::note_read(const accesses &cells, size_t n, const touched &x) {
  bool ordered = false;
  switch (n) {
  case 1: ordered = ordered_read<1>(cells); break;
  case 4: ordered = ordered_read<4>(cells); break;
  case 8: ordered = ordered_read<8>(cells); break;
  }
  if (!ordered) look_at_read(cells, n, x);
}

void checker::note_write(const accesses &cells, size_t n, bool atomic, const touched &x) {
  bool ordered = false;
  switch (atomic ? 0 : n) {
  case 1: ordered = ordered_write<1>(cells); break;
  case 4: ordered = ordered_write<4>(cells); break;
  case 8: ordered = ordered_write<8>(cells); break;
  }
  if (!ordered) look_at_write(cells, n, atomic, x);
}

/* Looks for conflicts. Every byte of an element has a cell, but an access is reported once. */
void checker::look_at_read(const accesses &cells, size_t n, const touched &x) {
  bool reported = false;
  for (size_t k = 0; k < n; k++) {
    const uint32_t write = cells.write[k], writer = write & NUMBER;
    uint32_t &read = cells.read[k], &other = cells.other[k];
    const bool several = (write & SEVERAL) && writer == now_;
    if (!reported && (several || conflicts(writer))) {
      reported = true;
      if (write & ATOMIC)
        add(PLAIN_AND_ATOMIC,
            who(now_) + " reads what " +
                (several ? "others change" : who(writer) + " changes") + " atomically,",
            x);
      else
        add(READ_AND_WRITTEN, who(now_) + " reads what " + who(writer) + " writes,", x);
    }
    if (read == now_) continue;
    const bool by_other_block = other >= launch_first_ && other < block_first_;
    if (read >= launch_first_ && !by_other_block) other = read;
    read = now_;
  }
}

void checker::look_at_write(const accesses &cells, size_t n, bool atomic, const touched &x) {
  const char *does = atomic ? " changes atomically what " : " writes what ";
  bool reported = false;
  for (size_t k = 0; k < n; k++) {
    uint32_t &write = cells.write[k];
    const uint32_t writer = write & NUMBER, read = cells.read[k], other = cells.other[k];
    const uint32_t read_by = conflicts(read) ? read : conflicts(other) ? other : 0;
    const bool was_atomic = (write & ATOMIC) != 0, by_other = conflicts(writer);
    const bool several = (write & SEVERAL) && writer == now_;
    if (reported) {
      /* already noted */
    } else if (several && !atomic) {
      add(PLAIN_AND_ATOMIC, who(now_) + does + "others change atomically,", x);
      reported = true;
    } else if (by_other && atomic != was_atomic) {
      add(PLAIN_AND_ATOMIC,
          who(now_) + does + who(writer) + (was_atomic ? " changes atomically," : " writes,"),
          x);
      reported = true;
    } else if (by_other && !atomic) {
      add(WRITTEN_TWICE, who(writer) + " and " + who(now_) + " both write", x);
      reported = true;
    } else if (read_by != 0) {
      add(atomic ? PLAIN_AND_ATOMIC : READ_AND_WRITTEN,
          who(now_) + does + who(read_by) + " reads,", x);
      reported = true;
    }
    write = now_;
    if (atomic) write |= ATOMIC;
    if (atomic && (several || (by_other && was_atomic))) write |= SEVERAL;
  }
}

/* ---- accesses ---- */

/* Returns whether n bytes, the width of a type, are all written: almost always they are. */
static bool checker_all_written(const state *s, size_t n) {
  const uint64_t written = 0x0101010101010101u * WRITTEN;
  switch (n) {
  case 1: return *s == WRITTEN;
  case 4: return memcmp(s, &written, 4) == 0;
  case 8: return memcmp(s, &written, 8) == 0;
  default: return std::all_of(s, s + n, [](state x) { return x == WRITTEN; });
  }
}

static bool all_allocated(const state *s, size_t n) {
  bool good = true;
  for (size_t k = 0; k < n; k++) good = good && s[k] >= ALLOCATED && s[k] <= WRITTEN;
  return good;
}

static void mark_written(state *s, size_t n) {
  switch (n) {
  case 1: memset(s, WRITTEN, 1); break;
  case 4: memset(s, WRITTEN, 4); break;
  case 8: memset(s, WRITTEN, 8); break;
  default: memset(s, WRITTEN, n);
  }
}

/* Returns whether bytes of the device are allocated, and reports if not. */
bool checker::owned(const void *p, size_t n, const std::string &who_does) {
  const size_t at = device.offset(p);
  size_t k = 0;
  while (k < n && (device.states[at + k] == ALLOCATED || device.states[at + k] == WRITTEN)) k++;
  if (k == n) return true;
  const bool unallocated = device.states[at + k] == UNALLOCATED;
  add_report(unallocated ? OUT_OF_BOUNDS : FREED,
             who_does + (unallocated ? " out of bounds: " : " freed memory: ") +
                 describe(p, n));
  return false;
}

bool checker::reach(const touched &x, size_t alignment, const char *does) {
  watched_ = true;
  if ((uintptr_t)x.at % alignment != 0) {
    add(MISALIGNED, who(now_) + " " + does + " at an address that is not aligned,", x);
    return false;
  }
  if (pinned.has(x.at)) return true;
  if (!device.has(x.at)) {
    add(HOST_MEMORY, who(now_) + " " + does + " memory of the host,", x);
    return false;
  }
  const state *states = device.states + device.offset(x.at);
  return checker_all_written(states, x.width) || all_allocated(states, x.width) ||
         owned(x.at, x.width, in_launch() + who(now_) + " " + does);
}

/* Numbers greater than the running thread's are from before the numbers began anew, in this
 * launch. */
static accesses of_shared(shared_cell *s, uint32_t now) {
  cell &c = s->access;
  if ((c.write & NUMBER) > now || c.read > now || c.other > now) c = cell{};
  return {&c.write, &c.read, &c.other};
}

bool checker::reads(const touched &x, size_t alignment) {
  state *states;
  accesses cells;
  size_t n = 1;
  if (x.shared) {
    watched_ = true;
    if (block_ >= 0 && thread_ < 0) add(OUTSIDE_PHASE, who(now_) + " read", x);
    states = &x.shared->memory;
    cells = of_shared(x.shared, now_);
  } else {
    if (!reach(x, alignment, "reads")) return false;
    if (pinned.has(x.at)) return true;
    states = device.states + device.offset(x.at);
    cells = device.cells.from(device.offset(x.at));
    n = x.width;
  }
  if (!checker_all_written(states, n)) {
    add(UNINITIALISED, who(now_) + " reads uninitialised memory,", x);
    mark_written(states, n); /* reported only once */
  }
  note_read(cells, n, x);
  return true;
}

bool checker::writes(const touched &x, size_t alignment) {
  if (!x.shared && !reach(x, alignment, "writes")) return false;
  if (block_ >= 0 && thread_ < 0) add(OUTSIDE_PHASE, who(now_) + " write", x);
  if (x.shared) {
    watched_ = true;
    x.shared->memory = WRITTEN;
    note_write(of_shared(x.shared, now_), 1, false, x);
  } else if (pinned.has(x.at)) {
    expect(x.at, x.width, true);
  } else {
    const size_t at = device.offset(x.at);
    mark_written(device.states + at, x.width);
    note_write(device.cells.from(at), x.width, false, x);
  }
  return true;
}

bool checker::changes(const touched &x, size_t alignment) {
  if (!reach(x, alignment, "changes")) return false;
  if (block_ >= 0 && thread_ < 0) add(OUTSIDE_PHASE, who(now_) + " change", x);
  if (pinned.has(x.at)) return true;
  const size_t at = device.offset(x.at);
  if (!checker_all_written(device.states + at, x.width)) {
    add(UNINITIALISED, who(now_) + " changes uninitialised memory atomically,", x);
    mark_written(device.states + at, x.width);
  }
  note_write(device.cells.from(at), x.width, true, x);
  return true;
}

bool checker::shared_index(int64_t i, int64_t n) {
  if (i >= 0 && i < n) return true;
  add_report(OUT_OF_BOUNDS, in_launch() + who(now_) +
                                checker_text_of(" uses element %" PRId64
                                                " of a shared array of %" PRId64 " elements",
                                                i, n));
  return false;
}

/* ---- commands other than launches ---- */

bool checker::command_writes(const char *does, const void *p, size_t bytes) {
  if (!device.has(p)) {
    add_report(HOST_MEMORY, std::string(does) + " memory of the host: " + describe(p, bytes));
    return false;
  }
  if (!owned(p, bytes, does)) return false;
  memset(device.states + device.offset(p), WRITTEN, bytes);
  return true;
}

bool checker::fills(const void *p, size_t bytes) {
  return command_writes("a fill writes", p, bytes);
}

bool checker::copies_up(const void *to, const void *from, const void *as_issued, size_t bytes) {
  if (memcmp(from, as_issued, bytes) != 0)
    add_report(SOURCE_CHANGED, "the source of a copy changed before the copy was made: " +
                                   describe(from, bytes));
  return command_writes("a copy from the host writes", to, bytes);
}

bool checker::command_reads(const char *does, const void *p, size_t bytes) {
  if (!device.has(p)) {
    add_report(HOST_MEMORY, std::string(does) + " memory of the host: " + describe(p, bytes));
    return false;
  }
  if (!owned(p, bytes, does)) return false;
  if (!checker_all_written(device.states + device.offset(p), bytes))
    add_report(UNINITIALISED,
               std::string(does) + " uninitialised memory: " + describe(p, bytes));
  return true;
}

bool checker::copies_down(const void *to, const void *from, size_t bytes, bool alone) {
  if (!command_reads("a copy to the host reads", from, bytes)) return false;
  const uint8_t *there = (const uint8_t *)to;
  size_t same = 0;
  while (same < bytes && there[same] == POISON) same++;
  if (alone && same < bytes)
    add_report(DESTINATION_CHANGED,
               "the host wrote where a copy was to arrive: " + describe(there + same, 1));
  return true;
}

bool checker::copies(const void *to, const void *from, size_t bytes) {
  return command_reads("a copy on the device reads", from, bytes) &&
         command_writes("a copy on the device writes", to, bytes);
}

bool checker::copies_shared(const void *to, const void *from, size_t bytes) {
  if (device.has(from) && !command_reads("a copy for others reads", from, bytes)) return false;
  return !device.has(to) || command_writes("a copy from others writes", to, bytes);
}

/* ---- what the host knows ---- */

bool checker::expect(const void *p, size_t bytes, bool by_kernel) {
  return arrivals_.insert({pinned.offset(p), {bytes, UINT64_MAX, by_kernel}}).second;
}

void checker::marked(uint64_t epoch, bool executed) {
  for (auto &a : arrivals_) {
    if (a.second.epoch == UINT64_MAX && a.second.by_kernel == executed) a.second.epoch = epoch;
  }
}

void checker::known(uint64_t epoch) {
  for (auto a = arrivals_.begin(); a != arrivals_.end();) {
    a = a->second.epoch <= epoch ? arrivals_.erase(a) : std::next(a);
  }
}

/* Returns whether the bytes are POISON. No result consists of eight such bytes, or of fewer if
 * it is shorter. */
static bool checker_poisoned(const void *p, size_t bytes) {
  const uint8_t *b = (const uint8_t *)p;
  const size_t step = bytes < 8 ? bytes : 8;
  for (size_t k = 0; step > 0 && k + step <= bytes; k += step) {
    size_t same = 0;
    while (same < step && b[k + same] == POISON) same++;
    if (same == step) return true;
  }
  return false;
}

void checker::host_reads(const char *who_reads, const void *p, size_t bytes) {
  const size_t at = pinned.offset(p);
  auto a = arrivals_.lower_bound(at + bytes);
  const bool early = a != arrivals_.begin() && (--a, a->first + a->second.bytes > at);
  if (early || checker_poisoned(p, bytes))
    add_report(NOT_READY,
               std::string(who_reads) + " reads a result " +
                   (early ? "before it is known to be there, " : "that is not there, ") +
                   describe(p, bytes));
}

} // namespace emulation
} // namespace ravel
