/* derive-overflow.c - arithmetic that programs use with --check-overflow: on ints the function
 * of the library that checks, on floats the operator itself.
 */
#include "neslc/primitives/derive-private.h"

static struct core *build_checked_unary(struct build *b, struct type *argument,
                                        struct core_pattern **parameter, const char *ints,
                                        const char *floats) {
  struct type *element = argument->tag == TYPE_SEQUENCE ? type_of(argument->part[0]) : argument;
  struct core_pattern *x = *parameter = build_local(b, "x", argument);
  return build_call(b, element->tag == TYPE_INT ? ints : floats, build_use(b, x));
}

static struct core *build_checked_binary(struct build *b, struct type *argument,
                                         struct core_pattern **parameter, const char *ints,
                                         const char *floats) {
  struct type *first = type_of(argument->part[0]);
  struct core_pattern *x = build_local(b, "x", first);
  struct core_pattern *y = build_local(b, "y", type_of(argument->part[1]));
  *parameter = build_pair_pattern(b, x, y);
  return build_call2(b, first->tag == TYPE_INT ? ints : floats, build_use(b, x),
                     build_use(b, y));
}

#define CHECKED(name, form, ints, floats)                                                      \
  struct core *name(struct build *b, struct type *argument, struct core_pattern **parameter) { \
    return form(b, argument, parameter, ints, floats);                                         \
  }

CHECKED(derive_add, build_checked_binary, "_add_ints", "+")
CHECKED(derive_subtract, build_checked_binary, "_subtract_ints", "-")
CHECKED(derive_multiply, build_checked_binary, "_multiply_ints", "*")
CHECKED(derive_to_power, build_checked_binary, "_to_power_ints", "^")
CHECKED(derive_minus, build_checked_unary, "_minus_int", "negate")
CHECKED(derive_total, build_checked_unary, "_total_ints", "sum")
CHECKED(derive_total_product, build_checked_unary, "_total_product_ints", "product")
CHECKED(derive_totals, build_checked_unary, "_totals_ints", "plus_scan")
