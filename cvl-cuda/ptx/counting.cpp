/* counting.cpp - see counting.hpp. */
#include "cvl-cuda/ptx/counting.hpp"

#include <errno.h>
#include <string.h>

#include <algorithm>

#include "cvl-cuda/ptx/executor.hpp"

namespace ravel {
namespace ptx {

counting::counting(const std::string &file, uint64_t l2, const memory &m)
    : file_(fopen(file.c_str(), "a")), name_(file), memory_(m), l2_(l2) {
  if (file_ == nullptr) throw error("RAVEL_PTX: count: " + file + ": " + strerror(errno));
}

counting::~counting() {
  if (fclose(file_) != 0) perror(("RAVEL_PTX: count: " + name_).c_str());
}

/* At once, because others append to the file, too. */
void counting::put(const std::string &line) {
  fputs(line.c_str(), file_);
  fputc('\n', file_);
  if (fflush(file_) != 0) throw error("RAVEL_PTX: count: " + name_ + ": " + strerror(errno));
}

/* ---- arrays ---- */

void counting::taken(uint64_t address, uint64_t bytes) {
  if (bytes) taken_[address + bytes - 1] = address;
}

void counting::returned(uint64_t address) {
  const auto found = taken_.lower_bound(address);
  if (found != taken_.end() && found->second == address) taken_.erase(found);
}

/* The block, or else the allocation, that an address lies in. */
counting::span counting::array_at(uint64_t address) const {
  const auto block = taken_.lower_bound(address);
  if (block != taken_.end() && block->second <= address)
    return {block->second, block->first + 1};
  const area *a = memory_.find(address);
  return a ? span{a->begin, a->end} : span{address, address + 1};
}

array_counts &counting::array_of(uint64_t address) {
  if (address < last_.begin || address >= last_.end) {
    last_ = array_at(address);
    last_counts_ = &counts_.arrays.emplace(last_.begin, array_counts{last_.end - last_.begin})
                        .first->second;
  }
  return *last_counts_;
}

/* Where a launch's arguments first point into an array; -1: nowhere. */
int64_t counting::argument_of(uint64_t begin, uint64_t bytes) const {
  const std::vector<uint8_t> &of = launch_->parameters;
  for (size_t at = 0; at + sizeof(uint64_t) <= of.size(); at += sizeof(uint64_t)) {
    uint64_t pointer;
    memcpy(&pointer, &of[at], sizeof pointer);
    if (pointer >= begin && pointer < begin + bytes) return (int64_t)at;
  }
  return -1;
}

/* ---- accesses ---- */

void counting::touch(const sector &s, bool reads, bool writes, array_counts &array) {
  if (reads) {
    const unsigned fresh = touched_.read(s);
    counts_.read += fresh;
    array.read += fresh;
    array.loaded++;
    l2_.read(s.number);
  }
  if (writes) {
    const unsigned fresh = touched_.write(s);
    counts_.written += fresh;
    array.written += fresh;
    array.stored++;
    l2_.write(s.number);
  }
}

/* Lanes beyond the first at each address. */
static unsigned colliding(lanes l, const uint64_t *addresses) {
  unsigned count = 0;
  for_lanes(l, [&](unsigned lane) {
    const lanes before = l & (((lanes)1 << lane) - 1);
    bool same = false;
    for_lanes(before, [&](unsigned other) { same |= addresses[other] == addresses[lane]; });
    count += same;
  });
  return count;
}

void counting::global_access(const instruction &i, lanes l, const uint64_t *addresses) {
  sector found[WARP];
  const unsigned count = sectors_of(l, addresses, (unsigned)i.bytes * i.count, found);
  array_counts &array = array_of(addresses[__builtin_ctz(l)]);
  request_counts &c = i.counted == GLOBAL_LOAD    ? counts_.loads
                      : i.counted == GLOBAL_STORE ? counts_.stores
                                                  : counts_.atomics;
  c.requests++;
  c.sectors += count;
  for (unsigned s = 0; s < count; s++) {
    c.bytes += (unsigned)__builtin_popcount(found[s].wanted);
    touch(found[s], i.counted != GLOBAL_STORE, i.counted != GLOBAL_LOAD, array);
  }
  if (i.counted != ATOMIC) return;
  counts_.atomic_lanes += (unsigned)__builtin_popcount(l);
  counts_.collisions += colliding(l, addresses);
}

void counting::shared_access(const instruction &i, lanes l, const uint64_t *addresses) {
  const wavefronts w = wavefronts_of(l, addresses, (unsigned)i.bytes * i.count);
  counts_.shared_requests++;
  counts_.wavefronts_taken += w.taken;
  counts_.wavefronts_least += w.least;
}

/* A generic address says itself where it lies. */
static bool in_shared(const instruction &i, uint64_t address) {
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
  counts_.groups[i.counted]++;
  counts_.of_lanes += (unsigned)__builtin_popcount(l);
  std::vector<round_trips> &warps = trips_[block];
  if (warps.empty()) warps.resize((launch_->threads.count() + WARP - 1) / WARP);
  const bool accesses = l != 0 && accesses_memory(i) && i.copies != STARTS_COPY,
             shared = accesses && in_shared(i, addresses[__builtin_ctz(l)]);
  counts_.round_trips += warps[warp].executed(i, accesses && !shared);
  if (l != 0 && i.copies == STARTS_COPY) return copies(warps, warp, i, l, addresses);
  if (shared) return shared_access(i, l, addresses);
  if (accesses) global_access(i, l, addresses);
}

/* Those of lanes are a request like others; a bulk copy, for which all warps of its block wait,
 * is one for as many bytes as a warp's widest. */
void counting::copies(std::vector<round_trips> &warps, uint32_t warp, const instruction &i,
                      lanes l, const uint64_t *addresses) {
  if (i.counted != BULK_COPY) {
    global_access(i, l, addresses);
    shared_access(i, l, addresses + WARP);
    warps[warp].issue_copy();
    return;
  }
  for_lanes(l, [&](unsigned lane) {
    bulk_copy(addresses[lane], addresses[WARP + lane], addresses[2 * WARP + lane]);
  });
  for (round_trips &w : warps) w.issue_copy();
}

void counting::bulk_copy(uint64_t from, uint64_t to, uint64_t bytes) {
  enum : uint64_t { OF_LANE = 16 };
  instruction load;
  load.counted = GLOBAL_LOAD;
  load.bytes = OF_LANE;
  for (uint64_t at = 0; at < bytes; at += OF_LANE * WARP) {
    const uint64_t count = std::min<uint64_t>(WARP, (bytes - at) / OF_LANE);
    uint64_t read[WARP], written[WARP];
    for (uint64_t k = 0; k < count; k++) {
      read[k] = from + at + k * OF_LANE;
      written[k] = to + at + k * OF_LANE;
    }
    const lanes those = ALL_LANES >> (WARP - count);
    global_access(load, those, read);
    shared_access(load, those, written);
  }
}

void counting::branched(uint32_t, uint32_t, lanes taken, lanes of) {
  counts_.branches++;
  counts_.diverged += taken != 0 && taken != of;
}

void counting::block_ends(uint32_t block) {
  trips_.erase(block);
}

/* ---- launches ---- */

void counting::begin(const launch_of &l) {
  launch_ = &l;
  commands_++;
  counts_ = launch_counts();
  last_ = span{1, 0};
  touched_.begin();
  trips_.clear();
  fetched_before_ = l2_.fetched;
  written_back_before_ = l2_.written_back;
}

void counting::end() {
  write_line();
}

namespace {

std::string quoted(const std::string &text) {
  std::string q = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') q += '\\';
    q += c;
  }
  return q + '"';
}

/* An object's fields. */
struct fields {
  std::string text = "{";
  void raw(const char *name, const std::string &value) {
    if (text.size() > 1) text += ", ";
    text += quoted(name) + ": " + value;
  }
  void number(const char *name, uint64_t n) { raw(name, std::to_string(n)); }
  void requests(const char *name, const request_counts &c) {
    raw(name, "[" + std::to_string(c.requests) + ", " + std::to_string(c.sectors) + ", " +
                  std::to_string(c.bytes) + "]");
  }
};

std::string classes(const uint64_t *groups) {
  fields f;
  for (int c = 0; c < INSTRUCTION_CLASSES; c++) {
    if (groups[c]) f.number(class_name((instruction_class)c), groups[c]);
  }
  return f.text + "}";
}

} // namespace

/* [offset in the arguments, bytes, sectors loaded and stored, bytes read and written] of each.
 */
std::string counting::arrays_text() const {
  std::string text;
  for (const auto &of : counts_.arrays) {
    const array_counts &a = of.second;
    text += text.empty() ? "[" : ", [";
    text += std::to_string(argument_of(of.first, a.bytes));
    for (const uint64_t n : {a.bytes, a.loaded, a.stored, a.read, a.written}) {
      text += ", " + std::to_string(n);
    }
    text += "]";
  }
  return "[" + text + "]";
}

void counting::write_line() {
  const launch_counts &c = counts_;
  fields f;
  f.raw("launch", quoted(readable(launch_->of->name)));
  f.raw("symbol", quoted(launch_->of->name));
  f.raw("groups", classes(c.groups));
  f.requests("loads", c.loads);
  f.requests("stores", c.stores);
  f.requests("atomics", c.atomics);
  const struct {
    const char *name;
    uint64_t value;
  } numbers[] = {{"blocks", launch_->blocks.count()},
                 {"threads", launch_->threads.count()},
                 {"shared", launch_->dynamic_shared},
                 {"static_shared", launch_->of->shared_bytes},
                 {"lanes", c.of_lanes},
                 {"branches", c.branches},
                 {"diverged", c.diverged},
                 {"atomic_lanes", c.atomic_lanes},
                 {"collisions", c.collisions},
                 {"read", c.read},
                 {"written", c.written},
                 {"fetched", l2_.fetched - fetched_before_},
                 {"written_back", l2_.written_back - written_back_before_},
                 {"dirty", l2_.dirty},
                 {"shared_requests", c.shared_requests},
                 {"wavefronts", c.wavefronts_taken},
                 {"least_wavefronts", c.wavefronts_least},
                 {"round_trips", c.round_trips}};
  for (const auto &n : numbers) f.number(n.name, n.value);
  f.raw("arrays", arrays_text());
  put(f.text + "}");
}

/* ---- what the host does ---- */

/* Memory that the interpreter did not allocate is the host's. */
void counting::copied(uint64_t to, uint64_t from, uint64_t bytes) {
  const auto of_host = [this](uint64_t address) {
    const area *a = memory_.find(address);
    return a == nullptr || a->of_host;
  };
  const char *way = of_host(from) ? "in" : of_host(to) ? "out" : "on";
  commands_++;
  put("{\"copy\": " + std::to_string(bytes) + ", \"way\": \"" + way + "\"}");
}

void counting::filled(uint64_t bytes) {
  commands_++;
  put("{\"copy\": " + std::to_string(bytes) + ", \"way\": \"fill\"}");
}

/* The host may look many times; what counts is that there was something to wait for. */
void counting::waited() {
  if (commands_) put("{\"wait\": " + std::to_string(commands_) + "}");
  commands_ = 0;
}

} // namespace ptx
} // namespace ravel
