/* call.c - see call.h: the shapes of operands and results. */
#include "cvl/call.h"

#include <string.h>

/* Kinds as rows: one letter for each operand and result, 's' for a descriptor. */
static const struct {
  const char *name, *operands, *results;
} kinds[CALL_KINDS] = {
#define SEGMENTED(kind, function) [CALL_##kind] = {#function, "vs", "v"},
#include "cvl/segmented.def"
    [CALL_ELEMENTWISE] = {"elementwise", "vvv", "v"},
    [CALL_PERMUTE] = {"permute", "vvvvss", "v"},
    [CALL_EXTRACT] = {"extract", "vvs", "v"},
    [CALL_REPLACE] = {"replace", "vvvs", "v"},
    [CALL_DIST] = {"dist", "vs", "v"},
    [CALL_INDEX] = {"index", "vvs", "v"},
    [CALL_PACK] = {"pack", "vvs", "vs"},
    [CALL_MAKE_SEGDES] = {"make_segdes", "v", "s"},
    [CALL_LENGTHS] = {"lengths", "s", "v"},
    [CALL_LENGTH_OF] = {"length_of", "v", "v"},
    [CALL_RANDOM] = {"random", "v", "v"},
    [CALL_ASSERT] = {"assert", "vvv", ""},
};

const char *call_name(enum call_kind kind) {
  return kinds[kind].name;
}

bool call_is_segmented(enum call_kind kind) {
  switch ((int)kind) {
#define SEGMENTED(kind, function) case CALL_##kind:
#include "cvl/segmented.def"
    return true;
  default: return false;
  }
}

enum opcode_class call_opcode_class(enum call_kind kind) {
  static const enum opcode_class classes[CALL_KINDS] = {
#define SEGMENTED(kind, function) [CALL_##kind] = OC_##kind,
#include "cvl/segmented.def"
  };
  return classes[kind];
}

/* Returns an opcode of a row of segmented.def. All opcodes of its class have results of the
 * same form. */
static const struct opcode_info *segmented_opcode(enum call_kind kind) {
  int op = 0;
  while (opcode_info((enum opcode)op)->klass != call_opcode_class(kind)) op++;
  return opcode_info((enum opcode)op);
}

bool call_gives_one_per_segment(enum call_kind kind) {
  return call_is_segmented(kind) &&
         SIZE_WHAT(segmented_opcode(kind)->result_size) == SIZE_COUNT;
}

unsigned call_results(enum call_kind kind) {
  return (unsigned)strlen(kinds[kind].results);
}

unsigned call_operands(enum call_kind kind, enum cvl_op op) {
  return kind == CALL_ELEMENTWISE ? op_info(op)->arity : (unsigned)strlen(kinds[kind].operands);
}

bool call_gives_segdes(enum call_kind kind, unsigned result) {
  return kinds[kind].results[result] == 's';
}

enum cvl_elem call_result_elem(enum call_kind kind, enum cvl_op op, enum cvl_elem values,
                               enum cvl_elem int_elem, enum cvl_elem float_elem) {
  switch (kind) {
  case CALL_ELEMENTWISE:
    switch (map_row(op, elem_info(values)->klass)->out) {
    case CLASS_INT: return int_elem;
    case CLASS_FLOAT: return float_elem;
    case CLASS_BOOL: return CVL_BOOL;
    }
    return values;
#define SEGMENTED(kind, function) case CALL_##kind:
#include "cvl/segmented.def"
    return segmented_opcode(kind)->results[0] == 'i' ? int_elem : values;
  case CALL_INDEX:
  case CALL_LENGTHS:
  case CALL_LENGTH_OF:
  case CALL_RANDOM: return int_elem;
  case CALL_PERMUTE:
  case CALL_EXTRACT:
  case CALL_REPLACE:
  case CALL_DIST:
  case CALL_PACK:
  case CALL_MAKE_SEGDES:
  case CALL_ASSERT:
  case CALL_KINDS: break;
  }
  return values;
}

