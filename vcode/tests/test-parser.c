/* test-parser.c - the loader's model, its messages with their positions, and its limits. */
#include "vcode/tests/fixture.h"

#include <criterion/criterion.h>

/* ---- well formed programs ---- */

Test(parser, keeps_positions_and_links) {
  static const char text[] = "FUNC TEST CONST BOOL T\n  IF\n CONST INT 1 ELSE\nENDIF RET\n";
  struct parsed p;
  parse_bytes_as(&p, text, strlen(text), classic);
  cr_assert_not_null(p.program);
  const struct vcode_function *f = &p.program->functions[0];
  cr_assert_eq(f->length, 6);
  cr_expect(f->pos.line == 1 && f->pos.column == 6);
  cr_expect(f->code[1].op == OPC_IF && f->code[1].pos.line == 2 && f->code[1].pos.column == 3);
  cr_expect(f->code[1].as.branch.otherwise == 3 && f->code[1].as.branch.end == 4);
  cr_expect(f->code[3].op == OPC_ELSE && f->code[3].as.branch.end == 4);
  cr_expect(f->code[5].op == OPC_RET && f->code[5].pos.line == 4 && f->code[5].pos.column == 7);
  parsed_free(&p);
}

Test(parser, if_without_else_points_at_its_endif) {
  static const char text[] = "FUNC P CONST BOOL T IF ENDIF RET";
  struct parsed p;
  parse_bytes_as(&p, text, strlen(text), classic);
  cr_assert_not_null(p.program);
  cr_expect_eq(p.program->functions[0].code[1].as.branch.otherwise, 2);
  cr_expect_eq(p.program->functions[0].code[1].as.branch.end, 2);
  parsed_free(&p);
}

Test(parser, entry_is_main_or_the_first) {
  static const char with[] = "FUNC A RET FUNC MAIN CALL A RET",
                    without[] = "FUNC B RET FUNC A RET";
  struct parsed p;
  parse_bytes_as(&p, with, strlen(with), classic);
  cr_expect_eq(p.program->entry, 1);
  cr_expect_eq(p.program->functions[1].code[0].as.call.function, 0);
  parsed_free(&p);
  parse_bytes_as(&p, without, strlen(without), classic);
  cr_expect_eq(p.program->entry, 0);
  parsed_free(&p);
}

Test(parser, strings_take_every_byte_but_the_quote) {
  static const char text[] = "FUNC P CONST CHAR \"a\0{(\n\377\" RET";
  struct parsed p;
  parse_bytes_as(&p, text, sizeof text - 1, classic);
  cr_assert_not_null(p.program);
  const struct vcode_constant *c = p.program->functions[0].code[0].as.constant;
  cr_expect_eq(c->length, 6);
  cr_expect(memcmp(c->as.chars, "a\0{(\n\377", 6) == 0);
  parsed_free(&p);
}

Test(parser, words_are_maximal) {
  static const char text[] =
      "FUNC 1e5 RET FUNC --5 CALL 1e5 RET FUNC +INT CALL --5 RET FUNC .5 RET";
  struct parsed p;
  parse_bytes_as(&p, text, strlen(text), classic);
  cr_assert_not_null(p.program);
  cr_expect_eq(p.program->function_count, 4);
  parsed_free(&p);
}

Test(parser, literals_of_64_bits_only_where_int_has_them) {
  static const char text[] = "FUNC P CONST INT (-9223372036854775808 9223372036854775807) RET";
  struct parsed p;
  parse_bytes_as(&p, text, strlen(text), wide);
  cr_assert_not_null(p.program);
  cr_expect_eq(p.program->functions[0].code[0].as.constant->as.ints[0], INT64_MIN);
  cr_expect_eq(p.program->functions[0].code[0].as.constant->as.ints[1], INT64_MAX);
  parsed_free(&p);
  parse_bytes_as(&p, text, strlen(text), classic);
  cr_expect_null(p.program);
  parsed_free(&p);
}

/* ---- origins ---- */

static const struct origin *parser_origin_of(const struct parsed *p, uint32_t f, uint32_t i) {
  return origin_at(&p->program->origins, p->program->functions[f].code[i].origin);
}

static void expect_location(const struct origin *o, const char *file, uint32_t line,
                            uint32_t column) {
  cr_expect_str_eq(o->file, file);
  cr_expect_eq(o->pos.line, line);
  cr_expect_eq(o->pos.column, column);
}

