/* test-syntax-errors.c - what is said about broken forms, where, and where reading goes on. */
#include "neslc/front/parse.h"
#include "neslc/tests/syntax-tools.h"

#include <criterion/criterion.h>
#include <string.h>

struct expected {
  const char *text;
  unsigned line, column;
  const char *message; /* its beginning */
  bool more;           /* another line may mend it */
};

static void syntax_errors_check(const struct expected *e) {
  struct reading_test t;
  struct form form;
  reading_begin(&t, e->text, strlen(e->text));
  enum reading result = reading_next(&t, &form);
  cr_assert_eq(result, e->more ? READ_MORE : READ_BROKEN, "%s: %d", e->text, result);
  cr_assert_eq(t.complaints.count, 1, "%s", e->text);
  cr_assert_eq(t.complaints.first, NESL_PARSE, "%s", e->text);
  const struct diag *d = &t.diags.list.items[0];
  cr_assert_eq(strncmp(d->message, e->message, strlen(e->message)), 0, "%s: %s", e->text,
               d->message);
  cr_assert(d->pos.line == e->line && d->pos.column == e->column, "%s: %u:%u %s", e->text,
            d->pos.line, d->pos.column, d->message);
  reading_end(&t);
}

Test(syntax_errors, each_kind_says_what_was_read_and_what_was_expected) {
  static const struct expected table[] = {
      {"if a = 3 then 1 else 2;", 1, 6,
       "expected `then` after the condition of the `if`, read `=`; `==` compares", false},
      {"if a\n\n;", 3, 1, "expected `then` after the condition of the `if` at line 1, read `;`",
       false},
      {"if a then 4;", 1, 12, "expected `else` after the first branch of the `if`, read `;`",
       false},
      {"(1 + 2;", 1, 7, "expected `)` to close the `(`, read `;`", false},
      {"[1, 2;", 1, 6, "expected `]` to close the `[`, read `;`", false},
      {"{x in v | x > 1;", 1, 16, "expected `}` to close the `{`, read `;`", false},
      {"v[1;", 1, 4, "expected `]` to close the `[`, read `;`", false},
      {"f();", 1, 2, "expected an expression within `()`: every function takes", false},
      {"function g() = 3;", 1, 11, "expected an expression within `()`", false},
      {"3foo;", 1, 1, "letters directly after a number", false},
      {"1.5_;", 1, 1, "letters directly after a number", false},
      {"2else;", 1, 1, "letters directly after a number", false},
      {"1e+;", 1, 1, "the exponent of this number has no digits", false},
      {"1e;", 1, 1, "the exponent of this number has no digits", false},
      {"9223372036854775808;", 1, 1, "this number is too large for an int", false},
      {"5 - 9223372036854775808;", 1, 5, "this number is too large for an int", false},
      {"-9223372036854775809;", 1, 2, "this number is too large for an int", false},
      {"-(9223372036854775808);", 1, 3, "this number is too large for an int", false},
      {"-9223372036854775808[0];", 1, 2, "this number is too large for an int", false},
      {"1e999;", 1, 1, "this number is too large for a float", false},
      {"a ~ b;", 1, 3, "the character `~` means nothing outside of strings", false},
      {"\xc3\xa9;", 1, 1, "the character `\xc3\xa9` means nothing outside of strings", false},
      {"\xe2\x80\x9c"
       "abc;",
       1, 1, "the character `\xe2\x80\x9c` is not NESL's `\"`", false},
      {"\xff;", 1, 1, "the byte 255 means nothing", false},
      {"\x01;", 1, 1, "the byte 1 means nothing", false},
      {"`\xc3\xa9;", 1, 1, "a character is one byte, this one has 2", false},
      {"\"abc;", 1, 1, "the string that begins here is never closed", true},
      {"\"abc\\\";", 1, 1, "the string that begins here is never closed", true},
      {"1 + % abc", 1, 5,
       "the comment that begins here is never closed; a remainder is rem(a, b)", true},
      {"1\xc2\xa0+ 2;", 1, 2, "this is a no-break space, U+00A0", false},
      {"`", 1, 1, "the character that begins here is never closed", true},
      {"3", 1, 2, "expected `;` at the end of the form, read the end of the text", true},
      {"(1 +", 1, 5, "expected an expression behind `+`, read the end of the text", true},
      {"{x : x in [1];\n", 2, 1, "expected an expression behind `;`, read the end", true},
      {"set print_length", 1, 17, "expected `;` at the end of the command", true},
      {"scan(+, 0, v);", 1, 6,
       "expected an expression behind `(`, read `+`; an operator is no value: write (x, y) => "
       "x + y",
       false},
      {"1 + * 2;", 1, 5, "expected an expression behind `+`, read `*`\n", false},
      {"a != b;", 1, 3, "`!` has no meaning in an expression; negation is", false},
      {"a && b;", 1, 3, "`&` has no meaning in an expression; the conjunction is", false},
      {".a;", 1, 1, "`.` has no meaning in an expression; the field", false},
      {"a.;", 1, 3, "expected the name of a field behind `.`, read `;`", false},
      {"a.if;", 1, 3, "expected the name of a field behind `.`, read `if`", false},
      {"a.(b);", 1, 3, "expected the name of a field behind `.`, read `(`", false},
      {"'a;", 1, 1, "`'` has no meaning in an expression; a character", false},
      {"\\x;", 1, 1, "`\\` has no meaning in an expression; functions", false},
      {"a ? b;", 1, 3, "`?` has no meaning in an expression; conditions", false},
      {"a >> b;", 1, 3, "`>>` has no meaning in an expression; arrows", false},
      {"x |= 3;", 1, 3, "`|=` has no meaning in an expression; values in files", false},
      {"a <> b;", 1, 4, "expected an expression behind `<`, read `>`; \"different\"", false},
      {"a ** b;", 1, 4, "expected an expression behind `*`, read `*`; a power", false},
      {"[1,2,];", 1, 6, "expected an expression behind `,`, read `]`", false},
      {"[];", 1, 3, "expected the type of the elements behind `[]`, as in [] int, read `;`",
       false},
      {"[1:2:3:4];", 1, 7, "expected `]` to close the range that began with `[`, read `:`",
       false},
      {"v[1:2:3:4];", 1, 8, "expected `]` to close the slice that began with `[`, read `:`",
       false},
      {"v[::];", 1, 5, "expected an expression behind `::`, read `]`", false},
      {"0x;", 1, 1, "letters directly after a number", false},
      {"1__0;", 1, 1, "letters directly after a number", false},
      {"0x8000000000000000;", 1, 1, "this number is too large for an int of 64 bits", false},
      {"1 // (\n + ) // 2;\n;", 2, 4, "expected an expression behind `+`, read `)`", false},
      {"v[];", 1, 2, "an index is missing", false},
      {"{};", 1, 1, "expected a body and generators within `{}`", false},
      {"{x : 3};", 1, 7, "expected `in` behind the pattern of this generator, read `}`", false},
      {"{x : x in v |};", 1, 14, "expected an expression behind `|`, read `}`", false},
      {"{x : x in v | a | b};", 1, 17, "expected `}` to close the `{`, read `|`", false},
      {"let a = 1, b = 2 in a;", 1, 14, "expected `;` or `in` after the binding, read `=`",
       false},
      {"let a = 1; b in a;", 1, 14, "expected `=` behind what the `let` binds, read `in`",
       false},
      {"let a = 1;", 1, 11,
       "expected another binding, or `in` and an expression, behind this `;` of a `let`, read "
       "the end",
       true},
      {"let a = 1 then b;", 1, 11, "expected `in` after the bindings of the `let`, read `then`",
       false},
      {"loop x = 0 while x < 3;", 1, 23,
       "expected `do` behind the condition of the `loop`, read `;`", false},
      {"loop x = 0;", 1, 11, "expected `while` behind what the `loop` begins with, read `;`",
       false},
      {"loop x = while x do x;", 1, 10,
       "expected an expression behind `=`, read the name `while`", false},
      {"loop x = 0 while do x;", 1, 18, "expected an expression, read the name `do`", false},
      {"loop (a, b) = (0, 1)", 1, 21, "expected `while`", true},
      {"loop (a, b) = (0, 1) while a < 3 do", 1, 36, "expected an expression", true},
      {"while x < 3 do x + 1;", 1, 1, "`while` begins no loop: " NESL_LOOPS "\n", false},
      {"1 + (for i in v do g(i));", 1, 6, "`for` begins no loop: " NESL_LOOPS "\n", false},
      {"while (x < 3) { x = x + 1; };", 1, 1, "`while` begins no loop", false},
      {"for (i = 0; i < 3; i++) { i };", 1, 1, "`for` begins no loop", false},
      {"for i in v;", 1, 7,
       "expected `;` or an operator behind the expression, read `in`; `in`", false},
      {"1 + ) 3;", 1, 5, "expected an expression behind `+`, read `)`", false},
      {"1);", 1, 2, "nothing is open here that `)` closes", false},
      {"1 then 2;", 1, 3, "`then` without an `if` that is open", false},
      {"then;", 1, 1, "expected an expression, read `then`", false},
      {"a, c : b;", 1, 6, "expected `;` or an operator behind the expression, read `:`", false},
      {";", 1, 1, "expected a form before `;`", false},
      {"f(x = 3);", 1, 5,
       "expected `)` to close the `(`, read `=`; `==` compares, `:=` gives an optional "
       "argument",
       false},
      {"f(3 := 4);", 1, 3, "expected the name of an optional argument before `:=`", false},
      {"x := 3;", 1, 3, "expected the end of the expression, read `:=`", false},
      {"f((k := 1));", 1, 6, "expected the end of the expression, read `:=`", false},
      {"f(x, (k := 1));", 1, 9, "expected the end of the expression, read `:=`", false},
      {"f([k := 1]);", 1, 6, "expected the end of the expression, read `:=`", false},
      {"x = y = z;", 1, 7, "expected `;` at the end of the form, read `=`", false},
      {"function f(x) : int -> int \"doc\" = x;", 1, 28,
       "expected `=` or `;` behind the type; documentation stands", false},
      {"function f(x);", 1, 14, "expected `:` and a type, or `=` and a body", false},
      {"function f = 3;", 1, 12, "expected the parameters of the function", false},
      {"function if(x) = x;", 1, 10, "expected the name of the function, read `if`", false},
      {"function f(x) : int -> = x;", 1, 24, "expected a type, read `=`\n", false},
      {"function f(x) : [int = x;", 1, 22, "expected `]` to close the `[`, read `=`", false},
      {"function f(x) : a -> a :: (a) = x;", 1, 29,
       "expected `in` behind the type variable, read `)`", false},
      {"datatype d(a) :: a in any;", 1, 26,
       "without parentheses `;` continues the context: write :: (a in any)", false},
      {"datatype d(a : int, float);", 1, 21,
       "expected the name of a field and `:`; the components of a datatype have names all or "
       "none, read the name `float`",
       false},
      {"datatype d(int, a : int);", 1, 12, "expected the name of a field and `:`", false},
      {"datatype d(a : int, [int]);", 1, 21, "expected the name of a field and `:`", false},
      {"datatype d(a : int, b", 1, 22, "expected `:` behind the name of a field", true},
      {"datatype d(a : int,", 1, 20, "expected the name of a field", true},
      {"datatype (int);", 1, 10, "expected the name of the datatype, read `(`", false},
      {"load 3 +;", 1, 9, "expected an expression behind `+`, read `;`", false},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) syntax_errors_check(&table[i]);
}

