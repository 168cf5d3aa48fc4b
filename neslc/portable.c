/* portable.c - programs for the interpreters of the 1990s. They know no ASSERT: each becomes an
 * IF that prints the sentence of the failed check and leaves the program (NESL specification,
 * section 11.10). They take constants of one segment only, SEGDES of several lengths as the
 * result of MAKE_SEGDES, and no literal of NaN (VCODE specification, sections 18 and 19). They
 * have no files that are replaced.
 *
 *     ASSERT "text" f v w    becomes   n = LENGTH f; d = MAKE_SEGDES n; ok = AND_REDUCE f d
 *                                      if ok {} else { write "RUNTIME ERROR: text"; exit }
 *     d = CONST SEGDES (..)  becomes   n = CONST INT (..); d = MAKE_SEGDES n
 *     v = CONST FLOAT (x nan)  becomes  a = CONST FLOAT (x infinity); b = CONST FLOAT (0
 * infinity) v = - FLOAT a b
 */
#include "neslc/flatten/flatten.h"

#include <math.h>
#include <string.h>

enum { STREAM_OUT = 1 };
enum { DEEPEST_IF = 50 }; /* of the reference interpreter */

static const struct ir_kind kind_int = {.tag = IR_INT};
static const struct ir_kind kind_bool = {.tag = IR_BOOL};
static const struct ir_kind kind_float = {.tag = IR_FLOAT};
static const struct ir_kind kind_segdes = {.tag = IR_SEGDES};

/* A function under construction: new variables are numbered after its own. */
struct portable {
  struct arena *arena;
  uint32_t deepest; /* nesting of IFs so far */
  ARRAY(const struct ir_kind *) kinds;
};

typedef ARRAY(struct ir_binding) bindings;

static ir_var new_var(struct portable *p, const struct ir_kind *kind) {
  *array_push(p->arena, &p->kinds) = kind;
  return (ir_var)(p->kinds.count - 1);
}

/* A binding with the source location of another, and room for so many operands and results. */
static struct ir_binding binding_like(struct portable *p, const struct ir_binding *like,
                                      enum ir_form form, uint32_t operands, uint32_t results) {
  struct ir_binding b = {.form = (uint8_t)form,
                         .pos = like->pos,
                         .origin = like->origin,
                         .operand_count = operands,
                         .result_count = results};
  b.operands = arena_alloc(p->arena, operands * sizeof *b.operands + 1);
  b.results = arena_alloc(p->arena, results * sizeof *b.results + 1);
  b.last = arena_alloc(p->arena, operands * sizeof *b.last + 1);
  b.unused = arena_alloc(p->arena, results * sizeof *b.unused + 1);
  return b;
}

static ir_var add_operation(struct portable *p, bindings *list, const struct ir_binding *like,
                            enum opcode op, enum type_word type, uint32_t count,
                            const ir_var *operands, const struct ir_kind *kind) {
  struct ir_binding b = binding_like(p, like, IR_OP, count, 1);
  b.op = (uint16_t)op;
  b.type = (uint8_t)type;
  memcpy(b.operands, operands, count * sizeof *operands);
  b.results[0] = new_var(p, kind);
  *array_push(p->arena, list) = b;
  return b.results[0];
}

static ir_var add_constant(struct portable *p, bindings *list, const struct ir_binding *like,
                           struct vcode_constant constant, const struct ir_kind *kind) {
  struct vcode_constant *k = arena_alloc(p->arena, sizeof *k);
  *k = constant;
  struct ir_binding b = binding_like(p, like, IR_CONST, 0, 1);
  b.as.constant = k;
  b.results[0] = new_var(p, kind);
  *array_push(p->arena, list) = b;
  return b.results[0];
}

static ir_var add_ints(struct portable *p, bindings *list, const struct ir_binding *like,
                       const int64_t *ints, uint64_t count, bool vector) {
  struct vcode_constant k = {.type = TW_INT, .vector = vector, .length = count};
  k.as.ints = ints;
  return add_constant(p, list, like, k, &kind_int);
}

