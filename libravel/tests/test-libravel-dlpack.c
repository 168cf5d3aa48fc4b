/* test-libravel-dlpack.c - tensors of DLPack into a context and out of it. */
#include "context.h"
#include "libravel/dlpack.h"
#include "libravel/tests/lender.h"

TestSuite(dlpack);

enum { MANY = 100000 };

static struct ravel_context *dlpack_context_of(const char *width) {
  return context_with((const char *const[]){"int", width, "float", width, NULL});
}

/* ---- a producer ---- */

static int deletions;

static void delete_versioned(struct DLManagedTensorVersioned *t) {
  (void)t;
  deletions++;
}

static void delete_unversioned(struct DLManagedTensor *t) {
  (void)t;
  deletions++;
}

static DLTensor tensor_of(const void *data, uint8_t code, uint8_t bits, int32_t dimensions,
                          int64_t *shape) {
  return (DLTensor){.data = (void *)(uintptr_t)data,
                    .device = {kDLCPU, 0},
                    .ndim = dimensions,
                    .dtype = {code, bits, 1},
                    .shape = shape};
}

static DLManagedTensorVersioned managed(DLTensor tensor, uint64_t flags) {
  return (DLManagedTensorVersioned){
      .version = {1, 0}, .deleter = delete_versioned, .flags = flags, .dl_tensor = tensor};
}

static struct ravel_value *import(struct ravel_context *c, DLTensor tensor) {
  DLManagedTensorVersioned t = managed(tensor, 0);
  struct ravel_value *v = NULL;
  const int before = deletions;
  fine(c, ravel_import_dlpack(c, &t, &v));
  cr_expect_eq(deletions, before + 1);
  return v;
}

static double dlpack_number(struct ravel_context *c, const char *text, struct ravel_value *xs) {
  struct ravel_function *f = NULL;
  struct ravel_value *v = NULL;
  double x = 0;
  fine(c, ravel_expression(c, text, "xs", ravel_type(xs), &f));
  fine(c, ravel_call(c, f, &xs, 1, &v));
  fine(c, ravel_get_float(c, v, &x));
  ravel_release(v);
  ravel_function_release(f);
  return x;
}

/* ---- imports ---- */

