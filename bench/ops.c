/* ops.c - every operation of the back end on vectors of at least a gibibyte, against the
 * machine's limit for the same bytes in as many streams, measured in turn in the same process.
 *
 * Elementwise operations, reductions and scans are the rows of operations.def, so a new row is
 * measured without a line here. What cannot be bound by memory (division and remainder of INT,
 * the elementary functions, random access) is reported without a target.
 */
#include "bench/calls.h"
#include "bench/streams.h"
#include "bench/targets.h"

#include <string.h>

static const double REPORTED = 0.0; /* no target */

/* Measures one operation against its streams; *s remembers the best loop between calls. */
static void measure(struct bench *b, const struct work *w, enum elem_class class,
                    struct streams *s, double target) {
  double time[MOST_ROUNDS], limit[MOST_ROUNDS];
  if (seconds_of(b, w) < 0.0) return; /* warms up: memory, threads */
  for (unsigned i = 0; i < b->options->rounds; i++) {
    limit[i] = streams_seconds(b->options, b->arena, s, b->threads);
    time[i] = seconds_of(b, w);
  }
  report_line(&b->report, &(struct report_line){.name = w->name,
                                                .detail = w->detail,
                                                .elem = elem_text(b, class),
                                                .threads = b->threads,
                                                .rounds = b->options->rounds,
                                                .bytes = (double)streams_bytes(s),
                                                .time = time,
                                                .limit = limit,
                                                .target = target});
}

/* All rows from class `in` to class `out` with so many operands: they move the same bytes. */
static void measure_rows(struct bench *b, enum elem_class in, enum elem_class out,
                         unsigned arity) {
  size_t rows, found = 0;
  const struct map_row *row = map_rows(&rows);
  size_t each = arity * elem_bytes(b, in) + elem_bytes(b, out);
  if (arity == 3) each += elem_bytes(b, CLASS_BOOL) - elem_bytes(b, in);
  const uint64_t n = b->options->bytes / each;
  struct streams s = {.reads = arity, .writes = 1};
  struct cvl_value operands[3] = {{.form = CVL_NOTHING}};
  for (size_t r = 0; r < rows; r++) {
    const struct op_info *op = op_info(row[r].op);
    if (row[r].in != in || row[r].out != out || op->arity != arity) continue;
    if (!measure_wants(b->options, op->name)) continue;
    for (unsigned k = 0; k < arity && found == 0; k++) {
      const enum elem_class class = arity == 3 && k == 0 ? CLASS_BOOL : in;
      operands[k] = random_vector(b, class, n, k + 1);
      s.bytes[k] = n * elem_bytes(b, class);
    }
    s.bytes[arity] = n * elem_bytes(b, out);
    found++;
    struct work w = {
        .name = op->name, .detail = "", .run = run_map, .op = row[r].op, .arity = arity};
    memcpy(w.in, operands, sizeof operands);
    const bool divides = in == CLASS_INT && (row[r].op == OP_DIV || row[r].op == OP_MOD);
    measure(b, &w, in, &s,
            divides || op_is_approximate(row[r].op) ? REPORTED : TARGET_OPS_PLAIN);
  }
  for (unsigned k = 0; k < arity; k++) drop(b, &operands[k]);
}

/* Reductions or scans of one class under one segment. */
static void measure_combining(struct bench *b, enum elem_class class, bool scan) {
  const size_t size = elem_bytes(b, class);
  const uint64_t n = b->options->bytes / (scan ? 2 * size : size);
  struct streams s = {.reads = 1, .writes = scan, .bytes = {n * size, n * size}};
  struct cvl_value v = {.form = CVL_NOTHING};
  size_t rows;
  const struct combine_row *row = combine_rows(&rows);
  for (size_t r = 0; r < rows; r++) {
    char name[32];
    snprintf(name, sizeof name, "%s_%s", op_info(row[r].op)->name, scan ? "SCAN" : "REDUCE");
    if (row[r].klass != class || !measure_wants(b->options, name)) continue;
    if (v.form == CVL_NOTHING) v = random_vector(b, class, n, 1);
    const struct work w = {.name = name,
                           .detail = "",
                           .run = scan ? run_scan : run_reduce,
                           .op = row[r].op,
                           .in = {v},
                           .d = cvl_one_segment(n)};
    measure(b, &w, class, &s, scan ? TARGET_OPS_SCAN : TARGET_OPS_PLAIN);
  }
  drop(b, &v);
}

/* DIST and INDEX: nothing is read. */
static void measure_dist_index(struct bench *b) {
  for (enum elem_class class = CLASS_INT; class <= CLASS_BOOL; class ++) {
    const uint64_t n = b->options->bytes / elem_bytes(b, class);
    struct streams s = {.writes = 1, .bytes = {n * elem_bytes(b, class)}};
    const enum cvl_elem elem = b->elem_of[class];
    const struct cvl_value one = class == CLASS_INT     ? cvl_scalar_int(elem, 7)
                                 : class == CLASS_FLOAT ? cvl_scalar_float(elem, 0.7)
                                                        : cvl_scalar_bool(true);
    struct work w = {.name = "DIST",
                     .detail = "",
                     .run = run_dist,
                     .in = {one, one},
                     .d = cvl_one_segment(n)};
    if (measure_wants(b->options, w.name)) measure(b, &w, class, &s, TARGET_OPS_PLAIN);
    w.name = "INDEX";
    w.run = run_index;
    if (class == CLASS_INT && measure_wants(b->options, w.name))
      measure(b, &w, class, &s, TARGET_OPS_PLAIN);
  }
}

