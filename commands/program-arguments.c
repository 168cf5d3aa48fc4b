/* program-arguments.c - see program-arguments.h.
 *
 * The program declares the kinds of the items that it takes. Every argument supplies the next
 * one or several of them: a NumPy or CSV file its descriptors and columns, a text its values. A
 * vector where a descriptor is expected is a sequence, and supplies its length first.
 */
#include "commands/program-arguments.h"

#include "commands/process.h"
#include "ir/kinds.h"
#include "vinterp/io/streams.h"

#include <ctype.h>
#include <string.h>

struct reading {
  struct program *p;
  uint8_t *kinds; /* enum ir_kind_tag: what the program takes */
  uint32_t count;
  ARRAY(struct machine_item) items;
  unsigned number;  /* of the argument, from 1 */
  const char *text; /* the argument */
};

/* ---- what is expected ---- */

static void find_kinds(struct reading *r) {
  const struct program *p = r->p;
  const struct ir_function *entry = &p->ir->functions[p->ir->entry];
  const struct vcode_function *declared = &p->vcode->functions[p->vcode->entry];
  r->count = entry->typed ? entry->param_count : declared->in_count;
  r->kinds = arena_alloc(&r->p->arena, r->count + 1);
  for (uint32_t i = 0; i < r->count; i++) {
    r->kinds[i] = (uint8_t)(entry->typed ? entry->vars[entry->params[i]]->tag
                                         : ir_word_tag((enum type_word)declared->in[i]));
  }
}

/* Returns the kinds from one on, "SEGDES INT". */
static const char *kinds_text(struct reading *r, size_t from) {
  char *text = arena_alloc(&r->p->arena, (r->count + 1) * sizeof "SEGDES "), *end = text;
  *end = '\0';
  for (size_t i = from; i < r->count; i++)
    end +=
        sprintf(end, "%s%s", i > from ? " " : "", ir_tag_text((enum ir_kind_tag)r->kinds[i]));
  return text;
}

static bool refuse_argument(struct reading *r, const char *problem) {
  const size_t next = r->items.count;
  const bool more = next < r->count;
  diag_add(&r->p->diags, SEVERITY_ERROR, r->p->vcode->file, (struct source_pos){0}, NULL,
           "argument %u, %.60s: %s; here the program takes %s%s", r->number, r->text, problem,
           more ? kinds_text(r, next) : "nothing more",
           next > 0 ? ", behind what the arguments before gave" : "");
  return false;
}

static enum ir_kind_tag next_kind(const struct reading *r, size_t ahead) {
  const size_t at = r->items.count + ahead;
  return at < r->count ? (enum ir_kind_tag)r->kinds[at] : IR_ANY; /* none */
}

static void add_item(struct reading *r, enum machine_item_kind kind, uint64_t length,
                     const void *elements) {
  *array_push(&r->p->arena, &r->items) =
      (struct machine_item){.kind = (uint8_t)kind, .length = length, .as.ints = elements};
}

static void add_one_segment(struct reading *r, uint64_t length) {
  int64_t *lengths = arena_alloc(&r->p->arena, sizeof *lengths);
  *lengths = (int64_t)length;
  add_item(r, MACHINE_SEGDES, 1, lengths);
}

/* ---- text ---- */

static enum machine_item_kind item_kind_of_word(enum type_word word) {
  switch (word) {
  case TW_FLOAT: return MACHINE_FLOAT;
  case TW_BOOL: return MACHINE_BOOL;
  case TW_SEGDES: return MACHINE_SEGDES;
  case TW_INT:
  case TW_CHAR:
  case TW_NONE: break;
  }
  return MACHINE_INT;
}

/* Reads one value as FREAD does, 64 bits wide: the machine narrows it and reports values that
 * do not fit. */
static bool read_argument_value(struct reading *r, const char *text, size_t length,
                                enum type_word word, struct machine_item *item) {
  static const struct widths wide = {CVL_I64, CVL_F64};
  const struct permissions none = {0};
  FILE *in = fmemopen((void *)(uintptr_t)text, length, "r");
  struct streams *streams = in ? streams_new(&r->p->heap, in, NULL, NULL, &none) : NULL;
  bool fine = false;
  if (!streams) {
    refuse_argument(r, "out of memory");
  } else {
    struct stream_value v;
    const struct stream_status status = stream_read_value(streams, STREAM_IN, word, wide, &v);
    fine = status.ok || refuse_argument(r, status.message);
    if (fine) {
      const size_t bytes = (size_t)v.length * elem_info(v.elem)->bytes;
      void *copy = arena_alloc(&r->p->arena, bytes + 1);
      if (bytes > 0) memcpy(copy, v.data, bytes);
      *item = (struct machine_item){
          .kind = (uint8_t)item_kind_of_word(word), .length = v.length, .as.ints = copy};
    }
    stream_value_free(streams, &v);
  }
  streams_free(streams);
  if (in) fclose(in);
  return fine;
}

