/* superop.h - a superoperator: several vector operations that a back end may run as one.
 *
 * A superoperator is a short straight-line program: parameters, then nodes, then the list of
 * its outputs. A node is an ordinary instruction; its operands are parameters and results of
 * earlier nodes. The meaning is to execute the nodes in order (superop_run does just that). A
 * back end that executes it in one pass over memory must give the same bits and the same
 * faults.
 *
 * Its shape allows one pass. There is one *domain* of n positions, and every node is
 *
 *   a producer or map, whose result has one element for each position of the domain:
 *     CONST          a scalar constant, only as an operand of DIST and INDEX
 *     DIST           of a parameter or CONST, under a descriptor parameter with total n
 *     INDEX          of start and stride, as DIST
 *     BPERMUTE       gather: values a parameter, index a node or parameter of the domain, the
 *     BFPERMUTE      source descriptor a parameter, the other a parameter with total n
 *     EXTRACT        gather: values a parameter, index of the domain, under a descriptor
 *                    parameter with n segments
 *     elementwise    of operands of the domain
 *   or ASSERT, which has no result: of flags, v and w of the domain
 *   or belongs to a loop, which every position executes for itself:
 *     CARRY          the initial value of a *carried* value: of the domain
 *     WHILE          a BOOL of the domain; a position where it is F finishes
 *     NEXT           a carried value and its value in the next round; its result: the value
 *                    when the position has finished
 *   or belongs to a combination of the elements of a segment by a user-defined function:
 *     COLUMN         of the domain; its two results stand for the left and the right operand
 *     COMBINE_...    consumers: see below
 *   or a consumer, whose results are outputs and no operands:
 *     reductions     of an operand of the domain, under a descriptor parameter with total n
 *     scans          with operands as those of reductions
 *     PACK           of values and flags of the domain, under such a descriptor
 *     PERMUTE ...    scatters: values, index and flags of the domain; defaults a parameter;
 *                    both descriptors parameters, the source's with total n
 *
 * A loop is a sequence of nodes: CARRY once or more, elementwise ones, WHILE, elementwise ones,
 * and NEXT for every carried value in their order. Rounds are executed until all positions have
 * finished. In a round the nodes up to WHILE are executed, and then, at the positions that go
 * on, the nodes after it. Last, all carried values change at once. Operands inside are carried
 * values, earlier results computed inside, and DIST of a CONST. Any other value that a loop
 * needs is carried unchanged. Only the results of NEXT are used after the loop. Nothing inside
 * may fail, not even on the values of finished positions, since a back end may go on computing
 * those. A superoperator with loops has no ASSERT.
 *
 * A combination is a sequence of nodes: COLUMN once to SUPEROP_COLUMNS_MAX times, elementwise
 * ones, and as many consumers of one kind, one for each COLUMN in their order. The elementwise
 * nodes compute f(left, right), a value for each column. Their operands are results of the
 * COLUMNs, earlier results computed inside, and DIST of a CONST. Any other value that f needs
 * is a column whose left operand is its result. Nothing inside may fail. The first two operands
 * of a consumer are the left result of the column and the value of f for it:
 *
 *     COMBINE_REDUCE           left, value, identity, descriptor: a column of the reductions
 *     COMBINE_SCAN             the same operands: a column of the exclusive scans
 *     COMBINE_SCAN_INCLUSIVE   left, value, descriptor: a column of the inclusive scans
 *     COMBINE_SCATTER          left, value, index, defaults, descriptors: as DPERMUTE, but
 *                              result[i] is the reduction of defaults[i] and, behind it, all
 *                              elements whose index is i, in the order of their positions
 *
 * All of them use the tree that keeps order (trees.h). An identity is a parameter with an
 * element for each segment, or a CONST, which is the identity of all segments. Nodes for
 * constants come before the first COLUMN. The consumers of a COMBINE_SCATTER have the same
 * index and descriptors.
 *
 * All reductions, scans and packs of one superoperator have the same descriptor parameter.
 * DIST, INDEX and gathers may have other descriptors. A scatter is the only consumer of its
 * superoperator that may fail after others wrote (results are dropped then).
 *
 * A superoperator of *copies* has another shape, without a common domain: it copies segments,
 * several vectors into one. It consists of
 *
 *     CONST
 *     DIST, INDEX                 their operands may be results of nodes as well
 *     BPERMUTE                    gathers: values and index parameters or results
 *     PERMUTE DPERMUTE FPERMUTE   scatters: values, index, flags and defaults parameters or
 *                                 results
 *
 * under any descriptors that are parameters. Any result may be an operand. A superoperator of
 * these nodes that has the shape above is not one of copies. One pass is possible where the
 * indices are INDEXes of stride 1, which are called runs. A concatenation of slices is a
 * DPERMUTE into (a DPERMUTE into (an FPERMUTE into zeros)), each of a BPERMUTE, all by runs.
 *
 * If several nodes fail, the first of them in the order of nodes is reported, at its lowest
 * position. The values v and w of an ASSERT, which only its message contains, need not be
 * computed unless a flag is F. Nodes that nothing else needs are *cold*.
 *
 * An operand is a *value number*: parameters come first, 0 to param_count-1, then the results
 * of the nodes in order (PACK has two).
 */
