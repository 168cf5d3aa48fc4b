/* test-emit.c - emitted source, compiled by the machine's compiler with every warning an error:
 * on random superoperators and data it must give the bits and the faults that executing the
 * nodes one by one on the oracle gives.
 */
#include "base/tests/every.h"
#include "fused-kernels/tests/emitted.h"

/* ---- blocks ---- */

typedef void block_function(uint64_t n, const void *const *in, void *const *out,
                            uint64_t *fault, const struct tile_ahead *ahead);

/* A map, or an ASSERT whose flags are read, that is not only for reports. */
static bool is_elementwise(const struct superop *op, uint32_t k) {
  const struct superop_node *node = &op->nodes[k];
  return (node->role == ROLE_MAP && !op->cold[k]) ||
         (node->role == ROLE_ASSERT && node->checked);
}

/* Whether all that maps read is there although node `site` was at fault. */
static bool has_operands(const struct superop *op, uint64_t site) {
  for (uint32_t k = 0; k < op->node_count; k++) {
    switch ((enum superop_role)op->nodes[k].role) {
    case ROLE_GATHER:
    case ROLE_PICK: return false;
    case ROLE_SPREAD:
    case ROLE_INDEX:
      if (k > site) return false;
      break;
    default: break;
    }
  }
  return is_elementwise(op, (uint32_t)site);
}

/* Where the segments of `far` begin, and their lengths, for the n positions of `near`. */
static struct fused_gathered bounds_of(const struct host_value *far,
                                       const struct host_value *near, uint64_t n) {
  struct fused_gathered g = {.base = calloc(n + 1, 8), .limit = calloc(n + 1, 8)};
  const int64_t *lengths = near->data, *others = far->data;
  uint64_t base = 0, at = 0;
  for (uint64_t s = 0; s < near->n; s++) {
    for (int64_t i = 0; i < lengths[s] && at < n; i++, at++) {
      g.base[at] = base;
      g.limit[at] = (uint64_t)others[s];
    }
    base += (uint64_t)others[s];
  }
  return g;
}

/* What a gather may read where there is nothing. */
static const uint64_t first_of_none = 0;

/* All stages on what the oracle computed; every map's elements, and the lowest fault. */
static void check_blocks(struct suite *s, const struct built *b, const struct superop_case *c,
                         const struct fused_schedule *plan, uint64_t size, bool spoil) {
  const struct superop *op = &c->op;
  struct host_value params[SUPEROP_PARAMS];
  superop_case_data(s, c, size, SHAPE_ONE, spoil, params);
  struct host_value *values = calloc(op->value_count, sizeof *values);
  memcpy(values, params, op->param_count * sizeof *values);
  struct cvl_error error = {.kind = CVL_E_NONE};
  bool fine = oracle_superop(&s->heap, op, s->int_elem, s->float_elem, values, &error);
  bool decided = fine || has_operands(op, error.site);
  uint64_t n = 0;
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct host_value *v =
        &values[op->nodes[k].role == ROLE_ASSERT ? op->nodes[k].operands[0]
                                                 : op->nodes[k].result];
    if (is_elementwise(op, k) && v->form == HOST_VECTOR) n = v->n;
  }
  const void **in = calloc(op->value_count, sizeof *in);
  void **out = calloc(op->value_count, sizeof *out);
  uint64_t *fault = calloc(op->node_count, sizeof *fault);
  for (uint32_t v = 0; v < op->value_count; v++) {
    in[v] = values[v].data;
    if (plan->written[v]) out[v] = calloc(n + 1, 8);
  }
  struct fused_gathered *gathered = calloc(op->node_count, sizeof *gathered);
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    if (plan->tasks[k] != TASK_INSIDE || node->role != ROLE_GATHER) continue;
    const uint32_t *last = node->operands + node->operand_count;
    const struct host_value *from = &values[node->operands[0]];
    gathered[k] = bounds_of(&values[last[-2]], &values[last[-1]], n);
    gathered[k].values = from->n > 0 ? from->data : &first_of_none;
    in[node->result] = &gathered[k];
  }
  const struct tile_stream stream = {.at = values[0].data, .bytes = 8};
  const struct tile_ahead ahead = {.streams = &stream, .count = 1, .far = 512};
  for (uint32_t stage = 0; decided && n != 0 && stage < plan->stage_count; stage++) {
    block_function *f = (block_function *)symbol(b, "block%u_%u", op->number, stage);
    f(n, in, out, fault, n % 2 ? &ahead : NULL);
  }
  for (uint32_t k = 0; decided && n != 0 && k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    if (plan->tasks[k] != TASK_INSIDE) continue;
    bool at_fault = !fine && k == error.site;
    cr_expect(!node->checked || k > error.site ||
                  fault[k] == (at_fault ? (uint64_t)error.position : UINT64_MAX),
              "node %u of block%u", k, op->number);
    if (fine && node->result_count > 0 && plan->written[node->result]) {
      cr_expect(same_elements(&values[node->result], out[node->result]),
                "value %u of block%u: %s", node->result, op->number,
                opcode_info((enum opcode)node->op)->spelling);
    }
  }
  for (uint32_t v = 0; v < op->value_count; v++) {
    free(out[v]);
    if (v >= op->param_count) host_free(&s->heap, &values[v]);
  }
  for (uint32_t k = 0; k < op->node_count; k++) {
    free(gathered[k].base);
    free(gathered[k].limit);
  }
  free(gathered);
  free(in);
  free(out);
  free(fault);
  free(values);
  superop_case_free_data(s, c, params);
}

