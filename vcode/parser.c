/* parser.c - tokens into the program model (vcode.md, section 3), with positions and links.
 *
 * There is no recursion: an IF that is open is an index on a list. After a fault the parser
 * goes on at the next word that can begin a statement, so that one run reports several.
 */
#include "base/number.h"
#include "vcode/lexer.h"
#include "vcode/vcode.h"

#include <string.h>
#include <strings.h>

enum { MOST_ERRORS = 20, NEAR_ENOUGH = 2, SHOWN = 40 };

/* Words with a meaning that are not opcodes, numbered after them in the table of names. */
enum reserved {
  R_INT = OPC_COUNT,
  R_FLOAT,
  R_BOOL,
  R_SEGDES,
  R_CHAR, /* in the order of enum type_word */
  R_T,
  R_F,
  R_STDIN,
  R_STDOUT,
  R_STDERR,
  R_NULL_STREAM,
  R_I,
  R_O,
  R_END
};
static const char *const reserved_words[] = {
    "INT",   "FLOAT",  "BOOL",   "SEGDES",      "CHAR", "T", "F",
    "STDIN", "STDOUT", "STDERR", "NULL_STREAM", "I",    "O"};

/* The elements of the constant being read; the lists are used again for the next. */
struct elements {
  ARRAY(int64_t) ints;
  ARRAY(double) floats;
  ARRAY(uint8_t) bools;
  int64_t total;
};

struct parser {
  struct arena *arena;
  struct intern names;
  struct lexer lexer;
  struct token token;      /* the next one */
  const struct name *word; /* its name if it is a word */
  struct diag_list *diags;
  const char *file;
  int64_t least, most; /* INT literals */
  ARRAY(struct vcode_function) functions;
  ARRAY(struct vcode_instruction) code; /* of the function being read */
  ARRAY(uint32_t) open;                 /* its open IFs and ELSEs */
  struct elements elements;
  ARRAY(uint32_t) defined; /* by number of name: function index + 1, or 0 */
  ARRAY(struct vcode_origin) origins;
  const char *origin_seen; /* the latest comment looked at for one */
  uint32_t origin;         /* in force: index into origins, or 0 */
  const char *begun;       /* where the latest statement begins */
};

static void report(struct parser *p, struct source_pos pos, const char *message) {
  diag_add(p->diags, SEVERITY_ERROR, p->file, pos, NULL, "%s", message);
}

static void next_token(struct parser *p) {
  p->token = lexer_next(&p->lexer);
  p->word = p->token.kind == TOKEN_WORD ? intern_name(&p->names, p->token.text, p->token.length)
                                        : NULL;
}

/* What the next token is, in words. */
static const char *found(struct parser *p) {
  struct token t = p->token;
  switch (t.kind) {
  case TOKEN_OPEN: return "(";
  case TOKEN_CLOSE: return ")";
  case TOKEN_STRING: return "a string";
  case TOKEN_END: return "the end of the file";
  case TOKEN_BAD: return "something unreadable";
  case TOKEN_INTEGER:
  case TOKEN_REAL:
  case TOKEN_WORD: break;
  }
  if (t.length > SHOWN) return arena_printf(p->arena, "%.*s...", SHOWN, t.text);
  return arena_copy(p->arena, t.text, t.length);
}

/* "WHAT, found FOUND" at the next token; a BAD one has been reported already. */
static bool expected(struct parser *p, const char *what) {
  if (p->token.kind != TOKEN_BAD) {
    report(p, p->token.pos, arena_printf(p->arena, "%s, found %s", what, found(p)));
  }
  return false;
}

/* expected for a type word, with "did you mean" for one that is nearly right. */
static bool expected_type(struct parser *p, const char *what) {
  if (p->word == NULL || p->word->number < R_END) return expected(p, what);
  for (unsigned w = TW_INT; w < TW_NONE; w++) {
    const char *type = type_word_text((enum type_word)w);
    if (strcasecmp(p->word->text, type) == 0 || edit_distance(p->word->text, type, 1) <= 1) {
      report(p, p->token.pos,
             arena_printf(p->arena, "%s, found %s; did you mean %s?", what, found(p), type));
      return false;
    }
  }
  return expected(p, what);
}

