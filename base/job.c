/* job.c - see job.h. */
#include "base/job.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

/* Variables for rank and count; of Slurm only where it was asked to start an MPI job. */
static const struct {
  const char *rank, *count, *also;
} starters[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL},
    {"PMI_RANK", "PMI_SIZE", NULL},
    {"SLURM_PROCID", "SLURM_NTASKS", "PMIX_RANK"},
};

static bool number_in_environment(const char *name, unsigned *x) {
  const char *text = getenv(name);
  char *end;
  if (!text || *text < '0' || *text > '9') return false;
  const unsigned long value = strtoul(text, &end, 10);
  *x = (unsigned)value;
  return *end == '\0' && value <= UINT_MAX;
}

struct job job_of_process(void) {
  struct job job;
  for (unsigned i = 0; i < sizeof starters / sizeof starters[0]; i++) {
    if (starters[i].also && !getenv(starters[i].also)) continue;
    if (number_in_environment(starters[i].rank, &job.rank) &&
        number_in_environment(starters[i].count, &job.count) && job.rank < job.count)
      return job;
  }
  return (struct job){0, 1};
}
