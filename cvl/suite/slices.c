/* slices.c - slices, which any operand may be; vectors that are filled chunk by chunk; and
 * concatenated descriptors.
 */
#include "cvl/suite/suite.h"

#include <string.h>

/* ---- host values ---- */

static struct host_value host_like(struct suite *s, const struct host_value *h, uint64_t n) {
  return h->form == HOST_SEGDES ? host_segdes(&s->heap, n)
                                : host_vector(&s->heap, (enum cvl_elem)h->elem, n);
}

/* Copies elements or segments first .. first + n of h to those from `at` on. */
static void put_range(struct host_value *to, uint64_t at, const struct host_value *h,
                      uint64_t first, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) host_copy(to, at + i, h, first + i);
}

static void slices_add_up(struct host_value *h) {
  if (h->form != HOST_SEGDES) return;
  h->total = 0;
  for (uint64_t k = 0; k < h->n; k++) h->total += host_segment(h, k);
}

static struct host_value host_range(struct suite *s, const struct host_value *h, uint64_t first,
                                    uint64_t n) {
  struct host_value range = host_like(s, h, n);
  put_range(&range, 0, h, first, n);
  slices_add_up(&range);
  return range;
}

/* Draws a range of 0 .. all, sometimes the whole or one of its ends. */
static void draw_range(struct suite *s, uint64_t all, uint64_t *first, uint64_t *n) {
  *first = rng_one_in(&s->rng, 4) ? 0 : rng_below(&s->rng, all + 1);
  const uint64_t left = all - *first;
  *n = rng_one_in(&s->rng, 4) ? left : rng_below(&s->rng, left + 1);
  if (rng_one_in(&s->rng, 6)) *n = left > 0;
}

static bool same_as(struct suite *s, const struct cvl_value *v, const struct host_value *want,
                    const char *what) {
  struct host_value got;
  if (!suite_fetch(s, v, &got)) return false;
  const bool same = suite_compare(s, want, &got, 0, what);
  host_free(&s->heap, &got);
  return same;
}

static bool slices_slice(struct suite *s, const struct cvl_value *v, uint64_t first, uint64_t n,
                         struct cvl_value *out) {
  *out = (struct cvl_value){0};
  if (!s->b->slices->slice(s->ctx, ++s->site, v, first, n, out))
    return suite_fail(s, "slice failed");
  return !out->owned || suite_fail(s, "a slice is marked owned");
}

/* ---- operands that are slices, or vectors filled with one ---- */

/* Draws elements that an operand would not have, zeros among them, and short segments. */
static void draw_others(struct suite *s, struct host_value *h, uint64_t first, uint64_t n) {
  struct host_value drawn = h->form == HOST_SEGDES
                                ? host_segdes(&s->heap, n)
                                : suite_numbers(s, (enum cvl_elem)h->elem, n);
  for (uint64_t i = 0; i < n; i++) {
    if (h->form == HOST_SEGDES)
      host_put_int(&drawn, i, (int64_t)rng_below(&s->rng, 5));
    else if (rng_one_in(&s->rng, 3))
      host_zero(&drawn, i);
  }
  put_range(h, first, &drawn, 0, n);
  host_free(&s->heap, &drawn);
}

/* Fills a vector with v, which is replaced by it. It is a CVL_VECTOR even with one element. */
static bool slices_refill(struct suite *s, const struct host_value *h, struct cvl_value *v) {
  struct cvl_value filled;
  if (!s->b->slices->allocate(s->ctx, ++s->site, (enum cvl_elem)h->elem, h->n, &filled))
    return suite_fail(s, "allocate failed");
  v->owned = 1;
  if (!s->b->slices->fill(s->ctx, ++s->site, &filled, 0, v))
    return suite_fail(s, "fill failed");
  *v = filled;
  return true;
}

