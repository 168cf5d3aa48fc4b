/* fcodeopt.c - the command that optimises VCODE: it reads options, loads, optimises and writes
 * files. */
#include "commands/fcodeopt-options.h"
#include "commands/output.h"
#include "commands/process.h"
#include "fused-kernels/emit.h"
#include "fused-kernels/fused.h"
#include "vinterp/machine.h"

#include <errno.h>
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

static bool fcodeopt_write(struct program *p, const struct vcode_program *vcode,
                           const char *output) {
  struct output_file o;
  if (!output_begin(&o, output, &p->diags)) return false;
  vcode_print(vcode, o.stream);
  return output_end(&o, output, &p->diags);
}

/* The superoperators as they stand in the file that was written, with its numbers. */
static const struct superop *const *read_superops(struct program *p,
                                                  struct vcode_program *vcode) {
  const struct superop **ops = arena_alloc(&p->arena, vcode->fused_count * sizeof *ops);
  for (uint32_t i = 0; i < vcode->fused_count; i++) {
    ops[i] = fused_parse(&p->arena, vcode, &vcode->fused[i], &p->diags);
    if (!ops[i]) return NULL;
  }
  return ops;
}

typedef void emit_superops(struct arena *, const struct superop *const *, uint32_t count,
                           struct widths, FILE *);

/* Writes the superoperators into a file to be compiled ahead of time, if one is named. */
static bool emit_to_file(struct program *p, const char *file, emit_superops *write,
                         struct vcode_program *vcode) {
  if (!file) return true;
  const struct superop *const *ops = read_superops(p, vcode);
  struct output_file out;
  if (!ops || !output_begin(&out, file, &p->diags)) return false;
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    output_abandon(&out);
    return output_complain(&p->diags, file, ENOMEM);
  }
  write(&p->arena, ops, vcode->fused_count, p->widths, out.stream);
  memory_guard_end(&guard);
  return output_end(&out, file, &p->diags);
}

/* The optimised program as stack code, or NULL; what is said on the way goes to `say`. */
static struct vcode_program *make_optimised(struct program *p, const struct fcodeopt_options *o,
                                            FILE *say, struct fcode_opt_stats *stats) {
  struct fcode_opt_options options = o->optimiser;
  options.dump = say;
  const struct ir_program *ir =
      fcode_opt(&p->arena, p->ir, &options, stats, o->explain ? say : NULL, &p->diags);
  return ir ? fcode_opt_stack_code(&p->arena, ir, &p->diags) : NULL;
}

static bool optimise(struct program *p, const struct fcodeopt_options *o) {
  char *output = p->output_path;
  struct fcode_opt_stats stats;
  struct vcode_program *vcode = NULL;
  FILE *say = NULL;
  p->heap.stop = process_stop();
  if (program_load(p, &o->source) && choose_output(p, o, output, sizeof p->output_path)) {
    say = strcmp(output, "-") == 0 ? stderr : stdout;
    vcode = make_optimised(p, o, say, &stats);
  }
  p->heap.stop = NULL; /* no memory guard is active from here on */
  if (!vcode) return program_stopped(p, o->source.file);
  if (!fcodeopt_write(p, vcode, output) ||
      !emit_to_file(p, o->emit_cuda, fused_emit_cuda, vcode) ||
      !emit_to_file(p, o->emit_cpu, fused_emit_cpu, vcode)) {
    return program_stopped(p, o->source.file);
  }
  if (o->stats) print_stats(&stats, say);
  return true;
}

static bool optimise_guarded(struct program *p, const struct fcodeopt_options *o) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return output_complain(&p->diags, o->source.file, ENOMEM);
  const bool fine = optimise(p, o);
  memory_guard_end(&guard);
  return fine;
}

static int fcodeopt_command(int argc, char **argv) {
  struct fcodeopt_options options;
  if (!fcodeopt_options_parse(&options, argc, argv)) return STATUS_USAGE;
  if (shared_answered(&options.shared, fcodeopt_options_help,
                      "fcodeopt (Ravel) " RAVEL_VERSION)) {
    return STATUS_DONE;
  }
  int status = STATUS_DONE;
  struct program p;
  program_init(&p, options.shared.memory_limit ? options.shared.memory_limit
                                               : machine_default_memory());
  if (!optimise_guarded(&p, &options)) status = process_failed();
  diag_print(&p.diags, "fcodeopt", MAX_ERRORS_SHOWN, stderr);
  program_free(&p);
  return status;
}

int main(int argc, char **argv) {
  return process_main("fcodeopt", fcodeopt_command, argc, argv);
}
