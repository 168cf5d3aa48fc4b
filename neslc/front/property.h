/* property.h - properties: laws in comments of a program, which `nesl test` tries on random
 * data.
 *
 *     %property NAME(x : T, v : [T] in RANGE from F, ...) cases := N size := N where C = E %
 *
 * E and C are of type bool. What `in`, `from`, `cases`, `size` and `where` begin may be left
 * out. Here is the form of properties; docs/testing.md says what they mean.
 */
#ifndef RAVEL_NESLC_PROPERTY_H
#define RAVEL_NESLC_PROPERTY_H

#include "neslc/front/syntax.h"

/* The values that scalars may have: ints low .. high - 1, floats of low .. high, the characters
 * of a string.
 */
enum property_range_kind { RANGE_NONE, RANGE_INTS, RANGE_FLOATS, RANGE_CHARS };

struct property_range {
  enum property_range_kind kind;
  struct span at;
  int64_t low, high;
  double least, most;
  const char *chars;
  size_t char_count;
};

struct property_parameter {
  const struct name *name;
  struct span type;      /* of what is drawn */
  struct span generator; /* the function F; empty: what is drawn is the argument */
  struct property_range range;
};

struct property {
  const struct name *name;
  const struct source *source; /* the spans are of this one */
  struct span name_at;
  ARRAY(struct property_parameter) parameters; /* at least one */
  struct span condition;                       /* empty: none */
  struct span law;
  uint64_t cases, size; /* 0: as the options say */
};

/* The next comment of a text that begins with the word `property`, at or behind *at, which
 * becomes the byte behind it: the span is what stands between the `%`. False if there is none.
 */
bool property_find(const struct source *, uint32_t *at, struct span *comment);

/* Reads a property, the whole text of `source`. False after complaining. Memory is the arena's.
 */
bool property_read(struct arena *, struct intern *, const struct source *, struct complaints *,
                   struct property *);

#endif
