/* checks.c - agreement of sizes, as opcodes.def states it for each opcode.
 *
 * If both sizes are known, they are compared. If one is deferred, the back end compares them
 * when it knows both, and nobody waits.
 */
#include "base/check.h"
#include "vinterp/machine/machine-private.h"

#include <inttypes.h>
#include <stdio.h>

struct cvl_size machine_size(const struct machine *m, const struct cvl_value *v) {
  if (v->form == CVL_SCALAR) return (struct cvl_size){.bound = 1};
  if (v->form == CVL_ONE_SEGMENT) return (struct cvl_size){.bound = v->as.one_segment};
  return m->backend->length(m->context, v);
}

struct cvl_size machine_count(const struct machine *m, const struct cvl_value *v) {
  if (v->form == CVL_ONE_SEGMENT) return (struct cvl_size){.bound = 1};
  return m->backend->count(m->context, v);
}

static struct cvl_size checks_size_of(const struct machine *m, uint8_t size,
                                      const struct value *operands) {
  const struct cvl_value *v = &operands[SIZE_OPERAND(size)].flat;
  switch (SIZE_WHAT(size)) {
  case SIZE_LEN:
  case SIZE_TOTAL: return machine_size(m, v);
  case SIZE_COUNT: return machine_count(m, v);
  default: return (struct cvl_size){.bound = 1};
  }
}

static size_t describe_size(uint8_t size, uint64_t n, char *dst, size_t room) {
  int length = 0;
  switch (SIZE_WHAT(size)) {
  case SIZE_LEN:
    length = snprintf(dst, room, "operand %d has length %" PRIu64, SIZE_OPERAND(size), n);
    break;
  case SIZE_TOTAL:
    length = snprintf(dst, room, "operand %d has total %" PRIu64, SIZE_OPERAND(size), n);
    break;
  case SIZE_COUNT:
    length = snprintf(dst, room, "operand %d has %" PRIu64 " segment%s", SIZE_OPERAND(size), n,
                      n == 1 ? "" : "s");
    break;
  default: length = snprintf(dst, room, "it must be %" PRIu64, n); break;
  }
  return length > 0 ? (size_t)length : 0;
}

void check_describe(enum opcode op, unsigned rule, uint64_t a, uint64_t b, char *dst,
                    size_t size) {
  struct size_rule r =
      superop_info((uint32_t)op)->rules[rule < MAX_RULES ? rule : MAX_RULES - 1];
  if (!r.a) { /* CARRY, WHILE and COLUMN have no rule: the length must be that of the first one
               */
    snprintf(dst, size, "operand 0 has length %" PRIu64 ", it must be %" PRIu64, b, a);
    return;
  }
  size_t n = describe_size(r.a, a, dst, size);
  if (n + 3 >= size) return;
  n += (size_t)snprintf(dst + n, size - n, ", ");
  describe_size(r.b, b, dst + n, size - n);
}

static bool checks_agree(struct machine *m, const struct machine_site *site, unsigned rule,
                         struct cvl_size a, struct cvl_size b) {
  if (a.symbol == 0 && b.symbol == 0) {
    if (a.bound == b.bound) return true;
    return machine_size_fault(m, site, rule, a.bound, b.bound);
  }
  if (a.symbol == b.symbol) return true;
  return m->backend->require_equal(m->context, site->number, a, b, rule) ||
         machine_backend_fault(m, site);
}

bool check_sizes(struct machine *m, const struct machine_site *site, enum opcode op,
                 const struct value *operands) {
  const struct size_rule *rules = superop_info((uint32_t)op)->rules;
  for (unsigned k = 0; rules[k].a; k++) {
    struct cvl_size a = checks_size_of(m, rules[k].a, operands),
                    b = checks_size_of(m, rules[k].b, operands);
    if (!checks_agree(m, site, k, a, b)) return false;
  }
  return true;
}

bool check_sizes_now(struct machine *m, const struct machine_site *site, enum opcode op,
                     const struct value *operands) {
  const struct size_rule *rules = superop_info((uint32_t)op)->rules;
  for (unsigned k = 0; rules[k].a; k++) {
    struct cvl_size a = checks_size_of(m, rules[k].a, operands),
                    b = checks_size_of(m, rules[k].b, operands);
    if ((a.symbol && !m->backend->resolve(m->context, &a)) ||
        (b.symbol && !m->backend->resolve(m->context, &b))) {
      return machine_backend_fault(m, site);
    }
    if (!checks_agree(m, site, k, a, b)) return false;
  }
  return true;
}

/* ---- results ---- */

struct cvl_size check_result_size(const struct machine *m, enum opcode op,
                                  const struct value *operands) {
  const uint8_t size = opcode_info(op)->result_size;
  if (SIZE_WHAT(size) == SIZE_UNKNOWN) return size_deferred();
  return checks_size_of(m, size, operands);
}

void check_result(const struct machine *m, const struct cvl_value *v, struct cvl_size wanted,
                  enum operand_kind kind) {
#ifdef RAVEL_DEBUG
  const bool segdes = v->form == CVL_SEGDES || v->form == CVL_ONE_SEGMENT;
  invariant(segdes || v->form == CVL_SCALAR || v->form == CVL_VECTOR);
  invariant(segdes == (kind == OPERAND_SEGDES));
  invariant(kind != OPERAND_INT || v->elem == m->widths.int_elem);
  invariant(kind != OPERAND_FLOAT || v->elem == m->widths.float_elem);
  invariant(kind != OPERAND_BOOL || v->elem == CVL_BOOL);
  const struct cvl_size size = machine_size(m, v);
  invariant(size.symbol != 0 || wanted.symbol != 0 || size.bound == wanted.bound);
#else
  (void)m, (void)v, (void)wanted, (void)kind;
#endif
}
