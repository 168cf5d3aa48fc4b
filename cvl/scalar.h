/* scalar.h - other operations of back ends on scalars in the host, besides cvl_scalar_op. */
#ifndef RAVEL_CVL_SCALAR_H
#define RAVEL_CVL_SCALAR_H

#include "cvl/cvl.h"

/* Sets a to a and b combined, by the combining expression of operations.def, as reductions and
 * scans combine two elements. Both have one type, for which there is such an expression. */
void cvl_scalar_combine(enum cvl_elem int_elem, enum cvl_elem float_elem, enum cvl_op,
                        struct cvl_value *a, const struct cvl_value *b);

#endif
