/* async.hpp - copies from global to shared memory that go on while their threads do, and the
 * barriers in shared memory by which threads wait for them (PTX ISA, "Data Movement and
 * Conversion Instructions: Asynchronous copy" and "mbarrier").
 *
 *   cp.async        4, 8 or 16 bytes of each lane; a lane waits for groups of its own
 *   cp.async.bulk   any multiple of 16 bytes by one lane; threads wait at a barrier, which
 *                   counts the bytes
 *
 * When a copy is made is the schedule's choice: with a seed at any time until its threads have
 * waited for it, otherwise as late as that. So who does not wait reads what was never written.
 *
 * A barrier is an 8-byte word of shared memory, which counts arrivals and bytes of a phase:
 * when none are missing the next phase begins. What is in the word is this file's.
 */
#ifndef RAVEL_PTX_ASYNC_HPP
#define RAVEL_PTX_ASYNC_HPP

#include <vector>

#include "cvl-cuda/ptx/executor.hpp"
#include "cvl-cuda/ptx/form.hpp"

namespace ravel {
namespace ptx {

struct async_copy {
  const instruction *by;
  unsigned lane;
  uint64_t from, to;     /* in global, in shared memory */
  uint32_t bytes, zeros; /* that are copied; that are written behind them */
  uint64_t barrier;      /* BULK: in shared memory */

  bool bulk() const { return by->counted == BULK_COPY; }
};

/* Makes the copy, in the name of its thread. */
void make_copy(const async_copy &, executor &);

void encode_mbarrier(const form &, operand_source &, instruction &);
void encode_copy(const form &, operand_source &, instruction &);
/* For the test that covers all. */
std::vector<const char *> async_forms();

} // namespace ptx
} // namespace ravel
#endif