#define EXPECT_SUM(code, bits, type, text, expected, ...)                                      \
  do {                                                                                         \
    const type data[] = __VA_ARGS__;                                                           \
    int64_t n = sizeof data / sizeof *data;                                                    \
    struct ravel_value *v = import(c, tensor_of(data, code, bits, 1, &n));                     \
    cr_expect_eq(dlpack_number(c, text, v), expected, #type);                                  \
    ravel_release(v);                                                                          \
  } while (0)

Test(dlpack, each_type_is_imported) {
  const char *const widths[] = {"64", "32"};
  for (int i = 0; i < 2; i++) {
    struct ravel_context *c = dlpack_context_of(widths[i]);
    EXPECT_SUM(kDLInt, 8, int8_t, "float(sum(xs))", -124, {-128, 4});
    EXPECT_SUM(kDLInt, 16, int16_t, "float(sum(xs))", -32764, {-32768, 4});
    EXPECT_SUM(kDLInt, 32, int32_t, "float(sum(xs))", -70000, {-70004, 4});
    EXPECT_SUM(kDLInt, 64, int64_t, "float(sum(xs))", -70000, {-70004, 4});
    EXPECT_SUM(kDLUInt, 8, uint8_t, "float(sum(xs))", 259, {255, 4});
    EXPECT_SUM(kDLUInt, 16, uint16_t, "float(sum(xs))", 65539, {65535, 4});
    EXPECT_SUM(kDLUInt, 32, uint32_t, "float(sum(xs))", 70004, {70000, 4});
    EXPECT_SUM(kDLFloat, 32, float, "sum(xs)", 4.75, {0.5f, 4.25f});
    EXPECT_SUM(kDLFloat, 64, double, "sum(xs)", 4.75, {0.5, 4.25});
    EXPECT_SUM(kDLBool, 8, uint8_t, "float(count(xs))", 2, {1, 0, 1});
    ravel_context_free(c);
  }
}

Test(dlpack, dimensions_become_sequences) {
  struct ravel_context *c = dlpack_context_of("64");
  int64_t data[24], shape[] = {2, 3, 4}, strides[] = {12, 4, 1}, one[] = {1, 24},
                    none[] = {3, 0};
  for (int i = 0; i < 24; i++) data[i] = i;
  DLTensor t = tensor_of(data, kDLInt, 64, 3, shape);
  struct ravel_value *v = import(c, t);
  cr_expect_str_eq(ravel_type(v), "[[[int]]]");
  cr_expect_eq(dlpack_number(c, "float(xs[1][2][3] - xs[1][0][2])", v), 23 - 14);
  ravel_release(v);
  t.strides = strides;
  t.ndim = 2;
  t.shape = shape + 1;
  t.strides = strides + 1;
  t.byte_offset = 12 * sizeof *data;
  v = import(c, t);
  cr_expect_eq(dlpack_number(c, "float(xs[2][0])", v), 20);
  v = import(c, tensor_of(data, kDLInt, 64, 2, one));
  cr_expect_eq(dlpack_number(c, "float(#xs[0])", v), 24);
  v = import(c, tensor_of(NULL, kDLInt, 64, 2, none));
  cr_expect_eq(dlpack_number(c, "float(#xs + #xs[2])", v), 3);
  ravel_context_free(c);
}

static struct ravel_value *import_many(struct ravel_context *c, struct lender *l,
                                       uint64_t flags) {
  static double data[MANY];
  static int64_t shape[] = {MANY};
  static DLManagedTensorVersioned t;
  struct ravel_value *v = NULL;
  for (int i = 0; i < MANY; i++) data[i] = i;
  lender_begin(l, data, sizeof data, 0);
  t = managed(tensor_of(l->data, kDLFloat, 64, 1, shape), flags);
  fine(c, ravel_import_dlpack(c, &t, &v));
  return v;
}

Test(dlpack, what_nobody_writes_is_borrowed) {
  struct ravel_context *c = dlpack_context_of("64");
  const uint64_t flags[] = {0, DLPACK_FLAG_BITMASK_READ_ONLY, DLPACK_FLAG_BITMASK_IS_COPIED};
  for (int i = 0; i < 3; i++) {
    struct lender l;
    deletions = 0;
    struct ravel_value *v = import_many(c, &l, flags[i]);
    cr_expect_eq(deletions, i == 0);
    cr_expect_eq(dlpack_number(c, "xs[99999]", v), 99999);
    ravel_release(v);
    cr_expect_eq(deletions, 1);
    lender_end(&l);
  }
  struct lender l;
  import_many(c, &l, DLPACK_FLAG_BITMASK_READ_ONLY);
  ravel_context_free(c);
  cr_expect_eq(deletions, 2);
  lender_end(&l);
}

/* ---- refusals ---- */

static void dlpack_refuse(struct ravel_context *c, DLTensor tensor, const char *text) {
  DLManagedTensorVersioned t = managed(tensor, DLPACK_FLAG_BITMASK_READ_ONLY);
  DLManagedTensor u = {.dl_tensor = tensor, .deleter = delete_unversioned};
  struct ravel_value *v = NULL;
  deletions = 0;
  fails(c, RAVEL_DATA, text, ravel_import_dlpack(c, &t, &v));
  fails(c, RAVEL_DATA, text, ravel_import_dlpack_unversioned(c, &u, &v));
  cr_expect_null(v);
  cr_expect_eq(deletions, 2);
}

Test(dlpack, what_cannot_be_imported_is_refused_and_deleted) {
  struct ravel_context *c = dlpack_context_of("32");
  int64_t data[6] = {1, 2, 3, INT64_C(1) << 40}, n[] = {6}, two[] = {2, 3}, strides[] = {1, 2};
  cr_expect_eq(ravel_cuda_device(c), -1);
  int64_t wrong[] = {-1}, large[] = {INT64_C(1) << 40, INT64_C(1) << 40};
  const DLTensor fit = tensor_of(data, kDLInt, 64, 1, n);
  DLTensor t = fit;
  t.dtype.code = kDLUInt;
  dlpack_refuse(c, t, "code 1, 64 bits and 1 lanes cannot be imported: convert it");
  t = fit, t.dtype.lanes = 2;
  dlpack_refuse(c, t, "2 lanes");
  t = fit, t.device.device_type = kDLCUDA;
  dlpack_refuse(c, t,
                "the tensor is on CUDA device 0, and this context on the CPU: open it with the "
                "back end cuda, or copy");
  t = fit, t.device.device_type = 10;
  dlpack_refuse(c, t, "device type 10");
  t = fit, t.ndim = 0;
  dlpack_refuse(c, t, "0 dimensions");
  t = fit, t.ndim = 2, t.shape = two, t.strides = strides;
  dlpack_refuse(c, t, "contiguous");
  t = fit, t.shape = wrong;
  dlpack_refuse(c, t, "dimension 0 of a tensor has -1 elements");
  t = fit, t.ndim = 2, t.shape = large;
  dlpack_refuse(c, t, "dimension 0 of a tensor has 1099511627776 elements");
  t = fit, t.data = NULL;
  dlpack_refuse(c, t, "6 elements without data");
  dlpack_refuse(c, fit, "element 3, 1099511627776, does not fit an INT of 32 bits");
  struct ravel_value *v = NULL;
  DLManagedTensorVersioned late = managed(fit, 0);
  late.version.major = 2;
  fails(c, RAVEL_DATA, "DLPack 2.0", ravel_import_dlpack(c, &late, &v));
  fails(c, RAVEL_MISUSE, "NULL", ravel_import_dlpack(c, NULL, &v));
  fails(c, RAVEL_MISUSE, "NULL", ravel_import_dlpack(c, &late, NULL));
  cr_expect_eq(deletions, 4);
  ravel_context_free(c);
}

/* ---- exports ---- */

static struct ravel_value *dlpack_result(struct ravel_context *c, const char *text) {
  struct ravel_function *f = NULL;
  struct ravel_value *v = NULL;
  fine(c, ravel_expression(c, text, "", "", &f));
  fine(c, ravel_call(c, f, NULL, 0, &v));
  return v;
}

Test(dlpack, exports_share_large_results) {
  struct ravel_context *c = dlpack_context_of("64");
  struct ravel_value *v = dlpack_result(c, "{float(i) * 0.5 : i in [0:100000]}");
  DLManagedTensorVersioned *t[2] = {NULL};
  DLManagedTensor *u = NULL;
  for (int i = 0; i < 2; i++) {
    fine(c, ravel_export_dlpack(c, v, &t[i]));
    cr_expect_eq(t[i]->version.major, 1);
    cr_expect_eq(t[i]->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
    cr_expect_eq(t[i]->dl_tensor.dtype.code, kDLFloat);
    cr_expect_eq(t[i]->dl_tensor.shape[0], MANY);
  }
  cr_expect_eq(t[0]->dl_tensor.data, t[1]->dl_tensor.data);
  fine(c, ravel_export_dlpack_unversioned(c, v, &u));
  cr_expect_neq(u->dl_tensor.data, t[0]->dl_tensor.data);
  t[1]->deleter(t[1]);
  ravel_context_free(c);
  for (int i = 0; i < MANY; i++) {
    cr_assert_eq(((const double *)t[0]->dl_tensor.data)[i], i * 0.5);
    cr_assert_eq(((const double *)u->dl_tensor.data)[i], i * 0.5);
  }
  t[0]->deleter(t[0]);
  u->deleter(u);
}

static void expect_tensor(struct ravel_context *c, const char *text, uint8_t code, uint8_t bits,
                          const void *data, size_t bytes) {
  struct ravel_value *v = dlpack_result(c, text), *again = NULL;
  DLManagedTensorVersioned *t = NULL;
  fine(c, ravel_export_dlpack(c, v, &t));
  const DLTensor *x = &t->dl_tensor;
  cr_expect_eq(t->flags, DLPACK_FLAG_BITMASK_IS_COPIED);
  cr_expect_eq(x->dtype.code, code, "%s", text);
  cr_expect_eq(x->dtype.bits, bits);
  cr_expect_eq((size_t)x->shape[0] * bits / 8, bytes);
  if (bytes > 0) cr_expect_arr_eq(x->data, data, bytes);
  fine(c, ravel_import_dlpack(c, t, &again));
  cr_expect(ravel_type(again)[0] == '[');
  ravel_release(again);
  ravel_release(v);
}

Test(dlpack, each_type_is_exported) {
  struct ravel_context *c = dlpack_context_of("64"), *narrow = dlpack_context_of("32");
  expect_tensor(c, "[1, -2]", kDLInt, 64, (int64_t[]){1, -2}, 16);
  expect_tensor(narrow, "[1, -2]", kDLInt, 32, (int32_t[]){1, -2}, 8);
  expect_tensor(c, "[0.5]", kDLFloat, 64, (double[]){0.5}, 8);
  expect_tensor(narrow, "[0.5]", kDLFloat, 32, (float[]){0.5f}, 4);
  expect_tensor(c, "[t, f, t]", kDLBool, 8, "\1\0\1", 3);
  expect_tensor(c, "\"abc\"", kDLUInt, 8, "abc", 3);
  expect_tensor(c, "[] int", kDLInt, 64, "", 0);
  struct ravel_value *v = dlpack_result(c, "[[1]]");
  DLManagedTensorVersioned *t = NULL;
  fails(c, RAVEL_DATA, "[[int]] is no flat sequence", ravel_export_dlpack(c, v, &t));
  cr_expect_null(t);
  ravel_context_free(c);
  ravel_context_free(narrow);
}

#ifdef RAVEL_TEST_BACKENDS
/* ---- on a device: the emulated one, whose memory for others the host can read ---- */

static struct ravel_context *dlpack_on_device(const char *width) {
  setenv("RAVEL_BACKENDS", RAVEL_TEST_BACKENDS, 1);
  setenv("RAVEL_EMULATION", "check,deferred,small=0", 1);
  return context_with(
      (const char *const[]){"backend", "cuda-emu", "int", width, "float", width, NULL});
}

static DLManagedTensorVersioned *exported(struct ravel_context *c, const char *text) {
  struct ravel_value *v = dlpack_result(c, text);
  DLManagedTensorVersioned *t = NULL;
  fine(c, ravel_export_dlpack(c, v, &t));
  ravel_release(v);
  return t;
}

Test(dlpack_on_a_device, goes_from_context_to_context) {
  struct ravel_context *c = dlpack_on_device("64"), *d = dlpack_on_device("64"),
                       *narrow = dlpack_on_device("32");
  DLManagedTensorVersioned *t = exported(c, "{float(i) * 0.5 : i in [0:100000]}");
  struct ravel_value *v = NULL;
  cr_expect_eq(t->dl_tensor.device.device_type, kDLCUDA);
  cr_expect_eq(t->dl_tensor.shape[0], MANY);
  cr_expect_eq(t->flags, DLPACK_FLAG_BITMASK_IS_COPIED);
  ravel_context_free(c);
  fine(d, ravel_import_dlpack(d, t, &v));
  cr_expect_eq(dlpack_number(d, "sum(xs)", v), 0.25 * MANY * (MANY - 1.0));
  ravel_release(v);
  t = exported(d, "[1, -2, 3]");
  fine(narrow, ravel_import_dlpack(narrow, t, &v));
  cr_expect_eq(dlpack_number(narrow, "float(sum(xs))", v), 2);
  t = exported(d, "[1, 2 * 1073741824]");
  fails(narrow, RAVEL_DATA, "element 1, 2147483648, does not fit an INT of 32 bits",
        ravel_import_dlpack(narrow, t, &v));
  ravel_context_free(narrow);
  ravel_context_free(d);
}

Test(dlpack_on_a_device, each_type) {
  struct ravel_context *c = dlpack_on_device("64");
  expect_tensor(c, "[1, -2]", kDLInt, 64, (int64_t[]){1, -2}, 16);
  expect_tensor(c, "[0.5]", kDLFloat, 64, (double[]){0.5}, 8);
  expect_tensor(c, "[t, f, t]", kDLBool, 8, "\1\0\1", 3);
  expect_tensor(c, "\"abc\"", kDLUInt, 8, "abc", 3);
  expect_tensor(c, "[] float", kDLFloat, 64, "", 0);
  DLManagedTensorVersioned *t = exported(c, "[t, f, t]"), *s = exported(c, "\"abc\"");
  struct ravel_value *v = NULL;
  cr_expect_eq(s->dl_tensor.device.device_type, kDLCPU);
  ((uint8_t *)t->dl_tensor.data)[2] = 7; /* true to others */
  fine(c, ravel_import_dlpack(c, t, &v));
  cr_expect_eq(dlpack_number(c, "float(count(xs))", v), 2);
  s->deleter(s);
  ravel_context_free(c);
}

Test(dlpack_on_a_device, several_dimensions_and_what_is_elsewhere) {
  struct ravel_context *c = dlpack_on_device("64");
  DLManagedTensorVersioned *t = exported(c, "{i * i : i in [0:6]}");
  DLManagedTensor *u = NULL;
  struct ravel_value *v = NULL, *w = dlpack_result(c, "[1, 2]");
  const int32_t device = t->dl_tensor.device.device_id;
  int64_t shape[] = {2, 3}, n = 2, data[] = {4, 5};
  DLTensor wide = t->dl_tensor;
  wide.ndim = 2, wide.shape = shape, wide.strides = NULL;
  v = import(c, wide);
  cr_expect_eq(dlpack_number(c, "float(xs[1][2] + #xs[0])", v), 28);
  wide.byte_offset = sizeof data, wide.ndim = 1;
  v = import(c, wide);
  cr_expect_eq(dlpack_number(c, "float(xs[0] * 100 + xs[1])", v), 409);
  t->dl_tensor.device.device_id++;
  fails(c, RAVEL_DATA, "and this context on device ", ravel_import_dlpack(c, t, &v));
  cr_expect_gt(device, 1000, "somebody may take it for a GPU");
  cr_expect_eq(ravel_cuda_device(c), device);
  fine(c, ravel_export_dlpack_unversioned(c, w, &u));
  cr_expect_eq(u->dl_tensor.device.device_type, kDLCUDA);
  fine(c, ravel_import_dlpack_unversioned(c, u, &v));
  cr_expect_eq(dlpack_number(c, "float(sum(xs))", v), 3);
  v = import(c, tensor_of(data, kDLInt, 64, 1, &n)); /* of the host */
  cr_expect_eq(dlpack_number(c, "float(sum(xs))", v), 9);
  ravel_context_free(c);
}
#endif