static void emit_check_random(struct widths w, uint64_t seed) {
  static const struct mixture mixtures[] = {
      {.maps = 12, .spreads = 3, .gathers = 6, .wild = true},
      {.maps = 20, .spreads = 3, .wild = true},
      {.maps = 10, .spreads = 2, .gathers = 4, .asserts = 3, .wild = true},
  };
  struct random r;
  random_make(&r, w, seed, mixtures, 3, CASES);
  struct superop_case *cases = r.cases;
  struct fused_functions plans[CASES];
  struct built b;
  make_directory(&b);
  FILE *c = create(&b, "emitted.c");
  fused_emit_block_prelude(w, c);
  for (uint32_t i = 0; i < CASES; i++) {
    cr_assert(fused_functions_plan(&r.arena, &cases[i].op, false, &plans[i]));
    const uint32_t count = plans[i].schedule.stage_count;
    for (uint32_t stage = 0; stage < count; stage++) {
      char name[32];
      snprintf(name, sizeof name, "block%u_%u", i, stage);
      fused_emit_block(&plans[i], w, stage, name, c);
    }
  }
  fclose(c);
  cr_assert(compile(&b, COMPILE_C), "%s", dlerror());
  for (uint32_t i = 0; i < CASES; i++) {
    for (uint64_t n = 1; n < 3000; n = 3 * n + 2) {
      check_blocks(&r.suite, &b, &cases[i], &plans[i].schedule, n, false);
      check_blocks(&r.suite, &b, &cases[i], &plans[i].schedule, n, true);
    }
  }
  clean(&b);
  random_free(&r);
}

Test(emit_block, same_as_the_oracle_in_wide_widths) {
  if (!has_compiler()) cr_skip_test("no compiler here");
  emit_check_random((struct widths){CVL_I64, CVL_F64}, 4);
}

Test(emit_block, same_as_the_oracle_in_narrow_widths) {
  if (!has_compiler()) cr_skip_test("no compiler here");
  emit_check_random((struct widths){CVL_I32, CVL_F32}, 5);
}

/* Loads a definition and begins the file for functions for its blocks. */
static FILE *begin_blocks(struct loaded *l, const char *definition, struct widths w,
                          struct fused_functions *plan, struct built *b) {
  load(l, definition, w);
  cr_assert_not_null(l->ops[0]);
  cr_assert(fused_functions_plan(&l->arena, l->ops[0], false, plan));
  make_directory(b);
  FILE *c = create(b, "emitted.c");
  fused_emit_block_prelude(w, c);
  return c;
}

