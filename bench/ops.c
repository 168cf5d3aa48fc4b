/* ops.c - measures every operation of a back end, by element type and size, in percent of the
 * bandwidth of a copy that is measured in turn with it. segments.c measures segmented
 * operations by the shape of their segments.
 *
 * Elementwise operations, reductions and scans are the rows of operations.def.
 * docs/benchmarks.md says how many bytes an element must move. Sizes go down, so that what
 * matters most is measured first if the time ends.
 */
#include "bench/ops.h"

#include <stdlib.h>

/* ---- elementwise ---- */

struct operands {
  uint64_t n;
  struct cvl_value of[3][CLASS_BOOL + 1]; /* three of each class */
};

static double map_bytes(const struct bench *b, const struct map_row *row) {
  const unsigned arity = op_info(row->op)->arity;
  double bytes = (double)(arity * elem_bytes(b, row->in) + elem_bytes(b, row->out));
  if (arity == 3) bytes += 1.0 - (double)elem_bytes(b, row->in); /* SELECT: the flag */
  return bytes;
}

static void measure_maps(struct device *d, struct operands *x) {
  size_t rows;
  const struct map_row *row = map_rows(&rows);
  for (size_t r = 0; r < rows; r++) {
    const enum cvl_op op = row[r].op;
    const unsigned arity = op_info(op)->arity;
    if (!device_wants(d, op_info(op)->name)) continue;
    const bool divides = row[r].in == CLASS_INT && (op == OP_DIV || op == OP_MOD);
    struct row m = {.family = "map",
                    .work = {.name = op_info(op)->name,
                             .detail = "one",
                             .run = run_map,
                             .op = op,
                             .arity = arity},
                    .class = row[r].in,
                    .n = x->n,
                    .bytes = map_bytes(&d->b, &row[r]) * (double)x->n,
                    .target = divides || op_is_approximate(op) ? 0.0 : d->plain};
    for (unsigned k = 0; k < arity; k++) {
      m.work.in[k] = x->of[k][arity == 3 && k == 0 ? CLASS_BOOL : row[r].in];
    }
    device_measure(d, &m);
  }
}

/* ---- reductions and scans ---- */

static void measure_combining(struct device *d, struct operands *x) {
  size_t rows;
  const struct combine_row *row = combine_rows(&rows);
  for (size_t r = 0; r < rows; r++) {
    for (int scan = 0; scan < 2; scan++) {
      char name[32];
      snprintf(name, sizeof name, "%s_%s", op_info(row[r].op)->name, scan ? "SCAN" : "REDUCE");
      if (!device_wants(d, name)) continue;
      const double size = (double)elem_bytes(&d->b, row[r].klass);
      device_measure(
          d,
          &(struct row){.family = scan ? row[r].exact ? "exact scan" : "float scan" : "reduce",
                        .work = {.name = name,
                                 .detail = "one",
                                 .run = scan ? run_scan : run_reduce,
                                 .op = row[r].op,
                                 .in = {x->of[0][row[r].klass]},
                                 .d = cvl_one_segment(x->n)},
                        .class = row[r].klass,
                        .n = x->n,
                        .bytes = (scan ? 2 : 1) * size * (double)x->n,
                        .target = !scan          ? d->plain
                                  : row[r].exact ? d->exact_scan
                                                 : d->float_scan});
    }
  }
}

/* ---- moves ---- */

bool run_dist_add(struct bench *b, const struct work *w, struct cvl_value *out) {
  struct cvl_value operands[2] = {w->in[0]};
  if (!b->backend->apply(b->context, 1, &CVL_CALL(CALL_DIST, OP_DIST, w->in[1], w->d),
                         &operands[1]))
    return false;
  operands[1].owned = 1;
  return b->backend->apply(b->context, 1,
                           &CVL_CALL(CALL_ELEMENTWISE, OP_ADD, operands[0], operands[1]), out);
}

bool run_index_add(struct bench *b, const struct work *w, struct cvl_value *out) {
  struct cvl_value operands[2] = {w->in[0]};
  if (!b->backend->apply(b->context, 1,
                         &CVL_CALL(CALL_INDEX, OP_INDEX, w->in[1], w->in[2], w->d),
                         &operands[1]))
    return false;
  operands[1].owned = 1;
  return b->backend->apply(b->context, 1,
                           &CVL_CALL(CALL_ELEMENTWISE, OP_ADD, operands[0], operands[1]), out);
}

