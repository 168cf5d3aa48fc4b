/* random.c - random stack code and its let-form do the same, and liveness is exact: nothing is
 * used after its last use, and nothing is left when a function ends. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { PROGRAMS = 3000, ITEMS = 6, MAX_STACK = 4096 };

/* ---- programs: M pushes ITEMS integers and calls FN, which knows nothing of them ---- */

struct generator {
  FILE *out;
  uint64_t state;
  int budget; /* statements */
};

static unsigned test_random_below(struct generator *g, unsigned n) {
  g->state = g->state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(g->state >> 33) % n;
}

static int random_statements(struct generator *g, int height, int depth);

/* One arm, brought to `height` items; true if it ends in EXIT instead. */
static bool arm(struct generator *g, int from, int height, int depth) {
  int left = random_statements(g, from, depth);
  if (test_random_below(g, 8) == 0) {
    fputs("EXIT\n", g->out);
    return true;
  }
  for (; left < height; left++) fprintf(g->out, "CONST INT %u\n", test_random_below(g, 1000));
  if (left > height)
    fprintf(g->out, "POP %d %d\n", left - height, (int)test_random_below(g, height + 1));
  return false;
}

static int random_statements(struct generator *g, int height, int depth) {
  for (unsigned n = test_random_below(g, 8); n > 0 && g->budget > 0; n--, g->budget--) {
    int count = (int)test_random_below(g, 3) + 1,
        under = height > count ? (int)test_random_below(g, height - count + 1) : 0;
    unsigned choice = test_random_below(g, 6);
    if (choice == 0 || height < count || height < 2) {
      fprintf(g->out, "CONST INT %u\n", test_random_below(g, 1000));
      height++;
    } else if (choice == 1) {
      fputs("+ INT\n", g->out);
      height--;
    } else if (choice == 2) {
      fprintf(g->out, "COPY %d %d\n", count, under);
      height += count;
    } else if (choice == 3) {
      fprintf(g->out, "POP %d %d\n", count, under);
      height -= count;
    } else if (choice == 4) {
      fprintf(g->out, "CPOP %d %d\n", count, under);
    } else if (depth < 5) {
      int after = (int)test_random_below(g, (unsigned)height + 3);
      fprintf(g->out, "CONST BOOL %s IF\n", test_random_below(g, 2) ? "T" : "F");
      bool exits = arm(g, height, after, depth + 1);
      fputs("ELSE\n", g->out);
      exits &= arm(g, height, after, depth + 1);
      fputs("ENDIF\n", g->out);
      if (exits) return after;
      height = after;
    }
  }
  return height;
}

static void random_generate(char *text, size_t size, uint64_t seed) {
  struct generator g = {.out = fmemopen(text, size, "w"), .state = seed, .budget = 60};
  fputs("FUNC M\n", g.out);
  for (int i = 0; i < ITEMS; i++) fprintf(g.out, "CONST INT %d\n", 1000 + i);
  fputs("CALL FN\nRET\nFUNC FN\n", g.out);
  random_statements(&g, ITEMS, 0);
  fputs("RET\n", g.out);
  fclose(g.out);
}

/* ---- as stack code ---- */

struct result {
  bool exited;
  int64_t items[MAX_STACK];
  size_t count;
};

static int64_t random_constant(const struct vcode_constant *c) {
  return c->type == TW_BOOL ? c->as.bools[0] : c->as.ints[0];
}

static void run_stack(const struct vcode_program *p, uint32_t function, struct result *r) {
  const struct vcode_instruction *code = p->functions[function].code;
  for (uint32_t pc = 0; code[pc].op != OPC_RET && !r->exited; pc++) {
    const struct vcode_instruction *in = &code[pc];
    int64_t *top = r->items + r->count, block[8];
    size_t n = (size_t)in->as.stack.count, k = (size_t)in->as.stack.depth;
    switch (in->op) {
    case OPC_CONST: r->items[r->count++] = random_constant(in->as.constant); break;
    case OPC_ADD:
      top[-2] += top[-1];
      r->count--;
      break;
    case OPC_COPY:
      memcpy(top, top - n - k, n * sizeof *top);
      r->count += n;
      break;
    case OPC_POP:
      memmove(top - n - k, top - k, k * sizeof *top);
      r->count -= n;
      break;
    case OPC_CPOP:
      memcpy(block, top - n - k, n * sizeof *top);
      memmove(top - n - k, top - k, k * sizeof *top);
      memcpy(top - n, block, n * sizeof *top);
      break;
    case OPC_IF:
      if (!r->items[--r->count]) pc = in->as.branch.otherwise;
      break;
    case OPC_ELSE: pc = in->as.branch.end; break;
    case OPC_EXIT: r->exited = true; break;
    case OPC_CALL: run_stack(p, in->as.call.function, r); break;
    default: break;
    }
  }
}

