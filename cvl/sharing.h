/* sharing.h - optional tables for memory that others use too: the host, and other users of a
 * device. If a back end lacks a table, its callers copy (from_host, to_host).
 */
#ifndef RAVEL_CVL_SHARING_H
#define RAVEL_CVL_SHARING_H

#include "cvl/cvl.h"

/* A function that is called once, when memory is not needed any more. */
struct cvl_notice {
  void (*call)(void *with);
  void *with;
};

/* Elements of a vector that somebody else reads. */
struct cvl_export {
  const void *data;
  struct cvl_notice end; /* the reader calls it, on any thread, before or after `close` */
};

/* Values in memory that host and back end share. */
struct cvl_sharing {
  /* Makes a vector of the n elements at `data`, which nobody changes until `done` is called.
   * That call comes from this or another function of the table, on the thread that calls it,
   * once in every case, even if this one fails. The elements are only read, and nothing behind
   * them. A back end may copy them after all, and does so if they are not aligned to their
   * type. */
  bool (*import_vector)(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                        const void *data, struct cvl_notice done, struct cvl_value *out);
  /* Exports the elements of a vector where they are, aligned to their type. They stay there
   * unchanged until exported->end is called, even if the vector is released and the context is
   * closed. Waits. False, without a fault, if they can only be copied, as borrowed ones. */
  bool (*export_vector)(struct cvl_context *, const struct cvl_value *,
                        struct cvl_export *exported);
};

/* Makes elements where the back end wants to have them. `fill` writes elements first .. first +
 * n to `to`. It is called for all elements, each once, in chunks, in any order, by any threads
 * of the back end. */
struct cvl_filler {
  void (*fill)(void *with, uint64_t first, uint64_t n, void *to);
  void *with;
};

struct cvl_generators {
  /* Makes a vector of the n elements that a filler writes, and waits for it. */
  bool (*generate)(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                   const struct cvl_filler *, struct cvl_value *out);
  /* Makes a descriptor of n segments from the n + 1 offsets that a filler writes, and waits for
   * it. Offsets are int64_t; the first is 0, and none is less than the one before, which the
   * caller has checked. */
  bool (*generate_segdes)(struct cvl_context *, uint64_t site, uint64_t n,
                          const struct cvl_filler *, struct cvl_value *out);
};

/* Vectors shared with other users of the same device in this process (DLPack), for back ends
 * whose vectors are in memory of a device. All functions wait, also for the work that others
 * have given to the device's default stream before. */
struct cvl_device_memory {
  /* Returns the number by which others know the device. For an emulated device it is one that
   * no machine has. */
  int32_t (*number)(struct cvl_context *);
  /* Makes a vector of the n elements at `data`, in memory of that device, by copying them. */
  bool (*copy_from)(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                    const void *data, struct cvl_value *out);
  /* Copies such memory to the host. */
  bool (*read)(struct cvl_context *, uint64_t site, const void *data, uint64_t bytes,
               void *dst);
  /* Copies the n elements of a vector to memory of the device that does not belong to the
   * context. */
  bool (*copy_to)(struct cvl_context *, uint64_t site, const struct cvl_value *, uint64_t n,
                  struct cvl_export *);
};

#endif
