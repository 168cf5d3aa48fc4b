/* message.c - the two INTs that the message of a failing ASSERT reports. A run does not
 * execute nodes that only messages need (superop.h: cold nodes). Here everything that the INTs
 * depend on is computed again, for the one position at fault. Nodes before the ASSERT have not
 * failed there, or one of them would be reported instead.
 */
#include "cvl-cpu/fused/message.h"

#include <string.h>

#include "cvl-cpu/kernels/kernels.h"

/* An element, with the bytes that kernels may read behind it. */
struct element {
  _Alignas(VECTOR_SLACK) char bytes[2 * VECTOR_SLACK];
};

struct message {
  const struct cvl_kernel *k;
  uint64_t position;
  bool wanted[SUPEROP_VALUES_MAX];
  uint64_t element[SUPEROP_VALUES_MAX]; /* of wanted values, in the first bytes */
};

/* Backwards from wanted values of nodes before `end`: which values they depend on. */
static void message_find_wanted(struct message *m, uint32_t end) {
  const struct superop *op = m->k->op;
  for (uint32_t n = end; n-- > 0;) {
    const struct superop_node *node = &op->nodes[n];
    bool needed = false;
    for (unsigned r = 0; r < node->result_count; r++) needed |= m->wanted[node->result + r];
    for (unsigned i = 0; needed && i < node->operand_count; i++) {
      m->wanted[node->operands[i]] = true;
    }
  }
}

static int64_t message_int_of(const struct message *m, uint32_t value) {
  struct cvl_value v = {.form = CVL_SCALAR, .elem = m->k->values[value].elem};
  memcpy(&v.as, &m->element[value], m->k->values[value].bytes);
  return cvl_int_of(&v);
}

static int64_t message_int_at(const struct message *m, const void *ints, uint64_t i) {
  struct cvl_value v = {.form = CVL_SCALAR, .elem = (uint8_t)m->k->c->int_elem};
  const size_t bytes = elem_bytes(v.elem);
  memcpy(&v.as, (const char *)ints + i * bytes, bytes);
  return cvl_int_of(&v);
}

static void compute_map(struct message *m, const struct superop_node *node,
                        const struct fused_node *p) {
  struct element in[MAX_OPERANDS], out;
  const void *from[MAX_OPERANDS];
  for (unsigned i = 0; i < node->operand_count; i++) {
    memset(&in[i], 0, sizeof in[i]);
    memcpy(in[i].bytes, &m->element[node->operands[i]], sizeof *m->element);
    from[i] = in[i].bytes;
  }
  p->entry->run(1, from, out.bytes);
  memcpy(&m->element[node->result], out.bytes, m->k->values[node->result].bytes);
}

static void message_compute(struct message *m, uint32_t number) {
  const struct superop_node *node = &m->k->op->nodes[number];
  const struct fused_node *p = &m->k->nodes[number];
  const size_t bytes = m->k->values[node->result].bytes;
  void *out = &m->element[node->result];
  const bool walks =
      node->role == ROLE_SPREAD || node->role == ROLE_INDEX || node->role == ROLE_GATHER;
  const uint64_t s = walks ? segment_at(&p->run.near, m->position) : m->position;
  switch ((enum superop_role)node->role) {
  case ROLE_CONST: memcpy(out, &node->constant.as, bytes); break;
  case ROLE_SPREAD: memcpy(out, (const char *)p->run.values + s * bytes, bytes); break;
  case ROLE_INDEX: {
    const uint64_t x = (uint64_t)message_int_at(m, p->run.values, s) +
                       (m->position - segment_start(&p->run.near, s)) *
                           (uint64_t)message_int_at(m, p->run.strides, s);
    memcpy(out, &x, bytes); /* wraps; little endian, as kernels/scan-flags.h asks for */
    break;
  }
  case ROLE_GATHER:
  case ROLE_PICK: {
    const bool flagged = node->op == OPC_BFPERMUTE;
    bool flag = true;
    if (flagged) memcpy(&flag, &m->element[node->operands[2]], sizeof flag);
    if (!flag) break; /* 0 */
    const uint64_t at =
        segment_start(&p->run.far, s) + (uint64_t)message_int_of(m, node->operands[1]);
    memcpy(out, (const char *)p->run.values + at * bytes, bytes);
    break;
  }
  case ROLE_MAP: compute_map(m, node, p); break;
  case ROLE_COLUMN:
  case ROLE_COMBINE_REDUCE:
  case ROLE_COMBINE_SCAN:
  case ROLE_COMBINE_SCATTER:
  case ROLE_CARRY: /* a superoperator with a loop has no ASSERT */
  case ROLE_WHILE:
  case ROLE_NEXT:
  case ROLE_REDUCE:
  case ROLE_SCAN:
  case ROLE_PACK:
  case ROLE_SCATTER:
  case ROLE_ASSERT: break;
  }
}

/* Computes the wanted values of nodes before `end`. Parameters that runs may overwrite are kept
 * if messages depend on them. */
static void compute_wanted(struct message *m, uint32_t end) {
  const struct cvl_kernel *k = m->k;
  const struct superop *op = k->op;
  message_find_wanted(m, end);
  for (uint32_t v = 0; v < op->param_count; v++) {
    const struct fused_value *p = &k->values[v];
    if (!m->wanted[v] || !p->run.base || !p->reported) continue;
    memcpy(&m->element[v], p->run.base + m->position * p->bytes, p->bytes);
  }
  for (uint32_t n = 0; n < end; n++) {
    if (op->nodes[n].result_count > 0 && m->wanted[op->nodes[n].result]) message_compute(m, n);
  }
}

void fused_message(const struct cvl_kernel *k, uint32_t assertion, uint64_t position,
                   struct cvl_error *e) {
  const struct superop_node *node = &k->op->nodes[assertion];
  struct message m = {.k = k, .position = position};
  m.wanted[node->operands[1]] = m.wanted[node->operands[2]] = true;
  compute_wanted(&m, assertion);
  e->value = message_int_of(&m, node->operands[1]);
  e->limit = message_int_of(&m, node->operands[2]);
}
