/* parse.c - a definition's text into a superoperator. The first fault ends it.
 *
 * Expressions nest to any depth: those that are open stand on a list, not on the C stack. A
 * node is made when its parenthesis closes, so nodes are in the order of the text.
 */
#include "base/number.h"
#include "fused-kernels/fused.h"
#include "fused-kernels/scan.h"

#include <string.h>

enum { KIND_ANY = SUPEROP_SEGDES + 1, SHOWN = 40 };

struct parser {
  struct arena *arena;
  struct vcode_program *program;
  const char *file;
  struct scan scan;
  struct scan_token token; /* the next one */
  struct diag_list *diags;
  const char *origin_seen; /* the latest comment looked at for one */
  uint32_t origin;         /* in force */
  ARRAY(uint8_t) params;   /* enum superop_kind or KIND_ANY */
  ARRAY(struct source_pos) param_positions;
  ARRAY(uint32_t) names; /* the value behind $k, by k; parameters too */
  ARRAY(struct superop_node) nodes;
  ARRAY(struct superop_node) open;
  ARRAY(uint32_t) outputs;
  uint32_t value_count;
};

/* ---- messages ---- */

static bool parse_report(struct parser *p, struct source_pos pos, const char *message) {
  diag_add(p->diags, SEVERITY_ERROR, p->file, pos, NULL, "%s", message);
  return false;
}

static const char *parse_token_text(struct parser *p, const struct scan_token *t) {
  size_t n = t->length < SHOWN ? t->length : SHOWN;
  const char *before = t->kind == SCAN_VALUE ? "$" : t->kind == SCAN_STRING ? "\"" : "";
  return arena_printf(p->arena, "%s%.*s%s", before, (int)n, t->text,
                      n < t->length            ? "..."
                      : t->kind == SCAN_STRING ? "\""
                                               : "");
}

/* "WHAT, found FOUND" at the next token. */
static bool parse_expected(struct parser *p, const char *what) {
  const struct scan_token *t = &p->token;
  const char *found = "the end of the definition";
  if (t->kind == SCAN_BAD && *t->text == '{') {
    return parse_report(p, t->pos,
                        "the comment that starts here is never closed: } is missing");
  }
  if (t->kind == SCAN_BAD && *t->text == '"') {
    return parse_report(p, t->pos,
                        "the string that starts here is never closed: \" is missing");
  }
  if (t->kind == SCAN_BAD && t->length == 1 && (*t->text < ' ' || *t->text > '~')) {
    found = arena_printf(p->arena, "a byte of value %u", (unsigned char)*t->text);
  } else if (t->kind == SCAN_BAD) {
    found = arena_printf(p->arena, "the character %c", t->length == 0 ? '$' : *t->text);
  } else if (t->kind != SCAN_END) {
    found = parse_token_text(p, t);
  }
  return parse_report(p, t->pos, arena_printf(p->arena, "%s, found %s", what, found));
}

/* ---- tokens ---- */

static void parse_next(struct parser *p) {
  p->token = scan_next(&p->scan);
}

static bool at_mark(const struct parser *p, char mark) {
  return p->token.kind == SCAN_MARK && *p->token.text == mark;
}

static bool at_word(const struct parser *p, const char *word) {
  return p->token.kind == SCAN_WORD && p->token.length == strlen(word) &&
         memcmp(p->token.text, word, p->token.length) == 0;
}

/* Goes past the mark, or says what was expected. */
static bool parse_mark(struct parser *p, char wanted, const char *what) {
  if (!at_mark(p, wanted)) return parse_expected(p, what);
  parse_next(p);
  return true;
}

/* Digits as a number that a file can hold that many of. */
static bool ordinal(const char *text, size_t length, uint32_t *out) {
  int64_t n;
  if (!parse_int(text, length, 0, INT32_MAX, &n)) return false;
  *out = (uint32_t)n;
  return true;
}

/* One of INT FLOAT BOOL SEGDES at the next token. */
static bool at_type(const struct parser *p, enum type_word last, enum type_word *out) {
  for (unsigned w = TW_INT; w <= (unsigned)last; w++) {
    if (at_word(p, type_word_text((enum type_word)w))) {
      *out = (enum type_word)w;
      return true;
    }
  }
  return false;
}

/* ---- origins ---- */

