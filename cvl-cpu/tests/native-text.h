/* native-text.h - procedures written by hand, as the text of a program's native code, for tests
 * of those who execute it. NATIVE_H is the path of procedures/native.h. */
#ifndef RAVEL_CVL_CPU_TESTS_NATIVE_TEXT_H
#define RAVEL_CVL_CPU_TESTS_NATIVE_TEXT_H

#include "cvl/procedures.h"

/* What every text begins with: memory, and results that grow. */
static const char native_prelude[] =
    "#include \"" NATIVE_H "\"\n"
    "#include <string.h>\n"
    "static bool room(struct native_thread *t, struct native_buffer *b, uint64_t bytes) {\n"
    "  if (b->room >= bytes) return true;\n"
    "  char *at = t->allocate(t->with, 2 * bytes);\n"
    "  if (!at) return false;\n"
    "  if (b->room) memcpy(at, b->at, b->room);\n"
    "  t->release(t->with, b->at, b->room);\n"
    "  b->at = at;\n"
    "  b->room = 2 * bytes;\n"
    "  return true;\n"
    "}\n"
    "static bool put(struct native_thread *t, struct native_buffer *b, const void *x,\n"
    "                uint64_t n, uint64_t bytes) {\n"
    "  if (!room(t, b, (b->n + n) * bytes)) return false;\n"
    "  memcpy(b->at + b->n * bytes, x, n * bytes);\n"
    "  b->n += n;\n"
    "  return true;\n"
    "}\n"
    "static bool put_int(struct native_thread *t, struct native_buffer *b, int64_t x) {\n"
    "  return put(t, b, &x, 1, sizeof x);\n"
    "}\n"
    "#define ENTRY(name)                                                     \\\n"
    "  static bool name(struct native_thread *, uint64_t,                    \\\n"
    "                   const struct native_value *, struct native_buffer *);\\\n"
    "  bool RAVEL_ENTRY(name)(struct native_thread *t, uint64_t first,       \\\n"
    "                         uint64_t last, const struct native_value *p,   \\\n"
    "                         struct native_buffer *r) {                     \\\n"
    "    for (uint64_t i = first; i < last; i++) {                           \\\n"
    "      if (*t->stops || !name(t, i, p, r)) return false;                 \\\n"
    "    }                                                                   \\\n"
    "    return true;                                                        \\\n"
    "  }                                                                     \\\n"
    "  static bool name(struct native_thread *t, uint64_t i,                 \\\n"
    "                   const struct native_value *p, struct native_buffer *r)\n"
    "#define LENGTH(k) ((int64_t)(p[k].offsets[i + 1] - p[k].offsets[i]))\n"
    "#define ROW(type, k, of) ((const type *)p[k].data + p[of].offsets[i])\n";

/* Procedures of rows of INTs: parameter 0 has the segments, parameter 1 the elements. */
static const char native_rows[] =
    "ENTRY(sum) {\n"
    "  int64_t s = 0;\n"
    "  for (int64_t k = 0; k < LENGTH(0); k++) s += ROW(int64_t, 1, 0)[k];\n"
    "  return put_int(t, &r[0], s);\n"
    "}\n"
    "ENTRY(evens) {\n"
    "  int64_t n = 0;\n"
    "  for (int64_t k = 0; k < LENGTH(0); k++) {\n"
    "    const int64_t x = ROW(int64_t, 1, 0)[k];\n"
    "    if (x % 2 == 0 && !put_int(t, &r[1], x)) return false;\n"
    "    n += x % 2 == 0;\n"
    "  }\n"
    "  return put_int(t, &r[0], n);\n"
    "}\n"
    /* Leaves a block of the arena and a buffer of the pool, as code that gives up may. */
    "ENTRY(unlucky) {\n"
    "  for (int64_t k = 0; k < LENGTH(0); k++) {\n"
    "    if (ROW(int64_t, 1, 0)[k] != 13) continue;\n"
    "    struct native_block *b = t->allocate(t->with, 1000);\n"
    "    if (b) *b = (struct native_block){.previous = t->own.block, .bytes = 1000};\n"
    "    if (b && t->own.block) t->own.block->next = b;\n"
    "    if (b) t->own.block = b;\n"
    "    struct native_pooled *p = t->allocate(t->with, sizeof *p);\n"
    "    if (p) *p = (struct native_pooled){.next = t->used_buffers};\n"
    "    if (p) t->used_buffers = p;\n"
    "    return false;\n"
    "  }\n"
    "  return put_int(t, &r[0], LENGTH(0));\n"
    "}\n"
    "static int64_t descend(struct native_thread *t, int64_t n) {\n"
    "  if (*t->stops || (uintptr_t)__builtin_frame_address(0) <= t->lowest) return -1;\n"
    "  volatile char frame[256];\n"
    "  frame[n % 256] = 1;\n"
    "  const int64_t below = n == 0 ? 0 : descend(t, n - 1);\n"
    "  return below < 0 ? -1 : below + frame[n % 256];\n"
    "}\n"
    "ENTRY(depth) {\n"
    "  const int64_t n = descend(t, LENGTH(0));\n"
    "  return n >= 0 && put_int(t, &r[0], n - 1);\n"
    "}\n"
    "ENTRY(forever) {\n"
    "  while (!*t->stops) {}\n"
    "  return false;\n"
    "}\n";

