/* scalar.h - what back ends do to scalars on the host besides cvl_scalar_op. */
#ifndef RAVEL_CVL_SCALAR_H
#define RAVEL_CVL_SCALAR_H

#include "cvl/cvl.h"

/* a = a and b, by the combining expression of operations.def: what reductions and scans do to
 * two elements, of one type, for which there is one. */
void cvl_scalar_combine(enum cvl_elem int_elem, enum cvl_elem float_elem, enum cvl_op,
                        struct cvl_value *a, const struct cvl_value *b);

#endif
