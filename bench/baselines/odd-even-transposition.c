/* odd-even-transposition.c - compares neighbours, alternately from the first and the second
 * word.
 */
#include "network.h"

static void rounds(row *words, int64_t width) {
  for (int64_t round = 0; round < width; round++)
    for (int64_t i = round % 2; i + 1 < width; i += 2) exchange(words[i], words[i + 1]);
}

void baseline(const struct array *arguments, struct array *results) {
  sort_batches(arguments, results, rounds);
}