#ifndef RAVEL_SUPEROP_H
#define RAVEL_SUPEROP_H

#include "base/arena.h"
#include "base/diag.h"
#include "cvl/call.h"

/* The kind of a value. */
enum superop_kind {
  SUPEROP_INT = OPERAND_INT,
  SUPEROP_FLOAT = OPERAND_FLOAT,
  SUPEROP_BOOL = OPERAND_BOOL,
  SUPEROP_SEGDES = OPERAND_SEGDES
};

/* The role of a node: how it is evaluated. */
enum superop_role {
  ROLE_CONST,
  ROLE_SPREAD,
  ROLE_INDEX,
  ROLE_GATHER,
  ROLE_PICK /* an EXTRACT */,
  ROLE_MAP,
  ROLE_CARRY,
  ROLE_WHILE,
  ROLE_NEXT,
  ROLE_COLUMN,
  ROLE_COMBINE_REDUCE,
  ROLE_COMBINE_SCAN, /* inclusive scans, too */
  ROLE_COMBINE_SCATTER,
  ROLE_REDUCE,
  ROLE_SCAN,
  ROLE_PACK,
  ROLE_SCATTER,
  ROLE_ASSERT
};

/* Operations that only superoperators have, not programs; they are numbered after the
 * opcodes. */
enum {
  SUPEROP_CARRY = OPC_COUNT,
  SUPEROP_WHILE,
  SUPEROP_NEXT,
  SUPEROP_COLUMN,
  SUPEROP_COMBINE_REDUCE,
  SUPEROP_COMBINE_SCAN,
  SUPEROP_COMBINE_SCAN_INCLUSIVE,
  SUPEROP_COMBINE_SCATTER,
  SUPEROP_OPS
};

enum { SUPEROP_COLUMNS_MAX = 8 }; /* in one combination */

/* Returns the element type of a value; CVL_BOOL for a descriptor. */
enum cvl_elem superop_elem(enum superop_kind, enum cvl_elem int_elem, enum cvl_elem float_elem);

/* Returns the call of a PERMUTE of any form, with its operands, deepest first. */
struct cvl_call superop_permute_call(enum opcode, const struct cvl_value *operands);

struct superop_node {
  uint16_t op;  /* enum opcode, or one of the operations above */
  uint8_t type; /* enum type_word */
  uint8_t role; /* enum superop_role; set by superop_complete */
  uint8_t operand_count;
  uint8_t result_count; /* set by superop_complete */
  /* whether its elements have to be checked: divisors, indices. False only for an operation
   * without conditions (superop_complete ensures that), or if they are proven to hold */
  bool checked;
  uint32_t operands[MAX_OPERANDS]; /* value numbers, deepest first */
  uint32_t result;                 /* number of its first result; set by superop_complete */
  struct cvl_value constant;       /* for CONST: a CVL_SCALAR */
  const char *text;                /* for ASSERT: not NUL-terminated; borrowed */
  uint32_t text_length;
  struct source_pos pos; /* position of the original instruction */
  uint32_t origin;       /* as in struct vcode_instruction */
};

