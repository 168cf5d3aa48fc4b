/* definitions.c - parses the parts of FCODE that are no functions (vcode.md, section 21.5):
 * definitions of superoperators, kept as text for fused-kernels/, and the declared widths.
 */
#include "base/number.h"
#include "vcode/parser.h"

#include <string.h>

bool parser_at_definition(const struct parser *p) {
  return p->word != NULL && p->word->length == 5 && memcmp(p->word->text, "fused", 5) == 0;
}

void parser_definition(struct parser *p) {
  const char *start = p->token.text;
  struct source_pos pos = p->token.pos;
  size_t length = (size_t)(lexer_skip_definition(&p->lexer) - start);
  *array_push(p->arena, &p->fused) =
      (struct vcode_fused){p->file, pos, arena_copy(p->arena, start, length), length};
  parser_next(p);
}

/* ---- widths ---- */

/* Takes the word, with at least one blank before it, off the front of *text. */
static bool take_widths_word(const char **text, const char *end, const char *word) {
  const char *at = *text;
  while (at < end && is_space_byte(*at)) at++;
  size_t n = strlen(word);
  if (at == *text || (size_t)(end - at) < n || memcmp(at, word, n) != 0) return false;
  *text = at + n;
  return *text == end || is_space_byte(**text);
}

/* Reads " INT 32|64 FLOAT 32|64", the comment after its first word. */
static bool read_widths(const char *text, size_t length, struct widths *out) {
  const char *end = text + length;
  if (!take_widths_word(&text, end, "INT")) return false;
  bool wide_int = take_widths_word(&text, end, "64");
  if (!wide_int && !take_widths_word(&text, end, "32")) return false;
  if (!take_widths_word(&text, end, "FLOAT")) return false;
  bool wide_float = take_widths_word(&text, end, "64");
  if (!wide_float && !take_widths_word(&text, end, "32")) return false;
  while (text < end && is_space_byte(*text)) text++;
  *out = (struct widths){wide_int ? CVL_I64 : CVL_I32, wide_float ? CVL_F64 : CVL_F32};
  return text == end;
}

static size_t elem_bits(enum cvl_elem e) {
  return 8 * elem_info(e)->bytes;
}

void parser_take_widths(struct parser *p) {
  const struct lexer *lx = &p->lexer;
  struct widths given = p->widths, w;
  if (lx->widths == NULL) return;
  if (!read_widths(lx->widths, lx->widths_length, &w)) {
    parser_report(p, lx->widths_pos,
                  "the widths of a file are written as {% widths INT 64 FLOAT 64 }, each 32 "
                  "or 64");
  } else if (w.int_elem != given.int_elem || w.float_elem != given.float_elem) {
    parser_report(
        p, lx->widths_pos,
        arena_printf(p->arena,
                     "the file was optimised for INT of %zu and FLOAT of %zu bits and cannot "
                     "run with %zu and %zu; leave the options away that choose widths, or "
                     "optimise the program again with them",
                     elem_bits(w.int_elem), elem_bits(w.float_elem), elem_bits(given.int_elem),
                     elem_bits(given.float_elem)));
  }
  p->has_widths = true;
}

/* Examines comments and words only; vcode_parse reports errors. */
bool vcode_recorded_widths(const char *text, size_t length, struct widths *out) {
  static const char mark[] = "% widths";
  const size_t mark_length = sizeof mark - 1;
  const char *end = text + length;
  for (const char *at = text; at < end;) {
    if (*at == '{') {
      const char *inside = at + 1, *close = memchr(at, '}', (size_t)(end - at));
      if (close == NULL) return false;
      size_t n = (size_t)(close - inside);
      if (n >= mark_length && memcmp(inside, mark, mark_length) == 0) {
        return read_widths(inside + mark_length, n - mark_length, out);
      }
      at = close + 1;
    } else if (lexer_word_byte((unsigned char)*at)) {
      const char *word = at;
      while (at < end && lexer_word_byte((unsigned char)*at)) at++;
      if (lexer_begins_item(word, (size_t)(at - word))) return false;
    } else {
      at++;
    }
  }
  return false;
}

/* ---- definitions alone ---- */

static bool read_only_definitions(struct arena *arena, struct vcode_program *program,
                                  const char *file, const char *text, size_t length,
                                  struct diag_list *diags) {
  struct parser *p = arena_alloc(arena, sizeof *p);
  p->arena = arena;
  p->file = file;
  p->diags = diags;
  p->errors_before = diags->errors;
  intern_init(&p->names, arena);
  for (uint32_t k = 0; k < program->fused_count; k++) {
    *array_push(arena, &p->fused) = program->fused[k];
  }
  lexer_init(&p->lexer, file, text, length, diags);
  parser_next(p);
  while (parser_at_definition(p)) parser_definition(p);
  if (p->token.kind != TOKEN_END) {
    parser_expected(p, "the file may hold nothing but definitions of superoperators (fused "
                       "OP0#1 ...)");
  }
  if (diags->errors != p->errors_before) return false;
  program->fused = p->fused.items;
  program->fused_count = (uint32_t)p->fused.count;
  return true;
}

bool vcode_parse_definitions(struct arena *arena, struct vcode_program *program,
                             const char *file, const char *text, size_t length,
                             struct diag_list *diags) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump) == 0) {
    const bool fine = read_only_definitions(arena, program, file, text, length, diags);
    memory_guard_end(&guard);
    return fine;
  }
  diag_add(diags, SEVERITY_ERROR, file, (struct source_pos){0, 0}, NULL,
           "out of memory while reading the definitions");
  return false;
}
