/* fuse-sink.c - moves safe operations that only one arm of an IF uses into that arm, where they
 * can be fused with their uses. Not called for functions with timers.
 */
#include "fcode-opt/fuse.h"
#include "ir/sink.h"

static bool may_sink(const void *context, const struct ir_binding *x) {
  const struct fuse *fuse = context;
  return (x->form == IR_OP || x->form == IR_FUSED) &&
         sizes_safe(fuse->sizes, fuse->function, x);
}

void fuse_sink(struct fuse *fuse) {
  const struct ir_sinking how = {fuse->o->arena, fuse->o->scratch, may_sink, fuse};
  ir_sink(&how, fuse->f);
}
