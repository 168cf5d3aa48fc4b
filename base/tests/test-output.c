/* test-output.c - bytes reach a file in their order, whatever their number. */
#include "base/output.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Appends n bytes to both, in one of three ways. */
static void output_append(struct output *o, char *wanted, size_t n, int way) {
  char bytes[2 * OUTPUT_BYTES + 1];
  for (size_t i = 0; i < n; i++) bytes[i] = (char)('a' + (n + i) % 26);
  bytes[n] = '\0';
  strcat(wanted, bytes);
  if (way == 0) {
    output_text(o, bytes);
  } else if (way == 1 || n > OUTPUT_BYTES) {
    output_bytes(o, bytes, n);
  } else {
    memcpy(output_room(o, n), bytes, n);
    o->used += n;
  }
}

Test(output, keeps_the_order_of_bytes) {
  static const size_t lengths[] = {0, 1, 17, OUTPUT_BYTES - 1, OUTPUT_BYTES, OUTPUT_BYTES + 1,
                                   3};
  enum { LENGTHS = sizeof lengths / sizeof *lengths };
  char *text, *wanted = calloc(1, (size_t)9 * LENGTHS * LENGTHS * OUTPUT_BYTES);
  size_t length;
  FILE *file = open_memstream(&text, &length);
  struct output o = {.file = file};
  for (int round = 0; round < 3 * LENGTHS * LENGTHS; round++) {
    output_append(&o, wanted, lengths[round % LENGTHS], round % 3);
    output_char(&o, '\n');
    strcat(wanted, "\n");
    output_append(&o, wanted, lengths[round / LENGTHS % LENGTHS], 1);
  }
  output_flush(&o);
  fclose(file);
  cr_expect_not(o.failed);
  cr_expect_str_eq(text, wanted);
  free(text);
  free(wanted);
}

Test(output, failure_is_kept) {
  struct output o = {.file = fopen("/dev/full", "w")};
  if (!o.file) cr_skip_test("no /dev/full here");
  setvbuf(o.file, NULL, _IONBF, 0);
  output_text(&o, "text");
  cr_expect_not(o.failed);
  output_flush(&o);
  output_flush(&o);
  cr_expect(o.failed);
  fclose(o.file);
}
