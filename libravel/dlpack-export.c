/* dlpack-export.c - flat sequences as tensors of DLPack. */
#include "libravel/private.h"

#include "libravel/dlpack.h"

#include <stdlib.h>

/* An exported tensor, which a consumer deletes: its memory is the process's, and not the
 * context's. */
struct exported {
  union {
    DLManagedTensorVersioned versioned;
    DLManagedTensor unversioned;
  } as;
  int64_t shape, stride;
  void *copy;            /* the elements, or NULL: */
  struct cvl_notice end; /* they are shared, or a copy on a device */
  bool shared;
};

static void discard_exported(struct exported *x) {
  if (x->copy) {
    free(x->copy);
  } else {
    x->end.call(x->end.with);
  }
  free(x);
}

static void delete_exported_versioned(DLManagedTensorVersioned *tensor) {
  discard_exported(tensor->manager_ctx);
}

static void delete_exported_unversioned(DLManagedTensor *tensor) {
  discard_exported(tensor->manager_ctx);
}

/* ---- elements ---- */

/* Returns how the elements of a type leave. */
static enum ravel_element leaves_as(const struct ravel_context *c, enum type_tag tag,
                                    DLDataType *type) {
  const bool wide_int = c->options.machine.widths.int_elem == CVL_I64;
  const bool wide_float = c->options.machine.widths.float_elem == CVL_F64;
  switch (tag) {
  case TYPE_BOOL: *type = (DLDataType){kDLBool, 8, 1}; return RAVEL_BOOL8;
  case TYPE_CHAR: *type = (DLDataType){kDLUInt, 8, 1}; return RAVEL_CHAR8;
  case TYPE_FLOAT:
    *type = (DLDataType){kDLFloat, wide_float ? 64 : 32, 1};
    return wide_float ? RAVEL_FLOAT64 : RAVEL_FLOAT32;
  default: break;
  }
  *type = (DLDataType){kDLInt, wide_int ? 64 : 32, 1};
  return wide_int ? RAVEL_INT64 : RAVEL_INT32;
}

static enum ravel_code copy_tensor(struct ravel_context *c, const struct cvl_value *elements,
                                   enum ravel_element element, DLTensor *tensor,
                                   struct exported *x) {
  enum { ALIGNMENT = 256 }; /* what the standard wants */
  const size_t bytes = (size_t)x->shape * (tensor->dtype.bits / 8u);
  x->copy = aligned_alloc(ALIGNMENT, bytes / ALIGNMENT * ALIGNMENT + ALIGNMENT);
  tensor->data = x->copy;
  if (!x->copy) return ravel_fail(c, RAVEL_MEMORY, "no memory for a tensor");
  return ravel_elements_out(c, elements, element, 0, (size_t)x->shape, x->copy);
}

static bool export_tensor_in_place(struct ravel_context *c, const struct cvl_value *elements,
                                   DLTensor *tensor, struct exported *x) {
  struct cvl_export exported;
  if (x->shape * (tensor->dtype.bits / 8) < RAVEL_WORTH_BORROWING) return false;
  if (tensor->dtype.code == kDLUInt || !ravel_export_vector(c, elements, &exported)) {
    return false;
  }
  tensor->data = (void *)(uintptr_t)exported.data; /* the flag says that it is only read */
  x->end = exported.end;
  x->shared = true;
  return true;
}

/* Exports elements of vectors on a device, which stay there. */
static enum ravel_code copy_on_device(struct ravel_context *c, const struct cvl_value *elements,
                                      int32_t device, DLTensor *tensor, struct exported *x) {
  struct cvl_export exported;
  tensor->device = (DLDevice){kDLCUDA, device};
  if (!machine_value_to_device(c->machine, elements, (uint64_t)x->shape, &exported, c->diags)) {
    return ravel_fail_machine(c);
  }
  tensor->data = (void *)(uintptr_t)exported.data;
  x->end = exported.end;
  return RAVEL_OK;
}

/* ---- tensors ---- */

/* Fills in the tensor, shared only if it may be. */
static enum ravel_code fill_tensor(struct ravel_context *c, const struct ravel_value *v,
                                   bool may_export, DLTensor *tensor, struct exported *x) {
  const struct cvl_value *elements = &v->columns[1];
  const enum type_tag tag = v->type->part[0]->tag;
  uint64_t n;
  int32_t device;
  if (!machine_value_count(c->machine, elements, &n, c->diags)) return ravel_fail_machine(c);
  x->shape = (int64_t)n;
  x->stride = 1;
  *tensor = (DLTensor){
      .device = {.device_type = kDLCPU}, .ndim = 1, .shape = &x->shape, .strides = &x->stride};
  const enum ravel_element element = leaves_as(c, tag, &tensor->dtype);
  if (tag != TYPE_CHAR && machine_device(c->machine, &device)) {
    return copy_on_device(c, elements, device, tensor, x);
  }
  if (may_export && export_tensor_in_place(c, elements, tensor, x)) return RAVEL_OK;
  return copy_tensor(c, elements, element, tensor, x);
}

static enum ravel_code check_exported(struct ravel_context *c, const struct ravel_value *v,
                                      const void *out) {
  if (!ravel_value_is_ours(c, v)) return RAVEL_MISUSE;
  if (!out) return ravel_fail(c, RAVEL_MISUSE, "an argument is NULL");
  if (v->type->tag == TYPE_SEQUENCE && v->type->part[0]->tag <= TYPE_CHAR) return RAVEL_OK;
  return ravel_fail(c, RAVEL_DATA,
                    "%s is no flat sequence of int, float, bool or char, and so no tensor",
                    ravel_type_text(v->type));
}

static enum ravel_code make_exported_tensor(struct ravel_context *c,
                                            const struct ravel_value *v, bool versioned,
                                            const void *out, struct exported **made) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  enum ravel_code code = check_exported(c, v, out);
  if (code != RAVEL_OK) return code;
  struct exported *x = calloc(1, sizeof *x);
  if (!x) return ravel_fail(c, RAVEL_MEMORY, "no memory for a tensor");
  code = fill_tensor(c, v, versioned,
                     versioned ? &x->as.versioned.dl_tensor : &x->as.unversioned.dl_tensor, x);
  if (code == RAVEL_OK) {
    *made = x;
    return RAVEL_OK;
  }
  free(x->copy);
  free(x);
  return code;
}

enum ravel_code ravel_export_dlpack(struct ravel_context *c, const struct ravel_value *v,
                                    struct DLManagedTensorVersioned **out) {
  struct exported *x = NULL;
  const enum ravel_code code = make_exported_tensor(c, v, true, out, &x);
  if (!x) return code;
  DLManagedTensorVersioned *t = *out = &x->as.versioned;
  t->version = (DLPackVersion){1, 0};
  t->flags = x->shared ? DLPACK_FLAG_BITMASK_READ_ONLY : DLPACK_FLAG_BITMASK_IS_COPIED;
  t->manager_ctx = x;
  t->deleter = delete_exported_versioned;
  return RAVEL_OK;
}

enum ravel_code ravel_export_dlpack_unversioned(struct ravel_context *c,
                                                const struct ravel_value *v,
                                                struct DLManagedTensor **out) {
  struct exported *x = NULL;
  const enum ravel_code code = make_exported_tensor(c, v, false, out, &x);
  if (!x) return code;
  DLManagedTensor *t = *out = &x->as.unversioned;
  t->manager_ctx = x;
  t->deleter = delete_exported_unversioned;
  return RAVEL_OK;
}
