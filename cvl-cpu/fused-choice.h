/* fused-choice.h - whether a run of a superoperator is evaluated or compiled. Private to the
 * fused-*.c files.
 *
 * Where compiling was asked for, a superoperator is compiled when it is made ready. Otherwise,
 * as cvl_options.native says, when that pays: nobody can know how often it will run, and
 * waiting until evaluating it has cost as much as compiling it would never costs more than
 * twice what the best choice had (the rent-or-buy problem: Karlin, Manasse, Rudolph and
 * Sleator, "Competitive snoopy caching", 1988). That it is compiled does not make it quicker:
 * both ways take turns for a few runs, and the quicker one stays. A few runs may mislead (the
 * machine was busy, the data change): when many times as long has passed they take turns
 * again, and each time it is twice as long until the next.
 */
#ifndef RAVEL_CPU_FUSED_CHOICE_H
#define RAVEL_CPU_FUSED_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

struct cvl_kernel;

enum fused_choice_stage {
  CHOICE_WATCHED, /* evaluated, while that is cheap */
  CHOICE_MISSING, /* evaluated: nothing was kept, and compiling has not paid yet */
  CHOICE_STARTED, /* evaluated: the compiler is at work */
  CHOICE_TRIED,   /* in turns */
  CHOICE_SETTLED
};

/* What the runs in one way have taken so far. */
struct fused_trial {
  double seconds, work;
  unsigned runs;
};

struct fused_choice {
  uint8_t stage; /* enum fused_choice_stage */
  bool compiled; /* the last run, or all of them */
  struct fused_trial evaluated, native;
  /* Settled: what the runs have taken since, and may take before the next turns; in seconds. */
  double since, rest;
};

/* Whether the next run is to be compiled; may look for what was kept, and start the compiler.
 */
bool fused_choose(struct cvl_kernel *);
/* Whether the choice rests on the time that this run takes, seconds as of fused_clock. */
bool fused_choice_open(const struct cvl_kernel *);
double fused_clock(void);
void fused_chosen(struct cvl_kernel *, double seconds);

#endif
