/* arguments.c - see arguments.h. */
#include "commands/arguments.h"
#include "base/intern.h"
#include "base/number.h"

#include <stdarg.h>
#include <string.h>

/* ---- messages ---- */

bool usage_error(const char *command, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s: error: ", command);
  vfprintf(stderr, format, arguments);
  fprintf(stderr, " (see %s --help)\n", command);
  va_end(arguments);
  return false;
}

/* The long options of all commands. */
static const struct {
  const char *command, *name;
} known[] = {
#define OPTION(id, letter, name, argument, help) {"nesl", name},
#include "commands/nesl-options.def"
#define OPTION(id, letter, name, argument, help) {"vinterp", name},
#include "commands/vinterp-options.def"
#define OPTION(id, letter, name, argument, help) {"neslc", name},
#include "commands/neslc-options.def"
#define OPTION(id, letter, name, argument, help) {"fcodeopt", name},
#include "commands/fcodeopt-options.def"
};

/* Another command that has the option, or NULL. */
static const char *command_with(const char *name) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (known[i].name && strcmp(known[i].name, name) == 0) return known[i].command;
  }
  return NULL;
}

/* The option whose name takes fewest edits to become this one; NULL if none is near. */
static const char *nearest_option(const struct command_line *c, const char *name) {
  enum { FAR = 4 }; /* edits from which on no option is suggested */
  const char *nearest = NULL;
  unsigned least = FAR;
  for (unsigned i = 0; i < c->row_count; i++) {
    if (!c->rows[i].name) continue;
    const unsigned distance = edit_distance(name, c->rows[i].name, FAR);
    if (distance < least) {
      least = distance;
      nearest = c->rows[i].name;
    }
  }
  return nearest;
}

static bool unknown_option(const struct command_line *c, const char *argument, size_t length) {
  char given[64];
  snprintf(given, sizeof given, "%.*s", (int)(length < 60 ? length : 60), argument);
  const bool is_long = given[1] == '-';
  const char *other = is_long ? command_with(given + 2) : NULL;
  const char *nearest = is_long ? nearest_option(c, given + 2) : NULL;
  if (other) return usage_error(c->command, "%s has no %s, %s has", c->command, given, other);
  if (nearest) {
    return usage_error(c->command, "unknown option %s, did you mean --%s?", given, nearest);
  }
  return usage_error(c->command, "unknown option %s%s", given,
                     is_long ? "" : "; what begins with - and is none stands behind --");
}

