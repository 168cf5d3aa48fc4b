/* symbolic.c - see symbolic.h. */
#include "ir/symbolic.h"

#include <stdlib.h>
#include <string.h>

/* A stack of more items is a runaway COPY, not a program: the function is run checked. */
enum { MAX_ITEMS = 1 << 22 };

void sym_reset(struct sym_stack *s, struct arena *arena) {
  s->arena = arena;
  s->above.count = s->below.count = s->trail.count = 0;
  s->height = s->high = 0;
  s->arm = s->arms = 0;
  s->high = INT64_MIN; /* outside all arms nothing need be remembered */
}

static struct sym_slot *slot(struct sym_stack *s, int64_t position) {
  return position >= 0 ? &s->above.items[position] : &s->below.items[-1 - position];
}

ir_var sym_get(struct sym_stack *s, int64_t position) {
  return slot(s, position)->var;
}

void sym_put(struct sym_stack *s, int64_t position, ir_var var) {
  while (position >= (int64_t)s->above.count)
    *array_push(s->arena, &s->above) = (struct sym_slot){UINT32_MAX, 0};
  struct sym_slot *at = slot(s, position);
  s->moved++;
  if (at->var == var) return;
  if (position < s->high && at->arm != s->arm) {
    *array_push(s->arena, &s->trail) = (struct sym_change){position, *at};
    at->arm = s->arm;
  }
  at->var = var;
}

bool sym_need(struct sym_stack *s, int64_t n) {
  int64_t params = n - s->height; /* the deepest position needed is -params */
  if (params > MAX_ITEMS) return false;
  while ((int64_t)s->below.count < params) {
    ir_var param = PARAM_BIT | (uint32_t)s->below.count;
    *array_push(s->arena, &s->below) = (struct sym_slot){param, 0};
  }
  return true;
}

bool sym_push(struct sym_stack *s, ir_var var) {
  if (s->height >= MAX_ITEMS) return false;
  sym_put(s, s->height, var);
  s->height++;
  return true;
}

ir_var sym_pop(struct sym_stack *s) {
  return sym_get(s, --s->height);
}

void sym_set_height(struct sym_stack *s, int64_t height) {
  s->height = height;
}

bool sym_copy(struct sym_stack *s, int64_t count, int64_t depth) {
  if (!sym_need(s, count + depth)) return false;
  int64_t from = s->height - (count + depth);
  for (int64_t i = 0; i < count; i++) {
    if (!sym_push(s, sym_get(s, from + i))) return false;
  }
  return true;
}

bool sym_remove(struct sym_stack *s, int64_t count, int64_t depth) {
  if (!sym_need(s, count + depth)) return false;
  int64_t to = s->height - (count + depth);
  for (int64_t i = 0; i < depth && count > 0; i++)
    sym_put(s, to + i, sym_get(s, to + count + i));
  s->height -= count;
  return true;
}

bool sym_move(struct sym_stack *s, int64_t count, int64_t depth) {
  if (!sym_need(s, count + depth)) return false;
  if (count == 0 || depth == 0) return true;
  int64_t to = s->height - (count + depth);
  s->moving.count = 0;
  for (int64_t i = 0; i < count; i++) *array_push(s->arena, &s->moving) = sym_get(s, to + i);
  for (int64_t i = 0; i < depth; i++) sym_put(s, to + i, sym_get(s, to + count + i));
  for (int64_t i = 0; i < count; i++) sym_put(s, to + depth + i, s->moving.items[i]);
  return true;
}

struct sym_arm sym_begin_arm(struct sym_stack *s) {
  struct sym_arm arm = {
      .number = ++s->arms,
      .outer_number = s->arm,
      .outer_high = s->high,
      .high = s->height > s->high ? s->height : s->high,
      .height = s->height,
      .trail = s->trail.count,
  };
  s->arm = arm.number;
  s->high = arm.high;
  return arm;
}

static int by_stack_position(const void *a, const void *b) {
  const struct sym_item *x = a, *y = b;
  return (x->position > y->position) - (x->position < y->position);
}

void sym_end_arm(struct sym_stack *s, const struct sym_arm *arm, struct sym_items *left,
                 int64_t *height) {
  if (left) {
    size_t start = left->list.count;
    *height = s->height;
    for (size_t i = arm->trail; i < s->trail.count; i++) {
      int64_t position = s->trail.items[i].position;
      if (position < s->height)
        *array_push(s->arena, &left->list) = (struct sym_item){position, sym_get(s, position)};
    }
    if (left->list.count - start > 1)
      qsort(left->list.items + start, left->list.count - start, sizeof(struct sym_item),
            by_stack_position);
    for (int64_t p = arm->high; p < s->height; p++)
      *array_push(s->arena, &left->list) = (struct sym_item){p, sym_get(s, p)};
  }
  while (s->trail.count > arm->trail) {
    struct sym_change *change = &s->trail.items[--s->trail.count];
    *slot(s, change->position) = change->before;
  }
  s->height = arm->height;
  s->arm = arm->outer_number;
  s->high = arm->outer_high;
}
