/* digest.cpp - see digest.hpp. */
#include "cvl-cuda/digest.hpp"

namespace ravel {

sha256::sha256() {
  sha256_begin(&state_);
}

sha256 &sha256::add(const void *data, size_t bytes) {
  sha256_add(&state_, data, bytes);
  return *this;
}

sha256 &sha256::add(const std::string &text) {
  const uint64_t length = text.size();
  return add(&length, sizeof length).add(text.data(), text.size());
}

std::string sha256::hex() {
  uint8_t digest[SHA256_BYTES];
  char text[SHA256_DIGITS + 1];
  sha256_end(&state_, digest);
  sha256_show(digest, text);
  return text;
}

} // namespace ravel
