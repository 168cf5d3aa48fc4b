/* child.h - a compiler as a child process, in a process group of its own, so that everything
 * that it starts can be ended with it. Private to this room.
 */
#ifndef RAVEL_CPU_CHILD_H
#define RAVEL_CPU_CHILD_H

#include <spawn.h>
#include <stdbool.h>
#include <sys/types.h>

#include "cvl/cvl.h"

enum { CHILD_NICENESS = 5 }; /* a quarter of a processor, beside one thread of the program */
/* Starts a program, a path, in the environment of this process and with signals as a program
 * expects them. 0 or an errno. In the background it is nicer than this process. */
int child_start(pid_t *, const char *program, const posix_spawn_file_actions_t *,
                char *const *arguments, bool background);
/* Whether it has ended; *status as by waitpid. It is then no child any more. */
bool child_ended(pid_t, int *status);
/* The same, waiting for it as long as `stop` does not ask. */
bool child_await(pid_t, struct cvl_stop stop, int *status);
/* Ends it, and everything that it has started, and waits for it. */
void child_end(pid_t);

#endif