Test(parser, origins_last_until_the_next_or_the_end_of_the_function) {
  static const char text[] = "FUNC P CONST INT 1 {@ p.nesl:3:14 f }\nCONST INT 2 CONST INT 3\n"
                             "{@ p.nesl:4:1 } CONST INT 4 RET\n"
                             "FUNC G CONST INT 5 RET";
  struct parsed p;
  parse_bytes_as(&p, text, strlen(text), classic);
  cr_assert_not_null(p.program);
  cr_expect_eq(p.program->functions[0].code[0].origin, 0);
  expect_location(parser_origin_of(&p, 0, 1), "p.nesl", 3, 14);
  cr_expect_str_eq(parser_origin_of(&p, 0, 2)->function, "f");
  expect_location(parser_origin_of(&p, 0, 3), "p.nesl", 4, 1);
  cr_expect_str_eq(parser_origin_of(&p, 0, 3)->function, "");
  cr_expect_eq(p.program->functions[1].code[0].origin, 0);
  parsed_free(&p);
}

Test(parser, an_origin_lists_the_calls_it_was_inlined_at) {
  static const char text[] = "FUNC P {@ p.nesl:3:14 f|p.nesl:20:1|q.nesl:7:5 } CONST INT 1\n"
                             "{@ p.nesl:4:1 |q.nesl:7:5 } CONST INT 2 RET";
  struct parsed p;
  parse_bytes_as(&p, text, strlen(text), classic);
  cr_assert_not_null(p.program);
  const struct origin_table *t = &p.program->origins;
  const struct origin *f = parser_origin_of(&p, 0, 0), *unnamed = parser_origin_of(&p, 0, 1);
  expect_location(f, "p.nesl", 3, 14);
  cr_expect_str_eq(f->function, "f");
  const struct origin *inner = origin_at(t, f->inlined_at);
  expect_location(inner, "p.nesl", 20, 1);
  expect_location(origin_at(t, inner->inlined_at), "q.nesl", 7, 5);
  cr_expect_str_eq(unnamed->function, "");
  cr_expect_eq(unnamed->inlined_at, inner->inlined_at, "one number for equal origins");
  parsed_free(&p);
}

Test(parser, malformed_origins_are_comments) {
  static const char *const malformed[] = {
      "{@}",        "{@ f:1 x }",  "{@ f:1: x }",  "{@ f::3 x }",      "{@ :1:2 }",
      "{@ f:a:2 }", "{ @ f:1:2 }", "{@ f:1:2 x|}", "{@ f:1:2 x|g:1 }", "{@ f:1:4294967296 }"};
  for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
    char text[128];
    snprintf(text, sizeof text, "FUNC P {@ a:1:1 f} CONST INT 1 RET FUNC G %s CONST INT 1 RET",
             malformed[i]);
    struct parsed p;
    parse_bytes_as(&p, text, strlen(text), classic);
    cr_assert_not_null(p.program);
    cr_expect_eq(p.program->functions[1].code[0].origin, 0, "%s", malformed[i]);
    parsed_free(&p);
  }
}

/* ---- marks of lifted functions ---- */

Test(parser, keeps_marks) {
  static const char text[] = "FUNC P RET FUNC FN {no mark} {% instances shared each 1 shared\n"
                             "-> each 0 } I INT O INT RET FUNC G {%instances} RET";
  struct parsed p;
  parse_bytes_as(&p, text, strlen(text), classic);
  cr_assert_not_null(p.program);
  const struct vcode_function *f = p.program->functions;
  cr_expect(!f[0].instances && !f[2].instances);
  const struct vcode_instances *mark = f[1].instances;
  cr_assert(mark && f[1].has_signature);
  cr_expect(mark->pos.line == 1 && mark->pos.column == 30);
  cr_assert(mark->param_count == 4 && mark->result_count == 2);
  static const uint32_t params[] = {VCODE_SHARED, VCODE_EACH, 1, VCODE_SHARED},
                        results[] = {VCODE_EACH, 0};
  cr_expect(memcmp(mark->params, params, sizeof params) == 0);
  cr_expect(memcmp(mark->results, results, sizeof results) == 0);
  struct vcode_program *again = vcode_reparse(&p.arena, p.program, classic, &p.diags);
  cr_assert_not_null(again);
  cr_expect_null(vcode_difference(p.program, again));
  again->functions[1].instances = NULL;
  cr_expect_str_eq(vcode_difference(p.program, again), "a mark of instances");
  parsed_free(&p);
}

