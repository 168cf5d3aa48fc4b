/* print-kernel.c - a kernel as loops of C, for one thread: the segments of the domain one after
 * the other, in each its positions.
 *
 * What has the same value everywhere, or in a segment, is computed before the loop. The loop
 * over positions has no branches but those of the program: what fails is noted in `bad`, and
 * looked at behind the loop. Flags there are INTs, since vectors have as many lanes as the
 * narrowest type has.
 */
#include "fused-kernels/loops/kernel-text.h"

#include <string.h>

/* ---- statements ---- */

static const struct kernel_printers constant_printers = {.at_position = print_constant},
                                    load_printers = {.at_position = print_load},
                                    spread_printers = {.at_position = print_spread},
                                    offset_printers = {.at_position = print_offset},
                                    map_printers = {.at_position = print_map},
                                    gather_printers = {.before = begin_gather,
                                                       .at_position = print_gather},
                                    check_printers = {.at_position = print_check},
                                    carry_printers = {.at_position = print_carry},
                                    while_printers = {.at_position = print_while},
                                    next_printers = {.at_position = print_next};

static const struct kernel_printers *const printers[KERNEL_STATEMENTS] = {
    [KERNEL_CONSTANT] = &constant_printers, [KERNEL_LOAD] = &load_printers,
    [KERNEL_SPREAD] = &spread_printers,     [KERNEL_OFFSET] = &offset_printers,
    [KERNEL_MAP] = &map_printers,           [KERNEL_GATHER] = &gather_printers,
    [KERNEL_CHECK] = &check_printers,       [KERNEL_CARRY] = &carry_printers,
    [KERNEL_WHILE] = &while_printers,       [KERNEL_NEXT] = &next_printers,
    [KERNEL_REDUCE] = &reduce_printers,     [KERNEL_SCAN] = &scan_printers,
    [KERNEL_KEEP] = &keep_printers,         [KERNEL_STORE] = &store_printers,
    [KERNEL_SCATTER] = &scatter_printers,   [KERNEL_COMBINE] = &combine_printers,
};

static const struct kernel_printers *printers_of(const struct kernel_text *x, uint32_t k) {
  return printers[x->k->statements[k].kind];
}

/* Writes what all statements do at a time, a member of struct kernel_printers. */
#define PRINT_ALL(x, time)                                                                     \
  for (uint32_t k = 0; k < (x)->k->count; k++)                                                 \
    if (printers_of(x, k)->time) printers_of(x, k)->time(x, k)

static void print_level(const struct kernel_text *x, enum kernel_level level) {
  const bool all = level != KERNEL_OF_POSITION;
  for (uint32_t k = all ? 0 : x->phase.first; k < (all ? x->k->count : x->phase.end); k++) {
    if (x->single || level_of(x, &x->k->statements[k]) == level)
      printers_of(x, k)->at_position(x, k);
  }
}

/* ---- loops ---- */

static void declare_cursors(const struct kernel_text *x) {
  for (uint32_t p = 0; p < x->op->param_count; p++) {
    if (is_cursor(x, p))
      put(x->out, x->range ? "uint64_t s$0 = call->segments[$0];\n" : "uint64_t s$0 = 0;\n", p);
  }
}

static void move_cursors(const struct kernel_text *x) {
  for (uint32_t p = 0; p < x->op->param_count; p++) {
    if (is_cursor(x, p))
      put(x->out,
          x->range ? "while (o$0[s$1 + 1] <= at + i) s$1++;\n"
                   : "while (o$0[s$1 + 1] - o$0[0] <= i) s$1++;\n",
          x->params[p].v, p);
  }
}

/* What is executed at position i. */
static void print_position(const struct kernel_text *x) {
  if (x->checks) fputs("INT fine = 1;\n", x->out);
  if (!x->together) move_cursors(x);
  load_held(x);
  print_level(x, KERNEL_OF_POSITION);
  keep_held(x);
  if (x->checks) fputs("bad |= !fine;\n", x->out);
}

static void print_loop(const struct kernel_text *x, const char *end) {
  if (is_independent(x)) fputs("NATIVE_INDEPENDENT\n", x->out);
  fprintf(x->out, "for (; i < %s; i++) {\n", end);
  print_position(x);
  fputs("}\n", x->out);
}

static void print_pieces(const struct kernel_text *x, const char *end) {
  begin_piece(x, end);
  if (may_stay(x)) {
    struct kernel_text stays = *x;
    stays.stays = true;
    fputs("if (!moves) {\n", x->out);
    print_loop(&stays, "piece");
    fputs("} else {\n", x->out);
    print_loop(x, "piece");
    fputs("}\n}\n", x->out);
  } else {
    print_loop(x, "piece");
    fputs("}\n", x->out);
  }
}

