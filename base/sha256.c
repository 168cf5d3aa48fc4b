/* sha256.c - see sha256.h. */
#include "base/sha256.h"

#include <string.h>

/* These are the first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2};

/* These are the first 32 bits of the fractions of the square roots of the first eight primes.
 */
static const uint32_t first_state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static uint32_t sha256_rotate(uint32_t x, int n) {
  return x >> n | x << (32 - n);
}

static void sha256_mix(struct sha256_state *h) {
  uint32_t w[64];
  for (int i = 0; i < 16; i++) {
    const uint8_t *p = h->block + 4 * i;
    w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
  }
  for (int i = 16; i < 64; i++) {
    const uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (sha256_rotate(a, 7) ^ sha256_rotate(a, 18) ^ a >> 3) + w[i - 7] +
           (sha256_rotate(b, 17) ^ sha256_rotate(b, 19) ^ b >> 10);
  }
  uint32_t s[8];
  memcpy(s, h->state, sizeof s);
  for (int i = 0; i < 64; i++) {
    const uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
    const uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
    const uint32_t t =
        s[7] + (sha256_rotate(s[4], 6) ^ sha256_rotate(s[4], 11) ^ sha256_rotate(s[4], 25)) +
        choice + round_constants[i] + w[i];
    const uint32_t u =
        (sha256_rotate(s[0], 2) ^ sha256_rotate(s[0], 13) ^ sha256_rotate(s[0], 22)) + majority;
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += t;
    s[0] = t + u;
  }
  for (int i = 0; i < 8; i++) h->state[i] += s[i];
}

void sha256_begin(struct sha256_state *h) {
  h->bytes = 0;
  memcpy(h->state, first_state, sizeof h->state);
}

void sha256_add(struct sha256_state *h, const void *data, size_t bytes) {
  const uint8_t *from = data;
  while (bytes > 0) {
    const size_t at = h->bytes % sizeof h->block;
    const size_t n = bytes < sizeof h->block - at ? bytes : sizeof h->block - at;
    memcpy(h->block + at, from, n);
    h->bytes += n;
    from += n;
    bytes -= n;
    if (h->bytes % sizeof h->block == 0) sha256_mix(h);
  }
}

void sha256_end(struct sha256_state *h, uint8_t digest[SHA256_BYTES]) {
  const uint64_t bits = 8 * h->bytes;
  const uint8_t one = 0x80, zero = 0;
  sha256_add(h, &one, 1);
  while (h->bytes % sizeof h->block != 56) sha256_add(h, &zero, 1);
  uint8_t length[8];
  for (int i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
  sha256_add(h, length, sizeof length);
  for (int i = 0; i < SHA256_BYTES; i++) {
    digest[i] = (uint8_t)(h->state[i / 4] >> (24 - 8 * (i % 4)));
  }
}

void sha256_show(const uint8_t digest[SHA256_BYTES], char text[SHA256_DIGITS + 1]) {
  static const char digits[] = "0123456789abcdef";
  for (int i = 0; i < SHA256_BYTES; i++) {
    text[2 * i] = digits[digest[i] >> 4];
    text[2 * i + 1] = digits[digest[i] & 15];
  }
  text[SHA256_DIGITS] = '\0';
}
