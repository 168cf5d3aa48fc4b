/* plan.c - which statements are executed, and where each value is. A buffer is free again after
 * the last statement that reads it; what a loop reads stays to its end.
 */
#include <string.h>

#include "cvl-cpu/strips/private.h"

struct planning {
  struct strips *s;
  const struct kernel *k;
  uint32_t *definitions; /* of every value: the statement */
  uint32_t *last;        /* of every value: the last statement that reads it */
  uint32_t *loop_ends;   /* of every statement: the last one of its loop; 0: it is in none */
  bool *live;            /* of every statement: it is executed in strips */
  bool *placed;          /* of every value: a loop has given it a slot */
};

/* ---- what a statement reads ---- */

enum { READS_MOST = KERNEL_OPERANDS + SUPEROP_COLUMNS_MAX };

static uint32_t plan_columns(const struct kernel *k, const struct kernel_statement *s) {
  return s->kind == KERNEL_COMBINE ? superop_combination_at(k->op, s->node).count : 0;
}

/* A check of a range reads the index and the limit, not the flag. */
static uint32_t plan_reads(const struct planning *x, uint32_t k, uint32_t reads[READS_MOST]) {
  const struct kernel_statement *s = &x->k->statements[k];
  const struct strip_statement *of = &x->s->statements[k];
  uint32_t count = 0;
  if (of->index != SUPEROP_NONE) {
    reads[0] = of->index;
    reads[1] = of->limit;
    return 2;
  }
  for (unsigned i = 0; i < s->count; i++) reads[count++] = s->operands[i];
  for (uint32_t i = 0; i < plan_columns(x->k, s); i++) {
    if (x->s->range.columns[of->column + i]) reads[count++] = s->columns[i];
  }
  return count;
}

static const struct kernel_statement *plan_definition(const struct planning *x,
                                                      uint32_t value) {
  return &x->k->statements[x->definitions[value]];
}

static bool is_everywhere(const struct planning *x, uint32_t value) {
  return x->s->range.levels[value] == KERNEL_EVERYWHERE;
}

/* ---- statements ---- */

static uint32_t plan_output(const struct superop *op, uint32_t value) {
  for (uint32_t i = 0; i < op->output_count; i++) {
    if (op->outputs[i] == value) return i;
  }
  return SUPEROP_NONE;
}

static enum cvl_elem elem_of(const struct planning *x, uint32_t value) {
  return superop_elem((enum superop_kind)x->k->types[value], x->s->c->int_elem,
                      x->s->c->float_elem);
}

static void find_rows(const struct planning *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  struct strip_statement *to = &x->s->statements[k];
  if (s->kind != KERNEL_MAP && s->kind != KERNEL_REDUCE) return;
  const enum cvl_op op = superop_info(s->op)->operation;
  const enum cvl_elem elem = elem_of(x, s->operands[s->count - 1]);
  const struct map_rows *rows = x->s->c->map_rows;
  if (s->kind == KERNEL_MAP)
    to->map = rows->row[op][elem_info(elem)->klass].run;
  else
    to->row = &x->s->c->kernels->reduce->row[elem][op];
}

static bool is_map(const struct kernel_statement *s, enum opcode op) {
  return s->kind == KERNEL_MAP && s->op == op;
}

/* Finds checks of 0 <= i and i < n, as indices have, with the same n everywhere. */
static void find_within(const struct planning *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (s->kind != KERNEL_CHECK) return;
  const struct kernel_statement *both = plan_definition(x, s->operands[0]);
  if (!is_map(both, OPC_AND)) return;
  const struct kernel_statement *low = plan_definition(x, both->operands[0]),
                                *high = plan_definition(x, both->operands[1]);
  if (!is_map(low, OPC_GE) || !is_map(high, OPC_LT) || low->word != TW_INT ||
      high->word != TW_INT || low->operands[0] != high->operands[0])
    return;
  const struct kernel_statement *least = plan_definition(x, low->operands[1]);
  if (least->kind != KERNEL_CONSTANT || cvl_int_of(least->constant) != 0) return;
  if (!is_everywhere(x, high->operands[1]) || is_everywhere(x, low->operands[0])) return;
  x->s->statements[k].index = low->operands[0];
  x->s->statements[k].limit = high->operands[1];
}

