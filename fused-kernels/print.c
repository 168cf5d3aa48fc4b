/* print.c - a superoperator back into text.
 *
 * The text must have the nodes in their order. So a value can be an inner expression of its use
 * only if nothing else is executed between the two. Nodes that could still become inner
 * expressions of a later one are kept on a stack; a node takes its operands from the top of it.
 * A node that needs a line of its own gets a name, and so does everything below it on the
 * stack, since that was executed before. An operand with another origin gets a name too.
 */
#include "base/number.h"
#include "fused-kernels/fused.h"

#include <string.h>

enum {
  DEEPEST = 8,        /* expressions nest no deeper; a deeper one gets a name, to be readable */
  LINE = 96,          /* columns */
  INSIDE = UINT16_MAX /* instead of a name: inside another expression */
};

struct printer {
  const struct superop *op;
  const struct origin_table *origins; /* or NULL */
  uint32_t origin;                    /* in force */
  FILE *file;
  unsigned column;
  bool bare;                          /* the last node is the only output: no name */
  uint16_t names[SUPEROP_VALUES_MAX]; /* $k of every value, or INSIDE */
  uint16_t definitions[SUPEROP_VALUES_MAX];
};

/* ---- which values get names ---- */

struct choice {
  const struct superop *op;
  const struct origin_table *origins; /* or NULL */
  uint16_t stack[SUPEROP_VALUES_MAX]; /* nodes */
  uint32_t height;
  bool named[SUPEROP_VALUES_MAX]; /* nodes */
  uint8_t depth[SUPEROP_VALUES_MAX];
};

/* The height of a value's definition on the stack; c->height if it is not there. */
static uint32_t print_height_of(const struct choice *c, uint32_t value) {
  for (uint32_t i = c->height; i-- > 0;) {
    if (c->op->nodes[c->stack[i]].result == value) return i;
  }
  return c->height;
}

/* Names the lowest `count` on the stack and takes them off. */
static void name_lowest(struct choice *c, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) c->named[c->stack[i]] = true;
  memmove(c->stack, c->stack + count, (c->height - count) * sizeof *c->stack);
  c->height -= count;
}

/* Whether the node that defines an operand may become an inner expression: comments with
 * origins are between lines, where they are readable, and not between operands. */
static bool print_fits(const struct choice *c, const struct superop_node *inner,
                       const struct superop_node *outer) {
  return c->origins == NULL || inner->role == ROLE_CONST || inner->origin == 0 ||
         outer->origin == 0 || inner->origin == outer->origin;
}

/* Takes the operands of a node that become inner expressions off the stack; the others get
 * names. Returns how deep the node nests. */
static unsigned print_take_operands(struct choice *c, const struct superop_node *node) {
  unsigned depth = 1;
  uint32_t top = c->height, lowest = 0; /* to be named: below `lowest` */
  for (unsigned i = node->operand_count; i-- > 0;) {
    uint32_t height = print_height_of(c, node->operands[i]);
    if (height == c->height) continue;
    if (height + 1 != top || !print_fits(c, &c->op->nodes[c->stack[height]], node)) {
      if (height >= lowest) lowest = height + 1;
      continue;
    }
    top--;
    unsigned inner = c->depth[c->stack[height]];
    if (inner >= depth) depth = inner + 1;
  }
  c->height = top;
  name_lowest(c, lowest);
  return depth;
}

static bool print_is_output(const struct superop *op, uint32_t value) {
  return op->last_use[value] == op->node_count;
}

/* Whether the last node's result is the one output, and needs no name. */
static bool ends_bare(const struct superop *op) {
  const struct superop_node *last = &op->nodes[op->node_count - 1];
  return op->output_count == 1 && last->result_count == 1 && op->outputs[0] == last->result;
}

static void print_choose(struct choice *c) {
  const struct superop *op = c->op;
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    unsigned depth = print_take_operands(c, node);
    c->depth[k] = (uint8_t)depth;
    if (node->result_count == 1 && op->uses[node->result] == 1 &&
        !print_is_output(op, node->result) && depth < DEEPEST) {
      c->stack[c->height++] = (uint16_t)k;
    } else {
      c->named[k] = true;
      name_lowest(c, c->height);
    }
  }
  name_lowest(c, c->height);
}

static void give_names(struct printer *p, const bool *named) {
  uint32_t next = p->op->param_count;
  for (uint32_t v = 0; v < next; v++) p->names[v] = (uint16_t)v;
  for (uint32_t k = 0; k < p->op->node_count; k++) {
    const struct superop_node *node = &p->op->nodes[k];
    for (uint32_t r = 0; r < node->result_count; r++) {
      p->definitions[node->result + r] = (uint16_t)k;
      p->names[node->result + r] = named[k] ? (uint16_t)next++ : (uint16_t)INSIDE;
    }
  }
}

/* ---- text ---- */

/* A word, after a blank or, where the line is full, on the next one. */
static void print_put(struct printer *p, const char *text, bool after_blank) {
  unsigned length = (unsigned)strlen(text);
  if (after_blank && p->column + 1 + length > LINE) {
    fputs("\n   ", p->file);
    p->column = 3;
  }
  p->column += (unsigned)fprintf(p->file, "%s%s", after_blank ? " " : "", text);
}

