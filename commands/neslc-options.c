/* neslc-options.c - the command line of neslc: what its options mean. */
#include "commands/neslc-options.h"

#include <string.h>

#define OPTIONS "commands/neslc-options.def"
#include "commands/option-rows.h"

void neslc_options_help(FILE *out) {
  fputs("usage: neslc [options] FILE.nesl\n"
        "Compiles an expression or a function of a NESL program to VCODE, for vinterp and "
        "fcodeopt;\nFILE may be - for standard input, and the result then goes to standard "
        "output. With --library\nfunctions of a NESL program become functions of C.\n\n",
        out);
  arguments_help(rows, OPT_COUNT, out);
  fputs("\nWhat --print-after and --explain print goes to standard output, or to standard "
        "error if the "
        "program goes there.\n"
        "Exit status: 0 done, 1 an error was reported, 2 wrong usage, 130 interrupted.\n",
        out);
}

static bool phase_value(const char *text, struct neslc_options *o) {
  bool all = strcmp(text, "all") == 0;
  bool parse = all || strcmp(text, "parse") == 0;
  bool check = all || strcmp(text, "check") == 0;
  bool flatten = all || strcmp(text, "flatten") == 0;
  o->after_parse |= parse;
  o->after_check |= check;
  o->after_flatten |= flatten;
  if (parse || check || flatten) return true;
  return usage_error("neslc", "--print-after must be parse, check, flatten or all, not '%.40s'",
                     text);
}

static bool add_entry(const char *value, struct neslc_options *o) {
  if (o->entry_count == NESLC_MOST_ENTRIES) {
    return usage_error("neslc", "at most %d functions, by --entry", NESLC_MOST_ENTRIES);
  }
  o->entries[o->entry_count++] = value;
  o->entry = o->entries[0];
  return true;
}

static bool kernels_value(const char *value, struct neslc_options *o) {
#ifdef __x86_64__
  o->kernels = "x86-64-v3";
#else
  o->kernels = "";
#endif
  if (!value) return true;
  o->kernels = value;
  return value[0] ||
         usage_error("neslc", "--kernels may be followed by =ARCH, a name for -march");
}

static bool neslc_apply(void *options, unsigned id, const char *value) {
  struct neslc_options *o = options;
  switch ((enum option_id)id) {
  case OPT_OUTPUT: o->output = value; break;
  case OPT_EXPRESSION: o->expression = value; break;
  case OPT_ENTRY: return add_entry(value, o);
  case OPT_LIBRARY: o->library = value; break;
  case OPT_KERNELS: return kernels_value(value, o);
  case OPT_PORTABLE:
    o->portable = true;
    shared_classic(&o->session.shared);
    break;
  case OPT_UNCHECKED: o->session.unchecked = true; break;
  case OPT_OVERFLOW: o->session.check_overflow = true; break;
  case OPT_NO_FUSION: o->no_fusion = true; break;
  case OPT_EXPLAIN: o->explain = true; break;
  case OPT_PRINT_AFTER: return phase_value(value, o);
#define OPTION(id, letter, name, argument, help)                                               \
  case OPT_##id:                                                                               \
    return shared_option("neslc", SHARED_##id, value, &o->session.shared);
#include "commands/shared-options.def"
#undef OPTION
  case OPT_COUNT: break;
  }
  return true;
}

/* A name of C; the prefix ravel_ is ravel.h's. */
static bool neslc_options_is_library_name(const char *name) {
  static const char letters[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  const size_t length = strspn(name, letters);
  if (length == 0 || name[length] || strchr(letters + 53, name[0])) return false;
  return strcmp(name, "ravel") != 0 && strncmp(name, "ravel_", 6) != 0;
}

static bool check_library(const struct neslc_options *o) {
  if (o->kernels && !o->library) return usage_error("neslc", "--kernels goes with --library");
  if (!o->library) {
    return o->entry_count <= 1 || usage_error("neslc", "one --entry, or --library");
  }
  if (!neslc_options_is_library_name(o->library)) {
    return usage_error("neslc",
                       "--library must be a name of C, not beginning with ravel, "
                       "and not '%.40s'",
                       o->library);
  }
  if (!o->entry) return usage_error("neslc", "which functions? --library needs --entry");
  if (o->portable || o->after_check || o->after_flatten) {
    return usage_error("neslc", "--library goes with neither --portable nor --print-after");
  }
  if (o->no_fusion || o->explain) {
    return usage_error("neslc", "--library goes with neither --no-fusion nor --explain");
  }
  return true;
}

/* Checks conditions between options. */
static bool neslc_check_together(const struct neslc_options *o) {
  if (o->session.shared.help || o->session.shared.version) return true;
  if (!o->file) return usage_error("neslc", "which program? FILE is missing");
  if (o->file[0] == '\0') return usage_error("neslc", "the file name is empty");
  if (o->output && o->output[0] == '\0') {
    return usage_error("neslc", "the name of the output is empty");
  }
  if (o->session.unchecked && o->session.check_overflow)
    return usage_error("neslc", "--unchecked leaves out the checks of --check-overflow");
  if (o->expression && o->entry) return usage_error("neslc", "either -e or --entry");
  if (o->expression && o->library) return usage_error("neslc", "either -e or --library");
  return check_library(o);
}

bool neslc_options_parse(struct neslc_options *o, int argc, char **argv) {
  *o = (struct neslc_options){.session = {.shared = shared_default_options(),
                                          .machine = machine_default_options(),
                                          .backend_name = "cpu",
                                          .native = NATIVE_OFF,
                                          .optimise = true}};
  const struct command_line line = {.command = "neslc",
                                    .rows = rows,
                                    .row_count = OPT_COUNT,
                                    .options = o,
                                    .apply = neslc_apply,
                                    .file = &o->file};
  if (!arguments_parse(&line, argc, argv) || !neslc_check_together(o)) return false;
  o->session.machine.arguments_unknown = true;
  nesl_options_settle(&o->session);
  return true;
}