static bool same_index(const struct kernel_statement *a, const struct kernel_statement *b) {
  bool same = a->kind == KERNEL_GATHER && a->count == b->count && a->near == b->near &&
              a->far == b->far && a->stride == b->stride;
  for (unsigned i = 0; i < b->count; i++) same = same && a->operands[i] == b->operands[i];
  return same;
}

static uint32_t leader_of(const struct kernel *k, uint32_t gather) {
  uint32_t leader = 0;
  while (!same_index(&k->statements[leader], &k->statements[gather])) leader++;
  return leader;
}

/* Whether an index goes on by one within each segment of its descriptor: in pieces. */
static bool is_pointed(const struct planning *x, const struct kernel_statement *s) {
  return (s->kind == KERNEL_GATHER || s->kind == KERNEL_SCATTER) && s->stride != 0 &&
         (x->s->range.one[s->near] || s->near == x->s->range.main);
}

/* What a value of INTs is the same as: an operand that is multiplied by 1, or to which 0 is
 * added. */
static uint32_t same_as(const struct planning *x, const struct kernel_statement *s) {
  if (s->kind != KERNEL_MAP || s->word != TW_INT || (s->op != OPC_MUL && s->op != OPC_ADD))
    return s->value;
  for (unsigned i = 0; i < 2; i++) {
    const struct kernel_statement *of = plan_definition(x, s->operands[i]);
    if (of->kind == KERNEL_CONSTANT && cvl_int_of(of->constant) == (s->op == OPC_MUL))
      return s->operands[1 - i];
  }
  return s->value;
}

/* Statements read what their operands are the same as. */
static void skip_same(const struct planning *x) {
  uint32_t *same = arena_alloc(&x->s->arena, (x->k->values + 1) * sizeof *same);
  for (uint32_t k = 0; k < x->k->count; k++) {
    struct kernel_statement *s = &x->k->statements[k];
    for (unsigned i = 0; i < s->count; i++) s->operands[i] = same[s->operands[i]];
    if (s->value != SUPEROP_NONE) same[s->value] = same_as(x, s);
  }
}

static void describe_statements(struct planning *x) {
  uint32_t columns = 0, combinations = 0;
  uint32_t all = 0;
  for (uint32_t k = 0; k < x->k->count; k++) all += plan_columns(x->k, &x->k->statements[k]);
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    struct strip_statement *to = &x->s->statements[k];
    const bool keeps = s->kind == KERNEL_KEEP;
    *to = (struct strip_statement){
        .output = plan_output(x->s->op, s->output),
        .descriptor = keeps ? plan_output(x->s->op, s->output + 1) : SUPEROP_NONE,
        .column = columns,
        .index_column = all + combinations,
        .leader = s->kind == KERNEL_GATHER ? leader_of(x->k, k) : SUPEROP_NONE,
        .pointed = is_pointed(x, s),
        .index = SUPEROP_NONE,
        .limit = SUPEROP_NONE};
    columns += plan_columns(x->k, s);
    combinations += s->kind == KERNEL_COMBINE;
    find_rows(x, k);
    x->s->pieces |= to->pointed;
    x->s->keeps |= keeps;
    x->s->reduces |= s->kind == KERNEL_REDUCE;
  }
}

static void list_pieces(struct strips *s) {
  s->starts = arena_alloc(&s->arena, (s->kernel->count + 1) * sizeof *s->starts);
  s->pointed = arena_alloc(&s->arena, (s->kernel->count + 1) * sizeof *s->pointed);
  for (uint32_t k = 0; k < s->kernel->count; k++) {
    const struct kernel_statement *of = &s->kernel->statements[k];
    const bool turns = of->kind == KERNEL_MAP && (of->turns || of->moving);
    if (s->statements[k].starts || turns) s->starts[s->start_count++] = k;
    if (s->statements[k].pointed) s->pointed[s->pointed_count++] = k;
  }
}

/* Finds what the indices of what is pointed are made of. */
static void find_starts(const struct planning *x) {
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (!s->starts) continue;
    x->s->statements[k].starts = !is_everywhere(x, s->value);
    for (unsigned i = 0; i < s->count; i++) {
      const uint32_t from = x->definitions[s->operands[i]];
      if (x->k->statements[from].kind == KERNEL_SPREAD)
        x->s->statements[from].starts = !is_everywhere(x, s->operands[i]);
    }
  }
  list_pieces(x->s);
}

