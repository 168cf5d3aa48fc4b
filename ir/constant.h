/* constant.h - constants as values: elements, and which constants are the same. */
#ifndef RAVEL_IR_CONSTANT_H
#define RAVEL_IR_CONSTANT_H

#include "cvl/cvl.h"
#include "vcode/vcode.h"

/* Element i as a scalar; of a descriptor, the length of segment i as an INT. */
struct cvl_value constant_element(struct widths, const struct vcode_constant *, uint64_t i);
/* Whether two constants are the same value of the same type, bit by bit. SEGDES is another type
 * than INT, and CHAR, which is another way to write it, counts as one. */
bool constant_same(const struct vcode_constant *, const struct vcode_constant *);
/* Equal for constants that are the same. */
uint64_t constant_hash(const struct vcode_constant *);

#endif