/* Others. `order` has rows of FLOATs; its results are the row descending, and the ranks of the
 * row ascending. `mixed` has an INT and a BOOL for each instance, and a shared vector and
 * descriptor; its result is a BOOL: whether the INT is in the segment of the shared vector that
 * the BOOL chooses. `nested` has sequences of sequences of INTs; its result are their sums. */
static const char native_others[] =
    "ENTRY(order) {\n"
    "  const int64_t n = LENGTH(0);\n"
    "  const double *x = ROW(double, 1, 0);\n"
    "  if (!room(t, &r[1], (r[1].n + n) * 8) || !room(t, &r[3], (r[3].n + n) * 8)) return "
    "false;\n"
    "  if (!t->sort(t->with, true, true, x, n, r[1].at + 8 * r[1].n)) return false;\n"
    "  if (!t->rank(t->with, true, false, x, n, r[3].at + 8 * r[3].n)) return false;\n"
    "  r[1].n += n;\n"
    "  r[3].n += n;\n"
    "  return put_int(t, &r[0], n) && put_int(t, &r[2], n);\n"
    "}\n"
    "ENTRY(mixed) {\n"
    "  const bool second = ((const bool *)p[1].data)[i];\n"
    "  const uint64_t *o = p[2].offsets;\n"
    "  bool found = false;\n"
    "  for (uint64_t k = o[second]; k < o[second + 1]; k++)\n"
    "    found |= ((const int64_t *)p[3].data)[k] == ((const int64_t *)p[0].data)[i];\n"
    "  return put(t, &r[0], &found, 1, 1);\n"
    "}\n"
    "ENTRY(nested) {\n"
    "  for (uint64_t k = p[0].offsets[i]; k < p[0].offsets[i + 1]; k++) {\n"
    "    int64_t s = 0;\n"
    "    for (uint64_t j = p[1].offsets[k]; j < p[1].offsets[k + 1]; j++)\n"
    "      s += ((const int64_t *)p[2].data)[j];\n"
    "    if (!put_int(t, &r[1], s)) return false;\n"
    "  }\n"
    "  return put_int(t, &r[0], LENGTH(0));\n"
    "}\n";

static const uint8_t native_kinds_row[] = {CVL_PROCEDURE_SEGDES, CVL_PROCEDURE_INT};
static const uint32_t native_sizes_row[] = {CVL_PROCEDURE_EACH, 0};
static const uint8_t native_kinds_int[] = {CVL_PROCEDURE_INT};
static const uint32_t native_sizes_int[] = {CVL_PROCEDURE_EACH};

#define NATIVE_OF_ROWS(name, entry_name, kinds, sizes)                                         \
  static const struct cvl_procedure name = {                                                   \
      entry_name, 2, sizeof kinds, native_kinds_row, kinds, native_sizes_row, sizes, false}

#endif
