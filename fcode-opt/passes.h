/* passes.h - the interface of the passes: the program being rewritten, and the tools to rewrite
 * it. Private to this room. Every pass is one file and one function here; fcode-opt.c runs
 * them.
 */
#ifndef RAVEL_PASSES_H
#define RAVEL_PASSES_H

#include "fcode-opt/fcode-opt.h"
#include "ir/walk.h"

#include <setjmp.h>

/* The number of no variable; in a map of renamed variables it means that there is no new name
 * yet. */
#define IR_NO_VAR UINT32_MAX

enum {
  /* IFs nested deeper than this are not optimised (passes walk blocks by recursion): such a
   * function, and those that call it, keep their stack code. */
  OPT_DEEPEST = 1000
};

/* A program under optimisation. Blocks and bindings are the arena's and are overwritten
 * or replaced; `last`, `unused` and `drops` are not kept true between passes (ir_liveness makes
 * them so after each), but the arrays for them are there.
 *
 * Functions that the entry cannot reach are dropped (calls_drop_unreachable): they keep index
 * and name, take and leave nothing, and their body only exits. */
struct opt {
  struct arena *arena;        /* what the result consists of */
  struct arena *scratch;      /* emptied after every pass */
  struct ir_program *program; /* the copy that is rewritten */
  const struct fcode_opt_options *options;
  struct fcode_opt_stats *stats;        /* never NULL */
  FILE *explain;                        /* or NULL */
  uint32_t *var_capacity;               /* per function: room in its `vars` */
  uint32_t function_capacity;           /* room for functions */
  struct guard *guard;                  /* of the pass that runs; NULL: its checks abort */
  struct instances_decision *decisions; /* per function; NULL: none is lifted */
  uint32_t decision_count;              /* functions behind these are twins (invariants.c) */
};

/* The passes. Each returns whether it changed anything; if memory runs out it does not return,
 * and fcode_opt fails. */
#define PASS(name, what) bool pass_##name(struct opt *);
#include "fcode-opt/passes.def"

/* ---- checks: guard.c ---- */

/* A check of a pass on itself: what holds in every program if the pass is right. Where it does
 * not, debug and sanitizer builds abort; in a release the pass is undone, with a warning, and
 * the program runs without it. Only on the thread that runs the pass, and not within a memory
 * guard (base/arena.h) that the pass has begun. */