static void take_origin(struct parser *p) {
  if (p->scan.origin == p->origin_seen) return;
  p->origin_seen = p->scan.origin;
  const uint32_t origin =
      vcode_read_origin(&p->program->origins, p->scan.origin, p->scan.origin_length);
  if (origin != 0) p->origin = origin;
}

/* ---- "fused OP0#1 ($0 : INT) =", or as the paper of 2012 prints it "fused OP0 (...) =" ----
 */

static bool heading(struct parser *p, uint32_t number) {
  parse_next(p); /* fused */
  uint32_t n, uses;
  if (p->token.kind != SCAN_WORD || p->token.length < 3 ||
      memcmp(p->token.text, "OP", 2) != 0 ||
      !ordinal(p->token.text + 2, p->token.length - 2, &n)) {
    return parse_expected(p, "fused must be followed by the superoperator's number, OP0 or so");
  }
  if (n != number) {
    return parse_expected(
        p, arena_printf(p->arena, "superoperators are numbered in order: OP%u must stand here",
                        number));
  }
  parse_next(p);
  if (!at_mark(p, '#')) return true;
  parse_next(p);
  if (p->token.kind != SCAN_INTEGER || !ordinal(p->token.text, p->token.length, &uses)) {
    return parse_expected(p, "# must be followed by how often the superoperator is used");
  }
  parse_next(p);
  return true;
}

static bool parse_param(struct parser *p) {
  uint32_t k, count = (uint32_t)p->params.count;
  const char *what = arena_printf(p->arena, "parameter $%u must stand here", count);
  if (p->token.kind != SCAN_VALUE || !ordinal(p->token.text, p->token.length, &k) ||
      k != count) {
    return parse_expected(p, what);
  }
  if (count == SUPEROP_VALUES_MAX) return parse_report(p, p->token.pos, "too many parameters");
  *array_push(p->arena, &p->param_positions) = p->token.pos;
  parse_next(p);
  if (!parse_mark(p, ':', "a parameter must be followed by : and its kind")) return false;
  enum type_word type = TW_NONE;
  if (!at_type(p, TW_SEGDES, &type) && !at_word(p, "ANY")) {
    return parse_expected(p, "the kind of a parameter must be INT, FLOAT, BOOL, SEGDES or ANY");
  }
  parse_next(p);
  *array_push(p->arena, &p->params) =
      (uint8_t)(type == TW_NONE ? (int)KIND_ANY : (int)type); /* kinds: in the order of types */
  *array_push(p->arena, &p->names) = count;
  return true;
}

static bool params(struct parser *p) {
  if (!parse_mark(p, '(', "the list of parameters must stand here: ($0 : INT, ...)"))
    return false;
  while (!at_mark(p, ')')) {
    if (p->params.count != 0 && !parse_mark(p, ',', "a parameter must be followed by , or )")) {
      return false;
    }
    if (!parse_param(p)) return false;
  }
  parse_next(p);
  p->value_count = (uint32_t)p->params.count;
  if (!at_word(p, "=")) return parse_expected(p, "the parameters must be followed by =");
  parse_next(p);
  return true;
}

/* ---- expressions ---- */

/* The value that $k at the next token stands for. */
static bool kernel_parse_value(struct parser *p, uint32_t *out) {
  uint32_t k;
  if (!ordinal(p->token.text, p->token.length, &k) || k >= p->names.count) {
    return parse_report(p, p->token.pos,
                        arena_printf(p->arena, "%s is not defined before its use",
                                     parse_token_text(p, &p->token)));
  }
  *out = p->names.items[k];
  parse_next(p);
  return true;
}

