/* permissions.h - which files may be opened and which processes started.
 *
 * Code that opens a file or starts a process takes a `struct permissions`: the user's for names
 * given by the user, the program's for names given by a program. docs/security.md lists all
 * routes; nothing else opens a file whose name a user or a program can choose.
 */
#ifndef RAVEL_PERMISSIONS_H
#define RAVEL_PERMISSIONS_H

#include "base/stop.h"
#include "base/temporaries.h"

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct permissions {
  bool files;             /* open any file that the process may, for reading and writing */
  bool processes;         /* start processes */
  const char *permitting; /* a command that permits files, for the refusal's message;
                             or NULL. Borrowed */
  const char *files_option, *processes_option; /* what permits them, for that message, too;
                                                  NULL: --allow-files, --allow-spawn */
  atomic_bool *refused;                        /* is set where something is refused; or NULL */
  struct temporaries *temporaries; /* lists files that are being replaced; or NULL */
  const struct stop *stop;         /* ends the writing of such files; or NULL */
};

/* Returns the user's permissions, which allow everything. */
struct permissions permissions_of_user(struct temporaries *);

enum { FILE_PROBLEM_MAX = 400 };

/* Why an operation was refused or failed. */
struct file_problem {
  int error; /* the system's number; 0: it is not permitted */
  char text[FILE_PROBLEM_MAX];
};

/* Sets the problem to the system's message for an error, and returns false. */
bool file_failed(struct file_problem *, int error);

enum file_use {
  FILE_READ,
  FILE_WRITE, /* created, or truncated */
  FILE_APPEND /* created if it does not exist */
};

/* Returns whether any file may be opened; otherwise there is a problem. */
bool files_permitted(const struct permissions *, struct file_problem *);

/* Opens a file. Returns a descriptor, closed on exec, which the caller closes; -1 with a
 * problem. */
int file_open(const struct permissions *, const char *path, enum file_use,
              struct file_problem *);

/* Opens a source named by another source, for reading. Where files are permitted, it may be any
 * file. Else it must be an ordinary file whose name ends in `extension` and that lies in one of
 * the directories or below, after resolving links. Other files are refused in the same words
 * whether they exist or not. NULL directories are ignored. Returns -1 with a problem. */
int file_open_source(const struct permissions *, const char *path, const char *extension,
                     const char *const *directories, size_t count, struct file_problem *);

/* Returns whether processes may be started; otherwise there is a problem. */
bool process_permitted(const struct permissions *, struct file_problem *);
/* Calls posix_spawnp. Returns false with a problem, whose error is 0 if starting is not
 * permitted. */
bool process_spawn(const struct permissions *, pid_t *, const posix_spawn_file_actions_t *,
                   const posix_spawnattr_t *, char *const *words, struct file_problem *);
/* Has a shell execute a line, and waits; *status is waitpid's. Returns false with a problem. */
bool process_shell(const struct permissions *, const char *line, int *status,
                   struct file_problem *);

#endif
