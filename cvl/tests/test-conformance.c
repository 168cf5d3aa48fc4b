/* test-conformance.c - tests the conformance suite. Back ends with one defect each must fail
 * it, at the item that the defect concerns. */
#include "base/tests/every.h"
#include "cvl/delayed.h"
#include "cvl/oracle/oracle.h"
#include "cvl/sharing.h"
#include "cvl/slices.h"
#include "cvl/suite/conformance.h"
#include "cvl/superop.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

DELAYED_BACKEND(delayed_oracle, "delayed", cvl_oracle_backend)

const struct cvl_backend *const *cvl_backends(void) {
  static const struct cvl_backend *const all[] = {&cvl_oracle_backend, NULL};
  return all;
}

/* With RAVEL_EVERY the run is brief, as scripts/test runs most back ends. */
static uint64_t failures(const struct cvl_backend *b, const char *only) {
  FILE *sink = fopen("/dev/null", "w");
  struct conformance_options o = {.int_elem = CVL_I64,
                                  .float_elem = CVL_F64,
                                  .threads = {1},
                                  .threads_count = 1,
                                  .device = -1,
                                  .seed = 1,
                                  .only = only,
                                  .brief = every() > 1,
                                  .out = sink};
  struct conformance_result r = conformance_run(b, &o);
  fclose(sink);
  cr_assert_gt(r.items, 0);
  return r.failures;
}

static uint64_t items(const char *only, unsigned shard, unsigned shards) {
  const struct conformance_options o = {.int_elem = CVL_I64,
                                        .float_elem = CVL_F64,
                                        .threads = {1},
                                        .threads_count = 1,
                                        .device = -1,
                                        .seed = 1,
                                        .only = only,
                                        .brief = true,
                                        .shard = shard,
                                        .shards = shards,
                                        .out = stdout};
  return conformance_run(&cvl_oracle_backend, &o).items;
}

/* All shards together have all items. Each shard has some class of an operation. */
Test(conformance, shards) {
  static const struct {
    const char *name;
    uint64_t of_two[2];
  } rows[] = {{"ADD", {1, 1}}, {"SUB", {1, 1}}, {"SELECT", {2, 1}}, {"DIST", {2, 1}}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const uint64_t first = items(rows[i].name, 0, 2), second = items(rows[i].name, 1, 2);
    cr_expect(first + second == items(rows[i].name, 0, 0), "%s", rows[i].name);
    const uint64_t more = rows[i].of_two[0], less = rows[i].of_two[1];
    cr_expect((first == more && second == less) || (first == less && second == more),
              "%s: %ju, %ju", rows[i].name, (uintmax_t)first, (uintmax_t)second);
  }
  cr_expect(items("ADD.INT", 0, 2) != items("SUB.INT", 0, 2));
}

/* Each defect is one function of the table, wrong in one respect. */

static bool scan_max_for_min(struct cvl_context *ctx, uint64_t site,
                             const struct cvl_call *call, struct cvl_value *out) {
  struct cvl_call wrong = *call;
  if (wrong.kind == CALL_SCAN && wrong.op == OP_MIN) wrong.op = OP_MAX;
  return cvl_oracle_backend.apply(ctx, site, &wrong, out);
}

static bool reduce_keeps_owned(struct cvl_context *ctx, uint64_t site,
                               const struct cvl_call *call, struct cvl_value *out) {
  struct cvl_call borrowed = *call;
  if (call->kind == CALL_REDUCE) borrowed.operand[0].owned = 0;
  return cvl_oracle_backend.apply(ctx, site, &borrowed, out);
}

static bool lengths_site_0(struct cvl_context *ctx, uint64_t site, const struct cvl_call *call,
                           struct cvl_value *out) {
  return cvl_oracle_backend.apply(ctx, call->kind == CALL_MAKE_SEGDES ? 0 : site, call, out);
}

static bool check_keeps(struct cvl_context *ctx, bool wait, struct cvl_error *e) {
  bool found = cvl_oracle_backend.check(ctx, wait, e);
  e->position += found; /* one too large */
  return found;
}

/* Computes out[j] = length of its segment - 1 - rank[j]: the other direction, and the last of
 * equal elements comes first. Takes the reference of rank. */
