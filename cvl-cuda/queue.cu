/* queue.cu - the window, and its own kernel, which makes many small uploads at once and sets
 * memory. */
#include "cvl-cuda/queue.hpp"

#include <string.h>

#include <algorithm>

#include "cvl-cuda/clock.hpp"
#include "cvl-cuda/copies.hpp"
#include "cvl-cuda/launch.hpp"

namespace ravel {

enum { SMALL_COPY = 32 << 10 };

/* ---- many small copies ---- */

namespace {

/* One block for each copy; after these, one for each so many bytes of memory that is set. */
struct beginning_body {
  enum { threads = 128, most = 48, SET = 32 << 10 };
  struct shared {};
  byte_copy copies[most];
  byte_fill fills[most];
  int64_t first[most]; /* first block of each fill */
  int32_t copied, filled;

  int64_t blocks() const {
    if (filled == 0) return copied;
    const byte_fill &last = fills[filled - 1];
    return first[filled - 1] + (int64_t)((last.bytes + SET - 1) / SET);
  }
  bool is_full() const { return copied == most || filled == most; }
  void add(const byte_fill &x) {
    first[filled] = blocks();
    fills[filled++] = x;
  }

  template <class B> HD void operator()(B &block) const {
    const int64_t b = block.index();
    int k = filled - 1;
    while (k > 0 && b < first[k]) k--;
    block.each([&](int t) {
      if (b < copied) {
        copies[b].run(t, threads);
      } else {
        fills[k].run((size_t)(b - first[k]) * SET, SET, t, threads);
      }
    });
  }
};

} // namespace

/* Issues the uploads of the window, and the memory that is set before it. */
void queue::issue_beginning() {
  const size_t all = uploads_.size() + settings_.size();
  if (all == 1 && !uploads_.empty())
    device->copy_up(uploads_[0].to->at, uploads_[0].from->at, uploads_[0].bytes);
  if (all == 1 && uploads_.empty()) {
    const setting &x = settings_[0];
    issue_timed([&] { device->fill(x.to, x.byte, x.bytes); });
  }
  size_t copied = 0, set = 0;
  while (all > 1 && copied + set < all) {
    beginning_body body{};
    for (; copied < uploads_.size() && !body.is_full(); copied++) {
      const copy &c = uploads_[copied];
      body.copies[body.copied++] = copy_of_bytes(c.to->at, c.from->at, c.bytes);
    }
    for (; set < settings_.size() && !body.is_full(); set++) {
      const setting &x = settings_[set];
      body.add(fill_of_bytes(x.to, x.byte, x.bytes));
    }
    issue_launch(launch_blocks("window begins", body.blocks(), body));
  }
  for (const copy &c : uploads_) {
    bytes_up += c.bytes;
    in_flight_.emplace_back(epoch, c.from);
  }
  uploads_.clear();
  settings_.clear();
  begins_ = 0;
}

/* Mirrors the small results of the window that are still referenced. The stream copies them and
 * reports the end of the epoch by one launch. */
void queue::issue_mirrors() {
  for (const copy &m : mirrors_) {
    if (m.from->refs == 1) continue;
    device->copy_down(m.to->at, m.from->at, m.bytes);
    bytes_down += m.bytes;
    in_flight_.emplace_back(epoch, m.to);
  }
  mirrors_.clear();
}

/* ---- longer copies ---- */

queue::~queue() {
  for (const staging::buffer &b : ring.buffers) device->free_pinned(b.at);
}

/* Enlarges a buffer whose copies are all done. */
void queue::enlarge(staging::buffer &b, size_t bytes, uint64_t site) {
  size_t capacity = staging::LEAST;
  while (capacity < bytes) capacity *= 2;
  capacity = std::min(capacity, ring.most);
  device->free_pinned(b.at);
  b = staging::buffer();
  b.at = (char *)device->allocate_pinned(capacity);
  if (b.at == nullptr) throw out_of_memory(site, capacity, 0);
  b.capacity = capacity;
}

/* Returns pinned memory for a copy that is put into this window. */
char *queue::stage(size_t bytes, uint64_t site) {
  staging::buffer *b = &ring.buffers[ring.now];
  if (b->capacity - b->used < bytes) {
    ring.now ^= 1;
    b = &ring.buffers[ring.now];
    finish(b->epoch);
    b->used = 0;
    if (b->capacity < bytes) enlarge(*b, bytes, site);
  }
  char *range = b->at + b->used;
  b->used = std::min(b->capacity,
                     b->used + (bytes + staging::APART - 1) / staging::APART * staging::APART);
  b->epoch = epoch;
  return range;
}

/* ---- the window ---- */

command &queue::push(enum command::what kind) {
  window_.emplace_back();
  command &c = window_.back();
  c.kind = kind;
  works_ = works_ || kind != command::RETURNED;
  c.number = ++number;
  c.waits = false;
  return c;
}

/* Returns how many commands an idle device gets. It gets all commands before the first launch
 * that waits for others and has fewer than `company` commands behind it. */
size_t queue::passable() const {
  size_t cut = window_.size();
  uint64_t behind = 0;
  for (size_t k = window_.size(); k-- > 0 && behind < company;) {
    if (window_[k].kind == command::RETURNED) continue;
    if (window_[k].waits) cut = k;
    behind++;
  }
  const auto works = [](const command &c) { return c.kind != command::RETURNED; };
  return std::any_of(window_.begin(), window_.begin() + (std::ptrdiff_t)cut, works) ? cut : 0;
}

/* Passes commands to a device that is idle. A device that has commands of this epoch is not
 * known to be idle again, since only the end of an epoch says that. */
void queue::maybe_flush() {
  if (held_ >= most_held) {
    flush();
  } else if (passed_ || reached(epoch - 1)) {
    const size_t commands = passable();
    if (commands == 0) return;
    pass(commands);
    device->pauses();
  }
}

uint64_t queue::run(const launch &l) {
  return put(l, false);
}

uint64_t queue::put(const launch &l, bool joinable) {
  if (l.count == 0) return number;
  runs++;
  command &c = push(command::LAUNCH);
  const size_t begins = uploads_.size() + settings_.size();
  c.waits = joinable || begins > begins_;
  begins_ = begins;
  const uint64_t n = c.number;
  c.l = l;
  c.body.reset(new char[l.size]);
  memcpy(c.body.get(), l.body, l.size);
  c.l.body = c.body.get();
  held_++;
  maybe_flush();
  return n;
}

uint64_t queue::run_joined(const launch &l, join_function join, uint64_t after) {
  for (auto c = window_.rbegin(); c != window_.rend() && c->number > after; ++c) {
    if (c->kind == command::LAUNCH && c->l.on_host == l.on_host && c->l.kernel == l.kernel &&
        c->l.name == l.name && c->l.count_at == l.count_at &&
        join(c->body.get(), &c->l, l.body)) {
      runs++;
      return c->number;
    }
  }
  return put(l, true);
}

void queue::fill(void *device_memory, uint8_t byte, size_t bytes) {
  if (bytes == 0) return;
  command &c = push(command::FILL);
  c.to = device_memory;
  c.byte = byte;
  c.bytes = bytes;
  held_++;
  maybe_flush();
}

uint64_t queue::set(const block &to, uint8_t byte, size_t bytes) {
  if (bytes == 0) return 0;
  if (to.free_since < first) { /* no command of the window uses it */
    settings_.push_back({to.at, byte, bytes});
    return 0;
  }
  fill(to.at, byte, bytes);
  return number;
}

void queue::copy_within(block *to, const void *from, size_t bytes) {
  if (bytes == 0) return;
  command &c = push(command::COPY);
  c.to = to->at;
  c.from = from;
  c.bytes = bytes;
  to->written = c.number;
  held_++;
  maybe_flush();
}

void queue::copy_up(void *to, const void *from, size_t bytes, block *of) {
  command &c = push(command::COPY_UP);
  c.to = to;
  c.from = from;
  c.bytes = bytes;
  bytes_up += bytes;
  of->written = c.number;
}

void queue::upload_small(heap &h, block *to, const void *from, size_t bytes, uint64_t site) {
  ref<block> source(h.take_own(memory_space::host, bytes, site));
  memcpy(source->at, from, bytes);
  if (to->free_since < first) { /* no command of the window uses it */
    uploads_.push_back({ref<block>::to(to), source, bytes});
    return;
  }
  copy_up(to->at, source->at, bytes, to);
  in_flight_.emplace_back(epoch, source);
}

void queue::upload(heap &h, block *to, const void *from, size_t bytes, uint64_t site) {
  if (bytes == 0) return;
  if (bytes <= SMALL_COPY && bytes <= ring.most) {
    upload_small(h, to, from, bytes, site);
    return;
  }
  for (size_t begin = 0; begin < bytes; begin += ring.most) {
    const size_t n = std::min(bytes - begin, ring.most);
    char *range = stage(n, site);
    memcpy(range, (const char *)from + begin, n);
    copy_up(to->at + begin, range, n, to);
    if (begin + n < bytes) flush(); /* the device copies while the host goes on */
  }
}

staged_copy queue::stage_down(const void *from_device, size_t bytes, uint64_t site) {
  char *range = stage(bytes, site);
  download(range, from_device, bytes);
  return {range, bytes, epoch};
}

void queue::download(void *pinned, const void *from_device, size_t bytes) {
  command &c = push(command::COPY_DOWN);
  c.to = pinned;
  c.from = from_device;
  c.bytes = bytes;
  bytes_down += bytes;
}

void queue::mirror(const ref<block> &to, const ref<block> &from, size_t bytes) {
  mirrors_.push_back({to, from, bytes});
}

/* Issues this as early as a command may use the memory. A command that is joined with a launch
 * of the window runs with that launch, before what was issued since. */
void queue::taken(void *p, size_t bytes, uint64_t since) {
  if (since < first) { /* no command of the window uses it */
    device->taken(p, bytes);
  } else {
    window_[since - first].taken.push_back({p, bytes}); /* the command that returned it */
  }
}

void queue::returned(void *p, size_t bytes) {
  command &c = push(command::RETURNED);
  c.to = p;
  c.bytes = bytes;
}

/* Puts a launch for the device into the stream. */
template <class G> void queue::issue_timed(G give) {
  const uint64_t start = now_ns();
  give();
  launch_ns += now_ns() - start;
  launches++;
}

void queue::issue_launch(const launch &l) {
  issue_timed([&] { device->run(l); });
}

void queue::issue(const command &c) {
  switch (c.kind) {
  case command::LAUNCH: issue_launch(c.l); break;
  case command::FILL: issue_timed([&] { device->fill(c.to, c.byte, c.bytes); }); break;
  case command::COPY_UP: device->copy_up(c.to, c.from, c.bytes); break;
  case command::COPY_DOWN: device->copy_down(c.to, c.from, c.bytes); break;
  case command::COPY: device->copy(c.to, c.from, c.bytes); break;
  case command::RETURNED:
    device->returned(c.to, c.bytes);
    for (const address_range &p : c.taken) device->taken(p.at, p.bytes);
    break;
  }
}

/* Passes the first commands of the window. */
void queue::pass(size_t commands) {
  issue_beginning();
  for (; commands > 0; commands--) {
    issue(window_.front());
    window_.pop_front();
  }
  first = number + 1 - window_.size();
  passed_ = true;
}

void queue::flush() {
  const bool works = works_ || !uploads_.empty() || !settings_.empty() || !mirrors_.empty();
  pass(window_.size());
  issue_mirrors();
  held_ = 0;
  works_ = passed_ = false;
  if (works) issue_timed([&] { device->mark(epoch++); }); /* a launch on a device */
}

bool queue::reached(uint64_t e) {
  if (e > done && e < epoch) {
    done = device->reached();
    while (!in_flight_.empty() && in_flight_.front().first <= done) in_flight_.pop_front();
  }
  return e <= done;
}

void queue::finish() {
  flush();
  finish(epoch - 1);
}

void queue::finish(uint64_t e) {
  if (e == epoch) flush();
  if (reached(e)) return;
  const uint64_t start = now_ns();
  waits++;
  device->wait(e);
  wait_ns += now_ns() - start;
  reached(e);
  if (device->failure()) in_flight_.clear(); /* nothing will arrive any more */
}

} // namespace ravel
