/* fatbin.cpp - see fatbin.hpp. */
#include "cvl-cuda/ptx/fatbin.hpp"

#include <stdint.h>
#include <string.h>
#include <zstd.h>

#include "cvl-cuda/ptx/types.hpp"

namespace ravel {
namespace ptx {
namespace {

enum : uint32_t { FATBIN = 0xba55ed50 };
enum : uint16_t { PTX_ENTRY = 1 };

struct header {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t bytes;
};

struct entry {
  uint16_t kind, version;
  uint32_t header_bytes;
  uint64_t bytes;
};

std::string decompressed(const char *from, size_t bytes) {
  const unsigned long long size = ZSTD_getFrameContentSize(from, bytes);
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) {
    throw error("the PTX of a fat binary is compressed in a way that is not understood; "
                "compile with nvcc --no-compress");
  }
  std::string text(size, '\0');
  /* Zeros may follow the frame. */
  const size_t frame = ZSTD_findFrameCompressedSize(from, bytes);
  const size_t got =
      ZSTD_isError(frame) ? frame : ZSTD_decompress(&text[0], text.size(), from, frame);
  if (ZSTD_isError(got)) {
    throw error(std::string("the PTX of a fat binary: ") + ZSTD_getErrorName(got));
  }
  text.resize(got);
  return text;
}

std::string contents(const char *from, size_t bytes) {
  std::string text(from, bytes);
  if (text.find(".version") == std::string::npos) text = decompressed(from, bytes);
  return std::string(text.c_str()); /* without the zeros behind it */
}

} // namespace

std::string ptx_of_fatbin(const void *fatbin) {
  const char *at = (const char *)fatbin;
  header h;
  memcpy(&h, at, sizeof h);
  if (h.magic != FATBIN) throw error("a fat binary of a kind that is not known");
  const char *const end = at + h.header_bytes + h.bytes;
  for (at += h.header_bytes; at < end;) {
    entry e;
    memcpy(&e, at, sizeof e);
    if (e.kind == PTX_ENTRY) return contents(at + e.header_bytes, e.bytes);
    at += e.header_bytes + e.bytes;
  }
  throw error("a fat binary without PTX; compile it for an architecture like 90 or 90-virtual");
}

} // namespace ptx
} // namespace ravel
