/* sessions.c - events are sorted by user and time as one number (radix.h): both fit into 64
 * bits for any log of seconds. Threads then look at ranges twice: to count the sessions that
 * begin there, and to write them. */
/* scalar: the sort scatters, and sessions begin where gaps are */
#include "radix.h"

struct span { /* of users, or of times */
  integer least, most;
};

struct log {
  uint64_t *keys;
  int64_t length;
  struct span users, times;
  int time_bits;
  uint64_t gap;
};

static inline uint64_t sessions_key(uint64_t key) {
  return key;
}

RADIX_SORT(sort_keys, uint64_t, sessions_key)

static struct span span_of(const struct array *a) {
  integer least = a->as.i[0], most = least;
#pragma omp parallel for simd reduction(min : least) reduction(max : most)
  for (int64_t i = 0; i < a->length; i++) {
    const integer x = a->as.i[i];
    least = x < least ? x : least;
    most = x > most ? x : most;
  }
  return (struct span){least, most};
}

static int bits_of(struct span s) {
  return radix_bits((uint64_t)s.most - (uint64_t)s.least);
}

static void sort_log(struct log *log, const struct array *users, const struct array *times) {
  const int64_t n = log->length;
  uint64_t *const other = scratch(1, (size_t)n * sizeof *other);
  log->keys = scratch(0, (size_t)n * sizeof *log->keys);
  log->users = span_of(users);
  log->times = span_of(times);
  log->time_bits = bits_of(log->times);
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++)
    log->keys[i] = ((uint64_t)users->as.i[i] - (uint64_t)log->users.least) << log->time_bits |
                   ((uint64_t)times->as.i[i] - (uint64_t)log->times.least);
  sort_keys(log->keys, other, n, log->time_bits + bits_of(log->users), 0, radix_scratch(2));
}

/* An event of another user, or one behind a gap. */
static inline bool begins(const struct log *log, int64_t i) {
  return i == 0 || log->keys[i] >> log->time_bits != log->keys[i - 1] >> log->time_bits ||
         log->keys[i] - log->keys[i - 1] > log->gap;
}

static integer time_of(const struct log *log, int64_t i) {
  const uint64_t mask = ((uint64_t)1 << log->time_bits) - 1;
  return log->times.least + (integer)(log->keys[i] & mask);
}

/* The sessions that begin from `first` on and before `last`, to number `at` and those behind.
 */
static void write_sessions(const struct log *log, int64_t first, int64_t last, int64_t at,
                           struct array *results) {
  for (int64_t i = first; i < last; i++) {
    if (!begins(log, i)) continue;
    int64_t end = i + 1;
    while (end < log->length && !begins(log, end)) end++;
    results[0].as.i[at] = log->users.least + (integer)(log->keys[i] >> log->time_bits);
    results[1].as.i[at] = time_of(log, i);
    results[2].as.i[at] = time_of(log, end - 1);
    results[3].as.i[at++] = (integer)(end - i);
    i = end - 1;
  }
}

void baseline(const struct array *arguments, struct array *results) {
  enum { BLOCKS = 256 };
  int64_t found[BLOCKS + 1] = {0};
  const int64_t n = arguments[0].length;
  struct log log = {.length = n, .gap = (uint64_t)arguments[2].as.i[0]};
  if (n > 0) sort_log(&log, &arguments[0], &arguments[1]);
#pragma omp parallel for
  for (int b = 0; b < BLOCKS; b++) {
    int64_t count = 0;
    for (int64_t i = n * b / BLOCKS; i < n * (b + 1) / BLOCKS; i++) count += begins(&log, i);
    found[b + 1] = count;
  }
  for (int b = 0; b < BLOCKS; b++) found[b + 1] += found[b];
  for (int k = 0; k < 4; k++) result(results, k, ARRAY_INTEGER, found[BLOCKS]);
#pragma omp parallel for
  for (int b = 0; b < BLOCKS; b++)
    write_sessions(&log, n * b / BLOCKS, n * (b + 1) / BLOCKS, found[b], results);
}
