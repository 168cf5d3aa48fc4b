/* intern.c - an open-addressing table of names, and edit distance. */
#include "base/intern.h"

#include <string.h>

enum { FIRST_CAPACITY = 64 };

/* FNV-1a, 64 bits (Fowler, Noll, Vo). */
static uint64_t hash(const char *text, size_t length) {
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)text[i]) * 1099511628211u;
  return h ^ h >> 32;
}

void intern_init(struct intern *table, struct arena *arena) {
  table->arena = arena;
  table->slots = NULL;
  table->capacity = table->count = 0;
}

/* The slot of the name, or the free slot where it belongs. */
static struct name **find(struct name **slots, size_t capacity, const char *text,
                          size_t length) {
  size_t i = (size_t)hash(text, length) & (capacity - 1);
  while (slots[i] != NULL &&
         (slots[i]->length != length || memcmp(slots[i]->text, text, length) != 0)) {
    i = (i + 1) & (capacity - 1);
  }
  return &slots[i];
}

static void grow(struct intern *table) {
  size_t capacity = table->capacity == 0 ? FIRST_CAPACITY : 2 * table->capacity;
  struct name **slots = arena_alloc(table->arena, capacity * sizeof *slots);
  for (size_t i = 0; i < table->capacity; i++) {
    struct name *name = table->slots[i];
    if (name != NULL) *find(slots, capacity, name->text, name->length) = name;
  }
  table->slots = slots;
  table->capacity = capacity;
}

const struct name *intern_name(struct intern *table, const char *text, size_t length) {
  if (2 * table->count >= table->capacity) grow(table);
  struct name **slot = find(table->slots, table->capacity, text, length);
  if (*slot == NULL) {
    struct name *name = arena_alloc(table->arena, sizeof *name + length + 1);
    name->length = (uint32_t)length;
    name->number = (uint32_t)table->count++;
    memcpy(name->text, text, length);
    *slot = name;
  }
  return *slot;
}

enum { LONGEST_COMPARED = 63 };

static unsigned least(unsigned a, unsigned b) {
  return a < b ? a : b;
}

/* The optimal string alignment distance, by dynamic programming over three rows. */
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
      unsigned edits =
          least(least(row[j - 1], last[j]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        edits = least(edits, before[j - 2] + 1);
      }
      row[j] = edits;
    }
  }
  return least(rows[n % 3][m], limit + 1);
}
