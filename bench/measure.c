/* measure.c - see measure.h. */
#include "bench/measure.h"

#include "base/processors.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* ---- command line ---- */

static void measure_usage(const char *program) {
  fprintf(stderr,
          "usage: %s [--json FILE] [--only TEXT] [--backend NAME] [--rounds N] [--mib N]\n"
          "       [--threads N,N...] [--width 32|64] [--clock wall|cpu]\n"
          "       [--sizes LOG2,LOG2...] [--seconds N] [--count FILE] [--tuning FILE]\n",
          program);
  exit(2);
}

static uint64_t parse_count(const char *program, const char *text, uint64_t most) {
  char *end;
  const unsigned long long value = strtoull(text, &end, 10);
  if (end == text || *end || value == 0 || value > most) measure_usage(program);
  return value;
}

/* Parses at most `room` numbers between commas; returns how many there are. */
static unsigned parse_list(const char *program, char *list, uint64_t most, unsigned *out,
                           unsigned room) {
  unsigned count = 0;
  for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
    if (count == room) measure_usage(program);
    out[count++] = (unsigned)parse_count(program, word, most);
  }
  if (count == 0) measure_usage(program);
  return count;
}

struct measure_options measure_options(int argc, char **argv) {
  const unsigned cores = processors_available();
  struct measure_options o = {.backend = "cpu",
                              .rounds = 5,
                              .bytes = UINT64_C(1) << 30,
                              .threads = {1, cores},
                              .thread_counts = cores > 1 ? 2 : 1,
                              .sizes = {26},
                              .size_count = 1,
                              .seconds = 1e9,
                              .narrow = true,
                              .wide = true};
  for (int i = 1; i < argc; i += 2) {
    char *value = argv[i + 1];
    if (i + 1 == argc) measure_usage(argv[0]);
    if (strcmp(argv[i], "--json") == 0) {
      o.json = value;
    } else if (strcmp(argv[i], "--only") == 0) {
      o.only = value;
    } else if (strcmp(argv[i], "--backend") == 0) {
      o.backend = value;
    } else if (strcmp(argv[i], "--tuning") == 0) {
      o.tuning = value;
    } else if (strcmp(argv[i], "--count") == 0) {
      o.count = value;
    } else if (strcmp(argv[i], "--rounds") == 0) {
      o.rounds = (unsigned)parse_count(argv[0], value, MOST_ROUNDS);
    } else if (strcmp(argv[i], "--mib") == 0) {
      o.bytes = parse_count(argv[0], value, 1 << 20) << 20;
    } else if (strcmp(argv[i], "--threads") == 0) {
      o.thread_counts = parse_list(argv[0], value, 1024, o.threads, MOST_THREAD_COUNTS);
    } else if (strcmp(argv[i], "--sizes") == 0) {
      o.size_count = parse_list(argv[0], value, MOST_LOG_SIZE, o.sizes, MOST_SIZES);
    } else if (strcmp(argv[i], "--seconds") == 0) {
      o.seconds = (double)parse_count(argv[0], value, 1 << 20);
    } else if (strcmp(argv[i], "--clock") == 0) {
      o.cpu_clock = strcmp(value, "cpu") == 0;
      if (!o.cpu_clock && strcmp(value, "wall") != 0) measure_usage(argv[0]);
    } else if (strcmp(argv[i], "--width") == 0) {
      o.narrow = strcmp(value, "32") == 0;
      o.wide = strcmp(value, "64") == 0;
      if (!o.narrow && !o.wide) measure_usage(argv[0]);
    } else {
      measure_usage(argv[0]);
    }
  }
  return o;
}

static bool measure_contains(const char *text, const char *word, size_t length) {
  for (; strlen(text) >= length; text++) {
    if (strncmp(text, word, length) == 0) return true;
    if (*text == '\0') return false;
  }
  return false;
}

bool measure_wants(const struct measure_options *o, const char *name) {
  if (!o->only) return true;
  for (const char *word = o->only;; word++) {
    const size_t length = strcspn(word, "|");
    if (measure_contains(name, word, length)) return true;
    word += length;
    if (*word == '\0') return false;
  }
}

/* ---- time, threads, memory ---- */