Test(parser, keeps_marks_of_rounds) {
  static const char text[] = "FUNC P {% rounds } RET FUNC FN {% round } I INT O INT RET FUNC G "
                             "{round} RET FUNC H RET {% round }";
  struct parsed p;
  parse_bytes_as(&p, text, strlen(text), classic);
  cr_assert_not_null(p.program);
  const struct vcode_function *f = p.program->functions;
  cr_expect(f[0].rounds == VCODE_ROUNDS && f[1].rounds == VCODE_ROUND && f[1].has_signature);
  cr_expect(f[2].rounds == VCODE_NO_ROUNDS && f[3].rounds == VCODE_NO_ROUNDS);
  struct vcode_program *again = vcode_reparse(&p.arena, p.program, classic, &p.diags);
  cr_assert_not_null(again);
  cr_expect_null(vcode_difference(p.program, again));
  again->functions[1].rounds = VCODE_ROUNDS;
  cr_expect_str_eq(vcode_difference(p.program, again), "a mark of rounds");
  parsed_free(&p);
}

Test(parser, keeps_links_to_procedures) {
  static const char text[] =
      "FUNC FN {% instances shared -> each } {% procedure G } RET FUNC G "
      "RET FUNC H {% procedure F "
      "} RET FUNC I_ {% procedure H } {% instances shared -> each } RET";
  struct parsed p;
  parse_bytes_as(&p, text, strlen(text), classic);
  cr_assert_not_null(p.program);
  const struct vcode_function *f = p.program->functions;
  cr_assert(f[0].instances && f[3].instances && !f[2].instances);
  cr_expect_eq(f[0].instances->procedure_function, 1);
  cr_expect_eq(f[3].instances->procedure_function, 2);
  cr_expect(!f[0].is_procedure && f[1].is_procedure && f[2].is_procedure);
  struct vcode_program *again = vcode_reparse(&p.arena, p.program, classic, &p.diags);
  cr_assert_not_null(again);
  cr_expect_null(vcode_difference(p.program, again));
  ((struct vcode_instances *)(uintptr_t)again->functions[0].instances)->procedure_function = 2;
  cr_expect_str_eq(vcode_difference(p.program, again), "a mark of instances");
  parsed_free(&p);
}

/* Behind the name only. */
Test(parser, marks_elsewhere_are_comments) {
  static const char text[] =
      "{% instances x } FUNC P I INT {% instances y } O INT {% instances } RET {% instances }";
  struct parsed p;
  parse_bytes_as(&p, text, strlen(text), classic);
  cr_assert_not_null(p.program);
  cr_expect_null(p.program->functions[0].instances);
  parsed_free(&p);
}

/* ---- errors: position and text of the first ---- */

