/* checker.hpp - the errors that the emulated device looks for while kernels run.
 *
 * Memory of a checked device lies in one reserved range of addresses. Each byte has a state
 * (allocated, initialised) and the threads that accessed it last. Every execution of a thread
 * has a number, higher than all before it. So an earlier access conflicts with one of the
 * running thread if its number belongs to this launch and to another thread, and no barrier
 * lies between them. Barriers order the phases of one block; nothing orders blocks.
 *
 * Statements of a cooperative kernel outside of each() are made by all threads of the block.
 * They count as one more thread in the phase that follows, which may only read, and may not
 * touch shared memory.
 *
 * Host memory that the device copies from and to ("pinned") has a range of its own. It is
 * filled with POISON when it is handed out, and where a copy is to arrive.
 */
#ifndef RAVEL_EMULATION_CHECKER_HPP
#define RAVEL_EMULATION_CHECKER_HPP

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "cvl-cuda/stream.hpp"

namespace ravel {
namespace emulation {

enum finding {
  WRITTEN_TWICE,     /* two threads of a launch write one element */
  READ_AND_WRITTEN,  /* one thread reads what another writes */
  PLAIN_AND_ATOMIC,  /* one thread changes an element atomically, another plainly */
  OUTSIDE_PHASE,     /* all threads of a block, outside of each(), write or use shared memory */
  ANOTHERS_REGISTER, /* a thread names another thread's register, which a device does not give
                        it */
  NOT_UNIFORM,       /* a value that decides for all threads of a block differs between them */
  UNINITIALISED,     /* a read of uninitialised memory */
  OUT_OF_BOUNDS,     /* an address in no block, or in the gap behind one */
  FREED,             /* an address in a block that its owner has given back */
  MISALIGNED,        /* an address that a device cannot use */
  HOST_MEMORY,       /* a body on the device touches memory of the host */
  DEVICE_MEMORY,     /* a body on the host touches memory of the device */
  NOT_READY,         /* the host reads a result that it cannot know to be there */
  SOURCE_CHANGED,    /* the source of a copy changed before the copy was made */
  DESTINATION_CHANGED, /* the host wrote where a copy was to arrive */
};

struct report {
  finding what;
  std::string text;
};

/* Adds to the reports of this process. The first few are printed, all are counted. If any are
 * left when the process ends, its exit status is 70. */
void add_report(finding, const std::string &text);
std::vector<report> take_reports(); /* returns the reports and forgets them */
uint64_t count_reports();

enum : uint8_t { POISON = 0xA5 };

/* The cells of consecutive bytes, with the members of struct cell. */
struct accesses {
  uint32_t *write, *read, *other;
  accesses from(size_t at) const { return {write + at, read + at, other + at}; }
  template <class F> void each(F f) const {
    f(write);
    f(read);
    f(other);
  }
};

/* A range of addresses in which a device allocates. A freed allocation is not reused for a
 * while; a gap follows each. */
class range {
public:
  explicit range(bool with_shadow);
  ~range();
  range(const range &) = delete;
  range &operator=(const range &) = delete;

  void *allocate(size_t bytes);
  void free(void *);
  bool has(const void *p) const { return (uintptr_t)p - (uintptr_t)base_ < size_; }
  size_t offset(const void *p) const { return (size_t)((const char *)p - base_); }
  void forget_accesses();
  /* Sets whether the host can touch the memory at all. If it cannot, an access ends the
   * process. */
  void open(bool);

  state *states = nullptr; /* one for each byte, as in the arrays below: */
  accesses cells{};
  /* The highest number of a thread that cells may hold. */
  uint32_t numbers = 0;

private:
  char *base_ = nullptr;
  size_t size_ = 0, top_ = 0, waiting_bytes_ = 0;
  bool with_shadow_;
  std::map<size_t, size_t> sizes_; /* of allocations, by offset */
  std::map<size_t, std::vector<size_t>> free_;
  std::deque<std::pair<size_t, size_t>> waiting_; /* freed: offsets and sizes */
};

class checker {
public:
  /* `first` is the number of the first thread, for tests. */
  explicit checker(uint32_t first = 1);
  ~checker();

