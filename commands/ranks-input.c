/* ranks-input.c - see ranks-input.h. */
#include "commands/ranks-input.h"
#include "cvl/plugin.h"
#include "cvl/processes.h"

#include <string.h>

/* The back end, whatever holds the blocks of vectors: what stands before the colon. */
static const struct cvl_backend *backend_of_ranks(char why[PLUGIN_WHY_MAX]) {
  char name[PLUGIN_NAME_MAX];
  const char *given = process_ranks_backend();
  const size_t length = strcspn(given, ":");
  snprintf(name, sizeof name, "%.*s", (int)length, given);
  const struct cvl_backend *b = plugin_open(name, why);
  if (!b || b->processes) return b;
  snprintf(why, PLUGIN_WHY_MAX, "the back end %s has no ranks", name);
  return NULL;
}

/* A context for this alone, as a machine is made when a program is known only. It stays until
 * the process ends. */
static struct cvl_context *ranks_context(const struct cvl_backend *b,
                                         char why[PLUGIN_WHY_MAX]) {
  static struct cvl_context *context;
  const struct cvl_options options = {
      .int_elem = CVL_I64, .float_elem = CVL_F64, .threads = 1, .device = -1};
  const char *reason = "it gives no reason";
  if (!context) context = b->open(&options, &reason);
  if (!context) snprintf(why, PLUGIN_WHY_MAX, "%s", reason);
  return context;
}

bool ranks_broadcast(void *data, uint64_t bytes, char *why, size_t size) {
  char text[PLUGIN_WHY_MAX];
  const struct cvl_backend *b = backend_of_ranks(text);
  struct cvl_context *context = b ? ranks_context(b, text) : NULL;
  if (!context) {
    snprintf(why, size, "the ranks cannot share it: %s", text);
    return false;
  }
  b->processes->broadcast(context, data, bytes);
  return true;
}
