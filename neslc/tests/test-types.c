/* test-types.c - types by themselves: unification, schemes, grounding, comparing, printing. */
#include "base/tests/memory.h"
#include "neslc/types/core.h"

#include <string.h>

TestSuite(types, .init = memory_begin, .fini = memory_end);

static struct type *base(enum type_tag tag) {
  return type_base(&arena, tag);
}
static struct type *variable(enum type_class klass) {
  return type_variable(&arena, klass);
}
static struct type *seq(struct type *t) {
  return type_sequence(&arena, t);
}
static struct type *types_pair(struct type *a, struct type *b) {
  return type_pair(&arena, a, b);
}
static struct type *types_function(struct type *a, struct type *b) {
  return type_function(&arena, a, b, variable(CLASS_ANY));
}

static enum unify_result types_unify(struct type *a, struct type *b) {
  struct type *x = NULL, *y = NULL;
  enum unify_result result = type_unify(&arena, a, b, &x, &y);
  cr_expect((result == UNIFY_OK) == (x == NULL), "parts are set exactly on failure");
  return result;
}

/* ---- classes ---- */

/* Section 5.2: what each class contains. */
static const char members[CLASSES][5] = {
    /*                int float bool char stream */
    [CLASS_ANY] = {1, 1, 1, 1, 1},     [CLASS_SCALAR] = {1, 1, 1, 1, 0},
    [CLASS_ORDINAL] = {1, 1, 0, 1, 0}, [CLASS_NUMBER] = {1, 1, 0, 0, 0},
    [CLASS_LOGICAL] = {1, 0, 1, 0, 0}, [CLASS_SORTABLE] = {1, 1, 0, 0, 0},
    [CLASS_EQUATED] = {1, 1, 0, 1, 0},
};

Test(types, variables_take_members_of_their_class) {
  for (int klass = 0; klass < CLASSES; klass++) {
    for (int tag = TYPE_INT; tag <= TYPE_STREAM; tag++) {
      struct type *v = variable((enum type_class)klass), *b = base((enum type_tag)tag);
      enum unify_result wanted = members[klass][tag] ? UNIFY_OK : UNIFY_CLASS;
      cr_expect_eq(types_unify(v, b), wanted, "%s, %d", type_class_name((enum type_class)klass),
                   tag);
      cr_expect(wanted != UNIFY_OK || type_of(v) == b);
      cr_expect_eq(types_unify(b, variable((enum type_class)klass)), wanted);
    }
    const bool composed =
        klass == CLASS_ANY || klass == CLASS_ORDINAL || klass == CLASS_SORTABLE;
    enum unify_result wanted = composed ? UNIFY_OK : UNIFY_CLASS;
    cr_expect_eq(types_unify(variable((enum type_class)klass), seq(base(TYPE_INT))), wanted);
    cr_expect_eq(types_unify(types_pair(base(TYPE_INT), base(TYPE_INT)),
                             variable((enum type_class)klass)),
                 wanted);
  }
}

/* The class of two variables made one; CLASSES where that is int. */
static const enum type_class merged[CLASSES][CLASSES] = {
    [CLASS_ANY] = {CLASS_ANY, CLASS_SCALAR, CLASS_ORDINAL, CLASS_NUMBER, CLASS_LOGICAL,
                   CLASS_SORTABLE, CLASS_EQUATED},
    [CLASS_SCALAR] = {CLASS_SCALAR, CLASS_SCALAR, CLASS_EQUATED, CLASS_NUMBER, CLASS_LOGICAL,
                      CLASS_NUMBER, CLASS_EQUATED},
    [CLASS_ORDINAL] = {CLASS_ORDINAL, CLASS_EQUATED, CLASS_ORDINAL, CLASS_NUMBER, CLASSES,
                       CLASS_SORTABLE, CLASS_EQUATED},
    [CLASS_NUMBER] = {CLASS_NUMBER, CLASS_NUMBER, CLASS_NUMBER, CLASS_NUMBER, CLASSES,
                      CLASS_NUMBER, CLASS_NUMBER},
    [CLASS_LOGICAL] = {CLASS_LOGICAL, CLASS_LOGICAL, CLASSES, CLASSES, CLASS_LOGICAL, CLASSES,
                       CLASSES},
    [CLASS_SORTABLE] = {CLASS_SORTABLE, CLASS_NUMBER, CLASS_SORTABLE, CLASS_NUMBER, CLASSES,
                        CLASS_SORTABLE, CLASS_NUMBER},
    [CLASS_EQUATED] = {CLASS_EQUATED, CLASS_EQUATED, CLASS_EQUATED, CLASS_NUMBER, CLASSES,
                       CLASS_NUMBER, CLASS_EQUATED},
};

