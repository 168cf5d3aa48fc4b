/* items.h - the list of the suite's items. Private to the conformance suite. */
#ifndef RAVEL_CVL_CONFORMANCE_ITEMS_H
#define RAVEL_CVL_CONFORMANCE_ITEMS_H

#include "cvl/suite/suite.h"

enum { ITEMS_MAX = 200 };

struct item_list {
  size_t count;
  struct item items[ITEMS_MAX];
};

/* Makes items of all elementwise and combining rows of the tables, all moving operations, and
 * all chapters. */
void items_make(struct item_list *);
/* Whether the options ask for the item at this index: it matches and belongs to the shard. The
 * classes of an operation are in different shards, and consecutive operations begin with
 * different ones. */
bool item_wanted(const struct item_list *, size_t i, const struct conformance_options *);

#endif
