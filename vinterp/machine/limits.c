/* limits.c - the memory that a run may take by default. */
#include "base/groups.h"
#include "vinterp/machine.h"

#include <unistd.h>

static const double share_of_memory = 0.8;

uint64_t machine_default_memory(void) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  uint64_t least = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_C(1) << 32;
  const uint64_t group = groups_memory("");
  if (group < least) least = group;
  return (uint64_t)(share_of_memory * (double)least);
}

uint64_t machine_memory(const struct machine_options *options) {
  return options->memory_limit ? options->memory_limit : machine_default_memory();
}
