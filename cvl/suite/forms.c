/* forms.c - every operation on operands in each of the forms in which a back end may have
 * elements (computed.c). There are more elements than a tile of a device.
 */
#include "cvl/suite/suite.h"

enum { COUNT = 2500 };

/* Whether a form is left out: a brief run has a sixth of all forms, which depend on the
 * seed. */
static bool is_left_out(struct suite *s) {
  return s->options->brief && !s->options->all_forms && !rng_one_in(&s->rng, 6);
}

/* ---- elementwise operations: pairs of forms ---- */

static void run_pair(struct suite *s, enum suite_operand_form a, enum suite_operand_form b,
                     enum suite_operand_form c) {
  if (is_left_out(s)) return;
  const bool select = s->item->op == OP_SELECT;
  const enum suite_operand_form forms[CALL_OPERANDS] = {select ? c : a, select ? a : b, b};
  /* A device may do eight flags at once; the remaining ones are in the last tile. */
  enum { FLAGS = 8 * 2047 + 6 };
  const bool plain = a <= ALL_EQUAL_ELEMENTS && b <= ALL_EQUAL_ELEMENTS;
  const int n = s->item->klass == CLASS_BOOL && plain ? FLAGS : COUNT;
  struct test_case t;
  snprintf(s->where, sizeof s->where, ", %u threads, n = %d, forms %d, %d and %d", s->threads,
           n, (int)forms[0], (int)forms[1], (int)forms[2]);
  case_make(s, (uint64_t)n, SHAPE_ONE, false, &t);
  t.faulty = true; /* a progression may divide by zero */
  case_make_forms(s, &t, forms);
  case_run(s, &t, false);
  if (!s->failed && case_spoil(s, &t)) case_run(s, &t, false);
  case_free(s, &t);
}

/* Tries each form of one operand several times, since the descriptor it is made of has one of
 * several shapes. */
static void run_alone(struct suite *s) {
  enum { TIMES = 4 };
  for (int k = 0; k < TIMES * OPERAND_FORMS && !s->failed; k++)
    run_pair(s, (enum suite_operand_form)(k % OPERAND_FORMS), STORED_ELEMENTS, STORED_ELEMENTS);
}

static void run_pairs(struct suite *s) {
  for (int a = 0; a < OPERAND_FORMS; a++) {
    for (int b = 0; b < OPERAND_FORMS && !s->failed; b++) {
      const bool plain = a <= ALL_EQUAL_ELEMENTS && b <= ALL_EQUAL_ELEMENTS;
      run_pair(s, (enum suite_operand_form)a, (enum suite_operand_form)b,
               plain ? STORED_ELEMENTS : (enum suite_operand_form)a);
      if (s->item->op == OP_SELECT && !s->failed)
        run_pair(s, (enum suite_operand_form)a, (enum suite_operand_form)b, ALL_EQUAL_ELEMENTS);
    }
  }
}

/* ---- others: a form of all operands, in segments of several shapes ---- */

static void spoil_flags(struct suite *s, struct host_value *flags) {
  for (uint64_t i = rng_below(&s->rng, 40); i < flags->n; i += 1 + rng_below(&s->rng, 40))
    host_put_int(flags, i, 0);
}

static void forms_run_form(struct suite *s, int n, enum shape shape,
                           enum suite_operand_form form, enum suite_index_form index) {
  if (is_left_out(s)) return;
  struct test_case t;
  snprintf(s->where, sizeof s->where, ", %u threads, n = %d, shape %s, form %d, index %d",
           s->threads, n, shape_name(shape), (int)form, (int)index);
  case_make(s, (uint64_t)n, shape, false, &t);
  if (t.call.kind == CALL_ASSERT) spoil_flags(s, &t.call.operand[0]);
  case_make_index_forms(s, &t, index, form);
  case_run(s, &t, false);
  if (!s->failed && t.call.kind == CALL_MAKE_SEGDES && case_spoil(s, &t))
    case_run(s, &t, false);
  case_free(s, &t);
}

