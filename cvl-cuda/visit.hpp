/* visit.hpp - the device that is current for a thread while the back end calls CUDA.
 *
 * Other libraries of the process (PyTorch, CuPy) change the current device as they please. So
 * each entry of the back end asks for it once, and gives it back at its end. An entry that
 * makes no call of a device, as most on few elements, asks for nothing. */
#ifndef RAVEL_CUDA_VISIT_HPP
#define RAVEL_CUDA_VISIT_HPP

namespace ravel {

/* The current device of the calling thread, as a library knows it. Both functions return false
 * if a call failed. */
struct current_device {
  virtual ~current_device() = default;
  virtual bool get_device(int *) = 0;
  virtual bool set_device(int) = 0;
};

struct visit {
  explicit visit(current_device &c) : of_(c) {}

  /* Makes `device` current before the calls of an entry. */
  bool enter(int device) {
    if (inside_) return true;
    if (!of_.get_device(&before_)) return false;
    const bool chosen = somebody_chose();
    inside_ = before_ == device || of_.set_device(device);
    gives_back_ = inside_ && before_ != device && chosen;
    return inside_;
  }
  /* Gives the caller's device back at the end of an entry. */
  void leave() {
    if (gives_back_) of_.set_device(before_);
    inside_ = gives_back_ = false;
  }

private:
  current_device &of_;
  bool inside_ = false, gives_back_ = false;
  int before_ = 0;

  /* Returns whether somebody has set the device that was current. Device 0 is also current if
   * nobody has: making it current again would open it, which takes time and hundreds of
   * megabytes. So the first time on a thread it is not given back. */
  bool somebody_chose() const {
    static thread_local bool visited = false;
    const bool chose = visited || before_ != 0;
    visited = true;
    return chose;
  }
};

} // namespace ravel
#endif