bool suite_upload_slice(struct suite *s, const struct host_value *h, struct cvl_value *out) {
  enum { MOST_BEFORE = 70, MOST_AFTER = 9 };
  if (h->form == HOST_NOTHING) return suite_upload(s, h, false, out);
  const uint64_t before = 2 + rng_below(&s->rng, MOST_BEFORE);
  const uint64_t after = rng_one_in(&s->rng, 2) ? 0 : rng_below(&s->rng, MOST_AFTER);
  struct host_value all = host_like(s, h, before + h->n + after);
  struct cvl_value v;
  draw_others(s, &all, 0, before);
  put_range(&all, before, h, 0, h->n);
  draw_others(s, &all, before + h->n, after);
  slices_add_up(&all);
  bool ok = suite_upload(s, &all, rng_one_in(&s->rng, 2), &v);
  host_free(&s->heap, &all);
  if (!ok) return false;
  ok = slices_slice(s, &v, before, h->n, out);
  s->b->release(s->ctx, &v);
  return ok && (h->form == HOST_SEGDES || rng_one_in(&s->rng, 2) || slices_refill(s, h, out));
}

/* ---- slices themselves ---- */

/* An operation that takes the only reference to a slice must leave the base unchanged. */
static void give_slice(struct suite *s, struct cvl_value v) {
  const bool real = elem_info((enum cvl_elem)v.elem)->klass == CLASS_FLOAT;
  struct cvl_value out;
  v.owned = 1;
  if (s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_ELEMENTWISE, real ? OP_SQRT : OP_NOT, v),
                  &out))
    s->b->release(s->ctx, &out);
  else
    suite_fail(s, "elementwise failed");
}

/* Exports a slice, if that is possible. It must have the right elements. */
static void export_slice(struct suite *s, const struct cvl_value *v,
                         const struct host_value *want) {
  struct cvl_export exported;
  if (!s->b->sharing || !s->b->sharing->export_vector(s->ctx, v, &exported)) return;
  if (memcmp(exported.data, want->data, host_bytes(want)) != 0)
    suite_fail(s, "other elements are exported");
  exported.end.call(exported.end.with);
}

/* Takes a slice of a slice, after the one that it was cut from is gone. */
static void slice_again(struct suite *s, struct cvl_value v, const struct host_value *h) {
  uint64_t first, n;
  struct cvl_value out;
  draw_range(s, h->n, &first, &n);
  v.owned = 1;
  struct host_value want = host_range(s, h, first, n);
  if (slices_slice(s, &v, first, n, &out)) {
    same_as(s, &out, &want, "slice of a slice");
    if (want.form == HOST_VECTOR)
      give_slice(s, out);
    else
      s->b->release(s->ctx, &out);
  }
  host_free(&s->heap, &want);
}

/* `keeps`: v stays the caller's, else it is released while its slice is used. */
static void slice_one(struct suite *s, struct cvl_value v, const struct host_value *h,
                      bool keeps) {
  uint64_t first, n;
  struct cvl_value out;
  draw_range(s, h->n, &first, &n);
  struct host_value want = host_range(s, h, first, n);
  const size_t length = strlen(s->where);
  snprintf(s->where + length, sizeof s->where - length, ", %d of them from %d on", (int)n,
           (int)first);
  s->cases++;
  const bool sliced = slices_slice(s, &v, first, n, &out);
  if (!keeps) s->b->release(s->ctx, &v);
  if (sliced) {
    same_as(s, &out, &want, "slice");
    if (!s->failed && want.form == HOST_VECTOR) export_slice(s, &out, &want);
    slice_again(s, out, &want);
    if (keeps && !s->failed) same_as(s, &v, h, "what was sliced");
  }
  host_free(&s->heap, &want);
  s->where[length] = 0;
}

/* Takes several slices of a value, the last after its release. */
static void slice_value(struct suite *s, struct cvl_value v, const struct host_value *h) {
  enum { SLICES = 4 };
  for (int i = 0; i < SLICES && !s->failed; i++) {
    if (i + 1 < SLICES) s->b->retain(s->ctx, &v);
    slice_one(s, v, h, false);
  }
  if (!s->failed) suite_no_error(s);
}

