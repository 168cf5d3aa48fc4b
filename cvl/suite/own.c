/* own.c - elements that each of several processes reads by itself. Every element belongs to one
 * process, in the order of processes.
 */
#include "cvl/suite/suite.h"

#include <string.h>

static bool suite_own_range(struct suite *s, const struct cvl_value *v, uint64_t range[2]) {
  return s->b->processes->own_range(s->ctx, v, &range[0], &range[1]) ||
         suite_fail(s, "own_range failed");
}

/* Checks that the ranges of all processes follow each other, and end with the value. All
 * processes see the same ranges, although `mine` differs. */
static void cover(struct suite *s, const uint64_t mine[2], uint64_t n) {
  const unsigned self = s->b->processes->process(s->ctx);
  uint64_t end = 0, theirs[2];
  for (unsigned p = 0;; p++) {
    memcpy(theirs, mine, sizeof theirs);
    if (!s->b->processes->from_first(s->ctx, p == self, theirs, sizeof theirs)) break;
    if (theirs[0] != end)
      suite_fail(s, "process %u begins at %d, not at %d", p, (int)theirs[0], (int)end);
    end = theirs[0] + theirs[1];
  }
  if (end != n) suite_fail(s, "the processes have %d of %d elements", (int)end, (int)n);
}

/* Reads the elements or segments of a range, in two chunks. Processes may have different
 * numbers of them. */
static bool read_two(struct suite *s, const struct cvl_value *v, const uint64_t range[2],
                     size_t bytes, char *to) {
  const uint64_t half = range[1] / 3;
  return s->b->processes->read_own(s->ctx, v, range[0], half, to) &&
         s->b->processes->read_own(s->ctx, v, range[0] + half, range[1] - half,
                                   to + half * bytes);
}

static bool has_range(struct suite *s, const struct cvl_value *v, const struct host_value *h,
                      const uint64_t range[2]) {
  const size_t bytes = h->n > 0 ? host_bytes(h) / h->n : 1, room = range[1] * bytes + 1;
  char *read = heap_alloc(&s->heap, room);
  const bool same =
      read_two(s, v, range, bytes, read) &&
      memcmp(read, (const char *)h->data + range[0] * bytes, range[1] * bytes) == 0;
  heap_free(&s->heap, read, room);
  return same;
}

/* Checks the sum over processes with lower numbers, which nobody gets if one of them cannot go
 * on. */
static void own_sums_before(struct suite *s) {
  const uint64_t p = s->b->processes->process(s->ctx);
  uint64_t before = UINT64_MAX, none = 7;
  s->cases++;
  if (s->b->processes->sum_before(s->ctx, false, p + 1, &before) || before != p * (p + 1) / 2)
    suite_fail(s, "the sum before process %llu is %llu", (unsigned long long)p,
               (unsigned long long)before);
  if (!s->b->processes->sum_before(s->ctx, p == 0, 1, &none) || none != 7)
    suite_fail(s, "what process 0 said did not stop the others");
}

/* Releases v. */
static void own_read_own(struct suite *s, struct cvl_value v, const struct host_value *h) {
  uint64_t range[2];
  s->cases++;
  if (suite_own_range(s, &v, range)) {
    cover(s, range, h->n);
    const bool good = s->failed || has_range(s, &v, h, range);
    if (s->b->processes->any(s->ctx, !good)) suite_fail(s, "a process reads other elements");
  }
  s->b->release(s->ctx, &v);
}

static void read_stored(struct suite *s, struct host_value h, bool sliced) {
  struct cvl_value v;
  if (sliced ? suite_upload_slice(s, &h, &v) : suite_upload(s, &h, false, &v))
    own_read_own(s, v, &h);
  host_free(&s->heap, &h);
  if (!s->failed) suite_no_error(s);
}

static bool resolved(struct suite *s, const struct cvl_value *v) {
  struct cvl_size size = v->form == CVL_SEGDES || v->form == CVL_ONE_SEGMENT
                             ? s->b->count(s->ctx, v)
                             : s->b->length(s->ctx, v);
  return s->b->resolve(s->ctx, &size) || suite_fail(s, "resolve failed");
}

/* Reads a result of PACK, of which processes may have any numbers of elements. */
static void read_packed(struct suite *s, struct host_value d) {
  struct host_value x = suite_numbers(s, s->float_elem, d.total), *const both[] = {&x, &d};
  struct packed_operands packing;
  const bool packs = packed_begin(s, &d, d.total, &packing);
  for (int i = 0; i < 2 && packs && !s->failed; i++) {
    struct cvl_value v;
    if (!packed_fits(&packing, both[i]) || !packed_upload(s, &packing, both[i], &v)) continue;
    if (resolved(s, &v)) own_read_own(s, v, both[i]);
  }
  packed_end(s, &packing);
  host_free(&s->heap, &x);
  host_free(&s->heap, &d);
  if (!s->failed) suite_no_error(s);
}

/* After a fault all processes are refused. */
static void own_refused(struct suite *s) {
  const struct cvl_size one = {1, 0}, two = {2, 0};
  const struct cvl_value v = cvl_scalar_bool(false);
  struct cvl_error e;
  uint64_t first, n;
  s->cases++;
  s->b->require_equal(s->ctx, ++s->site, one, two, 0);
  if (s->b->processes->own_range(s->ctx, &v, &first, &n))
    suite_fail(s, "a range in spite of a fault");
  if (!s->b->check(s->ctx, true, &e)) suite_fail(s, "no fault");
}

void chapter_own(struct suite *s) {
  const uint64_t sizes[] = {0, 1, 2, 3, 65, 1000, 100000};
  const enum cvl_elem elems[] = {s->int_elem, s->float_elem, CVL_BOOL};
  if (!s->b->processes) return;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    snprintf(s->where, sizeof s->where, ", n = %d", (int)sizes[i]);
    for (int k = 0; k < 6 && !s->failed; k++)
      read_stored(s, suite_numbers(s, elems[k / 2], sizes[i]), k % 2);
    for (int shape = 0; shape < SHAPES_END && !s->failed; shape++) {
      if (sizes[i] > 0 && (shape == SHAPE_ALL_EMPTY || shape == SHAPE_ONE_EMPTY)) continue;
      read_stored(s, shape_make(s, (enum shape)shape, sizes[i]), shape % 2);
      if (!s->failed) read_packed(s, shape_make(s, (enum shape)shape, sizes[i]));
    }
  }
  if (!s->failed) own_sums_before(s);
  if (!s->failed) own_refused(s);
}
