/* checks.h - the checks of primitives, and their messages: checks.def. */
#ifndef RAVEL_NESLC_CHECKS_H
#define RAVEL_NESLC_CHECKS_H

#include "base/arena.h"

enum check {
#define CHECK(id, text) CHECK_##id,
#include "neslc/types/checks.def"
};

/* The text of a check of the library: a sentence, and a detail in which {v} and {w} stand for
 * its numbers; "" if there is none. */
static inline const char *check_worded(struct arena *arena, const char *sentence,
                                       const char *detail) {
  return *detail ? arena_printf(arena, "%s (%s)", sentence, detail)
                 : arena_printf(arena, "%s {}", sentence);
}

static inline const char *check_text(enum check check) {
  static const char *const texts[] = {
#define CHECK(id, text) [CHECK_##id] = text,
#include "neslc/types/checks.def"
  };
  return texts[check];
}

#endif
