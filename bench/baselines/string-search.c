/* string-search.c - patterns are found by the hash of their first few characters: a bit set
 * that fits in the first-level cache passes over nearly all positions of the text; at the
 * others the patterns of that hash are compared. Two sweeps over blocks of the text, to count
 * and to store. */
/* scalar: the bits that hashes choose are looked up one by one */
#include "baseline.h"

#include <string.h>

enum { HASH_BITS = 16, HASHES = 1 << HASH_BITS, MOST_KEY = 4, BLOCK = 1 << 16 };

struct patterns {
  const uint8_t *letters;
  const integer *lengths;
  int64_t *starts, *order; /* patterns by hash, those of one hash in order of their numbers */
  int64_t *begin; /* [hash]: where its patterns begin in order; [hash + 1]: where they end */
  uint64_t *bits;
  int64_t key; /* characters that are hashed */
};

static uint32_t hash_of(const uint8_t *s, int64_t key) {
  uint32_t x = 0;
  if (key == MOST_KEY) {
    memcpy(&x, s, MOST_KEY);
  } else {
    for (int64_t k = 0; k < key; k++) x = x << 8 | s[k];
  }
  return x * 2654435761u >> (32 - HASH_BITS);
}

static void prepare(struct patterns *p, int64_t count) {
  p->starts = scratch(0, ((size_t)count + 1) * sizeof *p->starts);
  p->order = scratch(1, ((size_t)count + 1) * sizeof *p->order);
  p->begin = scratch(2, (HASHES + 2) * sizeof *p->begin);
  p->bits = scratch(3, HASHES / 8);
  memset(p->begin, 0, (HASHES + 2) * sizeof *p->begin);
  memset(p->bits, 0, HASHES / 8);
  p->key = MOST_KEY;
  p->starts[0] = 0;
  for (int64_t j = 0; j < count; j++) {
    if (p->lengths[j] < p->key) p->key = p->lengths[j];
    p->starts[j + 1] = p->starts[j] + p->lengths[j];
  }
  for (int64_t j = 0; j < count; j++) {
    const uint32_t h = hash_of(p->letters + p->starts[j], p->key);
    p->begin[h + 2]++;
    p->bits[h / 64] |= (uint64_t)1 << h % 64;
  }
  for (int h = 0; h <= HASHES; h++) p->begin[h + 1] += p->begin[h];
  for (int64_t j = 0; j < count; j++)
    p->order[p->begin[hash_of(p->letters + p->starts[j], p->key) + 1]++] = j;
}

/* The occurrences from `first` on and before `last`; how many. Stored unless positions is NULL.
 */
static int64_t search(const struct patterns *p, const uint8_t *text, int64_t n, int64_t first,
                      int64_t last, integer *positions, integer *numbers) {
  int64_t found = 0;
  for (int64_t i = first; i < last; i++) {
    const uint32_t h = hash_of(text + i, p->key);
    if (!(p->bits[h / 64] >> h % 64 & 1)) continue;
    for (int64_t k = p->begin[h]; k < p->begin[h + 1]; k++) {
      const int64_t j = p->order[k], length = p->lengths[j];
      if (length > n - i || memcmp(text + i, p->letters + p->starts[j], (size_t)length) != 0)
        continue;
      if (positions) {
        positions[found] = (integer)i;
        numbers[found] = (integer)j;
      }
      found++;
    }
  }
  return found;
}

void baseline(const struct array *arguments, struct array *results) {
  const uint8_t *const text = arguments[0].as.b;
  struct patterns p = {.letters = arguments[1].as.b, .lengths = arguments[2].as.i};
  prepare(&p, arguments[2].length);
  const int64_t n = arguments[0].length, end = n - p.key + 1;
  const int64_t blocks = end > 0 ? (end + BLOCK - 1) / BLOCK : 0;
  int64_t *const found = scratch(4, ((size_t)blocks + 1) * sizeof *found);
#pragma omp parallel for schedule(dynamic)
  for (int64_t b = 0; b < blocks; b++) {
    const int64_t first = b * BLOCK, last = first + BLOCK < end ? first + BLOCK : end;
    found[b] = search(&p, text, n, first, last, NULL, NULL);
  }
  int64_t total = 0;
  for (int64_t b = 0; b < blocks; b++) {
    const int64_t many = found[b];
    found[b] = total;
    total += many;
  }
  integer *const positions = result(results, 0, ARRAY_INTEGER, total)->as.i;
  integer *const numbers = result(results, 1, ARRAY_INTEGER, total)->as.i;
#pragma omp parallel for schedule(dynamic)
  for (int64_t b = 0; b < blocks; b++) {
    const int64_t first = b * BLOCK, last = first + BLOCK < end ? first + BLOCK : end;
    search(&p, text, n, first, last, positions + found[b], numbers + found[b]);
  }
}
