/* stream-times.c - the time that these streams alone take. bench/run compares a program with
 * it, in turn, if the program's time is that of its memory.
 *
 *     bench-stream-times [--read BYTES,...] [--write BYTES,...] [--passes N] [--repeat N]
 *         [--threads N]
 *
 * Each of the passes reads and writes all of them once. It prints one line of JSON, as programs
 * by hand do: {"seconds": [...]}, each of all passes, after the runs that find the best loop.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "bench/streams.h"

static _Noreturn void stream_times_usage(void) {
  fputs("usage: bench-stream-times [--read BYTES,...] [--write BYTES,...] [--passes N] "
        "[--repeat N]\n"
        "       [--threads N]\n",
        stderr);
  exit(2);
}

static uint64_t stream_times_count_of(const char *text) {
  char *end;
  const unsigned long long value = strtoull(text, &end, 10);
  if (end == text || *end || *text == '-') stream_times_usage();
  return value;
}

/* Appends the streams of a list; returns how many there are now. */
static unsigned stream_times_append(struct bench_streams *s, unsigned count, char *list) {
  for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
    if (count == MOST_STREAMS) stream_times_usage();
    s->bytes[count++] = stream_times_count_of(word);
  }
  return count;
}

int main(int argc, char **argv) {
  char *reads = NULL, *writes = NULL;
  uint64_t passes = 1, repeat = 1, threads = 1;
  for (int i = 1; i < argc; i += 2) {
    const char *option = argv[i];
    char *value = argv[i + 1];
    if (i + 1 == argc) stream_times_usage();
    if (strcmp(option, "--read") == 0) {
      reads = value;
    } else if (strcmp(option, "--write") == 0) {
      writes = value;
    } else if (strcmp(option, "--passes") == 0) {
      passes = stream_times_count_of(value);
    } else if (strcmp(option, "--repeat") == 0) {
      repeat = stream_times_count_of(value);
    } else if (strcmp(option, "--threads") == 0) {
      threads = stream_times_count_of(value);
    } else {
      stream_times_usage();
    }
  }
  struct bench_streams s = {0};
  s.reads = reads ? stream_times_append(&s, 0, reads) : 0;
  s.writes = (writes ? stream_times_append(&s, s.reads, writes) : s.reads) - s.reads;
  if (s.reads + s.writes == 0 || passes == 0 || threads == 0) stream_times_usage();
  void *arena = measure_memory(streams_bytes(&s) + 1);
  const struct measure_options options = {0};
  streams_seconds(&options, arena, &s, (unsigned)threads);
  printf("{\"seconds\": [");
  for (uint64_t k = 0; k < repeat; k++) {
    double seconds = 0;
    for (uint64_t pass = 0; pass < passes; pass++) {
      seconds += streams_seconds(&options, arena, &s, (unsigned)threads);
    }
    printf("%s%.9g", k ? ", " : "", seconds);
  }
  puts("]}");
  return 0;
}
