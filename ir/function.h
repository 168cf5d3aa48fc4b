/* function.h - builds the let-form of one function from its stack code, given the summaries of
 * its callees. */
#ifndef RAVEL_IR_FUNCTION_H
#define RAVEL_IR_FUNCTION_H

#include "ir/kinds.h"
#include "ir/symbolic.h"

/* The facts that a caller must know about a function. If all but `typed` are zero, it never
 * returns and takes nothing: recursion starts from there. */
struct summary {
  bool typed;
  bool returns;
  uint32_t param_count, result_count;
  uint32_t variables; /* kind variables are numbered below this */
  const struct ir_kind **params,
      **results; /* deepest first; the same kind variable may occur in several */
};

/* An IF that is being executed. */
struct open_if {
  uint32_t at; /* the instruction */
  ir_var condition;
  bool in_else;
  struct sym_arm arm; /* the present one */
  size_t bindings;    /* where its bindings begin among the pending ones */
  ir_var first_var;   /* variables from here on were made in the arms */
  struct ir_block *then;
  int64_t then_height;
  size_t left, left_else; /* what the arms left, in builder->left: from here, from there */
};

/* Variables in final arrays that still have their first numbers. */
struct fixup {
  ir_var *vars;
  uint32_t count;
};

/* A stack position that an arm of an IF changed, with its variable after each arm. */
struct join_item {
  int64_t position;
  ir_var then, otherwise;
  uint32_t same; /* index of the first item with these two variables */
  ir_var result;
};

/* The state of building one function. The next function reuses its memory. */
struct builder {
  struct arena *scratch; /* working arrays */
  struct arena *arena;   /* kinds, summaries, reasons */
  struct arena *code;    /* bindings and blocks */
  const struct vcode_program *program;
  const struct superop *const *superops;
  uint32_t superop_count;
  struct summary *summaries; /* by function index */

  const struct vcode_function *function; /* the one being built */
  const char *reason;                    /* why it has no let-form */
  struct ir_block *body;
  uint64_t size; /* variables and operands made so far */
  struct kind_pool kinds;
  struct sym_stack stack;
  struct sym_items left;
  ARRAY(struct ir_binding) pending; /* of all open blocks, outermost first */
  ARRAY(struct open_if) ifs;
  ARRAY(struct fixup) fixups;
  ARRAY(kind_term) param_kinds, var_kinds;
  ARRAY(kind_term) instance;
  ARRAY(struct join_item) joins;
  ARRAY(struct join_item) sorted;
};

/* Initialises a builder for a program that has its superoperators already. */
void builder_init(struct builder *, struct arena *scratch, struct arena *arena,
                  const struct ir_program *, struct summary *summaries);
/* Builds function f into *out and describes it in *summary. If it has no let-form, `typed` is
 * false and out->reason says why. Liveness is not filled in. */
void build_function(struct builder *, uint32_t f, struct ir_function *out,
                    struct summary *summary);

#endif
