/* options.c - what a context may do, by name and text as on the command line. */
#include "libravel/private.h"

#include "base/number.h"
#include "vinterp/choose.h"

#include <stdlib.h>
#include <string.h>

struct ravel_options *ravel_options_new(void) {
  struct ravel_options *o = malloc(sizeof *o);
  if (!o) return NULL;
  *o = (struct ravel_options){
      .machine = machine_default_options(), .backend = "auto", .optimise = true};
  return o;
}

void ravel_options_free(struct ravel_options *o) {
  free(o);
}

static bool option_number(const char *text, int64_t least, int64_t most, int64_t *x) {
  return parse_int(text, strlen(text), least, most, x);
}

static bool yes_or_no(const char *text, bool *x) {
  *x = strcmp(text, "yes") == 0;
  return *x || strcmp(text, "no") == 0;
}

static bool set_backend(struct ravel_options *o, const char *value) {
  if (strlen(value) >= sizeof o->backend || !choose_knows(value)) return false;
  strcpy(o->backend, value);
  return true;
}

static bool set_kernels(struct ravel_options *o, const char *value) {
  if (strlen(value) >= sizeof o->kernels) return false;
  strcpy(o->kernels, value);
  return true;
}

static bool set_zig(struct ravel_options *o, const char *value) {
  if (strlen(value) >= sizeof o->zig) return false;
  strcpy(o->zig, value);
  return true;
}

static bool set_memory(struct ravel_options *o, const char *value) {
  o->machine.memory_limit = 0;
  return strcmp(value, "0") == 0 || parse_bytes(value, &o->machine.memory_limit);
}

static bool set_chunks(struct machine_chunks *chunks, const char *value) {
  int64_t n = 0;
  if (strcmp(value, "auto") == 0) {
    *chunks = (struct machine_chunks){.mode = MACHINE_CHUNKS_AUTO};
  } else if (strcmp(value, "off") == 0) {
    *chunks = (struct machine_chunks){.mode = MACHINE_CHUNKS_OFF};
  } else {
    if (!option_number(value, 1, INT64_MAX, &n)) return false;
    *chunks = (struct machine_chunks){.mode = MACHINE_CHUNKS_FIXED, .n = (uint64_t)n};
  }
  return true;
}

static bool set_spill(struct ravel_options *o, const char *value) {
  o->no_spills = strcmp(value, "no") == 0;
  o->spill = 0;
  return o->no_spills || strcmp(value, "0") == 0 || parse_bytes(value, &o->spill);
}

/* Sets a time in digits and a point, whatever the locale of the process. */
static bool set_time(struct ravel_options *o, const char *value) {
  const size_t digits = strspn(value, "0123456789");
  const size_t more = value[digits] == '.' ? strspn(value + digits + 1, "0123456789") : 0;
  const size_t length = digits + (value[digits] == '.') + more;
  if (digits == 0 || value[length] || (value[digits] == '.' && more == 0)) return false;
  o->seconds = parse_real(value, length);
  return true;
}

static bool set_width(const char *value, enum cvl_elem wide, enum cvl_elem narrow,
                      enum cvl_elem *elem) {
  *elem = strcmp(value, "32") == 0 ? narrow : wide;
  return *elem == narrow || strcmp(value, "64") == 0;
}

static bool set_number_option(struct ravel_options *o, const char *name, const char *value) {
  int64_t x;
  if (strcmp(name, "threads") == 0 && option_number(value, 0, 4096, &x)) {
    o->machine.threads = (unsigned)x;
  } else if (strcmp(name, "seed") == 0 && option_number(value, INT64_MIN, INT64_MAX, &x)) {
    o->machine.seed = (uint64_t)x;
  } else if (strcmp(name, "depth") == 0 && option_number(value, 0, INT64_MAX, &x)) {
    o->machine.max_depth = (uint64_t)x;
  } else {
    return false;
  }
  return true;
}

static bool set_option(struct ravel_options *o, const char *name, const char *value) {
  struct machine_options *m = &o->machine;
  if (strcmp(name, "backend") == 0) return set_backend(o, value);
  if (strcmp(name, "memory") == 0) return set_memory(o, value);
  if (strcmp(name, "time") == 0) return set_time(o, value);
  if (strcmp(name, "chunks") == 0) return set_chunks(&m->chunks, value);
  if (strcmp(name, "procedures") == 0) return machine_procedures_named(value, &m->procedures);
  if (strcmp(name, "spool") == 0) return set_spill(o, value);
  if (strcmp(name, "int") == 0) {
    return set_width(value, CVL_I64, CVL_I32, &m->widths.int_elem);
  }
  if (strcmp(name, "float") == 0) {
    return set_width(value, CVL_F64, CVL_F32, &m->widths.float_elem);
  }
  if (strcmp(name, "optimise") == 0) return yes_or_no(value, &o->optimise);
  if (strcmp(name, "compiler") == 0) return yes_or_no(value, &o->compiler);
  if (strcmp(name, "zig") == 0) return set_zig(o, value);
  if (strcmp(name, "check_overflow") == 0) return yes_or_no(value, &o->check_overflow);
  if (strcmp(name, "kernels") == 0) return set_kernels(o, value);
  if (strcmp(name, "profile") == 0) return yes_or_no(value, &m->profile);
  if (strcmp(name, "files") == 0) return yes_or_no(value, &m->permissions.files);
  if (strcmp(name, "processes") == 0) return yes_or_no(value, &m->permissions.processes);
  return set_number_option(o, name, value);
}

/* ---- what is wrong ---- */

static const struct {
  const char *name, *values;
} known[] = {{"backend", "auto, cpu, cuda or another back end that is there"},
             {"threads", "0, which is all, to 4096"},
             {"memory", "bytes, as 500M or 2G, or 0"},
             {"time", "seconds, as 2 or 0.5, or 0"},
             {"int", "64 or 32"},
             {"float", "64 or 32"},
             {"seed", "an int"},
             {"depth", "an int from 0 on"},
             {"chunks", "auto, off, or an int from 1 on"},
             {"procedures", "auto, off or always"},
             {"spool", "bytes, as 64M, 0 or no"},
             {"optimise", "yes or no"},
             {"kernels", "the name of a file, of less than 4096 bytes"},
             {"profile", "yes or no"},
             {"files", "yes or no"},
             {"processes", "yes or no"},
             {"compiler", "yes or no"},
             {"zig", "the name of a file, of less than 4096 bytes"}};
enum { KNOWN = sizeof known / sizeof known[0] };

static void list_names(char *text, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < KNOWN && used < size; i++) {
    used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", known[i].name);
  }
}

static void describe_option(struct ravel_options *o, const char *name, const char *value) {
  char names[sizeof o->message / 2];
  size_t i = 0;
  while (i < KNOWN && strcmp(known[i].name, name) != 0) i++;
  if (i < KNOWN) {
    snprintf(o->message, sizeof o->message, "the option %s takes %s, not '%.100s'", name,
             known[i].values, value);
    return;
  }
  list_names(names, sizeof names);
  snprintf(o->message, sizeof o->message, "there is no option '%.40s'; there are %s", name,
           names);
}

const char *ravel_options_message(const struct ravel_options *o) {
  return o ? o->message : "";
}

enum ravel_code ravel_options_set(struct ravel_options *o, const char *name,
                                  const char *value) {
  if (!o || !name || !value) return RAVEL_MISUSE;
  struct ravel_options changed = *o;
  if (!set_option(&changed, name, value)) {
    describe_option(o, name, value);
    return RAVEL_MISUSE;
  }
  changed.message[0] = '\0';
  *o = changed;
  return RAVEL_OK;
}