/* A variable of this class, made the same as that type, which has other variables then. */
static enum type_class class_within(enum type_class klass, struct type *whole,
                                    struct type *inner) {
  cr_assert_eq(types_unify(variable(klass), whole), UNIFY_OK);
  return (enum type_class)type_of(inner)->klass;
}

Test(types, what_is_ordered_consists_of_ordered_types) {
  struct type *a = variable(CLASS_ANY), *b = variable(CLASS_SCALAR);
  cr_assert_eq(class_within(CLASS_ORDINAL, seq(a), a), CLASS_ORDINAL);
  cr_assert_eq(class_within(CLASS_SORTABLE, types_pair(base(TYPE_CHAR), seq(b)), b),
               CLASS_EQUATED);
  cr_assert_eq(types_unify(variable(CLASS_ORDINAL), seq(base(TYPE_BOOL))), UNIFY_CLASS);
  cr_assert_eq(
      types_unify(variable(CLASS_SORTABLE), types_pair(base(TYPE_INT), base(TYPE_STREAM))),
      UNIFY_CLASS);
}

/* A type that is both ordered and logical is int, in whichever order the classes come. */
Test(types, ordered_and_logical_is_int) {
  static const enum type_class ordered[] = {CLASS_ORDINAL, CLASS_SORTABLE, CLASS_EQUATED};
  for (int i = 0; i < 6; i++) {
    struct type *a = variable(CLASS_LOGICAL), *b = variable(ordered[i / 2]);
    cr_expect_eq(i % 2 ? types_unify(a, b) : types_unify(b, a), UNIFY_OK);
    cr_expect(type_of(a)->tag == TYPE_INT && type_of(b)->tag == TYPE_INT);
    cr_expect_eq(types_unify(a, base(TYPE_BOOL)), UNIFY_CLASH);
  }
}

Test(types, classes_merge_by_what_both_have_which_may_be_int_alone) {
  for (int i = 0; i < CLASSES; i++) {
    for (int j = 0; j < CLASSES; j++) {
      struct type *a = variable((enum type_class)i), *b = variable((enum type_class)j);
      enum type_class wanted = merged[i][j];
      cr_expect_eq(types_unify(a, b), UNIFY_OK, "%d %d", i, j);
      cr_expect_eq(type_of(a), type_of(b));
      if (wanted == CLASSES) {
        cr_expect_eq(type_of(a)->tag, TYPE_INT, "%d %d", i, j);
        continue;
      }
      cr_expect_eq(type_of(a)->klass, wanted, "%d %d", i, j);
    }
  }
}

/* ---- structure ---- */

Test(types, the_innermost_clash_is_reported) {
  struct type *left = base(TYPE_FLOAT), *right = base(TYPE_CHAR);
  struct type *x = NULL, *y = NULL;
  struct type *a = seq(types_pair(base(TYPE_INT), seq(left)));
  struct type *b = seq(types_pair(variable(CLASS_NUMBER), seq(right)));
  cr_expect_eq(type_unify(&arena, a, b, &x, &y), UNIFY_CLASH);
  cr_expect(x == left && y == right);
}

Test(types, no_type_contains_itself) {
  struct type *v = variable(CLASS_ANY);
  cr_expect_eq(types_unify(v, seq(v)), UNIFY_INFINITE);
  struct type *w = variable(CLASS_ANY);
  cr_expect_eq(types_unify(types_function(w, base(TYPE_INT)), w), UNIFY_INFINITE);
  struct type *same = variable(CLASS_ANY);
  cr_expect_eq(types_unify(same, same), UNIFY_OK);
}

