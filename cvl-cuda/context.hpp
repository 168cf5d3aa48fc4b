/* context.hpp - the state of the back end, and of one operation in it.
 *
 * An operation is written once:
 *
 *     void reduce(context &c, uint64_t site, cvl_op op, const cvl_value &v, const cvl_value &d,
 *                 cvl_value *out) {
 *       work w(c, site, {&v, &d}, 0);             // where: on the host or on the device
 *       const segments s = w.view(d);
 *       const operand<T> x = w.read<T>(v);        // wherever v is, or however it is computed
 *       cvl_vector *r = w.make(elem, s.count);
 *       w.run(launch_n("reduce", s.count, body{s, x, w.data<T>(r)}));
 *       w.give(out, r);
 *     }
 *
 * A small operation whose operands the host can read runs on the host at once, any other later
 * on the device; the code is the same, and so are the bits. Faults that are known at once are
 * thrown (struct failure) or reported by bodies that run on the host; those of the device are
 * found in its error slot at the next wait.
 */
#ifndef RAVEL_CUDA_CONTEXT_HPP
#define RAVEL_CUDA_CONTEXT_HPP

#include <initializer_list>
#include <map>

#include "cvl-cuda/launch.hpp"
#include "cvl-cuda/queue.hpp"
#include "cvl-cuda/values.hpp"
#include "cvl/tuning.h"

namespace ravel {
struct kernel_store;
struct kernel_variants;
} // namespace ravel

namespace ravel {
/* What blocks of launches publish (fused-kernels/published.hpp): kept from one launch to the
 * next. */
struct published_memory {
  ref<block> at; /* a counter, and behind it the cells */
  int64_t cells = 0;
  uint32_t mark = 0; /* of the last launch */
};
/* The same for one launch: no cell has its mark. */
struct publication {
  ptr<uint64_t> next;
  char *cells;
  uint32_t mark;
};
} // namespace ravel

/* The contract's opaque context. */
struct cvl_context {
  ravel::stream *device;
  ravel::heap memory;
  ravel::queue work_queue;
  cvl_elem int_elem, float_elem;
  cvl_stop stop{};
  cvl_speaker say;
  ::tuning tuning;       /* all values */
  int64_t host_elements; /* operations on up to so many elements may run on the host */
  int64_t small;         /* the same now: more while the device is not open */
  bool is_open = false;  /* the device is, or nobody tries any more */
  bool ids = true;       /* expanded ids are made (RAVEL_CUDA_IDS) */
  ravel::fault_slot host_faults{};        /* of bodies that ran on the host */
  ravel::ref<ravel::block> device_faults; /* one fault_slot on the device */
  ravel::ref<ravel::block> seen_faults;   /* pinned: its copy as of the last wait */
  bool has_fault = false;                 /* the first fault known of */
  cvl_error fault{};
  uint64_t runs_seen = 0;    /* work_queue.runs when the slot was looked at last */
  uint64_t faults_taken = 0; /* by `check`: vectors checked before these may be at fault */
  uint64_t last_symbol = 0;
  ravel::published_memory published;
  std::vector<ravel::ref<ravel::deferred>> outstanding; /* not yet known: one wait for all */
  std::map<uint64_t, int64_t>
      settled; /* what they were, by symbol: for sizes held by the caller */

  std::map<uint64_t, ravel::ref<ravel::deferred>>
      samples; /* of PERMUTE, by site (permute.cu) */

  const ravel::kernel_variants *variants = nullptr; /* variants.hpp */

  std::shared_ptr<ravel::kernel_store> kernels; /* fused.cpp; ends before the memory does */

  cvl_context(ravel::stream *, const cvl_options &);
};

