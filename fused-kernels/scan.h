/* scan.h - the tokens of a definition (docs/internals/fcode.md). Private to this room. */
#ifndef RAVEL_FUSED_SCAN_H
#define RAVEL_FUSED_SCAN_H

#include "vcode/vcode.h"

enum scan_kind {
  SCAN_WORD,    /* opcode, type word, =, ->, ! */
  SCAN_INTEGER, /* as in VCODE */
  SCAN_REAL,
  SCAN_VALUE,  /* $ and digits; text is the digits */
  SCAN_STRING, /* text is between the quotes */
  SCAN_MARK,   /* one of ( ) @ : , # */
  SCAN_BAD,
  SCAN_END
};

struct scan_token {
  enum scan_kind kind;
  struct source_pos pos;
  const char *text;
  size_t length;
};

struct scan {
  const char *next, *end;
  struct source_pos pos;
  const char *origin; /* inside of the latest {@ ... } comment passed over, or NULL */
  size_t origin_length;
};

void scan_init(struct scan *, const struct vcode_fused *);
/* The next token; comments and blanks are passed over. A comment or string that is not closed
 * and bytes without a meaning here come as BAD, and the text does not go on behind the former.
 */
struct scan_token scan_next(struct scan *);

#endif
