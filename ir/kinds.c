/* kinds.c - see kinds.h: terms and unification first, then resolved kinds. */
#include "ir/kinds.h"

#include <string.h>

/* ---- terms ---- */

static kind_term kind_add_term(struct kind_pool *pool, enum ir_kind_tag tag) {
  kind_term t = (kind_term)pool->nodes.count;
  struct kind_node *node = array_push(pool->arena, &pool->nodes);
  *node = (struct kind_node){.tag = (uint8_t)tag, .parent = t};
  return t;
}

void kind_pool_init(struct kind_pool *pool, struct arena *arena) {
  memset(pool, 0, sizeof *pool);
  pool->arena = arena;
  kind_pool_reset(pool);
}

void kind_pool_reset(struct kind_pool *pool) {
  pool->nodes.count = 0;
  pool->variables = 0;
  for (int tag = 0; tag < BASE_KINDS; tag++) {
    kind_term t = kind_add_term(pool, (enum ir_kind_tag)tag);
    pool->nodes.items[t].resolved = ir_kind_base((enum ir_kind_tag)tag);
    pool->nodes.items[t].size = 1;
  }
}

kind_term kind_fresh(struct kind_pool *pool) {
  return kind_add_term(pool, IR_ANY);
}

kind_term kind_pair(struct kind_pool *pool, kind_term left, kind_term right) {
  kind_term t = kind_add_term(pool, IR_PAIR);
  pool->nodes.items[t].left = left;
  pool->nodes.items[t].right = right;
  return t;
}

/* Returns the representative of t. */
static kind_term kind_find(struct kind_pool *pool, kind_term t) {
  struct kind_node *nodes = pool->nodes.items;
  while (nodes[t].parent != t) {
    nodes[t].parent = nodes[nodes[t].parent].parent; /* path halving */
    t = nodes[t].parent;
  }
  return t;
}

bool kind_unify(struct kind_pool *pool, kind_term a, kind_term b) {
  pool->work.count = 0;
  for (;;) {
    a = kind_find(pool, a);
    b = kind_find(pool, b);
    if (a != b) {
      struct kind_node *x = &pool->nodes.items[a], *y = &pool->nodes.items[b];
      if (x->tag == IR_ANY) {
        x->parent = b;
      } else if (y->tag == IR_ANY) {
        y->parent = a;
      } else if (x->tag == IR_PAIR && y->tag == IR_PAIR) {
        kind_term components[4] = {x->left, y->left, x->right, y->right};
        x->parent = b;
        for (int i = 0; i < 4; i++) *array_push(pool->arena, &pool->work) = components[i];
      } else {
        return false;
      }
    }
    if (pool->work.count == 0) return true;
    b = pool->work.items[--pool->work.count];
    a = pool->work.items[--pool->work.count];
  }
}

bool kind_unpair(struct kind_pool *pool, kind_term t, kind_term *left, kind_term *right) {
  t = kind_find(pool, t);
  if (pool->nodes.items[t].tag == IR_ANY) {
    kind_term l = kind_fresh(pool), r = kind_fresh(pool);
    pool->nodes.items[t].tag = IR_PAIR;
    pool->nodes.items[t].left = l;
    pool->nodes.items[t].right = r;
  }
  if (pool->nodes.items[t].tag != IR_PAIR) return false;
  *left = pool->nodes.items[t].left;
  *right = pool->nodes.items[t].right;
  return true;
}

kind_term kind_instance(struct kind_pool *pool, const struct ir_kind *kind,
                        kind_term *instance) {
  switch (kind->tag) {
  case IR_ANY:
    if (instance[kind->variable] == KIND_UNSET) instance[kind->variable] = kind_fresh(pool);
    return instance[kind->variable];
  case IR_PAIR: {
    kind_term left = kind_instance(pool, kind->left, instance);
    kind_term right = kind_instance(pool, kind->right, instance);
    return kind_pair(pool, left, right);
  }
  case IR_INT:
  case IR_FLOAT:
  case IR_BOOL:
  case IR_SEGDES: break;
  }
  return (kind_term)kind->tag;
}

