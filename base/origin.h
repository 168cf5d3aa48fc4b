/* origin.h - which source an instruction was compiled from: a file, line and column, the
 * function around it, and where its body was inlined.
 *
 * A program has a table of origins; its instructions have the numbers of theirs, from 1 on. The
 * table has no two equal ones, so origins are equal if their numbers are. In VCODE and FCODE an
 * origin is a comment (vcode.md, section 21.7); only vcode/ knows its text.
 */
#ifndef RAVEL_ORIGIN_H
#define RAVEL_ORIGIN_H

#include "base/diag.h"
#include "base/map.h"

struct origin {
  const char *file;
  struct source_pos pos; /* line 0: of a call that the source does not have, of a body that the
                            compiler made a function */
  const char *function;  /* "" if it is not known */
  uint32_t inlined_at;   /* of an inlined body: the origin of the call; else 0 */
};

struct origin_table {
  struct arena *arena;
  ARRAY(struct origin) list; /* [0] is no origin */
  struct scoped_map numbers; /* by hash */
};

/* Makes an empty table, or a copy of another, which it does not change. Ends in memory_failed
 * without memory. */
void origin_table_init(struct origin_table *, struct arena *, const struct origin_table *other);

/* Returns the origin of a number, valid until the next one is added; NULL for 0. */
static inline const struct origin *origin_at(const struct origin_table *t, uint32_t number) {
  return number ? &t->list.items[number] : NULL;
}

/* Returns the number of an equal origin, which is added if there is none. Texts are compared,
 * and borrowed: they live as long as the table's arena. Ends in memory_failed without memory.
 */
uint32_t origin_number(struct origin_table *, struct origin);

/* Returns the origin of an instruction of an inlined body. It is `inner`, with the call of
 * origin `call` as the outermost that it was inlined at. A call that the source does not have
 * leaves no trace. 0 is none, as everywhere. Beyond 32 calls `inner` stays as it is, so that no
 * text of an origin is long. */
uint32_t origin_inlined(struct origin_table *, uint32_t inner, uint32_t call);

#endif
