/* choose.c - see choose.h. */
#include "vinterp/choose.h"
#include "base/job.h"
#include "base/number.h"
#include "cvl/plugin.h"
#include <stdatomic.h>
#include <string.h>

/* The back ends that are modules, best first; each is preferred to linked ones. */
static const char *const modules[] = {"cuda"};
enum { MODULES = sizeof modules / sizeof modules[0] };

static bool is_module(const char *name) {
  for (unsigned i = 0; i < MODULES; i++) {
    if (strcmp(modules[i], name) == 0) return true;
  }
  return false;
}

bool choose_knows(const char *name) {
  return strcmp(name, "auto") == 0 || cvl_backend_find(name) || is_module(name) ||
         plugin_exists(name);
}

/* ---- for a run ---- */

static struct machine *machine_on(const struct cvl_backend *backend,
                                  const struct machine_options *options, bool late,
                                  struct diag_list *diags) {
  struct machine_options complete = *options;
  complete.backend = backend;
  complete.opens_late = late;
  return machine_new(&complete, diags);
}

/* Says why an existing device is not used: once in a process, however many machines it makes.
 */
static void say_unused(const struct cvl_backend *backend, const struct machine_options *options,
                       const struct diag *why) {
  static atomic_flag said = ATOMIC_FLAG_INIT;
  struct cvl_device device;
  const char *none;
  char line[512];
  if (backend->devices(&device, 1, &none) == 0 || atomic_flag_test_and_set(&said)) return;
  snprintf(line, sizeof line,
           "there is a GPU that is not used: %s (--backend cpu does not ask)", why->message);
  cvl_say(&options->say, line);
}

static struct machine *best_machine(const struct machine_options *options,
                                    struct diag_list *diags) {
  struct diag_list attempts;
  const struct cvl_backend *unused = NULL;
  struct machine *machine = NULL;
  diag_list_init(&attempts, diags->arena);
  for (unsigned i = 0; i < MODULES && !machine; i++) {
    char why[PLUGIN_WHY_MAX];
    const struct cvl_backend *backend = plugin_open(modules[i], why);
    if (backend) machine = machine_on(backend, options, !options->compile_waits, &attempts);
    unused = backend && !machine ? backend : unused;
  }
  for (const struct cvl_backend *const *b = cvl_backends(); *b && !machine; b++) {
    machine = machine_on(*b, options, false, &attempts);
  }
  if (machine && unused && attempts.list.count > 0)
    say_unused(unused, options, &attempts.list.items[0]);
  for (size_t i = 0; i < attempts.list.count && !machine; i++) {
    diag_add(diags, SEVERITY_ERROR, NULL, (struct source_pos){0}, NULL, "%s",
             attempts.list.items[i].message);
  }
  return machine;
}

struct machine *choose_machine(const char *name, const struct machine_options *options,
                               struct diag_list *diags) {
  struct machine *machine = NULL;
  if (strcmp(name, "auto") == 0 && job_of_process().count > 1) name = "mpi";
  if (strcmp(name, "auto") == 0) {
    machine = best_machine(options, diags);
  } else {
    char why[PLUGIN_WHY_MAX];
    const struct cvl_backend *backend = cvl_backend_find(name);
    if (!backend) backend = plugin_open(name, why);
    if (backend) {
      machine = machine_on(backend, options, false, diags);
    } else {
      diag_add(diags, SEVERITY_ERROR, NULL, (struct source_pos){0}, NULL,
               "the back end %s cannot be had: %s", name, why);
    }
  }
  return machine;
}

/* ---- for --devices ---- */

static void list_device(FILE *out, unsigned number, const struct cvl_device *d) {
  char memory[NUMBER_TEXT_MAX];
  fprintf(out, "  %u: %.127s", number, d->name);
  if (d->processors > 0)
    fprintf(out, ", %u processor%s", d->processors, d->processors == 1 ? "" : "s");
  if (d->memory > 0) {
    format_bytes(memory, d->memory);
    fprintf(out, ", %s", memory);
  }
  if (*d->remark) fprintf(out, "; %s%.199s", d->unusable ? "not to be had: " : "", d->remark);
  fputc('\n', out);
}

static void list_backend(FILE *out, const char *name, const struct cvl_backend *backend) {
  enum { MOST = 64 };
  struct cvl_device devices[MOST];
  const char *why = "it gives no reason";
  fprintf(out, "%s: %s\n", name, backend->doc);
  unsigned count = backend->devices(devices, MOST, &why);
  if (count == 0) fprintf(out, "  not to be had: %s\n", why);
  for (unsigned i = 0; i < count && i < MOST; i++) list_device(out, i, &devices[i]);
}

static void list_module(FILE *out, const char *name) {
  char why[PLUGIN_WHY_MAX];
  const struct cvl_backend *backend = plugin_open(name, why);
  if (backend) {
    list_backend(out, name, backend);
  } else {
    fprintf(out, "%s: a module\n  not to be had: %s\n", name, why);
  }
}

void choose_list(FILE *out) {
  enum { MOST = 32 };
  char names[MOST][PLUGIN_NAME_MAX];
  for (unsigned i = 0; i < MODULES; i++) list_module(out, modules[i]);
  for (const struct cvl_backend *const *b = cvl_backends(); *b; b++) {
    list_backend(out, (*b)->name, *b);
  }
  unsigned count = plugin_list(names, MOST);
  for (unsigned i = 0; i < count; i++) {
    if (!is_module(names[i]) && !cvl_backend_find(names[i])) list_module(out, names[i]);
  }
}
