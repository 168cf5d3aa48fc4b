/* test-tuning.c - the table of tuning values, and which parts of a text are refused. */
#include "cvl/tuning.h"

#include "base/diag.h"

#include <criterion/criterion.h>
#include <string.h>

/* The values that a text sets, and the first message. */
struct outcome {
  struct tuning values;
  bool fine;
  char message[256];
  struct source_pos at;
};

static struct outcome test_tuning_parse(const char *text) {
  struct outcome o = {.message = ""};
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
  heap_init(&heap, 0);
  arena_init(&arena, &heap);
  diag_list_init(&diags, &arena);
  o.fine = tuning_parse("a.tuning", text, strlen(text), &o.values, &diags);
  if (diags.list.count > 0) {
    snprintf(o.message, sizeof o.message, "%s", diags.list.items[0].message);
    o.at = diags.list.items[0].pos;
  }
  arena_free(&arena);
  return o;
}

static void tuning_refused(const char *text, unsigned line, unsigned column,
                           const char *message) {
  const struct outcome o = test_tuning_parse(text);
  cr_expect(!o.fine, "'%s'", text);
  cr_expect_str_eq(o.message, message, "'%s': %s", text, o.message);
  cr_expect(o.at.line == line && o.at.column == column, "'%s': %u:%u", text, o.at.line,
            o.at.column);
}

Test(tuning, defaults_are_legal) {
  for (unsigned id = 0; id < TUNING_COUNT; id++) {
    const uint64_t value = tuning_default((enum tuning_id)id);
    cr_expect(tuning_is_legal((enum tuning_id)id, value), "%s",
              tuning_info((enum tuning_id)id)->name);
  }
}

/* If a value is not set, it is 0, too. */
Test(tuning, zero_is_the_default_or_not_legal) {
  for (unsigned id = 0; id < TUNING_COUNT; id++) {
    const bool legal = tuning_is_legal((enum tuning_id)id, 0);
    cr_expect_eq(legal, tuning_info((enum tuning_id)id)->choice);
    cr_expect(!legal || tuning_default((enum tuning_id)id) == 0);
  }
}

Test(tuning, a_choice_may_be_named_by_0) {
  const struct outcome o = test_tuning_parse("cuda.scan-kernel 3\ncuda.scan-kernel 0\n");
  cr_expect(o.fine && o.values.value[TUNE_CUDA_SCAN_KERNEL] == 0, "%s", o.message);
  tuning_refused("cuda.reduce-kernel 8\n", 1, 20,
                 "cuda.reduce-kernel is an integer from 0 to 7, not '8'");
}

Test(tuning, bounds_are_legal_and_what_lies_outside_is_not) {
  for (unsigned id = 0; id < TUNING_COUNT; id++) {
    const struct tuning_row *row = tuning_info((enum tuning_id)id);
    cr_expect(tuning_is_legal((enum tuning_id)id, row->least), "%s", row->name);
    cr_expect(tuning_is_legal((enum tuning_id)id, row->most), "%s", row->name);
    cr_expect(
        !tuning_is_legal((enum tuning_id)id, row->power ? row->least / 2 : row->least - 1),
        "%s", row->name);
    cr_expect(!tuning_is_legal((enum tuning_id)id, 2 * row->most), "%s", row->name);
    cr_expect(!row->power || !tuning_is_legal((enum tuning_id)id, row->most - 1), "%s",
              row->name);
  }
}

Test(tuning, values_are_set_and_others_are_defaults) {
  const struct outcome o =
      test_tuning_parse("# a comment\n\n  cpu.chunk-bytes 512K # another\n"
                        "cpu.lone-bytes\t8M\r\ncpu.spin-rounds 7\ncuda.window 32\n");
  cr_assert(o.fine, "%s", o.message);
  const struct tuning all = tuning_complete(&o.values);
  cr_expect(all.value[TUNE_CPU_CHUNK_BYTES] == 512 << 10);
  cr_expect(all.value[TUNE_CPU_LONE_BYTES] == 8 << 20);
  cr_expect(all.value[TUNE_CPU_SPIN_ROUNDS] == 7);
  cr_expect(all.value[TUNE_CUDA_WINDOW] == 32);
  cr_expect(o.values.value[TUNE_CPU_SERIAL_BYTES] == 0);
  cr_expect(all.value[TUNE_CPU_SERIAL_BYTES] == tuning_default(TUNE_CPU_SERIAL_BYTES));
}

Test(tuning, the_last_line_of_several_counts) {
  const struct outcome o = test_tuning_parse("cuda.window 32\ncuda.window 128\n");
  cr_expect(o.fine && o.values.value[TUNE_CUDA_WINDOW] == 128);
}

