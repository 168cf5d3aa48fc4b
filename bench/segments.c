/* segments.c - segmented operations on 16 Mi elements, whatever the segments look like, against
 * the time that their bytes take at the machine's limit: data, results, and 8 bytes a segment.
 * Making the descriptor is measured apart. RANK is measured against a plain radix sort.
 *
 * Permutations reverse each segment, so that random access, which ops.c measures, is no part.
 */
#include <string.h>

#include "bench/calls.h"
#include "bench/radix.h"
#include "bench/streams.h"
#include "bench/targets.h"

enum { ELEMENTS = 1 << 24 };

/* What moves fewer bytes is over before it could show a ratio, and has no target. */
static const double FEW_BYTES = 0x1p22;

/* Length of segment k of each distribution; the last one is cut to what is left. */
static int64_t all_1(uint64_t k) {
  return (void)k, 1;
}
static int64_t all_4(uint64_t k) {
  return (void)k, 4;
}
static int64_t all_100(uint64_t k) {
  return (void)k, 100;
}
static int64_t all_10000(uint64_t k) {
  return (void)k, 10000;
}
static int64_t one_segment(uint64_t k) {
  return (void)k, ELEMENTS;
}
static int64_t zero_or_two(uint64_t k) {
  return k % 2 ? 2 : 0;
}
static int64_t half_empty(uint64_t k) {
  const uint64_t u = measure_random(5, k);
  return u & 1 ? (int64_t)(u >> 60) + 1 : 0;
}
/* Twice as long is half as frequent: from 1 to 2^20, none empty. */
static int64_t power_law(uint64_t k) {
  const double u = (double)(measure_random(6, k) >> 11) * 0x1p-53;
  const double length = 1.0 / (u + 0x1p-20); /* a little below 1 where u is nearly 1 */
  return length < 1.0 ? 1 : (int64_t)length;
}

static const struct distribution {
  const char *name;
  int64_t (*length)(uint64_t k);
  bool empties; /* has empty segments: EXTRACT would be a fault */
} distributions[] = {
    {"all 1", all_1, false},        {"all 4", all_4, false},
    {"all 100", all_100, false},    {"all 10000", all_10000, false},
    {"one", one_segment, false},    {"power law", power_law, false},
    {"0 and 2", zero_or_two, true}, {"half empty", half_empty, true},
};

static void report(struct bench *b, const struct work *w, enum elem_class class, double bytes,
                   double *time, double *limit) {
  const bool reported_only = w->run == run_make || bytes < FEW_BYTES;
  report_line(&b->report,
              &(struct report_line){.name = w->name,
                                    .detail = w->detail,
                                    .elem = elem_text(b, class),
                                    .threads = b->threads,
                                    .rounds = b->options->rounds,
                                    .bytes = bytes,
                                    .time = time,
                                    .limit = limit,
                                    .target = reported_only ? 0.0 : TARGET_OPS_SEGMENTED,
                                    .at_most = true});
}

static void measure(struct bench *b, const struct work *w, enum elem_class class,
                    struct streams s) {
  double time[MOST_ROUNDS], limit[MOST_ROUNDS];
  if (!measure_wants(b->options, w->name) || seconds_of(b, w) < 0.0) return;
  for (unsigned i = 0; i < b->options->rounds; i++) {
    limit[i] = streams_seconds(b->options, b->arena, &s, b->threads);
    time[i] = seconds_of(b, w);
  }
  report(b, w, class, (double)streams_bytes(&s), time, limit);
}

/* The segments of one distribution, and the vectors that depend on them. */
struct segments {
  const char *name;
  uint64_t count;
  struct cvl_value lengths, descriptor;
  struct cvl_value reversal; /* INT: the reverse of each segment */
  struct cvl_value starts;   /* INT, a segment: 0 */
  struct cvl_value each;     /* FLOAT, a segment */
};

static void store_int(const struct bench *b, char *out, uint64_t i, int64_t x) {
  if (elem_bytes(b, CLASS_INT) == 8) {
    ((int64_t *)(void *)out)[i] = x;
  } else {
    ((int32_t *)(void *)out)[i] = (int32_t)x;
  }
}

static bool segments_make(struct bench *b, const struct distribution *d, struct segments *s) {
  char *const lengths = b->arena, *const reversal = lengths + 2 * 8 * (size_t)ELEMENTS;
  uint64_t count = 0;
  for (int64_t at = 0; at < ELEMENTS; count++) {
    int64_t length = d->length(count);
    if (length > ELEMENTS - at) length = ELEMENTS - at;
    store_int(b, lengths, count, length);
    for (int64_t j = 0; j < length; j++) {
      store_int(b, reversal, (uint64_t)(at + j), length - 1 - j);
    }
    at += length;
  }
  *s = (struct segments){.name = d->name, .count = count};
  s->lengths = vector_of(b, CLASS_INT, count, lengths);
  s->reversal = vector_of(b, CLASS_INT, ELEMENTS, reversal);
  memset(b->arena, 0, count * 8);
  s->starts = vector_of(b, CLASS_INT, count, b->arena);
  s->each = random_vector(b, CLASS_FLOAT, count, 7);
  return b->backend->make_segdes(b->context, 1, &s->lengths, &s->descriptor);
}

static void segments_drop(struct bench *b, struct segments *s) {
  drop(b, &s->lengths);
  drop(b, &s->descriptor);
  drop(b, &s->reversal);
  drop(b, &s->starts);
  drop(b, &s->each);
}

