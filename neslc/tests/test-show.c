/* test-show.c - what show_form writes reads as an equal tree: of every form of the corpus, and
 * of random trees. Writing that again gives the same text. */
#include "neslc/tests/syntax-tools.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static void show_check_round_trip(const struct form *form, const char *from) {
  size_t length, length_twice;
  char *shown = shown_form(form, &length);
  struct reading_test t;
  struct form again;
  reading_begin(&t, shown, length);
  enum reading result = reading_next(&t, &again);
  if (result != READ_FORM) diag_print(&t.diags, "test", 0, stderr);
  cr_assert_eq(result, READ_FORM, "%s: %s", from, shown);
  cr_assert(same_form(form, &again), "%s: %s", from, shown);
  if (form->kind != FORM_COMMAND) { /* which are written as they were */
    char *twice = shown_form(&again, &length_twice);
    cr_assert(length == length_twice && memcmp(twice, shown, length) == 0, "%s: %s", from,
              twice);
    free(twice);
    cr_assert_eq(reading_next(&t, &again), READ_END);
  }
  free(shown);
  reading_end(&t);
}

/* ---- the corpus ---- */

static char *file_text(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  cr_assert_not_null(file, "%s", path);
  char *text = malloc((size_t)1 << 20);
  *length = fread(text, 1, (size_t)1 << 20, file);
  fclose(file);
  return text;
}

static size_t show_check_file(const char *path) {
  struct reading_test t;
  struct form form;
  size_t length, forms = 0;
  char *text = file_text(path, &length);
  reading_begin(&t, text, length);
  for (;;) {
    enum reading result = reading_next(&t, &form);
    if (result == READ_END) break;
    bool bad_name = t.complaints.first == NESL_PATTERN; /* errors/names: function 3(x) */
    cr_assert(result == READ_FORM || bad_name, "%s: %s", path,
              t.diags.list.count > 0 ? t.diags.list.items[0].message : "");
    if (result == READ_FORM) show_check_round_trip(&form, path);
    forms++;
  }
  reading_end(&t);
  free(text);
  return forms;
}

static size_t check_folder(const char *folder) {
  size_t forms = 0;
  DIR *dir = opendir(folder);
  if (dir == NULL) return 0;
  for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    size_t length = strlen(path);
    if (length > 5 && strcmp(path + length - 5, ".nesl") == 0) {
      forms += show_check_file(path);
    } else if (entry->d_name[0] != '.' && strchr(entry->d_name, '.') == NULL) {
      forms += check_folder(path);
    }
  }
  closedir(dir);
  return forms;
}

Test(show, every_form_of_the_corpus_round_trips) {
  size_t forms = check_folder(RAVEL_CORPUS);
  if (forms == 0) cr_skip_test("no corpus at %s", RAVEL_CORPUS);
  cr_assert_gt(forms, 1000);
}

Test(show, every_form_of_the_library_round_trips) {
  cr_assert_gt(check_folder(RAVEL_LIBRARY), 100);
}

/* ---- random trees ---- */

struct random {
  struct arena *arena;
  struct intern *names;
  uint64_t state;
};

/* xorshift64* (Vigna, An experimental exploration of Marsaglia's xorshift generators, 2016). */
static unsigned show_below(struct random *r, unsigned n) {
  r->state ^= r->state >> 12;
  r->state ^= r->state << 25;
  r->state ^= r->state >> 27;
  return (unsigned)((r->state * 0x2545f4914f6cdd1du) >> 33) % n;
}

static const struct name *test_show_name(struct random *r, const char *text) {
  return intern_name(r->names, text, strlen(text));
}

static const struct name *show_some_name(struct random *r) {
  static const char *const names[] = {"x",    "y", "foo", "t",   "get",
                                      "show", "_", "sum", "elt", "not"};
  return test_show_name(r, names[show_below(r, sizeof names / sizeof *names)]);
}

static struct syntax *show_node(struct random *r, enum syntax_kind kind) {
  struct syntax *e = arena_alloc(r->arena, sizeof *e);
  e->kind = (uint8_t)kind;
  return e;
}

static struct syntax *show_named(struct random *r, const struct name *n, const char *written) {
  struct syntax *e = show_node(r, SYNTAX_NAME);
  e->as.name.name = n;
  e->builtin = written != NULL;
  e->as.name.written = written != NULL ? written : n->text;
  return e;
}

static struct syntax *parts(struct random *r, enum syntax_kind kind, struct syntax *left,
                            struct syntax *right) {
  struct syntax *e = show_node(r, kind);
  e->as.part.left = left;
  e->as.part.right = right;
  return e;
}

static struct syntax_type *show_some_type(struct random *r, unsigned size) {
  struct syntax_type *type = arena_alloc(r->arena, sizeof *type);
  type->kind = size == 0 ? SYNTAX_TYPE_NAME : (uint8_t)show_below(r, 4);
  if (type->kind == SYNTAX_TYPE_NAME) type->name = show_some_name(r);
  if (type->kind == SYNTAX_TYPE_NAME && show_below(r, 3) == 0) type->module = show_some_name(r);
  if (type->kind != SYNTAX_TYPE_NAME || (size > 0 && show_below(r, 2) == 0)) {
    type->left = show_some_type(r, size - 1);
  }
  if (type->kind == SYNTAX_TYPE_PAIR || type->kind == SYNTAX_TYPE_FUNCTION) {
    type->right = show_some_type(r, size - 1);
  }
  return type;
}

