/* distribution.c - which elements are on which rank. */
#include "cvl-mpi/values/distribution.h"

#include <stdlib.h>
#include <string.h>

#include "cvl-mpi/values/memory.h"

/* ---- making ---- */

static struct distribution *distribution_new(struct cvl_context *c) {
  struct distribution *d = mpi_alloc(c, sizeof *d + (c->ranks + 1) * sizeof *d->start);
  d->references = 1;
  d->ranks = c->ranks;
  return d;
}

static struct distribution *make_canonical(struct cvl_context *c, uint64_t n) {
  struct distribution *d = distribution_new(c);
  const uint64_t grains = n / c->grain + (n % c->grain > 0);
  d->n = n;
  for (unsigned r = 0; r <= c->ranks; r++) {
    const uint64_t grain = grains / c->ranks * r + grains % c->ranks * r / c->ranks;
    d->start[r] = grain < grains ? grain * c->grain : n;
  }
  return d;
}

struct distribution *distribution_canonical(struct cvl_context *c, uint64_t n) {
  if (!c->latest || c->latest->n != n) {
    distribution_release(c->latest);
    c->latest = make_canonical(c, n);
  }
  return distribution_retain(c->latest);
}

struct distribution *distribution_of_counts(struct cvl_context *c, const uint64_t *counts) {
  struct distribution *d = distribution_new(c);
  for (unsigned r = 0; r < c->ranks; r++) d->start[r + 1] = d->start[r] + counts[r];
  d->n = d->start[c->ranks];
  return d;
}

/* Returns the position x counted from `first`, clamped to 0 .. n. */
static uint64_t distribution_within(uint64_t x, uint64_t first, uint64_t n) {
  if (x < first) return 0;
  return x - first < n ? x - first : n;
}

struct distribution *distribution_slice(struct cvl_context *c, const struct distribution *of,
                                        uint64_t first, uint64_t n) {
  struct distribution *d = distribution_new(c);
  d->n = n;
  for (unsigned r = 0; r <= c->ranks; r++)
    d->start[r] = distribution_within(of->start[r], first, n);
  return d;
}

struct distribution *distribution_retain(struct distribution *d) {
  if (d) d->references++;
  return d;
}

void distribution_release(struct distribution *d) {
  if (d && --d->references == 0) free(d);
}

/* ---- ranges of all ranks ---- */

struct mpi_range *ranges_same(struct cvl_context *c, uint64_t first, uint64_t n) {
  struct mpi_range *ranges = mpi_alloc(c, c->ranks * sizeof *ranges);
  for (unsigned r = 0; r < c->ranks; r++) ranges[r] = (struct mpi_range){first, n};
  return ranges;
}

struct mpi_range *ranges_of_blocks(struct cvl_context *c, const struct distribution *at) {
  struct mpi_range *ranges = mpi_alloc(c, c->ranks * sizeof *ranges);
  for (unsigned r = 0; r < c->ranks; r++) ranges[r] = distribution_range(at, r);
  return ranges;
}

/* ---- queries ---- */

bool distribution_same(const struct distribution *a, const struct distribution *b) {
  if (a == b) return true;
  if (!a || !b) return false;
  return memcmp(a->start, b->start, (a->ranks + 1) * sizeof *a->start) == 0;
}

struct mpi_range distribution_range(const struct distribution *d, unsigned rank) {
  return (struct mpi_range){d->start[rank], d->start[rank + 1] - d->start[rank]};
}

unsigned distribution_owner(const struct distribution *d, uint64_t position) {
  unsigned low = 0, high = d->ranks - 1;
  while (low < high) {
    const unsigned r = low + (high - low) / 2;
    if (d->start[r + 1] <= position) {
      low = r + 1;
    } else {
      high = r;
    }
  }
  return low;
}

bool distribution_is_skewed(const struct cvl_context *c, const struct distribution *d) {
  const uint64_t share = d->n / c->ranks + c->grain;
  for (unsigned r = 0; r < c->ranks; r++) {
    if (d->start[r + 1] - d->start[r] > 2 * share) return true;
  }
  return false;
}

bool within_share(const struct cvl_context *c, const struct mpi_range *ranges, uint64_t n) {
  for (unsigned r = 0; r < c->ranks; r++) {
    if (ranges[r].n > n / c->ranks + c->grain) return false;
  }
  return true;
}

bool is_whole(const struct cvl_context *c, uint64_t n) {
  return n <= c->whole;
}