/* ---- numbers and constants ---- */

/* An integer; "SUBJECT WHAT" says what is wanted. The parts are only put together for a fault:
 * most programs have none and millions of instructions. */
static bool integer(struct parser *p, const char *subject, const char *what, int64_t *out) {
  if (p->token.kind != TOKEN_INTEGER) {
    return expected(p, arena_printf(p->arena, "%s %s", subject, what));
  }
  if (!parse_int(p->token.text, p->token.length, p->least, p->most, out)) {
    report(p, p->token.pos,
           arena_printf(p->arena, "the integer %s does not fit an INT of %d bits", found(p),
                        p->most == INT32_MAX ? 32 : 64));
    return false;
  }
  next_token(p);
  return true;
}

/* An integer that is not negative. */
static bool count(struct parser *p, const char *subject, const char *what, int64_t *out) {
  struct source_pos pos = p->token.pos;
  if (!integer(p, subject, what, out)) return false;
  if (*out >= 0) return true;
  report(p, pos, arena_printf(p->arena, "%s %s, found %lld", subject, what, (long long)*out));
  return false;
}

static bool segment_length(struct parser *p, struct elements *e) {
  struct source_pos pos = p->token.pos;
  int64_t n;
  if (!integer(p, "a segment length", "must be an integer", &n)) return false;
  if (n < 0) {
    report(p, pos,
           arena_printf(p->arena, "a segment length may not be negative, found %lld",
                        (long long)n));
    return false;
  }
  if (n > INT64_MAX - e->total) {
    report(p, pos, "the segment lengths add up to more than 2^63-1");
    return false;
  }
  e->total += n;
  *array_push(p->arena, &e->ints) = n;
  return true;
}

static bool element(struct parser *p, enum type_word type, struct elements *e) {
  int64_t n;
  switch (type) {
  case TW_INT:
    if (!integer(p, "an element of CONST INT", "must be an integer", &n)) return false;
    *array_push(p->arena, &e->ints) = n;
    return true;
  case TW_SEGDES: return segment_length(p, e);
  case TW_FLOAT:
    if (p->token.kind != TOKEN_REAL) {
      return expected(p, "an element of CONST FLOAT must be a real number like 1.0");
    }
    *array_push(p->arena, &e->floats) = parse_real(p->token.text, p->token.length);
    next_token(p);
    return true;
  case TW_BOOL:
    if (p->word == NULL || (p->word->number != R_T && p->word->number != R_F)) {
      return expected(p, "an element of CONST BOOL must be T or F");
    }
    *array_push(p->arena, &e->bools) = p->word->number == R_T;
    next_token(p);
    return true;
  case TW_CHAR:
  case TW_NONE: break;
  }
  return expected(p, "CONST CHAR must be followed by a string in double quotes");
}

/* size bytes of the arena's, no more, with the same content. */
static const void *exact(struct parser *p, const void *items, size_t size) {
  void *copy = arena_alloc(p->arena, size);
  return size == 0 ? copy : memcpy(copy, items, size);
}

static void store(struct parser *p, struct vcode_constant *c, const struct elements *e) {
  switch (c->type) {
  case TW_FLOAT:
    c->length = e->floats.count;
    c->as.floats = exact(p, e->floats.items, e->floats.count * sizeof *e->floats.items);
    break;
  case TW_BOOL:
    c->length = e->bools.count;
    c->as.bools = exact(p, e->bools.items, e->bools.count);
    break;
  case TW_INT:
  case TW_SEGDES:
  case TW_CHAR:
  case TW_NONE:
    c->length = e->ints.count;
    c->as.ints = exact(p, e->ints.items, e->ints.count * sizeof *e->ints.items);
    break;
  }
}

