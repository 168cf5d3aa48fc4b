/* choice.h - whether a run of a superoperator is evaluated or compiled. Private to the
 * files of this folder.
 *
 * If cvl_options.compile says all, superoperators are compiled together once the first of them
 * runs, as long as their texts are not too many (compile/compile.h). Others are compiled when
 * that pays. How often one will run is unknown. Compiling it once evaluation has cost as much
 * as compilation would never costs more than twice the optimum (the rent-or-buy problem:
 * Karlin, Manasse, Rudolph and Sleator, "Competitive snoopy caching", 1988). So is what is owed
 * for the evaluation of many short processes. Compiled code is used as soon as it is there.
 */
#ifndef RAVEL_CPU_FUSED_CHOICE_H
#define RAVEL_CPU_FUSED_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

struct cvl_kernel;
struct cvl_value;

enum fused_choice_stage {
  CHOICE_WATCHED, /* evaluated, while that is cheap */
  CHOICE_MISSING, /* evaluated: not in the cache, and compiling has not paid yet */
  CHOICE_STARTED, /* evaluated: the compiler is at work */
  CHOICE_SETTLED  /* compiled; or there is no compiled code, and never will be */
};

struct fused_choice {
  uint8_t stage; /* enum fused_choice_stage */
  bool unasked;  /* compiled as soon as can be: what follows does not matter */
  bool use_compiled;
  double evaluated; /* seconds of the runs so far */
};

/* With CVL_COMPILE_ALL: writes the functions, to be compiled together with others. */
void fused_choice_begin(struct cvl_kernel *);
/* Before the functions are freed: says what evaluation without them has taken. */
void fused_choice_end(struct cvl_kernel *);
/* Before a run, of which k->run.one is known: drops functions that do not suit it. */
void fused_choice_fit(struct cvl_kernel *);
/* Whether the next run is to be compiled; may look into the cache, and start the compiler. */
bool fused_choose(struct cvl_kernel *);
/* Whether the choice depends on the time that this run takes, in seconds of fused_clock. */
bool fused_choice_open(const struct cvl_kernel *);
double fused_clock(void);
void fused_chosen(struct cvl_kernel *, double seconds);

#endif
