/* values.c - values between calls: made in the back end, read from it, counted. They belong to
 * no program, so their faults have no source location.
 */
#include "vinterp/machine/machine-private.h"

#include <inttypes.h>

static const struct machine_site outside = {0};

/* Ends what machine_begin began. If `ok`, `made` is the result of an operation, or NULL. A
 * fault that is found only now belongs to the operation. */
static bool machine_values_end(struct machine *m, bool ok, struct value *made) {
  if (ok && !machine_settle(m, &outside)) {
    if (made) value_release(&m->store, made);
    ok = false;
  }
  if (!ok) machine_drain(m);
  machine_end(m);
  return ok;
}

/* Does the same for a value that the caller gets. */
static bool hand_over(struct machine *m, bool ok, struct value *made, struct cvl_value *out) {
  ok = machine_values_end(m, ok, made);
  if (ok) *out = made->flat;
  return ok;
}

bool machine_value_item(struct machine *m, const struct machine_item *item,
                        struct cvl_value *out, struct diag_list *diags) {
  struct value v = {.form = CVL_NOTHING};
  machine_begin(m, diags);
  const bool ok = machine_from_item(m, &outside, item, &v);
  return hand_over(m, ok, &v, out);
}

/* Returns whether vectors of the machine may have such elements; reports a fault if not. */
static bool has_element(struct machine *m, enum cvl_elem elem) {
  return elem == m->widths.int_elem || elem == m->widths.float_elem || elem == CVL_BOOL ||
         machine_fault(m, &outside, "the machine has no elements of type %s",
                       elem_info(elem)->text);
}

bool machine_value_vector(struct machine *m, enum cvl_elem elem, const void *data, uint64_t n,
                          struct cvl_value *out, struct diag_list *diags) {
  struct value v = {.form = CVL_NOTHING};
  machine_begin(m, diags);
  const bool ok = has_element(m, elem) && machine_from_host(m, &outside, elem, n, data, &v);
  return hand_over(m, ok, &v, out);
}

/* Copies the elements if the back end cannot borrow them. */
static bool values_borrow(struct machine *m, enum cvl_elem elem, const void *data, uint64_t n,
                          struct cvl_notice done, struct value *out) {
  const bool fits = has_element(m, elem);
  if (fits && n > 1 && m->backend->sharing) {
    return m->backend->sharing->import_vector(m->context, ++m->site, elem, n, data, done,
                                              &out->flat) ||
           machine_backend_fault(m, &outside);
  }
  const bool ok = fits && machine_from_host(m, &outside, elem, n, data, out);
  done.call(done.with);
  return ok;
}

bool machine_value_import(struct machine *m, enum cvl_elem elem, const void *data, uint64_t n,
                          struct cvl_notice done, struct cvl_value *out,
                          struct diag_list *diags) {
  struct value v = {.form = CVL_NOTHING};
  machine_begin(m, diags);
  const bool ok = values_borrow(m, elem, data, n, done, &v);
  return hand_over(m, ok, &v, out);
}

/* Lets the filler write into memory of the machine, if it cannot write into that of the back
 * end. */
static bool generate_and_copy(struct machine *m, enum cvl_elem elem, uint64_t n,
                              const struct cvl_filler *filler, struct value *out) {
  const uint64_t each = elem_info(elem)->bytes;
  if (n > SIZE_MAX / each) return machine_memory_fault(m, &outside, UINT64_MAX);
  void *all = heap_alloc(m->heap, (size_t)(n * each));
  if (!all) return machine_memory_fault(m, &outside, n * each);
  filler->fill(filler->with, 0, n, all);
  const bool ok = machine_from_host(m, &outside, elem, n, all, out);
  heap_free(m->heap, all, (size_t)(n * each));
  return ok;
}

static bool values_generate(struct machine *m, enum cvl_elem elem, uint64_t n,
                            const struct cvl_filler *filler, struct value *out) {
  if (!m->backend->generators) return generate_and_copy(m, elem, n, filler, out);
  return m->backend->generators->generate(m->context, ++m->site, elem, n, filler, &out->flat) ||
         machine_backend_fault(m, &outside);
}

bool machine_value_generate(struct machine *m, enum cvl_elem elem, uint64_t n,
                            const struct cvl_filler *filler, struct cvl_value *out,
                            struct diag_list *diags) {
  struct value v = {.form = CVL_NOTHING};
  machine_begin(m, diags);
  const bool ok = has_element(m, elem) && values_generate(m, elem, n, filler, &v);
  return hand_over(m, ok, &v, out);
}

/* Makes a descriptor by way of lengths, if the filler cannot write into the back end. */
static bool segdes_by_lengths(struct machine *m, uint64_t n, const struct cvl_filler *filler,
                              struct value *out) {
  if (n > SIZE_MAX / sizeof(int64_t) - 1) return machine_memory_fault(m, &outside, UINT64_MAX);
  const size_t bytes = (size_t)(n + 1) * sizeof(int64_t);
  int64_t *offsets = heap_alloc(m->heap, bytes);
  if (!offsets) return machine_memory_fault(m, &outside, bytes);
  filler->fill(filler->with, 0, n + 1, offsets);
  for (uint64_t k = 0; k < n; k++) offsets[k] = offsets[k + 1] - offsets[k];
  const bool ok = machine_segdes(m, &outside, n, offsets, out);
  heap_free(m->heap, offsets, bytes);
  return ok;
}

