/* procedures.h - batch calls that native code executes, one instance after the other, where the
 * back end has such code (cvl/procedures.h).
 *
 * A procedure is preferred to all instances together if these would repeat something, by a loop
 * or recursion, outside of superoperators; a straight one is not. Either is measured against
 * the other once calls are short enough, and what took less time is used. Native code executes
 * a whole call or gives up without a trace; then the call is executed as any other. So faults,
 * chunks and everything else know nothing of it.
 *
 * Printing and compiling the procedures of a program takes a while. They are printed once batch
 * calls have taken some milliseconds, or one that will is about to begin. What has been
 * compiled before is then used at once. Otherwise the compiler begins, in the background, when
 * batch calls have taken about as long as it does, as for superoperators
 * (cvl-cpu/fused/choice.h), or at once if earlier processes have spent more without it.
 */
#ifndef RAVEL_VINTERP_PROCEDURES_H
#define RAVEL_VINTERP_PROCEDURES_H

#include <stdbool.h>
#include <stdint.h>

struct machine;
struct program_procedures;
struct ir_program;

/* What a machine knows of the time that batch calls take. */
struct procedure_calls {
  bool possible; /* the options and the back end allow procedures */
  double spent;  /* seconds, without the call that is being timed */
  /* The outermost batch call that is being executed: the number of frames with its own, or 0,
   * and when it began. */
  uint64_t depth;
  double begun;
  bool together;     /* it was chosen to be executed for all instances together */
  bool compared;     /* its time is compared with that of native code: */
  uint32_t function; /* that is called */
  double weight;     /* bytes, as chunk_weight */
  double arguments;  /* of the run: weight_of_arguments; 0 if no native code may execute it */
  bool run_together; /* no call of the run is native: it is compared with one that is whole */
};

/* Prepare the machine, and a run. */
void procedure_calls_init(struct machine *);
void procedure_calls_begin_run(struct machine *);
/* Return the seconds that batch calls have taken so far; add those of a sub-machine. */
double procedure_calls_spent(const struct machine *);
void procedure_calls_adopt(struct machine *parent, const struct machine *sub);
/* The call that is being timed returns. */
void procedure_calls_end(struct machine *);

/* Makes the data for procedures of a program; NULL without lifted functions, or if procedures
 * are not possible. False if memory runs out. */
bool program_procedures_new(struct machine *, const struct ir_program *,
                            struct program_procedures **);
void program_procedures_free(struct machine *, struct program_procedures *);

enum procedure_call {
  PROCEDURE_NOT,   /* the call is to be executed in another way */
  PROCEDURE_DONE,  /* the results are above the frame, and the operands are released */
  PROCEDURE_FAILED /* after a fault */
};
/* Executes a batch call, whose frame has just been made with the operands in its slots. */
enum procedure_call procedure_call(struct machine *);
/* Whether native code of the function is there, and has not given up lately. */
bool procedure_may(const struct machine *, uint32_t function);
/* Executes the whole run by the native code of the entry function, whose frame has just been
 * made with the arguments in its slots: then the results are on the stack. Only runs that take
 * little are, since one thread executes them. */
enum procedure_call procedure_entry_run(struct machine *);
/* The run, which took so many seconds, was executed in another way. */
void procedure_entry_end(struct machine *, double seconds);
/* Between chunks of a call: lets the compiler begin if they have taken long. */
void procedures_look(struct machine *);

#endif
