/* arguments.h - reading a command line by a table of options.
 *
 * Options and files may come in any order; a value follows as --name=value or as the next
 * argument; "--" ends the options; -1 is a number, not an option. Parser, help and suggestions
 * are generated from the same rows.
 */
#ifndef RAVEL_ARGUMENTS_H
#define RAVEL_ARGUMENTS_H

#include "tables/tables.h"
#include <stdio.h>

struct option_row {
  char letter;          /* of the short form, 0 without */
  const char *name;     /* of the long form, NULL without */
  const char *argument; /* what the help calls it; NULL: takes none; in brackets: only as
                           --name=argument */
  const char *help;     /* NULL: not mentioned */
};

struct command_line {
  const char *command; /* its name, for messages */
  const struct option_row *rows;
  unsigned row_count;
  void *options; /* what is filled in */
  /* Does what the option in row `id` says; value is NULL if it has none. False after a
   * complaint. */
  bool (*apply)(void *options, unsigned id, const char *value);
  /* Takes an argument that is no option; false after a complaint. NULL: there may be one, which
   * becomes *file. */
  bool (*operand)(void *options, const char *argument);
  const char **file;
  /* Asked before each argument: true if this and all that follow (`count` with it) are taken as
   * they are. NULL: never. */
  bool (*take_rest)(void *options, char **from, int count);
};

/* Whether an argument is written as an option of the command. */
bool arguments_has(const struct option_row *, unsigned row_count, const char *argument);

/* Reads all arguments. False after one line on standard error about the first error. */
bool arguments_parse(const struct command_line *, int argc, char **argv);
/* One line for each row that has a help. */
void arguments_help(const struct option_row *, unsigned row_count, FILE *);

/* Complains on standard error, in one line; false for the caller to pass on. */
bool usage_error(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Values of options; false after a complaint. */
bool int_value(const char *command, const char *name, const char *text, int64_t least,
               int64_t most, int64_t *x);
bool memory_value(const char *command, const char *text, uint64_t *bytes);
bool width_value(const char *command, const char *name, const char *text, enum cvl_elem narrow,
                 enum cvl_elem wide, enum cvl_elem *elem);

#endif
