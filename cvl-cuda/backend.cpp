/* backend.cpp - the contract's table: each entry checks the state of the context, runs the
 * operation, turns its exception into a fault, and releases owned operands. */
#include "cvl-cuda/backend.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <memory>
#include <new>

#include "cvl-cuda/fused.hpp"
#include "cvl-cuda/ops.hpp"
#include "cvl-cuda/sort.hpp"

extern "C" {
#include "cvl/sharing.h"
#include "cvl/slices.h"
#include "cvl/superop.h"
}

namespace ravel {

/* ---- from exceptions to faults ---- */

/* An operation that threw half-way may leave a result without its object. */
static void release_value(const cvl_value &v) {
  if (v.form == CVL_VECTOR && v.as.vector) release(v.as.vector);
  if (v.form == CVL_SEGDES && v.as.segdes) release(v.as.segdes);
}

static void backend_release_owned(const cvl_value &v) {
  if (v.owned) release_value(v);
}

/* Notes the fault that a body on the host reported, and clears its slot. Returns whether there
 * was one. */
static bool take_host_fault(context &c) {
  const fault_slot s = c.host_faults;
  if (s.kind == CVL_E_NONE) return false;
  note_fault(
      c, {(cvl_error_kind)s.kind, s.site, s.position, s.value, s.limit, s.segment, nullptr});
  c.host_faults = fault_slot{};
  return true;
}

static bool device_failed(context &c, uint64_t site) {
  const char *why = c.device->failure();
  if (why == nullptr) return false;
  note_fault(c, {CVL_E_DEVICE, site, 0, 0, 0, 0, why});
  return true;
}

/* Stands in each entry that calls the device. When it ends, the calling thread has its own
 * current device again. */
struct entry {
  stream *device;
  explicit entry(stream *s) : device(s) {}
  ~entry() { device->leave(); }
  entry(const entry &) = delete;
  entry &operator=(const entry &) = delete;
};

/* Returns whether an operation that ran out of memory is worth a second try: deferred lengths
 * are outstanding. It waits for them, so that the second try has exact lengths instead of
 * bounds. An operation takes all its memory before it writes over an operand. */
static bool has_bounds(context &c, const failure &f) {
  if (f.error.kind != CVL_E_MEMORY || c.outstanding.empty() || c.device->failure())
    return false;
  finish(c);
  return true;
}

/* Runs an operation. If it has a result and memory was short, it may run a second time. */
template <class G>
static void backend_run_operation(context &c, cvl_value *out, cvl_value *more, G operation) {
  try {
    operation();
    return;
  } catch (const failure &f) {
    if (out == nullptr || !has_bounds(c, f)) throw;
  }
  for (cvl_value *v : {out, more}) {
    if (v == nullptr) continue;
    release_value(*v);
    *v = cvl_value{};
  }
  operation();
}

/* Runs an operation and returns whether it found no fault. On a fault that is known at once,
 * `out` and `more` are released and not set. If the caller asks to stop, the operation is not
 * begun. Work that the device already has is finished, since a kernel cannot be interrupted.
 * Waits, which are no operations, are not refused either. */
template <class G>
static bool guarded(context *c, uint64_t site, cvl_value *out, cvl_value *more, G operation) {
  const entry here(c->device);
  if (out) *out = cvl_value{};
  if (more) *more = cvl_value{};
  bool good = false;
  try {
    const bool waits = site == UINT64_MAX;
    if (!waits && c->stop.asks && c->stop.asks(c->stop.with)) fail(CVL_E_STOPPED, site);
    backend_run_operation(*c, out, more, operation);
    good = true;
  } catch (const failure &f) {
    cvl_error e = f.error;
    if (e.kind == CVL_E_MEMORY) e.site = site;
    /* A lost device's report about memory or elements means nothing. */
    if (c->device->failure() == nullptr) note_fault(*c, e);
  } catch (const std::bad_alloc &) {
    note_fault(*c, {CVL_E_MEMORY, site, 0, 0, 0, 0, nullptr});
  }
  if (take_host_fault(*c) || device_failed(*c, site)) good = false;
  if (!good) {
    if (out) release_value(*out);
    if (more) release_value(*more);
    if (out) *out = cvl_value{};
    if (more) *more = cvl_value{};
  }
  return good;
}

/* ---- opening and closing ---- */

/* Applies the caller's options to a new context. RAVEL_CUDA_IDS is for measurements: with 0,
 * operations do without expanded ids. */
static void set_options(context &c, const cvl_options &o) {
  const char *ids = getenv("RAVEL_CUDA_IDS");
  if (ids) c.ids = strcmp(ids, "0") != 0;
  c.stop = o.stop; /* earlier work belongs to the context itself */
  c.memory.fail_in = o.fail_allocation;
  if (o.measure) c.device->measure();
  c.kernels = open_kernels(c.device, o);
}

context *open_context(stream *s, const cvl_options &o, const char **why) {
  static thread_local char reason[256]; /* a copy: the stream, which has the text, is deleted */
  try {
    std::unique_ptr<context> c(new context(s, o));
    const char *closed = open_device(*c, o.opens_late && !o.kernels);
    if (closed == nullptr) {
      set_options(*c, o);
      s->leave();
      closed = s->failure();
    }
    if (closed == nullptr) return c.release();
    snprintf(reason, sizeof reason, "%s", closed);
  } catch (const std::bad_alloc &) {
    snprintf(reason, sizeof reason, "out of memory");
  }
  *why = reason;
  delete s;
  return nullptr;
}

static void close_context(context *c) {
  c->work_queue.finish();
  stream *s = c->device;
  delete c;
  s->leave();
  delete s;
}

/* ---- values ---- */

static bool from_host(context *c, uint64_t site, cvl_elem elem, uint64_t n, const void *data,
                      cvl_value *out) {
  const size_t bytes = (size_t)n * elem_info(elem)->bytes;
  return guarded(c, site, out, nullptr, [&] {
    out->elem = (uint8_t)elem;
    if (n == 1) {
      memcpy(&out->as, data, bytes);
      out->form = CVL_SCALAR;
      return;
    }
    ref<cvl_vector> v(new cvl_vector);
    v->elem = elem;
    v->length = (int64_t)n;
    if (is_for_host(*c, (int64_t)n)) {
      v->host = ref<block>(c->memory.take(memory_space::host, bytes, site));
      if (n > 0) memcpy(v->host->at, data, bytes);
    } else {
      v->device = ref<block>(c->memory.take(memory_space::device, bytes, site));
      c->work_queue.upload(c->memory, v->device.get(), data, bytes, site);
    }
    out->as.vector = v.give();
    out->form = CVL_VECTOR;
  });
}

/* Copies bytes of the device to dst, in two buffers by turns: the host reads one while the
 * device fills the other. */
static void read_device_block(context &c, const char *from, size_t bytes, char *dst) {
  queue &q = c.work_queue;
  staged_copy under_way[2];
  size_t asked = 0;
  const auto ask = [&](unsigned k) {
    const size_t n = std::min(bytes - asked, q.ring.most);
    if (n > 0) under_way[k] = q.stage_down(from + asked, n, 0);
    asked += n;
  };
  ask(0);
  ask(1);
  finish(c); /* also fetches the error slot */
  unsigned k = 0;
  for (size_t read = 0; read < bytes; k ^= 1) {
    const staged_copy s = under_way[k];
    q.finish(s.epoch);
    if (c.device->failure()) fail(CVL_E_DEVICE, UINT64_MAX);
    c.device->host_reads(s.at, s.bytes);
    memcpy(dst + read, s.at, s.bytes);
    read += s.bytes;
    ask(k);
    q.flush();
  }
}

/* Copies bytes of a block to dst. The block may be on both sides; this waits if only the device
 * has it. */
void read_block(context &c, const ref<block> &host, uint64_t arrives, const ref<block> &device,
                size_t first, size_t bytes, void *dst) {
  if (bytes == 0) return;
  if (host) {
    if (!c.work_queue.reached(arrives)) finish(c);
    c.device->host_reads(host->at + first, bytes);
    memcpy(dst, host->at + first, bytes);
    return;
  }
  read_device_block(c, device->at + first, bytes, (char *)dst);
}

static void backend_read_lengths(context &c, const cvl_value &d, uint64_t first, uint64_t n,
                                 int64_t *dst) {
  if (d.form == CVL_ONE_SEGMENT) {
    if (n > 0) dst[0] = (int64_t)d.as.one_segment;
    return;
  }
  cvl_segdes &s = *d.as.segdes;
  if (s.count == 1) exact(c, s);
  if (s.equal >= 0) {
    for (uint64_t k = 0; k < n; k++) dst[k] = s.equal;
    return;
  }
  std::vector<int64_t> offsets(n + 1);
  read_block(c, s.host_offsets, s.arrives, s.device_offsets, first * sizeof(int64_t),
             (n + 1) * sizeof(int64_t), offsets.data());
  for (uint64_t k = 0; k < n; k++) dst[k] = offsets[k + 1] - offsets[k];
}

static bool to_host(context *c, const cvl_value *v, uint64_t first, uint64_t n, void *dst) {
  const bool good = guarded(c, UINT64_MAX, nullptr, nullptr, [&] {
    if (v->form == CVL_SCALAR) {
      if (n > 0) memcpy(dst, &v->as, elem_info((cvl_elem)v->elem)->bytes);
      return;
    }
    if (v->form != CVL_VECTOR) {
      backend_read_lengths(*c, *v, first, n, (int64_t *)dst);
      return;
    }
    cvl_vector &x = *v->as.vector;
    const size_t width = elem_info(x.elem)->bytes;
    if (!x.host && !x.device) {
      work w(*c, UINT64_MAX, {v}, 0);
      materialise(w, x);
    }
    read_block(*c, x.host, x.arrives, x.device, (size_t)first * width, (size_t)n * width, dst);
  });
  return good && !c->has_fault;
}

static bool scalar(context *c, const cvl_value *v, cvl_value *out) {
  *out = *v;
  out->owned = 0;
  if (v->form == CVL_SCALAR) return true;
  cvl_value s{};
  s.form = CVL_SCALAR;
  s.elem = v->elem;
  const bool good = to_host(c, v, 0, 1, &s.as);
  *out = good ? s : cvl_value{};
  return good;
}

static void retain_value(context *, const cvl_value *v) {
  if (v->form == CVL_VECTOR) retain(v->as.vector);
  if (v->form == CVL_SEGDES) retain(v->as.segdes);
}

static void release_entry(context *, const cvl_value *v) {
  release_value(*v);
}

static cvl_size backend_size_of(int64_t exact, const deferred *p) {
  if (p == nullptr) return {(uint64_t)exact, 0};
  if (p->known) return {(uint64_t)p->value, 0};
  return {(uint64_t)p->bound, p->symbol};
}

static cvl_size length_entry(context *, const cvl_value *v) {
  if (v->form == CVL_VECTOR)
    return backend_size_of(v->as.vector->length, v->as.vector->size.get());
  if (v->form == CVL_SEGDES)
    return backend_size_of(v->as.segdes->total, v->as.segdes->size.get());
  if (v->form == CVL_ONE_SEGMENT) return {v->as.one_segment, 0};
  return {1, 0};
}

static cvl_size count_entry(context *, const cvl_value *d) {
  return {(uint64_t)count_of(*d), 0};
}

static ref<deferred> backend_deferred_of(context &c, const cvl_size &size) {
  for (const ref<deferred> &p : c.outstanding) {
    if (p->symbol == size.symbol) return p;
  }
  return nullptr;
}

static bool backend_resolve(context *c, cvl_size *size) {
  if (size->symbol == 0) return true;
  const ref<deferred> found = backend_deferred_of(*c, *size);
  if (!found) {
    const auto known = c->settled.find(size->symbol);
    if (known == c->settled.end()) return !c->has_fault;
    *size = {(uint64_t)known->second, 0};
    return !c->has_fault;
  }
  const bool good = guarded(c, UINT64_MAX, nullptr, nullptr, [&] {
    *size = {(uint64_t)settle(*c, *found.get()), 0};
  });
  return good && !c->has_fault;
}

/* Replaces a size by what is known of it without waiting. */
static void backend_look_at(context &c, cvl_size *size) {
  const ref<deferred> p = backend_deferred_of(c, *size);
  if (size->symbol != 0 && (!p || is_known(c, *p.get()))) backend_resolve(&c, size);
}

/* Requires that two sizes agree, where one of them is deferred and the other is known. */
static bool require_later(context *c, uint64_t site, cvl_size a, cvl_size b, int64_t rule) {
  if (a.symbol != 0 && a.symbol == b.symbol) return true;
  backend_look_at(*c, &a);
  backend_look_at(*c, &b);
  if ((a.symbol == 0) == (b.symbol == 0)) return a.symbol == 0 && a.bound == b.bound;
  const bool first = a.symbol != 0;
  const ref<deferred> p = backend_deferred_of(*c, first ? a : b);
  bool done = false;
  const requirement must = {(int64_t)(first ? b.bound : a.bound), site, rule, first};
  guarded(c, site, nullptr, nullptr, [&] { done = p && require_size(*c, p, must); });
  return done;
}

static bool require_equal(context *c, uint64_t site, cvl_size a, cvl_size b, int64_t rule) {
  if (require_later(c, site, a, b, rule)) return true;
  if ((a.symbol && !backend_resolve(c, &a)) || (b.symbol && !backend_resolve(c, &b)))
    return false;
  if (a.bound == b.bound) return true;
  note_fault(*c, {CVL_E_SIZE, site, rule, (int64_t)a.bound, (int64_t)b.bound, 0, nullptr});
  return false;
}

static bool backend_same(context *, const cvl_value *a, const cvl_value *b) {
  if (a->form != b->form) return false;
  switch (a->form) {
  case CVL_VECTOR: return a->as.vector == b->as.vector;
  case CVL_SEGDES: return a->as.segdes == b->as.segdes;
  case CVL_ONE_SEGMENT: return a->as.one_segment == b->as.one_segment;
  case CVL_SCALAR:
    return a->elem == b->elem &&
           memcmp(&a->as, &b->as, elem_info((cvl_elem)a->elem)->bytes) == 0;
  default: return true;
  }
}

/* ---- memory of the device that is shared with other libraries ---- */

static int32_t device_number(context *c) {
  return c->device->number();
}

static bool from_device(context *c, uint64_t site, cvl_elem elem, uint64_t n, const void *data,
                        cvl_value *out) {
  const size_t bytes = (size_t)n * elem_info(elem)->bytes;
  return guarded(c, site, out, nullptr, [&] {
    ref<cvl_vector> v(new cvl_vector);
    v->elem = elem;
    v->length = (int64_t)n;
    need_device(*c, site);
    v->device = ref<block>(c->memory.take(memory_space::device, bytes, site));
    finish(*c); /* another library may have had its memory before */
    c->device->copy_shared(v->device->at, data, bytes);
    out->elem = (uint8_t)elem;
    out->as.vector = v.give();
    out->form = CVL_VECTOR;
  });
}

static bool read_device(context *c, uint64_t site, const void *data, uint64_t bytes,
                        void *dst) {
  return guarded(c, site, nullptr, nullptr, [&] {
    need_device(*c, site);
    finish(*c);
    c->device->copy_shared(dst, data, bytes);
  });
}

/* Returns where the first `bytes` of a value lie once everything that was issued is done. */
static const void *settled_bytes(context &c, uint64_t site, const cvl_value &v, size_t bytes) {
  if (v.form == CVL_SCALAR) return &v.as;
  cvl_vector &x = *v.as.vector;
  if (!x.host && !x.device) {
    work w(c, site, {&v}, 0);
    materialise(w, x);
  }
  finish(c);
  if (x.device) return x.device->at;
  c.device->host_reads(x.host->at, bytes);
  return x.host->at;
}

static bool to_device(context *c, uint64_t site, const cvl_value *v, uint64_t n,
                      cvl_export *exported) {
  const size_t bytes = (size_t)n * elem_info((cvl_elem)v->elem)->bytes;
  void *memory = nullptr;
  void (*end)(void *) = [](void *) {};
  const bool good = guarded(c, site, nullptr, nullptr, [&] {
    if (bytes == 0) return;
    need_device(*c, site);
    const void *from = settled_bytes(*c, site, *v, bytes);
    memory = c->device->allocate_shared(bytes, &end);
    if (!memory) fail(CVL_E_MEMORY, site, 0, (int64_t)bytes);
    c->device->copy_shared(memory, from, bytes);
  });
  if (good && !c->has_fault) {
    *exported = {memory, {end, memory}};
    return true;
  }
  if (memory) end(memory);
  return false;
}

/* ---- values split and concatenated ---- */

static bool slice_entry(context *c, uint64_t site, const cvl_value *v, uint64_t first,
                        uint64_t n, cvl_value *out) {
  const cvl_value of = *v; /* a copy, since out may be v itself */
  const bool good = guarded(c, site, out, nullptr,
                            [&] { slice(*c, site, of, (int64_t)first, (int64_t)n, out); });
  backend_release_owned(of);
  return good;
}

static bool allocate_entry(context *c, uint64_t site, cvl_elem elem, uint64_t n,
                           cvl_value *out) {
  return guarded(c, site, out, nullptr, [&] { allocate(*c, site, elem, n, out); });
}

static bool fill_entry(context *c, uint64_t site, const cvl_value *target, uint64_t first,
                       const cvl_value *v) {
  const bool good = guarded(c, site, nullptr, nullptr,
                            [&] { fill(*c, site, *target->as.vector, (int64_t)first, *v); });
  backend_release_owned(*v);
  return good;
}

static bool concatenate_entry(context *c, uint64_t site, uint64_t n,
                              const cvl_value *descriptors, cvl_value *out) {
  return guarded(c, site, out, nullptr, [&] { concatenate(*c, site, n, descriptors, out); });
}

/* ---- errors and time ---- */

static bool backend_check(context *c, bool wait, cvl_error *e) {
  guarded(c, UINT64_MAX, nullptr, nullptr, [&] {
    if (wait) finish(*c);
  });
  if (!c->has_fault) return false;
  *e = c->fault;
  c->has_fault = false;
  c->faults_taken++;
  if (e->kind != CVL_E_DEVICE && c->device_faults) {
    c->work_queue.fill(c->device_faults->at, 0, sizeof(fault_slot));
    memset(c->seen_faults->at, 0, sizeof(fault_slot));
  }
  return true;
}

static cvl_statistics backend_statistics(context *c) {
  const entry here(c->device);
  cvl_statistics s{};
  s.live_bytes = c->memory.live;
  s.peak_bytes = c->memory.peak;
  s.recent_peak_bytes = c->memory.recent;
  s.allocations = c->memory.allocations;
  s.waits = c->work_queue.waits;
  s.launches = c->work_queue.launches;
  s.bytes_up = c->work_queue.bytes_up;
  s.bytes_down = c->work_queue.bytes_down;
  s.launch_ns = c->work_queue.launch_ns;
  s.wait_ns = c->work_queue.wait_ns;
  s.kernel_ns = c->device->kernel_ns();
  s.held_bytes = c->memory.most_held;
  return s;
}

static void restart_peak(context *c) {
  c->memory.recent = c->memory.live;
}

static void fail_allocation(context *c, uint64_t n) {
  c->memory.fail_in = n;
}

/* ---- operations ---- */

static bool segdes_from_host_entry(context *c, uint64_t site, uint64_t n, const int64_t *l,
                                   cvl_value *out) {
  return guarded(c, site, out, nullptr, [&] { segdes_from_host(*c, site, n, l, out); });
}

static void backend_perform(context &c, uint64_t site, const cvl_call &call, cvl_value *out) {
  const cvl_value *v = call.operand;
  switch (call.kind) {
  case CALL_ELEMENTWISE: return elementwise(c, site, call.op, call.count, v, out);
#define SEGMENTED(kind, function)                                                              \
  case CALL_##kind:                                                                            \
    return function(c, site, call.op, v[0], v[1], out);
#include "cvl/segmented.def"
  case CALL_PERMUTE: return permute(c, site, call.op, call.permute, out);
  case CALL_EXTRACT: return extract(c, site, v[0], v[1], v[2], out);
  case CALL_REPLACE: return replace(c, site, v[0], v[1], v[2], v[3], out);
  case CALL_DIST: return dist(c, site, v[0], v[1], out);
  case CALL_INDEX: return index(c, site, v[0], v[1], v[2], out);
  case CALL_PACK: return pack(c, site, v[0], v[1], v[2], &out[0], &out[1]);
  case CALL_MAKE_SEGDES: return make_segdes(c, site, v[0], out);
  case CALL_LENGTHS: return lengths(c, site, v[0], out);
  case CALL_LENGTH_OF: return length_of(c, site, v[0], out);
  case CALL_RANDOM: return random_numbers(c, site, call.random, v[0], out);
  case CALL_ASSERT: return assert_all(c, site, v[0], v[1], v[2]);
  case CALL_KINDS: break;
  }
}

static bool apply_guarded(context *c, uint64_t site, const cvl_call &call, cvl_value *results) {
  return guarded(c, site, call.kind == CALL_ASSERT ? nullptr : results,
                 call.kind == CALL_PACK ? results + 1 : nullptr,
                 [&] { backend_perform(*c, site, call, results); });
}

/* Sorts by ranks, which are released at once. Operands are borrowed. */
static bool sort_by_ranks(context *c, uint64_t site, const cvl_call &sort, cvl_value *out) {
  const cvl_value &v = sort.operand[0], &d = sort.operand[1];
  cvl_call rank = sort;
  rank.kind = CALL_RANK;
  rank.op = sort.op == OP_SORT_UP ? OP_RANK_UP : OP_RANK_DOWN;
  cvl_value ranks{};
  if (!apply_guarded(c, site, rank, &ranks)) return false;
  const cvl_value operands[] = {v, ranks, {}, {}, d, d};
  const bool good =
      apply_guarded(c, site, call_of(CALL_PERMUTE, OP_PERMUTE, CALL_OPERANDS, operands), out);
  release_value(ranks);
  return good;
}

static bool backend_apply(context *c, uint64_t site, const cvl_call *call, cvl_value *results) {
  const bool many = call->kind == CALL_SORT && count_of(call->operand[1]) > SORTED_SEGMENTS;
  const bool good =
      many ? sort_by_ranks(c, site, *call, results) : apply_guarded(c, site, *call, results);
  for (unsigned i = 0; i < call->count; i++) backend_release_owned(call->operand[i]);
  return good;
}

/* ---- superoperators: fused.cpp ---- */

static cvl_kernel *backend_prepare(context *c, const superop *op) {
  try {
    return prepare_kernel(*c, op);
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

/* If memory is short, kernels are requested one by one, when they are to run. */
static void backend_prepared(context *c) {
  try {
    request_prepared(*c);
  } catch (const std::bad_alloc &) {
  }
  c->device->leave();
}

static bool run_entry(context *c, uint64_t site, cvl_kernel *k, const cvl_value *operands,
                      cvl_value *outs) {
  static const cvl_backend nodes = backend_over_streams();
  const superop *op = superop_of(k);
  bool done = false;
  for (uint32_t i = 0; i < op->output_count; i++) outs[i] = cvl_value{};
  const bool good = guarded(c, site, nullptr, nullptr,
                            [&] { done = run_kernel(*c, site, k, operands, outs); });
  if (good && !done) return superop_run(&nodes, c, site, op, nullptr, operands, outs);
  for (uint32_t p = 0; p < op->param_count; p++) backend_release_owned(operands[p]);
  for (uint32_t i = 0; i < op->output_count && !good; i++) {
    release_value(outs[i]);
    outs[i] = cvl_value{};
  }
  return good;
}

static void backend_discard(context *c, cvl_kernel *k) {
  discard_kernel(*c, k);
}

static const cvl_superops superops = {backend_prepare, backend_discard, run_entry};
static const cvl_device_memory device_memory = {device_number, from_device, read_device,
                                                to_device};
static const cvl_slices slices = {slice_entry, allocate_entry, fill_entry, concatenate_entry};

cvl_backend backend_over_streams() {
  cvl_backend b{};
  b.version = CVL_VERSION;
  b.close = close_context;
  b.from_host = from_host;
  b.segdes_from_host = segdes_from_host_entry;
  b.to_host = to_host;
  b.scalar = scalar;
  b.retain = retain_value;
  b.release = release_entry;
  b.length = length_entry;
  b.count = count_entry;
  b.resolve = backend_resolve;
  b.require_equal = require_equal;
  b.same = backend_same;
  b.check = backend_check;
  b.statistics = backend_statistics;
  b.fail_allocation = fail_allocation;
  b.apply = backend_apply;
  b.superops = &superops;
  b.device_memory = &device_memory;
  b.slices = &slices;
  b.restart_peak = restart_peak;
  b.require_later = require_later;
  b.prepared = backend_prepared;
  return b;
}

} // namespace ravel
