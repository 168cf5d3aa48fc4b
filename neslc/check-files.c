/* check-files.c - read_npy("FILE"): the file's present contents determine the type, as if an
 * empty value of that type preceded the name.
 */
#include "neslc/check.h"

#include <string.h>

/* A value of a type, as small as it can be. */
static struct core *sample(struct checker *ck, const struct syntax *e, struct type *type) {
  struct core *core;
  type = type_of(type);
  switch ((enum type_tag)type->tag) {
  case TYPE_SEQUENCE: return core_make(ck, CORE_EMPTY, e, type);
  case TYPE_FLOAT: return core_make(ck, CORE_FLOAT, e, type);
  case TYPE_BOOL: return core_make(ck, CORE_BOOL, e, type);
  case TYPE_CHAR: return core_make(ck, CORE_CHAR, e, type);
  case TYPE_PAIR:
    core = core_make(ck, CORE_PAIR, e, type);
    core->as.part.left = sample(ck, e, type->part[0]);
    core->as.part.right = sample(ck, e, type->part[1]);
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

static bool is_of_library(const struct global *g, const char *name) {
  return g->library && strcmp(g->name->text, name) == 0;
}

bool names_array_file(struct checker *ck, const struct global *function,
                      const struct syntax *argument) {
  return ck->session->file_type && function && argument->kind == SYNTAX_STRING &&
         (is_of_library(function, "read_npy") || is_of_library(function, "read_csv"));
}

struct core *check_array_file(struct checker *ck, const struct global *function,
                              const struct syntax *argument) {
  const char *problem = NULL;
  struct core *name = check_expression(ck, argument);
  struct type *type =
      ck->session->file_type(ck->session->file_context, is_of_library(function, "read_csv"),
                             argument->as.string.text, argument->as.string.length, &problem);
  if (!type) {
    complain(ck->complaints, NESL_RUNTIME, ck->source, argument->at, "%s", problem);
    type = type_variable(ck->arena, CLASS_ANY);
  }
  struct core *pair =
      core_make(ck, CORE_PAIR, argument, type_pair(ck->arena, type, name->type));
  pair->as.part.left = sample(ck, argument, type);
  pair->as.part.right = name;
  return pair;
}