namespace ravel {

using context = cvl_context;

/* Notes a fault: of those known the one with the lowest site and position stays. */
void note_fault(context &, const cvl_error &);
[[noreturn]] void fail(cvl_error_kind, uint64_t site, int64_t position = 0, int64_t value = 0,
                       int64_t limit = 0, int64_t segment = 0);
/* The position of a fault of a size rule in a slot: before all others of its site. */
inline int64_t size_rule_position(int64_t rule) {
  return INT64_MIN + rule;
}
/* Whether a deferred number has arrived; never waits. */
bool is_known(context &, deferred &);
/* Waits until a deferred number is known, and all others with it. */
int64_t settle(context &, deferred &);
/* Whether operations go on with a deferred number as it lies in the device's memory, and with
 * memory and threads for its bound, rather than wait for it; null: there is no number. Only
 * with a useful bound: it has to be a length that was known, of what was packed. */
bool stays_deferred(context &, const ref<deferred> &);
/* A deferred number is known as what is required of it, until it arrives. */
void is_required(context &, const ref<deferred> &, const requirement &);
/* A descriptor, with its offsets on the device, has this total. */
void has_total(cvl_segdes &, const ref<deferred> &);
/* Opens the device of a new context; or leaves that to work that is worth it, and until then
 * the host has more to do. A reason if it cannot be opened. */
const char *open_device(context &, bool late);
/* Whether the host does what has so many elements. Where it does not, the device is open, or
 * has been asked to be: a device that cannot be opened leaves everything to the host. */
bool is_for_host(context &, int64_t elements);
/* Opens the device for values that are to be there. A fault if it cannot be. */
void need_device(context &, uint64_t site);
/* Changes the number of elements for that (tests). */
void set_host_elements(context &, int64_t);

/* Waits for all work, and takes note of what the device's error slot holds. */
void finish(context &);
/* The exact length, or total: waits if it is deferred. */
int64_t settled_length(context &, const cvl_vector &);
int64_t settled_total(context &, const cvl_segdes &);

/* Waits if the length, or the total, is deferred, and makes the value say it. Memory that the
 * bound took and the elements do not need is given back (trim in pack.cu). */
void exact(context &, cvl_vector &);
void exact(context &, cvl_segdes &);

/* Lengths, and that number as their sum; and the sum of a vector if it has one and no fault was
 * reported since, or null. */
void expect_sum(const context &, cvl_vector &lengths, const ref<deferred> &);
ref<deferred> sum_later(const context &, const cvl_vector &);
/* A deferred number as a vector of one INT, which has its memory: no launch, no wait. */
ref<cvl_vector> int_of_deferred(const context &, const ref<deferred> &);
/* The same number as the length of a segment, which an operation at `site` was given. Where it
 * may not fit an INT the result is another number, the INT's, and a fault if it is negative. */
ref<deferred> length_of_deferred(context &, uint64_t site, const ref<deferred> &);

/* Number of elements (of a descriptor: segments) as far as it is known without waiting. */
int64_t length_bound(const cvl_value &);
/* Number of segments and total of a descriptor in either form; the total is settled. */
int64_t count_of(const cvl_value &d);
int64_t total_of(context &, const cvl_value &d);

/* Whether the host can read the value's elements now, without waiting. */
bool at_hand(context &, const cvl_value &);

/* The longest segment of a descriptor with offsets that the host can read. */
int64_t longest_on_host(const cvl_segdes &);

/* Gives t(T{}) for the C type T of elements of type e, and likewise for the INT or FLOAT only.
 */
template <class G> auto with_type(cvl_elem e, G g) {
  switch (e) {
  case CVL_I32: return g(int32_t{});
  case CVL_I64: return g(int64_t{});
  case CVL_F32: return g(float{});
  case CVL_F64: return g(double{});
  case CVL_BOOL: break;
  case CVL_ELEM_COUNT: break;
  }
  return g(uint8_t{});
}
inline int64_t most_of_int(const cvl_context &c) {
  return c.int_elem == CVL_I32 ? INT32_MAX : INT64_MAX;
}
template <class G> auto with_int(cvl_elem e, G g) {
  return e == CVL_I32 ? g(int32_t{}) : g(int64_t{});
}
template <class T> cvl_elem elem_of();
template <> inline cvl_elem elem_of<int32_t>() {
  return CVL_I32;
}
template <> inline cvl_elem elem_of<int64_t>() {
  return CVL_I64;
}
template <> inline cvl_elem elem_of<float>() {
  return CVL_F32;
}
template <> inline cvl_elem elem_of<double>() {
  return CVL_F64;
}
template <> inline cvl_elem elem_of<uint8_t>() {
  return CVL_BOOL;
}

/* What an operation does with the lengths of its operands that are deferred: it waits for all;
 * or takes those that may stay so (stays_deferred) by their bounds, on the device. */
enum class operand_lengths { EXACT, BOUNDED };

/* Whether flags can be read as words of eight: blocks of memory are aligned for these, and
 * slices begin anywhere. */
inline bool begins_word(ptr<const uint8_t> flags) {
  return (uintptr_t)address(flags) % sizeof(uint64_t) == 0;
}

/* One operation. Scratch memory lives until it ends. */
struct work {
  context &c;
  const uint64_t site;
  bool on_host;
  const operand_lengths mode;
  ref<deferred> domain; /* BOUNDED: the number of elements of make_each; null: it is known */
  ref<block> domain_at; /* its memory, null if it had arrived before */

  /* Decides between host and device by the operands, whose deferred lengths are settled here,
   * and by the number of elements of the result. Values of form CVL_NOTHING are ignored. */
  work(context &, uint64_t site, std::initializer_list<const cvl_value *> operands,
       int64_t elements, operand_lengths = operand_lengths::EXACT);
  ~work();
  work(const work &) = delete;
  work &operator=(const work &) = delete;

  /* -- operands, where the operation runs -- */

