/* check-string.c - strings, and e"..." with escapes. */
#include "neslc/types/check.h"

/* Whether the program has a variable or function `e`: then e"..." applies it, as it always did.
 */
static bool applies_e(struct checker *ck, const struct syntax *e, struct syntax *function) {
  *function = (struct syntax){.kind = SYNTAX_NAME, .height = 1};
  function->at = function->mark = (struct span){e->at.start, e->at.start + 1};
  function->as.name.name = intern_name(&ck->session->names, "e", 1);
  function->as.name.written = "e";
  return is_bound(ck, function);
}

static struct core *apply_e(struct checker *ck, const struct syntax *e,
                            struct syntax *function) {
  struct syntax *string = arena_alloc(ck->arena, sizeof *string),
                *apply = arena_alloc(ck->arena, sizeof *apply);
  const size_t quotes = 2, length = e->at.end - e->at.start - 1 - quotes;
  char *text = arena_copy(ck->arena, ck->source->text + e->at.start + quotes, length);
  *string = *e;
  string->escaped = false;
  string->at.start++;
  string->as.string.text = text;
  string->as.string.length = string_plain(text, length);
  *apply = (struct syntax){.kind = SYNTAX_APPLY, .height = 2, .at = e->at, .mark = e->at};
  apply->as.part.left = function;
  apply->as.part.right = string;
  return check_expression(ck, apply);
}

static void check_escapes(struct checker *ck, const struct syntax *e) {
  const struct span wrong = e->as.string.wrong;
  if (wrong.end == 0) return;
  complain(
      ck->complaints, NESL_PARSE, ck->source, wrong,
      "`%.*s` is no escape; there are \\n \\t \\\\ \\\" \\xHH (two hexadecimal digits) and "
      "\\u{...} (the number of a character in Unicode)",
      (int)(wrong.end - wrong.start), ck->source->text + wrong.start);
}

/* Whether a plain string looks as if it were to have escapes. */
static bool seems_escaped(struct checker *ck, const struct syntax *e, struct span *at) {
  const char *text = ck->source->text;
  for (uint32_t i = e->at.start; i + 1 < e->at.end; i++) {
    if (text[i] != '\\') continue;
    *at = (struct span){i, i + 2};
    if (text[++i] == 'n' || text[i] == 't') return true;
  }
  return false;
}

/* Says so once, of a program. */
static void warn_of_escapes(struct checker *ck, const struct syntax *e) {
  struct span at;
  if (ck->session->warned_of_escapes || ck->session->in_library || !seems_escaped(ck, e, &at))
    return;
  ck->session->warned_of_escapes = true;
  warn(ck->complaints, ck->source, at,
       "`%.*s` in a string is the letter alone; in e\"...\" it is an escape", 2,
       ck->source->text + at.start);
}

struct core *check_string(struct checker *ck, const struct syntax *e) {
  if (e->escaped) {
    struct syntax *function = arena_alloc(ck->arena, sizeof *function);
    if (applies_e(ck, e, function)) return apply_e(ck, e, function);
    check_escapes(ck, e);
  } else {
    warn_of_escapes(ck, e);
  }
  struct type *type =
      type_sequence(ck->arena, type_from(ck, type_base(ck->arena, TYPE_CHAR), e->at));
  struct core *core = core_make(ck, CORE_STRING, e, type_from(ck, type, e->at));
  core->as.string.text = e->as.string.text;
  core->as.string.length = e->as.string.length;
  return core;
}
