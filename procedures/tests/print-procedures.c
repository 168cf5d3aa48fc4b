/* print-procedures.c - print-procedures FILE.fcode: writes the C text of a program's procedures
 * to standard output, and to standard error which of its lifted functions have one.
 */
#include "procedures/procedures.h"

#include "base/heap.h"

#include <stdlib.h>

static char *read_all(const char *path, size_t *length) {
  FILE *file = fopen(path, "r");
  if (!file) return NULL;
  char *text = NULL;
  size_t room = 0, got;
  *length = 0;
  do {
    room = 2 * room + 4096;
    text = realloc(text, room);
    if (!text) abort();
    got = fread(text + *length, 1, room - *length, file);
    *length += got;
  } while (*length == room);
  fclose(file);
  return text;
}

struct reading {
  const char *path, *text;
  size_t length;
  int status;
};

static void report(const struct ir_program *program, const struct procedures *p, bool some) {
  for (uint32_t f = 0; f < program->function_count; f++) {
    const struct ir_function *function = &program->functions[f];
    if (!function->instances) continue;
    fprintf(stderr, "%s: %s\n", function->name->text,
            ir_procedure(function) == IR_NO_PROCEDURE ? "no procedure"
            : some && p->of[f]                        ? "native"
                                                      : "procedure that is not native");
  }
}

static void print(struct arena *arena, void *with) {
  struct reading *r = with;
  struct diag_list diags;
  struct procedures p = {0};
  struct widths widths = {CVL_I64, CVL_F64};
  diag_list_init(&diags, arena);
  vcode_recorded_widths(r->text, r->length, &widths);
  struct vcode_program *vcode =
      vcode_parse(arena, r->path, r->text, r->length, widths, &diags);
  struct ir_program *program = vcode ? ir_build(arena, vcode, widths, &diags) : NULL;
  if (program) {
    const bool some = procedures_make(arena, program, &p);
    if (some) fwrite(p.text, 1, p.length, stdout);
    report(program, &p, some);
    r->status = 0;
  } else {
    fprintf(stderr, "%s: not a program\n", r->path);
  }
}

int main(int argc, char **argv) {
  struct reading r = {.path = argv[1], .status = 1};
  struct heap heap;
  if (argc != 2 || !(r.text = read_all(argv[1], &r.length))) {
    fputs("usage: print-procedures FILE.fcode\n", stderr);
    return 2;
  }
  heap_init(&heap, 0);
  arena_with(&heap, print, &r);
  free((void *)(uintptr_t)r.text);
  return r.status;
}
