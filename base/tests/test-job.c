/* test-job.c - what a process knows of the MPI job that it belongs to. */
#include "base/job.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static void expect_job(unsigned rank, unsigned count) {
  const struct job job = job_of_process();
  cr_expect_eq(job.rank, rank);
  cr_expect_eq(job.count, count);
}

Test(job, a_process_on_its_own) {
  expect_job(0, 1);
}

Test(job, of_each_launcher) {
  setenv("PMI_RANK", "2", 1);
  expect_job(0, 1);
  setenv("PMI_SIZE", "3", 1);
  expect_job(2, 3);
  setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "64", 1);
  expect_job(0, 64);
}

Test(job, slurm_starts_what_is_no_mpi_job_too) {
  setenv("SLURM_PROCID", "5", 1);
  setenv("SLURM_NTASKS", "8", 1);
  expect_job(0, 1);
  setenv("PMIX_RANK", "5", 1);
  expect_job(5, 8);
}

Test(job, nonsense_is_no_job) {
  setenv("PMI_RANK", "-1", 1);
  setenv("PMI_SIZE", "3", 1);
  expect_job(0, 1);
  setenv("PMI_RANK", "3", 1);
  expect_job(0, 1);
  setenv("PMI_RANK", "1x", 1);
  expect_job(0, 1);
}
