/* kernel-lanes.c - what would not be vectors, in ranges. A block of positions is executed in
 * phases. Between a phase and the next there is a loop of positions: each of some lanes has a
 * position, all lanes iterate together, and one whose position has finished takes the next. Or
 * the phase has computed sines and the like as if no argument were large; if one is, all of the
 * block are computed anew.
 *
 * hV has the elements of value V of the block that loops or later phases read; cV is a carried
 * value of the lanes; farK says whether an argument is large in the phase that begins with
 * statement K.
 */
#include "fused-kernels/loops/kernel-text.h"

#include <string.h>

/* ---- statements in order ---- */

static bool is_loaded(const struct kernel_statement *s) {
  return s->kind == KERNEL_LOAD || s->kind == KERNEL_CONSTANT || s->kind == KERNEL_SPREAD;
}

/* Loads of other carried values may follow. */
bool is_last_carry(const struct kernel *k, uint32_t at) {
  for (at++; at < k->count; at++) {
    if (k->statements[at].kind == KERNEL_CARRY) return false;
    if (!is_loaded(&k->statements[at])) return true;
  }
  return true;
}

/* Whether large arguments are computed in another way. */
static bool is_two_passes(const struct kernel_statement *s) {
  return s->kind == KERNEL_MAP && (s->op == OPC_SIN || s->op == OPC_COS || s->op == OPC_TAN);
}

static bool has_phases(const struct kernel *k) {
  for (uint32_t i = 0; i < k->count; i++) {
    const struct kernel_statement *s = &k->statements[i];
    if (s->kind == KERNEL_CARRY || is_two_passes(s)) return true;
  }
  return false;
}

void order_phases(struct arena *arena, struct kernel *k) {
  if (!has_phases(k)) return;
  const size_t bytes = k->count * sizeof *k->statements;
  struct kernel_statement *ordered = arena_alloc(arena, bytes);
  struct kernel_statement *carries = arena_alloc(arena, bytes);
  struct kernel_statement *writes = arena_alloc(arena, bytes);
  uint32_t count = 0, carried = 0, written = 0;
  for (uint32_t i = 0; i < k->count; i++) {
    const struct kernel_statement *s = &k->statements[i];
    if (s->kind == KERNEL_CARRY)
      carries[carried++] = *s;
    else if (kernel_writes(s))
      writes[written++] = *s;
    else
      ordered[count++] = *s;
    if (s->kind != KERNEL_CARRY || !is_last_carry(k, i)) continue;
    memcpy(ordered + count, carries, carried * sizeof *carries);
    count += carried;
    carried = 0;
  }
  memcpy(ordered + count, writes, written * sizeof *writes);
  k->statements = ordered;
}

/* ---- what is held for a block ---- */

static bool reads(const struct kernel *k, const struct kernel_statement *s, uint32_t value) {
  const bool combines = s->kind == KERNEL_COMBINE;
  const uint32_t columns = combines ? superop_combination_at(k->op, s->node).count : 0;
  for (unsigned o = 0; o < s->count; o++) {
    if (s->operands[o] == value) return true;
  }
  for (uint32_t i = 0; i < columns; i++) {
    if (s->columns[i] == value) return true;
  }
  return false;
}

/* Whether statements from..end - 1 read a value. */
static bool is_read(const struct kernel *k, uint32_t value, uint32_t from, uint32_t end) {
  for (uint32_t i = from; i < end; i++) {
    if (reads(k, &k->statements[i], value)) return true;
  }
  return false;
}

/* Whether a statement ends the phase before it: it needs what is not final there. */
static bool ends_phase(const struct kernel *k, uint32_t first, uint32_t at) {
  if (k->statements[at].kind == KERNEL_CARRY) return true;
  for (uint32_t i = first; i < at; i++) {
    if (is_two_passes(&k->statements[i]) &&
        reads(k, &k->statements[at], k->statements[i].value))
      return true;
  }
  return false;
}

struct kernel_phase phase_from(const struct kernel *k, uint32_t first) {
  uint32_t end = first;
  while (end < k->count && !ends_phase(k, first, end)) end++;
  return (struct kernel_phase){first, end};
}

