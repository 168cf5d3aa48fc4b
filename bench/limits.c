/* limits.c - what the machine can do at most: bandwidth for so many streams read and written,
 * and random access, on one thread and on several. Every other ratio is relative to these. */
#include "bench/measure.h"
#include "bench/streams.h"

/* Times one set of streams against itself: the spread shows how steady the machine is. */
static void measure_streams(struct report *r, const struct measure_options *o, void *arena,
                            unsigned reads, unsigned writes, unsigned threads) {
  struct bench_streams s = {.reads = reads, .writes = writes};
  for (unsigned k = 0; k < reads + writes; k++) s.bytes[k] = o->bytes / (reads + writes);
  char name[32];
  snprintf(name, sizeof name, "%u read, %u written", reads, writes);
  if (!measure_wants(o, name)) return;
  double time[MOST_ROUNDS], again[MOST_ROUNDS];
  for (unsigned i = 0; i < o->rounds; i++) {
    time[i] = streams_seconds(o, arena, &s, threads);
    again[i] = streams_seconds(o, arena, &s, threads);
  }
  report_line(r, &(struct report_line){.name = name,
                                       .elem = "-",
                                       .detail = "",
                                       .threads = threads,
                                       .rounds = o->rounds,
                                       .bytes = (double)streams_bytes(&s),
                                       .time = time,
                                       .limit = again});
}

/* Times random gathers and scatters of 16 Mi elements. */
static void limits_measure_moves(struct report *r, const struct measure_options *o, char *arena,
                                 size_t elem_bytes, unsigned threads) {
  enum { ELEMENTS = 1 << 24 };
  char *index = arena, *from = index + ELEMENTS * 8, *to = from + ELEMENTS * 8;
  for (size_t i = 0; i < ELEMENTS; i++) {
    const uint64_t position = measure_random(1, i) % ELEMENTS;
    if (elem_bytes == 4) {
      ((uint32_t *)(void *)index)[i] = (uint32_t)position;
    } else {
      ((uint64_t *)(void *)index)[i] = position;
    }
  }
  for (int scatter = 0; scatter < 2; scatter++) {
    const char *name = scatter ? "random scatter" : "random gather";
    if (!measure_wants(o, name)) continue;
    double time[MOST_ROUNDS], again[MOST_ROUNDS];
    for (unsigned i = 0; i < 2 * o->rounds; i++) {
      (i % 2 ? again : time)[i / 2] =
          move_seconds(o, scatter ? MOVE_SCATTER : MOVE_GATHER, ELEMENTS, elem_bytes, from, to,
                       elem_bytes, index, threads);
    }
    report_line(r, &(struct report_line){.name = name,
                                         .elem = elem_bytes == 4 ? "i32" : "i64",
                                         .detail = "16 Mi",
                                         .threads = threads,
                                         .rounds = o->rounds,
                                         .bytes = (double)(3 * elem_bytes * ELEMENTS),
                                         .time = time,
                                         .limit = again});
  }
}

int main(int argc, char **argv) {
  const struct measure_options o = measure_options(argc, argv);
  const size_t bytes = o.bytes > (size_t)3 << 27 ? o.bytes : (size_t)3 << 27;
  char *arena = measure_memory(bytes + MOST_STREAMS * 64);
  struct report r = report_open(&o, "limits");
  for (unsigned t = 0; t < o.thread_counts; t++) {
    for (unsigned reads = 0; reads <= 3; reads++) {
      for (unsigned writes = 0; writes <= 1; writes++) {
        if (reads + writes > 0) measure_streams(&r, &o, arena, reads, writes, o.threads[t]);
      }
    }
    if (o.narrow) limits_measure_moves(&r, &o, arena, 4, o.threads[t]);
    if (o.wide) limits_measure_moves(&r, &o, arena, 8, o.threads[t]);
  }
  report_close(&r);
  return 0;
}