static void put_name(struct printer *p, uint32_t name) {
  char text[NUMBER_TEXT_MAX];
  snprintf(text, sizeof text, "$%u", name);
  print_put(p, text, true);
}

/* Whether the node needs another origin than the one in force, which it becomes then. */
static bool enter_origin(struct printer *p, const struct superop_node *node) {
  if (p->origins == NULL || node->origin == 0 || node->role == ROLE_CONST) return false;
  const bool same = node->origin == p->origin;
  p->origin = node->origin;
  return !same;
}

static void put_origin(struct printer *p) {
  putc(' ', p->file);
  p->column += 1 + vcode_print_origin(p->origins, p->origin, p->file);
}

/* Strings have no escapes: what stands between the quotes is what was read there. */
static void put_text(struct printer *p, const struct superop_node *node) {
  fputs(" \"", p->file);
  fwrite(node->text, 1, node->text_length, p->file);
  fputc('"', p->file);
  p->column += 3 + node->text_length;
}

static void put_operation(struct printer *p, const struct superop_node *node) {
  const struct opcode_info *info = superop_info(node->op);
  char text[NUMBER_TEXT_MAX + 64], number[NUMBER_TEXT_MAX] = "";
  if (node->op == OPC_CONST) {
    const struct cvl_value *c = &node->constant;
    if (node->type == TW_INT) format_int(number, cvl_int_of(c));
    if (node->type == TW_FLOAT) vcode_format_real(number, cvl_float_of(c));
    if (node->type == TW_BOOL) strcpy(number, c->as.b ? "T" : "F");
  }
  snprintf(text, sizeof text, "(%s%s%s%s%s%s",
           !node->checked && superop_may_fail(node) ? "! " : "", info->spelling,
           node->type == TW_NONE ? "" : " ", type_word_text((enum type_word)node->type),
           *number ? " " : "", number);
  print_put(p, text, true);
  if (node->op == OPC_ASSERT) put_text(p, node);
  if (node->operand_count != 0) print_put(p, " @", false);
}

/* Nests at most DEEPEST deep. */
static void put_expression(struct printer *p, const struct superop_node *node) {
  put_operation(p, node);
  for (unsigned i = 0; i < node->operand_count; i++) {
    uint32_t v = node->operands[i];
    if (p->names[v] != INSIDE) {
      put_name(p, p->names[v]);
    } else {
      put_expression(p, &p->op->nodes[p->definitions[v]]);
    }
  }
  if (enter_origin(p, node)) put_origin(p);
  print_put(p, ")", false);
}

/* Nodes first .. k, the last of which has a name or is the end: one statement. */
static void put_statement(struct printer *p, uint32_t first, uint32_t k) {
  const struct superop_node *node = &p->op->nodes[k];
  bool begun = false;
  for (uint32_t i = first; i <= k && !begun; i++) {
    begun = p->op->nodes[i].origin != 0 && p->op->nodes[i].role != ROLE_CONST;
    if (begun && enter_origin(p, &p->op->nodes[i])) {
      fputs("\n ", p->file);
      put_origin(p);
    }
  }
  fputs("\n ", p->file);
  p->column = 1;
  if (node->result_count != 0 && !(p->bare && k + 1 == p->op->node_count)) {
    for (uint32_t r = 0; r < node->result_count; r++) put_name(p, p->names[node->result + r]);
    print_put(p, "=", true);
  }
  put_expression(p, node);
}

static void put_heading(struct printer *p, uint32_t uses) {
  static const char *const kinds[] = {"INT", "FLOAT", "BOOL", "SEGDES"};
  p->column = (unsigned)fprintf(p->file, "fused OP%u#%u", p->op->number, uses);
  if (p->op->param_count == 0) print_put(p, "()", true);
  for (uint32_t k = 0; k < p->op->param_count; k++) {
    char text[64];
    snprintf(text, sizeof text, "%s$%u : %s%s", k == 0 ? "(" : "", k, kinds[p->op->params[k]],
             k + 1 == p->op->param_count ? ")" : ",");
    print_put(p, text, true);
  }
  print_put(p, "=", true);
}

void fused_print(const struct superop *op, uint32_t uses, const struct origin_table *origins,
                 FILE *file) {
  struct choice c = {.op = op, .origins = origins};
  struct printer p = {.op = op, .origins = origins, .file = file};
  print_choose(&c);
  p.bare = ends_bare(op);
  give_names(&p, c.named);
  put_heading(&p, uses);
  uint32_t first = 0;
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (!c.named[k]) continue;
    put_statement(&p, first, k);
    first = k + 1;
  }
  if (!p.bare && op->output_count != 0) {
    fputs("\n ", file);
    p.column = 1;
    print_put(&p, "->", true);
    for (uint32_t i = 0; i < op->output_count; i++) put_name(&p, p.names[op->outputs[i]]);
  }
  fputc('\n', file);
}
