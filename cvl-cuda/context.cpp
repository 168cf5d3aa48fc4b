/* context.cpp - values, faults, and where the operands of an operation are: see context.hpp. */
#include "cvl-cuda/context.hpp"

#include <limits.h>
#include <string.h>

#include <algorithm>
#include <string>

#include "cvl-cuda/fused.hpp"
#include "cvl-cuda/ops.hpp"
#include "fused-kernels/published.hpp"

/* Sizes are asked for soon after they were handed out. This many are remembered. */
enum { MOST_SETTLED = 1 << 16 };

cvl_context::cvl_context(ravel::stream *s, const cvl_options &o)
    : device(s), memory(s), work_queue(s), int_elem(o.int_elem), float_elem(o.float_elem),
      say(o.say), tuning(tuning_complete(o.tuning)),
      /* The default was the best for all programs in the model of traffic between host and
       * device. */
      host_elements((int64_t)tuning.value[TUNE_CUDA_HOST_ELEMENTS]), small(host_elements) {
  using namespace ravel;
  work_queue.most_held = tuning.value[TUNE_CUDA_WINDOW];
  work_queue.company = tuning.value[TUNE_CUDA_WINDOW_IDLE];
  device->set_grid_blocks(tuning.value[TUNE_CUDA_GRID_BLOCKS]);
  device->set_dependent_launches(tuning.value[TUNE_CUDA_DEPENDENT_LAUNCH] != 0);
  memory.order = &work_queue;
  memory.limit = o.memory_limit;
}

