/* inverted-index.c - each thread has a range of the documents, a table of the words there with
 * open addressing, and a list of what it finds: word and document, a word of a document once.
 * One thread gives the words their numbers, in the order of the threads; all write the lists.
 */
/* scalar: words have different lengths, and a table of hashes is looked up for each */
#include "csr.h"
#include "grouping.h"

#include <stdlib.h>
#include <string.h>

struct word {
  int64_t start;
  uint32_t length, hash;
  int64_t latest, count; /* the document that had it last; how many had it */
  int64_t number; /* among the words of all threads; then, where its next document goes */
};

struct posting {
  int32_t word, document;
};

struct part {
  struct word *words;
  struct posting *postings;
  int32_t *table; /* 1 and the position of a word, or 0 */
  int64_t used, size, found, room;
};

static int letter(uint8_t c) {
  return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

static bool separator(uint8_t c) {
  return c == ' ' || c == '\t' || c == '\n';
}

static void *grown(void *at, int64_t count, size_t each) {
  at = realloc(at, (size_t)count * each);
  if (!at) abort();
  return at;
}

static bool same(const uint8_t *text, struct word a, struct word b) {
  if (a.hash != b.hash || a.length != b.length) return false;
  for (uint32_t i = 0; i < a.length; i++) {
    if (letter(text[a.start + i]) != letter(text[b.start + i])) return false;
  }
  return true;
}

static int32_t *entry(const struct part *p, const uint8_t *text, struct word w) {
  for (uint32_t i = w.hash;; i++) {
    int32_t *const at = &p->table[i & (uint32_t)(p->size - 1)];
    if (*at == 0 || same(text, p->words[*at - 1], w)) return at;
  }
}

static void grow(struct part *p, const uint8_t *text) {
  p->size = p->size ? 2 * p->size : 1024;
  p->words = grown(p->words, p->size / 2, sizeof *p->words);
  free(p->table);
  p->table = calloc((size_t)p->size, sizeof *p->table);
  if (!p->table) abort();
  for (int64_t k = 0; k < p->used; k++) *entry(p, text, p->words[k]) = (int32_t)k + 1;
}

static int32_t position(struct part *p, const uint8_t *text, struct word w) {
  if (2 * p->used >= p->size) grow(p, text);
  int32_t *const at = entry(p, text, w);
  if (*at == 0) {
    p->words[p->used] = w;
    *at = (int32_t)++p->used;
  }
  return *at - 1;
}

static void add_posting(struct part *p, int32_t word, int64_t document) {
  struct word *const w = &p->words[word];
  if (w->latest == document) return;
  w->latest = document;
  w->count++;
  if (p->found == p->room) {
    p->room = 2 * p->room + 1024;
    p->postings = grown(p->postings, p->room, sizeof *p->postings);
  }
  p->postings[p->found++] = (struct posting){word, (int32_t)document};
}

static void add_document(struct part *p, const uint8_t *text, int64_t i, int64_t end,
                         int64_t document) {
  for (;;) {
    while (i < end && separator(text[i])) i++;
    if (i >= end) return;
    const int64_t start = i;
    uint64_t hash = 0;
    for (; i < end && !separator(text[i]); i++)
      hash = (hash + (uint64_t)letter(text[i])) * 0x9E3779B97F4A7C15u;
    const struct word w = {start, (uint32_t)(i - start), (uint32_t)(hash >> 32), -1, 0, 0};
    add_posting(p, position(p, text, w), document);
  }
}

/* The first document of a thread: so that all have as much text. */
static int64_t first_of(const int64_t *offsets, int64_t n, int64_t thread, int64_t threads) {
  int64_t low = 0, high = n;
  if (thread == threads) return n;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (offsets[middle] < offsets[n] * thread / threads)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The words of all parts are those of `all`, whose counts are summed. */
static void number_words(struct part *all, const struct part *parts, int threads,
                         const uint8_t *text) {
  for (int t = 0; t < threads; t++) {
    for (int64_t k = 0; k < parts[t].used; k++) {
      struct word *const w = &parts[t].words[k];
      struct word new = *w;
      new.count = 0;
      w->number = position(all, text, new);
      all->words[w->number].count += w->count;
    }
  }
}

static void write_words(struct part *all, const uint8_t *text, struct array *results) {
  int64_t letters = 0, before = 0;
  for (int64_t k = 0; k < all->used; k++) letters += all->words[k].length;
  uint8_t *to = result(results, 0, ARRAY_CHAR, letters)->as.b;
  integer *lengths = result(results, 1, ARRAY_INTEGER, all->used)->as.i;
  integer *counts = result(results, 3, ARRAY_INTEGER, all->used)->as.i;
  for (int64_t k = 0; k < all->used; k++) {
    struct word *const w = &all->words[k];
    for (uint32_t i = 0; i < w->length; i++) *to++ = (uint8_t)letter(text[w->start + i]);
    lengths[k] = (integer)w->length;
    counts[k] = (integer)w->count;
    w->number = before;
    before += w->count;
  }
  result(results, 2, ARRAY_INTEGER, before);
}

/* Where the documents of each word of each part go: those of the first part come first. */
static void place_postings(struct part *all, struct part *parts, int threads) {
  for (int t = 0; t < threads; t++) {
    for (int64_t k = 0; k < parts[t].used; k++) {
      struct word *const w = &parts[t].words[k], *const of_all = &all->words[w->number];
      w->number = of_all->number;
      of_all->number += w->count;
    }
  }
}

static void free_part(struct part *p) {
  free(p->words);
  free(p->postings);
  free(p->table);
}

void baseline(const struct array *arguments, struct array *results) {
  const uint8_t *text = arguments[0].as.b;
  const int64_t n = arguments[1].length;
  const int threads = threads_of();
  int64_t *const offsets = scratch(0, ((size_t)n + 1) * sizeof *offsets);
  struct part *const parts = calloc((size_t)threads + 1, sizeof *parts), *all = parts + threads;
  if (!parts) abort();
  offsets_of(arguments[1].as.i, n, offsets);
#pragma omp parallel for schedule(static, 1)
  for (int t = 0; t < threads; t++) {
    const int64_t end = first_of(offsets, n, t + 1, threads);
    for (int64_t d = first_of(offsets, n, t, threads); d < end; d++)
      add_document(&parts[t], text, offsets[d], offsets[d + 1], d);
  }
  number_words(all, parts, threads, text);
  write_words(all, text, results);
  place_postings(all, parts, threads);
#pragma omp parallel for schedule(static, 1)
  for (int t = 0; t < threads; t++) {
    for (int64_t k = 0; k < parts[t].found; k++)
      results[2].as.i[parts[t].words[parts[t].postings[k].word].number++] =
          parts[t].postings[k].document;
  }
  for (int t = 0; t <= threads; t++) free_part(&parts[t]);
  free(parts);
}
