/* layout.c - what the columns of a value are: made once for each type. */
#include "libravel/private.h"

struct walk {
  struct arena *scratch;
  struct ravel_layout *layout;
  uint32_t at;
};

static uint32_t add(struct walk *w, enum type_tag tag, uint32_t within) {
  w->layout->columns[w->at] = (struct ravel_layout_column){(uint8_t)tag, within};
  if (tag != TYPE_SEQUENCE || within != RAVEL_WHOLE) w->layout->count++;
  return w->at++;
}

/* The columns of instances of a type, as many as the lengths `within` say together. */
static void walk(struct walk *w, struct type *t, uint32_t within) {
  t = type_of(t);
  if (t->tag == TYPE_DATA) {
    walk(w, type_contents(w->scratch, t), within);
  } else if (t->tag == TYPE_PAIR) {
    walk(w, t->part[0], within);
    walk(w, t->part[1], within);
  } else if (t->tag == TYPE_SEQUENCE) {
    walk(w, t->part[0], add(w, TYPE_SEQUENCE, within));
  } else {
    add(w, (enum type_tag)t->tag, within);
  }
}

static enum ravel_code make(struct ravel_context *c, void *data) {
  struct ravel_type *kept = data;
  struct walk w = {.scratch = c->session->arena};
  w.layout = arena_alloc(&c->type_region->arena,
                         sizeof *w.layout + kept->columns * sizeof *w.layout->columns);
  walk(&w, &kept->type, RAVEL_WHOLE);
  kept->layout = w.layout;
  return RAVEL_OK;
}

const struct ravel_layout *ravel_layout_of(struct ravel_context *c, struct type *type) {
  struct ravel_type *kept = (struct ravel_type *)type;
  if (!kept->layout) (void)ravel_in_form(c, make, kept);
  return kept->layout;
}
