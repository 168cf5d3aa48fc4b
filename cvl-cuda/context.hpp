/* context.hpp - the state of the back end, and of one operation in it.
 *
 * An operation is written once:
 *
 *     void reduce(context &c, uint64_t site, cvl_op op, const cvl_value &v, const cvl_value &d,
 *                 cvl_value *out) {
 *       work w(c, site, {&v, &d}, 0);             // decides: host or device
 *       const segments s = w.view(d);
 *       const operand<T> x = w.read<T>(v);        // wherever v is, or however it is computed
 *       cvl_vector *r = w.make(elem, s.count);
 *       w.run(launch_n("reduce", s.count, body{s, x, w.data<T>(r)}));
 *       w.give(out, r);
 *     }
 *
 * A small operation runs on the host at once if the host can read its operands. Any other runs
 * later on the device. Both run the same code and get the same bits. Faults that are known at
 * once are thrown (struct failure) or reported by bodies that run on the host. Faults on the
 * device are found in its error slot at the next wait.
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
/* Memory in which the blocks of a launch publish values (fused-kernels/published.hpp). It is
 * kept from one launch to the next. */
struct published_memory {
  ref<block> at; /* a counter, followed by the cells */
  int64_t cells = 0;
  uint32_t mark = 0; /* mark of the last launch */
};
/* That memory as one launch gets it: no cell has the launch's mark yet. */
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
  ::tuning tuning;       /* tuning values */
  int64_t host_elements; /* operations on up to this many elements may run on the host */
  int64_t small;         /* the current limit: higher while the device is not open */
  bool is_open = false;  /* the device is open, or it could not be opened */
  bool ids = true;       /* whether expanded ids are made (RAVEL_CUDA_IDS) */
  ravel::fault_slot host_faults{};        /* faults of bodies that ran on the host */
  ravel::ref<ravel::block> device_faults; /* one fault_slot on the device */
  ravel::ref<ravel::block> seen_faults;   /* pinned: a copy of the slot as of the last wait */
  bool has_fault = false;                 /* whether a fault is known */
  cvl_error fault{};
  uint64_t runs_seen = 0;    /* work_queue.runs when the slot was last read */
  uint64_t faults_taken = 0; /* how often `check` took a fault */
  uint64_t last_symbol = 0;
  ravel::published_memory published;
  ravel::ref<ravel::block> loop_mark; /* of the device: the last launch of a loop in which
                                         positions did not finish; 0 at first */
  int64_t loop_launches = 0;
  std::vector<ravel::ref<ravel::deferred>> outstanding; /* not yet known: one wait for all */
  std::map<uint64_t, int64_t>
      settled; /* values of settled numbers by symbol, for sizes that the caller holds */

  std::map<uint64_t, ravel::ref<ravel::deferred>>
      samples; /* samples of PERMUTE by site (permute.cu) */

  const ravel::kernel_variants *variants = nullptr; /* variants.hpp */

  std::shared_ptr<ravel::kernel_store> kernels; /* fused.cpp; ends before the memory does */

  cvl_context(ravel::stream *, const cvl_options &);
};

