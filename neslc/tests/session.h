/* session.h - a session over the memory of base/tests/memory.h, for the tests of a file. */
#ifndef RAVEL_NESLC_TESTS_SESSION_H
#define RAVEL_NESLC_TESTS_SESSION_H

#include "base/tests/memory.h"
#include "neslc/session.h"

static struct session *session;

static inline void session_begin(bool classic, struct diag_list *diags) {
  memory_begin();
  diag_list_init(diags, &arena);
  session = session_new(&arena, classic, diags);
  if (!session) diag_print(diags, "library", 5, stderr);
  cr_assert(session, "the library is broken");
}

#endif
