/* limits.c - how much memory a run may take when nobody says. */
#include "vinterp/machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static const double share_of_memory = 0.8;

/* The number in a file, or UINT64_MAX where there is none ("max" means no limit). */
static uint64_t number_in(const char *path) {
  FILE *file = fopen(path, "re");
  if (!file) return UINT64_MAX;
  uint64_t limit;
  if (fscanf(file, "%" SCNu64, &limit) != 1) limit = UINT64_MAX;
  fclose(file);
  return limit;
}

uint64_t machine_default_memory(void) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  uint64_t least = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_C(1) << 32;
  /* Control groups, version 2 and 1. */
  uint64_t group = number_in("/sys/fs/cgroup/memory.max");
  if (group < least) least = group;
  group = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes");
  if (group < least) least = group;
  return (uint64_t)(share_of_memory * (double)least);
}

uint64_t machine_memory(const struct machine_options *options) {
  return options->memory_limit ? options->memory_limit : machine_default_memory();
}