Test(syntax_errors, what_other_languages_have_instead) {
  static const struct expected table[] = {
      {"x += 1;", 1, 4, "expected an expression behind `+`, read `=`; no value is changed",
       false},
      {"x -= 1;", 1, 4, "expected an expression behind `-`, read `=`; no value is changed",
       false},
      {"a === b;", 1, 5, "expected an expression behind `==`, read `=`; `==` compares", false},
      {"a << 2;", 1, 4, "expected an expression behind `<`, read `<`; bits are shifted by",
       false},
      {"a >> 2;", 1, 3, "`>>` has no meaning in an expression; arrows are `->` in types",
       false},
      {"a /* b */ + 1;", 1, 4, "expected an expression behind `/`, read `*`; comments", false},
      {"x++;", 1, 4, "expected an expression behind `++`, read `;`; `++` joins", false},
      {"(1, 2,);", 1, 7, "expected an expression behind `,`, read `)`; no comma", false},
      {"[1, 2, ];", 1, 8, "expected an expression behind `,`, read `]`; no comma", false},
      {"[x | x];", 1, 4, "expected `]` to close the `[`, read `|`; a sieve", false},
      {"1 \xe2\x88\x92 2;", 1, 3, "the character `\xe2\x88\x92` is not NESL's `-`", false},
      {"1 \xe2\x80\x94 2;", 1, 3, "the character `\xe2\x80\x94` is not NESL's `-`", false},
      {"\xe2\x80\x9e"
       "a\";",
       1, 1, "the character `\xe2\x80\x9e` is not NESL's `\"`", false},
      {"a \xe2\x88\xa7 b;", 1, 3, "the character `\xe2\x88\xa7` is not NESL's `and`", false},
      {"1\xe2\x80\xaf+ 2;", 1, 2, "this is a narrow no-break space, U+202F", false},
      {"1\xe2\x80\x8b+ 2;", 1, 2, "this is a zero-width space, U+200B", false},
      {"1 \xef\xbb\xbf+ 2;", 1, 3, "this is a byte order mark, U+FEFF, within the text", false},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) syntax_errors_check(&table[i]);
}