static void find_loops(struct planning *x) {
  uint32_t first = 0;
  bool inside = false;
  for (uint32_t k = 0; k < x->k->count; k++) {
    const uint8_t kind = x->k->statements[k].kind;
    if (kind == KERNEL_CARRY && !inside) first = k;
    inside |= kind == KERNEL_CARRY;
    if (kind != KERNEL_NEXT) continue;
    for (uint32_t i = first; i <= k; i++) x->loop_ends[i] = k;
    inside = false;
  }
}

/* ---- what is executed ---- */

static bool is_root(const struct kernel_statement *s) {
  return kernel_writes(s) || s->checked || s->kind == KERNEL_CARRY || s->kind == KERNEL_WHILE ||
         s->kind == KERNEL_NEXT;
}

/* Finds the statements whose values are read, or that may fail. In a piece the indices of what
 * is pointed are known. */
static void find_live(struct planning *x, bool piece) {
  bool *needed = arena_alloc(&x->s->arena, x->k->values + 1);
  for (uint32_t k = x->k->count; k-- > 0;) {
    const struct kernel_statement *s = &x->k->statements[k];
    uint32_t reads[READS_MOST];
    x->live[k] = is_root(s) || (s->value != SUPEROP_NONE && needed[s->value]);
    if (!x->live[k]) continue;
    const bool known = piece && x->s->statements[k].pointed;
    const uint32_t count = plan_reads(x, k, reads);
    for (uint32_t i = 0; i < count; i++)
      needed[reads[i]] |= !known || i != (s->kind == KERNEL_SCATTER);
  }
}

/* Whether a statement is executed once for all strips. */
static bool is_once(const struct planning *x, const struct kernel_statement *s) {
  if (s->value != SUPEROP_NONE) return is_everywhere(x, s->value);
  return s->kind == KERNEL_CHECK && is_everywhere(x, s->operands[0]);
}

static void list_statements(const struct planning *x, bool once, uint32_t **list,
                            uint32_t *count) {
  *list = arena_alloc(&x->s->arena, (x->k->count + 1) * sizeof **list);
  *count = 0;
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    const bool there = s->kind == KERNEL_LOAD || s->kind == KERNEL_REDUCE;
    if (x->live[k] && !there && is_once(x, s) == once) (*list)[(*count)++] = k;
  }
}

/* ---- places ---- */

static bool is_written_at_once(const struct planning *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  return (s->kind == KERNEL_MAP || s->kind == KERNEL_GATHER) && x->loop_ends[k] == 0;
}

static void place(const struct planning *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (s->value == SUPEROP_NONE || !x->live[k]) return;
  struct strip_value *v = &x->s->values[s->value];
  v->place = PLACE_STRIP;
  if (s->kind == KERNEL_LOAD) {
    v->place = PLACE_PARAM;
    v->number = s->param;
  } else if (is_everywhere(x, s->value)) {
    v->place = PLACE_UNIFORM;
    v->number = x->s->buffers++;
  }
}

/* Values that are stored are computed where they go, once; those that are reduced are there
 * for a tile. */
static void place_output(const struct planning *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (s->kind != KERNEL_STORE && s->kind != KERNEL_SCAN && s->kind != KERNEL_REDUCE) return;
  struct strip_value *v = &x->s->values[s->operands[0]];
  v->reduced |= s->kind == KERNEL_REDUCE;
  if (s->kind == KERNEL_REDUCE || v->place != PLACE_STRIP ||
      !is_written_at_once(x, x->definitions[s->operands[0]]))
    return;
  v->place = PLACE_RESULT;
  v->number = x->s->statements[k].output;
}

static void place_values(struct planning *x) {
  struct strips *s = x->s;
  for (uint32_t v = 0; v < x->k->values; v++)
    s->values[v].bytes = (uint8_t)elem_bytes((uint8_t)elem_of(x, v));
  for (uint32_t k = 0; k < x->k->count; k++) place(x, k);
  for (uint32_t k = 0; k < x->k->count; k++) place_output(x, k);
  s->moving = arena_alloc(&s->arena, (x->k->values + 1) * sizeof *s->moving);
  for (uint32_t v = 0; v < x->k->values; v++) {
    struct strip_value *value = &s->values[v];
    if (value->reduced && value->place == PLACE_STRIP) {
      value->place = PLACE_TILE;
      value->number = s->buffers++;
    }
    if (value->place == PLACE_PARAM || value->place == PLACE_RESULT ||
        value->place == PLACE_TILE)
      s->moving[s->moving_count++] = v;
  }
}

