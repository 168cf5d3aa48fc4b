/* test-schedule.c - schedules: of superoperators whose schedule is written down here, for some
 * kernels; and of random ones, executed step by step, where nothing may be missing when it is
 * read, and nothing made twice.
 */
#include "fused-kernels/emit-kernel.h"
#include "fused-kernels/tests/emitted.h"

static const struct widths wide = {CVL_I64, CVL_F64};

/* The schedule as the plan of a kernel makes it. */
static struct fused_schedule schedule_for(struct arena *arena, const struct superop *op,
                                          unsigned leave) {
  struct fused_kernel k;
  fused_kernel_plan(arena, op, wide, leave, NULL, &k);
  return k.schedule;
}

/* ---- schedules that are known ---- */

#define FORM(body) "fused OP0#1 ($0 : INT, $1 : INT, $2 : SEGDES, $3 : SEGDES) =" body

#define GATHER                                                                                 \
  FORM("$4 = (+ INT @ $1 $1) $5 = (BPERMUTE INT @ $0 $4 $2 $3) $6 = (* INT @ $5 $1) -> $6")
#define LATER                                                                                  \
  FORM("$4 = (+ INT @ $1 $1) $5 = (- INT @ $1 $1) $6 = (EXTRACT INT @ $0 $4 $2)"               \
       "$7 = (* INT @ $6 $5) $8 = (EXTRACT INT @ $0 $7 $2) $9 = (+ INT @ $8 $5) -> $9")
#define COLD                                                                                   \
  FORM("$4 = (+ INT @ $0 $1) $5 = (* INT @ $0 $0) $6 = (< INT @ $0 $1)"                        \
       "(ASSERT \"x\" @ $6 $4 $5) $7 = (- INT @ $5 $1) -> $7")
#define LOOP                                                                                   \
  FORM("$4 = (+ INT @ $0 $1) $5 = (CARRY INT @ $4) $6 = (> INT @ $5 $5) (WHILE @ $6)"          \
       "$7 = (- INT @ $5 $5) $8 = (NEXT INT @ $5 $7) $9 = (* INT @ $8 $1) -> $9")
#define WAITING                                                                                \
  FORM("$4 = (+ INT @ $0 $1) $5 = (CARRY INT @ $0) $6 = (CARRY INT @ $4)"                      \
       "$7 = (> INT @ $5 $5) (WHILE @ $7) $8 = (- INT @ $5 $6)"                                \
       "$9 = (NEXT INT @ $5 $8) $10 = (NEXT INT @ $6 $6) -> $9")
#define COLUMN                                                                                 \
  "$4 = (+ INT @ $0 $1) $5 = (CONST INT 1) $6 $7 = (COLUMN INT @ $4) $8 = (* INT @ $6 $7)"
#define COMBINED        FORM(COLUMN "$9 = (COMBINE_REDUCE INT @ $6 $8 $5 $3) -> $9")
#define COMBINE_SCANNED FORM(COLUMN "$9 = (COMBINE_SCAN INT @ $6 $8 $5 $3) -> $9")
#define CONSUMED                                                                               \
  FORM("$4 = (+ INT @ $0 $1) $5 = (< INT @ $0 $1) $6 $7 = (PACK INT @ $4 $5 $3)"               \
       "$8 = (+_SCAN INT @ $4 $3) $9 = (+_REDUCE INT @ $4 $3) -> $6 $9")
#define SCANNED                                                                                \
  FORM("$4 = (+ INT @ $0 $1) $5 = (- INT @ $0 $1) $6 = (+_SCAN INT @ $4 $3) -> $5 $6")
#define SCATTERED                                                                              \
  FORM("$4 = (+ INT @ $0 $1) $5 = (- INT @ $0 $1) $6 = (DPERMUTE INT @ $4 $5 $1 $3 $2) -> $6")
#define SPREAD                                                                                 \
  FORM("$4 = (DIST INT @ $0 $3) $5 = (DIST INT @ $0 $3) $6 = (+ INT @ $4 $1) -> $4 $5 $6")
