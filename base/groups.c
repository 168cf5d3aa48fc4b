/* groups.c - see groups.h. */
#include "base/groups.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- the folders of groups ---- */

enum { PATH_ROOM = 4096 };

/* Called with the folder of a group; `version` is 1 or 2. */
typedef void visit_group(void *with, const char *folder, unsigned version);

struct walk {
  const char *root;
  visit_group *visit;
  void *with;
};

/* Visits the group of this path and those above it. A group that is not mounted has no files.
 */
static void visit_upwards(const struct walk *w, const char *mount, const char *group,
                          unsigned version) {
  char folder[PATH_ROOM];
  const int start = snprintf(folder, sizeof folder, "%s/sys/fs/cgroup%s", w->root, mount);
  if (start < 0 || (size_t)start + strlen(group) >= sizeof folder) return;
  strcpy(folder + start, group);
  for (;;) {
    w->visit(w->with, folder, version);
    char *slash = strrchr(folder + start, '/');
    if (!slash) return;
    *slash = '\0';
  }
}

/* Whether a name is in a list with commas. */
static bool list_has(const char *list, const char *name) {
  const size_t length = strlen(name);
  for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
    if (strncmp(p, name, length) == 0 && (p[length] == ',' || p[length] == '\0')) return true;
  }
  return false;
}

/* One line of /proc/self/cgroup, "NUMBER:CONTROLLERS:PATH"; version 2 has no controllers. */
static void visit_line(const struct walk *w, char *line, const char *controller) {
  char *controllers = strchr(line, ':'),
       *group = controllers ? strchr(controllers + 1, ':') : 0;
  char mount[256];
  if (!group) return;
  *controllers++ = '\0';
  *group++ = '\0';
  group[strcspn(group, "\n")] = '\0';
  if (*controllers == '\0') {
    visit_upwards(w, "", group, 2);
    visit_upwards(w, "/unified", group, 2);
  } else if (list_has(controllers, controller)) {
    snprintf(mount, sizeof mount, "/%s", controllers);
    visit_upwards(w, mount, group, 1);
    snprintf(mount, sizeof mount, "/%s", controller);
    visit_upwards(w, mount, group, 1);
  }
}

static void visit_groups(const struct walk *w, const char *controller) {
  char line[PATH_ROOM];
  snprintf(line, sizeof line, "%s/proc/self/cgroup", w->root);
  FILE *file = fopen(line, "re");
  if (!file) return;
  while (fgets(line, sizeof line, file)) visit_line(w, line, controller);
  fclose(file);
}

/* ---- limits ---- */

/* Reads up to two numbers from a file of a group, and returns how many it has. "max" and -1,
 * which mean no limit, do not count. */
static int numbers_in(const char *folder, const char *name, uint64_t *first, uint64_t *second) {
  char path[PATH_ROOM + 64], text[64] = "";
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  const bool read = fgets(text, sizeof text, file) != NULL && *text >= '0' && *text <= '9';
  fclose(file);
  return read ? sscanf(text, "%" SCNu64 " %" SCNu64, first, second) : 0;
}

static bool quota_of(const char *folder, unsigned version, uint64_t *quota, uint64_t *period) {
  uint64_t none;
  if (version == 2) return numbers_in(folder, "cpu.max", quota, period) == 2;
  return numbers_in(folder, "cpu.cfs_quota_us", quota, &none) == 1 &&
         numbers_in(folder, "cpu.cfs_period_us", period, &none) == 1;
}

static void least_processors(void *with, const char *folder, unsigned version) {
  unsigned *least = with;
  uint64_t quota, period;
  if (!quota_of(folder, version, &quota, &period) || quota == 0 || period == 0) return;
  const uint64_t processors = (quota - 1) / period + 1;
  if (processors < *least) *least = (unsigned)processors;
}

unsigned groups_processors(const char *root) {
  unsigned least = UINT_MAX;
  visit_groups(&(struct walk){root, least_processors, &least}, "cpu");
  return least;
}

static void least_memory(void *with, const char *folder, unsigned version) {
  uint64_t *least = with, limit, none;
  const char *name = version == 2 ? "memory.max" : "memory.limit_in_bytes";
  if (numbers_in(folder, name, &limit, &none) > 0 && limit < *least) *least = limit;
}

uint64_t groups_memory(const char *root) {
  uint64_t least = UINT64_MAX;
  visit_groups(&(struct walk){root, least_memory, &least}, "memory");
  return least;
}
