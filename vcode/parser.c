/* parser.c - tokens into the program model (vcode.md, section 3): functions, and the links
 * between them. After an error the parser continues at the next word that can begin a
 * statement, so that one run reports several.
 */
#include "vcode/parser.h"

#include <string.h>
#include <strings.h>

static const char *const reserved_words[] = {
    "INT",   "FLOAT",  "BOOL",   "SEGDES",      "CHAR", "T", "F",
    "STDIN", "STDOUT", "STDERR", "NULL_STREAM", "I",    "O"};

static bool has_too_many_errors(const struct parser *p) {
  return p->diags->errors - p->errors_before >= MOST_ERRORS;
}

static bool type_list(struct parser *p, uint32_t *length, const uint8_t **types) {
  ARRAY(uint8_t) list = {0};
  while (p->word != NULL && p->word->number >= R_INT && p->word->number <= R_CHAR) {
    *array_push(p->arena, &list) = (uint8_t)(p->word->number - R_INT);
    parser_next(p);
  }
  *types = list.items;
  *length = (uint32_t)list.count;
  return true;
}

static bool parse_signature(struct parser *p, struct vcode_function *f) {
  if (p->word != NULL && p->word->number == R_O) {
    return parser_expected(p, "the list of results needs a list of operands (I ...) before it");
  }
  if (p->word == NULL || p->word->number != R_I) return true;
  f->has_signature = true;
  parser_next(p);
  type_list(p, &f->in_count, &f->in);
  if (p->word == NULL || p->word->number != R_O) {
    return parser_expected(
        p, "the list of operands must be followed by the list of results (O ...)");
  }
  parser_next(p);
  return type_list(p, &f->out_count, &f->out);
}

/* Extends p->defined to the number. */
static uint32_t *defined_at(struct parser *p, const struct name *name) {
  while (p->defined.count <= name->number) *array_push(p->arena, &p->defined) = 0;
  return &p->defined.items[name->number];
}

static bool header(struct parser *p, struct vcode_function *f) {
  struct source_pos pos = p->token.pos;
  parser_next(p); /* FUNC */
  if (!parser_at_name(p)) {
    if (p->token.kind == TOKEN_END) parser_report(p, pos, "FUNC must be followed by a name");
    return p->token.kind == TOKEN_END ? false
                                      : parser_expected(p, "FUNC must be followed by a name");
  }
  f->name = p->word;
  f->pos = p->token.pos;
  uint32_t *defined = defined_at(p, f->name);
  if (*defined != 0) {
    parser_report(p, f->pos,
                  arena_printf(p->arena, "%s is defined twice; the first time on line %u",
                               parser_found(p), p->functions.items[*defined - 1].pos.line));
  } else {
    *defined = (uint32_t)p->functions.count + 1;
  }
  p->lexer.instances = p->lexer.procedure = NULL;
  p->lexer.rounds = VCODE_NO_ROUNDS;
  parser_next(p);
  f->instances = parser_instances(p);
  f->rounds = p->lexer.rounds;
  return parse_signature(p, f);
}

/* Checks that everything is closed after RET, FUNC or the end of the text has ended the body.
 */
static void body_end(struct parser *p, const struct vcode_function *f) {
  if (p->lexer.cut || f->name == NULL) return; /* reported already */
  if (p->open.count != 0) {
    const struct vcode_instruction *opener = &p->code.items[p->open.items[p->open.count - 1]];
    parser_report(p, p->token.pos,
                  arena_printf(p->arena, "%s while the %s of line %u is still open",
                               parser_found(p), opener->op == OPC_IF ? "IF" : "ELSE",
                               opener->pos.line));
  } else if (p->word == NULL || p->word->number != OPC_RET) {
    parser_report(p, p->token.pos,
                  arena_printf(p->arena, "%s before the RET of function %s (line %u)",
                               parser_found(p), f->name->text, f->pos.line));
  }
}

static void parse_vcode_function(struct parser *p) {
  struct vcode_function f;
  memset(&f, 0, sizeof f);
  p->code.count = 0;
  p->open.count = 0;
  p->lexer.origin = p->origin_seen = NULL;
  p->origin = 0;
  p->begun = p->token.text;
  if (!header(p, &f)) parser_recover(p);
  while (!has_too_many_errors(p) && p->token.kind != TOKEN_END &&
         !(p->word != NULL && (p->word->number == OPC_RET || p->word->number == OPC_FUNC))) {
    if (!parser_statement(p)) parser_recover(p);
  }
  if (has_too_many_errors(p)) return;
  body_end(p, &f);
  if (p->word != NULL && p->word->number == OPC_RET) {
    if (p->lexer.origin != p->origin_seen) parser_take_origin(p);
    *array_push(p->arena, &p->code) = (struct vcode_instruction){
        .op = OPC_RET, .type = TW_NONE, .pos = p->token.pos, .origin = p->origin};
    parser_next(p);
  }
  f.length = (uint32_t)p->code.count;
  f.code = arena_alloc(p->arena, p->code.count * sizeof *f.code);
  if (f.length != 0) memcpy(f.code, p->code.items, p->code.count * sizeof *f.code);
  *array_push(p->arena, &p->functions) = f;
}

/* ---- the whole program ---- */

/* Returns the defined name that differs only in case, or by the fewest edits; "" if none is
 * near. */
static const char *near_function(struct parser *p, const struct name *wanted) {
  unsigned best = wanted->length > 3 ? NEAR_ENOUGH + 1 : 2;
  const struct name *nearest = NULL;
  for (size_t i = 0; i < p->functions.count; i++) {
    const struct name *name = p->functions.items[i].name;
    unsigned distance = strcasecmp(wanted->text, name->text) == 0
                            ? 0
                            : edit_distance(wanted->text, name->text, NEAR_ENOUGH);
    if (distance < best) {
      best = distance;
      nearest = name;
    }
  }
  return nearest == NULL ? "" : arena_printf(p->arena, "; did you mean %s?", nearest->text);
}