#define SPREAD_REPORTED                                                                        \
  FORM("$4 = (DIST INT @ $0 $3) $5 = (< INT @ $1 $1) (ASSERT \"x\" @ $5 $4 $1) -> $4")
#define INDEX   "$4 = (CONST INT 0) $5 = (CONST INT 1) $6 = (INDEX @ $4 $5 $3)"
#define COUNTED FORM(INDEX "$7 = (+ INT @ $6 $1) -> $7")
#define SLICE   FORM(INDEX "$7 = (BPERMUTE INT @ $0 $6 $2 $3) $8 = (+ INT @ $7 $1) -> $8")
#define UNUSED                                                                                 \
  FORM("$4 = (+ INT @ $0 $1) $5 = (- INT @ $4 $1) $6 = (/ INT @ $0 $0) $7 = (* INT @ $0 $0)"   \
       "-> $7")

/* nodes: i inside, r for reports, l library, t tree, a only apart, . not at all; + if it is
 * apart as well. values, from $4 on: r if a node inside needs it, w if it is written, l if it
 * is left, . if nothing. loads: the values that the kernel loads. */
static const struct row {
  const char *text;
  unsigned leave;
  const char *nodes, *values, *loads;
} rows[] = {
    /* Gathers are inside, by whatever index. */
    {GATHER, LEAVE_NOTHING, "i i i", "r r w", "1"},
    {LATER, LEAVE_NOTHING, "i i i i i i", "r r r r r w", "1"},
    /* $4 is only for the report, $5 is not. */
    {COLD, LEAVE_NOTHING, "r i i i i", ". r r w", "0 1"},
    /* A kernel for a loop gives what follows it. */
    {LOOP, LEAVE_NOTHING, "i i i i i i i", "r r r r r w", "0 1"},
    {LOOP, LOOP_ONLY(1), "i i i i i i .", "r r r r w .", "0 1"},
    {LOOP, LOOPS_ELSEWHERE, ". . . . . . .", ". . . . . .", ""},
    {WAITING, LEAVE_NOTHING, "i i i i i i i i", "r r r r r w .", "0 1"},
    /* A combination of a computed column, with an identity; of a scan the column is needed once
     * more after the kernel, which takes totals. */
    {COMBINED, LEAVE_NOTHING, "i . . . i", "r . . . . .", "0 1"},
    {COMBINE_SCANNED, LEAVE_NOTHING, "i . . . i+", "rw . . . . .", "0 1"},
    /* Packs and scans wait; the kernel reduces, and leaves out a scan without use. */
    {CONSUMED, LEAVE_NOTHING, "i i l . i", "rw w . . . .", "0 1"},
    {CONSUMED, PACK_ELSEWHERE, "i . . . i", "r . . . . .", "0 1"},
    {CONSUMED, PACK_ONLY, "i i i . .", "r r . . . .", "0 1"},
    /* A kernel for a scan gives nothing else. */
    {SCANNED, LEAVE_NOTHING, "i i l", "w w .", "0 1"},
    {SCANNED, SCAN_ONLY(2), "i . i", "r . .", "0 1"},
    {SCANNED, SCANS_ELSEWHERE, ". i .", ". w .", "0 1"},
    /* The kernel that claims needs the index of a scatter, and the one that fetches the values.
     */
    {SCATTERED, LEAVE_NOTHING, "i i l", "w w .", "0 1"},
    {SCATTERED, SCATTER_ONLY(2) | SCATTER_CLAIMS, ". i i", ". r .", "0 1"},
    {SCATTERED, SCATTER_ONLY(2) | SCATTER_FETCHES, "i . i", "r . .", "0 1"},
    /* Spreads: $4 is read, too. */
    {SPREAD, LEAVE_NOTHING, "i i i", "rw w w", "1"},
    {SPREAD, LEAVE_SPREADS, "i+ a i", "rl l w", "1"},
    {SPREAD_REPORTED, LEAVE_NOTHING, "i i i", "w r", "1"},
    {SPREAD_REPORTED, LEAVE_SPREADS, "r+ i i", "l r", "1"},
    {COUNTED, LEAVE_NOTHING, "i i i i", "r r r w", "1"},
    {SLICE, LEAVE_NOTHING, "i i i i i", "r r r r w", "1"},
    /* A node without use is left out, unless it may fail. */
    {UNUSED, LEAVE_NOTHING, ". . i i", ". . . w", "0"},
};