static void slice_stored(struct suite *s, struct host_value h, bool other) {
  struct cvl_value v;
  if (suite_upload(s, &h, other, &v)) {
    slice_one(s, v, &h, true);
    if (!s->failed) slice_value(s, v, &h);
  }
  host_free(&s->heap, &h);
}

/* Takes slices of elements that a back end may compute where they are needed. */
static void slice_computed(struct suite *s, struct host_value h) {
  for (int form = ALL_EQUAL_ELEMENTS; form < OPERAND_FORMS && h.n > 1 && !s->failed; form++) {
    struct computed c;
    struct cvl_value v;
    computed_make(s, &h, (enum suite_operand_form)form, true, &c);
    if (computed_upload(s, &h, &c, rng_one_in(&s->rng, 2), &v)) slice_value(s, v, &h);
    computed_free(s, &c);
  }
  host_free(&s->heap, &h);
}

/* Takes slices of values whose sizes were deferred: a result of PACK, and its descriptor. */
static void slice_packed(struct suite *s, struct host_value d) {
  struct host_value x = suite_numbers(s, s->float_elem, d.total), *const both[] = {&x, &d};
  struct packed_operands packing;
  const bool packs = packed_begin(s, &d, d.total, &packing);
  for (int i = 0; i < 2 && packs && !s->failed; i++) {
    struct cvl_value v;
    if (!packed_fits(&packing, both[i]) || !packed_upload(s, &packing, both[i], &v)) continue;
    struct cvl_size length = s->b->length(s->ctx, &v), count = {0};
    if (both[i] == &d) count = s->b->count(s->ctx, &v);
    if (!s->b->resolve(s->ctx, &length) || !s->b->resolve(s->ctx, &count))
      suite_fail(s, "resolve failed");
    s->b->retain(s->ctx, &v);
    if (!s->failed) slice_one(s, v, both[i], false);
    s->b->release(s->ctx, &v);
  }
  packed_end(s, &packing);
  host_free(&s->heap, &x);
  host_free(&s->heap, &d);
  if (!s->failed) suite_no_error(s);
}

/* ---- failing allocations ---- */

typedef bool attempt(struct suite *, const struct cvl_value *operands, struct cvl_value *out);

/* Makes allocation 1, 2, 3 ... of the attempt fail, until none is left to fail. */
static void slices_sweep(struct suite *s, attempt *try, const struct cvl_value *operands) {
  enum { MOST = 100 };
  bool done = false;
  for (uint64_t n = 1; n < MOST && !done && !s->failed; n++) {
    struct cvl_value out = {0};
    struct cvl_error e;
    const uint64_t before = s->b->statistics(s->ctx).allocations;
    s->b->fail_allocation(s->ctx, n);
    const bool ok = try(s, operands, &out);
    const bool fault = s->b->check(s->ctx, true, &e);
    done = s->b->statistics(s->ctx).allocations - before < n;
    s->b->fail_allocation(s->ctx, 0);
    s->cases++;
    if (fault ? e.kind != CVL_E_MEMORY || done : !ok) suite_fail(s, "not a MEMORY fault");
    if (ok) s->b->release(s->ctx, &out);
  }
  if (!done && !s->failed) suite_fail(s, "more than %d allocations", MOST);
}

static bool try_slice(struct suite *s, const struct cvl_value *v, struct cvl_value *out) {
  return s->b->slices->slice(s->ctx, ++s->site, v, 3, 90, out);
}

static bool try_allocate(struct suite *s, const struct cvl_value *v, struct cvl_value *out) {
  struct cvl_value filled = *v;
  if (!s->b->slices->allocate(s->ctx, ++s->site, (enum cvl_elem)v->elem, 200, out))
    return false;
  s->b->retain(s->ctx, v);
  filled.owned = 1;
  return s->b->slices->fill(s->ctx, ++s->site, out, 7, &filled) ||
         (s->b->release(s->ctx, out), false);
}