static bool vector_constant(struct parser *p, struct vcode_constant *c, struct elements *e) {
  struct source_pos pos = p->token.pos;
  c->vector = true;
  next_token(p);
  while (p->token.kind != TOKEN_CLOSE) {
    if (p->token.kind == TOKEN_END) {
      report(p, pos, "the constant that starts here is never closed: ) is missing");
      return false;
    }
    if (!element(p, c->type, e)) return false;
  }
  next_token(p);
  return true;
}

static bool constant(struct parser *p, struct vcode_instruction *out) {
  if (p->word == NULL || p->word->number < R_INT || p->word->number > R_CHAR) {
    return expected_type(p, "CONST must be followed by INT, FLOAT, BOOL, SEGDES or CHAR");
  }
  struct vcode_constant *c = arena_alloc(p->arena, sizeof *c);
  struct elements *e = &p->elements;
  e->ints.count = e->floats.count = e->bools.count = 0;
  e->total = 0;
  c->type = (enum type_word)(p->word->number - R_INT);
  out->type = (uint8_t)c->type;
  out->as.constant = c;
  next_token(p);
  if (c->type == TW_CHAR && p->token.kind == TOKEN_STRING) {
    c->as.chars = arena_copy(p->arena, p->token.text, p->token.length);
    c->length = p->token.length;
    next_token(p);
    return true;
  }
  if (p->token.kind == TOKEN_STRING) {
    return expected(p, "only CONST CHAR takes a string");
  }
  if (c->type == TW_INT && p->word != NULL && p->word->number >= R_STDIN &&
      p->word->number <= R_NULL_STREAM) {
    static const int64_t streams[] = {0, 1, 2, -1};
    *array_push(p->arena, &e->ints) = streams[p->word->number - R_STDIN];
    c->stream_name = true;
    next_token(p);
  } else if (p->token.kind == TOKEN_OPEN && c->type != TW_CHAR) {
    if (!vector_constant(p, c, e)) return false;
  } else if (!element(p, c->type, e)) {
    return false;
  }
  store(p, c, e);
  return true;
}

/* ---- instructions ---- */

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
    return expected(p, arena_printf(p->arena, "%s takes no type word", info->spelling));
  }
  uint32_t type = p->word == NULL ? 0 : p->word->number;
  if (type < R_INT || type > R_CHAR || !(info->types >> (type - R_INT) & 1)) {
    return expected_type(p, arena_printf(p->arena, "%s must be followed by %s", info->spelling,
                                         type_set(p, info->types)));
  }
  out->type = (uint8_t)(type - R_INT);
  next_token(p);
  return true;
}

static bool stack_arguments(struct parser *p, const char *spelling,
                            struct vcode_instruction *out) {
  struct source_pos pos = p->token.pos;
  static const char what[] = "must be followed by two integers, neither negative";
  if (!count(p, spelling, what, &out->as.stack.count)) return false;
  if (!count(p, spelling, what, &out->as.stack.depth)) return false;
  if (out->as.stack.count <= INT64_MAX - out->as.stack.depth) return true;
  report(p, pos, "count and depth add up to more than 2^63-1");
  return false;
}

/* Whether the next token may name a function. */
static bool function_name(struct parser *p) {
  uint32_t main_number = R_END; /* interned right after the reserved words */
  return p->word != NULL && p->word->number >= main_number;
}