static void show_nodes(const struct fused_schedule *s, FILE *out) {
  for (uint32_t k = 0; k < s->op->node_count; k++) {
    const bool apart = fused_schedule_is_apart(s, k), only = s->tasks[k] == TASK_NONE && apart;
    const bool twice = apart && (s->tasks[k] == TASK_INSIDE || s->tasks[k] == TASK_REPORTED);
    const char task = only ? 'a' : ".irlt"[s->tasks[k]];
    fprintf(out, "%s%c%s", k > 0 ? " " : "", task, twice ? "+" : "");
  }
}

static void show_values(const struct fused_schedule *s, FILE *out) {
  for (uint32_t v = s->op->param_count; v < s->op->value_count; v++) {
    if (v > s->op->param_count) fputc(' ', out);
    const bool any = s->read[v] || s->written[v] || s->left[v];
    fprintf(out, "%s%s%s%s", any ? "" : ".", s->read[v] ? "r" : "", s->written[v] ? "w" : "",
            s->left[v] ? "l" : "");
  }
}

static void show_loads(const struct fused_schedule *s, FILE *out) {
  const char *before = "";
  for (uint32_t v = 0; v < s->op->value_count; v++) {
    if (!s->loaded[v]) continue;
    fprintf(out, "%s%u", before, v);
    before = " ";
  }
}

static void schedule_check_shown(const struct row *row, const struct fused_schedule *s,
                                 void (*show)(const struct fused_schedule *, FILE *),
                                 const char *wanted) {
  char found[400] = "";
  FILE *out = fmemopen(found, sizeof found, "w");
  show(s, out);
  fclose(out);
  cr_expect_str_eq(found, wanted, "%s\nleaving %#x: %s, not %s", row->text, row->leave, found,
                   wanted);
}

Test(schedule, of_some_superoperators) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct loaded l;
    load(&l, rows[i].text, wide);
    cr_assert_not_null(l.ops[0], "%s: %s", rows[i].text,
                       l.diags.list.count ? l.diags.list.items[0].message : "");
    const struct fused_schedule s = schedule_for(&l.arena, l.ops[0], rows[i].leave);
    schedule_check_shown(&rows[i], &s, show_nodes, rows[i].nodes);
    schedule_check_shown(&rows[i], &s, show_values, rows[i].values);
    schedule_check_shown(&rows[i], &s, show_loads, rows[i].loads);
    unload(&l);
  }
}

/* The segment of a position is needed for DIST, INDEX and what a gather refers to; for a report
 * only if the kernel has not looked it up. */
Test(schedule, what_is_looked_up) {
  static const char text[] =
      FORM("$4 = (DIST INT @ $0 $3) $5 = (* INT @ $4 $1) $6 = (< INT @ $1 $1)"
           "(ASSERT \"x\" @ $6 $5 $0) -> $6");
  struct loaded l;
  load(&l, GATHER, wide);
  struct fused_schedule s = schedule_for(&l.arena, l.ops[0], LEAVE_NOTHING);
  cr_expect(fused_schedule_looks_up(&s, 3, TASK_INSIDE));
  cr_expect_not(fused_schedule_looks_up(&s, 2, TASK_INSIDE));
  cr_expect_not(fused_schedule_looks_up(&s, 3, TASK_REPORTED));
  unload(&l);
  load(&l, text, wide);
  s = schedule_for(&l.arena, l.ops[0], LEAVE_NOTHING);
  struct fused_report r;
  fused_schedule_report(&s, 3, &r);
  cr_expect(fused_schedule_looks_up(&s, 3, TASK_REPORTED));
  cr_expect(r.node[0] && r.node[1] && !r.node[2], "$4 and $5");
  cr_expect(r.load[0] && !r.load[1], "$1 is at hand");
  cr_expect(r.lookup[3] && !r.lookup[2]);
  unload(&l);
  load(&l, FORM("$4 = (CONST INT 1) $5 = (DIST INT @ $4 $3) $6 = (+ INT @ $0 $5) -> $6"), wide);
  s = schedule_for(&l.arena, l.ops[0], LEAVE_NOTHING);
  cr_expect_not(fused_schedule_looks_up(&s, 3, TASK_INSIDE),
                "a constant is the same everywhere");
  unload(&l);
}

