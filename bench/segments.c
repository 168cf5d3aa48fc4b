/* segments.c - segmented operations on n elements by the shape of their segments. Each is
 * compared with the time that its bytes take, whatever the shape.
 *
 * Operations run on a descriptor that was used before. What is made for a descriptor on first
 * use is measured apart, with the making of a descriptor. Permutations reverse each segment.
 */
#include "bench/ops.h"

#include <stdlib.h>

static const double DIRECTORY = 0.2; /* bytes for each element to find its segment */

/* Return the length of segment k in each shape. The last one is cut to what is left of n. */
static uint64_t segments_one(uint64_t k, uint64_t n) {
  return (void)k, n;
}
static uint64_t equal_1(uint64_t k, uint64_t n) {
  return (void)k, (void)n, 1;
}
static uint64_t equal_4(uint64_t k, uint64_t n) {
  return (void)k, (void)n, 4;
}
static uint64_t equal_32(uint64_t k, uint64_t n) {
  return (void)k, (void)n, 32;
}
static uint64_t equal_1000(uint64_t k, uint64_t n) {
  return (void)k, (void)n, 1000;
}
static uint64_t equal_100000(uint64_t k, uint64_t n) {
  return (void)k, (void)n, 100000;
}
static uint64_t random_length(uint64_t k, uint64_t n) {
  return (void)n, 1 + measure_random(5, k) % 63;
}
static uint64_t half_empty(uint64_t k, uint64_t n) {
  const uint64_t u = measure_random(6, k);
  return (void)n, u & 1 ? 1 + (u >> 32) % 31 : 0;
}
/* Half of all elements are in one segment, among many segments of two. */
static uint64_t long_and_tiny(uint64_t k, uint64_t n) {
  return k == n / 8 ? n / 2 : 2;
}

/* Segments of at least 2 x elements are half as many as those of at least x. */
static uint64_t power_law(uint64_t k, uint64_t n) {
  return (void)n, (uint64_t)(0x1p53 / (double)((measure_random(7, k) >> 11) + 1));
}

static const struct shape {
  const char *name;
  uint64_t (*length)(uint64_t k, uint64_t n);
  bool ragged; /* lengths differ: a descriptor with offsets */
} shapes[] = {{"one", segments_one, false},         {"4 each", equal_4, false},
              {"32 each", equal_32, false},         {"1000 each", equal_1000, false},
              {"100000 each", equal_100000, false}, {"random", random_length, true},
              {"half empty", half_empty, true},     {"long, tiny", long_and_tiny, true},
              {"1 each", equal_1, false},           {"power law", power_law, true}};

/* A descriptor of one shape, with its operands. */
struct segments {
  const char *shape;
  uint64_t n, count;
  struct cvl_value lengths; /* INT, one for each segment */
  struct cvl_value d;
  struct cvl_value reversal;            /* INT: the reverse of each segment */
  struct cvl_value start, stride, each; /* one for each segment: INT, INT, FLOAT */
};

/* Returns INT lengths in host memory, and how many there are. The caller frees them. */
static void *shape_lengths(const struct device *d, const struct shape *shape, uint64_t n,
                           uint64_t *count) {
  const bool wide = elem_bytes(&d->b, CLASS_INT) == 8;
  *count = 0;
  for (uint64_t at = 0; at < n; ++*count) {
    const uint64_t length = shape->length(*count, n);
    at += length < n - at ? length : n - at;
  }
  void *const memory = malloc(*count * 8);
  if (!memory) return NULL;
  uint64_t at = 0;
  for (uint64_t k = 0; k < *count; k++) {
    const uint64_t wanted = shape->length(k, n), length = wanted < n - at ? wanted : n - at;
    if (wide) {
      ((int64_t *)memory)[k] = (int64_t)length;
    } else {
      ((int32_t *)memory)[k] = (int32_t)length;
    }
    at += length;
  }
  return memory;
}

/* Makes length - 1 - j at position j of each segment. */
static bool make_reversal(struct device *d, struct segments *s) {
  struct bench *b = &d->b;
  const struct cvl_value last = cvl_scalar_int(b->elem_of[CLASS_INT], 1);
  struct cvl_value length = {.form = CVL_NOTHING}, position = {.form = CVL_NOTHING};
  bool done =
      b->backend->apply(b->context, 1, &CVL_CALL(CALL_DIST, OP_DIST, s->lengths, s->d),
                        &length) &&
      b->backend->apply(b->context, 1,
                        &CVL_CALL(CALL_INDEX, OP_INDEX, s->start, s->stride, s->d), &position);
  if (done) {
    struct cvl_value after = device_map(d, OP_SUB, &length, &position);
    s->reversal = device_with(d, OP_SUB, &after, last, s->n);
    drop(b, &after);
    done = s->reversal.form != CVL_NOTHING;
  }
  drop(b, &length);
  drop(b, &position);
  return done;
}

