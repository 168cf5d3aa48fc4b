/* option-rows.h - the options of a command whose table is the file OPTIONS: numbers and rows.
 */
#include "commands/arguments.h"

enum option_id {
#define OPTION(id, letter, name, argument, help) OPT_##id,
#include OPTIONS
  OPT_COUNT
};

static const struct option_row rows[OPT_COUNT] = {
#define OPTION(id, letter, name, argument, help) {letter, name, argument, help},
#include OPTIONS
};
