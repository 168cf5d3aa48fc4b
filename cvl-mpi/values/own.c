/* own.c - the part of a value that each rank reads by itself, to write it to a file that all
 * ranks write. After one agreement nothing is exchanged.
 */
#include <stdlib.h>
#include <string.h>

#include "cvl-mpi/values/descriptors.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/hosts.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"

/* ---- data of the first rank that has some ---- */

bool mpi_from_first(struct cvl_context *c, bool mine, void *data, uint64_t bytes) {
  comm_at(c->comm, "from_first", 0);
  unsigned rank = mine ? c->rank : UINT32_MAX, first = UINT32_MAX;
  unsigned *ranks = mpi_alloc(c, c->ranks * sizeof *ranks);
  comm_gather(c->comm, &rank, sizeof rank, ranks);
  for (unsigned r = 0; r < c->ranks; r++) first = ranks[r] < first ? ranks[r] : first;
  mpi_free(c, ranks);
  if (first == UINT32_MAX) return false;
  char *all = mpi_alloc(c, c->ranks * bytes);
  comm_gather(c->comm, data, bytes, all);
  memcpy(data, all + first * bytes, bytes);
  mpi_free(c, all);
  return true;
}

/* ---- ranges ---- */

/* Returns the distribution of the elements, or segments; NULL: all ranks have all. */
static const struct distribution *lies_as(const struct cvl_value *v) {
  return segdes_is_held(v) ? v->as.segdes->held : mpi_at(v);
}

/* Returns the number of elements of a vector, or of segments of a descriptor. */
static uint64_t own_size_of(const struct cvl_value *v) {
  const bool segdes = v->form == CVL_ONE_SEGMENT || v->form == CVL_SEGDES;
  return segdes ? mpi_count(v) : mpi_length(v);
}

bool mpi_own_range(struct cvl_context *c, const struct cvl_value *v, uint64_t *first,
                   uint64_t *n) {
  comm_at(c->comm, "own_range", 0);
  if (!agree_on(c, v)) return false;
  const struct distribution *at = lies_as(v);
  const uint64_t size = own_size_of(v);
  const struct mpi_range all =
      c->rank == 0 ? (struct mpi_range){0, size} : (struct mpi_range){size, 0};
  const struct mpi_range mine = at ? distribution_range(at, c->rank) : all;
  *first = mine.first;
  *n = mine.n;
  return true;
}

/* ---- elements ---- */

/* Reads lengths of a held descriptor. */
static bool own_read_lengths(const struct cvl_context *c, const struct cvl_segdes *d,
                             uint64_t first, uint64_t n, int64_t *to) {
  if (d->poisoned) return false;
  const uint64_t *from = d->offset + (first - d->held->start[c->rank]);
  for (uint64_t k = 0; k < n; k++) to[k] = (int64_t)(from[k + 1] - from[k]);
  return true;
}

bool mpi_read_own(struct cvl_context *c, const struct cvl_value *v, uint64_t first, uint64_t n,
                  void *dst) {
  if (segdes_is_held(v)) return own_read_lengths(c, v->as.segdes, first, n, dst);
  const uint64_t begin = mpi_at(v) ? mpi_at(v)->start[c->rank] : 0;
  const struct cvl_value local = inner_of(v, false);
  return inner_read(c, c->site, &local, first - begin, n, dst);
}
