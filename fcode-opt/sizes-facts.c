/* sizes-facts.c - see sizes-facts.h. */
#include "fcode-opt/sizes-facts.h"

#include <string.h>

static const struct fact_first no_first = {NO_TERM, UINT32_MAX};

static struct fact_term new_term(uint32_t t) {
  return (struct fact_term){.parent = t,
                            .weight = 1,
                            .least = t,
                            .vector = no_first,
                            .descriptor = no_first,
                            .assumed = t};
}

static void add_term(struct facts *f) {
  uint32_t t = (uint32_t)f->terms.count;
  *array_push(f->arena, &f->terms) = new_term(t);
}

void facts_init(struct facts *f, struct arena *arena) {
  memset(f, 0, sizeof *f);
  f->arena = arena;
  scoped_map_init(&f->memo_map, arena);
  map_init(&f->numbers, arena);
}

void facts_reset(struct facts *f, uint32_t var_count) {
  f->terms.count = 0;
  f->log.count = 0;
  f->memo.count = 0;
  scoped_map_clear(&f->memo_map);
  map_clear(&f->numbers);
  f->clock = 1;
  f->bound.count = 0;
  size_t count = (size_t)TERMS_PER_VAR * var_count;
  while (f->terms.capacity < count) add_term(f); /* grows it */
  f->terms.count = count;
}

void facts_bind(struct facts *f, uint32_t var, enum fact_kind kind) {
  f->clock++;
  *array_push(f->arena, &f->bound) = var;
  for (uint32_t k = 0; k < TERMS_PER_VAR; k++) {
    uint32_t t = TERMS_PER_VAR * var + k;
    f->terms.items[t] = new_term(t);
    f->terms.items[t].stamp = f->clock;
  }
  struct fact_term *size = &f->terms.items[TERMS_PER_VAR * var + TERM_SIZE];
  struct fact_first first = {TERMS_PER_VAR * var + TERM_SIZE, f->clock};
  if (kind == FACT_VECTOR) size->vector = first;
  if (kind == FACT_DESCRIPTOR) size->descriptor = first;
}

uint32_t facts_root(const struct facts *f, uint32_t term) {
  while (f->terms.items[term].parent != term) term = f->terms.items[term].parent;
  return term;
}

bool facts_equal(const struct facts *f, uint32_t a, uint32_t b) {
  return facts_root(f, a) == facts_root(f, b);
}

/* ---- assumed equal ---- */

uint32_t facts_assumed(struct facts *f, uint32_t term) {
  struct fact_term *terms = f->terms.items;
  while (terms[term].assumed != term)
    term = terms[term].assumed = terms[terms[term].assumed].assumed;
  return term;
}

static void unite_assumed(struct facts *f, uint32_t a, uint32_t b) {
  struct fact_term *terms = f->terms.items;
  a = facts_assumed(f, a);
  b = facts_assumed(f, b);
  if (a == b) return;
  if (terms[a].assumed_known && terms[b].assumed_known) return; /* two numbers */
  if (terms[a].assumed_known) {
    terms[b].assumed_known = true;
    terms[b].assumed_number = terms[a].assumed_number;
  }
  terms[a].assumed = b;
}

/* ---- facts ---- */

static void unite(struct facts *f, uint32_t a, uint32_t b, bool checked) {
  unite_assumed(f, a, b);
  struct fact_term *terms = f->terms.items;
  a = facts_root(f, a);
  b = facts_root(f, b);
  if (a == b || (terms[a].known && terms[b].known)) return;
  if (terms[a].weight > terms[b].weight) {
    uint32_t heavier = a;
    a = b;
    b = heavier;
  }
  struct fact_term *child = &terms[a], *root = &terms[b];
  *array_push(f->arena, &f->log) = (struct fact_undo){a, b, *root};
  child->parent = b;
  root->weight += child->weight;
  if (child->stamp < root->stamp) {
    root->stamp = child->stamp;
    root->least = child->least;
  }
  if (child->vector.stamp < root->vector.stamp) root->vector = child->vector;
  if (child->descriptor.stamp < root->descriptor.stamp) root->descriptor = child->descriptor;
  if (child->known) {
    root->known = true;
    root->number = child->number;
  }
  root->nonnegative = root->nonnegative || child->nonnegative;
  root->checked = root->checked || child->checked || checked;
}

void facts_unite(struct facts *f, uint32_t a, uint32_t b) {
  unite(f, a, b, false);
}

void facts_unite_checked(struct facts *f, uint32_t a, uint32_t b) {
  unite(f, a, b, true);
}

bool facts_checked(const struct facts *f, uint32_t term) {
  return f->terms.items[facts_root(f, term)].checked;
}

uint32_t facts_number(struct facts *f, int64_t number) {
  uint32_t *slot = map_at(&f->numbers, (uint64_t)number);
  if (*slot != 0) return *slot - 1;
  uint32_t t = (uint32_t)f->terms.count;
  add_term(f);
  struct fact_term *term = &f->terms.items[t];
  term->known = term->assumed_known = true;
  term->number = term->assumed_number = number;
  term->nonnegative = number >= 0;
  term->stamp = UINT32_MAX; /* any variable names the class before the number does */
  *slot = t + 1;
  return t;
}

bool facts_known(const struct facts *f, uint32_t term, int64_t *number) {
  const struct fact_term *root = &f->terms.items[facts_root(f, term)];
  *number = root->number;
  return root->known;
}

bool facts_is(const struct facts *f, uint32_t term, int64_t number) {
  int64_t is;
  return facts_known(f, term, &is) && is == number;
}

void facts_set_nonnegative(struct facts *f, uint32_t term) {
  uint32_t r = facts_root(f, term);
  struct fact_term *root = &f->terms.items[r];
  if (root->nonnegative) return;
  *array_push(f->arena, &f->log) = (struct fact_undo){r, r, *root};
  root->nonnegative = true;
}

bool facts_nonnegative(const struct facts *f, uint32_t term) {
  return f->terms.items[facts_root(f, term)].nonnegative;
}

uint32_t facts_memo(struct facts *f, uint32_t operation, uint32_t a, uint32_t b,
                    uint32_t fresh) {
  a = facts_root(f, a);
  b = facts_root(f, b);
  const uint64_t hash = map_mix(operation, map_pair(a, b));
  uint32_t at = scoped_map_first(&f->memo_map, hash);
  for (; at != 0; at = scoped_map_earlier(&f->memo_map, at)) {
    const struct fact_memo *m = &f->memo.items[at - 1];
    if (m->operation == operation && m->a == a && m->b == b) return m->term;
  }
  scoped_map_add(&f->memo_map, hash);
  *array_push(f->arena, &f->memo) = (struct fact_memo){operation, a, b, fresh};
  *array_push(f->arena, &f->log) = (struct fact_undo){.child = NO_TERM};
  return fresh;
}

/* ---- undo ---- */

uint32_t facts_mark(const struct facts *f) {
  return (uint32_t)f->log.count;
}

void facts_rollback(struct facts *f, uint32_t mark) {
  while (f->log.count > mark) {
    const struct fact_undo *u = &f->log.items[--f->log.count];
    if (u->child == NO_TERM) {
      scoped_map_close(&f->memo_map, --f->memo.count);
      continue;
    }
    struct fact_term *root = &f->terms.items[u->root];
    uint32_t assumed = root->assumed; /* is not undone */
    int64_t assumed_number = root->assumed_number;
    bool assumed_known = root->assumed_known;
    *root = u->before;
    root->assumed = assumed;
    root->assumed_number = assumed_number;
    root->assumed_known = assumed_known;
    f->terms.items[u->child].parent = u->child;
  }
}
