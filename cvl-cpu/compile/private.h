/* private.h - declarations that the files of compile.h share. compile.c decides which codes are
 * compiled, and when. compilation.c compiles the codes of one file. load.c names and loads
 * files.
 */
#ifndef RAVEL_CPU_COMPILE_PRIVATE_H
#define RAVEL_CPU_COMPILE_PRIVATE_H

#include "cvl-cpu/compile/compile.h"
#include "cvl-cpu/compile/compiler.h"
#include "fused-kernels/emit.h"

#include <pthread.h>

/* The most compilations under way. There are few because the program needs processors too. */
enum { MOST_AT_ONCE = 2, MOST_WHEN_IT_PAYS = 1 };

#define COMPILED_PREFIX "ravel-"
#define COMPILED_SUFFIX ".so"
enum { COMPILED_NAME = SHA256_DIGITS + 16 };

/* A file that is being compiled. */
struct compilation {
  uint32_t members; /* codes that the file is to have; 0: no compilation is under way */
  pid_t process;
  bool soon;    /* as its code */
  double begun; /* clock_seconds */
  int scratch;  /* the directory that the compiler writes into */
  char scratch_name[NAME_MAX + 1];
  char file[COMPILED_NAME];
};

struct compile_cache {
  pthread_mutex_t lock; /* protects all that changes, here and in all codes */
  struct heap *heap;
  struct compiled_code *codes; /* the codes that are not compiled ahead of time */
  struct cvl_stop stop;        /* ends the waiting for compilers */
  struct cvl_speaker say;
  struct ahead *ahead; /* codes compiled ahead of time, or NULL */
  struct widths widths;
  bool compiles; /* whether other codes are compiled */
  bool waits, when_it_pays;
  _Atomic bool has_found; /* a code that is ready */
  struct compilation compilations[MOST_AT_ONCE];
  size_t unasked; /* bytes of the texts that are compiled without a question */
  struct compiler compiler;
  int directory;   /* opened and checked; -1: not yet */
  bool given_up;   /* nothing more is compiled */
  bool failed;     /* it was said that the compiler fails */
  bool one_by_one; /* a file of several could not be compiled */
  char path[];
};

enum code_state { WAITING, COMPILING, READY, FAILED };

struct compiled_code {
  struct compile_cache *cache;
  struct compiled_code *next; /* in cache->codes */
  uint32_t references;
  enum code_state state;
  bool alone;                      /* in a file by itself, without the common beginning */
  bool soon;                       /* compiled with little optimisation */
  bool unasked;                    /* counted in cache->unasked */
  bool wanted;                     /* its compilation may begin, together with others */
  struct compilation *compilation; /* in state COMPILING */
  double spent_before, spent;      /* without it: by earlier processes, by this one */
  /* in state READY, unless compiled ahead of time: the library of the file `from` */
  void *library;
  char from[COMPILED_NAME]; /* a file in the directory; the name of the code is there too */
  char name[COMPILED_NAME];
  char prefix[FUSED_NAME_MAX];
  size_t length;
  char text[];
};

/* load.c. Opens the directory unless it is open. If `make`, creates it and its parent. Returns
 * false if it does not exist or is not to be trusted; the latter is reported. */
bool compile_directory(struct compile_cache *, bool make);
/* Ends compiling for good, and reports why. */
void compile_end(struct compile_cache *, const char *why);
/* Ends compiling for good. Reports an error of the system, unless compiling has to pay. */
void compile_complain(struct compile_cache *, int error);
/* Compute the names of a code, and of the file of a compilation. They are equal if the file has
 * one code. */
void compile_name(struct compiled_code *);
void compile_name_file(struct compile_cache *, struct compilation *);
/* Keeps, for later processes, what was spent without a code that is not there. */
void compile_keep_spent(struct compiled_code *);
/* Whether a file is in the directory. */
bool compile_is_kept(const struct compile_cache *, const char *file);
/* Makes the code READY if it is kept under its name, or in a file. */
void compile_load(struct compiled_code *);
void compile_load_from(struct compiled_code *, const char *file);

/* compilation.c. Compiles this code and others that are wanted. Afterwards they are COMPILING,
 * or READY, or have FAILED. */
void compilation_start(struct compile_cache *, struct compilation *, struct compiled_code *);
/* Looks whether a compilation under way has ended, or waits for its end. Its codes are then
 * READY, or have FAILED. If the compiler has failed for several, they are WAITING to be
 * compiled alone. */
void compilation_look(struct compile_cache *, struct compilation *, bool wait);
/* Takes a code out of its compilation, which ends if this was the last. */
void compilation_leave(struct compiled_code *);

#endif
