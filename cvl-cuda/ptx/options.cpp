/* options.cpp - see options.hpp. */
#include "cvl-cuda/ptx/options.hpp"

#include <stdlib.h>

#include <algorithm>

namespace ravel {
namespace ptx {
namespace {

struct word {
  std::string name, value;
};

word word_of(const std::string &text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return {text, ""};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/* Returns a number above 0. Throws if it is not one. */
uint64_t number(const word &w, const std::string &digits) {
  char *end = nullptr;
  const unsigned long long n = strtoull(digits.c_str(), &end, 0);
  if (digits.empty() || *end != '\0' || n == 0) {
    throw error("RAVEL_PTX: " + w.name + " wants a number above 0, not \"" + w.value + "\"");
  }
  return n;
}

bool set_number(options &o, const word &w) {
  if (w.name == "seed") {
    o.machine.how = SEEDED;
    o.machine.seed = number(w, w.value);
    if (o.machine.resident == 1) o.machine.resident = 3;
  } else if (w.name == "resident") {
    o.machine.resident = (uint32_t)number(w, w.value);
  } else if (w.name == "quantum") {
    o.machine.quantum = (uint32_t)number(w, w.value);
  } else if (w.name == "processors") {
    o.processors = (int)number(w, w.value);
  } else if (w.name == "memory") {
    o.memory = number(w, w.value);
  } else {
    return false;
  }
  return true;
}

/* Reads KERNEL@N. */
void set_mutation(mutation &m, const word &w) {
  const size_t at = std::min(w.value.rfind('@'), w.value.size());
  char *end = nullptr;
  const std::string index = w.value.substr(std::min(at + 1, w.value.size()));
  m.kernel = w.value.substr(0, at);
  m.index = (uint32_t)strtoul(index.c_str(), &end, 10);
  m.narrows = w.name == "narrow";
  if (m.kernel.empty() || index.empty() || *end != '\0') {
    throw error("RAVEL_PTX: " + w.name + " wants KERNEL@N, not \"" + w.value + "\"");
  }
}

bool set_word(options &o, const word &w) {
  static const std::string memory = "memory@";
  if (w.name == "step" && w.value.empty()) {
    o.machine.how = IN_STEP;
  } else if (w.name == "unchecked" && w.value.empty()) {
    o.checked = false;
  } else if (w.name == "leaks" && w.value.empty()) {
    o.leaks = true;
  } else if (w.name == "weak" && w.value.empty()) {
    o.weak = true;
  } else if (w.name == "late" && (w.value.empty() || w.value == "random")) {
    o.executed = w.value.empty() ? options::ON_WAIT : options::AT_RANDOM;
  } else if (w.name == "count" && !w.value.empty()) {
    o.count = w.value;
    o.machine.how = IN_STEP;
  } else if (w.name == "coverage" && !w.value.empty()) {
    o.coverage = w.value;
  } else if (w.name == "drop" || w.name == "narrow") {
    set_mutation(o.mutated, w);
  } else if (w.name == "fail" && w.value.compare(0, memory.size(), memory) == 0) {
    o.failing_allocation = number(w, w.value.substr(memory.size()));
  } else if (w.name == "fail") {
    o.failing_call = number(w, w.value);
  } else {
    return false;
  }
  return true;
}

} // namespace

void options::parse(const std::string &text) {
  for (size_t at = 0; at < text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const word w = word_of(text.substr(at, comma - at));
    if (!set_number(*this, w) && !set_word(*this, w)) {
      throw error("RAVEL_PTX: \"" + text.substr(at, comma - at) +
                  "\" is no option (cvl-cuda/ptx/options.hpp lists them)");
    }
    at = comma + 1;
  }
}

options options_from_environment() {
  options o;
  const char *text = getenv("RAVEL_PTX");
  if (text) o.parse(text);
  return o;
}

} // namespace ptx
} // namespace ravel