/* Parses the literal after CONST T. */
static bool parse_literal(struct parser *p, struct superop_node *node) {
  const struct scan_token *t = &p->token;
  struct widths w = p->program->widths;
  bool wide = w.int_elem == CVL_I64;
  int64_t n;
  double x;
  if (node->type == TW_INT) {
    if (t->kind != SCAN_INTEGER)
      return parse_expected(p, "CONST INT must be followed by an integer");
    if (!parse_int(t->text, t->length, wide ? INT64_MIN : INT32_MIN,
                   wide ? INT64_MAX : INT32_MAX, &n)) {
      return parse_report(p, t->pos,
                          arena_printf(p->arena,
                                       "the integer %s does not fit an INT of %d bits",
                                       parse_token_text(p, t), wide ? 64 : 32));
    }
    node->constant = cvl_scalar_int(w.int_elem, n);
  } else if (node->type == TW_FLOAT) {
    const bool number = t->kind == SCAN_REAL || t->kind == SCAN_WORD;
    if (!number || !vcode_read_real(t->text, t->length, &x)) {
      return parse_expected(
          p, "CONST FLOAT must be followed by a real number like 1.0, or by nan");
    }
    node->constant = cvl_scalar_float(w.float_elem, x);
  } else {
    if (!at_word(p, "T") && !at_word(p, "F")) {
      return parse_expected(p, "CONST BOOL must be followed by T or F");
    }
    node->constant = cvl_scalar_bool(at_word(p, "T"));
  }
  parse_next(p);
  return true;
}

/* Parses the text after ASSERT. */
static bool assertion_text(struct parser *p, struct superop_node *node) {
  const struct scan_token *t = &p->token;
  if (t->kind != SCAN_STRING) {
    return parse_expected(p, "ASSERT must be followed by a string in double quotes");
  }
  node->text = arena_copy(p->arena, t->text, t->length);
  node->text_length = (uint32_t)t->length;
  parse_next(p);
  return true;
}

/* From the opening parenthesis up to the operands: opens a node. */
static bool kernel_parse_operation(struct parser *p) {
  struct superop_node node = {.type = TW_NONE, .checked = true};
  uint32_t op;
  if (at_word(p, "!")) {
    node.checked = false;
    parse_next(p);
  }
  node.pos = p->token.pos;
  if (p->token.kind != SCAN_WORD || !superop_find(p->token.text, p->token.length, &op)) {
    return parse_expected(p, "( must be followed by an operation");
  }
  const struct opcode_info *info = superop_info(op);
  bool known = op >= OPC_COUNT || (info->operation != OP_NONE && *info->operands != '\0');
  if (op != OPC_CONST && !known) {
    return parse_report(
        p, node.pos,
        arena_printf(p->arena, "%s may not occur in a superoperator", info->spelling));
  }
  node.op = (uint16_t)op;
  parse_next(p);
  unsigned types = op == OPC_CONST ? T_IFB : info->types;
  enum type_word type;
  if (at_type(p, TW_CHAR, &type) != (types != NO_TYPE) ||
      (types != NO_TYPE && !(types >> type & 1))) {
    return parse_expected(p, arena_printf(p->arena,
                                          types == NO_TYPE
                                              ? "%s takes no type word"
                                              : "%s must be followed by a type it has",
                                          info->spelling));
  }
  if (types != NO_TYPE) {
    node.type = (uint8_t)type;
    parse_next(p);
  }
  if (op == OPC_ASSERT && !assertion_text(p, &node)) return false;
  if (op == OPC_CONST) {
    if (!parse_literal(p, &node)) return false;
  } else if (!parse_mark(p, '@', "an operation must be followed by @ and its operands")) {
    return false;
  }
  *array_push(p->arena, &p->open) = node;
  return true;
}

static uint32_t parse_results_of(const struct superop_node *node) {
  return node->op == OPC_CONST ? 1 : (uint32_t)strlen(superop_info(node->op)->results);
}

/* At a closing parenthesis: the innermost open operation is complete. */
static bool close_operation(struct parser *p, struct superop_node *out) {
  struct superop_node *node = &p->open.items[--p->open.count];
  const struct opcode_info *info = superop_info(node->op);
  size_t wanted = strlen(info->operands);
  if (node->operand_count != wanted) {
    return parse_report(p, p->token.pos,
                        arena_printf(p->arena, "%s takes %zu operands, found %u",
                                     info->spelling, wanted, node->operand_count));
  }
  take_origin(p);
  node->origin = p->origin;
  node->result_count = (uint8_t)parse_results_of(node);
  node->result = p->value_count;
  p->value_count += node->result_count;
  if (p->value_count > SUPEROP_VALUES_MAX) {
    return parse_report(
        p, node->pos,
        arena_printf(p->arena, "a superoperator has at most %d values", SUPEROP_VALUES_MAX));
  }
  *out = *array_push(p->arena, &p->nodes) = *node;
  parse_next(p); /* ) */
  return true;
}

