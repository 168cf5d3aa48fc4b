/* explain.c - reports what fusion did and did not do: per function each superoperator as a
 * formula with its source lines, every vector that is still written to memory between two
 * operations that can be fused and the reason, passes and bytes before and after.
 *
 *     function DOT
 *       OP0, lines 4 to 6: sum by $2 ($0 * $1)
 *       line 9: the result of + INT is in memory: RANK_UP INT cannot be fused
 *       3 passes over memory became 1; 56 bytes per element became 16
 *
 * Bytes are those read and written per element of the domain; a value per segment counts as 0.
 * Operations on known scalars are not counted.
 */
#include "fcode-opt/explain.h"

#include "fused-kernels/fused.h"
#include <string.h>

struct traffic {
  uint64_t passes;
  double bytes;
};

struct explain {
  struct opt *o;
  FILE *out;
  bool said; /* the name of the function has been printed */
  const char *name;
  struct traffic before, after, all_before, all_after;
};

enum { FORMULA_MOST = 400 }; /* bytes of a line */

struct explain *explain_make(struct opt *o) {
  struct explain *e = arena_alloc(o->scratch, sizeof *e);
  e->o = o;
  e->out = o->explain;
  return e;
}

void explain_begin(struct explain *e, const struct fuse *fuse) {
  e->said = false;
  e->name = fuse->f->name->text;
  e->before = e->after = (struct traffic){0};
}

/* The name of the function is printed before its first line. */
static FILE *explain_line(struct explain *e) {
  if (!e->said) fprintf(e->out, "function %s\n", e->name);
  e->said = true;
  return e->out;
}

/* Returns the text of an operation: "+ INT". */
static const char *explain_operation(struct explain *e, const struct ir_binding *x) {
  const char *word = x->form == IR_OP ? type_word_text((enum type_word)x->type) : "";
  const struct superop *op = fuse_combination(e->o->program, x);
  if (op) return superop_info(op->nodes[op->node_count - 1].op)->spelling;
  return arena_printf(e->o->scratch, "%s%s%s", opcode_info(x->op)->spelling, *word ? " " : "",
                      word);
}

/* ---- traffic ---- */

static double written_bytes(const struct fuse *fuse, const struct fuse_unit *u) {
  const uint32_t count = u->role == ROLE_PACK ? 1 : u->x->result_count;
  double bytes = 0;
  if (u->role == ROLE_REDUCE || u->role == ROLE_COMBINE_REDUCE) return 0;
  for (uint32_t i = 0; i < count; i++) bytes += fuse_bytes(fuse, u->x->results[i]);
  return bytes;
}

/* Returns the bytes per element that one operation by itself reads and writes. */
static double traffic_of(const struct fuse *fuse, const struct fuse_unit *u) {
  double bytes = written_bytes(fuse, u);
  for (uint32_t i = 0; i < u->x->operand_count; i++) {
    if (u->access[i] == 'd' || u->access[i] == 'p')
      bytes += fuse_bytes(fuse, u->x->operands[i]);
  }
  return bytes;
}

static bool is_written_to_memory(const struct fuse_block *b, const struct fuse_unit *u) {
  bool any = false;
  for (uint32_t i = 0; i < u->x->result_count; i++) any |= b->wanted[u->x->results[i]];
  return any;
}

/* Returns the bytes per element that an item reads and writes, each vector once. */
static double traffic_of_item(const struct fuse_block *b, const struct fuse_item *it) {
  struct fuse *fuse = b->fuse;
  double bytes = 0;
  fuse->stamp++;
  for (uint32_t k = it->first; k < it->first + it->count; k++) {
    const struct fuse_member *m = &b->members.items[k];
    enum superop_role role;
    const char *access = fuse_form(fuse->o->scratch, fuse->o->program, m->x, &role);
    for (uint32_t i = 0; i < m->x->operand_count; i++) {
      ir_var v = m->x->operands[i];
      if ((access[i] != 'd' && access[i] != 'p') || fuse->seen[v] == fuse->stamp) continue;
      fuse->seen[v] = fuse->stamp;
      bytes += fuse_bytes(fuse, v);
    }
    for (uint32_t i = 0; i < m->x->result_count; i++)
      fuse->seen[m->x->results[i]] = fuse->stamp;
    if (m->unit == NO_UNIT) continue;
    const struct fuse_unit *u = &b->list[m->unit];
    if (&b->items.items[u->item] == it && is_written_to_memory(b, u))
      bytes += written_bytes(fuse, u);
  }
  return bytes;
}

/* ---- superoperators ---- */

static void explain_superop(struct explain *e, const struct fuse_block *b,
                            const struct fuse_item *it) {
  const struct superop *op = b->fuse->superops.items[it->superop];
  uint32_t first = UINT32_MAX, last = 0;
  for (uint32_t k = it->first; k < it->first + it->count; k++) {
    uint32_t l = b->members.items[k].x->pos.line;
    if (l < first) first = l;
    if (l > last) last = l;
  }
  char formula[FORMULA_MOST];
  fused_formula(op, formula, sizeof formula);
  if (first == last) {
    fprintf(explain_line(e), "  OP%u, line %u: %s\n", op->number, first, formula);
  } else {
    fprintf(explain_line(e), "  OP%u, lines %u to %u: %s\n", op->number, first, last, formula);
  }
}

/* ---- reasons ---- */

/* Returns the reason why a use that can be fused is not in the superoperator of the definition.
 */
