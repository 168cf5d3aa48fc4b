/* parse.c - the text form back into a program; its grammar is in ir/print.c.
 *
 * Functions are parsed one after the other; names of called functions are resolved at the end.
 * The stack code of functions without let-form is parsed by vcode_parse, all at once: from a
 * copy of the text in which everything else is blank, so that positions in messages are right,
 * and in which a function with let-form is an empty function of its name. */
#include "ir/tests/parse.h"
#include "base/number.h"
#include "base/text.h"
#include "ir/kinds.h"
#include "ir/superops.h"
#include "ir/tests/scan.h"
#include "ir/verify.h"

#include <setjmp.h>
#include <string.h>

enum {
  MAX_VARIABLE = 1 << 24, /* number of a variable; tables are this long at most */
  MAX_KIND_VARIABLE = 1 << 20
};

/* An IF whose arms are being read. */
struct open_if {
  struct ir_binding binding; /* incomplete */
  struct ir_block *then;
  bool in_else;
  size_t start; /* of the present arm, among the pending bindings */
};

struct stack_code {
  uint32_t function;
  struct token text;
  ARRAY(struct source_pos) positions;
  ARRAY(uint32_t) origins;
};

/* A call whose callee is still the number of a name. */
struct call {
  uint32_t *callee;
  struct source_pos pos;
};

struct parser {
  struct scanner scan;
  struct arena *arena;
  struct intern names;
  ARRAY(uint32_t) function_of; /* by number of the name: 1 + index of its function, or 0 */
  ARRAY(const struct name *) called;
  ARRAY(struct call) calls;
  ARRAY(struct ir_function) functions;
  ARRAY(const char *) starts; /* of each function's text */
  ARRAY(struct stack_code) stacks;
  struct origin_table origins;
  struct ir_program *program;
  const struct name *entry;

  /* the present function */
  ARRAY(const struct ir_kind *) vars;
  uint32_t kind_variables;
  ARRAY(struct ir_binding) pending;
  ARRAY(struct open_if) ifs;
  ARRAY(ir_var) list;
};

/* ---- names, variables, positions ---- */

static const struct name *parse_name(struct parser *p) {
  struct scanner *s = &p->scan;
  if (s->token.kind != TOKEN_WORD) scanner_expected(s, "the name of a function");
  const struct name *name = intern_name(&p->names, s->token.text, s->token.length);
  while (p->function_of.count <= name->number) *array_push(p->arena, &p->function_of) = 0;
  scanner_next(s);
  return name;
}

static struct token parse_string(struct parser *p) {
  struct token string = p->scan.token;
  if (string.kind != TOKEN_STRING) scanner_expected(&p->scan, "a string");
  scanner_next(&p->scan);
  return string;
}

static const char *parse_text(struct parser *p) {
  struct token string = parse_string(p);
  return arena_copy(p->arena, string.text, string.length);
}

/* @line:column, and #origin where `origin` is wanted. */
static struct source_pos parse_pos(struct parser *p, uint32_t *origin) {
  struct scanner *s = &p->scan;
  struct source_pos pos;
  scanner_expect(s, "@");
  pos.line = scanner_number(s, "a line", UINT32_MAX);
  scanner_expect(s, ":");
  pos.column = scanner_number(s, "a column", UINT32_MAX);
  if (origin && scanner_take(s, "#")) {
    size_t count = p->origins.list.count;
    *origin = scanner_number(s, "the number of an origin", count > 0 ? (uint32_t)count - 1 : 0);
  }
  return pos;
}

static ir_var parse_var(struct parser *p) {
  struct scanner *s = &p->scan;
  if (!scanner_is_variable(s)) scanner_expected(s, "a variable");
  s->token.text++;
  s->token.length--;
  return scanner_number(s, "a smaller number of a variable", MAX_VARIABLE);
}

