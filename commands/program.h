/* program.h - a program in memory: read, parsed and checked, for every command that takes one.
 */
#ifndef RAVEL_PROGRAM_H
#define RAVEL_PROGRAM_H

#include "commands/shared-options.h"
#include "commands/source.h"
#include "ir/ir.h"

/* The options of the command line about the program. */
struct program_options {
  const char *file;                    /* "-": standard input */
  const char *sop;                     /* definitions of superoperators, or NULL */
  const struct shared_options *shared; /* widths that are given are not taken from the file */
};

/* A loaded program with everything it needs to stay alive. */
struct program {
  struct heap heap; /* of the program, within the memory limit */
  struct arena arena;
  struct heap message_heap; /* the program's limit must not silence messages */
  struct arena messages;
  struct diag_list diags;
  struct source_text source;
  struct source_text sop;
  /* Paths made here: diagnostics borrow them. */
  char sop_path[4096], output_path[4096], cache_path[4096];
  struct widths widths; /* those of the run */
  struct vcode_program *vcode;
  const struct ir_program *ir;
};

/* An empty program; memory_limit in bytes, 0: none. Release with program_free. */
void program_init(struct program *, uint64_t memory_limit);
void program_free(struct program *);

/* Reads and parses: `vcode`. In the widths that the file records, or else those of the options
 * (64/64 if there are none); an option that contradicts the file is an error. A program that
 * uses superoperators and defines none takes them from options->sop, or from PROGRAM.sop beside
 * it if that exists. False with diagnostics. */
bool program_parse(struct program *, const struct program_options *);
/* Also builds the let-form: `ir`. False with diagnostics. */
bool program_load(struct program *, const struct program_options *);
/* After a failure: if the command was asked to end (process.h), that is all that is said of it.
 * Always false. */
bool program_stopped(struct program *, const char *file);

#endif
