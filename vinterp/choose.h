/* choose.h - which back end runs a program.
 *
 * There are those linked with the program (cvl_backends) and those opened at run time
 * (cvl/plugin.h). Nothing is opened before a machine is made, or --devices asks.
 */
#ifndef RAVEL_CHOOSE_H
#define RAVEL_CHOOSE_H

#include "vinterp/machine.h"

/* Whether --backend may have this value: "auto", a back end that is linked, one that comes as a
 * module (there or not), or any other name that there is a module for. */
bool choose_knows(const char *name);

/* A machine on the back end of this name; with "auto" on the best that is available. If a
 * better one has devices and still cannot be had, options->say gets why, once in a process; a
 * device that can is opened late (cvl_options). But in an MPI job of several processes
 * (base/job.h) "auto" is "mpi". options->backend is ignored. NULL with diagnostics. */
struct machine *choose_machine(const char *name, const struct machine_options *,
                               struct diag_list *);

/* Prints the list of --devices: every back end, best first, with its devices or why it has
 * none. */
void choose_list(FILE *);

#endif
