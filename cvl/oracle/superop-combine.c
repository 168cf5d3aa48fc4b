/* superop-combine.c - combinations by the definition of trees.h, "The tree that keeps order". T
 * and P are computed as they stand there, with the function on one pair at a time.
 */
#include "cvl/oracle/superop.h"

#include <string.h>

/* An element of every column; INT and BOOL as int64_t, FLOAT as double. */
struct tuple {
  int64_t whole[SUPEROP_COLUMNS_MAX];
  double real[SUPEROP_COLUMNS_MAX];
};

struct combination {
  const struct oracle *o;
  struct superop_combination at;
  struct oracle f;       /* executes the function, on vectors of one element */
  const struct tuple *x; /* the elements of the segment */
};

static const struct superop_node *superop_combine_consumer(const struct combination *c,
                                                           uint32_t column) {
  return &c->o->op->nodes[c->at.ends + column];
}

static const struct host_value *superop_combine_operand(const struct combination *c,
                                                        uint32_t column, uint32_t i) {
  return &c->o->values[superop_combine_consumer(c, column)->operands[i]];
}

static bool superop_combine_is_real(const struct host_value *v) {
  return elem_info((enum cvl_elem)v->elem)->klass == CLASS_FLOAT;
}

/* Copy element i of a vector to column k of the tuple, and the reverse. */
static void superop_combine_take(struct tuple *t, uint32_t k, const struct host_value *v,
                                 uint64_t i) {
  if (superop_combine_is_real(v)) {
    t->real[k] = host_real(v, i);
  } else {
    t->whole[k] = host_int(v, i);
  }
}

static void superop_combine_put(struct host_value *v, uint64_t i, const struct tuple *t,
                                uint32_t k) {
  if (superop_combine_is_real(v)) {
    host_put_real(v, i, t->real[k]);
  } else {
    host_put_int(v, i, t->whole[k]);
  }
}

/* ---- the tree ---- */

static struct tuple superop_combine_function(const struct combination *c, struct tuple left,
                                             struct tuple right) {
  const struct superop_node *nodes = c->o->op->nodes;
  struct tuple out = {0};
  for (uint32_t k = 0; k < c->at.count; k++) {
    superop_combine_put(&c->f.values[nodes[c->at.first + k].result], 0, &left, k);
    superop_combine_put(&c->f.values[nodes[c->at.first + k].result + 1], 0, &right, k);
  }
  for (uint32_t n = c->at.first + c->at.count; n < c->at.ends; n++) oracle_node(&c->f, n);
  for (uint32_t k = 0; k < c->at.count; k++) {
    superop_combine_take(&out, k, &c->f.values[superop_combine_consumer(c, k)->operands[1]], 0);
  }
  return out;
}

/* Returns T(p, k) of trees.h. */
static struct tuple block(const struct combination *c, uint64_t p, unsigned k) {
  if (k == 0) return c->x[p];
  return superop_combine_function(c, block(c, p, k - 1),
                                  block(c, p + ((uint64_t)1 << (k - 1)), k - 1));
}

/* Returns P(i) of trees.h, i > 0. `earlier` has P of all before, or is NULL. */
static struct tuple superop_combine_prefix(const struct combination *c, uint64_t i,
                                           const struct tuple *earlier) {
  unsigned k = 0;
  while (i >> k != 0 && (i >> k & 1) == 0) k++;
  const uint64_t rest = i - ((uint64_t)1 << k);
  if (rest == 0) return block(c, 0, k);
  return superop_combine_function(
      c, earlier ? earlier[rest] : superop_combine_prefix(c, rest, NULL), block(c, rest, k));
}

/* ---- segments ---- */

static void superop_combine_put_all(const struct combination *c, uint64_t i,
                                    const struct tuple *t) {
  for (uint32_t k = 0; k < c->at.count; k++)
    superop_combine_put(&c->o->values[superop_combine_consumer(c, k)->result], i, t, k);
}

static struct tuple superop_combine_identity(const struct combination *c, uint64_t segment) {
  struct tuple t = {0};
  for (uint32_t k = 0; k < c->at.count; k++) {
    const bool each = superop_combine_consumer(c, k)->operands[2] < c->o->op->param_count;
    superop_combine_take(&t, k, superop_combine_operand(c, k, 2), each ? segment : 0);
  }
  return t;
}

