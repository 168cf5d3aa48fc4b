/* team.h - the chunks of a cut on several threads (docs/internals/memory.md).
 *
 * A machine's *team* is its threads for chunks: as many as options.threads says, including the
 * caller. They sleep between cuts. Each has a *sub-machine* (sub-machine.c): a machine over a
 * sub-context of the back end. It has its own stack, frames, history and cuts, and its
 * parent's code and kernels. It takes a range of instances of its parent's cut, executes that
 * as a chunk, puts the results where they belong, and takes the next range. No thread waits
 * for another one between the operations of a chunk.
 *
 * A sub-machine reports nothing. If memory runs out, its chunk is halved. A single instance
 * that fails is tried again when no other thread works; if it fails again, the parent executes
 * the cut without threads. Any other fault ends all of them, and the parent searches for the
 * one to report (chunk-faults.c), in the order of the instances.
 */
#ifndef RAVEL_TEAM_H
#define RAVEL_TEAM_H

#include "vinterp/report/profile.h"
#include <stdbool.h>
#include <stdint.h>

struct machine;
struct cut;
struct team;

/* Prepares a machine to have a team, if its back end and options allow it; threads are started
 * when they are first wanted. Returns false if memory runs out. */
bool team_init(struct machine *);
void team_free(struct machine *);
/* Frees the data of a program in sub-machines, before it is freed. */
void team_forget(struct machine *);

/* Returns the number of threads, including the caller; 1 if there is no team. */
unsigned team_threads(const struct team *);
/* Returns whether threads may execute this function. It must draw no random numbers, whose
 * positions depend on earlier chunks, and reach no stack code. Then all kernels that it may
 * need have been prepared. */
bool team_may(struct machine *, uint32_t function);
/* Returns the same from a walk over functions: reach.c. */
bool reach_is_for_threads(struct machine *, uint32_t function);
/* Returns whether the rest of a cut, which is between chunks, is to be executed by a team. */
bool team_is_wanted(struct machine *, const struct cut *);
enum team_outcome {
  TEAM_DONE,  /* cut->results[k].whole has the results of all instances */
  TEAM_FAULT, /* as after a fault in a chunk; or the fault is reported */
  TEAM_NOT    /* the team could not execute it: the cut continues, perhaps from its beginning */
};
enum team_outcome team_run(struct machine *, struct cut *);

/* Takes the next range for a sub-machine and begins it. Returns false if there is none. */
bool team_take(struct machine *sub, struct cut *, uint32_t *location);
/* Returns the bytes that a chunk of a sub-machine may need. */
double team_share(const struct team *, enum chunk_bound *);

/* team_is_busy returns whether sub-machines are at work; then nobody calls the parent's
 * context. team_statistics returns its statistics when they began. team_is_ending returns, on
 * any thread, whether they are to end. */
bool team_is_busy(const struct team *);
struct cvl_statistics team_statistics(const struct team *);
bool team_is_ending(const struct team *);

/* ---- for team.c: sub-machine.c ---- */

/* Makes a sub-machine; NULL if memory runs out. */
struct machine *sub_new(struct machine *parent);
void sub_free(struct machine *);
/* Opens it for chunks of the parent's cut, of which it has none yet. Returns false, and closes
 * it, if memory runs out. */
bool sub_open(struct machine *, struct machine *parent, const struct cut *);
/* Adds its counts to the parent's, and closes it. */
void sub_close(struct machine *, struct machine *parent, struct cut *);
void sub_forget(struct machine *);
/* Executes ranges until there are none. */
void sub_run(struct machine *);
/* Gives up the present chunk, and the fault that ended it. */
void sub_drop_chunk(struct machine *);

/* Waits until no other thread works, after the present instance has failed for want of memory.
 * Returns false if no other worked, or all are to end. For sub-machine.c. */
bool team_wait_alone(struct machine *sub);
/* Ends all threads, because of the fault of this one. */
void team_end(struct machine *sub);

#endif
