/* test-decimal.c - floats as text and back, compared with the C library: at all powers of two
 * and ten and their neighbours, and on random bits.
 */
#include "base/decimal.h"
#include "base/number.h"
#include "base/powers-of-ten.h"

#include <criterion/criterion.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers to try ---- */

typedef void try_double(double x);

static uint64_t state;

static uint64_t decimal_random_bits(void) {
  state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = state;
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static double decimal_of_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* x and its neighbours, with both signs. */
static void decimal_try_near(try_double *try, double x) {
  try(x);
  try(-x);
  try(nextafter(x, HUGE_VAL));
  try(nextafter(x, 0));
}

static void try_boundaries(try_double *try) {
  for (int e = -1074; e < 1024; e++) {
    decimal_try_near(try, ldexp(1, e));
    decimal_try_near(try, ldexp(3, e - 1));
  }
  for (int e = -324; e < 309; e++) {
    char text[NUMBER_TEXT_MAX];
    for (int digit = 1; digit < 10; digit++) {
      snprintf(text, sizeof text, "%de%d", digit, e);
      decimal_try_near(try, strtod(text, NULL));
    }
  }
  const double others[] = {0.0,     DBL_MAX, DBL_MIN, 9007199254740993.0, INFINITY,
                           FLT_MAX, FLT_MIN, 5e-324,  0x1.8p-1074,        -0.0};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) decimal_try_near(try, others[i]);
  try((double)NAN);
}

/* Random bits; integers of any size; numbers of few digits; halves of units of the last digit.
 */
static void try_random(try_double *try, int count) {
  for (int i = 0; i < count; i++) {
    const uint64_t bits = decimal_random_bits(), more = decimal_random_bits();
    try(decimal_of_bits(bits));
    try((double)(bits >> (more & 63)));
    try((double)(bits >> 40) / pow(10, (double)(more % 12)));
    try(ldexp((double)(bits >> (12 + more % 50)), -(int)(more >> 8 & 63)));
    try(decimal_of_bits(bits >> 12 >> (more % 52))); /* subnormal */
  }
}

enum { RANDOM = 200000 };

static void decimal_try_all(try_double *try) {
  state = 1;
  try_boundaries(try);
  try_random(try, RANDOM);
}

/* ---- the C library's text ---- */

