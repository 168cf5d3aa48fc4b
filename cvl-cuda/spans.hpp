/* spans.hpp - how long a device works on its launches, by the device's own clock.
 *
 * An event is a time at which the device had done everything before it. Two events around a
 * launch on an idle device also measure the host. The first one passes at once, and the launch
 * comes a few microseconds later, when the host has issued it; for a small kernel that is most
 * of the time measured. So the device is held back from before the first launch of a window
 * until all of it is issued (`hold`). Then it goes from one launch to the next without the
 * host. A span is a run of launches with nothing else between them, with an event before the
 * first and one after the last. It contains the time that the device takes between two
 * launches, but no copies and no waiting. It is read when both events have passed, and the
 * events are used again. Nothing here waits.
 *
 * A thread that loads a kernel waits for the device, with a lock that every launch needs. If
 * the device is held back until the host has launched something, all would wait until the hold
 * ends by itself. So a window with the first launch of a kernel is not held from there on. Nor
 * is one while kernels are compiled or loaded (`may_hold`); its spans contain the host's time.
 * NVBench, NVIDIA's program for measuring kernels, holds its streams back in the same way
 * (blocking_kernel), and warms up without it for this reason.
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
  /* Returns a new event; null if there is none to be had. */
  virtual event make_event() = 0;
  virtual void end_event(event) = 0;
  /* Puts an event into the stream, again if it was there before. `of` names its launch. */
  virtual bool record(event, const char *of) = 0;
  /* Measures the time from one to the other. Returns false if they have not both passed yet, or
   * on failure. */
  virtual bool elapsed(event from, event to, uint64_t *ns) = 0;
  /* Returns whether nobody loads kernels, or is about to. */
  virtual bool may_hold() = 0;
  /* Keeps the device from executing later commands until `let_go`, or for MOST_HELD_NS by its
   * own clock, so that nothing depends on it. */
  virtual void hold() = 0;
  virtual void let_go() = 0;
};

struct spans {
  /* The most spans under way: fewer than drivers queue, or the driver would hold up the host
   * before this does. */
  enum { MOST = 256 };

  uint64_t ns = 0; /* sum of all that was read so far */

  explicit spans(event_clock &c) : clock_(c) {}
  spans(const spans &) = delete;
  spans &operator=(const spans &) = delete;

  /* Called before each launch. `is_first`: the first one of its kernel, which may be loaded
   * now. */
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
  /* Called before anything else is put into the stream. If all events are under way, the device
   * is far behind the host, and goes from one launch to the next without a pause. The last span
   * is then extended to here, over what is between them. */
  void ends() {
    if (begun_) {
      if (clock_.record(at(used_).end, last_)) used_++;
    } else if (in_span_ && used_ == MOST) {
      clock_.record(at(MOST - 1).end, last_);
    }
    begun_ = in_span_ = false;
  }
  /* Called after the last launch of a window. */
  void window_ends() {
    ends();
    go_on();
    goes_on_ = false;
  }
  /* Reads the spans that have passed: all before the last thing that was waited for. */
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
  const char *last_ = "";         /* name of the last launch */
  bool held_ = false;             /* the device is held */
  bool goes_on_ = false;          /* it will not be held until the window ends */
  bool in_span_ = false;          /* the last thing that was issued is a launch */
  bool begun_ = false;            /* the beginning of span `used_` is recorded */

  span &at(unsigned k) { return ring_[(first_ + k) % MOST]; }
  void go_on() {
    if (held_) clock_.let_go();
    held_ = false;
    goes_on_ = true;
  }
};

} // namespace ravel
#endif
