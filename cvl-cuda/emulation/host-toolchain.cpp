/* host-toolchain.cpp - see host-toolchain.hpp. */
#include "cvl-cuda/emulation/host-toolchain.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

#include "cvl-cuda/digest.hpp"

extern char **environ;

namespace ravel {

/* Floating point has the flags of the whole program, or the bits would differ. -O1 is enough:
 * tests run these kernels once or twice. */
static const char *const flags[] = {"-O1",
                                    "-ffp-contract=off",
                                    "-fno-math-errno",
                                    "-fno-trapping-math",
                                    "-std=c++17",
                                    "-w",
                                    "-fPIC",
                                    "-shared"};

/* ---- files ---- */

/* A folder of our own for one compilation, which is deleted with its contents at the end. */
struct workplace {
  std::string folder;
  std::vector<std::string> files;

  bool make(std::string &why) {
    const char *of_system = getenv("TMPDIR");
    folder = std::string(of_system && *of_system ? of_system : "/tmp") + "/ravel-XXXXXX";
    if (mkdtemp(&folder[0])) return true;
    why = folder + ": " + strerror(errno);
    folder.clear();
    return false;
  }
  std::string file(const char *name) {
    files.push_back(folder + "/" + name);
    return files.back();
  }
  workplace() = default;
  workplace(const workplace &) = delete;
  workplace &operator=(const workplace &) = delete;
  ~workplace() {
    for (const std::string &f : files) unlink(f.c_str());
    if (!folder.empty()) rmdir(folder.c_str());
  }
};

static bool host_toolchain_write_file(const std::string &name, const std::string &bytes,
                                      std::string &why) {
  FILE *f = fopen(name.c_str(), "wxe");
  bool good = f && fwrite(bytes.data(), 1, bytes.size(), f) == bytes.size();
  if (f) good = (fclose(f) == 0) && good;
  if (!good) why = name + ": " + strerror(errno);
  return good;
}

static bool host_toolchain_read_file(const std::string &name, std::string &bytes) {
  FILE *f = fopen(name.c_str(), "re");
  if (!f) return false;
  char buffer[4096];
  bytes.clear();
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, f)) > 0;) bytes.append(buffer, n);
  const bool good = !ferror(f);
  fclose(f);
  return good;
}

/* ---- processes ---- */

/* Starts a command without input, whose output goes to a file. Its signals are unblocked, and
 * it leads a process group, so that all processes of a compiler can be stopped. Returns 0 or an
 * errno. */
