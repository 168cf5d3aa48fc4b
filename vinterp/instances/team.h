/* team.h - the chunks of a cut on several threads (docs/internals/memory.md).
 *
 * A machine's *team* is its threads for this: as many as options.threads says, of which the
 * caller is one; they sleep between cuts. Each has a *sub-machine* (sub-machine.c): a machine
 * over a sub-context of the back end, with a stack, frames, a history and cuts of its own, and
 * with the code and the kernels of its parent. It takes a range of instances of its parent's
 * cut, executes that as a chunk, lays the results where they belong, and takes the next one.
 * Nobody waits for another one between the operations of a chunk.
 *
 * A sub-machine reports nothing. Memory: its chunk is halved; one instance that fails is tried
 * again when no other thread does anything; when that fails, the parent does without threads.
 * Any other fault ends all of them, and the parent searches for the one to report
 * (chunk-faults.c), in the order of the instances.
 */
#ifndef RAVEL_TEAM_H
#define RAVEL_TEAM_H

#include "vinterp/report/profile.h"
#include <stdbool.h>
#include <stdint.h>

struct machine;
struct cut;
struct team;

/* Makes what a machine needs to have one, if its back end and options allow it; threads are
 * started when they are first wanted. False without memory. */
bool team_init(struct machine *);
void team_free(struct machine *);
/* Forgets what sub-machines have of a program, before it goes. */
void team_forget(struct machine *);

/* With the caller; 1 if there is no team. */
unsigned team_threads(const struct team *);
/* Whether threads may execute this function: it draws no random numbers, whose positions depend
 * on the chunks before, and can be reached without stack code. Then all kernels that it may
 * need are prepared. */
bool team_may(struct machine *, uint32_t function);
/* The same, found out: reach.c. */
bool reach_is_for_threads(struct machine *, uint32_t function);
/* Whether the rest of a cut, which is between chunks, is to be executed by a team. */
bool team_is_wanted(struct machine *, const struct cut *);
enum team_outcome {
  TEAM_DONE,  /* cut->results[k].whole has the results of all instances */
  TEAM_FAULT, /* as after a fault in a chunk, or one that is reported */
  TEAM_NOT    /* it was not to be had: the cut is to go on, perhaps from its beginning */
};
enum team_outcome team_run(struct machine *, struct cut *);

/* Of a sub-machine: takes the next range and begins it; false: there is none. */
bool team_take(struct machine *sub, struct cut *, uint32_t *location);
/* What a chunk of it may need. */
double team_share(const struct team *, enum chunk_bound *);

/* Whether sub-machines are at work, when nobody calls the parent's context; what its statistics
 * were when they began. Whether they are to end, on any thread. */
bool team_is_busy(const struct team *);
struct cvl_statistics team_statistics(const struct team *);
bool team_is_ending(const struct team *);

/* ---- for team.c: sub-machine.c ---- */

/* NULL without memory. */
struct machine *sub_new(struct machine *parent);
void sub_free(struct machine *);
/* Opens it for chunks of the parent's cut, without any; false, and it is closed, if there is no
 * memory. */
bool sub_open(struct machine *, struct machine *parent, const struct cut *);
/* Adds what it has counted to the parent's, and closes it. */
void sub_close(struct machine *, struct machine *parent, struct cut *);
void sub_forget(struct machine *);
/* Executes ranges until there are none. */
void sub_run(struct machine *);
/* Gives up the chunk under way, and the fault that ended it. */
void sub_drop_chunk(struct machine *);

/* For sub-machine.c. The instance under way has failed for want of memory: waits until nobody
 * else works. False: it has been so, or all are to end. */
bool team_wait_alone(struct machine *sub);
/* All are to end, because of what this one has found. */
void team_end(struct machine *sub);

#endif