static void segments_drop(struct device *d, struct segments *s) {
  drop(&d->b, &s->lengths);
  drop(&d->b, &s->d);
  drop(&d->b, &s->reversal);
  drop(&d->b, &s->start);
  drop(&d->b, &s->stride);
  drop(&d->b, &s->each);
}

static bool segments_make(struct device *d, const struct shape *shape, uint64_t n,
                          struct segments *s) {
  struct bench *b = &d->b;
  *s = (struct segments){.shape = shape->name, .n = n};
  void *lengths = shape_lengths(d, shape, n, &s->count);
  if (!lengths) return false;
  s->lengths = vector_of(b, CLASS_INT, s->count, lengths);
  free(lengths);
  const struct cvl_value all = cvl_one_segment(s->count);
  const struct cvl_value zero = cvl_scalar_int(b->elem_of[CLASS_INT], 0),
                         step = cvl_scalar_int(b->elem_of[CLASS_INT], 1);
  bool done =
      b->backend->apply(b->context, 1, &CVL_CALL(CALL_MAKE_SEGDES, OP_MAKE_SEGDES, s->lengths),
                        &s->d) &&
      b->backend->apply(b->context, 1, &CVL_CALL(CALL_DIST, OP_DIST, zero, all), &s->start) &&
      b->backend->apply(b->context, 1, &CVL_CALL(CALL_DIST, OP_DIST, step, all), &s->stride);
  s->each = device_vector(d, CLASS_FLOAT, s->count, 11);
  return done && s->each.form != CVL_NOTHING && make_reversal(d, s);
}

/* Makes a descriptor and scans under it, which includes all that is needed for first use. */
static bool run_make_scan(struct bench *b, const struct work *w, struct cvl_value *out) {
  struct cvl_value made = {.form = CVL_NOTHING};
  if (!b->backend->apply(b->context, 1, &CVL_CALL(CALL_MAKE_SEGDES, OP_MAKE_SEGDES, w->in[0]),
                         &made))
    return false;
  const bool done =
      b->backend->apply(b->context, 1, &CVL_CALL(CALL_SCAN, w->op, w->in[1], made), out);
  drop(b, &made);
  return done;
}

/* Makes a descriptor and ranks under it. */
static bool run_make_rank(struct bench *b, const struct work *w, struct cvl_value *out) {
  struct work ranks = {.op = w->op, .in = {w->in[1]}};
  if (!b->backend->apply(b->context, 1, &CVL_CALL(CALL_MAKE_SEGDES, OP_MAKE_SEGDES, w->in[0]),
                         &ranks.d))
    return false;
  const bool done = run_rank(b, &ranks, out);
  drop(b, &ranks.d);
  return done;
}

/* Measures one operation; fields of `work` that do not change with the operation are set. */
static void measure_one(struct device *d, const struct segments *s, struct work work,
                        enum elem_class class, double bytes, double target, unsigned fresh) {
  if (!device_wants(d, work.name)) return;
  work.detail = s->shape;
  work.d = s->d;
  device_measure(d, &(struct row){.family = "segmented",
                                  .work = work,
                                  .class = class,
                                  .n = s->n,
                                  .bytes = bytes,
                                  .target = target,
                                  .fresh = fresh});
}

