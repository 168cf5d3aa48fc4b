/* conformance-items.h - the list of the suite's items. Private to the conformance suite. */
#ifndef RAVEL_CVL_CONFORMANCE_ITEMS_H
#define RAVEL_CVL_CONFORMANCE_ITEMS_H

#include "cvl/conformance-suite.h"

enum { ITEMS_MAX = 200 };

struct item_list {
  size_t count;
  struct item items[ITEMS_MAX];
};

/* All elementwise and combining rows of the tables, all moving operations, all chapters. */
void items_make(struct item_list *);
/* Whether the item is named: "ADD_SCAN.FLOAT", or "ADD_SCAN" for all classes. NULL: all. */
bool item_matches(const struct item *, const char *only);

#endif
