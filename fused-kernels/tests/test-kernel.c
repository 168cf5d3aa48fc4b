/* test-kernel.c - kernels of superoperators, compiled for the host: run on positions and blocks
 * in any order, with the oracle as the library, they must give the bits and the faults
 * that executing the nodes one by one on the oracle gives. For devices: NVRTC and nvcc take the
 * same text where they are there.
 */
#include "base/tests/every.h"
#include "cvl/trees.h"
#include "fused-kernels/emit-kernel.h"
#include "fused-kernels/tests/emitted.h"
#include "fused-kernels/tests/nvrtc.h"

/* ---- what kernels take: the structs of prelude.hpp ---- */

struct rank_word {
  uint64_t heads;
  int64_t base;
};

struct segments {
  int64_t count, total, equal;
  const int64_t *offsets;
  const struct rank_word *ranks;
  const uint32_t *numbers;
};

struct tail { /* of an operand, after its first two elements */
  const void *data, *steps;
  struct segments under;
};

struct fault_slot {
  uint32_t lock;
  int32_t kind;
  uint64_t site;
  int64_t position, value, limit, segment;
};

struct order {
  int32_t direction;
  uint64_t seed;
};

struct looping {
  uint8_t *on;
  int64_t *last;
  int64_t launch;
  int32_t rounds, resumes;
};

enum { FROM_MEMORY, ALL_EQUAL, SPREAD, PROGRESSION };
enum { MOST_BYTES = 8192, MOST_KEPT = 4 * SUPEROP_PARAMS };

/* Arguments under construction, and what they point to. */
struct arguments {
  char bytes[MOST_BYTES];
  size_t used;
  void *kept[MOST_KEPT];
  uint32_t kept_count;
};

static void *kernel_take(struct arguments *a, size_t bytes) {
  a->used = (a->used + 7) / 8 * 8;
  cr_assert_leq(a->used + bytes, MOST_BYTES);
  char *at = a->bytes + a->used;
  a->used += bytes;
  return at;
}

static void *kernel_keep(struct arguments *a, void *memory) {
  cr_assert(memory != NULL && a->kept_count < MOST_KEPT);
  a->kept[a->kept_count++] = memory;
  return memory;
}

/* A descriptor in one of the forms that it may have. */
static struct segments kernel_descriptor(struct arguments *a, struct rng *rng,
                                         const struct host_value *d) {
  struct segments s = {(int64_t)d->n, (int64_t)d->total, -1, NULL, NULL, NULL};
  bool equal = d->n != 0;
  for (uint64_t k = 0; k < d->n; k++) equal &= host_segment(d, k) == host_segment(d, 0);
  if (equal && (d->n == 1 || !rng_one_in(rng, 4))) {
    s.equal = (int64_t)host_segment(d, 0);
    return s;
  }
  int64_t *offsets = kernel_keep(a, calloc(d->n + 1, sizeof *offsets));
  for (uint64_t k = 0; k < d->n; k++) offsets[k + 1] = offsets[k] + (int64_t)host_segment(d, k);
  s.offsets = offsets;
  if (rng_one_in(rng, 2)) return s;
  const uint64_t words = d->total / 64 + 1;
  struct rank_word *ranks = kernel_keep(a, calloc(words, sizeof *ranks));
  uint32_t *numbers = kernel_keep(a, calloc(words + d->n, sizeof *numbers));
  uint64_t segment = 0, begun = 0; /* behind the word's first element, with elements */
  bool hidden = false;             /* an empty segment in the word */
  for (uint64_t i = 0; i < d->total; i++) {
    bool begins = i == 0;
    if (i % 64 == 0) hidden = false;
    while ((uint64_t)offsets[segment + 1] <= i) {
      bool empty = offsets[segment + 1] == offsets[segment];
      hidden |= i % 64 != 0 && empty;
      segment++;
      begins = true;
    }
    begun = i % 64 == 0 ? 0 : begun + begins;
    if (i % 64 == 0) ranks[i / 64].base = (int64_t)segment;
    if (hidden && ranks[i / 64].base >= 0) ranks[i / 64].base = ~ranks[i / 64].base;
    if (begins) ranks[i / 64].heads |= (uint64_t)1 << i % 64;
    const int64_t base = ranks[i / 64].base, first = base < 0 ? ~base : base;
    numbers[i / 64 + (uint64_t)first + begun] = (uint32_t)segment;
  }
  s.ranks = ranks;
  s.numbers = numbers;
  return s;
}

/* A vector: in memory; as one value; or as a value, or a progression, for each segment of
 * length 1. */
static void kernel_operand(struct arguments *a, struct rng *rng, const struct host_value *v) {
  size_t bytes = elem_info((enum cvl_elem)v->elem)->bytes, align = bytes < 4 ? 4 : bytes;
  char *at = kernel_take(a, 0);
  char head[24] = {0};
  struct tail tail = {.under = {(int64_t)v->n, (int64_t)v->n, 1, NULL, NULL, NULL}};
  bool equal = v->n != 0;
  for (uint64_t i = 0; i < v->n; i++) {
    equal &= memcmp((char *)v->data + i * bytes, v->data, bytes) == 0;
  }
  int32_t kind = equal                ? ALL_EQUAL
                 : rng_one_in(rng, 4) ? FROM_MEMORY + (int)rng_below(rng, 2) * SPREAD
                                      : FROM_MEMORY;
  bool is_int = elem_info((enum cvl_elem)v->elem)->klass == CLASS_INT;
  if (is_int && rng_one_in(rng, 6)) kind = PROGRESSION;
  memcpy(head, &kind, sizeof kind);
  if (kind == ALL_EQUAL) memcpy(head + align, v->data, bytes);
  if (kind == PROGRESSION) memset(head + align + bytes, 7, bytes);
  if (kind != ALL_EQUAL) tail.data = v->data;
  size_t head_bytes = (align + 2 * bytes + 7) / 8 * 8;
  at = kernel_take(a, head_bytes + sizeof tail);
  memcpy(at, head, head_bytes);
  memcpy(at + head_bytes, &tail, sizeof tail);
}

