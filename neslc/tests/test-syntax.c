/* test-syntax.c - reading NESL: the grouping of operators, every construct, forms, commands. */
#include "neslc/tests/syntax-tools.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* Both texts are forms, and read as equal trees. */
static void check_same(const char *text, const char *meaning) {
  struct reading_test a, b;
  struct form x, y;
  size_t length;
  reading_begin(&a, text, strlen(text));
  reading_begin(&b, meaning, strlen(meaning));
  cr_assert_eq(reading_next(&a, &x), READ_FORM, "%s", text);
  cr_assert_eq(reading_next(&b, &y), READ_FORM, "%s", meaning);
  cr_assert(same_form(&x, &y), "%s is not %s but %s", text, meaning, shown_form(&x, &length));
  cr_assert_eq(reading_next(&a, &x), READ_END, "%s", text);
  reading_end(&a);
  reading_end(&b);
}

/* The form's canonical text. */
static void syntax_check_shown(const char *text, const char *canonical) {
  struct reading_test t;
  struct form form;
  reading_begin(&t, text, strlen(text));
  cr_assert_eq(reading_next(&t, &form), READ_FORM, "%s", text);
  size_t length;
  char *shown = shown_form(&form, &length);
  shown[strlen(shown) - 1] = '\0'; /* the line's end */
  cr_assert_str_eq(shown, canonical);
  free(shown);
  reading_end(&t);
}

static struct syntax *syntax_read_value(struct reading_test *t, const char *text) {
  struct form form;
  reading_begin(t, text, strlen(text));
  cr_assert_eq(reading_next(t, &form), READ_FORM, "%s", text);
  return form.value;
}

