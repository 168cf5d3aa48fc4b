/* comm.c - see comm.h. Waiting yields the processor, since there may be more ranks than
 * processors.
 */
#include "cvl-mpi/exchange/comm.h"

#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/job.h"
#include "base/stop.h"
#include "cvl-mpi/exchange/stops.h"
#include "cvl-mpi/values/values.h"

enum {
  MESSAGE = 1 << 20,    /* bytes of one message, and of the buffers below */
  SPIN = 1000,          /* looks before the processor is yielded */
  YIELDS = 2000,        /* yields before this process sleeps */
  NAP_NS = 1000,        /* by which each sleep is longer than the one before */
  NAP_MOST_NS = 500000, /* the longest sleep */
  LEAVE_SECONDS = 10,   /* a rank waits so long at exit for the others */
  MEET_SECONDS = 5,     /* a rank that fails waits so long for the others to fail, too */
  COMPARE_SECONDS = 60  /* a debug build waits so long for the others to make the same call */
};

struct comm {
  unsigned rank, count;
  unsigned here;  /* this process's rank on its machine */
  MPI_Comm world; /* a communicator that only this room uses */
  struct comm_counts counts;
  struct stops stops;
  const char *function; /* the function of the table that is executed, and its site */
  uint64_t site;
  MPI_Request *requests; /* 2 * count */
  MPI_Status *statuses;  /* as many; nobody reads them */
  char *zeros, *drop; /* buffers of MESSAGE bytes: zeros to send, and received bytes to drop */
  uint64_t calls;     /* number of calls, in a debug build */
  uint64_t delays; /* RAVEL_MPI_DELAYS, for tests: state of a random generator; 0: no delays */
};

/* ---- waiting ---- */

/* Yields the processor after many looks (stops.h), since there may be more ranks than
 * processors. */
void comm_give_way(unsigned k) {
  if (k < SPIN) return;
  if (k < SPIN + YIELDS) {
    sched_yield();
    return;
  }
  const unsigned long naps = k - SPIN - YIELDS + 1;
  const struct timespec nap = {.tv_nsec = naps < NAP_MOST_NS / NAP_NS ? (long)(naps * NAP_NS)
                                                                      : NAP_MOST_NS};
  nanosleep(&nap, NULL);
}

/* Waits for n requests. Returns false after so many seconds; 0: waits without limit. */
static bool comm_complete(struct comm *c, MPI_Request *requests, int n, double seconds) {
  const double begun = seconds > 0 ? stop_clock() : 0;
  int done = 0;
  for (unsigned k = 0;; k += k < UINT_MAX) {
    MPI_Testall(n, requests, &done, c->statuses);
    if (done) return true;
    if (k >= SPIN && c->stops.promises) stops_look(&c->stops);
    comm_give_way(k);
    if (seconds > 0 && stop_clock() - begun > seconds) return false;
  }
}

/* Returns the descriptor that was standard error before a command silenced its ranks
 * (commands/process.c). */
static int errors(void) {
  const char *number = getenv("RAVEL_ERRORS");
  return number ? atoi(number) : STDERR_FILENO;
}

static _Noreturn void end_job(struct comm *c, const char *message) {
  dprintf(errors(), "ravel: %s\n", message);
  MPI_Abort(c->world, 1);
  abort();
}

/* ---- delays, for tests: ranks come late, and messages in another order ---- */

static uint64_t comm_draw(struct comm *c) {
  c->delays ^= c->delays << 13; /* xorshift (Marsaglia) */
  c->delays ^= c->delays >> 7;
  c->delays ^= c->delays << 17;
  return c->delays >> 16;
}

static void read_delays(struct comm *c) {
  const char *text = getenv("RAVEL_MPI_DELAYS");
  if (text) c->delays = (strtoull(text, NULL, 10) * 64 + c->rank + 1) * UINT64_C(2654435769);
}

/* Sleeps up to half a millisecond, in one call of eight. */
static void delay(struct comm *c) {
  enum { SELDOM = 8, MOST_NS = 500000 };
  if (!c->delays || comm_draw(c) % SELDOM) return;
  const struct timespec t = {.tv_nsec = (long)(comm_draw(c) % MOST_NS)};
  nanosleep(&t, NULL);
}