static struct syntax *show_some(struct random *, unsigned size);

static struct syntax *show_literal(struct random *r) {
  static const double reals[] = {0, 1, 0.5, 1e300, 5e-324, 0.1, 3.0e10, 1e22, 123456.789};
  struct syntax *e = show_node(r, (enum syntax_kind)show_below(r, SYNTAX_NAME));
  char *text;
  switch (e->kind) {
  case SYNTAX_INT:
    e->as.integer = show_below(r, 3) == 0 ? INT64_MAX : (int64_t)show_below(r, 3);
    break;
  case SYNTAX_FLOAT: e->as.real = reals[show_below(r, sizeof reals / sizeof *reals)]; break;
  case SYNTAX_CHAR: e->as.character = (uint8_t)show_below(r, 256); break;
  default:
    e->as.string.length = show_below(r, 6);
    e->as.string.text = text = arena_alloc(r->arena, 8);
    for (size_t i = 0; i < e->as.string.length; i++)
      text[i] = "\\\"%;a\n\xc3\xa9"[show_below(r, 8)];
  }
  return e;
}

static struct syntax *test_show_slice(struct random *r, unsigned size, struct syntax *v,
                                      struct syntax *start) {
  static const char *const names[] = {"_slice_from", "_slice", "_slice_from_by", "_slice_by"};
  const unsigned k = show_below(r, 4);
  struct syntax *rest = k == 0 ? NULL : show_some(r, size);
  if (k == 3) rest = parts(r, SYNTAX_PAIR, rest, show_some(r, size));
  struct syntax *bounds = rest ? parts(r, SYNTAX_PAIR, start, rest) : start;
  return parts(r, SYNTAX_APPLY, show_named(r, test_show_name(r, names[k]), "[::]"),
               parts(r, SYNTAX_PAIR, v, bounds));
}

static struct syntax *show_operation(struct random *r, unsigned size) {
  static const char *const infix[] = {"->", "<-", "^",   "*",    "/",  "||", "+",
                                      "-",  "++", "==",  "/=",   "<",  "<=", ">",
                                      ">=", "or", "and", "nand", "xor"};
  static const char *const prefix[][2] = {{"length", "#"}, {"string", "@"}, {"negate", "-"}};
  struct syntax *a = show_some(r, size), *b = show_some(r, size);
  unsigned k = show_below(r, 9);
  if (k == 8) return test_show_slice(r, size, a, b);
  if (k < 2) {
    unsigned p = show_below(r, 3);
    return parts(r, SYNTAX_APPLY, show_named(r, test_show_name(r, prefix[p][0]), prefix[p][1]),
                 a);
  }
  if (k == 2) {
    return parts(r, SYNTAX_APPLY, show_named(r, test_show_name(r, "elt"), "[]"),
                 parts(r, SYNTAX_PAIR, a, b));
  }
  if (k == 3) {
    struct syntax *rest = parts(r, SYNTAX_PAIR, b, show_some(r, size));
    return parts(r, SYNTAX_APPLY, show_named(r, test_show_name(r, "iseq"), "[:]"),
                 parts(r, SYNTAX_PAIR, a, rest));
  }
  const char *operator= infix[show_below(r, sizeof infix / sizeof *infix)];
  return parts(r, SYNTAX_APPLY, show_named(r, test_show_name(r, operator), operator),
               parts(r, SYNTAX_PAIR, a, b));
}

static struct syntax *application(struct random *r, unsigned size) {
  struct syntax *argument = show_some(r, size);
  if (show_below(r, 4) == 0) {
    struct syntax *option =
        parts(r, SYNTAX_OPTION, show_named(r, show_some_name(r), NULL), show_some(r, size));
    argument = show_below(r, 2) == 0 ? option : parts(r, SYNTAX_PAIR, argument, option);
  }
  return parts(r, SYNTAX_APPLY, show_some(r, size), argument);
}

/* Its pattern is one: else the text would be read as something else. */
static struct syntax *test_show_loop(struct random *r, unsigned size) {
  struct syntax *pattern = show_named(r, show_some_name(r), NULL);
  if (show_below(r, 2) == 0) {
    pattern = parts(r, SYNTAX_PAIR, pattern, show_named(r, show_some_name(r), NULL));
  }
  struct syntax *e = parts(r, SYNTAX_LOOP, pattern, show_some(r, size));
  e->as.part.third = show_some(r, size);
  e->as.part.fourth = show_some(r, size);
  return e;
}

