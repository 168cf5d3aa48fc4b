/* nesl-arrays.c - arguments and results of a function in files of arrays.
 *
 * What a file must hold is said by the function's type; where that is open (a number of any
 * sort) the file says what it has.
 */
#include "arrays/arrays.h"
#include "commands/nesl.h"
#include "commands/output.h"
#include "commands/process.h"
#include "commands/source.h"
#include "neslc/table.h"

#include <string.h>

bool nesl_is_array_file(const char *file) {
  enum array_format format;
  return source_array_format(file, &format);
}

enum array_format nesl_array_format(const char *file) {
  enum array_format format;
  (void)source_array_format(file, &format);
  return format;
}

/* The settings of the command line, if they are meant for this file. */
static const char *settings_for(struct nesl *n, const char *file) {
  const struct nesl_options *o = n->options;
  const char *settings = "";
  for (unsigned i = 0; i < o->csv_count && nesl_array_format(file) == ARRAY_CSV; i++) {
    settings = arena_printf(n->session->arena, "%s%s", settings,
                            array_setting(n->session->arena, o->csv[i]));
  }
  return settings;
}

/* Returns the signature of a value of this type in the file. */
static const char *signature_for(struct nesl *n, struct type *type, const char *file) {
  return arena_printf(n->session->arena, "%s%s", value_signature(n->session->arena, type),
                      settings_for(n, file));
}

static bool complain_of_file(struct nesl *n, const char *file, const char *problem) {
  diag_add(&n->diags, SEVERITY_ERROR, file, (struct source_pos){0}, NULL, "%s", problem);
  if (n->complaints.first == NESL_OK) n->complaints.first = NESL_RUNTIME;
  n->complaints.count++;
  return false;
}

/* Calls work with the session's memory; false after complaining that it ran out. */
static bool with_memory(struct nesl *n, const char *file, bool (*work)(struct nesl *, void *),
                        void *context) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return complain_of_file(n, file, "out of memory; see --memory");
  const bool fine = work(n, context);
  memory_guard_end(&guard);
  return fine;
}

/* ---- types ---- */

static struct type *leaf_type(struct arena *arena, enum array_leaf leaf) {
  switch (leaf) {
  case ARRAY_INT: return type_base(arena, TYPE_INT);
  case ARRAY_FLOAT: return type_base(arena, TYPE_FLOAT);
  case ARRAY_BOOL: return type_base(arena, TYPE_BOOL);
  case ARRAY_CHAR: return type_base(arena, TYPE_CHAR);
  case ARRAY_TEXT: break;
  }
  return type_sequence(arena, type_base(arena, TYPE_CHAR));
}

/* Returns the type of a signature, from its letter *next on. */
static struct type *type_of_signature(struct arena *arena, const char **next) {
  struct type *left;
  switch (*(*next)++) {
  case 'i': return leaf_type(arena, ARRAY_INT);
  case 'f': return leaf_type(arena, ARRAY_FLOAT);
  case 'b': return leaf_type(arena, ARRAY_BOOL);
  case 'c': return leaf_type(arena, ARRAY_CHAR);
  case '[': return type_sequence(arena, type_of_signature(arena, next));
  default: break; /* a pair */
  }
  left = type_of_signature(arena, next);
  return type_pair(arena, left, type_of_signature(arena, next));
}

static struct type *type_of_array(struct arena *arena, const struct array_type *array) {
  const char *signature = array->signature;
  if (signature) return type_of_signature(arena, &signature);
  uint32_t i = array->leaf_count - 1;
  struct type *type = leaf_type(arena, (enum array_leaf)array->leaves[i]);
  while (i-- > 0) {
    type = type_pair(arena, leaf_type(arena, (enum array_leaf)array->leaves[i]), type);
  }
  for (uint32_t level = 0; level < array->depth; level++) type = type_sequence(arena, type);
  return type;
}

struct type *nesl_type_of_file(void *context, const char *word, const char *settings,
                               const char *name, size_t length, const char **problem) {
  struct nesl *n = context;
  const char *file = arena_copy(n->session->arena, name, length);
  const enum array_format format =
      nesl_array_format(arena_printf(n->session->arena, "_.%s", word));
  struct source_text text;
  struct array_type array = {.csv = NULL};
  struct type *type = NULL;
  struct diag_list diags;
  diag_list_init(&diags, n->session->arena);
  if (!array_settings_parse(n->session->arena, settings, &array, problem)) return NULL;
  if (!source_read_array(&text, &n->heap, &n->options->machine.permissions, file, format,
                         &diags)) {
    *problem = diags.list.count > 0 ? diags.list.items[0].message : "out of memory";
  } else if (array_guess(format, n->session->arena, text.text, text.length, &array, problem)) {
    type = type_of_array(n->session->arena, &array);
  }
  source_free(&text, &n->heap);
  return type;
}