/* One past the end of the value that begins here. */
static const char *value_end(const char *text) {
  const char *close = *text == '('   ? strchr(text, ')')
                      : *text == '[' ? strchr(text, ']')
                      : *text == '"' ? strchr(text + 1, '"')
                                     : NULL;
  if (close) return close + 1;
  return strchr("([\"", *text) ? text + strlen(text) : text + strcspn(text, " \t\n\r([\"");
}

static enum type_word word_of_kind(enum ir_kind_tag kind) {
  return kind == IR_FLOAT ? TW_FLOAT : kind == IR_BOOL ? TW_BOOL : TW_INT;
}

/* Takes a value in text: a descriptor in [ ], a vector in ( ), characters in quotes, or a
 * scalar. */
static bool take_value(struct reading *r, const char *text, size_t length) {
  const bool lengths = *text == '[', bare = !strchr("([\"", *text);
  const bool sequence = next_kind(r, 0) == IR_SEGDES && !lengths;
  const enum ir_kind_tag kind = next_kind(r, sequence);
  struct machine_item item;
  if (kind == IR_ANY || (kind == IR_SEGDES) != lengths || (sequence && bare)) {
    return refuse_argument(r, sequence && bare ? "this is a scalar" : "this does not fit");
  }
  if (*text == '"' && kind != IR_INT) return refuse_argument(r, "characters are INTs");
  if (bare) {
    text = arena_printf(&r->p->arena, "(%.*s)", (int)length, text);
    length += 2;
  }
  const enum type_word word = lengths ? TW_SEGDES : *text == '"' ? TW_CHAR : word_of_kind(kind);
  if (!read_argument_value(r, text, length, word, &item)) return false;
  if (sequence) add_one_segment(r, item.length);
  *array_push(&r->p->arena, &r->items) = item;
  return true;
}

static bool take_argument_text(struct reading *r) {
  const char *text = r->text;
  bool some = false;
  for (;; some = true) {
    while (isspace((unsigned char)*text)) text++;
    if (*text == '\0') break;
    const char *end = value_end(text);
    if (!take_value(r, text, (size_t)(end - text))) return false;
    text = end;
  }
  return some || refuse_argument(r, "there is no value in it");
}

/* ---- files ---- */

/* Fits the type to the program as fit_type does, among the types that archives have. */
static bool fit_signature(const struct reading *r, struct array_type *type) {
  char *s = arena_copy(&r->p->arena, type->signature, strlen(type->signature));
  type->signature = s;
  for (size_t at = 0; *s; s++) {
    if (*s == '(') continue;
    const enum ir_kind_tag kind = next_kind(r, at++);
    if (kind == IR_ANY || (kind == IR_SEGDES) != (*s == '[')) return false;
    if (*s == 'c' && kind != IR_INT) return false;
    if (*s != '[' && *s != 'c') *s = kind == IR_FLOAT ? 'f' : kind == IR_BOOL ? 'b' : 'i';
  }
  return true;
}

/* Replaces the types of numbers in a type guessed from a file by the kinds that the program
 * takes next. False if these have another structure. */
static bool fit_type(const struct reading *r, struct array_type *type) {
  if (type->signature) return fit_signature(r, type);
  size_t at = 0;
  for (uint32_t level = 0; level < type->depth; level++)
    if (next_kind(r, at++) != IR_SEGDES) return false;
  for (uint32_t i = 0; i < type->leaf_count; i++) {
    uint8_t *leaf = &type->leaves[i];
    if (*leaf == ARRAY_TEXT && next_kind(r, at++) != IR_SEGDES) return false;
    const enum ir_kind_tag kind = next_kind(r, at++);
    if (kind == IR_SEGDES || kind == IR_ANY) return false;
    if (*leaf == ARRAY_TEXT || *leaf == ARRAY_CHAR) {
      if (kind != IR_INT) return false;
    } else {
      *leaf = (uint8_t)(kind == IR_FLOAT  ? ARRAY_FLOAT
                        : kind == IR_BOOL ? ARRAY_BOOL
                                          : ARRAY_INT);
    }
  }
  return true;
}

