/* job.h - whether this process is a rank of an MPI job.
 *
 * What starts the ranks says so in the environment (mpirun of Open MPI, of MPICH, srun). So it
 * is known before MPI is initialised, and where nothing is linked with MPI.
 */
#ifndef RAVEL_JOB_H
#define RAVEL_JOB_H

struct job {
  unsigned rank, count; /* 0 and 1 if the process is on its own */
};

struct job job_of_process(void);

#endif