static const struct ir_kind *parse_kind(struct parser *p, unsigned depth) {
  struct scanner *s = &p->scan;
  if (depth > KIND_MAX_DEPTH) scanner_fail(s, "pairs are nested too deeply");
  for (int tag = 0; tag < BASE_KINDS; tag++) {
    const struct ir_kind *base = ir_kind_base((enum ir_kind_tag)tag);
    if (scanner_take(s, ir_tag_text(base->tag))) return base;
  }
  struct ir_kind *kind = arena_alloc(p->arena, sizeof *kind);
  if (scanner_take(s, "?")) {
    kind->tag = IR_ANY;
    kind->variable = scanner_number(s, "the number of a kind variable", MAX_KIND_VARIABLE);
    if (kind->variable >= p->kind_variables) p->kind_variables = kind->variable + 1;
    return kind;
  }
  if (!scanner_take(s, "PAIR")) scanner_expected(s, "a kind");
  kind->tag = IR_PAIR;
  scanner_expect(s, "(");
  kind->left = parse_kind(p, depth + 1);
  scanner_expect(s, ",");
  kind->right = parse_kind(p, depth + 1);
  scanner_expect(s, ")");
  return kind;
}

static void set_kind(struct parser *p, ir_var v, const struct ir_kind *kind) {
  while (p->vars.count <= v) *array_push(p->arena, &p->vars) = NULL;
  if (p->vars.items[v]) scanner_fail(&p->scan, "v%u is bound twice", v);
  p->vars.items[v] = kind;
}

/* ---- constants ---- */

static int64_t parse_int_element(struct parser *p) {
  struct scanner *s = &p->scan;
  bool wide = p->program->widths.int_elem == CVL_I64;
  int64_t x = 0;
  if (s->token.kind != TOKEN_WORD ||
      !parse_int(s->token.text, s->token.length, wide ? INT64_MIN : INT32_MIN,
                 wide ? INT64_MAX : INT32_MAX, &x))
    scanner_expected(s, "an integer");
  scanner_next(s);
  return x;
}

static double parse_float_element(struct parser *p) {
  struct scanner *s = &p->scan;
  static const char *const special[] = {"inf", "-inf", "nan"};
  bool fine = s->token.kind == TOKEN_WORD;
  for (size_t i = 0; i < s->token.length && fine; i++)
    fine = strchr("0123456789+-.eE", s->token.text[i]) != NULL;
  for (int i = 0; i < 3; i++) fine |= scanner_is(s, special[i]);
  if (!fine) scanner_expected(s, "a real number");
  double x = parse_real(s->token.text, s->token.length);
  scanner_next(s);
  return x;
}

static uint8_t parse_bool_element(struct parser *p) {
  if (scanner_take(&p->scan, "T")) return 1;
  scanner_expect(&p->scan, "F");
  return 0;
}

static bool parse_stream_name(struct parser *p, int64_t *stream) {
  static const char *const names[] = {"NULL_STREAM", "STDIN", "STDOUT", "STDERR"};
  for (int i = 0; i < 4; i++) {
    *stream = i - 1;
    if (scanner_take(&p->scan, names[i])) return true;
  }
  return false;
}

static const struct vcode_constant *parse_constant(struct parser *p) {
  struct scanner *s = &p->scan;
  struct vcode_constant *c = arena_alloc(p->arena, sizeof *c);
  uint8_t type = 0;
  while (type < TW_NONE && !scanner_is(s, type_word_text((enum type_word)type))) type++;
  if (type == TW_NONE) scanner_expected(s, "a type");
  scanner_next(s);
  c->type = (enum type_word)type;
  if (type == TW_CHAR) {
    struct token string = parse_string(p);
    c->as.chars = string.text;
    c->length = string.length;
    return c;
  }
  ARRAY(int64_t) ints = {0};
  ARRAY(double) floats = {0};
  ARRAY(uint8_t) bools = {0};
  int64_t stream;
  c->vector = scanner_take(s, "(");
  if (!c->vector && type == TW_INT && parse_stream_name(p, &stream)) {
    c->stream_name = true;
    *array_push(p->arena, &ints) = stream;
  } else {
    bool more = !c->vector || !scanner_is(s, ")");
    while (more) {
      if (type == TW_FLOAT)
        *array_push(p->arena, &floats) = parse_float_element(p);
      else if (type == TW_BOOL)
        *array_push(p->arena, &bools) = parse_bool_element(p);
      else
        *array_push(p->arena, &ints) = parse_int_element(p);
      more = c->vector && !scanner_is(s, ")");
    }
    if (c->vector) scanner_expect(s, ")");
  }
  c->length = ints.count + floats.count + bools.count;
  if (type == TW_FLOAT)
    c->as.floats = floats.items;
  else if (type == TW_BOOL)
    c->as.bools = bools.items;
  else
    c->as.ints = ints.items;
  return c;
}