static void pointer(struct arguments *a, void *memory) {
  memcpy(kernel_take(a, sizeof memory), &memory, sizeof memory);
}

/* ---- packs: the structs of packs.hpp ---- */

struct packing {
  void *totals;
  int64_t elements;
  uint32_t mark;
  int64_t *offsets, *total;
  int64_t clear;
};

enum { MOST_LISTS = 8, PUBLISHED_BYTES = 16, MARK = 7 };

/* The results of a kernel for a list of PACKs. */
struct list {
  uint32_t flags;
  struct packing packing;
};

/* No marks for whatever blocks publish of n elements. */
static void *unpublished(struct arguments *a, uint64_t n, unsigned tile) {
  uint64_t count = 0;
  for (uint64_t each = tile, level = 0; level < 11; level++, each *= 32) count += n / each + 1;
  return kernel_keep(a, calloc(count, PUBLISHED_BYTES));
}

/* ---- one run ---- */

typedef void kernel(const void *body, int64_t count, const struct order *);

struct run {
  struct suite *s;
  const struct superop *op;
  const struct fused_kernel *k;
  struct host_value *values;             /* of every number */
  struct host_value *partials, *results; /* of every node */
  struct list lists[MOST_LISTS];
  uint32_t list_count;
  uint32_t **claims; /* of every node: of the first of a group of scatters */
  struct fault_slot fault;
  struct cvl_error error;
  uint64_t launches_of_loops;
};

static uint64_t domain(const struct run *r) {
  const struct host_value *v = &r->values[r->op->domain.param];
  switch (r->op->domain.what) {
  case SIZE_ONE: return 1;
  case SIZE_TOTAL: return v->total;
  default: return v->n;
  }
}

static uint64_t positions_of_results(const struct run *);

/* How many blocks, or threads, a kernel is launched with, and what it takes for n. */
static uint64_t grid(struct run *r, uint64_t *n) {
  const struct fused_kernel *k = r->k;
  const struct host_value *d = k->by_slots || k->by_groups ? &r->values[r->op->segments] : NULL;
  if (k->by_groups) { /* and blocks for long segments, whether there are any or not */
    const uint64_t tiles = (d->total + CVL_REDUCE_BLOCK - 1) / CVL_REDUCE_BLOCK;
    const uint64_t candidates = (d->n < tiles ? d->n : tiles) + tiles;
    *n = 1 + rng_below(&r->s->rng, FUSED_BLOCK_THREADS);
    return (d->n + *n - 1) / *n + (candidates + FUSED_GROUP_WARPS - 1) / FUSED_GROUP_WARPS;
  }
  if (k->scatter != SUPEROP_NONE) {
    const bool fetches = !k->claims && r->op->nodes[k->scatter].op != OPC_PERMUTE;
    return *n = fetches ? positions_of_results(r) : domain(r);
  }
  *n = k->by_slots ? d->total / CVL_REDUCE_BLOCK + d->n : domain(r);
  const uint64_t each = k->by_packs              ? fused_kernel_tile(k)
                        : k->by_slots            ? k->block_slots
                        : k->block_positions > 0 ? k->block_positions
                                                 : 1;
  return (*n + each - 1) / each;
}

/* A list: its memory, and that some results are to be zero behind what is kept. */
static void add_list(struct run *r, struct arguments *a, uint32_t flags, uint64_t n) {
  const struct host_value *d = &r->values[r->op->segments];
  cr_assert_lt(r->list_count, MOST_LISTS);
  struct list *l = &r->lists[r->list_count++];
  *l = (struct list){.flags = flags, .packing = {.elements = (int64_t)n, .mark = MARK}};
  l->packing.totals = unpublished(a, n, fused_kernel_tile(r->k));
  l->packing.total = kernel_keep(a, calloc(3, sizeof *l->packing.total)); /* put_number */
  if (d->n != 1)
    l->packing.offsets = kernel_keep(a, calloc(d->n + 1, sizeof *l->packing.offsets));
  if (rng_one_in(&r->s->rng, 2)) l->packing.clear = (int64_t)n;
  memcpy(kernel_take(a, sizeof l->packing), &l->packing, sizeof l->packing);
}

static const struct packing *packing_of(const struct run *r, uint32_t flags) {
  uint32_t i = 0;
  while (r->lists[i].flags != flags) i++;
  return &r->lists[i].packing;
}

/* The results of a PACK inside the kernel. */
static void take_packed(struct run *r, uint32_t node) {
  const struct superop_node *of = &r->op->nodes[node];
  const struct packing *p = packing_of(r, of->operands[1]);
  struct host_value *v = &r->values[of->result], *d = &r->values[of->result + 1];
  const size_t bytes = elem_info((enum cvl_elem)v->elem)->bytes;
  for (uint64_t i = (uint64_t)*p->total * bytes; i < (uint64_t)p->clear * bytes; i++)
    cr_expect_eq(((char *)v->data)[i], 0, "op%u: byte %lu behind what is kept", r->op->number,
                 i);
  struct host_value all = *v;
  *v = host_vector(&r->s->heap, (enum cvl_elem)all.elem, (uint64_t)*p->total);
  memcpy(v->data, all.data, v->n * bytes);
  host_free(&r->s->heap, &all);
  *d = host_segdes(&r->s->heap, r->values[r->op->segments].n);
  d->total = v->n;
  for (uint64_t k = 0; k < d->n; k++) {
    const int64_t length = p->offsets ? p->offsets[k + 1] - p->offsets[k] : *p->total;
    host_put_int(d, k, length);
  }
}

/* ---- scans: the structs of scans.hpp ---- */

struct chunks {
  int32_t bits, long_bits;
  int64_t firsts, candidates;
};

