/* processors.h - how many threads a process uses when nobody says. */
#ifndef RAVEL_PROCESSORS_H
#define RAVEL_PROCESSORS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the number of processors that may run the calling thread, at least 1. Its affinity
 * mask decides, which taskset, cpusets and the binding of MPI and Slurm set. The quota of its
 * control groups (groups.h) limits it. */
unsigned processors_available(void);

#ifdef __cplusplus
}
#endif

#endif