static void print_positions(const struct kernel_text *x, const char *end) {
  if (has_pieces(x))
    print_pieces(x, end);
  else
    print_loop(x, end);
}

/* The whole rows of a block, if there are two or more: each lane has its element. */
static void print_rows(const struct kernel_text *x) {
  struct kernel_text rows = *x;
  rows.rows = true;
  fputs("const uint64_t tail =\n"
        "to - from < 2 * LANES ? from : from + (to - from) / LANES * LANES;\n"
        "if (from < tail) {\n",
        x->out);
  PRINT_ALL(x, before_rows);
  fputs("for (uint64_t row = from; row < tail; row += LANES) {\n", x->out);
  if (is_independent(x)) fputs("NATIVE_INDEPENDENT\n", x->out);
  fputs("for (uint64_t j = 0; j < LANES; j++) {\nconst uint64_t i = row + j;\n", x->out);
  print_position(&rows);
  fputs("}\n}\ni = tail;\n}\n", x->out);
}

/* Writes what cursors were at the start of a block, or sets them to that. */
static void keep_cursors(const struct kernel_text *x, const char *format) {
  for (uint32_t p = 0; p < x->op->param_count; p++) {
    if (is_cursor(x, p) && !x->together) put(x->out, format, p);
  }
}

/* All phases but the last one, and what is behind each; the last phase. */
static struct kernel_phase print_phases(const struct kernel_text *x) {
  struct kernel_text part = *x;
  keep_cursors(x, "const uint64_t from_s$0 = s$0;\n");
  for (part.phase = phase_from(x->k, 0); part.phase.end < x->k->count;
       part.phase = next_phase(x->k, part.phase)) {
    declare_far(&part);
    print_positions(&part, "to");
    end_phase(&part);
    fputs("i = from;\n", x->out);
    keep_cursors(x, "s$0 = from_s$0;\n");
  }
  return part.phase;
}

static void print_blocks(const struct kernel_text *x) {
  struct kernel_text last = *x;
  fputs("while (i < end) {\n"
        "const uint64_t from = i, to = end - i < BLOCK ? end : i + BLOCK;\n",
        x->out);
  if (x->phases) last.phase = print_phases(x);
  if (x->lanes) print_rows(&last);
  print_positions(&last, "to");
  PRINT_ALL(x, after_block);
  fputs("}\n", x->out);
}

static void print_segment(const struct kernel_text *x) {
  point_segment(x);
  PRINT_ALL(x, at_segment);
  if (x->blocks)
    print_blocks(x);
  else
    print_positions(x, "end");
  PRINT_ALL(x, after_segment);
}

static void print_whole_segment(const struct kernel_text *x) {
  print_level(x, KERNEL_OF_SEGMENT);
  fputs("if (bad && begin < end) return 0;\nbad = 0;\n", x->out);
  print_segment(x);
}

static bool has_cursors(const struct kernel_text *x) {
  for (uint32_t p = 0; p < x->op->param_count; p++) {
    if (is_cursor(x, p)) return true;
  }
  return false;
}

/* Where a segment is within one of every other descriptor, as it mostly is, there is a loop for
 * it that does not look for the segments of each position. */
static void print_segment_within(const struct kernel_text *x) {
  const struct kernel_text together = together_of(x, x->arena);
  fputs("if (begin < end) {\n", x->out);
  move_cursors(x);
  fputs("}\nif (begin < end", x->out);
  for (uint32_t p = 0; p < x->op->param_count; p++) {
    if (is_cursor(x, p))
      put(x->out,
          x->range ? " && at + end <= o$0[s$1 + 1]" : " && end <= o$0[s$1 + 1] - o$0[0]",
          x->params[p].v, p);
  }
  fputs(") {\n", x->out);
  print_whole_segment(&together);
  fputs("} else {\n", x->out);
  print_whole_segment(x);
  fputs("}\n", x->out);
}

static void print_segments(const struct kernel_text *x) {
  put(x->out,
      "for (uint64_t g = 0; g < c$0; g++) {\n"
      "const uint64_t begin = i, end = o$0[g + 1] - o$0[0];\n"
      "(void)begin;\n"
      "INT bad = 0;\n",
      x->params[x->main].v);
  read_ahead(x, print_level);
  if (has_cursors(x))
    print_segment_within(x);
  else
    print_whole_segment(x);
  fputs("if (bad) return 0;\n}\n", x->out);
}

