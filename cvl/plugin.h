/* plugin.h - back ends that are opened at run time, so that no program depends on what only
 * they need.
 *
 * A module is a shared library cvl-NAME.so that exports
 *
 *     const struct cvl_backend *ravel_backend(uint32_t version);
 *
 * which returns its table of functions, or NULL if it cannot serve that CVL_VERSION. One whose
 * vectors are held by another back end, as OUTER:INNER names them, exports
 *
 *     const struct cvl_backend *ravel_backend_over(uint32_t version,
 *                                                  const struct cvl_backend *inner);
 *
 * as well; INNER is one that is linked, or a module. A module is
 * looked for in the folder that the environment names in RAVEL_BACKENDS, then in ../lib/ravel,
 * seen from the folder of the running program (and in ../lib64/ravel or ../lib/TRIPLET/ravel
 * where libraries are installed there), or, if this code is in a library, in the folder `ravel`
 * beside that: where a build and an installation leave it.
 */
#ifndef RAVEL_PLUGIN_H
#define RAVEL_PLUGIN_H

#include "cvl/cvl.h"

enum { PLUGIN_NAME_MAX = 40, PLUGIN_WHY_MAX = 1024 };

/* Whether there is a file for it, whatever may be in it; false for what is no name. */
bool plugin_exists(const char *name);

/* Opens the module of this name; it stays open until the process ends. NULL with one line in
 * why if that fails: no file, a library that does not load, no such symbol, another version. */
const struct cvl_backend *plugin_open(const char *name, char why[PLUGIN_WHY_MAX]);

/* The names that there are files for, in order of the alphabet, each once; at most `most` of
 * them. Returns how many. */
unsigned plugin_list(char names[][PLUGIN_NAME_MAX], unsigned most);

#endif