Test(types, identities_of_functions_are_part_of_them) {
  struct global sin_function = {0}, cos_function = {0};
  struct type *s = type_identity(&arena, &sin_function, NULL, 0, NULL);
  struct type *c = type_identity(&arena, &cos_function, NULL, 0, NULL);
  struct type *f = type_function(&arena, base(TYPE_FLOAT), base(TYPE_FLOAT), s);
  struct type *g = type_function(&arena, base(TYPE_FLOAT), base(TYPE_FLOAT), c);
  cr_expect_eq(types_unify(f, g), UNIFY_IDENTITY);
  struct type *parameter = types_function(variable(CLASS_ANY), variable(CLASS_ANY));
  cr_expect_eq(types_unify(parameter, f), UNIFY_OK);
  cr_expect_eq(types_unify(parameter, g), UNIFY_IDENTITY);
  /* Closures of one lambda differ where their types do. */
  struct core_lambda lambda = {0};
  struct type *one[1] = {base(TYPE_INT)}, *other[1] = {base(TYPE_FLOAT)};
  struct type *open[1] = {variable(CLASS_NUMBER)};
  struct type *i = type_identity(&arena, NULL, &lambda, 1, one);
  cr_expect_eq(types_unify(i, type_identity(&arena, NULL, &lambda, 1, other)), UNIFY_CLASH);
  cr_expect_eq(types_unify(type_identity(&arena, NULL, &lambda, 1, open), i), UNIFY_OK);
  cr_expect_eq(type_of(open[0])->tag, TYPE_INT);
}

/* ---- schemes ---- */

Test(types, schemes_generalise_and_instantiate) {
  struct type *a = variable(CLASS_NUMBER), *b = variable(CLASS_ANY);
  struct type *t = types_function(types_pair(a, seq(b)), types_pair(b, a));
  struct scheme scheme = type_generalise(&arena, t);
  cr_assert_eq(scheme.count, 3, "a, b and the identity");
  cr_expect(scheme.variables[0] == a && scheme.variables[1] == b);
  struct type *fresh[3];
  struct type *use = type_instantiate(&arena, &scheme, fresh);
  cr_expect_eq(types_unify(fresh[0], base(TYPE_FLOAT)), UNIFY_OK);
  cr_expect_str_eq(type_text(&arena, use, true), "(float, [a]) -> (a, float) :: (a in any)");
  cr_expect_str_eq(type_text(&arena, t, true), "(a, [b]) -> (b, a) :: (a in number; b in any)");
  struct type *again[3];
  type_instantiate(&arena, &scheme, again);
  cr_expect_neq(type_of(again[0]), type_of(fresh[0]));
}

Test(types, schemes_compare_but_for_names) {
  struct type *a = variable(CLASS_ANY), *b = variable(CLASS_ANY), *c = variable(CLASS_NUMBER);
  struct scheme x = type_generalise(&arena, types_pair(a, seq(a)));
  struct scheme y = type_generalise(&arena, types_pair(b, seq(b)));
  struct scheme z = type_generalise(&arena, types_pair(c, seq(c)));
  struct scheme w =
      type_generalise(&arena, types_pair(variable(CLASS_ANY), seq(variable(CLASS_ANY))));
  cr_expect(scheme_same(&arena, &x, &y));
  cr_expect_not(scheme_same(&arena, &x, &z));
  cr_expect_not(scheme_same(&arena, &x, &w));
}

Test(types, grounding_leaves_no_variable) {
  struct type *a = variable(CLASS_ANY);
  struct scheme scheme = type_generalise(&arena, seq(a));
  struct type *arguments[] = {types_pair(variable(CLASS_NUMBER), base(TYPE_BOOL))};
  struct type *ground = type_ground(&arena, scheme.type, 1, arguments);
  ground = type_ground(&arena, ground, 0, NULL);
  cr_expect_str_eq(type_text(&arena, ground, true), "[(int, bool)]");
  cr_expect_eq(type_ground(&arena, ground, 0, NULL), ground, "nothing to do, nothing copied");
  cr_expect_str_eq(type_text(&arena, type_ground(&arena, scheme.type, 0, NULL), true), "[int]");
}

Test(types, equal_types_hash_equally) {
  struct type *v = variable(CLASS_ANY);
  types_unify(v, base(TYPE_INT));
  struct type *x = types_pair(v, seq(base(TYPE_CHAR))),
              *y = types_pair(base(TYPE_INT), seq(base(TYPE_CHAR)));
  struct type *z = types_pair(seq(base(TYPE_INT)), base(TYPE_CHAR));
  cr_expect(type_same(&arena, x, y));
  cr_expect_eq(type_hash(&arena, x), type_hash(&arena, y));
  cr_expect_not(type_same(&arena, x, z));
  cr_expect_neq(type_hash(&arena, x), type_hash(&arena, z));
}

/* ---- datatypes ---- */

