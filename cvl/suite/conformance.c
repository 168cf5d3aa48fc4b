/* conformance.c - the suite's loop, for given widths, over threads, items, lengths and
 * shapes. */
#include "cvl/suite/conformance.h"
#include "cvl/suite/items.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- failures ---- */

static void print_reproduction(const struct suite *s) {
  const struct conformance_options *o = s->options;
  fprintf(o->out,
          "  reproduce: conformance --backend %s --int %d --float %d --threads %u --device %d"
          " --seed %" PRIu64 " --only %s%s%s%s%s\n",
          s->b->name, s->int_elem == CVL_I32 ? 32 : 64, s->float_elem == CVL_F32 ? 32 : 64,
          s->threads, o->device, o->seed, s->item->name,
          o->full                    ? " --full"
          : o->brief && o->all_forms ? " --brief --all-forms"
          : o->brief                 ? " --brief"
                                     : "",
          o->compile_directory ? " --native " : "",
          o->compile_directory && o->compile_waits ? "wait:" : "",
          o->compile_directory ? o->compile_directory : "");
}

bool suite_fail(struct suite *s, const char *format, ...) {
  if (s->failed) return false; /* only the first failure of an item is reported */
  va_list args;
  s->failed = true;
  s->failures++;
  fprintf(s->options->out, "FAIL %s %s/%s %s%s: ", s->b->name, elem_info(s->int_elem)->text,
          elem_info(s->float_elem)->text, s->item->name, s->where);
  va_start(args, format);
  vfprintf(s->options->out, format, args);
  va_end(args);
  fputc('\n', s->options->out);
  print_reproduction(s);
  return false;
}

/* ---- contexts ---- */

/* A superoperator whose compilation fails would run as single operations, and pass. So this is
 * a failure. */
static void say(void *suite, const char *line) {
  suite_fail(suite, "not compiled: %s", line);
}

bool suite_open(struct suite *s, uint64_t memory_limit) {
  struct cvl_options o = {.int_elem = s->int_elem,
                          .float_elem = s->float_elem,
                          .threads = s->threads,
                          .device = s->options->device,
                          .memory_limit = memory_limit,
                          .compile = s->options->compile_directory ? CVL_COMPILE_ALL
                                                                   : CVL_COMPILE_NONE,
                          .compile_waits = s->options->compile_waits,
                          .compile_directory = s->options->compile_directory,
                          .say = {say, s},
                          .tuning = s->options->tuning};
  const char *why = "no reason given";
  s->ctx = s->b->open(&o, &why);
  s->site = 0;
  s->imported = 0;
  return s->ctx || suite_fail(s, "the context could not be opened: %s", why);
}

bool suite_no_error(struct suite *s) {
  struct cvl_error e;
  if (s->b->check(s->ctx, true, &e)) {
    return suite_fail(s, "fault %s that nobody caused", fault_name(e.kind));
  }
  if (s->imported)
    return suite_fail(s, "%" PRIu64 " borrowed vectors are not given back", s->imported);
  uint64_t live = s->b->statistics(s->ctx).live_bytes;
  return live == 0 || suite_fail(s, "%" PRIu64 " bytes are live after all was released", live);
}

void suite_close(struct suite *s) {
  if (!s->failed) suite_no_error(s);
  s->b->close(s->ctx);
  s->ctx = NULL;
}

/* ---- one item ---- */

/* TILES: two and a half times what the threads of a device's block do at once. */
enum { MIDDLE = 1023, TILES = 2560, LARGE = 65537, HUGE_LENGTH = 1000003 };

static const uint64_t lengths[] = {0,   1,   2,   3,      31,    32,    33,
                                   255, 256, 257, MIDDLE, TILES, LARGE, HUGE_LENGTH};

/* Whether large lengths are worth their time. Reductions, scans, ranks, sorting, permutations
 * and packs change their algorithm there; other operations only repeat it. */
static bool is_global(enum call_kind kind) {
  return call_is_segmented(kind) || kind == CALL_PERMUTE || kind == CALL_PACK ||
         kind == CALL_MAKE_SEGDES;
}

/* Whether the pair of length and shape is tried. `turn` differs from item to item, so that a
 * brief run has all pairs over all items. FLOAT of 32 bits is sampled only (vcode.md, section
 * 21.1). */
static bool conformance_wanted(const struct suite *s, uint64_t n, int shape, unsigned turn) {
  bool full = s->options->full && s->float_elem == CVL_F64;
  bool mine = shape == (int)(turn % SHAPES), global = is_global(s->item->kind);
  const bool mine_if_brief = s->item->size == ITEM_FLAT || ((unsigned)shape + turn) % 2 == 0;
  if (n < LARGE) return n <= 3 || mine_if_brief || !s->options->brief;
  if (s->options->brief) return false;
  if (s->item->size == ITEM_FLAT) return full || n == LARGE;
  if (n == LARGE) return full || mine || (global && shape == SHAPE_ONE);
  if (full) return mine || (global && (shape == SHAPE_ONE || shape == SHAPE_POWER));
  bool tree = s->item->kind == CALL_REDUCE || s->item->kind == CALL_SCAN;
  return tree && s->item->klass == CLASS_FLOAT && shape == (turn % 2 ? SHAPE_ONE : SHAPE_LONG);
}

/* Runs one length and shape: a right case, a spoiled one, and a sweep of failing
 * allocations. */
