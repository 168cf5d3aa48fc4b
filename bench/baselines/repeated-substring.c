/* repeated-substring.c - prefix doubling, of positions whose substring occurs elsewhere, too:
 * those of 8 characters are sorted by these (radix.h), longer ones by the labels of their
 * halves. When none occurs twice, the longest ones are made longer again, by what has a label
 * of half the length and less. After two passes positions are few. */
/* scalar: the sort scatters; labels are at random positions */
#include "radix.h"

enum { MOST_LEVELS = 40 };

struct position {
  uint64_t key;
  int64_t at;
};

static inline uint64_t position_key(struct position p) {
  return p.key;
}

RADIX_SORT(sort_positions, struct position, position_key)

struct set { /* of positions whose substring of so many characters occurs twice */
  struct position *of;
  int64_t count, length;
};

struct search {
  const uint8_t *text;
  int64_t n;
  struct position *other;
};

/* Only those that have the key of a neighbour stay; their keys become labels. In blocks, which
 * end between groups. */
static int64_t label_groups(struct position *p, int64_t n) {
  enum { BLOCKS = 64 };
  int64_t begins[BLOCKS + 1], kept[BLOCKS];
  for (int b = 0; b <= BLOCKS; b++) {
    int64_t begin = n * b / BLOCKS;
    while (begin > 0 && begin < n && p[begin].key == p[begin - 1].key) begin++;
    begins[b] = begin;
  }
#pragma omp parallel for schedule(dynamic)
  for (int b = 0; b < BLOCKS; b++) {
    int64_t to = begins[b];
    for (int64_t i = begins[b], end; i < begins[b + 1]; i = end) {
      const uint64_t key = p[i].key;
      for (end = i + 1; end < begins[b + 1] && p[end].key == key;) end++;
      for (int64_t k = i; k < end && end - i > 1; k++)
        p[to++] = (struct position){(uint64_t)i, p[k].at};
    }
    kept[b] = to - begins[b];
  }
  int64_t all = 0;
  for (int b = 0; b < BLOCKS; b++) {
    memmove(p + all, p + begins[b], (size_t)kept[b] * sizeof *p);
    all += kept[b];
  }
  return all;
}

static int64_t repeated(const struct search *s, struct position *p, int64_t n,
                        struct radix_counts *counts) {
  uint64_t most = 0;
#pragma omp parallel for reduction(max : most)
  for (int64_t i = 0; i < n; i++) most = p[i].key > most ? p[i].key : most;
  sort_positions(p, s->other, n, radix_bits(most), 0, counts);
  return label_groups(p, n);
}

/* The characters from a position on, as a number. */
static uint64_t characters(const uint8_t *at, int64_t length) {
  uint64_t key = 0;
  for (int64_t k = 0; k < length; k++) key = key << 8 | at[k];
  return key;
}

/* Substrings of `set` that are made longer by one of `labels`, or by characters where these are
 * NULL, and still occur twice: to `to`. */
static struct set extended(const struct search *s, struct set set, const int32_t *labels,
                           int64_t length, struct position *to, struct radix_counts *counts) {
  int64_t found = 0;
  for (int64_t i = 0; i < set.count; i++) {
    const int64_t behind = set.of[i].at + set.length;
    if (labels ? behind >= s->n || labels[behind] < 0 : behind + length > s->n) continue;
    const uint64_t key =
        labels ? (uint64_t)labels[behind] : characters(s->text + behind, length);
    to[found++] = (struct position){set.of[i].key << 32 | key, set.of[i].at};
  }
  found = repeated(s, to, found, counts);
  return (struct set){to, found, set.length + length};
}

/* Of all positions, by their first characters. */
static struct set first_set(const struct search *s, int64_t length, struct position *to,
                            struct radix_counts *counts) {
  const int64_t n = s->n < length ? 0 : s->n - length + 1;
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++) to[i] = (struct position){characters(s->text + i, length), i};
  return (struct set){to, repeated(s, to, n, counts), length};
}

static int32_t *labels_of(const struct search *s, struct set set, int number) {
  int32_t *const labels = scratch(number, (size_t)s->n * sizeof *labels);
  memset(labels, -1, (size_t)s->n * sizeof *labels);
#pragma omp parallel for
  for (int64_t i = 0; i < set.count; i++) labels[set.of[i].at] = (int32_t)set.of[i].key;
  return labels;
}

/* The longest ones that are a power of two times 8 characters long, and those a little longer.
 */
static struct set longest(const struct search *s, struct position *memory[2],
                          struct radix_counts *counts) {
  int32_t *labels[MOST_LEVELS];
  struct set set = first_set(s, 8, memory[0], counts);
  int level = 0, used = 0;
  for (struct set next = set; next.count > 0; level++) {
    set = next;
    labels[level] = labels_of(s, set, 4 + level);
    next = extended(s, set, labels[level], set.length, memory[1 - used], counts);
    used = next.count > 0 ? 1 - used : used;
  }
  int64_t length = set.length;
  for (level -= 2, length /= 2; level >= 0; level--, length /= 2) {
    const struct set next = extended(s, set, labels[level], length, memory[1 - used], counts);
    if (next.count == 0) continue;
    set = next;
    used = 1 - used;
  }
  return set;
}

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length;
  struct search s = {arguments[0].as.b, n, scratch(0, (size_t)n * sizeof(struct position))};
  struct position *memory[2] = {scratch(1, (size_t)n * sizeof(struct position)),
                                scratch(2, (size_t)n * sizeof(struct position))};
  struct radix_counts *const counts = radix_scratch(3);
  struct set set = longest(&s, memory, counts);
  for (int64_t length = 4; length > 0; length /= 2) {
    struct position *const to = set.of == memory[0] ? memory[1] : memory[0];
    const struct set next = set.count > 0 ? extended(&s, set, NULL, length, to, counts)
                                          : first_set(&s, length, to, counts);
    if (next.count > 0) set = next;
  }
  integer first = set.count > 0 ? (integer)n : 0;
  for (int64_t i = 0; i < set.count; i++)
    first = set.of[i].at < first ? (integer)set.of[i].at : first;
  result(results, 0, ARRAY_INTEGER, 1)->as.i[0] = first;
  result(results, 1, ARRAY_INTEGER, 1)->as.i[0] = set.count > 0 ? (integer)set.length : 0;
}
