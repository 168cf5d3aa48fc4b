/* fcodeopt-options.c - the command line of fcodeopt: what its options mean. */
#include "commands/fcodeopt-options.h"

#include <string.h>

#define OPTIONS "commands/fcodeopt-options.def"
#include "commands/option-rows.h"

static const struct pass {
  const char *name, *what;
} passes[] = {
#define PASS(name, what) {#name, what},
#include "fcode-opt/passes.def"
    {"all", "each of them"},
};

enum { PASSES = sizeof passes / sizeof passes[0] };

static void passes_help(FILE *out) {
  fputs("\nPasses, for --print-after:\n", out);
  for (size_t i = 0; i < PASSES; i++)
    fprintf(out, "  %-18s %s\n", passes[i].name, passes[i].what);
}

void fcodeopt_options_help(FILE *out) {
  fputs(
      "usage: fcodeopt [options] FILE\n"
      "Optimises a VCODE program and writes it as FCODE, for vinterp to run; FILE may be - for "
      "standard\ninput, and the result then goes to standard output.\n\n",
      out);
  arguments_help(rows, OPT_COUNT, out);
  passes_help(out);
  fputs(
      "\nWhat --explain, --stats and --print-after say goes to standard output, or to standard "
      "error if\nthe program goes there.\n"
      "Exit status: 0 done, 1 an error was reported, 2 wrong usage, 130 interrupted.\n",
      out);
}

static bool pass_value(const char *text, const char **pass) {
  char names[128] = "";
  size_t used = 0;
  for (size_t i = 0; i < PASSES; i++) {
    if (strcmp(text, passes[i].name) == 0) {
      *pass = passes[i].name;
      return true;
    }
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                             i == 0            ? ""
                             : i == PASSES - 1 ? " or "
                                               : ", ",
                             passes[i].name);
  }
  return usage_error("fcodeopt", "--print-after must be %s, not '%.40s'", names, text);
}

static bool fcodeopt_apply(void *options, unsigned id, const char *value) {
  struct fcodeopt_options *o = options;
  int64_t x;
  switch ((enum option_id)id) {
  case OPT_OUTPUT: o->output = value; break;
  case OPT_NO_FUSION: o->optimiser.fuse = false; break;
  case OPT_INLINE:
    if (!int_value("fcodeopt", "inline", value, 0, 1000000, &x)) return false;
    o->optimiser.inline_limit = (unsigned)x;
    break;
  case OPT_SOP: o->source.sop = value; break;
  case OPT_EMIT_CPU: o->emit_cpu = value; break;
  case OPT_EMIT_CUDA: o->emit_cuda = value; break;
  case OPT_EXPLAIN: o->explain = true; break;
  case OPT_STATS: o->stats = true; break;
  case OPT_PRINT_AFTER: return pass_value(value, &o->optimiser.print_after);
  case OPT_VERIFY: o->optimiser.verify = true; break;
  case OPT_NO_VERIFY: o->optimiser.verify = false; break;
#define COMMAND "fcodeopt"
#include "commands/shared-cases.h"
  case OPT_COUNT: break;
  }
  return true;
}

/* Checks conditions between options. */
static bool fcodeopt_check_together(const struct fcodeopt_options *o) {
  if (o->shared.help || o->shared.version) return true;
  if (!o->source.file) return usage_error("fcodeopt", "which program? FILE is missing");
  if (o->source.file[0] == '\0') return usage_error("fcodeopt", "the file name is empty");
  if (o->output && o->output[0] == '\0')
    return usage_error("fcodeopt", "the name of the output is empty");
  if (o->emit_cuda && strcmp(o->emit_cuda, "-") == 0)
    return usage_error("fcodeopt", "--emit-cuda needs the name of a file");
  if (o->emit_cpu && strcmp(o->emit_cpu, "-") == 0)
    return usage_error("fcodeopt", "--emit-cpu needs the name of a file");
  return true;
}

bool fcodeopt_options_parse(struct fcodeopt_options *o, int argc, char **argv) {
  *o = (struct fcodeopt_options){.shared = shared_default_options(),
                                 .optimiser = fcode_opt_default_options()};
  o->source.shared = &o->shared;
  o->optimiser.origins = true;
  const struct command_line line = {.command = "fcodeopt",
                                    .rows = rows,
                                    .row_count = OPT_COUNT,
                                    .options = o,
                                    .apply = fcodeopt_apply,
                                    .file = &o->source.file};
  return arguments_parse(&line, argc, argv) && fcodeopt_check_together(o);
}
