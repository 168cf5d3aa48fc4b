/* chunked-runs.h - programs with batch calls, run with chunks of all sizes, and compared
 * with what they do uncut on the oracle.
 */
#ifndef RAVEL_CHUNKED_RUNS_H
#define RAVEL_CHUNKED_RUNS_H

#include "vinterp/tests/chunked-programs.h"
#include "vinterp/tests/fixture.h"

struct ran run_chunked(const char *text, struct machine_options, struct machine_chunks);
/* The same results and diagnostics with chunks of all sizes as uncut. */
void chunked_expect_all(const struct chunked *, struct machine_options);
/* The text of the program with this name. */
const char *chunked_text(const char *name);
/* Each allocation fails once: of a chunk, which then is halved, or elsewhere, which is an
 * error. */
void chunked_sweep(const char *name, struct machine_options, struct machine_chunks);
/* The same where there is a fault: it is that of the uncut run, or the lack of memory. */
void chunked_sweep_fault(const char *name, struct machine_options, uint64_t instances);
/* Nothing of a fault is left for the next run of a machine. */
void chunked_expect_again(struct machine_options);

#endif
