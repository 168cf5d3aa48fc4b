/* diag.c - lists of diagnostics and their printed form. */
#include "base/diag.h"
#include "base/origin.h"

#include <stdarg.h>
#include <string.h>

void diag_list_init(struct diag_list *diags, struct arena *arena) {
  memset(diags, 0, sizeof *diags);
  diags->arena = arena;
}

/* The message when there is no memory for others. */
static const char no_memory[] = "out of memory";

void diag_add(struct diag_list *diags, enum severity severity, const char *file,
              struct source_pos pos, const struct origin *origin, const char *format, ...) {
  if (severity == SEVERITY_ERROR) diags->errors++;
  va_list args;
  va_start(args, format);
  /* Adding must not jump to the guard of the arena's owner: the caller is reporting an error.
   */
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump) == 0) {
    const char *message = arena_vprintf(diags->arena, format, args);
    *array_push(diags->arena, &diags->list) =
        (struct diag){severity, file, pos, origin, message};
    memory_guard_end(&guard);
  } else {
    diags->lost++;
  }
  va_end(args);
}

static const char *severity_text(enum severity severity) {
  switch (severity) {
  case SEVERITY_ERROR: return "error";
  case SEVERITY_WARNING: return "warning";
  case SEVERITY_NOTE: return "note";
  }
  return "";
}

static void print_location(const char *file, struct source_pos pos, FILE *stream) {
  fputs(file, stream);
  if (pos.line != 0) fprintf(stream, ":%u", pos.line);
  if (pos.line != 0 && pos.column != 0) fprintf(stream, ":%u", pos.column);
}

static void print_one(const struct diag *d, const char *program, FILE *stream) {
  if (d->severity == SEVERITY_NOTE) {
    fprintf(stream, "  %s\n", d->message);
    return;
  }
  if (d->origin != NULL) {
    print_location(d->origin->file, d->origin->pos, stream);
  } else if (d->file != NULL) {
    print_location(d->file, d->pos, stream);
  } else {
    fputs(program, stream);
  }
  fprintf(stream, ": %s: %s", severity_text(d->severity), d->message);
  if (d->origin != NULL && d->file != NULL) {
    fputs(" (at ", stream);
    print_location(d->file, d->pos, stream);
    fputs(")", stream);
  }
  fputs("\n", stream);
}

void diag_print(const struct diag_list *diags, const char *program, size_t limit,
                FILE *stream) {
  size_t errors = 0;
  for (size_t i = 0; i < diags->list.count; i++) {
    const struct diag *d = &diags->list.items[i];
    if (d->severity == SEVERITY_ERROR && limit != 0 && ++errors > limit) break;
    print_one(d, program, stream);
  }
  if (limit != 0 && diags->errors > limit) {
    fprintf(stream, "%s: error: %zu more errors not shown\n", program, diags->errors - limit);
  }
  const bool all_shown = limit != 0 && errors >= limit; /* the limit was reached */
  if (diags->lost != 0 && !all_shown) fprintf(stream, "%s: error: %s\n", program, no_memory);
}
