/* test-schedule.c - schedules: of superoperators whose schedule is written down here, for some
 * targets; and of random ones, executed step by step, where nothing may be missing when it is
 * read, and nothing made twice.
 */
#include "fused-kernels/emit-kernel.h"
#include "fused-kernels/tests/emitted.h"

static const struct widths wide = {CVL_I64, CVL_F64};

/* ---- targets ---- */

enum target { MAPS_ONLY, ANY_SEGMENTS, ONE_SEGMENT, KERNEL, KERNEL_SPREADS, TARGETS };

static const char *const target_names[TARGETS] = {"maps only", "functions for any segments",
                                                  "functions for one segment", "kernel",
                                                  "kernel, LEAVE_SPREADS"};

/* The schedule as the plans of both targets make it. */
static struct fused_schedule schedule_for(struct arena *arena, const struct superop *op,
                                          struct widths widths, enum target target) {
  static const unsigned leave[TARGETS] = {[KERNEL_SPREADS] = LEAVE_SPREADS};
  if (target == MAPS_ONLY) {
    struct fused_schedule s;
    cr_assert(fused_schedule_make(
        arena, op, (struct fused_target){.inside = 1U << STEP_MAP, .stages = 200}, &s));
    return s;
  }
  if (target == ANY_SEGMENTS || target == ONE_SEGMENT) {
    struct fused_functions f;
    fused_functions_plan(arena, op, target == ONE_SEGMENT, &f);
    return f.schedule;
  }
  struct fused_kernel k;
  fused_kernel_plan(arena, op, widths, leave[target], NULL, &k);
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

/* nodes: i inside, r for reports, l library, t tree, a only apart, . not at all; the stage; +
 * if it is apart as well. values, from $4 on: the stages that need it first and last, w if it
 * is written, l if it is left; . without use. loads: of each stage, the values. */
static const struct row {
  const char *text;
  enum target target;
  const char *nodes, *values, *loads;
} rows[] = {
    /* A gather by data between two maps: two stages, where functions do not gather. */
    {GATHER, MAPS_ONLY, "i0 a1 i1", "1-1w 1-1 2-2w", "1|1 5"},
    {GATHER, ANY_SEGMENTS, "i0 i0 i0", "0-0 0-0 1-1w", "1"},
    {GATHER, ONE_SEGMENT, "i0 i0 i0", "0-0 0-0 1-1w", "1"},
    {GATHER, KERNEL, "i0 i0 i0", "0-0 0-0 1-1w", "1"},
    /* A value that a later stage reads, too, is written. */
    {LATER, ONE_SEGMENT, "i0 i0 a1 i1 a2 i2", "1-1w 1-2w 1-1 2-2w 2-2 3-3w", "1|5 6|5 8"},
    {LATER, KERNEL, "i0 i0 i0 i0 i0 i0", "0-0 0-0 0-0 0-0 0-0 1-1w", "1"},
    /* $4 is only for the report, $5 is not. */
    {COLD, ANY_SEGMENTS, "r0 i0 i0 i0 i0", ". 0-0 0-0 1-1w", "0 1"},
    {COLD, KERNEL, "r0 i0 i0 i0 i0", ". 0-0 0-0 1-1w", "0 1"},
    {LOOP, ANY_SEGMENTS, "i0 a1 a1 a1 a1 a1 i1", "1-1w 1-1 1-1 1-1 1-1 2-2w", "0 1|1 8"},
    {LOOP, KERNEL, "i0 i0 i0 i0 i0 i0 i0", "0-0 0-0 0-0 0-0 0-0 1-1w", "0 1"},
    /* A loop waits for all that it carries. */
    {WAITING, ANY_SEGMENTS, "i0 a1 a1 a1 a1 a1 a1 a1", "1-1w 1-1 1-1 1-1 1-1 1-1 .", "0 1"},
    /* A combination of a computed column, with an identity; of a scan the column is needed once
     * more after the kernel, which takes totals. */
    {COMBINED, ANY_SEGMENTS, "i0 a0 a1 a1 t1", "1-1w 1-1 1-1 1-1 . 1-1", "0 1"},
    {COMBINED, KERNEL, "i0 .0 .0 .0 i0", "0-0 0-0 . . . 1-1", "0 1"},
    {COMBINE_SCANNED, ANY_SEGMENTS, "i0 a0 a1 a1 t1", "1-1w 1-1 1-1 1-1 . 1-1", "0 1"},
    {COMBINE_SCANNED, KERNEL, "i0 .0 a1 a1 i0+", "0-1w 0-1 1-1 1-1 . 1-1", "0 1"},
    /* Packs and scans wait; the kernel reduces, and leaves out a scan without use. */
    {CONSUMED, ANY_SEGMENTS, "i0 i0 l1 l1 l1", "1-1w 1-1w 1-1 . . 1-1", "0 1"},
    {CONSUMED, KERNEL, "i0 i0 l1 .0 i0", "0-1w 1-1w 1-1 . . 1-1", "0 1"},
    /* Spreads: $4 is read, too. */
    {SPREAD, ONE_SEGMENT, "a0 a0 i0", "0-1 1-1 1-1w", "1 4"},
    {SPREAD, KERNEL, "i0 i0 i0", "0-1w 1-1w 1-1w", "1"},
    {SPREAD, KERNEL_SPREADS, "i0+ a0 i0", "0-1l 1-1l 1-1w", "1"},
    {SPREAD_REPORTED, ANY_SEGMENTS, "r0+ i0 i0", "1-1 0-0", "1"},
    {SPREAD_REPORTED, KERNEL, "i0 i0 i0", "1-1w 0-0", "1"},
    {SPREAD_REPORTED, KERNEL_SPREADS, "r0+ i0 i0", "1-1l 0-0", "1"},
    /* An INDEX is computed inside where a map reads it, not for a slice. */
    {COUNTED, ONE_SEGMENT, "a0 a0 i0 i0", "0-0 0-0 0-0 1-1w", "1"},
    {COUNTED, ANY_SEGMENTS, "a0 a0 a0 i0", "0-0 0-0 0-0 1-1w", "1 6"},
    {COUNTED, KERNEL, "i0 i0 i0 i0", "0-0 0-0 0-0 1-1w", "1"},
    {SLICE, ONE_SEGMENT, "a0 a0 a0 a0 i0", "0-0 0-0 0-0 0-0 1-1w", "1 7"},
    {SLICE, KERNEL, "i0 i0 i0 i0 i0", "0-0 0-0 0-0 0-0 1-1w", "1"},
    /* A kernel leaves out a node without use, unless it may fail. */
    {UNUSED, ANY_SEGMENTS, "i0 i0 i0 i0", "0-0 . . 1-1w", "0 1"},
    {UNUSED, KERNEL, ".0 .0 i0 i0", ". . . 1-1w", "0"},
};

static void show_nodes(const struct fused_schedule *s, FILE *out) {
  for (uint32_t k = 0; k < s->op->node_count; k++) {
    const bool apart = s->apart[k], only = s->tasks[k] == TASK_NONE && apart;
    const bool twice = apart && (s->tasks[k] == TASK_INSIDE || s->tasks[k] == TASK_REPORTED);
    const char task = only ? 'a' : ".irlt"[s->tasks[k]];
    fprintf(out, "%s%c%u%s", k > 0 ? " " : "", task, s->stages[k], twice ? "+" : "");
  }
}

static void show_values(const struct fused_schedule *s, FILE *out) {
  for (uint32_t v = s->op->param_count; v < s->op->value_count; v++) {
    if (v > s->op->param_count) fputc(' ', out);
    if (s->first_use[v] == SUPEROP_NONE)
      fputc('.', out);
    else
      fprintf(out, "%u-%u", s->first_use[v], s->last_use[v]);
    fprintf(out, "%s%s", s->written[v] ? "w" : "", s->left[v] ? "l" : "");
  }
}

static void show_loads(const struct fused_schedule *s, FILE *out) {
  for (uint32_t stage = 0; stage < s->stage_count; stage++) {
    const char *before = stage > 0 ? "|" : "";
    for (uint32_t v = 0; v < s->op->value_count; v++) {
      if (!fused_schedule_loads(s, stage, v)) continue;
      fprintf(out, "%s%u", before, v);
      before = " ";
    }
  }
}

static void schedule_check_shown(const struct row *row, const struct fused_schedule *s,
                                 void (*show)(const struct fused_schedule *, FILE *),
                                 const char *wanted) {
  char found[400] = "";
  FILE *out = fmemopen(found, sizeof found, "w");
  show(s, out);
  fclose(out);
  cr_expect_str_eq(found, wanted, "%s\n%s: %s, not %s", row->text, target_names[row->target],
                   found, wanted);
}

Test(schedule, of_some_superoperators) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct loaded l;
    load(&l, rows[i].text, wide);
    cr_assert_not_null(l.ops[0], "%s: %s", rows[i].text,
                       l.diags.list.count ? l.diags.list.items[0].message : "");
    const struct fused_schedule s = schedule_for(&l.arena, l.ops[0], wide, rows[i].target);
    schedule_check_shown(&rows[i], &s, show_nodes, rows[i].nodes);
    schedule_check_shown(&rows[i], &s, show_values, rows[i].values);
    schedule_check_shown(&rows[i], &s, show_loads, rows[i].loads);
    unload(&l);
  }
}

