/* code.hpp - for which GPUs a build has code. */
#ifndef RAVEL_CUDA_CODE_HPP
#define RAVEL_CUDA_CODE_HPP

#include <string>

namespace ravel {

/* What there is for a GPU: nothing; PTX, which its driver compiles; or machine code. */
enum class code { NONE, PTX, MACHINE };

/* By the architectures for which the build was made, as in CMAKE_CUDA_ARCHITECTURES but with
 * colons between them ("80-real:90:75-virtual"), for ten times a compute capability. Machine
 * code runs on GPUs of its generation that are not older, PTX on all that are not older. */
code code_for(const std::string &list, unsigned architecture);

/* The list for people: "sm_80, sm_90, PTX for sm_75 and newer". */
std::string code_text(const std::string &list);

/* What --devices says of a GPU; empty: it has machine code. */
std::string code_remark(const std::string &list, unsigned architecture);

} // namespace ravel
#endif
