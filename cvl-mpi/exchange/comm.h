/* comm.h - the functions of MPI that this room uses, with counters.
 *
 * A `struct comm` is this process among the *ranks* of the job. All functions are collective,
 * except those that join, ask for numbers, or note a place (comm_join .. comm_at): every rank
 * calls the same ones in the same order. In a debug build each call is first compared with
 * those of the other ranks. If one differs, or does not come in time, the job ends with a
 * message that names ranks and calls.
 *
 * Functions do not fail: if MPI fails, or a rank has died, the job ends with one message.
 */
#ifndef RAVEL_MPI_COMM_H
#define RAVEL_MPI_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct comm;

/* Returns the job that this process belongs to. The first call joins it; the process leaves it
 * at exit. Returns NULL, with one line in *why, if there is none. */
struct comm *comm_join(const char **why);
unsigned comm_rank(const struct comm *);
unsigned comm_count(const struct comm *);
/* Returns the rank among the processes on the same machine. */
unsigned comm_rank_here(const struct comm *);

/* Counts of messages since the start of the job. */
struct comm_counts {
  uint64_t collectives; /* calls of the collective functions below, except comm_exchange */
  uint64_t messages;    /* that this rank sent in comm_exchange */
  uint64_t bytes;       /* that this rank sent to others, in any of them */
  uint64_t exchanges;   /* calls of comm_exchange */
  uint64_t gathered;    /* the part of `bytes` that was sent in collectives */
};
struct comm_counts comm_counts(const struct comm *);

/* Names the function and site of the coming calls, for messages of a debug build. */
void comm_at(struct comm *, const char *function, uint64_t site);

/* Sets all[r * bytes ..] to the bytes that rank r has at `mine`. */
void comm_gather(struct comm *, const void *mine, size_t bytes, void *all);
/* Sets from[r] to the word to[this rank] of rank r. */
void comm_transpose(struct comm *, const uint64_t *to, uint64_t *from);

/* Copies the bytes that rank 0 has at `data` to all ranks. */
void comm_broadcast(struct comm *, void *data, uint64_t bytes);

/* The bytes for one rank, or from one; sender and receiver both know how many. */
struct comm_block {
  void *data; /* NULL: a sender sends zeros, a receiver drops what comes */
  uint64_t bytes;
};
/* Sends send[r] to rank r and receives receive[r] from it; this rank's own block is copied.
 * send[r].bytes here equals receive[this rank].bytes on rank r. */
void comm_exchange(struct comm *, const struct comm_block *send,
                   const struct comm_block *receive);

/* Asks whether all ranks are to end. Each rank calls it at the same steps of its work; `wish`
 * says why it wants to end (0: it does not). The result is the same on all ranks (stops.h). It
 * waits for others only after one of them has wished to end. */
unsigned comm_stops(struct comm *, uint64_t epoch, unsigned wish);

/* Called by a rank that failed to do something that all ranks do by themselves. Returns if all
 * others failed as well: then all call this, with the same number. If one does not within some
 * seconds, the job ends with a message. */
void comm_meet(struct comm *, uint64_t number, const char *why);

#endif
