/* core-walk.c - traversal of expressions. */
#include "neslc/types/core.h"

void core_parts(const struct core *e, void (*visit)(void *, struct core *, bool),
                void *context) {
  switch ((enum core_kind)e->kind) {
  case CORE_INT:
  case CORE_FLOAT:
  case CORE_BOOL:
  case CORE_CHAR:
  case CORE_STRING:
  case CORE_EMPTY:
  case CORE_LOCAL:
  case CORE_GLOBAL: break;
  case CORE_IF: visit(context, e->as.part.third, false); /* fall through */
  case CORE_PAIR:
  case CORE_APPLY:
  case CORE_LET:
    visit(context, e->as.part.left, false);
    visit(context, e->as.part.right, false);
    break;
  case CORE_LOOP:
    visit(context, e->as.part.left, false);
    visit(context, e->as.part.third, false);
    visit(context, e->as.part.right, false);
    break;
  case CORE_TIME: visit(context, e->as.part.left, false); break;
  case CORE_LAMBDA: visit(context, e->as.lambda->body, false); break;
  case CORE_LIST:
    for (size_t i = 0; i < e->as.list.count; i++) visit(context, e->as.list.items[i], false);
    break;
  case CORE_EACH:
    for (size_t i = 0; i < e->as.each.count; i++) {
      visit(context, e->as.each.generators[i].source, false);
    }
    if (e->as.each.sieve) visit(context, e->as.each.sieve, true);
    visit(context, e->as.each.body, true);
    break;
  }
}

static void locals_of(const struct core_pattern *p, void (*visit)(void *, struct local *),
                      void *context) {
  if (p->kind == PATTERN_LOCAL) {
    visit(context, p->local);
    return;
  }
  locals_of(p->left, visit, context);
  if (p->kind == PATTERN_PAIR) locals_of(p->right, visit, context);
}

void core_binds(const struct core *e, void (*visit)(void *, struct local *), void *context) {
  if (core_has_pattern(e)) locals_of(e->as.part.pattern, visit, context);
  if (e->kind == CORE_LAMBDA) locals_of(e->as.lambda->parameter, visit, context);
  for (size_t i = 0; e->kind == CORE_EACH && i < e->as.each.count; i++) {
    locals_of(e->as.each.generators[i].pattern, visit, context);
  }
}
