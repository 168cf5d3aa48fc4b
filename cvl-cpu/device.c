/* device.c - describes this machine for --devices. */
#include "base/processors.h"
#include "cvl-cpu/cpu.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Finds the processor's name as the system knows it. False if there is none. */
static bool model_name(char *name, size_t size) {
  FILE *file = fopen("/proc/cpuinfo", "re");
  if (!file) return false;
  char line[256];
  bool found = false;
  while (!found && fgets(line, sizeof line, file)) {
    const char *colon = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
    found = colon && colon[1] == ' ' && colon[2] > ' ';
    if (found) snprintf(name, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
  }
  fclose(file);
  return found;
}

unsigned cpu_devices(struct cvl_device *out, unsigned most, const char **why) {
  (void)why;
  if (most == 0) return 1;
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  *out = (struct cvl_device){.processors = processors_available()};
  if (pages > 0 && page > 0) out->memory = (uint64_t)pages * (uint64_t)page;
  struct utsname system;
  if (!model_name(out->name, sizeof out->name) && uname(&system) == 0) {
    snprintf(out->name, sizeof out->name, "%.100s", system.machine);
  }
  return 1;
}
