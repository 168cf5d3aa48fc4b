/* cache.cpp - see cache.hpp. */
#include "cvl-cuda/cache.hpp"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cache.h"

namespace ravel {

static const char prefix[] = "ravel-", suffix[] = ".kernel";
enum { ALL = 1000 }; /* at most this many directories of a path are made */

std::string cache_folder() {
  const char *own = getenv("RAVEL_CACHE");
  if (own) return own;
  const char *caches = getenv("XDG_CACHE_HOME");
  if (caches && *caches) return std::string(caches) + "/ravel";
  const char *home = getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/ravel" : std::string();
}

cache::cache(std::string folder, uint64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {}

static std::string cache_name_of(const std::string &key) {
  return prefix + key + suffix;
}

static bool cache_read_all(int fd, std::string &bytes) {
  char *at = &bytes[0];
  for (size_t left = bytes.size(); left > 0;) {
    const ssize_t n = read(fd, at, left);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    left -= (size_t)n;
  }
  return true;
}

bool cache::find(const std::string &key, std::string &bytes) {
  char why[CACHE_WHY];
  bytes.clear();
  if (folder_.empty()) return false;
  const int directory = cache_open(folder_.c_str(), 0, why);
  if (directory < 0) return false;
  uint64_t length = 0;
  const int fd = cache_find(directory, cache_name_of(key).c_str(), &length);
  close(directory);
  if (fd < 0) return false;
  bytes.resize(length);
  const bool found = cache_read_all(fd, bytes);
  close(fd);
  if (!found) bytes.clear();
  return found;
}

void cache::keep(const std::string &key, const std::string &bytes) {
  char why[CACHE_WHY];
  if (folder_.empty() || !complaint_.empty() || bytes.size() > most_bytes_) return;
  const int directory = cache_open(folder_.c_str(), ALL, why);
  if (directory < 0) {
    complaint_ = why;
    return;
  }
  const int error =
      cache_keep(directory, cache_name_of(key).c_str(), bytes.data(), bytes.size());
  if (error) complaint_ = folder_ + ": " + strerror(error);
  if (!error) cache_make_room(directory, prefix, suffix, most_bytes_);
  close(directory);
}

} // namespace ravel