/* Depth is bounded, so recursion is too; results are remembered, so each class is resolved
 * once. After a fault the pool is only good for kind_pool_reset. */
static enum kind_fault resolve_term(struct kind_pool *pool, struct arena *arena, kind_term t,
                                    unsigned depth, uint32_t *size,
                                    const struct ir_kind **kind) {
  struct kind_node *node = &pool->nodes.items[kind_find(pool, t)];
  if (!node->resolved) {
    struct ir_kind *made = arena_alloc(arena, sizeof *made);
    made->tag = (enum ir_kind_tag)node->tag;
    node->size = 1;
    if (node->open) return KIND_CYCLIC;
    if (depth == KIND_MAX_DEPTH) return KIND_TOO_LARGE;
    node->open = true;
    if (node->tag == IR_ANY) {
      made->variable = pool->variables++;
    } else {
      uint32_t left, right;
      enum kind_fault fault =
          resolve_term(pool, arena, node->left, depth + 1, &left, &made->left);
      if (fault == KIND_FINE)
        fault = resolve_term(pool, arena, node->right, depth + 1, &right, &made->right);
      if (fault != KIND_FINE) return fault;
      node->size = 1 + left + right;
      if (node->size > KIND_MAX_SIZE) return KIND_TOO_LARGE;
    }
    node->open = false;
    node->resolved = made;
  }
  *size = node->size;
  *kind = node->resolved;
  return KIND_FINE;
}

enum kind_fault kind_resolve(struct kind_pool *pool, struct arena *arena, kind_term t,
                             const struct ir_kind **kind) {
  uint32_t size;
  return resolve_term(pool, arena, t, 0, &size, kind);
}

const char *kind_term_text(struct kind_pool *pool, kind_term t) {
  return ir_tag_text((enum ir_kind_tag)pool->nodes.items[kind_find(pool, t)].tag);
}

/* ---- resolved kinds ---- */

const struct ir_kind *ir_kind_base(enum ir_kind_tag tag) {
  static const struct ir_kind base[BASE_KINDS] = {
      {.tag = IR_INT}, {.tag = IR_FLOAT}, {.tag = IR_BOOL}, {.tag = IR_SEGDES}};
  return &base[tag];
}

bool ir_kind_same(const struct ir_kind *a, const struct ir_kind *b) {
  while (a != b) {
    if (!a || !b || a->tag != b->tag) return false;
    if (a->tag == IR_ANY) return a->variable == b->variable;
    if (a->tag != IR_PAIR) return true;
    if (!ir_kind_same(a->left, b->left)) return false;
    a = a->right;
    b = b->right;
  }
  return true;
}

enum ir_kind_tag ir_constant_tag(const struct vcode_constant *c) {
  return (enum ir_kind_tag)type_word_kind(c->type);
}

enum ir_kind_tag ir_word_tag(enum type_word word) {
  return (enum ir_kind_tag)type_word_kind(word);
}

const char *ir_tag_text(enum ir_kind_tag tag) {
  switch (tag) {
  case IR_INT: return "INT";
  case IR_FLOAT: return "FLOAT";
  case IR_BOOL: return "BOOL";
  case IR_SEGDES: return "SEGDES";
  case IR_PAIR: return "a pair";
  case IR_ANY: break;
  }
  return "any kind";
}

bool ir_kind_match(const struct ir_kind *pattern, const struct ir_kind *actual,
                   const struct ir_kind **bound) {
  if (!actual) return true;
  if (pattern->tag == IR_ANY) {
    const struct ir_kind **slot = &bound[pattern->variable];
    if (!*slot) *slot = actual;
    return ir_kind_same(*slot, actual);
  }
  if (pattern->tag != actual->tag) return false;
  if (pattern->tag != IR_PAIR) return true;
  return ir_kind_match(pattern->left, actual->left, bound) &&
         ir_kind_match(pattern->right, actual->right, bound);
}