/* All operations under one distribution; `data` by class, with flags for BOOL. */
static void measure_segments(struct bench *b, const struct segments *s, bool empties,
                             const struct cvl_value *data) {
  const size_t n = ELEMENTS, c = s->count, size = elem_bytes(b, CLASS_FLOAT);
  const size_t index_size = elem_bytes(b, CLASS_INT), d = 8 * c;
  struct work w = {.detail = s->name, .d = s->descriptor};

  w.name = "make";
  w.run = run_make;
  w.in[0] = s->lengths;
  measure(b, &w, CLASS_INT,
          (struct streams){.reads = 1, .writes = 1, .bytes = {c * index_size, d}});

  for (enum elem_class class = CLASS_INT; class <= CLASS_FLOAT; class ++) {
    const size_t own = elem_bytes(b, class);
    w.op = OP_ADD;
    w.in[0] = data[class];
    w.name = "+_SCAN";
    w.run = run_scan;
    measure(b, &w, class,
            (struct streams){.reads = 2, .writes = 1, .bytes = {n * own, d, n * own}});
    w.name = "+_REDUCE";
    w.run = run_reduce;
    measure(b, &w, class,
            (struct streams){.reads = 2, .writes = 1, .bytes = {n * own, d, c * own}});
  }
  w.name = "DIST";
  w.run = run_dist;
  w.in[0] = s->each;
  measure(b, &w, CLASS_FLOAT,
          (struct streams){.reads = 2, .writes = 1, .bytes = {c * size, d, n * size}});
  w.name = "INDEX";
  w.run = run_index;
  w.in[0] = w.in[1] = s->starts;
  measure(
      b, &w, CLASS_INT,
      (struct streams){.reads = 2, .writes = 1, .bytes = {c * index_size, d, n * index_size}});
  w.name = "PACK";
  w.run = run_pack;
  w.in[0] = data[CLASS_FLOAT];
  w.in[1] = data[CLASS_BOOL];
  measure(
      b, &w, CLASS_FLOAT,
      (struct streams){.reads = 3, .writes = 2, .bytes = {n * size, n, d, n * size / 2, d}});
  w.in[1] = s->reversal;
  const struct streams moves = {
      .reads = 3, .writes = 1, .bytes = {n * size, n * index_size, d, n * size}};
  w.name = "PERMUTE";
  w.run = run_permute;
  w.op = OP_PERMUTE;
  measure(b, &w, CLASS_FLOAT, moves);
  w.name = "BPERMUTE";
  w.op = OP_BPERMUTE;
  measure(b, &w, CLASS_FLOAT, moves);
  if (empties) return;
  /* One element a segment, but memory comes in lines. */
  const size_t touched = 64 * c < n * size ? 64 * c : n * size;
  w.name = "EXTRACT";
  w.run = run_extract;
  w.in[1] = s->starts;
  measure(b, &w, CLASS_FLOAT,
          (struct streams){
              .reads = 3, .writes = 1, .bytes = {touched, c * index_size, d, c * size}});
}

/* RANK_UP of one segment: the keys of the baseline are random and positive, as unsigned in the
 * order of the vector's elements. */
static void measure_rank(struct bench *b, enum elem_class class) {
  struct work w = {.name = "RANK_UP",
                   .detail = "16 Mi",
                   .run = run_rank,
                   .op = OP_RANK_UP,
                   .d = cvl_one_segment(ELEMENTS)};
  double time[MOST_ROUNDS], limit[MOST_ROUNDS];
  if (!measure_wants(b->options, w.name)) return;
  const size_t size = elem_bytes(b, class), room = size * ELEMENTS;
  w.in[0] = random_vector(b, class, ELEMENTS, 1);
  if (seconds_of(b, &w) >= 0.0) {
    for (unsigned i = 0; i < b->options->rounds; i++) {
      limit[i] = radix_rank_seconds(b->options, ELEMENTS, size, b->arena, b->arena + room,
                                    b->arena + 2 * room, b->threads);
      time[i] = seconds_of(b, &w);
    }
    report(b, &w, class, (double)(room + ELEMENTS * elem_bytes(b, CLASS_INT)), time, limit);
  }
  drop(b, &w.in[0]);
}

static void measure_all(struct bench *b) {
  struct cvl_value data[] = {[CLASS_INT] = random_vector(b, CLASS_INT, ELEMENTS, 1),
                             [CLASS_FLOAT] = random_vector(b, CLASS_FLOAT, ELEMENTS, 2),
                             [CLASS_BOOL] = random_vector(b, CLASS_BOOL, ELEMENTS, 3)};
  for (size_t k = 0; k < sizeof distributions / sizeof *distributions; k++) {
    struct segments s;
    if (segments_make(b, &distributions[k], &s)) {
      measure_segments(b, &s, distributions[k].empties, data);
    }
    segments_drop(b, &s);
  }
  for (enum elem_class class = CLASS_INT; class <= CLASS_BOOL; class ++) drop(b, &data[class]);
  measure_rank(b, CLASS_INT);
  measure_rank(b, CLASS_FLOAT);
}

static size_t arena_bytes(size_t wanted) {
  (void)wanted; /* segments have one size */
  return (size_t)ELEMENTS * 8 * 6 + MOST_STREAMS * 64;
}

int main(int argc, char **argv) {
  return bench_main(argc, argv, "segments", arena_bytes, measure_all);
}
