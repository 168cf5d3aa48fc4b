/* operations.c - one instruction on values: executed by the machine itself if the host knows
 * everything, else by the back end. Both executors use it.
 */
#include "vinterp/machine/machine-private.h"

#include "cvl/processes.h"
#include "vinterp/io/io.h"
#include <string.h>

/* ---- ownership ---- */

/* Releases the operands that were handed over. */
static void operations_release_owned(struct machine *m, struct value *v, size_t n) {
  for (size_t k = 0; k < n; k++) {
    if (v[k].flat.owned) {
      v[k].flat.owned = 0;
      value_release(&m->store, &v[k]);
    }
  }
}

/* ---- instructions on the host ---- */

static bool all_scalars(const struct value *v, size_t n) {
  for (size_t k = 0; k < n; k++) {
    if (v[k].form != CVL_SCALAR) return false;
  }
  return true;
}

static bool fits_int(const struct machine *m, uint64_t x) {
  return x <= (m->widths.int_elem == CVL_I32 ? (uint64_t)INT32_MAX : (uint64_t)INT64_MAX);
}

/* Tries to execute the instruction on values that the host knows. Returns false if the back
 * end must. Nothing here holds memory or fails: instructions that would are left to the back
 * end. */
static bool execute_at_once(struct machine *m, const struct opcode_info *info, enum opcode op,
                            struct value *v, size_t n, struct value *results) {
  enum cvl_error_kind fault;
  if (info->klass == OC_ELEMENTWISE) {
    struct cvl_value operands[3], out;
    if (!all_scalars(v, n)) return false;
    for (size_t k = 0; k < n; k++) operands[k] = v[k].flat;
    if (!cvl_scalar_op(m->widths.int_elem, m->widths.float_elem, info->operation, operands,
                       &out, &fault)) {
      return false;
    }
    results[0] = value_of(out);
    return true;
  }
  struct cvl_size size;
  switch (op) {
  case OPC_LENGTH:
    size = (struct cvl_size){.bound = 1};
    if (v[0].form != CVL_SCALAR) size = m->backend->length(m->context, &v[0].flat);
    if (size.symbol || !fits_int(m, size.bound)) return false;
    operations_release_owned(m, v, n);
    results[0] = machine_scalar_int(m, (int64_t)size.bound);
    return true;
  case OPC_MAKE_SEGDES:
    if (v[0].form != CVL_SCALAR || cvl_int_of(&v[0].flat) < 0) return false;
    results[0] = value_of(cvl_one_segment((uint64_t)cvl_int_of(&v[0].flat)));
    return true;
  case OPC_LENGTHS:
    if (v[0].form != CVL_ONE_SEGMENT || !fits_int(m, v[0].flat.as.one_segment)) return false;
    results[0] = machine_scalar_int(m, (int64_t)v[0].flat.as.one_segment);
    return true;
  case OPC_ASSERT: return all_scalars(v, n) && v[0].flat.as.b;
  default: return false;
  }
}

/* ---- instructions of the machine ---- */

static bool execute_pairing(struct machine *m, const struct machine_site *site, enum opcode op,
                            struct value *v, struct value *results) {
  /* Operands that were not handed over stay with the caller, so the result needs references. */
  size_t n = op == OPC_PAIR ? 2 : 1;
  for (size_t k = 0; k < n; k++) {
    if (!v[k].flat.owned) value_retain(&m->store, &v[k]);
    v[k].flat.owned = 0;
  }
  if (op == OPC_UNPAIR) {
    value_unpair(&m->store, &v[0], &results[0], &results[1]);
    return true;
  }
  if (value_pair(&m->store, &v[0], &v[1], &results[0])) return true;
  value_release(&m->store, &v[0]);
  value_release(&m->store, &v[1]);
  return machine_memory_fault(m, site, sizeof(struct pair));
}

static bool execute_timer(struct machine *m, const struct machine_site *site, enum opcode op,
                          struct value *results) {
  if (!machine_settle(m, site)) return false;
  if (op == OPC_START_TIMER) {
    m->timer = stop_clock();
  } else {
    double seconds = stop_clock() - m->timer;
    if (m->backend->processes)
      m->backend->processes->broadcast(m->context, &seconds, sizeof seconds);
    results[0] = value_of(cvl_scalar_float(m->widths.float_elem, seconds));
  }
  return true;
}

static bool execute_io(struct machine *m, const struct machine_site *site, enum opcode op,
                       enum type_word type, struct value *v, size_t n, struct value *results) {
  struct value operands[MAX_OPERANDS];
  for (size_t k = 0; k < n; k++) {
    operands[k] = v[k];
    operands[k].flat.owned = 0;
  }
  bool ok = machine_settle(m, site) && check_sizes_now(m, site, op, operands);
  if (ok) {
    if (m->options.progress_fd >= 0) progress_erase(&m->progress);
    ok = io_execute(m, site, op, type, operands, results);
  }
  operations_release_owned(m, v, n);
  return ok;
}

