/* consumer.c - results of a run that go to the caller's consumer, chunk by chunk (struct
 * machine_consumer).
 *
 * The code behind the open calls shows whether the result of a call is a result of the run:
 * only the way to the RETURN follows, with the value in a slot. The value itself shows whether
 * a result of the run is one that the consumer has.
 */
#include "vinterp/machine/machine-private.h"

/* ---- destinations ---- */

/* Follows a slot's value through an instruction of straight code. Returns false if it is lost.
 */
static bool follow_slot(const struct machine *m, const struct instruction *i, uint32_t *slot) {
  const uint32_t *refs = code_refs(m->code, i);
  if (i->action == ACT_DROP) return refs[0] != *slot;
  if (i->action == ACT_MOVE && (refs[0] & REF_SLOT) == *slot) {
    *slot = refs[1];
    return true;
  }
  for (uint32_t k = 0; k < i->operand_count; k++) {
    if (refs[k] == (*slot | REF_LAST)) return false;
  }
  for (uint32_t k = 0; k < i->result_count; k++) {
    if (refs[i->operand_count + k] == *slot) return false;
  }
  return true;
}

/* Finds which result of its function a RETURN makes of a slot. */
static bool returned(const struct machine *m, const struct instruction *i, uint32_t slot,
                     uint64_t *result) {
  const uint32_t *refs = code_refs(m->code, i);
  for (uint32_t k = 0; k < i->operand_count; k++) {
    *result = k;
    if ((refs[k] & REF_SLOT) == slot) return true;
  }
  return false;
}

/* Turns the number *k of a CALL's result into that of the function around it. Returns false if
 * it is none, or only sometimes. */
static bool result_of_caller(const struct machine *m, uint32_t location, uint64_t *k) {
  if (code_is_stack(m->code, location)) return false;
  const struct instruction *i = m->code->instructions + location;
  uint32_t slot = code_refs(m->code, i)[i->operand_count + *k];
  for (i++;; i++) {
    while (i->action == ACT_JUMP) i = m->code->instructions + i->as.target;
    switch ((enum action)i->action) {
    case ACT_RETURN: return returned(m, i, slot, k);
    case ACT_OPERATION:
    case ACT_SCALAR:
    case ACT_PROFILED:
    case ACT_FUSED:
    case ACT_NODE:
    case ACT_SCALAR_CONST:
    case ACT_CONST:
    case ACT_COPY:
    case ACT_MOVE:
    case ACT_DROP:
    case ACT_CALL:
      if (!follow_slot(m, i, &slot)) return false;
      break;
    case ACT_IF:
    case ACT_IF_NOT:
    case ACT_JUMP:
    case ACT_TAIL_CALL:
    case ACT_EXIT:
    case ACT_NEVER: return false;
    }
  }
}

/* Turns the number *k of a result of a cut's frame into that of the run. Frames below it must
 * not be cut; otherwise it is the result of a chunk only. */
static bool result_of_run(const struct machine *m, const struct cut *cut, uint64_t *k) {
  uint32_t caller = cut->frame.caller;
  if (m->chunks.count > 1) return false;
  for (uint64_t index = cut->index; index > 0; index--) {
    if (!result_of_caller(m, caller, k)) return false;
    caller = m->frames[index - 1].caller;
  }
  return true;
}

/* Returns the bytes of a result. For elements of segments they are not known, so those of the
 * operands are added. */
static uint64_t consumer_bytes_of(const struct cut *cut, uint32_t k, enum cvl_elem elem) {
  double bytes = (double)cut->instances * (double)elem_info(elem)->bytes;
  if (cut->results[k].size == IR_EACH) return (uint64_t)bytes;
  for (uint32_t p = 1; p < cut->operand_count; p++) {
    const struct cut_operand *o = &cut->operands[p];
    if (o->size != IR_SHARED) bytes += o->each * (double)o->total;
  }
  return (uint64_t)bytes;
}

static bool consumer_wants(const struct machine *m, const struct cut *cut, uint32_t k,
                           enum cvl_elem elem) {
  return !m->consumer->wants ||
         m->consumer->wants(m->consumer->with, consumer_bytes_of(cut, k, elem));
}