static void print_loops(const struct kernel_text *x) {
  fputs("uint64_t i = 0;\n"
        "const uint64_t g = 0, begin = 0, end = n;\n"
        "(void)g, (void)begin;\n",
        x->out);
  declare_cursors(x);
  print_level(x, KERNEL_EVERYWHERE);
  fputs("if (bad && n > 0) return 0;\nbad = 0;\n", x->out);
  if (x->main == SUPEROP_NONE)
    print_segment(x);
  else
    print_segments(x);
}

/* One position, in one segment. */
static void print_single(const struct kernel_text *x) {
  fputs("const uint64_t i = 0, g = 0, begin = 0, end = 1;\n"
        "(void)i, (void)g, (void)begin, (void)end;\n",
        x->out);
  PRINT_ALL(x, at_segment);
  print_level(x, KERNEL_OF_POSITION);
  PRINT_ALL(x, after_segment);
}

/* ---- what stands before the loops ---- */

/* Whether anything is left to be computed or checked. */
static bool does_something(const struct kernel_text *x) {
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (kernel_writes(s) || may_fail(s)) return true;
  }
  return false;
}

/* Sizes that may differ are compared. */
static void print_rules(const struct kernel_text *x) {
  for (uint32_t k = 0; k < x->op->rule_count; k++) {
    const struct snippet a = size_of(x, x->op->rules[k].a), b = size_of(x, x->op->rules[k].b);
    if (strcmp(a.text, b.text) != 0)
      fprintf(x->out, "if (%s != %s) return 0;\n", a.text, b.text);
  }
}

/* A gather reads something where its index is wrong, if there is anything. */
static void require_something(const struct kernel_text *x) {
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (s->kind == KERNEL_GATHER && s->count == 1 && !is_pointed(x, s) &&
        param_form(x, s->param) != FORM_SCALAR && param_form(x, s->param) != FORM_SAME)
      fprintf(x->out, "if (%s == 0 && n > 0) return 0;\n",
              held_length(&x->params[s->param]).text);
  }
}

static bool has(const struct kernel_text *x, enum kernel_statement_kind kind) {
  for (uint32_t k = 0; k < x->k->count; k++) {
    if (x->k->statements[k].kind == kind) return true;
  }
  return false;
}

static void print_sizes(const struct kernel_text *x) {
  const bool segmented = is_segmented(x, x->op->segments);
  fprintf(x->out, "INT bad = 0;\nconst uint64_t n = %s;\n", size_of(x, x->op->domain).text);
  if (has(x, KERNEL_WHILE)) fputs("uint64_t rounds = 0;\n", x->out);
  if (has(x, KERNEL_REDUCE) || has(x, KERNEL_KEEP) || has(x, KERNEL_COMBINE))
    fprintf(x->out, "const uint64_t segments = %s;\n(void)segments;\n",
            segmented ? numbered("c", x->params[x->op->segments].v).text : "1");
}

/* Sizes and `bad` have been declared. */
void print_statements(const struct kernel_text *x) {
  require_something(x);
  PRINT_ALL(x, before);
  take_held(x);
  if (x->single)
    print_single(x);
  else
    print_loops(x);
  PRINT_ALL(x, after);
  fputs("if (bad) return 0;\n", x->out);
}

static void print_whole(const struct kernel_text *x) {
  print_sizes(x);
  print_rules(x);
  print_statements(x);
}

/* A slice is not copied. */
static void print_slice(const struct kernel_text *x) {
  print_sizes(x);
  print_rules(x);
  print_level(x, KERNEL_EVERYWHERE);
  point_slice(x);
  fputs("if (bad) return 0;\n", x->out);
}

/* Elementwise operations on scalars. */
static void print_plain(const struct kernel_text *x) {
  print_rules(x);
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    if (s->kind == KERNEL_STORE && output_of(x, s->output)->form != FORM_SCALAR)
      take_result(x, s->output, "1");
    printers_of(x, k)->at_position(x, k);
  }
}

/* ---- what is known without loops ---- */

/* The lengths of whose descriptor a result is the sum; or NULL. */
static const struct held *total_of(const struct superop *op, const struct held *params,
                                   uint32_t value) {
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    if (node->op != OPC_ADD_REDUCE || node->result != value) continue;
    const uint32_t p = node->operands[0];
    return p < op->param_count && params[p].form == FORM_LENGTHS &&
                   params[node->operands[1]].form == FORM_ONE
               ? &params[p]
               : NULL;
  }
  return NULL;
}

