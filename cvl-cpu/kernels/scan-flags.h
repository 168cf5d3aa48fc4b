/* scan-flags.h - scans of BOOL. Included by scan.c.
 *
 * The expressions for BOOL are exact in any order and bitwise, so they serve for eight elements
 * in a word as well as for one. A scan makes the prefix within each word. Then it carries the
 * last element of a word through the words, with one operation each, and combines that into
 * them. Element i is byte i of its word: bytes are little-endian.
 */
#include "cvl-cpu/combine/combine.h"
#include "cvl-cpu/kernels/scan-levels.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words of flags need it");

enum { WORD = sizeof(uint64_t), WORDS = STRIP / WORD };
static const uint64_t every_byte = UINT64_C(0x0101010101010101);

ALWAYS_INLINE uint64_t combine_words(enum cvl_op operation, uint64_t x, uint64_t y) {
  switch (operation) {
#define COMBINE(op, row, identity, pad, exact, expression)                                     \
  COMBINE_OF_CLASS(row)(case OP_##op : return (expression);)
#include "tables/operations.def"
  default: __builtin_unreachable();
  }
}

ALWAYS_INLINE uint64_t pad_word(enum cvl_op op) {
  return NAMED(pad)(op) * every_byte;
}

/* Returns w with the pad in the bits of the mask. */
ALWAYS_INLINE uint64_t padded_word(enum cvl_op op, uint64_t w, uint64_t mask) {
  return (w & ~mask) | (pad_word(op) & mask);
}

/* Returns the elements s bits before those of w, with pads before the first. */
ALWAYS_INLINE uint64_t word_back(enum cvl_op op, uint64_t w, int s) {
  return w << s | pad_word(op) >> (64 - s);
}

/* Returns the last element of w in every byte. */
ALWAYS_INLINE uint64_t last_of_word(uint64_t w) {
  return (w >> 56) * every_byte;
}

/* Sets made to the scan of n <= STRIP elements, whose earlier elements combine to `carry` (in
 * every byte). Returns the combination of all. The last word is padded. */
ALWAYS_INLINE uint64_t scan_words(enum cvl_op op, const uint8_t *x, uint64_t n, uint64_t carry,
                                  uint64_t made[WORDS]) {
  uint64_t last[WORDS];
  const int words = (int)((n + WORD - 1) / WORD);
  made[words - 1] = pad_word(op);
  memcpy(made, x, n);
  for (int i = 0; i < words; i++) {
    uint64_t w = made[i];
    w = combine_words(op, word_back(op, w, 8), w);
    w = combine_words(op, word_back(op, w, 16), w);
    w = combine_words(op, word_back(op, w, 32), w);
    last[i] = last_of_word(w);
    made[i] = word_back(op, w, 8);
  }
  for (int i = 0; i < words; i++) {
    const uint64_t w = last[i];
    last[i] = carry;
    carry = combine_words(op, carry, w);
  }
  for (int i = 0; i < words; i++) made[i] = combine_words(op, last[i], made[i]);
  return carry;
}

ALWAYS_INLINE void NAMED(totals)(enum cvl_op op, const void *data, uint64_t windows,
                                 void *totals) {
  const uint8_t *x = data;
  uint8_t *y = totals;
  for (uint64_t k = 0; k < windows; k++, x += SCAN_WINDOW) {
    uint64_t words[SCAN_WINDOW / WORD], w = pad_word(op);
    memcpy(words, x, sizeof words);
    for (int i = 0; i < SCAN_WINDOW / WORD; i++) w = combine_words(op, w, words[i]);
    for (int s = 32; s >= 8; s /= 2) w = combine_words(op, w, w >> s);
    y[k] = (uint8_t)w;
  }
}

/* The order does not matter, so the prefix before the first window is enough for all
 * windows. */
ALWAYS_INLINE void NAMED(write)(enum cvl_op op, const void *data, uint64_t n,
                                const void *before, bool from_start, void *results,
                                scan_put *put) {
  const uint8_t *x = data, *start = before;
  uint8_t *e = results;
  uint64_t made[WORDS], carry = *start * every_byte;
  for (uint64_t i = 0; i < n; i += STRIP) {
    const uint64_t m = n - i < STRIP ? n - i : STRIP;
    carry = scan_words(op, x + i, m, carry, made);
    if (i == 0 && from_start) memset(made, NAMED(identity)(op), 1);
    put(e + i, made, m);
  }
}

/* Scans segments of at most STRIP elements in all, the first at x[0]. The prefix in a word
 * stops where a segment starts, and so does the carried element. */
ALWAYS_INLINE void NAMED(strip)(enum cvl_op op, const uint8_t *x, const uint64_t *offsets,
                                uint64_t count, uint8_t *e, scan_put *put) {
  const uint64_t n = offsets[count] - offsets[0];
  const int words = (int)((n + WORD - 1) / WORD);
  /* heads has 255 where a segment starts, and one word more for segments that start at the
   * end. */
  uint64_t made[WORDS + 2], last[WORDS], open[WORDS], heads[WORDS + 1];
  memset(heads, 0, sizeof *heads * ((size_t)words + 1));
  for (uint64_t k = 0; k < count; k++) ((uint8_t *)heads)[offsets[k] - offsets[0]] = 255;
  made[words] = 0;
  memcpy(made, x, n);
  for (int i = 0; i < words; i++) {
    uint64_t w = made[i], near = heads[i];
    w = combine_words(op, padded_word(op, word_back(op, w, 8), near), w);
    near |= near << 8;
    w = combine_words(op, padded_word(op, word_back(op, w, 16), near), w);
    near |= near << 16;
    w = combine_words(op, padded_word(op, word_back(op, w, 32), near), w);
    near |= near << 32;
    made[i] = w;
    last[i] = last_of_word(w);
    open[i] = ~near;
  }
  uint64_t carry = pad_word(op);
  for (int i = 0; i < words; i++) {
    const uint64_t w = last[i];
    last[i] = carry;
    carry = combine_words(op, padded_word(op, carry, ~last_of_word(open[i])), w);
  }
  for (int i = 0; i < words; i++) {
    made[i] = combine_words(op, padded_word(op, last[i], ~open[i]), made[i]);
  }
  /* An exclusive scan is one position later, and has the identity where segments start. */
  uint8_t scan[STRIP + 2 * WORD];
  memcpy(scan + 1, made, (size_t)words * WORD);
  for (uint64_t k = 0; k < count; k++) scan[offsets[k] - offsets[0]] = NAMED(identity)(op);
  put(e, scan, n);
}

ALWAYS_INLINE void NAMED(segments)(enum cvl_op op, const void *data, const uint64_t *offsets,
                                   uint64_t count, void *results, scan_put *put) {
  const uint8_t *x = data, pad = NAMED(pad)(op);
  uint8_t *e = results;
  for (uint64_t k = 0; k < count;) {
    const uint64_t start = offsets[k];
    const uint64_t to = scan_strip_end(offsets, k, count);
    if (to > k) {
      NAMED(strip)(op, x + start, offsets + k, to - k, e + start, put);
      k = to;
    } else {
      NAMED(write)(op, x + start, offsets[k + 1] - start, &pad, true, e + start, put);
      k++;
    }
  }
}

#include "cvl-cpu/kernels/scan-entries.h"
