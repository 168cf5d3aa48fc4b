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
  /* Does what the option in row `id` says; value is NULL if it has none. Returns false after a
   * complaint. */
  bool (*apply)(void *options, unsigned id, const char *value);
  /* Takes an argument that is no option; returns false after a complaint. NULL: there may be
   * one, which becomes *file. */
  bool (*operand)(void *options, const char *argument);
  const char **file;
  /* Is called before each argument. If it returns true, this argument and all that follow
   * (`count` with it) are taken as they are. NULL: none are. */
  bool (*take_rest)(void *options, char **from, int count);
};

/* Returns whether an argument is written as an option of the command. */
bool arguments_has(const struct option_row *, unsigned row_count, const char *argument);

/* Reads all arguments. Returns false after one line on standard error about the first error. */
bool arguments_parse(const struct command_line *, int argc, char **argv);
/* Prints one line for each row that has a help. */
void arguments_help(const struct option_row *, unsigned row_count, FILE *);

/* Complains on standard error, in one line; returns false for the caller to pass on. */
bool usage_error(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Read the values of options; they return false after a complaint. */
bool int_value(const char *command, const char *name, const char *text, int64_t least,
               int64_t most, int64_t *x);
bool memory_value(const char *command, const char *text, uint64_t *bytes);
bool width_value(const char *command, const char *name, const char *text, enum cvl_elem narrow,
                 enum cvl_elem wide, enum cvl_elem *elem);

#endif
