/* profiled.c - executes one instruction with its counts and its time, for the profile and the
 * trace.
 *
 * It is only used with options.profile or options.trace. Each operation is waited for, so that
 * its time is its own. On an asynchronous back end such a run is slower than others.
 */
#include "vinterp/machine/machine-private.h"

#include "fused-kernels/emit.h"
#include "fused-kernels/fused.h"
#include <inttypes.h>
#include <string.h>

/* Returns the elements of a vector, or the segments of a descriptor; 0 for a pair. Waits for
 * deferred sizes. */
static uint64_t profiled_elements(const struct machine *m, const struct value *v) {
  struct cvl_size size = {.bound = v->form != VALUE_PAIR};
  if (v->form == CVL_VECTOR) size = m->backend->length(m->context, &v->flat);
  if (v->form == CVL_SEGDES) size = m->backend->count(m->context, &v->flat);
  if (size.symbol) m->backend->resolve(m->context, &size);
  return size.bound;
}

static uint64_t profiled_bytes_of(const struct value *v, uint64_t n) {
  bool vector = v->form == CVL_SCALAR || v->form == CVL_VECTOR;
  return n * (vector ? elem_info((enum cvl_elem)v->flat.elem)->bytes : sizeof(int64_t));
}

/* ---- measuring an instruction ---- */

struct measured {
  struct profile_entry entry;
  uint64_t longest; /* elements of the longest operand or result */
  double begin;
};

/* Adds n operands or results to the counts of what was read or written. */
static void profiled_measure(const struct machine *m, struct measured *x, uint64_t *count,
                             const struct value *v, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    uint64_t length = profiled_elements(m, &v[k]);
    *count += length;
    x->entry.bytes += profiled_bytes_of(&v[k], length);
    if (length > x->longest) x->longest = length;
  }
}

/* Waits for the instruction, which has left n results. Returns false if it has failed. */
static bool profiled_finish(struct machine *m, struct measured *x, uint32_t location,
                            struct value *results, uint32_t n) {
  struct machine_site site = {m->site, location};
  if (!machine_settle(m, &site)) {
    for (uint32_t k = 0; k < n; k++) value_release(&m->store, &results[k]);
    return false;
  }
  x->entry.seconds = stop_clock() - x->begin;
  profiled_measure(m, x, &x->entry.written, results, n);
  return true;
}

static void write_event(struct machine *m, const struct measured *x, uint32_t location,
                        const char *name, const char *formula) {
  char line[512];
  struct debug_info info = code_debug_info(m->code, location);
  machine_describe_location(m, &info, line, sizeof line);
  struct trace_event event = {.name = name,
                              .category =
                                  opcode_class_info(opcode_info(x->entry.op)->klass)->category,
                              .line = line,
                              .function = m->program->functions[info.function].name->text,
                              .formula = formula,
                              .elements = x->longest,
                              .begin = x->begin,
                              .duration = x->entry.seconds};
  trace_write(m->trace, &event);
}

static uint32_t present_row(const struct machine *m) {
  return m->profile_rows[m->frames[m->depth - 1].function];
}

/* ---- operations and superoperators ---- */

bool operation_profiled(struct machine *m, uint32_t location, enum opcode op,
                        enum type_word type, struct value *operands, struct value *results) {
  const struct opcode_info *info = opcode_info(op);
  struct measured x = {.entry = {.op = op, .type = type}};
  profiled_measure(m, &x, &x.entry.read, operands, (uint32_t)strlen(info->operands));
  x.entry.passes = info->klass == OC_ELEMENTWISE && x.longest > 1;
  if (opcode_class_info(info->klass)->log_steps)
    x.entry.over = profiled_elements(m, &operands[0]);
  x.begin = stop_clock();
  if (!operation_execute(m, location, op, type, operands, results) ||
      !profiled_finish(m, &x, location, results, (uint32_t)strlen(info->results))) {
    return false;
  }
  if (m->profile) profile_instruction(m->profile, present_row(m), &x.entry);
  if (m->trace) {
    const char *word = type_word_text(type);
    char name[64];
    snprintf(name, sizeof name, "%s%s%s", info->spelling, *word ? " " : "", word);
    write_event(m, &x, location, name, NULL);
  }
  return true;
}

/* Returns how often elements are visited if the superoperator is executed node by node. Nodes
 * that only spread or move elements are no elementwise passes, alone or in a superoperator. */
static uint32_t elementwise_nodes(const struct superop *op) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < op->node_count; k++) n += op->nodes[k].role == ROLE_MAP;
  return n;
}

/* A question that is answered in a separate arena, from which the answer is copied. */
struct question {
  const struct superop *op;
  bool compiled;
  char left[100];
};

static void profiled_ask(struct arena *arena, void *context) {
  struct question *q = context;
  const char *left = fused_functions_leave(arena, q->op, &q->compiled);
  snprintf(q->left, sizeof q->left, "%s", left);
}

/* Makes a row; returns row 0 if memory runs out. */
static uint32_t new_row(struct machine *m, uint32_t superop) {
  const struct superop *op = m->program->superops[superop];
  struct question q = {.op = op};
  const bool one_pass = fused_was_one_pass(m);
  char formula[400];
  if (one_pass && !arena_with(m->heap, profiled_ask, &q)) return 0;
  const char *way = !one_pass     ? "node by node"
                    : !q.compiled ? "evaluated"
                    : *q.left     ? "split"
                                  : "whole";
  fused_formula(op, formula, sizeof formula);
  return profile_superop(m->profile, &(struct profile_superop){superop, way, q.left, formula});
}

/* Returns the row in which an execution counts. It is looked up if the same has been executed
 * before, since a plan takes longer than many executions. */
static uint32_t superop_row(struct machine *m, uint32_t superop) {
  uint64_t key = map_mix(superop_hash(m->program->superops[superop]), superop);
  key = map_mix(key, fused_was_one_pass(m));
  uint32_t row;
  if (profile_superop_known(m->profile, key, &row)) return row;
  row = new_row(m, superop);
  profile_superop_remember(m->profile, key, row);
  return row;
}

bool fused_profiled(struct machine *m, uint32_t location, uint32_t superop) {
  const struct superop *op = m->program->superops[superop];
  struct measured x = {.entry = {.op = OPC_FUSED, .type = TW_NONE}};
  profiled_measure(m, &x, &x.entry.read, fused_operands(m), op->param_count);
  uint64_t domain = fused_domain(m, superop);
  x.begin = stop_clock();
  if (!fused_execute(m, location, superop) ||
      !profiled_finish(m, &x, location, fused_results(m), op->output_count)) {
    return false;
  }
  uint32_t passes = domain > 1 ? elementwise_nodes(op) : 0;
  x.entry.passes = passes > 1 && fused_was_one_pass(m) ? 1 : passes;
  if (domain > x.longest) x.longest = domain;
  if (m->profile) {
    x.entry.superop = superop_row(m, superop);
    profile_instruction(m->profile, present_row(m), &x.entry);
  }
  if (m->trace) {
    char name[32], formula[400];
    snprintf(name, sizeof name, "FUSED %" PRIu32, superop);
    write_event(m, &x, location, name, fused_formula(op, formula, sizeof formula));
  }
  return true;
}