/* The statement behind the loop that begins with a statement, if one does. */
static uint32_t loop_end(const struct kernel *k, uint32_t first) {
  uint32_t end = first;
  if (k->statements[first].kind != KERNEL_CARRY) return first;
  while (k->statements[end].kind != KERNEL_NEXT) end++;
  while (end < k->count && k->statements[end].kind == KERNEL_NEXT) end++;
  return end;
}

struct kernel_phase next_phase(const struct kernel *k, struct kernel_phase p) {
  return phase_from(k, loop_end(k, p.end));
}

static void find_held_of(struct kernel_text *x, struct kernel_phase phase) {
  for (uint32_t k = phase.first; k < phase.end; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (s->value == SUPEROP_NONE) continue;
    x->held[s->value] |= is_read(x->k, s->value, phase.end, x->k->count);
    if (is_two_passes(s)) x->held[s->operands[0]] = true;
  }
}

void find_held(struct kernel_text *x, struct arena *arena) {
  x->phases = x->range && has_phases(x->k);
  if (!x->phases) return;
  x->held = arena_alloc(arena, x->k->values + 1);
  for (struct kernel_phase p = phase_from(x->k, 0); p.end < x->k->count;
       p = next_phase(x->k, p)) {
    const uint32_t end = loop_end(x->k, p.end);
    find_held_of(x, p);
    for (uint32_t k = p.end; k < end; k++) {
      const struct kernel_statement *s = &x->k->statements[k];
      if (s->kind == KERNEL_NEXT) x->held[s->value] = is_read(x->k, s->value, end, x->k->count);
    }
  }
}

/* Whether elements of the block are in memory: what is the same for a segment is not. */
static bool is_held(const struct kernel_text *x, uint32_t value) {
  return value != SUPEROP_NONE && x->held[value] && x->levels[value] == KERNEL_OF_POSITION;
}

void take_held(const struct kernel_text *x) {
  for (uint32_t k = 0; k < x->k->count && x->phases; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (is_held(x, s->value)) take_block(x, statement_type(s), "h", s->value);
  }
}

void load_held(const struct kernel_text *x) {
  for (uint32_t k = 0; k < x->phase.first && x->phases; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (is_held(x, s->value) && is_read(x->k, s->value, x->phase.first, x->phase.end))
      put_with(x->out, statement_type(s), "const $w v$0 = h$0[i - from];\n", s->value);
  }
}

void keep_held(const struct kernel_text *x) {
  for (uint32_t k = x->phase.first; k < x->phase.end && x->phases; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (is_held(x, s->value)) put(x->out, "h$0[i - from] = v$0;\n", s->value);
  }
}

/* ---- large arguments ---- */

/* Whether a statement is one of a phase that is computed as if its argument were not large. */
static bool is_near(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  return x->phases && k >= x->phase.first && k < x->phase.end && is_two_passes(s) &&
         is_held(x, s->value);
}

bool print_near(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (!is_near(x, k)) return false;
  put_with(x->out,
           s->op == OPC_SIN   ? "sin"
           : s->op == OPC_COS ? "cos"
                              : "tan",
           "const FLOAT v$0 = NEAR($w, v$1);\nfar$2 |= FAR(v$1);\n", s->value, s->operands[0],
           x->phase.first);
  return true;
}

static bool has_near(const struct kernel_text *x) {
  for (uint32_t k = x->phase.first; k < x->phase.end; k++) {
    if (is_near(x, k)) return true;
  }
  return false;
}

void declare_far(const struct kernel_text *x) {
  if (has_near(x)) put(x->out, "FAR_BITS far$0 = 0;\n", x->phase.first);
}

static void print_far(const struct kernel_text *x) {
  if (!has_near(x)) return;
  put(x->out, "if (far$0) {\nfor (uint64_t j = 0; j < to - from; j++) {\n", x->phase.first);
  for (uint32_t k = x->phase.first; k < x->phase.end; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (!is_near(x, k)) continue;
    const struct snippet argument = numbered("h", s->operands[0]);
    const char *const operand = arena_printf(x->arena, "%s[j]", argument.text);
    put(x->out, "h$0[j] = ", s->value);
    emit_expression(opcode_map_row((enum opcode)s->op, (enum type_word)s->word)->expression, 1,
                    &operand, x->out);
    fputs(";\n", x->out);
  }
  fputs("}\n}\n", x->out);
}

