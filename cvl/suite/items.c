/* items.c - the list of the suite's items, made from the tables. */
#include "cvl/suite/items.h"

#include <stdlib.h>
#include <string.h>

static const char *class_name(enum elem_class class) {
  static const char *const names[] = {"INT", "FLOAT", "BOOL"};
  return names[class];
}

static void items_add(struct item_list *list, const char *suffix, enum call_kind kind,
                      enum cvl_op op, enum elem_class class, enum item_size size) {
  if (list->count == ITEMS_MAX) abort();
  struct item *it = &list->items[list->count++];
  *it = (struct item){.kind = kind, .op = op, .klass = class, .size = size};
  snprintf(it->name, sizeof it->name, "%s%s.%s", op_info(op)->name, suffix, class_name(class));
}

static void add_chapter(struct item_list *list, const char *name, void (*run)(struct suite *)) {
  if (list->count == ITEMS_MAX) abort();
  struct item *it = &list->items[list->count++];
  *it = (struct item){.run = run};
  snprintf(it->name, sizeof it->name, "%s", name);
}

/* Adds the opcodes of a row of segmented.def. Combining operations, which several rows have,
 * get its name. */
static void add_segmented(struct item_list *list, enum call_kind kind, const char *name) {
  for (int i = 0; i < OPC_COUNT; i++) {
    const struct opcode_info *info = opcode_info((enum opcode)i);
    if (info->klass != call_opcode_class(kind)) continue;
    for (int type = TW_INT; type <= TW_BOOL; type++) {
      const enum elem_class class = type_word_class((enum type_word)type);
      const char *suffix = combine_row(info->operation, class) ? name : "";
      if (!(info->types >> type & 1)) continue;
      items_add(list, suffix, kind, info->operation, class, ITEM_SEGMENTED);
    }
  }
}

static void add_moving(struct item_list *list) {
  static const struct {
    enum call_kind kind;
    enum cvl_op op;
    enum item_size size;
  } moving[] = {
      {CALL_PERMUTE, OP_PERMUTE, ITEM_SEGMENTED},
      {CALL_PERMUTE, OP_DPERMUTE, ITEM_SEGMENTED},
      {CALL_PERMUTE, OP_FPERMUTE, ITEM_SEGMENTED},
      {CALL_PERMUTE, OP_BPERMUTE, ITEM_SEGMENTED},
      {CALL_PERMUTE, OP_BFPERMUTE, ITEM_SEGMENTED},
      {CALL_PERMUTE, OP_DFPERMUTE, ITEM_SEGMENTED},
      {CALL_EXTRACT, OP_EXTRACT, ITEM_SEGMENTED},
      {CALL_REPLACE, OP_REPLACE, ITEM_SEGMENTED},
      {CALL_DIST, OP_DIST, ITEM_SEGMENTED},
      {CALL_PACK, OP_PACK, ITEM_SEGMENTED},
      {CALL_LENGTH_OF, OP_LENGTH, ITEM_FLAT},
  };
  for (size_t i = 0; i < sizeof moving / sizeof moving[0]; i++) {
    for (int class = CLASS_INT; class <= CLASS_BOOL; class ++) {
      items_add(list, "", moving[i].kind, moving[i].op, (enum elem_class) class,
                moving[i].size);
    }
  }
  items_add(list, "", CALL_INDEX, OP_INDEX, CLASS_INT, ITEM_SEGMENTED);
  items_add(list, "", CALL_MAKE_SEGDES, OP_MAKE_SEGDES, CLASS_INT, ITEM_SEGMENTED);
  items_add(list, "", CALL_LENGTHS, OP_LENGTHS, CLASS_INT, ITEM_SEGMENTED);
  items_add(list, "", CALL_RANDOM, OP_RAND, CLASS_INT, ITEM_FLAT);
  items_add(list, "", CALL_ASSERT, OP_ASSERT, CLASS_INT, ITEM_FLAT);
}

