/* imported.c - vectors on memory of the caller, who takes it back by releasing them. */
#include "libravel/private.h"

/* The back end does not read the memory of a value any more. */
static void end_borrowing(void *value) {
  ((struct ravel_value *)value)->borrowed = NULL;
}

bool ravel_is_worth_borrowing(const struct ravel_context *c, enum ravel_element element,
                              size_t length) {
  const enum cvl_elem elem = ravel_elem_for(c, element);
  return ravel_elements_agree(c, element) &&
         length >= RAVEL_WORTH_BORROWING / elem_info(elem)->bytes;
}

enum ravel_code ravel_borrow_vector(struct ravel_context *c, enum ravel_element element,
                                    const void *data, size_t length, struct ravel_value **out) {
  const enum cvl_elem elem = ravel_elem_for(c, element);
  struct ravel_value *v = ravel_value_flat(c, element, data, length);
  if (!v) return c->code;
  v->borrowed = data;
  if (machine_value_import(c->machine, elem, data, length,
                           (struct cvl_notice){end_borrowing, v}, &v->columns[1], c->diags)) {
    *out = v;
    return RAVEL_OK;
  }
  ravel_release(v);
  return ravel_fail_machine(c);
}

enum ravel_code ravel_borrow(struct ravel_context *c, enum ravel_element element,
                             const void *data, size_t length, struct ravel_value **out) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!out) return ravel_fail(c, RAVEL_MISUSE, "a pointer is NULL");
  if (!ravel_is_worth_borrowing(c, element, length)) {
    return ravel_vector(c, element, data, length, out);
  }
  return ravel_borrow_vector(c, element, data, length, out);
}

/* ---- giving back ---- */

/* Copies anyhow: a request to end may not end this, since the copy is kept for another call. */
static bool copy_anyhow(struct ravel_context *c, const void *data, const struct cvl_value *of,
                        uint64_t length, struct cvl_value *copy) {
  const atomic_int *signal = c->stop.signal;
  bool (*progress)(void *) = c->stop.progress;
  const bool refused = atomic_exchange(&c->stop.refused, false);
  struct arena arena;
  struct diag_list unheard;
  arena_init(&arena, &c->message_heap);
  diag_list_init(&unheard, &arena);
  c->stop.signal = NULL;
  c->stop.progress = NULL;
  c->stop.deadline = 0;
  const bool good =
      machine_value_vector(c->machine, (enum cvl_elem)of->elem, data, length, copy, &unheard);
  c->stop.signal = signal;
  c->stop.progress = progress;
  atomic_store(&c->stop.refused, refused);
  arena_free(&arena);
  return good;
}

/* Makes a value that cannot be used any more: without columns. */
static void lose_value(struct ravel_value *v) {
  for (uint32_t i = 0; i < v->count; i++) machine_release(v->context->machine, &v->columns[i]);
  v->lost = true;
}

/* Replaces the old vector by the new one in every column. If there is no new one, the value is
 * lost. */
static void replace_borrowed(struct ravel_context *c, const struct cvl_value *old, bool have,
                             const struct cvl_value *new) {
  for (struct ravel_value *v = c->values; v; v = v->next) {
    for (uint32_t i = 0; i < v->count; i++) {
      struct cvl_value *column = &v->columns[i];
      if (column->form != CVL_VECTOR || column->as.vector != old->as.vector) continue;
      if (!have) {
        lose_value(v);
        break;
      }
      machine_release(c->machine, column);
      *column = *new;
      machine_retain(c->machine, column);
    }
  }
}

/* Copies a vector that others hold. It is counted once more meanwhile, so that it stays the
 * same one. */
static void copy_for_others(struct ravel_value *v, struct cvl_value *vector, uint64_t length) {
  struct ravel_context *c = v->context;
  struct cvl_value copy = {.form = CVL_NOTHING};
  const bool have = copy_anyhow(c, v->borrowed, vector, length, &copy);
  replace_borrowed(c, vector, have, &copy);
  if (have) machine_release(c->machine, &copy);
}

void ravel_drop_columns(struct ravel_value *v) {
  struct ravel_context *c = v->context;
  struct cvl_value vector = {.form = CVL_NOTHING};
  uint64_t length = 0;
  if (v->borrowed) {
    vector = v->columns[1];
    length = v->columns[0].as.one_segment;
  }
  for (uint32_t i = 0; i < v->count; i++) machine_release(c->machine, &v->columns[i]);
  if (v->borrowed) copy_for_others(v, &vector, length);
}
