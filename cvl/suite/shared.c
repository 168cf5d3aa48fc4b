/* shared.c - memory that host and back end share: imported operands, elements that the host
 * writes into it, and exported elements.
 */
#include "cvl/suite/suite.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- memory that may only be read, and nothing behind it ---- */

struct imported {
  struct suite *suite;
  char *pages;
  size_t bytes; /* bytes of all pages; the last page cannot be accessed */
};

static void shared_end_export(void *with) {
  struct imported *l = with;
  l->suite->imported--;
  munmap(l->pages, l->bytes);
  free(l);
}

/* Puts the elements right before a page that cannot be read. */
static char *protect(struct suite *s, const struct host_value *h, struct imported *l) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = host_bytes(h);
  const size_t readable = (bytes + page - 1) / page * page;
  l->suite = s;
  l->bytes = readable + page;
  l->pages = mmap(NULL, l->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (l->pages == MAP_FAILED) return NULL;
  char *const data = l->pages + readable - bytes;
  memcpy(data, h->data, bytes);
  /* QEMU's mprotect fails if there are no pages. */
  const bool good = (readable == 0 || mprotect(l->pages, readable, PROT_READ) == 0) &&
                    mprotect(l->pages + readable, page, PROT_NONE) == 0;
  return good ? data : NULL;
}

bool suite_export(struct suite *s, const struct host_value *h, struct cvl_value *out) {
  struct imported *l = calloc(1, sizeof *l);
  const char *data = l ? protect(s, h, l) : NULL;
  if (!data) return suite_fail(s, "the system has no memory to export");
  s->imported++;
  return s->b->sharing->import_vector(s->ctx, ++s->site, (enum cvl_elem)h->elem, h->n, data,
                                      (struct cvl_notice){shared_end_export, l}, out);
}

/* ---- borrowing ---- */

static void shared_count(void *with) {
  ++*(int *)with;
}

/* A value that is released once must have called once, whether it was copied or not. */
static void check_borrowed(struct suite *s, const struct host_value *h, const void *data) {
  int calls = 0;
  struct cvl_value v;
  struct host_value got;
  s->cases++;
  if (!s->b->sharing->import_vector(s->ctx, ++s->site, (enum cvl_elem)h->elem, h->n, data,
                                    (struct cvl_notice){shared_count, &calls}, &v)) {
    suite_fail(s, "import failed");
    return;
  }
  s->b->retain(s->ctx, &v);
  s->b->release(s->ctx, &v);
  if (suite_fetch(s, &v, &got)) {
    suite_compare(s, h, &got, 0, "what was borrowed");
    host_free(&s->heap, &got);
  }
  s->b->release(s->ctx, &v);
  if (!s->failed) suite_no_error(s);
  if (calls != 1) suite_fail(s, "the lender was called %d times", calls);
}

/* Imports vectors of every length around a row, aligned and not. */
static void borrow_any(struct suite *s, enum cvl_elem e) {
  const size_t each = elem_info(e)->bytes;
  for (uint64_t n = 0; n < 40 && !s->failed; n++) {
    struct host_value h = suite_numbers(s, e, n);
    char *copy = malloc(host_bytes(&h) + 2 * each);
    for (size_t at = 0; copy && at <= each && !s->failed; at++) {
      snprintf(s->where, sizeof s->where, ", %" PRIu64 " elements, %zu bytes misaligned", n,
               at % each);
      memcpy(copy + at, h.data, host_bytes(&h));
      check_borrowed(s, &h, copy + at);
    }
    free(copy);
    host_free(&s->heap, &h);
  }
}

