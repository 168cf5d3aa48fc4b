/* trace.c - see trace.h. The format has times in microseconds. */
#include "vinterp/report/trace.h"

#include "vinterp/report/json.h"

#include <inttypes.h>

struct trace {
  struct heap *heap;
  FILE *out;
  double zero;
  uint64_t events, most;
};

struct trace *trace_new(struct heap *heap, FILE *out, double now, uint64_t most) {
  struct trace *t = heap_alloc(heap, sizeof *t);
  if (!t) return NULL;
  *t = (struct trace){.heap = heap, .out = out, .zero = now, .most = most};
  fputc('[', out);
  return t;
}

void trace_free(struct trace *t) {
  if (!t) return;
  fputs("\n]\n", t->out);
  fflush(t->out);
  heap_free(t->heap, t, sizeof *t);
}

static void begin_event(struct trace *t, const char *name, const char *category,
                        const char *phase, unsigned thread, double begin) {
  fputs(t->events++ > 0 ? ",\n{\"name\": " : "\n{\"name\": ", t->out);
  json_string(t->out, name);
  fputs(", \"cat\": ", t->out);
  json_string(t->out, category);
  fprintf(t->out, ", \"ph\": \"%s\", \"pid\": 1, \"tid\": %u, \"ts\": %.3f", phase, thread + 1,
          1e6 * (begin - t->zero));
}

void trace_write(struct trace *t, const struct trace_event *e) {
  if (t->events > t->most) return;
  if (t->events == t->most) {
    begin_event(t, "more instructions were executed, but not written", "trace", "i", 0,
                e->begin);
    fputs(", \"s\": \"g\"}", t->out);
    return;
  }
  begin_event(t, e->name, e->category, "X", e->thread, e->begin);
  fprintf(t->out, ", \"dur\": %.3f, \"args\": {\"line\": ", 1e6 * e->duration);
  json_string(t->out, e->line);
  fputs(", \"function\": ", t->out);
  json_string(t->out, e->function);
  fprintf(t->out, ", \"elements\": %" PRIu64, e->elements);
  if (e->formula) {
    fputs(", \"formula\": ", t->out);
    json_string(t->out, e->formula);
  }
  fputs("}}", t->out);
}
