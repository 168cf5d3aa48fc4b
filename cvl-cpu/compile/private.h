/* private.h - what the files of compile.h have in common: compile.c decides which codes
 * are compiled, and when; compilation.c compiles those of one file; load.c names and
 * loads what is kept.
 */
#ifndef RAVEL_CPU_COMPILE_PRIVATE_H
#define RAVEL_CPU_COMPILE_PRIVATE_H

#include "cvl-cpu/compile/compile.h"
#include "cvl-cpu/compile/compiler.h"
#include "fused-kernels/emit.h"

#include <pthread.h>

/* Compilations under way: the program wants the processors too. */
enum { MOST_AT_ONCE = 2, MOST_WHEN_IT_PAYS = 1 };

#define COMPILED_PREFIX "ravel-"
#define COMPILED_SUFFIX ".so"
enum { COMPILED_NAME = SHA256_DIGITS + 16 };

/* A file that is being compiled. */
struct compilation {
  uint32_t members; /* codes that are to be in it; 0: none is under way */
  pid_t process;
  int scratch; /* the directory the compiler writes into */
  char scratch_name[NAME_MAX + 1];
  char file[COMPILED_NAME];
};

struct compile_cache {
  pthread_mutex_t lock; /* of all that changes, here and in all codes */
  struct heap *heap;
  struct compiled_code *codes; /* those that are not compiled ahead of time */
  struct cvl_stop stop;        /* ends waits for compilers */
  struct cvl_speaker say;
  struct ahead *ahead; /* what was compiled ahead of time, or NULL */
  struct widths widths;
  bool compiles; /* the rest */
  bool waits, when_it_pays;
  struct compilation compilations[MOST_AT_ONCE];
  size_t unasked; /* bytes of texts that are compiled without a question */
  struct compiler compiler;
  int directory;   /* as it was opened and checked; -1: not yet */
  bool given_up;   /* nothing more is compiled */
  bool one_by_one; /* a file of several could not be compiled */
  char path[];
};

enum code_state { WAITING, COMPILING, READY, FAILED };

struct compiled_code {
  struct compile_cache *cache;
  struct compiled_code *next; /* in cache->codes */
  uint32_t references;
  enum code_state state;
  bool unasked;                    /* counted in cache->unasked */
  bool wanted;                     /* its compilation may begin, together with others */
  struct compilation *compilation; /* COMPILING */
  void *library;            /* READY, unless compiled ahead of time: that of the file `from` */
  char from[COMPILED_NAME]; /* in the directory, as is the name of the code */
  char name[COMPILED_NAME];
  char prefix[FUSED_NAME_MAX];
  size_t length;
  char text[];
};

/* load.c. Opens the directory unless it is open, making it and the one it is in. False
 * if it is not there, or not to be trusted, which is reported. */
bool compile_directory(struct compile_cache *, bool make);
/* Compiles nothing more; reports an error of the system unless compiling has to pay. */
void compile_complain(struct compile_cache *, int error);
/* The names of a code, and of the file of a compilation: of one code, they are the same. */
void compile_name(struct compiled_code *);
void compile_name_file(const struct compile_cache *, struct compilation *);
/* Whether a file is kept. */
bool compile_is_kept(const struct compile_cache *, const char *file);
/* Makes the code READY if it is kept under its name, or in a file. */
void compile_load(struct compiled_code *);
void compile_load_from(struct compiled_code *, const char *file);

/* compilation.c. Compiles this code and others that are wanted: they are COMPILING, or READY,
 * or have FAILED. */
void compilation_start(struct compile_cache *, struct compilation *, struct compiled_code *);
/* Looks whether it is over, if it is under way, or waits for that: then its codes are READY, or
 * have FAILED, or, if the compiler has failed for several, are WAITING to be compiled alone. */
void compilation_look(struct compile_cache *, struct compilation *, bool wait);
/* Takes a code out; ends the compilation if it was the last. */
void compilation_leave(struct compiled_code *);

#endif