static const struct fault {
  const char *text;
  uint32_t line, column;
  const char *says[2];
} faults[] = {
    {"", 1, 1, {"no function", "FUNC"}},
    {"FUNC P\nconst INT 1 RET", 2, 1, {"const", "CONST"}},
    {"FUNC P\n CONSTT INT 1 RET", 2, 2, {"CONSTT", "did you mean CONST?"}},
    {"FUNC P CONST Int 1 RET", 1, 14, {"Int", "did you mean INT?"}},
    {"FUNC P AND FLOAT RET", 1, 12, {"INT or BOOL", "FLOAT"}},
    {"FUNC P CONST INT 1\n+\nRET", 3, 1, {"INT or FLOAT", "RET"}},
    {"FUNC P % INT RET", 1, 10, {"%", "no type"}},
    {"FUNC P CONST FLOAT 5 RET", 1, 20, {"real", "5"}},
    {"FUNC P CONST FLOAT (1.0 NaN) RET", 1, 25, {"or nan", "NaN"}},
    {"FUNC P CONST INT (1 nan) RET", 1, 21, {"integer", "nan"}},
    {"FUNC P CONST SEGDES (1 -2) RET", 1, 24, {"negative", "-2"}},
    {"FUNC P COPY 1 -1 RET", 1, 15, {"COPY", "-1"}},
    {"FUNC P COPY 1 RET", 1, 15, {"COPY", "RET"}},
    {"FUNC P CONST INT 4294967296 RET", 1, 18, {"4294967296", "32"}},
    {"FUNC P FUSED 4294967296 RET", 1, 14, {"4294967296", NULL}},
    {"FUNC P CALL sub RET FUNC SUB RET", 1, 8, {"sub", "did you mean SUB?"}},
    {"FUNC P RET\nFUNC P RET", 2, 6, {"twice", "line 1"}},
    {"FUNC P\nCONST INT 1\nFUNC G RET", 3, 1, {"FUNC", "RET"}},
    {"FUNC P O INT RET", 1, 8, {"I", "O"}},
    {"FUNC T RET", 1, 6, {"name", "T"}},
    {"FUNC P CONST BOOL T IF\nRET", 2, 1, {"IF", "line 1"}},
    {"FUNC P ENDIF RET", 1, 8, {"ENDIF", "IF"}},
    {"FUNC P\n{ open", 2, 1, {"comment", "}"}},
    {"FUNC P CONST CHAR \"open", 1, 19, {"string", "\""}},
    {"\177ELF\1\1", 1, 1, {"text file", NULL}},
    {"FUNC P ASSERT 3 RET", 1, 15, {"ASSERT", "string"}},
    {"fused OP0#1 () = $0", 1, 20, {"no function", NULL}},
    {"x fused OP0#1 () = $0 FUNC P RET", 1, 1, {"FUNC", "x"}},
    {"fused OP0#1 { open\nFUNC P RET", 1, 13, {"comment", "}"}},
    {"fused OP0\n \1 $0 FUNC P RET", 2, 2, {"text file", NULL}},
    {"{% widths INT 16 FLOAT 64 }\nFUNC P RET", 1, 1, {"widths", "32 or 64"}},
    {"{% widths INT 32 FLOAT 64 32 }\nFUNC P RET", 1, 1, {"widths", "32 or 64"}},
    {"\n{% widths INT 64 FLOAT 32 }\nFUNC P RET",
     2,
     1,
     {"optimised for INT of 64", "32 and 64"}},
    {"{% widths INT 64 FLOAT 64 } fused OP0 FUNC P RET",
     1,
     1,
     {"leave the options away", NULL}},
    {"FUNC P {% instances shared each } RET", 1, 33, {"-> is expected", "its end"}},
    {"FUNC P\n {% instances shared each\n->\n shared } RET", 4, 2, {"each or", "shared"}},
    {"FUNC P {% instances shared many -> each } RET", 1, 28, {"each, shared", "many"}},
    {"FUNC P {% instances shared +1 -> each } RET", 1, 28, {"each, shared", "+1"}},
    {"FUNC P {% instances shared each -> each -> } RET", 1, 41, {"each or", "->"}},
    {"FUNC P {% instances shared each 3 -> each } RET", 1, 33, {"no parameter 3", "has 3"}},
    {"FUNC P {% instances shared 99999999999 -> each } RET", 1, 28, {"no parameter", "has 2"}},
    {"FUNC P {% instances shared each -> each 2 } RET", 1, 41, {"no result 2", "has 2"}},
    {"FUNC P {% instances shared -> each } {% procedure } RET",
     1,
     51,
     {"procedure NAME", NULL}},
    {"FUNC P {% instances shared -> each } {% procedure P P } RET",
     1,
     51,
     {"procedure NAME", NULL}},
    {"FUNC P {% instances shared -> each } {% procedure 5 } RET",
     1,
     51,
     {"procedure NAME", NULL}},
    {"FUNC P {% instances shared -> each }\n{% procedure BIGG } RET FUNC BIG RET",
     1,
     8,
     {"the procedure of P, is never defined", "did you mean BIG?"}},
    {"FUNC P {% instances shared ) -> each } RET", 1, 28, {"each, shared", ")"}},
};

