// sparse-matrix-vector-library.cu - where rows begin by CUB's scan, then cuSPARSE.
extern "C" {
#include "baseline.h"
}

#include <cub/device/device_scan.cuh>
#include <cusparse.h>

#include <cstdio>
#include <cstdlib>

static void check(cusparseStatus_t status) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  std::fprintf(stderr, "cuSPARSE: %s\n", cusparseGetErrorString(status));
  std::exit(1);
}

static cusparseHandle_t library(void) {
  static cusparseHandle_t handle;
  if (!handle) check(cusparseCreate(&handle));
  return handle;
}

extern "C" void baseline(const struct array *arguments, struct array *results) {
  const int64_t rows = arguments[0].length, count = arguments[1].length;
  const int64_t columns = arguments[3].length;
  real *y = result(results, 0, ARRAY_REAL, rows)->as.r;
  integer *begins = static_cast<integer *>(scratch(0, size_t(rows + 1) * sizeof(integer)));
  size_t bytes = 0;
  cudaMemsetAsync(begins, 0, sizeof(integer));
  cub::DeviceScan::InclusiveSum(nullptr, bytes, arguments[0].as.i, begins + 1, rows);
  cub::DeviceScan::InclusiveSum(scratch(1, bytes), bytes, arguments[0].as.i, begins + 1, rows);

  const cusparseIndexType_t index =
      sizeof(integer) == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
  const cudaDataType number = sizeof(real) == 8 ? CUDA_R_64F : CUDA_R_32F;
  const real one = 1, zero = 0;
  cusparseSpMatDescr_t matrix;
  cusparseDnVecDescr_t from, to;
  check(cusparseCreateCsr(&matrix, rows, columns, count, begins, arguments[1].as.i,
                          arguments[2].as.r, index, index, CUSPARSE_INDEX_BASE_ZERO, number));
  check(cusparseCreateDnVec(&from, columns, arguments[3].as.r, number));
  check(cusparseCreateDnVec(&to, rows, y, number));
  const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  check(cusparseSpMV_bufferSize(library(), plain, &one, matrix, from, &zero, to, number,
                                CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
  check(cusparseSpMV(library(), plain, &one, matrix, from, &zero, to, number,
                     CUSPARSE_SPMV_ALG_DEFAULT, scratch(2, bytes)));
  check(cusparseDestroySpMat(matrix));
  check(cusparseDestroyDnVec(from));
  check(cusparseDestroyDnVec(to));
}
