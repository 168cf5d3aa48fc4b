/* fuzz-syntax.c - any bytes at all through the reader of NESL, with libFuzzer (clang,
 * RAVEL_FUZZ).
 *
 * Every form of the input is read in turn. One that is refused is complained about once, and
 * reading goes on behind it; one that is accepted must read as an equal form from what
 * show_form writes. Run: fuzz-syntax CORPUS neslc/library
 */
#include "neslc/tests/syntax-tools.h"

#include <stdlib.h>

static void syntax_fail(const char *what, const struct reading_test *t) {
  fprintf(stderr, "fuzz-syntax: %s\n", what);
  diag_print(&t->diags, "fuzz-syntax", 0, stderr);
  abort();
}

static void check_written(const struct form *form, const struct reading_test *from) {
  struct reading_test t;
  struct form again;
  size_t length;
  char *text = shown_form(form, &length);
  reading_begin(&t, text, length);
  if (reading_next(&t, &again) != READ_FORM) {
    fwrite(text, 1, length, stderr);
    syntax_fail("what was written does not read", &t);
  }
  if (!same_form(form, &again)) {
    fwrite(text, 1, length, stderr);
    syntax_fail("what was written reads differently", from);
  }
  reading_end(&t);
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct reading_test t;
  struct form form;
  reading_begin(&t, (const char *)data, size);
  for (;;) {
    uint32_t before = t.reader.at;
    enum reading result = reading_next(&t, &form);
    if (result == READ_END) break;
    bool complained = t.complaints.count != 0;
    if (complained != (result != READ_FORM) || t.complaints.count > 1)
      syntax_fail("complaints", &t);
    if (result != READ_MORE && t.reader.at <= before) syntax_fail("no progress", &t);
    if (result == READ_MORE && t.reader.at >= size) break;
    if (result == READ_FORM) check_written(&form, &t);
  }
  reading_end(&t);
  return 0;
}
