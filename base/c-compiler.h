/* c-compiler.h - the C compiler that compiles what programs consist of: which one it is.
 *
 * The environment's RAVEL_CC says it, as a command whose words stand between blanks; empty, it
 * says that there is none. Otherwise it is the first of cc, gcc and clang in PATH, or else zig,
 * if the caller knows where that is. Only absolute directories of PATH count, since compilers
 * run in another directory.
 */
#ifndef RAVEL_C_COMPILER_H
#define RAVEL_C_COMPILER_H

#include "base/sha256.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

enum { C_COMPILER_WORDS = 16, C_COMPILER_TEXT = 1024, C_COMPILER_WHY = C_COMPILER_TEXT + 100 };

/* It has pointers to itself, and must not move. */
struct c_compiler {
  unsigned count;                    /* of words; 0: there is no compiler */
  char *words[C_COMPILER_WORDS + 1]; /* the first is an absolute path; then NULL */
  char path[PATH_MAX];               /* that path */
  char text[C_COMPILER_TEXT];        /* the other words */
  bool named;                        /* by RAVEL_CC */
  char why[C_COMPILER_WHY];          /* what is wrong with what it names, or "" */
};

/* Chooses the compiler. `zig` is the path of zig's file, or NULL. Returns whether there is
 * one. */
bool c_compiler_choose(struct c_compiler *, const char *zig);
/* Adds what tells it from other compilers: its words, and of the files that they name number,
 * size and date. */
void c_compiler_identify(const struct c_compiler *, struct sha256_state *);
/* Prints a line, without its end: which compiler it is, or that programs do without, and how to
 * get one. */
void c_compiler_describe(const struct c_compiler *, FILE *);

#endif
