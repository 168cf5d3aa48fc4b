/* text.hpp - the text of a module: the kernels in it, and the statements of a kernel.
 *
 * A module is scanned once for its declarations. The body of a kernel is read when the kernel
 * is first launched, since a program uses few of the hundreds that a module has.
 */
#ifndef RAVEL_PTX_TEXT_HPP
#define RAVEL_PTX_TEXT_HPP

#include <stdint.h>

#include <string>
#include <vector>

#include "cvl-cuda/ptx/types.hpp"

namespace ravel {
namespace ptx {

/* An operand as it is written. */
struct operand_text {
  enum { NAME, NUMBER, VECTOR, ADDRESS, NOTHING } kind = NOTHING;
  std::string name;                   /* for NAME; for an ADDRESS, empty if it is a number */
  int64_t offset = 0;                 /* added to the name */
  uint64_t number = 0;                /* the bits of a number */
  type number_type = NO_TYPE;         /* F32 or F64 if it was written 0f... or 0d... */
  std::vector<operand_text> elements; /* those of a VECTOR; the second name of NAME|NAME */
};

struct statement {
  enum { INSTRUCTION, DIRECTIVE, LABEL, OPEN, CLOSE } kind;
  std::string text; /* as a person reads it, for messages */
  uint32_t line;
  std::string guard; /* the predicate, or empty */
  bool negated;
  std::vector<std::string> opcode; /* its name and modifiers: setp, lt, s32 */
  std::vector<operand_text> operands;
};

/* A variable. `extern`, `visible` and `weak` are not kept, since a module is not linked with
 * others. */
struct variable_text {
  std::string name;
  type of = NO_TYPE;
  uint64_t align = 1, count = 1;
  std::vector<std::string> values; /* of an initialiser */
};

struct kernel_text {
  std::string name;
  std::vector<variable_text> parameters;
  uint32_t most_threads = 0; /* .maxntid; 0: not given */
  size_t begin = 0, end = 0; /* range of the body, without its braces */
  uint32_t line = 0;         /* of its beginning */
};

struct module_text {
  std::string text; /* comments are blanks, so that its length stays */
  int target = 0;   /* the architecture that it was made for: 90 */
  std::vector<kernel_text> kernels;
  std::vector<variable_text> globals; /* .global and .const */
  std::vector<variable_text> shared;  /* .shared outside of kernels, also extern: count 0 */
};

/* Reads a module. Throws `error` with the line of what it does not understand. */
module_text read_module(std::string text);
std::vector<statement> read_body(const module_text &, const kernel_text &);
/* Reads a declaration without its state space: `.align 4 .b8 name[40] = {...}`. */
variable_text read_variable(const std::string &text, uint32_t line);

} // namespace ptx
} // namespace ravel
#endif