/* Whether a type has variables that decide what a value consists of. */
static bool is_open_(struct table *seen, struct type *type) {
  type = type_of(type);
  if (type->tag == TYPE_VARIABLE) return true;
  if (type->tag == TYPE_FUNCTION) return false;
  if (type_has_parts(type) && !table_add(seen, type)) return false; /* or it was said already */
  bool open = false;
  for (unsigned i = 0; i < 2 && type->part[i]; i++) open |= is_open_(seen, type->part[i]);
  for (uint32_t i = 0; type->tag == TYPE_DATA && i < type->argument_count; i++) {
    open |= is_open_(seen, type->arguments[i]);
  }
  return open;
}

static bool is_open(struct arena *scratch, struct type *type) {
  struct table seen;
  table_begin(&seen, scratch);
  return is_open_(&seen, type);
}

struct type *nesl_component(struct type *tuple, unsigned index, unsigned count) {
  struct type *type = type_of(tuple);
  for (unsigned i = 0; i < index; i++) {
    if (type->tag != TYPE_PAIR) return NULL;
    type = type_of(type->part[1]);
  }
  if (index + 1 == count) return type;
  return type->tag == TYPE_PAIR ? type_of(type->part[0]) : NULL;
}

bool nesl_type_in_file(struct nesl *n, struct type *type, const char *file,
                       struct array_type *array, const char **problem) {
  const char *signature = signature_for(n, type, file);
  *array = (struct array_type){.csv = NULL};
  return array_type_parse(nesl_array_format(file), n->session->arena, signature,
                          strlen(signature), array, problem);
}

/* ---- arguments ---- */

struct argument {
  const struct global *function;
  unsigned index, count;
  const char *name, *file;
  const struct source_text *text; /* its bytes, */
  struct source_text *owned;      /* which the caller ends, if this has them */
};

/* The type of an argument: of the function, and where that is open of the file. */
static bool find_type(struct nesl *n, const struct argument *a, struct type **type) {
  const struct scheme *scheme = &a->function->scheme;
  const char *problem = NULL;
  struct type **fresh = arena_alloc(n->session->arena, (scheme->count + 1) * sizeof *fresh);
  struct type *whole = type_of(type_instantiate(n->session->arena, scheme, fresh));
  *type =
      whole->tag == TYPE_FUNCTION ? nesl_component(whole->part[0], a->index, a->count) : NULL;
  if (!*type) {
    return complain_of_file(n, a->file,
                            arena_printf(n->session->arena, "`%s` does not take %u argument%s",
                                         a->function->name->text, a->count,
                                         a->count == 1 ? "" : "s"));
  }
  if (is_open(n->session->arena, *type)) {
    struct array_type array = {.spills = nesl_mapped_spills(n, a->text->text)};
    struct type *one, *other;
    if (!array_settings_parse(n->session->arena, settings_for(n, a->file), &array, &problem) ||
        !array_guess(nesl_array_format(a->file), n->session->arena, a->text->text,
                     a->text->length, &array, &problem)) {
      return complain_of_file(n, a->file, problem);
    }
    struct type *guessed = type_of_array(n->session->arena, &array);
    if (type_unify(n->session->arena, *type, guessed, &one, &other) != UNIFY_OK) {
      return complain_of_file(
          n, a->file,
          arena_printf(n->session->arena, "the file holds %s, which is no argument of `%s`",
                       type_text(n->session->arena, guessed, false), a->function->name->text));
    }
  }
  *type = type_ground(n->session->arena, *type, 0, NULL);
  return true;
}

/* The value with the columns of a file, owned by n->arguments: bools are bytes, lengths become
 * descriptors. */
