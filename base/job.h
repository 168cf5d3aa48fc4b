/* job.h - whether this process is one of several that were started together to be the ranks of
 * one MPI job: as what starts them says in the environment (mpirun of Open MPI, of MPICH,
 * srun). It is known before MPI is, and where nothing is linked with MPI.
 */
#ifndef RAVEL_JOB_H
#define RAVEL_JOB_H

struct job {
  unsigned rank, count; /* 0 and 1 of a process on its own */
};

struct job job_of_process(void);

#endif
