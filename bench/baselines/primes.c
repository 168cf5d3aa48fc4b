/* primes.c - the sieve of Eratosthenes on odd numbers, a segment at a time that fits in the
 * first-level cache. Segments are distributed over threads; the primes of each are written to a
 * buffer that is large enough, and then copied to their positions in the result. */
/* scalar: a sieve writes single bytes at a distance */
#include "baseline.h"

#include <math.h>
#include <string.h>

enum { SEGMENT = 1 << 15 }; /* odd numbers */

/* Odd primes below n, for small n; how many. */
static int64_t small_primes(int64_t n, int64_t *primes) {
  int64_t count = 0;
  for (int64_t p = 3; p < n; p += 2) {
    bool prime = true;
    for (int64_t k = 0; k < count && primes[k] * primes[k] <= p; k++)
      prime &= p % primes[k] != 0;
    if (prime) primes[count++] = p;
  }
  return count;
}

/* The primes among 2k + 1 for k from first to last; how many. */
static int64_t sieve(int64_t first, int64_t last, const int64_t *small, int64_t count,
                     integer *primes) {
  uint8_t composite[SEGMENT];
  memset(composite, 0, (size_t)(last - first));
  for (int64_t j = 0; j < count; j++) {
    const int64_t p = small[j], square = p * p / 2;
    if (square >= last) break;
    int64_t k = square;
    if (k < first) k = first + (p - (first - square) % p) % p;
    for (; k < last; k += p) composite[k - first] = 1;
  }
  int64_t found = 0;
  for (int64_t k = first; k < last; k++) {
    primes[found] = (integer)(2 * k + 1);
    found += !composite[k - first];
  }
  return found;
}

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].as.i[0], odd = n > 2 ? n / 2 : 0; /* with 1 */
  const int64_t segments = (odd + SEGMENT - 1) / SEGMENT, root = (int64_t)sqrt((double)n) + 2;
  int64_t *const small = scratch(0, (size_t)root * sizeof *small);
  int64_t *const counts = scratch(1, ((size_t)segments + 1) * sizeof *counts);
  const int64_t count = small_primes(root, small);
  /* A segment holds fewer primes than numbers; beyond the first, at most two of five. */
  integer *const room = scratch(2, (size_t)segments * SEGMENT * sizeof *room);
#pragma omp parallel for schedule(dynamic)
  for (int64_t s = 0; s < segments; s++) {
    const int64_t first = s * SEGMENT, last = first + SEGMENT < odd ? first + SEGMENT : odd;
    counts[s] = sieve(first, last, small, count, room + first);
  }
  int64_t total = 0;
  for (int64_t s = 0; s < segments; s++) total += counts[s];
  integer *primes = result(results, 0, ARRAY_INTEGER, total)->as.i;
  for (int64_t s = 0, at = 0; s < segments; at += counts[s++])
    memcpy(primes + at, room + s * SEGMENT, (size_t)counts[s] * sizeof *primes);
  if (total > 0) primes[0] = 2; /* instead of 1 */
}
