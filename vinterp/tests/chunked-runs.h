/* chunked-runs.h - programs with batch calls, run with chunks of all sizes, and compared with
 * runs without chunks on the oracle.
 */
#ifndef RAVEL_CHUNKED_RUNS_H
#define RAVEL_CHUNKED_RUNS_H

#include "vinterp/tests/chunked-programs.h"
#include "vinterp/tests/fixture.h"

struct ran run_chunked(const char *text, struct machine_options, struct machine_chunks);
/* Expects the same results and diagnostics with chunks of all sizes as without chunks. */
void chunked_expect_all(const struct chunked *, struct machine_options);
/* Returns the text of the program with this name. */
const char *chunked_text(const char *name);
/* Lets each allocation fail once: in a chunk, which is then halved, or elsewhere, which is an
 * error. */
void chunked_sweep(const char *name, struct machine_options, struct machine_chunks);
/* Does the same with a fault: that of the run without chunks is reported, or the lack of
 * memory. */
void chunked_sweep_fault(const char *name, struct machine_options, uint64_t instances);
/* Expects that a fault leaves nothing for the next run of a machine. */
void chunked_expect_again(struct machine_options);

#endif
