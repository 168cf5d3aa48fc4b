/* nesl-options.c - the command line of nesl: what its options mean. */
#include "commands/nesl-options.h"
#include "arrays/arrays.h"
#include "base/number.h"
#include "commands/nesl.h"
#include "commands/source.h"

#include <string.h>

#define OPTIONS "commands/nesl-options.def"
#include "commands/option-rows.h"

enum { DEFAULT_PRINT_LENGTH = 100, DEFAULT_PRINT_TOTAL = 1000 /* at the prompt */ };

void nesl_options_help(FILE *out) {
  fputs(
      "usage: nesl [options] [FILE...]          load the files, then read forms at a prompt\n"
      "       nesl [options] run FILE [ARGUMENT...]\n"
      "                                         run the forms of a file, for which arguments() "
      "is what follows\n"
      "       nesl [options] run FILE --entry F [ARGUMENT...] [-o RESULT...]\n"
      "                                         and call a function of it\n"
      "       nesl [options] -e EXPR            evaluate an expression\n"
      "       nesl [options] cost EXPR [FILE...]\n"
      "                                         evaluate it, and say what that costs\n"
      "       nesl [options] check FILE         look for errors, evaluate nothing\n"
      "       nesl [options] test FILE...       compare results with the comments beside "
      "them, and\n"
      "                                         try their properties on random data\n"
      "       nesl [options] --outcomes FILE    one line for each form\n\n",
      out);
  arguments_help(rows, OPT_COUNT, out);
  fputs("\nExit status: 0 done, 1 an error was reported, 2 wrong usage or a comment that is no "
        "property, 130 interrupted.\n",
        out);
}

/* ---- values ---- */

static bool count_value(const char *name, const char *text, int64_t least, int64_t most,
                        int64_t *x) {
  return int_value("nesl", name, text, least, most, x);
}

static bool echo_value(struct nesl_options *o, enum nesl_echo echo) {
  if (o->has_echo && o->echo != echo) {
    return usage_error("nesl",
                       "--echo prints every result, --quiet prints none: only one of them");
  }
  o->echo = echo;
  o->has_echo = true;
  return true;
}

static bool take_setting(struct nesl_options *o, const char *value) {
  char problem[ARRAY_PROBLEM_MAX];
  if (o->csv_count == NESL_MOST_SETTINGS) {
    return usage_error("nesl", "more than %d settings of --csv", NESL_MOST_SETTINGS);
  }
  if (!array_setting_check(value, problem)) return usage_error("nesl", "--csv: %s", problem);
  o->csv[o->csv_count++] = value;
  return true;
}

