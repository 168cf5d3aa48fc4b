/* stack-layout.c - see stack-layout.h. */
#include "fcode-opt/stack-layout.h"

#include <string.h>

/* Marks of variables during one change of layout. */
enum { MOVE = 1, WANTED = 2 };

void code_append(struct arena *arena, struct code_list *list,
                 const struct vcode_instruction *in) {
  struct code_node *node = arena_alloc(arena, sizeof *node);
  node->in = *in;
  if (list->last)
    list->last->next = node;
  else
    list->first = node;
  list->last = node;
  list->count++;
}

/* ---- instructions that change the layout ---- */

static void layout_write(struct stack_layout *l, const struct vcode_instruction *in) {
  l->written++;
  if (l->out) code_append(l->arena, l->out, in);
}

static void write_stack(struct stack_layout *l, enum opcode op, uint32_t count,
                        uint32_t depth) {
  struct vcode_instruction in = {.op = (uint16_t)op, .type = TW_NONE};
  in.as.stack.count = count;
  in.as.stack.depth = depth;
  layout_write(l, &in);
}

static void layout_reserve(struct stack_layout *l, uint32_t count) {
  if (l->count + count <= l->capacity) return;
  uint32_t capacity = l->capacity * 2 > l->count + count ? l->capacity * 2 : l->count + count;
  ir_var *items = arena_alloc(l->arena, capacity * sizeof *items);
  if (l->count > 0) memcpy(items, l->items, l->count * sizeof *items);
  l->items = items;
  l->capacity = capacity;
}

void layout_push(struct stack_layout *l, ir_var v) {
  layout_reserve(l, 1);
  l->items[l->count++] = v;
}

void layout_set(struct stack_layout *l, const ir_var *items, uint32_t count) {
  l->count = 0;
  layout_reserve(l, count);
  if (count > 0) memcpy(l->items, items, count * sizeof *items);
  l->count = count;
}

/* Copies items [at, at + n) to the top. */
static void write_copy(struct stack_layout *l, uint32_t at, uint32_t n) {
  write_stack(l, OPC_COPY, n, l->count - at - n);
  layout_reserve(l, n);
  memcpy(l->items + l->count, l->items + at, n * sizeof *l->items);
  l->count += n;
}

/* Removes items [at, at + n). */
static void pop_items(struct stack_layout *l, uint32_t at, uint32_t n) {
  write_stack(l, OPC_POP, n, l->count - at - n);
  memmove(l->items + at, l->items + at + n, (l->count - at - n) * sizeof *l->items);
  l->count -= n;
}

/* Moves items [at, at + n) to the top. */
static void move_items(struct stack_layout *l, uint32_t at, uint32_t n) {
  if (at + n == l->count) return;
  write_stack(l, OPC_CPOP, n, l->count - at - n);
  layout_reserve(l, n);
  memcpy(l->items + l->count, l->items + at, n * sizeof *l->items);
  memmove(l->items + at, l->items + at + n, (l->count - at) * sizeof *l->items);
}

static void write_constant(struct stack_layout *l, ir_var v) {
  const struct ir_binding *x = l->constants[v];
  struct vcode_instruction in = {
      .op = OPC_CONST, .type = TW_NONE, .pos = x->pos, .as.constant = x->as.constant};
  layout_write(l, &in);
  layout_push(l, v);
}

/* ---- bringing items to the top ---- */

/* The index of v, which is on the stack; the search starts at the top. */
static uint32_t depth_of_item(const struct stack_layout *l, ir_var v) {
  uint32_t at = l->count - 1;
  while (l->items[at] != v) at--;
  return at;
}

/* More items in one CPOP corrupt the memory of the reference interpreter (VCODE specification,
 * section 10.1). */
enum { MOVED_AT_ONCE = 100 };

/* How many of wanted[0 .. count) are adjacent on the stack from `at` on, and all moved or all
 * copied. Moving clears the mark: a variable that is wanted again is copied. */
static uint32_t group_moved(struct stack_layout *l, uint32_t at, const ir_var *wanted,
                            uint32_t count) {
  uint32_t n = 0;
  bool move = l->marks[wanted[0]] & MOVE;
  if (move && count > MOVED_AT_ONCE) count = MOVED_AT_ONCE;
  while (n < count && at + n < l->count && l->items[at + n] == wanted[n] &&
         !l->constants[wanted[n]] && ((l->marks[wanted[n]] & MOVE) != 0) == move) {
    l->marks[wanted[n]] &= (uint8_t)~MOVE;
    n++;
  }
  return n;
}