void items_make(struct item_list *list) {
  size_t count;
  list->count = 0;
  const struct map_row *maps = map_rows(&count);
  for (size_t i = 0; i < count; i++) {
    items_add(list, "", CALL_ELEMENTWISE, maps[i].op, maps[i].in, ITEM_FLAT);
  }
#define SEGMENTED(kind, function) add_segmented(list, CALL_##kind, "_" #kind);
#include "cvl/segmented.def"
  add_moving(list);
  add_chapter(list, "DEVICES", chapter_devices);
  add_chapter(list, "VALUES", chapter_values);
  add_chapter(list, "SIZES", chapter_sizes);
  add_chapter(list, "ERRORS", chapter_errors);
  add_chapter(list, "RANGES", chapter_ranges);
  add_chapter(list, "SEQUENCE", chapter_sequence);
  add_chapter(list, "POSITIONS", chapter_positions);
  add_chapter(list, "MEMORY_LIMIT", chapter_memory);
  add_chapter(list, "SHARED_MEMORY", chapter_shared);
  add_chapter(list, "SHARED_DEVICE", chapter_device);
  add_chapter(list, "SUPEROP.MAPS", chapter_superop_maps);
  add_chapter(list, "SUPEROP.FUNCTIONS", chapter_superop_functions);
  add_chapter(list, "SUPEROP.LOOPS", chapter_superop_loops);
  add_chapter(list, "SUPEROP.COMBINATIONS", chapter_superop_combinations);
  add_chapter(list, "SUPEROP.COMBINATIONS-AND-LOOPS", chapter_superop_combinations_and_loops);
  add_chapter(list, "SUPEROP.FAILING-COMBINATIONS", chapter_superop_failing_combinations);
  add_chapter(list, "SUPEROP.GATHERS", chapter_superop_gathers);
  add_chapter(list, "SUPEROP.REDUCTIONS", chapter_superop_reductions);
  add_chapter(list, "SUPEROP.SCANS", chapter_superop_scans);
  add_chapter(list, "SUPEROP.PACKS", chapter_superop_packs);
  add_chapter(list, "SUPEROP.FAILING-PACKS", chapter_superop_failing_packs);
  add_chapter(list, "SUPEROP.SCATTERS", chapter_superop_scatters);
  add_chapter(list, "SUPEROP.MIXED", chapter_superop_mixed);
  add_chapter(list, "SUPEROP.COPIES", chapter_superop_copies);
  add_chapter(list, "SUPEROP.FAILING-COPIES", chapter_superop_failing_copies);
  add_chapter(list, "SUPEROP.DIVISIONS", chapter_superop_divisions);
  add_chapter(list, "SUPEROP.ASSERTS", chapter_superop_asserts);
  add_chapter(list, "SUPEROP.FAILING-ASSERTS", chapter_superop_failing_asserts);
  add_chapter(list, "SUPEROP.FAULTS", chapter_superop_faults);
  add_chapter(list, "SLICE", chapter_slices);
  add_chapter(list, "FILL", chapter_fill);
  add_chapter(list, "CONCATENATE", chapter_concatenate);
  add_chapter(list, "SUB_CONTEXTS", chapter_sub);
  add_chapter(list, "OWN_RANGES", chapter_own);
}

/* Whether `only` names the item: "ADD_SCAN.FLOAT", or "ADD_SCAN" for all classes. NULL names
 * all. */
static bool item_matches(const struct item *it, const char *only) {
  size_t n = only ? strlen(only) : 0;
  return !only || (strncmp(it->name, only, n) == 0 && (it->name[n] == 0 || it->name[n] == '.'));
}

/* Whether two items are of one operation. Chapters of superoperators have a name of their own,
 * without a class. */
static bool same_operation(const struct item *a, const struct item *b) {
  const size_t length = strcspn(a->name, ".");
  return a->run == NULL && b->run == NULL && strcspn(b->name, ".") == length &&
         memcmp(a->name, b->name, length) == 0;
}

/* Returns how many operations come before the item, and its index within its own. */
static size_t turn_of(const struct item_list *list, size_t i) {
  size_t turn = 0;
  for (size_t k = 1; k <= i; k++) turn += !same_operation(&list->items[k - 1], &list->items[k]);
  for (size_t k = i; k > 0 && same_operation(&list->items[k - 1], &list->items[k]); k--) turn++;
  return turn;
}

bool item_wanted(const struct item_list *list, size_t i, const struct conformance_options *o) {
  if (!item_matches(&list->items[i], o->only)) return false;
  return o->shards == 0 || turn_of(list, i) % o->shards == o->shard;
}