  /* Memory, as in struct stream. */
  range device, pinned;
  void taken(void *, size_t);
  void returned(void *, size_t);

  /* Between these calls the device executes commands; at other times its memory is out of
   * reach. */
  void commands_start() { device.open(true); }
  void commands_end() { device.open(false); }

  /* Runs a launch in an order of its threads. */
  void run(const launch &, const order &);
  /* Check other commands when they are executed, and return whether they may be. `as_issued` is
   * what the source was when the command was issued. `alone`: no other copy was to arrive at
   * `to` since then. */
  bool fills(const void *, size_t);
  bool copies_up(const void *to, const void *from, const void *as_issued, size_t);
  bool copies_down(const void *to, const void *from, size_t, bool alone);
  /* a copy from the device to itself */
  bool copies(const void *to, const void *from, size_t);
  /* A copy where one side or both are memory that the checker does not know. */
  bool copies_shared(const void *to, const void *from, size_t);

  /* Notes that a copy or a kernel writes pinned memory. The host must not look at it until it
   * knows of an epoch marked later. `marked` is called when a mark is issued, for copies, and
   * when it is executed, for kernels. Returns false if a copy to this address is already under
   * way. */
  bool expect(const void *, size_t, bool by_kernel);
  void marked(uint64_t epoch, bool executed);
  void known(uint64_t epoch);
  void host_reads(const char *who, const void *, size_t);

  /* An access by the running thread. */
  struct touched {
    const void *at;
    size_t width;
    shared_cell *shared;
  };
  bool reads(const touched &, size_t alignment);
  bool writes(const touched &, size_t alignment);
  bool changes(const touched &, size_t alignment);
  bool shared_index(int64_t i, int64_t n);
  /* Names what runs now: "kernel "scan" (launch 3): thread 5 of block 0". */
  std::string here() const;
  void thread_starts(int64_t thread);
  void block_starts(int64_t block);
  void phase_ends();

  /* Names an address: "block 12 (800 bytes), element 3 of 8 bytes". */
  std::string describe(const void *, size_t width) const;

private:
  struct allocation {
    uint64_t number;
    size_t bytes;
  };
  struct arrival {
    size_t bytes;
    uint64_t epoch; /* UINT64_MAX: not marked yet */
    bool by_kernel;
  };
  std::map<size_t, allocation> blocks_; /* by offset, including those given back */
  std::map<size_t, arrival> arrivals_;  /* by offset in `pinned` */
  uint64_t last_block_ = 0, launch_number_ = 0;

  /* the launch that runs */
  const launch *launch_ = nullptr;
  order order_{1, 0};
  uint32_t now_ = 1; /* number of the running thread */
  uint32_t launch_first_ = 1, block_first_ = 1, phase_first_ = 1;
  int64_t block_ = -1, thread_ = -1; /* -1: none, or all threads */
  bool watched_ = false;             /* the launch has reported its threads or accesses */
  std::vector<std::pair<uint32_t, int64_t>> block_firsts_;

  void next();
  bool conflicts(uint32_t) const;
  std::string who(uint32_t) const;
  std::string in_launch() const;
  void add(finding, const std::string &says, const touched &);
  bool owned(const void *, size_t, const std::string &who_does);
  bool command_writes(const char *does, const void *, size_t);
  bool command_reads(const char *does, const void *, size_t);
  bool reach(const touched &, size_t alignment, const char *does);
  template <int n> bool ordered_read(const accesses &) const;
  template <int n> bool ordered_write(const accesses &) const;
  void note_read(const accesses &, size_t n, const touched &);
  void note_write(const accesses &, size_t n, bool atomic, const touched &);
  void look_at_read(const accesses &, size_t n, const touched &);
  void look_at_write(const accesses &, size_t n, bool atomic, const touched &);
  void initialise_blocks_of(const launch &);
};

/* Runs a body on the host in such a way that the checker knows which thread makes an access. */
void run_on_host(const launch &, const order &);

} // namespace emulation
} // namespace ravel
#endif
