/* device.cpp - see device.hpp. */
#include "cvl-cuda/ptx/device.hpp"

#include <stdio.h>

#include <utility>

#include "cvl-cuda/ptx/host-view.hpp"
#include "cvl-cuda/ptx/races.hpp"

namespace ravel {
namespace ptx {

device::device(const options &o)
    : options_(o), memory_(o.memory, o.checked), random_(o.machine.seed + 88172645463325252) {
  if (o.checked || o.weak) {
    clocks *c = new clocks(o.weak);
    observers_.emplace_back(c);
    weak_.reset(new weak_memory(*c, o.weak));
    if (o.checked) observers_.emplace_back(new races(*c));
    if (o.checked) observers_.emplace_back(new host_view(memory_, *c));
  }
  if (o.count.empty()) return;
  counting_ = new counting(o.count, memory_);
  observers_.emplace_back(counting_);
}

device::~device() {
  write_coverage();
}

module *device::load(std::string text) {
  modules_.emplace_back(new module(std::move(text), memory_));
  module *m = modules_.back().get();
  m->mutated = options_.mutated;
  return m;
}

/* ---- commands ---- */

void device::execute_first() {
  const command c = std::move(waiting_.front());
  waiting_.pop_front();
  if (!fault_.empty()) return;
  try {
    c();
  } catch (const error &e) {
    fault_ = e.what();
  }
}

void device::put(command c) {
  waiting_.push_back(std::move(c));
  switch (options_.executed) {
  case options::AT_ONCE: return finish();
  case options::ON_WAIT: return;
  case options::AT_RANDOM:
    random_ = random_ * 6364136223846793005 + 1442695040888963407;
    for (uint64_t n = random_ >> 62; n > 0 && !waiting_.empty(); n--) execute_first();
  }
}

void device::finish() {
  while (!waiting_.empty()) execute_first();
}

bool device::look() {
  if (!waiting_.empty()) execute_first();
  return waiting_.empty();
}

void device::launch(launch_of l) {
  put([this, l = std::move(l)] { execute_launch(l); });
}

/* Each launch draws its own schedule. */
void device::execute_launch(const launch_of &l) {
  machine_options o = options_.machine;
  o.seed += ++launches_;
  std::vector<observer *> watching;
  for (const auto &w : observers_) watching.push_back(w.get());
  if (counts_.count(l.of) == 0) launched_.push_back(l.of);
  execute(l, o, memory_, pool_, counts_[l.of], watching, weak_.get());
}

/* Memory that nobody allocated here belongs to the host. */
void device::check_range(const char *what, uint64_t address, uint64_t bytes) const {
  const area *a = memory_.find(address);
  if (a == nullptr || address + bytes <= a->end) return;
  throw error(std::string(what) + ": " + std::to_string(bytes) + " bytes, but only " +
              std::to_string(a->end - address) + " are allocated there");
}

void device::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  put([=] {
    check_range("a copy writes", to, bytes);
    check_range("a copy reads", from, bytes);
    memory_.copy(to, from, bytes);
    if (counting_) counting_->copied(to, from, bytes);
  });
}

void device::fill(uint64_t to, uint8_t byte, uint64_t bytes) {
  put([=] {
    check_range("a fill writes", to, bytes);
    memory_.fill(to, byte, bytes);
    if (counting_) counting_->filled(bytes);
  });
}

void device::taken(uint64_t address, uint64_t bytes) {
  put([=] { memory_.taken(address, bytes); });
}

void device::returned(uint64_t address, uint64_t bytes) {
  put([=] { memory_.returned(address, bytes); });
}

/* ---- coverage ---- */

/* Writes the kernels in the order of their first launches, a line for each instruction: kernel,
 * index, line, groups, threads, taken, diverged, instruction, with tabs between them. */
void device::write_coverage() const {
  if (options_.coverage.empty()) return;
  FILE *f = fopen(options_.coverage.c_str(), "a");
  if (f == nullptr) {
    perror(("RAVEL_PTX: coverage: " + options_.coverage).c_str());
    return;
  }
  for (const kernel *of : launched_) {
    const kernel &k = *of;
    const std::vector<executions> &counts = counts_.at(of);
    for (size_t n = 0; n < counts.size(); n++) {
      const executions &c = counts[n];
      fprintf(f, "%s\t%zu\t%u\t%llu\t%llu\t%llu\t%llu\t%s\n", k.label.c_str(), n,
              k.lines[k.code[n].statement], (unsigned long long)c.groups,
              (unsigned long long)c.threads, (unsigned long long)c.taken,
              (unsigned long long)c.diverged, k.text[k.code[n].statement].c_str());
    }
  }
  const bool lost = ferror(f) != 0;
  if (fclose(f) != 0 || lost) perror(("RAVEL_PTX: coverage: " + options_.coverage).c_str());
}

} // namespace ptx
} // namespace ravel
