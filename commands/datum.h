/* datum.h - random values of NESL as trees: drawn, made simpler, written as expressions, and
 * laid out in columns.
 *
 * A datum is small: what a case of a property consists of. Functions and streams are none.
 *
 *   datum-draw.c     random numbers, and values from them
 *   datum-simpler.c  the values that are simpler than a given one
 *   datum-value.c    columns (neslc/value.h), and text
 */
#ifndef RAVEL_DATUM_H
#define RAVEL_DATUM_H

#include "neslc/front/property.h"
#include "neslc/value.h"

/* A value of a type that is known from elsewhere. */
struct random_datum {
  union {
    int64_t integer; /* INT, BOOL (0 or 1), CHAR */
    double real;
  } as;
  uint32_t count;                   /* of items */
  const struct random_datum *items; /* SEQUENCE: elements; PAIR: both; DATA: its contents */
};

/* The scalars that a value may have. */
struct datum_domain {
  const struct property_range *range; /* those of its kind are in it; NULL: any */
  struct widths widths;
};

/* ---- drawing ---- */

/* The generator is SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
 * Generators, 2014). */
struct random_bits {
  uint64_t state;
};
uint64_t random_next(struct random_bits *);
/* Draws a number below n, which is at least 1. */
uint64_t random_below(struct random_bits *, uint64_t n);
/* Returns the stream of random bits for a seed, a name and a number. */
struct random_bits random_stream(uint64_t seed, const char *name, uint64_t number);

/* Returns why no value of the ground type can be drawn, for a message; NULL if one can. */
const char *datum_problem(struct arena *, struct type *);
/* Returns whether a scalar of the range's kind is in the type. */
bool datum_has_range(struct arena *, struct type *, const struct property_range *);

/* Draws a value of the type. Sequences have at most `size` elements, nested ones together about
 * that many; most ints are within size of 0. Items are the arena's. */
struct random_datum datum_draw(struct arena *, struct random_bits *, struct type *,
                               const struct datum_domain *, uint64_t size);

/* ---- simpler values ---- */

typedef ARRAY(struct random_datum) datum_list;

/* The most values that one call appends. */
enum { DATUM_MOST_SIMPLER = 600 };
/* Appends values that are simpler than this one in one respect, the simplest first: sequences
 * with fewer elements, numbers nearer to 0, components one by one. It ends: from simpler to
 * simpler there is a last one. */
void datum_simpler(struct arena *, struct type *, const struct datum_domain *,
                   const struct random_datum *, datum_list *);

/* ---- as values and text ---- */

/* Returns the sequence of `count` values of the type as a value of type [T], `sequence`. */
struct nesl_value datum_columns(struct arena *, struct type *sequence,
                                const struct random_datum *, size_t count);
/* Writes an expression whose value it is. */
void datum_show(struct arena *, struct type *, const struct random_datum *,
                const struct widths *, FILE *);

#endif