namespace ravel {

using context = cvl_context;

/* Notes a fault. Of those known, the one with the lowest site and position stays. */
void note_fault(context &, const cvl_error &);
[[noreturn]] void fail(cvl_error_kind, uint64_t site, int64_t position = 0, int64_t value = 0,
                       int64_t limit = 0, int64_t segment = 0);
/* Returns the position in a fault slot of a fault by a size rule: before all other faults of
 * its site. */
inline int64_t size_rule_position(int64_t rule) {
  return INT64_MIN + rule;
}
/* Returns whether a deferred number has arrived. Never waits. */
bool is_known(context &, deferred &);
/* Waits until a deferred number is known, and all others with it. Returns it. */
int64_t settle(context &, deferred &);
/* Returns whether an operation may use a deferred number without waiting: the number stays in
 * the device's memory, and memory and threads are taken for its bound. That takes a useful
 * bound: the number must count packed elements (counts_elements). Null is no number: false. */
bool stays_deferred(context &, const ref<deferred> &);
/* Treats a deferred number as the value that is required of it, until it arrives. */
void is_required(context &, const ref<deferred> &, const requirement &);
/* Gives a descriptor, which has its offsets on the device, this number as its total. */
void has_total(cvl_segdes &, const ref<deferred> &);
/* Opens the device of a new context. With `late` it is opened when there is enough work for it;
 * until then the host does more. Returns the reason if it cannot be opened, else null. */
const char *open_device(context &, bool late);
/* Returns whether the host does an operation on so many elements. If not, the device is open,
 * or is opened now. If it cannot be opened, the host does everything. */
bool is_for_host(context &, int64_t elements);
/* Opens the device for values that must be there. Throws a fault if it cannot be opened. */
void need_device(context &, uint64_t site);
/* Sets the number of elements up to which the host works (tests). */
void set_host_elements(context &, int64_t);

/* Waits for all work, and notes the fault in the device's error slot. */
void finish(context &);
/* Return the exact length, or total; they wait if it is deferred. */
int64_t settled_length(context &, const cvl_vector &);
int64_t settled_total(context &, const cvl_segdes &);

/* Makes the length or total of a value exact, after a wait if it is deferred. Memory that was
 * taken for the bound, and that the elements do not need, is given back (trim in pack.cu). */
void exact(context &, cvl_vector &);
void exact(context &, cvl_segdes &);

/* expect_sum notes a number as the sum of a vector of lengths. sum_later returns the sum of a
 * vector, or null if it has none or a fault was reported since. */
void expect_sum(const context &, cvl_vector &lengths, const ref<deferred> &);
ref<deferred> sum_later(const context &, const cvl_vector &);
/* Returns a deferred number as a vector of one INT, which shares the number's memory. This
 * takes no launch and no wait. */
ref<cvl_vector> int_of_deferred(const context &, const ref<deferred> &);
/* Returns a deferred number as the length of a segment, for the operation at `site`. Where it
 * may not fit an INT, the result is another number with the value of the INT, which is a fault
 * if it is negative. */
ref<deferred> length_of_deferred(context &, uint64_t site, const ref<deferred> &);

/* Returns the number of elements (of a descriptor: segments) as far as it is known without
 * waiting. */
int64_t length_bound(const cvl_value &);
/* Return the number of segments and the total of a descriptor in either form. The total is
 * waited for. */
int64_t count_of(const cvl_value &d);
int64_t total_of(context &, const cvl_value &d);

/* Returns whether the host can read the elements of a value now, without waiting. */
bool at_hand(context &, const cvl_value &);

/* Returns the longest segment of a descriptor with offsets that the host can read. */
int64_t longest_on_host(const cvl_segdes &);

/* Returns g(T{}) for the C type T of elements of type e. There are variants for INT only and
 * for FLOAT only. */
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

/* How an operation treats deferred lengths of its operands. EXACT waits for all. BOUNDED takes
 * the bounds of those that may stay deferred (stays_deferred), on the device. */
enum class operand_lengths { EXACT, BOUNDED };

/* Returns whether flags can be read as words of eight. Blocks of memory are aligned for that,
 * but slices begin anywhere. */
inline bool begins_word(ptr<const uint8_t> flags) {
  return (uintptr_t)address(flags) % sizeof(uint64_t) == 0;
}

/* One operation. Its scratch memory lives until it ends. */
struct work {
  context &c;
  const uint64_t site;
  bool on_host;
  const operand_lengths mode;
  ref<deferred> domain; /* BOUNDED: the number of elements of make_each; null if it is known */
  ref<block> domain_at; /* memory of `domain`; null if the number had already arrived */

  /* Decides between host and device by the operands and by the number of elements of the
   * result. Waits for deferred lengths of operands here. Values of form CVL_NOTHING are
   * ignored. */
  work(context &, uint64_t site, std::initializer_list<const cvl_value *> operands,
       int64_t elements, operand_lengths = operand_lengths::EXACT);
  ~work();
  work(const work &) = delete;
  work &operator=(const work &) = delete;

  /* -- operands, where the operation runs -- */