/* Measures DIST and INDEX as operands of another operation. */
static void measure_dist_index(struct device *d, struct operands *x) {
  const enum cvl_elem ints = d->b.elem_of[CLASS_INT], floats = d->b.elem_of[CLASS_FLOAT];
  for (enum elem_class class = CLASS_INT; class <= CLASS_FLOAT; class ++) {
    const struct cvl_value number =
        class == CLASS_INT ? cvl_scalar_int(ints, 7) : cvl_scalar_float(floats, 0.7);
    struct row m = {.family = "map",
                    .work = {.name = "DIST, +",
                             .detail = "one",
                             .run = run_dist_add,
                             .in = {x->of[0][class], number, number},
                             .d = cvl_one_segment(x->n)},
                    .class = class,
                    .n = x->n,
                    .bytes = 2.0 * (double)elem_bytes(&d->b, class) * (double)x->n,
                    .target = d->plain};
    if (device_wants(d, m.work.name)) device_measure(d, &m);
    m.work.name = "INDEX, +";
    m.work.run = run_index_add;
    if (class == CLASS_INT && device_wants(d, m.work.name)) device_measure(d, &m);
  }
}

/* Measures PACK of about every second element, by flags never seen and by flags seen before. */
static void measure_packs(struct device *d, struct operands *x) {
  for (enum elem_class class = CLASS_INT; class <= CLASS_FLOAT; class ++) {
    const double size = (double)elem_bytes(&d->b, class), n = (double)x->n;
    struct row m = {.family = "pack",
                    .work = {.name = "PACK, new flags",
                             .detail = "one",
                             .run = run_pack,
                             .in = {x->of[0][class], x->of[0][CLASS_BOOL]},
                             .d = cvl_one_segment(x->n)},
                    .class = class,
                    .n = x->n,
                    .bytes = n * (1.0 + 3.0 / 8 + 1.5 * size),
                    .target = d->pack,
                    .fresh = 2};
    if (device_wants(d, m.work.name)) device_measure(d, &m);
    m.work.name = "PACK, flags again";
    m.bytes = n * (0.2 + 1.5 * size);
    m.fresh = 0;
    if (device_wants(d, m.work.name)) device_measure(d, &m);
  }
}

/* Measures gathers and scatters, in order and reversed. The cost of random access is no
 * question of bandwidth, and is compared with the peers only: a permutation by RANK. */
static void ops_measure_moves(struct device *d, struct operands *x) {
  static const enum cvl_op moves[] = {OP_BPERMUTE, OP_PERMUTE};
  const struct cvl_value zero = cvl_scalar_int(d->b.elem_of[CLASS_INT], 0),
                         one = cvl_scalar_int(d->b.elem_of[CLASS_INT], 1),
                         all = cvl_one_segment(x->n);
  if (!device_wants(d, "BPERMUTE") && !device_wants(d, "PERMUTE")) return;
  struct cvl_value line = {.form = CVL_NOTHING}, random = {.form = CVL_NOTHING};
  if (!d->b.backend->apply(d->b.context, 1, &CVL_CALL(CALL_INDEX, OP_INDEX, zero, one, all),
                           &line))
    return;
  struct cvl_value in_order = device_with(d, OP_ADD, &line, zero, x->n);
  if (!d->b.backend->apply(d->b.context, 1,
                           &CVL_CALL(CALL_RANK, OP_RANK_UP, x->of[0][CLASS_INT], all),
                           &random)) {
    random.form = CVL_NOTHING;
  }
  for (unsigned m = 0; m < 4; m++) {
    const struct cvl_value index = m < 2 ? in_order : random;
    if (index.form == CVL_NOTHING) continue;
    const double size = (double)elem_bytes(&d->b, CLASS_FLOAT),
                 ints = (double)elem_bytes(&d->b, CLASS_INT);
    struct row r = {.family = "move",
                    .work = {.name = op_info(moves[m % 2])->name,
                             .detail = m < 2 ? "in order" : "random",
                             .run = run_permute,
                             .op = moves[m % 2],
                             .in = {x->of[0][CLASS_FLOAT], index},
                             .d = all},
                    .class = CLASS_FLOAT,
                    .n = x->n,
                    .bytes = (double)x->n * (2.0 * size + ints),
                    .fresh = 2}; /* else they would share one reading of the index */
    if (device_wants(d, r.work.name)) device_measure(d, &r);
  }
  drop(&d->b, &line);
  drop(&d->b, &in_order);
  drop(&d->b, &random);
}

