/* ravel.h - nested data parallelism in a C program: functions written in NESL, called on the
 * program's data, on every core of a CPU or on a GPU.
 *
 *   struct ravel_context *c;
 *   struct ravel_function *f;
 *   struct ravel_value *row, *sorted;
 *   const double data[] = {3.0, 1.0, 2.0};
 *   ravel_context_new(NULL, &c);
 *   ravel_define(c, "sorted.nesl", "function down(v) = reverse(sort(v));", 0);
 *   ravel_find(c, "down", "[float]", &f);
 *   ravel_vector(c, RAVEL_FLOAT64, data, 3, &row);
 *   ravel_call(c, f, &row, 1, &sorted);
 *
 * Codes. A function that can fail returns an enum ravel_code, RAVEL_OK on success. Its results
 * are set then, and only then. What went wrong is kept in the context until its next failing
 * call: ravel_message for people, ravel_get_diagnostic for programs. After any error the
 * context can be used on.
 *
 * Contexts. There may be any number. Each is used by one thread at a time, not always the same
 * one; only ravel_interrupt may be called from anywhere. Functions and values belong to their
 * context: they are released before it is freed, or with it. The library has no state outside
 * contexts, handles no signals, prints nothing of its own and never ends the process.
 *
 * Ownership. What a function returns by a pointer to a pointer belongs to the caller, who
 * releases it. Arguments are borrowed unless it says otherwise. Strings that are returned are
 * the context's, until its next call; strings that are given are copied.
 *
 * Values are immutable, counted, and stay in the back end's memory from call to call.
 */
#ifndef RAVEL_H
#define RAVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RAVEL_API __attribute__((visibility("default")))

struct ravel_options;
struct ravel_context;
struct ravel_function;
struct ravel_value;

enum ravel_code {
  RAVEL_OK,
  RAVEL_MISUSE,  /* a call that this header does not allow */
  RAVEL_SYNTAX,  /* NESL that cannot be read */
  RAVEL_TYPE,    /* a definition or a call whose types do not fit; an unknown name */
  RAVEL_RUNTIME, /* a program failed: an index, a division, `error` ... */
  RAVEL_DATA,    /* data from outside that cannot be imported, or values that cannot leave */
  RAVEL_MEMORY,  /* the limit of memory, or the machine's; no room for a temporary file */
  RAVEL_LIMIT,   /* the limit of time, or of the depth of calls */
  RAVEL_INTERRUPTED, /* ravel_interrupt, or a progress function that asked to stop */
  RAVEL_DENIED,      /* a file, a process or the C compiler, without permission */
  RAVEL_DEVICE,      /* the back end is not to be had, or broke */
  RAVEL_INTERNAL     /* a fault of Ravel; please report it */
};

/* Return a code's name, "RAVEL_TYPE", and a sentence on what it means: for logs, and where
 * there is no context to ask for a message. For a number that is no code both return "unknown
 * code". */
RAVEL_API const char *ravel_code_name(enum ravel_code);
RAVEL_API const char *ravel_code_text(enum ravel_code);

/* The version of this header, and for #if: 0.3.0 is 300, 1.2.3 would be 10203. */
#define RAVEL_VERSION        "0.3.0"
#define RAVEL_VERSION_NUMBER 300
/* Returns the version of the library that was linked, as "0.3.0". */
RAVEL_API const char *ravel_version(void);

/* ---- options ---- */

