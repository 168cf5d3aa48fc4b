/* word-count.c - a table with open addressing for each thread and its range of the text, which
 * ends between words; the tables are merged, and the words sorted by number and position. */
/* scalar: words have different lengths, and a table of hashes is looked up for each */
#include "baseline.h"

#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

struct word {
  int64_t count, start; /* of its first occurrence; count 0: no word */
  uint32_t length, hash;
};

struct table {
  struct word *words;
  uint32_t size, used; /* a power of two */
};

static int letter(uint8_t c) {
  return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

static bool separator(uint8_t c) {
  return c == ' ' || c == '\t' || c == '\n';
}

static bool same(const uint8_t *a, const uint8_t *b, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (letter(a[i]) != letter(b[i])) return false;
  }
  return true;
}

static void add(struct table *, const uint8_t *text, struct word);

static void grow(struct table *t, const uint8_t *text) {
  struct table larger = {.size = t->size ? 2 * t->size : 1024};
  larger.words = calloc(larger.size, sizeof *larger.words);
  if (!larger.words) abort();
  for (uint32_t i = 0; i < t->size; i++) {
    if (t->words[i].count) add(&larger, text, t->words[i]);
  }
  free(t->words);
  *t = larger;
}

static void add(struct table *t, const uint8_t *text, struct word w) {
  if (2 * t->used >= t->size) grow(t, text);
  for (uint32_t i = w.hash;; i++) {
    struct word *const at = &t->words[i & (t->size - 1)];
    if (at->count == 0) {
      *at = w;
      t->used++;
      return;
    }
    if (at->hash == w.hash && at->length == w.length &&
        same(text + at->start, text + w.start, w.length)) {
      at->count += w.count;
      if (w.start < at->start) at->start = w.start;
      return;
    }
  }
}

/* The words that begin from `first` on and before `last`. */
static void count_words(struct table *t, const uint8_t *text, int64_t n, int64_t first,
                        int64_t last) {
  int64_t i = first;
  while (i > 0 && i < n && !separator(text[i - 1])) i++;
  for (;;) {
    while (i < last && separator(text[i])) i++;
    if (i >= last) return;
    const int64_t start = i;
    uint64_t hash = 0;
    for (; i < n && !separator(text[i]); i++)
      hash = (hash + (uint64_t)letter(text[i])) * 0x9E3779B97F4A7C15u;
    add(t, text, (struct word){1, start, (uint32_t)(i - start), (uint32_t)(hash >> 32)});
  }
}

static int by_count(const void *a, const void *b) {
  const struct word *x = a, *y = b;
  if (x->count != y->count) return x->count > y->count ? -1 : 1;
  return x->start < y->start ? -1 : x->start > y->start;
}

void baseline(const struct array *arguments, struct array *results) {
  const uint8_t *text = arguments[0].as.b;
  const int64_t n = arguments[0].length;
  struct table all = {0};
#ifdef _OPENMP
#pragma omp parallel
#endif
  {
    struct table own = {0};
#ifdef _OPENMP
    const int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
#else
    const int64_t thread = 0, threads = 1;
#endif
    count_words(&own, text, n, n * thread / threads, n * (thread + 1) / threads);
#ifdef _OPENMP
#pragma omp critical
#endif
    {
      if (!all.words) {
        all = own;
      } else {
        for (uint32_t i = 0; i < own.size; i++) {
          if (own.words[i].count) add(&all, text, own.words[i]);
        }
        free(own.words);
      }
    }
  }
  uint32_t found = 0;
  int64_t letters = 0;
  for (uint32_t i = 0; i < all.size; i++) {
    if (!all.words[i].count) continue;
    letters += all.words[i].length;
    all.words[found++] = all.words[i];
  }
  if (found) qsort(all.words, found, sizeof *all.words, by_count);
  uint8_t *to = result(results, 0, ARRAY_CHAR, letters)->as.b;
  integer *lengths = result(results, 1, ARRAY_INTEGER, found)->as.i;
  integer *counts = result(results, 2, ARRAY_INTEGER, found)->as.i;
  for (uint32_t k = 0; k < found; k++) {
    const struct word w = all.words[k];
    for (uint32_t i = 0; i < w.length; i++) *to++ = (uint8_t)letter(text[w.start + i]);
    lengths[k] = (integer)w.length;
    counts[k] = (integer)w.count;
  }
  free(all.words);
}
