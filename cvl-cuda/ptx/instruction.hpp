/* instruction.hpp - a kernel ready to be executed.
 *
 * The registers of a warp lie in one array, one after the other, each with a value for every
 * lane. An operand is an offset into the array, and an instruction is a loop over lanes.
 * Constants and special registers are registers, too, which are filled when a warp begins. A
 * predicate is one word, with a bit for each lane.
 */
#ifndef RAVEL_PTX_INSTRUCTION_HPP
#define RAVEL_PTX_INSTRUCTION_HPP

#include <stdint.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cvl-cuda/ptx/text.hpp"
#include "cvl-cuda/ptx/types.hpp"

namespace ravel {
namespace ptx {

enum { WARP = 32, NO_REGISTER = UINT32_MAX };

/* One bit for each lane of a warp. */
typedef uint32_t lanes;
enum : lanes { ALL_LANES = 0xffffffff };

struct instruction;
struct executor;
/* Executes an instruction for some lanes of the executor's warp. */
typedef void (*handler)(const instruction &, executor &, lanes);

/* Where the values of a register are. */
struct slot {
  uint32_t at = NO_REGISTER; /* bytes from the warp's first register */
  uint8_t stride = 0;        /* bytes from lane to lane; 0: a predicate */
};

/* The scheduler treats instructions by these kinds. All except PLAIN end a group's run or
 * change it. */
enum control : uint8_t {
  PLAIN,         /* runs the handler, then goes to the next one */
  BRANCH,        /* goes to `target` */
  EXIT,          /* ends these lanes */
  BLOCK_BARRIER, /* waits for all threads of the block; it has a handler if they vote */
  WARP_SYNC,     /* waits for the lanes that `mask` names, then runs the handler */
};

/* The class in which an instruction is counted. */
enum instruction_class : uint8_t {
  ARITHMETIC_INT,
  ARITHMETIC_F32,
  ARITHMETIC_F64,
  CONVERSION,
  MOVE,
  CONTROL,
  GLOBAL_LOAD,
  GLOBAL_STORE,
  SHARED_LOAD,
  SHARED_STORE,
  LOCAL_ACCESS,
  PARAMETER_LOAD,
  ATOMIC,
  BARRIER,
  WARP_EXCHANGE,
  FENCE
};

enum space : uint8_t { GLOBAL, SHARED, PARAM, LOCAL, GENERIC };
/* Generic addresses from this one on are of shared memory; all others are global. */
enum : uint64_t { SHARED_WINDOW = (uint64_t)1 << 56 };

/* The order that an access to memory establishes (PTX ISA, "Memory Consistency Model"). */
enum order_of : uint8_t { WEAK, RELAXED, ACQUIRE, RELEASE, ACQUIRE_RELEASE, SEQUENTIAL };
enum scope : uint8_t { BLOCK_SCOPE, DEVICE_SCOPE, SYSTEM_SCOPE };

struct instruction {
  handler run = nullptr;
  slot d, a, b, c, e; /* result and operands */
  slot guard;         /* a predicate, or none */
  int64_t offset = 0; /* of an address, added to a */
  uint32_t target = 0;
  control control_of = PLAIN;
  instruction_class counted = ARITHMETIC_INT;
  bool negated = false;  /* whether the guard is negated */
  bool narrowed = false; /* WARP_SYNC: its mask lacks a lane, see mutation */
  /* For accesses to memory: */
  space where = GLOBAL;
  order_of order = WEAK;
  scope within = DEVICE_SCOPE;
  uint8_t bytes = 0; /* of one element */
  uint8_t count = 1;
  type of = NO_TYPE;
  slot elements[4];
  uint32_t statement = 0; /* index of its text in kernel::text */

  bool acquires() const { return order == ACQUIRE || order == ACQUIRE_RELEASE; }
  bool releases() const { return order == RELEASE || order == ACQUIRE_RELEASE; }
};

/* The values of a warp's registers before its first instruction. */
struct constant {
  slot where;
  uint64_t value;
};
enum special : uint8_t {
  THREAD,
  THREAD_Y,
  THREAD_Z,
  THREADS,
  THREADS_Y,
  THREADS_Z,
  BLOCK,
  BLOCK_Y,
  BLOCK_Z,
  BLOCKS,
  BLOCKS_Y,
  BLOCKS_Z,
  LANE,
  LANES_BELOW,
  LANES_UP_TO,
  LANES_ABOVE,
  LANES_FROM,
  LANE_BIT,
  WARP_NUMBER,
  WARPS,
  PROCESSOR,
  CLOCK,
  SPECIALS
};
struct special_register {
  slot where;
  special of;
};

struct parameter {
  uint32_t at, bytes;
};

struct module;

struct kernel {
  std::string name;
  /* The name in messages and reports. The name of a superoperator's kernel differs between
   * programs. So a name without C++ types is followed by a digest of the instructions, which is
   * the same for the same code: fused_5e0d_kernel#5f3a90c2. */
  std::string label;
  const module *from = nullptr;
  std::vector<instruction> code;
  std::vector<std::string> text; /* of its statements */
  std::vector<uint32_t> lines;   /* the lines of these statements in the module's text */
  std::vector<constant> constants;
  std::vector<special_register> specials;
  std::vector<parameter> parameters;
  uint32_t parameter_bytes = 0;
  uint32_t register_bytes = 0; /* of a warp */
  uint32_t shared_bytes = 0;   /* of a block, as declared */
  uint32_t local_bytes = 0;    /* of a thread */
  bool extern_shared = false;  /* a launch adds memory behind this */
  uint32_t most_threads = 0;   /* 0: not declared, so 1024 */
};

/* A module's global variables are memory of the device. */
struct global_memory {
  virtual ~global_memory() = default;
  virtual uint64_t variable(uint64_t bytes, uint64_t align, const void *initial) = 0;
};

/* A defect that is planted to see whether a test notices it: in the kernels of this name or
 * label, at the index of an instruction. A barrier or fence is left out, or a mask lacks the
 * highest of its lanes. */
struct mutation {
  std::string kernel;
  uint32_t index = 0;
  bool narrows = false;
};

struct module {
  module(std::string text, global_memory &);
  module(const module &) = delete;
  module &operator=(const module &) = delete;

  /* Returns a kernel; null if there is none of this name. Throws `error` if its body is not
   * understood. */
  kernel *find(const std::string &name);
  std::vector<std::string> names() const;
  /* Returns the address of a global variable; 0 if there is none. */
  uint64_t address_of(const std::string &name, uint64_t *bytes) const;

  module_text text;
  mutation mutated;

private:
  struct variable {
    uint64_t address, bytes;
  };
  std::map<std::string, variable> variables_;
  std::map<std::string, std::unique_ptr<kernel>> kernels_;
  std::map<std::string, const kernel_text *> texts_;
};

/* The function in opcodes.cpp gives an instruction its handler by its opcode; `operands`
 * resolves operands. It throws `error`, which names the opcode, if there is none. */
struct operand_source {
  virtual ~operand_source() = default;
  /* Returns where a register, or a constant of this type, is. */
  virtual slot value(const operand_text &, type) = 0;
  /* Returns a register to be written; `_` gives none. */
  virtual slot result(const operand_text &) = 0;
  /* Sets base and offset of an address. */
  virtual void address(const operand_text &, space, instruction &) = 0;
  virtual void label(const operand_text &, instruction &) = 0;
};
void encode(const statement &, operand_source &operands, instruction &);
/* Returns all forms of opcodes, such as "add.s32", for the test that covers them all. */
std::vector<std::string> opcode_forms();

} // namespace ptx
} // namespace ravel
#endif