static void link_calls(struct parser *p) {
  for (size_t f = 0; f < p->functions.count; f++) {
    struct vcode_function *function = &p->functions.items[f];
    for (uint32_t i = 0; i < function->length && !has_too_many_errors(p); i++) {
      struct vcode_instruction *call = &function->code[i];
      if (call->op != OPC_CALL) continue;
      uint32_t defined = *defined_at(p, call->as.call.name);
      if (defined == 0) {
        parser_report(p, call->pos,
                      arena_printf(p->arena, "function %s is called but never defined%s",
                                   call->as.call.name->text,
                                   near_function(p, call->as.call.name)));
      }
      call->as.call.function = defined == 0 ? 0 : defined - 1;
    }
  }
}

/* Finds the procedures that lifted functions name, and marks them. */
static void link_procedures(struct parser *p) {
  for (size_t f = 0; f < p->functions.count && !has_too_many_errors(p); f++) {
    /* The mark is the parser's own, and nobody else has it yet. */
    struct vcode_instances *mark =
        (struct vcode_instances *)(uintptr_t)p->functions.items[f].instances;
    if (mark == NULL || mark->procedure == NULL) continue;
    const uint32_t defined = *defined_at(p, mark->procedure);
    if (defined == 0) {
      parser_report(p, mark->pos,
                    arena_printf(p->arena, "%s, the procedure of %s, is never defined%s",
                                 mark->procedure->text, p->functions.items[f].name->text,
                                 near_function(p, mark->procedure)));
      continue;
    }
    mark->procedure_function = defined - 1;
    p->functions.items[defined - 1].is_procedure = true;
  }
}

static void init(struct parser *p, struct arena *arena, const char *file, struct widths widths,
                 struct diag_list *diags) {
  memset(p, 0, sizeof *p);
  p->arena = arena;
  p->file = file;
  p->diags = diags;
  p->errors_before = diags->errors;
  p->widths = widths;
  p->least = widths.int_elem == CVL_I32 ? INT32_MIN : INT64_MIN;
  p->most = widths.int_elem == CVL_I32 ? INT32_MAX : INT64_MAX;
  intern_init(&p->names, arena);
  for (int op = 0; op < OPC_COUNT; op++) {
    const char *spelling = opcode_info((enum opcode)op)->spelling;
    intern_name(&p->names, spelling, strlen(spelling));
  }
  for (size_t i = 0; i < sizeof reserved_words / sizeof reserved_words[0]; i++) {
    intern_name(&p->names, reserved_words[i], strlen(reserved_words[i]));
  }
  origin_table_init(&p->origins, arena, NULL);
}

static bool at_function(const struct parser *p) {
  return p->word != NULL && p->word->number == OPC_FUNC;
}

/* Parses the top level: functions and definitions of superoperators. */
static void parse_items(struct parser *p) {
  parser_next(p);
  while (p->token.kind != TOKEN_END && !has_too_many_errors(p)) {
    if (parser_at_definition(p) || at_function(p)) {
      if (p->functions.count == 0 && p->fused.count == 0) parser_take_widths(p);
      if (at_function(p))
        parse_vcode_function(p);
      else
        parser_definition(p);
    } else {
      parser_expected(p, "FUNC must stand here, outside any function");
      while (p->token.kind != TOKEN_END && !at_function(p) && !parser_at_definition(p) &&
             !has_too_many_errors(p)) {
        parser_next(p);
      }
    }
  }
  if (p->functions.count == 0 && p->diags->errors == p->errors_before) {
    parser_report(p, p->token.pos,
                  "the file has no function: a program needs at least one FUNC");
  }
}

/* Parses a program; vcode_parse calls it under a memory guard. */
static struct vcode_program *read_program(struct arena *arena, const char *file,
                                          const char *text, size_t length, struct widths widths,
                                          struct diag_list *diags) {
  size_t before = diags->errors;
  struct parser *p = arena_alloc(arena, sizeof *p);
  init(p, arena, file, widths, diags);
  const struct name *main_name = intern_name(&p->names, "MAIN", strlen("MAIN"));
  lexer_init(&p->lexer, file, text, length, diags);
  parse_items(p);
  if (diags->errors == before) link_calls(p);
  if (diags->errors == before) link_procedures(p);
  if (diags->errors != before) return NULL;
  struct vcode_program *program = arena_alloc(arena, sizeof *program);
  uint32_t entry = *defined_at(p, main_name);
  program->file = file;
  program->functions = p->functions.items;
  program->function_count = (uint32_t)p->functions.count;
  program->entry = entry == 0 ? 0 : entry - 1;
  program->fused = p->fused.items;
  program->fused_count = (uint32_t)p->fused.count;
  program->has_widths = p->has_widths;
  program->exact_floats = p->lexer.exact_floats;
  program->widths = widths;
  program->origins = p->origins;
  return program;
}

struct vcode_program *vcode_parse(struct arena *arena, const char *file, const char *text,
                                  size_t length, struct widths widths,
                                  struct diag_list *diags) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump) == 0) {
    struct vcode_program *program = read_program(arena, file, text, length, widths, diags);
    memory_guard_end(&guard);
    return program;
  }
  diag_add(diags, SEVERITY_ERROR, file, (struct source_pos){0, 0}, NULL,
           "out of memory while reading the program");
  return NULL;
}