/* ---- random superoperators, executed ---- */

enum { IN_REGISTERS = 1, IN_MEMORY = 2 };

/* Where each value is while the schedule is executed. */
struct execution {
  const struct superop *op;
  const struct fused_schedule *s;
  uint8_t at[SUPEROP_VALUES_MAX];
  uint32_t made[SUPEROP_VALUES_MAX]; /* how often its elements came into memory */
  uint32_t ran[SUPEROP_VALUES_MAX];  /* of nodes: how often they were checked */
  bool used[SUPEROP_VALUES_MAX];     /* by the kernel */
  bool taken[SUPEROP_VALUES_MAX];    /* after it */
};

static bool is_combined(const struct superop_node *node) {
  return node->role == ROLE_COMBINE_REDUCE || node->role == ROLE_COMBINE_SCAN ||
         node->role == ROLE_COMBINE_SCATTER;
}

/* The node of a value: by its number among results. */
static const struct superop_node *schedule_node_of(const struct superop *op, uint32_t v) {
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    if (v - node->result < node->result_count) return node;
  }
  return NULL;
}

/* A constant, or one that is spread, needs neither memory nor registers. */
static bool schedule_is_constant(const struct superop *op, uint32_t v) {
  const struct superop_node *node = schedule_node_of(op, v);
  if (node == NULL) return false;
  return node->role == ROLE_CONST ||
         (node->role == ROLE_SPREAD && schedule_is_constant(op, node->operands[0]));
}

/* Node k runs inside, or apart: what it needs has to be there. */
static void schedule_run_node(struct execution *e, uint32_t k, bool inside) {
  const struct superop_node *node = &e->op->nodes[k];
  for (unsigned i = 0; i < node->operand_count; i++) {
    uint32_t v = node->operands[i];
    if (node->role == ROLE_ASSERT && i > 0) continue;
    if (is_combined(node) && i == 1) continue; /* in the function */
    if (is_combined(node) && i == 0) v = schedule_node_of(e->op, v)->operands[0];
    cr_expect(e->at[v] != 0 || schedule_is_constant(e->op, v),
              "node %u of op%u needs value %u %s", k, e->op->number, v,
              inside ? "inside" : "apart");
    (inside ? e->used : e->taken)[v] = true;
  }
  if (node->checked) e->ran[k]++;
  for (unsigned r = 0; r < node->result_count; r++) {
    const uint32_t v = node->result + r;
    const bool given = !inside || node->role == ROLE_REDUCE || is_combined(node);
    e->at[v] |= given ? IN_MEMORY : IN_REGISTERS;
    if (given && !(inside && fused_schedule_is_apart(e->s, k))) e->made[v]++;
  }
}

/* The kernel stores at its end, and forgets its registers. */
static void end_kernel(struct execution *e) {
  for (uint32_t v = e->op->param_count; v < e->op->value_count; v++) {
    if ((e->at[v] & IN_REGISTERS) && e->s->written[v]) {
      e->at[v] |= IN_MEMORY;
      e->made[v]++;
    }
    e->at[v] &= (uint8_t)~IN_REGISTERS;
  }
}

static void schedule_execute(struct execution *e) {
  for (uint32_t v = 0; v < e->op->param_count; v++) e->at[v] = IN_MEMORY;
  for (uint32_t k = 0; k < e->op->node_count; k++) {
    if (e->s->tasks[k] == TASK_INSIDE) schedule_run_node(e, k, true);
  }
  end_kernel(e);
  for (uint32_t k = 0; k < e->op->node_count; k++) {
    if (fused_schedule_is_apart(e->s, k)) schedule_run_node(e, k, false);
  }
  for (uint32_t i = 0; i < e->op->output_count; i++) e->taken[e->op->outputs[i]] = true;
}