static bool try_concatenate(struct suite *s, const struct cvl_value *d, struct cvl_value *out) {
  const struct cvl_value all[3] = {*d, cvl_one_segment(5), *d};
  return s->b->slices->concatenate(s->ctx, ++s->site, 3, all, out);
}

static void slices_without_memory(struct suite *s, struct host_value h, attempt *try) {
  struct cvl_value v;
  snprintf(s->where, sizeof s->where, ", an allocation fails");
  if (!s->failed && suite_upload(s, &h, false, &v)) {
    slices_sweep(s, try, &v);
    s->b->release(s->ctx, &v);
    if (!s->failed) suite_no_error(s);
  }
  host_free(&s->heap, &h);
}

void chapter_slices(struct suite *s) {
  const uint64_t sizes[] = {0, 1, 2, 63, 64, 65, 1000, 100000};
  const enum cvl_elem elems[] = {s->int_elem, s->float_elem, CVL_BOOL};
  if (!s->b->slices) return;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    const uint64_t n = sizes[i];
    snprintf(s->where, sizeof s->where, ", n = %d", (int)n);
    for (int k = 0; k < 6 && !s->failed; k++) {
      slice_stored(s, suite_numbers(s, elems[k / 2], n), k % 2);
      if (!s->failed) slice_computed(s, suite_numbers(s, elems[k / 2], n));
    }
    for (int shape = 0; shape < SHAPES_END && !s->failed; shape++) {
      if (n > 0 && (shape == SHAPE_ALL_EMPTY || shape == SHAPE_ONE_EMPTY)) continue;
      slice_stored(s, shape_make(s, (enum shape)shape, n), shape % 2);
      if (!s->failed) slice_packed(s, shape_make(s, (enum shape)shape, n));
    }
  }
  slices_without_memory(s, suite_numbers(s, s->float_elem, 100), try_slice);
  slices_without_memory(s, shape_make(s, SHAPE_POWER, 5000), try_slice);
}

/* ---- vectors that are filled ---- */

/* Uploads a chunk of h, in one of the forms that a result may have. */
static bool upload_chunk(struct suite *s, const struct host_value *h, struct cvl_value *out) {
  if (s->b->slices && rng_one_in(&s->rng, 3)) return suite_upload_slice(s, h, out);
  return suite_upload(s, h, rng_one_in(&s->rng, 2), out);
}

static void fill_chunk(struct suite *s, const struct cvl_value *target, uint64_t first,
                       const struct host_value *chunk) {
  struct cvl_value v;
  if (!upload_chunk(s, chunk, &v)) return;
  const bool keeps = rng_one_in(&s->rng, 2);
  v.owned = !keeps && v.form == CVL_VECTOR;
  if (!s->b->slices->fill(s->ctx, ++s->site, target, first, &v)) suite_fail(s, "fill failed");
  if (keeps && !s->failed) same_as(s, &v, chunk, "what was filled in");
  if (keeps) s->b->release(s->ctx, &v);
}

/* Fills in `chunks` chunks, in any order, which are bounded by their starts. */
static void fill_all(struct suite *s, const struct cvl_value *target,
                     const struct host_value *h, uint64_t chunks) {
  uint64_t *starts = heap_alloc(&s->heap, (chunks + 1) * sizeof *starts);
  uint64_t *order = heap_alloc(&s->heap, chunks * sizeof *order);
  for (uint64_t i = 0; i < chunks; i++) {
    starts[i] = h->n * i / chunks;
    const uint64_t other = rng_below(&s->rng, i + 1); /* Fisher and Yates */
    order[i] = other < i ? order[other] : i;
    order[other] = i;
  }
  starts[chunks] = h->n;
  for (uint64_t i = 0; i < chunks && !s->failed; i++) {
    const uint64_t first = starts[order[i]], n = starts[order[i] + 1] - first;
    struct host_value chunk = host_range(s, h, first, n);
    fill_chunk(s, target, first, &chunk);
    host_free(&s->heap, &chunk);
  }
  heap_free(&s->heap, starts, (chunks + 1) * sizeof *starts);
  heap_free(&s->heap, order, chunks * sizeof *order);
}