static bool consumer_takes(const struct machine *m, const struct cut *cut, uint32_t k,
                           uint64_t *number) {
  const struct ir_function *f = &m->program->functions[cut->function];
  const enum ir_kind_tag kind = f->result_kinds[k]->tag;
  const enum cvl_elem elem = kind == IR_INT     ? m->widths.int_elem
                             : kind == IR_FLOAT ? m->widths.float_elem
                                                : CVL_BOOL;
  *number = k;
  return kind != IR_SEGDES && result_of_run(m, cut, number) &&
         consumer_wants(m, cut, k, elem) &&
         m->consumer->takes(m->consumer->with, *number, elem);
}

void consumer_ask(struct machine *m, struct cut *cut) {
  for (uint32_t k = 0; m->consumer && m->backend->sharing && k < cut->result_count; k++) {
    struct cut_result *r = &cut->results[k];
    r->consumed = consumer_takes(m, cut, k, &r->number);
    cut->consumers |= r->consumed;
  }
}

/* ---- a chunk ---- */

/* Reports that the consumer has failed, perhaps because it was asked to stop. Always returns
 * false. */
static bool consumer_fail(struct machine *m, const struct machine_site *site,
                          const char *problem) {
  m->chunks.final = true;
  return machine_may_go_on(m, site) && machine_fault(m, site, "%s", problem);
}

static bool machine_consumer_put(struct machine *m, const struct machine_site *site,
                                 const struct cut *cut, const struct cut_result *r, uint64_t n,
                                 const void *elements) {
  char problem[MACHINE_CONSUMER_PROBLEM] = "";
  const bool each = r->size == IR_EACH;
  return m->consumer->put(m->consumer->with, r->number, each ? cut->first : r->total, n,
                          each ? cut->instances : MACHINE_CONSUMER_UNKNOWN, elements,
                          problem) ||
         consumer_fail(m, site, problem);
}

/* Copies the elements of a vector that cannot be read in place. */
static bool put_copied(struct machine *m, const struct machine_site *site,
                       const struct cut *cut, const struct cut_result *r, uint64_t n,
                       const struct value *v) {
  const size_t bytes = (size_t)n * elem_info((enum cvl_elem)v->flat.elem)->bytes;
  void *copy = heap_alloc(m->heap, bytes);
  if (!copy) return machine_memory_fault(m, site, bytes);
  const bool ok =
      machine_to_host(m, site, v, 0, n, copy) && machine_consumer_put(m, site, cut, r, n, copy);
  heap_free(m->heap, copy, bytes);
  return ok;
}

static bool put_elements(struct machine *m, const struct machine_site *site,
                         const struct cut *cut, const struct cut_result *r, uint64_t n,
                         const struct value *v) {
  struct cvl_export exported;
  if (!m->backend->sharing ||
      !m->backend->sharing->export_vector(m->context, &v->flat, &exported))
    return put_copied(m, site, cut, r, n, v);
  const bool ok = machine_consumer_put(m, site, cut, r, n, exported.data);
  exported.end.call(exported.end.with);
  return ok;
}

bool consumer_put(struct machine *m, const struct machine_site *site, const struct cut *cut,
                  struct cut_result *r, struct value *v) {
  const uint64_t n = machine_size(m, &v->flat).bound;
  r->elem = v->flat.elem;
  if (!put_elements(m, site, cut, r, n, v)) return false;
  value_release(&m->store, v);
  r->total += n;
  return true;
}

/* ---- all chunks ---- */

static void consumer_nothing(void *with) {
  (void)with;
}

/* Notes which value the consumer has, and keeps a reference to it. */
static bool consumer_note(struct machine *m, uint64_t number, const void *data,
                          const struct value *whole) {
  struct consumed *consumed = heap_grow(m->heap, m->consumed, m->sunk_count * sizeof *consumed,
                                        (m->sunk_count + 1) * sizeof *consumed);
  if (!consumed) return false;
  m->consumed = consumed;
  consumed[m->sunk_count++] = (struct consumed){number, data, *whole};
  value_retain(&m->store, whole);
  return true;
}