static bool parse_add_operand(struct parser *p, uint32_t operand, struct source_pos pos) {
  struct superop_node *node = &p->open.items[p->open.count - 1];
  if (node->operand_count == strlen(superop_info(node->op)->operands)) {
    return parse_report(p, pos,
                        arena_printf(p->arena, "%s takes %u operands, found one more",
                                     superop_info(node->op)->spelling, node->operand_count));
  }
  node->operands[node->operand_count++] = operand;
  return true;
}

/* At ) of an operation inside another, whose operand its only result becomes. */
static bool close_inner(struct parser *p, const struct superop_node *node) {
  if (node->result_count == 1) return parse_add_operand(p, node->result, node->pos);
  if (node->result_count == 0) {
    return parse_report(p, node->pos,
                        arena_printf(p->arena,
                                     "%s has no result and stands on a line of its own",
                                     superop_info(node->op)->spelling));
  }
  return parse_report(p, node->pos,
                      arena_printf(p->arena,
                                   "the %u results of %s need names, on a line of their own",
                                   node->result_count, superop_info(node->op)->spelling));
}

/* A whole expression: its first value and how many it has. */
static bool kernel_parse_expression(struct parser *p, uint32_t *result, uint32_t *count) {
  *count = 1;
  do {
    struct source_pos pos = p->token.pos;
    if (at_mark(p, '(')) {
      parse_next(p);
      if (!kernel_parse_operation(p)) return false;
    } else if (at_mark(p, ')') && p->open.count != 0) {
      struct superop_node node = {0};
      if (!close_operation(p, &node)) return false;
      *result = node.result;
      *count = node.result_count;
      if (p->open.count != 0 && !close_inner(p, &node)) return false;
    } else if (p->token.kind == SCAN_VALUE) {
      if (!kernel_parse_value(p, result)) return false;
      if (p->open.count != 0 && !parse_add_operand(p, *result, pos)) return false;
    } else {
      return parse_expected(p, p->open.count == 0 ? "an expression must stand here: $k or (..."
                                                  : "an operand or ) must stand here");
    }
  } while (p->open.count != 0);
  return true;
}

/* ---- the body ---- */

/* "$k = expr" or "$k $k+1 = expr": at the first name. */
static bool binding(struct parser *p) {
  struct source_pos pos = p->token.pos;
  uint32_t named = 0, first = (uint32_t)p->names.count, k, result, count;
  for (; p->token.kind == SCAN_VALUE; named++) {
    if (!ordinal(p->token.text, p->token.length, &k) || k != first + named) {
      return parse_expected(
          p,
          arena_printf(p->arena, "names go up in order: $%u must stand here", first + named));
    }
    parse_next(p);
  }
  if (!at_word(p, "=")) return parse_expected(p, "a name must be followed by =");
  parse_next(p);
  if (!kernel_parse_expression(p, &result, &count)) return false;
  if (named != count) {
    return parse_report(p, pos,
                        arena_printf(p->arena, "%u name%s for %u result%s", named,
                                     named == 1 ? "" : "s", count, count == 1 ? "" : "s"));
  }
  for (uint32_t i = 0; i < count; i++) *array_push(p->arena, &p->names) = result + i;
  return true;
}

static bool parse_add_output(struct parser *p, uint32_t out, struct source_pos pos) {
  if (out < p->params.count) {
    return parse_report(p, pos, "an output must be computed, not a parameter");
  }
  for (size_t i = 0; i < p->outputs.count; i++) {
    if (p->outputs.items[i] == out)
      return parse_report(p, pos, "a value can be an output only once");
  }
  *array_push(p->arena, &p->outputs) = out;
  return true;
}

static bool output_list(struct parser *p) {
  parse_next(p); /* -> */
  if (p->token.kind != SCAN_VALUE)
    return parse_expected(p, "-> must be followed by the outputs");
  while (p->token.kind == SCAN_VALUE) {
    struct source_pos pos = p->token.pos;
    uint32_t out;
    if (!kernel_parse_value(p, &out) || !parse_add_output(p, out, pos)) return false;
  }
  return true;
}

/* An expression without a name: an operation without results, or the last one, whose value is
 * the only output. */
