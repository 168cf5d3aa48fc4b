/* checked.hpp - the pointers of emulation builds. Kernels use them like plain ones, but every
 * access goes through the checker (checker.hpp), which knows the thread that makes it.
 *
 * This file is included before the prelude. A ptr<T> has the layout of a T *, since bodies are
 * handed to generated kernels, which have plain pointers unless their device checks. If it
 * does, this file is the beginning of their text, with RAVEL_WATCHED defined (watching.hpp). So
 * it includes nothing of this room. Where no device checks, an access costs one branch.
 */
#ifndef RAVEL_EMULATION_CHECKED_HPP
#define RAVEL_EMULATION_CHECKED_HPP

#include <stddef.h>
#include <stdint.h>

#include <string.h>

#include <type_traits>

#define RAVEL_HAS_PTR

namespace ravel {

/* Functions by which accesses are reported to the checker. */
namespace emulation {

/* The last threads that accessed a byte, as numbers of thread executions (checker.hpp). */
struct cell {
  uint32_t write = 0, read = 0, other = 0;
};
/* Whether a byte is allocated and initialised. */
enum state : uint8_t { UNALLOCATED, ALLOCATED, WRITTEN, RETURNED };
/* An element of the memory of a block. */
struct shared_cell {
  cell access;
  int32_t index = 0;
  state memory = ALLOCATED;
};

/* Whether any device of this process checks. */
extern bool checking;

/* Report an access by the thread that runs now. They return false if it must not be made.
 * `shared` is the element's cell if it is in a shared_array. */
bool reads(const void *, size_t width, size_t alignment, shared_cell *shared);
bool writes(const void *, size_t width, size_t alignment, shared_cell *shared);
bool changes(const void *, size_t width, size_t alignment); /* for atomic operations */
bool shared_index(int64_t i, int64_t n);
/* Returns the thread that runs now. Reports an error if it is not the one named. */
int64_t running_thread(int64_t named);
/* Reports that a register that decides for all threads of a block differs between thread 0 and
 * this one. */
void report_different(int64_t thread, int64_t of_first, int64_t of_this);

void report_thread(int64_t thread);
void report_block(int64_t block);
void report_phase_end();

/* These functions as a table, which a generated kernel gets when it is loaded. */
struct watcher {
  bool (*reads)(const void *, size_t width, size_t alignment, shared_cell *);
  bool (*writes)(const void *, size_t width, size_t alignment, shared_cell *);
  bool (*changes)(const void *, size_t width, size_t alignment);
  bool (*shared_index)(int64_t i, int64_t n);
  int64_t (*running_thread)(int64_t named);
  void (*report_different)(int64_t thread, int64_t of_first, int64_t of_this);
  void (*report_thread)(int64_t);
  void (*report_block)(int64_t);
  void (*report_phase_end)();
};

#ifdef RAVEL_WATCHED
bool checking = true;
static const watcher *watched_by;
bool reads(const void *p, size_t width, size_t alignment, shared_cell *shared) {
  return watched_by->reads(p, width, alignment, shared);
}
bool writes(const void *p, size_t width, size_t alignment, shared_cell *shared) {
  return watched_by->writes(p, width, alignment, shared);
}
bool changes(const void *p, size_t width, size_t alignment) {
  return watched_by->changes(p, width, alignment);
}
bool shared_index(int64_t i, int64_t n) {
  return watched_by->shared_index(i, n);
}
int64_t running_thread(int64_t named) {
  return watched_by->running_thread(named);
}
void report_different(int64_t thread, int64_t of_first, int64_t of_this) {
  watched_by->report_different(thread, of_first, of_this);
}
void report_thread(int64_t thread) {
  watched_by->report_thread(thread);
}
void report_block(int64_t block) {
  watched_by->report_block(block);
}
void report_phase_end() {
  watched_by->report_phase_end();
}
extern "C" void ravel_watched_by(const watcher *w) {
  watched_by = w;
}
#endif

template <class T> T load(const T *p, shared_cell *shared = nullptr) {
  if (checking && !reads(p, sizeof(T), alignof(T), shared)) return T();
  return *p;
}
template <class T> void store(T *p, const T &x, shared_cell *shared = nullptr) {
  if (checking && !writes(p, sizeof(T), alignof(T), shared)) return;
  *p = x;
}

/* The value of p[i] for memory that may be written: it can be assigned to, and converts to a T.
 * Once it has a name it can do neither: `auto x = p[i]` would read later than it seems to. */
template <class T> class element {
public:
  explicit element(T *at, shared_cell *shared = nullptr) : at_(at), shared_(shared) {}
  element(const element &) = delete;
  operator T() const && { return get(); }
  T operator=(const T &x) && { return set(x); }
  T operator=(element &&x) && { return set(x.get()); }
  T operator+=(T x) && { return set((T)(get() + x)); }
  T operator-=(T x) && { return set((T)(get() - x)); }
  T operator*=(T x) && { return set((T)(get() * x)); }
  T operator|=(T x) && { return set((T)(get() | x)); }
  T operator&=(T x) && { return set((T)(get() & x)); }
  T operator^=(T x) && { return set((T)(get() ^ x)); }
  T operator++() && { return set((T)(get() + 1)); }
  T operator--() && { return set((T)(get() - 1)); }

private:
  T *at_;
  shared_cell *shared_;
  T get() const { return load(at_, shared_); }
  T set(const T &x) const {
    store(at_, x, shared_);
    return x;
  }
};

/* The type of p[i]: the value itself if it cannot be written. */
template <class T> struct access {
  typedef element<T> type;
  static type to(T *p) { return type(p); }
};
template <class T> struct access<const T> {
  typedef T type;
  static type to(const T *p) { return load(p); }
};

} // namespace emulation

template <class T> class ptr {
public:
  ptr() = default;
  ptr(decltype(nullptr)) : at_(nullptr) {}
  explicit ptr(T *at) : at_(at) {}
  template <class U, class = std::enable_if_t<std::is_same<const U, T>::value>>
  ptr(ptr<U> p) : at_(p.address()) {}

  T *address() const { return at_; }
  template <class I> typename emulation::access<T>::type operator[](I i) const {
    return emulation::access<T>::to(at_ + i);
  }
  typename emulation::access<T>::type operator*() const {
    return emulation::access<T>::to(at_);
  }
  explicit operator bool() const { return at_ != nullptr; }

  template <class I> ptr operator+(I i) const { return ptr(at_ + i); }
  template <class I, class = std::enable_if_t<std::is_integral<I>::value>>
  ptr operator-(I i) const {
    return ptr(at_ - i);
  }
  ptrdiff_t operator-(ptr p) const { return at_ - p.at_; }
  template <class I> ptr &operator+=(I i) {
    at_ += i;
    return *this;
  }
  template <class I> ptr &operator-=(I i) {
    at_ -= i;
    return *this;
  }
  ptr &operator++() {
    ++at_;
    return *this;
  }
  friend bool operator==(ptr a, ptr b) { return a.at_ == b.at_; }
  friend bool operator!=(ptr a, ptr b) { return a.at_ != b.at_; }
  friend bool operator<(ptr a, ptr b) { return a.at_ < b.at_; }

private:
  T *at_;
};

template <class T> T *address(ptr<T> p) {
  return p.address();
}
template <class T> ptr<T> pointer_to(void *p) {
  return ptr<T>((T *)p);
}
template <class T, class U> ptr<T> retyped(ptr<U> p) {
  return ptr<T>((T *)p.address());
}

/* Returns where an atomic operation on *p is made: elsewhere if it must not be made there. */
template <class T> T *atomic_address(ptr<T> p) {
  static thread_local T nowhere;
  if (emulation::checking && !emulation::changes(p.address(), sizeof(T), alignof(T)))
    return &nowhere;
  return p.address();
}

/* Memory shared by the threads of a block: N elements, checked like elements of the device. */
template <class T, int N> class shared_array {
public:
  template <class I> emulation::element<T> operator[](I i) {
    const int64_t k = at(i);
    return emulation::element<T>(&elements_[k], &cells_[k]);
  }
  template <class I> T operator[](I i) const {
    const int64_t k = at(i);
    return emulation::load(&elements_[k], &cells_[k]);
  }

private:
  T elements_[N];
  mutable emulation::shared_cell cells_[N];

  template <class I> int64_t at(I i) const {
    if (!emulation::checking) return (int64_t)i;
    if (!emulation::shared_index((int64_t)i, N)) return 0;
    cells_[i].index = (int32_t)i;
    return (int64_t)i;
  }
};

/* Hooks for the execution of a kernel on the host: see the prelude. */
inline void thread_starts(int64_t thread) {
  if (emulation::checking) emulation::report_thread(thread);
}
inline void block_starts(int64_t block) {
  if (emulation::checking) emulation::report_block(block);
}
inline void phase_ends() {
  if (emulation::checking) emulation::report_phase_end();
}
inline int own_register(int t) {
  return emulation::checking ? (int)emulation::running_thread(t) : t;
}
/* Returns a value as a report shows it: the number, or the bits of a FLOAT, which may differ
 * where the numbers do not. */
template <class T> int64_t shown(T x) {
  if constexpr (std::is_integral<T>::value) return (int64_t)x;
  int64_t bits = 0;
  memcpy(&bits, &x, sizeof x);
  return bits;
}
template <class T> void expect_uniform(const T *of, int threads) {
  for (int t = 1; emulation::checking && t < threads; t++) {
    if (shown(of[t]) == shown(of[0])) continue;
    return emulation::report_different(t, shown(of[0]), shown(of[t]));
  }
}

} // namespace ravel
#endif