static bool counted_from_the_end(struct cvl_context *ctx, uint64_t site, struct cvl_value rank,
                                 const struct cvl_value *d, struct cvl_value *out) {
  const struct cvl_backend *b = &cvl_oracle_backend;
  struct cvl_value inverse, length, spread, borrowed = *d;
  borrowed.owned = 0;
  rank.owned = 1;
  bool ok = b->apply(ctx, site, &CVL_CALL(CALL_ELEMENTWISE, OP_NOT, rank), &inverse) &&
            b->apply(ctx, site, &CVL_CALL(CALL_LENGTHS, OP_LENGTHS, borrowed), &length);
  if (!ok) return false;
  length.owned = 1;
  if (!b->apply(ctx, site, &CVL_CALL(CALL_DIST, OP_DIST, length, borrowed), &spread))
    return false;
  inverse.owned = spread.owned = 1;
  return b->apply(ctx, site, &CVL_CALL(CALL_ELEMENTWISE, OP_ADD, inverse, spread), out);
}

/* RANK_DOWN ranks the last of equal elements first. */
static bool rank_reverses_ties(struct cvl_context *ctx, uint64_t site,
                               const struct cvl_call *call, struct cvl_value *out) {
  const struct cvl_value *d = &call->operand[1];
  if (call->op != OP_RANK_DOWN) return cvl_oracle_backend.apply(ctx, site, call, out);
  struct cvl_call other = *call;
  struct cvl_value up;
  other.op = OP_RANK_UP;
  other.operand[1].owned = 0;
  bool ok = cvl_oracle_backend.apply(ctx, site, &other, &up) &&
            counted_from_the_end(ctx, site, up, d, out);
  if (d->owned) cvl_oracle_backend.release(ctx, d);
  return ok;
}

static struct cvl_statistics no_limit_statistics(struct cvl_context *ctx) {
  struct cvl_statistics s = cvl_oracle_backend.statistics(ctx);
  s.peak_bytes = 0;
  return s;
}

static bool random_ignores_k(struct cvl_context *ctx, uint64_t site,
                             const struct cvl_call *call, struct cvl_value *out) {
  struct cvl_call wrong = *call;
  wrong.random.k = 0;
  return cvl_oracle_backend.apply(ctx, site, &wrong, out);
}

static bool random_ignores_first(struct cvl_context *ctx, uint64_t site,
                                 const struct cvl_call *call, struct cvl_value *out) {
  struct cvl_call wrong = *call;
  wrong.random.first = 0;
  return cvl_oracle_backend.apply(ctx, site, &wrong, out);
}

/* These back ends slice and concatenate badly. */

static bool conformance_is_segdes(const struct cvl_value *v) {
  return v->form == CVL_SEGDES || v->form == CVL_ONE_SEGMENT;
}

static bool slice_off_by_one(struct cvl_context *ctx, uint64_t site, const struct cvl_value *v,
                             uint64_t first, uint64_t n, struct cvl_value *out) {
  const bool off = !conformance_is_segdes(v) && first > 0;
  return cvl_oracle_backend.slices->slice(ctx, site, v, first - off, n, out);
}

static bool slice_of_other_segments(struct cvl_context *ctx, uint64_t site,
                                    const struct cvl_value *v, uint64_t first, uint64_t n,
                                    struct cvl_value *out) {
  const bool off = conformance_is_segdes(v) && first > 0;
  return cvl_oracle_backend.slices->slice(ctx, site, v, first - off, n, out);
}

static bool slice_keeps_owned(struct cvl_context *ctx, uint64_t site, const struct cvl_value *v,
                              uint64_t first, uint64_t n, struct cvl_value *out) {
  struct cvl_value borrowed = *v;
  borrowed.owned = 0;
  return cvl_oracle_backend.slices->slice(ctx, site, &borrowed, first, n, out);
}

static bool allocate_gives_scalars(struct cvl_context *ctx, uint64_t site, enum cvl_elem elem,
                                   uint64_t n, struct cvl_value *out) {
  *out = (struct cvl_value){.form = CVL_SCALAR, .elem = (uint8_t)elem};
  return n == 1 || cvl_oracle_backend.slices->allocate(ctx, site, elem, n, out);
}