/* The first remark on a text, at this column; NULL: there is none. */
static void check_remark(const char *text, unsigned column, const char *words) {
  struct reading_test t;
  struct form form;
  reading_begin(&t, text, strlen(text));
  reading_next(&t, &form);
  cr_assert_eq(t.diags.list.count, words ? 2 : 1, "%s", text);
  const struct diag *d = &t.diags.list.items[1];
  if (words) {
    char where[64];
    snprintf(where, sizeof where, "test.nesl:1:%u: note: ", column);
    cr_expect(strstr(d->message, where) && strstr(d->message, words), "%s: %s", text,
              d->message);
  }
  reading_end(&t);
}

Test(syntax_errors, words_of_other_languages_are_remarked_on) {
  check_remark("def sq(x): return x * x;", 1,
               "`def` has no meaning here; functions are written");
  check_remark("(lambda x: x + 1)(3);", 2,
               "`lambda` has no meaning here; functions are written");
  check_remark("[x * x for x in v];", 8, "`for` has no meaning here; {... : x in v}");
  check_remark("for i in [0:9] { i };", 1, "`for` has no meaning here; {... : x in v}");
  check_remark("while x < 9 { };", 1, "`while` has no meaning here; {... : x in v}");
  check_remark("if a then 1 elif b then 2 else 3;", 13,
               "`elif` has no meaning here; it is written");
  check_remark("case x of 1 -> 2 | 3 -> 4;", 1, "`case` has no meaning here; cases");
  check_remark("class point { };", 1, "`class` has no meaning here; a type with components");
  check_remark("{1, 2, 3};", 1, "a list is written [a, b, c]");
  check_remark("3 if a else 4;", 3, "a choice is written if c then a else b");
  check_remark("from math import *;", 1, "`from` has no meaning here; a file is imported");
  check_remark("1 + lambda )", 5, "`lambda` has no meaning here");
  check_remark("f(\"for\", `d) ];", 0, NULL);
  check_remark("x + data );", 0, NULL);
  check_remark("loop x = 1 while x < 3;", 0, NULL);
}