static void check_executed(const struct execution *e) {
  const struct superop *op = e->op;
  for (uint32_t i = 0; i < op->output_count; i++)
    cr_expect_eq(e->made[op->outputs[i]], 1, "output %u of op%u is made %u times",
                 op->outputs[i], op->number, e->made[op->outputs[i]]);
  for (uint32_t v = op->param_count; v < op->value_count; v++)
    cr_expect(e->made[v] <= 1, "value %u of op%u", v, op->number);
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    cr_expect_eq(e->ran[k], node->checked ? 1 : 0, "node %u of op%u is checked %u times", k,
                 op->number, e->ran[k]);
    cr_expect(!op->cold[k] || e->s->tasks[k] != TASK_INSIDE, "cold node %u of op%u", k,
              op->number);
  }
}

/* The kernel loads the operands that maps read at their positions, and nothing that it does not
 * use. What it writes is taken after it. */
static void check_values(const struct execution *e) {
  const struct superop *op = e->op;
  const struct fused_schedule *s = e->s;
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    if (node->role != ROLE_MAP || s->tasks[k] != TASK_INSIDE) continue;
    for (unsigned i = 0; i < node->operand_count; i++) {
      const bool computed = schedule_node_of(op, node->operands[i]) != NULL;
      cr_expect_eq(s->loaded[node->operands[i]], !computed, "node %u of op%u", k, op->number);
    }
  }
  for (uint32_t v = 0; v < op->value_count; v++) {
    cr_expect(!s->loaded[v] || (e->used[v] && op->kinds[v] != SUPEROP_SEGDES),
              "value %u of op%u is loaded", v, op->number);
    cr_expect(!s->written[v] || e->taken[v], "value %u of op%u is not taken", v, op->number);
  }
}

/* Returns how many values are left. */
static unsigned schedule_check_random(const struct superop *op, unsigned leave) {
  struct heap heap;
  struct arena arena;
  heap_init(&heap, 0);
  arena_init(&arena, &heap);
  const struct fused_schedule s = schedule_for(&arena, op, leave);
  struct execution *e = calloc(1, sizeof *e);
  e->op = op;
  e->s = &s;
  schedule_execute(e);
  check_executed(e);
  check_values(e);
  unsigned left = 0;
  for (uint32_t v = 0; v < op->value_count; v++) left += s.left[v];
  free(e);
  arena_free(&arena);
  return left;
}

Test(schedule, nothing_is_missing_or_made_twice) {
  static const struct mixture mixtures[] = {
      {.maps = 12, .spreads = 3, .gathers = 6, .wild = true},
      {.maps = 10, .spreads = 2, .gathers = 4, .asserts = 3, .wild = true},
      {.maps = 10, .spreads = 4, .gathers = 6, .asserts = 6},
      {.maps = 6, .spreads = 3, .gathers = 3, .reductions = 2, .asserts = 2, .wild = true},
      {.maps = 6, .spreads = 3, .gathers = 2, .scans = 3, .packs = 3, .wild = true},
      {.maps = 4, .spreads = 2, .scatters = 3, .asserts = 1, .wild = true},
      {.maps = 6, .spreads = 2, .gathers = 3, .reductions = 1, .packs = 1, .loops = 3},
      {.maps = 4, .spreads = 1, .gathers = 1, .combinations = 3},
  };
  enum { ROUNDS = 60 };
  unsigned left = 0;
  for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
    struct random r;
    random_make(&r, wide, seed, mixtures, sizeof mixtures / sizeof *mixtures, CASES);
    for (uint32_t i = 0; i < CASES; i++) {
      cr_expect_eq(schedule_check_random(r.ops[i], LEAVE_NOTHING), 0);
      left += schedule_check_random(r.ops[i], LEAVE_SPREADS);
    }
    random_free(&r);
  }
  cr_expect_gt(left, 2 * ROUNDS, "%u are left", left);
}
