/* device.c - see device.h. */
#include "bench/device.h"
#include "bench/targets.h"

#include <stdlib.h>
#include <string.h>

enum {
  COPY_BYTES = 1 << 28, /* of a buffer: several times the size of caches */
  COPIES = 4,
  MOST_TIMES = 1000, /* of an operation in a sequence */
  MOST_FRESH = 64,   /* unseen operands at a time */
  SWEPT = 1 << 19    /* elements that fill a cache */
};
static const double SEQUENCE = 5e-3;   /* seconds that a sequence should take */
static const double FRESH_BYTES = 8e9; /* limit for unseen operands */

/* Opens a file. Returns NULL if there is no name; ends the program if the file cannot be
 * opened. */
static FILE *device_open_file(const char *name, const char *mode) {
  FILE *f = name ? fopen(name, mode) : NULL;
  if (!name || f) return f;
  perror(name);
  exit(1);
}

/* A GPU copies by its driver. For the emulated devices the host copies a few bytes. */
static void open_copy(struct device *d) {
  const bool on_gpu = strcmp(d->b.options->backend, "cuda") == 0;
  const size_t bytes = on_gpu || d->host ? COPY_BYTES : COPY_BYTES / 16;
  d->copied_by = on_gpu ? "the driver" : "the host";
  d->copy = (struct bench_streams){.reads = 1, .writes = 1, .bytes = {bytes, bytes}};
  const char *why = on_gpu ? copier_open(&d->copier, bytes) : NULL;
  if (why) {
    fprintf(stderr, "%s: %s\n", d->b.options->backend, why);
    exit(1);
  }
  if (!on_gpu) d->b.arena = measure_memory(2 * bytes + 2 * 64);
}

/* Returns seconds for a copy on as many threads as are measured; negative if it failed. */
static double copy_seconds(struct device *d) {
  if (d->copier.driver) return copier_seconds(&d->copier, COPIES);
  return streams_seconds(d->b.options, d->b.arena, &d->copy, d->b.threads);
}

static double copied_bytes(const struct device *d) {
  return (double)streams_bytes(&d->copy);
}

static void set_targets(struct device *d) {
  d->plain = d->host ? TARGET_OPS_PLAIN : TARGET_GPU_PLAIN;
  d->exact_scan = d->host ? TARGET_OPS_SCAN : TARGET_GPU_EXACT_SCAN;
  d->float_scan = d->host ? TARGET_OPS_SCAN : TARGET_GPU_FLOAT_SCAN;
  d->pack = d->host ? TARGET_OPS_SCAN : TARGET_GPU_PACK;
  d->segmented = 1.0 / (d->host ? TARGET_OPS_SEGMENTED : TARGET_GPU_SEGMENTED);
}

static void device_print_head(struct device *d) {
  const double bandwidth = copied_bytes(d) / copy_seconds(d);
  printf("%s, copies by %s at %.1f GB/s, %u rounds\n", d->b.options->backend, d->copied_by,
         1e-9 * bandwidth, d->b.options->rounds);
  if (d->json) {
    fprintf(d->json,
            "{\"backend\": \"%s\", \"copies\": \"%s\", \"copy_bytes_per_second\": %.6g}\n",
            d->b.options->backend, d->copied_by, bandwidth);
  }
  printf("%-22s %-5s %-13s %-12s %-2s %11s %9s %7s %-13s %8s  %s\n", "what", "elem", "shape",
         "n", "T", "us", "GB/s", "% copy", "least..most", "launches", "target");
}

void device_open(struct device *d, const struct measure_options *o) {
  *d =
      (struct device){.b = {.options = o, .threads = 1}, .end = measure_now(o, 1) + o->seconds};
  d->host = strcmp(o->backend, "cpu") == 0;
  set_targets(d);
  d->count = device_open_file(o->count, "a");
  if (d->count) return;
  open_copy(d);
  d->json = device_open_file(o->json, "w");
  copy_seconds(d); /* warms up */
  device_print_head(d);
}

