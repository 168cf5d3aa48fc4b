/* cvl.h - the contract between the machine and a vector library ("back end").
 *
 * A back end is one constant table of functions, `struct cvl_backend`. The machine, the tests
 * and the benchmarks use nothing else of it. The conformance suite (suite/conformance.h) holds
 * every back end to this contract, bit for bit, except that any NaN is as good as another.
 *
 * ## Values
 *
 * An operand is a `struct cvl_value`, plain data of 16 bytes:
 *
 *   CVL_SCALAR       one element known to the host, kept inside the value: no allocation
 *   CVL_VECTOR       a flat vector of the back end, immutable, reference counted
 *   CVL_ONE_SEGMENT  the descriptor of one segment whose length the host knows, kept inside
 *   CVL_SEGDES       any descriptor of the back end, immutable, reference counted
 *
 * A vector of length 1 may appear as CVL_SCALAR or as CVL_VECTOR. A descriptor of one segment
 * may appear as CVL_ONE_SEGMENT or as CVL_SEGDES. A back end accepts both everywhere and may
 * return either. BOOL elements are bytes 0 and 1. The element types of INT and FLOAT are fixed
 * for the life of a context (`struct cvl_options`).
 *
 * ## Ownership
 *
 * Operands are borrowed unless the value's `owned` flag is set. Then the reference passes to
 * the operation, which releases it in every case, failure included. It may write its result
 * into the memory if nobody else holds a reference. Results are owned by the caller, and
 * `owned` is clear in them. Copying the plain struct does not count a reference. A value that
 * stands for two owned operands needs two references.
 *
 * ## Sizes and promptness
 *
 * The contract is asynchronous. An operation may return before its work is done, and a length
 * may be *deferred*: its `struct cvl_size` then has an upper bound and a symbol. Two sizes with
 * the same non-zero symbol are equal. A symbol of 0 means that the bound is the exact size.
 * `resolve` waits for the exact size. A bound may exceed the length of every operand. The
 * caller never needs to wait for results that another operation consumes. Only one thread at a
 * time may use a context.
 *
 * ## Errors
 *
 * Operations check what their comment *requires*. A fault is recorded in the context's error
 * slot as a `struct cvl_error`. The slot keeps the fault with the lowest `site`, and for one
 * operation the fault at the lowest position. Sizes that must agree are checked before
 * elements.
 *
 * An operation that detects a fault at once returns false, and its results are not set. An
 * operation that detects a fault later delivers harmless results, of the right type and size
 * and without undefined memory. `to_host`, `resolve` and `scalar` wait for their own value, and
 * fail if it is the result of a fault. Only `check`, which may wait, can say that there is no
 * fault at all. Sites are numbers that the machine gives to operations in increasing program
 * order.
 *
 * A failed allocation is a fault like any other (CVL_E_MEMORY), never an abort.
 *
 * ## NaN
 *
 * No operation distinguishes one NaN from another, and the contract does not say which NaN a
 * result is. Operations that move elements keep sign and payload. Functions of elementary.h
 * return the NaN of the NAN macro. The NaN of an arithmetic operation is the processor's: 0.0 /
 * 0.0 has the sign bit set on x86, but need not have it elsewhere. This is visible only in the
 * bits of FLOATs that have left a back end.
 *
 * ## Elementary functions
 *
 * EXP, LOG, SIN, COS, TAN, ASIN, ACOS, ATAN, SINH, COSH and TANH have the bits of the functions
 * of elementary.h in either width, on every back end and at any position. Constant folding
 * gives the same bits. The error is less than one unit in the last place of a 64-bit FLOAT, and
 * 0.502 units of a 32-bit one.
 *
 * Sums and products of FLOATs depend on the order of combination, which trees.h fixes.
 */
#ifndef RAVEL_CVL_H
#define RAVEL_CVL_H

#include "tables/tables.h"

/* ---- values ---- */

struct cvl_vector; /* opaque: defined by the back end */
struct cvl_segdes;

enum cvl_form { CVL_NOTHING, CVL_SCALAR, CVL_VECTOR, CVL_ONE_SEGMENT, CVL_SEGDES };

