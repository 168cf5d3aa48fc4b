/* processors.h - how many threads a process uses when nobody says. */
#ifndef RAVEL_PROCESSORS_H
#define RAVEL_PROCESSORS_H

#ifdef __cplusplus
extern "C" {
#endif

/* As many as processors that may run the calling thread (its affinity mask, which taskset,
 * cpusets and the binding of MPI and Slurm set), and no more than the quota of its control
 * groups gives the time of (groups.h); at least 1. */
unsigned processors_available(void);

#ifdef __cplusplus
}
#endif

#endif
