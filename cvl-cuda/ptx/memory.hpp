/* memory.hpp - the memory of the device, and the host's memory that the device can reach.
 *
 * Addresses are those of this process. They lie in a range that is reserved once and handed out
 * from its beginning to its end. So an address is not used twice while the range lasts. A gap
 * follows every allocation: memory that was freed, and addresses that were never allocated,
 * stay recognisable. Each byte of the device's memory has two bits. One says whether it was
 * ever written, the other whether it belongs to no block at present: the back end gives out
 * blocks of its allocations and takes them back (`taken`, `returned`).
 */
#ifndef RAVEL_PTX_MEMORY_HPP
#define RAVEL_PTX_MEMORY_HPP

#include <stddef.h>
#include <stdint.h>

#include <map>

#include "cvl-cuda/ptx/instruction.hpp"

namespace ravel {
namespace ptx {

struct area {
  uint64_t begin, end;
  bool of_host; /* pinned */
};

enum memory_state {
  FINE,
  NEVER_WRITTEN, /* and read */
  GIVEN_BACK,    /* in an allocation, but in no block of it */
  UNALLOCATED,
};

class memory final : public global_memory {
public:
  /* `most` is the limit of bytes of the device. Bits are kept only if `checked`. */
  memory(uint64_t most, bool checked);
  ~memory() override;
  memory(const memory &) = delete;
  memory &operator=(const memory &) = delete;

  /* Allocates bytes, aligned to a page. Returns 0 if there are none left. */
  uint64_t allocate(uint64_t bytes, bool of_host);
  /* Returns false if nothing was allocated there. */
  bool free(uint64_t address);
  /* Returns the number of allocations, except the variables of modules, which nobody gives
   * back. */
  size_t allocations() const { return areas_.size() - variables_; }
  /* Returns the allocation that an address lies in; null if there is none. */
  const area *find(uint64_t address) const;
  uint64_t variable(uint64_t bytes, uint64_t align, const void *initial) override;

  void taken(uint64_t address, uint64_t bytes);
  void returned(uint64_t address, uint64_t bytes);
  /* Returns whether a kernel may read or write these bytes, which lie in one allocation. */
  memory_state state(uint64_t address, uint64_t bytes, bool reads) const;
  void wrote(uint64_t address, uint64_t bytes);
  /* Both are commands of the device. After a copy the destination counts as written where the
   * source did. */
  void copy(uint64_t to, uint64_t from, uint64_t bytes);
  void fill(uint64_t to, uint8_t byte, uint64_t bytes);

  bool checked() const { return checked_; }
  uint64_t left() const { return most_ - used_; }

private:
  uint64_t base_ = 0, reserved_ = 0, top_ = 0, most_, used_ = 0;
  /* A bit for each byte: written; given back. Both are 0 in new memory. */
  uint8_t *written_ = nullptr, *away_ = nullptr;
  bool checked_;
  size_t variables_ = 0;
  std::map<uint64_t, area> areas_; /* by their end */

  void release(const area &);
};

} // namespace ptx
} // namespace ravel
#endif
