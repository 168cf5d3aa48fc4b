/* own.c - results that the processes of a job write together, each its own elements (struct
 * machine_own_consumer). After an agreement none waits for another until all have written
 * theirs.
 */
#include "cvl/processes.h"
#include "vinterp/machine/machine-private.h"

enum { BLOCK = 8192 }; /* elements read at once */

/* ---- the processes ---- */

bool machine_is_first(struct machine *m) {
  return m->backend->processes->process(m->context) == 0;
}

void machine_broadcast(struct machine *m, void *data, uint64_t bytes) {
  m->backend->processes->broadcast(m->context, data, bytes);
}

bool machine_from_first(struct machine *m, bool mine, void *data, uint64_t bytes) {
  return m->backend->processes->from_first(m->context, mine, data, bytes);
}

/* ---- elements ---- */

bool own_takes(struct machine *m, uint64_t number, enum machine_item_kind kind, uint64_t n) {
  return m->own && m->backend->processes && m->own->begin(m->own->with, m, number, kind, n);
}

/* Reads elements first .. first + n, at most BLOCK, as wide as in an item. */
static bool own_read_block(struct machine *m, const struct value *v, uint64_t first, uint64_t n,
                           char *block) {
  const bool narrow = v->flat.elem == CVL_I32 || v->flat.elem == CVL_F32;
  char *to = narrow ? block + n * sizeof(int32_t) : block;
  if (!m->backend->processes->read_own(m->context, &v->flat, first, n, to)) return false;
  if (narrow) machine_widen((enum cvl_elem)v->flat.elem, n, block);
  return true;
}

/* Gives the consumer elements until it wants no more. Returns false if they cannot be read. */
static bool own_put_own(struct machine *m, uint64_t number, const struct value *v,
                        uint64_t first, uint64_t end) {
  _Alignas(int64_t) char block[BLOCK * sizeof(int64_t)];
  bool wanted = true;
  while (wanted && first < end) {
    const uint64_t n = end - first < BLOCK ? end - first : BLOCK;
    if (!own_read_block(m, v, first, n, block)) return false;
    wanted = m->own->put(m->own->with, number, first, n, block);
    first += n;
  }
  return true;
}

bool own_write(struct machine *m, const struct machine_site *site, uint64_t number,
               const struct value *v) {
  uint64_t first, n;
  if (!m->backend->processes->own_range(m->context, &v->flat, &first, &n))
    return machine_backend_fault(m, site);
  const bool good = own_put_own(m, number, v, first, first + n);
  if (m->backend->processes->any(m->context, !good)) return machine_backend_fault(m, site);
  m->own->end(m->own->with, m, number);
  return true;
}

/* ---- lengths of segments ---- */

bool own_wants_equal(struct machine *m, uint64_t number, uint64_t n) {
  return m->own && m->backend->processes && n > 1 && m->own->wants_equal(m->own->with, number);
}

/* Finds whether the lengths of a range are equal; then *length is one of them, and is not set
 * if there are none. Returns false if they cannot be read. */
static bool read_equal(struct machine *m, const struct value *v, uint64_t first, uint64_t end,
                       bool *equal, int64_t *length) {
  int64_t block[BLOCK];
  *equal = true;
  for (bool begun = false; *equal && first < end; begun = true) {
    const uint64_t n = end - first < BLOCK ? end - first : BLOCK;
    if (!m->backend->processes->read_own(m->context, &v->flat, first, n, block)) return false;
    if (!begun) *length = block[0];
    for (uint64_t k = 0; k < n; k++) *equal = *equal && block[k] == *length;
    first += n;
  }
  return true;
}

bool own_equal(struct machine *m, const struct machine_site *site, const struct value *v,
               bool *equal, int64_t *length) {
  uint64_t first, n;
  if (!m->backend->processes->own_range(m->context, &v->flat, &first, &n))
    return machine_backend_fault(m, site);
  const bool good = read_equal(m, v, first, first + n, equal, length);
  if (m->backend->processes->any(m->context, !good)) return machine_backend_fault(m, site);
  const int64_t mine = *length;
  machine_from_first(m, n > 0, length, sizeof *length);
  *equal = !m->backend->processes->any(m->context, n > 0 && !(*equal && mine == *length));
  return true;
}