/* Returns options with their defaults; NULL if memory fails. */
RAVEL_API struct ravel_options *ravel_options_new(void);
/* Sets an option by name, to text as on the command line. RAVEL_MISUSE if there is no such
 * option or value.
 *
 *   backend   auto, cpu, cuda                      threads   0 (all), 1, 2 ...
 *   memory    bytes, as 500M or 2G, that values may take, and as many for texts and programs;
 *             0: 80 % of the machine's, or of the limit of its control group. Nothing is taken
 *             before it is used. Large vectors are in address space that is reserved, 16 GB at
 *             a time or more: that takes no memory, but counts for RLIMIT_AS (ulimit -v)
 *   time      seconds for a call; 0: none
 *   int       64, 32                               float     64, 32: widths of INT and FLOAT
 *   seed      of `rand`                            depth     of calls; 0: a million
 *   chunks    auto, off, N: batch calls (docs/memory.md) are executed in chunks where that
 *             keeps memory small, never, or in chunks of N instances; results are the same
 *   procedures   auto, off, always: batch calls are executed one instance after the other, by
 *             code of the system's C compiler, where that pays, never, or where it can be; so
 *             are whole calls that are made often and are short; only with `compiler` or
 *             `kernels`
 *   spool     bytes, as 64M: a stream that is imported in several arrays, or the result of a
 *             call in chunks, goes to spill files, not to memory, if it has more. 0: a
 *             sixteenth of `memory`; of a result a quarter of what is left of it. no: none do
 *   optimise  yes, no
 *   kernels   a file with code compiled ahead of time (neslc --kernels) for the back end;
 *             one that the CPU cannot use ends ravel_context_new in RAVEL_DEVICE
 *   profile   no, yes: calls are measured instruction by instruction, and take longer for it
 *   files, processes        no, yes: what NESL programs may open and start. A call that fails
 *                           after it was refused one ends in RAVEL_DENIED
 *   compiler  no, yes: superoperators and functions are compiled by the C compiler that the
 *             environment's RAVEL_CC names, or else the system's, in the background and where
 *             that pays; what is compiled is kept in the user's cache
 *   zig       the file of zig, which compiles where there is no other C compiler
 *   check_overflow  no, yes: ints that wrap around in the text of a program are errors */
RAVEL_API enum ravel_code ravel_options_set(struct ravel_options *, const char *name,
                                            const char *value);
/* Returns what was wrong with the last option that was set: which options there are, or which
 * values it takes. "" if nothing was wrong. */
RAVEL_API const char *ravel_options_message(const struct ravel_options *);
RAVEL_API void ravel_options_free(struct ravel_options *);

/* ---- contexts ---- */

/* Makes a context. `options` may be NULL, which stands for the defaults, and may be freed
 * afterwards. On an error *context is set to a context that only ravel_message,
 * ravel_get_diagnostic and ravel_context_free may be called with, or to NULL if there is no
 * memory for it. */
RAVEL_API enum ravel_code ravel_context_new(const struct ravel_options *options,
                                            struct ravel_context **context);
/* Frees a context with its functions and values: pointers to them mean nothing then. NULL is
 * ignored. */
RAVEL_API void ravel_context_free(struct ravel_context *);
/* Changes an option between calls: `time`, `depth`, or `seed`, with which random numbers begin
 * anew. Returns RAVEL_MISUSE for other options, which belong to the back end, and for values
 * they do not take. */
RAVEL_API enum ravel_code ravel_context_set(struct ravel_context *, const char *name,
                                            const char *value);
/* The state of `rand`, for callers who have several sequences of random numbers in one context:
 * its seed, and how many times it has been executed. */
struct ravel_random {
  uint64_t seed, count;
};
RAVEL_API void ravel_get_random(const struct ravel_context *, struct ravel_random *);
RAVEL_API void ravel_set_random(struct ravel_context *, const struct ravel_random *);
/* Returns the number of the CUDA device that has the context's values, or -1 where that is the
 * CPU. */
RAVEL_API int ravel_cuda_device(const struct ravel_context *);
/* Returns what the back end has remarked since the last call of this function, as one line: why
 * it does not use a GPU that there is, or does not compile superoperators as it should. "" if
 * nothing. The text is the context's until its next call. */
RAVEL_API const char *ravel_remark(struct ravel_context *);

/* Returns a line about the C compiler of the context: which it is, or that programs do without,
 * and what to install. The text is the context's until its next call. */
RAVEL_API const char *ravel_compiler(struct ravel_context *);

/* ---- what went wrong ---- */

struct ravel_diagnostic {
  int severity;     /* 0: error, 1: warning, 2: note */
  const char *file; /* as it was named, or NULL */
  uint32_t line, column;
  const char *message; /* of a note: a call on the way to the error, or an element of an
                          apply-to-each that failed; innermost first */
};