enum { REPORTED = 4096 };

/* The text of all diagnostics of the first form. */
static void syntax_errors_report(const char *text, char *out) {
  struct reading_test t;
  struct form form;
  reading_begin(&t, text, strlen(text));
  reading_next(&t, &form);
  FILE *file = fmemopen(out, REPORTED, "w");
  diag_print(&t.diags, "test", 0, file);
  fclose(file);
  reading_end(&t);
}

static void check_report(const char *text, const char *expected) {
  char out[REPORTED];
  syntax_errors_report(text, out);
  cr_assert_str_eq(out, expected);
}

Test(syntax_errors, messages_show_the_line) {
  check_report(
      "x =\n  (1 + 22foo);",
      "test.nesl:2:8: error: letters directly after a number: put a space between `22` "
      "and `foo`, or begin the name with a letter\n"
      "    2 |   (1 + 22foo);\n"
      "      |        ^^^^^\n");
  /* tabs are eight columns wide, wide characters two, combining ones none */
  check_report("\t\"\xe6\xbc\xa2\"\t\"e\xcc\x81\" ~ 3;",
               "test.nesl:1:11: error: the character `~` means nothing outside of strings and "
               "comments; names consist of letters, digits and `_`\n"
               "    1 |         \"\xe6\xbc\xa2\"    \"e\xcc\x81\" ~ 3;\n"
               "      |                     ^\n");
  /* what a terminal would obey is not passed on */
  check_report("\"\x1b[31m\x7f\xff\" 3 )",
               "test.nesl:1:13: error: nothing is open here that `)` closes\n"
               "    1 | \"\xef\xbf\xbd[31m\xef\xbf\xbd\xef\xbf\xbd\" 3 )\n"
               "      |             ^\n");
  check_report(
      "x = 3\ny = 4;",
      "test.nesl:2:3: error: expected `;` at the end of the form, read `=`; `==` compares, "
      "`=` gives a name to a value\n"
      "    2 | y = 4;\n"
      "      |   ^\n"
      "  test.nesl:1:5: note: is a `;` missing behind this?\n"
      "    1 | x = 3\n"
      "      |     ^\n");
}