/* "RUNTIME ERROR: " and the sentence of a check, as characters. */
static int64_t *message_of(struct portable *p, const struct ir_binding *check,
                           uint64_t *count) {
  const char *text = check->as.text.text;
  const char *stop = memchr(text, '.', check->as.text.length);
  int length = stop ? (int)(stop - text) + 1 : (int)check->as.text.length;
  const char *line = arena_printf(p->arena, "RUNTIME ERROR: %.*s\n", length, text);
  *count = strlen(line);
  int64_t *chars = arena_alloc(p->arena, (size_t)*count * sizeof *chars);
  for (uint64_t i = 0; i < *count; i++) chars[i] = (unsigned char)line[i];
  return chars;
}

static struct ir_block *failure_block(struct portable *p, const struct ir_binding *check) {
  bindings list = {0};
  uint64_t count;
  int64_t *chars = message_of(p, check, &count);
  int64_t *stream = arena_alloc(p->arena, sizeof *stream);
  *stream = STREAM_OUT;
  ir_var text = add_ints(p, &list, check, chars, count, true);
  ir_var out = add_ints(p, &list, check, stream, 1, false);
  struct ir_binding write = binding_like(p, check, IR_OP, 2, 2);
  write.op = OPC_FWRITE;
  write.type = TW_CHAR;
  write.operands[0] = text;
  write.operands[1] = out;
  write.results[0] = new_var(p, &kind_int);
  write.results[1] = new_var(p, &kind_bool);
  *array_push(p->arena, &list) = write;
  struct ir_block *block = arena_alloc(p->arena, sizeof *block);
  *block = (struct ir_block){
      .bindings = list.items, .count = (uint32_t)list.count, .end = IR_EXIT, .pos = check->pos};
  return block;
}

static void replace_check(struct portable *p, bindings *list, const struct ir_binding *check) {
  ir_var flags = check->operands[0];
  ir_var length = add_operation(p, list, check, OPC_LENGTH, TW_BOOL, 1, &flags, &kind_int);
  ir_var segdes =
      add_operation(p, list, check, OPC_MAKE_SEGDES, TW_NONE, 1, &length, &kind_segdes);
  ir_var ok = add_operation(p, list, check, OPC_AND_REDUCE, TW_BOOL, 2,
                            (ir_var[]){flags, segdes}, &kind_bool);
  struct ir_binding branch = binding_like(p, check, IR_IF, 1, 0);
  branch.operands[0] = ok;
  branch.as.arms.then = arena_alloc(p->arena, sizeof(struct ir_block));
  *branch.as.arms.then = (struct ir_block){.end = IR_YIELD, .pos = check->pos};
  branch.as.arms.otherwise = failure_block(p, check);
  *array_push(p->arena, list) = branch;
}

/* The lengths become a vector, and the variable the descriptor that is made of it. */
static void replace_segdes(struct portable *p, bindings *list,
                           const struct ir_binding *segdes) {
  const struct vcode_constant *k = segdes->as.constant;
  struct ir_binding make = binding_like(p, segdes, IR_OP, 1, 1);
  make.op = OPC_MAKE_SEGDES;
  make.type = TW_NONE;
  make.operands[0] = add_ints(p, list, segdes, k->as.ints, k->length, k->vector);
  make.results[0] = segdes->results[0];
  *array_push(p->arena, list) = make;
}

static bool has_nan(const struct vcode_constant *k) {
  bool found = false;
  for (uint64_t i = 0; i < k->length && !found; i++) found = isnan(k->as.floats[i]);
  return found;
}

/* A number less 0 is itself, -0.0 and the infinities included, and infinity less infinity NaN.
 */