enum { SCAN_ROW_LENGTH = 256, CHUNK_BITS = 13, LONG_BITS = 12 };
enum { SCAN_TILE = COMPILED_CUDA_SCAN_THREADS * 7 };

static int64_t tiles(int64_t n, int64_t each) {
  return (n + each - 1) / each;
}

/* Adds the arguments after the elements of a scan, for all segments of more than half a chunk.
 * Returns the number of blocks. */
static int64_t add_chunks(struct arguments *a, const struct segments *d) {
  const int64_t each = tiles(d->total, 1 << CHUNK_BITS);
  const int64_t longest = tiles(d->total, 1 << LONG_BITS);
  const int64_t firsts = d->count < longest ? d->count : longest;
  const struct chunks c = {CHUNK_BITS, LONG_BITS, firsts, firsts + each};
  memcpy(kernel_take(a, sizeof c), &c, sizeof c);
  pointer(a, unpublished(a, (uint64_t)d->total, 1 << CHUNK_BITS));
  *(int64_t *)kernel_take(a, 8) = d->total;
  *(uint32_t *)kernel_take(a, 8) = MARK;
  pointer(a, kernel_keep(a, calloc(1, sizeof(uint64_t))));
  return c.candidates;
}

/* Adds these arguments for all other segments. Returns the number of blocks. */
static int64_t add_longest(struct arguments *a, const struct segments *d,
                           const struct host_value *lengths) {
  int32_t longest = 0;
  for (uint64_t s = 0; s < lengths->n; s++) {
    const int64_t length = (int64_t)host_segment(lengths, s);
    const int32_t up_to = length > SCAN_ROW_LENGTH ? SCAN_ROW_LENGTH + 1 : (int32_t)length;
    if (up_to > longest) longest = up_to;
  }
  memcpy(kernel_take(a, sizeof longest), &longest, sizeof longest);
  return tiles(d->total, SCAN_TILE);
}

static void kernel_add_segments(struct arguments *a, const struct segments *d) {
  memcpy(kernel_take(a, sizeof *d), d, sizeof *d);
}

static struct order any_order(struct run *r) {
  static const int32_t directions[] = {1, -1, 0};
  return (struct order){directions[rng_below(&r->s->rng, 3)], rng_next(&r->s->rng)};
}

/* A kernel that scans: of the segments that it is for. */
static void kernel_launch_scan(struct run *r, kernel *call) {
  struct arguments a = {.used = 0};
  const struct superop_node *node = &r->op->nodes[r->k->scan];
  const struct host_value *lengths = &r->values[r->op->segments];
  const struct segments d = kernel_descriptor(&a, &r->s->rng, lengths);
  struct host_value *out = &r->values[node->result];
  kernel_add_segments(&a, &d);
  for (uint32_t i = 0; i < r->k->member_count; i++) {
    const struct fused_member *m = &r->k->members[i];
    const struct host_value *v = &r->values[m->number];
    struct segments s;
    if (m->kind == MEMBER_OPERAND) {
      kernel_operand(&a, &r->s->rng, v);
      continue;
    }
    cr_assert_eq(m->kind, MEMBER_SEGMENTS);
    s = kernel_descriptor(&a, &r->s->rng, v);
    kernel_add_segments(&a, &s);
  }
  pointer(&a, &r->fault);
  *(uint64_t *)kernel_take(&a, 8) = 0; /* site */
  *(int64_t *)kernel_take(&a, 8) = d.total;
  if (out->data == NULL)
    *out = host_vector(&r->s->heap,
                       superop_elem((enum superop_kind)r->op->kinds[node->result],
                                    r->s->int_elem, r->s->float_elem),
                       (uint64_t)d.total);
  pointer(&a, out->data);
  const int64_t blocks = r->k->scans_long ? add_chunks(&a, &d) : add_longest(&a, &d, lengths);
  const struct order order = any_order(r);
  call(a.bytes, blocks, &order);
  while (a.kept_count > 0) free(a.kept[--a.kept_count]);
}

/* ---- scatters: the struct of scatters.hpp ---- */

struct scattering {
  uint32_t *claims;
  int64_t last;
  uint32_t keeps;
};

static const struct host_value *kernel_defaults_of(const struct run *r, uint32_t node) {
  const struct superop_node *of = &r->op->nodes[node];
  const int8_t which = permute_operands((enum opcode)of->op).defaults;
  return which == NO_OPERAND ? NULL : &r->values[of->operands[which]];
}

static uint64_t positions_of_results(const struct run *r) {
  const struct superop_node *node = &r->op->nodes[r->k->scatter];
  const int8_t which = permute_operands((enum opcode)node->op).destination;
  return r->values[node->operands[which]].total;
}

/* Some results have the memory of their defaults, if they have some. */
static struct scattering *add_scattering(struct run *r, struct arguments *a) {
  const uint64_t n = positions_of_results(r), sources = domain(r);
  uint32_t **claims = &r->claims[r->k->scatter];
  if (*claims == NULL) {
    *claims = malloc((n + 1) * sizeof **claims);
    memset(*claims, 0xff, (n + 1) * sizeof **claims);
  }
  struct scattering *s = kernel_take(a, sizeof *s);
  *s = (struct scattering){*claims, (int64_t)sources - 1, 0};
  return s;
}

static void kernel_add_moved(struct run *r, struct arguments *a, const struct fused_member *m,
                             struct scattering *s, uint32_t number) {
  const struct host_value *defaults = kernel_defaults_of(r, m->number);
  struct host_value *v = &r->values[r->op->nodes[m->number].result];
  const size_t bytes = elem_info((enum cvl_elem)m->elem)->bytes;
  *v = host_vector(&r->s->heap, (enum cvl_elem)m->elem, positions_of_results(r));
  memset(v->data, r->op->nodes[m->number].op == OPC_PERMUTE ? 0 : 0x5a, v->n * bytes);
  if (defaults && rng_one_in(&r->s->rng, 2)) {
    memcpy(v->data, defaults->data, v->n * bytes);
    s->keeps |= (uint32_t)1 << number;
  }
  pointer(a, v->data);
}

