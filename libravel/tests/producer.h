/* producer.h - random arrays of Arrow, and the columns that they must become.
 *
 * Every buffer has an odd address and ends with its last element, so that the address sanitizer
 * sees whoever reads further; on release it must be what it was. Elements that do not belong to
 * an array's range are null, and lists there do not matter.
 */
#ifndef RAVEL_LIBRAVEL_TESTS_PRODUCER_H
#define RAVEL_LIBRAVEL_TESTS_PRODUCER_H

#include "libravel/import.h"

enum { SHAPE_MOST_CHILDREN = 3, REFERENCE_MOST = 400 };

struct shape {
  struct arrow_format format;
  char text[8]; /* its format string */
  bool nullable;
  char name[8];
  uint32_t child_count;
  struct shape *children[SHAPE_MOST_CHILDREN];
  struct shape *dictionary;
};

/* Columns as 64-bit patterns. */
struct reference {
  uint32_t count;
  struct reference_column {
    uint8_t kind;
    uint64_t length, capacity;
    int64_t *bits;
  } columns[REFERENCE_MOST];
};

extern uint64_t producer_seed;
extern bool producer_narrow;  /* values fit 32 bits */
extern int64_t producer_live; /* arrays and schemas that are not released */

uint64_t producer_random(uint64_t below);
struct shape *shape_random(unsigned depth);
struct shape *shape_of(const char *format);
void shape_free(struct shape *);

void reference_begin(struct reference *, const struct shape *);
void reference_free(struct reference *);

void producer_schema(const struct shape *, struct ArrowSchema *);
/* An array whose elements first .. first + n, of `total`, are appended to the reference. */
void producer_array(const struct shape *, uint64_t total, uint64_t first, uint64_t n,
                    struct reference *, struct ArrowArray *);

#endif
