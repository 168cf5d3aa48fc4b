/* scan-tiles.c - a scan of one segment whose elements are spread over several contexts
 * (tiles.h). What scan.c does for the chunks of one context is here split into two functions.
 * Tiles are the windows of kernels/scan.h.
 */
#include "cvl-cpu/kernels/kernels.h"
#include "cvl-cpu/kernels/scan.h"
#include "cvl-cpu/operations/scan-ranges.h"

struct tiles {
  const struct scan_row *row;
  size_t element; /* bytes */
  uint64_t n;     /* elements */
  bool begins;
  const char *x, *before;
  char *out;
};

static struct tiles cpu_tiles_of(struct cvl_context *c, enum cvl_op op,
                                 const struct cvl_value *v) {
  const enum cvl_elem e = (enum cvl_elem)v->elem;
  return (struct tiles){.row = &c->kernels->scan->row[e][op],
                        .element = elem_info(e)->bytes,
                        .n = value_length(v),
                        .x = value_data(v)};
}

/* Returns how many tiles a chunk has. */
static uint64_t tiles_grain(const struct cvl_context *c, const struct tiles *t,
                            uint64_t tiles) {
  return grain_for(c, tiles, SCAN_WINDOW * t->element);
}

/* ---- totals ---- */

static void total_tiles(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  const struct tiles *t = arg;
  (void)worker;
  t->row->totals(t->x + first * SCAN_WINDOW * t->element, last - first,
                 t->out + first * t->element);
}

bool cpu_scan_totals(struct cvl_context *c, uint64_t site, enum cvl_op op,
                     const struct cvl_value *v, struct cvl_value *out) {
  struct tiles t = cpu_tiles_of(c, op, v);
  const uint64_t full = t.n / SCAN_WINDOW;
  if (!result_new(c, site, (enum cvl_elem)v->elem, full, NULL, out)) return false;
  t.out = result_data(out);
  if (all_done(c, site, pool_for(c->pool, full, tiles_grain(c, &t, full), total_tiles, &t)))
    return true;
  result_drop(c, out);
  return false;
}

/* ---- the scan ---- */

static void scan_some_tiles(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  const struct tiles *t = arg;
  const uint64_t from = first * SCAN_WINDOW, to = last * SCAN_WINDOW;
  (void)worker;
  t->row->write(t->x + from * t->element, (to < t->n ? to : t->n) - from,
                t->before + first * t->element, t->begins && first == 0,
                t->out + from * t->element, put_in_caches);
}

bool cpu_scan_tiles(struct cvl_context *c, uint64_t site, enum cvl_op op, bool begins,
                    const struct cvl_value *v, const struct cvl_value *before,
                    struct cvl_value *out) {
  struct tiles t = cpu_tiles_of(c, op, v);
  const uint64_t tiles = t.n / SCAN_WINDOW + (t.n % SCAN_WINDOW > 0);
  if (!result_new(c, site, (enum cvl_elem)v->elem, t.n, NULL, out)) return false;
  t.begins = begins;
  t.before = value_data(before);
  t.out = result_data(out);
  if (all_done(c, site,
               pool_for(c->pool, tiles, tiles_grain(c, &t, tiles), scan_some_tiles, &t)))
    return true;
  result_drop(c, out);
  return false;
}