/* Where values of a loop go: those that nothing else needs, until the kernel is done. */
static void add_carried(struct run *r, struct arguments *a, const struct fused_member *m) {
  const size_t bytes = elem_info((enum cvl_elem)m->elem)->bytes;
  pointer(a, kernel_keep(a, malloc(domain(r) * bytes + 1)));
}

/* What a loop needs besides; its address among the arguments. */
static size_t add_loop(struct run *r, struct arguments *a) {
  const struct looping l = {.on = kernel_keep(a, malloc(domain(r) + 1)),
                            .last = kernel_keep(a, calloc(1, sizeof *l.last))};
  *(struct looping *)(void *)kernel_take(a, sizeof l) = l;
  return a->used - sizeof l;
}

/* Launches the kernel of a loop, a few rounds or many at a time, until all positions have
 * finished or one is at fault. Returns the number of launches. */
static uint64_t launch_rounds(struct run *r, struct arguments *a, size_t at, kernel *call,
                              uint64_t n) {
  struct looping *l = (struct looping *)(void *)(a->bytes + at);
  const int32_t most = rng_one_in(&r->s->rng, 2) ? 3 : 1000;
  do {
    const struct order order = any_order(r);
    l->launch++;
    l->rounds = (int32_t)rng_below(&r->s->rng, (uint64_t)most) + 1;
    call(a->bytes, (int64_t)n, &order);
    l->resumes = 1;
    cr_assert_lt(l->launch, 1000000, "op%u does not end", r->op->number);
  } while (*l->last == l->launch && r->fault.kind == 0);
  return (uint64_t)l->launch;
}

static void kernel_launch(struct run *r, kernel *call) {
  struct arguments a = {.used = 0};
  uint64_t n, slots = 0;
  size_t loop = 0;
  struct scattering *scattering = NULL;
  uint32_t moved = 0;
  if (r->k->scan != SUPEROP_NONE) {
    kernel_launch_scan(r, call);
    return;
  }
  const uint64_t blocks = grid(r, &n);
  const struct host_value *d =
      r->op->segments == SUPEROP_NONE ? NULL : &r->values[r->op->segments];
  if (d) slots = d->total / CVL_REDUCE_BLOCK + d->n;
  for (uint32_t i = 0; i < r->k->member_count; i++) {
    const struct fused_member *m = &r->k->members[i];
    struct host_value *v = &r->values[m->number], *t = &r->partials[m->number],
                      *g = &r->results[m->number];
    struct segments s;
    switch ((enum fused_member_kind)m->kind) {
    case MEMBER_OPERAND: kernel_operand(&a, &r->s->rng, v); break;
    case MEMBER_SEGMENTS:
      s = kernel_descriptor(&a, &r->s->rng, v);
      kernel_add_segments(&a, &s);
      break;
    case MEMBER_WRITTEN:
      *v = host_vector(&r->s->heap, (enum cvl_elem)m->elem, domain(r));
      pointer(&a, v->data);
      break;
    case MEMBER_PARTIALS:
      *t = host_vector(&r->s->heap, (enum cvl_elem)m->elem, slots);
      pointer(&a, t->data);
      break;
    case MEMBER_RESULTS:
      cr_assert(r->k->by_groups);
      *g = host_vector(&r->s->heap, (enum cvl_elem)m->elem, d->n);
      pointer(&a, g->data);
      break;
    case MEMBER_TILES:
      pointer(&a, blocks == 1 ? NULL : kernel_keep(&a, calloc(1, sizeof(uint64_t))));
      break;
    case MEMBER_PACKING: add_list(r, &a, m->number, n); break;
    case MEMBER_KEPT:
      v = &r->values[r->op->nodes[m->number].result];
      *v = host_vector(&r->s->heap, (enum cvl_elem)m->elem, n);
      memset(v->data, 0x5a, n * elem_info((enum cvl_elem)m->elem)->bytes);
      pointer(&a, v->data);
      break;
    case MEMBER_SCATTER: scattering = add_scattering(r, &a); break;
    case MEMBER_MOVED: kernel_add_moved(r, &a, m, scattering, moved++); break;
    case MEMBER_LOOP: loop = add_loop(r, &a); break;
    case MEMBER_CARRIED: add_carried(r, &a, m); break;
    case MEMBER_TOTALS: /* of combinations, which these have none of: test-trees.cpp */
    case MEMBER_ROOTS:
    case MEMBER_UNFIT: cr_assert_fail("member %u", i);
    }
  }
  const struct order order = any_order(r);
  pointer(&a, &r->fault);
  *(uint64_t *)kernel_take(&a, 8) = 0; /* site */
  *(int64_t *)kernel_take(&a, 8) = (int64_t)n;
  if (r->k->loop == SUPEROP_NONE)
    call(a.bytes, (int64_t)blocks, &order);
  else
    r->launches_of_loops += launch_rounds(r, &a, loop, call, n);
  for (uint32_t i = 0; i < r->op->node_count; i++) {
    if (r->op->nodes[i].role == ROLE_PACK && r->k->tasks[i] == TASK_INSIDE) take_packed(r, i);
  }
  while (a.kept_count > 0) free(a.kept[--a.kept_count]);
}

/* One node on the oracle. */
static bool kernel_execute(struct run *r, uint32_t node) {
  struct superop one = *r->op;
  one.nodes = &r->op->nodes[node];
  one.node_count = 1;
  bool ok =
      oracle_superop(&r->s->heap, &one, r->s->int_elem, r->s->float_elem, r->values, &r->error);
  if (!ok) r->error.site = node;
  return ok;
}

/* Takes the results that groups have computed, for segments up to a slot. */
static void kernel_take_results(struct run *r, uint32_t node, struct host_value *finished) {
  const struct host_value *d = &r->values[r->op->segments], *g = &r->results[node];
  for (uint64_t s = 0; s < d->n; s++) {
    if (host_segment(d, s) <= CVL_REDUCE_BLOCK) host_copy(finished, s, g, s);
  }
}

