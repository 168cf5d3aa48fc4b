/* cvl.h - the contract between the machine and a vector library ("back end").
 *
 * A back end is one constant table of functions, `struct cvl_backend`. The machine, the tests
 * and the benchmarks reach it through nothing else; the conformance suite (conformance.h)
 * holds every back end to what is written here, bit for bit, except for which NaN a NaN is.
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
 * A vector of length 1 may appear as CVL_SCALAR or as CVL_VECTOR, a descriptor of one segment
 * as CVL_ONE_SEGMENT or as CVL_SEGDES; a back end accepts both everywhere and may return
 * either. BOOL elements are bytes 0 and 1. The element types of INT and FLOAT are fixed for
 * the life of a context (`struct cvl_options`).
 *
 * ## Ownership
 *
 * Operands are borrowed unless the value's `owned` flag is set: then the reference passes to
 * the operation, which releases it in every case, failure included, and may write its result
 * into the memory if nobody else holds a reference. Results are owned by the caller and come
 * with `owned` clear. Copying the plain struct does not count a reference; a value that stands
 * for two operands, both owned, needs two.
 *
 * ## Sizes and promptness
 *
 * The contract is asynchronous. An operation may return before its work is done, and a length
 * may be *deferred*: `size` then gives an upper bound and a symbol. Two sizes with the same
 * non-zero symbol are equal; a symbol of 0 means the bound is the exact size. `resolve` waits
 * for the exact one. A bound may exceed the length of every operand. Results that another
 * operation consumes never need to be waited for. A context works for one thread at a time.
 *
 * ## Errors
 *
 * Operations check what their comment *requires*. A fault is recorded in the context's error
 * slot as a `struct cvl_error`; of several the one with the lowest `site` stays, of one
 * operation the one at the lowest position. Sizes that must agree are checked before elements.
 * An operation that knows of a fault at once returns false; its results are then not set. One
 * that finds out later delivers harmless results (of the right type and size, no undefined
 * memory) until somebody asks: `check`, which may wait, and `to_host`, `resolve`, `scalar`,
 * which wait for their own value and are refused if it is the result of a fault; that all is
 * well only `check` can say. Sites are numbers the machine hands out in increasing program
 * order.
 *
 * Memory: a failed allocation is a fault like any other (CVL_E_MEMORY), never an abort.
 *
 * ## NaN
 *
 * No operation makes a difference between one NaN and another; the contract does not say
 * which a result is. Operations that move elements keep sign and payload, and functions of
 * elementary.h give the NaN of the NAN macro, but the NaN of an arithmetic operation is the
 * processor's: 0.0 / 0.0 has the sign bit set on x86, and need not elsewhere. Only who looks at
 * the bits of FLOATs that have left a back end sees it.
 *
 * ## Elementary functions
 *
 * EXP, LOG, SIN, COS, TAN, ASIN, ACOS, ATAN, SINH, COSH and TANH have the bits of the functions
 * of elementary.h in either width, on every back end, at any position; so has constant folding.
 * They are off by less than one unit in the last place of a 64-bit FLOAT, 0.502 units of a
 * 32-bit one.
 *
 * Sums and products of FLOATs depend on the order of combination: trees.h fixes it.
 */
#ifndef RAVEL_CVL_H
#define RAVEL_CVL_H

#include "tables/tables.h"

/* ---- values ---- */

struct cvl_vector; /* opaque: the back end's */
struct cvl_segdes;

enum cvl_form { CVL_NOTHING, CVL_SCALAR, CVL_VECTOR, CVL_ONE_SEGMENT, CVL_SEGDES };

struct cvl_value {
  uint8_t form;  /* enum cvl_form */
  uint8_t elem;  /* enum cvl_elem of SCALAR and VECTOR */
  uint8_t owned; /* as an operand: the operation takes the reference */
  union {
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    uint8_t b;
    uint64_t one_segment; /* length */
    struct cvl_vector *vector;
    struct cvl_segdes *segdes;
  } as;
};

struct cvl_size {
  uint64_t bound;  /* the size, or an upper bound of it while it is deferred */
  uint64_t symbol; /* 0: bound is exact; equal symbols: equal sizes */
};

/* ---- errors ---- */

/* Kinds, and which fields they set: tables/faults.def. */
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

struct cvl_context; /* opaque: the back end's */
struct cvl_call;    /* call.h */
struct cvl_kernel;  /* the back end's: a superoperator made ready, superop.h */
struct superop;     /* superop.h */
struct tuning;      /* tuning.h */

/* Who may want work without a limit to end. Asked now and then, by any thread of a back end,
 * until the operation returns. */
struct cvl_stop {
  bool (*asks)(void *with); /* NULL: nobody */
  void *with;
};

/* Which superoperators are compiled to machine code; results do not depend on it. A device
 * compiles what it executes in any case, and may keep that in a directory of its own. */
