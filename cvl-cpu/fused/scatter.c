/* scatter.c - scatters in ranges, as their indices are computed. So neither indices nor values
 * are in memory as a whole.
 *
 * The indices of a PERMUTE are all different: any thread writes what its ranges say, and marks
 * it; if something stays unmarked, another index occurs twice. Where the highest source wins,
 * sources have to come in order. One thread alone takes them so; a few threads each compute all
 * of them, and write a part of the destinations.
 */
#include "cvl-cpu/fused/scatter.h"

#include <string.h>

#include "cvl-cpu/operations/ranges.h"

/* With more threads than this computing everything in each of them takes longer than passing
 * it through memory does: an estimate. */
enum { MOST_PARTS = 4 };

/* Whether there is nothing to do but scatters, and checks, which may be done several times. */
static bool only_scatters(const struct cvl_kernel *k) {
  for (uint32_t i = 0; i < k->op->output_count; i++) {
    const uint32_t n = k->values[k->op->outputs[i]].node;
    if (n == SUPEROP_NONE || k->op->nodes[n].role != ROLE_SCATTER) return false;
  }
  return true;
}

enum fused_scattering fused_scattering(const struct cvl_kernel *k, bool ordered,
                                       uint64_t units) {
  const unsigned threads = pool_threads(k->c->pool);
  if (!ordered || threads == 1 || units <= k->serial_steps) return SCATTER_IN_RANGES;
  return only_scatters(k) && threads <= MOST_PARTS ? SCATTER_BY_DESTINATIONS : SCATTER_APART;
}

/* ---- results ---- */

/* Whether another parameter is the same vector: one may be borrowed and the other owned. */
static bool is_shared(const struct cvl_kernel *k, const struct cvl_value *operands,
                      uint32_t param) {
  bool shared = false;
  for (uint32_t j = 0; j < k->op->param_count; j++)
    shared |= j != param && operands[j].form == CVL_VECTOR &&
              operands[j].as.vector == operands[param].as.vector;
  return shared;
}

/* The vector of the defaults, if the result may be written over it: nothing else reads it. */
static struct cvl_vector *scatter_reusable_defaults(const struct cvl_kernel *k, uint32_t value,
                                                    const struct cvl_value *operands,
                                                    size_t bytes) {
  if (value >= k->op->param_count || k->op->uses[value] != 1) return NULL;
  if (is_shared(k, operands, value)) return NULL;
  return value_reusable(&operands[value], bytes);
}

/* The value of the defaults; SUPEROP_NONE: zeros, or none. */
static uint32_t scatter_defaults_of(const struct superop_node *node) {
  if (node->op == OPC_DPERMUTE) return node->operands[2];
  return node->op == OPC_DFPERMUTE ? node->operands[3] : SUPEROP_NONE;
}

static bool fill_result(struct cvl_kernel *k, const struct fused_scatter *s,
                        const struct cvl_value *defaults, size_t bytes) {
  const uint64_t site = k->run.site + s->node;
  if (k->op->nodes[s->node].op == OPC_PERMUTE) return true;
  if (!defaults) return clear_bytes(k->c, site, s->out, s->count * bytes);
  return copy_bytes(k->c, site, s->out, value_data(defaults), s->count * bytes);
}

static bool make_marks(struct cvl_kernel *k, struct fused_scatter *s) {
  s->mark = NULL;
  const struct superop_node *node = &k->op->nodes[s->node];
  if (node->op != OPC_PERMUTE || !node->checked || s->known) return true;
  s->mark = scratch_alloc(k->c, k->run.site + s->node, s->count);
  return s->mark && clear_bytes(k->c, k->run.site + s->node, s->mark, s->count);
}

static bool make_result(struct cvl_kernel *k, struct fused_scatter *s,
                        const struct cvl_value *operands) {
  const struct superop_node *node = &k->op->nodes[s->node];
  const uint32_t value = scatter_defaults_of(node);
  struct fused_value *v = s->v;
  struct cvl_vector *reuse =
      value == SUPEROP_NONE ? NULL : scatter_reusable_defaults(k, value, operands, v->bytes);
  s->count = value_segments(&operands[node->operands[node->operand_count - 1]]).total;
  if (!result_new(k->c, k->run.site + s->node, (enum cvl_elem)v->elem, s->count, reuse,
                  &v->whole))
    return false;
  s->out = result_data(&v->whole);
  if (!reuse && !fill_result(k, s, value == SUPEROP_NONE ? NULL : &operands[value], v->bytes))
    return false;
  return make_marks(k, s);
}

uint64_t fused_scatter_parts(const struct cvl_kernel *k) {
  const struct segments one = {.count = 1};
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < k->scatter_count; i++)
    bytes += k->scatters[i].count * k->scatters[i].v->bytes;
  return ranges_for(k->c, &one, bytes);
}

/* ---- a run ---- */

bool fused_scatter_begin(struct cvl_kernel *k, const struct cvl_value *operands) {
  bool made = true;
  for (uint32_t i = 0; i < k->scatter_count; i++) k->scatters[i].mark = NULL;
  for (uint32_t i = 0; i < k->scatter_count && made; i++)
    made = make_result(k, &k->scatters[i], operands);
  if (!made) fused_scatter_end(k, false);
  return made;
}

static bool is_whole(const struct cvl_kernel *k, const struct fused_scatter *s) {
  uint64_t marked;
  return !s->mark ||
         (cpu_count_flags(k->c, k->run.site + s->node, s->mark, s->count, &marked) &&
          marked == s->count);
}

bool fused_scatter_end(struct cvl_kernel *k, bool check) {
  bool whole = true;
  for (uint32_t i = 0; i < k->scatter_count; i++) {
    const struct fused_scatter *s = &k->scatters[i];
    whole = whole && (!check || is_whole(k, s));
    if (s->mark) scratch_free(k->c, s->mark, s->count);
  }
  return whole;
}