static bool fill_from_zero(struct cvl_context *ctx, uint64_t site,
                           const struct cvl_value *target, uint64_t first,
                           const struct cvl_value *v) {
  return cvl_oracle_backend.slices->fill(ctx, site, target, first > 70 ? 0 : first, v);
}

static bool fill_keeps_owned(struct cvl_context *ctx, uint64_t site,
                             const struct cvl_value *target, uint64_t first,
                             const struct cvl_value *v) {
  struct cvl_value borrowed = *v;
  borrowed.owned = 0;
  return cvl_oracle_backend.slices->fill(ctx, site, target, first, &borrowed);
}

/* Concatenates to a descriptor without empty segments at its end. */
static bool loses_empty_segments(struct cvl_context *ctx, uint64_t site, uint64_t n,
                                 const struct cvl_value *descriptors, struct cvl_value *out) {
  struct cvl_value all, last;
  if (!cvl_oracle_backend.slices->concatenate(ctx, site, n, descriptors, &all)) return false;
  all.owned = 1;
  uint64_t count = cvl_oracle_backend.count(ctx, &all).bound;
  for (int64_t length = 0; count > 0 && length == 0; count -= length == 0)
    cvl_oracle_backend.to_host(ctx, &all, count - 1, 1, &length);
  const bool good = cvl_oracle_backend.slices->slice(ctx, site, &all, 0, count, &last);
  *out = last;
  return good;
}

static bool concatenates_without_limit(struct cvl_context *ctx, uint64_t site, uint64_t n,
                                       const struct cvl_value *descriptors,
                                       struct cvl_value *out) {
  struct cvl_error e;
  if (cvl_oracle_backend.slices->concatenate(ctx, site, n, descriptors, out)) return true;
  if (cvl_oracle_backend.check(ctx, true, &e) && e.kind == CVL_E_MEMORY)
    return cvl_oracle_backend.slices->concatenate(ctx, site, n, descriptors, out);
  return cvl_oracle_backend.segdes_from_host(ctx, site, 0, NULL, out);
}

/* Imports by copying, and calls the notice so many times. */
static bool import_calls(struct cvl_context *ctx, uint64_t site, enum cvl_elem elem, uint64_t n,
                         const void *data, struct cvl_notice done, struct cvl_value *out,
                         int times) {
  const bool ok = cvl_oracle_backend.from_host(ctx, site, elem, n, data, out);
  for (int i = 0; i < times; i++) done.call(done.with);
  return ok;
}

static bool borrow_copies(struct cvl_context *ctx, uint64_t site, enum cvl_elem elem,
                          uint64_t n, const void *data, struct cvl_notice done,
                          struct cvl_value *out) {
  return import_calls(ctx, site, elem, n, data, done, out, 1);
}

static bool borrow_never_ends(struct cvl_context *ctx, uint64_t site, enum cvl_elem elem,
                              uint64_t n, const void *data, struct cvl_notice done,
                              struct cvl_value *out) {
  return import_calls(ctx, site, elem, n, data, done, out, 0);
}

static bool borrow_ends_twice(struct cvl_context *ctx, uint64_t site, enum cvl_elem elem,
                              uint64_t n, const void *data, struct cvl_notice done,
                              struct cvl_value *out) {
  return import_calls(ctx, site, elem, n, data, done, out, n > 20 ? 2 : 1);
}

static bool generate_in_chunks(struct cvl_context *ctx, uint64_t site, enum cvl_elem elem,
                               uint64_t n, const struct cvl_filler *filler,
                               struct cvl_value *out, uint64_t overlap) {
  const size_t each = elem_info(elem)->bytes;
  char *all = malloc((n + 1) * each);
  for (uint64_t i = 0; i < n; i += 100) {
    uint64_t some = n - i < 100 + overlap ? n - i : 100 + overlap;
    filler->fill(filler->with, i, some, all + i * each);
  }
  const bool ok = cvl_oracle_backend.from_host(ctx, site, elem, n, all, out);
  free(all);
  return ok;
}

