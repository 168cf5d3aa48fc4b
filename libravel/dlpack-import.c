/* dlpack-import.c - tensors of DLPack as sequences. */
#include "libravel/private.h"

#include "libravel/dlpack.h"

#include <inttypes.h>

/* A tensor that has been taken over. */
struct taken {
  const DLTensor *tensor;
  DLPackVersion version;
  bool may_borrow; /* nobody changes it */
  bool on_device;  /* that of the context */
  struct cvl_notice done;
  enum ravel_element element;
  const void *data;
  uint64_t length; /* elements */
};

/* ---- what it must be ---- */

static const struct {
  uint8_t code, bits;
  enum ravel_element element;
} elements[] = {{kDLBool, 8, RAVEL_BOOL8},     {kDLInt, 8, RAVEL_INT8},
                {kDLInt, 16, RAVEL_INT16},     {kDLInt, 32, RAVEL_INT32},
                {kDLInt, 64, RAVEL_INT64},     {kDLUInt, 8, RAVEL_UINT8},
                {kDLUInt, 16, RAVEL_UINT16},   {kDLUInt, 32, RAVEL_UINT32},
                {kDLFloat, 32, RAVEL_FLOAT32}, {kDLFloat, 64, RAVEL_FLOAT64}};

static enum ravel_code check_tensor_type(struct ravel_context *c, struct taken *t) {
  const DLDataType type = t->tensor->dtype;
  for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
    t->element = elements[i].element;
    if (type.lanes == 1 && type.code == elements[i].code && type.bits == elements[i].bits) {
      return RAVEL_OK;
    }
  }
  return ravel_fail(
      c, RAVEL_DATA,
      "a tensor of DLPack's data type with code %d, %d bits and %d lanes cannot be "
      "imported: convert it to bool, int8 to int64, uint8 to uint32, float32 or "
      "float64",
      type.code, type.bits, type.lanes);
}

static enum ravel_code check_tensor_device(struct ravel_context *c, struct taken *t) {
  const DLDevice device = t->tensor->device;
  int32_t ours;
  if (device.device_type == kDLCPU || device.device_type == kDLCUDAHost) return RAVEL_OK;
  if (device.device_type != kDLCUDA && device.device_type != kDLCUDAManaged) {
    return ravel_fail(c, RAVEL_DATA,
                      "the tensor is on DLPack's device type %d, of which this context cannot "
                      "import: copy it to the memory of the CPU first",
                      (int)device.device_type);
  }
  if (!machine_device(c->machine, &ours)) {
    return ravel_fail(c, RAVEL_DATA,
                      "the tensor is on CUDA device %" PRId32 ", and this context on the CPU: "
                      "open it with the back end cuda, or copy the tensor to the memory of the "
                      "CPU first",
                      device.device_id);
  }
  t->on_device = true;
  if (device.device_id == ours) return RAVEL_OK;
  return ravel_fail(c, RAVEL_DATA,
                    "the tensor is on CUDA device %" PRId32
                    ", and this context on device %" PRId32 ": copy the tensor there first",
                    device.device_id, ours);
}

/* Counts the elements: the product of the shape, each of which has memory of its own. */
static enum ravel_code check_shape(struct ravel_context *c, struct taken *t) {
  enum { MOST_DIMENSIONS = 64 };
  const DLTensor *x = t->tensor;
  if (x->ndim < 1 || x->ndim > MOST_DIMENSIONS || !x->shape) {
    return ravel_fail(c, RAVEL_DATA, "a tensor of %d dimensions, and not 1 to %d", x->ndim,
                      MOST_DIMENSIONS);
  }
  t->length = 1;
  bool compact = true;
  for (int32_t i = x->ndim - 1; i >= 0; i--) {
    const int64_t n = x->shape[i];
    compact &= !x->strides || n <= 1 || x->strides[i] == (int64_t)t->length;
    if (n < 0 || (n > 0 && t->length > (uint64_t)(INT64_MAX / 16 / n))) {
      return ravel_fail(c, RAVEL_DATA, "dimension %d of a tensor has %" PRId64 " elements", i,
                        n);
    }
    t->length *= (uint64_t)n;
  }
  if (compact || t->length == 0) return RAVEL_OK;
  return ravel_fail(c, RAVEL_DATA,
                    "the tensor's elements do not follow one another in memory: make it "
                    "contiguous first");
}

static enum ravel_code check_tensor(struct ravel_context *c, struct taken *t) {
  if (t->version.major != 1) {
    return ravel_fail(c, RAVEL_DATA, "a tensor of DLPack %" PRIu32 ".%" PRIu32 ", and not 1",
                      t->version.major, t->version.minor);
  }
  enum ravel_code code = check_tensor_type(c, t);
  if (code == RAVEL_OK) code = check_tensor_device(c, t);
  if (code == RAVEL_OK) code = check_shape(c, t);
  if (code != RAVEL_OK) return code;
  t->data = (const char *)t->tensor->data + t->tensor->byte_offset;
  if (t->tensor->data || t->length == 0) return RAVEL_OK;
  return ravel_fail(c, RAVEL_DATA, "a tensor of %" PRIu64 " elements without data", t->length);
}

/* ---- its columns ---- */

static void fill_equal(void *with, uint64_t first, uint64_t n, void *to) {
  const int64_t *length = with;
  for (uint64_t i = 0; i < n; i++) ((int64_t *)to)[i] = (int64_t)(first + i) * *length;
}