/* The reduction of what slots have given: the levels above the lowest one. Groups use the slots
 * of long segments only: any others have no meaning, and their results are not taken. */
static void kernel_finish(struct run *r, uint32_t node) {
  const struct host_value *d = &r->values[r->op->segments], *t = &r->partials[node];
  struct oracle_call call = {.kind = CALL_REDUCE,
                             .op = opcode_info((enum opcode)r->op->nodes[node].op)->operation,
                             .int_elem = r->s->int_elem,
                             .float_elem = r->s->float_elem,
                             .count = 2};
  struct host_value blocks = host_segdes(&r->s->heap, d->n),
                    used = host_vector(&r->s->heap, (enum cvl_elem)t->elem, t->n);
  blocks.total = 0;
  uint64_t start = 0;
  for (uint64_t s = 0; s < d->n; s++) {
    uint64_t length = host_segment(d, s);
    uint64_t count = (length + CVL_REDUCE_BLOCK - 1) / CVL_REDUCE_BLOCK;
    uint64_t slot = start / CVL_REDUCE_BLOCK + s;
    for (uint64_t b = 0; b < count; b++) host_copy(&used, blocks.total++, t, slot + b);
    host_put_int(&blocks, s, (int64_t)count);
    start += length;
  }
  used.n = blocks.total;
  call.operand[0] = used;
  call.operand[1] = blocks;
  struct oracle_outcome outcome = {0};
  cr_assert(oracle_run(&r->s->heap, &call, &outcome));
  if (r->k->by_groups) kernel_take_results(r, node, &outcome.out[0]);
  r->values[r->op->nodes[node].result] = outcome.out[0];
  used.n = t->n;
  host_free(&r->s->heap, &used);
  host_free(&r->s->heap, &blocks);
}

/* Without a kernel, as nobody runs one that packs nothing. Loops were executed before. */
static bool kernel_execute_nodes(struct run *r) {
  for (uint32_t i = 0; i < r->op->node_count; i++) {
    if (fused_begins_loop(r->op, i)) i = superop_loop_at(r->op, i).last + 1;
    if (i == r->op->node_count) break;
    if (r->op->nodes[i].role != ROLE_CONST && !kernel_execute(r, i)) return false;
  }
  return true;
}

/* The kernels of a superoperator; one that packs comes first. */
struct kernels {
  uint32_t count;
  struct fused_kernel plan[FUSED_KERNELS + FUSED_SCANS]; /* two for a scan */
  kernel *call[FUSED_KERNELS + FUSED_SCANS];
};

/* A node before a loop is at fault. The first one may be another one, which is not executed
 * before the loop: the oracle finds out. */
static bool fails_before_a_loop(struct run *r) {
  struct host_value *values = calloc(r->op->value_count, sizeof *values);
  memcpy(values, r->values, r->op->param_count * sizeof *values);
  cr_assert_not(
      oracle_superop(&r->s->heap, r->op, r->s->int_elem, r->s->float_elem, values, &r->error));
  cr_expect_leq(r->error.site, r->fault.site);
  if (r->error.site == r->fault.site)
    cr_expect_eq(r->error.position, r->fault.position, "op%u", r->op->number);
  for (uint32_t v = r->op->param_count; v < r->op->value_count; v++)
    host_free(&r->s->heap, &values[v]);
  free(values);
  return false;
}

/* The whole superoperator; false with r->error if it fails. */
static bool execute_all(struct run *r, const struct kernels *kernels) {
  for (uint32_t i = 0; i < r->op->node_count; i++) { /* CONST cannot fail, nor is it costly */
    const struct superop_node *node = &r->op->nodes[i];
    if (node->role == ROLE_CONST) cr_assert(kernel_execute(r, i));
  }
  for (uint32_t i = 1; i <= kernels->count; i++) { /* that of the rest at last */
    const uint32_t j = i % kernels->count;
    r->k = &kernels->plan[j];
    if (r->k->by_packs && domain(r) == 0) return kernel_execute_nodes(r);
    if (kernels->call[j] != NULL) kernel_launch(r, kernels->call[j]);
    if (r->k->loop != SUPEROP_NONE && r->fault.kind != 0) return fails_before_a_loop(r);
  }
  for (uint32_t i = 0; i < r->op->node_count; i++) {
    const struct superop_node *node = &r->op->nodes[i];
    if (r->fault.kind != 0 && r->fault.site <= i) break;
    bool spread = node->result_count > 0 && r->k->spread[node->result];
    bool library = r->k->tasks[i] == TASK_LIBRARY || spread;
    if (library && !kernel_execute(r, i)) return false;
    if (node->role == ROLE_REDUCE && r->k->tasks[i] == TASK_INSIDE) kernel_finish(r, i);
  }
  if (r->fault.kind == 0) return true;
  r->error = (struct cvl_error){.kind = (enum cvl_error_kind)r->fault.kind,
                                .site = r->fault.site,
                                .position = r->fault.position,
                                .value = r->fault.value,
                                .limit = r->fault.limit,
                                .segment = r->fault.segment};
  return false;
}

static void free_values(struct suite *s, const struct superop *op, struct host_value *values) {
  for (uint32_t v = op->param_count; v < op->value_count; v++) host_free(&s->heap, &values[v]);
  free(values);
}

/* One run on data as it comes. Returns whether there was a fault; adds the launches of loops.
 */
