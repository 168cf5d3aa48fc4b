/* show.c - the flattened form beside its source, for people.
 *
 * The let-form as ir/ prints it, with the source line and column of each operation; the source
 * line is shown where it changes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "neslc/flatten/flatten.h"

enum { LOCATION_COLUMN = 64 }; /* where source locations are printed, if there is room */

static const struct source *find_source(const struct source *const *sources, size_t count,
                                        const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(sources[i]->name, name) == 0) return sources[i];
  }
  return NULL;
}

/* Prints a line of the source without leading blanks. */
static void show_line(const struct source *s, uint32_t line, FILE *out) {
  size_t at = 0;
  for (uint32_t n = s->first_line; n < line && at < s->length; at++) n += s->text[at] == '\n';
  size_t end = at;
  while (end < s->length && s->text[end] != '\n') end++;
  while (at < end && s->text[at] == ' ') at++;
  fwrite(s->text + at, 1, end - at, out);
}

/* The origin number at the end of a printed line, and where its suffix begins; 0: none. */
static uint32_t origin_of_line(const char *line, size_t length, size_t *suffix) {
  static const char mark[] = " @0:0";
  *suffix = length;
  for (size_t i = length; i-- > 0;) {
    if (length - i < sizeof mark - 1 || memcmp(line + i, mark, sizeof mark - 1) != 0) continue;
    *suffix = i;
    const char *number = line + i + sizeof mark - 1;
    return *number == '#' ? (uint32_t)strtoul(number + 1, NULL, 10) : 0;
  }
  return 0;
}

struct shower {
  const struct ir_program *program;
  const struct source *const *sources;
  size_t count;
  const struct origin *last; /* that was shown; or NULL */
  FILE *out;
};

static void show_binding(struct shower *s, const char *line, size_t length) {
  size_t suffix;
  const uint32_t number = origin_of_line(line, length, &suffix);
  if (number == 0 || number >= s->program->origins.list.count ||
      origin_at(&s->program->origins, number)->pos.line == 0) {
    fprintf(s->out, "%.*s\n", (int)suffix, line);
    return;
  }
  const struct origin *o = origin_at(&s->program->origins, number);
  if (!s->last || o->pos.line != s->last->pos.line || strcmp(o->file, s->last->file) != 0) {
    const struct source *source = find_source(s->sources, s->count, o->file);
    fprintf(s->out, "\n; %s:%u  ", o->file, o->pos.line);
    if (source) show_line(source, o->pos.line, s->out);
    fputc('\n', s->out);
    s->last = o;
  }
  const int gap = suffix < LOCATION_COLUMN ? (int)(LOCATION_COLUMN - suffix) : 1;
  fprintf(s->out, "%.*s%*s; %u:%u\n", (int)suffix, line, gap, "", o->pos.line, o->pos.column);
}

/* The text of a function, a binding in each line. */
static void show_bindings(struct shower *s, const char *text, size_t length) {
  s->last = NULL;
  for (const char *line = text; line < text + length;) {
    const char *end = memchr(line, '\n', (size_t)(text + length - line));
    if (!end) end = text + length;
    show_binding(s, line, (size_t)(end - line));
    line = end + 1;
  }
  fputc('\n', s->out);
}

static void show_flat_function(struct shower *s, uint32_t function) {
  struct heap heap;
  struct text text;
  heap_init(&heap, 0);
  if (!text_begin(&text, &heap)) memory_failed();
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    text_free(&text);
    memory_failed();
  }
  ir_print_function(s->program, function, text.stream);
  if (!text_end(&text)) memory_failed();
  show_bindings(s, text.bytes, text.length);
  memory_guard_end(&guard);
  text_free(&text);
}

void flatten_show(const struct ir_program *program, const struct source *const *sources,
                  size_t count, FILE *out) {
  struct shower s = {program, sources, count, NULL, out};
  for (uint32_t i = 0; i < program->function_count; i++) show_flat_function(&s, i);
}
