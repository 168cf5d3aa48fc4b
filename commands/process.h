/* process.h - what every command does about its process: its beginning and end, its stack,
 * signals and the limit of time. */
#ifndef RAVEL_PROCESS_H
#define RAVEL_PROCESS_H

#include "base/permissions.h"
#include "base/stop.h"

#include <stdio.h>

enum {
  STATUS_DONE = 0,
  STATUS_FAILED = 1,
  STATUS_USAGE = 2,
  STATUS_INTERRUPTED = 130,
  MAX_ERRORS_SHOWN = 20
};

/* The whole of main: prepares the process, executes the command and makes sure that what it has
 * printed is written; the exit status.
 *
 * Descriptors 0, 1 and 2 are taken afterwards, so that no file opened later becomes the
 * standard output; a closed pipe and a file that may grow no further are failed writes with a
 * message. SIGINT, SIGTERM and SIGHUP, unless they are ignored, only ask: whoever works looks
 * at process_stop, gives up and removes what it has made for the time being. The process then
 * ends by SIGTERM and SIGHUP as it would have without. The same signal again ends it at once.
 *
 * The command runs on a thread with a stack of known size, whatever the limit of the caller's:
 * the limits of nesting in parsers and passes are made for it. */
int process_main(const char *name, int (*command)(int argc, char **argv), int argc,
                 char **argv);

/* Who asks the command to end. There is one in a process, since signals are for all of it. */
struct stop *process_stop(void);
/* Begins a limit of time of process_stop, which ends waits for input and output too; 0 seconds:
 * there is none. */
void process_limit(double seconds);
/* Whether SIGINT has come; forgets it, and the limit of time. */
bool process_forget_interrupt(void);

/* The status of a command that has failed: STATUS_INTERRUPTED if a signal asked for it. */
int process_failed(void);

/* Permissions for files that the user of the command named. */
struct permissions process_user(void);
/* The permissions with the list of files that are being replaced, which signals remove. */
struct permissions process_listing(struct permissions);

/* Flushes a stream; writes a text, a piece at a time, since readers may be slow. False if that
 * fails: of standard output it will be said why when the command is done, unless the command
 * has failed. False too if the command is asked to end. */
bool process_flush(FILE *);
bool process_write(FILE *, const char *text, size_t length);

/* A clock that only goes on. */
double seconds_now(void);

#endif
