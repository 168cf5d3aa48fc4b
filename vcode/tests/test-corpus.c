/* test-corpus.c - the shared corpus, where it is there: well formed programs parse and
 * round-trip through their printed form; others are refused at a line that their .why names. */
#include "vcode/tests/fixture.h"

#include <criterion/criterion.h>
#include <glob.h>

/* All files of the corpus that match; skips the test where the corpus is not. */
static glob_t corpus(const char *pattern) {
  char path[1024];
  glob_t files;
  snprintf(path, sizeof path, "%s/%s", RAVEL_CORPUS, pattern);
  if (glob(path, 0, NULL, &files) != 0) cr_skip_test("no corpus here");
  return files;
}

static void corpus_check_round_trip(const char *path) {
  size_t length;
  char *text = read_whole(path, &length);
  cr_assert_not_null(text, "%s", path);
  struct parsed p;
  parse_bytes_as(&p, text, length, classic);
  cr_assert_not_null(p.program, "%s: %s", path,
                     p.diags.list.count != 0 ? p.diags.list.items[0].message : "no message");
  struct vcode_program *again = vcode_reparse(&p.arena, p.program, classic, &p.diags);
  cr_assert_not_null(again, "%s: its printed form does not parse", path);
  const char *difference = vcode_difference(p.program, again);
  cr_assert_null(difference, "%s: %s differs after printing", path, difference);
  parsed_free(&p);
  free(text);
}

static void corpus_check_all(const char *pattern) {
  glob_t files = corpus(pattern);
  for (size_t i = 0; i < files.gl_pathc; i++) corpus_check_round_trip(files.gl_pathv[i]);
  globfree(&files);
}

Test(corpus, ops) {
  corpus_check_all("ops/*.vcode");
}
Test(corpus, programs) {
  corpus_check_all("programs/*.vcode");
}
Test(corpus, real) {
  corpus_check_all("real/*.vcode");
}
Test(corpus, vcode_before_fusion) {
  corpus_check_all("fcode/*.vcode");
}
Test(corpus, fcode) {
  corpus_check_all("fcode/*.fcode");
}

/* Does the text "... at line 3 or 4: why" name this line? */
static bool names_line(const char *why, uint32_t line) {
  const char *at = strstr(why, "line ");
  for (at = at == NULL ? NULL : at + strlen("line "); at != NULL;) {
    char *end;
    if (strtoul(at, &end, 10) == line) return true;
    at = strncmp(end, " or ", 4) == 0 ? end + 4 : NULL;
  }
  return false;
}

static void check_bad(const char *path) {
  char why_path[1024];
  snprintf(why_path, sizeof why_path, "%.*swhy", (int)(strlen(path) - strlen("vcode")), path);
  size_t length, why_length;
  char *text = read_whole(path, &length), *why = read_whole(why_path, &why_length);
  cr_assert(text != NULL && why != NULL, "%s", path);
  struct parsed p;
  parse_bytes_as(&p, text, length, classic);
  bool must = strncmp(why, "parse error", strlen("parse error")) == 0;
  bool may = must || strncmp(why, "parse or", strlen("parse or")) == 0;
  if (must) cr_expect_null(p.program, "%s was accepted: %s", path, why);
  if (p.program == NULL) {
    const struct diag *first = &p.diags.list.items[0];
    cr_expect(may, "%s was refused (%s), but: %s", path, first->message, why);
    cr_expect(names_line(why, first->pos.line), "%s:%u:%u: %s; but: %s", path, first->pos.line,
              first->pos.column, first->message, why);
  }
  parsed_free(&p);
  free(text);
  free(why);
}

Test(corpus, bad) {
  glob_t files = corpus("bad/*.vcode");
  for (size_t i = 0; i < files.gl_pathc; i++) check_bad(files.gl_pathv[i]);
  globfree(&files);
}
