/* packs.h - the results of packs, whose lengths are known when all positions have been looked
 * at. Private to this folder.
 */
#ifndef RAVEL_CPU_FUSED_PACKS_H
#define RAVEL_CPU_FUSED_PACKS_H

#include "cvl-cpu/fused/plan.h"

/* Takes room for all that a pack may keep, and for where segments begin there. False without
 * memory. */
bool fused_pack_make(struct cvl_kernel *, struct fused_pack *);
/* Gives the results the length of what the pack has kept. A vector with room for many more is
 * replaced by an exact one. False without memory. */
bool fused_pack_finish(struct cvl_kernel *, struct fused_pack *);

#endif
