/* cache.hpp - compiled kernels on disk, by content: base/cache.h, in C++.
 *
 * One file for each key. What goes wrong, or a folder that others may write, costs only time:
 * the cache then finds or keeps nothing, and says why when asked.
 */
#ifndef RAVEL_CUDA_CACHE_HPP
#define RAVEL_CUDA_CACHE_HPP

#include <stdint.h>

#include <string>

#include "base/cache.h"

namespace ravel {

/* Where kernels are kept: $RAVEL_CACHE, $XDG_CACHE_HOME/ravel or ~/.cache/ravel; empty if none
 * of these is set, or if RAVEL_CACHE is empty: nothing is kept. */
std::string cache_folder();

struct cache {
  enum { MOST_BYTES = CACHE_MOST_BYTES }; /* ten thousand kernels of usual size */

  /* An empty folder: keeps nothing. `most_bytes`: what all files together may take. */
  explicit cache(std::string folder, uint64_t most_bytes = MOST_BYTES);

  /* The bytes kept under a key of hexadecimal digits; false if there are none. */
  bool find(const std::string &key, std::string &bytes);
  /* Keeps them; the files not used for longest make room. */
  void keep(const std::string &key, const std::string &bytes);
  /* Whether there is a folder. */
  bool keeps() const { return !folder_.empty(); }
  /* Why nothing can be kept, or empty: known once it was tried. */
  const std::string &complaint() const { return complaint_; }

private:
  std::string folder_;
  std::string complaint_;
  uint64_t most_bytes_;
};

} // namespace ravel
#endif
