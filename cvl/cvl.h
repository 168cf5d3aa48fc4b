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
 * may be *pending*: `size` then gives an upper bound and a symbol. Two sizes with the same
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
 * ## The reproducible tree
 *
 * FLOAT sums and products depend on the order of combination, so the contract fixes the
 * order (vcode.md, section 21.2). `pad` and `identity` are those of operations.def; `+`
 * stands for the combining expression, its first operand on the left. The reasons: a block
 * must be one contiguous read that a SIMD unit or a warp can do with its lanes side by side;
 * after padding with an exact neutral element every shape is the full one, so short segments
 * skip levels; and all levels are alike, so a device needs one kernel for all.
 *
 * Reduction of x[0..n), CVL_REDUCE_LANES = 32, CVL_REDUCE_BLOCK = 1024:
 *
 *     reduce(x, n):
 *       if n == 0: return identity
 *       if n == 1: return x[0]
 *       while n > 1:
 *         for each block k of 1024 consecutive elements (the last may be shorter):
 *           lane[j] = x[b+j], for j < 32; pad where b+j is past the block's end
 *           for r = 1, 2, ...: lane[j] = lane[j] + x[b+32r+j]   where that element exists
 *           for w = 16, 8, 4, 2, 1: lane[j] = lane[j] + lane[j+w]   for j < w
 *           y[k] = lane[0]
 *         x, n = y, number of blocks
 *       return x[0]
 *
 * Exclusive scan of x[0..n), CVL_SCAN_ROW = 8, CVL_SCAN_WINDOW = 32: the same scheme on every
 * level, with windows of 8 on the lowest (one SIMD register) and of 32 above (one warp). Within
 * a window the inclusive prefix is that of Kogge and Stone, in which an element depends only
 * on those before it; position i gets the prefix of all earlier windows, then of its own:
 *
 *     scan(x, n):                            e = prefix(x, n, 8); e[0] = identity; return e
 *     prefix(x, n, w):
 *       for each window k of w consecutive elements, padded to w with pad:
 *         a = the window
 *         for s = 1, 2, 4, ... < w: a'[j] = a[j-s] + a[j] for j >= s, else a[j];  a = a'
 *         t[k] = a[w-1];  inside[k] = a
 *       before = one window ? [pad] : prefix(t, number of windows, 32)
 *       e[i] = before[i / w]                                where i % w == 0
 *            = before[i / w] + inside[i / w][i % w - 1]      elsewhere
 *
 * Each segment is reduced and scanned by itself, as if it were alone.
 *
 * ## The tree that keeps order
 *
 * Functions of a program's own (the combinations of superop.h) are associative but perhaps not
 * commutative, and only nearly associative on FLOATs. For them the order of operands is that of
 * positions, and the tree is the perfect binary tree over positions counted from the start of
 * the segment. f stands for the function, x[0..n) for a segment:
 *
 *     T(p, 0) = x[p]                                       2^k elements from p on,
 *     T(p, k) = f(T(p, k-1), T(p + 2^(k-1), k-1))          p a multiple of 2^k
 *
 *     P(i): the combination of the i elements before position i, i > 0; 2^k the largest power
 *     of two that divides i:
 *       P(i) = T(0, k)                                     if i == 2^k
 *            = f(P(i - 2^k), T(i - 2^k, k))                elsewhere
 *
 *     reduction: P(n); identity if n == 0
 *     exclusive scan: e[0] = identity; e[i] = P(i)
 *     inclusive scan: P(i + 1)
 *
 * So P(13) = f(f(T(0, 3), T(8, 2)), x[12]). The identity is never combined. The reasons: a
 * block of any power of two is a subtree, so the tree is independent of the size of blocks, and
 * a processor, a vector register and a thread block may each take what suits them; each level
 * is one elementwise operation on pairs of neighbours; an element depends only on its prefix;
 * and the last element of an inclusive scan, the next one of an exclusive scan and the
 * reduction are the same. It takes n - 1 combinations for a reduction, less than 2 n for a
 * scan. (Blelloch, Prefix sums and their applications, 1990: up-sweep and down-sweep, here for
 * any n.)
 */
#ifndef RAVEL_CVL_H
#define RAVEL_CVL_H

#include "tables/tables.h"

