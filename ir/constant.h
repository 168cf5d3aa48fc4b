/* constant.h - the elements of constants as values, and whether two constants are the same. */
#ifndef RAVEL_IR_CONSTANT_H
#define RAVEL_IR_CONSTANT_H

#include "cvl/cvl.h"
#include "vcode/vcode.h"

/* Returns element i as a scalar; for a descriptor, the length of segment i as an INT. */
struct cvl_value constant_element(struct widths, const struct vcode_constant *, uint64_t i);
/* Returns whether two constants are the same value of the same type, bit by bit. SEGDES is
 * another type than INT. CHAR counts as INT, since it is another way to write one. */
bool constant_same(const struct vcode_constant *, const struct vcode_constant *);
/* Returns a hash, which is equal for constants that are the same. */
uint64_t constant_hash(const struct vcode_constant *);

#endif