/* A pass of eight bits reads and writes keys and positions; then the ranks are scattered. */
double rank_bytes(double size) {
  const double passes = size;
  return size + passes * 2 * (size + 4) + 8;
}

/* Measures RANK, which is compared with the peers' sort of as many keys with positions. */
static void measure_ranks(struct device *d, struct operands *x) {
  for (enum elem_class class = CLASS_INT; class <= CLASS_FLOAT; class ++) {
    const double size = (double)elem_bytes(&d->b, class);
    if (!device_wants(d, "RANK_UP")) continue;
    device_measure(d, &(struct row){.family = "rank",
                                    .work = {.name = "RANK_UP",
                                             .detail = "one",
                                             .run = run_rank,
                                             .op = OP_RANK_UP,
                                             .in = {x->of[0][class]},
                                             .d = cvl_one_segment(x->n)},
                                    .class = class,
                                    .n = x->n,
                                    .bytes = rank_bytes(size) * (double)x->n});
  }
}

/* Measures SORT, which is compared with the peers' sort of as many keys. A pass of eight bits
 * reads and writes them. */
static void measure_sorts(struct device *d, struct operands *x) {
  for (enum elem_class class = CLASS_INT; class <= CLASS_FLOAT; class ++) {
    const double size = (double)elem_bytes(&d->b, class);
    if (!device_wants(d, "SORT_UP")) continue;
    device_measure(d, &(struct row){.family = "sort",
                                    .work = {.name = "SORT_UP",
                                             .detail = "one",
                                             .run = run_sort,
                                             .op = OP_SORT_UP,
                                             .in = {x->of[0][class]},
                                             .d = cvl_one_segment(x->n)},
                                    .class = class,
                                    .n = x->n,
                                    .bytes = 2 * size * (size + 1) * (double)x->n});
  }
}

/* ---- all ---- */

static void measure_size(struct device *d, uint64_t n) {
  struct operands x = {.n = n};
  bool made = true;
  for (unsigned k = 0; k < 3; k++) {
    for (enum elem_class class = CLASS_INT; class <= CLASS_BOOL; class ++) {
      x.of[k][class] = device_vector(d, class, n, 3 * k + class);
      made = made && x.of[k][class].form != CVL_NOTHING;
    }
  }
  if (made) {
    measure_combining(d, &x);
    measure_packs(d, &x);
    measure_ranks(d, &x);
    measure_sorts(d, &x);
    measure_dist_index(d, &x);
    ops_measure_moves(d, &x);
    measure_maps(d, &x);
  }
  for (unsigned k = 0; k < 3; k++) {
    for (enum elem_class class = CLASS_INT; class <= CLASS_BOOL; class ++) {
      drop(&d->b, &x.of[k][class]);
    }
  }
}

/* Measures RANK again where the back end looks every segment up. */
static void measure_without_ids(struct device *d, int wide, uint64_t n) {
  setenv("RAVEL_CUDA_IDS", "0", 1);
  bench_open(&d->b, wide, d->b.threads);
  measure_ranks_under(d, n, false);
  device_leave(d);
  unsetenv("RAVEL_CUDA_IDS");
}

/* Measures everything of one size in one width. Segments have one size, a quarter of the
 * largest. */
static void measure_all(struct device *d, int wide, unsigned threads, unsigned s) {
  const struct measure_options *o = d->b.options;
  const uint64_t n = UINT64_C(1) << (o->sizes[0] > 4 ? o->sizes[0] - 2 : 4);
  bench_open(&d->b, wide, threads);
  measure_size(d, UINT64_C(1) << o->sizes[s]);
  if (s == 0) measure_shapes(d, n);
  if (s == 0) measure_ranks_under(d, n, true);
  device_leave(d);
  if (s == 0 && !d->host) measure_without_ids(d, wide, n);
}

int main(int argc, char **argv) {
  const struct measure_options o = measure_options(argc, argv);
  struct device d;
  device_open(&d, &o);
  for (unsigned s = 0; s < o.size_count; s++) {
    for (int wide = 0; wide < 2; wide++) {
      if (wide ? !o.wide : !o.narrow) continue;
      for (unsigned t = 0; t < (d.host ? o.thread_counts : 1); t++)
        measure_all(&d, wide, d.host ? o.threads[t] : 1, s);
    }
  }
  device_close(&d);
  return 0;
}
