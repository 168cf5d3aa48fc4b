/* digest.hpp - SHA-256 (FIPS 180-4): names that differ where contents do. */
#ifndef RAVEL_CUDA_DIGEST_HPP
#define RAVEL_CUDA_DIGEST_HPP

#include <stddef.h>
#include <stdint.h>

#include <string>

namespace ravel {

/* Bytes in, 32 bytes out, or 64 hexadecimal digits of them. */
struct sha256 {
  sha256();
  sha256 &add(const void *data, size_t bytes);
  /* The text and its length, so that no two sequences of texts look alike. */
  sha256 &add(const std::string &text);
  /* Ends it: nothing may be added afterwards. */
  void finish(uint8_t digest[32]);
  std::string hex();

private:
  uint32_t state_[8];
  uint64_t bytes_ = 0;
  uint8_t block_[64];

  void mix();
};

} // namespace ravel
#endif