static bool execute_seed(struct machine *m, const struct machine_site *site, struct value *v,
                         struct value *results) {
  int64_t seed;
  bool ok = check_sizes_now(m, site, OPC_SRAND, v) && machine_int(m, site, &v[0], &seed);
  operations_release_owned(m, v, 1);
  if (!ok) return false;
  m->seed = (uint64_t)seed;
  m->random_count = 0;
  results[0] = machine_scalar_bool(true);
  return true;
}

/* ---- instructions of the back end ---- */

/* Issues a call; its results are stored in as many values. */
static bool operations_apply(struct machine *m, const struct machine_site *site,
                             const struct cvl_call *call, struct value *results) {
  struct cvl_value out[CALL_RESULTS];
  if (!m->backend->apply(m->context, site->number, call, out)) return false;
  for (unsigned r = 0; r < call_results(call->kind); r++) results[r].flat = out[r];
  return true;
}

static bool execute_permute(struct machine *m, const struct machine_site *site, enum opcode op,
                            const struct value *v, unsigned n, struct value *results) {
  const struct permute_operands at = permute_operands(op);
  struct cvl_value flat[MAX_OPERANDS];
  for (unsigned k = 0; k < n; k++) flat[k] = v[k].flat;
  struct cvl_call call = superop_permute_call(op, flat);
  struct value shared = {.form = CVL_NOTHING};
  if (at.source == at.destination) { /* the descriptor must not be handed over twice */
    shared = v[at.source];
    call.permute.s.owned = call.permute.d.owned = 0;
  }
  bool ok = operations_apply(m, site, &call, results);
  if (shared.form) operations_release_owned(m, &shared, 1);
  return ok;
}

static bool find_random(struct machine *m, const struct machine_site *site, struct value *v,
                        struct cvl_random *random) {
  *random = (struct cvl_random){.seed = m->seed, .k = m->random_count};
  if (m->dispatcher ? !distribute_random_first(m, site, &v[0], &random->first)
                    : !chunks_random_first(m, site, &v[0], random->k, &random->first)) {
    operations_release_owned(m, v, 1);
    return false;
  }
  m->random_count++;
  return true;
}

static bool execute_on_backend(struct machine *m, const struct machine_site *site,
                               const struct opcode_info *info, enum opcode op, struct value *v,
                               unsigned n, struct value *results) {
  struct cvl_call call;
  if (info->klass == OC_PERMUTE) return execute_permute(m, site, op, v, n, results);
  call.kind = call_kind_of(op);
  call.op = info->operation;
  call.count = n;
  for (unsigned k = 0; k < n; k++) call.operand[k] = v[k].flat;
  if (call.kind == CALL_RANDOM && !find_random(m, site, v, &call.random)) return false;
  return operations_apply(m, site, &call, results);
}

/* Executes an instruction on the back end, and in debug builds checks the results. */
static bool execute_watched(struct machine *m, const struct machine_site *site, enum opcode op,
                            enum type_word type, struct value *v, unsigned n,
                            struct value *results) {
  const struct opcode_info *info = opcode_info(op);
#ifdef RAVEL_DEBUG
  struct cvl_size size = check_result_size(m, op, v);
  if (!execute_on_backend(m, site, info, op, v, n, results)) return false;
  for (size_t k = 0; info->results[k]; k++) {
    if (k > 0) size = size_deferred();
    check_result(m, &results[k].flat, size, operand_kind(info->results[k], type));
  }
  return true;
#else
  (void)type;
  return execute_on_backend(m, site, info, op, v, n, results);
#endif
}

/* Returns whether the host knows that the instruction fails: an operation on scalars, or an
 * ASSERT, that was not executed at once. Such a fault is waited for: later code may depend on
 * scalars only, and never ask the back end. */
static bool is_known_to_fail(const struct opcode_info *info, enum opcode op,
                             const struct value *v, size_t n) {
  return (info->klass == OC_ELEMENTWISE || op == OPC_ASSERT) && all_scalars(v, n);
}

bool operation_execute(struct machine *m, uint32_t location, enum opcode op,
                       enum type_word type, struct value *v, struct value *results) {
  const struct opcode_info *info = opcode_info(op);
  unsigned n = (unsigned)strlen(info->operands);
  chunks_note_operation(m, location, v, n);
  if (execute_at_once(m, info, op, v, n, results)) return true;

  struct machine_site site;
  if (!machine_next_site(m, location, &site)) {
    operations_release_owned(m, v, n);
    return false;
  }
  if (info->klass == OC_PAIRING) return execute_pairing(m, &site, op, v, results);
  if (info->klass == OC_TIMER) return execute_timer(m, &site, op, results);
  if (info->klass == OC_IO) return execute_io(m, &site, op, type, v, n, results);
  if (op == OPC_SRAND) return execute_seed(m, &site, v, results);

  if (!check_sizes(m, &site, op, v)) {
    operations_release_owned(m, v, n);
    return false;
  }
  const bool fails = is_known_to_fail(info, op, v, n);
  for (size_t k = 0; info->results[k]; k++) results[k].flat = (struct cvl_value){0};
  if (!execute_watched(m, &site, op, type, v, n, results))
    return machine_backend_fault(m, &site);
  return !fails || machine_settle(m, &site);
}