static void fill_vector(struct suite *s, struct host_value h, uint64_t chunks) {
  struct cvl_value target;
  snprintf(s->where, sizeof s->where, ", %d elements in %d chunks", (int)h.n, (int)chunks);
  s->cases++;
  if (!s->b->slices->allocate(s->ctx, ++s->site, (enum cvl_elem)h.elem, h.n, &target)) {
    suite_fail(s, "allocate failed");
  } else {
    if (target.form != CVL_VECTOR || target.elem != h.elem || target.owned)
      suite_fail(s, "allocate gives form %d, elements %d", target.form, target.elem);
    if (!s->failed) fill_all(s, &target, &h, chunks);
    if (!s->failed) same_as(s, &target, &h, "what was filled");
    if (!s->failed && s->b->slices) slice_one(s, target, &h, true);
    s->b->release(s->ctx, &target);
    if (!s->failed) suite_no_error(s);
  }
  host_free(&s->heap, &h);
}

void chapter_fill(struct suite *s) {
  const uint64_t sizes[] = {0, 1, 2, 3, 65, 1000, 100000}, chunks[] = {1, 2, 7, 50};
  const enum cvl_elem elems[] = {s->int_elem, s->float_elem, CVL_BOOL};
  if (!s->b->slices) return;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    for (size_t k = 0; k < sizeof chunks / sizeof chunks[0]; k++) {
      for (int e = 0; e < 3 && !s->failed; e++)
        fill_vector(s, suite_numbers(s, elems[e], sizes[i]), chunks[k]);
    }
  }
  slices_without_memory(s, suite_numbers(s, s->int_elem, 100), try_allocate);
}

/* ---- concatenation ---- */

enum { MOST_DESCRIPTORS = 101 };

/* Draws a descriptor: of one length, if `equal`, or all empty, else in any shape. */
static struct host_value draw_descriptor(struct suite *s, bool equal) {
  const uint64_t n = rng_below(&s->rng, 60);
  if (!equal && rng_one_in(&s->rng, 5))
    return shape_make(s, rng_one_in(&s->rng, 2) ? SHAPE_NONE : SHAPE_ALL_EMPTY, 0);
  if (!equal) return shape_make(s, (enum shape)rng_below(&s->rng, SHAPES), n);
  struct host_value d = host_segdes(&s->heap, rng_below(&s->rng, 4));
  for (uint64_t k = 0; k < d.n; k++) host_put_int(&d, k, 3);
  slices_add_up(&d);
  return d;
}

/* Checks the concatenation of n descriptors, and frees them. */
static void concatenate_all(struct suite *s, uint64_t n, struct host_value *h) {
  struct host_value all;
  struct cvl_value v[MOST_DESCRIPTORS] = {{0}}, out;
  uint64_t count = 0, at = 0;
  s->cases++;
  for (uint64_t i = 0; i < n; i++) {
    count += h[i].n;
    if (!s->failed) upload_chunk(s, &h[i], &v[i]);
  }
  all = host_segdes(&s->heap, count);
  for (uint64_t i = 0; i < n; at += h[i++].n) put_range(&all, at, &h[i], 0, h[i].n);
  slices_add_up(&all);
  if (!s->failed && !s->b->slices->concatenate(s->ctx, ++s->site, n, v, &out)) {
    suite_fail(s, "concatenate failed");
  } else if (!s->failed) {
    same_as(s, &out, &all, "concatenation");
    s->b->release(s->ctx, &out);
  }
  for (uint64_t i = 0; i < n; i++) {
    if (!s->failed) same_as(s, &v[i], &h[i], "descriptor after concatenation");
    s->b->release(s->ctx, &v[i]);
    host_free(&s->heap, &h[i]);
  }
  host_free(&s->heap, &all);
  if (!s->failed) suite_no_error(s);
}