/* The notice is called, too, if there is no memory, and when the context is closed. */
static void borrow_to_the_end(struct suite *s) {
  struct host_value h = suite_numbers(s, s->float_elem, 1000);
  struct cvl_value v;
  struct cvl_error e;
  int calls = 0, expected = 0;
  snprintf(s->where, sizeof s->where, ", to the end");
  for (uint64_t n = 1; n < 3 && !s->failed; n++) {
    s->b->fail_allocation(s->ctx, n);
    bool ok = s->b->sharing->import_vector(s->ctx, ++s->site, s->float_elem, h.n, h.data,
                                           (struct cvl_notice){shared_count, &calls}, &v);
    bool fault = s->b->check(s->ctx, true, &e);
    s->b->fail_allocation(s->ctx, 0);
    expected++;
    if (fault && e.kind != CVL_E_MEMORY) suite_fail(s, "not a MEMORY fault");
    if (!fault && !ok) suite_fail(s, "import failed");
    if (ok) s->b->release(s->ctx, &v);
  }
  for (int i = 0; i < 3 && !s->failed; i++, expected++) { /* some are not released */
    if (!s->b->sharing->import_vector(s->ctx, ++s->site, s->float_elem, h.n, h.data,
                                      (struct cvl_notice){shared_count, &calls}, &v)) {
      suite_fail(s, "import failed");
    }
  }
  s->cases++;
  s->b->close(s->ctx);
  s->ctx = NULL;
  if (!s->failed && calls != expected) suite_fail(s, "%d of %d were called", calls, expected);
  host_free(&s->heap, &h);
  if (!s->failed) suite_open(s, 0);
}

/* ---- elements that the host writes ---- */

/* A filler, which counts how often it has been asked for each element, by any thread. */
struct made {
  const struct host_value *elements;
  _Atomic unsigned char *asked;
};

static void shared_fill(void *with, uint64_t first, uint64_t n, void *to) {
  const struct made *m = with;
  const size_t each = elem_info((enum cvl_elem)m->elements->elem)->bytes;
  memcpy(to, (const char *)m->elements->data + first * each, (size_t)n * each);
  for (uint64_t i = first; i < first + n; i++) m->asked[i]++;
}

static void shared_generate(struct suite *s, enum cvl_elem e, uint64_t n) {
  struct host_value h = suite_numbers(s, e, n), got;
  struct made m = {&h, calloc(n + 1, 1)};
  struct cvl_value v;
  s->cases++;
  snprintf(s->where, sizeof s->where, ", %" PRIu64 " elements made", n);
  if (!s->b->generators->generate(s->ctx, ++s->site, e, n,
                                  &(struct cvl_filler){shared_fill, &m}, &v)) {
    suite_fail(s, "generate failed");
  } else {
    for (uint64_t i = 0; i < n && !s->failed; i++) {
      if (m.asked[i] != 1)
        suite_fail(s, "element %" PRIu64 " was made %d times", i, m.asked[i]);
    }
    if (suite_fetch(s, &v, &got)) {
      suite_compare(s, &h, &got, 0, "what was made");
      host_free(&s->heap, &got);
    }
    s->b->release(s->ctx, &v);
  }
  free((void *)m.asked);
  host_free(&s->heap, &h);
  if (!s->failed) suite_no_error(s);
}

static void fill_offsets(void *with, uint64_t first, uint64_t n, void *to) {
  const int64_t *offsets = with;
  memcpy(to, offsets + first, (size_t)n * sizeof *offsets);
}

/* Compares a generated descriptor with one of segdes_from_host: the same lengths and total. */
static void generate_segdes(struct suite *s, enum shape shape, uint64_t n) {
  struct host_value h = shape_make(s, shape, n), got;
  int64_t *offsets = calloc(h.n + 1, sizeof *offsets);
  for (uint64_t k = 0; k < h.n; k++) offsets[k + 1] = offsets[k] + ((const int64_t *)h.data)[k];
  struct cvl_value d;
  s->cases++;
  snprintf(s->where, sizeof s->where, ", offsets made, n = %" PRIu64 ", shape %s", n,
           shape_name(shape));
  if (!s->b->generators->generate_segdes(s->ctx, ++s->site, h.n,
                                         &(struct cvl_filler){fill_offsets, offsets}, &d)) {
    suite_fail(s, "generate_segdes failed");
  } else {
    if (suite_fetch(s, &d, &got)) {
      suite_compare(s, &h, &got, 0, "descriptor that was made");
      host_free(&s->heap, &got);
    }
    s->b->release(s->ctx, &d);
  }
  free(offsets);
  host_free(&s->heap, &h);
  if (!s->failed) suite_no_error(s);
}

