/* sort-elem.h - radix sorting of elements of one type. Included by rank-elem.h.
 *
 * Elements move unchanged, and their keys are computed again in every pass. That is cheaper
 * than moving more bytes, and keeps -0.0 and the payload of a NaN. The highest digit partitions
 * the elements into buckets. A bucket with many elements that differ in few bits is sorted from
 * the lowest digit on. Others are partitioned again, until insertion sort finishes. All steps
 * are stable.
 */

ALWAYS_INLINE void NAMED(count)(const ELEMENT *x, uint64_t n, const struct radix_digit *d,
                                int down, uint64_t *counts) {
  const KEY least = (KEY)d->least;
  const unsigned shift = d->shift;
  const KEY mask = (KEY)(((KEY)1 << d->bits) - 1);
  for (uint64_t i = 0; i < n; i++) {
    counts[(KEY)(NAMED(key)(x[i], down) - least) >> shift & mask]++;
  }
}

ALWAYS_INLINE void NAMED(move)(const ELEMENT *x, uint64_t n, const struct radix_digit *d,
                               int down, uint64_t *next, ELEMENT *to) {
  const KEY least = (KEY)d->least;
  const unsigned shift = d->shift;
  const KEY mask = (KEY)(((KEY)1 << d->bits) - 1);
  for (uint64_t i = 0; i < n; i++) {
    const ELEMENT e = x[i];
    to[next[(KEY)(NAMED(key)(e, down) - least) >> shift & mask]++] = e;
  }
}

/* Sorts by insertion. `to` may be x. */
ALWAYS_INLINE void NAMED(insert)(const ELEMENT *x, uint64_t n, int down, ELEMENT *to) {
  for (uint64_t i = 0; i < n; i++) {
    const ELEMENT e = x[i];
    const KEY key = NAMED(key)(e, down);
    uint64_t k = i;
    for (; k > 0 && NAMED(key)(to[k - 1], down) > key; k--) to[k] = to[k - 1];
    to[k] = e;
  }
}

/* Makes one pass by digit d, from x to `to`. next[digit] is afterwards the end of that
 * digit. */
ALWAYS_INLINE void NAMED(distribute)(const ELEMENT *x, uint64_t n, const struct radix_digit *d,
                                     int down, uint64_t *next, ELEMENT *to) {
  const unsigned digits = 1U << d->bits;
  memset(next, 0, digits * sizeof *next);
  NAMED(count)(x, n, d, down, next);
  uint64_t sum = 0;
  for (unsigned digit = 0; digit < digits; digit++) {
    const uint64_t many = next[digit];
    next[digit] = sum;
    sum += many;
  }
  NAMED(move)(x, n, d, down, next, to);
}

/* Sorts `at` from the lowest digit on. The result is in `at` or in `other`. */
ALWAYS_INLINE void NAMED(digits)(ELEMENT *at, ELEMENT *other, uint64_t n,
                                 const struct radix_bits *b, int down, bool stay) {
  const ELEMENT *wanted = stay ? at : other;
  const unsigned bits = b->high - b->low, passes = (bits + SORT_BITS - 1) / SORT_BITS;
  for (unsigned pass = 0; pass < passes; pass++) {
    const unsigned begin = bits * pass / passes, end = bits * (pass + 1) / passes;
    const struct radix_digit d = {b->least, b->low + begin, end - begin};
    uint64_t next[SORT_DIGITS];
    NAMED(distribute)(at, n, &d, down, next, other);
    ELEMENT *turn = at;
    at = other;
    other = turn;
  }
  if (at != wanted) memcpy(other, at, (size_t)n * sizeof *at);
}

static void NAMED(bucket)(ELEMENT *at, ELEMENT *other, uint64_t n, const struct radix_bits *b,
                          int down, bool stay) {
  const unsigned bits = b->high - b->low;
  if (bits == 0) {
    if (!stay) memcpy(other, at, (size_t)n * sizeof *at);
    return;
  }
  if (n <= SORT_INSERTED) {
    NAMED(insert)(at, n, down, stay ? at : other);
    return;
  }
  if (n >= SORT_MANY && bits <= SORT_PASSES * SORT_BITS) {
    NAMED(digits)(at, other, n, b, down, stay);
    return;
  }
  /* gives buckets of two to four elements */
  const unsigned size = 62 - (unsigned)__builtin_clzll(n);
  const struct radix_digit d = radix_highest(b, size < SORT_BITS ? size : SORT_BITS);
  const struct radix_bits rest = {b->least, b->low, d.shift};
  uint64_t next[SORT_DIGITS];
  NAMED(distribute)(at, n, &d, down, next, other);
  uint64_t start = 0;
  for (unsigned digit = 0; digit < 1U << d.bits; digit++) {
    const uint64_t many = next[digit] - start;
    if (many > 0) NAMED(bucket)(other + start, at + start, many, &rest, down, !stay);
    start = next[digit];
  }
}