/* A size: SIZE_ONE, or SIZE_LEN, SIZE_TOTAL or SIZE_COUNT of a parameter. SIZE_UNKNOWN: known
 * after execution only (results of PACK). */
struct superop_size {
  uint8_t what;
  uint32_t param;
};

/* Two sizes that must be equal. The operation in `node` requires it, or only the domain does,
 * so that all positions can be evaluated together. */
struct superop_rule {
  struct superop_size a, b;
  uint32_t node;
  bool of_domain;
  uint8_t rule; /* its index among the opcode's rules, unless only the domain requires it */
};

struct superop {
  uint32_t number; /* its number in the file */
  uint32_t param_count, node_count, output_count;
  const uint8_t *params; /* enum superop_kind */
  struct superop_node *nodes;
  /* value numbers of nodes' results, each at most once. There may be none only if there is an
   * ASSERT, or a checked node among copies; these only check */
  const uint32_t *outputs;

  /* Derived by superop_complete. */
  uint32_t value_count;
  const uint8_t *kinds;             /* of every value: enum superop_kind */
  const struct superop_size *sizes; /* length of every vector value, total of descriptors */
  /* of every value: how often it is an operand or an output */
  uint32_t *uses;
  /* of every value: the last node that has it as an operand, node_count for an output,
   * SUPEROP_NONE without use */
  uint32_t *last_use;
  /* of every node: whether only v or w of ASSERTs and other cold nodes use its result. It is
   * then no output, no CONST, and nothing in it is checked */
  const bool *cold;
  /* whether some nodes belong to a loop or a combination, which is executed as a whole */
  bool grouped;
  bool copies;                /* whether it is a superoperator of copies */
  struct superop_size domain; /* n; for copies, the length of the last result */
  uint32_t segments;          /* descriptor parameter of reductions, scans and packs, or
                                 SUPEROP_NONE */
  /* every rule of every node, and that all values of the domain have its size. They are in
   * terms of parameters, without those that earlier rules imply. If one does not hold,
   * executing the nodes may still succeed, namely if only the domain requires it */
  uint32_t rule_count;
  const struct superop_rule *rules;
};

/* Returns the row of an opcode, or of an operation that only superoperators have. */
const struct opcode_info *superop_info(uint32_t op);
/* Finds an opcode or such an operation by its spelling. False if there is none. */
bool superop_find(const char *text, size_t length, uint32_t *op);

/* Returns the role of an opcode in a superoperator, and how each operand is accessed, deepest
 * first. NULL if it may not occur there. The string is longer than the operands for elementwise
 * operations. Its letters are
 *
 *    d  by position: a parameter of the domain's length, or the result of a producer or map
 *    p  a whole vector parameter
 *    c  a whole vector parameter or a CONST
 *    s  a descriptor parameter
 *    S  the descriptor of all reductions, scans and packs */
const char *superop_access(uint32_t op, enum superop_role *);

#define SUPEROP_NONE UINT32_MAX
enum { SUPEROP_VALUES_MAX = 4096 }; /* the most parameters and results of one superoperator */

/* Checks kinds and shape as above and derives the rest, in the arena. If it is not a
 * superoperator, returns false. Then *why is the reason, a sentence without full stop (arena
 * memory), and *node the number of the node at fault (node_count: the list of outputs). *why is
 * NULL if memory fails. It never jumps. Results without use are allowed, since their faults
 * matter. Parameters without use are allowed too, and nothing is required of them. */
bool superop_complete(struct arena *, struct superop *, const char **why, uint32_t *node);

/* Whether the operation of a completed node has conditions on its elements. The node is checked
 * unless they are proven. */
bool superop_may_fail(const struct superop_node *);

/* Whether all nodes may be in a superoperator of copies: superop-copy.c. */
bool superop_may_copy(const struct superop *);

