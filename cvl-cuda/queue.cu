/* queue.cu - the window, and the one kernel it has of its own: many small uploads at once. */
#include "cvl-cuda/queue.hpp"

#include <string.h>

#include <algorithm>

#include "cvl-cuda/clock.hpp"
#include "cvl-cuda/copies.hpp"
#include "cvl-cuda/launch.hpp"

namespace ravel {

/* Launches held back at most, and when the device is idle: enough to put uploads and mirrors
 * together, few enough to keep the device busy while the host goes on. */
enum { WINDOW = 64, WINDOW_IDLE = 16, SMALL_COPY = 32 << 10 };

/* ---- many small copies ---- */

namespace {

/* One block for each copy. */
struct copies_body {
  enum { threads = 128, most = 64 };
  struct shared {};
  byte_copy items[most];

  template <class B> HD void operator()(B &block) const {
    const byte_copy &x = items[block.index()];
    block.each([&](int t) { x.run(t, threads); });
  }
};

} // namespace

/* The uploads of the window. */
void queue::issue_uploads() {
  if (uploads_.size() == 1) {
    device->copy_up(uploads_[0].to->at, uploads_[0].from->at, uploads_[0].bytes);
  }
  for (size_t first_item = 0; uploads_.size() > 1 && first_item < uploads_.size();
       first_item += copies_body::most) {
    copies_body body{};
    int64_t n = 0;
    for (size_t k = first_item; k < uploads_.size() && n < copies_body::most; k++) {
      const copy &c = uploads_[k];
      body.items[n++] = copy_of_bytes(c.to->at, c.from->at, c.bytes);
    }
    issue_launch(launch_blocks("upload", n, body));
  }
  for (const copy &c : uploads_) {
    bytes_up += c.bytes;
    in_flight_.emplace_back(epoch, c.from);
  }
  uploads_.clear();
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

/* Of a buffer of which all copies are done. */
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

/* Pinned memory for a copy that is put into this window. */
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
  c.number = ++number;
  return c;
}

void queue::maybe_flush() {
  if (held_ >= WINDOW || (held_ >= WINDOW_IDLE && reached(epoch - 1))) flush();
}

uint64_t queue::run(const launch &l) {
  if (l.count == 0) return number;
  runs++;
  command &c = push(command::LAUNCH);
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
    if (c->kind == command::LAUNCH && c->l.on_host == l.on_host && c->l.name == l.name &&
        join(c->body.get(), &c->l, l.body)) {
      runs++;
      return c->number;
    }
  }
  return run(l);
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

void queue::copy_up(void *to, const void *from, size_t bytes, block *of) {
  command &c = push(command::COPY_UP);
  c.to = to;
  c.from = from;
  c.bytes = bytes;
  bytes_up += bytes;
  of->written = c.number;
}

void queue::upload_small(heap &h, block *to, const void *from, size_t bytes, uint64_t site) {
  ref<block> source(h.take_for_copy(bytes, site));
  memcpy(source->at, from, bytes);
  if (to->free_since < first) { /* before the window: no command of it uses it */
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

/* As early as a command may use it: one that is joined with a launch of the window runs with
 * that, before what was issued since. */
void queue::taken(void *p, size_t bytes, uint64_t since) {
  if (since < first) { /* no command of the window uses it */
    device->taken(p, bytes);
  } else {
    window_[since - first].taken_bytes = bytes; /* the command that returned it */
  }
}

void queue::returned(void *p, size_t bytes) {
  command &c = push(command::RETURNED);
  c.to = p;
  c.bytes = bytes;
}

/* Puts into the stream what is a launch for a device. */
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
  case command::RETURNED:
    device->returned(c.to, c.bytes);
    if (c.taken_bytes > 0) device->taken(c.to, c.taken_bytes);
    break;
  }
}

void queue::flush() {
  if (window_.empty() && uploads_.empty() && mirrors_.empty()) return;
  issue_uploads();
  for (const command &c : window_) issue(c);
  issue_mirrors();
  window_.clear();
  held_ = 0;
  issue_timed([&] { device->mark(epoch++); }); /* a launch on a device */
  first = number + 1;
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
