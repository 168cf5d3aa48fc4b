/* parse-instances.c - the mark of a lifted function: the words of a comment
 *
 *     {% instances shared each 1 shared -> each 0 }
 *
 * behind the function's name. Its words are those of the language, so the lexer finds them. A
 * comment {% procedure NAME } beside it names the function for one instance. */
#include "vcode/parser.h"

#include <string.h>

#define EXPECTED                                                                               \
  "the mark of a lifted function is written as "                                               \
  "{%% instances shared each 1 -> each 0 }: "

/* The words of one mark, from a lexer of their own. */
struct mark {
  struct parser *p;
  struct lexer lexer;
  struct token token; /* the next one */
  bool fine;
};

static void mark_next(struct mark *m) {
  m->token = lexer_next(&m->lexer);
  if (m->token.kind == TOKEN_BAD) m->fine = false;
}

static bool mark_at(const struct mark *m, const char *word) {
  return m->token.kind == TOKEN_WORD && m->token.length == strlen(word) &&
         memcmp(m->token.text, word, m->token.length) == 0;
}

static void mark_fault(struct mark *m, struct source_pos pos, const char *message) {
  if (m->fine) parser_report(m->p, pos, message);
  m->fine = false;
}

static void mark_expected(struct mark *m, const char *what) {
  struct parser *p = m->p;
  const int shown = m->token.length > SHOWN ? SHOWN : (int)m->token.length;
  mark_fault(m, m->token.pos,
             m->token.kind == TOKEN_END
                 ? arena_printf(p->arena, EXPECTED "%s is expected, found its end", what)
                 : arena_printf(p->arena, EXPECTED "%s is expected, found %.*s", what, shown,
                                m->token.text));
}

/* Reads digits only. A number that is too large becomes the largest that is none of the special
 * values. */
static bool mark_number(const struct token *t, uint32_t *out) {
  uint64_t n = 0;
  for (size_t i = 0; i < t->length; i++) {
    if (t->text[i] < '0' || t->text[i] > '9') return false;
    n = 10 * n + (uint64_t)(t->text[i] - '0');
    if (n >= VCODE_EACH) n = VCODE_EACH - 1;
  }
  *out = (uint32_t)n;
  return t->kind == TOKEN_INTEGER;
}

typedef ARRAY(struct source_pos) positions;

/* Takes the words up to the next one that is none of a list. */
static const uint32_t *mark_sizes(struct mark *m, positions *where, bool shared) {
  struct arena *arena = m->p->arena;
  ARRAY(uint32_t) list = {0};
  for (;; mark_next(m)) {
    uint32_t size = VCODE_EACH;
    if (shared && mark_at(m, "shared"))
      size = VCODE_SHARED;
    else if (!mark_at(m, "each") && !mark_number(&m->token, &size))
      break;
    *array_push(arena, &list) = size;
    *array_push(arena, where) = m->token.pos;
  }
  return list.items;
}

/* Checks that every number is that of an item of the list. */
static void check_numbers(struct mark *m, const uint32_t *list, const positions *where,
                          const char *what) {
  const uint32_t count = (uint32_t)where->count;
  for (uint32_t i = 0; i < count; i++) {
    if (list[i] < count || list[i] >= VCODE_EACH) continue;
    mark_fault(m, where->items[i],
               arena_printf(m->p->arena, "the mark has no %s %u: it has %u, numbered from 0",
                            what, list[i], count));
  }
}

static void read_mark(struct mark *m, struct vcode_instances *out) {
  positions params = {0}, results = {0};
  mark_next(m);
  out->params = mark_sizes(m, &params, true);
  if (mark_at(m, "->"))
    mark_next(m);
  else
    mark_expected(m, "each, shared, the number of a parameter, or ->");
  out->results = mark_sizes(m, &results, false);
  if (m->token.kind != TOKEN_END) mark_expected(m, "each or the number of a result");
  check_numbers(m, out->params, &params, "parameter");
  check_numbers(m, out->results, &results, "result");
  out->param_count = (uint32_t)params.count;
  out->result_count = (uint32_t)results.count;
}

/* ---- the link to a procedure ---- */

/* Reads the one word of the comment {% procedure NAME }, if the lexer has met one. */
static void read_procedure(struct mark *m, struct vcode_instances *out) {
  static const char opening[] = "{% procedure";
  const struct lexer *lx = &m->p->lexer;
  if (lx->procedure == NULL) return;
  lexer_init(&m->lexer, lx->file, lx->procedure, lx->procedure_length, lx->diags);
  m->lexer.pos = lx->procedure_pos;
  m->lexer.pos.column += (uint32_t)sizeof opening - 1;
  mark_next(m);
  const struct token name = m->token;
  if (m->fine) mark_next(m);
  if (name.kind == TOKEN_WORD && m->token.kind == TOKEN_END) {
    out->procedure = intern_name(&m->p->names, name.text, name.length);
    return;
  }
  mark_fault(m, name.pos, "the link to a procedure is written as {% procedure NAME }");
}

const struct vcode_instances *parser_instances(struct parser *p) {
  static const char opening[] = "{% instances";
  const struct lexer *lx = &p->lexer;
  if (lx->instances == NULL) return NULL;
  struct vcode_instances *out = arena_alloc(p->arena, sizeof *out);
  struct mark m = {.p = p, .fine = true};
  lexer_init(&m.lexer, lx->file, lx->instances, lx->instances_length, lx->diags);
  m.lexer.pos = out->pos = lx->instances_pos;
  m.lexer.pos.column += (uint32_t)sizeof opening - 1;
  read_mark(&m, out);
  out->procedure_function = VCODE_NO_PROCEDURE;
  read_procedure(&m, out);
  return m.fine ? out : NULL;
}
