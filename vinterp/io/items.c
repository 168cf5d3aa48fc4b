/* items.c - values between the stack and host memory, for callers that want data and no text.
 * Elements have 64 bits there, in any widths of the run.
 */
#include "vinterp/machine/machine-private.h"

#include <inttypes.h>
#include <string.h>

/* ---- in ---- */

/* Checks the lengths of a descriptor: none is negative, and their sum fits. */
static bool check_lengths(struct machine *m, const struct machine_site *site,
                          const struct machine_item *item) {
  int64_t total = 0;
  for (uint64_t k = 0; k < item->length; k++) {
    int64_t length = item->as.ints[k];
    if (length < 0 || length > INT64_MAX - total) {
      return machine_fault(
          m, site, "segment %" PRIu64 " of an argument has the bad length %" PRId64, k, length);
    }
    total += length;
  }
  return true;
}

/* Converts the item's elements to the width of the run. */
static bool items_narrow(struct machine *m, const struct machine_site *site,
                         const struct machine_item *item, void *data) {
  for (uint64_t k = 0; k < item->length; k++) {
    if (item->kind == MACHINE_FLOAT) {
      ((float *)data)[k] = (float)item->as.floats[k];
      continue;
    }
    int64_t x = item->as.ints[k];
    if (x < INT32_MIN || x > INT32_MAX) {
      return machine_fault(m, site, "the argument %" PRId64 " does not fit an INT of 32 bits",
                           x);
    }
    ((int32_t *)data)[k] = (int32_t)x;
  }
  return true;
}

static bool from_narrow(struct machine *m, const struct machine_site *site, enum cvl_elem elem,
                        const struct machine_item *item, struct value *out) {
  size_t bytes = (size_t)item->length * elem_info(elem)->bytes;
  void *data = heap_alloc(m->heap, bytes);
  if (!data) return machine_memory_fault(m, site, bytes);
  bool ok = items_narrow(m, site, item, data) &&
            machine_from_host(m, site, elem, item->length, data, out);
  heap_free(m->heap, data, bytes);
  return ok;
}

static void items_nothing(void *with) {
  (void)with;
}

/* Borrows elements that stay until the run has ended. */
static bool items_borrow(struct machine *m, const struct machine_site *site, enum cvl_elem elem,
                         const struct machine_item *item, struct value *out) {
  return m->backend->sharing->import_vector(
             m->context, ++m->site, elem, item->length, item->as.ints,
             (struct cvl_notice){items_nothing, NULL}, &out->flat) ||
         machine_backend_fault(m, site);
}

bool machine_from_item(struct machine *m, const struct machine_site *site,
                       const struct machine_item *item, struct value *out) {
  enum cvl_elem elem = m->widths.int_elem;
  const void *data = item->as.ints;
  switch ((enum machine_item_kind)item->kind) {
  case MACHINE_SEGDES:
    return check_lengths(m, site, item) &&
           machine_segdes(m, site, item->length, item->as.ints, out);
  case MACHINE_BOOL:
    elem = CVL_BOOL;
    data = item->as.bools;
    break;
  case MACHINE_FLOAT:
    elem = m->widths.float_elem;
    data = item->as.floats;
    break;
  case MACHINE_INT: break;
  }
  if (elem == CVL_I32 || elem == CVL_F32) return from_narrow(m, site, elem, item, out);
  if (item->shared && item->length > 1 && m->backend->sharing)
    return items_borrow(m, site, elem, item, out);
  return machine_from_host(m, site, elem, item->length, data, out);
}

/* ---- out ---- */

static size_t item_bytes(const struct machine_item *item) {
  if (item->equal) return sizeof *item->as.ints;
  size_t each = item->kind == MACHINE_BOOL ? sizeof *item->as.bools : sizeof *item->as.ints;
  return (size_t)item->length * each;
}

/* Writing never overwrites elements that are still to be read. */
void machine_widen(enum cvl_elem elem, uint64_t n, char *data) {
  const char *from = data + n * sizeof(int32_t);
  for (uint64_t k = 0; k < n; k++) {
    int32_t i;
    float f;
    memcpy(&i, from + k * sizeof i, sizeof i);
    memcpy(&f, from + k * sizeof f, sizeof f);
    const int64_t wide = i;
    const double real = (double)f;
    memcpy(data + k * sizeof wide, elem == CVL_F32 ? (const void *)&real : &wide, sizeof wide);
  }
}

/* Fetches n narrow elements at once, since a device takes as long for few as for many, and
 * widens them. */
static bool fetch_narrow(struct machine *m, const struct machine_site *site,
                         const struct value *v, uint64_t n, char *data) {
  if (!machine_to_host(m, site, v, 0, n, data + n * sizeof(int32_t))) return false;
  machine_widen((enum cvl_elem)v->flat.elem, n, data);
  return true;
}

/* Exports elements that are as wide in the machine as outside, without a copy, if the back end
 * can. */
