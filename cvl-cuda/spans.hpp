/* spans.hpp - how long a device works on its launches, by the device's own clock.
 *
 * An event goes into the stream before a launch and one after it; the time between the two is
 * read when both have passed, and the events are used again. Nothing here waits.
 */
#ifndef RAVEL_CUDA_SPANS_HPP
#define RAVEL_CUDA_SPANS_HPP

#include <stdint.h>

namespace ravel {

/* Events of a stream. A failing call is reported to the owner of the stream, not here. */
struct event_clock {
  typedef void *event;

  virtual ~event_clock() = default;
  /* A new event; null if there is none to be had. */
  virtual event make_event() = 0;
  virtual void end_event(event) = 0;
  /* Puts an event into the stream, again if it was there before; `of`: the launch it is for. */
  virtual bool record(event, const char *of) = 0;
  /* The time from one to the other; false if they have not both passed yet, or on failure. */
  virtual bool elapsed(event from, event to, uint64_t *ns) = 0;
};

struct spans {
  /* So many are under way at most: less than what drivers queue, or hosts would be held up by
   * the driver before they are by this. */
  enum { MOST = 256 };

  uint64_t ns = 0; /* of all that was read so far */

  explicit spans(event_clock &c) : clock_(c) {}
  spans(const spans &) = delete;
  spans &operator=(const spans &) = delete;

  /* Around each launch. */
  void before(const char *of) {
    if (used_ == MOST) collect();
    if (used_ == MOST) return; /* see `after` */
    span &s = at(used_);
    if (!s.begin) s.begin = clock_.make_event();
    if (!s.end) s.end = clock_.make_event();
    begun_ = s.begin && s.end && clock_.record(s.begin, of);
  }
  /* With all events under way the device is far behind the host, and goes from one launch to
   * the next without a pause: the last span is extended over this launch, too. */
  void after(const char *of) {
    if (begun_) {
      if (clock_.record(at(used_).end, of)) used_++;
    } else if (used_ == MOST) {
      clock_.record(at(MOST - 1).end, of);
    }
    begun_ = false;
  }
  /* Reads what has passed: all before the last thing that was waited for. */
  void collect() {
    uint64_t took;
    while (used_ > 0 && clock_.elapsed(at(0).begin, at(0).end, &took)) {
      ns += took;
      first_ = (first_ + 1) % MOST;
      used_--;
    }
  }
  /* Gives all events back. */
  void end() {
    for (span &s : ring_) {
      if (s.begin) clock_.end_event(s.begin);
      if (s.end) clock_.end_event(s.end);
      s = span();
    }
    first_ = used_ = 0;
  }

private:
  struct span {
    event_clock::event begin = nullptr, end = nullptr;
  };

  event_clock &clock_;
  span ring_[MOST];
  unsigned first_ = 0, used_ = 0; /* those under way, in the order of the stream */
  bool begun_ = false;            /* the launch of span `used_` is being issued */

  span &at(unsigned k) { return ring_[(first_ + k) % MOST]; }
};

} // namespace ravel
#endif
