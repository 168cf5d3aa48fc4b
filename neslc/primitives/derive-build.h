/* derive-build.h - construction of checked trees at ground types, for derived functions. */
#ifndef RAVEL_NESLC_DERIVE_BUILD_H
#define RAVEL_NESLC_DERIVE_BUILD_H

#include "neslc/session.h"

/* A derived function under construction. */
struct build {
  struct session *session;
  struct arena *arena;
  const struct source
      *source; /* of the library's declaration: the source location of all nodes */
  struct span at;
  uint32_t local_count;
};

struct core *build_int(struct build *, enum type_tag, int64_t); /* INT, BOOL or CHAR */
struct core *build_float(struct build *, double);
struct core *build_string(struct build *, const char *);
struct core *build_empty(struct build *, struct type *element);
struct core *build_pair(struct build *, struct core *left, struct core *right);
struct core *build_if(struct build *, struct core *condition, struct core *yes,
                      struct core *no);
struct core *build_let(struct build *, struct core_pattern *, struct core *value,
                       struct core *body);
/* Makes a sequence of the items, of which there is one at least, all of one type. */
struct core *build_list(struct build *, struct core **items, size_t count);

/* Applies the library's function of that name to an argument, at the types of the argument. */
struct core *build_call(struct build *, const char *name, struct core *argument);
struct core *build_call2(struct build *, const char *name, struct core *, struct core *);
/* Makes the contents a value of a datatype. */
struct core *build_data(struct build *, struct type *data, struct core *contents);

/* Make { body : pattern in source; more } of one or two generators. */
struct core *build_each(struct build *, struct core_pattern *, struct core *source,
                        struct core *body);
struct core *build_each2(struct build *, struct core_pattern *, struct core *source,
                         struct core_pattern *, struct core *source2, struct core *body);

/* Make a new variable, and a use of it. */
struct core_pattern *build_local(struct build *, const char *name, struct type *);
struct core *build_use(struct build *, const struct core_pattern *local);
struct core_pattern *build_pair_pattern(struct build *, struct core_pattern *left,
                                        struct core_pattern *right);
/* A pattern for a value of a datatype, or of a function that captures something, whose contents
 * (of type build_contents) are matched by `inner`. */
struct core_pattern *build_contents_pattern(struct build *, struct type *,
                                            struct core_pattern *inner);
/* The type of a datatype's contents; of a function's captured values as a tuple, NULL if there
 * are none. */
struct type *build_contents(struct build *, struct type *);

/* Variables for the components of a value, and the pattern that binds them: the two of a pair,
 * the contents of a datatype, the captured values of a function; for other types the value
 * itself. */
struct derive_components {
  struct core_pattern *pattern;
  struct core_pattern *left, *right; /* right: of a pair */
};
struct derive_components build_components(struct build *, struct type *, const char *name);
/* Builds the components of the two sequences that a sequence of pairs is unzipped into. */
struct derive_components build_unzipped(struct build *, struct type *pair);
/* A function of the library of each element of a sequence. */
struct core *build_elements(struct build *, struct type *sequence, const char *name,
                            struct core *value);

#endif