/* Returns the distance from this rank to the first one that it sends to. */
static unsigned first_distance(struct comm *c) {
  return c->delays && c->count > 1 ? (unsigned)(comm_draw(c) % (c->count - 1)) : 0;
}

/* ---- every rank in the same call ---- */

#ifdef RAVEL_DEBUG

struct call {
  char name[24], function[24];
  uint64_t site, number;
};

static bool same_call(const struct call *a, const struct call *b) {
  return strcmp(a->name, b->name) == 0 && strcmp(a->function, b->function) == 0 &&
         a->site == b->site;
}

static struct call call_here(const struct comm *c, const char *name) {
  struct call here = {.site = c->site, .number = c->calls};
  snprintf(here.name, sizeof here.name, "%s", name);
  snprintf(here.function, sizeof here.function, "%s", c->function);
  return here;
}

static _Noreturn void disagree(struct comm *c, unsigned r, const struct call *there,
                               const struct call *here) {
  char text[256];
  snprintf(text, sizeof text,
           "rank %u is in %s of %s, site %llu, and rank %u in %s of %s, site %llu", c->rank,
           here->name, here->function, (unsigned long long)here->site, r, there->name,
           there->function, (unsigned long long)there->site);
  end_job(c, text);
}

static _Noreturn void waited(struct comm *c, const struct call *here) {
  char text[256];
  snprintf(text, sizeof text, "rank %u has waited for %d seconds in %s of %s, site %llu",
           c->rank, COMPARE_SECONDS, here->name, here->function,
           (unsigned long long)here->site);
  end_job(c, text);
}

/* Compares the coming call with those of the other ranks. */
static void comm_compare(struct comm *c, const char *name) {
  const struct call here = call_here(c, name);
  struct call *all = calloc(c->count, sizeof *all);
  MPI_Request request;
  c->calls++;
  if (!all) end_job(c, "no memory");
  MPI_Iallgather(&here, (int)sizeof here, MPI_BYTE, all, (int)sizeof here, MPI_BYTE, c->world,
                 &request);
  if (!comm_complete(c, &request, 1, COMPARE_SECONDS)) waited(c, &here);
  for (unsigned r = 0; r < c->count; r++) {
    if (!same_call(&all[r], &here)) disagree(c, r, &all[r], &here);
  }
  free(all);
}

#else

static void comm_compare(struct comm *c, const char *name) {
  (void)c;
  (void)name;
}

#endif

void comm_at(struct comm *c, const char *function, uint64_t site) {
  c->function = function;
  c->site = site;
}

/* ---- joining and leaving ---- */

static struct comm *joined;

enum { TAG_LEAVE = 1, TAG_EXCHANGE, TAG_MEET, TAG_STOP };

/* Rank 0 waits until all have come to the end; it ends the job with a message if one does not.
 */
static void wait_for_others(struct comm *c) {
  char text[64];
  for (unsigned r = 1; r < c->count; r++)
    MPI_Irecv(NULL, 0, MPI_BYTE, (int)r, TAG_LEAVE, c->world, &c->requests[r]);
  for (unsigned r = 1; r < c->count; r++) {
    if (comm_complete(c, &c->requests[r], 1, LEAVE_SECONDS)) continue;
    snprintf(text, sizeof text, "rank %u has not ended with the others", r);
    end_job(c, text);
  }
}

/* Called at exit, since a rank may exit from anywhere. A rank that exits alone ends the job. */
static void comm_leave(void) {
  struct comm *c = joined;
  int over = 0;
  MPI_Finalized(&over);
  if (over) return;
  if (c->rank == 0) wait_for_others(c);
  if (c->rank != 0) {
    MPI_Isend(NULL, 0, MPI_BYTE, 0, TAG_LEAVE, c->world, c->requests);
    if (!comm_complete(c, c->requests, 1, LEAVE_SECONDS)) end_job(c, "rank 0 has not ended");
  }
  MPI_Finalize();
}

static unsigned find_here(const struct comm *c) {
  MPI_Comm machine;
  int rank = 0;
  if (MPI_Comm_split_type(c->world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine) !=
      MPI_SUCCESS)
    return 0;
  MPI_Comm_rank(machine, &rank);
  MPI_Comm_free(&machine);
  return (unsigned)rank;
}

