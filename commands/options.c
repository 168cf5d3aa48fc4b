/* options.c - reading the command line. Options and the file may come in any order; a value
 * follows as --name=value or as the next argument; "--" ends the options. */
#include "commands/options.h"
#include "base/intern.h"
#include "base/number.h"
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum option_id {
#define OPTION(id, letter, name, argument, help) OPT_##id,
#include "commands/options.def"
  OPT_COUNT
};

struct option_row {
  char letter;
  const char *name, *argument, *help;
};

static const struct option_row rows[OPT_COUNT] = {
#define OPTION(id, letter, name, argument, help) {letter, name, argument, help},
#include "commands/options.def"
};

/* ---- messages ---- */

__attribute__((format(printf, 1, 2))) static bool usage_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("vinterp: error: ", stderr);
  vfprintf(stderr, format, arguments);
  fputs(" (see vinterp --help)\n", stderr);
  va_end(arguments);
  return false;
}

static bool unknown_option(const char *argument, size_t length) {
  enum { FAR = 4 }; /* so many edits away nothing is meant */
  const char *nearest = NULL;
  unsigned least = FAR;
  char given[64];
  snprintf(given, sizeof given, "%.*s", (int)(length < 60 ? length : 60), argument);
  for (unsigned i = 0; i < OPT_COUNT && given[1] == '-'; i++) {
    if (!rows[i].name) continue;
    unsigned distance = edit_distance(given + 2, rows[i].name, FAR);
    if (distance < least) {
      least = distance;
      nearest = rows[i].name;
    }
  }
  if (nearest) {
    return usage_error("unknown option %s, did you mean --%s?", given, nearest);
  }
  return usage_error("unknown option %s", given);
}

void options_help(FILE *out) {
  fputs("usage: vinterp [options] FILE\n"
        "Runs a VCODE program and prints the values it leaves; FILE may be - for standard "
        "input.\n\n",
        out);
  for (unsigned i = 0; i < OPT_COUNT; i++) {
    const struct option_row *row = &rows[i];
    if (!row->help) continue;
    char form[64];
    if (!row->name) {
      snprintf(form, sizeof form, "-%c", row->letter);
    } else if (!row->argument) {
      snprintf(form, sizeof form, "--%s", row->name);
    } else if (row->argument[0] == '[') {
      size_t inside = strlen(row->argument) - 2;
      snprintf(form, sizeof form, "--%s[=%.*s]", row->name, (int)inside, row->argument + 1);
    } else {
      snprintf(form, sizeof form, "--%s %s", row->name, row->argument);
    }
    fprintf(out, "  %-18s %s\n", form, row->help);
  }
  fputs("\n-c, -m N and -g are accepted and have no effect.\n"
        "Exit status: 0 done, 1 an error was reported, 2 wrong usage, 130 interrupted.\n",
        out);
}

/* ---- values ---- */

static bool int_value(const char *name, const char *text, int64_t least, int64_t most,
                      int64_t *x) {
  if (parse_int(text, strlen(text), least, most, x)) return true;
  if (most == INT64_MAX) {
    return usage_error("--%s must be an integer of at least %lld, not '%.40s'", name,
                       (long long)least, text);
  }
  return usage_error("--%s must be an integer from %lld to %lld, not '%.40s'", name,
                     (long long)least, (long long)most, text);
}

static bool width_value(const char *name, const char *text, enum cvl_elem narrow,
                        enum cvl_elem wide, enum cvl_elem *elem) {
  if (strcmp(text, "32") == 0) {
    *elem = narrow;
  } else if (strcmp(text, "64") == 0) {
    *elem = wide;
  } else {
    return usage_error("--%s must be 32 or 64, not '%.40s'", name, text);
  }
  return true;
}

static bool seconds_value(const char *name, const char *text, double *x) {
  char *end;
  *x = strtod(text, &end);
  if (end != text && *end == '\0' && isfinite(*x) && *x > 0) return true;
  return usage_error("--%s must be a positive number of seconds, not '%.40s'", name, text);
}

static bool backend_value(const char *text, struct command_options *o) {
  if (strcmp(text, "auto") != 0 && !cvl_backend_find(text)) {
    return usage_error("there is no back end '%.40s'; --devices lists them", text);
  }
  o->backend_name = text;
  return true;
}

static bool dump_value(const char *text, enum dump *dump) {
  if (!text || strcmp(text, "ir") == 0) {
    *dump = DUMP_LET_FORM;
  } else if (strcmp(text, "vcode") == 0) {
    *dump = DUMP_VCODE;
  } else {
    return usage_error("--dump must be ir or vcode, not '%.40s'", text);
  }
  return true;
}