  /* Gives a vector in any form. */
  template <class T> operand<T> read(const cvl_value &v) {
    operand<T> x{};
    fill_operand(v, sizeof(T), x.kind, &x.first, &x.step, x.under, raw_data_, raw_steps_);
    x.data = pointer_to<const T>(raw_data_);
    x.steps = pointer_to<const T>(raw_steps_);
    return x;
  }
  /* Gives the elements of a vector in memory, for random access. */
  template <class T> ptr<const T> elements(const cvl_value &v) {
    return pointer_to<const T>(materialised(v, sizeof(T)));
  }
  /* Gives a block of the device that this operation reads. */
  template <class T> ptr<const T> elements_of(const ref<block> &b) {
    return pointer_to<const T>(reads(b));
  }
  /* Gives a block of the device that this operation reads and changes. */
  template <class T> ptr<T> changed(const ref<block> &b) {
    made_.push_back(b);
    return pointer_to<T>(reads(b));
  }
  /* Gives a descriptor. `ranked` adds a rank directory, unless segments::of is cheap anyway
   * (ranks_pay). */
  segments view(const cvl_value &d, bool ranked = false);
  segments view(cvl_segdes *d, bool ranked = false);
  /* Gives the expanded ids of a descriptor seen as `s`, which are the number of each element's
   * segment. They serve operations that look it up several times. Null if there is no rank
   * directory, if memory is short or if the numbers do not fit; the operation then uses `s`. */
  ptr<const uint32_t> segment_ids(const cvl_value &d, const segments &s);
  /* Gives the offsets of a descriptor that has some. Its total may be deferred. */
  ptr<const int64_t> offsets_here(cvl_segdes &d);

  /* -- results and scratch -- */

  /* Makes a vector of n elements that this operation will write. */
  ref<cvl_vector> make(cvl_elem, int64_t n);
  /* over sets the domain. make_each makes a vector with an element for each member of the
   * domain; n is their number, or a bound after `over`. for_each limits a launch to the domain:
   * by `count_at` where the number is still deferred. */
  void over(const ref<deferred> &size);
  ref<cvl_vector> make_each(cvl_elem, int64_t n);
  launch for_each(launch);
  template <class T> ptr<T> data(const ref<cvl_vector> &v) {
    return pointer_to<T>((on_host ? v->host : v->device)->at);
  }
  /* Makes a vector in the memory of an operand, with its elements. Returns null if the memory
   * has any other reference. */
  ref<cvl_vector> take_over(const cvl_value &);
  /* Says that later launches only read a vector made here, so that they may be joined. */
  void is_written(const ref<cvl_vector> &);
  /* Makes a descriptor of `count` segments, whose offsets this operation will write. */
  ref<cvl_segdes> make_segdes(int64_t count, int64_t total);
  ptr<int64_t> offsets(const ref<cvl_segdes> &d) {
    return pointer_to<int64_t>((on_host ? d->host_offsets : d->device_offsets)->at);
  }
  template <class T> ptr<T> scratch(int64_t n) {
    return pointer_to<T>(scratch_bytes((size_t)n * sizeof(T)));
  }
  /* Sets all bytes of n elements, in order with the other commands. */
  template <class T> void fill(ptr<T> p, uint8_t byte, int64_t n) {
    fill_bytes(address(p), byte, (size_t)n * sizeof(T));
  }
  /* Sets all bytes of a vector that this operation has made and not used yet. If possible, one
   * launch before the window does this for all vectors of the window. */
  void set(const ref<cvl_vector> &, uint8_t byte);
  faults bad();
  /* Gives publishing memory of so many cells for one launch on the device. */
  publication publishes(int64_t cells);

  /* Makes a number, at most `bound`, that kernels of this operation write at the pointer it
   * gives; it is exact from then on. On the host it is known when `run` returns. */
  ref<deferred> later(int64_t bound, ptr<int64_t> *at);
  /* Makes a number of a block that exists, as it is behind the kernels of this operation. */
  ref<deferred> later_in(const ref<block> &, int64_t bound, ptr<int64_t> *at);
  /* Makes a number that begins as 0, and that kernels may increase. */
  ref<deferred> greatest_later(int64_t bound, ptr<int64_t> *at);

  void run(const launch &);
  /* Runs a launch, or joins it with one that is still in the window (queue.hpp). Joining takes
   * three conditions: all operands were complete before that launch; `join` can combine the
   * two; and that launch is behind command `after`, which wrote what this launch reads of its
   * own operation. Returns the number of the command; 0 on the host. */
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
