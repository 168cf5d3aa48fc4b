/* each-width.h - includes the file EACH_WIDTH for each pair of widths of INT and FLOAT, with
 * INT_BITS and FLOAT_BITS defined. Included by whoever defines EACH_WIDTH; no guard. */
#define INT_BITS   32
#define FLOAT_BITS 32
#include EACH_WIDTH
#undef FLOAT_BITS
#define FLOAT_BITS 64
#include EACH_WIDTH
#undef INT_BITS
#define INT_BITS 64
#include EACH_WIDTH
#undef FLOAT_BITS
#define FLOAT_BITS 32
#include EACH_WIDTH
#undef INT_BITS
#undef FLOAT_BITS
#undef EACH_WIDTH
