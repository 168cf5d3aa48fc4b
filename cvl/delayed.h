/* delayed.h - a back end for tests that wraps another one and does everything late.
 *
 * Operations only enter a queue. They run at random later moments, in an order that respects
 * nothing but their operands, and at the latest when the host reads. A caller that passes its
 * tests on this back end depends neither on promptness nor on vectors that the host can
 * address:
 *
 *   - Results are never CVL_SCALAR or CVL_ONE_SEGMENT. Sizes that are known only after
 * execution (PACK, MAKE_SEGDES, and what depends on them) are deferred, with bounds that are
 * too large.
 *   - Operations return true. Faults appear when the operation runs: at the latest in `check`
 * with `wait` set, and in `to_host` and the like only those of operations needed by then.
 *   - Results that must not be used have sizes that are too large, and zeros. Results of
 * refused calls and buffers of refused reads are overwritten.
 *   - One superoperator in eight is not prepared, for no reason.
 *   - Operands whose sizes differ although nobody required them equal are a CVL_E_DEVICE fault.
 *   - A value used after its last release is a use after free, which AddressSanitizer reports.
 *   - Slices, fills and concatenations are done at once, after the tasks that make their
 * operands. Their faults appear late all the same.
 *
 * The moments are chosen by a generator seeded with `device` of the options. Statistics and
 * failing allocations are those of the wrapped back end, except `waits`.
 */
#ifndef RAVEL_CVL_DELAYED_H
#define RAVEL_CVL_DELAYED_H

#include "cvl/cvl.h"

/* Opens a context that wraps a context of `inner`. */
struct cvl_context *delayed_open(const struct cvl_backend *inner, const struct cvl_options *,
                                 const char **why);
/* The functions of the table, except devices, open, version, name and doc. */
extern const struct cvl_backend delayed_functions;

/* Defines `symbol`, a function that returns a delaying back end over inner. It fills `table`,
 * which the caller owns and keeps. */
#define DELAYED_BACKEND(symbol, text, inner)                                                   \
  static struct cvl_context *symbol##_open(const struct cvl_options *options,                  \
                                           const char **why) {                                 \
    return delayed_open(&(inner), options, why);                                               \
  }                                                                                            \
  static const struct cvl_backend *symbol(struct cvl_backend *table) {                         \
    *table = delayed_functions;                                                                \
    table->name = text;                                                                        \
    table->devices = (inner).devices;                                                          \
    table->open = symbol##_open;                                                               \
    if (!(inner).sharing) table->sharing = NULL;                                               \
    if (!(inner).generators) table->generators = NULL;                                         \
    if (!(inner).slices) table->slices = NULL;                                                 \
    return table;                                                                              \
  }

#endif
