/* nesl-property.h - shared by the files of `nesl test` that try properties
 * (neslc/front/property.h).
 *
 *   nesl-property.c  finds the properties of a file, and gives them types
 *   nesl-instance.c  a property at types without variables becomes functions of the session
 *   nesl-trials.c    random cases, all at once; the simplest that fails
 *   nesl-report.c    what is printed of it
 */
#ifndef RAVEL_NESL_PROPERTY_H
#define RAVEL_NESL_PROPERTY_H

#include "commands/datum.h"
#include "commands/nesl.h"

/* A property at given types: a function of the session that returns whether the law holds for a
 * case. A case is the tuple of the values drawn for the parameters. */
struct instance {
  const struct property *property;
  const char *path;         /* of the file, for messages */
  const char *variables;    /* "a = int, b = float"; empty if it has no type variables */
  const char *const *types; /* of the parameters, as text */
  struct type *parameter;   /* of the case */
  struct type *cases;       /* a sequence of cases */
  const struct source *lifted, *flat; /* forms that try _cases: all at once; the first alone */
  bool exhausted;                     /* there was no memory to define it; reported */
  const struct source *arguments;     /* one for the arguments of the first case; NULL: they are
                                         the case itself */
};

/* The result of an instance's form for a case, as an int. */
enum verdict { VERDICT_DISCARDED, VERDICT_FALSE, VERDICT_TRUE, VERDICT_FAULT };

/* Defines the functions of the instance whose property, path, variables and types are set.
 * Returns false if they have an error, which is reported only if `complains`. Memory is the
 * arena's. */
bool instance_define(struct nesl *, struct arena *, struct instance *, bool complains);

/* Returns the number of the line on which the property's name stands. */
uint32_t instance_line(const struct instance *);

/* The outcome of trying an instance. */
struct trial {
  uint64_t cases; /* in which the law held */
  bool failed;    /* otherwise, or because there were too few; printed already */
};
/* Tries an instance on random data, and prints the cases that fail. `number` distinguishes
 * instances. */
struct trial instance_try(struct nesl *, const struct instance *, uint64_t number);

/* The results of the properties of a file. */
struct properties {
  unsigned count, failed, broken; /* broken: those that are no properties */
  uint64_t cases;
};
/* Tries the properties of a source whose forms were executed. Memory may run out: then it is
 * one more failure. */
struct properties nesl_try_properties(struct nesl *, const struct source *);

#endif