namespace ravel {

/* ---- opening the device ---- */

/* Allocates what the context itself needs. This is not counted, nor is the wait, which cannot
 * be stopped. */
static void begin_device(context &c) {
  queue &q = c.work_queue;
  const uint64_t launches = q.launches, waits = q.waits, launch_ns = q.launch_ns,
                 wait_ns = q.wait_ns;
  c.seen_faults = ref<block>(c.memory.take_own(memory_space::host, sizeof(fault_slot), 0));
  memset(c.seen_faults->at, 0, sizeof(fault_slot));
  c.device_faults = ref<block>(c.memory.take_own(memory_space::device, sizeof(fault_slot), 0));
  q.fill(c.device_faults->at, 0, sizeof(fault_slot));
  c.loop_mark = ref<block>(c.memory.take_own(memory_space::device, sizeof(int64_t), 0));
  q.fill(c.loop_mark->at, 0, sizeof(int64_t));
  q.finish();
  c.memory.begin();
  q.launches = launches;
  q.waits = waits;
  q.launch_ns = launch_ns;
  q.wait_ns = wait_ns;
}

static const char *open_now(context &c) {
  const char *why = c.device->open();
  if (why) return why;
  try {
    begin_device(c);
  } catch (const failure &) {
    return c.device->failure() ? c.device->failure() : "the device has no memory left";
  }
  return c.device->failure();
}

const char *open_device(context &c, bool late) {
  if (late && c.device->may_open_late()) {
    c.small = std::max(c.host_elements, (int64_t)c.tuning.value[TUNE_CUDA_OPEN_ELEMENTS]);
    return nullptr;
  }
  c.is_open = true;
  return open_now(c);
}

/* Opens the device now. If it cannot be opened, the host does the rest, on one thread. */
static void open_late(context &c) {
  c.is_open = true;
  const char *why = open_now(c);
  c.small = why ? INT64_MAX : c.host_elements;
  if (why == nullptr) {
    request_prepared(c);
    return;
  }
  c.device_faults = nullptr;
  const std::string line = std::string("the GPU is not used: ") + why +
                           "; one thread computes (--backend cpu uses all)";
  cvl_say(&c.say, line.c_str());
}

bool is_for_host(context &c, int64_t elements) {
  if (elements > c.small && !c.is_open) open_late(c);
  return elements <= c.small;
}

/* Notes that the host does work on so many elements: less is left until the device is
 * opened. */
static void spend(context &c, int64_t elements) {
  if (!c.is_open && elements > c.host_elements)
    c.small = std::max(c.host_elements, c.small - elements);
}

void need_device(context &c, uint64_t site) {
  if (!c.is_open) open_late(c);
  if (!c.device_faults)
    throw failure{{CVL_E_DEVICE, site, 0, 0, 0, 0, "the device could not be opened"}};
}

void set_host_elements(context &c, int64_t n) {
  c.host_elements = c.small = n;
}

/* ---- reference counts ---- */

void retain(deferred *p) {
  p->refs++;
}
void release(deferred *p) {
  if (--p->refs == 0) delete p;
}
void retain(cvl_vector *v) {
  v->refs++;
}
void release(cvl_vector *v) {
  if (--v->refs == 0) delete v;
}
void retain(cvl_segdes *d) {
  d->refs++;
}
void release(cvl_segdes *d) {
  if (--d->refs > 0) return;
  if (d->size) {
    std::vector<counted_segdes> &all = d->size->totals;
    all.erase(std::remove_if(all.begin(), all.end(),
                             [d](const counted_segdes &x) { return x.d == d; }),
              all.end());
  }
  if (d->lengths && d->lengths->made == d) d->lengths->made = nullptr;
  delete d;
}

/* ---- faults ---- */

void fail(cvl_error_kind kind, uint64_t site, int64_t position, int64_t value, int64_t limit,
          int64_t segment) {
  throw failure{{kind, site, position, value, limit, segment, nullptr}};
}

/* Orders faults by site. At one site faults of sizes come first, the others go by position. */
static bool comes_first(const cvl_error &a, const cvl_error &b) {
  if (a.site != b.site) return a.site < b.site;
  const bool size = a.kind == CVL_E_SIZE, other_size = b.kind == CVL_E_SIZE;
  return size != other_size ? size : a.position < b.position;
}

void note_fault(context &c, const cvl_error &e) {
  if (c.has_fault && !comes_first(e, c.fault)) return;
  c.fault = e;
  c.has_fault = true;
}

static void note_slot(context &c, const fault_slot &s) {
  if (s.kind == CVL_E_NONE) return;
  const int64_t position =
      s.kind == CVL_E_SIZE ? s.position - size_rule_position(0) : s.position;
  note_fault(c,
             {(cvl_error_kind)s.kind, s.site, position, s.value, s.limit, s.segment, nullptr});
}

static void context_look(context &);

void finish(context &c) {
  if (!c.device_faults) return;
  if (c.work_queue.runs != c.runs_seen) /* else nothing can have gone wrong */
    c.work_queue.download(c.seen_faults->at, c.device_faults->at, sizeof(fault_slot));
  c.runs_seen = c.work_queue.runs;
  c.work_queue.finish();
  if (c.device->failure()) fail(CVL_E_DEVICE, UINT64_MAX); /* backend.cpp adds the reason */
  fault_slot seen;
  c.device->host_reads(c.seen_faults->at, sizeof seen);
  memcpy(&seen, c.seen_faults->at, sizeof seen);
  note_slot(c, seen);
  context_look(c);
}

/* ---- deferred numbers ---- */

/* Reads a number that has arrived. */
static int64_t arrived(const context &c, const deferred &p) {
  int64_t value;
  c.device->host_reads(p.mirror->at, sizeof value);
  memcpy(&value, p.mirror->at, sizeof value);
  return value;
}

/* Reads an arrived number as an INT that is a length. Notes a fault and returns 0 if it is
 * negative. */
static int64_t arrived_length(context &c, const deferred &p) {
  const int64_t x = c.int_elem == CVL_I32 ? (int32_t)p.of->value : p.of->value;
  if (x >= 0) return x;
  note_fault(c, {CVL_E_NEGATIVE_LENGTH, p.site, 0, x, 0, 0, nullptr});
  return 0;
}

/* Makes the number known from now on. */
static void is_now(context &c, deferred &p, int64_t value) {
  p.value = value;
  p.known = true;
  c.settled[p.symbol] = value;
  if (c.settled.size() > MOST_SETTLED) c.settled.erase(c.settled.begin());
}

/* Handles a number that was not what was required of it, which is a fault. Values are again as
 * they were before the requirement. */
static void is_refused(deferred &p) {
  for (const counted_segdes &x : p.totals) {
    if (!x.offsets) continue;
    x.d->device_offsets = x.offsets;
    x.d->host_offsets = x.d->device_ranks = x.d->device_ids = x.d->device_numbers = nullptr;
    x.d->longest = -1;
    x.d->longest_later = nullptr;
  }
}

/* Notes the deferred numbers that have arrived. A number stands before those that are derived
 * from it (`of`). */
static void context_look(context &c) {
  size_t kept = 0;
  for (const ref<deferred> &q : c.outstanding) {
    if (!c.work_queue.reached(q->epoch)) {
      c.outstanding[kept++] = q;
      continue;
    }
    const int64_t value = q->of ? arrived_length(c, *q.get()) : arrived(c, *q.get());
    if (q->required && value != q->value) is_refused(*q.get());
    is_now(c, *q.get(), value);
    q->required = false;
    q->totals.clear();
    q->at = nullptr;
    q->mirror = nullptr;
  }
  c.outstanding.resize(kept);
}

/* If another number is this one as an INT, it meets the requirement, too. */
void is_required(context &c, const ref<deferred> &p, const requirement &must) {
  p->must = must;
  p->required = true;
  is_now(c, *p.get(), must.n);
  for (const ref<deferred> &q : c.outstanding) {
    if (q->of.get() == p.get() && !q->known && must.n <= q->bound) is_required(c, q, must);
  }
}

void has_total(cvl_segdes &d, const ref<deferred> &p) {
  d.size = p;
  if (!p->known || p->required) p->totals.push_back({&d, nullptr});
}

bool is_known(context &c, deferred &p) {
  if (!p.known) context_look(c);
  return p.known;
}

int64_t settle(context &c, deferred &p) {
  if (!is_known(c, p)) finish(c);
  return p.value;
}

void expect_sum(const context &c, cvl_vector &lengths, const ref<deferred> &p) {
  lengths.sum_is = p;
  lengths.sum_faults = c.faults_taken;
}

ref<deferred> sum_later(const context &c, const cvl_vector &v) {
  return v.sum_faults == c.faults_taken ? v.sum_is : ref<deferred>();
}

ref<cvl_vector> int_of_deferred(const context &c, const ref<deferred> &p) {
  ref<cvl_vector> v(new cvl_vector);
  v->elem = c.int_elem;
  v->length = 1;
  v->device = p->at; /* the lower half of a 64-bit number comes first in memory */
  v->host = p->mirror;
  v->arrives = p->epoch;
  expect_sum(c, *v.get(), p);
  return v;
}

ref<deferred> length_of_deferred(context &c, uint64_t site, const ref<deferred> &p) {
  if (p->bound <= most_of_int(c)) return p;
  ref<deferred> q(new deferred);
  q->symbol = ++c.last_symbol;
  q->bound = most_of_int(c);
  q->at = p->at;
  q->mirror = p->mirror;
  q->epoch = p->epoch;
  q->of = p;
  q->site = site;
  c.outstanding.push_back(q);
  return q;
}

int64_t settled_length(context &c, const cvl_vector &v) {
  return v.size ? settle(c, *v.size.get()) : v.length;
}

int64_t settled_total(context &c, const cvl_segdes &d) {
  return d.size ? settle(c, *d.size.get()) : d.total;
}

/* Replaces bounds by exact numbers, also in the memory that was taken for the bound. A number
 * that is only required may turn out to be wrong, so it stays deferred. */
void exact(context &c, cvl_segdes &d) {
  if (d.size) {
    d.total = settle(c, *d.size.get());
    if (!d.size->required) d.size = nullptr;
  }
  if (d.count == 1) d.equal = d.total;
}

void exact(context &c, cvl_vector &v) {
  if (v.size) {
    v.length = settle(c, *v.size.get());
    if (!v.size->required) {
      v.size = nullptr;
      trim(c, v);
    }
  }
  if (v.under) exact(c, *v.under.get());
}

/* ---- values ---- */

int64_t length_bound(const cvl_value &v) {
  if (v.form == CVL_VECTOR) return v.as.vector->length;
  if (v.form == CVL_SEGDES) return v.as.segdes->count;
  return v.form == CVL_NOTHING ? 0 : 1;
}

int64_t count_of(const cvl_value &d) {
  return d.form == CVL_SEGDES ? d.as.segdes->count : 1;
}

int64_t total_of(context &c, const cvl_value &d) {
  return d.form == CVL_SEGDES ? settled_total(c, *d.as.segdes) : (int64_t)d.as.one_segment;
}

static bool segdes_at_hand(context &c, const cvl_segdes &d) {
  return d.equal >= 0 || (d.host_offsets && c.work_queue.reached(d.arrives));
}

static bool vector_at_hand(context &c, const cvl_vector &v) {
  if (v.host) return c.work_queue.reached(v.arrives);
  if (v.kind == FROM_MEMORY) return false;
  return (!v.data || vector_at_hand(c, *v.data.get())) &&
         (!v.steps || vector_at_hand(c, *v.steps.get())) &&
         (!v.under || segdes_at_hand(c, *v.under.get()));
}

bool at_hand(context &c, const cvl_value &v) {
  if (v.form == CVL_VECTOR) return vector_at_hand(c, *v.as.vector);
  if (v.form == CVL_SEGDES) return segdes_at_hand(c, *v.as.segdes);
  return true;
}

int64_t longest_on_host(const cvl_segdes &d) {
  const int64_t *offsets = (const int64_t *)(const void *)d.host_offsets->at;
  int64_t longest = 0;
  for (int64_t k = 0; k < d.count; k++)
    longest = std::max(longest, offsets[k + 1] - offsets[k]);
  return longest;
}

/* ---- an operation ---- */

/* A bound may be at most this part of the memory limit. */
enum : int64_t { LIMIT_RATIO = 16 };

bool stays_deferred(context &c, const ref<deferred> &p) {
  if (!p || is_known(c, *p.get()) || !p->counts_elements) return false;
  return c.memory.limit == 0 || p->bound < (int64_t)(c.memory.limit / LIMIT_RATIO);
}

static const ref<deferred> &context_size_of(const cvl_value &v) {
  static const ref<deferred> none;
  if (v.form == CVL_VECTOR) return v.as.vector->size;
  return v.form == CVL_SEGDES ? v.as.segdes->size : none;
}

/* Returns the most elements that an operand brings, after waiting for deferred lengths. */
static int64_t settled_size(context &c, const cvl_value &v, operand_lengths lengths) {
  if (v.form == CVL_NOTHING || v.form == CVL_SCALAR) return 0;
  if (lengths == operand_lengths::BOUNDED && stays_deferred(c, context_size_of(v)))
    return INT64_MAX;
  if (v.form == CVL_VECTOR) {
    exact(c, *v.as.vector);
    return v.as.vector->length;
  }
  if (v.form == CVL_SEGDES) exact(c, *v.as.segdes);
  const int64_t total = total_of(c, v), count = count_of(v);
  return total > count ? total : count;
}

work::work(context &ctx, uint64_t at_site, std::initializer_list<const cvl_value *> operands,
           int64_t elements, operand_lengths lengths)
    : c(ctx), site(at_site), on_host(true), mode(lengths) {
  int64_t most = elements;
  for (const cvl_value *v : operands) {
    const int64_t size = settled_size(c, *v, lengths);
    if (size > most) most = size;
  }
  on_host = is_for_host(c, most);
  for (const cvl_value *v : operands) on_host = on_host && at_hand(c, *v);
  if (on_host) spend(c, most);
}

/* Drops a number that no kernel writes, since the operation failed before. */
static void context_forget(context &c, deferred &p) {
  p.known = true;
  for (size_t k = 0; k < c.outstanding.size(); k++) {
    if (c.outstanding[k].get() != &p) continue;
    c.outstanding.erase(c.outstanding.begin() + (std::ptrdiff_t)k);
    return;
  }
}

work::~work() {
  for (const ref<deferred> &p : later_) {
    if (!on_host && p->at->written == 0) {
      context_forget(c, *p.get());
    } else if (on_host) {
      memcpy(&p->value, p->at->at, sizeof p->value);
      p->known = true;
    } else {
      p->epoch = c.work_queue.epoch;
      c.work_queue.mirror(p->mirror, p->at, sizeof(int64_t));
    }
  }
}

void work::run(const launch &l) {
  if (l.count == 0) return;
  if (on_host) {
    c.device->run_here(l);
  } else {
    note_written(c.work_queue.run(l));
  }
}

uint64_t work::run_joined(const launch &l, join_function join, uint64_t after) {
  if (on_host || l.count == 0) {
    run(l);
    return 0;
  }
  after = std::max(after, read_after_);
  for (const ref<block> &b : made_) after = std::max(after, b->free_since);
  const uint64_t number = c.work_queue.run_joined(l, join, after);
  note_written(number);
  return number;
}

/* Notes that command `number` wrote the results: it did, or an earlier command of this
 * operation. */
void work::note_written(uint64_t number) {
  for (const ref<block> &b : made_) {
    if (number > b->written) b->written = number;
  }
}

/* Notes that the operation reads a block, and returns where it lies. */
void *work::reads(const ref<block> &b) {
  if (b->written > read_after_) read_after_ = b->written;
  return b->at;
}

void *work::scratch_bytes(size_t bytes) {
  ref<block> b(c.memory.take(on_host ? memory_space::host : memory_space::device, bytes, site));
  made_.push_back(b);
  return b->at;
}

void work::fill_bytes(void *p, uint8_t byte, size_t bytes) {
  if (bytes == 0) return;
  if (on_host) {
    memset(p, byte, bytes);
  } else {
    c.work_queue.fill(p, byte, bytes);
    note_written(c.work_queue.number);
  }
}

/* Sets the bytes of a block that this operation has just made. */
void work::set_block(const ref<block> &b, uint8_t byte, size_t bytes) {
  if (on_host) {
    memset(b->at, byte, bytes);
    return;
  }
  const uint64_t number = c.work_queue.set(*b.get(), byte, bytes);
  if (number > 0) note_written(number);
}

void work::set(const ref<cvl_vector> &v, uint8_t byte) {
  set_block(on_host ? v->host : v->device, byte, (size_t)v->length * elem_info(v->elem)->bytes);
}

/* Memory is cleared when it is new, and when no marks are left. */
publication work::publishes(int64_t cells) {
  enum : int64_t { LEAST_CELLS = 4096 };
  published_memory &m = c.published;
  if (cells > m.cells || m.mark == UINT32_MAX) {
    int64_t room = std::max(m.cells, (int64_t)LEAST_CELLS);
    while (room < cells) room *= 2;
    const size_t bytes = (size_t)(room + 1) * PUBLISHED_BYTES;
    m.at = ref<block>(c.memory.take_own(memory_space::device, bytes, site));
    m.cells = room;
    m.mark = 0;
    made_.push_back(m.at);
    set_block(m.at, 0, bytes);
  } else {
    made_.push_back(m.at);
  }
  return {pointer_to<uint64_t>(m.at->at), m.at->at + PUBLISHED_BYTES, ++m.mark};
}

faults work::bad() {
  return {on_host ? &c.host_faults : (fault_slot *)(void *)c.device_faults->at, site};
}

/* Returns the elements of a vector on the side where this operation runs. They stay there for
 * the next operation. */
void *work::elements_here(cvl_vector &v) {
  if (!(on_host ? v.host : v.device)) {
    if (v.kind != FROM_MEMORY) {
      materialise(*this, v);
    } else { /* a device operation: on the host, operands are at hand */
      const size_t bytes = (size_t)v.length * elem_info(v.elem)->bytes;
      ref<block> b(c.memory.take(memory_space::device, bytes, site));
      c.work_queue.upload(c.memory, b.get(), v.host->at, bytes, site);
      v.device = b;
    }
  }
  return reads(on_host ? v.host : v.device);
}

void *work::materialised(const cvl_value &v, size_t width) {
  if (v.form == CVL_VECTOR) return elements_here(*v.as.vector);
  if (on_host) {
    void *p = scratch_bytes(width);
    memcpy(p, &v.as, width);
    return p;
  }
  ref<block> b(c.memory.take(memory_space::device, width, site));
  c.work_queue.upload(c.memory, b.get(), &v.as, width, site);
  made_.push_back(b);
  return reads(b);
}

void work::fill_operand(const cvl_value &v, size_t width, int32_t &kind, void *first,
                        void *step, segments &under, void *&data, void *&steps) {
  void *its_data = nullptr, *its_steps = nullptr; /* writing one may read an operand */
  data = steps = nullptr;
  if (v.form == CVL_SCALAR) {
    kind = ALL_EQUAL;
    memcpy(first, &v.as, width);
    return;
  }
  cvl_vector &x = *v.as.vector;
  if (x.kind == FROM_MEMORY || (on_host ? x.host : x.device)) {
    kind = FROM_MEMORY;
    data = elements_here(x);
    return;
  }
  kind = x.kind;
  memcpy(first, &x.first, width);
  memcpy(step, &x.step, width);
  if (x.data) its_data = elements_here(*x.data.get());
  if (x.steps) its_steps = elements_here(*x.steps.get());
  if (x.under) under = view(x.under.get(), true);
  data = its_data;
  steps = its_steps;
}

ptr<const int64_t> work::offsets_here(cvl_segdes &d) {
  if (!on_host && !d.device_offsets) {
    const size_t bytes = (size_t)(d.count + 1) * sizeof(int64_t);
    ref<block> b(c.memory.take(memory_space::device, bytes, site));
    c.work_queue.upload(c.memory, b.get(), d.host_offsets->at, bytes, site);
    d.device_offsets = b;
  }
  return pointer_to<const int64_t>(reads(on_host ? d.host_offsets : d.device_offsets));
}

segments work::view(cvl_segdes *d, bool ranked) {
  segments s{};
  const bool bounded = mode == operand_lengths::BOUNDED && stays_deferred(c, d->size);
  if (!bounded) exact(c, *d);
  s.count = d->count;
  s.total = d->total;
  s.equal = d->equal;
  if (d->equal >= 0) return s;
  if (bounded && d->count == 1) { /* see put_number */
    s.offsets = elements_of<int64_t>(d->size->at) + 1;
    return s;
  }
  s.offsets = offsets_here(*d);
  if (ranked && !on_host && (d->device_ranks || ranks_pay(c, *d))) {
    if (!d->device_ranks) make_ranks(*this, *d);
    s.ranks = pointer_to<const rank_word>(reads(d->device_ranks));
    s.numbers = pointer_to<const uint32_t>(reads(d->device_numbers));
  }
  return s;
}

segments work::view(const cvl_value &d, bool ranked) {
  if (d.form == CVL_SEGDES) return view(d.as.segdes, ranked);
  segments s{};
  s.count = 1;
  s.total = s.equal = (int64_t)d.as.one_segment;
  return s;
}

ptr<const uint32_t> work::segment_ids(const cvl_value &d, const segments &s) {
  enum : int64_t { MOST = (int64_t)UINT32_MAX + 1 };
  if (!c.ids || s.ranks == nullptr || s.count > MOST) return nullptr;
  ref<block> &kept = d.as.segdes->device_ids;
  if (!kept) {
    const ref<block> b(
        c.memory.try_take(memory_space::device, (size_t)s.total * sizeof(uint32_t)));
    if (!b) return nullptr;
    made_.push_back(b);
    make_ids(*this, s, pointer_to<uint32_t>(b->at));
    kept = b;
  }
  return pointer_to<const uint32_t>(reads(kept));
}

ref<cvl_vector> work::make(cvl_elem elem, int64_t n) {
  ref<cvl_vector> v(new cvl_vector);
  v->elem = elem;
  v->length = n;
  ref<block> b(c.memory.take(on_host ? memory_space::host : memory_space::device,
                             (size_t)n * elem_info(elem)->bytes, site));
  (on_host ? v->host : v->device) = b;
  made_.push_back(b);
  return v;
}

/* Copies to the host have the length of the bound, so all of it must have been written. */
ref<cvl_vector> work::make_each(cvl_elem elem, int64_t n) {
  const ref<cvl_vector> v = make(elem, n);
  v->size = domain;
  if (domain && n <= c.small) set(v, 0);
  return v;
}

void work::over(const ref<deferred> &size) {
  domain = size;
  domain_at = size ? size->at : nullptr;
}

launch work::for_each(launch l) {
  if (domain_at) l.count_at = elements_of<int64_t>(domain_at);
  if (domain && !domain_at) l.count = std::min(l.count, domain->value);
  return l;
}

ref<cvl_vector> work::take_over(const cvl_value &x) {
  if (x.form != CVL_VECTOR || !x.owned || x.as.vector->refs != 1) return nullptr;
  const ref<block> &b = on_host ? x.as.vector->host : x.as.vector->device;
  if (!b || b->refs != 1 || b->whole) return nullptr;
  ref<cvl_vector> v(new cvl_vector);
  v->elem = x.as.vector->elem;
  const bool bounded = mode == operand_lengths::BOUNDED && stays_deferred(c, x.as.vector->size);
  v->length = bounded ? x.as.vector->length : settled_length(c, *x.as.vector);
  if (bounded) v->size = x.as.vector->size;
  (on_host ? v->host : v->device) = b;
  made_.push_back(b);
  return v;
}

void work::is_written(const ref<cvl_vector> &v) {
  const ref<block> &b = on_host ? v->host : v->device;
  for (size_t k = 0; k < made_.size(); k++) {
    if (made_[k].get() == b.get()) made_.erase(made_.begin() + (std::ptrdiff_t)k--);
  }
  reads(b);
}

ref<cvl_segdes> work::make_segdes(int64_t count, int64_t total) {
  ref<cvl_segdes> d(new cvl_segdes);
  d->count = count;
  d->total = total;
  ref<block> b(c.memory.take(on_host ? memory_space::host : memory_space::device,
                             (size_t)(count + 1) * sizeof(int64_t), site));
  (on_host ? d->host_offsets : d->device_offsets) = b;
  made_.push_back(b);
  return d;
}

ref<deferred> work::later(int64_t bound, ptr<int64_t> *at) {
  const ref<block> b(c.memory.take(on_host ? memory_space::host : memory_space::device,
                                   3 * sizeof(int64_t), site));
  return later_in(b, bound, at); /* put_number writes three numbers */
}

ref<deferred> work::later_in(const ref<block> &b, int64_t bound, ptr<int64_t> *at) {
  ref<deferred> p(new deferred);
  p->symbol = ++c.last_symbol;
  p->bound = bound;
  p->at = b;
  *at = pointer_to<int64_t>(p->at->at);
  if (!on_host) {
    p->mirror = ref<block>(c.memory.take(memory_space::host, sizeof(int64_t), site));
    p->epoch = UINT64_MAX; /* until the kernels are in the queue: see ~work */
    c.outstanding.push_back(p);
  }
  made_.push_back(p->at);
  later_.push_back(p);
  return p;
}

ref<deferred> work::greatest_later(int64_t bound, ptr<int64_t> *at) {
  const ref<deferred> p = later(bound, at);
  set_block(p->at, 0, sizeof(int64_t));
  return p;
}

/* Copies a small result of the device to the host, which soon needs it. A block may be longer
 * than its `bytes`; the rest is uninitialised. */
static void mirror_block(context &c, const ref<block> &device, size_t bytes, ref<block> &host,
                         uint64_t &arrives) {
  if (!device || host) return;
  host = ref<block>(c.memory.try_take(memory_space::host, bytes));
  if (!host) return;
  arrives = c.work_queue.epoch;
  c.work_queue.mirror(host, device, bytes);
}

void work::give(cvl_value *out, const ref<cvl_vector> &v) {
  if (v->length <= c.small) {
    mirror_block(c, v->device, (size_t)v->length * elem_info(v->elem)->bytes, v->host,
                 v->arrives);
  }
  *out = cvl_value{};
  if (on_host && v->length == 1 && !v->size) { /* the value is known and needs no vector */
    out->form = CVL_SCALAR;
    out->elem = (uint8_t)v->elem;
    memcpy(&out->as, v->host->at, elem_info(v->elem)->bytes);
    return;
  }
  out->form = CVL_VECTOR;
  out->elem = (uint8_t)v->elem;
  out->as.vector = ref<cvl_vector>(v).give();
}

void work::give(cvl_value *out, const ref<cvl_segdes> &d) {
  if (d->count < c.small) {
    mirror_block(c, d->device_offsets, (size_t)(d->count + 1) * sizeof(int64_t),
                 d->host_offsets, d->arrives);
  }
  *out = cvl_value{};
  if (d->count == 1 && !d->size) {
    out->form = CVL_ONE_SEGMENT;
    out->as.one_segment = (uint64_t)d->total;
    return;
  }
  out->form = CVL_SEGDES;
  out->as.segdes = ref<cvl_segdes>(d).give();
}

} // namespace ravel
