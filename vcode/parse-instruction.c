/* parse-instruction.c - parses one instruction: its opcode, its arguments, the links of IF,
 * ELSE and ENDIF, and the current origin. Open IFs are indices on a list: there is no
 * recursion.
 */
#include "vcode/parser.h"

#include <string.h>

static const char *type_set(struct parser *p, unsigned types) {
  const char *text = "";
  for (unsigned w = TW_INT; w < TW_NONE; w++) {
    if (types >> w & 1) {
      text =
          arena_printf(p->arena, "%s%s%s", text, *text ? (types >> w == 1 ? " or " : ", ") : "",
                       type_word_text((enum type_word)w));
    }
  }
  return text;
}

static bool type_word(struct parser *p, const struct opcode_info *info,
                      struct vcode_instruction *out) {
  out->type = TW_NONE;
  if (info->types == NO_TYPE) {
    if (p->word == NULL || p->word->number < R_INT || p->word->number > R_CHAR) return true;
    return parser_expected(p, arena_printf(p->arena, "%s takes no type word", info->spelling));
  }
  uint32_t type = p->word == NULL ? 0 : p->word->number;
  if (type < R_INT || type > R_CHAR || !(info->types >> (type - R_INT) & 1)) {
    return parser_expected_type(p, arena_printf(p->arena, "%s must be followed by %s",
                                                info->spelling, type_set(p, info->types)));
  }
  out->type = (uint8_t)(type - R_INT);
  parser_next(p);
  return true;
}

static bool stack_arguments(struct parser *p, const char *spelling,
                            struct vcode_instruction *out) {
  struct source_pos pos = p->token.pos;
  static const char what[] = "must be followed by two integers, neither negative";
  if (!parser_count(p, spelling, what, &out->as.stack.count)) return false;
  if (!parser_count(p, spelling, what, &out->as.stack.depth)) return false;
  if (out->as.stack.count <= INT64_MAX - out->as.stack.depth) return true;
  parser_report(p, pos, "count and depth add up to more than 2^63-1");
  return false;
}

/* Links an ELSE or ENDIF to the IF it belongs to. `at` is the index they will have. */
static bool parse_arm(struct parser *p, struct vcode_instruction *out, uint32_t at) {
  const char *spelling = opcode_info((enum opcode)out->op)->spelling;
  if (p->open.count == 0) {
    parser_report(p, out->pos, arena_printf(p->arena, "%s without an IF before it", spelling));
    return false;
  }
  uint32_t opener = p->open.items[--p->open.count];
  struct vcode_instruction *before = &p->code.items[opener];
  if (out->op == OPC_ELSE) {
    if (before->op == OPC_ELSE) {
      parser_report(
          p, out->pos,
          arena_printf(p->arena, "a second ELSE; the first is on line %u", before->pos.line));
      *array_push(p->arena, &p->open) = opener;
      return false;
    }
    before->as.branch.otherwise = at;
    out->as.branch.otherwise = opener; /* an ELSE remembers its IF until the ENDIF */
    *array_push(p->arena, &p->open) = at;
  } else if (before->op == OPC_ELSE) {
    struct vcode_instruction *condition = &p->code.items[before->as.branch.otherwise];
    condition->as.branch.end = before->as.branch.end = at;
    before->as.branch.otherwise = 0;
  } else {
    before->as.branch.otherwise = before->as.branch.end = at;
  }
  return true;
}

/* Parses the arguments of an opcode into *out, which has the index `at` in the function. */
static bool arguments(struct parser *p, struct vcode_instruction *out, uint32_t at) {
  const struct opcode_info *info = opcode_info((enum opcode)out->op);
  int64_t n;
  switch ((enum opcode)out->op) {
  case OPC_COPY:
  case OPC_POP:
  case OPC_CPOP: return stack_arguments(p, info->spelling, out);
  case OPC_CONST: return parser_constant(p, out);
  case OPC_CALL:
    if (!parser_at_name(p))
      return parser_expected(p, "CALL must be followed by a function name");
    out->as.call.name = p->word;
    parser_next(p);
    return true;
  case OPC_FUSED:
    if (!parser_count(p, "FUSED", "must be followed by the number of a superoperator", &n))
      return false;
    if (n > UINT32_MAX) {
      parser_report(p, out->pos,
                    arena_printf(p->arena, "no superoperator has a number as large as %lld",
                                 (long long)n));
      return false;
    }
    out->as.fused = (uint32_t)n;
    return true;
  case OPC_ASSERT:
    if (p->token.kind != TOKEN_STRING) {
      return parser_expected(p, "ASSERT must be followed by a string in double quotes");
    }
    out->as.text.text = arena_copy(p->arena, p->token.text, p->token.length);
    out->as.text.length = (uint32_t)p->token.length;
    parser_next(p);
    return true;
  case OPC_IF: *array_push(p->arena, &p->open) = at; return true;
  case OPC_ELSE:
  case OPC_ENDIF: return parse_arm(p, out, at);
  default: return type_word(p, info, out);
  }
}

void parser_take_origin(struct parser *p) {
  p->origin_seen = p->lexer.origin;
  const uint32_t origin =
      vcode_read_origin(&p->origins, p->lexer.origin, p->lexer.origin_length);
  if (origin != 0) p->origin = origin;
}

/* Returns the suggestion "did you mean" for a word that is no opcode; "" if nothing is near. */
static const char *near_opcode(struct parser *p) {
  char upper[SHOWN + 1] = {0};
  if (p->token.length > SHOWN) return "";
  for (size_t i = 0; i < p->token.length; i++) {
    char c = p->token.text[i];
    upper[i] = (char)(c >= 'a' && c <= 'z' ? c - 32 : c);
  }
  unsigned best = p->token.length > 3 ? NEAR_ENOUGH + 1 : 1;
  const char *nearest = NULL;
  for (int op = 0; op < OPC_COUNT; op++) {
    const char *spelling = opcode_info((enum opcode)op)->spelling;
    unsigned distance = edit_distance(upper, spelling, NEAR_ENOUGH);
    if (distance < best) {
      best = distance;
      nearest = spelling;
    }
  }
  return nearest == NULL ? "" : arena_printf(p->arena, "; did you mean %s?", nearest);
}

bool parser_statement(struct parser *p) {
  struct source_pos pos = p->token.pos;
  p->begun = p->token.text;
  if (p->word == NULL || p->word->number >= OPC_COUNT) {
    if (p->word == NULL) return parser_expected(p, "an instruction must stand here");
    parser_report(
        p, pos,
        arena_printf(p->arena, "%s is not an instruction%s", parser_found(p), near_opcode(p)));
    return false;
  }
  if (p->lexer.origin != p->origin_seen && p->lexer.origin != NULL) parser_take_origin(p);
  struct vcode_instruction i;
  memset(&i, 0, sizeof i);
  i.op = (uint16_t)p->word->number;
  i.type = TW_NONE;
  i.pos = pos;
  i.origin = p->origin;
  parser_next(p);
  uint32_t at = (uint32_t)p->code.count;
  if (!arguments(p, &i, at)) return false;
  *array_push(p->arena, &p->code) = i;
  return true;
}

static bool begins_statement(const struct parser *p) {
  return p->word != NULL && p->word->number < OPC_COUNT;
}

/* After an error: skips the faulty word, up to the next that can begin a statement. */
void parser_recover(struct parser *p) {
  if (p->token.text == p->begun && p->token.kind != TOKEN_END) parser_next(p);
  while (p->token.kind != TOKEN_END && !begins_statement(p)) parser_next(p);
}
