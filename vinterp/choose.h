/* choose.h - which back end runs a program.
 *
 * Back ends are linked with the program (cvl_backends) or opened at run time (cvl/plugin.h).
 * Nothing is opened before a machine is made, or --devices asks.
 */
#ifndef RAVEL_CHOOSE_H
#define RAVEL_CHOOSE_H

#include "vinterp/machine.h"

/* Returns whether --backend may have this value: "auto", a back end that is linked, one that
 * may come as a module (even if it is missing), or any other name for which there is a module.
 */
bool choose_knows(const char *name);

/* Makes a machine on the back end of this name; "auto" means the best available one. If a
 * better one has devices and still cannot be opened, options->say gets the reason, once in a
 * process. A device that can be opened is opened late (cvl_options). In an MPI job of several
 * processes (base/job.h) "auto" means "mpi". options->backend is ignored. Returns NULL with
 * diagnostics. */
struct machine *choose_machine(const char *name, const struct machine_options *,
                               struct diag_list *);

/* Prints the list of --devices: every back end, best first, with its devices or the reason why
 * it has none. */
void choose_list(FILE *);

#endif
