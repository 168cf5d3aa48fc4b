/* options.cpp - see options.hpp. */
#include "cvl-cuda/emulation/options.hpp"

#include <errno.h>
#include <string.h>

#include <string>

namespace ravel {

static bool options_number(const std::string &text, int64_t *n) {
  char *end;
  errno = 0;
  *n = strtoll(text.c_str(), &end, 0);
  return errno == 0 && !text.empty() && *end == '\0';
}

static bool options_number(const std::string &text, uint64_t *n) {
  int64_t x;
  if (!options_number(text, &x) || x < 0) return false;
  *n = (uint64_t)x;
  return true;
}

static bool set_order(emulation_options &o, const std::string &value) {
  const char *names[] = {"shuffled", "forward", "reverse"};
  const int directions[] = {0, 1, -1};
  for (int k = 0; k < 3; k++) {
    if (value != names[k]) continue;
    o.threads.direction = directions[k];
    return true;
  }
  return false;
}

static bool set_failing(emulation_options &o, const std::string &value) {
  const std::string memory = "memory@";
  if (value.compare(0, memory.size(), memory) == 0)
    return options_number(value.substr(memory.size()), &o.fails.no_memory_from);
  return options_number(value, &o.fails.fail_at);
}

static bool options_set(emulation_options &o, const std::string &name,
                        const std::string &value) {
  if (name == "order") return set_order(o, value);
  if (name == "seed") return options_number(value, &o.threads.seed);
  if (name == "small") return o.has_small = options_number(value, &o.small);
  if (name == "staging") return options_number(value, &o.staging) && o.staging > 0;
  if (name == "fail") return set_failing(o, value);
  if (name == "check" || name == "nvrtc") {
    (name == "check" ? o.check : o.nvrtc) = true;
    return value.empty();
  }
  o.executed = value == "random" ? emulation_options::AT_RANDOM : emulation_options::ON_WAIT;
  return name == "deferred" && (value.empty() || value == "random");
}

bool emulation_options::parse(const char *text) {
  std::string rest = text;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string word = rest.substr(0, comma);
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    const size_t equals = word.find('=');
    const bool has_value = equals != std::string::npos;
    if (!options_set(*this, word.substr(0, equals), has_value ? word.substr(equals + 1) : ""))
      return false;
  }
  return true;
}

const char *emulation_options::from_environment() {
  const char *text = getenv("RAVEL_EMULATION"), *n = getenv("RAVEL_CUDA_SMALL");
  if (text && !parse(text))
    return "RAVEL_EMULATION has an option that the emulation does not know; see "
           "cvl-cuda/emulation/options.hpp";
  if (n && !options_set(*this, "small", n)) return "RAVEL_CUDA_SMALL is no number";
  return nullptr;
}

} // namespace ravel