/* ---- slots ---- */

/* Slots that are free, as a stack. */
struct slots {
  uint32_t *free, count, made;
};

static uint32_t slot_take(struct slots *s) {
  return s->count ? s->free[--s->count] : s->made++;
}

/* What a loop reads from before it is needed to its end. */
static void find_last(struct planning *x) {
  uint32_t reads[READS_MOST];
  for (uint32_t k = 0; k < x->k->count; k++) {
    const uint32_t end = x->loop_ends[k], count = x->live[k] ? plan_reads(x, k, reads) : 0;
    for (uint32_t i = 0; i < count; i++) {
      const uint32_t definition = x->definitions[reads[i]];
      const bool inside = end != 0 && x->loop_ends[definition] == end &&
                          x->k->statements[definition].kind != KERNEL_CARRY;
      const uint32_t last = end != 0 && !inside ? end : k;
      if (x->last[reads[i]] < last) x->last[reads[i]] = last;
    }
  }
}

/* Decides how a carried value is replaced. */
static void find_advance(struct planning *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  struct strip_statement *to = &x->s->statements[k];
  const uint32_t next = s->operands[1], from = x->definitions[next];
  bool inside =
      x->loop_ends[from] == x->loop_ends[k] && x->k->statements[from].kind == KERNEL_MAP;
  for (uint32_t i = from; i < k; i++) {
    const struct kernel_statement *other = &x->k->statements[i];
    inside = inside && !(other->kind == KERNEL_NEXT && other->operands[1] == next);
  }
  to->advance = next == s->operands[0]                              ? ADVANCE_NOT
                : inside && x->s->values[next].place == PLACE_STRIP ? ADVANCE_SWAP
                                                                    : ADVANCE_COPY;
}

/* The results of a loop, what it exchanges, and copies have buffers from its beginning on:
 * results are written while it runs. */
static void begin_loop(struct planning *x, struct slots *slots, uint32_t first) {
  for (uint32_t k = first; k <= x->loop_ends[first]; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (s->kind != KERNEL_NEXT) continue;
    struct strip_value *v = &x->s->values[s->value];
    if (v->place == PLACE_STRIP) v->number = slot_take(slots);
    if (x->s->statements[k].advance == ADVANCE_COPY)
      x->s->statements[k].spare_slot = slot_take(slots);
    if (x->s->statements[k].advance != ADVANCE_SWAP) continue;
    x->s->values[s->operands[1]].number = slot_take(slots);
    x->placed[s->operands[1]] = true;
  }
}

/* Whether a value is in a slot that is free after statement k. */
static bool ends_at(const struct planning *x, uint32_t value, uint32_t k) {
  return x->s->values[value].place == PLACE_STRIP && x->last[value] == k;
}

/* The operand that a map may overwrite, since this is its last use; or `count`. */
static uint32_t overwritten(const struct planning *x, uint32_t k, const uint32_t *reads,
                            uint32_t count) {
  const struct kernel_statement *s = &x->k->statements[k];
  uint32_t i = s->kind == KERNEL_MAP && x->loop_ends[k] == 0 ? 0 : count;
  while (i < count && !(ends_at(x, reads[i], k) &&
                        x->s->values[reads[i]].bytes == x->s->values[s->value].bytes))
    i++;
  return i;
}

/* Gives the result of a statement a slot, and frees those of operands whose last use this is.
 */
static void assign_slot(struct planning *x, struct slots *slots, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  uint32_t reads[READS_MOST], taken = SUPEROP_NONE;
  const uint32_t count = plan_reads(x, k, reads);
  struct strip_value *v = s->value == SUPEROP_NONE ? NULL : &x->s->values[s->value];
  if (v && v->place == PLACE_STRIP && s->kind != KERNEL_NEXT && !x->placed[s->value]) {
    const uint32_t over = overwritten(x, k, reads, count);
    if (over < count) taken = reads[over];
    v->number = over < count ? x->s->values[taken].number : slot_take(slots);
  }
  for (uint32_t i = 0; i < count; i++) {
    bool again = reads[i] == taken; /* or the same operand twice */
    for (uint32_t j = 0; j < i; j++) again |= reads[j] == reads[i];
    if (!again && ends_at(x, reads[i], k))
      slots->free[slots->count++] = x->s->values[reads[i]].number;
  }
}

