/* suffix-array.c - prefix doubling: suffixes are sorted by their first 7 characters, then by
 * what is known of the suffix 7, 14, 28... characters behind each. As Larsson and Sadakane
 * (1999) do, only groups of suffixes that agree so far are sorted again. Sorting is by radix
 * (radix.h). */
/* scalar: where a suffix goes depends on the keys of those before it */
#include "radix.h"

enum { FIRST = 7, CODE_BITS = 9, LARGE = 1 << 18 };

struct suffix {
  uint64_t key;
  int64_t start;
};

struct group { /* suffixes from begin to end, with the same beginnings */
  int32_t begin, end;
};

struct groups {
  struct group *of;
  int64_t count;
};

static inline uint64_t suffix_key(struct suffix s) {
  return s.key;
}

RADIX_SORT(sort_suffixes, struct suffix, suffix_key)

static void first_keys(const uint8_t *text, int64_t n, struct suffix *s) {
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++) {
    uint64_t key = 0;
    for (int64_t k = i; k < i + FIRST; k++)
      key = key << CODE_BITS | (k < n ? (uint64_t)text[k] + 1 : 0);
    s[i] = (struct suffix){key, i};
  }
}

/* Suffixes with equal keys get the same order number, where the first of them is. Adds those
 * that are more than one to the groups. */
static void divide(const struct suffix *s, struct group g, int32_t *order,
                   struct groups *groups) {
  int64_t found = 0;
  for (int32_t i = g.begin, begin = g.begin; i < g.end; i++) {
    if (s[i].key != s[begin].key) begin = i;
    order[s[i].start] = begin;
    found += i == begin + 1;
  }
  if (found == 0) return;
  int64_t at;
#ifdef _OPENMP
#pragma omp atomic capture
#endif
  {
    at = groups->count;
    groups->count += found;
  }
  for (int32_t i = g.begin, begin = g.begin; i < g.end; i++) {
    if (s[i].key != s[begin].key) begin = i;
    if (i == begin + 1) groups->of[at].begin = begin;
    if (i > begin && (i + 1 == g.end || s[i + 1].key != s[i].key)) groups->of[at++].end = i + 1;
  }
}

static void sort_group(struct suffix *s, struct suffix *other, struct group g, int64_t n,
                       const int32_t *order, int64_t known, struct radix_counts *all_threads) {
  const int64_t many = g.end - g.begin;
  const int bits = radix_bits((uint64_t)n);
  s += g.begin;
  other += g.begin;
  for (int64_t i = 0; i < many; i++) {
    const int64_t behind = s[i].start + known;
    s[i].key = behind < n ? (uint64_t)order[behind] + 1 : 0;
  }
  if (all_threads) {
    sort_suffixes(s, other, many, bits, 0, all_threads);
  } else {
    sort_suffixes_bucket(s, other, many, bits, 0, false);
  }
}

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length;
  struct suffix *const s = scratch(0, (size_t)n * sizeof *s);
  struct suffix *const other = scratch(1, (size_t)n * sizeof *other);
  int32_t *const order = scratch(2, (size_t)n * sizeof *order);
  struct groups now = {scratch(3, (size_t)n * sizeof *now.of), 0};
  struct groups next = {scratch(4, (size_t)n * sizeof *next.of), 0};
  struct radix_counts *const counts = radix_scratch(5);
  first_keys(arguments[0].as.b, n, s);
  sort_suffixes(s, other, n, FIRST * CODE_BITS, 0, counts);
  divide(s, (struct group){0, (int32_t)n}, order, &now);
  for (int64_t known = FIRST; now.count > 0; known *= 2) {
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t k = 0; k < now.count; k++) {
      const struct group g = now.of[k];
      if (g.end - g.begin < LARGE) sort_group(s, other, g, n, order, known, NULL);
    }
    for (int64_t k = 0; k < now.count; k++) {
      const struct group g = now.of[k];
      if (g.end - g.begin >= LARGE) sort_group(s, other, g, n, order, known, counts);
    }
    next.count = 0;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t k = 0; k < now.count; k++) divide(s, now.of[k], order, &next);
    const struct groups done = now;
    now = next;
    next = done;
  }
  integer *const array = result(results, 0, ARRAY_INTEGER, n)->as.i;
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++) array[i] = (integer)s[i].start;
}
