/* report.h - explains why a run of the machine failed, in terms of the NESL program. */
#ifndef RAVEL_LIBRAVEL_REPORT_H
#define RAVEL_LIBRAVEL_REPORT_H

#include "neslc/failure.h"
#include "vinterp/machine.h"

struct failed_run {
  struct session *session;
  struct core *whole;               /* the expression or body that was compiled ... */
  const struct ir_program *program; /* ... to this */
  const struct machine_failure *failure;
  const struct diag_list *reported; /* by the machine */
  const char *said; /* the text that `error` printed where nobody sees it; or NULL */
};

/* Reports the failure with the machine's message, but without the VCODE instruction, which the
 * user did not write, at the source locations that its origins name. */
void report_failed_run(const struct failed_run *, struct complaints *);
/* Reports the failure of a program whose NESL is not there, at the source locations that its
 * origins name. Without origins it is the machine's report. Session and `whole` are not used.
 */
void report_failed_program(const struct failed_run *, struct diag_list *);

#endif
