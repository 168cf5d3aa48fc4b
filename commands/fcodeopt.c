/* fcodeopt.c - the command that optimises VCODE: options, loading, the optimiser, files. */
#include "commands/fcodeopt-options.h"
#include "commands/output.h"
#include "commands/process.h"
#include "vinterp/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- names ---- */

/* The result's name: PROGRAM.fcode or .ucode for PROGRAM.vcode, "-" for "-". False with a
 * diagnostic if there is none that will do. */
static bool choose_output(struct program *p, const struct fcodeopt_options *o, char *path,
                          size_t size) {
  const char *file = o->source.file;
  int length;
  if (o->output) {
    length = snprintf(path, size, "%s", o->output);
  } else if (strcmp(file, "-") == 0) {
    length = snprintf(path, size, "-");
  } else {
    const char *point = strrchr(file, '.');
    bool known = point && (strcmp(point, ".vcode") == 0 || strcmp(point, ".ucode") == 0 ||
                           strcmp(point, ".fcode") == 0);
    int stem = (int)(known ? (size_t)(point - file) : strlen(file));
    length = snprintf(path, size, "%.*s.%s", stem, file, o->optimiser.fuse ? "fcode" : "ucode");
  }
  if (length < 0 || (size_t)length >= size)
    return output_complain(&p->diags, file, ENAMETOOLONG);
  struct stat in, out;
  if (strcmp(path, "-") != 0 && strcmp(file, "-") != 0 && stat(file, &in) == 0 &&
      stat(path, &out) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino &&
      S_ISREG(in.st_mode)) {
    diag_add(&p->diags, SEVERITY_ERROR, file, (struct source_pos){0}, NULL,
             "the result would replace the program itself; name another file with -o");
    return false;
  }
  return true;
}

/* ---- what is said about it ---- */

static void print_stats(const struct fcode_opt_stats *s, FILE *out) {
  const struct {
    const char *what;
    uint64_t count;
  } rows[] = {
      {"functions before", s->functions_before},
      {"functions after", s->functions_after},
      {"instructions before", s->bindings_before},
      {"instructions after", s->bindings_after},
      {"calls inlined", s->inlined},
      {"instructions folded", s->folded},
      {"common subexpressions", s->common},
      {"branches decided", s->branches},
      {"dead instructions", s->dead},
      {"dead parameters", s->dead_parameters},
      {"dead results", s->dead_results},
      {"superoperators", s->superops},
      {"instructions fused", s->fused_instructions},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    fprintf(out, "%-24s %10llu\n", rows[i].what, (unsigned long long)rows[i].count);
  fprintf(out, "%-24s %10.2f\n", "milliseconds", 1e3 * s->seconds);
}

/* ---- the command ---- */

/* Puts the program as text into the file; false with diagnostics. */
static bool write_program(struct program *p, const struct ir_program *ir, const char *output) {
  const struct vcode_program *vcode = fcode_opt_stack_code(&p->arena, ir, &p->diags);
  if (!vcode) return false;
  char *text = NULL;
  size_t length = 0;
  FILE *memory = open_memstream(&text, &length);
  if (!memory) return output_complain(&p->diags, output, ENOMEM);
  vcode_print(vcode, memory);
  bool whole = !ferror(memory);
  whole = fclose(memory) == 0 && whole;
  bool fine = whole ? output_write(output, text, length, &p->diags)
                    : output_complain(&p->diags, output, ENOMEM);
  free(text);
  return fine;
}

static bool optimise(struct program *p, const struct fcodeopt_options *o) {
  char output[4096];
  if (!program_load(p, &o->source) || !choose_output(p, o, output, sizeof output)) return false;
  FILE *say = strcmp(output, "-") == 0 ? stderr : stdout;
  struct fcode_opt_options options = o->optimiser;
  options.dump = say;
  struct fcode_opt_stats stats;
  const struct ir_program *ir =
      fcode_opt(&p->arena, p->ir, &options, &stats, o->explain ? say : NULL, &p->diags);
  if (!ir || !write_program(p, ir, output)) return false;
  if (o->stats) print_stats(&stats, say);
  return true;
}

int main(int argc, char **argv) {
  process_begin();
  struct fcodeopt_options options;
  if (!fcodeopt_options_parse(&options, argc, argv)) return STATUS_USAGE;
  int status = STATUS_DONE;
  if (options.help) {
    fcodeopt_options_help(stdout);
  } else if (options.version) {
    puts("fcodeopt (Ravel) " RAVEL_VERSION);
  } else {
    struct program p;
    program_init(&p, machine_default_memory());
    if (!optimise(&p, &options)) status = STATUS_FAILED;
    diag_print(&p.diags, "fcodeopt", MAX_ERRORS_SHOWN, stderr);
    program_free(&p);
  }
  return process_end("fcodeopt", status);
}
