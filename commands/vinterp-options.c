/* vinterp-options.c - the command line of vinterp: what its options mean. */
#include "commands/vinterp-options.h"
#include "base/number.h"
#include "commands/run-options.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPTIONS "commands/vinterp-options.def"
#include "commands/option-rows.h"

/* Complains in the name of the command. */
#define complain(...) usage_error("vinterp", __VA_ARGS__)

void options_help(FILE *out) {
  fputs("usage: vinterp [options] FILE [ARGUMENT...]\n"
        "Runs a VCODE or FCODE program and prints the values it leaves; FILE may be - for "
        "standard input.\n"
        "A program whose entry declares what it takes gets it from ARGUMENTs: files .npy, "
        ".npz or .csv, "
        "or\nvalues as they are printed: '(1 2 3)', '[2 1] (1 2 3)', 2.5, T.\n\n",
        out);
  arguments_help(rows, OPT_COUNT, out);
  fputs("\n-c, -m N and -g are accepted and have no effect.\n"
        "Exit status: 0 done, 1 an error was reported, 2 wrong usage, 130 interrupted.\n",
        out);
}

/* ---- values ---- */

static bool profile_value(const char *text, struct machine_options *m) {
  m->profile = true;
  m->undisturbed = text != NULL;
  if (!text || strcmp(text, "device") == 0) return true;
  return complain("--profile may be followed by =device, not '%.40s'", text);
}

static bool dump_value(const char *text, enum dump *dump) {
  if (!text || strcmp(text, "ir") == 0) {
    *dump = DUMP_LET_FORM;
  } else if (strcmp(text, "vcode") == 0) {
    *dump = DUMP_VCODE;
  } else {
    return complain("--dump must be ir or vcode, not '%.40s'", text);
  }
  return true;
}

/* Does what one option says; value is NULL if it has none. */
static bool vinterp_apply(void *options, unsigned id, const char *value) {
  struct command_options *o = options;
  struct machine_options *m = &o->machine;
  const struct run_options run_options = {m,          &o->backend_name, &o->seconds,
                                          &o->native, &o->tuning,       &o->tune_seconds};
  int64_t x;
  switch ((enum option_id)id) {
  case OPT_OPTIMISE: o->optimise = true; break;
  case OPT_NO_FUSION: o->no_fusion = true; break;
  case OPT_SOP: o->source.sop = value; break;
  case OPT_KERNELS: m->kernels = value; break;
  case OPT_TRACE: o->trace = value; break;
  case OPT_DEVICES: o->devices = true; break;
  case OPT_CHECK: o->check = true; break;
  case OPT_DUMP: return dump_value(value, &o->dump);
  case OPT_PROFILE: return profile_value(value, m);
  case OPT_JSON: o->json = true; break;
  case OPT_CHECKED: m->checked = true; break;
  case OPT_PROGRESS: m->progress_fd = STDERR_FILENO; break;
  case OPT_ELAPSED: o->elapsed = true; break;
  case OPT_OLD_CHECKS:
  case OPT_OLD_NOTICES: break;
  case OPT_OLD_MEMORY:
    if (!parse_int(value, strlen(value), 1, INT64_MAX, &x)) {
      return complain("-m must be a positive integer, not '%.40s'", value);
    }
    break;
#define OPTION(id, letter, name, argument, help)                                               \
  case OPT_##id:                                                                               \
    return run_option("vinterp", RUN_##id, value, &run_options);
#include "commands/run-options.def"
#undef OPTION
#define COMMAND "vinterp"
#include "commands/shared-cases.h"
  case OPT_COUNT: break;
  }
  return true;
}

/* ---- the whole command line ---- */

static bool lists_tuning(const struct command_options *o) {
  return o->tuning && strcmp(o->tuning, "list") == 0;
}

/* Checks the options beside --tune, which prints only what it tries. */
static bool vinterp_check_tune(const struct command_options *o) {
  if (o->tuning)
    return complain("--tune begins with the defaults: it does not go with --tuning");
  if (o->check || o->dump != DUMP_NOTHING || o->machine.profile || o->trace || o->elapsed ||
      o->machine.progress_fd >= 0) {
    return complain("--tune runs the program many times: it does not go with --check, --dump, "
                    "--profile, --trace, --progress and -t");
  }
  return !o->no_fusion || o->optimise || complain("--no-fusion goes with -O");
}

/* Checks conditions between options. */
static bool vinterp_check_together(const struct command_options *o) {
  if (o->shared.help || o->shared.version || o->devices || lists_tuning(o)) return true;
  if (!o->source.file) return complain("which program? FILE is missing");
  if (o->source.file[0] == '\0') return complain("the file name is empty");
  if (o->json && !o->machine.profile) return complain("--json goes with --profile");
  if (o->trace && o->machine.undisturbed) {
    return complain(
        "--trace waits for every instruction, --profile=device for none: one of them");
  }
  if (o->dump != DUMP_NOTHING && o->check) return complain("either --check or --dump");
  if (o->dump == DUMP_VCODE && o->optimise) {
    return complain("--dump=vcode prints the program as read; fcodeopt prints it optimised");
  }
  if (o->tune_seconds > 0) return vinterp_check_tune(o);
  if (o->no_fusion && !o->optimise) return complain("--no-fusion goes with -O");
  return true;
}

static bool vinterp_take_operand(void *options, const char *argument) {
  struct command_options *o = options;
  if (!o->source.file) {
    o->source.file = argument;
    return true;
  }
  if (o->argument_count == MOST_PROGRAM_ARGUMENTS)
    return complain("more than %d arguments", MOST_PROGRAM_ARGUMENTS);
  o->arguments[o->argument_count++] = argument;
  return true;
}

bool options_parse(struct command_options *o, int argc, char **argv) {
  *o = (struct command_options){.shared = shared_default_options(),
                                .machine = machine_default_options(),
                                .backend_name = "auto"};
  const struct command_line line = {.command = "vinterp",
                                    .rows = rows,
                                    .row_count = OPT_COUNT,
                                    .options = o,
                                    .apply = vinterp_apply,
                                    .operand = vinterp_take_operand};
  if (!arguments_parse(&line, argc, argv) || !vinterp_check_together(o)) return false;
  o->machine.memory_limit = o->shared.memory_limit;
  o->source.shared = &o->shared;
  return true;
}