static bool kernel_check_run(struct suite *s, const struct superop_case *c,
                             const struct kernels *kernels, uint64_t n, bool spoil,
                             uint64_t *launches) {
  const struct superop *op = &c->op;
  enum shape shape = n == 0 ? (enum shape)(SHAPE_NONE + rng_below(&s->rng, 3))
                            : (enum shape)rng_below(&s->rng, SHAPES);
  if (n >= CVL_REDUCE_BLOCK && rng_one_in(&s->rng, 3)) shape = SHAPE_ONE; /* many slots */
  struct host_value params[SUPEROP_PARAMS];
  superop_case_data(s, c, n, shape, spoil, params);
  struct host_value *values = calloc(op->value_count, sizeof *values);
  struct run r = {.s = s, .op = op, .k = kernels->plan};
  r.values = calloc(op->value_count, sizeof *r.values);
  r.partials = calloc(op->value_count + op->node_count, sizeof *r.partials);
  r.results = calloc(op->value_count + op->node_count, sizeof *r.results);
  r.claims = calloc(op->node_count + 1, sizeof *r.claims);
  memcpy(values, params, op->param_count * sizeof *values);
  memcpy(r.values, params, op->param_count * sizeof *values);
  struct cvl_error error = {.kind = CVL_E_NONE};
  bool fine = oracle_superop(&s->heap, op, s->int_elem, s->float_elem, values, &error);
  if (error.kind != CVL_E_SIZE) {
    bool found = execute_all(&r, kernels);
    cr_expect_eq(found, fine, "op%u: fault %d, wanted %d", op->number, r.error.kind,
                 error.kind);
    cr_expect(fine || (r.error.kind == error.kind && r.error.site == error.site &&
                       r.error.position == error.position && r.error.value == error.value &&
                       (error.kind == CVL_E_DUPLICATE || r.error.limit == error.limit) &&
                       r.error.segment == error.segment),
              "op%u: fault %d of node %lu at %ld (%ld, %ld, %ld), wanted %d of node %lu at %ld "
              "(%ld, %ld, %ld)",
              op->number, r.error.kind, r.error.site, r.error.position, r.error.value,
              r.error.limit, r.error.segment, error.kind, error.site, error.position,
              error.value, error.limit, error.segment);
    for (uint32_t i = 0; fine && found && i < op->output_count; i++) {
      struct host_value *wanted = &values[op->outputs[i]], *v = &r.values[op->outputs[i]];
      cr_expect(v->form == wanted->form && v->n == wanted->n && same_elements(wanted, v->data),
                "value %u of op%u, n = %lu", op->outputs[i], op->number, n);
    }
  }
  *launches += r.launches_of_loops;
  free_values(s, op, values);
  free_values(s, op, r.values);
  for (uint32_t i = 0; i < op->node_count; i++) {
    host_free(&s->heap, &r.partials[i]);
    host_free(&s->heap, &r.results[i]);
    free(r.claims[i]);
  }
  free(r.claims);
  free(r.partials);
  free(r.results);
  superop_case_free_data(s, c, params);
  return !fine;
}

/* ---- random superoperators ---- */

static const struct mixture mixtures[] = {
    {.maps = 8, .spreads = 2, .reductions = 3, .scans = 1},
    {.maps = 6, .spreads = 3, .gathers = 2, .reductions = 1, .packs = 1, .wild = true},
    {.maps = 4, .spreads = 2, .gathers = 1, .scans = 2, .scatters = 2, .wild = true},
    {.maps = 12, .spreads = 4, .gathers = 3, .wild = true},
    {.maps = 4, .spreads = 2, .gathers = 1, .scans = 1, .asserts = 3, .wild = true},
    {.maps = 4, .spreads = 1, .reductions = 2, .scatters = 1, .asserts = 3, .wild = true},
    {.maps = 4, .spreads = 1, .reductions = 1, .loops = 2},
    {.maps = 6, .spreads = 2, .loops = 2},
    {.maps = 6, .spreads = 2, .gathers = 2, .packs = 1, .loops = 2, .wild = true},
    {.maps = 4, .spreads = 1, .scans = 1, .scatters = 1, .loops = 1, .wild = true},
    {.maps = 4,
     .spreads = 2,
     .gathers = 1,
     .packs = 3,
     .scans = 1,
     .scatters = 1,
     .wild = true},
    {.maps = 2, .spreads = 1, .scans = 2},
    {.maps = 2, .spreads = 1, .packs = 1, .reductions = 1},
    {.maps = 2, .spreads = 1, .scatters = 1, .wild = true},
};
enum { MIXTURES = sizeof mixtures / sizeof mixtures[0] };

static void write_kernel(struct random *r, struct built *b, struct widths w, uint32_t i,
                         unsigned leave, struct kernels *kernels) {
  char name[32];
  const uint32_t j = kernels->count++;
  struct fused_kernel *plan = &kernels->plan[j];
  fused_kernel_plan(&r->arena, r->ops[i], w, leave, NULL, plan);
  if (plan->is_empty) return;
  snprintf(name, sizeof name, "emitted%u-%u.cpp", i, j);
  FILE *file = create(b, name);
  snprintf(name, sizeof name, "op%u_%u", i, j);
  fused_emit_kernel(plan, name, file);
  fclose(file);
}

/* Plans and writes the kernels of superoperator i: with `all` those for PACKs and scans, too.
 */
static void write_kernels(struct random *r, struct built *b, struct widths w, uint32_t i,
                          unsigned leave, bool all, struct kernels *kernels) {
  unsigned besides[FUSED_KERNELS] = {LEAVE_NOTHING};
  const uint32_t count = all ? fused_kernels(r->ops[i], besides) : 1;
  kernels->count = 0;
  for (uint32_t j = 0; j < count; j++) {
    write_kernel(r, b, w, i, leave | besides[j], kernels);
    if (besides[j] & SCAN_BIT)
      write_kernel(r, b, w, i, leave | besides[j] | SCAN_LONG, kernels);
  }
}

static void find_kernels(struct built *b, uint32_t i, struct kernels *kernels) {
  for (uint32_t j = 0; j < kernels->count; j++) {
    if (!kernels->plan[j].is_empty)
      kernels->call[j] = (kernel *)symbol(b, "op%u_%u_host", i, j);
  }
}