/* The segment of a position is needed for DIST, INDEX and what a gather refers to; for a report
 * only if the stage has not looked it up. */
Test(schedule, what_is_looked_up) {
  static const char text[] =
      FORM("$4 = (DIST INT @ $0 $3) $5 = (* INT @ $4 $1) $6 = (< INT @ $1 $1)"
           "(ASSERT \"x\" @ $6 $5 $0) -> $6");
  struct loaded l;
  load(&l, GATHER, wide);
  struct fused_schedule s = schedule_for(&l.arena, l.ops[0], wide, KERNEL);
  cr_expect(fused_schedule_looks_up(&s, 3, TASK_INSIDE));
  cr_expect_not(fused_schedule_looks_up(&s, 2, TASK_INSIDE));
  cr_expect_not(fused_schedule_looks_up(&s, 3, TASK_REPORTED));
  unload(&l);
  load(&l, text, wide);
  s = schedule_for(&l.arena, l.ops[0], wide, KERNEL);
  struct fused_report r;
  fused_schedule_report(&s, 3, &r);
  cr_expect(fused_schedule_looks_up(&s, 3, TASK_REPORTED));
  cr_expect(r.node[0] && r.node[1] && !r.node[2], "$4 and $5");
  cr_expect(r.load[0] && !r.load[1], "$1 is at hand");
  cr_expect(r.lookup[3] && !r.lookup[2]);
  unload(&l);
  load(&l, FORM("$4 = (CONST INT 1) $5 = (DIST INT @ $4 $3) $6 = (+ INT @ $0 $5) -> $6"), wide);
  s = schedule_for(&l.arena, l.ops[0], wide, KERNEL);
  cr_expect_not(fused_schedule_looks_up(&s, 3, TASK_INSIDE),
                "a constant is the same everywhere");
  unload(&l);
}

