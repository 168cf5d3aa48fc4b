/* shared-options.c - see shared-options.h. */
#include "commands/shared-options.h"
#include "commands/arguments.h"

struct shared_options shared_default_options(void) {
  return (struct shared_options){.widths = {CVL_I64, CVL_F64}};
}

void shared_classic(struct shared_options *o) {
  o->int_given = o->float_given = o->classic = true;
  o->widths = (struct widths){CVL_I32, CVL_F64};
}

bool shared_option(const char *command, enum shared_option id, const char *value,
                   struct shared_options *o) {
  switch (id) {
  case SHARED_INT:
    o->int_given = true;
    return width_value(command, "int", value, CVL_I32, CVL_I64, &o->widths.int_elem);
  case SHARED_FLOAT:
    o->float_given = true;
    return width_value(command, "float", value, CVL_F32, CVL_F64, &o->widths.float_elem);
  case SHARED_CLASSIC: shared_classic(o); break;
  case SHARED_MEMORY: return memory_value(command, value, &o->memory_limit);
  case SHARED_HELP: o->help = true; break;
  case SHARED_VERSION: o->version = true; break;
  }
  return true;
}

bool shared_answered(const struct shared_options *o, void (*help)(FILE *),
                     const char *version) {
  if (o->help) {
    help(stdout);
  } else if (o->version) {
    puts(version);
  }
  return o->help || o->version;
}