/* The functions, of small and of large arguments, against one element at a time. */
static void emit_check_functions(struct widths w) {
  static const char definition[] =
      "fused OP0#1 ($0 : FLOAT, $1 : FLOAT) ="
      "$2 = (SIN @ $0) $3 = (COS @ (* FLOAT @ $0 $1)) $4 = (TAN @ $0) $5 = (EXP @ $0)"
      "$6 = (LOG @ $0) $7 = (TANH @ $0) $8 = (ASIN @ $0) $9 = (ROUND @ $0) $10 = (SQRT @ $0)"
      "-> $2 $3 $4 $5 $6 $7 $8 $9 $10";
  static const double arguments[] = {0.0, -0.0,  0.5,  1.0,      -2.5,      3e5, 2e6,
                                     1e9, -1e17, 1e30, INFINITY, -INFINITY, NAN, 0.1};
  enum { ARGUMENTS = sizeof arguments / sizeof arguments[0], FACTOR = 3 };
  struct loaded l;
  struct fused_functions plan;
  struct built b;
  FILE *c = begin_blocks(&l, definition, w, &plan, &b);
  const struct superop *op = l.ops[0];
  cr_assert_eq(plan.schedule.stage_count, 1);
  fused_emit_block(&plan, w, 0, "block0_0", c);
  fclose(c);
  cr_assert(compile(&b, COMPILE_C " -O3 -march=native"), "%s", dlerror());
  struct host_value x = host_vector(&l.heap, w.float_elem, ARGUMENTS),
                    y = host_vector(&l.heap, w.float_elem, ARGUMENTS);
  for (uint64_t i = 0; i < ARGUMENTS; i++) {
    host_put_real(&x, i, arguments[i]);
    host_put_real(&y, i, FACTOR);
  }
  const void *in[16] = {x.data, y.data};
  double room[16][ARGUMENTS];
  void *out[16];
  for (int v = 0; v < 16; v++) out[v] = room[v];
  uint64_t fault[16];
  ((block_function *)symbol(&b, "block%u_%u", 0, 0))(ARGUMENTS, in, out, fault, NULL);
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    if (!plan.schedule.written[node->result]) continue;
    size_t bytes = elem_info(node->op == OPC_ROUND ? w.int_elem : w.float_elem)->bytes;
    for (uint64_t i = 0; i < ARGUMENTS; i++) {
      double argument = host_real(&x, i);
      if (node->op == OPC_COS) {
        argument *= FACTOR;
        if (w.float_elem == CVL_F32) argument = (double)(float)argument;
      }
      struct cvl_value operand = cvl_scalar_float(w.float_elem, argument), wanted;
      enum cvl_error_kind kind;
      cr_assert(cvl_scalar_op(w.int_elem, w.float_elem,
                              opcode_info((enum opcode)node->op)->operation, &operand, &wanted,
                              &kind));
      const char *found = (const char *)room[node->result] + i * bytes;
      cr_expect(memcmp(&wanted.as, found, bytes) == 0, "%s of %a",
                opcode_info((enum opcode)node->op)->spelling, argument);
    }
  }
  host_free(&l.heap, &x);
  host_free(&l.heap, &y);
  clean(&b);
  unload(&l);
}

Test(emit_block, functions_give_the_bits_of_one_element) {
  if (!has_compiler()) cr_skip_test("no compiler here");
  emit_check_functions((struct widths){CVL_I64, CVL_F64});
  emit_check_functions((struct widths){CVL_I32, CVL_F32});
}

Test(emit_block, the_first_fault_of_each_node) {
  if (!has_compiler()) cr_skip_test("no compiler here");
  static const char definition[] = "fused OP0#1 ($0 : INT, $1 : INT, $2 : INT) ="
                                   "$3 = (/ INT @ $0 $1) $4 = (% @ $0 $2)"
                                   "$5 = (! / INT @ $0 $0) $6 = (/ INT @ $0 $0)"
                                   "-> $3 $4 $5 $6";
  const struct widths w = {CVL_I32, CVL_F64};
  struct loaded l;
  struct fused_functions plan;
  struct built b;
  FILE *c = begin_blocks(&l, definition, w, &plan, &b);
  fused_emit_block(&plan, w, 0, "block0_0", c);
  fclose(c);
  cr_assert(compile(&b, COMPILE_C), "%s", dlerror());
  const int32_t x[] = {7, INT32_MIN, 9, 8}, y[] = {2, -1, 0, 0}, z[] = {0, -1, 0, 3};
  const void *in[] = {x, y, z, NULL, NULL, NULL, NULL};
  int32_t room[4][4];
  void *out[] = {NULL, NULL, NULL, room[0], room[1], room[2], room[3]};
  uint64_t fault[4] = {77, 77, 77, 77};
  ((block_function *)symbol(&b, "block%u_%u", 0, 0))(4, in, out, fault, NULL);
  cr_expect(fault[0] == 2 && fault[1] == 0 && fault[2] == 77 && fault[3] == UINT64_MAX);
  static const int32_t quotients[] = {3, INT32_MIN, 0, 0}, remainders[] = {0, 0, 0, 2};
  cr_expect(memcmp(room[0], quotients, sizeof quotients) == 0);
  cr_expect(memcmp(room[1], remainders, sizeof remainders) == 0);
  clean(&b);
  unload(&l);
}