/* Returns element i of the columns. */
static struct tuple superop_combine_element(const struct combination *c, uint64_t i) {
  struct tuple t = {0};
  for (uint32_t k = 0; k < c->at.count; k++) {
    superop_combine_take(&t, k, &c->o->values[c->o->op->nodes[c->at.first + k].operands[0]], i);
  }
  return t;
}

/* Combines a segment of n elements, the first of which is number `first` of all. P has room for
 * n + 1. */
static void combine_segment(struct combination *c, uint64_t segment, uint64_t first, uint64_t n,
                            struct tuple *P) {
  const uint32_t op = superop_combine_consumer(c, 0)->op;
  if (op == SUPEROP_COMBINE_REDUCE) {
    const struct tuple t =
        n ? superop_combine_prefix(c, n, NULL) : superop_combine_identity(c, segment);
    superop_combine_put_all(c, segment, &t);
    return;
  }
  if (op == SUPEROP_COMBINE_SCAN) P[0] = superop_combine_identity(c, segment);
  for (uint64_t i = 1; i <= n; i++) P[i] = superop_combine_prefix(c, i, P);
  for (uint64_t i = 0; i < n; i++) {
    superop_combine_put_all(c, first + i, &P[op == SUPEROP_COMBINE_SCAN ? i : i + 1]);
  }
}

/* Combines all segments. x and P have room for one element more than there are. */
static void combine_segments(struct combination *c, struct tuple *x, struct tuple *P) {
  const uint32_t op = superop_combine_consumer(c, 0)->op;
  const struct host_value *d =
      superop_combine_operand(c, 0, op == SUPEROP_COMBINE_SCAN_INCLUSIVE ? 2 : 3);
  uint64_t first = 0;
  c->x = x;
  for (uint64_t k = 0; k < d->n; k++) {
    const uint64_t n = host_segment(d, k);
    for (uint64_t i = 0; i < n; i++) x[i] = superop_combine_element(c, first + i);
    combine_segment(c, k, first, n, P);
    first += n;
  }
}

/* ---- scattered ---- */

/* Returns where the elements of segment k of a descriptor begin. */
static uint64_t superop_combine_segment_start(const struct host_value *d, uint64_t k) {
  uint64_t start = 0;
  for (uint64_t i = 0; i < k; i++) start += host_segment(d, i);
  return start;
}

/* Checks the indices. The lowest index that is not inside its segment is a fault of consumer
 * 0. */
static bool check_index(const struct combination *c) {
  const struct host_value *index = superop_combine_operand(c, 0, 2),
                          *s = superop_combine_operand(c, 0, 4),
                          *d = superop_combine_operand(c, 0, 5);
  uint64_t i = 0;
  for (uint64_t k = 0; k < s->n; k++) {
    for (uint64_t j = 0; j < host_segment(s, k); j++, i++) {
      const int64_t x = host_int(index, i), limit = (int64_t)host_segment(d, k);
      if (x >= 0 && x < limit) continue;
      return oracle_fail(c->o, c->at.ends,
                         (struct cvl_error){.kind = CVL_E_INDEX,
                                            .position = (int64_t)i,
                                            .value = x,
                                            .limit = limit,
                                            .segment = (int64_t)k});
    }
  }
  return true;
}

/* Combines the default that each result begins with, and all elements of the segment that go
 * there. */
static void scatter_segment(struct combination *c, struct tuple *x, uint64_t segment,
                            uint64_t from, uint64_t to) {
  const struct host_value *index = superop_combine_operand(c, 0, 2);
  const uint64_t n = host_segment(superop_combine_operand(c, 0, 4), segment),
                 m = host_segment(superop_combine_operand(c, 0, 5), segment);
  for (uint64_t i = 0; i < m; i++) {
    uint64_t count = 1;
    for (uint32_t k = 0; k < c->at.count; k++)
      superop_combine_take(&x[0], k, superop_combine_operand(c, k, 3), to + i);
    for (uint64_t j = 0; j < n; j++) {
      if ((uint64_t)host_int(index, from + j) == i)
        x[count++] = superop_combine_element(c, from + j);
    }
    const struct tuple t = superop_combine_prefix(c, count, NULL);
    superop_combine_put_all(c, to + i, &t);
  }
}

static void scatter_segments(struct combination *c, struct tuple *x) {
  const struct host_value *s = superop_combine_operand(c, 0, 4),
                          *d = superop_combine_operand(c, 0, 5);
  c->x = x;
  for (uint64_t k = 0; k < d->n; k++) {
    scatter_segment(c, x, k, superop_combine_segment_start(s, k),
                    superop_combine_segment_start(d, k));
  }
}

