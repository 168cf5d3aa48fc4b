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
 *     INDEX          likewise, start and stride
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
 *   or belongs to a combination, of elements of a segment by a function of the program's own:
 *     COLUMN         of the domain; its two results stand for the left and the right operand
 *     COMBINE_...    consumers: see below
 *   or a consumer, whose results are outputs and no operands:
 *     reductions     of an operand of the domain, under a descriptor parameter with total n
 *     scans          likewise
 *     PACK           likewise, of values and flags of the domain
 *     PERMUTE ...    scatters: values, index and flags of the domain; defaults a parameter;
 *                    both descriptors parameters, the source's with total n
 *
 * A loop is a sequence of nodes: CARRY once or more, elementwise ones, WHILE, elementwise ones,
 * and NEXT for every carried value in their order. Rounds are executed until all positions have
 * finished. In a round the nodes up to WHILE are executed, then, at the positions that go on,
 * those after it; then all carried values change at once. Operands inside are carried values,
 * results computed inside before, and DIST of a CONST; whatever else a loop needs is carried
 * unchanged. Only the results of NEXT are used after the loop. Nothing inside may fail, not
 * even on the values of finished positions: a back end may go on computing those. A
 * superoperator with loops has no ASSERT.
 *
 * A combination is a sequence of nodes: COLUMN once to SUPEROP_COLUMNS_MAX times, elementwise
 * ones, and as many consumers of one kind, one for each COLUMN in their order. The elementwise
 * nodes compute f(left, right), a value for each column, from the results of the COLUMNs,
 * results computed inside before, and DIST of a CONST; whatever else f needs is a column whose
 * left operand is its result. Nothing inside may fail. The first two operands of a consumer are
 * the left result of the column and the value of f for it:
 *     COMBINE_REDUCE           left, value, identity, descriptor: a column of the reductions
 *     COMBINE_SCAN             likewise: of the exclusive scans
 *     COMBINE_SCAN_INCLUSIVE   left, value, descriptor: of the inclusive scans
 *     COMBINE_SCATTER          left, value, index, defaults, descriptors: as DPERMUTE, but
 *                              result[i] is the reduction of defaults[i] and, behind it, all
 *                              elements whose index is i, in the order of their positions
 * All of them are those of the tree that keeps order (trees.h). An identity is a parameter with
 * an element for each segment, or a CONST, which is that of all segments. Nodes for constants
 * stand before the first COLUMN. The consumers of a COMBINE_SCATTER have the same index and
 * descriptors.
 *
 * All reductions, scans and packs of one superoperator have the same descriptor parameter.
 * DIST, INDEX and gathers may have others. A scatter is the only consumer of its superoperator
 * that may fail after others wrote (results are dropped then).
 *
 * A superoperator of *copies* has another shape, without a common domain: it copies segments,
 * several vectors into one. It consists of
 *
 *     CONST
 *     DIST, INDEX                 their operands may be results of nodes as well
 *     BPERMUTE                    gathers: values and index parameters or results
 *     PERMUTE DPERMUTE FPERMUTE   scatters: values, index, flags and defaults likewise
 *
 * under any descriptors that are parameters. Any result may be an operand. What has the shape
 * above is no such superoperator, even if it consists of these nodes. One pass is possible
 * where the indices are INDEXes of stride 1: runs. A concatenation of slices is
 *
 *     a DPERMUTE into (a DPERMUTE into (an FPERMUTE into zeros)), each of a BPERMUTE, all by
 * runs.
 *
 * Where several nodes fail, the first of them in the order of nodes is reported, at its lowest
 * position. What only the message of an ASSERT says, v and w, need not be computed unless a
 * flag is F: nodes that nothing else needs are *cold*.
 *
 * An operand is a *value number*: parameters come first, 0 to param_count-1, then the results
 * of the nodes in order (PACK has two).
 */
#ifndef RAVEL_SUPEROP_H
#define RAVEL_SUPEROP_H

#include "base/arena.h"
#include "base/diag.h"
#include "cvl/call.h"

/* What a value is. */
enum superop_kind {
  SUPEROP_INT = OPERAND_INT,
  SUPEROP_FLOAT = OPERAND_FLOAT,
  SUPEROP_BOOL = OPERAND_BOOL,
  SUPEROP_SEGDES = OPERAND_SEGDES
};