enum { CVL_REDUCE_LANES = 32, CVL_REDUCE_BLOCK = 1024, CVL_SCAN_ROW = 8, CVL_SCAN_WINDOW = 32 };
/* What the two lowest levels of a scan have in common: its total is all that those above see.
 */
enum { CVL_SCAN_TILE = CVL_SCAN_ROW * CVL_SCAN_WINDOW };

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
  uint64_t bound;  /* the size, or an upper bound of it while it is pending */
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
struct cvl_kernel;  /* likewise: a superoperator made ready */
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

/* How many elements (of a descriptor: segments) an operand or result of a call by instances
 * has: one for each instance; the same ones for all; or those of the segments of another one,
 * whose number this is. */
#define CVL_EACH   (UINT32_MAX - 1)
#define CVL_SHARED UINT32_MAX

/* A call by instances that is dealt out. */
struct cvl_deal {
  uint64_t instances;
  uint32_t count;                   /* operands; the first is the descriptor of the instances */
  const uint32_t *sizes;            /* of each */
  const struct cvl_value *operands; /* borrowed until the call has been collected */
  /* What `deal` sets: */
  uint32_t processes;
  uint64_t first, n;                 /* instances of this process, which it executes with */
  const struct cvl_backend *backend; /* these, which are its alone: */
  struct cvl_context *context;
  struct cvl_value *own; /* their operands: the caller's room, and its values */
  void *kept;            /* the back end's */
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
                                      of borrowed memory, nor of loans whose vector is gone */
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

/* Called once, when memory is not needed any more. */
struct cvl_notice {
  void (*call)(void *with);
  void *with;
};

/* Elements that the host makes where the back end wants to have them. `fill` writes elements
 * first .. first + n to `to`; it is called for all of them, each once, in chunks, in any order,
 * by any threads of the back end. */
struct cvl_filler {
  void (*fill)(void *with, uint64_t first, uint64_t n, void *to);
  void *with;
};

/* Elements of a vector that somebody else reads. */
struct cvl_loan {
  const void *data;
  struct cvl_notice end; /* called by who reads, on any thread, before or after `close` */
};

/* Which random numbers: those of the k-th executed RAND for a seed, from position `first` on.
 */
struct cvl_random {
  uint64_t seed, k, first;
};

/* What the permute family does. Gathers: BPERMUTE, BFPERMUTE. Scatters: the others. `flags`
 * and `defaults` have form CVL_NOTHING where the operation has none; `s` and `d` are the
 * source and the destination descriptor, the same value twice for PERMUTE. */
struct cvl_permute_args {
  enum cvl_op op;
  struct cvl_value values, index, flags, defaults, s, d;
};

enum { CVL_VERSION = 13 };

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
  /* Requires it without waiting: both sizes go on as equal, and that they are not is a fault
   * like any other, before those of the same operation. False, and nothing is required, if that
   * cannot be; NULL: it never can. */
  bool (*require_later)(struct cvl_context *, uint64_t site, struct cvl_size a,
                        struct cvl_size b, int64_t rule);
  /* Whether two values are the same object, hence equal; false proves nothing. Free. */
  bool (*same)(struct cvl_context *, const struct cvl_value *, const struct cvl_value *);

  /* -- values in memory that host and back end have in common; NULL where there is none, and
   * callers copy (from_host, to_host) -- */

  /* A vector of the n elements at `data`, which nobody changes until `done` is called: by this
   * or another function of the table, on the thread that calls it, once in every case, a
   * failure of this one included. The elements are only read, and nothing behind them. A back
   * end may copy them after all, and does where their alignment is not that of their type. */
  bool (*borrow)(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                 const void *data, struct cvl_notice done, struct cvl_value *out);
  /* A vector of the n elements that a filler makes. Waits for it. */
  bool (*generate)(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                   const struct cvl_filler *, struct cvl_value *out);
  /* A descriptor of n segments from the n + 1 offsets that a filler makes: int64_t, the first
   * one 0, none less than the one before, which the caller has checked. Waits for it. */
  bool (*generate_segdes)(struct cvl_context *, uint64_t site, uint64_t n,
                          const struct cvl_filler *, struct cvl_value *out);
  /* The elements of a vector where they are, aligned to their type: they stay there and as they
   * are until loan->end is called, whoever releases the vector, and if the context is closed.
   * Waits. False, without a fault, if they can only be copied: borrowed ones, for example. */
  bool (*lend)(struct cvl_context *, const struct cvl_value *, struct cvl_loan *loan);

