/* sdot.c - the same sum in single precision: numbers are as wide as FLOAT_BITS. */
#include "dot-product.c"