Test(parser, faults_say_what_and_where) {
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    const struct fault *f = &faults[i];
    struct parsed p;
    parse_bytes_as(&p, f->text, strlen(f->text), classic);
    cr_assert_null(p.program, "accepted: %s", f->text);
    cr_assert_eq(p.diags.errors, 1, "%zu errors: %s", p.diags.errors, f->text);
    const struct diag *d = &p.diags.list.items[0];
    cr_expect(d->pos.line == f->line && d->pos.column == f->column, "%s\n  %u:%u: %s", f->text,
              d->pos.line, d->pos.column, d->message);
    for (int k = 0; k < 2; k++) {
      cr_expect(f->says[k] == NULL || strstr(d->message, f->says[k]) != NULL,
                "%s\n  %s\n  does not say: %s", f->text, d->message, f->says[k]);
    }
    parsed_free(&p);
  }
}

Test(parser, a_nul_byte_is_one_fault) {
  static const char text[] = "FUNC P\nCONST INT 1\n\0\0\0CONST INT 2\nRET\n";
  struct parsed p;
  parse_bytes_as(&p, text, sizeof text - 1, classic);
  cr_assert_null(p.program);
  cr_expect_eq(p.diags.errors, 1);
  cr_expect_eq(p.diags.list.items[0].pos.line, 3);
  parsed_free(&p);
}

Test(parser, goes_on_after_a_fault_and_stops_at_twenty) {
  static const char four[] = "FUNC P CONST INT T CONST FLOAT 1 COPY 1 RET FUNC G X INT RET";
  struct parsed p;
  parse_bytes_as(&p, four, strlen(four), classic);
  cr_expect_eq(p.diags.errors, 4);
  parsed_free(&p);
  char text[4096] = "FUNC P ";
  for (int i = 0; i < 100; i++) strcat(text, "CONST INT T\n");
  struct parsed q;
  parse_bytes_as(&q, text, strlen(text), classic);
  cr_expect_null(q.program);
  cr_expect_eq(q.diags.errors, 20);
  parsed_free(&q);
}

Test(parser, sums_may_not_pass_the_largest_total) {
  static const struct {
    const char *text;
    bool fits;
  } cases[] = {{"FUNC P CONST SEGDES (9223372036854775806 1) RET", true},
               {"FUNC P CONST SEGDES (9223372036854775807 1) RET", false},
               {"FUNC P COPY 9223372036854775806 1 RET", true},
               {"FUNC P COPY 9223372036854775807 1 RET", false}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct parsed p;
    parse_bytes_as(&p, cases[i].text, strlen(cases[i].text), wide);
    cr_expect_eq(p.program != NULL, cases[i].fits, "%s", cases[i].text);
    parsed_free(&p);
  }
}

/* ---- superoperators ---- */

Test(parser, keeps_the_text_of_definitions) {
  static const char text[] = "{% widths INT 32 FLOAT 64 }\n"
                             "fused OP0#1 ($0 : INT) =\n  (+ INT @ $0 {@ a:1:1 f } $0)  { ! }\n"
                             " fused OP1#0 x FUNC P CONST INT 1 FUSED 0 RET fused OP2 { a } y";
  struct parsed p;
  parse_bytes_as(&p, text, strlen(text), classic);
  cr_assert_not_null(p.program);
  cr_assert_eq(p.program->fused_count, 3);
  const struct vcode_fused *fused = p.program->fused;
  cr_expect_str_eq(fused[0].text, "fused OP0#1 ($0 : INT) =\n  (+ INT @ $0 {@ a:1:1 f } $0)");
  cr_expect_str_eq(fused[1].text, "fused OP1#0 x");
  cr_expect_str_eq(fused[2].text, "fused OP2 { a } y");
  cr_expect_eq(fused[2].length, strlen(fused[2].text));
  cr_expect(fused[1].pos.line == 4 && fused[1].pos.column == 2);
  cr_expect(p.program->has_widths);
  cr_expect_eq(p.program->functions[0].code[0].origin, 0);
  struct vcode_program *again = vcode_reparse(&p.arena, p.program, classic, &p.diags);
  cr_assert_not_null(again);
  cr_expect_null(vcode_difference(p.program, again));
  parsed_free(&p);
}

Test(parser, keeps_that_floats_have_all_digits) {
  static const char text[] = "{% floats 17 }\nFUNC P I SEGDES FLOAT O SEGDES FLOAT RET";
  struct parsed p;
  parse_bytes_as(&p, text, strlen(text), classic);
  cr_assert_not_null(p.program);
  cr_expect(p.program->exact_floats && !p.program->has_widths);
  struct vcode_program *again = vcode_reparse(&p.arena, p.program, classic, &p.diags);
  cr_assert_not_null(again);
  cr_expect_null(vcode_difference(p.program, again));
  parsed_free(&p);
  parse_bytes_as(&p, "{ floats 17 } FUNC P RET", 24, classic);
  cr_expect(p.program && !p.program->exact_floats);
  parsed_free(&p);
}