/* Returns the diagnostics of the last call that failed as text, a line each; "" if none did. */
RAVEL_API const char *ravel_message(const struct ravel_context *);
/* Gets diagnostic number i of that call, from 0. Returns false if it has fewer. */
RAVEL_API bool ravel_get_diagnostic(const struct ravel_context *, size_t i,
                                    struct ravel_diagnostic *);

/* ---- programs ---- */

/* Executes NESL definitions: of functions, datatypes and variables, whose values are computed.
 * Expressions are only checked; commands of the prompt (load, set, show ...) are refused,
 * but import "FILE" as m is executed. `name`, or NULL, stands for the text in messages, and
 * files are imported from its directory if it is a path. A length of 0 is that of a C string.
 * Of a text with an error the forms before it are defined. What programs print goes to the
 * function of ravel_on_output; what they read is empty. */
RAVEL_API enum ravel_code ravel_define(struct ravel_context *, const char *name,
                                       const char *text, size_t length);
/* Executes the definitions of a file as ravel_define does. The caller names the file, so it
 * needs no permission. */
RAVEL_API enum ravel_code ravel_load(struct ravel_context *, const char *path);

/* Looks up a function for arguments of these types, written as in NESL and separated by commas:
 * "[float], int". NULL: the types of its definition, if they leave nothing open. It is compiled
 * once for each list of types, and kept. If the name is redefined later, the function stays
 * what it was. */
RAVEL_API enum ravel_code ravel_find(struct ravel_context *, const char *name,
                                     const char *types, struct ravel_function **);
/* Makes a function of an expression of named parameters of these types: "sum(xs) * k", "xs, k",
 * "[float], float". */
RAVEL_API enum ravel_code ravel_expression(struct ravel_context *, const char *text,
                                           const char *names, const char *types,
                                           struct ravel_function **);
/* A program of VCODE or FCODE as a function: its entry (MAIN, or else the first function) takes
 * the items of the arguments, which it declares (FUNC MAIN I SEGDES INT O INT), and leaves
 * those of the result. `name`, or NULL, stands for the text in messages; a length of 0 is that
 * of a C string.
 *
 * `takes` and `gives` are the types of the parameters, separated by commas, and of the result,
 * as in NESL, whose columns the items are: of int, float, bool and char an INT, FLOAT, BOOL,
 * INT of length 1; of [T] a SEGDES, then the columns of T; of a tuple those of its components.
 * "" takes nothing. NULL: what the kinds of the items say, if that leaves nothing open (SEGDES
 * FLOAT is [float]); else RAVEL_TYPE, as where kinds and types do not fit. Widths that the text
 * declares must be the context's.
 *
 * It is optimised unless it has superoperators. Results are checked: RAVEL_RUNTIME if their
 * lengths are those of no value of the type. Not kept: each call makes another function. */
RAVEL_API enum ravel_code ravel_program(struct ravel_context *, const char *name,
                                        const char *text, size_t length, const char *takes,
                                        const char *gives, struct ravel_function **);
/* Keeps a function in its context under a key of the caller's, until the context is freed. A
 * function has one key, and a key one function. ravel_kept returns it again, borrowed, or NULL
 * if there is none. They are for code that has no memory of its own for each context, such as
 * what `neslc --library` writes. */
RAVEL_API enum ravel_code ravel_keep(struct ravel_context *, const char *key,
                                     struct ravel_function *);
RAVEL_API struct ravel_function *ravel_kept(const struct ravel_context *, const char *key);
/* Return the types of a function's parameters, separated by commas, and of its result, as in
 * NESL. */
RAVEL_API const char *ravel_function_takes(const struct ravel_function *);
RAVEL_API const char *ravel_function_gives(const struct ravel_function *);
RAVEL_API void ravel_function_release(struct ravel_function *);

/* Calls a function with `count` arguments, of its types. */
RAVEL_API enum ravel_code ravel_call(struct ravel_context *, const struct ravel_function *,
                                     struct ravel_value *const *arguments, size_t count,
                                     struct ravel_value **result);

/* ---- what a call costs ---- */

struct ravel_costs {
  double work, depth;      /* in the model of the language; NaN of a program of VCODE */
  uint64_t compiled_work;  /* elements that the compiled program reads and writes, */
  uint64_t compiled_steps; /* its vector operations, those of log n steps as so many, */
  uint64_t instructions;   /* and how many instructions are executed, without chunks */
  double seconds;          /* from arguments to result, both in the back end */
};

