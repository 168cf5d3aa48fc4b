/* direct.h - a small interpreter of the unflattened semantics: one value after another, as
 * section 6 reads. Slow and obvious on purpose; it checks the compiler in the tests, and counts
 * work and depth in the sense of section 8 for `nesl cost`.
 */
#ifndef RAVEL_NESLC_DIRECT_H
#define RAVEL_NESLC_DIRECT_H

#include "neslc/session.h"
#include "vcode/vcode.h"

/* Where RAND is: the seed, and how many calls there were. */
struct direct_random {
  uint64_t seed, calls;
};

/* Gets the calls of functions of the program, within `depth` others; not those of the library.
 * The values are valid during the call only. */
struct direct_trace {
  bool (*wants)(void *context); /* whether the call that begins is given, and its result */
  void (*call)(void *context, unsigned depth, const char *name, const struct nesl_value *);
  void (*result)(void *context, unsigned depth,
                 const struct nesl_value *); /* NULL: it failed */
  void *context;
  unsigned most_depth; /* deeper calls are not asked for */
};

/* An instance of an apply-to-each: that of the elements of this index in its sources. */
struct direct_instance {
  const struct core *each;
  uint64_t index;
};

/* The instances that a failure is in, innermost first, in the session's arena. There are none
 * after instances have drawn random numbers, which are others than those of compiled programs.
 */
struct direct_instances {
  const struct direct_instance *list;
  size_t count;
};

struct direct_options {
  FILE *out;                    /* what print functions write */
  uint64_t most_steps;          /* 0: no limit */
  uint64_t most_depth;          /* of calls; 0: as far as the stack reaches, about 300,000 */
  struct direct_random *random; /* where RAND begins, and, after a success, where it has ended;
                                   NULL: seed 0, none */
  const struct widths *widths;  /* NULL: 64-bit FLOATs, and INTs of the session's width */
  const struct stop *stop;      /* asks the evaluation to end; or NULL */
  const struct direct_trace *trace;   /* or NULL */
  struct direct_instances *instances; /* of a failure, or NULL */
  const char *const *arguments;       /* of the program */
  size_t argument_count;
};

struct direct_cost {
  double work, depth;
};

/* Evaluates a checked expression. The value is the arena's. On a run-time error complains
 * (NESL_RUNTIME with the documented sentence first, NESL_USER, NESL_LIMIT) and returns false.
 */
bool direct_evaluate(struct session *, const struct checked *, const struct direct_options *,
                     struct complaints *, struct nesl_value *value, struct direct_cost *cost);

#endif
