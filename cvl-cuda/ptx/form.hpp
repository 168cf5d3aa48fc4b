/* form.hpp - the opcode of a statement: its name, modifiers and types. */
#ifndef RAVEL_PTX_FORM_HPP
#define RAVEL_PTX_FORM_HPP

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "cvl-cuda/ptx/text.hpp"
#include "cvl-cuda/ptx/types.hpp"

namespace ravel {
namespace ptx {

struct form {
  const statement &s;
  std::string name; /* with all modifiers that are no types */
  std::vector<type> types;

  explicit form(const statement &of) : s(of) {
    for (size_t k = 0; k < s.opcode.size(); k++) {
      const type t = k ? type_named(s.opcode[k]) : NO_TYPE;
      if (t != NO_TYPE) {
        types.push_back(t);
      } else {
        name += (k ? "." : "") + s.opcode[k];
      }
    }
  }
  const std::string &base() const { return s.opcode[0]; }
  bool has(const char *modifier) const {
    return std::find(s.opcode.begin() + 1, s.opcode.end(), modifier) != s.opcode.end();
  }
  type last() const { return types.empty() ? NO_TYPE : types.back(); }
  const operand_text &operand(size_t k) const { return s.operands[k]; }
  void want(size_t least, size_t most) const {
    if (s.operands.size() < least || s.operands.size() > most)
      refuse("wrong number of operands");
  }
  void want(size_t count) const { want(count, count); }
  [[noreturn]] void refuse(const char *what = "unknown opcode") const {
    std::string all = s.opcode[0];
    for (size_t k = 1; k < s.opcode.size(); k++) all += "." + s.opcode[k];
    throw error(std::string(what) + " " + all);
  }
  /* Throws if there is a modifier other than types and these. */
  void only_modifiers(std::initializer_list<const char *> known) const {
    for (size_t k = 1; k < s.opcode.size(); k++) {
      if (type_named(s.opcode[k]) != NO_TYPE) continue;
      const bool fine = std::any_of(known.begin(), known.end(),
                                    [&](const char *m) { return s.opcode[k] == m; });
      if (!fine) refuse();
    }
  }
};

} // namespace ptx
} // namespace ravel
#endif
