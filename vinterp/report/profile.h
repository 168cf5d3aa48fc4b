/* profile.h - what a run did and how long it took: per opcode, per function and per
 * superoperator.
 *
 * Counts are those of vcode.md, section 21.8. An executed instruction does work on values
 * (COPY, POP, CPOP, CALL, RET, IF, ELSE, ENDIF and CONST do not). Work is elements read plus
 * elements written. Steps are 1; for scans, reductions and ranks over n elements they are
 * ceil(log2 n). A superoperator is one instruction, whose work is its operands and results. A
 * *pass* is an elementwise instruction or a superoperator on more than one element.
 *
 * Each function with batch calls that were cut has a line: number of calls and chunks,
 * instances of the smallest and the largest chunk, most bytes that one needed, and what
 * limited their size.
 *
 * Each function with batch calls that native code has executed, or given up, has a line.
 * Instructions of such calls are not counted.
 *
 * A superoperator has a row for each way in which it was executed, since it depends on the
 * number of segments which nodes compiled functions leave to others.
 */
#ifndef RAVEL_PROFILE_H
#define RAVEL_PROFILE_H

#include "base/heap.h"
#include "cvl/cvl.h"
#include "vinterp/machine.h"
#include <stdio.h>

struct profile;

/* One executed instruction. */
struct profile_entry {
  enum opcode op;
  enum type_word type;
  uint64_t read, written; /* elements */
  uint64_t bytes;         /* size of the elements read and written */
  uint64_t over;          /* elements scanned, reduced or ranked, from which steps follow */
  uint64_t passes;        /* at most 1, unless a superoperator was executed node by node */
  uint32_t superop;       /* FUSED: its row, from profile_superop */
  double seconds;
};

/* Makes a profile of runs on this back end, whose name is borrowed. Without `instructions`
 * they are not counted, and only sums of the run are printed. Returns NULL if memory runs out.
 */
struct profile *profile_new(struct heap *, const char *backend, bool instructions);
void profile_free(struct profile *); /* NULL is ignored */
/* Notes where the tuning values are from; borrowed. */
void profile_tuned(struct profile *, const char *from);
/* Forgets all runs, but keeps rows. Statistics of the back end then count from the given ones.
 */
void profile_begin(struct profile *, const struct cvl_statistics *);

/* Returns the row of the function with this name, made if it is new (the name is copied), for
 * the calls below. It is row 0, "(other)", if memory runs out. */
uint32_t profile_function(struct profile *, const char *name);

/* A superoperator, and how much of it is compiled, such as "split", with the reasons. Texts
 * are copied. */
struct profile_superop {
  uint32_t number;
  const char *compiled, *reasons; /* on one line, perhaps empty */
  const char *formula;
};
/* Returns the row of a superoperator, as profile_function does. */
uint32_t profile_superop(struct profile *, const struct profile_superop *);
/* profile_superop_known finds the row that was remembered under a key; it returns false if
 * there is none. */
bool profile_superop_known(const struct profile *, uint64_t key, uint32_t *row);
void profile_superop_remember(struct profile *, uint64_t key, uint32_t row);

/* Counts a call of the function. */
void profile_call(struct profile *, uint32_t function);
/* Counts an instruction that the function executed itself. */
void profile_instruction(struct profile *, uint32_t function, const struct profile_entry *);
/* The limit that determines the size of a chunk (instances/chunks.h). */
enum chunk_bound {
  CHUNK_FORCED,
  CHUNK_BUDGET,
  CHUNK_LIMIT,
  CHUNK_DISTRIBUTED, /* no limit: each chunk is the share of one process of a job */
  CHUNK_BOUNDS
};

/* The chunks of a batch call that has been cut. */
struct cut_counts {
  uint64_t chunks, least,
      most;         /* number of chunks; instances of the smallest and the largest */
  uint64_t peak;    /* most bytes that one of them needed */
  unsigned threads; /* that executed chunks; 0: chunks were executed in turn */
};
/* Counts such a call of the function; `bound` is that of its last chunk. */
void profile_cut(struct profile *, uint32_t function, const struct cut_counts *,
                 enum chunk_bound);
/* Counts a batch call of the function that native code has executed (`done`), or given up. */
void profile_procedure(struct profile *, uint32_t function, uint64_t instances, double seconds,
                       bool done);
/* Adds the counts of the second profile, which is of the same program, and clears that. */
void profile_add(struct profile *, struct profile *);
/* Adds the wall-clock time of a run; the statistics of its back end are those of all runs so
 * far. */
void profile_run(struct profile *, double seconds, const struct cvl_statistics *);

struct machine_totals profile_totals(const struct profile *);
/* Prints tables, most time first, or one JSON object with the same numbers. */
void profile_print(const struct profile *, FILE *, bool json);

#endif