  /* -- vectors from and for others of this process that use the same device (DLPack); NULL
   * where vectors are in the memory of the host. All wait, also for what others have given to
   * the device's default stream before. -- */

  /* The number by which others know the device; one that no machine has if it is emulated. */
  int32_t (*device)(struct cvl_context *);
  /* A vector of the n elements at `data`, in memory of that device, from where they are copied.
   */
  bool (*from_device)(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                      const void *data, struct cvl_value *out);
  /* Copies such memory to the host's. */
  bool (*read_device)(struct cvl_context *, uint64_t site, const void *data, uint64_t bytes,
                      void *dst);
  /* A copy of the n elements of a vector, in memory of the device that is not the context's. */
  bool (*to_device)(struct cvl_context *, uint64_t site, const struct cvl_value *, uint64_t n,
                    struct cvl_loan *);

  /* -- values sliced and concatenated: for batch calls (docs/internals/memory.md) -- */

  /* Elements first .. first + n of a vector, or segments of a descriptor, which must exist:
   * their sizes have been resolved. Elements are not copied: the slice keeps the memory of
   * all of them, and is never overwritten. Offsets of segments may be computed anew. The value
   * passes as operands do, but a parent's is borrowed. */
  bool (*slice)(struct cvl_context *, uint64_t site, const struct cvl_value *, uint64_t first,
                uint64_t n, struct cvl_value *out);
  /* A vector of n elements, a CVL_VECTOR for any n, for `fill` to write: each element once,
   * before anybody reads any. */
  bool (*allocate)(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                   struct cvl_value *out);
  /* Copies the elements of v, whose length has been resolved, to first .. of `target`, which is
   * of `allocate` and stays the caller's; v passes as operands do. */
  bool (*fill)(struct cvl_context *, uint64_t site, const struct cvl_value *target,
               uint64_t first, const struct cvl_value *v);
  /* The descriptor with the segments of n descriptors, in order; they stay the caller's.
   * Faults: TOTAL. */
  bool (*concatenate)(struct cvl_context *, uint64_t site, uint64_t n,
                      const struct cvl_value *descriptors, struct cvl_value *out);
  /* A sub-context: for one thread more, that executes other instances. It has the options of
   * its parent, one thread, an error slot and statistics of its own; memory counts in the limit
   * of the parent, and the peaks of those open together, added, in its peak once none is open.
   * Until all of them are closed nobody calls the parent but this function, which any thread
   * may do; any thread closes them. While no thread is in any of them one may call the parent
   * after all: `allocate`, and `fill` and `concatenate`, which then borrow values of
   * sub-contexts. A sub-context reads values of its parent in `slice` only, whose results are
   * its own (a descriptor or vector of form CVL_SCALAR or CVL_ONE_SEGMENT is nobody's), fills
   * targets of its parent, several at a time where their ranges are apart, and runs kernels of
   * its parent. What it still holds when it is closed is freed. NULL, without a fault, where
   * there is no memory, and of a sub-context; the function is NULL where there is no such
   * thing. */
  struct cvl_context *(*open_sub)(struct cvl_context *parent);

  /* -- processes of a job that run the same program together, and calls by instances dealt out
   * to them, each of which executes some of the instances by itself; NULL, all ten,
   * where there is one process. All call them together, but read_own. -- */