void device_close(struct device *d) {
  if (d->left_out) printf("%u rows left out: no time\n", d->left_out);
  if (d->count) {
    measure_close(d->count, d->b.options->count);
    return;
  }
  if (d->json) {
    fprintf(d->json, "{\"left_out\": %u}\n", d->left_out);
    measure_close(d->json, d->b.options->json);
  }
  if (d->copier.driver) copier_close(&d->copier);
}

bool device_wants(struct device *d, const char *name) {
  if (!measure_wants(d->b.options, name)) return false;
  if (measure_now(d->b.options, 1) < d->end) return true;
  d->left_out++;
  return false;
}

/* ---- operands ---- */

static bool device_good(struct device *d, bool done, const char *what) {
  struct cvl_error error;
  if (!d->b.backend->check(d->b.context, true, &error) && done) return true;
  fprintf(stderr, "%s: fault of kind %d\n", what, (int)error.kind);
  return false;
}

struct cvl_value device_map(struct device *d, enum cvl_op op, const struct cvl_value *x,
                            const struct cvl_value *y) {
  struct cvl_value operands[2] = {*x, *y}, out = {.form = CVL_NOTHING};
  if (x->form == CVL_NOTHING || y->form == CVL_NOTHING) return out;
  const unsigned arity = op_info(op)->arity;
  const struct cvl_call call = call_of(CALL_ELEMENTWISE, op, arity, operands);
  const bool done = d->b.backend->apply(d->b.context, 1, &call, &out);
  if (!device_good(d, done, "making operands")) return (struct cvl_value){.form = CVL_NOTHING};
  return out;
}

/* Makes a vector of n copies of a number. */
static struct cvl_value spread_number(struct device *d, const struct cvl_value *number,
                                      uint64_t n) {
  const struct cvl_value one = cvl_one_segment(n);
  struct cvl_value v = {.form = CVL_NOTHING};
  const bool done =
      d->b.backend->apply(d->b.context, 1, &CVL_CALL(CALL_DIST, OP_DIST, *number, one), &v);
  if (!device_good(d, done, "making operands")) return (struct cvl_value){.form = CVL_NOTHING};
  return v;
}

struct cvl_value device_with(struct device *d, enum cvl_op op, const struct cvl_value *x,
                             struct cvl_value number, uint64_t n) {
  struct cvl_value y = spread_number(d, &number, n);
  const struct cvl_value out = device_map(d, op, x, &y);
  drop(&d->b, &y);
  return out;
}

/* Replaces *v by the result of op on it and the number. */
static void device_apply(struct device *d, enum cvl_op op, struct cvl_value *v,
                         struct cvl_value number, uint64_t n) {
  const struct cvl_value out = device_with(d, op, v, number, n);
  drop(&d->b, v);
  *v = out;
}

struct cvl_value device_vector(struct device *d, enum elem_class class, uint64_t n,
                               uint64_t seed) {
  const enum cvl_elem ints = d->b.elem_of[CLASS_INT], floats = d->b.elem_of[CLASS_FLOAT];
  const struct cvl_value bound = cvl_scalar_int(ints, class == CLASS_BOOL ? 2 : 1 << 30);
  struct cvl_value bounds = spread_number(d, &bound, n), v = {.form = CVL_NOTHING};
  if (bounds.form == CVL_NOTHING) return v;
  struct cvl_call call = CVL_CALL(CALL_RANDOM, OP_RAND, bounds);
  call.random.seed = seed;
  const bool done = d->b.backend->apply(d->b.context, 1, &call, &v);
  drop(&d->b, &bounds);
  if (!device_good(d, done, "making operands")) return (struct cvl_value){.form = CVL_NOTHING};
  switch (class) {
  case CLASS_INT: device_apply(d, OP_ADD, &v, cvl_scalar_int(ints, 1), n); break;
  case CLASS_FLOAT:
    device_apply(d, OP_I_TO_F, &v, cvl_scalar_int(ints, 0), n);
    device_apply(d, OP_MUL, &v, cvl_scalar_float(floats, 0.9 * 0x1p-30), n);
    device_apply(d, OP_ADD, &v, cvl_scalar_float(floats, 0.1), n);
    break;
  case CLASS_BOOL: device_apply(d, OP_I_TO_B, &v, cvl_scalar_int(ints, 0), n); break;
  }
  return v;
}

