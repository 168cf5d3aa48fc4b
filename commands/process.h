/* process.h - what every command does about its process at the beginning and at the end. */
#ifndef RAVEL_PROCESS_H
#define RAVEL_PROCESS_H

#include "base/permissions.h"

enum {
  STATUS_DONE = 0,
  STATUS_FAILED = 1,
  STATUS_USAGE = 2,
  STATUS_INTERRUPTED = 130,
  MAX_ERRORS_SHOWN = 20
};

/* Makes sure that descriptors 0, 1 and 2 are taken, so that no file opened later becomes the
 * standard output, that a closed pipe is a failed write with a message, and that SIGTERM and
 * SIGHUP remove files that are half written before they end the process. */
void process_begin(void);
/* Permissions for files that the user of the command named. */
struct permissions process_user(void);
/* The permissions with the list of files that are being replaced, which signals remove. */
struct permissions process_listing(struct permissions);
/* Ends the process at once, without half-written files; for signal handlers. */
_Noreturn void process_leave(int status);

/* A clock that only goes on. */
double seconds_now(void);

/* The exit status: `status`, unless output was lost as late as now. */
int process_end(const char *command, int status);

#endif
