/* instances.c - the operands of a batch call: how much work instances are, the ranges that
 * threads take, and arrays that native code reads.
 */
#include "cvl-cpu/procedures/private.h"

#include <string.h>

enum {
  SHARED_RANGES = 4,    /* ranges for each thread where they share the work of instances */
  RANGES_EACH = 8,      /* else: ranges for each thread, so that threads end together */
  RANGE_MOST = 1 << 20, /* weight of a range: the caller looks about between two of them */
  HEAVY_PART = 1        /* of a thread's part of the work: more in one instance is heavy */
};

/* ---- weights ---- */

/* Returns where an instance begins in an operand: the number of its elements or segments that
 * belong to earlier instances. */
static uint64_t start_in(const struct cvl_procedure *p, const struct cvl_value *operands,
                         uint32_t param, uint64_t instance) {
  const uint32_t size = p->params[param];
  if (size == CVL_PROCEDURE_EACH) return instance;
  const struct segments s = value_segments(&operands[size]);
  return segment_start(&s, start_in(p, operands, size, instance));
}

uint64_t procedure_weight(const struct cvl_procedure *p, const struct cvl_value *operands,
                          uint64_t instance) {
  uint64_t weight = instance;
  for (uint32_t k = 0; k < p->param_count; k++) {
    if (p->params[k] != CVL_PROCEDURE_SHARED) weight += start_in(p, operands, k, instance);
  }
  return weight;
}

/* Whether all instances have the same weight. */
static bool is_even(const struct cvl_procedure *p, const struct cvl_value *operands) {
  for (uint32_t k = 0; k < p->param_count; k++) {
    if (p->param_kinds[k] != CVL_PROCEDURE_SEGDES || p->params[k] == CVL_PROCEDURE_SHARED)
      continue;
    if (value_segments(&operands[k]).offsets) return false;
  }
  return true;
}

/* Whether no instance weighs more than this. */
static bool is_balanced(const struct cvl_procedure *p, const struct cvl_value *operands,
                        uint64_t instances, uint64_t most) {
  const uint64_t looked_at = is_even(p, operands) && instances > 0 ? 1 : instances;
  uint64_t before = 0;
  for (uint64_t i = 0; i < looked_at; i++) {
    const uint64_t next = procedure_weight(p, operands, i + 1);
    if (next - before > most) return false;
    before = next;
  }
  return true;
}

bool procedure_suits(struct cvl_context *c, const struct cvl_procedure *p, uint64_t instances,
                     const struct cvl_value *operands) {
  const uint64_t weight = procedure_weight(p, operands, instances);
  if (p->shares || weight <= tuned(c, PROCEDURE_FEW)) return true;
  return is_balanced(p, operands, instances, weight / (HEAVY_PART * pool_threads(c->pool)));
}

/* ---- ranges ---- */

/* Calls that take fewer seconds are not worth it to wake threads. */
static const double least_seconds = 100e-6;

bool procedure_is_little(const struct cvl_context *c, uint64_t weight, double expected) {
  return expected > 0 ? expected < least_seconds : weight <= tuned(c, PROCEDURE_SERIAL);
}

uint64_t procedure_ranges(const struct cvl_context *c, const struct cvl_procedure *p,
                          uint64_t instances, uint64_t weight) {
  const unsigned threads = pool_threads(c->pool);
  const uint64_t each = p->shares ? SHARED_RANGES : RANGES_EACH;
  uint64_t ranges = weight / RANGE_MOST + 1;
  if (threads > 1 && ranges < each * threads) ranges = each * threads;
  return ranges < instances ? ranges : instances;
}

/* Returns the first instance with at least so much weight before it. */
static uint64_t instance_at(const struct cvl_procedure *p, const struct cvl_value *operands,
                            uint64_t instances, uint64_t weight) {
  uint64_t low = 0, high = instances;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (procedure_weight(p, operands, middle) < weight) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void procedure_cut(const struct cvl_procedure *p, const struct cvl_value *operands,
                   uint64_t instances, uint64_t ranges, uint64_t *firsts) {
  const uint64_t weight = procedure_weight(p, operands, instances);
  for (uint64_t r = 0; r < ranges; r++) {
    firsts[r] = instance_at(p, operands, instances, weight / ranges * r);
  }
  firsts[ranges] = instances;
}

/* ---- arrays ---- */

static const uint64_t *offsets_of(const struct cvl_value *v) {
  return v->form == CVL_SEGDES ? value_segments(v).offsets : NULL;
}

/* Returns the number of offsets that must be made for an operand. */
static uint64_t missing_offsets(const struct cvl_procedure *p, uint32_t param,
                                const struct cvl_value *v) {
  if (p->param_kinds[param] != CVL_PROCEDURE_SEGDES || offsets_of(v)) return 0;
  return value_segments(v).count + 1;
}

static struct native_value bind_segments(const struct cvl_value *v, uint64_t *made) {
  const struct segments s = value_segments(v);
  const uint64_t *offsets = offsets_of(v);
  for (uint64_t k = 0; !offsets && k <= s.count; k++) made[k] = k * s.equal;
  return (struct native_value){.offsets = offsets ? offsets : made, .n = s.count};
}

bool procedure_bind(struct cvl_context *c, uint64_t site, const struct cvl_procedure *p,
                    const struct cvl_value *operands, struct procedure_operands *out) {
  const uint64_t values = p->param_count * sizeof *out->values;
  uint64_t missing = 0;
  for (uint32_t k = 0; k < p->param_count; k++) {
    missing += missing_offsets(p, k, &operands[k]);
  }
  out->bytes = values + missing * sizeof(uint64_t);
  out->values = scratch_alloc(c, site, out->bytes);
  if (!out->values) return false;
  uint64_t *made = (uint64_t *)(void *)((char *)out->values + values);
  for (uint32_t k = 0; k < p->param_count; k++) {
    const struct cvl_value *v = &operands[k];
    const bool segments = p->param_kinds[k] == CVL_PROCEDURE_SEGDES;
    out->values[k] = segments ? bind_segments(v, made)
                              : (struct native_value){value_data(v), NULL, value_length(v)};
    made += missing_offsets(p, k, v);
  }
  return true;
}

void procedure_unbind(struct cvl_context *c, const struct procedure_operands *o) {
  scratch_free(c, o->values, o->bytes);
}