/* A target with fewer stages than are needed is refused. */
Test(schedule, too_many_stages) {
  for (uint32_t stages = 1; stages <= 4; stages++) {
    struct loaded l;
    struct fused_schedule s;
    load(&l, LATER, wide);
    const struct fused_target target = {.inside = 1U << STEP_MAP, .stages = stages};
    cr_expect_eq(fused_schedule_make(&l.arena, l.ops[0], target, &s), stages >= 3, "%u",
                 stages);
    unload(&l);
  }
}

/* ---- random superoperators, executed ---- */

enum { IN_REGISTERS = 1, IN_MEMORY = 2 };

/* Where each value is while the schedule is executed. */
struct execution {
  const struct superop *op;
  const struct fused_schedule *s;
  const char *name; /* of the target */
  uint8_t at[SUPEROP_VALUES_MAX];
  uint32_t made[SUPEROP_VALUES_MAX]; /* how often its elements came into memory */
  uint32_t ran[SUPEROP_VALUES_MAX];  /* of nodes: how often they were checked */
  uint32_t last[SUPEROP_VALUES_MAX]; /* the last stage that used it, and 1 more; 0: none */
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

/* Node k runs in, or apart before, a stage: what it needs has to be there. */
static void schedule_run_node(struct execution *e, uint32_t k, uint32_t stage, bool inside) {
  const struct superop_node *node = &e->op->nodes[k];
  const uint8_t where = inside ? IN_REGISTERS | IN_MEMORY : IN_MEMORY;
  for (unsigned i = 0; i < node->operand_count; i++) {
    uint32_t v = node->operands[i];
    if (node->role == ROLE_ASSERT && i > 0) continue;
    if (is_combined(node) && i == 1) continue; /* in the function */
    if (is_combined(node) && i == 0) v = schedule_node_of(e->op, v)->operands[0];
    cr_expect((e->at[v] & where) != 0 || schedule_is_constant(e->op, v),
              "%s: node %u of op%u in stage %u needs value %u", e->name, k, e->op->number,
              stage, v);
    if (e->last[v] < stage + 1) e->last[v] = stage + 1;
  }
  if (node->checked) e->ran[k]++;
  for (unsigned r = 0; r < node->result_count; r++) {
    const uint32_t v = node->result + r;
    const bool given = !inside || node->role == ROLE_REDUCE || is_combined(node);
    e->at[v] |= given ? IN_MEMORY : IN_REGISTERS;
    if (given && !(inside && e->s->apart[k])) e->made[v]++;
  }
}

/* A stage stores at its end, and forgets its registers. */
static void end_stage(struct execution *e) {
  for (uint32_t v = e->op->param_count; v < e->op->value_count; v++) {
    if ((e->at[v] & IN_REGISTERS) && e->s->written[v]) {
      e->at[v] |= IN_MEMORY;
      e->made[v]++;
    }
    e->at[v] &= (uint8_t)~IN_REGISTERS;
  }
}

static void schedule_execute(struct execution *e) {
  const struct fused_schedule *s = e->s;
  for (uint32_t v = 0; v < e->op->param_count; v++) e->at[v] = IN_MEMORY;
  for (uint32_t stage = 0; stage <= s->stage_count; stage++) {
    for (uint32_t k = 0; k < e->op->node_count; k++) { /* what is inside as well comes after */
      const uint32_t before = s->stages[k] + (s->tasks[k] == TASK_INSIDE ? 1U : 0U);
      if (s->apart[k] && before == stage) schedule_run_node(e, k, stage, false);
    }
    for (uint32_t k = 0; k < e->op->node_count; k++) {
      if (s->tasks[k] == TASK_INSIDE && s->stages[k] == stage)
        schedule_run_node(e, k, stage, true);
    }
    end_stage(e);
  }
}

static void check_executed(const struct execution *e) {
  const struct superop *op = e->op;
  for (uint32_t i = 0; i < op->output_count; i++)
    cr_expect_eq(e->made[op->outputs[i]], 1, "%s: output %u of op%u is made %u times", e->name,
                 op->outputs[i], op->number, e->made[op->outputs[i]]);
  for (uint32_t v = op->param_count; v < op->value_count; v++)
    cr_expect(e->made[v] <= 1, "%s: value %u of op%u", e->name, v, op->number);
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    cr_expect_eq(e->ran[k], node->checked ? 1 : 0, "%s: node %u of op%u is checked %u times",
                 e->name, k, op->number, e->ran[k]);
    cr_expect(!op->cold[k] || e->s->tasks[k] != TASK_INSIDE, "%s: cold node %u", e->name, k);
    const bool only_reported = e->s->tasks[k] == TASK_REPORTED && !e->s->apart[k];
    if (!e->s->target.drops && node->role != ROLE_CONST)
      cr_expect_eq(only_reported, op->cold[k], "%s: node %u of op%u", e->name, k, op->number);
  }
}