Test(parser, definitions_alone_are_added) {
  static const char text[] = "fused OP0 a FUNC P RET",
                    more[] = "{ 2012 }\nfused OP1 b\nfused OP2 c\n",
                    bad[] = "fused OP1 b\nFUNC P RET", stray[] = "$ fused OP1 b";
  struct parsed p;
  parse_bytes_as(&p, text, strlen(text), classic);
  cr_expect(!vcode_parse_definitions(&p.arena, p.program, "f.sop", bad, strlen(bad), &p.diags));
  cr_assert_eq(p.diags.errors, 1);
  cr_expect_eq(p.diags.list.items[0].pos.line, 2);
  cr_expect_not_null(strstr(p.diags.list.items[0].message, "FUNC"));
  cr_expect_str_eq(p.diags.list.items[0].file, "f.sop");
  cr_expect(
      !vcode_parse_definitions(&p.arena, p.program, "f.sop", stray, strlen(stray), &p.diags));
  cr_expect_eq(p.diags.errors, 2);
  cr_expect_eq(p.program->fused_count, 1);
  cr_assert(
      vcode_parse_definitions(&p.arena, p.program, "f.sop", more, strlen(more), &p.diags));
  cr_assert_eq(p.program->fused_count, 3);
  cr_expect_str_eq(p.program->fused[0].file, "test.vcode");
  cr_expect_str_eq(p.program->fused[2].file, "f.sop");
  cr_expect_str_eq(p.program->fused[2].text, "fused OP2 c");
  parsed_free(&p);
}

Test(parser, recorded_widths_are_those_before_everything_else) {
  static const struct {
    const char *text;
    bool recorded;
  } cases[] = {{"{ a } {% widths INT 64\n FLOAT 32 } FUNC P RET", true},
               {"{% width INT 64 FLOAT 32 } {% widths INT 64 FLOAT 32}", true},
               {"{% widths INT64 FLOAT 32 } FUNC P RET", false},
               {"FUNC P {% widths INT 64 FLOAT 32 } RET", false},
               {"fused OP0 {% widths INT 64 FLOAT 32 } FUNC P RET", false},
               {"{% widths INT 64 FLOAT 32", false},
               {"", false}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct widths w = {CVL_BOOL, CVL_BOOL};
    cr_expect_eq(vcode_recorded_widths(cases[i].text, strlen(cases[i].text), &w),
                 cases[i].recorded, "%s", cases[i].text);
    if (cases[i].recorded) cr_expect(w.int_elem == CVL_I64 && w.float_elem == CVL_F32);
  }
}

/* ---- limits ---- */

Test(parser, nesting_is_limited_by_memory_only) {
  enum { DEPTH = 200000 };
  static const char open[] = "CONST BOOL T IF ", close[] = "ELSE ENDIF ";
  size_t size = DEPTH * (strlen(open) + strlen(close)) + 64, n = 0;
  char *text = malloc(size);
  n += (size_t)sprintf(text, "FUNC P ");
  for (int i = 0; i < DEPTH; i++) n += (size_t)sprintf(text + n, "%s", open);
  for (int i = 0; i < DEPTH; i++) n += (size_t)sprintf(text + n, "%s", close);
  n += (size_t)sprintf(text + n, "RET");
  struct parsed p;
  parse_bytes_as(&p, text, n, classic);
  cr_assert_not_null(p.program);
  struct vcode_program *again = vcode_reparse(&p.arena, p.program, classic, &p.diags);
  cr_assert_not_null(again);
  cr_expect_null(vcode_difference(p.program, again));
  parsed_free(&p);
  free(text);
}

