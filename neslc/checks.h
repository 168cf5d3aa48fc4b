/* checks.h - the checks that primitives make, and what they say: checks.def. */
#ifndef RAVEL_NESLC_CHECKS_H
#define RAVEL_NESLC_CHECKS_H

enum check {
#define CHECK(id, text) CHECK_##id,
#include "neslc/checks.def"
};

static inline const char *check_text(enum check check) {
  static const char *const texts[] = {
#define CHECK(id, text) [CHECK_##id] = text,
#include "neslc/checks.def"
  };
  return texts[check];
}

#endif
