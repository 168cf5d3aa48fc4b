/* watching.cpp - see watching.hpp. */
#include "cvl-cuda/emulation/watching.hpp"

#include "cvl-cuda/pointer.hpp"

/* The lines of checked.hpp. */
extern "C" const char *const ravel_checked_text[];

namespace ravel {

companion watching() {
  using namespace emulation;
  static const watcher table = {reads,         writes,         changes,
                                shared_index,  running_thread, report_different,
                                report_thread, report_block,   report_phase_end};
  companion c;
  c.text = "#define RAVEL_WATCHED\n";
  for (const char *const *line = ravel_checked_text; *line != nullptr; line++) c.text += *line;
  c.text += "#line 1\n"; /* messages count the lines of the kernel's own text */
  c.function = "ravel_watched_by";
  c.argument = &table;
  return c;
}

} // namespace ravel