static bool comm_prepare(struct comm *c) {
  int rank, count;
  MPI_Comm_dup(MPI_COMM_WORLD, &c->world);
  MPI_Comm_rank(c->world, &rank);
  MPI_Comm_size(c->world, &count);
  c->rank = (unsigned)rank;
  c->count = (unsigned)count;
  c->here = find_here(c);
  c->function = "open";
  read_delays(c);
  c->requests = calloc(2 * (size_t)count, sizeof *c->requests);
  c->statuses = calloc(2 * (size_t)count, sizeof *c->statuses);
  c->zeros = calloc(1, MESSAGE);
  c->drop = malloc(MESSAGE);
  return c->requests && c->statuses && c->zeros && c->drop &&
         stops_init(&c->stops, c->world, TAG_STOP);
}

/* Tells whether MPI knows all processes of the job. The mpirun of another MPI starts processes
 * of which each believes that it is alone. */
static bool same_job(const char **why) {
  int count = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  if ((unsigned)count == job_of_process().count) return true;
  *why =
      "the processes of this job do not find each other: it was started by the mpirun of "
      "another MPI than the back end was built with (" MPI_NAME "); that of " MPI_NAME
      " is to be used, or --backend cpu for processes that have nothing to do with each other";
  return false;
}

struct comm *comm_join(const char **why) {
  static struct comm c;
  int begun = 0, level;
  if (joined) return joined;
  MPI_Initialized(&begun);
  if (!begun && MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS) {
    *why = "MPI cannot be initialised";
    return NULL;
  }
  if (!same_job(why)) return NULL;
  if (!comm_prepare(&c) || atexit(comm_leave) != 0) {
    *why = "no memory";
    return NULL;
  }
  joined = &c;
  return joined;
}

unsigned comm_rank(const struct comm *c) {
  return c->rank;
}

unsigned comm_rank_here(const struct comm *c) {
  return c->here;
}

unsigned comm_count(const struct comm *c) {
  return c->count;
}

struct comm_counts comm_counts(const struct comm *c) {
  return c->counts;
}

/* ---- collectives ---- */

static void count_collective(struct comm *c, uint64_t bytes) {
  c->counts.collectives++;
  c->counts.bytes += bytes;
  c->counts.gathered += bytes;
}

void comm_gather(struct comm *c, const void *mine, size_t bytes, void *all) {
  delay(c);
  comm_compare(c, "gather");
  if (c->count == 1) {
    if (bytes > 0) memcpy(all, mine, bytes);
    return;
  }
  count_collective(c, (c->count - 1) * (uint64_t)bytes);
  MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, c->world, c->requests);
  comm_complete(c, c->requests, 1, 0);
}

void comm_transpose(struct comm *c, const uint64_t *to, uint64_t *from) {
  delay(c);
  comm_compare(c, "transpose");
  if (c->count == 1) {
    from[0] = to[0];
    return;
  }
  count_collective(c, (c->count - 1) * sizeof *to);
  MPI_Ialltoall(to, 1, MPI_UINT64_T, from, 1, MPI_UINT64_T, c->world, c->requests);
  comm_complete(c, c->requests, 1, 0);
}

void comm_broadcast(struct comm *c, void *data, uint64_t bytes) {
  delay(c);
  comm_compare(c, "broadcast");
  count_collective(c, c->rank == 0 ? (c->count - 1) * bytes : 0);
  for (uint64_t done = 0; done < bytes; done += MESSAGE) {
    const uint64_t n = bytes - done < MESSAGE ? bytes - done : MESSAGE;
    MPI_Ibcast((char *)data + done, (int)n, MPI_BYTE, 0, c->world, c->requests);
    comm_complete(c, c->requests, 1, 0);
  }
}

/* ---- exchange: in each round one message from each rank to each ---- */

static uint64_t message_bytes(const struct comm_block *b, uint64_t done) {
  const uint64_t left = b->bytes > done ? b->bytes - done : 0;
  return left < MESSAGE ? left : MESSAGE;
}