/* ELSE and ENDIF: links the IF they belong to. `at` is the index they will have. */
static bool arm(struct parser *p, struct vcode_instruction *out, uint32_t at) {
  const char *spelling = opcode_info((enum opcode)out->op)->spelling;
  if (p->open.count == 0) {
    report(p, out->pos, arena_printf(p->arena, "%s without an IF before it", spelling));
    return false;
  }
  uint32_t opener = p->open.items[--p->open.count];
  struct vcode_instruction *before = &p->code.items[opener];
  if (out->op == OPC_ELSE) {
    if (before->op == OPC_ELSE) {
      report(
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

/* What follows an opcode word, into *out; `at` is its index in the function. */
static bool arguments(struct parser *p, struct vcode_instruction *out, uint32_t at) {
  const struct opcode_info *info = opcode_info((enum opcode)out->op);
  int64_t n;
  switch ((enum opcode)out->op) {
  case OPC_COPY:
  case OPC_POP:
  case OPC_CPOP: return stack_arguments(p, info->spelling, out);
  case OPC_CONST: return constant(p, out);
  case OPC_CALL:
    if (!function_name(p)) return expected(p, "CALL must be followed by a function name");
    out->as.call.name = p->word;
    next_token(p);
    return true;
  case OPC_FUSED:
    if (!count(p, "FUSED", "must be followed by the number of a superoperator", &n))
      return false;
    if (n > UINT32_MAX) {
      report(p, out->pos,
             arena_printf(p->arena, "no superoperator has a number as large as %lld",
                          (long long)n));
      return false;
    }
    out->as.fused = (uint32_t)n;
    return true;
  case OPC_ASSERT:
    if (p->token.kind != TOKEN_STRING) {
      return expected(p, "ASSERT must be followed by a string in double quotes");
    }
    out->as.text.text = arena_copy(p->arena, p->token.text, p->token.length);
    out->as.text.length = (uint32_t)p->token.length;
    next_token(p);
    return true;
  case OPC_IF: *array_push(p->arena, &p->open) = at; return true;
  case OPC_ELSE:
  case OPC_ENDIF: return arm(p, out, at);
  default: return type_word(p, info, out);
  }
}

/* ---- origins ---- */

static bool blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The start of ":digits" that ends at `end`; NULL if there is no such thing. */
static const char *number_before(const char *start, const char *end) {
  const char *c = end;
  while (c > start && c[-1] >= '0' && c[-1] <= '9') c--;
  return c == end || c == start || c[-1] != ':' ? NULL : c - 1;
}

/* file:line:column and a name, blanks around; malformed ones are ordinary comments. */
static void take_origin(struct parser *p) {
  const char *text = p->lexer.origin, *end = text + p->lexer.origin_length;
  p->origin_seen = text;
  while (text < end && blank(*text)) text++;
  while (end > text && blank(end[-1])) end--;
  const char *stop = text;
  while (stop < end && !blank(*stop)) stop++;
  const char *column = number_before(text, stop);
  const char *line = column == NULL ? NULL : number_before(text, column);
  if (line == NULL || line == text || memchr(text, 0, (size_t)(end - text)) != NULL) return;
  const char *name = stop;
  while (name < end && blank(*name)) name++;
  for (const char *c = name; c < end; c++) {
    if (blank(*c)) return;
  }
  p->origin = (uint32_t)p->origins.count;
  *array_push(p->arena, &p->origins) =
      (struct vcode_origin){arena_copy(p->arena, text, (size_t)(stop - text)),
                            arena_copy(p->arena, name, (size_t)(end - name))};
}

/* ---- statements and functions ---- */

/* "did you mean" for a word that is no opcode; "" if nothing is near. */
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

static bool statement(struct parser *p) {
  struct source_pos pos = p->token.pos;
  p->begun = p->token.text;
  if (p->word == NULL || p->word->number >= OPC_COUNT) {
    if (p->word == NULL) return expected(p, "an instruction must stand here");
    report(p, pos,
           arena_printf(p->arena, "%s is not an instruction%s", found(p), near_opcode(p)));
    return false;
  }
  if (p->lexer.origin != p->origin_seen && p->lexer.origin != NULL) take_origin(p);
  struct vcode_instruction i;
  memset(&i, 0, sizeof i);
  i.op = (uint16_t)p->word->number;
  i.type = TW_NONE;
  i.pos = pos;
  i.origin = p->origin;
  next_token(p);
  uint32_t at = (uint32_t)p->code.count;
  if (!arguments(p, &i, at)) return false;
  *array_push(p->arena, &p->code) = i;
  return true;
}

static bool begins_statement(const struct parser *p) {
  return p->word != NULL && p->word->number < OPC_COUNT;
}

/* After a fault: on to the next word that can begin a statement, past the one at fault. */
static void recover(struct parser *p) {
  if (p->token.text == p->begun && p->token.kind != TOKEN_END) next_token(p);
  while (p->token.kind != TOKEN_END && !begins_statement(p)) next_token(p);
}

static bool too_many(const struct parser *p) {
  return p->diags->errors >= MOST_ERRORS;
}

static bool type_list(struct parser *p, uint32_t *length, const uint8_t **types) {
  ARRAY(uint8_t) list = {0};
  while (p->word != NULL && p->word->number >= R_INT && p->word->number <= R_CHAR) {
    *array_push(p->arena, &list) = (uint8_t)(p->word->number - R_INT);
    next_token(p);
  }
  *types = list.items;
  *length = (uint32_t)list.count;
  return true;
}

static bool signature(struct parser *p, struct vcode_function *f) {
  if (p->word != NULL && p->word->number == R_O) {
    return expected(p, "the list of results needs a list of operands (I ...) before it");
  }
  if (p->word == NULL || p->word->number != R_I) return true;
  f->has_signature = true;
  next_token(p);
  type_list(p, &f->in_count, &f->in);
  if (p->word == NULL || p->word->number != R_O) {
    return expected(p, "the list of operands must be followed by the list of results (O ...)");
  }
  next_token(p);
  return type_list(p, &f->out_count, &f->out);
}

/* Makes p->defined reach the number. */
static uint32_t *defined_at(struct parser *p, const struct name *name) {
  while (p->defined.count <= name->number) *array_push(p->arena, &p->defined) = 0;
  return &p->defined.items[name->number];
}

static bool header(struct parser *p, struct vcode_function *f) {
  struct source_pos pos = p->token.pos;
  next_token(p); /* FUNC */
  if (!function_name(p)) {
    if (p->token.kind == TOKEN_END) report(p, pos, "FUNC must be followed by a name");
    return p->token.kind == TOKEN_END ? false : expected(p, "FUNC must be followed by a name");
  }
  f->name = p->word;
  f->pos = p->token.pos;
  uint32_t *defined = defined_at(p, f->name);
  if (*defined != 0) {
    report(p, f->pos,
           arena_printf(p->arena, "%s is defined twice; the first time on line %u", found(p),
                        p->functions.items[*defined - 1].pos.line));
  } else {
    *defined = (uint32_t)p->functions.count + 1;
  }
  next_token(p);
  return signature(p, f);
}

/* RET, FUNC or the end of the text ended the body: is everything closed? */
static void body_end(struct parser *p, const struct vcode_function *f) {
  if (p->lexer.cut) return;
  if (p->open.count != 0) {
    const struct vcode_instruction *opener = &p->code.items[p->open.items[p->open.count - 1]];
    report(p, p->token.pos,
           arena_printf(p->arena, "%s while the %s of line %u is still open", found(p),
                        opener->op == OPC_IF ? "IF" : "ELSE", opener->pos.line));
  } else if (p->word == NULL || p->word->number != OPC_RET) {
    report(p, p->token.pos,
           arena_printf(p->arena, "%s before the RET of function %s (line %u)", found(p),
                        f->name == NULL ? "?" : f->name->text, f->pos.line));
  }
}

static void function(struct parser *p) {
  struct vcode_function f;
  memset(&f, 0, sizeof f);
  p->code.count = 0;
  p->open.count = 0;
  p->lexer.origin = p->origin_seen = NULL;
  p->origin = 0;
  p->begun = p->token.text;
  if (!header(p, &f)) recover(p);
  while (!too_many(p) && p->token.kind != TOKEN_END &&
         !(p->word != NULL && (p->word->number == OPC_RET || p->word->number == OPC_FUNC))) {
    if (!statement(p)) recover(p);
  }
  if (too_many(p)) return;
  body_end(p, &f);
  if (p->word != NULL && p->word->number == OPC_RET) {
    if (p->lexer.origin != p->origin_seen) take_origin(p);
    *array_push(p->arena, &p->code) = (struct vcode_instruction){
        .op = OPC_RET, .type = TW_NONE, .pos = p->token.pos, .origin = p->origin};
    next_token(p);
  }
  f.length = (uint32_t)p->code.count;
  f.code = arena_alloc(p->arena, p->code.count * sizeof *f.code);
  if (f.length != 0) memcpy(f.code, p->code.items, p->code.count * sizeof *f.code);
  *array_push(p->arena, &p->functions) = f;
}

/* ---- the whole program ---- */

/* The defined name that differs only in case, or in the fewest edits; "" if none is near. */
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
    for (uint32_t i = 0; i < function->length && !too_many(p); i++) {
      struct vcode_instruction *call = &function->code[i];
      if (call->op != OPC_CALL) continue;
      uint32_t defined = *defined_at(p, call->as.call.name);
      if (defined == 0) {
        report(p, call->pos,
               arena_printf(p->arena, "function %s is called but never defined%s",
                            call->as.call.name->text, near_function(p, call->as.call.name)));
      }
      call->as.call.function = defined == 0 ? 0 : defined - 1;
    }
  }
}

static void init(struct parser *p, struct arena *arena, const char *file, struct widths widths,
                 struct diag_list *diags) {
  memset(p, 0, sizeof *p);
  p->arena = arena;
  p->file = file;
  p->diags = diags;
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
  array_push(arena, &p->origins); /* [0]: none */
}

static void functions(struct parser *p) {
  next_token(p);
  if (p->token.kind == TOKEN_END) {
    report(p, p->token.pos, "the file has no function: a program needs at least one FUNC");
  }
  while (p->token.kind != TOKEN_END && !too_many(p)) {
    if (p->word != NULL && p->word->number == OPC_FUNC) {
      function(p);
      continue;
    }
    expected(p, "FUNC must stand here, outside any function");
    while (p->token.kind != TOKEN_END && (p->word == NULL || p->word->number != OPC_FUNC) &&
           !too_many(p)) {
      next_token(p);
    }
  }
}

/* vcode_parse, within reach of the arena's jump. */
static struct vcode_program *read_program(struct arena *arena, const char *file,
                                          const char *text, size_t length, struct widths widths,
                                          struct diag_list *diags) {
  size_t before = diags->errors;
  struct parser *p = arena_alloc(arena, sizeof *p);
  init(p, arena, file, widths, diags);
  const struct name *main_name = intern_name(&p->names, "MAIN", strlen("MAIN"));
  lexer_init(&p->lexer, file, text, length, diags);
  functions(p);
  if (diags->errors == before) link_calls(p);
  if (diags->errors != before) return NULL;
  struct vcode_program *program = arena_alloc(arena, sizeof *program);
  uint32_t entry = *defined_at(p, main_name);
  program->file = file;
  program->functions = p->functions.items;
  program->function_count = (uint32_t)p->functions.count;
  program->entry = entry == 0 ? 0 : entry - 1;
  program->origins = p->origins.items;
  program->origin_count = (uint32_t)p->origins.count;
  return program;
}

struct vcode_program *vcode_parse(struct arena *arena, const char *file, const char *text,
                                  size_t length, struct widths widths,
                                  struct diag_list *diags) {
  if (setjmp(arena->out_of_memory) == 0) {
    return read_program(arena, file, text, length, widths, diags);
  }
  diag_add(diags, SEVERITY_ERROR, file, (struct source_pos){0, 0}, NULL,
           "out of memory while reading the program");
  return NULL;
}