/* A result of less than two elements is no vector: it needs no memory, and is not imported. */
static bool consumer_borrow(struct machine *m, const struct machine_site *site,
                            struct cut_result *r, const void *data) {
  const struct machine_consumer *consumer = m->consumer;
  const enum cvl_elem elem = (enum cvl_elem)r->elem;
  if (r->total < 2) return machine_from_host(m, site, elem, r->total, data, &r->whole);
  struct cvl_value flat = {0};
  struct cvl_notice end = {consumer_nothing, NULL};
  if (consumer->end) end = consumer->end(consumer->with, r->number);
  if (!m->backend->sharing->import_vector(m->context, site->number, elem, r->total, data, end,
                                          &flat))
    return machine_backend_fault(m, site);
  r->whole = value_of(flat);
  if (consumer->made) consumer->made(consumer->with, r->number, &flat);
  return consumer_note(m, r->number, data, &r->whole) ||
         machine_memory_fault(m, site, sizeof(struct consumed));
}

bool consumer_whole(struct machine *m, const struct machine_site *site, struct cut_result *r) {
  char problem[MACHINE_CONSUMER_PROBLEM] = "";
  const void *data = m->consumer->whole(m->consumer->with, r->number, r->total, problem);
  return data ? consumer_borrow(m, site, r, data) : consumer_fail(m, site, problem);
}

/* ---- lengths of segments ---- */

/* Copies the lengths, some at a time. */
static bool put_lengths(struct machine *m, const struct machine_site *site, uint64_t number,
                        uint64_t count, const struct value *v, char *problem) {
  enum { BLOCK = 4096 };
  int64_t block[BLOCK];
  for (uint64_t first = 0; first < count; first += BLOCK) {
    const uint64_t n = count - first < BLOCK ? count - first : BLOCK;
    if (!machine_to_host(m, site, v, first, n, block)) return false;
    if (!m->consumer->put(m->consumer->with, number, first, n, count, block, problem))
      return false;
  }
  return true;
}

bool consumer_takes_lengths(const struct machine *m, uint64_t number, uint64_t count) {
  const struct machine_consumer *consumer = m->consumer;
  return consumer && m->backend->sharing && count > 0 && consumer->wants &&
         consumer->wants(consumer->with, count * sizeof(int64_t)) &&
         consumer->takes(consumer->with, number, CVL_I64);
}

const void *consumer_lengths(struct machine *m, const struct machine_site *site,
                             uint64_t number, uint64_t count, const struct value *v) {
  char problem[MACHINE_CONSUMER_PROBLEM] = "";
  const void *data = put_lengths(m, site, number, count, v, problem)
                         ? m->consumer->whole(m->consumer->with, number, count, problem)
                         : NULL;
  if (!data && problem[0])
    (void)consumer_fail(m, site, problem); /* otherwise the fault is recorded already */
  return data;
}

/* ---- arguments that are results ---- */

enum { ANY_RESULT = INT32_MAX };

/* Without memory for the note the result is copied. */
void consumer_note_argument(struct machine *m, const struct machine_item *item,
                            const struct cvl_value *flat) {
  struct value value = value_of(*flat);
  value.flat.owned = false;
  const bool wide = flat->elem != CVL_I32 && flat->elem != CVL_F32;
  if (!item->shared || !value_is_counted(&value)) return;
  if (item->kind == MACHINE_SEGDES || wide)
    (void)consumer_note(m, ANY_RESULT, item->as.ints, &value);
}

/* ---- the end ---- */

const void *consumer_of_result(const struct machine *m, uint64_t number,
                               const struct value *v) {
  for (uint64_t k = 0; k < m->sunk_count; k++) {
    const struct consumed *s = &m->consumed[k];
    if ((s->number == number || s->number == ANY_RESULT) && s->value.form == v->form &&
        m->backend->same(m->context, &s->value.flat, &v->flat))
      return s->data;
  }
  return NULL;
}

void consumer_end(struct machine *m) {
  for (uint64_t k = 0; k < m->sunk_count; k++) value_release(&m->store, &m->consumed[k].value);
  heap_free(m->heap, m->consumed, m->sunk_count * sizeof *m->consumed);
  m->consumed = NULL;
  m->sunk_count = 0;
}