/* ---- the whole ---- */

/* Checks that every value computed inside is as long as the columns. */
static bool superop_combine_check_sizes(const struct combination *c) {
  const struct superop_node *nodes = c->o->op->nodes;
  const struct host_value *x = &c->o->values[nodes[c->at.first].operands[0]];
  for (uint32_t k = c->at.first; k < c->at.first + c->at.count; k++) {
    const uint64_t n = c->o->values[nodes[k].operands[0]].n;
    if (n == x->n) continue;
    return oracle_fail(
        c->o, k,
        (struct cvl_error){.kind = CVL_E_SIZE, .value = (int64_t)x->n, .limit = (int64_t)n});
  }
  for (uint32_t v = nodes[c->at.first].result; v < superop_combine_consumer(c, 0)->result;
       v++) {
    c->o->values[v] = *x;
  }
  bool ok = true;
  for (uint32_t k = c->at.first + c->at.count; k < c->at.ends && ok; k++) {
    ok = oracle_sizes(c->o, k);
  }
  for (uint32_t k = 0; k < c->at.count && ok; k++) {
    ok = oracle_sizes(c->o, c->at.ends + k) &&
         (k > 0 || superop_combine_consumer(c, 0)->role != ROLE_COMBINE_SCATTER ||
          check_index(c));
  }
  for (uint32_t v = nodes[c->at.first].result; v < superop_combine_consumer(c, 0)->result;
       v++) {
    c->o->values[v] = (struct host_value){0};
  }
  return ok;
}

static void begin_function(struct combination *c) {
  const struct superop *op = c->o->op;
  for (uint32_t v = op->param_count; v < op->nodes[c->at.first].result; v++) {
    /* a spread constant needs one element only */
    const struct host_value *from = &c->o->values[v];
    if (from->form != HOST_VECTOR || from->n == 0) continue;
    c->f.values[v] = host_vector(c->o->heap, (enum cvl_elem)from->elem, 1);
    host_copy(&c->f.values[v], 0, from, 0);
  }
  for (uint32_t k = c->at.first; k < c->at.first + c->at.count; k++) {
    const enum cvl_elem elem = (enum cvl_elem)c->o->values[op->nodes[k].operands[0]].elem;
    c->f.values[op->nodes[k].result] = host_vector(c->o->heap, elem, 1);
    c->f.values[op->nodes[k].result + 1] = host_vector(c->o->heap, elem, 1);
  }
}

static void begin_results(const struct combination *c) {
  const uint32_t op = superop_combine_consumer(c, 0)->op;
  for (uint32_t k = 0; k < c->at.count; k++) {
    const struct host_value *x = &c->o->values[c->o->op->nodes[c->at.first + k].operands[0]];
    const uint64_t n = op == SUPEROP_COMBINE_REDUCE    ? superop_combine_operand(c, k, 3)->n
                       : op == SUPEROP_COMBINE_SCATTER ? superop_combine_operand(c, k, 3)->n
                                                       : x->n;
    c->o->values[superop_combine_consumer(c, k)->result] =
        host_vector(c->o->heap, (enum cvl_elem)x->elem, n);
  }
}

bool oracle_combination(const struct oracle *o, struct superop_combination at) {
  struct host_value values[SUPEROP_VALUES_MAX] = {{0}};
  struct combination c = {.o = o, .at = at, .f = *o};
  c.f.values = values;
  if (!superop_combine_check_sizes(&c)) return false;
  const uint64_t n = o->values[o->op->nodes[at.first].operands[0]].n;
  const size_t bytes = (size_t)(n + 1) * sizeof(struct tuple);
  struct tuple *x = heap_alloc(o->heap, bytes), *P = heap_alloc(o->heap, bytes);
  if (x && P) {
    begin_function(&c);
    begin_results(&c);
    if (superop_combine_consumer(&c, 0)->role == ROLE_COMBINE_SCATTER) {
      scatter_segments(&c, x);
    } else {
      combine_segments(&c, x, P);
    }
  }
  for (uint32_t v = o->op->param_count; v < o->op->value_count; v++) {
    host_free(o->heap, &values[v]);
  }
  heap_free(o->heap, x, bytes);
  heap_free(o->heap, P, bytes);
  return (x && P) || oracle_fail(o, at.first, (struct cvl_error){.kind = CVL_E_MEMORY});
}