/* Calls a function as ravel_call does, several times, and once in a slow interpreter that
 * follows the language's definition. The result is dropped, and `rand` goes on as if nothing
 * had been called. */
RAVEL_API enum ravel_code ravel_cost(struct ravel_context *, const struct ravel_function *,
                                     struct ravel_value *const *arguments, size_t count,
                                     struct ravel_costs *);
/* Returns the profile of the last ravel_call as JSON (docs/vcode.md): counts and seconds by
 * opcode, superoperator and function. "" without the option `profile`, and before any call. */
RAVEL_API const char *ravel_profile(struct ravel_context *);
/* Returns the compiled program of a function for people, which is FCODE: each superoperator as
 * a formula in a comment, its definition, then the functions. ravel_program takes it. ""
 * without memory. Where superoperators should have been compiled and are not, a comment says
 * why. */
RAVEL_API const char *ravel_explain(struct ravel_context *, const struct ravel_function *);

/* ---- values ---- */

RAVEL_API struct ravel_value *ravel_retain(struct ravel_value *);
RAVEL_API void ravel_release(struct ravel_value *); /* NULL is fine */

enum ravel_element {
  RAVEL_BOOL8, /* bytes; any but 0 is true */
  RAVEL_INT8,
  RAVEL_INT16,
  RAVEL_INT32,
  RAVEL_INT64,
  RAVEL_UINT8,
  RAVEL_UINT16,
  RAVEL_UINT32,
  RAVEL_FLOAT32,
  RAVEL_FLOAT64,
  RAVEL_CHAR8,     /* bytes of text */
  RAVEL_OFFSETS32, /* of rows, in columns only */
  RAVEL_OFFSETS64
};

RAVEL_API enum ravel_code ravel_int(struct ravel_context *, int64_t, struct ravel_value **);
RAVEL_API enum ravel_code ravel_float(struct ravel_context *, double, struct ravel_value **);
RAVEL_API enum ravel_code ravel_bool(struct ravel_context *, bool, struct ravel_value **);
/* Makes a flat sequence by copying `length` elements at `data`, of any alignment. Returns
 * RAVEL_DATA with the first position of a value that INT does not hold. */
RAVEL_API enum ravel_code ravel_vector(struct ravel_context *, enum ravel_element,
                                       const void *data, size_t length, struct ravel_value **);
/* Makes a flat sequence without a copy where INT and FLOAT are as wide as these elements: for
 * memory that is there for some calls only. It must stay as it is until this value is released,
 * as often as it was retained and once more, or until the context is freed. Other values that
 * have these elements then, as a tuple or the result of a function that returns its argument,
 * get a copy of them at that moment. If there is no memory for it, those values can only be
 * released: other functions return RAVEL_MISUSE. */
RAVEL_API enum ravel_code ravel_borrow(struct ravel_context *, enum ravel_element,
                                       const void *data, size_t length, struct ravel_value **);
/* Makes a sequence of sequences: `rows` of them, of lengths[i] elements each of `elements`,
 * which is a sequence and is shared, not copied. */
RAVEL_API enum ravel_code ravel_nested(struct ravel_context *, const int64_t *lengths,
                                       size_t rows, struct ravel_value *elements,
                                       struct ravel_value **);
/* Makes a tuple of two values or more; their contents are shared, not copied. */
RAVEL_API enum ravel_code ravel_tuple(struct ravel_context *,
                                      struct ravel_value *const *components, size_t count,
                                      struct ravel_value **);

/* Returns a value's type as in NESL: "[(float, int)]". */
RAVEL_API const char *ravel_type(const struct ravel_value *);
/* Returns the number of elements of a sequence, or of components of a tuple, 1 of a datatype, 0
 * of a scalar. */
RAVEL_API enum ravel_code ravel_length(struct ravel_context *, const struct ravel_value *,
                                       size_t *length);
/* Gets component i of a tuple, of which (a, (b, c)) has three, as in NESL. A datatype's
 * contents are its component 0. A sequence of sequences has all elements, one behind the other
 * (0), and the lengths (1). A sequence of tuples or of a datatype has the sequences of their
 * components. Components are shared. */