/* A gather by a computed index, one by what that gathered, one whose index needs no check.
 * Where an index is wrong the first element is read; of no elements, none. */
Test(emit_block, gathers_from_one_segment) {
  if (!has_compiler()) cr_skip_test("no compiler here");
  static const char definition[] =
      "fused OP0#1 ($0 : INT, $1 : INT, $2 : FLOAT, $3 : SEGDES, $4 : SEGDES, $5 : SEGDES) ="
      "$6 = (+ INT @ $0 $0) $7 = (BPERMUTE INT @ $1 $6 $3 $5)"
      "$8 = (BPERMUTE FLOAT @ $2 $7 $4 $5) $9 = (! BPERMUTE FLOAT @ $2 $0 $4 $5)"
      "-> $7 $8 $9";
  enum { N = 5, VALUES = 10 };
  const struct widths w = {CVL_I32, CVL_F64};
  struct loaded l;
  struct built b;
  struct fused_functions plan;
  load(&l, definition, w);
  cr_assert(fused_functions_plan(&l.arena, l.ops[0], true, &plan));
  cr_expect_eq(plan.schedule.stage_count, 1);
  for (int k = 1; k < 4; k++) cr_expect_eq(plan.schedule.tasks[k], TASK_INSIDE);
  make_directory(&b);
  FILE *c = create(&b, "emitted.c");
  fused_emit_block_prelude(w, c);
  fused_emit_block(&plan, w, 0, "block0_0", c);
  fclose(c);
  cr_assert(compile(&b, COMPILE_C " -O3"), "%s", dlerror());
  block_function *f = (block_function *)symbol(&b, "block%u_%u", 0, 0);
  static const int32_t index[N] = {2, 0, 1, 2, 0}, ints[5] = {1, 9, 0, 8, 2};
  static const double reals[3] = {0.5, 1.5, 2.5};
  int32_t found[N];
  double first[N], second[N];
  uint64_t fault[4];
  const struct fused_gathered all = {.values = ints, .count = 5},
                              few = {.values = ints, .count = 4},
                              of = {.values = reals, .count = 3};
  const void *in[VALUES] = {index, [7] = &all, [8] = &of, [9] = &of};
  void *out[VALUES] = {[7] = found, [8] = first, [9] = second};
  f(N, in, out, fault, NULL);
  for (int i = 0; i < N; i++) {
    cr_expect(found[i] == ints[2 * index[i]] && first[i] == reals[found[i]] &&
                  second[i] == reals[index[i]],
              "%d", i);
  }
  cr_expect(fault[1] == UINT64_MAX && fault[2] == UINT64_MAX);
  in[7] = &few;
  f(N, in, out, fault, NULL);
  cr_expect(fault[1] == 0 && found[0] == ints[0] && found[2] == ints[2]);
  static const int32_t negative[N] = {0, 1, 1, -1, 2}, wild[5] = {1, 9, 3, 8, 2};
  const struct fused_gathered wide = {.values = wild, .count = 5};
  in[0] = negative;
  in[7] = &wide;
  in[9] = &(struct fused_gathered){.values = reals + 1, .count = 3};
  f(4, in, out, fault, NULL);
  cr_expect(fault[1] == 3 && fault[2] == 1, "%ju %ju", fault[1], fault[2]);
  clean(&b);
  unload(&l);
}

