/* test-modules.cpp - the superoperators of a program as modules of several kernels: a short
 * program has them at its next run, before that begins. */
#include <criterion/criterion.h>
#include <string.h>

#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#include "cvl-cuda/tests/superops.h"
#include "cvl/tuning.h"
}
#pragma GCC diagnostic pop

#include "cvl-cuda/tests/session.hpp"

/* The sum of x y in each segment, which also has a kernel for short segments; and squares of x
 * + y, twice, with the same kernels. */
static const char text[] =
    "fused OP0#1 ($0 : INT, $1 : INT, $2 : SEGDES) =\n"
    "$3 = (* INT @ $0 (DIST INT @ $1 $2)) $4 = (+_REDUCE INT @ $3 $2) -> $4\n"
    "fused OP1#1 ($0 : INT, $1 : INT, $2 : SEGDES) =\n"
    "$3 = (+ INT @ $0 (DIST INT @ $1 $2)) $4 = (* INT @ $3 $3) -> $4\n"
    "fused OP2#1 ($0 : INT, $1 : INT, $2 : SEGDES) =\n"
    "$3 = (+ INT @ $0 (DIST INT @ $1 $2)) $4 = (* INT @ $3 $3) -> $4\n";

enum { KERNELS = 3, SUPEROPS_WITH_THEIR_OWN = 2 };

static cvl_options options_for(const temporary &t, bool waits, const tuning *values) {
  cvl_options o{};
  o.int_elem = CVL_I64;
  o.float_elem = CVL_F64;
  o.compile = CVL_COMPILE_ALL;
  o.compile_waits = waits;
  o.compile_directory = t.folder.c_str();
  o.tuning = values;
  return o;
}

struct program : emulated_session {
  superops *ops = superops_load(text);
  std::vector<cvl_kernel *> kernels;

  program(const temporary &t, bool waits, const tuning *values = nullptr)
      : emulated_session("order=shuffled,seed=5,check,small=0", options_for(t, waits, values)) {
    for (unsigned k = 0; k < ops->count; k++) {
      kernels.push_back(b->superops->prepare(c, ops->ops[k]));
      cr_assert_not_null(kernels.back());
    }
  }
  ~program() {
    for (cvl_kernel *k : kernels) b->superops->discard(c, k);
    superops_free(ops);
  }
  program(const program &) = delete;
  program &operator=(const program &) = delete;

  /* Runs all superoperators, one after the other, on so many segments of one length. Returns
   * their results. */
  ints run(int64_t segments = 2, int64_t length = 4000) {
    const ints lengths((size_t)segments, length);
    ints of_segment, x, found;
    for (int64_t s = 0; s < segments; s++) of_segment.push_back(3 - 5 * s);
    for (int64_t i = 0; i < segments * length; i++) x.push_back(i * 7919 % 97);
    cvl_value operands[] = {upload(x), upload(of_segment), {}};
    cr_assert(b->segdes_from_host(c, ++site, lengths.size(), lengths.data(), &operands[2]));
    for (unsigned k = 0; k < ops->count; k++) {
      cvl_value out{};
      site += ops->ops[k]->node_count;
      cr_assert(b->superops->run(c, ++site, kernels[k], operands, &out));
      const size_t at = found.size();
      found.resize(at + b->length(c, &out).bound);
      cr_assert(b->to_host(c, &out, 0, found.size() - at, found.data() + at));
      b->release(c, &out);
    }
    for (const cvl_value &v : operands) b->release(c, &v);
    return found;
  }
};

Test(modules, a_short_program_has_its_kernels_at_its_second_run) {
  temporary t;
  ints found[2];
  uint64_t took[2];
  for (int round = 0; round < 2; round++) {
    program p(t, false);
    p.b->prepared(p.c);
    found[round] = p.run();
    took[round] = p.launches();
  }
  cr_assert(found[0] == found[1]);
  cr_assert_lt(took[1], took[0]);
  cr_assert_eq(t.names().size(), 1);
}

/* Modules that were not wanted, or have no folder, are given up. */
Test(modules, a_program_that_wants_none_ends_at_once) {
  temporary t;
  {
    program p(t, false);
    p.b->prepared(p.c);
  }
  cr_assert_eq(t.names().size(), 0);
}

Test(modules, have_as_many_kernels_as_they_may) {
  const struct {
    uint64_t most;
    size_t modules;
  } rows[] = {{1, KERNELS}, {2, 2}, {1024, 1}};
  ints found[sizeof rows / sizeof *rows];
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    temporary t;
    tuning values{};
    values.value[TUNE_CUDA_MODULE_KERNELS] = rows[k].most;
    program p(t, true, &values);
    p.b->prepared(p.c);
    found[k] = p.run();
    p.run(400, 20); /* nobody waits for a kernel that nothing wanted */
    cr_assert_eq(t.names().size(), rows[k].modules, "%zu kernels", (size_t)rows[k].most);
    cr_assert(found[k] == found[0]);
  }
}

/* Only the kernels of a superoperator that runs are requested. None is for short segments, as
 * there are none. */
Test(modules, are_of_single_superoperators_where_nobody_says_that_all_are_prepared) {
  temporary t;
  program p(t, true);
  const ints found = p.run();
  cr_assert_eq(found.size(), 2u + 2u * 8000u);
  cr_assert_eq(t.names().size(), SUPEROPS_WITH_THEIR_OWN);
}
