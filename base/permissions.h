/* permissions.h - which files may be opened and which processes started, and by whom.
 *
 * Whatever opens a file or starts a process is given a `struct permissions`: those of the user
 * for what the user named, those of the program for what a program named. docs/security.md
 * lists all routes; nothing else opens anything that a user or a program can name.
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
  const char *permitting; /* a command that permits files, said with the refusal; or
                             NULL. Borrowed */
  struct temporaries *temporaries; /* lists files that are being replaced; NULL: nothing does */
  const struct stop *stop;         /* ends the writing of such files; or NULL */
};

/* Permissions of the user, for what the user named: all there are. */
struct permissions permissions_of_user(struct temporaries *);

enum { FILE_PROBLEM_MAX = 400 };

/* Why something was not done. */
struct file_problem {
  int error; /* the system's number; 0: it is not permitted */
  char text[FILE_PROBLEM_MAX];
};

/* Puts the system's sentence on an error into the problem, and returns false. */
bool file_failed(struct file_problem *, int error);

enum file_use {
  FILE_READ,
  FILE_WRITE, /* made if it is not there, emptied if it is */
  FILE_APPEND /* made if it is not there */
};

/* Whether any file may be opened; otherwise a problem. */
bool files_permitted(const struct permissions *, struct file_problem *);

/* Opens a file: a descriptor, closed on exec, which the caller closes. -1 with a problem. */
int file_open(const struct permissions *, const char *path, enum file_use,
              struct file_problem *);

/* Opens a source that another one names, for reading. Where files are permitted, any; else
 * ordinary files whose names end in `extension`, in one of the directories or below, after all
 * links have been followed. What is elsewhere is refused in the same words whether it exists or
 * not. A directory that is NULL holds nothing. -1 with a problem. */
int file_open_source(const struct permissions *, const char *path, const char *extension,
                     const char *const *directories, size_t count, struct file_problem *);

/* Whether processes may be started; otherwise a problem. */
bool process_permitted(const struct permissions *, struct file_problem *);
/* posix_spawnp. False with a problem: with error 0 if it is not permitted. */
bool process_spawn(const struct permissions *, pid_t *, const posix_spawn_file_actions_t *,
                   const posix_spawnattr_t *, char *const *words, struct file_problem *);
/* Has a shell execute a line, and waits; *status is that of waitpid. False with a problem. */
bool process_shell(const struct permissions *, const char *line, int *status,
                   struct file_problem *);

#endif