/* The elements that maps read, by the roles of superop.h; what is written is read, or is an
 * output, later. */
static void check_values(const struct execution *e) {
  const struct superop *op = e->op;
  const struct fused_schedule *s = e->s;
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    for (unsigned i = 0; node->role == ROLE_MAP && i < node->operand_count; i++) {
      if (s->tasks[k] != TASK_INSIDE) continue;
      const struct superop_node *from = schedule_node_of(op, node->operands[i]);
      const bool here = from && s->tasks[from - op->nodes] == TASK_INSIDE &&
                        s->stages[from - op->nodes] == s->stages[k];
      cr_expect_eq(fused_schedule_loads(s, s->stages[k], node->operands[i]), !here,
                   "%s: node %u of op%u", e->name, k, op->number);
    }
  }
  for (uint32_t v = 0; v < op->value_count; v++) {
    uint32_t last = e->last[v];
    for (uint32_t i = 0; i < op->output_count; i++) {
      if (op->outputs[i] == v) last = s->stage_count + 1;
    }
    cr_expect_eq(s->last_use[v], last == 0 ? SUPEROP_NONE : last - 1, "%s: value %u of op%u",
                 e->name, v, op->number);
    const struct superop_node *node = schedule_node_of(op, v);
    const bool later = last > 0 && node && last - 1 > s->stages[node - op->nodes];
    cr_expect(!s->written[v] || later, "%s: value %u of op%u is not read", e->name, v,
              op->number);
  }
}

static void schedule_check_random(const struct superop *op, struct widths w) {
  for (int target = 0; target < TARGETS; target++) {
    struct heap heap;
    struct arena arena;
    heap_init(&heap, 0);
    arena_init(&arena, &heap);
    const struct fused_schedule s = schedule_for(&arena, op, w, (enum target)target);
    struct execution *e = calloc(1, sizeof *e);
    e->op = op;
    e->s = &s;
    e->name = target_names[target];
    schedule_execute(e);
    check_executed(e);
    check_values(e);
    free(e);
    arena_free(&arena);
  }
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
  unsigned staged = 0;
  for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
    struct random r;
    random_make(&r, wide, seed, mixtures, sizeof mixtures / sizeof *mixtures, CASES);
    for (uint32_t i = 0; i < CASES; i++) {
      schedule_check_random(r.ops[i], wide);
      staged += schedule_for(&r.arena, r.ops[i], wide, MAPS_ONLY).stage_count > 1;
    }
    random_free(&r);
  }
  cr_expect_gt(staged, 2 * ROUNDS, "%u of several stages", staged);
}