static void generate_without_memory(struct suite *s) {
  struct host_value h = suite_numbers(s, s->int_elem, 1000);
  struct made m = {&h, calloc(h.n + 1, 1)};
  struct cvl_value v;
  struct cvl_error e;
  snprintf(s->where, sizeof s->where, ", the first allocation fails");
  s->b->fail_allocation(s->ctx, 1);
  const bool ok = s->b->generators->generate(s->ctx, ++s->site, s->int_elem, h.n,
                                             &(struct cvl_filler){shared_fill, &m}, &v);
  if (!s->b->check(s->ctx, true, &e) || e.kind != CVL_E_MEMORY) {
    suite_fail(s, "not a MEMORY fault");
  }
  s->b->fail_allocation(s->ctx, 0);
  if (ok) s->b->release(s->ctx, &v);
  s->cases++;
  free((void *)m.asked);
  host_free(&s->heap, &h);
}

/* ---- exports ---- */

static void check_export(struct suite *s, const struct cvl_export *exported,
                         const struct host_value *h) {
  if (memcmp(exported->data, h->data, host_bytes(h)) != 0)
    suite_fail(s, "what was exported changed");
}

/* Returns a vector that the back end has computed: -x. */
static bool negated(struct suite *s, struct host_value *h, struct cvl_value *out) {
  struct cvl_value v, two[2];
  struct cvl_value zero = cvl_scalar_int(s->int_elem, 0), d = cvl_one_segment(h->n), zeros;
  if (!suite_upload(s, h, false, &v)) return false;
  if (!s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_DIST, OP_DIST, zero, d), &zeros))
    return suite_fail(s, "dist failed");
  two[0] = zeros, two[1] = v;
  two[0].owned = two[1].owned = 1;
  for (uint64_t i = 0; i < h->n; i++) host_put_int(h, i, -(int64_t)i);
  return s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_ELEMENTWISE, OP_SUB, two[0], two[1]),
                     out) ||
         suite_fail(s, "elementwise failed");
}

/* An operation that owns an exported vector must not change it. Neither may vectors that get
 * memory after it was released. */
static void use_exported(struct suite *s, struct cvl_value v, const struct host_value *h,
                         const struct cvl_export *exported) {
  struct cvl_value out, two[2];
  s->b->retain(s->ctx, &v);
  two[0] = two[1] = v;
  two[0].owned = two[1].owned = 1;
  if (!s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_ELEMENTWISE, OP_ADD, two[0], two[1]),
                   &out)) {
    suite_fail(s, "elementwise failed");
    return;
  }
  check_export(s, exported, h);
  s->b->release(s->ctx, &out);
  for (int i = 0; i < 20 && !s->failed; i++) {
    struct cvl_value zero = cvl_scalar_int(s->int_elem, 0), d = cvl_one_segment(h->n);
    if (!s->b->apply(s->ctx, ++s->site, &CVL_CALL(CALL_DIST, OP_DIST, zero, d), &out))
      suite_fail(s, "dist failed");
    s->b->check(s->ctx, true, &(struct cvl_error){0});
    s->b->release(s->ctx, &out);
  }
  check_export(s, exported, h);
  if (!s->failed) suite_no_error(s);
}

