/* child.h - a compiler as a child process. It has a process group of its own, so that
 * everything that it starts ends with it. Private to this room.
 */
#ifndef RAVEL_CPU_CHILD_H
#define RAVEL_CPU_CHILD_H

#include <spawn.h>
#include <stdbool.h>
#include <sys/types.h>

#include "cvl/cvl.h"

/* the child gets a quarter of a processor that one thread of the program uses, too */
enum { CHILD_NICENESS = 5 };
/* Starts a program, the first argument, with the usual dispositions of signals. Returns 0 or an
 * errno. In the background its priority is lower than that of this process. */
int child_start(pid_t *, const posix_spawn_file_actions_t *, char *const *arguments,
                char *const *environment, bool background);
/* Whether the child has ended. If so, *status is that of waitpid, and the child is no longer
 * waited for. */
bool child_ended(pid_t, int *status);
/* Waits until the child ends, and returns true; or returns false once `stop` asks. */
bool child_await(pid_t, struct cvl_stop stop, int *status);
/* Waits a little, compared with what a compiler takes. */
void child_pause_briefly(void);
/* Ends the child and everything that it has started, and waits for it. */
void child_end(pid_t);

#endif