/* Returns the number of elements in this shape. It must exceed those of one thread of a device,
 * which makes words of flags, or several tiles of lengths. */
static int forms_elements_of(const struct suite *s, enum shape shape) {
  enum { FLAGS = 17000, LENGTHS = 9000 };
  if (shape == SHAPE_ONES) return LENGTHS;
  return s->item->kind == CALL_PACK && shape == SHAPE_ONE ? FLAGS : COUNT;
}

/* Whether it is a scatter, which may use another way if there are few elements. */
static bool is_scatter(const struct suite *s) {
  const enum cvl_op op = s->item->op;
  if (s->item->kind == CALL_REPLACE) return true;
  return s->item->kind == CALL_PERMUTE && op != OP_BPERMUTE && op != OP_BFPERMUTE;
}

/* Runs segments of a few elements, of some hundred, and of more than a block. */
static void run_shapes(struct suite *s) {
  static const enum shape shapes[] = {SHAPE_ALTERNATE, SHAPE_FOURS, SHAPE_POWER, SHAPE_HUNDREDS,
                                      SHAPE_EDGES,     SHAPE_ONE,   SHAPE_ONES};
  const enum call_kind kind = s->item->kind;
  const bool has_index = kind == CALL_EXTRACT || kind == CALL_REPLACE || kind == CALL_PERMUTE;
  const int indices = has_index ? INDEX_FORMS : INDEX_OF_ZEROS;
  const int all = (int)(sizeof shapes / sizeof shapes[0]) - (kind != CALL_MAKE_SEGDES);
  const int count = s->item->size == ITEM_FLAT ? 1 : all;
  for (int i = 0; i < count; i++) {
    for (int form = ALL_EQUAL_ELEMENTS; form < OPERAND_FORMS; form++) {
      for (int index = 0; index < indices && !s->failed; index++) {
        const enum suite_operand_form f = (enum suite_operand_form)form;
        forms_run_form(s, forms_elements_of(s, shapes[i]), shapes[i], f,
                       (enum suite_index_form)index);
        if (is_scatter(s) && i % 2 && !s->failed)
          forms_run_form(s, 2 * COUNT, shapes[i], f, (enum suite_index_form)index);
      }
    }
  }
}

/* Runs scans of a segment that a block does in turns, of segments that several blocks do, and
 * of segments of which a thread does several. */
static void run_other_scans(struct suite *s) {
  static const struct {
    int n;
    enum shape shape;
  } of[] = {{7000, SHAPE_ONE},       {20000, SHAPE_LONG}, {20000, SHAPE_ONE},
            {40000, SHAPE_QUARTERS}, {5000, SHAPE_FEW},   {5000, SHAPE_SEVENS}};
  for (int form = STORED_ELEMENTS; form < OPERAND_FORMS; form++) {
    for (size_t i = 0; i < sizeof of / sizeof of[0] && !s->failed; i++)
      forms_run_form(s, of[i].n, of[i].shape, (enum suite_operand_form)form, STORED_INDEX);
  }
}

/* Runs ranks of short segments, in which elements may be compared with each other, some at once
 * and then the rest. */
static void run_other_ranks(struct suite *s) {
  for (int form = STORED_ELEMENTS; form < OPERAND_FORMS && !s->failed; form++)
    forms_run_form(s, COUNT, SHAPE_SEVENS, (enum suite_operand_form)form, STORED_INDEX);
}

void suite_run_forms(struct suite *s) {
  if (s->item->kind == CALL_ELEMENTWISE && call_operands(s->item->kind, s->item->op) == 1) {
    run_alone(s);
  } else if (s->item->kind == CALL_ELEMENTWISE) {
    run_pairs(s);
  } else {
    run_shapes(s);
    if (s->item->kind == CALL_SCAN) run_other_scans(s);
    if (s->item->kind == CALL_RANK) run_other_ranks(s);
  }
}