static struct syntax *show_each(struct random *r, unsigned size) {
  struct syntax *e = show_node(r, SYNTAX_EACH);
  e->serial = show_below(r, 4) == 0;
  e->as.each.count = 1 + show_below(r, 3);
  e->as.each.generators = arena_alloc(r->arena, 4 * sizeof *e->as.each.generators);
  for (size_t i = 0; i < e->as.each.count; i++) {
    struct syntax_generator *g = &e->as.each.generators[i];
    bool lone = show_below(r, 3) == 0;
    g->pattern = lone ? show_named(r, show_some_name(r), NULL) : show_some(r, size);
    g->source = lone ? g->pattern : show_some(r, size);
  }
  e->as.each.body =
      show_below(r, 2) == 0 ? e->as.each.generators[0].pattern : show_some(r, size);
  if (show_below(r, 3) == 0) e->as.each.sieve = show_some(r, size);
  return e;
}

static struct syntax *show_some(struct random *r, unsigned size) {
  struct syntax *e;
  if (size == 0)
    return show_below(r, 2) == 0 ? show_literal(r) : show_named(r, show_some_name(r), NULL);
  size--;
  switch (show_below(r, 15)) {
  case 14: return test_show_loop(r, size);
  case 13:
    e = show_node(r, SYNTAX_FIELD);
    e->as.field.record = show_some(r, size);
    e->as.field.name = show_some_name(r);
    return e;
  case 12:
    e = show_node(r, SYNTAX_TYPED);
    e->as.typed.inner = show_some(r, size);
    e->as.typed.type = show_some_type(r, 2);
    return e;
  case 0: return show_literal(r);
  case 1: return show_named(r, show_some_name(r), NULL);
  case 2: return parts(r, SYNTAX_PAIR, show_some(r, size), show_some(r, size));
  case 3: return application(r, size);
  case 4: return parts(r, SYNTAX_LAMBDA, show_some(r, size), show_some(r, size));
  case 5:
  case 6:
    e = parts(r, show_below(r, 2) == 0 ? SYNTAX_IF : SYNTAX_LET, show_some(r, size),
              show_some(r, size));
    e->as.part.third = show_some(r, size);
    return e;
  case 7:
    e = show_node(r, SYNTAX_LIST);
    e->as.list.count = 1 + show_below(r, 3);
    e->as.list.items = arena_alloc(r->arena, 4 * sizeof *e->as.list.items);
    for (size_t i = 0; i < e->as.list.count; i++) e->as.list.items[i] = show_some(r, size);
    return e;
  case 8:
    e = show_node(r, SYNTAX_EMPTY);
    e->as.type = show_some_type(r, 2);
    return e;
  case 9: return show_each(r, size);
  default: return show_operation(r, size);
  }
}

static struct syntax_annotation *show_annotation(struct random *r) {
  struct syntax_annotation *a = arena_alloc(r->arena, sizeof *a);
  a->type = show_some_type(r, 3);
  a->count = show_below(r, 3);
  a->constraints = arena_alloc(r->arena, 4 * sizeof *a->constraints);
  for (size_t i = 0; i < a->count; i++) {
    a->constraints[i].variable = show_some_name(r);
    a->constraints[i].class_name = test_show_name(r, "number");
  }
  return a;
}

/* Names for the components of the datatype, where these are as many as they look. */
static void name_fields(struct random *r, struct form *form) {
  size_t count = 1;
  for (const struct syntax_type *t = form->annotation->type;
       t->kind == SYNTAX_TYPE_PAIR && show_below(r, 3) > 0; t = t->right) {
    count++;
  }
  struct syntax_field *fields = arena_alloc(r->arena, count * sizeof *fields);
  for (size_t i = 0; i < count; i++) fields[i].name = show_some_name(r);
  form->fields = fields;
  form->field_count = count;
}

static void some_form(struct random *r, unsigned size, struct form *form) {
  *form =
      (struct form){.kind = (uint8_t)show_below(r, FORM_COMMAND), .value = show_some(r, size)};
  if (form->kind == FORM_ASSIGN || form->kind == FORM_FUNCTION)
    form->pattern = show_some(r, size);
  if (form->kind < FORM_FUNCTION) return;
  form->name = show_some_name(r);
  if (form->kind == FORM_DATATYPE) {
    form->value = NULL;
    form->annotation = show_annotation(r);
    if (show_below(r, 2) == 0) name_fields(r, form);
    return;
  }
  if (show_below(r, 4) == 0)
    form->name = test_show_name(r, show_below(r, 2) == 0 ? "+" : "nand");
  if (show_below(r, 3) == 0) form->documentation = "says \"what\"";
  if (show_below(r, 2) == 0) form->annotation = show_annotation(r);
  if (form->annotation != NULL && show_below(r, 4) == 0) form->value = NULL;
}

Test(show, random_trees_round_trip) {
  const char *given = getenv("RAVEL_SEED");
  uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : 1;
  for (unsigned i = 0; i < 5000; i++) {
    struct reading_test t;
    struct form form;
    reading_begin(&t, "", 0);
    struct random random = {&t.arena, &t.names, (seed * 1000003 + i) * 0x9e3779b97f4a7c15u | 1};
    some_form(&random, 1 + i % 5, &form);
    char from[64];
    snprintf(from, sizeof from, "RAVEL_SEED=%llu, tree %u", (unsigned long long)seed, i);
    show_check_round_trip(&form, from);
    reading_end(&t);
  }
}
