/* prefix.hpp - computes prefix(x, n, w) of trees.h for sums of FLOATs, line by line. */
#ifndef RAVEL_CUDA_PREFIX_HPP
#define RAVEL_CUDA_PREFIX_HPP

#include <algorithm>
#include <vector>

#include "cvl/cvl.h"
#include "cvl/trees.h"

inline std::vector<double> prefix(const std::vector<double> &x, size_t w) {
  const size_t windows = (x.size() + w - 1) / w;
  std::vector<double> totals(windows), inside(windows * w, -0.0), e(x.size());
  std::copy(x.begin(), x.end(), inside.begin());
  for (size_t k = 0; k < windows; k++) {
    for (size_t s = 1; s < w; s *= 2) {
      for (size_t j = w - 1; j >= s; j--)
        inside[k * w + j] = inside[k * w + j - s] + inside[k * w + j];
    }
    totals[k] = inside[k * w + w - 1];
  }
  const std::vector<double> before =
      windows <= 1 ? std::vector<double>{-0.0} : prefix(totals, (size_t)CVL_SCAN_WINDOW);
  for (size_t i = 0; i < x.size(); i++)
    e[i] = i % w == 0 ? before[i / w] : before[i / w] + inside[i - 1];
  return e;
}

#endif