static bool unnamed(struct parser *p, bool *last) {
  struct source_pos pos = p->token.pos;
  uint32_t out, count;
  if (!kernel_parse_expression(p, &out, &count)) return false;
  *last = count != 0;
  if (count > 1) {
    return parse_report(p, pos,
                        "an operation with two results needs names and a list -> of outputs");
  }
  return count == 0 || parse_add_output(p, out, pos);
}

/* Whether the last operation may be one that only checks, as copies have it. */
static bool may_check(const struct parser *p) {
  if (p->nodes.count == 0) return false;
  const uint16_t op = p->nodes.items[p->nodes.count - 1].op;
  return op < OPC_COUNT && opcode_info((enum opcode)op)->klass == OC_PERMUTE;
}

/* Whether $k at the next token is a name that is not taken: a binding begins. */
static bool at_binding(const struct parser *p) {
  uint32_t k;
  return p->token.kind == SCAN_VALUE &&
         (!ordinal(p->token.text, p->token.length, &k) || k >= p->names.count);
}

static bool kernel_parse_body(struct parser *p) {
  bool last = false, asserts = false;
  while (!last) {
    if (at_binding(p)) {
      if (!binding(p)) return false;
    } else if (at_word(p, "->")) {
      if (!output_list(p)) return false;
      last = true;
    } else if (p->token.kind == SCAN_END && (asserts || may_check(p))) {
      last = true;
    } else {
      if (!unnamed(p, &last)) return false;
      asserts |= !last;
    }
  }
  if (p->token.kind == SCAN_END) return true;
  return parse_expected(p, at_word(p, "=") ? "names have to be new, and in order"
                                           : "the definition must end here");
}

/* ---- kinds, and the whole ---- */

/* ANY becomes what the first use needs. */
static bool infer_kinds(struct parser *p) {
  for (size_t k = 0; k < p->nodes.count; k++) {
    const struct superop_node *node = &p->nodes.items[k];
    const char *letters = superop_info(node->op)->operands;
    for (unsigned i = 0; i < node->operand_count; i++) {
      uint32_t v = node->operands[i];
      if (v < p->params.count && p->params.items[v] == KIND_ANY) {
        p->params.items[v] = (uint8_t)operand_kind(letters[i], (enum type_word)node->type);
      }
    }
  }
  for (size_t v = 0; v < p->params.count; v++) {
    if (p->params.items[v] == KIND_ANY) {
      return parse_report(
          p, p->param_positions.items[v],
          arena_printf(p->arena, "$%zu is used nowhere, so its kind must be given", v));
    }
  }
  return true;
}

static struct superop *parse_complete(struct parser *p, uint32_t number,
                                      struct source_pos pos) {
  struct superop *op = arena_alloc(p->arena, sizeof *op);
  *op = (struct superop){.number = number,
                         .param_count = (uint32_t)p->params.count,
                         .node_count = (uint32_t)p->nodes.count,
                         .output_count = (uint32_t)p->outputs.count,
                         .params = p->params.items,
                         .nodes = p->nodes.items,
                         .outputs = p->outputs.items};
  const char *why;
  uint32_t node;
  if (superop_complete(p->arena, op, &why, &node)) return op;
  if (why == NULL) memory_failed();
  parse_report(p, node < op->node_count ? op->nodes[node].pos : pos, why);
  return NULL;
}

static struct superop *kernel_parse(struct arena *arena, struct vcode_program *program,
                                    const struct vcode_fused *fused, struct diag_list *diags) {
  uint32_t number = (uint32_t)(fused - program->fused);
  struct parser *p = arena_alloc(arena, sizeof *p);
  p->arena = arena;
  p->program = program;
  p->file = fused->file;
  p->diags = diags;
  scan_init(&p->scan, fused);
  parse_next(p); /* fused */
  if (!heading(p, number) || !params(p) || !kernel_parse_body(p) || !infer_kinds(p))
    return NULL;
  return parse_complete(p, number, fused->pos);
}

struct superop *fused_parse(struct arena *arena, struct vcode_program *program,
                            const struct vcode_fused *fused, struct diag_list *diags) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    diag_add(diags, SEVERITY_ERROR, fused->file, fused->pos, NULL,
             "out of memory while reading the superoperator");
    return NULL;
  }
  struct superop *op = kernel_parse(arena, program, fused, diags);
  memory_guard_end(&guard);
  return op;
}
