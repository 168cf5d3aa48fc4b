/* decimal.h - the decimal digits of floats: so many, correctly rounded, or as many as it takes.
 */
#ifndef RAVEL_DECIMAL_H
#define RAVEL_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

enum {
  DECIMAL_MOST = 17,   /* digits that always read back */
  DECIMAL_MOST_32 = 9, /* and of floats of 32 bits */
  DECIMAL_DIGITS = 20  /* of 64 bits */
};

/* d.ddd * 10^exponent, without its sign; zero has the exponent 0. */
struct decimal {
  char digits[DECIMAL_DIGITS];
  int count, exponent;
};

/* Finds the nearest number to |x| with so many digits, 1 to DECIMAL_MOST: the digits of "%.*e".
 * Where two are equally near, the last digit is even. x is finite. */
void decimal_round(struct decimal *, double x, int digits);
/* Finds the first of decimal_round(x, fewest), decimal_round(x, fewest + 1), ... that is read
 * as x again. One of up to DECIMAL_MOST digits always is. */
void decimal_shortest(struct decimal *, double x, int fewest);
/* Finds the first that is read as x by readers of 32-bit floats, of up to DECIMAL_MOST_32
 * digits. */
void decimal_shortest_32(struct decimal *, float x, int fewest);

/* Removes zeros at the end; the first digit stays. */
void decimal_trim(struct decimal *);

/* Writes all digits of x, the first first; returns their number, at most DECIMAL_DIGITS. */
size_t decimal_digits(char *dst, uint64_t x);

#endif
