/* tuned.h - the tuning values of a run: of a file that the user named, else those that --tune
 * has kept for the program, the device and inputs of this size.
 *
 * They are kept as texts in the folder `tuning` of the cache: in $RAVEL_CACHE, else
 * $XDG_CACHE_HOME/ravel or ~/.cache/ravel. An empty RAVEL_CACHE: nowhere.
 */
#ifndef RAVEL_TUNED_H
#define RAVEL_TUNED_H

#include "base/sha256.h"
#include "cvl/tuning.h"
#include "vinterp/machine.h"

#include <limits.h>

/* For what values are kept, besides the device. */
struct tuned_program {
  uint8_t digest[SHA256_BYTES]; /* of all that is executed */
  unsigned input_class;
};

/* Whether values are kept for any program: else nothing about this one has to be known. */
bool tuned_any(void);

/* The class of inputs of so many bytes: 0 if there are none, else one for each power of four.
 */
unsigned tuned_class(uint64_t bytes);

struct tuned {
  struct tuning values;
  struct machine_tuned machine;        /* those, while there are any */
  const struct tuned_program *program; /* look for those that are kept; or NULL */
  struct diag_list *diags;             /* gets warnings */
  char path[PATH_MAX];
  bool used; /* a machine has them, from that file */
};

/* Reads the file that `wish`, the value of --tuning, names; without one that of RAVEL_TUNING.
 * With neither, values are looked for that are kept for `program` (NULL: none are). "off": no
 * values. Sets *options, which borrow all. False with diagnostics. */
bool tuned_begin(struct tuned *, const char *wish, const struct tuned_program *,
                 struct machine_options *, struct diag_list *);

/* The file for a program on a device of a back end; false if there is nowhere to keep it. */
bool tuned_path(const struct tuned_program *, const struct cvl_backend *,
                const struct machine_options *, char path[PATH_MAX]);
/* Keeps the text there. False with a diagnostic. */
bool tuned_keep(const char *path, const char *text, size_t length, struct diag_list *);
/* Removes what is kept there; false if there was nothing, or if it cannot be removed. */
bool tuned_forget(const char *path);

/* Describes the device that a machine of these options uses; false if there is none. */
bool tuned_device(const struct cvl_backend *, const struct machine_options *,
                  struct cvl_device *);

#endif