void arguments_help(const struct option_row *rows, unsigned row_count, FILE *out) {
  for (unsigned i = 0; i < row_count; i++) {
    const struct option_row *row = &rows[i];
    if (!row->help) continue;
    char form[64];
    if (!row->name) {
      snprintf(form, sizeof form, "-%c%s%s", row->letter, row->argument ? " " : "",
               row->argument ? row->argument : "");
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
}

/* ---- values ---- */

bool int_value(const char *command, const char *name, const char *text, int64_t least,
               int64_t most, int64_t *x) {
  if (parse_int(text, strlen(text), least, most, x)) return true;
  const char *digits = text + (*text == '-' || *text == '+');
  const bool too_far = *digits && strspn(digits, "0123456789") == strlen(digits);
  if (most == INT64_MAX && !(too_far && least == INT64_MIN)) {
    return usage_error(command, "--%s must be an integer of at least %lld, not '%.40s'", name,
                       (long long)least, text);
  }
  return usage_error(command, "--%s must be an integer from %lld to %lld, not '%.40s'", name,
                     (long long)least, (long long)most, text);
}

bool memory_value(const char *command, const char *text, uint64_t *bytes) {
  if (parse_bytes(text, bytes)) return true;
  return usage_error(command, "--memory must be a size such as 512M or 8G, not '%.40s'", text);
}

bool width_value(const char *command, const char *name, const char *text, enum cvl_elem narrow,
                 enum cvl_elem wide, enum cvl_elem *elem) {
  if (strcmp(text, "32") == 0) {
    *elem = narrow;
  } else if (strcmp(text, "64") == 0) {
    *elem = wide;
  } else {
    return usage_error(command, "--%s must be 32 or 64, not '%.40s'", name, text);
  }
  return true;
}

/* ---- arguments ---- */

/* The arguments that have not been read. */
struct arguments {
  int next, count;
  char **list;
};

static bool needs_value(const struct option_row *row) {
  return row->argument && row->argument[0] != '[';
}

/* argument: "--name" or "--name=value". */
static bool parse_long(const struct command_line *c, const char *argument,
                       struct arguments *rest) {
  const char *equals = strchr(argument, '=');
  size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
  for (unsigned id = 0; id < c->row_count; id++) {
    const struct option_row *row = &c->rows[id];
    if (!row->name || strlen(row->name) != length - 2 ||
        memcmp(row->name, argument + 2, length - 2) != 0) {
      continue;
    }
    const char *value = equals ? equals + 1 : NULL;
    if (value && !row->argument)
      return usage_error(c->command, "--%s takes no value", row->name);
    if (!value && needs_value(row)) {
      if (rest->next == rest->count) {
        return usage_error(c->command, "--%s needs a value: %s", row->name, row->argument);
      }
      value = rest->list[rest->next++];
    }
    return c->apply(c->options, id, value);
  }
  return unknown_option(c, argument, length);
}

/* Parses "-t", "-m5", or several letters in a row. */
static bool parse_short(const struct command_line *c, const char *argument,
                        struct arguments *rest) {
  for (const char *letter = argument + 1; *letter; letter++) {
    unsigned id = 0;
    while (id < c->row_count && c->rows[id].letter != *letter) id++;
    if (id == c->row_count) return unknown_option(c, argument, strlen(argument));
    const char *value = NULL;
    if (needs_value(&c->rows[id])) {
      value = letter[1] ? letter + 1 : NULL;
      if (!value && rest->next < rest->count) value = rest->list[rest->next++];
      if (!value) {
        return usage_error(c->command, "-%c needs a value: %s", *letter, c->rows[id].argument);
      }
    }
    if (!c->apply(c->options, id, value)) return false;
    if (value) break;
  }
  return true;
}

static bool take_one_file(const struct command_line *c, const char *argument) {
  if (c->operand) return c->operand(c->options, argument);
  if (*c->file) {
    return usage_error(c->command, "one program at a time: %.200s or %.200s?", *c->file,
                       argument);
  }
  *c->file = argument;
  return true;
}

/* A negative number is an argument of a program: no option begins with a digit. */
static bool is_option(const char *argument) {
  return argument[0] == '-' && argument[1] && !(argument[1] >= '0' && argument[1] <= '9');
}

bool arguments_has(const struct option_row *rows, unsigned row_count, const char *argument) {
  const bool is_long = argument[0] == '-' && argument[1] == '-';
  const size_t length = is_long ? strcspn(argument + 2, "=") : 0;
  for (unsigned i = 0; i < row_count && is_option(argument); i++) {
    const char *name = rows[i].name;
    if (is_long && name && strlen(name) == length && memcmp(name, argument + 2, length) == 0)
      return true;
    if (!is_long && rows[i].letter == argument[1]) return true;
  }
  return false;
}

bool arguments_parse(const struct command_line *c, int argc, char **argv) {
  struct arguments rest = {.next = 1, .count = argc, .list = argv};
  bool options_ended = false;
  while (rest.next < rest.count) {
    if (c->take_rest && c->take_rest(c->options, argv + rest.next, argc - rest.next)) break;
    const char *argument = rest.list[rest.next++];
    bool ok;
    if (options_ended || !is_option(argument)) {
      ok = take_one_file(c, argument);
    } else if (strcmp(argument, "--") == 0) {
      options_ended = ok = true;
    } else if (argument[1] == '-') {
      ok = parse_long(c, argument, &rest);
    } else {
      ok = parse_short(c, argument, &rest);
    }
    if (!ok) return false;
  }
  return true;
}