RAVEL_API enum ravel_code ravel_component(struct ravel_context *, const struct ravel_value *,
                                          size_t i, struct ravel_value **);
/* Get a scalar, converted if that does not change its value; else they return RAVEL_DATA. */
RAVEL_API enum ravel_code ravel_get_int(struct ravel_context *, const struct ravel_value *,
                                        int64_t *);
RAVEL_API enum ravel_code ravel_get_float(struct ravel_context *, const struct ravel_value *,
                                          double *);
RAVEL_API enum ravel_code ravel_get_bool(struct ravel_context *, const struct ravel_value *,
                                         bool *);
/* Copies elements first .. first + count of a flat sequence. They are converted if that does
 * not change their values; else it returns RAVEL_DATA. */
RAVEL_API enum ravel_code ravel_copy(struct ravel_context *, const struct ravel_value *,
                                     enum ravel_element, size_t first, size_t count,
                                     void *data);

/* ---- columns: values of any type as flat arrays ----
 *
 * A scalar is one column of one element; a tuple or a datatype has the columns of its
 * components; a sequence of scalars has one, its elements; a sequence of tuples has those of
 * the sequences of their components; a sequence of sequences has the lengths of its rows, as
 * RAVEL_INT64, and then the columns of the sequence of all their elements. So [(int, [float])]
 * has three: the ints, the lengths of the rows, the floats of all rows.
 *
 * Offsets may stand for lengths, RAVEL_OFFSETS32 or RAVEL_OFFSETS64, one more than there are
 * rows: row i has elements offsets[i] .. offsets[i + 1] of the columns within, as in Arrow and
 * in compressed matrices. They need not begin with 0, nor end where those columns end. */

struct ravel_column {
  enum ravel_element element; /* of the type: RAVEL_CHAR8 of char, any int of int ... */
  const void *data;
  size_t length; /* elements; of offsets how many there are */
};

/* Calls a function as ravel_call does, on the columns of the arguments, one argument after the
 * other. They are borrowed for the call. Returns RAVEL_DATA if lengths do not agree. */
RAVEL_API enum ravel_code ravel_call_columns(struct ravel_context *,
                                             const struct ravel_function *,
                                             const struct ravel_column *columns, size_t count,
                                             struct ravel_value **result);
RAVEL_API enum ravel_code ravel_column_count(struct ravel_context *, const struct ravel_value *,
                                             size_t *count);
/* Copies all columns of a value into one block of memory, which the caller ends by free.
 * columns[i].element says what column i is to become, as in ravel_copy; the rest is set. The
 * block begins with the first column that is not a scalar's. */
RAVEL_API enum ravel_code ravel_columns(struct ravel_context *, const struct ravel_value *,
                                        struct ravel_column *columns, size_t count,
                                        void **block);
/* Gets the columns of a value where they are, for reading until it is released, as often as it
 * was retained and once more. `columns` is as in ravel_columns. A column of 16 KB or more in
 * the host's memory, as wide as was asked for, is not copied; the rest is, each time. */
RAVEL_API enum ravel_code ravel_view(struct ravel_context *, struct ravel_value *,
                                     struct ravel_column *columns, size_t count);

/* ---- the Arrow C data interface: docs/c-api.md has the table of types ---- */

struct ArrowSchema;
struct ArrowArray;
struct ArrowArrayStream;

/* Imports an array of Arrow as a sequence. Takes over *array, also after an error, and borrows
 * *schema. Columns that are as wide as the context's are not copied: `release` is called once,
 * when nothing refers to them any more, by some function of this library on its caller's
 * thread. */
RAVEL_API enum ravel_code ravel_import(struct ravel_context *, const struct ArrowSchema *schema,
                                       struct ArrowArray *array, struct ravel_value **);
/* Imports all arrays of a stream, one behind the other. Takes over *stream. Where they are
 * larger than the option `spool` says, each is released when it has been read, and the value is
 * in temporary files, which hold only the arrays' contents. */
RAVEL_API enum ravel_code ravel_import_stream(struct ravel_context *, struct ArrowArrayStream *,
                                              struct ravel_value **);