static void conformance_run_shape(struct suite *s, uint64_t n, enum shape shape, bool grid) {
  struct test_case t;
  snprintf(s->where, sizeof s->where, ", %u threads, n = %" PRIu64 ", shape %s%s", s->threads,
           n, shape_name(shape), grid ? ", special values" : "");
  case_make(s, n, shape, grid, &t);
  case_run(s, &t, n <= 33 || (s->options->full && n <= MIDDLE));
  if (!s->failed && ((n == 33 && (s->options->full || shape % 3 == 0)) ||
                     (s->options->full && n == MIDDLE))) {
    case_sweep(s, &t);
  }
  if (!s->failed && case_spoil(s, &t)) {
    size_t length = strlen(s->where);
    snprintf(s->where + length, sizeof s->where - length, ", faults");
    case_run(s, &t, n <= 3);
  }
  case_free(s, &t);
}

static void run_length(struct suite *s, uint64_t n, unsigned turn) {
  int first = n == 0 ? SHAPE_NONE : 0, end = n == 0 ? SHAPES_END : SHAPES;
  if (s->item->size == ITEM_FLAT) end = first + 1;
  for (int shape = first; shape < end && !s->failed; shape++) {
    if (!conformance_wanted(s, n, shape, turn)) continue;
    int rounds = n >= LARGE ? 1 : s->options->full ? 4 : 1;
    /* Some large lengths end anywhere in a tile of threads. */
    const uint64_t more = n == LARGE && turn % 2 ? rng_below(&s->rng, 9000) : 0;
    for (int round = 0; round < rounds && !s->failed; round++) {
      conformance_run_shape(s, n + more, (enum shape)shape, false);
    }
  }
}

/* Operations on elements are run on all pairs of special values, and with more seeds. */
static void run_elements(struct suite *s) {
  if (s->item->kind != CALL_ELEMENTWISE) return;
  conformance_run_shape(s, MIDDLE + 500, SHAPE_ONE, true);
  const int rounds = s->options->brief ? 2 : 8;
  for (int i = 0; i < rounds && !s->failed; i++)
    conformance_run_shape(s, MIDDLE, SHAPE_ONE, false);
}

/* Runs MAX and MIN of FLOAT where a NaN or the sign of a zero decides, in segments long enough
 * for blocks and threads. */
static void run_ties(struct suite *s) {
  static const enum shape shapes[] = {SHAPE_ONE, SHAPE_HUNDREDS, SHAPE_LONG, SHAPE_POWER};
  const struct item *it = s->item;
  if (it->kind != CALL_REDUCE && it->kind != CALL_SCAN) return;
  if (it->klass != CLASS_FLOAT || (it->op != OP_MAX && it->op != OP_MIN)) return;
  const int rounds = s->options->full ? 12 : s->options->brief ? 2 : 6;
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    for (int round = 0; round < rounds && !s->failed; round++) {
      const bool large = round % 2 && !s->options->brief;
      conformance_run_shape(s, large ? LARGE : 5 * MIDDLE, shapes[i], true);
    }
  }
}

static void run_item(struct suite *s, const struct item *it, unsigned number) {
  s->item = it;
  s->failed = false;
  s->where[0] = 0;
  s->rng.state = s->options->seed * 0x9E3779B97F4A7C15 + number;
  rng_next(&s->rng);
  if (!suite_open(s, 0)) return;
  if (it->run) {
    it->run(s);
  } else {
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0] && !s->failed; i++) {
      run_length(s, lengths[i], number + (unsigned)i);
    }
    if (!s->failed) run_elements(s);
    if (!s->failed) suite_run_forms(s);
    if (!s->failed) run_ties(s);
  }
  if (s->ctx) suite_close(s);
}

/* ---- all ---- */

static void conformance_run_threads(struct suite *s, const struct item_list *list,
                                    uint64_t *digests, bool compare) {
  for (size_t i = 0; i < list->count; i++) {
    if (!item_wanted(list, i, s->options)) continue;
    s->digest = 0;
    run_item(s, &list->items[i], (unsigned)i);
    if (compare && !s->failed && s->digest != digests[i]) {
      s->where[0] = 0;
      suite_fail(s, ": other bits with %u threads than with %u", s->threads,
                 s->options->threads[0]);
    }
    if (!compare) digests[i] = s->digest;
  }
}

struct conformance_result conformance_run(const struct cvl_backend *b,
                                          const struct conformance_options *options) {
  struct conformance_result result = {0};
  struct suite s = {.b = b,
                    .options = options,
                    .int_elem = options->int_elem,
                    .float_elem = options->float_elem};
  struct item_list *list = malloc(sizeof *list);
  uint64_t *digests = calloc(ITEMS_MAX, sizeof *digests);
  if (list && digests) {
    heap_init(&s.heap, 0);
    items_make(list);
    size_t runs = options->threads_count ? options->threads_count : 1;
    for (size_t r = 0; r < runs; r++) {
      s.threads = options->threads_count ? options->threads[r] : 0;
      conformance_run_threads(&s, list, digests, r > 0);
    }
    for (size_t i = 0; i < list->count; i++) {
      result.items += item_wanted(list, i, options);
    }
  }
  result.cases = s.cases;
  result.failures = s.failures + !(list && digests);
  free(list);
  free(digests);
  return result;
}

void conformance_list(FILE *out) {
  struct item_list *list = malloc(sizeof *list);
  if (!list) return;
  items_make(list);
  for (size_t i = 0; i < list->count; i++) fprintf(out, "%s\n", list->items[i].name);
  free(list);
}