static void kernel_check_random(struct widths w, uint64_t seed, unsigned leave, bool all,
                                const char *compiler) {
  static const uint64_t sizes[] = {0, 1, 7, 33, 1024, 1025, 5000};
  char command[96];
  snprintf(command, sizeof command, "%s --version > /dev/null 2>&1", compiler);
  if (system(command) != 0) cr_skip_test("no %s here", compiler);
  struct random r;
  random_make(&r, w, seed, mixtures, MIXTURES, CASES);
  static struct kernels kernels[CASES];
  struct built b;
  make_directory(&b);
  for (uint32_t i = 0; i < CASES; i += every())
    write_kernels(&r, &b, w, i, leave, all, &kernels[i]);
  snprintf(command, sizeof command, "%s -std=c++17 -O1 *.cpp", compiler);
  cr_assert(compile(&b, command), "%s", dlerror());
  uint64_t runs = 0, faults = 0, loops = 0, launches = 0;
  for (uint32_t i = 0; i < CASES; i += every()) {
    find_kernels(&b, i, &kernels[i]);
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++) {
      for (int spoil = 0; spoil <= (r.cases[i].wild ? 2 : 0); spoil++) {
        faults += kernel_check_run(&r.suite, &r.cases[i], &kernels[i], sizes[n], spoil > 0,
                                   &launches);
        for (uint32_t j = 0; j < kernels[i].count; j++)
          loops += kernels[i].plan[j].loop != SUPEROP_NONE;
        runs++;
      }
    }
  }
  cr_expect_gt(faults, runs / 50, "%lu faults in %lu runs", faults, runs);
  cr_expect_lt(faults, runs / 2, "%lu faults in %lu runs", faults, runs);
  cr_expect(loops == 0 || launches > loops, "%lu launches of %lu loops", launches, loops);
  clean(&b);
  random_free(&r);
}

Test(kernel, same_as_the_oracle_in_classic_widths) {
  kernel_check_random((struct widths){CVL_I32, CVL_F64}, 1, LEAVE_NOTHING, false, "g++");
}

Test(kernel, same_as_the_oracle_in_wide_widths) {
  kernel_check_random((struct widths){CVL_I64, CVL_F64}, 2, LEAVE_SPREADS, false, "clang++");
}

Test(kernel, same_as_the_oracle_where_kernels_pack_scan_and_scatter) {
  kernel_check_random((struct widths){CVL_I32, CVL_F64}, 3, LEAVE_SPREADS, true, "g++");
}

Test(kernel, same_as_the_oracle_in_narrow_widths_by_groups_of_segments) {
  kernel_check_random((struct widths){CVL_I32, CVL_F32}, 4, LEAVE_SPREADS | SHORT_SEGMENTS,
                      true, "g++");
}

/* ---- modules ---- */

/* Whether a kernel is in the library under its key, if it is one. */
static void kernel_expect_in(const struct built *b, const struct superop *op, struct widths w,
                             unsigned leave) {
  char name[64];
  struct fused_source s;
  cr_assert(fused_source_make(op, w, LEAVE_SPREADS | leave, NULL, "fused", &s));
  snprintf(name, sizeof name, "%s_host", s.key);
  if (!s.kernel.is_empty)
    cr_expect_not_null(dlsym(b->library, name), "op%u, %#x: %s", op->number, leave, name);
  fused_source_free(&s);
}

/* Every kernel is there under its key; once, though two superoperators have the same. */
Test(kernel, module_has_the_kernels_by_their_keys) {
  if (system("g++ --version > /dev/null 2>&1") != 0) cr_skip_test("no g++ here");
  enum { SOME = CASES - 1 };
  const struct widths w = {CVL_I32, CVL_F64};
  struct random r;
  random_make(&r, w, 9, mixtures, MIXTURES, SOME);
  r.ops[SOME] = r.ops[0];
  struct built b;
  make_directory(&b);
  FILE *file = create(&b, "emitted.cpp");
  fused_emit_cuda(&r.arena, r.ops, SOME + 1, w, file);
  fclose(file);
  cr_assert(compile(&b, "g++ -std=c++17 -O0 *.cpp"), "%s", dlerror());
  unsigned besides = 0;
  for (uint32_t i = 0; i < SOME; i++) {
    unsigned leave[FUSED_KERNELS];
    if (superop_has_loops(r.ops[i])) continue; /* superop_run executes them */
    const uint32_t count = fused_kernels(r.ops[i], leave);
    kernel_expect_in(&b, r.ops[i], w, leave[0] | SHORT_SEGMENTS);
    for (uint32_t k = 0; k < count; k++) {
      kernel_expect_in(&b, r.ops[i], w, leave[k]);
      if (leave[k] & SCAN_BIT) kernel_expect_in(&b, r.ops[i], w, leave[k] | SCAN_LONG);
    }
    besides += count - 1;
  }
  cr_expect_gt(besides, 1);
  clean(&b);
  random_free(&r);
}

/* ---- devices ---- */

static const struct mixture everything = {.maps = 10,
                                          .spreads = 3,
                                          .gathers = 2,
                                          .reductions = 2,
                                          .scans = 1,
                                          .packs = 1,
                                          .scatters = 2,
                                          .approximate = true,
                                          .wild = true};

/* The text of the kernels of some superoperators, to be freed. */
static void write_texts(struct random *r, struct widths w, uint32_t count, char **texts) {
  for (uint32_t i = 0; i < count; i++) {
    struct fused_kernel k;
    size_t length;
    texts[i] = NULL;
    unsigned leave[FUSED_KERNELS];
    fused_kernels(r->ops[i], leave);
    fused_kernel_plan(&r->arena, r->ops[i], w, leave[0], NULL, &k);
    cr_assert_not(k.is_empty);
    FILE *out = open_memstream(&texts[i], &length);
    fused_emit_kernel(&k, "kernel", out);
    fclose(out);
  }
}

static const struct mixture packing = {.maps = 6, .gathers = 1, .packs = 3, .wild = true};