enum cvl_compile {
  CVL_COMPILE_NONE,
  CVL_COMPILE_WHEN_IT_PAYS, /* in the background: what takes long, and where it gains */
  CVL_COMPILE_ALL
};

/* Gets lines for the user, without a newline, on the thread that calls the back end. Where
 * `call` is NULL they go to standard error, after "ravel: ". */
struct cvl_speaker {
  void (*call)(void *with, const char *line);
  void *with;
};

struct cvl_options {
  enum cvl_elem int_elem;   /* CVL_I32 or CVL_I64 */
  enum cvl_elem float_elem; /* CVL_F32 or CVL_F64 */
  unsigned threads;         /* 0: as many as the machine has */
  int device;               /* -1: the back end's choice */
  bool opens_late; /* a device is opened when the data are large enough to be worth it, and
                      where it then cannot be, the host does everything, and `say` gets
                      why. False: by open, which fails */
  uint64_t memory_limit;    /* bytes for vectors and scratch; 0: none */
  uint64_t fail_allocation; /* tests: the n-th allocation from now fails; 0: none */
  enum cvl_compile compile;
  bool compile_waits;            /* for compilations: all that were asked for, and those of a
                                   device */
  const char *compile_directory; /* what is compiled is kept there; NULL: CVL_COMPILE_NONE */
  const char *kernels;    /* a file with superoperators compiled ahead of time: of fcodeopt
                             --emit-cpu or --emit-cuda; NULL: none */
  bool measure;           /* the times of cvl_statistics are wanted, at some cost: else a
                             back end may leave them 0 */
  struct cvl_stop stop;   /* ends operations, in CVL_E_STOPPED: soon, however long they are;
                             on a device what it has been given to do is done first */
  struct cvl_speaker say; /* why superoperators that should be compiled are not, or a device is
                             not used */
  const struct tuning *tuning; /* values other than the defaults (tuning.h); or NULL. Read by
                                  open, and not later */
};

/* Something a back end can run on. */
struct cvl_device {
  char name[128];
  uint64_t memory;       /* bytes; 0: not known */
  unsigned processors;   /* cores, multiprocessors */
  unsigned architecture; /* of a GPU: ten times its compute capability; else 0 */
  bool unusable;         /* `open` would refuse it */
  char remark[200];      /* why, or what else is to be known of it, as one line; "": nothing */
};

struct cvl_statistics {
  uint64_t live_bytes, peak_bytes; /* of vectors and descriptors now held by anybody; not those
                                      of borrowed memory, nor of exports whose vector is gone */
  uint64_t recent_peak_bytes;      /* the peak since restart_peak */
  uint64_t allocations;            /* asked for so far: what fail_allocation counts */
  uint64_t waits;                  /* host reads that found their value not ready */
  /* Of a device with memory of its own, so far; 0 where a back end has no such thing. */
  uint64_t launches;   /* kernels put into the queue; copies do not count */
  uint64_t bytes_up;   /* copied from host to device */
  uint64_t bytes_down; /* copied from device to host, small results mirrored there included */
  uint64_t kernel_ns;  /* that the device worked on kernels, by its own clock */
  uint64_t launch_ns;  /* that the host spent putting them into the queue */
  uint64_t wait_ns;    /* that the host spent in waits */
  uint64_t held_bytes; /* of its memory that the back end holds, at most */
  /* By this process to others of its job, so far. */
  uint64_t collectives; /* calls in which each gets something small of each */
  uint64_t messages;    /* in other exchanges */
  uint64_t sent_bytes;  /* in both */
};

enum { CVL_VERSION = 14 };

/* The functions without which there is no back end, and behind them what it may have. */
struct cvl_backend {
  uint32_t version; /* CVL_VERSION */
  const char *name; /* "cpu", "cuda" ... */
  const char *doc;  /* one line for --devices */
  bool own_memory; /* vectors are not in the memory of the host, whose size says nothing then */

  /* How many devices there are, numbered from 0, those that cannot be used included; describes
   * the first `most` of them. 0 with a text in *why if there is none. The text is one line
   * without a full stop: what is missing, and what to do if that can be said. It stays valid;
   * so does that of open. */
  unsigned (*devices)(struct cvl_device *out, unsigned most, const char **why);
  /* Opens a context; NULL with such a text in *why if it cannot be had. Nothing a device needs
   * is opened before the first call of one of these two. */
  struct cvl_context *(*open)(const struct cvl_options *, const char **why);
  /* Waits for everything and frees all; values still held become invalid. */
  void (*close)(struct cvl_context *);

  /* -- values -- */