/* Exports a sequence as an array of Arrow, whose consumer releases both structs, on any thread;
 * they outlive the value and the context. Columns that the back end has in the host's memory
 * are not copied.
 */
RAVEL_API enum ravel_code ravel_export(struct ravel_context *, const struct ravel_value *,
                                       struct ArrowSchema *schema, struct ArrowArray *array);

/* Exports a sequence as a stream of arrays of so many rows each, the last one of fewer. 0 rows
 * stands for as many as take about 16 MB where columns are in temporary files, else for all.
 * The consumer releases the stream; it and its arrays may be used on any thread, and outlive
 * the value and the context. */
RAVEL_API enum ravel_code ravel_export_stream(struct ravel_context *,
                                              const struct ravel_value *, size_t rows,
                                              struct ArrowArrayStream *stream);

/* ---- DLPack: docs/c-api.md says which tensors ---- */

struct DLManagedTensorVersioned;
struct DLManagedTensor;

/* Imports a tensor as a sequence, of sequences if it has several dimensions. Takes over
 * *tensor, also after an error: its deleter is called once, by a function of this library on
 * its caller's thread. Its memory is read without a copy only if its flags say that nobody
 * writes there. */
RAVEL_API enum ravel_code ravel_import_dlpack(struct ravel_context *,
                                              struct DLManagedTensorVersioned *,
                                              struct ravel_value **);
/* Imports the tensor struct of before DLPack 1.0. It has no flags, so its memory is always
 * copied. */
RAVEL_API enum ravel_code ravel_import_dlpack_unversioned(struct ravel_context *,
                                                          struct DLManagedTensor *,
                                                          struct ravel_value **);
/* Exports a flat sequence as a tensor where the context has it, on the CPU or on its CUDA
 * device (char: on the CPU). Its consumer calls its deleter, on any thread; it outlives value
 * and context. If it is not copied, its flags say that it is only read. */
RAVEL_API enum ravel_code ravel_export_dlpack(struct ravel_context *,
                                              const struct ravel_value *,
                                              struct DLManagedTensorVersioned **);
/* Exports a flat sequence as the tensor struct of before DLPack 1.0, always copied. */
RAVEL_API enum ravel_code ravel_export_dlpack_unversioned(struct ravel_context *,
                                                          const struct ravel_value *,
                                                          struct DLManagedTensor **);

/* ---- what programs print ---- */

/* Sends the text that programs print (`print_string`, `error` ...) to `write`, as it comes. If
 * that is NULL, or this function is not called, the text is dropped. `write` is called during
 * calls that execute programs, on the calling thread or on one that it waits for, never at the
 * same time as a progress function, and may not use the context. If it returns false the call
 * ends with RAVEL_DATA. ravel_cost prints nothing. */
RAVEL_API void ravel_on_output(struct ravel_context *,
                               bool (*write)(void *data, const char *bytes, size_t count),
                               void *data);
/* A function for ravel_on_output that writes to standard output: ravel_on_output(c,
 * ravel_write_file, stdout). `file` is a FILE *, which is flushed each time. */
RAVEL_API bool ravel_write_file(void *file, const char *bytes, size_t count);

/* ---- watching and stopping calls ---- */

/* During long calls `progress` is called on the calling thread, at least every 0.1 s. It may
 * not use the context; if it returns false the call ends with RAVEL_INTERRUPTED. NULL: none. */
RAVEL_API void ravel_on_progress(struct ravel_context *, bool (*progress)(void *data),
                                 void *data);
/* Ends the present call, or the next if there is none, with RAVEL_INTERRUPTED. May be called by
 * any thread, and by a signal handler. */
RAVEL_API void ravel_interrupt(struct ravel_context *);
/* Forgets an interrupt that has ended no call yet: one that came when the call it was meant for
 * had ended. */
RAVEL_API void ravel_clear_interrupt(struct ravel_context *);

struct ravel_statistics {
  double seconds;         /* the last ravel_call */
  double compile_seconds; /* the last ravel_find or ravel_expression */
  uint64_t live_bytes;    /* of values and temporaries in the back end, now */
  uint64_t peak_bytes;
};
RAVEL_API void ravel_get_statistics(const struct ravel_context *, struct ravel_statistics *);

#ifdef __cplusplus
}
#endif

#endif
