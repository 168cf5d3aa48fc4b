/* private.h - contexts, functions and values as this room sees them. */
#ifndef RAVEL_LIBRAVEL_PRIVATE_H
#define RAVEL_LIBRAVEL_PRIVATE_H

#include "include/ravel.h"

#include "base/stop.h"
#include "base/text.h"
#include "neslc/session.h"
#include "vinterp/machine.h"

struct ravel_options {
  struct machine_options machine;
  char backend[32];
  char kernels[4096]; /* "": none */
  char zig[4096];     /* its file; "": it is not there */
  double seconds;     /* of a call; 0: no limit */
  uint64_t spill;     /* bytes from which on columns go to temporary files; 0: defaults */
  bool no_spills;     /* none do */
  bool optimise;
  bool compiler;
  char message[400]; /* about the last option that was refused; or "" */
  bool check_overflow;
};

/* The diagnostics of a call. */
struct ravel_messages {
  struct arena arena;
  struct diag_list diags;
};

/* The end of what a program has printed in the present call. */
struct ravel_printed {
  char bytes[2048];
  size_t length;
};

/* Compiled functions by their keys, and in the order in which they were looked up (cache.c). */
enum { RAVEL_CACHE_BUCKETS = 509 };
struct ravel_cache {
  struct ravel_function *newest, *oldest;
  size_t count;
  struct ravel_function *buckets[RAVEL_CACHE_BUCKETS];
};

struct ravel_context {
  struct ravel_options options;
  struct heap heap;   /* of all that follows; options.machine.memory_limit */
  struct arena arena; /* of the session */
  struct session *session;
  struct machine *machine;
  FILE *in, *err; /* of NESL programs: nothing comes and nothing arrives */
  FILE *out;      /* what they print: for the caller's function, and its end is kept ... */
  struct ravel_printed printed;                               /* ... here */
  bool (*write)(void *data, const char *bytes, size_t count); /* that function; or NULL */
  void *write_data;
  bool silent;         /* ... is not called: what has been printed is printed once more */
  bool unwritten;      /* it did not take what was printed: the call is to end */
  char folder[4096];   /* of compiled superoperators */
  char remark[512];    /* what the back end has said last, or "" */
  bool remarked;       /* ... which nobody has asked for */
  atomic_bool refused; /* a program was refused a file or a process */
  bool no_room;        /* a result had no room in a temporary file */
  struct stop stop;
  atomic_int interrupt; /* what stop.signal points to */
  bool usable;          /* it was made completely */
  bool deep;            /* it works on a large stack (ravel_deep) */

  struct heap message_heap;       /* so that running out of memory can be reported */
  struct ravel_messages slots[2]; /* the present call's, and those of the last that failed */
  struct ravel_messages *failed;  /* one of them, or NULL */
  struct diag_list *diags;        /* of the present call: of the other one */
  enum ravel_code code;           /* of the last call that failed */
  struct text message;            /* the failed one's as text */
  struct text said;               /* what a function returned as text, until the next call */

  struct region *type_region;         /* of the types, so that their datatypes stay */
  struct scoped_map type_numbers;     /* types by a hash of what they consist of, ... */
  ARRAY(struct ravel_type *) types;   /* ... and by number */
  struct type *base[TYPE_CHAR + 1];   /* int, float, bool, char */
  const char *file;                   /* whose forms are executed; NULL: none */
  uint64_t generation;                /* changes with the session's definitions */
  struct ravel_function *functions;   /* all, newest first */
  struct ravel_cache cache;           /* of some of them */
  struct ravel_value *values;         /* all, newest first */
  struct ravel_spill *spills;         /* that vectors are on, or are to be */
  struct ravel_statistics statistics; /* of the last call and compilation */
  bool (*progress)(void *data);
  void *progress_data;
  pthread_mutex_t callbacks; /* of the caller: one is executed at a time */
  bool in_callback;
  const struct ravel_calling *calling; /* the present ravel_call, or NULL */
};