static bool export_item(struct machine *m, const struct value *v, struct machine_item *item,
                        struct cvl_export *exported) {
  const bool is_wide =
      v->flat.elem == CVL_I64 || v->flat.elem == CVL_F64 || v->flat.elem == CVL_BOOL;
  if (v->form != CVL_VECTOR || !is_wide || !machine_value_export(m, &v->flat, exported))
    return false;
  item->as.ints = exported->data;
  return true;
}

/* Stores the one length that all segments have. */
static bool take_equal(struct machine *m, const struct machine_site *site, int64_t length,
                       struct machine_item *item) {
  int64_t *one = heap_alloc(m->heap, sizeof *one);
  if (!one) return machine_memory_fault(m, site, sizeof *one);
  *one = length;
  item->equal = true;
  item->as.ints = one;
  return true;
}

bool machine_pair_fault(struct machine *m, const struct machine_site *site) {
  return machine_fault(m, site, "a result of the program is a pair");
}

static bool collect_item(struct machine *m, const struct machine_site *site, uint64_t number,
                         struct machine_item *item, struct cvl_export *exported) {
  const struct value *v = &m->stack[number];
  struct machine_item it = {.kind = MACHINE_INT};
  switch (value_kind(v)) {
  case IR_INT: break;
  case IR_FLOAT: it.kind = MACHINE_FLOAT; break;
  case IR_BOOL: it.kind = MACHINE_BOOL; break;
  case IR_SEGDES: it.kind = MACHINE_SEGDES; break;
  case IR_PAIR:
  case IR_ANY: return machine_pair_fault(m, site);
  }
  if (!machine_length(m, site, v, &it.length)) return false;
  if (own_takes(m, number, (enum machine_item_kind)it.kind, it.length)) {
    it.shared = true;
    *item = it;
    return own_write(m, site, number, v);
  }
  if (it.kind == MACHINE_SEGDES && own_wants_equal(m, number, it.length)) {
    bool equal = false;
    int64_t length = 0;
    *item = it;
    if (!own_equal(m, site, v, &equal, &length)) return false;
    if (equal) return take_equal(m, site, length, item);
  }
  it.as.ints = consumer_of_result(m, number, v);
  it.shared = it.as.ints != NULL;
  *item = it;
  if (it.shared || export_item(m, v, item, exported)) return true;
  if (it.kind == MACHINE_SEGDES && consumer_takes_lengths(m, number, it.length)) {
    item->as.ints = consumer_lengths(m, site, number, it.length, v);
    item->shared = true;
    return item->as.ints != NULL;
  }
  void *data = heap_alloc(m->heap, item_bytes(&it));
  if (!data) return machine_memory_fault(m, site, item_bytes(&it));
  it.as.ints = data;
  *item = it; /* freed with the others even if the following calls fail */
  bool is_narrow = it.kind != MACHINE_SEGDES && it.kind != MACHINE_BOOL &&
                   (v->flat.elem == CVL_I32 || v->flat.elem == CVL_F32);
  return is_narrow ? fetch_narrow(m, site, v, it.length, data)
                   : machine_to_host(m, site, v, 0, it.length, data);
}

/* Allocates empty items and exports for all values of the stack. */
static bool allocate_results(struct machine *m, const struct machine_site *site,
                             struct machine_results *results) {
  const size_t items = (size_t)m->top * sizeof *results->items;
  const size_t exports = (size_t)m->top * sizeof *results->exports;
  results->items = heap_alloc(m->heap, items);
  results->exports = heap_alloc(m->heap, exports);
  if (!results->items || !results->exports) {
    heap_free(m->heap, results->items, items);
    heap_free(m->heap, results->exports, exports);
    *results = (struct machine_results){0};
    return machine_memory_fault(m, site, items + exports);
  }
  results->count = m->top;
  for (uint64_t k = 0; k < m->top; k++) {
    results->items[k] = (struct machine_item){0};
    results->exports[k] = (struct cvl_export){0};
  }
  return true;
}

bool machine_collect(struct machine *m, const struct machine_site *site,
                     struct machine_results *results) {
  if (!allocate_results(m, site, results)) return false;
  for (uint64_t k = 0; k < m->top; k++) {
    if (!collect_item(m, site, k, &results->items[k], &results->exports[k])) {
      machine_results_free(m, results);
      return false;
    }
  }
  return true;
}

void machine_results_free(struct machine *m, struct machine_results *results) {
  for (uint64_t k = 0; k < results->count; k++) {
    struct machine_item *item = &results->items[k];
    const struct cvl_notice *end = &results->exports[k].end;
    if (end->call)
      end->call(end->with);
    else if (!item->shared)
      heap_free(m->heap, (void *)(uintptr_t)item->as.ints, item_bytes(item));
  }
  heap_free(m->heap, results->items, (size_t)results->count * sizeof *results->items);
  heap_free(m->heap, results->exports, (size_t)results->count * sizeof *results->exports);
  *results = (struct machine_results){0};
}