/* How a node is evaluated. */
enum superop_role {
  ROLE_CONST,
  ROLE_SPREAD,
  ROLE_INDEX,
  ROLE_GATHER,
  ROLE_PICK /* EXTRACT */,
  ROLE_MAP,
  ROLE_CARRY,
  ROLE_WHILE,
  ROLE_NEXT,
  ROLE_COLUMN,
  ROLE_COMBINE_REDUCE,
  ROLE_COMBINE_SCAN, /* inclusive ones, too */
  ROLE_COMBINE_SCATTER,
  ROLE_REDUCE,
  ROLE_SCAN,
  ROLE_PACK,
  ROLE_SCATTER,
  ROLE_ASSERT
};

/* Operations of superoperators that are not instructions of programs; numbered after the
 * opcodes.
 */
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

enum { SUPEROP_COLUMNS_MAX = 8 }; /* of one combination */

/* Of a value; CVL_BOOL of a descriptor. */
enum cvl_elem superop_elem(enum superop_kind, enum cvl_elem int_elem, enum cvl_elem float_elem);

/* What a PERMUTE of any form takes, from its operands, deepest first. */
struct cvl_call superop_permute_call(enum opcode, const struct cvl_value *operands);

struct superop_node {
  uint16_t op;  /* enum opcode, or one of these */
  uint8_t type; /* enum type_word */
  uint8_t role; /* enum superop_role; by superop_complete */
  uint8_t operand_count;
  uint8_t result_count; /* by superop_complete */
  bool checked;         /* its elements have to be checked: divisors, indices. False only for an
                           operation without conditions (superop_complete ensures that), or where
                           they are proven to hold */
  uint32_t operands[MAX_OPERANDS]; /* value numbers, deepest first */
  uint32_t result;                 /* number of its first result; by superop_complete */
  struct cvl_value constant;       /* CONST: CVL_SCALAR */
  const char *text;                /* ASSERT: not NUL-terminated; borrowed */
  uint32_t text_length;
  struct source_pos pos; /* of the instruction it was */
  uint32_t origin;       /* as in struct vcode_instruction */
};

/* A size: SIZE_ONE, or SIZE_LEN, SIZE_TOTAL or SIZE_COUNT of a parameter. SIZE_UNKNOWN: known
 * after execution only (results of PACK). */
struct superop_size {
  uint8_t what;
  uint32_t param;
};

/* Two sizes that have to be equal for the operation in `node`; or, of the domain, only for all
 * positions to be evaluated together. */
struct superop_rule {
  struct superop_size a, b;
  uint32_t node;
  bool of_domain;
  uint8_t rule; /* else its index among those of the opcode */
};

struct superop {
  uint32_t number; /* in the file */
  uint32_t param_count, node_count, output_count;
  const uint8_t *params; /* enum superop_kind */
  struct superop_node *nodes;
  const uint32_t *outputs; /* value numbers, of nodes; a value may not occur twice. There may
                              be none only where there is an ASSERT, or copies have a checked
                              node: these only check */

  /* Derived by superop_complete. */
  uint32_t value_count;
  const uint8_t *kinds;             /* of every value */
  const struct superop_size *sizes; /* length of every vector value, total of descriptors */
  uint32_t *uses;                   /* of every value: as an operand, and as an output */
  uint32_t *last_use;               /* of every value: the last node that has it as an operand,
                                       node_count of an output, SUPEROP_NONE if there is no use */
  const bool *cold;                 /* of every node: no output, nothing that is checked and
                                       no CONST, and its result is used as v or w of ASSERTs
                                       and by other cold nodes only */
  bool grouped;                     /* some nodes belong to a loop or a combination, which is
                                       executed as a whole */
  bool copies;                      /* it is one of copies */
  struct superop_size domain;       /* n; of copies, the length of the last result */
  uint32_t segments;                /* descriptor parameter of reductions, scans and packs, or
                                       SUPEROP_NONE */
  uint32_t rule_count; /* every rule of every node, and that all values of the domain have its
                          size; in terms of parameters, without those that rules before imply.
                          Where one does not hold, executing the nodes may still succeed: if
                          only the domain connects its two sizes */
  const struct superop_rule *rules;
};

/* The row of an opcode, or of one that only superoperators have. */
const struct opcode_info *superop_info(uint32_t op);
/* The same of a spelling; false if there is none. */
bool superop_find(const char *text, size_t length, uint32_t *op);

/* The role of an opcode in a superoperator, and how each operand is accessed, deepest first;
 * NULL if it may not occur there. d  by position: a parameter of the domain's length, or the
 * result of a producer or map p  a whole vector parameter    c  a whole vector parameter or a
 * CONST s  a descriptor parameter      S  the descriptor of all reductions, scans and packs
 * Longer than the operands for elementwise operations. */
const char *superop_access(uint32_t op, enum superop_role *);

#define SUPEROP_NONE UINT32_MAX
enum { SUPEROP_VALUES_MAX = 4096 }; /* parameters and results of one superoperator */

