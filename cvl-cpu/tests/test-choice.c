/* test-choice.c - superoperators that are compiled when it pays. A simulated clock says that it
 * does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/tests/memory.h"
#include "cvl-cpu/cpu.h"
#include "cvl-cpu/cvl-cpu.h"
#include "cvl-cpu/fused/plan.h"
#include "cvl-cpu/tests/prepared.h"
#include "cvl/superop.h"

TestSuite(choice, .init = memory_begin, .fini = memory_end);

enum { N = 1000 };

static const struct cvl_backend *const cpu = &cvl_cpu_backend;

/* Whether two vectors have the same bits. */
static bool choice_same(struct cvl_context *c, const struct cvl_value *a,
                        const struct cvl_value *b) {
  double x[N], y[N];
  cr_assert(cpu->to_host(c, a, 0, N, x));
  cr_assert(cpu->to_host(c, b, 0, N, y));
  return memcmp(x, y, sizeof x) == 0;
}

/* The simulated clock, which replaces fused_clock (-Wl,--wrap). A run takes 1 ms, however busy
 * the machine is. */
static struct {
  bool in_run;
  double now;
} simulated;

double __wrap_fused_clock(void);
double __wrap_fused_clock(void) {
  if (simulated.in_run) simulated.now += 1e-3;
  simulated.in_run = !simulated.in_run;
  return simulated.now;
}

/* Runs sin(x) * sin(x) of doubles until there is compiled code, and some times more. All runs
 * must give the bits of the first. Returns the number of runs before there was compiled code.
 */
static unsigned run_until_settled(const char *directory) {
  enum { MOST = 60000, AGAIN = 100, WAIT = 1000 /* microseconds */ };
  const struct cvl_options options = {.int_elem = CVL_I64,
                                      .float_elem = CVL_F64,
                                      .threads = 1,
                                      .compile = CVL_COMPILE_WHEN_IT_PAYS,
                                      .compile_directory = directory};
  const char *why;
  struct cvl_context *c = cpu->open(&options, &why);
  cr_assert_not_null(c, "%s", why);
  const uint8_t kinds[] = {SUPEROP_FLOAT};
  struct superop_node nodes[] = {
      {.op = OPC_SIN, .type = TW_NONE, .operand_count = 1, .operands = {0}},
      {.op = OPC_MUL, .type = TW_FLOAT, .operand_count = 2, .operands = {1, 1}}};
  const uint32_t outputs[] = {2};
  struct superop op = {.param_count = 1,
                       .node_count = 2,
                       .output_count = 1,
                       .params = kinds,
                       .nodes = nodes,
                       .outputs = outputs};
  struct cvl_kernel *k = prepared(c, &op);
  double x[N];
  for (int i = 0; i < N; i++) x[i] = i * 0.37;
  struct cvl_value operand, first, got;
  cr_assert(cpu->from_host(c, 0, CVL_F64, N, x, &operand));
  cr_assert(cpu->superops->run(c, 1, k, &operand, &first));
  unsigned before = 1;
  for (; before < MOST && k->choice.stage != CHOICE_SETTLED; before++) {
    cr_assert(cpu->superops->run(c, 1, k, &operand, &got));
    cpu->release(c, &got);
    if (k->choice.stage == CHOICE_STARTED) usleep(WAIT); /* waits for the compiler */
  }
  cr_assert_eq(k->choice.stage, CHOICE_SETTLED);
  cr_assert(k->run.way == BY_FUNCTION, "compiled code is used as soon as it is there");
  for (unsigned i = 0; i < AGAIN; i++) {
    cr_assert(cpu->superops->run(c, 1, k, &operand, &got) && k->run.way == BY_FUNCTION);
    cr_assert(choice_same(c, &first, &got), "run %u", i);
    cpu->release(c, &got);
  }
  cpu->release(c, &first);
  cpu->release(c, &operand);
  cpu->superops->discard(c, k);
  cpu->close(c);
  return before;
}

/* Without being asked to, it compiles after a while, in a directory made for it; the next time
 * it finds the code there earlier. If the directory cannot be made, nothing is compiled. */
Test(choice, compiles_when_it_pays) {
  char directory[] = "/tmp/ravel-compiled-XXXXXX", kept[64], command[128];
  cr_assert_not_null(mkdtemp(directory));
  snprintf(kept, sizeof kept, "%s/cache/ravel", directory);
  const unsigned runs = run_until_settled(kept);
  snprintf(command, sizeof command, "ls %s/cache/ravel | grep -c so$ > /dev/null", directory);
  cr_assert_eq(system(command), 0, "nothing was compiled");
  const unsigned again = run_until_settled(kept);
  cr_assert_lt(again, runs);
  snprintf(command, sizeof command, "rm -r %s", directory);
  cr_assert_eq(system(command), 0);
}
