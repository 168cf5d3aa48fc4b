/* kernel-positions.c - expressions for positions, segments and sizes of a kernel. */
#include "fused-kernels/loops/kernel-text.h"

const char *position(const struct kernel_text *x) {
  return x->plain ? "0" : "i";
}

struct snippet size_of(const struct kernel_text *x, struct superop_size size) {
  switch (size.what) {
  case SIZE_LEN:
  case SIZE_TOTAL: return held_length(&x->params[size.param]);
  case SIZE_COUNT: return held_count(&x->params[size.param]);
  default: return snippet("UINT64_C(1)");
  }
}

struct snippet segment(const struct kernel_text *x, uint32_t near) {
  if (near == SUPEROP_NONE) return snippet(position(x));
  if (!is_segmented(x, near)) return snippet("0");
  return near == x->main ? snippet("g") : numbered("s", near);
}

/* Whether a gather reads all of a parameter, from its start. */
static bool reads_whole(const struct kernel_text *x, const struct kernel_statement *s) {
  return x->range && s->kind == KERNEL_GATHER && s->param / x->op->param_count == READ_WHOLE;
}

/* Of a range only what belongs to its own segments begins with 0. */
static bool is_whole(const struct kernel_text *x, uint32_t near) {
  return x->range && near != x->main && near != SUPEROP_NONE;
}

void put_base(const struct kernel_text *x, const struct kernel_statement *s) {
  const bool segments = is_segmented(x, s->far),
             whole = is_whole(x, s->near) || reads_whole(x, s);
  const uint32_t far = segments ? x->params[s->far].v : 0;
  put_with(x->out, segment(x, s->near).text,
           !segments ? "0"
           : whole   ? "o$0[$w]"
                     : "o$0[$w] - o$0[0]",
           far);
}

void put_extent(const struct kernel_text *x, const struct kernel_statement *s) {
  put_with(x->out, segment(x, s->near).text,
           is_segmented(x, s->far) ? "o$0[$w + 1] - o$0[$w]" : "n$0", x->params[s->far].v);
}

void put_begin(const struct kernel_text *x, uint32_t near) {
  const bool whole = is_whole(x, near);
  if (whole) fputs(" + at", x->out);
  if (!is_segmented(x, near)) return;
  put_with(x->out, segment(x, near).text, whole ? " - o$0[$w]" : " - (o$0[$w] - o$0[0])",
           x->params[near].v);
  if (x->range && !whole) fputs(" + before", x->out);
}
