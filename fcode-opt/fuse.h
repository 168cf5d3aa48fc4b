/* fuse.h - fusion: which bindings become one superoperator. Private to fuse*.c, gathers.c and explain.c.
 *
 * The pass handles one block at a time, innermost first, in three steps.
 *
 * 1. Stages and groups (fuse-plan.c). A forward walk gives every binding the least *stage* that
 *    its operands allow. A producer and its elementwise uses may have the same stage; any other
 *    use of a binding that can be fused has a later one. The bindings of one stage and one
 *    domain are a *group*. A path that leaves a group leads to later stages only, so groups
 *    have no cyclic dependencies. Bindings that may fail keep their program order. A binding
 *    whose safety depends on a check does not move before that check; it may move behind it.
 *    No binding moves across a timer.
 *
 * 2. Recomputation (fuse-plan.c). A backward walk decides, for each producer that other groups
 *    need, whether its own group writes it to memory or each of them computes it again, by the
 *    cost below. An ASSERT is a use of the flags that it checks and an elementwise use of its
 *    reported values: back ends compute those only for the element that failed.
 *
 * 3. Rewriting. The connected members of a group become a superoperator (fuse-build.c); the
 *    block is rewritten as near to its old order as the dependencies allow (fuse.c).
 *
 * A superoperator of the program that is one combination (superop.h) and nothing else is fused
 * like a reduction of several operands, with the producers of its columns and other uses of
 * them; its nodes become nodes of the superoperator that is made.
 *
 * The cost model (fuse-cost.c) counts bytes of memory traffic per element of the domain.
 * Writing a vector costs its element size, and so does reading it in each group. The work of an
 * operation counts as the bytes that could be moved in the same time. A group computes a value
 * again if the work, and the reads of operands that the group does not read yet, cost less than
 * reading the value.
 */
#ifndef RAVEL_FUSE_H
#define RAVEL_FUSE_H

#include "base/map.h"
#include "fcode-opt/passes.h"

enum {
  FUSE_NODES_MOST = 256, /* of a superoperator; constants and their DIST are not counted */
  FUSE_NODES_OWN = 192,  /* of its own nodes; the rest is left for nodes computed again */
  FUSE_PARAMS_MOST = 32, /* of a superoperator, by an estimate */
};

#define NO_UNIT  UINT32_MAX
#define NO_GROUP UINT32_MAX

/* An entry in the list of groups that need a producer. */
struct fuse_need {
  uint32_t group, next; /* index into fuse_block.needs, plus 1; 0: none */
};

/* A binding of the block being fused. */
struct fuse_unit {
  struct ir_binding *x;
  const char *access; /* fuse_form; NULL: it cannot be fused */
  uint8_t role;       /* enum superop_role */
  uint8_t effects;    /* set of enum effect; 0: it is safe */
  bool ordered;       /* it may fail or has an effect: ordered units keep their order */
  bool conditional;   /* safe, but that depends on a check: does not move before it */
  bool stays; /* it is computed by itself or in its own group; else only in other groups */
  uint32_t stage, epoch, group;
  uint32_t domain;         /* class of the number of elements, assumed equal */
  uint32_t ordered_before; /* the ordered unit that it must follow, or NO_UNIT */
  uint32_t needs;          /* list of groups that need it */
  double cost;             /* of computing it in a group that has none of its operands */
  uint32_t item;           /* index of the item that contains it */
  const ir_var *free;      /* IF: variables of this and outer blocks that its arms use */
  uint32_t free_count;
};

/* A node of a group: a unit, or a binding of an outer block that is computed again. */
struct fuse_member {
  struct ir_binding *x;
  uint32_t unit; /* NO_UNIT: of an outer block */
};

struct fuse_group {
  uint32_t stage;
  uint32_t own;    /* nodes of its own */
  uint32_t params; /* at least so many */
  ir_var segments; /* of its reductions, scans and packs, or IR_NO_VAR */
  ARRAY(struct fuse_member) members;
};

/* One binding of the rewritten block. */
struct fuse_item {
  uint32_t position;     /* of the last unit in it */
  uint32_t unit;         /* the unit, if it is not fused; else NO_UNIT */
  uint32_t first, count; /* its members: in fuse_block.members */
  uint32_t superop;      /* fused and emitted: index into the program's */
  bool done, open;
};

/* A superoperator of the program, and which of its nodes may fail. */
struct fuse_entry {
  const struct superop *op;
  const bool *fails;
  uint32_t index; /* in the program */
};