#define pass_require(o, condition)                                                             \
  ((condition) ? (void)0 : guard_fail((o)->guard, __FILE__, __LINE__, #condition))

/* The state that a failed pass is undone to. */
struct guard {
  jmp_buf failed;            /* set by whoever runs the pass */
  struct arena arena;        /* of the functions of `program` */
  struct ir_program program; /* as it was before */
  struct fcode_opt_stats stats;
  struct arena_point mark; /* in the arena of the result: what follows is the pass's */
  const char *file, *condition;
  int line; /* of the check that failed */
};

/* Keeps a copy of the program, before a pass. */
void guard_begin(struct opt *, struct guard *);
/* Drops the copy, after a pass. */
void guard_end(struct opt *);
/* Restores the program after a pass that failed, and frees the memory of the pass. */
void guard_undo(struct opt *);
/* Is called when a check has failed; it jumps back to the driver. */
_Noreturn void guard_fail(struct guard *, const char *file, int line, const char *condition);

/* ---- rewriting: rewrite.c ---- */

struct calls;

/* Makes a new variable of the function. */
ir_var rewrite_var(struct opt *, struct ir_function *, const struct ir_kind *);

/* Makes an IR_OP with opcode `op` and type word `type`, with room for its operands and results,
 * which are not filled in. The caller sets another form. */
struct ir_binding rewrite_binding(struct opt *, uint16_t op, uint8_t type, uint32_t operands,
                                  uint32_t results, struct source_pos pos, uint32_t origin);

/* The new bindings of a block that is being rewritten. */
struct rewrite_block {
  struct ir_binding *bindings;
  uint32_t count, capacity;
};
/* Appends an operation with one result, a new variable of the kind, at the position of another
 * binding. Returns the variable. */
ir_var rewrite_op(struct opt *, struct ir_function *, struct rewrite_block *, enum opcode,
                  enum ir_kind_tag, const ir_var *operands, uint32_t count,
                  const struct ir_binding *like);
/* Returns the new binding, which is valid until the next one is added. */
struct ir_binding *rewrite_append(struct opt *, struct rewrite_block *,
                                  const struct ir_binding *);
/* Gives a block these bindings instead of its own. */
void rewrite_finish(struct ir_block *, const struct rewrite_block *);
/* Makes a block yield count variables. There is room for them; they are not filled in. */
void rewrite_yield(struct opt *, struct ir_block *, uint32_t count);

/* A deep copy of a block of some function into function `to`, its variables renamed: map[v] is
 * the new name of variable v (already set for those bound outside, IR_NO_VAR for those to be
 * made). Kinds are those of `from`, whose kind variables become instance[i] (NULL: kinds stay).
 */
struct ir_block *rewrite_copy(struct opt *, struct ir_function *to,
                              const struct ir_function *from, const struct ir_block *,
                              ir_var *map, const struct ir_kind *const *instance);
/* Adds the call with this origin to the origins of a body that has moved to its caller, so that
 * messages lose nothing. */
void rewrite_add_call(struct opt *, struct ir_block *, uint32_t call);
/* Copies a function; names, kinds and constants are shared, liveness is not copied. */
struct ir_function rewrite_copy_function(struct opt *, const struct ir_function *);
/* Gives lifted function f, which has got `count` parameters more, a procedure that takes them,
 * too: they are unused. It is the one it had, or, where others call that, a function that calls
 * it. Without room for one more function f loses its link. */
void rewrite_extend_procedure(struct opt *, struct calls *, uint32_t f, uint32_t count);
/* Makes room for so many functions more, which rewrite_add_function takes. It is called before
 * the guard of a pass that adds functions: a pass is undone to a program with the same arrays.
 */
void rewrite_reserve(struct opt *, uint32_t functions);
/* Returns a name that no function has: this one with a text behind it, perhaps several times.
 */
const struct name *rewrite_name(struct opt *, const struct name *, const char *behind);
/* Adds a function, and returns its number. */
uint32_t rewrite_add_function(struct opt *, const struct ir_function *);
/* Returns a copy of a superoperator, completed (superop_complete). Only memory can be at fault.
 */
struct superop *rewrite_superop(struct opt *, struct superop);
/* Add parameters to a function, and operands for them to a call. They are variables that
 * nothing in the function binds any more. In a lifted function they are shared. */
void rewrite_add_params(struct opt *, struct ir_function *, const ir_var *, uint32_t count);
struct ir_binding rewrite_add_operands(struct opt *, const struct ir_binding *call,
                                       const ir_var *, uint32_t count);
/* Numbers the variables anew, in the order in which they are bound, without gaps. */
void rewrite_number(struct opt *, struct ir_function *);
/* Restores the rules of the let-form after bodies have lost their normal end: such functions
 * never return, and the bindings behind a call of one are removed, to a fixed point. */
void rewrite_ends(struct opt *);

/* ---- the call graph of the program as it is now: calls.c ---- */

struct calls {
  uint32_t count;  /* functions */
  uint32_t *order; /* all functions, callees before callers; components together */
  bool *recursive; /* per function: it may call itself, perhaps indirectly */
  bool *reachable; /* from the entry, by calls and by links to procedures */
  bool *called;    /* from the entry, by calls alone */
  bool *linked;    /* it is the procedure of a function that is reachable */
  bool *fixed;     /* its signature must stay: the entry, or called from stack code */
  uint32_t *sites; /* calls of it in functions that are reachable */
  uint32_t *size;  /* instructions (vcode.md, 17.2) */
  uint32_t *bulk;  /* bindings, all of them */
  uint32_t *depth; /* of its IFs */
  uint32_t *callers, *caller_first; /* of function f: callers[caller_first[f]] up to
                                       caller_first[f + 1], once for each call */
  uint8_t *effects;                 /* set of enum effect, with those of its callees */
};

enum effect {
  EFFECT_OUTSIDE = 1, /* input, output, random numbers: order matters */
  EFFECT_TIMER = 2,   /* nothing moves across */
  EFFECT_ENDS = 4     /* may fail, exit, or run for ever */
};

/* Makes the call graph. Memory is the scratch arena's. */
struct calls calls_make(struct opt *);
/* Drops the functions that the entry cannot reach, see struct opt. */
void calls_drop_unreachable(struct opt *);

/* Returns the effects of one binding; those of a call and an IF include the effects inside.
 * EFFECT_ENDS is among them unless binding_never_fails. */
uint8_t binding_effects(const struct calls *, const struct ir_binding *);
/* Returns whether an operation cannot fail on any operands of its kinds (limits are exempt). */
bool binding_never_fails(const struct ir_binding *);

/* ---- lifted functions: instances.c ---- */

/* The decision about one function of the program that is optimised. */
struct instances_decision {
  bool inlined;       /* it is not worth its calls: its mark is removed before the first pass */
  const char *reason; /* why it is or is not; NULL: not reached, or not lifted */
};

/* Decides, from the program as it is now, for those functions of `program`, the original or the
 * same, that are lifted and not yet decided to be inlined. True if one more is: then the
 * program is to be optimised without its mark. `fused`: superoperators are still to be made.
 * Reasons are in `kept`. */
bool instances_decide(struct opt *, struct arena *kept, const struct ir_program *program,
                      struct instances_decision *, bool fused);
void instances_explain(const struct opt *, const struct ir_program *program,
                       const struct instances_decision *);

/* ---- lifted results: chunked-results.c ---- */

/* Runs behind all passes, with the option of that name; returns whether it changed anything. It
 * adds functions: room is made for them before it, and outside of its guard. */
bool chunked_results(struct opt *);
void chunked_results_reserve(struct opt *);

/* ---- sizes: sizes.c ---- */

/* The size analysis: which lengths of vectors and numbers of segments are equal, and which are
 * known numbers, at each binding of each function; hence which instructions cannot fail. It
 * covers the whole program: facts on parameters come from all call sites, facts on results from
 * the bodies, to a fixed point. Valid until the program is changed. */
struct sizes;
struct sizes *sizes_compute(struct opt *);
/* Returns whether a binding never fails at its position: its sizes agree, and the conditions on
 * its elements hold. */
bool sizes_safe(const struct sizes *, uint32_t function, const struct ir_binding *);
/* Returns whether only its sizes are proven to agree. */
bool sizes_agree(const struct sizes *, uint32_t function, const struct ir_binding *);
/* Returns whether the safety of a safe binding depends on a check, made before by an
 * instruction that may fail. The binding must not move before that check. */
bool sizes_depend_on_check(const struct sizes *, uint32_t function, const struct ir_binding *);
/* Returns a number for the length of a vector or the total of a descriptor (SIZE_LEN,
 * SIZE_TOTAL), or for the number of segments (SIZE_COUNT). Equal numbers mean equal sizes. */
uint32_t sizes_class(const struct sizes *, uint32_t function, ir_var, uint8_t what);
/* Returns a number for a size, which is equal for sizes that are assumed equal: they are if no
 * instruction of the function fails. It is for choices that are checked again at run time, such
 * as those of fusion. */
uint32_t sizes_assumed(const struct sizes *, uint32_t function, ir_var, uint8_t what);
/* Returns the first-bound vector with the length of v; v itself if there is none. */
ir_var sizes_first(const struct sizes *, uint32_t function, ir_var v);
/* Returns the first-bound descriptor whose total is the length of v; or IR_NO_VAR. */
ir_var sizes_descriptor(const struct sizes *, uint32_t function, ir_var v);
/* Returns the size as a number; -1 if it is not known. */
int64_t sizes_known(const struct sizes *, uint32_t function, ir_var, uint8_t what);

#endif
