/* tuning.h - the values of tables/tuning.def: the defaults, and those that a text sets. A back
 * end reads them when a context opens (cvl_options.tuning). Results do not depend on them.
 *
 * The text has one value a line, "NAME VALUE", where VALUE may end in K, M or G (times 1024 and
 * so on); # begins a comment. Every line ends with a newline, so that a truncated file is
 * detected.
 */
#ifndef RAVEL_CVL_TUNING_H
#define RAVEL_CVL_TUNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct diag_list; /* base/diag.h */

enum tuning_id {
#define TUNED(id, name, value, least, most, form, doc) TUNE_##id,
#include "tables/tuning.def"
  TUNING_COUNT
};

/* Limits that are compiled in. */
enum {
#define COMPILED(id, name, value, doc) COMPILED_##id = value,
#include "tables/tuning.def"
};

/* The values by their ids. 0 is the default; the default of a choice is 0 as well. */
struct tuning {
  uint64_t value[TUNING_COUNT];
};

struct tuning_row {
  const char *name;
  uint64_t least, most;
  bool power;  /* a power of two */
  bool choice; /* one of several ways: neighbouring values are unrelated */
  const char *doc;
};
const struct tuning_row *tuning_info(enum tuning_id);

uint64_t tuning_default(enum tuning_id);
bool tuning_is_legal(enum tuning_id, uint64_t value);
/* Returns all values: those that are set in *asked (or NULL), else the defaults. */
struct tuning tuning_complete(const struct tuning *asked);
/* Whether a search may gain by this value on a back end of this name. "cpu" may gain by values
 * of a CPU; "cuda" and its relatives may by those of a GPU. */
bool tuning_concerns(enum tuning_id, const char *backend);

/* Sets the values that a text names. False with diagnostics that name `file` and the line. */
bool tuning_parse(const char *file, const char *text, size_t length, struct tuning *,
                  struct diag_list *);
/* Writes a value as such a text has it: 262144 as "256K". */
enum { TUNING_TEXT = 32 };
void tuning_text(char text[TUNING_TEXT], uint64_t value);
/* Prints the whole table as such a text. Values that differ from the defaults are plain lines.
 * The others, and what is compiled in, are comments. */
void tuning_list(const struct tuning *, FILE *);

#ifdef __cplusplus
}
#endif

#endif
