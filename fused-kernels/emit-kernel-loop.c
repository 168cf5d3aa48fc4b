/* emit-kernel-loop.c - the kernels of loops: which nodes such a kernel leaves to others, and
 * its text.
 *
 * A thread executes the rounds of its position in registers. A launch is bounded: where a
 * position has not finished, its carried values are stored, and the next launch begins with
 * them. What does not change in a round is computed again instead. So a program can be stopped
 * between launches, and no launch keeps a display waiting.
 *
 * In the text the carried value whose NEXT results in V waits in oV if V is written, else in
 * cV.
 */
#include "fused-kernels/emit-kernel-body.h"

#include "fused-kernels/emit-expression.h"
#include "fused-kernels/emit-kernel-plan.h"

#include <string.h>

/* ---- which nodes ---- */

/* Returns the first node of the last loop before node `end`, or SUPEROP_NONE. */
static uint32_t loop_before(const struct superop *op, uint32_t end) {
  for (uint32_t k = end; k-- > 0;) {
    if (fused_begins_loop(op, k)) return k;
  }
  return SUPEROP_NONE;
}

bool loops_do_the_rest(const struct superop *op) {
  const uint32_t first = loop_before(op, op->node_count);
  if (first == SUPEROP_NONE) return false;
  const uint32_t last = superop_loop_at(op, first).last;
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (fused_is_consumer(&op->nodes[k]) || (k > last && op->nodes[k].checked)) return false;
  }
  return true;
}

/* Marks what the kernels of the loops before node `end` do. */
static void loops_mark_before(const struct superop *op, uint32_t end, bool *is) {
  const uint32_t last = loop_before(op, end);
  if (last == SUPEROP_NONE) return;
  for (uint32_t k = 0; k < last; k++)
    is[k] |= op->nodes[k].checked && !fused_is_consumer(&op->nodes[k]);
  for (uint32_t k = 0; k <= last; k++) {
    if (!fused_begins_loop(op, k)) continue;
    memset(is + k, true, superop_loop_at(op, k).last - k + 1);
  }
}

void loops_mark_elsewhere(const struct superop *op, unsigned leave, bool *is) {
  const uint32_t its = leave >> NODE_SHIFT;
  if (leave & LOOPS_ELSEWHERE) loops_mark_before(op, op->node_count, is);
  if (!(leave & LOOP_BIT)) return;
  loops_mark_before(op, its, is);
  if (leave & LOOP_LAST) return;
  for (uint32_t k = superop_loop_at(op, its).last + 1; k < op->node_count; k++) is[k] = true;
}

/* ---- the plan ---- */

/* Whether NEXT k is of a carried value that changes. */
static bool loop_changes(const struct superop *op, uint32_t k) {
  return op->nodes[k].operands[0] != op->nodes[k].operands[1];
}

void loops_add_members(struct fused_kernel *k, kernel_add_member *add) {
  if (k->loop == SUPEROP_NONE) return;
  const struct superop_loop l = superop_loop_at(k->op, k->loop);
  add(k, MEMBER_LOOP, k->loop, k->op->nodes[l.next].result);
  for (uint32_t i = l.next; i <= l.last; i++) {
    const uint32_t v = k->op->nodes[i].result;
    if (loop_changes(k->op, i) && !k->written[v]) add(k, MEMBER_CARRIED, v, v);
  }
}

/* ---- the text ---- */

void loops_member(const struct body *b, const struct fused_member *m) {
  if (m->kind == MEMBER_LOOP)
    fputs("  ravel::looping loop;\n", b->out);
  else
    fprintf(b->out, "  ravel::ptr<%s> c%u;\n", body_type(b, m->number), m->number);
}

static void loop_evaluate(const struct body *b, uint32_t from, uint32_t end) {
  for (uint32_t k = from; k < end; k++) {
    if (b->k->tasks[k] == TASK_INSIDE) body_evaluate(b, k);
  }
}

/* Writes the loads, or the stores, of the carried values that change. */
static void loop_wait(const struct body *b, const struct superop_loop *l, bool loads) {
  for (uint32_t i = l->next; i <= l->last; i++) {
    const uint32_t to = b->op->nodes[i].result, v = b->op->nodes[i].operands[0];
    const char at = b->k->written[to] ? 'o' : 'c';
    if (!loop_changes(b->op, i)) continue;
    if (loads)
      fprintf(b->out, "      v%u = %c%u[i];\n", v, at, to);
    else
      fprintf(b->out, "      %c%u[i] = v%u;\n", at, to, v);
  }
}

/* Writes what the first round of a launch begins with. */
static void loop_begin(const struct body *b, const struct superop_loop *l) {
  for (uint32_t k = l->first; k < l->first + l->count; k++) {
    const uint32_t v = b->op->nodes[k].result;
    fprintf(b->out, "    %s v%u = v%u;\n", body_type(b, v), v, b->op->nodes[k].operands[0]);
  }
  fputs("    if (loop.resumes != 0) {\n", b->out);
  loop_wait(b, l, true);
  fputs("    }\n", b->out);
}

/* Writes the rounds. A position that is at fault has none: on such values they might not end.
 */
static void loop_rounds(const struct body *b, const struct superop_loop *l) {
  const struct body inner = {b->k, b->op, b->out, "      "};
  fprintf(b->out,
          "    bool on = %s;\n"
          "    ROLLED\n"
          "    for (int32_t left = loop.rounds; on && left > 0; left--) {\n",
          body_is_checked(b->k) ? "fault.kind == 0" : "true");
  loop_evaluate(&inner, l->first + l->count, l->test);
  fprintf(b->out, "      on = v%u != 0;\n      if (!on) break;\n",
          b->op->nodes[l->test].operands[0]);
  loop_evaluate(&inner, l->test + 1, l->next);
  emit_loop_changes(b->op, *l, b->k->widths, inner.indent, b->out);
  fputs("    }\n", b->out);
}

/* Writes how a launch ends for a position: it waits, or it has finished. */
static void loop_end(const struct body *b, const struct superop_loop *l) {
  fputs("    loop.on[i] = on;\n    if (on) {\n", b->out);
  loop_wait(b, l, false);
  fputs("      ravel::atomic_max(loop.last, loop.launch);\n      return;\n    }\n", b->out);
  for (uint32_t k = l->next; k <= l->last; k++) {
    const uint32_t v = b->op->nodes[k].result;
    fprintf(b->out, "    const %s v%u = v%u;\n    (void)v%u;\n", body_type(b, v), v,
            b->op->nodes[k].operands[0], v);
  }
}

void body_loop(const struct body *b) {
  const struct superop_loop l = superop_loop_at(b->op, b->k->loop);
  const bool checked = body_is_checked(b->k);
  fputs("  HERE void operator()(int64_t i) const {\n"
        "    if (loop.resumes != 0 && loop.on[i] == 0) return;\n",
        b->out);
  if (checked) fputs("    ravel::fault_note fault;\n", b->out);
  body_load_operands(b);
  loop_evaluate(b, 0, l.first);
  loop_begin(b, &l);
  loop_rounds(b, &l);
  if (checked) fputs("    fault.report(bad, i);\n", b->out);
  loop_end(b, &l);
  loop_evaluate(b, l.last + 1, b->op->node_count);
  fputs("    put(i, ", b->out);
  body_results(b);
  fputs(");\n  }\n", b->out);
}
