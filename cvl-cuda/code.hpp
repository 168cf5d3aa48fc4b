/* code.hpp - for which GPUs a build has code. */
#ifndef RAVEL_CUDA_CODE_HPP
#define RAVEL_CUDA_CODE_HPP

#include <string>

namespace ravel {

/* The kind of code that a build has for a GPU: none, PTX that the driver compiles, or machine
 * code. */
enum class code { NONE, PTX, MACHINE };

/* Returns the kind of code for a GPU. `list` has the architectures of the build as in
 * CMAKE_CUDA_ARCHITECTURES, with colons between them ("80-real:90:75-virtual"). `architecture`
 * is ten times a compute capability. Machine code runs on GPUs of its generation that are not
 * older, PTX on all that are not older. */
code code_for(const std::string &list, unsigned architecture);

/* Returns the list as a text for people: "sm_80, sm_90, PTX for sm_75 and newer". */
std::string code_text(const std::string &list);

/* Returns what --devices says about a GPU; empty if there is machine code for it. */
std::string code_remark(const std::string &list, unsigned architecture);

} // namespace ravel
#endif