/* ---- bindings ---- */

/* The variables up to the position, into p->list. */
static void parse_vars(struct parser *p) {
  while (scanner_is_variable(&p->scan)) *array_push(p->arena, &p->list) = parse_var(p);
}

static void take_vars(struct parser *p, ir_var *to, size_t from, size_t count) {
  if (count > 0) memcpy(to, p->list.items + from, count * sizeof(ir_var));
}

/* Reads the name of a function that may follow. The result is the number of the name, until
 * resolve_calls. */
static uint32_t parse_callee(struct parser *p) {
  const struct name *callee = parse_name(p);
  while (p->called.count <= callee->number) *array_push(p->arena, &p->called) = NULL;
  p->called.items[callee->number] = callee;
  return callee->number;
}

/* Fills in the operation of x, all but operands and position. */
static void parse_operation(struct parser *p, struct ir_binding *x) {
  struct scanner *s = &p->scan;
  x->type = TW_NONE;
  enum opcode op;
  if (scanner_take(s, "if")) {
    x->form = IR_IF;
    x->op = OPC_IF;
  } else if (scanner_take(s, "call")) {
    x->form = IR_CALL;
    x->op = OPC_CALL;
    x->as.callee = parse_callee(p);
  } else if (scanner_take(s, "FUSED")) {
    uint32_t count = p->program->superop_count;
    x->form = IR_FUSED;
    x->op = OPC_FUSED;
    x->as.superop = scanner_number(s, "the number of a superoperator", UINT32_MAX);
    if (x->as.superop >= count) scanner_fail(s, "FUSED %u is not defined", x->as.superop);
  } else if (scanner_take(s, "CONST")) {
    x->form = IR_CONST;
    x->op = OPC_CONST;
    x->as.constant = parse_constant(p);
    x->type = (uint8_t)x->as.constant->type;
  } else if (s->token.kind == TOKEN_WORD && opcode_find(s->token.text, s->token.length, &op)) {
    scanner_next(s);
    x->form = IR_OP;
    x->op = (uint16_t)op;
    for (uint8_t type = 0; type < TW_NONE; type++) {
      if (!scanner_take(s, type_word_text((enum type_word)type))) continue;
      x->type = type;
      break;
    }
    if (op == OPC_ASSERT) {
      struct token text = parse_string(p);
      x->as.text.text = arena_copy(p->arena, text.text, text.length);
      x->as.text.length = (uint32_t)text.length;
    }
  } else {
    scanner_expected(s, "an operation");
  }
}

/* The kind of result i where the text does not give it. */
static const struct ir_kind *fixed_kind(struct parser *p, const struct ir_binding *x,
                                        uint32_t i) {
  enum ir_kind_tag tag = IR_ANY;
  if (x->form == IR_CONST) tag = ir_constant_tag(x->as.constant);
  if (x->form == IR_OP && i < strlen(opcode_info(x->op)->results))
    tag = (enum ir_kind_tag)operand_kind(opcode_info(x->op)->results[i], x->type);
  if (x->form == IR_FUSED) {
    const struct superop *op = p->program->superops[x->as.superop];
    if (i < op->output_count) tag = ir_superop_output(op, i)->tag;
  }
  if ((int)tag >= (int)BASE_KINDS)
    scanner_fail(&p->scan, "result %u of this operation must be given a kind", i);
  return ir_kind_base(tag);
}

