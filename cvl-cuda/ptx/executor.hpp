/* executor.hpp - what the handler of an instruction works on: memory, and the registers of the
 * warp that runs.
 */
#ifndef RAVEL_PTX_EXECUTOR_HPP
#define RAVEL_PTX_EXECUTOR_HPP

#include <string.h>

#include "cvl-cuda/ptx/instruction.hpp"

namespace ravel {
namespace ptx {

enum access : uint8_t { READ, WRITE, CHANGE /* an atomic change */ };

struct executor {
  uint8_t *registers = nullptr; /* registers of the warp that runs */
  lanes carry = 0;              /* condition codes of the warp */
  lanes participants = 0;       /* WARP_SYNC: the lanes that meet */

  virtual ~executor() = default;

  template <class T> T *lane(slot s) { return (T *)(registers + s.at); }
  lanes &predicate(slot s) { return *(lanes *)(registers + s.at); }

  /* Returns the bytes of an access by a lane, after checking it. Throws `error` if it must not
   * be made. */
  virtual uint8_t *reach(const instruction &, unsigned lane, uint64_t address, unsigned bytes,
                         access) = 0;
  /* Returns the lane with which a store or an atomic operation begins; the others follow in
   * order. */
  virtual unsigned first_lane() { return 0; }
  virtual void fence(const instruction &, lanes) {}
  /* Returns %globaltimer, in nanoseconds. */
  virtual uint64_t time() { return 0; }
  /* Returns the address of a lane's access. Outside of global memory it is an offset in its
   * space. */
  uint64_t address_of(const instruction &i, unsigned k) {
    const uint64_t address = at(i.a, k) + (uint64_t)i.offset;
    return i.where == GLOBAL || i.where == GENERIC ? address : (uint32_t)address;
  }
  /* Returns a lane's value of a register, 0 if there is none. */
  uint64_t at(const slot &s, unsigned k) const {
    uint64_t value = 0;
    if (s.at != NO_REGISTER) memcpy(&value, registers + s.at + k * s.stride, s.stride);
    return value;
  }
  [[noreturn]] virtual void refuse(const instruction &, unsigned lane, const std::string &) = 0;
};

/* Calls f(k) for each lane. */
template <class F> inline void for_lanes(lanes l, F f) {
  if (l == ALL_LANES) {
    for (unsigned k = 0; k < WARP; k++) f(k);
  } else {
    for (; l; l &= l - 1) f((unsigned)__builtin_ctz(l));
  }
}

/* Returns the value of a lane as an integer of 64 bits. Narrower values are extended by their
 * type T. */
template <class T> inline T read_as(const uint8_t *registers, slot s, unsigned lane) {
  T x;
  memcpy(&x, registers + s.at + lane * s.stride, sizeof x);
  return x;
}
/* Writes a value to a register that may be wider: it is extended to 64 bits. */
inline void write_wide(uint8_t *registers, slot s, unsigned lane, uint64_t x) {
  uint8_t *to = registers + s.at + lane * s.stride;
  switch (s.stride) {
  case 2: memcpy(to, &x, 2); break;
  case 4: memcpy(to, &x, 4); break;
  case 8: memcpy(to, &x, 8); break;
  default: break; /* the operand `_` */
  }
}

} // namespace ptx
} // namespace ravel
#endif
