/* fuse.h - fusion: which bindings become one superoperator. Private to fuse*.c and explain.c.
 *
 * One block at a time, innermost first, in three steps.
 *
 * 1. Stages and groups (fuse-plan.c). Going forward, every binding gets the least *stage* that
 *    its operands allow. A producer and what reads it place by place may share a stage; all
 *    other uses of a binding that could be fused are at a later one. Bindings of one stage and
 *    one domain are a *group*. A path that leaves a group leads to later stages only, so that
 *    no group waits for itself. Bindings that may fail are bound to each other in program
 *    order; what is proven safe may rest on one that may fail before it, and so does not move
 *    before that; it may move behind. Nothing leaves its side of a timer.
 *
 * 2. Who computes what (fuse-plan.c). Going backward, a producer that other groups than its own
 *    need is either written to memory by its own, or computed again in each of them, by the
 *    cost below.
 *
 *    An ASSERT is one more reader of what it checks; what it tells it needs place by place too,
 *    since back ends compute that only where it fails.
 *
 * 3. What is connected in a group becomes a superoperator (fuse-build.c); the block is put
 *    together again, as near to the old order as the new bindings allow (fuse.c).
 *
 * The cost model (fuse-cost.c) counts bytes of memory traffic for each place of the domain; the
 * work of an operation is counted in the same unit, the bytes that could have been moved
 * meanwhile. Writing a vector costs its element size, so does reading it in each group. A
 * value is computed again where the work, and the operands that the other group does not
 * read yet, cost less than that.
 */
#ifndef RAVEL_FUSE_H
#define RAVEL_FUSE_H

#include "base/map.h"
#include "fcode-opt/passes.h"

enum {
  FUSE_NODES_MOST = 256, /* of a superoperator; constants and their DIST are not counted */
  FUSE_NODES_OWN = 192,  /* of those that are not computed again; the rest is kept for these */
  FUSE_PARAMS_MOST = 32, /* of a superoperator, as near as can be told beforehand */
};

#define NO_UNIT  UINT32_MAX
#define NO_GROUP UINT32_MAX

/* A group that needs a producer. */
struct fuse_need {
  uint32_t group, next; /* in the list of needs, counted from 1 */
};

/* A binding of the block being fused. */
struct fuse_unit {
  struct ir_binding *x;
  const char *parts; /* superop_parts; NULL: it cannot be fused */
  uint8_t role;      /* enum superop_role */
  uint8_t effects;   /* set of enum effect; 0: it is safe */
  bool ordered;      /* it may fail or has an effect: keeps its place among such */
  bool conditional;  /* safe because of what may fail before it: does not move before that */
  bool stays;        /* it is computed where it stands, or in its group */
  uint32_t stage, epoch, group;
  uint32_t domain;    /* likely class of the number of places */
  uint32_t chain;     /* the last ordered unit before it, or NO_UNIT */
  uint32_t needs;     /* list of groups that need it */
  double cost;        /* of computing it in a group that has nothing of it yet */
  uint32_t item;      /* what it is emitted in */
  const ir_var *free; /* IF: variables of this and outer blocks that its arms use */
  uint32_t free_count;
};

/* A node of a group: a unit, or a binding of an outer block that is computed again. */
struct fuse_member {
  struct ir_binding *x;
  uint32_t unit; /* NO_UNIT: of an outer block */
};

struct fuse_group {
  uint32_t stage, domain, own;
  uint32_t params; /* at least so many */
  ir_var segments; /* of its reductions, scans and packs, or IR_NO_VAR */
  ARRAY(struct fuse_member) members;
};

/* One binding of the block as it will be. */
struct fuse_item {
  uint32_t position;     /* of the last unit in it */
  uint32_t unit;         /* not fused; else NO_UNIT */
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
  /* of the function */
  uint32_t function;
  struct ir_function *f;
  struct ir_binding **makers; /* of every variable: what binds it; NULL: a parameter */
  uint32_t *blocks, *units;   /* the block and the unit it is bound in */
  uint32_t *seen;             /* of every variable: stamps */
  uint32_t *numbers;          /* what is noted of it where it has the latest stamp */
  uint32_t stamp, block_count;
  bool *wanted; /* of every variable: it has to be in memory */
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
  struct map places; /* (stage, domain) to one more than the group */
  struct map inside; /* (group, variable): computed or read there */
  bool *wanted;      /* fuse->wanted */
  ARRAY(struct fuse_item) items;
  uint32_t item; /* the one being built */
  ARRAY(struct fuse_member) members;
};

/* ---- fuse-cost.c ---- */

/* Bytes of one element of a variable. */
double fuse_bytes(const struct fuse *, ir_var);
/* Work of one place of an operation, in bytes. */
double fuse_work(const struct fuse *, const struct ir_binding *);
/* Whether a variable is a constant of one element. */
bool fuse_constant(const struct fuse *, ir_var);
/* DIST or INDEX of constants: costs nothing to compute anywhere. */
bool fuse_flat(const struct fuse *, const struct ir_binding *);

/* ---- fuse-sink.c ---- */

/* Moves what only one arm of an IF needs into that arm. */
void fuse_sink(struct fuse *);

/* ---- fuse-copy.c ---- */

/* Copies what an arm of an IF computes more cheaply itself than it reads it into that arm. True
 * if there are new variables: sizes are to be computed again. */
bool fuse_copy(struct fuse *);

/* ---- fuse-lengths.c ---- */

/* Takes the lengths of what is computed from what it is computed from, so that nothing waits
 * for it and it need not be in memory. True if there are new variables: sizes are to be
 * computed again. */
bool fuse_lengths(struct opt *, const struct sizes *);

/* ---- fuse-plan.c ---- */

/* Roles, stages, groups; then who computes what. */
void fuse_plan(struct fuse_block *);
/* The unit of this block that binds a variable, or NULL. */
struct fuse_unit *fuse_maker(const struct fuse_block *, ir_var);
static inline bool fuse_is_producer(uint8_t role) {
  return role == ROLE_SPREAD || role == ROLE_INDEX || role == ROLE_GATHER ||
         role == ROLE_PICK || role == ROLE_MAP;
}
/* Whether u may read what `maker` computes in the same group, as an operand that plays this
 * part. */
static inline bool fuse_in_place(const struct fuse_unit *maker, const struct fuse_unit *u,
                                 char part) {
  return part == 'd' && u->parts && maker->parts && fuse_is_producer(maker->role) &&
         maker->domain == u->domain;
}
/* The part an operand plays. */
static inline char fuse_part(const struct fuse_unit *u, uint32_t operand) {
  return u->parts ? u->parts[operand] : 'x';
}

/* ---- fuse-build.c ---- */

/* The binding of a superoperator made of these members, which are in program order. Its outputs
 * are the wanted results of those that belong to the item being built. */
struct ir_binding fuse_build(struct fuse_block *, const struct fuse_member *, uint32_t count);

#endif