static enum call_kind kind_of_vector(enum opcode op) {
  switch ((int)op) {
  case OPC_EXTRACT: return CALL_EXTRACT;
  case OPC_REPLACE: return CALL_REPLACE;
  case OPC_DIST: return CALL_DIST;
  case OPC_INDEX: return CALL_INDEX;
  case OPC_PACK: return CALL_PACK;
  case OPC_LENGTH: return CALL_LENGTH_OF;
  case OPC_MAKE_SEGDES: return CALL_MAKE_SEGDES;
  case OPC_LENGTHS: return CALL_LENGTHS;
  default: return CALL_KINDS; /* no other opcode of these classes */
  }
}

enum call_kind call_kind_of(enum opcode op) {
  switch (opcode_info(op)->klass) {
  case OC_ELEMENTWISE: return CALL_ELEMENTWISE;
#define OPCODE_KIND(kind)                                                                      \
  case OC_##kind:                                                                              \
    return CALL_##kind
#define SEGMENTED(kind, function) OPCODE_KIND(kind);
#include "cvl/segmented.def"
  case OC_PERMUTE: return CALL_PERMUTE;
  case OC_VECTOR:
  case OC_SEGMENT: return kind_of_vector(op);
  case OC_RANDOM: return op == OPC_RAND ? CALL_RANDOM : CALL_KINDS;
  case OC_CHECK: return CALL_ASSERT;
  case OC_STACK:
  case OC_PAIRING:
  case OC_CONTROL:
  case OC_CONSTANT:
  case OC_IO:
  case OC_TIMER: break;
  }
  return CALL_KINDS;
}

static bool permute_sizes_agree(enum cvl_op op, const struct call_extent *e,
                                const bool *present) {
  const struct call_extent *s = &e[4], *d = &e[5];
  bool gather = op == OP_BPERMUTE || op == OP_BFPERMUTE;
  uint64_t with_index = gather ? d->length : s->length;
  return e[0].length == s->length && e[1].length == with_index &&
         (!present[2] || e[2].length == with_index) &&
         (!present[3] || e[3].length == d->length) && s->count == d->count;
}

bool call_sizes_agree(enum call_kind kind, enum cvl_op op, const struct call_extent *e,
                      const bool *present) {
  switch (kind) {
  case CALL_ELEMENTWISE:
    for (unsigned i = 1; i < op_info(op)->arity; i++) {
      if (e[i].length != e[0].length) return false;
    }
    return true;
#define SEGMENTED(kind, function) case CALL_##kind:
#include "cvl/segmented.def"
    return e[0].length == e[1].length;
  case CALL_PERMUTE: return permute_sizes_agree(op, e, present);
  case CALL_EXTRACT: return e[0].length == e[2].length && e[1].length == e[2].count;
  case CALL_REPLACE:
    return e[0].length == e[3].length && e[1].length == e[3].count && e[2].length == e[3].count;
  case CALL_DIST: return e[0].length == e[1].count;
  case CALL_INDEX: return e[0].length == e[2].count && e[1].length == e[2].count;
  case CALL_PACK: return e[0].length == e[2].length && e[1].length == e[2].length;
  case CALL_ASSERT: return e[0].length == e[1].length && e[0].length == e[2].length;
  case CALL_MAKE_SEGDES:
  case CALL_LENGTHS:
  case CALL_LENGTH_OF:
  case CALL_RANDOM:
  case CALL_KINDS: break;
  }
  return true;
}

bool cvl_same(struct cvl_context *c, const struct cvl_value *a, const struct cvl_value *b) {
  (void)c;
  if (a->form != b->form) return false;
  switch ((enum cvl_form)a->form) {
  case CVL_VECTOR: return a->as.vector == b->as.vector;
  case CVL_SEGDES: return a->as.segdes == b->as.segdes;
  case CVL_ONE_SEGMENT: return a->as.one_segment == b->as.one_segment;
  case CVL_NOTHING:
  case CVL_SCALAR: break;
  }
  return false;
}
