/* passes.h - the interface of the passes: the program being rewritten, and the tools to rewrite
 * it. Private to this room. Every pass is one file and one function here; fcode-opt.c runs
 * them.
 */
#ifndef RAVEL_PASSES_H
#define RAVEL_PASSES_H

#include "fcode-opt/fcode-opt.h"

#include <setjmp.h>

/* No variable; in a map of renamed variables: no new name yet. */
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
  struct guard *guard;                  /* of the pass that runs; NULL: its checks abort */
  struct instances_decision *decisions; /* per function; NULL: none is by instances */
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

/* Before a pass: keeps a copy of the program. */
void guard_begin(struct opt *, struct guard *);
/* After a pass: the copy is not needed. */
void guard_end(struct opt *);
/* After a pass that failed: the program is what it was, the memory of the pass is freed. */
void guard_undo(struct opt *);
/* A check has failed. */
_Noreturn void guard_fail(struct guard *, const char *file, int line, const char *condition);

/* ---- rewriting: rewrite.c ---- */

/* A new variable of the function. */
ir_var rewrite_var(struct opt *, struct ir_function *, const struct ir_kind *);

/* A binding with room for its operands and results (not filled in), of IR_OP with opcode `op`
 * and type word `type`; another form is set by the caller. */
struct ir_binding rewrite_binding(struct opt *, uint16_t op, uint8_t type, uint32_t operands,
                                  uint32_t results, struct source_pos pos, uint32_t origin);

/* The new bindings of a block that is being rewritten. */
struct rewrite_block {
  struct ir_binding *bindings;
  uint32_t count, capacity;
};
/* The new binding: valid until the next is added. */
struct ir_binding *rewrite_append(struct opt *, struct rewrite_block *,
                                  const struct ir_binding *);
/* Gives a block these bindings instead of its own. */
void rewrite_finish(struct ir_block *, const struct rewrite_block *);
/* The end of a block: yields count variables (room for them is made; not filled in). */
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
/* A copy of a function; names, kinds and constants are shared, liveness is not copied. */
struct ir_function rewrite_copy_function(struct opt *, const struct ir_function *);
/* Room for so many functions more, which rewrite_add_function takes: made before the guard of a
 * pass that adds some, since what it undoes the pass to has the same arrays. */
void rewrite_reserve(struct opt *, uint32_t functions);
/* Adds a function, and returns its number. */
uint32_t rewrite_add_function(struct opt *, const struct ir_function *);
/* More parameters for a function, variables of it that nothing binds any more; of a function by
 * instances they are shared. And the call with operands for them. */
void rewrite_add_params(struct opt *, struct ir_function *, const ir_var *, uint32_t count);
struct ir_binding rewrite_add_operands(struct opt *, const struct ir_binding *call,
                                       const ir_var *, uint32_t count);
/* How often each variable of a function is used (as operand, or as a block's result). `uses`
 * has var_count entries, and is overwritten. */
void rewrite_count_uses(const struct ir_function *, uint32_t *uses);
/* Numbers the variables anew, in the order in which they are bound, without gaps. */
void rewrite_number(struct opt *, struct ir_function *);
/* Restores the rules of the let-form after bodies have lost their normal end: such functions
 * never return, and the bindings behind a call of one are removed, to a fixed point. */
void rewrite_ends(struct opt *);

/* ---- the call graph of the program as it is now: calls.c ---- */

struct calls {
  uint32_t *order; /* all functions, callees before callers; components together */
  bool *recursive; /* per function: it may call itself, perhaps indirectly */
  bool *reachable; /* from the entry */
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

/* Memory is the scratch arena's. */
struct calls calls_make(struct opt *);
/* Drops the functions that the entry cannot reach, see struct opt. */
void calls_drop_unreachable(struct opt *);

/* Effects of one binding; of a call and an IF with those of what is inside. EFFECT_ENDS unless
 * binding_never_fails. */
uint8_t binding_effects(const struct calls *, const struct ir_binding *);
/* Whether an operation cannot fail on any operands of its kinds (limits are exempt). */
bool binding_never_fails(const struct ir_binding *);

/* ---- functions by instances: instances.c ---- */

/* Of one function of the program that is optimised. */
struct instances_decision {
  bool inlined;       /* it is not worth its calls: its mark is removed before the first pass */
  const char *reason; /* why it is or is not; NULL: not reached, or not by instances */
};

/* Decides, from the program as it is now, for those functions of `program`, the original or the
 * same, that are by instances and not yet decided to be inlined. True if one more is: then the
 * program is to be optimised without its mark. `fused`: superoperators are still to be made.
 * Reasons are in `kept`. */
bool instances_decide(struct opt *, struct arena *kept, const struct ir_program *program,
                      struct instances_decision *, bool fused);
void instances_explain(const struct opt *, const struct ir_program *program,
                       const struct instances_decision *);

/* ---- results by instances: chunked-results.c ---- */

/* Behind all passes, with the option of that name; whether it changed anything. It adds
 * functions: before it, and outside of its guard, room is made for them. */
bool chunked_results(struct opt *);
void chunked_results_reserve(struct opt *);

/* ---- sizes: sizes.c ---- */

/* The size analysis: which lengths of vectors and numbers of segments are equal, and which are
 * known numbers, at each binding of each function; hence which instructions cannot fail. It
 * covers the whole program: facts on parameters come from all call sites, facts on results from
 * the bodies, to a fixed point. Valid until the program is changed. */
struct sizes;
struct sizes *sizes_compute(struct opt *);
/* Whether a binding never fails at its position: its sizes agree, and the conditions on its
 * elements hold. */
bool sizes_safe(const struct sizes *, uint32_t function, const struct ir_binding *);
/* Whether only its sizes are proven to agree. */
bool sizes_agree(const struct sizes *, uint32_t function, const struct ir_binding *);
/* For a safe binding: whether that depends on a check, made before by an instruction that may
 * fail. The binding must not move before that check. */
bool sizes_depend_on_check(const struct sizes *, uint32_t function, const struct ir_binding *);
/* A number for the length of a vector or the total of a descriptor (SIZE_LEN, SIZE_TOTAL), or
 * of the number of segments (SIZE_COUNT): equal numbers, equal sizes. */
uint32_t sizes_class(const struct sizes *, uint32_t function, ir_var, uint8_t what);
/* Likewise, for sizes that are assumed equal: they are if no instruction of the function fails.
 * For choices that are checked again at run time, such as those of fusion. */
uint32_t sizes_assumed(const struct sizes *, uint32_t function, ir_var, uint8_t what);
/* The first-bound vector with the length of v; v itself if there is none. */
ir_var sizes_first(const struct sizes *, uint32_t function, ir_var v);
/* The first-bound descriptor whose total is the length of v; or IR_NO_VAR. */
ir_var sizes_descriptor(const struct sizes *, uint32_t function, ir_var v);
/* The size as a number; -1 if it is not known. */
int64_t sizes_known(const struct sizes *, uint32_t function, ir_var, uint8_t what);

#endif
