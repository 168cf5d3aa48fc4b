/* temporary.hpp - a folder for one test, which is deleted after it. */
#ifndef RAVEL_CUDA_TESTS_TEMPORARY_HPP
#define RAVEL_CUDA_TESTS_TEMPORARY_HPP

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <vector>

struct temporary {
  std::string folder = "/tmp/ravel-test-XXXXXX";

  temporary() {
    if (!mkdtemp(&folder[0])) abort();
  }
  ~temporary() { remove(folder); }
  temporary(const temporary &) = delete;
  temporary &operator=(const temporary &) = delete;

  std::string file(const std::string &name) const { return folder + "/" + name; }
  static std::vector<std::string> names(const std::string &of) {
    std::vector<std::string> found;
    if (DIR *d = opendir(of.c_str())) {
      while (const struct dirent *e = readdir(d)) {
        if (e->d_name[0] != '.') found.push_back(e->d_name);
      }
      closedir(d);
    }
    return found;
  }
  std::vector<std::string> names() const { return names(folder); }

private:
  static void remove(const std::string &what) {
    for (const std::string &name : names(what)) remove(what + "/" + name);
    ::remove(what.c_str());
  }
};

/* Returns the contents of a file; empty if there is none. */
inline std::string contents(const std::string &name) {
  std::string text;
  if (FILE *f = fopen(name.c_str(), "re")) {
    char buffer[4096];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, f)) > 0;) text.append(buffer, n);
    fclose(f);
  }
  return text;
}

inline void write_contents(const std::string &name, const std::string &text) {
  FILE *f = fopen(name.c_str(), "we");
  if (!f || fwrite(text.data(), 1, text.size(), f) != text.size()) abort();
  fclose(f);
}

#endif