static void copy_own(const struct comm_block *send, const struct comm_block *receive) {
  if (!receive->data || receive->bytes == 0) return;
  if (send->data) {
    memcpy(receive->data, send->data, send->bytes);
  } else {
    memset(receive->data, 0, receive->bytes);
  }
}

static int begin_send(struct comm *c, unsigned r, const struct comm_block *b, uint64_t done,
                      MPI_Request *request) {
  const uint64_t n = message_bytes(b, done);
  const char *from = b->data ? (const char *)b->data + done : c->zeros;
  if (n == 0) return 0;
  MPI_Isend(from, (int)n, MPI_BYTE, (int)r, TAG_EXCHANGE, c->world, request);
  c->counts.messages++;
  c->counts.bytes += n;
  return 1;
}

static int begin_receive(struct comm *c, unsigned r, const struct comm_block *b, uint64_t done,
                         MPI_Request *request) {
  const uint64_t n = message_bytes(b, done);
  if (n == 0 || !b->data) return 0;
  MPI_Irecv((char *)b->data + done, (int)n, MPI_BYTE, (int)r, TAG_EXCHANGE, c->world, request);
  return 1;
}

/* Receives a message that is dropped, into the one buffer. All sends have begun before. */
static void comm_drop(struct comm *c, unsigned r, const struct comm_block *b, uint64_t done) {
  const uint64_t n = message_bytes(b, done);
  MPI_Request request;
  if (n == 0 || b->data) return;
  MPI_Irecv(c->drop, (int)n, MPI_BYTE, (int)r, TAG_EXCHANGE, c->world, &request);
  comm_complete(c, &request, 1, 0);
}

static void exchange_round(struct comm *c, const struct comm_block *send,
                           const struct comm_block *receive, uint64_t done) {
  const unsigned first = first_distance(c), others = c->count - 1;
  int n = 0;
  for (unsigned i = 0; i < others; i++) {
    const unsigned k = 1 + (first + i) % others;
    const unsigned r = (c->rank + k) % c->count, from = (c->rank + c->count - k) % c->count;
    delay(c);
    n += begin_send(c, r, &send[r], done, c->requests + n);
    n += begin_receive(c, from, &receive[from], done, c->requests + n);
  }
  for (unsigned r = 0; r < c->count; r++) {
    if (r != c->rank) comm_drop(c, r, &receive[r], done);
  }
  comm_complete(c, c->requests, n, 0);
}

static bool has_message(const struct comm *c, const struct comm_block *send,
                        const struct comm_block *receive, uint64_t done) {
  for (unsigned r = 0; r < c->count; r++) {
    if (r == c->rank) continue;
    if (message_bytes(&send[r], done) > 0 || message_bytes(&receive[r], done) > 0) return true;
  }
  return false;
}

void comm_exchange(struct comm *c, const struct comm_block *send,
                   const struct comm_block *receive) {
  delay(c);
  comm_compare(c, "exchange");
  c->counts.exchanges++;
  copy_own(&send[c->rank], &receive[c->rank]);
  for (uint64_t done = 0; has_message(c, send, receive, done); done += MESSAGE)
    exchange_round(c, send, receive, done);
}

/* ---- ending or failing together ---- */

unsigned comm_stops(struct comm *c, uint64_t epoch, unsigned wish) {
  return stops_decide(&c->stops, epoch, wish);
}

void comm_meet(struct comm *c, uint64_t number, const char *why) {
  uint64_t *theirs = calloc(c->count, sizeof *theirs);
  char text[128];
  int n = 0;
  bool all = theirs != NULL;
  for (unsigned r = 0; all && r < c->count; r++) {
    if (r == c->rank) continue;
    MPI_Isend(&number, 1, MPI_UINT64_T, (int)r, TAG_MEET, c->world, &c->requests[n++]);
    MPI_Irecv(&theirs[r], 1, MPI_UINT64_T, (int)r, TAG_MEET, c->world, &c->requests[n++]);
  }
  all = all && comm_complete(c, c->requests, n, MEET_SECONDS);
  for (unsigned r = 0; all && r < c->count; r++) all = r == c->rank || theirs[r] == number;
  free(theirs);
  if (all) return;
  snprintf(text, sizeof text, "rank %u cannot go on with the others: %s", c->rank, why);
  end_job(c, text);
}