/* ---- counts ---- */

/* Fills the second-level cache with data that nothing uses and that need not be written
 * back. */
static void device_sweep(struct device *d) {
  const struct cvl_value all = cvl_one_segment(SWEPT);
  struct cvl_value sum = {.form = CVL_NOTHING};
  if (d->swept.form == CVL_NOTHING) d->swept = device_vector(d, CLASS_INT, SWEPT, 99);
  const bool done =
      d->b.backend->apply(d->b.context, 1, &CVL_CALL(CALL_REDUCE, OP_ADD, d->swept, all), &sum);
  device_good(d, done, "filling the cache");
  drop(&d->b, &sum);
}

void device_leave(struct device *d) {
  d->copy.best = 0; /* other threads may have another best loop */
  drop(&d->b, &d->swept);
  bench_close(&d->b);
}

/* Writes a line before or after a row: what the back end did for the row lies between. */
static void device_mark(struct device *d, const struct row *row) {
  fprintf(d->count,
          "{\"family\": \"%s\", \"name\": \"%s\", \"elem\": \"%s\", \"shape\": \"%s\", "
          "\"n\": %llu, \"bytes\": %.0f}\n",
          row->family, row->work.name, elem_text(&d->b, row->class), row->work.detail,
          (unsigned long long)row->n, row->bytes);
  fflush(d->count);
}

/* Returns seconds for each of `times` runs, issued without a wait between; negative after a
 * fault. Operand fresh - 1 of run k comes from `fresh_ones`. */
static double device_sequence(struct device *d, const struct row *row, unsigned times,
                              const struct cvl_value *fresh_ones) {
  struct bench *b = &d->b;
  struct work w = row->work;
  struct cvl_error error = {.kind = CVL_E_NONE};
  bool done = true;
  if (d->count) {
    device_sweep(d);
    device_mark(d, row);
  }
  const double start = measure_now(b->options, b->threads);
  for (unsigned i = 0; i < times && done; i++) {
    struct cvl_value out[2] = {{.form = CVL_NOTHING}, {.form = CVL_NOTHING}};
    if (row->fresh) w.in[row->fresh - 1] = fresh_ones[i];
    done = w.run(b, &w, out);
    if (!done) break;
    drop(b, &out[0]);
    drop(b, &out[1]);
  }
  const bool fault = b->backend->check(b->context, true, &error);
  const double seconds = measure_now(b->options, b->threads) - start;
  if (d->count) {
    fprintf(d->count, "{\"end\": %.3f}\n", seconds);
    fflush(d->count);
  }
  if (done && !fault) return seconds / times;
  fprintf(stderr, "%s %s: fault of kind %d\n", w.name, w.detail, (int)error.kind);
  return -1.0;
}

/* Times a sequence on fresh operands, which are made and dropped outside of the time. */
static double fresh_sequence(struct device *d, const struct row *row, unsigned times) {
  struct cvl_value fresh_ones[MOST_FRESH] = {{.form = CVL_NOTHING}};
  bool made = true;
  for (unsigned i = 0; row->fresh && i < times; i++) {
    const struct cvl_value *like = &row->work.in[row->fresh - 1];
    fresh_ones[i] = device_map(d, OP_OR, like, like);
    made = made && fresh_ones[i].form != CVL_NOTHING;
  }
  const double seconds = made ? device_sequence(d, row, times, fresh_ones) : -1.0;
  for (unsigned i = 0; row->fresh && i < times; i++) drop(&d->b, &fresh_ones[i]);
  return seconds;
}

/* ---- reports ---- */

struct result {
  struct spread seconds, part; /* of the copy bandwidth */
  double launches;             /* for each run */
  unsigned times;
};