static struct datatype *tagged(void) {
  static struct datatype data;
  static struct type *parameters[1];
  static union {
    struct name name;
    char bytes[sizeof(struct name) + 8];
  } name;
  memcpy(name.name.text, "tagged", 7);
  parameters[0] = variable(CLASS_ANY);
  parameters[0]->generic = true;
  data = (struct datatype){.name = &name.name,
                           .parameter_count = 1,
                           .shown_count = 1,
                           .parameters = parameters,
                           .contents = types_pair(parameters[0], base(TYPE_INT))};
  return &data;
}

Test(types, datatypes_have_contents) {
  struct type *arguments[] = {seq(base(TYPE_CHAR))};
  struct type *t = type_data(&arena, tagged(), arguments);
  cr_expect_str_eq(type_text(&arena, t, true), "tagged([char])");
  cr_expect_str_eq(type_text(&arena, type_contents(&arena, t), true), "[char], int");
  struct type *open[] = {variable(CLASS_ANY)};
  struct scheme scheme = type_generalise(&arena, seq(type_data(&arena, t->data, open)));
  struct type *ground = type_ground(&arena, scheme.type, 1, arguments);
  cr_expect_str_eq(type_text(&arena, ground, true), "[tagged([char])]");
  struct type *other[] = {variable(CLASS_ANY)};
  cr_expect_eq(types_unify(t, type_data(&arena, t->data, other)), UNIFY_OK);
  cr_expect_eq(type_of(other[0]), arguments[0]);
}

Test(types, flat_types_have_no_sequences) {
  struct type *flat[] = {types_pair(base(TYPE_INT), base(TYPE_BOOL))}, *deep[] = {seq(flat[0])};
  cr_expect(type_is_flat(flat[0]));
  cr_expect_not(type_is_flat(deep[0]));
  cr_expect(type_is_flat(type_data(&arena, tagged(), flat)));
  cr_expect_not(type_is_flat(type_data(&arena, tagged(), deep)));
  /* A closure is what it captures. */
  struct type *a = variable(CLASS_ANY);
  type_generalise(&arena, a);
  struct local captured = {.type = a};
  struct local *list[] = {&captured};
  struct core_lambda lambda = {
      .captured_count = 1, .captured = list, .variable_count = 1, .variables = &a};
  struct type *int_type = base(TYPE_INT);
  cr_expect(type_is_flat(type_function(&arena, int_type, int_type,
                                       type_identity(&arena, NULL, &lambda, 1, flat))));
  cr_expect_not(type_is_flat(type_function(&arena, int_type, int_type,
                                           type_identity(&arena, NULL, &lambda, 1, deep))));
}

/* ---- printing: section 10.3 ---- */