Test(parser, every_failing_allocation_is_an_ordinary_error) {
  char text[8192] = "fused OP0 x FUNC P {@ a:1:1 f} ";
  for (int i = 0; i < 300; i++) strcat(text, "CONST INT (1 2 3) CALL P ");
  strcat(text, "RET");
  struct heap heap;
  struct arena arena;
  for (uint64_t nth = 1;; nth++) {
    heap_init(&heap, 0);
    heap.fail_at = nth;
    arena_init(&arena, &heap);
    struct diag_list diags;
    diag_list_init(&diags, &arena);
    struct vcode_program *program =
        vcode_parse(&arena, "t", text, strlen(text), classic, &diags);
    bool failed = heap.count >= nth;
    cr_expect_eq(program == NULL, failed);
    cr_expect_eq(diags.errors != 0, failed);
    arena_free(&arena);
    cr_expect_eq(heap.live, 0);
    if (!failed) break;
  }
}

/* ---- printing ---- */

static void parser_check_printed(const char *text, const char *wanted) {
  struct parsed p;
  parse_bytes_as(&p, text, strlen(text), wide);
  cr_assert_not_null(p.program, "%s", text);
  char *printed = NULL;
  size_t length;
  FILE *file = open_memstream(&printed, &length);
  vcode_print(p.program, file);
  fclose(file);
  cr_expect_str_eq(printed, wanted);
  free(printed);
  parsed_free(&p);
}

Test(printer, one_instruction_a_line_indented_by_depth) {
  parser_check_printed(
      "FUNC P I INT O IF CONST INT 1 ELSE EXIT ENDIF COPY 2 1 RET",
      "FUNC P I INT O\nIF\n  CONST INT 1\nELSE\n  EXIT\nENDIF\nCOPY 2 1\nRET\n");
}

Test(printer, reals_read_back_as_the_same_double) {
  parser_check_printed("FUNC P CONST FLOAT (5. 0.1 -0.0 1.e30 1.0e999 -1.0e999) RET",
                       "FUNC P\nCONST FLOAT (5.0 0.1 -0.0 1.0e+30 1.0E999 -1.0E999)\nRET\n");
  parser_check_printed("FUNC P CONST FLOAT nan CONST FLOAT (nan 1. nan) RET",
                       "FUNC P\nCONST FLOAT nan\nCONST FLOAT (nan 1.0 nan)\nRET\n");
}

Test(printer, origins_are_printed_where_they_change) {
  parser_check_printed(
      "FUNC P CONST INT 1 {@ a:1:2 f } CONST INT STDIN CONST INT 3 RET",
      "FUNC P\nCONST INT 1\n{@ a:1:2 f }\nCONST INT STDIN\nCONST INT 3\nRET\n");
}

Test(printer, marks_are_behind_the_name) {
  parser_check_printed(
      "FUNC FN {% instances shared each 1 shared -> each 0 } I INT O INT RET",
      "FUNC FN {% instances shared each 1 shared -> each 0 } I INT O INT\nRET\n");
}

Test(printer, links_are_behind_marks) {
  parser_check_printed(
      "FUNC P RET FUNC FN {% procedure P }{no mark} {% instances shared -> each } I O RET",
      "FUNC P\nRET\n\nFUNC FN {% instances shared -> each } {% procedure P } I O\nRET\n");
}

Test(printer, widths_and_definitions_come_first) {
  parser_check_printed(
      "{% widths INT 64 FLOAT 64 } FUNC P FUSED 0 RET fused OP0\n (x) { c } ",
      "{% widths INT 64 FLOAT 64 }\nfused OP0\n (x)\n\nFUNC P\nFUSED 0\nRET\n");
}

/* Origins of a program that was made, not read: some instructions have none, and two have
 * equal ones. */
Test(printer, an_origin_in_force_is_not_printed_again) {
  static const char text[] =
      "FUNC P {@ a:1:2 f } CONST INT 1 CONST INT 2 {@ a:1:2 f } CONST INT 3 "
      "{@ a:1:3 f } RET";
  struct parsed p;
  parse_bytes_as(&p, text, strlen(text), wide);
  cr_assert_not_null(p.program);
  p.program->functions[0].code[1].origin = 0;
  char *printed = NULL;
  size_t length;
  FILE *file = open_memstream(&printed, &length);
  vcode_print(p.program, file);
  fclose(file);
  cr_expect_str_eq(printed, "FUNC P\n{@ a:1:2 f }\nCONST INT 1\nCONST INT 2\nCONST INT 3\n"
                            "{@ a:1:3 f }\nRET\n");
  free(printed);
  parsed_free(&p);
}