static void parse_binding(struct parser *p) {
  struct scanner *s = &p->scan;
  ARRAY(const struct ir_kind *) kinds = {0};
  p->list.count = 0;
  if (scanner_is_variable(s)) {
    do {
      *array_push(p->arena, &p->list) = parse_var(p);
      *array_push(p->arena, &kinds) = scanner_take(s, ":") ? parse_kind(p, 0) : NULL;
    } while (scanner_take(s, ","));
    scanner_expect(s, "=");
  }
  struct ir_binding x = {.result_count = (uint32_t)p->list.count};
  parse_operation(p, &x);
  parse_vars(p);
  x.operand_count = (uint32_t)p->list.count - x.result_count;
  x.operands = arena_alloc(p->arena, p->list.count * (sizeof(ir_var) + sizeof(bool)));
  x.results = x.operands + x.operand_count;
  x.last = (bool *)(x.results + x.result_count);
  x.unused = x.last + x.operand_count;
  take_vars(p, x.results, 0, x.result_count);
  take_vars(p, x.operands, x.result_count, x.operand_count);
  for (uint32_t i = 0; i < x.result_count; i++)
    set_kind(p, x.results[i], kinds.items[i] ? kinds.items[i] : fixed_kind(p, &x, i));
  x.pos = parse_pos(p, &x.origin);
  if (x.form == IR_IF)
    *array_push(p->arena, &p->ifs) = (struct open_if){.binding = x, .start = p->pending.count};
  else
    *array_push(p->arena, &p->pending) = x;
}

/* ---- blocks and functions ---- */

static struct ir_block *parse_end(struct parser *p, size_t start) {
  struct scanner *s = &p->scan;
  struct ir_block *block = arena_alloc(p->arena, sizeof *block);
  block->count = (uint32_t)(p->pending.count - start);
  block->bindings = arena_alloc(p->arena, block->count * sizeof *block->bindings);
  if (block->count > 0)
    memcpy(block->bindings, p->pending.items + start, block->count * sizeof *block->bindings);
  p->pending.count = start;
  for (uint32_t i = 0; i < block->count; i++) {
    struct ir_binding *x = &block->bindings[i];
    if (x->form == IR_CALL)
      *array_push(p->arena, &p->calls) = (struct call){&x->as.callee, x->pos};
  }
  if (scanner_take(s, "yield")) {
    block->end = IR_YIELD;
    p->list.count = 0;
    parse_vars(p);
    block->result_count = (uint32_t)p->list.count;
    block->results =
        arena_alloc(p->arena, block->result_count * (sizeof(ir_var) + sizeof(bool)));
    block->last = (bool *)(block->results + block->result_count);
    take_vars(p, block->results, 0, block->result_count);
  } else if (scanner_take(s, "exit")) {
    block->end = IR_EXIT;
    block->pos = parse_pos(p, NULL);
  } else {
    scanner_expect(s, "never");
    block->end = IR_NEVER;
  }
  return block;
}

static bool parse_at_end(const struct scanner *s) {
  return scanner_is(s, "yield") || scanner_is(s, "exit") || scanner_is(s, "never");
}

static struct ir_block *parse_body(struct parser *p) {
  struct scanner *s = &p->scan;
  for (;;) {
    if (!parse_at_end(s)) {
      parse_binding(p);
      continue;
    }
    if (p->ifs.count == 0) {
      struct ir_block *body = parse_end(p, 0);
      scanner_expect(s, "end");
      return body;
    }
    struct open_if *open = &p->ifs.items[p->ifs.count - 1];
    struct ir_block *block = parse_end(p, open->start);
    if (!open->in_else) {
      scanner_expect(s, "else");
      open->then = block;
      open->in_else = true;
      continue;
    }
    scanner_expect(s, "end");
    open->binding.as.arms.then = open->then;
    open->binding.as.arms.otherwise = block;
    p->ifs.count--;
    *array_push(p->arena, &p->pending) = open->binding;
  }
}