struct cvl_value {
  uint8_t form;  /* enum cvl_form */
  uint8_t elem;  /* enum cvl_elem, for SCALAR and VECTOR */
  uint8_t owned; /* set in an operand: the operation takes the reference */
  union {
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    uint8_t b;
    uint64_t one_segment; /* its length */
    struct cvl_vector *vector;
    struct cvl_segdes *segdes;
  } as;
};

struct cvl_size {
  uint64_t bound;  /* the size, or an upper bound while it is deferred */
  uint64_t symbol; /* 0: bound is exact; sizes with equal symbols are equal */
};

/* ---- errors ---- */

/* An error. tables/faults.def has the kinds, and which fields each one sets. */
struct cvl_error {
  enum cvl_error_kind kind;
  uint64_t site;
  int64_t position;
  int64_t value;
  int64_t limit;
  int64_t segment;
  const char *text; /* CVL_E_DEVICE: static or owned by the context; else NULL */
};

/* ---- a context ---- */

struct cvl_context; /* opaque: defined by the back end */
struct cvl_call;    /* call.h */
struct cvl_kernel;  /* a prepared superoperator, defined by the back end: superop.h */
struct superop;     /* superop.h */
struct tuning;      /* tuning.h */

/* Asks whether an operation, which may take any time, is to end. Any thread of a back end calls
 * it now and then until the operation returns. */
struct cvl_stop {
  bool (*asks)(void *with); /* NULL: an operation is never to end */
  void *with;
};

/* The superoperators that are compiled to machine code. Results do not depend on it. A device
 * compiles what it executes in any case, and may keep the code in a directory of its own. */
enum cvl_compile {
  CVL_COMPILE_NONE,
  CVL_COMPILE_WHEN_IT_PAYS, /* in the background, those that take long and gain by it */
  CVL_COMPILE_ALL
};

/* Gets lines for the user, without a newline, on the thread that calls the back end. If `call`
 * is NULL, the lines go to standard error, after "ravel: ". */
struct cvl_speaker {
  void (*call)(void *with, const char *line);
  void *with;
};

struct cvl_options {
  enum cvl_elem int_elem;   /* CVL_I32 or CVL_I64 */
  enum cvl_elem float_elem; /* CVL_F32 or CVL_F64 */
  unsigned threads;         /* 0: as many as the machine has */
  int device;               /* -1: the back end's choice */
  /* A device is opened only when the data are large enough to be worth it. If it cannot be
   * opened then, the host does everything, and `say` gets the reason. False: `open` opens the
   * device, and fails if it cannot. */
  bool opens_late;
  uint64_t memory_limit;    /* bytes for vectors and scratch memory; 0: no limit */
  uint64_t fail_allocation; /* tests: the n-th allocation from now fails; 0: none */
  enum cvl_compile compile;
  /* waits for compilations: for all that were asked for, and for those of a device */
  bool compile_waits;
  const char *compile_directory; /* compiled code is kept there; NULL: as CVL_COMPILE_NONE */
  const char *zig; /* its file, which compiles where no other C compiler is; or NULL */
  /* a file of superoperators compiled ahead of time, by fcodeopt --emit-cpu or --emit-cuda;
   * NULL: none */
  const char *kernels;
  /* whether times of cvl_statistics are wanted, at some cost; without it they may be 0 */
  bool measure;
  bool spans; /* whether spans of procedures are wanted; without it there may be none */
  /* ends operations with CVL_E_STOPPED, soon, however long they are; a device first completes
   * the work that it has been given */
  struct cvl_stop stop;
  /* gets the reason why superoperators that should be compiled are not, or why a device is not
   * used */
  struct cvl_speaker say;
  /* values other than the defaults (tuning.h), which `open` reads; or NULL */
  const struct tuning *tuning;
};

/* A device, or a machine, that a back end can run on. */
struct cvl_device {
  char name[128];
  uint64_t memory;       /* bytes; 0: not known */
  unsigned processors;   /* cores, multiprocessors */
  unsigned architecture; /* of a GPU: ten times its compute capability; else 0 */
  bool unusable;         /* `open` would refuse it */
  char remark[200];      /* why it is unusable, or another remark, as one line; "": none */
};