/* ---- the loop ---- */

/* The statement that says what a carried value becomes. */
static const struct kernel_statement *next_of(const struct kernel_text *x, uint32_t k) {
  const uint32_t value = x->k->statements[k].value;
  while (x->k->statements[k].kind != KERNEL_NEXT || x->k->statements[k].operands[0] != value)
    k++;
  return &x->k->statements[k];
}

static void declare_lanes(const struct kernel_text *x, uint32_t first, uint32_t end) {
  fputs("const uint64_t count = to - from;\n"
        "uint64_t place[LOOP_LANES], next = 0;\n"
        "INT on[LOOP_LANES] = {0};\n"
        "for (unsigned j = 0; j < LOOP_LANES; j++) place[j] = count;\n",
        x->out);
  for (uint32_t k = first; k < end; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (s->kind == KERNEL_CARRY)
      put_with(x->out, statement_type(s), "$w c$0[LOOP_LANES] = {0};\n", s->value);
  }
}

static void finish_lane(const struct kernel_text *x, uint32_t first, uint32_t end) {
  fputs("if (!on[j] && place[j] < count) {\n", x->out);
  for (uint32_t k = first; k < end; k++) {
    if (x->k->statements[k].kind != KERNEL_CARRY) continue;
    const uint32_t result = next_of(x, k)->value;
    if (is_held(x, result))
      put(x->out, "h$0[place[j]] = c$1[j];\n", result, x->k->statements[k].value);
  }
  fputs("place[j] = count;\n}\n", x->out);
}

static void begin_lane(const struct kernel_text *x, uint32_t first, uint32_t end) {
  fputs("if (place[j] == count && next < count) {\n", x->out);
  for (uint32_t k = first; k < end; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (s->kind == KERNEL_CARRY)
      put(x->out, is_held(x, s->operands[0]) ? "c$0[j] = h$1[next];\n" : "c$0[j] = v$1;\n",
          s->value, s->operands[0]);
  }
  fputs("on[j] = 1;\nplace[j] = next++;\n}\n", x->out);
}

/* What a lane does in a round. */
static void print_round(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (s->kind == KERNEL_CARRY)
    put_with(x->out, statement_type(s), "const $w v$0 = c$0[j];\n", s->value);
  else if (s->kind == KERNEL_WHILE)
    put(x->out, "const INT stays = v$0 ? on[j] : 0;\non[j] = stays;\n", s->operands[0]);
  else if (s->kind == KERNEL_MAP)
    print_map(x, k);
  else if (s->kind == KERNEL_NEXT && s->operands[0] != s->operands[1])
    put(x->out, "c$0[j] = stays ? v$1 : v$0;\n", s->operands[0], s->operands[1]);
}

/* A lane that has finished waits for at most LOOP_ROUNDS rounds: checking more often would cost
 * more than what it computes in vain. */
static void print_lanes(const struct kernel_text *x, uint32_t first) {
  const uint32_t end = loop_end(x->k, first);
  fputs(x->checks ? "if (bad) return 0;\n{\n" : "{\n", x->out);
  declare_lanes(x, first, end);
  fputs("for (uint64_t turn = 1;; turn++) {\n"
        "unsigned busy = 0;\n"
        "for (unsigned j = 0; j < LOOP_LANES; j++) {\n",
        x->out);
  finish_lane(x, first, end);
  begin_lane(x, first, end);
  fputs("busy += place[j] < count;\n}\n"
        "if (busy == 0) break;\n"
        "if (turn % LOOP_UNASKED == 0 && call->asks && call->asks(call->with)) return 0;\n"
        "for (unsigned round = 0; round < LOOP_ROUNDS; round++) {\n"
        "NATIVE_INDEPENDENT\n"
        "for (unsigned j = 0; j < LOOP_LANES; j++) {\n",
        x->out);
  for (uint32_t k = first; k < end; k++) print_round(x, k);
  fputs("}\n}\n}\n}\n", x->out);
}

void end_phase(const struct kernel_text *x) {
  print_far(x);
  if (x->k->statements[x->phase.end].kind == KERNEL_CARRY) print_lanes(x, x->phase.end);
}
