/* messages.c - what messages cost between ranks of one machine, and what the model of
 * docs/results-scaling.md wants to know of a processor. scaling.py compiles it by mpicc and
 * runs it as ranks; rank 0 prints one line of JSON, each number the least of several rounds.
 *
 *   latency     half a round trip of 8 bytes
 *   message     what one more message costs: many at once, as comm_exchange sends them
 *   collective  an all-gather of 8 bytes of each, as comm_gather asks for it
 *   bandwidth   bytes a second of messages of a mebibyte, both ways at once
 *   comparison  seconds a comparison when samples are sorted by qsort
 *   step        seconds for each sample when they are looked at in order
 *   word        seconds for each word of two distributions that are compared
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 15, TURNS = 200, MANY = 64, BLOCK = 1 << 20, SAMPLES = 1 << 18, WORDS = 4096 };

struct sample {
  uint64_t key, rank, position, least, most;
};

static int rank;
static char mine[BLOCK], theirs[BLOCK];
static struct sample samples[SAMPLES];
static uint64_t here[WORDS], there[WORDS];

static void wait_all(MPI_Request *requests, int n) {
  int done = 0;
  while (!done) MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
}

/* n messages of so many bytes from each of the two to the other. */
static void swap(int n, int bytes) {
  MPI_Request requests[2 * MANY];
  for (int i = 0; i < n; i++) {
    MPI_Isend(mine, bytes, MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD, &requests[2 * i]);
    MPI_Irecv(theirs, bytes, MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD, &requests[2 * i + 1]);
  }
  wait_all(requests, 2 * n);
}

static void one_way(void) {
  MPI_Request request;
  for (int turn = 0; turn < 2; turn++) {
    if (turn == rank) MPI_Isend(mine, 8, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &request);
    if (turn != rank) MPI_Irecv(theirs, 8, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &request);
    wait_all(&request, 1);
  }
}

static void one(void) {
  swap(1, 8);
}

static void many(void) {
  swap(MANY, 8);
}

static void block(void) {
  swap(1, BLOCK);
}

static void gather(void) {
  MPI_Request request;
  MPI_Iallgather(mine, 8, MPI_BYTE, theirs, 8, MPI_BYTE, MPI_COMM_WORLD, &request);
  wait_all(&request, 1);
}

static int compare_samples(const void *a, const void *b) {
  const struct sample *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->position > y->position) - (x->position < y->position);
}

static void sort_samples(void) {
  for (uint64_t i = 0; i < SAMPLES; i++)
    samples[i] =
        (struct sample){.key = i * UINT64_C(0x9e3779b97f4a7c15), .position = i, .most = i};
  qsort(samples, SAMPLES, sizeof *samples, compare_samples);
}

static void look(void) {
  volatile uint64_t passed = 0;
  uint64_t n = 0;
  for (uint64_t i = 0; i < SAMPLES; i++) n += samples[i].least < samples[i].position + 1;
  passed = n;
  (void)passed;
}

static void compare_words(void) {
  volatile int same = 0;
  same = memcmp(here, there, sizeof here) == 0;
  (void)same;
}

/* Seconds of a turn: the least of the rounds. */
static double least(void (*turn)(void), int turns) {
  double found = 1e9;
  for (int k = 0; k < ROUNDS; k++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun = MPI_Wtime();
    for (int i = 0; i < turns; i++) turn();
    const double each = (MPI_Wtime() - begun) / turns;
    if (each < found) found = each;
  }
  return found;
}

int main(int argc, char **argv) {
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) return 1;
  const double single = least(one, TURNS), all = least(many, TURNS / 10);
  const double latency = least(one_way, TURNS) / 2, collective = least(gather, TURNS);
  const double bandwidth = BLOCK / least(block, 20), sorted = least(sort_samples, 1);
  const double comparisons = SAMPLES * 18.0; /* log2 of SAMPLES */
  const double step = least(look, 10) / SAMPLES, word = least(compare_words, 1000) / WORDS;
  if (rank == 0) {
    printf("{\"latency\": %.3g, \"message\": %.3g, \"collective\": %.3g, \"bandwidth\": %.3g, "
           "\"comparison\": %.3g, \"step\": %.3g, \"word\": %.3g}\n",
           latency, (all - single) / (MANY - 1), collective, bandwidth, sorted / comparisons,
           step, word);
  }
  MPI_Finalize();
  return 0;
}
