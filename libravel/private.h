/* private.h - contexts, functions and values as this room sees them. */
#ifndef RAVEL_LIBRAVEL_PRIVATE_H
#define RAVEL_LIBRAVEL_PRIVATE_H

#include "include/ravel.h"

#include "base/intern.h"
#include "base/stop.h"
#include "neslc/session.h"
#include "vinterp/machine.h"

struct ravel_options {
  struct machine_options machine;
  char backend[32];
  double seconds; /* of a call; 0: no limit */
  bool optimise;
};

struct ravel_context {
  struct ravel_options options;
  struct heap heap;    /* of all that follows; options.machine.memory_limit */
  struct arena arena;  /* of the session */
  struct session *session;
  struct machine *machine;
  struct stop stop;
  atomic_int interrupt; /* what stop.signal points to */

  struct heap message_heap; /* so that running out of memory can be reported */
  struct arena messages;    /* of the last call that failed */
  struct diag_list diags;
  enum ravel_code code;
  const char *message; /* diags as text; made when it is asked for */

  struct arena type_arena;
  struct intern type_names;           /* types as text ... */
  ARRAY(struct type *) types;         /* ... and as types, by the number of their text */
  struct ravel_function *functions;   /* all, newest first */
  struct ravel_value *values;         /* all, newest first */
  struct ravel_statistics statistics; /* of the last call and compilation */
  bool (*progress)(void *data);
  void *progress_data;
};

/* Released by the caller, or kept by the context for the next one who looks for the same. */
struct ravel_function {
  struct ravel_context *context;
  struct ravel_function *next;
  uint64_t references;              /* the context's own and those of callers */
  struct arena arena;               /* of the program and of what follows */
  const char *key;                  /* what it was found by: name and types */
  struct type **takes, *gives;      /* of NESL; NULL for VCODE */
  uint32_t take_count;
  const struct ir_program *program; /* its entry takes and returns columns (neslc/value.h) */
  struct machine_program *prepared;
};

/* One instance of its type: its columns, in the order of neslc/value.h, each a reference to a
 * value of the back end. */
struct ravel_value {
  struct ravel_context *context;
  struct ravel_value *next, **link; /* of the context's list */
  uint64_t references;
  struct type *type; /* ground; of context->type_arena */
  uint32_t count;
  struct cvl_value columns[];
};

/* ---- errors.c ---- */

/* Every function of ravel.h that can fail begins with the one, and returns by the other. */
void ravel_begin(struct ravel_context *);
enum ravel_code ravel_fail(struct ravel_context *, enum ravel_code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- types.c ---- */

/* The type with this text, as NESL writes it: equal types are the same pointer. NULL, after
 * ravel_fail, if it cannot be read or is no ground type of data. */
struct type *ravel_type_named(struct ravel_context *, const char *text);
/* The same type as one of these. */
struct type *ravel_type_kept(struct ravel_context *, struct type *);

/* ---- values.c ---- */

/* A value without columns, which the caller fills in; NULL, after ravel_fail, without memory. */
struct ravel_value *ravel_value_new(struct ravel_context *, struct type *);

#endif