  /* The number of this process, from 0. All get what process 0 has at `data`. Whether one of
   * them says so; if none does, what those with lower numbers have in all goes to *before;
   * whether one says so, and then all get what the first of those has at `data`, a few bytes.
   */
  unsigned (*process)(struct cvl_context *);
  void (*broadcast)(struct cvl_context *, void *data, uint64_t bytes);
  bool (*any)(struct cvl_context *, bool mine);
  bool (*sum_before)(struct cvl_context *, bool mine, uint64_t n, uint64_t *before);
  bool (*from_first)(struct cvl_context *, bool mine, void *data, uint64_t bytes);
  /* Whether work is to end that processes do in the same steps. Each says at each step why it
   * wants to end work of this epoch, 0 if it does not; at the same step, that one or a later
   * one, all then get the greatest of what was said in the epoch of that step, else 0. Waits
   * for others only after somebody has wanted an end. */
  unsigned (*stops)(struct cvl_context *, uint64_t epoch, unsigned wish);
  /* Which elements of a vector, whose length has been resolved, this process writes where each
   * is to be written once: *first .. *first + *n, all of which it has. The ranges of processes
   * follow each other by their numbers, from 0 to the length; what all have is process 0's. Of
   * a descriptor: segments. Waits. False, for all, if the error slot is not empty. */
  bool (*own_range)(struct cvl_context *, const struct cvl_value *, uint64_t *first,
                    uint64_t *n);
  /* to_host of elements of that range, if own_range was the last function that all called. By
   * this process alone: of a fault, after which it is false, others learn when all wait. */
  bool (*read_own)(struct cvl_context *, const struct cvl_value *, uint64_t first, uint64_t n,
                   void *dst);
  /* Decides which instances are whose, by how much their operands take, and brings these there.
   * False if the call is not worth it, or there is too little memory: then nothing has been
   * done, and it is not a fault. */
  bool (*deal)(struct cvl_context *, uint64_t site, struct cvl_deal *);
  /* Ends it, between which functions of the deal's context and sum_before only are called.
   * `good`, the same on all processes: each has the results of its instances, `count` values of
   * deal->context, which pass to the function, and out[k] becomes result k of all instances.
   * Else the call is to be executed in another way. */
  void (*collect)(struct cvl_context *, uint64_t site, struct cvl_deal *, bool good,
                  uint32_t count, struct cvl_value *own, struct cvl_value *out);

  /* -- errors and time -- */

  /* Reports the first fault of all operations issued so far, if any, and empties the slot.
   * With `wait` it waits for all work; without it may miss faults not yet found. */
  bool (*check)(struct cvl_context *, bool wait, struct cvl_error *);
  struct cvl_statistics (*statistics)(struct cvl_context *);
  /* Begins the recent peak anew, with what is live now. NULL: there is none. */
  void (*restart_peak)(struct cvl_context *);
  /* Arms options.fail_allocation anew, for tests; 0 disarms. */
  void (*fail_allocation)(struct cvl_context *, uint64_t n);

  /* -- operations; sizes have been required equal by the caller, see opcodes.def -- */

  /* out[i] = op of element i of each operand (1, 2 or 3 by arity; SELECT: flag first). The
   * row is chosen by op and the class of the last operand. All of one length, the result too.
   * Faults: DIVIDE_BY_ZERO. */
  bool (*elementwise)(struct cvl_context *, uint64_t site, enum cvl_op, unsigned arity,
                      const struct cvl_value *operands, struct cvl_value *out);
  /* Of each segment of v under d (total = length of v): reduce, scan, rank, sort. What each
   * gives, segmented.def says. */
#define SEGMENTED(kind, function)                                                              \
  bool (*function)(struct cvl_context *, uint64_t site, enum cvl_op,                           \
                   const struct cvl_value *v, const struct cvl_value *d,                       \
                   struct cvl_value *out);
#include "cvl/segmented.def"
  /* vcode.md, section 8; of several sources for one destination the highest position wins.
   * Faults: INDEX, DUPLICATE (PERMUTE only; an INDEX fault at any position comes first).
   * May always be called with the forms of `args` in any mixture of scalar and vector. */
  bool (*permute)(struct cvl_context *, uint64_t site, const struct cvl_permute_args *args,
                  struct cvl_value *out);
  /* Element index[k] of segment k; length = count of d. Faults: INDEX. */
  bool (*extract)(struct cvl_context *, uint64_t site, const struct cvl_value *v,
                  const struct cvl_value *index, const struct cvl_value *d,
                  struct cvl_value *out);
  /* v with element index[k] of segment k set to w[k]. Faults: INDEX. */
  bool (*replace)(struct cvl_context *, uint64_t site, const struct cvl_value *v,
                  const struct cvl_value *index, const struct cvl_value *w,
                  const struct cvl_value *d, struct cvl_value *out);
  /* v[k] at every position of segment k; length = total of d. */
  bool (*dist)(struct cvl_context *, uint64_t site, const struct cvl_value *v,
               const struct cvl_value *d, struct cvl_value *out);
  /* start[k] + j * stride[k] at position j of segment k, wrapping; length = total of d. */
  bool (*index)(struct cvl_context *, uint64_t site, const struct cvl_value *start,
                const struct cvl_value *stride, const struct cvl_value *d,
                struct cvl_value *out);
  /* Elements whose flag is set, in order, and the descriptor of how many each segment keeps. */
  bool (*pack)(struct cvl_context *, uint64_t site, const struct cvl_value *v,
               const struct cvl_value *flags, const struct cvl_value *d, struct cvl_value *out,
               struct cvl_value *out_d);
  /* Descriptor with these lengths (INT). Faults: NEGATIVE_LENGTH, TOTAL. */
  bool (*make_segdes)(struct cvl_context *, uint64_t site, const struct cvl_value *lengths,
                      struct cvl_value *out);
  /* The same from n host lengths of 64 bits, all checked by the caller (constants, READ). */
  bool (*segdes_from_host)(struct cvl_context *, uint64_t site, uint64_t n,
                           const int64_t *lengths, struct cvl_value *out);
  /* Segment lengths as INT; make_segdes undone. Faults: INT_RANGE. */
  bool (*lengths)(struct cvl_context *, uint64_t site, const struct cvl_value *d,
                  struct cvl_value *out);
  /* Length of v as an INT of length 1. Faults: INT_RANGE. */
  bool (*length_of)(struct cvl_context *, uint64_t site, const struct cvl_value *v,
                    struct cvl_value *out);
  /* out[j] = Philox 4x32-10 of key seed and counter (first + j, k), scaled to 0 .. bounds[j]-1
   * as vcode.md, section 21.3, says; first + length of bounds <= 2^64. Faults: BOUND. */
  bool (*random)(struct cvl_context *, uint64_t site, const struct cvl_random *,
                 const struct cvl_value *bounds, struct cvl_value *out);
  /* Fault ASSERT at the lowest position whose flag is false, with the INTs v and w there. */
  bool (*assert_all)(struct cvl_context *, uint64_t site, const struct cvl_value *flags,
                     const struct cvl_value *v, const struct cvl_value *w);

