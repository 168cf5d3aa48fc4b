/* nesl-measure.c - --repeat and --times: prints and writes the times of repeated evaluations.
 */
#include "commands/nesl.h"
#include "commands/output.h"
#include "vinterp/report/json.h"

#include <stdlib.h>
#include <string.h>

struct measurement nesl_measurement(struct nesl *n) {
  const uint64_t runs = n->options->repeat;
  return (struct measurement){
      .load_seconds = n->load_seconds,
      .machine = {.runs = runs,
                  .counts = n->options->times != NULL,
                  .seconds = arena_alloc(n->session->arena, runs * sizeof(double))}};
}

static int names_by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print_line(const struct measurement *m, double *sorted) {
  const uint64_t runs = m->machine.runs;
  memcpy(sorted, m->machine.seconds, runs * sizeof *sorted);
  qsort(sorted, runs, sizeof *sorted, names_by_size);
  const double median = (sorted[(runs - 1) / 2] + sorted[runs / 2]) / 2;
  fprintf(stderr, "%llu run%s: median %.6g s (%.6g to %.6g)\n", (unsigned long long)runs,
          runs == 1 ? "" : "s", median, sorted[0], sorted[runs - 1]);
}

static void print_measurement_json(const struct nesl *n, const struct measurement *m,
                                   FILE *out) {
  const struct machine_repetition *r = &m->machine;
  const struct widths *w = &n->options->widths;
  fputs("{\"seconds\": [", out);
  for (uint64_t k = 0; k < r->runs; k++) fprintf(out, "%s%.9g", k ? ", " : "", r->seconds[k]);
  fprintf(out,
          "],\n \"first_seconds\": %.9g, \"compile_seconds\": %.9g, \"load_seconds\": %.9g,\n",
          r->first_seconds, m->compile_seconds, m->load_seconds);
  fprintf(out, " \"instructions\": %llu, \"work\": %llu, \"steps\": %llu,\n",
          (unsigned long long)r->totals.instructions, (unsigned long long)r->totals.work,
          (unsigned long long)r->totals.steps);
  fprintf(out, " \"launches\": %llu, \"waits\": %llu, \"peak_bytes\": %llu,\n",
          (unsigned long long)r->launches, (unsigned long long)r->waits,
          (unsigned long long)r->peak_bytes);
  fprintf(out, " \"threads\": %u, \"backend\": \"%s\", \"int\": %d, \"float\": %d", m->threads,
          m->backend, w->int_elem == CVL_I32 ? 32 : 64, w->float_elem == CVL_F32 ? 32 : 64);
  if (n->options->tuned.used) {
    fputs(",\n \"tuning\": ", out);
    json_string(out, n->options->tuned.path);
  }
  fputs("}\n", out);
}

bool nesl_report(struct nesl *n, const struct measurement *m) {
  struct output_file out;
  const char *file = n->options->times;
  fflush(n->out);
  print_line(m, arena_alloc(n->session->arena, m->machine.runs * sizeof(double)));
  if (!file) return true;
  if (!output_begin(&out, file, &n->diags)) return false;
  print_measurement_json(n, m, out.stream);
  return output_end(&out, file, &n->diags);
}
