/* shared-options.h - what the options mean that all commands have (shared-options.def). */
#ifndef RAVEL_SHARED_OPTIONS_H
#define RAVEL_SHARED_OPTIONS_H

#include "vcode/vcode.h"

#include <stdio.h>

struct shared_options {
  struct widths widths;
  bool int_given, float_given; /* by --int, --float or --classic */
  bool classic;
  uint64_t memory_limit; /* bytes; 0: machine_default_memory() */
  bool help, version;    /* say something instead */
};

/* 64 bits, and nothing given. */
struct shared_options shared_default_options(void);

enum shared_option {
#define OPTION(id, letter, name, argument, help) SHARED_##id,
#include "commands/shared-options.def"
#undef OPTION
};

/* Does what an option says; false after a complaint in the name of the command. */
bool shared_option(const char *command, enum shared_option, const char *value,
                   struct shared_options *);
/* Prints what --help or --version asks for; whether one did. */
bool shared_answered(const struct shared_options *, void (*help)(FILE *), const char *version);
/* Sets what --classic means. */
void shared_classic(struct shared_options *);

#endif