  /* -- a scan of one segment whose elements lie in several contexts, tiles of CVL_SCAN_TILE
   * elements whole in one: the caller computes the levels above. NULL, both, where scans cannot
   * be cut so. Operands are borrowed. -- */

  /* out[k] = total of tile k of v, for all that are full. */
  bool (*scan_totals)(struct cvl_context *, uint64_t site, enum cvl_op,
                      const struct cvl_value *v, struct cvl_value *out);
  /* The scan of v, of which the last tile may be short, with before[k], of the same type,
   * before tile k; `begins`: v begins where the segment does, and its first result is the
   * identity. */
  bool (*scan_tiles)(struct cvl_context *, uint64_t site, enum cvl_op, bool begins,
                     const struct cvl_value *v, const struct cvl_value *before,
                     struct cvl_value *out);

  /* -- superoperators, see superop.h -- */

  /* Makes a superoperator ready to run: planning, compiling. It is borrowed and must outlive
   * the kernel. NULL if memory fails or the back end would rather not, without a fault: the
   * caller then uses superop_run. */
  struct cvl_kernel *(*prepare)(struct cvl_context *, const struct superop *);
  /* All that a program has are prepared, and it is about to begin: what they were compiled to
   * before is made ready, while nothing runs. NULL: there is nothing to do. */
  void (*prepared)(struct cvl_context *);
  void (*discard)(struct cvl_context *, struct cvl_kernel *);
  /* outs[i] = output i on these operands, one for each parameter. The caller has required all
   * of its rules. Takes node_count sites: a fault of node k carries site + k. One object may
   * stand for several operands, borrowed here and owned there with its only reference: it must
   * last as long as any of them is read. `discard` waits for runs under way. */
  bool (*run)(struct cvl_context *, uint64_t site, struct cvl_kernel *,
              const struct cvl_value *operands, struct cvl_value *outs);
  /* The same of a superoperator that is one combination of scans, where the elements of a
   * segment lie in several contexts: of those of one segment from a multiple of
   * CVL_REDUCE_BLOCK, which is not 0, on. before[j], borrowed: of column j, P of every such
   * multiple from the first element to the last, or just behind it. The caller computes these,
   * by reductions of tiles and the same scan of what they give. Identities are not read. NULL
   * where scans cannot be cut so. */
  bool (*run_tiles)(struct cvl_context *, uint64_t site, struct cvl_kernel *,
                    const struct cvl_value *operands, const struct cvl_value *before,
                    struct cvl_value *outs);
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
