/* function-ends.c - how a function ends: it returns results, or calls itself, which is the next
 * round of a loop.
 */
#include "procedures/function-text.h"

const struct ir_binding *end_of(const struct ir_block *block) {
  const struct ir_binding *b = block->count > 0 ? &block->bindings[block->count - 1] : NULL;
  if (!b || block->end != IR_YIELD || b->result_count != block->result_count) return NULL;
  for (uint32_t i = 0; i < b->result_count; i++) {
    if (b->results[i] != block->results[i]) return NULL;
  }
  return b;
}

bool calls_itself_last(const struct ir_block *block, uint32_t function) {
  const struct ir_binding *b = end_of(block);
  if (!b) return false;
  if (b->form == IR_CALL) return b->as.callee == function;
  return b->form == IR_IF && (calls_itself_last(b->as.arms.then, function) ||
                              calls_itself_last(b->as.arms.otherwise, function));
}

/* ---- returns ---- */

static const struct conversion returns = {
    .same = {[FORM_SCALAR] = "*y$0 = x$1;\n",
             [FORM_ONE] = "*y$0 = n$1;\n",
             [FORM_SEGMENTS] = "if (!native_append_lengths(r, y$0, o$1, c$1)) return 0;\n"},
    .other = {[FORM_SCALAR] = "*y$0 = x$1[0];\n",
              [FORM_ONE] = "*y$0 = o$1[1] - o$1[0];\n",
              [FORM_SEGMENTS] = "if (!native_append_length(r, y$0, n$1)) return 0;\n"}};

static void return_vector(const struct function_text *x, uint32_t i, ir_var v) {
  if (x->returned[v]) {
    put(out_of(x), "y$0->n += n$1;\n", i, v);
    return;
  }
  put(out_of(x), "if (!native_append(r, y$0, ", i);
  put_elements(x, v);
  fprintf(out_of(x), ", %s, sizeof(%s))) return 0;\n", length_of(x, v).text,
          variable_type(x, v));
}

static void return_result(const struct function_text *x, uint32_t i, ir_var v) {
  const enum form wanted = (enum form)x->forms->results[i];
  require_one(x, v, wanted);
  if (wanted == FORM_VECTOR)
    return_vector(x, i, v);
  else
    put(out_of(x), conversion_text(&returns, form_of(x, v), wanted), i, v);
}

static void print_return(const struct function_text *x, const struct ir_block *block) {
  for (uint32_t i = 0; i < block->result_count; i++) return_result(x, i, block->results[i]);
  if (x->loops) fputs("native_rounds_end(r, &rounds);\n", out_of(x));
  fputs("native_return(r, mark);\nreturn 1;\n", out_of(x));
}

/* ---- the next round ---- */

static const struct conversion nexts = {
    .same = {[FORM_SCALAR] = "const $w next$0 = x$1;\n",
             [FORM_VECTOR] = "$w *next$0 = (void *)x$1;\n",
             [FORM_ONE] = "const uint64_t next$0 = n$1;\n",
             [FORM_SEGMENTS] = "uint64_t *next$0 = (void *)o$1;\n"},
    .other = {[FORM_SCALAR] = "const $w next$0 = x$1[0];\n",
              [FORM_VECTOR] = "$w *next$0 = native_take(r, 1, sizeof *next$0);\n"
                              "if (!next$0) return 0;\n"
                              "next$0[0] = x$1;\n",
              [FORM_ONE] = "const uint64_t next$0 = o$1[1] - o$1[0];\n",
              [FORM_SEGMENTS] = "uint64_t *next$0 = native_take(r, 2, sizeof *next$0);\n"
                                "if (!next$0) return 0;\n"
                                "next$0[0] = 0; next$0[1] = n$1;\n"}};

static const char copied_vector[] = "$w *next$0 = native_take(r, n$1, sizeof *next$0);\n"
                                    "if (!next$0) return 0;\n"
                                    "if (n$1) memcpy(next$0, x$1, n$1 * sizeof *next$0);\n";