static void bring(struct stack_layout *l, const ir_var *wanted, uint32_t count) {
  for (uint32_t i = 0; i < count;) {
    if (l->constants[wanted[i]]) {
      write_constant(l, wanted[i++]);
      continue;
    }
    bool move = l->marks[wanted[i]] & MOVE;
    uint32_t at = depth_of_item(l, wanted[i]);
    uint32_t n = group_moved(l, at, wanted + i, count - i);
    if (move)
      move_items(l, at, n);
    else
      write_copy(l, at, n);
    i += n;
  }
}

void layout_operands(struct stack_layout *l, const ir_var *operands, const bool *last,
                     uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (last[i]) l->marks[operands[i]] = MOVE;
  }
  /* The first operands that are moved and already on top, in order, stay. */
  uint32_t at = l->count, kept = 0;
  while (at > 0 && (l->marks[l->items[at - 1]] & MOVE)) at--;
  for (; at < l->count && kept < count; at++) {
    if (l->items[at] == operands[kept]) l->marks[operands[kept++]] = 0;
  }
  bring(l, operands + kept, count - kept);
  for (uint32_t i = 0; i < count; i++) l->marks[operands[i]] = 0;
}

/* ---- removing ---- */

/* Pops the items that have (or have not) the mark WANTED from the top, adjacent ones together.
 */
static void pop_marked(struct stack_layout *l, uint8_t mark) {
  for (uint32_t end = l->count; end > 0;) {
    uint32_t start = end;
    while (start > 0 && (l->marks[l->items[start - 1]] & WANTED) == mark) start--;
    if (start < end) pop_items(l, start, end - start);
    end = start > 0 ? start - 1 : 0;
  }
}

void layout_drop(struct stack_layout *l, const ir_var *vars, uint32_t count) {
  if (count == 0) return;
  for (uint32_t i = 0; i < count; i++) l->marks[vars[i]] = WANTED;
  pop_marked(l, WANTED);
  for (uint32_t i = 0; i < count; i++) l->marks[vars[i]] = 0;
}

/* ---- another order ---- */

/* One candidate: items that are not wanted are popped first, or last. The longest prefix of
 * `wanted` that is on the stack in this order stays; the other wanted items are moved above it.
 */
static void arrange(struct stack_layout *l, const ir_var *wanted, uint32_t count,
                    bool pop_first) {
  for (uint32_t i = 0; i < count; i++) l->marks[wanted[i]] = MOVE | WANTED;
  if (pop_first) pop_marked(l, 0);
  uint32_t kept = 0;
  for (uint32_t at = 0; at < l->count && kept < count; at++) {
    if (l->items[at] == wanted[kept]) l->marks[wanted[kept++]] &= (uint8_t)~MOVE;
  }
  bring(l, wanted + kept, count - kept);
  if (!pop_first) pop_marked(l, 0);
  for (uint32_t i = 0; i < count; i++) l->marks[wanted[i]] = 0;
}

/* A copy of the layout that writes nothing. */
static struct stack_layout trial(const struct stack_layout *l, const ir_var *items,
                                 uint32_t count) {
  struct stack_layout copy = *l;
  copy.arena = l->trial;
  copy.out = NULL;
  copy.written = 0;
  copy.items = NULL;
  copy.count = copy.capacity = 0;
  layout_set(&copy, items, count);
  return copy;
}

static uint32_t trial_arrange(const struct stack_layout *l, const ir_var *items,
                              uint32_t item_count, const ir_var *wanted, uint32_t count,
                              bool pop_first) {
  struct stack_layout copy = trial(l, items, item_count);
  arrange(&copy, wanted, count, pop_first);
  return copy.written;
}

void layout_arrange(struct stack_layout *l, const ir_var *wanted, uint32_t count) {
  if (l->count == count &&
      (count == 0 || memcmp(l->items, wanted, count * sizeof *wanted) == 0)) {
    return;
  }
  bool pop_first = trial_arrange(l, l->items, l->count, wanted, count, true) <=
                   trial_arrange(l, l->items, l->count, wanted, count, false);
  arrange(l, wanted, count, pop_first);
}

uint32_t layout_cost(const struct stack_layout *l, const ir_var *items, uint32_t item_count,
                     const ir_var *wanted, const bool *last, uint32_t count) {
  if (last) {
    struct stack_layout copy = trial(l, items, item_count);
    layout_operands(&copy, wanted, last, count);
    return copy.written;
  }
  uint32_t first = trial_arrange(l, items, item_count, wanted, count, true);
  uint32_t later = trial_arrange(l, items, item_count, wanted, count, false);
  return first < later ? first : later;
}