static void replace_nan(struct portable *p, bindings *list, const struct ir_binding *b) {
  const struct vcode_constant *k = b->as.constant;
  struct vcode_constant side[2] = {*k, *k};
  ir_var operands[2];
  for (int s = 0; s < 2; s++) {
    double *x = arena_alloc(p->arena, k->length * sizeof *x);
    for (uint64_t i = 0; i < k->length; i++) {
      x[i] = isnan(k->as.floats[i]) ? (double)INFINITY : s == 0 ? k->as.floats[i] : 0;
    }
    side[s].as.floats = x;
    operands[s] = add_constant(p, list, b, side[s], &kind_float);
  }
  struct ir_binding difference = binding_like(p, b, IR_OP, 2, 1);
  difference.op = OPC_SUB;
  difference.type = TW_FLOAT;
  memcpy(difference.operands, operands, sizeof operands);
  difference.results[0] = b->results[0];
  *array_push(p->arena, list) = difference;
}

/* Files that are replaced, of mode 32, are just written: the mode is 1, 2 or 3 modulo 30. */
static void add_open(struct portable *p, bindings *list, const struct ir_binding *open) {
  enum { MODES = 30 };
  int64_t *modes = arena_alloc(p->arena, sizeof *modes);
  *modes = MODES;
  const ir_var divisor = add_ints(p, list, open, modes, 1, false);
  const ir_var mode = add_operation(p, list, open, OPC_MOD, TW_NONE, 2,
                                    (ir_var[]){open->operands[1], divisor}, &kind_int);
  struct ir_binding opened = *open;
  opened.operands = arena_alloc(p->arena, 2 * sizeof *opened.operands);
  opened.operands[0] = open->operands[0];
  opened.operands[1] = mode;
  *array_push(p->arena, list) = opened;
}

/* `depth`: how many IFs the block is in. */
static void make_block_portable(struct portable *p, struct ir_block *block, uint32_t depth) {
  bindings list = {0};
  for (uint32_t i = 0; i < block->count; i++) {
    const struct ir_binding *b = &block->bindings[i];
    const bool check = b->form == IR_OP && b->op == OPC_ASSERT;
    if ((b->form == IR_IF || check) && depth + 1 > p->deepest) p->deepest = depth + 1;
    if (b->form == IR_IF) {
      make_block_portable(p, b->as.arms.then, depth + 1);
      make_block_portable(p, b->as.arms.otherwise, depth + 1);
    }
    if (check) {
      /* error(s) has printed s, and EXIT follows */
      const bool of_error = flatten_text_of_error(b->as.text.text, b->as.text.length);
      if (!of_error) replace_check(p, &list, b);
    } else if (b->form == IR_CONST && b->as.constant->type == TW_SEGDES) {
      replace_segdes(p, &list, b);
    } else if (b->form == IR_CONST && b->as.constant->type == TW_FLOAT &&
               has_nan(b->as.constant)) {
      replace_nan(p, &list, b);
    } else if (b->form == IR_OP && b->op == OPC_FOPEN) {
      add_open(p, &list, b);
    } else {
      *array_push(p->arena, &list) = *b;
    }
  }
  block->bindings = list.items;
  block->count = (uint32_t)list.count;
}

bool flatten_portable(struct arena *arena, struct ir_program *program, const char *file,
                      struct diag_list *diags) {
  bool fine = true;
  for (uint32_t i = 0; i < program->function_count; i++) {
    struct ir_function *f = &program->functions[i];
    struct portable p = {.arena = arena};
    for (uint32_t v = 0; v < f->var_count; v++) *array_push(arena, &p.kinds) = f->vars[v];
    make_block_portable(&p, f->body, 0);
    f->vars = p.kinds.items;
    f->var_count = (uint32_t)p.kinds.count;
    f->instances = NULL; /* a failed check prints and exits */
    if (p.deepest <= DEEPEST_IF) continue;
    diag_add(diags, SEVERITY_ERROR, file, f->pos, NULL,
             "conditionals are nested %u deep in what %s became, and interpreters of the 1990s "
             "take %d: make functions of the inner ones",
             p.deepest, f->name->text, DEEPEST_IF);
    fine = false;
  }
  ir_liveness(arena, program);
  return fine;
}
