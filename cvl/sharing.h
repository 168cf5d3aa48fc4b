/* sharing.h - what a back end may have of memory that others use, too: the host, and who else
 * uses a device. Callers of one that lacks a table copy (from_host, to_host).
 */
#ifndef RAVEL_CVL_SHARING_H
#define RAVEL_CVL_SHARING_H

#include "cvl/cvl.h"

/* Called once, when memory is not needed any more. */
struct cvl_notice {
  void (*call)(void *with);
  void *with;
};

/* Elements of a vector that somebody else reads. */
struct cvl_export {
  const void *data;
  struct cvl_notice end; /* called by who reads, on any thread, before or after `close` */
};

/* Values in memory that host and back end have in common. */
struct cvl_sharing {
  /* A vector of the n elements at `data`, which nobody changes until `done` is called: by this
   * or another function of the table, on the thread that calls it, once in every case, a
   * failure of this one included. The elements are only read, and nothing behind them. A back
   * end may copy them after all, and does where their alignment is not that of their type. */
  bool (*import_vector)(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                        const void *data, struct cvl_notice done, struct cvl_value *out);
  /* The elements of a vector where they are, aligned to their type: they stay there and as they
   * are until exported->end is called, whoever releases the vector, and if the context is
   * closed. Waits. False, without a fault, if they can only be copied: borrowed ones, for
   * example. */
  bool (*export_vector)(struct cvl_context *, const struct cvl_value *,
                        struct cvl_export *exported);
};

/* Elements that the host makes where the back end wants to have them. `fill` writes elements
 * first .. first + n to `to`; it is called for all of them, each once, in chunks, in any order,
 * by any threads of the back end. */
struct cvl_filler {
  void (*fill)(void *with, uint64_t first, uint64_t n, void *to);
  void *with;
};

struct cvl_generators {
  /* A vector of the n elements that a filler makes. Waits for it. */
  bool (*generate)(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                   const struct cvl_filler *, struct cvl_value *out);
  /* A descriptor of n segments from the n + 1 offsets that a filler makes: int64_t, the first
   * one 0, none less than the one before, which the caller has checked. Waits for it. */
  bool (*generate_segdes)(struct cvl_context *, uint64_t site, uint64_t n,
                          const struct cvl_filler *, struct cvl_value *out);
};

/* Vectors from and for others of this process that use the same device (DLPack), where vectors
 * are in memory of its own. All wait, also for what others have given to the device's default
 * stream before. */
struct cvl_device_memory {
  /* The number by which others know the device; one that no machine has if it is emulated. */
  int32_t (*number)(struct cvl_context *);
  /* A vector of the n elements at `data`, in memory of that device, from where they are copied.
   */
  bool (*copy_from)(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                    const void *data, struct cvl_value *out);
  /* Copies such memory to the host's. */
  bool (*read)(struct cvl_context *, uint64_t site, const void *data, uint64_t bytes,
               void *dst);
  /* A copy of the n elements of a vector, in memory of the device that is not the context's. */
  bool (*copy_to)(struct cvl_context *, uint64_t site, const struct cvl_value *, uint64_t n,
                  struct cvl_export *);
};

#endif