static struct ir_function *parse_add_function(struct parser *p, const char *start) {
  struct ir_function *f = array_push(p->arena, &p->functions);
  *f = (struct ir_function){
      .name = parse_name(p), .returns = true, .procedure = IR_NO_PROCEDURE};
  *array_push(p->arena, &p->starts) = start;
  uint32_t *known = &p->function_of.items[f->name->number];
  if (*known) scanner_fail(&p->scan, "the function %s is defined twice", f->name->text);
  *known = (uint32_t)p->functions.count;
  return f;
}

/* Sizes of a mark, one for each of `count` items. */
static const uint32_t *parse_sizes(struct parser *p, uint32_t count) {
  struct scanner *s = &p->scan;
  uint32_t *sizes = arena_alloc(p->arena, count * sizeof *sizes);
  for (uint32_t i = 0; i < count; i++) {
    if (scanner_take(s, "each"))
      sizes[i] = IR_EACH;
    else if (scanner_take(s, "shared"))
      sizes[i] = IR_SHARED;
    else
      sizes[i] = scanner_number(s, "each, shared or a number", IR_EACH - 1);
  }
  return sizes;
}

static const struct ir_instances *parse_instances(struct parser *p,
                                                  const struct ir_function *f) {
  if (!scanner_take(&p->scan, "instances")) return NULL;
  struct ir_instances *mark = arena_alloc(p->arena, sizeof *mark);
  mark->params = parse_sizes(p, f->param_count);
  scanner_expect(&p->scan, "->");
  mark->results = parse_sizes(p, f->result_count);
  return mark;
}

static uint8_t parse_rounds(struct parser *p) {
  if (scanner_take(&p->scan, "rounds")) return VCODE_ROUNDS;
  return scanner_take(&p->scan, "round") ? VCODE_ROUND : VCODE_NO_ROUNDS;
}

static void test_parse_typed(struct parser *p, const char *start) {
  struct scanner *s = &p->scan;
  struct ir_function *f = parse_add_function(p, start);
  ARRAY(const struct ir_kind *) results = {0};
  p->vars.items = NULL;
  p->vars.count = p->vars.capacity = p->pending.count = p->ifs.count = p->list.count = 0;
  p->kind_variables = 0;
  scanner_expect(s, "(");
  while (!scanner_take(s, ")")) {
    if (p->list.count > 0) scanner_expect(s, ",");
    ir_var v = parse_var(p);
    if (v != p->list.count)
      scanner_fail(s, "parameter %zu must be v%zu", p->list.count, p->list.count);
    *array_push(p->arena, &p->list) = v;
    scanner_expect(s, ":");
    set_kind(p, v, parse_kind(p, 0));
  }
  f->param_count = (uint32_t)p->list.count;
  f->params = arena_alloc(p->arena, f->param_count * (sizeof(ir_var) + sizeof(bool)));
  f->unused = (bool *)(f->params + f->param_count);
  take_vars(p, f->params, 0, f->param_count);
  scanner_expect(s, "->");
  scanner_expect(s, "(");
  while (!scanner_take(s, ")")) {
    if (results.count > 0) scanner_expect(s, ",");
    *array_push(p->arena, &results) = parse_kind(p, 0);
  }
  f->result_count = (uint32_t)results.count;
  f->result_kinds = results.items;
  f->instances = parse_instances(p, f);
  if (f->instances && scanner_take(s, "procedure")) f->procedure = parse_callee(p);
  f->rounds = parse_rounds(p);
  f->pos = parse_pos(p, NULL);
  f->body = parse_body(p);
  f->typed = true;
  f->returns = f->body->end == IR_YIELD;
  f->vars = p->vars.items;
  f->var_count = (uint32_t)p->vars.count;
  f->kind_variables = p->kind_variables;
}

static void parse_stack(struct parser *p, const char *start) {
  struct scanner *s = &p->scan;
  struct ir_function *f = parse_add_function(p, start);
  scanner_expect(s, "because");
  f->reason = parse_text(p);
  f->pos = parse_pos(p, NULL);
  struct stack_code *stack = array_push(p->arena, &p->stacks);
  *stack = (struct stack_code){.function = (uint32_t)p->functions.count - 1};
  if (!scanner_is(s, "FUNC")) scanner_expected(s, "FUNC");
  stack->text = scanner_stack_code(s);
  scanner_expect(s, "positions");
  while (scanner_is(s, "@")) {
    uint32_t origin = 0;
    *array_push(p->arena, &stack->positions) = parse_pos(p, &origin);
    *array_push(p->arena, &stack->origins) = origin;
  }
  scanner_expect(s, "end");
}

