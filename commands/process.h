/* process.h - the process of a command: its beginning and end, its stack, signals, and the
 * limit of time. */
#ifndef RAVEL_PROCESS_H
#define RAVEL_PROCESS_H

#include "base/permissions.h"
#include "base/stop.h"

#include <stdint.h>
#include <stdio.h>

enum {
  STATUS_DONE = 0,
  STATUS_FAILED = 1,
  STATUS_USAGE = 2,
  STATUS_INTERRUPTED = 130,
  MAX_ERRORS_SHOWN = 20
};

/* The whole of main: prepares the process, executes the command and flushes its output; the
 * exit status.
 *
 * Opens descriptors 0, 1 and 2 if they are closed, so that no file opened later becomes the
 * standard output. A closed pipe and a file at its size limit are failed writes with a message.
 * SIGINT, SIGTERM and SIGHUP, unless they are ignored, only ask the command to stop: it tests
 * process_stop, gives up and removes its temporary files. After SIGTERM and SIGHUP the process
 * then ends by the signal. The same signal a second time ends it at once.
 *
 * Of the ranks of an MPI job (base/job.h) only rank 0 prints, unless --backend names a back end
 * of each process's own.
 *
 * The command runs on a thread with a stack of known size, whatever the limit of the caller:
 * the limits of nesting in parsers and passes are chosen for it. */
int process_main(const char *name, int (*command)(int argc, char **argv), int argc,
                 char **argv);

/* Whether this process is one of several ranks that run one program together; and whether it is
 * not the first, which alone prints and writes files. */
bool process_is_rank(void);
bool process_follows(void);

/* How ranks get what the first one reads from standard input, which the others do not have.
 * False, on all ranks, with a reason if it cannot be done. A command sets it; NULL in a process
 * that is no rank, or none that runs a program. */
typedef bool process_share(void *data, uint64_t bytes, char *why, size_t size);
void process_share_input(process_share *);
process_share *process_shares(void);
/* The back end that the ranks use. */
const char *process_ranks_backend(void);

/* Whether and why the command is asked to end. A process has one, since it gets the signals. */
struct stop *process_stop(void);
/* Sets a limit of time for process_stop, which also ends waits for input and output; 0 seconds:
 * none. */
void process_limit(double seconds);
/* Whether SIGINT has come; resets it, and the limit of time. */
bool process_forget_interrupt(void);

/* Files that are mapped: memory of one that another process makes shorter is gone. Whoever
 * reads it ends the process, with a message that names the file. `begin` is what mmap gave; of
 * many files only the first are known by name. */
void process_mapped(const void *begin, size_t length, const char *file);
void process_unmapped(const void *begin);

/* The status of a command that has failed: STATUS_INTERRUPTED if a signal asked for it. */
int process_failed(void);

/* Permissions for files that the user of the command named. */
struct permissions process_user(void);
/* The permissions with the list of files that are being replaced, which signals remove. */
struct permissions process_listing(struct permissions);

/* Returns whether a stream reaches its reader where more is to be written: false if that would
 * be lost, too. A write that a signal or the limit of time ended does not count. */
bool process_reaches(FILE *);
/* Writes a text, in chunks, since readers may be slow. False if that fails, or if the command
 * is asked to end. If standard output fails, the reason is reported when the command is done,
 * unless the command has failed. */
bool process_write(FILE *, const char *text, size_t length);

#endif