static bool is_nonfinite(const char *text, double x) {
  if (isfinite(x)) return false;
  cr_assert_str_eq(text, isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
  return true;
}

static void rounds_as_printf(double x) {
  char text[NUMBER_TEXT_MAX], wanted[NUMBER_TEXT_MAX];
  cr_assert_eq(format_float(text, x), strlen(text));
  if (is_nonfinite(text, x)) return;
  snprintf(wanted, sizeof wanted, "%.14e", x);
  cr_assert_str_eq(text, wanted);
  cr_assert_eq(format_float_digits(text, x), strlen(text));
  snprintf(wanted, sizeof wanted, "%.16e", x);
  cr_assert_str_eq(text, wanted);
}

Test(decimal, fifteen_and_seventeen_digits) {
  decimal_try_all(rounds_as_printf);
}

static void reads_back(double x) {
  char text[NUMBER_TEXT_MAX], wanted[NUMBER_TEXT_MAX];
  cr_assert_eq(format_float_exact(text, x), strlen(text));
  if (is_nonfinite(text, x)) return;
  int digits = 15;
  do {
    snprintf(wanted, sizeof wanted, "%.*g", digits, x);
  } while (digits++ < 17 && strtod(wanted, NULL) != x);
  cr_assert_str_eq(text, wanted);
}

Test(decimal, digits_that_read_back) {
  decimal_try_all(reads_back);
}

/* "d.ddde-05" of a decimal, as "%.*e" has it. */
static void decimal_compare(const struct decimal *d, const char *wanted) {
  char digits[NUMBER_TEXT_MAX];
  int count = 0;
  if (*wanted == '-') wanted++;
  for (; *wanted != 'e'; wanted++)
    if (*wanted != '.') digits[count++] = *wanted;
  cr_assert(d->count == count && memcmp(d->digits, digits, (size_t)count) == 0, "%.*s for %s",
            d->count, d->digits, digits);
  cr_assert_eq(d->exponent, atoi(wanted + 1));
}

static void rounds_to_any_count(double x) {
  if (!isfinite(x)) return;
  struct decimal d;
  char wanted[NUMBER_TEXT_MAX];
  const int digits = 1 + (int)(decimal_random_bits() % DECIMAL_MOST);
  snprintf(wanted, sizeof wanted, "%.*e", digits - 1, x);
  decimal_round(&d, x, digits);
  decimal_compare(&d, wanted);
}

Test(decimal, any_number_of_digits) {
  decimal_try_all(rounds_to_any_count);
}

static void is_shortest(double x) {
  if (!isfinite(x)) return;
  struct decimal d;
  char wanted[NUMBER_TEXT_MAX];
  int digits = 1;
  do {
    snprintf(wanted, sizeof wanted, "%.*e", digits - 1, x);
  } while (digits++ < DECIMAL_MOST && strtod(wanted, NULL) != x);
  decimal_shortest(&d, x, 1);
  decimal_compare(&d, wanted);
}

Test(decimal, as_few_digits_as_read_back) {
  state = 1;
  try_boundaries(is_shortest);
  try_random(is_shortest, RANDOM / 8);
}

static void is_shortest_32(double x) {
  const float narrow = (float)x;
  if (!isfinite(narrow)) return;
  struct decimal d;
  char wanted[NUMBER_TEXT_MAX];
  int digits = 1;
  do {
    snprintf(wanted, sizeof wanted, "%.*e", digits - 1, (double)narrow);
  } while (digits++ < DECIMAL_MOST_32 && strtof(wanted, NULL) != narrow);
  decimal_shortest_32(&d, narrow, 1);
  decimal_compare(&d, wanted);
}

Test(decimal, as_few_digits_as_read_back_in_32_bits) {
  state = 1;
  try_boundaries(is_shortest_32);
  for (int e = -149; e < 128; e++) {
    const float x = ldexpf(1, e);
    is_shortest_32((double)x);
    is_shortest_32((double)nextafterf(x, INFINITY));
    is_shortest_32((double)nextafterf(x, 0));
  }
  for (int i = 0; i < RANDOM; i++) {
    const uint32_t bits = (uint32_t)decimal_random_bits();
    float x;
    memcpy(&x, &bits, sizeof x);
    is_shortest_32((double)x);
  }
}

Test(decimal, zeros_at_the_end_go) {
  struct decimal d;
  decimal_round(&d, 1250, 9);
  cr_expect_eq(d.count, 9);
  decimal_trim(&d);
  cr_expect(d.count == 3 && d.exponent == 3 && memcmp(d.digits, "125", 3) == 0);
  decimal_round(&d, 0, 5);
  decimal_trim(&d);
  cr_expect(d.count == 1 && d.exponent == 0 && d.digits[0] == '0');
}

/* ---- reading ---- */

static bool decimal_same_bits(double a, double b) {
  return memcmp(&a, &b, sizeof a) == 0;
}

static void reads_as_strtod(const char *text) {
  char *end;
  const char *behind;
  const double wanted = strtod(text, &end), x = read_real(text, &behind);
  cr_assert(decimal_same_bits(x, wanted) || (isnan(x) && isnan(wanted)), "%s: %a, not %a", text,
            x, wanted);
  cr_assert_eq(behind, end, "%s", text);
}

static void reads_texts_of(double x) {
  char text[64];
  snprintf(text, sizeof text, "%.*g", 1 + (int)(decimal_random_bits() % 19), x);
  reads_as_strtod(text);
  snprintf(text, sizeof text, "%.17e", x);
  reads_as_strtod(text);
}

Test(real, reads_what_is_written) {
  decimal_try_all(reads_texts_of);
}

/* Numbers half way between two doubles, and next to it, of 19 digits or fewer. */
Test(real, halves) {
  state = 2;
  for (int i = 0; i < RANDOM; i++) {
    char text[64];
    const uint64_t half = (decimal_random_bits() >> 10 | UINT64_C(1) << 53) | 1;
    const int shift = (int)(decimal_random_bits() % 9);
    snprintf(text, sizeof text, "%llu", (unsigned long long)half << shift);
    reads_as_strtod(text);
    snprintf(text, sizeof text, "%llu.5e%d", (unsigned long long)half, (int)(i % 40) - 20);
    reads_as_strtod(text);
    snprintf(text, sizeof text, "%llue%d", (unsigned long long)decimal_random_bits() / 10,
             (int)(decimal_random_bits() % 700) - 360);
    reads_as_strtod(text);
  }
}

Test(real, other_forms) {
  static const char *const texts[] = {"",
                                      "-",
                                      ".",
                                      "+.5",
                                      "5.",
                                      "-0",
                                      "0e5",
                                      "1e",
                                      "1e+",
                                      "1E5x",
                                      " 1",
                                      "0x1.8p3",
                                      "0x",
                                      "inf",
                                      "-infinity",
                                      "nan(1)",
                                      "1,5",
                                      "1.5.5",
                                      "--1",
                                      "1e400",
                                      "-1e400",
                                      "1e-400",
                                      "0e999999999999999999999",
                                      "1e999999999999999999999",
                                      "1e-999999999999999999999",
                                      "00000000000000000000000000012.5",
                                      "0.00000000000000000000000000000125",
                                      "12345678901234567890123",
                                      "9999999999999999999",
                                      "4.9e-324",
                                      "2.4703282292062327e-324",
                                      "2.4703282292062328e-324",
                                      "2.2250738585072011e-308",
                                      "1.7976931348623158e308",
                                      "1.7976931348623159e308",
                                      "9007199254740993",
                                      "9007199254740993.0",
                                      "1e23",
                                      "8.5e22"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) reads_as_strtod(texts[i]);
}

Test(real, locale_does_not_matter) {
  char text[NUMBER_TEXT_MAX];
  const char *end;
  if (!setlocale(LC_ALL, "de_DE.UTF-8")) cr_skip_test("no such locale here");
  format_float_exact(text, 1.5);
  cr_expect_str_eq(text, "1.5");
  cr_expect_eq(read_real("1.5", &end), 1.5);
  cr_expect_eq(read_real("1.500000000000000000000000", &end), 1.5, "in the C library, too");
}

/* ---- the table ---- */

/* The first 128 bits of a number of 32-bit digits, the last first, whose highest is not 0. */
static struct power_of_ten first_bits(const uint32_t *digits, size_t count) {
  uint64_t words[3] = {0}; /* 192 bits from the highest digit on */
  for (size_t i = 0; i < 6 && i < count; i++)
    words[i / 2] |= (uint64_t)digits[count - 1 - i] << (i % 2 ? 0 : 32);
  const int zeros = __builtin_clzll(words[0]);
  const uint64_t next = zeros ? words[1] >> (64 - zeros) : 0;
  const uint64_t last = zeros ? words[2] >> (64 - zeros) : 0;
  return (struct power_of_ten){words[0] << zeros | next, words[1] << zeros | last};
}

static bool is_power(int k, const uint32_t *digits, size_t count) {
  while (count > 0 && digits[count - 1] == 0) count--;
  const struct power_of_ten wanted = first_bits(digits, count);
  const struct power_of_ten *found = &powers_of_ten[k - TEN_LEAST];
  return found->high == wanted.high && found->low == wanted.low;
}

/* 5^k by multiplication, and 2^1120 / 5^-k by division, rounded down each time. */
Test(decimal, the_table_has_powers_of_ten) {
  enum { DIGITS = 36 };
  uint32_t up[DIGITS] = {1}, down[DIGITS] = {0};
  down[DIGITS - 1] = 1;
  for (int k = 0; k <= TEN_MOST || -k >= TEN_LEAST; k++) {
    cr_assert(k > TEN_MOST || is_power(k, up, DIGITS), "10^%d", k);
    cr_assert(-k < TEN_LEAST || is_power(-k, down, DIGITS), "10^-%d", k);
    uint64_t carry = 0, rest = 0;
    for (size_t i = 0; i < DIGITS; i++) {
      carry += 5 * (uint64_t)up[i];
      up[i] = (uint32_t)carry;
      carry >>= 32;
      rest = rest << 32 | down[DIGITS - 1 - i];
      down[DIGITS - 1 - i] = (uint32_t)(rest / 5);
      rest %= 5;
    }
  }
}