/* Starts of segments are not computed, and the total of a descriptor is known. */
static bool is_left_out(const struct kernel_text *x, const struct kernel_statement *s) {
  const struct held *h = output_of(x, s->output);
  return h && (h->form == FORM_STARTS || h->form == FORM_SAME ||
               total_of(x->op, x->params, s->output));
}

/* What loads a parameter whose value is known is a constant. */
static void use_constant(const struct kernel_text *x, struct kernel_statement *s) {
  if (s->kind != KERNEL_LOAD && s->kind != KERNEL_SPREAD) return;
  const struct held *h = &x->params[s->param];
  if (h->form != FORM_SAME || !h->constant) return;
  s->kind = KERNEL_CONSTANT;
  s->constant = h->constant;
}

void find_statements(struct kernel_text *x, struct arena *arena) {
  struct kernel *k = kernel_lower(arena, x->op);
  uint32_t count = 0;
  for (uint32_t i = 0; i < k->count; i++) {
    use_constant(x, &k->statements[i]);
    if (!is_left_out(x, &k->statements[i])) k->statements[count++] = k->statements[i];
  }
  k->count = count;
  x->k = k;
  if (x->range) order_phases(arena, k);
  if (x->range) find_ways(x, k->statements);
  const uint32_t params = x->op->param_count * (x->range ? READ_WAYS : 1);
  bool *one = arena_alloc(arena, params + 1);
  for (uint32_t p = 0; p < params; p++) one[p] = param_form(x, p) == FORM_ONE;
  kernel_find_strides(arena, k, one);
}

/* Writes the element of a result that is the same everywhere, and its length. */
static void print_same(const struct kernel_text *x, uint32_t i) {
  const uint32_t v = x->outputs[i].v;
  const uint32_t from = emit_definition(x->op, x->op->outputs[i])->operands[0];
  put_with(x->out, size_of(x, x->op->sizes[x->op->outputs[i]]).text, "n$0 = $w;\nx$0 = ", v);
  if (from >= x->op->param_count)
    emit_literal(&emit_definition(x->op, from)->constant, x->out);
  else
    put_element(x->out, &x->params[from], "0");
  fputs(";\n", x->out);
}

static void print_known(const struct kernel_text *x) {
  for (uint32_t i = 0; i < x->op->output_count; i++) {
    const struct held *of = total_of(x->op, x->params, x->op->outputs[i]);
    if (of) put(x->out, "x$0 = (INT)(o$1[c$1] - o$1[0]);\n", x->outputs[i].v, of->base);
    if (x->outputs[i].form == FORM_SAME) print_same(x, i);
  }
}

/* ---- a kernel ---- */

/* The number of a superoperator of the program, by which its combination is called. */
static uint32_t combination_of(const struct kernel_file *t, const struct superop *op) {
  for (uint32_t k = 0; k < t->superop_count; k++) {
    if (t->superops[k] == op) return k;
  }
  return 0;
}

static void declare_results(const struct kernel_text *x) {
  for (uint32_t i = 0; i < x->op->output_count; i++)
    declare_held(x->out, &x->outputs[i],
                 element_type((enum superop_kind)x->op->kinds[x->op->outputs[i]]));
}

void print_kernel(struct kernel_file *t, const struct superop *op, const struct held *params,
                  const struct held *outputs, bool keeps) {
  uint32_t scratch = 0;
  struct kernel_text x = {.op = op,
                          .params = params,
                          .outputs = outputs,
                          .arena = t->arena,
                          .out = t->out,
                          .combination = combination_of(t, op),
                          .scratch = &scratch};
  find_statements(&x, t->arena);
  find_shape(&x, t->arena);
  declare_results(&x);
  print_known(&x);
  fputs("{\n", t->out);
  if (x.plain)
    print_plain(&x);
  else if (!keeps && is_slice(&x))
    print_slice(&x);
  else if (does_something(&x))
    print_whole(&x);
  else
    print_rules(&x);
  fputs("}\n", t->out);
  if (scratch > t->scratch) t->scratch = scratch;
}

bool may_print_kernel(const struct superop *op) {
  if (op->copies) return false;
  uint32_t combinations = 0;
  for (uint32_t k = 0; k < op->node_count; k++) {
    const uint8_t role = op->nodes[k].role;
    if (role == ROLE_COMBINE_SCATTER) return false;
    combinations += role == ROLE_COLUMN && (k == 0 || op->nodes[k - 1].role != ROLE_COLUMN);
  }
  return combinations <= 1;
}
