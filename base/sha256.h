/* sha256.h - SHA-256 (FIPS 180-4), for names by content. */
#ifndef RAVEL_SHA256_H
#define RAVEL_SHA256_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SHA256_BYTES = 32, SHA256_DIGITS = 64 };

struct sha256_state {
  uint32_t state[8];
  uint64_t bytes;
  uint8_t block[64];
};

void sha256_begin(struct sha256_state *);
void sha256_add(struct sha256_state *, const void *data, size_t bytes);
/* Ends the computation: nothing may be added afterwards. */
void sha256_end(struct sha256_state *, uint8_t digest[SHA256_BYTES]);
/* Writes a digest in hexadecimal digits, and a NUL. */
void sha256_show(const uint8_t digest[SHA256_BYTES], char text[SHA256_DIGITS + 1]);

#ifdef __cplusplus
}
#endif

#endif
