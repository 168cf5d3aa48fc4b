/* test-processors.c - the default number of threads: the affinity mask, and limits of control
 * groups, of which each test writes those files that Linux would show. */
#include "base/groups.h"
#include "base/processors.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

static void processors_enter(void) {
  strcpy(root, "/tmp/ravel-groups-XXXXXX");
  cr_assert(mkdtemp(root));
}

static void processors_leave(void) {
  char line[128];
  snprintf(line, sizeof line, "rm -rf %s", root);
  cr_assert_eq(system(line), 0);
}

TestSuite(groups, .init = processors_enter, .fini = processors_leave);

/* Writes a file below the root, with its folders. */
static void processors_put(const char *name, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", root, name);
  for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
    *p = '\0';
    mkdir(path, 0700);
  }
  FILE *f = fopen(path, "w");
  cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0, "%s", path);
}

Test(groups, none_is_no_limit) {
  cr_expect_eq(groups_processors(root), UINT_MAX);
  cr_expect_eq(groups_memory(root), UINT64_MAX);
  processors_put("proc/self/cgroup", "0::/\n");
  processors_put("sys/fs/cgroup/cpu.max", "max 100000\n");
  processors_put("sys/fs/cgroup/memory.max", "max\n");
  cr_expect_eq(groups_processors(root), UINT_MAX);
  cr_expect_eq(groups_memory(root), UINT64_MAX);
}

Test(groups, of_version_2_are_rounded_up) {
  processors_put("proc/self/cgroup", "0::/\n");
  processors_put("sys/fs/cgroup/cpu.max", "250000 100000\n");
  processors_put("sys/fs/cgroup/memory.max", "1048576\n");
  cr_expect_eq(groups_processors(root), 3);
  cr_expect_eq(groups_memory(root), 1048576);
  processors_put("sys/fs/cgroup/cpu.max", "5000 100000\n");
  cr_expect_eq(groups_processors(root), 1);
}

Test(groups, those_above_hold_too) {
  processors_put("proc/self/cgroup", "0::/jobs/night/one\n");
  processors_put("sys/fs/cgroup/jobs/night/one/cpu.max", "700000 100000\n");
  processors_put("sys/fs/cgroup/jobs/cpu.max", "400000 100000\n");
  processors_put("sys/fs/cgroup/jobs/night/memory.max", "4096\n");
  processors_put("sys/fs/cgroup/jobs/memory.max", "8192\n");
  cr_expect_eq(groups_processors(root), 4);
  cr_expect_eq(groups_memory(root), 4096);
}

/* The path is the host's, which is not mounted. */
Test(groups, a_container_sees_its_own_on_top) {
  processors_put("proc/self/cgroup", "0::/docker/7f3a\n");
  processors_put("sys/fs/cgroup/cpu.max", "200000 100000\n");
  cr_expect_eq(groups_processors(root), 2);
}

Test(groups, of_version_1) {
  processors_put("proc/self/cgroup",
                 "7:cpuset:/\n5:memory:/slurm/job\n3:cpu,cpuacct:/slurm/job\n0::/\n");
  processors_put("sys/fs/cgroup/cpu,cpuacct/slurm/job/cpu.cfs_quota_us", "600000\n");
  processors_put("sys/fs/cgroup/cpu,cpuacct/slurm/job/cpu.cfs_period_us", "100000\n");
  processors_put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  processors_put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  processors_put("sys/fs/cgroup/cpuset/cpu.cfs_quota_us",
                 "100000\n"); /* no file of this controller */
  processors_put("sys/fs/cgroup/memory/slurm/memory.limit_in_bytes", "65536\n");
  cr_expect_eq(groups_processors(root), 6);
  cr_expect_eq(groups_memory(root), 65536);
}

Test(groups, nonsense_is_no_limit) {
  processors_put("proc/self/cgroup", "0:\n\n0::\n::/x\n0::/\n");
  processors_put("sys/fs/cgroup/cpu.max", "100000\n");
  processors_put("sys/fs/cgroup/memory.max", "-4\n");
  cr_expect_eq(groups_processors(root), UINT_MAX);
  cr_expect_eq(groups_memory(root), UINT64_MAX);
}

static unsigned in_mask(void) {
  cpu_set_t set;
  cr_assert_eq(sched_getaffinity(0, sizeof set, &set), 0);
  return (unsigned)CPU_COUNT(&set);
}

Test(processors, follow_the_affinity_mask) {
  cpu_set_t set, one;
  cr_expect_leq(processors_available(), in_mask());
  cr_assert_eq(sched_getaffinity(0, sizeof set, &set), 0);
  int first = 0;
  while (!CPU_ISSET(first, &set)) first++;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
  cr_expect_eq(processors_available(), 1);
}
