/* processors.c - see processors.h. */
#include "base/processors.h"
#include "base/groups.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <unistd.h>

/* Counts the processors of the affinity mask; 0 if the system does not say. The kernel refuses
 * a set that is smaller than its own. */
static unsigned processors_in_mask(void) {
  enum { MOST = 1 << 20 };
  for (size_t processors = CPU_SETSIZE; processors <= MOST; processors *= 2) {
    cpu_set_t *set = CPU_ALLOC(processors);
    const size_t bytes = CPU_ALLOC_SIZE(processors);
    const int failed = !set || sched_getaffinity(0, bytes, set) != 0 ? errno : 0;
    const int count = failed ? 0 : CPU_COUNT_S(bytes, set);
    CPU_FREE(set);
    if (failed != EINVAL) return (unsigned)count;
  }
  return 0;
}

unsigned processors_available(void) {
  const unsigned mask = processors_in_mask(), quota = groups_processors("");
  const long online = mask > 0 ? (long)mask : sysconf(_SC_NPROCESSORS_ONLN);
  const unsigned most = online > 0 ? (unsigned)online : 1;
  return quota < most ? quota : most;
}
