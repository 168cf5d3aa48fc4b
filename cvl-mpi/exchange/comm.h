/* comm.h - what this room asks of MPI, and how often.
 *
 * A `struct comm` is this process among the *ranks* of the job. All functions but the first
 * four are collective: every rank calls the same ones in the same order. In a debug build each
 * call is first compared with those of the other ranks; where one differs, or does not come in
 * time, all end with a message that names ranks and calls.
 *
 * Nothing here fails: where MPI does, or a rank has died, the job ends with one message.
 */
#ifndef RAVEL_MPI_COMM_H
#define RAVEL_MPI_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct comm;

/* The job that this process belongs to, joined by the first call; NULL, with one line in *why,
 * if there is none to be had. One for the process; it is left when the process exits. */
struct comm *comm_join(const char **why);
unsigned comm_rank(const struct comm *);
unsigned comm_count(const struct comm *);
/* Among those on the same machine. */
unsigned comm_rank_here(const struct comm *);

/* What has been sent since the start. */
struct comm_counts {
  uint64_t collectives; /* calls of the functions below, other than comm_exchange */
  uint64_t messages;    /* that this rank sent in comm_exchange */
  uint64_t bytes;       /* that this rank sent to others, in any of them */
  uint64_t exchanges;   /* calls of comm_exchange */
  uint64_t gathered;    /* those of `bytes` that were sent in collectives */
};
struct comm_counts comm_counts(const struct comm *);

/* Where the calls to come are: what a message of a debug build says. */
void comm_at(struct comm *, const char *function, uint64_t site);

/* all[r * bytes ..] = what rank r has at `mine`. */
void comm_gather(struct comm *, const void *mine, size_t bytes, void *all);
/* from[r] = to[this rank] of rank r: a word for each rank. */
void comm_transpose(struct comm *, const uint64_t *to, uint64_t *from);

/* All get what rank 0 has at `data`. */
void comm_broadcast(struct comm *, void *data, uint64_t bytes);

/* Bytes for, or from, each rank: both know how many. */
struct comm_block {
  void *data; /* NULL: the sender has none and sends zeros, the receiver drops what comes */
  uint64_t bytes;
};
/* Sends send[r] to rank r and receives receive[r] from it; of this rank itself they are copied.
 * send[r].bytes here is receive[this rank].bytes there. */
void comm_exchange(struct comm *, const struct comm_block *send,
                   const struct comm_block *receive);

/* Whether all are to end: each calls it at the same steps of its work, and says why it wants to
 * (0: it does not). What it gives is the same on all ranks (stops.h). Waits for others only
 * after one of them has wanted to. */
unsigned comm_stops(struct comm *, uint64_t epoch, unsigned wish);

/* For a rank that could not do, for some reason, what all ranks do by themselves: returns if
 * none of the others could, which then all call this, with the same number. If one does not
 * within some seconds the job ends, with a message. */
void comm_meet(struct comm *, uint64_t number, const char *why);

#endif