static void shared_export(struct suite *s, uint64_t n, bool closes) {
  struct host_value h = host_vector(&s->heap, s->int_elem, n);
  struct cvl_value v;
  struct cvl_export exported[2];
  for (uint64_t i = 0; i < n; i++) host_put_int(&h, i, (int64_t)i);
  snprintf(s->where, sizeof s->where, ", %" PRIu64 " elements exported", n);
  if (negated(s, &h, &v)) {
    const bool possible = s->b->sharing->export_vector(s->ctx, &v, &exported[0]);
    if (possible && !s->b->sharing->export_vector(s->ctx, &v, &exported[1]))
      suite_fail(s, "exported once only");
    s->cases++;
    if (!possible) {
      s->b->release(s->ctx, &v);
    } else if (!s->failed) {
      check_export(s, &exported[0], &h);
      exported[1].end.call(exported[1].end.with);
      use_exported(s, v, &h, &exported[0]);
      if (closes) {
        s->b->close(s->ctx);
        s->ctx = NULL;
      }
      check_export(s, &exported[0], &h);
      exported[0].end.call(exported[0].end.with);
      if (closes && !s->failed) suite_open(s, 0);
    }
  }
  host_free(&s->heap, &h);
}

/* An exported vector counts until it is released. An imported one takes no more than that. */
static void within_a_limit(struct suite *s) {
  enum { LIMIT = 1 << 20, EXPORTS = 30, ELEMENTS = 16000, BORROWED = 20000 };
  struct host_value h = host_vector(&s->heap, s->int_elem, ELEMENTS);
  struct cvl_export exports[EXPORTS];
  struct cvl_value v;
  int exported_count = 0, calls = 0, wanted = 0;
  snprintf(s->where, sizeof s->where, ", within a limit");
  suite_close(s);
  if (suite_open(s, LIMIT)) {
    while (exported_count < EXPORTS && negated(s, &h, &v)) {
      const bool ok = s->b->sharing->export_vector(s->ctx, &v, &exports[exported_count]);
      s->b->release(s->ctx, &v);
      if (!ok) break;
      exported_count++;
    }
    wanted = exported_count > 0 ? BORROWED : 0;
    while (exported_count > 0) {
      exported_count--;
      exports[exported_count].end.call(exports[exported_count].end.with);
    }
    for (int i = 0; i < wanted && !s->failed; i++) {
      if (s->b->sharing->import_vector(s->ctx, ++s->site, s->int_elem, ELEMENTS / 4, h.data,
                                       (struct cvl_notice){shared_count, &calls}, &v)) {
        s->b->release(s->ctx, &v);
      } else {
        suite_fail(s, "vector %d is not borrowed", i);
      }
    }
    s->cases++;
    suite_close(s);
  }
  if (!s->failed && calls != wanted) suite_fail(s, "%d of %d were called", calls, wanted);
  host_free(&s->heap, &h);
  if (!s->failed) suite_open(s, 0);
}

void chapter_shared(struct suite *s) {
  const enum cvl_elem elems[] = {s->int_elem, s->float_elem, CVL_BOOL};
  for (int i = 0; i < 3 && !s->failed; i++) {
    if (s->b->sharing) borrow_any(s, elems[i]);
    for (uint64_t n = 0; n < 400000 && s->b->generators && !s->failed; n = 7 * n + 1) {
      shared_generate(s, elems[i], n);
    }
  }
  for (int shape = 0; shape < SHAPES && s->b->generators; shape++) {
    for (uint64_t n = 1; n < 400000 && !s->failed; n = 9 * n + 1) {
      generate_segdes(s, (enum shape)shape, n);
    }
  }
  if (s->b->sharing && !s->failed) within_a_limit(s);
  if (s->b->sharing && !s->failed) borrow_to_the_end(s);
  if (s->b->generators && !s->failed) generate_without_memory(s);
  for (uint64_t n = 0; n < 400000 && s->b->sharing && !s->failed; n = 7 * n + 1) {
    shared_export(s, n, n % 3 == 2);
  }
}
