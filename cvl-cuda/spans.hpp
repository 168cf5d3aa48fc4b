/* spans.hpp - how long a device works on its launches, by the device's own clock.
 *
 * An event is a time at which the device had done all before it. Two events around a launch on
 * an idle device have the host between them: the first passes at once, and the launch comes a
 * few microseconds later, when the host has issued it, which for a small kernel is most of what
 * is measured. So the device is held back from before the first launch of a window until all of
 * it is issued (`hold`); then it goes from one to the next without the host. A span is a run of
 * launches with nothing else between them: an event before the first, one after the last. It
 * contains what the device takes between two launches of its own, but no copies and no waiting.
 * It is read when both events have passed, and they are used again. Nothing here waits.
 *
 * Who loads a kernel waits for the device, with a lock that every launch needs: a device that
 * is held back until the host has launched something would then be waited for by all, until the
 * hold ends by itself. So a window with the first launch of a kernel is not held from there on,
 * nor is one while kernels are compiled or loaded (`may_hold`): in its spans the host's time is
 * contained. NVBench, NVIDIA's program for measuring kernels, holds its streams back in the
 * same way (blocking_kernel), and warms up without it for this reason.
 */
#ifndef RAVEL_CUDA_SPANS_HPP
#define RAVEL_CUDA_SPANS_HPP

#include <stdint.h>

namespace ravel {

/* Events of a stream. A failing call is reported to the owner of the stream, not here. */
struct event_clock {
  enum { MOST_HELD_NS = 300000 };
  typedef void *event;

  virtual ~event_clock() = default;
  /* A new event; null if there is none to be had. */
  virtual event make_event() = 0;
  virtual void end_event(event) = 0;
  /* Puts an event into the stream, again if it was there before; `of`: the launch it is for. */
  virtual bool record(event, const char *of) = 0;
  /* The time from one to the other; false if they have not both passed yet, or on failure. */
  virtual bool elapsed(event from, event to, uint64_t *ns) = 0;
  /* Whether nobody loads kernels, or is about to. */
  virtual bool may_hold() = 0;
  /* Keeps the device from what is put into the stream from now on, until `let_go`, or for
   * MOST_HELD_NS by its own clock: nothing may depend on it. */
  virtual void hold() = 0;
  virtual void let_go() = 0;
};

struct spans {
  /* So many are under way at most: less than what drivers queue, or hosts would be held up by
   * the driver before they are by this. */
  enum { MOST = 256 };

  uint64_t ns = 0; /* of all that was read so far */

  explicit spans(event_clock &c) : clock_(c) {}
  spans(const spans &) = delete;
  spans &operator=(const spans &) = delete;

  /* Before each launch; `is_first`: of its kernel, which may be loaded now. */
  void launches(const char *of, bool is_first = false) {
    last_ = of;
    if (is_first || !clock_.may_hold()) go_on();
    if (in_span_) return;
    if (!held_ && !goes_on_) clock_.hold();
    held_ = !goes_on_;
    in_span_ = true;
    if (used_ == MOST) collect();
    if (used_ == MOST) return; /* see `ends` */
    span &s = at(used_);
    if (!s.begin) s.begin = clock_.make_event();
    if (!s.end) s.end = clock_.make_event();
    begun_ = s.begin && s.end && clock_.record(s.begin, of);
  }
  /* Before anything else is put into the stream. With all events under way the device is far
   * behind the host, and goes from one launch to the next without a pause: the last span is
   * extended to here, over what is between them. */
  void ends() {
    if (begun_) {
      if (clock_.record(at(used_).end, last_)) used_++;
    } else if (in_span_ && used_ == MOST) {
      clock_.record(at(MOST - 1).end, last_);
    }
    begun_ = in_span_ = false;
  }
  /* Behind the last launch of a window. */
  void window_ends() {
    ends();
    go_on();
    goes_on_ = false;
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
  const char *last_ = "";         /* launch */
  bool held_ = false;             /* the device is */
  bool goes_on_ = false;          /* and is not to be until the window ends */
  bool in_span_ = false;          /* the last thing that was issued is a launch */
  bool begun_ = false;            /* and the begin of span `used_` is recorded */

  span &at(unsigned k) { return ring_[(first_ + k) % MOST]; }
  void go_on() {
    if (held_) clock_.let_go();
    held_ = false;
    goes_on_ = true;
  }
};

} // namespace ravel
#endif
