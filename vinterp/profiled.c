/* profiled.c - one instruction with its counts and its time, for the profile.
 *
 * Only a machine with options.profile comes here. Operations are waited for one by one, so that
 * the time of each is its own: such a run is slower than others on an asynchronous back end.
 */
#include "vinterp/machine-private.h"

#include <string.h>

/* Elements of a vector, segments of a descriptor; 0 for a pair. Sizes that are pending are
 * waited for. */
static uint64_t elements(const struct machine *m, const struct value *v) {
  struct cvl_size size = {.bound = v->form != VALUE_PAIR};
  if (v->form == CVL_VECTOR) size = m->backend->length(m->context, &v->flat);
  if (v->form == CVL_SEGDES) size = m->backend->count(m->context, &v->flat);
  if (size.symbol) m->backend->resolve(m->context, &size);
  return size.bound;
}

static uint64_t bytes_of(const struct value *v, uint64_t n) {
  bool vector = v->form == CVL_SCALAR || v->form == CVL_VECTOR;
  return n * (vector ? elem_info((enum cvl_elem)v->flat.elem)->bytes : sizeof(int64_t));
}

bool operation_profiled(struct machine *m, uint32_t location, enum opcode op,
                        enum type_word type, struct value *operands, struct value *results) {
  const struct opcode_info *info = opcode_info(op);
  struct profile_entry entry = {.op = op, .type = type};
  for (size_t k = 0; info->operands[k]; k++) {
    uint64_t n = elements(m, &operands[k]);
    entry.read += n;
    entry.bytes += bytes_of(&operands[k], n);
  }
  bool deep = info->class == OC_SCAN || info->class == OC_REDUCE || info->class == OC_RANK;
  if (deep) entry.over = elements(m, &operands[0]);
  double start = machine_clock();
  if (!operation_execute(m, location, op, type, operands, results)) return false;
  struct machine_site site = {m->site, location};
  if (!machine_settle(m, &site)) {
    for (size_t k = 0; info->results[k]; k++) value_release(&m->store, &results[k]);
    return false;
  }
  entry.seconds = machine_clock() - start;
  for (size_t k = 0; info->results[k]; k++) {
    uint64_t n = elements(m, &results[k]);
    entry.written += n;
    entry.bytes += bytes_of(&results[k], n);
  }
  uint32_t function = m->frames[m->depth - 1].function;
  profile_instruction(m->profile, m->profile_rows[function], &entry);
  return true;
}