static bool generate_copies(struct cvl_context *ctx, uint64_t site, enum cvl_elem elem,
                            uint64_t n, const struct cvl_filler *filler,
                            struct cvl_value *out) {
  return generate_in_chunks(ctx, site, elem, n, filler, out, 0);
}

static bool generate_overlaps(struct cvl_context *ctx, uint64_t site, enum cvl_elem elem,
                              uint64_t n, const struct cvl_filler *filler,
                              struct cvl_value *out) {
  return generate_in_chunks(ctx, site, elem, n, filler, out, 1);
}

static bool generate_copied_segdes(struct cvl_context *ctx, uint64_t site, uint64_t n,
                                   const struct cvl_filler *filler, struct cvl_value *out) {
  int64_t *offsets = malloc((n + 1) * sizeof *offsets);
  filler->fill(filler->with, 0, n + 1, offsets);
  for (uint64_t k = 0; k < n; k++) offsets[k] = offsets[k + 1] - offsets[k];
  const bool ok = cvl_oracle_backend.segdes_from_host(ctx, site, n, offsets, out);
  free(offsets);
  return ok;
}

static bool export_nothing(struct cvl_context *ctx, const struct cvl_value *v,
                           struct cvl_export *exported) {
  (void)ctx, (void)v, (void)exported;
  return false;
}

static void end_nothing(void *with) {
  (void)with;
}

/* Exports the same memory to everybody. */
static bool export_scratch(struct cvl_context *ctx, const struct cvl_value *v,
                           struct cvl_export *exported) {
  static char scratch[1 << 22];
  const uint64_t n = cvl_oracle_backend.length(ctx, v).bound;
  *exported = (struct cvl_export){scratch, {end_nothing, NULL}};
  return cvl_oracle_backend.to_host(ctx, v, 0, n > 1000 ? 0 : n, scratch);
}

Test(conformance, accepts_the_oracle) {
  cr_expect_eq(failures(&cvl_oracle_backend, "ADD"), 0);
  cr_expect_eq(failures(&cvl_oracle_backend, "PACK"), 0);
  cr_expect_eq(failures(&cvl_oracle_backend, "ERRORS"), 0);
}

/* The tables in which defective back ends differ from the oracle. */
static struct cvl_sharing sharing;
static struct cvl_generators generators;
static struct cvl_slices slices;

static void tables_without_defects(void) {
  sharing = (struct cvl_sharing){borrow_copies, export_nothing};
  generators = (struct cvl_generators){generate_copies, generate_copied_segdes};
  slices = *cvl_oracle_backend.slices;
}

#define DEFECT(member, wrong)                                                                  \
  static void with_##wrong(struct cvl_backend *b) {                                            \
    b->member = wrong;                                                                         \
  }
#define DEFECT_OF(table, member, wrong)                                                        \
  static void with_##wrong(struct cvl_backend *b) {                                            \
    table.member = wrong;                                                                      \
    b->table = &table;                                                                         \
  }
DEFECT(apply, scan_max_for_min)
DEFECT(apply, reduce_keeps_owned)
DEFECT(apply, lengths_site_0)
DEFECT(check, check_keeps)
DEFECT(apply, rank_reverses_ties)
DEFECT(statistics, no_limit_statistics)
DEFECT(apply, random_ignores_k)
DEFECT(apply, random_ignores_first)
DEFECT_OF(slices, slice, slice_off_by_one)
DEFECT_OF(slices, slice, slice_of_other_segments)
DEFECT_OF(slices, slice, slice_keeps_owned)
DEFECT_OF(slices, allocate, allocate_gives_scalars)
DEFECT_OF(slices, fill, fill_from_zero)
DEFECT_OF(slices, fill, fill_keeps_owned)
DEFECT_OF(slices, concatenate, loses_empty_segments)
DEFECT_OF(slices, concatenate, concatenates_without_limit)
DEFECT_OF(sharing, import_vector, borrow_copies)
DEFECT_OF(sharing, import_vector, borrow_never_ends)
DEFECT_OF(sharing, import_vector, borrow_ends_twice)
DEFECT_OF(generators, generate, generate_copies)
DEFECT_OF(generators, generate, generate_overlaps)
DEFECT_OF(sharing, export_vector, export_scratch)