/* The table of section 3.2 of the specification. */
Test(syntax, operators_group_as_specified) {
  static const char *const table[][2] = {
      {"-2 ^ 2;", "(-2) ^ 2;"},
      {"2 ^ 3 ^ 2;", "(2 ^ 3) ^ 2;"},
      {"#a + 1;", "(#a) + 1;"},
      {"#a[0];", "#(a[0]);"},
      {"#v -> i;", "(#v) -> i;"},
      {"-v -> i;", "(-v) -> i;"},
      {"a -> i -> j;", "a -> (i -> j);"},
      {"a <- p <- q;", "(a <- p) <- q;"},
      {"a <- p -> q;", "a <- (p -> q);"},
      {"a -> i <- p;", "(a -> i) <- p;"},
      {"u ++ v -> i;", "u ++ (v -> i);"},
      {"\"ab\" || 4 ++ \"c\";", "(\"ab\" || 4) ++ \"c\";"},
      {"@1.0 / 3.0;", "(@1.0) / 3.0;"},
      {"not x or y;", "(not(x)) or y;"},
      {"not #v == 0;", "(not(#v)) == 0;"},
      {"not 3 < 4;", "(not(3)) < 4;"},
      {"not v[0];", "not(v[0]);"},
      {"not v[1:][0].a(x);", "not((((v[1:])[0]).a)(x));"},
      {"not f(x) and g(y);", "(not(f(x))) and (g(y));"},
      {"not not -x;", "not(not(-x));"},
      {"not v -> i;", "(not(v)) -> i;"},
      {"not + x, not;", "((not) + x), (not);"},
      {"g(not, x, not(y));", "g((not), x, (not(y)));"},
      {"loop x = t while not x do not;", "loop x = t while (not(x)) do (not);"},
      {"abs -3;", "(abs) - 3;"},
      {"sum [1,2];", "(sum)[(1,2)];"},
      {"sum {x : x in v};", "sum({x : x in v});"},
      {"1 < 2 == t;", "(1 < 2) == t;"},
      {"1, 2 == 1, 2;", "(1, ((2 == 1), 2));"},
      {"x => x + 1, 3;", "(x => (x + 1)), 3;"},
      {"if c then 1 else 2, 3;", "if c then 1 else (2, 3);"},
      {"let x = 1 in x, 2;", "let x = 1 in (x, 2);"},
      {"loop x, y = 1, 2 while x < y do y, x;",
       "loop (x, y) = (1, 2) while (x < y) do (y, x);"},
      {"loop x = loop y = 1 while a do b while c do d;",
       "loop x = (loop y = 1 while a do b) while c do d;"},
      {"loop x = 1 while loop y = 1 while a do b do c;",
       "loop x = 1 while (loop y = 1 while a do b) do c;"},
      {"loop x : [int] = v while #x do x;", "loop (x : [int]) = v while (#x) do x;"},
      {"{loop x : x in loop (v)};", "{(loop)(x) : x in (loop)(v)};"},
      {"loop (x) == loop x;", "(loop(x)) == (loop(x));"},
      {"1 + if c then 2 else 3;", "1 + (if c then 2 else 3);"},
      {"f x y;", "(f(x))(y);"},
      {"f(x).a;", "(f(x)).a;"},
      {"f x.a;", "(f(x)).a;"},
      {"x.a(y);", "(x.a)(y);"},
      {"x.a[2:3].b;", "((x.a)[2:3]).b;"},
      {"a.b.c + 1;", "((a.b).c) + 1;"},
      {"#v.a;", "#(v.a);"},
      {"-v.a ^ 2;", "(-(v.a)) ^ 2;"},
      {"v . a;", "v.a;"},
      {"g(a := x => y);", "g(a := (x => y));"},
      {"g(a := x : int, b := 2);", "g(a := (x : int), b := 2);"},
      {"2. + .5 + 1.e3;", "2.0 + 0.5 + 1000.0;"},
      {"v.0;", "v(0.0);"},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    check_same(table[i][0], table[i][1]);
}

/* Every pair of levels, in both orders. */
Test(syntax, stronger_operators_come_first) {
  static const struct {
    const char *text;
    int level;
    bool right;
  } operators[] = {{"->", 24, true},   {"<-", 23, false}, {"^", 22, false},  {"*", 21, false},
                   {"/", 21, false},   {"||", 21, false}, {"+", 20, false},  {"-", 20, false},
                   {"++", 20, false},  {"==", 10, false}, {"/=", 10, false}, {"<", 10, false},
                   {">", 10, false},   {"<=", 10, false}, {">=", 10, false}, {"and", 8, false},
                   {"nand", 8, false}, {"or", 7, false},  {"nor", 7, false}, {"xor", 7, false},
                   {",", 4, true}};
  enum { COUNT = sizeof operators / sizeof *operators };
  for (int i = 0; i < COUNT; i++) {
    for (int j = 0; j < COUNT; j++) {
      char text[64], meaning[64];
      const char *first = operators[i].text, *second = operators[j].text;
      snprintf(text, sizeof text, "a %s b %s c;", first, second);
      bool right = operators[j].level > operators[i].level ||
                   (operators[j].level == operators[i].level && operators[i].right);
      snprintf(meaning, sizeof meaning, right ? "a %s (b %s c);" : "(a %s b) %s c;", first,
               second);
      check_same(text, meaning);
    }
  }
}

Test(syntax, constructs_mean_what_they_expand_to) {
  static const char *const table[][2] = {
      {"(1, 2, 3);", "(1, (2, 3));"},
      {"[1:5];", "[1:5:1];"},
      {"{x in s | x > 1};", "{x : x in s | x > 1};"},
      {"{(x, y) in s};", "{(x, y) : (x, y) in s};"},
      {"{v + 1 : v; w in u};", "{v + 1 : v in v; w in u};"},
      {"{x};", "{x : x in x};"},
      {"{v; w};", "{v : v in v; w in w};"},
      {"{x, y : x, y in s};", "{(x, y) : (x, y) in s};"},
      {"let a = 1; b = 2 in a;", "let a = 1 in let b = 2 in a;"},
      {"let a = 1; b = 2; in a;", "let a = 1; b = 2 in a;"},
      {"f if c then 1 else 2;", "f(if c then 1 else 2);"},
      {"f `a;", "f(`a);"},
      {"f \"x\";", "f(\"x\");"},
      {"f #v[0];", "f(#(v[0]));"},
      {"f @x y;", "f(@(x(y)));"},
      {"3 4;", "3(4);"},
      {"-x[0];", "-(x[0]);"},
      {"--1;", "-(-1);"},
      {"1+-2;", "1 + (-2);"},
      {"a<-1;", "a <- 1;"},
      {"x => y => x;", "x => (y => x);"},
      {"f(x => x, 1);", "f((x => x), 1);"},
      {"[] int[0];", "([] int)[0];"},
      {"[] [[int]];", "[] ([([int])]);"},
      {"x%c%y;", "x y;"},
      {"F(X) $", "f(x);"},
      {"`%;", "(`%);"},
      {"`;;", "(`;);"},
      {"`  ;", "(` );"},
      {"``;", "(``);"},
      {"\"a\\\"b\\\\c\\n\";", "\"a\\\"b\\\\cn\";"},
      {"e\"\\n\\t\\\\\\\"\\x41\\u{e9}\\x00\";", "e\"\\n\\t\\\\\\\"A\xc3\xa9\\x00\";"},
      {"E\"a\";", "e\"a\";"},
      {"1 // 2; %\n + 3 % // %;", "1 + 3;"},
      {"1_000_000 + 0xFF + 0x7fff_ffff;", "1000000 + 255 + 2147483647;"},
      {"1_0.2_5e1_0;", "10.25e10;"},
      {"v[1:2]; ", "v[1:2];"},
      {"v[:]; ", "v[0:];"},
      {"v[::2]; ", "v[0::2];"},
      {"v[1 : 2 : 3][:4]; ", "v[1:2:3][0:4];"},
      {"v[a::b]; ", "v[a: :b];"},
      {"[1:2][:1]; ", "[1:2][0:1];"},
      {"x : int = 3;", "(x : int) = 3;"},
      {"function f(x : int, y : a -> [b], z) = x;",
       "function f((x : int), ((y : a -> [b]), z)) = x;"},
      {"let x : int = 1; (y, z : [float]) = 2 in x;",
       "let (x : int) = 1; (y, (z : [float])) = 2 in x;"},
      {"(1, 2 : int, 3);", "(1, (2 : int), 3);"},
      {"(x : int) => x;", "(((x : int)) => x);"},
      {"(a, b) = 1, 2;", "(a, b) = (1, 2);"},
      {"a, b = 1, 2;", "(a, b) = (1, 2);"},
      {"function f x = x;", "function f(x) = x;"},
      {"datatype p int;", "datatype p(int);"},
      {"datatype p(int) -> int;", "datatype p((int) -> int);"},
      {"datatype p(a : int, b : (int, int)) :: (c in any);",
       "datatype p (a:int,b:(int,int)) :: c in any $"},
      {"function f(x) : a -> b -> c :: (a in any; b in any; c in any);",
       "function f(x) : a -> (b -> c) :: (a in any; b in any; c in any);"},
      {"function f(x) : a -> a :: a in number = x;",
       "function f(x) : a -> a :: (a in number) = x;"},
      {"datatype d(a) :: a in any $", "datatype d(a) :: (a in any);"},
      {"#!/usr/bin/env nesl\n3;", "3;"},
      {"\xef\xbb\xbf"
       "3;",
       "3;"},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    check_same(table[i][0], table[i][1]);
}

Test(syntax, library_functions_of_operators_are_marked) {
  static const struct {
    const char *text, *name, *written;
  } table[] = {{"a + b;", "+", "+"},
               {"a and b;", "and", "and"},
               {"a -> b;", "->", "->"},
               {"a || b;", "||", "||"},
               {"#a;", "length", "#"},
               {"@a;", "string", "@"},
               {"-a;", "negate", "-"},
               {"a[b];", "elt", "[]"},
               {"[a:b];", "iseq", "[:]"},
               {"v[a:b];", "_slice", "[::]"},
               {"v[a:];", "_slice_from", "[::]"},
               {"v[a:b:c];", "_slice_by", "[::]"},
               {"v[a::c];", "_slice_from_by", "[::]"},
               {"a AND b;", "and", "and"},
               {"a <- b;", "<-", "<-"}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    struct reading_test t;
    const struct syntax *e = syntax_read_value(&t, table[i].text);
    cr_assert_eq(e->kind, SYNTAX_APPLY);
    cr_assert(e->as.part.left->builtin);
    cr_assert_str_eq(e->as.part.left->as.name.name->text, table[i].name);
    cr_assert_str_eq(e->as.part.left->as.name.written, table[i].written);
    reading_end(&t);
  }
  struct reading_test t;
  const struct syntax *range = syntax_read_value(&t, "[s:e:d];");
  const struct syntax *sde = range->as.part.right;
  cr_assert_str_eq(sde->as.part.left->as.name.name->text, "s");
  cr_assert_str_eq(sde->as.part.right->as.part.left->as.name.name->text, "d");
  cr_assert_str_eq(sde->as.part.right->as.part.right->as.name.name->text, "e");
  reading_end(&t);
}

Test(syntax, literals_have_their_values) {
  static const struct {
    const char *text;
    double value; /* of a float; of an int if it is one */
    bool real;
  } table[] = {{"007;", 7, false},
               {"1.;", 1, true},
               {".5;", 0.5, true},
               {"1.e3;", 1000, true},
               {"1e3;", 1000, true},
               {"1E+3;", 1000, true},
               {"1.5e-2;", 0.015, true},
               {"0;", 0, false},
               {"2147483648;", 0x1p31, false},
               {"5e-324;", 5e-324, true},
               {"1e-400;", 0, true},
               {"1.7976931348623157e308;", 0x1.fffffffffffffp1023, true}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    struct reading_test t;
    const struct syntax *e = syntax_read_value(&t, table[i].text);
    cr_assert_eq(e->kind, table[i].real ? SYNTAX_FLOAT : SYNTAX_INT, "%s", table[i].text);
    cr_assert_eq(table[i].real ? e->as.real : (double)e->as.integer, table[i].value);
    reading_end(&t);
  }
  struct reading_test t;
  cr_assert_eq(syntax_read_value(&t, "9223372036854775807;")->as.integer, INT64_MAX);
  reading_end(&t);
  const struct syntax *e = syntax_read_value(&t, "\"a\\\"\\\\\\n\nb\";");
  cr_assert_eq(e->as.string.length, 6);
  cr_assert_eq(memcmp(e->as.string.text, "a\"\\n\nb", 6), 0);
  reading_end(&t);
  cr_assert_eq(syntax_read_value(&t, "`\n;")->as.character, '\n');
  reading_end(&t);
}

Test(syntax, trees_have_source_spans) {
  struct reading_test t;
  const struct syntax *e = syntax_read_value(&t, "x + (y * 2)[1];");
  cr_assert_eq(e->at.start, 0);
  cr_assert_eq(e->at.end, 14);
  cr_assert_eq(e->mark.start, 2);
  cr_assert_eq(e->mark.end, 3);
  const struct syntax *index = e->as.part.right->as.part.right;
  cr_assert_eq(index->mark.start, 11);
  cr_assert_eq(index->mark.end, 14);
  const struct syntax *product = index->as.part.right->as.part.left;
  cr_assert(product->parenthesised);
  cr_assert_eq(product->at.start, 5);
  cr_assert_eq(product->at.end, 10);
  reading_end(&t);
}

Test(syntax, commands_keep_their_words) {
  struct reading_test t;
  static const char text[] = "set print_length 5; load \"a\" ++ \"b\"; ? get(3);\n"
                             "dump vcode \"f\" let a = 1; b = 2 in a; help; load; (get(3));";
  struct form form;
  reading_begin(&t, text, sizeof text - 1);
  static const struct {
    const char *word;
    size_t words;
    bool argument;
  } expected[] = {{"set", 2, false},  {"load", 3, true},  {"?", 0, false},   {"get", 3, false},
                  {"dump", 12, true}, {"help", 0, false}, {"load", 0, false}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    cr_assert_eq(reading_next(&t, &form), READ_FORM);
    cr_assert_eq(form.kind, FORM_COMMAND);
    cr_assert_str_eq(form.name->text, expected[i].word);
    cr_assert_eq(form.word_count, expected[i].words, "%s: %zu", form.name->text,
                 form.word_count);
    cr_assert_eq(form.argument != NULL, expected[i].argument);
    if (i == 4) cr_assert_eq(form.argument->kind, SYNTAX_LET);
  }
  cr_assert_eq(reading_next(&t, &form), READ_FORM);
  cr_assert_eq(form.kind, FORM_EXPRESSION);
  cr_assert_eq(reading_next(&t, &form), READ_END);
  reading_end(&t);
}

static bool syntax_is_own(void *context, const struct name *name) {
  return strcmp(name->text, context) == 0;
}

/* What the program has defined is no command where an expression may be meant; nor is a word
 * that gets a value, or `import` without a string. */
Test(syntax, words_of_commands_may_be_names) {
  struct reading_test t;
  static const char text[] =
      "set + 1; set; set(3); set[0]; set print_length 5; set \"a\"; set = 3; "
      "load = 4; help, exit = (1, 2); import \"f\" as m; import(3); import = 5;";
  static const uint8_t kinds[] = {FORM_EXPRESSION, FORM_EXPRESSION, FORM_EXPRESSION,
                                  FORM_EXPRESSION, FORM_COMMAND,    FORM_COMMAND,
                                  FORM_ASSIGN,     FORM_ASSIGN,     FORM_ASSIGN,
                                  FORM_COMMAND,    FORM_EXPRESSION, FORM_ASSIGN};
  struct form form;
  reading_begin(&t, text, sizeof text - 1);
  t.reader.redefines = syntax_is_own;
  t.reader.context = (void *)(uintptr_t) "set";
  for (size_t i = 0; i < sizeof kinds; i++) {
    cr_assert_eq(reading_next(&t, &form), READ_FORM, "form %zu", i);
    cr_expect_eq(form.kind, kinds[i], "form %zu is %u", i, form.kind);
  }
  cr_assert_eq(reading_next(&t, &form), READ_END);
  reading_end(&t);
}

Test(syntax, types_of_modules) {
  syntax_check_shown("function g(x : m . point):[m.t(int)]->m.point=x;",
                     "function g((x : m.point)) : [m.t(int)] -> m.point = x;");
}

Test(syntax, types_of_functions) {
  struct reading_test t;
  static const char text[] = "function f(x) : a, [b] -> c :: (a in any; b in number) = x;";
  struct form form;
  reading_begin(&t, text, sizeof text - 1);
  cr_assert_eq(reading_next(&t, &form), READ_FORM);
  const struct syntax_annotation *a = form.annotation;
  cr_assert_not_null(a);
  cr_assert_eq(a->type->kind, SYNTAX_TYPE_PAIR);
  cr_assert_eq(a->type->right->kind, SYNTAX_TYPE_FUNCTION);
  cr_assert_eq(a->count, 2);
  reading_end(&t);
}

Test(syntax, canonical_layout) {
  syntax_check_shown("((a+b)*c)-(d*e);", "(a + b) * c - d * e;");
  syntax_check_shown("(if a then b else c)+1;", "(if a then b else c) + 1;");
  syntax_check_shown("1+(if a then b else c);", "1 + if a then b else c;");
  syntax_check_shown("1+(x=>x), 2;", "1 + (x => x), 2;");
  syntax_check_shown("(-x)[0];", "(-x)[0];");
  syntax_check_shown("-(x[0]);", "-x[0];");
  syntax_check_shown("(not x)[0];", "(not(x))[0];");
  syntax_check_shown("not x[0];", "not(x[0]);");
  syntax_check_shown("(not)-x;", "(not) - x;");
  syntax_check_shown("(not), x;", "not, x;");
  syntax_check_shown("f (x);", "f(x);");
  syntax_check_shown("f{x:x in v};", "f({x : x in v});");
  syntax_check_shown("(get(v,i));", "(get(v, i));");
  syntax_check_shown("((show) + 1);", "(show + 1);");
  syntax_check_shown("([]int)(3);", "([] int)(3);");
  syntax_check_shown("[0:n:1];", "[0:n];");
  syntax_check_shown("function f x:int->(int,int)=x,x;",
                     "function f(x) : int -> (int, int) = (x, x);");
  syntax_check_shown("function +(x, y) \"adds\" = primitive;",
                     "function +(x, y) \"adds\" = primitive;");
  syntax_check_shown("datatype p(a:int,g:int->int,b:([c],c))::(c in any);",
                     "datatype p(a : int, g : int -> int, b : ([c], c)) :: (c in any);");
  syntax_check_shown("(1).a;", "(1).a;");
  syntax_check_shown("(2.5 .b).c[0].d;", "(2.5).b.c[0].d;");
  syntax_check_shown("datatype p(a,[b])::(a in any;b in number);",
                     "datatype p(a, [b]) :: (a in any; b in number);");
  syntax_check_shown("2.0 + 1e30 * `;;", "2.0 + 1e+30 * `;;");
  syntax_check_shown("function average(values) = let total = sum(values); count = #values in "
                     "if count == 0 then 0.0 else total / float(count);",
                     "function average(values) =\n"
                     "  let total = sum(values); count = #values\n"
                     "  in if count == 0 then 0.0 else total / float(count);");
  syntax_check_shown(
      "loop x,y=(0,loop z=1 while z<3 do 2*z) while x<9 do (while(x),y);",
      "loop (x, y) = (0, loop z = 1 while z < 3 do 2 * z) while x < 9 do (while(x), y);");
  syntax_check_shown(
      "loop state = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa while bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb "
      "do ccccccccccccccccccccccccccccccccccccccc;",
      "loop state = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
      "  while bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n"
      "  do ccccccccccccccccccccccccccccccccccccccc;");
  syntax_check_shown(
      "let total = [aaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbb, cccccccccccccccccccccc, ddd]"
      "; count = 3 in if a then b else if c then d else let eeeeeeeeeeeeeeeeeeee = "
      "ffffffffffffffffffffffffffffff in ggggggggggggggggggggggggg;",
      "let total =\n"
      "      [aaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbb, cccccccccccccccccccccc, ddd];\n"
      "    count = 3\n"
      "in if a\n"
      "   then b\n"
      "   else if c\n"
      "   then d\n"
      "   else let eeeeeeeeeeeeeeeeeeee = ffffffffffffffffffffffffffffff\n"
      "        in ggggggggggggggggggggggggg;");
}
