/* scan.c - sequential scans, for every element type and combining operation. */
#include "cvl-cpu/kernels/scan.h"

#include <string.h>
#ifdef __AVX512VL__
#include <immintrin.h>
#endif

#include "cvl-cpu/cpu.h"
#include "cvl-cpu/kernels/kernels.h"

enum {
  SIDE = CVL_SCAN_ROW,        /* windows whose totals are scanned side by side */
  STRIP = SIDE * SCAN_WINDOW, /* elements of a strip, whose segments are scanned side by side */
  AHEAD = 2 << 10,            /* bytes: how far ahead elements are prefetched */
  LINE = 64                   /* bytes of a cache line, which rows in memory should not cross */
};

/* The bytes of a register. */
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

/* Marks a loop that the compiler vectorises as it stands. */
#ifdef __clang__
#define ROLLED INDEPENDENT
#else
#define ROLLED _Pragma("GCC unroll 1")
#endif

/* ---- strips: segments of at most a window, side by side ---- */

/* A segment of a strip that has several rows. */
struct scan_span {
  int start, n;
};

/* Returns the end of the strip that begins with segment k: the first segment that does not
 * belong to it. */
static uint64_t scan_strip_end(const uint64_t *offsets, uint64_t k, uint64_t count) {
  const uint64_t start = offsets[k];
  while (k < count && offsets[k + 1] - offsets[k] <= SCAN_WINDOW &&
         offsets[k + 1] - start <= STRIP) {
    k++;
  }
  return k;
}

/* Marks where the rows of a strip start, which is where segments do: bit j of heads[r] for
 * position 8 r + j. Segments of several rows go to span. Returns the number of these. */
static int scan_mark(const uint64_t *offsets, uint64_t count, uint8_t *heads,
                     struct scan_span *span) {
  const size_t n = (size_t)(offsets[count] - offsets[0]);
  uint8_t one[STRIP + 2 * CVL_SCAN_ROW]; /* one byte for each position */
  int several = 0;
  memset(one, 0, n + CVL_SCAN_ROW);
  /* Most segments have one row or two; for these there is no branch. */
  for (uint64_t k = 0; k < count; k++) {
    const size_t start = (size_t)(offsets[k] - offsets[0]);
    const size_t end = (size_t)(offsets[k + 1] - offsets[0]);
    one[start] = 1;
    one[end < start + CVL_SCAN_ROW ? end : start + CVL_SCAN_ROW] = 1;
    for (size_t i = start + 2 * CVL_SCAN_ROW; i < end; i += CVL_SCAN_ROW) one[i] = 1;
    span[several] = (struct scan_span){(int)start, (int)(end - start)};
    several += end - start > CVL_SCAN_ROW;
  }
  for (size_t r = 0; r <= n / CVL_SCAN_ROW; r++) {
    uint64_t w;
    memcpy(&w, one + r * CVL_SCAN_ROW, sizeof w);
    /* Byte j moves to bit 56 + j; no two terms of the product overlap. */
    heads[r] = (uint8_t)(w * UINT64_C(0x0102040810204080) >> 56);
  }
  return several;
}

/* Whether elements of a class may be combined in any order. */
#define SCAN_FREELY_I 1
#define SCAN_FREELY_F 0
#define SCAN_FREELY_B 1
#define SCAN_FREELY   COMBINE_EXPAND(SCAN_FREELY_, CLASS)

#define COMBINE_NUMBERS "cvl-cpu/kernels/scan-elem.h"
#define COMBINE_FLAGS   "cvl-cpu/kernels/scan-flags.h"
#include "cvl-cpu/combine/types.h"

#define ROW(op, kind)                                                                          \
  [OP_##op] = {totals_##op##_##kind, start_##op##_##kind, advance_##op##_##kind,               \
               write_##op##_##kind, segments_##op##_##kind},
const struct scan_kernels KERNEL(scan_kernels) = {{
#include "cvl-cpu/combine/table.h"
}};
