/* vsort.c - a permutation, then exchanges of what a perfect shuffle makes neighbours; that as
 * many times as the width has bits. */
#include "network.h"

#include <string.h>

/* Where each word comes from: the second half reversed, and so in each half, and so on. */
static void make_table(int64_t *table, int64_t first, int64_t stride, int64_t width) {
  if (width == 2) {
    table[0] = first;
    table[1] = first + stride;
  } else if (width > 2) {
    make_table(table, first, stride, width / 2);
    make_table(table + width / 2, first + stride * (width - 1), -stride, width / 2);
  }
}

static void vsort(row *words, int64_t width) {
  _Alignas(64) row others[MOST_WIDTH];
  int64_t table[MOST_WIDTH];
  make_table(table, 0, 1, width);
  for (int64_t round = 1; round < width; round *= 2) {
    for (int64_t i = 0; i < width; i++) memcpy(others[i], words[table[i]], sizeof(row));
    row *from = others, *to = words;
    for (int64_t bit = 1; bit < width; bit *= 2) {
      for (int64_t i = 0; i < width / 2; i++)
        put_in_order(from[i], from[i + width / 2], to[2 * i], to[2 * i + 1]);
      row *swapped = from;
      from = to;
      to = swapped;
    }
    if (from != words) memcpy(words, from, (size_t)width * sizeof(row));
  }
}

void baseline(const struct array *arguments, struct array *results) {
  sort_batches(arguments, results, vsort);
}