static void measure_shape(struct device *d, const struct segments *s,
                          const struct cvl_value *data) {
  const double n = (double)s->n, m = (double)s->count;
  const double ints = (double)elem_bytes(&d->b, CLASS_INT),
               floats = (double)elem_bytes(&d->b, CLASS_FLOAT);
  const double offsets = 8.0 * m, directory = s->count == 1 ? 0.0 : DIRECTORY * n;
  for (enum elem_class class = CLASS_INT; class <= CLASS_FLOAT; class ++) {
    const double size = class == CLASS_INT ? ints : floats;
    measure_one(
        d, s,
        (struct work){.name = "+_SCAN", .run = run_scan, .op = OP_ADD, .in = {data[class]}},
        class, 2 * size * n + directory, d->segmented, 0);
    measure_one(
        d, s,
        (struct work){.name = "+_REDUCE", .run = run_reduce, .op = OP_ADD, .in = {data[class]}},
        class, size * n + directory + m * size + offsets, d->segmented, 0);
  }
  measure_one(
      d, s,
      (struct work){.name = "DIST, +", .run = run_dist_add, .in = {data[CLASS_FLOAT], s->each}},
      CLASS_FLOAT, 2 * floats * n + directory + floats * m, d->segmented, 0);
  measure_one(d, s,
              (struct work){.name = "INDEX, +",
                            .run = run_index_add,
                            .in = {data[CLASS_INT], s->start, s->stride}},
              CLASS_INT, 2 * ints * n + directory + 2 * ints * m + offsets, d->segmented, 0);
  measure_one(d, s,
              (struct work){.name = "PACK, new flags",
                            .run = run_pack,
                            .in = {data[CLASS_FLOAT], data[CLASS_BOOL]}},
              CLASS_FLOAT, n * (1.0 + 3.0 / 8 + 1.5 * floats) + 2 * offsets, d->segmented, 2);
  for (int back = 1; back >= 0; back--) {
    measure_one(d, s,
                (struct work){.name = back ? "BPERMUTE" : "PERMUTE",
                              .run = run_permute,
                              .op = back ? OP_BPERMUTE : OP_PERMUTE,
                              .in = {data[CLASS_FLOAT], s->reversal}},
                CLASS_FLOAT, n * (2 * floats + ints) + directory, d->segmented, 2);
  }
  measure_one(d, s, (struct work){.name = "make", .run = run_make, .in = {s->lengths}},
              CLASS_INT, m * (ints + 16), 0.0, 1);
  measure_one(d, s,
              (struct work){.name = "make, +_SCAN",
                            .run = run_make_scan,
                            .op = OP_ADD,
                            .in = {s->lengths, data[CLASS_INT]}},
              CLASS_INT, m * (ints + 16) + 2 * ints * n + 2 * directory, 0.0, 1);
}

/* Measures RANK under a descriptor used before, and under a new one, which includes all that is
 * made for it. */
static void measure_ranked(struct device *d, const struct segments *s,
                           const struct cvl_value *data, const char *name,
                           const char *make_name) {
  const double n = (double)s->n, m = (double)s->count,
               ints = (double)elem_bytes(&d->b, CLASS_INT), bytes = n * rank_bytes(ints);
  measure_one(
      d, s,
      (struct work){.name = name, .run = run_rank, .op = OP_RANK_UP, .in = {data[CLASS_INT]}},
      CLASS_INT, bytes, 0.0, 0);
  measure_one(d, s,
              (struct work){.name = make_name,
                            .run = run_make_rank,
                            .op = OP_RANK_UP,
                            .in = {s->lengths, data[CLASS_INT]}},
              CLASS_INT, bytes + m * (ints + 16), 0.0, 1);
}

void measure_ranks_under(struct device *d, uint64_t n, bool ids) {
  struct cvl_value data[CLASS_BOOL + 1] = {{.form = CVL_NOTHING}};
  data[CLASS_INT] = device_vector(d, CLASS_INT, n, 20);
  for (size_t k = 0; data[CLASS_INT].form != CVL_NOTHING && k < sizeof shapes / sizeof *shapes;
       k++) {
    if (!shapes[k].ragged) continue;
    struct segments s;
    if (segments_make(d, &shapes[k], n, &s))
      measure_ranked(d, &s, data, ids ? "RANK_UP" : "RANK_UP, no ids",
                     ids ? "make, RANK_UP" : "make, RANK_UP, no ids");
    segments_drop(d, &s);
  }
  drop(&d->b, &data[CLASS_INT]);
}

void measure_shapes(struct device *d, uint64_t n) {
  struct cvl_value data[CLASS_BOOL + 1];
  bool made = true;
  for (enum elem_class class = CLASS_INT; class <= CLASS_BOOL; class ++) {
    data[class] = device_vector(d, class, n, 20 + class);
    made = made && data[class].form != CVL_NOTHING;
  }
  for (size_t k = 0; made && k < sizeof shapes / sizeof *shapes; k++) {
    struct segments s;
    if (segments_make(d, &shapes[k], n, &s)) measure_shape(d, &s, data);
    segments_drop(d, &s);
  }
  for (enum elem_class class = CLASS_INT; class <= CLASS_BOOL; class ++)
    drop(&d->b, &data[class]);
}