/* PACK of every second element or so, at random. */
static void measure_pack(struct bench *b, enum elem_class class) {
  const size_t size = elem_bytes(b, class);
  const uint64_t n = b->options->bytes / (size + 1 + size / 2);
  if (!measure_wants(b->options, "PACK")) return;
  struct streams s = {.reads = 2, .writes = 1, .bytes = {n * size, n, n * size / 2}};
  struct work w = {.name = "PACK",
                   .detail = "half",
                   .run = run_pack,
                   .in = {random_vector(b, class, n, 1), random_vector(b, CLASS_BOOL, n, 2)},
                   .d = cvl_one_segment(n)};
  measure(b, &w, class, &s, TARGET_OPS_SCAN);
  drop(b, &w.in[0]);
  drop(b, &w.in[1]);
}

/* A random permutation, or the identity, of n in INT at `out`. */
static void permutation(const struct bench *b, char *out, uint64_t n, bool random) {
  const bool wide = elem_bytes(b, CLASS_INT) == 8;
  int64_t *const i64 = (int64_t *)(void *)out;
  int32_t *const i32 = (int32_t *)(void *)out;
  for (uint64_t i = 0; i < n; i++) {
    /* Inside-out shuffle: every prefix is a permutation of itself. */
    const uint64_t j = random ? measure_random(3, i) % (i + 1) : i;
    if (wide) {
      i64[i] = i64[j];
      i64[j] = (int64_t)i;
    } else {
      i32[i] = i32[j];
      i32[j] = (int32_t)i;
    }
  }
}

/* PERMUTE and BPERMUTE of 16 Mi elements against the plain loop on the same indices. */
static void measure_moves(struct bench *b, bool random) {
  enum { ELEMENTS = 1 << 24 };
  static const struct {
    enum cvl_op op;
    enum move move;
  } moves[] = {{OP_BPERMUTE, MOVE_GATHER}, {OP_PERMUTE, MOVE_SCATTER}};
  const size_t size = elem_bytes(b, CLASS_FLOAT), index_size = elem_bytes(b, CLASS_INT);
  if (!measure_wants(b->options, "BPERMUTE")) return;
  struct cvl_value v = random_vector(b, CLASS_FLOAT, ELEMENTS, 1);
  char *const from = b->arena, *const to = from + ELEMENTS * 8,
              *const index = to + ELEMENTS * 8;
  permutation(b, index, ELEMENTS, random);
  struct cvl_value i = vector_of(b, CLASS_INT, ELEMENTS, index);
  for (size_t m = 0; m < sizeof moves / sizeof *moves; m++) {
    double time[MOST_ROUNDS], limit[MOST_ROUNDS];
    const struct work w = {.name = op_info(moves[m].op)->name,
                           .detail = random ? "random" : "in order",
                           .run = run_permute,
                           .op = moves[m].op,
                           .in = {v, i},
                           .d = cvl_one_segment(ELEMENTS)};
    if (seconds_of(b, &w) < 0.0) continue;
    for (unsigned k = 0; k < b->options->rounds; k++) {
      limit[k] = move_seconds(b->options, moves[m].move, ELEMENTS, size, from, to, index_size,
                              index, b->threads);
      time[k] = seconds_of(b, &w);
    }
    report_line(&b->report,
                &(struct report_line){.name = w.name,
                                      .detail = w.detail,
                                      .elem = elem_text(b, CLASS_FLOAT),
                                      .threads = b->threads,
                                      .rounds = b->options->rounds,
                                      .bytes = (double)(ELEMENTS * (2 * size + index_size)),
                                      .time = time,
                                      .limit = limit});
  }
  drop(b, &i);
  drop(b, &v);
}

static void measure_all(struct bench *b) {
  for (enum elem_class in = CLASS_INT; in <= CLASS_BOOL; in++) {
    for (enum elem_class out = CLASS_INT; out <= CLASS_BOOL; out++) {
      for (unsigned arity = 1; arity <= 3; arity++) measure_rows(b, in, out, arity);
    }
  }
  measure_dist_index(b);
  for (enum elem_class class = CLASS_INT; class <= CLASS_BOOL; class ++) {
    measure_combining(b, class, false);
  }
  for (enum elem_class class = CLASS_INT; class <= CLASS_BOOL; class ++) {
    measure_combining(b, class, true);
  }
  measure_pack(b, CLASS_INT);
  measure_pack(b, CLASS_FLOAT);
  measure_moves(b, false);
  measure_moves(b, true);
}

static size_t arena_bytes(size_t wanted) {
  const size_t least = (size_t)3 << 27;
  return (wanted > least ? wanted : least) + MOST_STREAMS * 64;
}

int main(int argc, char **argv) {
  return bench_main(argc, argv, "ops", arena_bytes, measure_all);
}
