/* core-show.c - checked trees as text, for --print-after check and for tests.
 *
 * The notation is NESL's, with every name resolved: locals have their number (x.0), functions
 * the types they are used at (+<int>), lambdas what they capture (\3[n.0] x.1 => ...).
 */
#include "neslc/types/core.h"

static void show_core(const struct core *, FILE *);

static void show_local(const struct local *local, FILE *out) {
  fprintf(out, "%s.%u", local->name->text, local->number);
}

static void show_pattern(const struct core_pattern *p, FILE *out) {
  switch ((enum core_pattern_kind)p->kind) {
  case PATTERN_LOCAL: show_local(p->local, out); break;
  case PATTERN_PAIR:
    fputc('(', out);
    show_pattern(p->left, out);
    fputs(", ", out);
    show_pattern(p->right, out);
    fputc(')', out);
    break;
  case PATTERN_CONTENTS:
    fprintf(out, "%s(", type_of(p->type)->data->name->text);
    show_pattern(p->left, out);
    fputc(')', out);
    break;
  }
}

static void show_core_string(const char *text, size_t length, FILE *out) {
  fputc('"', out);
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '"' || text[i] == '\\') fputc('\\', out);
    fputc(text[i], out);
  }
  fputc('"', out);
}

static void show_use(const struct core *e, FILE *out) {
  fputs(e->as.use.global->name->text, out);
  for (uint32_t i = 0; i < e->as.use.count; i++) {
    fputs(i == 0 ? "<" : "; ", out);
    struct type *t = type_of(e->as.use.arguments[i]);
    if (t->tag == TYPE_IDENTITY) {
      if (t->global) fprintf(out, "@%s", t->global->name->text);
      if (t->lambda) fprintf(out, "@\\%u", t->lambda->number);
    } else {
      type_show(t, false, out);
    }
  }
  if (e->as.use.count) fputc('>', out);
}

static void show_lambda(const struct core_lambda *lambda, FILE *out) {
  fprintf(out, "(\\%u", lambda->number);
  for (uint32_t i = 0; i < lambda->captured_count; i++) {
    fputs(i == 0 ? "[" : ", ", out);
    show_local(lambda->captured[i], out);
  }
  fputs(lambda->captured_count ? "] " : " ", out);
  show_pattern(lambda->parameter, out);
  fputs(" => ", out);
  show_core(lambda->body, out);
  fputc(')', out);
}

static void show_core_each(const struct core *e, FILE *out) {
  fputs(e->as.each.serial ? "{* " : "{", out);
  show_core(e->as.each.body, out);
  for (size_t i = 0; i < e->as.each.count; i++) {
    fputs(i == 0 ? " : " : "; ", out);
    show_pattern(e->as.each.generators[i].pattern, out);
    fputs(" in ", out);
    show_core(e->as.each.generators[i].source, out);
  }
  if (e->as.each.sieve) {
    fputs(" | ", out);
    show_core(e->as.each.sieve, out);
  }
  fputc('}', out);
}

static void show_core_list(const struct core *e, FILE *out) {
  for (size_t i = 0; i < e->as.list.count; i++) {
    fputs(i == 0 ? "[" : ", ", out);
    show_core(e->as.list.items[i], out);
  }
  fputc(']', out);
}

static void show_between(const char *before, const struct core *e, const char *behind,
                         FILE *out) {
  fputs(before, out);
  show_core(e, out);
  fputs(behind, out);
}

static void show_parts(const struct core *e, FILE *out) {
  const bool tuple = e->kind == CORE_APPLY && e->as.part.right->kind == CORE_PAIR;
  switch (e->kind) {
  case CORE_PAIR:
    show_between("(", e->as.part.left, ", ", out);
    show_between("", e->as.part.right, ")", out);
    break;
  case CORE_APPLY:
    show_core(e->as.part.left, out);
    show_between(tuple ? "" : "(", e->as.part.right, tuple ? "" : ")", out);
    break;
  case CORE_IF:
    show_between("(if ", e->as.part.third, " then ", out);
    show_between("", e->as.part.left, " else ", out);
    show_between("", e->as.part.right, ")", out);
    break;
  case CORE_LET:
    fputs("(let ", out);
    show_pattern(e->as.part.pattern, out);
    show_between(" = ", e->as.part.left, " in ", out);
    show_between("", e->as.part.right, ")", out);
    break;
  case CORE_LOOP:
    fputs("(loop ", out);
    show_pattern(e->as.part.pattern, out);
    show_between(" = ", e->as.part.left, " while ", out);
    show_between("", e->as.part.third, " do ", out);
    show_between("", e->as.part.right, ")", out);
    break;
  default: show_between("time(", e->as.part.left, ")", out); break;
  }
}

static void show_core(const struct core *e, FILE *out) {
  switch ((enum core_kind)e->kind) {
  case CORE_INT: fprintf(out, "%lld", (long long)e->as.integer); break;
  case CORE_FLOAT: fprintf(out, "%.17g", e->as.real); break;
  case CORE_BOOL: fputc(e->as.integer ? 't' : 'f', out); break;
  case CORE_CHAR: fprintf(out, "`%c", (char)e->as.integer); break;
  case CORE_STRING: show_core_string(e->as.string.text, e->as.string.length, out); break;
  case CORE_EMPTY:
    fputs("([] : ", out);
    type_show(e->type, false, out);
    fputc(')', out);
    break;
  case CORE_LOCAL: show_local(e->as.local, out); break;
  case CORE_GLOBAL: show_use(e, out); break;
  case CORE_LAMBDA: show_lambda(e->as.lambda, out); break;
  case CORE_LIST: show_core_list(e, out); break;
  case CORE_EACH: show_core_each(e, out); break;
  case CORE_PAIR:
  case CORE_APPLY:
  case CORE_IF:
  case CORE_LET:
  case CORE_LOOP:
  case CORE_TIME: show_parts(e, out); break;
  }
}

void core_show(const struct core *e, FILE *out) {
  show_core(e, out);
}
