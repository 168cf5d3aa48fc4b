/* digest.hpp - SHA-256 of texts, for names that differ where contents do. */
#ifndef RAVEL_CUDA_DIGEST_HPP
#define RAVEL_CUDA_DIGEST_HPP

#include <stddef.h>
#include <stdint.h>

#include <string>

#include "base/sha256.h"

namespace ravel {

/* Takes bytes and gives 64 hexadecimal digits. */
struct sha256 {
  sha256();
  sha256 &add(const void *data, size_t bytes);
  /* Adds the text and its length, so that no two sequences of texts look alike. */
  sha256 &add(const std::string &text);
  /* Ends the digest and returns it: nothing may be added afterwards. */
  std::string hex();

private:
  struct sha256_state state_;
};

} // namespace ravel
#endif