/* A call of a function: by ravel_call, or in the reference interpreter. */
struct ravel_calling {
  const struct ravel_function *f;
  struct ravel_value *const *arguments;
  size_t count;
  uint64_t seed, randoms;    /* where RAND was when it began */
  struct nesl_value *values; /* of the arguments, on the host: ravel_fetch_arguments */
};

/* The columns of a value, in the order of neslc/value.h. `tags` has the base type of their
 * elements, or TYPE_SEQUENCE where they are lengths; `within` is as ir_program.entry_layout.
 * The columns of ravel.h lack the lengths of whole sequences: these are one segment, as long as
 * the column that follows. */
struct ravel_layout {
  uint32_t count; /* of ravel.h's columns */
  const uint8_t *tags;
  const uint32_t *within;
};
static inline bool ravel_is_column(const struct ravel_layout *l, uint32_t i) {
  return l->tags[i] != TYPE_SEQUENCE || l->within[i] != IR_ONE;
}

/* A type of data: each exists once in a context, so that equal types are the same pointer. */
struct ravel_type {
  struct type type;
  const char *text;                  /* as NESL writes it, of a long one the beginning */
  const char *whole;                 /* all of it; NULL: not yet */
  uint32_t levels;                   /* sequences and tuples within each other */
  uint32_t nesting;                  /* likewise, where a tuple of n counts as n */
  uint32_t columns;                  /* of a value */
  const struct ravel_layout *layout; /* NULL: not yet */
};

/* The meaning of a name: `meaning` is for comparison alone, and may be gone. */
struct ravel_mention {
  const struct name *name;
  const struct global *meaning;
};

/* A function. The caller releases it, or the context keeps it for the next one who looks for
 * the same. */
struct ravel_function {
  struct ravel_context *context;
  struct ravel_function *next, **link; /* of the context's list */
  uint64_t references;                 /* callers', and one of the context's if it is cached */
  bool cached;                         /* ravel_find and the like may give it again; then: */
  struct ravel_function *newer, *older, *next_of_bucket; /* of the cache */
  uint64_t key_hash;
  uint64_t generation;            /* up to which it is known to be up to date */
  struct arena arena;             /* of the program and of what follows */
  struct arena work;              /* of the compiler, while it works */
  const char *key;                /* what it was found by: name and types */
  const char *user_key;           /* ravel_keep; or NULL */
  struct global *global;          /* what was compiled; NULL: an expression */
  struct region *own;             /* of an expression ... */
  struct ravel_mention *mentions; /* ... and what its text names; */
  size_t mention_count;
  bool constants[2];       /* f and t, if it mentions the constants */
  struct core *whole;      /* its body; NULL: a program of VCODE */
  struct global *callee;   /* what has it as its body, as it was; or NULL */
  uint32_t local_count;    /* without a callee: of the body */
  struct region **regions; /* that it needs, all held: what is redefined stays */
  size_t region_count;
  struct type **takes; /* of parameter i; kept types */
  struct type **rest;  /* of parameters i and above, as a tuple */
  struct type *gives;
  uint32_t take_count;
  const char *takes_text;
  const uint32_t
      *layout; /* of a program of VCODE: of its results, as ir_program.entry_layout */
  const struct ir_program *program; /* its entry takes and returns columns (neslc/value.h) */
  struct machine_program *prepared;
};

/* One instance of its type: its columns, in the order of neslc/value.h, each a reference to a
 * value of the back end. */
struct ravel_value {
  struct ravel_context *context;
  struct ravel_value *next, **link; /* of the context's list */
  uint64_t references;
  struct type *type;    /* ravel_type_kept */
  const void *borrowed; /* what columns[1] is on, until its release: imported.c. Or NULL */
  bool lost;            /* it shared what was borrowed, and there was no memory to keep it */
  struct ravel_view *views; /* until its release: columns-out.c */
  uint32_t count;
  struct cvl_value columns[];
};

/* ---- errors.c ---- */

/* Every function of ravel.h that may fail begins with this and returns by ravel_fail and its
 * kin. Diagnostics of the call go to c->diags. False if the context cannot be used: the
 * function then returns RAVEL_MISUSE. */