static void add_argument_column(struct reading *r, const struct array_column *column) {
  switch (next_kind(r, 0)) {
  case IR_SEGDES: add_item(r, MACHINE_SEGDES, column->length, column->as.ints); return;
  case IR_FLOAT: add_item(r, MACHINE_FLOAT, column->length, column->as.floats); return;
  case IR_BOOL: {
    uint8_t *bools = arena_alloc(&r->p->arena, (size_t)column->length + 1);
    for (uint64_t i = 0; i < column->length; i++) bools[i] = column->as.ints[i] != 0;
    add_item(r, MACHINE_BOOL, column->length, bools);
    return;
  }
  case IR_INT:
  case IR_PAIR:
  case IR_ANY: break;
  }
  add_item(r, MACHINE_INT, column->length, column->as.ints);
}

/* Describes the contents of a file that does not fit the program. */
static const char *structure_text(const struct reading *r, const struct array_type *type) {
  struct arena *arena = &r->p->arena;
  if (type->signature) {
    return arena_printf(arena, "the file holds a value of the signature %s", type->signature);
  }
  return arena_printf(arena, "the file holds %u level%s of sequences of %u column%s",
                      type->depth, type->depth == 1 ? "" : "s", type->leaf_count,
                      type->leaf_count == 1 ? "" : "s");
}

static bool take_array(struct reading *r, enum array_format format,
                       const struct source_text *bytes) {
  struct array_type type = {.csv = NULL};
  struct array_columns columns;
  const char *problem = NULL;
  struct arena *arena = &r->p->arena;
  if (!array_guess(format, arena, bytes->text, bytes->length, &type, &problem))
    return refuse_argument(r, problem);
  if (!fit_type(r, &type)) return refuse_argument(r, structure_text(r, &type));
  if (!array_read(format, arena, &type, bytes->text, bytes->length, &columns, &problem))
    return refuse_argument(r, problem);
  for (uint32_t i = 0; i < columns.count; i++) add_argument_column(r, &columns.items[i]);
  return true;
}

static bool take_argument_file(struct reading *r, enum array_format format) {
  struct source_text bytes;
  const struct permissions user = process_user();
  const bool fine =
      source_read_array(&bytes, &r->p->heap, &user, r->text, format, &r->p->diags) &&
      take_array(r, format, &bytes);
  source_free(&bytes, &r->p->heap);
  return fine;
}

/* ---- all of them ---- */

/* Whether the program may open streams, and so read its arguments as they are. */
static bool opens_streams(const struct vcode_program *p) {
  for (uint32_t i = 0; i < p->function_count; i++) {
    const struct vcode_function *f = &p->functions[i];
    for (uint32_t k = 0; k < f->length; k++) {
      if (f->code[k].op == OPC_FOPEN) return true;
    }
  }
  return false;
}

static bool take_all_arguments(struct reading *r, const char *const *arguments,
                               unsigned count) {
  find_kinds(r);
  if (r->count == 0 && opens_streams(r->p->vcode)) return true;
  for (unsigned i = 0; i < count; i++) {
    enum array_format format;
    r->number = i + 1;
    r->text = arguments[i];
    if (!(source_array_format(r->text, &format) ? take_argument_file(r, format)
                                                : take_argument_text(r)))
      return false;
  }
  if (r->items.count == r->count) return true;
  diag_add(
      &r->p->diags, SEVERITY_ERROR, r->p->vcode->file, (struct source_pos){0}, NULL,
      "the program takes %u value%s, %s, and %s %zu: give %s behind the name of the program",
      r->count, r->count == 1 ? "" : "s", kinds_text(r, 0),
      count > 0 ? "the arguments are" : "there are", r->items.count,
      r->items.count == 0 ? "them" : kinds_text(r, r->items.count));
  return false;
}

bool program_arguments(struct program *p, const char *const *arguments, unsigned count,
                       const struct machine_item **items, uint64_t *item_count) {
  struct reading r = {.p = p};
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    diag_add(&p->diags, SEVERITY_ERROR, p->vcode->file, (struct source_pos){0}, NULL,
             "out of memory while the arguments are read; see --memory");
    return false;
  }
  const bool fine = take_all_arguments(&r, arguments, count);
  memory_guard_end(&guard);
  *items = r.items.items;
  *item_count = r.items.count;
  return fine;
}