static const char *reason_apart(struct explain *e, const struct fuse_block *b,
                                const struct fuse_unit *def, const struct fuse_unit *user,
                                char access) {
  const char *name = explain_operation(e, user->x);
  struct arena *a = e->o->scratch;
  if (access != 'd') return arena_printf(a, "%s does not use it elementwise", name);
  if (def->domain != user->domain)
    return arena_printf(a, "its length and that of %s are not known to agree", name);
  if (def->epoch != user->epoch) return arena_printf(a, "a timer comes before %s", name);
  uint32_t stage = 0; /* the least that its operands allow */
  for (uint32_t i = 0; i < user->x->operand_count; i++) {
    const struct fuse_unit *of = fuse_definition(b, user->x->operands[i]);
    if (!of) continue;
    uint32_t least = of->stage + (of->access && !fuse_elementwise(of, user, user->access[i]));
    if (least > stage) stage = least;
  }
  if (user->stage <= stage)
    return arena_printf(a, "%s needs the result of another pass first", name);
  const struct fuse_unit *before =
      user->ordered_before != NO_UNIT ? &b->list[user->ordered_before] : NULL;
  if (before && before->stage + 1 >= user->stage)
    return arena_printf(a, "%s keeps its order with %s in line %u, which may fail", name,
                        explain_operation(e, before->x), before->x->pos.line);
  return arena_printf(a, "%s has other segments, or the superoperator is full", name);
}

static const char *reason_of(struct explain *e, const struct fuse_block *b,
                             const struct fuse_unit *def, const struct fuse_unit *user,
                             uint32_t operand) {
  const struct ir_binding *x = user->x;
  struct arena *a = e->o->scratch;
  switch ((enum ir_form)x->form) {
  case IR_CALL:
    return arena_printf(a, "used by a call of %s",
                        e->o->program->functions[x->as.callee].name->text);
  case IR_IF: return "used by an IF";
  case IR_FUSED:
    if (user->access) break;
    return "used by a superoperator of the file";
  case IR_CONST:
  case IR_OP: break;
  }
  if (!user->access) return arena_printf(a, "%s cannot be fused", explain_operation(e, x));
  return reason_apart(e, b, def, user, fuse_access(user, operand));
}

static void explain_value(struct explain *e, const struct fuse_block *b, ir_var v,
                          const char *reason) {
  const struct fuse_unit *def = fuse_definition(b, v);
  if (!def || !def->access || !def->stays || !fuse_is_producer(def->role)) return;
  if (b->fuse->seen[v] == b->fuse->stamp) return;
  b->fuse->seen[v] = b->fuse->stamp;
  fprintf(explain_line(e), "  line %u: the result of %s is in memory: %s\n", def->x->pos.line,
          explain_operation(e, def->x), reason);
}

static void explain_values(struct explain *e, const struct fuse_block *b) {
  b->fuse->stamp++;
  for (uint32_t i = 0; i < b->count; i++) {
    const struct fuse_unit *user = &b->list[i];
    if (!user->stays) continue;
    for (uint32_t k = 0; k < user->x->operand_count; k++) {
      ir_var v = user->x->operands[k];
      const struct fuse_unit *def = fuse_definition(b, v);
      if (def && b->wanted[v] && def->item != user->item)
        explain_value(e, b, v, reason_of(e, b, def, user, k));
    }
    for (uint32_t k = 0; k < user->free_count; k++)
      explain_value(e, b, user->free[k], "used in an arm of an IF");
  }
  for (uint32_t k = 0; k < b->block->result_count; k++)
    explain_value(e, b, b->block->results[k],
                  b->block == b->fuse->f->body ? "a result of the function"
                                               : "a result of the arm");
}

/* ---- the whole ---- */

void explain_block(struct explain *e, const struct fuse_block *b) {
  for (uint32_t i = 0; i < b->count; i++) {
    if (!b->list[i].access) continue;
    e->before.passes++;
    e->before.bytes += traffic_of(b->fuse, &b->list[i]);
  }
  for (uint32_t i = 0; i < b->items.count; i++) {
    const struct fuse_item *it = &b->items.items[i];
    if (it->unit != NO_UNIT && !b->list[it->unit].access) continue;
    e->after.passes++;
    if (it->unit != NO_UNIT) {
      e->after.bytes += traffic_of(b->fuse, &b->list[it->unit]);
    } else {
      explain_superop(e, b, it);
      e->after.bytes += traffic_of_item(b, it);
    }
  }
  explain_values(e, b);
}

static void explain_traffic(FILE *out, const struct traffic *before,
                            const struct traffic *after) {
  fprintf(out, "%llu pass%s over memory became %llu; %.0f bytes per element became %.0f\n",
          (unsigned long long)before->passes, before->passes == 1 ? "" : "es",
          (unsigned long long)after->passes, before->bytes, after->bytes);
}

void explain_end(struct explain *e, const struct fuse *fuse) {
  (void)fuse;
  e->all_before.passes += e->before.passes;
  e->all_before.bytes += e->before.bytes;
  e->all_after.passes += e->after.passes;
  e->all_after.bytes += e->after.bytes;
  if (e->before.passes == 0) return;
  fputs("  ", explain_line(e));
  explain_traffic(e->out, &e->before, &e->after);
}

void explain_total(const struct explain *e) {
  fputs("program: ", e->out);
  explain_traffic(e->out, &e->all_before, &e->all_after);
}
