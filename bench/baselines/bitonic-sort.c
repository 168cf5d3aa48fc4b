/* bitonic-sort.c - Batcher's: runs of two halves, one upward and one downward, put in order. */
#include "network.h"

static void bitonic(row *words, int64_t width) {
  for (int64_t run = 2; run <= width; run *= 2)
    for (int64_t distance = run / 2; distance > 0; distance /= 2)
      for (int64_t block = 0; block < width; block += 2 * distance)
        for (int64_t i = block; i < block + distance; i++)
          if (run < width && (i & run))
            exchange(words[i + distance], words[i]);
          else
            exchange(words[i], words[i + distance]);
}

void baseline(const struct array *arguments, struct array *results) {
  sort_batches(arguments, results, bitonic);
}
