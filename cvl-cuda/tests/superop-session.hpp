/* superop-session.hpp - the common beginning of tests of compiled superoperators: sessions,
 * programs of superoperators, and one folder of kernels for all tests of a program. Each
 * program includes it once, since it has the hooks. */
#ifndef RAVEL_CUDA_SUPEROP_SESSION_HPP
#define RAVEL_CUDA_SUPEROP_SESSION_HPP

#include <criterion/criterion.h>
#include <criterion/hooks.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#include "cvl-cuda/tests/superops.h"
}
#pragma GCC diagnostic pop

#include "cvl-cuda/tests/session.hpp"

ReportHook(PRE_ALL)(struct criterion_test_set *) {
  kernels_of_tests::begin();
}
ReportHook(POST_ALL)(struct criterion_global_stats *) {
  kernels_of_tests::end();
}

#endif