double measure_now(const struct measure_options *o, unsigned threads) {
  struct timespec t;
  clock_gettime(o->cpu_clock ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  const double seconds = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
  return o->cpu_clock ? seconds / threads : seconds;
}

struct worker {
  pthread_t id;
  pthread_barrier_t *start, *end;
  measure_body *body;
  void *arg;
  unsigned thread, threads;
};

static void *measure_work(void *arg) {
  struct worker *w = arg;
  pthread_barrier_wait(w->start);
  w->body(w->arg, w->thread, w->threads);
  pthread_barrier_wait(w->end);
  return NULL;
}

double measure_parallel(const struct measure_options *o, measure_body *body, void *arg,
                        unsigned threads) {
  struct worker *workers = calloc(threads, sizeof *workers);
  pthread_barrier_t start, end;
  if (!workers || pthread_barrier_init(&start, NULL, threads) != 0 ||
      pthread_barrier_init(&end, NULL, threads) != 0) {
    abort();
  }
  for (unsigned t = 1; t < threads; t++) {
    workers[t] = (struct worker){.start = &start,
                                 .end = &end,
                                 .body = body,
                                 .arg = arg,
                                 .thread = t,
                                 .threads = threads};
    if (pthread_create(&workers[t].id, NULL, measure_work, &workers[t]) != 0) abort();
  }
  pthread_barrier_wait(&start);
  const double begin = measure_now(o, threads);
  body(arg, 0, threads);
  pthread_barrier_wait(&end);
  const double seconds = measure_now(o, threads) - begin;
  for (unsigned t = 1; t < threads; t++) pthread_join(workers[t].id, NULL);
  pthread_barrier_destroy(&start);
  pthread_barrier_destroy(&end);
  free(workers);
  return seconds;
}

void *measure_memory(size_t bytes) {
  const size_t huge = (size_t)1 << 21;
  void *memory = aligned_alloc(huge, (bytes + huge - 1) / huge * huge);
  if (!memory) {
    fprintf(stderr, "no memory for a working set of %zu bytes\n", bytes);
    exit(1);
  }
  (void)madvise(memory, bytes, MADV_HUGEPAGE); /* without them it is only slower */
  memset(memory, 0, bytes);
  return memory;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

struct spread measure_spread(double *values, unsigned n) {
  qsort(values, n, sizeof *values, by_value);
  return (struct spread){n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]),
                         values[0], values[n - 1]};
}

/* ---- reports ---- */

/* Gets the processor's name as Linux knows it. */
static void processor(char *name, size_t room) {
  snprintf(name, room, "unknown");
  FILE *file = fopen("/proc/cpuinfo", "r");
  if (!file) return;
  char line[256];
  while (fgets(line, sizeof line, file)) {
    const char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) == 0 && colon) {
      snprintf(name, room, "%.*s", (int)strcspn(colon + 2, "\n\"\\"), colon + 2);
      break;
    }
  }
  fclose(file);
}

void measure_close(FILE *file, const char *name) {
  const bool lost = ferror(file);
  if (fclose(file) == 0 && !lost) return;
  perror(name);
  exit(1);
}

struct report report_open(const struct measure_options *o, const char *program) {
  struct report r = {.first = true, .name = o->json};
  char name[256];
  processor(name, sizeof name);
  printf("%s on %s, %u rounds, working sets of %llu MiB\n", program, name, o->rounds,
         (unsigned long long)(o->bytes >> 20));
  printf("%-28s %-5s %-2s %9s %9s %9s   %-6s %-15s %-7s %s\n", "what", "elem", "T", "ms",
         "limit ms", "GB/s", "ratio", "least..most", "of best", "target");
  if (o->json) {
    r.json = fopen(o->json, "w");
    if (!r.json) {
      perror(o->json);
      exit(1);
    }
    fprintf(r.json, "{\"program\": \"%s\", \"processor\": \"%s\", \"rounds\": %u, \"lines\": [",
            program, name, o->rounds);
  }
  return r;
}

void report_line(struct report *r, const struct report_line *line) {
  double ratios[MOST_ROUNDS];
  for (unsigned i = 0; i < line->rounds; i++) {
    ratios[i] = line->at_most ? line->time[i] / line->limit[i] : line->limit[i] / line->time[i];
  }
  const struct spread ratio = measure_spread(ratios, line->rounds);
  const struct spread time = measure_spread(line->time, line->rounds);
  const struct spread limit = measure_spread(line->limit, line->rounds);
  const double best = line->at_most ? time.least / limit.least : limit.least / time.least;
  const bool met = line->at_most ? ratio.median <= line->target : ratio.median >= line->target;
  char name[64], verdict[32] = "-";
  snprintf(name, sizeof name, "%s%s%s", line->name, *line->detail ? " " : "", line->detail);
  if (line->target > 0.0) {
    snprintf(verdict, sizeof verdict, "%s %.2f%s", line->at_most ? "<=" : ">=", line->target,
             met ? "" : " MISSED");
  }
  printf("%-28s %-5s %-2u %9.2f %9.2f %9.2f   %-6.3f %6.3f..%-6.3f  %-6.3f  %s\n", name,
         line->elem, line->threads, 1e3 * time.median, 1e3 * limit.median,
         1e-9 * line->bytes / time.median, ratio.median, ratio.least, ratio.most, best,
         verdict);
  fflush(stdout);
  if (r->json) {
    fprintf(
        r->json,
        "%s\n  {\"name\": \"%s\", \"detail\": \"%s\", \"elem\": \"%s\", \"threads\": %u, "
        "\"bytes\": %.0f, \"seconds\": %.6g, \"limit_seconds\": %.6g, \"ratio\": %.4f, "
        "\"least\": %.4f, \"most\": %.4f, \"of_best\": %.4f, \"target\": %.2f, \"met\": %s}",
        r->first ? "" : ",", line->name, line->detail, line->elem, line->threads, line->bytes,
        time.median, limit.median, ratio.median, ratio.least, ratio.most, best, line->target,
        line->target > 0.0 ? met ? "true" : "false" : "null");
    r->first = false;
  }
}

void report_close(struct report *r) {
  if (!r->json) return;
  fprintf(r->json, "\n]}\n");
  measure_close(r->json, r->name);
}
