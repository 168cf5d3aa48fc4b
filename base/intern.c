/* intern.c - names by their hashes, and edit distance. */
#include "base/intern.h"

#include <string.h>

/* The hash is FNV-1a with 64 bits (Fowler, Noll, Vo). */
static uint64_t hash(const char *text, size_t length) {
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)text[i]) * 1099511628211u;
  return h;
}

void intern_init(struct intern *table, struct arena *arena) {
  *table = (struct intern){.arena = arena};
  scoped_map_init(&table->numbers, arena);
}

static const struct name *intern_add(struct intern *table, const char *text, size_t length) {
  struct name *name = arena_alloc(table->arena, sizeof *name + length + 1);
  name->length = (uint32_t)length;
  memcpy(name->text, text, length);
  table->names.count = table->numbers.items.count; /* without what failed before its number */
  *array_push(table->arena, &table->names) = name;
  name->number = scoped_map_add(&table->numbers, hash(text, length));
  return name;
}

const struct name *intern_name(struct intern *table, const char *text, size_t length) {
  uint32_t next = scoped_map_first(&table->numbers, hash(text, length));
  for (; next != 0; next = scoped_map_earlier(&table->numbers, next)) {
    const struct name *name = table->names.items[next - 1];
    if (name->length == length && memcmp(name->text, text, length) == 0) return name;
  }
  return intern_add(table, text, length);
}

enum { LONGEST_COMPARED = 63 };

static unsigned lesser_distance(unsigned a, unsigned b) {
  return a < b ? a : b;
}

/* This is the optimal string alignment distance, by dynamic programming over three rows. */
unsigned edit_distance(const char *a, const char *b, unsigned limit) {
  size_t n = strlen(a), m = strlen(b);
  size_t apart = n > m ? n - m : m - n;
  if (apart > limit || n > LONGEST_COMPARED || m > LONGEST_COMPARED) return limit + 1;
  unsigned rows[3][LONGEST_COMPARED + 1];
  for (size_t j = 0; j <= m; j++) rows[0][j] = (unsigned)j;
  for (size_t i = 1; i <= n; i++) {
    unsigned *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
    row[0] = (unsigned)i;
    for (size_t j = 1; j <= m; j++) {
      unsigned edits = lesser_distance(lesser_distance(row[j - 1], last[j]) + 1,
                                       last[j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        edits = lesser_distance(edits, before[j - 2] + 1);
      }
      row[j] = edits;
    }
  }
  return lesser_distance(rows[n % 3][m], limit + 1);
}

struct nearest_name nearest_to(const char *wanted) {
  const size_t length = strlen(wanted);
  const unsigned most = length < 3 ? 0 : length < 6 ? 1 : 2; /* more would be another word */
  return (struct nearest_name){wanted, NULL, most + 1};
}

void nearest_try(struct nearest_name *n, const char *name) {
  const unsigned distance = edit_distance(n->wanted, name, n->least);
  if (distance > n->least || (distance == n->least && !n->best)) return;
  if (distance == n->least && strcmp(n->best, name) <= 0) return;
  n->least = distance;
  n->best = name;
}