bool ravel_begin(struct ravel_context *);
/* Adds an error. The diagnostics of this call become the context's messages. Returns the code.
 */
enum ravel_code ravel_fail(struct ravel_context *, enum ravel_code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fails with the diagnostics that were added; returns the code. */
enum ravel_code ravel_failed(struct ravel_context *, enum ravel_code);
/* Fails after a function of the machine that has failed and said why; returns the code. */
enum ravel_code ravel_fail_machine(struct ravel_context *);
/* Returns the code of such a failure. */
enum ravel_code ravel_code_of_machine(const struct ravel_context *);
/* Fails for lack of memory, or because the call was asked to end; returns the code. */
enum ravel_code ravel_fail_memory(struct ravel_context *);
/* Returns RAVEL_INTERRUPTED or RAVEL_LIMIT, after ravel_fail, if the call is asked to end; else
 * RAVEL_OK. */
enum ravel_code ravel_stopped(struct ravel_context *);
/* Returns the code for callers of an error of the compiler. */
enum ravel_code ravel_code_of(enum nesl_error);

/* Ends work that may have added errors. Returns RAVEL_MEMORY if allocations of the context's
 * heap have failed since there were so many failures; else the reason it was asked to end for,
 * or `code`. */
enum ravel_code ravel_fail_work(struct ravel_context *, enum ravel_code, uint64_t failures);

/* ---- context.c ---- */

/* These stand around a call of a function of the caller, which may not use the context. */
void ravel_callback_begin(struct ravel_context *);
void ravel_callback_end(struct ravel_context *);

/* ---- printed.c ---- */

/* Opens the stream that programs print to; NULL without memory. */
FILE *ravel_printed_open(struct ravel_context *);
/* Drops what is printed as long as the context is silent. */
void ravel_set_silent(struct ravel_context *, bool silent);
/* Returns the text of the `error` that ended a program, in the arena; NULL if it is not there.
 */
const char *ravel_printed_by_error(struct ravel_context *, struct arena *);

/* ---- work.c ---- */

/* Work that allocates from arenas: where memory fails it ends in ravel_fail_memory. */
typedef enum ravel_code ravel_work(struct ravel_context *, void *data);
enum ravel_code ravel_guarded(struct ravel_context *, ravel_work *, void *data);
/* Works on a stack that is large enough for whatever the compiler accepts. The calling thread
 * waits, and calls progress. */
enum ravel_code ravel_deep(struct ravel_context *, ravel_work *, void *data);
/* Works as ravel_guarded does, with a region for a form (neslc/region.h). */
enum ravel_code ravel_in_form(struct ravel_context *, ravel_work *, void *data);

/* ---- define.c ---- */

/* Makes a text a source of the session, whose region lives until it is collected; hold it. Ends
 * in memory_failed. */
struct source *ravel_source(struct ravel_context *, const char *name, const char *text,
                            size_t length, uint32_t first_line);
/* Reads the only form of a source and checks it. Returns false with complaints. */
bool ravel_read_form(struct ravel_context *, const struct source *, struct complaints *,
                     struct checked *);

enum { RAVEL_MOST_TEXT = 1 << 29 }; /* bytes of a text to be read */

/* Fetches a column to the host, into the session's arena, for the kind of its type (enum
 * column_kind). Returns false with a diagnostic of the machine. */
bool ravel_fetch(struct ravel_context *, const struct cvl_value *, uint8_t kind,
                 struct column *);

/* Executes the forms of a source, which is a file. */
enum ravel_code ravel_execute(struct ravel_context *, const struct source *);
/* Reads a text from a file that was opened. */
enum ravel_code ravel_read_file(struct ravel_context *, const char *path, int fd,
                                struct text *);

/* ---- modules.c ---- */

/* Executes import "file" as m. */
enum ravel_code ravel_import_module(struct ravel_context *, const struct form *,
                                    struct complaints *);

/* ---- cache.c ---- */

/* Returns the function with this key in the cache, or NULL. It counts as looked up just now. */
struct ravel_function *ravel_cache_find(struct ravel_context *, const char *key);
/* Adds a function under its key, which is not there, and passes a reference to the cache. If
 * there are too many, the one that was not looked up for longest is removed. */
void ravel_cache_add(struct ravel_context *, struct ravel_function *);
/* Removes a function, if it is there, and releases the cache's reference. */
void ravel_cache_remove(struct ravel_context *, struct ravel_function *);

/* ---- find.c, fresh.c, call.c ---- */

/* Makes a function without a program; returns NULL without memory. */
struct ravel_function *ravel_function_new(struct ravel_context *);
/* Optimises a function's program, unless that was done, and makes it ready. Returns false with
 * complaints or diagnostics. May end in memory_failed. */
bool ravel_function_prepare(struct ravel_context *, struct ravel_function *);
/* Notes the names in an expression that is compiled in a region of its own. Ends in
 * memory_failed. */
void ravel_function_note_mentions(struct ravel_function *, struct region *own);
/* Returns whether a function is what would be compiled for these types now; NULL stands for the
 * types of its definition.
 */
bool ravel_function_is_fresh(struct ravel_context *, struct ravel_function *,
                             const char *types);
/* Sets the function's parameters by splitting the type of its argument, which is kept. */
void ravel_function_takes_type(struct ravel_function *, struct type *argument);
/* Runs a function: results[0 .. result_count) are the caller's. */
enum ravel_code ravel_run(struct ravel_context *, const struct ravel_function *,
                          const struct cvl_value *arguments, uint64_t argument_count,
                          struct cvl_value *results, uint64_t result_count);
/* Reports a run that failed, in terms of the function's text. */
enum ravel_code ravel_fail_run(struct ravel_context *, const struct ravel_function *,
                               enum machine_outcome, const struct diag_list *reported);
/* Checks that a function may be called with these arguments, for a result at `result`; fails by
 * ravel_fail. */
enum ravel_code ravel_check_call(struct ravel_context *, const struct ravel_function *,
                                 struct ravel_value *const *arguments, size_t count,
                                 const void *result);

/* ---- interpret.c, instances.c ---- */

struct direct_options;
struct direct_cost;
/* Copies the arguments of a call to the host, within a form. Returns false with a diagnostic of
 * the machine. */
bool ravel_fetch_arguments(struct ravel_context *, struct ravel_calling *);
/* Executes a call in the reference interpreter, for its cost or its failure, within a form.
 * Returns false with complaints. */
bool ravel_interpret(struct ravel_context *, const struct ravel_calling *,
                     const struct direct_options *, struct complaints *, struct direct_cost *);
/* Notes the instances that the failure of the present call is in, if it is found again within
 * bounds. It is called within a form. */
void ravel_note_instances(struct ravel_context *);

/* ---- program.c ---- */

/* Checks that the results of a program of VCODE are columns of its type; fails by ravel_fail.
 */
enum ravel_code ravel_check_results(struct ravel_context *, const struct ravel_function *,
                                    const struct cvl_value *results, uint64_t count);

/* ---- types.c ---- */

/* Begins the types of a context. Ends in memory_failed. */
void ravel_types_begin(struct ravel_context *);
/* Returns the type with this text, within a form. Ends in memory_failed. */
struct type *ravel_type_read(struct ravel_context *, const char *text);
/* Returns for each column of a kept type the one whose total is its length, or IR_ONE, as in
 * ir_program.entry_layout. *tags, unless it is NULL, becomes the columns' tags (ravel_layout).
 * Both are in the arena. It is called within a form, and may end in memory_failed. */
const uint32_t *ravel_type_layout(struct ravel_context *, struct arena *, struct type *kept,
                                  const uint8_t **tags);
/* Returns the kept type that equals a type. NULL, after ravel_fail, if it is no type of data or
 * is too large. Ends in memory_failed. */
struct type *ravel_type_kept(struct ravel_context *, struct type *);
/* Return types made of these kept types; NULL after ravel_fail. */
struct type *ravel_type_sequence(struct ravel_context *, struct type *element);
struct type *ravel_type_pair(struct ravel_context *, struct type *left, struct type *right);
/* Return the layout of values and of results, kept with the type; NULL after ravel_fail. */
const struct ravel_layout *ravel_layout_of(struct ravel_context *, struct type *kept);
static inline uint32_t ravel_type_columns(const struct type *kept) {
  return ((const struct ravel_type *)kept)->columns;
}
/* Returns the text of a type for messages. */
static inline const char *ravel_type_text(const struct type *kept) {
  return ((const struct ravel_type *)kept)->text;
}
/* Returns the text for callers, who may give it back as a type; its beginning where there is no
 * memory for all.
 */
const char *ravel_type_whole(struct ravel_context *, struct type *kept);

/* ---- values.c ---- */

/* Makes a value whose columns, all without a value, the caller fills in. Returns NULL, after
 * ravel_fail, without memory. ravel_release frees it, whatever has been filled in. */
struct ravel_value *ravel_value_new(struct ravel_context *, struct type *kept);
/* Returns whether it is a value of this context, after ravel_fail with RAVEL_MISUSE if not. */
bool ravel_value_is_ours(struct ravel_context *, const struct ravel_value *);
/* Makes a value for a flat sequence of so many of these elements at `data`, except for its
 * columns[1]. Returns NULL after ravel_fail. */
struct ravel_value *ravel_value_flat(struct ravel_context *, enum ravel_element,
                                     const void *data, size_t length);

/* ---- imported.c ---- */

/* Columns of fewer bytes are copied, and no memory of a caller is kept for them: a copy costs
 * about what keeping does. */
#ifdef RAVEL_DEBUG
enum { RAVEL_WORTH_BORROWING = 64 };
#else
enum { RAVEL_WORTH_BORROWING = 16 << 10 };
#endif
/* Returns whether a vector of these elements can be one on the caller's memory, and is large
 * enough. The other makes that vector, which is borrowed until the value is released. */
bool ravel_is_worth_borrowing(const struct ravel_context *, enum ravel_element, size_t length);
enum ravel_code ravel_borrow_vector(struct ravel_context *, enum ravel_element,
                                    const void *data, size_t length, struct ravel_value **out);
/* Gives the columns of a value up. It no longer borrows; other values that share the borrowed
 * elements get a copy. */
void ravel_drop_columns(struct ravel_value *);

/* ---- columns-out.c ---- */

/* Ends the views that callers have of a value. */
void ravel_end_views(struct ravel_value *);

/* ---- spills.c ---- */

/* Lends the elements of a vector where they are, as machine_value_export does, also of one that
 * is on a temporary file. */
bool ravel_export_vector(struct ravel_context *, const struct cvl_value *, struct cvl_export *);

/* ---- elements.c ---- */

/* Makes a vector from elements in host memory, of any alignment, in the widths of the machine.
 */
enum ravel_code ravel_elements_in(struct ravel_context *, enum ravel_element, const void *data,
                                  size_t length, struct cvl_value *out);
/* Returns whether a vector of the context has such elements as they are. */
bool ravel_elements_agree(const struct ravel_context *, enum ravel_element);
/* Copies elements first .. first + count of a vector to host memory. */
enum ravel_code ravel_elements_out(struct ravel_context *, const struct cvl_value *,
                                   enum ravel_element, size_t first, size_t count, void *data);
/* Returns the type of these elements in the back end. */
enum cvl_elem ravel_elem_for(const struct ravel_context *, enum ravel_element);
/* Returns the bytes of one element. */
size_t ravel_element_bytes(enum ravel_element);
/* Returns the type of a sequence's elements that come as these; TYPE_STREAM if there is none.
 */
enum type_tag ravel_element_type(enum ravel_element);
/* Returns whether they are offsets of rows. */
static inline bool ravel_are_offsets(enum ravel_element element) {
  return element == RAVEL_OFFSETS32 || element == RAVEL_OFFSETS64;
}

#endif
