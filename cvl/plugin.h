/* plugin.h - back ends that are opened at run time, so that programs do not depend on libraries
 * that only these back ends need.
 *
 * A module is a shared library cvl-NAME.so that exports
 *
 *     const struct cvl_backend *ravel_backend(uint32_t version);
 *
 * which returns its table of functions, or NULL if it cannot serve that CVL_VERSION. A module
 * whose vectors are held by another back end, as in OUTER:INNER, also exports
 *
 *     const struct cvl_backend *ravel_backend_over(uint32_t version,
 *                                                  const struct cvl_backend *inner);
 *
 * INNER is linked, or is itself a module. Modules are looked for in several folders:
 *
 *   - the folder that the environment variable RAVEL_BACKENDS names
 *   - ../lib/ravel, seen from the folder of the running program, and ../lib64/ravel or
 *     ../lib/TRIPLET/ravel where libraries are installed there
 *   - if this code is in a library, the folder `ravel` beside it
 *
 * Builds and installations put modules there.
 */
#ifndef RAVEL_PLUGIN_H
#define RAVEL_PLUGIN_H

#include "cvl/cvl.h"

enum { PLUGIN_NAME_MAX = 40, PLUGIN_WHY_MAX = 1024 };

/* Whether there is a file for it, whatever it contains. False for a string that is no name. */
bool plugin_exists(const char *name);

/* Opens the module of this name, which stays open until the process ends. NULL with one line in
 * why if that fails: no file, a library that does not load, a missing symbol, or another
 * version. */
const struct cvl_backend *plugin_open(const char *name, char why[PLUGIN_WHY_MAX]);

/* Lists the names that there are files for, alphabetically, each once, at most `most` of them.
 * Returns how many. */
unsigned plugin_list(char names[][PLUGIN_NAME_MAX], unsigned most);

#endif