/* ---- the program ---- */

/* The definitions of superoperators; they may add to the origins. */
static void parse_superops(struct parser *p) {
  struct scanner *s = &p->scan;
  struct vcode_program source = {
      .file = s->file, .origins = p->origins, .widths = p->program->widths};
  ARRAY(struct vcode_fused) fused = {0};
  while (scanner_is(s, "fused")) {
    struct token text = scanner_definition(s);
    *array_push(p->arena, &fused) = (struct vcode_fused){
        .file = s->file, .pos = text.pos, .text = text.text, .length = text.length};
  }
  source.fused = fused.items;
  source.fused_count = (uint32_t)fused.count;
  if (!superops_parse(p->arena, &source, p->program, s->diags)) longjmp(s->failed, 1);
  p->origins = p->program->origins;
}

/* STRING LINE ":" COLUMN STRING ("inlined" NUMBER)? */
static void parse_origin(struct parser *p) {
  struct scanner *s = &p->scan;
  struct origin origin = {.file = parse_text(p)};
  origin.pos.line = scanner_number(s, "a line", UINT32_MAX);
  scanner_expect(s, ":");
  origin.pos.column = scanner_number(s, "a column", UINT32_MAX);
  origin.function = parse_text(p);
  if (scanner_take(s, "inlined")) {
    const uint32_t most = (uint32_t)p->origins.list.count - 1;
    origin.inlined_at = scanner_number(s, "the number of an origin", most);
  }
  origin_number(&p->origins, origin);
}

static enum cvl_elem test_parse_width(struct parser *p, enum cvl_elem narrow,
                                      enum cvl_elem wide) {
  if (scanner_take(&p->scan, elem_info(narrow)->text)) return narrow;
  scanner_expect(&p->scan, elem_info(wide)->text);
  return wide;
}

static void resolve_calls(struct parser *p) {
  for (size_t i = 0; i < p->calls.count; i++) {
    struct call call = p->calls.items[i];
    const struct name *name = p->called.items[*call.callee];
    uint32_t function = p->function_of.items[name->number];
    if (!function)
      scanner_fail(&p->scan, "%s, called at %u:%u, is not defined", name->text, call.pos.line,
                   call.pos.column);
    *call.callee = function - 1;
  }
}

static void resolve_procedures(struct parser *p) {
  for (size_t i = 0; i < p->functions.count; i++) {
    struct ir_function *f = &p->functions.items[i];
    if (f->procedure == IR_NO_PROCEDURE) continue;
    const struct name *name = p->called.items[f->procedure];
    const uint32_t function = p->function_of.items[name->number];
    if (!function) scanner_fail(&p->scan, "%s, a procedure, is not defined", name->text);
    f->procedure = function - 1;
  }
}

static void parse_all(struct parser *p) {
  struct scanner *s = &p->scan;
  scanner_next(s);
  scanner_expect(s, "let-form");
  p->program->file = parse_text(p);
  p->program->widths.int_elem = test_parse_width(p, CVL_I32, CVL_I64);
  p->program->widths.float_elem = test_parse_width(p, CVL_F32, CVL_F64);
  scanner_expect(s, "entry");
  p->entry = parse_name(p);
  while (scanner_take(s, "origin")) parse_origin(p);
  parse_superops(p);
  while (s->token.kind != TOKEN_END) {
    const char *start = s->token.text;
    if (scanner_take(s, "fun"))
      test_parse_typed(p, start);
    else if (scanner_take(s, "stack"))
      parse_stack(p, start);
    else
      scanner_expected(s, "fun or stack");
  }
  resolve_calls(p);
  resolve_procedures(p);
  uint32_t entry = p->function_of.items[p->entry->number];
  if (!entry) scanner_fail(s, "the entry function %s is not defined", p->entry->text);
  p->program->entry = entry - 1;
  p->program->functions = p->functions.items;
  p->program->function_count = (uint32_t)p->functions.count;
}

