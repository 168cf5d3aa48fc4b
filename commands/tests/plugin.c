/* plugin.c - a module for tests: the oracle under another name, which counts launches as a
 * device would. RAVEL_TEST_PLUGIN in the environment makes it worse: "refuse" (no device, open
 * fails), "torn" (two devices that cannot be used), "null" (ravel_backend serves no version),
 * "old" (its table is of another one), "slow" (reductions sleep, for a time that depends on the
 * tuning value cpu.serial-bytes), "wrong" (their result depends on it).
 */
#include "cvl/oracle/oracle.h"
#include "cvl/tuning.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef WITHOUT_ENTRY
#define ravel_backend something_else
#endif
__attribute__((visibility("default"))) const struct cvl_backend *
ravel_backend(uint32_t version);

static const char out_of_paper[] = "there is no paper: buy some",
                  torn[] = "it is torn; take another one";

static bool plugin_wants(const char *what) {
  const char *given = getenv("RAVEL_TEST_PLUGIN");
  return given && strcmp(given, what) == 0;
}

static unsigned paper_devices(struct cvl_device *out, unsigned most, const char **why) {
  static const struct cvl_device sheets[2] = {
      {.name = "a white sheet", .memory = UINT64_C(3) << 30, .processors = 1},
      {.name = "a grey sheet", .processors = 132}};
  *why = out_of_paper;
  if (plugin_wants("refuse")) return 0;
  for (unsigned i = 0; i < most && i < 2; i++) {
    out[i] = sheets[i];
    out[i].unusable = plugin_wants("torn");
    if (out[i].unusable) strcpy(out[i].remark, torn);
  }
  return 2;
}

static uint64_t serial_bytes; /* of the context that was opened last */

/* So long that it can be measured beside whatever else the machine does. */
static void sleep_as_tuned(void) {
  const bool more = serial_bytes > tuning_default(TUNE_CPU_SERIAL_BYTES);
  nanosleep(&(struct timespec){.tv_nsec = more ? 5000000 : 30000000}, NULL);
}

static bool paper_apply(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
                        struct cvl_value *out) {
  const bool reduces = call->kind == CALL_REDUCE;
  if (reduces && plugin_wants("slow")) sleep_as_tuned();
  const bool good = cvl_oracle_backend.apply(c, site, call, out);
  if (!good || !reduces || !plugin_wants("wrong") ||
      serial_bytes <= tuning_default(TUNE_CPU_SERIAL_BYTES))
    return good;
  cvl_oracle_backend.release(c, out);
  *out = (struct cvl_value){.form = CVL_SCALAR, .elem = out->elem, .as = {.i64 = 7}};
  return true;
}

static struct cvl_context *paper_open(const struct cvl_options *options, const char **why) {
  serial_bytes = tuning_complete(options->tuning).value[TUNE_CPU_SERIAL_BYTES];
  if (!plugin_wants("refuse") && !plugin_wants("torn") && options->device < 2)
    return cvl_oracle_backend.open(options, why);
  *why = plugin_wants("refuse") ? out_of_paper
         : plugin_wants("torn") ? torn
                                : "there are two sheets";
  return NULL;
}

static struct cvl_statistics paper_statistics(struct cvl_context *c) {
  struct cvl_statistics s = cvl_oracle_backend.statistics(c);
  s.launches = 17;
  s.waits = 4;
  s.bytes_up = 2048;
  s.bytes_down = 3 << 20;
  s.held_bytes = 5 << 20;
  s.kernel_ns = 1500000;
  s.launch_ns = 2000;
  s.wait_ns = 2000000000;
  return s;
}

const struct cvl_backend *ravel_backend(uint32_t version) {
  static struct cvl_backend paper; /* filled alike by every call */
  if (plugin_wants("null") || version != CVL_VERSION) return NULL;
  paper = cvl_oracle_backend;
  paper.version = plugin_wants("old") ? CVL_VERSION + 1 : CVL_VERSION;
  paper.name = "paper";
  paper.doc = "for tests: by hand";
  paper.devices = paper_devices;
  paper.open = paper_open;
  paper.apply = paper_apply;
  paper.statistics = paper_statistics;
  return &paper;
}