/* The pass. */
struct fuse {
  struct opt *o;
  const struct sizes *sizes;
  struct calls calls;
  ARRAY(const struct superop *) superops; /* of the program */
  ARRAY(struct fuse_entry) entries;
  struct scoped_map by_hash; /* indices of entries */
  struct explain *explain;   /* or NULL */
  /* the index of the function */
  uint32_t function;
  struct ir_function *f;
  struct ir_binding **definitions; /* per variable: its binding; NULL: a parameter */
  uint32_t *blocks, *units;        /* per variable: the block and the unit that define it */
  uint32_t *seen;                  /* per variable: a stamp */
  uint32_t *numbers; /* per variable: a number, valid if `seen` is the latest stamp */
  uint32_t stamp, block_count;
  bool *wanted; /* per variable: it must be in memory */
  bool timers;  /* there are timers in it */
};

/* The block being fused. */
struct fuse_block {
  struct fuse *fuse;
  uint32_t number;
  struct ir_block *block;
  struct fuse_unit *list;
  uint32_t count;
  ARRAY(struct fuse_need) needs;
  ARRAY(struct fuse_group) groups;
  struct map group_at; /* from (stage, domain) to one more than the group */
  struct map inside;   /* (group, variable): computed or read there */
  bool *wanted;        /* fuse->wanted */
  ARRAY(struct fuse_item) items;
  uint32_t item; /* the one being built */
  ARRAY(struct fuse_member) members;
};

/* ---- fuse-form.c ---- */

/* Returns how the operands of a binding are accessed (superop_access), one letter each, and its
 * role; a combination has the role of its consumers. NULL: it cannot be fused. */
const char *fuse_form(struct arena *scratch, const struct ir_program *,
                      const struct ir_binding *, enum superop_role *);
/* Returns a variable as long as its domain, if it can be fused. */
ir_var fuse_domain(const struct ir_program *, const struct ir_binding *, enum superop_role);
/* Returns how many nodes the binding becomes. */
uint32_t fuse_nodes(const struct ir_program *, const struct ir_binding *);
/* Returns the superoperator of a binding if it is a combination that can be fused; else NULL.
 */
const struct superop *fuse_combination(const struct ir_program *, const struct ir_binding *);

/* ---- fuse-cost.c ---- */

/* Returns the bytes of one element of a variable. */
double fuse_bytes(const struct fuse *, ir_var);
/* Returns the work of an operation per element, in bytes. */
double fuse_work(const struct fuse *, const struct ir_binding *);
/* Returns whether a variable is a constant of one element. */
bool fuse_constant(const struct fuse *, ir_var);
/* Returns whether a binding is a DIST or INDEX of constants, which is free to compute in any
 * group. */
bool fuse_flat(const struct fuse *, const struct ir_binding *);

/* ---- fuse-sink.c ---- */

/* Moves bindings that only one arm of an IF uses into that arm. */
void fuse_sink(struct fuse *);

/* ---- fuse-copy.c ---- */

/* Copies bindings into an arm of an IF where computing them costs at most as much as reading
 * their results. Returns whether there are new variables: sizes must be computed again then. */
bool fuse_copy(struct fuse *);

/* ---- fuse-lengths.c ---- */

/* Replaces the operand of LENGTH by an older vector of the same length, so that the computed
 * one need not be in memory. Returns whether there are new variables: sizes must be computed
 * again then. */
bool fuse_lengths(struct opt *, const struct sizes *);

/* ---- fuse-plan.c ---- */

/* Assigns roles, stages and groups, then decides which groups compute each producer. */
void fuse_plan(struct fuse_block *);
/* Returns the unit of this block that defines a variable, or NULL. */
struct fuse_unit *fuse_definition(const struct fuse_block *, ir_var);
static inline bool fuse_is_producer(uint8_t role) {
  return role == ROLE_SPREAD || role == ROLE_INDEX || role == ROLE_GATHER ||
         role == ROLE_PICK || role == ROLE_MAP;
}
/* Returns whether u may use the result of `def` in the same group, as an operand with this
 * access (superop_access). */
static inline bool fuse_elementwise(const struct fuse_unit *def, const struct fuse_unit *u,
                                    char access) {
  return access == 'd' && u->access && def->access && fuse_is_producer(def->role) &&
         def->domain == u->domain;
}
/* Returns how a unit accesses an operand. */
static inline char fuse_access(const struct fuse_unit *u, uint32_t operand) {
  return u->access ? u->access[operand] : 'x';
}

/* ---- fuse-build.c ---- */

/* Makes a superoperator of these members, which are in program order; returns its binding. Its
 * outputs are the wanted results of the members that belong to the item being built. */
struct ir_binding fuse_build(struct fuse_block *, const struct fuse_member *, uint32_t count);

#endif