/* Compiles what a back end would compile, with all kinds of nodes, for one segment and for any.
 * A function that does not compile would only be slow. */
static void emit_check_file(struct widths w, uint64_t seed) {
  static const struct mixture mixtures[] = {
      {.maps = 6, .spreads = 3, .gathers = 3, .reductions = 2, .asserts = 2, .wild = true},
      {.maps = 6, .spreads = 3, .gathers = 2, .scans = 3, .packs = 3, .wild = true},
      {.maps = 4, .spreads = 2, .scatters = 3, .asserts = 1, .wild = true},
      {.maps = 6, .spreads = 2, .gathers = 1, .reductions = 1, .loops = 2},
      {.maps = 4, .gathers = 1, .combinations = 2},
  };
  struct random r;
  random_make(&r, w, seed, mixtures, sizeof mixtures / sizeof *mixtures, CASES);
  struct built b;
  make_directory(&b);
  FILE *c = create(&b, "emitted.c");
  fused_emit_cpu(&r.arena, r.ops, CASES, w, c);
  fclose(c);
  cr_expect(compile(&b, COMPILE_C), "%s", dlerror());
  clean(&b);
  random_free(&r);
}

Test(emit_functions, files_compile) {
  if (!has_compiler()) cr_skip_test("no compiler here");
  emit_check_file((struct widths){CVL_I64, CVL_F64}, 6);
  if (every() == 1) emit_check_file((struct widths){CVL_I32, CVL_F32}, 7);
}

/* ---- what functions leave ---- */

#define FORM(params, body) "fused OP0#1 (" params ") = " body
#define SQUARES            "(* INT @ $0 $0)"

static const struct {
  const char *text;
  bool flat, compiled;
  const char *left;
} leaves[] = {
    {FORM("$0 : INT, $1 : SEGDES", "(+_REDUCE INT @ " SQUARES " $1)"), false, true, ""},
    {FORM("$0 : INT, $1 : SEGDES", "(+_REDUCE INT @ $0 $1)"), true, false,
     "no elementwise operations"},
    {FORM("$0 : INT, $1 : SEGDES", "(+_SCAN INT @ " SQUARES " $1)"), false, true, ""},
    {FORM("$0 : FLOAT, $1 : SEGDES", "$2 = (* FLOAT @ $0 $0) $3 = (+_SCAN FLOAT @ $2 $1) "
                                     "$4 = (+_SCAN FLOAT @ $0 $1) -> $3 $4"),
     true, true, "2 scan"},
    {FORM("$0 : INT, $1 : INT, $2 : SEGDES", "(PERMUTE INT @ " SQUARES " $1 $2)"), false, true,
     ""},
    {FORM("$0 : INT, $1 : FLOAT, $2 : INT, $3 : SEGDES",
          "$4 = (+_SCAN FLOAT @ $1 $3) $5 = " SQUARES " $6 = (PERMUTE INT @ $5 $2 $3) "
          "-> $4 $6"),
     false, true, "scan"},
    {FORM("$0 : INT, $1 : INT, $2 : INT, $3 : INT, $4 : INT, $5 : SEGDES, $6 : SEGDES, $7 : "
          "SEGDES",
          "(DPERMUTE INT @ $1 (INDEX @ $3 (CONST INT 1) $6) (DPERMUTE INT @ $0 (INDEX @ $2 "
          "(CONST INT 1) $5) $4 $5 $7) $6 $7)"),
     false, false, "copied by runs"},
};

Test(emit, functions_leave) {
  for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
    struct loaded l;
    bool compiled;
    load(&l, leaves[i].text, (struct widths){CVL_I64, CVL_F64});
    cr_assert_not_null(l.ops[0], "%s: %s", leaves[i].text,
                       l.diags.list.count ? l.diags.list.items[0].message : "");
    const char *left = fused_functions_leave(&l.arena, l.ops[0], leaves[i].flat, &compiled);
    cr_expect_str_eq(left, leaves[i].left, "%s: %s", leaves[i].text, left);
    cr_expect_eq(compiled, leaves[i].compiled, "%s", leaves[i].text);
    unload(&l);
  }
}