static void report_row(struct device *d, const struct row *row, const struct result *r) {
  const struct work *w = &row->work;
  const char *elem = elem_text(&d->b, row->class);
  /* An operation without a launch was computed elsewhere, or with others, or not at all. None
   * of that is possible for operands that were never seen. */
  const bool counts = row->target > 0.0 && row->bytes >= LEAST_BYTES &&
                      (r->launches >= 1.0 || row->fresh || !d->copier.driver);
  const bool met = r->part.median >= row->target;
  char verdict[32] = "-";
  if (counts)
    snprintf(verdict, sizeof verdict, ">= %.0f%s", 100 * row->target, met ? "" : " MISSED");
  printf("%-22s %-5s %-13s %-12llu %-2u %11.2f %9.1f %7.1f %5.1f..%-6.1f %8.2f  %s\n", w->name,
         elem, w->detail, (unsigned long long)row->n, d->b.threads, 1e6 * r->seconds.median,
         1e-9 * row->bytes / r->seconds.median, 100 * r->part.median, 100 * r->part.least,
         100 * r->part.most, r->launches, verdict);
  fflush(stdout);
  if (!d->json) return;
  fprintf(
      d->json,
      "{\"family\": \"%s\", \"name\": \"%s\", \"elem\": \"%s\", \"int\": \"%s\", "
      "\"shape\": \"%s\", \"n\": %llu, \"threads\": %u, \"bytes\": %.0f, \"seconds\": %.6g, "
      "\"least_seconds\": %.6g, \"most_seconds\": %.6g, \"part\": %.4f, \"least\": %.4f, "
      "\"most\": %.4f, \"times\": %u, \"launches\": %.2f, \"target\": %.3f, \"met\": %s}\n",
      row->family, w->name, elem, elem_text(&d->b, CLASS_INT), w->detail,
      (unsigned long long)row->n, d->b.threads, row->bytes, r->seconds.median, r->seconds.least,
      r->seconds.most, r->part.median, r->part.least, r->part.most, r->times, r->launches,
      row->target, counts ? met ? "true" : "false" : "null");
  fflush(d->json);
}

void device_measure(struct device *d, const struct row *row) {
  const unsigned rounds = d->b.options->rounds;
  double seconds[MOST_ROUNDS], part[MOST_ROUNDS];
  struct result r = {.times = 1};
  /* The first run warms up: memory, code, data that the back end keeps. Then as many follow as
   * fill the time. */
  if (fresh_sequence(d, row, 1) < 0.0 || d->count) return;
  double once = fresh_sequence(d, row, 1);
  const double room = FRESH_BYTES / (8.0 * (double)row->n);
  const unsigned most = !row->fresh          ? MOST_TIMES
                        : room >= MOST_FRESH ? MOST_FRESH
                        : room >= 2.0        ? (unsigned)room
                                             : 2;
  for (int tries = 0; tries < 2 && once > 0.0; tries++) {
    const double wanted = SEQUENCE / once;
    r.times = wanted < 1.0 ? 1 : wanted > most ? most : (unsigned)wanted;
    once = fresh_sequence(d, row, r.times);
  }
  if (once <= 0.0) return;
  const uint64_t before = d->b.backend->statistics(d->b.context).launches;
  for (unsigned i = 0; i < rounds; i++) {
    const double copy = copy_seconds(d);
    seconds[i] = fresh_sequence(d, row, r.times);
    if (copy <= 0.0 || seconds[i] <= 0.0) return;
    part[i] = row->bytes / seconds[i] / (copied_bytes(d) / copy);
  }
  const uint64_t after = d->b.backend->statistics(d->b.context).launches;
  r.launches = (double)(after - before) / ((double)rounds * r.times);
  if (row->fresh && r.launches >= 1.0) r.launches -= 1.0; /* the launch that made the operand */
  r.seconds = measure_spread(seconds, rounds);
  r.part = measure_spread(part, rounds);
  report_row(d, row, &r);
}