static void check_nvrtc(struct widths w, uint64_t seed, const struct mixture *mixture) {
  enum { SOME = 2 }; /* scripts/check-kernels compiles many */
  struct nvrtc n;
  if (!nvrtc_open(&n)) cr_skip_test("no NVRTC here");
  struct random r;
  char *texts[SOME];
  random_make(&r, w, seed, mixture, 1, SOME);
  write_texts(&r, w, SOME, texts);
  for (uint32_t i = 0; i < SOME; i++) {
    struct nvrtc_report report = nvrtc_compile(&n, texts[i]);
    cr_expect(report.good && report.registers > 0, "%s", report.log);
    free(report.log);
    free(texts[i]);
  }
  random_free(&r);
}

Test(kernel, compiles_by_nvrtc) {
  check_nvrtc((struct widths){CVL_I32, CVL_F64}, 5, &everything);
  check_nvrtc((struct widths){CVL_I64, CVL_F64}, 6, &everything);
  check_nvrtc((struct widths){CVL_I32, CVL_F32}, 7, &everything);
  check_nvrtc((struct widths){CVL_I64, CVL_F64}, 8, &packing);
}

Test(kernel, compiles_by_nvcc) {
  static const char nvcc[] = "PATH=$PATH:/usr/local/cuda/bin nvcc";
  enum { SOME = 1 };
  const struct widths w = {CVL_I32, CVL_F64};
  char command[512], *texts[SOME];
  snprintf(command, sizeof command, "%s --version > /dev/null 2>&1", nvcc);
  if (system(command) != 0) cr_skip_test("no nvcc here");
  struct random r;
  struct built b;
  random_make(&r, w, 8, &everything, 1, SOME);
  write_texts(&r, w, SOME, texts);
  make_directory(&b);
  for (uint32_t i = 0; i < SOME; i++) {
    FILE *file = create(&b, "kernel.cu");
    fputs(texts[i], file);
    fclose(file);
    free(texts[i]);
    snprintf(command, sizeof command,
             "cd %s && %s -std=c++17 -arch=sm_90 --fmad=false -Werror all-warnings -cubin "
             "kernel.cu",
             b.directory, nvcc);
    cr_expect_eq(system(command), 0, "%s", command);
  }
  clean(&b);
  random_free(&r);
}

/* The functions, of small and of large arguments, must have the bits that every back end
 * gives. */
static void kernel_check_functions(struct widths w) {
  static const char definition[] =
      "fused OP0#1 ($0 : FLOAT) ="
      "$1 = (SIN @ $0) $2 = (COS @ $0) $3 = (TAN @ $0) $4 = (EXP @ $0) $5 = (LOG @ $0)"
      "$6 = (TANH @ $0) $7 = (ASIN @ $0) $8 = (ATAN @ $0) $9 = (ROUND @ $0) $10 = (SQRT @ $0)"
      "-> $1 $2 $3 $4 $5 $6 $7 $8 $9 $10";
  static const double arguments[] = {0.0, -0.0,  0.5,   1.0,  -2.5,     3e5,       2e6, 7.5,
                                     1e9, -1e17, 1e300, 1e30, INFINITY, -INFINITY, NAN, 0.1};
  enum { ARGUMENTS = sizeof arguments / sizeof arguments[0], OUTPUTS = 10 };
  struct loaded l;
  struct fused_kernel k;
  struct built b;
  load(&l, definition, w);
  cr_assert_not_null(l.ops[0]);
  fused_kernel_plan(&l.arena, l.ops[0], w, LEAVE_NOTHING, NULL, &k);
  make_directory(&b);
  FILE *file = create(&b, "kernel.cpp");
  fused_emit_kernel(&k, "op0", file);
  fclose(file);
  cr_assert(compile(&b, "c++ -std=c++17 -O2 *.cpp"), "%s", dlerror());
  struct arguments a = {.used = 0};
  const size_t bytes = elem_info(w.float_elem)->bytes;
  struct cvl_value operands[ARGUMENTS];
  _Alignas(8) char x[ARGUMENTS * 8];
  _Alignas(8) char found[OUTPUTS][ARGUMENTS * 8];
  for (uint32_t j = 0; j < ARGUMENTS; j++) {
    operands[j] = cvl_scalar_float(w.float_elem, arguments[j]);
    memcpy(x + j * bytes, &operands[j].as, bytes);
  }
  const struct tail tail = {.data = x};
  struct fault_slot fault = {0};
  cr_assert_eq(k.member_count, OUTPUTS + 1);
  memset(kernel_take(&a, 8 + 2 * bytes), FROM_MEMORY, 8 + 2 * bytes); /* and two elements */
  memcpy(kernel_take(&a, sizeof tail), &tail, sizeof tail);
  for (int i = 0; i < OUTPUTS; i++) pointer(&a, found[i]);
  pointer(&a, &fault);
  ((kernel *)symbol(&b, "op%u_host", 0, 0))(a.bytes, ARGUMENTS, &(struct order){1, 0});
  for (uint32_t i = 0; i < OUTPUTS; i++) {
    enum cvl_op op = opcode_info((enum opcode)l.ops[0]->nodes[i].op)->operation;
    for (uint32_t j = 0; j < ARGUMENTS; j++) {
      struct cvl_value wanted;
      enum cvl_error_kind kind;
      cr_assert(cvl_scalar_op(w.int_elem, w.float_elem, op, &operands[j], &wanted, &kind));
      const size_t size = elem_info((enum cvl_elem)wanted.elem)->bytes;
      cr_expect(memcmp(&wanted.as, found[i] + j * size, size) == 0, "%s of %a",
                op_info(op)->name, arguments[j]);
    }
  }
  clean(&b);
  unload(&l);
}

Test(kernel, functions_give_the_bits_of_one_element) {
  kernel_check_functions((struct widths){CVL_I64, CVL_F64});
  kernel_check_functions((struct widths){CVL_I64, CVL_F32});
}
