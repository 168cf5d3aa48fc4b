/* device.hpp - a device that interprets PTX: memory, modules, and commands in order.
 *
 * A command is executed at once, or some time later (options.hpp, `late`). An error in a
 * command loses the device, as on a GPU: its text stays, and nothing is executed from then on.
 */
#ifndef RAVEL_PTX_DEVICE_HPP
#define RAVEL_PTX_DEVICE_HPP

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cvl-cuda/ptx/counting.hpp"
#include "cvl-cuda/ptx/options.hpp"
#include "cvl-cuda/ptx/weak.hpp"

namespace ravel {
namespace ptx {

class device {
public:
  explicit device(const options &);
  ~device();
  device(const device &) = delete;
  device &operator=(const device &) = delete;

  /* Loads a module, which stays as long as the device. Throws `error`. */
  module *load(std::string text);

  /* -- commands -- */
  void launch(launch_of);
  void copy(uint64_t to, uint64_t from, uint64_t bytes);
  void fill(uint64_t to, uint8_t byte, uint64_t bytes);
  void taken(uint64_t address, uint64_t bytes);
  void returned(uint64_t address, uint64_t bytes);
  /* Executes all commands. */
  void finish();
  /* Returns whether all commands are done, which the host asks. A late device executes one
   * more. */
  bool look();

  /* Returns what made the device lost; empty while it works. */
  const std::string &fault() const { return fault_; }
  const options &how() const { return options_; }
  ptx::memory &memory() { return memory_; }

private:
  typedef std::function<void()> command;

  options options_;
  ptx::memory memory_;
  block_pool pool_;
  std::vector<std::unique_ptr<module>> modules_;
  std::deque<command> waiting_;
  std::string fault_;
  std::map<const kernel *, std::vector<executions>> counts_;
  std::vector<const kernel *> launched_; /* each once, in the order of their first launches */
  std::vector<std::unique_ptr<observer>> observers_;
  counting *counting_ = nullptr; /* one of them, or none */
  std::unique_ptr<weak_memory> weak_;
  uint64_t launches_ = 0, random_;

  void put(command);
  void execute_first();
  void execute_launch(const launch_of &);
  void check_range(const char *what, uint64_t address, uint64_t bytes) const;
  void write_coverage() const;
};

} // namespace ptx
} // namespace ravel
#endif
