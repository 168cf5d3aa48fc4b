/* procedures.h - procedures by a back end: functions of a program that a thread executes for
 * one instance after the other, as native code (procedures/README.md). */
#ifndef RAVEL_CVL_PROCEDURES_H
#define RAVEL_CVL_PROCEDURES_H

#include "cvl/cvl.h"

/* The code of all procedures of a program. */
struct cvl_procedure_code;

/* The kind of a parameter or result. */
enum cvl_procedure_kind {
  CVL_PROCEDURE_INT,
  CVL_PROCEDURE_FLOAT,
  CVL_PROCEDURE_BOOL,
  CVL_PROCEDURE_SEGDES
};

/* How much a parameter or result has for each instance: an element or a segment; the same for
 * all; else the elements or segments that the descriptor of this number says. As IR_EACH,
 * IR_SHARED and numbers of struct ir_instances, whose numbers count the first parameter of a
 * lifted function: here parameter 0 is its parameter 1, and numbers are one less. */
#define CVL_PROCEDURE_EACH   UINT32_MAX
#define CVL_PROCEDURE_SHARED (UINT32_MAX - 1)

struct cvl_procedure {
  const char *entry; /* the argument of RAVEL_ENTRY: a native_entry (procedures/native.h) */
  uint32_t param_count, result_count;
  const uint8_t *param_kinds, *result_kinds; /* enum cvl_procedure_kind */
  const uint32_t *params, *results;          /* sizes */
  bool shares;                               /* threads may share the work of one instance */
};

/* In seconds. */
struct cvl_procedure_time {
  double expected; /* what the call takes by native code, or else; 0: that is not known */
  double most;     /* it gives up soon after that; 0: it may take any time */
};

/* What a thread did in a batch call, without a break. */
struct cvl_procedure_span {
  unsigned thread;    /* 0: the caller's */
  uint64_t instances; /* 0: a part of the work of one that another thread has begun */
  double begin, end;  /* seconds of stop_clock (base/stop.h) */
};

/* What `ready` does if the code is not there: nothing; it begins the compilation; it compiles
 * and waits for the end, unless the context is asked to end. */
enum cvl_procedure_wish { CVL_PROCEDURES_LOOK, CVL_PROCEDURES_COMPILE, CVL_PROCEDURES_WAIT };

struct cvl_procedures {
  /* Takes the C text of a program's procedures, which is copied. It is a file by itself, in
   * which each entry has the name RAVEL_ENTRY(entry) and nothing else is visible outside. NULL,
   * without a fault, if it will never be native code: there is no compiler, nothing is to be
   * compiled, or there is no memory. Compiles nothing yet. *owed: earlier processes
   * have spent so long without the code that it should be compiled at once. */
  struct cvl_procedure_code *(*prepare)(struct cvl_context *, const char *text, uint64_t length,
                                        bool *owed);
  /* spent: the seconds that this process has spent in calls, because the code was not there. */
  void (*discard)(struct cvl_context *, struct cvl_procedure_code *, double spent);
  /* Whether the code is there. Where superoperators are compiled only if the caller waits for
   * them (compile_waits), COMPILE waits, too. This and the functions below may be called with a
   * sub-context of the one that has prepared the code. */
  bool (*ready)(struct cvl_context *, struct cvl_procedure_code *, enum cvl_procedure_wish);
  /* Whether it pays to execute these instances one after the other, by several threads: there
   * are enough of them, none is most of the work, or there is little work at all. */
  bool (*suits)(struct cvl_context *, const struct cvl_procedure *, uint64_t instances,
                const struct cvl_value *operands);
  /* Executes, in about this time, a batch call of so many instances by code that is ready;
   * operands are borrowed. *done is false if native code gave up: then there are no results, no
   * fault, and nothing has happened. Returns false after a fault. */
  bool (*run)(struct cvl_context *, uint64_t site, struct cvl_procedure_code *,
              const struct cvl_procedure *, struct cvl_procedure_time, uint64_t instances,
              const struct cvl_value *operands, struct cvl_value *results, bool *done);
  /* Returns how many spans it has written: what threads did in the last call of `run`, one
   * thread after the other, if the context was opened with `spans`. At most `most`, and some
   * hundred of each thread. */
  uint32_t (*spans)(struct cvl_context *, struct cvl_procedure_span *, uint32_t most);
};

#endif