static void slices_concatenate(struct suite *s, uint64_t n, bool equal) {
  struct host_value h[MOST_DESCRIPTORS];
  snprintf(s->where, sizeof s->where, ", %d descriptors%s", (int)n, equal ? ", equal" : "");
  for (uint64_t i = 0; i < n; i++) h[i] = draw_descriptor(s, equal);
  concatenate_all(s, n, h);
}

/* Concatenates many segments of one length behind those of other lengths, in more descriptors
 * than a launch may have as arguments. Without `before`, there is one descriptor with many
 * segments of several lengths. */
static void concatenate_long(struct suite *s, uint64_t before) {
  enum { SEGMENTS = 5000 };
  struct host_value h[MOST_DESCRIPTORS];
  snprintf(s->where, sizeof s->where, ", long behind %d descriptors", (int)before);
  for (uint64_t i = 0; i < before; i++) {
    h[i] = host_segdes(&s->heap, 2);
    for (uint64_t k = 0; k < 2; k++) host_put_int(&h[i], k, (int64_t)(i % 2 + 1));
    slices_add_up(&h[i]);
  }
  h[before] = host_segdes(&s->heap, SEGMENTS);
  for (uint64_t k = 0; k < SEGMENTS; k++)
    host_put_int(&h[before], k, before ? 3 : (int64_t)(k % 4));
  slices_add_up(&h[before]);
  concatenate_all(s, before + 1, h);
}

/* Expects that the total does not fit a length, at this segment of n descriptors. */
static void slices_expect_total(struct suite *s, const struct cvl_value *all, uint64_t n,
                                int64_t position) {
  struct cvl_value out;
  struct cvl_error e;
  const struct cvl_error want = {.kind = CVL_E_TOTAL, .site = ++s->site, .position = position};
  s->cases++;
  if (s->failed) return;
  if (s->b->slices->concatenate(s->ctx, want.site, n, all, &out)) s->b->release(s->ctx, &out);
  if (!s->b->check(s->ctx, true, &e))
    suite_fail(s, "no fault, expected TOTAL");
  else
    suite_compare_error(s, &want, &e);
}

static void too_large(struct suite *s) {
  const int64_t lengths[] = {1, 2, 0, INT64_MAX - 4, 0}, twos[] = {2, 2, 2, 2};
  struct cvl_value large, four;
  snprintf(s->where, sizeof s->where, ", too large a total");
  if (!s->b->segdes_from_host(s->ctx, ++s->site, 5, lengths, &large) ||
      !s->b->segdes_from_host(s->ctx, ++s->site, 4, twos, &four)) {
    suite_fail(s, "segdes_from_host failed");
    return;
  }
  slices_expect_total(s, (struct cvl_value[]){large, four}, 2, 5);
  slices_expect_total(s, (struct cvl_value[]){cvl_one_segment(3), four, large}, 3, 8);
  s->b->release(s->ctx, &large);
  s->b->release(s->ctx, &four);
  if (!s->failed) suite_no_error(s);
}

void chapter_concatenate(struct suite *s) {
  const uint64_t numbers[] = {0, 1, 2, 3, 10, 40};
  enum { ROUNDS = 12 };
  if (!s->b->slices) return;
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    for (int round = 0; round < ROUNDS && !s->failed; round++)
      slices_concatenate(s, numbers[i], round % 3 == 0);
  }
  if (!s->failed) concatenate_long(s, 0);
  if (!s->failed) concatenate_long(s, MOST_DESCRIPTORS - 1);
  if (!s->failed) too_large(s);
  slices_without_memory(s, shape_make(s, SHAPE_POWER, 1000), try_concatenate);
}