/* ---- as let-form ---- */

enum state { UNBOUND, LIVE, RELEASED };

struct run {
  const struct ir_program *program;
  const char *text; /* for messages */
  bool exited;
};

struct activation {
  const struct ir_function *f;
  int64_t *values;
  uint8_t *states;
};

static int64_t random_use(const struct run *r, struct activation *a, ir_var v, bool last) {
  cr_assert_eq(a->states[v], LIVE, "v%u used while %d in\n%s", v, a->states[v], r->text);
  if (last) a->states[v] = RELEASED;
  return a->values[v];
}

static void random_set(struct activation *a, ir_var v, int64_t value, bool unused) {
  a->values[v] = value;
  a->states[v] = unused ? RELEASED : LIVE;
}

static void expect_nothing_left(const struct run *r, const struct activation *a) {
  for (uint32_t v = 0; v < a->f->var_count; v++)
    cr_assert_neq(a->states[v], LIVE, "v%u is left in\n%s", v, r->text);
}

static void run_function(struct run *, uint32_t f, const int64_t *args, int64_t *results);

static void random_run_block(struct run *r, struct activation *a, const struct ir_block *block,
                             int64_t *results) {
  for (uint32_t i = 0; i < block->drop_count; i++) random_use(r, a, block->drops[i], true);
  for (uint32_t i = 0; i < block->count && !r->exited; i++) {
    const struct ir_binding *x = &block->bindings[i];
    int64_t in[64], out[64] = {0};
    for (uint32_t k = 0; k < x->operand_count; k++)
      in[k] = random_use(r, a, x->operands[k], x->last[k]);
    if (x->form == IR_CONST) out[0] = random_constant(x->as.constant);
    if (x->form == IR_OP) out[0] = in[0] + in[1];
    if (x->form == IR_CALL) run_function(r, x->as.callee, in, out);
    if (x->form == IR_IF)
      random_run_block(r, a, in[0] ? x->as.arms.then : x->as.arms.otherwise, out);
    for (uint32_t k = 0; k < x->result_count; k++)
      random_set(a, x->results[k], out[k], x->unused[k]);
  }
  if (r->exited) return;
  for (uint32_t i = 0; i < block->result_count; i++)
    results[i] = random_use(r, a, block->results[i], block->last[i]);
  if (block->end != IR_EXIT) return;
  r->exited = true;
  expect_nothing_left(r, a);
}

static void run_function(struct run *r, uint32_t f, const int64_t *args, int64_t *results) {
  struct activation a = {.f = &r->program->functions[f]};
  a.values = calloc(a.f->var_count + 1, sizeof *a.values);
  a.states = calloc(a.f->var_count + 1, 1);
  for (uint32_t i = 0; i < a.f->param_count; i++) random_set(&a, i, args[i], a.f->unused[i]);
  random_run_block(r, &a, a.f->body, results);
  if (!r->exited) expect_nothing_left(r, &a);
  free(a.values);
  free(a.states);
}

Test(random, let_form_does_what_stack_code_does) {
  char text[20000];
  unsigned finished = 0;
  for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
    struct fixture t;
    random_generate(text, sizeof text, seed * 0x9e3779b97f4a7c15u);
    fixture_build(&t, text);
    const struct ir_function *entry = function_named(&t, "M");
    cr_assert(entry->typed, "seed %u: %s in\n%s", (unsigned)seed, entry->reason, text);
    struct result *expected = calloc(1, sizeof *expected);
    int64_t got[64];
    struct run run = {.program = t.ir, .text = text};
    run_stack(t.vcode, t.vcode->entry, expected);
    run_function(&run, t.ir->entry, NULL, got);
    cr_assert_eq(run.exited, expected->exited, "seed %u:\n%s", (unsigned)seed, text);
    if (!run.exited) {
      finished++;
      cr_assert_eq(entry->result_count, expected->count, "seed %u:\n%s", (unsigned)seed, text);
      for (size_t i = 0; i < expected->count; i++)
        cr_assert_eq(got[i], expected->items[i], "seed %u, item %zu:\n%s", (unsigned)seed, i,
                     text);
    }
    free(expected);
    fixture_free(&t);
  }
  cr_expect(finished > PROGRAMS / 4, "most programs say something: %u", finished);
}
