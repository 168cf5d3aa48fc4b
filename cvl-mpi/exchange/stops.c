/* stops.c - see stops.h. Messages of a rank arrive in order, and no rank begins another round
 * before it has all promises of this one. So each rank has at most one message of each other
 * rank to look for.
 */
#include "cvl-mpi/exchange/stops.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool stops_init(struct stops *s, MPI_Comm world, int tag) {
  *s = (struct stops){.world = world, .tag = tag};
  MPI_Comm_rank(world, &s->rank);
  MPI_Comm_size(world, &s->count);
  s->promises = calloc((size_t)s->count, sizeof *s->promises);
  s->sent = calloc((size_t)s->count, sizeof *s->sent);
  for (int r = 0; s->sent && r < s->count; r++) s->sent[r] = MPI_REQUEST_NULL;
  return s->promises && s->sent;
}

static void begin_round(struct stops *s) {
  MPI_Status ignored;
  for (int r = 0; r < s->count; r++) MPI_Wait(&s->sent[r], &ignored); /* received long ago */
  memset(s->promises, 0, (size_t)s->count * sizeof *s->promises);
  s->asked = true;
  s->missing = s->count - 1;
  s->last = 0;
}

/* Receives the promise of a rank, if it has come; MPI_ANY_SOURCE: of any that has begun a
 * round. */
static void hear(struct stops *s, int from) {
  MPI_Status status;
  struct promise p;
  int here = 0;
  MPI_Iprobe(from, s->tag, s->world, &here, &status);
  if (!here) return;
  MPI_Recv(&p, (int)sizeof p, MPI_BYTE, status.MPI_SOURCE, s->tag, s->world, &status);
  if (!s->asked) begin_round(s);
  s->promises[status.MPI_SOURCE] = p;
  s->missing--;
  if (p.step > s->last) s->last = p.step;
}

static void hear_all(struct stops *s) {
  if (!s->asked) hear(s, MPI_ANY_SOURCE);
  for (int r = 0; s->asked && s->missing > 0 && r < s->count; r++) {
    if (r != s->rank && s->promises[r].step == 0) hear(s, r);
  }
}

static void promise(struct stops *s, struct promise mine) {
  s->promises[s->rank] = mine;
  if (mine.step > s->last) s->last = mine.step;
  for (int r = 0; r < s->count; r++) {
    if (r != s->rank)
      MPI_Isend(&s->promises[s->rank], (int)sizeof mine, MPI_BYTE, r, s->tag, s->world,
                &s->sent[r]);
  }
}

static bool has_promised(const struct stops *s) {
  return s->promises[s->rank].step != 0;
}

void stops_look(struct stops *s) {
  if (s->count == 1) return;
  hear_all(s);
  if (s->asked && !has_promised(s)) promise(s, (struct promise){.step = s->step + 1});
}

static unsigned end_round(struct stops *s, uint64_t epoch) {
  uint64_t wish = 0;
  for (int r = 0; r < s->count; r++) {
    const struct promise *p = &s->promises[r];
    if (p->epoch == epoch && p->wish > wish) wish = p->wish;
  }
  s->asked = false;
  return (unsigned)wish;
}

unsigned stops_decide(struct stops *s, uint64_t epoch, unsigned wish) {
  s->step++;
  if (s->count == 1) return wish;
  hear_all(s);
  if (!s->asked && wish == 0) return 0;
  if (!s->asked) begin_round(s);
  if (!has_promised(s)) promise(s, (struct promise){s->step, epoch, wish});
  for (unsigned looks = 0; s->missing > 0; looks += looks < UINT_MAX) {
    hear_all(s);
    comm_give_way(looks);
  }
  return s->step < s->last ? 0 : end_round(s, epoch);
}