  /* A vector in any form. */
  template <class T> operand<T> read(const cvl_value &v) {
    operand<T> x{};
    fill_operand(v, sizeof(T), x.kind, &x.first, &x.step, x.under, raw_data_, raw_steps_);
    x.data = pointer_to<const T>(raw_data_);
    x.steps = pointer_to<const T>(raw_steps_);
    return x;
  }
  /* A vector whose elements are needed in memory, for random access. */
  template <class T> ptr<const T> elements(const cvl_value &v) {
    return pointer_to<const T>(materialised(v, sizeof(T)));
  }
  /* A block of the device that this operation reads. */
  template <class T> ptr<const T> elements_of(const ref<block> &b) {
    return pointer_to<const T>(reads(b));
  }
  /* The same of one that it changes. */
  template <class T> ptr<T> changed(const ref<block> &b) {
    made_.push_back(b);
    return pointer_to<T>(reads(b));
  }
  /* A descriptor; `ranked`: with a rank directory unless `of` is cheap anyway (ranks_pay). */
  segments view(const cvl_value &d, bool ranked = false);
  segments view(cvl_segdes *d, bool ranked = false);
  /* The expanded ids of a descriptor, seen as `s`: the number of each element's segment, for
   * operations that look it up several times. Null, and `s` has to do, where there is no rank
   * directory either, where memory is short, and where the numbers do not fit. */
  ptr<const uint32_t> segment_ids(const cvl_value &d, const segments &s);
  /* The offsets of a descriptor that has some; its total may be deferred. */
  ptr<const int64_t> offsets_here(cvl_segdes &d);

  /* -- results and scratch -- */

  /* A vector of n elements to be written by this operation. */
  ref<cvl_vector> make(cvl_elem, int64_t n);
  /* An element for each of the domain, of which there are n, or n at most if `over` says so;
   * and the launch of a thread for each: `count_at` of others. */
  void over(const ref<deferred> &size);
  ref<cvl_vector> make_each(cvl_elem, int64_t n);
  launch for_each(launch);
  template <class T> ptr<T> data(const ref<cvl_vector> &v) {
    return pointer_to<T>((on_host ? v->host : v->device)->at);
  }
  /* A vector in the memory of an operand, with its elements, if there is no other reference to
   * that; else null. */
  ref<cvl_vector> take_over(const cvl_value &);
  /* A vector made here is only read by the launches from now on, which may so be joined. */
  void is_written(const ref<cvl_vector> &);
  /* A descriptor of `count` segments with offsets to be written by this operation. */
  ref<cvl_segdes> make_segdes(int64_t count, int64_t total);
  ptr<int64_t> offsets(const ref<cvl_segdes> &d) {
    return pointer_to<int64_t>((on_host ? d->host_offsets : d->device_offsets)->at);
  }
  template <class T> ptr<T> scratch(int64_t n) {
    return pointer_to<T>(scratch_bytes((size_t)n * sizeof(T)));
  }
  /* All bytes of n elements set, in order with everything else. */
  template <class T> void fill(ptr<T> p, uint8_t byte, int64_t n) {
    fill_bytes(address(p), byte, (size_t)n * sizeof(T));
  }
  /* The same of a vector that this operation has made and not used yet: where that can be, all
   * of a window in one launch before it. */
  void set(const ref<cvl_vector> &, uint8_t byte);
  faults bad();
  /* For one launch on the device whose blocks publish in so many cells. */
  publication publishes(int64_t cells);

  /* A number that this operation's kernels write at the pointer it gives, exact from then on;
   * `bound`: an upper bound. On the host it is known when `run` returns. */
  ref<deferred> later(int64_t bound, ptr<int64_t> *at);
  /* The same of a number that is 0 before: kernels may make it greater. */
  ref<deferred> greatest_later(int64_t bound, ptr<int64_t> *at);

  void run(const launch &);
  /* The same, or joined with a launch that is still in the window (queue.hpp), if all operands
   * were complete before it and `join` can combine the two; and if it is behind command
   * `after`, which wrote what the launch reads of this operation's own. The number of the
   * command. */
  uint64_t run_joined(const launch &, join_function join, uint64_t after = 0);

  void give(cvl_value *out, const ref<cvl_vector> &);
  void give(cvl_value *out, const ref<cvl_segdes> &);

private:
  void *raw_data_ = nullptr, *raw_steps_ = nullptr;
  std::vector<ref<block>> made_; /* results and scratch: until the operation ends */
  uint64_t read_after_ = 0;      /* number of the last command that wrote an operand */
  std::vector<ref<deferred>> later_;

  void fill_operand(const cvl_value &, size_t width, int32_t &kind, void *first, void *step,
                    segments &under, void *&data, void *&steps);
  void *materialised(const cvl_value &, size_t width);
  void *elements_here(cvl_vector &);
  void *scratch_bytes(size_t);
  void fill_bytes(void *, uint8_t, size_t);
  void set_block(const ref<block> &, uint8_t, size_t);
  void note_written(uint64_t number);
  void *reads(const ref<block> &);
};

} // namespace ravel
#endif
