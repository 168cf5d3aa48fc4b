/* cache.cpp - see cache.hpp. */
#include "cvl-cuda/cache.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "cvl-cuda/digest.hpp"

namespace ravel {

/* Before the bytes of a file; as this machine writes numbers, since kernels are of a machine.
 */
struct header {
  char magic[8];
  uint64_t bytes;
  uint8_t digest[32];
};
static const char magic[8] = {'R', 'A', 'V', 'E', 'L', 'K', '0', '1'};
static const char prefix[] = "ravel-", suffix[] = ".kernel", unfinished[] = ".tmp";

enum { ABANDONED_SECONDS = 3600 }; /* no process writes a file for that long */

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

std::string cache::file_of(const std::string &key) const {
  return folder_ + "/" + prefix + key + suffix;
}

void cache::complain(const std::string &what, int error) {
  if (complaint_.empty()) complaint_ = what + ": " + strerror(error);
}

static header header_of(const std::string &bytes) {
  header h;
  memcpy(h.magic, magic, sizeof magic);
  h.bytes = bytes.size();
  sha256().add(bytes.data(), bytes.size()).finish(h.digest);
  return h;
}

/* ---- reading ---- */

static bool read_all(int fd, void *to, size_t bytes) {
  char *at = (char *)to;
  while (bytes > 0) {
    const ssize_t n = read(fd, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= (size_t)n;
  }
  return true;
}

/* A plain file of this user or of the system: what others wrote is not executed. */
static bool trusted(int fd, struct stat &s) {
  return fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && (s.st_uid == geteuid() || s.st_uid == 0) &&
         !(s.st_mode & S_IWOTH);
}

static bool read_file(int fd, std::string &bytes) {
  struct stat s;
  header h;
  if (!trusted(fd, s) || !read_all(fd, &h, sizeof h)) return false;
  if (memcmp(h.magic, magic, sizeof magic) != 0) return false;
  if (h.bytes != (uint64_t)s.st_size - sizeof h) return false;
  bytes.resize(h.bytes);
  if (!read_all(fd, &bytes[0], bytes.size())) return false;
  return memcmp(header_of(bytes).digest, h.digest, sizeof h.digest) == 0;
}

bool cache::find(const std::string &key, std::string &bytes) {
  if (folder_.empty()) return false;
  const int fd = open(file_of(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return false;
  const bool found = read_file(fd, bytes);
  if (found) futimens(fd, nullptr); /* used just now: see make_room */
  close(fd);
  if (!found) bytes.clear();
  return found;
}

/* ---- writing ---- */

/* The folder with all above it, for this user alone. 0 or an errno. */
static int make_folders(const std::string &folder) {
  for (size_t end = 1; end <= folder.size(); end++) {
    if (end < folder.size() && folder[end] != '/') continue;
    if (mkdir(folder.substr(0, end).c_str(), 0700) == 0 || errno == EEXIST) continue;
    if (errno == EROFS || errno == EACCES) continue; /* it may be there all the same */
    return errno;
  }
  struct stat s;
  if (stat(folder.c_str(), &s) != 0) return errno;
  return S_ISDIR(s.st_mode) ? 0 : ENOTDIR;
}

static bool write_all(int fd, const void *from, size_t bytes) {
  const char *at = (const char *)from;
  while (bytes > 0) {
    const ssize_t n = ::write(fd, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    at += n;
    bytes -= (size_t)n;
  }
  return true;
}

/* Under a name nobody else has, then renamed. */
bool cache::write(const std::string &name, const std::string &bytes) {
  std::string other = name + ".XXXXXX" + unfinished;
  const int fd = mkostemps(&other[0], sizeof unfinished - 1, O_CLOEXEC);
  if (fd < 0) {
    complain(folder_, errno);
    return false;
  }
  const header h = header_of(bytes);
  bool good = write_all(fd, &h, sizeof h) && write_all(fd, bytes.data(), bytes.size());
  int error = errno;
  if (close(fd) != 0 && good) {
    good = false;
    error = errno;
  }
  if (good && rename(other.c_str(), name.c_str()) != 0) {
    good = false;
    error = errno;
  }
  if (!good) {
    unlink(other.c_str());
    complain(folder_, error);
  }
  return good;
}

void cache::keep(const std::string &key, const std::string &bytes) {
  if (folder_.empty() || !complaint_.empty() || bytes.size() > most_bytes_) return;
  const int error = make_folders(folder_);
  if (error) {
    complain(folder_, error);
  } else if (write(file_of(key), bytes)) {
    make_room();
  }
}

/* ---- the limit ---- */

static bool ends_with(const std::string &text, const char *end) {
  const size_t n = strlen(end);
  return text.size() >= n && text.compare(text.size() - n, n, end) == 0;
}

struct kept_file {
  struct timespec used;
  uint64_t bytes;
  std::string name;

  bool operator<(const kept_file &other) const {
    if (used.tv_sec != other.used.tv_sec) return used.tv_sec < other.used.tv_sec;
    return used.tv_nsec < other.used.tv_nsec;
  }
};

/* Removes the files not used for longest while all are too much, and what processes that died
 * left behind. A kernel costs far more to compile than a look through the folder. */
void cache::make_room() {
  DIR *listing = opendir(folder_.c_str());
  if (!listing) return;
  std::vector<kept_file> files;
  uint64_t all = 0;
  const time_t now = time(nullptr);
  while (const struct dirent *entry = readdir(listing)) {
    const std::string name = entry->d_name;
    if (name.compare(0, sizeof prefix - 1, prefix) != 0) continue;
    const bool abandoned = ends_with(name, unfinished);
    struct stat s;
    if (!abandoned && !ends_with(name, suffix)) continue;
    if (fstatat(dirfd(listing), entry->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!abandoned) {
      files.push_back({s.st_mtim, (uint64_t)s.st_size, name});
      all += (uint64_t)s.st_size;
    } else if (now - s.st_mtim.tv_sec > ABANDONED_SECONDS) {
      unlinkat(dirfd(listing), entry->d_name, 0);
    }
  }
  std::sort(files.begin(), files.end());
  for (const kept_file &f : files) {
    if (all <= most_bytes_) break;
    unlinkat(dirfd(listing), f.name.c_str(), 0);
    all -= f.bytes;
  }
  closedir(listing);
}

} // namespace ravel