/* The text as VCODE: see the head of this file. */
static char *blank_copy(struct parser *p, const char *text, size_t length) {
  char *copy = arena_alloc(p->arena, length);
  for (size_t i = 0; i < length; i++) copy[i] = text[i] == '\n' ? '\n' : ' ';
  for (size_t f = 0; f < p->functions.count; f++) {
    const struct name *name = p->functions.items[f].name;
    if (!p->functions.items[f].typed) continue;
    /* "fun NAME () -> ()" has room for it. */
    char *to = copy + (p->starts.items[f] - text);
    memcpy(to, "FUNC ", 5);
    memcpy(to + 5, name->text, name->length);
    memcpy(to + 5 + name->length, " RET", 4);
  }
  for (size_t i = 0; i < p->stacks.count; i++) {
    struct token code = p->stacks.items[i].text;
    memcpy(copy + (code.text - text), code.text, code.length);
  }
  return copy;
}

/* Gives the functions without let-form their stack code, from the parsed copy. */
static void take_stack_code(struct parser *p, const struct vcode_program *vcode) {
  if (vcode->function_count != p->functions.count)
    scanner_fail(&p->scan, "the stack code is that of %u functions, not of %zu",
                 vcode->function_count, p->functions.count);
  for (size_t i = 0; i < p->stacks.count; i++) {
    struct stack_code *stack = &p->stacks.items[i];
    struct ir_function *f = &p->functions.items[stack->function];
    struct vcode_function *code = &vcode->functions[stack->function];
    p->scan.token = stack->text;
    if (strcmp(code->name->text, f->name->text) != 0)
      scanner_fail(&p->scan, "the stack code of %s is that of %s", f->name->text,
                   code->name->text);
    if (code->length != stack->positions.count)
      scanner_fail(&p->scan, "%s has %u instructions and %zu positions", f->name->text,
                   code->length, stack->positions.count);
    code->pos = f->pos;
    for (uint32_t k = 0; k < code->length; k++) {
      code->code[k].pos = stack->positions.items[k];
      code->code[k].origin = stack->origins.items[k];
    }
    f->stack = code;
  }
}

/* The let-form, or NULL after a diagnostic. */
static struct ir_program *parse_read_text(struct arena *arena, const char *file,
                                          const char *text, size_t length,
                                          struct diag_list *diags) {
  struct parser *p = arena_alloc(arena, sizeof *p);
  p->arena = arena;
  p->program = arena_alloc(arena, sizeof *p->program);
  intern_init(&p->names, arena);
  origin_table_init(&p->origins, arena, NULL);
  scanner_begin(&p->scan, arena, file, text, length, diags);
  if (setjmp(p->scan.failed)) return NULL;
  parse_all(p);
  if (p->stacks.count > 0) {
    char *copy = blank_copy(p, text, length);
    const struct vcode_program *vcode =
        vcode_parse(arena, file, copy, length, p->program->widths, diags);
    if (!vcode) return NULL;
    take_stack_code(p, vcode);
  }
  if (!verify_program(arena, p->program, false, diags)) return NULL;
  ir_liveness(arena, p->program);
  return p->program;
}

const char *ir_text(struct arena *arena, const struct ir_program *program) {
  struct text text;
  if (!text_begin(&text, arena->heap)) return "";
  ir_print(program, text.stream);
  const char *copy = text_end(&text) ? arena_copy(arena, text.bytes, text.length) : "";
  text_free(&text);
  return copy;
}

struct ir_program *ir_parse(struct arena *arena, const char *file, const char *text,
                            size_t length, struct diag_list *diags) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    diag_add(diags, SEVERITY_ERROR, file, (struct source_pos){0, 0}, NULL,
             "out of memory while reading the let-form");
    return NULL;
  }
  struct ir_program *program = parse_read_text(arena, file, text, length, diags);
  memory_guard_end(&guard);
  return program;
}