/* Does what one option says; value is NULL if it has none. */
static bool apply(struct command_options *o, enum option_id id, const char *value) {
  struct machine_options *m = &o->machine;
  const char *name = rows[id].name;
  int64_t x = 0;
  bool ok = true;
  switch (id) {
  case OPT_INT: return width_value(name, value, CVL_I32, CVL_I64, &m->widths.int_elem);
  case OPT_FLOAT: return width_value(name, value, CVL_F32, CVL_F64, &m->widths.float_elem);
  case OPT_CLASSIC: m->widths = (struct widths){CVL_I32, CVL_F64}; break;
  case OPT_THREADS:
    ok = int_value(name, value, 1, 4096, &x);
    m->threads = (unsigned)x;
    break;
  case OPT_BACKEND: return backend_value(value, o);
  case OPT_DEVICE:
    ok = int_value(name, value, 0, INT_MAX, &x);
    m->device = (int)x;
    break;
  case OPT_DEVICES: o->devices = true; break;
  case OPT_SEED:
    ok = int_value(name, value, INT64_MIN, INT64_MAX, &x);
    m->seed = (uint64_t)x;
    break;
  case OPT_MEMORY:
    if (!parse_bytes(value, &m->memory_limit)) {
      return usage_error("--memory must be a size such as 512M or 8G, not '%.40s'", value);
    }
    break;
  case OPT_TIME: return seconds_value(name, value, &m->time_limit);
  case OPT_MAX_DEPTH:
    ok = int_value(name, value, 1, INT64_MAX, &x);
    m->max_depth = (uint64_t)x;
    break;
  case OPT_ALLOW_FILES: m->allow_files = true; break;
  case OPT_ALLOW_SPAWN: m->allow_spawn = true; break;
  case OPT_CHECK: o->check = true; break;
  case OPT_DUMP: return dump_value(value, &o->dump);
  case OPT_PROFILE: m->profile = true; break;
  case OPT_JSON: o->json = true; break;
  case OPT_CHECKED: m->checked = true; break;
  case OPT_PROGRESS: m->progress_fd = STDERR_FILENO; break;
  case OPT_ELAPSED: o->elapsed = true; break;
  case OPT_HELP: o->help = true; break;
  case OPT_VERSION: o->version = true; break;
  case OPT_OLD_CHECKS:
  case OPT_OLD_NOTICES: break;
  case OPT_OLD_MEMORY:
    if (!parse_int(value, strlen(value), 1, INT64_MAX, &x)) {
      return usage_error("-m must be a positive integer, not '%.40s'", value);
    }
    break;
  case OPT_COUNT: break;
  }
  return ok;
}

/* ---- arguments ---- */

/* The arguments not yet looked at. */
struct arguments {
  int next, count;
  char **list;
};

static bool needs_value(const struct option_row *row) {
  return row->argument && row->argument[0] != '[';
}

/* argument: "--name" or "--name=value". */
static bool parse_long(struct command_options *o, const char *argument,
                       struct arguments *rest) {
  const char *equals = strchr(argument, '=');
  size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
  for (unsigned id = 0; id < OPT_COUNT; id++) {
    const char *name = rows[id].name;
    if (!name || strlen(name) != length - 2 || memcmp(name, argument + 2, length - 2) != 0) {
      continue;
    }
    const char *value = equals ? equals + 1 : NULL;
    if (value && !rows[id].argument) return usage_error("--%s takes no value", name);
    if (!value && needs_value(&rows[id])) {
      if (rest->next == rest->count) {
        return usage_error("--%s needs a value: %s", name, rows[id].argument);
      }
      value = rest->list[rest->next++];
    }
    return apply(o, (enum option_id)id, value);
  }
  return unknown_option(argument, length);
}

/* argument: "-t", "-m5", several letters in a row. */
static bool parse_short(struct command_options *o, const char *argument,
                        struct arguments *rest) {
  for (const char *letter = argument + 1; *letter; letter++) {
    unsigned id = 0;
    while (id < OPT_COUNT && rows[id].letter != *letter) id++;
    if (id == OPT_COUNT) return unknown_option(argument, strlen(argument));
    const char *value = NULL;
    if (needs_value(&rows[id])) {
      value = letter[1] ? letter + 1 : NULL;
      if (!value && rest->next < rest->count) value = rest->list[rest->next++];
      if (!value) return usage_error("-%c needs a value: %s", *letter, rows[id].argument);
    }
    if (!apply(o, (enum option_id)id, value)) return false;
    if (value) break;
  }
  return true;
}

static bool take_file(struct command_options *o, const char *argument) {
  if (o->file) {
    return usage_error("one program at a time: %.200s or %.200s?", o->file, argument);
  }
  o->file = argument;
  return true;
}

/* What holds between options. */
static bool check_together(const struct command_options *o) {
  if (o->help || o->version || o->devices) return true;
  if (!o->file) return usage_error("which program? FILE is missing");
  if (o->file[0] == '\0') return usage_error("the file name is empty");
  if (o->json && !o->machine.profile) return usage_error("--json goes with --profile");
  if (o->dump != DUMP_NOTHING && o->check) return usage_error("either --check or --dump");
  return true;
}

bool options_parse(struct command_options *o, int argc, char **argv) {
  *o = (struct command_options){.machine = machine_default_options(), .backend_name = "auto"};
  struct arguments rest = {.next = 1, .count = argc, .list = argv};
  bool options_ended = false;
  while (rest.next < rest.count) {
    const char *argument = rest.list[rest.next++];
    bool ok;
    if (options_ended || argument[0] != '-' || argument[1] == '\0') {
      ok = take_file(o, argument);
    } else if (strcmp(argument, "--") == 0) {
      options_ended = ok = true;
    } else if (argument[1] == '-') {
      ok = parse_long(o, argument, &rest);
    } else {
      ok = parse_short(o, argument, &rest);
    }
    if (!ok) return false;
  }
  return check_together(o);
}