  /* A vector of n elements copied from host memory; n = 1 may give a scalar. n = 0 is fine. */
  bool (*from_host)(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                    const void *data, struct cvl_value *out);
  /* A descriptor of n segments from host lengths, all checked by the caller. */
  bool (*segdes_from_host)(struct cvl_context *, uint64_t site, uint64_t n,
                           const int64_t *lengths, struct cvl_value *out);
  /* Copies elements first .. first+n-1 (of a descriptor: segment lengths as int64_t) to dst.
   * Waits. False if the error slot is not empty. The range must lie inside. */
  bool (*to_host)(struct cvl_context *, const struct cvl_value *, uint64_t first, uint64_t n,
                  void *dst);
  /* The value of a vector of length 1 as a CVL_SCALAR. Waits. Borrows its operand. */
  bool (*scalar)(struct cvl_context *, const struct cvl_value *, struct cvl_value *out);
  void (*retain)(struct cvl_context *, const struct cvl_value *);
  void (*release)(struct cvl_context *, const struct cvl_value *);
  /* Number of elements of a vector; of a descriptor its total. Never waits. */
  struct cvl_size (*length)(struct cvl_context *, const struct cvl_value *);
  /* Number of segments of a descriptor. Never waits. */
  struct cvl_size (*count)(struct cvl_context *, const struct cvl_value *);
  /* Makes a size exact. Waits. False if the error slot is not empty. */
  bool (*resolve)(struct cvl_context *, struct cvl_size *);
  /* Requires a = b, now or when they are known; `rule` is handed back in the error. */
  bool (*require_equal)(struct cvl_context *, uint64_t site, struct cvl_size a,
                        struct cvl_size b, int64_t rule);
  /* Whether two values are the same object, hence equal; false proves nothing. Free. */
  bool (*same)(struct cvl_context *, const struct cvl_value *, const struct cvl_value *);

  /* -- operations -- */

  /* Executes one operation: call.h says what each takes and gives. */
  bool (*apply)(struct cvl_context *, uint64_t site, const struct cvl_call *,
                struct cvl_value *results);

  /* -- errors and statistics -- */

  /* Reports the first fault of all operations issued so far, if any, and empties the slot.
   * With `wait` it waits for all work; without it may miss faults not yet found. */
  bool (*check)(struct cvl_context *, bool wait, struct cvl_error *);
  struct cvl_statistics (*statistics)(struct cvl_context *);
  /* Arms options.fail_allocation anew, for tests; 0 disarms. */
  void (*fail_allocation)(struct cvl_context *, uint64_t n);

  /* -- what a back end need not have: NULL. A table has all of its functions. -- */

  const struct cvl_superops *superops;           /* superop.h: several operations as one */
  const struct cvl_sharing *sharing;             /* sharing.h: memory that the host has, too */
  const struct cvl_generators *generators;       /* sharing.h: elements made in place */
  const struct cvl_device_memory *device_memory; /* sharing.h: memory of a device */
  const struct cvl_slices *slices;               /* slices.h: values cut and put together */
  const struct cvl_tiles *tiles;                 /* tiles.h: scans cut between contexts */
  const struct cvl_processes *processes;         /* processes.h: one program on several */

  /* Begins the recent peak of the statistics anew, with what is live now. */
  void (*restart_peak)(struct cvl_context *);
  /* Requires a = b without waiting: both sizes go on as equal, and that they are not is a fault
   * like any other, before those of the same operation. False, and nothing is required, if that
   * cannot be. */
  bool (*require_later)(struct cvl_context *, uint64_t site, struct cvl_size a,
                        struct cvl_size b, int64_t rule);
  /* All superoperators that a program has are prepared, and it is about to begin: what they
   * were compiled to before is made ready, while nothing runs. */
  void (*prepared)(struct cvl_context *);
  /* A sub-context: see slices.h. */
  struct cvl_context *(*open_sub)(struct cvl_context *parent);
};

/* ---- helpers for callers, the same for every back end ---- */

struct cvl_value cvl_scalar_int(enum cvl_elem int_elem, int64_t x);    /* truncates to width */
struct cvl_value cvl_scalar_float(enum cvl_elem float_elem, double x); /* rounds to width */
struct cvl_value cvl_scalar_bool(bool x);
struct cvl_value cvl_one_segment(uint64_t length);
/* Says a line for the user. */
void cvl_say(const struct cvl_speaker *, const char *line);

/* What an INT scalar holds, sign-extended; what a FLOAT scalar holds, as double. */
int64_t cvl_int_of(const struct cvl_value *);
double cvl_float_of(const struct cvl_value *);

/* One elementwise operation on scalars, no memory, no context: constant folding and the fast
 * path of the machine. Made from operations.def and elementary.h like every kernel. Same bits
 * as every back end. False if the checked condition fails (then *fault says which). Result
 * types follow int_elem and float_elem. */
bool cvl_scalar_op(enum cvl_elem int_elem, enum cvl_elem float_elem, enum cvl_op,
                   const struct cvl_value *operands, struct cvl_value *out,
                   enum cvl_error_kind *fault);

/* The back ends linked into this program: NULL-terminated, defined by whoever links them
 * (commands/backends.c and the tests). */
const struct cvl_backend *const *cvl_backends(void);
/* The one with this name, or NULL. */
const struct cvl_backend *cvl_backend_find(const char *name);

#endif