Test(conformance, rejects_defects) {
  static const struct {
    void (*with)(struct cvl_backend *);
    const char *item;
    bool fails;
  } cases[] = {
      {with_scan_max_for_min, "MIN_SCAN", true},
      {with_scan_max_for_min, "MAX_SCAN", false},
      {with_reduce_keeps_owned, "OR_REDUCE", true},
      {with_lengths_site_0, "MAKE_SEGDES", true},
      {with_check_keeps, "DIV.INT", true},
      {with_check_keeps, "ASSERT", true},
      {with_rank_reverses_ties, "RANK_UP", false},
      {with_rank_reverses_ties, "RANK_DOWN", true},
      {with_no_limit_statistics, "MEMORY_LIMIT", true},
      {with_random_ignores_k, "RAND", true},
      {with_random_ignores_first, "RAND", true},
      {with_slice_off_by_one, "SLICE", true},
      {with_slice_off_by_one, "ADD.INT", true},
      {with_slice_off_by_one, "SUPEROP.MAPS", true},
      {with_slice_of_other_segments, "SLICE", true},
      {with_slice_of_other_segments, "ADD_SCAN.INT", true},
      {with_slice_keeps_owned, "SLICE", true},
      {with_allocate_gives_scalars, "FILL", true},
      {with_fill_from_zero, "FILL", true},
      {with_fill_keeps_owned, "FILL", true},
      {with_loses_empty_segments, "CONCATENATE", true},
      {with_concatenates_without_limit, "CONCATENATE", true},
      {with_borrow_copies, "SHARED_MEMORY", false},
      {with_borrow_copies, "ADD", false},
      {with_borrow_never_ends, "SHARED_MEMORY", true},
      {with_borrow_never_ends, "ADD", true},
      {with_borrow_ends_twice, "SHARED_MEMORY", true},
      {with_generate_copies, "SHARED_MEMORY", false},
      {with_generate_overlaps, "SHARED_MEMORY", true},
      {with_export_scratch, "SHARED_MEMORY", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct cvl_backend b = cvl_oracle_backend;
    tables_without_defects();
    cases[i].with(&b);
    cr_expect_eq(failures(&b, cases[i].item) > 0, cases[i].fails, "case %zu, %s", i,
                 cases[i].item);
  }
}

/* ---- defects of superoperators ---- */

/* The kernel is the superoperator. A copy of it with one defect is run. */

static struct cvl_kernel *prepare_nothing(struct cvl_context *ctx, const struct superop *op) {
  (void)ctx;
  return (struct cvl_kernel *)(uintptr_t)op;
}

static void discard_nothing(struct cvl_context *ctx, struct cvl_kernel *kernel) {
  (void)ctx, (void)kernel;
}

static bool conformance_run_nodes(struct cvl_context *ctx, uint64_t site,
                                  struct cvl_kernel *kernel, const struct cvl_value *operands,
                                  struct cvl_value *outs) {
  const struct superop *op = (const struct superop *)(const void *)kernel;
  return superop_run(&cvl_oracle_backend, ctx, site, op, NULL, operands, outs);
}

static bool run_at_the_next_site(struct cvl_context *ctx, uint64_t site,
                                 struct cvl_kernel *kernel, const struct cvl_value *operands,
                                 struct cvl_value *outs) {
  return conformance_run_nodes(ctx, site + 1, kernel, operands, outs);
}

static bool run_keeps_owned(struct cvl_context *ctx, uint64_t site, struct cvl_kernel *kernel,
                            const struct cvl_value *operands, struct cvl_value *outs) {
  const struct superop *op = (const struct superop *)(const void *)kernel;
  struct cvl_value *borrowed = malloc((op->param_count + 1) * sizeof *borrowed);
  for (uint32_t p = 0; p < op->param_count; p++) {
    borrowed[p] = operands[p];
    borrowed[p].owned = 0;
  }
  bool ok = conformance_run_nodes(ctx, site, kernel, borrowed, outs);
  free(borrowed);
  return ok;
}

static bool run_swaps_outputs(struct cvl_context *ctx, uint64_t site, struct cvl_kernel *kernel,
                              const struct cvl_value *operands, struct cvl_value *outs) {
  const struct superop *op = (const struct superop *)(const void *)kernel;
  bool ok = conformance_run_nodes(ctx, site, kernel, operands, outs);
  for (uint32_t i = 1; i < op->output_count && ok; i++) {
    if (op->kinds[op->outputs[i - 1]] != op->kinds[op->outputs[i]]) continue;
    struct cvl_value x = outs[i];
    outs[i] = outs[i - 1];
    outs[i - 1] = x;
  }
  return ok;
}

/* Runs with one opcode replaced by another. */
static bool conformance_run_with(struct cvl_context *ctx, uint64_t site,
                                 struct cvl_kernel *kernel, const struct cvl_value *operands,
                                 struct cvl_value *outs, enum opcode right, enum opcode wrong) {
  struct superop op = *(const struct superop *)(const void *)kernel;
  struct superop_node *nodes = malloc(op.node_count * sizeof *nodes);
  memcpy(nodes, op.nodes, op.node_count * sizeof *nodes);
  for (uint32_t k = 0; k < op.node_count; k++) {
    if (nodes[k].op == right) nodes[k].op = (uint16_t)wrong;
  }
  op.nodes = nodes;
  bool ok = superop_run(&cvl_oracle_backend, ctx, site, &op, NULL, operands, outs);
  free(nodes);
  return ok;
}

static bool run_max_for_min(struct cvl_context *ctx, uint64_t site, struct cvl_kernel *kernel,
                            const struct cvl_value *operands, struct cvl_value *outs) {
  return conformance_run_with(ctx, site, kernel, operands, outs, OPC_MIN_REDUCE,
                              OPC_MAX_REDUCE);
}

static bool run_or_for_and(struct cvl_context *ctx, uint64_t site, struct cvl_kernel *kernel,
                           const struct cvl_value *operands, struct cvl_value *outs) {
  return conformance_run_with(ctx, site, kernel, operands, outs, OPC_AND_SCAN, OPC_OR_SCAN);
}

static bool run_forgets_faults(struct cvl_context *ctx, uint64_t site,
                               struct cvl_kernel *kernel, const struct cvl_value *operands,
                               struct cvl_value *outs) {
  struct cvl_error e;
  bool ok = conformance_run_nodes(ctx, site, kernel, operands, outs);
  cvl_oracle_backend.check(ctx, true, &e);
  return ok;
}

Test(conformance, rejects_defects_of_superoperators) {
  struct cvl_backend b = cvl_oracle_backend;
  struct cvl_superops superops = {prepare_nothing, discard_nothing, conformance_run_nodes};
  b.superops = &superops;
  cr_expect_eq(failures(&b, "SUPEROP"), 0);
  static const struct {
    bool (*run)(struct cvl_context *, uint64_t, struct cvl_kernel *, const struct cvl_value *,
                struct cvl_value *);
    const char *item;
  } cases[] = {
      {run_at_the_next_site, "SUPEROP.FAULTS"}, {run_keeps_owned, "SUPEROP.MAPS"},
      {run_swaps_outputs, "SUPEROP.MAPS"},      {run_max_for_min, "SUPEROP.REDUCTIONS"},
      {run_or_for_and, "SUPEROP.SCANS"},        {run_forgets_faults, "SUPEROP.FAULTS"},
      {run_forgets_faults, "SUPEROP.PACKS"}, /* allocations that failed are forgotten */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i += every()) {
    superops.run = cases[i].run;
    cr_expect_gt(failures(&b, cases[i].item), 0, "case %zu, %s", i, cases[i].item);
  }
  b = cvl_oracle_backend;
  b.superops = NULL; /* superop_run is used instead */
  cr_expect_eq(failures(&b, "SUPEROP.MIXED"), 0);
  b.apply = scan_max_for_min;
  cr_expect_gt(failures(&b, "SUPEROP.SCANS"), 0);
}

/* ---- the delaying back end ---- */

static struct cvl_context *open_delayed(struct cvl_backend *b) {
  const char *why;
  struct cvl_options o = {.int_elem = CVL_I64, .float_elem = CVL_F64, .device = 3};
  delayed_oracle(b);
  struct cvl_context *ctx = b->open(&o, &why);
  cr_assert_not_null(ctx);
  return ctx;
}

Test(delayed, sizes_are_deferred_until_resolved) {
  struct cvl_backend b;
  struct cvl_context *ctx = open_delayed(&b);
  struct cvl_value f, d = cvl_one_segment(4), packed[CALL_RESULTS], twice;
  int deferred = 0;
  cr_assert(b.from_host(ctx, 1, CVL_BOOL, 4, (uint8_t[]){1, 0, 1, 1}, &f));
  for (uint64_t i = 0; i < 20; i++) {
    cr_assert(b.apply(ctx, 2 + i, &CVL_CALL(CALL_PACK, OP_PACK, f, f, d), packed));
    const struct cvl_value kept = packed[0], kept_d = packed[1];
    struct cvl_value two[2] = {kept, kept};
    cr_assert(b.apply(ctx, 2 + i, &CVL_CALL(CALL_ELEMENTWISE, OP_AND, two[0], two[1]), &twice));
    struct cvl_size a = b.length(ctx, &kept), c = b.length(ctx, &twice);
    cr_expect_eq(kept.form, CVL_VECTOR);
    cr_expect_eq(kept_d.form, CVL_SEGDES);
    if (a.symbol && c.symbol) {
      cr_expect_eq(a.symbol, c.symbol);
      cr_expect_gt(a.bound, 3); /* of no use as the size */
      deferred++;
    }
    cr_expect(b.resolve(ctx, &c));
    cr_expect_eq(c.bound, 3);
    cr_expect_eq(c.symbol, 0);
    b.release(ctx, &kept);
    b.release(ctx, &kept_d);
    b.release(ctx, &twice);
  }
  cr_expect_gt(deferred, 5);
  cr_expect_gt(b.statistics(ctx).waits, 5);
  b.release(ctx, &f);
  b.close(ctx);
}

Test(delayed, faults_come_late) {
  struct cvl_backend b;
  struct cvl_context *ctx = open_delayed(&b);
  struct cvl_error e;
  int late = 0;
  for (uint64_t i = 1; i <= 20; i++) {
    struct cvl_value out,
        operands[2] = {cvl_scalar_int(CVL_I64, 1), cvl_scalar_int(CVL_I64, 0)};
    cr_assert(
        b.apply(ctx, i, &CVL_CALL(CALL_ELEMENTWISE, OP_DIV, operands[0], operands[1]), &out));
    if (!b.check(ctx, false, &e)) {
      late++;
      cr_assert(b.check(ctx, true, &e));
    }
    cr_expect_eq(e.kind, CVL_E_DIVIDE_BY_ZERO);
    cr_expect_eq(e.site, i);
    b.release(ctx, &out);
  }
  cr_expect_gt(late, 5);
  b.close(ctx);
}

Test(delayed, notices_sizes_that_nobody_required_equal) {
  struct cvl_backend b;
  struct cvl_context *ctx = open_delayed(&b);
  struct cvl_error e;
  struct cvl_value x, y, out;
  int64_t data[4] = {1, 2, 3, 4};
  cr_assert(b.from_host(ctx, 1, CVL_I64, 4, data, &x));
  cr_assert(b.from_host(ctx, 2, CVL_I64, 3, data, &y));
  struct cvl_value operands[2] = {x, y};
  cr_assert(
      b.apply(ctx, 4, &CVL_CALL(CALL_ELEMENTWISE, OP_ADD, operands[0], operands[1]), &out));
  cr_assert(b.check(ctx, true, &e));
  cr_expect_eq(e.kind, CVL_E_DEVICE);
  b.release(ctx, &out);
  cr_assert(b.require_equal(ctx, 5, b.length(ctx, &x), b.length(ctx, &y), 0));
  cr_assert(
      b.apply(ctx, 6, &CVL_CALL(CALL_ELEMENTWISE, OP_ADD, operands[0], operands[1]), &out));
  cr_assert(b.check(ctx, true, &e));
  cr_expect_eq(e.kind, CVL_E_SIZE);
  cr_expect_eq(e.site, 5);
  b.release(ctx, &out);
  b.release(ctx, &x);
  b.release(ctx, &y);
  cr_expect_eq(b.statistics(ctx).live_bytes, 0);
  b.close(ctx);
}