/* Checks kinds and shape as above and derives the rest, in the arena. If it is not a
 * superoperator, false with the reason, a sentence without full stop, in *why (arena memory),
 * and in *node the number of the node at fault (node_count: the list of outputs); *why is NULL
 * if memory fails. Never jumps. Results without use are allowed, since their faults matter, and
 * so are parameters without use, of which nothing is required. */
bool superop_complete(struct arena *, struct superop *, const char **why, uint32_t *node);

/* Whether the operation of a completed node has conditions on its elements: the node is checked
 * unless they are proven. */
bool superop_may_fail(const struct superop_node *);

/* Whether there are only nodes that copies consist of: superop-copy.c. */
bool superop_may_copy(const struct superop *);

/* Whether an operand of a node matters to results and to whether it fails; else it is v or w of
 * an ASSERT. */
static inline bool superop_matters(const struct superop_node *node, uint32_t operand) {
  return node->role != ROLE_ASSERT || operand == 0;
}
/* The nodes of a loop: CARRY first .. first + count - 1, WHILE `test`, NEXT next .. last. */
struct superop_loop {
  uint32_t first, count, test, next, last;
};
/* The loop of a completed superoperator that begins with node `first`. */
struct superop_loop superop_loop_at(const struct superop *, uint32_t first);
/* The first node of the loop that a CARRY or NEXT, node k, belongs to. */
uint32_t superop_loop_of(const struct superop *, uint32_t k);
bool superop_has_loops(const struct superop *);
/* The nodes of a combination: COLUMN first .. first + count - 1, then what computes the
 * function, the consumers ends .. ends + count - 1. */
struct superop_combination {
  uint32_t first, count, ends;
};
/* The combination of a completed superoperator that begins with node `first`. */
struct superop_combination superop_combination_at(const struct superop *, uint32_t first);
bool superop_has_combinations(const struct superop *);
/* Whether a size rule of a node's row does not apply: that an identity has an element for each
 * segment, where it is a CONST, which stands for all. */
bool superop_waives(const struct superop *, const struct superop_node *,
                    const struct size_rule *);
/* The row of one of the opcodes from SUPEROP_COLUMN on; superop_info knows it, too. */
const struct opcode_info *superop_combination_row(uint32_t op);
/* Called by superop_complete (superop-loop.c), when nodes and uses are known: checks the loops,
 * and extends last_use of what a loop reads. definitions[v]: the node of value v. False with
 * the reason and the node. */
bool superop_complete_loops(struct superop *, const uint32_t *definitions, const char **why,
                            uint32_t *node);
/* Likewise of combinations (superop-combine.c), after the loops. */
bool superop_complete_combinations(struct superop *, const uint32_t *definitions,
                                   const char **why, uint32_t *node);

/* In debug builds aborts if a completed one contradicts the comments above; superop_complete
 * calls it. */
void superop_check(const struct superop *);

/* Whether two superoperators compute the same: equal in everything but numbers, positions and
 * origins. superop_hash agrees with it. */
bool superop_same(const struct superop *, const struct superop *);
uint64_t superop_hash(const struct superop *);

/* Executes the nodes one by one on a back end: the meaning of a superoperator. Operands are
 * as the contract's `run` wants them; rules need not hold: where one does not, the fault is
 * that of the node (CVL_E_SIZE, position = the index of the opcode's rule; 0 of CARRY and
 * WHILE, whose operands are too short or too long). Between rounds of a loop `stop`, which may
 * be NULL, is asked whether to end: then the result is false, perhaps without a fault. */
bool superop_run(const struct cvl_backend *, struct cvl_context *, uint64_t site,
                 const struct superop *, const struct cvl_stop *stop,
                 const struct cvl_value *operands, struct cvl_value *outs);

/* ---- by a back end ---- */

struct cvl_superops {
  /* Makes a superoperator ready to run: planning, compiling. It is borrowed and must outlive
   * the kernel. NULL if memory fails or the back end would rather not, without a fault: the
   * caller then uses superop_run. */
  struct cvl_kernel *(*prepare)(struct cvl_context *, const struct superop *);
  void (*discard)(struct cvl_context *, struct cvl_kernel *);
  /* outs[i] = output i on these operands, one for each parameter. The caller has required all
   * of its rules. Takes node_count sites: a fault of node k carries site + k. One object may
   * stand for several operands, borrowed here and owned there with its only reference: it must
   * last as long as any of them is read. `discard` waits for runs under way. */
  bool (*run)(struct cvl_context *, uint64_t site, struct cvl_kernel *,
              const struct cvl_value *operands, struct cvl_value *outs);
};

#endif