static bool nesl_apply(void *options, unsigned id, const char *value) {
  struct nesl_options *o = options;
  const struct run_options run_options = {&o->machine, &o->backend_name, &o->seconds,
                                          &o->native,  &o->tuning,       &o->tune_seconds};
  const char *name = rows[id].name;
  int64_t x = 0;
  bool ok = true;
  switch ((enum option_id)id) {
  case OPT_EXPRESSION: o->expression = value; break;
  case OPT_OUTCOMES: o->mode = NESL_OUTCOMES_OF; break;
  case OPT_ENTRY: o->entry = value; break;
  case OPT_OUTPUT:
    if (o->output_count == NESL_MOST_OUTPUTS) {
      return usage_error("nesl", "more than %d results", NESL_MOST_OUTPUTS);
    }
    if (!nesl_is_array_file(value)) {
      return usage_error("nesl", "-o writes .npy, .npz and .csv files, not '%.40s'", value);
    }
    o->outputs[o->output_count++] = value;
    break;
  case OPT_ECHO:
  case OPT_QUIET: return echo_value(o, id == OPT_ECHO ? NESL_ECHO_FORMS : NESL_ECHO_NOTHING);
  case OPT_CSV: return take_setting(o, value);
  case OPT_REPEAT:
    ok = count_value(name, value, 1, NESL_MOST_RUNS, &x);
    o->repeat = (uint64_t)x;
    break;
  case OPT_TIMES: o->times = value; break;
  case OPT_CASES:
    ok = count_value(name, value, 1, NESL_MOST_CASES, &x);
    o->cases = (uint64_t)x;
    break;
  case OPT_SIZE:
    ok = count_value(name, value, 1, NESL_MOST_CASES, &x);
    o->size = (uint64_t)x;
    break;
  case OPT_ONLY: o->only = value; break;
  case OPT_DIRECT: o->direct = true; break;
  case OPT_PLAIN: o->optimise = false; break;
  case OPT_NO_FUSION: o->no_fusion = true; break;
  case OPT_UNCHECKED: o->unchecked = true; break;
  case OPT_OVERFLOW: o->check_overflow = true; break;
  case OPT_LENGTH:
    ok = count_value(name, value, 0, INT64_MAX, &x);
    o->print_length = x > 0 ? UINT64_MAX : 0;
    o->print_total = (uint64_t)x;
    break;
  case OPT_DIGITS:
    ok = count_value(name, value, 1, FLOAT_MOST_DIGITS, &x);
    o->digits = (unsigned)x;
    break;
#define OPTION(id, letter, name, argument, help)                                               \
  case OPT_##id:                                                                               \
    return run_option("nesl", RUN_##id, value, &run_options);
#include "commands/run-options.def"
#undef OPTION
#define OPTION(id, letter, name, argument, help)                                               \
  case OPT_##id:                                                                               \
    return shared_option("nesl", SHARED_##id, value, &o->shared);
#include "commands/shared-options.def"
#undef OPTION
  case OPT_COUNT: break;
  }
  return ok;
}

/* ---- the whole command line ---- */

/* The first argument that is no option may be a subcommand. */
static bool nesl_take_operand(void *options, const char *argument) {
  static const struct {
    const char *word;
    enum nesl_mode mode;
  } words[] = {
      {"run", NESL_RUN}, {"check", NESL_CHECK}, {"test", NESL_TEST}, {"cost", NESL_COST}};
  struct nesl_options *o = options;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (o->operand_count > 0 || o->mode != NESL_PROMPT) break;
    if (strcmp(argument, words[i].word) != 0) continue;
    o->mode = words[i].mode;
    return true;
  }
  if (o->operand_count == NESL_MOST_OPERANDS) {
    return usage_error("nesl", "more than %d files or arguments", NESL_MOST_OPERANDS);
  }
  o->operands[o->operand_count++] = argument;
  return true;
}

/* Behind a program that is run everything is the program's; but options of nesl may stand
 * directly behind it; of a script, whose command line is its own, --entry only. */
static bool nesl_take_operands(void *options, char **from, int count) {
  struct nesl_options *o = options;
  if (o->mode != NESL_RUN || o->entry || o->expression || o->operand_count == 0) return false;
  const bool calls = strncmp(from[0], "--entry", strlen("--entry")) == 0;
  const bool is_option = arguments_has(rows, OPT_COUNT, from[0]);
  if (is_option && (calls || !source_is_script(o->operands[0]))) return false;
  const bool ended = strcmp(from[0], "--") == 0;
  o->machine.arguments = (const char *const *)from + ended;
  o->machine.argument_count = (size_t)(count - ended);
  return true;
}

static const char *mode_word(enum nesl_mode mode) {
  switch (mode) {
  case NESL_PROMPT: break;
  case NESL_RUN: return "run";
  case NESL_CHECK: return "check";
  case NESL_TEST: return "test";
  case NESL_COST: return "cost";
  case NESL_OUTCOMES_OF: return "--outcomes";
  }
  return "nesl";
}

/* Checks the options that measure, or make fast, against the others. */
static bool check_measuring(const struct nesl_options *o) {
  if (o->repeat > 0 && !o->expression && !o->entry) {
    return usage_error("nesl", "--repeat goes with -e and --entry, which have a result");
  }
  if (o->times && o->repeat == 0) return usage_error("nesl", "--times goes with --repeat");
  if (o->repeat > 0 && o->direct) {
    return usage_error("nesl",
                       "--repeat measures compiled programs; --direct compiles nothing");
  }
  const bool compiles = o->native == NATIVE_BESIDE || o->native == NATIVE_BEFORE;
  if (compiles && (o->no_fusion || !o->optimise || o->direct)) {
    return usage_error("nesl", "--native compiles superoperators, and there will be none");
  }
  return true;
}

/* Checks the options beside --tune, which prints only what it tries. */
static bool nesl_check_tune(const struct nesl_options *o) {
  if (o->tuning) {
    return usage_error("nesl", "--tune begins with the defaults: it does not go with --tuning");
  }
  if (o->mode != NESL_RUN) return usage_error("nesl", "--tune goes with run and -e");
  if (o->direct) return usage_error("nesl", "--direct compiles nothing: nothing is tuned");
  return (o->repeat == 0 && o->output_count == 0) ||
         usage_error("nesl",
                     "--tune runs the program many times: it does not go with --repeat, "
                     "--times and -o");
}

/* Sets the echo if no option does; returns false if an option for it has no meaning. */
static bool settle_echo(struct nesl_options *o) {
  const bool runs = o->mode == NESL_RUN || o->expression;
  if (o->has_echo && !runs) {
    return usage_error("nesl", "--echo and --quiet go with run and -e, not with %s",
                       o->mode == NESL_PROMPT ? "the prompt" : mode_word(o->mode));
  }
  const bool file = o->mode == NESL_RUN && !o->expression && !o->entry;
  if (!o->has_echo) o->echo = file ? NESL_ECHO_VALUE : NESL_ECHO_FORMS;
  return true;
}

void nesl_count_costs(struct machine_options *o) {
  o->profile = true;
  o->chunks.mode = MACHINE_CHUNKS_OFF;
  o->procedures = MACHINE_PROCEDURES_OFF;
}

/* Checks conditions between options. */
static bool check_modes(struct nesl_options *o) {
  if (!check_measuring(o)) return false;
  if (o->unchecked && o->check_overflow)
    return usage_error("nesl", "--unchecked leaves out the checks of --check-overflow");
  if ((o->cases || o->size || o->only) && o->mode != NESL_TEST) {
    return usage_error("nesl", "--cases, --size and --only go with test");
  }
  if (o->output_count > 0 && !o->expression && !o->entry) {
    return usage_error("nesl", "-o goes with -e and --entry, which have a result");
  }
  if (o->csv_count > 0 && !o->expression && !o->entry) {
    return usage_error("nesl",
                       "--csv goes with -e and --entry; in programs, read_csv and write_csv "
                       "have optional arguments");
  }
  if (o->mode == NESL_COST && !o->expression) {
    if (o->operand_count == 0) return usage_error("nesl", "cost of what? EXPR is missing");
    if (o->direct) return usage_error("nesl", "cost evaluates in both ways already");
    nesl_count_costs(&o->machine);
    return !o->entry || usage_error("nesl", "--entry goes with run");
  }
  if (o->expression) {
    if (o->mode == NESL_PROMPT) o->mode = NESL_RUN;
    if (o->mode != NESL_RUN || o->entry) {
      return usage_error("nesl", "-e goes with nothing but files to load first");
    }
    return true;
  }
  if (o->mode != NESL_PROMPT && o->operand_count == 0) {
    return usage_error("nesl", "%s which program? FILE is missing", mode_word(o->mode));
  }
  if (o->entry && o->mode != NESL_RUN)
    return usage_error("nesl", "--entry goes with run: nesl run FILE --entry %.40s", o->entry);
  const bool one = o->mode != NESL_PROMPT && o->mode != NESL_TEST && !o->entry;
  if (one && o->operand_count > 1) {
    return usage_error("nesl", "one program at a time: %.200s or %.200s?", o->operands[0],
                       o->operands[1]);
  }
  if (o->no_fusion && !o->optimise) {
    return usage_error("nesl", "--no-optimise makes no superoperators anyway");
  }
  if (o->direct && (o->no_fusion || !o->optimise)) {
    return usage_error("nesl", "--direct compiles nothing: there is nothing to optimise");
  }
  return true;
}

/* Sets how values are printed where no option does. */
static void settle_printing(struct nesl_options *o) {
  if (o->print_total == UINT64_MAX)
    o->print_total = o->mode == NESL_PROMPT ? DEFAULT_PRINT_TOTAL : 0;
  const bool exact = !o->shared.classic && o->mode != NESL_OUTCOMES_OF;
  if (o->digits == 0 && !exact) o->digits = FLOAT_DIGITS;
}

static bool nesl_check_together(struct nesl_options *o) {
  if (o->shared.help || o->shared.version) return true;
  return check_modes(o) && settle_echo(o) && (o->tune_seconds == 0 || nesl_check_tune(o));
}

/* The command that permits a program to open files, for messages, if it fits in a line. */
static void name_permitting(struct nesl_options *o) {
  const int length = snprintf(o->permitting, sizeof o->permitting, "nesl --allow-files run %s",
                              o->operands[0]);
  if (length > 0 && (size_t)length < sizeof o->permitting)
    o->machine.permissions.permitting = o->permitting;
}

void nesl_options_settle(struct nesl_options *o) {
  o->machine.memory_limit = o->shared.memory_limit;
  o->widths = o->shared.widths;
  o->classic = o->shared.classic;
}

bool nesl_options_parse(struct nesl_options *o, int argc, char **argv) {
  *o = (struct nesl_options){.shared = shared_default_options(),
                             .machine = machine_default_options(),
                             .backend_name = "auto",
                             .optimise = true,
                             .print_length = DEFAULT_PRINT_LENGTH,
                             .print_total = UINT64_MAX};
  const struct command_line line = {.command = "nesl",
                                    .rows = rows,
                                    .row_count = OPT_COUNT,
                                    .options = o,
                                    .apply = nesl_apply,
                                    .operand = nesl_take_operand,
                                    .take_rest = nesl_take_operands};
  if (!arguments_parse(&line, argc, argv) || !nesl_check_together(o)) return false;
  nesl_options_settle(o);
  settle_printing(o);
  if (o->mode == NESL_RUN && !o->expression && !o->entry) name_permitting(o);
  return true;
}
