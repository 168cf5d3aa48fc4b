/* value.c - counting references to values, and pairs. */
#include "vinterp/machine/value.h"

enum ir_kind_tag value_kind(const struct value *v) {
  if (v->form == VALUE_PAIR) return IR_PAIR;
  if (value_is_segdes(v)) return IR_SEGDES;
  switch (elem_info((enum cvl_elem)v->flat.elem)->klass) {
  case CLASS_INT: return IR_INT;
  case CLASS_FLOAT: return IR_FLOAT;
  case CLASS_BOOL: break;
  }
  return IR_BOOL;
}

void value_retain(const struct value_store *store, const struct value *v) {
  if (v->form == VALUE_PAIR) {
    v->pair->references++;
  } else if (value_is_counted(v)) {
    store->backend->retain(store->context, &v->flat);
  }
}

/* Gives up one reference of v. A pair that nobody holds any more goes on the list of dead
 * ones. */
static void value_give_up(const struct value_store *store, struct value *v,
                          struct pair **dead) {
  if (v->form == VALUE_PAIR) {
    if (--v->pair->references == 0) {
      v->pair->next_dead = *dead;
      *dead = v->pair;
    }
  } else if (value_is_counted(v)) {
    store->backend->release(store->context, &v->flat);
  }
  v->form = CVL_NOTHING;
}

void value_release(const struct value_store *store, struct value *v) {
  struct pair *dead = NULL;
  value_give_up(store, v, &dead);
  while (dead) {
    struct pair *pair = dead;
    dead = pair->next_dead;
    value_give_up(store, &pair->left, &dead);
    value_give_up(store, &pair->right, &dead);
    heap_free(store->heap, pair, sizeof *pair);
  }
}

bool value_pair(const struct value_store *store, const struct value *left,
                const struct value *right, struct value *out) {
  struct pair *pair = heap_alloc(store->heap, sizeof *pair);
  if (!pair) return false;
  *pair = (struct pair){.references = 1, .left = *left, .right = *right};
  *out = (struct value){.pair_form = VALUE_PAIR, .pair = pair};
  return true;
}

void value_unpair(const struct value_store *store, struct value *v, struct value *left,
                  struct value *right) {
  struct pair *pair = v->pair;
  *left = pair->left;
  *right = pair->right;
  if (pair->references == 1) {
    heap_free(store->heap, pair, sizeof *pair);
  } else {
    pair->references--;
    value_retain(store, left);
    value_retain(store, right);
  }
}