struct cvl_statistics {
  /* bytes of vectors and descriptors that anybody holds now; without borrowed memory, and
   * without exports whose vector is gone */
  uint64_t live_bytes, peak_bytes;
  uint64_t recent_peak_bytes; /* the peak since restart_peak */
  /* the number of requests so far, which fail_allocation counts */
  uint64_t allocations;
  uint64_t waits; /* host reads that found their value not ready */
  /* Totals so far of a device with memory of its own; 0 if a back end has none. */
  uint64_t launches;   /* kernels put into the queue, without copies */
  uint64_t bytes_up;   /* bytes copied from host to device */
  uint64_t bytes_down; /* bytes copied from device to host, mirrored small results included */
  uint64_t kernel_ns;  /* time that the device worked on kernels, by its own clock */
  uint64_t launch_ns;  /* time that the host spent putting kernels into the queue */
  uint64_t wait_ns;    /* time that the host spent in waits */
  uint64_t held_bytes; /* the most bytes of its memory that the back end has held */
  /* Totals so far of messages from this process to others of its job. */
  uint64_t collectives; /* calls in which each process gets something small from each */
  uint64_t messages;    /* messages in other exchanges */
  uint64_t sent_bytes;  /* bytes sent in both */
};

enum { CVL_VERSION = 19 };

/* The functions of a back end. Those at the end are optional. */
struct cvl_backend {
  uint32_t version; /* CVL_VERSION */
  const char *name; /* "cpu", "cuda" ... */
  const char *doc;  /* one line for --devices */
  bool own_memory;  /* vectors are not in the memory of the host, so its size is no limit */

  /* Returns how many devices there are, numbered from 0, unusable ones included, and describes
   * the first `most` of them. Returns 0 with a text in *why if there is none. The text is one
   * line without a full stop: what is missing, and what to do if that is known. It stays valid,
   * as does that of `open`. */
  unsigned (*devices)(struct cvl_device *out, unsigned most, const char **why);
  /* Opens a context, or returns NULL with such a text in *why. Nothing that a device needs is
   * opened before the first call of one of these two. */
  struct cvl_context *(*open)(const struct cvl_options *, const char **why);
  /* Waits for everything and frees all. Values that are still held become invalid. */
  void (*close)(struct cvl_context *);

  /* -- values -- */

  /* Makes a vector of n elements, copied from host memory. n = 1 may give a scalar. n = 0 is
   * fine. */
  bool (*from_host)(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                    const void *data, struct cvl_value *out);
  /* Makes a descriptor of n segments from host lengths, which the caller has checked. */
  bool (*segdes_from_host)(struct cvl_context *, uint64_t site, uint64_t n,
                           const int64_t *lengths, struct cvl_value *out);
  /* Copies elements first .. first+n-1 to dst; for a descriptor, segment lengths as int64_t.
   * The range must lie inside. Waits. False if the error slot is not empty. */
  bool (*to_host)(struct cvl_context *, const struct cvl_value *, uint64_t first, uint64_t n,
                  void *dst);
  /* Reads the value of a vector of length 1 as a CVL_SCALAR. Borrows its operand. Waits. */
  bool (*scalar)(struct cvl_context *, const struct cvl_value *, struct cvl_value *out);
  void (*retain)(struct cvl_context *, const struct cvl_value *);
  void (*release)(struct cvl_context *, const struct cvl_value *);
  /* Returns the number of elements of a vector, or the total of a descriptor. Never waits. */
  struct cvl_size (*length)(struct cvl_context *, const struct cvl_value *);
  /* Returns the number of segments of a descriptor. Never waits. */
  struct cvl_size (*count)(struct cvl_context *, const struct cvl_value *);
  /* Makes a size exact. Waits. False if the error slot is not empty. */
  bool (*resolve)(struct cvl_context *, struct cvl_size *);
  /* Requires a = b, now or when both are known. The error of a fault contains `rule`. */
  bool (*require_equal)(struct cvl_context *, uint64_t site, struct cvl_size a,
                        struct cvl_size b, int64_t rule);
  /* Whether two values are the same object, hence equal; false proves nothing. Costs
   * nothing. */
  bool (*same)(struct cvl_context *, const struct cvl_value *, const struct cvl_value *);