Test(types, text) {
  struct type *i = base(TYPE_INT), *f = base(TYPE_FLOAT);
  struct type *a = variable(CLASS_ANY), *b = variable(CLASS_ORDINAL);
  struct {
    struct type *type;
    const char *text;
  } cases[] = {
      {types_pair(i, types_pair(f, base(TYPE_BOOL))), "int, float, bool"},
      {seq(types_pair(i, i)), "[(int, int)]"},
      {types_pair(types_pair(i, i), i), "(int, int), int"},
      {seq(types_pair(i, types_pair(i, i))), "[(int, int, int)]"},
      {types_function(types_pair(a, b), types_pair(b, a)),
       "(a, b) -> (b, a) :: (a in any; b in ordinal)"},
      {types_function(types_pair(types_function(i, i), i), i), "(int -> int, int) -> int"},
      {types_function(types_function(i, f), f), "(int -> float) -> float"},
      {types_function(i, types_function(i, i)), "int -> int -> int"},
      {types_pair(i, types_function(i, i)), "int, int -> int"},
      {base(TYPE_STREAM), "stream"},
      {types_pair(b, a), "a, b :: (a in ordinal; b in any)"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    cr_expect_str_eq(type_text(&arena, cases[k].type, true), cases[k].text);
  }
}

Test(types, more_than_five_variables_have_numbers) {
  struct type *t = variable(CLASS_ANY);
  for (int k = 0; k < 5; k++) t = types_pair(variable(CLASS_ANY), t);
  cr_expect_str_eq(type_text(&arena, t, false), "a0, a1, a2, a3, a4, a5");
}

/* ---- types that are larger as trees than any memory ---- */

/* (((x, x), (x, x)), ...): 2^depth parts, of which depth are there. */
static struct type *doubled(struct type *x, unsigned depth) {
  for (unsigned i = 0; i < depth; i++) x = types_pair(x, x);
  return x;
}

/* The most bytes that a walk over a shared type may take for each of its parts. */
enum { DOUBLINGS = 200, MOST_FOR_A_PART = 1000 };

Test(types, shared_parts_are_walked_once, .timeout = 20) {
  struct type *a = doubled(variable(CLASS_ANY), DOUBLINGS);
  struct type *b = doubled(variable(CLASS_NUMBER), DOUBLINGS);
  struct type *c = doubled(base(TYPE_INT), DOUBLINGS);
  const uint64_t before = heap.live;
  cr_expect_eq(types_unify(a, b), UNIFY_OK);
  cr_expect_eq(types_unify(variable(CLASS_ANY), a), UNIFY_OK);
  struct scheme scheme = type_generalise(&arena, a);
  cr_expect_eq(scheme.count, 1, "both variables are one");
  struct type *fresh[1], *x, *y;
  struct type *use = type_instantiate(&arena, &scheme, fresh);
  cr_expect_eq(type_of(use)->part[0], type_of(use)->part[1], "what is shared is shared");
  cr_expect_eq(types_unify(use, c), UNIFY_OK);
  cr_expect_eq(type_of(fresh[0])->tag, TYPE_INT);
  struct type *ground = type_ground(&arena, use, 0, NULL);
  cr_expect(type_same(&arena, ground, c));
  cr_expect_not(type_same(&arena, ground, doubled(base(TYPE_INT), DOUBLINGS - 1)));
  cr_expect_not(type_same(&arena, ground, doubled(base(TYPE_BOOL), DOUBLINGS)));
  cr_expect_eq(type_hash(&arena, ground), type_hash(&arena, c));
  struct scheme again = type_generalise(&arena, doubled(variable(CLASS_NUMBER), DOUBLINGS));
  cr_expect(scheme_same(&arena, &scheme, &again));
  cr_expect_eq(type_unify(&arena, c, doubled(base(TYPE_CHAR), DOUBLINGS), &x, &y), UNIFY_CLASH);
  cr_expect_eq(type_of(y)->tag, TYPE_CHAR, "the innermost parts are reported");
  struct type *own = variable(CLASS_ANY);
  cr_expect_eq(type_unify(&arena, own, doubled(seq(own), DOUBLINGS), &x, &y), UNIFY_INFINITE);
  cr_expect_not(type_is_deep(&arena, c));
  cr_expect_lt(heap.live - before, DOUBLINGS * 16 * MOST_FOR_A_PART);
}

Test(types, text_is_bounded, .timeout = 20) {
  struct type *d = doubled(variable(CLASS_ANY), DOUBLINGS);
  const char *text = type_text(&arena, d, true);
  cr_expect_lt(strlen(text), TYPE_MOST_TEXT + 40);
  cr_expect(strstr(text, "... :: (a in any)"), "%s", text);
  struct type *many = variable(CLASS_ANY);
  for (int i = 0; i < 1000; i++) many = types_pair(variable(CLASS_ORDINAL), many);
  text = type_text(&arena, many, true);
  cr_expect_lt(strlen(text), 2 * TYPE_MOST_TEXT + 40);
  cr_expect_eq(strncmp(text, "a0, a1, a2, ", 12), 0);
  cr_expect_str_eq(text + strlen(text) - 3, "...", "the context is cut, too: %s", text);
}

Test(types, types_nest_only_so_deep) {
  struct type *deep = base(TYPE_INT), *x, *y;
  for (int i = 1; i < TYPE_MOST_DEPTH; i++) deep = seq(deep);
  cr_expect_not(type_is_deep(&arena, deep));
  cr_expect_eq(types_unify(variable(CLASS_ANY), deep), UNIFY_OK);
  struct type *deeper = types_pair(base(TYPE_INT), seq(seq(deep)));
  cr_expect(type_is_deep(&arena, deeper));
  cr_expect_eq(type_unify(&arena, variable(CLASS_ANY), deeper, &x, &y), UNIFY_DEEP);
}

/* Each of many variables is linked to the one before: looking at the last is no longer for it.
 */
Test(types, paths_of_links_are_compressed) {
  struct type *first = variable(CLASS_ANY), *last = first;
  for (int i = 0; i < 1000; i++) {
    struct type *v = variable(CLASS_ANY);
    cr_expect_eq(types_unify(last, v), UNIFY_OK);
    last = v;
    type_of(first);
  }
  unsigned links = 0;
  for (const struct type *t = first; t->link; t = t->link) links++;
  cr_expect_lt(links, 20);
}
