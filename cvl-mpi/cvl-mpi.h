/* cvl-mpi.h - the back end over MPI: see README.md. */
#ifndef RAVEL_CVL_MPI_H
#define RAVEL_CVL_MPI_H

#include "cvl/cvl.h"

/* Returns the table for vectors whose blocks are held by `inner`. There is one in a process: a
 * second call with another back end changes it. */
const struct cvl_backend *cvl_mpi_over(const struct cvl_backend *inner);

#endif
