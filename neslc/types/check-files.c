/* check-files.c - read_npy("FILE"): the file's present contents determine the type, as if an
 * empty value of that type preceded the name.
 */
#include "neslc/types/check.h"

#include <string.h>

/* A value of a type, as small as it can be. */
static struct core *sample_value(struct checker *ck, const struct syntax *e,
                                 struct type *type) {
  struct core *core;
  type = type_of(type);
  switch ((enum type_tag)type->tag) {
  case TYPE_SEQUENCE: return core_make(ck, CORE_EMPTY, e, type);
  case TYPE_FLOAT: return core_make(ck, CORE_FLOAT, e, type);
  case TYPE_BOOL: return core_make(ck, CORE_BOOL, e, type);
  case TYPE_CHAR: return core_make(ck, CORE_CHAR, e, type);
  case TYPE_PAIR:
    core = core_make(ck, CORE_PAIR, e, type);
    core->as.part.left = sample_value(ck, e, type->part[0]);
    core->as.part.right = sample_value(ck, e, type->part[1]);
    return core;
  case TYPE_INT:
  case TYPE_STREAM: /* these are in no file of arrays */
  case TYPE_FUNCTION:
  case TYPE_DATA:
  case TYPE_IDENTITY:
  case TYPE_VARIABLE: break;
  }
  return core_make(ck, CORE_INT, e, type_base(ck->arena, TYPE_INT));
}

static bool is_library_global(const struct global *g, const char *name) {
  return g->library && strcmp(g->name->text, name) == 0;
}

struct global *array_function(struct checker *ck, struct global *function, bool has_options) {
  if (!function) return NULL;
  if (is_library_global(function, "matrix") && !ck->session->in_library)
    return session_library(ck->session, "_matrix");
  if (!has_options) return function;
  if (is_library_global(function, "read_csv")) return session_library(ck->session, "_read_csv");
  if (is_library_global(function, "write_csv"))
    return session_library(ck->session, "_write_csv");
  return function;
}

/* "npy", "npz", "csv": the format of the files that a function reads; NULL if it reads none. */
static const char *format_read(const struct global *function) {
  if (is_library_global(function, "read_npy")) return "npy";
  if (is_library_global(function, "read_npz")) return "npz";
  if (is_library_global(function, "read_csv") || is_library_global(function, "_read_csv"))
    return "csv";
  return NULL;
}

bool names_array_file(struct checker *ck, const struct global *function,
                      const struct syntax *argument) {
  return ck->session->file_type && function && argument->kind == SYNTAX_STRING &&
         format_read(function);
}

/* ---- optional arguments ---- */

/* Adds a setting, as it stands behind a signature, to `settings`. */
static const char *with_setting(struct checker *ck, const char *settings, const char *key,
                                const char *value) {
  return arena_printf(ck->arena, "%s?%zu.%s=%s", settings, strlen(key) + 1 + strlen(value), key,
                      value);
}

/* Adds the settings for names of columns; returns NULL if one is no literal. */
static const char *with_columns(struct checker *ck, const char *settings,
                                const struct syntax *names) {
  if (names->kind != SYNTAX_LIST) return NULL;
  for (size_t i = 0; i < names->as.list.count; i++) {
    const struct syntax *name = names->as.list.items[i];
    if (name->kind != SYNTAX_STRING) return NULL;
    settings = with_setting(ck, settings, "column", name->as.string.text);
  }
  return settings;
}

/* Adds the setting that an optional argument means; NULL if it is no literal. */
static const char *with_option(struct checker *ck, const char *settings, const char *key,
                               const struct syntax *value) {
  switch ((enum syntax_kind)value->kind) {
  case SYNTAX_INT:
    return with_setting(ck, settings, key,
                        arena_printf(ck->arena, "%lld", (long long)value->as.integer));
  case SYNTAX_CHAR:
    return with_setting(ck, settings, key, arena_printf(ck->arena, "%c", value->as.character));
  case SYNTAX_STRING: return with_setting(ck, settings, key, value->as.string.text);
  default: return with_columns(ck, settings, value);
  }
}

static const char *complain_of_option(struct checker *ck, const struct syntax *option,
                                      const char *key) {
  complain(
      ck->complaints, NESL_OPTIONAL_ARGUMENT, ck->source, option->at,
      "`%s` must be a literal, since the type is inferred before the program runs; where a "
      "value gives the type, read_csv(x, \"FILE\"), it may be any expression",
      key);
  return NULL;
}

/* The settings that optional arguments mean: the file is read before the program runs. NULL,
 * and a complaint, if one is no literal. */
static const char *settings_of(struct checker *ck, const struct global *function,
                               const struct syntax *const *options) {
  const char *settings = "";
  for (uint32_t i = 0; options && i < function->optional_count; i++) {
    if (!options[i]) continue;
    const char *key = function->options[i].name->text;
    const char *more = with_option(ck, settings, key, options[i]);
    if (!more) return complain_of_option(ck, options[i], key);
    settings = more;
  }
  return settings;
}

/* The type of the file; after a complaint that of any sequence. */
static struct type *type_of_file(struct checker *ck, const struct global *function,
                                 const struct syntax *name,
                                 const struct syntax *const *options) {
  const char *problem = NULL, *settings = settings_of(ck, function, options);
  struct type *type = NULL;
  if (settings) {
    type = ck->session->file_type(ck->session->file_context, format_read(function), settings,
                                  name->as.string.text, name->as.string.length, &problem);
  }
  if (problem) complain(ck->complaints, NESL_RUNTIME, ck->source, name->at, "%s", problem);
  return type ? type : type_sequence(ck->arena, type_variable(ck->arena, CLASS_ANY));
}

struct core *check_array_file(struct checker *ck, const struct global *function,
                              const struct syntax *argument,
                              const struct syntax *const *options) {
  struct core *name = check_expression(ck, argument);
  struct type *type = type_of_file(ck, function, argument, options);
  struct core *pair =
      core_make(ck, CORE_PAIR, argument, type_pair(ck->arena, type, name->type));
  pair->as.part.left = sample_value(ck, argument, type);
  pair->as.part.right = name;
  return pair;
}
