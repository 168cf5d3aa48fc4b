/* groups.h - what the control groups of this process allow (Linux, versions 1 and 2).
 *
 * A limit holds for the group and for all below it, so the process's group and those above it
 * are looked at, as far as they are mounted: a container sees its own as the topmost.
 */
#ifndef RAVEL_GROUPS_H
#define RAVEL_GROUPS_H

#include <stdint.h>

/* Returns how many processors' worth of time the groups allow, rounded up; UINT_MAX without a
 * limit. The paths /proc and /sys are looked for below `root`, which is "" except in tests. */
unsigned groups_processors(const char *root);
/* Returns how many bytes of memory the groups allow; UINT64_MAX without a limit. */
uint64_t groups_memory(const char *root);

#endif