Test(syntax_errors, long_lines_are_cut_around_the_marks) {
  char text[600];
  memset(text, 'a', sizeof text);
  memcpy(text + 300, " ~~~ ", 5);
  text[sizeof text - 1] = '\0';
  char out[REPORTED];
  syntax_errors_report(text, out);
  const char *line = strchr(out, '\n') + 1, *marks = strchr(line, '\n') + 1;
  cr_assert_lt(marks - line, 120);
  cr_assert_eq(strncmp(line, "    1 | ...aaaa", 15), 0, "%s", out);
  cr_assert_not_null(strstr(line, "aaa...\n"));
  const char *mark = strchr(marks, '^');
  cr_assert_eq(line[mark - marks], '~', "%s", out);
  cr_assert_eq(mark[1], '\n');
}

/* One letter per form: F read, B broken, M wanting more; the form's first name. */
static void check_recovery(const char *text, const char *expected) {
  struct reading_test t;
  struct form form;
  char out[64];
  size_t n = 0;
  reading_begin(&t, text, strlen(text));
  for (;;) {
    enum reading result = reading_next(&t, &form);
    if (result == READ_END) break;
    cr_assert_lt(n, sizeof out - 1);
    out[n++] = result == READ_FORM ? 'F' : result == READ_MORE ? 'M' : 'B';
  }
  out[n] = '\0';
  cr_assert_str_eq(out, expected, "%s: %s", text, out);
  reading_end(&t);
}

static void check_awaited(const char *text, const char *wanted) {
  const struct source source = {.text = text, .length = strlen(text)};
  const char *awaited = awaited_at_end(&source);
  cr_expect_str_eq(awaited, wanted, "%s: %s", text, awaited);
}