static struct nesl_value value_of_columns(struct nesl *n, struct type *type,
                                          const struct array_columns *columns) {
  struct column_kinds kinds = {.arena = n->session->arena};
  value_columns(type, &kinds);
  struct nesl_value value = {.type = type, .count = columns->count};
  value.columns = arena_alloc(n->session->arena, columns->count * sizeof *value.columns);
  for (uint32_t i = 0; i < columns->count; i++) {
    const struct array_column *from = &columns->items[i];
    struct column *to = &value.columns[i];
    *to = (struct column){.kind = kinds.list.items[i], .length = from->length};
    if (to->kind == COLUMN_FLOAT) {
      to->as.floats = from->as.floats;
    } else if (to->kind == COLUMN_BOOL && from->is_bytes) {
      to->as.bools = from->as.bytes;
    } else if (to->kind == COLUMN_BOOL) {
      uint8_t *bools = arena_alloc(&n->arguments, (size_t)from->length);
      for (uint64_t k = 0; k < from->length; k++) bools[k] = from->as.ints[k] != 0;
      to->as.bools = bools;
    } else {
      to->as.ints = from->as.ints;
    }
  }
  return value;
}

/* The first int that is none of the session's width, or NULL. */
static const int64_t *too_wide(const struct nesl_value *value) {
  for (uint32_t i = 0; i < value->count; i++) {
    const struct column *c = &value->columns[i];
    for (uint64_t k = 0; c->kind == COLUMN_INT && k < c->length; k++) {
      if (c->as.ints[k] < INT32_MIN || c->as.ints[k] > INT32_MAX) return &c->as.ints[k];
    }
  }
  return NULL;
}

static bool bind_argument(struct nesl *n, void *context) {
  const struct argument *a = context;
  struct array_type array;
  struct array_columns columns;
  const char *problem = NULL;
  struct type *type;
  if (!find_type(n, a, &type)) return false;
  bool fine = nesl_type_in_file(n, type, a->file, &array, &problem);
  array.bytes_stay = a->text->mapped;
  array.spills = nesl_mapped_spills(n, a->text->text);
  if (!fine || !array_read(nesl_array_format(a->file), &n->arguments, &array, a->text->text,
                           a->text->length, &columns, &problem)) {
    return complain_of_file(n, a->file,
                            arena_printf(n->session->arena,
                                         "%s; argument %u of `%s` is to be %s", problem,
                                         a->index + 1, a->function->name->text,
                                         type_text(n->session->arena, type, false)));
  }
  const struct nesl_value value = value_of_columns(n, type, &columns);
  const int64_t *wide = n->options->widths.int_elem == CVL_I32 ? too_wide(&value) : NULL;
  if (wide) {
    return complain_of_file(n, a->file,
                            arena_printf(n->session->arena,
                                         "%lld does not fit an int of 32 bits",
                                         (long long)*wide));
  }
  const struct scheme scheme = {.count = 0, .type = type};
  session_import(n->session, intern_name(&n->session->names, a->name, strlen(a->name)), &scheme,
                 &value);
  return true;
}

/* A file that is mapped is no longer *text's. */
static bool import_and_bind(struct nesl *n, void *context) {
  struct argument *a = context;
  const struct source_text text = *a->text;
  if (text.mapped) {
    nesl_map_file(n, a->file, &text);
    *a->owned = (struct source_text){0};
    a->text = &text;
  }
  return bind_argument(n, a);
}

bool nesl_bind_argument(struct nesl *n, const struct global *function, unsigned index,
                        unsigned count, const char *name, const char *file) {
  struct source_text text;
  bool fine = false;
  const double before = stop_clock();
  const struct permissions user = process_user();
  const struct stop *const around = n->heap.stop;
  n->heap.stop = n->stop;
  if (source_map_array(&text, &n->heap, &user, file, nesl_array_format(file), &n->diags)) {
    struct argument a = {function, index, count, name, file, &text, &text};
    fine = with_memory(n, file, import_and_bind, &a);
  } else if (n->complaints.first == NESL_OK) {
    n->complaints.first = NESL_RUNTIME;
  }
  n->heap.stop = around;
  source_free(&text, &n->heap);
  if (!fine) nesl_settle(n, NULL, (struct span){0});
  n->load_seconds += stop_clock() - before;
  return fine;
}

/* ---- results ---- */

/* Columns first .. of a value as those of a file. */
static struct array_columns columns_of(struct arena *arena, const struct array_type *array,
                                       const struct column *from) {
  struct array_columns columns = {.count = array_column_count(array)};
  columns.items = arena_alloc(arena, columns.count * sizeof *columns.items);
  for (uint32_t i = 0; i < columns.count; i++) {
    struct array_column *to = &columns.items[i];
    *to = (struct array_column){.length = from[i].length, .equal = from[i].equal};
    if (from[i].kind == COLUMN_FLOAT) {
      to->as.floats = (double *)(uintptr_t)from[i].as.floats;
    } else if (from[i].kind == COLUMN_BOOL) {
      to->as.bytes = (uint8_t *)(uintptr_t)from[i].as.bools;
      to->is_bytes = true;
    } else {
      to->as.ints = (int64_t *)(uintptr_t)from[i].as.ints;
    }
  }
  return columns;
}

