/* profile.h - what a run did and how long it took: per opcode, per function and per
 * superoperator.
 *
 * Counts are those of vcode.md, section 21.8: an executed instruction is one that does work on
 * values (no COPY, POP, CPOP, CALL, RET, IF, ELSE, ENDIF, CONST); work is elements read plus
 * elements written; steps are 1, for scans, reductions and ranks over n elements ceil(log2 n).
 * A superoperator is one instruction, whose work is its operands and results. A *pass* is an
 * elementwise instruction or a superoperator on more than one element.
 *
 * Batch calls that were cut have a line for each function: how many, how many chunks,
 * instances of the smallest and the largest, bytes that one needed, what bound their size.
 *
 * A superoperator has a row for each way in which it was executed: what compiled functions
 * leave of it depends on whether there are several segments.
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
  uint64_t bytes;         /* of the elements read and written */
  uint64_t over;          /* elements scanned, reduced or ranked: gives the steps */
  uint64_t passes;        /* 1 at most, unless a superoperator was executed node by node */
  uint32_t superop;       /* FUSED: its row, by profile_superop */
  double seconds;
};

/* Of runs on this back end (the name is borrowed); without `instructions` they are not counted,
 * and only the sums of the run are printed. NULL: no memory. */
struct profile *profile_new(struct heap *, const char *backend, bool instructions);
void profile_free(struct profile *); /* NULL is ignored */
/* Where the tuning values are from; borrowed. */
void profile_tuned(struct profile *, const char *from);
/* Forgets all runs; rows stay. From now on the statistics of the back end count from these. */
void profile_begin(struct profile *, const struct cvl_statistics *);

/* The row of the function with this name, made if new (the name is copied): the handle for the
 * two calls below. Row 0, "(other)", when memory fails. */
uint32_t profile_function(struct profile *, const char *name);

/* A superoperator, and how much of it is compiled, such as "split", with the reasons. Texts are
 * copied. */
struct profile_superop {
  uint32_t number;
  const char *compiled, *reasons; /* on one line, perhaps empty */
  const char *formula;
};
/* The same for a superoperator. */
uint32_t profile_superop(struct profile *, const struct profile_superop *);
/* The row that was remembered under a key; false if none was. */
bool profile_superop_known(const struct profile *, uint64_t key, uint32_t *row);
void profile_superop_remember(struct profile *, uint64_t key, uint32_t row);

/* Counts a call of the function. */
void profile_call(struct profile *, uint32_t function);
/* Counts an instruction that the function executed itself. */
void profile_instruction(struct profile *, uint32_t function, const struct profile_entry *);
/* What the size of a chunk is bound by (instances/chunks.h). */
enum chunk_bound {
  CHUNK_FORCED,
  CHUNK_BUDGET,
  CHUNK_LIMIT,
  CHUNK_DISTRIBUTED, /* nothing: each is what has been distributed to one process of a job */
  CHUNK_BOUNDS
};

/* The chunks of a batch call that has been cut. */
struct cut_counts {
  uint64_t chunks, least, most; /* how many, and instances of the smallest and the largest */
  uint64_t peak;                /* bytes that one of them needed */
  unsigned threads;             /* with chunks of their own; 0: one chunk after the other */
};
/* Counts such a call of the function; `bound`: of its last chunk. */
void profile_cut(struct profile *, uint32_t function, const struct cut_counts *,
                 enum chunk_bound);
/* Adds what the second profile, of the same program, has counted, and begins that anew. */
void profile_add(struct profile *, struct profile *);
/* Adds the wall-clock time of a whole run; the statistics of its back end are those of all runs
 * so far. */
void profile_run(struct profile *, double seconds, const struct cvl_statistics *);

struct machine_totals profile_totals(const struct profile *);
/* Tables for people, most time first, or one JSON object with the same numbers. */
void profile_print(const struct profile *, FILE *, bool json);

#endif