/* Whether an operand of a node affects results or faults. If not, it is v or w of an ASSERT. */
static inline bool superop_matters(const struct superop_node *node, uint32_t operand) {
  return node->role != ROLE_ASSERT || operand == 0;
}
/* The nodes of a loop: CARRY first .. first + count - 1, WHILE `test`, NEXT next .. last. */
struct superop_loop {
  uint32_t first, count, test, next, last;
};
/* Returns the loop of a completed superoperator that begins with node `first`. */
struct superop_loop superop_loop_at(const struct superop *, uint32_t first);
/* Returns the first node of the loop that node k, a CARRY or NEXT, belongs to. */
uint32_t superop_loop_of(const struct superop *, uint32_t k);
bool superop_has_loops(const struct superop *);
/* Returns the first node with this role; node_count: there is none. */
uint32_t superop_first(const struct superop *, enum superop_role);
/* The nodes of a combination: COLUMN first .. first + count - 1, then the nodes of the
 * function, then the consumers ends .. ends + count - 1. */
struct superop_combination {
  uint32_t first, count, ends;
};
/* Returns the combination of a completed superoperator that begins with node `first`. */
struct superop_combination superop_combination_at(const struct superop *, uint32_t first);
bool superop_has_combinations(const struct superop *);
/* Whether a size rule of a node's row does not apply. An identity must have an element for each
 * segment, but not if it is a CONST, which stands for all. */
bool superop_waives(const struct superop *, const struct superop_node *,
                    const struct size_rule *);
/* Returns the row of one of the opcodes from SUPEROP_COLUMN on; superop_info finds it, too. */
const struct opcode_info *superop_combination_row(uint32_t op);
/* Whether a value is a DIST of a constant. */
bool superop_spreads_constant(const struct superop *, const uint32_t *definitions,
                              uint32_t value);
/* superop-loop.c; called by superop_complete when nodes and uses are known. Checks the loops,
 * and extends last_use of values that a loop reads. definitions[v] is the node of value v.
 * False with the reason and the node. */
bool superop_complete_loops(struct superop *, const uint32_t *definitions, const char **why,
                            uint32_t *node);
/* superop-combine.c; called after superop_complete_loops. Does the same for combinations. */
bool superop_complete_combinations(struct superop *, const uint32_t *definitions,
                                   const char **why, uint32_t *node);

/* Aborts, in debug builds, if a completed superoperator contradicts the comments above.
 * superop_complete calls it. */
void superop_check(const struct superop *);

/* Whether two superoperators compute the same. They must be equal in everything but numbers,
 * positions and origins. superop_hash agrees with it. */
bool superop_same(const struct superop *, const struct superop *);
uint64_t superop_hash(const struct superop *);

/* Executes the nodes one by one on a back end: the meaning of a superoperator. Operands are
 * passed as to `run` below. Rules need not hold: if one does not, the fault is that of the node
 * (CVL_E_SIZE, position = the index of the opcode's rule; 0 for CARRY and WHILE, whose operands
 * are too short or too long). Between rounds of a loop `stop`, which may be NULL, is asked
 * whether to end. The result is then false, perhaps without a fault. */
bool superop_run(const struct cvl_backend *, struct cvl_context *, uint64_t site,
                 const struct superop *, const struct cvl_stop *stop,
                 const struct cvl_value *operands, struct cvl_value *outs);

/* ---- by a back end ---- */

struct cvl_superops {
  /* Prepares a superoperator to run: plans and compiles it. It is borrowed and must outlive the
   * kernel. NULL, without a fault, if memory fails or the back end refuses it; the caller then
   * uses superop_run. */
  struct cvl_kernel *(*prepare)(struct cvl_context *, const struct superop *);
  void (*discard)(struct cvl_context *, struct cvl_kernel *);
  /* Computes outs[i], output i, from these operands, one for each parameter. The caller has
   * required all of its rules. It uses node_count sites: a fault of node k has site + k. One
   * object may stand for several operands, borrowed in one place and owned, with its only
   * reference, in another; it must last as long as any of them is read. `discard` waits for
   * runs under way. */
  bool (*run)(struct cvl_context *, uint64_t site, struct cvl_kernel *,
              const struct cvl_value *operands, struct cvl_value *outs);
};

#endif
