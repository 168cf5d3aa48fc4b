/* plugin.c - a module for tests: the oracle under another name, which counts launches as a
 * device would. RAVEL_TEST_PLUGIN in the environment makes it worse: "refuse" (no device, open
 * fails), "null" (ravel_backend serves no version), "old" (its table is of another one).
 */
#include "cvl/oracle.h"

#include <stdlib.h>
#include <string.h>

#ifdef WITHOUT_ENTRY
#define ravel_backend something_else
#endif
__attribute__((visibility("default"))) const struct cvl_backend *
ravel_backend(uint32_t version);

static const char out_of_paper[] = "there is no paper: buy some";

static bool wants(const char *what) {
  const char *given = getenv("RAVEL_TEST_PLUGIN");
  return given && strcmp(given, what) == 0;
}

static unsigned paper_devices(struct cvl_device *out, unsigned most, const char **why) {
  static const struct cvl_device sheets[2] = {{"a white sheet", UINT64_C(3) << 30, 1},
                                              {"a grey sheet", 0, 132}};
  *why = out_of_paper;
  if (wants("refuse")) return 0;
  for (unsigned i = 0; i < most && i < 2; i++) out[i] = sheets[i];
  return 2;
}

static struct cvl_context *paper_open(const struct cvl_options *options, const char **why) {
  if (!wants("refuse") && options->device < 2) return cvl_oracle_backend.open(options, why);
  *why = wants("refuse") ? out_of_paper : "there are two sheets";
  return NULL;
}

static struct cvl_statistics paper_statistics(struct cvl_context *c) {
  struct cvl_statistics s = cvl_oracle_backend.statistics(c);
  s.launches = 17;
  s.waits = 4;
  s.bytes_up = 2048;
  s.bytes_down = 3 << 20;
  s.kernel_ns = 1500000;
  s.launch_ns = 2000;
  s.wait_ns = 2000000000;
  return s;
}

const struct cvl_backend *ravel_backend(uint32_t version) {
  static struct cvl_backend paper; /* filled alike by every call */
  if (wants("null") || version != CVL_VERSION) return NULL;
  paper = cvl_oracle_backend;
  paper.version = wants("old") ? CVL_VERSION + 1 : CVL_VERSION;
  paper.name = "paper";
  paper.doc = "for tests: by hand";
  paper.devices = paper_devices;
  paper.open = paper_open;
  paper.statistics = paper_statistics;
  return &paper;
}
