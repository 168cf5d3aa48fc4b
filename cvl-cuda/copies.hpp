/* copies.hpp - small copies and fills by the threads of a block. Several copies of a few
 * kilobytes share one launch; a fill sets memory to a byte. */
#ifndef RAVEL_CUDA_COPIES_HPP
#define RAVEL_CUDA_COPIES_HPP

#include "cvl-cuda/pointer.hpp"

namespace ravel {

/* The most that one load and one store of a thread move. */
struct alignas(16) sixteen_bytes {
  uint64_t half[2];
};

/* One copy: single bytes up to an address that is a multiple of 16, then 16 bytes at a time,
 * then single bytes. If the two sides are not aligned alike, all of it moves as single
 * bytes. */
struct byte_copy {
  ptr<uint8_t> to;
  ptr<const uint8_t> from;
  ptr<sixteen_bytes> wide_to; /* the destination, behind the head */
  ptr<const sixteen_bytes> wide_from;
  uint32_t bytes, head;

  /* Does the part of thread t of `threads`. */
  HD void run(int t, int threads) const {
    const uint32_t wide = (bytes - head) / 16, tail = head + 16 * wide;
    /* Most copies need one round. */
    RAVEL_ROLLED
    for (uint32_t k = (uint32_t)t; k < wide; k += (uint32_t)threads) {
      const sixteen_bytes x = wide_from[k];
      wide_to[k] = x;
    }
    RAVEL_ROLLED
    for (uint32_t k = (uint32_t)t; k < head; k += (uint32_t)threads) to[k] = from[k];
    RAVEL_ROLLED
    for (uint32_t k = tail + (uint32_t)t; k < bytes; k += (uint32_t)threads) to[k] = from[k];
  }
};

/* Memory in which every byte becomes the same; it begins at a multiple of 16. */
struct byte_fill {
  ptr<uint8_t> to;
  ptr<sixteen_bytes> wide_to; /* the same memory, as units of 16 bytes */
  size_t bytes;
  uint8_t byte;

  /* Thread t of `threads` does its part of the bytes first .. first + most - 1; both numbers
   * are multiples of 16. */
  HD void run(size_t first, size_t most, int t, int threads) const {
    const size_t end = bytes - first < most ? bytes : first + most, whole = end / 16 * 16;
    const uint64_t half = byte * (~(uint64_t)0 / 255);
    for (size_t k = first / 16 + (size_t)t; k < whole / 16; k += (size_t)threads)
      wide_to[k] = sixteen_bytes{{half, half}};
    for (size_t k = whole + (size_t)t; k < end; k += (size_t)threads) to[k] = byte;
  }
};

inline byte_fill fill_of_bytes(void *to, uint8_t byte, size_t bytes) {
  return {pointer_to<uint8_t>(to), pointer_to<sixteen_bytes>(to), bytes, byte};
}

inline byte_copy copy_of_bytes(void *to, const void *from, size_t bytes) {
  const bool alike = ((uintptr_t)to ^ (uintptr_t)from) % 16 == 0;
  const size_t before = (16 - (uintptr_t)to % 16) % 16;
  const size_t head = alike && before < bytes ? before : bytes;
  return {pointer_to<uint8_t>(to),
          pointer_to<const uint8_t>(const_cast<void *>(from)),
          pointer_to<sixteen_bytes>((char *)to + head),
          pointer_to<const sixteen_bytes>((char *)const_cast<void *>(from) + head),
          (uint32_t)bytes,
          (uint32_t)head};
}

} // namespace ravel
#endif