static bool values_segdes(struct machine *m, uint64_t n, const struct cvl_filler *filler,
                          struct value *out) {
  if (n == 1 || !m->backend->generators) return segdes_by_lengths(m, n, filler, out);
  return m->backend->generators->generate_segdes(m->context, ++m->site, n, filler,
                                                 &out->flat) ||
         machine_backend_fault(m, &outside);
}

bool machine_value_segdes(struct machine *m, uint64_t n, const struct cvl_filler *filler,
                          struct cvl_value *out, struct diag_list *diags) {
  struct value v = {.form = CVL_NOTHING};
  machine_begin(m, diags);
  return hand_over(m, values_segdes(m, n, filler, &v), &v, out);
}

bool machine_value_export(struct machine *m, const struct cvl_value *value,
                          struct cvl_export *exported) {
  return m->backend->sharing && m->backend->sharing->export_vector(m->context, value, exported);
}

bool machine_device(struct machine *m, int32_t *number) {
  if (!m->backend->device_memory) return false;
  *number = m->backend->device_memory->number(m->context);
  return true;
}

bool machine_value_from_device(struct machine *m, enum cvl_elem elem, const void *data,
                               uint64_t n, struct cvl_value *out, struct diag_list *diags) {
  struct value v = {.form = CVL_NOTHING};
  machine_begin(m, diags);
  const bool ok =
      has_element(m, elem) &&
      (m->backend->device_memory->copy_from(m->context, ++m->site, elem, n, data, &v.flat) ||
       machine_backend_fault(m, &outside));
  return hand_over(m, ok, &v, out);
}

bool machine_read_device(struct machine *m, const void *data, uint64_t bytes, void *to,
                         struct diag_list *diags) {
  machine_begin(m, diags);
  return machine_values_end(
      m,
      m->backend->device_memory->read(m->context, ++m->site, data, bytes, to) ||
          machine_backend_fault(m, &outside),
      NULL);
}

bool machine_value_to_device(struct machine *m, const struct cvl_value *value, uint64_t n,
                             struct cvl_export *exported, struct diag_list *diags) {
  machine_begin(m, diags);
  return machine_values_end(
      m,
      m->backend->device_memory->copy_to(m->context, ++m->site, value, n, exported) ||
          machine_backend_fault(m, &outside),
      NULL);
}

bool machine_value_lengths(struct machine *m, const struct cvl_value *segdes,
                           struct cvl_value *out, struct diag_list *diags) {
  struct value v = {.form = CVL_NOTHING};
  struct cvl_value borrowed = *segdes;
  borrowed.owned = 0;
  machine_begin(m, diags);
  const bool ok = m->backend->apply(m->context, ++m->site,
                                    &CVL_CALL(CALL_LENGTHS, OP_LENGTHS, borrowed), &v.flat) ||
                  machine_backend_fault(m, &outside);
  return hand_over(m, ok, &v, out);
}

bool machine_value_count(struct machine *m, const struct cvl_value *value, uint64_t *n,
                         struct diag_list *diags) {
  const struct value v = value_of(*value);
  uint64_t count;
  machine_begin(m, diags);
  const bool ok = machine_values_end(m, machine_length(m, &outside, &v, &count), NULL);
  if (ok) *n = count;
  return ok;
}

bool machine_value_total(struct machine *m, const struct cvl_value *value, uint64_t *n,
                         struct diag_list *diags) {
  machine_begin(m, diags);
  struct cvl_size size = machine_size(m, value);
  bool ok = !size.symbol || m->backend->resolve(m->context, &size) ||
            machine_backend_fault(m, &outside);
  ok = machine_values_end(m, ok, NULL);
  if (ok) *n = size.bound;
  return ok;
}

static bool values_copy(struct machine *m, const struct value *v, uint64_t first, uint64_t n,
                        void *data) {
  uint64_t length;
  if (!machine_length(m, &outside, v, &length)) return false;
  if (first > length || n > length - first) {
    return machine_fault(m, &outside,
                         "a value of length %" PRIu64 " has no %" PRIu64
                         " elements from %" PRIu64 " on",
                         length, n, first);
  }
  return machine_to_host(m, &outside, v, first, n, data);
}

bool machine_value_copy(struct machine *m, const struct cvl_value *value, uint64_t first,
                        uint64_t n, void *data, struct diag_list *diags) {
  const struct value v = value_of(*value);
  machine_begin(m, diags);
  return machine_values_end(m, values_copy(m, &v, first, n, data), NULL);
}

void machine_retain(struct machine *m, const struct cvl_value *value) {
  const struct value v = value_of(*value);
  value_retain(&m->store, &v);
}

void machine_release(struct machine *m, struct cvl_value *value) {
  struct value v = value_of(*value);
  value_release(&m->store, &v);
  *value = v.flat;
}

struct cvl_statistics machine_statistics(const struct machine *m) {
  return m->backend->statistics(m->context);
}
