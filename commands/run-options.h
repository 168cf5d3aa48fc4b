/* run-options.h - what the options mean that commands have which run programs
 * (run-options.def).
 */
#ifndef RAVEL_RUN_OPTIONS_H
#define RAVEL_RUN_OPTIONS_H

#include "commands/output.h"
#include "vinterp/machine.h"

struct run_options {
  struct machine_options *machine; /* what is filled in: of the machine threads, device, seed,
                                      max_depth and permissions */
  const char **backend_name;       /* choose_knows it */
  double *seconds;                 /* --time */
  enum native_wish *native;
  const char **tuning;  /* --tuning: for tuned_begin, or "list": run_tuning_listed */
  double *tune_seconds; /* --tune; 0: no */
};

enum run_option {
#define OPTION(id, letter, name, argument, help) RUN_##id,
#include "commands/run-options.def"
#undef OPTION
};

/* Does what an option says; false after a complaint in the name of the command. */
bool run_option(const char *command, enum run_option, const char *value,
                const struct run_options *);

/* Whether --tuning is "list". Then prints the tuning values, those of RAVEL_TUNING or else the
 * defaults; *status is that of the command. */
bool run_tuning_listed(const char *command, const char *tuning, int *status);

/* Prints a line: which C compiler programs are compiled by. */
void run_describe_compiler(void);

/* choose_machine; if there is none, a note says where to look. */
struct machine *run_machine(const char *backend_name, const struct machine_options *,
                            struct diag_list *);

#endif