Test(tuning, an_empty_text_sets_nothing) {
  cr_expect(test_tuning_parse("").fine);
  cr_expect(test_tuning_parse("# nothing\n").fine);
}

Test(tuning, what_is_refused) {
  tuning_refused("cpu.chunk-byte 512K\n", 1, 1,
                 "there is no tuning value 'cpu.chunk-byte'; vinterp --tuning=list lists them");
  tuning_refused("\ncuda.scan-threads 256\n", 2, 1,
                 "'cuda.scan-threads' is compiled in and cannot be set");
  tuning_refused("cpu.chunk-bytes 300000\n", 1, 17,
                 "cpu.chunk-bytes is a power of two from 16K to 64M, not '300000'");
  tuning_refused("cpu.chunk-bytes 128M\n", 1, 17,
                 "cpu.chunk-bytes is a power of two from 16K to 64M, not '128M'");
  tuning_refused("cpu.chunk-bytes 0\n", 1, 17,
                 "cpu.chunk-bytes is a power of two from 16K to 64M, not '0'");
  tuning_refused("cpu.chunk-bytes -4\n", 1, 17,
                 "cpu.chunk-bytes is a power of two from 16K to 64M, not '-4'");
  tuning_refused("cpu.chunk-bytes many\n", 1, 17,
                 "cpu.chunk-bytes is a power of two from 16K to 64M, not 'many'");
  tuning_refused("cpu.chunk-bytes K\n", 1, 17,
                 "cpu.chunk-bytes is a power of two from 16K to 64M, not 'K'");
  tuning_refused(
      "cpu.stream-bytes 99999999999999999999G\n", 1, 18,
      "cpu.stream-bytes is a power of two from 4K to 1024G, not '99999999999999999999G'");
  tuning_refused(
      "cpu.stream-bytes 18014398509481988K\n", 1, 18, /* 2^64 + 4096 */
      "cpu.stream-bytes is a power of two from 4K to 1024G, not '18014398509481988K'");
  tuning_refused("cpu.spin-rounds 1000001\n", 1, 17,
                 "cpu.spin-rounds is an integer from 1 to 1000000, not '1000001'");
  tuning_refused("cpu.chunk-bytes\n", 1, 16,
                 "cpu.chunk-bytes has no value: it is a power of two from 16K to 64M");
  tuning_refused("cpu.chunk-bytes 512K 3\n", 1, 22,
                 "a line has one name and one value: what is this?");
}

Test(tuning, a_text_that_was_cut_off_is_refused) {
  static const char text[] = "cpu.serial-bytes 64K\ncpu.chunk-bytes 512K\n";
  for (size_t length = 1; length < sizeof text - 1; length++) {
    char cut[sizeof text] = "";
    memcpy(cut, text, length);
    const bool whole_lines = cut[length - 1] == '\n';
    cr_expect(test_tuning_parse(cut).fine == whole_lines, "'%s'", cut);
  }
  tuning_refused("cpu.serial-bytes 64K\ncpu.chunk-bytes 16", 2, 0,
                 "the file ends in the middle of a line");
}

/* Lists values, and reads the list. */
static struct outcome list_and_parse(const struct tuning *values) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  tuning_list(values, out);
  fclose(out);
  const struct outcome o = test_tuning_parse(text);
  cr_expect(o.fine, "%s", o.message);
  free(text);
  return o;
}

Test(tuning, what_is_listed_can_be_read) {
  struct tuning some = {0};
  const struct outcome none = list_and_parse(&some);
  cr_expect(memcmp(&none.values, &some, sizeof some) == 0);
  for (unsigned id = 0; id < TUNING_COUNT; id++) {
    const struct tuning_row *row = tuning_info((enum tuning_id)id);
    const bool is_least = tuning_default((enum tuning_id)id) == row->least;
    some.value[id] = is_least ? row->most : row->least;
  }
  const struct outcome o = list_and_parse(&some);
  cr_expect(memcmp(&o.values, &some, sizeof some) == 0);
}

Test(tuning, a_back_end_reads_its_own_values) {
  cr_expect(tuning_concerns(TUNE_CPU_CHUNK_BYTES, "cpu"));
  cr_expect(!tuning_concerns(TUNE_CPU_CHUNK_BYTES, "cuda-ptx"));
  cr_expect(tuning_concerns(TUNE_CUDA_WINDOW, "cuda"));
  cr_expect(!tuning_concerns(TUNE_CUDA_WINDOW, "cpu"));
  cr_expect(!tuning_concerns(TUNE_CUDA_OPEN_ELEMENTS, "cuda"));
  cr_expect(!tuning_concerns(TUNE_CUDA_REDUCE_KERNEL, "cuda"));
  cr_expect(tuning_concerns(TUNE_CUDA_REDUCE_KERNEL, "cuda-variants"));
}