/* What a loop has read ends with it. */
static void end_loop(const struct planning *x, struct slots *slots, uint32_t end) {
  for (uint32_t v = 0; v < x->k->values; v++) {
    const bool read_last =
        x->k->statements[end].operands[0] == v || x->k->statements[end].operands[1] == v;
    if (ends_at(x, v, end) && !read_last) slots->free[slots->count++] = x->s->values[v].number;
  }
}

static void assign_slots(struct planning *x) {
  struct slots slots = {
      .free = arena_alloc(&x->s->arena, (2 * x->k->values + 1) * sizeof *slots.free)};
  find_last(x);
  for (uint32_t k = 0; k < x->k->count; k++) {
    if (x->k->statements[k].kind == KERNEL_NEXT) find_advance(x, k);
  }
  uint32_t loop = 0;
  for (uint32_t k = 0; k < x->k->count; k++) {
    if (!x->live[k]) continue;
    if (x->loop_ends[k] > loop) begin_loop(x, &slots, k);
    if (x->loop_ends[k] > loop) loop = x->loop_ends[k];
    assign_slot(x, &slots, k);
    if (k == loop && loop != 0) end_loop(x, &slots, k);
  }
  x->s->slots = slots.made;
  x->s->strip = slots.made > MANY_SLOTS ? STRIP / 2 : STRIP;
}

/* ---- all of it ---- */

static void plan_kernel(struct strips *s) {
  const struct kernel *k = s->kernel;
  struct planning x = {.s = s, .k = k};
  const size_t values = (k->values + 1) * sizeof(uint32_t),
               statements = (k->count + 1) * sizeof(uint32_t);
  s->values = arena_alloc(&s->arena, (k->values + 1) * sizeof *s->values);
  s->statements = arena_alloc(&s->arena, (k->count + 1) * sizeof *s->statements);
  x.definitions = arena_alloc(&s->arena, values);
  x.last = arena_alloc(&s->arena, values);
  x.loop_ends = arena_alloc(&s->arena, statements);
  x.live = arena_alloc(&s->arena, k->count + 1);
  x.placed = arena_alloc(&s->arena, k->values + 1);
  for (uint32_t i = 0; i < k->count; i++) {
    if (k->statements[i].value != SUPEROP_NONE) x.definitions[k->statements[i].value] = i;
  }
  skip_same(&x);
  describe_statements(&x);
  find_loops(&x);
  for (uint32_t i = 0; i < k->count; i++) find_within(&x, i);
  if (s->pieces) {
    find_starts(&x);
    find_live(&x, true);
    list_statements(&x, false, &s->piece_steps, &s->piece_step_count);
  }
  find_live(&x, false);
  list_statements(&x, false, &s->steps, &s->step_count);
  list_statements(&x, true, &s->uniform, &s->uniform_count);
  place_values(&x);
  assign_slots(&x);
}

static bool make(struct strips *s, const bool *one) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return false;
  s->one = memcpy(arena_alloc(&s->arena, s->op->param_count + 1), one, s->op->param_count);
  const bool made = kernel_range_plan_make(&s->arena, s->op, s->one, &s->range);
  if (made) {
    s->kernel = s->range.kernel;
    plan_kernel(s);
  }
  memory_guard_end(&guard);
  return made;
}

struct strips *strips_new(const struct cvl_context *c, const struct superop *op,
                          const bool *one) {
  struct strips *s = heap_alloc(c->heap, sizeof *s);
  if (!s) return NULL;
  memset(s, 0, sizeof *s);
  s->c = c;
  s->op = op;
  arena_init(&s->arena, c->heap);
  if (make(s, one)) return s;
  strips_free(s);
  return NULL;
}

void strips_free(struct strips *s) {
  if (!s) return;
  arena_free(&s->arena);
  heap_free(s->c->heap, s, sizeof *s);
}

bool strips_suit(const struct strips *s, const bool *one) {
  bool suits = true;
  for (uint32_t p = 0; p < s->op->param_count; p++) suits &= !s->one[p] || one[p];
  return suits;
}

const struct kernel_range_plan *strips_plan(const struct strips *s) {
  return &s->range;
}