Test(syntax_errors, what_is_awaited) {
  check_awaited("let x = 3;\n", "in");
  check_awaited("let x = {y in v; z in w}; y = (\n", ")");
  check_awaited("let x = 3 in let y = 4;\n", "in");
  check_awaited("let x = 3; y = 4 in x + y", "");
  check_awaited("{let a = x in a : x in v;", "}");
  check_awaited("f([1, // ]\n", "]");
  check_awaited("\"a (b", "\"");
  check_awaited("1 + % a", "%");
  check_awaited("1 +", "");
  check_awaited("", "");
}

Test(syntax_errors, reading_goes_on_behind_the_terminator) {
  check_recovery("1 + ; 2; 3;", "BFF");
  check_recovery("1 + ) 4 $ 2; 3;", "BFF");
  check_recovery("f(\";\", `;, %;% ]); 2;", "BF");
  check_recovery("let a = 1; b = ] in b; 2;", "BF");
  check_recovery("{x ~ 1 : x in v; y in w}; 2;", "BF");
  check_recovery("(1; 2);\n2;", "BF");
  check_recovery("{x : x in v;\n2;\n3;", "BFF");
  check_recovery("let a = 1;\n2;\n3;", "BFF");
  check_recovery("let a =\n  3;\n  b = ];\n2;", "BF");
  check_recovery("let a = 1;\nb = ) 2\nin a;\n3;", "BF");
  check_recovery("\"abc;\n2;\n3;", "MFF");
  check_recovery("% abc;\n2;\n3;", "MFF");
  check_recovery("(1 + 2;\n[3;\n{4;\n5;", "BBBF");
  check_recovery("f(x, k := ) 3);\n2;", "BF");
  check_recovery("1", "M");
  check_recovery("1 +\n2;", "F");
  check_recovery("  % nothing % ", "");
}

Test(syntax_errors, parentheses_nest_as_deep_as_the_limit) {
  enum { DEEP = NESL_MOST_NESTING - 10 };
  char text[2 * DEEP + 3];
  memset(text, '(', DEEP);
  text[DEEP] = '1';
  memset(text + DEEP + 1, ')', DEEP);
  text[2 * DEEP + 1] = ';';
  text[2 * DEEP + 2] = '\0';
  check_recovery(text, "F");
}

Test(syntax_errors, nesting_has_a_limit) {
  static const char *const openers[] = {"(",        "[",     "{x : x in ", "if ",
                                        "let a = ", "-",     "f ((",       "x => ",
                                        "1, ",      "1 -> ", "[] [",       "function f(x) : ("};
  for (size_t i = 0; i < sizeof openers / sizeof *openers; i++) {
    size_t length = strlen(openers[i]), times = 100000;
    char *text = malloc(times * length + 1);
    for (size_t k = 0; k < times; k++) memcpy(text + k * length, openers[i], length);
    text[times * length] = '\0';
    struct reading_test t;
    struct form form;
    reading_begin(&t, text, times * length);
    enum reading result = reading_next(&t, &form);
    cr_assert(result == READ_BROKEN || result == READ_MORE, "%s", openers[i]);
    cr_assert_eq(t.complaints.count, 1, "%s", openers[i]);
    reading_end(&t);
    free(text);
  }
  /* Trees that grow to the left without recursion are as high. */
  enum { TERMS = 100000 };
  char *sum = malloc(2 * TERMS + 1);
  for (size_t k = 0; k < TERMS; k++) memcpy(sum + 2 * k, "1+", 2);
  memcpy(sum + 2 * TERMS - 1, ";", 2);
  struct reading_test t;
  struct form form;
  reading_begin(&t, sum, 2 * TERMS);
  cr_assert_eq(reading_next(&t, &form), READ_BROKEN);
  cr_assert_eq(t.diags.list.count, 1);
  reading_end(&t);
  memcpy(sum + 2 * 900 - 1, ";", 2);
  reading_begin(&t, sum, 2 * 900);
  cr_assert_eq(reading_next(&t, &form), READ_FORM);
  cr_assert_leq(form.value->height, NESL_MOST_NESTING);
  size_t length;
  char *shown = shown_form(&form, &length);
  free(shown);
  reading_end(&t);
  free(sum);
}