/* Adds the lengths of rows. Dimension 0 has one; each other has as many as the dimensions
 * before it have elements. */
static enum ravel_code add_dimensions(struct ravel_context *c, const struct taken *t,
                                      struct ravel_value *v) {
  uint64_t rows = 1;
  for (int32_t i = 0; i < t->tensor->ndim; i++) {
    if (!machine_value_segdes(c->machine, rows,
                              &(struct cvl_filler){fill_equal, &t->tensor->shape[i]},
                              &v->columns[i], c->diags)) {
      return ravel_fail_machine(c);
    }
    rows *= (uint64_t)t->tensor->shape[i];
  }
  return RAVEL_OK;
}

/* Converts the elements by way of the host's memory. */
static enum ravel_code convert_from_device(struct ravel_context *c, const struct taken *t,
                                           struct cvl_value *out) {
  const size_t bytes = (size_t)t->length * ravel_element_bytes(t->element);
  void *there = heap_alloc(&c->heap, bytes);
  if (!there) return ravel_fail_memory(c);
  const enum ravel_code code = machine_read_device(c->machine, t->data, bytes, there, c->diags)
                                   ? ravel_elements_in(c, t->element, there, t->length, out)
                                   : ravel_fail_machine(c);
  heap_free(&c->heap, there, bytes);
  return code;
}

/* Adds elements in memory of the device. The bytes of a bool may be others than 0 and 1. */
static enum ravel_code add_from_device(struct ravel_context *c, const struct taken *t,
                                       struct cvl_value *out) {
  if (t->element == RAVEL_BOOL8 || !ravel_elements_agree(c, t->element)) {
    return convert_from_device(c, t, out);
  }
  return machine_value_from_device(c->machine, ravel_elem_for(c, t->element), t->data,
                                   t->length, out, c->diags)
             ? RAVEL_OK
             : ravel_fail_machine(c);
}

/* Adds the elements. If they are copied, it ends the borrowing at once. */
static enum ravel_code add_elements(struct ravel_context *c, struct taken *t,
                                    struct cvl_value *out) {
  const enum cvl_elem elem = ravel_elem_for(c, t->element);
  if (t->on_device && t->length > 0) return add_from_device(c, t, out);
  if (!t->may_borrow || !ravel_elements_agree(c, t->element) ||
      t->length * elem_info(elem)->bytes < RAVEL_WORTH_BORROWING) {
    return ravel_elements_in(c, t->element, t->data, t->length, out);
  }
  const struct cvl_notice done = t->done;
  t->done.call = NULL;
  return machine_value_import(c->machine, elem, t->data, t->length, done, out, c->diags)
             ? RAVEL_OK
             : ravel_fail_machine(c);
}

static enum ravel_code import_tensor(struct ravel_context *c, struct taken *t,
                                     struct ravel_value **out) {
  enum ravel_code code = check_tensor(c, t);
  if (code != RAVEL_OK) return code;
  struct type *type = c->base[ravel_element_type(t->element)];
  for (int32_t i = 0; i < t->tensor->ndim && type; i++) type = ravel_type_sequence(c, type);
  struct ravel_value *v = type ? ravel_value_new(c, type) : NULL;
  if (!v) return c->code;
  code = add_dimensions(c, t, v);
  if (code == RAVEL_OK) code = add_elements(c, t, &v->columns[t->tensor->ndim]);
  if (code == RAVEL_OK) {
    *out = v;
  } else {
    ravel_release(v);
  }
  return code;
}

/* Imports the tensor, which is deleted once, whatever happens: now, or when its last reader has
 * ended. */
static enum ravel_code take_tensor(struct ravel_context *c, struct taken *t,
                                   struct ravel_value **out) {
  enum ravel_code code = RAVEL_MISUSE;
  if (ravel_begin(c)) {
    stop_begin(&c->stop, 0);
    code = out && t->tensor ? import_tensor(c, t, out)
                            : ravel_fail(c, RAVEL_MISUSE, "an argument is NULL");
  }
  if (t->done.call) t->done.call(t->done.with);
  return code;
}

static void delete_imported_versioned(void *tensor) {
  DLManagedTensorVersioned *t = tensor;
  if (t && t->deleter) t->deleter(t);
}

static void delete_imported_unversioned(void *tensor) {
  DLManagedTensor *t = tensor;
  if (t && t->deleter) t->deleter(t);
}

enum ravel_code ravel_import_dlpack(struct ravel_context *c,
                                    struct DLManagedTensorVersioned *tensor,
                                    struct ravel_value **out) {
  const uint64_t unchanged = DLPACK_FLAG_BITMASK_READ_ONLY | DLPACK_FLAG_BITMASK_IS_COPIED;
  struct taken t = {.done = {delete_imported_versioned, tensor}};
  if (tensor) {
    t.tensor = &tensor->dl_tensor;
    t.version = tensor->version;
    t.may_borrow = (tensor->flags & unchanged) != 0;
  }
  return take_tensor(c, &t, out);
}

enum ravel_code ravel_import_dlpack_unversioned(struct ravel_context *c,
                                                struct DLManagedTensor *tensor,
                                                struct ravel_value **out) {
  struct taken t = {.version = {1, 0}, .done = {delete_imported_unversioned, tensor}};
  if (tensor) t.tensor = &tensor->dl_tensor;
  return take_tensor(c, &t, out);
}