/* The file that is being written, to be abandoned if memory runs out. */
struct writing {
  struct output_file out;
  bool open;
};

/* Writes a file that was opened while the program ran: all of it, or only its header. */
static bool finish_output(struct nesl *n, unsigned output, const struct array_type *array,
                          const struct array_columns *columns, FILE *stream, bool complete) {
  const char *text = NULL, *file = n->options->outputs[output];
  struct file_problem problem;
  const bool fine =
      complete ? array_npy_write_header(n->session->arena, array, columns, stream, &text)
               : array_write(nesl_array_format(file), n->session->arena, array, columns, stream,
                             &text);
  if (!fine) return complain_of_file(n, file, text);
  return nesl_stream_finish(n, output, &problem) || complain_of_file(n, file, problem.text);
}

/* Prints the header of a file whose elements the ranks of a job have written. */
static bool finish_ranks(struct nesl *n, unsigned output, const struct array_type *array,
                         const struct array_columns *columns, FILE *stream) {
  const char *text = NULL, *file = n->options->outputs[output];
  struct file_problem problem;
  if (stream && !array_npy_write_header(n->session->arena, array, columns, stream, &text))
    return complain_of_file(n, file, text);
  return nesl_ranks_finish(n, output, &problem) || complain_of_file(n, file, problem.text);
}

/* Writes one component of the result, whose columns begin at *columns, and advances *columns.
 */
static bool write_part(struct nesl *n, struct type *type, unsigned output,
                       const struct column **columns, struct writing *w) {
  const char *problem = NULL, *file = n->options->outputs[output];
  struct array_type array;
  if (!nesl_type_in_file(n, type, file, &array, &problem)) {
    if (nesl_component(type, 0, 2)) {
      problem = arena_printf(n->session->arena,
                             "%s; an .npz file holds it, or several -o, one for each component",
                             problem);
    }
    return complain_of_file(n, file, problem);
  }
  const struct array_columns part = columns_of(n->session->arena, &array, *columns);
  *columns += part.count;
  if (!array_check(nesl_array_format(file), n->session->arena, &array, &part, &problem)) {
    return complain_of_file(n, file, problem);
  }
  FILE *header;
  if (nesl_ranks_have(n, output, &header))
    return finish_ranks(n, output, &array, &part, header);
  bool complete = false;
  struct replacement *streamed =
      nesl_stream_of(n, output, part.items[part.count - 1].as.ints, &complete);
  array.spills = nesl_stream_spills(n);
  if (streamed) return finish_output(n, output, &array, &part, streamed->stream, complete);
  w->open = output_begin(&w->out, file, &n->diags);
  if (!w->open) return false;
  if (!array_write(nesl_array_format(file), n->session->arena, &array, &part, w->out.stream,
                   &problem)) {
    return complain_of_file(n, file, problem);
  }
  w->open = false;
  return output_end(&w->out, file, &n->diags);
}

struct results {
  const struct nesl_value *value;
  struct writing writing;
};

static bool write_results(struct nesl *n, void *context) {
  const struct nesl_options *o = n->options;
  struct results *r = context;
  const struct column *columns = r->value->columns;
  for (unsigned i = 0; i < o->output_count; i++) {
    const char *file = o->outputs[i];
    struct type *type = nesl_component(r->value->type, i, o->output_count);
    if (!type) {
      return complain_of_file(n, file,
                              arena_printf(n->session->arena, "the result, %s, has no %u parts",
                                           type_text(n->session->arena, r->value->type, false),
                                           o->output_count));
    }
    if (!write_part(n, type, i, &columns, &r->writing)) return false;
  }
  return true;
}

bool nesl_write_value(struct nesl *n, const struct nesl_value *value) {
  struct results r = {.value = value};
  n->written = with_memory(n, n->options->outputs[0], write_results, &r);
  if (r.writing.open) output_abandon(&r.writing.out);
  nesl_stream_end(n);
  nesl_ranks_end(n);
  if (!n->written) nesl_settle(n, NULL, (struct span){0});
  return n->written;
}

bool nesl_write_results(struct nesl *n) {
  nesl_forget(n);
  const struct global *it = session_global(n->session, "it");
  if (it) return nesl_write_value(n, &it->value);
  return complain_of_file(n, n->options->outputs[0], "there is no result");
}
