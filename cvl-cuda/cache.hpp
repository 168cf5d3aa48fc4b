/* cache.hpp - compiled kernels on disk, found by their content: base/cache.h, in C++.
 *
 * Each key has one file. Errors, or a folder that other users may write to, cost only time: the
 * cache then finds or keeps nothing, and says why when asked.
 */
#ifndef RAVEL_CUDA_CACHE_HPP
#define RAVEL_CUDA_CACHE_HPP

#include <stdint.h>

#include <string>

#include "base/cache.h"

namespace ravel {

/* Returns the folder of compiled kernels: $RAVEL_CACHE, $XDG_CACHE_HOME/ravel or
 * ~/.cache/ravel. It is empty, so that nothing is kept, if none of these is set or RAVEL_CACHE
 * is empty. */
std::string cache_folder();

struct cache {
  enum { MOST_BYTES = CACHE_MOST_BYTES }; /* ten thousand kernels of usual size */

  /* If the folder is empty, the cache keeps nothing. `most_bytes` is the limit of all files
   * together. */
  explicit cache(std::string folder, uint64_t most_bytes = MOST_BYTES);

  /* Finds the bytes kept under a key of hexadecimal digits. Returns false if there are none. */
  bool find(const std::string &key, std::string &bytes);
  /* Keeps the bytes under the key. The least recently used files are deleted to make room. */
  void keep(const std::string &key, const std::string &bytes);
  bool keeps() const { return !folder_.empty(); }
  /* Returns why nothing can be kept; empty if nothing went wrong so far. */
  const std::string &complaint() const { return complaint_; }

private:
  std::string folder_;
  std::string complaint_;
  uint64_t most_bytes_;
};

} // namespace ravel
#endif