  /* -- operations -- */

  /* Executes one operation. call.h describes the operands and results of each. */
  bool (*apply)(struct cvl_context *, uint64_t site, const struct cvl_call *,
                struct cvl_value *results);

  /* -- errors and statistics -- */

  /* Reports the first fault of all operations issued so far, if any, and empties the slot. With
   * `wait` it waits for all work; without, it may miss faults not yet found. */
  bool (*check)(struct cvl_context *, bool wait, struct cvl_error *);
  struct cvl_statistics (*statistics)(struct cvl_context *);
  /* Arms options.fail_allocation again, for tests; 0 disarms. */
  void (*fail_allocation)(struct cvl_context *, uint64_t n);

  /* -- optional: NULL, or a table with all of its functions -- */

  const struct cvl_superops *superops;           /* superop.h: several operations as one */
  const struct cvl_sharing *sharing;             /* sharing.h: memory shared with the host */
  const struct cvl_generators *generators;       /* sharing.h: elements made in place */
  const struct cvl_device_memory *device_memory; /* sharing.h: memory of a device */
  const struct cvl_slices *slices;               /* slices.h: values cut and put together */
  const struct cvl_tiles *tiles;                 /* tiles.h: scans cut between contexts */
  const struct cvl_processes *processes;         /* processes.h: the processes of a job */
  const struct cvl_procedures *procedures;       /* procedures.h: native code for instances */

  /* Restarts the recent peak of the statistics with what is live now. */
  void (*restart_peak)(struct cvl_context *);
  /* Requires a = b without waiting. Both sizes then count as equal. If they are not, that is a
   * fault like any other, which comes before other faults of the same operation. Returns false,
   * and requires nothing, if it cannot do so. */
  bool (*require_later)(struct cvl_context *, uint64_t site, struct cvl_size a,
                        struct cvl_size b, int64_t rule);
  /* The program has prepared all of its superoperators, and is about to begin. Code compiled
   * earlier is loaded now, while nothing runs. */
  void (*prepared)(struct cvl_context *);
  /* Opens a sub-context: see slices.h. */
  struct cvl_context *(*open_sub)(struct cvl_context *parent);
};

/* ---- helpers for callers, the same for every back end ---- */

struct cvl_value cvl_scalar_int(enum cvl_elem int_elem, int64_t x);    /* truncates to width */
struct cvl_value cvl_scalar_float(enum cvl_elem float_elem, double x); /* rounds to width */
struct cvl_value cvl_scalar_bool(bool x);
struct cvl_value cvl_one_segment(uint64_t length);
/* Says a line to the user. */
void cvl_say(const struct cvl_speaker *, const char *line);

/* Return the value of an INT scalar, sign-extended, and of a FLOAT scalar, as double. */
int64_t cvl_int_of(const struct cvl_value *);
double cvl_float_of(const struct cvl_value *);

/* Executes one elementwise operation on scalars, without memory or a context: for constant
 * folding and the fast path of the machine. It is made from operations.def and elementary.h
 * like every kernel, and gives the same bits as every back end. Returns false if the checked
 * condition fails; *fault says which. Result types follow int_elem and float_elem. */
bool cvl_scalar_op(enum cvl_elem int_elem, enum cvl_elem float_elem, enum cvl_op,
                   const struct cvl_value *operands, struct cvl_value *out,
                   enum cvl_error_kind *fault);

/* What `same` is in most back ends. */
bool cvl_same(struct cvl_context *, const struct cvl_value *, const struct cvl_value *);

/* The back ends linked into this program, NULL-terminated. The program's own files define it
 * (cvl-cpu/backends.c and the tests). */
const struct cvl_backend *const *cvl_backends(void);
/* Returns the back end with this name, or NULL. */
const struct cvl_backend *cvl_backend_find(const char *name);

#endif
