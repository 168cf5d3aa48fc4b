/* shared-cases.h - the cases of a switch over the options of COMMAND for those of
 * shared-options.def; `value` and `o` are at hand. Included by whoever defines COMMAND; no
 * guard. */
#define OPTION(id, letter, name, argument, help)                                               \
  case OPT_##id:                                                                               \
    return shared_option(COMMAND, SHARED_##id, value, &o->shared);
#include "commands/shared-options.def"
#undef OPTION
