/* counting.cpp - see counting.hpp. */
#include "cvl-cuda/ptx/counting.hpp"

#include <errno.h>
#include <string.h>

#include "cvl-cuda/ptx/executor.hpp"

namespace ravel {
namespace ptx {

counting::counting(const std::string &file, const memory &m)
    : file_(fopen(file.c_str(), "a")), name_(file), memory_(m) {
  if (file_ == nullptr) throw error("RAVEL_PTX: count: " + file + ": " + strerror(errno));
}

counting::~counting() {
  if (fclose(file_) != 0) perror(("RAVEL_PTX: count: " + name_).c_str());
}

/* Writes a line at once, because other programs append to the file, too. */
void counting::put(const std::string &line) {
  fputs(line.c_str(), file_);
  fputc('\n', file_);
  if (fflush(file_) != 0) throw error("RAVEL_PTX: count: " + name_ + ": " + strerror(errno));
}

/* ---- accesses ---- */

void counting::global_access(const instruction &i, lanes l, const uint64_t *addresses) {
  sector found[WARP];
  const unsigned count = sectors_of(l, addresses, (unsigned)i.bytes * i.count, found);
  request_counts &c = i.counted == GLOBAL_LOAD    ? counts_.loads
                      : i.counted == GLOBAL_STORE ? counts_.stores
                                                  : counts_.atomics;
  c.sectors += count;
  for (unsigned s = 0; s < count; s++) {
    c.bytes += (unsigned)__builtin_popcount(found[s].wanted);
    if (i.counted != GLOBAL_STORE) counts_.touched += touched_.read(found[s]);
    if (i.counted != GLOBAL_LOAD) counts_.touched += touched_.write(found[s]);
  }
}

void counting::shared_access(const instruction &i, lanes l, const uint64_t *addresses) {
  const wavefronts w = wavefronts_of(l, addresses, (unsigned)i.bytes * i.count);
  counts_.wavefronts_taken += w.taken;
  counts_.wavefronts_least += w.least;
}

/* A generic address shows in which memory it lies. */
static bool counting_in_shared(const instruction &i, uint64_t address) {
  return i.where == SHARED || (i.where == GENERIC && address >= SHARED_WINDOW);
}

static bool accesses_memory(const instruction &i) {
  switch (i.counted) {
  case GLOBAL_LOAD:
  case GLOBAL_STORE:
  case SHARED_LOAD:
  case SHARED_STORE:
  case ATOMIC: return true;
  default: return false;
  }
}

void counting::executed(uint32_t block, uint32_t warp, const instruction &i, lanes l,
                        const uint64_t *addresses) {
  counts_.instructions++;
  std::vector<round_trips> &warps = trips_[block];
  if (warps.empty()) warps.resize((launch_->threads.count() + WARP - 1) / WARP);
  const bool accesses = l != 0 && accesses_memory(i),
             shared = accesses && counting_in_shared(i, addresses[__builtin_ctz(l)]);
  counts_.round_trips += warps[warp].executed(i, accesses && !shared);
  if (shared) return shared_access(i, l, addresses);
  if (accesses) global_access(i, l, addresses);
}

void counting::block_ends(uint32_t block) {
  trips_.erase(block);
}

/* ---- launches ---- */

void counting::begin(const launch_of &l) {
  launch_ = &l;
  counts_ = launch_counts();
  touched_.begin();
  trips_.clear();
}

static std::string field(const char *name, uint64_t n) {
  return std::string(", \"") + name + "\": " + std::to_string(n);
}
static std::string field(const char *name, const request_counts &c) {
  return std::string(", \"") + name + "\": [" + std::to_string(c.sectors) + ", " +
         std::to_string(c.bytes) + "]";
}

void counting::end() {
  const launch_counts &c = counts_;
  put("{\"launch\": \"" + launch_->of->name + "\"" + field("instructions", c.instructions) +
      field("loads", c.loads) + field("stores", c.stores) + field("atomics", c.atomics) +
      field("blocks", launch_->blocks.count()) + field("threads", launch_->threads.count()) +
      field("shared", launch_->dynamic_shared + launch_->of->shared_bytes) +
      field("touched", c.touched) + field("wavefronts", c.wavefronts_taken) +
      field("least_wavefronts", c.wavefronts_least) + field("round_trips", c.round_trips) +
      "}");
}

/* ---- what the host does ---- */

static std::string copy_line(uint64_t bytes, const char *way) {
  return "{\"copy\": " + std::to_string(bytes) + ", \"way\": \"" + way + "\"}";
}

/* Memory that the interpreter did not allocate belongs to the host. */
void counting::copied(uint64_t to, uint64_t from, uint64_t bytes) {
  const auto of_host = [this](uint64_t address) {
    const area *a = memory_.find(address);
    return a == nullptr || a->of_host;
  };
  put(copy_line(bytes, of_host(from) ? "in" : of_host(to) ? "out" : "on"));
}

void counting::filled(uint64_t bytes) {
  put(copy_line(bytes, "fill"));
}

} // namespace ptx
} // namespace ravel