static int host_toolchain_start(const std::vector<std::string> &words,
                                const std::string &output, pid_t &process) {
  std::vector<char *> arguments;
  for (const std::string &w : words) arguments.push_back(const_cast<char *>(w.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (posix_spawn_file_actions_init(&actions) != 0) return ENOMEM;
  if (posix_spawnattr_init(&attributes) != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return ENOMEM;
  }
  sigset_t none;
  sigemptyset(&none);
  int error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (!error) {
    error = posix_spawn_file_actions_addopen(&actions, 1, output.c_str(),
                                             O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }
  if (!error) error = posix_spawn_file_actions_adddup2(&actions, 1, 2);
  if (!error) error = posix_spawnattr_setsigmask(&attributes, &none);
  if (!error) error = posix_spawnattr_setpgroup(&attributes, 0);
  if (!error) {
    error =
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }
  if (!error) {
    error =
        posix_spawnp(&process, arguments[0], &actions, &attributes, arguments.data(), environ);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/* Waits until the process ends or is to be stopped. Returns whether it ended well. It polls a
 * thousand times a second: waiting for a process and for a flag at once would take more than it
 * gains. */
static bool host_toolchain_finish(pid_t process, const std::atomic<bool> *stop) {
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(process, &status, WNOHANG);
    if (ended == process) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (ended < 0 && errno != EINTR) return false;
    if (stop && *stop) {
      kill(-process, SIGKILL);
      while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
      }
      return false;
    }
    const struct timespec a_while = {0, 1000000};
    nanosleep(&a_while, nullptr);
  }
}

/* ---- the toolchain ---- */

struct host_compiler : toolchain {
  std::vector<std::string> command_;
  std::string version_;
  companion beside_;

  host_compiler(const std::string &command, companion beside) : beside_(std::move(beside)) {
    set(command);
  }
  void set(const std::string &command) {
    std::istringstream words(command);
    command_.clear();
    for (std::string w; words >> w;) command_.push_back(w);
  }

  bool open(std::string &why) override;
  std::string identity() override;
  bool compile(const std::string &text, const std::string &name, const std::atomic<bool> &stop,
               std::string &bytes, std::string &why) override;
  void *load(const std::string &bytes, std::string &why) override;
  bool entry_of(void *loaded, const std::string &name, kernel_entry &entry,
                std::string &why) override;
  void unload(void *loaded) override { dlclose(loaded); }

  bool ask_version(std::string &why);
};

/* Asks the compiler for its version. Its name is not enough, as the file of that name may
 * change. */
bool host_compiler::ask_version(std::string &why) {
  workplace here;
  if (command_.empty() || !here.make(why)) return false;
  std::vector<std::string> words = command_;
  words.push_back("--version");
  const std::string output = here.file("version");
  pid_t process = 0;
  const int error = host_toolchain_start(words, output, process);
  if (error) {
    why = words[0] + ": " + strerror(error);
    return false;
  }
  if (host_toolchain_finish(process, nullptr) && host_toolchain_read_file(output, version_))
    return true;
  why = words[0] + " does not print its version";
  return false;
}

bool host_compiler::open(std::string &why) {
  if (command_.empty()) {
    const char *of_user = getenv("CXX");
    if (of_user) set(of_user);
  }
  if (!command_.empty()) return ask_version(why);
  for (const char *name : {"c++", "g++", "clang++"}) {
    set(name);
    if (ask_version(why)) return true;
  }
  why = "there is no C++ compiler on the path (c++, g++, clang++), and CXX is not set";
  return false;
}

std::string host_compiler::identity() {
  struct utsname system;
  std::string text = version_ + (uname(&system) == 0 ? system.machine : "");
  for (const std::string &word : command_) text += " " + word;
  for (const char *flag : flags) text += std::string(" ") + flag;
  if (!beside_.text.empty()) text += " " + sha256().add(beside_.text).hex();
  return text;
}

/* Returns the first line of a compiler's messages that speaks of an error. */
static std::string host_toolchain_first_error(const std::string &log) {
  size_t at = log.find("error");
  if (at == std::string::npos) at = 0;
  const size_t begin = log.rfind('\n', at) + 1;
  return log.substr(begin, log.find('\n', at) - begin);
}

bool host_compiler::compile(const std::string &text, const std::string &name,
                            const std::atomic<bool> &stop, std::string &bytes,
                            std::string &why) {
  workplace here;
  if (!here.make(why)) return false;
  const std::string source = here.file("kernel.cpp"), library = here.file("kernel.so"),
                    log = here.file("log");
  if (!host_toolchain_write_file(source, beside_.text + text, why)) return false;
  std::vector<std::string> words = command_;
  words.insert(words.end(), std::begin(flags), std::end(flags));
  for (const std::string &w : {source, std::string("-o"), library, std::string("-lm")})
    words.push_back(w);
  pid_t process = 0;
  const int error = host_toolchain_start(words, log, process);
  if (error) {
    why = words[0] + ": " + strerror(error);
    return false;
  }
  if (!host_toolchain_finish(process, &stop)) {
    std::string messages;
    host_toolchain_read_file(log, messages);
    why = "kernel " + name + ": " + (stop ? "given up" : host_toolchain_first_error(messages));
    return false;
  }
  if (host_toolchain_read_file(library, bytes)) return true;
  why = library + ": " + strerror(errno);
  return false;
}

void *host_compiler::load(const std::string &bytes, std::string &why) {
  workplace here; /* a new name, or dlopen would give the library that it already has under that
                     name */
  if (!here.make(why)) return nullptr;
  const std::string library = here.file("kernel.so");
  if (!host_toolchain_write_file(library, bytes, why)) return nullptr;
  void *loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!loaded) {
    why = dlerror();
    return nullptr;
  }
  if (!beside_.function.empty()) {
    typedef void function(const void *);
    const auto call = reinterpret_cast<function *>(dlsym(loaded, beside_.function.c_str()));
    if (call) call(beside_.argument);
  }
  return loaded;
}

bool host_compiler::entry_of(void *loaded, const std::string &name, kernel_entry &entry,
                             std::string &why) {
  entry.on_host =
      reinterpret_cast<decltype(entry.on_host)>(dlsym(loaded, (name + "_host").c_str()));
  if (!entry.on_host) why = "kernel " + name + " is not in its text";
  return entry.on_host != nullptr;
}

std::unique_ptr<toolchain> host_toolchain(std::string command, companion beside) {
  return std::unique_ptr<toolchain>(new host_compiler(command, std::move(beside)));
}

} // namespace ravel
