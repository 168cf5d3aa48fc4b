/* code.cpp - see code.hpp. */
#include "cvl-cuda/code.hpp"

#include <sstream>

namespace ravel {
namespace {

/* The oldest compute capability that this version of CUDA supports, times ten. */
enum : unsigned { OLDEST = 75 };

/* One architecture of the list, parsed from "90", "80-real", "75-virtual", "100f-real" or
 * "all". */
struct item {
  unsigned architecture; /* ten times a compute capability; 0: all, as the name says */
  std::string kind;      /* "", "-real" or "-virtual"; other suffixes name exactly one GPU */

  bool is_machine_code() const { return kind != "-virtual"; }
  bool is_ptx() const { return kind.empty() || kind == "-virtual"; }
  bool is_exact() const { return !kind.empty() && kind[0] != '-'; }
};

template <class G> void each_item(const std::string &list, G g) {
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ':');) {
    item i{0, ""};
    std::istringstream in(name);
    if (in >> i.architecture) std::getline(in, i.kind);
    g(i);
  }
}

bool runs(const item &i, unsigned architecture) {
  if (i.architecture == 0 || i.architecture == architecture) return i.is_machine_code();
  return !i.is_exact() && i.is_machine_code() && i.architecture / 10 == architecture / 10 &&
         i.architecture < architecture;
}

} // namespace

code code_for(const std::string &list, unsigned architecture) {
  code found = code::NONE;
  each_item(list, [&](const item &i) {
    if (runs(i, architecture)) found = code::MACHINE;
    const bool compiles = i.is_ptx() && i.architecture <= architecture;
    if (compiles && found == code::NONE) found = code::PTX;
  });
  return found;
}

std::string code_text(const std::string &list) {
  std::string text;
  each_item(list, [&](const item &i) {
    const std::string name =
        i.architecture == 0 ? "all GPUs" : "sm_" + std::to_string(i.architecture);
    if (i.is_machine_code()) text += (text.empty() ? "" : ", ") + name;
    if (i.is_ptx()) text += (text.empty() ? "" : ", ") + ("PTX for " + name) + " and newer";
  });
  return text;
}

std::string code_remark(const std::string &list, unsigned architecture) {
  const std::string name = "sm_" + std::to_string(architecture);
  switch (code_for(list, architecture)) {
  case code::MACHINE: return "";
  case code::PTX:
    return "the driver compiles the kernels for " + name + " when they are first used";
  case code::NONE: break;
  }
  return "this build has no code for " + name + ", only " + code_text(list) +
         (architecture < OLDEST ? "; CUDA 13 knows no GPU before sm_75"
                                : "; cmake -DRAVEL_CUDA_ALL=ON makes one for all");
}

} // namespace ravel