static const char copied_segments[] =
    "uint64_t *next$0 = native_take(r, c$1 + 1, sizeof *next$0);\n"
    "if (!next$0) return 0;\n"
    "memcpy(next$0, o$1, (c$1 + 1) * sizeof *next$0);\n";

/* What this round did not make itself may be in the memory of the round before, which the next
 * one uses again: it is copied, unless it stays what it is. */
static bool is_made_here(const struct ir_block *block, ir_var v) {
  for (uint32_t k = 0; k < block->count; k++) {
    const struct ir_binding *b = &block->bindings[k];
    for (uint32_t i = 0; i < b->result_count; i++) {
      if (b->results[i] == v) return b->form != IR_IF;
    }
  }
  return false;
}

/* Writes nextI, what parameter i will be. */
static void begin_next(const struct function_text *x, const struct ir_block *block, uint32_t i,
                       ir_var v) {
  const ir_var p = x->f->params[i];
  const enum form has = form_of(x, v), wanted = form_of(x, p);
  const char *text = conversion_text(&nexts, has, wanted);
  const bool copies = has == wanted && !is_made_here(block, v);
  if (copies && wanted == FORM_VECTOR) text = copied_vector;
  if (copies && wanted == FORM_SEGMENTS) text = copied_segments;
  require_one(x, v, wanted);
  put_with(out_of(x), variable_type(x, p), text, i, v);
}

/* Lengths of parameters may be needed for others, until all are known. */
static void measure_next(const struct function_text *x, uint32_t i, ir_var v) {
  const enum form wanted = form_of(x, x->f->params[i]);
  const struct held h = held_of(x, v);
  if (wanted == FORM_VECTOR)
    put_with(out_of(x), held_length(&h).text, "const uint64_t size$0 = $w;\n", i);
  if (wanted == FORM_SEGMENTS)
    put_with(out_of(x), held_count(&h).text, "const uint64_t size$0 = $w;\n", i);
}

static void set_next(const struct function_text *x, uint32_t i) {
  static const char *const texts[] = {
      [FORM_SCALAR] = "x$0 = next$1;\n",
      [FORM_VECTOR] = "x$0 = next$1; n$0 = size$1;\n",
      [FORM_ONE] = "n$0 = next$1;\n",
      [FORM_SEGMENTS] = "o$0 = next$1; c$0 = size$1;\n",
  };
  const ir_var p = x->f->params[i];
  put(out_of(x), texts[form_of(x, p)], p, i);
}

static void print_next_round(const struct function_text *x, const struct ir_block *block,
                             const struct ir_binding *b) {
  const ir_var *now = x->f->params, *next = b->operands;
  for (uint32_t i = 0; i < b->operand_count; i++)
    if (next[i] != now[i]) begin_next(x, block, i, next[i]);
  for (uint32_t i = 0; i < b->operand_count; i++)
    if (next[i] != now[i]) measure_next(x, i, next[i]);
  for (uint32_t i = 0; i < b->operand_count; i++)
    if (next[i] != now[i]) set_next(x, i);
  fputs("native_return(r, (struct native_mark){r->arena->block, r->arena->at, mark.buffers});\n"
        "native_round(r, &rounds);\n"
        "if (!native_goes_on(r)) return 0;\n"
        "continue;\n",
        out_of(x));
}

/* ---- an end ---- */

static void print_end_if(const struct function_text *x, const struct ir_binding *b) {
  print_condition(x, b);
  print_end(x, b->as.arms.then);
  fputs("} else {\n", out_of(x));
  print_end(x, b->as.arms.otherwise);
  fputs("}\n", out_of(x));
}

void print_end(const struct function_text *x, const struct ir_block *block) {
  const struct ir_binding *b = end_of(block);
  const bool arms = b && b->form == IR_IF;
  const bool again = x->loops && b && b->form == IR_CALL && b->as.callee == x->number;
  print_bindings(x, block, block->count - (arms || again));
  if (arms)
    print_end_if(x, b);
  else if (again)
    print_next_round(x, block, b);
  else if (block->end == IR_YIELD)
    print_return(x, block);
  else
    fputs("return 0;\n", out_of(x));
}
